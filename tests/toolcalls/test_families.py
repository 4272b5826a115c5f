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
    # IBM's Granite 4.0, LG's EXAONE 4, AI21's Jamba, Tencent's Hunyuan A13B, the Swiss Apertus
    ("granite4", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>', [PARIS]),
    ("exaone4", 'ok <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>', [PARIS]),
    ("jamba", '<tool_calls>[\n  {"name": "get_weather", "arguments": {"city": "Paris"}}\n]</tool_calls>', [PARIS]),
    ("hunyuan_a13b", '<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "now", '
                     '"arguments": {}}]</tool_calls>', [PARIS, ("now", {})]),
    ("apertus", '<|tools_prefix|>[{"get_weather": {"city": "Paris"}}, {"now": {}}]<|tools_suffix|>',
     [PARIS, ("now", {})]),
    # Ai2's Olmo 3: keywords with values as JSON, one call a line
    ("olmo3", 'Let me see. <function_calls>get_weather(city="Rome", days=2)\nnow()</function_calls>',
     [ROME, ("now", {})]),
    # SmolLM3's Python tools, which are called in code
    ("smollm3_python", "<code>\nget_weather(city='Rome', days=2)\nnow()\n</code>", [ROME, ("now", {})]),
    # StepFun's Step 3
    ("step3", '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
              '<steptml:parameter name="city">Rome</steptml:parameter><steptml:parameter name="days">2'
              "</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>", [ROME]),
    # Kimi K3's chat template; the prompt has opened the block of the response
    ("kimi_k3", 'ok<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
                '<|open|>argument key="city" type="string"<|sep|>Rome<|close|>argument<|sep|><|open|>argument '
                'key="days" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="now" '
                'index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
     [ROME, ("now", {})]),
    # MiniMax M3 and Cohere's Command with cofl: elements within elements
    ("minimax_m3", ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look">]<]minimax[>[<city>Paris]<]minimax[>['
                   "</city>]<]minimax[>[<near>]<]minimax[>[<lat>1.5]<]minimax[>[</lat>]<]minimax[>[</near>"
                   "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
     [("look", {"city": "Paris", "near": {"lat": 1.5}})]),
    ("cohere_xml", '<cofl:tool_calls><cofl:tool_call id="0" name="look"><cofl:value name="city" type="raw">"Paris" & '
                   '</cofl:value>\n<cofl:value name="near" type="dict">\n  <cofl:value name="lat" type="json">1.5'
                   "</cofl:value>\n</cofl:value></cofl:tool_call></cofl:tool_calls>",
     [("look", {"city": '"Paris" & ', "near": {"lat": 1.5}})]),
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
    ("apertus", '<|tools_prefix|>[{"nope": {}}]<|tools_suffix|>'),
    ("apertus", '<|tools_prefix|>[{"now": {}, "get_weather": {"city": "x"}}]<|tools_suffix|>'),
    ("olmo3", "<function_calls>get_weather(city='Rome')</function_calls>"),
    ("smollm3_python", "<code>\nprint(get_weather(city='Rome'))\n</code>"),
    ("kimi_k3", '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>'
                'argument key="city" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools'
                "<|sep|><|close|>message<|sep|>"),
    ("kimi_k3", "no end of the message<|close|>response<|sep|>"),
    ("minimax_m3", ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look">]<]minimax[>[<city>x]<]minimax[>[</town>'
                   "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"),
    ("cohere_xml", '<cofl:tool_calls><cofl:tool_call id="0" name="look"><cofl:value name="city" type="json">1'
                   "</cofl:value></cofl:tool_call></cofl:tool_calls>"),
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
        assert text.startswith(before) and "<" not in before and "]" not in before


@pytest.mark.parametrize(("family", "text"), BAD, ids=[f"{case[0]}-{i}" for i, case in enumerate(BAD)])
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


def read(family: str, text: str, tools: list[ToolSpec], **options: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """Thoughts, text and calls, the same however the bytes are cut."""
    data = text.encode()
    found = []
    for size in (1, 5, len(data)):
        parser = get_format(family).parser(tools, **options)
        events = [event for i in range(0, len(data), size) for event in parser.feed(data[i : i + size])]
        events += parser.finish()
        found.append(("".join(e.text for e in events if isinstance(e, ReasoningDelta)),
                      "".join(e.text for e in events if isinstance(e, TextDelta)),
                      [(e.name, json.loads(e.arguments)) for e in events if isinstance(e, ToolCallEnd)]))
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.parametrize(("mode", "text", "expected"), [
    ("opened", "hm<|close|>think<|sep|><|open|>response<|sep|>ok<|close|>response<|sep|><|close|>message<|sep|>",
     ("hm", "ok", [])),
    ("required", "<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>"
                 '<|open|>tools<|sep|><|open|>call tool="now" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
                 "<|close|>message<|sep|>", ("hm", "", [("now", {})])),
    ("optional", "ok<|close|>response<|sep|><|close|>message<|sep|>", ("", "ok", [])),
    (None, "<|open|>response<|sep|>ok<|close|>response<|sep|><|close|>message<|sep|>", ("", "ok", [])),
])
def test_kimi_k3_frames_the_whole_turn(mode: str | None, text: str, expected: Any) -> None:
    fmt = get_format("kimi_k3")
    assert fmt.whole_turn
    compiled = cd.GrammarCompiler(vocabulary(("<|open|>", "<|close|>", "<|sep|>"))).compile_structural_tag(
        fmt.structural_tag(TOOLS, thinking=mode))
    assert accepts(compiled, text)
    assert not accepts(compiled, text.removesuffix("<|close|>message<|sep|>"))
    assert read("kimi_k3", text, TOOLS, thinking=mode) == expected


def test_kimi_k3_reads_a_block_of_json() -> None:
    text = ('<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="look" index="1"<|sep|><|open|>json '
            'type="object"<|sep|>{"city": "<|close|>json<|sep|>"}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools'
            "<|sep|><|close|>message<|sep|>")
    assert read("kimi_k3", text, TOOLS) == ("", "", [("look", {"city": "<|close|>json<|sep|>"})])


def test_harmony_may_have_to_think_and_goes_on_with_an_opened_thought() -> None:
    fmt = get_format("harmony")
    thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    final = "<|channel|>final<|message|>ok<|return|>"
    compiler = cd.GrammarCompiler(vocabulary(()))
    required = compiler.compile_structural_tag(fmt.structural_tag(TOOLS, thinking="required"))
    assert accepts(required, thought + final) and not accepts(required, final)
    opened = compiler.compile_structural_tag(fmt.structural_tag(TOOLS, thinking="opened"))
    behind = thought.removeprefix("<|channel|>analysis<|message|>") + final
    assert accepts(opened, behind) and not accepts(opened, final)
    assert read("harmony", behind, TOOLS, thinking="opened") == ("hm", "ok", [])
    assert read("harmony", thought + final, TOOLS, thinking="required") == ("hm", "ok", [])


def test_built_in_tools_of_llama() -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tools = [ToolSpec("brave_search", None, schema), ToolSpec("look", None, schema)]
    fmt = get_format("llama3_json")
    compiled = cd.GrammarCompiler(vocabulary(("<|python_tag|>",))).compile_structural_tag(fmt.structural_tag(tools))
    for text, calls in (
            ('<|python_tag|>brave_search.call(query="a) \\"b\\"")', [("brave_search", {"query": 'a) "b"'})]),
            ('<|python_tag|>{"name": "look", "parameters": {"query": "x"}}', [("look", {"query": "x"})]),
            ('{"name": "brave_search", "parameters": {"query": "x"}}', [("brave_search", {"query": "x"})])):
        assert accepts(compiled, text)
        assert read("llama3_json", text, tools) == ("", "", calls)
    for text in ('<|python_tag|>look.call(query="x")', "<|python_tag|>brave_search.call()",
                 '<|python_tag|>brave_search(query="x")'):
        assert not accepts(compiled, text)
        read("llama3_json", text, tools)


def test_a_tool_of_minimax_m3_that_is_not_strict_takes_any_text() -> None:
    tools = [ToolSpec("look", None, CITY, strict=False)]
    fmt = get_format("minimax_m3")
    compiled = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(fmt.structural_tag(tools))
    mark = "]<]minimax[>["
    text = (f'{mark}<tool_call>\n{mark}<invoke name="look">{mark}<city>1{mark}</city>{mark}<days>two{mark}</days>'
            f"{mark}</invoke>\n{mark}</tool_call>")
    assert accepts(compiled, text)
    assert read("minimax_m3", text, tools) == ("", "", [("look", {"city": 1, "days": "two"})])
