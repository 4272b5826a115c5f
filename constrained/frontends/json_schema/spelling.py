r"""How the characters of a JSON string are written: raw, by short escapes, and as ``\uXXXX`` (RFC 8259, section 7).

Two policies, ``TextPolicy.string_escapes``. ``"any"``: every spelling the RFC knows. ``"canonical"``: the two that
``json.dumps`` has for a character, raw and ASCII only (lower-case ``\uxxxx``, short escapes for the controls that
have one). Characters past U+FFFF are escaped as a pair of surrogates; a surrogate alone is no character.

``SpelledTrie`` writes all classes of a partition as one trie of bytes, as ``ByteTrie`` does in plain UTF-8, so an
automaton over characters becomes one over the bytes between the quotation marks. Everything here is cached by
value: the classes of different schemas are often the same. Cost: 10-100 us for a class not seen before.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from constrained.errors import GrammarLimitError
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Expr, Literal, Sequence
from constrained.kernel.nodes import dfa_of_block
from constrained.kernel.spelling import Spelling
from constrained.limits import Limits
from constrained.regex.charset import ANY, Ranges, complement, intersection, normalise, subtract
from constrained.regex.dfa import DEAD, Dfa
from constrained.regex.syntax import CharSet, Text
from constrained.regex.utf8 import ByteTrie

__all__ = [
    "PLAIN",
    "RAW",
    "SpelledTrie",
    "canonical_spellings",
    "joined_surrogates",
    "json_literal",
    "spelled_class",
    "spelled_dfa",
    "spelled_leaf",
]

#: What may stand in a string as it is: all but controls, quotation mark and backslash.
RAW: Ranges = subtract(ANY, ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)))
#: Of these, what ``json.dumps`` always writes raw.
PLAIN: Ranges = intersection(RAW, ((0x20, 0x7E),))

_SHORT = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}
_SHORT_OR_SLASH = {**_SHORT, 0x2F: "/"}
#: What ``json.dumps`` writes with four hexadecimal digits, at least with ``ensure_ascii``.
_HEX_CANONICAL = subtract(complement(PLAIN), normalise((code, code) for code in _SHORT))

#: How the digits from 0 to 15 are written.
_HEX = [f"{digit:x}".encode() for digit in range(16)]
_ANY_HEX = [digit.upper() + digit if digit.isalpha() else digit for digit in _HEX]

_BACKSLASH = 0x5C
#: One character takes a few hundred states at most.
_NO_LIMITS = Limits()
#: Nodes of the trie beside states of an automaton that are gone through for each state that there may be: 10 ns each.
_WORK = 100
_ASTRAL = 0x10000

#: (first byte, last byte, child) as in ``ByteTrie``.
_Entries = list[tuple[int, int, int]]


class SpelledTrie(ByteTrie):
    """All classes of a partition as they are written between quotation marks."""

    def __init__(self, classes: tuple[Ranges, ...], escapes: str) -> None:
        self._any = escapes == "any"
        self._known_blocks: dict[tuple[int, int, bool], int] = {}
        super().__init__(classes)

    def _spelled(self, entries: _Entries) -> _Entries:
        found = [(max(first, low), min(last, high), child) for first, last, child in entries
                 for low, high in ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xFF)) if max(first, low) <= min(last, high)]
        after: _Entries = []
        for code, letter in (_SHORT_OR_SLASH if self._any else _SHORT).items():
            at = bisect_right(self._starts, code) - 1
            if at >= 0 and code <= self._pieces[at][1]:
                after.append((ord(letter), ord(letter), ~self._pieces[at][2]))
        if not self._any:
            self._pieces = [(max(first, low), min(last, high), index) for first, last, index in self._pieces
                            for low, high in _HEX_CANONICAL if max(first, low) <= min(last, high)]
            self._starts = [first for first, _, _ in self._pieces]
        child = self._digits(0, 16)
        if child is not None:
            after.append((ord("u"), ord("u"), child))
        if after:
            found.append((_BACKSLASH, _BACKSLASH, self._node(sorted(after))))
        return sorted(found)

    def _digits(self, first: int, bits: int) -> int | None:
        """The node that reads the last ``bits`` bits of the code points from ``first`` on; None: no class has any.

        Four bits a digit, high surrogates first; at ten bits the low surrogate begins. Calls nest eight deep.
        """
        last = first + (1 << bits) - 1
        at = bisect_right(self._starts, first) - 1
        index = self._pieces[at][2] if at >= 0 and self._pieces[at][1] >= last else -1
        key = (index, bits, first >= _ASTRAL)
        if index >= 0:
            if bits == 0:
                return ~index
            if key in self._known_blocks:
                return self._known_blocks[key]
        elif bits <= 12 and first != 0xD000 and (at < 0 or self._pieces[at][1] < first) and (
                at + 1 == len(self._pieces) or self._starts[at + 1] > last):
            return None
        if bits == 10:
            node = self._low_surrogates(first)
        else:
            children = [self._high_surrogates(digit) if bits == 12 and first == 0xD000 and digit >= 8
                        else self._digits(first + (digit << bits - 4), bits - 4) for digit in range(16)]
            node = self._branch(children, 0)
        if index >= 0 and node is not None:
            self._known_blocks[key] = node
        return node

    def _high_surrogates(self, digit: int) -> int | None:
        """What follows ``D8`` to ``DB``: a quarter of the code points past U+FFFF. ``DC`` to ``DF`` come second."""
        return self._digits(_ASTRAL + (digit - 8 << 18), 18) if digit < 12 else None

    def _low_surrogates(self, first: int) -> int | None:
        node = self._branch([self._digits(first + (digit << 8), 8) for digit in range(4)], 12)
        if node is None:
            return None
        node = self._branch([node], 13)
        assert node is not None
        return self._node([(_BACKSLASH, _BACKSLASH, self._node([(ord("u"), ord("u"), node)]))])

    def _branch(self, children: list[int | None], offset: int) -> int | None:
        """The node whose hexadecimal digit ``offset + i`` leads to ``children[i]``."""
        spelled = _ANY_HEX if self._any else _HEX
        entries = [(byte, byte, child) for digit, child in enumerate(children, offset) if child is not None
                   for byte in spelled[digit]]
        return self._node(sorted(entries)) if entries else None


@lru_cache(maxsize=1024)
def _trie(classes: tuple[Ranges, ...], escapes: str) -> SpelledTrie:
    return SpelledTrie(classes, escapes)


def spelled_dfa(dfa: Dfa, escapes: str, limits: Limits) -> ByteDfa:
    """The texts of ``dfa`` as they are written between quotation marks. Raises GrammarLimitError."""
    if escapes != "any":
        plain = [index for index, ranges in enumerate(dfa.classes)
                 if ranges[-1][1] < 0x7F and intersection(ranges, PLAIN) == ranges]
        others = sorted({*range(len(dfa.classes))}.difference(plain))
        if all(row[index] == DEAD for index in others for row in dfa.rows):  # bytes that nothing escapes
            pieces = sorted((first, last, ~index) for index in plain for first, last in dfa.classes[index])
            return dfa_of_block(dfa.to_block(Spelling([tuple(pieces)], []), limits), dfa.accepting)
    trie = _trie(dfa.classes, escapes)
    if len(dfa.rows) * len(trie.nodes) > _WORK * limits.max_dfa_states:  # far fewer states come of it
        raise GrammarLimitError("max_dfa_states", limits.max_dfa_states, "a string takes too many states over bytes")
    return dfa_of_block(dfa.to_block(trie.spelling(), limits), dfa.accepting)


@lru_cache(maxsize=4096)
def spelled_class(ranges: Ranges, escapes: str) -> Expr:
    """One character of ``ranges``."""
    if escapes != "any" and intersection(ranges, PLAIN) == ranges:
        return CharClass(ranges)
    if ranges and ranges[-1][1] < 0x7F:
        return _spelled_ascii(ranges, escapes)
    others = complement(ranges)
    classes = (ranges, others) if others else (ranges,)
    width = len(classes)
    return spelled_dfa(Dfa(classes, ((1, DEAD)[:width], (DEAD, DEAD)[:width]), frozenset((1,))), escapes, _NO_LIMITS)


def _spelled_ascii(ranges: Ranges, escapes: str) -> ByteDfa:
    """The same for a class of ASCII characters, ten times faster."""
    start: _Entries = [(first, last, 1) for first, last in intersection(ranges, RAW)]
    codes = [code for first, last in ranges for code in range(first, last + 1)]
    short = _SHORT_OR_SLASH if escapes == "any" else _SHORT
    after: _Entries = [(ord(short[code]), ord(short[code]), 1) for code in codes if code in short]
    if escapes != "any":
        codes = [code for code in codes if code < 0x20 and code not in short]
    rows: list[_Entries] = [start, [], after]
    if codes:
        after.append((ord("u"), ord("u"), 3))
        rows += [[(0x30, 0x30, 4)], [(0x30, 0x30, 5)], []]
        by_high: dict[int, _Entries] = {}
        for code in codes:
            lows = by_high.setdefault(code >> 4, [])
            for byte in f"{code & 15:x}{code & 15:X}" if escapes == "any" and code & 15 > 9 else f"{code & 15:x}":
                lows.append((ord(byte), ord(byte), 1))
        states: dict[tuple[tuple[int, int, int], ...], int] = {}
        for high, entries in by_high.items():
            row = _joined(entries)
            if row not in states:
                states[row] = len(rows)
                rows.append(list(row))
            rows[5].append((0x30 + high, 0x30 + high, states[row]))
    if after:
        start.append((_BACKSLASH, _BACKSLASH, 2))
        return ByteDfa(tuple([_joined(row) for row in rows]), frozenset((1,)))
    return ByteDfa((_joined(start), ()), frozenset((1,)))


def _joined(entries: _Entries) -> tuple[tuple[int, int, int], ...]:
    """Sorted, neighbours with one target as one."""
    row: _Entries = []
    for first, last, child in sorted(entries):
        if row and row[-1][2] == child and row[-1][1] + 1 == first:
            row[-1] = (row[-1][0], last, child)
        else:
            row.append((first, last, child))
    return tuple(row)


@lru_cache(maxsize=4096)
def _spelled_text(chars: str, escapes: str) -> Expr:
    """These characters, each in any of its spellings."""
    if escapes != "any" and _is_plain(chars):
        return Literal(chars.encode())
    parts = tuple(spelled_class(((ord(char), ord(char)),), escapes) for char in chars)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def spelled_leaf(escapes: str) -> Callable[[Text | CharSet], Expr]:
    """How ``plain_expression`` is to write characters."""
    return lambda node: (_spelled_text(node.chars, escapes) if isinstance(node, Text)
                         else spelled_class(node.ranges, escapes))


_is_plain = re.compile(r'[ !#-\[\]-~]*').fullmatch
_pairs = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined_surrogates(text: str) -> str:
    """``text`` with each pair of surrogates as the character it means; lone ones stay."""
    if text.isascii():
        return text
    return _pairs.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def canonical_spellings(text: str) -> list[bytes]:
    """What ``json.dumps`` writes for ``text``: without ``ensure_ascii`` if UTF-8 can, and with it. One or two."""
    if _is_plain(text):
        return [b'"' + text.encode() + b'"']
    ascii_only = json.dumps(text).encode()
    try:
        raw = json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a surrogate alone: only an escape can write it
        return [ascii_only]
    return [raw] if raw == ascii_only else [raw, ascii_only]


@lru_cache(maxsize=16384)
def json_literal(text: str) -> Expr:
    """``text`` with its quotation marks, in its canonical spellings."""
    options = [Literal(data) for data in canonical_spellings(text)]
    return options[0] if len(options) == 1 else Choice(tuple(options))
