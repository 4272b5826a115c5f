"""Agents: a model, tools, and the loop between them, to a typed answer.

    agent = Agent(llm, tools=[search, weather], output_type=Answer, max_steps=6)
    run = agent.run("Compare Paris and Rome today.")
    run.output, run.steps, run.usage

    for event in agent.stream("Compare Paris and Rome today."): ...

A step is one generation: tool calls, or the answer. The grammar holds a step to one of the two, calls to the tools'
schemas and the answer to its type. The calls of a step run at the same time, ``async`` ones in the event loop, others
in threads of their own; what they return or raise, and that one took too long, goes back to the model as its result.
The last step that ``max_steps`` allows may only answer, so a run always ends with one.

Inside there is one loop, an asynchronous generator of events (:mod:`constrained.typed.events`). ``run`` drains it over
whole answers (so that ``retries`` apply), ``stream`` hands its events on over streamed ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from constrained.typed.call import ToolChoice
from constrained.typed.errors import OutputError, ToolError
from constrained.typed.events import AgentEvent, Event, OutputDone, StepDone, StepStart, ToolCallEvent, ToolResultEvent
from constrained.typed.output_type import output_type as typed
from constrained.typed.prompts import as_messages, with_system
from constrained.typed.results import Result, ToolCall, Usage
from constrained.typed.threads import SyncIterator, run_here
from constrained.typed.tools import Tool, ToolResult, as_tools, checked_choice, tool_dicts

if TYPE_CHECKING:
    from constrained.typed.llm import LLM

__all__ = ["Agent", "AgentRun", "AgentStream", "AsyncAgentStream", "Step"]

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


@dataclass(slots=True)
class _Progress:
    """How far a run has come. ``last`` is the result of its newest generation."""

    messages: tuple[Mapping[str, Any], ...]
    steps: list[Step] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(requests=0))
    last: Result[Any] | None = None
    ended: bool = False

    def run(self) -> AgentRun[Any]:
        """The finished run. Raises what the last result raises when asked for its output."""
        if not self.ended or self.last is None:
            raise OutputError("the run was closed before its end")
        return AgentRun(self.last.output, tuple(self.steps), self.usage, self.messages)


class AgentStream:
    """Events of a run as they come; the last is ``output.done``. ``run`` goes on to the end. Closing it cancels.

        with agent.stream("Compare Paris and Rome today.") as stream:
            for event in stream: ...
        stream.run.output
    """

    def __init__(self, events: SyncIterator[AgentEvent], progress: _Progress) -> None:
        self._events = events
        self._progress = progress

    def __iter__(self) -> AgentStream:
        return self

    def __next__(self) -> AgentEvent:
        return next(self._events)

    @property
    def run(self) -> AgentRun[Any]:
        """The finished run: reads what is left first. Raises ``TruncatedError``, ``OutputError`` as ``Agent.run``."""
        for _ in self._events:
            pass
        return self._progress.run()

    def close(self) -> None:
        """Cancel the generation and the tools that run (a thread goes on in the background)."""
        self._events.close()

    def __enter__(self) -> AgentStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncAgentStream:
    """``AgentStream`` for ``async for``, in the caller's event loop. Leaving ``async with`` cancels what is left."""

    def __init__(self, events: AsyncGenerator[AgentEvent], progress: _Progress) -> None:
        self._events = events
        self._progress = progress

    def __aiter__(self) -> AsyncAgentStream:
        return self

    async def __anext__(self) -> AgentEvent:
        return await anext(self._events)

    async def run(self) -> AgentRun[Any]:
        """The finished run: reads what is left first. Raises as ``Agent.run``."""
        async for _ in self._events:
            pass
        return self._progress.run()

    async def aclose(self) -> None:
        """Cancel the generation and the tools that run."""
        await self._events.aclose()

    async def __aenter__(self) -> AsyncAgentStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


Generate = Callable[[tuple[Mapping[str, Any], ...], int], AsyncGenerator[Event]]
"""The events of one generation, ``output.done`` among them, for a conversation and the number of the step."""


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
        progress = _Progress(self._messages(prompt))
        async with aclosing(self._events(progress, self._whole)) as events:
            async for _ in events:
                pass
        return progress.run()

    def stream(self, prompt: Any) -> AgentStream:
        """The run as events: those of ``LLM.stream`` for every step, its tool calls and their results.

        What was streamed cannot be taken back, so ``retries`` does not apply. A cut or refused answer raises when it is
        asked for: ``stream.run``, ``event.output`` of ``output.done``. What cannot begin at all raises from the
        iteration. The tools run in an event loop of a thread of its own.
        """
        progress = _Progress(self._messages(prompt))
        return AgentStream(SyncIterator(lambda: self._events(progress, self._streamed)), progress)

    def astream(self, prompt: Any) -> AsyncAgentStream:
        """``stream`` for ``async for``: the tools run in the caller's event loop."""
        progress = _Progress(self._messages(prompt))
        return AsyncAgentStream(self._events(progress, self._streamed), progress)

    async def _events(self, progress: _Progress, generate: Generate) -> AsyncGenerator[AgentEvent]:
        """The loop. ``progress`` says what has come out so far, and ``ended`` when an answer (or a cut text) came."""
        for number in range(self.max_steps):
            yield StepStart(number)
            async with aclosing(generate(progress.messages, number)) as events:
                async for event in events:
                    if isinstance(event, OutputDone):
                        progress.last = event.result
                    else:
                        yield event
            result = progress.last
            assert result is not None and result.message is not None
            progress.usage += result.usage
            progress.messages = (*progress.messages, result.message.to_dict())
            calls = result.message.tool_calls
            if not calls or result.finish_reason != "tool_calls":  # an answer; or cut in the middle of a call
                progress.steps.append(Step(result, calls))
                progress.ended = True
                yield StepDone(number, progress.steps[-1])
                yield OutputDone(result)
                return
            results: list[Any] = [None] * len(calls)
            async with aclosing(self._run_tools(number, calls)) as running:
                async for happened in running:
                    if isinstance(happened, ToolResultEvent):
                        results[happened.index] = happened.result
                    yield happened
            progress.steps.append(Step(result, calls, tuple(results)))
            progress.messages = (*progress.messages, *(one.to_dict() for one in results))
            yield StepDone(number, progress.steps[-1])
        raise AssertionError("the last step only answers")

    async def _run_tools(self, number: int, calls: Sequence[ToolCall]) -> AsyncGenerator[ToolCallEvent
                                                                                        | ToolResultEvent]:
        """Run calls at the same time; their results as they are there. Closing it cancels those that still run."""
        tasks = {asyncio.ensure_future(self._run_tool(call)): index for index, call in enumerate(calls)}
        try:
            for index, call in enumerate(calls):
                yield ToolCallEvent(number, index, call)
            waiting = set(tasks)
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.__getitem__):
                    yield ToolResultEvent(number, tasks[task], task.result())
        finally:
            for task in tasks:
                task.cancel()

    def _step_arguments(self, number: int) -> dict[str, Any]:
        last = number == self.max_steps - 1
        choice: Any = "none" if last else self.tool_choice if number == 0 else "auto"
        return {"tools": list(self.tools.values()), "tool_choice": choice, "schema_in_prompt": False,
                "parallel_tool_calls": self.parallel_tool_calls, **self._options}

    async def _whole(self, messages: tuple[Mapping[str, Any], ...], number: int) -> AsyncGenerator[Event]:
        yield OutputDone(await self.llm.achat(messages, self.output_type, **self._step_arguments(number)))

    async def _streamed(self, messages: tuple[Mapping[str, Any], ...], number: int) -> AsyncGenerator[Event]:
        async with self.llm.astream(messages, self.output_type, **self._step_arguments(number)) as events:
            async for event in events:
                yield event

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
