"""Spellings of a value other than JSON: XML parameters (with XGrammar as the judge), Python, FunctionGemma."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import constrained as cd
from constrained.frontends.structural_tag.xml_values import JsonText, ValuePlace, value_of_text
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


def xgrammar_takes(form: dict[str, Any]) -> Callable[[str], bool]:
    """Whether a text is a whole one of a format to XGrammar. Skips the test where that is not installed."""
    xgrammar = pytest.importorskip("xgrammar")
    info = xgrammar.TokenizerInfo([bytes([i]) for i in range(256)] + [b"</s>"], stop_token_ids=[256])
    grammar = xgrammar.GrammarCompiler(info, max_threads=1).compile_structural_tag(
        json.dumps({"type": "structural_tag", "format": form}))

    def takes(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(grammar)
        return bool(matcher.accept_string(text) and matcher.is_completed())

    return takes


@pytest.mark.parametrize("style", OPEN)
def test_xml_parameters(style: str) -> None:
    theirs = xgrammar_takes({"type": "json_schema", "json_schema": SCHEMA, "style": style})
    for values, expected in CASES:
        for text in (written(style, values), " " + written(style, values) + "\n"):
            assert accepts(SCHEMA, style, text) == expected, text
            assert theirs(text) == expected, text


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
    named = {"type": "object", "properties": {'a"&b': {"const": 1}}, "additionalProperties": {"const": 2}}
    for name, value, expected in (("a&quot;&amp;b", "1", True), ("a&quot;&amp;b", "2", False), ("c", "2", True),
                                  ('a"&b', "1", False), ("a&b", "2", False)):
        text = OPEN["kimi_k3_xml"].format(name, "number") + value + CLOSE["kimi_k3_xml"]
        assert accepts(named, "kimi_k3_xml", text) == expected, text


def test_raw_strings_keep_their_constraints() -> None:
    schema = {"type": "object", "properties": {
        "a": {"type": "string", "minLength": 2, "maxLength": 3}, "b": {"type": "string", "pattern": "^x*$"}}}
    for text, expected in (("ab", True), ("a", False), ("abcd", False), ("\nabc\n", True), ("\n\n\n\n", True),
                           ("\n\n\n", False)):
        assert accepts(schema, "qwen_xml", f"<parameter=a>{text}</parameter>") == expected, text
        if expected:
            assert 2 <= len(str(value_of_text(text, ValuePlace.of(schema).member("a").kinds))) <= 3
    assert accepts(schema, "qwen_xml", "<parameter=b>xx</parameter>")
    assert not accepts(schema, "qwen_xml", "<parameter=b>y</parameter>")


def test_strings_beside_other_values() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {}},
              "additionalProperties": {"type": "integer"}}
    place = ValuePlace.of(schema)
    assert value_of_text(" null ", place.member("a").kinds) == JsonText("null")
    assert value_of_text("nul", place.member("a").kinds) == "nul" and value_of_text("3", place.member("a").kinds) == "3"
    assert value_of_text("1e400", place.member("b").kinds) == JsonText("1e400")
    for text, whole in (("1e99999999999999999999", True), ("-1.5E-99999999999999999999", False)):
        assert value_of_text(text, place.member("b").kinds) == JsonText(text)
        assert value_of_text(text, place.member("other").kinds) == (JsonText(text) if whole else text)
    assert value_of_text('"x"', place.member("b").kinds) == '"x"'
    assert value_of_text("1e3", place.member("other").kinds) == JsonText("1e3")
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


NESTED: dict[str, Any] = {
    "type": "object", "required": ["s"], "additionalProperties": False, "properties": {
        "s": {"type": "string"}, "n": {"type": "number"}, "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        "o": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "null"}}, "required": ["x"],
              "additionalProperties": False}}}
MARK = "]<]minimax[>["
COHERE = [
    ('<cofl:value name="s" type="raw">a "b" <c></cofl:value>', True), ("", False),
    ('<cofl:value name="s" type="json">"a"</cofl:value>', False), ('<cofl:value type="raw">a</cofl:value>', False),
    ('<cofl:value name="s" type="raw"></cofl:value> <cofl:value name="n" type="json"> 1.5 </cofl:value>', True),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="n" type="raw">1</cofl:value>', False),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="l" type="list"><cofl:value type="json">1'
     '</cofl:value><cofl:value type="json">2</cofl:value></cofl:value>', True),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="l" type="list"></cofl:value>', False),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="l" type="json">[1]</cofl:value>', False),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="o" type="dict"><cofl:value name="x" type="raw">'
     'y</cofl:value><cofl:value name="y" type="json">null</cofl:value></cofl:value>', True),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="o" type="dict"></cofl:value>', False),
    ('<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="z" type="raw">b</cofl:value>', False)]
MINIMAX = [
    (f"{MARK}<s>a <b>{MARK}</s>", True), ("", False), (f"{MARK}<s>{MARK}</s>{MARK}<n>1.5{MARK}</n>", True),
    (f"{MARK}<s>a{MARK}</s>{MARK}<n>x{MARK}</n>", False), (f"{MARK}<s>a{MARK}</t>", False),
    (f"{MARK}<s>a{MARK}</s>{MARK}<b>true{MARK}</b>", True), (f"<s>a{MARK}</s>", False),
    (f"{MARK}<s>a{MARK}</s>{MARK}<l>{MARK}<item>1{MARK}</item>{MARK}<item>2{MARK}</item>{MARK}</l>", True),
    (f"{MARK}<s>a{MARK}</s>{MARK}<l>{MARK}</l>", False), (f"{MARK}<s>a{MARK}</s>{MARK}<l>[1]{MARK}</l>", False),
    (f"{MARK}<s>a{MARK}</s>{MARK}<o>{MARK}<x>y{MARK}</x>{MARK}<y>null{MARK}</y>{MARK}</o>", True),
    (f"{MARK}<s>a{MARK}</s>{MARK}<o>{MARK}</o>", False), (f"{MARK}<s>a{MARK}</s>{MARK}<z>b{MARK}</z>", False)]


@pytest.mark.parametrize(("style", "cases"), [("cohere_xml", COHERE), ("minimax_m3_xml", MINIMAX)])
def test_elements_within_elements(style: str, cases: list[tuple[str, bool]]) -> None:
    theirs = xgrammar_takes({"type": "json_schema", "json_schema": NESTED, "style": style})
    for text, expected in cases:
        assert accepts(NESTED, style, text) == expected, text
        assert theirs(text) == expected, text


def test_nested_elements_keep_bounds_and_recursion() -> None:
    node = {"type": "object", "properties": {"v": {"type": "string", "maxLength": 1},
                                             "kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["v"],
            "additionalProperties": False, "minProperties": 1}
    leaf, wide = f"{MARK}<v>a{MARK}</v>", f"{MARK}<v>ab{MARK}</v>"

    def tree(inside: str) -> str:
        return f"{leaf}{MARK}<kids>{MARK}<item>{inside}{MARK}</item>{MARK}</kids>"

    assert accepts(node, "minimax_m3_xml", tree(tree(leaf))) and not accepts(node, "minimax_m3_xml", tree(tree(wide)))
    two = {"type": "object", "properties": {"o": {"type": "object", "minProperties": 2, "additionalProperties": False,
                                                  "properties": {name: {"type": "integer"} for name in "abc"}}}}
    for names, expected in (("ab", True), ("bc", True), ("b", False), ("abc", True)):
        inside = "".join(f'<cofl:value name="{name}" type="json">1</cofl:value>' for name in names)
        assert accepts(two, "cohere_xml", f'<cofl:value name="o" type="dict">{inside}</cofl:value>') == expected
    escaped = {"type": "object", "properties": {'<a> & "b"': {"type": "string"}}, "additionalProperties": False}
    name = "&lt;a&gt; &amp; &quot;b&quot;"
    assert accepts(escaped, "cohere_xml", f'<cofl:value name="{name}" type="raw">x</cofl:value>')
    for schema, message in (
            ({"type": "object", "additionalProperties": {"type": "string"}}, "end in their names"),
            ({"type": "object", "properties": {"a<b": {}}}, "name of an element"),
            ({"type": "object", "properties": {"a": {"type": ["string", "array"], "items": False}}},
             "do not say whether"),
            ({"type": "object", "properties": {"a": {"type": ["object", "array"]}}}, "do not say whether")):
        with pytest.raises(cd.UnsupportedSchemaError, match=message):
            accepts(schema, "minimax_m3_xml", "")


def test_what_must_differ_is_compared_as_json_only() -> None:
    different = {"type": "object", "properties": {"t": {"type": "array", "items": {"type": "string"},
                                                       "uniqueItems": True}}}
    assert accepts(different, "qwen_xml", '<parameter=t>["a", "b"]</parameter>')
    assert not accepts(different, "qwen_xml", '<parameter=t>["a", "a"]</parameter>')
    assert accepts(different, "keywords", 't=["a", "b"]') and not accepts(different, "keywords", 't=["a", "\\u0061"]')
    members = {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}
    assert accepts(different, "pythonic", 't=["a", "b"]') and not accepts(different, "pythonic", 't=["a", "a"]')
    assert not accepts(different, "pythonic", "t=['a', 'b']")  # one spelling, so that equal ones are told
    anything = {"type": "object", "properties": {"t": {"type": "array", "uniqueItems": True}}}
    for style, schema in (("pythonic", anything), ("gemma", different), ("function_gemma", different),
                          ("cohere_xml", different), ("qwen_xml", members), ("gemma", members)):
        with pytest.raises(cd.UnsupportedSchemaError, match=r"must differ|minProperties"):
            accepts(schema, style, "")


def test_python_has_none_of_the_escapes_of_json_alone() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 1}, "t": {"type": "string"}}}
    assert accepts(schema, "pythonic", 's="/"') and accepts(schema, "keywords", 's="\\/"')
    assert not accepts(schema, "pythonic", 's="\\/"') and not accepts(schema, "pythonic", 't="\\/"')


HIDDEN: dict[str, Any] = {
    "type": "object", "required": ["a"], "additionalProperties": False, "properties": {
        "a": {"type": "string"}, "e": {"enum": ["x<|y", "z"]}, "n": {"type": "array", "items": {"type": "string"}},
        "p": {"type": "string", "pattern": "^<.*$"}, "<|": {"type": "integer"}}}


@pytest.mark.parametrize(("style", "texts"), [
    ("json", [('{"a": "hi"}', True), ('{"a": "h<|i"}', False), ('{"a": "<"}', True), ('{"a": "\\u003c|"}', True),
              ('{"a": "", "e": "z"}', True), ('{"a": "", "e": "x<|y"}', False), ('{"a": "", "n": ["<|"]}', False),
              ('{"a": "", "n": ["<", "|"]}', True), ('{"a": "", "p": "<|"}', True), ('{"a": "", "<|": 1}', False)]),
    ("qwen_xml", [("<parameter=a>hi</parameter>", True), ("<parameter=a>h<|i</parameter>", False),
                  ('<parameter=a>x</parameter><parameter=n>["<|"]</parameter>', False),
                  ('<parameter=a>x</parameter><parameter=n>["<"]</parameter>', True),
                  ("<parameter=a>x</parameter><parameter=<|>1</parameter>", False)]),
    ("kimi_k3_xml", [('<|open|>argument key="a" type="string"<|sep|>hi<|close|>argument<|sep|>', True),
                     ('<|open|>argument key="a" type="string"<|sep|>h<|i<|close|>argument<|sep|>', False)]),
    ("gemma", [('{a:<|"|>hi<|"|>}', True), ('{a:<|"|><|<|"|>}', False), ('{a:<|"|>hi<|"|>,n:[<|"|>x<|"|>]}', True)]),
])
def test_texts_that_stand_in_no_string(style: str, texts: list[tuple[str, bool]]) -> None:
    properties = {k: v for k, v in HIDDEN["properties"].items() if style != "gemma" or k != "<|"}
    form = {"type": "json_schema", "json_schema": {**HIDDEN, "properties": properties}, "style": style,
            "excludes": ["<|"]}
    theirs = xgrammar_takes(form)
    ours = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(form)
    for text, expected in texts:
        state = ours.advance(ours.start_state, text.encode())
        assert (bool(state) and ours.is_complete(state)) == expected, text
        assert theirs(text) == expected, text


def test_excluded_texts_beside_other_constraints() -> None:
    def holds(schema: Any, text: str) -> bool:
        form = {"type": "json_schema", "json_schema": schema, "excludes": ["ab"]}
        grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(form)
        state = grammar.advance(grammar.start_state, text.encode())
        return bool(state) and grammar.is_complete(state)

    short = {"type": "string", "maxLength": 3}
    assert holds(short, '"bab'[:3] + '"') and holds(short, '"\\u0061b"') and not holds(short, '"ab"')
    assert not holds(short, '"bbbb"') and holds(short, '"\\ud83d\\ude00bb"') and not holds(short, '"\\ud83d"')
    free = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert holds(free, '{"ba": 1}') and not holds(free, '{"cab": 1}')
    with pytest.raises(cd.ConstrainedError):  # it must stand under a name that cannot be written
        holds({"type": "object", "properties": {"ab": {}}, "required": ["ab"]}, "{}")


@pytest.mark.parametrize(("end", "texts"), [
    ("<c>x", [("a<c>x", True), ("<c>x", True), ("a<b<c>x", True), ("a<c>y<c>x", False), ("a<c><c>x", False)]),
    (["<c>x", "z"], [("a<c>x", True), ("az", True), ("azz", False), ("a<c>z", False)]),
])
def test_an_end_may_begin_with_what_is_excluded_before_it(end: Any, texts: list[tuple[str, bool]]) -> None:
    form = {"type": "tag", "begin": "", "content": {"type": "any_text", "excludes": ["<c>"]}, "end": end}
    theirs = xgrammar_takes(form)
    ours = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(form)
    for text, expected in texts:
        state = ours.advance(ours.start_state, text.encode())
        assert (bool(state) and ours.is_complete(state)) == expected, text
        assert theirs(text) == expected, text
