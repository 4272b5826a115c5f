"""What masks of ``Distinct`` grammars ask a vocabulary: its trie, and which tokens reach into a second item.

Made once a vocabulary, when the first such grammar is compiled. Cost for 128,000 tokens: some ms.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from constrained.kernel.token_trie import TokenTrie
from constrained.vocabulary import TokenizerInfo

__all__ = ["VocabularyTexts"]

_NEXT = rb',[ \t\n\r]*["\[{\-0-9tfn]'
_SECOND = re.compile(_NEXT)
_SECOND_BEHIND_QUOTE = re.compile(rb'"[\x00-\xff]*' + _NEXT)
_SECOND_BEHIND_BRACKET = re.compile(rb"[\[{][\x00-\xff]*" + _NEXT)
_MEMBER = re.compile(rb'"[\x00-\xff]*"[ \t\n\r]*:[ \t\n\r]*[^ \t\n\r]')

Words = np.ndarray[Any, np.dtype[np.uint32]]


class VocabularyTexts:
    """Rows have a bit for each token id, as masks do.

    Attributes:
        trie: their trie.
        second: tokens in which an item ends and another begins.
        second_behind_quote: those where a quotation mark stands before that.
        second_behind_bracket: those where an array or object opens before that.
        member: tokens with a name and the beginning of its value.
    """

    def __init__(self, info: TokenizerInfo, trie: TokenTrie) -> None:
        self.info = info
        self.trie = trie
        self.words = (info.vocab_size + 31) // 32
        text = np.frombuffer(info.token_data, dtype=np.uint8)
        self._offsets = np.asarray(info.token_offsets)
        second = [i for i in self._holding(text, b",") if _SECOND.search(info.token_bytes(i))]
        self.second = self.row(second)
        self.second_behind_quote = self.row([i for i in second if _SECOND_BEHIND_QUOTE.search(info.token_bytes(i))])
        self.second_behind_bracket = self.row(
            [i for i in second if _SECOND_BEHIND_BRACKET.search(info.token_bytes(i))])
        self.member = self.row([i for i in self._holding(text, b":") if _MEMBER.search(info.token_bytes(i))])

    def _holding(self, text: np.ndarray[Any, np.dtype[np.uint8]], byte: bytes) -> list[int]:
        places = (text == byte[0]).nonzero()[0]
        found = np.unique(np.searchsorted(self._offsets, places, side="right") - 1)
        return [int(i) for i in found]

    def row(self, ids: Any) -> Words:
        """The bits of ``ids``."""
        bits = np.zeros(self.words * 32, dtype=np.uint8)
        bits[ids] = 1
        return np.packbits(bits, bitorder="little").view(np.uint32)


def ids_of(row: Words) -> list[int]:
    """The ids whose bits are set; few are expected."""
    words = row.nonzero()[0]
    found: list[int] = []
    for place, word in zip(words.tolist(), row[words].tolist(), strict=True):
        while word:
            low = word & -word
            found.append(32 * place + low.bit_length() - 1)
            word ^= low
    return found
