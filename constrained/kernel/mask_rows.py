# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Whole rows of token bitmasks: how many bits are set, which, and a hash.

A row is ``words`` 32-bit words, a token a bit. The loops are C, in ``mask_rows.pxd``, for counting asks for an
instruction that not every processor has. Cost, for 128,256 tokens: 0.5 us to count, 0.6 to hash, 1 us and 2 ns a token
to list.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_row(row: cython.p_uint, words: cython.int) -> cython.int:
    """The set bits of a row."""
    if cython.compiled:
        return ms_count(row, words)  # noqa: F821 - the .pxd
    else:
        return sum([row[i].bit_count() for i in range(words)])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def list_row(row: cython.p_uint, words: cython.int, out: cython.p_int, at: cython.int) -> cython.int:
    """Write the numbers of the set bits, in order, to ``out[at:]``; returns how many there are."""
    if cython.compiled:
        return ms_list(row, words, out + at)  # noqa: F821 - the .pxd
    else:
        found = [32 * i + k for i in range(words) if row[i] for k in range(32) if (row[i] >> k) & 1]
        out[at : at + len(found)] = found
        return len(found)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hash_row(row: cython.p_uint, words: cython.int, seed: cython.int) -> cython.ulonglong:
    """A hash of a row."""
    if cython.compiled:
        return ms_hash(row, words, seed)  # noqa: F821 - the .pxd
    else:
        return hash((seed, *row[:words])) & 0xFFFFFFFFFFFFFFFF
