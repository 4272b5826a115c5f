"""Between threads and event loops: blocking work for coroutines, asynchronous work for synchronous code.

One daemon thread each, so that nothing that hangs keeps the program from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from constrained.typed.events import Event
from constrained.typed.results import Result
from constrained.typed.stream import Stream

__all__ = ["AsyncStream", "SyncIterator", "in_thread", "run_here"]

T = TypeVar("T")


def _deliver(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


async def in_thread(work: Callable[[], T], on_cancel: Callable[[], None] | None = None) -> T:
    """Run ``work`` in a daemon thread with the caller's context variables; ``on_cancel`` if the wait is cancelled."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def run() -> None:
        value: Any = None
        failure: BaseException | None = None
        try:
            value = context.run(work)
        except StopIteration as error:  # a future cannot hold it
            failure = RuntimeError(f"StopIteration out of a call: {error}")
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(_deliver, future, value, failure)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    threading.Thread(target=run, name="constrained-call", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if on_cancel is not None:
            on_cancel()
        raise


def run_here(make: Callable[[], Any]) -> Any:
    """Run a coroutine to its end from synchronous code, also where an event loop already runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    box: list[Any] = []

    def run() -> None:
        try:
            box.extend((asyncio.run(make()), None))
        except BaseException as error:
            box.extend((None, error))

    context = contextvars.copy_context()
    thread = threading.Thread(target=lambda: context.run(run), name="constrained-loop", daemon=True)
    thread.start()
    thread.join()
    if box[1] is not None:
        raise box[1]
    return box[0]


_END = object()


class SyncIterator(Generic[T]):
    """An asynchronous generator read by one synchronous reader; its event loop runs in a thread from the first item on.

    ``close`` cancels it wherever it stands; items that are there already are still read.
    """

    def __init__(self, make: Callable[[], AsyncGenerator[T]]) -> None:
        self._make = make
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._started = self._closed = self._over = False

    def __iter__(self) -> SyncIterator[T]:
        return self

    def __next__(self) -> T:
        if self._over or not self._start():
            raise StopIteration
        item = self._items.get()
        if item is _END:
            self._over = True
            raise StopIteration
        if isinstance(item, BaseException):
            self._over = True
            raise item
        value: T = item
        return value

    def close(self) -> None:
        """End it soon, from any thread."""
        with self._guard:
            self._closed = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    def _start(self) -> bool:
        with self._guard:
            if self._started:
                return True
            if self._closed:
                return False
            self._started = True
        context = contextvars.copy_context()
        threading.Thread(target=lambda: context.run(self._run), name="constrained-loop", daemon=True).start()
        return True

    def _run(self) -> None:
        end: Any = _END
        try:
            asyncio.run(self._drain())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            end = error
        self._items.put(end)

    async def _drain(self) -> None:
        with self._guard:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._closed:
                return
        try:
            async with aclosing(self._make()) as items:
                async for item in items:
                    self._items.put(item)
        finally:
            with self._guard:  # the loop ends: nothing is left to cancel
                self._loop = None


class AsyncStream(Generic[T]):
    """A :class:`Stream` for ``async for``. Leaving ``async with`` cancels what is left."""

    def __init__(self, stream: Stream[T]) -> None:
        self._stream = stream
        self._queue: asyncio.Queue[Any] | None = None

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> Event:
        if self._queue is None:
            self._start()
        assert self._queue is not None
        item = await self._queue.get()
        if item is _END:
            self._queue.put_nowait(_END)
            raise StopAsyncIteration
        if isinstance(item, BaseException):
            self._queue.put_nowait(_END)
            raise item
        event: Event = item
        return event

    async def result(self) -> Result[T]:
        """The finished result: reads what is left of the stream first."""
        async for _ in self:
            pass
        return self._stream.result

    async def aclose(self) -> None:
        """Cancel the generation."""
        self._stream.close()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._queue = queue
        stream = self._stream

        def put(item: Any) -> None:
            try:
                loop.call_soon_threadsafe(queue.put_nowait, item)
            except RuntimeError:  # the loop is closed
                stream.close()

        def run() -> None:
            try:
                for event in stream:
                    put(event)
            except BaseException as error:
                put(error)
            put(_END)

        threading.Thread(target=run, name="constrained-stream", daemon=True).start()
