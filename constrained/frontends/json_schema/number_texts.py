r"""The JSON texts of the numbers of an interval, as a pattern over digits.

Whole numbers: those as long as a bound are compared with it digit by digit, all of a length between are free.
Fractions: a tail of digits is compared in the same way, and what a text leaves out is 0. With an exponent (a digit,
a point, a fraction: ``1.5e-07``): exponents between those of the bounds are free, and at a bound's own exponent the
mantissas are compared. Trees are built from the last digit to the first, so nothing recurses.

Data: ``Tail``, a set of digit strings, as (whether the empty one is in it, the tree of the others or None).
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS, multiples
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.regex import byte_dfa, plain_expression
from constrained.grammar.ir import Expr
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex.builder import alternation, concat
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["number_dfa", "number_expression", "number_tree"]

#: Members of a small set are spelled one by one.
_FEW = 32

Tail = tuple[bool, Node | None]

_ZERO = Text("0")
_POINT = Text(".")
_MINUS = Text("-")
_DIGIT = CharSet(((0x30, 0x39),))
_NOT_ZERO = CharSet(((0x31, 0x39),))
NEVER: Tail = (False, None)


def number_expression(shape: NumberShape, digits: int, integer_as_float: bool, limits: Limits) -> Expr | None:
    """The IR of the texts of ``shape``; None where there is none. Raises GrammarLimitError (``max_dfa_states``)."""
    values = shape.values if shape.values is not None else (
        shape.enumerated(_FEW) if shape.multiple_of is not None or shape.excluded or shape.not_multiple_of else None)
    if values is not None:
        trees = [number_tree(NumberShape(shape.integer, value, False, value), digits, integer_as_float)
                 for value in values]
        options = [tree for tree in trees if tree is not None]
        return plain_expression(alternation(options)) if options else None
    if shape.multiple_of is None and not shape.excluded and not shape.not_multiple_of:
        tree = _unbounded(digits) if shape.is_any() else number_tree(shape, digits, integer_as_float)
        return None if tree is None else plain_expression(tree)
    dfa = number_dfa(shape, integer_as_float, limits)
    return byte_dfa(dfa, limits) if dfa.accepting else None


@cache
def _canonical() -> Dfa:
    """Numbers without exponent, or as ``repr`` of a float writes one: what ``multiples`` is right for."""
    mantissa = concat([_NOT_ZERO, Repeat(concat([_POINT, Repeat(_DIGIT, 0, MANTISSA_DIGITS - 1), _NOT_ZERO]), 0, 1)])
    exponents = alternation([part for first, last in EXPONENTS for part in (_exponent(first, last),)
                             if part is not None])
    plain = concat([alternation([_ZERO, concat([_NOT_ZERO, Repeat(_DIGIT, 0, None)])]),
                    Repeat(concat([_POINT, Repeat(_DIGIT, 1, None)]), 0, 1)])
    scientific = concat([mantissa, CharSet(((0x45, 0x45), (0x65, 0x65))), exponents])
    return minimise(determinise(concat([Repeat(_MINUS, 0, 1), alternation([plain, scientific])]), Limits()))


def number_dfa(shape: NumberShape, integer_as_float: bool, limits: Limits) -> Dfa:
    """The texts of ``shape`` as one automaton, digits without bound."""
    tree = number_tree(NumberShape(False, shape.lower, shape.lower_open, shape.upper, shape.upper_open), None, True)
    found = _canonical() if tree is None else automata.intersection(determinise(tree, limits), _canonical(), limits)
    if tree is None:
        return automata.intersection(found, automata.complement(found), limits)
    step = shape.step()
    if step is not None:
        found = automata.intersection(found, multiples(step, limits), limits)
    for other in sorted(shape.not_multiple_of):
        found = automata.intersection(found, automata.complement(multiples(other, limits)), limits)
    for value in sorted(shape.excluded):
        spelled = number_tree(NumberShape(lower=value, upper=value), None, True)
        assert spelled is not None
        found = automata.intersection(found, automata.complement(determinise(spelled, limits)), limits)
    if shape.integer and not integer_as_float:
        digits = determinise(concat([Repeat(_MINUS, 0, 1), Repeat(_DIGIT, 1, None)]), limits)
        found = automata.intersection(found, digits, limits)
    return minimise(found)


def number_tree(shape: NumberShape, cap: int | None, integer_as_float: bool) -> Node | None:
    """The texts of the interval of ``shape`` (``integer`` heeded, nothing else); None where there is none.

    ``cap``: digits in one run, where the bounds themselves do not have more; None: no bound.
    """
    lower, upper = shape.lower, shape.upper
    if cap is not None:
        for bound in (lower, upper):
            if bound is not None and len(bound.as_tuple().digits) + abs(bound.adjusted()) >= cap:
                cap = max(cap, *map(len, _digits(bound)))
    options: list[Node] = []
    if upper is None or upper > 0 or (upper == 0 and not shape.upper_open):
        low, low_open = (lower, shape.lower_open) if lower is not None and lower >= 0 else (Decimal(0), False)
        options += _magnitudes(low, low_open, upper, shape.upper_open, shape.integer, cap, integer_as_float)
    if lower is None or lower < 0 or (lower == 0 and not shape.lower_open):
        low, low_open = Decimal(0), False
        if upper is not None and upper <= 0:
            low, low_open = upper.copy_abs(), shape.upper_open
        high = None if lower is None else lower.copy_abs()
        negative = _magnitudes(low, low_open, high, shape.lower_open, shape.integer, cap, integer_as_float)
        if lower is None and upper is None:
            options = [concat([Repeat(_MINUS, 0, 1), alternation(negative)])]
        elif negative:
            options.append(concat([_MINUS, alternation(negative)]))
    return alternation(options) if options else None


def _magnitudes(low: Decimal, low_open: bool, high: Decimal | None, high_open: bool, integer: bool, cap: int | None,
                integer_as_float: bool) -> list[Node]:
    """Texts without sign of the numbers from ``low`` (0 or more) to ``high``."""
    if high is not None and (low > high or (low == high and (low_open or high_open))):
        return []
    low_whole, low_tail = _digits(low)
    if high is None:
        high_whole, high_tail = None, ""
    else:
        high_whole, high_tail = _digits(high)
    options: list[Node] = []
    if integer:
        first = _successor(low_whole) if low_tail or low_open else low_whole
        last = high_whole
        if high_whole is not None and high_open and not high_tail:
            last = _predecessor(high_whole)
        if last is None and high_whole is not None:
            return []
        whole = _whole(first, last, cap)
        zeros = _optional((True, Repeat(_ZERO, 1, cap))) if integer_as_float else None
        if whole is not None:
            options.append(whole if zeros is None else concat([whole, zeros]))
        if integer_as_float:
            options += _scientific(low, low_open, high, high_open, MANTISSA_DIGITS, EXPONENTS[1:])
        return options
    if high_whole == low_whole:
        tail = _between(low_tail, low_open, high_tail, high_open, cap)
        options += _numbers(Text(low_whole), tail)
    else:
        options += _numbers(Text(low_whole), _at_least(low_tail, low_open, cap))
        first = _successor(low_whole)
        last = None if high_whole is None else _predecessor(high_whole)
        if high_whole is None or last is not None:
            whole = _whole(first, last, cap)
            if whole is not None:
                options += _numbers(whole, _free(cap))
        if high_whole is not None:
            options += _numbers(Text(high_whole), _at_most(high_tail, high_open, cap))
    return options + _scientific(low, low_open, high, high_open, cap, EXPONENTS)


def _numbers(whole: Node, tail: Tail) -> list[Node]:
    fraction = _optional(tail)
    return [] if fraction is None else [concat([whole, fraction])]


def _optional(tail: Tail) -> Node | None:
    """A fraction with its point, or none where the tail may be empty."""
    empty, rest = tail
    if rest is None:
        return concat([]) if empty else None
    fraction = concat([_POINT, rest])
    return Repeat(fraction, 0, 1) if empty else fraction


# -- whole numbers ----------------------------------------------------------------------------------------------


def _digits(number: Decimal) -> tuple[str, str]:
    """The digits before the point (without needless zeros) and behind it (none at the end is 0)."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    if exponent >= 0:
        return (text + "0" * exponent).lstrip("0") or "0", ""
    text = text.rjust(-exponent + 1, "0")
    return text[:exponent].lstrip("0") or "0", text[exponent:].rstrip("0")


def _successor(digits: str) -> str:
    kept = digits.rstrip("9")
    if not kept:
        return "1" + "0" * len(digits)
    return kept[:-1] + str(int(kept[-1]) + 1) + "0" * (len(digits) - len(kept))


def _predecessor(digits: str) -> str | None:
    """One less; None below 0."""
    kept = digits.rstrip("0")
    if not kept:
        return None
    text = kept[:-1] + str(int(kept[-1]) - 1) + "9" * (len(digits) - len(kept))
    return text.lstrip("0") or "0"


def _longer(a: str, b: str) -> bool:
    return (len(a), a) > (len(b), b)


def _whole(first: str, last: str | None, cap: int | None) -> Node | None:
    """The whole numbers from ``first`` to ``last`` without leading zeros."""
    if last is not None and _longer(first, last):
        return None
    options: list[Node] = []
    if first == "0":
        options.append(_ZERO)
        if last == "0":
            return _ZERO
        first = "1"
    if last is not None and len(first) == len(last):
        options.append(_same_length(first, last))
        return alternation(options)
    # A bound that begins a length frees that length.
    shortest, longest = len(first), None if last is None else len(last)
    if first.strip("0") != "1" or first[0] != "1":
        options.append(_same_length(first, "9" * len(first)))
        shortest += 1
    closing: list[Node] = []
    if last is not None and last.strip("9"):
        closing.append(_same_length("1" + "0" * (len(last) - 1), last))
        longest = len(last) - 1
    if longest is None and cap is not None:
        longest = max(cap, shortest)
    if longest is None or shortest <= longest:
        options.append(concat([_NOT_ZERO, *_run(_DIGIT, shortest - 1, None if longest is None else longest - 1)]))
    return alternation([*options, *closing])


def _run(char: Node, minimum: int, maximum: int | None) -> list[Node]:
    if maximum == 0:
        return []
    return [char] if minimum == maximum == 1 else [Repeat(char, minimum, maximum)]


def _one(low: int, high: int) -> Node:
    return Text(str(low)) if low == high else CharSet(((0x30 + low, 0x30 + high),))


def _same_length(first: str, last: str) -> Node:
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
        options.append(concat([_one(low + 1, high - 1), *_run(_DIGIT, rest, rest)]))
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
            options.append(concat([_one(low, high), *_run(_DIGIT, rest, rest)]))
        tree = alternation(options)
    return tree


# -- tails ---------------------------------------------------------------------------------------------------------


def _room(cap: int | None, used: int) -> int | None:
    return None if cap is None else max(cap - used, 0)


def _free(room: int | None) -> Tail:
    return (True, None) if room == 0 else (True, Repeat(_DIGIT, 1, room))


def _zeros(room: int | None) -> Tail:
    return (True, None) if room == 0 else (True, Repeat(_ZERO, 1, room))


def _not_zero(room: int | None) -> Tail:
    """Digits not all 0."""
    if room == 0:
        return NEVER
    less = None if room is None else room - 1
    return False, concat([*_run(_ZERO, 0, less), _NOT_ZERO, *_run(_DIGIT, 0, less)])


def _after(first: Node, tail: Tail) -> list[Node]:
    """The strings of a first digit and a tail."""
    empty, rest = tail
    if rest is None:
        return [first] if empty else []
    return [concat([first, Repeat(rest, 0, 1) if empty else rest])]


def _either(empty: bool, options: list[Node]) -> Tail:
    return empty, alternation(options) if options else None


def _at_least(bound: str, is_open: bool, cap: int | None) -> Tail:
    """Tails whose value is at least that of ``bound`` (greater: ``is_open``)."""
    room = _room(cap, len(bound))
    tail = _not_zero(room) if is_open else _free(room)
    for index in range(len(bound) - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = NEVER
            continue
        digit = int(bound[index])
        options = _after(Text(bound[index]), tail)
        if digit < 9:
            options += _after(_one(digit + 1, 9), _free(_room(cap, index + 1)))
        tail = _either(False, options)
    return tail


def _at_most(bound: str, is_open: bool, cap: int | None) -> Tail:
    """Tails whose value is at most that of ``bound`` (less: ``is_open``)."""
    tail = NEVER if is_open else _zeros(_room(cap, len(bound)))
    for index in range(len(bound) - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = (True, None)
            continue
        digit = int(bound[index])
        options = _after(Text(bound[index]), tail)
        if digit > 0:
            options += _after(_one(0, digit - 1), _free(_room(cap, index + 1)))
        tail = _either(True, options)
    return tail


def _between(low: str, low_open: bool, high: str, high_open: bool, cap: int | None) -> Tail:
    """Tails between two bounds, ``low`` not greater than ``high``."""
    size = max(len(low), len(high))
    a, b = low.ljust(size, "0"), high.ljust(size, "0")
    split = next((i for i in range(size) if a[i] != b[i]), size)
    if split == size:
        tail = NEVER if low_open or high_open else _zeros(_room(cap, size))
    elif _room(cap, split) == 0:
        tail = (not low[split:] and not low_open, None)
    else:
        room = _room(cap, split + 1)
        first, last = int(a[split]), int(b[split])
        options = _after(_one(first, first), _at_least(low[split + 1 :], low_open, room))
        if first + 1 <= last - 1:
            options += _after(_one(first + 1, last - 1), _free(room))
        options += _after(_one(last, last), _at_most(high[split + 1 :], high_open, room))
        tail = _either(not low[split:] and not low_open, options)
    for index in range(split - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = (not low[index:] and not low_open, None)
            continue
        # Ending here means zeros from here on: enough only if the lower bound has no more.
        tail = _either(not low[index:] and not low_open, _after(_one(int(a[index]), int(a[index])), tail))
    return tail


# -- exponents ------------------------------------------------------------------------------------------------------


def _scientific(low: Decimal, low_open: bool, high: Decimal | None, high_open: bool, cap: int | None,
                ranges: tuple[tuple[int, int], ...]) -> list[Node]:
    """``d.ddde+dd`` for the numbers between the bounds, exponents within ``ranges``."""
    free = concat([_NOT_ZERO, _optional(_free(cap)) or concat([])])
    low_at, low_digits = (None, "") if not low else _mantissa(low)
    high_at, high_digits = (None, "") if high is None else _mantissa(high) if high else (-(10**9), "")
    options: list[Node] = []

    def add(mantissa: Node | None, first: int, last: int) -> None:
        exponents = [part for least, most in ranges for part in (_exponent(max(first, least), min(last, most)),)
                     if part is not None]
        if mantissa is not None and exponents:
            options.append(concat([mantissa, CharSet(((0x45, 0x45), (0x65, 0x65))), alternation(exponents)]))

    first, last = ranges[0][0], ranges[-1][1]
    if low_at is not None and low_at == high_at:
        add(_mantissas(low_digits, low_open, high_digits, high_open, cap), low_at, low_at)
        return options
    if low_at is not None:
        add(_mantissas(low_digits, low_open, None, False, cap), low_at, low_at)
        first = max(first, low_at + 1)
    if high_at is not None:
        last = min(last, high_at - 1)
    add(free, first, last)
    if high_at is not None:
        add(_mantissas(None, False, high_digits, high_open, cap), high_at, high_at)
    return options


def _mantissa(number: Decimal) -> tuple[int, str]:
    """The exponent of a positive number written with one digit before the point, and its digits."""
    return number.adjusted(), "".join(map(str, number.as_tuple().digits)).rstrip("0")


def _mantissas(low: str | None, low_open: bool, high: str | None, high_open: bool, cap: int | None) -> Node | None:
    """``d.ddd`` between two digit strings that are read so."""
    first, last = 1 if low is None else int(low[0]), 9 if high is None or not high else int(high[0])
    options: list[Node] = []

    def add(digit: Node, tail: Tail) -> None:
        fraction = _optional(tail)
        if fraction is not None:
            options.append(concat([digit, fraction]))

    if high == "":
        return None
    if low is not None and high is not None and first == last:
        add(_one(first, first), _between(low[1:], low_open, high[1:], high_open, cap))
    else:
        if low is not None:
            add(_one(first, first), _at_least(low[1:], low_open, cap))
            first += 1
        if high is not None:
            add(_one(last, last), _at_most(high[1:], high_open, cap))
            last -= 1
        if first <= last:
            add(_one(first, last), _free(cap))
    return alternation(options) if options else None


def _exponent(first: int, last: int) -> Node | None:
    """Exponents from ``first`` to ``last``, of one sign: with it (``+`` may lack), of two digits (a 0 may lack)."""
    if first > last:
        return None
    if last < 0:
        first, last = -last, -first
        sign: Node = _MINUS
    else:
        sign = Repeat(Text("+"), 0, 1)
    options: list[Node] = []
    if first <= 9:
        options.append(concat([Repeat(_ZERO, 0, 1), _one(first, min(last, 9))]))
    for low, high in ((10, 99), (100, 999)):
        if max(first, low) <= min(last, high):
            options.append(_same_length(str(max(first, low)), str(min(last, high))))
    return concat([sign, alternation(options)])


def _unbounded(cap: int) -> Node:
    """Any number: any exponent of up to three digits."""
    whole = alternation([_ZERO, concat([_NOT_ZERO, *_run(_DIGIT, 0, cap - 1)])])
    exponent = concat([CharSet(((0x45, 0x45), (0x65, 0x65))), Repeat(CharSet(((0x2B, 0x2B), (0x2D, 0x2D))), 0, 1),
                       Repeat(_DIGIT, 1, 3)])
    fraction = concat([_POINT, Repeat(_DIGIT, 1, cap)])
    return concat([Repeat(_MINUS, 0, 1), whole, Repeat(fraction, 0, 1), Repeat(exponent, 0, 1)])
