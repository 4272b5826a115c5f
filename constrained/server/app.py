"""The ASGI application: routes, authentication, request ids, and errors as OpenAI's clients read them.

Authentication is decided on nothing but the path as it was sent (``raw_path``) and the ``Authorization`` header:
everything but ``GET /health`` needs a key, whatever routing makes of it later.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from constrained.server.chat import chat_completions
from constrained.server.completions import completions
from constrained.server.conversations import (
    add_items,
    create_conversation,
    delete_conversation,
    delete_item,
    fetch_conversation,
    fetch_item,
    list_items,
    update_conversation,
)
from constrained.server.engine import Engine
from constrained.server.http import CLIENT_GONE, DIRECT_SEND, OWNER, LingeringResponse
from constrained.server.info import detokenize, health, list_models, metrics, one_model, tokenize
from constrained.server.problems import ApiError, from_library
from constrained.server.responses import responses
from constrained.server.stored import cancel_response, delete_response, fetch_response, list_input_items

__all__ = ["create_app"]

log = logging.getLogger("constrained.server")

Endpoint = Callable[[Request, Engine, str], Awaitable[Response]]
OPEN_PATHS = frozenset({b"/health"})


def create_app(engine: Engine, *, close_engine: bool = True) -> ASGIApp:
    """The application over an engine, which it starts, and closes at the end unless ``close_engine`` is off."""
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await engine.start()
        yield
        if close_engine:
            await engine.close()

    def route(path: str, endpoint: Endpoint, method: str = "POST") -> Route:
        return Route(path, _guarded(engine, path, endpoint), methods=[method])

    app = Starlette(routes=[
        route("/v1/chat/completions", chat_completions),
        route("/v1/completions", completions),
        route("/v1/responses", responses),
        route("/v1/responses/{id}", fetch_response, "GET"),
        route("/v1/responses/{id}", delete_response, "DELETE"),
        route("/v1/responses/{id}/input_items", list_input_items, "GET"),
        route("/v1/responses/{id}/cancel", cancel_response),
        route("/v1/conversations", create_conversation),
        route("/v1/conversations/{id}", fetch_conversation, "GET"),
        route("/v1/conversations/{id}", update_conversation),
        route("/v1/conversations/{id}", delete_conversation, "DELETE"),
        route("/v1/conversations/{id}/items", list_items, "GET"),
        route("/v1/conversations/{id}/items", add_items),
        route("/v1/conversations/{id}/items/{item}", fetch_item, "GET"),
        route("/v1/conversations/{id}/items/{item}", delete_item, "DELETE"),
        route("/v1/models", list_models, "GET"),
        route("/v1/models/{name:path}", one_model, "GET"),
        route("/health", health, "GET"),
        route("/metrics", metrics, "GET"),
        route("/tokenize", tokenize),
        route("/detokenize", detokenize),
    ], lifespan=lifespan, exception_handlers={HTTPException: _http_error, Exception: _server_error})
    return Gate(app, engine.settings.api_keys)


class Gate:
    """The outermost layer: no request without a key gets past it."""

    def __init__(self, app: ASGIApp, api_keys: tuple[str, ...]) -> None:
        self._app = app
        self._keys = tuple(key.encode() for key in api_keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request_id = secrets.token_hex(16)
        scope["constrained.request_id"] = request_id
        scope[DIRECT_SEND] = send
        header = (b"x-request-id", request_id.encode())

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        path = scope.get("raw_path") or scope["path"].encode()
        scope[OWNER] = self._key(scope) if self._keys else 0
        if scope[OWNER] is None and path not in OPEN_PATHS:
            error = ApiError(401, "a valid API key is needed: Authorization: Bearer KEY", code="invalid_api_key",
                             headers={"www-authenticate": "Bearer"})
            await error_response(error)(scope, receive, answered)
            return
        await self._app(scope, receive, answered)

    def _key(self, scope: Scope) -> int | None:
        """The number of the request's key, None where it has none that is known."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1 or given[0][:7].lower() != b"bearer ":
            return None
        token = given[0][7:].strip()
        same = [hmac.compare_digest(token, key) for key in self._keys]  # all of them, whichever fits
        return same.index(True) if any(same) else None


def error_response(error: ApiError) -> Response:
    """The answer to a request that fails."""
    kind = LingeringResponse if error.status == 413 else Response
    return kind(error.json(), error.status, error.headers, media_type="application/json")


def _guarded(engine: Engine, path: str, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint with its failures as answers, counted."""
    async def run(request: Request) -> Response:
        try:
            response = await endpoint(request, engine, request.scope["constrained.request_id"])
        except ApiError as error:
            response = error_response(error)
            engine.metrics.disconnects += error.status == CLIENT_GONE
        except asyncio.CancelledError:
            raise
        except Exception as error:
            found = from_library(error)
            if found.status >= 500:
                log.exception("a request failed")
            response = error_response(found)
        engine.metrics.answered(path, response.status_code)
        return response

    return run


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "there is nothing at this path", 405: "this path does not take this method"}
    return error_response(ApiError(error.status_code, message.get(error.status_code, "the request is wrong"),
                                   headers=dict(error.headers or {})))


async def _server_error(request: Request, error: Exception) -> Response:
    return error_response(from_library(error))
