"""Laws of states: identity, tokenisations, liveness, completions, forced text, and the matcher over them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.ir import Literal, RuleSet
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import (
    COMPILED,
    SHAPES,
    byte_vocabulary,
    compiled,
    describe,
    row_ids,
    sized,
    small_grammar,
    walk_states,
    wide_grammar,
    wide_vocabulary,
)
from tests.strategies import FEWER, derive, rule_sets

WIDE = (1, 2000 if COMPILED else 300)


def grammars(count: int, *, wide: bool) -> list[tuple[int, CompiledGrammar]]:
    """Compiled random grammars with their seeds."""
    info = wide_vocabulary(*WIDE)
    found = []
    for seed in range(count):
        rng = random.Random(seed)
        rules = wide_grammar(rng, info.vocab_size - 1) if wide else small_grammar(rng)
        try:
            found.append((seed, compiled(rules, info)))
        except UnsatisfiableGrammarError:
            continue
    return found


def choose(rng: random.Random, grammar: CompiledGrammar, state: int) -> int | None:
    """A random allowed token that is no stop token."""
    ids = [i for i in grammar.allowed_ids(state) if i not in grammar.tokenizer_info.stop_token_ids]
    return rng.choice(ids) if ids else None


# -- identity ---------------------------------------------------------------------------------------------------


@FEWER
@given(st.data())
def test_equal_texts_equal_states(data: st.DataObject) -> None:
    """However a text is cut into tokens, and however often it is read again, its state is the same int."""
    rules = data.draw(rule_sets())
    grammar = compiled(rules, wide_vocabulary(*WIDE))
    text = derive(rules, random.Random(data.draw(st.integers(0, 1 << 20))), 12)
    whole = grammar.advance(grammar.start_state, text)
    cut = data.draw(st.integers(0, len(text)))
    state = grammar.advance(grammar.start_state, text[:cut])
    assert (grammar.advance(state, text[cut:]) if state else 0) == whole
    state = grammar.start_state
    for byte in text:
        state = grammar.next_state(state, byte)
        if not state:
            break
    assert state == whole


def test_union_in_any_order() -> None:
    """``unite`` is the union of futures: commutative, associative, idempotent, and stepping goes through it."""
    for seed, grammar in grammars(sized(60, 8), wide=False):
        rng = random.Random(seed)
        automaton = grammar.automaton
        states = [state for _ in range(2) for _, state in walk_states(grammar, rng, 8)]
        picked = [rng.choice(states) for _ in range(4)]
        union = 0
        for state in picked:
            union = automaton.unite(union, state)
        for _ in range(4):
            rng.shuffle(picked)
            left, right = automaton.unite(picked[0], picked[1]), automaton.unite(picked[2], picked[3])
            assert automaton.unite(left, right) == union, seed
        assert automaton.unite(union, picked[0]) == union
        assert grammar.is_complete(union) == any(map(grammar.is_complete, picked))
        assert automaton.distance(union) == min(map(automaton.distance, picked))
        assert set(grammar.allowed_ids(union)) == set().union(*(grammar.allowed_ids(state) for state in picked)), seed
        for byte in b"abc,":
            after = 0
            for state in picked:
                after = automaton.unite(after, grammar.next_state(state, byte))
            assert grammar.next_state(union, byte) == after, (seed, byte)


def test_fork_rollback_replay() -> None:
    """A matcher that strays and comes back is where a fresh one comes by the same tokens."""
    for wide in (False, True):
        for seed, grammar in grammars(sized(30, 6), wide=wide):
            rng = random.Random(seed)
            matcher = cd.GrammarMatcher(grammar)
            taken: list[int] = []
            for _ in range(25):
                move = rng.random()
                if move < 0.6:
                    token = choose(rng, grammar, matcher.state)
                    if token is None:
                        break
                    assert matcher.accept_token(token)
                    taken.append(token)
                elif move < 0.8 and taken:
                    back = rng.randint(0, len(taken))
                    matcher.rollback(back)
                    taken = taken[: len(taken) - back]
                else:
                    other = matcher.fork()
                    for _ in range(3):
                        token = choose(rng, grammar, other.state)
                        if token is None or not other.accept_token(token):
                            break
                    assert other.num_steps >= matcher.num_steps
            fresh = cd.GrammarMatcher(grammar)
            assert fresh.accept_tokens(taken) == len(taken) == matcher.num_steps
            assert fresh.state == matcher.state, seed
            matcher.reset()
            assert matcher.state == grammar.start_state and matcher.num_steps == 0


# -- masks and liveness -----------------------------------------------------------------------------------------


def test_any_tokenisation_of_an_accepted_text() -> None:
    for seed, grammar in grammars(sized(60, 8), wide=True):
        rng = random.Random(seed)
        info = grammar.tokenizer_info
        by_bytes: dict[bytes, list[int]] = {}
        for i, data in enumerate(info.decoded_vocab):
            by_bytes.setdefault(data, []).append(i)
        longest = max(map(len, by_bytes))
        text, state = rng.choice(walk_states(grammar, rng, 30))
        for _ in range(3):
            here, at, taken = 0, grammar.start_state, []
            while here < len(text):
                pieces = [text[here : here + n] for n in range(1, longest + 1) if here + n <= len(text)]
                piece = rng.choice([p for p in pieces if p in by_bytes][-3:])
                taken.append(rng.choice(by_bytes[piece]))
                at = grammar.next_state(at, taken[-1])
                assert at, (seed, text, taken)
                here += len(piece)
            assert at == state


@pytest.mark.parametrize("wide", [False, True])
def test_never_stuck(wide: bool) -> None:
    """1,000 random steps: a mask is never empty, every allowed token has a successor, an end is always near."""
    for seed, grammar in grammars(sized(12, 3), wide=wide):
        rng = random.Random(seed)
        stops = set(grammar.tokenizer_info.stop_token_ids)
        state = grammar.start_state
        for step in range(1000 if COMPILED else 40):
            ids = grammar.allowed_ids(state)
            assert ids, (seed, step)
            if grammar.automaton.counts()[1] > 20_000:
                break  # a dense left-recursive grammar: right, but slow
            assert (stops <= set(ids)) == grammar.is_complete(state)
            steps = [i for i in ids if i not in stops]
            if step % 10 == 0:
                for i in rng.sample(steps, min(10, len(steps))):
                    assert grammar.next_state(state, i), (seed, step, i)
            check_completion(grammar, state, (seed, step))
            # short tokens: else most walks end at once
            state = grammar.next_state(state, rng.choice(steps)) if steps else grammar.start_state


def check_completion(grammar: CompiledGrammar, state: int, where: object) -> None:
    """The shortest completion ends in an accept and is as long as the distance says, every time it is followed."""
    distance = grammar.automaton.distance(state)
    try:
        rest = grammar.shortest_completion(state)
    except UnsatisfiableGrammarError:
        assert distance >= 1_000_000, where
        return
    assert len(rest) == distance, where
    after = grammar.advance(state, rest)
    assert after and grammar.is_complete(after), where
    if rest:
        assert grammar.automaton.distance(grammar.advance(state, rest[:1])) == distance - 1, where


def test_token_references_lead_to_an_end() -> None:
    """Text is preferred to tokens; where only a token leads on, that is said."""
    compiler = cd.GrammarCompiler(byte_vocabulary())
    matcher = cd.GrammarMatcher(compiler.compile_grammar('root ::= <[257]> | "abc"'))
    assert matcher.shortest_completion() == b"abc"
    matcher = cd.GrammarMatcher(compiler.compile_grammar('root ::= "a" (<[257]> | "bc") "d"? <[257]>'))
    with pytest.raises(UnsatisfiableGrammarError, match="only a token"):
        matcher.shortest_completion()
    assert matcher.accept_token(97)
    assert matcher.find_jump_forward_string() == ""
    assert matcher.accept_tokens([257, 257, 256]) == 3
    assert matcher.is_terminated()


# -- forced text ------------------------------------------------------------------------------------------------


def forced_by_trying(grammar: CompiledGrammar, state: int, most: int) -> bytes:
    out = b""
    specials = grammar.tokenizer_info.special_token_ids - set(grammar.tokenizer_info.stop_token_ids)
    while len(out) < most and not grammar.is_complete(state):
        can = [b for b in range(256) if grammar.advance(state, bytes((b,)))]
        if len(can) != 1 or any(grammar.next_state(state, i) for i in specials):
            break
        out += bytes(can)
        state = grammar.advance(state, bytes(can))
    return out


def test_forced_bytes_are_the_forced_ones() -> None:
    for wide in (False, True):
        for seed, grammar in grammars(sized(40, 6), wide=wide):
            rng = random.Random(seed)
            for text, state in rng.sample(found := walk_states(grammar, rng, 15), min(6, len(found))):
                want = forced_by_trying(grammar, state, 40)
                assert grammar.automaton.forced_bytes(state, 40) == want, (seed, text, describe(grammar.rules))
                matcher = cd.GrammarMatcher(grammar)
                assert matcher.accept_string(text)
                jump = matcher.find_jump_forward_string().encode()
                forced = grammar.automaton.forced_bytes(state, 1 << 16)
                assert forced.startswith(jump)
                assert not forced[len(jump) :].startswith(tuple(chr(c).encode() for c in range(128)))
                ids = matcher.compute_ff_tokens()
                spelled = b"".join(map(grammar.tokenizer_info.token_bytes, ids))
                assert forced.startswith(spelled)
                assert matcher.validate_tokens(ids) == len(ids) == matcher.accept_tokens(ids)


def test_forced_text_within_a_character() -> None:
    """What is forced may begin or go on within a character, or be no UTF-8: the string stops before it."""
    grammar = compiled(RuleSet({"root": Literal("é!".encode() + b"a\xff\"")}, "root"))
    matcher = cd.GrammarMatcher(grammar)
    for want in ("é!a", "", "!a", "a", "", '"'):
        assert matcher.find_jump_forward_string() == want
        assert matcher.accept_tokens(grammar.automaton.forced_bytes(matcher.state, 1)) == 1
    assert matcher.is_completed() and matcher.compute_ff_tokens() == []


def test_forced_bytes_over_many_classes() -> None:
    """More than 32 byte classes, so that every word and its sign bit of the class sets is in use."""
    text = "".join(chr(c) for c in range(35, 123) if chr(c) not in '"\\')
    grammar = cd.GrammarCompiler(byte_vocabulary()).compile_grammar(f'root ::= "{text}"')
    matcher = cd.GrammarMatcher(grammar)
    for i in range(len(text)):
        assert matcher.find_jump_forward_string() == text[i:]
        assert matcher.accept_token(ord(text[i]))
    assert matcher.find_jump_forward_string() == ""


def test_forced_tokens_leave_the_last_cut_to_the_model() -> None:
    """After a forced text a longer token may begin within it: the ids that could be cut differently are held back."""
    info = TokenizerInfo.from_bytes([*(bytes((b,)) for b in b"abcd"), b"ab", b"cd", b"abc", b"<e>"], stop_token_ids=[7])
    grammar = cd.GrammarCompiler(info).compile_grammar('root ::= "ab" ("c" | "d")')
    matcher = cd.GrammarMatcher(grammar)
    assert matcher.find_jump_forward_string() == "ab"
    assert matcher.compute_ff_tokens() == []
    grammar = cd.GrammarCompiler(info).compile_grammar('root ::= "dab" ("d" | "c")')
    assert cd.GrammarMatcher(grammar).compute_ff_tokens() == [3]


# -- the matcher ------------------------------------------------------------------------------------------------


def test_illegal_tokens_change_nothing() -> None:
    for seed, grammar in grammars(sized(20, 4), wide=True):
        rng = random.Random(seed)
        matcher = cd.GrammarMatcher(grammar)
        for _ in range(5):
            ids = set(matcher.allowed_token_ids())
            before = matcher.state, matcher.num_steps
            for token in [*rng.sample(range(grammar.tokenizer_info.vocab_size), 30), -1, -(1 << 70), 1 << 31, 1 << 70,
                          grammar.tokenizer_info.vocab_size]:
                fork = matcher.fork()
                assert fork.accept_token(token) == (token in ids), (seed, token)
                if token not in ids:
                    assert (fork.state, fork.num_steps) == before
                assert matcher.validate_tokens([token]) == (token in ids)
            assert (matcher.state, matcher.num_steps) == before
            token = choose(rng, grammar, matcher.state)
            if token is None:
                break
            assert matcher.accept_token(token)


def test_rollback_over_strings_and_stop_tokens() -> None:
    grammar = cd.GrammarCompiler(byte_vocabulary()).compile_grammar('root ::= "a"+ ("b" root)?')
    matcher = cd.GrammarMatcher(grammar)
    states = [matcher.state]
    for step in ("aa", 98, "", "a", 256):
        assert matcher.accept_token(step) if isinstance(step, int) else matcher.accept_string(step)
        states.append(matcher.state)
    assert matcher.is_terminated() and matcher.num_steps == 5
    assert matcher.allowed_token_ids() == [256]
    assert not matcher.accept_token(97) and not matcher.accept_string("a") and matcher.accept_string("")
    matcher.rollback()
    assert not matcher.is_terminated() and matcher.state == states[4] and matcher.is_completed()
    matcher.rollback(4)
    assert matcher.state == states[0] and matcher.num_steps == 0
    for wrong in (1, -1, 10):
        with pytest.raises(cd.ConstrainedError, match="cannot undo"):
            matcher.rollback(wrong)
    assert matcher.accept_tokens([97, 256, 97]) == 2


def test_terminate_without_stop_token() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary())
    matcher = cd.GrammarMatcher(compiler.compile_grammar('root ::= "ab" "c"?'), terminate_without_stop_token=True)
    assert matcher.accept_token(97) and not matcher.is_terminated()
    assert matcher.accept_token(98) and not matcher.is_terminated() and matcher.is_completed()
    fork = matcher.fork()
    assert fork.accept_token(256) and fork.is_terminated()
    assert matcher.validate_tokens([99, 256]) == 1
    assert matcher.accept_tokens([99, 256]) == 1 and matcher.is_terminated() and matcher.is_completed()
    matcher.rollback()
    assert not matcher.is_terminated()
    assert matcher.accept_string("c") and matcher.is_terminated()
    matcher.reset()
    assert not matcher.is_terminated() and matcher.accept_string("abc") and matcher.is_terminated()
    empty = cd.GrammarMatcher(compiler.compile_grammar('root ::= ""'), terminate_without_stop_token=True)
    assert empty.is_terminated()
    empty.reset()
    assert empty.is_terminated() and empty.allowed_token_ids() == [256]


def test_override_stop_tokens() -> None:
    grammar = cd.GrammarCompiler(byte_vocabulary()).compile_grammar('root ::= "a"+ | "b" <[256]> "c"')
    row = np.zeros((1, 9), dtype=np.int32)

    def mask(matcher: cd.GrammarMatcher) -> list[int]:
        assert matcher.fill_next_token_bitmask(row)
        ids = row_ids(row[0], 258)
        assert ids == matcher.allowed_token_ids() and len(ids) == matcher.allowed_token_count()
        return ids

    matcher = cd.GrammarMatcher(grammar, override_stop_tokens=[120, 98])
    assert mask(matcher) == [97, 98]
    assert matcher.accept_token(97)
    assert mask(matcher) == [97, 98, 120] and not matcher.accept_token(256)
    assert matcher.accept_token(120) and matcher.is_terminated() and mask(matcher) == [98, 120]
    # the vocabulary's stop token where the grammar names it, and a stop token that is text where text is wanted
    matcher = cd.GrammarMatcher(grammar, override_stop_tokens=120)
    assert matcher.accept_token(98) and mask(matcher) == [256] and matcher.accept_token(256)
    assert mask(matcher) == [99] and matcher.accept_tokens([99, 120]) == 2
    usual = cd.GrammarMatcher(grammar)
    assert usual.accept_token(98) and mask(usual) == [256] and usual.accept_token(256) and not usual.is_terminated()
    assert mask(usual) == [99] and usual.accept_tokens([99, 256]) == 2 and usual.is_terminated()


def test_draft_trees() -> None:
    """Rows of a draft tree are those of a fork that walks each branch."""
    for seed, grammar in grammars(sized(25, 5), wide=True):
        rng = random.Random(seed)
        vocab_size = grammar.tokenizer_info.vocab_size
        matcher = cd.GrammarMatcher(grammar)
        token = choose(rng, grammar, matcher.state)
        if token is not None:
            matcher.accept_token(token)
        tokens: list[int] = []
        parents: list[int] = []
        places: list[cd.GrammarMatcher | None] = []
        for i in range(8):
            parent = rng.randint(-1, i - 1)
            before = matcher if parent < 0 else places[parent]
            token = rng.randrange(vocab_size)
            if before is not None and rng.random() < 0.8:
                token = rng.choice(before.allowed_token_ids())
            place = before.fork() if before is not None else None
            if place is not None and not place.accept_token(token):
                place = None
            tokens.append(token)
            parents.append(parent)
            places.append(place)
        rows = np.full((11, (vocab_size + 31) // 32), -1, dtype=np.int32)
        state = matcher.state
        legal = matcher.fill_draft_tree_bitmask(tokens, parents, rows, 1)
        assert legal == [place is not None for place in places] and matcher.state == state
        assert (rows[0] == -1).all() and (rows[10] == -1).all()
        assert row_ids(rows[1], vocab_size) == matcher.allowed_token_ids()
        for i, place in enumerate(places):
            assert row_ids(rows[2 + i], vocab_size) == ([] if place is None else place.allowed_token_ids()), seed


@pytest.mark.parametrize("threads", [1, 2])
def test_batch_equals_one_by_one(threads: int) -> None:
    rng = random.Random(threads)
    many = [grammar for _, grammar in grammars(sized(16, 4), wide=True)] * 2
    batch = cd.BatchGrammarMatcher(threads)
    together = [cd.GrammarMatcher(grammar) for grammar in many]
    alone = [cd.GrammarMatcher(grammar) for grammar in many]
    vocab_size = many[0].tokenizer_info.vocab_size
    words = (vocab_size + 31) // 32
    for step in range(12 if COMPILED else 3):
        indices = rng.sample(range(len(many) + 2), len(many))
        rows = np.full((len(many) + 2, words), 7, dtype=np.int32)
        batch.batch_fill_next_token_bitmask([None if i == 3 else m for i, m in enumerate(together)], rows, indices)
        tokens = []
        for i, matcher in enumerate(alone):
            row = np.full((1, words), 7, dtype=np.int32)
            if i != 3:
                matcher.fill_next_token_bitmask(row)
            assert (rows[indices[i]] == row[0]).all(), (step, i)
            tokens.append(rng.choice(matcher.allowed_token_ids()) if rng.random() < 0.8 else rng.randrange(vocab_size))
        taken = [m.accept_token(t) for m, t in zip(alone, tokens, strict=True)]
        assert batch.batch_accept_token(together, tokens) == taken
        texts = [rng.choice(["", "a", "ab", '"', "é"]) for _ in alone]
        taken = [m.accept_string(t) for m, t in zip(alone, texts, strict=True)]
        assert batch.batch_accept_string(together, texts) == taken
        backs = [rng.randint(0, min(2, m.num_steps)) for m in alone]
        batch.batch_rollback(together, backs)
        for matcher, back in zip(alone, backs, strict=True):
            matcher.rollback(back)
        assert [m.state for m in together] == [m.state for m in alone]
    with pytest.raises(cd.ConstrainedError, match="cannot undo"):
        batch.batch_rollback(together, 1 << 20)
    assert [m.state for m in together] == [m.state for m in alone]


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_never_stuck(name: str) -> None:
    info = wide_vocabulary(*WIDE)
    grammar = cd.GrammarCompiler(info).compile_grammar(SHAPES[name][0].replace("SPECIAL", str(info.vocab_size - 1)))
    rng = random.Random(name)
    for prefix in SHAPES[name][1] if COMPILED else SHAPES[name][1][:3]:
        state = grammar.advance(grammar.start_state, prefix.encode())
        for step in range(30 if COMPILED else 5):
            check_completion(grammar, state, (prefix, step))
            token = choose(rng, grammar, state)
            if token is None:
                break
            state = grammar.next_state(state, token)
            assert state
