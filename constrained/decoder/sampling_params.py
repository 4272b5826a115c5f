"""What one request asks of the sampler and of the loop: a frozen value, checked when it is made.

Shape: scalars, tuples and one read-only map; nothing refers to a model or a tokenizer, so one value may
serve any number of requests. Invariants: a value that exists is free of contradictions that can be seen
without a vocabulary (the loop checks token ids against the vocabulary when a request is submitted).
Defaults truncate nothing: temperature 1, every filter off.

The names are the field's (OpenAI, vLLM, transformers); where those differ the text of the field says whose
meaning it has.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from constrained.errors import ConstrainedError

__all__ = [
    "CREATIVE",
    "FACTUAL",
    "GREEDY_EPSILON",
    "MAX_LOGPROBS",
    "PRESETS",
    "STRUCTURED",
    "RequestError",
    "SamplingError",
    "SamplingParams",
]

GREEDY_EPSILON = 1e-5
"""Temperatures below this mean greedy: dividing by them would overflow float32 logits."""

MAX_LOGPROBS = 1000
MAX_STOP_STRINGS = 256
MAX_STOP_CHARS = 65_536
MAX_SAMPLES = 4096


class SamplingError(ConstrainedError):
    """Sampling parameters contradict themselves, or logits cannot be sampled from."""


class RequestError(ConstrainedError):
    """A request cannot be served: its prompt, token ids or stop rules do not fit the model or the cache.

    ``field`` names the field of a :class:`Request` that it is about, None where there is none; ``no_room``: the prompt
    fills the cache.
    """

    def __init__(self, message: str, *, field: str | None = None, no_room: bool = False,
                 hint: str | None = None) -> None:
        self.field = field
        self.no_room = no_room
        super().__init__(message, hint=hint)


Order = Literal["hf", "vllm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """Parameters of one request. Raises :class:`SamplingError` on a wrong or contradictory value."""

    temperature: float = 1.0
    """Divides the logits. Below ``GREEDY_EPSILON`` (0 included): greedy, lowest id on a tie."""
    top_k: int = 0
    """Keep the k largest logits, ties at the k-th all kept. 0 or -1: off."""
    top_p: float = 1.0
    """Keep the smallest set of largest probabilities that reaches p. 1: off."""
    min_p: float = 0.0
    """Remove probabilities below ``min_p`` times the largest. 0: off."""
    typical_p: float = 1.0
    """Locally typical sampling (Meister et al. 2022), mass kept. 1: off."""
    epsilon_cutoff: float = 0.0
    """Remove probabilities below this (Hewitt et al. 2022). 0: off."""
    eta_cutoff: float = 0.0
    """Entropy-dependent form of ``epsilon_cutoff`` (Hewitt et al. 2022). 0: off."""

    repetition_penalty: float = 1.0
    """Ids of prompt and output: negative logits times this, others divided by it (Keskar et al. 2019)."""
    frequency_penalty: float = 0.0
    """Subtracted once per occurrence of an id in the output (OpenAI)."""
    presence_penalty: float = 0.0
    """Subtracted once from every id that occurs in the output (OpenAI)."""
    no_repeat_ngram_size: int = 0
    """No n-gram of prompt and output twice. 0: off. Lifted for a step where it would ban every legal token."""
    logit_bias: Mapping[int, float] | tuple[tuple[int, float], ...] = ()
    """Added to the logits of these ids: a map, kept as sorted pairs (see :attr:`bias_items`). ``-inf`` bans
    an id (lifted where nothing legal would be left)."""
    order: Order = "hf"
    """Order of the chain, see :mod:`constrained.decoder.chain`."""

    seed: int | tuple[int, ...] | None = None
    """Seed of the random stream; a tuple gives one per prompt of a batch (see :meth:`for_prompt`). None:
    drawn from the operating system and reported in the result."""
    n: int = 1
    """Samples of the prompt; they share its prefix and have random streams of their own."""

    max_tokens: int | None = None
    """Most output tokens; None: as many as the cache row has room for."""
    min_tokens: int = 0
    """End tokens are banned before this many output tokens (lifted where only they are legal)."""
    stop: tuple[str, ...] = ()
    """Stop strings, found across token borders; cut from the text unless ``include_stop``."""
    stop_token_ids: tuple[int, ...] = ()
    """Further ids that end the output, beside the tokenizer's end tokens."""
    ignore_eos: bool = False
    """End tokens are banned outright: the output runs to another stop rule. Refused with a constraint."""
    stop_in_constraint: bool = False
    """``stop`` and ``stop_token_ids`` also hold inside a constraint (off by default: a stop would cut the
    text before the grammar ends)."""
    include_stop: bool = False
    """Keep the stop string in the text."""
    time_limit: float | None = None
    """Seconds from the first step of the request; the output so far is returned."""

    skip_special_tokens: bool = True
    """Leave control tokens out of the text."""
    logprobs: int | None = None
    """None: off. k: the log-probability of every output token and of the k likeliest, of the masked
    distribution at temperature 1 before penalties and filters."""
    raw_logprobs: bool = False
    """Also those of the distribution before the mask, and the allowed mass (needs the full head)."""
    prompt_logprobs: int | None = None
    """None: off. k: the log-probability of every prompt token but the first and of the k likeliest there, by the
    model alone (no mask). Every position then takes the full head, and no cached beginning is reused. Only with it
    ``max_tokens`` may be 0: the prompt is scored and nothing is written."""

    def __post_init__(self) -> None:
        _freeze(self)
        _check_ranges(self)
        _check_contradictions(self)

    @property
    def greedy(self) -> bool:
        """True when tokens are chosen by argmax."""
        return self.temperature < GREEDY_EPSILON

    @property
    def unpenalised(self) -> bool:
        """Whether logits stay as the mask leaves them: no bias, penalty or ban."""
        return (not self.logit_bias and self.repetition_penalty == 1.0 and self.frequency_penalty == 0.0
                and self.presence_penalty == 0.0 and not self.no_repeat_ngram_size)

    @property
    def bans(self) -> tuple[int, ...]:
        """Ids whose bias is minus infinity."""
        return tuple(i for i, bias in self.bias_items if bias == -math.inf)

    @property
    def bias_items(self) -> tuple[tuple[int, float], ...]:
        """``logit_bias`` as pairs (id, bias), sorted by id."""
        assert isinstance(self.logit_bias, tuple)  # _freeze made it so
        return self.logit_bias

    def updated(self, **changes: Any) -> SamplingParams:
        """A copy with these fields changed, checked again."""
        unknown = changes.keys() - {f.name for f in fields(self)}
        if unknown:
            raise SamplingError(f"no sampling parameter named {sorted(unknown)[0]!r}",
                                hint="see the fields of SamplingParams")
        return replace(self, **changes)

    def for_prompt(self, index: int) -> SamplingParams:
        """The parameters of prompt ``index`` of a batch: picks its seed where ``seed`` is a tuple."""
        if not isinstance(self.seed, tuple):
            return self
        if index >= len(self.seed):
            raise SamplingError(f"{len(self.seed)} seeds, but prompt {index} has none",
                                hint="give one seed, or one per prompt")
        return replace(self, seed=self.seed[index])


def _freeze(params: SamplingParams) -> None:
    """Turn what callers naturally write (lists, one stop string, dicts with text keys) into frozen values."""
    def put(name: str, value: object) -> None:
        object.__setattr__(params, name, value)

    stop: Any = params.stop
    put("stop", (stop,) if isinstance(stop, str) else _tuple("stop", stop))
    put("stop_token_ids", tuple(_int("stop_token_ids", i) for i in _tuple("stop_token_ids", params.stop_token_ids)))
    bias: Any = params.logit_bias
    pairs = tuple(bias.items()) if isinstance(bias, Mapping) else _tuple("logit_bias", bias)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise SamplingError(f"logit_bias must map token ids to numbers, not {type(bias).__name__}")
    put("logit_bias", tuple(sorted({_id_key(k): _float("logit_bias", v) for k, v in pairs}.items())))
    seed: Any = params.seed
    if seed is not None:
        put("seed", _int("seed", seed) if not isinstance(seed, list | tuple)
            else tuple(_int("seed", s) for s in seed))
    for name in ("temperature", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff",
                 "repetition_penalty", "frequency_penalty", "presence_penalty"):
        put(name, _float(name, getattr(params, name)))
    for name in ("top_k", "no_repeat_ngram_size", "n", "min_tokens"):
        put(name, _int(name, getattr(params, name)))
    for name in ("max_tokens", "logprobs", "prompt_logprobs"):
        if getattr(params, name) is not None:
            put(name, _int(name, getattr(params, name)))
    for name in ("ignore_eos", "stop_in_constraint", "include_stop", "skip_special_tokens", "raw_logprobs"):
        if not isinstance(getattr(params, name), bool):
            raise SamplingError(f"{name} must be True or False, not {getattr(params, name)!r}")
    if params.time_limit is not None:
        put("time_limit", _float("time_limit", params.time_limit))


def _check_ranges(p: SamplingParams) -> None:
    _within("temperature", p.temperature, 0.0, 1e6)
    _within("top_p", p.top_p, 0.0, 1.0)
    _within("min_p", p.min_p, 0.0, 1.0)
    _within("typical_p", p.typical_p, 0.0, 1.0, open_low=True)
    _within("epsilon_cutoff", p.epsilon_cutoff, 0.0, 1.0, open_high=True)
    _within("eta_cutoff", p.eta_cutoff, 0.0, 1.0, open_high=True)
    _within("repetition_penalty", p.repetition_penalty, 0.0, 1e6, open_low=True)
    _within("frequency_penalty", p.frequency_penalty, -1e6, 1e6)
    _within("presence_penalty", p.presence_penalty, -1e6, 1e6)
    _within("top_k", p.top_k, -1, math.inf)
    _within("no_repeat_ngram_size", p.no_repeat_ngram_size, 0, math.inf)
    _within("n", p.n, 1, MAX_SAMPLES)
    _within("min_tokens", p.min_tokens, 0, math.inf)
    if p.max_tokens is not None:
        _within("max_tokens", p.max_tokens, 1 if p.prompt_logprobs is None else 0, math.inf)
    for name in ("logprobs", "prompt_logprobs"):
        if getattr(p, name) is not None:
            _within(name, getattr(p, name), 0, MAX_LOGPROBS)
    if p.time_limit is not None:
        _within("time_limit", p.time_limit, 0.0, math.inf, open_low=True)
    if p.order not in ("hf", "vllm"):
        raise SamplingError(f"order must be 'hf' or 'vllm', not {p.order!r}")
    for token_id, bias in p.bias_items:
        if math.isnan(bias) or bias == math.inf:
            raise SamplingError(f"logit_bias of token {token_id} is {bias}", hint="-inf bans a token; use a large "
                                "finite bias to prefer one")
    for token_id in (*(i for i, _ in p.bias_items), *p.stop_token_ids):
        if not 0 <= token_id < 1 << 31:
            raise SamplingError(f"token id {token_id} is out of range")
    if not all(isinstance(s, str) and s for s in p.stop):
        raise SamplingError("every stop string must be a non-empty str")
    if len(p.stop) > MAX_STOP_STRINGS or sum(map(len, p.stop)) > MAX_STOP_CHARS:
        raise SamplingError(f"at most {MAX_STOP_STRINGS} stop strings of {MAX_STOP_CHARS} characters in all")


def _check_contradictions(p: SamplingParams) -> None:
    if p.max_tokens is not None and p.min_tokens > p.max_tokens:
        raise SamplingError(f"min_tokens {p.min_tokens} is more than max_tokens {p.max_tokens}")
    if p.greedy and p.n > 1:
        raise SamplingError(f"n={p.n} samples at temperature {p.temperature} would all be the same text",
                            hint="use a temperature above 0, or beam search")
    if p.raw_logprobs and p.logprobs is None:
        raise SamplingError("raw_logprobs without logprobs", hint="set logprobs=0 for the chosen tokens alone")
    if p.include_stop and not p.stop:
        raise SamplingError("include_stop without a stop string")
    if p.stop_in_constraint and not (p.stop or p.stop_token_ids):
        raise SamplingError("stop_in_constraint without stop strings or stop_token_ids")
    banned_stops = set(p.bans) & set(p.stop_token_ids)
    if banned_stops:
        raise SamplingError(f"token {min(banned_stops)} is a stop token and banned by logit_bias")


def _within(name: str, value: float, low: float, high: float, *, open_low: bool = False,
            open_high: bool = False) -> None:
    above = value > low if open_low else value >= low
    below = value < high if open_high else value <= high
    if not (above and below):  # written so that NaN fails
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise SamplingError(f"{name} must be in {left}{low}, {high}{right}, not {value!r}")


def _int(name: str, value: Any) -> int:
    if isinstance(value, bool):
        raise SamplingError(f"{name} must be an integer, not {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise SamplingError(f"{name} must be an integer, not {value!r:.60}") from None


def _float(name: str, value: Any) -> float:
    if isinstance(value, bool | str | bytes):
        raise SamplingError(f"{name} must be a number, not {value!r:.60}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SamplingError(f"{name} must be a number, not {value!r:.60}") from None


def _id_key(key: Any) -> int:
    """A token id of ``logit_bias``; JSON clients send the keys as text."""
    if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 12:
        return int(key)
    return _int("logit_bias key", key)


def _tuple(name: str, value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise SamplingError(f"{name} must be a sequence, not {type(value).__name__}")
    return tuple(value)


FACTUAL = SamplingParams(temperature=0.2, top_p=0.9, repetition_penalty=1.05)
CREATIVE = SamplingParams(temperature=1.2, top_p=0.95)
STRUCTURED = SamplingParams(temperature=0.1)
"""For use with a constraint: the grammar gives the shape, the low temperature the content."""

PRESETS: Mapping[str, SamplingParams] = MappingProxyType(
    {"factual": FACTUAL, "creative": CREATIVE, "structured": STRUCTURED})
