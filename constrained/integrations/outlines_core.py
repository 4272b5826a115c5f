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

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import outlines_core

from constrained.api.grammar import Grammar
from constrained.errors import BitmaskError, ConstrainedError, GrammarError, UnsatisfiableGrammarError, echo
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.regex import from_regex
from constrained.grammar.ir import RuleSet
from constrained.integrations.rust_regex import to_rust_regex
from constrained.limits import Limits
from constrained.masks.bitmask import BITS, bitmask_row
from constrained.vocabulary.tokenizer_info import TokenizerInfo

__all__ = ["OutlinesCompiler", "OutlinesGrammar", "OutlinesMatcher"]

ENDED = -1
"""The state after a stop token."""


class OutlinesCompiler:
    """Compiles regular grammars for one vocabulary. Read-only after construction: threads may share it."""

    def __init__(self, tokenizer_info: TokenizerInfo, *, limits: Limits | None = None) -> None:
        self.tokenizer_info = tokenizer_info
        self.limits = limits or Limits()
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

    def compile_regex(self, pattern: str, *, dialect: str = "python") -> OutlinesGrammar:
        """Compile a regular expression; raises as ``Grammar.from_regex`` and ``compile_rules``."""
        return self.compile_rules(from_regex(pattern, dialect=dialect, limits=self.limits))

    def compile_grammar(self, grammar: Grammar | str, *, root_rule_name: str = "root") -> OutlinesGrammar:
        """Compile EBNF text or a ``Grammar`` whose rules do not contain themselves."""
        if isinstance(grammar, Grammar):
            return self.compile_rules(grammar.rules)
        return self.compile_rules(from_ebnf(grammar, root=root_rule_name, limits=self.limits))

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


class OutlinesGrammar:
    """A compiled grammar; its matchers share the Index and the finished masks."""

    def __init__(self, tokenizer_info: TokenizerInfo, index: Any, empty: bool, limits: Limits, *, prune: bool) -> None:
        self.tokenizer_info = tokenizer_info
        self._index = index
        self._empty = empty
        self._max_masks = max(1, limits.max_mask_bytes // max(4, 4 * -(-tokenizer_info.vocab_size // BITS)))
        self._masks: dict[tuple[int, bool], np.ndarray[Any, Any]] = {}
        self._dead: frozenset[int] = frozenset()
        self.initial = ENDED if index is None else index.get_initial_state()
        if prune and index is not None:
            self._dead = self._find_dead()
            if self.initial in self._dead and not empty:
                raise UnsatisfiableGrammarError("no text of this grammar can be spelled by the vocabulary")

    def new_matcher(self) -> OutlinesMatcher:
        return OutlinesMatcher(self)

    def completed(self, state: int, at_start: bool) -> bool:
        """Whether the text may end here."""
        return (at_start and self._empty) or (state != ENDED and self._index.is_final_state(state))

    def next_state(self, state: int, token_id: int) -> int | None:
        """Where an ordinary token leads, None if it is not allowed."""
        if self._index is None or token_id in self.tokenizer_info.stop_token_ids:
            return None
        state_after: int | None = self._index.get_next_state(state, token_id)
        return None if state_after in self._dead else state_after

    def mask(self, state: int, at_start: bool) -> np.ndarray[Any, np.dtype[np.int32]]:
        """int32 ``[ceil(V / 32)]``, not to be written to."""
        key = (state, at_start)
        row = self._masks.get(key)
        if row is None:
            row = self._make_mask(state, at_start)
            if len(self._masks) >= self._max_masks:
                self._masks.clear()
            self._masks[key] = row
        return row

    def _make_mask(self, state: int, at_start: bool) -> np.ndarray[Any, np.dtype[np.int32]]:
        info = self.tokenizer_info
        allowed: set[int] = set()
        if self._index is not None:
            allowed.update(self._index.get_allowed_tokens(state) or ())
            allowed -= set(info.stop_token_ids)  # it names one of them in final states
            if self._dead:
                allowed = {token for token in allowed if self._index.get_next_state(state, token) not in self._dead}
        if self.completed(state, at_start):
            allowed.update(info.stop_token_ids)
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


class OutlinesMatcher:
    """The tokens accepted so far, as the states they led through."""

    def __init__(self, grammar: OutlinesGrammar) -> None:
        self.compiled = grammar
        self._states = [grammar.initial]
        self._stopped = False
        self._vocab_size = grammar.tokenizer_info.vocab_size

    @property
    def stop_token_ids(self) -> Sequence[int]:
        return self.compiled.tokenizer_info.stop_token_ids

    def accept_token(self, token_id: int) -> bool:
        """Takes one token; False, and nothing changes, if it is not allowed here."""
        if self._stopped:
            return False
        if token_id in self.stop_token_ids:
            if not self.is_completed():
                return False
            self._states.append(ENDED)
            self._stopped = True
            return True
        if not 0 <= token_id < self._vocab_size:
            return False
        state = self.compiled.next_state(self._states[-1], token_id)
        if state is None:
            return False
        self._states.append(state)
        return True

    def accept_tokens(self, token_ids: Iterable[int]) -> int:
        """Takes tokens up to the first that is not allowed; returns how many."""
        count = 0
        for token_id in token_ids:
            if not self.accept_token(token_id):
                break
            count += 1
        return count

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """How many ``accept_tokens`` would take; nothing changes."""
        return self.fork().accept_tokens(token_ids)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Writes row ``index`` of an int32 bitmask ``[batch, ceil(V / 32)]``; True: some token is masked."""
        if self._stopped:
            row = bitmask_row(self.stop_token_ids, self._vocab_size)
        else:
            row = self.compiled.mask(self._states[-1], len(self._states) == 1)
        target = np.asarray(bitmask)
        if target.dtype != np.int32 or target.ndim != 2 or target.shape[1] != len(row) or not 0 <= index < len(target):
            raise BitmaskError(f"expected int32 [batch, {len(row)}] and a row in it, not {target.dtype} "
                               f"{list(target.shape)} and row {index}")
        target[index] = row
        return True

    def rollback(self, num_tokens: int = 1) -> None:
        """Takes back the last ``num_tokens`` tokens."""
        if not 0 <= num_tokens < len(self._states):
            raise ConstrainedError(f"cannot take back {num_tokens} of {len(self._states) - 1} tokens")
        if num_tokens:
            del self._states[-num_tokens:]
            self._stopped = False

    def fork(self) -> OutlinesMatcher:
        """A copy that goes its own way."""
        other = OutlinesMatcher(self.compiled)
        other._states = self._states.copy()
        other._stopped = self._stopped
        return other

    def reset(self) -> None:
        """Back to the start."""
        self.rollback(len(self._states) - 1)

    def is_terminated(self) -> bool:
        """A stop token was accepted."""
        return self._stopped

    def is_completed(self) -> bool:
        """The text may end here."""
        return not self._stopped and self.compiled.completed(self._states[-1], len(self._states) == 1)

