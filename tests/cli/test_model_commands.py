"""generate, extract, chat, trace and bench over a small random model: what they write is nonsense, and valid."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")
pytest.importorskip("typer")

from tests.cli.command_line import CommandLine, write_tokenizer
from tests.typed.tiny import tiny_model

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"]}'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    from constrained.cli import outputs
    from constrained.typed.llm import LLM

    def opened(source: str | None, *, device: str | None = None, max_batch: int = 8) -> LLM:
        return LLM(tiny_model(), max_len=2048, max_batch=max_batch)

    monkeypatch.setattr(outputs, "open_model", opened)
    yield CommandLine(capsys)


def test_generate(run: CommandLine) -> None:
    code, out, err = run("generate", "hello", "--schema", SCHEMA, "--max-tokens", "40")
    assert code == 0 and 0 <= json.loads(out)["n"] <= 9
    assert "forced" in err
    code, out, _ = run("generate", "hello", "--choice", "yes", "--choice", "no", "--temperature", "1", "--seed", "3")
    assert code == 0 and out.strip() in ("yes", "no")
    assert run("generate", "hello", "--max-tokens", "5")[0] == 0


def test_a_type_of_the_working_directory(run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shapes_for_a_test.py").write_text("from typing import Literal\nColour = Literal['red', 'green']\n")
    code, out, _ = run("generate", "hello", "--type", "shapes_for_a_test:Colour")
    assert code == 0 and out.strip() in ("red", "green")


def test_lines_go_on_where_they_stopped(run: CommandLine, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "a", "text": "one"}\n"two"\n{"text": "three"}\n', encoding="utf-8")
    options = ("extract", "--schema", SCHEMA, "--jsonl", source, target, "--batch", "2", "--max-tokens", "40")
    assert run(*options)[0] == 0
    whole = target.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in whole.splitlines()]
    assert [row["line"] for row in rows] == [1, 2, 3] and rows[0]["id"] == "a" and "id" not in rows[1]
    assert all(0 <= row["output"]["n"] <= 9 for row in rows)
    first = whole.splitlines(keepends=True)[0]
    target.write_text(first + '{"line": 2, "outp', encoding="utf-8")
    code, _, err = run(*options)
    assert code == 0 and target.read_text(encoding="utf-8") == whole
    assert "2 lines written" in err and "1 were there before" in err
    source.write_text('"one"\n', encoding="utf-8")
    assert run(*options)[0] == 2


def test_lines_end_where_jsonl_says(run: CommandLine, tmp_path: Path) -> None:
    """JSON texts may hold U+2028, U+0085 and other line ends as they are; a byte order mark is no text."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('\ufeff{"text": "one\u2028two\u0085three"}\r\n"four"', encoding="utf-8")
    assert run("extract", "--schema", SCHEMA, "--jsonl", source, target, "--max-tokens", "40")[0] == 0
    assert len(target.read_text(encoding="utf-8").splitlines()) == 2
    source.write_text("", encoding="utf-8")
    target.unlink()
    assert run("extract", "--schema", SCHEMA, "--jsonl", source, target)[0] == 0


@pytest.mark.parametrize(("line", "message"), [("", "empty"), ("{", "no JSON"), ("3", "neither"),
                                               ('{"x": 1}', "no field")])
def test_wrong_lines_are_named(run: CommandLine, tmp_path: Path, line: str, message: str) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f'"one"\n{line}\n"three"\n', encoding="utf-8")
    code, _, err = run("extract", "--schema", SCHEMA, "--jsonl", source, tmp_path / "out.jsonl")
    assert code == 2 and "line 2" in err and message in err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("arguments", [
    ("generate",), ("generate", "x", "--jsonl", "a", "b"), ("generate", "x", "--regex", "a", "--choice", "b"),
    ("extract", "x"), ("generate", "x", "--type", "json"), ("generate", "x", "--type", "json:nothing"),
    ("generate", "x", "--type", "no_such_module:X"), ("generate", "x", "--schema", "{"), ("bench",),
    ("generate", "x", "--grammar", "no/such/file"), ("generate", "--jsonl", "no/such/file", "b"),
])
def test_usage(run: CommandLine, arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    assert code == 2 and "error: " in err


def test_chat(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hello\n/new\nand now\n\nnot read\n"))
    code, out, _ = run("chat", "--choice", "yes", "--choice", "no", "--system", "be brief")
    assert code == 0 and len(out.split()) == 2 and set(out.split()) <= {"yes", "no"}


def test_trace(run: CommandLine, tmp_path: Path) -> None:
    page, data = tmp_path / "t.html", tmp_path / "t.json"
    code, out, _ = run("trace", "hello", "--schema", SCHEMA, "-o", page, "--layers", "1", "--max-tokens", "40")
    assert code == 0 and "tokens (" in out and page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("trace", "hello", "--choice", "yes", "-o", data, "--layers", "0")[0] == 0
    written: dict[str, Any] = json.loads(data.read_text(encoding="utf-8"))
    assert "".join(step["text"] for step in written["steps"]).startswith("yes")
    assert run("trace", "hello", "--choice", "yes", "-o", data, "--layers", "0", "--thinking", "3")[0] == 0
    written = json.loads(data.read_text(encoding="utf-8"))
    assert sum(step["thinking"] for step in written["steps"]) <= 3 and written["steps"][0]["thinking"]


def test_bench(run: CommandLine, tmp_path: Path) -> None:
    code, out, _ = run("bench", "--regex", "[a-z]{1,9}[0-9]", "--tokenizer", write_tokenizer(tmp_path), "--texts", "3")
    assert code == 0 and "compile + first mask" in out and "second pass" in out
