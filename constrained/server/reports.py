"""What of a constraint was relaxed, as the answer tells it: a field of the body, and a header.

    "constraint_report": {"exact": false, "relaxed": [{"pointer": "/properties/n/multipleOf", "reason": "..."}]}

Only constraints with ``strict: false`` can be relaxed, and unknown ``format`` names, which JSON Schema makes comments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constrained.server.constraint import Relaxed

__all__ = ["report_headers", "report_of"]


def report_of(relaxed: Sequence[Relaxed] | None) -> dict[str, Any]:
    """The body's field; nothing (None) where nothing was asked for."""
    if relaxed is None:
        return {}
    found = [{"pointer": pointer, "reason": reason} for pointer, reason in relaxed]
    return {"constraint_report": {"exact": not found, "relaxed": found}}


def report_headers(relaxed: Sequence[Relaxed] | None) -> dict[str, str]:
    """A warning header where something was relaxed."""
    return {"x-constraint-relaxed": str(len(relaxed))} if relaxed else {}
