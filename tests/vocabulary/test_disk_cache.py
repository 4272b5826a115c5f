"""The cache of finished vocabularies: hits, broken files, full disks, many writers."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from constrained.vocabulary import TokenizerInfo, huggingface
from constrained.vocabulary.disk_cache import VocabularyCache
from tests.vocabulary.gguf_files import gguf_bytes
from tests.vocabulary.sources import added, backend_of, document, info_of
from tests.vocabulary.test_gguf import SMALL

MADE = document(["a", "Ġ", "\n", "</s>"],
                added_tokens=[added(3, "</s>", special=True), added(5, "x é", special=False)])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(MADE))
    return path


def read(source: Any, folder: Path, **more: Any) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(source, cache_dir=folder / "cache", **more)


def same(one: TokenizerInfo, other: TokenizerInfo) -> bool:
    return one == other and all(
        getattr(one, name) == getattr(other, name)
        for name in ("token_data", "special_token_ids", "added_token_ids", "stop_token_ids", "token_ids_by_text",
                     "vocab_type", "add_prefix_space", "unspellable_bytes", "closed")
    ) and one.token_offsets.tolist() == other.token_offsets.tolist()


def files(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / "cache").glob(f"*.{kind}"))


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(content: bytes) -> Any:
        raise AssertionError("read again")

    monkeypatch.setattr(huggingface, "definition_of_content", fail)


def test_second_reading_comes_from_disk(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(source, tmp_path)
    assert same(first, TokenizerInfo.from_huggingface(source))
    forbid_reading(monkeypatch)
    again = read(source, tmp_path)
    assert same(again, first)
    assert again.encode("aa") == [0, 0]
    with pytest.raises(AssertionError):
        read(source, tmp_path, vocab_size=9)
    with pytest.raises(AssertionError):
        read(source, tmp_path, stop_token_ids=[3])


def test_what_lies_beside_the_source_counts(source: Path, tmp_path: Path) -> None:
    first = read(source, tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 0}')
    assert read(source, tmp_path).stop_token_ids == (0, 3)
    assert first.stop_token_ids == (3,)


def test_found_by_fingerprint(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_bytes(SMALL))
    cache = VocabularyCache(tmp_path / "cache")
    for info in (TokenizerInfo.from_gguf(path, cache_dir=tmp_path / "cache"), read(MADE, tmp_path, vocab_size=100)):
        found = cache.load(info.fingerprint)
        assert found is not None
        assert same(found, info)
    assert cache.load("0" * 64) is None


def test_a_real_vocabulary(tmp_path: Path) -> None:
    info = read(backend_of("gemma3"), tmp_path)
    found = VocabularyCache(tmp_path / "cache").load(info.fingerprint)
    assert found is not None
    assert same(found, info_of("gemma3"))


@pytest.mark.parametrize("kind", ["vocabulary", "source"])
def test_broken_files_are_made_anew(kind: str, source: Path, tmp_path: Path) -> None:
    expected = read(source, tmp_path)
    (path,) = files(tmp_path, kind)
    whole = path.read_bytes()
    broken = [whole[:size] for size in range(0, len(whole), 7)]
    broken += [whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :] for at in range(len(whole))]
    broken += [whole + b"x", b"", b"\x00" * 1000, b"[" * 100_000]
    for content in broken:
        path.write_bytes(content)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert same(read(source, tmp_path), expected)
        # A source file with another fingerprint in it just leads nowhere; everything else is told.
        assert caught or kind == "source"
        assert all(issubclass(warning.category, RuntimeWarning) for warning in caught)
        assert path.read_bytes() == whole


def test_a_full_disk_is_a_warning(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert read(source, tmp_path).decoded_vocab[0] == b"a"
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_warning(source: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.warns(RuntimeWarning, match="cache"):
        assert read(source, tmp_path).decoded_vocab[0] == b"a"


def test_many_writers(source: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        infos = list(pool.map(lambda _: read(source, tmp_path), range(64)))
    assert len(set(infos)) == 1
    assert len(files(tmp_path, "vocabulary")) == len(files(tmp_path, "source")) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 2


WRITER = """
import sys
from constrained.vocabulary import TokenizerInfo
from constrained.vocabulary.disk_cache import VocabularyCache
info = TokenizerInfo.from_bytes([*(bytes([i]) for i in range(256)), *(b"%d" % i for i in range(60_000))],
                                stop_token_ids=[0])
cache = VocabularyCache(sys.argv[1])
print(info.fingerprint, flush=True)
while True:
    cache.store(info, "0" * 64)
"""


def test_a_killed_writer_leaves_no_broken_file(tmp_path: Path) -> None:
    cache = VocabularyCache(tmp_path / "cache")
    for turn in range(4):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "cache")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}) as writer:
            assert writer.stdout is not None
            fingerprint = writer.stdout.readline().strip()
            assert len(fingerprint) == 64
            time.sleep(0.003 + 0.007 * turn)
            writer.kill()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for found in (cache.load(fingerprint), cache.load_source("0" * 64)):
                assert found is None or found.fingerprint == fingerprint
    for path in (tmp_path / "cache").glob(".writing-*"):
        os.utime(path, (0, 0))
    (tmp_path / "cache" / ".writing-now").write_bytes(b"x")  # somebody is at it
    cache.store(TokenizerInfo.from_bytes([b"a", b""], stop_token_ids=[1]))
    assert [path.name for path in (tmp_path / "cache").glob(".writing-*")] == [".writing-now"]
