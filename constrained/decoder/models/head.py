"""The output head: final hidden states to float32 logits, of the whole vocabulary or of a few ids.

A few rows of the head are gathered and multiplied, which is cheap up to about a tenth of the vocabulary; beyond that
the whole product is computed and then indexed.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional

__all__ = ["OutputHead"]

GATHER_SHARE = 0.1
"""Ids up to this share of the vocabulary are gathered (16384 of 49152 rows gathered cost three full heads)."""


class OutputHead:
    """``weight [V, hidden]`` (the embedding itself where tied), with the family's soft cap ``cap * tanh(x / cap)``."""

    __slots__ = ("_softcap", "weight")

    def __init__(self, weight: torch.Tensor, softcap: float | None = None) -> None:
        self.weight = weight
        self._softcap = softcap

    def __call__(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        """``hidden [N, hidden]``, already normed -> float32 ``[N, V]``, or ``[N, k]`` for ``allowed_ids [k]``."""
        weight = self.weight
        if allowed_ids is not None and len(allowed_ids) <= GATHER_SHARE * weight.shape[0]:
            logits = functional.linear(hidden, weight[allowed_ids]).float()
        else:
            logits = functional.linear(hidden, weight).float()
            if allowed_ids is not None:
                logits = logits[:, allowed_ids]
        if self._softcap is not None:
            logits = self._softcap * torch.tanh(logits / self._softcap)
        return logits
