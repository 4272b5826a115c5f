# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Sorting and hashing of short runs of ints: what every interning table here needs.

Shell sort needs no recursion and no memory; runs are a handful of ints, seldom hundreds.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if not cython.compiled:

    def mix(h, x):
        """One round of a 64-bit multiplicative hash. Compiled it is in hashing.pxd, so that its callers inline it."""
        h = ((h ^ (x & 0xFFFFFFFF)) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        return h ^ (h >> 29)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hash_run(words: cython.p_int, at: cython.int, n: cython.int) -> cython.ulonglong:
    """The hash of ``words[at : at + n]``."""
    h: cython.ulonglong = 1469598103
    i: cython.int
    for i in range(at, at + n):
        h = mix(h, words[i])
    return h


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_triples(a: cython.p_int, b: cython.p_int, c: cython.p_int, lo: cython.int, hi: cython.int) -> cython.void:
    """Sort the triples ``lo <= i < hi`` lexicographically in place (shell sort: no recursion, no memory)."""
    gap: cython.int = 1
    i: cython.int
    j: cython.int
    x: cython.int
    y: cython.int
    z: cython.int
    if hi - lo < 2:
        return
    while gap < (hi - lo) // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(lo + gap, hi):
            x = a[i]
            y = b[i]
            z = c[i]
            j = i
            while j >= lo + gap and (
                a[j - gap] > x or (a[j - gap] == x and (b[j - gap] > y or (b[j - gap] == y and c[j - gap] > z)))
            ):
                a[j] = a[j - gap]
                b[j] = b[j - gap]
                c[j] = c[j - gap]
                j -= gap
            a[j] = x
            b[j] = y
            c[j] = z
        gap = gap // 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_slot(slots: cython.p_int, slot_count: cython.int, i: cython.int, value: cython.int) -> cython.void:
    """``value`` becomes an entry of an open table in which it is not yet, looked for first at ``i``; -1 is a free slot,
    and ``slot_count`` a power of two.
    """
    while slots[i] >= 0:
        i = (i + 1) & (slot_count - 1)
    slots[i] = value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_ints(a: cython.p_int, lo: cython.int, hi: cython.int) -> cython.void:
    """Sort ``a[lo:hi]`` in place."""
    gap: cython.int = 1
    i: cython.int
    j: cython.int
    x: cython.int
    if hi - lo < 2:
        return
    while gap < (hi - lo) // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(lo + gap, hi):
            x = a[i]
            j = i
            while j >= lo + gap and a[j - gap] > x:
                a[j] = a[j - gap]
                j -= gap
            a[j] = x
        gap = gap // 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bit(k: cython.int) -> cython.int:
    """``1 << k`` as a signed 32-bit word."""
    return (1 << k) if k < 31 else -2147483648
