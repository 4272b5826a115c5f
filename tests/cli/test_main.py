"""The frame of the command line: usage, exit codes, missing packages."""

from __future__ import annotations

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
