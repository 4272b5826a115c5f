"""Spellings of a value other than JSON: XML parameters (with XGrammar as the judge), Python, FunctionGemma."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from constrained.frontends.structural_tag.xml_values import JsonText, parameter_kinds, value_of_text
from tests.toolcalls.worlds import vocabulary

SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {
        "city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]}, "ok": {"type": "boolean"},
        "near": {"type": "array", "items": {"type": "string"}}},
    "required": ["city"]}
OPEN = {"qwen_xml": "<parameter={}>", "minimax_xml": '<parameter name="{}">',
        "glm_xml": "<arg_key>{}</arg_key>\n<arg_value>", "deepseek_xml": '<｜DSML｜parameter name="{}" string="{}">',
        "deepseek_v4_1_xml": '<｜DSML｜ parameter name="{}" string="{}">',
        "kimi_k3_xml": '<|open|>argument key="{}" type="{}"<|sep|>'}
KIMI = {"ok": "boolean", "near": "array"}
CLOSE = {"qwen_xml": "</parameter>", "minimax_xml": "</parameter>", "glm_xml": "</arg_value>",
         "deepseek_xml": "</｜DSML｜parameter>", "deepseek_v4_1_xml": "</｜DSML｜ parameter>",
         "kimi_k3_xml": "<|close|>argument<|sep|>"}
CASES = [
    ([("city", "Paris")], True), ([("city", "")], True), ([("city", "a\n<b>&\"</x")], True), ([], False),
    ([("city", "P"), ("unit", "C"), ("ok", "true"), ("near", '["a"]')], True), ([("unit", "C")], False),
    ([("city", "P"), ("unit", "K")], False), ([("city", "P"), ("ok", "yes")], False),
    ([("city", "P"), ("near", "[1]")], False), ([("unit", "C"), ("city", "P")], False),
    ([("city", "P"), ("zip", "1")], False), ([("city", "P"), ("ok", " false ")], True),
]


def accepts(schema: Any, style: str, text: str) -> bool:
    tag = {"type": "json_schema", "json_schema": schema, "style": style}
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(tag)
    state = grammar.advance(grammar.start_state, text.encode())
    return bool(state) and grammar.is_complete(state)


def written(style: str, values: list[tuple[str, str]]) -> str:
    def said(name: str) -> str:
        return KIMI.get(name, "string") if style == "kimi_k3_xml" else "false" if name in KIMI else "true"

    return "\n".join(OPEN[style].format(name, said(name)) + value + CLOSE[style] for name, value in values)


@pytest.mark.parametrize("style", OPEN)
def test_xml_parameters(style: str) -> None:
    xgrammar = pytest.importorskip("xgrammar")
    info = xgrammar.TokenizerInfo([bytes([i]) for i in range(256)] + [b"</s>"], stop_token_ids=[256])
    form = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": SCHEMA, "style": style}}
    theirs = xgrammar.GrammarCompiler(info, max_threads=1).compile_structural_tag(json.dumps(form))
    for values, expected in CASES:
        for text in (written(style, values), " " + written(style, values) + "\n"):
            assert accepts(SCHEMA, style, text) == expected, text
            matcher = xgrammar.GrammarMatcher(theirs)
            assert (matcher.accept_string(text) and matcher.is_completed()) == expected, text


def test_kimi_names_the_type_of_each_value() -> None:
    schema = {"type": "object", "properties": {
        "v": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer", "minimum": 3}, {"type": "null"},
                        {"type": "object", "properties": {"x": {"enum": [1]}}, "additionalProperties": False}]}},
        "required": ["v"], "additionalProperties": False}
    for kind, value, expected in (
            ("string", "ab", True), ("string", "abc", False), ("string", "3", True), ("number", "3", True),
            ("number", "2", False), ("number", "ab", False), ("null", " null ", True), ("null", "", False),
            ("object", '{"x": 1}', True), ("object", '{"x": 2}', False), ("boolean", "true", False),
            ("array", "[]", False), ("integer", "3", False)):
        text = OPEN["kimi_k3_xml"].format("v", kind) + value + CLOSE["kimi_k3_xml"]
        assert accepts(schema, "kimi_k3_xml", text) == expected, text
    with pytest.raises(cd.UnsupportedSchemaError, match="cannot be named"):
        accepts({"type": "object", "properties": {'a"b': {}}}, "kimi_k3_xml", "")


def test_raw_strings_keep_their_constraints() -> None:
    schema = {"type": "object", "properties": {
        "a": {"type": "string", "minLength": 2, "maxLength": 3}, "b": {"type": "string", "pattern": "^x*$"}}}
    for text, expected in (("ab", True), ("a", False), ("abcd", False), ("\nabc\n", True), ("\n\n\n\n", True),
                           ("\n\n\n", False)):
        assert accepts(schema, "qwen_xml", f"<parameter=a>{text}</parameter>") == expected, text
        if expected:
            assert 2 <= len(str(value_of_text(text, parameter_kinds(schema)("a")))) <= 3
    assert accepts(schema, "qwen_xml", "<parameter=b>xx</parameter>")
    assert not accepts(schema, "qwen_xml", "<parameter=b>y</parameter>")


def test_strings_beside_other_values() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {}},
              "additionalProperties": {"type": "integer"}}
    kinds = parameter_kinds(schema)
    assert value_of_text(" null ", kinds("a")) == JsonText("null")
    assert value_of_text("nul", kinds("a")) == "nul" and value_of_text("3", kinds("a")) == "3"
    assert value_of_text("1e400", kinds("b")) == JsonText("1e400") and value_of_text('"x"', kinds("b")) == '"x"'
    assert value_of_text("1e3", kinds("other")) == JsonText("1e3")
    bounded = {"type": "object", "properties": {
        "a": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 3}]}}}
    with pytest.raises(cd.UnsupportedSchemaError, match="tell apart"):
        accepts(bounded, "qwen_xml", "")
    assert accepts(bounded, "deepseek_xml", '<｜DSML｜parameter name="a" string="false">3</｜DSML｜parameter>')
    assert not accepts(bounded, "deepseek_xml", '<｜DSML｜parameter name="a" string="false">2</｜DSML｜parameter>')


def test_python_and_gemma() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["boolean", "null"]},
                                               "c": {"type": "object", "properties": {"d": {"enum": ["x", 1]}}}},
              "required": ["a"]}
    for text, expected in (("a='x'", True), ('a="x", b=True', True), ("a='x', b=None, c={\"d\": 'x'}", True),
                           ("a='x', c={}", True), ("b=True", False), ("a='x', b=true", False), ("a=x", False),
                           ("b=True, a='x'", False),
                           ("a='it\\'s'", True), ("a='x\n'", False), ('a="x", c={"d": 1}', True)):
        assert accepts(schema, "pythonic", text) == expected, text
    for text, expected in (("{a:<escape>x, {y}<escape>}", True), ("{a:<escape><escape>,b:true,c:{d:1}}", True),
                           ("{a:<escape>x<escape>,c:{d:<escape>x<escape>}}", True), ("{a:x}", False), ("{}", False),
                           ("{a:<escape>x<escape>, b:null}", False)):
        assert accepts(schema, "function_gemma", text) == expected, text
    with pytest.raises(cd.UnsupportedSchemaError, match="an argument in Python"):
        accepts({"type": "object", "properties": {"a-b": {}}}, "pythonic", "")
    with pytest.raises(cd.UnsupportedSchemaError, match="without quotation marks"):
        accepts({"type": "object", "properties": {"a b": {}}}, "function_gemma", "")
    with pytest.raises(cd.UnsupportedSchemaError, match="an object"):
        accepts({"type": "string"}, "qwen_xml", "")
