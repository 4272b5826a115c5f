r"""The texts of numbers that are whole multiples of a decimal, as an automaton that counts by remainder.

With ``step = P / 10**s`` (P whole), the digits of a number up to the s-th behind the point, read as one whole number,
must leave no remainder by P; digits after that must be 0. A mantissa of one digit before the point may get an
exponent E: with f digits behind the point, M all its digits, the number is ``M * 10**(E - f)``, a multiple exactly
if P divides ``M * 10**(E - f + s)``; whether it does depends on E only while ``E - f + s`` is small.

So behind the s-th digit a mantissa is read by fewer remainders: with P = R * m, R prime to ten, the factors of m that
ten to the least shift to come makes up for need not be counted (``modulus``); in most places R alone is left.

Right for the texts of ``_canonical`` (and so only used together with it): numbers without exponent, and mantissas that
do not end in 0 with an exponent of ``EXPONENTS``. Cost: P states for whole numbers, some 20 R with exponents, of which
few are left when they are joined; about 1 us a state, once.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from math import gcd

from constrained.errors import GrammarLimitError
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

#: Exponents that may follow. After the e: bit v of the first for v, of the second for -v. Later: whether the text may
#: end, then bit v for v as one, as two and as three digits.
_Exponents = tuple[int, int] | tuple[int, int, int, int]
_BELOW_10, _BELOW_100 = (1 << 10) - 1, (1 << 100) - 1

#: A row's last columns, where no mark may follow.
_NOTHING = (DEAD,) * 5


class _Digits:
    """Where digits lead from remainders: to the states from ``start`` on, counted by ``modulus`` (or to ``states``)."""

    def __init__(self, start: int, modulus: int, states: tuple[int, ...] | None = None) -> None:
        self.modulus = modulus
        # Ten digits lead to ten remainders in a row.
        self.circle = (states or tuple(range(start, start + modulus))) * (9 // modulus + 2)

    def after(self, remainder: int) -> tuple[int, ...]:
        at = remainder * 10 % self.modulus
        return self.circle[at:at + 10]


_ENDED = _Digits(0, 1, (DEAD,))


@lru_cache(maxsize=256)
def multiples(step: Decimal, limits: Limits) -> Dfa:
    """The automaton for a positive ``step``. Raises GrammarLimitError (``max_dfa_states``)."""
    return _Multiples(step, limits).run()


class _Multiples:
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
        last = EXPONENTS[1][0]
        #: By what a mantissa with so many digits behind the point is counted.
        self.modulus = [
            self.size if digits < self.scale else self.size // gcd(
                self.size // rest, 10 ** min(last - digits + self.scale, self.steady))
            for digits in range(MANTISSA_DIGITS + 1)]
        #: The states of exponents.
        self.number: dict[_Exponents, int] = {}
        self.order: list[_Exponents] = []
        self.next = 0
        self.rows: list[tuple[int, ...]] = []
        self.accepting: list[int] = []

    def run(self) -> Dfa:
        size, scale, rows = self.size, self.scale, self.rows
        ones = range(1, 10) if size > 9 else range(size)  # what one digit, not 0, leaves
        zeros = 1 + size + len(ones)
        tails = zeros + 1
        layers: list[tuple[int, int, range]] = []  # of mantissas: first state, modulus, remainders
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
        # The start, whole numbers, a single digit, zeros behind the point.
        rows.append((1, *[1 + size + ones.index(digit % size) for digit in range(1, 10)], 0, *_NOTHING[1:]))
        whole = _Digits(1, size)
        for remainder in range(size):
            point = tails + remainder if scale else DEAD if remainder else zeros
            rows.append((*whole.after(remainder), DEAD, point, DEAD, DEAD, DEAD))
        self.accepting += range(1, 1 + size, self.unit(0))
        start, modulus, kept = layers[0]
        for remainder in ones:
            good = remainder % self.unit(0) == 0
            point = start + len(kept) if good and not scale else start + kept.index(remainder % modulus)
            rows.append((*whole.after(remainder), DEAD, point, self.exponent(remainder, 0), DEAD, DEAD))
            if good:
                self.accepting.append(len(rows) - 1)
        rows.append((zeros, *[DEAD] * 9, *_NOTHING))
        self.accepting.append(zeros)
        # Digits behind the point of a number that gets no exponent.
        for digits in range(scale):
            start = tails + size * digits
            behind = self.beyond(digits + 1, tails, zeros)
            rows += [(*behind.after(remainder), *_NOTHING) for remainder in range(size)]
            self.accepting += range(start, start + size, self.unit(digits))
        for digits in range(MANTISSA_DIGITS + 1):
            self.mantissas(digits, layers, tails, zeros)
        for exponents in self.order:  # grows meanwhile
            following, ends = _after_letter(exponents)
            row = [DEAD] * _WIDTH
            for letter, rest in following:
                row[letter] = self.place(rest)
            if ends:
                self.accepting.append(len(rows))
            rows.append(tuple(row))
        return minimise(Dfa(_CLASSES, tuple(rows), frozenset(self.accepting)))

    def mantissas(self, digits: int, layers: list[tuple[int, int, range]], tails: int, zeros: int) -> None:
        """The states of a mantissa with so many digits behind the point."""
        start, _, remainders = layers[digits]
        scale = self.scale
        told = digits <= scale and scale > 0  # the remainder says whether it is a multiple as it stands
        if digits < MANTISSA_DIGITS:
            target, modulus, kept = layers[digits + 1]
            following = _Digits(target - kept.start, modulus)
            good = target + len(kept)
        else:  # too long for an exponent: only a number without one is left
            following = self.beyond(digits + 1, tails, zeros) if digits < scale else _ENDED
            good = zeros
        circle, modulus, rest = following.circle, following.modulus, self.rest
        for remainder in remainders:
            at = remainder * 10 % modulus
            if digits and remainder % rest == 0:
                marks = (DEAD, DEAD, self.exponent(remainder, digits), DEAD, DEAD)
                self.rows.append(circle[at:at + 10] + marks)
            else:
                self.rows.append(circle[at:at + 10] + _NOTHING)
        if told:
            unit = self.unit(digits)
            self.accepting += [start + index for index, remainder in enumerate(remainders) if remainder % unit == 0]
        if digits >= scale:  # only zeros leave a multiple what it is
            row = (good, *following.after(0)[1:], *_NOTHING[:2], self.exponent(0, digits) if digits else DEAD,
                   *_NOTHING[:2])
            if told:
                if remainders.start == 0:
                    self.rows[start] = row
            else:
                self.accepting.append(len(self.rows))
                self.rows.append(row)

    def beyond(self, digits: int, tails: int, zeros: int) -> _Digits:
        """The states of a number without exponent after ``digits`` behind the point."""
        if digits < self.scale:
            return _Digits(tails + self.size * digits, self.size)
        return _Digits(0, self.size, (zeros, *[DEAD] * (self.size - 1)))

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
        if self.next > self.limits.max_dfa_states:
            raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                    "the remainders of a multiple take too many states")

    def exponent(self, remainder: int, digits: int) -> int:
        """The state after an ``e``."""
        exponents = self.exponents(remainder, digits)
        return self.place(exponents) if any(exponents) else DEAD

    def exponents(self, remainder: int, digits: int) -> tuple[int, int]:
        """The exponents that make a multiple: bit v for v, and for -v."""
        if remainder % self.rest:
            return 0, 0
        behind = digits - self.scale
        steady = self.steady + behind  # from this exponent on all are alike
        further = remainder * 10**self.steady % self.size == 0
        found = []
        for first, last in EXPONENTS:
            start = max(first, steady)
            few = [value for value in range(max(first, behind), min(last + 1, steady))
                   if remainder * 10 ** (value - behind) % self.size == 0]
            if first < 0:
                bits = (2 << -start) - (1 << -last) if further and start <= last else 0
            else:
                bits = (2 << last) - (1 << start) if further and start <= last else 0
            for value in few:
                bits |= 1 << abs(value)
            found.append(bits)
        negative, positive = found
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
