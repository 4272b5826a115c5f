# ruff: noqa: E402 - imports follow pytest.importorskip
"""Responses in the background: polled, streamed, streamed again, cancelled, deleted; and truncated conversations."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from tests.server.fixed_speed import make_engine
from tests.server.serving import Running, running
from tests.server.test_http import ask, idle, raw, request
from tests.server.test_stored import PATH, TEMPLATE, get

FINAL = ("completed", "incomplete", "failed", "cancelled")


@pytest.fixture(scope="module")
def server():
    with running(make_engine(step_ms=2.0, max_batch=2, max_len=1024, drain_seconds=1.0, compile_seconds=5.0,
                             template=TEMPLATE)) as made:
        yield made


def finished(server: Running, response_id: str) -> dict[str, Any]:
    end = time.monotonic() + 30
    while True:
        status, found = get(server, f"{PATH}/{response_id}")
        assert status == 200 and time.monotonic() < end
        if found["status"] in FINAL:
            return found
        time.sleep(0.01)


def events(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ")]


def streamed(server: Running, path: str) -> list[dict[str, Any]]:
    return events(raw(server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()))


def test_a_run_is_polled(server) -> None:
    body = {"input": "Hello", "max_output_tokens": 30, "temperature": 0}
    status, made = ask(server, {**body, "background": True}, PATH)
    assert status == 200 and made["status"] in ("queued", "in_progress") and made["background"] is True
    assert made["output"] == [] and made["usage"] is None
    found = finished(server, made["id"])
    _, waited = ask(server, body, PATH)
    assert found["output"][0]["content"] == waited["output"][0]["content"]
    assert found["usage"]["total_tokens"] == waited["usage"]["total_tokens"] > 30
    assert (found["status"], found["background"]) == (waited["status"], True) and not waited["background"]
    assert get(server, f"{PATH}/{made['id']}/cancel", "POST") == (200, found)  # too late: it stays as it is
    status, after = ask(server, {"input": "and?", "previous_response_id": made["id"], "max_output_tokens": 2}, PATH)
    assert status == 200 and after["usage"]["input_tokens"] > found["usage"]["input_tokens"]
    assert get(server, f"{PATH}/{waited['id']}/cancel", "POST")[0] == 400
    assert get(server, f"{PATH}/resp_0/cancel", "POST")[0] == 404


def test_what_cannot_be_kept_is_refused_at_once(server) -> None:
    for more, param in (({"store": False}, "background"), ({"text": {"format": {"type": "json_schema", "schema": {
            "type": "strin"}}}}, "text.format.schema"), ({"previous_response_id": "resp_0"}, "previous_response_id")):
        status, answer = ask(server, {"input": "x", "background": True, **more}, PATH)
        assert status == 400 and answer["error"]["param"] == param
    with running(make_engine(step_ms=0.3, max_batch=1, store_bytes=0, drain_seconds=1.0)) as empty:
        assert ask(empty, {"input": "x", "background": True}, PATH)[0] == 400


def test_a_run_is_cancelled(server) -> None:
    status, made = ask(server, {"input": "x", "max_output_tokens": 900, "temperature": 0, "background": True}, PATH)
    assert status == 200
    status, refused = ask(server, {"input": "y", "previous_response_id": made["id"]}, PATH)
    assert status == 400 and refused["error"]["code"] == "response_not_finished"
    status, ended = get(server, f"{PATH}/{made['id']}/cancel", "POST")
    assert status == 200 and ended["status"] == "cancelled" and ended["error"] is None
    idle(server)
    assert get(server, f"{PATH}/{made['id']}") == (200, ended)
    assert not server.engine.responses.running


def test_a_run_is_deleted(server) -> None:
    _, made = ask(server, {"input": "x", "max_output_tokens": 900, "temperature": 0, "background": True}, PATH)
    assert get(server, f"{PATH}/{made['id']}", "DELETE")[1]["deleted"] is True
    assert get(server, f"{PATH}/{made['id']}")[0] == 404
    idle(server)


def test_a_streamed_run_can_be_read_again(server) -> None:
    body = json.dumps({"input": "x", "max_output_tokens": 40, "temperature": 0, "background": True,
                       "stream": True}).encode()
    seen = events(raw(server, request(PATH, body=body)))
    assert [one["type"] for one in seen[:3]] == ["response.created", "response.queued", "response.in_progress"]
    assert [one["sequence_number"] for one in seen] == list(range(len(seen)))
    final = seen[-1]["response"]
    assert final["status"] == "incomplete" and get(server, f"{PATH}/{final['id']}") == (200, final)
    assert streamed(server, f"{PATH}/{final['id']}?stream=true") == seen
    assert streamed(server, f"{PATH}/{final['id']}?stream=true&starting_after=5") == seen[6:]
    assert streamed(server, f"{PATH}/{final['id']}?stream=true&starting_after=9999") == []
    assert get(server, f"{PATH}/{final['id']}?stream=true&starting_after=x")[0] == 400
    _, plain = ask(server, {"input": "x", "max_output_tokens": 2, "background": True}, PATH)
    finished(server, plain["id"])
    assert get(server, f"{PATH}/{plain['id']}?stream=true")[0] == 400


def test_who_hangs_up_may_come_back(server) -> None:
    import socket

    body = json.dumps({"input": "x", "max_output_tokens": 200, "temperature": 0, "background": True,
                       "stream": True}).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request(PATH, body=body))
        data = b""
        while data.count(b"output_text.delta") < 4:
            data += connection.recv(1 << 16)
    first = [json.loads(line[6:]) for line in data.split(b"\n")[:-1] if line.startswith(b"data: ")]
    response_id = first[0]["response"]["id"]
    rest = streamed(server, f"{PATH}/{response_id}?stream=true&starting_after={first[-1]['sequence_number']}")
    assert [one["sequence_number"] for one in (*first, *rest)] == list(range(len(first) + len(rest)))
    text = "".join(one["delta"] for one in (*first, *rest) if one["type"] == "response.output_text.delta")
    assert rest[-1]["response"]["output"][0]["content"][0]["text"] == text and rest[-1]["response"]["usage"]


def test_a_run_that_breaks(server) -> None:
    model = server.engine.scheduler.model
    status, made = ask(server, {"input": "x", "max_output_tokens": 500, "temperature": 0, "background": True}, PATH)
    assert status == 200
    model.fail_at = model.passes + 20
    found = finished(server, made["id"])
    assert found["status"] == "failed" and found["error"]["code"] == "internal_error"
    idle(server)


def test_runs_belong_to_a_key() -> None:
    with running(make_engine(step_ms=2.0, max_batch=2, api_keys=("one", "two"), drain_seconds=1.0)) as locked:
        body = {"input": "x", "max_output_tokens": 300, "temperature": 0, "background": True}
        _, made = ask(locked, body, PATH, authorization="Bearer one")
        place = f"{PATH}/{made['id']}"
        for path, method in ((place, "GET"), (place, "DELETE"), (f"{place}/cancel", "POST")):
            assert get(locked, path, method, authorization="Bearer two")[0] == 404
        assert get(locked, f"{place}/cancel", "POST", authorization="Bearer one")[1]["status"] == "cancelled"


# -- truncation ---------------------------------------------------------------------------------------------------


def test_old_messages_are_left_out_where_asked(server) -> None:
    turns = [{"role": role, "content": f"{i}:" + "x" * 60} for i in range(20) for role in ("user", "assistant")]
    body = {"instructions": "Be brief.", "input": [*turns, {"role": "user", "content": "last"}],
            "max_output_tokens": 100, "temperature": 0}
    status, answer = ask(server, body, PATH)
    assert status == 400 and answer["error"]["code"] == "context_length_exceeded"
    status, answer = ask(server, {**body, "truncation": "auto"}, PATH)
    assert status == 200 and answer["truncation"] == "auto" and answer["usage"]["output_tokens"] == 100

    def tokens(kept: int) -> int:
        messages = [{"role": "system", "content": "Be brief."}, *body["input"][len(turns) - 2 * kept :]]
        return ask(server, {"messages": messages}, "/tokenize")[1]["count"]

    kept = next(k for k in range(20, -1, -1) if tokens(k) <= 1024 - 100)  # as many whole turns as leave room
    assert 0 < kept < 20 and answer["usage"]["input_tokens"] == tokens(kept)
    status, answer = ask(server, {"input": "x" * 3000, "truncation": "auto"}, PATH)
    assert status == 400 and answer["error"]["code"] == "context_length_exceeded"
    status, answer = ask(server, {"input": "x", "truncation": "auto", "max_output_tokens": 2}, PATH)
    assert status == 200
