"""What a checkpoint format offers to :mod:`assemble`: tensors by the Hugging Face names of the Llama family."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

__all__ = ["BlockQuantized", "TensorSource"]


@dataclass(frozen=True, slots=True)
class BlockQuantized:
    """Integer weights with a scale and a minimum for each 32 of a row: ``weight = scale * quant + minimum``.

    ``quants`` uint8 or int8 ``[out, in]``, ``scales`` and ``minima`` float32 ``[out, in / 32]``, ``bits`` 4 or 8.
    """

    quants: np.ndarray
    scales: np.ndarray
    minima: np.ndarray
    bits: int


class TensorSource(Protocol):
    """A checkpoint's tensors. ``norm_offset_added``: ``1 + w`` norms (Gemma) are stored as effective factors."""

    norm_offset_added: bool

    def names(self) -> Collection[str]:
        """All tensor names."""
        ...

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape, without reading it."""
        ...

    def tensor(self, name: str, dtype: torch.dtype) -> torch.Tensor:
        """A tensor on the CPU, converted once."""
        ...

    def quantized(self, name: str) -> BlockQuantized | None:
        """A matrix in its own integers where the format keeps 4- or 8-bit blocks of 32, else None."""
        ...
