"""Schemas that say more than keywords can: made by other front ends, read by the normaliser.

A ``Given`` is a schema as a dict whose meaning may be handed over as a ``Denotation`` beside it; its keywords are then
what a reader is shown. ``Names`` is the name of a member that may be written under other names instead, once in all.
Neither can come out of a text, so a schema from outside is never taken for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from constrained.frontends.json_schema.denotation import Denotation

__all__ = ["Given", "Names", "all_names"]


class Given(dict[str, Any]):
    """A schema object; where ``denotation`` is not None it alone is the meaning, and at least one keyword stands."""

    __slots__ = ("denotation",)

    denotation: Denotation | None

    def __init__(self, keywords: dict[str, Any] | None = None, denotation: Denotation | None = None) -> None:
        super().__init__(keywords or {})
        self.denotation = denotation


class Names(str):
    """A member's name, and the other names under which it may be written instead of this one."""

    __slots__ = ("others",)

    others: tuple[str, ...]

    def __new__(cls, name: str, others: tuple[str, ...]) -> Names:
        found = super().__new__(cls, name)
        found.others = others
        return found


def all_names(names: Iterable[str]) -> list[str]:
    """``names`` with all others of each."""
    found = list(names)
    if Names in map(type, found):
        found += [other for name in found if type(name) is Names for other in name.others]
    return found
