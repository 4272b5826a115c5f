"""One call of a model as a plain value, what its engine says meanwhile, and how it ended.

    LLM.generate(...) -> Call -> engine.start(call) -> Generation: Pieces, then its Ending -> Result

Both engines (this library's decoder, a server) speak ``Piece``; everything above works on these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from constrained.typed.output_type import OutputType
from constrained.typed.results import FinishReason, Usage

if TYPE_CHECKING:
    from constrained.decoder.logprobs import TokenLogprob
    from constrained.decoder.sampling_params import SamplingParams

__all__ = ["Budget", "Call", "Ending", "Engine", "Generation", "Piece", "TextLogprob", "ToolChoice"]

Budget = Literal["close", "cut"]
"""At the token limit a typed text is steered to an end (``close``), or ``cut``."""

ToolChoice = Any
"""``"auto"``, ``"none"``, ``"required"``, a function's or allowed tools' dict, or a list of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked of an engine. Either ``messages`` or ``prompt`` (text or token ids as they are)."""

    params: SamplingParams
    messages: tuple[Mapping[str, Any], ...] | None = None
    prompt: str | tuple[int, ...] | None = None
    output: OutputType | None = None
    budget: Budget = "close"
    tools: tuple[Mapping[str, Any], ...] = ()
    """In OpenAI's form."""
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool = True
    thinking: bool | int | None = None
    template_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calls_tools(self) -> bool:
        """Tools may be called."""
        return bool(self.tools) and self.tool_choice != "none"


@dataclass(frozen=True, slots=True)
class TextLogprob:
    """A token of a server, which has no id here: its text, its log-probability, the likeliest others."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """What one step brought. At most one of the texts is set, besides tokens and log-probabilities."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    call: int = -1
    """Number of the tool call that ``name``, ``arguments`` and ``closed`` are about."""
    name: str = ""
    arguments: str = ""
    call_id: str = ""
    closed: bool = False
    token_ids: tuple[int, ...] = ()
    forced: int = 0
    forced_at: tuple[int, ...] = ()
    """Places of the forced ones among ``token_ids``, where the engine knows them."""
    steered_at: tuple[int, ...] = ()
    """Places of those that the token limit asked for."""
    logprobs: tuple[TokenLogprob | TextLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a generation ended."""

    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[TokenLogprob | TextLogprob, ...] | None = None
    seed: int | None = None
    error: Exception | None = None


class Generation(Protocol):
    """A call that runs: iterate for its pieces, in any one thread; then ``ending`` is there."""

    held: bool
    """What is written is a text of the call's grammar, as far as it goes; else it is only hoped for."""

    def __iter__(self) -> Iterator[Piece]: ...
    def cancel(self) -> None:
        """End it soon, from any thread."""
        ...

    @property
    def ending(self) -> Ending:
        """After the last piece."""
        ...


class Engine(Protocol):
    """A model behind a ``Call``."""

    described: str

    def start(self, call: Call) -> Generation:
        """Check the call and begin. Raises typed errors; nothing runs then."""
        ...

    def close(self) -> None:
        """End everything."""
        ...
