# ruff: noqa: E402 - imports follow pytest.importorskip
"""Log-probabilities of prompts: the model's own, whatever else is in the batch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.paged_cache import PagedCache
from constrained.decoder.request import Completion, Request
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from constrained.decoder.scheduler import SCORED_CHUNK, Scheduler
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.test_scheduler import INFO, Loaded, make_scheduler, prompts
from tests.decoder.tiny_models import VOCAB

SCORE = SamplingParams(temperature=0, max_tokens=0, prompt_logprobs=3)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-scores"))


def expected(loaded: Loaded, prompt: list[int]) -> torch.Tensor:
    """Log-probabilities ``[len - 1, V]`` of what follows each token, by transformers."""
    with torch.inference_mode():
        return loaded.reference(torch.tensor([prompt])).logits[0, :-1].float().log_softmax(-1)


def check(loaded: Loaded, prompt: list[int], answer: Completion, top: int) -> None:
    first, *entries = answer.prompt_logprobs
    assert first is None and [entry.token for entry in entries] == prompt[1:]
    for row, entry in zip(expected(loaded, prompt), entries, strict=True):
        assert entry.logprob == pytest.approx(float(row[entry.token]), abs=1e-4)
        assert [token for token, _ in entry.top] == row.topk(top).indices.tolist()
        assert [value for _, value in entry.top] == pytest.approx(row.topk(top).values.tolist(), abs=1e-4)
        assert dict(entry.top).get(entry.token, entry.logprob) == entry.logprob  # to the bit: greedy or not is decided


def run(scheduler: Scheduler, *requests: Request) -> list[list[Completion]]:
    ids = [scheduler.submit(request) for request in requests]
    for _ in scheduler.run():
        pass
    return [scheduler.completions(i) for i in ids]


@pytest.mark.parametrize("options", [{}, {"prefill_chunk": 3}, {"prefill_chunk": 3, "step_tokens": 4},
                                     {"prefix_cache": False}, {"deterministic": True}])
def test_prompts_are_scored_beside_others(llama, options) -> None:
    scheduler = make_scheduler(llama, **options)
    texts = prompts(3, seed=4)
    texts.append(texts[0])  # a beginning in the cache must not hide its scores
    plain = SamplingParams(temperature=0, max_tokens=9)
    alone = run(make_scheduler(llama), Request(prompt_ids=texts[1], params=plain))[0][0].token_ids
    found = run(scheduler, Request(prompt_ids=texts[0], params=SCORE), Request(prompt_ids=texts[1], params=plain),
                Request(prompt_ids=texts[2], params=plain.updated(prompt_logprobs=1)),
                Request(prompt_ids=texts[3], params=SCORE))
    for (answer,), prompt, top in zip(found, texts, (3, 0, 1, 3), strict=True):
        if top:
            check(llama, prompt, answer, top)
    assert found[0][0].token_ids == () and found[0][0].finish_reason == "length" and found[0][0].text == ""
    assert found[1][0].token_ids == alone and found[1][0].prompt_logprobs == ()
    assert len(found[2][0].token_ids) == 9


def test_samples_share_them(llama) -> None:
    prompt = prompts(1, seed=6)[0]
    params = SamplingParams(seed=3, n=3, max_tokens=4, prompt_logprobs=2)
    scheduler = make_scheduler(llama)
    (answers,) = run(scheduler, Request(prompt_ids=prompt, params=params))
    for answer in answers:
        check(llama, prompt, answer, 2)


def test_the_first_event_brings_them(llama) -> None:
    prompt = prompts(1, seed=7)[0]
    scheduler = make_scheduler(llama)
    scheduler.submit(Request(prompt_ids=prompt, params=SamplingParams(seed=3, n=2, max_tokens=4, prompt_logprobs=0)))
    seen: dict[int, int] = {}
    for event in scheduler.run():
        assert len(event.prompt_logprobs) == (0 if event.index in seen else len(prompt))
        seen[event.index] = seen.get(event.index, 0) + 1
    assert set(seen) == {0, 1}


def test_a_paged_cache_that_runs_full_loses_none(llama) -> None:
    texts = prompts(4, seed=8, longest=16)
    cache = PagedCache(llama.model.config, n_slots=4, max_len=48, n_blocks=9, block_size=4, dtype=llama.model.dtype,
                       device=llama.model.device)
    params = SamplingParams(temperature=0, max_tokens=8, prompt_logprobs=2)
    found = run(make_scheduler(llama, cache=cache, prefill_chunk=4),
                *(Request(prompt_ids=prompt, params=params) for prompt in texts))
    for (answer,), prompt in zip(found, texts, strict=True):
        check(llama, prompt, answer, 2)


def test_a_long_prompt_takes_several_steps(llama) -> None:
    generator = torch.Generator().manual_seed(9)
    prompt = torch.randint(3, VOCAB, (2 * SCORED_CHUNK + 5,), generator=generator).tolist()
    scheduler = make_scheduler(llama, max_len=256)
    scheduler.submit(Request(prompt_ids=prompt, params=SCORE))
    steps = 0
    while scheduler.busy:
        scheduler.step()
        steps += 1
    assert steps == 3
    check(llama, prompt, scheduler.completions(0)[0], 3)


def test_one_token_has_nothing_to_score(llama) -> None:
    (answer,), = run(make_scheduler(llama), Request(prompt_ids=[5], params=SCORE))
    assert answer.prompt_logprobs == (None,)


def test_what_makes_no_sense_is_refused(llama) -> None:
    for wrong in ({"max_tokens": 0}, {"max_tokens": 0, "logprobs": 1}, {"prompt_logprobs": -1},
                  {"prompt_logprobs": 1.5}, {"prompt_logprobs": True}, {"prompt_logprobs": 1001}):
        with pytest.raises(SamplingError):
            SamplingParams(**wrong)
    with pytest.raises(RequestError, match="max_tokens is 0"):
        make_scheduler(llama).submit(Request(prompt_ids=[5, 6], params=SCORE, matcher=TextsMatcher(INFO, [b"12"])))
