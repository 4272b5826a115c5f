# ruff: noqa: E402 - imports follow pytest.importorskip
"""Stored responses: fetched, listed, continued, deleted by their id, by their owner only, within bounds."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from constrained.server.bounded_store import History, json_size
from constrained.server.response_store import ResponseStore
from tests.server.fixed_speed import make_engine
from tests.server.serving import Running, running
from tests.server.test_http import ask, raw, request

PATH = "/v1/responses"
TEMPLATE = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
            "[{{ c.function.name }}]{% endfor %}{% endfor %}")
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"q": {"enum": ["a"]}},
                                                        "required": ["q"], "additionalProperties": False}}


@pytest.fixture(scope="module")
def server():
    with running(make_engine(step_ms=0.3, max_batch=2, max_len=2048, drain_seconds=1.0, compile_seconds=5.0,
                             template=TEMPLATE)) as made:
        yield made


def get(server: Running, path: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
    wanted = urllib.request.Request(server.url + path, None, headers, method=method)
    try:
        with urllib.request.urlopen(wanted, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_response_is_fetched_listed_and_deleted(server) -> None:
    status, made = ask(server, {"input": "Hello", "max_output_tokens": 5, "temperature": 0, "user": "u"}, PATH)
    assert status == 200 and made["store"] is True and made["previous_response_id"] is None
    assert get(server, f"{PATH}/{made['id']}") == (200, made)
    status, listed = get(server, f"{PATH}/{made['id']}/input_items")
    (item,) = listed["data"]
    assert status == 200 and not listed["has_more"] and listed["first_id"] == listed["last_id"] == item["id"]
    assert item["role"] == "user" and item["content"] == [{"type": "input_text", "text": "Hello"}]
    assert get(server, f"{PATH}/{made['id']}?stream=true")[0] == 400
    assert get(server, f"{PATH}/{made['id']}", "DELETE") == (200, {"id": made["id"], "object": "response",
                                                                  "deleted": True})
    for method in ("GET", "DELETE"):
        status, answer = get(server, f"{PATH}/{made['id']}", method)
        assert status == 404 and answer["error"]["code"] == "response_not_found"
    assert get(server, f"{PATH}/{made['id']}/input_items")[0] == 404
    assert get(server, f"{PATH}/{made['id']}", "POST")[0] == 405


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_goes_on(server, stream: bool) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if not stream:
            status, found = ask(server, body, PATH)
            assert status == 200, found
            return found
        data = raw(server, request(PATH, body=json.dumps({**body, "stream": True}).encode()))
        found = [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ")]
        assert found[-1]["type"] in ("response.completed", "response.incomplete")
        assert found[0]["response"]["previous_response_id"] == body.get("previous_response_id")
        return found[-1]["response"]

    options = {"max_output_tokens": 4, "temperature": 0}
    first = answer({"input": "one?", "instructions": "Be brief.", **options})
    text = first["output"][0]["content"][0]["text"]
    second = answer({"input": [{"role": "user", "content": [{"type": "input_text", "text": "two?"}]}],
                     "previous_response_id": first["id"], **options})
    expected = f"<user>one?<assistant>{text}<user>two?"
    _, tokens = ask(server, {"prompt": expected}, "/tokenize")
    assert second["usage"]["input_tokens"] == tokens["count"]  # the instructions were the first response's alone
    _, listed = get(server, f"{PATH}/{second['id']}/input_items?order=asc&limit=2")
    assert [item["role"] for item in listed["data"]] == ["user", "assistant"] and listed["has_more"]
    _, rest = get(server, f"{PATH}/{second['id']}/input_items?order=asc&after={listed['last_id']}")
    assert [item["content"][0]["text"] for item in rest["data"]] == ["two?"] and not rest["has_more"]
    assert get(server, f"{PATH}/{first['id']}", "DELETE")[0] == 200  # the second has what it needs
    third = answer({"input": "3?", "previous_response_id": second["id"], **options})
    assert third["usage"]["input_tokens"] > second["usage"]["input_tokens"]


def test_calls_and_their_outputs(server) -> None:
    status, made = ask(server, {"input": "call f", "tools": [TOOL], "tool_choice": "required", "temperature": 0,
                                "max_output_tokens": 100, "parallel_tool_calls": False}, PATH)
    (call,) = made["output"]
    assert status == 200 and call["type"] == "function_call"
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "42"}
    status, after = ask(server, {"input": [result], "previous_response_id": made["id"], "max_output_tokens": 3,
                                 "temperature": 0}, PATH)
    assert status == 200
    _, tokens = ask(server, {"prompt": "<user>call f<assistant>[f]<tool>42"}, "/tokenize")
    assert after["usage"]["input_tokens"] >= tokens["count"]


def test_who_does_not_want_it_kept(server) -> None:
    status, made = ask(server, {"input": "x", "store": False, "max_output_tokens": 2, "temperature": 0}, PATH)
    assert status == 200 and made["store"] is False and get(server, f"{PATH}/{made['id']}")[0] == 404


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "limit=%C2%B2", "order=up", "after=nothing"])
def test_wrong_pages(server, query: str) -> None:
    _, made = ask(server, {"input": "x", "max_output_tokens": 2, "temperature": 0}, PATH)
    status, answer = get(server, f"{PATH}/{made['id']}/input_items?{query}")
    assert status == 400 and answer["error"]["param"] == query.partition("=")[0]


def test_unknown_responses(server) -> None:
    for wrong in ("resp_0", "", "x" * 200, "../etc"):
        status, answer = ask(server, {"input": "x", "previous_response_id": wrong}, PATH)
        assert status == 400 and answer["error"]["param"] == "previous_response_id"
        assert answer["error"]["code"] == "previous_response_not_found"
    status, answer = ask(server, {"input": "x", "previous_response_id": 5}, PATH)
    assert status == 400 and answer["error"]["param"] == "previous_response_id"


def test_responses_belong_to_a_key() -> None:
    with running(make_engine(step_ms=0.3, max_batch=2, api_keys=("one", "two"), drain_seconds=1.0)) as locked:
        body = {"input": "x", "max_output_tokens": 2, "temperature": 0}
        _, made = ask(locked, body, PATH, authorization="Bearer one")
        place = f"{PATH}/{made['id']}"
        assert get(locked, place)[0] == 401
        for path, method in ((place, "GET"), (place, "DELETE"), (f"{place}/input_items", "GET")):
            assert get(locked, path, method, authorization="Bearer two")[0] == 404
        status, _ = ask(locked, {**body, "previous_response_id": made["id"]}, PATH, authorization="Bearer two")
        assert status == 400
        assert get(locked, place, authorization="Bearer one") == (200, made)


def test_a_server_that_keeps_nothing() -> None:
    with running(make_engine(step_ms=0.3, max_batch=2, store_bytes=0, drain_seconds=1.0)) as server:
        body = {"input": "x", "max_output_tokens": 2, "temperature": 0}
        status, made = ask(server, body, PATH)
        assert status == 200 and made["store"] is False and get(server, f"{PATH}/{made['id']}")[0] == 404
        for more in ({"store": True}, {"previous_response_id": made["id"]}):
            status, answer = ask(server, {**body, **more}, PATH)
            assert status == 400 and answer["error"]["param"] == next(iter(more))


# -- the store ----------------------------------------------------------------------------------------------------


def response(name: str, size: int = 0) -> dict[str, Any]:
    return {"id": name, "output": [{"id": f"{name}.o", "text": "x" * size}]}


def test_the_store_is_bounded_in_bytes() -> None:
    store = ResponseStore(1_000, 60.0)
    for i in range(20):
        store.put(0, response(f"r{i}", 200), History())
        assert store.held_bytes <= 1_000
    assert len(store) == 3 and store.get("r19", 0) is not None and store.get("r16", 0) is None
    store.put(0, response("big", 2_000), History())
    assert store.get("big", 0) is None and store.get("r19", 0) is not None  # it does not push out the others
    for i in range(17, 20):
        assert store.delete(f"r{i}", 0)
    assert store.held_bytes == 0 and len(store) == 0 and not store.delete("r19", 0)


def test_a_conversation_counts_all_that_it_holds() -> None:
    store = ResponseStore(2_000, 60.0)
    store.put(0, response("first", 900), History())
    found = store.get("first", 0)
    assert found is not None
    alone = store.held_bytes
    store.put(0, response("second"), found.conversation)
    assert store.held_bytes > 2 * 900  # the second would hold on to the first's text
    store.put(0, response("third"), store.get("second", 0).conversation)
    assert store.get("first", 0) is None and store.held_bytes <= 2_000 and alone < 1_000


def test_a_history_is_measured_once(monkeypatch) -> None:
    from constrained.server import bounded_store

    seen: list[Any] = []
    monkeypatch.setattr(bounded_store, "json_size", lambda value: seen.append(value) or json_size(value))
    history = History()
    for i in range(10):
        history = history.plus([{"id": i}])
    assert len(seen) == 10 and history.size == sum(map(json_size, history.items)) and len(history.items) == 10


def test_what_is_old_is_forgotten(monkeypatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    store = ResponseStore(10_000, 60.0)
    store.put(0, response("a"), History())
    now[0] += 30
    store.put(0, response("b"), History())
    now[0] += 31
    assert store.get("a", 0) is None and store.get("b", 0) is not None and len(store) == 1
    now[0] += 30
    assert store.get("b", 0) is None and store.held_bytes == 0
