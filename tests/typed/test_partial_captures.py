# ruff: noqa: E402 - imports follow pytest.importorskip
"""Partial values from captures: certain under every continuation, monotone, and in the end the value itself."""

from __future__ import annotations

import datetime
import decimal
import json
import random
from itertools import pairwise
from typing import Annotated, Any, Literal

import pytest

pydantic = pytest.importorskip("pydantic")

import constrained as cd
from constrained.api.compiler import GrammarCompiler
from constrained.engine.matcher import GrammarMatcher
from constrained.testing.walks import byte_vocabulary, random_text
from constrained.typed.output_type import OutputType, output_type
from constrained.typed.partial import MISSING, PartialJson
from constrained.typed.partial_captures import JsonCaptures, TextCaptures
from tests.typed.models import needs_kernels
from tests.typed.test_partial import grown


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, pydantic.Field(ge=0, le=9)]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    tricks: list[str]
    born: datetime.date | None = None


class Node(pydantic.BaseModel):
    label: str
    children: list[Node]


class Much(pydantic.BaseModel):
    pet: Cat | Dog
    price: decimal.Decimal
    scores: dict[str, float]
    either: int | bool | list[int] | None = None


TYPES: list[Any] = [Much, Node, Cat | Dog, list[Cat], dict[str, list[int]], tuple[int, str, bool], int, str, bool,
                    Literal["a", "ab", 3], set[Literal[1, 2, 3]], list[list[int]],
                    Annotated[list[int], pydantic.Field(max_length=2)]]


def follower(kind: Any) -> JsonCaptures:
    found = output_type(kind).follower()
    assert isinstance(found, JsonCaptures)
    return found


def fed(kind: Any, text: str) -> Any:
    found = follower(kind)
    found.feed(text)
    return found.snapshot


def texts(output: OutputType, rng: random.Random, count: int) -> list[str]:
    compiled = GrammarCompiler(byte_vocabulary()).compile_grammar(output.grammar)
    return [random_text(compiled, rng, longest=120).decode() for _ in range(count)]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_snapshots_grow_into_the_value_and_know_what_the_text_says(kind: Any) -> None:
    needs_kernels()
    rng = random.Random(1)
    for text in texts(output_type(kind), rng, 8):
        value = json.loads(text)
        if has_twice(text):  # such a name shows its first value until its dict is whole
            continue
        found, scanner = follower(kind), PartialJson()
        before: Any = MISSING
        at = 0
        while at < len(text):
            size = rng.randint(1, 4)
            held = None if before is MISSING else json.dumps(before)
            changed = found.feed(text[at : at + size])
            scanner.feed(text[at : at + size])
            after = found.snapshot
            assert grown(before, after) and grown(after, value) and grown(scanner.snapshot, after)
            assert changed or after == before or after is before
            assert held is None or json.dumps(before) == held
            before = after
            at += size
        found.finish()
        assert found.done and not found.broken and found.snapshot == value


@pytest.mark.parametrize("kind", [Much, Cat | Dog, list[int], dict[str, int]], ids=str)
def test_no_continuation_takes_anything_back(kind: Any) -> None:
    needs_kernels()
    rng = random.Random(2)
    output = output_type(kind)
    compiled = GrammarCompiler(byte_vocabulary()).compile_grammar(output.grammar)
    for text in texts(output, rng, 6):
        prefix = text.encode()[: rng.randrange(len(text.encode()) + 1)]
        snapshot = fed(kind, prefix.decode("utf-8", "ignore"))
        for _ in range(4):
            matcher = GrammarMatcher(compiled)
            assert matcher.accept_string(prefix)
            data = bytearray(prefix)
            while not matcher.is_terminated() and len(data) < len(prefix) + 60 and not (
                    matcher.is_completed() and rng.random() < 0.3):
                token = rng.choice(matcher.allowed_token_ids())
                if token in byte_vocabulary().stop_token_ids:
                    break
                assert matcher.accept_token(token)
                data += byte_vocabulary().token_bytes(token)
            whole = bytes(data) + (b"" if matcher.is_terminated() or matcher.is_completed()
                                   else matcher.shortest_completion())
            if not has_twice(whole.decode()):
                assert grown(snapshot, json.loads(whole))


def has_twice(text: str) -> bool:
    """Whether an object writes a name twice."""
    twice = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        twice.append(len(dict(found)) < len(found))
        return dict(found)

    json.loads(text, object_pairs_hook=pairs)
    return any(twice)


@pytest.mark.parametrize(("kind", "text", "wanted"), [
    (Cat, "", MISSING), (Cat, "{", {}), (Cat, '{"kind"', {}), (Cat, '{"kind": "cat"', {"kind": "cat"}),
    (Cat, '{"kind": "cat", "lives": 7', {"kind": "cat", "lives": 7}),  # one digit: nothing can follow it
    (int, "12", MISSING), (Annotated[int, pydantic.Field(ge=0, le=150)], "15", MISSING),
    (Annotated[int, pydantic.Field(ge=0, le=150)], "150", 150),
    (Cat | Dog, "{", {}), (Cat | Dog, '{"kind": "d', {}), (Cat | Dog, '{"kind": "dog"', {"kind": "dog"}),
    (list[Cat], '[{"kind": "cat"', []), (list[Cat], '[{"kind": "cat", "lives": 7}', [{"kind": "cat", "lives": 7}]),
    (list[int], "[1", []), (list[int], "[1, 2", [1]), (Annotated[list[int], pydantic.Field(max_length=1)], "[1]", [1]),
    (dict[str, int], '{"a": 1', {}), (dict[str, int], '{"a": 1, "b": 2, ', {"a": 1, "b": 2}),
    (Node, '{"label": "x", "children": [{"label": "y", "children": []}, {"label": "z"',
     {"label": "x", "children": [{"label": "y", "children": []}]}),
    (dict[str, dict[str, int]], '{"a": {"b": 1, "c": 2', {"a": {"b": 1}}), (str, '"\\ud83d\\ude00"', "\U0001f600"),
])
def test_what_is_certain(kind: Any, text: str, wanted: Any) -> None:
    assert fed(kind, text) == wanted


def test_a_name_that_is_written_twice() -> None:
    found = follower(dict[str, int])
    found.feed('{"a": 1, "a": 2, ')
    assert found.snapshot == {"a": 1}
    found.feed('"b": 3}')
    assert found.done and found.snapshot == {"a": 2, "b": 3}


def test_text_that_is_not_of_the_grammar() -> None:
    found = follower(Cat)
    assert found.feed('{"kind": "cat", ') and not found.feed('"lives": "many"}')
    assert found.broken and not found.done and found.snapshot == {"kind": "cat"}
    assert not found.feed("x") and not found.finish()


def test_deep_values() -> None:
    found = follower(list[list[int]] | Node)
    found.feed('{"label": "", "children": [' * 3_000)
    assert not found.broken and found.snapshot == {"label": "", "children": []}
    found.feed("]}" * 3_000)
    assert found.done


PAIRS = r'''
root ::= "{" pair ("," pair)* "}"
pair ::= Capture("key", "word") ":" Capture("value", "number")
word ::= [a-z]+
number ::= [0-9]+
'''


def test_named_parts_of_a_text() -> None:
    found = output_type(cd.EBNF(PAIRS)).follower()
    assert isinstance(found, TextCaptures)
    assert not found.feed("{a:1") or found.snapshot == {"key": ["a"]}
    found.feed("2,b")
    assert found.snapshot == {"key": ["a"], "value": ["12"]}
    found.feed(":3}")
    assert found.snapshot == {"key": ["a", "b"], "value": ["12", "3"]}
    assert output_type(cd.EBNF('root ::= "a"')).follower() is None


def test_named_parts_of_an_answer(tiny: Any) -> None:
    result = tiny.generate("x", cd.EBNF(PAIRS), temperature=1.0, seed=3, max_tokens=60)
    pairs = [pair.split(":") for pair in result.text.strip("{}").split(",")]
    assert result.captures == {"key": [key for key, _ in pairs], "value": [value for _, value in pairs]}
    events = list(tiny.stream("x", cd.EBNF(PAIRS), temperature=1.0, seed=3, max_tokens=60))
    partials = [event.partial for event in events if event.type == "output.partial"]
    assert partials and partials[-1] == result.captures and events[-1].result.captures == result.captures
    for before, after in pairwise(partials):
        assert all(after[name][: len(parts)] == parts for name, parts in before.to_python().items())
    assert tiny.generate("x", cd.Choice("a", "b")).captures is None


def test_a_stream_uses_them(tiny: Any) -> None:
    kind = Annotated[int, pydantic.Field(ge=100, le=999)]
    events = list(tiny.stream("x", tuple[kind, kind], max_tokens=40))
    first = next(event for event in events if event.type == "output.partial" and event.partial.to_python())
    written = "".join(event.delta for event in events[: events.index(first)] if event.type == "content.delta")
    assert len(written) <= len("[123, ")
    assert events[-1].type == "output.done" and list(events[-1].output) == events[-2].parsed


@pytest.mark.parametrize("text", ['12', '"a"', "true"])
def test_the_last_partial_value_is_whole(tiny: Any, text: str) -> None:
    kind = Literal[12, "a", True]
    for seed in range(6):
        events = list(tiny.stream("x", kind, temperature=1.0, seed=seed))
        partials = [event.partial for event in events if event.type == "output.partial"]
        assert partials[-1].is_complete() and partials[-1] == events[-1].output
