"""Pages of items, as OpenAI's lists have them: ``limit``, ``order`` (newest first unless asked), ``after``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from constrained.server.bounded_store import Item
from constrained.server.http import json_response
from constrained.server.problems import bad_request

__all__ = ["page_of"]

MAX_LISTED = 100
DEFAULT_LISTED = 20


def page_of(listed: Sequence[Item], query: Mapping[str, str]) -> Response:
    """The page that the query asks for. Raises :class:`ApiError`."""
    items = list(listed)
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
    return json_response({"object": "list", "data": page, "first_id": page[0]["id"] if page else None,
                          "last_id": page[-1]["id"] if page else None, "has_more": len(items) > len(page)})
