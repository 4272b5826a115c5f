"""Values are written when a text comes to them: every answer is that of the grammar written as a whole."""

from __future__ import annotations

import json
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

import constrained as cd
from constrained.engine.batch import BatchGrammarMatcher
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.grammar.ir import RuleSet
from constrained.kernel.linking import Unwritten
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import byte_vocabulary, sized

INFO = byte_vocabulary()
LONGER = TokenizerInfo.from_bytes(
    [*(bytes((b,)) for b in range(256)), b"<e>",
     b'{"', b'": ', b'":{"', b'":[', b'"}', b'name', b', "', b"]}", b"true"],
    stop_token_ids=[256], special_token_ids=[256])

ADDRESS = {"type": "object", "required": ["street"], "properties": {
    "street": {"type": "string", "pattern": "^[A-Z][a-z]+ [0-9]+$"},
    "kind": {"enum": ["home", "work", "other", "none"]},
    "lines": {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 70}, "maxItems": 3}}}
PERSON = {"type": "object", "required": ["name"], "additionalProperties": False, "properties": {
    "name": {"type": "string", "maxLength": 40}, "address": ADDRESS, "more": {"type": "array", "items": ADDRESS},
    "tags": {"type": "object", "additionalProperties": {"enum": ["one", "two", "three", "four", "five"]}}}}
TREE = {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {
    "left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}, "value": ADDRESS}}}}
WAITING = [PERSON, {"type": "object", "properties": {"home": ADDRESS, "work": PERSON}}, TREE,
           {"anyOf": [PERSON, {"type": "array", "items": PERSON}]},
           {"type": "object", "additionalProperties": PERSON},
           {"type": "object", "patternProperties": {"^x-": PERSON, "^[a-w]": ADDRESS}}]
TEXTS = [{"name": "x", "address": {"street": "Aa 1", "kind": "home"}, "more": [{"street": "Bb 2"}],
          "tags": {"a": "two"}},
         {"home": {"street": "Ring 12", "kind": "work", "lines": [1, -5]}},
         {"left": {"right": {}}, "value": {"street": "Az 5"}},
         [{"name": ""}], {"x-y": {"name": "n"}, "a": {"street": "Qq 9"}}]


def rules_of(schema: Any, order: str, as_text: bool = False) -> RuleSet:
    """Of a text the front end may know that each value has a text (``RuleSet.sure``): then values are not looked at."""
    return cd.Grammar.from_json_schema(json.dumps(schema) if as_text else schema, property_order=order).rules


def row_of(matcher: GrammarMatcher) -> bytes:
    row = np.zeros((1, (matcher.compiled.tokenizer_info.vocab_size + 31) // 32), np.int32)
    matcher.fill_next_token_bitmask(row)
    return row.tobytes()


def whole(rules: RuleSet, info: TokenizerInfo = INFO) -> CompiledGrammar:
    grammar = compile_rules(rules, info)
    grammar.write_whole()
    assert not grammar.program.waits
    return grammar


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("number", range(len(WAITING)))
@pytest.mark.parametrize("info", [INFO, LONGER], ids=["bytes", "longer"])
@pytest.mark.parametrize("as_text", [False, True])
def test_each_mask_is_that_of_the_whole_grammar(number: int, order: str, info: TokenizerInfo, as_text: bool) -> None:
    rules = rules_of(WAITING[number], order, as_text)
    rng = random.Random(number)
    other = whole(rules, info)
    waited = 0
    for _ in range(sized(12, 2)):
        grammar = compile_rules(rules, info)
        assert grammar.program.waits
        one, two = GrammarMatcher(grammar), GrammarMatcher(other)
        for _ in range(90):
            assert row_of(one) == row_of(two), one.text_bytes()
            assert one.is_completed() == two.is_completed()
            allowed = one.allowed_token_ids()
            token = rng.choice([i for i in allowed if i != 32] or allowed)
            assert one.accept_token(token) and two.accept_token(token)
            if one.is_terminated():
                break
            waited += grammar.program.waits
            refused = rng.randrange(info.vocab_size)
            assert one.validate_tokens([refused]) == two.validate_tokens([refused])
        assert one.text_bytes() + one.shortest_completion() == two.text_bytes() + two.shortest_completion()
    assert waited, "no text was ever before a value"


@pytest.mark.parametrize("schema", WAITING, ids=range(len(WAITING)))
def test_texts_are_judged_as_by_the_whole_grammar(schema: Any) -> None:
    rules = rules_of(schema, "any")
    other = whole(rules)
    for value in TEXTS:
        data = json.dumps(value).encode()
        grammar = compile_rules(rules, INFO)
        for cut in (len(data), 1, 7, len(data) // 2):
            one, two = GrammarMatcher(grammar), GrammarMatcher(other)
            for part in (data[:cut], data[cut:]):
                assert one.accept_string(part) == two.accept_string(part)
                assert one.is_completed() == two.is_completed()


def at_the_value() -> tuple[CompiledGrammar, GrammarMatcher]:
    grammar = compile_rules(rules_of(PERSON, "any"), INFO)
    matcher = GrammarMatcher(grammar)
    for byte in b'{"address":':
        assert matcher.accept_token(byte)
    assert grammar.program.waits
    return grammar, matcher


def test_texts_go_on_and_back_where_the_rest_is_written() -> None:
    grammar, matcher = at_the_value()
    fork = matcher.fork()
    before = row_of(GrammarMatcher(grammar))
    assert matcher.accept_token(ord("{")) and not grammar.program.waits
    assert matcher.num_steps == 12 and matcher.text_bytes() == b'{"address":{'
    matcher.rollback(3)
    assert matcher.text_bytes() == b'{"address' and matcher.accept_string('":{"street":"Aa 1"},"name":""}')
    assert matcher.is_completed()
    assert fork.accept_string('{"street":"Bb 2"},"name":"n"}') and fork.is_completed()
    matcher.reset()
    assert row_of(matcher) == before == row_of(GrammarMatcher(grammar))


def test_each_way_to_ask_writes_the_rest() -> None:
    asked = [lambda m: m.accept_token(ord("{")), lambda m: m.accept_string(b"{"), row_of, lambda m: m.state,
             lambda m: m.allowed_token_ids(), lambda m: m.allowed_token_count(), lambda m: m.compute_ff_tokens(),
             lambda m: m.find_jump_forward_string(), lambda m: m.shortest_completion(), lambda m: m.distance_to_end(),
             lambda m: m.validate_tokens([ord("{")]), lambda m: m.compiled.start_state,
             lambda m: m.fill_draft_tree_bitmask([123, 34], [-1, 0], np.zeros((3, 9), np.int32)),
             lambda m: BatchGrammarMatcher().batch_accept_token([m], [ord("{")]),
             lambda m: BatchGrammarMatcher().batch_fill_next_token_bitmask([m, m.fork()], np.zeros((2, 9), np.int32))]
    for question in asked:
        grammar, matcher = at_the_value()
        other = GrammarMatcher(whole(rules_of(PERSON, "any")))
        assert other.accept_string(b'{"address":')
        if question is not asked[3] and question is not asked[11]:  # handles are one grammar's
            assert question(matcher) == question(other)
        else:
            question(matcher)
        assert not grammar.program.waits
        assert matcher.text_bytes() in (b'{"address":', b'{"address":{')


def test_the_kernel_says_that_something_is_unwritten_and_stays_usable() -> None:
    grammar, matcher = at_the_value()
    automaton = grammar.automaton
    for question in (automaton.allowed_ids, automaton.allowed_count, automaton.distance):
        with pytest.raises(Unwritten):
            question(matcher._state)
    with pytest.raises(Unwritten):
        automaton.advance(matcher._state, b"{")
    assert grammar.program.waits and automaton.is_fresh(matcher._state)
    assert matcher.accept_string(b'{"street":"Aa 1"}')


def test_what_an_epoch_carried_over_is_of_its_program() -> None:
    grammar, matcher = at_the_value()
    other = GrammarMatcher(grammar)
    assert other.accept_string(b'{"na')
    other.put_down()  # as before a new epoch
    grammar.automaton.new_epoch()
    assert matcher.accept_string(b'{"street":"Aa 1"}') and not grammar.program.waits
    assert other._carried is not None
    expected = GrammarMatcher(whole(rules_of(PERSON, "any")))
    assert expected.accept_string(b'{"na')
    assert row_of(other) == row_of(expected)
    assert other.accept_string(b'me":"x"}') and other.is_completed()


def test_threads_find_the_whole_grammar() -> None:
    rules = rules_of(PERSON, "any")
    text = json.dumps(TEXTS[0]).encode()
    for _ in range(sized(20, 2)):
        grammar = compile_rules(rules, INFO)
        found: list[bool] = []

        def read(grammar: CompiledGrammar = grammar, found: list[bool] = found) -> None:
            matcher = GrammarMatcher(grammar)
            ok = all(row_of(matcher) and matcher.accept_token(byte) for byte in text)
            found.append(ok and matcher.is_completed())

        threads = [threading.Thread(target=read) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert found == [True] * 4 and not grammar.program.waits


def test_a_pickled_grammar_is_the_whole_one_again() -> None:
    grammar, _ = at_the_value()
    other = GrammarMatcher(pickle.loads(pickle.dumps(grammar)))
    assert other.accept_string(json.dumps(TEXTS[0]))


def nested(value: Any) -> Any:
    """A schema large enough, with ``value`` deep in it."""
    return {"type": "object", "properties": {"first": PERSON, "second": {
        "type": "object", "properties": {"third": value}, "additionalProperties": False}}}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("value", [
    {"$ref": "#/$defs/endless"},  # only of infinite texts
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": ["string", "integer"], "minLength": 3, "maxLength": 2, "minimum": 4, "maximum": 3},
    {"type": "string", "format": "ipv4", "maxLength": 3},
    {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6},
    {"type": "array", "items": {"type": "string", "minLength": 2, "maxLength": 1}, "minItems": 1},
    {"type": "object", "minProperties": 2, "additionalProperties": False, "properties": {"x": {"type": "null"}}},
    {"anyOf": [{"type": "string", "minLength": 2, "maxLength": 1}, {"type": "array", "minItems": 2, "maxItems": 1}]},
    {"type": "string", "pattern": "^(aaa)+$", "minLength": 4, "maxLength": 5},
    {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 2},
    {"type": "object", "required": ["x"], "properties": {"x": {"type": "string", "minLength": 2, "maxLength": 1}}},
    False,
])
def test_a_key_is_offered_only_if_its_value_can_be_written(value: Any, as_text: bool) -> None:
    schema = nested(value) | {"$defs": {"endless": {
        "type": "object", "required": ["on"], "properties": {"on": {"$ref": "#/$defs/endless"}}}}}
    matcher = GrammarMatcher(compile_rules(rules_of(schema, "any", as_text), INFO))
    assert matcher.accept_string('{"second":{')
    assert not matcher.fork().accept_string('"third"')
    assert matcher.accept_string("}}")
    required = schema["properties"]["second"] | {"required": ["third"]}
    with_first = {**schema, "properties": {**schema["properties"], "second": required}}
    matcher = GrammarMatcher(compile_rules(rules_of(with_first, "any", as_text), INFO))
    assert not matcher.fork().accept_string('{"second"')
    with pytest.raises(cd.ConstrainedError):
        compile_rules(rules_of({**with_first, "required": ["second"]}, "any", as_text), INFO)


@pytest.mark.parametrize(("value", "limits", "field"), [
    ({"type": "string", "maxLength": 50}, Limits(max_repeat=49), "max_repeat"),
    (PERSON, Limits(max_positions=200), "max_positions"),
    ({"type": "array", "items": ADDRESS, "maxItems": 50}, Limits(max_repeat=49), "max_repeat"),
])
def test_limits_are_met_by_compiling(value: Any, limits: Limits, field: str) -> None:
    with pytest.raises(cd.GrammarLimitError) as caught:
        compile_rules(rules_of(nested(value), "any"), INFO, limits)
    assert caught.value.limit == field


@pytest.mark.parametrize(("value", "sure"), [
    (PERSON["properties"]["tags"], True), ({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}, True),
    ({"type": "string", "minLength": 2, "maxLength": 9}, True), ({"type": "string", "pattern": "^a+$"}, True),
    ({"type": "integer", "minimum": 2, "maximum": 9}, True), ({"type": "array", "items": {}, "maxItems": 4}, True),
    ({"type": "string", "pattern": "^(aaa)+$", "minLength": 4, "maxLength": 5}, False), ({"$ref": "#"}, False),
    ({"type": "string", "minLength": 3, "maxLength": 2}, False), ({"type": "array", "maxItems": 2_000_000_000}, False),
    ({"type": "object", "minProperties": 2}, False), ({"not": {"type": "string"}}, False),
])
def test_what_the_front_end_is_sure_of(value: Any, sure: bool) -> None:
    assert (rules_of(nested(value), "any", True).sure > 0) == sure
    assert rules_of(nested(value), "any").sure == 0


def test_what_does_not_wait() -> None:
    small = {"type": "object", "properties": {"a": {"enum": [1, 2, 3, 4, 5]}, "b": {"type": "string"}}}
    whole(rules_of(small, "any"))  # what many grammars have is lowered once
    assert not compile_rules(rules_of(small, "any"), INFO).program.waits
    holes = TokenizerInfo.from_bytes([*(bytes((b,)) for b in range(256) if b != 34), b'{"', b'"a', b'":', b"<e>"],
                                     stop_token_ids=[258])
    assert not holes.closed
    assert not compile_rules(rules_of(PERSON, "any"), holes).program.waits
