"""``BoundedStore``: what a server remembers for its clients: bounded in bytes and in time, the oldest go first.

    key -> entry (owner, size in bytes, when it is forgotten)

Entries belong to the API key that made them: for everybody else they are not there. All are kept for the same time
since they were put, so they expire in the order in which they stand. All calls come from one event loop.

``History`` is a list of items with its size, which grows without being measured again: a conversation of n turns costs
n measurements, not n squared.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["BoundedStore", "Entry", "History", "Item", "json_size"]

Item = dict[str, Any]


class Entry(Protocol):
    """What is kept."""

    @property
    def owner(self) -> int:
        """The number of the API key that it belongs to."""

    @property
    def size(self) -> int:
        """Bytes of JSON text that it holds on to."""


E = TypeVar("E", bound=Entry)


def json_size(value: Any) -> int:
    """Bytes of a value as JSON text."""
    return len(json.dumps(value))


@dataclass(frozen=True, slots=True)
class History:
    """Items of a conversation, oldest first, and their size."""

    items: tuple[Item, ...] = ()
    size: int = 0

    def plus(self, items: Iterable[Item]) -> History:
        """These and more; only the new ones are measured."""
        more = tuple(items)
        return History((*self.items, *more), self.size + sum(map(json_size, more)))


class BoundedStore(Generic[E]):
    """At most ``max_bytes`` of entries, each for ``seconds``; 0 bytes: nothing is kept."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self.max_bytes = max_bytes
        self.held_bytes = 0
        self._seconds = seconds
        self._found: OrderedDict[str, tuple[E, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def keep(self, key: str, entry: E) -> bool:
        """Keep an entry, in place of one of the same key. False: it alone is larger than the store."""
        self.forget(key)
        if entry.size > self.max_bytes:
            return False
        self._found[key] = entry, time.monotonic() + self._seconds
        self.held_bytes += entry.size
        self._expire()
        while self.held_bytes > self.max_bytes:
            self.forget(next(iter(self._found)))
        return True

    def get(self, key: str, owner: int) -> E | None:
        """The entry of that key and owner, None where there is none (any more)."""
        self._expire()
        found = self._found.get(key)
        return found[0] if found is not None and found[0].owner == owner else None

    def delete(self, key: str, owner: int) -> bool:
        """Forget it; False where there was none."""
        if self.get(key, owner) is None:
            return False
        self.forget(key)
        return True

    def forget(self, key: str) -> None:
        """Drop an entry, whoever owns it, if it is there."""
        found = self._found.pop(key, None)
        if found is not None:
            self.held_bytes -= found[0].size

    def _expire(self) -> None:
        now = time.monotonic()
        while self._found:
            first = next(iter(self._found))
            if self._found[first][1] > now:
                return
            self.forget(first)
