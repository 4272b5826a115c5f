"""Decimals as JSON numbers combine with other sets of numbers: neither side loses what it asks for."""

from __future__ import annotations

from decimal import Decimal

import pytest

from constrained.frontends.json_schema.numbers import ANY_INTEGER, ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.python_types.decimals import SpelledNumber, decimal_shapes

VALUES = [Decimal(text) for text in ("-3.5", "-1", "0.25", "0.5", "1.0", "2.75", "7", "7.5", "12.25", "99.5", "100.25")]


def spelled(**schema: object) -> SpelledNumber:
    """The numbers with a point of a decimal."""
    shapes, _ = decimal_shapes(schema, 400)
    (found,) = [shape for shape in shapes if isinstance(shape, SpelledNumber)]
    return found


OTHERS = [
    NumberShape.of_bounds(1, None), NumberShape.of_bounds(None, Decimal("7.5"), upper_open=True),
    NumberShape.of_multiples(Decimal("0.5")), ANY_INTEGER, NumberShape.of_values([Decimal("0.25"), 7, Decimal("7.5")]),
    ANY_NUMBER.exclude_values([Decimal("0.5")]), spelled(max_digits=3, decimal_places=1),
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_both_sides_count_in_either_order(other: NumberShape) -> None:
    one = spelled(ge=Decimal("-2"), max_digits=4, decimal_places=2)
    for both in (one.intersect(other), other.intersect(one)):
        assert both is not None
        for value in VALUES:
            assert both.contains(value) == (one.contains(value) and other.contains(value)), (value, both)


def test_what_is_nothing_is_nothing() -> None:
    one = spelled(le=Decimal("2"))
    assert one.intersect(NumberShape.of_bounds(3, None)) is None
    assert NumberShape.of_bounds(3, None).intersect(one) is None
    assert NumberShape.of_values([5]).intersect(one) is None


def test_nothing_but_values_is_taken_away() -> None:
    one = spelled(max_digits=3, decimal_places=1)
    assert one.intersect(ANY_NUMBER) is one and ANY_NUMBER.intersect(one) is one
    left = one.exclude_values([Decimal("7.5")])
    assert not left.contains(Decimal("7.5")) and left.contains(Decimal("7.4"))
    assert left.enumerated(10) is None and not left.is_any() and not left.is_empty()
    with pytest.raises(NotEnforced):
        one.complement()
