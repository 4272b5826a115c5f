# ruff: noqa: E402 - imports follow pytest.importorskip
"""instructor: its modes for tools, JSON and schemas, and partial objects in a stream."""

from __future__ import annotations

import pytest

instructor = pytest.importorskip("instructor",
                                 reason="the clients are not installed: pip install 'constrained[clients]'")

from openai import OpenAI

from tests.server.clients.cases import QUESTION, Person

MESSAGES = [{"role": "user", "content": QUESTION}]
BODY = {"model": "SmolLM2", "messages": MESSAGES, "temperature": 0, "max_tokens": 100}


def client(smollm2, mode):
    return instructor.from_openai(OpenAI(base_url=f"{smollm2.url}/v1", api_key="none", timeout=120), mode=mode)


@pytest.mark.parametrize("mode", ["TOOLS", "JSON_SCHEMA"])
def test_a_structured_answer(smollm2, mode: str) -> None:
    person = client(smollm2, instructor.Mode[mode]).create(response_model=Person, max_retries=0, **BODY)
    assert isinstance(person, Person)


def test_parallel_tools(smollm2) -> None:
    from collections.abc import Iterable

    people = client(smollm2, instructor.Mode.PARALLEL_TOOLS).create(
        response_model=Iterable[Person], max_retries=0, **{**BODY, "tool_choice": "required"})
    assert all(isinstance(person, Person) for person in people)


def test_a_stream(smollm2) -> None:
    partials = list(client(smollm2, instructor.Mode.TOOLS).create_partial(response_model=Person, max_retries=0, **BODY))
    assert len(partials) > 1
    Person.model_validate(partials[-1].model_dump())
