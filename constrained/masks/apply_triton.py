"""The bitmask as a Triton kernel, for tensors on a GPU.

One program masks ``BLOCK`` logits of one row: it loads ``BLOCK / 32`` words once, spreads each over its 32 logits and
stores minus infinity only where a bit is 0, so logits are never read and allowed ones never written.
"""

from __future__ import annotations

from contextlib import nullcontext

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit  # type: ignore[untyped-decorator]
def _mask_block(logits, bitmask, indices, width, limit, logits_stride, bitmask_stride,  # type: ignore[no-untyped-def]
                HAS_INDICES: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if HAS_INDICES:
        row = tl.load(indices + row)
    words = tl.program_id(1) * (BLOCK // 32) + tl.arange(0, BLOCK // 32)
    packed = tl.load(bitmask + row * bitmask_stride + words, mask=words * 32 < limit, other=0)
    lanes = tl.arange(0, 32)
    ids = words[:, None] * 32 + lanes[None, :]
    allowed = (((packed[:, None] >> lanes[None, :]) & 1) != 0) & (ids < limit)
    tl.store(logits + row * logits_stride + ids, -float("inf"), mask=(ids < width) & (allowed == 0))


def apply_triton(logits: torch.Tensor, bitmask: torch.Tensor, indices: torch.Tensor | None, limit: int) -> None:
    """Masks ``logits`` ``[rows, width]`` by ``bitmask`` ``[rows, words]``, both with contiguous rows on one GPU.

    ``indices`` is int64 on the same device, or None for all rows; ids from ``limit`` on are masked out.
    """
    rows = len(logits) if indices is None else len(indices)
    if rows == 0 or logits.shape[1] == 0:
        return
    grid = (rows, triton.cdiv(logits.shape[1], BLOCK))
    with torch.cuda.device(logits.device) if logits.is_cuda else nullcontext():
        _mask_block[grid](logits, bitmask, logits if indices is None else indices, logits.shape[1], limit,
                          logits.stride(0), bitmask.stride(0), HAS_INDICES=indices is not None, BLOCK=BLOCK)
