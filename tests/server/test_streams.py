"""Event streams below the endpoints: readers that are slow, that take nothing, and that hang up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the server is not installed: pip install 'constrained[server]'")
pytest.importorskip("torch")

from constrained.server.http import DIRECT_SEND, EventStream

LIMIT = 0.3


class Reader:
    """An ASGI connection whose reader takes ``pieces`` of the body, each after ``pause``, and then nothing."""

    def __init__(self, pieces: int, pause: float = 0.0, hangs_up: bool = False) -> None:
        self.taken: list[bytes] = []
        self.sent: list[dict[str, Any]] = []
        self.left = 0
        self.gone = 0
        self.closed = False
        self._pieces = pieces
        self._pause = pause
        self._hangs_up = hangs_up
        self._hung_up = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self._hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if not message.get("body"):
            return
        await asyncio.sleep(self._pause)
        if len(self.taken) >= self._pieces:
            if self._hangs_up:
                self._hung_up.set()
                return
            await asyncio.Event().wait()  # the buffers are full, for ever
        self.taken.append(message["body"])

    async def stream(self, count: int, gap: float = 0.0, *, direct: bool = True) -> None:
        async def pieces() -> AsyncGenerator[bytes, None]:
            try:
                for i in range(count):
                    await asyncio.sleep(gap)
                    yield b"data: %d\n\n" % i
            finally:
                self.closed = True

        def leave() -> None:
            self.left += 1

        def gone() -> None:
            self.gone += 1

        answer = EventStream(pieces(), leave, LIMIT, on_gone=gone)
        scope = {"type": "http", **({DIRECT_SEND: self.send} if direct else {})}
        await asyncio.wait_for(answer(scope, self.receive, self.send), 10)


@pytest.mark.parametrize("direct", [True, False])
def test_a_whole_stream(direct: bool) -> None:
    async def work() -> Reader:
        reader = Reader(pieces=100)
        await reader.stream(5, direct=direct)
        return reader

    reader = asyncio.run(work())
    assert reader.taken == [b"data: %d\n\n" % i for i in range(5)]
    assert [message["type"] for message in reader.sent] == ["http.response.start", *["http.response.body"] * 6]
    assert [message["more_body"] for message in reader.sent[1:]] == [True] * 5 + [False]
    assert (reader.left, reader.gone, reader.closed) == (0, 0, True)


def test_a_stream_may_take_longer_than_any_write() -> None:
    """Slow readers and long waits for tokens are no stall: every write here takes a third of the limit."""
    async def work() -> Reader:
        reader = Reader(pieces=100, pause=LIMIT / 3)
        await reader.stream(8)
        await reader.stream(2, gap=1.5 * LIMIT)
        return reader

    reader = asyncio.run(work())
    assert len(reader.taken) == 10 and (reader.left, reader.gone) == (0, 0)


@pytest.mark.parametrize("taken", [0, 3])
def test_a_reader_that_takes_nothing_is_left(taken: int) -> None:
    async def work() -> tuple[Reader, float]:
        reader = Reader(pieces=taken)
        started = asyncio.get_running_loop().time()
        await reader.stream(10, gap=0.01)
        return reader, asyncio.get_running_loop().time() - started

    reader, took = asyncio.run(work())
    assert len(reader.taken) == taken and LIMIT <= took < 3
    assert (reader.left, reader.gone, reader.closed) == (1, 1, True)
    assert reader.sent[-1]["more_body"]  # the answer is cut, not ended


def test_who_hangs_up_is_left() -> None:
    async def work() -> Reader:
        reader = Reader(pieces=2, hangs_up=True)
        await reader.stream(1_000, gap=0.001)
        return reader

    reader = asyncio.run(work())
    assert len(reader.taken) == 2 and len(reader.sent) < 10
    assert (reader.left, reader.gone, reader.closed) == (1, 1, True)


def test_a_failing_transport_is_a_reader_that_is_gone() -> None:
    class Broken(Reader):
        async def send(self, message: Any) -> None:
            if self.sent:
                raise ConnectionResetError
            await super().send(message)

    async def work() -> Reader:
        reader = Broken(pieces=5)
        await reader.stream(3)
        return reader

    reader = asyncio.run(work())
    assert (reader.left, reader.gone, reader.closed) == (1, 1, True)


def test_a_cancelled_stream_closes_its_pieces() -> None:
    async def work() -> Reader:
        reader = Reader(pieces=0)
        task = asyncio.create_task(reader.stream(3))
        await asyncio.sleep(LIMIT / 3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return reader

    reader = asyncio.run(work())
    assert reader.left == 1 and reader.closed
