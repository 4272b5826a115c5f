"""Plain schemas take a short way: the same language as the front end's, and nothing else is taken for plain."""

from __future__ import annotations

import random
from typing import Any

import pytest

import constrained as cd
from constrained.frontends.structural_tag.plain_schemas import members
from tests.toolcalls.worlds import vocabulary

INFO = vocabulary(())


def accepts(compiled: cd.CompiledGrammar, text: str) -> bool:
    state = compiled.advance(compiled.start_state, text.encode())
    return bool(state) and compiled.is_complete(state)


def plain(rng: random.Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"type": "string", "description": "d"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
        {"type": "null"}, {"type": "string", "enum": ["a", "b\"c", "\n"]},
        {"type": "array", "items": {"type": "boolean"}}]
    properties = {f"p{i}": rng.choice(kinds) for i in range(rng.randint(0, 4))}
    schema: dict[str, Any] = {"type": "object", "properties": properties,
                              "required": [name for name in properties if rng.random() < 0.5]}
    if rng.random() < 0.5:
        schema["additionalProperties"] = False
    return schema


@pytest.mark.parametrize("seed", range(12))
def test_the_same_masks(seed: int) -> None:
    rng = random.Random(seed)
    schema = plain(rng)
    assert members(schema, strict=True) is not None
    compiler = cd.GrammarCompiler(INFO)
    one = compiler.compile_structural_tag({"type": "json_schema", "json_schema": schema})
    two = compiler.compile_json_schema(schema, strict_mode=True)
    for _ in range(5):
        a, b = one.start_state, two.start_state
        for _ in range(60):
            ids = one.allowed_ids(a)
            assert ids == two.allowed_ids(b)
            likely = [i for i in ids if i not in INFO.stop_token_ids and INFO.token_bytes(i)[:1] in b'{}":,pabtfn[]1']
            if not likely:
                break
            token = rng.choice(likely)
            a, b = one.next_state(a, token), two.next_state(b, token)
            assert a and b


@pytest.mark.parametrize("schema", [
    True, {}, {"type": "object"}, {"type": ["object"]},
    {"type": "object", "properties": {"a": {"type": "strnig"}}},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
    {"type": "object", "properties": {"a": {"type": "string", "enum": []}}},
    {"type": "object", "properties": {"a": {"type": "string", "enum": ["a", 1]}}},
    {"type": "object", "properties": {"a": {"type": "array"}}},
    {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "null"}}}}},
    {"type": "object", "properties": {"a": True}}, {"type": "object", "properties": []},
    {"type": "object", "properties": {"é": {"type": "null"}}},
    {"type": "object", "properties": {}, "required": ["a"]}, {"type": "object", "properties": {}, "required": "a"},
    {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "a"]},
    {"type": "object", "properties": {}, "additionalProperties": {"type": "null"}},
    {"type": "object", "properties": {}, "minProperties": 1}, {"type": "object", "properties": {}, "$defs": {}},
])
def test_not_plain(schema: Any) -> None:
    found = members(schema, strict=False)
    assert found is None


@pytest.mark.parametrize("schema", [{"type": "object", "properties": {"a": {"type": "integer"}}},
                                    {"type": "object", "properties": {"a": {"minimum": 3, "type": "integer"}}}])
def test_each_schema_may_say_how_strict_it_is(schema: dict[str, Any]) -> None:
    def tag(**first: Any) -> dict[str, Any]:
        element = {"type": "json_schema", "json_schema": schema}
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": [
            {**element, **first}, {"type": "const_string", "value": "|"}, element]}}

    compiler = cd.GrammarCompiler(INFO)
    closed, opened = '{"a": 5}', '{"a": 5, "b": 1}'
    for given, strict, fits in ((tag(), True, (False, False)), (tag(strict_mode=False), True, (True, False)),
                                (tag(strict_mode=True), False, (False, True)), (tag(), False, (True, True))):
        compiled = compiler.compile_grammar(cd.Grammar.from_structural_tag(given, strict_mode=strict))
        assert accepts(compiled, f"{closed}|{closed}")
        assert (accepts(compiled, f"{opened}|{closed}"), accepts(compiled, f"{closed}|{opened}")) == fits
    with pytest.raises(cd.GrammarError, match="strict_mode"):
        cd.Grammar.from_structural_tag(tag(strict_mode="yes"))


def test_each_schema_has_its_own_whitespace() -> None:
    element = {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    for first, second in ((0, 1), (1, 0)):
        tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [
            {**element, "max_whitespace_cnt": first}, {**element, "max_whitespace_cnt": second}]}}
        compiled = cd.GrammarCompiler(INFO).compile_grammar(cd.Grammar.from_structural_tag(tag))
        assert accepts(compiled, '{"a":1}{"a":1}')
        assert accepts(compiled, '{"a": 1}{"a":1}') == (first == 1)
        assert accepts(compiled, '{"a":1}{"a": 1}') == (second == 1)
