"""Python's syntax: what is read and refused is what ``re.compile`` reads and refuses."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from constrained.errors import GrammarLimitError, NotRegularError, RegexError
from constrained.limits import Limits
from constrained.regex import parse_python
from constrained.regex.syntax import CharSet, Concat, Repeat, Text, walk
from constrained.regex.width import all_widths, fixed_width
from tests.regex.patterns import patterns

_PIECES = [
    "a", "b", "é", "1", "-", "{", "}", ",", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P<n>", "(?P<m>",
    "(?i)", "(?x)", "(?s:", "(?i-s:", "(?-i:", "(?a)", "(?au)", "(?L)", "(?#", "(?", "(?P", "(?P=n)", "(?(1)", "|",
    "*", "+", "?", "{2}", "{2,3}", "{3,2}", "{,2}", "{2,}", "{,}", "{}", "^", "$", ".", "[", "]", "[^", "[a-", "[]",
    "[b-a]", "\\", "\\d", "\\w", "\\b", "\\A", "\\Z", "\\z", "\\q", "\\1", "\\0", "\\08", "\\777", "\\377", "\\x4",
    "\\x41", "\\u00e9", "\\ud800", "\\U00110000", "\\N{DIGIT ONE}", "\\N{nothing}", "\\-", "\\\n", " ", "\n", "#",
    "[\\d-a]", "[a-\\d]", "[\\b]", "[\\B]", "[\\1]", "[\\8]",
]  # fmt: skip


def reads(pattern: str) -> bool | None:
    """Whether ``re`` reads it; None where the two are meant to differ."""
    if re.search(r"\\[1-9]|\(\?P=|\(\?\(|\\p|\(\?<[^=!]", pattern):
        return None  # back-references and conditionals are refused; properties and (?<name>..) are read
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, OverflowError):
            return False
    return True


@given(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join))
@example("(?x) (?i)a # b")
@example("(?#a)(?i)b")
@example("a(?i)")
@example("(?x:a{ 2 })")
@example("[^]]")
@example("[]-a]")
@example("{1}")
@example("x{1}{2}")
@example("(?<=a|bc)d")
@example("(?<=(?:a|b){2})d")
@example("(?<=a*)")
@example("(?i-i:a)")
@example("(?-:a)")
@example("(?a-a:a)")
def test_reads_what_re_reads(pattern: str) -> None:
    expected = reads(pattern)
    assume(expected is not None)
    try:
        parse_python(pattern)
    except RegexError as error:
        assert not expected, (pattern, error)
        assert 0 <= error.position <= len(pattern)
        assert len(str(error)) <= 2000
    else:
        assert expected, pattern


@given(patterns())
def test_reads_random_patterns(pattern: str) -> None:
    test_reads_what_re_reads.hypothesis.inner_test(pattern)


@given(st.text(st.sampled_from("()[]{}*+?|\\^$.ab-,:=!<>PiLx#1du&~ \n\ud800"), max_size=14))
def test_any_text_is_read_or_refused_by_type(pattern: str) -> None:
    try:
        parse_python(pattern)
    except RegexError:
        pass


@pytest.mark.parametrize(("pattern", "position", "message"), [
    ("(a", 0, "never closed"), ("ab)", 2, "without its"), ("[a", 0, "never closed"), ("x[a-", 1, "never closed"),
    ("*a", 0, "nothing to repeat"), ("a**", 2, "quantifier on a quantifier"), ("^*", 1, "nothing to repeat"),
    ("(?P<n>a)(?P=n)", 8, "back-reference"), (r"(a)\1", 3, "back-reference"), ("(a)?(?(1)b|c)", 4, "conditional"),
    (r"\x{110000}", 0, "hexadecimal"), ("a{3,2}", 1, "least count"), (r"a\q", 1, "unknown escape"),
    ("[z-a]", 1, "backwards"), (r"[\d-a]", 1, "end of a range"), (r"[a-\w]", 1, "end of a range"),
    ("a(?i)", 1, "global flags"), ("(?L)a", 2, "bytes"), ("(?<=a+)b", 0, "fixed width"), ("(?P<1>a)", 4, "identifier"),
    ("(?P<n>a)(?P<n>b)", 12, "twice"), ("a\\", 1, "backslash"), (r"\p{Klingon}", 0, "no exact table"),
    (r"\pL", 0, "braces"), ("(?zz)", 0, "unknown group"), (r"\N{nothing}", 0, "unknown character name"),
    (r"\400", 0, "octal"), ("(?", 0, "ends inside"), ("(?#", 0, "comment"), ("(?P<n", 0, "name is never closed"),
    ("(?iz)", 3, "unknown flag"), ("(?i-)", 3, "missing"), ("(?i-i:a)", 0, "on and off"),
    (r"\U00110000", 0, "U+10FFFF"),
])  # fmt: skip
def test_errors_name_the_place(pattern: str, position: int, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        parse_python(pattern)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert isinstance(caught.value, NotRegularError) == (message in ("back-reference", "conditional"))


def test_not_a_string() -> None:
    with pytest.raises(RegexError, match="bytes"):
        parse_python(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize(("limits", "fits", "exceeds", "field"), [
    (Limits(max_source_chars=5), "a" * 5, "a" * 6, "max_source_chars"),
    (Limits(max_nesting=3), "(((a)))", "((((a))))", "max_nesting"),
    (Limits(max_nesting=1), "(a)(?=b)(?>c)", "((?=b))", "max_nesting"),
    (Limits(max_repeat=7), "a{7}b{2,7}c{7,}", "a{8}", "max_repeat"),
    (Limits(max_repeat=7), "a{0007}", "a{1,8}", "max_repeat"),
    (Limits(max_repeat=7), "a*", "a{8,}", "max_repeat"),
    (Limits(), "a{1000000000}", "a{1000000001}", "max_repeat"),
    (Limits(), "a{1}", "a{%s}" % ("9" * 10_000), "max_repeat"),
])  # fmt: skip
def test_limits(limits: Limits, fits: str, exceeds: str, field: str) -> None:
    parse_python(fits, limits)
    with pytest.raises(GrammarLimitError) as caught:
        parse_python(exceeds, limits)
    assert caught.value.limit == field
    assert f"Limits.{field} = {getattr(limits, field)}" in str(caught.value)


def test_depth_costs_no_stack() -> None:
    deep = 20_000
    tree = parse_python("(?:a|" * deep + "b" + ")*" * deep, Limits(max_nesting=deep))
    assert sum(1 for _ in walk(tree)) > deep
    assert all_widths(tree)[id(tree)] == (0, None)


def test_shapes() -> None:
    tree = parse_python("abc*|(?:d|e){2,3}?")
    assert [type(node).__name__ for node in walk(tree)] == [
        "Alternation", "Concat", "Text", "Repeat", "Text", "Repeat", "CharSet"]  # fmt: skip
    first, second = tree.options  # type: ignore[union-attr]
    assert isinstance(first, Concat) and isinstance(first.items[0], Text) and first.items[0].chars == "ab"
    assert isinstance(second, Repeat) and (second.minimum, second.maximum, second.lazy) == (2, 3, True)
    assert isinstance(second.body, CharSet) and second.body.ranges == ((0x64, 0x65),)


def test_surrogates_match_nothing() -> None:
    for pattern in (r"\ud800", "\ud800", "[\ud800]", r"[\ud800-\udfff]", "(?i)\ud800"):
        node = parse_python(pattern)
        assert isinstance(node, CharSet) and node.ranges == (), pattern
    node = parse_python(r"[a\ud800]")
    assert isinstance(node, Text) and node.chars == "a"


@pytest.mark.parametrize(("pattern", "width"), [
    ("abc", 3), ("a|b", 1), ("ab|c", None), ("a{3}", 3), ("(?:ab){2}c", 5), ("a*", None), ("^$", 0), ("(?=abc)a", 1),
    ("(?>ab|cd)", 2), ("(?:){5}", 0), ("a{0}", 0), ("(?:a|){2}", None), ("", 0),
])  # fmt: skip
def test_widths(pattern: str, width: int | None) -> None:
    assert fixed_width(parse_python(pattern)) == width
