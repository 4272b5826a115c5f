"""Run with TRITON_INTERPRET=1: the Triton kernel on CPU tensors, against the torch operations."""

from __future__ import annotations

import torch

from constrained.masks.apply_torch import apply_torch
from constrained.masks.apply_triton import apply_triton


def main() -> None:
    generator = torch.Generator().manual_seed(5)
    count = 0
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for width, words, limit in ((1, 1, 1), (100, 4, 100), (4096, 128, 4096), (9000, 200, 6400), (5000, 160, 33)):
            for indices in (None, torch.tensor([2, 0])):
                logits = torch.randn(3, width, generator=generator).to(dtype)
                bitmask = torch.randint(-(1 << 31), 1 << 31, (3, words), generator=generator).to(torch.int32)
                expected, masked = logits.clone(), logits.clone()
                apply_torch(expected, bitmask, indices, limit)
                apply_triton(masked, bitmask, indices, limit)
                assert torch.equal(expected, masked), (dtype, width, words, limit, indices)
                count += 1
    print(count, "masks equal")


if __name__ == "__main__":
    main()
