# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token bitmasks on logits: minus infinity wherever a bit is 0.

A bitmask row is an array of 32-bit words, token ``j`` is bit ``j % 32`` of word ``j // 32``, 1 = allowed. A row of
logits is seen as its raw words, 32-bit (float32) or 16-bit (float16, bfloat16), so minus infinity is a bit pattern
and no arithmetic happens. A word of the mask decides for 32 logits at once:

- all ones: nothing to do, the logits are not even read (most words of a permissive mask; 16 words are tried at a
  time);
- all zeros: 32 stores (most words of a restrictive mask);
- else: a select over the 32 logits, written so that the C compiler makes vector code of it: the bit of each lane
  comes from a small table, since baseline x86-64 cannot shift lanes by different counts. Loops over 32 lanes, also
  for 16-bit items: shorter ones are unrolled by gcc before it looks for vectors.

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
    base: cython.Py_ssize_t
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    bit: cython.int
    full: cython.Py_ssize_t = limit >> 5
    for bit in range(32):
        bits[bit] = 1 << bit
    for start in range(0, full, 16):
        end = min(start + 16, full)
        word = -1
        for index in range(start, end):
            word &= mask[index]
        if word == -1:
            continue
        for index in range(start, end):
            word = mask[index]
            if word == -1:
                continue
            base = index << 5
            if word == 0:
                for bit in range(32):
                    row[base + bit] = minus_infinity
                continue
            for bit in range(32):
                row[base + bit] = row[base + bit] if word & bits[bit] else minus_infinity
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
    bits = cython.declare(cython.short[32])
    halves = cython.declare(cython.short[32])
    word: cython.int
    low_half: cython.short
    high_half: cython.short
    base: cython.Py_ssize_t
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    bit: cython.int
    full: cython.Py_ssize_t = limit >> 5
    for bit in range(32):
        bits[bit] = cython.cast(cython.short, 1 << (bit & 15))
    for start in range(0, full, 16):
        end = min(start + 16, full)
        word = -1
        for index in range(start, end):
            word &= mask[index]
        if word == -1:
            continue
        for index in range(start, end):
            word = mask[index]
            if word == -1:
                continue
            base = index << 5
            if word == 0:
                for bit in range(32):
                    row[base + bit] = minus_infinity
                continue
            low_half = cython.cast(cython.short, word & 0xFFFF)
            high_half = cython.cast(cython.short, (word >> 16) & 0xFFFF)
            for bit in range(32):
                halves[bit] = low_half if bit < 16 else high_half
            for bit in range(32):
                row[base + bit] = row[base + bit] if halves[bit] & bits[bit] else minus_infinity
    base = full << 5
    for index in range(base, limit):
        if not (mask[full] >> (index - base)) & 1:
            row[index] = minus_infinity
    for index in range(limit, width):
        row[index] = minus_infinity


def mask_rows(logits: cython.size_t, logits_stride: cython.Py_ssize_t, mask: cython.size_t,
              mask_stride: cython.Py_ssize_t, picked: cython.size_t, rows: cython.Py_ssize_t,
              limit: cython.Py_ssize_t, width: cython.Py_ssize_t, minus_infinity: cython.int,
              item_bytes: cython.int) -> None:
    """Masks ``rows`` rows of ``width`` logits in place.

    ``logits`` and ``mask`` are addresses, the strides are bytes from one row to the next. ``picked`` is the address
    of ``rows`` int64 row numbers, or 0 for the first ``rows`` rows. ``limit`` is how many logits the mask decides
    (at most its bits and ``width``); ``minus_infinity`` is the bit pattern, read as a signed number, of an item of
    ``item_bytes`` (2 or 4) bytes.
    """
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    if cython.compiled:
        with cython.nogil:
            for i in range(rows):
                row = i
                if picked != 0:
                    row = cython.cast(cython.Py_ssize_t, cython.cast(cython.p_longlong, picked)[i])
                if item_bytes == 4:
                    _mask_row_32(cython.cast(cython.p_int, logits + row * logits_stride),
                                 cython.cast(cython.p_int, mask + row * mask_stride), limit, width, minus_infinity)
                else:
                    _mask_row_16(cython.cast(cython.p_short, logits + row * logits_stride),
                                 cython.cast(cython.p_int, mask + row * mask_stride), limit, width,
                                 cython.cast(cython.short, minus_infinity))
    else:
        words = (limit + 31) // 32
        numbers = (ctypes.c_int64 * rows).from_address(picked) if picked else range(rows)
        for row in numbers:
            bits = (ctypes.c_int32 * words).from_address(mask + row * mask_stride)
            if item_bytes == 4:
                _mask_row_32((ctypes.c_int32 * width).from_address(logits + row * logits_stride), bits, limit, width,
                             minus_infinity)
            else:
                _mask_row_16((ctypes.c_int16 * width).from_address(logits + row * logits_stride), bits, limit, width,
                             minus_infinity)
