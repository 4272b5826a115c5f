"""A matcher that notes what each mask cost and how much it allowed, for the demo's figures.

It is a ``GrammarMatcher`` to the generation loop; the clock runs only around the engine's own calls. It is the thread's
CPU time: a mask takes microseconds, and on a busy machine the wall clock would now and then add another program's turn.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher

__all__ = ["MatcherLog", "TimedMatcher"]


@dataclass(slots=True)
class MatcherLog:
    """What the calls of one text cost."""

    mask_seconds: list[float] = field(default_factory=list)
    """Each ``fill_next_token_bitmask``."""
    other_seconds: float = 0.0
    """Everything else: accepting, undoing, forced tokens."""
    choices: list[int | None] = field(default_factory=list)
    """For each token of the text: how many ids its mask allowed, None if no mask was asked for (it was forced)."""

    @property
    def seconds(self) -> float:
        """All time inside the engine."""
        return sum(self.mask_seconds) + self.other_seconds


class TimedMatcher:
    """Wraps a ``GrammarMatcher``. A fork writes into the same log, so a log is for one text: one of the forks moves.

    Masks may be asked for ahead, more than once, or between a step and its undoing; what counts for a token is the
    last mask at its place.
    """

    __slots__ = ("_allowed", "_matcher", "log")

    def __init__(self, matcher: GrammarMatcher, log: MatcherLog | None = None) -> None:
        self._matcher = matcher
        self.log = MatcherLog() if log is None else log
        self._allowed: int | None = None  # by the mask at this place, if one was asked for

    @property
    def compiled(self) -> CompiledGrammar:
        return self._matcher.compiled

    @property
    def stop_token_ids(self) -> frozenset[int]:
        return self._matcher.stop_token_ids

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, /) -> bool:
        started = time.thread_time()
        apply = self._matcher.fill_next_token_bitmask(bitmask, index)
        self.log.mask_seconds.append(time.thread_time() - started)
        self._allowed = self._matcher.allowed_token_count()
        return apply

    def accept_token(self, token_id: int, /) -> bool:
        started = time.thread_time()
        taken = self._matcher.accept_token(token_id)
        self.log.other_seconds += time.thread_time() - started
        if taken:
            self.log.choices.append(self._allowed)
            self._allowed = None
        return taken

    def compute_ff_tokens(self) -> list[int]:
        started = time.thread_time()
        tokens = self._matcher.compute_ff_tokens()
        self.log.other_seconds += time.thread_time() - started
        return tokens

    def rollback(self, n: int = 1, /) -> None:
        started = time.thread_time()
        self._matcher.rollback(n)
        self.log.other_seconds += time.thread_time() - started
        if n:
            self._allowed = self.log.choices[-n]
            del self.log.choices[-n:]

    def fork(self) -> TimedMatcher:
        return TimedMatcher(self._matcher.fork(), self.log)

    def is_terminated(self) -> bool:
        return self._matcher.is_terminated()

    def is_completed(self) -> bool:
        return self._matcher.is_completed()
