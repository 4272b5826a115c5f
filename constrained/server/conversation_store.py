"""``ConversationStore``: conversations of the Responses API by their ids.

    id -> owner, metadata, history

Kept as responses are: in memory, bounded in bytes and in time since their last change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from constrained.server.bounded_store import BoundedStore, History, Item, json_size

__all__ = ["Conversation", "ConversationStore"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; changed ones are new values."""

    owner: int
    id: str
    created: int
    metadata: dict[str, str]
    history: History

    @property
    def size(self) -> int:
        """Bytes of JSON text."""
        return self.history.size + json_size(self.metadata)

    def to_dict(self) -> dict[str, Any]:
        """As OpenAI's API writes it."""
        return {"id": self.id, "object": "conversation", "created_at": self.created, "metadata": self.metadata}


class ConversationStore(BoundedStore[Conversation]):
    """Conversations by id; the longest unused go first."""

    def extend(self, key: str, owner: int, items: Sequence[Item]) -> None:
        """Add items, if it is still there. One that gets larger than the store is forgotten."""
        found = self.get(key, owner)
        if found is not None:
            self.keep(key, replace(found, history=found.history.plus(items)))
