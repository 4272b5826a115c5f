"""This engine as vLLM's structured-output backend (vLLM 0.32), and a logits processor for both of its runners.

vLLM knows its backends by name and has no registry for others; it does call the functions of the entry point group
``vllm.general_plugins`` in every process. ``register`` puts this backend where ``StructuredOutputManager.grammar_init``
would make one, and checks requests with our front ends where vLLM would ask XGrammar's, so that a request that
we can enforce is not refused, and one that we cannot is an error of the client (400). Installing a package must not
change a server: ``register`` does nothing unless ``CONSTRAINED_VLLM=1`` is set.

The processor is for programs that build their own engine: ``LLM(logits_processors=[logits_processor_class()])`` (or
``--logits-processors constrained.integrations.vllm:LogitsProcessor``) and
``SamplingParams(extra_args={"constrained_regex": "..."})``. One class serves the V1 runner (the host knows the tokens)
and the V2 runner (the device does: a step waits for them, so prefer the backend there).

Classes are made over vLLM's own base classes when it is there (``make_backend``, ``make_processor``).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from constrained.api.compiler import GrammarCompiler
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.integrations.protocol import end_only, fill_or_end, log
from constrained.integrations.requests import KINDS, check_request, compile_request
from constrained.masks import allocate_token_bitmask, apply_token_bitmask_inplace
from constrained.vocabulary import TokenizerInfo

if TYPE_CHECKING:
    import torch

__all__ = ["SWITCH", "logits_processor_class", "make_backend", "make_processor", "register"]

SWITCH = "CONSTRAINED_VLLM"
PREFIX = "constrained_"
"""``SamplingParams.extra_args`` (``vllm_xargs`` over HTTP): this prefix and a kind of ``integrations.requests``."""

PLACEHOLDER = -1
"""What vLLM's V1 runner writes for a token that it has not fetched from the device yet (asynchronous scheduling)."""


class Grammar:
    """One request's matcher in vLLM's words. Mixed in before ``StructuredOutputGrammar``."""

    def __init__(self, matcher: GrammarMatcher) -> None:
        self.matcher = matcher

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Take ``tokens``; what comes behind the end is vLLM's padding and ignored."""
        for token in tokens:
            if self.matcher.is_terminated():
                break
            if not self.matcher.accept_token(token):
                return False
        return True

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The longest beginning of ``tokens`` that may follow; the state stays."""
        return list(tokens[: self.matcher.validate_tokens(tokens)])

    def rollback(self, num_tokens: int) -> None:
        self.matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        fill_or_end(self.matcher, bitmask, batch_index)

    def is_terminated(self) -> bool:
        return self.matcher.is_terminated()

    def reset(self) -> None:
        self.matcher.reset()


class Backend:
    """Compiles the requests' grammars, in vLLM's threads. Mixed in before ``StructuredOutputBackend``, a dataclass."""

    grammar_class: type[Grammar]
    vllm_config: Any
    tokenizer: Any
    vocab_size: int

    def __post_init__(self) -> None:
        config = getattr(self.vllm_config, "structured_outputs_config", None)
        self.any_whitespace = not getattr(config, "disable_any_whitespace", False)
        self.compiler = GrammarCompiler(TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=self.vocab_size))

    def compile_grammar(self, request_type: Any, grammar_spec: str,
                        stop_token_ids: Collection[int] | None = None) -> Grammar:
        """Raises ``ConstrainedError``, which vLLM makes the request's error."""
        compiled = compile_request(self.compiler, request_type.name.lower(), grammar_spec,
                                   any_whitespace=self.any_whitespace)
        stops = sorted(stop_token_ids) if stop_token_ids else None
        return self.grammar_class(GrammarMatcher(compiled, override_stop_tokens=stops))

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        return cast("torch.Tensor", allocate_token_bitmask(max_num_seqs, self.vocab_size))

    def destroy(self) -> None:
        self.compiler.clear_cache()


def make_backend(base_backend: type, base_grammar: type) -> type[Backend]:
    """The backend class over vLLM's own base classes."""
    grammar = type("ConstrainedGrammar", (Grammar, base_grammar), {})
    # a dataclass of its own, or the base's __init__ would not call __post_init__
    return dataclasses.dataclass(
        type("ConstrainedBackend", (Backend, base_backend), {"grammar_class": grammar, "__annotations__": {}}))


def register() -> None:
    """Entry point ``vllm.general_plugins``: takes over structured outputs where ``CONSTRAINED_VLLM=1``."""
    if os.environ.get(SWITCH, "") in ("", "0"):
        return
    from vllm.sampling_params import SamplingParams
    from vllm.v1.structured_output import StructuredOutputManager
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    install(StructuredOutputManager, SamplingParams, make_backend(StructuredOutputBackend, StructuredOutputGrammar))


def install(manager: Any, sampling_params: Any, backend_class: type[Backend]) -> None:
    """Put the backend into vLLM's two classes, once."""
    if getattr(manager, "_constrained", False):
        return
    grammar_init = manager.grammar_init

    def with_our_backend(self: Any, request: Any) -> None:
        if request.structured_output_request is not None and self.backend is None:
            make: Any = backend_class
            self.backend = make(self.vllm_config, tokenizer=self.tokenizer,
                                vocab_size=self.vllm_config.model_config.get_vocab_size())
        grammar_init(self, request)

    def validate(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        asked = self.structured_outputs
        if structured_outputs_config is None or asked is None or asked.all_constraints_none():
            return
        if tokenizer is None:
            raise ValueError("structured outputs need a tokenizer: they cannot be used with skip_tokenizer_init")
        if getattr(model_config, "is_diffusion", False):
            raise ValueError("structured outputs need a model that writes from left to right")
        # vLLM's own name for the backend; whatever it is, grammar_init has put ours in its place
        asked._backend = structured_outputs_config.backend
        asked._backend_was_auto = structured_outputs_config.backend == "auto"
        check_request(*_asked_for(asked))  # a ConstrainedError is a ValueError: vLLM answers 400

    manager.grammar_init = with_our_backend
    sampling_params._validate_structured_outputs = validate
    manager._constrained = True


def _asked_for(params: Any) -> tuple[str, str]:
    """Kind and text of a ``StructuredOutputsParams``."""
    for kind in KINDS:
        value = getattr(params, kind, None)
        if value is not None and value is not False:
            return kind, "" if kind == "json_object" else value if isinstance(value, str) else json.dumps(value)
    raise ConstrainedError("structured_outputs asks for nothing", hint=f"set one of {', '.join(KINDS)}")


# -- a logits processor for both runners -------------------------------------------------------------------------------


def _extra(params: Any) -> tuple[str, str] | None:
    """Kind and text in ``extra_args``. Raises ``ConstrainedError`` for several, and for unknown ones."""
    given: Mapping[str, Any] = getattr(params, "extra_args", None) or {}
    ours = {key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)}
    if not ours:
        return None
    if len(ours) > 1:
        raise ConstrainedError(f"extra_args holds {len(ours)} constraints", hint="one request, one constraint")
    (kind, value), = ours.items()
    if kind not in KINDS:
        raise ConstrainedError(f"unknown constraint {PREFIX + kind!r:.60}", hint=f"one of {', '.join(KINDS)}")
    return kind, value if isinstance(value, str) else json.dumps(value)


class Row:
    """The matcher of one request and how many of its output tokens it has taken.

    A processor that raises ends vLLM's engine with every request in it, so a row that fails is marked ``failed``, may
    only end, and says why in the log.
    """

    __slots__ = ("failed", "matcher", "taken")

    def __init__(self, matcher: GrammarMatcher, *, failed: bool = False) -> None:
        self.matcher = matcher
        self.taken = 0
        self.failed = failed

    def follow(self, output: Sequence[int]) -> None:
        """Bring the matcher to the end of ``output``; tokens that were taken back are rolled back."""
        if len(output) < self.taken:
            self.matcher.rollback(self.taken - len(output))
            self.taken = len(output)
        for token in () if self.failed else output[self.taken :]:
            if token == PLACEHOLDER:
                self._fail("vLLM does not tell its logits processors the tokens under asynchronous scheduling; start "
                           "it with --no-async-scheduling, or use the backend (CONSTRAINED_VLLM=1)")
                return
            if self.matcher.is_terminated():
                return
            if not self.matcher.accept_token(token):
                self._fail(f"token {token} was generated but its grammar does not allow it: another logits processor "
                           "or a forced token overrules the constraint")
                return
            self.taken += 1

    def _fail(self, reason: str) -> None:
        log.error("a constrained request ends: %s", reason)
        self.failed = True


class Processor:
    """V1: ``update_state`` and ``apply(logits)``. V2: ``add_request`` and ``apply(logits, context)``."""

    def __init__(self, vllm_config: Any, *rest: Any) -> None:
        from vllm.tokenizers import cached_tokenizer_from_config

        self.setup(cached_tokenizer_from_config(model_config=vllm_config.model_config),
                   vllm_config.model_config.get_vocab_size(), rest[0] if len(rest) == 1 else None)

    def setup(self, tokenizer: Any, vocab_size: int, request_state: Any) -> None:
        self.compiler = GrammarCompiler(TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size))
        self.vocab_size = vocab_size
        self.request_state = request_state
        self.rows: dict[int, Row] = {}
        self.outputs: dict[int, Sequence[int]] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        asked = _extra(sampling_params)
        if asked is not None:
            check_request(*asked)

    def is_argmax_invariant(self) -> bool:
        return False

    def _new_row(self, params: Any) -> Row | None:
        asked = _extra(params)
        if asked is None:
            return None
        try:
            return Row(GrammarMatcher(compile_request(self.compiler, *asked)))
        except ConstrainedError as error:  # what ``validate_params`` cannot see without the vocabulary
            log.error("a constrained request ends: %s", error)
            return Row(GrammarMatcher(self.compiler.compile_regex("")), failed=True)

    # V1: rows are places in the batch, and the lists of output tokens are vLLM's own

    def update_state(self, batch_update: Any) -> None:
        if batch_update is None:
            return
        for index in batch_update.removed:
            self.rows.pop(index, None)
            self.outputs.pop(index, None)
        for index, params, _, output in batch_update.added:
            row = self._new_row(params)
            self.rows.pop(index, None)
            self.outputs.pop(index, None)
            if row is not None:
                self.rows[index] = row
                self.outputs[index] = output
        for one, other, direction in batch_update.moved:
            for table in (self.rows, self.outputs):
                held: dict[int, Any] = cast("dict[int, Any]", table)
                moved, back = held.pop(one, None), held.pop(other, None)
                if moved is not None:
                    held[other] = moved
                if back is not None and direction.name == "SWAP":
                    held[one] = back

    # V2: rows are slots that stay, and the tokens are on the device

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        row = self._new_row(sampling_params)
        self.rows.pop(req_idx, None)
        if row is not None:
            self.rows[req_idx] = row
        return row is not None

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        """Mask the rows of constrained requests in place."""
        if not self.rows:
            return logits
        if ctx is None:
            for index, row in self.rows.items():
                row.follow(self.outputs[index])
            self._mask(logits, [(index, row.matcher, row.failed) for index, row in self.rows.items()])
            return logits
        state = self.request_state
        wanted: list[tuple[int, GrammarMatcher, bool]] = []
        forks: dict[int, GrammarMatcher] = {}
        places, fed = ctx.expanded_local_pos.tolist(), ctx.input_ids.tolist()
        for line, slot in enumerate(ctx.expanded_idx_mapping.tolist()):
            held = self.rows.get(slot)
            if held is None:
                continue
            if places[line] == 0:
                begin, end = int(state.prompt_len.np[slot]), int(state.total_len.gpu[slot])
                held.follow(state.all_token_ids.gpu[slot, begin:end].tolist())
                forks[slot] = held.matcher
            elif slot in forks:  # the draft token of this line comes after those of the lines before it
                forks[slot] = forks[slot].fork()
                if not forks[slot].accept_token(fed[line]):
                    del forks[slot]  # a draft that will be thrown away, and those behind it
            if slot in forks:
                wanted.append((line, forks[slot], held.failed))
        self._mask(logits, wanted)
        return logits

    def _mask(self, logits: torch.Tensor, wanted: Sequence[tuple[int, GrammarMatcher, bool]]) -> None:
        """``wanted``: row, matcher, and whether the request has failed and may only end."""
        wanted = [(line, matcher, failed) for line, matcher, failed in wanted if failed or not matcher.is_terminated()]
        if not wanted:
            return
        bitmask = cast("torch.Tensor", allocate_token_bitmask(logits.shape[0], self.vocab_size))
        for line, matcher, failed in wanted:
            if failed:
                end_only(matcher, bitmask, line)
            else:
                fill_or_end(matcher, bitmask, line)
        apply_token_bitmask_inplace(logits, bitmask.to(logits.device), indices=[line for line, _, _ in wanted])


def make_processor(*bases: type) -> type[Processor]:
    """The processor class over vLLM's base classes, of one runner's interface or both."""
    return type("ConstrainedLogitsProcessor", (Processor, *bases), {})


@functools.cache
def logits_processor_class() -> type[Processor]:
    """The class to give to ``LLM(logits_processors=[...])``; it passes the loaders of both runners."""
    from vllm.v1.sample.logits_processor.interface import LogitsProcessor as V1
    from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor as V2

    return make_processor(V1, V2)


def __getattr__(name: str) -> Any:
    """``LogitsProcessor``, for those who name the class by a text; it is made when vLLM is there to inherit from."""
    if name == "LogitsProcessor":
        return logits_processor_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
