"""A schema's text is read as ``json`` reads it, or left to it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.conformance import maskbench_schemas
from constrained.frontends.json_schema.direct_text import read_text
from tests.shared_data import require_shared

DECODE = json.JSONDecoder(parse_float=Decimal).decode


NOTES = ("description", "title", "default", "$comment")
BY_NAME = ("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas",
           "dependentRequired")


def without_notes(value: Any, under: str = "", depth: int = 1) -> Any:
    """The value without the texts that are read over."""
    if isinstance(value, list):
        return [without_notes(item, "", depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: item if key in ("enum", "const") else without_notes(item, key, depth + 1)
            for key, item in value.items()
            if key not in NOTES or not isinstance(item, str) or under in BY_NAME or depth >= 64}


def check(text: str) -> bool:
    """Whether the text was read; then the value, the types and the order in it are those of ``json``, but for notes."""
    read = read_text(text)
    if read is None:
        return False
    assert repr(read[0]) == repr(without_notes(DECODE(text))), text
    return True


@pytest.mark.parametrize("text", [
    "1", "-0", "0", "123456789012345678", "-123456789012345678", "1.5", "-0.0", "0.10", "1E5", "1e-7", "2.50e+10",
    '"a"', '""', '"\\u00e9"', '"\u00e9\\n\U0001f600"', '"\\ud83d\\ude00\\ud800"', '"\\"\\\\"', '"\x7f"', "true",
    "false", "null", "[]", "{}", "[ ]", "{ }", " [1 ,\t2\r\n] ", '{"a":1,"b":2,"a":3}', '{"a":[{"b":[]},{}],"c":{}}',
    '{"type":{"type":"type"}}', '{"\\u0074ype":"string"}', '{"unevaluatedProperties":{"$dynamicAnchor":"x"}}',
    "[[[[[[{}]]]]]]", '[true,false,null,"null",-1.5]', '{"" : ""}',
])
def test_what_is_read(text: str) -> None:
    assert check(text)
    assert check(f'{{"type":{text},"x":[{text}]}}')
    assert check(f" [ {text} ] ")


@pytest.mark.parametrize("text", [
    "", " ", "nul", "tru", "fals", "nulL", "01", "-01", "1.", ".5", "-", "+1", "1e", "1e+", "--1", "0x1", "[1,]",
    "[,1]", "[1 2]",
    "[", "[1", "{", "}", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1', '{a:1}', '{"a" 1}', '{1:1}', '"', '"a',
    '"\\', '"\\"', '"\\x"', '"\\u12"', '"a\tb"', '"\x00"', "1\x00", "[1]\x00", "1 2", '"a" x', "[1\u00a0]", "\ufeff1",
    "NaN", "Infinity", "-Infinity", "'a'", "[1}", '{"a":1]',
])
def test_what_is_wrong_is_left_to_json(text: str) -> None:
    for whole in (text, f'{{"type":{text}', f"[{text}", f'{{"type":{text}}}]'):
        assert read_text(whole) is None, whole


@pytest.mark.parametrize("key", NOTES)
def test_notes_are_read_over(key: str) -> None:
    for text, value in [
        (f'{{"{key}": "x"}}', {}), (f'[{{"a": 1, "{key}": "\\n", "b": {{"{key}": ""}}}}]', [{"a": 1, "b": {}}]),
        (f'{{"{key}": {{"{key}": "x"}}}}', {key: {}}), (f'{{"{key}": {{}}, "{key}": "x"}}', {}),
        (f'{{"{key}": "x", "{key}": 1}}', {key: 1}), (f'{{"\\u{ord(key[0]):04x}{key[1:]}": "x"}}', {}),
        (f'{{"items": [{{"{key}": "x"}}]}}', {"items": [{}]}),
        (f'{{"properties": {{"{key}": "x", "a": {{"{key}": "x"}}}}, "{key}": "x"}}',
         {"properties": {key: "x", "a": {}}}),
        (f'{{"dependencies": {{"{key}": "x"}}}}', {"dependencies": {key: "x"}}),
        (f'{{"enum": [{{"{key}": "x"}}, {{"a": {{"{key}": "x"}}}}], "{key}": "x", "not": {{"{key}": "x"}}}}',
         {"enum": [{key: "x"}, {"a": {key: "x"}}], "not": {}}),
        (f'{{"const": {{"b": [{{"{key}": "x"}}], "{key}": "x"}}, "{key}": "x"}}',
         {"const": {"b": [{key: "x"}], key: "x"}}),
    ]:
        read = read_text(text)
        assert read is not None and repr(read[0]) == repr(value), text
        assert check(text) or text.count(f'"{key}"') > 1
    for wrong in ('"a\tb"', '"\\x"', '"\\', '"a'):
        assert read_text(f'{{"{key}": {wrong}}}') is None


@pytest.mark.parametrize("text", [
    '{"type":"string"}', '{"type":"string","type":"number"}', '{"type":"string","type":"string"}', '{"type":"type"}',
    '{"type":"String"}', '{"type":["string"]}', '{"type":{}}', '{"type":[]}', '{"type":null}',
    '{"type":"string","a":1}', '{"a":1,"type":"string"}', '{"type":"string","a":{"type":"string"}}',
    '{"type":{"type":"string"},"type":"null"}',
    '{"title":1,"type":"string"}', '{"type":"string","title":1}', '{"type":"string","title":{"type":"object"}}',
    '{"a":"string"}', '{"\\u0074ype":"string"}', '{"type":"\\u0073tring"}', '{"type":"string","type":1}',
    '{"a":{"type":"array"},"b":{"type":"array"},"c":[{"type":"array"},{"type":"array","x":{"type":"array"}}]}',
])
def test_what_says_only_a_type(text: str) -> None:
    assert check(text)
    assert check(f'{{"type":{text},"a":{text}}}')
    assert check(f'[{text},{{"type":"string","description":"x"}},{{"description":"x"}},{{"type":"object"}}]')


def test_objects_that_say_only_a_type_are_one() -> None:
    read = read_text('{"a": {"type": "string"}, "b": {"type": "string", "title": "x"}, "c": {"type": "number"}}')
    assert read is not None
    assert read[0]["a"] is read[0]["b"] is not read[0]["c"]


@pytest.mark.parametrize("key", ["a", "title"])
def test_strings_of_any_length(key: str) -> None:
    """With an end, an escape, or what is wrong, at any place of what is looked at together."""
    for size in range(70):
        for end, fine in [("", True), ("\\n", True), ("\\u00e9", True), ("\\ud800", True), ("\\ud83d\\ude00", True),
                          ("\\u00E", False), ("\\u00eg", False), ("\\u", False), ("\\N", False), ("\x1f", False),
                          ("\x7f", True), ("\u20ac", True), ("\\'", False), ("\\/", True)]:
            text = f'{{"{key}":"{"x" * size}{end}"}}'
            assert check(text) == fine, text
            assert check(f'[{text}, "{"y" * size}", "{"x" * size}{end}", {{"{"x" * size}{end}": 1}}]') == fine, text
            if size % 7 == 0:
                for cut in range(len(text)):
                    assert read_text(text[:cut]) is None


def test_strings_that_look_alike() -> None:
    """Many with the same ends: they are looked for by these."""
    words = [f"property{i % 7}{'x' * (i % 5)}{i % 11}_status" for i in range(500)]
    words += [f"{i:02}" for i in range(100)] + [f"{i:03}" for i in range(500)] + [f"a{i}" for i in range(3000)]
    assert check(json.dumps([words, {word: word for word in words}, words[::-1]]))
    assert check(json.dumps([f"{i}" * 3 for i in range(70_000)] * 2))


def test_notes_in_the_deep_stay() -> None:
    for depth in range(60, 70):
        assert check('{"a":[' * depth + '{"title": "x"}' + "]}" * depth)
        assert check('{"a":' * depth + '{"title": "x"}' + "}" * depth + " ")


def test_what_is_rare_is_left_to_json() -> None:
    for text in ("1234567890123456789", '"\ud800"', "[" * 300 + "]" * 300, "1e99999999999999999999"):
        assert read_text(text) is None
    assert check("[" * 200 + "]" * 200)


@pytest.mark.parametrize(("text", "seen"), [
    ("{}", 0), ('{"id": "a", "$id": "b"}', 0), ('{"properties": {"id": {}}}', 0), ('{"a": {"id": "x"}}', 4),
    ('{"a": [{"$id": "x"}]}', 8), ('{"$ref": "#"}', 1), ('{"$ref": "#/a"}', 1), ('{"$ref": "a"}', 3),
    ('{"$ref": ""}', 3), ('{"a": {"\\u0024ref": "\\u0023"}}', 1), ('{"\\u0024ref": "b"}', 3), ('{"$ref": {}}', 1),
    ('{"a": {"\\u0069d": "x"}}', 4), ('{"$anchor": 1}', 16), ('{"unevaluatedItems": true}', 16), ('["$ref", "id"]', 0),
    ('{"$dynamicRef": "#"}', 16), ('{"a": {"unevaluatedPropertie\\u0073": 1}}', 16), ('{"ref": "x", "i": "x"}', 0),
])
def test_watched_keys_are_seen(text: str, seen: int) -> None:
    read = read_text(text)
    assert read is not None and read[1] == seen


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18) + 1, 10**18 - 1)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["type", "string", "$ref", "propertie", "id", "title"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(max_size=4) | st.sampled_from(
            ["type", "items", "required", "minimum", "$id", "title", "default", "enum", "const", "properties"]),
        inner, max_size=4),
    max_leaves=15)


@settings(max_examples=150)
@given(VALUES, st.booleans(), st.sampled_from([None, 0, 3]), st.data())
def test_any_value_in_any_spelling(value: Any, ascii_only: bool, indent: int | None, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    if not any(0xD800 <= ord(c) < 0xE000 for c in text):
        assert check(text)
    at = data.draw(st.integers(0, len(text)))
    for changed in (text[:at], text[:at] + text[at + 1:], text[:at] + data.draw(st.sampled_from(
            list('"\\{}[]:,0-e.tu \n\x01'))) + text[at:]):
        try:
            DECODE(changed)
        except ValueError:
            assert read_text(changed) is None, changed
        else:
            check(changed)


def test_schemas_from_the_wild() -> None:
    texts = [json.dumps(schema) for _, schema, _ in list(maskbench_schemas(require_shared()))[::9]]
    assert sum(map(check, texts)) > 0.98 * len(texts)
