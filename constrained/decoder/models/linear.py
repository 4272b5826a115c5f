"""Linear maps of packed activations ``[M, in] -> [M, out]``: dense, or 4-bit weights with block scales.

They are called thousands of times a second, so they hold plain tensors and skip ``nn.Module``'s call machinery.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as functional

__all__ = ["DenseLinear", "Linear"]


class Linear(Protocol):
    """A linear map of packed activations."""

    def __call__(self, activations: torch.Tensor) -> torch.Tensor:
        """``[M, in] -> [M, out]`` in the activations' dtype."""
        ...

    def add_to(self, residual: torch.Tensor, activations: torch.Tensor) -> torch.Tensor:
        """``residual [M, out]`` plus the map of ``activations``."""
        ...


class DenseLinear:
    """``x @ weight.T + bias`` with ``weight [out, in]`` in the model's dtype."""

    __slots__ = ("bias", "weight", "_transposed")

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias
        self._transposed = weight.t()

    def __call__(self, activations: torch.Tensor) -> torch.Tensor:
        return functional.linear(activations, self.weight, self.bias)

    def add_to(self, residual: torch.Tensor, activations: torch.Tensor) -> torch.Tensor:
        if self.bias is not None:
            return residual + functional.linear(activations, self.weight, self.bias)
        return torch.addmm(residual, activations, self._transposed)
