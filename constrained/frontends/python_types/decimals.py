"""Decimals, fractions and complex numbers: as JSON numbers where that is exact, and as strings.

``str(Decimal)`` writes digits, or one digit, a fraction and ``E`` with a sign (exponent above 0, or a number below
1e-6). Pydantic counts digits of the *normalised* value: zeros at the end do not count. With D = ``max_digits`` and
P = ``decimal_places`` a value passes if its decimals are at most P and D, its digits at most D, and the digits before
the point at most D - P. A JSON number with a point is read through a double, so it is offered with at most 15 digits,
which a double keeps; whole numbers are exact at any length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from constrained.frontends.json_schema.number_texts import number_dfa, number_tree
from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import Language, StringShape
from constrained.frontends.python_types.languages import language, tree_language
from constrained.frontends.regex import byte_dfa
from constrained.grammar.ir import Expr
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex.builder import alternation
from constrained.regex.determinise import determinise
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import simplify

__all__ = ["SpelledNumber", "complex_shapes", "decimal_shapes", "fraction_shapes"]

_LIMITS = Limits()
#: Decimal digits that a double keeps.
_EXACT = 15
_SHORT = "-?(?:" + "|".join([*(f"[1-9][0-9]{{{i - 1}}}\\.[0-9]{{1,{_EXACT - i}}}" for i in range(1, _EXACT)),
                             f"0\\.[0-9]{{1,{_EXACT}}}"]) + ")"
#: Digits of the context in which Pydantic takes a remainder.
_CONTEXT = 28
#: Exponents where numbers are bounded.
_EXPONENTS = ((-999, -7), (1, 999))
_ZEROS = simplify(parse_python("-?0E[-+][0-9]{1,9}"))
#: Where digits and bounds are asked for both: digits of a number without ``max_digits``, and zeros at its end.
_FEWER_DIGITS = 100
_FEWER_ZEROS = 12
#: Digits of an exponent; Python's decimals end at 18.
_EXPONENT = "[0-9]{1,9}"


@dataclass(slots=True, unsafe_hash=True)
class SpelledNumber(NumberShape):
    """Numbers with spellings of their own, as an automaton: the other fields say nothing."""

    language: Language = field(kw_only=True)

    def intersect(self, other: NumberShape) -> NumberShape | None:
        """Those of both. Raises GrammarLimitError."""
        if other is self or other.is_any():
            return self
        if isinstance(other, SpelledNumber):
            name, more = other.language.name, other.language.dfa(_LIMITS)
        elif other.values is not None:
            name, more = f"numbers {other.values}", _texts_of(other.values)
        else:
            name, more = f"numbers {other}", number_dfa(other, True, _LIMITS)
        dfa = automata.minimise(automata.intersection(self.language.dfa(_LIMITS), more, _LIMITS))
        name = f"{self.language.name} and {name}"
        return SpelledNumber(language=Language(name, None, dfa)) if dfa.accepting else None

    def exclude_values(self, values: Iterable[Decimal | int]) -> NumberShape:
        """Those that are none of ``values``. Raises GrammarLimitError."""
        return self.intersect(ANY_NUMBER.exclude_values(values)) or NumberShape.of_values(())

    def complement(self) -> list[NumberShape]:
        """Raises NotEnforced: a number that has no such spelling is not told by its digits."""
        raise NotEnforced("what is no Decimal", "say what is meant instead")

    def contains(self, number: Decimal | int) -> bool:
        """Whether one of the spellings is of ``number``."""
        return not automata.is_empty(automata.intersection(self.language.dfa(_LIMITS), _texts_of((number,)), _LIMITS))

    def is_any(self) -> bool:
        """Never."""
        return False

    def is_empty(self) -> bool:
        """Whether there is no spelling."""
        return automata.is_empty(self.language.dfa(_LIMITS))

    def enumerated(self, most: int) -> tuple[Decimal, ...] | None:
        """None: not at hand."""
        return None

    def to_expr(self, policy: TextPolicy, limits: Limits = _LIMITS) -> Expr:
        """The texts of the automaton."""
        return _number_expression(self.language)


def _texts_of(values: Iterable[Decimal | int]) -> automata.Dfa:
    """All spellings of ``values``."""
    trees = (number_tree(NumberShape.of_bounds(value, value), None, True) for value in values)
    return determinise(alternation([tree for tree in trees if tree is not None]), _LIMITS)


@lru_cache(maxsize=512)
def _number_expression(found: Language) -> Expr:
    return byte_dfa(found.dfa(_LIMITS), _LIMITS)


def decimal_shapes(schema: Mapping[str, Any], cap: int) -> tuple[list[NumberShape], list[StringShape]]:
    """The numbers and the strings of a core schema of type ``decimal``; ``cap``: digits in one run."""
    digits, places = schema.get("max_digits"), schema.get("decimal_places")
    bounds: NumberShape | None = NumberShape()
    for name in ("ge", "gt", "le", "lt"):
        value = schema.get(name)
        if value is not None and bounds is not None:
            bound = Decimal(str(value))
            if not bound.is_finite():
                raise NotEnforced(f"a bound of {bound}", "bound it by a finite number")
            if name[0] == "g":
                bounds = bounds.intersect(NumberShape.of_bounds(bound, None, lower_open=name == "gt"))
            else:
                bounds = bounds.intersect(NumberShape.of_bounds(None, bound, upper_open=name == "lt"))
    step = schema.get("multiple_of")
    if step is not None and bounds is not None:
        bounds = bounds.intersect(_few_digits(abs(Decimal(str(step)))))
    if bounds is None:
        return [], []
    free = digits is None and places is None and bounds == NumberShape()
    shapes = [StringShape(languages=(_strings(digits, places, bounds, cap),))]
    if free and schema.get("allow_inf_nan"):
        shapes.append(StringShape.of_values(["NaN", "Infinity", "-Infinity"]))
    return _numbers(digits, places, bounds), shapes


def _few_digits(step: Decimal) -> NumberShape:
    """Multiples whose quotient by ``step`` fits the context: Pydantic refuses others."""
    most = step.scaleb(_CONTEXT - 1)
    found = NumberShape.of_multiples(step).intersect(NumberShape.of_bounds(-most, most))
    assert found is not None
    return found


@lru_cache(maxsize=512)
def _numbers(digits: int | None, places: int | None, bounds: NumberShape) -> list[NumberShape]:
    """Whole numbers, and numbers with a point of few digits."""
    if digits is not None and places is not None and digits <= places:
        bounds = bounds.exclude_values([0])  # a zero that is no text is normalised, and has one digit too many
    found: list[NumberShape] = []
    most = digits if digits is None or places is None else max(digits - places, 0)
    whole = bounds.intersect(ANY_INTEGER)
    if whole is not None and most is not None:
        whole = whole.intersect(NumberShape.of_bounds(-(10**most) + 1, 10**most - 1)) if most else None
    if whole is not None:
        found.append(whole)
    dfa = language("15 digits", _SHORT).dfa(_LIMITS)
    if digits is not None or places is not None:
        body = _digits_pattern(digits, places, _EXACT + 1, _EXACT, exponents=False)
        dfa = automata.intersection(dfa, language(f"plain {digits} {places}", f"-?(?:{body})").dfa(_LIMITS), _LIMITS)
    if bounds != NumberShape():
        dfa = automata.intersection(dfa, number_dfa(bounds, True, _LIMITS), _LIMITS)
    if dfa.accepting:
        found.append(SpelledNumber(language=Language("decimal", None, automata.minimise(dfa))))
    return found


@lru_cache(maxsize=512)
def _strings(digits: int | None, places: int | None, bounds: NumberShape, cap: int) -> Language:
    limited = digits is not None or places is not None
    if bounds == NumberShape():
        body = _digits_pattern(digits, places, cap, cap, exponents=True)
        return language(f"decimal {digits} {places} {cap}", f"-?(?:{body})")
    if bounds.multiple_of is not None:
        dfa = number_dfa(bounds, True, _LIMITS)
        if bounds.contains(0):
            dfa = automata.union(dfa, tree_language("zeros", _ZEROS).dfa(_LIMITS), _LIMITS)
    else:
        tree = number_tree(bounds, None if limited else cap, True, _EXPONENTS)
        assert tree is not None
        if bounds.contains(0):  # a zero may have an exponent, too
            tree = alternation([tree, _ZEROS])
        if not limited:
            return tree_language(f"decimal {bounds}", tree)
        dfa = determinise(tree, _LIMITS)
    if limited:
        body = _digits_pattern(digits, places, min(cap, _FEWER_DIGITS), min(cap, _FEWER_ZEROS), exponents=True)
        dfa = automata.intersection(dfa, language(f"decimal {digits} {places}", f"-?(?:{body})").dfa(_LIMITS), _LIMITS)
    return Language(f"decimal {digits} {places} {bounds}", None, automata.minimise(dfa))


def _digits_pattern(digits: int | None, places: int | None, cap: int, zeros: int, *, exponents: bool) -> str:
    """Texts without sign of the decimals of so many digits, and up to ``zeros`` more at the end of a fraction."""
    whole = digits if digits is None or places is None else max(digits - places, 0)
    behind = places if digits is None else digits if places is None else min(digits, places)
    options: list[str] = []
    if whole != 0:
        options.append(_with_fraction("0", behind, cap, zeros))
    else:
        # before it is normalised a zero has no digit before the point if it has one behind it: that passes
        options.append(_with_fraction("0", behind, cap, zeros, needed=True))
    if whole is None or (digits is None and whole > 0):
        longest = cap - 1 if whole is None else whole - 1
        options.append(_with_fraction(f"[1-9][0-9]{{0,{longest}}}", behind, cap, zeros))
    else:
        for size in range(1, min(whole, cap) + 1):
            first = f"[1-9][0-9]{{{size - 1}}}" if size > 1 else "[1-9]"
            left = behind if digits is None or behind is None else min(behind, digits - size)
            options.append(_with_fraction(first, left, cap, zeros))
    if exponents:
        options += _exponents(whole, behind, cap, zeros)
    return "|".join(options)


def _with_fraction(first: str, places: int | None, cap: int, zeros: int, *, needed: bool = False) -> str:
    """``first`` and a fraction of ``places`` digits and zeros."""
    if places is None:
        tail = rf"\.[0-9]{{1,{cap}}}"
    elif places == 0:
        tail = rf"\.0{{1,{zeros}}}"
    else:
        tail = rf"\.(?:[0-9]{{1,{places}}}0{{0,{zeros}}}|0{{1,{zeros}}})"
    return f"{first}{tail}" if needed else f"{first}(?:{tail})?"


def _exponents(whole: int | None, behind: int | None, cap: int, zeros: int) -> list[str]:
    """``d.dddE+e`` and ``d.dddE-e`` as ``str`` writes them."""
    if whole is None and behind is None:
        return [rf"[0-9](?:\.[0-9]{{1,{cap}}})?E[-+]{_EXPONENT}"]
    # of 0E-0 the zero stands before the point
    found = [rf"0E[-+]{_EXPONENT}" if whole != 0 else "0E-[1-9][0-9]{0,8}"]
    # a positive exponent is above the digits of the fraction, so that nothing is left behind the point
    if whole is None:
        found += [rf"[1-9](?:\.[0-9]{{1,{e - 1}}})?E\+{e}" if e > 1 else r"[1-9]E\+1" for e in range(1, 30)]
        found.append(r"[1-9](?:\.[0-9]{1,29})?E\+(?:[3-9][0-9]|[1-9][0-9]{2,8})")
    else:
        found += [rf"[1-9](?:\.[0-9]{{1,{e - 1}}})?E\+{e}" if e > 1 else r"[1-9]E\+1"
                  for e in range(1, min(whole, cap))]
    if behind is None:
        found.append(rf"[1-9](?:\.[0-9]{{1,{cap}}})?E-(?:[7-9]|[1-9][0-9]{{1,8}})")
    else:
        for e in range(7, min(behind, cap) + 1):
            fraction = rf"(?:\.(?:[0-9]{{1,{behind - e}}}0{{0,{zeros}}}|0{{1,{zeros}}}))?" if behind > e else ""
            found.append(rf"[1-9]{fraction or rf'(?:[.]0{{1,{zeros}}})?'}E-{e}")
    return found


def fraction_shapes(cap: int) -> list[StringShape]:
    """``numerator/denominator``, or a whole number."""
    number = f"(?:0|[1-9][0-9]{{0,{cap - 1}}})"
    return [StringShape(languages=(language(f"fraction {cap}", f"-?{number}(?:/[1-9][0-9]{{0,{cap - 1}}})?"),))]


def complex_shapes(cap: int) -> list[StringShape]:
    """``1+2j`` and ``2j``, of finite parts."""
    digits = min(cap, 300)
    exponent = "e[-+]?(?:[0-9]{1,2}|[12][0-9]{2}|30[0-7])"
    part = (rf"(?:[0-9](?:\.[0-9]{{1,{digits}}})?{exponent}"
            rf"|(?:0|[1-9][0-9]{{0,{digits - 1}}})(?:\.[0-9]{{1,{digits}}})?)")
    return [StringShape(languages=(language(f"complex {cap}", f"-?{part}j|-?{part}[-+]{part}j"),))]
