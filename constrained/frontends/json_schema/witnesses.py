"""Members that must exist: which undeclared members an object needs, and what may stand beside them.

``exists`` asks for members by (names, value). One member may serve several of them, so each way to group them is a
*cast*: a list of parts with disjoint names, each to be played by one member. A part written once holds only if no later
member of the same name replaces it; names cannot be compared by a grammar, so later members whose names could be the
same must be as wanted too (``harmless``).

Two parts whose names overlap and whose values differ would need that comparison: refused, unless the object has no room
for both or one value implies the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.objects import Cell
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

__all__ = ["casts", "harmless", "members_of", "part_of", "partitions"]

MAX_WITNESSES = 4

_Item = TypeVar("_Item")


class _Algebra(Protocol):
    def both(self, a: int, b: int) -> int: ...
    def negated(self, a: int) -> int: ...
    def is_empty(self, expression: int, depth: int = 3) -> bool: ...


def members_of(part: Cell, cells: tuple[Cell, ...], algebra: _Algebra) -> tuple[Cell, ...]:
    """The members that play a part: its names and values within the object's cells."""
    names, wanted = part
    found = []
    for cell, expression in cells:
        inside = names if cell is ANY_STRING else cell.intersect(names)
        value = algebra.both(expression, wanted)
        if inside is not None and not _no_name(inside) and not algebra.is_empty(value):
            found.append((inside, value))
    return tuple(found)


def harmless(cells: tuple[Cell, ...], parts: list[Cell], algebra: _Algebra) -> tuple[Cell, ...]:
    """The members that undo none of ``parts``."""
    for names, wanted in parts:
        if wanted == TRUE:
            continue
        found: list[Cell] = []
        outside = names.complement()
        for cell, expression in cells:
            inside = cell.intersect(names)
            if inside is not None and not _no_name(inside):
                found.append((inside, algebra.both(expression, wanted)))
            for other in outside:
                left = cell.intersect(other)
                if left is not None and not _no_name(left):
                    found.append((left, expression))
        cells = tuple(found)
    return cells


def casts(exists: tuple[Cell, ...], room: int | None, algebra: _Algebra) -> list[list[Cell]]:
    """Every way in which at most ``room`` members are all that ``exists`` asks for.

    Raises ``NotEnforced`` where two of them would have to be told apart by name.
    """
    if len(exists) > MAX_WITNESSES:
        raise NotEnforced(f"more than {MAX_WITNESSES} undeclared members must exist",
                          "name the properties, or drop some of the negations")
    if len(exists) == 1 and (room is None or room > 0):  # nearly always
        only = part_of([exists[0]], algebra)
        return [] if only is None else [[only]]
    found: list[list[Cell]] = []
    for groups in partitions(list(exists)):
        if room is not None and len(groups) > room:
            continue
        parts: list[Cell] = []
        for group in groups:
            part = part_of(group, algebra)
            if part is None:
                break
            parts.append(part)
        else:
            found.extend(_apart(parts, algebra))
    return found


def part_of(group: list[Cell], algebra: _Algebra) -> Cell | None:
    """What one member must be to be all of ``group``; None where it plainly cannot. ``members_of`` looks closer."""
    names: StringShape | None = ANY_STRING
    value = TRUE
    for more, wanted in group:
        names = None if names is None else names.intersect(more)
        value = algebra.both(value, wanted)
    return None if names is None or value == FALSE or names.values == () else (names, value)


def _apart(parts: list[Cell], algebra: _Algebra) -> Iterator[list[Cell]]:
    """The same parts with disjoint names."""
    stack = [parts]
    while stack:
        now = stack.pop()
        clash = next(((i, j) for i in range(len(now)) for j in range(i) if _meet(now[i][0], now[j][0])), None)
        if clash is None:
            yield now
            continue
        if any(_no_name(names) or algebra.is_empty(value) for names, value in now):
            continue
        i, j = clash
        (a, value_a), (b, value_b) = now[i], now[j]
        # both names in what is shared: fine where one member could play both parts, for that is another cast
        implied = any(algebra.is_empty(algebra.both(x, algebra.negated(y))) for x, y in
                      ((value_a, value_b), (value_b, value_a)))
        if not implied:
            raise NotEnforced("two different undeclared members must exist",
                              "name the properties, or drop one of the negations")
        for other in b.complement():
            left = a.intersect(other)
            if left is not None and not _no_name(left):
                stack.append([(left, value_a) if k == i else part for k, part in enumerate(now)])
        for other in a.complement():
            left = b.intersect(other)
            inside = a.intersect(b)
            if left is not None and inside is not None and not _no_name(left):
                stack.append([(left, value_b) if k == j else (inside, value_a) if k == i else part
                              for k, part in enumerate(now)])


def partitions(items: list[_Item]) -> Iterator[list[list[_Item]]]:
    """All ways to group ``items``; fewest groups first is not promised."""
    ways: list[list[list[_Item]]] = [[]]
    for item in items:
        more: list[list[list[_Item]]] = []
        for way in ways:
            more.append([*way, [item]])
            more.extend([*way[:k], [*way[k], item], *way[k + 1 :]] for k in range(len(way)))
        ways = more
    return iter(ways)


def _meet(a: StringShape, b: StringShape) -> bool:
    both = a.intersect(b)
    return both is not None and not _no_name(both)


def _no_name(names: StringShape) -> bool:
    if names.values is not None:
        return not names.values
    return bool(names.languages) and names.is_empty()
