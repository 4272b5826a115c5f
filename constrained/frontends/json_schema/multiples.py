r"""The texts of numbers that are whole multiples of a decimal, as an automaton that counts by remainder.

With ``step = P / 10**s`` (P whole), the digits of a number up to the s-th behind the point, read as one whole number,
must leave no remainder by P; digits after that must be 0. A mantissa of one digit before the point may get an
exponent E: with f digits behind the point, M all its digits, the number is ``M * 10**(E - f)``, a multiple exactly
if P divides ``M * 10**(E - f + s)``; whether it does depends on E only while ``E - f + s`` is small.

So behind the s-th digit a mantissa is read by fewer remainders: with P = R * m, R prime to ten, the factors of m that
ten to the least shift to come makes up for need not be counted (``modulus``); in most places R alone is left.

Right for the texts of ``_canonical`` (and so only used together with it): numbers without exponent, and mantissas that
do not end in 0 with an exponent of ``EXPONENTS``. Cost: P states for whole numbers, some 20 R with exponents, of which
few are left when they are joined; about 5 us a state, once.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache, lru_cache
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

#: ("start",), ("whole", remainder), ("one", remainder), ("tail", remainder, digits), ("mantissa", remainder, digits,
#: whether it is a multiple as it stands), ("zeros",), ("exponent", texts that may follow).
_State = tuple[object, ...]


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
        self.size = whole * 10 ** max(exponent, 0)
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
        #: From this many zeros at the end on, more of them change nothing.
        self.steady = max(twos, fives)
        last = EXPONENTS[1][0]
        #: By what a mantissa with so many digits behind the point is counted.
        self.modulus = [
            self.size if digits < self.scale else self.size // gcd(
                self.size // rest, 10 ** min(last - digits + self.scale, self.steady))
            for digits in range(MANTISSA_DIGITS + 1)]
        self.number: dict[_State, int] = {}
        self.order: list[_State] = []

    def place(self, state: _State) -> int:
        found = self.number.get(state)
        if found is None:
            found = self.number[state] = len(self.order)
            self.order.append(state)
            if found >= self.limits.max_dfa_states:
                raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                        "the remainders of a multiple take too many states")
        return found

    def run(self) -> Dfa:
        self.place(("start",))
        rows: list[tuple[int, ...]] = []
        accepting: list[int] = []
        for index, state in enumerate(self.order):
            row = [DEAD] * _WIDTH
            if self.expand(state, row):
                accepting.append(index)
            rows.append(tuple(row))
        return minimise(Dfa(_CLASSES, tuple(rows), frozenset(accepting)))

    def expand(self, state: _State, row: list[int]) -> bool:
        """Fills the row of ``state`` and says whether it accepts."""
        kind, size, place = state[0], self.size, self.place
        if kind == "start":
            row[_LETTER["-"]] = 0
            row[0] = place(("whole", 0))
            for digit in range(1, 10):
                row[digit] = place(("one", digit % size))
            return False
        if kind == "zeros":
            row[0] = self.number[state]
            return True
        if kind == "exponent":
            texts = state[1]
            assert isinstance(texts, frozenset)
            by_letter: dict[str, set[str]] = {}
            for text in texts:
                if text:
                    by_letter.setdefault(text[0], set()).add(text[1:])
            for letter, rest in by_letter.items():
                row[_LETTER[letter]] = place(("exponent", frozenset(rest)))
            return "" in texts
        remainder = state[1]
        assert isinstance(remainder, int)
        if kind in ("whole", "one"):
            for digit in range(10):
                row[digit] = place(("whole", (remainder * 10 + digit) % size))
            if kind == "one":
                row[_LETTER["."]] = place(("mantissa", remainder % self.modulus[0], 0, self.is_multiple(remainder, 0)))
                self.exponent(remainder, 0, row)
            else:
                row[_LETTER["."]] = place(("tail", remainder, 0))
            return self.is_multiple(remainder, 0)
        digits = state[2]
        assert isinstance(digits, int)
        if kind == "tail":
            if digits == self.scale:
                if remainder:
                    return False
                row[0] = place(("zeros",))
                return True
            for digit in range(10):
                row[digit] = place(("tail", (remainder * 10 + digit) % size, digits + 1))
            return self.is_multiple(remainder, digits)
        good = bool(state[3])
        if digits < MANTISSA_DIGITS:
            modulus = size if digits < self.scale else self.modulus[digits + 1]
            number = self.number
            for digit in range(10):
                after = (remainder * 10 + digit) % modulus
                still = self.is_multiple(after, digits + 1) if digits < self.scale else good and digit == 0
                following = ("mantissa", after, digits + 1, still)
                known = number.get(following)  # nearly always
                row[digit] = place(following) if known is None else known
        else:  # too long for an exponent: only a number without one is left
            for digit in range(10):
                if digits < self.scale:
                    row[digit] = place(("tail", (remainder * 10 + digit) % size, digits + 1))
                elif good and digit == 0:
                    row[0] = place(("zeros",))
        if digits:
            self.exponent(remainder, digits, row)
        return good

    def is_multiple(self, remainder: int, digits: int) -> bool:
        """Whether a number with that remainder so far and ``digits`` behind the point is one as it stands."""
        zeros: int = 10 ** (self.scale - digits)
        return bool(remainder * zeros % self.size == 0)

    def exponent(self, remainder: int, digits: int, row: list[int]) -> None:
        texts = _exponent_texts(*self.exponents(remainder, digits))
        if texts:
            row[_LETTER["e"]] = self.place(("exponent", texts))

    def exponents(self, remainder: int, digits: int) -> tuple[tuple[int, ...], int, bool]:
        """The exponents that make a multiple: those below some one, that one, and whether all from it on do."""
        behind = digits - self.scale
        steady = self.steady + behind  # from this exponent on all are alike
        few = []
        for first, last in EXPONENTS:
            for value in range(max(first, behind), min(last + 1, steady)):
                if remainder * 10 ** (value - behind) % self.size == 0:
                    few.append(value)
        return tuple(few), max(steady, EXPONENTS[0][0]), remainder * 10**self.steady % self.size == 0


@lru_cache(maxsize=1024)
def _exponent_texts(few: tuple[int, ...], steady: int, further: bool) -> frozenset[str]:
    """The spellings of exponents, as ``_Multiples.exponents`` says them."""
    spellings = _spellings()
    found: set[str] = set()
    for value in few:
        found.update(spellings[value])
    if further:
        for first, last in EXPONENTS:
            for value in range(max(first, steady), last + 1):
                found.update(spellings[value])
    return frozenset(found)


@cache
def _spellings() -> dict[int, tuple[str, str]]:
    """How each exponent is written."""
    return {value: (str(value), f"+{value}" if value >= 0 else f"-{-value:02d}")
            for first, last in EXPONENTS for value in range(first, last + 1)}
