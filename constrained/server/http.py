"""HTTP below the endpoints: bodies with limits, JSON answers, event streams, and who has hung up.

A stream is pulled by its connection: the next piece is made when the last one was taken by the transport, so a slow
reader buffers nothing but the token events of its own request. A reader that takes nothing for ``write_seconds``, or
that hangs up, has its request cancelled.

A piece costs the event loop one write: pieces go to the HTTP server's own ``send`` (the layers in between only look at
the head of an answer), and a stalled write is found by one timer a stream, not one a piece.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from types import TracebackType
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from constrained.server.problems import ApiError

__all__ = ["CLIENT_GONE", "DIRECT_SEND", "OWNER", "EventStream", "LingeringResponse", "Watch", "json_response",
           "owner_of", "read_body"]

DIRECT_SEND = "constrained.send"
"""Where a request's scope has the ``send`` of the HTTP server itself."""
OWNER = "constrained.owner"
"""Where it has the number of the API key that it came with (0 where none is needed)."""

CLIENT_GONE = 499
"""The status of requests whose client hung up, for the metrics: nobody reads it (nginx's number)."""

LINGER_SECONDS = 2.0
LINGER_BYTES = 64 << 20


def owner_of(request: Request) -> int:
    """The number of the API key that a request came with."""
    owner: int = request.scope.get(OWNER, 0)
    return owner


async def read_body(request: Request, limit: int, seconds: float) -> bytes:
    """The whole body.

    Raises :class:`ApiError`: 413 if it is larger than ``limit``, 408 if it takes too long, ``CLIENT_GONE``.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and (len(declared) > 15 or int(declared) > limit):
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ApiError(CLIENT_GONE, "the client hung up")
                part = message.get("body", b"")
                size += len(part)
                if size > limit:
                    raise _too_large(limit)
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise ApiError(408, f"the body did not come within {seconds:g} s", headers={"connection": "close"}) from None


def _too_large(limit: int) -> ApiError:
    return ApiError(413, f"the body is larger than {limit} bytes", code="request_too_large",
                    headers={"connection": "close"})


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(json.dumps(value).encode(), status, dict(headers or {}), media_type="application/json")


class LingeringResponse(Response):
    """An answer to a request whose body was not read: what still comes is thrown away for a while.

    A connection that is closed with unread data is reset, and the client may never see the answer.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
        left = LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        break
        except TimeoutError:
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Watch:
    """Calls ``leave`` once when the client hangs up while the context is open; ``gone`` tells afterwards."""

    def __init__(self, receive: Receive, leave: Callable[[], None]) -> None:
        self._receive = receive
        self._leave = leave
        self._task: asyncio.Task[None] | None = None
        self.gone = False

    async def __aenter__(self) -> Watch:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        assert self._task is not None
        self._task.cancel()
        if kind is not None:
            self._leave()
        if self.gone and isinstance(error, ApiError):  # what was cut off is no failure of the server
            raise ApiError(CLIENT_GONE, "the client hung up") from None

    async def _watch(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                self._leave()
                return


class _WriteLimit:
    """Raises ``TimeoutError`` in a block in which one write takes longer than ``seconds``.

    Set ``since`` (loop time) before a write and None after it. A timer looks once every ``seconds``, or when the write
    in progress may be too old.
    """

    def __init__(self, seconds: float) -> None:
        self.since: float | None = None
        self._seconds = seconds
        self._limit = asyncio.timeout(None)
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> _WriteLimit:
        await self._limit.__aenter__()
        self._timer = self._loop.call_later(self._seconds, self._look)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _look(self) -> None:
        now = self._loop.time()
        end = (now if self.since is None else self.since) + self._seconds
        if end <= now:
            self._limit.reschedule(now)
        else:
            self._timer = self._loop.call_at(end, self._look)


class EventStream(Response):
    """Server-sent events: ``pieces`` are ready ``data: ...`` blocks. ``leave`` is called if the stream is cut short."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], leave: Callable[[], None], write_seconds: float,
                 headers: Mapping[str, str] | None = None, on_gone: Callable[[], None] | None = None) -> None:
        super().__init__(None, 200, {"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})},
                         media_type="text/event-stream")
        self.raw_headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
        self._pieces = pieces
        self._leave = leave
        self._write_seconds = write_seconds
        self._on_gone = on_gone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watch = Watch(receive, self._leave)
        write: Send = scope.get(DIRECT_SEND, send)
        now = asyncio.get_running_loop().time
        async with watch:
            try:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                async with _WriteLimit(self._write_seconds) as limit:
                    async for piece in self._pieces:
                        if watch.gone:
                            break
                        limit.since = now()
                        await write({"type": "http.response.body", "body": piece, "more_body": True})
                        limit.since = None
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except (OSError, TimeoutError):  # the reader is gone, or takes nothing
                watch.gone = True
                self._leave()
            finally:
                await self._pieces.aclose()
        if watch.gone and self._on_gone is not None:
            self._on_gone()
