# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
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

``meet`` and ``difference`` stay at this level; expressions are combined by id. Cost: 0.1 us a member.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.strings import ANY_STRING, both_of

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.expressions import Algebra
else:
    from constrained.frontends.json_schema.expressions import Algebra

__all__ = ["ANY_OBJECT", "ANY_OTHERS", "Cell", "ObjectShape", "difference", "disjoint_cells", "distance", "meet",
           "no_object", "split_cells", "told_apart"]

Cell = tuple

FALSE = cython.declare(cython.int, 0)
"""As in ``expressions``; so is ``TRUE``."""
TRUE = cython.declare(cython.int, 1)

ANY_OTHERS = ((ANY_STRING, 1),)
"""Nothing is said about other names."""

_FIELDS = ("properties", "others", "required", "exists", "minimum", "maximum", "said", "evaluated")
_NO_NAMES: frozenset = frozenset()
_HASHES = cython.declare(cython.ulonglong, (1 << 59) - 1)


@cython.final
@cython.cclass
class ObjectShape:
    """See the module docstring. A value: it is not changed once it is made, which is not enforced, for speed."""

    def __init__(self, properties: tuple = (), others: tuple = ANY_OTHERS, required: frozenset = _NO_NAMES,
                 exists: tuple = (), minimum=0, maximum=None, said: cython.bint = False, evaluated=None):
        self.properties = properties
        self.others = others
        self.required = required
        self.exists = exists
        self.minimum = minimum
        self.maximum = maximum
        self.said = said
        self.evaluated = evaluated
        self.names = None
        self.needed = None
        self.impossible = -1
        self.hashed = 0

    @cython.cfunc
    def fields(self) -> tuple:
        return (self.properties, self.others, self.required, self.exists, self.minimum, self.maximum, self.said,
                self.evaluated)

    def __eq__(self, other):
        if self is other:
            return True
        if type(other) is not ObjectShape:
            return NotImplemented
        one: ObjectShape = other
        return len(self.properties) == len(one.properties) and hash(self) == hash(one) and self.fields() == one.fields()

    def __hash__(self):
        """Of the numbers in it, which tell most shapes of a document apart; kept."""
        if self.hashed == 0:
            found: cython.ulonglong = len(self.properties)
            for said in self.properties:
                found = (found * 1_000_003 ^ cython.cast(cython.int, cython.cast(tuple, said)[1])) & _HASHES
            for cell in self.others:
                found = (found * 1_000_003 ^ cython.cast(cython.int, cython.cast(tuple, cell)[1])) & _HASHES
            if len(self.exists) > 0:
                found ^= hash(self.exists) & _HASHES
            found ^= hash(self.required) & _HASHES
            found ^= hash((self.minimum, self.maximum)) & _HASHES
            self.hashed = found | 1
        return self.hashed

    def __repr__(self):
        return f"ObjectShape{self.fields()}"

    def changed(self, **changes):
        """The same but for some fields."""
        said = dict(zip(_FIELDS, self.fields()))
        said.update(changes)
        return ObjectShape(**said)

    @cython.ccall
    def declared(self) -> dict:
        """``properties`` to look up; not to be changed."""
        if self.names is None:
            self.names = dict(self.properties)
        return self.names

    @cython.cfunc
    def in_turn(self) -> tuple:
        """``required`` in an order that no hash decides; kept."""
        if self.needed is None:
            required = self.required
            self.needed = tuple(sorted(required) if len(required) > 1 else required)
        return self.needed

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def at(self, name) -> cython.int:
        """What is said about the value of ``name``."""
        found = self.declared().get(name)
        return self.at_other(name) if found is None else found

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def at_other(self, name) -> cython.int:
        """What the cells say about ``name``."""
        if self.others is ANY_OTHERS:
            return TRUE
        for names, expression in self.others:
            if names is ANY_STRING or (name not in names.excluded and names.contains(name)):
                return expression
        return FALSE

    @cython.cfunc
    def merged(self, other: ObjectShape, algebra: Algebra):
        """Objects in both, declared names for ``exists`` not looked for; None where that is plainly impossible."""
        before: cython.int
        value: cython.int
        mine: dict = self.declared()
        others: tuple = self.others
        quiet: cython.bint = other.others is ANY_OTHERS or other.others == ANY_OTHERS
        changed: dict = {}  # of what this shape declares
        fresh: list = []
        if not quiet:  # else ``other`` says nothing of its undeclared names
            theirs: dict = other.declared()
            for name, expression in self.properties:
                if name not in theirs:
                    before = expression
                    value = algebra.both(before, other.at_other(name))
                    if value != before:
                        changed[name] = value
        for said in other.properties:
            name, expression = cython.cast(tuple, said)
            known = mine.get(name)
            if known is None:
                value = self.at_other(name)
                if value != TRUE:
                    value = algebra.both(value, expression)
                    said = (name, value)
                fresh.append(said)
                continue
            before = known
            value = algebra.both(before, expression)
            if value != before:
                changed[name] = value
        properties: tuple = self.properties
        if len(changed) > 0:
            if len(changed) == len(properties):
                properties = tuple([(name, changed[name]) for name in mine])
            else:
                properties = tuple([(said[0], changed[said[0]]) if said[0] in changed else said
                                    for said in properties])
        if len(fresh) > 0:
            properties = (*properties, *fresh)
        if len(changed) + len(fresh) > 0:
            mine = mine.copy()
            mine.update(changed)
            mine.update(fresh)
        if not quiet and others is not other.others and others != other.others:
            cells: list = []
            for names_a, a in others:
                for names_b, b in other.others:
                    names = names_a if names_b is ANY_STRING else names_b if names_a is ANY_STRING else (
                        names_a.intersect(names_b))
                    if names is not None:
                        value = algebra.both(a, b)
                        if value != FALSE:
                            cells.append((names, value))
            others = tuple(cells)
        maximum = self.maximum
        if other.maximum is not None and (maximum is None or other.maximum < maximum):
            maximum = other.maximum
        exists: tuple = self.exists
        if len(other.exists) > 0:
            exists = tuple(dict.fromkeys(exists + other.exists)) if len(exists) > 0 else other.exists
        required: frozenset = self.required
        if len(required) == 0:
            required = other.required
        elif len(other.required) > 0:
            required = required | other.required
        minimum = self.minimum
        if other.minimum > minimum:
            minimum = other.minimum
        found = _shape(properties, others, required, exists, minimum, maximum, self.said or other.said,
                       _join(self.evaluated, other.evaluated))
        found.names = mine
        return None if found.is_impossible() else found

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def is_impossible(self) -> cython.bint:
        """Whether a required name may not occur, or the counts cross."""
        if self.impossible < 0:
            self.impossible = self.never()
        return self.impossible

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def never(self) -> cython.int:
        if len(self.required) > 0:
            known: dict = self.declared()
            for name in self.required:
                value = known.get(name)
                if (self.at_other(name) if value is None else value) == FALSE:
                    return True
        least = self.minimum
        if len(self.required) > least:
            least = len(self.required)
        if self.maximum is not None and least > self.maximum:
            return True
        if len(self.others) > 0 or not least:
            return False
        if least > len(self.properties):
            return True
        standing: cython.Py_ssize_t = 0
        for _, expression in self.properties:
            if expression != FALSE:
                standing += 1
        return least > standing


ANY_OBJECT = ObjectShape()


@cython.ccall
def meet(a: ObjectShape, b: ObjectShape, algebra: Algebra) -> tuple:
    """Objects in both, as shapes whose ``exists`` are about undeclared names."""
    found: ObjectShape = a.merged(b, algebra)
    if found is None:
        return ()
    if len(found.exists) == 0:
        return (found,)
    return _resolved(found, algebra)


@cython.cfunc
def _resolved(shape: ObjectShape, algebra: Algebra) -> tuple:
    """Which declared member, or else an undeclared one, is each of those that must exist."""
    done: list = []
    known: dict = shape.declared()
    k: cython.Py_ssize_t
    both: cython.int
    asked = tuple([(name, shape.at_other(name)) for name in sorted([n for n in shape.required if n not in known])])
    if len(asked) > 0:
        shape = _changed(shape, shape.properties + asked, shape.required, shape.exists)
    stack: list = [(shape, 0)]
    while len(stack) > 0:
        top: tuple = stack.pop()
        shape = top[0]
        k = top[1]
        if k == len(shape.exists):
            if not shape.is_impossible() and (len(shape.others) > 0 or len(shape.exists) == 0):
                done.append(shape)
            continue
        names, wanted = shape.exists[k]
        fresh: list = [said for said in shape.properties if said[0] not in names.excluded]
        if len(fresh) == 0 and names.values is None:  # none of those declared: nearly always
            if _some_other(shape, names, wanted, algebra):
                stack.append((shape, k + 1))
            continue
        declared: list = [said for said in fresh if said[1] != FALSE and names.contains(said[0])]
        left = names.exclude_values([said[0] for said in fresh])
        others: tuple = _without(shape.exists, k)
        for name, value in reversed(declared):
            both = algebra.both(value, wanted)
            if both != FALSE and not algebra.has_none(both, 1):
                properties = tuple([(said[0], both) if said[0] == name else said for said in shape.properties])
                stack.append((_changed(shape, properties, shape.required | {name}, others), k))
        if (left.values is None or left.values) and _some_other(shape, left, wanted, algebra):
            there: tuple = shape.exists[:k] + ((left, wanted),) + shape.exists[k + 1 :]
            stack.append((_changed(shape, shape.properties, shape.required, there), k + 1))
        algebra.spend(len(declared))
    return tuple(done)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _some_other(shape: ObjectShape, names, wanted: cython.int, algebra: Algebra) -> cython.int:
    """Whether it is not plain that no undeclared member has one of ``names`` and is as ``wanted``."""
    for cell, value in shape.others:
        if algebra.both(value, wanted) != FALSE and (cell is ANY_STRING or cell.intersect(names) is not None):
            return True
    return False


@cython.cfunc
def _changed(shape: ObjectShape, properties: tuple, required: frozenset, exists: tuple) -> ObjectShape:
    return _shape(properties, shape.others, required, exists, shape.minimum, shape.maximum, shape.said,
                  shape.evaluated)


@cython.cfunc
def _shape(properties: tuple, others: tuple, required: frozenset, exists: tuple, minimum, maximum, said: cython.bint,
           evaluated) -> ObjectShape:
    """A shape, made without a call of what Python sees."""
    found: ObjectShape = ObjectShape.__new__(ObjectShape)
    found.properties = properties
    found.others = others
    found.required = required
    found.exists = exists
    found.minimum = minimum
    found.maximum = maximum
    found.said = said
    found.evaluated = evaluated
    found.names = None
    found.needed = None
    found.impossible = -1
    found.hashed = 0
    return found


@cython.cfunc
def _without(cells: tuple, k: cython.Py_ssize_t) -> tuple:
    return cells[:k] + cells[k + 1 :]


@cython.ccall
@cython.exceptval(-1, check=False)
def told_apart(a: ObjectShape, b: ObjectShape, algebra: Algebra) -> cython.bint:
    """Whether one required member already shows that no object is in both: the usual case of a union with tags."""
    both: cython.int
    x: cython.int
    y: cython.int
    for name in _needed(a, b):
        x, y = a.at(name), b.at(name)
        if x != TRUE and y != TRUE and x != y:
            both = algebra.both(x, y)
            if both == FALSE or algebra.has_none(both, 2):
                return True
        elif x == FALSE or y == FALSE:
            return True
    return False


@cython.cfunc
def _needed(a: ObjectShape, b: ObjectShape) -> tuple:
    """The names that one of two requires, in an order that no hash decides."""
    required: frozenset = a.required
    if len(b.required) == 0 or b.required is required:
        return a.in_turn()
    if len(required) == 0:
        return b.in_turn()
    mine: tuple = a.in_turn()
    theirs: tuple = b.in_turn()
    found: list = []
    i: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t = 0
    while i < len(mine) and k < len(theirs):
        if mine[i] <= theirs[k]:
            if mine[i] == theirs[k]:
                k += 1
            found.append(mine[i])
            i += 1
        else:
            found.append(theirs[k])
            k += 1
    return (*found, *mine[i:], *theirs[k:])


@cython.ccall
@cython.exceptval(-1, check=False)
def no_object(shape: ObjectShape, algebra: Algebra, depth: cython.int = 3) -> cython.bint:
    """Whether it is plain that no object fits the shape, looking ``depth`` values deep."""
    if shape.is_impossible():
        return True
    if depth <= 0 or len(shape.required) == 0:
        return False
    for name in shape.in_turn():
        if algebra.has_none(shape.at(name), depth - 1):
            return True
    return False


def distance(shape: ObjectShape, other: ObjectShape):
    """How many things ``other`` says that ``shape`` does not: about as many alternatives has their difference."""
    mine: dict = shape.declared()
    said = 0 if other.others == shape.others else 1_000 * (len(other.others) + 1)  # those must exist: not cheap
    said += len(other.required - shape.required)
    for name, expression in other.properties:
        if mine.get(name) != expression:
            said += 1
    return said


@cython.ccall
def difference(shape: ObjectShape, other: ObjectShape, algebra: Algebra, apart: cython.bint = True) -> tuple:
    """The objects of ``shape`` that are not in ``other``: for each thing ``other`` says, those that break it and keep
    what it said before. So the alternatives exclude each other, and few are left after several differences.

    ``apart`` False: alternatives about members need not keep what was said of earlier ones. They overlap, but say n
    things of n members where those that exclude each other say n squared: for what is not taken apart any further.
    """
    if shape is ANY_OBJECT:
        if no_object(other, algebra, 3):
            return (shape,)
    elif not _share(shape, other, algebra):
        return (shape,)
    found: list = []
    kept: list = [shape]
    value: cython.int
    wrong: cython.int
    for name in other.in_turn():
        if name not in shape.required and _broken(kept, name, FALSE, False, found, algebra):
            kept = _with_members(kept, name, -1, True, algebra)
    start: list = kept
    quiet: cython.bint = other.others is ANY_OTHERS or other.others == ANY_OTHERS
    more: cython.bint = (apart or not quiet or len(other.exists) > 0 or other.minimum > 0
                         or other.maximum is not None)
    for name, expression in other.properties:
        value = expression
        if value != TRUE and shape.at(name) != value:
            wrong = algebra.negated(value)
            if _broken(kept if apart else start, name, wrong, True, found, algebra) and more:
                kept = _with_members(kept, name, value, False, algebra)
    if other.others != shape.others or not shape.declared().keys() <= other.declared().keys():
        declared = [name for name, _ in other.properties]
        for names, expression in other.others:
            if expression != TRUE:
                exists = ((names.exclude_values(declared), algebra.negated(expression)),)
                _split(kept, ObjectShape(exists=exists), found, algebra)
        if not quiet:
            for names in _outside([names for names, _ in other.others]):
                _split(kept, ObjectShape(exists=((names.exclude_values(declared), TRUE),)), found, algebra)
    for names, expression in other.exists:
        cells = split_cells([(names, algebra.negated(expression))])
        _split(kept, ObjectShape(others=tuple(cells)), found, algebra)
    if other.minimum > 0 and _split(kept, ObjectShape(maximum=other.minimum - 1), found, algebra):
        kept = _met(kept, ObjectShape(minimum=other.minimum), algebra)
    if other.maximum is not None:
        _split(kept, ObjectShape(minimum=other.maximum + 1), found, algebra)
    return tuple(found)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _share(a: ObjectShape, b: ObjectShape, algebra: Algebra) -> cython.int:
    """Whether it is not plain that no object is in both."""
    x: cython.int
    if len(a.exists) == 0 and len(b.exists) == 0 and a.maximum is None and b.maximum is None and (
            a.minimum == 0 and b.minimum == 0):  # then the members that must be decide
        for name in _needed(a, b):
            x = algebra.both(a.at(name), b.at(name))
            if x == FALSE or algebra.has_none(x, 2):
                return False
        return True
    if told_apart(a, b, algebra):
        return False
    for both in meet(a, b, algebra):
        if not no_object(both, algebra, 3):
            return True
    return False


@cython.cfunc
def _met(kept: list, shape: ObjectShape, algebra: Algebra) -> list:
    found: list = []
    for one in kept:
        found.extend(meet(one, shape, algebra))
    return found


@cython.cfunc
@cython.exceptval(-1, check=False)
def _split(kept: list, wrong: ObjectShape, found: list, algebra: Algebra) -> cython.Py_ssize_t:
    """What of ``kept`` is ``wrong`` goes to ``found``; how many alternatives that are."""
    before: cython.Py_ssize_t = len(found)
    for one in kept:
        for both in meet(one, wrong, algebra):
            if not no_object(both, algebra, 2):
                found.append(both)
    algebra.spend(len(found) - before)
    return len(found) - before


@cython.cfunc
@cython.exceptval(-1, check=False)
def _broken(kept: list, name, wrong: cython.int, needed: cython.bint, found: list, algebra: Algebra
            ) -> cython.Py_ssize_t:
    """The same for what has a member that is ``wrong``."""
    before: cython.Py_ssize_t = len(found)
    shape: ObjectShape
    both: ObjectShape
    for one in kept:
        shape = one
        if len(shape.exists) > 0:
            for met in _with_members([shape], name, wrong, needed, algebra):
                if not no_object(met, algebra, 2):
                    found.append(met)
            continue
        for other in shape.in_turn():
            if other != name and algebra.has_none(shape.at(other), 1):
                break
        else:
            if (needed or name in shape.required) and (
                    algebra.has_none(algebra.both(shape.at(name), wrong), 1)):
                continue
            both = _with_member(shape, name, wrong, needed, algebra)
            if both is not None:
                found.append(both)
    algebra.spend(len(found) - before)
    return len(found) - before


@cython.cfunc
def _with_members(kept: list, name, wanted: cython.int, needed: cython.bint, algebra: Algebra) -> list:
    """``meet`` of each with a shape that says nothing but what a member is (``wanted``; -1: nothing), or that it is
    there."""
    found: list = []
    shape: ObjectShape
    for one in kept:
        shape = one
        if len(shape.exists) > 0:
            found.extend(meet(shape, ObjectShape(() if wanted < 0 else ((name, wanted),),
                                                 required=frozenset((name,)) if needed else _NO_NAMES), algebra))
            continue
        both = _with_member(shape, name, wanted, needed, algebra)
        if both is not None:
            found.append(both)
    return found


@cython.cfunc
def _with_member(shape: ObjectShape, name, wanted: cython.int, needed: cython.bint, algebra: Algebra) -> ObjectShape:
    """The same of one without ``exists``; None: plainly nothing."""
    both: ObjectShape
    value: cython.int
    known = shape.declared().get(name)
    value = shape.at_other(name) if known is None else known
    if wanted >= 0:
        value = algebra.both(value, wanted)
    required: frozenset = shape.required
    if needed and name not in required:
        required = required | {name}
    if value == FALSE and name in required:
        return None
    properties: tuple = shape.properties
    if wanted >= 0:
        if known is None:
            properties = properties + ((name, value),)
        elif value != known:
            properties = tuple([(name, value) if said[0] == name else said for said in properties])
    both = _changed(shape, properties, required, ())
    if required is shape.required:
        both.needed = shape.needed
    if shape.impossible == 0 and shape.maximum is None and len(shape.others) > 0:
        both.impossible = 0  # nothing but that member could make it so
    return None if both.is_impossible() else both


def split_cells(said: list, rest: cython.int = 1) -> list:
    """Disjoint cells for (overlapping) names that must be disjoint already, and ``rest`` for all other names."""
    cells: list = [cell for cell in said if cell[1] != FALSE]
    if rest != FALSE:
        cells.extend([(names, rest) for names in _outside([names for names, _ in said])])
    return cells


@cython.cfunc
def _outside(covered: list) -> list:
    """The names in none of ``covered``."""
    left: list = [ANY_STRING]
    for names in covered:
        if names is ANY_STRING:
            return []
        left = both_of(left, names.complement())
    return left


@cython.cfunc
def _join(a, b):
    if a is None or b is None:
        return a if b is None else b
    return a[0] | b[0], tuple(dict.fromkeys(a[1] + b[1]))


def disjoint_cells(cells: tuple) -> list:
    """The same names in shapes that do not overlap."""
    found: list = []
    for cell in cells:
        left: list = [cell]
        for earlier in found:
            left = both_of(left, earlier.complement())
        found.extend(left)
    return found
