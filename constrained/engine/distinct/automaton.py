"""The automaton of a grammar with ``Distinct`` nodes: two ordinary automata and readers beside them.

Idea
    *relaxed* knows nothing of the condition: its masks and steps are those of any grammar. *exact* reads a mark where
    a ``Distinct`` begins. A state is a state of relaxed and a set of pairs (reader, state of exact): the ways to read
    the text so far under which nothing came twice (``kernel.value_pairs``). A pair lives while its item can still be
    completed as a new one. The mask is relaxed's less the tokens that no pair survives (``masks``).

    Where several pairs live and one of them comes to grief, a *ghost* stays for it as long as it can read what the
    others cannot: relaxed follows that way of reading still, so the mask has to lose its tokens.

Data
    A handle is ``epoch << 32 | index`` into the table of states, 0 is dead, as for ``TokenAutomaton``; both automata
    begin new epochs together with this one. exact's vocabulary is the 256 bytes, the mark, and the tokens that the
    grammar names. The last steps and masks are remembered; states stay for the epoch, 40 bytes each.

    What an epoch leaves behind is given back a little with each new step (``fading``): thousands of objects at once
    would hold one up.

Cost: a first step 5-10 us, a first mask as ``masks`` says, known ones a look-up and a copy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from constrained.engine.distinct import MARK, Pairs
from constrained.engine.distinct.ends import Ends
from constrained.engine.distinct.masks import Mask, Masks
from constrained.engine.distinct.recent import Fading, Recent
from constrained.engine.distinct.texts import VocabularyTexts
from constrained.kernel.int_rows import IntRows
from constrained.kernel.token_automaton import StaleState, TokenAutomaton
from constrained.kernel.value_pairs import ValuePairs, in_order
from constrained.kernel.value_reader import ValueReader

__all__ = ["DistinctAutomaton"]

_PLACE = 44
"""Bits of a handle below those of the epoch (``kernel.token_automaton``); rows of ints hold them in two halves."""

_NODE = 24

Packed = tuple[ValueReader, list[tuple[int, list[int]]], int]
"""What the readers have seen, relaxed's state and the pairs as ints, and how many there should be."""


class DistinctAutomaton:
    """Stands in for a ``TokenAutomaton``: the same methods. See the module docstring."""

    def __init__(
        self,
        relaxed: TokenAutomaton,
        exact: TokenAutomaton,
        texts: VocabularyTexts,
        named: dict[int, int],
        by_id_only: frozenset[int],
        max_search: int,
    ) -> None:
        self.relaxed = relaxed
        self.exact = exact
        self.texts = texts
        self.named = named  # their ids in the vocabulary of exact
        self.by_id_only = by_id_only
        self.stop_ids = texts.info.stop_token_ids
        self.max_search = max_search
        self.vocab_size = relaxed.vocab_size
        self.words = relaxed.words
        self.lock = threading.RLock()
        self.epoch = 0
        self.reader = ValueReader()
        self.fading = Fading()
        self._reset()

    def _reset(self) -> None:
        self.epoch += 1
        self.steps = ValuePairs(self.reader, self.exact, MARK, self.max_search)
        self.ends = Ends(self.relaxed, self.steps, bool(self.named), self.max_search)
        self.masks = Masks(self.steps, self.ends, self.texts, self.named)
        self.pairs = IntRows(4)  # the pairs before, reader's state, exact's place: a set of pairs is a chain
        self.states = IntRows(3)  # relaxed's place, the pairs
        self.taken: Recent[tuple[int, int], int] = Recent()
        self.banned: Recent[int, Mask] = Recent()
        self.changed = 0  # words in them
        self.upper = self.exact.start() >> _PLACE << _PLACE
        self.begin = self._handle(self.relaxed.start(), ((0, self.exact.start()),))

    def _kept(self) -> int:
        """Bytes, about, of the steps and masks that are remembered."""
        return 250 * len(self.taken) + 400 * len(self.banned) + 8 * self.changed

    # ---- states --------------------------------------------------------------------------------------

    def _handle(self, row: int, pairs: Pairs) -> int:
        if not row or not pairs:
            return 0
        chain = 0
        for reader, state in pairs:
            chain = self.pairs.number(chain, reader + 1, *_halves(state))
        return self.epoch << 32 | self.states.number(*_halves(row), chain)

    def _of(self, handle: int) -> tuple[int, Pairs]:
        if not handle:
            return 0, ()
        if handle >> 32 != self.epoch:
            raise StaleState(handle)
        node, bases, chain = self.states.values(handle & 0xFFFFFFFF)
        row = self.relaxed.start() >> _PLACE << _PLACE | bases << _NODE | node
        pairs: list[tuple[int, int]] = []
        while chain:
            chain, reader, node, bases = self.pairs.values(chain)
            pairs.append((reader - 1, self.upper | bases << _NODE | node))
        pairs.reverse()
        return row, tuple(pairs)

    # ---- the methods of TokenAutomaton ---------------------------------------------------------------

    def start(self) -> int:
        """The first state."""
        return self.begin

    def is_fresh(self, handle: int) -> bool:
        """Whether a handle is of this epoch."""
        return handle == 0 or handle >> 32 == self.epoch

    def new_epoch(self, keep: bool = False) -> int:
        """Forget all states and masks: every handle given out before is stale.

        ``keep``: but not what the readers have seen; returns how many bytes that is.
        """
        with self.lock:
            self.fading.add([self.masks.tried, self.banned, self.taken], self.masks.memory() + self._kept())
            self.relaxed.new_epoch()
            self.exact.new_epoch()
            if not keep:
                self.reader = ValueReader()
            self._reset()
            return self.reader.memory() if keep else 0

    def packed(self, handle: int) -> Packed | None:
        """A state as later epochs understand it, as long as they keep what was seen; None: it is to be replayed."""
        with self.lock:
            row, pairs = self._of(handle)
            parts = [(0, self.relaxed.packed(row)), *((reader, self.exact.packed(state)) for reader, state in pairs)]
            return self.reader, [(reader, data) for reader, data in parts if data is not None], len(parts)

    def unpacked(self, data: Packed) -> int:
        """The state that ``packed`` put down, in this epoch; 0 if that is not known any more."""
        reader, parts, count = data
        with self.lock:
            if reader is not self.reader or len(parts) != count:
                return 0
            (_, row), *pairs = parts
            return self._handle(
                self.relaxed.unpacked(row),
                tuple(sorted((number, self.exact.unpacked(state)) for number, state in pairs)),
            )

    def next(self, handle: int, token: int) -> int:
        """The state after ``token``, or 0. Stop tokens are not steps."""
        with self.lock:
            known = self.taken.get((handle, token))
            if known is not None and handle >> 32 == self.epoch:
                return known
            row, pairs = self._of(handle)
            if not row:
                return 0
            after = self.relaxed.next(row, token)
            if not after:
                return 0
            after = self._after(after, lambda: self._by_token(pairs, token))
            self.taken.keep((handle, token), after)
            if self.fading.left:
                self.fading.step()
            return after

    def _by_token(self, pairs: Pairs, token: int) -> Pairs:
        as_text = self.steps.feed(pairs, self.texts.info.token_bytes(token)) if self._is_text(token) else ()
        if token not in self.named:
            return as_text
        found: dict[int, int] = {}
        for reader, state in self.masks.by_name(pairs, token) + as_text:
            found[reader] = self.exact.unite(found[reader], state) if reader in found else state
        return in_order(found)

    def _after(self, row: int, find: Callable[[], Pairs]) -> int:
        """The state of ``row`` and the pairs that are found; where there are none, nothing is left behind."""
        self.steps.begin()
        marked = self.reader.mark()
        handle = 0
        try:
            handle = self._handle(row, find())
        finally:
            if not handle:
                self.reader.undo(marked)
        return handle

    def _is_text(self, token: int) -> bool:
        return token not in self.by_id_only and bool(self.texts.info.token_bytes(token))

    def advance(self, handle: int, data: bytes, counted: bool = False) -> int:
        """The state after ``data``, or 0; ``counted``: as one token of every text that has a budget."""
        with self.lock:
            row, pairs = self._of(handle)
            if not row:
                return 0
            after = self.relaxed.advance(row, data, counted)
            return self._after(after, lambda: self.steps.feed(pairs, data)) if after else 0

    def complete(self, handle: int) -> bool:
        """Whether the text may end here."""
        with self.lock:
            return self.ends.complete(self._of(handle)[1])

    def distance(self, handle: int) -> int:
        """At least so many bytes lead to an end; a token named counts as a million."""
        row, _ = self._of(handle)
        return self.relaxed.distance(row)

    def fill_at(self, handle: int, address: int) -> int:
        """Not for these grammars: rows are written through ``fill``."""
        raise NotImplementedError

    def fill(self, handle: int, bitmask: Any, index: int) -> int:
        """Write the mask into row ``index`` of an int32 array; returns the allowed count; sizes unchecked."""
        with self.lock:
            known = self.banned.get(handle)
            if known is not None:
                self.relaxed.fill(known[0], bitmask, index)
            elif handle:
                known = self._mask(handle, bitmask, index)
            else:
                bitmask[index] = 0
                return 0
            _, count, places, kept = known
            if len(places):
                bitmask[index, places] &= kept.view(np.int32)
            return count

    def _mask(self, handle: int, bits: Any, index: int) -> Mask:
        """What relaxed's mask, which is left in row ``index`` of ``bits``, is to be changed by."""
        found = self.masks.find(*self._of(handle), bits, index)
        gone = self.banned.keep(handle, found)
        self.changed += len(found[2]) - (len(gone[2]) if gone else 0)
        return found

    def _known(self, handle: int) -> Mask:
        return self.banned.get(handle) or self._mask(handle, np.zeros((1, self.words), dtype=np.int32), 0)

    def allowed_count(self, handle: int) -> int:
        """How many tokens are allowed, stop tokens included."""
        with self.lock:
            return self._known(handle)[1] if handle else 0

    def allowed_ids(self, handle: int) -> list[int]:
        """The allowed ids in order, as a list."""
        with self.lock:
            if not handle:
                return []
            row, _, places, kept = self._known(handle)
            lost = dict(zip(places.tolist(), kept.tolist(), strict=True))
            return [i for i in self.relaxed.allowed_ids(row) if i >> 5 not in lost or lost[i >> 5] >> (i & 31) & 1]

    def known(self, handle: int) -> bool:
        """Whether the mask is already built."""
        return handle in self.banned

    def forced_bytes(self, handle: int, most: int) -> bytes:
        """Bytes that must follow, at most ``most``: those that must without the condition, and by it."""
        with self.lock:
            return self.ends.forced(self._of(handle)[1], most)

    def shortest(self, handle: int, most: int) -> bytes | None:
        """The bytes of a way to an end, at most ``most`` of them; None where only a named token goes on.

        A shortest one where it is found soon, else a short one (``ends``).
        """
        with self.lock:
            return self.ends.shortest(self._of(handle), most)

    def threads(self, handle: int) -> list[list[int]]:
        """The positions of relaxed that can read now; none where nothing but the end can follow."""
        with self.lock:
            row, pairs = self._of(handle)
            if not any(self.exact.threads(state) for _, state in pairs):
                return []
            return self.relaxed.threads(row)

    def memory(self) -> int:
        """Bytes held, about."""
        own = self.pairs.memory() + self.states.memory() + self.steps.memory() + self.masks.memory()
        own += self._kept() + self.fading.size
        return self.relaxed.memory() + self.exact.memory() + self.reader.memory() + own

    def counts(self) -> tuple[int, int, int, int, int]:
        """As ``TokenAutomaton.counts``, with the states of this one."""
        _, states, *rest = self.relaxed.counts()
        masks, steps, nodes = rest
        return self.epoch, max(states, self.exact.counts()[1], self.states.count()), masks, steps, nodes


def _halves(handle: int) -> tuple[int, int]:
    """The place of a handle as two ints: node, bases."""
    return handle & (1 << _NODE) - 1, handle >> _NODE & (1 << _PLACE - _NODE) - 1
