"""What any text beside it makes needless goes, and nothing else changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.limits import Limits
from constrained.regex.absorb import absorbed
from constrained.regex.determinise import determinise
from constrained.regex.dfa import minimise
from constrained.regex.parse_ecma import parse_ecma
from constrained.regex.rewrite import search_form, simplify
from constrained.regex.syntax import Node, Repeat, walk

LIMITS = Limits()

atoms = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "ab", r"[\s\S]"])
counts = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}"])
grouped = "(?:{})".format
pieces = st.recursive(
    st.builds(str.__add__, atoms, counts),
    lambda inner: st.one_of(
        st.builds("".join, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts, count: grouped("|".join(parts)) + count,
                  st.lists(inner, min_size=1, max_size=3), counts)),
    max_leaves=6)
patterns = st.builds(
    lambda start, parts, test, end: start + "|".join(parts) + test + end,
    st.sampled_from(["", "", "^"]), st.lists(pieces, min_size=1, max_size=2),
    st.sampled_from(["", "", "", r"\b", "(?=a)"]), st.sampled_from(["", "", "$"]))


def sought(pattern: str) -> Node:
    return simplify(search_form(parse_ecma(pattern, LIMITS)))


@given(patterns)
def test_the_language_stays(pattern: str) -> None:
    tree = sought(pattern)
    before, after = (minimise(determinise(one, LIMITS)) for one in (tree, absorbed(tree)))
    for text in ("", "a", "b", "c", "\n", "ab", "ba", "aa", "bb", "abc", "cab", "a\nb", "aab", "bba", "aaaa", "abab",
                 "cccc", "bbbb", "aabb", "b\na", "abcabc", "\n\n\n", "babab"):
        assert before.accepts(text) == after.accepts(text), (pattern, text)
    assert len(before.rows) == len(after.rows) and before.accepting == after.accepting, pattern


@pytest.mark.parametrize(("pattern", "counts"), [
    ("[a-z]{1,1023}", []), ("[a-z]{5,1023}", [(5, 5)]), ("a{3,7}b{2,9}", [(3, 3), (2, 2)]), ("(ab?){2,9}", [(0, 1)]),
    ("x(?:y|zz?)*", []), (r"arn:[^:]{1,63}:[^/].{0,1023}", [(1, 63)]), ("^a{1,5}", []), ("a{1,5}$", []),
])
def test_counts_at_an_end_go(pattern: str, counts: list[tuple[int, int]]) -> None:
    found = [(node.minimum, node.maximum) for node in walk(absorbed(sought(pattern)))
             if isinstance(node, Repeat) and node.maximum is not None]
    assert found == counts, found


@pytest.mark.parametrize("pattern", ["", ".*", r"[\s\S]*", "a?|b", "(?:a*|b{0,9})"])
def test_what_may_be_empty_is_found_in_any_text(pattern: str) -> None:
    (any_text,) = [node for node in walk(absorbed(sought(pattern))) if isinstance(node, Repeat)]
    assert (any_text.minimum, any_text.maximum) == (0, None)


def test_what_says_no_more_than_it_must_comes_back_as_it_is() -> None:
    for pattern in ("abc", "^a{1,5}$", "a[^b]{4}c", "a{1,5}(?!b)"):
        tree = sought(pattern)
        assert absorbed(tree) is tree


@pytest.mark.parametrize(("pattern", "same"), [
    ("(?=a)^b", "^(?=a)b"), (r"(?=.{2,3}$)(^(?!b)[ab]*$)", r"^(?=.{2,3}$)(?!b)[ab]*$"), (r"\b(?=a)^a", r"^\b(?=a)a"),
])
def test_an_anchor_to_the_start_is_asked_first(pattern: str, same: str) -> None:
    one, other = (minimise(determinise(sought(text), LIMITS)) for text in (pattern, same))
    for text in ("", "a", "b", "ab", "aa", "ba", "aab", "abab", "bab"):
        assert one.accepts(text) == other.accepts(text) == bool(re.search(pattern, text)), text
