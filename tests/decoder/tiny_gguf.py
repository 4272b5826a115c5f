"""GGUF files of the tiny models, written with the ``gguf`` package the way llama.cpp's converter does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")

TYPES = gguf.GGMLQuantizationType
NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
PLAIN = {"post_attention_layernorm": "ffn_norm"}
SANDWICH = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
            "post_feedforward_layernorm": "post_ffw_norm"}
TOP = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
       "lm_head.weight": "output.weight"}


def interleave(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head's two halves, taken in turn: how llama.cpp keeps Llama's queries and keys."""
    return values.reshape(heads, 2, -1, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def write(model: Any, path: Path, architecture: str, kind: Any = TYPES.F32, *, leave_out: str = "",
          more: dict[str, Any] | None = None, keep_f32: tuple[str, ...] = (),
          kinds: dict[str, Any] | None = None) -> None:
    """``model`` (a transformers causal LM) as a GGUF file; matrices in ``kind`` or ``kinds[name]``, vectors in F32."""
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(head_dim)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if rope.get("rope_type") == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if architecture == "gemma3":
        writer.add_sliding_window(config.sliding_window)
        writer.add_uint32("gemma3.attention.sliding_window_pattern", config._sliding_window_pattern)
        writer.add_float32("gemma3.attention.scale", config.query_pre_attn_scalar**-0.5)
    writer.add_eos_token_id(2)
    for key, value in (more or {}).items():
        writer.add_key_value(key, value, gguf.GGUFValueType.UINT32)
    norms = SANDWICH if architecture == "gemma3" else PLAIN
    for name, parameter in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = parameter.float().numpy()
        if architecture == "gemma3" and "norm" in name:
            values = values + 1
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            values = interleave(values, heads)
        target = TOP.get(name)
        if target is None:
            _, _, layer, part = name.split(".", 3)
            part, suffix = part.rsplit(".", 1)
            target = f"blk.{layer}.{NAMES.get(part) or norms[part]}.{suffix}"
        if target == leave_out:
            continue
        own = (kinds or {}).get(target, kind)
        dense = values.ndim == 1 or own == TYPES.F32 or target in keep_f32
        data = np.ascontiguousarray(values, np.float32) if dense else gguf.quants.quantize(values, own)
        writer.add_tensor(target, data, raw_dtype=TYPES.F32 if dense else own)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
