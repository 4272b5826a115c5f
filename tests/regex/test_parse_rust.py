"""Rust's ``regex`` syntax against the crate itself, by way of Pydantic's core."""

from __future__ import annotations

import json
import random
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrained.errors import RegexError
from constrained.frontends.python_types.rust_patterns import rust_language
from constrained.limits import Limits

core = pytest.importorskip("pydantic_core")

LIMITS = Limits()
PATTERNS = [
    "", "a", "^a$", "a.c", r"^\d+$", r"^\w+$", r"^\W$", r"^\s*$", r"^\S\D$", r"(?i)^straße|K$", r"^(?i:a)b$", "(?m)^a$",
    "(?s)a.b", r"\bfoo\b", r"\Bo", r"^[[:alpha:]]+[[:^digit:]]$", r"^[[:punct:][:space:]]$", r"^\p{L}\p{Lu}$", r"^\pN$",
    r"^\p{Greek}+$", r"^\P{L}$", r"^[\p{Lu}\d_]+$", r"^[^\w\s]$", r"^\x41\x{42}\u0043\u{44}\U00000045$", r"\Aa\z",
    "a{2,3}?b", "(?:ab)*", "a|b|^$", "(?P<n>a)(?<m>b)", r"^\-\/\#\ \~$", "^[]a]$", "^[^]a]$",
    "^[a-]$", "^[-a]$", r"^[\]\-\\]$", "^}$", "^]$", "^(a|(b|c)d)?$", "x*", "^[^a]*$", r"^\.\*$", r"[\n\t]", "é", "^.$",
    r"^[+-]?[0-9]+(?:\.[0-9]*)?$", r"^[a-z0-9]+(?:-[a-z0-9]+)*$", r"(?i)^[k-m]$", r"(?i)^[^k]$", r"^\v\f$", "^a{0}$",
    r"^(?-i:a)$", "(?ims)A.b$",
]
TEXTS = [
    "", "a", "ab", "b", "abc", "a\nc", "a\n", "\na", "x\na\ny", "12", "١٢", "é", "É", "_", "‿", "\u200d", "\u200c",
    "\x1c", "\x85", "\xa0", "\u2028", "\u180e", "\ufeff", "ß", "ẞ", "STRASSE", "STRAßE", "straẞe", "K", "k", "\u212a",
    "ſ", "foo", "a foo b", "foobar", "oo", "Ω", "ωα", "ΩΑ", "Ⅷ", "①", "²", "ABCDE", "aab", "aaab", "ab", "abab", "d",
    "bd", "-/# ~", "]", "^", "-", "\\", "}", ".*", "\t", "1.5", "+1", "-2.", "a-b-c", "l", "L", "\x0b\x0c", "😀", "aXb",
    "1", "A1_", "!", " ", "ab1", "zé1", "Aé", "É",
]
REFUSED = ["a++", "a**", "[a[b]]", "[a&&b]", "[a--b]", "[a~~b]", "(?x)a b", "(?U)a*", "(?R)a$", "a(?i)b", r"\b{start}a",
           "^*", r"\p{^L}"]


def read_by_crate(pattern: str) -> Any:
    return core.SchemaValidator(core.core_schema.str_schema(pattern=pattern))


def is_valid(validator: Any, text: str) -> bool:
    try:
        validator.validate_json(json.dumps(text))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("pattern", PATTERNS)
def test_searches_like_the_crate(pattern: str) -> None:
    validator, language = read_by_crate(pattern), rust_language(pattern, LIMITS)
    for text in TEXTS:
        assert language.accepts(text, LIMITS) == is_valid(validator, text), text


@pytest.mark.parametrize("pattern", REFUSED)
def test_refused_with_its_position(pattern: str) -> None:
    with pytest.raises(RegexError, match="position"):
        rust_language(pattern, LIMITS)


CLASSES = [r"\d", r"\s", r"\w", r"\p{L}", r"\p{Lu}", "[[:alpha:]]", "(?i:k)", "(?i:s)", "(?i:é)", "(?i:[α-ω])",
           "(?i:ß)", "(?i:ǆ)", "(?i:ΐ)", ".", r"\W", r"\P{L}", r"[^\w]", r"[^\d\p{L}]", r"\p{Greek}"]


@pytest.mark.parametrize("char", CLASSES)
def test_classes_hold_the_same_characters(char: str) -> None:
    """Of those that the running Python's Unicode tables know: others may be missing, never too many."""
    validator, language = read_by_crate(f"^{char}$"), rust_language(f"^{char}$", LIMITS)
    rng = random.Random(0)
    codes = [*range(0x600), *range(0x1E00, 0x2100), *rng.sample(range(0x600, 0x20000), 1500)]
    for code in codes:
        if 0xD800 <= code < 0xE000:
            continue
        text = chr(code)
        ours, theirs = language.accepts(text, LIMITS), is_valid(validator, text)
        assert ours == theirs or (theirs and unicodedata.category(text) == "Cn"), hex(code)


pieces = st.sampled_from(["a", "b", "A", "é", ".", r"\d", r"\w", r"\s", "^", "$", r"\b", "[ab]", "[^a]", "[b-é]",
                          r"\."])
trees = st.recursive(pieces, lambda inner: st.one_of(
    st.builds(lambda a, b: a + b, inner, inner), st.builds(lambda a, b: f"(?:{a}|{b})", inner, inner),
    st.builds(lambda a, n: f"(?:{a}){n}", inner, st.sampled_from(["*", "+?", "?", "{2}", "{1,2}"])),
    st.builds(lambda a: f"(?i:{a})", inner)), max_leaves=6)


@settings(max_examples=300, deadline=None)
@given(pattern=trees, texts=st.lists(st.text("abAé1 \n_", max_size=5), min_size=3, max_size=6))
def test_random_patterns(pattern: str, texts: list[str]) -> None:
    validator, language = read_by_crate(pattern), rust_language(pattern, LIMITS)
    for text in texts:
        assert language.accepts(text, LIMITS) == is_valid(validator, text), text
