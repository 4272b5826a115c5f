"""``/v1/conversations``: items that several responses share, without their being sent again and again.

A response that names a conversation answers its items and its own input; both, and the output, become part of it when
the response is finished.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from constrained.server.bounded_store import History, Item, json_size
from constrained.server.conversation_store import Conversation
from constrained.server.engine import Engine
from constrained.server.fields import Fields, parse_body
from constrained.server.http import json_response, owner_of, read_body
from constrained.server.item_pages import listed, page_of
from constrained.server.problems import ApiError
from constrained.server.responses_request import check_items, input_items

__all__ = ["add_items", "create_conversation", "delete_conversation", "delete_item", "fetch_conversation", "fetch_item",
           "list_items", "update_conversation"]

MAX_ITEMS = 20
"""Items of one request, as OpenAI has it."""
MAX_METADATA = 16


async def create_conversation(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /v1/conversations``: with ``items`` and ``metadata``, both may be absent."""
    if not engine.settings.store_bytes:
        raise ApiError(400, "this server keeps no conversations", code="unsupported_parameter")
    fields = await _fields(request, engine, empty=True)
    fields.check_known(frozenset({"items", "metadata"}), strict=True)
    items = _new_items(fields, request_id, needed=False)
    made = Conversation(owner_of(request), f"conv_{secrets.token_hex(16)}", int(time.time()), _metadata(fields),
                        History().plus(items))
    if not engine.conversations.keep(made.id, made):
        raise fields.wrong("items", "are larger than this server keeps")
    return json_response(made.to_dict())


async def fetch_conversation(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/conversations/{id}``."""
    return json_response(_found(request, engine).to_dict())


async def update_conversation(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /v1/conversations/{id}``: other ``metadata``."""
    found = _found(request, engine)
    fields = await _fields(request, engine)
    fields.check_known(frozenset({"metadata"}), strict=True)
    found = replace(found, metadata=_metadata(fields))
    engine.conversations.keep(found.id, found)
    return json_response(found.to_dict())


async def delete_conversation(request: Request, engine: Engine, request_id: str) -> Response:
    """``DELETE /v1/conversations/{id}``; responses that were part of it stay."""
    found = _found(request, engine)
    engine.conversations.forget(found.id)
    return json_response({"id": found.id, "object": "conversation.deleted", "deleted": True})


async def add_items(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /v1/conversations/{id}/items``: up to 20 ``items``."""
    found = _found(request, engine)
    fields = await _fields(request, engine)
    fields.check_known(frozenset({"items"}), strict=True)
    items = _new_items(fields, request_id, needed=True)
    engine.conversations.extend(found.id, found.owner, items)
    return listed(items)


async def list_items(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/conversations/{id}/items``: a page, newest first unless asked."""
    return page_of(_found(request, engine).history.items, request.query_params)


async def fetch_item(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/conversations/{id}/items/{item}``."""
    return json_response(_item(request, _found(request, engine)))


async def delete_item(request: Request, engine: Engine, request_id: str) -> Response:
    """``DELETE /v1/conversations/{id}/items/{item}``: the conversation without it."""
    found = _found(request, engine)
    item = _item(request, found)
    left = tuple(one for one in found.history.items if one is not item)
    found = replace(found, history=History(left, found.history.size - json_size(item)))
    engine.conversations.keep(found.id, found)
    return json_response(found.to_dict())


async def _fields(request: Request, engine: Engine, *, empty: bool = False) -> Fields:
    body = await read_body(request, engine.settings.max_body_bytes, engine.settings.body_seconds)
    return Fields({}) if empty and not body.strip() else parse_body(body)


def _new_items(fields: Fields, request_id: str, *, needed: bool) -> list[Item]:
    if len(fields.items("items", limit=MAX_ITEMS)) == 0:
        if needed:
            raise fields.wrong("items", "is required")
        return []
    check_items(fields, "items")
    return input_items(fields.value["items"], request_id)


def _metadata(fields: Fields) -> dict[str, str]:
    given = fields.object("metadata")
    if given is None:
        return {}
    if len(given.value) > MAX_METADATA:
        raise fields.wrong("metadata", f"has more than {MAX_METADATA} entries")
    return {key: given.needed_text(key, limit=512) for key in given.value}


def _found(request: Request, engine: Engine) -> Conversation:
    key = request.path_params["id"]
    found = engine.conversations.get(key, owner_of(request))
    if found is None:
        raise ApiError(404, f"there is no conversation {key[:100]!r}", code="conversation_not_found")
    return found


def _item(request: Request, conversation: Conversation) -> Item:
    key = request.path_params["item"]
    for item in conversation.history.items:
        if item["id"] == key:
            return item
    raise ApiError(404, f"the conversation has no item {key[:100]!r}", code="item_not_found")
