"""Grammars in transformers' continuous batching: one for each request, beside free ones.

    outputs = generate_batch(model, [ids, ids, ids], [person, date, None], max_new_tokens=80)

    with continuous_batching(model) as manager:              # transformers' own manager
        manager.add_request(ids, max_new_tokens=80, grammar=RequestGrammar(person))

What the interface gives: before each pass a ``ContinuousBatchingLogitsProcessor`` is shown the requests that will get a
token, with the tokens they have, and during the pass it is called with their scores, one row each. So the matchers move
and the bitmasks are written between two passes, and the pass itself applies them. A manager makes its processors from
the generation config alone and takes none from its caller, so ours is put in front of its list before the first pass,
where it comes before temperature and truncation.

The state of a request travels with it, in its ``grammar`` argument: copies that transformers makes of a request
(samples of one prompt, requests put aside when the cache is full) get a matcher of their own.

Limits: asynchronous batching prepares a pass before the tokens of the last one are known and is refused; CUDA graphs
are off, since they would replay the masks of the pass they were recorded in. Cost: a token and a mask for each
constrained request and pass, on the CPU, while the device waits.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig
from transformers.generation.continuous_batching import ContinuousBatchingManager
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor
from transformers.generation.continuous_batching.requests import FutureRequestState, GenerationOutput, RequestState
from transformers.generation.continuous_batching.utils import WorkloadHints

from constrained.errors import ConstrainedError
from constrained.integrations.protocol import Matcher, end_only, fill_or_end, new_matcher
from constrained.masks import allocate_token_bitmask, apply_token_bitmask_inplace

__all__ = ["BatchingProcessor", "RequestGrammar", "continuous_batching", "generate_batch"]

GRAMMAR = "grammar"
"""The argument of ``add_request``."""
WITH_MASKS = 0.8
"""Share of the free memory that the cache may take: transformers' own choice where there are logits processors."""


class RequestGrammar:
    """The grammar of one request and how far it has come.

    ``grammar``: a ``CompiledGrammar``, or a matcher (its present state is the start). ``error`` is set where the
    grammar failed while the request ran (a limit): the request then ends with a stop token, and its text is not whole.
    """

    __slots__ = ("_matcher", "_taken", "error")

    def __init__(self, grammar: Any) -> None:
        self._matcher: Matcher = new_matcher(grammar)
        self._taken: list[int] = []
        self.error: Exception | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> RequestGrammar:
        twin = RequestGrammar(self._matcher)
        twin._taken = list(self._taken)
        twin.error = self.error
        return twin

    @property
    def vocab_size(self) -> int:
        """Ids of the vocabulary that the grammar was compiled for."""
        return self._matcher.compiled.tokenizer_info.vocab_size

    @property
    def stop_token_ids(self) -> frozenset[int]:
        """Ids that end a text of the grammar."""
        return frozenset(self._matcher.stop_token_ids)

    def fill(self, generated: Sequence[int], bitmask: Any, row: int) -> None:
        """Write what may follow ``generated`` to ``bitmask[row]``; the stop tokens where nothing may."""
        if self.error is None and self._follow(generated):
            self.error = fill_or_end(self._matcher, bitmask, row)
        else:
            end_only(self._matcher, bitmask, row)

    def _follow(self, generated: Sequence[int]) -> bool:
        """Bring the matcher to the end of ``generated``; False where the text has ended before."""
        taken = self._taken
        shared = len(taken)
        if taken != list(generated[:shared]):  # tokens were taken back
            pairs = zip(taken, generated, strict=False)
            shared = next((i for i, (a, b) in enumerate(pairs) if a != b), min(shared, len(generated)))
        if shared < len(taken):
            self._matcher.rollback(len(taken) - shared)
            del taken[shared:]
        for token in generated[shared:]:
            if self._matcher.is_terminated() or not self._matcher.accept_token(token):
                return False
            taken.append(token)
        return not self._matcher.is_terminated()


class BatchingProcessor(ContinuousBatchingLogitsProcessor):  # type: ignore[misc]
    """Masks the scores of each request that has a ``grammar``."""

    supported_kwargs: dict[str, type] = {GRAMMAR: RequestGrammar}  # noqa: RUF012 - as the base class declares it
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._bitmask: torch.Tensor | None = None
        self._rows: list[int] = []

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Nothing is read back from the tensor of arguments."""
        int32_tensor.zero_()

    def prepare_tensor_args(self, requests_with_new_token: list[FutureRequestState]) -> torch.Tensor:
        """Write the bitmask of the pass that comes; the answer is a placeholder, int32 ``[requests]``."""
        found = [(row, request.state, request.state.logit_processor_kwargs[GRAMMAR])
                 for row, request in enumerate(requests_with_new_token)
                 if request.state.logit_processor_kwargs.get(GRAMMAR) is not None]
        self._rows = [row for row, _, _ in found]
        size = max((grammar.vocab_size for _, _, grammar in found), default=0)
        made = allocate_token_bitmask(len(requests_with_new_token), size) if found else None
        for row, state, grammar in found:
            words = (grammar.vocab_size + 31) // 32
            assert isinstance(made, torch.Tensor)
            made[row].zero_()  # ids beyond this grammar's vocabulary
            grammar.fill(generated_ids(state), made[:, :words], row)
        self._bitmask = made  # type: ignore[assignment]
        return torch.zeros(len(requests_with_new_token), dtype=torch.int32)

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """``scores`` (float32 ``[requests, width]``), masked in place."""
        if self._bitmask is not None:
            if self._bitmask.shape[1] > (scores.shape[1] + 31) // 32:
                raise ConstrainedError(f"a grammar has more ids than the {scores.shape[1]} that the model scores",
                                       hint="TokenizerInfo(..., vocab_size=model.config.vocab_size)")
            apply_token_bitmask_inplace(scores, self._bitmask.to(scores.device, non_blocking=True), indices=self._rows)
        return scores


def generated_ids(state: RequestState) -> list[int]:
    """What a request has written so far. One that was put aside has its earlier tokens behind its prompt."""
    before: list[int] = state.initial_tokens[state._true_initial_tokens :] if state._true_initial_tokens else []
    return [*before, *state.generated_tokens]


@contextmanager
def continuous_batching(model: Any, generation_config: GenerationConfig | None = None,
                        continuous_batching_config: ContinuousBatchingConfig | None = None, *,
                        workload_hints: WorkloadHints | None = None, block: bool = True,
                        timeout: float | None = None) -> Iterator[ContinuousBatchingManager]:
    """transformers' manager, started, whose requests may have a ``grammar=RequestGrammar(...)``; stopped at the end.

    Raises:
        ConstrainedError: asynchronous batching is asked for, or the model holds on to a manager that has run.
    """
    config = ContinuousBatchingConfig() if continuous_batching_config is None else copy.deepcopy(
        continuous_batching_config)
    if config.use_async_batching:
        raise ConstrainedError("asynchronous batching prepares a pass before the tokens of the last one are known: no "
                               "grammar can follow", hint="use_async_batching=False")
    config.use_async_batching = False
    config.use_cuda_graph = False
    if config.max_memory_percent is None:
        config.max_memory_percent = WITH_MASKS
    manager = model.init_continuous_batching(generation_config=generation_config, continuous_batching_config=config,
                                             workload_hints=workload_hints)
    if manager.batch_processor is not None:
        raise ConstrainedError("the model holds on to a manager that has run already",
                               hint="model.destroy_cached_continuous_batching_manager()")
    processors, ours = manager.logit_processor, BatchingProcessor()
    processors.logits_processor.insert(0, ours)
    processors.tensors_required += 1
    processors.supported_keys = {**processors.supported_keys, **ours.supported_kwargs}
    processors.do_processing = True
    manager.start()
    try:
        yield manager
    finally:
        manager.stop(block=block, timeout=timeout)
        manager.destroy()


def generate_batch(model: Any, inputs: Sequence[Sequence[int]], grammars: Sequence[Any], *,
                   generation_config: GenerationConfig | None = None,
                   continuous_batching_config: ContinuousBatchingConfig | None = None,
                   max_new_tokens: int | None = None) -> list[GenerationOutput]:
    """Continue each of ``inputs`` (token ids) under its grammar, or freely where that is None; outputs in their order.

    A request ends at the stop tokens of its grammar too. ``error`` of an output says why a request failed.

    Raises:
        ConstrainedError: not one grammar a prompt, several samples a prompt, or as :func:`continuous_batching`.
    """
    if len(inputs) != len(grammars):
        raise ConstrainedError(f"{len(grammars)} grammars for {len(inputs)} prompts",
                               hint="one grammar for each prompt; None for a free one")
    if not inputs:
        return []
    settings = model.generation_config if generation_config is None else generation_config
    if (settings.num_return_sequences or 1) > 1:
        raise ConstrainedError("generate_batch gives one output for each prompt",
                               hint="repeat the prompt, or use continuous_batching")
    wanted = [None if grammar is None else RequestGrammar(grammar) for grammar in grammars]
    limit = settings.max_new_tokens if max_new_tokens is None else max_new_tokens
    hints = WorkloadHints(max_prompt_length=max(map(len, inputs)), max_generated_length=limit or 0,
                          num_requests=len(inputs))
    found: dict[str, GenerationOutput] = {}
    with continuous_batching(model, generation_config, continuous_batching_config, workload_hints=hints) as manager:
        ends = settings.eos_token_id
        ends = set() if ends is None else {ends} if isinstance(ends, int) else set(ends)
        names: list[str] = []
        for ids, grammar in zip(inputs, wanted, strict=True):
            more = {} if grammar is None else {GRAMMAR: grammar}
            stops = ends if grammar is None else ends | grammar.stop_token_ids
            names.append(manager.add_request(list(ids), max_new_tokens=limit, eos_token_id=sorted(stops), **more))
        while len(found) < len(names):
            output = manager.get_result(timeout=1)
            if output is not None and output.is_finished():
                found[output.request_id] = output
            elif output is None and not manager.is_running():
                raise ConstrainedError("transformers' generation thread ended before its requests")
    outputs = [found[name] for name in names]
    for output, grammar in zip(outputs, wanted, strict=True):
        if grammar is not None and grammar.error is not None and output.error is None:
            output.error = str(grammar.error)
    return outputs
