# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Whole numbers as patterns: digit strings compared with a bound, and exponents.

A bound's digits are compared from the left; what is longer or shorter than a bound is larger or smaller, since no
number has leading zeros. Trees are built from the last digit to the first, so nothing recurses.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.regex.builder import alternation, concat
    from cython.cimports.constrained.regex.syntax import CharSet, Node, Repeat, Text
else:
    from constrained.regex.builder import alternation, concat
    from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["DIGIT", "NOT_ZERO", "ZERO", "digits_of", "exponents", "one_digit", "predecessor", "run", "successor",
           "whole_numbers"]

ZERO = Text("0")
DIGIT = CharSet(((0x30, 0x39),))
NOT_ZERO = CharSet(((0x31, 0x39),))
_DIGITS = [Text(digit) for digit in "0123456789"]
_NO_ZERO, _PLUS, _MINUS = Repeat(ZERO, 0, 1), Repeat(Text("+"), 0, 1), Text("-")


@cython.ccall
def digits_of(number) -> tuple:
    """The digits of a decimal before the point (without needless zeros) and behind it (none at the end is 0)."""
    text: str = format(number.copy_abs(), "f")
    whole, _, tail = text.partition(".")
    return whole.lstrip("0") or "0", tail.rstrip("0")


@cython.ccall
def successor(digits: str) -> str:
    kept: str = digits.rstrip("9")
    last: cython.Py_ssize_t = len(kept) - 1
    if last < 0:
        return "1" + "0" * len(digits)
    return kept[:last] + chr(ord(kept[last]) + 1) + "0" * (len(digits) - len(kept))


@cython.ccall
def predecessor(digits: str):
    """One less; None below 0."""
    kept: str = digits.rstrip("0")
    last: cython.Py_ssize_t = len(kept) - 1
    if last < 0:
        return None
    text: str = kept[:last] + chr(ord(kept[last]) - 1) + "9" * (len(digits) - len(kept))
    return text.lstrip("0") or "0"


@cython.ccall
def whole_numbers(first: str, last, cap) -> Node:
    """The whole numbers from ``first`` to ``last`` (None: without end) without leading zeros; None: there are none."""
    options: list = []
    if last is not None and (len(first), first) > (len(last), last):
        return None
    if first == "0":
        options.append(ZERO)
        if last == "0":
            return ZERO
        first = "1"
    if last is not None and len(first) == len(last):
        options.append(same_length(first, last))
        return alternation(options)
    # A bound that begins a length frees that length.
    shortest = len(first)
    longest = None if last is None else len(last)
    if first[0] != "1" or first.strip("0") != "1":
        options.append(same_length(first, "9" * len(first)))
        shortest += 1
    closing: list = []
    if last is not None and last.strip("9"):
        closing.append(same_length("1" + "0" * (len(last) - 1), last))
        longest = len(last) - 1
    if longest is None and cap is not None:
        longest = max(cap, shortest)
    if longest is None or shortest <= longest:
        options.append(concat([NOT_ZERO, *run(DIGIT, shortest - 1, None if longest is None else longest - 1)]))
    return alternation([*options, *closing])


@cython.ccall
def run(char: Node, minimum, maximum) -> list:
    if maximum == 0:
        return []
    return [char] if minimum == 1 and maximum == 1 else [Repeat(char, minimum, maximum)]


@cython.ccall
def one_digit(low: cython.int, high: cython.int) -> Node:
    return _DIGITS[low] if low == high else CharSet(((0x30 + low, 0x30 + high),))


@cython.cfunc
def same_length(first: str, last: str) -> Node:
    """The digit strings from ``first`` to ``last``, which are as long."""
    size: cython.Py_ssize_t = len(first)
    split: cython.Py_ssize_t = 0
    low: cython.int
    high: cython.int
    tree: Node
    while split < size and first[split] == last[split]:
        split += 1
    if split == size:
        return Text(first)
    rest = size - split - 1
    low, high = ord(first[split]) - 0x30, ord(last[split]) - 0x30
    above: Node = _compared(first[split + 1 :], True)
    below: Node = _compared(last[split + 1 :], False)
    options: list = []
    if above is None:  # every rest is large enough
        low -= 1
    else:
        options.append(concat([_DIGITS[low], above]))
    if below is None:
        high += 1
    if low + 1 <= high - 1:
        options.append(concat([one_digit(low + 1, high - 1), *run(DIGIT, rest, rest)]))
    if below is not None:
        options.append(concat([_DIGITS[high], below]))
    tree = alternation(options)
    return concat([Text(first[:split]), tree]) if split else tree


@cython.cfunc
def _compared(bound: str, above: cython.bint) -> Node:
    """The digit strings as long as ``bound`` and not below (not above) it; None: all of them."""
    tree: Node = None
    size: cython.Py_ssize_t = len(bound)
    index: cython.Py_ssize_t
    digit: cython.int
    low: cython.int
    high: cython.int
    options: list
    for index in range(size - 1, -1, -1):
        digit = ord(bound[index]) - 0x30
        if tree is None and digit == (0 if above else 9):
            continue
        options = []
        low, high = 0, digit
        if above:
            low, high = digit, 9
        if tree is not None:  # else the rest is free
            options.append(concat([_DIGITS[digit], tree]))
            if above:
                low += 1
            else:
                high -= 1
        if low <= high:
            options.append(concat([one_digit(low, high), *run(DIGIT, size - index - 1, size - index - 1)]))
        tree = alternation(options)
    return tree


@cython.ccall
def exponents(first: cython.int, last: cython.int) -> Node:
    """Exponents from ``first`` to ``last``, of one sign: with it (``+`` may lack), of two digits (a 0 may lack)."""
    low: cython.int
    high: cython.int
    sign: Node = _PLUS
    options: list = []
    if last < 0:
        first, last = -last, -first
        sign = _MINUS
    if first <= 9:
        options.append(concat([_NO_ZERO, one_digit(first, min(last, 9))]))
    for low, high in ((10, 99), (100, 999)):
        if max(first, low) <= min(last, high):
            options.append(same_length(str(max(first, low)), str(min(last, high))))
    return concat([sign, alternation(options)])
