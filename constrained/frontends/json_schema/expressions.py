"""Expressions over schemas, as ints.

An expression is true, false, a *place* in a document, a constant value, or a conjunction, disjunction or negation of
expressions. Equal expressions get the same int, so each becomes one rule of the grammar, and a recursive schema has
finitely many. Nothing is looked into here: what an expression denotes is found by ``normalise``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["FALSE", "TRUE", "Expressions"]

FALSE = 0
TRUE = 1


class Expressions:
    """The table of one schema's expressions: ``entries[e]`` is ``(kind, parts)``."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Any]] = [("false", ()), ("true", ())]
        self.ids: dict[Any, int] = {}
        self.opposites: dict[int, int] = {}

    def intern(self, kind: str, parts: Any, key: Any = None) -> int:
        """The int of an expression; ``key`` stands for ``parts`` where those cannot be hashed."""
        full = (kind, parts if key is None else key)
        known = self.ids.get(full)
        if known is None:
            known = self.ids[full] = len(self.entries)
            self.entries.append((kind, parts))
        return known

    def place(self, number: int) -> int:
        """A new expression: the schema of place ``number``."""
        self.entries.append(("place", number))
        return len(self.entries) - 1

    def conjunction(self, parts: list[int]) -> int:
        """All of ``parts``."""
        flat: dict[int, None] = {}
        for part in parts:
            if part == FALSE:
                return FALSE
            if part == TRUE:
                continue
            kind, inner = self.entries[part]
            flat.update(dict.fromkeys(inner) if kind == "and" else {part: None})
        opposites = self.opposites
        for part in flat:
            if opposites.get(part) in flat:
                return FALSE
        if not flat:
            return TRUE
        if len(flat) == 1:
            return next(iter(flat))
        return self.intern("and", tuple(sorted(flat)))

    def disjunction(self, parts: list[int]) -> int:
        """Any of ``parts``; order is kept, since it is the order in which a grammar offers them."""
        flat: dict[int, None] = {}
        for part in parts:
            if part == TRUE:
                return TRUE
            if part == FALSE:
                continue
            kind, inner = self.entries[part]
            flat.update(dict.fromkeys(inner) if kind == "or" else {part: None})
        if not flat:
            return FALSE
        if len(flat) == 1:
            return next(iter(flat))
        return self.intern("or", tuple(flat))

    def negation(self, part: int) -> int:
        """Not ``part``."""
        if part <= TRUE:
            return TRUE - part
        known = self.opposites.get(part)
        if known is None:
            known = self.opposites[part] = len(self.entries)
            self.opposites[known] = part
            self.entries.append(("not", part))
        return known
