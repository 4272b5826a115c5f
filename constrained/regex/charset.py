# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Sets of code points as sorted tuples of inclusive ranges.

Data: ``Ranges``, e.g. ``((48, 57), (95, 95))``. Invariants of every value made here: sorted, disjoint,
non-adjacent, within 0..0x10FFFF and free of surrogates, because the bytes of a text are UTF-8 and a lone
surrogate has no encoding: it is dropped wherever a set would hold one. So equal sets are equal tuples.
Cost: linear in the number of ranges.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

__all__ = ["ANY", "EMPTY", "FIRST_SURROGATE", "LAST_SURROGATE", "MAX_CODE_POINT", "Ranges", "complement", "contains",
           "intersection", "normalise", "of_text", "subtract", "union", "union_of"]

Ranges = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF
_FIRST, _LAST = cython.declare(cython.int, FIRST_SURROGATE), cython.declare(cython.int, LAST_SURROGATE)
_MOST = cython.declare(cython.int, MAX_CODE_POINT)

EMPTY = ()
ANY = ((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT))


@cython.ccall
def normalise(pairs) -> tuple:
    """The set of all code points in any of ``pairs`` (inclusive, any order), surrogates left out."""
    ordered: list = sorted(pairs)
    merged: list = []
    pair: tuple
    i: cython.Py_ssize_t
    first: cython.int
    last: cython.int
    low: cython.int = -2
    high: cython.int = -2
    for i in range(len(ordered)):
        pair = ordered[i]
        first, last = pair[0], pair[1]
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


@cython.cfunc
@cython.exceptval(-1, check=False)
def _append(merged: list, low: cython.int, high: cython.int) -> cython.int:
    if high < _FIRST or low > _LAST:
        merged.append((low, high))
        return 0
    if low < _FIRST:
        merged.append((low, _FIRST - 1))
    if high > _LAST:
        merged.append((_LAST + 1, high))
    return 0


@cython.ccall
def of_text(text: str) -> tuple:
    """The set of the characters of ``text``."""
    return normalise([(ord(char), ord(char)) for char in text])


def union(*sets) -> tuple:
    """Every code point in at least one of ``sets``."""
    return union_of(list(sets))


@cython.ccall
def union_of(sets: list) -> tuple:
    """Every code point in at least one of ``sets``."""
    filled: list = [ranges for ranges in sets if ranges]
    if len(filled) == 1:
        return filled[0]
    pairs: list = []
    for ranges in filled:
        pairs.extend(ranges)
    return normalise(pairs)


@cython.ccall
def complement(ranges: tuple) -> tuple:
    """Every code point that is not in ``ranges`` (surrogates are in neither)."""
    gaps: list = []
    pair: tuple
    first: cython.int
    start: cython.int = 0
    for pair in ranges:
        first = pair[0]
        if first > start:
            _append(gaps, start, first - 1)
        start = cython.cast(cython.int, pair[1]) + 1
    if start <= _MOST:
        _append(gaps, start, _MOST)
    return tuple(gaps)


@cython.ccall
def intersection(left: tuple, right: tuple) -> tuple:
    """Every code point in both."""
    found: list = []
    one: tuple
    other: tuple
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    low: cython.int
    high: cython.int
    begin: cython.int
    end: cython.int
    while i < len(left) and j < len(right):
        one, other = left[i], right[j]
        low, high = one[0], one[1]
        begin, end = other[0], other[1]
        if begin > low:
            low = begin
        if high < end:
            end = high
            i += 1
        else:
            j += 1
        if low <= end:
            found.append((low, end))
    return tuple(found)


def subtract(left: tuple, right: tuple) -> tuple:
    """Every code point of ``left`` that is not in ``right``."""
    return intersection(left, complement(right))


def contains(ranges: tuple, code: cython.int) -> bool:
    """Whether ``code`` is in the set."""
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = len(ranges)
    middle: cython.Py_ssize_t
    pair: tuple
    while low < high:
        middle = (low + high) // 2
        pair = ranges[middle]
        if cython.cast(cython.int, pair[1]) < code:
            low = middle + 1
        else:
            high = middle
    if low == len(ranges):
        return False
    pair = ranges[low]
    return cython.cast(cython.int, pair[0]) <= code
