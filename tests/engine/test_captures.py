"""Captures: spans against a brute-force reading, how they are decided, and what is refused."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constrained as cd
from constrained.engine.captures import CaptureSpan, CaptureTracker
from constrained.grammar import combinators as make
from constrained.grammar.ir import ByteDfa, NotFollowedBy

JSON = cd.Grammar.from_ebnf(r'''
root ::= "{" ws pair ("," ws pair)* "}"
pair ::= Capture("key", "str") ":" ws Capture("value", "val")
val ::= str | num | "[" (val ("," ws val)*)? "]" | root
str ::= "\"" [^"\\]* "\""
num ::= [0-9]+
ws ::= [ ]*
''')
INFO = cd.TokenizerInfo([bytes([i]) for i in range(256)] + [b'{"', b'": ', b", ", b"12", b"<t>", None, None],
                        stop_token_ids=262, special_token_ids=[261, 262], added_token_ids=[260],
                        token_texts={261: "<c>", 262: "</s>"})


def texts(tracker: CaptureTracker, data: bytes, cut: int = 1) -> list[tuple[str, bytes]]:
    spans = []
    for at in range(0, len(data), cut):
        spans += tracker.feed(data[at : at + cut])
    spans += tracker.finish()
    return [(span.name, data[span.start : span.end]) for span in spans]


values = st.recursive(st.integers(0, 99) | st.text("ab ", max_size=3), lambda inner: st.lists(inner, max_size=3) |
                      st.dictionaries(st.text("xy", max_size=2), inner, min_size=1, max_size=3), max_leaves=8)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text("kl", max_size=3), values, min_size=1, max_size=3), st.integers(1, 9))
def test_members_of_objects(value: dict[str, object], cut: int) -> None:
    expected: list[tuple[str, object]] = []

    def visit(one: object) -> None:
        if isinstance(one, dict):
            for key, item in one.items():
                expected.append(("key", key))
                visit(item)
                expected.append(("value", item))
        elif isinstance(one, list):
            for item in one:
                visit(item)

    visit(value)
    found = texts(CaptureTracker(JSON.rules), json.dumps(value).encode(), cut)
    assert [(name, json.loads(data)) for name, data in found] == expected


@settings(max_examples=80, deadline=None)
@given(st.text("ab", max_size=8))
def test_the_order_of_alternatives_is_that_of_regular_expressions(text: str) -> None:
    rules = make.rule_set(make.sequence(
        make.capture("x", make.repeat(make.choice("ab", "a"), 0)),
        make.capture("y", make.repeat(make.char_class("ab"))), make.optional(make.capture("z", "b"))))
    match = re.fullmatch(r"((?:ab|a)*)([ab]*)(b)?", text)
    assert match is not None
    found = dict(texts(CaptureTracker(rules), text.encode()))
    assert found == {name: match[i].encode() for i, name in ((1, "x"), (2, "y"), (3, "z")) if match[i] is not None}


@settings(max_examples=80, deadline=None)
@given(st.text("ab", max_size=9), st.text("ab", max_size=4))
def test_what_is_decided_stays(text: str, more: str) -> None:
    rules = make.rule_set({
        "root": make.repeat(make.choice(make.capture("one", make.repeat("a", 2, 3)), make.capture("two", make.sequence(
            "a", make.optional(make.reference("tail")))), "b"), 0),
        "tail": make.capture("tail", make.sequence("b", make.optional(make.reference("tail"))))})
    early = CaptureTracker(rules)
    told = early.feed(text.encode())
    for end in (more, ""):
        whole = CaptureTracker(rules)
        spans = whole.feed((text + end).encode()) + whole.finish()
        if whole.is_complete:
            assert spans[: len(told)] == told


def test_open_parts_are_known_while_they_grow() -> None:
    tracker = CaptureTracker(JSON.rules)
    assert tracker.feed(b'{"a": [1, ') == [CaptureSpan("key", 1, 4)]
    assert tracker.open == [CaptureSpan("value", 6, -1)]
    assert tracker.feed(b"2]}") == [CaptureSpan("value", 6, 12)]
    assert tracker.is_complete and tracker.alive
    assert tracker.feed(b"?") == [] and not tracker.alive


def test_counts_groups_and_text() -> None:
    item = make.capture("item", make.char_class("a-c"))
    rules = make.rule_set(make.sequence(
        make.repeat(item, 2, 40), ";", make.capture("text", make.any_text_until("!")), make.repeat(item, 50, None)))
    data = b"abc;free text!" + b"a" * 60
    found = texts(CaptureTracker(rules), data)
    assert found[:4] == [("item", b"a"), ("item", b"b"), ("item", b"c"), ("text", b"free text!")] and len(found) == 64
    group = cd.Grammar.from_ebnf('root ::= Unordered("x", "y", separator="c", required=(1))\nx ::= Capture("x", "v")\n'
                                 'y ::= Capture("y", "w")\nv ::= "1"+\nw ::= "2"+\nc ::= ","\n')
    assert texts(CaptureTracker(group.rules), b"22,11") == [("y", b"22"), ("x", b"11")]
    assert not CaptureTracker(group.rules).feed(b"11,11")


def test_empty_rounds_end() -> None:
    rules = make.rule_set(make.repeat(make.capture("x", make.optional("a")), 3, 1000))
    assert texts(CaptureTracker(rules), b"aa")[:2] == [("x", b"a"), ("x", b"a")]


def test_a_matcher_tells_them_under_rollback_and_fork() -> None:
    matcher = cd.GrammarMatcher(cd.GrammarCompiler(INFO).compile_grammar(JSON))
    assert matcher.captures() == []
    for token in (256, ord("a"), 257, 259):
        assert matcher.accept_token(token)
    assert matcher.captures() == [CaptureSpan("key", 1, 4)]
    other = matcher.fork()
    assert matcher.accept_string(', "b": 3}') and matcher.accept_token(262)
    assert matcher.captures() == [CaptureSpan("key", 1, 4), CaptureSpan("value", 6, 8), CaptureSpan("key", 10, 13),
                                  CaptureSpan("value", 15, 16)]
    assert other.captures() == [CaptureSpan("key", 1, 4)]
    matcher.rollback(4)
    assert matcher.captures() == []
    assert matcher.accept_string('": ') and matcher.captures() == [CaptureSpan("key", 1, 4)]


def test_tokens_that_the_grammar_names() -> None:
    grammar = cd.Grammar.of(make.sequence(make.capture("a", make.any_text_until("<t>", consume=False)),
                                          make.token("<c>", "<t>"), make.capture("b", make.repeat("x", 1))))
    matcher = cd.GrammarMatcher(cd.GrammarCompiler(INFO).compile_grammar(grammar))
    assert matcher.accept_string("hi") and matcher.accept_token(261) and matcher.accept_token(ord("x"))
    assert matcher.captures() == [CaptureSpan("a", 0, 2)]
    assert matcher.accept_token(262)
    assert matcher.captures() == [CaptureSpan("a", 0, 2), CaptureSpan("b", 2, 3)]


def test_captures_do_not_change_the_automaton() -> None:
    plain = cd.Grammar.from_ebnf(re.sub(r'Capture\("\w+", "(\w+)"\)', r"\1", str(JSON)))
    one, two = (cd.GrammarCompiler(INFO).compile_grammar(grammar) for grammar in (JSON, plain))
    assert one.program.n_positions == two.program.n_positions
    rng = random.Random(1)
    a, b = one.start_state, two.start_state
    for _ in range(60):
        ids = one.allowed_ids(a)
        assert ids == two.allowed_ids(b)
        token = rng.choice([i for i in ids if i != 262] or [0])
        a, b = one.next_state(a, token), two.next_state(b, token)
        if not a:
            break


def test_conditions_on_what_follows() -> None:
    letter = ByteDfa((((97, 122, 1),), ()), frozenset([1]))
    word = make.sequence(make.repeat(make.char_class("a-z"), 1), NotFollowedBy(letter))
    rules = make.rule_set(make.repeat(make.choice(make.capture("word", word), make.char_class("a-z0-9")), 0))
    assert texts(CaptureTracker(rules), b"ab1c")[0] == ("word", b"ab")
    ending = make.rule_set(make.choice(
        make.capture("x", make.sequence("a", NotFollowedBy(ByteDfa(((),), frozenset()), frozenset([0])))),
        make.capture("y", "a")))
    assert texts(CaptureTracker(ending), b"a") == [("y", b"a")]


def test_refused() -> None:
    for text in ('root ::= root "a" | "b"', 'root ::= x\nx ::= y? x "a" | "b"\ny ::= "c"*'):
        with pytest.raises(cd.GrammarError, match="refer to themselves"):
            CaptureTracker(cd.Grammar.from_ebnf(text).rules)
    with pytest.raises(cd.GrammarError, match="name"):
        make.capture("", "a")


def test_long_and_deep_texts_are_linear() -> None:
    tracker = CaptureTracker(JSON.rules)
    deep = b'{"a": ' * 5000 + b"1" + b"}" * 5000
    assert len(tracker.feed(deep)) == 10000
    assert len(tracker._frames) <= tracker._most_frames


def test_alternatives_that_agree_so_far_are_decided() -> None:
    rules = cd.Grammar.from_ebnf(r'''
root ::= Capture("all", "one") | Capture("all", "other")
one ::= "<" name "-" [a-z]+ ">"
other ::= "<" name "-" [0-9]+ ">"
name ::= Capture("name", "letters")
letters ::= [a-z]+
''').rules
    tracker = CaptureTracker(rules)
    assert tracker.feed(b"<ab") == []
    assert [(span.name, span.start) for span in tracker.open] == [("all", 0), ("name", 1)]
    assert tracker.feed(b"-") == [CaptureSpan("name", 1, 3)]  # which of the two it is, is still open
    assert tracker.feed(b"7>") == [CaptureSpan("all", 0, 6)]
