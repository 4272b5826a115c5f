"""Number shapes against decimal arithmetic: algebra, and every text against the value it writes."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.number_texts import number_dfa, number_tree
from constrained.frontends.json_schema.numbers import (
    ANY_INTEGER,
    ANY_NUMBER,
    PLAIN_INTEGER,
    NumberShape,
    whole_interval,
)
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.grammar.ir import Expr, RuleSet
from constrained.limits import Limits
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa
from tests import oracles_regular

LIMITS = Limits()
POLICY = TextPolicy()

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")

#: Bounds that people write, and some that sit where something changes.
BOUNDS = st.one_of(
    st.integers(-1200, 1200).map(Decimal),
    st.decimals(-120, 120, places=2).map(lambda d: d + 0),
    st.sampled_from([Decimal(text) for text in (
        "0", "1", "-1", "0.5", "0.05", "0.099", "9.99", "10", "99.95", "100", "1e16", "1.5e16", "9.99e15",
        "123456789e9", "1e-5", "1.5e-7", "9.9e-5", "1e-4", "-1e20", "9223372036854775807", "0.1", "0.25")]),
)


@st.composite
def intervals(draw: st.DrawFn) -> NumberShape:
    lower = draw(st.none() | BOUNDS)
    upper = draw(st.none() | BOUNDS)
    if lower is not None and upper is not None and lower > upper:
        lower, upper = upper, lower
    return NumberShape.of_bounds(lower, upper, lower_open=draw(st.booleans()), upper_open=draw(st.booleans()),
                                 integer=draw(st.booleans()))


def near(shape: NumberShape, rng: random.Random) -> list[str]:
    """Texts around what the shape tells apart."""
    bounds = [bound for bound in (shape.lower, shape.upper) if bound is not None and abs(bound) < 10**30]
    places = [Decimal(0), *bounds, *sorted(shape.excluded)]
    texts = ["0", "-0", "0.0", "-0.0", "1", "10", "1e16", "1e+16", "1.5e-07", "1.0", "5e-324",
             "1.7976931348623157e+308"]
    for place in places:
        for step in ("0", "1", "-1", "0.1", "-0.1", "0.01", "-0.01", "0.005", "1e-20", "-1e-20", "7", "-90"):
            value = place + Decimal(step)
            texts += [f"{value:f}", f"{value:f}" + ("0" if "." in f"{value:f}" else ".0")]
            texts.append(json.dumps(float(value)))
            if value == value.to_integral_value():
                texts.append(json.dumps(int(value)))
    for _ in range(20):
        texts.append(json.dumps(rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 30)))
        texts.append(json.dumps(rng.randint(-(10 ** rng.randint(1, 25)), 10 ** rng.randint(1, 25))))
    return [text for text in texts if NUMBER.fullmatch(text)]


def is_canonical(text: str) -> bool:
    """Whether ``json.dumps`` of an int or a float writes it, or it has no exponent."""
    if "e" not in text:
        return True
    return json.dumps(float(text)) == text


def texts_of(shape: NumberShape) -> Dfa | None:
    tree = number_tree(shape, None, True)
    return None if tree is None else determinise(tree, LIMITS)


@given(intervals(), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
@example(NumberShape.of_bounds(Decimal("9223372036854775807"), integer=True), 0)
@example(NumberShape.of_bounds(Decimal("1e-5"), Decimal("1.5e-5"), lower_open=True), 0)
@example(NumberShape.of_bounds(0, 0), 0)
@example(NumberShape.of_bounds(Decimal("1e308")), 0)
@example(NumberShape.of_bounds(-5, 0, upper_open=True), 0)
def test_texts_of_an_interval(shape: NumberShape, seed: int) -> None:
    dfa = texts_of(shape)
    assert (dfa is None or not dfa.accepting) == shape.is_empty()
    for text in near(shape, random.Random(seed)):
        accepted = dfa is not None and dfa.accepts(text)
        member = shape.contains(Decimal(text))
        assert member or not accepted, text
        if is_canonical(text):
            assert accepted == member, text


STEPS = st.sampled_from([Decimal(text) for text in ("1", "2", "3", "5", "7", "10", "0.1", "0.01", "0.05", "2.5", "1.5",
                                                    "12", "100", "0.25", "1e-7", "0.3")])


@st.composite
def conjunctions(draw: st.DrawFn) -> NumberShape | None:
    found: NumberShape | None = draw(intervals())
    parts = [NumberShape.of_multiples(step) for step in draw(st.lists(STEPS, max_size=1))]
    parts += [NumberShape.of_multiples(step).complement()[0] for step in draw(st.lists(STEPS, max_size=1))]
    parts += [ANY_NUMBER.exclude_values(values) for values in draw(st.lists(st.lists(BOUNDS, max_size=2), max_size=1))]
    for part in parts:
        found = found.intersect(part) if found is not None else None
    return found


@given(conjunctions(), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_texts_of_multiples_and_gaps(shape: NumberShape | None, seed: int) -> None:
    if shape is None:
        return
    dfa = number_dfa(shape, True, LIMITS)
    for text in near(shape, random.Random(seed)):
        member = shape.contains(Decimal(text))
        assert member or not dfa.accepts(text), text
        if is_canonical(text):
            assert dfa.accepts(text) == member, text


@pytest.mark.parametrize("step", ["1", "3", "8", "11", "99", "264", "701", "1024", "3e2", "0.25", "0.007", "1.1",
                                  "31.25", "1e-7", "3e-8", "7e-16", "1e-17", "2e-20"])
def test_multiples_of_every_length(step: str) -> None:
    """Mantissas of all lengths: their remainders are few at first, and of fewer kinds far behind the point."""
    dfa, rng, members = number_dfa(NumberShape.of_multiples(Decimal(step)), True, LIMITS), random.Random(5), 0
    for places in range(19):
        for exponent in (None, -324, -20, -17, -16, -9, -8, -5, 16, 17, 18, 19, 20, 23, 99, 308):
            for unit in (1, 99, 264, 701, 1024):
                whole = rng.randint(10**places, 10 ** (places + 1) - 1) // unit * unit
                text = f"{str(whole)[0]}.{str(whole)[1:]}"
                if exponent is not None:
                    text = f"{text.rstrip('0').rstrip('.')}e{exponent:+03d}"
                    if whole == 0 or len(text.partition("e")[0]) > 18:
                        continue  # not as a float is written
                text = text.removesuffix(".")
                member = (Fraction(text) / Fraction(step)).denominator == 1
                members += member
                assert dfa.accepts(text) == member, text
    assert members > 40


@given(intervals(), STEPS, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
@example(ANY_NUMBER, Decimal(5), 0)
@example(ANY_NUMBER, Decimal(8), 0)
@example(ANY_NUMBER, Decimal(100), 0)
@example(ANY_NUMBER, Decimal("0.01"), 0)
@example(NumberShape.of_bounds(2), Decimal("2.5"), 0)
@example(ANY_NUMBER, Decimal(15), 0)
@example(ANY_NUMBER, Decimal(60), 0)
def test_texts_of_multiples_by_their_grammar(shape: NumberShape, step: Decimal, seed: int) -> None:
    both = shape.intersect(NumberShape.of_multiples(step))
    if both is None:
        return
    expr, rng = both.to_expr(POLICY), random.Random(seed)
    texts = near(both, rng)
    texts += [json.dumps(float(step * rng.randint(10 ** 15, 10 ** 18))) for _ in range(15)]
    texts += [json.dumps(rng.randint(10**15, 10**17) * 1.0) for _ in range(15)]
    texts += [f"{step * rng.randint(-50, 50):f}" for _ in range(15)]
    for text in texts:
        member = both.contains(Decimal(text))
        accepted = accepts(expr, text)
        assert member or not accepted, text
        if is_canonical(text):
            assert accepted == member, text


@given(st.lists(conjunctions(), min_size=2, max_size=2), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_algebra(shapes: list[NumberShape | None], seed: int) -> None:
    left, right = (ANY_NUMBER if shape is None else shape for shape in shapes)
    both = left.intersect(right)
    others = left.complement()
    for text in near(left, random.Random(seed)) + near(right, random.Random(seed + 1)):
        value = Decimal(text)
        expected = left.contains(value) and right.contains(value)
        assert (both is not None and both.contains(value)) == expected, text
        assert any(other.contains(value) for other in others) == (not left.contains(value)), text


@given(st.sampled_from([ANY_NUMBER, ANY_INTEGER, PLAIN_INTEGER]), st.none() | st.integers(-(10**20), 10**20),
       st.none() | st.integers(0, 10**20) | st.sampled_from([10**n for n in range(20)]))
@settings(max_examples=100, deadline=None)
def test_whole_intervals_are_what_intersect_makes_of_them(kind: NumberShape, lower: int | None, size: int | None,
                                                          ) -> None:
    upper = None if size is None else (lower or 0) + size
    found = whole_interval(kind, lower, upper)
    assert found == kind.intersect(NumberShape.of_bounds(lower, upper))
    for bound, of_number in ((found.lower, lower), (found.upper, upper)):
        assert (bound is None) == (of_number is None)
        if bound is not None and of_number is not None:
            said = Decimal(str(of_number)).normalize() if of_number else Decimal(0)
            assert bound.as_tuple() == said.as_tuple()  # equal ones are one


def accepts(expr: Expr, text: str) -> bool:
    return oracles_regular.accepts(RuleSet({"root": expr}, "root"), text)


@pytest.mark.parametrize(("shape", "good", "bad"), [
    (ANY_NUMBER, ["0", "-0", "1", "1.50", "1e5", "1E-7", "-12.5e+300", "1e+16"],
     ["", "-", "+1", "01", ".5", "1.", "1e", "0x1", "NaN", "1e1234"]),
    (ANY_INTEGER, ["0", "-0", "-0.0", "12", "3.000", "1e+16", "1.5e+300", "-7"],
     ["1.5", "1e5", "1e-05", "1.50e-07", "--1"]),
    (NumberShape.of_bounds(0), ["0", "-0", "-0.0", "0.5", "17", "5e-324", "1e+16"], ["-1", "-0.5", "-5e-324"]),
    (NumberShape.of_bounds(Decimal("0.5")), ["0.5", "0.75", "1", "12.25", "0.50"],
     ["0,5", "0x5", "0.4", "0.49", "-1", "0"]),
    (NumberShape.of_bounds(1, 5), ["1", "5", "4.99", "1.0", "5.0", "3.141592"], ["5.7", "0.99", "6", "5.0001", "-1"]),
    (NumberShape.of_bounds(-4, 4), ["-0.5", "-0.1", "0.5", "-4", "4.0", "0", "-3.5", "-0"],
     ["-4.1", "100", "4.01", "-5"]),
    (NumberShape.of_bounds(-5, integer=True), ["-5", "-1", "0", "100", "7"], ["-6", "-", "-50", "-10", "1.5"]),
    (NumberShape.of_multiples(7), ["0", "7", "-14", "105", "7000", "7e+16", "-0.0"], ["1", "8", "-13", "07", "1e+16"]),
    (NumberShape.of_values([1, Decimal("2.50"), Decimal("1e16")]),
     ["1", "1.0", "2.5", "2.500", "1e+16", "10000000000000000"], ["2", "2.51", "1e+17", "01"]),
    (NumberShape.from_format("int32"), ["2147483647", "-2147483648", "0"], ["2147483648", "-2147483649", "1.5"]),
])
def test_texts(shape: NumberShape, good: list[str], bad: list[str]) -> None:
    expr = shape.to_expr(POLICY)
    assert [text for text in good if not accepts(expr, text)] == []
    assert [text for text in bad if accepts(expr, text)] == []


def test_policies() -> None:
    strict = TextPolicy(integer_as_float=False, max_number_digits=3)
    for shape in (ANY_INTEGER, ANY_INTEGER.intersect(NumberShape.of_multiples(2)),
                  ANY_INTEGER.intersect(NumberShape.of_values([2, 3]))):
        assert shape is not None
        expr = shape.to_expr(strict)
        assert accepts(expr, "2") and not accepts(expr, "2.0") and not accepts(expr, "2e+16")
    for shape in (ANY_NUMBER, ANY_INTEGER, NumberShape.of_bounds(0)):
        expr = shape.to_expr(strict)
        assert accepts(expr, "999") and not accepts(expr, "1000")
    assert accepts(ANY_NUMBER.to_expr(strict), "1.999") and not accepts(ANY_NUMBER.to_expr(strict), "1.9999")
    # A bound longer than the cap can still be written.
    assert accepts(NumberShape.of_bounds(10**6, integer=True).to_expr(strict), "1000000")


def test_empty_and_finite() -> None:
    assert NumberShape.of_bounds(1, 2, lower_open=True, upper_open=True, integer=True).is_empty()
    assert NumberShape.of_bounds(Decimal("0.1"), Decimal("0.9")).intersect(ANY_INTEGER) is None
    assert NumberShape.of_multiples(4).intersect(NumberShape.of_multiples(2).complement()[0]) is None
    assert NumberShape.of_bounds(0, 20).intersect(NumberShape.of_multiples(7)).enumerated(9) == (0, 7, 14)
    assert NumberShape.of_bounds(0, 20).enumerated(9) is None
    assert NumberShape.of_values([3, Decimal("3.0"), 4]).values == (3, 4)
    assert NumberShape.of_multiples(Decimal("0.4")).intersect(NumberShape.of_multiples(Decimal("0.6"))) == (
        NumberShape.of_multiples(Decimal("1.2")))


def test_hostile_numbers() -> None:
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        NumberShape.of_bounds(Decimal("1e1000000000"))
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        NumberShape.of_multiples(2**300).to_expr(POLICY)
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        NumberShape.of_multiples(Decimal("1e-100000"))
    with pytest.raises(ValueError, match="finite"):
        NumberShape.of_values([Decimal("nan")])
    long = 10**5000 + 1
    expr = NumberShape.of_bounds(long, long).to_expr(TextPolicy(max_number_digits=6000))
    assert accepts(expr, "1" + "0" * 4999 + "1")


@given(st.integers(-(10**19), 10**19), st.integers(0, 10**19), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
@example(-(2**63), 2**64 - 1, 0)
@example(99_999, 1, 0)
@example(10**16, 10**18, 0)
def test_texts_of_long_integers(lower: int, length: int, seed: int) -> None:
    shape = NumberShape.of_bounds(lower, lower + length, integer=True)
    expr, rng = shape.to_expr(POLICY), random.Random(seed)
    texts = near(shape, rng) + [json.dumps(rng.randint(lower, lower + length)) for _ in range(10)]
    for text in texts + [json.dumps(float(rng.randint(lower, lower + length))) for _ in range(10)]:
        member = shape.contains(Decimal(text))
        accepted = accepts(expr, text)
        assert member or not accepted, text
        if is_canonical(text):
            assert accepted == member, text


@given(intervals(), st.sampled_from(["1", "0.5", "0.1", "3", "2.5"]),
       st.sets(st.sampled_from(["2", "3", "0.5", "1.5"])), st.sets(st.integers(-80, 80)))
@settings(max_examples=150, deadline=None)
def test_members_are_counted(bounds: NumberShape, step: str, left_out: set[str], excluded: set[int]) -> None:
    shape = replace(bounds, multiple_of=Decimal(step), not_multiple_of=frozenset(map(Decimal, left_out)),
                    excluded=frozenset(Decimal(value) / 2 for value in excluded))
    listed = shape.enumerated(20_000)
    count = shape.count()
    if shape.lower is None or shape.upper is None:
        assert count is None
    elif listed is not None:
        assert count == len(listed)
