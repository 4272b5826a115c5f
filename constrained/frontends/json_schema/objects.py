"""``ObjectShape``: one conjunction of constraints on an object's members.

    properties   name -> expression, in order of first appearance: everything that is said about that name
    others       disjoint cells ``(names, expression)`` that say what values other names may have; names in no
                 cell may not occur. One cell of all strings where a schema has no patterns.
    required     names that must occur
    exists       ``(names, expression)``: some member with such a name has such a value; comes from negation. ``names``
                 leaves out every declared name: what a declared one may do for it is an alternative of its own
    minimum, maximum   how many members
    said         whether the schema spoke about undeclared members (else strict mode closes the object)
    evaluated    names and cells that count as evaluated for ``unevaluatedProperties``; None: not tracked

``meet`` and ``difference`` stay at this level; expressions are combined by id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

if TYPE_CHECKING:
    from constrained.frontends.json_schema.denotation import Algebra

__all__ = ["ANY_OBJECT", "ANY_OTHERS", "Cell", "ObjectShape", "difference", "disjoint_cells", "distance", "meet",
           "split_cells"]

Cell = tuple[StringShape, int]

ANY_OTHERS: tuple[Cell, ...] = ((ANY_STRING, TRUE),)
"""Nothing is said about other names."""


@dataclass(slots=True, unsafe_hash=True)
class ObjectShape:
    """See the module docstring. A value: it is not changed once it is made, which is not enforced, for speed."""

    properties: tuple[tuple[str, int], ...] = ()
    others: tuple[Cell, ...] = ANY_OTHERS
    required: frozenset[str] = frozenset()
    exists: tuple[Cell, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    said: bool = False
    evaluated: tuple[frozenset[str], tuple[StringShape, ...]] | None = None

    _declared: dict[str, int] | None = field(default=None, init=False, repr=False, compare=False)
    _impossible: bool | None = field(default=None, init=False, repr=False, compare=False)

    def declared(self) -> dict[str, int]:
        """``properties`` to look up; not to be changed."""
        known = self._declared
        if known is None:
            known = self._declared = dict(self.properties)
        return known

    def at(self, name: str) -> int:
        """What is said about the value of ``name``."""
        found = self.declared().get(name)
        return self.at_other(name) if found is None else found

    def at_other(self, name: str) -> int:
        """What the cells say about ``name``."""
        for names, expression in self.others:
            if names is ANY_STRING or (name not in names.excluded and names.contains(name)):
                return expression
        return FALSE

    def merged(self, other: ObjectShape, algebra: Algebra) -> ObjectShape | None:
        """Objects in both, declared names for ``exists`` not looked for; None where that is plainly impossible."""
        mine, theirs = self.declared(), other.declared()
        if other.others is ANY_OTHERS or other.others == ANY_OTHERS:
            merged = dict(mine)  # as for its undeclared names, ``other`` says nothing
        else:
            merged = {name: expression if name in theirs else algebra.both(expression, other.at_other(name))
                      for name, expression in mine.items()}
        for name, expression in theirs.items():
            merged[name] = algebra.both(merged[name] if name in mine else self.at_other(name), expression)
        required = self.required | other.required
        others = self.others
        if other.others is not ANY_OTHERS and self.others != other.others:
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
            tuple(merged.items()), others, required,
            tuple(dict.fromkeys(self.exists + other.exists)) if other.exists else self.exists,
            max(self.minimum, other.minimum), maximum, self.said or other.said, _join(self.evaluated, other.evaluated),
        )
        return None if found.is_impossible() else found

    def is_impossible(self) -> bool:
        """Whether a required name may not occur, or the counts cross."""
        found = self._impossible
        if found is None:
            found = self._impossible = self._is_impossible()
        return found

    def _is_impossible(self) -> bool:
        if self.required:
            known = self.declared()
            for name in self.required:
                if (known[name] if name in known else self.at_other(name)) == FALSE:
                    return True
        least = max(self.minimum, len(self.required))
        if self.maximum is not None and least > self.maximum:
            return True
        if self.others or not least:
            return False
        return least > len(self.properties) or least > sum([expression != FALSE for _, expression in self.properties])


ANY_OBJECT = ObjectShape()


def meet(a: ObjectShape, b: ObjectShape, algebra: Algebra) -> tuple[ObjectShape, ...]:
    """Objects in both, as shapes whose ``exists`` are about undeclared names."""
    found = a.merged(b, algebra)
    if found is None:
        return ()
    if not found.exists:
        return (found,)
    return _resolved(found, algebra)


def _resolved(shape: ObjectShape, algebra: Algebra) -> tuple[ObjectShape, ...]:
    """Which declared member, or else an undeclared one, is each of those that must exist."""
    done: list[ObjectShape] = []
    known = shape.declared()
    asked = tuple((name, shape.at_other(name)) for name in sorted(shape.required - known.keys()))
    stack = [(_changed(shape, shape.properties + asked, shape.required, shape.exists) if asked else shape, 0)]
    while stack:
        shape, k = stack.pop()
        if k == len(shape.exists):
            if not shape.is_impossible() and (shape.others or not shape.exists):
                done.append(shape)
            continue
        names, wanted = shape.exists[k]
        fresh = [(name, value) for name, value in shape.properties if name not in names.excluded]
        if not fresh and names.values is None:  # none of those declared: nearly always
            if shape.others:
                stack.append((shape, k + 1))
            continue
        declared = [(name, value) for name, value in fresh if value != FALSE and names.contains(name)]
        left = names.exclude_values([name for name, _ in fresh])
        others = _without(shape.exists, k)
        for name, value in reversed(declared):
            both = algebra.both(value, wanted)
            if both != FALSE and not algebra.is_empty(both, 1):
                properties = tuple([(n, both if n == name else v) for n, v in shape.properties])
                required = shape.required | {name}
                stack.append((_changed(shape, properties, required, others), k))
        if shape.others and (left.values is None or left.values):
            there = (*shape.exists[:k], (left, wanted), *shape.exists[k + 1 :])
            stack.append((_changed(shape, shape.properties, shape.required, there), k + 1))
        algebra.spend(len(declared))
    return tuple(done)


def _changed(shape: ObjectShape, properties: tuple[tuple[str, int], ...], required: frozenset[str],
             exists: tuple[Cell, ...]) -> ObjectShape:
    """``dataclasses.replace`` in a third of its time."""
    return ObjectShape(properties, shape.others, required, exists, shape.minimum, shape.maximum, shape.said,
                       shape.evaluated)


def _without(cells: tuple[Cell, ...], k: int) -> tuple[Cell, ...]:
    return cells[:k] + cells[k + 1 :]


def told_apart(a: ObjectShape, b: ObjectShape, algebra: Algebra) -> bool:
    """Whether one required member already shows that no object is in both: the usual case of a union with tags."""
    if not a.required and not b.required:
        return False
    mine, theirs = a.declared(), b.declared()
    for name in sorted(a.required | b.required):  # in an order that no hash decides
        x = mine[name] if name in mine else a.at_other(name)
        y = theirs[name] if name in theirs else b.at_other(name)
        if x != TRUE and y != TRUE and x != y:
            both = algebra.both(x, y)
            if both == FALSE or algebra.is_empty(both, 2):
                return True
        elif x == FALSE or y == FALSE:
            return True
    return False


def distance(shape: ObjectShape, other: ObjectShape) -> int:
    """How many things ``other`` says that ``shape`` does not: about as many alternatives has their difference."""
    mine = shape.declared()
    said = 0 if other.others == shape.others else 1_000 * (len(other.others) + 1)  # those must exist: not cheap
    return said + len(other.required - shape.required) + sum(
        1 for name, expression in other.properties if mine.get(name) != expression)


def difference(shape: ObjectShape, other: ObjectShape, algebra: Algebra, *, apart: bool = True
               ) -> tuple[ObjectShape, ...]:
    """The objects of ``shape`` that are not in ``other``: for each thing ``other`` says, those that break it and keep
    what it said before. So the alternatives exclude each other, and few are left after several differences.

    ``apart`` False: alternatives about members need not keep what was said of earlier ones. They overlap, but say n
    things of n members where those that exclude each other say n squared: for what is not taken apart any further.
    """
    if told_apart(shape, other, algebra) or not any(
            not algebra.no_object(both) for both in meet(shape, other, algebra)):
        return (shape,)
    found: list[ObjectShape] = []
    kept: tuple[ObjectShape, ...] = (shape,)

    def split(wrong: ObjectShape, right: ObjectShape | None) -> None:
        nonlocal kept
        fresh = [one for k in kept for one in meet(k, wrong, algebra) if not algebra.no_object(one, 2)]
        algebra.spend(len(fresh))
        found.extend(fresh)
        if right is not None and fresh:
            kept = tuple([one for k in kept for one in meet(k, right, algebra)])

    def split_member(base: tuple[ObjectShape, ...], name: str, wrong: int, wrong_needed: bool) -> bool:
        fresh = [one for k in base for one in _with_member(k, name, wrong, wrong_needed, algebra)
                 if not algebra.no_object(one, 2)]
        algebra.spend(len(fresh))
        found.extend(fresh)
        return bool(fresh)

    def keep(name: str, right: int | None, needed: bool) -> None:
        nonlocal kept
        kept = tuple([one for k in kept for one in _with_member(k, name, right, needed, algebra)])

    for name in sorted(other.required - shape.required):
        if split_member(kept, name, FALSE, False):
            keep(name, None, True)
    start = kept
    more = apart or other.others != ANY_OTHERS or other.exists or other.minimum > 0 or other.maximum is not None
    for name, expression in other.properties:
        if expression != TRUE and shape.at(name) != expression and (
                split_member(kept if apart else start, name, algebra.negated(expression), True) and more):
            keep(name, expression, False)
    declared = [name for name, _ in other.properties]
    if other.others != shape.others or not shape.declared().keys() <= other.declared().keys():
        for names, expression in other.others:
            if expression != TRUE:
                split(ObjectShape(exists=((names.exclude_values(declared), algebra.negated(expression)),)), None)
        for names in _outside([names for names, _ in other.others]):
            split(ObjectShape(exists=((names.exclude_values(declared), TRUE),)), None)
    for names, expression in other.exists:
        split(ObjectShape(others=tuple(split_cells([(names, algebra.negated(expression))]))), None)
    if other.minimum > 0:
        split(ObjectShape(maximum=other.minimum - 1), ObjectShape(minimum=other.minimum))
    if other.maximum is not None:
        split(ObjectShape(minimum=other.maximum + 1), ObjectShape(maximum=other.maximum))
    return tuple(found)


def _with_member(shape: ObjectShape, name: str, wanted: int | None, needed: bool,
                 algebra: Algebra) -> tuple[ObjectShape, ...]:
    """``meet`` with a shape that says nothing but what a member is (``wanted``), or that it is there."""
    if shape.exists:
        return meet(shape, ObjectShape(() if wanted is None else ((name, wanted),),
                                       required=frozenset((name,)) if needed else frozenset()), algebra)
    known = shape.declared().get(name)
    value = shape.at_other(name) if known is None else known
    if wanted is not None:
        value = algebra.both(value, wanted)
    required = shape.required
    if needed and name not in required:
        required = required | {name}
    if value == FALSE and name in required:
        return ()
    properties = shape.properties
    if wanted is not None:
        if known is None:
            properties = (*properties, (name, value))
        elif value != known:
            properties = tuple([(n, value if n == name else v) for n, v in properties])
    found = ObjectShape(properties, shape.others, required, (), shape.minimum, shape.maximum, shape.said,
                        shape.evaluated)
    return () if found.is_impossible() else (found,)


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


def disjoint_cells(cells: tuple[StringShape, ...]) -> list[StringShape]:
    """The same names in shapes that do not overlap."""
    found: list[StringShape] = []
    for cell in cells:
        left = [cell]
        for earlier in found:
            left = [both for a in left for b in earlier.complement() if (both := a.intersect(b)) is not None]
        found.extend(left)
    return found
