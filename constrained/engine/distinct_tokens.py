"""A vocabulary as the search for equal items needs it: its tokens in the order of their bytes, and those that may end
one item of an array and begin the next.

Made once for a vocabulary, when a grammar with ``Distinct`` first asks; 0.3 s for 128,000 tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from constrained.vocabulary import TokenizerInfo

__all__ = ["SortedTokens"]

# Behind a comma that may end an item, something that is more than the beginning of a string.
_FURTHER = re.compile(rb',[ \t\r\n]*"?[^ \t\r\n"]', re.DOTALL)
_FURTHER_BEHIND_QUOTE = re.compile(rb'".*,[ \t\r\n]*"?[^ \t\r\n"]', re.DOTALL)
_COMMA_BEHIND_QUOTE = re.compile(rb'".*,', re.DOTALL)
_WHOLE_ITEM = re.compile(rb"\[.*,", re.DOTALL)


class SortedTokens:
    """See the module docstring. The arrays hold token ids.

    Attributes:
        texts, ids: bytes of the tokens in order, and their ids.
        commas, quoted_commas: tokens with a comma; with one behind a quotation mark.
        further, quoted_further: those of them with more than the beginning of a string behind it.
        opening: tokens that may open an array and go on to its second item.
        brackets: tokens with an opening bracket.
    """

    def __init__(self, info: TokenizerInfo) -> None:
        special = info.special_token_ids
        pairs = sorted((data, i) for i in range(info.vocab_size) if i not in special and (data := info.token_bytes(i)))
        self.texts = [data for data, _ in pairs]
        self.ids = [i for _, i in pairs]

        def those(found: Iterator[int]) -> np.ndarray:
            return np.array(sorted(found), dtype=np.int64)

        commas = [(data, i) for data, i in pairs if b"," in data]
        self.commas = those(i for _, i in commas)
        self.quoted_commas = those(i for data, i in commas if _COMMA_BEHIND_QUOTE.search(data))
        self.further = those(i for data, i in commas if _FURTHER.search(data))
        self.quoted_further = those(i for data, i in commas if _FURTHER_BEHIND_QUOTE.search(data))
        self.opening = those(i for data, i in commas if _WHOLE_ITEM.search(data))
        self.brackets = frozenset(i for data, i in pairs if b"[" in data)

    def below(self, low: int, high: int, depth: int) -> Iterator[tuple[int, int, int]]:
        """(byte, low, high) for each byte that goes on from the tokens ``low .. high``, which share ``depth`` bytes
        and are all longer."""
        texts = self.texts
        while low < high:
            byte = texts[low][depth]
            end = high
            if texts[high - 1][depth] != byte:
                end = bisect_left(texts, texts[low][:depth] + bytes((byte + 1,)), low, high)
            yield byte, low, end
            low = end
