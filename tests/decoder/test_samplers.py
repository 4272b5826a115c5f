# ruff: noqa: E402 - imports follow pytest.importorskip
"""Each filter against transformers' processor: kept sets and kept values, bit for bit off ties."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from constrained.decoder import samplers
from constrained.decoder.history import TokenHistory
from constrained.decoder.sampling_params import SamplingError, SamplingParams

hf = pytest.importorskip("transformers.generation.logits_process")

V = 97
NO_IDS = torch.zeros((1, 1), dtype=torch.long)


def random_rows(seed: int, rows: int = 40, scale: float = 3.0, masked: float = 0.3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, V, generator=generator) * scale
    hole = torch.rand(rows, V, generator=generator) < masked
    hole[:, 5] = False
    hole[0] = True
    hole[0, 7] = False  # one legal token: every filter leaves it alone
    return logits.masked_fill(hole, -math.inf)


FILTERS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[], object]]] = {}


def _register() -> None:
    for t in (0.1, 0.7, 1.3):
        FILTERS[f"temperature-{t}"] = (lambda x, t=t: samplers.temper(x, t), lambda t=t: hf.TemperatureLogitsWarper(t))
    for keep in (1, 3):
        for k in (1, 2, 10, 200):
            FILTERS[f"top_k-{k}-{keep}"] = (
                lambda x, k=k, m=keep: samplers.top_k_filter(x, k, min_keep=m),
                lambda k=k, m=keep: hf.TopKLogitsWarper(k, min_tokens_to_keep=m))
        for p in (0.0, 0.1, 0.5, 0.9, 0.99):
            FILTERS[f"top_p-{p}-{keep}"] = (
                lambda x, p=p, m=keep: samplers.top_p_filter(x, p, min_keep=m),
                lambda p=p, m=keep: hf.TopPLogitsWarper(p, min_tokens_to_keep=m))
        for p in (0.01, 0.1, 0.6, 1.0):
            FILTERS[f"min_p-{p}-{keep}"] = (
                lambda x, p=p, m=keep: samplers.min_p_filter(x, p, min_keep=m),
                lambda p=p, m=keep: hf.MinPLogitsWarper(p, min_tokens_to_keep=m))
        for p in (0.05, 0.2, 0.9, 0.999):
            FILTERS[f"typical-{p}-{keep}"] = (
                lambda x, p=p, m=keep: samplers.typical_filter(x, p, min_keep=m),
                lambda p=p, m=keep: hf.TypicalLogitsWarper(p, min_tokens_to_keep=m))
        for p in (1e-4, 0.01, 0.2):
            FILTERS[f"epsilon-{p}-{keep}"] = (
                lambda x, p=p, m=keep: samplers.epsilon_filter(x, p, min_keep=m),
                lambda p=p, m=keep: hf.EpsilonLogitsWarper(p, min_tokens_to_keep=m))
            FILTERS[f"eta-{p}-{keep}"] = (
                lambda x, p=p, m=keep: samplers.eta_filter(x, p, min_keep=m),
                lambda p=p, m=keep: hf.EtaLogitsWarper(p, min_tokens_to_keep=m))


_register()


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_bit_equal_to_transformers(name: str, seed: int) -> None:
    ours, theirs = FILTERS[name]
    logits = random_rows(seed)
    before = logits.clone()
    assert torch.equal(ours(logits), theirs()(NO_IDS, logits.clone()))
    assert torch.equal(before, logits)  # the argument is left alone
    for i in range(0, 40, 4):  # one row alone
        assert torch.equal(ours(logits[i : i + 1]), theirs()(NO_IDS, logits[i : i + 1].clone()))


@pytest.mark.parametrize("name", FILTERS)
def test_ties_keep_equal_counts_and_values(name: str) -> None:
    ours, theirs = FILTERS[name]
    logits = (random_rows(3) * 2).round() / 2  # many exact ties
    logits = logits.to(torch.bfloat16).float()
    for rows in (logits, logits[1:2], logits[2:3]):
        kept, expected = ours(rows), theirs()(NO_IDS, rows.clone())
        assert torch.equal(kept.isneginf().sum(-1), expected.isneginf().sum(-1))
        assert torch.equal(kept.sort(-1).values, expected.sort(-1).values)


def _kept(logits: torch.Tensor) -> int:
    return int((~logits.isneginf()).sum())


def test_boundary_table() -> None:
    halves = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
    assert [_kept(samplers.top_p_filter(halves, p)) for p in (0.5, 0.500001, 0.75, 0.0)] == [1, 2, 2, 1]
    assert _kept(samplers.top_k_filter(torch.tensor([[2.0, 1, 1, 0]]), 2)) == 3
    # equal to the threshold: kept
    assert _kept(samplers.min_p_filter(halves, 0.25)) == 4
    assert samplers.typical_filter(halves, 0.2).isneginf().tolist() == [[True, False, True, True]]  # drops the argmax


def test_one_allowed_token_survives_every_filter() -> None:
    row = torch.full((1, V), -math.inf)
    row[0, 11] = -3.5
    for ours, _ in FILTERS.values():
        assert int(samplers.greedy(ours(row))) == 11


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_the_warper_refuses_temperature_zero(temperature: float) -> None:
    with pytest.raises(SamplingError):
        samplers.temper(torch.zeros(1, 4), temperature)
    with pytest.raises(SamplingError):
        samplers.top_k_filter(torch.zeros(1, 4), 0)


@pytest.mark.parametrize("penalty", [0.5, 1.05, 2.0])
def test_repetition_penalty_equals_transformers(penalty: float) -> None:
    logits = random_rows(5, rows=6)
    ids = torch.randint(0, V, (6, 30), generator=torch.Generator().manual_seed(1))
    expected = hf.RepetitionPenaltyLogitsProcessor(penalty)(ids, logits.clone())
    seen = torch.zeros(6, V, dtype=torch.bool).scatter(1, ids, True)
    assert torch.equal(samplers.apply_repetition_penalty(logits, seen, penalty), expected)
    one = samplers.apply_repetition_penalty(logits[:1], ids[0], penalty)
    assert torch.equal(one, expected[:1])


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_ngram_ban_equals_transformers(size: int) -> None:
    generator = torch.Generator().manual_seed(size)
    for length in (1, 2, 4, 60):
        ids = torch.randint(0, 4, (1, length), generator=generator)
        logits = torch.randn(1, V, generator=generator)
        expected = hf.NoRepeatNGramLogitsProcessor(size)(ids, logits.clone())
        tokens = ids[0].tolist()
        banned = samplers.ngram_bans(tokens, size)
        history = TokenHistory(tokens[:1], SamplingParams(no_repeat_ngram_size=size), V)
        history.extend(tokens[1:])
        assert history.ngram_bans() == banned
        ours = logits.index_fill(1, torch.tensor(banned, dtype=torch.long), -math.inf)
        assert torch.equal(ours, expected)


def test_frequency_and_presence_follow_the_formula() -> None:
    logits = torch.zeros(1, 4)
    counts = torch.tensor([[0, 1, 3, 0]])
    assert samplers.apply_frequency_penalty(logits, counts, 0.5).tolist() == [[0, -0.5, -1.5, 0]]
    assert samplers.apply_presence_penalty(logits, counts, 0.5).tolist() == [[0, -0.5, -0.5, 0]]


def test_bans_are_lifted_only_where_nothing_would_be_left() -> None:
    logits = torch.tensor([[0.0, 1.0, -math.inf], [0.0, 1.0, 2.0]])
    out, lifted = samplers.ban_tokens(logits, torch.tensor([0, 1]))
    assert lifted.tolist() == [True, False]
    assert torch.equal(out[0], logits[0])
    assert out[1].isneginf().tolist() == [True, True, False]


def test_top_k_top_p_in_one_is_the_composition() -> None:
    for seed in range(5):
        logits = random_rows(seed, masked=0.0)
        for k, p in ((3, 0.9), (20, 0.5), (50, 0.95)):
            expected = samplers.top_p_filter(samplers.top_k_filter(logits, k), p)
            assert torch.equal(samplers.top_k_top_p_filter(logits, k, p), expected)
