"""Load on a server in a process of its own: streams, hostile neighbours, hang-ups, mutated requests, kills.

Each scenario is one coroutine that takes a running server and returns what it measured as plain numbers; the tests run
them short, ``benchmarks/server_load.py`` at full length.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import itertools
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.server.client import Stream, chat, gaps, head_of, post, quantile
from tests.shared_data import shared_dir

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90


class ServerProcess:
    """A server over the fixed-speed double (or any command that serves) and what it holds."""

    def __init__(self, command: list[str], port: int) -> None:
        self.port = port
        self.process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1",
                                                                "PYTHONPATH": str(ROOT)},
                                        stderr=subprocess.PIPE)
        end = time.monotonic() + READY_SECONDS
        while True:
            assert self.process.poll() is None, self.process.stderr.read().decode()[-2000:]
            assert time.monotonic() < end, "the server did not start"
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                    assert answer.status == 200
                    return
            except OSError:
                time.sleep(0.1)

    def rss(self) -> tuple[float, float]:
        """Resident megabytes: of the server itself, and of its compiling processes."""
        own = _rss(self.process.pid)
        return own, sum(_rss(pid) for pid in _children(self.process.pid))

    def metrics(self) -> dict[str, float]:
        """The gauges and counters of ``/metrics``."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    def end(self, number: int = signal.SIGTERM, timeout: float = 40) -> int:
        """Send a signal and wait; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout)
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def double(*, port: int | None = None, **options: Any) -> Iterator[ServerProcess]:
    """A server over the double; ``options`` as the arguments of ``tests.server.fixed_speed``."""
    port = port or free_port()
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    server = ServerProcess([sys.executable, "-m", "tests.server.fixed_speed", "--port", str(port), *arguments], port)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _rss(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS")), 0.0)
    except OSError:
        return 0.0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


# -- scenarios ----------------------------------------------------------------------------------------------------


async def many_streams(server: ServerProcess, *, streams: int, seconds: float, step_ms: float) -> dict[str, Any]:
    """So many free streams at once, each as long as the time allows."""
    tokens = int(seconds * 1e3 / step_ms)
    end = time.monotonic() + seconds
    statuses: Counter[int] = Counter()
    done: list[Stream] = []
    peak = 0.0

    async def client(number: int) -> None:
        await asyncio.sleep(number * 0.01)
        while time.monotonic() < end - 1:
            stream = await Stream(server.port, chat(f"Story {number}.", max_tokens=min(tokens, 400))).run()
            statuses[stream.status] += 1
            done.append(stream)

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, sum(server.rss()))
            await asyncio.sleep(0.5)

    watcher = asyncio.create_task(watch())
    await asyncio.gather(*(client(i) for i in range(streams)))
    watcher.cancel()
    found = gaps(done)
    return {"streams": streams, "statuses": dict(statuses), "tokens": sum(len(s.times) for s in done),
            "gap_p50_ms": round(statistics.median(found), 1), "gap_p99_ms": round(quantile(found, 0.99), 1),
            "gap_max_ms": round(max(found), 1), "rss_peak_mb": round(peak), "errors": sum(s.error is not None
                                                                                         for s in done)}


Attack = tuple[str, str, bytes]
"""Its id, what is expected (``ok``, ``error`` or ``ok-or-error``), and the body of the request."""


def shared_attacks(most: int | None = None) -> list[Attack]:
    """The hostile schemas, patterns and grammars of the shared data as requests, all or ``most`` of them spread over
    the suite; none where the data are not here."""
    directory = shared_dir()
    if directory is None:
        return []
    with open(directory / "data" / "adversarial" / "adversarial.jsonl", encoding="utf-8") as file:
        cases = [case for case in map(json.loads, file) if case["kind"] != "server"]
    return list(attack_bodies(cases[:: 1 if most is None else max(1, len(cases) // most)]))


def attack_bodies(cases: Iterable[dict[str, Any]]) -> Iterator[Attack]:
    """The requests of cases of the suite."""
    for case in cases:
        source = eval(case["generator"], {"json": json}) if "generator" in case else case.get("input")
        kind = case["kind"]
        if kind == "json_schema":
            schema = source if isinstance(source, str) else json.dumps(source)
            frame = json.dumps(chat("Hi", model="m", max_tokens=8, response_format={
                "type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": "SCHEMA"}}))
            body = frame.replace('"SCHEMA"', schema)
        elif kind in ("regex", "ebnf", "gbnf", "lark"):
            body = json.dumps(chat("Hi", model="m", max_tokens=8, structured_outputs={
                "regex" if kind == "regex" else "grammar": source}))
        else:
            continue
        yield case["id"], case["expect"], body.encode("utf-8", "surrogatepass")


async def neighbours(server: ServerProcess, attacks: list[tuple[str, str, bytes]], *, seconds: float, good: int = 8,
                     attackers: int = 4) -> dict[str, Any]:
    """Good streams alone for half the time, then beside clients that replay the attacks."""
    statuses: Counter[int] = Counter()
    slow: list[tuple[str, float]] = []
    wrong: list[tuple[str, int]] = []
    slowest = 0.0
    stop = time.monotonic() + seconds

    async def client(number: int) -> list[Stream]:
        found: list[Stream] = []
        while time.monotonic() < stop:
            found.append(await Stream(server.port, chat(f"Good {number}.", max_tokens=200)).run())
        return found

    async def attacker(number: int) -> None:
        nonlocal slowest
        order = attacks[number::attackers]
        place = 0
        while time.monotonic() < stop - 1:
            name, expect, body = order[place % len(order)]
            place += 1
            started = time.monotonic()
            status, _ = await post(server.port, body)
            took = time.monotonic() - started
            statuses[status] += 1
            slowest = max(slowest, took)
            if took > 2:
                slow.append((name, round(took, 2)))
            if (expect == "error" and not 400 <= status < 500) or status >= 500 or not status:
                wrong.append((name, status))

    streams = [asyncio.create_task(client(i)) for i in range(good)]
    await asyncio.sleep(seconds / 2)
    middle = time.monotonic()
    before = sum(server.rss())
    await asyncio.gather(*(attacker(i) for i in range(attackers)))
    ended = time.monotonic()
    after = sum(server.rss())
    found = [stream for task in streams for stream in await task]
    alone, beside = gaps(found, until=middle), gaps(found, since=middle, until=ended)
    return {"alone_p99_ms": round(quantile(alone, 0.99), 1), "beside_p99_ms": round(quantile(beside, 0.99), 1),
            "beside_max_ms": round(max(beside), 1), "attacks": sum(statuses.values()), "statuses": dict(statuses),
            "slowest_answer_s": round(slowest, 2), "slow": slow[:20], "wrong": wrong[:20],
            "rss_growth_mb": round(after - before),
            "dropped": sum(1 for s in found if s.error is not None or s.status != 200)}


async def hang_ups(server: ServerProcess, *, count: int, at_once: int = 50) -> dict[str, Any]:
    """So many streams that are hung up on in the middle; then how long until all slots are free."""
    gate = asyncio.Semaphore(at_once)
    statuses: Counter[int] = Counter()
    before = sum(server.rss())

    async def one(number: int) -> None:
        async with gate:
            stream = Stream(server.port, chat(f"Hang {number}.", max_tokens=900))
            await stream.open()
            statuses[stream.status] += 1
            if stream.status == 200:
                await stream.read(pieces=2)
            stream.close()

    await asyncio.gather(*(one(i) for i in range(count)))
    started = time.monotonic()
    while True:
        metrics = await asyncio.to_thread(server.metrics)
        if not metrics["constrained_running_outputs"] and not metrics["constrained_waiting_outputs"]:
            break
        assert time.monotonic() - started < 30, metrics
        await asyncio.sleep(0.02)
    return {"hang_ups": count, "statuses": dict(statuses), "all_free_after_s": round(time.monotonic() - started, 2),
            "rss_growth_mb": round(sum(server.rss()) - before)}


async def fresh_schema(server: ServerProcess, *, rounds: int, good: int = 8, size: int = 50_000) -> dict[str, Any]:
    """Good streams while requests with schemas never seen before come in; how much longer their gaps become."""
    stop = asyncio.Event()

    async def client(number: int) -> list[Stream]:
        found: list[Stream] = []
        while not stop.is_set():
            found.append(await Stream(server.port, chat(f"Good {number}.", max_tokens=200)).run())
        return found

    streams = [asyncio.create_task(client(i)) for i in range(good)]
    await asyncio.sleep(3)
    windows: list[tuple[float, float]] = []
    statuses: Counter[int] = Counter()
    for number in range(rounds):
        body = json.dumps({"model": "m", **chat(max_tokens=4_000, stream=True), "response_format": {
            "type": "json_schema", "json_schema": {"name": "x", "schema": big_schema(size, number)}}}).encode()
        started = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head_of(body) + body)
        line = await reader.readline()
        statuses[int(line.split()[1])] += 1
        windows.append((started, time.monotonic()))
        await asyncio.sleep(0.5)
        writer.close()
        await asyncio.sleep(0.5)
    stop.set()
    found = [stream for task in streams for stream in await task]
    during = [gap for a, b in windows for gap in gaps(found, a, b + 0.2)]
    outside = [gap for (_, a), (b, _) in itertools.pairwise(windows) for gap in gaps(found, a + 0.2, b)]
    return {"schema_bytes": len(json.dumps(big_schema(size, 0))), "statuses": dict(statuses),
            "first_token_s": round(statistics.median(b - a for a, b in windows), 2),
            "outside_p50_ms": round(statistics.median(outside or [0.0]), 1),
            "outside_p99_ms": round(quantile(outside, 0.99), 1), "outside_max_ms": round(max(outside or [0.0]), 1),
            "during_p50_ms": round(statistics.median(during), 1),
            "during_p99_ms": round(quantile(during, 0.99), 1), "during_max_ms": round(max(during), 1)}


def big_schema(size: int, seed: int) -> dict[str, Any]:
    """An object schema of about ``size`` bytes: strings, bounds, lists, enumerations, patterns, nested objects."""
    draw = random.Random(seed)

    def word(length: int) -> str:
        return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=length))

    properties: dict[str, Any] = {}
    total = 0
    while total < size:
        kinds: list[dict[str, Any]] = [
            {"type": "string", "maxLength": draw.randint(5, 40)},
            {"type": "integer", "minimum": 0, "maximum": draw.randint(10, 9999)},
            {"type": "array", "items": {"type": "number"}, "maxItems": draw.randint(2, 9)},
            {"enum": [word(8) for _ in range(6)]},
            {"type": "object", "properties": {"a": {"type": "string"}, word(5): {"type": "boolean"}},
             "required": ["a"], "additionalProperties": False},
            {"type": "string", "pattern": "^[a-z]{3,9}-[0-9]+$"}]
        name = f"{word(10)}{len(properties)}"
        properties[name] = {"description": word(30), **draw.choice(kinds)}
        total += len(json.dumps(properties[name])) + len(name) + 6
    return {"type": "object", "properties": properties, "required": list(properties)[::2],
            "additionalProperties": False}


VALID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/chat/completions", {"model": "m", **chat(max_tokens=2)}),
    ("/v1/chat/completions", {"model": "m", **chat(max_tokens=12, n=1, seed=3, stop=["x"], top_p=0.9), "stream": True,
                              "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {
                                  "type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"],
                                  "additionalProperties": False}}}}),
    ("/v1/chat/completions", {"model": "m", **chat(max_tokens=40), "tools": [{"type": "function", "function": {
        "name": "f", "parameters": {"type": "object", "properties": {"q": {"enum": ["a"]}}, "required": ["q"],
                                    "additionalProperties": False}}}], "tool_choice": "required"}),
    ("/v1/completions", {"model": "m", "prompt": ["a", "b"], "max_tokens": 2, "logprobs": 1, "temperature": 0.5}),
    ("/v1/completions", {"model": "m", "prompt": [[97, 98], [99]], "max_tokens": 0, "echo": True, "logprobs": 2}),
    ("/v1/completions", {"model": "m", "prompt": "x", "max_tokens": 3, "n": 2, "echo": True, "stream": True,
                         "choice": ["ab", "ac"]}),
    ("/v1/responses", {"model": "m", "input": [{"role": "user", "content": "Hi"}], "max_output_tokens": 2,
                       "stream": True, "store": True, "text": {"format": {"type": "json_object"}}}),
    ("/v1/responses", {"model": "m", "input": "Hi", "max_output_tokens": 2, "temperature": 0}),
    ("/tokenize", {"prompt": "abc"}),
)

JUNK: tuple[Any, ...] = (None, True, False, 0, -1, 1, 3.5, 1e300, 10**30, "", "x", "\ud800", "\x00", "a" * 5000, [], {},
                         [[]], {"type": None}, [1, "a", None], {"type": "object"}, "(" * 50, {"a": {"b": [{}]}})


def mutated(draw: random.Random) -> tuple[str, bytes]:
    """A valid request with one to three things changed, as a value or as bytes."""
    path, value = draw.choice(VALID)
    value = json.loads(json.dumps(value))
    for _ in range(draw.randint(1, 3)):
        nodes: list[tuple[Any, Any]] = []
        stack: list[Any] = [value]
        while stack:
            node = stack.pop()
            entries = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
            for key, child in entries:
                nodes.append((node, key))
                if isinstance(child, (dict, list)):
                    stack.append(child)
        if not nodes:
            break
        node, key = draw.choice(nodes)
        what = draw.randrange(4)
        if what == 0 and isinstance(node, dict):
            name = draw.choice(["grammar", "n", "guided_json", "zzz", "type", "stop", "top_logprobs"])
            node[name] = copy.deepcopy(draw.choice(JUNK))
        elif what == 1:
            del node[key]
        else:
            node[key] = copy.deepcopy(draw.choice(JUNK))
    body = json.dumps(value).encode()
    if draw.random() < 0.15 and body:
        at = draw.randrange(len(body))
        body = body[:at] + bytes([draw.randrange(256)]) + body[at + draw.randint(0, 2):]
    return path, body


async def mutations(server: ServerProcess, *, count: int, seed: int = 0, at_once: int = 16) -> dict[str, Any]:
    """So many mutated requests; statuses, and those that were no 2xx or 4xx."""
    draw = random.Random(seed)
    work = [mutated(draw) for _ in range(count)]
    statuses: Counter[int] = Counter()
    wrong: list[tuple[int, str, str]] = []
    slowest = 0.0
    position = iter(work)

    async def client() -> None:
        nonlocal slowest
        for path, body in position:
            started = time.monotonic()
            status, answer = await post(server.port, body, path)
            slowest = max(slowest, time.monotonic() - started)
            statuses[status] += 1
            if not (200 <= status < 300 or 400 <= status < 500):
                wrong.append((status, path, body[:300].decode("utf-8", "replace")))
            elif status >= 400:
                assert len(answer) <= 4096 and b"Traceback" not in answer and b"0x" not in answer, answer[:300]

    await asyncio.gather(*(client() for _ in range(at_once)))
    return {"requests": count, "statuses": dict(sorted(statuses.items())), "wrong": wrong[:10],
            "slowest_s": round(slowest, 2)}
