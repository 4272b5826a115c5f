"""What a call gives back: ``Result``, and ``Truncated`` and ``Failed``, whose ``output`` raises.

So a batch returns one object for each prompt, nothing is lost when one of them fails, and no value is made up: who
asks a cut text for its value gets an error that says what is missing, and ``partial`` holds what was whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from constrained.typed.errors import TruncatedError

if TYPE_CHECKING:
    from constrained.decoder.logprobs import TokenLogprob
    from constrained.typed.call import TextLogprob

__all__ = ["Failed", "FunctionCall", "Message", "Result", "ToolCall", "Truncated", "Usage"]

T = TypeVar("T")

FinishReason = Literal["stop", "length", "time", "cancelled", "callback", "tool_calls", "error", "content_filter"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, or of several added up."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens found in the KV cache."""
    output_tokens: int = 0
    forced_tokens: int = 0
    """Output tokens that the grammar forced: they cost no sampling step."""
    forward_passes: int = 0
    requests: int = 1
    """Generations: retries and the steps of an agent count each."""

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(self.prompt_tokens + other.prompt_tokens, self.cached_tokens + other.cached_tokens,
                     self.output_tokens + other.output_tokens, self.forced_tokens + other.forced_tokens,
                     self.forward_passes + other.forward_passes, self.requests + other.requests)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """Name and arguments of a call; ``arguments`` is JSON text, as in OpenAI's messages."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for."""

    id: str
    function: FunctionCall
    type: Literal["function"] = "function"

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a message."""
        return {"id": self.id, "type": self.type,
                "function": {"name": self.function.name, "arguments": self.function.arguments}}


@dataclass(frozen=True, slots=True)
class Message:
    """What the model said, as a chat message."""

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_content: str | None = None
    refusal: str | None = None
    role: Literal["assistant"] = "assistant"

    def to_dict(self) -> dict[str, Any]:
        """For the next call's messages."""
        message: dict[str, Any] = {"role": self.role, "content": self.content or ""}
        if self.tool_calls:
            message["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.reasoning_content:
            message["reasoning_content"] = self.reasoning_content
        return message


@dataclass(frozen=True)
class Result(Generic[T]):
    """A finished generation."""

    value: T
    text: str
    """What was written, without reasoning."""
    finish_reason: FinishReason
    usage: Usage
    token_ids: tuple[int, ...] = field(default=(), repr=False)
    logprobs: tuple[TokenLogprob | TextLogprob, ...] | None = field(default=None, repr=False)
    """Of the distribution after the mask, where they were asked for."""
    seed: int | None = None
    """With it the same text can be drawn again."""
    message: Message | None = field(default=None, repr=False)
    """The answer of a chat, with its tool calls."""
    reasoning: str | None = field(default=None, repr=False)
    captures: dict[str, list[str]] | None = field(default=None, repr=False)
    """The named parts of a plain text, where its grammar names some (``Capture``)."""

    @property
    def output(self) -> T:
        """The value: of the type that was asked for, or the text. None where the model called tools instead."""
        return self.value


@dataclass(frozen=True)
class Truncated(Result[T]):
    """The text ended (tokens, time, a cancellation) before the value was whole.

    ``partial`` holds what can no longer change: closed fields and whole list elements of JSON; the text of plain text.
    """

    partial: Any = None

    @property
    def output(self) -> T:
        """Raises :class:`TruncatedError`."""
        why = {"length": "the token limit", "time": "the time limit"}.get(self.finish_reason, self.finish_reason)
        raise TruncatedError(self, f"the text was cut ({why}) before its value was whole",
                             hint="see result.partial; raise max_tokens or time_limit")


@dataclass(frozen=True)
class Failed(Result[T]):
    """A generation that ended with an error, in a batch."""

    error: Exception | None = None

    @property
    def output(self) -> T:
        """Raises the error."""
        assert self.error is not None
        raise self.error
