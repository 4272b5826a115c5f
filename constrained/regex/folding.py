"""Case-insensitive sets: exactly Python's ``re.IGNORECASE``, and ECMA-262's Canonicalize with ``u``.

Python (``re/_compiler.py``): a set that holds a cased character is compared with the lower case of the text's
character, and holds the lower case of its members and of all characters that share an upper case with one
(``re/_casefix.py``). ECMA-262 (22.2.2.7.3): two characters are equal if their simple case foldings are. Both
maps are asked of ``str`` for the few thousand cased characters (about 3 ms, once); a test compares them with ``re``.
"""

from __future__ import annotations

from functools import cache, lru_cache

from constrained.regex.charset import ANY, Ranges, complement, contains, intersection, normalise, subtract, union

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
        block = "".join(map(chr, range(start, start + _BLOCK)))
        if block.lower() != block or block.upper() != block or block.casefold() != block:
            found += [c for c in block if c.lower() != c or c.upper() != c or c.casefold() != c]
    return tuple(found)


@cache
def _lowered() -> tuple[tuple[int, int], ...]:
    """(code point, its lower case) for all that differ; the first character where the lower case has several."""
    return tuple((ord(c), low) for c in _cased() for low in (ord(c.lower()[0]),) if low != ord(c))


@cache
def _cased_set() -> Ranges:
    """What ``re`` calls cased: the first character of the lower or of the upper case differs."""
    return normalise((ord(c), ord(c)) for c in _cased() if c.lower()[0] != c or c.upper()[0] != c)


@cache
def _same_upper() -> dict[int, tuple[int, ...]]:
    """Lower-case characters to the others that have the same upper case (the table of ``re/_casefix.py``)."""
    groups: dict[str, list[int]] = {}
    for char in _cased():
        if char.lower()[0] == char:
            groups.setdefault(char.upper(), []).append(ord(char))
    # A character that no case map changes can still be the upper case of another one.
    for upper, group in groups.items():
        if len(upper) == 1 and ord(upper) not in group and upper.lower()[0] == upper:
            group.append(ord(upper))
    return {code: tuple(other for other in group if other != code) for group in groups.values() if len(group) > 1
            for code in group}


@lru_cache(maxsize=512)
def python_ignore_case(members: Ranges, categories: Ranges, negated: bool, ascii_only: bool) -> Ranges:
    r"""The set ``[members categories]`` (``[^...]`` if ``negated``) under ``re.IGNORECASE``.

    ``members`` are the characters and ranges as written, ``categories`` what ``\d`` and the like add; only the
    former make a set case-insensitive. ``ascii_only`` is ``re.ASCII``.
    """
    if ascii_only:
        letters = intersection(members, _ASCII_LETTERS)
        members = union(members, normalise((a ^ 0x20, b ^ 0x20) for a, b in letters))
        plain = union(members, categories)
        return complement(plain) if negated else plain
    plain = union(members, categories)
    if not intersection(members, _cased_set()):
        return complement(plain) if negated else plain
    lowered = [(code, low) for code, low in _lowered()]
    folded = subtract(members, normalise((code, code) for code, _ in lowered))
    folded = union(folded, normalise((low, low) for code, low in lowered if contains(members, code)))
    extra = [(other, other) for code, others in _same_upper().items() if contains(folded, code) for other in others]
    wanted = union(folded, normalise(extra), categories)
    if negated:
        wanted = complement(wanted)
    # A character matches if its lower case is wanted: unchanged ones speak for themselves.
    unchanged = subtract(wanted, normalise((code, code) for code, _ in lowered))
    return union(unchanged, normalise((code, code) for code, low in lowered if contains(wanted, low)))


def _simple_fold(char: str) -> int:
    folded = char.casefold()
    if len(folded) == 1:
        return ord(folded)
    if ord(char) in _SIMPLE_FOLDS:
        return _SIMPLE_FOLDS[ord(char)]
    lower = char.lower()
    return ord(lower) if len(lower) == 1 else ord(char)


@cache
def _fold_classes() -> tuple[tuple[int, ...], ...]:
    """Groups of two and more characters with one simple case folding."""
    groups: dict[int, list[int]] = {}
    for char in _cased():
        fold = _simple_fold(char)
        groups.setdefault(fold, [fold]).append(ord(char))
    return tuple(tuple(sorted(set(group))) for group in groups.values() if len(set(group)) > 1)


@lru_cache(maxsize=512)
def ecma_closure(ranges: Ranges) -> Ranges:
    """Every character whose simple case folding is that of a member of ``ranges`` (flags ``iu``)."""
    extra = [(code, code) for group in _fold_classes() if any(contains(ranges, code) for code in group)
             for code in group]
    return intersection(union(ranges, normalise(extra)), ANY)
