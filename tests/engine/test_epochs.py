"""Small budgets: new epochs and dropped masks in the middle of a generation, stale handles, memory that stays."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest

import constrained as cd
from constrained.engine.compiled import CompiledGrammar
from tests.engine.worlds import COMPILED, NIGHTLY, byte_vocabulary, sized, stepped_mask, wide_vocabulary

NESTED = 'root ::= "(" root ")" | "[" root "]" | [a-z]{0,50} ("," root)?'


def make(text: str, **limits: int) -> CompiledGrammar:
    return cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(**limits)).compile_grammar(text)


def drive(matcher: cd.GrammarMatcher, rng: random.Random, steps: int) -> list[object]:
    seen: list[object] = []
    row = np.zeros((1, 9), dtype=np.int32)
    for _ in range(steps):
        matcher.fill_next_token_bitmask(row)
        ids = matcher.allowed_token_ids()
        seen.append((row.tobytes(), ids, matcher.is_completed()))
        token = rng.choice([i for i in ids if i != 256] or ids)
        assert matcher.accept_token(token)
        if rng.random() < 0.05:
            matcher.rollback(rng.randint(1, min(matcher.num_steps, 5)))
        if matcher.is_terminated() or rng.random() < 0.01:
            matcher.reset()
    return seen


@pytest.mark.parametrize("limits", [{"max_states": 30}, {"max_automaton_bytes": 10_000}, {"max_mask_bytes": 100},
                                    {"max_states": 30, "max_mask_bytes": 100}])
def test_matchers_do_not_notice(limits: dict[str, int]) -> None:
    steps = sized(2000, 600)
    want = drive(cd.GrammarMatcher(make(NESTED)), random.Random(1), steps)
    grammar = make(NESTED, **limits)
    assert drive(cd.GrammarMatcher(grammar), random.Random(1), steps) == want
    if "max_mask_bytes" not in limits or "max_states" in limits:
        assert grammar.automaton.counts()[0] > 1, "no new epoch: the test shows nothing"


def test_other_matchers_follow() -> None:
    """Matchers that were away while epochs passed: their history is replayed, strings and stop tokens included."""
    grammar = make(NESTED)
    first = cd.GrammarMatcher(grammar)
    assert first.accept_string("((ab") and first.accept_token(ord(",")) and first.accept_string("")
    ended = cd.GrammarMatcher(grammar)
    assert ended.accept_string("(x)") and ended.accept_token(256)
    by_itself = cd.GrammarMatcher(make('root ::= "a"+ "b"'), terminate_without_stop_token=True)
    assert by_itself.accept_tokens([97, 97, 98]) == 3
    want = first.allowed_token_ids(), first.distance_to_end(), first.shortest_completion()
    for matcher in (first, ended, by_itself):
        matcher.compiled.automaton.new_epoch()
    assert (first.allowed_token_ids(), first.distance_to_end(), first.shortest_completion()) == want
    assert first.fork().accept_string("z))") and first.num_steps == 3
    first.rollback(2)
    assert first.state == grammar.advance(grammar.start_state, b"((ab")
    assert ended.is_terminated() and ended.allowed_token_ids() == [256]
    ended.rollback()
    assert ended.is_completed() and ended.state == grammar.advance(grammar.start_state, b"(x)")
    assert by_itself.is_terminated() and by_itself.compiled.is_complete(by_itself.state)
    by_itself.rollback()
    assert by_itself.allowed_token_ids() == [97, 98]


def test_batches_follow() -> None:
    grammar = make(NESTED)
    other = make('root ::= "a"*')
    matchers = [cd.GrammarMatcher(grammar) for _ in range(3)] + [cd.GrammarMatcher(other)]
    batch = cd.BatchGrammarMatcher()
    assert batch.batch_accept_string(matchers, ["(", "((", "a", "a"]) == [True] * 4
    want = np.zeros((4, 9), dtype=np.int32)
    batch.batch_fill_next_token_bitmask(matchers, want)
    grammar.automaton.new_epoch()
    rows = np.zeros((4, 9), dtype=np.int32)
    batch.batch_fill_next_token_bitmask(matchers, rows)
    assert (rows == want).all()
    grammar.automaton.new_epoch()
    other.automaton.new_epoch()
    assert batch.batch_accept_token(matchers, [ord(")"), ord(")"), ord("b"), ord("a")]) == [True] * 4


def test_stale_handles_raise() -> None:
    grammar = make(NESTED)
    state = grammar.advance(grammar.start_state, b"((")
    mask = grammar.allowed_ids(state)
    grammar.automaton.new_epoch()
    row = np.zeros((1, 9), dtype=np.int32)
    for call in (
        lambda: grammar.next_state(state, 40),
        lambda: grammar.advance(state, b"("),
        lambda: grammar.is_complete(state),
        lambda: grammar.allowed_ids(state),
        lambda: grammar.allowed_count(state),
        lambda: grammar.fill(state, row, 0),
        lambda: grammar.shortest_completion(state),
        lambda: grammar.rules_at(state),
        lambda: grammar.automaton.unite(state, grammar.start_state),
        lambda: grammar.automaton.distance(state),
    ):
        with pytest.raises(cd.StaleState):
            call()
    fresh = grammar.advance(grammar.start_state, b"((")
    assert fresh != state and grammar.allowed_ids(fresh) == mask == stepped_mask(grammar, fresh)
    for wrong in (-1, 1 << 40, (1 << 62) + 5):
        with pytest.raises(cd.StaleState):
            grammar.next_state(wrong, 40)


def test_memory_is_given_back() -> None:
    """After one document that outgrows the budget the automaton fits again, and short documents begin no epochs."""
    grammar = make(NESTED, max_automaton_bytes=1 << 18)
    matcher = cd.GrammarMatcher(grammar)
    for _ in range(sized(6000, 3000)):
        assert matcher.accept_token(40)
    assert grammar.automaton.counts()[0] > 1
    matcher.reset()
    for _ in range(600):  # two looks at the memory
        assert matcher.accept_token(ord("a"))
        matcher.rollback()
    assert grammar.automaton.memory() <= 1 << 18
    epoch = grammar.automaton.counts()[0]
    for _ in range(3000):
        assert matcher.accept_token(ord("a"))
        matcher.rollback()
    assert grammar.automaton.counts()[0] == epoch


def test_a_long_text_is_not_replayed_again_and_again() -> None:
    """What it needs is more than the budget: the epochs then begin at twice of that, until the text is given up."""
    grammar = make(NESTED, max_automaton_bytes=1 << 18)
    matcher = cd.GrammarMatcher(grammar)
    epochs = []
    for _ in range(6):
        for _ in range(sized(4000, 2000)):
            assert matcher.accept_token(40)
        epochs.append(grammar.automaton.counts()[0])
    assert grammar.automaton.memory() > 1 << 18
    assert epochs[-1] <= 8  # else one for every look at the memory: hundreds
    del matcher
    other = cd.GrammarMatcher(grammar)
    for _ in range(600):
        assert other.accept_token(ord("a"))
        other.rollback()
    assert grammar.automaton.memory() <= 1 << 18


COUNTED = r"""
root ::= value
value ::= "[" (value (", " value)*)? "]" | "{" (pair (", " pair)*)? "}" | string | [-0-9.e]{1,30} | [a-z]{1,5}
pair ::= string ": " value
string ::= "\"" ([^"\\] | "\\" [a-z]){0,200} "\""
"""
"""Counts at the leaves. Counts around counts have a state for each combination that occurs: those grow for longer."""


def documents(rng: random.Random, depth: int = 0) -> str:
    """A small random JSON text; no two are likely the same."""
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind == 0:
        return str(rng.randrange(1 << rng.randrange(1, 40)))
    if kind == 1:
        return '"' + "".join(rng.choices("abc é漢\\\\", k=rng.randrange(12))).replace("\\", "\\n") + '"'
    if kind < 4:
        return rng.choice(["true", "null", "-1.5e3", "[]", "{}"])
    parts = [documents(rng, depth + 1) for _ in range(rng.randrange(1, 5))]
    if kind == 4:
        return "[" + ", ".join(parts) + "]"
    return "{" + ", ".join(f'"k{rng.randrange(1000)}": {part}' for part in parts) + "}"


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("counted", [False, True])
def test_many_documents(counted: bool) -> None:
    """Tables stop growing; nightly: 10,000 documents, and the process grows less than 5 MB over the last 9,000."""
    info = wide_vocabulary(1, 2000 if COMPILED else 100)
    grammar: cd.Grammar = cd.Grammar.builtin("json")
    if counted:
        grammar = cd.Grammar.from_ebnf(COUNTED)
    compiled = cd.GrammarCompiler(info).compile_grammar(grammar)
    row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
    rng = random.Random(3)
    count = 10_000 if NIGHTLY and COMPILED else sized(600, 12)
    settled = resident = 0
    for i in range(count):
        if i == count // 10 * (1 if NIGHTLY and COMPILED else 5):
            gc.collect()
            settled, resident = compiled.automaton.memory(), resident_bytes()
        matcher = cd.GrammarMatcher(compiled)
        for byte in documents(rng).encode():
            matcher.fill_next_token_bitmask(row)
            assert matcher.accept_token(byte)
        assert matcher.accept_token(info.stop_token_ids[0])
    gc.collect()
    assert compiled.automaton.memory() <= 2 * settled + (1 << 20)
    if COMPILED:
        assert resident_bytes() - resident < 5 << 20


NESTED_COUNTS = r"""
root ::= value
value ::= "[" (value (", " value){0,500})? "]" | "{" (pair (", " pair){0,500})? "}" | scalar
scalar ::= string | [-0-9.e]{1,30} | [a-z]{1,5}
pair ::= string ": " value
string ::= "\"" ([^"\\] | "\\" [a-z]){0,200} "\""
"""


def test_short_documents_begin_epochs() -> None:
    """No matcher lives long enough to look at the memory itself, and counts around counts make ever new states."""
    compiled = cd.GrammarCompiler(byte_vocabulary(), limits=cd.Limits(max_automaton_bytes=1 << 19)).compile_grammar(
        NESTED_COUNTS)
    rng = random.Random(7)
    most = 0
    for _ in range(sized(1500, 500)):
        matcher = cd.GrammarMatcher(compiled)
        for byte in documents(rng).encode():
            assert matcher.accept_token(byte)
        most = max(most, compiled.automaton.memory())
    assert compiled.automaton.counts()[0] > 1
    assert most < 1 << 20


def test_one_long_counted_document() -> None:
    """A count has a state of its own only near its bounds for masks; the automaton itself stays within its budget."""
    grammar = make('root ::= [a-z]{0,1000000} "!"', max_states=2000)
    matcher = cd.GrammarMatcher(grammar)
    row = np.zeros((1, 9), dtype=np.int32)
    for _ in range(sized(5000, 1000)):
        matcher.fill_next_token_bitmask(row)
        assert matcher.accept_token(97)
    assert matcher.accept_string("!") and matcher.is_completed()


CARRIED = {
    "nested": (NESTED, b"((a,[b", b"]))"),
    "counts": ('root ::= "<" ([a-z]{3,400} ","){2,900} ">"', b"<" + b"abcd," * 40 + b"x" * 90, b"y,>"),
    "keys": ({"type": "object", "maxProperties": 200, "properties": {"a": {}, "b": {}}, "required": ["b"],
              "additionalProperties": {"type": "null"}},
             b'{"a":1,' + b",".join(b'"k%d":null' % i for i in range(40)), b',"b":[0]}'),
    "different": ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
                  b"[" + b",".join(b"%d" % i for i in range(30)), b",31]"),
}


@pytest.mark.parametrize("name", CARRIED)
def test_states_in_hand_are_carried_over(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new epoch replays no text, and what comes then is as before, also for a fork and after a rollback."""
    source, begin, rest = CARRIED[name]

    def fresh() -> CompiledGrammar:
        compiler = cd.GrammarCompiler(byte_vocabulary())
        return (compiler.compile_grammar(source) if isinstance(source, str)
                else compiler.compile_json_schema(source, property_order="any"))

    grammar, other = fresh(), fresh()
    matcher, plain = cd.GrammarMatcher(grammar), cd.GrammarMatcher(other)
    for one in (matcher, plain):
        for byte in begin:
            assert one.accept_token(byte)
    before = matcher.state
    monkeypatch.setattr(grammar, "limits", cd.Limits(max_states=1))
    assert grammar.renew_if_full()
    monkeypatch.setattr(grammar, "limits", cd.Limits())
    with monkeypatch.context() as patched:
        patched.setattr(cd.GrammarMatcher, "_replay", lambda self: pytest.fail("the text was replayed"))
        assert matcher.allowed_token_ids() == plain.allowed_token_ids()
        assert matcher.state != before
        assert matcher.fork().accept_string(rest)
    for _ in range(3):
        matcher.rollback()
        plain.rollback()
        assert matcher.allowed_token_ids() == plain.allowed_token_ids()
    assert matcher.accept_string(begin[-3:] + rest) and matcher.is_completed()
    assert matcher.text_bytes() == begin + rest
