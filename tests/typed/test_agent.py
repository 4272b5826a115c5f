# ruff: noqa: E402 - imports follow pytest.importorskip
"""The agent's loop over a script: calls run together, whatever happens in them goes back, the last step answers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest

pydantic = pytest.importorskip("pydantic")

from constrained.typed.agent import Agent
from constrained.typed.errors import AnnotationError, OutputError, ToolError
from constrained.typed.llm import LLM
from constrained.typed.tools import tool
from tests.typed.scripted import scripted


class Answer(pydantic.BaseModel):
    text: str


@tool
def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: one
        b: other
    """
    return a + b


@tool
def fail(a: int) -> int:
    """Always fails."""
    raise ValueError("not today")


def test_calls_then_a_typed_answer() -> None:
    llm = scripted([("add", '{"a": 1, "b": 2}'), ("fail", '{"a": 1}')], [("add", '{"a": 3, "b": "x"}')],
                   '{"text": "three"}')
    run = Agent(llm, [add, fail], Answer, instructions="Be exact.").run("1 + 2?")
    assert run.output == Answer(text="three") and len(run.steps) == 3
    assert [r.content for r in run.steps[0].results] == ["3", "Error: ValueError: not today"]
    assert "the arguments do not fit" in run.steps[1].results[0].content
    assert (run.usage.forced_tokens, run.usage.requests, run.usage.output_tokens) == (6, 3, 15)
    roles = [message["role"] for message in run.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert run.messages[0]["content"].startswith("Be exact.\n\nWhen you know the answer: answer only with JSON")
    ids = [call.id for step in run.steps for call in step.tool_calls]
    assert len(set(ids)) == 3 and run.messages[3]["tool_call_id"] == ids[0]
    seen = llm.engine.calls
    assert all(len(call.tools) == 2 and call.output is not None for call in seen)
    assert seen[1].messages == run.messages[:5]


def test_the_last_step_only_answers() -> None:
    llm = scripted([("add", '{"a": 1, "b": 2}')], '{"text": "x"}')
    run = Agent(llm, [add], Answer, max_steps=2, tool_choice="required").run("?")
    assert [call.tool_choice for call in llm.engine.calls] == ["required", "none"]
    assert run.output.text == "x"
    llm = scripted("free")
    assert Agent(llm, [add], max_steps=1).run("?").output == "free"
    assert llm.engine.calls[0].tool_choice == "none"


def test_the_choice_holds_for_the_first_step() -> None:
    llm = scripted([("add", '{"a": 1, "b": 2}')], "done")
    Agent(llm, [add], tool_choice=["add"]).run("?")
    assert [call.tool_choice for call in llm.engine.calls] == [["add"], "auto"]


def test_tools_run_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=5)

    @tool
    def waits(n: int) -> int:
        """Waits for the others."""
        return together.wait()

    @tool
    async def awaits(n: int) -> int:
        """Waits too, without blocking the loop."""
        return await asyncio.to_thread(together.wait)

    llm = scripted([("waits", '{"n": 1}'), ("awaits", '{"n": 2}'), ("waits", '{"n": 3}')], "done")
    run = Agent(llm, [waits, awaits]).run("?")
    assert sorted(result.value for result in run.steps[0].results) == [0, 1, 2]


def test_a_tool_that_hangs_is_given_up() -> None:
    @tool
    def hangs(n: int) -> int:
        """Hangs."""
        time.sleep(30)
        return n

    llm = scripted([("hangs", '{"n": 1}'), ("add", '{"a": 1, "b": 1}')], "done")
    started = time.monotonic()
    run = Agent(llm, [hangs, add], tool_timeout=0.1).run("?")
    assert time.monotonic() - started < 10
    assert "longer than 0.1 seconds" in run.steps[0].results[0].content and run.steps[0].results[1].value == 2


def test_a_server_may_name_what_is_not_there() -> None:
    run = Agent(scripted([("subtract", "{}")], "done"), [add]).run("?")
    assert "there is no tool 'subtract'; there are: add" in run.steps[0].results[0].content


def test_inside_an_event_loop() -> None:
    async def main() -> Any:
        agent = Agent(scripted("a", "b"), [add])
        return (await agent.arun("?")).output, agent.run("?").output

    assert asyncio.run(main()) == ("a", "b")


def test_a_conversation_goes_on() -> None:
    llm = scripted("Hello", "Again")
    agent = Agent(llm, output_type=None)
    first = agent.run("Hi")
    second = agent.run([*first.messages, {"role": "user", "content": "More"}])
    assert [message["content"] for message in second.messages] == ["Hi", "Hello", "More", "Again"]


def test_retries_of_the_answer() -> None:
    class Never(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def small(cls, value: int) -> int:
            if value > 3:
                raise ValueError("too large")
            return value

    assert Agent(scripted('{"n": 5}', '{"n": 2}'), [add], Never, retries=1).run("?").output.n == 2
    with pytest.raises(OutputError, match="too large"):
        Agent(scripted('{"n": 5}'), [add], Never).run("?")


def test_wrong_agents(tiny: LLM) -> None:
    with pytest.raises(ToolError, match="max_steps"):
        Agent(tiny, max_steps=0)
    with pytest.raises(ToolError, match="tool_timeout"):
        Agent(tiny, tool_timeout=-1)
    with pytest.raises(ToolError, match="a dict has no function"):
        Agent(tiny, [add.to_dict()])
    with pytest.raises(ToolError, match="two tools"):
        Agent(tiny, [add, tool(test_wrong_agents_helper, name="add")])
    with pytest.raises(ToolError, match="no tool is called"):
        Agent(tiny, [add], tool_choice=["other"])
    with pytest.raises(AnnotationError):
        Agent(tiny, output_type=["a"])
    with pytest.raises(ValueError, match="no sampling parameter"):
        Agent(tiny, tempo=1)


def test_wrong_agents_helper() -> None:
    """A function without parameters is a tool."""
    function = json.loads(json.dumps(tool(test_wrong_agents_helper).to_dict()))["function"]
    assert function["parameters"]["properties"] == {}


def test_with_a_model(tiny: LLM) -> None:
    for seed in range(3):
        run = Agent(tiny, [add], Answer, max_steps=3, temperature=1.0, seed=seed, max_tokens=150,
                    parallel_tool_calls=False).run("1 + 2?")
        assert isinstance(run.output, Answer) and 1 <= len(run.steps) <= 3
        for step in run.steps:
            assert all(result.error is None for result in step.results)


def types_of(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def test_a_stream_of_a_run() -> None:
    llm = scripted([("add", '{"a": 1, "b": 2}'), ("fail", '{"a": 1}')], '{"text": "three"}')
    stream = Agent(llm, [add, fail], Answer).stream("1 + 2?")
    events: list[Any] = list(stream)
    first = events.index(next(event for event in events if event.type == "step.done"))
    assert types_of(events[: first + 1]) == [
        "step.start", *["tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"] * 2,
        "tool.call", "tool.call", "tool.result", "tool.result", "step.done"]
    assert types_of(events[first + 1 :]) == [
        "step.start", "content.delta", "output.partial", "content.done", "step.done", "output.done"]
    asked = [event for event in events if event.type == "tool.call"]
    assert [(event.index, event.call.function.name) for event in asked] == [(0, "add"), (1, "fail")]
    came = {event.index: event.result for event in events if event.type == "tool.result"}
    assert came[0].value == 3 and came[1].content == "Error: ValueError: not today"
    run = stream.run
    assert run.output == events[-1].output == Answer(text="three")
    assert events[first].outcome is run.steps[0] and run.steps[0].results == (came[0], came[1])
    assert (run.usage.forced_tokens, run.usage.requests, run.usage.output_tokens) == (4, 2, 10)
    assert [message["role"] for message in run.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert list(stream) == [] and stream.run == run


def test_results_are_streamed_as_they_come() -> None:
    gate = threading.Event()

    @tool
    def slow(n: int) -> int:
        """Waits for the reader."""
        assert gate.wait(5)
        return n

    llm = scripted([("slow", '{"n": 1}'), ("add", '{"a": 1, "b": 1}')], "done")
    order = []
    for event in Agent(llm, [slow, add]).stream("?"):
        if event.type == "tool.result":
            order.append((event.index, event.result.value))
            gate.set()
    assert order == [(1, 2), (0, 1)]


def test_a_stream_in_an_event_loop() -> None:
    @tool
    async def twice(n: int) -> int:
        """Twice."""
        await asyncio.sleep(0)
        return 2 * n

    async def main() -> list[Any]:
        llm = scripted([("twice", '{"n": 4}')], "eight")
        async with Agent(llm, [twice]).astream("?") as stream:
            events = [event async for event in stream]
            run = await stream.run()
        assert run.output == "eight" and run.steps[0].results[0].value == 8
        rest = Agent(scripted("a"), [twice]).stream("?")  # the synchronous one, inside a loop
        assert rest.run.output == "a"
        return events

    assert types_of(asyncio.run(main())) == [
        "step.start", "tool_calls.function.arguments.delta", "tool_calls.function.arguments.done", "tool.call",
        "tool.result", "step.done", "step.start", "content.delta", "content.done", "step.done", "output.done"]


@pytest.mark.parametrize("in_loop", [False, True])
def test_leaving_a_stream_ends_the_run(in_loop: bool) -> None:
    cancelled = threading.Event()

    @tool
    async def waits(n: int) -> int:
        """Waits for ever."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return n

    llm = scripted([("waits", '{"n": 1}')], "never")
    if in_loop:
        async def main() -> None:
            async with Agent(llm, [waits]).astream("?") as stream:
                async for event in stream:
                    if event.type == "tool.call":
                        await asyncio.sleep(0.01)
                        break

        asyncio.run(main())
    else:
        with Agent(llm, [waits]).stream("?") as stream:
            for event in stream:
                if event.type == "tool.call":
                    break
            time.sleep(0.05)
        with pytest.raises(OutputError, match="closed before its end"):
            stream.run  # noqa: B018
    assert cancelled.wait(5) and len(llm.engine.calls) == 1


def test_a_stream_that_was_never_read_runs_nothing() -> None:
    llm = scripted("never")
    stream = Agent(llm, [add]).stream("?")
    stream.close()
    assert list(stream) == [] and not llm.engine.calls


def test_an_answer_that_is_refused_ends_the_stream_and_raises_when_asked_for() -> None:
    stream = Agent(scripted('{"text": 5}'), [add], Answer, retries=3).stream("?")
    events = list(stream)
    assert events[-1].type == "output.done"
    with pytest.raises(OutputError):
        events[-1].output  # noqa: B018
    with pytest.raises(OutputError):
        stream.run  # noqa: B018


def test_what_cannot_begin_raises_from_the_stream(tiny: LLM) -> None:
    from constrained.typed.errors import BudgetError

    with pytest.raises(BudgetError):
        list(Agent(tiny, output_type=Answer, max_tokens=1).stream("?"))


def test_a_tool_that_cancels_itself_is_an_error_of_the_tool() -> None:
    @tool
    async def gives_up(n: int) -> int:
        """Cancels."""
        raise asyncio.CancelledError

    run = Agent(scripted([("gives_up", '{"n": 1}')], "done"), [gives_up]).run("?")
    assert run.steps[0].results[0].content == "Error: gives_up was cancelled" and run.output == "done"


def test_partial_values_of_a_streamed_run_grow(tiny: LLM) -> None:
    from tests.typed.test_partial import grown

    agent = Agent(tiny, [add], list[Answer], max_steps=3, temperature=1.0, seed=5, max_tokens=150,
                  parallel_tool_calls=False)
    stream = agent.stream("1 + 2?")
    before: Any = None
    for event in stream:
        if event.type == "output.partial":
            after = event.partial.to_python()
            assert before is None or grown(before, after)
            before = after
    assert [Answer(**one) for one in before] == stream.run.output
