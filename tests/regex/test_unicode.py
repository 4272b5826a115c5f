"""Properties against ``unicodedata``, ``str`` and ``re``, over all code points."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

import pytest

from constrained.frontends.json_schema.formats_idn import kinds_of_characters
from constrained.regex import property_data, unicode, unicode_runs
from constrained.regex.charset import ANY, Ranges, complement, contains, intersection, subtract, union
from constrained.regex.unicode import (
    ECMA_SPACES,
    categories_of_characters,
    classes_of_characters,
    python_digits,
    python_spaces,
    python_word,
    unicode_property,
)
from constrained.regex.unicode_data import RUNS
from constrained.regex.unicode_runs import packed_runs, place_of, unpacked_runs


@cache
def everything() -> str:
    return "".join(chr(code) for low, high in ANY for code in range(low, high + 1))


def as_ranges(codes: list[int]) -> Ranges:
    found: list[list[int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1 and code != 0xE000:
            found[-1][1] = code
        else:
            found.append([code, code])
    return tuple((low, high) for low, high in found)


def where(test) -> Ranges:  # type: ignore[no-untyped-def]
    return as_ranges([ord(char) for char in everything() if test(char)])


@pytest.mark.parametrize(("ranges", "pattern"), [
    (python_word(), r"\w"), (python_digits(), r"\d"), (python_spaces(), r"\s"),
])  # fmt: skip
def test_classes_are_those_of_re(ranges: Ranges, pattern: str) -> None:
    assert ranges == as_ranges([ord(char) for char in re.findall(pattern, everything())])
    assert complement(ranges) == as_ranges([ord(char) for char in re.findall(pattern.upper(), everything())])


def test_general_categories() -> None:
    codes: dict[str, list[int]] = {}
    for char in everything():
        codes.setdefault(unicodedata.category(char), []).append(ord(char))
    for name, members in codes.items():
        assert unicode_property(name) == as_ranges(members), name
        assert unicode_property(f"gc={name}") == unicode_property(f"General_Category={name}") == as_ranges(members)
    assert len(codes) == 29  # all but surrogates
    assert unicode_property("Cs") == ()


@pytest.mark.parametrize(("name", "test"), [
    ("Lowercase", str.islower), ("Upper", str.isupper), ("ASCII", str.isascii),
    ("XIDS", lambda c: c.isidentifier() and c != "_"), ("XID_Continue", lambda c: ("a" + c).isidentifier()),
    ("Letter", lambda c: unicodedata.category(c)[0] == "L"), ("L", str.isalpha), ("digit", str.isdecimal),
    ("LC", lambda c: unicodedata.category(c) in ("Lu", "Ll", "Lt")), ("Any", lambda c: True),
    ("Assigned", lambda c: unicodedata.category(c) != "Cn"), ("punct", lambda c: unicodedata.category(c)[0] == "P"),
])  # fmt: skip
def test_other_properties(name, test) -> None:  # type: ignore[no-untyped-def]
    assert unicode_property(name) == where(test)


def test_white_space_lists() -> None:
    # ECMA-262, table of white space: TAB VT FF ZWNBSP and Zs, and the line terminators.
    expected = {9, 10, 11, 12, 13, 0x2028, 0x2029, 0xFEFF} | {ord(c) for c in everything()
                                                              if unicodedata.category(c) == "Zs"}
    assert as_ranges(sorted(expected)) == ECMA_SPACES
    # Python counts the four separators U+001C to U+001F as space; Unicode's White_Space does not.
    assert unicode_property("White_Space") == where(lambda c: c.isspace() and not "\x1c" <= c <= "\x1f")


def test_identifier_properties_differ_from_the_closed_ones_only_where_normalisation_does() -> None:
    # UAX #31, section 5.1.3: XID_Start leaves out what NFKC would turn into something that starts none.
    closed, start = unicode_property("ID_Start"), unicode_property("XID_Start")
    assert closed is not None and start is not None
    assert subtract(start, closed) == ()
    apart = [chr(code) for low, high in subtract(closed, start) for code in range(low, high + 1)]
    assert 0 < len(apart) < 50
    assert not any(unicodedata.normalize("NFKC", char).isidentifier() for char in apart)


@pytest.mark.parametrize(("name", "inside", "outside"), [
    ("Script=Latin", "aéªꭠ", "1 αж漢"),
    ("sc=Grek", "αΩ", "aµ"), ("Script=Han", "漢々", "あ한"), ("sc=Hira", "あ", "アー"),
    ("scx=Hira", "あー", "ア漢"), ("scx=Kana", "アー", "あ"), ("Script=Common", " 1ー😀", "aа"),
    ("scx=Common", " 1😀", "ーa"),
    ("Script_Extensions=Latin", "aé", "α"), ("scx=Qaai", "\ufe0f", "a"), ("sc=Zzzz", "\u0378", "a"),
    ("Script=Cyrillic", "жЁ", "aα"), ("Script=Hangul", "한ᄀ", "漢"),
    ("Alphabetic", "aé漢\u0345Ⅷ", "1-_"), ("Alpha", "a", "1"), ("Emoji", "😀1#", "a"),
    ("Emoji_Presentation", "😀", "1a"),
    ("Extended_Pictographic", "😀©", "1a"), ("Cased", "aªⅷ", "漢1"), ("Dash", "-–", "_a"), ("Math", "+∑", "a-"),
    ("Ideographic", "漢〇", "あ"), ("Quotation_Mark", "\"'«", "a"), ("Pattern_Syntax", "!~", "a_"),
])  # fmt: skip
def test_properties_from_the_database(name: str, inside: str, outside: str) -> None:
    ranges = unicode_property(name)
    assert ranges is not None
    assert all(contains(ranges, ord(char)) for char in inside)
    assert not any(contains(ranges, ord(char)) for char in outside)


def test_each_code_point_has_one_script() -> None:
    names = [line.split(":")[0].split()[0] for line in property_data.SCRIPTS.strip().split("\n") if line[0] != " "]
    assert len(names) > 170
    tables = [unicode_property(f"sc={name}") or () for name in [*names, "Zzzz"]]
    assert sum(high - low + 1 for ranges in tables for low, high in ranges) == 0x110000 - 0x800
    assert union(*tables) == ANY
    for name in names:  # an extension adds to a script; only Common and Inherited give away
        own, extended = unicode_property(f"sc={name}"), unicode_property(f"scx={name}")
        assert own is not None and extended is not None
        assert subtract(own, extended) == () or name in ("Zyyy", "Zinh")
        assert subtract(extended, own) == () or name not in ("Zyyy", "Zinh")


def test_the_database_agrees_with_the_interpreter() -> None:
    def table(name: str) -> Ranges:
        return unicode_property(name) or ()

    assigned = table("Assigned")  # the interpreter's version of Unicode is older than the database's
    assert subtract(union(table("L"), table("Nl")), table("Alphabetic")) == ()
    # U+0295 was a lower-case letter until a later version of Unicode took its case away.
    assert subtract(table("LC"), table("Cased")) in ((), ((0x295, 0x295),))
    assert subtract(table("Pd"), table("Dash")) == ()
    assert subtract(table("Sm"), table("Math")) == ()
    assert subtract(intersection(table("sc=Zzzz"), assigned), union(table("Co"), table("Cn"))) == ()


@pytest.mark.parametrize("name", ["", "Klingon", "L=u", "gc=", "gc=Klingon", "letter", "lu", " L", "Emoji=Yes",
"Script", "sc=greek", "scx="])
def test_unknown_names(name: str) -> None:
    assert unicode_property(name) is None


@pytest.mark.parametrize(("kind", "asked"), [
    ("categories", categories_of_characters), ("classes", classes_of_characters), ("idn", kinds_of_characters),
])  # fmt: skip
def test_what_is_kept_is_what_python_says(kind: str, asked: Callable[[], list[int]]) -> None:
    text = packed_runs(asked())
    kept = RUNS.get(unicodedata.unidata_version)
    if kept is not None:
        assert kept[kind] == text, "run python -m tests.regex.make_unicode_data"
    codes = unpacked_runs(text)
    for index, label in list(enumerate(asked()))[::977]:
        code = place_of(index)
        assert [found for found, ranges in codes.items() if contains(ranges, code)] == (
            [] if 0xD800 <= code <= 0xDFFF else [label])


def test_a_python_of_another_unicode_asks_code_points(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: unicode_property(name) for name in ("Lu", "Cn", "P", "Lowercase", "ID_Start")}
    word = python_word()
    monkeypatch.setattr(unicode_runs, "RUNS", {})
    for cached in (unicode_property, unicode._categories, unicode._class_table, unicode._class):
        cached.cache_clear()
    assert {name: unicode_property(name) for name in known} == known
    assert python_word() == word
