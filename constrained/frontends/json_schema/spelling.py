r"""How the characters of a JSON string are written: raw, by short escapes, and as ``\uXXXX`` (RFC 8259, section 7).

Two policies, ``TextPolicy.string_escapes``. ``"any"``: every spelling the RFC knows. ``"canonical"``: the two that
``json.dumps`` has for a character, raw and ASCII only (lower-case ``\uxxxx``, short escapes for the controls that
have one). Characters past U+FFFF are escaped as a pair of surrogates; a surrogate alone is no character.

All classes of a partition are written as one trie of bytes (``kernel.byte_trie``), so an automaton over characters
becomes one over the bytes between the quotation marks. Everything here is cached by value: the classes of different
schemas are often the same. Cost: 5-50 us for classes not seen before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache

from constrained.errors import GrammarLimitError
from constrained.frontends.plain_trees import json_leaf
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Expr, Literal, Sequence
from constrained.kernel.byte_trie import SPELLINGS, ByteTrie
from constrained.kernel.nodes import dfa_of_block
from constrained.kernel.spelling import Spelling
from constrained.limits import Limits
from constrained.regex.charset import ANY, Ranges, intersection, subtract
from constrained.regex.dfa import DEAD, Dfa, read_classes
from constrained.regex.syntax import CharSet, Text

__all__ = [
    "PLAIN",
    "RAW",
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

#: One character takes a few hundred states at most.
_NO_LIMITS = Limits()
#: Nodes of the trie beside states of an automaton that are gone through for each state that there may be: 10 ns each.
_WORK = 100


@lru_cache(maxsize=1024)
def _spelling(classes: tuple[Ranges, ...], escapes: str) -> Spelling:
    """How the classes of a partition are written between quotation marks."""
    return Spelling(ByteTrie(classes, SPELLINGS[escapes]))


def spelled_dfa(dfa: Dfa, escapes: str, limits: Limits) -> ByteDfa:
    """The texts of ``dfa`` as they are written between quotation marks. Raises GrammarLimitError."""
    spelling = _spelling(read_classes(dfa), escapes)
    if dfa.states * spelling.nodes() > _WORK * limits.max_dfa_states:  # far fewer states come of it
        raise GrammarLimitError("max_dfa_states", limits.max_dfa_states, "a string takes too many states over bytes")
    return dfa_of_block(dfa.to_block(spelling, limits), dfa.accepting)


@lru_cache(maxsize=4096)
def spelled_class(ranges: Ranges, escapes: str) -> Expr:
    """One character of ``ranges``."""
    if escapes != "any" and intersection(ranges, PLAIN) == ranges:
        return CharClass(ranges)
    return spelled_dfa(Dfa((ranges,), ((1,), (DEAD,)), frozenset((1,))), escapes, _NO_LIMITS)


@lru_cache(maxsize=4096)
def _spelled_text(chars: str, escapes: str) -> Expr:
    """These characters, each in any of its spellings."""
    if escapes != "any" and _is_plain(chars):
        return Literal(chars.encode())
    parts = tuple(spelled_class(((ord(char), ord(char)),), escapes) for char in chars)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def spelled_leaf(escapes: str) -> Callable[[Text | CharSet], Expr]:
    """How ``plain_expression`` is to write characters."""
    return _leaves[escapes]


def _leaf(escapes: str) -> Callable[[Text | CharSet], Expr]:
    def leaf(node: Text | CharSet) -> Expr:
        return _spelled_text(node.chars, escapes) if isinstance(node, Text) else spelled_class(node.ranges, escapes)

    return leaf if escapes == "any" else json_leaf(leaf)


_leaves = {escapes: _leaf(escapes) for escapes in SPELLINGS}


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
