"""Where a token bitmask's row lies in memory.

A bitmask is any writable C-contiguous int32 array ``[B, ceil(V / 32)]``: numpy, or a torch tensor on the CPU (known
by its ``data_ptr``; torch is not imported here). Checks cost about 0.3 us, so the last array seen is remembered by
identity and only its address is asked again.
"""

from __future__ import annotations

from ctypes import addressof, c_char
from operator import index as as_index
from typing import Any

import numpy as np

from constrained.errors import BitmaskError

__all__ = ["RowFinder"]


class RowFinder:
    """Checks bitmasks of one width and finds rows in them. One for each matcher: not shared between threads."""

    __slots__ = ("_address", "_array", "_rows", "is_tensor", "words")

    def __init__(self, words: int) -> None:
        self.words = words
        self._array: Any = None
        self._address = 0
        self._rows = 0
        self.is_tensor = False

    def address(self, bitmask: Any, index: int) -> int:
        """The address of row ``index``. Raises ``BitmaskError`` for a wrong type, dtype, shape, layout or index."""
        if bitmask is not self._array or (self.is_tensor and bitmask.data_ptr() != self._address):
            self._look(bitmask)
        if type(index) is not int:
            try:
                index = as_index(index)
            except TypeError:
                raise BitmaskError(f"the index of a row is an int, not {type(index).__name__}") from None
        if not 0 <= index < self._rows:
            raise BitmaskError(f"the bitmask has {self._rows} rows; there is no row {index}")
        return self._address + 4 * self.words * index

    def view(self, bitmask: Any, index: int) -> Any:
        """The same bitmask as a two-dimensional numpy array, checked."""
        self.address(bitmask, index)
        array = bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()
        return array if array.ndim == 2 else array[np.newaxis, :]

    def _look(self, bitmask: Any) -> None:
        self._array = None
        if isinstance(bitmask, np.ndarray):
            if not bitmask.flags.c_contiguous or not bitmask.flags.writeable:
                raise BitmaskError("the bitmask must be C-contiguous and writable",
                                   hint="make one with allocate_token_bitmask")
            self._check(bitmask.dtype, bitmask.dtype == np.int32, bitmask.shape)
            # bitmask.ctypes.data, at a quarter of its cost
            self._address = addressof(c_char.from_buffer(bitmask)) if bitmask.size else 0  # type: ignore[arg-type]
            self.is_tensor = False
        elif hasattr(bitmask, "data_ptr"):
            if bitmask.device.type != "cpu":
                raise BitmaskError(f"the bitmask must be on the CPU, not on {bitmask.device}",
                                   hint="fill it there and copy it: bitmask.to(device, non_blocking=True)")
            if not bitmask.is_contiguous():
                raise BitmaskError("the bitmask must be contiguous", hint="make one with allocate_token_bitmask")
            self._check(bitmask.dtype, str(bitmask.dtype) == "torch.int32", tuple(bitmask.shape))
            self._address = int(bitmask.data_ptr())
            self.is_tensor = True
        else:
            raise BitmaskError(f"a bitmask is a numpy array or a torch tensor, not {type(bitmask).__name__}",
                               hint="make one with allocate_token_bitmask")
        self._array = bitmask

    def _check(self, dtype: object, right: bool, shape: tuple[int, ...]) -> None:
        if not right:
            raise BitmaskError(f"the bitmask must be int32, not {dtype}")
        if len(shape) not in (1, 2) or shape[-1] != self.words:
            raise BitmaskError(f"the bitmask must have the shape [batch, {self.words}], not {list(shape)}",
                               hint="allocate_token_bitmask(batch, tokenizer_info.vocab_size) makes one")
        self._rows = shape[0] if len(shape) == 2 else 1
