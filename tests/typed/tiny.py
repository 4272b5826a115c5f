"""A random two-layer model with a byte vocabulary and a chat template: everything an ``LLM`` needs, in 0.1 s."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CHATML = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
CONTROL = ("<|pad|>", "<|im_start|>", "<|im_end|>")
WORDS = (b'{"', b'": ', b'", "', b'"}', b'"]', b"[]", b"name", b"age", b"true", b"false", b"null", b"the ", b"and ")
SIZE = 320
CONFIG = {"model_type": "llama", "vocab_size": SIZE, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
          "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": False, "bos_token_id": 1,
          "eos_token_id": 2, "pad_token_id": 0}


class Longest:
    """Longest match first."""

    def __init__(self, tokens: list[bytes]) -> None:
        self._ids = {token: i for i, token in reversed(list(enumerate(tokens))) if token}

    def encode(self, text: str) -> list[int]:
        data, ids, at = text.encode(), [], 0
        while at < len(data):
            size = next(n for n in (5, 4, 3, 2, 1) if data[at : at + n] in self._ids)
            ids.append(self._ids[data[at : at + size]])
            at += size
        return ids


def tiny_info() -> Any:
    from constrained.vocabulary import TokenizerInfo

    tokens = [b""] * 3 + [bytes([i]) for i in range(256)] + list(WORDS)
    tokens += [b""] * (SIZE - len(tokens))
    return TokenizerInfo([t or None for t in tokens], stop_token_ids=2, special_token_ids=(0, 1, 2),
                         token_texts=dict(enumerate(CONTROL)), encoder=Longest(tokens))


def tiny_model(template: str | None = CHATML) -> Any:
    """A ``LoadedModel``."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("jinja2")
    from constrained.decoder.loaders.assemble import assemble, expected_shapes
    from constrained.decoder.loaders.load import LoadedModel
    from constrained.decoder.loaders.module import ModuleSource
    from constrained.decoder.models.config_hf import config_from_dict

    random = torch.Generator().manual_seed(7)
    config = config_from_dict(CONFIG)
    state = {name: torch.ones(shape) if "norm" in name else torch.randn(shape, generator=random) * 0.1
             for name, shape in expected_shapes(config).items()}
    model = assemble(config, ModuleSource(state), dtype=torch.float32, device=torch.device("cpu"))
    return LoadedModel(model, tiny_info(), template, (2,), Path("tiny"), None)
