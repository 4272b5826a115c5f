"""The loop's state of one output: its tokens, its place in the KV cache, its guide, its text.

Invariants: ``cached <= len(history.tokens)``, and the slot holds exactly the first ``cached`` tokens (the slot may hold
more, of a refused draft: the next pass overwrites them). While running, at least one token is not cached: the last
one, whose output distribution comes next. ``commit`` is the only way a token enters an output.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from constrained.decoder.budget import TokenBudget
from constrained.decoder.detokenizer import Detokenizer
from constrained.decoder.guide import Guide
from constrained.decoder.history import TokenHistory
from constrained.decoder.logprobs import TokenLogprob
from constrained.decoder.request import Completion, FinishReason, Request, TokenEvent, Usage

__all__ = ["Sequence"]


@dataclass(slots=True, eq=False)
class Sequence:
    """One output of one request."""

    request_id: int
    index: int
    request: Request
    history: TokenHistory
    guide: Guide
    detokenizer: Detokenizer
    key: int
    seed: int
    end_ids: frozenset[int]
    """Ids that end the output wherever they come. Inside a constraint only the grammar's end does, and
    ``stop_token_ids`` where ``stop_in_constraint`` says so."""
    hidden_ids: frozenset[int]
    """Ids whose text is not shown when the output ends with them."""
    banned_ends: tuple[int, ...]
    """Ids banned before ``min_tokens``."""
    limit: int
    """Most output tokens, by the parameters and the cache."""
    budget: TokenBudget | None = None
    """Set where the output is to end whole within its limit."""
    takes_largest: bool = False
    """The next token is the largest of the masked logits, and nothing else is wanted of them."""
    leader: Sequence | None = None
    """The first sample of the same request, whose prompt this one copies."""
    slot: int | None = None
    cached: int = 0
    started: float | None = None
    admitted_at: int = 0
    cancelled: bool = False
    finish_reason: FinishReason | None = None
    stop_reason: int | str | None = None
    error: Exception | None = None
    usage: Usage = field(default_factory=Usage)
    logprobs: list[TokenLogprob] | None = None
    prompt_logprobs: list[TokenLogprob] | None = None
    """Of prompt tokens 1, 2, ... as far as they were read; None where they are not wanted, or the leader has them."""
    forced_queue: deque[int] = field(default_factory=deque)
    """Forced tokens still to be given out one by one, where log-probabilities are wanted."""
    draft: list[int] = field(default_factory=list)
    _told: bool = False
    """The first event was taken."""
    _new_ids: list[int] = field(default_factory=list)
    _new_text: list[str] = field(default_factory=list)
    _new_forced: list[int] = field(default_factory=list)
    _new_steered: list[int] = field(default_factory=list)
    _new_logprobs: list[TokenLogprob] = field(default_factory=list)

    @property
    def tokens(self) -> list[int]:
        """Prompt and output."""
        return self.history.tokens

    @property
    def running(self) -> bool:
        return self.finish_reason is None

    @property
    def prefilled(self) -> bool:
        """The whole prompt is in the cache."""
        return self.cached >= self.history.n_prompt

    @property
    def unscored(self) -> int:
        """How many prompt tokens still lack a log-probability that is wanted."""
        return 0 if self.prompt_logprobs is None else self.history.n_prompt - 1 - len(self.prompt_logprobs)

    @property
    def out_of_time(self) -> bool:
        limit = self.request.params.time_limit
        return limit is not None and self.started is not None and time.monotonic() - self.started >= limit

    def banned_now(self) -> tuple[int, ...]:
        """End ids that may not be chosen at this position."""
        if self.history.n_output < self.request.params.min_tokens:
            return self.banned_ends
        return ()

    def commit(self, token: int, *, forced: bool = False, steered: bool = False,
               logprob: TokenLogprob | None = None) -> None:
        """Append one output token and apply the stop rules. Raises what the guide raises, before any change."""
        self.guide.accept(token)
        if self.budget is not None:
            self.budget.spent(token)
        self.history.append(token)
        self.usage.output_tokens += 1
        self._new_ids.append(token)
        if forced:
            self.usage.forced_tokens += 1
            self._new_forced.append(len(self._new_ids) - 1)
        if steered:
            self.usage.steered_tokens += 1
            self._new_steered.append(len(self._new_ids) - 1)
        if self.logprobs is not None and logprob is not None:
            self.logprobs.append(logprob)
            self._new_logprobs.append(logprob)
        ends = token in self.end_ids or (self.guide.constrained and self.guide.terminated)
        if not (ends and token in self.hidden_ids):
            self._show(self.detokenizer.push(token))
        if self.detokenizer.stopped is not None:
            self.finish("stop", self.request.params.stop[self.detokenizer.stopped])
        elif ends:
            self.finish("stop", token if token in self.hidden_ids else None)
        elif self.history.n_output >= self.limit:
            self.finish("stop" if self.budget is not None and self.guide.completed else "length")

    @property
    def left(self) -> int:
        """Tokens that may still come."""
        return self.limit - self.history.n_output

    def affordable(self, token: int) -> bool:
        """Whether the output can still end whole if ``token`` comes now."""
        return self.budget is None or self.budget.affordable(self.guide, token, self.left)

    def planned(self, token: int) -> int:
        """``token``, or the first of a shortest way to an end where it is not affordable."""
        if self.budget is None or self.affordable(token):
            return token
        planned = self.budget.next_of_plan(self.guide, self.left)
        return token if planned is None else planned

    def bans_of(self, token: int) -> int:
        """How many bans name ``token``: so many are lifted when it is the only legal one."""
        return ((token in self.request.params.bans) + (token in self.banned_now())
                + (self.history.ngram > 0 and token in self.history.ngram_bans()))

    def extend_forced(self, single: bool) -> None:
        """Commit what the grammar forces; with ``single`` also a token that is the only legal one.

        Where log-probabilities are wanted the tokens wait in ``forced_queue`` for their logits instead.
        """
        while self.running:
            forced = self.guide.forced()
            if not forced and single and self.guide.constrained:
                legal = self.guide.legal()
                if legal.count == 1 and legal.ids is not None:
                    forced = [int(legal.ids[0])]
            if not forced:
                return
            if self.logprobs is not None:
                self.forced_queue.extend(forced)
                return
            for token in forced:
                if self.finish_reason is not None:
                    return
                planned = self.planned(token)
                self.usage.lifted_bans += self.bans_of(planned)
                self.commit(planned, forced=True, steered=planned != token)
                if planned != token:
                    break

    def finish(self, reason: FinishReason, stop_reason: int | str | None = None) -> None:
        """End the output. The first reason stands."""
        if self.finish_reason is None:
            self.finish_reason = reason
            self.stop_reason = stop_reason
            self._show(self.detokenizer.finish())

    def fail(self, error: Exception) -> None:
        """End the output because of ``error``."""
        if self.finish_reason is None:
            self.error = error
            self.finish("error")

    def take_event(self) -> TokenEvent | None:
        """What happened since the last event; None if nothing did."""
        if not (self._new_ids or self._new_text) and self.running:
            return None
        event = TokenEvent(self.request_id, self.index, tuple(self._new_ids), "".join(self._new_text),
                           len(self._new_forced), tuple(self._new_logprobs), self.finish_reason,
                           tuple(self._new_forced), tuple(self._new_steered),
                           () if self._told else self._prompt_entries())
        self._told = True
        self._new_ids, self._new_text, self._new_logprobs = [], [], []
        self._new_forced, self._new_steered = [], []
        return event

    def completion(self) -> Completion:
        """The finished output."""
        assert self.finish_reason is not None
        return Completion(self.request_id, self.index, self.detokenizer.text, tuple(self.history.output),
                          self.finish_reason, self.stop_reason, self.seed,
                          None if self.logprobs is None else tuple(self.logprobs), self.usage, self.error,
                          self._prompt_entries())

    def _prompt_entries(self) -> tuple[TokenLogprob | None, ...]:
        """Log-probabilities of the prompt: samples share those of the first, whose prompt is read first."""
        entries = self.prompt_logprobs if self.leader is None else self.leader.prompt_logprobs
        return () if entries is None else (None, *entries)

    def _show(self, text: str) -> None:
        if text:
            self._new_text.append(text)
