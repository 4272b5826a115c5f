"""Beam search under a constraint: the matcher is forked with its beam, which costs a few ints.

Data: a *beam* is the tokens of one unfinished hypothesis, the sum of its log-probabilities, a guide and a cache slot;
finished hypotheses are held apart, at most ``num_beams``, with their final scores. One step: one forward pass over
all beams, log-softmax, mask, penalties; the best ``(1 + end tokens) * num_beams`` continuations (at least twice
``num_beams``); those that end go to the finished ones if they rank among the first ``num_beams``, the best others
become the next beams. A beam's first child keeps its slot, the others copy it.

Scores are those of transformers 5.24: log-probabilities of the model *before* the mask (``renormalize=True``: of the
masked distribution), penalties applied to them, summed, divided by ``length ** length_penalty``. Continuations that
the mask forbids are dropped rather than kept at minus infinity, so with few legal texts there are simply fewer beams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from constrained.decoder.bitmask import remove_illegal
from constrained.decoder.chain import Row, penalise
from constrained.decoder.detokenizer import TokenText, Vocabulary
from constrained.decoder.generate import Prompt, encode_prompt
from constrained.decoder.guide import Guide, Legal, Matcher, free_bitmask
from constrained.decoder.history import TokenHistory
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from constrained.decoder.transfer import upload
from constrained.decoder.vocabulary_check import check_matcher, check_vocabulary, never_written

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder

__all__ = ["BeamParams", "Hypothesis", "beam_search"]

GREEDY = SamplingParams(temperature=0, max_tokens=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamParams:
    """``sampling`` gives penalties, bans, ``min_tokens`` and ``max_tokens``; it must be greedy.

    ``early_stopping``: True ends when ``num_beams`` hypotheses are finished; False when no running beam can beat the
    worst of them at its present length; ``"never"`` when none can at the most favourable length.
    """

    num_beams: int = 4
    n: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | Literal["never"] = False
    renormalize: bool = False
    sampling: SamplingParams = GREEDY

    def __post_init__(self) -> None:
        if not 1 <= self.num_beams <= 1024 or not 1 <= self.n <= self.num_beams:
            raise SamplingError(f"num_beams {self.num_beams} must be from 1 to 1024, n {self.n} from 1 to num_beams")
        if not math.isfinite(self.length_penalty):
            raise SamplingError(f"length_penalty must be finite, not {self.length_penalty}")
        if self.early_stopping not in (True, False, "never"):
            raise SamplingError(f"early_stopping must be True, False or 'never', not {self.early_stopping!r}")
        p = self.sampling
        if not p.greedy:
            raise SamplingError(f"beam search does not sample: temperature must be 0, not {p.temperature}")
        if p.stop or p.logprobs is not None or p.time_limit is not None:
            raise SamplingError("beam search has no stop strings, logprobs or time limit")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One finished text. ``score`` is ``logprob / length ** length_penalty``."""

    text: str
    token_ids: tuple[int, ...]
    score: float
    logprob: float
    finish_reason: Literal["stop", "length"]


@dataclass(slots=True)
class _Beam:
    history: TokenHistory
    guide: Guide
    logprob: float
    slot: int


@dataclass(slots=True)
class _Candidate:
    parent: _Beam
    token: int
    logprob: float
    guide: Guide
    ends: bool


def beam_search(model: BaseDecoder, vocabulary: Vocabulary, prompt: Prompt, params: BeamParams | None = None, *,
                matcher: Matcher | None = None, cache: Any = None, prefill_chunk: int = 512) -> list[Hypothesis]:
    """The ``params.n`` best hypotheses, best first; fewer where the grammar has fewer texts.

    Raises:
        RequestError: a prompt that is empty, out of range or too long for the cache; a cache with fewer than
            ``num_beams`` free slots.
    """
    return _Search(model, vocabulary, prompt, params or BeamParams(), matcher, cache).run(prefill_chunk)


class _Search:
    """One beam search."""

    def __init__(self, model: BaseDecoder, vocabulary: Vocabulary, prompt: Prompt, params: BeamParams,
                 matcher: Matcher | None, cache: Any) -> None:
        check_vocabulary(model, vocabulary)
        self.model, self.params, self.vocabulary = model, params, vocabulary
        self.prompt = encode_prompt(vocabulary, prompt)
        vocab_size = model.config.vocab_size
        if not self.prompt or any(not 0 <= t < vocab_size for t in self.prompt):
            raise RequestError(f"a prompt is token ids from 0 to {vocab_size - 1}, at least one")
        sampling = params.sampling
        if matcher is not None and sampling.ignore_eos:
            raise RequestError("ignore_eos with a constraint: the grammar ends the output")
        if matcher is not None:
            check_matcher(matcher, vocabulary)
        most = sampling.max_tokens if sampling.max_tokens is not None else model.config.max_position
        if cache is None:
            size = min(model.config.max_position, len(self.prompt) + most)
            cache = KVCache(model.config, params.num_beams, max(size, 1), model.dtype, model.device)
        self.cache = cache
        self.limit = min(most, cache.max_len - len(self.prompt))
        if self.limit < 1:
            raise RequestError(f"a prompt of {len(self.prompt)} tokens leaves no room in a cache of {cache.max_len}")
        if cache.n_free < params.num_beams:
            raise RequestError(f"{params.num_beams} beams need as many free slots, the cache has {cache.n_free}")
        free = free_bitmask(vocabulary, vocab_size, never_written(model.config), ends=not sampling.ignore_eos)
        self.guide = Guide(None if matcher is None else matcher.fork(), vocabulary.vocab_size, free)
        self.ends = frozenset(vocabulary.stop_token_ids) | frozenset(sampling.stop_token_ids)
        self.banned_ends = tuple(sorted(self.ends))
        self.finished: list[Hypothesis] = []
        self.text_of = TokenText(vocabulary)

    @torch.inference_mode()
    def run(self, prefill_chunk: int) -> list[Hypothesis]:
        if self.guide.terminated:
            return [Hypothesis("", (), 0.0, 0.0, "stop")]
        slot = self.cache.allocate()
        beams = [_Beam(TokenHistory(self.prompt, self.params.sampling, self.model.config.vocab_size,
                                    self.model.device), self.guide, 0.0, slot)]
        try:
            hidden = self._prefill(slot, prefill_chunk)
            while True:
                beams, go_on = self._step(beams, hidden)
                if not go_on:
                    break
                hidden = self._forward(beams)
        finally:
            for one in {beam.slot for beam in beams}:
                self.cache.free(one)
        return self.finished[: self.params.n]

    def _prefill(self, slot: int, chunk: int) -> Tensor:
        last = self.model.config.n_layers
        for start in range(0, len(self.prompt), chunk):
            piece = self.prompt[start : start + chunk]
            out = self.model(upload([piece], self.model.device), cache=self.cache, slots=[slot],
                             lengths=[start], n_new=[len(piece)], logits_to_keep=1, return_hidden=[last],
                             with_logits=False)
        final: Tensor = out.hidden[last][:, -1]
        return final

    def _forward(self, beams: Sequence[_Beam]) -> Tensor:
        """Hidden states ``[len(beams), hidden]`` after each beam's last token."""
        last = self.model.config.n_layers
        ids = upload([[beam.history.tokens[-1]] for beam in beams], self.model.device)
        lengths = [len(beam.history.tokens) - 1 for beam in beams]
        out = self.model(ids, cache=self.cache, slots=[beam.slot for beam in beams], lengths=lengths,
                         n_new=[1] * len(beams), logits_to_keep=1, return_hidden=[last], with_logits=False)
        final: Tensor = out.hidden[last][:, -1]
        return final

    def _step(self, beams: list[_Beam], hidden: Tensor) -> tuple[list[_Beam], bool]:
        """The beams after one more token, and whether the search goes on."""
        params, length = self.params, beams[0].history.n_output + 1
        candidates = self._candidates(beams, self._scores(beams, hidden))
        last = length >= self.limit
        # a candidate beyond the first num_beams never finishes, as in transformers
        complete = len(self.finished) >= params.num_beams
        if not (complete and params.early_stopping is True):
            for candidate in candidates[: params.num_beams]:
                if candidate.ends or last:
                    self._finish(candidate, length)
        running = [] if last else [c for c in candidates if not c.ends][: params.num_beams]
        if not running:
            return beams, False
        beams = self._children(beams, running)
        return beams, self._can_improve(beams, length)

    def _scores(self, beams: Sequence[_Beam], hidden: Tensor) -> Tensor:
        """Summed log-probabilities ``[beams, V]`` of every continuation; ``-inf`` where illegal."""
        raw = self.model.head(hidden)
        legal = [beam.guide.legal() for beam in beams]
        if self.params.renormalize:
            logprobs = torch.log_softmax(self._masked(raw, legal), -1)
        else:
            logprobs = self._masked(torch.log_softmax(raw, -1), legal)
        rows = []
        for row, beam in zip(logprobs, beams, strict=True):
            ends = self.banned_ends if beam.history.n_output < self.params.sampling.min_tokens else ()
            penalised, _ = penalise(Row(row, self.params.sampling, beam.history, 0, None, ends))
            rows.append(penalised[0] + beam.logprob)
        return torch.stack(rows)

    def _masked(self, values: Tensor, legal: Sequence[Legal]) -> Tensor:
        if all(one.everything for one in legal):
            return values
        n_words = (values.shape[-1] + 31) // 32
        words = np.stack([one.bitmask(n_words) for one in legal])
        return remove_illegal(values, words)

    def _candidates(self, beams: Sequence[_Beam], scores: Tensor) -> list[_Candidate]:
        keep = max(2, 1 + len(self.ends)) * self.params.num_beams
        values, places = torch.topk(scores.flatten(), min(keep, scores.numel()))
        width = scores.shape[1]
        out = []
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            if value == -math.inf:
                break
            if math.isnan(value):
                raise SamplingError("the logits hold NaN or +inf")
            parent, token = beams[place // width], place % width
            guide = parent.guide.fork()
            guide.accept(token)
            ends = guide.terminated if guide.constrained else token in self.ends
            out.append(_Candidate(parent, token, value, guide, ends))
        if not out:
            raise SamplingError("no token is left to choose from: every logit is -inf")
        return out

    def _children(self, beams: Sequence[_Beam], chosen: Sequence[_Candidate]) -> list[_Beam]:
        """Beams of the chosen candidates: slots of childless beams are freed first, then the others are forked."""
        with_children = {id(candidate.parent) for candidate in chosen}
        for beam in beams:
            if id(beam) not in with_children:
                self.cache.free(beam.slot)
        taken: set[int] = set()
        children = []
        for candidate in chosen:
            parent = candidate.parent
            slot = parent.slot if id(parent) not in taken else self.cache.fork(parent.slot)
            taken.add(id(parent))
            history = TokenHistory(self.prompt, self.params.sampling, self.model.config.vocab_size, self.model.device)
            history.extend(parent.history.output)
            history.append(candidate.token)
            children.append(_Beam(history, candidate.guide, candidate.logprob, slot))
        return children

    def _finish(self, candidate: _Candidate, length: int) -> None:
        tokens = (*candidate.parent.history.output, candidate.token)
        shown = tokens[:-1] if candidate.ends and candidate.token in self.ends else tokens
        self.finished.append(Hypothesis(self.text_of.decode(shown), tokens,
                                        candidate.logprob / length**self.params.length_penalty, candidate.logprob,
                                        "stop" if candidate.ends else "length"))
        self.finished.sort(key=lambda h: -h.score)  # stable: of equal scores the earlier stays first
        del self.finished[self.params.num_beams :]

    def _can_improve(self, beams: Sequence[_Beam], length: int) -> bool:
        """Whether a running beam may still beat the worst finished one (the heuristic of transformers)."""
        if len(self.finished) < self.params.num_beams:
            return True
        if self.params.early_stopping is True:
            return False
        if self.params.early_stopping == "never" and self.params.length_penalty > 0:
            length = self.limit
        best: float = max(beam.logprob for beam in beams) / length**self.params.length_penalty
        return best > self.finished[-1].score
