"""``UsageProblem``: why a command cannot do what it was asked, in words for its user."""

from __future__ import annotations

from constrained.errors import ConstrainedError

__all__ = ["UsageProblem"]


class UsageProblem(ConstrainedError):
    """The command ends with exit code 2 and this message."""
