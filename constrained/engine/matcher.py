"""``GrammarMatcher``: one generation under one grammar.

A matcher is a state handle and the list of handles before it, so ``fork`` copies a list, ``rollback`` cuts one, and
everything found about a state serves all matchers of the grammar. One accepted token, or one accepted string, is one
step of the history. Memory: two words a step.

A matcher belongs to one thread at a time; the compiled grammar behind it is shared freely.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from constrained.engine.buffers import RowFinder
from constrained.engine.captures import CaptureSpan, CaptureTracker
from constrained.engine.compiled import KERNEL_LIMITS, CompiledGrammar, Held, StaleState, limit_error
from constrained.engine.forced import forced_tokens, whole_characters
from constrained.errors import ConstrainedError
from constrained.kernel.follower import Follower
from constrained.kernel.linking import Unwritten
from constrained.kernel.token_automaton import TokenAutomaton

if TYPE_CHECKING:
    from constrained.engine.distinct.automaton import DistinctAutomaton
    from constrained.kernel.program import Program

__all__ = ["GrammarMatcher"]

Step = int | bytes
"""A token id, ``~id`` for the stop token that ended the text, or a string."""


def _as_id(token_id: Any) -> int:
    """An integer of another type (numpy's, a boolean) as an int; anything else is a ``ConstrainedError``."""
    try:
        return operator.index(token_id)
    except TypeError:
        raise ConstrainedError(f"a token id is an int, not {type(token_id).__name__}") from None


def _checked_stops(given: Iterable[int] | int, vocab_size: int) -> frozenset[int]:
    stops = frozenset((given,) if isinstance(given, int) else given)
    for stop in stops:
        if not isinstance(stop, int) or not 0 <= stop < vocab_size:
            raise ConstrainedError(f"stop token {stop!r:.50} is not an id below {vocab_size}")
    return stops


class GrammarMatcher(Follower):
    """Follows one text through a grammar, token by token.

    Args:
        compiled: the grammar.
        override_stop_tokens: the ids that end this text, instead of the vocabulary's.
        terminate_without_stop_token: the text ends by itself as soon as nothing but an end can follow.

    Raises:
        ConstrainedError: a stop token is out of range.
    """

    __slots__ = ()

    # those of ``Follower`` that only this class uses
    _compiled: CompiledGrammar
    _auto: TokenAutomaton | DistinctAutomaton
    _held: Held | None  # what the text needed when it was replayed
    _finder: RowFinder | None  # made where an array is not plain
    _tracked: tuple[CaptureTracker, list[Step], list[CaptureSpan]] | None
    _carried: tuple[int, Any, Program] | None  # a state of an earlier epoch, what it is, and in which program
    _before: Sequence[Step]  # of a probe: the steps to where it began, those of the matcher that it looks ahead for

    def _other_stops(self, given: Iterable[int] | int) -> frozenset[int]:
        return _checked_stops(given, self._compiled.tokenizer_info.vocab_size)

    def _refuse_stops(self) -> None:
        raise ConstrainedError("override_stop_tokens is empty: the text could never end",
                               hint="name a stop token, or set terminate_without_stop_token=True")

    # ---- stepping ------------------------------------------------------------------------------------

    def _accept_slowly(self, token_id: int) -> bool:
        """``accept_token`` wherever it is not plain."""
        if token_id.__class__ is not int:
            token_id = _as_id(token_id)
        if self._terminated:
            return False
        return self._take(token_id, self._next(token_id))

    def _ends_with(self, token_id: int) -> bool:
        """Take a token that the grammar does not read here, if it is a stop token and the text may end."""
        if token_id in self._stops and self.is_completed():
            self._push(~token_id, self._state)
            self._terminated = True
            return True
        return False

    def accept_tokens(self, token_ids: Iterable[int]) -> int:
        """Take tokens up to the first that is not allowed; returns how many were taken."""
        count = 0
        for token_id in token_ids:
            if not self.accept_token(token_id):
                break
            count += 1
        return count

    def accept_string(self, text: str | bytes) -> bool:
        """Take text, as one step and one token whatever its tokens are. False, and nothing changes, if it does not fit.

        Raises ``ConstrainedError`` for what is neither str nor bytes, and ``GrammarLimitError``.
        """
        if isinstance(text, str):
            data = text.encode("utf-8", errors="surrogatepass")  # a lone surrogate fits no grammar
        elif isinstance(text, (bytes, bytearray, memoryview)):
            data = bytes(text)
        else:
            raise ConstrainedError(f"text is str or bytes, not {type(text).__name__}")
        if self._terminated:
            return not data
        after = self._ask(self._compiled.advance, data, True)
        live = self._compiled.live
        if after == 0 or (live is not None and not live.is_live(after)):
            return False
        self._push(data, after)
        if self._without_stop:
            self._terminated = self._is_final()
        return True

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """How many of the tokens could be taken one after the other; nothing changes."""
        return self._probe().accept_tokens(token_ids)

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last steps. Raises ``ConstrainedError`` if there are not that many."""
        if num_tokens < 0 or num_tokens > len(self._history):
            raise ConstrainedError(f"cannot undo {num_tokens} steps: {len(self._history)} were taken")
        if num_tokens:
            self._state = self._history[-num_tokens]
            del self._history[-num_tokens:]
            del self._steps[-num_tokens:]
            self._terminated = False

    def fork(self) -> GrammarMatcher:
        """A second matcher at the same place; the two go on independently."""
        other = GrammarMatcher.__new__(GrammarMatcher)
        other._follow_as(self)
        return other

    def _probe(self) -> GrammarMatcher:
        """A second matcher at the same place without the history: to look ahead, not to go back."""
        self._fresh()
        steps, self._steps = self._steps, []
        history, self._history = self._history, []
        try:
            other = self.fork()
        finally:
            self._steps, self._history = steps, history
        other._before = [*self._before, *steps] if self._before else steps
        return other

    def reset(self) -> None:
        """Back to the empty text."""
        self.number = self._compiled.text_begins()
        self._state = self._auto.start()
        self._history.clear()
        self._steps.clear()
        self._held = None
        self._terminated = self._without_stop and self._is_final()

    # ---- masks ---------------------------------------------------------------------------------------

    def _fill_slowly(self, bitmask: Any, index: int) -> bool:
        """``fill_next_token_bitmask`` wherever it is not plain."""
        if self._terminated or self._stops_given:
            return self._fill_plainly(bitmask, index)
        if not self._quick:
            allowed: int = self._ask(self._compiled.fill, self._rows().view(bitmask, index), index)
            return allowed != self._auto.vocab_size
        finder = self._rows()
        address = finder.address(bitmask, index)
        if not finder.is_tensor:  # a tensor's memory may be replaced; an array that is held here stays
            self._array, self._row, self._address = bitmask, index, address
        allowed = self._ask(self._compiled.fill_at, address)
        return allowed != self._auto.vocab_size

    def _rows(self) -> RowFinder:
        if self._finder is None:
            self._finder = RowFinder(self._auto.words)
        return self._finder

    def _fill_plainly(self, bitmask: Any, index: int) -> bool:
        """The rare rows: after the end, and with stop tokens of the matcher's own."""
        view = self._rows().view(bitmask, index)
        if self._terminated:
            view[index] = 0
        else:
            self._ask(self._compiled.fill, view, index)
            named = set(self.allowed_token_ids())
            for stop in self._compiled.tokenizer_info.stop_token_ids:
                if stop not in named:
                    self._set_bit(view, index, stop, False)
        if self.is_completed():
            for stop in self._stops:
                self._set_bit(view, index, stop, True)
        return True

    @staticmethod
    def _set_bit(view: Any, index: int, token_id: int, on: bool) -> None:
        word = int(view[index, token_id >> 5]) & 0xFFFFFFFF
        bit = 1 << (token_id & 31)
        word = word | bit if on else word & ~bit
        view[index, token_id >> 5] = word - (1 << 32) if word >= 1 << 31 else word

    def allowed_token_ids(self) -> list[int]:
        """The ids allowed next, in order, as a list (costs a list of all of them)."""
        if self._terminated:
            return sorted(self._stops)
        ids: list[int] = self._ask(self._compiled.allowed_ids)
        if not self._stops_given:
            return ids
        usual = set(self._compiled.tokenizer_info.stop_token_ids)
        kept = {i for i in ids if i not in usual or self._ask(self._compiled.next_state, i)}
        if self.is_completed():
            kept |= self._stops
        return sorted(kept)

    def allowed_token_count(self) -> int:
        """How many ids are allowed next."""
        if self._terminated or self._stops_given:
            return len(self.allowed_token_ids())
        count: int = self._ask(self._compiled.allowed_count)
        return count

    def fill_draft_tree_bitmask(self, token_ids: Sequence[int], parents: Sequence[int], bitmask: Any,
                                index: int = 0) -> list[bool]:
        """Masks for a whole tree of draft tokens in one call; the matcher does not move.

        Row ``index`` is for the present place, row ``index + 1 + i`` for the place after draft token ``i``, whose
        parent is draft token ``parents[i] < i``, or the present place for -1.

        Returns:
            For each draft token whether it is allowed where it stands (with all before it). Rows after a token that is
            not allowed allow nothing; a stop token ends its branch and its row allows the stop tokens only.
        """
        if len(token_ids) != len(parents):
            raise ConstrainedError(f"{len(token_ids)} draft tokens but {len(parents)} parents")
        self.fill_next_token_bitmask(bitmask, index)
        view = self._rows().view(bitmask, index + len(token_ids))
        here = self.fork()
        places: list[GrammarMatcher | None] = []
        for i, (token_id, parent) in enumerate(zip(token_ids, parents, strict=True)):
            if not -1 <= parent < i:
                raise ConstrainedError(f"the parent of draft token {i} must be before it, not {parent}")
            before = here if parent < 0 else places[parent]
            place = before.fork() if before is not None else None
            if place is not None and not place.accept_token(token_id):
                place = None
            places.append(place)
            if place is None:
                view[index + 1 + i] = 0
            else:
                place.fill_next_token_bitmask(view, index + 1 + i)
        return [place is not None for place in places]

    # ---- looking ahead -------------------------------------------------------------------------------

    def is_completed(self) -> bool:
        """Whether the text may end here."""
        return self._terminated or bool(self._ask(self._compiled.is_complete))

    def is_terminated(self) -> bool:
        """Whether the text has ended: a stop token was taken."""
        return self._terminated

    def find_jump_forward_string(self) -> str:
        """The text that must follow: whole characters, empty where there is a choice or the text may end."""
        return "" if self._terminated else whole_characters(self._ask(self._compiled.forced_bytes))

    def compute_ff_tokens(self) -> list[int]:
        """The tokens that must follow, as the tokenizer would write them; see ``engine.forced`` for the rule.

        Each of them can be taken one after the other. Nothing changes.
        """
        if self._terminated:
            return []
        data: bytes = self._ask(self._compiled.forced_bytes)
        if not data:
            return []
        ids = forced_tokens(data, self._compiled.tokenizer_info, self._compiled.tables.trie)
        return ids[: self.validate_tokens(ids)]

    def shortest_completion(self) -> bytes:
        """The bytes of a shortest text that completes this one; empty if it may end here.

        Raises ``UnsatisfiableGrammarError`` where only a token named by the grammar leads to an end.
        """
        if self._terminated:
            return b""
        found: bytes = self._ask(self._compiled.shortest_completion)
        return found

    def distance_to_end(self) -> int:
        """Fewest bytes that complete the text; a token that the grammar names counts as a million."""
        return 0 if self._terminated else int(self._ask(self._auto.distance))

    def text_bytes(self) -> bytes:
        """The text so far: the bytes of what was accepted; control and stop tokens have none."""
        read = self._compiled.tokenizer_info.token_bytes
        return b"".join(step if isinstance(step, bytes) else read(step) for step in self._steps
                        if isinstance(step, bytes) or step >= 0)

    def captures(self) -> list[CaptureSpan]:
        """The named parts of the text (``Capture``) that no continuation can change, in the order of their ends.

        Spans count the bytes of the text; control tokens have none. The text is read once more, by
        ``engine.captures``, as far as it went on since the last call: nothing is spent where this is not asked.
        Raises ``GrammarError`` for a grammar with left recursion and ``GrammarLimitError``.
        """
        if self._tracked is None or self._tracked[1] != self._steps[: len(self._tracked[1])]:
            self._tracked = (self._compiled.new_tracker(), [], [])
        tracker, read, spans = self._tracked
        info, by_id_only = self._compiled.tokenizer_info, self._compiled.by_id_only
        for step in self._steps[len(read) :]:
            if isinstance(step, bytes):
                spans += tracker.feed(step)
            elif step >= 0:
                spans += tracker.feed_token(step, info.token_bytes(step), by_id_only=step in by_id_only)
            else:
                spans += tracker.finish()
            read.append(step)
        return list(spans)

    # ---- places --------------------------------------------------------------------------------------

    @property
    def state(self) -> int:
        """The state handle (see ``CompiledGrammar``): equal places have equal handles within an epoch."""
        self._compiled.write_whole()  # whoever asks the grammar by handles means to keep them
        return self._fresh()

    @property
    def compiled(self) -> CompiledGrammar:
        """The grammar."""
        return self._compiled

    @property
    def stop_token_ids(self) -> frozenset[int]:
        """The ids that end this text."""
        return self._stops

    @property
    def num_steps(self) -> int:
        """Steps taken so far: how far ``rollback`` can go."""
        return len(self._history)

    def __repr__(self) -> str:
        end = "terminated" if self._terminated else "completed" if self.is_completed() else "open"
        return f"<GrammarMatcher {end} after {len(self._history)} steps of {self._compiled.rules.root!r}>"

    # ---- inside --------------------------------------------------------------------------------------

    def _ask(self, question: Callable[..., Any], *args: Any) -> Any:
        """``question(state, *args)``, again if a new epoch begins: another thread's, or the whole grammar's."""
        while True:
            try:
                return question(self._fresh(), *args)
            except StaleState:
                continue
            except Unwritten:
                self._compiled.write_whole()

    def _is_final(self) -> bool:
        """Whether nothing but the end can follow."""
        return bool(self._ask(self._compiled.is_complete)) and not self._ask(self._compiled.threads)

    def _next(self, token_id: int) -> int:
        try:
            after: int = self._auto.next(self._state, token_id)
        except (StaleState, Unwritten):
            return int(self._ask(self._compiled.next_state, token_id))
        except KERNEL_LIMITS as error:
            raise limit_error(error, self._compiled) from None
        except OverflowError:
            return 0
        except TypeError:
            raise ConstrainedError(f"a token id is an int, not {type(token_id).__name__}") from None
        if after and self._compiled.live is not None and not self._compiled.live.is_live(after):
            return 0
        return after

    def _look_at_memory(self) -> None:
        self._calls = self._compiled.calls_ahead
        if self._compiled.renew_if_full():
            self._fresh()

    def _fresh(self) -> int:
        """The present state's handle, of the present epoch: carried over into it, or the history is replayed."""
        while not self._auto.is_fresh(self._state):
            try:
                if not self._take_up():
                    self._replay()
            except StaleState:
                continue
            except Unwritten:
                self._compiled.write_whole()
            except KERNEL_LIMITS as error:
                raise limit_error(error, self._compiled) from None
        return self._state

    def put_down(self) -> None:
        """Before a new epoch begins, on any thread: note what the present state is."""
        state = self._state
        try:
            data = self._auto.packed(state)
        except StaleState:
            return
        if data is not None:
            self._carried = state, data, self._compiled.program

    def _take_up(self) -> bool:
        """After ``put_down``: the present state in this epoch; those before it are replayed when they are asked for."""
        carried, self._carried = self._carried, None
        if carried is None or carried[0] != self._state or carried[2] is not self._compiled.program:
            return False
        before = self._auto.memory()
        state = self._auto.unpacked(carried[1])
        if not state or carried[2] is not self._compiled.program:  # another thread has come to a value in between
            return False
        self._state = state
        self._held = self._compiled.replayed(before, 3)
        return True

    def _replay(self) -> None:
        before = self._auto.memory()
        state: int = self._auto.start()
        history: list[int] = []
        for steps in (self._before, self._steps):
            history.clear()
            for step in steps:
                history.append(state)
                if isinstance(step, bytes):
                    state = self._auto.advance(state, step, True)
                elif step >= 0:
                    state = self._auto.next(state, step)
        self._history, self._state = history, state
        self._held = self._compiled.replayed(before)
