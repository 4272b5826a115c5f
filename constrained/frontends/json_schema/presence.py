# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewer alternatives for objects that differ only in which members must, may or cannot stand.

``anyOf`` over ``required`` and ``dependencies`` are split into alternatives that exclude each other, for that is how
denotations are intersected and negated. Written down, each costs a group of all members, and all of them are read side
by side. So alternatives that say the same about values are seen as *cubes* over the names: some must stand, some
cannot, the rest may. A cube is an int: bit i where name i must stand, bit n + i where it cannot. From each cube a
condition is dropped where the cube with that condition turned round is in another one (consensus and absorption, Quine
1955), until nothing can be dropped; cubes that the others cover are left out. The objects allowed are the same;
alternatives may overlap then.

Cost: for n alternatives n * n pairs are looked at, 0.1 us each; nothing below FEW alternatives.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape
else:
    from constrained.frontends.json_schema.objects import ObjectShape

__all__ = ["fewer_shapes"]

FEW = cython.declare(cython.Py_ssize_t, 4)
"""Alternatives from which on it is worth while."""
MANY_PIECES = cython.declare(cython.int, 2_000)
"""Pieces looked at to find whether a cube is covered by others."""


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
        key = (shape if len(shape.exists) > 0 else None, shape.others, shape.minimum, shape.maximum, shape.said,
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
    n: cython.Py_ssize_t
    value: cython.int
    shape: ObjectShape
    first: ObjectShape = group[0]
    numbers: dict = {}
    values: list = []  # what is said of each name but FALSE: one, or a set
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
    n = len(values)
    usual: list = [0 if closed else first.at_other(name) for name in numbers]
    mixed: dict = {}
    for name, number in numbers.items():
        i = number
        if declaring[i] < len(group) and values[i] != usual[i]:
            values[i] = _beside(values[i], usual[i])
        if isinstance(values[i], frozenset):
            mixed[name] = usual[i]
    parts: list = [group]
    if len(mixed) > 0:
        by_values: dict = {}
        for one in group:
            shape = one
            key = frozenset([said for said in shape.properties if said[0] in mixed and said[1] != mixed[said[0]]])
            by_values.setdefault(key, []).append(shape)
        parts = list(by_values.values())
        if max([len(part) for part in parts]) < FEW:
            return [shape for part in parts for shape in part]
    bit: object = 1  # as Python counts: there may be more names than a machine word has bits
    bits: list = []
    for _ in range(n):
        bits.append(bit)
        bit = bit << 1
    absent: object = 0
    for i in range(n):
        if usual[i] == 0:
            absent |= bits[i]
    shapes: list = []
    for part in parts:
        if len(part) < FEW:
            shapes.extend(part)
            continue
        cubes: dict = {}
        for one in part:
            shape = one
            must: object = 0
            cannot: object = absent
            for name, said in shape.properties:
                value = said
                i = numbers[name]
                if (value == 0) != (usual[i] == 0):
                    cannot = cannot ^ bits[i]
            for name in shape.required:
                must |= bits[numbers[name]]
            cubes.setdefault(must | cannot << n, shape)
        for cube, origin in fewer_cubes(cubes, n):
            shapes.append(cubes[origin] if cube == origin else _written(origin, cubes[origin], cube, list(numbers),
                                                                        values))
    return shapes


@cython.cfunc
def _beside(known, said):
    """One more of the things that are said of a name."""
    if said == 0:
        return known
    if isinstance(known, frozenset):
        return known | {said}
    return said if known == 0 else frozenset((known, said))


@cython.cfunc
def _written(before, shape: ObjectShape, after, names: list, values: list) -> ObjectShape:
    """``shape`` without the conditions that the cube ``after`` no longer has."""
    n: cython.Py_ssize_t = len(names)
    dropped = before & ~after
    # such a name has one value in all shapes that differ only in what must and cannot stand
    may: dict = {names[i]: values[i] for i in range(n) if dropped >> n + i & 1}
    properties = [(name, may.pop(name, value)) for name, value in shape.properties]
    required = frozenset([names[i] for i in range(n) if after >> i & 1])
    return shape.changed(properties=(*properties, *may.items()), required=required)


def fewer_cubes(cubes, n: cython.Py_ssize_t) -> list:
    """Cubes over ``n`` names that together hold what ``cubes`` do, each with the one it was made from."""
    origins: dict = {}
    for cube in sorted(cubes, key=int.bit_count):
        others_bits = ~cube
        for other in origins:
            if not other & others_bits:
                break
        else:
            origins[cube] = cube
    # from here on no cube holds another, so a condition can be dropped only for one that has it turned round
    having: dict = {}
    for cube in origins:
        _listed(cube, having)
    waiting: list = list(origins)
    while len(waiting) > 0:
        changed: cython.bint = False
        for before in waiting:
            if before not in origins:
                continue
            cube = before
            for bit in _conditions(before):
                turned = bit >> n or bit << n
                others = having.get(turned)
                if others is not None:
                    broken = ~(cube ^ bit | turned)
                    for other in cython.cast(set, others):
                        if not other & broken:
                            cube ^= bit
                            break
            if cube != before:
                origin = origins[before]
                for held in _holding(cube, having, origins):
                    del origins[held]
                    _unlisted(held, having)
                origins[cube] = origin
                _listed(cube, having)
                changed = True
        # a new cube may be what another one waits for
        waiting = list(origins) if changed else []
    only: list = sorted(origins, key=int.bit_count)
    i: cython.Py_ssize_t
    for i in range(len(only) - 1, -1, -1):
        if _is_covered(only[i], only[:i] + only[i + 1 :], n):
            del only[i]
    return [(cube, origins[cube]) for cube in only]


@cython.cfunc
def _conditions(cube) -> list:
    """The bits of a cube, the lowest first."""
    found: list = []
    while cube:
        bit = cube & -cube
        cube ^= bit
        found.append(bit)
    return found


@cython.cfunc
def _holding(cube, having: dict, cubes) -> list:
    """Those of ``cubes`` that have all conditions of ``cube``."""
    found = None
    for bit in _conditions(cube):
        found = having[bit] if found is None else found & having[bit]
    return sorted(cubes if found is None else found)


@cython.cfunc
def _listed(cube, having: dict):
    """Puts a cube to each of its conditions."""
    for bit in _conditions(cube):
        others = having.get(bit)
        if others is None:
            having[bit] = {cube}
        else:
            cython.cast(set, others).add(cube)


@cython.cfunc
def _unlisted(cube, having: dict):
    for bit in _conditions(cube):
        others: set = having[bit]
        others.remove(cube)
        if len(others) == 0:
            del having[bit]


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_covered(cube, others: list, n: cython.Py_ssize_t) -> cython.bint:
    """Whether ``others`` together hold ``cube``; False, too, where that takes more than MANY_PIECES pieces."""
    waiting: list = [(cube, 0)]
    seen: cython.int = 0
    i: cython.Py_ssize_t
    low: object = 1
    low = (low << n) - 1
    while len(waiting) > 0:
        top: tuple = waiting.pop()
        cube = top[0]
        i = top[1]
        seen += 1
        if seen > MANY_PIECES:
            return False
        turned = cube >> n | (cube & low) << n
        while i < len(others) and others[i] & turned:
            i += 1
        if i == len(others):
            return False
        # what is not in this one: for each of its conditions the part that breaks it and keeps those before
        for bit in _conditions(others[i] & ~cube):
            waiting.append((cube | (bit >> n or bit << n), i + 1))
            cube |= bit
    return True
