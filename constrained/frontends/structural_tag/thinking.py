"""A think section before whatever grammar: ``<think>`` text ``</think>``, then the structure.

Prompts of thinking models often end in an opened section (``...<think>\\n``); then the section goes on with the first
token that is generated, and its begin must not be asked for again. ``Thinking.of(prompt=...)`` looks at the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from constrained.errors import GrammarError, echo

__all__ = ["Thinking"]

BLANK: dict[str, Any] = {"type": "regex", "pattern": "[ \\n\\r\\t]{0,16}"}


@dataclass(frozen=True, slots=True)
class Thinking:
    """What may or must come before the structure.

    Args:
        begin, end: the delimiters; each may be a token of the vocabulary or text.
        required: the section must come; else it may.
        opened: the prompt has written ``begin`` already.
        max_tokens: budget of the section in tokens, whatever ``end`` is spelled with: when so many have something of
            the text, only ``end`` may follow (its rest, if the last of them has begun it).
        max_chars: budget in characters.
    """

    begin: str = "<think>"
    end: str = "</think>"
    required: bool = False
    opened: bool = False
    max_tokens: int | None = None
    max_chars: int | None = None

    def __post_init__(self) -> None:
        for name in ("begin", "end"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise GrammarError(f"the {name} of a think section is a non-empty str, not {value!r:.60}")
        for name in ("max_tokens", "max_chars"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise GrammarError(f"{name} of a think section is an int of at least 0, not {value!r:.60}")

    @classmethod
    def of(cls, value: Any, begin: str = "<think>", end: str = "</think>") -> Thinking | None:
        """The section that ``thinking=`` asks for.

        None or False: none. True or ``"optional"``, ``"required"``, ``"opened"``. A mapping: ``mode`` (one of these),
        ``begin``, ``end``, ``max_tokens``, ``max_chars``, and ``opened`` or ``prompt``, whose end is looked at. A
        ``Thinking``: as it is. Raises ``GrammarError``.
        """
        if value is None or value is False or isinstance(value, Thinking):
            return value or None
        if value is True:
            value = "optional"
        if isinstance(value, str):
            value = {"mode": value}
        if not isinstance(value, Mapping):
            raise GrammarError(f"thinking is a bool, a str, a dict or a Thinking, not {type(value).__name__}")
        known = {"mode", "begin", "end", "max_tokens", "max_chars", "opened", "prompt"}
        if not known.issuperset(value):
            raise GrammarError(f"unknown option of thinking: {sorted(map(str, set(value) - known))[0]!r:.60}",
                               hint="there are " + ", ".join(sorted(known)))
        mode = value.get("mode", "optional")
        if mode not in ("optional", "required", "opened"):
            raise GrammarError(f"unknown mode of thinking: {mode!r:.60}", hint="optional, required or opened")
        found = cls(value.get("begin", begin), value.get("end", end), mode == "required",
                    bool(value.get("opened")) or mode == "opened", value.get("max_tokens"), value.get("max_chars"))
        return found if value.get("prompt") is None else found.after(value["prompt"])

    def after(self, prompt: str) -> Thinking:
        """The same behind a prompt: opened if its last ``begin`` has no ``end`` behind it. Raises ``GrammarError``."""
        if not isinstance(prompt, str):
            raise GrammarError(f"a prompt is a str, not {type(prompt).__name__}: {echo(repr(prompt), 60)}")
        begun = prompt.rfind(self.begin)
        return replace(self, opened=begun >= 0 and prompt.rfind(self.end) < begun)

    def before(self, content: dict[str, Any]) -> dict[str, Any]:
        """The format ``content`` (of a structural tag) behind this section."""
        text: dict[str, Any] = {"type": "any_text"}
        if self.max_tokens is not None:
            text["max_tokens"] = self.max_tokens
        if self.max_chars is not None:
            text["max_chars"] = self.max_chars
        section: dict[str, Any] = {
            "type": "tag", "begin": "" if self.opened else self.begin, "content": text, "end": self.end}
        behind: dict[str, Any] = {"type": "sequence", "elements": [section, BLANK]}
        if not self.opened and not self.required:
            behind = {"type": "optional", "content": behind}
        return {"type": "sequence", "elements": [behind, content]}
