"""Token bitmasks and how they act on logits.

A bitmask is int32 ``[batch, ceil(V / 32)]``: token ``j`` is bit ``j % 32`` of word ``j // 32``, 1 = allowed. It is a
torch tensor on the CPU where torch is installed, else a numpy array. Matchers fill rows;
``apply_token_bitmask_inplace`` turns zero bits into minus infinity.
"""

from __future__ import annotations

from typing import Any

from constrained.masks.apply import apply_token_bitmask_inplace
from constrained.masks.bitmask import allocate_token_bitmask, get_bitmask_shape, reset_token_bitmask

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


def __getattr__(name: str) -> Any:
    """``bitmask_dtype``: ``torch.int32`` where torch is installed, else numpy's. Late: importing torch is slow."""
    if name == "bitmask_dtype":
        from constrained.masks.bitmask import find_bitmask_dtype

        return find_bitmask_dtype()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
