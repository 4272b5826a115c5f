"""Block formats of GGUF tensors to float32, bit for bit what the format defines.

A row is a sequence of blocks of 32 (``Q*_0``, ``Q*_1``) or 256 weights (k-quants), each with its own float16 scale(s);
:data:`BLOCKS` names them by GGUF's type number. Dequantising 134 M weights of Q4_1 takes about a second with numpy.
Formats: ``ggml-common.h`` (block_q4_0 ... block_q6_K).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["BLOCKS", "Block", "dequantize", "nibbles"]

Blocks = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Block:
    """A format: ``items`` weights in ``n_bytes`` bytes; ``decode``: bytes ``[n, n_bytes]`` to floats ``[n, items]``."""

    name: str
    items: int
    n_bytes: int
    decode: Callable[[Blocks], FloatArray]


def _half(raw: Blocks) -> FloatArray:
    """Two bytes a block -> float32 ``[n, 1]``."""
    return np.ascontiguousarray(raw).view("<f2").astype(np.float32)


def nibbles(packed: Blocks) -> Blocks:
    """``uint8 [n, 16]`` -> ``uint8 [n, 32]``: low halves are the first 16 weights, high halves the last."""
    return np.concatenate((packed & 0x0F, packed >> 4), axis=1)


def _f32(blocks: Blocks) -> FloatArray:
    return np.ascontiguousarray(blocks).view("<f4")


def _f16(blocks: Blocks) -> FloatArray:
    return _half(blocks)


def _bf16(blocks: Blocks) -> FloatArray:
    return (np.ascontiguousarray(blocks).view("<u2").astype(np.uint32) << 16).view(np.float32)


def _q4_0(blocks: Blocks) -> FloatArray:
    return _half(blocks[:, :2]) * (nibbles(blocks[:, 2:]).astype(np.float32) - np.float32(8))


def _q4_1(blocks: Blocks) -> FloatArray:
    return _half(blocks[:, :2]) * nibbles(blocks[:, 4:]).astype(np.float32) + _half(blocks[:, 2:4])


def _fifth_bits(raw: Blocks) -> Blocks:
    """Four bytes a block -> its 32 bits, each at the place of 16."""
    return np.unpackbits(np.ascontiguousarray(raw), axis=1, bitorder="little") << np.uint8(4)


def _q5_0(blocks: Blocks) -> FloatArray:
    whole = nibbles(blocks[:, 6:]) | _fifth_bits(blocks[:, 2:6])
    return _half(blocks[:, :2]) * (whole.astype(np.float32) - np.float32(16))


def _q5_1(blocks: Blocks) -> FloatArray:
    whole = nibbles(blocks[:, 8:]) | _fifth_bits(blocks[:, 4:8])
    return _half(blocks[:, :2]) * whole.astype(np.float32) + _half(blocks[:, 2:4])


def _q8_0(blocks: Blocks) -> FloatArray:
    return _half(blocks[:, :2]) * blocks[:, 2:].view(np.int8).astype(np.float32)


def _k_scales(packed: Blocks) -> tuple[FloatArray, FloatArray]:
    """12 bytes a superblock -> eight 6-bit scales and eight 6-bit minima, float32 ``[n, 8, 1]``.

    Bytes 0-3 and 4-7 hold the low six bits of scales and minima 0-3, and in their top two bits the high bits of 4-7,
    whose low four bits are the halves of bytes 8-11.
    """
    first, second, third = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = np.concatenate((first & 0x3F, (third & 0x0F) | (first >> 6 << 4)), axis=1)
    minima = np.concatenate((second & 0x3F, (third >> 4) | (second >> 6 << 4)), axis=1)
    return scales.astype(np.float32)[:, :, None], minima.astype(np.float32)[:, :, None]


def _k_nibbles(packed: Blocks) -> Blocks:
    """128 bytes a superblock -> ``[n, 8, 32]``: each 32 bytes give the low halves, then the high halves."""
    quarters = packed.reshape(len(packed), 4, 1, 32)
    return np.concatenate((quarters & 0x0F, quarters >> 4), axis=2).reshape(len(packed), 8, 32)


def _k_affine(blocks: Blocks, whole: Blocks) -> FloatArray:
    scales, minima = _k_scales(blocks[:, 4:16])
    scale = _half(blocks[:, :2])[:, :, None] * scales
    least = _half(blocks[:, 2:4])[:, :, None] * minima
    return (scale * whole.astype(np.float32) - least).reshape(len(blocks), 256)


def _q4_k(blocks: Blocks) -> FloatArray:
    return _k_affine(blocks, _k_nibbles(blocks[:, 16:]))


def _q5_k(blocks: Blocks) -> FloatArray:
    places = np.arange(8, dtype=np.uint8)[None, :, None]
    fifth = ((blocks[:, 16:48][:, None, :] >> places & 1) << 4).astype(np.uint8)
    return _k_affine(blocks, _k_nibbles(blocks[:, 48:]) | fifth)


def _q6_k(blocks: Blocks) -> FloatArray:
    n = len(blocks)
    halves = blocks[:, :128].reshape(n, 2, 1, 64)
    low = np.concatenate((halves & 0x0F, halves >> 4), axis=2).reshape(n, 8, 32)
    places = np.array([0, 2, 4, 6], dtype=np.uint8)[None, None, :, None]
    high = (blocks[:, 128:192].reshape(n, 2, 1, 32) >> places & 3).reshape(n, 8, 32)
    whole = ((low | high << 4).astype(np.int16) - 32).reshape(n, 16, 16)
    scale = _half(blocks[:, 208:210]) * blocks[:, 192:208].view(np.int8).astype(np.float32)
    weights: FloatArray = scale[:, :, None] * whole.astype(np.float32)
    return weights.reshape(n, 256)


BLOCKS: Mapping[int, Block] = {
    0: Block("F32", 1, 4, _f32),
    1: Block("F16", 1, 2, _f16),
    2: Block("Q4_0", 32, 18, _q4_0),
    3: Block("Q4_1", 32, 20, _q4_1),
    6: Block("Q5_0", 32, 22, _q5_0),
    7: Block("Q5_1", 32, 24, _q5_1),
    8: Block("Q8_0", 32, 34, _q8_0),
    12: Block("Q4_K", 256, 144, _q4_k),
    13: Block("Q5_K", 256, 176, _q5_k),
    14: Block("Q6_K", 256, 210, _q6_k),
    30: Block("BF16", 1, 2, _bf16),
}

_BY_NAME = {block.name: block for block in BLOCKS.values()}


def dequantize(data: Blocks, type_name: str) -> FloatArray:
    """Raw rows ``uint8 [rows, bytes]`` of one format -> float32 ``[rows, items]``."""
    block = _BY_NAME[type_name]
    rows = data.shape[0]
    return block.decode(data.reshape(-1, block.n_bytes)).reshape(rows, -1)
