"""Agents: a model, tools, and the loop between them, to a typed answer.

    agent = Agent(llm, tools=[search, weather], output_type=Answer, max_steps=6)
    run = agent.run("Compare Paris and Rome today.")
    run.output, run.steps, run.usage

A step is one generation: tool calls, or the answer. The grammar holds a step to one of the two, calls to the tools'
schemas and the answer to its type. The calls of a step run at the same time, ``async`` ones in the event loop, others
in threads of their own; what they return or raise, and that one took too long, goes back to the model as its result.
The last step that ``max_steps`` allows may only answer, so a run always ends with one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from constrained.typed.call import ToolChoice
from constrained.typed.errors import ToolError
from constrained.typed.output_type import output_type as typed
from constrained.typed.prompts import as_messages, with_system
from constrained.typed.results import Result, ToolCall, Usage
from constrained.typed.threads import run_here
from constrained.typed.tools import Tool, ToolResult, as_tools, checked_choice, tool_dicts

if TYPE_CHECKING:
    from constrained.typed.llm import LLM

__all__ = ["Agent", "AgentRun", "Step"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One generation of a run, and what its calls came to."""

    result: Result[Any]
    tool_calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()

    @property
    def usage(self) -> Usage:
        """Of the generation."""
        return self.result.usage


@dataclass(frozen=True, slots=True)
class AgentRun(Generic[T]):
    """A finished run."""

    output: T
    steps: tuple[Step, ...]
    usage: Usage
    """Of all steps together, forced tokens among them."""
    messages: tuple[Mapping[str, Any], ...] = field(repr=False)
    """The whole conversation: pass it, with a further message, to the next run."""


class Agent:
    """See the module docstring.

    Args:
        llm: the model.
        tools: ``Tool`` values or functions.
        output_type: of the answer; None: free text.
        instructions: the system message.
        tool_choice: of the first step; later ones choose freely. As ``LLM.chat``.
        parallel_tool_calls: whether a step may make several calls.
        max_steps: most generations; the last may only answer.
        tool_timeout: seconds that a call may take, where its tool does not say.
        options: of ``LLM.generate`` (``temperature``, ``max_tokens``, ``retries``, ``thinking`` ...).

    Raises:
        ToolError: a function that cannot be a tool, a clash of names, a choice that names no tool.
        AnnotationError: ``output_type`` is no type.
    """

    def __init__(self, llm: LLM, tools: Sequence[Any] = (), output_type: Any = None, *,
                 instructions: str | None = None, tool_choice: ToolChoice = "auto", parallel_tool_calls: bool = True,
                 max_steps: int = 8, tool_timeout: float | None = 60.0, **options: Any) -> None:
        from constrained.typed.llm import Options

        if not isinstance(max_steps, int) or max_steps < 1:
            raise ToolError(f"max_steps is a number of at least 1, not {max_steps!r:.50}")
        if tool_timeout is not None and tool_timeout <= 0:
            raise ToolError(f"tool_timeout is a number of seconds above 0, not {tool_timeout!r:.50}")
        made = as_tools(tools)
        foreign = [one for one in made if not isinstance(one, Tool)]
        if foreign:
            raise ToolError("an agent runs its tools: a dict has no function to run",
                            hint="give functions or Tool values; llm.chat(tools=[...]) takes dicts")
        self.llm = llm
        self.tools: dict[str, Tool] = {one.name: one for one in made if isinstance(one, Tool)}
        self.output_type = None if output_type is None else typed(output_type)
        self.instructions = instructions
        self.tool_choice = tool_choice
        self.parallel_tool_calls = parallel_tool_calls
        self.max_steps = max_steps
        self.tool_timeout = tool_timeout
        checked_choice(tool_dicts(made), tool_choice, parallel_tool_calls)
        self._told = None if self.output_type is None else self.output_type.instructions
        self._options = options
        llm._params(Options().updated(**options))  # wrong ones are found here

    def run(self, prompt: Any) -> AgentRun[Any]:
        """Run to the answer. ``prompt``: text, or messages (``run.messages`` of an earlier run and one more).

        Raises ``TruncatedError``, ``OutputError``, ``BudgetError`` as ``LLM.generate``.
        """
        return run_here(lambda: self.arun(prompt))  # type: ignore[no-any-return]

    async def arun(self, prompt: Any) -> AgentRun[Any]:
        """``run`` in the caller's event loop."""
        messages = self._messages(prompt)
        steps: list[Step] = []
        usage = Usage(requests=0)
        for number in range(self.max_steps):
            result = await self._step(messages, number)
            usage += result.usage
            message = result.message
            assert message is not None
            messages = (*messages, message.to_dict())
            calls = message.tool_calls
            if not calls:
                steps.append(Step(result))
                return AgentRun(result.output, tuple(steps), usage, messages)
            if result.finish_reason != "tool_calls":
                result.output  # noqa: B018 - cut in the middle of a call: raises
            results = await asyncio.gather(*(self._run_tool(call) for call in calls))
            steps.append(Step(result, calls, tuple(results)))
            messages = (*messages, *(one.to_dict() for one in results))
        raise AssertionError("the last step only answers")

    async def _step(self, messages: tuple[Mapping[str, Any], ...], number: int) -> Result[Any]:
        last = number == self.max_steps - 1
        choice: Any = "none" if last else self.tool_choice if number == 0 else "auto"
        return await self.llm.achat(
            messages, self.output_type, tools=list(self.tools.values()), tool_choice=choice,
            parallel_tool_calls=self.parallel_tool_calls, schema_in_prompt=False, **self._options)

    async def _run_tool(self, call: ToolCall) -> ToolResult:
        tool = self.tools.get(call.function.name)
        if tool is None:  # only a server can name one that is not there
            known = ", ".join(self.tools)
            error = ToolError(f"there is no tool {call.function.name!r:.100}; there are: {known}")
            return ToolResult(call, f"Error: {error}", None, error)
        return await tool.run(call, self.tool_timeout)

    def _messages(self, prompt: Any) -> tuple[Mapping[str, Any], ...]:
        """The conversation so far; what is to be said about the answer stands in the system message, once."""
        messages = as_messages(prompt, self.instructions if self.instructions is not None else self.llm.system)
        if self._told is None or any(self._told in str(message.get("content")) for message in messages[:1]):
            return messages
        told = self._told if not self.tools else f"When you know the answer: {self._told[0].lower()}{self._told[1:]}"
        return with_system(messages, told)
