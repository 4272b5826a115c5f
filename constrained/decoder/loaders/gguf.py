"""GGUF checkpoints as a configuration and a :class:`TensorSource` under Hugging Face names.

Llama and Mistral files (architecture ``llama``) store the rows of each query and key head with the two halves of the
rotation interleaved; they are put back in order here, blocks and all (a row is a whole number of blocks). Gemma files
store norms with the offset 1 already added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

import numpy as np
import torch

from constrained.decoder.errors import CheckpointError
from constrained.decoder.loaders.gguf_file import GGUFFile
from constrained.decoder.loaders.gguf_quants import dequantize, nibbles
from constrained.decoder.loaders.source import BlockQuantized
from constrained.decoder.models.config import ModelConfig, RopeConfig, checked_layers
from constrained.errors import echo

__all__ = ["ARCHITECTURES", "GGUFSource", "config_from_gguf"]

_LAYER_NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_PLAIN_NORMS = {"ffn_norm": "post_attention_layernorm"}
_SANDWICH_NORMS = {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
                   "post_ffw_norm": "post_feedforward_layernorm"}
_TOP_NAMES = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
              "output.weight": "lm_head.weight"}
_BLOCK = re.compile(r"blk\.(\d+)\.([a-z_]+)\.(weight|bias)")
_FREQUENCIES = "rope_freqs.weight"

GEMMA3_27B_LAYERS = 62
GEMMA3_PATTERN = 6
T = TypeVar("T", int, float, str)


class _Metadata:
    """Typed access to the keys of one architecture."""

    def __init__(self, metadata: Mapping[str, object], architecture: str) -> None:
        self._metadata = metadata
        self._architecture = architecture

    def get(self, key: str, kind: type[T]) -> T | None:
        name = f"{self._architecture}.{key}"
        value = self._metadata.get(name)
        if value is None:
            return None
        if kind is float and isinstance(value, int):
            value = float(value)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise CheckpointError(f"GGUF key {echo(name)} should be {kind.__name__}, it is {type(value).__name__}")
        return value

    def need(self, key: str, kind: type[T]) -> T:
        value = self.get(key, kind)
        if value is None:
            raise CheckpointError(f"the GGUF file lacks {self._architecture}.{key}")
        return value


def config_from_gguf(file: GGUFFile) -> ModelConfig:
    """The model a GGUF file describes. :class:`CheckpointError` for architectures not in :data:`ARCHITECTURES`."""
    architecture = file.metadata.get("general.architecture")
    build = ARCHITECTURES.get(architecture) if isinstance(architecture, str) else None
    if build is None:
        raise CheckpointError(f"unknown GGUF architecture {echo(str(architecture))}",
                              hint=f"known: {', '.join(ARCHITECTURES)}")
    return build(file, _Metadata(file.metadata, str(architecture)))


def _common(file: GGUFFile, metadata: _Metadata, family: str, **changes: object) -> ModelConfig:
    hidden, heads = metadata.need("embedding_length", int), metadata.need("attention.head_count", int)
    layers = checked_layers(metadata.need("block_count", int))
    if metadata.get("expert_count", int):
        raise CheckpointError("mixture-of-experts models are not supported")
    if heads < 1:
        raise CheckpointError(f"a model of {heads} attention heads cannot be")
    embedding = file.tensors.get("token_embd.weight")
    if embedding is None or len(embedding.shape) != 2:
        raise CheckpointError("the GGUF file has no matrix 'token_embd.weight'")
    head_dim = metadata.get("attention.key_length", int) or hidden // heads
    rotated = metadata.get("rope.dimension_count", int)
    if rotated not in (None, head_dim):
        raise CheckpointError(f"rotary embeddings of {rotated} of {head_dim} dimensions are not supported")
    fields: dict[str, object] = {
        "family": family,
        "vocab_size": embedding.shape[0],
        "hidden_size": hidden,
        "intermediate_size": metadata.need("feed_forward_length", int),
        "n_layers": layers,
        "n_heads": heads,
        "n_kv_heads": metadata.get("attention.head_count_kv", int) or heads,
        "head_dim": head_dim,
        "max_position": metadata.need("context_length", int),
        "rms_norm_eps": _epsilon(metadata.need("attention.layer_norm_rms_epsilon", float)),
        "ropes": (_rope(file, metadata, metadata.get("rope.freq_base", float) or 10000.0),),
        "layer_ropes": (0,) * layers,
        "layer_windows": (metadata.get("attention.sliding_window", int) or None,) * layers,
        "tied": "output.weight" not in file.tensors,
        "bos_token_id": _token(file, "bos_token_id"),
        "eos_token_ids": _end_tokens(file),
        "pad_token_id": _token(file, "padding_token_id"),
    }
    return ModelConfig(**{**fields, **changes})  # type: ignore[arg-type]


def _epsilon(stored: float) -> float:
    """GGUF keeps the epsilon in float32; the decimal that rounds to it is what the model was trained with."""
    return float(f"{stored:.6g}")


def _rope(file: GGUFFile, metadata: _Metadata, theta: float) -> RopeConfig:
    factors = None
    if (tensor := file.tensors.get(_FREQUENCIES)) is not None:
        factors = tuple(dequantize(tensor.data, tensor.type_name).reshape(-1).tolist())
    kind = metadata.get("rope.scaling.type", str)
    factor = metadata.get("rope.scaling.factor", float)
    if kind in (None, "none"):
        return RopeConfig(theta, frequency_factors=factors)
    if kind not in ("linear", "yarn"):
        raise CheckpointError(f"unknown rope.scaling.type {echo(str(kind))}", hint="known: none, linear, yarn")
    parameters = {"factor": 1.0 if factor is None else factor}
    if kind == "yarn":
        context = metadata.get("rope.scaling.original_context_length", int) or metadata.need("context_length", int)
        parameters["original_max_position_embeddings"] = context
    return RopeConfig(theta, kind, parameters, factors)


def _token(file: GGUFFile, key: str) -> int | None:
    value = file.metadata.get(f"tokenizer.ggml.{key}")
    return value if isinstance(value, int) else None


def _end_tokens(file: GGUFFile) -> tuple[int, ...]:
    """Ends of text, of a turn, of a message: a model may write any of them last."""
    found = (_token(file, f"{name}_token_id") for name in ("eos", "eot", "eom"))
    return tuple(dict.fromkeys(token for token in found if token is not None))


def _has(file: GGUFFile, name: str) -> bool:
    return f"blk.0.{name}" in file.tensors


def _llama(file: GGUFFile, metadata: _Metadata) -> ModelConfig:
    return _common(file, metadata, "llama", qkv_bias=_has(file, "attn_q.bias"),
                   output_bias=_has(file, "attn_output.bias"), mlp_bias=_has(file, "ffn_up.bias"))


def _qwen2(file: GGUFFile, metadata: _Metadata) -> ModelConfig:
    return _common(file, metadata, "qwen2", qkv_bias=True)


def _qwen3(file: GGUFFile, metadata: _Metadata) -> ModelConfig:
    return _common(file, metadata, "qwen3", qk_norm=True, qkv_bias=_has(file, "attn_q.bias"))


def _gemma3(file: GGUFFile, metadata: _Metadata) -> ModelConfig:
    """Five local layers (window, base 10000, never scaled) for each global one (Gemma 3 report, section 2)."""
    hidden, heads = metadata.need("embedding_length", int), metadata.need("attention.head_count", int)
    layers = checked_layers(metadata.need("block_count", int))
    window = metadata.need("attention.sliding_window", int)
    pattern = metadata.get("attention.sliding_window_pattern", int) or GEMMA3_PATTERN
    local = tuple(bool((index + 1) % pattern) for index in range(layers))
    ropes = (_rope(file, metadata, metadata.get("rope.freq_base", float) or 1000000.0),
             RopeConfig(metadata.get("rope.freq_base_swa", float) or 10000.0))
    scale = metadata.get("attention.scale", float)
    if scale is None and layers == GEMMA3_27B_LAYERS:
        scale = (hidden // max(heads, 1)) ** -0.5  # the largest model scales by hidden / heads, not by head_dim
    return _common(file, metadata, "gemma3", ropes=ropes, layer_ropes=tuple(int(one) for one in local),
                   layer_windows=tuple(window if one else None for one in local), activation="gelu_tanh",
                   qk_norm=True, post_norms=True, norm_offset=True, embedding_scale=hidden**0.5,
                   attention_scale=scale, final_softcap=metadata.get("final_logit_softcapping", float))


ARCHITECTURES: Mapping[str, Callable[[GGUFFile, _Metadata], ModelConfig]] = {
    "llama": _llama, "qwen2": _qwen2, "qwen3": _qwen3, "gemma3": _gemma3,
}


class GGUFSource:
    """Tensors of a GGUF file by Hugging Face name; unknown ones keep their own name, so that they are reported."""

    norm_offset_added = True

    def __init__(self, file: GGUFFile, config: ModelConfig) -> None:
        self._config = config
        self._interleaved = config.family == "llama"
        norms = _SANDWICH_NORMS if config.post_norms else _PLAIN_NORMS
        self._tensors = {}
        for name, tensor in file.tensors.items():
            if name != _FREQUENCIES:
                self._tensors[_hugging_face_name(name, norms)] = tensor

    def names(self) -> Collection[str]:
        return self._tensors.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        return self._tensors[name].shape

    def tensor(self, name: str, dtype: torch.dtype) -> torch.Tensor:
        tensor = self._tensors[name]
        data = self._ordered(name, tensor.data)
        values = dequantize(data, tensor.type_name).reshape(tensor.shape)
        return torch.from_numpy(values if values.flags.writeable else values.copy()).to(dtype)

    def quantized(self, name: str) -> BlockQuantized | None:
        tensor = self._tensors[name]
        if tensor.type_name not in ("Q4_0", "Q4_1", "Q8_0"):
            return None
        rows, columns = tensor.shape
        data = self._ordered(name, tensor.data).reshape(rows * columns // 32, -1)
        scales = np.ascontiguousarray(data[:, :2]).view("<f2").astype(np.float32)
        quants: np.ndarray
        if tensor.type_name == "Q8_0":
            quants, minima, bits = data[:, 2:].view(np.int8), np.zeros_like(scales), 8
        elif tensor.type_name == "Q4_0":
            quants, minima, bits = nibbles(data[:, 2:]), np.float32(-8) * scales, 4
        else:
            quants, bits = nibbles(data[:, 4:]), 4
            minima = np.ascontiguousarray(data[:, 2:4]).view("<f2").astype(np.float32)
        return BlockQuantized(quants.reshape(rows, columns), scales.reshape(rows, -1), minima.reshape(rows, -1), bits)

    def _ordered(self, name: str, data: np.ndarray) -> np.ndarray:
        """Raw rows with interleaved query and key heads put back: row ``2 j + h`` of a head is row ``h * d/2 + j``."""
        heads = {"q_proj": self._config.n_heads, "k_proj": self._config.n_kv_heads}.get(name.split(".")[-2])
        if not self._interleaved or heads is None:
            return data
        if name.endswith(".bias"):
            data = data.reshape(heads * self._config.head_dim, -1)
        pairs = data.reshape(heads, self._config.head_dim // 2, 2, data.shape[-1])
        return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(-1, data.shape[-1])


def _hugging_face_name(name: str, norms: Mapping[str, str]) -> str:
    if name in _TOP_NAMES:
        return _TOP_NAMES[name]
    match = _BLOCK.fullmatch(name)
    if match is None:
        return name
    part = _LAYER_NAMES.get(match[2]) or norms.get(match[2])
    return name if part is None else f"model.layers.{match[1]}.{part}.{match[3]}"
