"""The real tokenizers the tests read, each loaded once, and small ones made on the spot."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from constrained.vocabulary import TokenizerInfo
from tests.shared_data import require_shared

NAMES = ("deepseek_v3", "gemma3", "gptoss", "llama2", "llama3_1", "qwen3")


def folder_of(name: str) -> Path:
    """The folder with the tokenizer.json of ``name``; skips where the shared data are not here."""
    return require_shared() / "data" / "tokenizers" / name


@functools.cache
def _loaded(path: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(path))


def backend_of(name: str) -> Any:
    """The ``tokenizers.Tokenizer`` of ``name``."""
    pytest.importorskip("tokenizers")
    return _loaded(folder_of(name) / "tokenizer.json")


@functools.cache
def _info(path: Path) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(_loaded(path))


def info_of(name: str) -> TokenizerInfo:
    """Its vocabulary, read from the loaded object."""
    pytest.importorskip("tokenizers")
    return _info(folder_of(name) / "tokenizer.json")


def smollm2_path() -> Path:
    """SmolLM2-135M-Instruct as a GGUF file; skips where it is not here.

    CONSTRAINED_SMOLLM2 names the file or its folder; else the cache folder of the demo is looked through.
    """
    named = os.environ.get("CONSTRAINED_SMOLLM2")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "constrained"
    for place in [Path(named)] if named else [cache]:
        if place.is_file():
            return place
        if found := sorted(place.glob("**/SmolLM2-135M-Instruct*.gguf")):
            return found[0]
    pytest.skip("SmolLM2 is not here (set CONSTRAINED_SMOLLM2 to its GGUF file)")


@functools.cache
def _smollm2(path: Path) -> TokenizerInfo:
    return TokenizerInfo.from_gguf(path)


def smollm2() -> TokenizerInfo:
    return _smollm2(smollm2_path())


def document(pieces: list[str], **parts: Any) -> dict[str, Any]:
    """A small ``tokenizer.json``: a BPE model without merges, the last piece its end token."""
    model = {"type": "BPE", "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": [], "unk_token": None}
    model.update(parts.pop("model", {}))
    added = [{"id": len(pieces) - 1, "content": pieces[-1], "special": True, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False}]
    empty: dict[str, Any] = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", **empty, "added_tokens": added, "model": model, **parts}


def added(i: int, content: str, *, special: bool) -> dict[str, Any]:
    """An entry of ``added_tokens``."""
    return {"id": i, "content": content, "special": special, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False}
