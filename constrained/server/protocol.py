"""The HTTP protocol of the server: uvicorn's over httptools, with limits on what comes before a body.

A connection whose request line and headers do not come in time, or are too long, is closed (RFC 9112 allows any server
its limits); without that a client could hold connections for ever with a byte now and then.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from constrained.server.problems import bad_request
from constrained.server.settings import ServerSettings

__all__ = ["limited_protocol"]

MAX_HEAD_BYTES = 16 << 10


def limited_protocol(settings: ServerSettings) -> type[HttpToolsProtocol]:
    """The protocol class for these settings."""
    class LimitedProtocol(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None
        _in_head = True
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._in_head:
                self._head_bytes += len(data)
            super().data_received(data)
            if self._in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("the request line and headers are too long")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._expect_head()

        def on_headers_complete(self) -> None:
            self._stop_timer()
            self._in_head = False
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > MAX_HEAD_BYTES:
                raise ValueError("the request line and headers are too long")  # the parser answers 400
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            body = bad_request("this is not a valid HTTP request").json()
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: "
                                 + str(len(body)).encode() + b"\r\nconnection: close\r\n\r\n" + body)
            self.transport.close()

        def _expect_head(self) -> None:
            self._in_head, self._head_bytes = True, 0
            if self._timer is None:
                self._timer = self.loop.call_later(settings.header_seconds, self._too_slow)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _too_slow(self) -> None:
            self._timer = None
            if self._in_head and not self.transport.is_closing():
                self.transport.abort()

    return LimitedProtocol
