
"""openai-agents, over chat completions and over the Responses API: output types, a tool, a stream."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest

pytest.importorskip("agents", reason="the clients are not installed: pip install 'constrained[clients]'")

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    StopAtTools,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from tests.server.clients.cases import QUESTION, Person

set_tracing_disabled(True)


@function_tool
def get_weather(city: Literal["Paris", "Rome"]) -> str:
    """Current weather for a city."""
    return f"{city}: 21 C"


@pytest.fixture(params=[OpenAIChatCompletionsModel, OpenAIResponsesModel], ids=["chat", "responses"])
def run(request, smollm2):
    """Runs a coroutine function with a model; a client belongs to one event loop."""
    def do(work):
        async def all_of_it():
            async with AsyncOpenAI(base_url=f"{smollm2.url}/v1", api_key="none", timeout=120) as client:
                return await work(request.param(model="SmolLM2", openai_client=client))

        return asyncio.run(all_of_it())

    return do


def settings(**more) -> ModelSettings:
    return ModelSettings(temperature=0, max_tokens=100, **more)


def test_a_structured_answer(run) -> None:
    async def work(model):
        return await Runner.run(Agent("A", model=model, output_type=Person, model_settings=settings()), QUESTION)

    assert isinstance(run(work).final_output, Person)


def test_a_tool_call(run) -> None:
    async def work(model):
        agent = Agent("A", model=model, tools=[get_weather], tool_use_behavior=StopAtTools(
            stop_at_tool_names=["get_weather"]), model_settings=settings(tool_choice="required",
                                                                       parallel_tool_calls=False))
        return await Runner.run(agent, "Weather in Paris?")

    assert run(work).final_output in ("Paris: 21 C", "Rome: 21 C")


def test_a_stream(run) -> None:
    async def work(model):
        result = Runner.run_streamed(Agent("A", model=model, output_type=Person, model_settings=settings()), QUESTION)
        kinds = [event.data.type async for event in result.stream_events() if event.type == "raw_response_event"]
        return kinds, result.final_output

    kinds, person = run(work)
    assert kinds.count("response.output_text.delta") > 1 and isinstance(person, Person)
