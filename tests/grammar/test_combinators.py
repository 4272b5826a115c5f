from __future__ import annotations

import re

import pytest

from constrained.errors import GrammarError, GrammarLimitError
from constrained.grammar import combinators as make
from constrained.grammar.ir import Choice, Expr, Literal, Repeat, Sequence
from constrained.limits import Limits
from tests.oracles import Recogniser


def test_a_grammar_in_python() -> None:
    digits = make.repeat(make.char_class("0-9"), 1)
    grammar = make.rule_set({
        "root": make.choice(make.reference("sum"), digits),
        "sum": make.sequence(digits, "+", make.reference("root")),
    })
    recogniser = Recogniser(grammar)
    assert [t for t in ("1", "1+22", "1+", "+1", "") if recogniser.accepts(t.encode())] == ["1", "1+22"]


def test_sequences_and_choices_are_flattened_and_literals_joined() -> None:
    assert make.sequence() is make.empty()
    assert make.choice().options == ()  # type: ignore[union-attr]
    joined = make.sequence("a", make.sequence("b", b"\xc3"), b"\xa9", "")
    assert isinstance(joined, Literal)
    assert joined.data == "abé".encode()
    flat = make.choice(make.choice("a", "b"), make.char_class(""), "c")
    assert isinstance(flat, Choice)
    assert len(flat.options) == 3
    one = make.char_class("ab")
    assert make.sequence(one, "") is one
    assert make.choice(one) is one


def test_building_from_the_inside_out_is_linear() -> None:
    expr: Expr = make.sequence(*(make.char_class("ab") for _ in range(20)))
    inner = expr
    for _ in range(20_000):
        expr = make.sequence(expr, make.char_class("ab"))
    assert isinstance(expr, Sequence)
    assert len(expr.items) <= 9
    assert isinstance(inner, Sequence)


@pytest.mark.parametrize("outer", [(0, 1), (0, 2), (1, 1), (1, 2), (2, 3), (0, None), (1, None), (2, None), (0, 0)])
@pytest.mark.parametrize("inner", [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, None), (1, None), (2, None), (2, 2)])
def test_repetitions_of_repetitions(inner: tuple[int, int | None], outer: tuple[int, int | None]) -> None:
    recogniser = Recogniser(make.rule_set(make.repeat(make.repeat("a", *inner), *outer)))
    shown = [f"{{{low},{'' if high is None else high}}}" for low, high in (inner, outer)]
    pattern = re.compile(f"(?:a{shown[0]}){shown[1]}")
    for count in range(14):
        assert recogniser.accepts(b"a" * count) == bool(pattern.fullmatch("a" * count)), (pattern, count)


def test_repetition_products_stay_within_the_limit() -> None:
    nested = make.repeat(make.repeat("a", 0, 1 << 20), 0, 1 << 20)
    assert isinstance(nested, Repeat)
    assert isinstance(nested.body, Repeat)
    with pytest.raises(GrammarLimitError) as caught:
        make.repeat("a", 0, 11, limits=Limits(max_repeat=10))
    assert (caught.value.limit, caught.value.value) == ("max_repeat", 10)


@pytest.mark.parametrize(
    ("members", "negated", "ranges"),
    [
        ("a-c", False, ((97, 99),)),
        ("ca-bb", False, ((97, 99),)),
        ("^-", False, ((45, 45), (94, 94))),
        (r"\-\\\n", False, ((10, 10), (45, 45), (92, 92))),
        (r"\x00-\x1f", False, ((0, 31),)),
        (r"\u00e9-\U0001F600", False, ((0xE9, 0xD7FF), (0xE000, 0x1F600))),
        ("", False, ()),
        ("", True, ((0, 0xD7FF), (0xE000, 0x10FFFF))),
        ("a", True, ((0, 96), (98, 0xD7FF), (0xE000, 0x10FFFF))),
    ],
)
def test_char_class(members: str, negated: bool, ranges: tuple[tuple[int, int], ...]) -> None:
    assert make.char_class(members, negated=negated).ranges == ranges


def test_ranges_drop_surrogates_and_join_neighbours() -> None:
    assert make.ranges([(0xD800, 0xDFFF)]).ranges == ()
    assert make.ranges([(5, 7), (8, 9), (1, 2), (6, 6)]).ranges == ((1, 2), (5, 9))
    assert make.ranges([(0, 0x10FFFF)], negated=True).ranges == ()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: make.sequence("a", 5),  # type: ignore[arg-type]
        lambda: make.choice(None),  # type: ignore[arg-type]
        lambda: make.literal("\ud800"),
        lambda: make.literal(5),  # type: ignore[arg-type]
        lambda: make.char_class(r"\d"),
        lambda: make.char_class("\\"),
        lambda: make.char_class("z-a"),
        lambda: make.ranges([(0, 0x110000)]),
        lambda: make.repeat("a", -1),
        lambda: make.repeat("a", 2, 1),
        lambda: make.repeat("a", True),
        lambda: make.repeat("a", 1.5),  # type: ignore[arg-type]
        lambda: make.reference(""),
        lambda: make.token(),
        lambda: make.token(-1),
        lambda: make.token(1 << 31),
        lambda: make.token(""),
        lambda: make.token(True),
        lambda: make.any_text_until(),
        lambda: make.any_text_until(""),
        lambda: make.any_text_until(b"\xff"),
        lambda: make.rule_set({"a": "b"}),
        lambda: make.rule_set({"root": make.reference("x")}),
        lambda: make.rule_set({1: "b"}),  # type: ignore[dict-item]
    ],
)
def test_wrong_arguments_are_typed_errors(wrong: object) -> None:
    with pytest.raises(GrammarError):
        wrong()  # type: ignore[operator]


def test_token_and_free_text() -> None:
    assert make.token(1, "<a>", 1).tokens == (1, "<a>")
    assert make.any_text_until("a", b"a").stops == (b"a",)
    grammar = make.rule_set({"root": make.sequence(make.any_text_until("```"), "!")})
    assert Recogniser(grammar).accepts(b"a``b```!")
