# ruff: noqa: E402 - imports follow pytest.importorskip
"""The ``openai`` package: parse, stream, typed errors."""

from __future__ import annotations

import asyncio
import json

import pytest

openai = pytest.importorskip("openai", reason="the clients are not installed: pip install 'constrained[clients]'")

from tests.server.clients.cases import QUESTION, Person

MESSAGES = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def client(smollm2):
    with openai.OpenAI(base_url=f"{smollm2.url}/v1", api_key="none", max_retries=0, timeout=120) as made:
        yield made


def test_models(client) -> None:
    assert [model.id for model in client.models.list()] == ["SmolLM2"]
    assert client.models.retrieve("SmolLM2").id == "SmolLM2"
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("other")
    assert caught.value.code == "model_not_found"


def test_free_text(client) -> None:
    answer = client.chat.completions.create(model="SmolLM2", messages=[{"role": "user", "content": "Say hello."}],
                                            temperature=0, max_tokens=8)
    (choice,) = answer.choices
    assert choice.message.content and choice.finish_reason in ("stop", "length")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_parse(client) -> None:
    answer = client.chat.completions.parse(model="SmolLM2", messages=MESSAGES, response_format=Person,
                                           temperature=0, max_tokens=80)
    assert isinstance(answer.choices[0].message.parsed, Person)
    assert answer.model_extra["constraint_report"] == {"exact": True, "relaxed": []}


def test_stream_of_a_parsed_answer(client) -> None:
    with client.chat.completions.stream(model="SmolLM2", messages=MESSAGES, response_format=Person, temperature=0,
                                        max_tokens=80, stream_options={"include_usage": True}) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    deltas = [event.delta for event in events if event.type == "content.delta"]
    assert len(deltas) > 1 and "".join(deltas) == final.choices[0].message.content
    assert isinstance(final.choices[0].message.parsed, Person) and final.usage.completion_tokens > 5


def test_samples_with_log_probabilities(client) -> None:
    answer = client.chat.completions.create(
        model="SmolLM2", messages=MESSAGES, n=2, seed=3, max_tokens=12, logprobs=True, top_logprobs=2,
        extra_body={"structured_outputs": {"regex": r"(yes|no), [0-9]{2}"}})
    assert len(answer.choices) == 2
    for choice in answer.choices:
        tokens = choice.logprobs.content
        assert "".join(token.token for token in tokens) == choice.message.content
        assert all(token.logprob <= 0 and len(token.top_logprobs) <= 2 for token in tokens)


@pytest.mark.parametrize("structured", [
    {"json": Person.model_json_schema()}, {"regex": r"[0-9]{3}-[a-f]{2}"}, {"choice": ["red", "green"]},
    {"grammar": 'root ::= "a" [b-d]{2} "!"'}, {"json_object": True}], ids=lambda value: next(iter(value)))
def test_structured_outputs(client, structured) -> None:
    answer = client.chat.completions.create(model="SmolLM2", messages=MESSAGES, temperature=0, max_tokens=90,
                                            extra_body={"structured_outputs": structured})
    text = answer.choices[0].message.content
    (kind,) = structured
    if kind == "json":
        Person.model_validate_json(text)
    elif kind == "choice":
        assert text in structured["choice"]
    elif kind == "json_object":
        assert text.startswith("{")
        if answer.choices[0].finish_reason == "stop":
            json.loads(text)
    else:
        assert len(text) == (6 if kind == "regex" else 4)


@pytest.mark.parametrize(("body", "param", "code"), [
    ({"guided_json": {}}, "guided_json", "unsupported_parameter"),
    ({"guided_grammar": "root ::= 'a'"}, "guided_grammar", "unsupported_parameter"),
    ({"grammar": "root ::= ("}, "grammar", "invalid_grammar"),
    ({"chat_template": "x"}, "chat_template", "unsupported_parameter"),
    ({"structured_outputs": {"regex": "a", "choice": ["b"]}}, "structured_outputs", None),
    ({"structured_outputs": {"regex": "("}}, "structured_outputs.regex", "invalid_grammar"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {
        "properties": {"foo": "bar"}}}}}, "response_format.json_schema.schema", "invalid_json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": {
        "type": "string", "pattern": "(a|b)\\1"}}}}, "response_format.json_schema.schema", None),
    ({"max_tokens": 10**18}, "max_tokens", None),
    ({"temperature": -1}, "temperature", None),
    ({"logit_bias": {"-1": 5}}, "logit_bias", None),
    ({"n": 0}, "n", None),
    ({"top_logprobs": 5}, "top_logprobs", None)])
def test_errors_are_typed_and_name_the_field(client, body, param, code) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="SmolLM2", messages=MESSAGES, extra_body=body)
    assert caught.value.param == param
    assert code is None or caught.value.code == code
    assert caught.value.type == "invalid_request_error"


def test_async_streams_side_by_side(smollm2) -> None:
    async def one(client, seed: int) -> str:
        stream = await client.chat.completions.create(model="SmolLM2", messages=MESSAGES, seed=seed, max_tokens=10,
                                                      stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{smollm2.url}/v1", api_key="none", timeout=120) as client:
            return await asyncio.gather(*(one(client, seed) for seed in range(6)))

    texts = asyncio.run(all_of_them())
    assert len(texts) == 6 and all(texts)
