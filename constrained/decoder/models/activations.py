"""The activation functions of feed-forward layers, by the names of configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as functional

__all__ = ["ACTIVATION_FUNCTIONS", "HUGGING_FACE_NAMES"]


def _gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x, approximate="tanh")


ACTIVATION_FUNCTIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "silu": functional.silu, "gelu": functional.gelu, "gelu_tanh": _gelu_tanh, "relu": functional.relu,
}

HUGGING_FACE_NAMES: Mapping[str, str] = {
    "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh",
    "relu": "relu",
}
"""Spellings of ``config.json``."""
