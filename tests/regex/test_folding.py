"""Case folding against ``re`` itself, over all code points."""

from __future__ import annotations

import re
from functools import cache

import pytest

from constrained.regex import parse_python
from constrained.regex.charset import ANY, Ranges, complement, contains, intersection, normalise
from constrained.regex.folding import LAST_CASED, ecma_closure, python_ignore_case
from constrained.regex.syntax import CharSet, Text


@cache
def everything() -> str:
    return "".join(chr(code) for low, high in ANY for code in range(low, high + 1))


@cache
def cased() -> list[str]:
    return [c for c in everything() if c.lower() != c or c.upper() != c or c.title() != c or c.casefold() != c]


@cache
def sample() -> str:
    """All cased characters, all of the first blocks, and every 61st of the others."""
    return "".join(sorted({*cased(), *everything()[:0x2000], *everything()[::61]}))


@cache
def sampled() -> Ranges:
    return normalise((ord(char), ord(char)) for char in sample())


def matched(pattern: str) -> Ranges:
    node = parse_python(pattern)
    if isinstance(node, Text):
        return ((ord(node.chars), ord(node.chars)),)
    assert isinstance(node, CharSet)
    return node.ranges


def expected(pattern: str, among: str) -> Ranges:
    return normalise((ord(char), ord(char)) for char in re.findall(pattern, among))


def test_no_cased_character_is_overlooked() -> None:
    assert max(map(ord, cased())) <= LAST_CASED


def test_single_characters() -> None:
    among = "".join(cased())
    for char in cased():
        assert matched("(?i)" + char) == expected("(?i)" + char, among), hex(ord(char))


@pytest.mark.parametrize("pattern", [
    "[a-z]", "[^a-z]", "[k-s]", "[^K]", "[µΐ]", "[ſ]", "[^ſ]", "[ı]", "[^İ]", r"[\W]", r"[^\W]", r"[a\W]", r"[^a\W]",
    r"[ß-ÿ]", r"[^\x00-\uffff]", "[Ā-ſ]", "[^Ά-Ώ]", r"[\s\da]", "[\u0345x]", "[\u1e9ey]", "[\U00010400-\U00010410]",
    "[^\U00010400-\U00010410]", r"[\u0000-\U0010ffff]", "[Ꭰ-Ꮴ]", "[ꭰx]", "[ǅ]", r"\w", r"\W", "[1]", "[^1]",
])  # fmt: skip
@pytest.mark.parametrize("flags", ["(?i)", "(?ai)", ""])
def test_sets(pattern: str, flags: str) -> None:
    if flags == "(?ai)" and "\U00010400" in pattern:
        pytest.skip("CPython folds ranges beyond the BMP even under ASCII; we do what (?a) says")
    found = intersection(matched(flags + pattern), sampled())
    assert found == expected(flags + pattern, sample())


def test_a_set_of_single_characters_beyond_the_bmp_is_case_insensitive_too() -> None:
    # CPython forgets to lower such members, so [\U00010400x] matches neither case there; we do what (?i) says.
    assert re.fullmatch("(?i)[\U00010400x]", "\U00010400") is None
    assert matched("(?i)[\U00010400x]") == ((0x58, 0x58), (0x78, 0x78), (0x10400, 0x10400), (0x10428, 0x10428))


@pytest.mark.parametrize(("members", "closed"), [
    # CaseFolding.txt, status C and S: what /[..]/iu matches.
    ("k", "kK\u212a"), ("s", "sSſ"), ("ß", "ßẞ"), ("ẞ", "ßẞ"), ("i", "iI"), ("İ", "İ"), ("ı", "ı"), ("å", "åÅ\u212b"),
    ("µ", "µΜμ"), ("σ", "σςΣ"), ("ǆ", "ǆǅǄ"), ("ᾀ", "ᾀᾈ"), ("Ω", "Ωω\u2126"), ("θ", "θΘϑϴ"), ("ꭰ", "ꭰᎠ"), ("1", "1"),
    ("\ufb05", "\ufb05\ufb06"), ("\u1fd3", "\u0390\u1fd3"), ("\U00010400", "\U00010400\U00010428"), ("", ""),
])  # fmt: skip
def test_ecma_closure(members: str, closed: str) -> None:
    assert ecma_closure(normalise((ord(c), ord(c)) for c in members)) == normalise((ord(c), ord(c)) for c in closed)


def test_closures_are_closed() -> None:
    for char in cased():
        ranges = ecma_closure(((ord(char), ord(char)),))
        assert contains(ranges, ord(char))
        assert ecma_closure(ranges) == ranges
    for char in cased()[::50]:
        outside = complement(ecma_closure(((ord(char), ord(char)),)))
        assert ecma_closure(outside) == outside


def test_properties_keep_their_case_variants() -> None:
    # Not in re: a property is treated as the ranges it stands for.
    assert contains(matched(r"(?i)\p{Lu}"), ord("a"))
    assert not contains(python_ignore_case(((65, 65),), (), True, False), ord("a"))
