# ruff: noqa: E402 - imports follow pytest.importorskip
"""``budget="close"``: whatever a random model prefers, the text ends whole within its tokens, or is refused before."""

from __future__ import annotations

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from constrained.decoder.budget import BudgetTooSmall
from constrained.decoder.generate import encode_prompt
from constrained.decoder.loaders.load import load_model
from constrained.decoder.request import Completion, Request
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from tests.decoder.tiny_models import VOCAB, make

WORDS = [b'{"', b'": ', b'", "', b'"}', b'"]', b"[]", b"name", b"age", b"true", b"false", b"null", b"abc", b"1234"]
SCHEMAS: dict[str, Any] = {
    "string": {"type": "string"},
    "object": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
               "required": ["name", "age"]},
    "list": {"type": "array", "items": {"enum": ["abcabcabc", "a"]}, "minItems": 1},
    "nested": {"$defs": {"n": {"type": "object", "properties": {"name": {"type": "string"}, "rest": {
        "type": "array", "items": {"$ref": "#/$defs/n"}}}, "required": ["name", "rest"]}}, "$ref": "#/$defs/n"},
    "number": {"type": "number"},
    "bounded": {"type": "object", "required": ["name", "age", "abc"], "properties": {
        name: {"type": "string", "minLength": 2, "maxLength": 9} for name in ("name", "age", "abc")}},
}


class Longest:
    """Longest match first, as a byte-level tokenizer might."""

    def __init__(self, tokens: list[bytes]) -> None:
        self.tokens = tokens

    def encode(self, text: str) -> list[int]:
        data, ids = text.encode(), []
        while data:
            best = max((t for t in self.tokens if t and data.startswith(t)), key=len)
            ids.append(self.tokens.index(best))
            data = data[len(best):]
        return ids


@pytest.fixture(scope="module")
def info() -> TokenizerInfo:
    tokens = [b"", b"", b""] + [bytes([i]) for i in range(32, 127)] + WORDS
    tokens += [b""] * (VOCAB - len(tokens))
    return TokenizerInfo([t or None for t in tokens], stop_token_ids=2, special_token_ids=(0, 1, 2),
                         token_texts={0: "<pad>", 1: "<s>", 2: "</s>"}, encoder=Longest(tokens))


@pytest.fixture(scope="module")
def scheduler(info: TokenizerInfo, tmp_path_factory: pytest.TempPathFactory) -> Scheduler:
    folder = tmp_path_factory.mktemp("llama")
    make("llama", folder)
    return Scheduler(load_model(folder, tokenizer=False).model, info, max_batch=4, max_len=60)


def run(scheduler: Scheduler, requests: list[Request]) -> list[Completion]:
    ids = [scheduler.submit(request) for request in requests]
    for _ in scheduler.run():
        pass
    return [scheduler.completions(i)[0] for i in ids]


@pytest.mark.parametrize("logprobs", [None, 1])
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_text_ends_whole(scheduler: Scheduler, info: TokenizerInfo, name: str, logprobs: int | None) -> None:
    options: dict[str, Any] = {"any_whitespace": False, "separators": (", ", ": "), "strict_mode": True}
    compiled = GrammarCompiler(info).compile_json_schema(SCHEMAS[name], **options)
    needed = len(info.encode(GrammarMatcher(compiled).shortest_completion().decode()) or [])
    prompt = encode_prompt(info, "abc")
    requests = [Request(prompt_ids=prompt, matcher=GrammarMatcher(compiled), budget="close",
                        params=SamplingParams(max_tokens=needed + spare, seed=seed, logprobs=logprobs))
                for spare in (0, 1, 2, 5, 20) for seed in range(4)]
    closed = 0
    for request, done in zip(requests, run(scheduler, requests), strict=True):
        assert done.error is None
        assert done.finish_reason == "stop"
        assert len(done.token_ids) <= (request.params.max_tokens or 0)
        json.loads(done.text)
        matcher = GrammarMatcher(compiled)
        assert matcher.accept_string(done.text) and matcher.is_completed()
        closed += len(done.token_ids) >= (request.params.max_tokens or 0) - 1
    assert closed  # the limit was felt


def test_no_room_for_any_text(scheduler: Scheduler, info: TokenizerInfo) -> None:
    compiled = GrammarCompiler(info).compile_json_schema({"const": "abcabcabcabc"})
    request = Request(prompt_ids=[5], matcher=GrammarMatcher(compiled), budget="close",
                      params=SamplingParams(max_tokens=5))
    with pytest.raises(BudgetTooSmall, match="needs 6 tokens, 5 are") as caught:
        scheduler.submit(request)
    assert (caught.value.needed, caught.value.available) == (6, 5)
    assert not scheduler.busy


def test_the_context_is_a_limit_too(scheduler: Scheduler, info: TokenizerInfo) -> None:
    compiled = GrammarCompiler(info).compile_json_schema({"type": "string"})
    (done,) = run(scheduler, [Request(prompt_ids=[5] * 55, matcher=GrammarMatcher(compiled), budget="close",
                                      params=SamplingParams(seed=1))])
    assert done.finish_reason == "stop" and isinstance(json.loads(done.text), str)


def test_a_text_that_is_whole_at_the_limit_has_stopped(scheduler: Scheduler, info: TokenizerInfo) -> None:
    compiled = GrammarCompiler(info).compile_regex("a{3,}")
    for budget, reason in (("close", "stop"), ("cut", "length")):
        (done,) = run(scheduler, [Request(prompt_ids=[5], matcher=GrammarMatcher(compiled), budget=budget,
                                          params=SamplingParams(max_tokens=3, seed=1))])
        assert (done.text, done.finish_reason) == ("aaa", reason)


def test_a_token_that_only_the_grammar_names_is_no_bound(scheduler: Scheduler, info: TokenizerInfo) -> None:
    grammar = Grammar.from_ebnf('root ::= "abc" [a-z]* <s>')
    compiled = GrammarCompiler(info).compile_grammar(grammar)
    (done,) = run(scheduler, [Request(prompt_ids=[5], matcher=GrammarMatcher(compiled), budget="close",
                                      params=SamplingParams(max_tokens=4, seed=1))])
    assert done.finish_reason in ("stop", "length") and done.text.startswith("abc")
