r"""Strings and bytes as Pydantic reads them from JSON.

Where a type changes what it reads (``strip_whitespace``, ``to_lower``, ``to_upper``), only texts that it leaves as they
are are offered: every value has such a spelling, and lengths and patterns then mean the same before and after. White
space is Rust's (Unicode ``White_Space``), since Pydantic's core strips it.

Bytes are the UTF-8 of a string, whose lengths count bytes; or base64url or hexadecimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.strings import ANY_STRING, Language, StringShape
from constrained.frontends.python_types.languages import language, tree_language
from constrained.frontends.python_types.rust_patterns import RUST_SPACES, rust_language
from constrained.limits import Limits
from constrained.regex.builder import alternation, concat
from constrained.regex.charset import ANY, Ranges, complement, normalise
from constrained.regex.dfa import DEAD, Dfa
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import search_form, simplify
from constrained.regex.syntax import CharSet, Node, Repeat
from constrained.regex.unicode import code_points

__all__ = ["bytes_shapes", "string_shapes"]

_DEFAULT = {"strip_whitespace": "str_strip_whitespace", "to_lower": "str_to_lower", "to_upper": "str_to_upper",
            "min_length": "str_min_length", "max_length": "str_max_length", "ascii_only": "str_ascii_only"}


def string_shapes(schema: Mapping[str, Any], config: Mapping[str, Any], limits: Limits) -> list[StringShape]:
    """The strings of a core schema of type ``str``. Raises RegexError and GrammarLimitError for its pattern."""

    def setting(name: str) -> Any:
        value = schema.get(name)
        return config.get(_DEFAULT[name]) if value is None else value

    least, most = setting("min_length") or 0, setting("max_length")
    if most is not None and least > most:
        return []
    languages: list[Language] = []
    if setting("strip_whitespace"):
        languages.append(_stripped(least, most))
        least, most = 0, None
    change = "to_lower" if setting("to_lower") else "to_upper"  # of both the core does the first
    if setting(change):
        languages.append(_unchanged(change))
    if setting("ascii_only"):
        languages.append(language("ascii", r"[\x00-\x7f]*"))
    pattern = schema.get("pattern")
    if pattern is not None:
        engine = schema.get("regex_engine") or config.get("regex_engine") or "rust-regex"
        languages.append(_pattern(pattern, engine, limits))
    if not languages and not least and most is None:
        return [ANY_STRING]
    return [StringShape(least, most, tuple(languages))]


@lru_cache(maxsize=512)
def _pattern(pattern: str | re.Pattern[str], engine: str, limits: Limits) -> Language:
    if isinstance(pattern, re.Pattern):
        flags = "".join(letter for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S), ("x", re.X), ("a", re.A))
                        if pattern.flags & flag)
        text = f"(?{flags}:{pattern.pattern}\n)" if "x" in flags else (
            f"(?{flags}:{pattern.pattern})" if flags else pattern.pattern)
        return Language(pattern.pattern, simplify(search_form(parse_python(text, limits))))
    if engine == "python-re":
        return Language(pattern, simplify(search_form(parse_python(pattern, limits))))
    return rust_language(pattern, limits)


@lru_cache(maxsize=512)
def _stripped(least: int, most: int | None) -> Language:
    """Strings of a length without white space at either end."""
    edge = CharSet(complement(RUST_SPACES))
    options: list[Node] = []
    if least == 0:
        options.append(concat([]))
    if least <= 1 and (most is None or most >= 1):
        options.append(edge)
    if most is None or most >= 2:
        inner = Repeat(CharSet(ANY), max(least - 2, 0), None if most is None else most - 2)
        options.append(concat([edge, inner, edge]))
    return tree_language(f"stripped {least} {most}", alternation(options))


@cache
def _unchanged(name: str) -> Language:
    """Strings that ``to_lower`` or ``to_upper`` leaves as it is: all of characters that it leaves."""
    change = str.lower if name == "to_lower" else str.upper
    changed: list[tuple[int, int]] = []
    text = code_points()
    for index, char in enumerate(text[:0x20000]):
        if change(char) != char:
            changed.append((index, index))
    kept = complement(normalise(changed))
    return tree_language(name, Repeat(CharSet(kept), 0, None))


#: Characters by their length in UTF-8.
_BY_LENGTH: tuple[Ranges, ...] = (
    ((0, 0x7F),), ((0x80, 0x7FF),), ((0x800, 0xD7FF), (0xE000, 0xFFFF)), ((0x10000, 0x10FFFF),))
_BASE64 = "[A-Za-z0-9_-]"


def bytes_shapes(schema: Mapping[str, Any], config: Mapping[str, Any], limits: Limits) -> list[StringShape]:
    """The strings of a core schema of type ``bytes``."""
    least, most = schema.get("min_length") or 0, schema.get("max_length")
    if most is not None and least > most:
        return []
    mode = config.get("val_json_bytes", "utf8")
    if mode == "hex":
        count = f"{{{least},{'' if most is None else most}}}"
        return [StringShape(languages=(language(f"hex {count}", f"(?:[0-9a-fA-F]{{2}}){count}"),))]
    if mode == "base64":
        return [StringShape(languages=(_base64(least, most),))]
    if least <= 1 and most is None:
        return [StringShape(least, None) if least else ANY_STRING]
    return [StringShape(languages=(_utf8(least, most, limits),))]


@lru_cache(maxsize=512)
def _base64(least: int, most: int | None) -> Language:
    """Base64url with padding (RFC 4648 section 5) of so many bytes; bits that belong to no byte are zero."""
    options = []
    for over, tail in ((0, ""), (1, f"{_BASE64}[AQgw]=="), (2, f"{_BASE64}{{2}}[AEIMQUYcgkosw048]=")):
        low = max(0, -(-(least - over) // 3))
        high = None if most is None else (most - over) // 3
        if high is None or high >= low:
            options.append(f"(?:{_BASE64}{{4}}){{{low},{'' if high is None else high}}}{tail}")
    return language(f"base64 {least} {most}", "|".join(options))


@lru_cache(maxsize=64)
def _utf8(least: int, most: int | None, limits: Limits) -> Language:
    """Strings of so many bytes: an automaton that counts them."""
    end = least if most is None else most
    if end + 1 > limits.max_dfa_states:
        raise GrammarLimitError("max_dfa_states", limits.max_dfa_states, "a length in bytes is counted by states")
    rows = []
    for count in range(end + 1):
        row = [count + size + 1 if count + size + 1 <= end else (end if most is None else DEAD) for size in range(4)]
        rows.append(tuple(row))
    return Language(f"bytes {least} {most}", None, Dfa(_BY_LENGTH, tuple(rows), frozenset(range(least, end + 1))))
