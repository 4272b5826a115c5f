"""The masks of texts in which nothing comes twice: what an ordinary mask loses.

Idea
    The tokens that no pair of ``kernel.value_pairs`` survives are found without looking at the others: by a walk
    over the vocabulary along what the readers have seen (``kernel.value_walk``), and by trying the few that reach into
    a second item or write a name again. What is tried on the way is taken back from the reader's tables.

Data
    What a mask loses is kept as the words of relaxed's mask that change and the bits kept of them. ``tried``: of a
    state of relaxed the tokens of each kind that its mask allows, for most masks of a text are those of a few states.

Cost: 10-100 us inside such an array; with a ghost it may be a walk over the vocabulary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from constrained.engine.distinct import Pairs
from constrained.engine.distinct.ends import Ends
from constrained.engine.distinct.recent import Recent
from constrained.engine.distinct.texts import TokenRow, VocabularyTexts
from constrained.kernel.value_pairs import ValuePairs, in_order
from constrained.kernel.value_walk import ValueWalk

__all__ = ["Mask", "Masks", "Words"]

Words = np.ndarray[Any, np.dtype[np.uint32]]
_NO_WORDS: Words = np.zeros(0, dtype=np.uint32)

Mask = tuple[int, int, Words, Words]
"""relaxed's state, how many tokens are allowed, which words of relaxed's mask change, the bits kept of them."""


class Masks:
    """Finds what the masks of relaxed lose; ``named``: the tokens that the grammar names, as exact numbers them."""

    def __init__(self, steps: ValuePairs, ends: Ends, texts: VocabularyTexts, named: dict[int, int]) -> None:
        self.relaxed = ends.relaxed
        self.exact = steps.exact
        self.reader = steps.reader
        self.steps = steps
        self.ends = ends
        self.texts = texts
        self.named = named
        self.walker = ValueWalk(steps, texts.closing, texts.behind_blanks)
        self.tried: Recent[tuple[int, int], list[tuple[int, bytes, bool]]] = Recent()
        self.tries = 0  # tokens in them

    def find(self, row: int, pairs: Pairs, bits: Any, index: int) -> Mask:
        """The mask of a state of relaxed and pairs; that of relaxed is left in row ``index`` of ``bits`` (int32)."""
        self.steps.begin()
        count = self.relaxed.fill(row, bits, index)
        allowed = bits[index].view(np.uint32)
        watched = any(reader for reader, _ in pairs) or len(self.texts.second_behind_bracket.words)
        dead, nodes = self._dead(row, allowed, pairs) if watched else ([], [])
        if self.relaxed.complete(row) and not self.ends.complete(pairs):
            dead += [i for i in self.texts.info.stop_token_ids if not self.relaxed.next(row, i)]
        if not dead and not nodes:
            return row, count, _NO_WORDS, _NO_WORDS
        lost, places, gone = self.walker.lost(allowed, nodes, dead)
        return row, count - lost, places, ~gone

    def _dead(self, row: int, allowed: Words, pairs: Pairs) -> tuple[list[int], list[int]]:
        """Tokens that no pair survives, of those allowed in a state of relaxed and perhaps of others; and nodes of the
        trie with such tokens only."""
        marked = self.reader.mark()
        dead: list[int] = []
        try:
            for doubtful in self._doubtful(pairs):
                dead += self.walker.dying(pairs, self._to_try(row, allowed, doubtful))
            if self.named:
                dead = [i for i in dead if i not in self.named or not self.by_name(pairs, i)]
            nodes = None
            if len(pairs) == 1:
                reader, state = pairs[0]
                nodes = self.walker.walk(reader, state) if reader else []
            if nodes is None:
                self.reader.undo(marked)
                nodes = self.walker.walk_all(pairs)
            return dead, nodes
        finally:
            self.reader.undo(marked)

    def _doubtful(self, pairs: Pairs) -> list[TokenRow]:
        """Tokens that have to be tried: they begin a second item, or write a name again."""
        texts = self.texts
        readers = [reader for reader, _ in pairs if reader > 0]
        if not readers:
            return [texts.second_behind_bracket]
        in_strings = all(self.reader.in_string(reader) for reader in readers) and len(readers) == len(pairs)
        found = [texts.second_behind_quote if in_strings else texts.second]
        if any(self.reader.may_rewrite(reader) for reader in readers):
            found.append(texts.member)
        return found

    def _to_try(self, row: int, allowed: Words, doubtful: TokenRow) -> list[tuple[int, bytes, bool]]:
        """The tokens of ``doubtful`` that are allowed in a state of relaxed, as ``TokenRow.texts`` has them."""
        found = self.tried.get((row, id(doubtful)))
        if found is None:
            found = [doubtful.texts[i] for i in doubtful.among(allowed)]  # shared by all states
            self.tries += len(found) - len(self.tried.keep((row, id(doubtful)), found) or ())
        return found

    def memory(self) -> int:
        """Bytes held for what was tried."""
        return 300 * len(self.tried) + 8 * self.tries

    def by_name(self, pairs: Pairs, token: int) -> Pairs:
        """The pairs behind a token that the grammar names, read as such."""
        name = self.named[token]
        return in_order({reader: after for reader, state in pairs if (after := self.exact.next(state, name))})
