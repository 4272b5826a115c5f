"""Linear maps of packed activations ``[M, in] -> [M, out]``: dense, or 4-bit weights with block scales.

They are called thousands of times a second, so they hold plain tensors and skip ``nn.Module``'s call machinery.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as functional

__all__ = ["DENSE_ROWS", "DenseLinear", "Int4Linear", "Linear"]

GROUP = 32
"""Weights that share a scale: the block of GGUF's Q4_0 and Q4_1."""
DENSE_ROWS = 16
"""Rows of activations from which dense bfloat16 weights beat the 4-bit kernel."""


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

    __slots__ = ("_transposed", "bias", "weight")

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


class Int4Linear:
    """4-bit weights with a scale and a minimum for each 32 of a row, as a GGUF file keeps them (Q4_0, Q4_1).

    The integers are exact; scales and minima are rounded to bfloat16. Small batches use torch's CPU kernel, which
    computes ``(q - 8) * scale + zero`` and is slow unless activations are bfloat16; from ``DENSE_ROWS`` rows on, a
    bfloat16 copy of the weights is faster (and is kept for that: 2 bytes a weight beside the half byte).
    """

    __slots__ = ("bias", "dense", "packed", "scales_and_zeros")

    def __init__(self, quants: torch.Tensor, scales: torch.Tensor, minima: torch.Tensor,
                 bias: torch.Tensor | None = None) -> None:
        """``quants`` uint8 ``[out, in]``, ``scales`` and ``minima`` float32 ``[out, in / 32]``."""
        rows, columns = quants.shape
        self.packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(quants.to(torch.int32), 1)
        zeros = minima + 8 * scales
        self.scales_and_zeros = torch.stack((scales, zeros), -1).transpose(0, 1).to(torch.bfloat16).contiguous()
        blocks = quants.view(rows, columns // GROUP, GROUP).float()
        self.dense = (blocks * scales[..., None] + minima[..., None]).view(rows, columns).to(torch.bfloat16)
        self.bias = bias

    def __call__(self, activations: torch.Tensor) -> torch.Tensor:
        if activations.shape[0] >= DENSE_ROWS:
            return functional.linear(activations, self.dense, self.bias)
        product: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
            activations, self.packed, GROUP, self.scales_and_zeros)
        return product if self.bias is None else product + self.bias

    def add_to(self, residual: torch.Tensor, activations: torch.Tensor) -> torch.Tensor:
        return residual + self(activations)

    @staticmethod
    def fits(rows: int, columns: int) -> bool:
        """Whether torch has the kernel and it takes a matrix of this size."""
        return hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu") and rows % 16 == 0 and columns % GROUP == 0
