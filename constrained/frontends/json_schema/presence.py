"""Fewer alternatives for objects that differ only in which members must, may or cannot stand.

``anyOf`` over ``required`` and ``dependencies`` are split into alternatives that exclude each other, for that is how
denotations are intersected and negated. Written down, each costs a group of all members, and all of them are read side
by side. So alternatives that say the same about values are seen as *cubes* over the names: some must stand, some
cannot, the rest may. A cube is an int: bit i where name i must stand, bit n + i where it cannot. From each cube a
condition is dropped where the cube with that condition turned round is in another one (consensus and absorption, Quine
1955), until nothing can be dropped; cubes that the others cover are left out. The objects allowed are the same;
alternatives may overlap then.

Cost: for n alternatives about n * n * conditions / 50 microseconds; nothing below FEW alternatives.
"""

from __future__ import annotations

from collections.abc import Iterable

from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.objects import ObjectShape

__all__ = ["fewer_shapes"]

Cube = int

#: Alternatives from which on it is worth while.
FEW = 4
#: Pieces looked at to find whether a cube is covered by others.
MANY_PIECES = 2_000


def fewer_shapes(shapes: tuple[ObjectShape, ...], *, closed: bool, ordered: bool) -> tuple[ObjectShape, ...]:
    """Shapes that allow the same objects as ``shapes`` together.

    ``closed``: undeclared members may not stand where a shape does not speak of them (strict mode). ``ordered``: the
    order of ``properties`` matters.
    """
    if len(shapes) < FEW:
        return shapes
    groups: dict[object, list[ObjectShape]] = {}
    for shape in shapes:
        order = tuple([name for name, _ in shape.properties]) if ordered else None
        key = (shape if shape.exists else None, shape.others, shape.minimum, shape.maximum, shape.said,
               shape.evaluated, order)
        groups.setdefault(key, []).append(shape)
    found: list[ObjectShape] = []
    for group in groups.values():
        found += group if len(group) < FEW else _of_group(group, closed and not group[0].said)
    return tuple(found)


def _of_group(group: list[ObjectShape], closed: bool) -> list[ObjectShape]:
    """The same for shapes with equal counts and undeclared members, by what they say about values.

    What is said of a name that a shape does not declare is the same in all of them (``usual``), so only declared names
    are looked at.
    """
    names = list(dict.fromkeys([name for shape in group for name in
                                [*(name for name, _ in shape.properties), *sorted(shape.required)]]))
    usual = dict.fromkeys(names, FALSE) if closed else {name: group[0].at_other(name) for name in names}
    values: dict[str, set[int]] = {name: set() for name in names}
    declaring = dict.fromkeys(names, 0)
    for shape in group:
        for name, value in shape.properties:
            values[name].add(value)
            declaring[name] += 1
    for name in names:
        if declaring[name] < len(group):
            values[name].add(usual[name])
        values[name].discard(FALSE)
    mixed = {name for name in names if len(values[name]) > 1}
    parts: dict[frozenset[tuple[str, int]], list[ObjectShape]] = {}
    for shape in group:
        key = frozenset([said for said in shape.properties if said[0] in mixed and said[1] != usual[said[0]]])
        parts.setdefault(key, []).append(shape)
    if all(len(part) < FEW for part in parts.values()):
        return [shape for part in parts.values() for shape in part]
    bits = {name: 1 << i for i, name in enumerate(names)}
    absent = sum([bits[name] for name in names if usual[name] == FALSE]) << len(names)
    shapes: list[ObjectShape] = []
    for part in parts.values():
        if len(part) < FEW:
            shapes += part
            continue
        cubes: dict[Cube, ObjectShape] = {}
        for shape in part:
            cannot = absent
            for name, value in shape.properties:
                bit = bits[name] << len(names)
                cannot = cannot | bit if value == FALSE else cannot & ~bit
            cubes.setdefault(cannot | sum([bits[name] for name in shape.required]), shape)
        for cube, origin in fewer_cubes(cubes, len(names)):
            shapes.append(_written(origin, cubes[origin], cube, names, values))
    return shapes


def _written(before: Cube, shape: ObjectShape, after: Cube, names: list[str],
             values: dict[str, set[int]]) -> ObjectShape:
    """``shape`` without the conditions that ``after`` no longer has."""
    if after == before:
        return shape
    dropped = before & ~after
    may = {name: next(iter(values[name])) for i, name in enumerate(names) if dropped >> len(names) + i & 1}
    properties = [(name, may.pop(name, value)) for name, value in shape.properties]
    required = frozenset([name for i, name in enumerate(names) if after >> i & 1])
    return shape.changed(properties=(*properties, *may.items()), required=required)


def fewer_cubes(cubes: Iterable[Cube], n: int) -> list[tuple[Cube, Cube]]:
    """Cubes over ``n`` names that together hold what ``cubes`` do, each with the one it was made from."""
    origins: dict[Cube, Cube] = {}
    for cube in sorted(cubes, key=int.bit_count):
        for other in origins:
            if not other & ~cube:
                break
        else:
            origins[cube] = cube
    # from here on no cube holds another, so a condition can be dropped only for one that has it turned round
    having: dict[int, set[Cube]] = {}
    for cube in origins:
        _listed(cube, having)
    waiting = list(origins)
    while waiting:
        changed = False
        for before in waiting:
            if before not in origins:
                continue
            cube = left = before
            while left:
                bit = left & -left
                left ^= bit
                turned = bit >> n or bit << n
                if turned in having:
                    broken = ~(cube ^ bit | turned)
                    for other in having[turned]:
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
    only = sorted(origins, key=int.bit_count)
    for i in range(len(only) - 1, -1, -1):
        if _is_covered(only[i], only[:i] + only[i + 1 :], n):
            del only[i]
    return [(cube, origins[cube]) for cube in only]


def _holding(cube: Cube, having: dict[int, set[Cube]], cubes: Iterable[Cube]) -> list[Cube]:
    """Those of ``cubes`` that have all conditions of ``cube``."""
    found: set[Cube] | None = None
    left = cube
    while left:
        bit = left & -left
        left ^= bit
        found = having[bit] if found is None else found & having[bit]
    return sorted(cubes if found is None else found)


def _listed(cube: Cube, having: dict[int, set[Cube]]) -> None:
    """Puts a cube to each of its conditions."""
    left = cube
    while left:
        bit = left & -left
        left ^= bit
        having.setdefault(bit, set()).add(cube)


def _unlisted(cube: Cube, having: dict[int, set[Cube]]) -> None:
    left = cube
    while left:
        bit = left & -left
        left ^= bit
        cubes = having[bit]
        cubes.remove(cube)
        if not cubes:
            del having[bit]


def _is_covered(cube: Cube, others: list[Cube], n: int) -> bool:
    """Whether ``others`` together hold ``cube``; False, too, where that takes more than MANY_PIECES pieces."""
    waiting = [(cube, 0)]
    seen = 0
    while waiting:
        cube, i = waiting.pop()
        seen += 1
        if seen > MANY_PIECES:
            return False
        turned = cube >> n | (cube & (1 << n) - 1) << n
        while i < len(others) and others[i] & turned:
            i += 1
        if i == len(others):
            return False
        # what is not in this one: for each of its conditions the part that breaks it and keeps those before
        lacking = others[i] & ~cube
        while lacking:
            bit = lacking & -lacking
            lacking ^= bit
            waiting.append((cube | (bit >> n or bit << n), i + 1))
            cube |= bit
    return True
