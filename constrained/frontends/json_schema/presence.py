# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewer alternatives for objects that differ only in which members must, may or cannot stand.

``anyOf`` over ``required`` and ``dependencies`` are split into alternatives that exclude each other, for that is how
denotations are intersected and negated. Written down, each costs a group of all members, and all of them are read side
by side. So alternatives that say the same about values are seen as cubes over the names (``cubes``): some must stand,
some cannot, the rest may. Fewer cubes are fewer alternatives; the objects allowed are the same, and alternatives may
overlap then.

Cost: 0.1 us for each member of each alternative, and what ``cubes`` says; nothing below FEW alternatives.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.objects import ANY_OTHERS

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.cubes import Cubes
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape
else:
    from constrained.frontends.json_schema.cubes import Cubes
    from constrained.frontends.json_schema.objects import ObjectShape

__all__ = ["fewer_shapes"]

FEW = cython.declare(cython.Py_ssize_t, 4)
"""Alternatives from which on it is worth while."""
_HASHES = cython.declare(cython.ulonglong, (1 << 59) - 1)
MIXED = cython.declare(cython.int, -1)
"""Instead of an expression: several are said of a name."""


@cython.ccall
def fewer_shapes(shapes: tuple, closed: cython.bint, ordered: cython.bint) -> tuple:
    """Shapes that allow the same objects as ``shapes`` together.

    ``closed``: undeclared members may not stand where a shape does not speak of them (strict mode). ``ordered``: the
    order of ``properties`` matters.
    """
    shape: ObjectShape
    first: ObjectShape
    if len(shapes) < FEW:
        return shapes
    groups: dict = {}
    for one in shapes:
        shape = one
        order = tuple([name for name, _ in shape.properties]) if ordered else None
        others = None if shape.others is ANY_OTHERS or shape.others == ANY_OTHERS else shape.others  # to hash
        key = (shape if len(shape.exists) > 0 else None, others, shape.minimum, shape.maximum, shape.said,
               shape.evaluated, order)
        group = groups.get(key)
        if group is None:
            groups[key] = [shape]
        else:
            cython.cast(list, group).append(shape)
    found: list = []
    for group in groups.values():
        first = group[0]
        found.extend(group if len(group) < FEW else _of_group(group, closed and not first.said))
    return tuple(found)


@cython.cfunc
def _of_group(group: list, closed: cython.bint) -> list:
    """The same for shapes with equal counts and undeclared members, by what they say about values.

    What is said of a name that a shape does not declare is the same in all of them (``usual``), so only declared names
    are looked at. A name has a number, in the order of their first appearance.
    """
    i: cython.Py_ssize_t
    shape: ObjectShape
    first: ObjectShape = group[0]
    numbers: dict = {}
    values: list = []  # what is said of each name but FALSE: one, or MIXED
    declaring: list = []
    for one in group:
        shape = one
        for name, said in shape.properties:
            number = numbers.get(name)
            if number is None:
                numbers[name] = len(values)
                values.append(said)
                declaring.append(1)
                continue
            i = number
            declaring[i] += 1
            if values[i] != said:
                values[i] = _beside(values[i], said)
        for name in sorted([name for name in shape.required if name not in numbers]):
            numbers[name] = len(values)
            values.append(0)
            declaring.append(0)
    usual: list = [0 if closed else first.at_other(name) for name in numbers]
    mixed: dict = {}
    for name, number in numbers.items():
        i = number
        if declaring[i] < len(group) and values[i] != usual[i]:
            values[i] = _beside(values[i], usual[i])
        if values[i] == MIXED:
            mixed[name] = usual[i]
    parts: list = [group]
    if len(mixed) > 0:
        if _all_differ(group, mixed):
            return group
        by_values: dict = {}
        for one in group:
            shape = one
            key = frozenset([said for said in shape.properties if said[0] in mixed and said[1] != mixed[said[0]]])
            by_values.setdefault(key, []).append(shape)
        parts = list(by_values.values())
        if max([len(part) for part in parts]) < FEW:
            return [shape for part in parts for shape in part]
    shapes: list = []
    for part in parts:
        if len(part) < FEW:
            shapes.extend(part)
        else:
            shapes.extend(_fewer(part, numbers, values, usual))
    return shapes


@cython.cfunc
def _fewer(part: list, numbers: dict, values: list, usual: list) -> list:
    """The same for shapes that say the same about values."""
    i: cython.int
    cube: cython.int
    value: cython.int
    shape: ObjectShape
    cubes: Cubes = Cubes(len(values))
    absent: list = [i for i in range(len(values)) if usual[i] == 0]
    for one in part:
        shape = one
        cube = cubes.add()
        standing: cython.Py_ssize_t = 0
        for name, said in shape.properties:
            value = said
            i = numbers[name]
            if usual[i] == 0:
                standing += value != 0
            elif value == 0:
                cubes.ask(cube, i, False)
        if len(absent) > 0 and standing < len(absent):
            known: dict = shape.declared()
            names: list = list(numbers)
            for i in absent:
                if not known.get(names[i]):
                    cubes.ask(cube, i, False)
        for name in shape.required:
            cubes.ask(cube, numbers[name], True)
    found: list = []
    for one in cubes.fewer():
        cube = one
        shape = part[cubes.origin(cube)]
        found.append(shape if cubes.origin(cube) == cube else _written(shape, cubes, cube, list(numbers), values))
    return found


@cython.cfunc
@cython.exceptval(-2, check=False)
def _beside(known: cython.int, said: cython.int) -> cython.int:
    """One more of the things that are said of a name."""
    if said == 0 or said == known:
        return known
    return said if known == 0 else MIXED


@cython.cfunc
@cython.exceptval(-1, check=False)
def _all_differ(group: list, mixed: dict) -> cython.bint:
    """Whether it is plain that any two shapes say other things about the values of the names of ``mixed``, each with
    what is said of it where nothing else is: seen by a hash, which is cheap beside the things themselves."""
    mark: cython.ulonglong
    value: cython.ulonglong
    seen: set = set()
    for one in group:
        mark = 0
        for name, said in cython.cast(ObjectShape, one).properties:
            usual = mixed.get(name)
            if usual is not None and usual != said:
                value = said
                mark = mark + ((hash(name) ^ value * 1_000_003) & _HASHES) & _HASHES
        seen.add(mark)
    return len(seen) == len(group)


@cython.cfunc
def _written(shape: ObjectShape, cubes: Cubes, cube: cython.int, names: list, values: list) -> ObjectShape:
    """``shape`` without the conditions that ``cube``, made from its own, no longer has."""
    i: cython.int
    before: cython.int = cubes.origin(cube)
    # such a name has one value in all shapes that differ only in what must and cannot stand
    may: dict = {}
    required: list = []
    for i in range(len(names)):
        if cubes.asks(before, i, False) and not cubes.asks(cube, i, False):
            may[names[i]] = values[i]
        if cubes.asks(cube, i, True):
            required.append(names[i])
    properties = [(name, may.pop(name, value)) for name, value in shape.properties]
    return shape.changed(properties=(*properties, *may.items()), required=frozenset(required))
