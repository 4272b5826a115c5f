"""Patterns beside a greatest length: counts that no text reaches are left out, and nothing else changes."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler
from constrained.frontends.json_schema.lengths import without_far_counts
from constrained.frontends.json_schema.strings import StringShape, pattern_language
from constrained.regex.dfa import no_text
from constrained.regex.syntax import Repeat, walk

TEXTS = ["".join(chars) for size in range(6) for chars in itertools.product("ab-", repeat=size)]

_atoms = st.sampled_from(["a", "b", "[ab]", ".", "[^a]", "-", "ab", "^", "$", "(?=a)", "(?!.*b)", r"\b"])
_counts = st.sampled_from(["", "{0,2}", "{1,3}", "{2}", "{1,4}", "{0,5}", "{2,5}", "?", "+", "*"])


def _grow(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(parts, min_size=2, max_size=3).map("".join),
        st.lists(parts, min_size=2, max_size=2).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.builds("(?:{}){}".format, parts, _counts),
        st.builds("(?={})".format, parts),
    )


patterns = st.recursive(_atoms, _grow, max_leaves=6)


@given(patterns, st.integers(1, 5), st.booleans())
@settings(max_examples=150, deadline=None)
@example("a[ab]{1,3}b", 5, False)
@example("a[ab]{1,2}b", 5, True)
@example("^(?:a{1,3}-?){1,2}$", 4, False)
@example("^(?:ab|b{0,3})-a{1,2}$", 4, True)
def test_among_texts_of_the_length_nothing_changes(pattern: str, most: int, negated: bool) -> None:
    shape = StringShape.from_pattern(pattern)
    other = shape if not negated else next(iter(shape.complement()), StringShape.of_values(()))
    both = StringShape.of_lengths(0, most).intersect(other)
    dfa = no_text() if both is None else both.dfa()
    found = re.compile(pattern.replace(r"\b", r"(?a:\b)").replace("$", r"\Z"))
    for text in TEXTS:
        expected = len(text) <= most and (found.search(text) is not None) != negated
        assert dfa.accepts(text) == expected, text


@pytest.mark.parametrize(("pattern", "most", "left"), [
    ("^a[ab]{1,61}b$", 63, 0), ("^a[ab]{1,61}b$", 64, 1), ("a[ab]{1,61}b", 63, 0), ("^(?:a{1,9}|b{1,4})$", 5, 1),
    ("^(?:[ab]+/?){3,16}$", 16, 0), ("^(?:[ab]+/?){3,16}$", 17, 1), ("^(?:aa){1,3}$", 7, 0), ("^(?:aa){1,3}$", 8, 1),
    ("^(?:a{0,5}-){3}$", 8, 0), ("^(?:a{0,5}-){3}$", 9, 1), ("^(?=a{1,9})[ab]+$", 3, 1),
])  # fmt: skip
def test_which_counts_are_left(pattern: str, most: int, left: int) -> None:
    language = pattern_language(pattern)
    assert language.tree is not None
    tree = without_far_counts(language.tree, most)
    bounds = [node for node in walk(tree) if isinstance(node, Repeat) and node.maximum not in (None, 1, node.minimum)]
    assert len(bounds) == left
    assert (tree is language.tree) == (left == 1 and pattern != "^(?:a{1,9}|b{1,4})$")


#: Patterns beside lengths of which each was over a budget once: values in, values out.
KINDS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "a count that the length says": (
        {"pattern": "[a-z0-9][.a-z0-9-]{1,61}[a-z0-9]", "minLength": 3, "maxLength": 63},
        ["a-b", "?a.b", "a" * 63, "-" * 30 + "a--0" + "-" * 29], ["ab", "a-?b", "a" * 64, "-" * 63]),
    "a group with a far count": (
        {"pattern": r"^https://([.\-_a-z0-9]+/?){3,1016}$", "maxLength": 256},
        ["https://abc", "https://a.b/c-d/e/"], ["https://ab", "https://a//bc", "https://" + "a" * 249]),
    "found anywhere": (
        {"pattern": r"id:xy(-[\w]+)*:[a-z0-9-.]{0,63}:[a-z0-9-.]{0,63}:[0-9]{12}:(\w|/|-){1,1011}", "minLength": 1,
         "maxLength": 1011},
        ["id:xy::a.b:012345678901:z", "é id:xy-q:::012345678901:/ é"],
        ["id:xy::a.b:01234567890:z", "id:xy::" + "a" * 64 + ":012345678901:z"]),
    "classes of many characters": (
        {"pattern": r"[\p{L}\p{Z}\p{N}_.:/=+@-]+", "minLength": 1, "maxLength": 128},
        ["a", "#é#", "漢" * 128], ["", "###", "漢" * 129]),
    "many states of few bytes": (
        {"pattern": r"^p:.{1,63}:mm:::q/[a-zA-Z0-9_.-]{1,1023}/[a-z0-9_.-]{1,1023}/(?:\d+|\$DEFAULT)$",
         "maxLength": 1224},
        ["p:é:mm:::q/A/b/7", "p:x:mm:::q/" + "a" * 600 + "/b/$DEFAULT"],
        ["p::mm:::q/A/b/7", "p:x:mm:::q/" + "a" * 1024 + "/b/7", "p:x:mm:::q/A/b/$DEFAUL"]),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_that_were_refused(name: str) -> None:
    schema, valid, invalid = KINDS[name]
    grammar = byte_compiler().compile_json_schema({"type": "string", **schema})
    for ascii_only in (False, True):
        assert [text for text in valid if not accepts(grammar, json.dumps(text, ensure_ascii=ascii_only))] == []
        assert [text for text in invalid if accepts(grammar, json.dumps(text, ensure_ascii=ascii_only))] == []


def test_an_automaton_over_the_limit_is_still_refused() -> None:
    """Which of the last 16 characters was an ``a`` takes 2**16 states."""
    schema = {"type": "string", "pattern": "^(?:ab?|b)*a[ab]{16}$", "maxLength": 200}
    with pytest.raises(cd.GrammarLimitError, match="no small automaton"):
        byte_compiler().compile_json_schema(schema, limits=cd.Limits(max_dfa_states=2_000))


@pytest.mark.parametrize("pattern", ["b", "a|^b", "^(a|-)*$", "^(aa|bbb)+$", "^(aa)*b?$", "^(?!a)", "^.*a.b$"])
@pytest.mark.parametrize("least, most", [(0, 0), (1, 1), (0, 2), (3, 3), (2, 4), (3, None)])
def test_short_lengths_beside_patterns(pattern: str, least: int, most: int | None) -> None:
    """As values and as keys, those of which there is none among them."""
    schema = {"pattern": pattern, "minLength": least} | ({} if most is None else {"maxLength": most})
    members = {text for text in TEXTS if re.search(pattern.replace("$", r"\Z"), text)
               and least <= len(text) <= (most or 0 if most is not None else 5)}
    value = byte_compiler().compile_json_schema(
        {"properties": {"k": {"type": "string", **schema}}, "type": "object", "additionalProperties": False})
    key = byte_compiler().compile_json_schema(
        {"type": "object", "propertyNames": schema, "additionalProperties": {"const": 1}, "maxProperties": 1})
    assert accepts(value, "{}") and accepts(key, "{}")
    for text in [*TEXTS[:40], *sorted(members)[:20], *TEXTS[40::7]]:
        assert accepts(value, f'{{"k": "{text}"}}') == (text in members)
        assert accepts(key, f'{{"{text}": 1}}') == (text in members)
