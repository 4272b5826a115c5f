
"""pydantic-ai: a structured answer by a tool and by a schema, a tool call, a stream."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="the clients are not installed: pip install 'constrained[clients]'")

from pydantic_ai import Agent, ModelRequest, NativeOutput, ToolDefinition
from pydantic_ai.direct import model_request_sync
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from tests.server.clients.cases import QUESTION, Person

SETTINGS = ModelSettings(temperature=0, max_tokens=100, parallel_tool_calls=False)


def model(smollm2) -> OpenAIChatModel:
    return OpenAIChatModel("SmolLM2", provider=OpenAIProvider(base_url=f"{smollm2.url}/v1", api_key="none"))


@pytest.mark.parametrize("output", [Person, NativeOutput(Person)], ids=["tool", "schema"])
def test_a_structured_answer(smollm2, output) -> None:
    run = asyncio.run(Agent(model(smollm2), output_type=output, model_settings=SETTINGS).run(QUESTION))
    assert isinstance(run.output, Person) and run.usage.output_tokens > 0


def test_a_tool_call(smollm2) -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"],
              "additionalProperties": False}
    answer = model_request_sync(
        model(smollm2), [ModelRequest.user_text_prompt("Weather in Paris?")],
        model_settings={**SETTINGS, "tool_choice": "required"},
        model_request_parameters=ModelRequestParameters(function_tools=[ToolDefinition(
            name="get_weather", description="Current weather for a city.", parameters_json_schema=schema)]))
    (call,) = [part for part in answer.parts if part.part_kind == "tool-call"]
    assert call.tool_name == "get_weather" and call.args_as_dict()["city"] in ("Paris", "Rome")


def test_a_stream(smollm2) -> None:
    async def read() -> tuple[int, Person]:
        agent = Agent(model(smollm2), output_type=NativeOutput(Person), model_settings=SETTINGS)
        async with agent.run_stream(QUESTION) as stream:
            partials = [partial async for partial in stream.stream_output(debounce_by=None)]
            return len(partials), await stream.get_output()

    count, person = asyncio.run(read())
    assert count > 1 and isinstance(person, Person)
