"""The torch decoder: models, KV caches, samplers and a generation loop that knows the constraint.

Importing this package imports torch; the rest of the library runs without it.

In reading order: ``sampling_params`` (what a request asks for), ``samplers`` and ``chain`` (logits to a token),
``guide`` (what the grammar allows), ``sequence`` and ``scheduler`` (the loop), ``generate`` (the calls), ``beam``,
``drafters``. Models are in ``models``, read by ``loaders``; ``kv_cache`` and ``paged_cache`` hold their keys and
values. The calls ``generate`` and ``sample`` are in the modules of those names.
"""

from __future__ import annotations

from constrained.decoder.beam import BeamParams, Hypothesis, beam_search
from constrained.decoder.draft_model import DraftModel
from constrained.decoder.drafters import ChainDrafter, GrammarDrafter, PromptLookup
from constrained.decoder.errors import CacheError, CheckpointError, ModelError
from constrained.decoder.generate import Score, score, stream, unpad_left
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.lens import logit_lens
from constrained.decoder.loaders.load import LoadedModel, load_model
from constrained.decoder.logprobs import TokenLogprob
from constrained.decoder.request import Completion, FinishReason, Request, TokenEvent, Usage
from constrained.decoder.sampling_params import (
    CREATIVE,
    FACTUAL,
    PRESETS,
    STRUCTURED,
    RequestError,
    SamplingError,
    SamplingParams,
)
from constrained.decoder.scheduler import Scheduler

__all__ = [
    "CREATIVE",
    "FACTUAL",
    "PRESETS",
    "STRUCTURED",
    "BeamParams",
    "CacheError",
    "ChainDrafter",
    "CheckpointError",
    "Completion",
    "DraftModel",
    "FinishReason",
    "GrammarDrafter",
    "Hypothesis",
    "KVCache",
    "LoadedModel",
    "ModelError",
    "PromptLookup",
    "Request",
    "RequestError",
    "SamplingError",
    "SamplingParams",
    "Scheduler",
    "Score",
    "TokenEvent",
    "TokenLogprob",
    "Usage",
    "beam_search",
    "load_model",
    "logit_lens",
    "score",
    "stream",
    "unpad_left",
]
