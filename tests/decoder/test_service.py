# ruff: noqa: E402 - imports follow pytest.importorskip
"""``DecoderService``: many threads and event loops, one decode thread; nobody waits for a slow reader."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.generate import generate
from constrained.decoder.loaders.load import load_model
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import RequestError, SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.decoder.service import DecoderService, QueueFullError, ServiceClosedError
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.test_scheduler import INFO, prompts
from tests.decoder.tiny_models import make

LONG = 400


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("llama-service")
    make("llama", directory)
    return load_model(directory, tokenizer=False).model


def scheduler(model, **options) -> Scheduler:
    options.setdefault("max_batch", 3)
    options.setdefault("max_len", 48)
    return Scheduler(model, INFO, **options)


@pytest.fixture
def service(model):
    made = DecoderService(scheduler(model), max_queue=64)
    yield made
    made.close(drain=False)


@pytest.fixture
def long_service(model):
    """Slots that hold long outputs, so that something is always running when a test looks."""
    made = DecoderService(scheduler(model, max_batch=2, max_len=LONG + 40), max_queue=2)
    yield made
    made.close(drain=False)


def request(prompt: list[int], **params) -> Request:
    return Request(prompt_ids=prompt, params=SamplingParams(**params))


def endless(prompt: list[int], seed: int = 0) -> Request:
    return request(prompt, seed=seed, max_tokens=LONG, ignore_eos=True)


def wait_until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def test_threads_and_coroutines_get_what_the_scheduler_alone_gives(model, service) -> None:
    given = prompts(12, seed=3)
    params = [SamplingParams(seed=i, max_tokens=4 + i, n=1 + i % 2) for i in range(len(given))]
    expected = [[c.token_ids for c in answers] for answers in generate(scheduler(model), given, params)]
    got: dict[int, list[tuple[int, ...]]] = {}

    def read(i: int) -> None:
        handle = service.submit(Request(prompt_ids=given[i], params=params[i]))
        tokens: dict[int, list[int]] = {}
        for event in handle:
            tokens.setdefault(event.index, []).extend(event.token_ids)
        got[i] = [tuple(tokens[index]) for index in sorted(tokens)]
        assert got[i] == [c.token_ids for c in handle.completions]

    async def read_async(i: int) -> None:
        handle = service.submit(Request(prompt_ids=given[i], params=params[i]))
        text = {}
        async for event in handle:
            text[event.index] = text.get(event.index, "") + event.text
        answers = await handle
        assert [c.text for c in answers] == [text[index] for index in sorted(text)]
        got[i] = [c.token_ids for c in answers]

    async def read_all(indices: range) -> None:
        await asyncio.gather(*(read_async(i) for i in indices))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(6)]
    threads.append(threading.Thread(target=asyncio.run, args=(read_all(range(6, 9)),)))
    for thread in threads:
        thread.start()
    asyncio.run(read_all(range(9, 12)))
    for thread in threads:
        thread.join()
    assert [got[i] for i in range(len(given))] == expected
    assert service.outstanding == 0 and service.running == 0


def test_a_constrained_request(service) -> None:
    handle = service.submit(Request(prompt_ids=[5, 6], params=SamplingParams(seed=1),
                                    matcher=TextsMatcher(INFO, [b"true", b"false"])))
    (answer,) = handle.result(timeout=20)
    assert answer.text in ("true", "false") and answer.finish_reason == "stop"


def test_wrong_requests_are_refused_where_they_are_submitted(service) -> None:
    with pytest.raises(RequestError, match="out of range"):
        service.submit(request([10_000]))
    assert service.outstanding == 0
    with pytest.raises(RequestError, match="max_queue"):
        DecoderService(service.scheduler, max_queue=-1)


def test_cancel_frees_the_slot_and_the_others_go_on(long_service) -> None:
    first, second = (long_service.submit(endless([5, 6, 7], seed)) for seed in (1, 2))
    waiting = long_service.submit(endless([8, 9], 3))
    wait_until(lambda: first.first_event_at is not None and second.first_event_at is not None)
    assert waiting.first_event_at is None and long_service.running == 2
    first.cancel()
    assert first.result(timeout=20)[0].finish_reason == "cancelled"
    wait_until(lambda: waiting.first_event_at is not None)
    waiting.cancel()
    waiting.cancel()
    assert waiting.result(timeout=20)[0].finish_reason == "cancelled"
    (answer,) = second.result(timeout=60)
    assert answer.finish_reason == "length" and len(answer.token_ids) == LONG
    second.cancel()  # too late: nothing happens
    assert second.completion is answer
    wait_until(lambda: long_service.running == 0)


def test_a_full_queue_refuses_and_takes_again(long_service) -> None:
    handles = [long_service.submit(endless([5, 6, 7], seed)) for seed in range(4)]
    with pytest.raises(QueueFullError):
        long_service.submit(endless([5]))
    with pytest.raises(QueueFullError):
        long_service.submit(request([5], n=5, max_tokens=1))
    assert long_service.outstanding == 4
    handles[3].cancel()
    handles[3].result(timeout=20)
    handles.append(long_service.submit(endless([5], 9)))
    for handle in handles:
        handle.cancel()
    wait_until(lambda: long_service.outstanding == 0)


def test_a_reader_that_does_not_read_holds_nobody_up(long_service) -> None:
    slow = long_service.submit(endless([5, 6, 7], 1))
    (answer,) = long_service.submit(request([5, 6], seed=2, max_tokens=10)).result(timeout=20)
    assert answer.token_ids
    slow.result(timeout=60)
    assert sum(len(event.token_ids) for event in slow) == LONG


def test_what_a_slow_coroutine_missed_comes_at_once(long_service) -> None:
    async def read() -> None:
        handle = long_service.submit(request([5, 6], seed=2, max_tokens=20, ignore_eos=True))
        await handle
        events = await handle.next_events()
        assert sum(len(event.token_ids) for event in events) == 20
        assert await handle.next_events() == []

    asyncio.run(read())


def test_a_cancelled_coroutine_leaves_the_service_as_it_was(long_service) -> None:
    async def read() -> None:
        handle = long_service.submit(endless([5, 6], 1))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await handle
        handle.cancel()
        assert (await handle)[0].finish_reason == "cancelled"

    asyncio.run(read())
    with pytest.raises(TimeoutError):
        handle = long_service.submit(endless([5, 6], 1))
        handle.result(timeout=0.01)
    with pytest.raises(RequestError, match="still running"):
        handle.completion  # noqa: B018
    handle.cancel()


def test_a_step_that_raises_ends_what_ran_and_nothing_else(model, service, monkeypatch) -> None:
    scheduler = service.scheduler

    class Broken:
        def __init__(self) -> None:
            self.real, self.calls = scheduler.model, 0

        def __getattr__(self, name: str):
            return getattr(self.real, name)

        def __call__(self, *args, **kwargs):
            self.calls += 1
            if self.calls == 3:
                raise RuntimeError("the device is gone")
            return self.real(*args, **kwargs)

    monkeypatch.setattr(scheduler, "model", Broken())
    handle = service.submit(request([5, 6, 7], seed=1, max_tokens=30, ignore_eos=True))
    (answer,) = handle.result(timeout=20)
    assert answer.finish_reason == "error" and isinstance(answer.error, RuntimeError)
    assert len(answer.token_ids) == 2 and service.failures == 1
    (again,) = service.submit(request([5, 6, 7], seed=1, max_tokens=5, ignore_eos=True)).result(timeout=20)
    assert again.finish_reason == "length" and service.running == 0


def test_closing_drains_or_cancels(model) -> None:
    draining = DecoderService(scheduler(model), max_queue=8)
    handles = [draining.submit(request([5, 6], seed=i, max_tokens=12, ignore_eos=True)) for i in range(6)]
    draining.refuse()
    with pytest.raises(ServiceClosedError):
        draining.submit(request([5]))
    assert draining.close(timeout=60)
    assert [h.completion.finish_reason for h in handles] == ["length"] * 6
    assert draining.close() and not draining.alive
    with pytest.raises(ServiceClosedError):
        draining.submit(request([5]))
    cut = DecoderService(scheduler(model, max_len=LONG + 40), max_queue=8)
    handle = cut.submit(endless([5, 6], 1))
    assert not cut.close(timeout=0.02)
    assert handle.completion.finish_reason == "cancelled" and not cut.alive


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_thread_leaves_nobody_waiting(model, monkeypatch) -> None:
    broken = DecoderService(scheduler(model))

    def fail(error: Exception) -> list:
        raise error

    monkeypatch.setattr(broken.scheduler, "step", lambda: fail(RuntimeError("one")))
    monkeypatch.setattr(broken.scheduler, "abort", fail)
    handle = broken.submit(request([5, 6], n=2, seed=1, max_tokens=3))
    answers = handle.result(timeout=20)
    assert [answer.finish_reason for answer in answers] == ["error", "error"]
    assert [event.finish_reason for event in handle] == ["error", "error"]
    with pytest.raises(ServiceClosedError):
        broken.submit(request([5]))
    assert broken.close() and not broken.alive
