"""Small values between host and device: up without waiting, down as the one place that waits.

``torch.tensor(values, device="cuda")`` copies from pageable memory and waits until everything queued before it is done.
In the generation loop that would undo the overlap of mask work and forward pass. Here the values go through pinned
memory and the copy is queued like a kernel; on a CPU nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["download", "upload"]


def upload(values: Sequence[Any] | NDArray[Any] | Tensor, device: torch.device,
           dtype: torch.dtype | None = None) -> Tensor:
    """``values`` as a tensor on ``device``; a CPU tensor or array of the right dtype is not copied on a CPU."""
    if isinstance(values, Tensor):
        host = values
    elif isinstance(values, Sequence):
        host = torch.tensor(values, dtype=dtype)
    else:
        host = torch.from_numpy(values)
    if dtype is not None and host.dtype != dtype:
        host = host.to(dtype)
    return host if device.type == "cpu" else _send(host, device)


def download(values: Tensor) -> list[Any]:
    """``values`` as Python numbers. Waits until the device has computed them: once a step, for the chosen tokens."""
    return values.tolist()


def _send(host: Tensor, device: torch.device) -> Tensor:
    """The queued copy. The pinned pages go back to torch's pool when the copy is done."""
    if device.type == "cuda":
        host = host.pin_memory()
    return host.to(device, non_blocking=True)
