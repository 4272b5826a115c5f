"""``Distinct``: nothing comes twice, by the definition; masks are what steps allow, and no state is a dead end."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import constrained as cd
from benchmarks.conformance import byte_compiler
from constrained.engine.distinct.automaton import DistinctAutomaton
from constrained.kernel.plain_numbers import number_key, plain_text
from tests.engine.real_vocabularies import real_vocabulary
from tests.engine.worlds import COMPILED

PIECES = """ab abc a" aab" aa "," 1,1 12 100 10 0.0 1.0 1e 1] 0061 61 \\u0061 \\u u0061" true rue al null e
[[ ]] [],[] [] {},{} {"a":1,"a":2
{"a": "b": {" "} "": "] true, ,true false,false "" "abc" abc" "abc", },\x20{""".split()
SPACED = [b", ", b'", "', b'": ', b"], [", b" [", b' "a"', b" ]", b"  ", b"\n", b'\n"', b'" ]', b'" ,', b'"a": 1']
INFO = cd.TokenizerInfo.from_bytes(
    [bytes([value]) for value in range(256)] + [b""] + [piece.encode() for piece in PIECES] + SPACED,
    special_token_ids=[256], stop_token_ids=[256])
COMPILER = cd.GrammarCompiler(INFO)
STOP = 256

VALUES = r'''root ::= Distinct("array")
array ::= "[" (value (", " value)*)? "]"
value ::= inner | object | text | number | "true" | "null"
inner ::= "[" (value (", " value)*)? "]"
object ::= "{" (text ": " value (", " text ": " value)*)? "}"
text ::= "\"" ([a-z] | "\\u00" [0-9a-f] [0-9a-f])* "\""
number ::= "-"? [0-9]+ ("." [0-9]+)? ("e" "-"? [0-9]+)?
'''
NAMES = r'''root ::= Distinct("object")
object ::= "{" (member (", " member)*)? "}"
member ::= "\"" [a-z]* "\": " ("1" | "[" "1"* "]")
'''


def accepts(grammar: cd.CompiledGrammar, text: str) -> bool:
    state = grammar.advance(grammar.start_state, text.encode())
    return bool(state) and grammar.is_complete(state)


@pytest.mark.parametrize(("text", "valid"), [
    ("[]", True), ("[1]", True), ("[1, 2]", True), ("[1, 1]", False), ("[1, 1.0]", False), ("[100, 1e2]", False),
    ("[0, -0]", False), ("[0.5, 5e-1]", False), ("[1, 11]", True), ('["a", "a"]', False), ('["a", "ab"]', True),
    (r'["a", "\u0061"]', False), ("[true, true]", False), ("[true, null]", True), ("[[], []]", False),
    ("[[1, 2], [1, 2.0]]", False), ("[[1, 2], [2, 1]]", True), ("[[1], [[1]], 1]", True), ("[[1, 1]]", True),
    ('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', False), ('[{"a": 1}, {"a": 2}]', True), ("[{}, {}]", False),
    ('[{"a": 1, "a": 2}, {"a": 2}]', False), ('[{"a": 1, "a": 2}, {"a": 1}]', True), ('[1, true, "one"]', True),
    ('[{"a": [1]}, {"a": [1.0]}]', False), ('["", []]', True), ("[1e500, 2e500]", True), ("[1e500, 10e499]", False),
])
def test_items_are_compared_by_value(text: str, valid: bool) -> None:
    assert accepts(COMPILER.compile_grammar(VALUES), text) is valid


@pytest.mark.parametrize(("text", "valid"), [
    ("{}", True), ('{"a": 1}', True), ('{"a": 1, "b": 1}', True), ('{"a": 1, "a": 1}', False),
    ('{"a": [11], "b": [11]}', True), ('{"b": 1, "a": 1, "b": []}', False),
])
def test_names_are_compared(text: str, valid: bool) -> None:
    assert accepts(COMPILER.compile_grammar(NAMES), text) is valid


SCHEMAS: list[dict[str, Any]] = [
    {"type": "array", "uniqueItems": True},
    {"type": "array", "items": {"type": "string", "pattern": "^a*b?$"}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 1},
    {"type": "array", "items": {"type": "number"}, "uniqueItems": True, "maxItems": 5},
    {"type": "array", "uniqueItems": True, "items": {
        "type": "object", "properties": {"a": {"enum": [1, 2]}, "b": {"type": "string", "maxLength": 3}},
        "required": ["a"], "additionalProperties": False}},
    {"type": "array", "items": {"type": "object"}, "uniqueItems": True},
    {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
     "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "string"}, {"enum": ["a", "b"]}, {"enum": ["b", 1]}],
     "uniqueItems": True, "minItems": 3},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "contains": {"const": "abc"}},
    {"anyOf": [{"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
               {"type": "array", "items": {"type": "integer"}, "maxItems": 2}]},
    {"type": "object", "minProperties": 3},
    {"type": "array", "uniqueItems": True, "minItems": 3, "items": {
        "type": "object", "propertyNames": {"pattern": "^a"}, "maxProperties": 2}},
    {"type": "object", "minProperties": 2, "properties": {"a": {"type": "integer"}},
     "additionalProperties": {"type": "boolean"}},
    {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True, "items": {
        "type": ["string", "null", "boolean"]}}, "y": {"type": "string"}}},
]


def judged(schema: dict[str, Any], value: Any) -> bool:
    """What ``jsonschema`` says."""
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    return bool(validator(schema).is_valid(value))


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_steps_allow_and_nothing_ends_dead(number: int) -> None:
    schema = SCHEMAS[number]
    grammar = COMPILER.compile_json_schema(schema, property_order=("any", "schema")[number % 2], max_number_digits=6,
                                           max_whitespace_cnt=3)
    assert isinstance(grammar.automaton, DistinctAutomaton)
    rng = random.Random(number)
    for _ in range(2 if COMPILED else 1):
        state, text = grammar.start_state, b""
        for _ in range(16 if COMPILED else 6):
            allowed = grammar.allowed_ids(state)
            steps = [i for i in range(INFO.vocab_size) if i != STOP and grammar.next_state(state, i)]
            assert allowed == sorted(steps + [STOP] * grammar.is_complete(state)), text
            assert grammar.allowed_count(state) == len(allowed)
            end = grammar.shortest_completion(state)
            assert judged(schema, json.loads(text + end)), (text, end)
            forced = grammar.forced_bytes(state, 8)
            assert not forced or end.startswith(forced) or grammar.advance(state, forced)
            likely = [i for i in steps if set(INFO.token_bytes(i)) <= set(b'ab1c"[]{},:0 truefalsn.')]
            longer = [i for i in likely if i > STOP]
            choices = longer if longer and rng.random() < 0.6 else likely or steps
            if not choices:
                break
            token = rng.choice(choices)
            text += INFO.token_bytes(token)
            state = grammar.next_state(state, token)


@pytest.mark.parametrize(("schema", "begun", "shortest"), [
    ({"contains": {"type": "object", "minProperties": 3}, "minContains": 2}, "[false,tru",
     'e,{"":0,"a":0,"b":0},{"":0,"a":0,"b":0}]'),
    ({"type": "array", "contains": {"type": "object", "minProperties": 3}, "minContains": 3}, '[0.9,true,"K',
     '",{"":0,"a":0,"b":0},{"":0,"a":0,"b":0},{"":0,"a":0,"b":0}]'),
    ({"type": "array", "items": {"type": "object", "minProperties": 4}, "minItems": 3}, "[",
     ",".join(['{"":0,"a":0,"b":0,"c":0}'] * 3) + "]"),
])
def test_an_end_with_many_new_names_is_found(schema: dict[str, Any], begun: str, shortest: str) -> None:
    """Where an object's names come again, the ways without the condition are shorter than any way to an end."""
    grammar = COMPILER.compile_json_schema(schema)
    state = grammar.advance(grammar.start_state, begun.encode())
    assert judged(schema, json.loads(begun + shortest))
    end = grammar.shortest_completion(state)
    assert judged(schema, json.loads(begun.encode() + end))
    assert accepts(grammar, begun + end.decode())
    assert len(end) == len(shortest)


def test_matchers_batches_and_epochs() -> None:
    grammar = cd.GrammarCompiler(INFO).compile_json_schema(SCHEMAS[2])
    matcher = cd.GrammarMatcher(grammar)
    assert matcher.accept_string("[12, 1")
    fork = matcher.fork()
    grammar.automaton.new_epoch()
    row = np.zeros((2, (INFO.vocab_size + 31) // 32), dtype=np.int32)
    cd.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher, fork], row)
    assert (row[0] == row[1]).all()
    ids = matcher.allowed_token_ids()
    assert [i for i in range(INFO.vocab_size) if int(row[0, i >> 5]) >> (i & 31) & 1] == ids
    assert ord("]") in ids and ord("2") in ids  # 1 is new, and 12 can still become 120
    assert matcher.accept_string("2")
    assert ord("]") not in matcher.allowed_token_ids()
    assert fork.accept_string("]")
    matcher.rollback()
    assert ord("]") in matcher.allowed_token_ids()


def test_beside_named_tokens() -> None:
    grammar = COMPILER.compile_grammar('root ::= <[256]> Distinct("array") <[256]>\narray ::= "[" ("a" | "b")* "]"\n'
                                       .replace('("a" | "b")*', '(v ("," v)*)?') + 'v ::= "1" | "12"\n')
    state = grammar.next_state(grammar.start_state, 256)
    assert state
    assert not grammar.advance(state, b"[1,1]")
    after = grammar.advance(state, b"[12,1]")
    assert grammar.allowed_ids(after) == [256]
    assert grammar.is_complete(grammar.next_state(after, 256))


def test_guards_beside_it_are_refused_and_what_cannot_be_is_unsatisfiable() -> None:
    with pytest.raises(cd.GrammarError, match="NotFollowedBy"):
        COMPILER.compile_grammar('root ::= Distinct("a") NotFollowedBy(states=2, accepting=(1), (0, 97, 97, 1))\n'
                                 'a ::= "[" [0-9] "]"\n')
    with pytest.raises(cd.UnsatisfiableSchemaError):
        COMPILER.compile_json_schema({"type": "array", "minItems": 3, "uniqueItems": True, "prefixItems": [
            {"type": "boolean"}, {"type": "boolean"}, {"type": "boolean"}]})




@pytest.mark.parametrize("text", [b"1", b"-12.50", b"0.001", b"1e3", b"123e-2", b"100"])
def test_numbers_are_one_by_value(text: bytes) -> None:
    plain = plain_text(number_key(text))
    assert plain is not None and Decimal(plain.decode()) == Decimal(text.decode())
    assert number_key(plain) == number_key(text)


# ---- all texts of small languages ----------------------------------------------------------------------

TOKENS = [bytes((b,)) for b in range(0x20, 0x7F)] + [
    b'","', b'",', b'",1', b"[1", b"1]", b",1", b"true", b'"a"', b'"a","', b"1,1", b"[[1],[1", b"1.0", b"],[1]",
    b'"a":1', b'},{"', b"0,0", b'\\u0061"', b", ", b'["a","a"]', b"[1,1]", b"[1,10]", b"]]", b",true,", b'b",', b"</s>"]
SMALL = cd.TokenizerInfo.from_bytes(TOKENS, stop_token_ids=len(TOKENS) - 1)
ITEMS = ['""', '"a"', '"\\u0061"', '"ab"', "1", "1.0", "10", "0", "-0", "0e1", "0e12", "true", "null", "[1]", "[1.0]",
         "[1,10]", '{"a":1,"b":2}', '{"b":2,"a":1.0}', '{"a":1}']


def compiled(text: str) -> cd.CompiledGrammar:
    return cd.GrammarCompiler(SMALL).compile_grammar(text)


def spelled(items: list[str], name: str = "item") -> str:
    return f"{name} ::= " + " | ".join(json.dumps(item) for item in items) + "\n"


def plainly(value: Any) -> Any:
    """A value that Python compares as JSON Schema does."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, list):
        return [plainly(item) for item in value]
    return {key: plainly(item) for key, item in value.items()} if isinstance(value, dict) else value


def arrays(items: list[str], most: int) -> Iterator[str]:
    for count in range(most + 1):
        for chosen in itertools.product(items, repeat=count):
            values = [plainly(json.loads(one, parse_float=Decimal)) for one in chosen]
            if all(a != b for a, b in itertools.combinations(values, 2)):
                yield "[" + ",".join(chosen) + "]"


def check(grammar: cd.CompiledGrammar, texts: list[str]) -> None:
    """At every state that tokens reach: the mask is that of the texts, whatever way leads there."""
    whole = {text.encode() for text in texts}
    begun = {text[:i] for text in whole for i in range(len(text) + 1)}
    waiting = [(b"", grammar.start_state)]
    met = {b""}
    stop = len(TOKENS) - 1
    while waiting:
        text, state = waiting.pop()
        wanted = [i for i, token in enumerate(TOKENS[:stop]) if text + token in begun] + [stop] * (text in whole)
        assert grammar.allowed_ids(state) == wanted, text
        assert grammar.allowed_count(state) == len(wanted)
        row = np.zeros((1, (len(TOKENS) + 31) // 32), dtype=np.int32)
        assert grammar.fill(state, row, 0) == len(wanted)
        assert np.flatnonzero(np.unpackbits(row[0].view(np.uint8), bitorder="little")).tolist() == wanted
        assert text + grammar.shortest_completion(state) in whole
        assert text + grammar.forced_bytes(state) in begun
        for token in range(stop):
            after = grammar.next_state(state, token)
            assert bool(after) == (token in wanted), (text, TOKENS[token])
            longer = text + TOKENS[token]
            if after and longer not in met:
                met.add(longer)
                waiting.append((longer, after))


@pytest.mark.parametrize("seed", range(4))
def test_masks_are_those_of_the_texts_with_different_items(seed: int) -> None:
    items = random.Random(seed).sample(ITEMS, 7)
    body = 'array ::= "[" (item ("," item)?)? "]"'  # at most two items, so that all texts can be listed
    check(compiled(f'root ::= Distinct("array")\n{body}\n{spelled(items)}'), list(arrays(items, 2)))


def test_arrays_inside_arrays() -> None:
    inner = list(arrays(["1", "1.0", "10"], 2))
    check(compiled('root ::= Distinct("outer")\nouter ::= "[" (one ("," one)?)? "]"\none ::= Distinct("inner") | "1"\n'
                   f'inner ::= "[" (item ("," item)?)? "]"\n{spelled(["1", "1.0", "10"])}'),
          list(arrays([*inner, "1"], 2)))


def test_each_array_of_a_text_has_its_own_items() -> None:
    texts = [f"{a}{b}" for a in arrays(["1", "0"], 2) for b in arrays(["1", "0"], 2)]
    check(compiled('root ::= Distinct("array") Distinct("array")\narray ::= "[" (item ("," item)?)? "]"\n'
                   + spelled(["1", "0"])), texts)


def test_where_few_values_are_left_what_cannot_be_ended_is_not_begun() -> None:
    items = ['"a"', '"ab"', "1", "1.0"]
    texts = [text for text in arrays(items, 3) if text.count(",") == 2]
    check(compiled(f'root ::= Distinct("array")\narray ::= "[" item "," item "," item "]"\n{spelled(items)}'), texts)


def test_the_search_ends_at_its_limit() -> None:
    text = r'''root ::= Distinct("array")
array ::= "[\"aaaa\"," item "]"
item ::= "\"" ("a" | "\\u0061"){4} "\""
'''
    begun = b'["aaaa","a'
    grammar = cd.GrammarCompiler(SMALL, limits=cd.Limits(max_distinct_search=5)).compile_grammar(text)
    with pytest.raises(cd.GrammarLimitError, match="max_distinct_search = 5"):
        grammar.advance(grammar.start_state, begun)
    grammar = compiled(text)
    assert not grammar.advance(grammar.start_state, begun)


ENDLESS = r'''
root ::= "{\"a\":" Distinct("array") "}"
array ::= "[" ws (item ws ("," ws item ws)*)? "]"
ws ::= " "{0,3}
item ::= string | number | "true" | "false" | "null" | object | Distinct("array")
object ::= "{" ws (member ("," ws member)*)? ws "}"
member ::= string ":" ws item
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
'''


@pytest.mark.parametrize("seen", ['"x", "foo bar", "foo", true, 12, 1.5',
                                  '{"a": 1, "b": [true, "é"]}, [1, 2], "é", 0, null'])
def test_the_mask_of_a_real_vocabulary_is_what_its_tokens_do(seen: str) -> None:
    vocabulary = real_vocabulary("llama3_1")
    grammar = cd.GrammarCompiler(vocabulary).compile_grammar(ENDLESS)
    rng = random.Random(seen)
    state = grammar.advance(grammar.start_state, f'{{"a":[{seen}, '.encode())
    assert state
    for goal in ['"foo", 7', '{"b": [true, "\\u00e9"], "a": 1', "1.5", "0e"]:
        for i in range(len(goal) + 1):
            here = grammar.advance(state, goal[:i].encode())
            if not here:
                break
            allowed = set(grammar.allowed_ids(here))
            tried = rng.sample(range(vocabulary.vocab_size), 50)
            tried += [t for t in allowed if vocabulary.token_bytes(t)[:1] == goal[i : i + 1].encode()][:40]
            for token in tried:
                if token not in vocabulary.stop_token_ids:
                    assert bool(grammar.next_state(here, token)) == (token in allowed), (goal[:i], token)


def objects(members: list[str], most: int) -> Iterator[str]:
    for count in range(most + 1):
        for chosen in itertools.product(members, repeat=count):
            yield "{" + ",".join(chosen) + "}"


@pytest.mark.parametrize("members", [
    ['"a":1', '"a":10', '"a":2'],  # of a name that is written again the last value counts
    ['"a":1', '"b":10', '"\\u0061":1.0'],
    ['"a":[1]', '"a":[1,10]', '"b":"a"'],
    ['"a":{"b":1}', '"a":{}', '"a":"b"'],
])
def test_objects_whose_names_come_again(members: list[str]) -> None:
    rules = (f'root ::= Distinct("array")\narray ::= "[" (object ("," object)?)? "]"\n'
             f'object ::= "{{" (member ("," member)?)? "}}"\n{spelled(members, "member")}')
    check(compiled(rules), list(arrays(list(objects(members, 2)), 2)))


@pytest.mark.parametrize("items", [
    ["1.2", "12e-1", "5"], ["120", "12e1", "12e0"], ["0.0", "0e1", "-0e2", "1e0"], ["-1", "-1.0", "-10e-1", "-0"],
    ["1", "1.00", "1.001", "100e-2"], ["1e5000", "10e4999", "1e4999"], ["-0", "-0.0", "-0.5", "0"],
])
def test_numbers_in_all_spellings(items: list[str]) -> None:
    check(compiled(f'root ::= Distinct("array")\narray ::= "[" (item ("," item)?)? "]"\n{spelled(items)}'),
          list(arrays(items, 2)))


@pytest.mark.parametrize("items", [
    ['"\\u0061"', '"a"', '"\\u0062"', '"\\n"', '"\\u000a"', '"\\u000A"'],
    ['"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"', '"\\ud83d\\ude01"', '"\\ud83da"'],
    ['"\\""', '"\\u0022"', '"\\\\"', '"\\u005c"', '"\\/"', '"/"'],
    ['"\\u00e9"', '"\\u00E9"', '"\\u0439"', '"e"'],
    ['["\\u0061"]', '["a",1]', '[["a"]]', '{"a":"a"}', '{"\\u0061":"\\u0061"}'],
])
def test_strings_in_all_spellings(items: list[str]) -> None:
    check(compiled(f'root ::= Distinct("array")\narray ::= "[" (item ("," item)?)? "]"\n{spelled(items)}'),
          list(arrays(items, 2)))


def test_names_and_items_at_once() -> None:
    inner = [text for text in objects(['"a":1', '"b":[1]', '"b":[1,2]'], 2)
             if len(json.loads(text)) == text.count('":')]
    rules = ('root ::= Distinct("outer")\nouter ::= "[" (one ("," one)?)? "]"\none ::= Distinct("object")\n'
             'object ::= "{" (member ("," member)?)? "}"\n')
    check(compiled(rules + spelled(['"a":1', '"b":[1]', '"b":[1,2]'], "member")), list(arrays(inner, 2)))


def test_ways_of_reading_that_came_to_grief_allow_nothing() -> None:
    """The first way would go on with more items, the second ends; after an item twice only the second is left."""
    items = ["1", "1.0", '"a"', "[1]"]
    pairs = [f"[ {a} , {b} ]" for a in items for b in items]
    three = [f"[ {a} , {b} , {c} ]" for a, b, c in itertools.permutations(items, 3) if not {a, b, c} >= {"1", "1.0"}]
    check(compiled('root ::= Distinct("array") | "[ " item " , " item " ]"\n'
                   f'array ::= "[ " item " , " item " , " item " ]"\n{spelled(items)}'), pairs + three)
    grammar = compiled('root ::= Distinct("array") | "[ " item " , " item " ]"\n'
                       f'array ::= "[ " item (" , " item)* " ]"\n{spelled(items)}')
    for a, b in itertools.product(items, repeat=2):
        state = grammar.advance(grammar.start_state, f"[ {a} , {b} ".encode())
        same = plainly(json.loads(a)) == plainly(json.loads(b))
        assert [TOKENS[i] for i in grammar.allowed_ids(state)] == [b"]"] if same else [b",", b"]", b", "]


@pytest.mark.parametrize("number", [1, 4, 7])
def test_masks_and_refused_steps_leave_nothing_behind(number: int) -> None:
    """What is searched for a mask would otherwise pile up with every mask."""
    grammar = COMPILER.compile_json_schema(SCHEMAS[number])
    automaton = grammar.automaton
    assert isinstance(automaton, DistinctAutomaton)
    rng = random.Random(number)
    state = grammar.start_state
    for _ in range(15):
        before = automaton.reader.mark()
        allowed = [i for i in grammar.allowed_ids(state) if i != STOP]
        grammar.shortest_completion(state)
        grammar.forced_bytes(state)
        for token in rng.sample(range(INFO.vocab_size), 20):
            if token not in allowed:
                assert not grammar.next_state(state, token)
        assert automaton.reader.mark() == before
        if not allowed:
            break
        state = grammar.next_state(state, rng.choice(allowed))


def test_an_end_far_from_all_that_is_near_is_found() -> None:
    """Each new item is long, and the short ones have many spellings: the search does not try them all."""
    value = {"c": [[], -1, ["127.0.0.1"]], "z": -1}
    schema = {"type": "array", "uniqueItems": True, "minItems": 3, "items": {
        "type": "array", "uniqueItems": True, "minItems": 3, "items": {
            "type": "object", "additionalProperties": {"const": value}}}}
    grammar = COMPILER.compile_json_schema(schema, limits=cd.Limits(max_distinct_search=5000))
    for begun in ("[", '[[{},{"a":{"c":[[],-', '[[{},{"a":{"c":[[],-1.0,["127.0.0.1"]],"z":-1}},{"df'):
        state = grammar.advance(grammar.start_state, begun.encode())
        end = grammar.shortest_completion(state)
        assert grammar.is_complete(grammar.advance(state, end))
        assert judged(schema, json.loads(begun.encode() + end))


def test_strings_of_a_long_list() -> None:
    """A list too long for values one by one is a group, and all of it can be written."""
    rng = random.Random(3)
    words = sorted({"".join(rng.choices("ab\u00e9\"1", k=rng.randint(1, 6))) for _ in range(3000)})
    assert len(words) > 1000
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": words}, "minItems": 2}
    grammar = COMPILER.compile_json_schema(schema)
    assert not isinstance(grammar.automaton, DistinctAutomaton)
    for _ in range(200):
        value = rng.choices(words, k=rng.choice([0, 1, 2, 3, 60]))
        if rng.random() < 0.2:
            value.append(rng.choice(["aab1b1b", "c"]))
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
        assert accepts(grammar, text) is (judged(schema, value)), text
    rng.shuffle(words)
    state = grammar.advance(grammar.start_state, json.dumps(words).encode()[:-1])
    assert [chr(i) for i in grammar.allowed_ids(state) if i < 256] == ["\t", "\n", "\r", " ", "]"]


@pytest.mark.parametrize("text", ['[{"a":4},{"a":4', '[{},{"a":4},{"a":76.0},{"a"\n: 4', "[[[4]],[[4"])
def test_blanks_behind_a_number_that_nothing_can_change(text: str) -> None:
    """They end it, and what is left is an item seen before: in vocabularies of single bytes, too."""
    member = {"a": {"type": "number"}}
    schema = {"type": "array", "uniqueItems": True, "items": {"anyOf": [
        {"type": "object", "properties": member, "additionalProperties": False},
        {"type": "array", "items": {"type": "array", "items": member["a"], "maxItems": 1}, "maxItems": 1}]}}
    grammar = byte_compiler().compile_json_schema(schema)
    state = grammar.advance(grammar.start_state, text.encode())
    allowed = grammar.allowed_ids(state)
    assert b" "[0] not in allowed and b"5"[0] in allowed
    assert allowed == [byte for byte in range(256) if grammar.advance(state, bytes([byte]))]
