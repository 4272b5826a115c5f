"""Small GGUF files for the tests: a head with the given pairs and no tensors."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_TYPES = {"u1": 0, "i1": 1, "u2": 2, "i2": 3, "u4": 4, "i4": 5, "f4": 6, "b1": 7, "u8": 10, "i8": 11, "f8": 12}


def gguf_bytes(pairs: dict[str, Any], *, version: int = 3) -> bytes:
    """A GGUF file. Values: bool, int (uint32), float (float32), str, lists of str, numpy arrays."""
    out = [b"GGUF", struct.pack("<IQQ", version, 0, len(pairs))]
    for key, value in pairs.items():
        out.append(_string(key))
        if isinstance(value, bool):
            out.append(struct.pack("<I?", 7, value))
        elif isinstance(value, int):
            out.append(struct.pack("<II", 4, value))
        elif isinstance(value, float):
            out.append(struct.pack("<If", 6, value))
        elif isinstance(value, str):
            out.append(struct.pack("<I", 8) + _string(value))
        elif isinstance(value, np.ndarray):
            out.append(struct.pack("<IIQ", 9, _TYPES[value.dtype.kind + str(value.dtype.itemsize)], len(value)))
            out.append(value.tobytes())
        else:
            out.append(struct.pack("<IIQ", 9, 8, len(value)))
            out.extend(map(_string, value))
    return b"".join(out)


def _string(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw
