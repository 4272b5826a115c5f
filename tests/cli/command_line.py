"""Running the command line in this process, and the small vocabulary its tests use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from constrained.cli.main import main
from constrained.vocabulary import TokenizerInfo

CONTROL = ("<|im_start|>", "<|im_end|>")


class ByteEncoder:
    """Encodes text as single bytes, the first 256 ids."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())


def byte_info() -> TokenizerInfo:
    """All single bytes, some words, and ChatML's two control tokens; ``<|im_end|>`` ends a text."""
    words = [b"true", b'{"', b'":', b"  ", b'"name"', " é".encode()]
    tokens = [*(bytes([i]) for i in range(256)), *words, *(name.encode() for name in CONTROL)]
    special = range(len(tokens) - len(CONTROL), len(tokens))
    return TokenizerInfo(tokens, special_token_ids=special, stop_token_ids=len(tokens) - 1,
                         token_texts=dict(zip(special, CONTROL, strict=True)), encoder=ByteEncoder())


def write_tokenizer(folder: Path) -> Path:
    """A byte-level ``tokenizer.json`` of printable ASCII and a stop token."""
    vocab = {chr(i): i - 33 for i in range(33, 127)} | {"\u0120": 94, "tr": 95, "ue": 96}
    stop = {"id": 97, "content": "</s>", "special": True, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False}
    document: dict[str, Any] = {
        "version": "1.0", "added_tokens": [stop], "decoder": {"type": "ByteLevel"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        "model": {"type": "BPE", "vocab": vocab | {"</s>": 97}, "merges": []},
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


class CommandLine:
    """``run`` gives exit code, stdout and stderr of one command."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        code = main([str(a) for a in arguments])
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err
