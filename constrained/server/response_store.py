"""``ResponseStore``: answers of the Responses API that may be fetched, continued and deleted by their ids.

    id -> the response, the items before it, and for a streamed background run its events

Items are shared between the responses of a conversation, but each counts all that it holds on to, so what is held never
exceeds the bound whatever is evicted. Responses that are still being written in the background (``running``) are no
part of the bound: there are at most as many as requests may run and wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrained.server.bounded_store import BoundedStore, History, json_size

if TYPE_CHECKING:
    from constrained.server.background import BackgroundRun

__all__ = ["ResponseStore", "Stored"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One response and what it answers (``inputs``, the whole conversation)."""

    owner: int
    response: dict[str, Any]
    inputs: History
    events: tuple[bytes, ...] | None
    """Of a background run that was asked for as a stream, as they were sent."""
    size: int

    @property
    def conversation(self) -> History:
        """What a next response answers."""
        return self.inputs.plus(self.response["output"])


class ResponseStore(BoundedStore[Stored]):
    """Finished responses by id, and those that run in the background."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        super().__init__(max_bytes, seconds)
        self.running: dict[str, BackgroundRun] = {}

    def put(self, owner: int, response: dict[str, Any], inputs: History,
            events: Sequence[bytes] | None = None) -> None:
        """Keep a finished response. One that alone is larger than the store is not kept."""
        size = json_size(response) + inputs.size + sum(map(len, events or ()))
        self.keep(response["id"], Stored(owner, response, inputs, None if events is None else tuple(events), size))

    def run_of(self, response_id: str, owner: int) -> BackgroundRun | None:
        """The background run of that id and owner, None where it has ended or never was."""
        found = self.running.get(response_id)
        return found if found is not None and found.owner == owner else None
