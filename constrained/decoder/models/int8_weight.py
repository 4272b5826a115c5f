"""A matrix of 8-bit integers with a scale for each 32 of a row, as GGUF's Q8_0 keeps it: ``weight = q * scale``.

Products are float32 and exact in the weights. Few rows of activations go through the compiled kernel, which reads a
byte a weight and is bound by memory (49152 x 576, one thread: 3.1 ms a row, against 6.6 for bfloat16 weights); more
rows, and builds without compiled kernels, widen blocks of rows into one small buffer and multiply from there.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional

from constrained.kernel import token_step as kernel

__all__ = ["Int8Weight"]

GROUP = 32
KERNEL_ROWS = 5
"""With more rows of activations widening the weights first is faster (8 rows: 13.6 to 14.3 ms; 4 rows: 11.1 to 7.2)."""
BUFFER_BYTES = 2 << 20


class Int8Weight:
    """``quants`` int8 ``[out, in]``, ``scales`` float32 ``[out, in / 32]``, on a CPU."""

    __slots__ = ("_quants", "_scales", "shape")

    def __init__(self, quants: torch.Tensor, scales: torch.Tensor) -> None:
        self._quants = quants.contiguous()
        self._scales = scales.contiguous()
        self.shape = tuple(quants.shape)

    def rows(self, ids: torch.Tensor) -> torch.Tensor:
        """Float32 rows ``[k, in]`` of ``ids [k]``."""
        return self._widen(self._quants[ids], self._scales[ids], torch.empty(len(ids), self.shape[1]))

    def product(self, hidden: torch.Tensor) -> torch.Tensor:
        """``hidden`` float32 ``[N, in]`` -> float32 ``[N, out]``."""
        rows, width = self.shape
        logits = torch.empty(len(hidden), rows)
        if len(hidden) <= KERNEL_ROWS and kernel.is_compiled():
            hidden = hidden.contiguous()
            kernel.int8_rows(self._quants.data_ptr(), self._scales.data_ptr(), hidden.data_ptr(), logits.data_ptr(),
                             rows, width // GROUP, len(hidden))
            return logits
        block = max(64, BUFFER_BYTES // (4 * width))
        buffer = torch.empty(min(block, rows), width)
        for start in range(0, rows, block):
            part = self._quants[start : start + block]
            widened = self._widen(part, self._scales[start : start + block], buffer[: len(part)])
            logits[:, start : start + block] = functional.linear(hidden, widened)
        return logits

    @staticmethod
    def _widen(quants: torch.Tensor, scales: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        out.copy_(quants)
        out.view(*scales.shape, GROUP).mul_(scales.unsqueeze(-1))
        return out
