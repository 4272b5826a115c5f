"""What cannot be enforced exactly, before it is known where it stands."""

from __future__ import annotations

__all__ = ["NotEnforced"]


class NotEnforced(Exception):
    """A constraint that no grammar here says exactly. Whoever knows the place refuses it there, or leaves it out."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(reason)
