"""Rotary position embeddings: frequencies of each scaling kind, and tables of cosines and sines by position.

A table row holds ``cos`` twice and ``sin`` as ``[-sin, +sin]``, both ``[head_dim]``, so that with the halves of a head
swapped (``roll``) a rotation is ``x * cos + roll(x) * sin``: three small kernels instead of six.
Positions and angles are float32 and are cast to the model's dtype at the end, as transformers does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch

from constrained.decoder.errors import ModelError
from constrained.decoder.models.config import ModelConfig, RopeConfig
from constrained.decoder.transfer import upload

__all__ = ["ROPE_KINDS", "RotaryTable", "inverse_frequencies", "rotate"]


def _plain(theta: float, dim: int) -> torch.Tensor:
    return 1.0 / (theta ** (torch.arange(0, dim, 2, dtype=torch.int64).to(torch.float32) / dim))


def _default(rope: RopeConfig, dim: int, _length: int, _max_position: int) -> tuple[torch.Tensor, float]:
    return _plain(rope.theta, dim), 1.0


def _linear(rope: RopeConfig, dim: int, _length: int, _max_position: int) -> tuple[torch.Tensor, float]:
    return _plain(rope.theta, dim) / _number(rope.parameters, "factor"), 1.0


def _dynamic(rope: RopeConfig, dim: int, length: int, max_position: int) -> tuple[torch.Tensor, float]:
    """NTK-aware scaling: the base grows with the sequence once it is longer than ``max_position``."""
    factor = _number(rope.parameters, "factor")
    longest = max(length, max_position)
    base = rope.theta * ((factor * longest / max_position) - (factor - 1)) ** (dim / (dim - 2))
    return _plain(base, dim), 1.0


def _llama3(rope: RopeConfig, dim: int, _length: int, _max_position: int) -> tuple[torch.Tensor, float]:
    """Llama 3.1: long wavelengths are divided by ``factor``, short ones kept, those between interpolated."""
    frequencies = _plain(rope.theta, dim)
    factor = _number(rope.parameters, "factor")
    low = _number(rope.parameters, "low_freq_factor")
    high = _number(rope.parameters, "high_freq_factor")
    context = _number(rope.parameters, "original_max_position_embeddings")
    wavelengths = 2 * math.pi / frequencies
    scaled = torch.where(wavelengths > context / low, frequencies / factor, frequencies)
    smooth = (context / wavelengths - low) / (high - low)
    between = ~(wavelengths < context / high) & ~(wavelengths > context / low)
    return torch.where(between, (1 - smooth) * scaled / factor + smooth * scaled, scaled), 1.0


def _yarn(rope: RopeConfig, dim: int, _length: int, max_position: int) -> tuple[torch.Tensor, float]:
    """YaRN (Peng et al. 2023, section 3.2): ramp between interpolated and kept frequencies, attention scaled."""
    parameters = rope.parameters
    context = _number(parameters, "original_max_position_embeddings")
    factor = parameters.get("factor")
    if factor is None:
        factor = max_position / context
    attention = parameters.get("attention_factor")
    if attention is None:
        mscale, mscale_all = parameters.get("mscale"), parameters.get("mscale_all_dim")
        attention = _mscale(factor, mscale) / _mscale(factor, mscale_all) if mscale and mscale_all else _mscale(factor)

    def correction(rotations: float) -> float:
        return dim * math.log(context / (rotations * 2 * math.pi)) / (2 * math.log(rope.theta))

    low, high = correction(parameters.get("beta_fast") or 32), correction(parameters.get("beta_slow") or 1)
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001  # keeps the ramp finite
    ramp = torch.clamp((torch.arange(dim // 2, dtype=torch.float32) - low) / (high - low), 0, 1)
    powers = rope.theta ** (torch.arange(0, dim, 2).to(torch.float32) / dim)
    kept = 1 - ramp
    return (1.0 / (factor * powers)) * (1 - kept) + (1.0 / powers) * kept, float(attention)


def _mscale(scale: float, mscale: float = 1.0) -> float:
    return 1.0 if scale <= 1 else 0.1 * mscale * math.log(scale) + 1.0


def _number(parameters: Mapping[str, float], name: str) -> float:
    value = parameters.get(name)
    if value is None:
        raise ModelError(f"this kind of RoPE needs {name!r}")
    return value


ROPE_KINDS: Mapping[str, Callable[[RopeConfig, int, int, int], tuple[torch.Tensor, float]]] = {
    "default": _default, "linear": _linear, "dynamic": _dynamic, "llama3": _llama3, "yarn": _yarn,
}


def inverse_frequencies(rope: RopeConfig, dim: int, length: int, max_position: int) -> tuple[torch.Tensor, float]:
    """Float32 ``[dim / 2]`` angular frequencies and the factor on cos and sin, for a sequence of ``length``."""
    kind = ROPE_KINDS.get(rope.kind)
    if kind is None:
        raise ModelError(f"unknown kind of RoPE {rope.kind!r}", hint=f"known: {', '.join(ROPE_KINDS)}")
    frequencies, scale = kind(rope, dim, length, max_position)
    if rope.frequency_factors is not None:
        if len(rope.frequency_factors) != dim // 2:
            raise ModelError(f"{len(rope.frequency_factors)} frequency factors for {dim // 2} frequencies")
        frequencies = frequencies / torch.tensor(rope.frequency_factors, dtype=torch.float32)
    return frequencies, scale


class RotaryTable:
    """Rows ``cos`` and ``sin`` by position for one :class:`RopeConfig`; grows by doubling, never shrinks.

    The kind ``dynamic`` depends on the length of the whole sequence: rows of sequences longer than the model's
    ``max_position`` are computed on each call (keys cached before keep the rotation they were written with).
    """

    def __init__(self, config: ModelConfig, rope: RopeConfig, dtype: torch.dtype, device: torch.device) -> None:
        self._rope = rope
        self._dim = config.head_dim
        self._max_position = config.max_position
        self._dtype = dtype
        self._device = device
        self._by_length = rope.kind == "dynamic"
        self._frequencies, self._scale = inverse_frequencies(rope, self._dim, 0, self._max_position)
        self._cos = torch.empty(0, self._dim, dtype=dtype, device=device)
        self._sin = self._cos

    def rows(self, spans: Sequence[tuple[int, int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """``cos`` and ``sin`` ``[N, 1, head_dim]`` of the new tokens of all rows, one row after the other; ``spans``
        gives each row's first position and the length after it."""
        longest = max(end for _, end in spans)
        if self._by_length and longest > self._max_position:
            parts = [self._compute(torch.arange(start, end, dtype=torch.float32),
                                   inverse_frequencies(self._rope, self._dim, end, self._max_position)[0])
                     for start, end in spans]
            cos = torch.cat([part[0] for part in parts])
            sin = torch.cat([part[1] for part in parts])
            return cos.unsqueeze(1), sin.unsqueeze(1)
        whole_cos, whole_sin = self.whole(longest)
        if len(spans) == 1:
            start, end = spans[0]
            return whole_cos[start:end].unsqueeze(1), whole_sin[start:end].unsqueeze(1)
        positions = upload([place for span in spans for place in range(*span)], whole_cos.device)
        return whole_cos[positions].unsqueeze(1), whole_sin[positions].unsqueeze(1)

    def whole(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The table ``[at least length, head_dim]`` itself. :class:`ModelError` for kinds that have none that long."""
        if self._by_length and length > self._max_position:
            raise ModelError("dynamic RoPE has no one table beyond the model's trained length")
        if length > self._cos.shape[0]:
            size = max(256, 1 << (length - 1).bit_length())
            self._cos, self._sin = self._compute(torch.arange(size, dtype=torch.float32), self._frequencies)
        return self._cos, self._sin

    def _compute(self, positions: torch.Tensor, frequencies: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angles = positions[:, None] * frequencies[None, :]
        cos, sin = angles.cos() * self._scale, angles.sin() * self._scale
        return (torch.cat((cos, cos), -1).to(self._device, self._dtype),
                torch.cat((-sin, sin), -1).to(self._device, self._dtype))


def rotate(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """``heads [N, H, head_dim]`` rotated by the table rows ``[N, 1, head_dim]``."""
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), sin)
