"""Requests as values: what is read, and what is refused with which field named. No model, no network."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("starlette", reason="the server is not installed: pip install 'constrained[server]'")

from constrained.server.chat_request import read_chat
from constrained.server.constraint import Constraint
from constrained.server.fields import Fields, parse_body
from constrained.server.formats import read_constraint
from constrained.server.messages import chat_messages
from constrained.server.problems import ApiError
from constrained.server.responses_request import read_responses
from constrained.server.settings import ServerSettings
from constrained.server.tools import read_tools

SETTINGS = ServerSettings()
USER = {"role": "user", "content": "Hi"}


def refused(call: Any, *arguments: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        call(*arguments)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize("body", [
    b"", b"[]", b"1", b"null", b"\xff\xfe{", b"[" * 100_000, b'{"a": NaN}', b'{"a": Infinity}', b'{"a": "\\ud800"}',
    b'{"a": ' + b"9" * 5_000 + b"}", b'{"a": 1} x'], ids=range(11))
def test_bodies_that_are_no_json_object(body: bytes) -> None:
    refused(parse_body, body)


def test_a_surrogate_pair_is_a_character() -> None:
    assert parse_body(b'{"a": "\\ud83d\\ude00"}').value == {"a": "\N{GRINNING FACE}"}


@pytest.mark.parametrize("key", ["guided_json", "guided_regex", "guided_choice", "json_schema", "schema", "format",
                                 "lark", "gbnf", "structural_tag", "constraint", "logits_processors", "chat_template",
                                 "grammar_lazy", "output_format"])
def test_fields_that_sound_like_a_constraint_are_not_ignored(key: str) -> None:
    error = refused(read_chat, Fields({"messages": [USER], key: {}}), SETTINGS)
    assert error.param == key and error.code == "unsupported_parameter"


@pytest.mark.parametrize("key", ["bad_words", "allowed_token_ids", "best_of", "echo", "n_predict", "repeat_penalty",
                                 "length_penalty", "max_new_tokens", "use_beam_search", "mirostat", "token_bias",
                                 "truncate_prompt_tokens", "web_search_options", "audio", "enable_thinking", "top_a",
                                 "prompt_logprobs"])
def test_fields_that_change_what_is_written_are_not_ignored(key: str) -> None:
    for value in (2, True, "x", [1]):
        error = refused(read_chat, Fields({"messages": [USER], key: value}), SETTINGS)
        assert error.param == key and error.code == "unsupported_parameter"


def test_fields_that_ask_for_nothing_are_no_error() -> None:
    off = {"use_beam_search": False, "echo": False, "best_of": 1, "suffix": "", "bad_words": [], "logit_bias_map": {}}
    read_chat(Fields({"messages": [USER], **off}), SETTINGS)
    for key in ("guided_json", "grammar_mode"):  # what sounds like a constraint is refused whatever it says
        refused(read_chat, Fields({"messages": [USER], key: False}), SETTINGS)


def test_other_unknown_fields_are_ignored() -> None:
    read_chat(Fields({"messages": [USER], "prediction": {"type": "content", "content": "x"}}), SETTINGS)
    read_chat(Fields({"messages": [USER], "store": True, "frobnicate": 1, "grammar": None}), SETTINGS)


@pytest.mark.parametrize(("body", "kind"), [
    ({"response_format": {"type": "text"}}, None),
    ({"response_format": {"type": "json_object"}}, "json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}, "json_schema"),
    ({"response_format": {"type": "structural_tag", "format": {"type": "any_text"}}}, "structural_tag"),
    ({"structured_outputs": {"json": {}}}, "json_schema"),
    ({"structured_outputs": {"json": "{}"}}, "json_schema"),
    ({"structured_outputs": {"json_object": True}}, "json_schema"),
    ({"structured_outputs": {"regex": "a"}}, "regex"),
    ({"structured_outputs": {"choice": ["a"]}}, "choice"),
    ({"structured_outputs": {"grammar": 'root ::= "a"'}}, "ebnf"),
    ({"structured_outputs": {"grammar": 'start: "a"'}}, "lark"),
    ({"regex": "a"}, "regex"), ({"ebnf": 'root ::= "a"'}, "ebnf"), ({"grammar": 'root ::= "a"'}, "ebnf"),
    ({"grammar": 'start: "a"'}, "lark"), ({"choice": ["a", "b"]}, "choice"), ({"choice": None, "grammar": None}, None),
    ({"structured_outputs": {"structural_tag": '{"type": "any_text"}'}}, "structural_tag"),
    ({"regex": "a"}, "regex"), ({"ebnf": 'root ::= "a"'}, "ebnf"), ({}, None)])
def test_constraints(body: dict[str, Any], kind: str | None) -> None:
    found = read_constraint(Fields(body), "line")
    assert (None if found is None else found.kind) == kind


@pytest.mark.parametrize(("body", "param"), [
    ({"response_format": {"type": "regex"}}, "response_format.type"),
    ({"response_format": {}}, "response_format.type"),
    ({"response_format": []}, "response_format"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
     "response_format.json_schema.schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": None}}},
     "response_format.json_schema.schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "grammar": 1}}},
     "response_format.json_schema.grammar"),
    ({"response_format": {"type": "json_object", "schema": {}}}, "response_format.schema"),
    ({"structured_outputs": {}}, "structured_outputs"),
    ({"structured_outputs": {"regex": "a", "json": {}}}, "structured_outputs"),
    ({"structured_outputs": {"regexp": "a"}}, "structured_outputs.regexp"),
    ({"structured_outputs": {"regex": "a", "whitespace_pattern": " "}}, "structured_outputs.whitespace_pattern"),
    ({"structured_outputs": {"choice": []}}, "structured_outputs"), ({"choice": []}, "choice"),
    ({"choice": "a"}, "choice"), ({"grammar": {}}, "grammar"), ({"grammar": "x", "choice": ["a"]}, "choice"),
    ({"structured_outputs": {"choice": ["a", 1]}}, "structured_outputs.choice"),
    ({"structured_outputs": {"json": "{"}}, "structured_outputs.json"),
    ({"structured_outputs": {"regex": "a"}, "response_format": {"type": "json_object"}}, "structured_outputs.regex"),
])
def test_wrong_constraints(body: dict[str, Any], param: str) -> None:
    if body == {"structured_outputs": {"choice": []}}:
        param = "structured_outputs.choice"
    assert refused(read_constraint, Fields(body), "line").param == param


def test_only_strict_false_relaxes() -> None:
    for strict, relax in ((None, False), (True, False), (False, True)):
        body = {"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "strict": strict}}}
        assert read_constraint(Fields(body), "line").relax is relax


def test_keys_of_constraints() -> None:
    one = Constraint("regex", "a", param="x")
    assert one.key == Constraint("regex", "a", param="y").key
    assert one.key != Constraint("ebnf", "a").key != Constraint("regex", "a", relax=True).key


def test_messages() -> None:
    found = chat_messages(Fields({"messages": [
        {"role": "developer", "content": "D"}, {"role": "user", "content": [{"type": "text", "text": "a"},
                                                                            {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": "r"}]}))
    assert [message["role"] for message in found] == ["system", "user", "assistant", "tool"]
    assert found[1]["content"] == "ab"
    assert found[2]["tool_calls"][0]["function"]["arguments"] == {"x": 1}


@pytest.mark.parametrize(("message", "param"), [
    ({"role": "root", "content": "x"}, "messages[0].role"), ({"content": "x"}, "messages[0].role"),
    ({"role": "user"}, "messages[0].content"), ({"role": "user", "content": 5}, "messages[0].content"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/"}}]},
     "messages[0].content[0].type"), ("x", "messages[0]")])
def test_wrong_messages(message: Any, param: str) -> None:
    assert refused(chat_messages, Fields({"messages": [message]})).param == param


def test_no_messages() -> None:
    assert refused(chat_messages, Fields({"messages": []})).param == "messages"
    assert refused(chat_messages, Fields({})).param == "messages"


@pytest.mark.parametrize(("field", "value"), [
    ("max_tokens", 10**18), ("max_tokens", -1), ("max_tokens", 0), ("max_tokens", "5"), ("max_tokens", True),
    ("temperature", -0.1), ("temperature", float("inf")), ("temperature", "hot"), ("top_p", 1.5), ("n", 0),
    ("n", 10**6), ("seed", 1.5), ("stop", [""]), ("stop", ["x"] * 10_000), ("stop", [1]), ("logit_bias", {"-1": 1}),
    ("logit_bias", {"x": 1}), ("logit_bias", {"1": 101}), ("logit_bias", [1]), ("top_k", -2), ("min_p", 2),
    ("presence_penalty", 3), ("stop_token_ids", ["a"]), ("stream", 1), ("top_logprobs", 3), ("logprobs", 5),
    ("stream_options", {"include_usage": True}), ("tools", {}), ("tool_choice", "required"), ("functions", [{}]),
    ("chat_template_kwargs", {"chat_template": "x"}), ("chat_template_kwargs", {"tokenize": True}),
    ("modalities", ["audio"]), ("reasoning_effort", 5)])
def test_wrong_values(field: str, value: Any) -> None:
    error = refused(read_chat, Fields({"messages": [USER], field: value}), SETTINGS)
    assert error.param is not None and error.param.startswith(field)


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize(("tools", "choice", "param"), [
    ([{"type": "web_search"}], None, "tools[0].type"),
    ([{"type": "function"}], None, "tools[0].function"),
    ([{"type": "function", "function": {}}], None, "tools[0].function.name"),
    ([{"type": "function", "function": {"name": "a b"}}], None, "tools[0].function.name"),
    ([{"type": "function", "function": {"name": "f", "schema": {}}}], None, "tools[0].function.schema"),
    ([{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}], None,
     "tools[0].function.parameters"),
    ([TOOL, TOOL], None, "tools[1].function.name"),
    ([TOOL], "sometimes", "tool_choice"), ([], "required", "tool_choice"),
    ([TOOL], {"type": "function", "function": {"name": "g"}}, "tool_choice.function.name"),
    ([TOOL], {"type": "allowed_tools", "allowed_tools": {"mode": "x", "tools": []}}, "tool_choice.allowed_tools.mode"),
    ([TOOL], {"type": "allowed_tools", "allowed_tools": {"tools": []}}, "tool_choice.allowed_tools.tools"),
    ([{"type": "custom", "custom": {"name": "c", "format": {"type": "grammar", "grammar": {
        "syntax": "bnf", "definition": "x"}}}}], None, "tools[0].custom.format.grammar.syntax")])
def test_wrong_tools(tools: Any, choice: Any, param: str) -> None:
    body = {"tools": tools, **({} if choice is None else {"tool_choice": choice})}
    assert refused(read_tools, Fields(body)).param == param


def test_tool_choices() -> None:
    assert read_tools(Fields({"tools": [TOOL], "tool_choice": "none"})) is None
    assert read_tools(Fields({})) is None
    found = read_tools(Fields({"tools": [TOOL]}))
    assert found is not None and found.choice == "auto" and found.template[0]["function"]["name"] == "f"
    flat = read_tools(Fields({"tools": [{"type": "function", "name": "f", "parameters": None, "strict": False}]}),
                      flat=True)
    assert flat is not None and flat.relaxed


@pytest.mark.parametrize(("body", "param"), [
    ({}, "input"), ({"input": []}, "input"), ({"input": [{"type": "image"}]}, "input[0].type"),
    ({"input": "x", "prompt": {"id": "p"}}, "prompt"), ({"input": "x", "truncation": "some"}, "truncation"),
    ({"input": "x", "text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
    ({"input": "x", "chat_template_kwargs": {"chat_template": "{{1/0}}"}}, "chat_template_kwargs.chat_template"),
    ({"input": "x", "grammar": "x"}, "grammar"), ({"input": "x", "response_format": {}}, "response_format"),
    ({"input": "x", "n": 2}, "n"), ({"input": "x", "max_tokens": 2}, "max_tokens")])
def test_wrong_responses(body: dict[str, Any], param: str) -> None:
    error = refused(read_responses, Fields(body), SETTINGS)
    assert error.param == param and ("text.format" in str(error)) == (param in ("grammar", "response_format") or
                                                                      param.startswith("text.format"))


def test_error_bodies() -> None:
    error = ApiError(429, "m" * 5000, param="p", code="c")
    body = json.loads(error.json())["error"]
    assert body["type"] == "rate_limit_error" and len(body["message"]) == 2000 and body["param"] == "p"
