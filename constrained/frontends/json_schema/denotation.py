# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What a schema denotes: for each JSON type, a union of shapes.

JSON types exclude each other, so a set of values is six independent sets, and conjunction, disjunction and negation
work type by type. ``null`` and booleans are bits; the others are tuples of shapes whose union is meant:

    numbers   ``NumberShape``      strings   ``StringShape``
    arrays    ``ArrayShape``       objects   ``ObjectShape``

Shapes of arrays and objects refer to the values inside by *expression id* (see ``expressions``), so nothing here looks
deeper than one level and recursion in a schema costs nothing. An empty tuple: no value of that type.

``Algebra`` is handed to the shapes: it makes conjunctions and complements of expressions by id and counts alternatives.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.numbers import ANY_NUMBER
from constrained.frontends.json_schema.objects import ANY_OBJECT
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.arrays import ArrayShape
    from cython.cimports.constrained.frontends.json_schema.expressions import Algebra
    from cython.cimports.constrained.frontends.json_schema.objects import (
        difference as objects_difference,
    )
    from cython.cimports.constrained.frontends.json_schema.objects import meet, no_object, told_apart
else:
    from constrained.frontends.json_schema.arrays import ArrayShape
    from constrained.frontends.json_schema.expressions import Algebra
    from constrained.frontends.json_schema.objects import difference as objects_difference
    from constrained.frontends.json_schema.objects import meet, no_object, told_apart

from constrained.frontends.json_schema.arrays import ANY_ARRAY  # noqa: E402 - a Python name in both modes

__all__ = ["ANYTHING", "NOTHING", "Algebra", "Denotation", "conjunction", "difference", "disjunction", "negation",
           "no_array"]

_FIELDS = ("null", "booleans", "numbers", "strings", "arrays", "objects")


@cython.final
@cython.cclass
class Denotation:
    """A set of JSON values, type by type. ``booleans``: bit 0 false, bit 1 true. Not changed once it is made."""

    def __init__(self, null: cython.bint, booleans: cython.int, numbers: tuple, strings: tuple, arrays: tuple,
                 objects: tuple):
        self.null = null
        self.booleans = booleans
        self.numbers = numbers
        self.strings = strings
        self.arrays = arrays
        self.objects = objects

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def is_nothing(self) -> cython.bint:
        """Whether no alternative is left (each of those left may still turn out empty)."""
        return not (self.null or self.booleans or len(self.numbers) > 0 or len(self.strings) > 0
                    or len(self.arrays) > 0 or len(self.objects) > 0)

    @cython.cfunc
    def fields(self) -> tuple:
        return (self.null, self.booleans, self.numbers, self.strings, self.arrays, self.objects)

    def __eq__(self, other):
        if type(other) is not Denotation:
            return NotImplemented
        one: Denotation = other
        return self is one or self.fields() == one.fields()

    def __hash__(self):
        return hash(self.fields())

    def __repr__(self):
        return f"Denotation{self.fields()}"

    def changed(self, **changes):
        """The same but for some types of values."""
        said = dict(zip(_FIELDS, self.fields()))
        said.update(changes)
        return Denotation(**said)


_ANY_ARRAYS: tuple = (ANY_ARRAY,)
_ANY_OBJECTS: tuple = (ANY_OBJECT,)
ANYTHING = Denotation(True, 3, (ANY_NUMBER,), (ANY_STRING,), _ANY_ARRAYS, _ANY_OBJECTS)
NOTHING = Denotation(False, 0, (), (), (), ())


@cython.ccall
def conjunction(a: Denotation, b: Denotation, algebra: Algebra) -> Denotation:
    """Values in both."""
    if a is ANYTHING or a is b:
        return b
    if b is ANYTHING:
        return a
    return Denotation(
        a.null and b.null,
        a.booleans & b.booleans,
        _product(a.numbers, b.numbers, algebra),
        _product_strings(a.strings, b.strings, algebra),
        _product_arrays(a.arrays, b.arrays, algebra),
        _product_objects(a.objects, b.objects, algebra),
    )


@cython.cfunc
def _product(xs: tuple, ys: tuple, algebra: Algebra) -> tuple:
    if len(xs) == 0 or len(ys) == 0:
        return ()
    if len(xs) == 1 and len(ys) == 1:
        if xs[0] is ys[0]:
            return xs
        both = xs[0].intersect(ys[0])
        return () if both is None else (both,)
    found: dict = {}
    for x in xs:
        for y in ys:
            both = x.intersect(y) if x is not y else x
            if both is not None:
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


@cython.cfunc
def _product_strings(xs: tuple, ys: tuple, algebra: Algebra) -> tuple:
    if len(xs) == 0 or len(ys) == 0:
        return ()
    if len(xs) == 1 and len(ys) == 1:
        both = xs[0] if xs[0] is ys[0] else _both_strings(xs[0], ys[0], algebra)
        return () if both is None else (both,)
    found: dict = {}
    for x in xs:
        for y in ys:
            both = x if x is y else _both_strings(x, y, algebra)
            if both is not None:
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


@cython.cfunc
def _both_strings(x, y, algebra: Algebra):
    """The strings of two shapes; None where there surely is none."""
    mine: tuple = x.values
    theirs: tuple = y.values
    if mine is None or theirs is None:
        return x.intersect(y)
    among: frozenset = algebra.set_of(theirs)
    return _of_texts(x, [text for text in mine if text in among])


@cython.cfunc
def _of_texts(shape, texts: list):
    """The shape of some of the texts of one; None where there are none."""
    if len(texts) == len(shape.values):
        return shape
    return StringShape(values=tuple(texts)) if len(texts) > 0 else None


@cython.ccall
@cython.exceptval(-1, check=False)
def no_array(shape: ArrayShape, algebra: Algebra, depth: cython.int = 3) -> cython.bint:
    """Whether it is plain that no array fits the shape, looking ``depth`` values deep."""
    if depth <= 0 or not shape.minimum:
        return False
    i: cython.Py_ssize_t
    for i in range(min(shape.minimum, len(shape.prefix) + 1)):
        if algebra.has_none(shape.at(i), depth - 1):
            return True
    return False


@cython.cfunc
def _product_arrays(xs: tuple, ys: tuple, algebra: Algebra) -> tuple:
    if ys is _ANY_ARRAYS or len(xs) == 0:
        return xs
    if xs is _ANY_ARRAYS or len(ys) == 0:
        return ys
    many: cython.bint = len(xs) > 1 or len(ys) > 1
    found: dict = {}
    one: ArrayShape
    for x in xs:
        one = x
        for y in ys:
            both = one.intersect(y, algebra) if x is not y else x
            if both is not None and not (many and no_array(both, algebra, 1)):
                found[both] = None
    algebra.spend(len(found))
    return tuple(found)


@cython.cfunc
def _product_objects(xs: tuple, ys: tuple, algebra: Algebra) -> tuple:
    if ys is _ANY_OBJECTS or len(xs) == 0:
        return xs
    if xs is _ANY_OBJECTS or len(ys) == 0:
        return ys
    if len(xs) == 1 and len(ys) == 1:
        if xs[0] is ys[0]:
            return xs
        shapes: tuple = meet(xs[0], ys[0], algebra)
        algebra.spend(len(shapes))
        return shapes
    found: dict = {}
    for x in xs:
        for y in ys:
            if x is not y and told_apart(x, y, algebra):
                continue
            for both in meet(x, y, algebra) if x is not y else (x,):
                if not no_object(both, algebra, 2):
                    found[both] = None
    algebra.spend(len(found))
    return tuple(found)


@cython.ccall
def disjunction(parts: list, algebra: Algebra) -> Denotation:
    """Values in any of them."""
    if len(parts) == 1:
        return parts[0]
    null: cython.bint = False
    booleans: cython.int = 0
    part: Denotation
    numbers: tuple = ()
    strings: tuple = ()
    arrays: tuple = ()
    shapes: tuple = ()
    for one in parts:
        part = one
        if part is ANYTHING:
            return part
        null = null or part.null
        booleans |= part.booleans
        numbers = _beside(numbers, part.numbers)
        strings = _beside(strings, part.strings)
        arrays = _beside(arrays, part.arrays)
        shapes = _beside(shapes, part.objects)
    arrays, shapes = _once(arrays), _once(shapes)
    numbers, strings = _once(numbers), _once(strings)
    algebra.spend(len(numbers) + len(strings) + len(arrays) + len(shapes))
    # an alternative without any constraint swallows the others
    if ANY_NUMBER in numbers:
        numbers = (ANY_NUMBER,)
    if ANY_STRING in strings:
        strings = (ANY_STRING,)
    if ANY_ARRAY in arrays:
        arrays = _ANY_ARRAYS
    if ANY_OBJECT in shapes:
        shapes = _ANY_OBJECTS
    return Denotation(null, booleans, numbers, strings, arrays, shapes)


@cython.cfunc
def _beside(one: tuple, other: tuple) -> tuple:
    return one if len(other) == 0 else other if len(one) == 0 else one + other


@cython.cfunc
def _once(shapes: tuple) -> tuple:
    return shapes if len(shapes) < 2 else tuple(dict.fromkeys(shapes))


@cython.ccall
def difference(a: Denotation, b: Denotation, algebra: Algebra, apart: cython.bint = True) -> Denotation:
    """Values of ``a`` that are not in ``b``. ``apart`` False: alternatives of objects may overlap, and say less."""
    return Denotation(
        a.null and not b.null,
        a.booleans & ~b.booleans,
        _numbers_without(a.numbers, b.numbers, algebra),
        _strings_without(a.strings, b.strings, algebra),
        _arrays_without(a.arrays, b.arrays, algebra),
        _objects_without(a.objects, b.objects, algebra, apart),
    )


def negation(a: Denotation, algebra: Algebra):
    """All other values. Alternatives of objects may overlap."""
    return difference(ANYTHING, a, algebra, False)


@cython.cfunc
def _numbers_without(left: tuple, shapes: tuple, algebra: Algebra) -> tuple:
    """The complement of a union is the conjunction of the complements."""
    for shape in shapes:
        if len(left) == 0:
            break
        left = _product(left, tuple(shape.complement()), algebra)
    return left


@cython.cfunc
def _strings_without(left: tuple, shapes: tuple, algebra: Algebra) -> tuple:
    """The same; lists of texts are taken off as lists."""
    texts: tuple
    for shape in shapes:
        if len(left) == 0:
            break
        texts = shape.values
        if texts is None:
            left = _product_strings(left, tuple(shape.complement()), algebra)
            continue
        out: frozenset = algebra.set_of(texts)
        if len(left) == 1:
            kept = _other_strings(left[0], out)
            left = () if kept is None else (kept,)
            continue
        found: dict = {}
        for one in left:
            kept = _other_strings(one, out)
            if kept is not None:
                found[kept] = None
        algebra.spend(len(found))
        left = tuple(found)
    return left


@cython.cfunc
def _other_strings(shape, out: frozenset):
    """The strings of a shape but some; None where there surely is none."""
    texts: tuple = shape.values
    if texts is None:
        return shape.exclude_values(out)
    return _of_texts(shape, [text for text in texts if text not in out])


@cython.cfunc
def _arrays_without(left: tuple, shapes: tuple, algebra: Algebra) -> tuple:
    found: dict
    shape: ArrayShape
    one: ArrayShape
    for other in shapes:
        shape = other
        found = {}
        others: tuple = None
        for x in left:
            one = x
            both = one.intersect(shape, algebra)
            if both is None or no_array(both, algebra, 2):
                found[one] = None
                continue
            if shape.unique:
                taken = tuple(_repeating(one, shape, both, algebra).complement(algebra))
            else:
                if others is None:
                    others = tuple(shape.complement(algebra))
                taken = others
            for kept in _product_arrays((one,), taken, algebra):
                found[kept] = None
        left = tuple(found)
    return left


@cython.cfunc
def _repeating(one: ArrayShape, shape: ArrayShape, both: ArrayShape, algebra: Algebra) -> ArrayShape:
    """A shape that holds of ``one`` what ``shape``, with different items, holds of it, but says nothing of that: where
    ``one`` says it already, or where no array with two items is in ``both``. Else ``shape``."""
    if one.unique:
        return shape.changed(unique=False)
    if algebra.has_none(both.at(1), 2):
        return both.changed(rest=0, prefix=both.prefix[:1] or (both.rest,), unique=False, evaluated=None, also=())
    return shape


@cython.cfunc
def _objects_without(left: tuple, shapes: tuple, algebra: Algebra, apart: cython.bint) -> tuple:
    i: cython.Py_ssize_t = 0
    found: dict
    for shape in shapes:
        i += 1
        if len(left) == 0:
            break
        if shape is ANY_OBJECT or shape == ANY_OBJECT:
            return ()
        if len(left) == 1:
            left = objects_difference(left[0], shape, algebra, apart or i < len(shapes))
            if len(left) > 1:
                left = tuple(dict.fromkeys(left))
            continue
        found = {}
        for one in left:
            for kept in objects_difference(one, shape, algebra, apart or i < len(shapes)):
                found[kept] = None
        left = tuple(found)
    return left
