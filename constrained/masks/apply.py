"""``apply_token_bitmask_inplace``: the checks, and the choice of who does the work.

Arrays on the CPU go to the compiled kernel by address, CUDA tensors to a Triton kernel; the rest (other devices,
rows whose items are not neighbours, tensors that carry a gradient, an uncompiled build) goes to plain torch or
numpy operations with the same meaning. Nothing is written before every check has passed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from constrained.errors import BitmaskError
from constrained.kernel import logits as kernel
from constrained.masks.bitmask import BITS

if TYPE_CHECKING:
    import torch

    Array: TypeAlias = torch.Tensor | np.ndarray[Any, Any]
    Indices: TypeAlias = Sequence[int] | torch.Tensor | np.ndarray[Any, Any]

Backend: TypeAlias = Literal["auto", "cpu", "triton", "torch", "numpy"]

LOGITS = {"float32": (4, -0x0080_0000), "float16": (2, -0x0400), "bfloat16": (2, -0x0080)}
"""Name of a dtype -> bytes of an item, and the bits of minus infinity read as a signed number."""


class Rows(NamedTuple):
    """What the kernel needs to know of an array ``[rows, width]``."""

    rows: int
    width: int
    address: int
    stride: int  # bytes from one row to the next
    dense: bool  # the items of a row are neighbours in memory
    dtype: str
    device: str
    tensor: bool


def apply_token_bitmask_inplace(
    logits: Array,
    bitmask: Array,
    *,
    vocab_size: int | None = None,
    indices: Indices | None = None,
    backend: Backend = "auto",
) -> None:
    """Sets ``logits[i, j]`` to minus infinity wherever bit ``j`` of ``bitmask[i]`` is 0.

    - ``logits``: float32, float16 or bfloat16, ``[batch, width]`` or ``[width]``; a torch tensor or a numpy array.
    - ``bitmask``: int32, ``[batch, words]`` or ``[words]``, on the same device.
    - ``vocab_size``: ids from here on are no tokens, their logits become minus infinity whatever the bitmask says.
      Logits beyond the bitmask always do, since nothing allows them.
    - ``indices``: apply row ``i`` of the bitmask to row ``i`` of the logits for these ``i`` only. Default: all
      rows, and then both must have the same number of them.
    - ``backend``: ``"auto"`` chooses. ``"cpu"`` is the compiled kernel, ``"triton"`` needs CUDA, ``"torch"`` runs
      on every device, ``"numpy"`` on the CPU.

    Raises :class:`BitmaskError` on a wrong shape, dtype, layout, device or index; nothing is written then.
    """
    scores = _rows_of(logits, "logits")
    bits = _rows_of(bitmask, "bitmask")
    if scores.dtype not in LOGITS:
        raise BitmaskError(f"logits must be float32, float16 or bfloat16, not {scores.dtype}")
    if bits.dtype != "int32":
        raise BitmaskError(f"the bitmask must be int32, not {bits.dtype}")
    if scores.device != bits.device:
        raise BitmaskError(f"logits are on {scores.device}, the bitmask on {bits.device}",
                           hint="copy the bitmask: bitmask.to(logits.device, non_blocking=True)")
    if isinstance(logits, np.ndarray) and not logits.flags.writeable:
        raise BitmaskError("the logits are read-only")
    limit = min(scores.width, bits.width * BITS)
    if vocab_size is not None:
        if isinstance(vocab_size, bool) or not isinstance(vocab_size, int) or not 0 <= vocab_size <= scores.width:
            raise BitmaskError(f"vocab_size must be an int from 0 to the width of the logits, {scores.width}, "
                               f"not {vocab_size!r}")
        limit = min(limit, vocab_size)
    chosen = None
    if indices is not None:
        chosen = _check_indices(indices, min(scores.rows, bits.rows))
    elif scores.rows != bits.rows:
        raise BitmaskError(f"{scores.rows} rows of logits but {bits.rows} rows of bitmask",
                           hint="pass indices=... to mask some rows only")

    in_reach = scores.device == "cpu" and scores.dense and bits.dense
    if backend == "auto":
        if in_reach and kernel.is_compiled():
            backend = "cpu"
        elif scores.device.startswith("cuda") and scores.dense and bits.dense:
            backend = "triton"
        else:
            backend = "torch" if scores.tensor else "numpy"
    if backend == "cpu":
        if not in_reach:
            raise BitmaskError("backend 'cpu' needs arrays on the CPU, without gradient, whose rows are contiguous")
        size, minus_infinity = LOGITS[scores.dtype]
        picked = 0 if chosen is None else chosen.__array_interface__["data"][0]
        kernel.mask_rows(scores.address, scores.stride, bits.address, bits.stride, picked,
                         scores.rows if chosen is None else len(chosen), limit, scores.width, minus_infinity, size)
    elif backend == "torch" or backend == "triton":
        _with_torch(backend, logits, bitmask, chosen, limit)
    elif backend == "numpy":
        from constrained.masks.apply_numpy import apply_numpy

        if scores.device != "cpu" or (scores.dtype == "bfloat16" and scores.tensor):
            raise BitmaskError("backend 'numpy' needs logits on the CPU of a dtype that numpy knows")
        apply_numpy(np.atleast_2d(np.asarray(logits)), np.atleast_2d(np.asarray(bitmask)), chosen, limit)
    else:
        raise BitmaskError(f"unknown backend {backend!r}", hint="one of 'auto', 'cpu', 'triton', 'torch', 'numpy'")


def _rows_of(array: Array, what: str) -> Rows:
    if isinstance(array, np.ndarray):
        shape, dtype = array.shape, array.dtype
        if not 1 <= len(shape) <= 2:
            raise BitmaskError(f"{what} must have 1 or 2 dimensions, not {len(shape)}")
        if not dtype.isnative:
            raise BitmaskError(f"{what} must be in native byte order")
        rows, width = shape if len(shape) == 2 else (1, shape[0])
        dense = array.strides[-1] == dtype.itemsize or width <= 1 or rows == 0
        address = array.__array_interface__["data"][0]
        return Rows(rows, width, address, array.strides[0], dense, dtype.name, "cpu", False)
    if not _is_tensor(array):
        raise BitmaskError(f"{what} must be a torch tensor or a numpy array, not {type(array).__name__}")
    size, steps = array.shape, array.stride()
    if not 1 <= len(size) <= 2:
        raise BitmaskError(f"{what} must have 1 or 2 dimensions, not {len(size)}")
    rows, width = size if len(size) == 2 else (1, size[0])
    dense = (steps[-1] == 1 or width <= 1 or rows == 0) and not array.requires_grad
    return Rows(rows, width, array.data_ptr(), steps[0] * array.itemsize, dense, str(array.dtype)[len("torch.") :],
                "cpu" if array.is_cpu else str(array.device), True)


def _is_tensor(array: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _check_indices(indices: Indices, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    if _is_tensor(indices):
        indices = indices.cpu().numpy()  # type: ignore[union-attr]
    found = np.asarray(indices)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise BitmaskError("indices must be a flat sequence of ints")
    found = np.ascontiguousarray(found, dtype=np.int64)
    if found.size and not 0 <= found.min() <= found.max() < rows:
        raise BitmaskError(f"indices must lie from 0 to {rows - 1}; got {found.min()} to {found.max()}")
    return found


def _with_torch(backend: str, logits: Any, bitmask: Any, chosen: np.ndarray[Any, Any] | None, limit: int) -> None:
    """The torch operations or the Triton kernel, on two-dimensional tensors; arrays are wrapped, not copied."""
    import torch

    if not _is_tensor(logits):
        if logits.dtype.name == "bfloat16":
            raise BitmaskError(f"backend {backend!r} cannot wrap a bfloat16 numpy array")
        logits = torch.from_numpy(logits)
    if not _is_tensor(bitmask):
        bitmask = torch.from_numpy(np.ascontiguousarray(bitmask))
    if logits.ndim == 1:
        logits = logits[None]
    if bitmask.ndim == 1:
        bitmask = bitmask[None]
    rows = None if chosen is None else torch.from_numpy(chosen).to(logits.device)
    if backend == "torch":
        from constrained.masks.apply_torch import apply_torch

        apply_torch(logits, bitmask, rows, limit)
    else:
        if logits.device.type == "cpu":
            raise BitmaskError("backend 'triton' needs tensors on a GPU")
        from constrained.masks.apply_triton import apply_triton

        apply_triton(logits, bitmask, rows, limit)
