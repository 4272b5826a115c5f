# ruff: noqa: E402 - imports follow pytest.importorskip
"""The load scenarios, short, and kills: over the fixed-speed double in processes of their own.

Times are not judged here (machines differ, and are shared); ``benchmarks/server_load.py`` measures them.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")
for package in ("starlette", "uvicorn", "httptools", "jinja2"):
    pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")

from constrained.vocabulary.disk_cache import VocabularyCache
from tests.server import load
from tests.server.client import Stream, chat, post
from tests.server.fixed_speed import byte_pairs
from tests.server.load import double
from tests.shared_data import require_shared

SHORT = 40
"""Attacks of a short run, spread over the suite."""


@pytest.fixture(scope="module")
def server():
    with double(step_ms=5, max_batch=16, max_len=1024) as made:
        yield made


def test_streams(server) -> None:
    found = asyncio.run(load.many_streams(server, streams=16, seconds=3, step_ms=5))
    assert set(found["statuses"]) == {200} and not found["errors"] and found["tokens"] > 500


def test_hang_ups(server) -> None:
    found = asyncio.run(load.hang_ups(server, count=60))
    assert set(found["statuses"]) == {200}


def test_mutated_requests(server) -> None:
    found = asyncio.run(load.mutations(server, count=200, seed=time.time_ns()))
    assert not found["wrong"] and sum(found["statuses"].values()) == 200


def test_attackers_beside_good_streams(server) -> None:
    require_shared()
    attacks = load.shared_attacks(SHORT)
    found = asyncio.run(load.neighbours(server, attacks, seconds=6, good=4, attackers=2))
    assert not found["wrong"] and not found["dropped"] and found["attacks"] > 5


def test_a_fresh_schema(server) -> None:
    found = asyncio.run(load.fresh_schema(server, rounds=1, good=2, size=20_000))
    assert sum(found["statuses"].values()) == 1


def test_sigterm_lets_streams_end() -> None:
    async def work(server) -> tuple[list[Stream], int, int]:
        streams = [Stream(server.port, chat(max_tokens=80)) for _ in range(6)]  # four run, two wait
        tasks = [asyncio.create_task(stream.run()) for stream in streams]
        while not all(stream.times for stream in streams[:1]):
            await asyncio.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)
        try:
            status = (await post(server.port, b"{}", "/tokenize"))[0]
        except ConnectionError:
            status = 0
        await asyncio.gather(*tasks)
        return streams, status, await asyncio.to_thread(server.end)

    with double(step_ms=10, max_batch=4, max_len=256) as server:
        streams, status, code = asyncio.run(work(server))
    assert code == 0 and status in (0, 503)
    assert all(stream.ended and stream.error is None for stream in streams if stream.status == 200)
    assert sum(stream.status == 200 for stream in streams) >= 4


def test_sigterm_cuts_what_does_not_end() -> None:
    async def work(server) -> Stream:
        stream = Stream(server.port, chat(max_tokens=5_000))
        task = asyncio.create_task(stream.run())
        while len(stream.times) < 3:
            await asyncio.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        await task
        return stream

    with double(step_ms=20, max_batch=1, max_len=8_000, drain_seconds=1) as server:
        stream = asyncio.run(work(server))
        started = time.monotonic()
        assert server.end(timeout=20) == 0 and time.monotonic() - started < 15
    assert not stream.ended


def test_sigkill_and_restart() -> None:
    body = json.dumps({**chat(max_tokens=400), "response_format": {"type": "json_schema", "json_schema": {
        "name": "x", "schema": load.big_schema(600, 1)}}}).encode()
    with double(step_ms=2, max_batch=2) as first:
        workers = Path(f"/proc/{first.process.pid}/task/{first.process.pid}/children").read_text().split()
        assert asyncio.run(post(first.port, body))[0] == 200
        first.end(signal.SIGKILL)
        end = time.monotonic() + 10  # the compiling processes notice that nobody is there
        while any(Path(f"/proc/{pid}/cmdline").exists() and b"compile_worker" in Path(
                f"/proc/{pid}/cmdline").read_bytes() for pid in workers):
            assert time.monotonic() < end
            time.sleep(0.05)
        with double(port=first.port, step_ms=2, max_batch=2) as second:
            assert asyncio.run(post(second.port, body))[0] == 200
            assert second.end() == 0


def test_a_killed_compiler_is_replaced(server) -> None:
    pids = [int(pid) for pid in
            Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while True:
        body = json.dumps({**chat(max_tokens=6), "structured_outputs": {
            "regex": f"[ab]{{1,3}}{'c' * (int(time.monotonic() * 1e3) % 50)}?"}}).encode()
        status, _ = asyncio.run(post(server.port, body))
        assert status in (200, 400, 429)
        if status == 200:
            break
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_full_disk_costs_the_cache_only(tmp_path: Path) -> None:
    """The one cache on disk is the vocabulary's, and it is only written where a folder is named for it."""
    info = byte_pairs()
    cache = VocabularyCache(Path("/dev/full"))  # every write fails, as on a full disk
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache.store(info)
    assert caught and cache.load(info.fingerprint) is None
