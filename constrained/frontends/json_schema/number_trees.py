# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
r"""The JSON texts of the numbers of an interval, as a pattern over digits.

Whole numbers: those as long as a bound are compared with it digit by digit, all of a length between are free.
Fractions: a tail of digits is compared in the same way, and what a text leaves out is 0. With an exponent (a digit,
a point, a fraction: ``1.5e-07``): exponents between those of the bounds are free, and at a bound's own exponent the
mantissas are compared. Trees are built from the last digit to the first, so nothing recurses.

Data: a tail, a set of digit strings, is (whether the empty one is in it, the tree of the others or None).
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.digits import DIGIT, NOT_ZERO, ZERO
from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.digits import (
        digits_of,
        exponents,
        one_digit,
        predecessor,
        run,
        successor,
        whole_numbers,
    )
    from cython.cimports.constrained.regex.builder import alternation, concat
    from cython.cimports.constrained.regex.syntax import CharSet, Node, Repeat, Text
else:
    from constrained.frontends.json_schema.digits import (
        digits_of,
        exponents,
        one_digit,
        predecessor,
        run,
        successor,
        whole_numbers,
    )
    from constrained.regex.builder import alternation, concat
    from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["number_tree", "scientific_numbers", "unbounded_tree"]

_POINT = Text(".")
_MINUS = Text("-")
_E = CharSet(((0x45, 0x45), (0x65, 0x65)))
_NULL = Decimal(0)
_ZERO = ("0", "")
#: The exponents of whole numbers.
_LARGE = EXPONENTS[1:]
#: Where there is no bound.
_NO_EXPONENT = cython.declare(cython.Py_ssize_t, -1_000_000_000)
NEVER = (False, None)


def number_tree(shape, cap, integer_as_float: cython.bint, ranges: tuple = EXPONENTS):
    """The texts of the interval of ``shape`` (``integer`` heeded, nothing else); None where there is none.

    ``cap``: digits in one run, where the bounds themselves do not have more; None: no bound. ``ranges``: exponents of
    numbers that are not ``integer``, below 1000.
    """
    lower, upper = shape.lower, shape.upper
    integer: cython.bint = shape.integer
    lower_open: cython.bint = shape.lower_open
    upper_open: cython.bint = shape.upper_open
    low_open: cython.bint = False
    low_digits: tuple = _ZERO if lower is None else digits_of(lower)
    high_digits: tuple = _ZERO if upper is None else digits_of(upper)
    options: list
    negative: list
    if cap is not None:
        for text in (*low_digits, *high_digits):
            if len(text) > cap:
                cap = len(text)
    options = []
    if upper is None or upper > 0 or (upper == 0 and not upper_open):
        if lower is None or lower < 0:
            options = _magnitudes(_NULL, _ZERO, False, upper, high_digits, upper_open, integer, cap, integer_as_float,
                                  ranges)
        else:
            options = _magnitudes(lower, low_digits, lower_open, upper, high_digits, upper_open, integer, cap,
                                  integer_as_float, ranges)
    if lower is None or lower < 0 or (lower == 0 and not lower_open):
        low, below = _NULL, _ZERO
        if upper is not None and upper <= 0:
            low, below, low_open = upper.copy_abs(), high_digits, upper_open
        high = None if lower is None else lower.copy_abs()
        negative = _magnitudes(low, below, low_open, high, low_digits, lower_open, integer, cap, integer_as_float,
                               ranges)
        if lower is None and upper is None:
            options = [concat([Repeat(_MINUS, 0, 1), alternation(negative)])]
        elif negative:
            options.append(concat([_MINUS, alternation(negative)]))
    return alternation(options) if options else None


@cython.cfunc
def _magnitudes(low, low_digits: tuple, low_open: cython.bint, high, high_digits: tuple, high_open: cython.bint,
                integer: cython.bint, cap, integer_as_float: cython.bint, ranges: tuple) -> list:
    """Texts without sign of the numbers from ``low`` (0 or more) to ``high``, with the digits of both."""
    low_whole: str = low_digits[0]
    low_tail: str = low_digits[1]
    high_tail: str = ""
    high_whole = None
    whole: Node
    zeros: Node
    if high is not None:
        if low > high or (low == high and (low_open or high_open)):
            return []
        high_whole, high_tail = high_digits
    options: list = []
    if integer:
        first = successor(low_whole) if low_tail or low_open else low_whole
        last = high_whole
        if high_whole is not None and high_open and not high_tail:
            last = predecessor(high_whole)
        if last is None and high_whole is not None:
            return []
        whole = whole_numbers(first, last, cap)
        zeros = _optional((True, Repeat(ZERO, 1, cap))) if integer_as_float else None
        if whole is not None:
            options.append(whole if zeros is None else concat([whole, zeros]))
        if integer_as_float:
            options.extend(scientific_numbers(low, low_open, high, high_open, MANTISSA_DIGITS, _LARGE))
        return options
    if high_whole == low_whole:
        tail = _between(low_tail, low_open, high_tail, high_open, cap)
        _add_numbers(options, Text(low_whole), tail)
    else:
        first = low_whole
        if low_tail or low_open:
            _add_numbers(options, Text(low_whole), _at_least(low_tail, low_open, cap))
            first = successor(low_whole)
        last = None if high_whole is None else predecessor(high_whole)
        if high_whole is None or last is not None:
            whole = whole_numbers(first, last, cap)
            if whole is not None:
                _add_numbers(options, whole, _free(cap))
        if high_whole is not None:
            _add_numbers(options, Text(high_whole), _at_most(high_tail, high_open, cap))
    options.extend(scientific_numbers(low, low_open, high, high_open, cap, ranges))
    return options


@cython.cfunc
@cython.exceptval(-1, check=False)
def _add_numbers(options: list, whole: Node, tail: tuple) -> cython.int:
    """One option more: those numbers with a fraction of ``tail``."""
    fraction: Node = _optional(tail)
    if fraction is not None:
        options.append(concat([whole, fraction]))
    return 0


@cython.cfunc
def _optional(tail: tuple) -> Node:
    """A fraction with its point, or none where the tail may be empty."""
    empty, rest = tail
    if rest is None:
        return concat([]) if empty else None
    fraction: Node = concat([_POINT, rest])
    return Repeat(fraction, 0, 1) if empty else fraction


# -- tails ---------------------------------------------------------------------------------------------------------


@cython.cfunc
def _room(cap, used: cython.Py_ssize_t):
    return None if cap is None else max(cap - used, 0)


@cython.cfunc
def _free(room) -> tuple:
    return (True, None) if room == 0 else (True, Repeat(DIGIT, 1, room))


@cython.cfunc
def _zeros(room) -> tuple:
    return (True, None) if room == 0 else (True, Repeat(ZERO, 1, room))


@cython.cfunc
def _not_zero(room) -> tuple:
    """Digits not all 0."""
    if room == 0:
        return NEVER
    less = None if room is None else room - 1
    return False, concat([*run(ZERO, 0, less), NOT_ZERO, *run(DIGIT, 0, less)])


@cython.cfunc
def _after(first: Node, tail: tuple) -> list:
    """The strings of a first digit and a tail."""
    empty, rest = tail
    if rest is None:
        return [first] if empty else []
    return [concat([first, Repeat(rest, 0, 1) if empty else rest])]


@cython.cfunc
def _either(empty: cython.bint, options: list) -> tuple:
    return empty, alternation(options) if options else None


@cython.cfunc
def _at_least(bound: str, is_open: cython.bint, cap) -> tuple:
    """Tails whose value is at least that of ``bound`` (greater: ``is_open``)."""
    room = _room(cap, len(bound))
    tail: tuple = _not_zero(room) if is_open else _free(room)
    index: cython.Py_ssize_t
    digit: cython.int
    options: list
    for index in range(len(bound) - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = NEVER
            continue
        digit = ord(bound[index]) - 0x30
        options = _after(one_digit(digit, digit), tail)
        if digit < 9:
            options.extend(_after(one_digit(digit + 1, 9), _free(_room(cap, index + 1))))
        tail = _either(False, options)
    return tail


@cython.cfunc
def _at_most(bound: str, is_open: cython.bint, cap) -> tuple:
    """Tails whose value is at most that of ``bound`` (less: ``is_open``)."""
    tail: tuple = NEVER if is_open else _zeros(_room(cap, len(bound)))
    index: cython.Py_ssize_t
    digit: cython.int
    options: list
    for index in range(len(bound) - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = (True, None)
            continue
        digit = ord(bound[index]) - 0x30
        options = _after(one_digit(digit, digit), tail)
        if digit > 0:
            options.extend(_after(one_digit(0, digit - 1), _free(_room(cap, index + 1))))
        tail = _either(True, options)
    return tail


@cython.cfunc
def _between(low: str, low_open: cython.bint, high: str, high_open: cython.bint, cap) -> tuple:
    """Tails between two bounds, ``low`` not greater than ``high``."""
    size: cython.Py_ssize_t = max(len(low), len(high))
    a: str = low.ljust(size, "0")
    b: str = high.ljust(size, "0")
    split: cython.Py_ssize_t = 0
    index: cython.Py_ssize_t
    first: cython.int
    last: cython.int
    tail: tuple
    options: list
    while split < size and a[split] == b[split]:
        split += 1
    if split == size:
        tail = NEVER if low_open or high_open else _zeros(_room(cap, size))
    elif _room(cap, split) == 0:
        tail = (not low[split:] and not low_open, None)
    else:
        room = _room(cap, split + 1)
        first, last = ord(a[split]) - 0x30, ord(b[split]) - 0x30
        options = _after(one_digit(first, first), _at_least(low[split + 1 :], low_open, room))
        if first + 1 <= last - 1:
            options.extend(_after(one_digit(first + 1, last - 1), _free(room)))
        options.extend(_after(one_digit(last, last), _at_most(high[split + 1 :], high_open, room)))
        tail = _either(not low[split:] and not low_open, options)
    for index in range(split - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = (not low[index:] and not low_open, None)
            continue
        # Ending here means zeros from here on: enough only if the lower bound has no more.
        first = ord(a[index]) - 0x30
        tail = _either(not low[index:] and not low_open, _after(one_digit(first, first), tail))
    return tail


# -- exponents ------------------------------------------------------------------------------------------------------


@cython.ccall
def scientific_numbers(low, low_open: cython.bint, high, high_open: cython.bint, cap, ranges: tuple) -> list:
    """``d.ddde+dd`` for the numbers between the bounds, exponents within ``ranges``."""
    low_at: cython.Py_ssize_t = _NO_EXPONENT
    high_at: cython.Py_ssize_t = _NO_EXPONENT
    first: cython.Py_ssize_t = ranges[0][0]
    last: cython.Py_ssize_t = ranges[len(ranges) - 1][1]
    options: list = []
    if high is not None:
        if not high:
            return options
        high_at = high.adjusted()
        if high_at < first:
            return options
    if low:
        low_at = low.adjusted()
        if low_at == high_at:
            if _within(low_at, ranges):
                _add(options, _mantissas(_mantissa(low), low_open, _mantissa(high), high_open, cap), low_at, low_at,
                     ranges)
            return options
        if _within(low_at, ranges):
            _add(options, _mantissas(_mantissa(low), low_open, None, False, cap), low_at, low_at, ranges)
        first = max(first, low_at + 1)
    if high is not None:
        last = min(last, high_at - 1)
    _add(options, _free_mantissa(cap), first, last, ranges)
    if high is not None and _within(high_at, ranges):
        _add(options, _mantissas(None, False, _mantissa(high), high_open, cap), high_at, high_at, ranges)
    return options


@cython.cfunc
@cython.exceptval(-1, check=False)
def _within(at: cython.Py_ssize_t, ranges: tuple) -> cython.bint:
    pair: tuple
    for pair in ranges:  # noqa: SIM110 - a generator in ``any`` takes longer
        if pair[0] <= at <= pair[1]:
            return True
    return False


@cython.cfunc
@cython.exceptval(-1, check=False)
def _add(options: list, mantissa, first: cython.Py_ssize_t, last: cython.Py_ssize_t,
         ranges: tuple) -> cython.int:
    """One option more, if there is any: a mantissa and the exponents from ``first`` to ``last``."""
    if mantissa is not None and first <= last:
        for part in _powers(first, last, ranges):
            options.append(concat([mantissa, part]))
    return 0


@lru_cache(maxsize=1024)
def _powers(first, last, ranges):
    """``e`` and the exponents from ``first`` to ``last`` that are in ``ranges``: one node, or none."""
    parts: list = [exponents(max(first, least), min(last, most)) for least, most in ranges
                   if max(first, least) <= min(last, most)]
    return (concat([_E, alternation(parts)]),) if parts else ()


@lru_cache(maxsize=16)
def _free_mantissa(cap):
    return concat([NOT_ZERO, _optional(_free(cap)) or concat([])])


@cython.cfunc
def _mantissa(number) -> str:
    """The digits of a positive number written with one before the point."""
    text: str = format(number, "e")
    return text.partition("e")[0].replace(".", "").rstrip("0")


@cython.cfunc
def _mantissas(low, low_open: cython.bint, high, high_open: cython.bint, cap) -> Node:
    """``d.ddd`` between two digit strings that are read so; None: no bound, or no mantissa."""
    first: cython.int = 1 if low is None else ord(low[0]) - 0x30
    last: cython.int = 9 if high is None else ord(high[0]) - 0x30
    options: list = []
    if low is not None and high is not None and first == last:
        _add_numbers(options, one_digit(first, first), _between(low[1:], low_open, high[1:], high_open, cap))
    else:
        if low is not None:
            _add_numbers(options, one_digit(first, first), _at_least(low[1:], low_open, cap))
            first += 1
        if high is not None:
            _add_numbers(options, one_digit(last, last), _at_most(high[1:], high_open, cap))
            last -= 1
        if first <= last:
            _add_numbers(options, one_digit(first, last), _free(cap))
    return alternation(options) if options else None


def unbounded_tree(cap):
    """Any number: any exponent of up to three digits."""
    whole = alternation([ZERO, concat([NOT_ZERO, *run(DIGIT, 0, cap - 1)])])
    exponent = concat([_E, Repeat(CharSet(((0x2B, 0x2B), (0x2D, 0x2D))), 0, 1),
                       Repeat(DIGIT, 1, 3)])
    fraction = concat([_POINT, Repeat(DIGIT, 1, cap)])
    return concat([Repeat(_MINUS, 0, 1), whole, Repeat(fraction, 0, 1), Repeat(exponent, 0, 1)])
