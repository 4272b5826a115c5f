"""A small HTTP/1.1 client over plain asyncio, so that it costs little beside the server it loads.

A ``Stream`` looks for the pieces of text in what its socket gives and notes when they came, without reading their JSON:
with hundreds of streams in one process its own work would otherwise show in the gaps it measures.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Iterable
from typing import Any

__all__ = ["Stream", "chat", "gaps", "head_of", "post", "quantile"]

PIECE = b'"delta": {"content": "'


def chat(content: str = "Tell me a story.", **more: Any) -> dict[str, Any]:
    """The fields of a chat request with one message."""
    return {"messages": [{"role": "user", "content": content}], "temperature": 0, **more}


def head_of(body: bytes, path: str = "/v1/chat/completions") -> bytes:
    """Request line and headers."""
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n").encode()


async def post(port: int, body: bytes, path: str = "/v1/chat/completions", timeout: float = 60.0) -> tuple[int, bytes]:
    """Status and body; status 0 where the connection ended without an answer."""
    async with asyncio.timeout(timeout):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        try:
            writer.write(head_of(body, path))
            with contextlib.suppress(ConnectionError):
                writer.write(body)
                await writer.drain()
            try:
                answer = await reader.read(-1)
            except ConnectionError:
                return 0, b""
            return (int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]) if answer else (0, b"")
        finally:
            writer.close()


class Stream(asyncio.Protocol):
    """A chat stream: when its pieces of text came, and how it ended."""

    def __init__(self, port: int, body: dict[str, Any]) -> None:
        self._port = port
        self._body = json.dumps({"model": "double", "stream": True, **body}).encode()
        self._rest = b""
        self._transport: asyncio.Transport | None = None
        self._lost = False
        self._news = asyncio.Event()
        self._wanted: int | None = 0  # pieces that somebody waits for; None: the end
        self.times: list[float] = []
        self.status = 0
        self.ended = False
        self.error: Any = None

    async def open(self) -> None:
        """Send the request and wait for the answer's head."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        assert self._transport is not None
        self._transport.write(head_of(self._body) + self._body)
        while not (self.status or self._lost):
            self._news.clear()
            await self._news.wait()

    async def read(self, pieces: int | None = None) -> None:
        """Wait until so many pieces of text have come, or for the end."""
        self._wanted = pieces
        while not (self._lost or self.ended or self.error or (pieces is not None and len(self.times) >= pieces)):
            self._news.clear()
            await self._news.wait()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    async def run(self) -> Stream:
        """Open and read to the end."""
        try:
            await self.open()
            if self.status == 200:
                await self.read()
            return self
        finally:
            self.close()

    # -- asyncio.Protocol ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if not self.status:
                self.status = int(line.split(b" ", 2)[1])
                self._news.set()
            elif line.startswith(b"data: "):
                self._event(line, now)
        if self._wanted is not None and len(self.times) >= self._wanted:
            self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._lost = True
        self._news.set()

    def _event(self, line: bytes, now: float) -> None:
        place = line.find(PIECE)
        if place >= 0:
            if line[place + len(PIECE)] != ord('"'):
                self.times.append(now)
        elif line.startswith(b"data: [DONE]"):
            self.ended = True
            self._news.set()
        elif line.startswith(b'data: {"error"'):
            self.error = json.loads(line[6:])["error"]
            self._news.set()


def gaps(streams: Iterable[Stream], since: float = 0.0, until: float = float("inf")) -> list[float]:
    """Milliseconds between consecutive pieces of each stream, of pieces that came in the given time."""
    found: list[float] = []
    for stream in streams:
        for a, b in itertools.pairwise(stream.times):
            if since <= a and b <= until:
                found.append((b - a) * 1e3)
    return found


def quantile(values: list[float], q: float) -> float:
    """0 where there is nothing."""
    return sorted(values)[min(len(values) - 1, int(len(values) * q))] if values else 0.0
