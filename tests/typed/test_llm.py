# ruff: noqa: E402 - imports follow pytest.importorskip
"""``LLM`` over a tiny random model: whatever it prefers, values are of their types; batches, budgets, async twins."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
import json
import re
import threading
import uuid
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import pytest

pydantic = pytest.importorskip("pydantic")

from typing_extensions import TypedDict

import constrained as cd
from constrained.typed.errors import (
    AnnotationError,
    BudgetError,
    OutputError,
    PromptError,
    SourceError,
    TruncatedError,
)
from constrained.typed.llm import LLM
from constrained.typed.output_type import output_type
from constrained.typed.results import Failed, Truncated
from constrained.typed.sources import _Progress
from constrained.typed.types import EBNF, Choice, JsonSchema, Lark, Regex
from tests.typed.models import needs_kernels
from tests.typed.tiny import tiny_model


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: int


class Pair(NamedTuple):
    first: str
    second: bool


class Node(pydantic.BaseModel):
    label: Literal["a", "b"]
    children: list[Node] = []  # noqa: RUF012


class Person(pydantic.BaseModel):
    name: str
    age: int
    code: Annotated[str, Regex(r"[A-Z]{2}\d")] = "AA0"
    kind: Annotated[str, Choice("x", "y")] = "x"


class Picky(pydantic.BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def never(cls, value: int) -> int:
        raise ValueError("no number is good enough")


TYPES: list[Any] = [
    str, int, float, bool, None | int, list[int], dict[str, int], tuple[int, str], set[Literal[1, 2]], Color, Point,
    Movie, Pair, Node, Person, Literal["yes", 3, None], int | str, datetime.date, datetime.datetime, decimal.Decimal,
    uuid.UUID, list[Person] | Color, Annotated[int, pydantic.Field(ge=3, le=12)],
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_values_are_of_their_type(tiny: LLM, kind: Any) -> None:
    for seed, tokens in ((1, 200), (2, 90)):
        result = tiny.generate("x", kind, temperature=1.5, seed=seed, max_tokens=tokens, schema_in_prompt=False)
        assert result.finish_reason == "stop", result
        adapter = pydantic.TypeAdapter(kind)
        assert adapter.validate_json(result.text) == result.output


@pytest.mark.parametrize(("kind", "pattern"), [
    (Regex(r"\d{3}-\d{4}"), r"[0-9]{3}-[0-9]{4}"), (Choice("yes", "no"), "yes|no"), (Choice(["one"]), "one"),
    (EBNF('root ::= "a"+ b\nb ::= "b" | "c"'), "a+[bc]"), (re.compile("x[yz]"), "x[yz]"),
    (Annotated[str, Regex("q+")], "q+"),
    (cd.Grammar.from_regex("[0-9]{2}"), "[0-9]{2}"),
])
def test_plain_texts(tiny: LLM, kind: Any, pattern: str) -> None:
    result = tiny.generate("x", kind, temperature=1.0, seed=3)
    assert re.fullmatch(pattern, result.output) and result.output == result.text


def test_numbers_end(tiny: LLM) -> None:
    value = tiny.generate("x", Annotated[int, pydantic.Field(ge=1)], temperature=1.0, seed=1, max_tokens=400,
                          logit_bias={3 + ord("0"): 50.0}).output
    assert len(str(value)) == 40


def test_lark(tiny: LLM) -> None:
    pytest.importorskip("lark")
    grammar = Lark('start: "a" B\nB: /[xy]{2,9}/')
    assert re.fullmatch("a[xy]{2,9}", tiny.generate("x", grammar, temperature=1.0, seed=1).output)
    with pytest.raises(cd.GrammarSyntaxError):
        tiny.generate("x", Lark("start: missing"))


def test_text_types_in_models(tiny: LLM) -> None:
    class Codes(pydantic.BaseModel):
        plain: Annotated[str, Regex(r"[A-Z]{2}\d")]
        loose: Annotated[str, Regex("(?i)ab|cd")]
        one: Annotated[str, Choice("x", "y")]

    for seed in range(4):
        value = tiny.generate("x", Codes, temperature=1.5, seed=seed, max_tokens=100).output
        assert re.fullmatch("[A-Z]{2}[0-9]", value.plain) and re.fullmatch("(?i)ab|cd", value.loose)
        assert value.one in ("x", "y")
    for wrong in ("AB\u0663", "AB12", "AB1\n"):
        with pytest.raises(pydantic.ValidationError):
            Codes(plain=wrong, loose="ab", one="x")
    assert '"plain": <string like [A-Z]{2}\\d>' in (output_type(Codes).instructions or "")
    assert output_type(Codes).coverage.exact


def test_json_schema_gives_plain_json(tiny: LLM) -> None:
    schema = {"type": "object", "properties": {"b": {"type": "boolean"}, "a": {"const": 1}}, "required": ["b", "a"]}
    value = tiny.generate("x", JsonSchema(schema), seed=1, temperature=1.0).output
    assert list(value) == ["b", "a"] and value["a"] == 1
    assert JsonSchema(json.dumps(schema)) == JsonSchema(schema)


def test_a_function_and_a_builder_are_types(tiny: LLM) -> None:
    def book(title: str, pages: int = 1, *, tags: list[Literal["a", "b"]]) -> None:
        """Book.

        Args:
            title: of the book
        """

    class Builder:
        def to_schema(self) -> Any:
            return {"type": "object", "properties": {"x": {"enum": [1, 2]}}, "required": ["x"]}

    value = tiny.generate("x", book, temperature=1.0, seed=2, max_tokens=60).output
    assert isinstance(value["title"], str) and set(value["tags"]) <= {"a", "b"} and next(iter(value)) == "title"
    assert "<string: of the book>" in messages(tiny, "x", book)[0]["content"]
    assert tiny.generate("x", Builder()).output in ({"x": 1}, {"x": 2})
    with pytest.raises(AnnotationError, match="the parameter x of <lambda> has no type"):
        tiny.generate("x", lambda x: x)


@pytest.mark.parametrize(("kind", "words"), [
    (object, "Any says nothing"), (Any, "JsonSchema(True)"), ({"type": "object"}, "JsonSchema(schema)"),
    ("yes|no", "Regex"), (["a", "b"], "Choice"), (threading.Lock, "no type that values"),
    (re.compile(b"x"), "flags"), (re.compile("x", re.I), r"\(\?i\)"),
])
def test_what_is_no_type(tiny: LLM, kind: Any, words: str) -> None:
    with pytest.raises(AnnotationError, match=words if "\\" in words else re.escape(words)):
        tiny.generate("x", kind)


@pytest.mark.parametrize("make", [
    lambda: Choice(), lambda: Choice("a", "a"), lambda: Choice(""), lambda: Choice(3), lambda: Regex(3),
    lambda: JsonSchema(3), lambda: JsonSchema("{"),
])
def test_wrong_types_of_our_own(make: Any) -> None:
    with pytest.raises(AnnotationError):
        make()


def test_errors_of_grammars_come_through(tiny: LLM) -> None:
    with pytest.raises(cd.RegexError):
        tiny.generate("x", Regex("("))
    with pytest.raises(cd.GrammarSyntaxError):
        tiny.generate("x", EBNF("root ::= ("))


# -- prompts -------------------------------------------------------------------------------------------------


def messages(llm: LLM, prompt: Any, kind: Any = None, **options: Any) -> Any:
    return llm._call(prompt, kind, options)[0].messages


def test_the_schema_is_in_the_prompt_in_the_grammars_order(tiny: LLM) -> None:
    (message,) = messages(tiny, "Who?", Person)
    form = message["content"].split("JSON of this form: ")[1]
    assert [form.index(f'"{name}": ') for name in ("name", "age", "code", "kind")] == sorted(
        form.index(f'"{name}": ') for name in ("name", "age", "code", "kind"))
    assert "title" not in form
    text = tiny.generate("Who?", Person, seed=1, temperature=1.0, max_tokens=200).text
    assert list(json.loads(text))[:2] == ["name", "age"]
    (message,) = messages(tiny, "Who?", Person, schema_in_prompt=False)
    assert message["content"] == "Who?"
    (message,) = messages(tiny, "Who?", Choice("a", "b"))
    assert message["content"] == "Answer only with one of: a, b\n\nWho?"


def test_where_instructions_go(tiny: LLM) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert messages(tiny, turns, int)[0]["role"] == "system"
    system = messages(tiny, [{"role": "system", "content": "Be."}, *turns], int)
    assert system[0]["content"].startswith("Be.\n\nAnswer only") and len(system) == 3
    assert messages(tiny, "a", system="Be.")[0] == {"role": "system", "content": "Be."}
    assert messages(tiny, [{"role": "system", "content": "x"}, *turns], system="Be.")[0]["content"] == "x"


def test_members_named_like_keywords_stay(tiny: LLM) -> None:
    kind = pydantic.create_model("M", title=(str, ...), enum=(str, ...), properties=(Literal["title"], ...))
    (message,) = messages(tiny, "x", kind)
    form = message["content"].split("JSON of this form: ")[1]
    assert form == '{"title": <string>, "enum": <string>, "properties": "title"}\n\nx'


@pytest.mark.parametrize("prompt", [3, [], ["a"], [{"role": "robot", "content": ""}], None, [3]])
def test_wrong_prompts(tiny: LLM, prompt: Any) -> None:
    with pytest.raises(PromptError):
        tiny.generate(prompt)


@pytest.mark.parametrize("options", [{"retries": -1}, {"retries": "x"}, {"budget": "open"}, {"thinking": "yes"},
                                     {"thinking": -3}, {"n": 2, "temperature": 1.0}])
def test_wrong_options(tiny: LLM, options: Any) -> None:
    with pytest.raises(PromptError):
        tiny.generate("x", int, **options)


def test_wrong_sampling(tiny: LLM) -> None:
    with pytest.raises(cd.ConstrainedError, match="no sampling parameter named 'temprature'"):
        tiny.generate("x", temprature=1)
    with pytest.raises(cd.ConstrainedError, match="no preset 'wild'"):
        tiny.generate("x", sampling="wild")
    with pytest.raises(cd.ConstrainedError, match="no preset 'wild'"):
        LLM("http://127.0.0.1:9/v1", sampling="wild")


def test_sampling_and_presets(tiny: LLM) -> None:
    assert tiny._call("x", None, {})[0].params.greedy
    assert tiny._call("x", None, {"sampling": "creative"})[0].params.temperature == 1.2
    assert tiny._call("x", None, {"sampling": "creative", "seed": 4})[0].params.seed == 4
    one, same = (tiny.generate("x", str, temperature=1.0, seed=5) for _ in range(2))
    assert one.text == same.text and one.seed == 5
    drawn = tiny.generate("x", str, temperature=1.0)
    assert tiny.generate("x", str, temperature=1.0, seed=drawn.seed).text == drawn.text


def test_a_model_without_a_template() -> None:
    needs_kernels()
    with LLM(tiny_model(None), max_len=256) as llm:
        assert isinstance(llm.generate("x", bool, max_tokens=20).output, bool)
        engine: Any = llm.engine
        asked, _ = llm._call("x", None, {"system": "Be."})
        text = b"".join(engine.info.token_bytes(i) for i in engine.prompt_ids(asked))
        assert text == b"system: Be.\nuser: x\nassistant:"
        assert isinstance(llm.generate("x", int, raw=True, max_tokens=20).output, int)
        assert isinstance(llm.generate([5, 6], int, raw=True, max_tokens=20).output, int)


def test_sources() -> None:
    with pytest.raises(SourceError, match="there is no model"):
        LLM("no/such/file.gguf")
    with pytest.raises(SourceError, match="tokenizer"):
        LLM(object())
    with pytest.raises(SourceError, match="belong to a server"):
        LLM(model="gpt")


# -- results -------------------------------------------------------------------------------------------------


def test_usage_and_logprobs(tiny: LLM) -> None:
    result = tiny.generate("x", Person, temperature=1.0, seed=1, logprobs=2, max_tokens=100)
    assert result.usage.forced_tokens > 3 and result.usage.output_tokens == len(result.token_ids)
    assert result.logprobs is not None and len(result.logprobs) == len(result.token_ids)
    assert result.usage.prompt_tokens > 10 and result.usage.requests == 1


def test_no_room_for_a_value_is_refused_before(tiny: LLM) -> None:
    with pytest.raises(BudgetError) as caught:
        tiny.generate("x", Person, max_tokens=4)
    assert caught.value.available == 4 < caught.value.needed
    assert tiny.generate("x", Person, max_tokens=caught.value.needed, temperature=1.0).output


def test_a_cut_text_has_a_partial_value_and_no_output(tiny: LLM) -> None:
    result = tiny.generate("x", Person, max_tokens=14, temperature=1.0, seed=1, budget="cut")
    assert isinstance(result, Truncated) and result.finish_reason == "length"
    assert isinstance(result.partial, dict) and set(result.partial) <= {"name", "age", "code", "kind"}
    with pytest.raises(TruncatedError, match="max_tokens") as caught:
        result.output  # noqa: B018
    assert caught.value.result is result
    cut = tiny.generate("x", Regex("a{40}"), max_tokens=5, budget="cut")
    assert isinstance(cut, Truncated) and cut.partial == "aaaaa"
    late = tiny.generate("x", str, time_limit=1e-6, schema_in_prompt=False)
    assert isinstance(late, Truncated) and late.finish_reason == "time"


def test_free_text(tiny: LLM) -> None:
    result = tiny.generate("x", max_tokens=5, temperature=1.0, seed=1)
    assert result.output == result.text and result.finish_reason in ("length", "stop")


def test_validators_and_retries(tiny: LLM) -> None:
    with pytest.raises(OutputError, match="no number is good enough") as caught:
        tiny.generate("x", Picky, temperature=1.0, seed=1)
    assert caught.value.errors[0]["loc"] == ("number",) and json.loads(caught.value.text)
    seen: list[Any] = []
    start = tiny.engine.start

    def spy(call: Any) -> Any:
        seen.append(call)
        return start(call)

    tiny.engine.start = spy  # type: ignore[method-assign]
    try:
        with pytest.raises(OutputError):
            tiny.generate("x", Picky, temperature=1.0, seed=1, retries=2)
    finally:
        tiny.engine.start = start  # type: ignore[method-assign]
    assert [len(call.messages) for call in seen] == [1, 3, 5]
    assert "no number is good enough" in seen[1].messages[-1]["content"]


# -- many ----------------------------------------------------------------------------------------------------


def test_a_batch_with_a_type_for_each(tiny: LLM) -> None:
    kinds = [Person, Literal["yes", "no"], Regex(r"\d{3}"), None, Picky]
    results = tiny.generate_batch(list("abcde"), kinds, temperature=1.0, seed=[1, 2, 3, 4, 5], max_tokens=80)
    assert isinstance(results[0].output, Person) and results[1].output in ("yes", "no")
    assert re.fullmatch("[0-9]{3}", results[2].output) and isinstance(results[3].output, str)
    assert isinstance(results[4], Failed)
    with pytest.raises(OutputError):
        results[4].output  # noqa: B018
    alone = tiny.generate("b", Literal["yes", "no"], temperature=1.0, seed=2, max_tokens=80)
    assert alone.text == results[1].text
    assert [r.seed for r in results] == [1, 2, 3, 4, 5]
    assert len(tiny.generate_batch(["a"] * 20, int, temperature=1.0, max_tokens=20)) == 20


def test_batches_that_do_not_fit(tiny: LLM) -> None:
    with pytest.raises(PromptError, match="1 output types for 2"):
        tiny.generate_batch(["a", "b"], [int])
    with pytest.raises(PromptError, match="1 seeds for 2"):
        tiny.generate_batch(["a", "b"], int, seed=[1])
    assert tiny.generate_batch([]) == []


def test_a_call_of_a_batch_that_cannot_begin(tiny: LLM) -> None:
    number, person, long = tiny.generate_batch(["a", "b", "x" * 5000], [int, Person, int], max_tokens=3, seed=[1, 2, 3])
    assert isinstance(number.output, int) and isinstance(person, Failed) and isinstance(long, Failed)
    with pytest.raises(BudgetError):
        person.output  # noqa: B018
    with pytest.raises(cd.ConstrainedError, match="leaves no room"):
        long.output  # noqa: B018


def test_seeds_of_a_batch_in_sampling_params(tiny: LLM) -> None:
    sampling = cd.SamplingParams(temperature=1.0, seed=[1, 2], max_tokens=40)
    results = tiny.generate_batch(["a", "b"], int, sampling=sampling)
    assert [result.seed for result in results] == [1, 2]
    assert results[1].text == tiny.generate("b", int, temperature=1.0, seed=2, max_tokens=40).text
    with pytest.raises(PromptError, match="2 seeds for 1"):
        tiny.generate_batch(["a"], int, sampling=sampling)


# -- streams and async ---------------------------------------------------------------------------------------


def test_a_stream_grows_into_the_value(tiny: LLM) -> None:
    with tiny.stream("x", Person, temperature=1.0, seed=1, max_tokens=100) as stream:
        events = list(stream)
    kinds = [event.type for event in events]
    assert kinds[-2:] == ["content.done", "output.done"] and "output.partial" in kinds
    text = "".join(event.delta for event in events if event.type == "content.delta")
    assert text == events[-1].result.text == events[-2].content
    partials = [event.partial.to_python() for event in events if event.type == "output.partial"]
    for before, after in pairwise(partials):
        assert before.items() <= after.items()
    assert partials[-1] == json.loads(text) and events[-1].output == stream.result.output
    assert sum(event.forced for event in events if event.type == "content.delta") > 3


def test_a_closed_stream_frees_the_model(tiny: LLM) -> None:
    with tiny.stream("x", ignore_eos=True, max_tokens=1500, temperature=1.0) as stream:
        next(stream)
    assert stream.result.finish_reason == "cancelled"
    assert isinstance(tiny.generate("x", int, max_tokens=10).output, int)


def test_logprobs_in_a_stream(tiny: LLM) -> None:
    events = list(tiny.stream("x", int, logprobs=1, max_tokens=10, temperature=1.0))
    kinds = {event.type for event in events}
    assert {"logprobs.content.delta", "logprobs.content.done"} <= kinds


def test_thinking_comes_first(tiny: LLM) -> None:
    events = list(tiny.stream("x", Person, thinking=8, temperature=1.0, seed=2, max_tokens=80))
    kinds = [event.type for event in events]
    assert kinds[0] == "reasoning.delta"
    done = kinds.index("reasoning.done")
    assert "reasoning.delta" not in kinds[done:] and "content.delta" not in kinds[:done]
    result = events[-1].result
    assert isinstance(result.output, Person) and result.reasoning
    assert result.usage.output_tokens > len(result.token_ids)


def test_thoughts_that_leave_no_room(tiny: LLM) -> None:
    with pytest.raises(BudgetError):
        tiny.generate("x", Person, thinking=4, max_tokens=4)
    options: dict[str, Any] = {"thinking": 500, "max_tokens": 100, "temperature": 1.0, "schema_in_prompt": False}
    assert isinstance(tiny.generate("x" * 1800, Person, seed=1, **options).output, Person)  # room is kept for the value
    one, other = tiny.generate_batch(["x" * 2000, "x"], Person, seed=[1, 2], **{**options, "thinking": 8})
    assert isinstance(one, Failed) and isinstance(other.output, Person)


@pytest.mark.parametrize("thinking", [None, 5])
def test_a_template_that_opens_the_think_section(thinking: int | None) -> None:
    needs_kernels()
    with LLM(tiny_model("{{ messages[0].content }}{{ '<think>\\n' }}"), max_len=512) as llm:
        seen: list[str] = []
        engine: Any = llm.engine
        submit = engine.service.submit

        def spy(request: Any) -> Any:
            seen.append(b"".join(engine.info.token_bytes(i) for i in request.prompt_ids).decode("utf-8", "replace"))
            return submit(request)

        engine.service.submit = spy
        result = llm.generate("x", bool, thinking=thinking, temperature=1.0, seed=1, schema_in_prompt=False)
    assert isinstance(result.output, bool)
    assert seen[0] == ("x<think>\n" if thinking else "x<think>\n\n</think>\n\n")
    assert seen[-1].count("<think>") == 1 and seen[-1].endswith("\n</think>\n\n")


def test_async_twins(tiny: LLM) -> None:
    async def run() -> Any:
        one, many = await asyncio.gather(
            tiny.agenerate("x", int, temperature=1.0, max_tokens=10),
            tiny.agenerate_batch(["a", "b"], [int, None], temperature=1.0, max_tokens=10))
        async with tiny.astream("x", Person, temperature=1.0, max_tokens=80) as stream:
            events = [event async for event in stream]
        return one, many, events, await stream.result()

    one, many, events, result = asyncio.run(run())
    assert isinstance(one.output, int) and isinstance(many[0].output, int)
    assert events[-1].type == "output.done" and isinstance(result.output, Person)


def test_cancelling_a_task_ends_its_generation(tiny: LLM) -> None:
    async def run() -> None:
        task = asyncio.create_task(tiny.agenerate("x", ignore_eos=True, max_tokens=1900, temperature=1.0))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    for _ in range(200):
        if not tiny.engine.service.outstanding:  # type: ignore[attr-defined]
            break
        threading.Event().wait(0.01)
    assert not tiny.engine.service.outstanding  # type: ignore[attr-defined]


def test_calls_from_threads_share_a_batch(tiny: LLM) -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda i=i: found.append(  # type: ignore[misc]
        tiny.generate(f"{i}", Person, temperature=1.0, seed=i, max_tokens=80).output)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and all(isinstance(one, Person) for one in found)


def test_types_are_made_once() -> None:
    assert output_type(Person) is output_type(Person)
    assert output_type(Literal[1]) is not output_type(Literal[True])
    assert output_type(Choice("a", "b")) is output_type(Choice(("a", "b")))
    assert output_type(Person).coverage.exact
    assert output_type(output_type(Person)) is output_type(Person)


def test_progress_is_one_line_that_counts(capsys: pytest.CaptureFixture[str]) -> None:
    show = _Progress()
    for done in (0, 50_000_000, 92_871_040):
        show("downloading", done, 92_871_040)
    show("unpacking", 98_362_432, 98_362_432)
    shown = capsys.readouterr().err
    assert "downloading 93 of 93 MB" in shown and shown.endswith("unpacking 98 of 98 MB\n")


def test_what_a_result_has_no_place_for(tiny: LLM) -> None:
    with pytest.raises(PromptError, match="no place for prompt_logprobs"):
        tiny.generate("x", prompt_logprobs=1, max_tokens=0)
