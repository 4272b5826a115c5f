"""T5 checkpoints (safetensors directories of ``model_type`` t5): configuration, checked tensors, assembled model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.loaders.assemble import check_tensors
from constrained.decoder.loaders.source import TensorSource
from constrained.decoder.models.activations import HUGGING_FACE_NAMES
from constrained.decoder.models.config import checked_layers
from constrained.decoder.models.head import OutputHead
from constrained.decoder.models.norm import RMSNorm
from constrained.decoder.models.t5 import T5Block, T5Config, T5Model, T5Stack
from constrained.errors import echo

__all__ = ["assemble_t5", "t5_config"]

EMBEDDING, HEAD = "shared.weight", "lm_head.weight"
COPIES = frozenset({"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", HEAD})
"""What a checkpoint may hold beside the shared embedding: a head of its own is used, the others are the same matrix."""
OLD_BIAS = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
"""A tensor of the first checkpoints that the model never used."""


def t5_config(raw: Mapping[str, Any]) -> T5Config:
    """``config.json`` of a T5 model. :class:`CheckpointError` where a key is missing or a setting is not supported."""
    projection = str(raw.get("feed_forward_proj", "relu"))
    gated, _, name = projection.rpartition("-")
    if gated not in ("", "gated") or (activation := HUGGING_FACE_NAMES.get(name)) is None:
        raise CheckpointError(f"unknown feed_forward_proj {echo(projection)}")
    if projection == "gated-gelu":
        activation = "gelu_tanh"  # the name stands for the approximation in this family
    try:
        eos = raw.get("eos_token_id", 1)
        return T5Config(
            family="t5", vocab_size=raw["vocab_size"], hidden_size=raw["d_model"],
            n_layers=checked_layers(raw.get("num_decoder_layers") or raw["num_layers"]),
            n_encoder_layers=checked_layers(raw["num_layers"]), n_heads=raw["num_heads"],
            n_kv_heads=raw["num_heads"], head_dim=raw["d_kv"], intermediate_size=raw["d_ff"],
            max_position=raw.get("n_positions", 512), layer_norm_eps=raw.get("layer_norm_epsilon", 1e-6),
            n_buckets=raw.get("relative_attention_num_buckets", 32),
            max_distance=raw.get("relative_attention_max_distance", 128), activation=activation, gated=bool(gated),
            scale_outputs=_scales(raw), decoder_start_token_id=raw.get("decoder_start_token_id") or 0,
            pad_token_id=raw.get("pad_token_id", 0), eos_token_ids=tuple(eos) if isinstance(eos, list) else (eos,))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"config.json of a t5 model is not usable: {type(error).__name__}: "
                              f"{echo(str(error))}") from error


def _scales(raw: Mapping[str, Any]) -> bool:
    """T5 1.0 scales its outputs; 1.1 says ``tie_word_embeddings: false`` and does not."""
    if "scale_decoder_outputs" in raw:
        return bool(raw["scale_decoder_outputs"])
    return raw.get("tie_word_embeddings") is not False


def assemble_t5(config: T5Config, source: TensorSource, *, dtype: torch.dtype, device: torch.device) -> T5Model:
    """Read and place all weights. Raises as :func:`constrained.decoder.loaders.assemble.assemble`."""
    if dtype == torch.float16:
        raise ModelError("T5 overflows in float16", hint="use bfloat16 or float32")
    check_tensors(_expected_shapes(config), source, config.family, COPIES | {OLD_BIAS})

    def read(name: str) -> torch.Tensor:
        return source.tensor(name, dtype).to(device)

    def norm(name: str) -> RMSNorm:
        return RMSNorm(read(name), config.layer_norm_eps)

    def joined(prefix: str, parts: tuple[str, ...]) -> torch.Tensor:
        return torch.cat([read(f"{prefix}.{part}.weight") for part in parts])

    def block(stack: str, index: int) -> T5Block:
        layer = f"{stack}.block.{index}.layer"
        decoder = stack == "decoder"
        last = f"{layer}.{2 if decoder else 1}"
        return T5Block(
            self_norm=norm(f"{layer}.0.layer_norm.weight"),
            qkv=joined(f"{layer}.0.SelfAttention", ("q", "k", "v")),
            self_output=read(f"{layer}.0.SelfAttention.o.weight"),
            cross_norm=norm(f"{layer}.1.layer_norm.weight") if decoder else None,
            cross_query=read(f"{layer}.1.EncDecAttention.q.weight") if decoder else None,
            cross_kv=joined(f"{layer}.1.EncDecAttention", ("k", "v")) if decoder else None,
            cross_output=read(f"{layer}.1.EncDecAttention.o.weight") if decoder else None,
            ff_norm=norm(f"{last}.layer_norm.weight"),
            inner=joined(f"{last}.DenseReluDense", _inner_names(config)),
            outer=read(f"{last}.DenseReluDense.wo.weight"))

    def stack(name: str, layers: int) -> T5Stack:
        return T5Stack(tuple(block(name, index) for index in range(layers)), read(_bias_name(name)),
                       norm(f"{name}.final_layer_norm.weight"))

    embedding = read(EMBEDDING)
    head = read(HEAD) if HEAD in source.names() else embedding
    return T5Model(config, embedding, stack("encoder", config.n_encoder_layers), stack("decoder", config.n_layers),
                   OutputHead(head), dtype=dtype)


def _bias_name(stack: str) -> str:
    return f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


def _inner_names(config: T5Config) -> tuple[str, ...]:
    return ("wi_0", "wi_1") if config.gated else ("wi",)


def _expected_shapes(config: T5Config) -> dict[str, tuple[int, ...]]:
    hidden, inner, heads = config.hidden_size, config.intermediate_size, config.query_size
    shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (config.vocab_size, hidden)}
    for stack, layers in (("encoder", config.n_encoder_layers), ("decoder", config.n_layers)):
        shapes[_bias_name(stack)] = (config.n_buckets, config.n_heads)
        shapes[f"{stack}.final_layer_norm.weight"] = (hidden,)
        kinds = ("SelfAttention", "EncDecAttention") if stack == "decoder" else ("SelfAttention",)
        for index in range(layers):
            layer = f"{stack}.block.{index}.layer"
            for place in range(len(kinds) + 1):
                shapes[f"{layer}.{place}.layer_norm.weight"] = (hidden,)
            for place, kind in enumerate(kinds):
                for part in "qkv":
                    shapes[f"{layer}.{place}.{kind}.{part}.weight"] = (heads, hidden)
                shapes[f"{layer}.{place}.{kind}.o.weight"] = (hidden, heads)
            for part in _inner_names(config):
                shapes[f"{layer}.{len(kinds)}.DenseReluDense.{part}.weight"] = (inner, hidden)
            shapes[f"{layer}.{len(kinds)}.DenseReluDense.wo.weight"] = (hidden, inner)
    return shapes
