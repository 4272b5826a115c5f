# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Token bitmasks on logits: minus infinity wherever a bit is 0.

A bitmask row is an array of 32-bit words, token ``j`` is bit ``j % 32`` of word ``j // 32``, 1 = allowed. A row of
logits is seen as its raw words, 32-bit (float32) or 16-bit (float16, bfloat16), so minus infinity is a bit pattern
and no arithmetic happens. A word of the mask decides for 32 logits at once:

- all ones: nothing to do, the logits are not even read (most words of a permissive mask; 8 are skipped at a time);
- all zeros: 32 stores (most words of a restrictive mask);
- few zeros (at most 4, bit 31 apart): one store each;
- else: a select over the 32 logits, written so that the C compiler makes vector code of it: the bit of each lane
  comes from a small table, since baseline x86-64 cannot shift lanes by different counts. The loops have 32 rounds,
  also for 16-bit items: shorter ones are unrolled by gcc before it looks for vectors.

Where words that are not all ones are rare, the pass jumps from one to the next; where they are common it lists them
first, without a branch: where they lie cannot be predicted, and a wrong guess of the processor costs as much as the
work on a word. Logits are visited in ascending order, each once.

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


PLACE = cython.declare(cython.int[32])
"""Place of a single bit, found by the top 5 bits of its product with a de Bruijn sequence (Leiserson, Prokop and
Randall, 1998)."""
for _place in range(32):
    PLACE[(((1 << _place) * 0x077CB531) >> 27) & 31] = _place


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _lowest(bits: cython.int) -> cython.int:
    """The place of the lowest 1 of a number from 1 to 2^31 - 1."""
    lowest: cython.uint = bits & -bits
    return PLACE[((lowest * 0x077CB531) >> 27) & 31]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _next_word(mask: cython.p_int, index: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The first word from ``index`` on that is not all ones, or ``end``."""
    while index + 8 <= end and (mask[index] & mask[index + 1] & mask[index + 2] & mask[index + 3]
                                & mask[index + 4] & mask[index + 5] & mask[index + 6] & mask[index + 7]) == -1:
        index += 8
    while index < end and mask[index] == -1:
        index += 1
    return index


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _open_words(mask: cython.p_int, start: cython.int, end: cython.int, found: cython.p_int) -> cython.int:
    """Writes which of the words ``start <= i < end`` are not all ones, in order; returns how many."""
    index: cython.int
    n: cython.int = 0
    for index in range(start, end):
        found[n] = index
        n += mask[index] != -1
    return n


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_word_32(row: cython.p_int, base: cython.Py_ssize_t, word: cython.int, bits: cython.p_int,
                  minus_infinity: cython.int) -> cython.void:
    """The 32 logits from ``base`` on, for a word that is not all ones."""
    bit: cython.int
    zeros: cython.int
    more: cython.int
    if word == 0:
        for bit in range(32):
            row[base + bit] = minus_infinity
        return
    zeros = ~word & 0x7FFFFFFF  # without bit 31: uncompiled, a negative number has no last bit
    more = zeros & (zeros - 1)  # the zeros after the first four: a choice that is easier to predict than a count
    more &= more - 1
    more &= more - 1
    more &= more - 1
    if more == 0:
        if word >= 0:
            row[base + 31] = minus_infinity
        while zeros != 0:
            row[base + _lowest(zeros)] = minus_infinity
            zeros &= zeros - 1
        return
    for bit in range(32):
        row[base + bit] = row[base + bit] if word & bits[bit] else minus_infinity


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_row_32(row: cython.p_int, mask: cython.p_int, limit: cython.int, width: cython.int,
                 minus_infinity: cython.int) -> cython.void:
    bits = cython.declare(cython.int[32])
    found = cython.declare(cython.int[1024])
    count: cython.int = 0
    i: cython.int
    bit: cython.int
    start: cython.int = 0
    end: cython.int
    many: cython.bint = False
    index: cython.Py_ssize_t
    full: cython.int = limit >> 5
    for bit in range(32):
        bits[bit] = 1 << bit
    while start < full:
        end = min(start + 1024, full)
        if many:
            count = _open_words(mask, start, end, found)
            for i in range(count):
                index = found[i]
                _mask_word_32(row, index << 5, mask[index], bits, minus_infinity)
        else:
            count = 0
            index = _next_word(mask, start, end)
            while index < end:
                _mask_word_32(row, index << 5, mask[index], bits, minus_infinity)
                count += 1
                index = _next_word(mask, index + 1, end)
        many = 16 * count > end - start  # the next words are likely to be as these
        start = end
    index = full
    for index in range(index << 5, limit):
        if not (mask[full] >> (index & 31)) & 1:
            row[index] = minus_infinity
    for index in range(limit, width):
        row[index] = minus_infinity


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_word_16(row: cython.p_short, base: cython.Py_ssize_t, word: cython.int, bits: cython.p_short,
                  minus_infinity: cython.short) -> cython.void:
    """The 32 logits from ``base`` on, for a word that is not all ones."""
    halves = cython.declare(cython.short[32])
    bit: cython.int
    zeros: cython.int
    more: cython.int
    if word == 0:
        for bit in range(32):
            row[base + bit] = minus_infinity
        return
    zeros = ~word & 0x7FFFFFFF  # without bit 31: uncompiled, a negative number has no last bit
    more = zeros & (zeros - 1)  # the zeros after the first four: a choice that is easier to predict than a count
    more &= more - 1
    more &= more - 1
    more &= more - 1
    if more == 0:
        if word >= 0:
            row[base + 31] = minus_infinity
        while zeros != 0:
            row[base + _lowest(zeros)] = minus_infinity
            zeros &= zeros - 1
        return
    for bit in range(32):
        halves[bit] = cython.cast(cython.short, (word if bit < 16 else word >> 16) & 0xFFFF)
    for bit in range(32):
        row[base + bit] = row[base + bit] if halves[bit] & bits[bit] else minus_infinity


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask_row_16(row: cython.p_short, mask: cython.p_int, limit: cython.int, width: cython.int,
                 minus_infinity: cython.short) -> cython.void:
    bits = cython.declare(cython.short[32])
    found = cython.declare(cython.int[1024])
    count: cython.int = 0
    i: cython.int
    bit: cython.int
    start: cython.int = 0
    end: cython.int
    many: cython.bint = False
    index: cython.Py_ssize_t
    full: cython.int = limit >> 5
    for bit in range(32):
        bits[bit] = cython.cast(cython.short, 1 << (bit & 15))
    while start < full:
        end = min(start + 1024, full)
        if many:
            count = _open_words(mask, start, end, found)
            for i in range(count):
                index = found[i]
                _mask_word_16(row, index << 5, mask[index], bits, minus_infinity)
        else:
            count = 0
            index = _next_word(mask, start, end)
            while index < end:
                _mask_word_16(row, index << 5, mask[index], bits, minus_infinity)
                count += 1
                index = _next_word(mask, index + 1, end)
        many = 16 * count > end - start  # the next words are likely to be as these
        start = end
    index = full
    for index in range(index << 5, limit):
        if not (mask[full] >> (index & 31)) & 1:
            row[index] = minus_infinity
    for index in range(limit, width):
        row[index] = minus_infinity


def mask_rows(logits: cython.size_t, logits_stride: cython.Py_ssize_t, mask: cython.size_t,
              mask_stride: cython.Py_ssize_t, picked: cython.size_t, rows: cython.Py_ssize_t,
              limit: cython.int, width: cython.int, minus_infinity: cython.int,
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
