"""Tokenising text with a Hugging Face tokenizer, the way a model writes text in the middle of its output.

Differences to ``tokenizer.encode``: no control token is added or recognised in the text, and no blank is put
before the first word. The encoder works on a copy, made at the first use: the caller's object may be changed
(padding, truncation, new tokens) or used by another thread meanwhile.

Cost: the copy takes 0.3 to 2 s and the tokenizer's memory once more; nothing before the first use.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

__all__ = ["HuggingFaceEncoder"]

_EMPTY: dict[str, Any] = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
    "post_processor": None, "decoder": None, "model": {"type": "BPE", "vocab": {}, "merges": []},
}


class HuggingFaceEncoder:
    """``encode(text)`` with one of four sources: a ``tokenizers.Tokenizer``, a file, its text, or its dict."""

    def __init__(
        self,
        *,
        backend: Any = None,
        path: Path | None = None,
        text: bytes | None = None,
        document: dict[str, Any] | None = None,
    ) -> None:
        self._source: tuple[Any, Path | None, bytes | None, dict[str, Any] | None] = (backend, path, text, document)
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._failed = False

    def encode(self, text: str) -> list[int] | None:
        """Ids of ``text``; None where the package is missing or the source cannot be loaded."""
        tokenizer = self._tokenizer
        if tokenizer is None:
            with self._lock:
                if self._tokenizer is None and not self._failed:
                    try:
                        self._tokenizer = self._load()
                    except Exception:  # the package raises bare Exception; without a tokenizer there is no answer
                        self._failed = True
                tokenizer = self._tokenizer
            if tokenizer is None:
                return None
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def _load(self) -> Any:
        from tokenizers import Tokenizer

        backend, path, text, document = self._source
        if backend is not None:
            tokenizer = Tokenizer.from_str(backend.to_str())
        elif path is not None:
            tokenizer = Tokenizer.from_file(str(path))
        elif text is not None:
            tokenizer = Tokenizer.from_str(text.decode())
        else:
            tokenizer = Tokenizer.from_str(json.dumps(document))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        _drop_prefix(tokenizer)
        self._source = (None, None, None, None) if backend is None and path is None else self._source
        return tokenizer

    def __reduce__(self) -> tuple[object, ...]:
        backend, path, text, document = self._source
        if backend is None and path is None and text is None and document is None:
            backend = self._tokenizer
        return (_rebuild, (None if backend is None else backend.to_str().encode(), path, text, document))


def _rebuild(
    serialized: bytes | None, path: Path | None, text: bytes | None, document: dict[str, Any] | None
) -> HuggingFaceEncoder:
    return HuggingFaceEncoder(path=path, text=serialized or text, document=document)


def _drop_prefix(tokenizer: Any) -> None:
    """Take out what puts a blank before the first word."""
    normalizer, pre_tokenizer = (
        None if part is None else json.loads(part.__getstate__())
        for part in (tokenizer.normalizer, tokenizer.pre_tokenizer)
    )
    changed = [_without_prefix(part) for part in (normalizer, pre_tokenizer)]
    if not any(changed):
        return
    from tokenizers import Tokenizer, normalizers

    small = Tokenizer.from_str(json.dumps({**_EMPTY, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}))
    if changed[0]:
        tokenizer.normalizer = small.normalizer if normalizer is not None else normalizers.Sequence([])
    if changed[1]:
        tokenizer.pre_tokenizer = small.pre_tokenizer


def _without_prefix(part: Any) -> bool:
    """Change ``part`` in place so that it adds no blank in front; tell whether anything was changed."""
    changed = False
    pending = [part]
    while pending:
        step = pending.pop()
        if not isinstance(step, dict):
            continue
        kind = step.get("type")
        if kind == "Sequence":
            pending.extend(step.get("normalizers") or step.get("pretokenizers") or ())
        elif kind == "Prepend":
            step.clear()
            step.update({"type": "Replace", "pattern": {"String": "\u2581"}, "content": "\u2581"})
            changed = True
        elif kind == "Metaspace":
            step["prepend_scheme"] = "never"
            step.pop("add_prefix_space", None)
            changed = True
        elif kind == "ByteLevel" and step.get("add_prefix_space"):
            step["add_prefix_space"] = False
            changed = True
    return changed
