"""The automaton of a grammar that has ended serves the next one of its vocabulary: nothing of the old one is left."""

from __future__ import annotations

import gc
import random
import weakref
from importlib.util import find_spec
from sys import getrefcount
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.vocabulary_tables import trie_of
from constrained.kernel import is_compiled
from constrained.kernel.token_automaton import TokenAutomaton
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import byte_vocabulary

INFO = byte_vocabulary()

GRAMMARS = [
    cd.Grammar.from_ebnf('root ::= "a"'),
    cd.Grammar.from_ebnf('root ::= ((root* root{2,3}) [a] | root) | "a"'),
    cd.Grammar.from_ebnf('root ::= "b" [a-c]{2,30} root? | "c"'),
    cd.Grammar.from_ebnf('root ::= "x" root "y" | ""'),
    cd.Grammar.from_regex("(ab|cd){3,2000}x?[^y]*"),
    cd.Grammar.from_regex('"[^"]{0,300}"'),
    cd.Grammar.from_json_schema({"type": "array", "items": {"enum": [1, 2, "three"]}}),
    cd.Grammar.from_json_schema({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["b"]},
                                property_order="any"),
    cd.Grammar.from_json_schema({"type": "string", "minLength": 3, "maxLength": 40}),
    cd.Grammar.from_json_schema({"type": "integer", "multipleOf": 7}),
    cd.Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": {"type": "boolean"}}),
    cd.Grammar.from_json_schema({f"k{i}": {} for i in range(3)} | {
        "type": "object", "properties": {f"key{i}": {"type": "null"} for i in range(200)},
        "additionalProperties": False}, property_order="any"),
]
if find_spec("lark") is not None:  # a guard
    GRAMMARS.append(cd.Grammar.from_lark('start: /(?!abc)[a-d]+/ "!"'))


def read(grammar: CompiledGrammar, rng: random.Random) -> list[Any]:
    """What a text of random tokens meets: masks, distances, numbers of positions; and the grammar's first states."""
    row = np.zeros((1, (INFO.vocab_size + 31) // 32), np.int32)
    matcher = cd.GrammarMatcher(grammar)
    found: list[Any] = [grammar.automaton.counts()[0], grammar.threads(grammar.start_state)]
    for _ in range(25):
        matcher.fill_next_token_bitmask(row)
        ids = matcher.allowed_token_ids()
        found.append((row.tobytes(), ids, matcher.is_completed(), matcher.distance_to_end()))
        if not matcher.accept_token(rng.choice(ids)) or matcher.is_terminated():
            break
    found.append(matcher.text_bytes())
    return found


def alone(grammar: cd.Grammar) -> CompiledGrammar:
    """Compiled with an automaton of its own."""
    waiting = trie_of(INFO).spares[:]
    trie_of(INFO).spares.clear()
    compiled = compile_rules(grammar.rules, INFO)
    trie_of(INFO).spares.extend(waiting)
    return compiled


@pytest.mark.parametrize("seed", range(8))
def test_what_came_before_cannot_be_told(seed: int) -> None:
    rng = random.Random(seed)
    tables = trie_of(INFO)  # held: it lives as long as one of its users
    tables.spares.clear()
    reused = 0
    for _ in range(40):
        which, seed = rng.randrange(len(GRAMMARS)), rng.randrange(5)
        reused += len(tables.spares) > 0
        found = read(compile_rules(GRAMMARS[which].rules, INFO), random.Random(seed))
        assert found == read(alone(GRAMMARS[which]), random.Random(seed)), which
    assert reused > 20


def test_an_automaton_that_somebody_holds_is_not_given_to_others() -> None:
    tables = trie_of(INFO)
    tables.spares.clear()
    compiled = compile_rules(GRAMMARS[0].rules, INFO)
    automaton = compiled.automaton
    assert isinstance(automaton, TokenAutomaton)
    start = automaton.start()
    del compiled
    assert tables.spares == []
    assert automaton.next(start, ord("a"))  # and it is as it was


def test_a_matcher_keeps_its_grammar() -> None:
    tables = trie_of(INFO)
    tables.spares.clear()
    matcher = cd.GrammarMatcher(compile_rules(GRAMMARS[0].rules, INFO))
    other = compile_rules(GRAMMARS[3].rules, INFO)
    assert matcher.allowed_token_ids() == [ord("a")]
    assert cd.GrammarMatcher(other).allowed_token_ids() != [ord("a")]


def test_few_wait_and_they_are_empty() -> None:
    tables = trie_of(INFO)
    tables.spares.clear()
    grammars = [compile_rules(GRAMMARS[2].rules, INFO) for _ in range(6)]
    programs = [one.program for one in grammars]
    grammars.clear()
    assert len(tables.spares) == 2
    for one in tables.spares:
        assert one.memory() < 1 << 20
        assert one.counts()[3] == 0  # no masks
    while programs:
        one = programs.pop()
        assert getrefcount(one) == 2  # ``one`` and the argument: no automaton has it


@pytest.mark.parametrize("grammar", [
    cd.Grammar.from_ebnf('root ::= <[65]> "a"'),
    cd.Grammar.from_json_schema({"type": "integer", "multipleOf": 1234567}),
])
def test_those_of_rare_programs_are_not_kept(grammar: cd.Grammar) -> None:
    tables = trie_of(INFO)
    tables.spares.clear()
    read(compile_rules(grammar.rules, INFO), random.Random(0))
    assert tables.spares == []


class Box:
    """Something to make a cycle with."""

    held: Any


@pytest.mark.skipif(not is_compiled(), reason="reference counting is that of the compiled kernels")
def test_the_cyclic_collector_empties_none_that_waits() -> None:
    rng = random.Random(5)
    expected: dict[int, list[Any]] = {}
    for i in range(300):
        which = rng.randrange(6)
        compiled = compile_rules(GRAMMARS[which].rules, INFO)
        found = read(compiled, random.Random(1))
        assert expected.setdefault(which, found) == found
        box = Box()
        box.held = [compiled, box, cd.GrammarMatcher(compiled), compiled.automaton if i % 3 else None]
        del box, compiled
        if i % 20 == 0:
            gc.collect()


def test_the_vocabulary_ends_with_its_last_user() -> None:
    info = TokenizerInfo.from_bytes([*(bytes([value]) for value in range(256)), b"abcd", b""],
                                    special_token_ids=[257], stop_token_ids=[257])
    tables = trie_of(info)
    known = weakref.ref(tables)
    compiled = compile_rules(GRAMMARS[0].rules, info)
    assert cd.GrammarMatcher(compiled).allowed_token_ids() == [ord("a")]
    del compiled
    assert len(tables.spares) == 1
    del tables
    assert known() is None


def test_a_grammar_of_a_cache_has_tables_of_its_own() -> None:
    tables = trie_of(INFO)
    tables.spares.clear()
    read(compile_rules(GRAMMARS[2].rules, INFO), random.Random(0))
    lasting = cd.GrammarCompiler(INFO).compile_regex("x0")
    if is_compiled():
        assert len(tables.spares) == 1
        passing = cd.GrammarCompiler(INFO, cache_limit_bytes=0).compile_regex("x0")
        assert tables.spares == []
        assert lasting.memory_size_bytes < passing.memory_size_bytes
    tables.spares.clear()
    alone = cd.GrammarCompiler(INFO, cache_limit_bytes=0).compile_regex("x0")
    assert lasting.memory_size_bytes == alone.memory_size_bytes
