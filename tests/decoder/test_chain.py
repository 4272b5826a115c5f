# ruff: noqa: E402 - imports follow pytest.importorskip
"""The chain: order, compact against full, bans that are lifted, laws of the drawn tokens."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from constrained.decoder import samplers
from constrained.decoder.bitmask import allowed_ids, count_allowed, new_bitmask, remove_illegal
from constrained.decoder.chain import Row, choose, choose_largest, penalise, warp
from constrained.decoder.history import TokenHistory
from constrained.decoder.noise import SPREAD, _to_gumbel, gumbel, gumbel_row, request_key, sample_gumbel
from constrained.decoder.sample import sample
from constrained.decoder.sampling_params import SamplingError, SamplingParams

NEG_INF = -math.inf


def chi_square(counts: Counter[int], probabilities: list[float], draws: int) -> float:
    return sum((counts[i] - draws * p) ** 2 / (draws * p) for i, p in enumerate(probabilities) if p > 0)


def row(logits: torch.Tensor, params: SamplingParams, tokens: list[int], *, n_prompt: int = 0, key: int = 1,
        ids: torch.Tensor | None = None, end_ids: tuple[int, ...] = (), vocab: int = 0) -> Row:
    history = TokenHistory(tokens[:n_prompt], params, vocab or logits.shape[0])
    history.extend(tokens[n_prompt:])
    return Row(logits, params, history, key, ids=ids, end_ids=end_ids)


# -- the law of the drawn tokens ----------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_chi_square_on_six_tokens(temperature: float) -> None:
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, 0.5, NEG_INF])
    draws = 6000
    probabilities = torch.softmax(logits / temperature, -1).tolist()
    tokens = sample(logits.expand(draws, -1), temperature, seed=12)
    counts = Counter(tokens.tolist())
    assert counts[5] == 0
    assert chi_square(counts, probabilities, draws) < 18.5  # 4 degrees of freedom, p = 0.001


def test_chi_square_along_the_positions_of_one_stream() -> None:
    logits = torch.tensor([[0.3, 0.0, -0.7, 1.0]])
    draws = 4000
    noise = gumbel(torch.full((draws,), request_key(99)), torch.arange(draws), torch.arange(4))
    counts = Counter(sample_gumbel(logits, noise).tolist())
    assert chi_square(counts, torch.softmax(logits[0], -1).tolist(), draws) < 16.3  # 3 degrees, p = 0.001


def test_rare_tokens_are_drawn_at_their_rate() -> None:
    draws = 400_000
    noise = gumbel(torch.full((draws,), request_key(3)), torch.arange(draws), torch.arange(2))
    rare = math.exp(-9.0)
    drawn = int(sample_gumbel(torch.tensor([[0.0, -9.0]]), noise).sum())
    expected = draws * rare / (1 + rare)
    assert abs(drawn - expected) < 4 * math.sqrt(expected)


def test_neighbouring_coordinates_are_uncorrelated() -> None:
    keys = torch.tensor([request_key(s) for s in range(200)])
    a = gumbel(keys, torch.zeros(200, dtype=torch.long), torch.arange(50))
    for b in (gumbel(keys, torch.ones(200, dtype=torch.long), torch.arange(50)),
              gumbel(keys, torch.zeros(200, dtype=torch.long), torch.arange(1, 51)),
              gumbel(torch.tensor([request_key(s, 1) for s in range(200)]), torch.zeros(200, dtype=torch.long),
                     torch.arange(50))):
        correlation = torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1]
        assert abs(float(correlation)) < 4 / math.sqrt(a.numel())


def test_one_row_of_noise_is_that_row() -> None:
    keys = torch.tensor([request_key(1), request_key(-(2**80)), request_key(2**63)])
    positions = torch.tensor([0, 7, 100_000])
    ids = torch.arange(5000) * 37
    noise = gumbel(keys, positions, ids)
    for i in range(3):
        assert torch.equal(gumbel_row(int(keys[i]), int(positions[i]), ids.numpy()), noise[i])
    ends = _to_gumbel(torch.tensor([0, 2**53 - 1]))
    assert float(ends[0] - ends[1]) < SPREAD


def test_noise_is_finite_at_its_ends() -> None:
    noise = gumbel(torch.tensor([request_key(0)]), torch.tensor([0]), torch.arange(1 << 20))
    assert bool(noise.isfinite().all())
    assert abs(float(noise.mean()) - 0.5772) < 0.01


# -- the same token whatever the batch ----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**70), n=st.integers(1, 6), data=st.data())
def test_same_seed_same_token_regardless_of_batch_mates(seed: int, n: int, data: st.DataObject) -> None:
    generator = torch.Generator().manual_seed(seed & 0xFFFF)
    logits = torch.randn(n, 40, generator=generator) * 2
    temperatures = data.draw(st.lists(st.sampled_from([0.0, 0.7, 1.0]), min_size=n, max_size=n))
    top_ks = data.draw(st.lists(st.sampled_from([0, 3, 9]), min_size=n, max_size=n))
    rows = [row(logits[i], SamplingParams(temperature=temperatures[i], top_k=top_ks[i]), [1] * i,
                key=request_key(seed, i)) for i in range(n)]
    together = [c.token for c in choose(rows)]
    alone = [choose([r])[0].token for r in rows]
    backwards = [c.token for c in choose(rows[::-1])][::-1]
    assert together == alone == backwards


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_compact_on_allowed_ids_draws_the_same_token_as_full_masking(data: st.DataObject) -> None:
    vocab = 80
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 10_000)))
    logits = torch.randn(vocab, generator=generator) * 3
    ids = torch.tensor(sorted(data.draw(st.sets(st.integers(0, vocab - 1), min_size=1, max_size=60))))
    params = SamplingParams(
        temperature=data.draw(st.sampled_from([0.0, 0.5, 1.0])), top_k=data.draw(st.sampled_from([0, 2, 11])),
        top_p=data.draw(st.sampled_from([1.0, 0.8])), min_p=data.draw(st.sampled_from([0.0, 0.05])),
        repetition_penalty=data.draw(st.sampled_from([1.0, 1.3])),
        presence_penalty=data.draw(st.sampled_from([0.0, 0.5])),
        no_repeat_ngram_size=data.draw(st.sampled_from([0, 1, 2])),
        logit_bias=data.draw(st.dictionaries(st.integers(0, vocab - 1), st.sampled_from([-math.inf, -2.0, 3.0]),
                                             max_size=4)),
        order=data.draw(st.sampled_from(["hf", "vllm"])))
    tokens = data.draw(st.lists(st.integers(0, vocab - 1), max_size=12))
    end = tuple(data.draw(st.lists(st.integers(0, vocab - 1), max_size=2)))
    legal = torch.zeros(vocab, dtype=torch.bool)
    legal[ids] = True
    full = row(torch.where(legal, logits, NEG_INF), params, tokens, n_prompt=len(tokens) // 2, end_ids=end)
    compact = row(logits[ids], params, tokens, n_prompt=len(tokens) // 2, ids=ids, end_ids=end, vocab=vocab)
    a, b = choose([full, compact])
    assert a.error is None
    assert legal[a.token]
    assert a == b


# -- order --------------------------------------------------------------------------------------------------


def test_the_two_orders_are_compositions_of_the_filters_and_differ() -> None:
    differ = 0
    for seed in range(100):
        logits = torch.randn(1, 500, generator=torch.Generator().manual_seed(seed)) * 2
        common = {"temperature": 0.8, "top_k": 50, "top_p": 0.9, "min_p": 0.1}
        kept = {}
        for order in ("hf", "vllm"):
            values, columns = warp(logits, SamplingParams(order=order, **common))
            whole = values if columns is None else torch.full_like(logits, NEG_INF).scatter(1, columns, values)
            x = samplers.temper(logits, 0.8)
            if order == "vllm":
                x = samplers.min_p_filter(x, 0.1)
            x = samplers.top_p_filter(samplers.top_k_filter(x, 50), 0.9)
            if order == "hf":
                x = samplers.min_p_filter(x, 0.1)
            assert torch.equal(whole, x)
            kept[order] = whole.isneginf()
        differ += not torch.equal(kept["hf"], kept["vllm"])
    assert differ > 20


def test_chain_equals_the_composed_transformers_processors() -> None:
    hf = pytest.importorskip("transformers.generation.logits_process")
    ids = torch.randint(0, 300, (1, 40), generator=torch.Generator().manual_seed(0))
    for seed in range(30):
        logits = torch.randn(1, 300, generator=torch.Generator().manual_seed(seed)) * 3
        params = SamplingParams(repetition_penalty=1.2, no_repeat_ngram_size=2, temperature=0.7, top_k=40, top_p=0.95,
                                min_p=0.02, typical_p=0.95, epsilon_cutoff=1e-3, eta_cutoff=1e-3)
        chain = [hf.RepetitionPenaltyLogitsProcessor(1.2), hf.NoRepeatNGramLogitsProcessor(2),
                 hf.TemperatureLogitsWarper(0.7), hf.TopKLogitsWarper(40), hf.TopPLogitsWarper(0.95),
                 hf.MinPLogitsWarper(0.02), hf.TypicalLogitsWarper(0.95), hf.EpsilonLogitsWarper(1e-3),
                 hf.EtaLogitsWarper(1e-3)]
        expected = logits.clone()
        for step in chain:
            expected = step(ids, expected)
        penalised, _ = penalise(row(logits[0], params, ids[0].tolist(), n_prompt=40))
        values, columns = warp(penalised, params)
        whole = values if columns is None else torch.full_like(logits, NEG_INF).scatter(1, columns, values)
        assert torch.equal(whole.isneginf(), expected.isneginf())
        assert torch.equal(whole, expected)


def test_top_p_among_candidates_is_the_sorted_one() -> None:
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        logits = torch.randn(3, 4096, generator=generator) * (1 + seed % 5)
        for p in (0.1, 0.5, 0.9, 0.99):
            expected = samplers.top_p_filter(logits, p)
            values, columns = warp(logits, SamplingParams(top_p=p))
            whole = values if columns is None else torch.full_like(logits, NEG_INF).scatter(1, columns, values)
            ordered = logits.sort(descending=True).values.softmax(-1).cumsum(-1)
            if float((ordered - p).abs().min()) > 1e-6:  # off the threshold
                assert torch.equal(whole, expected)


# -- the constraint wins ------------------------------------------------------------------------------------


def test_a_ban_of_every_legal_token_is_lifted_and_counted() -> None:
    logits = torch.tensor([1.0, NEG_INF, NEG_INF])
    for params, end in ((SamplingParams(temperature=0, logit_bias={0: NEG_INF}), ()),
                        (SamplingParams(temperature=0, no_repeat_ngram_size=1), ()),
                        (SamplingParams(temperature=0), (0,))):
        choice = choose([row(logits, params, [0, 2], end_ids=end)])[0]
        assert (choice.token, choice.lifted, choice.error) == (0, 1, None)
    both = choose([row(torch.tensor([1.0, 0.5, NEG_INF]), SamplingParams(temperature=0, no_repeat_ngram_size=1),
                       [0], end_ids=(1,))])[0]
    assert (both.token, both.lifted) == (1, 1)  # the n-gram ban holds, then the end ban is lifted


def test_a_finite_bias_never_makes_an_illegal_token_legal() -> None:
    logits = torch.tensor([0.0, NEG_INF, 0.0])
    choice = choose([row(logits, SamplingParams(logit_bias={1: 100.0}), [])])[0]
    assert choice.token in (0, 2)


def test_rows_that_cannot_be_sampled_do_not_disturb_the_others() -> None:
    bad = [torch.full((4,), NEG_INF), torch.tensor([0.0, math.nan, 0, 0]), torch.tensor([0.0, math.inf, 0, 0])]
    for params in (SamplingParams(), SamplingParams(temperature=0), SamplingParams(top_k=2)):
        good = row(torch.tensor([0.0, 5.0, 1.0, 2.0]), params, [])
        expected = choose([good])[0]
        rows = [row(b, params, []) for b in bad]
        choices = choose([rows[0], good, rows[1], rows[2]])
        assert choices[1] == expected
        assert [c.error is not None for c in choices] == [True, False, True, True]


# -- sample(), bitmasks -------------------------------------------------------------------------------------


def test_sample_in_one_call() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0], [5.0, 3.0, 1.0]])
    assert sample(logits, 0).tolist() == [1, 0]
    assert sample(logits, 0.0, mask=torch.tensor([[True, False, True], [False, False, True]])).tolist() == [2, 2]
    packed = new_bitmask(2, 3)
    packed[:] = [[0b101], [0b100]]
    assert sample(logits, 0, mask=torch.from_numpy(packed)).tolist() == [2, 2]
    assert int(sample(logits[0], 0)) == 1
    assert sample(logits, ids=torch.tensor([4, 7, 9]), temperature=0).tolist() == [7, 4]
    one = sample(logits, generator=torch.Generator().manual_seed(1))
    assert torch.equal(one, sample(logits, generator=torch.Generator().manual_seed(1)))
    assert sample(logits, 0, tokens=[[1, 1], [0]], no_repeat_ngram_size=1).tolist() == [2, 1]
    for wrong in ({"temperature": -1.0}, {"mask": torch.zeros(2, 2, dtype=torch.bool)},
                  {"ids": torch.tensor([1, 1, 2])}, {"seed": [1]},
                  {"seed": 1, "generator": torch.Generator()}, {"tokens": [[1]]}, {"top_p": 1.5}):
        with pytest.raises(SamplingError):
            sample(logits, **wrong)
    with pytest.raises(SamplingError, match="no token"):
        sample(torch.full((1, 3), NEG_INF))


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 69)))
def test_bitmask_readers_agree(allowed: set[int]) -> None:
    words = np.zeros((1, 3), dtype=np.int32)
    for i in allowed:
        words[0, i // 32] |= np.int32(np.uint32(1 << (i % 32)).view(np.int32))
    assert count_allowed(words[0]) == len(allowed)
    assert allowed_ids(words[0], 70).tolist() == sorted(allowed)
    logits = remove_illegal(torch.zeros(1, 100), words)
    assert (~logits.isneginf()).nonzero()[:, 1].tolist() == sorted(allowed)


def test_the_largest_of_many_rows_is_what_greedy_rows_get() -> None:
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(40, 50, generator=generator).round(decimals=1)  # with ties
    logits[torch.rand(40, 50, generator=generator) < 0.3] = NEG_INF
    logits[3], logits[7, 4], logits[11, 9] = NEG_INF, float("nan"), float("inf")
    logits[12, 5], logits[12, 3] = float("nan"), float("inf")
    params = SamplingParams(temperature=0)
    assert choose_largest(logits) == choose([row(one, params, []) for one in logits])
    assert choose_largest(logits.to(torch.bfloat16)) == choose([row(one.to(torch.bfloat16), params, [])
                                                                for one in logits])


@pytest.mark.parametrize("more", [{}, {"logit_bias": {1: 2.0}}, {"repetition_penalty": 1.2}, {"frequency_penalty": 0.1},
                                  {"presence_penalty": 0.1}, {"no_repeat_ngram_size": 2}, {"logit_bias": {1: NEG_INF}}])
def test_parameters_that_leave_logits_alone(more) -> None:
    assert SamplingParams(**more).unpenalised == (not more)
