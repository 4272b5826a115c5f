"""What a stream says, event by event. Names and fields are those of openai-python's chat stream, plus ours.

``content.delta|done``, ``tool_calls.function.arguments.delta|done``, ``logprobs.content.delta|done`` and
``refusal.delta|done`` are OpenAI's; ``reasoning.delta|done``, ``output.partial`` and ``output.done`` are this
library's, and so are an agent's: ``step.start|done``, ``tool.call|result``. ``snapshot`` is everything so far of one
generation. The last event always is ``output.done``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from constrained.typed.partial import Partial
from constrained.typed.results import Result, ToolCall

if TYPE_CHECKING:
    from constrained.decoder.logprobs import TokenLogprob
    from constrained.typed.agent import Step
    from constrained.typed.call import TextLogprob
    from constrained.typed.tools import ToolResult

__all__ = [
    "AgentEvent",
    "ArgumentsDelta",
    "ArgumentsDone",
    "ContentDelta",
    "ContentDone",
    "Event",
    "LogprobsDelta",
    "LogprobsDone",
    "OutputDone",
    "OutputPartial",
    "ReasoningDelta",
    "ReasoningDone",
    "RefusalDelta",
    "RefusalDone",
    "StepDone",
    "StepStart",
    "ToolCallEvent",
    "ToolResultEvent",
]


@dataclass(frozen=True, slots=True)
class ContentDelta:
    """Text that became certain."""

    delta: str
    snapshot: str
    parsed: Any = None
    """The partial value as plain JSON, None for text."""
    forced: int = 0
    """How many of the tokens behind it the grammar forced."""
    type: Literal["content.delta"] = "content.delta"


@dataclass(frozen=True, slots=True)
class ContentDone:
    """The whole text."""

    content: str
    parsed: Any = None
    type: Literal["content.done"] = "content.done"


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """A refusal, from servers that tell it apart."""

    delta: str
    snapshot: str
    type: Literal["refusal.delta"] = "refusal.delta"


@dataclass(frozen=True, slots=True)
class RefusalDone:
    """The whole refusal."""

    refusal: str
    type: Literal["refusal.done"] = "refusal.done"


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """Arguments of tool call ``index`` as they are written."""

    name: str
    index: int
    arguments: str
    """Everything so far, as JSON text."""
    parsed_arguments: Any
    """What of it is certain."""
    arguments_delta: str
    type: Literal["tool_calls.function.arguments.delta"] = "tool_calls.function.arguments.delta"


@dataclass(frozen=True, slots=True)
class ArgumentsDone:
    """A whole tool call."""

    name: str
    index: int
    arguments: str
    parsed_arguments: Any
    type: Literal["tool_calls.function.arguments.done"] = "tool_calls.function.arguments.done"


@dataclass(frozen=True, slots=True)
class LogprobsDelta:
    """Log-probabilities of the tokens of this step."""

    content: tuple[TokenLogprob | TextLogprob, ...]
    snapshot: tuple[TokenLogprob | TextLogprob, ...] = field(repr=False)
    type: Literal["logprobs.content.delta"] = "logprobs.content.delta"


@dataclass(frozen=True, slots=True)
class LogprobsDone:
    """All log-probabilities."""

    content: tuple[TokenLogprob | TextLogprob, ...]
    type: Literal["logprobs.content.done"] = "logprobs.content.done"


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Thinking before the answer."""

    delta: str
    snapshot: str
    type: Literal["reasoning.delta"] = "reasoning.delta"


@dataclass(frozen=True, slots=True)
class ReasoningDone:
    """The whole of it."""

    reasoning: str
    type: Literal["reasoning.done"] = "reasoning.done"


@dataclass(frozen=True, slots=True)
class OutputPartial:
    """More of the value can no longer change."""

    partial: Partial[Any]
    type: Literal["output.partial"] = "output.partial"


@dataclass(frozen=True, slots=True)
class OutputDone:
    """The end. ``output`` is the value; asking a cut or failed result for it raises."""

    result: Result[Any] = field(repr=False)
    type: Literal["output.done"] = "output.done"

    @property
    def output(self) -> Any:
        """``result.output``."""
        return self.result.output


Event = (ContentDelta | ContentDone | RefusalDelta | RefusalDone | ArgumentsDelta | ArgumentsDone | LogprobsDelta
         | LogprobsDone | ReasoningDelta | ReasoningDone | OutputPartial | OutputDone)


@dataclass(frozen=True, slots=True)
class StepStart:
    """An agent begins a generation; the events of it follow, without an ``output.done`` of its own."""

    step: int
    """From 0."""
    type: Literal["step.start"] = "step.start"


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """A tool begins to run. ``index`` is that of the call's ``tool_calls.function.arguments`` events."""

    step: int
    index: int
    call: ToolCall
    type: Literal["tool.call"] = "tool.call"


@dataclass(frozen=True, slots=True)
class ToolResultEvent:
    """A tool came to an end. Results come as they are there, not in the order of the calls."""

    step: int
    index: int
    result: ToolResult
    type: Literal["tool.result"] = "tool.result"


@dataclass(frozen=True, slots=True)
class StepDone:
    """A generation and all its tools are over."""

    step: int
    outcome: Step = field(repr=False)
    type: Literal["step.done"] = "step.done"


AgentEvent = Event | StepStart | ToolCallEvent | ToolResultEvent | StepDone
"""What ``Agent.stream`` says."""
