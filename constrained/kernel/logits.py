# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token bitmasks on logits: minus infinity wherever a bit is 0.

A bitmask row is an array of 32-bit words, token ``j`` is bit ``j % 32`` of word ``j // 32``, 1 = allowed. A row of
logits is seen as its raw words, 32-bit (float32) or 16-bit (float16, bfloat16), so minus infinity is a bit pattern
and no arithmetic happens. A word of the mask decides for 32 logits at once:

- all ones: nothing to do, the logits are not even read (most words of a permissive mask);
- all zeros: 32 stores (most words of a restrictive mask);
- else: a select over the 32 logits, written so that the C compiler makes vector code of it: the bit of each lane
  comes from a small table, since baseline x86-64 cannot shift lanes by different counts.

Logits from ``limit`` on have no bit and become minus infinity.

``mask_rows`` takes raw addresses, so that arrays of any library pass at no cost; the caller has checked shapes,
layout and lifetime (``constrained.masks`` does). Nothing is allocated and nothing can fail. Words are signed
(all ones is -1), since literals beyond a C int are Python objects to Cython. Uncompiled, the same code runs over
ctypes arrays.
"""

from __future__ import annotations

import ctypes

try:
    import cython
except ImportError:  # no Cython at run time
    from constrained.kernel import cython_shim as cython


def is_compiled() -> bool:
    """True when this module is the compiled one."""
    return cython.compiled


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_row_32(row: cython.p_int, mask: cython.p_int, limit: cython.Py_ssize_t, width: cython.Py_ssize_t,
                 minus_infinity: cython.int) -> cython.void:
    bits = cython.declare(cython.int[32])
    word: cython.int
    clear: cython.int
    base: cython.Py_ssize_t
    index: cython.Py_ssize_t
    bit: cython.int
    full: cython.Py_ssize_t = limit >> 5
    for bit in range(32):
        bits[bit] = 1 << bit
    for index in range(full):
        word = mask[index]
        if word == -1:
            continue
        base = index << 5
        if word == 0:
            for bit in range(32):
                row[base + bit] = minus_infinity
            continue
        for bit in range(32):
            clear = -((word & bits[bit]) == 0)  # all ones where the bit is 0
            row[base + bit] = (row[base + bit] & ~clear) | (minus_infinity & clear)
    base = full << 5
    for index in range(base, limit):
        if not (mask[full] >> (index - base)) & 1:
            row[index] = minus_infinity
    for index in range(limit, width):
        row[index] = minus_infinity


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_row_16(row: cython.p_short, mask: cython.p_int, limit: cython.Py_ssize_t, width: cython.Py_ssize_t,
                 minus_infinity: cython.short) -> cython.void:
    low = cython.declare(cython.short[16])
    word: cython.int
    half: cython.short
    clear: cython.short
    base: cython.Py_ssize_t
    index: cython.Py_ssize_t
    part: cython.int
    bit: cython.int
    full: cython.Py_ssize_t = limit >> 5
    for bit in range(16):
        low[bit] = cython.cast(cython.short, 1 << bit)
    for index in range(full):
        word = mask[index]
        if word == -1:
            continue
        base = index << 5
        if word == 0:
            for bit in range(32):
                row[base + bit] = minus_infinity
            continue
        for part in range(2):
            half = cython.cast(cython.short, (word >> (16 * part)) & 0xFFFF)
            for bit in range(16):
                clear = cython.cast(cython.short, -((half & low[bit]) == 0))
                row[base + bit] = (row[base + bit] & ~clear) | (minus_infinity & clear)
            base += 16
    base = full << 5
    for index in range(base, limit):
        if not (mask[full] >> (index - base)) & 1:
            row[index] = minus_infinity
    for index in range(limit, width):
        row[index] = minus_infinity


def mask_rows(logits: cython.size_t, logits_stride: cython.Py_ssize_t, mask: cython.size_t,
              mask_stride: cython.Py_ssize_t, rows: cython.Py_ssize_t, limit: cython.Py_ssize_t,
              width: cython.Py_ssize_t, minus_infinity: cython.int, item_bytes: cython.int) -> None:
    """Masks ``rows`` rows of ``width`` logits in place.

    ``logits`` and ``mask`` are addresses, the strides are bytes from one row to the next, ``limit`` is how many
    logits the mask decides (at most its bits and ``width``), ``minus_infinity`` is the bit pattern, read as a
    signed number, of an item of ``item_bytes`` (2 or 4) bytes.
    """
    r: cython.Py_ssize_t
    if cython.compiled:
        with cython.nogil:
            for r in range(rows):
                if item_bytes == 4:
                    _mask_row_32(cython.cast(cython.p_int, logits + r * logits_stride),
                                 cython.cast(cython.p_int, mask + r * mask_stride), limit, width, minus_infinity)
                else:
                    _mask_row_16(cython.cast(cython.p_short, logits + r * logits_stride),
                                 cython.cast(cython.p_int, mask + r * mask_stride), limit, width,
                                 cython.cast(cython.short, minus_infinity))
    else:
        words = (limit + 31) // 32
        for r in range(rows):
            bits = (ctypes.c_int32 * words).from_address(mask + r * mask_stride)
            if item_bytes == 4:
                _mask_row_32((ctypes.c_int32 * width).from_address(logits + r * logits_stride), bits, limit, width,
                             minus_infinity)
            else:
                _mask_row_16((ctypes.c_int16 * width).from_address(logits + r * logits_stride), bits, limit, width,
                             minus_infinity)
