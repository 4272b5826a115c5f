"""Which bytes a grammar cannot tell apart.

A partition of the 256 bytes, refined by every set of bytes that leads from one position to one other. Tables over
classes instead of bytes are three to ten times smaller. Sets are 256-bit ints; bytes that stand alone somewhere are
classes of their own and are taken out first, so that few sets are left to refine by. Partitions are cached by
their sets: the loops of different grammars are often the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["byte_classes", "class_sets", "partition_bytes"]

ALL_BYTES = (1 << 256) - 1


def byte_classes(byte_edges: Iterable[list[tuple[int, int, int]]]) -> tuple[array[int], array[int]]:
    """The coarsest partition of the bytes that no edge set can tell apart: (class of each byte, a byte of each class).

    Class numbers go by first byte, so equal partitions are equal arrays.
    """
    table, firsts = _partition(*_sets(byte_edges))
    return array("i", list(table)), array("i", list(firsts))


def partition_bytes(byte_edges: Iterable[list[tuple[int, int, int]]]) -> bytes:
    """The same as 256 class numbers."""
    return _partition(*_sets(byte_edges))[0]


def class_sets(byte_edges: Iterable[list[tuple[int, int, int]]]) -> list[int]:
    """The same as 256-bit sets, in the order of their first bytes."""
    return list(_classes(*_sets(byte_edges)))


def _sets(byte_edges: Iterable[list[tuple[int, int, int]]]) -> tuple[int, frozenset[int]]:
    """The bytes that stand alone as one set, and the larger sets without them."""
    ranges: set[tuple[int, int]] = set()
    masks: set[int] = set()
    for edges in byte_edges:
        if len(edges) == 1:
            ranges.add(edges[0][:2])
        elif edges:
            by_target: dict[int, int] = {}
            for lo, hi, to in edges:
                by_target[to] = by_target.get(to, 0) | ((1 << (hi + 1)) - (1 << lo))
            masks.update(by_target.values())
    alone = 0
    for lo, hi in ranges:
        if lo == hi:
            alone |= 1 << lo
        else:
            masks.add((1 << (hi + 1)) - (1 << lo))
    for mask in masks:
        if not mask & (mask - 1):
            alone |= mask
    others = ALL_BYTES ^ alone
    return alone, frozenset(mask & others for mask in masks)


@lru_cache(maxsize=4096)
def _classes(alone: int, masks: frozenset[int]) -> tuple[int, ...]:
    classes = [ALL_BYTES ^ alone] if alone != ALL_BYTES else []
    for mask in masks:
        refined: list[int] = []
        for part in classes:
            inside = part & mask
            if inside and inside != part:
                refined.append(inside)
                refined.append(part ^ inside)
            else:
                refined.append(part)
        classes = refined
    while alone:
        low = alone & -alone
        classes.append(low)
        alone ^= low
    classes.sort(key=lambda part: part & -part)
    return tuple(classes)


@lru_cache(maxsize=4096)
def _partition(alone: int, masks: frozenset[int]) -> tuple[bytes, bytes]:
    classes = _classes(alone, masks)
    table = bytearray(256)
    firsts = bytearray(len(classes))
    for number, part in enumerate(classes):
        firsts[number] = (part & -part).bit_length() - 1
        while part:  # run by run
            low = part & -part
            begin = low.bit_length() - 1
            above = part + low
            end = (above & ~part & -(above & ~part)).bit_length() - 1
            table[begin:end] = bytes([number]) * (end - begin)
            part &= ~((1 << end) - low)
    return bytes(table), bytes(firsts)
