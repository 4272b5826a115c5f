r"""The JSON texts of the numbers of an interval, as a pattern over digits.

Whole numbers: those as long as a bound are compared with it digit by digit, all of a length between are free.
Fractions: a tail of digits is compared in the same way, and what a text leaves out is 0. With an exponent (a digit,
a point, a fraction: ``1.5e-07``): exponents between those of the bounds are free, and at a bound's own exponent the
mantissas are compared. Trees are built from the last digit to the first, so nothing recurses.

Data: ``Tail``, a set of digit strings, as (whether the empty one is in it, the tree of the others or None).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.digits import (
    DIGIT,
    NOT_ZERO,
    ZERO,
    digits_of,
    exponents,
    one_digit,
    predecessor,
    run,
    successor,
    whole_numbers,
)
from constrained.frontends.json_schema.format_data import NUMBERS
from constrained.frontends.json_schema.format_tables import unpacked
from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS, multiples
from constrained.frontends.json_schema.multiples_fast import multiple_expression
from constrained.frontends.json_schema.multiples_lazy import lazy_multiples
from constrained.frontends.json_schema.numbers import NumberShape, common_multiple, is_multiple
from constrained.frontends.regex import byte_dfa, plain_expression
from constrained.grammar.ir import Choice, Expr
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex.builder import alternation, concat
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["canonical_numbers", "number_dfa", "number_expression", "number_tree"]

#: Members of a small set are spelled one by one.
_FEW = 32
#: A bound from which an automaton of comparisons is smaller than a tree.
_LONG = 10_000

Tail = tuple[bool, Node | None]

_POINT = Text(".")
_MINUS = Text("-")
NEVER: Tail = (False, None)


def number_expression(shape: NumberShape, digits: int, integer_as_float: bool, limits: Limits) -> Expr | None:
    """The IR of the texts of ``shape``; None where there is none. Raises GrammarLimitError (``max_dfa_states``)."""
    if shape.plain is False:
        dfa = _marked(shape, limits)
        return byte_dfa(dfa, limits) if dfa.accepting else None
    values = shape.values if shape.values is not None else (
        shape.enumerated(_FEW) if shape.multiple_of is not None or shape.excluded or shape.not_multiple_of else None)
    if values is not None:
        trees = [number_tree(NumberShape(shape.integer, value, False, value), digits, integer_as_float)
                 for value in values]
        options = [tree for tree in trees if tree is not None]
        return plain_expression(alternation(options)) if options else None
    if shape.multiple_of is None and not shape.excluded and not shape.not_multiple_of:
        if shape.integer and shape.lower is not None and shape.upper is not None and (
                max(shape.lower.copy_abs(), shape.upper.copy_abs()) >= _LONG):
            return _long_integers(shape, integer_as_float, limits)
        tree = _unbounded(digits) if shape.is_any() else number_tree(shape, digits, integer_as_float)
        return None if tree is None else plain_expression(tree)
    step = shape.step()
    if step is not None and not shape.excluded and not shape.not_multiple_of:
        bounds = (shape.lower, shape.lower_open, shape.upper, shape.upper_open)
        fractions = integer_as_float or not shape.integer
        try:
            found = multiple_expression(step, *bounds, fractions, limits)
            if found is not None:
                return found
            dfa = number_dfa(shape, integer_as_float, limits)
        except GrammarLimitError:
            found = lazy_multiples(step, *bounds, fractions, lambda value: _one_number(value, digits))
            if found is None:
                raise
            return found
    else:
        dfa = number_dfa(shape, integer_as_float, limits)
    return byte_dfa(dfa, limits) if dfa.accepting else None


def _marked(shape: NumberShape, limits: Limits) -> Dfa:
    """The texts with a fraction or an exponent."""
    if shape.values is None:
        found = number_dfa(replace(shape, plain=None), True, limits)
    else:
        trees = [number_tree(NumberShape(lower=value, upper=value), None, True) for value in shape.values]
        found = automata.intersection(determinise(alternation([tree for tree in trees if tree is not None]), limits),
                                      _canonical(), limits)
    whole = determinise(concat([Repeat(_MINUS, 0, 1), Repeat(DIGIT, 1, None)]), limits)
    return minimise(automata.intersection(found, automata.complement(whole), limits))


def _one_number(value: Decimal, digits: int) -> Expr | None:
    tree = number_tree(NumberShape(False, value, False, value), digits, True)
    return None if tree is None else plain_expression(tree)


def _long_integers(shape: NumberShape, integer_as_float: bool, limits: Limits) -> Expr:
    """Whole numbers between long bounds: an automaton is smaller than the tree, which repeats digits at each digit."""
    plain = multiple_expression(Decimal(1), shape.lower, shape.lower_open, shape.upper, shape.upper_open,
                                integer_as_float, limits, with_exponents=False)
    assert plain is not None
    options: list[Node] = []
    if integer_as_float and shape.lower is not None and shape.upper is not None:
        for sign, low, low_open, high, high_open in (
                (concat([]), shape.lower, shape.lower_open, shape.upper, shape.upper_open),
                (_MINUS, shape.upper.copy_negate(), shape.upper_open, shape.lower.copy_negate(), shape.lower_open)):
            if high > 0:
                low, low_open = (low, low_open) if low > 0 else (Decimal(0), False)
                options += [concat([sign, option]) for option in
                            _scientific(low, low_open, high, high_open, MANTISSA_DIGITS, EXPONENTS[1:])]
    return Choice((plain, byte_dfa(minimise(determinise(alternation(options), limits)), limits))) if options else plain


@cache
def _canonical() -> Dfa:
    """What ``canonical_numbers`` makes, as it is kept."""
    return unpacked(NUMBERS)


def canonical_numbers() -> Dfa:
    """Numbers without exponent, or as ``repr`` of a float writes one: what ``multiples`` is right for."""
    mantissa = concat([NOT_ZERO, Repeat(concat([_POINT, Repeat(DIGIT, 0, MANTISSA_DIGITS - 1), NOT_ZERO]), 0, 1)])
    exponent = alternation([exponents(first, last) for first, last in EXPONENTS])
    plain = concat([alternation([ZERO, concat([NOT_ZERO, Repeat(DIGIT, 0, None)])]),
                    Repeat(concat([_POINT, Repeat(DIGIT, 1, None)]), 0, 1)])
    scientific = concat([mantissa, CharSet(((0x45, 0x45), (0x65, 0x65))), exponent])
    return minimise(determinise(concat([Repeat(_MINUS, 0, 1), alternation([plain, scientific])]), Limits()))


def number_dfa(shape: NumberShape, integer_as_float: bool, limits: Limits) -> Dfa:
    """The texts of ``shape`` as one automaton, digits without bound."""
    tree = number_tree(NumberShape(False, shape.lower, shape.lower_open, shape.upper, shape.upper_open), None, True)
    if tree is None:
        return automata.no_text()
    step = shape.step()
    parts: list[tuple[Dfa, bool]] = [(_canonical(), False)]
    if shape.lower is not None or shape.upper is not None:
        parts.append((determinise(tree, limits), False))
    if step is not None:
        parts.append((multiples(step, limits), False))
    parts += [(multiples(other, limits), True) for other in _refused(step, shape.not_multiple_of)]
    for value in sorted(shape.excluded):
        spelled = number_tree(NumberShape(lower=value, upper=value), None, True)
        assert spelled is not None
        parts.append((determinise(spelled, limits), True))
    if shape.integer and not integer_as_float:
        parts.append((determinise(concat([Repeat(_MINUS, 0, 1), Repeat(DIGIT, 1, None)]), limits), False))
    return minimise(automata.intersection_of(parts, limits))


def _refused(step: Decimal | None, others: frozenset[Decimal]) -> list[Decimal]:
    """Of the steps whose multiples are left out those that are needed: what is no multiple of 5 is none of 15."""
    kept: list[Decimal] = []
    for other in sorted(others):
        joint = other if step is None else common_multiple(step, other)
        if not any(is_multiple(joint, known) for known in kept):
            kept.append(other)
    return kept


def number_tree(shape: NumberShape, cap: int | None, integer_as_float: bool,
                ranges: tuple[tuple[int, int], ...] = EXPONENTS) -> Node | None:
    """The texts of the interval of ``shape`` (``integer`` heeded, nothing else); None where there is none.

    ``cap``: digits in one run, where the bounds themselves do not have more; None: no bound. ``ranges``: exponents of
    numbers that are not ``integer``, below 1000.
    """
    lower, upper = shape.lower, shape.upper
    if cap is not None:
        for bound in (lower, upper):
            if bound is not None and len(bound.as_tuple().digits) + abs(bound.adjusted()) >= cap:
                cap = max(cap, *map(len, digits_of(bound)))
    options: list[Node] = []
    if upper is None or upper > 0 or (upper == 0 and not shape.upper_open):
        low, low_open = (lower, shape.lower_open) if lower is not None and lower >= 0 else (Decimal(0), False)
        options += _magnitudes(low, low_open, upper, shape.upper_open, shape.integer, cap, integer_as_float,
                               ranges)
    if lower is None or lower < 0 or (lower == 0 and not shape.lower_open):
        low, low_open = Decimal(0), False
        if upper is not None and upper <= 0:
            low, low_open = upper.copy_abs(), shape.upper_open
        high = None if lower is None else lower.copy_abs()
        negative = _magnitudes(low, low_open, high, shape.lower_open, shape.integer, cap, integer_as_float, ranges)
        if lower is None and upper is None:
            options = [concat([Repeat(_MINUS, 0, 1), alternation(negative)])]
        elif negative:
            options.append(concat([_MINUS, alternation(negative)]))
    return alternation(options) if options else None


def _magnitudes(low: Decimal, low_open: bool, high: Decimal | None, high_open: bool, integer: bool, cap: int | None,
                integer_as_float: bool, ranges: tuple[tuple[int, int], ...]) -> list[Node]:
    """Texts without sign of the numbers from ``low`` (0 or more) to ``high``."""
    if high is not None and (low > high or (low == high and (low_open or high_open))):
        return []
    low_whole, low_tail = digits_of(low)
    if high is None:
        high_whole, high_tail = None, ""
    else:
        high_whole, high_tail = digits_of(high)
    options: list[Node] = []
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
            options += _scientific(low, low_open, high, high_open, MANTISSA_DIGITS, EXPONENTS[1:])
        return options
    if high_whole == low_whole:
        tail = _between(low_tail, low_open, high_tail, high_open, cap)
        options += _numbers(Text(low_whole), tail)
    else:
        first = low_whole
        if low_tail or low_open:
            options += _numbers(Text(low_whole), _at_least(low_tail, low_open, cap))
            first = successor(low_whole)
        last = None if high_whole is None else predecessor(high_whole)
        if high_whole is None or last is not None:
            whole = whole_numbers(first, last, cap)
            if whole is not None:
                options += _numbers(whole, _free(cap))
        if high_whole is not None:
            options += _numbers(Text(high_whole), _at_most(high_tail, high_open, cap))
    return options + _scientific(low, low_open, high, high_open, cap, ranges)


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


# -- tails ---------------------------------------------------------------------------------------------------------


def _room(cap: int | None, used: int) -> int | None:
    return None if cap is None else max(cap - used, 0)


def _free(room: int | None) -> Tail:
    return (True, None) if room == 0 else (True, Repeat(DIGIT, 1, room))


def _zeros(room: int | None) -> Tail:
    return (True, None) if room == 0 else (True, Repeat(ZERO, 1, room))


def _not_zero(room: int | None) -> Tail:
    """Digits not all 0."""
    if room == 0:
        return NEVER
    less = None if room is None else room - 1
    return False, concat([*run(ZERO, 0, less), NOT_ZERO, *run(DIGIT, 0, less)])


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
            options += _after(one_digit(digit + 1, 9), _free(_room(cap, index + 1)))
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
            options += _after(one_digit(0, digit - 1), _free(_room(cap, index + 1)))
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
        options = _after(one_digit(first, first), _at_least(low[split + 1 :], low_open, room))
        if first + 1 <= last - 1:
            options += _after(one_digit(first + 1, last - 1), _free(room))
        options += _after(one_digit(last, last), _at_most(high[split + 1 :], high_open, room))
        tail = _either(not low[split:] and not low_open, options)
    for index in range(split - 1, -1, -1):
        if _room(cap, index) == 0:
            tail = (not low[index:] and not low_open, None)
            continue
        # Ending here means zeros from here on: enough only if the lower bound has no more.
        tail = _either(not low[index:] and not low_open, _after(one_digit(int(a[index]), int(a[index])), tail))
    return tail


# -- exponents ------------------------------------------------------------------------------------------------------


def _scientific(low: Decimal, low_open: bool, high: Decimal | None, high_open: bool, cap: int | None,
                ranges: tuple[tuple[int, int], ...]) -> list[Node]:
    """``d.ddde+dd`` for the numbers between the bounds, exponents within ``ranges``."""
    low_at, low_digits = (None, "") if not low else _mantissa(low)
    high_at, high_digits = (None, "") if high is None else _mantissa(high) if high else (-(10**9), "")
    options: list[Node] = []
    first, last = ranges[0][0], ranges[-1][1]
    if high_at is not None and high_at < first:
        return options

    def within(at: int) -> bool:
        return any(least <= at <= most for least, most in ranges)

    def add(mantissa: Node | None, first: int, last: int) -> None:
        if mantissa is not None:
            options.extend(concat([mantissa, part]) for part in _powers(first, last, ranges))

    if low_at is not None and low_at == high_at:
        if within(low_at):
            add(_mantissas(low_digits, low_open, high_digits, high_open, cap), low_at, low_at)
        return options
    if low_at is not None:
        if within(low_at):
            add(_mantissas(low_digits, low_open, None, False, cap), low_at, low_at)
        first = max(first, low_at + 1)
    if high_at is not None:
        last = min(last, high_at - 1)
    add(_free_mantissa(cap), first, last)
    if high_at is not None and within(high_at):
        add(_mantissas(None, False, high_digits, high_open, cap), high_at, high_at)
    return options


@lru_cache(maxsize=1024)
def _powers(first: int, last: int, ranges: tuple[tuple[int, int], ...]) -> tuple[Node, ...]:
    """``e`` and the exponents from ``first`` to ``last`` that are in ``ranges``: one node, or none."""
    parts = [exponents(max(first, least), min(last, most)) for least, most in ranges
             if max(first, least) <= min(last, most)]
    return (concat([CharSet(((0x45, 0x45), (0x65, 0x65))), alternation(parts)]),) if parts else ()


@lru_cache(maxsize=16)
def _free_mantissa(cap: int | None) -> Node:
    return concat([NOT_ZERO, _optional(_free(cap)) or concat([])])


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
        add(one_digit(first, first), _between(low[1:], low_open, high[1:], high_open, cap))
    else:
        if low is not None:
            add(one_digit(first, first), _at_least(low[1:], low_open, cap))
            first += 1
        if high is not None:
            add(one_digit(last, last), _at_most(high[1:], high_open, cap))
            last -= 1
        if first <= last:
            add(one_digit(first, last), _free(cap))
    return alternation(options) if options else None


def _unbounded(cap: int) -> Node:
    """Any number: any exponent of up to three digits."""
    whole = alternation([ZERO, concat([NOT_ZERO, *run(DIGIT, 0, cap - 1)])])
    exponent = concat([CharSet(((0x45, 0x45), (0x65, 0x65))), Repeat(CharSet(((0x2B, 0x2B), (0x2D, 0x2D))), 0, 1),
                       Repeat(DIGIT, 1, 3)])
    fraction = concat([_POINT, Repeat(DIGIT, 1, cap)])
    return concat([Repeat(_MINUS, 0, 1), whole, Repeat(fraction, 0, 1), Repeat(exponent, 0, 1)])
