# ruff: noqa: E402 - imports follow pytest.importorskip
"""Stages of the sampler: together they are the chain, and each says what it did."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from constrained.decoder.chain import Row, penalise, warp
from constrained.decoder.history import TokenHistory
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.stages import chain_stages, stages

SIZE = 40
PARAMS = st.fixed_dictionaries({
    "order": st.sampled_from(["hf", "vllm"]),
    "temperature": st.sampled_from([0.0, 0.4, 1.0, 1.7]),
    "top_k": st.sampled_from([0, 1, 3, 20]),
    "top_p": st.sampled_from([1.0, 0.3, 0.9]),
    "min_p": st.sampled_from([0.0, 0.05, 0.5]),
    "typical_p": st.sampled_from([1.0, 0.6]),
    "epsilon_cutoff": st.sampled_from([0.0, 0.02]),
    "eta_cutoff": st.sampled_from([0.0, 0.02]),
    "repetition_penalty": st.sampled_from([1.0, 1.3]),
    "frequency_penalty": st.sampled_from([0.0, 0.7]),
    "presence_penalty": st.sampled_from([0.0, -0.5]),
    "no_repeat_ngram_size": st.sampled_from([0, 2]),
    "logit_bias": st.sampled_from([{}, {3: 2.0, 5: -math.inf}]),
})


def row(values: dict[str, Any], seed: int, ends: tuple[int, ...] = ()) -> Row:
    params = SamplingParams(**values)
    draw = torch.Generator().manual_seed(seed)
    logits = torch.randn(SIZE, generator=draw) * 3
    logits[torch.randperm(SIZE, generator=draw)[: seed % 30]] = -math.inf
    history = TokenHistory([1, 2, 3], params, SIZE)
    history.extend([4, 5, 1, 2])
    return Row(logits, params, history, 1, end_ids=ends)


@settings(max_examples=200)
@given(PARAMS, st.integers(0, 10_000), st.sampled_from([(), (0, 7)]))
def test_the_stages_are_the_chain(values: dict[str, Any], seed: int, ends: tuple[int, ...]) -> None:
    one = row(values, seed, ends)
    found = list(chain_stages(one))
    expected, _ = penalise(one)
    if one.params.greedy:
        column = expected.argmax(-1, keepdim=True)
        expected = torch.full_like(expected, -math.inf).scatter(1, column, expected.gather(1, column))
    else:
        warped, columns = warp(expected, one.params)
        expected = warped if columns is None else torch.full_like(expected, -math.inf).scatter(1, columns, warped)
    last = found[-1][1] if found else one.logits[None]
    assert torch.equal(last > -math.inf, expected > -math.inf)
    kept = expected > -math.inf
    assert torch.allclose(last[kept], expected[kept])


def test_what_each_stage_says() -> None:
    params = SamplingParams(temperature=0.5, top_k=3, top_p=0.8, logit_bias={0: -math.inf})
    logits = torch.tensor([5.0, 3.0, 2.0, 1.0, -math.inf, 0.0])
    found = stages(Row(logits, params, TokenHistory([1], params, 6), 1), 2, top=2)
    assert [stage.name for stage in found] == ["logit_bias", "temperature 0.5", "top_k 3", "top_p 0.8"]
    assert [stage.kept for stage in found] == [4, 4, 3, 1]
    raw = torch.softmax(logits, -1)
    assert found[0].removed_mass == pytest.approx(float(raw[0])) and found[1].removed_mass == 0
    squared = [math.exp(2 * value) for value in (3, 2, 1, 0)]
    assert found[1].probability == pytest.approx(squared[1] / sum(squared))
    assert found[2].removed_mass == pytest.approx(squared[3] / sum(squared))
    assert found[3].probability == 0 and found[3].top == ((1, 1.0),)


def test_greedy_and_bans_that_are_lifted() -> None:
    params = SamplingParams(temperature=0.0, min_tokens=3)
    logits = torch.full((6,), -math.inf)
    logits[4] = 1.0
    found = stages(Row(logits, params, TokenHistory([1], params, 6), 1, end_ids=(4,)), 4)
    assert [(stage.name, stage.probability) for stage in found] == [("min_tokens (lifted)", 1.0), ("greedy", 1.0)]
    logits[5] = 2.0
    found = stages(Row(logits, params, TokenHistory([1], params, 6), 1, end_ids=(5,)), 4)
    assert [stage.name for stage in found] == ["min_tokens", "greedy"] and found[0].kept == 1
