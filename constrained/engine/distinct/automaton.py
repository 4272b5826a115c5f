"""The automaton of a grammar with ``Distinct`` nodes: two ordinary automata and readers beside them.

Idea
    *relaxed* knows nothing of the condition: its masks and steps are those of any grammar. *exact* reads a mark where
    a ``Distinct`` begins. A state is a state of relaxed and a set of pairs (reader, state of exact): the ways to read
    the text so far under which nothing came twice. A pair lives while its item can still be completed as a new one
    (a search that nearly always ends at its first byte, since any byte that leads away from all that was seen will do).

    The mask is relaxed's less the tokens that no pair survives. Those are found without looking at the others: a walk
    over the vocabulary along what the readers have seen, and the few tokens that reach into a second item or write a
    name again. What is tried on the way is taken back from the reader's tables.

    Where several pairs live and one of them comes to grief, a *ghost* stays for it as long as it can read what the
    others cannot: relaxed follows that way of reading still, so the mask has to lose its tokens.

Data
    A handle is ``epoch << 32 | index`` into the table of states, 0 is dead, as for ``TokenAutomaton``; both automata
    begin new epochs together with this one. exact's vocabulary is the 256 bytes, the mark, and the tokens that the
    grammar names. Steps and masks are remembered up to a bound; states stay for the epoch, 40 bytes each.

Cost: a first step 5-10 us, a first mask inside such an array 20-400 us, known ones a look-up and a copy. With a ghost a
mask may be a walk over the vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np

from constrained.engine.distinct.texts import BLANKS, TokenRow, VocabularyTexts
from constrained.kernel.int_rows import IntRows
from constrained.kernel.token_automaton import StaleState, TokenAutomaton
from constrained.kernel.value_reader import ValueReader
from constrained.kernel.value_walk import ValueWalk

__all__ = ["MARK", "DistinctAutomaton", "SearchLimitReached"]

MARK = 256
"""The id that stands for the beginning of a ``Distinct`` in the vocabulary of *exact*."""

MARK_COST = 1_000_000
"""What a mark counts in distances of *exact*, as every token that is no text."""

GHOST = -1
"""Stands for the reader of a way of reading that has come to grief: relaxed still follows it."""

NAMED = 257
"""From here on: the tokens that the grammar names."""

SOON = 400
"""States in which a shortest end is looked for at once,"""

QUICK = 1_500
"""and in which a shorter one than that at hand is."""

KEPT = 4_000
"""Steps, and masks, that are remembered before all are forgotten."""

EAGER = 8
"""What a byte less to go is worth, in bytes written, where a short end is enough; and out of reach of what was seen."""

FAR = 1 << 60
"""More bytes than any text has."""

VARIANTS = 4
"""Ways to one state of the automata that such a search follows."""

Words = np.ndarray[Any, np.dtype[np.uint32]]
_NO_WORDS: Words = np.zeros(0, dtype=np.uint32)
_OPENING = frozenset(b"[{")
_OPENINGS = frozenset((b"[", b"{"))
_BYTES = [bytes((value,)) for value in range(256)]


def _bits(values: bytes) -> int:
    return sum(1 << value for value in set(values))


_BRACKETS = _bits(b"[{")
_BLANKS = _bits(b" \t\n\r")
_OF_NUMBERS = _bits(b"0123456789+-.eE")

_PLACE = 44
"""Bits of a handle below those of the epoch (``kernel.token_automaton``); rows of ints hold them in two halves."""

_NODE = 24

Mark = tuple[int, int, int, int]
Pairs = tuple[tuple[int, int], ...]
"""(reader's state, state of exact), sorted; none: dead. A ghost stands beside others only."""


Mask = tuple[int, int, Words, Words]
"""relaxed's state, how many tokens are allowed, which words of relaxed's mask change, the bits kept of them."""


Packed = tuple[ValueReader, list[tuple[int, list[int]]], int]
"""What the readers have seen, relaxed's state and the pairs as ints, and how many there should be."""


class SearchLimitReached(Exception):
    """Whether an item can still be ended as a new one was searched for too long; args: states met."""


class DistinctAutomaton:
    """Stands in for a ``TokenAutomaton``: the same methods. See the module docstring."""

    def __init__(self, relaxed: TokenAutomaton, exact: TokenAutomaton, texts: VocabularyTexts, named: dict[int, int],
                 by_id_only: frozenset[int], max_search: int) -> None:
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
        self.searched = 0  # states, in this step or for this mask
        self.reader = ValueReader()
        self._reset()

    def _reset(self) -> None:
        self.epoch += 1
        self.walker = ValueWalk(self.reader, self.exact, self, self.texts.closing)
        self.pairs = IntRows(4)  # the pairs before, reader's state, exact's place: a set of pairs is a chain
        self.states = IntRows(3)  # relaxed's place, the pairs
        self.taken: dict[tuple[int, int], int] = {}
        self.marks: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.blanks: dict[int, list[int] | None] = {}
        self.banned: dict[int, Mask] = {}
        self.upper = self.exact.start() >> _PLACE << _PLACE
        self.begin = self._handle(self.relaxed.start(), ((0, self.exact.start()),))

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

    def _feed(self, pairs: Pairs, data: bytes) -> Pairs:
        """The pairs after ``data``; a ``Distinct`` begins in front of a bracket."""
        if len(pairs) == 1 and (len(data) == 1 or (b"[" not in data and b"{" not in data)):
            return self._living(self._read(self._with_marks(pairs) if data in _OPENINGS else pairs, data))
        begin = 0
        n = len(data)
        while begin < n and pairs:
            end = begin + 1
            if data[begin] in _OPENING:
                pairs = self._with_marks(pairs)
            else:
                while end < n and data[end] not in _OPENING:
                    end += 1
            pairs = self._read(pairs, data[begin:end])
            begin = end
        return self._living(pairs)

    def _read(self, pairs: Pairs, data: bytes) -> Pairs:
        if len(pairs) == 1:
            reader, state = pairs[0]
            target = self.exact.advance(state, data)
            if not target:
                return ()
            if reader > 0:
                reader = self.reader.feed(reader, data)
            return ((reader, target),) if reader >= 0 else ()
        found: dict[int, int] = {}
        for reader, state in pairs:
            target = self.exact.advance(state, data)  # first: the reader relies on it that this is JSON
            if target:
                after = self.reader.feed(reader, data) if reader > 0 else reader
                self._add(found, after, target)
        return _in_order(found)

    def _add(self, found: dict[int, int], reader: int, state: int) -> None:
        """Add a pair; two states with one reader become one."""
        found[reader] = self.exact.unite(found[reader], state) if reader in found else state

    def _with_marks(self, pairs: Pairs) -> Pairs:
        found = dict(pairs)
        changed = False
        for reader, state in pairs:
            while reader != GHOST:
                marked = self._marked(state)
                if not marked:
                    break
                reader, state = self.reader.marked(reader), marked
                self._add(found, reader, state)
                changed = True
        return _in_order(found) if changed else pairs

    def _living(self, pairs: Pairs) -> Pairs:
        if len(pairs) == 1:
            return pairs if pairs[0][0] == 0 or self._lives(*pairs[0]) else ()
        if all(self._lives(*pair) for pair in pairs if pair[0] > 0):
            return pairs
        found: dict[int, int] = {}
        for reader, state in pairs:
            after = reader if reader <= 0 or self._lives(reader, state) else GHOST
            self._add(found, after, state)
        return _in_order(found)

    # ---- no dead ends --------------------------------------------------------------------------------

    def _first(self, state: int) -> int:
        """The bytes that exact can read, as bits; a mark stands for both brackets."""
        known = self.first.get(state)
        if known is None:
            known = 0
            for i in self.exact.allowed_ids(state):
                known |= 1 << i if i < MARK else _BRACKETS if i == MARK else 0
            self.first[state] = known
        return known

    def first_bytes(self, state: int) -> bytes:
        """The same as 32 bytes."""
        return self._first(state).to_bytes(32, "little")

    def has_mark(self, state: int) -> bool:
        """Whether a ``Distinct`` may begin in a state of exact."""
        return self._marked(state) != 0

    def _marked(self, state: int) -> int:
        """The state of exact in which a ``Distinct`` has begun, or 0."""
        known = self.marks.get(state)
        if known is None:
            known = self.marks[state] = self.exact.next(state, MARK)
        return known

    def lives(self, reader: int, state: int) -> bool:
        """Whether the unfinished items can be completed as new ones. Raises ``SearchLimitReached``."""
        return reader == 0 or self._lives(reader, state)

    def _lives(self, reader: int, state: int) -> bool:
        free, _, trouble = self.reader.outlook(reader)
        if free or self._away(reader, state, trouble):
            return True
        marked = self.reader.mark()
        try:
            return self._search_life(reader, state)
        finally:
            self.reader.undo(marked)

    def _search_life(self, reader: int, state: int) -> bool:
        """By turns from what is nearest to an end of all that was met, and from what the last step led nearest to one:
        where what was seen bars the near ends, the first has all their other spellings to try, and the second goes by.
        """
        met = {(reader, state)}
        heap = [(self.exact.distance(state), (reader, state))]
        last: list[tuple[int, tuple[int, int]]] = []
        done: set[tuple[int, int]] = set()
        while heap:
            here = last.pop()[1] if last and len(done) & 1 else heappop(heap)[1]
            if here in done:
                continue
            done.add(here)
            fresh: list[tuple[int, tuple[int, int]]] = []
            for byte in _members(self._first(here[1])):
                pairs: Pairs = (here,)
                if byte in _OPENING:
                    pairs = self._with_marks(pairs)
                for pair in self._read(pairs, _BYTES[byte]):
                    if pair in met or pair[0] == GHOST:
                        continue
                    if pair[0] == 0:
                        return True
                    free, _, trouble = self.reader.outlook(pair[0])
                    if free or self._away(*pair, trouble):
                        return True
                    met.add(pair)
                    far = self.exact.distance(pair[1])
                    heappush(heap, (far, pair))
                    fresh.append((-far, pair))
            last += sorted(fresh)
            self.searched += 1
            if self.searched + len(heap) > self.max_search:
                raise SearchLimitReached(self.searched)
        return False

    def _away(self, reader: int, state: int, trouble: int) -> bool:
        """Whether a byte leads away from all that was seen. Brackets may begin more, and digits an exponent."""
        away = self._first(state) & ~(trouble | _BRACKETS)
        if away and self.reader.in_number(reader):
            away &= ~_OF_NUMBERS
        return away != 0

    # ---- masks ---------------------------------------------------------------------------------------

    def _mask(self, handle: int, bits: Any, index: int) -> Mask:
        """What relaxed's mask, which is left in row ``index`` of ``bits``, is to be changed by."""
        row, pairs = self._of(handle)
        self.searched = 0
        count = self.relaxed.fill(row, bits, index)
        allowed = bits[index].view(np.uint32)
        watched = any(reader for reader, _ in pairs) or len(self.texts.second_behind_bracket.words)
        dead = self._dead(allowed, pairs) if watched else []
        if self.relaxed.complete(row) and not self._complete(pairs):
            dead += [i for i in self.stop_ids if not self.relaxed.next(row, i)]
        known: Mask = (row, count, _NO_WORDS, _NO_WORDS)
        if dead:
            banned = allowed & self.texts.row(dead)
            places = banned.nonzero()[0]
            gone = banned[places]
            known = (row, count - int(np.unpackbits(gone.view(np.uint8)).sum()), places.astype(np.uint32), ~gone)
        if len(self.banned) >= KEPT:
            self.banned.clear()
        self.banned[handle] = known
        return known

    def _dead(self, allowed: Words, pairs: Pairs) -> list[int]:
        """Tokens that no pair survives, of those allowed and perhaps of others."""
        marked = self.reader.mark()
        dead: list[int] = []
        try:
            for doubtful in self._doubtful(pairs):
                for i in doubtful.among(allowed):
                    if not self._survives(pairs, i):
                        dead.append(i)
                    self.reader.undo(marked)
            return dead + self._walked(pairs)
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

    def _survives(self, pairs: Pairs, token: int) -> bool:
        data = self.texts.info.token_bytes(token)
        if len(pairs) == 1 and pairs[0][0] > 0 and b"[" not in data and b"{" not in data:
            alive = self.walker.survives(*pairs[0], data)
        else:
            alive = bool(self._feed(pairs, data))
        return alive or (token in self.named and bool(self._by_name(pairs, token)))

    def _walked(self, pairs: Pairs) -> list[int]:
        """Tokens that die on the way along what was seen."""
        dead: list[int] = []
        trie = self.texts.trie
        if len(pairs) == 1:
            reader, state = pairs[0]
            if not reader:
                return dead
            others = self._behind_blanks(reader, state)
            nodes = self.walker.walk(reader, state, others is not None, others or [])
            if nodes is not None:
                for node in nodes:
                    dead += trie.ids_below(node)
                return dead
        marked = self.reader.mark()
        stack = [(pairs, 0, byte, marked) for byte in _members(self._troubling(pairs))]
        while stack:
            before, node, byte, known = stack.pop()
            node = trie.child(node, byte)
            if node == 0:
                continue
            self.reader.undo(known)
            after = self._feed(before, _BYTES[byte])
            if not after:
                dead += trie.ids_below(node)
            else:
                known = self.reader.mark()
                stack += [(after, node, more, known) for more in _members(self._troubling(after))]
        return dead

    def _behind_blanks(self, reader: int, state: int) -> list[tuple[int, int, int]] | None:
        """Where the walk goes on behind blanks, if all blanks do the same: (reader, state, node of the trie)."""
        if not self.reader.outlook(reader)[2] & _BLANKS:
            return []
        states = self._after_blanks(state)
        if states is None:
            return None
        reader = self.reader.feed(reader, b" ")  # of more blanks it knows nothing
        if reader < 0 or not all(self._lives(reader, after) for after in states):
            return None
        return [(reader, after, node) for after, nodes in zip(states, self.texts.behind_blanks, strict=False)
                for node in nodes]

    def _after_blanks(self, state: int) -> list[int] | None:
        """The states of exact after 1, 2, ... blanks, as long as there are some; None where it matters which ones."""
        if state not in self.blanks:
            if len(self.blanks) >= KEPT:
                self.blanks.clear()
            found: list[int] = []
            here = state
            ways: set[int] = set()
            for _ in self.texts.behind_blanks:
                ways = {self.exact.advance(here, _BYTES[byte]) for byte in BLANKS}
                here = ways.pop()
                if ways or not here:
                    break
                found.append(here)
            self.blanks[state] = None if ways else found
        return self.blanks[state]

    def _troubling(self, pairs: Pairs) -> int:
        """The bytes behind which a pair is not calm."""
        found = 0
        for reader, state in pairs:
            if reader:
                found |= self._first(state) if reader == GHOST else self.reader.outlook(reader)[2]
        return found

    def _complete(self, pairs: Pairs) -> bool:
        return any(reader == 0 and self.exact.complete(state) for reader, state in pairs)

    def _by_name(self, pairs: Pairs, token: int) -> Pairs:
        name = self.named[token]
        return _in_order({reader: after for reader, state in pairs if (after := self.exact.next(state, name))})

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
            return self._handle(self.relaxed.unpacked(row),
                                tuple(sorted((number, self.exact.unpacked(state)) for number, state in pairs)))

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
            if len(self.taken) >= KEPT:
                self.taken.clear()
            self.taken[handle, token] = after
            return after

    def _by_token(self, pairs: Pairs, token: int) -> Pairs:
        as_text = self._feed(pairs, self.texts.info.token_bytes(token)) if self._is_text(token) else ()
        if token not in self.named:
            return as_text
        found: dict[int, int] = {}
        for reader, state in self._by_name(pairs, token) + as_text:
            self._add(found, reader, state)
        return _in_order(found)

    def _after(self, row: int, find: Callable[[], Pairs]) -> int:
        """The state of ``row`` and the pairs that are found; where there are none, nothing is left behind."""
        self.searched = 0
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
            return self._after(after, lambda: self._feed(pairs, data)) if after else 0

    def complete(self, handle: int) -> bool:
        """Whether the text may end here."""
        with self.lock:
            return self._complete(self._of(handle)[1])

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
            out = bytearray()
            _, pairs = self._of(handle)
            marked = self.reader.mark()
            self.searched = 0
            try:
                while len(out) < most and pairs and not self._complete(pairs):
                    if any(self._reads_names(state) for _, state in pairs):
                        break
                    ways = []
                    for byte in _members(self._options(pairs)):
                        after = self._feed(pairs, _BYTES[byte])
                        if after:
                            ways.append((byte, after))
                            if len(ways) > 1:
                                break
                    if len(ways) != 1:
                        break
                    out.append(ways[0][0])
                    pairs = ways[0][1]
            finally:  # what was tried is taken back even where a search ends at its limit
                self.reader.undo(marked)
            return bytes(out)

    def _options(self, pairs: Pairs) -> int:
        found = 0
        for _, state in pairs:
            found |= self._first(state)
        return found

    def _reads_names(self, state: int) -> bool:
        return bool(self.named) and any(i >= NAMED for i in self.exact.allowed_ids(state))

    def shortest(self, handle: int, most: int) -> bytes | None:
        """The bytes of a way to an end, at most ``most`` of them; None where only a named token goes on.

        A shortest one by A* on relaxed's distances, which are at most the true ones (Hart, Nilsson, Raphael 1968).
        Where ``SOON`` states do not tell, the one that ``_descend`` comes to, or one that is shorter, if ``QUICK``
        states tell it. Where there is none, a short one: without needless blanks, of the texts that differ only in what
        the readers remember a few, and distances count ``EAGER`` times (Pohl 1970), so that a way that has found its
        new items is followed to the end.
        """
        with self.lock:
            self.searched = 0
            try:
                return self._search(handle, most, False, SOON)
            except SearchLimitReached:
                pass
            short = self._descended(handle)
            if short is not None and len(short) == self.distance(handle):
                return short[:most]
            self.searched = 0
            try:
                found = self._search(handle, most, False, QUICK, FAR if short is None else len(short))
                return short[:most] if found is None and short is not None else found
            except SearchLimitReached:
                if short is not None:
                    return short[:most]
            for eager, budget in ((True, self.max_search), (False, self.max_search)):
                self.searched = 0
                try:
                    found = self._search(handle, most, eager, budget)
                except SearchLimitReached:
                    continue
                if found is not None or not eager:
                    return found
            raise SearchLimitReached(self.max_search)

    def _search(self, handle: int, most: int, eager: bool, budget: int, below: int = FAR) -> bytes | None:
        """``eager``: a short end is enough. ``below``: only one of fewer bytes is wanted."""
        marked = self.reader.mark()
        try:
            return self._search_end(self._of(handle), most, eager, budget, below)
        finally:
            self.reader.undo(marked)

    def _search_end(self, start: tuple[int, Pairs], most: int, eager: bool, budget: int, below: int) -> bytes | None:
        before: dict[tuple[int, Pairs], tuple[tuple[int, Pairs], int]] = {start: (start, 0)}
        heap = [(0, 0, 0, start)]
        met: dict[tuple[int, ...], int] = {}
        while heap:
            _, depth, _, here = heappop(heap)
            row, pairs = here
            if self._complete(pairs):
                out = bytearray()
                while here != start:
                    here, byte = before[here]
                    out.append(byte)
                out.reverse()
                return bytes(out[:most])
            options = self._options(pairs)
            for byte in _members((options & ~_BLANKS or options) if eager else options):
                data = _BYTES[byte]
                next_row = self.relaxed.advance(row, data)
                if not next_row:
                    continue
                after = (next_row, self._feed(pairs, data))
                if not after[1] or after in before:
                    continue
                far = self.relaxed.distance(next_row)
                if 1 - depth + far >= below:
                    continue
                if eager:
                    place = (next_row, *[state for _, state in after[1]])
                    met[place] = met.get(place, 0) + 1
                    if met[place] > VARIANTS:
                        continue
                    far = EAGER * max(far, self._far(after[1]))
                before[after] = (here, byte)
                # of equally good ways the longest goes on, of those the youngest
                heappush(heap, (1 - depth + far, depth - 1, len(before), after))
            if len(before) > budget:
                raise SearchLimitReached(len(before))
        return None

    def _descended(self, handle: int) -> bytes | None:
        """``_descend``, or None where it finds no end, or not within ``max_search`` steps."""
        marked = self.reader.mark()
        self.searched = 0
        try:
            return self._descend(self._of(handle))
        except SearchLimitReached:
            return None
        finally:
            self.reader.undo(marked)

    def _descend(self, start: tuple[int, Pairs]) -> bytes | None:
        """An end by steps that each lead as near to one as any does, and of those out of reach of what was seen.

        Distances know nothing of what was seen. Where that bars the nearest end the next one may be far; a search by
        distances first tries whatever can be written in other ways, as 1.0 and 1.00, but a step that leads away from an
        end leads towards another, and no living state is without one. What has no way on is taken back.
        """
        met = {start}
        way: list[tuple[int, list[tuple[int, Pairs, int]]]] = []
        here, steps = start, 0
        while not self._complete(here[1]):
            ways = self._nearest(here)
            while True:
                while not ways and way:
                    _, ways = way.pop()
                if not ways:
                    return None
                row, pairs, byte = ways.pop()
                here = row, self._living(pairs)
                if here[1] and here not in met:
                    break
            met.add(here)
            way.append((byte, ways))
            steps += 1
            if steps > self.max_search:
                return None
        return bytes([byte for byte, _ in way])

    def _nearest(self, here: tuple[int, Pairs]) -> list[tuple[int, Pairs, int]]:
        """What a byte leads to, and the byte; the nearest to an end comes last. Whether it lives is not asked."""
        row, pairs = here
        options = self._options(pairs)
        found: list[tuple[int, int, int, Pairs]] = []
        for byte in _members(options & ~_BLANKS or options):
            data = _BYTES[byte]
            after = self.relaxed.advance(row, data)
            read = self._read(self._with_marks(pairs) if byte in _OPENING else pairs, data) if after else ()
            if read:
                far = max(self.relaxed.distance(after), self._far(read))
                if not all(reader <= 0 or self.reader.outlook(reader)[0] for reader, _ in read):
                    far += EAGER
                found.append((-far, -byte, after, read))
        found.sort()
        return [(after, read, -byte) for _, byte, after, read in found]

    def _far(self, pairs: Pairs) -> int:
        """About how many bytes lead to an end: what relaxed takes for an end of an item may be none for any pair."""
        marks, count = divmod(min(self.exact.distance(state) for reader, state in pairs if reader != GHOST), MARK_COST)
        return marks + count

    def threads(self, handle: int) -> list[list[int]]:
        """The positions of relaxed that can read now; none where nothing but the end can follow."""
        with self.lock:
            row, pairs = self._of(handle)
            if not any(self.exact.threads(state) for _, state in pairs):
                return []
            return self.relaxed.threads(row)

    def memory(self) -> int:
        """Bytes held, about."""
        own = self.pairs.memory() + self.states.memory() + 250 * len(self.taken) + 150 * len(self.first)
        own += sum(400 + 8 * len(places) for _, _, places, _ in self.banned.values())
        return self.relaxed.memory() + self.exact.memory() + self.reader.memory() + own

    def counts(self) -> tuple[int, int, int, int, int]:
        """As ``TokenAutomaton.counts``, with the states of this one."""
        _, states, *rest = self.relaxed.counts()
        masks, steps, nodes = rest
        return self.epoch, max(states, self.exact.counts()[1], self.states.count()), masks, steps, nodes


def _in_order(found: dict[int, int]) -> Pairs:
    """Pairs in order; ghosts only as long as they can read what no other can, beside others."""
    ghost = found.get(GHOST)
    if ghost is not None and (len(found) == 1 or list(found.values()).count(ghost) > 1):
        del found[GHOST]
    return tuple(sorted(found.items()))


def _members(bits: int) -> Iterator[int]:
    """The values whose bits are set, in order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _halves(handle: int) -> tuple[int, int]:
    """The place of a handle as two ints: node, bases."""
    return handle & (1 << _NODE) - 1, handle >> _NODE & (1 << _PLACE - _NODE) - 1
