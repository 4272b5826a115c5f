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
import operator
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from constrained.decoder.bitmask import remove_illegal, remove_illegal_row
from constrained.decoder.budget import TokenBudget
from constrained.decoder.chain import Choice, Row, choose
from constrained.decoder.detokenizer import Detokenizer, TokenText, Vocabulary
from constrained.decoder.drafters import Drafter
from constrained.decoder.errors import CacheError
from constrained.decoder.guide import Guide, Legal, free_bitmask
from constrained.decoder.history import TokenHistory
from constrained.decoder.logprobs import TokenLogprob, token_logprob
from constrained.decoder.noise import fresh_seed, request_key
from constrained.decoder.request import Completion, Request, TokenEvent
from constrained.decoder.sampling_params import RequestError, SamplingError
from constrained.decoder.sequence import Sequence
from constrained.decoder.vocabulary_check import check_matcher, check_vocabulary, never_written
from constrained.errors import ConstrainedError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder

__all__ = ["Scheduler"]

AFFORDABLE_TRIES = 8
"""Near its token limit an output asks the sampler so often for another token before it takes the shortest way."""


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
        check_vocabulary(model.config, vocabulary)
        if cache is None:
            length = min(model.config.max_position, 4096) if max_len is None else max_len
            cache = model.new_cache(max_batch, length)
        if prefill_chunk < 1 or step_tokens < 1 or draft_tokens < 1:
            raise RequestError("prefill_chunk, step_tokens and draft_tokens must be at least 1")
        self.model = model
        self.vocabulary = vocabulary
        self.cache = cache
        self.deterministic = deterministic
        self._text_of = TokenText(vocabulary)
        never, device = never_written(model.config), model.device
        self._free = free_bitmask(vocabulary, model.config.vocab_size, never, device)
        self._free_endless = free_bitmask(vocabulary, model.config.vocab_size, never, device, ends=False)
        self._prefill_chunk = prefill_chunk
        self._step_tokens = step_tokens
        self._prefix_cache = prefix_cache and not deterministic
        self._jump_forward = jump_forward
        self._small_heads = small_heads
        self._drafter = drafter
        self._draft_tokens = draft_tokens
        self._on_cpu = model.device.type == "cpu"
        self._ids = count()
        self._admissions = count()
        self._incoming: deque[list[Sequence]] = deque()  # other threads append, the loop takes
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._sequences: dict[int, list[Sequence]] = {}
        self._cancelled: deque[int] = deque()
        self._discarded: set[int] = set()
        self.forward_passes = 0

    # -- requests ----------------------------------------------------------------------------------------------

    def submit(self, request: Request) -> int:
        """Queue a request; its id. Raises :class:`RequestError` or :class:`SamplingError` if it cannot be served."""
        prompt = self._checked_prompt(request)
        params = request.params
        seeds = self._seeds(request)
        vocab_size = self.model.config.vocab_size
        ends = frozenset(self.vocabulary.stop_token_ids)
        constrained = request.matcher is not None
        own_stops = frozenset(params.stop_token_ids) if not constrained or params.stop_in_constraint else frozenset()
        stops = params.stop if not constrained or params.stop_in_constraint else ()
        request_id = next(self._ids)
        limit = min(params.max_tokens or self.cache.max_len, self.cache.max_len - len(prompt))
        group: list[Sequence] = []
        for index in range(params.n):
            matcher = request.matcher.fork() if request.matcher is not None else None
            guide = Guide(matcher, self.vocabulary.vocab_size,
                          self._free_endless if params.ignore_eos else self._free)
            group.append(Sequence(
                request_id=request_id, index=index, request=request,
                history=TokenHistory(prompt, params, vocab_size, self.model.device),
                guide=guide, key=request_key(seeds[index], index if params.seed is None
                                             or isinstance(params.seed, int) else 0),
                seed=seeds[index],
                detokenizer=Detokenizer(self._text_of, skip_special_tokens=params.skip_special_tokens, stops=stops,
                                        include_stop=params.include_stop),
                end_ids=own_stops if constrained or params.ignore_eos else own_stops | ends,
                hidden_ids=own_stops | ends,
                banned_ends=tuple(sorted(own_stops | ends)),
                limit=limit,
                budget=TokenBudget(self.vocabulary, guide, limit) if matcher is not None
                and request.budget == "close" else None,
                leader=group[0] if group else None,
                logprobs=[] if params.logprobs is not None else None))
            group[-1].usage.prompt_tokens = len(prompt)
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
                    elif self._jump_forward:
                        sequence.extend_forced(single=self._on_cpu)
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
        if self._prefix_cache:
            sequence.slot, sequence.cached = self.cache.allocate_with_prefix(sequence.tokens)
        else:
            sequence.slot, sequence.cached = self.cache.allocate(), 0
        self.model.begin(self.cache, sequence.slot, sequence.request.source_ids)
        sequence.usage.cached_tokens = min(sequence.cached, sequence.history.n_prompt)
        sequence.admitted_at = next(self._admissions)
        self._running.append(sequence)

    def _plan(self) -> list[_Feed]:
        """Which tokens each running output feeds: all decode rows, and prompt chunks up to the step's budget."""
        feeds: list[_Feed] = []
        total = 0
        for sequence in sorted(self._running, key=lambda s: s.admitted_at):
            if not sequence.running:
                continue
            pending = sequence.tokens[sequence.cached :]
            if len(pending) > 1 and total >= self._step_tokens:
                continue
            tokens = pending[: self._prefill_chunk]
            draft = self._draft(sequence) if len(tokens) == len(pending) else []
            feeds.append(_Feed(sequence, tokens + draft, len(draft), frontier=len(tokens) == len(pending)))
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

    def _make_room(self, batch: list[_Feed], error: CacheError) -> list[_Feed]:
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
    def _advance(self, batch: list[_Feed]) -> None:
        """The forward pass, and the next tokens of the rows at their frontier."""
        batch = [feed for feed in batch if feed.sequence.running]
        if not batch:
            return
        width = max(len(feed.tokens) for feed in batch)
        ids = np.zeros((len(batch), width), dtype=np.int64)
        for row, feed in enumerate(batch):
            ids[row, : len(feed.tokens)] = feed.tokens
        keep = max((feed.n_draft + 1 for feed in batch if feed.frontier), default=0)
        last_layer = self.model.config.n_layers
        out = self.model(
            torch.from_numpy(ids).to(self.model.device, non_blocking=True), cache=self.cache,
            slots=[feed.sequence.slot for feed in batch], lengths=[feed.sequence.cached for feed in batch],
            n_new=[len(feed.tokens) for feed in batch], logits_to_keep=keep,
            return_hidden=[last_layer] if keep else False, with_logits=False, batch_invariant=self.deterministic)
        self.forward_passes += 1
        for row, feed in enumerate(batch):
            sequence = feed.sequence
            feed.base = sequence.cached
            sequence.cached += len(feed.tokens)
            sequence.usage.forward_passes += 1
            if keep and feed.frontier:
                hidden = out.hidden[last_layer][row]
                feed.hidden = hidden[max(0, hidden.shape[0] - len(feed.tokens)) :]
        active = [feed for feed in batch if feed.frontier]
        while active:  # more than one round only where a draft token stood
            self._choose_round(active)
            active = [feed for feed in active if feed.sequence.running and feed.position() is not None]
        for feed in batch:
            feed.settle()
            sequence = feed.sequence
            if self._prefix_cache and sequence.running and not feed.remembered and sequence.prefilled:
                self.cache.remember(sequence.slot, sequence.tokens[: sequence.history.n_prompt])

    def _choose_round(self, feeds: list[_Feed]) -> None:
        """Choose and commit one token for each feed at its position."""
        rows: list[tuple[_Feed, Row]] = []
        full: list[tuple[_Feed, Legal]] = []
        ready: list[tuple[_Feed, Choice, Row | None, Tensor | None]] = []
        for feed in feeds:
            sequence = feed.sequence
            try:
                legal = sequence.guide.legal()
            except Exception as error:
                sequence.fail(error)
                continue
            wants_raw = sequence.request.params.raw_logprobs
            if legal.ids is None or wants_raw or not self._small_heads:
                full.append((feed, legal))
            elif legal.count == 1 and sequence.logprobs is None:
                only = int(legal.ids[0])
                ready.append((feed, Choice(only, sequence.bans_of(only)), None, None))
            else:
                small = legal.tensor(self.model.device)
                rows.append((feed, self._row(feed, self.model.head(feed.state(), small), small)))
        raw_of: dict[int, Tensor] = {}
        if full:
            logits = self._full_logits([feed for feed, _ in full])
            wanted = any(feed.sequence.request.params.raw_logprobs for feed, _ in full)
            masked = self._masked(logits.clone() if wanted else logits, [legal for _, legal in full])
            for i, (feed, _) in enumerate(full):
                rows.append((feed, self._row(feed, masked[i], None)))
                if feed.sequence.request.params.raw_logprobs:
                    raw_of[id(feed)] = logits[i]
        chosen = choose([row for _, row in rows]) if rows else []
        ready += [(feed, choice, row, raw_of.get(id(feed)))
                  for (feed, row), choice in zip(rows, chosen, strict=True)]
        for feed, choice, row, raw in ready:
            self._commit(feed.sequence, choice, row, raw)

    def _row(self, feed: _Feed, logits: Tensor, ids: Tensor | None) -> Row:
        sequence = feed.sequence
        return Row(logits, sequence.request.params, sequence.history, sequence.key, ids, sequence.banned_now())

    def _full_logits(self, feeds: list[_Feed]) -> Tensor:
        states = [feed.state() for feed in feeds]
        if self.deterministic:
            return torch.cat([self.model.head(state.unsqueeze(0)) for state in states])
        return self.model.head(torch.stack(states))

    def _masked(self, logits: Tensor, legal: list[Legal]) -> Tensor:
        """``logits [B, V]`` with what is illegal removed, in place."""
        words: dict[int, NDArray[np.int32]] = {}
        n_words = (logits.shape[-1] + 31) // 32
        for i, one in enumerate(legal):
            if one.removed is not None:
                if not one.everything:
                    logits[i].index_fill_(0, one.removed, -math.inf)
            elif self._on_cpu:
                remove_illegal_row(logits[i], one.bitmask(n_words))
            else:
                words[i] = one.bitmask(n_words)
        if words:
            packed = torch.from_numpy(np.stack(list(words.values()))).to(logits.device, non_blocking=True)
            rows = list(words)
            logits[rows] = remove_illegal(logits[rows], packed)
        return logits

    def _commit(self, sequence: Sequence, choice: Choice, row: Row | None, raw: Tensor | None) -> None:
        """Append the chosen (or queued) token to its output and what the grammar forces after it."""
        try:
            if choice.error is not None:
                raise SamplingError(choice.error)
            token, forced = choice.token, False
            if sequence.forced_queue:  # the logits were wanted for their log-probability only
                token, forced = sequence.forced_queue.popleft(), True
            if sequence.budget is not None and not sequence.affordable(token):
                token = _another(sequence, token, row)
                sequence.forced_queue.clear()
            entry: TokenLogprob | None = None
            if sequence.logprobs is not None and row is not None:
                entry = token_logprob(token, row.logits, sequence.request.params.logprobs or 0, ids=row.ids, raw=raw)
            sequence.usage.lifted_bans += sequence.bans_of(token) if forced else choice.lifted
            sequence.commit(token, forced=forced, logprob=entry)
            if self._jump_forward and not sequence.forced_queue:
                sequence.extend_forced(single=self._on_cpu)
        except Exception as error:
            sequence.fail(error)

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

    # -- checks ------------------------------------------------------------------------------------------------

    def _checked_prompt(self, request: Request) -> list[int]:
        vocab_size = self.model.config.vocab_size
        self.model.check_source(request.source_ids)
        try:
            prompt = [operator.index(token) for token in request.prompt_ids]
        except TypeError:
            raise RequestError("a prompt is a sequence of token ids") from None
        if not prompt:
            raise RequestError("the prompt is empty", hint="begin with the BOS token where there is no text")
        if len(prompt) >= self.cache.max_len:
            raise RequestError(f"a prompt of {len(prompt)} tokens leaves no room in a cache of {self.cache.max_len}",
                               hint="shorten it, or make the cache longer")
        params = request.params
        named = (*prompt, *params.stop_token_ids, *(i for i, _ in params.bias_items))
        wrong = next((token for token in named if not 0 <= token < vocab_size), None)
        if wrong is not None:
            raise RequestError(f"token id {wrong} is out of range: the model has {vocab_size}")
        if request.matcher is not None and params.ignore_eos:
            raise RequestError("ignore_eos with a constraint: the grammar ends the output")
        if request.matcher is not None:
            check_matcher(request.matcher, self.vocabulary)
        return prompt

    def _seeds(self, request: Request) -> list[int]:
        seed, n = request.params.seed, request.params.n
        if isinstance(seed, tuple):
            if len(seed) != n:
                raise SamplingError(f"{len(seed)} seeds for {n} samples", hint="give one seed, or one a sample")
            return list(seed)
        return [fresh_seed() if seed is None else seed] * n


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


class _Feed:
    """What one output puts into a forward pass, and the outputs' hidden states at its last positions."""

    __slots__ = ("base", "frontier", "hidden", "n_draft", "remembered", "sequence", "tokens")

    def __init__(self, sequence: Sequence, tokens: list[int], n_draft: int, *, frontier: bool) -> None:
        self.sequence = sequence
        self.tokens = tokens
        self.n_draft = n_draft
        self.frontier = frontier
        self.base = 0
        self.hidden: Tensor | None = None
        self.remembered = sequence.prefilled

    def position(self) -> int | None:
        """Index among ``tokens`` of the output's last token, if the pass has seen exactly the output's tokens."""
        known = self.sequence.tokens
        index = len(known) - 1 - self.base
        if index >= len(self.tokens):
            return None
        first = len(self.tokens) - self.n_draft
        return index if self.tokens[first : index + 1] == known[self.base + first :] else None

    def state(self) -> Tensor:
        """Hidden state ``[hidden]`` whose distribution is that of the next token."""
        index = self.position()
        assert index is not None and self.hidden is not None
        return self.hidden[index - len(self.tokens)]

    def settle(self) -> None:
        """Count as cached only what the output kept of the draft."""
        if not self.n_draft:
            return
        first = len(self.tokens) - self.n_draft
        kept = self.sequence.tokens[self.base + first : self.base + len(self.tokens)]
        same = 0
        for ours, drafted in zip(kept, self.tokens[first:], strict=False):
            if ours != drafted:
                break
            same += 1
        self.sequence.cached = self.base + first + same
        self.sequence.usage.accepted_tokens += same
