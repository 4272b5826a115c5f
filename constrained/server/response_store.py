"""``ResponseStore``: answers of the Responses API that may be fetched, continued and deleted by their ids.

    id -> (owner, the response, the items before it, their size, when it is forgotten)

In memory, bounded in bytes and in time; the oldest go first. A response belongs to the API key that asked for it: for
everybody else it is not there. Items are shared between the responses of a conversation, but each counts all that it
holds on to, so what is held never exceeds the bound whatever is evicted. All calls come from one event loop.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ResponseStore", "Stored"]

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """One response and the items it answers (``inputs``, whole conversation, oldest first)."""

    owner: int
    response: dict[str, Any]
    inputs: tuple[Item, ...]
    size: int
    until: float

    @property
    def conversation(self) -> tuple[Item, ...]:
        """What a next response answers."""
        return (*self.inputs, *self.response["output"])


class ResponseStore:
    """At most ``max_bytes`` (of JSON text) of responses, each for ``seconds``; 0 bytes: nothing is kept."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self.max_bytes = max_bytes
        self.held_bytes = 0
        self._seconds = seconds
        self._found: OrderedDict[str, Stored] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def put(self, owner: int, response: dict[str, Any], inputs: Sequence[Item]) -> None:
        """Keep a finished response. One that alone is larger than the store is not kept."""
        size = len(json.dumps(response)) + sum(len(json.dumps(item)) for item in inputs)
        if size > self.max_bytes:
            return
        self._found[response["id"]] = Stored(owner, response, tuple(inputs), size, time.monotonic() + self._seconds)
        self.held_bytes += size
        self._expire()
        while self.held_bytes > self.max_bytes:
            self._forget(next(iter(self._found)))

    def get(self, response_id: str, owner: int) -> Stored | None:
        """The response of that id and owner, None where there is none (any more)."""
        self._expire()
        found = self._found.get(response_id)
        return found if found is not None and found.owner == owner else None

    def delete(self, response_id: str, owner: int) -> bool:
        """Forget it; False where there was none. Responses that continue it keep what they need of it."""
        if self.get(response_id, owner) is None:
            return False
        self._forget(response_id)
        return True

    def _forget(self, response_id: str) -> None:
        self.held_bytes -= self._found.pop(response_id).size

    def _expire(self) -> None:
        """All are kept for the same time, so they expire in the order in which they came."""
        now = time.monotonic()
        while self._found:
            first = next(iter(self._found))
            if self._found[first].until > now:
                return
            self._forget(first)
