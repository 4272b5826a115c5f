"""The two engines against each other: equal masks on random regular grammars, and over a real vocabulary."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.frontends.regex import from_regex
from constrained.grammar.ir import Expr, Literal, RuleSet
from constrained.kernel import is_compiled
from constrained.masks import get_bitmask_shape
from constrained.vocabulary import TokenizerInfo
from tests.strategies import FEWER, expressions, vocabularies
from tests.vocabulary.sources import smollm2_path

pytest.importorskip("outlines_core")

from constrained.integrations.outlines_core import OutlinesCompiler, OutlinesGrammar


def mask(matcher: Any, info: TokenizerInfo) -> list[int]:
    bitmask = np.zeros(get_bitmask_shape(1, info.vocab_size), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")).tolist()


def compare_on_walks(ours: CompiledGrammar, theirs: OutlinesGrammar, rng: random.Random, *, walks: int,
                     steps: int) -> None:
    info = ours.tokenizer_info
    for _ in range(walks):
        one, other = GrammarMatcher(ours), theirs.new_matcher()
        for _ in range(steps):
            expected = mask(one, info)
            assert expected
            assert expected == mask(other, info)
            assert one.is_completed() is other.is_completed()
            token_id = rng.choice(expected) if rng.random() < 0.9 else rng.randrange(info.vocab_size)
            assert one.accept_token(token_id) is other.accept_token(token_id)
            if one.is_terminated():
                break
        back = rng.randint(0, one.num_steps)
        one.rollback(back)
        other.rollback(back)
        assert mask(one, info) == mask(other, info)


@st.composite
def regular_grammars(draw: st.DrawFn) -> RuleSet:
    """Four rules, each using only later ones."""
    rules: dict[str, Expr] = {"end": Literal(b"b")}
    for name, later in (("y", ["end"]), ("x", ["y"]), ("root", ["x", "y"])):
        rules[name] = draw(expressions(later, full=False, max_leaves=6))
    return RuleSet(rules, "root")


@FEWER
@given(regular_grammars(), vocabularies(), st.randoms(use_true_random=False))
def test_random_regular_grammars(rules: RuleSet, vocabulary: tuple[list[bytes], dict[str, int]],
                                 rng: random.Random) -> None:
    tokens, named = vocabulary
    info = TokenizerInfo.from_bytes(tokens, special_token_ids=list(named.values()),
                                    stop_token_ids=list(named.values())[:1])
    try:
        theirs = OutlinesCompiler(info).compile_rules(rules)
    except UnsatisfiableGrammarError:
        with pytest.raises(UnsatisfiableGrammarError):
            compile_rules(rules, info)
        return
    except GrammarError:
        assume(False)  # a branch that this vocabulary cannot spell: outlines-core refuses the whole
    compare_on_walks(compile_rules(rules, info), theirs, rng, walks=3, steps=8)


@pytest.mark.parametrize("pattern", [
    r"\d{4}-\d{2}-\d{2}", r"[a-z_][a-z0-9_]{0,10}", r"(yes|no|maybe)( indeed)?", r"[^\n]{1,6}", r"(?:\w+ ){2,}\w+\.",
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", "(naïve|日本|😀)+",
])
def test_a_real_vocabulary(pattern: str) -> None:
    if not is_compiled():
        pytest.skip("a real vocabulary takes too long uncompiled")
    info = TokenizerInfo.from_gguf(smollm2_path())
    ours = compile_rules(from_regex(pattern), info)
    try:
        theirs = OutlinesCompiler(info).compile_regex(pattern)
    except GrammarError as error:
        pytest.skip(f"outlines-core: {error}")
    compare_on_walks(ours, theirs, random.Random(0), walks=3, steps=10)
