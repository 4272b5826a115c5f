"""``DecoderService``: one thread drives a :class:`Scheduler`; requests come from any thread or event loop.

    submit (any thread) -> scheduler's queue -> [decode thread: cancel, step, publish] -> handle -> reader

A handle is a queue of the request's :class:`TokenEvent` with a reader that may be a thread (``for``) or a coroutine
(``async for``). Publishing appends to that queue and wakes the reader; it never waits for one, so a slow reader holds
nobody up. What it has not read is bounded by what the request may write (``max_tokens``). Coroutines are woken once a
step and event loop, not once an event.

Invariants: only the decode thread calls ``step``, ``completions`` and ``abort``; ``_handles`` holds exactly the
requests whose last event was not published yet, and ``outstanding`` the sum of their samples and of those being
submitted. The guard is held for a few dictionary operations only, never during a step or a submission, so nobody waits
for another's. Events of a request that is not registered yet are kept for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from constrained.decoder.request import Completion, Request, TokenEvent, Usage
from constrained.decoder.sampling_params import RequestError
from constrained.decoder.scheduler import Scheduler

__all__ = ["DecoderService", "QueueFullError", "RequestHandle", "ServiceClosedError"]


class QueueFullError(RequestError):
    """As many outputs wait as may wait. Try again later."""


class ServiceClosedError(RequestError):
    """The service takes no more requests: it is shutting down."""


class RequestHandle:
    """A request on its way: iterate for its events, in a thread or in a coroutine. One reader at a time.

    ``await handle`` waits for the end and returns the completions, as ``result()`` does in a thread.
    """

    __slots__ = ("_condition", "_events", "_finished", "_left", "_loop", "_n", "_service", "_threads", "_waiter",
                 "finished_at", "first_event_at", "request_id", "submitted_at")

    def __init__(self, service: DecoderService, n: int) -> None:
        self.request_id = -1
        self.submitted_at = time.monotonic()
        """Seconds of ``time.monotonic``; so are the next two, None until they happen."""
        self.first_event_at: float | None = None
        self.finished_at: float | None = None
        self._service = service
        self._n = self._left = n
        self._events: deque[TokenEvent] = deque()
        self._finished: list[Completion] | None = None
        self._condition = threading.Condition()
        self._threads = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiter: asyncio.Future[None] | None = None

    # -- reading -----------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[TokenEvent]:
        return self

    def __next__(self) -> TokenEvent:
        if not self._events and not self._wait(None):
            raise StopIteration
        return self._events.popleft()

    def __aiter__(self) -> RequestHandle:
        return self

    async def __anext__(self) -> TokenEvent:
        if not await self._ready():
            raise StopAsyncIteration
        return self._events.popleft()

    async def next_events(self) -> list[TokenEvent]:
        """All events that are there, at least one; empty when the request has ended and everything was read."""
        waiting = self._events
        while not waiting and self._finished is None:
            await self._pause(events=True)
        events: list[TokenEvent] = []
        while waiting:
            events.append(waiting.popleft())
        return events

    async def peek(self) -> TokenEvent | None:
        """The next event, left in place; None when the request has ended and everything was read."""
        return self._events[0] if await self._ready() else None

    # -- the end -----------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """All outputs have ended."""
        return self._finished is not None

    @property
    def completions(self) -> list[Completion]:
        """The finished outputs, one a sample. Raises :class:`RequestError` while the request runs."""
        if self._finished is None:
            raise RequestError(f"request {self.request_id} is still running")
        return self._finished

    @property
    def completion(self) -> Completion:
        """The first finished output. Raises :class:`RequestError` while the request runs."""
        return self.completions[0]

    def result(self, timeout: float | None = None) -> list[Completion]:
        """Wait in this thread for the end. Raises ``TimeoutError`` after ``timeout`` seconds; the request goes on."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._condition:
            self._threads += 1
            try:
                while self._finished is None:
                    left = None if end is None else end - time.monotonic()
                    if left is not None and left <= 0:
                        raise TimeoutError(f"request {self.request_id} has not ended after {timeout} seconds")
                    self._condition.wait(left)
            finally:
                self._threads -= 1
        return self._finished

    def __await__(self) -> Generator[Any, None, list[Completion]]:
        return self._result_async().__await__()

    def cancel(self) -> None:
        """End the request before the next step (``finish_reason="cancelled"``); its slot is free after that step."""
        self._service._cancel(self)

    # -- inside ------------------------------------------------------------------------------------------------

    async def _result_async(self) -> list[Completion]:
        while self._finished is None:
            await self._pause()
        return self._finished

    async def _ready(self) -> bool:
        """Wait until there is an event (True) or the request has ended and all was read (False)."""
        while not self._events:
            if self._finished is not None:
                return bool(self._events)  # the last event is appended before the end is known
            await self._pause(events=True)
        return True

    async def _pause(self, *, events: bool = False) -> None:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._loop, self._waiter = loop, waiter
        # Published before this line: seen by the test. After it: the publisher sees the waiter.
        if self._finished is not None or (events and self._events):
            return
        await waiter

    def _wait(self, timeout: float | None) -> bool:
        with self._condition:
            self._threads += 1
            try:
                while not self._events and self._finished is None:
                    self._condition.wait(timeout)
            finally:
                self._threads -= 1
        return bool(self._events)

    def _wake_thread(self) -> None:
        if self._threads:
            with self._condition:
                self._condition.notify_all()

    def _wake_coroutine(self) -> None:
        """In the reader's event loop."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class DecoderService:
    """A scheduler with a thread of its own.

    Args:
        scheduler: nobody else may step it from now on.
        max_queue: outputs (samples) that may wait beside those that have a slot; more are refused.

    Raises:
        RequestError: ``max_queue`` is negative.
    """

    def __init__(self, scheduler: Scheduler, *, max_queue: int = 256) -> None:
        if max_queue < 0:
            raise RequestError(f"max_queue must be at least 0, not {max_queue}")
        self.scheduler = scheduler
        self.max_queue = max_queue
        self.steps = 0
        """Steps taken so far."""
        self.step_seconds = 0.0
        """Time spent in them."""
        self.failures = 0
        """Steps that raised; each ended everything that ran then."""
        self._slots = int(scheduler.cache.n_slots)
        self._guard = threading.Lock()
        self._work = threading.Condition(self._guard)
        self._handles: dict[int, RequestHandle] = {}
        self._cancels: deque[RequestHandle] = deque()
        self._early: dict[int, list[TokenEvent]] = {}
        self._outstanding = 0
        self._closed = False
        self._stop = False
        self._cancel_all = False
        self._thread = threading.Thread(target=self._run, name="constrained-decoder", daemon=True)
        self._thread.start()

    @property
    def outstanding(self) -> int:
        """Outputs that wait or run."""
        return self._outstanding

    @property
    def running(self) -> int:
        """Outputs that have a slot."""
        return self._slots - int(self.scheduler.cache.n_free)

    @property
    def alive(self) -> bool:
        """The decode thread runs."""
        return self._thread.is_alive()

    def submit(self, request: Request) -> RequestHandle:
        """Queue a request.

        Raises:
            QueueFullError: ``max_queue`` outputs wait already.
            ServiceClosedError: after ``close``.
            RequestError, SamplingError: as ``Scheduler.submit``.
        """
        n = request.params.n
        handle = RequestHandle(self, n)
        with self._guard:
            if self._closed:
                raise ServiceClosedError("the service is shutting down")
            if self._outstanding + n > self._slots + self.max_queue:
                raise QueueFullError(f"{self._outstanding} outputs run or wait, at most {self._slots + self.max_queue} "
                                     "may", hint="try again later")
            self._outstanding += n
        try:
            handle.request_id = self.scheduler.submit(request)
        except BaseException:
            with self._guard:
                self._outstanding -= n
                self._work.notify()
            raise
        with self._guard:
            self._handles[handle.request_id] = handle
            if self._cancel_all:
                self._cancels.append(handle)
            self._work.notify()
        return handle

    def close(self, *, drain: bool = True, timeout: float | None = None) -> bool:
        """Take no more requests, let those that wait and run end (``drain``) or cancel them, and end the thread.

        After ``timeout`` seconds what is left is cancelled. True if everything ended by itself. May be called again.
        """
        with self._guard:
            self._closed = True
            self._stop = True
            self._work.notify()
        clean = True
        if drain and self._thread.is_alive():
            self._thread.join(timeout)
            clean = not self._thread.is_alive()
        if self._thread.is_alive():
            with self._guard:
                clean = clean and not self._outstanding
                self._cancel_all = True
                self._cancels.extend(self._handles.values())
                self._work.notify()
            self._thread.join()
        return clean

    def refuse(self) -> None:
        """Take no more requests; what waits and runs goes on. ``close`` ends the thread."""
        with self._guard:
            self._closed = True

    def _cancel(self, handle: RequestHandle) -> None:
        with self._guard:
            if handle.request_id in self._handles:
                self._cancels.append(handle)
                self._work.notify()

    # -- the decode thread -------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._steps()
        except Exception as error:  # the scheduler cannot be trusted any more
            self._die(error)
            raise

    def _steps(self) -> None:
        scheduler = self.scheduler
        while True:
            with self._guard:
                while not (self._cancels or self._handles or (self._stop and not self._outstanding)):
                    self._work.wait()
                if self._stop and not self._outstanding:
                    return
                cancels = list(self._cancels)
                self._cancels.clear()
                early = [self._early.pop(i) for i in list(self._early) if i in self._handles]
            for events in early:
                self._publish(events)
            for handle in cancels:
                scheduler.cancel(handle.request_id)
            started = time.monotonic()
            try:
                events = scheduler.step()
            except Exception as error:  # not one request's failure: those end inside the step
                self.failures += 1
                events = scheduler.abort(error)
            self.steps += 1
            self.step_seconds += time.monotonic() - started
            if events:
                self._publish(events)

    def _publish(self, events: list[TokenEvent]) -> None:
        """Hand the events of a step to their handles; each event loop is called once."""
        now = time.monotonic()
        loops: dict[asyncio.AbstractEventLoop, list[RequestHandle]] = {}
        with self._guard:
            named = [(event, self._handles.get(event.request_id)) for event in events]
            for event, handle in named:
                if handle is None:
                    self._early.setdefault(event.request_id, []).append(event)
        touched: dict[int, RequestHandle] = {}
        for event, handle in named:
            if handle is None:
                continue
            if handle.first_event_at is None:
                handle.first_event_at = now
            handle._events.append(event)
            touched[event.request_id] = handle
            if event.finish_reason is not None:
                handle._left -= 1
        for request_id, handle in touched.items():
            if not handle._left:
                handle.finished_at = now
                completions = self.scheduler.completions(request_id)
                with self._guard:
                    del self._handles[request_id]
                    self._outstanding -= len(completions)
                handle._finished = completions
            handle._wake_thread()
            if handle._loop is not None:
                loops.setdefault(handle._loop, []).append(handle)
        for loop, handles in loops.items():
            try:
                loop.call_soon_threadsafe(_wake_all, handles)
            except RuntimeError:  # the loop was closed: its readers are gone
                pass


    def _die(self, error: Exception) -> None:
        """End every request with ``error``, so that nobody waits for a thread that is gone."""
        with self._guard:
            self._closed = self._stop = True
            handles = list(self._handles.values())
            self._handles.clear()
            self._outstanding = 0
        for handle in handles:
            ended = [Completion(handle.request_id, index, "", (), "error", None, 0, None, Usage(), error)
                     for index in range(handle._n)]
            handle._events.extend(TokenEvent(one.request_id, one.index, (), "", finish_reason="error")
                                  for one in ended)
            handle._finished = ended
            handle._wake_thread()
            if handle._loop is not None:
                try:
                    handle._loop.call_soon_threadsafe(handle._wake_coroutine)
                except RuntimeError:
                    pass


def _wake_all(handles: list[RequestHandle]) -> None:
    for handle in handles:
        handle._wake_coroutine()
