"""Case-insensitive sets: exactly Python's ``re.IGNORECASE``, and ECMA-262's Canonicalize with ``u``.

Python (``re/_compiler.py``): a set that holds a cased character is compared with the lower case of the text's
character, and holds the lower case of its members and of all characters that share an upper case with one
(``re/_casefix.py``). ECMA-262 (22.2.2.7.3): two characters are equal if their simple case foldings are. Both
maps are asked of ``str`` for the few thousand cased characters (about 3 ms, once); a test compares them with ``re``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache

from constrained.regex.charset import Ranges, complement, contains, intersection, normalise, subtract, union
from constrained.regex.unicode import code_points

__all__ = ["ecma_closure", "python_ignore_case"]

#: Beyond this code point Unicode has no cased character (asserted by a test on the running Python).
LAST_CASED = 0x1FFFF
_BLOCK = 128
_ASCII_LETTERS: Ranges = ((0x41, 0x5A), (0x61, 0x7A))

#: CaseFolding.txt, status S where the full folding is longer than one character and is not the lower case.
_SIMPLE_FOLDS = {0x1FD3: 0x390, 0x1FE3: 0x3B0, 0xFB05: 0xFB06}


@cache
def _cased() -> tuple[str, ...]:
    """Every character that lower-casing, upper-casing or folding changes."""
    found: list[str] = []
    for start in range(0, LAST_CASED + 1, _BLOCK):
        block = code_points()[start : start + _BLOCK]
        if block.lower() != block or block.upper() != block or block.casefold() != block:
            found += [c for c in block if c.lower() != c or c.upper() != c or c.casefold() != c]
    return tuple(found)


@cache
def _lowered() -> dict[int, list[int]]:
    """Each lower case (the first character where it has several) to the characters that have it."""
    found: dict[int, list[int]] = {}
    for char in _cased():
        found.setdefault(ord(char.lower()[0]), []).append(ord(char))
    return found


@cache
def _same_upper() -> dict[int, tuple[int, ...]]:
    """Lower-case characters to the others that have the same upper case (the table of ``re/_casefix.py``)."""
    groups: dict[str, list[int]] = {}
    for char in _cased():
        if char.lower()[0] == char:
            groups.setdefault(char.upper(), []).append(ord(char))
    return {code: tuple(group) for group in groups.values() if len(group) > 1 for code in group}


class _Variants:
    """What each of a few thousand characters stands for when case is ignored."""

    def __init__(self, table: dict[int, tuple[int, ...]]) -> None:
        self.table = table
        self.codes = sorted(table)

    def closure(self, ranges: Ranges) -> Ranges:
        """``ranges`` and all variants of its members."""
        extra: set[int] = set()
        for first, last in ranges:
            for code in self.codes[bisect_left(self.codes, first) : bisect_right(self.codes, last)]:
                extra.update(self.table[code])
        return union(ranges, normalise((code, code) for code in extra)) if extra else ranges


@cache
def _python_variants() -> _Variants:
    """A character of a pattern, if ``re`` calls it cased, to all characters it matches."""
    lowered, same_upper = _lowered(), _same_upper()
    table: dict[int, tuple[int, ...]] = {}
    for char in _cased():
        low = char.lower()[0]
        if low != char or char.upper()[0] != char:
            family = same_upper.get(ord(low), (ord(low),))
            table[ord(char)] = tuple(code for one in family for code in lowered.get(one, [one]))
    return _Variants(table)


@lru_cache(maxsize=64)
def _lower_case_in(ranges: Ranges) -> Ranges:
    """Every character whose lower case is in ``ranges``."""
    changed = {code: low for low, codes in _lowered().items() for code in codes if code != low}
    unchanged = subtract(ranges, normalise((code, code) for code in changed))
    return union(unchanged, normalise((code, code) for code, low in changed.items() if contains(ranges, low)))


@lru_cache(maxsize=512)
def python_ignore_case(members: Ranges, categories: Ranges, negated: bool, ascii_only: bool) -> Ranges:
    r"""The set ``[members categories]`` (``[^...]`` if ``negated``) under ``re.IGNORECASE``.

    ``members`` are the characters and ranges as written, ``categories`` what ``\d`` and the like add; only the
    former make a set case-insensitive. ``ascii_only`` is ``re.ASCII``.
    """
    if ascii_only:
        letters = intersection(members, _ASCII_LETTERS)
        matched = union(members, normalise((a ^ 0x20, b ^ 0x20) for a, b in letters), categories)
    else:
        matched = _python_variants().closure(members)
        if matched != members and categories:
            categories = _lower_case_in(categories)
        matched = union(matched, categories)
    return complement(matched) if negated else matched


def _simple_fold(char: str) -> int:
    folded = char.casefold()
    if len(folded) == 1:
        return ord(folded)
    if ord(char) in _SIMPLE_FOLDS:
        return _SIMPLE_FOLDS[ord(char)]
    lower = char.lower()
    return ord(lower) if len(lower) == 1 else ord(char)


@cache
def _ecma_variants() -> _Variants:
    """Each character to all with the same simple case folding."""
    groups: dict[int, set[int]] = {}
    for char in _cased():
        fold = _simple_fold(char)
        groups.setdefault(fold, {fold}).add(ord(char))
    return _Variants({code: tuple(group) for group in groups.values() if len(group) > 1 for code in group})


def ecma_closure(ranges: Ranges) -> Ranges:
    """Every character whose simple case folding is that of a member of ``ranges`` (flags ``iu``)."""
    return _ecma_variants().closure(ranges)
