"""From hidden states to committed tokens: the second half of a step.

For each output at its frontier: the legal ids first (they are asked for while the device still computes the pass),
then the cheapest head that covers them, the sampler chain, and ``commit``, which appends the token and what the
grammar forces after it.

    one legal id: no head      few: their rows of the head      many, or raw log-probabilities: the full head, masked

Whatever goes wrong with one output (its grammar's limit, NaN logits) ends that output alone. The chain waits for the
device once a round, to learn the tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from constrained.decoder.bitmask import remove_illegal_
from constrained.decoder.chain import Choice, Row, choose, choose_largest
from constrained.decoder.feed import Feed
from constrained.decoder.guide import Legal
from constrained.decoder.logprobs import TokenLogprob, token_logprob
from constrained.decoder.sampling_params import SamplingError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.decoder.sequence import Sequence

__all__ = ["Chooser"]


GATHERED_HEADS = 4
"""On a device whose kernels cost more to launch than to run, more rows than this take the full head in one product."""

AFFORDABLE_TRIES = 8
"""Near its token limit an output asks the sampler so often for another token before it takes the shortest way."""


class Chooser:
    """Chooses tokens for the rows of a pass; the options are those of :class:`.scheduler.Scheduler`."""

    def __init__(self, model: BaseDecoder, *, jump_forward: bool, small_heads: bool, deterministic: bool) -> None:
        self._model = model
        self._jump_forward = jump_forward
        self._small_heads = small_heads
        self._deterministic = deterministic
        self._on_cpu = model.device.type == "cpu"

    def choose(self, feeds: Many[Feed]) -> None:
        """Commit the next token of every feed, and of those whose draft goes on to fit, the tokens after it."""
        active = [feed for feed in feeds if feed.frontier and feed.sequence.running]
        while active:  # more than one round only where a draft token stood
            self._round(active)
            active = [feed for feed in active if feed.sequence.running and feed.position() is not None]

    def extend_forced(self, sequence: Sequence) -> None:
        """Commit what the grammar forces. Raises what the grammar raises."""
        if self._jump_forward:
            sequence.extend_forced(single=self._on_cpu)

    def _round(self, feeds: list[Feed]) -> None:
        """Choose and commit one token for each feed at its position."""
        rows: list[tuple[Feed, Row]] = []
        full: list[tuple[Feed, Legal]] = []
        ready: list[tuple[Feed, Choice, Row | None, Tensor | None]] = []
        small_heads = self._small_heads and (self._on_cpu or len(feeds) <= GATHERED_HEADS)
        for feed in feeds:
            sequence = feed.sequence
            try:
                legal = sequence.guide.legal()
            except Exception as error:
                sequence.fail(error)
                continue
            wants_raw = sequence.request.params.raw_logprobs
            if legal.ids is None or wants_raw or not (small_heads or (self._small_heads and legal.count == 1)):
                full.append((feed, legal))
            elif legal.count == 1 and sequence.logprobs is None:
                only = int(legal.ids[0])
                ready.append((feed, Choice(only, sequence.bans_of(only)), None, None))
            else:
                small = legal.tensor(self._model.device)
                rows.append((feed, self._row(feed, self._model.head(feed.state(), small), small)))
        raw_of: dict[int, Tensor] = {}
        if full:
            logits = self._full_logits([feed for feed, _ in full])
            wanted = any(feed.sequence.request.params.raw_logprobs for feed, _ in full)
            masked = self._masked(logits.clone() if wanted else logits, [legal for _, legal in full])
            if self._on_cpu and all(feed.sequence.takes_largest for feed, _ in full):
                ready += [(feed, choice, None, None)
                          for (feed, _), choice in zip(full, choose_largest(masked), strict=True)]
                full = []
            for i, (feed, _) in enumerate(full):
                rows.append((feed, self._row(feed, masked[i], None)))
                if feed.sequence.request.params.raw_logprobs:
                    raw_of[id(feed)] = logits[i]
        chosen = choose([row for _, row in rows]) if rows else []
        ready += [(feed, choice, row, raw_of.get(id(feed)))
                  for (feed, row), choice in zip(rows, chosen, strict=True)]
        for feed, choice, row, raw in ready:
            self.commit(feed.sequence, choice, row, raw)

    def _row(self, feed: Feed, logits: Tensor, ids: Tensor | None) -> Row:
        sequence = feed.sequence
        return Row(logits, sequence.request.params, sequence.history, sequence.key, ids, sequence.banned_now())

    def _full_logits(self, feeds: list[Feed]) -> Tensor:
        if self._deterministic:
            return torch.cat([self._model.head(feed.state().unsqueeze(0)) for feed in feeds])
        return self._model.head(Feed.states(feeds))

    def _masked(self, logits: Tensor, legal: list[Legal]) -> Tensor:
        """``logits [B, V]`` with what is illegal removed, in place."""
        n_words = (logits.shape[-1] + 31) // 32
        if not self._on_cpu:  # one kernel for all rows
            if not all(one.everything for one in legal):
                remove_illegal_(logits, np.stack([one.bitmask(n_words) for one in legal]))
            return logits
        removed = legal[0].removed
        if removed is not None and all(one.removed is removed for one in legal):  # free text in every row
            return logits.index_fill_(1, removed, -math.inf)
        for row, one in zip(logits, legal, strict=True):
            if one.removed is None:
                remove_illegal_(row, one.bitmask(n_words))
            elif not one.everything:
                row.index_fill_(0, one.removed, -math.inf)
        return logits

    def commit(self, sequence: Sequence, choice: Choice, row: Row | None, raw: Tensor | None) -> None:
        """Append the chosen (or queued) token to its output and what the grammar forces after it."""
        try:
            if choice.error is not None:
                raise SamplingError(choice.error)
            token, forced = choice.token, False
            if sequence.forced_queue:  # the logits were wanted for their log-probability only
                token, forced = sequence.forced_queue.popleft(), True
            steered = sequence.budget is not None and not sequence.affordable(token)
            if steered:
                token = _another(sequence, token, row)
                sequence.forced_queue.clear()
            entry: TokenLogprob | None = None
            if sequence.logprobs is not None and row is not None:
                entry = token_logprob(token, row.logits, sequence.request.params.logprobs or 0, ids=row.ids, raw=raw)
            sequence.usage.lifted_bans += sequence.bans_of(token) if forced else choice.lifted
            sequence.commit(token, forced=forced, steered=steered, logprob=entry)
            if not sequence.forced_queue:
                self.extend_forced(sequence)
        except Exception as error:
            sequence.fail(error)


def _another(sequence: Sequence, token: int, row: Row | None) -> int:
    """A token that leaves room for an end, instead of ``token``: the sampler's next choices, else the shortest way."""
    if row is not None:
        logits = row.logits.clone()
        for _ in range(AFFORDABLE_TRIES):
            column = token if row.ids is None else int(torch.searchsorted(row.ids, token))
            logits[column] = -math.inf
            (choice,) = choose([replace(row, logits=logits)])
            if choice.error is not None:
                break
            token = choice.token
            if sequence.affordable(token):
                return token
    return sequence.planned(token)
