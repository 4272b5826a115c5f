r"""Character classes and properties as ranges, taken from the running Python's own Unicode tables.

Idea: nothing is copied that the interpreter knows, but what it knows is kept where it takes long to ask
(``unicode_runs``; else 5 to 50 ms, once). ``\w \d \s`` are those of ``re``; general categories and the derived binary
properties come from ``unicodedata`` and ``str`` methods. Code points of planes 4 to 13 are unassigned and those of
planes 15 and 16 private, in every version of Unicode so far, so planes 0 to 3 and 14 are looked at one by one. Scripts
and the binary properties that Python has no table for come from ``property_data``; any other name is refused.

Names are matched as ECMA-262 does (section "Runtime Semantics: UnicodeMatchProperty"): exactly, in the
spellings of PropertyAliases.txt and PropertyValueAliases.txt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

from constrained.regex import property_data
from constrained.regex.charset import ANY, Ranges, complement, intersection, normalise, of_text, subtract, union
from constrained.regex.unicode_runs import PLANE_14_SIZE, UNASSIGNED, labelled, packed_runs, place_of, unpacked_runs

__all__ = ["ASCII_DIGITS", "ASCII_SPACES", "ASCII_WORD", "ECMA_LINE_ENDS", "ECMA_SPACES", "categories_of_characters",
           "classes_of_characters", "code_points", "python_digits", "python_spaces", "python_word", "unicode_property"]

ASCII_DIGITS: Ranges = ((0x30, 0x39),)
ASCII_SPACES: Ranges = ((0x09, 0x0D), (0x20, 0x20))
ASCII_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))

#: ECMA-262, "White Space" and "Line Terminators": what ``\s`` means there.
ECMA_LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
ECMA_SPACES: Ranges = ((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
                       (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF))

_PRIVATE: Ranges = ((0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))


@cache
def code_points() -> str:
    """The looked-at code points in order, NUL in place of surrogates. Built as UTF-32, column by column."""
    size = UNASSIGNED + PLANE_14_SIZE
    data = bytearray(4 * size)
    data[0::4] = bytes(range(256)) * (size // 256)
    middle = b"".join(bytes((row,)) * 256 for row in range(256)) * (UNASSIGNED // 0x10000)
    data[1::4] = middle + middle[:PLANE_14_SIZE]
    planes = [*range(UNASSIGNED // 0x10000)]
    data[2::4] = b"".join(bytes((plane,)) * 0x10000 for plane in planes) + b"\x0e" * PLANE_14_SIZE
    data[4 * 0xD800 : 4 * 0xE000] = bytes(4 * 0x800)
    return data.decode("utf-32-le")


#: What ``classes_of_characters`` tells apart, a bit each.
_CLASSES: dict[str, Callable[[str], object]] = {
    "word": re.compile(r"\w").match, "digit": re.compile(r"\d").match, "space": re.compile(r"\s").match,
    "lower": str.islower, "upper": str.isupper, "starts": str.isidentifier,
    "goes on": lambda char: ("a" + char).isidentifier(),
}
#: General categories, in the order in which ``categories_of_characters`` numbers them.
_CATEGORIES = ("Cc Cf Cn Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs").split()


def classes_of_characters() -> list[int]:
    """Of each code point that is looked at the ``_CLASSES`` that it is in; some 0.2 s."""
    return [sum(1 << bit for bit, test in enumerate(_CLASSES.values()) if test(char)) for char in code_points()]


def categories_of_characters() -> list[int]:
    """The general category of each code point that is looked at, by its place in ``_CATEGORIES``; some 30 ms."""
    number = {name: index for index, name in enumerate(_CATEGORIES)}
    return list(map(number.__getitem__, map(unicodedata.category, code_points())))


@cache
def _class_table() -> dict[int, Ranges] | None:
    return labelled("classes")


@lru_cache(maxsize=16)
def _class(name: str) -> Ranges:
    """The characters of one of ``_CLASSES``."""
    table = _class_table()
    if table is not None:
        bit = list(_CLASSES).index(name)
        return normalise(pair for label, ranges in table.items() if label >> bit & 1 for pair in ranges)
    test = _CLASSES[name]
    return normalise((code, code) for index, char in enumerate(code_points())
                     if test(char) for code in (place_of(index),))


def python_word() -> Ranges:
    r"""``\w`` of Python's ``re`` for text."""
    return _class("word")


def python_digits() -> Ranges:
    r"""``\d`` of Python's ``re`` for text."""
    return _class("digit")


def python_spaces() -> Ranges:
    r"""``\s`` of Python's ``re`` for text."""
    return _class("space")


@cache
def _categories() -> dict[str, Ranges]:
    """General category (two letters) to its code points."""
    found = labelled("categories")
    if found is None:
        found = unpacked_runs(packed_runs(categories_of_characters()))
    table = dict.fromkeys(_CATEGORIES, ()) | {_CATEGORIES[label]: ranges for label, ranges in found.items()}
    table["Co"] = union(table["Co"], _PRIVATE)
    table["Cs"] = ()
    table["Cn"] = complement(union(*(table[name] for name in table if name != "Cn")))
    return table


#: PropertyValueAliases.txt, gc: short name, long name, further aliases; one-letter and LC groups below.
_CATEGORY_NAMES = """
Lu Uppercase_Letter|Ll Lowercase_Letter|Lt Titlecase_Letter|Lm Modifier_Letter|Lo Other_Letter
Mn Nonspacing_Mark|Mc Spacing_Mark|Me Enclosing_Mark|Nd Decimal_Number digit|Nl Letter_Number|No Other_Number
Pc Connector_Punctuation|Pd Dash_Punctuation|Ps Open_Punctuation|Pe Close_Punctuation|Pi Initial_Punctuation
Pf Final_Punctuation|Po Other_Punctuation|Sm Math_Symbol|Sc Currency_Symbol|Sk Modifier_Symbol|So Other_Symbol
Zs Space_Separator|Zl Line_Separator|Zp Paragraph_Separator|Cc Control cntrl|Cf Format|Cs Surrogate|Co Private_Use
Cn Unassigned|L Letter|LC Cased_Letter|M Mark Combining_Mark|N Number|P Punctuation punct|S Symbol|Z Separator
C Other
"""

_CATEGORY_OF = {name: names.split()[0] for names in _CATEGORY_NAMES.replace("\n", "|").split("|")
                for name in names.split()}


def _category(short: str) -> Ranges:
    table = _categories()
    if short == "LC":
        return union(table["Lu"], table["Ll"], table["Lt"])
    if len(short) == 2:
        return table[short]
    return union(*(ranges for name, ranges in table.items() if name[0] == short))


def _id_start() -> Ranges:
    # UAX #31, ID_Start = L + Nl + Other_ID_Start - Pattern_Syntax - Pattern_White_Space.
    other = ((0x1885, 0x1886), (0x2118, 0x2118), (0x212E, 0x212E), (0x309B, 0x309C))
    return subtract(union(_category("L"), _category("Nl"), other), ((0x2E2F, 0x2E2F),))


def _id_continue() -> Ranges:
    marks = union(*(_category(name) for name in ("Mn", "Mc", "Nd", "Pc")))
    other: Ranges = ((0xB7, 0xB7), (0x387, 0x387), (0x1369, 0x1371), (0x19DA, 0x19DA))
    if tuple(map(int, unicodedata.unidata_version.split(".")[:2])) >= (15, 1):
        other += ((0x200C, 0x200D), (0x30FB, 0x30FB), (0xFF65, 0xFF65))
    return union(_id_start(), marks, other)


#: PropList.txt, White_Space: stable by policy.
_WHITE_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
                        (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000))
_HEX = of_text("0123456789abcdefABCDEF")
_FULL_WIDTH_HEX: Ranges = ((0xFF10, 0xFF19), (0xFF21, 0xFF26), (0xFF41, 0xFF46))

#: Binary properties (ECMA-262, table "Binary Unicode property aliases") that Python's data decide exactly.
_BINARY: dict[str, Callable[[], Ranges]] = {
    "Any": lambda: ANY,
    "ASCII": lambda: ((0, 0x7F),),
    "Assigned": lambda: complement(_category("Cn")),
    "ASCII_Hex_Digit": lambda: _HEX,
    "Hex_Digit": lambda: union(_HEX, _FULL_WIDTH_HEX),
    "ID_Start": _id_start,
    "ID_Continue": _id_continue,
    "Lowercase": lambda: _class("lower"),
    "Uppercase": lambda: _class("upper"),
    "Noncharacter_Code_Point": lambda: normalise(
        [(0xFDD0, 0xFDEF), *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000))]),
    "Pattern_White_Space": lambda: ((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0x200E, 0x200F), (0x2028, 0x2029)),
    "Regional_Indicator": lambda: ((0x1F1E6, 0x1F1FF),),
    "Variation_Selector": lambda: ((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
    "White_Space": lambda: _WHITE_SPACE,
    "XID_Start": lambda: subtract(_class("starts"), ((0x5F, 0x5F),)),
    "XID_Continue": lambda: _class("goes on"),
}

_BINARY_ALIASES = {"AHex": "ASCII_Hex_Digit", "Hex": "Hex_Digit", "IDS": "ID_Start", "IDC": "ID_Continue",
                   "Lower": "Lowercase", "Upper": "Uppercase", "NChar": "Noncharacter_Code_Point",
                   "Pat_WS": "Pattern_White_Space", "RI": "Regional_Indicator", "VS": "Variation_Selector",
                   "space": "White_Space", "XIDS": "XID_Start", "XIDC": "XID_Continue"}


@cache
def _records(table: str) -> dict[str, str]:
    """A table of ``property_data``: each of a property's names to its ranges, still coded."""
    found: dict[str, str] = {}
    for record in table.strip().replace("\n ", " ").split("\n"):
        names, _, ranges = record.partition(": ")
        found.update(dict.fromkeys(names.split(), ranges))
    return found


def _decoded(record: str) -> Ranges:
    numbers = [int(number, 36) for number in record.split()]
    pairs: list[tuple[int, int]] = []
    at = 0
    for gap, more in zip(numbers[::2], numbers[1::2], strict=True):
        pairs.append((at + gap, at + gap + more))
        at += gap + more + 1
    return normalise(pairs)


def _script(name: str, extended: bool) -> Ranges | None:
    scripts, extensions = _records(property_data.SCRIPTS), _records(property_data.SCRIPT_EXTENSIONS)
    if name in ("Unknown", "Zzzz"):
        return complement(union(*(_decoded(record) for record in scripts.values())))
    if name not in scripts:
        return None
    own = _decoded(scripts[name])
    if not extended:
        return own
    if scripts[name] in (scripts["Common"], scripts["Inherited"]):
        # What belongs to scripts by extension is common no more.
        return subtract(own, union(*(_decoded(record) for record in extensions.values())))
    codes = [code for code in extensions if scripts[code] == scripts[name]]
    return union(own, *(_decoded(extensions[code]) for code in codes))


@lru_cache(maxsize=256)
def unicode_property(expression: str) -> Ranges | None:
    r"""The code points of ``\p{expression}``; None where there is no exact table for that name.

    ``expression`` is a general category (``Lu``, ``Letter``, ``gc=Nd``), a script (``Script=Greek``, ``scx=Grek``) or
    a binary property (``Alphabetic``).
    """
    name, equals, value = expression.partition("=")
    if equals:
        if name in ("General_Category", "gc") and value in _CATEGORY_OF:
            return _category(_CATEGORY_OF[value])
        if name in ("Script", "sc", "Script_Extensions", "scx"):
            return _script(value, extended=name in ("Script_Extensions", "scx"))
        return None
    if name in _CATEGORY_OF:
        return _category(_CATEGORY_OF[name])
    make = _BINARY.get(_BINARY_ALIASES.get(name, name))
    if make is not None:
        return intersection(make(), ANY)
    record = _records(property_data.BINARY).get(name)
    return None if record is None else _decoded(record)
