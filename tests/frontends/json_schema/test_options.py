"""The options of the entry: what each takes, and that anything else is a typed error before any mask."""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler

BACK_REFERENCE = {"type": "string", "pattern": r"^(a|b)\1$"}


def compiled(schema: Any, **options: Any) -> cd.CompiledGrammar:
    return byte_compiler().compile_json_schema(schema, **options)


@pytest.mark.parametrize("draft", [4, "4", "draft4", "draft-04", "http://json-schema.org/draft-04/schema#",
                                   "http://json-schema.org/draft-04/schema"])
def test_a_draft_by_any_of_its_names(draft: Any) -> None:
    grammar = compiled({"type": "integer"}, draft=draft)
    assert accepts(grammar, "1") and not accepts(grammar, "1.0")


@pytest.mark.parametrize("draft", [5, True, 4.0, "", "draft3", b"4", "http://example.com/"])
def test_other_drafts_are_errors(draft: Any) -> None:
    with pytest.raises(cd.SchemaError, match="unknown draft"):
        compiled({"type": "integer"}, draft=draft)


@pytest.mark.parametrize("separators", [(",", ":"), [",", ":"], (" ,\n", "\t: "), [", ", ": "]])
def test_separators_of_json(separators: Any) -> None:
    grammar = compiled({"type": ["array", "object"]}, any_whitespace=False, separators=separators)
    for value in ([1, [2]], {"a": {"b": 1}, "c": []}):
        assert accepts(grammar, json.dumps(value, separators=separators))
    assert not accepts(grammar, "[1 , 2]")


@pytest.mark.parametrize("separators", [("x", ":"), (",", "="), ("", ":"), (",,", ":"), ("\u00a0,", ":"), (",",), 1])
def test_other_separators_are_errors(separators: Any) -> None:
    with pytest.raises(cd.SchemaError, match="separators"):
        compiled({"type": "array"}, any_whitespace=False, separators=separators)


@pytest.mark.parametrize("indent", [0, 3, -1, True, "\t", " \n"])
def test_indents_of_json(indent: Any) -> None:
    grammar = compiled({"type": "array"}, any_whitespace=False, indent=indent)
    assert accepts(grammar, json.dumps([1, [2]], indent=indent)) and not accepts(grammar, "[1, [2]]")


@pytest.mark.parametrize("indent", ["xx", "\u00a0", 1.5])
def test_other_indents_are_errors(indent: Any) -> None:
    with pytest.raises(cd.SchemaError, match="indent"):
        compiled({"type": "array"}, any_whitespace=False, indent=indent)


def test_a_registry_is_one() -> None:
    with pytest.raises(cd.SchemaError, match="registry"):
        compiled({"$ref": "http://example.com/x"}, registry={"http://example.com/x": True})


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(cd.SchemaError, match="unknown option 'whitespace'"):
        cd.coverage({"type": "integer"}, whitespace=False)


def test_a_pattern_that_is_not_regular() -> None:
    with pytest.raises(cd.UnsupportedSchemaError, match="a back-reference at position 6") as caught:
        compiled(BACK_REFERENCE)
    assert caught.value.pointer == "/pattern"
    with pytest.warns(UserWarning, match="at /pattern: "):
        grammar = compiled(BACK_REFERENCE, unsupported="warn")
    assert accepts(grammar, '"aa"') and accepts(grammar, '"ab"') and not accepts(grammar, "1")
    [entry] = cd.coverage(BACK_REFERENCE).relaxed
    assert entry.pointer == "/pattern" and "back-reference" in entry.reason
    # what is left out is a superset, of which nothing can be taken off
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grammar = compiled({"type": "string", "not": {"pattern": r"(a|b)\1"}, "maxLength": 2}, unsupported="ignore")
    assert accepts(grammar, '"ab"') and not accepts(grammar, '"abc"')


@pytest.mark.parametrize("more", [{}, {"unevaluatedProperties": False}, {"additionalProperties": False}])
def test_names_by_a_pattern_that_is_not_regular(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}},
              "patternProperties": {r"^(a|b)\1$": {"type": "integer"}, "^n": {"type": "null"}}, **more}
    with pytest.raises(cd.UnsupportedSchemaError) as caught:
        compiled(schema)
    assert caught.value.pointer == "/patternProperties"
    grammar = compiled(schema, unsupported="ignore", property_order="any")
    assert accepts(grammar, '{"aa": 1, "x": 2}') and not accepts(grammar, '{"x": "a"}')
    assert [entry.pointer for entry in cd.coverage(schema).relaxed] == ["/patternProperties"]


def test_a_pattern_that_cannot_be_read_is_wrong_whatever_is_asked_for() -> None:
    for unsupported in ("error", "warn", "ignore"):
        with pytest.raises(cd.SchemaError) as caught:
            compiled({"pattern": "("}, unsupported=unsupported)
        assert not isinstance(caught.value, cd.UnsupportedSchemaError)


def test_unknown_formats() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "colour"}}, "required": ["a"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unsupported in ("error", "ignore"):
            assert accepts(compiled(schema, unsupported=unsupported), '{"a": "x"}')
        assert accepts(compiled(schema, unsupported="warn", assert_formats=False), '{"a": "x"}')
    with pytest.warns(UserWarning, match="at /properties/a/format: the format 'colour' is not known"):
        assert accepts(compiled(schema, unsupported="warn"), '{"a": "x"}')
    with pytest.raises(cd.UnsupportedSchemaError, match="'colour' is not known") as caught:
        compiled(schema, assert_formats="strict")
    assert caught.value.pointer == "/properties/a/format"
    assert accepts(compiled(schema, assert_formats="strict", unsupported="ignore"), '{"a": "x"}')
    known = compiled({"type": "string", "format": "date"}, assert_formats="strict")
    assert accepts(known, '"2020-02-29"') and not accepts(known, '"2021-02-29"')
    for wrong in ("all", None, 1.5):
        with pytest.raises(cd.SchemaError, match="assert_formats"):
            compiled(True, assert_formats=wrong)


@pytest.mark.parametrize("schema", [
    {"enum": (1, 2)}, {"minimum": Decimal("0.5"), "multipleOf": Decimal("0.1"), "type": "number"},
    {"const": Decimal("1E+2")}, {"properties": {1: {"type": "null"}}, "required": ["1"]}, {"const": [1.5, {"a": (1,)}]},
    OrderedDict(type="integer"), {"const": "a\u0000b"}])
def test_values_that_json_writes(schema: Any) -> None:
    """A dict means what ``json.dumps`` makes of it, whichever call it is given to."""
    one = byte_compiler().compile_json_schema(schema)
    other = byte_compiler().compile_grammar(cd.Grammar.from_json_schema(schema))
    texts = ["1", "2", "0.5", "0.45", "100", '{"1": null}', '{"1": 1}', "{}", '[1.5, {"a": [1]}]', r'"a\u0000b"']
    judged = [accepts(one, text) for text in texts]
    assert judged == [accepts(other, text) for text in texts]
    assert any(judged) and not all(judged)
    assert cd.coverage(schema).exact


@pytest.mark.parametrize("schema", [
    {"enum": {1, 2}}, {"const": b"a"}, {"const": object()}, {"minimum": float("nan")}, {"const": Decimal("NaN")},
    {"const": {"a": [Decimal("Infinity")]}}, {(1, 2): {}}])
def test_values_that_are_no_json(schema: Any) -> None:
    for call in (byte_compiler().compile_json_schema, cd.Grammar.from_json_schema, cd.coverage):
        with pytest.raises(cd.SchemaError, match="no JSON"):
            call(schema)
