
"""langchain-openai: structured output in both ways, bound tools, a stream."""

from __future__ import annotations

from typing import Literal

import pytest

pytest.importorskip("langchain_openai", reason="the clients are not installed: pip install 'constrained[clients]'")

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from tests.server.clients.cases import QUESTION, Person


@tool
def get_weather(city: Literal["Paris", "Rome"]) -> str:
    """Current weather for a city."""
    return f"{city}: 21 C"


def chat(smollm2, **options) -> ChatOpenAI:
    return ChatOpenAI(model="SmolLM2", base_url=f"{smollm2.url}/v1", api_key="none", temperature=0, max_tokens=100,
                      max_retries=0, **options)


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_structured_answer(smollm2, method: str) -> None:
    person = chat(smollm2).with_structured_output(Person, method=method).invoke(QUESTION)
    assert isinstance(person, Person)


def test_a_tool_call(smollm2) -> None:
    bound = chat(smollm2).bind_tools([get_weather], tool_choice="any", parallel_tool_calls=False)
    (call,) = bound.invoke("Weather in Paris?").tool_calls
    assert call["name"] == "get_weather" and get_weather.invoke(call["args"]).endswith("21 C")


def test_a_stream(smollm2) -> None:
    pieces = [chunk.content for chunk in chat(smollm2, stream_usage=True).bind(max_tokens=10).stream("Say hello.")]
    assert len(pieces) > 2 and "".join(pieces)
