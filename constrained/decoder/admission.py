"""Requests become outputs: every check before any work, then the state of each of the ``n`` samples.

Nothing here touches the cache or the model's weights, so a refused request leaves no trace.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from constrained.decoder.budget import TokenBudget
from constrained.decoder.detokenizer import Detokenizer, TokenText, Vocabulary
from constrained.decoder.guide import Guide, Legal, free_bitmask
from constrained.decoder.history import TokenHistory
from constrained.decoder.noise import fresh_seed, request_key
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from constrained.decoder.sequence import Sequence
from constrained.decoder.vocabulary_check import check_matcher, never_written

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.decoder.request import Request

__all__ = ["Admission"]


class Admission:
    """Checks requests for one model, vocabulary and cache length, and opens their outputs."""

    def __init__(self, model: BaseDecoder, vocabulary: Vocabulary, max_len: int) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._max_len = max_len
        self._text_of = TokenText(vocabulary)
        never, device = never_written(model.config), model.device
        self._free: Legal = free_bitmask(vocabulary, model.config.vocab_size, never, device)
        self._free_endless: Legal = free_bitmask(vocabulary, model.config.vocab_size, never, device, ends=False)

    def open(self, request: Request, request_id: int) -> list[Sequence]:
        """The outputs of a request.

        Raises:
            RequestError: the prompt, or a parameter, does not fit this model, vocabulary or cache.
            SamplingError: as many seeds as samples are wanted, or one.
        """
        prompt = self.checked_prompt(request)
        params, max_len = request.params, self._max_len
        seeds = _seeds(request)
        vocab_size, device = self._model.config.vocab_size, self._model.device
        ends = frozenset(self._vocabulary.stop_token_ids)
        constrained = request.matcher is not None
        own_rules = not constrained or params.stop_in_constraint
        own_stops = self.own_stops(params, constrained=constrained)
        stops = params.stop if own_rules else ()
        free = self.free(params)
        limit = min(max_len if params.max_tokens is None else params.max_tokens, max_len - len(prompt))
        matchers = [request.matcher.fork() if request.matcher is not None else None for _ in range(params.n)]
        group: list[Sequence] = []
        for index, matcher in enumerate(matchers):
            guide = Guide(matcher, self._vocabulary.vocab_size, free)
            one_seed_for_all = params.seed is None or isinstance(params.seed, int)
            sequence = Sequence(
                request_id=request_id, index=index, request=request,
                history=TokenHistory(prompt, params, vocab_size, device),
                guide=guide,
                key=request_key(seeds[index], index if one_seed_for_all else 0),
                seed=seeds[index],
                detokenizer=Detokenizer(self._text_of, skip_special_tokens=params.skip_special_tokens, stops=stops,
                                        include_stop=params.include_stop),
                end_ids=own_stops if constrained or params.ignore_eos else own_stops | ends,
                hidden_ids=own_stops | ends,
                banned_ends=tuple(sorted(own_stops | ends)),
                limit=limit,
                budget=TokenBudget(self._vocabulary, guide, limit)
                if matcher is not None and request.budget == "close" else None,
                takes_largest=(params.greedy and params.unpenalised and not params.min_tokens
                               and params.logprobs is None and (matcher is None or request.budget == "cut")),
                leader=group[0] if group else None,
                logprobs=[] if params.logprobs is not None else None,
                prompt_logprobs=[] if params.prompt_logprobs is not None and not group else None)
            sequence.usage.prompt_tokens = len(prompt)
            group.append(sequence)
        return group

    def own_stops(self, params: SamplingParams, *, constrained: bool) -> frozenset[int]:
        """Ids that end the output besides the vocabulary's; inside a constraint only where the parameters say so."""
        return frozenset() if constrained and not params.stop_in_constraint else frozenset(params.stop_token_ids)

    def free(self, params: SamplingParams) -> Legal:
        """What free text under these parameters may hold."""
        return self._free_endless if params.ignore_eos else self._free

    def checked_prompt(self, request: Request) -> list[int]:
        """The prompt's ids. Raises :class:`RequestError` for a request that cannot be served."""
        vocab_size, max_len = self._model.config.vocab_size, self._max_len
        self._model.check_source(request.source_ids)
        try:
            prompt = [operator.index(token) for token in request.prompt_ids]
        except TypeError:
            raise RequestError("a prompt is a sequence of token ids", field="prompt") from None
        if not prompt:
            raise RequestError("the prompt is empty", field="prompt",
                               hint="begin with the BOS token where there is no text")
        if len(prompt) >= max_len:
            raise RequestError(f"a prompt of {len(prompt)} tokens leaves no room in a cache of {max_len}",
                               field="prompt", no_room=True, hint="shorten it, or make the cache longer")
        params = request.params
        biased = [i for i, _ in params.bias_items]
        for where, named in (("prompt", prompt), ("stop_token_ids", params.stop_token_ids), ("logit_bias", biased)):
            wrong = next((token for token in named if not 0 <= token < vocab_size), None)
            if wrong is not None:
                raise RequestError(f"{where}: token id {wrong} is out of range: the model has {vocab_size}",
                                   field=where)
        if request.matcher is not None and params.ignore_eos:
            raise RequestError("ignore_eos with a constraint: the grammar ends the output")
        if request.matcher is not None and params.max_tokens == 0:
            raise RequestError("max_tokens is 0 with a constraint: there is no output to constrain")
        if request.matcher is not None:
            check_matcher(request.matcher, self._vocabulary)
        return prompt


def _seeds(request: Request) -> list[int]:
    seed, n = request.params.seed, request.params.n
    if isinstance(seed, tuple):
        if len(seed) != n:
            raise SamplingError(f"{len(seed)} seeds for {n} samples", hint="give one seed, or one a sample")
        return list(seed)
    return [fresh_seed() if seed is None else seed] * n
