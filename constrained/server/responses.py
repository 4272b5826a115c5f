"""``POST /v1/responses``: one answer made of output items, the stream of events that builds it, or a run in the
background.

What may be asked for is checked, its grammar compiled and its place in the queue taken before anything is answered, in
the background too. A finished response is stored unless ``store: false``, so that it can be fetched, or continued by
its id; of a conversation its input and output become part.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from constrained.server.background import BackgroundRun
from constrained.server.bounded_store import History
from constrained.server.choices import first_events
from constrained.server.engine import Engine
from constrained.server.fields import Fields, parse_body
from constrained.server.http import EventStream, Watch, json_response, owner_of, read_body
from constrained.server.prepare import prepare
from constrained.server.reports import report_headers
from constrained.server.response_answer import ResponseAnswer
from constrained.server.responses_request import (
    conversation_id,
    input_items,
    previous_id,
    read_responses,
    wants_background,
    wants_store,
)

__all__ = ["responses"]


async def responses(request: Request, engine: Engine, request_id: str) -> Response:
    """Answer one request. Raises :class:`ApiError`."""
    settings = engine.settings
    fields = parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds))
    owner = owner_of(request)
    previous, conversation = previous_id(fields, settings), conversation_id(fields, settings)
    store, background = wants_store(fields, settings), wants_background(fields, settings)
    before = _before(fields, engine, owner, previous, conversation)
    chat = read_responses(fields, settings, before.items)
    model = engine.known_model(chat.model)
    prepared = await prepare(engine, chat)
    handle = engine.submit(prepared.prompt, prepared.params, prepared.compiled)
    answer = ResponseAnswer(engine, chat, fields, model, request_id, handle, prepared)
    answer.head.update(store=store, previous_response_id=previous, background=background, truncation=chat.truncation,
                       conversation=None if conversation is None else {"id": conversation})
    own = input_items(fields.value["input"], request_id)
    inputs = before.plus(own) if store else before

    def keep(response: dict[str, Any], events: list[bytes] | None = None) -> None:
        if store:
            engine.responses.put(owner, response, inputs, events)
        if conversation is not None and response["status"] in ("completed", "incomplete"):
            engine.conversations.extend(conversation, owner, [*own, *response["output"]])

    headers = report_headers(prepared.relaxed)
    if background:
        running = engine.responses.running
        run_id: str = answer.head["id"]

        def ended(response: dict[str, Any], events: list[bytes] | None) -> None:
            running.pop(run_id, None)
            keep(response, events)

        run = running[run_id] = BackgroundRun(owner, answer, streamed=chat.stream, ended=ended)
        if chat.stream:
            return EventStream(run.replay(), lambda: None, settings.write_seconds, headers)
        return json_response(run.response, headers=headers)
    answer.keep = keep
    try:
        async with Watch(request.receive, handle.cancel) as watch:
            first = await first_events(handle)
            if not chat.stream:
                body = await answer.whole(first)
    except BaseException:
        handle.cancel()
        raise
    if watch.gone:
        answer.gone()
    if chat.stream:
        return EventStream(answer.stream(first), handle.cancel, settings.write_seconds, headers, answer.gone)
    return json_response(body, headers=headers)


def _before(fields: Fields, engine: Engine, owner: int, previous: str | None, conversation: str | None) -> History:
    """The items that a request goes on with. Raises :class:`ApiError` where they are not there."""
    if previous is not None:
        if conversation is not None:
            raise fields.wrong("previous_response_id", "and conversation exclude each other")
        if engine.responses.run_of(previous, owner) is not None:
            raise fields.wrong("previous_response_id", f"the response {previous[:100]!r} is still being written",
                               "response_not_finished")
        found = engine.responses.get(previous, owner)
        if found is None:
            raise fields.wrong("previous_response_id", f"there is no response {previous[:100]!r}",
                               "previous_response_not_found")
        return found.conversation
    if conversation is not None:
        known = engine.conversations.get(conversation, owner)
        if known is None:
            raise fields.wrong("conversation", f"there is no conversation {conversation[:100]!r}",
                               "conversation_not_found")
        return known.history
    return History()
