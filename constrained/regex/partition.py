"""The code points cut into the fewest classes that a family of sets can tell apart.

``Partition.classes`` are disjoint, together all code points (surrogates aside), in no particular order; every
set it was made from is a union of them, given as a bit mask. Cost: linear in the ranges (and their sorting).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from constrained.regex.charset import FIRST_SURROGATE, MAX_CODE_POINT, Ranges, normalise

__all__ = ["Partition", "partition_of", "refine", "told_apart"]


@dataclass(frozen=True, slots=True)
class Partition:
    """``masks[set]`` has bit c set where class c is in that set."""

    classes: tuple[Ranges, ...]
    masks: dict[Ranges, int]


def partition_of(sets: Iterable[Ranges]) -> Partition:
    """The coarsest partition in which each of ``sets`` is a union of classes."""
    distinct = list(dict.fromkeys(sets))
    # Each border flips the membership of some sets; between two borders it is constant.
    flips: dict[int, int] = {0: 0}
    get = flips.get
    bit = 1
    for ranges in distinct:
        for first, last in ranges:
            flips[first] = get(first, 0) ^ bit
            flips[last + 1] = get(last + 1, 0) ^ bit
        bit += bit
    borders = sorted(flips)
    pieces: dict[int, list[tuple[int, int]]] = {}
    member = 0
    borders.append(MAX_CODE_POINT + 1)
    for start, following in pairwise(borders):
        member ^= flips[start]
        if start < following:
            part = pieces.get(member)
            if part is None:
                part = pieces[member] = []
            part.append((start, following - 1))
    classes: list[Ranges] = []
    masks = [0] * len(distinct)
    bit = 1
    for member, pairs in pieces.items():
        # In order and with gaps between; surrogates are in no set, so that only one class can have them.
        ranges = normalise(pairs) if member == 0 else tuple(pairs)
        if not ranges:
            continue  # surrogates only
        classes.append(ranges)
        while member:
            low = member & -member
            masks[low.bit_length() - 1] |= bit
            member ^= low
        bit += bit
    return Partition(tuple(classes), dict(zip(distinct, masks, strict=True)))


def refine(partitions: Sequence[tuple[Ranges, ...]]) -> tuple[tuple[Ranges, ...], list[list[int]]]:
    """The common refinement of some partitions, and for each of these the classes that the new classes lie in."""
    first_one = partitions[0]
    if all(other == first_one for other in partitions):
        same = list(range(len(first_one)))
        return first_one, [same] * len(partitions)
    # What begins at a code point: all cover the same ones, so that something begins behind every end.
    begins: dict[int, list[tuple[int, int]]] = {}
    for place, classes in enumerate(partitions):
        for index, ranges in enumerate(classes):
            for first, _ in ranges:
                begun = begins.get(first)
                if begun is None:
                    begins[first] = [(place, index)]
                else:
                    begun.append((place, index))
    borders = sorted(begins)
    borders.append(MAX_CODE_POINT + 1)
    current = [0] * len(partitions)
    pieces: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for first, following in pairwise(borders):
        for place, index in begins[first]:
            current[place] = index
        last = following - 1
        if first < FIRST_SURROGATE <= last:
            last = FIRST_SURROGATE - 1
        key = tuple(current)
        piece = pieces.get(key)
        if piece is None:
            pieces[key] = [(first, last)]
        else:
            piece.append((first, last))
    return tuple(map(tuple, pieces.values())), [list(homes) for homes in zip(*pieces, strict=True)]


def told_apart(masks: Iterable[int], count: int) -> tuple[list[int], list[int]]:
    """``count`` classes by which of ``masks`` they are in: one class of each group, and each class's group."""
    parts = [(1 << count) - 1]
    for mask in sorted(masks):
        parts = [part for whole in parts for part in (whole & mask, whole & ~mask) if part]
    group_of = [0] * count
    for index, part in enumerate(parts):
        for letter in range(count):
            if part >> letter & 1:
                group_of[letter] = index
    return [(part & -part).bit_length() - 1 for part in parts], group_of
