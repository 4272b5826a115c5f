"""The frame of the command line: usage, exit codes, missing packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

import constrained
from constrained.cli.main import main
from tests.cli.command_line import CommandLine


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "100")
    return CommandLine(capsys)


def test_the_version(run: CommandLine) -> None:
    assert run("--version") == (0, f"constrained {constrained.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["check", "-h"], ["mask", "-h"]])
def test_help(run: CommandLine, arguments: list[str]) -> None:
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Usage: constrained" in out


@pytest.mark.parametrize("arguments", [["frobnicate"], ["check"], ["mask", "--frobnicate"], ["mask", "--limit", "-1"],
                                       ["demo", "--through", "magic"], ["check", "x", "--dialect", "perl"]])
def test_usage_errors(run: CommandLine, arguments: list[str]) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert "Usage: constrained" in err


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages(package: str, monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture[str]) -> None:
    for name in list(sys.modules):
        if (name.startswith("constrained.cli.") and name != "constrained.cli.main") or name.split(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["--version"]) == 2
    assert "pip install 'constrained[cli]'" in capsys.readouterr().err


def test_importing_the_library_imports_no_command_line() -> None:
    code = "import sys, constrained; sys.exit(bool({'typer', 'rich', 'constrained.cli'} & set(sys.modules)))"
    root = Path(constrained.__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_unicode(tmp_path: Path, encoding: str) -> None:
    root = Path(constrained.__file__).parent.parent
    grammar = tmp_path / "g.ebnf"
    grammar.write_text('root ::= "\u00e9 \u20ac" [^x]*\n', encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "constrained.cli.main", "check", str(grammar)], cwd=root, check=False,
                          env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ("\u20ac" if encoding == "utf-8" else "?").encode(encoding) in done.stdout


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    root = Path(constrained.__file__).parent.parent
    grammar = tmp_path / "g.ebnf"
    grammar.write_text("".join(f'r{i} ::= "{i}"\n' for i in range(5_000)), encoding="utf-8")
    command = [sys.executable, "-m", "constrained.cli.main", "check", "--all", "--root", "r0", str(grammar)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
