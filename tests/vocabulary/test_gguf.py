"""GGUF vocabularies: SmolLM2's own, the shared tokenizers written as GGUF, and broken files."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrained.errors import TokenizerError
from constrained.vocabulary import TokenizerInfo, VocabType
from constrained.vocabulary.gguf import _IGNORE_MERGES, _SPLITS
from constrained.vocabulary.gguf_metadata import read_metadata
from tests.vocabulary.gguf_files import gguf_bytes
from tests.vocabulary.sources import backend_of, folder_of, info_of, smollm2, smollm2_path
from tests.vocabulary.test_round_trips import ALPHABETS, TEXTS

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")

SMALL: dict[str, Any] = {
    "general.name": "small",
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.tokens": ["a", "Ġ", "Ã©", "<|im_end|>", "é x", "[PAD5]", "<unk>", "<end>"],
    "tokenizer.ggml.token_type": np.array([1, 1, 1, 3, 4, 5, 2, 3], dtype=np.int32),
    "tokenizer.ggml.eos_token_id": 7,
    "tokenizer.ggml.scale": 0.5,
    "tokenizer.ggml.add_space_prefix": False,
}


def write(folder: Path, pairs: dict[str, Any]) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(gguf_bytes(pairs))
    return path


def test_token_types(tmp_path: Path) -> None:
    info = TokenizerInfo.from_gguf(write(tmp_path, SMALL))
    assert info.decoded_vocab == [b"a", b" ", "é".encode(), b"", "é x".encode(), b"", b"", b""]
    assert info.special_token_ids == {3, 6, 7}
    assert info.added_token_ids == {4}
    assert info.stop_token_ids == (7, 3)
    assert info.token_ids_by_text["é x"] == (4,)
    assert info.vocab_type is VocabType.BYTE_LEVEL
    assert info.encode("a") is None  # no merges, no splitting named
    assert TokenizerInfo.from_gguf(tmp_path / "model.gguf", stop_token_ids=[0], vocab_size=20).stop_token_ids == (0,)


def test_space_marks_and_bytes(tmp_path: Path) -> None:
    pairs = {**SMALL, "tokenizer.ggml.model": "llama", "tokenizer.ggml.eot_token_id": 3,
             "tokenizer.ggml.tokens": ["<0x0A>", "\u2581a", "\u2581\u2581", "<turn>", "é x", "[PAD]", "<unk>", "<end>"],
             "tokenizer.ggml.token_type": np.array([6, 1, 4, 3, 4, 5, 2, 3], dtype=np.int32)}
    info = TokenizerInfo.from_gguf(write(tmp_path, pairs))
    assert info.decoded_vocab == [b"\n", b" a", b"  ", b"", "é x".encode(), b"", b"", b""]
    assert info.stop_token_ids == (7, 3)


def test_metadata_agrees_with_the_package(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    path = smollm2_path()
    ours = read_metadata(path)
    reader = gguf.GGUFReader(path)
    theirs = {key: field for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        if isinstance(value, list):  # strings, sampled: the package is slow
            for index in (*range(0, len(value), 997), len(value) - 1):
                assert value[index].decode() == theirs[key].contents(index)
        else:
            assert (value.tolist() if isinstance(value, np.ndarray) else value) == theirs[key].contents()


def test_smollm2() -> None:
    info = smollm2()
    assert info.vocab_size == 49152
    assert info.stop_token_ids == (2, 0)
    assert len(info.special_token_ids) == 17
    assert info.unspellable_bytes == {*b"\x04\x06\x13\x14\x16\x1d\xc0\xc1\xf1\xf2", *range(0xF5, 0x100)}
    # llama.cpp's ids for this text, and those of the model's training; without the digit split: [216, 216, 33, 34].
    assert info.encode("  12") == [256, 33, 34]
    assert info.encode("a\x04b") is None
    assert pickle.loads(pickle.dumps(info)).encode("  12") == [256, 33, 34]


def as_gguf(name: str, pre: str) -> dict[str, Any]:
    """A shared byte-level tokenizer as the pairs of a GGUF file."""
    document = json.loads((folder_of(name) / "tokenizer.json").read_bytes())
    info = info_of(name)
    tokens = [backend_of(name).id_to_token(i) or f"[PAD{i}]" for i in range(info.vocab_size)]
    types = np.ones(info.vocab_size, dtype=np.int32)
    types[sorted(info.special_token_ids)] = 3
    types[sorted(info.added_token_ids)] = 4
    types[[i for i, token in enumerate(tokens) if token.startswith("[PAD")]] = 5
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in document["model"]["merges"]]
    return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": types, "tokenizer.ggml.merges": merges,
            "tokenizer.ggml.eos_token_id": info.stop_token_ids[0]}


NAMED_SPLITS = [("llama3_1", "llama-bpe"), ("qwen3", "qwen2"), ("gptoss", "gpt-4o")]


@pytest.mark.parametrize(("name", "pre"), NAMED_SPLITS)
def test_splitting_patterns_are_those_of_the_original(name: str, pre: str) -> None:
    document = json.loads((folder_of(name) / "tokenizer.json").read_bytes())
    split, byte_level = document["pre_tokenizer"]["pretokenizers"]
    assert _SPLITS[pre] == (split["pattern"]["Regex"],)
    assert (split["behavior"], split["invert"], byte_level["use_regex"]) == ("Isolated", False, False)
    assert bool(document["model"].get("ignore_merges")) == (pre in _IGNORE_MERGES)


@pytest.mark.parametrize(("name", "pre"), NAMED_SPLITS if NIGHTLY else NAMED_SPLITS[:1])
def test_byte_level_ids_are_those_of_the_original(name: str, pre: str, tmp_path: Path) -> None:
    info = TokenizerInfo.from_gguf(write(tmp_path, as_gguf(name, pre)))
    original = info_of(name)
    assert info.decoded_vocab == original.decoded_vocab
    assert info.special_token_ids == original.special_token_ids
    assert info.added_token_ids == original.added_token_ids
    for text in TEXTS:
        if original.encode(text) is not None:
            assert info.encode(text) == original.encode(text), text


def test_sentencepiece_ids_are_those_of_the_original(tmp_path: Path) -> None:
    """Merges derived from scores give the ids that Llama-2's own merges give.

    A tokenizer.json has no scores; those of the model order its pieces as its merges are ordered.
    """
    original = info_of("llama2")
    tokens = [backend_of("llama2").id_to_token(i) for i in range(32000)]
    types = np.array([2, 3, 3] + [6] * 256 + [1] * (32000 - 259), dtype=np.int32)
    scores = np.zeros(32000, dtype=np.float32)
    merges = json.loads((folder_of("llama2") / "tokenizer.json").read_bytes())["model"]["merges"]
    joined = dict.fromkeys("".join(merge.split(" ") if isinstance(merge, str) else merge) for merge in merges)
    scores[[backend_of("llama2").token_to_id(piece) for piece in joined]] = -np.arange(1, len(joined) + 1)
    info = TokenizerInfo.from_gguf(write(tmp_path, {
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": scores, "tokenizer.ggml.eos_token_id": 2}))
    assert info.decoded_vocab == original.decoded_vocab
    assert info.add_prefix_space

    @settings(max_examples=200, deadline=None)
    @given(ALPHABETS)
    def same(text: str) -> None:
        assert info.encode(text) == original.encode(text)

    same()


@pytest.mark.parametrize("pairs", [
    {},
    {"tokenizer.ggml.model": "gpt2"},
    {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": []},
    {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": "a"},
    {**SMALL, "tokenizer.ggml.model": "bert"},
    {**SMALL, "tokenizer.ggml.model": 5},
    {**SMALL, "tokenizer.ggml.tokens": ["a", b"\xff"]},
    {**SMALL, "tokenizer.ggml.token_type": np.array([1], dtype=np.int32)},
    {**SMALL, "tokenizer.ggml.token_type": 5},
    {**SMALL, "tokenizer.ggml.token_type": np.ones(8, dtype=np.int32), "tokenizer.ggml.eos_token_id": 99},
], ids=range(10))
def test_bad_vocabularies(pairs: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TokenizerError):
        TokenizerInfo.from_gguf(write(tmp_path, pairs))


def test_bad_files(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with pytest.raises(TokenizerError, match="No such file"):
        TokenizerInfo.from_gguf(path)
    with pytest.raises(TokenizerError):
        TokenizerInfo.from_gguf(tmp_path)
    for content in (b"", b"GGUF", b"PK\x03\x04" * 99, gguf_bytes(SMALL, version=1), gguf_bytes(SMALL, version=3 << 24)):
        path.write_bytes(content)
        with pytest.raises(TokenizerError):
            TokenizerInfo.from_gguf(path)


def test_files_cut_off_anywhere(tmp_path: Path) -> None:
    whole = gguf_bytes(SMALL)
    path = tmp_path / "model.gguf"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(TokenizerError):
            TokenizerInfo.from_gguf(path)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_files_with_changed_bytes(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever the bytes, the answer is a vocabulary or a ``TokenizerError``."""
    content = bytearray(gguf_bytes(SMALL))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.sampled_from([0, 1, 8, 9, 127, 255]))
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    try:
        TokenizerInfo.from_gguf(path)
    except TokenizerError:
        pass
