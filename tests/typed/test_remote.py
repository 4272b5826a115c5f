# ruff: noqa: E402 - imports follow pytest.importorskip
"""``LLM(url)``: what is sent to a server, and that what comes back is checked."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

pydantic = pytest.importorskip("pydantic")

from constrained.typed.errors import OutputError, PromptError, SourceError, TruncatedError
from constrained.typed.llm import LLM
from constrained.typed.results import Failed, Truncated
from constrained.typed.types import EBNF, Choice, JsonSchema, Regex
from tests.typed.fake_server import FakeServer, serving, text_chunks


class Person(pydantic.BaseModel):
    name: str
    age: int = 0


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


def client(fake: FakeServer, **options: Any) -> LLM:
    return LLM(fake.url, model="m", **options)


def test_a_typed_answer(fake: FakeServer) -> None:
    fake.answers.append(text_chunks('{"name": "A', 'da", "age"', ": 36}"))
    result = client(fake, api_key="k").generate("Who?", Person, seed=3, temperature=0.5, max_tokens=9, top_k=4)
    assert result.output == Person(name="Ada", age=36)
    assert (result.usage.prompt_tokens, result.usage.output_tokens, result.usage.forced_tokens) == (7, 5, 2)
    path, body, headers = fake.requests[0]
    assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer k"
    assert (body["model"], body["seed"], body["temperature"], body["max_tokens"], body["top_k"]) == ("m", 3, 0.5, 9, 4)
    sent = body["response_format"]["json_schema"]
    assert sent["schema"]["additionalProperties"] is False and sent["strict"] is False
    assert list(sent["schema"]["properties"]) == ["name", "age"]
    assert "JSON of this form" in body["messages"][0]["content"]


@pytest.mark.parametrize(("kind", "sent", "text"), [
    (Choice("yes", "no"), {"choice": ["yes", "no"]}, "no"), (Regex(r"\d+"), {"regex": r"\d+"}, "42"),
    (EBNF('root ::= "a"+'), {"grammar": 'root ::= "a"+'}, "aaa"),
])
def test_plain_texts_are_checked_here(fake: FakeServer, kind: Any, sent: Any, text: str) -> None:
    fake.answers += [text_chunks(text), text_chunks("Well, maybe " + text)]
    llm = client(fake)
    assert llm.generate("x", kind).output == text
    assert fake.requests[0][1]["structured_outputs"] == sent
    with pytest.raises(OutputError, match="no text of the grammar"):
        llm.generate("x", kind)


def test_json_that_is_not_of_the_type(fake: FakeServer) -> None:
    fake.answers += [text_chunks('{"name": 3}'), text_chunks("Sure! Here it is"), text_chunks('{"name": "B"}')]
    llm = client(fake)
    with pytest.raises(OutputError, match="name"):
        llm.generate("x", Person)
    assert llm.generate("x", Person, retries=1).output == Person(name="B")
    feedback = fake.requests[2][1]["messages"]
    assert feedback[1] == {"role": "assistant", "content": "Sure! Here it is"} and "not valid" in feedback[2]["content"]


def test_a_cut_answer(fake: FakeServer) -> None:
    fake.answers.append(text_chunks('{"name": "Ada", "a', finish="length"))
    result = client(fake).generate("x", Person)
    assert isinstance(result, Truncated) and result.partial == {"name": "Ada"}
    with pytest.raises(TruncatedError):
        result.output  # noqa: B018


def test_a_server_that_does_not_stream(fake: FakeServer) -> None:
    fake.answers.append({"choices": [{"message": {"content": "3"}, "finish_reason": "stop"}],
                         "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
    assert client(fake).generate("x", int).output == 3


def test_the_model_is_the_first_that_is_listed(fake: FakeServer) -> None:
    fake.answers.append(text_chunks("hi"))
    assert LLM(fake.url).generate("x").output == "hi"
    assert fake.requests[0][1]["model"] == "listed"


def test_raw_prompts_are_completions(fake: FakeServer) -> None:
    fake.answers += [[{"choices": [{"index": 0, "text": "12", "finish_reason": "stop"}]}]] * 2
    llm = client(fake)
    assert llm.generate("Count: ", int, raw=True).output == 12
    assert llm.generate([1, 2], int, raw=True).output == 12
    assert [(path, body["prompt"]) for path, body, _ in fake.requests] == [
        ("/v1/completions", "Count: "), ("/v1/completions", [1, 2])]


def test_events_reasoning_logprobs_and_refusals(fake: FakeServer) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "4"}, "logprobs": {"content": [
        {"token": "4", "logprob": -0.5, "top_logprobs": [{"token": "4", "logprob": -0.5}]}]}}]}
    fake.answers.append([{"choices": [{"index": 0, "delta": {"reasoning_content": "2+2"}}]}, chunk, *text_chunks("2")])
    stream = client(fake).stream("x", int, logprobs=1, thinking=True)
    kinds = [event.type for event in stream]
    assert kinds == ["reasoning.delta", "reasoning.done", "content.delta", "logprobs.content.delta", "content.delta",
                     "output.partial", "content.done", "logprobs.content.done", "output.done"]
    assert stream.result.output == 42 and stream.result.reasoning == "2+2"
    assert stream.result.logprobs is not None and stream.result.logprobs[0].logprob == -0.5
    assert fake.requests[0][1]["chat_template_kwargs"] == {"enable_thinking": True}
    fake.answers.append(text_chunks({"refusal": "I will "}, {"refusal": "not."}))
    refused = client(fake).stream("x", int)
    assert [event.type for event in refused][-2:] == ["refusal.done", "output.done"]
    assert isinstance(refused.result, Failed)
    with pytest.raises(OutputError, match="I will not"):
        refused.result.output  # noqa: B018


@pytest.mark.parametrize(("answer", "words"), [
    (500, "500"), (401, "api_key"), (404, "model="), ([b"data: {broken\n\n"], "no JSON"),
    ([{"error": {"message": "overloaded"}}], "overloaded"), ([], "finish_reason"),
    ([{"choices": "x"}], "cannot be read"), ({"choices": []}, "finish_reason"), ([[1]], "no JSON object"),
])
def test_servers_that_fail(fake: FakeServer, answer: Any, words: str) -> None:
    fake.answers.append(answer)
    with pytest.raises(SourceError, match=words):
        client(fake).generate("x", int)


def test_one_failure_in_a_batch(fake: FakeServer) -> None:
    fake.answers += [500, text_chunks("1")]
    results = client(fake).generate_batch(["a", "b"], int)
    assert sorted(isinstance(result, Failed) for result in results) == [False, True]


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(SourceError, match="no answer from"):
            LLM(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", model="m").generate("x", int)


def test_torch_is_not_needed(fake: FakeServer) -> None:
    fake.answers.append(text_chunks("true"))
    code = ("import sys; sys.modules['torch'] = None; import constrained as cd; "
            f"print(cd.LLM({fake.url!r}, model='m').generate('x', bool, sampling=cd.SamplingParams(seed=1)).output)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          cwd=Path(__file__).parent.parent.parent)
    assert done.stdout.strip() == "True", done.stderr[-2000:]


@pytest.mark.parametrize(("options", "words"), [
    ({"n": 2, "temperature": 1.0}, "generate_batch"), ({"thinking": 8}, "thinking=True"),
    ({"eta_cutoff": 0.1, "temperature": 1.0}, "eta_cutoff"), ({"time_limit": 3.0}, "time_limit"),
    ({"order": "vllm"}, "order"), ({"skip_special_tokens": False}, "skip_special_tokens"),
    ({"raw_logprobs": True, "logprobs": 1}, "raw_logprobs")])
def test_what_cannot_be_sent(fake: FakeServer, options: dict[str, Any], words: str) -> None:
    with pytest.raises(PromptError, match=words):
        client(fake).generate("x", **options)
    assert not fake.requests


def test_every_sampling_field_is_sent_or_refused() -> None:
    from dataclasses import fields

    from constrained.decoder.sampling_params import SamplingParams
    from constrained.typed.remote_fields import NOT_SENT, SENT, sampling_fields

    elsewhere = {"temperature", "top_p", "seed", "n", "max_tokens", "logit_bias", "logprobs"}  # body writes them
    found = {field.name: field.default for field in fields(SamplingParams)}
    assert set(found) == elsewhere | set(SENT) | set(NOT_SENT)
    assert all(found[name] == off for name, (_, off) in SENT.items())
    assert all(found[name] == off for name, off in NOT_SENT.items())
    given = {"temperature": 1.0, "typical_p": 0.9, "no_repeat_ngram_size": 3, "stop_token_ids": (7,), "stop": ("a",),
             "include_stop": True, "min_tokens": 2, "max_tokens": 9, "seed": 4, "logit_bias": {3: -200.0}}
    assert sampling_fields(SamplingParams(**given)) == {
        "typical_p": 0.9, "no_repeat_ngram_size": 3, "stop_token_ids": [7], "stop": ["a"], "min_tokens": 2, "seed": 4,
        "include_stop_str_in_output": True, "logit_bias": {"3": -100.0}}
    assert sampling_fields(SamplingParams()) == {}


@pytest.mark.parametrize(("text", "fits"), [
    ('{"b": 2, "a": 1}', True), ('\n{"a": 1' + " " * 200 + "}\n", True), ('{"a": 1, "c": 0}', True),
    ('{"a": "1"}', False), ("{}", False), ("[]", False), ("Sure!", False)])
def test_values_of_a_json_schema_are_checked_here(fake: FakeServer, text: str, fits: bool) -> None:
    fake.answers.append(text_chunks(text))
    schema = JsonSchema({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                         "required": ["a"]})
    if fits:
        assert client(fake).generate("x", schema).output == json.loads(text)
    else:
        with pytest.raises(OutputError, match="no value of the schema"):
            client(fake).generate("x", schema)


def test_schemas_whose_parts_speak_of_one_object_stay_open(fake: FakeServer) -> None:
    a, b = {"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}
    fake.answers += [text_chunks('{"a": 1, "b": 2}')] * 2
    for schema in ({"type": "object", "allOf": [a, b]}, {"type": "object", **a, "anyOf": [b]}):
        assert client(fake).generate("x", JsonSchema(schema)).output == {"a": 1, "b": 2}
        sent = fake.requests[-1][1]["response_format"]["json_schema"]
        assert sent["schema"] == schema and not sent["strict"]


def test_logprobs_of_completions(fake: FakeServer) -> None:
    fake.answers.append([{"choices": [{"index": 0, "text": "12", "finish_reason": "stop", "logprobs": {
        "tokens": ["1", "2"], "token_logprobs": [-0.5, -1.0], "text_offset": [0, 1],
        "top_logprobs": [{"3": -0.9, "1": -0.5}, {"2": -1.0}]}}]}])
    found = client(fake).generate("Count: ", int, raw=True, logprobs=2).logprobs
    assert [(one.token, one.logprob, one.top) for one in found] == [
        ("1", -0.5, (("1", -0.5), ("3", -0.9))), ("2", -1.0, (("2", -1.0),))]


def test_a_refusal_is_no_wrong_text(fake: FakeServer) -> None:
    fake.answers.append(text_chunks({"refusal": "I will not."}))
    with pytest.raises(OutputError, match="the model refused: I will not"):
        client(fake).generate("x", Choice("a", "b"))


def test_schemas_without_objects(fake: FakeServer) -> None:
    fake.answers += [text_chunks("[1]"), text_chunks('"yes"')]
    assert client(fake).generate("x", JsonSchema({"type": "array"})).output == [1]
    assert client(fake).generate("x", Literal["yes", "no"]).output == "yes"
    assert fake.requests[1][1]["response_format"]["json_schema"]["schema"]["enum"] == ["yes", "no"]
