"""The code points cut into the fewest classes that a family of sets can tell apart.

``Partition.classes`` are disjoint, together all code points (surrogates aside), in no particular order; every
set it was made from is a union of them, given as a bit mask. Cost: linear in the ranges (and their sorting).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from constrained.regex.charset import MAX_CODE_POINT, Ranges, normalise

__all__ = ["Partition", "partition_of", "told_apart"]


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
