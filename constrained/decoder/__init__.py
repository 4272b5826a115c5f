"""The torch decoder: models, KV caches, samplers and a generation loop that knows the constraint.

torch is imported with the first name that needs it: what a request asks for (``SamplingParams``) does not.

In reading order: ``sampling_params`` (what a request asks for), ``samplers`` and ``chain`` (logits to a token),
``guide`` (what the grammar allows), ``sequence`` and ``scheduler`` (the loop), ``generate`` (the calls), ``beam``,
``drafters``. Models are in ``models``, read by ``loaders``; ``kv_cache`` and ``paged_cache`` hold their keys and
values. The calls ``generate`` and ``sample`` are in the modules of those names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_NAMES = {
    "beam": ("BeamParams", "Hypothesis", "beam_search"),
    "draft_model": ("DraftModel",),
    "drafters": ("ChainDrafter", "GrammarDrafter", "PromptLookup"),
    "errors": ("CacheError", "CheckpointError", "ModelError"),
    "generate": ("Score", "score", "stream", "unpad_left"),
    "kv_cache": ("KVCache",),
    "lens": ("logit_lens",),
    "loaders.load": ("LoadedModel", "load_model"),
    "logprobs": ("TokenLogprob",),
    "request": ("Completion", "FinishReason", "Request", "TokenEvent", "Usage"),
    "sampling_params": ("CREATIVE", "FACTUAL", "PRESETS",
                        "STRUCTURED", "RequestError", "SamplingError", "SamplingParams"),
    "scheduler": ("Scheduler",),
}
"""Modules and what is taken from each, imported when first asked for: only some of them need torch."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

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


def __getattr__(name: str) -> Any:
    """The names of ``_NAMES``."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
