# ruff: noqa: E402 - imports follow pytest.importorskip
"""The whole loop on a real model (skipped where its file is absent): known texts, constraints, forced tokens."""

from __future__ import annotations

import json
import re

import pytest

torch = pytest.importorskip("torch")

from constrained import GrammarCompiler, GrammarMatcher
from constrained.decoder.drafters import PromptLookup
from constrained.decoder.generate import generate, stream
from constrained.decoder.loaders.load import load_model
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from tests.decoder.smollm2 import require_smollm2

PERSON = r'''
root ::= "{\"name\": \"" [A-Z] [a-z]{1,12} "\", \"age\": " [1-9] [0-9]{0,2} ", \"country\": \"" place "\"}"
place ::= "United States" | "United Kingdom" | "France"
'''


@pytest.fixture(scope="module")
def loaded():
    return load_model(require_smollm2())


def turn(info, text: str) -> list[int]:
    start, end = (info.token_ids_by_text[f"<|im_{name}|>"][0] for name in ("start", "end"))
    return [start, *info.encode(f"user\n{text}"), end, *info.encode("\n"), start, *info.encode("assistant\n")]


def test_a_known_greedy_text_streamed(loaded) -> None:
    scheduler = Scheduler(loaded.model, loaded.tokenizer_info, max_batch=2, max_len=256)
    prompt = turn(loaded.tokenizer_info, "List the first five prime numbers.")
    events = list(stream(scheduler, prompt, SamplingParams(temperature=0, max_tokens=40)))
    assert "".join(e.text for e in events) == "The first five prime numbers are 2, 3, 5, 7, and 11."
    assert events[-1].finish_reason == "stop"


def test_constrained_text_with_forced_tokens_equals_the_plain_masked_run(loaded) -> None:
    info = loaded.tokenizer_info
    grammar = GrammarCompiler(info).compile_grammar(PERSON)
    prompt = turn(info, "Give the name, age and country of Alice, who is 30 and lives in Paris, as JSON.")
    answers = []
    for options in ({}, {"jump_forward": False, "small_heads": False}, {"drafter": PromptLookup()}):
        scheduler = Scheduler(loaded.model, info, max_batch=2, max_len=256, **options)
        (answer,) = generate(scheduler, [prompt], SamplingParams(temperature=0, max_tokens=80),
                             [GrammarMatcher(grammar)])[0]
        assert re.fullmatch(r'\{"name": "[A-Z][a-z]+", "age": \d+, "country": ".+"\}', answer.text)
        json.loads(answer.text)
        answers.append(answer)
    assert answers[0].text == answers[1].text == answers[2].text
    assert answers[0].usage.forced_tokens >= 8
    assert answers[0].usage.forward_passes <= 0.7 * len(answers[1].token_ids)
