"""Which bytes a grammar cannot tell apart.

A partition of the 256 bytes, refined by every set of bytes that leads from one position to one other. Tables over
classes instead of bytes are three to ten times smaller. Sets are 256-bit ints; cost is (sets x classes) big-int operations.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

__all__ = ["byte_classes"]

ALL_BYTES = (1 << 256) - 1


def byte_classes(byte_edges: Iterable[list[tuple[int, int, int]]]) -> tuple[array[int], array[int]]:
    """The coarsest partition of the bytes that no edge set can tell apart: (class of each byte, a byte of each class).

    Class numbers go by first byte, so equal partitions are equal arrays.
    """
    masks: set[int] = set()
    for edges in byte_edges:
        if len(edges) == 1:
            lo, hi, _ = edges[0]
            masks.add((1 << (hi + 1)) - (1 << lo))
        elif edges:
            by_target: dict[int, int] = {}
            for lo, hi, to in edges:
                by_target[to] = by_target.get(to, 0) | ((1 << (hi + 1)) - (1 << lo))
            masks.update(by_target.values())
    classes = [ALL_BYTES]
    for mask in sorted(masks):
        refined: list[int] = []
        for part in classes:
            inside = part & mask
            if inside and inside != part:
                refined.append(inside)
                refined.append(part ^ inside)
            else:
                refined.append(part)
        classes = refined
    classes.sort(key=lambda part: part & -part)
    byte_class = array("i", bytes(4 * 256))
    class_byte = array("i", bytes(4 * len(classes)))
    for number, part in enumerate(classes):
        class_byte[number] = (part & -part).bit_length() - 1
        while part:
            low = part & -part
            byte_class[low.bit_length() - 1] = number
            part ^= low
    return byte_class, class_byte
