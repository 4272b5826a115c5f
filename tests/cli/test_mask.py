"""``constrained mask``: the tokens it lists are those that the oracle allows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("typer")

from constrained.cli.mask import _shortened, written
from constrained.frontends.ebnf import from_ebnf
from constrained.vocabulary import TokenizerInfo
from tests.cli.command_line import CommandLine, byte_info, write_tokenizer
from tests.oracles import brute_force_mask

GRAMMAR = 'root ::= "{" pair ("," pair)* "}"\npair ::= [a-z]+ ":" (number | "true")\nnumber ::= [0-9]{1,3}\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "100")
    return CommandLine(capsys)


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    grammar = tmp_path / "g.ebnf"
    grammar.write_text(GRAMMAR, encoding="utf-8")
    return ["--grammar", str(grammar), "--tokenizer", str(write_tokenizer(tmp_path))]


@pytest.mark.parametrize("prefix", ["", "{", "{a", "{a:", "{a:tr", "{a:1", "{a:123", "{a:1}"])
def test_the_tokens_are_those_of_the_oracle(run: CommandLine, options: list[str], prefix: str) -> None:
    code, out, _ = run("mask", *options, "--prefix", prefix, "--json")
    found = json.loads(out)
    info = TokenizerInfo.from_huggingface(options[3])
    expected = brute_force_mask(from_ebnf(GRAMMAR), prefix.encode(), info.decoded_vocab, stops=info.stop_token_ids)
    assert code == 0 and found["fits"]
    assert {token["id"] for token in found["tokens"]} == expected
    assert found["allowed"] == len(found["tokens"])
    assert found["may_end"] == (prefix == "{a:1}")


def test_what_is_printed(run: CommandLine, options: list[str]) -> None:
    code, out, _ = run("mask", *options, "--prefix", "{ab:t")
    assert code == 0
    assert "1 of 98 tokens" in out
    assert "forced   rue" in out
    assert "not yet: at least 4 bytes are missing" in out
    assert "rules    pair" in out


def test_a_prefix_that_does_not_fit(run: CommandLine, options: list[str]) -> None:
    code, out, _ = run("mask", *options, "--prefix", "{ab:x")
    assert code == 1
    assert "does not fit from byte 4 on: x" in out
    code, out, _ = run("mask", *options, "--prefix", "{ab:x", "--json")
    found = json.loads(out)
    assert (code, found["fits"], found["bytes_taken"]) == (1, False, 4)


def test_few_tokens_are_listed_and_the_rest_counted(run: CommandLine, options: list[str]) -> None:
    _, out, _ = run("mask", *options, "--prefix", "{", "--limit", "3")
    assert "and 25 more" in out  # a to z, "tr" and "ue" are 28


def test_refused_tokens_are_listed_where_most_are_allowed(run: CommandLine, options: list[str]) -> None:
    _, out, _ = run("mask", "--regex", "[^a]+", *options[2:], "--prefix", "b")
    assert "refused  a" in out
    assert "97 of 98" in out


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "give one of"),
    (["--builtin", "json", "--regex", "a"], "give one of"),
    (["--builtin", "nonsense"], "there is no built-in grammar"),
    (["--grammar", "/does/not/exist"], "No such file"),
    (["--builtin", "json", "--tokenizer", "/does/not/exist"], "No such file"),
    (["--builtin", "json"], "constrained demo"),
])
def test_what_cannot_be_read(run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str],
                             said: str) -> None:
    monkeypatch.setenv("CONSTRAINED_CACHE", str(tmp_path / "empty"))
    code, out, err = run("mask", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and said in err


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"GGUF", b"GGUF\3\0\0\0nonsense", b"root ::= 5"])
def test_files_that_are_no_tokenizer(run: CommandLine, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    code, _, err = run("mask", "--builtin", "json", "--tokenizer", path)
    assert code == 2
    assert err.startswith("error: ")


def test_a_wrong_grammar_is_an_answer(run: CommandLine, options: list[str]) -> None:
    code, _, err = run("mask", "--regex", "(", *options[2:])
    assert code == 1
    assert "position 0" in err


def test_a_grammar_that_the_vocabulary_cannot_spell(run: CommandLine, options: list[str]) -> None:
    code, _, err = run("mask", "--regex", "é", *options[2:])
    assert code == 1
    assert err.startswith("error: ")


def test_how_tokens_are_shown() -> None:
    info = byte_info()
    names = {i: text for text, ids in info.token_ids_by_text.items() for i in ids}
    shown = [written(info, names, i) for i in (0x41, 0x20, 0x0A, 0xC3, info.vocab_size - 2, info.vocab_size - 1)]
    assert shown == [("A", "text"), ("·", "text"), ("\\n", "text"), ("<C3>", "bytes"), ("<|im_start|>", "control"),
                     ("<|im_end|>", "stop")]
    assert written(info, names, 261) == ("·é", "text")
    assert [_shortened(text) for text in ("\\n·······", "\\n\\n\\n\\n\\n\\n", "aaaa", "aaaaa")] == [
        "\\n·×7", "\\n×6", "aaaa", "a×5"]
