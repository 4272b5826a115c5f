"""Random numbers that belong to a request: a counter-based stream, addressed by (key, position, token id).

Idea: to sample a token by the Gumbel-max rule, ``argmax(logits + gumbel)``, every (position, id) needs one
random number. Here that number is a hash of (key of the request, position in its output, token id), not the
next output of a stateful generator. So the same request gets the same numbers whatever the batch, however its
tokens were grouped into steps, on the full vocabulary or on the allowed ids only, before or after a rollback:
a compact sampler, a speculative one and a plain one return the same token from the same logits.

Shape: keys are 63-bit ints; the hash works on int64 tensors (multiplication wraps). The mixer is the
64-bit finaliser of MurmurHash3 (Appleby) over a Weyl sequence per coordinate, as in SplitMix64 (Steele,
Lea and Flood 2014). Cost: about 12 integer operations and two logarithms a number, 0.3 ms for 49,152 on one
core of a 2026 server CPU.
"""

from __future__ import annotations

import os

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["SPREAD", "fresh_seed", "gumbel", "gumbel_row", "request_key", "sample_gumbel"]

_MASK64 = (1 << 64) - 1
_WEYL = 0x9E3779B97F4A7C15
_MUL1 = 0xFF51AFD7ED558CCD
_MUL2 = 0xC4CEB9FE1A85EC53
_POSITION = 0xD1B54A32D192ED03
SPREAD = 40.5
"""No noise differs from another by more: a logit further below the largest cannot win."""
_LARGEST = 1.0 - 2.0**-24  # the largest float32 below 1: keeps log1p(-v) finite


def fresh_seed() -> int:
    """A 63-bit seed from the operating system."""
    return int.from_bytes(os.urandom(8), "little") >> 1


def request_key(seed: int, sample: int = 0) -> int:
    """Key of sample ``sample`` of a request with ``seed`` (any int): 64 bits as a signed int."""
    state = _mix(seed & _MASK64 ^ _mix((seed >> 64) & _MASK64))
    return _signed(_mix(state + (sample + 1) * _WEYL & _MASK64))


def gumbel(keys: Tensor, positions: Tensor, ids: Tensor) -> Tensor:
    """Standard Gumbel noise for each (row, id), from -2.9 to 37.5.

    ``keys`` and ``positions``: int64 ``[B]``; ``ids``: int64 ``[k]`` or ``[B, k]``. Returns float32 ``[B, k]``.
    """
    row = _mix_tensor(keys + (positions + 1) * _signed(_POSITION))
    bits = _mix_tensor(row.unsqueeze(-1) + (ids + 1) * _signed(_WEYL))
    return _to_gumbel((bits >> 11) & ((1 << 53) - 1))


def gumbel_row(key: int, position: int, ids: NDArray[np.int64]) -> Tensor:
    """One row of :func:`gumbel` on the CPU, the same numbers in a third of the time: numpy shifts unsigned ints, and
    one row at a time stays in the cache. ``ids``: int64 ``[k]``. Returns float32 ``[k]``."""
    row = _mix(key + (position + 1) * _POSITION)
    bits = ids.astype(np.uint64)
    bits += np.uint64(1)
    bits *= np.uint64(_WEYL)
    bits += np.uint64(row)
    shifted = np.empty_like(bits)
    for factor in (_MUL1, _MUL2, None):
        np.right_shift(bits, np.uint64(33), out=shifted)
        bits ^= shifted
        if factor is not None:
            bits *= np.uint64(factor)
    bits >>= np.uint64(11)
    return _to_gumbel(torch.from_numpy(bits.view(np.int64)))


def _to_gumbel(bits53: Tensor) -> Tensor:
    """53 random bits to a Gumbel number. Near 0 float32 keeps the relative precision of the uniform, and it is the
    small exponentials that win a race, so the tail of rare tokens is right far below 2**-24."""
    # Never 0: its noise would be +inf, and -inf + inf of a removed token is NaN.
    uniform = bits53.to(torch.float32).mul_(2.0**-53).clamp_(2.0**-54, _LARGEST)
    return uniform.neg_().log1p_().neg_().log_().neg_()


def sample_gumbel(logits: Tensor, noise: Tensor) -> Tensor:
    """Column drawn with probability ``softmax(logits)``, int64 ``[B]`` (Gumbel-max, Maddison et al. 2014)."""
    return torch.argmax(logits + noise, dim=-1)


def _signed(value: int) -> int:
    value &= _MASK64
    return value - (1 << 64) if value >> 63 else value


def _mix(value: int) -> int:
    value &= _MASK64
    value ^= value >> 33
    value = value * _MUL1 & _MASK64
    value ^= value >> 33
    value = value * _MUL2 & _MASK64
    return value ^ value >> 33


def _mix_tensor(value: Tensor) -> Tensor:
    low = (1 << 31) - 1  # a shift of a negative int64 copies the sign; the mask makes it logical
    value = value ^ ((value >> 33) & low)
    value = value * _signed(_MUL1)
    value = value ^ ((value >> 33) & low)
    value = value * _signed(_MUL2)
    return value ^ ((value >> 33) & low)
