"""Bad input and ended budgets: typed errors that say what and where, and everything stays usable."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import MAX_MESSAGE
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import (
    COMPILED,
    NIGHTLY,
    byte_vocabulary,
    compiled,
    sized,
    small_grammar,
    stepped_mask,
    walk_states,
    wide_grammar,
    wide_vocabulary,
)

REPOSITORY = Path(__file__).resolve().parents[2]
COMPILER = cd.GrammarCompiler(byte_vocabulary())


def matcher_of(text: str, **limits: int) -> cd.GrammarMatcher:
    return cd.GrammarMatcher(cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(**limits)).compile_grammar(text))


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "kind", "says"), [
    ("", cd.GrammarSyntaxError, "root"),
    ("MZ\x90\x00\x03", cd.GrammarSyntaxError, "line 1, column"),
    (b'root ::= "\xff"', cd.GrammarSyntaxError, "UTF-8"),
    ('foo ::= "a"', cd.GrammarSyntaxError, "root"),
    ('root ::= "a" tail', cd.GrammarSyntaxError, "tail"),
    ("root ::= root", cd.UnsatisfiableGrammarError, "no text"),
    ('root ::= "a" root', cd.UnsatisfiableGrammarError, "no text"),
    (b"root ::= <[258]>", cd.GrammarError, "out of range"),
    ("root ::= <nothing>", cd.GrammarError, "nothing"),
    (5, cd.GrammarError, "not int"),
    (None, cd.GrammarError, "not NoneType"),
])
def test_grammars_that_are_none(text: Any, kind: type[cd.ConstrainedError], says: str) -> None:
    with pytest.raises(kind, match=says) as caught:
        COMPILER.compile_grammar(text)
    assert isinstance(caught.value, ValueError) and len(str(caught.value)) <= MAX_MESSAGE


def test_unknown_root_rule() -> None:
    with pytest.raises(cd.GrammarError, match="start"):
        COMPILER.compile_grammar('root ::= "a"', root_rule_name="start")


def test_messages_do_not_echo_the_input() -> None:
    for bad in ('root ::= "' + "a" * 100_000, "root ::= " + "x" * 100_000, "root ::= (" * 5000):
        with pytest.raises(cd.ConstrainedError) as caught:
            COMPILER.compile_grammar(bad)
        assert len(str(caught.value)) <= MAX_MESSAGE and "a" * 250 not in str(caught.value)


def test_compiler_arguments() -> None:
    with pytest.raises(cd.ConstrainedError, match="TokenizerInfo"):
        cd.GrammarCompiler("gpt2")  # type: ignore[arg-type]
    for size in (-1, 1.5, None):
        with pytest.raises(cd.ConstrainedError, match="cache_limit_bytes"):
            cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=size)  # type: ignore[arg-type]
    with pytest.raises(cd.GrammarError, match="not from list"):
        cd.Grammar([])  # type: ignore[arg-type]
    with pytest.raises(cd.RegexError, match="position 0"):
        COMPILER.compile_regex("*a")
    with pytest.raises(ValueError, match="max_states"):
        cd.Limits(max_states=0)


def test_vocabulary_without_stop_token() -> None:
    with pytest.raises(cd.TokenizerError, match="no stop token"):
        TokenizerInfo.from_bytes([b"a", b"b"])
    with pytest.raises(cd.TokenizerError):
        TokenizerInfo.from_bytes([b"a", b"b"], stop_token_ids=[2])


def test_tokenizer_that_is_not_a_fast_one() -> None:
    class SlowTokenizer:
        def get_vocab(self) -> dict[str, int]:
            return {"a": 0}

    with pytest.raises(cd.TokenizerError):
        TokenizerInfo.from_huggingface(SlowTokenizer())


def test_stop_tokens_out_of_range() -> None:
    grammar = COMPILER.compile_grammar('root ::= "a"')
    for wrong in ([258], [-1], -1, [1 << 70], ["a"], [97.5], []):
        with pytest.raises(cd.ConstrainedError, match="stop token"):
            cd.GrammarMatcher(grammar, override_stop_tokens=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("bitmask", [
    np.zeros((1, 9), dtype=np.int64),
    np.zeros((1, 9), dtype=np.uint32),
    np.zeros((1, 9), dtype=np.float32),
    np.zeros((1, 8), dtype=np.int32),
    np.zeros((1, 10), dtype=np.int32),
    np.zeros((1, 1, 9), dtype=np.int32),
    np.zeros((), dtype=np.int32),
    np.zeros((9, 2), dtype=np.int32).T,
    np.zeros((2, 18), dtype=np.int32)[:, ::2],
    np.frombuffer(bytes(36), dtype=np.int32).reshape(1, 9),
    [[0] * 9],
    None,
    b"x" * 36,
])
def test_wrong_bitmasks(bitmask: Any) -> None:
    matcher = cd.GrammarMatcher(COMPILER.compile_grammar('root ::= "a"'))
    for override in (None, [120]):
        matcher = cd.GrammarMatcher(matcher.compiled, override_stop_tokens=override)
        before = None if not isinstance(bitmask, np.ndarray) else bitmask.copy()
        with pytest.raises(cd.BitmaskError):
            matcher.fill_next_token_bitmask(bitmask)
        with pytest.raises(cd.BitmaskError):
            matcher.fill_draft_tree_bitmask([97], [-1], bitmask)
        with pytest.raises(cd.BitmaskError):
            cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher], bitmask)
        assert before is None or (bitmask == before).all()


def test_rows_out_of_range() -> None:
    matcher = cd.GrammarMatcher(COMPILER.compile_grammar('root ::= "a"'))
    rows = np.zeros((2, 9), dtype=np.int32)
    for index in (-1, 2, 1 << 40):
        with pytest.raises(cd.BitmaskError, match="no row"):
            matcher.fill_next_token_bitmask(rows, index)
    with pytest.raises(cd.BitmaskError):
        matcher.fill_draft_tree_bitmask([97, 97], [-1, -1], rows)
    with pytest.raises(cd.BitmaskError):
        cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher] * 2, rows, [0])
    with pytest.raises(cd.BitmaskError):
        cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher] * 3, rows)
    one = np.full(9, -1, dtype=np.int32)
    assert matcher.fill_next_token_bitmask(one) and one[3] == 2


def test_wrong_calls_change_nothing() -> None:
    matcher = cd.GrammarMatcher(COMPILER.compile_grammar("root ::= [^a]*"))
    other = cd.GrammarMatcher(matcher.compiled)
    assert matcher.accept_token(98)
    before = matcher.state, matcher.num_steps
    for token in (-1, 258, 1 << 31, 1 << 64, 97):
        assert not matcher.accept_token(token)
        assert matcher.validate_tokens([token]) == 0
        assert cd.BatchGrammarMatcher().batch_accept_token([matcher], [token]) == [False]
    for token in ("b", None, [1]):
        with pytest.raises(cd.ConstrainedError, match="token id"):
            matcher.accept_token(token)  # type: ignore[arg-type]
    for text in ("\ud800", "xa", b"\xff", b"\xc3("):
        assert not matcher.accept_string(text)
    for text in (3, None, ["b"]):
        with pytest.raises(cd.ConstrainedError):
            matcher.accept_string(text)  # type: ignore[arg-type]
    with pytest.raises(cd.ConstrainedError, match="parents"):
        matcher.fill_draft_tree_bitmask([98], [], np.zeros((2, 9), dtype=np.int32))
    with pytest.raises(cd.ConstrainedError, match="parent"):
        matcher.fill_draft_tree_bitmask([98], [0], np.zeros((2, 9), dtype=np.int32))
    batch = cd.BatchGrammarMatcher()
    with pytest.raises(cd.ConstrainedError):
        batch.batch_accept_token([matcher, other], [98])
    with pytest.raises(cd.ConstrainedError):
        batch.batch_accept_string([matcher, other], ["b"])
    with pytest.raises(cd.ConstrainedError):
        batch.batch_rollback([matcher, other], [1, 1])
    with pytest.raises(cd.ConstrainedError):
        cd.BatchGrammarMatcher(0)
    assert (matcher.state, matcher.num_steps) == before and other.num_steps == 0


# -- budgets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "limit", "value"), [
    ('root ::= "' + "a" * 100 + '"', "max_positions", 50),
    ('root ::= "a"{0,1000}', "max_repeat", 999),
    ("root ::= " + "(" * 20 + '"a"' + ")" * 20, "max_nesting", 10),
    ('root ::= "aaaaaaaaaaaaaaaa"', "max_source_chars", 20),
])
def test_limits_of_compiling(text: str, limit: str, value: int) -> None:
    """One below fails and says which field and what it is; with the field just high enough it compiles."""
    compiler = cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(**{limit: value}))
    with pytest.raises(cd.GrammarLimitError, match=f"Limits.{limit} = {value}") as caught:
        compiler.compile_grammar(text)
    assert (caught.value.limit, caught.value.value) == (limit, value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.limit, copy.value, str(copy)) == (limit, value, str(caught.value))
    assert compiler.compile_grammar('root ::= "a"').start_state
    low, high = value, 2000
    while high - low > 1:  # the least value that is enough: the limit is a limit, not a switch
        middle = (low + high) // 2
        try:
            cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(**{limit: middle})).compile_grammar(text)
            high = middle
        except cd.GrammarLimitError:
            low = middle
    assert high < 2000


def test_too_many_alternatives() -> None:
    """Counter sets: the step that needs too many raises, the matcher stays, other texts go on."""
    text = 'root ::= [ab]* "a" y{100}\ny ::= [ab] | "(" y ")"'
    matcher, free = matcher_of(text, max_threads=40), matcher_of(text)
    taken = 0
    with pytest.raises(cd.GrammarLimitError, match="max_threads = 40") as caught:
        while matcher.accept_token(97):
            taken += 1
    assert 30 <= taken <= 45 and "{100,100}" in str(caught.value)
    assert matcher.num_steps == taken
    for _ in range(2):
        with pytest.raises(cd.GrammarLimitError):
            matcher.accept_token(97)
    with pytest.raises(cd.GrammarLimitError):
        matcher.validate_tokens([98, 97, 97, 97])
    with pytest.raises(cd.GrammarLimitError):
        matcher.accept_string("aaaa")
    with pytest.raises(cd.GrammarLimitError):
        cd.BatchGrammarMatcher().batch_accept_token([matcher], [97])
    assert matcher.num_steps == taken
    assert free.accept_tokens([97] * taken) == taken
    matcher.rollback(5)
    free.rollback(5)
    assert matcher.accept_token(98) and free.accept_token(98)
    assert matcher.allowed_token_ids() == free.allowed_token_ids()
    assert matcher.distance_to_end() == free.distance_to_end()
    matcher.reset()
    assert matcher.accept_tokens([97] * 20) == 20


def test_after_an_error_all_tables_are_right() -> None:
    """Masks and steps after a budget ended inside the kernel equal those of a grammar where it did not."""
    failed = 0
    info = wide_vocabulary(1, 2000 if COMPILED else 100)
    for seed in range(sized(60, 12)):
        rng = random.Random(seed)
        rules = wide_grammar(rng, info.vocab_size - 1) if seed % 2 else small_grammar(rng)
        try:
            free = compiled(rules, info)
            tight = compiled(rules, info, cd.Limits(max_threads=rng.choice([2, 4, 8])))
        except cd.UnsatisfiableGrammarError:
            continue
        except cd.GrammarLimitError as error:
            assert error.limit == "max_threads"
            continue
        texts = [text for _ in range(3) for text, _ in walk_states(free, rng, 8)]
        rng.shuffle(texts)
        for text in texts[:12]:
            state = tight.start_state
            try:
                for byte in text:
                    state = tight.next_state(state, byte)
                for question in (tight.rules_at, tight.shortest_completion, tight.allowed_ids):
                    question(state)
            except cd.UnsatisfiableGrammarError:
                continue
            except cd.GrammarLimitError as error:
                assert error.limit == "max_threads"
                failed += 1
                continue
            there = free.advance(free.start_state, text)
            assert tight.allowed_ids(state) == free.allowed_ids(there), (seed, text)
            assert tight.is_complete(state) == free.is_complete(there)
    assert failed > sized(20, 2) // (10 if NIGHTLY else 1)


def test_every_question_raises_the_typed_error() -> None:
    """No raw kernel exception comes out of the public ways."""
    text = "\n".join(["root ::= " + " | ".join(f"r{i}" for i in range(8)),
                      *(f'r{i} ::= "x" r{i} "{i}" | "xy{i}"' for i in range(8))])
    matcher = matcher_of(text, max_threads=3)
    row = np.zeros((1, 9), dtype=np.int32)
    raised = 0
    for question in (
        lambda: matcher.accept_token(120),
        lambda: matcher.accept_string("xx"),
        lambda: matcher.validate_tokens([120, 120]),
        lambda: matcher.shortest_completion(), lambda: matcher.find_jump_forward_string(),
        lambda: matcher.compute_ff_tokens(), lambda: matcher.allowed_token_ids(), lambda: matcher.allowed_token_count(),
        lambda: matcher.fill_next_token_bitmask(row),
        lambda: matcher.fill_draft_tree_bitmask([120], [-1], np.zeros((2, 9), np.int32)),
        lambda: cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher], row),
        lambda: matcher.is_completed(),
        lambda: matcher.distance_to_end(),
        lambda: matcher.compiled.rules_at(matcher.state),
        lambda: cd.GrammarMatcher(matcher.compiled, terminate_without_stop_token=True).accept_string("xx"),
    ):
        try:
            question()
        except cd.GrammarLimitError as error:
            assert error.limit == "max_threads" and error.value == 3
            raised += 1
    assert raised >= 3


def test_walk_limit() -> None:
    info = wide_vocabulary(1, 2000 if COMPILED else 900)
    compiler = cd.GrammarCompiler(info, limits=cd.Limits(max_walk_nodes=10))
    grammar = compiler.compile_grammar('root ::= "a" x | [a-z]\nx ::= "ab"* [abc"\\\\ 1xz-]* | "(" x ")"')
    matcher = cd.GrammarMatcher(grammar)
    with pytest.raises(cd.GrammarLimitError, match="max_walk_nodes = 10"):
        for _ in range(10):
            matcher.allowed_token_ids()
            matcher.accept_token(97)
    assert matcher.accept_string("a") and matcher.validate_tokens([97, 98]) == 2


def test_failed_row_does_not_stop_the_batch() -> None:
    info = wide_vocabulary(1, 2000 if COMPILED else 900)
    bad = cd.GrammarMatcher(cd.GrammarCompiler(info, limits=cd.Limits(max_walk_nodes=1)).compile_grammar(
        'root ::= "a" x | [a-z]\nx ::= "ab"* [abc"\\\\ 1xz-]* | "(" x ")"'))
    good = cd.GrammarMatcher(cd.GrammarCompiler(info).compile_grammar('root ::= [a-c]*'))
    assert bad.accept_string("a")
    rows = np.zeros((4, (info.vocab_size + 31) // 32), dtype=np.int32)
    want = rows[:1].copy()
    good.fill_next_token_bitmask(want)
    for threads in (1, 2):
        rows[:] = 0
        with pytest.raises(cd.GrammarLimitError, match="max_walk_nodes"):
            cd.BatchGrammarMatcher(threads).batch_fill_next_token_bitmask([good, bad, good, good], rows)
        for row in (0, 2, 3):
            assert (rows[row] == want[0]).all()


# -- pickling ---------------------------------------------------------------------------------------------------


def same_masks(one: CompiledGrammar, other: CompiledGrammar, rng: random.Random) -> None:
    for text, state in walk_states(one, rng, 8):
        there = other.advance(other.start_state, text)
        assert one.allowed_ids(state) == other.allowed_ids(there) == stepped_mask(other, there)


def test_pickling() -> None:
    for seed in range(sized(20, 5)):
        rng = random.Random(seed)
        grammar = cd.Grammar(small_grammar(rng))
        copy = pickle.loads(pickle.dumps(grammar))
        assert copy == grammar and hash(copy) == hash(grammar) and copy is not grammar
        one = cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(max_threads=1234)).compile_grammar(grammar)
        same_masks(one, other := pickle.loads(pickle.dumps(one)), rng)
        assert other.limits == one.limits and other.tokenizer_info == one.tokenizer_info
        assert cd.Grammar(other.rules) == grammar


# -- depth ------------------------------------------------------------------------------------------------------

DEEP = """
import os, sys, threading
if any(os.environ.get(name, "0") not in ("", "0") for name in ("CONSTRAINED_TEST_PURE", "CONSTRAINED_TEST_SHIM")):
    import tests.conftest
import pickle
import constrained as cd
from constrained.grammar.ir import Choice, Literal, Reference, Repeat, RuleSet, Sequence
from tests.engine.worlds import COMPILED, byte_vocabulary

depth = 20_000 if COMPILED else 2_000
done = []

def nest(wrap):
    expr = Literal(b"a")
    for i in range(depth):
        expr = wrap(expr, i)
    return RuleSet({"root": expr}, "root")

SHAPES = {
    "sequences": lambda e, i: Sequence((e, Literal(b""))),
    "choices": lambda e, i: Choice((e, Literal(b"b"))),
    "repeats": lambda e, i: Repeat(e, 0, None) if i % 2 else Repeat(e, 1, 1),
    "parentheses": lambda e, i: Sequence((Literal(b"("), e, Literal(b")"))),
}

def shape(name):
    grammar = cd.Grammar(nest(SHAPES[name]))
    grammar.analyse()
    copy = pickle.loads(pickle.dumps(grammar))
    assert copy == grammar and hash(copy) == hash(grammar)
    str(grammar), repr(grammar)
    del copy
    compiled = cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(max_positions=1 << 22)).compile_grammar(grammar)
    matcher = cd.GrammarMatcher(compiled)
    text = b"(" * depth + b"a" + b")" * depth if name == "parentheses" else b"a"
    assert matcher.accept_string(text) and matcher.is_completed(), name
    matcher.reset()
    assert matcher.shortest_completion() in (text, b"", b"b")
    clone = pickle.loads(pickle.dumps(compiled))
    assert clone.is_complete(clone.advance(clone.start_state, text))

def chain():
    rules = {"root": Reference("r0")}
    rules.update({f"r{i}": Sequence((Reference(f"r{i + 1}"), Literal(b"x"))) for i in range(depth // 4)})
    rules[f"r{depth // 4}"] = Literal(b"a")
    compiled = cd.GrammarCompiler(byte_vocabulary()).compile_grammar(cd.Grammar(RuleSet(rules, "root")))
    assert cd.GrammarMatcher(compiled).accept_string(b"a" + b"x" * (depth // 4))

def text():
    for source, opens, closes in (('root ::= "(" root ")" | ""', b"(", b")"),
                                  ('root ::= ("a" root "b"){0,1}', b"a", b"b"),
                                  ('root ::= "a" (root "b" | root "c" | "b")', b"a", b"b")):
        compiled = cd.GrammarCompiler(byte_vocabulary()).compile_grammar(source)
        matcher = cd.GrammarMatcher(compiled)
        assert matcher.accept_tokens(list(opens * depth)) == depth
        assert matcher.allowed_token_ids()
        assert matcher.accept_string(closes * depth) and matcher.is_completed()
        matcher.rollback(1)
        assert len(matcher.shortest_completion()) == depth
        compiled.automaton.new_epoch()
        assert matcher.distance_to_end() == depth

def refused():
    for source in ("root ::= " + "(" * 200_000 + '"a"' + ")" * 200_000, "root ::= " + "(" * 200_000):
        try:
            cd.Grammar.from_ebnf(source)
        except cd.ConstrainedError:
            continue
        raise AssertionError("not refused")
    try:
        cd.Grammar.from_regex("(" * 200_000 + "a" + ")" * 200_000)
    except cd.ConstrainedError:
        pass

def run():
    for name in SHAPES:
        shape(name)
        done.append(name)
    for job in (chain, text, refused):
        job()
        done.append(job.__name__)

# CPython 3.13 itself takes up to 1 MB to drop nested tuples.
threading.stack_size((1024 if sys.version_info[:2] == (3, 13) else 256) * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
assert len(done) == 7, done
print("all", len(done))
"""


def test_depth_on_a_small_stack() -> None:
    """Building, comparing, printing, pickling, lowering, matching and dropping deep grammars on 256 kB of stack.

    In a process of its own: an overflow would end this one without a word.
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(DEEP)], cwd=REPOSITORY, capture_output=True, text=True,
                         timeout=600, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, check=False)
    assert run.returncode == 0 and run.stdout.strip() == "all 7", run.stderr[-3000:]
