"""Making bitmasks: int32 ``[batch, ceil(V / 32)]``, filled with -1 (everything allowed)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from constrained.errors import BitmaskError

if TYPE_CHECKING:
    import torch

    Bitmask: TypeAlias = torch.Tensor | np.ndarray[Any, Any]

BITS = 32


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """``(batch_size, ceil(vocab_size / 32))``."""
    for name, value in (("batch_size", batch_size), ("vocab_size", vocab_size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BitmaskError(f"{name} must be an int of at least 0, not {value!r}")
    return batch_size, -(-vocab_size // BITS)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Bitmask:
    """A bitmask that allows everything, int32 ``[batch_size, ceil(vocab_size / 32)]``.

    ``vocab_size`` is the width of the model's logits. A torch tensor on the CPU where torch is installed (in pinned
    memory where there is a GPU, so that it can be copied there without waiting), else a numpy array.
    """
    shape = get_bitmask_shape(batch_size, vocab_size)
    if not has_torch():
        return np.full(shape, -1, dtype=np.int32)
    import torch

    return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def reset_token_bitmask(bitmask: Bitmask) -> None:
    """Allows everything in every row."""
    if isinstance(bitmask, np.ndarray):
        bitmask.fill(-1)
    else:
        bitmask.fill_(-1)


def bitmask_row(token_ids: Iterable[int], vocab_size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """One row, int32 ``[ceil(vocab_size / 32)]``, that allows exactly these ids."""
    flags = np.zeros(-(-vocab_size // BITS) * BITS, dtype=bool)
    flags[list(token_ids)] = True
    row: np.ndarray[Any, np.dtype[np.int32]] = np.packbits(flags, bitorder="little").view("<i4").astype(np.int32)
    return row


def find_bitmask_dtype() -> Any:
    """``torch.int32`` where torch is installed, else ``numpy.int32``."""
    if not has_torch():
        return np.dtype(np.int32)
    import torch

    return torch.int32


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None
