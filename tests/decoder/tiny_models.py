"""Random two-layer checkpoints of every family, built by transformers and saved as safetensors directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

VOCAB = 199
SIZES = {"vocab_size": VOCAB, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3,
         "num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 64, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}

YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}


def _llama(**changes: Any) -> Any:
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**SIZES, **changes}))


def _gemma3(**changes: Any) -> Any:
    sizes = {**SIZES, "head_dim": 16, "sliding_window": 7, "sliding_window_pattern": 2, "query_pre_attn_scalar": 24}
    return transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**{**sizes, **changes}))


FAMILIES: dict[str, Callable[[], Any]] = {
    "llama": _llama,
    "llama-tied": lambda: _llama(tie_word_embeddings=True),
    "llama-mha-bias": lambda: _llama(num_key_value_heads=6, attention_bias=True, mlp_bias=True),
    "llama-llama3-rope": lambda: _llama(rope_parameters=dict(LLAMA3)),
    "llama-linear-rope": lambda: _llama(rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}),
    "llama-yarn-rope": lambda: _llama(rope_parameters=dict(YARN)),
    "llama-head-dim": lambda: _llama(head_dim=16),
    "mistral": lambda: transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, sliding_window=None)),
    "mistral-window": lambda: transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, sliding_window=9)),
    "qwen2": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SIZES)),
    "qwen2-window": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        **SIZES, use_sliding_window=True, sliding_window=8, max_window_layers=1)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES, head_dim=16)),
    "qwen3-yarn": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(
        **SIZES, head_dim=16, rope_parameters=dict(YARN))),
    "gemma3": _gemma3,
    "gemma3-softcap": lambda: _gemma3(final_logit_softcapping=5.0),
}


def make(name: str, directory: Path | None = None) -> Any:
    """A random float32 model of one family; with ``directory`` it is saved there. Weights are drawn wide enough that
    logits differ by whole numbers, and norms away from one, so that a wrong norm or scale cannot hide."""
    torch.manual_seed(sum(map(ord, name)))
    model = FAMILIES[name]().eval().to(torch.float32)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if "norm" in parameter_name:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            else:
                parameter.copy_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.15))
    model.generation_config.eos_token_id = 2
    if directory is not None:
        model.save_pretrained(directory)
    return model


def reference_logits(model: Any, ids: list[int]) -> Any:
    """Float32 logits ``[len(ids), V]`` of one sequence by transformers."""
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].float()
