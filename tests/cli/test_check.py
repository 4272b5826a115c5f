"""``constrained check`` on good, odd, wrong and unreadable files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

from constrained.grammars import builtin_names, builtin_text
from tests.cli.command_line import CommandLine


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "100")
    return CommandLine(capsys)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", builtin_names())
def test_the_grammars_that_ship(run: CommandLine, tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "g.ebnf", builtin_text(name))
    code, out, err = run("check", path, "--strict")
    assert (code, err) == (0, ""), out
    assert "no warnings" in out.replace("\n", " ")


def test_rules_and_warnings(run: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "g.gbnf", 'root ::= a "x"\na ::= "b"?\nc ::= "d" c\n')
    code, out, _ = run("check", path)
    assert code == 0
    assert "can be empty" in out and "never used, can never end" in out
    assert "'c' can never be completed" in out and "2 warnings" in out
    code, out, _ = run("check", path, "--strict")
    assert code == 1 and "refused" in out
    code, out, _ = run("check", path, "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["kind"], found["root"]) == (0, True, "ebnf", "root")
    assert (found["rules"], found["nullable"], found["unreachable"]) == (["root", "a", "c"], ["a"], ["c"])


def test_notes(run: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "g.ebnf", 'root ::= "a" (= "b")\n')
    code, out, _ = run("check", path)
    assert code == 0
    assert "note: line 1: the look-ahead" in out


def test_a_syntax_error_has_a_caret(run: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "g.ebnf", 'root ::= a\na ::= "b" [\n')
    code, out, _ = run("check", path)
    assert code == 1
    lines = out.splitlines()
    caret = next(line for line in lines if line.strip() == "^")
    assert lines[lines.index(caret) - 1][caret.index("^")] == "["
    code, out, _ = run("check", path, "--json")
    error = json.loads(out)["error"]
    assert (code, error["type"], error["line"], error["column"]) == (1, "GrammarSyntaxError", 2, 11)


def test_a_root_of_another_name(run: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "g.ebnf", 'start ::= "a"\n')
    assert run("check", path)[0] == 1
    assert run("check", path, "--root", "start")[0] == 0


def test_patterns(run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("check", written(tmp_path, "p.regex", "[ab]+c{2}\n"))[0] == 0
    code, out, _ = run("check", written(tmp_path, "p.re", r"(a|b)+\1"), "--json")
    error = json.loads(out)["error"]
    assert (code, error["type"], error["position"]) == (1, "NotRegularError", 6)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a{2,3}\n")))
    assert run("check", "--regex", "--dialect", "ecma", "-")[0] == 0


@pytest.mark.parametrize(("content", "said"), [(b"\xff\xfe", "not UTF-8"), (b'root ::= "\xc3"', "offset 10, line 1")])
def test_files_that_are_no_text(run: CommandLine, tmp_path: Path, content: bytes, said: str) -> None:
    code, out, err = run("check", written(tmp_path, "g.ebnf", content))
    assert (code, out) == (2, "")
    assert said in err


def test_files_that_cannot_be_read(run: CommandLine, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent", "a\0b"):
        code, out, err = run("check", path)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")


@pytest.mark.parametrize("content", ["", "# only a remark\n", "this is prose, not a grammar.", "{}",
                                     'root ::= root "a"'])
def test_texts_that_are_no_grammar(run: CommandLine, tmp_path: Path, content: str) -> None:
    code, out, _ = run("check", written(tmp_path, "g.ebnf", content))
    assert code == 1
    assert "not a usable grammar" in out


def test_markup_in_a_grammar_is_shown_as_it_is(run: CommandLine, tmp_path: Path) -> None:
    code, out, _ = run("check", written(tmp_path, "g.ebnf", 'root ::= "[bold]" [/a]\n'))
    assert code == 0
    assert '"[bold]" [/a]' in out.replace("  ", " ")


def test_a_long_grammar_is_cut_unless_all_is_asked_for(run: CommandLine, tmp_path: Path) -> None:
    rules = "".join(f'r{i} ::= "{i}"\n' for i in range(300))
    path = written(tmp_path, "g.ebnf", "root ::= " + " | ".join(f"r{i}" for i in range(300)) + "\n" + rules)
    _, out, _ = run("check", path)
    assert "more rules" in out and "r299 " not in out
    _, out, _ = run("check", path, "--all")
    assert "r299 " in out
