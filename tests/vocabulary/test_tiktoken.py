"""Vocabularies given as ranks."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path
from typing import Any

import pytest

from constrained.errors import TokenizerError
from constrained.vocabulary import TokenizerInfo

read = TokenizerInfo.from_tiktoken
RANKS = {bytes((b,)): b for b in range(256)} | {b"ab": 256, b"  ": 257, "é".encode(): 258}
SPECIAL = {"<|endoftext|>": 259, "<|im_end|>": 262}
PATTERN = r"\w+|\s+|[^\w\s]+"


def test_ranks() -> None:
    info = read(RANKS, special_tokens=SPECIAL)
    assert info.vocab_size == 263
    assert info.decoded_vocab == [*RANKS, b"", b"", b"", b""]
    assert info.stop_token_ids == (259, 262)
    assert dict(info.token_ids_by_text) == {"<|endoftext|>": (259,), "<|im_end|>": (262,)}
    assert info.closed
    assert info.encode("ab") is None


def test_ranks_file(tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(b"\n".join(base64.b64encode(token) + b" %d" % rank for token, rank in RANKS.items()) + b"\n\n")
    assert len({read(source, special_tokens=SPECIAL) for source in (path, str(path), RANKS)}) == 1
    for line in (b"YQ==", b"YQ== x", b"Y 1", b"YQ== 1 2", b"\xff 1"):
        path.write_bytes(b"YQ== 0\n" + line)
        with pytest.raises(TokenizerError, match="line 2"):
            read(path, special_tokens=SPECIAL)


def test_encoding_object_and_pattern() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("test", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens=SPECIAL)
    from_object, from_ranks = read(encoding), read(RANKS, special_tokens=SPECIAL, pattern=PATTERN)
    assert from_object == from_ranks
    for text in ("", "abab  é", "<|im_end|>", "漢字 👍", "a\x00b"):
        ids = encoding.encode_ordinary(text)
        for info in (from_object, from_ranks, pickle.loads(pickle.dumps(from_object)),
                     pickle.loads(pickle.dumps(from_ranks))):
            assert info.encode(text) == ids
            assert b"".join(map(info.token_bytes, ids)) == text.encode()
    assert read(RANKS, special_tokens=SPECIAL, pattern="(").encode("a") is None


@pytest.mark.parametrize(("source", "special"), [
    ({}, {}), ({}, {"</s>": -1}), ({b"a": 0}, {}), ({b"a": 0, b"b": 0}, {"</s>": 1}), ({b"a": 0}, {"</s>": 0}),
    ({b"a": 0}, {"</s>": 1, "<x>": 1}), ({"a": 0}, {"</s>": 1}), ({b"a": "0"}, {"</s>": 1}), ({b"a": 0}, {b"</s>": 1}),
    ({b"a": 1 << 60}, {"</s>": 1}), ({b"a": True}, {"</s>": 2}), (5, {}), (None, {}), ("no such file", {}), ("a\0", {}),
], ids=str)
def test_bad_sources(source: Any, special: Any) -> None:
    with pytest.raises(TokenizerError):
        read(source, special_tokens=special)
