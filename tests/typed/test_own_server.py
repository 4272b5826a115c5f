# ruff: noqa: E402 - imports follow pytest.importorskip
"""``LLM(url)`` against this library's own server: the two speak the same protocol, constraints and all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pydantic = pytest.importorskip("pydantic")
for package in ("torch", "starlette", "uvicorn", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}")

import constrained as cd
from constrained.server.engine import Engine
from constrained.server.settings import ServerSettings
from constrained.typed.llm import LLM
from tests.server.serving import running
from tests.typed.models import needs_kernels
from tests.typed.tiny import tiny_model


class Person(pydantic.BaseModel):
    name: str
    age: pydantic.conint(ge=0, le=150)  # type: ignore[valid-type]


@pytest.fixture(scope="module")
def remote() -> Iterator[LLM]:
    needs_kernels()
    settings = ServerSettings(model_name="tiny", max_batch=4, max_len=1024, compile_seconds=10.0, drain_seconds=2.0)
    with running(Engine.of_model(tiny_model(), settings)) as server, LLM(f"{server.url}/v1", max_tokens=80) as llm:
        yield llm


def test_typed_values(remote: LLM) -> None:
    results = remote.generate_batch(["a", "b", "c", "d"], [Person, bool, cd.Regex("[0-9]{3}"), cd.Choice("x", "y")],
                                    temperature=1.0, seed=[1, 2, 3, 4])
    assert [type(result.output) for result in results] == [Person, bool, str, str]
    assert all(result.usage.output_tokens > 0 for result in results)


def test_a_stream(remote: LLM) -> None:
    stream = remote.stream("x", Person, temperature=1.0, seed=1)
    kinds = [event.type for event in stream]
    assert kinds[-1] == "output.done" and "output.partial" in kinds and isinstance(stream.result.output, Person)


def test_calls(remote: LLM) -> None:
    @cd.tool
    def add(a: bool, b: bool) -> bool:
        """Add."""
        return a or b

    result: Any = remote.chat("x", tools=[add], tool_choice="required", parallel_tool_calls=False, temperature=1.0,
                              max_tokens=200)
    (call,) = result.message.tool_calls
    assert call.function.name == "add" and add.arguments(call.function.arguments)


def test_calls_that_must_come_although_there_is_a_type(remote: LLM) -> None:
    @cd.tool
    def add(a: bool, b: bool) -> bool:
        """Add."""
        return a or b

    agent = cd.Agent(remote, [add], Person, tool_choice="required", parallel_tool_calls=False, max_steps=2,
                     temperature=1.0, max_tokens=200)
    stream = agent.stream("x")
    kinds = [event.type for event in stream]
    assert kinds.index("tool.result") < kinds.index("output.partial") and kinds[-1] == "output.done"
    run = stream.run
    assert run.steps[0].results[0].value in (True, False) and isinstance(run.output, Person)


@pytest.mark.parametrize("kind", [
    cd.EBNF('word ::= [a-c]{2}', root="word"), cd.Lark('word: /[a-c]{2}/', start="word"), cd.Lark('start: /[a-c]{2}/'),
    cd.EBNF('root ::= [a-c]{2}'),
])
def test_grammars(remote: LLM, kind: Any) -> None:
    text = remote.generate("x", kind, temperature=1.0, seed=1).output
    assert len(text) == 2 and set(text) <= set("abc")


def test_a_grammar_that_cannot_be_sent(remote: LLM) -> None:
    with pytest.raises(cd.ConstrainedError, match="call its first rule root"):
        remote.generate("x", cd.EBNF('word ::= root\nroot ::= "a"', root="word"))
