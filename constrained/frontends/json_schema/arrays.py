# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""``ArrayShape``: one conjunction of constraints on an array's items.

    prefix     expressions of the first items, by place
    rest       the expression of every later item
    minimum, maximum   how many items
    contains   ``(expression, least, most, start)``: how many items from place ``start`` on satisfy it (most None: any
               number)
    unique     no two items are equal
    evaluated  how many leading items count as evaluated, -1: all; None: not tracked
    also       expressions whose items count as evaluated wherever they stand (``contains`` of 2020-12)
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.refusal import NotEnforced

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.expressions import Algebra
else:
    from constrained.frontends.json_schema.expressions import Algebra

__all__ = ["ANY_ARRAY", "ArrayShape"]

_FIELDS = ("prefix", "rest", "minimum", "maximum", "contains", "unique", "evaluated", "also")


@cython.final
@cython.cclass
class ArrayShape:
    """See the module docstring. A value: it is not changed once it is made, which is not enforced, for speed."""

    def __init__(self, prefix: tuple = (), rest: cython.int = 1, minimum=0, maximum=None, contains: tuple = (),
                 unique: cython.bint = False, evaluated=None, also: tuple = ()):
        self.prefix = prefix
        self.rest = rest
        self.minimum = minimum
        self.maximum = maximum
        self.contains = contains
        self.unique = unique
        self.evaluated = evaluated
        self.also = also

    @cython.cfunc
    def fields(self) -> tuple:
        return (self.prefix, self.rest, self.minimum, self.maximum, self.contains, self.unique, self.evaluated,
                self.also)

    def __eq__(self, other):
        if self is other:
            return True
        if type(other) is not ArrayShape:
            return NotImplemented
        one: ArrayShape = other
        return self.rest == one.rest and self.unique == one.unique and self.fields() == one.fields()

    def __hash__(self):
        return hash(self.fields())

    def __repr__(self):
        return f"ArrayShape{self.fields()}"

    def changed(self, **changes):
        """The same but for some fields."""
        said = dict(zip(_FIELDS, self.fields()))
        said.update(changes)
        return ArrayShape(**said)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def at(self, index: cython.Py_ssize_t) -> cython.int:
        """What is said about the item at ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    @cython.ccall
    def intersect(self, other: ArrayShape, algebra: Algebra):
        """Arrays in both; None where that is plainly impossible."""
        n: cython.Py_ssize_t = max(len(self.prefix), len(other.prefix))
        prefix: tuple = tuple([algebra.both(self.at(i), other.at(i)) for i in range(n)]) if n > 0 else ()
        maximum = self.maximum
        if other.maximum is not None and (maximum is None or other.maximum < maximum):
            maximum = other.maximum
        evaluated = self.evaluated
        if evaluated is None:
            evaluated = other.evaluated
        elif other.evaluated is not None:
            evaluated = -1 if evaluated == -1 or other.evaluated == -1 else max(evaluated, other.evaluated)
        return ArrayShape(prefix, algebra.both(self.rest, other.rest), max(self.minimum, other.minimum), maximum,
                          _joined(self.contains, other.contains), self.unique or other.unique, evaluated,
                          _joined(self.also, other.also)).tidy()

    @cython.ccall
    def tidy(self):
        """The same with an impossible item as an end of the array; None if that leaves too few."""
        for contained in self.contains:
            if contained[0] == 1:
                return self.counted().tidy()
        maximum = self.maximum
        if len(self.prefix) > 0:
            for index, expression in enumerate(self.prefix):
                if expression == 0 and (maximum is None or index < maximum):
                    maximum = index
                    break
        if self.rest == 0 and (maximum is None or maximum > len(self.prefix)):
            maximum = len(self.prefix)
        if maximum is None:
            if len(self.contains) > 0 and _asks_for_nothing(self.contains, False):
                return None
            return self
        if self.minimum > maximum:
            return None
        if _asks_for_nothing(self.contains, maximum == 0):
            return None
        prefix = self.prefix[:maximum]
        unique: cython.bint = self.unique and not maximum <= 1
        if maximum == self.maximum and len(prefix) == len(self.prefix) and unique == self.unique:
            return self
        rest: cython.int = self.rest if maximum > len(prefix) else 0
        return ArrayShape(prefix, rest, self.minimum, maximum, self.contains, unique, self.evaluated, self.also)

    @cython.cfunc
    def counted(self) -> ArrayShape:
        """The same with the items counted where any of them is wanted."""
        minimum, maximum = self.minimum, self.maximum
        for expression, least, most, start in self.contains:
            if expression == 1:
                minimum = max(minimum, start + least) if least else minimum
                if most is not None:
                    maximum = start + most if maximum is None else min(maximum, start + most)
        return self.changed(minimum=minimum, maximum=maximum,
                            contains=tuple([one for one in self.contains if one[0] != 1]))

    def complement(self, algebra: Algebra):
        """All other arrays: for each thing that is said, those that break it."""
        if self.unique:
            raise NotEnforced("the negation of uniqueItems", "state what may repeat instead, or drop the negation")
        found: list = []
        for index, expression in enumerate(self.prefix):
            if expression != 1:
                before = (1,) * index
                found.append(ArrayShape((*before, algebra.negated(expression)), minimum=index + 1))
        if self.rest != 1:
            wrong = algebra.negated(self.rest)
            n = len(self.prefix)
            if self.rest == 0:
                found.append(ArrayShape(minimum=n + 1))
            else:
                found.append(ArrayShape(minimum=n + 1, contains=((wrong, 1, None, n),)))
        if self.minimum > 0:
            found.append(ArrayShape(maximum=self.minimum - 1))
        if self.maximum is not None:
            found.append(ArrayShape(minimum=self.maximum + 1))
        for expression, least, most, start in self.contains:
            if least > 0:
                found.append(ArrayShape(contains=((expression, 0, least - 1, start),)))
            if most is not None:
                found.append(ArrayShape(contains=((expression, most + 1, None, start),)))
        return found


@cython.cfunc
def _joined(one: tuple, other: tuple) -> tuple:
    return one if len(other) == 0 else other if len(one) == 0 else tuple(dict.fromkeys(one + other))


@cython.cfunc
@cython.exceptval(-1, check=False)
def _asks_for_nothing(contains: tuple, ended: cython.bint) -> cython.int:
    """Whether an item must stand that nothing is, or in an array without any (``ended``)."""
    for expression, least, _, _ in contains:
        if least > 0 and (ended or expression == 0):
            return True
    return False


ANY_ARRAY = ArrayShape()
