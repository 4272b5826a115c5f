"""The two calls of every step, in their usual form and beside it."""

from __future__ import annotations

import gc
import inspect
from typing import Any
from weakref import ref

import numpy as np
import pytest

import constrained as cd
from constrained.errors import BitmaskError

WORDS = 9


@pytest.fixture(scope="module")
def compiled() -> cd.CompiledGrammar:
    tokens = [bytes([i]) for i in range(256)] + [b"ab", b"ba", b"<end>"]
    info = cd.TokenizerInfo.from_bytes(tokens, stop_token_ids=[258])
    return cd.GrammarCompiler(info).compile_grammar(cd.Grammar.from_regex("(ab)+c?"))


def row_of(compiled: cd.CompiledGrammar, text: str) -> list[int]:
    """The mask after ``text``, in a new array."""
    matcher = cd.GrammarMatcher(compiled)
    assert matcher.accept_string(text)
    row = np.zeros((1, WORDS), np.int32)
    matcher.fill_next_token_bitmask(row)
    found: list[int] = row[0].tolist()
    return found


def test_any_row_of_one_array_again_and_again(compiled: cd.CompiledGrammar) -> None:
    """Indices past the integers that Python shares, and those of other types, are found by their value."""
    matcher = cd.GrammarMatcher(compiled)
    rows = np.zeros((600, WORDS), np.int32)
    text = ""
    index: Any
    for index in (3, int("300"), int("300"), int("599"), np.int64(300), int("300")):
        rows[:] = -1
        assert matcher.fill_next_token_bitmask(rows, index)
        assert rows[int(index)].tolist() == row_of(compiled, text)
        assert (np.delete(rows, int(index), axis=0) == -1).all()
        step = "a" if len(text) % 2 == 0 else "b"
        assert matcher.accept_token(ord(step))
        text += step


def test_an_index_out_of_range_after_one_in_range(compiled: cd.CompiledGrammar) -> None:
    matcher = cd.GrammarMatcher(compiled)
    rows = np.zeros((2, WORDS), np.int32)
    matcher.fill_next_token_bitmask(rows, 1)
    for index in (2, -1):
        with pytest.raises(BitmaskError):
            matcher.fill_next_token_bitmask(rows, index)
    matcher.fill_next_token_bitmask(rows, 0)
    assert rows[0].tolist() == rows[1].tolist() == row_of(compiled, "")


@pytest.mark.parametrize("index", [1.0, 0.5, 1.5, "0", None, np.float64(1), np.array([1]), np.array([0, 1])])
@pytest.mark.parametrize("known", [False, True])
def test_an_index_that_is_no_int(compiled: cd.CompiledGrammar, index: Any, known: bool) -> None:
    matcher = cd.GrammarMatcher(compiled)
    rows = np.full((4, WORDS), -7, np.int32)
    if known:
        matcher.fill_next_token_bitmask(rows, 1)
    before = rows.tolist()
    with pytest.raises(BitmaskError):
        matcher.fill_next_token_bitmask(rows, index)
    assert rows.tolist() == before


def test_a_fork_keeps_to_its_own_text_and_array(compiled: cd.CompiledGrammar) -> None:
    one, here, there = cd.GrammarMatcher(compiled), np.zeros((1, WORDS), np.int32), np.zeros((1, WORDS), np.int32)
    one.fill_next_token_bitmask(here)
    one.accept_token(ord("a"))
    other = one.fork()
    assert one.accept_token(ord("b")) and other.accept_token(257)  # "ba"
    for matcher, row, text in ((one, here, "ab"), (other, there, "aba"), (one, here, "ab")):
        matcher.fill_next_token_bitmask(row)
        assert row[0].tolist() == row_of(compiled, text)
    assert one.num_steps == other.num_steps == 2
    other.rollback(2)
    assert (one.text_bytes(), other.text_bytes()) == (b"ab", b"")


@pytest.mark.parametrize("token", [-1, 259, 1 << 40, 1 << 80, -(1 << 80)])
def test_ids_that_are_none_change_nothing(compiled: cd.CompiledGrammar, token: int) -> None:
    matcher = cd.GrammarMatcher(compiled)
    assert not matcher.accept_token(token)
    of_another_type: Any = np.int32(256)
    assert matcher.num_steps == 0 and matcher.accept_token(of_another_type) and matcher.text_bytes() == b"ab"


def test_steps_after_a_new_epoch(compiled: cd.CompiledGrammar) -> None:
    """States of an earlier epoch are found again: by the mask, and by the token."""
    asks, steps = cd.GrammarMatcher(compiled), cd.GrammarMatcher(compiled)
    row = np.zeros((1, WORDS), np.int32)
    for matcher in (asks, steps):
        matcher.fill_next_token_bitmask(row)
        matcher.accept_token(256)
    compiled.automaton.new_epoch()
    asks.fill_next_token_bitmask(row)
    assert row[0].tolist() == row_of(compiled, "ab")
    compiled.automaton.new_epoch()
    assert steps.accept_token(256) and not steps.accept_token(ord("b"))


def test_the_array_lives_no_longer_than_the_matcher(compiled: cd.CompiledGrammar) -> None:
    class Row(np.ndarray):
        """An array that can be referred to weakly."""

    row = np.zeros((1, WORDS), np.int32).view(Row)
    matcher = cd.GrammarMatcher(compiled)
    matcher.fill_next_token_bitmask(row)
    held = ref(row)
    del row, matcher
    gc.collect()
    assert held() is None


def test_signatures_are_as_they_are_documented() -> None:
    assert str(inspect.signature(cd.GrammarMatcher.accept_token)) == "(self, token_id)"
    assert str(inspect.signature(cd.GrammarMatcher.fill_next_token_bitmask)) == "(self, bitmask, index=0)"
    assert "ConstrainedError" in (cd.GrammarMatcher.accept_token.__doc__ or "")
