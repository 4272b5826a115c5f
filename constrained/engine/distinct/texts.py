"""What masks of ``Distinct`` grammars ask a vocabulary: its trie, and which tokens reach into a second item.

Made once a vocabulary, when the first such grammar is compiled. Cost for 128,000 tokens: some ms.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from constrained.kernel.token_trie import TokenTrie
from constrained.kernel.value_walk import Closing
from constrained.vocabulary import TokenizerInfo

__all__ = ["BLANKS", "TokenRow", "VocabularyTexts"]

_NEXT = rb',[ \t\n\r]*["\[{\-0-9tfn]'
_SECOND = re.compile(_NEXT)
_SECOND_BEHIND_QUOTE = re.compile(rb'"[\x00-\xff]*' + _NEXT)
_SECOND_BEHIND_BRACKET = re.compile(rb"[\[{][\x00-\xff]*" + _NEXT)
_MEMBER = re.compile(rb'"[\x00-\xff]*"[ \t\n\r]*:[ \t\n\r]*[^ \t\n\r]')

BLANKS = b" \t\n\r"
_IS_BLANK = np.isin(np.arange(256), list(BLANKS))

Words = np.ndarray[Any, np.dtype[np.uint32]]


class TokenRow:
    """A few tokens; ``words`` and ``bits``: the words of a mask that they are in, and their bits there."""

    def __init__(self, ids: list[int]) -> None:
        self.words = np.unique(np.asarray(ids, dtype=np.int64) >> 5)
        self.bits = np.zeros(len(self.words), dtype=np.uint32)
        for i in ids:
            self.bits[np.searchsorted(self.words, i >> 5)] |= np.uint32(1 << (i & 31))

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
    """What the masks of one vocabulary need; ``row`` makes rows that have a bit for each token id, as masks do.

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
        self._offsets = np.asarray(info.token_offsets)
        second = [i for i in self._holding(text, b",") if _SECOND.search(info.token_bytes(i))]
        self.second = TokenRow(second)
        self.second_behind_quote = TokenRow(
            [i for i in second if _SECOND_BEHIND_QUOTE.search(info.token_bytes(i))])
        self.second_behind_bracket = TokenRow(
            [i for i in second if _SECOND_BEHIND_BRACKET.search(info.token_bytes(i))])
        self.member = TokenRow(
            [i for i in self._holding(text, b":") if _MEMBER.search(info.token_bytes(i))])
        self.behind_blanks = self._find_blanks(text)
        self.closing = Closing(trie)

    def _find_blanks(self, text: np.ndarray[Any, np.dtype[np.uint8]]) -> list[list[int]]:
        filled = self._offsets[1:] > self._offsets[:-1]
        begins, ends = self._offsets[:-1][filled], self._offsets[1:][filled]
        blank = _IS_BLANK[text[begins]]
        begins, ends = begins[blank], ends[blank]
        after = begins + 1  # where each run of blanks ends
        running = np.arange(len(begins))
        while len(running):
            running = running[after[running] < ends[running]]
            running = running[_IS_BLANK[text[after[running]]]]
            after[running] += 1
        begins, after = begins[after < ends], after[after < ends]
        alone = after - begins == 1  # nearly all
        runs = {bytes([byte]) for byte in np.unique(text[begins[alone]]).tolist()}
        runs.update(self.info.token_data[begin:end] for begin, end in
                    zip(begins[~alone].tolist(), after[~alone].tolist(), strict=True))
        found: list[list[int]] = [[] for _ in range(max(map(len, runs), default=0))]
        for run in sorted(runs):
            node = 0
            for byte in run:
                node = self.trie.child(node, byte)
            found[len(run) - 1].append(node)
        return found

    def _holding(self, text: np.ndarray[Any, np.dtype[np.uint8]], byte: bytes) -> list[int]:
        places = (text == byte[0]).nonzero()[0]
        found = np.unique(np.searchsorted(self._offsets, places, side="right") - 1)
        return [int(i) for i in found]

    def row(self, ids: Any) -> Words:
        """The bits of ``ids``."""
        bits = np.zeros(self.words * 32, dtype=np.uint8)
        bits[ids] = 1
        return np.packbits(bits, bitorder="little").view(np.uint32)
