r"""The texts of numbers that are whole multiples of a decimal, as an automaton that counts by remainder.

With ``step = P / 10**s`` (P whole), the digits of a number up to the s-th behind the point, read as one whole number,
must leave no remainder by P; digits after that must be 0. A mantissa of one digit before the point may get an
exponent E: with f digits behind the point, M all its digits, the number is ``M * 10**(E - f)``, a multiple exactly
if P divides ``M * 10**(E - f + s)``; whether it does depends on E only while ``E - f + s`` is small.

So behind the s-th digit a mantissa is read by fewer remainders: with P = R * m, R prime to ten, the factors of m that
ten to the least shift to come makes up for need not be counted (``modulus``); in most places R alone is left.

Right for the texts of ``_canonical`` (and so only used together with it): numbers without exponent, and mantissas that
do not end in 0 with an exponent of ``EXPONENTS``. Cost: P states for whole numbers, some 20 R with exponents, of which
few are left when they are joined; about 0.2 us a state, once.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from math import gcd

from constrained.errors import GrammarLimitError
from constrained.kernel.dfa_tables import Table
from constrained.kernel.digit_blocks import add_row, blank_table, lead, lead_digits, lead_ends
from constrained.limits import Limits
from constrained.regex.charset import complement, normalise
from constrained.regex.dfa import DEAD, Dfa, minimise

__all__ = ["multiples"]

#: Exponents that ``repr`` of a float writes, and the digits behind the point of a mantissa, at most.
EXPONENTS = ((-324, -5), (16, 308))
MANTISSA_DIGITS = 16

_DIGITS = [((0x30 + digit, 0x30 + digit),) for digit in range(10)]
_MARKS = [((0x2D, 0x2D),), ((0x2E, 0x2E),), ((0x45, 0x45), (0x65, 0x65)), ((0x2B, 0x2B),)]
_CLASSES = (*_DIGITS, *_MARKS, complement(normalise(pair for ranges in [*_DIGITS, *_MARKS] for pair in ranges)))
_LETTER = {**{str(digit): digit for digit in range(10)}, "-": 10, ".": 11, "e": 12, "+": 13}
_WIDTH = len(_CLASSES)
_POINT, _E = _LETTER["."], _LETTER["e"]

#: Exponents that may follow. After the e: bit v of the first for v, of the second for -v. Later: whether the text may
#: end, then bit v for v as one, as two and as three digits.
_Exponents = tuple[int, int] | tuple[int, int, int, int]
_BELOW_10, _BELOW_100 = (1 << 10) - 1, (1 << 100) - 1

#: Of mantissas with so many digits behind the point: the first state, what they are counted by, the remainders.
_Layer = tuple[int, int, range]
#: States, whatever the limit: times the classes they must stay below 2**31.
_MOST = 1 << 26


@lru_cache(maxsize=256)
def multiples(step: Decimal, limits: Limits) -> Dfa:
    """The automaton for a positive ``step``. Raises GrammarLimitError (``max_dfa_states``)."""
    return _Multiples(step, limits).run()


class _Multiples:
    """The table under way. States, in order: the start, whole numbers by remainder, a single digit (not 0), zeros
    behind the point, places behind the point of a number that gets no exponent, mantissas by places, exponents."""

    def __init__(self, step: Decimal, limits: Limits) -> None:
        _, digits, exponent = step.as_tuple()
        assert isinstance(exponent, int)
        self.limits = limits
        whole = int(Decimal((0, digits, 0)))
        self.size: int = whole * 10 ** max(exponent, 0)
        self.scale = max(-exponent, 0)
        if self.size > limits.max_dfa_states or self.scale > limits.max_dfa_states:
            raise GrammarLimitError("max_dfa_states", limits.max_dfa_states,
                                    "a multiple is counted by remainder, and this one has too many")
        twos = fives = 0
        rest = self.size
        while rest % 2 == 0:
            rest, twos = rest // 2, twos + 1
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        #: The part of the step that is prime to ten.
        self.rest = rest
        #: From this many zeros at the end on, more of them change nothing.
        self.steady = max(twos, fives)
        #: How many zeros each part of ``size // rest`` asks for.
        self.zeros_for: dict[int, int] = {}
        last = EXPONENTS[1][0]
        #: By what a mantissa with so many digits behind the point is counted.
        self.modulus = [
            self.size if digits < self.scale else self.size // gcd(
                self.size // rest, 10 ** min(last - digits + self.scale, self.steady))
            for digits in range(MANTISSA_DIGITS + 1)]
        #: The state after an ``e``, by the least exponent.
        self.letters: dict[int, int] = {}
        #: The states of exponents.
        self.number: dict[_Exponents, int] = {}
        self.order: list[_Exponents] = []
        self.next = 0
        self.accepting: list[int] = []

    def run(self) -> Dfa:
        size, scale = self.size, self.scale
        ones = range(1, 10) if size > 9 else range(size)  # what one digit, not 0, leaves
        zeros = 1 + size + len(ones)
        tails = zeros + 1
        layers: list[_Layer] = []
        total, few = tails + size * scale, True
        for digits in range(MANTISSA_DIGITS + 1):
            modulus = size if digits <= scale and scale else self.modulus[digits]
            least = 10**digits
            few = few and 10 * least <= modulus
            layers.append((total, modulus, range(least, 10 * least) if few else range(modulus)))
            # One more for the digits that are a multiple as they stand, where the remainder does not say it.
            total += len(layers[-1][2]) + (digits > scale or not scale)
        self.next = total  # the states of exponents follow
        self.check()
        table = blank_table(total, _WIDTH)
        lead(table, 0, 0, 1)
        for digit in range(1, 10):
            lead(table, 0, digit, 1 + size + ones.index(digit % size))
        lead(table, 0, _LETTER["-"], 0)
        lead_digits(table, 1, 0, size, 1, size)
        for remainder in range(size if scale else 1):
            lead(table, 1 + remainder, _POINT, tails + remainder if scale else zeros)
        self.accepting += range(1, 1 + size, self.unit(0))
        start, modulus, kept = layers[0]
        lead_digits(table, 1 + size, ones.start, len(ones), 1, size)
        for state, remainder in enumerate(ones, 1 + size):
            good = remainder % self.unit(0) == 0
            point = start + len(kept) if good and not scale else start + kept.index(remainder % modulus)
            lead(table, state, _POINT, point)
            lead(table, state, _E, self.exponent(remainder, 0))
            if good:
                self.accepting.append(state)
        lead(table, zeros, 0, zeros)
        self.accepting.append(zeros)
        # Digits behind the point of a number that gets no exponent.
        for digits in range(scale):
            self.tail(table, tails + size * digits, range(size), digits + 1, tails, zeros)
            self.accepting += range(tails + size * digits, tails + size * (digits + 1), self.unit(digits))
        for digits in range(MANTISSA_DIGITS + 1):
            self.mantissas(table, digits, layers, tails, zeros)
        for exponents in self.order:  # grows meanwhile
            following, ends = _after_letter(exponents)
            row = [DEAD] * _WIDTH
            for letter, rest in following:
                row[letter] = self.place(rest)
            if ends:
                self.accepting.append(table.states())
            add_row(table, row)
        return minimise(Dfa(_CLASSES, table, frozenset(self.accepting)))
    def mantissas(self, table: Table, digits: int, layers: list[_Layer], tails: int, zeros: int) -> None:
        """The states of a mantissa with so many digits behind the point."""
        start, _, remainders = layers[digits]
        scale, rest = self.scale, self.rest
        told = digits <= scale and scale > 0  # the remainder says whether it is a multiple as it stands
        to, modulus, good = 0, 0, zeros
        if digits < MANTISSA_DIGITS:
            target, modulus, kept = layers[digits + 1]
            to, good = target - kept.start, target + len(kept)
            lead_digits(table, start, remainders.start, len(remainders), to, modulus)
        elif digits < scale:  # too long for an exponent: only a number without one is left
            self.tail(table, start, remainders, digits + 1, tails, zeros)
        if digits:
            for index in range(-remainders.start % rest, len(remainders), rest):
                lead(table, start + index, _E, self.exponent(remainders[index], digits))
        if told:
            unit = self.unit(digits)
            self.accepting += range(start + -remainders.start % unit, start + len(remainders), unit)
        if digits >= scale and (not told or remainders.start == 0):  # only zeros leave a multiple what it is
            row = start if told else start + len(remainders)
            if not told:
                self.accepting.append(row)
            if modulus:
                lead_digits(table, row, 0, 1, to, modulus)
            lead(table, row, 0, good)
            lead(table, row, _E, self.exponent(0, digits) if digits else DEAD)

    def tail(self, table: Table, row: int, remainders: range, digits: int, tails: int, zeros: int) -> None:
        """Rows that lead to numbers without exponent with ``digits`` behind the point."""
        if digits < self.scale:
            lead_digits(table, row, remainders.start, len(remainders), tails + self.size * digits, self.size)
        else:
            lead_ends(table, row, remainders.start, len(remainders), zeros, self.size)

    def unit(self, digits: int) -> int:
        """What the remainders of multiples as they stand are multiples of, with ``digits`` behind the point."""
        return self.size // gcd(self.size, 10 ** (self.scale - digits))

    def place(self, exponents: _Exponents) -> int:
        found = self.number.get(exponents)
        if found is None:
            found = self.number[exponents] = self.next
            self.order.append(exponents)
            self.next += 1
            self.check()
        return found

    def check(self) -> None:
        if self.next > min(self.limits.max_dfa_states, _MOST):
            raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                    "the remainders of a multiple take too many states")

    def exponent(self, remainder: int, digits: int) -> int:
        """The state after an ``e``."""
        if remainder % self.rest:
            return DEAD
        least = self.zeros(remainder) + digits - self.scale
        state = self.letters.get(least)
        if state is None:
            exponents = _from(least)
            state = self.letters[least] = self.place(exponents) if any(exponents) else DEAD
        return state

    def zeros(self, remainder: int) -> int:
        """How many zeros behind a multiple of ``rest`` make a multiple of ``size`` of it."""
        part = self.size // gcd(self.size, remainder)
        found = self.zeros_for.get(part)
        if found is None:
            found = 0
            while 10**found % part:
                found += 1
            self.zeros_for[part] = found
        return found


def _from(least: int) -> tuple[int, int]:
    """The exponents from ``least`` on: bit v for v, and for -v."""
    (below, above), (first, last) = EXPONENTS
    positive = (2 << last) - (1 << max(first, least)) if least <= last else 0
    negative = (2 << -max(below, least)) - (1 << -above) if least <= above else 0
    return positive, negative


@lru_cache(maxsize=1024)
def _after_letter(exponents: _Exponents) -> tuple[tuple[tuple[int, _Exponents], ...], bool]:
    """What follows each letter, and whether the text may end."""
    found: list[tuple[int, _Exponents]] = []
    if len(exponents) == 2:
        positive, negative = exponents
        # A negative one below ten may be written with two digits, too: -05.
        minus = (0, negative & _BELOW_10, negative & _BELOW_100, negative & ~_BELOW_100)
        exponents = (0, 0, positive & _BELOW_100, positive & ~_BELOW_100)
        if negative:
            found.append((_LETTER["-"], minus))
        if positive:
            found.append((_LETTER["+"], exponents))
    ends, ones, tens, hundreds = exponents
    for digit in range(10):
        rest = (ones >> digit & 1, tens >> 10 * digit & _BELOW_10, hundreds >> 100 * digit & _BELOW_100, 0)
        if any(rest):
            found.append((digit, rest))
    return tuple(found), bool(ends)
