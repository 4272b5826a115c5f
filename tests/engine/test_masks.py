"""Masks against brute force: every token of small, wide and real vocabularies.

Three independent ways: the oracle's mask (another recogniser altogether), every id stepped alone through
``next_state`` (no trie, no regions, no exits), and the matcher's and the state-level ways to get a row.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.grammar.ir import RuleSet
from constrained.vocabulary import TokenizerInfo
from tests.engine.real_vocabularies import REAL, real_vocabulary
from tests.engine.worlds import (
    COMPILED,
    SHAPES,
    compiled,
    describe,
    row_ids,
    sized,
    stepped_mask,
    walk_states,
    wide_grammar,
    wide_vocabulary,
)
from tests.oracles import Recogniser, brute_force_mask
from tests.strategies import FEWER, rule_sets, texts, vocabularies

SLICES = 5
WIDE = (1, 2000 if COMPILED else 900)


def small_info(tokens: list[bytes], named: dict[str, int]) -> tuple[TokenizerInfo, list[bytes], int]:
    """The vocabulary with a stop token behind it, the token bytes that the oracle sees, and the stop's id."""
    written = [*tokens, b"<end>"]
    for text, i in named.items():
        written[i] = text.encode()
    stop = len(tokens)
    info = TokenizerInfo.from_bytes(written, stop_token_ids=[stop], special_token_ids=[*named.values(), stop])
    return info, [*tokens, b""], stop


@FEWER
@given(st.data())
def test_small_vocabularies(data: st.DataObject) -> None:
    """Twins, empty pieces, control tokens, characters cut in two; grammars that name tokens by text and id."""
    tokens, named = data.draw(vocabularies())
    info, seen, stop = small_info(tokens, named)
    rules = data.draw(rule_sets(tokens=[*named, 0, 5]))
    alphabet = set(b"".join(tokens))
    try:
        grammar = compiled(rules, info)
    except UnsatisfiableGrammarError:
        assert not Recogniser(rules, tokens=seen, specials=named, alphabet=alphabet).start().items
        return
    text = data.draw(texts(rules, budget=8))
    state = grammar.start_state
    for cut in range(len(text) + 1):
        want = brute_force_mask(rules, text[:cut], seen, named, stops=[stop], alphabet=alphabet)
        assert set(grammar.allowed_ids(state)) == want, text[:cut]
        assert want == set(stepped_mask(grammar, state))
        assert want, "an empty mask"
        if cut < len(text):
            state = grammar.advance(state, text[cut : cut + 1])
            if not state:
                break


@FEWER
@given(st.data())
def test_after_tokens(data: st.DataObject) -> None:
    """The same, where the prefix is tokens: the ones that the grammar names occur."""
    tokens, named = data.draw(vocabularies())
    info, seen, stop = small_info(tokens, named)
    rules = data.draw(rule_sets(tokens=[*named, 0, 5]))
    try:
        grammar = compiled(rules, info)
    except UnsatisfiableGrammarError:
        return
    rng = random.Random(data.draw(st.integers(0, 1 << 20)))
    state, taken = grammar.start_state, []
    for _ in range(6):
        want = brute_force_mask(rules, taken, seen, named, stops=[stop], alphabet=set(b"".join(tokens)))
        assert grammar.allowed_ids(state) == sorted(want), taken
        steps = sorted(want - {stop})
        if not steps:
            break
        rare = [i for i in steps if i in named.values()]
        taken.append(rng.choice(rare if rare and rng.random() < 0.5 else steps))
        state = grammar.next_state(state, taken[-1])


def rows_agree(grammar: CompiledGrammar, state: int, want: list[int]) -> None:
    """Every way to ask for a mask says ``want``."""
    info = grammar.tokenizer_info
    assert grammar.allowed_ids(state) == want
    assert grammar.allowed_count(state) == len(want)
    rows = np.full((3, (info.vocab_size + 31) // 32), -1, dtype=np.int32)
    assert grammar.fill(state, rows, 1) == len(want)
    assert row_ids(rows[1], info.vocab_size) == want
    assert (rows[0] == -1).all() and (rows[2] == -1).all()
    unused = 32 * rows.shape[1] - info.vocab_size
    assert not unused or (int(rows[1, -1]) & 0xFFFFFFFF) >> (32 - unused) == 0


def compare_with_oracle(rules: RuleSet, grammar: CompiledGrammar, text: bytes, mask: list[int], rng: random.Random,
                        count: int, recogniser: Recogniser | None = None) -> None:
    """A sample of ids, half of them allowed ones, against the oracle."""
    info = grammar.tokenizer_info
    recogniser = recogniser or Recogniser(rules, tokens=info.decoded_vocab)
    items = recogniser.read(text)
    assert items.items, text
    allowed = set(mask)
    stops = set(info.stop_token_ids)
    for i in [*rng.sample(range(info.vocab_size), count), *rng.sample(mask, min(count, len(mask)))]:
        if i not in stops:
            assert bool(recogniser.read_token(items, i).items) == (i in allowed), (text, i, info.token_bytes(i))
    assert recogniser.is_complete(items) == stops.issubset(allowed)


@pytest.mark.parametrize("part", range(SLICES))
def test_wide_grammars(part: int) -> None:
    """Random grammars with wide loops on a vocabulary large enough for class tries."""
    info = wide_vocabulary(*WIDE)
    for seed in range(part, sized(60, 10), SLICES):
        rng = random.Random(seed)
        rules = wide_grammar(rng, info.vocab_size - 1)
        try:
            grammar = compiled(rules, info)
        except UnsatisfiableGrammarError:
            continue
        places = walk_states(grammar, rng, rng.choice([5, 20, 60]))
        where = f"seed {seed}\n{describe(rules)}"
        for n, (text, state) in enumerate(rng.sample(places, min(len(places), 4 if COMPILED else 2))):
            want = stepped_mask(grammar, state)
            assert grammar.allowed_ids(state) == want, f"{text!r} in {where}"
            rows_agree(grammar, state, want)
            if n == 0 and len(text) <= 20:
                compare_with_oracle(rules, grammar, text, want, rng, 20)


def shape(name: str, info: TokenizerInfo, special: int) -> CompiledGrammar:
    text = SHAPES[name][0].replace("SPECIAL", str(special))
    return cd.GrammarCompiler(info).compile_grammar(text)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    """Bounds near and far, identifiers that overlap keywords, stops, edges of UTF-8, named tokens."""
    info = wide_vocabulary(*WIDE)
    grammar = shape(name, info, info.vocab_size - 1)
    rng = random.Random(name)
    prefixes = SHAPES[name][1]
    for prefix in prefixes if COMPILED else prefixes[:4]:
        data = prefix.encode()
        state = grammar.advance(grammar.start_state, data)
        assert state, prefix
        want = stepped_mask(grammar, state)
        rows_agree(grammar, state, want)
        if len(data) < 50:
            compare_with_oracle(grammar.rules, grammar, data, want, rng, 20)
        # a character cut in the middle is a state of its own
        for cut in range(1, len(data)):
            if data[cut] & 0xC0 == 0x80:
                middle = grammar.advance(grammar.start_state, data[:cut])
                assert grammar.allowed_ids(middle) == stepped_mask(grammar, middle), data[:cut]
    if name in ("json string", "bounded string", "far bounds"):
        assert grammar.automaton.counts()[4] > 0, "no class trie was walked: the vocabulary is too small for this test"


@pytest.mark.parametrize("vocabulary", REAL)
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_on_real_vocabularies(vocabulary: str, name: str) -> None:
    info = real_vocabulary(vocabulary)
    special = min(info.special_token_ids - set(info.stop_token_ids))
    grammar = shape(name, info, special)
    rng = random.Random(name)
    prefixes = SHAPES[name][1]
    for prefix in prefixes if sized(1, 0) > 1 else rng.sample(prefixes, 3):
        state = grammar.advance(grammar.start_state, prefix.encode())
        want = stepped_mask(grammar, state)
        rows_agree(grammar, state, want)
        named = set(want) & info.special_token_ids - set(info.stop_token_ids)
        assert named <= {special}
    if name == "json string":
        recogniser = Recogniser(grammar.rules, tokens=info.decoded_vocab)
        want = grammar.allowed_ids(grammar.advance(grammar.start_state, b'"a'))
        compare_with_oracle(grammar.rules, grammar, b'"a', want, rng, 100, recogniser)


@pytest.mark.parametrize("vocabulary", REAL)
def test_shipped_grammars_on_real_vocabularies(vocabulary: str) -> None:
    """States of random derivations of the grammars that ship."""
    info = real_vocabulary(vocabulary)
    for name in ("json", "sql-select", "url", "csv"):
        grammar = cd.GrammarCompiler(info).compile_grammar(cd.Grammar.builtin(name))
        rng = random.Random(name)
        places = walk_states(grammar, rng, 40)
        for text, state in rng.sample(places, sized(2, 1)):
            assert grammar.allowed_ids(state) == stepped_mask(grammar, state), (name, text)


def test_token_that_is_no_text_and_unknown() -> None:
    info = wide_vocabulary(*WIDE)
    compiler = cd.GrammarCompiler(info)
    with pytest.raises(GrammarError, match="no control or added token"):
        compiler.compile_grammar("root ::= <nothing>")
    with pytest.raises(GrammarError, match="out of range"):
        compiler.compile_grammar(f"root ::= <[{info.vocab_size}]>")
    empty = info.vocab_size - 3  # an empty piece: no text, but it can be named
    grammar = compiler.compile_grammar(f'root ::= "a" <[{empty}]> "b"')
    matcher = cd.GrammarMatcher(grammar)
    assert matcher.accept_tokens([97, empty, 98]) == 3
    assert matcher.is_completed()
