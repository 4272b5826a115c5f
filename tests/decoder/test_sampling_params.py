"""Sampling parameters: what is accepted, what is refused, presets."""

from __future__ import annotations

import math
import pickle

import pytest

pytest.importorskip("torch")

from constrained.decoder.sampling_params import (
    CREATIVE,
    FACTUAL,
    PRESETS,
    STRUCTURED,
    SamplingError,
    SamplingParams,
)


def test_defaults_truncate_nothing() -> None:
    p = SamplingParams()
    assert (p.temperature, p.top_p, p.top_k, p.min_p, p.typical_p, p.repetition_penalty) == (1.0, 1.0, 0, 0.0, 1.0, 1.0)
    assert not p.greedy
    assert SamplingParams(temperature=0).greedy


def test_presets() -> None:
    assert (FACTUAL.temperature, FACTUAL.top_p, FACTUAL.repetition_penalty) == (0.2, 0.9, 1.05)
    assert (CREATIVE.temperature, CREATIVE.top_p) == (1.2, 0.95)
    assert STRUCTURED.temperature == 0.1
    assert PRESETS["factual"] is FACTUAL
    assert FACTUAL.updated(seed=3).seed == 3


def test_what_callers_naturally_write_becomes_frozen() -> None:
    p = SamplingParams(stop="\n", stop_token_ids=[3], logit_bias={"7": 1, 2: -math.inf}, seed=[1, 2], temperature=1)
    assert (p.stop, p.stop_token_ids, p.logit_bias, p.seed) == (("\n",), (3,), ((2, -math.inf), (7, 1.0)), (1, 2))
    assert p.bans == (2,)
    assert p.for_prompt(1).seed == 2
    assert hash(p) == hash(p.updated()) and pickle.loads(pickle.dumps(p)) == p


WRONG = [
    {"temperature": -0.1}, {"temperature": math.nan}, {"temperature": math.inf}, {"temperature": "hot"},
    {"temperature": None}, {"temperature": True}, {"top_k": -2}, {"top_k": 1.5}, {"top_p": 1.01}, {"top_p": -0.1},
    {"min_p": 2}, {"typical_p": 0}, {"epsilon_cutoff": 1}, {"eta_cutoff": -1}, {"repetition_penalty": 0},
    {"frequency_penalty": math.nan}, {"no_repeat_ngram_size": -1}, {"n": 0}, {"n": 3, "temperature": 0},
    {"min_tokens": 5, "max_tokens": 4}, {"max_tokens": 0}, {"logprobs": -1}, {"raw_logprobs": True},
    {"raw_logprobs": 1, "logprobs": 1}, {"stop": [""]}, {"stop": 3}, {"stop": [3]}, {"stop": ["a"] * 300},
    {"stop": "x" * 70_000}, {"stop_token_ids": [-1]}, {"stop_token_ids": ["a"]}, {"logit_bias": {1: math.inf}},
    {"logit_bias": {1: math.nan}}, {"logit_bias": {-1: 1}}, {"logit_bias": [1]}, {"logit_bias": {"a": 1}},
    {"seed": 1.5}, {"seed": True}, {"order": "other"}, {"time_limit": 0}, {"include_stop": True},
    {"stop_in_constraint": True}, {"stop_token_ids": [4], "logit_bias": {4: -math.inf}}, {"ignore_eos": 1},
    {"temperature": 10**400},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_or_contradictory_values_are_typed_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(SamplingError):
        SamplingParams(**wrong)


def test_unknown_names_and_missing_seeds() -> None:
    with pytest.raises(SamplingError, match="tempature"):
        SamplingParams().updated(tempature=1)
    with pytest.raises(SamplingError):
        SamplingParams(seed=[1]).for_prompt(1)
