# ruff: noqa: E402 - imports follow pytest.importorskip
"""``POST /v1/completions`` over the double: echoes, log-probabilities of prompts, streams of many prompts."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

import torch

from tests.server.fixed_speed import BOS, make_engine
from tests.server.serving import running
from tests.server.test_http import ask, raw, request

PATH = "/v1/completions"


@pytest.fixture(scope="module")
def server():
    with running(make_engine(step_ms=0.5, max_batch=3, drain_seconds=2.0, compile_seconds=5.0)) as made:
        yield made


def events(server, body: dict[str, Any]) -> list[dict[str, Any]]:
    data = raw(server, request(PATH, body=json.dumps({**body, "stream": True}).encode()))
    lines = [line[6:] for line in data.split(b"\n") if line.startswith(b"data: ")]
    assert lines[-1] == b"[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def joined(chunks: list[dict[str, Any]], index: int) -> dict[str, Any]:
    """The choice that the chunks build."""
    found: dict[str, Any] = {"text": "", "logprobs": None}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            found["text"] += choice["text"]
            found["finish_reason"] = choice["finish_reason"]
            if choice["logprobs"] is not None:
                found["logprobs"] = found["logprobs"] or {key: [] for key in choice["logprobs"]}
                for key, values in choice["logprobs"].items():
                    found["logprobs"][key] += values
    return found


def test_an_echo_with_log_probabilities(server) -> None:
    model = server.engine.scheduler.model
    status, answer = ask(server, {"prompt": "hello", "max_tokens": 3, "temperature": 0, "logprobs": 2, "echo": True},
                         PATH)
    assert status == 200, answer
    choice = answer["choices"][0]
    assert choice["text"].startswith("hello") and choice["finish_reason"] == "length"
    found = choice["logprobs"]
    ids = list(b"hello")
    assert found["tokens"][:5] == list("hello") and found["text_offset"][:6] == [0, 1, 2, 3, 4, 5]
    assert len({len(values) for values in found.values()}) == 1 and len(found["tokens"]) == 8
    assert found["token_logprobs"][0] is None and found["top_logprobs"][0] is None
    with torch.inference_mode():
        rows = model.head(model._rows[ids]).log_softmax(-1)
    for i in range(1, 5):
        assert found["token_logprobs"][i] == pytest.approx(float(rows[i - 1, ids[i]]), abs=1e-3)
        top = found["top_logprobs"][i]
        assert found["tokens"][i] in top and len(top) in (2, 3)
        assert max(top.values()) == pytest.approx(float(rows[i - 1].max()), abs=1e-3)
    for i in range(5, 8):  # greedy: the token is the likeliest, to the bit (evaluation harnesses compare the two)
        assert found["token_logprobs"][i] == max(found["top_logprobs"][i].values())
    assert "".join(found["tokens"]) == choice["text"]
    assert all(choice["text"][at:].startswith(token)
               for at, token in zip(found["text_offset"], found["tokens"], strict=True))
    assert answer["usage"]["completion_tokens"] == 3 and answer["usage"]["prompt_tokens"] == 5


def test_scoring_alone(server) -> None:
    for more in ({"logprobs": 0}, {}):
        status, answer = ask(server, {"prompt": [[BOS, 104, 105], [97, 0xC3, 0xA9, 98]], "max_tokens": 0, "echo": True,
                                      **more}, PATH)
        assert status == 200, answer
        assert [choice["text"] for choice in answer["choices"]] == ["hi", "a\u00e9b"]
        assert answer["usage"]["completion_tokens"] == 0
        if not more:
            assert all(choice["logprobs"] is None for choice in answer["choices"])
            continue
        first, second = (choice["logprobs"] for choice in answer["choices"])
        assert first["tokens"] == ["<|begin|>", "h", "i"] and first["text_offset"] == [0, 0, 1]
        assert second["tokens"] == ["a", "bytes:\\xc3", "bytes:\\xa9", "b"] and second["text_offset"] == [0, 1, 1, 2]
        assert second["token_logprobs"][0] is None and all(value < 0 for value in second["token_logprobs"][1:])


@pytest.mark.parametrize("logprobs", [None, 0, 2])
def test_a_stream_says_the_same(server, logprobs) -> None:
    body = {"prompt": ["one", "two", "three and more", "4"], "max_tokens": 6, "seed": 3, "temperature": 0.7, "n": 2,
            "echo": True, "stop": ["zzz"], **({} if logprobs is None else {"logprobs": logprobs})}
    status, whole = ask(server, body, PATH)
    assert status == 200, whole
    chunks = events(server, {**body, "stream_options": {"include_usage": True}})
    assert chunks[-1]["choices"] == []
    assert {key: chunks[-1]["usage"][key] for key in ("prompt_tokens", "completion_tokens")} == {
        key: whole["usage"][key] for key in ("prompt_tokens", "completion_tokens")}
    assert len(whole["choices"]) == 8
    for choice in whole["choices"]:
        found = joined(chunks, choice["index"])
        assert found["text"] == choice["text"] and found["finish_reason"] == choice["finish_reason"]
        if logprobs is None:
            assert found["logprobs"] is None and choice["logprobs"] is None
            continue
        assert found["logprobs"]["tokens"] == choice["logprobs"]["tokens"]
        assert found["logprobs"]["text_offset"] == choice["logprobs"]["text_offset"]
        values, others = found["logprobs"]["token_logprobs"], choice["logprobs"]["token_logprobs"]
        assert values[0] is None and values[1:] == pytest.approx(others[1:], abs=1e-4)


def test_what_fails_before_its_first_token_is_no_stream(server) -> None:
    model = server.engine.scheduler.model
    model.fail_at = model.passes + 1
    status, answer = ask(server, {"prompt": ["a", "b"], "max_tokens": 4, "stream": True}, PATH)
    assert status == 500 and answer["error"]["code"] == "internal_error"


@pytest.mark.parametrize(("body", "param"), [
    ({"prompt": "a", "max_tokens": 0}, "max_tokens"), ({"prompt": "a", "max_tokens": 0, "logprobs": 1}, "max_tokens"),
    ({"prompt": "a", "max_tokens": 0, "echo": True, "structured_outputs": {"regex": "a+"}}, "max_tokens"),
    ({"prompt": "a", "max_tokens": False, "echo": True}, "max_tokens"), ({"prompt": "a", "logprobs": 21}, "logprobs"),
    ({"prompt": "a", "echo": 1}, "echo"), ({"prompt": [97, 1 << 20], "echo": True, "logprobs": 1}, None)])
def test_refusals(server, body, param) -> None:
    status, answer = ask(server, body, PATH)
    assert status == 400 and (param is None or answer["error"]["param"] == param), answer
