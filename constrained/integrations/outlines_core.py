"""Regular grammars on ``outlines-core``: a second engine behind the matcher's interface.

outlines-core builds, when compiling, an ``Index``: for every state of the pattern's automaton, every token of the
vocabulary and where it leads. A state here is the Index's own state number; a matcher is the list of states it went
through, so rollback cuts the list and fork copies it. It serves as a comparison and as an oracle in tests. What
the Index gets wrong or cannot do is told, and shown, in ``docs/outlines_core.md``; where it can be mended from
outside, it is:

- a pattern ends with ``\\z``, else the first alternative that matches hides longer ones;
- the empty text is taken out of the pattern and allowed apart: such patterns do not build;
- every stop token of the vocabulary may end the text, not just one;
- tokens that lead where no end can be reached are taken out of the masks.

Cost: compiling takes about a microsecond for each state and token; a mask is made on the first visit of a state
(milliseconds) and then copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import outlines_core

from constrained.errors import GrammarError, UnsatisfiableGrammarError, echo
from constrained.grammar.ir import RuleSet
from constrained.integrations.peer_matcher import PeerCompiler, PeerGrammar
from constrained.integrations.rust_regex import to_rust_regex
from constrained.limits import Limits
from constrained.masks.bitmask import BITS, bitmask_row
from constrained.vocabulary.tokenizer_info import TokenizerInfo

__all__ = ["OutlinesCompiler", "OutlinesGrammar"]

NO_STATE = -1
"""The state of a pattern that has no Index: only the empty text."""


class OutlinesCompiler(PeerCompiler):
    """Compiles regular grammars for one vocabulary. Read-only after construction: threads may share it."""

    def __init__(self, tokenizer_info: TokenizerInfo, *, limits: Limits | None = None) -> None:
        super().__init__(tokenizer_info, limits)
        ids_by_bytes: dict[bytes, list[int]] = {}
        for token_id in range(tokenizer_info.vocab_size):
            data = tokenizer_info.token_bytes(token_id)
            if data:
                ids_by_bytes.setdefault(data, []).append(token_id)
        self._spelled = frozenset(data[0] for data in ids_by_bytes if len(data) == 1)
        self._tokens = max(len(ids_by_bytes), 1)
        try:
            self._vocabulary = outlines_core.Vocabulary(tokenizer_info.stop_token_ids[0], ids_by_bytes)
        except ValueError as error:
            raise GrammarError(f"outlines-core refuses the vocabulary: {echo(str(error))}") from error

    def compile_rules(self, rules: RuleSet) -> OutlinesGrammar:
        """Compile rules.

        Raises GrammarError where the grammar is not regular or outlines-core refuses it,
        UnsatisfiableGrammarError where no text fits or none can be spelled, and GrammarLimitError where the
        pattern's positions times the vocabulary's tokens exceed ``Limits.max_walk_nodes``.
        """
        budget = self.limits.max_walk_nodes
        written = to_rust_regex(rules, budget // self._tokens, "max_walk_nodes", budget)
        index = None
        if written.pattern:
            try:
                index = outlines_core.Index(written.pattern, self._vocabulary)
            except ValueError as error:
                raise GrammarError(f"outlines-core refuses the grammar: {echo(str(error))}") from error
        return OutlinesGrammar(self.tokenizer_info, index, written.empty, self.limits,
                               prune=not written.used <= self._spelled)


class OutlinesGrammar(PeerGrammar):
    """A compiled grammar; its matchers share the Index and the finished masks."""

    def __init__(self, tokenizer_info: TokenizerInfo, index: Any, empty: bool, limits: Limits, *, prune: bool) -> None:
        super().__init__(tokenizer_info, lambda: Running(self))
        self._index = index
        self._empty = empty
        self._max_masks = max(1, limits.max_mask_bytes // max(4, 4 * -(-tokenizer_info.vocab_size // BITS)))
        self._masks: dict[int, np.ndarray[Any, Any]] = {}
        self._dead: frozenset[int] = frozenset()
        self.initial = NO_STATE if index is None else index.get_initial_state()
        if prune and index is not None:
            self._dead = self._find_dead()
            if self.initial in self._dead and not empty:
                raise UnsatisfiableGrammarError("no text of this grammar can be spelled by the vocabulary")

    def completed(self, state: int, at_start: bool) -> bool:
        """Whether the text may end here."""
        return (at_start and self._empty) or (state != NO_STATE and self._index.is_final_state(state))

    def next_state(self, state: int, token_id: int) -> int | None:
        """Where an ordinary token leads, None if it is not allowed."""
        if self._index is None or token_id in self.tokenizer_info.stop_token_ids:
            return None
        state_after: int | None = self._index.get_next_state(state, token_id)
        return None if state_after in self._dead else state_after

    def mask(self, state: int) -> np.ndarray[Any, np.dtype[np.int32]]:
        """int32 ``[ceil(V / 32)]`` without stop tokens, not to be written to."""
        row = self._masks.get(state)
        if row is None:
            row = self._make_mask(state)
            if len(self._masks) >= self._max_masks:
                self._masks.clear()
            self._masks[state] = row
        return row

    def _make_mask(self, state: int) -> np.ndarray[Any, np.dtype[np.int32]]:
        info = self.tokenizer_info
        allowed: set[int] = set()
        if self._index is not None:
            allowed.update(self._index.get_allowed_tokens(state) or ())
            allowed -= set(info.stop_token_ids)  # it names one of them in final states
            if self._dead:
                allowed = {token for token in allowed if self._index.get_next_state(state, token) not in self._dead}
        return bitmask_row(allowed, info.vocab_size)

    def _find_dead(self) -> frozenset[int]:
        """States from which no token sequence reaches an end."""
        stops = set(self.tokenizer_info.stop_token_ids)
        before: dict[int, set[int]] = {self.initial: set()}
        work = [self.initial]
        while work:
            state = work.pop()
            tokens = set(self._index.get_allowed_tokens(state) or ()) - stops
            for after in {self._index.get_next_state(state, token_id) for token_id in tokens}:
                if after not in before:
                    before[after] = set()
                    work.append(after)
                before[after].add(state)
        live = {state for state in before if self._index.is_final_state(state)}
        work = list(live)
        while work:
            for earlier in before[work.pop()] - live:
                live.add(earlier)
                work.append(earlier)
        return frozenset(before.keys() - live)


class Running:
    """The tokens accepted so far, as the states they led through: ``peer_matcher.Peer``."""

    def __init__(self, grammar: OutlinesGrammar, states: list[int] | None = None) -> None:
        self._grammar = grammar
        self._states = [grammar.initial] if states is None else states

    def take(self, token_id: int) -> bool:
        state = self._grammar.next_state(self._states[-1], token_id)
        if state is None:
            return False
        self._states.append(state)
        return True

    def fill(self, row: np.ndarray[Any, np.dtype[np.int32]]) -> None:
        row[:] = self._grammar.mask(self._states[-1])

    def back(self, count: int) -> None:
        del self._states[-count:]

    def may_end(self) -> bool:
        return self._grammar.completed(self._states[-1], len(self._states) == 1)

    def copy(self) -> Running:
        return Running(self._grammar, self._states.copy())
