"""The output head: final hidden states to float32 logits, of the whole vocabulary or of a few ids.

Logits are accumulated and returned in float32 even where the weights are bfloat16: at a size of 25 bfloat16 has steps
of 0.125, which makes ties of unequal tokens. A CPU has no such product, so blocks of rows are widened into one small
buffer that stays in its cache and multiplied from there. That reads half of what float32 weights would and is no slower
than the bfloat16 product (49152 x 576, one vector: 5.9 against 6.5 ms, and 9.8 with float32 weights; one thread, torch
2.13).

A few rows of the head are gathered and multiplied, which is cheap up to about a tenth of the vocabulary; beyond that
the whole product is computed and then indexed.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional

from constrained.decoder.errors import ModelError
from constrained.decoder.models.int8_weight import Int8Weight

__all__ = ["OutputHead"]

GATHER_SHARE = 0.1
"""Ids up to this share of the vocabulary are gathered (16384 of 49152 rows gathered cost three full heads)."""
BLOCK_BYTES = 2 << 20
"""Size of the buffer that widened rows pass through: fits the second-level cache of a server core."""


class OutputHead:
    """``weight [V, hidden]`` (the embedding itself where tied), dense or in 8-bit blocks, with the family's soft cap
    ``cap * tanh(x / cap)``."""

    __slots__ = ("_softcap", "weight")

    def __init__(self, weight: torch.Tensor | Int8Weight, softcap: float | None = None) -> None:
        self.weight = weight
        self._softcap = softcap

    def __call__(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        """``hidden [N, hidden]``, already normed -> float32 ``[N, V]``, or ``[N, k]`` for ``allowed_ids [k]``.

        :class:`ModelError` for ids out of range (on a CPU; a GPU would have to be waited for, its kernels assert).
        """
        weight = self.weight
        if allowed_ids is not None and allowed_ids.device.type == "cpu" and len(allowed_ids):
            low, high = (int(bound) for bound in allowed_ids.aminmax())
            if low < 0 or high >= weight.shape[0]:
                raise ModelError(f"allowed ids run from {low} to {high}, the head has 0 to {weight.shape[0] - 1}")
        if allowed_ids is not None and len(allowed_ids) <= GATHER_SHARE * weight.shape[0]:
            rows = weight.rows(allowed_ids) if isinstance(weight, Int8Weight) else weight[allowed_ids].float()
            logits = functional.linear(hidden.float(), rows)
        else:
            logits = self._whole(hidden)
            if allowed_ids is not None:
                logits = logits[:, allowed_ids]
        if self._softcap is not None:
            logits = self._softcap * torch.tanh(logits / self._softcap)
        return logits

    def _whole(self, hidden: torch.Tensor) -> torch.Tensor:
        weight = self.weight
        if isinstance(weight, Int8Weight):
            return weight.product(hidden.float())
        if weight.dtype == torch.float32:
            return functional.linear(hidden, weight)
        if not weight.is_cpu:
            return torch.mm(hidden, weight.t(), out_dtype=torch.float32)
        rows, width = weight.shape
        block = max(64, BLOCK_BYTES // (4 * width))
        wide = hidden.float()
        buffer = torch.empty(min(block, rows), width)
        logits = torch.empty(len(hidden), rows)
        for start in range(0, rows, block):
            part = weight[start : start + block]
            widened = buffer[: len(part)]
            widened.copy_(part)
            if len(hidden) == 1:
                torch.mv(widened, wide[0], out=logits[0, start : start + block])
            else:
                logits[:, start : start + block] = functional.linear(wide, widened)
        return logits
