"""The JSON texts of the numbers of a shape: by a tree (``number_trees``) where it is an interval, by automata where it
is more.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.digits import DIGIT, NOT_ZERO, ZERO, exponents
from constrained.frontends.json_schema.format_data import NUMBERS
from constrained.frontends.json_schema.format_tables import unpacked
from constrained.frontends.json_schema.multiples import EXPONENTS, MANTISSA_DIGITS, multiples
from constrained.frontends.json_schema.multiples_fast import multiple_expression
from constrained.frontends.json_schema.multiples_lazy import lazy_multiples
from constrained.frontends.json_schema.number_trees import number_tree, scientific_numbers, unbounded_tree
from constrained.frontends.json_schema.numbers import NumberShape, common_multiple, is_multiple
from constrained.frontends.plain_trees import plain_expression
from constrained.frontends.regex import byte_dfa
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

_POINT = Text(".")
_MINUS = Text("-")


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
        is_any = shape.lower is None and shape.upper is None and not shape.integer
        tree = unbounded_tree(digits) if is_any else number_tree(shape, digits, integer_as_float)
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
                            scientific_numbers(low, low_open, high, high_open, MANTISSA_DIGITS, EXPONENTS[1:])]
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
