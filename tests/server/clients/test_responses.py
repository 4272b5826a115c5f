# ruff: noqa: E402 - imports follow pytest.importorskip
"""The Responses API and tool calls through the ``openai`` package."""

from __future__ import annotations

import json

import pytest

openai = pytest.importorskip("openai", reason="the clients are not installed: pip install 'constrained[clients]'")

from tests.server.clients.cases import QUESTION, Person

WEATHER = {"name": "get_weather", "description": "Current weather for a city.", "strict": True, "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20}, "unit": {"enum": ["C", "F"]}},
    "required": ["city", "unit"], "additionalProperties": False}}
TIME = {"name": "get_time", "parameters": {"type": "object", "properties": {"zone": {"enum": ["UTC", "CET"]}},
                                           "required": ["zone"], "additionalProperties": False}}
CHAT_TOOLS = [{"type": "function", "function": WEATHER}, {"type": "function", "function": TIME}]
FLAT_TOOLS = [{"type": "function", **WEATHER}, {"type": "function", **TIME, "strict": True}]
ASK = [{"role": "user", "content": "What is the weather in Paris?"}]


@pytest.fixture
def client(smollm2):
    with openai.OpenAI(base_url=f"{smollm2.url}/v1", api_key="none", max_retries=0, timeout=120) as made:
        yield made


def check(name: str, arguments: str) -> None:
    value = json.loads(arguments)
    if name == "get_weather":
        assert set(value) == {"city", "unit"} and value["unit"] in ("C", "F")
    else:
        assert name == "get_time" and value["zone"] in ("UTC", "CET")


@pytest.mark.parametrize("choice", [
    "required", {"type": "function", "function": {"name": "get_time"}},
    {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
        {"type": "function", "function": {"name": "get_weather"}}]}}], ids=["required", "named", "allowed"])
def test_a_call_that_must_come(client, choice) -> None:
    answer = client.chat.completions.create(model="SmolLM2", messages=ASK, tools=CHAT_TOOLS, tool_choice=choice,
                                            parallel_tool_calls=False, temperature=0, max_tokens=80)
    (call,) = answer.choices[0].message.tool_calls
    assert answer.choices[0].finish_reason == "tool_calls" and call.id and call.type == "function"
    check(call.function.name, call.function.arguments)
    if choice != "required":
        expected = choice.get("function", {}).get("name", "get_weather")
        assert call.function.name == expected


def test_auto_and_none(client) -> None:
    answer = client.chat.completions.create(model="SmolLM2", messages=ASK, tools=CHAT_TOOLS, temperature=0,
                                            max_tokens=60, parallel_tool_calls=False)
    message = answer.choices[0].message
    for call in message.tool_calls or []:
        check(call.function.name, call.function.arguments)
    assert message.content or message.tool_calls
    answer = client.chat.completions.create(model="SmolLM2", messages=ASK, tools=CHAT_TOOLS, tool_choice="none",
                                            temperature=0, max_tokens=8)
    assert answer.choices[0].message.tool_calls is None and answer.choices[0].message.content


def test_streamed_calls(client) -> None:
    with client.chat.completions.stream(model="SmolLM2", messages=ASK, tools=CHAT_TOOLS, tool_choice="required",
                                        parallel_tool_calls=False, temperature=0, max_tokens=80) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert "tool_calls.function.arguments.delta" in kinds and "tool_calls.function.arguments.done" in kinds
    (call,) = final.choices[0].message.tool_calls
    check(call.function.name, call.function.arguments)


def test_results_of_calls_come_back(client) -> None:
    answer = client.chat.completions.create(model="SmolLM2", temperature=0, max_tokens=12, messages=[
        *ASK, {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "21 C"}])
    assert answer.choices[0].message.content


def test_a_custom_tool_with_a_regular_expression(client) -> None:
    tools = [{"type": "custom", "custom": {"name": "pick", "description": "Pick a code.", "format": {
        "type": "grammar", "grammar": {"syntax": "regex", "definition": "[A-C]-[0-9]{2}"}}}}]
    body = {"model": "SmolLM2", "messages": ASK, "tools": tools, "tool_choice": "required", "temperature": 0,
            "parallel_tool_calls": False, "max_tokens": 60}
    (call,) = client.chat.completions.create(**body).choices[0].message.tool_calls
    assert call.type == "custom" and call.custom.name == "pick" and len(call.custom.input) == 4
    text = ""
    for chunk in client.chat.completions.create(**body, stream=True):
        for delta in chunk.choices[0].delta.tool_calls or []:
            text += (delta.model_extra.get("custom") or {}).get("input") or ""
    assert text == call.custom.input


def test_a_wrong_tool_is_named(client) -> None:
    wrong = {"type": "function", "function": {"name": "x", "parameters": {"type": "object", "properties": {"a": 5}}}}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="SmolLM2", messages=ASK, tools=[*CHAT_TOOLS, wrong])
    assert caught.value.param == "tools[2].function.parameters"
    assert caught.value.code == "invalid_function_parameters"


def test_a_response(client) -> None:
    answer = client.responses.create(model="SmolLM2", input="Say hello.", instructions="Be brief.", temperature=0,
                                     max_output_tokens=8)
    assert answer.output_text and answer.usage.output_tokens > 0
    assert answer.status in ("completed", "incomplete")


def test_a_parsed_response(client) -> None:
    answer = client.responses.parse(model="SmolLM2", input=QUESTION, text_format=Person, temperature=0,
                                    max_output_tokens=90)
    assert isinstance(answer.output_parsed, Person) and answer.status == "completed"


def test_a_streamed_response(client) -> None:
    with client.responses.stream(model="SmolLM2", input=QUESTION, text_format=Person, temperature=0,
                                 max_output_tokens=90) as stream:
        events = list(stream)
        final = stream.get_final_response()
    names = [event.type for event in events]
    assert names[:4] == ["response.created", "response.in_progress", "response.output_item.added",
                         "response.content_part.added"]
    assert names[-1] == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert isinstance(final.output_parsed, Person)


def test_response_tools(client) -> None:
    body = {"model": "SmolLM2", "input": "What is the weather in Paris?", "tools": FLAT_TOOLS,
            "tool_choice": {"type": "function", "name": "get_weather"}, "temperature": 0, "max_output_tokens": 80}
    (call,) = client.responses.create(**body).output
    assert call.type == "function_call" and call.call_id
    check(call.name, call.arguments)
    arguments = ""
    for event in client.responses.create(**body, stream=True):
        if event.type == "response.function_call_arguments.delta":
            arguments += event.delta
        if event.type == "response.function_call_arguments.done":
            assert event.arguments == arguments
    check("get_weather", arguments)
    again = client.responses.create(model="SmolLM2", temperature=0, max_output_tokens=8, input=[
        {"role": "user", "content": "What is the weather in Paris?"},
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "21 C"}])
    assert again.output_text


def test_a_stored_response_is_continued(client) -> None:
    options = {"model": "SmolLM2", "temperature": 0, "max_output_tokens": 12}
    first = client.responses.create(input="Name a color.", **options)
    assert client.responses.retrieve(first.id).output_text == first.output_text
    second = client.responses.create(input="Another one.", previous_response_id=first.id, **options)
    assert second.previous_response_id == first.id and second.usage.input_tokens > first.usage.input_tokens
    same = client.responses.create(input=[
        {"role": "user", "content": "Name a color."}, {"role": "assistant", "content": first.output_text},
        {"role": "user", "content": "Another one."}], store=False, **options)
    assert (same.output_text, same.usage.input_tokens) == (second.output_text, second.usage.input_tokens)
    items = list(client.responses.input_items.list(second.id, order="asc", limit=1))  # three pages
    assert [item.role for item in items] == ["user", "assistant", "user"]
    client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(same.id)


def test_what_responses_cannot_do_is_refused(client) -> None:
    for body in ({"previous_response_id": "resp_1"}, {"tools": [{"type": "web_search"}]}):
        with pytest.raises(openai.BadRequestError):
            client.responses.create(model="SmolLM2", input="Hi", **body)


def test_completions(client) -> None:
    answer = client.completions.create(model="SmolLM2", prompt=["One, two,", "A, B,"], n=2, seed=1, max_tokens=4,
                                       logprobs=1)
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    for choice in answer.choices:
        assert "".join(choice.logprobs.tokens).startswith(choice.text)
    chunks = list(client.completions.create(model="SmolLM2", prompt="One, two,", temperature=0, max_tokens=4, echo=True,
                                            stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices).startswith("One, two,")
    assert chunks[-1].usage.completion_tokens == 4
    answer = client.completions.create(model="SmolLM2", prompt="A number:", max_tokens=20,
                                       extra_body={"structured_outputs": {"regex": " [0-9]{3}"}})
    assert answer.choices[0].text.strip().isdigit()
    likely, unlikely = (client.completions.create(model="SmolLM2", prompt=f"The capital of France is {city}", echo=True,
                                                  max_tokens=0, logprobs=1).choices[0].logprobs
                        for city in ("Paris", "Banana"))
    assert likely.token_logprobs[0] is None and likely.token_logprobs[-1] > unlikely.token_logprobs[-1] + 2
