"""What of a constraint was relaxed, as the answer tells it: a field of the body, and a header.

    "constraint_report": {"exact": false, "relaxed": [{"pointer": "/properties/n/multipleOf", "reason": "..."}]}

Only constraints with ``strict: false`` can be relaxed, and unknown ``format`` names, which JSON Schema makes comments.
"""

from __future__ import annotations

from typing import Any

from constrained.server.compiling import Compiled

__all__ = ["report_headers", "report_of"]


def report_of(compiled: Compiled | None) -> dict[str, Any]:
    """The body's field; nothing where nothing was asked for."""
    if compiled is None:
        return {}
    relaxed = [{"pointer": pointer, "reason": reason} for pointer, reason in compiled.relaxed]
    return {"constraint_report": {"exact": not relaxed, "relaxed": relaxed}}


def report_headers(compiled: Compiled | None) -> dict[str, str]:
    """A warning header where something was relaxed."""
    if compiled is None or not compiled.relaxed:
        return {}
    return {"x-constraint-relaxed": str(len(compiled.relaxed))}
