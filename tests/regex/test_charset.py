"""Sets of code points against Python sets."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from constrained.regex import charset
from constrained.regex.charset import ANY, Ranges

EDGES = [0, 1, 2, 0x7F, 0x80, 0xD7FE, 0xD7FF, 0xD800, 0xDABC, 0xDFFF, 0xE000, 0xE001, 0xFFFF, 0x10000, 0x10FFFE,
         0x10FFFF]
PAIRS = st.lists(st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)).map(lambda p: (min(p), max(p))), max_size=5)


def members(ranges: Ranges) -> set[int]:
    return {code for code in EDGES if any(low <= code <= high for low, high in ranges)}


EVERYTHING = members(ANY)


@given(PAIRS, PAIRS)
def test_operations(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    left, right = charset.normalise(first), charset.normalise(second)
    a = {code for code in EVERYTHING if any(low <= code <= high for low, high in first)}
    b = {code for code in EVERYTHING if any(low <= code <= high for low, high in second)}
    for ranges, expected in [
        (left, a), (right, b), (charset.union(left, right), a | b), (charset.intersection(left, right), a & b),
        (charset.complement(left), EVERYTHING - a), (charset.subtract(left, right), a - b),
    ]:  # fmt: skip
        assert members(ranges) == expected
        assert ranges == charset.normalise(reversed(ranges)), "canonical"
        assert all(high + 1 < low for (_, high), (low, _) in itertools.pairwise(ranges))
        assert {code for code in EDGES if charset.contains(ranges, code)} == expected


def test_surrogates_belong_to_no_set() -> None:
    assert charset.normalise([(0, 0x10FFFF)]) == ANY
    assert charset.normalise([(0xD800, 0xDFFF)]) == ()
    assert charset.complement(()) == ANY
    assert charset.complement(ANY) == ()
    assert charset.of_text("ba") == ((97, 98),)
