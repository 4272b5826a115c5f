"""A configuration and a checkpoint's tensors to a :class:`DecoderModel`: names and shapes checked, weights fused.

All checks come before the first tensor is read: a checkpoint with a missing, extra or misshapen tensor fails at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

import numpy as np
import torch

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.loaders.source import TensorSource
from constrained.decoder.models.config import ModelConfig
from constrained.decoder.models.head import OutputHead
from constrained.decoder.models.int8_weight import Int8Weight
from constrained.decoder.models.linear import DenseLinear, Int4Linear, Linear
from constrained.decoder.models.norm import RMSNorm
from constrained.decoder.models.transformer import DecoderModel, LayerWeights
from constrained.errors import echo

__all__ = ["assemble", "check_tensors", "expected_shapes"]

EMBEDDING, FINAL_NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"
IGNORED = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")
"""Buffers that old checkpoints carry and that follow from the configuration."""


def expected_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor the model needs, by Hugging Face name."""
    hidden, inner, query, kv = config.hidden_size, config.intermediate_size, config.query_size, config.kv_size
    shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (config.vocab_size, hidden), FINAL_NORM: (hidden,)}
    if not config.tied:
        shapes[HEAD] = (config.vocab_size, hidden)
    for index in range(config.n_layers):
        for part, size in (("q", query), ("k", kv), ("v", kv)):
            shapes[_name(index, f"self_attn.{part}_proj.weight")] = (size, hidden)
            if config.qkv_bias:
                shapes[_name(index, f"self_attn.{part}_proj.bias")] = (size,)
        shapes[_name(index, "self_attn.o_proj.weight")] = (hidden, query)
        for part, rows, columns in (("gate", inner, hidden), ("up", inner, hidden), ("down", hidden, inner)):
            shapes[_name(index, f"mlp.{part}_proj.weight")] = (rows, columns)
            if config.mlp_bias:
                shapes[_name(index, f"mlp.{part}_proj.bias")] = (rows,)
        if config.output_bias:
            shapes[_name(index, "self_attn.o_proj.bias")] = (hidden,)
        if config.qk_norm:
            shapes[_name(index, "self_attn.q_norm.weight")] = (config.head_dim,)
            shapes[_name(index, "self_attn.k_norm.weight")] = (config.head_dim,)
        for norm in _norm_names(config):
            shapes[_name(index, f"{norm}.weight")] = (hidden,)
    return shapes


def assemble(config: ModelConfig, source: TensorSource, *, dtype: torch.dtype, device: torch.device,
             quantized: bool = False) -> DecoderModel:
    """Read, fuse and place all weights.

    Raises :class:`CheckpointError` naming the first missing, extra or misshapen tensors, :class:`ModelError` where
    ``quantized`` finds nothing to keep quantised.
    """
    allowed = frozenset({HEAD}) if config.tied else frozenset()  # a tied checkpoint may store the same matrix twice
    check_tensors(expected_shapes(config), source, config.family, allowed)
    return _Assembler(config, source, dtype, device, quantized).model()


def check_tensors(expected: Mapping[str, tuple[int, ...]], source: TensorSource, family: str,
                  allowed: Collection[str]) -> None:
    """Names and shapes of ``source`` against ``expected``; ``allowed`` ones may be there too."""
    present = set(source.names())
    if missing := sorted(expected.keys() - present):
        raise CheckpointError(f"{len(missing)} tensors are missing: {_some(missing)}")
    extra = sorted(name for name in present - expected.keys() - set(allowed) if not IGNORED.fullmatch(name))
    if extra:
        raise CheckpointError(f"{len(extra)} tensors belong to no part of a {family} model: {_some(extra)}")
    for name, shape in expected.items():
        if tuple(source.shape(name)) != shape:
            raise CheckpointError(f"tensor {echo(name)} is {tuple(source.shape(name))}, the configuration says {shape}")


def _some(names: list[str]) -> str:
    return ", ".join(echo(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")


def _name(layer: int, part: str) -> str:
    return f"model.layers.{layer}.{part}"


def _norm_names(config: ModelConfig) -> tuple[str, ...]:
    if config.post_norms:
        return ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                "post_feedforward_layernorm")
    return ("input_layernorm", "post_attention_layernorm")


class _Assembler:
    """One load: turns names into placed weights."""

    def __init__(self, config: ModelConfig, source: TensorSource, dtype: torch.dtype, device: torch.device,
                 quantized: bool) -> None:
        self._quantized = quantized
        self._config = config
        self._source = source
        self._dtype = dtype
        self._device = device

    def model(self) -> DecoderModel:
        config = self._config
        embedding = self._source.tensor(EMBEDDING, self._dtype).to(self._device)
        head: torch.Tensor | Int8Weight | None
        head = self._eight_bits(EMBEDDING if config.tied else HEAD) if self._quantized else None
        if head is None:
            head = embedding if config.tied else self._source.tensor(HEAD, self._dtype).to(self._device)
        layers = [self._layer(index) for index in range(config.n_layers)]
        if self._quantized and not any(isinstance(layer.down, Int4Linear) for layer in layers):
            raise ModelError("the checkpoint has no matrices in 4-bit blocks of 32 (Q4_0, Q4_1) that the kernel takes",
                             hint="load it without quantized=True")
        return DecoderModel(config, embedding, layers, self._norm(FINAL_NORM),
                            OutputHead(head, config.final_softcap), dtype=self._dtype)

    def _layer(self, index: int) -> LayerWeights:
        config = self._config
        norms = [self._norm(_name(index, f"{norm}.weight")) for norm in _norm_names(config)]
        query_norm = key_norm = None
        if config.qk_norm:
            query_norm = self._norm(_name(index, "self_attn.q_norm.weight"))
            key_norm = self._norm(_name(index, "self_attn.k_norm.weight"))
        return LayerWeights(
            input_norm=norms[0],
            qkv=self._linear([_name(index, f"self_attn.{part}_proj") for part in "qkv"], config.qkv_bias),
            query_norm=query_norm,
            key_norm=key_norm,
            output=self._linear([_name(index, "self_attn.o_proj")], config.output_bias),
            attention_post_norm=norms[1] if config.post_norms else None,
            mlp_norm=norms[2] if config.post_norms else norms[1],
            gate_up=self._linear([_name(index, f"mlp.{part}_proj") for part in ("gate", "up")], config.mlp_bias),
            down=self._linear([_name(index, "mlp.down_proj")], config.mlp_bias),
            mlp_post_norm=norms[3] if config.post_norms else None,
        )

    def _norm(self, name: str) -> RMSNorm:
        """Families with an offset multiply by ``1 + w`` in float32, the others by ``w`` in the model's dtype."""
        eps = self._config.rms_norm_eps
        if not self._config.norm_offset:
            return RMSNorm(self._source.tensor(name, self._dtype).to(self._device), eps)
        weight = self._source.tensor(name, torch.float32).to(self._device)
        return RMSNorm(weight if self._source.norm_offset_added else 1.0 + weight, eps)

    def _linear(self, names: Iterable[str], bias: bool) -> Linear:
        names = list(names)
        biases = self._joined([f"{name}.bias" for name in names]) if bias else None
        weights = [f"{name}.weight" for name in names]
        if self._quantized and (packed := self._four_bits(weights, biases)) is not None:
            return packed
        return DenseLinear(self._joined(weights), biases)

    def _four_bits(self, names: list[str], bias: torch.Tensor | None) -> Int4Linear | None:
        """The matrices as one 4-bit map where all of them are stored so."""
        parts = [self._source.quantized(name) for name in names]
        blocks = [part for part in parts if part is not None and part.bits == 4]
        if len(blocks) < len(names) or not Int4Linear.fits(*np.concatenate([one.quants for one in blocks]).shape):
            return None
        quants, scales, minima = (torch.from_numpy(np.concatenate([getattr(one, field) for one in blocks]))
                                  for field in ("quants", "scales", "minima"))
        return Int4Linear(quants, scales, minima, bias)

    def _eight_bits(self, name: str) -> Int8Weight | None:
        """A matrix in 8-bit blocks where it is stored so."""
        blocks = self._source.quantized(name)
        if blocks is None or blocks.bits != 8:
            return None
        return Int8Weight(torch.from_numpy(np.ascontiguousarray(blocks.quants)), torch.from_numpy(blocks.scales))

    def _joined(self, names: list[str]) -> torch.Tensor:
        parts = [self._source.tensor(name, self._dtype) for name in names]
        return (parts[0] if len(parts) == 1 else torch.cat(parts)).to(self._device)
