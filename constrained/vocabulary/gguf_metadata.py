"""The key-value block at the head of a GGUF file, read without the ``gguf`` package.

Layout (GGUF version 2 and 3, little endian): ``GGUF``, uint32 version, uint64 number of tensors, uint64 number of
pairs, then the pairs: a key (uint64 length, UTF-8), a uint32 type, the value. Strings are written as keys are;
an array is its element type, a uint64 count and the elements.

Source: the format's specification, ggml ``docs/gguf.md``. The file is mapped, not read: only the head is
touched. Cost: about 0.1 s for 100,000 strings.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np

from constrained.errors import TokenizerError, echo

__all__ = ["read_head", "read_metadata"]

_SCALARS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8",
}
_STRING, _ARRAY = 8, 9


def read_metadata(path: str | Path, prefix: str = "") -> dict[str, Any]:
    """The pairs whose key begins with ``prefix``.

    Returns:
        str, bool, int and float as they are; an array of strings is ``list[bytes]`` (vocabularies hold bytes
        that are no UTF-8), any other array a numpy array of its type.

    Raises:
        TokenizerError: no GGUF file of version 2 or 3, or one that ends too early.
    """
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return read_head(content, prefix)[0]
    except (OSError, ValueError) as error:
        if isinstance(error, TokenizerError):
            raise
        reason = getattr(error, "strerror", None) or "it is empty or cannot be mapped"
        raise TokenizerError(f"no GGUF file can be read from {echo(str(path))}: {reason}") from None


def read_head(content: mmap.mmap, prefix: str = "") -> tuple[dict[str, Any], int, int]:
    """``read_metadata`` of a mapped file; also the number of tensors, and the byte where their descriptions begin."""
    return _Reader(content).head(prefix)


class _Reader:
    """A place in the mapped file."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._size = len(content)
        self._at = 0

    def head(self, prefix: str) -> tuple[dict[str, Any], int, int]:
        if self._content[:4] != b"GGUF":
            raise TokenizerError("this is no GGUF file: it does not begin with GGUF")
        self._at = 4
        version = self._number("<I")
        if version not in (2, 3):
            raise TokenizerError(f"the GGUF version is {version}; versions 2 and 3 in little endian are known")
        n_tensors = self._number("<Q")
        pairs: dict[str, Any] = {}
        for _ in range(self._number("<Q")):
            key = self._string().decode("utf-8", "replace")
            kind = self._number("<I")
            value = self._array() if kind == _ARRAY else self._string() if kind == _STRING else self._scalar(kind)
            if key.startswith(prefix):
                pairs[key] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        return pairs, n_tensors, self._at

    def _take(self, size: int) -> int:
        """Move over ``size`` bytes and give where they began."""
        start = self._at
        if size > self._size - start:
            raise TokenizerError("the GGUF file ends within its head: it is cut off or broken")
        self._at = start + size
        return start

    def _number(self, layout: str) -> int:
        start = self._take(struct.calcsize(layout))
        return int(struct.unpack_from(layout, self._content, start)[0])

    def _string(self) -> bytes:
        size = self._number("<Q")
        start = self._take(size)
        return self._content[start : start + size]

    def _scalar(self, kind: int) -> Any:
        dtype = self._dtype(kind)
        start = self._take(dtype.itemsize)
        return np.frombuffer(self._content[start : self._at], dtype=dtype)[0].item()

    def _array(self) -> Any:
        kind = self._number("<I")
        count = self._number("<Q")
        if kind == _STRING:
            return self._strings(count)
        dtype = self._dtype(kind)
        start = self._take(count * dtype.itemsize)
        return np.frombuffer(self._content[start : self._at], dtype=dtype)

    def _strings(self, count: int) -> list[bytes]:
        content, at, size = self._content, self._at, self._size
        if count > (size - at) // 8:
            raise TokenizerError("the GGUF file ends within its head: it is cut off or broken")
        length_of = struct.Struct("<Q").unpack_from
        strings: list[bytes] = []
        for _ in range(count):
            if at + 8 > size:
                raise TokenizerError("the GGUF file ends within its head: it is cut off or broken")
            start = at + 8
            at = start + length_of(content, at)[0]
            if at > size:
                raise TokenizerError("the GGUF file ends within its head: it is cut off or broken")
            strings.append(content[start:at])
        self._at = at
        return strings

    @staticmethod
    def _dtype(kind: int) -> np.dtype[Any]:
        if kind not in _SCALARS:
            raise TokenizerError(f"the GGUF file holds a value of the unknown type {kind}")
        return np.dtype(_SCALARS[kind])
