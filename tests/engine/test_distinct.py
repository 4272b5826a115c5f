"""Arrays of different items against their definition: every text of small languages, and what JSON calls equal."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.seen_values import EMPTY, canonical_value, pursue, spells
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
from tests.engine.real_vocabularies import real_vocabulary

PIECES = [b'","', b'",', b'",1', b"[1", b"1]", b",1", b"true", b'"a"', b'"a","', b"1,1", b"[[1],[1", b"1.0", b"],[1]",
          b'"a":1', b'},{"', b"0,0", b'\\u0061"', b", ", b'["a","a"]', b"[1,1]", b"[1,10]", b"]]", b",true,", b'b",']
TOKENS = [bytes((b,)) for b in range(0x20, 0x7F)] + PIECES + [b"</s>"]
STOP = len(TOKENS) - 1
INFO = cd.TokenizerInfo.from_bytes(TOKENS, stop_token_ids=STOP)

SHORT = {b'"', b"a", b"b", b",", b"1", b"[", b"]", b"{", b":", b'",'}
ITEMS = ['""', '"a"', '"\\u0061"', '"ab"', "1", "1.0", "10", "0", "-0", "0e1", "0e12", "true", "null", "[1]", "[1.0]",
         "[1,10]", '{"a":1,"b":2}', '{"b":2,"a":1.0}', '{"a":1}']


def compiled(text: str) -> CompiledGrammar:
    return cd.GrammarCompiler(INFO).compile_grammar(Grammar.from_ebnf(text))


def spelled(items: list[str], name: str = "item") -> str:
    return f"{name} ::= " + " | ".join(json.dumps(item) for item in items) + "\n"


def different(values: Any) -> bool:
    found = [canonical_value(json.dumps(value).encode()) for value in values]
    return len({(type(one), one) for one in found}) == len(found)


def arrays(items: list[str], least: int, most: int) -> Iterator[str]:
    for count in range(least, most + 1):
        for chosen in itertools.product(items, repeat=count):
            if different(map(json.loads, chosen)):
                yield "[" + ",".join(chosen) + "]"


def check(grammar: CompiledGrammar, texts: list[str]) -> None:
    """At every state that tokens reach: the mask is that of the texts, whatever way leads there."""
    whole = {text.encode() for text in texts}
    begun = {text[:i] for text in whole for i in range(len(text) + 1)}
    waiting = [(b"", grammar.start_state)]
    met = {b""}
    while waiting:
        text, state = waiting.pop()
        wanted = [i for i, token in enumerate(TOKENS[:STOP]) if text + token in begun]
        if text in whole:
            wanted.append(STOP)
        assert grammar.allowed_ids(state) == wanted, text
        assert grammar.allowed_count(state) == len(wanted)
        row = np.zeros((1, (len(TOKENS) + 31) // 32), dtype=np.int32)
        assert grammar.fill(state, row, 0) == len(wanted)
        assert np.flatnonzero(np.unpackbits(row[0].view(np.uint8), bitorder="little")).tolist() == wanted
        assert text + grammar.shortest_completion(state) in whole
        assert text + grammar.forced_bytes(state) in begun
        for token in range(STOP):
            after = grammar.next_state(state, token)
            assert bool(after) == (token in wanted), (text, TOKENS[token])
            longer = text + TOKENS[token]
            if after and longer not in met:
                met.add(longer)
                waiting.append((longer, after))


@pytest.mark.parametrize("least", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_masks_are_those_of_the_texts_with_different_items(least: int, seed: int) -> None:
    items = random.Random(seed).sample(ITEMS, 7)
    # at most two items, so that all texts can be listed
    body = 'array ::= "[" (item ("," item)?)?' if least == 0 else 'array ::= "[" item "," item'
    check(compiled(f'root ::= Distinct("array")\n{body}\n{spelled(items)}'), list(arrays(items, least, 2)))


def test_a_third_item_needs_a_third_value() -> None:
    """Where few values are left, what cannot be finished is not begun."""
    items = ['"a"', '"ab"', "1", "1.0"]
    check(compiled(f'root ::= Distinct("array")\narray ::= "[" item "," item "," item\n{spelled(items)}'),
          list(arrays(items, 3, 3)))


def test_arrays_inside_arrays() -> None:
    inner = list(arrays(["1", "1.0", "10"], 0, 2))
    texts = list(arrays([*inner, "1"], 0, 2))
    check(compiled('root ::= Distinct("outer")\nouter ::= "[" (one ("," one)?)?\none ::= Distinct("inner") | "1"\n'
                   f'inner ::= "[" (item ("," item)?)?\n{spelled(["1", "1.0", "10"])}'), texts)


def test_each_array_of_a_text_has_its_own_items() -> None:
    texts = [f"{a}{b}" for a in arrays(["1", "0"], 0, 2) for b in arrays(["1", "0"], 0, 2)]
    check(compiled('root ::= Distinct("array") Distinct("array")\narray ::= "[" (item ("," item)?)?\n'
                   + spelled(["1", "0"])), texts)


def test_too_few_values_are_refused() -> None:
    with pytest.raises(UnsatisfiableGrammarError, match="too few different items"):
        compiled(f'root ::= Distinct("array")\narray ::= "[" item "," item "," item\n{spelled(["1", "1.0", "0"])}')


def test_the_search_ends_at_its_limit() -> None:
    text = 'root ::= Distinct("array")\narray ::= "[" item ("," item){60}\nitem ::= [0-9] | "1" [0-9]\n'
    with pytest.raises(GrammarLimitError, match="max_distinct_search"):
        cd.GrammarCompiler(INFO, limits=cd.Limits(max_distinct_search=5)).compile_grammar(Grammar.from_ebnf(text))


ENDLESS = r'''
root ::= "{\"a\":" Distinct("array", "]", endless=true) "}"
array ::= "[" ws (item ws ("," ws item ws)*)?
ws ::= " "{0,3}
item ::= string | number | "true" | "false" | "null" | object | Distinct("array", "]", endless=true)
object ::= "{" ws (member ("," ws member)*)? ws "}"
member ::= string ":" ws item
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
'''


@pytest.mark.parametrize("seen", [
    '"x", "foo bar", "foo", true, 12, 1.5', '{"a": 1, "b": [true, "é"]}, [1, 2], "é", 0, null', "",
])
def test_the_mask_of_a_real_vocabulary_is_what_its_tokens_do(seen: str) -> None:
    vocabulary = real_vocabulary("llama3_1")
    grammar = cd.GrammarCompiler(vocabulary).compile_grammar(Grammar.from_ebnf(ENDLESS))
    rng = random.Random(seen)
    state = grammar.automaton.advance(grammar.start_state, ('{"a":[' + (seen + ", " if seen else "")).encode())
    assert state
    goals = ['"foo", 7', '"foo ba', '"\\u00', '{"b": [true, "\\u00e9"], "a": 1', "1", "1.50", "[1, 2", "n", "0."]
    for goal in goals:
        here = state
        for i in range(len(goal) + 1):
            allowed = set(grammar.allowed_ids(here))
            tried = rng.sample(range(vocabulary.vocab_size), 300)
            tried += [t for t in allowed if vocabulary.token_bytes(t)[:1] == goal[i : i + 1].encode()][:100]
            for token in tried:
                if token not in vocabulary.stop_token_ids:
                    assert bool(grammar.next_state(here, token)) == (token in allowed), (goal[:i], token)
            here = grammar.automaton.advance(here, goal[i : i + 1].encode()) if i < len(goal) else 0
            if not here:
                break


def test_random_walks_write_arrays_with_different_items() -> None:
    vocabulary = real_vocabulary("llama3_1")
    compiler = cd.GrammarCompiler(vocabulary)
    grammar = compiler.compile_grammar(Grammar.from_ebnf(ENDLESS))
    rng = random.Random(5)
    for _ in range(4):
        matcher = cd.GrammarMatcher(grammar)
        assert matcher.accept_string('{"a":["a", 1, ["a"], {"a": "b"}')
        text = b'{"a":["a", 1, ["a"], {"a": "b"}'
        for _ in range(25):
            ids = matcher.allowed_token_ids()
            short = [i for i in ids if vocabulary.token_bytes(i) in SHORT]
            token = rng.choice(short or ids)
            assert matcher.accept_token(token)
            text += vocabulary.token_bytes(token)
            if matcher.is_terminated():
                break
        if not matcher.is_terminated():
            text += grammar.shortest_completion(matcher._state)
        for array in _arrays_in(json.loads(text)["a"]):
            assert different(array), text


def _arrays_in(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        if isinstance(inner, (list, dict)) and not isinstance(value, dict):
            yield from _arrays_in(inner)


def test_matchers_go_back_and_part() -> None:
    matcher = cd.GrammarMatcher(compiled(ENDLESS))
    assert matcher.accept_string('{"a":["x",')
    other = matcher.fork()
    assert matcher.accept_string('"y","z"')
    assert other.accept_string('"z"') and other.accept_string(',"y"') and not other.accept_string(',"z"')
    assert not matcher.accept_string(',"y"')
    matcher.rollback()
    assert matcher.accept_string('"z","y"]}') and matcher.is_completed()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | st.sampled_from([0.5, 1e30, -2.25e-7]) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3), max_leaves=6)


@given(st.lists(values, max_size=5), values, st.booleans(), st.sampled_from([None, 1]))
def test_a_pursuit_ends_in_a_value_exactly_if_it_is_a_seen_one(
    before: list[Any], value: Any, ascii_only: bool, indent: int | None,
) -> None:
    seen = EMPTY
    for one in before:
        data = json.dumps(one).encode()
        if canonical_value(data) not in seen:
            seen = seen.add(data)
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    at = None
    for byte in text:
        at = pursue(at, byte, seen)
        if at is None:
            break
    assert spells(at, seen) == (canonical_value(text) in seen)
