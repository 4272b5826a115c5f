"""Pages of items, as OpenAI's lists have them: ``limit``, ``order`` (newest first unless asked), ``after``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from constrained.server.bounded_store import Item
from constrained.server.http import json_response
from constrained.server.problems import bad_request

__all__ = ["listed", "page_of"]

MAX_LISTED = 100
DEFAULT_LISTED = 20


def listed(items: Sequence[Item], *, has_more: bool = False) -> Response:
    """Items in the envelope of OpenAI's lists."""
    return json_response({"object": "list", "data": items, "first_id": items[0]["id"] if items else None,
                          "last_id": items[-1]["id"] if items else None, "has_more": has_more})


def page_of(found: Sequence[Item], query: Mapping[str, str]) -> Response:
    """The page that the query asks for. Raises :class:`ApiError`."""
    items = list(found)
    order, limit = query.get("order", "desc"), query.get("limit", str(DEFAULT_LISTED))
    if order not in ("asc", "desc"):
        raise bad_request("order: must be asc or desc", "order")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 4 and 1 <= int(limit) <= MAX_LISTED):
        raise bad_request(f"limit: must be from 1 to {MAX_LISTED}", "limit")
    if order == "desc":
        items.reverse()
    after = query.get("after")
    if after is not None:
        place = next((i for i, item in enumerate(items) if item["id"] == after), None)
        if place is None:
            raise bad_request("after: there is no such item", "after")
        items = items[place + 1 :]
    page = items[: int(limit)]
    return listed(page, has_more=len(items) > len(page))
