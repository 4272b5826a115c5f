"""The registry, the choice of tools, what the parser makes of text that no grammar held, and streaming."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from constrained.toolcalls import (
    FAMILIES,
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolFormat,
    ToolSpec,
    detect_format,
    format_names,
    get_format,
    register_format,
)
from constrained.toolcalls.shapes import NamedCalls, XmlCalls
from tests.toolcalls.rendering import CITY, SCHEMAS, render
from tests.toolcalls.worlds import vocabulary

TOOLS = [ToolSpec(name, None, schema) for name, schema in SCHEMAS.items()]
QWEN = get_format("qwen3")

TEMPLATES = {
    "qwen3": "<|im_start|>assistant\n<tool_call>\n{\"name\": ...}\n</tool_call><|im_end|>",
    "qwen3_coder": "<|im_start|><tool_call>\n<function=' + name + '>\n<parameter=",
    "llama3_json": '<|start_header_id|>assistant {"name": "f", "parameters": {}}',
    "llama4_pythonic": "<|header_start|>assistant",
    "mistral_v3": "[AVAILABLE_TOOLS][TOOL_CALLS][",
    "mistral_v7": "[SYSTEM_PROMPT][/SYSTEM_PROMPT][TOOL_CALLS]",
    "mistral_v13": "[SYSTEM_PROMPT][TOOL_CALLS]f[ARGS]{}",
    "mistral_v11": "[TOOL_CALLS]f[CALL_ID]1[ARGS]{}",
    "deepseek_v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n",
    "deepseek_v3_1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>",
    "harmony": "<|start|>assistant<|channel|>commentary<|message|>",
    "gemma3_pythonic": "<start_of_turn>model",
    "functiongemma": "<start_of_turn>model<start_function_call>call:",
    "smollm2": "<|im_start|>assistant <tool_call>[{",
    "smollm3": "<|im_start|>{% if xml_tools %}<tool_call>",
    "phi4": "<|tool|><|/tool|><|tool_call|>",
    "command_r": "<|START_OF_TURN_TOKEN|>Action: ```json\n[",
    "command_r7b": "<|START_ACTION|>[<|END_ACTION|>",
    "json": "### Assistant:",
    "gemma4": "<|turn>model\n<|tool_call>call:{{ name }}{{{ key }}:<|\"|>{{ value }}<|\"|>}<tool_call|>",
    "lfm2": "<|im_start|>assistant\n<|tool_call_start|>[{{ calls }}]<|tool_call_end|>",
    "granite3": "<|start_of_role|>assistant<|end_of_role|><|tool_call|>",
    "granite3_1": "<|start_of_role|>assistant<|end_of_role|><tool_call>[",
    "longcat": "<longcat_tool_call>\n{{ call }}\n</longcat_tool_call>",
    "mimo": "<|im_start|>assistant\n<tool_call><function={{ name }}><parameter={{ key }}>",
    "seed_oss": "<seed:tool_call>\n<function={{ name }}>\n<parameter={{ key }}>",
    "glm4_5": "<|assistant|>\n<tool_call>{{ name }}\n<arg_key>{{ k }}</arg_key>\n<arg_value>{{ v }}</arg_value>",
    "glm4_7": "<|assistant|><tool_call>{{ name }}<arg_key>{{ k }}</arg_key><arg_value>{{ v }}</arg_value>",
    "minimax_m2": "]~b]ai\n<minimax:tool_call>\n<invoke name=\"{{ name }}\">\n<parameter name=\"{{ k }}\">",
    "deepseek_v3_2": "<｜Assistant｜><｜DSML｜function_calls>\n<｜DSML｜invoke name=",
    "deepseek_v4": "<｜Assistant｜><｜DSML｜tool_calls>\n<｜DSML｜invoke name=",
    "deepseek_v4_1": "<｜Assistant｜><｜DSML｜ calls>\n<｜DSML｜ invoke name=",
    "granite4": "<|start_of_role|>assistant<|end_of_role|><tool_call>\n{{ call }}\n</tool_call>",
    "jamba": "<|bom|><|assistant|> <tool_calls>[{{ calls }}]</tool_calls><|eom|>",
    "hunyuan_a13b": "<|startoftext|>{{ content }}<tool_calls>[{{ calls }}]</tool_calls><|extra_0|>",
    "apertus": "<|assistant_start|><|tools_prefix|>[{{ calls }}]<|tools_suffix|>",
    "exaone4": "[|assistant|]\n<tool_call>{{ call }}</tool_call>[|endofturn|]",
    "olmo3": "<|im_start|>system\n<functions>{{ tools }}</functions><|im_end|><function_calls>{{ f }}</function_calls>",
    "smollm3_python": "<|im_start|>{% if python_tools %}<code>{{ code }}</code>",
    "step3": "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=",
    "minimax_m3": "]~b]ai\n{%- set ns_token = ']<]minimax[>[' -%}{{ ns_token + '<tool_call>' }}",
    "cohere_xml": "<|START_THINKING|><|END_THINKING|><cofl:tool_calls><cofl:tool_call id=",
    "kimi_k3": "{{ '<|open|>' + tag + '<|sep|>' }}{{ '<|close|>' + tag + '<|sep|>' }}",
    "kimi_k2": "<|im_assistant|>assistant<|im_middle|><|tool_calls_section_begin|><|tool_call_begin|>",
}


@pytest.mark.parametrize("family", TEMPLATES)
def test_families_are_known_by_their_templates(family: str) -> None:
    assert detect_format(TEMPLATES[family]).name == family


def test_families_are_known_by_their_tokens() -> None:
    assert detect_format(None, ["<tool_call>", "</tool_call>", "<think>"]).name == "qwen3"
    assert detect_format("", ["<|channel|>", "<|message|>", "<|call|>", "<|start|>"]).name == "harmony"
    assert detect_format(None).name == "json"
    assert detect_format("something else", ["[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"]).name == "mistral_v13"


def test_the_registry() -> None:
    assert {fmt.name for fmt in FAMILIES} <= set(format_names())
    assert get_format("qwen2.5") is QWEN
    with pytest.raises(cd.ConstrainedError, match="unknown tool format"):
        get_format("nope")
    with pytest.raises(cd.ConstrainedError, match="already called"):
        register_format(ToolFormat("qwen3", QWEN.calls))
    mine = register_format(ToolFormat("mine", NamedCalls("<call>", ": ", "</call>"), marks=("<call>",)), overwrite=True)
    assert detect_format("<call>x") is mine
    parser = mine.parser(TOOLS)
    events = parser.feed(b'a<call>now: {}</call>')
    assert [type(event) for event in events] == [TextDelta, ToolCallStart, ArgumentsDelta, ToolCallEnd]


@pytest.mark.parametrize(("choice", "names", "text"), [
    ("auto", set(SCHEMAS), True), ("required", set(SCHEMAS), False), ("none", set(), True),
    ({"type": "function", "function": {"name": "get"}}, {"get"}, False),
    ({"type": "function", "name": "get"}, {"get"}, False),
    ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
        {"type": "function", "function": {"name": "now"}}, {"type": "function", "function": {"name": "get"}}]}},
     {"now", "get"}, True),
    ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "now"}]}, {"now"}, False),
    (["now", "get"], {"now", "get"}, False),
])
@pytest.mark.parametrize("family", ["qwen3", "hermes", "mistral_v3", "deepseek_v3", "llama3_pythonic", "harmony"])
def test_choices(family: str, choice: Any, names: set[str], text: bool) -> None:
    fmt = get_format(family)
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(
        fmt.structural_tag(TOOLS, tool_choice=choice, parallel_tool_calls=True))

    def accepts(data: str) -> bool:
        state = grammar.advance(grammar.start_state, data.encode())
        return bool(state) and grammar.is_complete(state)

    arguments: dict[str, dict[str, Any]] = {"get_weather": {"city": "x"}, "get": {}, "search.web": {"query": "x"},
                                            "now": {}}
    for name, values in arguments.items():
        assert accepts(render(family, [(name, values)])) == (name in names), name
    plain = "<|channel|>final<|message|>hello<|return|>" if family == "harmony" else "hello"
    assert accepts(plain) == text
    single = isinstance(choice, dict) and choice["type"] == "function"
    one = sorted(names)[:1]
    if one:
        assert accepts(render(family, [(one[0], arguments[one[0]])] * 2)) == (not single)
        tag = fmt.structural_tag(TOOLS, tool_choice=choice, parallel_tool_calls=False)
        grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(tag)
        assert accepts(render(family, [(one[0], arguments[one[0]])]))
        assert not accepts(render(family, [(one[0], arguments[one[0]])] * 2))


ANSWERS = {"harmony": "<|channel|>final<|message|>{}<|return|>",
           "command_r7b": "<|START_RESPONSE|>{}<|END_RESPONSE|>"}
"""What stands around an answer, where anything does."""


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("choice", ["auto", "none", "required"])
@pytest.mark.parametrize("family", ["qwen3", "hermes", "mistral_v3", "llama3_pythonic", "harmony", "command_r7b"])
def test_answers_of_a_format(family: str, choice: str, parallel: bool) -> None:
    fmt = get_format(family)
    framed = ANSWERS.get(family, "{}")
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(fmt.structural_tag(
        TOOLS, tool_choice=choice, parallel_tool_calls=parallel, answer={"type": "regex", "pattern": "[0-9]{2}"}))

    def accepts(data: str) -> bool:
        state = grammar.advance(grammar.start_state, data.encode())
        return bool(state) and grammar.is_complete(state)

    assert accepts(framed.format("42")) == (choice != "required")
    assert not accepts(framed.format("4")) and not accepts(framed.format("hello")) and not accepts("")
    calls = render(family, [("get", {})])
    assert accepts(calls) == (choice != "none")
    assert not accepts(calls + framed.format("42")) and not accepts(framed.format("42") + calls)
    assert accepts(render(family, [("get", {}), ("now", {})])) == (choice != "none" and parallel)
    if choice == "required":
        return
    parser = fmt.parser(TOOLS, tool_choice=choice)
    events = [*parser.feed(framed.format("42").encode()), *parser.finish()]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "42"
    assert all(isinstance(event, TextDelta) for event in events)


def test_harmony_thinks_before_an_answer_of_a_format() -> None:
    fmt = get_format("harmony")
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(fmt.structural_tag(
        (), thinking=True, answer={"type": "regex", "pattern": "[0-9]{2}"}))

    def accepts(data: str) -> bool:
        state = grammar.advance(grammar.start_state, data.encode())
        return bool(state) and grammar.is_complete(state)

    thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    final = ANSWERS["harmony"].format("42")
    assert accepts(final) and accepts(thought + final) and accepts(thought * 2 + final)
    assert not accepts(thought) and not accepts(final + "<|start|>assistant" + final)
    comment = "<|channel|>commentary<|message|>So:<|end|><|start|>assistant"
    assert not accepts(comment + final)  # it would be a part of the answer's text
    parser = fmt.parser((), thinking=True)
    events = [*parser.feed((thought + final).encode()), *parser.finish()]
    assert [(type(event), event.text) for event in events] == [(ReasoningDelta, "hm"), (TextDelta, "42")]


@pytest.mark.parametrize(("choice", "message"), [
    ("maybe", "unknown tool_choice"), ({"type": "x"}, "unknown type"),
    ({"type": "function", "function": {"name": "x"}}, "no tool"),
    ([], "no tool is allowed"), (["x"], "no tool"), (3, "is a str"), ({"type": "allowed_tools"}, "allowed tools are"),
])
def test_wrong_choices(choice: Any, message: str) -> None:
    with pytest.raises(cd.GrammarError, match=message):
        QWEN.structural_tag(TOOLS, tool_choice=choice)


def test_wrong_tools() -> None:
    for wrong in ({"type": "function"}, 3, {"function": {"name": "a b"}}):
        with pytest.raises(cd.GrammarError):
            QWEN.structural_tag([wrong])
    with pytest.raises(cd.GrammarError, match="two tools"):
        QWEN.structural_tag([ToolSpec("f"), ToolSpec("f")])
    with pytest.raises(cd.SchemaError, match="'f'"):
        ToolSpec("f", None, {"type": "array"})
    with pytest.raises(cd.GrammarError, match="Python"):
        get_format("llama3_pythonic").structural_tag([ToolSpec("a-b")])
    with pytest.raises(cd.GrammarError, match="think section"):
        get_format("phi4").structural_tag(TOOLS, thinking=True)
    with pytest.raises(cd.GrammarError, match="needs a tool"):
        QWEN.structural_tag([], tool_choice="required")


@pytest.mark.parametrize("family", sorted(fmt.name for fmt in FAMILIES))
def test_one_broken_tool_among_many_names_itself(family: str) -> None:
    tools = [ToolSpec(f"f{i}", None, CITY) for i in range(30)]
    tools[17] = ToolSpec("f17", None, {
        "type": "object", "properties": {"a": {"type": "array", "items": {"type": "strnig"}}}})
    with pytest.raises(cd.SchemaError) as caught:
        cd.GrammarCompiler(vocabulary(())).compile_structural_tag(get_format(family).structural_tag(tools))
    assert "f17" in str(caught.value) and caught.value.pointer.endswith("/properties/a/items/type")


def test_dicts_of_a_chat_request_and_loose_tools() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": CITY, "strict": False}}, {"name": "g"}]
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(QWEN.structural_tag(tools))
    for name, arguments, fits in (("f", {"anything": [1]}, True), ("g", {}, True), ("g", {"a": 1}, False)):
        data = render("qwen3", [(name, arguments)]).encode()
        state = grammar.advance(grammar.start_state, data)
        assert (bool(state) and grammar.is_complete(state)) == fits


def test_arguments_stream() -> None:
    parser = QWEN.parser(TOOLS)
    assert parser.feed(b'Hi <tool') == [TextDelta("Hi ")]
    assert parser.feed(b'_call>\n{"name": "get_weather", "arguments": {"ci') == [
        ToolCallStart(0, "get_weather"), ArgumentsDelta(0, '{"ci')]
    assert parser.feed('ty": "é'.encode()[:-1]) == [ArgumentsDelta(0, 'ty": "')]
    assert parser.feed('é'.encode()[-1:]) == [ArgumentsDelta(0, "é")]
    assert parser.feed(b'</tool_call>"}}\n</tool_call>') == [
        ArgumentsDelta(0, '</tool_call>"}'), ToolCallEnd(0, "get_weather", '{"city": "é</tool_call>"}')]
    assert parser.feed(b"\n\n") == [] and parser.finish() == []
    with pytest.raises(cd.ConstrainedError, match="finished"):
        parser.feed(b"x")
    with pytest.raises(cd.ConstrainedError, match="bytes"):
        QWEN.parser(TOOLS).feed("text")  # type: ignore[arg-type]


@pytest.mark.parametrize(("family", "begin", "end"), [
    ("qwen3_coder", "<tool_call>\n<function=get>\n<parameter=url>\n", "\n</parameter>\n</function>\n</tool_call>"),
    ("functiongemma", "<start_function_call>call:get{url:<escape>", "<escape>}<end_function_call>"),
])
def test_raw_strings_stream(family: str, begin: str, end: str) -> None:
    parser = get_format(family).parser(TOOLS)
    parser.feed(begin.encode())
    given = ""
    for part in ('a"', "b\n", "\nc", "\\é", "</para"):
        events = parser.feed(part.encode())
        given += "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
    assert "b" in given and "é" in given
    events = parser.feed(end.encode())
    assert json.loads(next(event.arguments for event in events if isinstance(event, ToolCallEnd))) == {
        "url": 'a"b\n\nc\\é</para'}


def test_what_stands_around_calls_and_answers() -> None:
    def accepts(fmt: ToolFormat, text: str, **options: Any) -> bool:
        grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(fmt.structural_tag(TOOLS, **options))
        state = grammar.advance(grammar.start_state, text.encode())
        return bool(state) and grammar.is_complete(state)

    llama, cohere = get_format("llama3_json"), get_format("command_r7b")
    text = '<|python_tag|>{"name": "now", "parameters": {}}'
    parser = llama.parser(TOOLS)
    assert accepts(llama, text) and accepts(llama, text, tool_choice="required")
    assert [type(event) for event in parser.feed(text.encode()) + parser.finish()] == [
        ToolCallStart, ArgumentsDelta, ToolCallEnd]
    text = "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>"
    parser = cohere.parser(TOOLS, thinking="required")
    assert accepts(cohere, text, thinking="required") and not accepts(cohere, text)
    assert accepts(cohere, "Hello.") and accepts(cohere, "<|START_RESPONSE|>x<|END_RESPONSE|>", tool_choice="none")
    assert not accepts(cohere, "<|START_RESPONSE|>x") and not accepts(cohere, "a<|START_RESPONSE|>")
    assert parser.feed(text.encode()) + parser.finish() == [ReasoningDelta("hm"), TextDelta("Hello.")]


def test_reasoning() -> None:
    parser = QWEN.parser(TOOLS, thinking="optional")
    events = parser.feed(b"<think>\nwell") + parser.feed(b", <tool_call></thi") + parser.feed(b"nk>\n\nHello")
    events += parser.finish()
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "\nwell, <tool_call>"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello"
    parser = QWEN.parser(TOOLS, thinking={"prompt": "...<think>\n"})
    assert parser.feed(b"hm</think>ok") == [ReasoningDelta("hm"), TextDelta("ok")]
    events = QWEN.parser(TOOLS).feed(b"<think>no section</think>")
    assert events == [TextDelta("<think>no section</think>")]


@pytest.mark.parametrize("text", [
    "<tool_call>", "<tool_call>\n", "<tool_call>no", '<tool_call>\n{"name": 3}', '<tool_call>\n{"nam',
    "<tool_call>\n{}\n</tool_call>",
    '<tool_call>\n[{"name": "f"}]', "a <tool_call><tool_call>b", '<tool_call>\n{"name": "f", "arguments"}',
])
def test_what_is_no_call_is_text(text: str) -> None:
    for cut in (1, 3, 1000):
        parser = QWEN.parser(TOOLS)
        events = []
        for at in range(0, len(text), cut):
            events += parser.feed(text[at : at + cut].encode())
        events += parser.finish()
        assert all(isinstance(event, TextDelta) for event in events)
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_calls_go_on_after_something_broken() -> None:
    text = 'x <tool_call>oops <tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    parser = QWEN.parser(TOOLS)
    events = parser.feed(text.encode()) + parser.finish()
    assert [event.name for event in events if isinstance(event, ToolCallEnd)] == ["now"]
    parser = QWEN.parser(TOOLS)
    events = parser.feed(b'<tool_call>\n{"name": "get", "arguments": {"url": "a') + parser.finish()
    assert [type(event) for event in events] == [ToolCallStart, ArgumentsDelta]


def test_long_texts_are_forgotten() -> None:
    parser = QWEN.parser(TOOLS)
    for _ in range(60):
        parser.feed(b"x" * 5000)
    assert len(parser._source.data) < 1 << 17
    data = render("qwen3", [("get", {"url": "y" * 300_000})]).encode()
    events = parser.feed(data)
    ended = [event for event in events if isinstance(event, ToolCallEnd)]
    assert json.loads(ended[0].arguments) == {"url": "y" * 300_000}


def test_a_format_of_kimis_elements() -> None:
    """The reader takes the types that the elements name; an integer may be called one."""
    fmt = ToolFormat("kimi elements", XmlCalls('<|open|>call tool="', "", '"<|sep|>', "<|close|>call<|sep|>", "",
                                               "kimi_k3_xml"))
    tool = ToolSpec("f", None, {"type": "object", "properties": {"a": {"type": ["string", "integer"]},
                                                                "b": {"type": "array"}}})
    written = ('<|open|>call tool="f"<|sep|><|open|>argument key="a" type="{}"<|sep|>{}<|close|>argument<|sep|>'
               '<|open|>argument key="b" type="array"<|sep|>[1, "x"]<|close|>argument<|sep|><|close|>call<|sep|>')
    for kind, value, expected in (("string", "3", "3"), ("number", "3", 3), ("integer", "3", 3)):
        parser = fmt.parser([tool])
        events = [*parser.feed(written.format(kind, value).encode()), *parser.finish()]
        (end,) = [event for event in events if isinstance(event, ToolCallEnd)]
        assert json.loads(end.arguments) == {"a": expected, "b": [1, "x"]}
    tag = fmt.structural_tag([tool], tool_choice="required")
    compiled = cd.GrammarCompiler(vocabulary(("<|open|>", "<|close|>", "<|sep|>"))).compile_structural_tag(tag)
    for kind, fits in (("string", True), ("number", True), ("integer", False)):
        matcher = cd.GrammarMatcher(compiled)
        assert (matcher.accept_string(written.format(kind, "3")) and matcher.is_completed()) == fits


def test_tools_that_take_text_in_harmony() -> None:
    """The message is the input, whatever it looks like, however it is cut; other tools have arguments as ever."""
    text = 'say "<|end|>"\n\\ {"a": 1} 😀'
    tools = [ToolSpec("t", text={"type": "const_string", "value": text}), ToolSpec("get_weather", None, CITY)]
    fmt = get_format("harmony")
    compiled = cd.GrammarCompiler(vocabulary(("<|channel|>", "<|message|>", "<|call|>", "<|start|>"))
                                  ).compile_structural_tag(fmt.structural_tag(tools, tool_choice="required"))
    for head in ("<|channel|>commentary to=functions.t<|message|>", " to=functions.t<|channel|>commentary<|message|>"):
        data = f"{head}{text}<|call|>"
        matcher = cd.GrammarMatcher(compiled)
        assert matcher.accept_string(data) and matcher.is_completed()
        data += '<|start|>assistant<|channel|>commentary to=functions.get_weather json<|message|>{"city": "x"}<|call|>'
        for size in (1, 7, 1000):
            parser = fmt.parser(tools)
            raw = data.encode()
            events = [event for i in range(0, len(raw), size) for event in parser.feed(raw[i : i + size])]
            events += parser.finish()
            ends = [(event.name, json.loads(event.arguments)) for event in events if isinstance(event, ToolCallEnd)]
            assert ends == [("t", {"input": text}), ("get_weather", {"city": "x"})]
            pieces = "".join(event.text for event in events if isinstance(event, ArgumentsDelta) and event.index == 0)
            assert json.loads(pieces) == {"input": text}


@pytest.mark.parametrize("tools", [None, 5, "f", b"f", {"name": "f"}, ToolSpec("f")], ids=repr)
def test_tools_that_are_no_list(tools: Any) -> None:
    with pytest.raises(cd.GrammarError, match="tools are a list"):
        QWEN.structural_tag(tools)
    with pytest.raises(cd.GrammarError, match="tools are a list"):
        QWEN.parser(tools)
