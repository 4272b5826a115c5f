"""Patterns beside lengths, as products over characters: the same strings, whatever the automaton looks like."""

from __future__ import annotations

import itertools
import json
import random

import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler, walk
from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.counted_patterns import character_rules, counted_graph
from constrained.frontends.json_schema.strings import pattern_language
from constrained.grammar.ir import Graph, Literal, RuleSet, Sequence
from constrained.limits import Limits

LIMITS = Limits()
PATTERNS = [r"^[ab]*$", r"a.*b", r"^(a|é)+(b|\n)*$", r"^(?:\S+\s+){0,3}\S+$", r"^a{1,3}[^a]{0,9}$", r"^\S*:\S*:\S*$",
            r"^a*$|^[é\\]*b$", r"[^\n]{2}$", r"^(?!ab)[ab\"]*$"]
LENGTHS = [(0, 0), (0, 3), (2, 4), (5, 5), (0, None), (1, None), (4, None)]
TEXTS = ["".join(chars) for n in range(6) for chars in itertools.product('ab: é\n"\\', repeat=n)]


def strings(graph: Graph) -> cd.CompiledGrammar:
    body = Sequence((Literal(b'"'), graph, Literal(b'"')))
    return byte_compiler().compile_grammar(cd.Grammar(RuleSet({"root": body, **character_rules(body)}, "root")))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("escapes", ["canonical", "any"])
def test_the_strings_of_both(pattern: str, escapes: str) -> None:
    language = pattern_language(pattern)
    for minimum, maximum in LENGTHS:
        graph = counted_graph(language.dfa(LIMITS), minimum, maximum, escapes, LIMITS)
        rng = random.Random(f"{pattern} {minimum}")
        texts = rng.sample(TEXTS, 150)
        wanted = [language.accepts(text, LIMITS) and minimum <= len(text) and (maximum is None or len(text) <= maximum)
                  for text in texts]
        if graph is None:
            assert not any(wanted)
            continue
        grammar = strings(graph)
        for text, valid in zip(texts, wanted, strict=True):
            for ascii_only in (False, True):
                assert accepts(grammar, json.dumps(text, ensure_ascii=ascii_only)) == valid, (text, minimum, maximum)
        for _ in range(5):
            text = json.loads(walk(grammar, rng))
            assert language.accepts(text, LIMITS) and minimum <= len(text)
            assert maximum is None or len(text) <= maximum


def test_what_a_pattern_counts_is_merged_with_the_length() -> None:
    dfa = pattern_language(r"^x[a-z]*/[a-z]{1,300}$").dfa(LIMITS)
    graph = counted_graph(dfa, 0, 400, "canonical", LIMITS)
    assert graph is not None
    assert len(graph.edges) < 1_100 < len(dfa.rows) * 400


def test_too_large_is_said_at_once() -> None:
    dfa = pattern_language(r"^[a-z]*:[a-z]*$").dfa(LIMITS)
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        counted_graph(dfa, 0, 1 << 30, "canonical", LIMITS)


@pytest.mark.parametrize(("pattern", "most", "valid", "wrong"), [
    (r"^(?:\S+\s+){0,49}\S+$", 500, ["a b c", "é " * 49 + "x"], ["a ", "a " * 50 + "b", "a" * 501]),
    ("^arn:aws:iam::[0-9]{0,63}:role/[A-Za-z0-9:_/+=,@.-]{0,1024}$", 1024, ["arn:aws:iam::12:role/x"],
     ["arn:aws:iam::12:role/ ", "arn:aws:iam::12:role/" + "x" * 1004]),
])
def test_schemas(pattern: str, most: int, valid: list[str], wrong: list[str]) -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": pattern, "maxLength": most}}
    grammar = byte_compiler().compile_json_schema(json.dumps(schema))
    assert accepts(grammar, json.dumps(valid, ensure_ascii=False))
    for text in wrong:
        assert not accepts(grammar, json.dumps([text]))


def test_keys() -> None:
    schema = {"type": "object", "propertyNames": {"pattern": r"^(?:\S+\s+){0,49}\S+$", "maxLength": 500}}
    grammar = byte_compiler().compile_json_schema(json.dumps(schema))
    assert accepts(grammar, '{"a b": 1, "é c": 2}')
    assert not accepts(grammar, '{"a ": 1}')
