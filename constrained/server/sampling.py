"""The sampling fields of a request as :class:`SamplingParams`, every number within a range."""

from __future__ import annotations

from typing import Any

from constrained.decoder.sampling_params import SamplingParams
from constrained.server.fields import Fields
from constrained.server.problems import from_library
from constrained.server.settings import ServerSettings

__all__ = ["SAMPLING_FIELDS", "sampling_params"]

SAMPLING_FIELDS = frozenset({
    "temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty", "frequency_penalty",
    "presence_penalty", "no_repeat_ngram_size", "logit_bias", "seed", "n", "max_tokens", "max_completion_tokens",
    "max_output_tokens", "min_tokens", "stop", "stop_token_ids", "ignore_eos", "include_stop_str_in_output"})

MAX_STOPS = 64
MAX_BIASES = 4_096
MAX_TOP_LOGPROBS = 20


def sampling_params(fields: Fields, settings: ServerSettings, *, constrained: bool, logprobs: int | None = None,
                    skip_special_tokens: bool = True, default_tokens: int | None = None,
                    prompt_logprobs: int | None = None) -> SamplingParams:
    """Raises :class:`ApiError` naming the field that is wrong. ``max_tokens`` may be 0 where prompts are scored."""
    n = fields.integer("n", 1, low=1, high=settings.max_samples) or 1
    limits = [fields.integer(name, low=1 if prompt_logprobs is None else 0, high=settings.max_len)
              for name in ("max_completion_tokens", "max_output_tokens", "max_tokens")]
    max_tokens = next((one for one in limits if one is not None), default_tokens)
    stop = _stops(fields)
    try:
        return SamplingParams(
            temperature=fields.number("temperature", 1.0, low=0.0, high=100.0),
            top_p=fields.number("top_p", 1.0, low=0.0, high=1.0),
            top_k=fields.integer("top_k", 0, low=-1, high=1 << 30) or 0,
            min_p=fields.number("min_p", 0.0, low=0.0, high=1.0),
            typical_p=fields.number("typical_p", 1.0, low=1e-6, high=1.0),
            repetition_penalty=fields.number("repetition_penalty", 1.0, low=0.01, high=100.0),
            frequency_penalty=fields.number("frequency_penalty", 0.0, low=-2.0, high=2.0),
            presence_penalty=fields.number("presence_penalty", 0.0, low=-2.0, high=2.0),
            no_repeat_ngram_size=fields.integer("no_repeat_ngram_size", 0, low=0, high=1_000) or 0,
            logit_bias=_biases(fields), seed=fields.integer("seed", low=-(1 << 63), high=(1 << 64) - 1), n=n,
            max_tokens=max_tokens,
            min_tokens=fields.integer("min_tokens", 0, low=0, high=settings.max_len) or 0,
            stop=stop, stop_token_ids=_ids(fields, "stop_token_ids"),
            ignore_eos=fields.flag("ignore_eos") and not constrained,
            include_stop=fields.flag("include_stop_str_in_output") and bool(stop),
            skip_special_tokens=skip_special_tokens, logprobs=logprobs, prompt_logprobs=prompt_logprobs)
    except ValueError as error:  # SamplingError: a contradiction between fields
        raise from_library(error, param=_named(str(error))) from None


def _named(message: str) -> str | None:
    """The field that a message begins with."""
    word = message.split(" ", 1)[0].split("=", 1)[0]
    return word if word in SAMPLING_FIELDS else None


def _stops(fields: Fields) -> tuple[str, ...]:
    value = fields.value.get("stop")
    if isinstance(value, str):
        value = [value]
        fields = Fields({**fields.value, "stop": value}, fields.path)
    found: list[str] = []
    for one in fields.items("stop", limit=MAX_STOPS):
        if not isinstance(one, str) or not 0 < len(one) <= 1_000:
            raise fields.wrong("stop", "must be texts of 1 to 1000 characters")
        found.append(one)
    return tuple(found)


def _ids(fields: Fields, key: str) -> tuple[int, ...]:
    found = fields.items(key, limit=MAX_STOPS)
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 1 << 31 for one in found):
        raise fields.wrong(key, "must be token ids")
    return tuple(found)


def _biases(fields: Fields) -> dict[int, float]:
    found = fields.object("logit_bias")
    if found is None:
        return {}
    if len(found.value) > MAX_BIASES:
        raise fields.wrong("logit_bias", f"has more than {MAX_BIASES} entries")
    biases: dict[int, float] = {}
    for key in found.value:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise fields.wrong("logit_bias", f"{key[:40]!r} is not a token id")
        biases[int(key)] = found.number(key, 0.0, low=-100.0, high=100.0)
    return biases


def chat_logprobs(fields: Fields) -> int | None:
    """``logprobs`` and ``top_logprobs`` of a chat request: how many likeliest tokens, None for none at all."""
    top = fields.integer("top_logprobs", low=0, high=MAX_TOP_LOGPROBS)
    wanted: Any = fields.optional_flag("logprobs")
    if not wanted:
        if top:
            raise fields.wrong("top_logprobs", "needs logprobs: true")
        return None
    return top or 0
