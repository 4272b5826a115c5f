"""What is remembered for a while: the last things, and those of earlier epochs as long as they are not given back.

To forget thousands of objects at once would hold up a step of a text by milliseconds. So for each new one the oldest
goes, and what an epoch leaves behind goes a little with each step.
"""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar

__all__ = ["Fading", "Recent"]

KEPT = 4_000
"""Things that are remembered."""

FADES = 40
"""Things of earlier epochs that go with a step."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(dict[Key, Value]):
    """What was kept last; new things come by ``keep`` alone."""

    def __init__(self) -> None:
        super().__init__()
        self.order: deque[Key] = deque()

    def keep(self, key: Key, value: Value) -> Value | None:
        """Remember ``value``, which was not known; returns the one that goes."""
        self.order.append(key)
        self[key] = value
        return self.drop() if len(self.order) > KEPT else None

    def drop(self) -> Value:
        """Forget the oldest, and return it."""
        return self.pop(self.order.popleft())


class Fading:
    """Things that nobody asks for any more. ``size``: about how many bytes they take."""

    def __init__(self) -> None:
        self.left: list[Recent[Any, Any]] = []
        self.count = self.size = 0

    def add(self, left: list[Recent[Any, Any]], size: int) -> None:
        """Take over ``left``, of about ``size`` bytes."""
        self.left += left
        self.count += sum(map(len, left))
        self.size += size

    def step(self) -> None:
        """Give some of them back."""
        oldest = self.left[-1]
        some = min(FADES, len(oldest))
        for _ in range(some):
            oldest.drop()
        if not oldest:
            self.left.pop()
        self.size -= self.size * some // max(self.count, 1)
        self.count -= some
