"""Finished vocabularies on disk, found again by fingerprint.

Two kinds of files in one folder:

- ``<fingerprint>.vocabulary``: a magic line, one line of JSON (roles), then the lengths (uint16 little endian, one
  a token) and the bytes of all tokens; the name is the BLAKE2b over the content, checked when read;
- ``<source key>.source``: the fingerprint that a source (a file's content and the arguments) led to.

Nothing is pickled. Files are written beside their place and moved there, so a reader sees a whole file or none;
a file that is broken all the same is ignored with a warning and written anew. A folder that cannot be written
(full, read-only) is a warning too: the cache only saves time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from constrained.vocabulary.pieces import VocabType
from constrained.vocabulary.tables import VocabularyTables
from constrained.vocabulary.tokenizer_info import TokenizerInfo, info_of_tables, tables_of

__all__ = ["CACHE_FORMAT", "VocabularyCache", "source_key"]

CACHE_FORMAT = 1
"""To be raised when the file layout changes, or when a reader makes other tables of the same source."""

_MAGIC = b"constrained vocabulary %d\n" % CACHE_FORMAT
_WRITING = ".writing-"
_LEFT_SECONDS = 3600.0
"""No writer takes so long: a file beside its place that is older was left by one that was killed."""


def source_key(kind: str, content: bytes, *arguments: Any) -> str:
    """Name of a source: a hash of its content and of what else the tables depend on."""
    listed = [list(a) if hasattr(a, "__iter__") and not isinstance(a, str) else a for a in arguments]
    digest = hashlib.blake2b(repr((CACHE_FORMAT, kind, listed)).encode(), digest_size=32)
    digest.update(content)
    return digest.hexdigest()


class VocabularyCache:
    """The folder. Several processes may use it at once."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def load(self, fingerprint: str) -> TokenizerInfo | None:
        """The vocabulary without an encoder, None where there is none or its file is broken."""
        content = self._read(f"{fingerprint}.vocabulary")
        if content is None:
            return None
        try:
            info = _parse(content)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
            _warn(f"a vocabulary cache file is broken ({type(error).__name__}) and is made anew")
            return None
        if info.fingerprint != fingerprint:
            _warn("a vocabulary cache file does not hold what its name says and is made anew")
            return None
        return info

    def load_source(self, key: str) -> TokenizerInfo | None:
        """The vocabulary that the source with this key led to."""
        name = self._read(f"{key}.source")
        if name is None:
            return None
        text = name.decode("ascii", "replace").strip()
        if len(text) != 64 or not all(c in "0123456789abcdef" for c in text):
            _warn("a vocabulary cache file is broken (no fingerprint in it) and is made anew")
            return None
        return self.load(text)

    def store(self, info: TokenizerInfo, key: str = "") -> None:
        """Keep ``info``; with ``key``, also under its source. Never raises for what the disk does."""
        self._write(f"{info.fingerprint}.vocabulary", _render(info))
        if key:
            self._write(f"{key}.source", info.fingerprint.encode())

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn(f"a vocabulary cache file cannot be read: {error.strerror}")
            return None

    def _write(self, name: str, content: bytes) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=_WRITING, dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.replace(temporary, self._folder / name)
                self._sweep()
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            _warn(f"the vocabulary cache cannot be written: {error.strerror}; going on without it")

    def _sweep(self) -> None:
        """Remove what killed writers left behind."""
        old = time.time() - _LEFT_SECONDS
        for path in self._folder.glob(f"{_WRITING}*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < old:
                    path.unlink()


def _render(info: TokenizerInfo) -> bytes:
    tables = tables_of(info)
    roles = {
        "vocab_size": info.vocab_size,
        "stop": tables.stop,
        "special": sorted(tables.special),
        "added": sorted(tables.added),
        "texts": dict(tables.texts),
        "vocab_type": tables.vocab_type.value,
        "add_prefix_space": tables.add_prefix_space,
    }
    return b"".join((_MAGIC, json.dumps(roles).encode(), b"\n", tables.lengths.astype("<u2").tobytes(), tables.data))


def _parse(content: bytes) -> TokenizerInfo:
    """Tables of a file's content. Any error means a broken file; the caller compares the fingerprint."""
    if not content.startswith(_MAGIC):
        raise ValueError("no magic line")
    end = content.index(b"\n", len(_MAGIC))
    roles = json.loads(content[len(_MAGIC) : end])
    size = int(roles["vocab_size"])
    lengths = np.frombuffer(content, dtype="<u2", count=size, offset=end + 1).astype(np.uint16)
    data = content[end + 1 + 2 * size :]
    if int(lengths.sum(dtype=np.int64)) != len(data):
        raise ValueError("lengths and bytes do not fit")
    tables = VocabularyTables(
        data=data,
        lengths=lengths,
        stop=tuple(roles["stop"]),
        special=frozenset(roles["special"]),
        added=frozenset(roles["added"]),
        texts={str(text): tuple(ids) for text, ids in roles["texts"].items()},
        vocab_type=VocabType(roles["vocab_type"]),
        add_prefix_space=bool(roles["add_prefix_space"]),
    )
    return info_of_tables(tables, None)


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
