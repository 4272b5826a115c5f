"""``config.json`` of Hugging Face checkpoints to :class:`ModelConfig`, one small function a family.

Both spellings of RoPE are read: ``rope_parameters`` (transformers 5) and ``rope_theta`` with ``rope_scaling``. A
setting that would change results and that we do not run (attention soft caps, partial rotation, unknown activations)
is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from constrained.decoder.errors import CheckpointError
from constrained.decoder.models.activations import HUGGING_FACE_NAMES
from constrained.decoder.models.config import ModelConfig, RopeConfig, checked_layers
from constrained.decoder.models.rope import ROPE_KINDS
from constrained.errors import echo

__all__ = ["FAMILIES", "config_from_dict"]

_ROPE_NUMBERS = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings", "beta_fast",
                 "beta_slow", "attention_factor", "mscale", "mscale_all_dim", "truncate")
Raw = Mapping[str, Any]


def config_from_dict(raw: Raw) -> ModelConfig:
    """The model ``config.json`` describes. :class:`CheckpointError` for a family not in :data:`FAMILIES`, a missing
    key, or a setting that is not supported."""
    kind = raw.get("model_type")
    build = FAMILIES.get(kind) if isinstance(kind, str) else None
    if build is None:
        raise CheckpointError(f"unknown model_type {echo(str(kind))}", hint=f"known: {', '.join(FAMILIES)}")
    if raw.get("attn_logit_softcapping") is not None:
        raise CheckpointError("soft caps on attention scores (attn_logit_softcapping) are not supported")
    if raw.get("use_bidirectional_attention"):
        raise CheckpointError("bidirectional attention is not supported: this decoder is causal")
    if raw.get("quantization_config"):
        raise CheckpointError("checkpoints quantised by another library (quantization_config) are not supported")
    try:
        return build(raw)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"config.json of a {kind} model is not usable: {type(error).__name__}: "
                              f"{echo(str(error))}") from error


def _llama(raw: Raw) -> ModelConfig:
    bias = bool(raw.get("attention_bias", False))
    return _build(raw, "llama", qkv_bias=bias, output_bias=bias, mlp_bias=bool(raw.get("mlp_bias", False)))


def _mistral(raw: Raw) -> ModelConfig:
    window = raw.get("sliding_window")
    return _build(raw, "mistral", layer_windows=(window,) * checked_layers(raw["num_hidden_layers"]))


def _qwen2(raw: Raw) -> ModelConfig:
    return _build(raw, "qwen2", qkv_bias=True, layer_windows=_late_windows(raw))


def _qwen3(raw: Raw) -> ModelConfig:
    bias = bool(raw.get("attention_bias", False))
    return _build(raw, "qwen3", qkv_bias=bias, output_bias=bias, qk_norm=True, layer_windows=_late_windows(raw),
                  head_dim=raw.get("head_dim", 128))


def _gemma3(raw: Raw) -> ModelConfig:
    layers = checked_layers(raw["num_hidden_layers"])
    pattern = raw.get("sliding_window_pattern") or raw.get("_sliding_window_pattern") or 6
    types = raw.get("layer_types") or [
        "sliding_attention" if (index + 1) % pattern else "full_attention" for index in range(layers)]
    local = [_is_sliding(one) for one in types]
    parameters = raw.get("rope_parameters") or {}
    if "full_attention" in parameters:
        ropes = (_rope(raw, parameters["full_attention"], 1000000.0),
                 _rope(raw, parameters["sliding_attention"], 10000.0))
    else:
        ropes = (_rope(raw, parameters or raw.get("rope_scaling") or {}, raw.get("rope_theta", 1000000.0)),
                 RopeConfig(raw.get("rope_local_base_freq", 10000.0)))
    bias = bool(raw.get("attention_bias", False))
    return _build(raw, "gemma3", ropes=ropes, layer_ropes=tuple(int(one) for one in local),
                  layer_windows=tuple(raw.get("sliding_window", 4096) if one else None for one in local),
                  qkv_bias=bias, output_bias=bias, qk_norm=True, post_norms=True, norm_offset=True,
                  activation=_activation(raw.get("hidden_activation") or "gelu_pytorch_tanh"),
                  head_dim=raw.get("head_dim", 256), embedding_scale=math.sqrt(raw["hidden_size"]),
                  attention_scale=raw.get("query_pre_attn_scalar", 256) ** -0.5,
                  final_softcap=raw.get("final_logit_softcapping"),
                  tied=bool(raw.get("tie_word_embeddings", True)))


FAMILIES: Mapping[str, Callable[[Raw], ModelConfig]] = {
    "llama": _llama, "mistral": _mistral, "qwen2": _qwen2, "qwen3": _qwen3, "gemma3_text": _gemma3,
}


def _build(raw: Raw, family: str, **changes: Any) -> ModelConfig:
    layers, heads, hidden = checked_layers(raw["num_hidden_layers"]), raw["num_attention_heads"], raw["hidden_size"]
    fields: dict[str, Any] = {
        "family": family,
        "vocab_size": raw["vocab_size"],
        "hidden_size": hidden,
        "intermediate_size": raw["intermediate_size"],
        "n_layers": layers,
        "n_heads": heads,
        "n_kv_heads": raw.get("num_key_value_heads") or heads,
        "head_dim": raw.get("head_dim") or hidden // heads,
        "max_position": raw["max_position_embeddings"],
        "rms_norm_eps": raw.get("rms_norm_eps", 1e-6),
        "layer_ropes": (0,) * layers,
        "layer_windows": (None,) * layers,
        "activation": changes.get("activation") or _activation(raw.get("hidden_act", "silu")),
        "tied": bool(raw.get("tie_word_embeddings", False)),
        "bos_token_id": raw.get("bos_token_id"),
        "eos_token_ids": _ids(raw.get("eos_token_id")),
        "pad_token_id": raw.get("pad_token_id"),
    }
    if "ropes" not in changes:
        scaling = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
        fields["ropes"] = (_rope(raw, scaling, raw.get("rope_theta", 10000.0)),)
    return ModelConfig(**{**fields, **changes})


def _activation(name: str) -> str:
    if name not in HUGGING_FACE_NAMES:
        raise CheckpointError(f"unknown activation {echo(name)}", hint=f"known: {', '.join(HUGGING_FACE_NAMES)}")
    return HUGGING_FACE_NAMES[name]


def _ids(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (int(value),)  # type: ignore[call-overload]


def _is_sliding(layer_type: str) -> bool:
    if layer_type not in ("sliding_attention", "full_attention"):
        raise CheckpointError(f"unknown layer type {echo(layer_type)}")
    return layer_type == "sliding_attention"


def _late_windows(raw: Raw) -> tuple[int | None, ...]:
    """Qwen: a window on the layers from ``max_window_layers`` on, only if ``use_sliding_window``."""
    layers = checked_layers(raw["num_hidden_layers"])
    window = raw.get("sliding_window") if raw.get("use_sliding_window") else None
    if types := raw.get("layer_types"):
        return tuple(window if _is_sliding(one) else None for one in types)
    first = raw.get("max_window_layers", 28)
    return tuple(window if index >= first else None for index in range(layers))


def _rope(raw: Raw, scaling: Raw, theta: float) -> RopeConfig:
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    if kind not in ROPE_KINDS:
        raise CheckpointError(f"unknown kind of RoPE {echo(str(kind))}", hint=f"known: {', '.join(ROPE_KINDS)}")
    partial = scaling.get("partial_rotary_factor", raw.get("partial_rotary_factor"))
    if partial not in (None, 1, 1.0):
        raise CheckpointError(f"rotary embeddings of a part of a head ({partial}) are not supported")
    parameters = {name: scaling[name] for name in _ROPE_NUMBERS if scaling.get(name) is not None}
    if kind in ("llama3", "yarn"):
        outer = raw.get("original_max_position_embeddings")
        if outer is not None:
            parameters["original_max_position_embeddings"] = outer
        parameters.setdefault("original_max_position_embeddings", raw["max_position_embeddings"])
    return RopeConfig(float(scaling.get("rope_theta") or theta), kind, parameters)
