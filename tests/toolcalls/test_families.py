"""Families by example: texts as their models' templates and guides write them, and texts that look like them.

Each is read by hand from the source that is named; the calls are said beside it, so that grammar and parser are held to
both. What the parser makes of them must not depend on how the bytes are cut.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from constrained.toolcalls import ReasoningDelta, TextDelta, ToolCallEnd, ToolSpec, get_format
from tests.toolcalls.rendering import CITY
from tests.toolcalls.worlds import vocabulary

PLACE: dict[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["city"],
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                   "near": {"type": "object", "properties": {"lat": {"type": "number"}}, "additionalProperties": False},
                   "unit": {"enum": ["C", "F"]}}}
TOOLS = [ToolSpec("get_weather", None, CITY), ToolSpec("look", None, PLACE), ToolSpec("now")]
PARIS: Any = ("get_weather", {"city": "Paris"})
ROME: Any = ("get_weather", {"city": "Rome", "days": 2})

GOOD: list[tuple[str, str, list[tuple[str, Any]]]] = [
    # Gemma 4's chat template, and "Prompt formatting" of Google's guide to it
    ("gemma4", '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>', [PARIS]),
    ("gemma4", 'ok<|tool_call>call:look{city:<|"|>a "b" {c}<|"|>,days:2,near:{lat:1.5}}<tool_call|>'
               '<|tool_call>call:now{}<tool_call|>',
     [("look", {"city": 'a "b" {c}', "days": 2, "near": {"lat": 1.5}}), ("now", {})]),
    # Kimi K2, "Tool call guidance"
    ("kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
                '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>', [PARIS]),
    ("kimi_k2", "hm<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
                '{"city": "Rome", "days": 2}<|tool_call_end|><|tool_call_begin|>functions.now:1'
                "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", [ROME, ("now", {})]),
    # GLM 4.5's and 4.7's chat templates
    ("glm4_5", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n"
               "<arg_value>2</arg_value>\n</tool_call>", [ROME]),
    ("glm4_7", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value><arg_key>days</arg_key>"
               "<arg_value>2</arg_value></tool_call><tool_call>now</tool_call>", [ROME, ("now", {})]),
    # MiniMax M2, "Tool calling guide"
    ("minimax_m2", '<minimax:tool_call>\n<invoke name="look">\n<parameter name="city">Paris</parameter>\n'
                   '<parameter name="near">{"lat": 2}</parameter>\n</invoke>\n</minimax:tool_call>',
     [("look", {"city": "Paris", "near": {"lat": 2}})]),
    # Seed-OSS' and MiMo's chat templates
    ("seed_oss", "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Rome</parameter>\n<parameter=days>2"
                 "</parameter>\n</function>\n</seed:tool_call>", [ROME]),
    ("mimo", "<tool_call><function=get_weather><parameter=city>Rome</parameter><parameter=days>2</parameter>"
             "</function></tool_call>", [ROME]),
    # DeepSeek 3.2 and 4, "encoding"
    ("deepseek_v3_2", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n<｜DSML｜parameter name="city" '
                      'string="true">12</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">12'
                      "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
     [("look", {"city": "12", "days": 12})]),
    ("deepseek_v4", '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
     [("now", {})]),
    ("deepseek_v4_1", '<｜DSML｜ calls>\n<｜DSML｜ invoke name="get_weather">\n<｜DSML｜ parameter name="city" '
                      'string="true">\nParis\n</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>',
     [("get_weather", {"city": "\nParis\n"})]),  # what stands between the tags is the string, line ends and all
    # LFM2's chat template
    ("lfm2", "Let me see. <|tool_call_start|>[get_weather(city='Rome', days=2), now()]<|tool_call_end|>",
     [ROME, ("now", {})]),
    # IBM's Granite 3.0 and 3.1
    ("granite3", '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]', [PARIS]),
    ("granite3_1", '<tool_call>[{"name": "get_weather", "arguments": {"city": "Paris"}}]', [PARIS]),
    ("longcat", '<longcat_tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</longcat_tool_call>',
     [PARIS]),
]
BAD = [
    ("gemma4", '<|tool_call>call:look{days:<|"|>2<|"|>}<tool_call|>'),
    ("gemma4", '<|tool_call>call:get_weather{city:Paris}<tool_call|>'),
    ("kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.now<|tool_call_argument_begin|>{}"
                "<|tool_call_end|><|tool_calls_section_end|>"),
    ("kimi_k2", "<|tool_calls_section_begin|><|tool_calls_section_end|>"),
    ("glm4_7", "<tool_call>get_weather<arg_key>town</arg_key><arg_value>Rome</arg_value></tool_call>"),
    ("glm4_7", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value><arg_key>days</arg_key>"
               "<arg_value>two</arg_value></tool_call>"),
    ("minimax_m2", '<minimax:tool_call>\n<invoke name="nope">\n</invoke>\n</minimax:tool_call>'),
    ("deepseek_v3_2", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n<｜DSML｜parameter name="city" '
                      'string="false">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'),
    ("lfm2", "<|tool_call_start|>[get_weather(town='Rome')]<|tool_call_end|>"),
    ("granite3", '<|tool_call|>[{"name": "nope", "arguments": {}}]'),
]


def accepts(compiled: cd.CompiledGrammar, text: str) -> bool:
    state = compiled.advance(compiled.start_state, text.encode())
    return bool(state) and compiled.is_complete(state)


@pytest.mark.parametrize(("family", "text", "calls"), GOOD, ids=[f"{case[0]}-{i}" for i, case in enumerate(GOOD)])
def test_calls(family: str, text: str, calls: list[tuple[str, Any]]) -> None:
    fmt = get_format(family)
    compiled = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(fmt.structural_tag(TOOLS))
    assert accepts(compiled, text)
    for size in (1, 7, len(text.encode())):
        parser = fmt.parser(TOOLS)
        data = text.encode()
        events = [event for i in range(0, len(data), size) for event in parser.feed(data[i : i + size])]
        events += parser.finish()
        assert [(e.name, json.loads(e.arguments)) for e in events if isinstance(e, ToolCallEnd)] == calls
        before = "".join(e.text for e in events if isinstance(e, TextDelta))
        assert text.startswith(before) and "<" not in before


@pytest.mark.parametrize(("family", "text"), BAD)
def test_what_is_no_call(family: str, text: str) -> None:
    compiled = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(get_format(family).structural_tag(TOOLS))
    assert not accepts(compiled, text)
    parser = get_format(family).parser(TOOLS)
    parser.feed(text.encode())  # whatever it is, reading it raises nothing
    parser.finish()


@pytest.mark.parametrize(("family", "quotes"), [
    ("functiongemma", ("<escape>",)), ("gemma4", ('<|"|>',)),
    ("glm4_5", ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"))])
def test_delimiters_within_arguments_are_tokens_too(family: str, quotes: tuple[str, ...]) -> None:
    fmt = get_format(family)
    whole = {"functiongemma": "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>",
             "gemma4": '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
             "glm4_5": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
                      "</tool_call>"}[family]
    for special, added in ((quotes, ()), ((), quotes)):
        info = vocabulary(special, added)
        compiled = cd.GrammarCompiler(info).compile_structural_tag(fmt.structural_tag(TOOLS, tool_choice="required"))
        matcher = cd.GrammarMatcher(compiled)
        text = whole
        while text:
            quote = next((quote for quote in quotes if text.startswith(quote)), None)
            token = info.token_ids_by_text[quote][0] if quote else text.encode()[0]
            assert token in matcher.allowed_token_ids() and matcher.accept_token(token)
            text = text[len(quote) if quote else 1 :]
        assert matcher.is_completed()


def test_gemma_4_thinks_in_a_channel() -> None:
    fmt = get_format("gemma4")
    tag = fmt.structural_tag(TOOLS, thinking="optional")
    text = '<|channel>thought\nhm\n<channel|><|tool_call>call:now{}<tool_call|>'
    assert accepts(cd.GrammarCompiler(vocabulary(())).compile_structural_tag(tag), text)
    parser = fmt.parser(TOOLS, thinking="optional")
    events = parser.feed(text.encode()) + parser.finish()
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == "hm\n"
    assert [e.name for e in events if isinstance(e, ToolCallEnd)] == ["now"]
