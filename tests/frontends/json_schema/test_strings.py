"""String shapes against ``re`` and lengths counted by hand, and every JSON text against the string it writes."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constrained.engine.compiled import compile_rules
from constrained.errors import GrammarLimitError, RegexError
from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.free_keys import other_keys
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.spelling import canonical_spellings, spelled_class
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape, pattern_language
from constrained.grammar.ir import ByteDfa, Expr, RuleSet, Sequence, walk
from constrained.grammar.unfolded import unfolded
from constrained.limits import Limits
from constrained.regex.charset import ANY, normalise
from constrained.vocabulary import TokenizerInfo
from tests import oracles, oracles_regular

ANYHOW = TextPolicy()
CANONICAL = TextPolicy(string_escapes="canonical")
BYTES = TokenizerInfo.from_bytes([*[bytes([byte]) for byte in range(256)], b""], special_token_ids=[256],
                                 stop_token_ids=[256])

#: Strings that differ in what patterns, lengths and escapes look at.
WORDS = st.text(st.sampled_from('ab-"\\/\n\x00\x1f\x7f é\u2028\uffff\U0001f600Aß'), max_size=6)
PATTERNS = ["^a+$", "b", "^[ab]{2,4}$", r"^\S*$", "a|^b", "^(a|-)*$", "(?=.*a).*b", r"^[^\\]*$", "^a?b?$", "\U0001f600",
            "^(?!a)", "^[a-]{1,3}-?$", r"\bA", "^ab?a*$", r"^a[ab]*-$", r"^(a{1,3}|-b*)$"]


def accepts(expr: Expr, text: bytes | str) -> bool:
    rules = unfolded(RuleSet({"root": expr, **character_rules(expr)}, "root"))
    return oracles_regular.accepts(rules, text)


@st.composite
def shapes(draw: st.DrawFn) -> StringShape:
    if draw(st.integers(0, 5)) == 0:
        return StringShape.of_values(draw(st.lists(WORDS, min_size=1, max_size=4)))
    minimum = draw(st.integers(0, 3))
    found: StringShape | None = StringShape.of_lengths(minimum, draw(st.none() | st.integers(minimum, 6)))
    for pattern in draw(st.lists(st.sampled_from(PATTERNS), max_size=2)):
        assert found is not None
        more = StringShape.from_pattern(pattern)
        found = found.intersect(more.complement()[0] if draw(st.booleans()) else more) or found
    assert found is not None
    return found.exclude_values(draw(st.lists(WORDS, max_size=3)))


def spelled(text: str, rng: random.Random) -> str:
    """``text`` as JSON, each character in a spelling drawn at random."""
    parts = []
    for char in text:
        units = char.encode("utf-16-be")
        code = "".join(f"\\u{int.from_bytes(units[i : i + 2]):04x}" for i in range(0, len(units), 2))
        options = [code, code.upper().replace("U", "u")]
        if char >= " " and char not in '"\\':
            options.append(char)
        if char in '"\\/':
            options.append("\\" + char)
        if char in "\n\t\r\b\f":
            options.append(json.dumps(char)[1:-1])
        parts.append(rng.choice(options))
    return '"' + "".join(parts) + '"'


@given(shapes(), st.lists(WORDS, max_size=6), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_texts_write_the_members(shape: StringShape, words: list[str], seed: int) -> None:
    rng = random.Random(seed)
    free = not shape.languages and not shape.excluded and shape.values is None
    for policy in (ANYHOW, CANONICAL):
        expr, keys = shape.to_expr(policy), shape.to_key_expr(policy)
        for word in [*words, "", "a", "ab", *(shape.values or ()), *shape.excluded]:
            member = shape.contains(word)
            for text in canonical_spellings(word):
                assert accepts(expr, text) == member
                assert accepts(keys, text) == member
            text = spelled(word, rng)
            if policy is ANYHOW and free:
                assert accepts(expr, text) == member
            elif not member:
                assert not accepts(expr, text) and not accepts(keys, text)
            else:
                # Whatever is accepted in another spelling means the same string.
                assert not accepts(expr, text) or json.loads(text) == word


@given(st.lists(shapes(), min_size=2, max_size=2), st.lists(WORDS, max_size=8))
@settings(max_examples=150, deadline=None)
def test_algebra(two: list[StringShape], words: list[str]) -> None:
    left, right = two
    both, others = left.intersect(right), left.complement()
    for word in [*words, "", "a", "aa", *(left.values or ()), *(right.values or ()), *left.excluded]:
        expected = left.contains(word) and right.contains(word)
        assert (both is not None and both.contains(word)) == expected
        assert any(other.contains(word) for other in others) == (not left.contains(word))
    if both is not None:
        assert both.is_empty() == (not both.dfa().accepting) or both.values is not None
        found = both.enumerated(50)
        if found is not None:
            assert all(both.contains(word) for word in found) and len(set(found)) == len(found)
            assert all(word in found for word in words if both.contains(word))


@given(st.sampled_from(PATTERNS), st.integers(0, 6), st.none() | st.integers(0, 6), st.lists(WORDS, max_size=8))
@settings(max_examples=150, deadline=None)
@example("(?=.*a).*b", 0, None, ["a\u2028b", "ab\r", "b\u2029a"])
def test_a_pattern_with_lengths(pattern: str, minimum: int, maximum: int | None, words: list[str]) -> None:
    shape = StringShape(minimum, maximum).intersect(StringShape.from_pattern(pattern))
    expr = None if shape is None else shape.to_expr(ANYHOW)
    for word in [*words, "a", "ab", "aaaa", "ba", "a-", "", "abab", "-bb", "aab-"]:
        # What differs between the dialects: $ is the very end, U+001C to U+001F are no spaces, \b looks for ASCII, a
        # dot leaves out all ends of lines.
        python = pattern.replace(".", "[^\n\r\u2028\u2029]").replace("$", r"\Z")
        python = python.replace(r"\S", r"(?:\S|[\x1c-\x1f])").replace(r"\b", r"(?a:\b)")
        found = re.search(python, word) is not None
        fits = minimum <= len(word) and (maximum is None or len(word) <= maximum)
        assert (expr is not None and accepts(expr, json.dumps(word))) == (found and fits), word


@given(st.frozensets(WORDS, max_size=6), st.lists(WORDS, max_size=6))
@settings(max_examples=100, deadline=None)
@example(frozenset(("é", "éa", "\U0001f600", "")), ["e", "éé", "a"])
@example(frozenset(('"', "\\n", "\n", "\\")), ['""', "\\\\"])
def test_keys_that_are_not_declared(keys: frozenset[str], words: list[str]) -> None:
    node = other_keys(keys)
    for word in [*words, *keys, *(key + "a" for key in keys), *(key[:-1] for key in keys)]:
        for text in canonical_spellings(word):
            assert accepts(node, text[1:]) == (word not in keys)
    # Mixed spellings, one character raw and the next escaped, are keys too.
    for key in keys:
        mixed = b"".join(canonical_spellings(char)[i % len(canonical_spellings(char))][1:-1]
                         for i, char in enumerate(key))
        assert not accepts(node, mixed + b'"')


def test_names_that_no_pattern_matches_cost_no_automaton() -> None:
    names = StringShape.from_pattern("^x-")
    beside = names.exclude_values(["name", "version", "X-a"]).to_key_expr(TextPolicy())
    alone = names.to_key_expr(TextPolicy())
    assert [type(node) for node in walk(beside)] == [type(node) for node in walk(alone)]  # nothing is multiplied out
    within = names.exclude_values(["name", "x-a"]).to_key_expr(TextPolicy())
    for expr, left_out in ((beside, set()), (within, {"x-a"})):
        for text in ("x-", "x-a", "x-ab", "x", "name", "X-a"):
            expected = text.startswith("x-") and text not in left_out
            assert oracles.accepts(RuleSet({"root": expr}, "root"), json.dumps(text).encode()) == expected, text



def test_every_character_has_its_spellings() -> None:
    for escapes in ("any", "canonical"):
        node = spelled_class(ANY, escapes)
        assert isinstance(node, ByteDfa)
        codes = [*range(0x500), 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0x1F600, 0x10FFFF]
        for code in codes:
            char = chr(code)
            for text in canonical_spellings(char):
                assert accepts(node, text[1:-1]), (escapes, text)
        for text in (b"", b'"', b"\\", b"\n", b"\\x41", rb"\ud800", rb"\udc00", rb"\ud83d\u0041", b"ab", b"\xff",
                     rb"\u12"):
            assert not accepts(node, text)
    for text in (rb"\uD83D\uDE00", rb"\/", rb"\u0041"):
        assert accepts(spelled_class(ANY, "any"), text) and not accepts(spelled_class(ANY, "canonical"), text)


@given(st.lists(st.tuples(st.integers(0, 0x200), st.integers(0, 3)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_classes_of_characters(pairs: list[tuple[int, int]]) -> None:
    ranges = normalise((first, first + more) for first, more in pairs)
    for escapes in ("any", "canonical"):
        node = spelled_class(ranges, escapes)
        for code in {0, 9, 0x22, 0x2F, 0x41, 0x5C, 0x7F, 0x80, *(first - 1 for first, _ in ranges if first),
                     *(first for first, _ in ranges), *(last + 1 for _, last in ranges)}:
            inside = any(first <= code <= last for first, last in ranges)
            for text in canonical_spellings(chr(code)):
                assert accepts(node, text[1:-1]) == inside


def test_surrogates() -> None:
    assert StringShape.of_values(["\ud83d\ude00", "\U0001f600"]).values == ("\U0001f600",)
    lone = StringShape.of_values(["\ud800"])
    assert accepts(lone.to_expr(ANYHOW), rb'"\ud800"') and not accepts(ANY_STRING.to_expr(ANYHOW), rb'"\ud800"')
    assert ANY_STRING.exclude_values(["\ud800", "a"]).to_expr(ANYHOW) is not None


def test_through_the_engine() -> None:
    keys = ANY_STRING.exclude_values(["name", "née"])
    counted = StringShape.of_lengths(2, 1_000_000)
    expr = Sequence((keys.to_key_expr(ANYHOW), counted.to_expr(ANYHOW)))
    compiled = compile_rules(RuleSet({"root": expr}, "root"), BYTES)

    def whole(data: bytes) -> bool:
        state = compiled.advance(compiled.start_state, data)
        return bool(compiled.is_complete(state))

    assert whole(b'"nam""ab"') and whole('"né""ab"'.encode()) and whole(rb'"names""\u0061\n"')
    assert not whole(b'"name""ab"') and not whole('"née""ab"'.encode()) and not whole(rb'"n\u00e9e""ab"')
    assert not whole(b'"nam""a"')


def test_limits_and_bad_patterns() -> None:
    with pytest.raises(RegexError):
        StringShape.from_pattern("(")
    hard = StringShape(0, 30_000).intersect(StringShape.from_pattern("(a|b)*a(a|b){16}c*$"))
    assert hard is not None
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        hard.to_expr(ANYHOW)
    assert StringShape(0, 3).intersect(StringShape(4, None)) is None
    assert StringShape.from_pattern("^a$").intersect(StringShape.from_pattern("^b$")).is_empty(Limits())
    left = StringShape.from_pattern("^a$")
    assert left.intersect(left.complement()[0]) is None


def test_strings_of_patterns_that_exclude_each_other() -> None:
    ends = StringShape.from_pattern("b$").intersect(StringShape.from_pattern("1$"))
    assert ends is not None and ends.is_empty() and ends.enumerated(5) == ()
    endless = StringShape.from_pattern("b").intersect(StringShape.from_pattern("1"))
    assert endless is not None
    for shape in (endless, endless.exclude_values(["b1", "1b"])):
        assert not shape.is_empty() and shape.enumerated(5) is None
    few = StringShape.from_pattern("^[ab]$").intersect(StringShape.from_pattern("[bc]"))
    assert few is not None and few.enumerated(5) == ("b",) and few.exclude_values(["b"]).is_empty()


def test_a_pattern_that_counts_itself_beside_lengths() -> None:
    """Its automaton has a state for each length already: with a length of the schema's that is not squared."""
    shape = StringShape(2, 200).intersect(StringShape.from_pattern("^(?!aws:.*).{0,256}$"))
    assert shape is not None
    expr = shape.to_expr(ANYHOW)
    assert expr is not None
    for word in ("aw", "aws", "aws:", "aws:x", "awsx", "xaws:", "a", "", "é" * 200, "é" * 201):
        assert accepts(expr, json.dumps(word)) == (not word.startswith("aws:") and 2 <= len(word) <= 200), word


def test_several_long_loops_under_one_length() -> None:
    shape = StringShape(8, 30_000).intersect(StringShape.from_pattern(r"^\S*:\S*:\S*:\S*$"))
    assert shape is not None
    expr = shape.to_expr(ANYHOW)
    for word in (":::", "a:::::", "a:b:c:dd", "aaaa:b:c", "é" * 9_997 + ":a:b:" + "x" * 19_998, "a:b: :ddd",
                 "x" * 10_000 + ":" + "y" * 9_999 + ":" + "z" * 9_996 + ":ab", "x" * 10_000 + ":::" + "z" * 19_998):
        wanted = re.fullmatch(r"\S*:\S*:\S*:\S*", word) is not None and 8 <= len(word) <= 30_000
        assert accepts(expr, json.dumps(word, ensure_ascii=False)) is wanted, (word[:20], len(word))


def test_huge_lengths_cost_nothing() -> None:
    for pattern in (r"^[a-z0-9_]*$", r"^\w[\w-]+$", "^(abc)*$", "^x.*$", "", r"\S", r"^\S*:\S*:\S*$", "[a-z]{2}",
                    r"^arn:[a-z-]*:[A-Za-z0-9][A-Za-z0-9_/.-]{0,62}:[A-Za-z0-9][A-Za-z0-9_/.-]{0,62}:[a-z]*$"):
        shape = StringShape(5, 1_000_000).intersect(StringShape.from_pattern(pattern))
        assert shape is not None and shape.to_expr(ANYHOW) is not None


def test_alternatives_found_anywhere_stay_small() -> None:
    """One option is anchored, ten are not: their ends are one place, not one for each subset of them."""
    pattern = "^list|date|time|string|enum|int|double|long|bool|object|array"
    shape = StringShape.from_pattern(pattern).exclude_values(["list", "int"])
    assert len(shape.dfa().rows) < 100
    expr = shape.to_expr(ANYHOW)
    for word in ("list", "int", "lists", "a list", "ints", "my date", "foo"):
        expected = re.search(pattern, word) is not None and word not in ("list", "int")
        assert accepts(expr, json.dumps(word)) == expected


@pytest.mark.parametrize(("pattern", "lengths", "languages"), [
    ("^$", (0, None), 1),
    ("^(?=.{2,4}$)[ab]*$", (2, 4), 1), ("(?=^.{3,}$)^a*b*$", (3, None), 1), (r"^(?=.{1,3}$)[\s\S]*$", (1, 3), 2),
    ("^(?=.{0,5}$)(?=.*b)(?=[ab]{2,9}$).*$", (2, 5), 2), ("^(?=.{2,4})[ab]*$", (0, None), 1),
    ("(?=.{2,4}$)[ab]*$", (0, None), 1), ("^(?!.{2,4}$)[ab]*$", (0, None), 1), ("^(?=.{1,2}$|b)[ab]*$", (0, None), 1),
    ("^$", (0, None), 1), ("", (0, None), 0),
])
def test_lengths_by_look_ahead(pattern: str, lengths: tuple[int, int | None], languages: int) -> None:
    shape = StringShape.from_pattern(pattern)
    assert ((shape.minimum, shape.maximum), len(shape.languages)) == (lengths, languages)
    whole = pattern_language(pattern)
    for n in range(5):
        for chars in itertools.product("abc\n", repeat=n):
            text = "".join(chars)
            assert shape.contains(text) == whole.accepts(text, Limits()), text
            assert any(other.contains(text) for other in shape.complement()) != shape.contains(text), text


@pytest.mark.parametrize("other", [
    StringShape.of_values(["b", "\ud83d\ude00", "x"]), StringShape.of_lengths(2, 3), StringShape.of_lengths(0, 1),
    ANY_STRING.exclude_values(["a", "\ud83d\ude00"]), StringShape.from_pattern("^[ab]$"),
    StringShape.of_lengths(1).exclude_values(["b"])])
def test_values_are_kept_as_they_are_contained(other: StringShape) -> None:
    values = StringShape.of_values(["a", "b", "ab", "abc", "\U0001f600", ""])
    assert values.values is not None
    right = tuple(value for value in values.values if other.contains(value))
    for both in (values.intersect(other), other.intersect(values)):
        assert both is not None
        assert set(both.values or ()) == set(right)


@pytest.mark.parametrize("pattern", ["^x-", "x-", "-y$", "^x-$", "^", "$", "^$", "", "^x-y", "é", "^x.", "x|y"])
def test_patterns_that_are_a_text(pattern: str) -> None:
    """Looked for as texts, judged as ``re`` does."""
    shape = StringShape.from_pattern(pattern)
    others = shape.complement()
    for text in ("", "x-", "x-y", "ax-", "-y", "a-y", "x", "^x-", "é", "xé", "x-\n"):
        found = re.search(pattern.replace("$", r"\Z"), text) is not None
        assert shape.contains(text) is found, text
        assert any(other.contains(text) for other in others) is not found, text
        assert shape.dfa().accepts(text) is found, text
