"""The bitmask in plain torch operations: any device, any stride, and autograd sees it."""

from __future__ import annotations

import torch

from constrained.masks.bitmask import BITS


def apply_torch(logits: torch.Tensor, bitmask: torch.Tensor, indices: torch.Tensor | None, limit: int) -> None:
    """Masks ``logits`` ``[rows, width]`` by ``bitmask`` ``[rows, words]``; ids from ``limit`` on are masked out.

    Unpacking makes temporary tensors of 5 bytes a logit.
    """
    words = -(-limit // BITS)
    rows = bitmask[:, :words] if indices is None else bitmask[indices, :words]
    shifts = torch.arange(BITS, dtype=torch.int32, device=bitmask.device)
    forbidden = ((rows.unsqueeze(-1) >> shifts) & 1).flatten(1)[:, :limit] == 0
    if indices is None:
        logits[:, :limit].masked_fill_(forbidden, -torch.inf)
        logits[:, limit:].fill_(-torch.inf)
    else:
        logits[indices, :limit] = logits[indices, :limit].masked_fill(forbidden, -torch.inf)
        logits[indices, limit:] = -torch.inf
