"""Writes ``constrained/regex/property_data.py`` anew; run by hand after a new version of Unicode.

    pip install regex fonttools
    python tests/regex/make_property_data.py

The two packages carry the Unicode Character Database (Scripts.txt, ScriptExtensions.txt, PropList.txt,
DerivedCoreProperties.txt, emoji-data.txt). Scripts are taken only if both say the same.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import regex
from fontTools import unicodedata as fonttools

BINARY = """
Alphabetic Alpha|Bidi_Control Bidi_C|Case_Ignorable CI|Cased|Dash|Default_Ignorable_Code_Point DI|Deprecated Dep
Diacritic Dia|Emoji|Emoji_Component EComp|Emoji_Modifier EMod|Emoji_Modifier_Base EBase|Emoji_Presentation EPres
Extended_Pictographic ExtPict|Extender Ext|Grapheme_Base Gr_Base|Grapheme_Extend Gr_Ext|IDS_Binary_Operator IDSB
IDS_Trinary_Operator IDST|Ideographic Ideo|Join_Control Join_C|Logical_Order_Exception LOE|Math|Pattern_Syntax Pat_Syn
Quotation_Mark QMark|Radical|Sentence_Terminal STerm|Soft_Dotted SD|Terminal_Punctuation Term
Unified_Ideograph UIdeo
"""

CODES = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
TEXT = "".join(map(chr, CODES))


def runs(property_name: str) -> list[tuple[int, int]]:
    """The ranges of a property as ``regex`` has it; a run never spans the surrogates."""
    found: list[tuple[int, int]] = []
    for match in regex.finditer(rf"\p{{{property_name}}}+", TEXT):
        first, last = CODES[match.start()], CODES[match.end() - 1]
        found += [(first, 0xD7FF), (0xE000, last)] if first < 0xD800 < last else [(first, last)]
    return found


def base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def coded(ranges: list[tuple[int, int]]) -> str:
    """For each range: how far it begins after the last one, and how many more members it has."""
    numbers, at = [], 0
    for first, last in ranges:
        numbers += [first - at, last - first]
        at = last + 1
    return " ".join(map(base36, numbers))


def record(names: str, ranges: list[tuple[int, int]]) -> str:
    return "\n ".join(textwrap.wrap(f"{names}: {coded(ranges)}", 117))


def members(ranges: list[tuple[int, int]]) -> set[int]:
    return {code for first, last in ranges for code in range(first, last + 1)}


def ranges_of(codes: set[int]) -> list[tuple[int, int]]:
    found: list[list[int]] = []
    for code in sorted(codes):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return [(first, last) for first, last in found]


def main() -> None:
    scripts, extras = [], []
    sources = fonttools.Scripts.RANGES, fonttools.Scripts.VALUES
    borders = [*sources[0], 0x110000]
    by_code: dict[str, set[int]] = {}
    for start, end, code in zip(borders, borders[1:], sources[1], strict=False):
        by_code.setdefault(code, set()).update(range(start, end))
    for code in sorted(by_code):
        if code == "Zzzz":
            continue
        name = fonttools.Scripts.NAMES[code]
        aliases = {"Copt": " Qaac", "Zinh": " Qaai"}.get(code, "")
        own = members(runs(f"Script={name}"))
        if own != by_code[code]:
            raise SystemExit(f"the two packages disagree about {name}: not the same version of Unicode?")
        scripts.append(record(f"{code} {name}{aliases}", ranges_of(own)))
        extra = members(runs(f"Script_Extensions={name}")) - own
        if extra:
            extras.append(record(code, ranges_of(extra)))
    binary = [record(names, runs(names.split()[0])) for names in BINARY.strip().replace("\n", "|").split("|")]
    version = Path(fonttools.Scripts.__file__).read_text(encoding="utf-8").split("Scripts-")[1].split(".txt")[0]
    target = Path(__file__).resolve().parents[2] / "constrained" / "regex" / "property_data.py"
    parts = {"SCRIPTS": scripts, "SCRIPT_EXTENSIONS": extras, "BINARY": binary}
    tables = "\n".join(f'\n{name} = """\n' + "\n".join(lines) + '\n"""' for name, lines in parts.items())
    target.write_text(HEADER.format(version=version) + tables + "\n", encoding="utf-8")


HEADER = '''"""Properties that Python has no table for, out of the Unicode Character Database {version}. Do not edit.

Written by ``tests/regex/make_property_data.py``. A record is the property's names, a colon, and for each of its ranges
two numbers in base 36: how far it begins after the end of the last one, and how many more members it has; lines
that begin with a blank go on. A script extension lists what Scripts.txt does not already give to the script.
Data files copyright Unicode, Inc., under the Unicode License v3 (https://www.unicode.org/license.txt).
"""

from __future__ import annotations

UNICODE_VERSION = "{version}"
'''

if __name__ == "__main__":
    main()
