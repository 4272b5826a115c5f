"""``/v1/responses/{id}``: a response is fetched, streamed again, cancelled, deleted, its input items listed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from starlette.requests import Request
from starlette.responses import Response

from constrained.server.background import BackgroundRun
from constrained.server.engine import Engine
from constrained.server.http import EventStream, json_response, owner_of
from constrained.server.item_pages import page_of
from constrained.server.problems import ApiError, bad_request
from constrained.server.response_store import Stored

__all__ = ["cancel_response", "delete_response", "fetch_response", "list_input_items"]


async def fetch_response(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/responses/{id}``; ``stream=true``: the events of a background run that was asked for as a stream."""
    run = engine.responses.run_of(*_asked(request))
    found: BackgroundRun | Stored = run if run is not None else _stored(request, engine)
    if request.query_params.get("stream", "false").lower() != "true":
        return json_response(found.response)
    after = request.query_params.get("starting_after", "-1")
    if not (after == "-1" or (after.isascii() and after.isdigit() and len(after) < 10)):
        raise bad_request("starting_after: must be the number of an event", "starting_after")
    if found.events is None:
        raise bad_request("stream: only background responses that were streamed are streamed again", "stream",
                          "unsupported_parameter")
    pieces = run.replay(int(after)) if run is not None else _again(found.events[int(after) + 1 :])
    return EventStream(pieces, lambda: None, engine.settings.write_seconds)


async def cancel_response(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /v1/responses/{id}/cancel``: end a background run; one that has ended stays as it is."""
    run = engine.responses.run_of(*_asked(request))
    if run is not None:
        return json_response(await run.cancel())
    response = _stored(request, engine).response
    if not response["background"]:
        raise bad_request("only background responses can be cancelled", "background")
    return json_response(response)


async def delete_response(request: Request, engine: Engine, request_id: str) -> Response:
    """``DELETE /v1/responses/{id}``; a background run is cancelled. Responses that continue it keep what they need."""
    response_id, owner = _asked(request)
    run = engine.responses.run_of(response_id, owner)
    if run is not None:
        await run.cancel()
    elif engine.responses.get(response_id, owner) is None:
        raise _missing(response_id)
    engine.responses.delete(response_id, owner)
    return json_response({"id": response_id, "object": "response", "deleted": True})


async def list_input_items(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/responses/{id}/input_items``: what the response answers, a page of it; newest first unless asked."""
    return page_of(_stored(request, engine).inputs.items, request.query_params)


async def _again(events: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    if events:
        yield b"".join(events)


def _asked(request: Request) -> tuple[str, int]:
    return request.path_params["id"], owner_of(request)


def _stored(request: Request, engine: Engine) -> Stored:
    response_id, owner = _asked(request)
    found = engine.responses.get(response_id, owner)
    if found is None:
        raise _missing(response_id)
    return found


def _missing(response_id: str) -> ApiError:
    return ApiError(404, f"there is no response {response_id[:100]!r}", code="response_not_found")
