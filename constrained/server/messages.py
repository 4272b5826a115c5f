"""Chat messages as clients send them, checked and made plain for a chat template.

Content may be a string or a list of text parts; other parts (images, audio, files) are refused, so nothing is ever
fetched. Roles are OpenAI's; ``developer`` becomes ``system`` and ``function`` becomes ``tool``, which templates know.
"""

from __future__ import annotations

import json
from typing import Any

from constrained.server.fields import Fields
from constrained.server.problems import bad_request

__all__ = ["MAX_MESSAGES", "chat_messages", "content_text"]

MAX_MESSAGES = 4_096
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
         "function": "tool"}
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def chat_messages(fields: Fields) -> list[dict[str, Any]]:
    """The ``messages`` of a chat request. Raises :class:`ApiError`."""
    found = [_message(one) for one in fields.objects("messages", limit=MAX_MESSAGES)]
    if not found:
        raise bad_request("messages: at least one message is required", "messages")
    return found


def _message(fields: Fields) -> dict[str, Any]:
    role = fields.needed_text("role", limit=40)
    if role not in ROLES:
        raise fields.wrong("role", f"must be one of {', '.join(sorted(ROLES))}")
    message: dict[str, Any] = {"role": ROLES[role]}
    calls = _tool_calls(fields) if role == "assistant" else []
    content = content_text(fields, "content", needed=not calls and role != "assistant")
    if content is None and not calls and not fields.has("refusal"):
        content = ""
    message["content"] = "" if content is None else content
    if calls:
        message["tool_calls"] = calls
    for name in ("reasoning_content", "reasoning", "refusal", "name", "tool_call_id"):
        text = fields.text(name) if isinstance(fields.value.get(name), str) else None
        if text is not None:
            message[name] = text
    if "reasoning" in message:
        message["reasoning_content"] = message.pop("reasoning")
    return message


def content_text(fields: Fields, key: str, *, needed: bool = False) -> str | None:
    """A string, or the joined texts of a list of parts."""
    value = fields.value.get(key)
    if value is None:
        if needed:
            raise fields.wrong(key, "is required")
        return None
    if not isinstance(value, list):
        return fields.text(key)
    texts: list[str] = []
    for part in fields.objects(key, limit=10_000):
        kind = part.needed_text("type", limit=60)
        if kind == "refusal":
            texts.append(part.needed_text("refusal"))
        elif kind in TEXT_PARTS:
            texts.append(part.needed_text("text"))
        else:
            raise part.wrong("type", f"parts of type {kind!r} are not supported: this server reads text",
                             "unsupported_parameter")
    return "".join(texts)


def _tool_calls(fields: Fields) -> list[dict[str, Any]]:
    """Earlier calls of the assistant, arguments as the value that they stand for (templates write them as JSON)."""
    calls: list[dict[str, Any]] = []
    for one in fields.objects("tool_calls", limit=1_000):
        custom = one.text("type") == "custom"
        called = one.needed_object("custom" if custom else "function")
        name = called.needed_text("name", limit=256)
        arguments: Any = called.text("input" if custom else "arguments", "")
        if not custom:
            arguments = parsed_arguments(arguments)
        calls.append({"id": one.text("id", "", limit=256), "type": "function",
                      "function": {"name": name, "arguments": arguments}})
    return calls


def parsed_arguments(text: str) -> Any:
    """Arguments of a call as an object; text that is none stays text."""
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
