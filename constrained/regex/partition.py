"""The code points cut into the fewest classes that a family of sets can tell apart.

``Partition.classes`` are disjoint, together all code points (surrogates aside), in no particular order; every
set it was made from is a union of them, given as a bit mask. Cost: linear in the ranges (and their sorting).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from constrained.regex.charset import ANY, Ranges, normalise

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
    for index, ranges in enumerate(distinct):
        bit = 1 << index
        for first, last in ranges:
            flips[first] = flips.get(first, 0) ^ bit
            flips[last + 1] = flips.get(last + 1, 0) ^ bit
    borders = sorted(flips)
    pieces: dict[int, list[tuple[int, int]]] = {}
    member = 0
    for at, start in enumerate(borders):
        member ^= flips[start]
        end = borders[at + 1] - 1 if at + 1 < len(borders) else ANY[-1][1]
        if start <= end:
            pieces.setdefault(member, []).append((start, end))
    classes: list[Ranges] = []
    masks = dict.fromkeys(distinct, 0)
    for member, pairs in pieces.items():
        ranges = normalise(pairs)
        if not ranges:
            continue  # surrogates only
        bit = 1 << len(classes)
        classes.append(ranges)
        while member:
            low = member & -member
            masks[distinct[low.bit_length() - 1]] |= bit
            member ^= low
    return Partition(tuple(classes), masks)


def refine(left: tuple[Ranges, ...], right: tuple[Ranges, ...]) -> tuple[tuple[Ranges, ...], list[int], list[int]]:
    """The common refinement of two partitions, and for each of its classes the class it lies in, left and right."""
    if left == right:
        same = list(range(len(left)))
        return left, same, same
    joint = partition_of([*left, *right])
    homes = []
    for side in (left, right):
        home = [0] * len(joint.classes)
        for index, ranges in enumerate(side):
            mask = joint.masks[ranges]
            while mask:
                low = mask & -mask
                home[low.bit_length() - 1] = index
                mask ^= low
        homes.append(home)
    return joint.classes, homes[0], homes[1]


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
