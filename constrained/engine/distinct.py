"""Arrays whose items must differ: an automaton that also knows the values written before.

Idea
    The automaton beneath reads the language without that condition. This one has the same interface; its states are
    pairs of a state beneath and the *frames* of the open arrays (``distinct_frames``). A token is refused if it makes
    an item equal to one before it, or if no item is left that could still be written: so no state is a dead end.

Data
    A state without open arrays is the handle of the automaton beneath; any other is an index into ``pairs``, marked
    by ``OWN``. Which arrays are open is read off the stacks beneath: while one is, the position that reads its closing
    bracket is among them or below (``engine.build.DISTINCT``). All ways of reading must agree on that.

Masks
    The row of the state beneath, less what is refused. Only tokens can be refused that follow the spelling of a seen
    value to its end, or to where nothing else can follow: found by going down the sorted vocabulary along the
    frames' pursuits, which end after few bytes. Tokens that end an item and write the next are tried one by one.

Liveness
    Where the present item can still become equal, some text must exist that makes it differ: first a run of letters
    longer than all seen strings, then the shortest text of the automaton beneath, then a search that prefers what is
    near an end. Beyond ``Limits.max_distinct_search`` steps: ``GrammarLimitError``.

Cost: outside of such arrays nothing; inside 0.1-1 ms for a mask, and some us for a token.
"""

from __future__ import annotations

import threading
from ctypes import c_int32
from heapq import heappop, heappush
from typing import Any

import numpy as np

from constrained.engine.distinct_frames import BEFORE, INSIDE, Frame
from constrained.engine.seen_values import next_bytes
from constrained.engine.vocabulary_tables import VocabularyTrie
from constrained.errors import GrammarError, GrammarLimitError
from constrained.kernel.mask_walk import StaleState, TokenAutomaton
from constrained.limits import Limits

__all__ = ["DistinctAutomaton"]

OWN = 1 << 30
"""Marks handles of pairs."""

Frames = tuple[Frame, ...]
_ALL_BYTES = [bytes((byte,)) for byte in range(256)]
_PAIR_BYTES = 600
LONGEST_RUN = 4096
"""Bytes of a run of letters that is tried."""


class DistinctAutomaton:
    """See the module docstring. Methods as ``TokenAutomaton``.

    Args:
        base: the automaton beneath.
        marks: its positions that read the closing brackets of arrays with different items.
        endless: whether each such array always has more strings, and more values, than a text can hold.
    """

    def __init__(self, base: TokenAutomaton, marks: frozenset[int], endless: bool, tables: VocabularyTrie,
                 limits: Limits) -> None:
        self.base = base
        self.endless = endless
        self.marks = marks
        self.info = tables.info
        self.limits = limits
        self.words = base.words
        self.vocab_size = base.vocab_size
        self.lock = threading.RLock()
        self.tokens = tables.sorted
        self._forget()

    def _forget(self) -> None:
        self.pairs: list[tuple[int, Frames]] = []
        self.refused: dict[int, np.ndarray] = {}
        self.depths: dict[int, int] = {0: 0}
        self.live: dict[Any, bool] = {}

    # ---- handles -------------------------------------------------------------------------------------

    def _open(self, handle: int) -> tuple[int, Frames]:
        if not handle & OWN:
            return handle, ()
        if not self.base.is_fresh(handle):
            raise StaleState(handle)
        return self.pairs[handle & (OWN - 1)]

    def _handle(self, state: int, frames: Frames) -> int:
        if not frames:
            return state
        self.pairs.append((state, frames))
        return state >> 32 << 32 | OWN | len(self.pairs) - 1

    def start(self) -> int:
        return self.base.start()

    def is_fresh(self, handle: int) -> bool:
        return self.base.is_fresh(handle)

    def new_epoch(self) -> None:
        with self.lock:
            self.base.new_epoch()
            self._forget()

    def memory(self) -> int:
        return self.base.memory() + _PAIR_BYTES * len(self.pairs)

    def counts(self) -> tuple[int, int, int, int, int]:
        epoch, states, rows, masks, walked = self.base.counts()
        return epoch, states + len(self.pairs), rows, masks, walked

    # ---- steps ---------------------------------------------------------------------------------------

    def next(self, handle: int, token: int) -> int:
        if not handle & OWN and token not in self.tokens.brackets:
            return self.base.next(handle, token)
        with self.lock:
            state, frames = self._open(handle)
            after = self.base.next(state, token)
            if not after:
                return 0
            fed = self._feed(state, frames, self.info.token_bytes(token))
            if fed is None or not self._is_live(after, fed[1]):
                return 0
            return self._handle(after, fed[1])

    def next_all(self, handle: int, tokens: Any) -> list[int]:
        found = []
        for token in tokens:
            handle = self.next(handle, token)
            if not handle:
                break
            found.append(handle)
        return found

    def advance(self, handle: int, data: bytes) -> int:
        with self.lock:
            state, frames = self._open(handle)
            fed = self._feed(state, frames, data)
            return self._handle(*fed) if fed is not None and self._is_live(*fed) else 0

    def _feed(self, state: int, frames: Frames, data: bytes) -> tuple[int, Frames] | None:
        """The pair after some bytes; None if they leave the language or make two items equal."""
        if not frames and b"[" not in data:
            state = self.base.advance(state, data)
            return (state, ()) if state else None
        own = [frame.copy() for frame in frames]
        for byte in data:
            state = self.base.advance(state, _ALL_BYTES[byte])
            if not state:
                return None
            depth = self._depth(state)
            if depth < len(own) and not own.pop().close():
                return None
            for frame in own:
                if not frame.feed(byte):
                    return None
            if depth > len(own):
                own.append(Frame())
        return state, tuple(own)

    def _depth(self, state: int) -> int:
        """How many arrays of different items are open in a state beneath."""
        depths = self.depths
        found = depths.get(state)
        if found is not None:
            return found
        marks = self.marks
        stack = [state]
        while stack:
            here = stack[-1]
            elements = self.base.elements(here)
            waiting = [tail for _, _, tail in elements if tail not in depths]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            told = {depths[tail] + (position in marks) for positions, _, tail in elements for position in positions}
            if len(told) > 1:
                raise GrammarError("one reading of the text has an array whose items must differ where another has not")
            depths[here] = told.pop() if told else 0
        return depths[state]

    # ---- what may follow -----------------------------------------------------------------------------

    def complete(self, handle: int) -> bool:
        return self.base.complete(self._open(handle)[0])

    def threads(self, handle: int) -> list[list[int]]:
        return self.base.threads(self._open(handle)[0])

    def elements(self, handle: int) -> list[tuple[list[int], int, int]]:
        return self.base.elements(self._open(handle)[0])

    def forced_bytes(self, handle: int, most: int) -> bytes:
        return self.base.forced_bytes(self._open(handle)[0], most)

    def distance(self, handle: int) -> int:
        """The bytes of ``shortest``."""
        return len(self.shortest(handle, 1 << 30) or b"")

    def shortest(self, handle: int, most: int) -> bytes | None:
        """A short text that completes the state: the shortest one beneath unless items would be equal in it."""
        with self.lock:
            state, frames = self._open(handle)
            found = self._search(state, frames, whole=True)
        return None if found is None else found[:most]

    def _is_live(self, state: int, frames: Frames) -> bool:
        """Whether the text can be completed with different items."""
        if self._is_settled(state, frames):
            return True
        key = (state, *(frame.key() for frame in frames))
        known = self.live.get(key)
        if known is None:
            known = self.live[key] = self._search(state, frames, whole=False) is not None
        return known

    def _is_settled(self, state: int, frames: Frames) -> bool:
        """Whether it is plain that the text can be completed."""
        if not frames:
            return True
        if not self.endless or any(frame.at is not None for frame in frames[:-1]):
            return False
        last = frames[-1]
        if last.at is None:  # between items, or in one that differs
            return True
        if not last.in_string:
            return False
        run = last.seen.longest + 1
        return run < LONGEST_RUN and any(self.base.advance(state, letter * run) for letter in (b"a", b"0"))

    def _search(self, state: int, frames: Frames, whole: bool) -> bytes | None:
        """A text that completes a state, or (not ``whole``) leads to where it is plain that some text does."""
        counter = 0
        heap: list[tuple[int, int, int, Frames, Any]] = [(0, 0, state, frames, None)]
        met: set[Any] = set()
        steps = 0
        while heap:
            _, _, state, frames, path = heappop(heap)
            rest = self._try(state, frames, whole)
            if rest is not None:
                return _path(path) + rest
            steps += 1
            if steps > self.limits.max_distinct_search:
                raise GrammarLimitError("max_distinct_search", self.limits.max_distinct_search,
                                        "it is not decided whether another item that differs can be written")
            for byte in range(256):
                after = self.base.advance(state, _ALL_BYTES[byte])
                fed = self._feed(state, frames, _ALL_BYTES[byte]) if after else None
                if fed is None:
                    continue
                key = (after, *(frame.key() for frame in fed[1]))
                if key not in met:
                    met.add(key)
                    counter += 1
                    heappush(heap, (self.base.distance(after), -counter, after, fed[1], (path, byte)))
        return None

    def _try(self, state: int, frames: Frames, whole: bool) -> bytes | None:
        """The shortest text beneath, if no items are equal in it."""
        if not whole and self._is_settled(state, frames):
            return b""
        rest = self.base.shortest(state, 1 << 30)
        if rest is None:
            return None
        return rest if self._feed(state, frames, rest) is not None else None

    # ---- masks ---------------------------------------------------------------------------------------

    def fill(self, handle: int, bitmask: Any, index: int) -> int:
        with self.lock:
            state, frames = self._open(handle)
            count = self.base.fill(state, bitmask, index)
            return count - self._strike(handle, state, frames, bitmask[index])

    def fill_at(self, handle: int, address: int) -> int:
        with self.lock:
            state, frames = self._open(handle)
            count = self.base.fill_at(state, address)
            row = np.ctypeslib.as_array((c_int32 * self.words).from_address(address))
            return count - self._strike(handle, state, frames, row)

    def allowed_ids(self, handle: int) -> list[int]:
        with self.lock:
            state, frames = self._open(handle)
            row = np.zeros((1, self.words), dtype=np.int32)
            self.base.fill(state, row, 0)
            self._strike(handle, state, frames, row[0])
            return np.flatnonzero(np.unpackbits(row[0].view(np.uint8), bitorder="little")).tolist()

    def allowed_count(self, handle: int) -> int:
        return len(self.allowed_ids(handle))

    def _strike(self, handle: int, state: int, frames: Frames, row: Any) -> int:
        """Clear what is refused in a row of the state beneath; returns how many bits that were."""
        refused = self.refused.get(handle)
        if refused is None:
            refused = self.refused[handle] = np.array(sorted(self._refused(state, frames, row)), dtype=np.int64)
        if len(refused):
            np.bitwise_and.at(row, refused >> 5, ~(np.int32(1) << (refused & 31).astype(np.int32)))
        return len(refused)

    def _refused(self, state: int, frames: Frames, row: Any) -> set[int]:
        tokens = self.tokens
        if not frames:
            tried = tokens.opening
        elif self.endless:
            tried = tokens.quoted_further if frames[-1].in_string else tokens.further
        else:
            tried = tokens.quoted_commas if frames[-1].in_string else tokens.commas
        found: set[int] = set()
        for token in _allowed(row, tried).tolist():
            fed = self._feed(state, frames, self.info.token_bytes(token))
            if fed is None or not self._is_live(*fed):
                found.add(token)
        if any(map(_is_pursued, frames)):
            self._go_down(state, frames, row, found)
        return found

    def _go_down(self, state: int, frames: Frames, row: Any, found: set[int]) -> None:
        """Add the tokens that are refused along the pursuits."""
        tokens = self.tokens
        stack = [(0, len(tokens.texts), 0, state, frames)]
        while stack:
            low, high, depth, state, frames = stack.pop()
            while low < high and len(tokens.texts[low]) == depth:
                token = tokens.ids[low]
                if row[token >> 5] >> (token & 31) & 1 and not self._is_live(state, frames):
                    found.add(token)
                low += 1
            possible = _possible(frames)
            for byte, lower, upper in tokens.below(low, high, depth):
                if possible is not None and byte not in possible:
                    continue
                after = self.base.advance(state, _ALL_BYTES[byte])
                if not after:
                    continue
                fed = self._feed(state, frames, _ALL_BYTES[byte])
                if fed is None:
                    found.update(_allowed(row, np.array(tokens.ids[lower:upper], dtype=np.int64)).tolist())
                elif any(map(_is_pursued, fed[1])):
                    stack.append((lower, upper, depth + 1, after, fed[1]))


def _is_pursued(frame: Frame) -> bool:
    """Whether the present or next item may become equal to a seen one."""
    return frame.at is not None or (frame.stage == BEFORE and frame.seen.count > 0)


def _possible(frames: Frames) -> frozenset[int] | None:
    """The bytes after which some item may still be equal to a seen one; None where that is not told."""
    found: frozenset[int] = frozenset()
    for frame in frames:
        if frame.at is not None:
            told = next_bytes(frame.at)
            if told is None:
                return None
            found |= told
        elif frame.stage != INSIDE:
            return None
    return found


def _allowed(row: Any, ids: Any) -> Any:
    """Those of the ids whose bit is set."""
    return ids[(row[ids >> 5] >> (ids & 31).astype(np.int32)) & 1 == 1]


def _path(path: Any) -> bytes:
    found = bytearray()
    while path is not None:
        path, byte = path
        found.append(byte)
    found.reverse()
    return bytes(found)
