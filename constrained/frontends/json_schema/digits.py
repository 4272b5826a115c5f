"""Whole numbers as patterns: digit strings compared with a bound, and exponents.

A bound's digits are compared from the left; what is longer or shorter than a bound is larger or smaller, since no
number has leading zeros. Trees are built from the last digit to the first, so nothing recurses.
"""

from __future__ import annotations

from decimal import Decimal

from constrained.regex.builder import alternation, concat
from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["DIGIT", "NOT_ZERO", "ZERO", "digits_of", "exponents", "one_digit", "predecessor", "run", "same_length",
           "successor", "whole_numbers"]

ZERO = Text("0")
DIGIT = CharSet(((0x30, 0x39),))
NOT_ZERO = CharSet(((0x31, 0x39),))


def digits_of(number: Decimal) -> tuple[str, str]:
    """The digits before the point (without needless zeros) and behind it (none at the end is 0)."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    if exponent >= 0:
        return (text + "0" * exponent).lstrip("0") or "0", ""
    text = text.rjust(-exponent + 1, "0")
    return text[:exponent].lstrip("0") or "0", text[exponent:].rstrip("0")


def successor(digits: str) -> str:
    kept = digits.rstrip("9")
    if not kept:
        return "1" + "0" * len(digits)
    return kept[:-1] + str(int(kept[-1]) + 1) + "0" * (len(digits) - len(kept))


def predecessor(digits: str) -> str | None:
    """One less; None below 0."""
    kept = digits.rstrip("0")
    if not kept:
        return None
    text = kept[:-1] + str(int(kept[-1]) - 1) + "9" * (len(digits) - len(kept))
    return text.lstrip("0") or "0"


def _longer(a: str, b: str) -> bool:
    return (len(a), a) > (len(b), b)


def whole_numbers(first: str, last: str | None, cap: int | None) -> Node | None:
    """The whole numbers from ``first`` to ``last`` without leading zeros."""
    if last is not None and _longer(first, last):
        return None
    options: list[Node] = []
    if first == "0":
        options.append(ZERO)
        if last == "0":
            return ZERO
        first = "1"
    if last is not None and len(first) == len(last):
        options.append(same_length(first, last))
        return alternation(options)
    # A bound that begins a length frees that length.
    shortest, longest = len(first), None if last is None else len(last)
    if first.strip("0") != "1" or first[0] != "1":
        options.append(same_length(first, "9" * len(first)))
        shortest += 1
    closing: list[Node] = []
    if last is not None and last.strip("9"):
        closing.append(same_length("1" + "0" * (len(last) - 1), last))
        longest = len(last) - 1
    if longest is None and cap is not None:
        longest = max(cap, shortest)
    if longest is None or shortest <= longest:
        options.append(concat([NOT_ZERO, *run(DIGIT, shortest - 1, None if longest is None else longest - 1)]))
    return alternation([*options, *closing])


def run(char: Node, minimum: int, maximum: int | None) -> list[Node]:
    if maximum == 0:
        return []
    return [char] if minimum == maximum == 1 else [Repeat(char, minimum, maximum)]


def one_digit(low: int, high: int) -> Node:
    return Text(str(low)) if low == high else CharSet(((0x30 + low, 0x30 + high),))


def same_length(first: str, last: str) -> Node:
    """The digit strings from ``first`` to ``last``, which are as long."""
    size = len(first)
    split = next((i for i in range(size) if first[i] != last[i]), size)
    if split == size:
        return Text(first)
    rest = size - split - 1
    low, high = int(first[split]), int(last[split])
    above, below = _compared(first[split + 1 :], True), _compared(last[split + 1 :], False)
    if above is None:  # every rest is large enough
        low -= 1
    if below is None:
        high += 1
    options: list[Node] = []
    if above is not None:
        options.append(concat([Text(first[split]), above]))
    if low + 1 <= high - 1:
        options.append(concat([one_digit(low + 1, high - 1), *run(DIGIT, rest, rest)]))
    if below is not None:
        options.append(concat([Text(last[split]), below]))
    tree = alternation(options)
    return concat([Text(first[:split]), tree]) if split else tree


def _compared(bound: str, above: bool) -> Node | None:
    """The digit strings as long as ``bound`` and not below (not above) it; None: all of them."""
    tree: Node | None = None
    for index in range(len(bound) - 1, -1, -1):
        digit, rest = int(bound[index]), len(bound) - index - 1
        if tree is None and digit == (0 if above else 9):
            continue
        low, high = (digit + 1, 9) if above else (0, digit - 1)
        options: list[Node] = []
        if tree is None:  # the rest is free
            low, high = (digit, 9) if above else (0, digit)
        else:
            options.append(concat([Text(bound[index]), tree]))
        if low <= high:
            options.append(concat([one_digit(low, high), *run(DIGIT, rest, rest)]))
        tree = alternation(options)
    return tree



def exponents(first: int, last: int) -> Node:
    """Exponents from ``first`` to ``last``, of one sign: with it (``+`` may lack), of two digits (a 0 may lack)."""
    if last < 0:
        first, last = -last, -first
        sign: Node = Text("-")
    else:
        sign = Repeat(Text("+"), 0, 1)
    options: list[Node] = []
    if first <= 9:
        options.append(concat([Repeat(ZERO, 0, 1), one_digit(first, min(last, 9))]))
    for low, high in ((10, 99), (100, 999)):
        if max(first, low) <= min(last, high):
            options.append(same_length(str(max(first, low)), str(min(last, high))))
    return concat([sign, alternation(options)])
