"""The families that are known, one value each. The most general come first, so that the others are tried before."""

from __future__ import annotations

from constrained.toolcalls.formats import ToolFormat, register_format
from constrained.toolcalls.shapes import GemmaCalls, HarmonyCalls, JsonCalls, NamedCalls, PythonCalls, XmlCalls

__all__ = ["FAMILIES"]

_TOOL_CALL = ("<tool_call>", "</tool_call>")
_DEEPSEEK = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
_DEEPSEEK_TOKENS = (*_DEEPSEEK, "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>")

FAMILIES = (
    ToolFormat("json", JsonCalls("", "", arguments_key="arguments"), aliases=("generic",)),
    ToolFormat("llama3_json", JsonCalls("", "", arguments_key="parameters", other_begins=("<|python_tag|>",)),
               think=None, marks=("<|start_header_id|>", '"parameters"'), absent=("<|python_start|>",),
               tokens=("<|start_header_id|>", "<|eot_id|>", "<|python_tag|>"), aliases=("llama3", "llama3.1")),
    ToolFormat("llama3_pythonic", PythonCalls(), think=None, marks=("<|start_header_id|>", "func_name1("),
               aliases=("llama3.2", "llama_pythonic")),
    ToolFormat("llama4_pythonic", PythonCalls(), think=None, marks=("<|header_start|>",),
               tokens=("<|header_start|>", "<|eot|>"), aliases=("llama4",)),
    ToolFormat("gemma3_pythonic", PythonCalls(), think=None, marks=("<start_of_turn>",),
               absent=("<start_function_call>",), tokens=("<start_of_turn>", "<end_of_turn>"), aliases=("gemma3",)),
    ToolFormat("functiongemma", GemmaCalls(), think=None, marks=("<start_function_call>",),
               tokens=("<start_function_call>", "<end_function_call>", "<escape>")),
    ToolFormat("hermes", JsonCalls("<tool_call>\n", "\n</tool_call>", loose=True, any_order=True),
               marks=("<tool_call>", "FunctionCall"), aliases=("hermes2_pro", "hermes3")),
    ToolFormat("qwen3", JsonCalls("<tool_call>\n", "\n</tool_call>"), marks=("<tool_call>", "<|im_start|>"),
               tokens=_TOOL_CALL, aliases=("qwen2.5", "qwen2_5")),
    ToolFormat("smollm3", JsonCalls("<tool_call>\n", "\n</tool_call>"), marks=("xml_tools",)),
    ToolFormat("smollm2", JsonCalls("<tool_call>", "</tool_call>", listed=True, may_be_empty=True), think=None,
               marks=("<tool_call>[",)),
    ToolFormat("qwen3_coder", XmlCalls(), marks=("<tool_call>", "<function=", "<parameter="),
               aliases=("qwen3.5", "qwen3_5")),
    ToolFormat("mistral_v3", JsonCalls("[TOOL_CALLS]", "", listed=True, id_key="id"), think=("[THINK]", "[/THINK]"),
               marks=("[TOOL_CALLS]",), tokens=("[TOOL_CALLS]", "[AVAILABLE_TOOLS]"), aliases=("mistral",)),
    ToolFormat("mistral_v7", JsonCalls("[TOOL_CALLS]", "", listed=True, id_key="id"), think=("[THINK]", "[/THINK]"),
               marks=("[TOOL_CALLS]", "[SYSTEM_PROMPT]")),
    ToolFormat("mistral_v11", NamedCalls("[TOOL_CALLS]", "[ARGS]", "", id_mark="[CALL_ID]"),
               marks=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"), tokens=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]")),
    ToolFormat("mistral_v13", NamedCalls("[TOOL_CALLS]", "[ARGS]", ""), think=("[THINK]", "[/THINK]"),
               marks=("[TOOL_CALLS]", "[ARGS]"), absent=("[CALL_ID]",),
               tokens=("[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]")),
    ToolFormat("deepseek_v3", NamedCalls("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n",
                                         "\n```<｜tool▁call▁end｜>", section=_DEEPSEEK, separator="\n"),
               marks=(_DEEPSEEK[0], "```json"), tokens=_DEEPSEEK_TOKENS, aliases=("deepseek_r1",)),
    ToolFormat("deepseek_v3_1", NamedCalls("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>",
                                           section=_DEEPSEEK),
               marks=(_DEEPSEEK[0],), absent=("```json",), aliases=("deepseek_v3.1",)),
    ToolFormat("harmony", HarmonyCalls(), think=("<|channel|>analysis<|message|>", "<|end|>"),
               marks=("<|channel|>", "<|message|>"), tokens=("<|channel|>", "<|message|>", "<|call|>", "<|start|>"),
               aliases=("gpt_oss", "gpt-oss")),
    ToolFormat("phi4_functools", JsonCalls("functools", "", listed=True), think=None, marks=("functools[",)),
    ToolFormat("phi4", JsonCalls("<|tool_call|>", "<|/tool_call|>", listed=True, also_single=True), think=None,
               marks=("<|tool_call|>",), tokens=("<|tool_call|>", "<|/tool_call|>"), aliases=("phi4_mini",)),
    ToolFormat("command_r", JsonCalls("Action: ```json\n", "```", listed=True, name_key="tool_name",
                                      arguments_key="parameters"), think=None, marks=("Action: ```json",)),
    ToolFormat("command_r7b", JsonCalls("<|START_ACTION|>", "<|END_ACTION|>", listed=True, name_key="tool_name",
                                        arguments_key="parameters", id_key="tool_call_id", id_pattern="^[0-9]+$",
                                        id_first=True), think=("<|START_THINKING|>", "<|END_THINKING|>"),
               answer=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
               marks=("<|START_ACTION|>",), tokens=("<|START_ACTION|>", "<|END_ACTION|>"), aliases=("command_a",)),
)
"""Every built-in family."""

for _family in FAMILIES:
    register_format(_family)
