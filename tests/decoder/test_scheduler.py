# ruff: noqa: E402 - imports follow pytest.importorskip
"""The generation loop on tiny random models: equality with transformers, independence of the batch, stop rules."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.errors import ModelError
from constrained.decoder.generate import generate, score, stream, unpad_left
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.paged_cache import PagedCache
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.vocabulary import TokenizerInfo
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.tiny_models import VOCAB, make

WORDS = ["ab", "abc", "bc", "cd", "true", "false", "tr", "ue", "{\"", "\":", "name", "\"}", " }", "12"]


def vocabulary() -> TokenizerInfo:
    """pad 0, bos 1, eos 2, then single printable characters, then words, then pairs."""
    pieces: list[bytes] = [b"<pad>", b"<bos>", b"<eos>"]
    pieces += [bytes([c]) for c in range(32, 127)]
    pieces += [w.encode() for w in WORDS]
    pieces += ["é".encode()[:1], "é".encode()[1:]]
    letters = iter(f"{a}{b}" for a in "etaoin" for b in "ETAOINSHRDLUCMFWYP")
    while len(pieces) < VOCAB:
        pieces.append(next(letters).encode())
    return TokenizerInfo.from_bytes(pieces, stop_token_ids=[2], special_token_ids=[0, 1])


INFO = vocabulary()
GREEDY = SamplingParams(temperature=0, max_tokens=12)


class Loaded:
    def __init__(self, name: str, directory: Path) -> None:
        self.reference = make(name, directory)
        self.model = load_model(directory, tokenizer=False).model


@pytest.fixture(scope="module", params=["llama", "qwen2", "qwen3", "mistral-window", "gemma3"])
def family(request, tmp_path_factory):
    return Loaded(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-loop"))


def make_scheduler(loaded: Loaded, **options) -> Scheduler:
    options.setdefault("max_batch", 3)
    options.setdefault("max_len", 48)
    return Scheduler(loaded.model, INFO, **options)


def prompts(n: int, seed: int = 0, longest: int = 20) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, longest, (n,), generator=generator).tolist()
    return [torch.randint(3, VOCAB, (length,), generator=generator).tolist() for length in lengths]


def reference_greedy(model, prompt: list[int], n_tokens: int) -> tuple[list[int], float]:
    """Greedy tokens of transformers' generate (end, pad and bos banned), and the smallest margin on the way."""
    ids = torch.tensor([prompt])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=n_tokens,
                         suppress_tokens=[0, 1, 2], output_logits=True, return_dict_in_generate=True,
                         pad_token_id=0)
    margin = float("inf")
    for logits in out.logits:
        kept = logits[0].clone()
        kept[[0, 1, 2]] = -torch.inf
        best = kept.topk(2).values
        margin = min(margin, float(best[0] - best[1]))
    return out.sequences[0, len(prompt):].tolist(), margin


def test_greedy_equals_transformers_generate(family) -> None:
    compared = 0
    given = prompts(8)
    scheduler = make_scheduler(family, prefill_chunk=7)
    params = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)
    answers = generate(scheduler, given, params)
    for prompt, (answer,) in zip(given, answers, strict=True):
        expected, margin = reference_greedy(family.reference, prompt, 12)
        if margin < 1e-3:
            continue
        compared += 1
        assert list(answer.token_ids) == expected
        assert answer.finish_reason == "length"
    assert compared >= 4


MIXED = [
    SamplingParams(temperature=0, max_tokens=9), SamplingParams(seed=5, max_tokens=14),
    SamplingParams(seed=6, top_k=5, max_tokens=7), SamplingParams(seed=7, top_p=0.9, min_p=0.02, max_tokens=11),
    SamplingParams(seed=8, repetition_penalty=1.3, frequency_penalty=0.2, max_tokens=10),
    SamplingParams(seed=9, no_repeat_ngram_size=2, temperature=0.7, max_tokens=16),
    SamplingParams(seed=10, n=2, max_tokens=6),
]


@pytest.mark.parametrize("deterministic", [False, True])
def test_same_seed_same_tokens_regardless_of_batch_mates(llama, deterministic: bool) -> None:
    given = prompts(len(MIXED), seed=3)
    alone = []
    for prompt, params in zip(given, MIXED, strict=True):
        alone.append([c.token_ids for c in generate(make_scheduler(llama, deterministic=deterministic),
                                                    [prompt], params)[0]])
    for batch, chunk in ((2, 5), (3, 512), (8, 512)):
        scheduler = make_scheduler(llama, max_batch=batch, deterministic=deterministic,
                                   prefill_chunk=512 if deterministic else chunk)
        together = [[c.token_ids for c in answers] for answers in generate(scheduler, given, MIXED)]
        assert together == alone
        assert scheduler.cache.n_free == batch


def test_requests_join_and_leave_at_any_step(llama) -> None:
    given = prompts(9, seed=4)
    expected = [generate(make_scheduler(llama), [p], SamplingParams(seed=i, max_tokens=3 + i))[0][0].token_ids
                for i, p in enumerate(given)]
    scheduler = make_scheduler(llama, max_batch=4)
    ids = []
    for i, prompt in enumerate(given):
        ids.append(scheduler.submit(Request(prompt_ids=prompt, params=SamplingParams(seed=i, max_tokens=3 + i))))
        scheduler.step()
        if i % 3 == 0:
            scheduler.step()
    for _ in scheduler.run():
        pass
    assert [scheduler.completions(i)[0].token_ids for i in ids] == expected


def test_logprobs_and_score_are_the_model_s(llama) -> None:
    prompt = prompts(1, seed=5)[0]
    params = SamplingParams(seed=1, max_tokens=8, logprobs=3, raw_logprobs=True, temperature=0.5, top_k=4)
    answer = generate(make_scheduler(llama), [prompt], params)[0][0]
    ids = torch.tensor([[*prompt, *answer.token_ids]])
    with torch.inference_mode():
        logits = llama.reference(ids).logits[0].float()
    assert answer.logprobs is not None and len(answer.logprobs) == len(answer.token_ids)
    for i, (token, entry) in enumerate(zip(answer.token_ids, answer.logprobs, strict=True)):
        row = logits[len(prompt) - 1 + i]
        legal = row.clone()
        legal[[0, 1]] = -torch.inf  # never written
        assert entry.token == token
        assert entry.logprob == pytest.approx(float(legal.log_softmax(-1)[token]), abs=1e-4)
        assert entry.raw == pytest.approx(float(row.log_softmax(-1)[token]), abs=1e-4)
        assert entry.allowed_mass == pytest.approx(float(row.softmax(-1)[2:].sum()), abs=1e-4)
        assert [t for t, _ in entry.top] == legal.topk(3).indices.tolist()
    scored = score(llama.model, INFO, prompt, list(answer.token_ids), top=2)
    assert scored.raw_logprob == pytest.approx(sum(e.raw for e in answer.logprobs), abs=1e-3)
    assert len(scored.entries) == len(answer.token_ids)


# -- constraints --------------------------------------------------------------------------------------------

TEXTS = [b'{"name": true}', b'{"name": false}', b'{"name": 12, "ab": "cd"}', b"12"]


def test_constrained_text_is_always_a_text_of_the_grammar(llama) -> None:
    given = prompts(6, seed=6)
    matchers = [TextsMatcher(INFO, TEXTS) for _ in given]
    scheduler = make_scheduler(llama)
    answers = generate(scheduler, given, SamplingParams(temperature=1.5, seed=tuple(range(6))), matchers)
    for (answer,) in answers:
        assert answer.finish_reason == "stop", answer.error
        assert answer.text.encode() in TEXTS
        assert answer.token_ids[-1] == 2
        assert answer.usage.forced_tokens > 0
        assert answer.usage.forward_passes < len(answer.token_ids)
    assert not matchers[0].path  # the request's own matcher is left alone


@pytest.mark.parametrize("params", [SamplingParams(temperature=0), SamplingParams(seed=3, temperature=1.3),
                                    SamplingParams(seed=4, top_p=0.7, repetition_penalty=1.2)])
def test_small_heads_and_forced_tokens_do_not_change_the_output(llama, params) -> None:
    given = prompts(4, seed=7)
    runs = []
    for options in ({}, {"small_heads": False}, {"jump_forward": False}, {"jump_forward": False, "small_heads": False}):
        scheduler = make_scheduler(llama, **options)
        matchers = [TextsMatcher(INFO, TEXTS) for _ in given]
        runs.append([a.token_ids for (a,) in generate(scheduler, given, params, matchers)])
    assert runs[0] == runs[1] == runs[2] == runs[3]


def test_fully_forced_text_needs_no_head_and_one_pass_at_most(llama) -> None:
    scheduler = make_scheduler(llama)
    answer = generate(scheduler, [[5, 6]], GREEDY.updated(max_tokens=None), [TextsMatcher(INFO, [b"QQQQ"])])[0][0]
    assert answer.text == "QQQQ"
    assert scheduler.forward_passes == 0
    assert answer.usage.forced_tokens == 5


def test_the_constraint_wins_over_bans_and_counts_them(llama) -> None:
    only = [TextsMatcher(INFO, [b"QQQQ"])]
    for params in (SamplingParams(temperature=0, no_repeat_ngram_size=1), SamplingParams(temperature=0, min_tokens=9),
                   SamplingParams(temperature=0, logit_bias={INFO.token_data.index(b"Q"): -5.0})):
        for jump in (True, False):
            answer = generate(make_scheduler(llama, jump_forward=jump), [[5, 6]], params, only)[0][0]
            assert answer.text == "QQQQ"
            expected = 3 if params.no_repeat_ngram_size else int(params.min_tokens > 0)
            assert answer.usage.lifted_bans == expected


def test_min_tokens_keeps_the_end_away_while_something_else_is_legal(llama) -> None:
    matcher = TextsMatcher(INFO, [b"12" * k for k in range(1, 7)])
    for seed in range(4):
        answer = generate(make_scheduler(llama), [[9, 9]], SamplingParams(seed=seed, min_tokens=4), [matcher])[0][0]
        assert len(answer.token_ids) - 1 >= 4


def test_stop_strings_inside_a_constraint_only_when_asked(llama) -> None:
    texts = [TextsMatcher(INFO, [b'{"name": true}'])]
    params = SamplingParams(temperature=0, stop=["name"])
    assert generate(make_scheduler(llama), [[5]], params, texts)[0][0].text == '{"name": true}'
    cut = generate(make_scheduler(llama), [[5]], params.updated(stop_in_constraint=True), texts)[0][0]
    assert (cut.text, cut.finish_reason, cut.stop_reason) == ('{"', "stop", "name")


def test_logprobs_do_not_change_a_constrained_output(llama) -> None:
    params = SamplingParams(seed=11, temperature=1.2)
    plain = generate(make_scheduler(llama), [[5, 9]], params, [TextsMatcher(INFO, TEXTS)])[0][0]
    for more in ({"logprobs": 2}, {"logprobs": 2, "raw_logprobs": True}):
        answer = generate(make_scheduler(llama), [[5, 9]], params.updated(**more), [TextsMatcher(INFO, TEXTS)])[0][0]
        assert answer.token_ids == plain.token_ids
        assert answer.logprobs is not None and len(answer.logprobs) == len(answer.token_ids)
        matcher = TextsMatcher(INFO, TEXTS)
        given = score(llama.model, INFO, [5, 9], list(answer.token_ids), matcher=matcher)
        assert [e.logprob for e in given.entries] == pytest.approx([e.logprob for e in answer.logprobs], abs=1e-4)


# -- stop rules ---------------------------------------------------------------------------------------------


def free_run(llama, **changes):
    return generate(make_scheduler(llama), [[40, 41, 42]], SamplingParams(seed=21, **changes))[0][0]


def test_stop_rules(llama) -> None:
    whole = free_run(llama, max_tokens=20)
    ids = list(whole.token_ids)
    assert whole.finish_reason == "length" and len(ids) == 20
    assert whole.text == INFO_TEXT(ids)
    third = free_run(llama, max_tokens=20, stop_token_ids=[ids[4]])
    first = ids.index(ids[4])
    assert (third.token_ids, third.stop_reason) == (tuple(ids[: first + 1]), ids[4])
    middle = whole.text[5:8]
    stopped = free_run(llama, max_tokens=20, stop=[middle])
    assert stopped.text == whole.text[: whole.text.index(middle)] and stopped.stop_reason == middle
    kept = free_run(llama, max_tokens=20, stop=[middle], include_stop=True)
    assert kept.text == stopped.text + middle


def INFO_TEXT(ids: list[int]) -> str:
    return b"".join(INFO.token_bytes(i) for i in ids).decode("utf-8", "replace")


def test_time_callback_cancel_and_errors_end_one_request_alone(llama) -> None:
    scheduler = make_scheduler(llama, max_batch=6)
    params = SamplingParams(seed=1, max_tokens=15)
    seen: list[str] = []

    class Failing(TextsMatcher):
        def fill_next_token_bitmask(self, bitmask, index=0):
            raise SamplingError("a limit of the grammar")

        def fork(self):
            return Failing(self.info, self.texts)

    def stop_third(event):
        seen.append(event.text)
        return len(seen) == 3

    def broken(event):
        raise KeyError("user code")

    ids = {
        "good": scheduler.submit(Request(prompt_ids=[50, 51], params=params)),
        "callback": scheduler.submit(Request(prompt_ids=[50, 52], params=params, callback=stop_third)),
        "broken": scheduler.submit(Request(prompt_ids=[50, 53], params=params, callback=broken)),
        "grammar": scheduler.submit(Request(prompt_ids=[50, 54], params=params, matcher=Failing(INFO, TEXTS))),
        "time": scheduler.submit(Request(prompt_ids=[50, 55], params=params.updated(time_limit=1e-9))),
        "cancel": scheduler.submit(Request(prompt_ids=[50, 56], params=params)),
        "queued": scheduler.submit(Request(prompt_ids=[50, 57], params=params)),
    }
    scheduler.step()
    time.sleep(0.001)
    scheduler.cancel(ids["cancel"])
    scheduler.cancel(ids["queued"])
    scheduler.cancel(12345)
    for _ in scheduler.run():
        pass
    done = {name: scheduler.completions(i)[0] for name, i in ids.items()}
    assert {n: c.finish_reason for n, c in done.items()} == {
        "good": "length", "callback": "callback", "broken": "error", "grammar": "error", "time": "time",
        "cancel": "cancelled", "queued": "cancelled"}
    assert isinstance(done["broken"].error, KeyError) and isinstance(done["grammar"].error, SamplingError)
    assert len(done["callback"].token_ids) == 3
    assert done["good"].token_ids == generate(make_scheduler(llama), [[50, 51]], params)[0][0].token_ids
    assert scheduler.cache.n_free == 6


def test_streamed_text_joins_to_the_whole_and_closing_cancels(llama) -> None:
    scheduler = make_scheduler(llama)
    params = SamplingParams(seed=2, max_tokens=10, stop=["zzzzz"])
    events = list(stream(scheduler, [7, 8, 9], params))
    whole = generate(scheduler, [[7, 8, 9]], params)[0][0]
    assert "".join(e.text for e in events) == whole.text
    assert [t for e in events for t in e.token_ids] == list(whole.token_ids)
    assert events[-1].finish_reason == "length"
    for event in stream(scheduler, [7, 8, 9], params):
        assert event.finish_reason is None
        break
    scheduler.step()
    assert not scheduler.busy and scheduler.cache.n_free == 3 and not scheduler._sequences


def test_other_threads_may_submit_and_cancel_while_the_loop_runs(llama) -> None:
    scheduler = make_scheduler(llama)
    params = SamplingParams(seed=3, max_tokens=6)
    ids: list[int] = []

    def client(first: int) -> None:
        for i in range(first, first + 8):
            ids.append(scheduler.submit(Request(prompt_ids=[40 + i, 41], params=params)))
            if i % 4 == 3:
                scheduler.cancel(ids[-1])

    threads = [threading.Thread(target=client, args=(8 * k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    while scheduler.busy or any(thread.is_alive() for thread in threads):
        scheduler.step()
    done = [scheduler.completions(i)[0] for i in ids]
    assert len(done) == 24 and {c.finish_reason for c in done} <= {"length", "stop", "cancelled"}
    assert sum(c.finish_reason != "cancelled" for c in done) >= 18


# -- prefix sharing -----------------------------------------------------------------------------------------


def test_samples_share_the_prefix_of_their_prompt(llama) -> None:
    prompt = prompts(1, seed=8)[0] * 2
    params = SamplingParams(seed=4, n=3, max_tokens=5)
    answers = generate(make_scheduler(llama, max_batch=3), [prompt], params)[0]
    assert [a.usage.cached_tokens for a in answers] == [0, len(prompt) - 1, len(prompt) - 1]
    assert len({a.token_ids for a in answers}) > 1
    apart = generate(make_scheduler(llama, max_batch=3, prefix_cache=False), [prompt], params)[0]
    assert [a.token_ids for a in apart] == [a.token_ids for a in answers]


def test_a_later_request_reuses_the_cached_beginning(llama) -> None:
    scheduler = make_scheduler(llama)
    prompt = list(range(10, 40))
    generate(scheduler, [prompt], GREEDY)
    again = generate(scheduler, [[*prompt[:25], 99, 98]], GREEDY)[0][0]
    assert again.usage.cached_tokens == 25
    assert again.token_ids == generate(make_scheduler(llama), [[*prompt[:25], 99, 98]], GREEDY)[0][0].token_ids


# -- bad input ----------------------------------------------------------------------------------------------


def test_bad_requests_are_refused_before_any_work(llama) -> None:
    scheduler = make_scheduler(llama)
    wrong = [
        Request(prompt_ids=[]), Request(prompt_ids=[VOCAB]), Request(prompt_ids=[-1]), Request(prompt_ids=["a"]),
        Request(prompt_ids=[5] * 48), Request(prompt_ids=[5], params=SamplingParams(stop_token_ids=[VOCAB])),
        Request(prompt_ids=[5], params=SamplingParams(logit_bias={VOCAB: 1.0})),
        Request(prompt_ids=[5], params=SamplingParams(ignore_eos=True), matcher=TextsMatcher(INFO, TEXTS)),
        Request(prompt_ids=[5], params=SamplingParams(n=2, seed=(1, 2, 3))),
    ]
    for request in wrong:
        with pytest.raises((RequestError, SamplingError)):
            scheduler.submit(request)
    assert not scheduler.busy and scheduler.forward_passes == 0
    with pytest.raises(RequestError):
        generate(scheduler, [[5], []])
    scheduler.step()
    assert not scheduler.busy
    with pytest.raises(RequestError):
        generate(scheduler, [[5]], [])
    with pytest.raises(RequestError):
        generate(scheduler, ["é\u4e16"])
    with pytest.raises(RequestError):
        scheduler.completions(99)


def test_tokenizer_and_checkpoint_are_checked_against_each_other(llama) -> None:
    pieces = [b"x"] * (VOCAB + 1)
    with pytest.raises(RequestError, match="logits"):
        Scheduler(llama.model, TokenizerInfo.from_bytes(pieces, stop_token_ids=[2]))
    with pytest.raises(RequestError, match="ends with"):
        Scheduler(llama.model, TokenizerInfo.from_bytes(pieces[:VOCAB], stop_token_ids=[9]))
    with pytest.raises(RequestError, match="BOS"):
        Scheduler(llama.model, TokenizerInfo.from_bytes(pieces[:VOCAB], stop_token_ids=[2]))


def test_a_reordered_vocabulary_is_refused(llama, monkeypatch) -> None:
    monkeypatch.setattr(llama.model, "tokenizer_info", INFO)
    pieces = [INFO.token_bytes(i) for i in range(VOCAB)]
    specials = {"stop_token_ids": [2], "special_token_ids": [0, 1]}
    Scheduler(llama.model, TokenizerInfo.from_bytes([b"<pad>", b"<bos>", b"<eos>", *pieces[3:]], **specials))
    pieces[40], pieces[41] = pieces[41], pieces[40]
    swapped = TokenizerInfo.from_bytes([b"<pad>", b"<bos>", b"<eos>", *pieces[3:]], **specials)
    for use in (lambda: Scheduler(llama.model, swapped), lambda: score(llama.model, swapped, [5], [6])):
        with pytest.raises(RequestError, match="token 40 is b'E'"):
            use()


def test_free_text_never_holds_pad_or_bos(llama) -> None:
    liked = SamplingParams(temperature=1.0, seed=3, max_tokens=12, logit_bias={0: 500.0, 1: 400.0})
    endless = liked.updated(logit_bias={0: 500.0, 1: 400.0, 2: 300.0}, ignore_eos=True)
    for params in (liked, liked.updated(temperature=0), endless):
        for answers in generate(make_scheduler(llama), prompts(3, seed=21), params):
            assert answers[0].token_ids and not {0, 1} & set(answers[0].token_ids)
            assert not params.ignore_eos or 2 not in answers[0].token_ids
    (bent,) = generate(make_scheduler(llama), [[5, 6]], liked.updated(logit_bias={2: 500.0}))[0]
    assert bent.token_ids == (2,) and bent.finish_reason == "stop"  # so the bias does bend what may be written


def test_a_cache_of_another_model_is_refused_at_once(llama) -> None:
    config = llama.model.config
    for cache in (KVCache(replace(config, n_layers=2, layer_ropes=(0, 0), layer_windows=(None, None)), 2, 20),
                  KVCache(config, 2, 20, torch.bfloat16)):
        with pytest.raises(ModelError):
            Scheduler(llama.model, INFO, cache=cache)


@pytest.mark.parametrize("paged", [False, True])
def test_a_request_whose_logits_are_nan_ends_alone(llama, monkeypatch, paged) -> None:
    """Its keys and values are NaN as well: neither its batch mates nor whoever gets its slot may see them."""
    poisoned = llama.model._embedding.clone()
    poisoned[77] = float("nan")
    config, params = llama.model.config, SamplingParams(seed=4, max_tokens=8)
    cache = PagedCache(config, 2, 48, block_size=4) if paged else KVCache(config, 2, 48)
    good = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    alone = [generate(make_scheduler(llama), [prompt], params)[0][0].token_ids for prompt in good]
    monkeypatch.setattr(llama.model, "_embedding", poisoned)
    requests = [good[0], [77, 5], good[1], [6, 77, 5, 5, 5], good[2]]
    answers = [answer for (answer,) in generate(Scheduler(llama.model, INFO, cache=cache), requests, params)]
    assert [a.finish_reason for a in answers[1::2]] == ["error", "error"]
    assert all(isinstance(a.error, SamplingError) and "NaN" in str(a.error) for a in answers[1::2])
    assert [a.token_ids for a in answers[0::2]] == alone


def test_left_padded_batches_become_plain_prompts() -> None:
    ids = torch.tensor([[0, 0, 5, 6], [7, 0, 8, 9]])
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    assert unpad_left(ids, mask) == [[5, 6], [7, 0, 8, 9]]
    assert unpad_left(ids, pad_id=0) == [[5, 6], [7, 0, 8, 9]]
    with pytest.raises(RequestError, match="left-padded"):
        unpad_left(ids, torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]))
    with pytest.raises(RequestError, match="padding"):
        unpad_left(ids, torch.tensor([[0, 0, 0, 0], [1, 1, 1, 1]]))


def test_a_left_padded_batch_is_taken_as_it_is(llama) -> None:
    ids = torch.tensor([[0, 0, 5, 6], [7, 0, 8, 9]])
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    params = SamplingParams(seed=6, max_tokens=5)
    padded = generate(make_scheduler(llama), ids, params, attention_mask=mask)
    plain = generate(make_scheduler(llama), [[5, 6], [7, 0, 8, 9]], params)
    assert [a.token_ids for (a,) in padded] == [a.token_ids for (a,) in plain]
    with pytest.raises(RequestError, match="attention_mask"):
        generate(make_scheduler(llama), [[5, 6]], params, attention_mask=mask)


def test_a_given_cache_is_used(llama) -> None:
    cache = KVCache(llama.model.config, 1, 20)
    scheduler = Scheduler(llama.model, INFO, cache=cache)
    answers = generate(scheduler, prompts(3, seed=9, longest=8), SamplingParams(seed=1, max_tokens=None))
    assert all(a.finish_reason in ("length", "stop") for (a,) in answers)
    assert all(a.usage.prompt_tokens + len(a.token_ids) <= 20 for (a,) in answers)


def test_deterministic_log_probabilities_are_bit_equal_whatever_the_batch(llama) -> None:
    given = prompts(5, seed=14)
    params = SamplingParams(seed=2, max_tokens=6, logprobs=2, raw_logprobs=True)
    together = generate(make_scheduler(llama, max_batch=4, deterministic=True), given, params)
    for prompt, (answer,) in zip(given, together, strict=True):
        alone = generate(make_scheduler(llama, max_batch=1, deterministic=True), [prompt], params)[0][0]
        assert answer.logprobs == alone.logprobs  # no tolerance
