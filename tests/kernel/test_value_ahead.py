"""What can follow where values must differ: the bytes, and zeros that only spell the same numbers again."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

import constrained as cd
from constrained.engine.distinct.automaton import DistinctAutomaton
from tests.engine.test_distinct import COMPILER, INFO, accepts

LONGEST = 9


def compiled(item: str, limit: int = 100_000) -> cd.CompiledGrammar:
    compiler = cd.GrammarCompiler(INFO, limits=cd.Limits(max_distinct_search=limit))
    return compiler.compile_grammar(f'root ::= Distinct("array")\narray ::= "[" item ("," item)* "]"\n{item}\n')


@pytest.mark.parametrize("item", [
    'item ::= "1." "0"{1,7}', 'item ::= "1." "0"{3,6}', 'item ::= "1." "0"* "5"', 'item ::= "1." ("0" | "00" | "0001")',
    'item ::= "1." "0"{1,3} ("e" [12])?', 'item ::= "1." "0" ("0" "e" [12])?', 'item ::= "1" ("." "0"{1,3})? ("e1")?',
    'item ::= "1" "0"{0,4} ("." "0"{0,2} "0")?', 'item ::= "0." "0"{1,4} | "2.0" "0"{2}', 'item ::= "-"? "0." "0"{1,3}',
    'item ::= "1." "0"+ | "2.0" "00"* "1"?', 'item ::= "1." tail\ntail ::= "0" tail | "0"',
    'item ::= "1." ("0" | "00" " ") | "2.00" | "2.0" "0"{3} "5"?',
])
def test_a_number_goes_on_while_a_new_value_can_come(item: str) -> None:
    """Against all texts of the items: seen are all sets of one and two values."""
    grammar = compiled(item)
    one = cd.GrammarCompiler(INFO).compile_grammar(item.replace("item ::=", "root ::=", 1))
    spellings: list[str] = []
    begun = [("", one.start_state)]
    while begun:
        text, state = begun.pop()
        if one.is_complete(state):
            spellings.append(text)
        if len(text) < LONGEST:
            begun += [(text + chr(i), one.next_state(state, i)) for i in one.allowed_ids(state) if i < 256]
    values = {text: Decimal(text.strip()) for text in spellings}
    first = {value: text for text, value in values.items()}
    for count in (1, 2):
        for seen in itertools.permutations(first, min(count, len(first))):
            start = grammar.advance(grammar.start_state, ("[" + "".join(first[value] + "," for value in seen)).encode())
            new = [text for text, value in values.items() if value not in seen]
            if not start:
                assert not new
                continue
            for prefix in {text[:k] for text in spellings for k in range(1, 6)}:
                lives = bool(grammar.advance(start, prefix.encode()))
                assert lives == any(text.startswith(prefix) for text in new), (seen, prefix)


def test_hundreds_of_zeros_are_not_searched() -> None:
    """A cap of 400 digits: of ``515.`` nothing but zeros is left, and each leads where the one before does."""
    for schema, text, dead in (({"type": "integer"}, "[515,515", True), ({"type": "integer"}, "[516,515", False),
                               ({"type": "integer"}, "[0,0", True), ({"type": "integer"}, "[0,-0", True)):
        compiler = cd.GrammarCompiler(INFO, limits=cd.Limits(max_distinct_search=20))
        grammar = compiler.compile_json_schema({"type": "array", "uniqueItems": True, "items": schema})
        state = grammar.advance(grammar.start_state, text.encode())
        assert (not state or b"."[0] not in grammar.allowed_ids(state)) is dead


def test_a_way_on_is_remembered_for_as_long_as_it_is_one() -> None:
    """All numbers of two digits in any order: a digit can begin one while one of its ten is left."""
    grammar = compiled('item ::= [1-9] [0-9] (".0")?')
    rng = random.Random(0)
    values = list(range(10, 100))
    rng.shuffle(values)
    state = grammar.advance(grammar.start_state, b"[")
    for count, value in enumerate(values):
        left = {number // 10 for number in values[count:]}
        assert [i - 48 for i in grammar.allowed_ids(state) if 48 <= i < 58] == sorted(left)
        inside = grammar.advance(state, b"%d" % (value // 10))
        ends = {number % 10 for number in values[count:] if number // 10 == value // 10}
        assert [i - 48 for i in grammar.allowed_ids(inside) if 48 <= i < 58] == sorted(ends)
        text = b"%d.0" % value if rng.randrange(2) else b"%d" % value
        state = grammar.advance(state, text + (b"," if count + 1 < len(values) else b"]"))
        assert state


def test_first_bytes_are_those_that_exact_reads() -> None:
    grammar = COMPILER.compile_json_schema({"type": "array", "uniqueItems": True, "items": {"type": "number"}})
    automaton = grammar.automaton
    assert isinstance(automaton, DistinctAutomaton)
    for text in (b"[", b"[1", b"[1.", b"[1.5", b"[-", b"[1e", b"[1,", b"[0"):
        state = automaton.exact.next(automaton.exact.start(), 256)
        state = automaton.exact.advance(state, text)
        bits = automaton.steps.first_bytes(state)
        assert [i for i in range(256) if bits >> i & 1] == [i for i in automaton.exact.allowed_ids(state) if i < 256]
    assert accepts(grammar, "[1,2]")
