"""Errors of typed functions, tools and agents.

    ConstrainedError
    └── TypedError
        ├── AnnotationError     a type or an annotation that no value can be written for, or that is missing
        ├── PromptError         a docstring or messages that make no prompt
        ├── ToolError           a function that cannot be a tool, or tools that contradict each other
        ├── SourceError         what was given is no model, or a server that cannot be reached
        │   └── FetchError      the built-in model cannot be fetched
        ├── BudgetError         not even the shortest value fits into the tokens that are left
        ├── TruncatedError      the value of a text that was cut; ``result`` is the ``Truncated`` result
        └── OutputError         the text is no value of the type (validators); ``text`` and ``errors`` say why

Each says what to write instead.
"""

from __future__ import annotations

from typing import Any

from constrained.errors import ConstrainedError

__all__ = [
    "AnnotationError",
    "BudgetError",
    "FetchError",
    "OutputError",
    "PromptError",
    "SourceError",
    "ToolError",
    "TruncatedError",
    "TypedError",
]

class TypedError(ConstrainedError):
    """Base of the errors of ``constrained.typed``."""


class AnnotationError(TypedError):
    """A type is missing, or is none that a grammar can be made of."""


class PromptError(TypedError):
    """A docstring or a list of messages makes no prompt."""


class ToolError(TypedError):
    """A function cannot be a tool, or the tools of one call contradict each other."""


class SourceError(TypedError):
    """What was given is no model, or a server cannot be reached or answers what nobody asked for."""


class FetchError(SourceError):
    """The built-in model cannot be fetched or kept."""


class BudgetError(TypedError):
    """Not even the shortest value fits: ``needed`` tokens, ``available`` are left."""

    def __init__(self, needed: int, available: int) -> None:
        self.needed, self.available = needed, available
        super().__init__(f"the shortest value of this type needs {needed} tokens, {available} are left",
                         hint=f"raise max_tokens to at least {needed}, or shorten the prompt")


class TruncatedError(TypedError):
    """The text was cut before its value was whole. ``result`` holds the text and the partial value."""

    def __init__(self, result: Any, message: str, *, hint: str | None = None) -> None:
        self.result = result
        super().__init__(message, hint=hint)


class OutputError(TypedError):
    """The text is not a value of the type. ``text`` is what was written, ``errors`` what the validation said."""

    def __init__(self, message: str, *, text: str = "", errors: tuple[Any, ...] = (), hint: str | None = None) -> None:
        self.text, self.errors = text, errors
        super().__init__(message, hint=hint)
