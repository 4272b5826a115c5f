"""Tokenising text the way a model writes it in the middle of its output.

``LazyEncoder`` builds a tokenizer at its first use, once, whatever thread comes first. ``HuggingFaceEncoder``
differs from ``tokenizer.encode`` so: no control token is added or recognised in the text, and no blank is put
before the first word. It works on a copy: the caller's object may be changed (padding, truncation, new tokens)
or used by another thread meanwhile.

Cost: building takes 0.2 to 2 s and the tokenizer's memory once more; nothing before the first use.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

__all__ = ["HuggingFaceEncoder", "LazyEncoder"]


class LazyEncoder(ABC):
    """``encode(text)`` with a tokenizer that is built when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._failed = False

    @abstractmethod
    def _build(self) -> Any:
        """The tokenizer. May raise anything: then ``encode`` answers None from there on."""

    def _ids(self, tokenizer: Any, text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def encode(self, text: str) -> list[int] | None:
        """Ids of ``text``; None where the package is missing or the tokenizer refuses its source or the text."""
        if self._tokenizer is None:
            with self._lock:
                if self._tokenizer is None and not self._failed:
                    try:
                        self._tokenizer = self._build()
                    except Exception:  # tokenizers raises bare Exception; without a tokenizer there is no answer
                        self._failed = True
            if self._tokenizer is None:
                return None
        try:
            return self._ids(self._tokenizer, text)
        except Exception:  # e.g. a character the vocabulary has no piece for
            return None


class HuggingFaceEncoder(LazyEncoder):
    """From one of four sources: a ``tokenizers.Tokenizer``, a file's path, its content, or the content parsed."""

    def __init__(
        self,
        *,
        backend: Any = None,
        path: Path | None = None,
        content: bytes | None = None,
        document: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._source = (backend, path, content, document)

    def _build(self) -> Any:
        from tokenizers import Tokenizer

        backend, path, content, document = self._source
        if backend is not None:
            tokenizer = Tokenizer.from_str(backend.to_str())
        elif path is not None:
            tokenizer = Tokenizer.from_file(str(path))
        else:
            tokenizer = Tokenizer.from_str(json.dumps(document) if content is None else content.decode())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        _drop_prefix(tokenizer)
        return tokenizer

    def __reduce__(self) -> tuple[object, ...]:
        backend, path, content, document = self._source
        return (_rebuild, (content if backend is None else backend.to_str().encode(), path, document))


def _rebuild(content: bytes | None, path: Path | None, document: dict[str, Any] | None) -> HuggingFaceEncoder:
    return HuggingFaceEncoder(path=path, content=content, document=document)


def _drop_prefix(tokenizer: Any) -> None:
    """Take out what puts a blank before the first word."""
    parts = {
        name: json.loads(part.__getstate__())
        for name in ("normalizer", "pre_tokenizer")
        if (part := getattr(tokenizer, name)) is not None
    }
    changed = [name for name, part in parts.items() if _without_prefix(part)]
    if not changed:
        return
    from tokenizers import Tokenizer, models

    # The package builds parts only as parts of a tokenizer: put them into one without a vocabulary.
    small = json.loads(Tokenizer(models.BPE()).to_str())
    donor = Tokenizer.from_str(json.dumps({**small, **parts}))
    for name in changed:
        setattr(tokenizer, name, getattr(donor, name))


def _without_prefix(part: dict[str, Any]) -> bool:
    """Change ``part`` in place so that it adds no blank in front; tell whether anything was changed."""
    changed = False
    pending: list[Any] = [part]
    while pending:
        step = pending.pop()
        kind = step.get("type")
        if kind == "Sequence":
            pending.extend(step.get("normalizers") or step.get("pretokenizers") or ())
        elif kind == "Prepend":
            step.clear()
            step.update({"type": "Sequence", "normalizers": []})
            changed = True
        elif kind == "Metaspace":
            step["prepend_scheme"] = "never"
            step.pop("add_prefix_space", None)
            changed = True
        elif kind == "ByteLevel" and step.get("add_prefix_space"):
            step["add_prefix_space"] = False
            changed = True
    return changed
