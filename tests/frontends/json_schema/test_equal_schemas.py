"""Schemas that say the same are one expression of a document; where reference or spelling may differ they are not."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from constrained.frontends.json_schema.compile import build, from_json_schema
from constrained.frontends.json_schema.objects import ObjectShape
from tests import oracles

BRANCHES: list[dict[str, Any]] = [
    {"type": "object", "required": ["a"], "properties": {"a": {"oneOf": [{"minimum": 3}, {"type": "null"}]}}},
    {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/$defs/whole"}}},
]
DEFINITIONS = {"whole": {"type": "integer"}}


def copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def places(schema: Any, **options: Any) -> int:
    return len(build(schema, **options)[1].places)


def object_of(*values: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {f"k{i}": value for i, value in enumerate(values)}, **more}


@pytest.mark.parametrize(("one", "other"), [
    (object_of({"enum": [1]}), object_of({"enum": [True]})), (object_of({"enum": [0]}), object_of({"enum": [False]})),
    (object_of({"enum": ["1"]}), object_of({"enum": [1]})), (object_of({"enum": ["a"]}), object_of({"enum": ["b"]})),
    (object_of({"enum": [[1]]}), object_of({"enum": [[True]]})),
    (object_of({"enum": [1, 2]}), object_of({"enum": [1]})),
    (object_of(object_of({"type": "null"})), object_of(object_of({"type": "boolean"}))),
    (object_of({"minimum": 0}), object_of({"minimum": 1})), (object_of({}), object_of(True, required=["k0"])),
    (object_of({"items": {"type": "null"}}), object_of({"items": {"type": "string"}})),
])
def test_objects_that_look_alike(one: Any, other: Any) -> None:
    """They are one rule if they are equal, however deep, and two if they differ anywhere."""
    for first, second, more in ((one, other, True), (one, copy(one), False), (other, copy(other), False)):
        twice, once = (from_json_schema(json.dumps({"type": "object", "properties": members}), property_order="any")
                       for members in ({"a": first, "b": second}, {"a": first}))
        assert (len(twice.rules) > len(once.rules)) is more, (first, second)


def test_equal_members_in_another_order_are_another_object() -> None:
    one = {"type": "object", "properties": {"x": {"properties": {"a": {}, "b": {}}}}, "required": ["x"]}
    other = {"type": "object", "properties": {"x": {"properties": {"b": {}, "a": {}}}}, "required": ["x"]}
    rules = from_json_schema({"properties": {"p": one, "q": other}})
    for text, right in [('{"p": {"x": {"a": 1, "b": 1}}}', True), ('{"p": {"x": {"b": 1, "a": 1}}}', False),
                        ('{"q": {"x": {"a": 1, "b": 1}}}', False), ('{"q": {"x": {"b": 1, "a": 1}}}', True)]:
        assert oracles.accepts(rules, text.encode()) is right, text


def test_equal_schemas_are_read_once() -> None:
    one = {"properties": {"x": {"anyOf": BRANCHES}}, "$defs": DEFINITIONS}
    two = {"properties": {"x": {"anyOf": copy(BRANCHES)}, "y": {"anyOf": copy(BRANCHES)}}, "$defs": DEFINITIONS}
    assert places(two) == places(one)
    assert places(json.dumps(two)) == places(one)
    rules, same = (from_json_schema(schema, property_order="any") for schema in (two, one))
    assert len(rules.rules) == len(same.rules)
    assert places(two, comparing=False) > places(one)
    for text, right in [('{"x": {"a": 3}, "y": {"b": 1}}', True), ('{"x": {"a": 2}}', False),
                        ('{"x": {"b": "1"}}', False), ('{"y": {"a": "t"}}', True), ('{"y": {"a": null}}', False),
                        ('{"y": {"a": 2}}', False)]:
        assert oracles.accepts(rules, text.encode()) is right, text


@pytest.mark.parametrize(("one", "other"), [
    ({"const": 1, "minProperties": 0}, {"const": True, "minProperties": 0}),
    ({"const": 0, "minProperties": 0}, {"const": False, "minProperties": 0}),
    ({"const": "1", "minProperties": 0}, {"const": 1, "minProperties": 0}),
    ({"enum": [Decimal("0.5")], "minProperties": 0}, {"enum": [5], "minProperties": 0}),
])
def test_alike_is_not_equal(one: Any, other: Any) -> None:
    value = one.get("const", one.get("enum", [None])[0])
    text = json.dumps(float(value) if isinstance(value, Decimal) else value)
    rules = from_json_schema({"properties": {"a": one, "b": other}})
    assert oracles.accepts(rules, f'{{"a": {text}}}'.encode())
    assert not oracles.accepts(rules, f'{{"b": {text}}}'.encode())


def test_the_order_of_members_is_that_of_each_schema() -> None:
    members = {"p": {"type": "integer"}, "q": {"type": "integer"}}
    schema = {"properties": {
        "a": {"properties": members, "required": ["p", "q"]},
        "b": {"properties": dict(reversed(members.items())), "required": ["p", "q"]}}}
    rules = from_json_schema(schema)
    assert oracles.accepts(rules, b'{"a": {"p": 1, "q": 2}, "b": {"q": 2, "p": 1}}')
    assert not oracles.accepts(rules, b'{"b": {"p": 1, "q": 2}}')


def test_references_of_different_bases_are_different() -> None:
    inner = {"properties": {"v": {"$ref": "value"}}, "required": ["v"]}
    schema = {
        "$id": "https://example.org/root", "properties": {"a": {"$ref": "a/"}, "b": {"$ref": "b/"}},
        "$defs": {
            "a": {"$id": "a/", **inner, "$defs": {"value": {"$id": "value", "type": "integer"}}},
            "b": {"$id": "b/", **copy(inner), "$defs": {"value": {"$id": "value", "type": "string"}}}}}
    rules = from_json_schema(schema)
    assert oracles.accepts(rules, b'{"a": {"v": 1}, "b": {"v": "s"}}')
    assert not oracles.accepts(rules, b'{"a": {"v": "s"}}')
    assert not oracles.accepts(rules, b'{"b": {"v": 1}}')


def test_one_of_equal_branches_accepts_neither() -> None:
    schema = {"oneOf": [BRANCHES[0], copy(BRANCHES[0]), {"type": "null"}]}
    rules = from_json_schema(schema)
    assert oracles.accepts(rules, b"null")
    assert not oracles.accepts(rules, b'{"a": 3}')


def test_coverage_lists_every_place() -> None:
    schema = {"properties": {"x": {"anyOf": BRANCHES}, "y": {"anyOf": copy(BRANCHES)}, "z": {"type": "string"},
                             "w": {"type": "string"}}, "$defs": DEFINITIONS}
    pointers = {entry.pointer for entry in cd.coverage(schema).entries}
    for name in "xy":
        assert {f"/properties/{name}/anyOf", f"/properties/{name}/anyOf/0/properties/a/oneOf"} <= pointers
    assert {"/properties/z/type", "/properties/w/type"} <= pointers


def test_references_that_lead_to_the_same_are_one() -> None:
    told = [{"$ref": "#/definitions/n", "description": text} for text in ("one", "two", "three")]
    plain = [{"$ref": "#/definitions/n"} for _ in range(3)]
    for siblings, draft, there_are in ((plain, "2020-12", 3), (told, "draft7", 3), (told, "2020-12", 5)):
        schema = {"properties": dict(zip("abc", siblings, strict=True)),
                  "definitions": {"n": {"type": ["null", "object"]}}}
        assert places(schema, draft=draft) == there_are
        rules = build(schema, draft=draft)[0]
        assert oracles.accepts(rules, b'{"a": null, "b": {}, "c": null}')
        assert not oracles.accepts(rules, b'{"a": null, "b": {}, "c": 1}')


def test_references_that_lead_elsewhere_are_not_one() -> None:
    assert places({"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}},
                   "$defs": {"a": {"type": ["null", "object"]}, "b": {"type": ["null", "array"]}}}) == 5


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), unique_by=lambda said: said[0]),
       st.sets(st.sampled_from("abc")), st.integers(0, 2), st.booleans())
def test_equal_shapes_hash_alike(properties: list[tuple[str, int]], required: set[str], minimum: int,
                                 said: bool) -> None:
    def shape(change: int = 0) -> ObjectShape:
        return ObjectShape(tuple((name, value + change) for name, value in properties), (), frozenset(required), (),
                           minimum, None, said)

    one, other = shape(), shape()
    kept = {one: 1}
    assert one == other
    assert hash(one) == hash(other)
    assert kept[other] == 1
    changes = [one.changed(minimum=minimum + 1), one.changed(said=not said), one.changed(maximum=9)]
    for changed in [*changes, *([shape(1)] if properties else [])]:
        assert one != changed
        assert changed not in kept
