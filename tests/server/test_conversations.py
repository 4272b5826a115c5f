# ruff: noqa: E402 - imports follow pytest.importorskip
"""Conversations: made, listed, changed, deleted, and grown by the responses that name them."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from constrained.server.bounded_store import History
from constrained.server.conversation_store import Conversation, ConversationStore
from tests.server.fixed_speed import make_engine
from tests.server.serving import Running, running
from tests.server.test_background import finished
from tests.server.test_http import ask, raw, request
from tests.server.test_stored import PATH, TEMPLATE, get

PLACE = "/v1/conversations"
OPTIONS = {"max_output_tokens": 4, "temperature": 0}


@pytest.fixture(scope="module")
def server():
    with running(make_engine(step_ms=0.3, max_batch=2, max_len=2048, drain_seconds=1.0, template=TEMPLATE)) as made:
        yield made


def texts(server: Running, conversation: str) -> list[str]:
    _, listed = get(server, f"{PLACE}/{conversation}/items?order=asc&limit=100")
    return [item["content"][0]["text"] for item in listed["data"]]


def test_responses_become_part_of_it(server) -> None:
    status, made = ask(server, {"metadata": {"topic": "x"}, "items": [{"role": "user", "content": "zero"}]}, PLACE)
    assert status == 200 and made["object"] == "conversation" and made["metadata"] == {"topic": "x"}
    name = made["id"]
    _, first = ask(server, {"input": "one?", "conversation": name, "instructions": "Brief.", **OPTIONS}, PATH)
    assert first["conversation"] == {"id": name}
    said = first["output"][0]["content"][0]["text"]
    assert texts(server, name) == ["zero", "one?", said]
    body = json.dumps({"input": "two?", "conversation": {"id": name}, "stream": True, "store": False,
                       **OPTIONS}).encode()
    data = raw(server, request(PATH, body=body))
    last = [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ")][-1]["response"]
    _, tokens = ask(server, {"prompt": f"<user>zero<user>one?<assistant>{said}<user>two?"}, "/tokenize")
    assert last["usage"]["input_tokens"] == tokens["count"]
    _, run = ask(server, {"input": "three?", "conversation": name, "background": True, **OPTIONS}, PATH)
    finished(server, run["id"])
    assert len(texts(server, name)) == 7 and texts(server, name)[5] == "three?"
    status, refused = ask(server, {"input": "x", "conversation": name, "previous_response_id": first["id"]}, PATH)
    assert status == 400 and refused["error"]["param"] == "previous_response_id"


def test_items(server) -> None:
    _, made = ask(server, b"", PLACE)
    name = made["id"]
    status, listed = ask(server, {"items": [{"role": "user", "content": "a"}, {"id": "mine", "role": "assistant",
                                                                            "content": "b"}]}, f"{PLACE}/{name}/items")
    assert status == 200 and [item["role"] for item in listed["data"]] == ["user", "assistant"]
    assert listed["last_id"] == "mine" and texts(server, name) == ["a", "b"]
    status, page = get(server, f"{PLACE}/{name}/items?limit=1")
    assert [item["id"] for item in page["data"]] == ["mine"] and page["has_more"]
    assert get(server, f"{PLACE}/{name}/items/mine")[1]["role"] == "assistant"
    assert get(server, f"{PLACE}/{name}/items/mine", "DELETE") == (200, made)
    assert get(server, f"{PLACE}/{name}/items/mine")[0] == 404 and texts(server, name) == ["a"]
    assert server.engine.conversations.get(name, 0).history == History().plus(
        server.engine.conversations.get(name, 0).history.items)
    status, changed = ask(server, {"metadata": {"k": "v"}}, f"{PLACE}/{name}")
    assert status == 200 and changed == {**made, "metadata": {"k": "v"}} == get(server, f"{PLACE}/{name}")[1]
    assert get(server, f"{PLACE}/{name}", "DELETE") == (200, {"id": name, "object": "conversation.deleted",
                                                              "deleted": True})
    assert get(server, f"{PLACE}/{name}")[0] == 404


@pytest.mark.parametrize(("body", "param"), [
    ({"items": [{"type": "image"}]}, "items[0].type"), ({"items": [{"role": "user", "content": "x"}] * 21}, "items"),
    ({"metadata": {"a": 1}}, "metadata.a"), ({"metadata": {str(i): "" for i in range(17)}}, "metadata"),
    ({"name": "x"}, "name")])
def test_wrong_conversations(server, body: dict[str, Any], param: str) -> None:
    status, answer = ask(server, body, PLACE)
    assert status == 400 and answer["error"]["param"] == param


def test_unknown_ones(server) -> None:
    for path, method in (("", "GET"), ("", "DELETE"), ("/items", "GET"), ("/items/x", "GET")):
        assert get(server, f"{PLACE}/conv_0{path}", method)[0] == 404
    for wrong, code in (("conv_0", "conversation_not_found"), (5, None), ({}, None), ({"id": 5}, None)):
        status, answer = ask(server, {"input": "x", "conversation": wrong, **OPTIONS}, PATH)
        assert status == 400 and answer["error"]["code"] == code
        assert answer["error"]["param"].startswith("conversation")


def test_they_belong_to_a_key() -> None:
    with running(make_engine(step_ms=0.3, max_batch=2, api_keys=("one", "two"), drain_seconds=1.0)) as locked:
        _, made = ask(locked, {}, PLACE, authorization="Bearer one")
        assert get(locked, f"{PLACE}/{made['id']}", authorization="Bearer two")[0] == 404
        status, _ = ask(locked, {"input": "x", "conversation": made["id"]}, PATH, authorization="Bearer two")
        assert status == 400
    with running(make_engine(step_ms=0.3, max_batch=1, store_bytes=0, drain_seconds=1.0)) as empty:
        assert ask(empty, {}, PLACE)[0] == 400 and ask(empty, {"input": "x", "conversation": "c"}, PATH)[0] == 400


def test_the_store_is_bounded() -> None:
    store = ConversationStore(500, 60.0)
    for name in ("a", "b"):
        assert store.keep(name, Conversation(0, name, 0, {}, History()))
    store.extend("a", 0, [{"text": "x" * 400}])
    store.extend("b", 0, [{"text": "x" * 300}])  # the longest unused goes
    assert store.get("a", 0) is None and store.held_bytes <= 500
    store.extend("b", 0, [{"text": "x" * 300}])  # larger than the store
    assert store.get("b", 0) is None and store.held_bytes == 0
    store.extend("b", 0, [{"text": ""}])
    assert len(store) == 0
