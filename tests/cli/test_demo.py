"""The demo with a stand-in for the model (allowed tokens drawn at random), and with the real one where it is here."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("typer")

from rich.console import Console

from constrained.cli.demo import SAMPLES, run_samples
from constrained.cli.demo_model import Piece, chat_prompt
from constrained.cli.timed_matcher import TimedMatcher
from constrained.masks import get_bitmask_shape
from tests.cli.command_line import CommandLine, byte_info
from tests.decoder.smollm2 import require_smollm2


class RandomWriter:
    """Writes an allowed token drawn at random each step, forced ones at once, like the decoder's loop."""

    described = "random"

    def __init__(self, seed: int) -> None:
        self.info = byte_info()
        self._random = random.Random(seed)

    def write(self, prompt_ids: list[int], matcher: TimedMatcher | None, max_tokens: int,
              show: Callable[[Piece], None]) -> None:
        assert prompt_ids[0] == self.info.token_ids_by_text["<|im_start|>"][0]
        if matcher is None:
            for letter in b"no grammar":
                show(Piece((letter,)))
            return
        matcher = matcher.fork()
        row = np.zeros(get_bitmask_shape(1, self.info.vocab_size), np.int32)
        written = 0
        while written < max_tokens:
            matcher.fill_next_token_bitmask(row, 0)
            bits = np.unpackbits(row.view(np.uint8)[0], bitorder="little")
            token = self._random.choice(np.flatnonzero(bits[: self.info.vocab_size]).tolist())
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break
            forced = matcher.compute_ff_tokens()[: max_tokens - written - 1]
            assert all(matcher.accept_token(one) for one in forced)
            show(Piece((token, *forced)))
            written += 1 + len(forced)


@pytest.mark.parametrize("seed", range(5))
def test_every_text_is_valid_whatever_the_model_does(seed: int) -> None:
    out = io.StringIO()
    valid = run_samples(Console(file=out, width=120), RandomWriter(seed))
    text = out.getvalue()
    # A random expression may divide by zero: it is one all the same.
    assert valid or "it has no value" in text
    for sample in SAMPLES:
        assert sample.title in text and f"\n{sample.name} " in text
        assert sample.prompt in text


def test_verdicts_stand_on_lines_of_their_own() -> None:
    """In a file too, where nothing is live."""
    out = io.StringIO()
    run_samples(Console(file=out, width=120), RandomWriter(1))
    verdicts = [line for line in out.getvalue().splitlines() if "valid (" in line]
    assert len(verdicts) == 2 * len(SAMPLES)
    assert all(line.lstrip().startswith(("valid (", "not valid (")) for line in verdicts)


def test_the_log_counts_every_mask() -> None:
    from constrained.api.compiler import GrammarCompiler
    from constrained.engine.matcher import GrammarMatcher

    writer = RandomWriter(0)
    matcher = TimedMatcher(GrammarMatcher(GrammarCompiler(writer.info).compile_regex("[a-c]{4}x")))
    pieces: list[Piece] = []
    writer.write(chat_prompt(writer.info, "go"), matcher, 50, pieces.append)
    assert [len(piece.token_ids) for piece in pieces] == [1, 1, 1, 2]
    assert matcher.log.choices == [3, 3, 3, 3, None, 1]
    assert len(matcher.log.mask_seconds) == 5
    assert matcher.log.seconds >= sum(matcher.log.mask_seconds) > 0


def test_the_log_follows_what_is_undone() -> None:
    from constrained.api.compiler import GrammarCompiler
    from constrained.engine.matcher import GrammarMatcher

    info = byte_info()
    matcher = TimedMatcher(GrammarMatcher(GrammarCompiler(info).compile_regex("[a-c][a-b]x")))
    row = np.zeros(get_bitmask_shape(1, info.vocab_size), np.int32)
    matcher.fill_next_token_bitmask(row)
    assert matcher.accept_token(ord("a")) and not matcher.accept_token(ord("c"))
    matcher.rollback()
    assert matcher.accept_token(ord("b"))
    matcher.fill_next_token_bitmask(row)
    matcher.fill_next_token_bitmask(row)
    assert matcher.accept_token(ord("b")) and matcher.accept_token(ord("x"))
    assert matcher.log.choices == [3, 2, None]
    matcher.rollback(2)
    assert matcher.log.choices == [3]
    assert matcher.accept_token(ord("a"))
    assert matcher.log.choices == [3, 2]


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = CommandLine(capsys)("demo", "--model", "/does/not/exist.gguf")
    assert code == 2
    assert "there is no file" in err


def test_smollm2(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = require_smollm2()
    pytest.importorskip("torch")
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = CommandLine(capsys)("demo", "--model", path)
    assert code == 0, err
    assert out.count("valid (") >= len(SAMPLES)
    assert "89.0" in out
