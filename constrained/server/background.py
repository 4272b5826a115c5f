"""``BackgroundRun``: a response that is written while nobody is connected.

    queued -> in_progress -> completed | incomplete | failed | cancelled

It reads the request's events in a task of its own; ``response`` is what ``GET /v1/responses/{id}`` answers with.
Where the request asked for a stream it keeps every event, numbered from 0, so that any number of connections may read
them, from any number on, while they come and afterwards. At its end the response moves to the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

from constrained.server.output_items import Event
from constrained.server.problems import from_library

if TYPE_CHECKING:
    from constrained.server.response_answer import ResponseAnswer

__all__ = ["BackgroundRun"]

log = logging.getLogger("constrained.server")


class BackgroundRun:
    """One run. ``ended`` is called with the response, and the events where they are kept, when it is over."""

    def __init__(self, owner: int, answer: ResponseAnswer, *, streamed: bool,
                 ended: Callable[[dict[str, Any], list[bytes] | None], None]) -> None:
        self.owner = owner
        self.events: list[bytes] | None = [] if streamed else None
        self._answer = answer
        self._ended = ended
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    @property
    def response(self) -> dict[str, Any]:
        """How far it has come."""
        return self._answer.snapshot

    async def cancel(self) -> dict[str, Any]:
        """End it; the response as it is then, cancelled unless it was over before."""
        self._answer.cancel()
        await asyncio.wait([self._task])
        return self.response

    async def replay(self, after: int = -1) -> AsyncGenerator[bytes, None]:
        """The events behind number ``after``, those to come too."""
        assert self.events is not None
        at = after + 1
        while True:
            if at < len(self.events):
                piece = b"".join(self.events[at:])
                at = len(self.events)
                yield piece
            elif self._task.done():
                return
            else:
                await self._news.wait()

    async def _run(self) -> None:
        answer = self._answer
        try:
            async for events in answer.events():
                self._take(events)
        except Exception as error:  # nobody waits for it: it is told to whoever asks
            log.exception("a background run failed")
            self._take(answer.failed(from_library(error)))
        finally:
            if answer.final is not None:  # else the server ends
                self._ended(answer.final, self.events)
            self._wake()

    def _take(self, events: list[Event]) -> None:
        if self.events is not None:
            self.events += self._answer.encoded(events)
            self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
