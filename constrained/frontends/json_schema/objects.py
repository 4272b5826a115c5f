"""``ObjectShape``: one conjunction of constraints on an object's members.

    properties   name -> expression, in order of first appearance: everything that is said about that name
    others       disjoint cells ``(names, expression)`` that say what values other names may have; names in no
                 cell may not occur. One cell of all strings where a schema has no patterns.
    required     names that must occur
    exists       ``(names, expression)``: some undeclared member with such a name has such a value; comes from negation
    minimum, maximum   how many members
    said         whether the schema spoke about undeclared members (else strict mode closes the object)
    evaluated    names and cells that count as evaluated for ``unevaluatedProperties``; None: not tracked

``intersect`` and ``complement`` stay at this level; expressions are combined by id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

if TYPE_CHECKING:
    from constrained.frontends.json_schema.denotation import Algebra

__all__ = ["ANY_OBJECT", "Cell", "ObjectShape", "split_cells"]

Cell = tuple[StringShape, int]


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """See the module docstring."""

    properties: tuple[tuple[str, int], ...] = ()
    others: tuple[Cell, ...] = ((ANY_STRING, TRUE),)
    required: frozenset[str] = frozenset()
    exists: tuple[Cell, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    said: bool = False
    evaluated: tuple[frozenset[str], tuple[StringShape, ...]] | None = None

    def at(self, name: str) -> int:
        """What is said about the value of ``name``."""
        for declared, expression in self.properties:
            if declared == name:
                return expression
        return self.at_other(name)

    def at_other(self, name: str) -> int:
        """What the cells say about ``name``."""
        for names, expression in self.others:
            if names is ANY_STRING or names.contains(name):
                return expression
        return FALSE

    def intersect(self, other: ObjectShape, algebra: Algebra) -> ObjectShape | None:
        """Objects in both; None where that is plainly impossible."""
        mine, theirs = dict(self.properties), dict(other.properties)
        merged: dict[str, int] = {}
        for name, expression in mine.items():
            merged[name] = algebra.both(expression, theirs[name] if name in theirs else other.at_other(name))
        for name, expression in theirs.items():
            if name not in merged:
                merged[name] = algebra.both(self.at_other(name), expression)
        required = self.required | other.required
        others = self.others
        if self.others != other.others:
            cells: list[Cell] = []
            for names_a, a in self.others:
                for names_b, b in other.others:
                    names = names_a if names_b is ANY_STRING else names_b if names_a is ANY_STRING else (
                        names_a.intersect(names_b))
                    if names is not None:
                        value = algebra.both(a, b)
                        if value != FALSE:
                            cells.append((names, value))
            others = tuple(cells)
        maximum = self.maximum if other.maximum is None else (
            other.maximum if self.maximum is None else min(self.maximum, other.maximum))
        found = ObjectShape(
            tuple(merged.items()), others, required, tuple(dict.fromkeys(self.exists + other.exists)),
            max(self.minimum, other.minimum), maximum, self.said or other.said, _join(self.evaluated, other.evaluated),
        )
        return None if found.is_impossible() else found

    def is_impossible(self) -> bool:
        """Whether a required name may not occur, or the counts cross."""
        known = dict(self.properties)
        if any((known[name] if name in known else self.at_other(name)) == FALSE for name in self.required):
            return True
        least = max(self.minimum, len(self.required))
        if self.maximum is not None and least > self.maximum:
            return True
        return not self.others and least > sum(1 for _, expression in self.properties if expression != FALSE)

    def complement(self, algebra: Algebra) -> list[ObjectShape]:
        """All other objects: for each thing that is said, those that break it."""
        found: list[ObjectShape] = []
        for name in sorted(self.required):
            found.append(ObjectShape(((name, FALSE),), said=True))
        for name, expression in self.properties:
            if expression != TRUE:
                found.append(ObjectShape(((name, algebra.negated(expression)),), required=frozenset([name]), said=True))
        declared = [name for name, _ in self.properties]
        covered: list[StringShape] = []
        for names, expression in self.others:
            covered.append(names)
            if expression != TRUE:
                left = names.exclude_values(declared)
                found.append(ObjectShape(exists=((left, algebra.negated(expression)),), said=True))
        for names in _outside(covered):
            found.append(ObjectShape(exists=((names.exclude_values(declared), TRUE),), said=True))
        for names, expression in self.exists:
            inside = split_cells([(names, algebra.negated(expression))])
            found.append(ObjectShape(others=tuple(inside), said=True))
        if self.minimum > 0:
            found.append(ObjectShape(maximum=self.minimum - 1, said=True))
        if self.maximum is not None:
            found.append(ObjectShape(minimum=self.maximum + 1, said=True))
        return found


ANY_OBJECT = ObjectShape()


def split_cells(said: list[Cell], rest: int = TRUE) -> list[Cell]:
    """Disjoint cells for (overlapping) names that must be disjoint already, and ``rest`` for all other names."""
    cells = [cell for cell in said if cell[1] != FALSE]
    if rest != FALSE:
        cells.extend((names, rest) for names in _outside([names for names, _ in said]))
    return cells


def _outside(covered: list[StringShape]) -> list[StringShape]:
    """The names in none of ``covered``."""
    left: list[StringShape] = [ANY_STRING]
    for names in covered:
        if names is ANY_STRING:
            return []
        others = names.complement()
        left = [both for a in left for b in others if (both := a.intersect(b)) is not None]
    return left


def _join(
    a: tuple[frozenset[str], tuple[StringShape, ...]] | None, b: tuple[frozenset[str], tuple[StringShape, ...]] | None
) -> tuple[frozenset[str], tuple[StringShape, ...]] | None:
    if a is None or b is None:
        return a if b is None else b
    return a[0] | b[0], tuple(dict.fromkeys(a[1] + b[1]))
