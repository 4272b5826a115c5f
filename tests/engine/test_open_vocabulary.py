"""Vocabularies with bytes only inside longer tokens: dead ends of their own, against all segmentations written out."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.grammar import combinators as make
from constrained.grammar.ir import Literal, RuleSet
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import compiled, row_ids
from tests.oracles import Recogniser


def vocabulary(tokens: list[bytes]) -> TokenizerInfo:
    """``tokens`` with ids in order and the stop token behind them."""
    return TokenizerInfo.from_bytes([*tokens, b"<e>"], stop_token_ids=[len(tokens)])


def writable(rest: bytes, tokens: set[bytes]) -> bool:
    """Whether ``rest`` is a row of tokens."""
    ends = {0}
    for end in range(1, len(rest) + 1):
        if any(start in ends and rest[start:end] in tokens for start in range(end)):
            ends.add(end)
    return len(rest) in ends


def mask_of_words(words: set[bytes], tokens: list[bytes], prefix: bytes) -> list[int]:
    """What may follow ``prefix`` in a finite language: each id is tried with every word that is left."""
    known = set(tokens) - {b""}
    found = [i for i, token in enumerate(tokens) if token and any(
        word.startswith(prefix + token) and writable(word[len(prefix) + len(token) :], known) for word in words)]
    return [*found, len(tokens)] if prefix in words else found


_text = st.lists(st.sampled_from(b"abc"), min_size=1, max_size=6).map(bytes)
_tokens = st.lists(st.lists(st.sampled_from(b"abc"), max_size=3).map(bytes), min_size=1, max_size=7)


@given(st.sets(_text, min_size=1, max_size=8), _tokens)
def test_finite_languages(words: set[bytes], tokens: list[bytes]) -> None:
    info = vocabulary(tokens)
    rules = RuleSet({"root": make.choice(*map(Literal, sorted(words)))}, "root")
    can = {word for word in words if writable(word, set(tokens) - {b""})}
    if not can:
        with pytest.raises(cd.UnsatisfiableGrammarError):
            compiled(rules, info)
        return
    grammar = compiled(rules, info)
    row = np.zeros((1, 1), dtype=np.int32)
    agenda: list[tuple[int, ...]] = [()]
    for taken in agenda:
        matcher = cd.GrammarMatcher(grammar)
        assert matcher.accept_tokens(taken) == len(taken)
        prefix = b"".join(tokens[i] for i in taken)
        want = mask_of_words(words, tokens, prefix)
        matcher.fill_next_token_bitmask(row)
        assert row_ids(row[0], info.vocab_size) == want == matcher.allowed_token_ids()
        assert matcher.allowed_token_count() == len(want) > 0
        for i in range(len(tokens)):
            assert matcher.fork().accept_token(i) == (i in want) == bool(matcher.validate_tokens([i]))
        agenda += [(*taken, i) for i in want if i < len(tokens)][: 40 - len(agenda)]
    for word in words:
        matcher = cd.GrammarMatcher(grammar)
        for cut in range(len(word) + 1):
            fits = set(word[:cut]) <= set(b"".join(tokens)) and any(
                other.startswith(word[:cut]) and writable(other[cut:], set(tokens) - {b""}) for other in words)
            assert matcher.fork().accept_string(word[:cut]) == fits, "a text that no tokens can complete"


INFINITE: dict[str, set[bytes]] = {
    'root ::= ("ab" | "cc")*': {
        b"".join(pairs) for n in range(7) for pairs in itertools.product([b"ab", b"cc"], repeat=n)},
    'root ::= "a" root "b" | "c"': {b"a" * n + b"c" + b"b" * n for n in range(20)},
    'root ::= root "ab" | "c" | "b" root': {b"b" * i + b"c" + b"ab" * j for i in range(12) for j in range(12)},
    'root ::= [ab]{2,5} "c"': {bytes(word) + b"c" for n in range(2, 6) for word in itertools.product(b"ab", repeat=n)},
    'root ::= "a"* "c" "b"*': {b"a" * i + b"c" + b"b" * j for i in range(12) for j in range(12)},
}
"""Grammars with their texts up to a length that shows every completion that short tokens can need."""


@pytest.mark.parametrize("text", INFINITE)
def test_infinite_languages(text: str) -> None:
    rules = cd.Grammar.from_ebnf(text).rules
    texts = INFINITE[text]
    assert all(map(Recogniser(rules).accepts, sorted(texts)[:50]))
    rng = random.Random(text)
    tried = undecided = 0
    for _ in range(40):
        tokens = [bytes(rng.choices(b"abc", k=rng.randint(1, 3))) for _ in range(rng.randint(2, 6))]
        info = vocabulary(tokens)
        limits = cd.Limits(max_live_search=2000)
        if not any(writable(word, set(tokens)) for word in texts):
            with pytest.raises((cd.UnsatisfiableGrammarError, cd.GrammarLimitError)):
                compiled(rules, info, limits)
            continue
        tried += 1
        grammar = compiled(rules, info, limits)
        state, prefix = grammar.start_state, b""
        while len(prefix) <= 3:
            want = mask_of_words(texts, tokens, prefix)
            try:
                assert grammar.allowed_ids(state) == want, (tokens, prefix)
            except cd.GrammarLimitError as error:  # ever deeper nesting that no token closes
                assert error.limit == "max_live_search"
                undecided += 1
                break
            steps = [i for i in want if i < len(tokens)]
            if not steps:
                break
            token = rng.choice(steps)
            state, prefix = grammar.next_state(state, token), prefix + tokens[token]
    assert tried > 5 and undecided <= tried // 2


def test_search_is_bounded() -> None:
    """Where the proof takes too long, the error says so; nothing is guessed."""
    info = vocabulary([b"a", b"b", b"cb"])
    text = "root ::= [ab]* \"a\" [ab]{15} \"c\"\n"
    with pytest.raises(cd.GrammarLimitError, match="max_live_search = 50") as caught:
        cd.GrammarCompiler(info, limits=cd.Limits(max_live_search=50)).compile_grammar(text)
    assert (caught.value.limit, caught.value.value) == ("max_live_search", 50)


def test_epoch_and_draft_tree() -> None:
    info = vocabulary([b"a", b"ab", b"bb"])
    grammar = cd.GrammarCompiler(info).compile_grammar('root ::= ("a" | "bb" | "abb")*')
    matcher = cd.GrammarMatcher(grammar)
    assert matcher.accept_tokens([0, 2, 0]) == 3
    mask = matcher.allowed_token_ids()
    assert mask == [0, 2, 3]
    grammar.automaton.new_epoch()
    assert matcher.allowed_token_ids() == mask
    rows = np.full((4, 1), -1, dtype=np.int32)
    assert matcher.fill_draft_tree_bitmask([2, 1, 0], [-1, 0, 0], rows) == [True, False, True]
    assert [row_ids(row, 4) for row in rows] == [mask, [0, 2, 3], [], mask]
