"""The bitmask in plain numpy: the twin that runs without a compiler, and the tests' second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np

from constrained.masks.bitmask import BITS


def apply_numpy(logits: np.ndarray[Any, Any], bitmask: np.ndarray[Any, Any],
                indices: np.ndarray[Any, Any] | None, limit: int) -> None:
    """Masks ``logits`` ``[rows, width]`` by ``bitmask`` ``[rows, words]``; ids from ``limit`` on are masked out."""
    words = -(-limit // BITS)
    for row in range(len(logits)) if indices is None else indices:
        octets = bitmask[row, :words].astype("<i4").view(np.uint8)  # bit order is defined on little-endian words
        forbidden = np.unpackbits(octets, bitorder="little")[:limit] == 0
        logits[row, :limit][forbidden] = -np.inf
        logits[row, limit:] = -np.inf
