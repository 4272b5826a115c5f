# ruff: noqa: E402 - imports follow pytest.importorskip
"""``constrained serve``: what cannot be served is said before a model is loaded; a served model ends with exit code 0.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from constrained.cli.main import main
from tests.decoder.smollm2 import require_smollm2


def test_a_model_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "none.gguf")]) == 2
    assert "no file or folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--json-whitespace", "wide"), ("--at-limit", "stop"), ("--reasoning", "on"),
                                    ("--api-key", "")])
def test_wrong_settings(tmp_path: Path, option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    assert main(["serve", str(file), *option]) == 2
    assert capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", str(file), "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot listen" in capsys.readouterr().err


def test_a_broken_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" + bytes(40))
    assert main(["serve", str(file), "--port", "0"]) == 1
    assert "error" in capsys.readouterr().err


@pytest.mark.skipif(not os.environ.get("CONSTRAINED_NIGHTLY"), reason="loads a model once more: CONSTRAINED_NIGHTLY=1")
def test_a_served_model_ends_with_sigterm() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "constrained.cli.main", "serve", str(require_smollm2()),
                                "--quantized", "--port", str(port), "--model-name", "small"])
    try:
        end = time.monotonic() + 120
        while True:
            assert process.poll() is None and time.monotonic() < end
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5) as answer:
                    assert json.loads(answer.read())["data"][0]["id"] == "small"
                    break
            except OSError:
                time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0
    finally:
        process.kill()
