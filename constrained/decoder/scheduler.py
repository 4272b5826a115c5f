"""Continuous batching: requests join and leave at any step, each with its own constraint, parameters and seed.

One step is one forward pass over every running output: whole decode rows (the last token and whatever the grammar
forced after it, or a draft to check) and chunks of prompts still being read, packed without padding. Then, for rows
whose known tokens are all in the cache, the next token: legal ids first, the output head for those ids only where
they are few, the sampler chain, the stop rules, and the forced tokens that follow.

    submit -> waiting -> (slot free) running: prefill chunks -> decode -> finished -> slot free

Promises:

- A request is checked before any work; afterwards its own failure (its grammar's limits, NaN logits, its callback)
  ends only its own outputs.
- Random numbers are addressed by (seed, sample, position, id), so tokens do not depend on batch mates, chunks, forced
  tokens or drafts as long as the logits do not; with ``deterministic=True`` kernels run row by row and prompts are
  read in fixed chunks without reuse, so the logits do not either.
- The cache never holds a token twice and never a token that the output lacks.

Not thread-safe, except ``submit`` and ``cancel``, which another thread may call between and during steps.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from constrained.decoder.admission import Admission
from constrained.decoder.choosing import Chooser
from constrained.decoder.detokenizer import Vocabulary
from constrained.decoder.drafters import Drafter
from constrained.decoder.errors import CacheError
from constrained.decoder.feed import Feed
from constrained.decoder.logprobs import token_logprobs
from constrained.decoder.look import Sampler
from constrained.decoder.request import Completion, Request, TokenEvent
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from constrained.decoder.sequence import Sequence
from constrained.decoder.transfer import upload
from constrained.decoder.vocabulary_check import check_vocabulary
from constrained.errors import ConstrainedError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder

__all__ = ["Scheduler"]

SCORED_CHUNK = 64
"""Prompt tokens a step where each needs the full head: a long prompt to score must not hold up the others."""


class Scheduler:
    """A model, its KV cache, and the requests that share them.

    Args:
        model: a loaded model (:class:`BaseDecoder`).
        vocabulary: the tokenizer's :class:`constrained.vocabulary.TokenizerInfo`, checked against the model.
        max_batch: outputs that run at once (slots of the cache).
        max_len: most tokens of prompt and output together; default: the model's, at most 4096.
        cache: instead of ``max_batch`` and ``max_len``: a cache made elsewhere.
        prefill_chunk: most prompt tokens one output reads in a step.
        step_tokens: no further prompt chunk joins a step that has this many tokens.
        prefix_cache: reuse the cached beginnings of earlier and running prompts.
        jump_forward: forced tokens go through in one chunk. Off: every token is sampled (for comparisons).
        small_heads: compute only the rows of the output head that are legal, where they are few.
        drafter: proposes tokens to check in one pass (:mod:`constrained.decoder.drafters`).
        draft_tokens: most tokens of one draft.
        deterministic: results do not depend on the batch, bit for bit; slower. (A paged cache that runs full
            recomputes an output in other chunks; the promise is for caches with room.)

    Raises:
        RequestError: vocabulary and model contradict each other.
    """

    def __init__(self, model: BaseDecoder, vocabulary: Vocabulary, *, max_batch: int = 8, max_len: int | None = None,
                 cache: Any = None, prefill_chunk: int = 512, step_tokens: int = 2048, prefix_cache: bool = True,
                 jump_forward: bool = True, small_heads: bool = True, drafter: Drafter | None = None,
                 draft_tokens: int = 8, deterministic: bool = False) -> None:
        check_vocabulary(model, vocabulary)
        if prefill_chunk < 1 or step_tokens < 1 or draft_tokens < 1:
            raise RequestError("prefill_chunk, step_tokens and draft_tokens must be at least 1")
        if cache is None:
            length = min(model.config.max_position, 4096) if max_len is None else max_len
            cache = model.new_cache(max_batch, length)
        else:
            model.check_cache(cache)
        self.model = model
        self.vocabulary = vocabulary
        self.cache = cache
        self.deterministic = deterministic
        self._admission = Admission(model, vocabulary, cache.max_len)
        self._chooser = Chooser(model, jump_forward=jump_forward, small_heads=small_heads, deterministic=deterministic)
        self._prefill_chunk = prefill_chunk
        self._step_tokens = step_tokens
        self._prefix_cache = prefix_cache and not deterministic
        self._drafter = drafter
        self._draft_tokens = draft_tokens
        self._ids = count()
        self._admissions = count()
        self._incoming: deque[list[Sequence]] = deque()  # other threads append, the loop takes
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._sequences: dict[int, list[Sequence]] = {}
        self._cancelled: deque[int] = deque()
        self._discarded: set[int] = set()
        self.forward_passes = 0

    def sampler(self, params: SamplingParams, forced: list[bool], *, constrained: bool) -> Sampler:
        """How an output of this scheduler was chosen, for :func:`constrained.decoder.look.look`."""
        ends = self._admission.own_stops(params, constrained=constrained) | set(self.vocabulary.stop_token_ids)
        return Sampler(params, forced, self._admission.free(params), sorted(ends))

    # -- requests ----------------------------------------------------------------------------------------------

    def submit(self, request: Request) -> int:
        """Queue a request; its id. Raises :class:`RequestError` or :class:`SamplingError` if it cannot be served."""
        request_id = next(self._ids)
        group = self._admission.open(request, request_id)
        self._sequences[request_id] = group
        self._incoming.append(group)
        return request_id

    def cancel(self, request_id: int) -> None:
        """End the outputs of a request before the next step; unknown and finished ids are ignored."""
        self._cancelled.append(request_id)

    def discard(self, request_id: int) -> None:
        """Cancel a request and forget its completions."""
        self._discarded.add(request_id)
        self.cancel(request_id)

    @property
    def busy(self) -> bool:
        """Some output is waiting or running."""
        return bool(self._incoming or self._waiting or self._running)

    def done(self, request_id: int) -> bool:
        """Every output of the request has ended. Raises :class:`RequestError` for an unknown id."""
        group = self._sequences.get(request_id)
        if group is None:
            raise RequestError(f"no request {request_id}")
        return not any(sequence.running for sequence in group)

    def completions(self, request_id: int) -> list[Completion]:
        """The finished outputs of a request, forgotten by the scheduler. Raises :class:`RequestError` before that."""
        if not self.done(request_id):
            raise RequestError(f"request {request_id} is still running")
        return [sequence.completion() for sequence in self._sequences.pop(request_id)]

    def abort(self, error: Exception) -> list[TokenEvent]:
        """After a step that raised: end everything that waits or runs with ``error``, free all slots; the events."""
        while self._incoming:
            self._waiting.extend(self._incoming.popleft())
        ended = list(self._waiting)
        self._waiting.clear()
        for sequence in (*ended, *self._running):
            sequence.fail(error)
        return self._collect(ended)

    def run(self) -> Iterator[TokenEvent]:
        """Step until nothing is left; the events as they come."""
        while self.busy:
            yield from self.step()

    # -- one step ----------------------------------------------------------------------------------------------

    def step(self) -> list[TokenEvent]:
        """One forward pass over what is running; what became of it. Empty if nothing could run."""
        ended = self._sweep()
        self._admit(ended)
        batch = self._plan()
        while batch:
            try:
                self._advance(batch)
                break
            except CacheError as error:  # a paged cache may run out of blocks: the youngest output waits
                batch = self._make_room(batch, error)
        return self._collect(ended)

    def _sweep(self) -> list[Sequence]:
        """Take in what was submitted; apply cancellations and time limits; the waiting outputs they ended."""
        while self._incoming:
            self._waiting.extend(self._incoming.popleft())
        while self._cancelled:
            for sequence in self._sequences.get(self._cancelled.popleft(), ()):
                sequence.finish("cancelled")
        for sequence in (*self._running, *self._waiting):
            if sequence.running and sequence.out_of_time:
                sequence.finish("time")
        ended = [s for s in self._waiting if not s.running]
        if ended:
            self._waiting = deque(s for s in self._waiting if s.running)
        return ended

    def _admit(self, ended: list[Sequence]) -> None:
        """Give slots to waiting outputs, first come first served; samples wait for the prompt they share."""
        held: list[Sequence] = []
        while self._waiting and self.cache.n_free:
            sequence = self._waiting.popleft()
            leader = sequence.leader
            if leader is not None and leader.running and not leader.prefilled and self._prefix_cache:
                held.append(sequence)
                continue
            if sequence.started is None:
                sequence.started = time.monotonic()
                try:
                    if sequence.guide.terminated:
                        sequence.finish("stop")
                    else:
                        self._chooser.extend_forced(sequence)
                except Exception as error:  # the grammar's own failure ends its request alone
                    sequence.fail(error)
                if not sequence.running:
                    ended.append(sequence)
                    continue
            try:
                self._give_slot(sequence)
            except CacheError:
                self._waiting.appendleft(sequence)
                break
        self._waiting.extendleft(reversed(held))

    def _give_slot(self, sequence: Sequence) -> None:
        if self._prefix_cache and not sequence.unscored:
            sequence.slot, sequence.cached = self.cache.allocate_with_prefix(sequence.tokens)
        else:
            sequence.slot, sequence.cached = self.cache.allocate(), 0
        self.model.begin(self.cache, sequence.slot, sequence.request.source_ids)
        sequence.usage.cached_tokens = min(sequence.cached, sequence.history.n_prompt)
        sequence.admitted_at = next(self._admissions)
        self._running.append(sequence)

    def _plan(self) -> list[Feed]:
        """Which tokens each running output feeds: all decode rows, and prompt chunks up to the step's budget."""
        feeds: list[Feed] = []
        total = 0
        for sequence in sorted(self._running, key=lambda s: s.admitted_at):
            if not sequence.running:
                continue
            pending = sequence.tokens[sequence.cached :]
            if len(pending) > 1 and total >= self._step_tokens:
                continue
            tokens = pending[: min(self._prefill_chunk, SCORED_CHUNK) if sequence.unscored else self._prefill_chunk]
            draft = self._draft(sequence) if len(tokens) == len(pending) else []
            feeds.append(Feed(sequence, tokens + draft, len(draft), frontier=len(tokens) == len(pending)))
            total += len(feeds[-1].tokens)
        feeds.sort(key=lambda f: f.sequence.slot)  # type: ignore[arg-type, return-value]
        return feeds

    def _draft(self, sequence: Sequence) -> list[int]:
        """A draft for an output at its frontier, cut where the grammar, the cache or the limit would end it."""
        if self._drafter is None or sequence.logprobs is not None:
            return []
        room = min(self._draft_tokens, sequence.limit - sequence.history.n_output - 1,
                   self.cache.max_len - len(sequence.tokens))
        if room <= 0:
            return []
        try:
            draft = self._drafter.propose(sequence, room)[:room]
            draft = draft[: next((i for i, t in enumerate(draft) if t in sequence.hidden_ids), len(draft))]
            draft = draft[: sequence.guide.prefix_allowed(draft)]
        except ConstrainedError:  # a limit on a path that may never be taken: no draft
            return []
        except Exception as error:
            sequence.fail(error)
            return []
        sequence.usage.drafted_tokens += len(draft)
        return draft

    def _make_room(self, batch: list[Feed], error: CacheError) -> list[Feed]:
        """Take the slot of the youngest output; it will be computed again later. The only one left fails."""
        youngest = max(batch, key=lambda f: f.sequence.admitted_at).sequence
        if len(self._running) == 1:
            youngest.fail(error)
        else:
            self._release(youngest, remember=False)
            self._running.remove(youngest)
            self._waiting.appendleft(youngest)
        return [feed for feed in batch if feed.sequence is not youngest]

    @torch.inference_mode()
    def _advance(self, batch: list[Feed]) -> None:
        """The forward pass, and the next tokens of the rows at their frontier."""
        batch = [feed for feed in batch if feed.sequence.running]
        if not batch:
            return
        width = max(len(feed.tokens) for feed in batch)
        ids = np.zeros((len(batch), width), dtype=np.int64)
        for row, feed in enumerate(batch):
            ids[row, : len(feed.tokens)] = feed.tokens
        keep = max(len(feed.tokens) if feed.sequence.unscored else feed.n_draft + 1 if feed.frontier else 0
                    for feed in batch)
        last_layer = self.model.config.n_layers
        out = self.model(
            upload(ids, self.model.device), cache=self.cache,
            slots=[feed.sequence.slot for feed in batch], lengths=[feed.sequence.cached for feed in batch],
            n_new=[len(feed.tokens) for feed in batch], logits_to_keep=keep,
            return_hidden=[last_layer] if keep else False, with_logits=False, batch_invariant=self.deterministic)
        self.forward_passes += 1
        for row, feed in enumerate(batch):
            sequence = feed.sequence
            feed.base = sequence.cached
            sequence.cached += len(feed.tokens)
            sequence.usage.forward_passes += 1
            if keep:
                feed.hidden, feed.row = out.hidden[last_layer], row
            if sequence.unscored:
                self._score(feed)
            if sequence.limit == 0 and sequence.prefilled:
                sequence.finish("length")
        self._chooser.choose(batch)
        for feed in batch:
            feed.settle()
            sequence = feed.sequence
            if self._prefix_cache and sequence.running and not feed.remembered and sequence.prefilled:
                self.cache.remember(sequence.slot, sequence.tokens[: sequence.history.n_prompt])

    def _score(self, feed: Feed) -> None:
        """Log-probabilities of the prompt tokens that follow those of a feed."""
        sequence = feed.sequence
        assert feed.hidden is not None and sequence.prompt_logprobs is not None
        known = len(sequence.prompt_logprobs) + 1  # of the prompt, counted from its beginning
        wanted = sequence.tokens[known : min(feed.base + len(feed.tokens) + 1, sequence.history.n_prompt)]
        if not wanted:
            return  # read again after its slot was taken
        first = known - 1 - feed.base - len(feed.tokens)
        states = feed.hidden[feed.row, first : first + len(wanted) or None]
        found = token_logprobs(wanted, self.model.head(states), sequence.request.params.prompt_logprobs or 0)
        if any(math.isnan(entry.logprob) for entry in found):
            sequence.fail(SamplingError("the logits of the prompt hold NaN"))
        sequence.prompt_logprobs += found

    # -- ends --------------------------------------------------------------------------------------------------

    def _collect(self, ended: Iterable[Sequence]) -> list[TokenEvent]:
        """Events of this step, callbacks called, slots of finished outputs given back."""
        events: list[TokenEvent] = []
        for sequence in (*ended, *self._running):
            event = sequence.take_event()
            if event is None:
                continue
            events.append(event)
            callback = sequence.request.callback
            if callback is None:
                continue
            try:
                stop = callback(event)
            except Exception as error:
                stop = False
                sequence.fail(error)
            if sequence.running and stop:
                sequence.finish("callback")
            if event.finish_reason is None and not sequence.running:
                last = sequence.take_event()
                if last is not None:
                    events.append(last)
        finished = [sequence for sequence in self._running if not sequence.running]
        if finished:
            self._running = [sequence for sequence in self._running if sequence.running]
            for sequence in finished:
                self._release(sequence, remember=self._prefix_cache)
        for request_id in [i for i in self._discarded if i not in self._sequences or self.done(i)]:
            self._discarded.discard(request_id)
            self._sequences.pop(request_id, None)
        return events

    def _release(self, sequence: Sequence, *, remember: bool) -> None:
        if sequence.slot is None:
            return
        if remember:
            known = min(sequence.cached, self.cache.length(sequence.slot))
            self.cache.remember(sequence.slot, sequence.tokens[:known])
        if self._drafter is not None:
            self._drafter.release(sequence)
        self.cache.free(sequence.slot)
        sequence.slot, sequence.cached = None, 0
