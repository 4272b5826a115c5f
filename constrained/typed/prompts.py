"""Messages of a call: from text, with the instructions of a type, and with what was wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from constrained.typed.errors import PromptError

__all__ = ["as_messages", "with_feedback", "with_instructions", "with_system", "with_text"]

ROLES = ("system", "developer", "user", "assistant", "tool")


def as_messages(prompt: Any, system: str | None = None) -> tuple[Mapping[str, Any], ...]:
    """Messages out of a text (one user message) or a list of messages; ``system`` goes first where there is none.

    Raises :class:`PromptError` for what is neither, and for a message without content.
    """
    if isinstance(prompt, Sequence) and not isinstance(prompt, str) and not prompt:
        raise PromptError("a prompt is text or a list of messages; this list is empty")
    if isinstance(prompt, str):
        messages: list[Mapping[str, Any]] = [{"role": "user", "content": prompt}]
    elif isinstance(prompt, Sequence) and prompt and all(hasattr(m, "to_dict") or isinstance(m, Mapping)
                                                         for m in prompt):
        messages = [m if isinstance(m, Mapping) else m.to_dict() for m in prompt]
    else:
        raise PromptError(f"a prompt is text or a list of messages, not {type(prompt).__name__}",
                          hint='[{"role": "user", "content": "..."}]; for token ids pass raw=True')
    for number, message in enumerate(messages):
        if message.get("role") not in ROLES:
            raise PromptError(f"message {number} has the role {message.get('role')!r:.50}",
                              hint=f"one of: {', '.join(ROLES)}")
        if message.get("content") is None and message["role"] != "assistant":
            raise PromptError(f"message {number} ({message['role']}) has no content")
    if system is not None and messages[0].get("role") not in ("system", "developer"):
        messages.insert(0, {"role": "system", "content": system})
    return tuple(messages)


def with_text(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages with contents that are lists of parts joined to text, which is all that a template here can show.

    Raises :class:`PromptError` for parts that are no text.
    """
    found: list[Mapping[str, Any]] = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, str) or content is None:
            found.append(message)
            continue
        texts: list[str] = []
        for part in content if isinstance(content, (list, tuple)) else [content]:
            text = part.get("text", part.get("refusal")) if isinstance(part, Mapping) else None
            if not isinstance(text, str):
                kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
                raise PromptError(f"message {number} has a part that is no text: {kind!r:.50}",
                                  hint="this model reads text only")
            texts.append(text)
        found.append({**message, "content": "".join(texts)})
    return found


def with_instructions(messages: tuple[Mapping[str, Any], ...], text: str | None) -> tuple[Mapping[str, Any], ...]:
    """``text`` before the last message if a user wrote it and it is text, else added to the system's, else as one.

    Before, not behind: prompts of one type then begin alike, and the KV cache holds that beginning. The answers are as
    good (``benchmarks/quality.py``, ``behind``).
    """
    if not text:
        return messages
    last = messages[-1]
    if last.get("role") == "user" and isinstance(last.get("content"), str):
        return (*messages[:-1], {**last, "content": f"{text}\n\n{last['content']}"})
    return with_system(messages, text)


def with_system(messages: Sequence[Mapping[str, Any]], text: str) -> tuple[Mapping[str, Any], ...]:
    """``text`` added to the system message, which is made where there is none."""
    first = messages[0] if messages else {}
    if first.get("role") in ("system", "developer") and isinstance(first.get("content"), str):
        return ({**first, "content": f"{first['content']}\n\n{text}"}, *messages[1:])
    return ({"role": "system", "content": text}, *messages)


def with_feedback(messages: tuple[Mapping[str, Any], ...], answer: str, error: str) -> tuple[Mapping[str, Any], ...]:
    """The conversation after an answer that is not valid."""
    return (*messages, {"role": "assistant", "content": answer},
            {"role": "user", "content": f"This answer is not valid: {error}. Answer again, corrected."})
