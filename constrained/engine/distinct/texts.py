"""What masks of ``Distinct`` grammars ask a vocabulary: its trie, and which tokens reach into a second item.

Made once a vocabulary, with its trie: a first such grammar costs what a second does. Cost for 128,000 tokens: 0.7 ms
and 1 MB.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from constrained.kernel.token_trie import TokenTrie
from constrained.kernel.value_walk import Closing, blank_runs
from constrained.vocabulary import TokenizerInfo

__all__ = ["BLANKS", "TokenRow", "VocabularyTexts"]

_BEGINS_VALUE = rb'["\[{\-0-9tfn]'
_NEXT = rb",[ \t\n\r]*" + _BEGINS_VALUE
_SECOND_BEHIND_QUOTE = re.compile(rb'"[\x00-\xff]*' + _NEXT)
_SECOND_BEHIND_BRACKET = re.compile(rb"[\[{][\x00-\xff]*" + _NEXT)
_MEMBER = re.compile(rb'"[\x00-\xff]*"[ \t\n\r]*:[ \t\n\r]*[^ \t\n\r]')

BLANKS = b" \t\n\r"
_IS_BLANK = np.array([byte in BLANKS for byte in range(256)])
_MAY_END_NAME = np.array([byte in BLANKS + b'"' for byte in range(256)])
_IS_VALUE = np.array([re.match(_BEGINS_VALUE, bytes((byte,))) is not None for byte in range(256)])

Places = np.ndarray[Any, np.dtype[np.int64]]

Words = np.ndarray[Any, np.dtype[np.uint32]]


class TokenRow:
    """A few tokens; ``words`` and ``bits``: the words of a mask that they are in, and their bits there.

    ``texts``: of each id itself, its bytes, and whether a bracket opens among them.
    """

    def __init__(self, ids: list[int], info: TokenizerInfo) -> None:
        self.texts = {i: (i, data, b"[" in data or b"{" in data) for i in ids for data in [info.token_bytes(i)]}
        bits: dict[int, int] = {}
        for i in sorted(ids):
            bits[i >> 5] = bits.get(i >> 5, 0) | 1 << (i & 31)
        self.words = np.fromiter(bits, dtype=np.int64, count=len(bits))
        self.bits = np.fromiter(bits.values(), dtype=np.uint32, count=len(bits))

    def among(self, row: Words) -> list[int]:
        """Those whose bits are set in a mask."""
        if not len(self.words):
            return []
        found: list[int] = []
        for place, word in zip(self.words.tolist(), (row[self.words] & self.bits).tolist(), strict=True):
            while word:
                low = word & -word
                found.append(32 * place + low.bit_length() - 1)
                word ^= low
        return found


class VocabularyTexts:
    """What the masks of one vocabulary need.

    Attributes:
        trie: their trie.
        second: tokens in which an item ends and another begins.
        second_behind_quote: those where a quotation mark stands before that.
        second_behind_bracket: those where an array or object opens before that.
        member: tokens with a name and the beginning of its value.
        closing: which of the trie's nodes have a quotation mark below.
        behind_blanks: for 1, 2, ... blanks the trie's nodes that so many lead to and behind which others come.
    """

    def __init__(self, info: TokenizerInfo, trie: TokenTrie) -> None:
        self.info = info
        self.trie = trie
        self.words = (info.vocab_size + 31) // 32
        text = np.frombuffer(info.token_data, dtype=np.uint8)
        offsets = np.asarray(info.token_offsets)
        commas = (text == ord(",")).nonzero()[0]
        homes = np.searchsorted(offsets, commas, side="right") - 1
        after = _behind_blanks(text, commas, offsets[homes + 1])
        homes, after = homes[after >= 0], after[after >= 0]
        second = _distinct(homes[_IS_VALUE[text[after]]])
        behind_quote = [i for i in second if _SECOND_BEHIND_QUOTE.search(info.token_bytes(i))]
        behind_bracket = [i for i in second if _SECOND_BEHIND_BRACKET.search(info.token_bytes(i))]
        self.second = TokenRow(second, info)
        self.second_behind_quote = TokenRow(behind_quote, info)
        self.second_behind_bracket = TokenRow(behind_bracket, info)
        colons = (text == ord(":")).nonzero()[0]
        colons = colons[_MAY_END_NAME[text[colons - 1]]]
        colons = colons[[_ends_name(info.token_data, colon) for colon in colons.tolist()]]
        homes = np.searchsorted(offsets, colons, side="right") - 1
        self.member = TokenRow([i for i in _distinct(homes) if _MEMBER.search(info.token_bytes(i))], info)
        self.behind_blanks = blank_runs(trie)
        self.closing = Closing(trie)


def _behind_blanks(text: np.ndarray[Any, np.dtype[np.uint8]], places: Places, ends: Places) -> Places:
    """Of each place the next one that holds no blank, before its end; -1: there is none."""
    after = places + 1
    running = (after < ends).nonzero()[0]
    while len(running):
        running = running[_IS_BLANK[text[after[running]]]]
        after[running] += 1
        running = running[after[running] < ends[running]]
    after[after >= ends] = -1
    return after


def _ends_name(data: bytes, colon: int) -> bool:
    """Whether a quotation mark stands before a colon, perhaps in another token, with or without blanks between."""
    end = colon
    while end > 0:
        start = max(0, end - 256)
        before = data[start:end].rstrip(BLANKS)
        if before:
            return before.endswith(b'"')
        end = start
    return False


def _distinct(homes: Places) -> list[int]:
    """Sorted tokens, each once."""
    return list(dict.fromkeys(homes.tolist()))
