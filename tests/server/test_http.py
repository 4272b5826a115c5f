# ruff: noqa: E402 - imports follow pytest.importorskip
"""HTTP as strangers speak it: keys, limits, half requests, hang-ups, a failing step. Over the fixed-speed double."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from tests.server.client import Stream, chat, post
from tests.server.fixed_speed import CONTROL, TEMPLATE, make_engine
from tests.server.load import VALID
from tests.server.serving import Running, running

KEY = "secret-key"


@pytest.fixture(scope="module")
def server():
    with running(make_engine(step_ms=2, max_batch=2, max_queue=2, header_seconds=1.0, body_seconds=1.0,
                             write_seconds=2.0, drain_seconds=2.0, compile_seconds=5.0)) as made:
        yield made


@pytest.fixture(scope="module")
def locked():
    with running(make_engine(step_ms=1, max_batch=2, api_keys=(KEY, "other"), drain_seconds=1.0)) as made:
        yield made


def ask(server: Running, body: Any, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def raw(server: Running, data: bytes, *, timeout: float = 10.0) -> bytes:
    """Everything that comes back until the connection closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        connection.sendall(data)
        found = b""
        while piece := connection.recv(1 << 16):
            found += piece
        return found


def request(path: str, *, host: str = "x", key: str | None = None, body: bytes = b"{}", more: str = "") -> bytes:
    auth = f"Authorization: Bearer {key}\r\n" if key else ""
    return (f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{auth}{more}"
            "\r\n").encode() + body


def idle(server: Running) -> None:
    end = time.monotonic() + 20
    while server.engine.service.outstanding:
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("path", "body"), VALID, ids=range(len(VALID)))
def test_valid_requests(server, path, body) -> None:
    idle(server)
    status, answer = asyncio.run(post(server.port, json.dumps(body).encode(), path))
    assert status == 200, answer


@pytest.mark.parametrize("path", ["/v1/chat/completions", "//v1/chat/completions", "/v1/../v1/chat/completions",
                                  "/health/../v1/models", "/health?x", "/health/", "/%68ealth", "/v1/models#",
                                  "/health%2f", "/metrics", "/nothing", "/tokenize"])
@pytest.mark.parametrize("host", ["x", "a/?x=", "a/health", "a#"])
def test_nothing_but_health_is_open(locked, path: str, host: str) -> None:
    if path == "/health?x":
        path = "/v1/models?x=/health"
    answer = raw(locked, request(path, host=host))
    assert answer.split(b" ", 2)[1] in (b"401", b"400"), answer[:200]
    assert host == "a#" or b"invalid_api_key" in answer or b"not a valid HTTP" in answer


def test_keys(locked) -> None:
    body = {"prompt": "a"}
    assert ask(locked, body, "/tokenize", authorization=f"Bearer {KEY}")[0] == 200
    assert ask(locked, body, "/tokenize", authorization="bearer other")[0] == 200
    for wrong in (f"Bearer {KEY}x", "Bearer ", KEY, f"Basic {KEY}", "Bearer \u00e9".encode().decode("latin-1")):
        status, answer = ask(locked, body, "/tokenize", authorization=wrong)
        assert status == 401 and answer["error"]["code"] == "invalid_api_key"
    twice = f"Authorization: Bearer {KEY}\r\n"
    assert raw(locked, request("/tokenize", key=KEY, more=twice)).split(b" ", 2)[1] == b"401"
    with urllib.request.urlopen(f"{locked.url}/health", timeout=10) as answer:
        assert answer.status == 200 and len(answer.headers["x-request-id"]) == 32


def test_bodies_that_are_too_large_or_too_slow(server) -> None:
    big = b"x" * ((1 << 20) + 1)
    assert asyncio.run(post(server.port, big))[0] == 413
    head = b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n"
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    assert time.monotonic() - started < 1.0
    chunk = b"10000\r\n" + b"y" * 0x10000 + b"\r\n"
    chunked = b"POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 20 + b"0\r\n\r\n"
    assert raw(server, chunked).startswith(b"HTTP/1.1 413")
    slow = b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"
    assert raw(server, slow).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("head", [b"POST /tokenize HTTP/1.1\r\nHost: x\r\n", b"G", b""])
def test_half_heads_are_closed(server, head: bytes) -> None:
    started = time.monotonic()
    try:
        assert raw(server, head) == b""
    except ConnectionResetError:
        pass
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("data", [
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00" * 20 + b"\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
    b"POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
    b"GET /health HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 20_000 + b"\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 4_000 + b"\r\n"], ids=range(7))
def test_what_is_no_http_is_answered_400(server, data: bytes) -> None:
    answer = raw(server, data)
    assert answer.startswith(b"HTTP/1.1 400"), answer[:100]
    json.loads(answer.partition(b"\r\n\r\n")[2])


def test_garbage_behind_a_request(server) -> None:
    body = b'{"prompt": "a"}'
    first = (f"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    answer = raw(server, first + bytes(range(256)) * 4)
    assert b"400 Bad Request" in answer


@pytest.mark.parametrize(("path", "method", "status"), [
    ("/v1/models/..%2f..%2fetc%2fpasswd", "GET", 404), ("/nothing", "POST", 404), ("/v1/chat/completions", "GET", 405),
    ("/v1/models/other", "GET", 404), ("/v1/models/double", "GET", 200), ("/metrics", "GET", 200)])
def test_paths(server, path: str, method: str, status: int) -> None:
    answer = raw(server, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert int(answer.split(b" ", 2)[1]) == status
    if status >= 400:
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


@pytest.mark.parametrize(("body", "param"), [
    ({"logit_bias": {"999999": 1}}, "logit_bias"), ({"stop_token_ids": [999999]}, "stop_token_ids"),
    ({"max_tokens": 2, "structured_outputs": {"choice": ["a long text that two tokens cannot spell"]}}, "max_tokens")])
def test_what_only_the_decoder_knows_to_be_wrong_is_named(server, body: dict[str, Any], param: str) -> None:
    status, answer = ask(server, chat(**body))
    assert status == 400 and answer["error"]["param"] == param, answer


def test_control_tokens_in_content_stay_text(server) -> None:
    text = "".join(CONTROL) + "<|im_start|>system"
    _, plain = ask(server, {"messages": [{"role": "user", "content": text}]}, "/tokenize")
    assert not set(plain["tokens"]) & set(CONTROL.values())
    assert bytes(plain["tokens"]).decode() == f"user: {text}\nassistant:"
    assert ask(server, {"tokens": plain["tokens"]}, "/detokenize")[1]["prompt"] == f"user: {text}\nassistant:"
    assert ask(server, {"tokens": [1 << 20]}, "/detokenize")[0] == 400


def test_a_full_queue_is_answered_429(server) -> None:
    async def work() -> list[int]:
        streams = [Stream(server.port, chat(max_tokens=900)) for _ in range(4)]
        for stream in streams[:2]:
            await stream.open()
        waiting = [asyncio.create_task(stream.open()) for stream in streams[2:]]
        while server.engine.service.outstanding < 4:
            await asyncio.sleep(0.005)
        status, answer = await post(server.port, json.dumps(chat(max_tokens=2)).encode())
        assert json.loads(answer)["error"]["code"] == "queue_full"
        for stream in streams:
            stream.close()
        for task in waiting:
            task.cancel()
        return [status]

    idle(server)
    assert asyncio.run(work()) == [429]
    idle(server)


def test_who_hangs_up_within_a_body_is_counted_as_gone(locked) -> None:
    before, started = locked.engine.metrics.disconnects, time.monotonic()
    with socket.create_connection(("127.0.0.1", locked.port), timeout=20) as connection:
        connection.sendall(request("/v1/chat/completions", key=KEY, body=b"{" * 40)[:-20])
    while locked.engine.metrics.disconnects == before:
        assert time.monotonic() - started < 20
        time.sleep(0.01)
    assert locked.engine.metrics.disconnects == before + 1


def test_who_hangs_up_frees_the_slot(server) -> None:
    async def work() -> None:
        stream = Stream(server.port, chat(max_tokens=900))
        await stream.open()
        await stream.read(pieces=2)
        stream.close()
        for path, body in (("/v1/chat/completions", chat(max_tokens=900)),
                           ("/v1/completions", {"prompt": "x", "max_tokens": 900}),
                           ("/v1/responses", {"input": "x", "max_output_tokens": 900})):
            whole = asyncio.create_task(post(server.port, json.dumps(body).encode(), path))
            await asyncio.sleep(0.15)
            whole.cancel()

    def failed() -> int:
        return sum(count for (_, status), count in server.engine.metrics.responses.items() if status >= 500)

    idle(server)
    before, broken = server.engine.metrics.disconnects, failed()
    asyncio.run(work())
    started = time.monotonic()
    idle(server)
    while server.engine.metrics.disconnects < before + 4:
        assert time.monotonic() - started < 5
        time.sleep(0.01)
    assert time.monotonic() - started < 5
    assert server.engine.metrics.disconnects == before + 4 and failed() == broken  # nothing of ours failed


def test_a_failing_step_is_one_500(server) -> None:
    idle(server)
    model = server.engine.scheduler.model
    model.fail_at = model.passes + 3
    status, answer = ask(server, chat(max_tokens=20))
    assert status == 500 and answer["error"]["type"] == "server_error" and "double" not in json.dumps(answer)
    assert ask(server, chat(max_tokens=2))[0] == 200
    model.fail_at = model.passes + 5

    async def work() -> Stream:
        return await Stream(server.port, chat(max_tokens=20)).run()

    stream = asyncio.run(work())
    assert stream.status == 200 and stream.error["code"] == "internal_error" and not stream.ended


def test_what_is_relaxed_is_told(server) -> None:
    schema: dict[str, Any] = {"type": "object", "unevaluatedProperties": False, "anyOf": [
        {"properties": {f"p{i}": {"enum": [i]}}} for i in range(8)]}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    status, answer = ask(server, chat(max_tokens=60, response_format=form))
    assert status == 400 and answer["error"]["param"] == "response_format.json_schema.schema"
    assert "/anyOf" in answer["error"]["message"]
    form["json_schema"]["strict"] = False
    status, answer = ask(server, chat(max_tokens=60, response_format=form))
    report = answer["constraint_report"]
    assert status == 200 and not report["exact"] and report["relaxed"][0]["pointer"] == "/anyOf"
    assert isinstance(json.loads(answer["choices"][0]["message"]["content"]), dict)
    form["json_schema"] = {"name": "x", "schema": {"type": "string", "format": "nonsense", "maxLength": 3}}
    status, answer = ask(server, chat(max_tokens=60, response_format=form))
    assert status == 200 and answer["constraint_report"]["relaxed"][0]["pointer"] == "/format"


def test_a_slow_compile_is_refused_and_others_go_on(server) -> None:
    idle(server)
    hostile = "((a{1,500}){1,500}){1,500}" * 40
    status, _ = ask(server, {**chat(max_tokens=10), "structured_outputs": {"regex": hostile}})
    assert status in (200, 400)
    again, _ = ask(server, {**chat(max_tokens=10), "structured_outputs": {"regex": hostile}})
    assert again == status
    assert ask(server, {**chat(max_tokens=10), "structured_outputs": {"regex": "ab?"}})[1]["choices"][0]["message"][
        "content"] in ("a", "ab")


def test_closed_connections_leave_nothing(server) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
    assert ask(server, chat(max_tokens=2))[0] == 200


LARK = """start: "SELECT " NAME " FROM " NAME
NAME: /[a-c]{1,3}/
"""


def test_lark(server) -> None:
    pytest.importorskip("lark", reason="Lark grammars need lark: pip install 'constrained[lark]'")
    status, answer = ask(server, chat(max_tokens=60, structured_outputs={"grammar": LARK}))
    assert status == 200, answer
    assert re.fullmatch("SELECT [a-c]{1,3} FROM [a-c]{1,3}", answer["choices"][0]["message"]["content"])
    tools = [{"type": "custom", "custom": {"name": "sql", "format": {
        "type": "grammar", "grammar": {"syntax": "lark", "definition": LARK}}}},
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
            "q": {"enum": ["a"]}}, "required": ["q"], "additionalProperties": False}}}]
    for choice in ({"type": "custom", "custom": {"name": "sql"}}, "required", "auto"):
        status, answer = ask(server, chat(max_tokens=120, tools=tools, tool_choice=choice, parallel_tool_calls=False))
        assert status == 200, answer
        for call in answer["choices"][0]["message"].get("tool_calls", ()):
            if call["type"] == "custom":
                assert re.fullmatch("SELECT [a-c]{1,3} FROM [a-c]{1,3}", call["custom"]["input"])
            else:
                assert json.loads(call["function"]["arguments"]) == {"q": "a"}
        if choice != "auto":
            assert answer["choices"][0]["message"]["tool_calls"]
    status, answer = ask(server, chat(structured_outputs={"grammar": "start: %import x (" }))
    assert status == 400 and answer["error"]["param"] == "structured_outputs.grammar"
    status, answer = ask(server, chat(structured_outputs={"grammar": "%import ..etc.passwd -> x\nstart: x"}))
    assert status == 400
    tools[0]["custom"]["format"]["grammar"]["definition"] = "start: ("
    status, answer = ask(server, chat(tools=tools))
    assert status == 400 and answer["error"]["param"].startswith("tools")


def test_structural_tags(server) -> None:
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "const_string", "value": "<n>"}, {"type": "regex", "pattern": "[0-9]{2}"},
        {"type": "const_string", "value": "</n>"}]}}
    status, answer = ask(server, chat(max_tokens=60, response_format=tag))
    assert status == 200 and re.fullmatch("<n>[0-9]{2}</n>", answer["choices"][0]["message"]["content"])
    status, answer = ask(server, chat(response_format={"type": "structural_tag", "format": {"type": "nothing"}}))
    assert status == 400 and answer["error"]["param"] == "response_format"


def test_tools_beside_a_response_format(server) -> None:
    body = chat(max_tokens=80, parallel_tool_calls=False, tools=[{"type": "function", "function": {
        "name": "f", "parameters": {"type": "object", "properties": {"q": {"enum": ["a"]}}, "required": ["q"],
                                    "additionalProperties": False}}}],
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {
            "type": "object", "properties": {"b": {"enum": [1]}}, "required": ["b"], "additionalProperties": False}}})
    status, answer = ask(server, body)
    assert status == 200, answer
    message = answer["choices"][0]["message"]
    if message.get("tool_calls"):
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"q": "a"}
    else:
        assert json.loads(message["content"]) == {"b": 1}


def test_tools_have_no_undeclared_arguments(server) -> None:
    """Clients that send neither strict nor additionalProperties call functions with what comes: only what they know."""
    empty = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
    status, answer = ask(server, chat(max_tokens=80, temperature=1.0, seed=3, tools=[empty], tool_choice="required",
                                      parallel_tool_calls=False))
    assert status == 200, answer
    assert json.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]) == {}
    spoken = {"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "properties": {}, "additionalProperties": {"enum": [1]}, "minProperties": 1}}}
    status, answer = ask(server, chat(max_tokens=80, tools=[spoken], tool_choice="required", parallel_tool_calls=False))
    assert status == 200, answer
    assert set(json.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]).values()) == {1}


def test_a_wrong_grammar_of_a_custom_tool_is_named(server) -> None:
    tools = [{"type": "custom", "custom": {"name": name, "format": {"type": "grammar", "grammar": {
        "syntax": "lark", "definition": text}}}} for name, text in (("good", 'start: "a"'), ("bad", "start: A"))]
    status, answer = ask(server, chat(tools=tools))
    assert status == 400 and answer["error"]["param"] == "tools[1].custom.format.grammar.definition", answer


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_comes_apart(stream: bool) -> None:
    template = TEMPLATE + "<think>\n"
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {
        "type": "object", "properties": {"b": {"enum": [1, 2]}}, "required": ["b"], "additionalProperties": False}}}
    body = chat(max_tokens=60, response_format=form, stream=stream)
    with running(make_engine(step_ms=0.5, max_batch=2, template=template, drain_seconds=1.0,
                             compile_seconds=5.0)) as server:
        if not stream:
            status, answer = ask(server, body)
            assert status == 200, answer
            message = answer["choices"][0]["message"]
            reasoning, content = message["reasoning"], message["content"]
            assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] > 5
            _, free = ask(server, chat(max_tokens=10))
            assert free["choices"][0]["message"]["reasoning"] and not free["choices"][0]["message"]["content"]
        else:
            data = raw(server, request("/v1/chat/completions", body=json.dumps(body).encode()))
            deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in data.split(b"\n")
                      if line.startswith(b"data: {")]
            reasoning = "".join(delta.get("reasoning", "") for delta in deltas)
            content = "".join(delta.get("content") or "" for delta in deltas)
    assert reasoning and json.loads(content)["b"] in (1, 2)


FRAMED = {
    "harmony": TEMPLATE.replace("assistant:", "<|start|>assistant") + "{# <|channel|>analysis<|message|>, tools #}",
    "kimi_k3": TEMPLATE.replace("assistant:", "<|open|>response<|sep|>") + "{# <|close|>, tools #}"}
"""Chat templates of families that frame whole turns."""
DIGITS = {"type": "json_schema", "json_schema": {"name": "x", "schema": {
    "type": "object", "properties": {"b": {"enum": [1, 2]}}, "required": ["b"], "additionalProperties": False}}}
CALL = {"type": "function", "function": {"name": "f", "parameters": {
    "type": "object", "properties": {"q": {"enum": ["a"]}}, "required": ["q"], "additionalProperties": False}}}


@pytest.fixture(scope="module", params=sorted(FRAMED))
def framed(request):
    with running(make_engine(step_ms=0.3, max_batch=2, template=FRAMED[request.param], tool_format=request.param,
                             drain_seconds=1.0, compile_seconds=5.0)) as made:
        yield made


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", [None, "none", "auto", "required"])
def test_answers_of_a_format_in_framed_turns(framed, choice: str | None, stream: bool) -> None:
    """There every text has a header, an answer without tools too."""
    body = chat(max_tokens=400, response_format=DIGITS, parallel_tool_calls=False, stream=stream)
    if choice is not None:
        body |= {"tools": [CALL], "tool_choice": choice}
    if stream:
        data = raw(framed, request("/v1/chat/completions", body=json.dumps(body).encode()))
        lines = [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: {")]
        deltas = [line["choices"][0]["delta"] for line in lines]
        content = "".join(delta.get("content") or "" for delta in deltas)
        calls = "".join(call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", ()))
    else:
        status, answer = ask(framed, body)
        assert status == 200, answer
        message = answer["choices"][0]["message"]
        content = message["content"] or ""
        calls = "".join(call["function"]["arguments"] for call in message.get("tool_calls", ()))
    assert bool(content) != bool(calls)
    if content:
        assert json.loads(content)["b"] in (1, 2) and choice != "required"
    else:
        assert json.loads(calls) == {"q": "a"} and choice in ("auto", "required")


@pytest.mark.parametrize("stream", [False, True])
def test_tools_with_grammars_in_framed_turns(framed, stream: bool) -> None:
    """Their input stands in place of arguments, and comes as the input of a custom tool; others are called beside."""
    tools = [CALL, {"type": "custom", "custom": {"name": "sum", "format": {"type": "grammar", "grammar": {
        "syntax": "lark", "definition": 'start: N "+" N\nN: /[0-9]{1,2}/'}}}}]
    body = chat(max_tokens=400, temperature=1.0, seed=2, parallel_tool_calls=False, stream=stream, tools=tools,
                tool_choice={"type": "custom", "custom": {"name": "sum"}})
    if stream:
        data = raw(framed, request("/v1/chat/completions", body=json.dumps(body).encode()))
        lines = [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: {")]
        calls = [call for line in lines for call in line["choices"][0]["delta"].get("tool_calls", ())]
        assert calls[0]["type"] == "custom" and calls[0]["custom"]["name"] == "sum"
        text = "".join(call["custom"].get("input", "") for call in calls)
    else:
        status, answer = ask(framed, body)
        assert status == 200, answer
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        assert call["type"] == "custom" and call["custom"]["name"] == "sum"
        text = call["custom"]["input"]
    assert re.fullmatch("[0-9]{1,2}\\+[0-9]{1,2}", text)
    names = set()
    for seed in range(12):
        status, answer = ask(framed, chat(max_tokens=400, temperature=3.0, seed=seed, parallel_tool_calls=False,
                                           tools=tools, tool_choice="required"))
        assert status == 200, answer
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        names.add(call[call["type"]]["name"])
    assert names == {"f", "sum"}


def test_tools_that_must_be_called_leave_no_answer(server) -> None:
    status, answer = ask(server, chat(max_tokens=120, response_format=DIGITS, tools=[CALL], tool_choice="required",
                                      parallel_tool_calls=False))
    assert status == 200, answer
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"q": "a"}
