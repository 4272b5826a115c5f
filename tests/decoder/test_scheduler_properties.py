# ruff: noqa: E402 - imports follow pytest.importorskip
"""Random schedules: whatever joins, leaves, drafts, is cancelled or preempted, an output is that of its solo run."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.drafters import PromptLookup
from constrained.decoder.generate import generate
from constrained.decoder.paged_cache import PagedCache
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.test_scheduler import INFO, Loaded, prompts

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
TEXTS = [b'{"name": true}', b'{"name": 12, "ab": "cd"}', b"12", b"abcab"]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-properties"))


def request_strategy():
    params = st.builds(
        lambda seed, t, k, p, rep, ngram, n, stop, low, high: SamplingParams(
            seed=seed, temperature=t if n == 1 or t else 1.0, top_k=k, top_p=p, repetition_penalty=rep,
            no_repeat_ngram_size=ngram, n=n, stop=stop, min_tokens=low, max_tokens=max(low, high, 1)),
        st.integers(0, 2**40), st.sampled_from([0.0, 0.7, 1.0]), st.sampled_from([0, 5]), st.sampled_from([1.0, 0.9]),
        st.sampled_from([1.0, 1.2]), st.sampled_from([0, 0, 2]), st.sampled_from([1, 1, 2]),
        st.sampled_from([(), ("a",), ("zz", "1")]), st.sampled_from([0, 3]), st.integers(1, 10))
    return st.tuples(st.sampled_from(prompts(6, seed=77, longest=12)), params, st.booleans())


def to_request(drawn) -> Request:
    prompt, params, constrained = drawn
    return Request(prompt_ids=prompt, params=params, matcher=TextsMatcher(INFO, TEXTS) if constrained else None)


def outcome(completion):
    return (completion.token_ids, completion.text, completion.finish_reason, completion.stop_reason,
            completion.usage.lifted_bans)


@settings(max_examples=200 if NIGHTLY else 15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_schedule_gives_the_solo_outputs(llama, data) -> None:
    drawn = data.draw(st.lists(request_strategy(), min_size=1, max_size=5))
    options = {
        "max_batch": data.draw(st.integers(1, 4)), "max_len": 32, "prefill_chunk": data.draw(st.sampled_from([3, 512])),
        "step_tokens": data.draw(st.sampled_from([4, 512])), "prefix_cache": data.draw(st.booleans()),
        "jump_forward": data.draw(st.booleans()), "small_heads": data.draw(st.booleans()),
        "drafter": data.draw(st.sampled_from([None, PromptLookup(2, 1)])),
    }
    paged = data.draw(st.booleans())
    if paged:
        slots = options.pop("max_batch")
        options["cache"] = PagedCache(llama.model.config, slots, 32, block_size=4,
                                      n_blocks=data.draw(st.integers(8, 8 * slots)))
        del options["max_len"]
    scheduler = Scheduler(llama.model, INFO, **options)
    cancelled = data.draw(st.sets(st.integers(0, len(drawn) - 1), max_size=1))
    ids = []
    for one in drawn:
        ids.append(scheduler.submit(to_request(one)))
        for _ in range(data.draw(st.integers(0, 3))):
            scheduler.step()
    for i in cancelled:
        scheduler.cancel(ids[i])
    for _ in range(600):
        if not scheduler.busy:
            break
        scheduler.step()
    assert not scheduler.busy
    assert scheduler.cache.n_free == scheduler.cache.n_slots
    for i, (one, request_id) in enumerate(zip(drawn, ids, strict=True)):
        completions = scheduler.completions(request_id)
        solo = Scheduler(llama.model, INFO, max_batch=1, max_len=32)
        expected = generate(solo, [one[0]], one[1], [to_request(one).matcher])[0]
        for ours, alone in zip(completions, expected, strict=True):
            if i in cancelled and ours.finish_reason == "cancelled":
                assert ours.token_ids == alone.token_ids[: len(ours.token_ids)]
            else:
                assert outcome(ours) == outcome(alone)


def test_a_full_paged_cache_makes_the_youngest_wait(llama) -> None:
    given_prompts = prompts(4, seed=78, longest=10)
    params = SamplingParams(seed=5, max_tokens=14)
    cache = PagedCache(llama.model.config, 4, 32, block_size=4, n_blocks=9)
    preempted = []

    class Counting(Scheduler):
        def _make_room(self, batch, error):
            preempted.append(len(batch))
            return super()._make_room(batch, error)

    answers = generate(Counting(llama.model, INFO, cache=cache), given_prompts, params)
    alone = [generate(Scheduler(llama.model, INFO, max_batch=1, max_len=32), [p], params)[0][0] for p in given_prompts]
    assert [a.token_ids for (a,) in answers] == [a.token_ids for a in alone]
    assert preempted and min(preempted) > 1
    tight = PagedCache(llama.model.config, 2, 32, block_size=4, n_blocks=2)
    (only,) = generate(Scheduler(llama.model, INFO, cache=tight), [[9] * 6], params)[0]
    assert only.finish_reason in ("error", "length", "stop") and len(only.token_ids) <= 8
