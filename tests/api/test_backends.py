"""``GrammarCompiler(backend=...)``: other engines behind the same interface."""

from __future__ import annotations

import numpy as np
import pytest

import constrained as cd

INFO = cd.TokenizerInfo.from_bytes([b"a", b"b", b"ab", b"1", b""], special_token_ids=[4], stop_token_ids=[4])


def test_the_same_masks_from_outlines_core() -> None:
    pytest.importorskip("outlines_core", reason="needs the extra `outlines`")
    own = cd.GrammarCompiler(INFO).compile_regex("(ab)+1?")
    other = cd.GrammarCompiler(INFO, backend="outlines-core").compile_regex("(ab)+1?")
    one, two = own.new_matcher(), other.new_matcher()
    rows = np.zeros((2, 1), dtype=np.int32)
    for token in (2, 0, 1, 3, 4):
        one.fill_next_token_bitmask(rows, 0)
        two.fill_next_token_bitmask(rows, 1)
        assert rows[0, 0] == rows[1, 0]
        assert one.accept_token(token) and two.accept_token(token)
    assert one.is_terminated() and two.is_terminated()


def test_what_is_not_regular_is_refused_by_name() -> None:
    pytest.importorskip("outlines_core", reason="needs the extra `outlines`")
    with pytest.raises(cd.GrammarError):
        cd.GrammarCompiler(INFO, backend="outlines-core").compile_grammar('root ::= "a" root "b" | "1"')


def test_an_unknown_backend() -> None:
    with pytest.raises(cd.ConstrainedError, match="outlines-core"):
        cd.GrammarCompiler(INFO, backend="none")
