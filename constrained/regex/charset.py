"""Sets of code points as sorted tuples of inclusive ranges.

Data: ``Ranges``, e.g. ``((48, 57), (95, 95))``. Invariants of every value made here: sorted, disjoint,
non-adjacent, within 0..0x10FFFF and free of surrogates, because the bytes of a text are UTF-8 and a lone
surrogate has no encoding: it is dropped wherever a set would hold one. So equal sets are equal tuples.
Cost: linear in the number of ranges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["ANY", "EMPTY", "FIRST_SURROGATE", "MAX_CODE_POINT", "Ranges", "complement", "contains", "intersection",
           "normalise", "of_text", "subtract", "union"]

Ranges = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF

EMPTY: Ranges = ()
ANY: Ranges = ((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT))


def normalise(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """The set of all code points in any of ``pairs`` (inclusive, any order), surrogates left out."""
    ordered = sorted(pairs)
    merged: list[tuple[int, int]] = []
    low, high = -2, -2
    for first, last in ordered:
        if first <= high + 1:
            if last > high:
                high = last
        else:
            if high >= 0:
                _append(merged, low, high)
            low, high = first, last
    if high >= 0:
        _append(merged, low, high)
    return tuple(merged)


def _append(merged: list[tuple[int, int]], low: int, high: int) -> None:
    if high < FIRST_SURROGATE or low > LAST_SURROGATE:
        merged.append((low, high))
        return
    if low < FIRST_SURROGATE:
        merged.append((low, FIRST_SURROGATE - 1))
    if high > LAST_SURROGATE:
        merged.append((LAST_SURROGATE + 1, high))


def of_text(text: str) -> Ranges:
    """The set of the characters of ``text``."""
    return normalise((ord(c), ord(c)) for c in text)


def union(*sets: Ranges) -> Ranges:
    """Every code point in at least one of ``sets``."""
    filled = [s for s in sets if s]
    if len(filled) == 1:
        return filled[0]
    return normalise(pair for s in filled for pair in s)


def complement(ranges: Ranges) -> Ranges:
    """Every code point that is not in ``ranges`` (surrogates are in neither)."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for first, last in ranges:
        if first > start:
            _append(gaps, start, first - 1)
        start = last + 1
    if start <= MAX_CODE_POINT:
        _append(gaps, start, MAX_CODE_POINT)
    return tuple(gaps)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """Every code point in both."""
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def subtract(left: Ranges, right: Ranges) -> Ranges:
    """Every code point of ``left`` that is not in ``right``."""
    return intersection(left, complement(right))


def contains(ranges: Ranges, code: int) -> bool:
    """Whether ``code`` is in the set."""
    at = bisect_right(ranges, (code, MAX_CODE_POINT)) - 1
    return at >= 0 and ranges[at][0] <= code <= ranges[at][1]
