"""``/v1/responses/{id}``: a stored response is fetched, its input items listed, and it is deleted."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from constrained.server.engine import Engine
from constrained.server.http import OWNER, json_response
from constrained.server.problems import ApiError, bad_request
from constrained.server.response_store import Stored

__all__ = ["delete_response", "fetch_response", "list_input_items"]

MAX_LISTED = 100
DEFAULT_LISTED = 20


async def fetch_response(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/responses/{id}``."""
    if request.query_params.get("stream", "false").lower() == "true":
        raise bad_request("stream: a stored response is not streamed again", "stream", "unsupported_parameter")
    return json_response(_stored(request, engine).response)


async def delete_response(request: Request, engine: Engine, request_id: str) -> Response:
    """``DELETE /v1/responses/{id}``."""
    response_id = request.path_params["id"]
    if not engine.responses.delete(response_id, request.scope.get(OWNER, 0)):
        raise _missing(response_id)
    return json_response({"id": response_id, "object": "response", "deleted": True})


async def list_input_items(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/responses/{id}/input_items``: what the response answers, a page of it; newest first unless asked."""
    items = list(_stored(request, engine).inputs)
    order, limit = request.query_params.get("order", "desc"), request.query_params.get("limit", str(DEFAULT_LISTED))
    if order not in ("asc", "desc"):
        raise bad_request("order: must be asc or desc", "order")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 4 and 1 <= int(limit) <= MAX_LISTED):
        raise bad_request(f"limit: must be from 1 to {MAX_LISTED}", "limit")
    if order == "desc":
        items.reverse()
    after = request.query_params.get("after")
    if after is not None:
        place = next((i for i, item in enumerate(items) if item["id"] == after), None)
        if place is None:
            raise bad_request("after: the response has no such item", "after")
        items = items[place + 1 :]
    page = items[: int(limit)]
    return json_response({"object": "list", "data": page, "first_id": page[0]["id"] if page else None,
                          "last_id": page[-1]["id"] if page else None, "has_more": len(items) > len(page)})


def _stored(request: Request, engine: Engine) -> Stored:
    response_id = request.path_params["id"]
    found = engine.responses.get(response_id, request.scope.get(OWNER, 0))
    if found is None:
        raise _missing(response_id)
    return found


def _missing(response_id: str) -> ApiError:
    return ApiError(404, f"there is no response {response_id[:100]!r}", code="response_not_found")
