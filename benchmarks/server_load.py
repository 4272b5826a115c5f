"""The server under load, over a model double of a fixed speed, so that only this library is measured.

    python benchmarks/server_load.py                      all scenarios, about 5 minutes
    python benchmarks/server_load.py streams fresh        some of them
    python benchmarks/server_load.py --seconds 20         shorter
    python benchmarks/server_load.py smollm2 --model SmolLM2-135M-Instruct.Q4_1.gguf

The server runs in a process of its own (with its compiling processes), the clients in this one; on a machine of two
cores they compete. ``--step-ms`` is what the double takes for a step, whatever is in it; what a step takes beyond that
is ours. ``neighbours`` needs the shared data (CONSTRAINED_SHARED).

Prints one JSON line a scenario, then the table of ``docs/server.md`` and which aims were missed; the exit code is 1
where one was. For figures that count take a quiet machine, or put server and clients into the real-time class
(``chrt -r 1 python benchmarks/server_load.py``; the compiling processes leave it by themselves).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.server import load
from tests.server.client import chat, post

Result = tuple[dict[str, Any], list[tuple[str, Any, str, bool]]]
"""What was measured; and rows (what, reached, aim, met). An empty aim: for information."""


def streams(given: argparse.Namespace) -> Result:
    """200 streams at the double's speed."""
    step = given.step_ms
    with load.double(step_ms=step, max_batch=200, max_len=512) as server:
        found = asyncio.run(load.many_streams(server, streams=200, seconds=given.seconds, step_ms=step))
        found["server_seconds_a_token_us"] = round(cpu_seconds(server.process.pid) / max(1, found["tokens"]) * 1e6)
    bad = sum(count for status, count in found["statuses"].items() if status >= 500 or not status)
    limit = 2 * step
    return found, [("5xx of 200 streams", bad, "0", not bad),
                   (f"p99 token gap of 200 streams, ms (median {found['gap_p50_ms']}, longest {found['gap_max_ms']})",
                    found["gap_p99_ms"], f"< {limit:g}", found["gap_p99_ms"] < limit),
                   ("RSS, server and compilers, MB", found["rss_peak_mb"], "< 1000", found["rss_peak_mb"] < 1000),
                   ("processor time of the server for a token of 200 streams, us", found["server_seconds_a_token_us"],
                    "", True)]


def hostile(given: argparse.Namespace) -> Result:
    """8 good streams while 4 clients replay the hostile schemas, patterns and grammars."""
    attacks = load.shared_attacks()
    if not attacks:
        return {"skipped": "the shared data are not here (set CONSTRAINED_SHARED)"}, []
    with load.double(step_ms=given.step_ms, max_batch=16) as server:
        found = asyncio.run(load.neighbours(server, attacks, seconds=given.seconds))
    growth = round(found["beside_p99_ms"] - found["alone_p99_ms"], 1)
    gap = f"{found['alone_p99_ms']}, {found['beside_p99_ms']}"
    return found, [(f"p99 gap of 8 good streams alone, and beside 4 clients that replay {len(attacks)} hostile inputs, "
                    "ms", gap, "< 50 more", growth < 50),
                   (f"attacks answered otherwise than expected, of {found['attacks']}", len(found["wrong"]), "0",
                    not found["wrong"]),
                   ("slowest answer to an attack, s", found["slowest_answer_s"], "< 2", found["slowest_answer_s"] < 2),
                   ("RSS growth under attack, MB", found["rss_growth_mb"], "< 256", found["rss_growth_mb"] < 256),
                   ("good streams dropped", found["dropped"], "0", not found["dropped"])]


def disconnects(given: argparse.Namespace) -> Result:
    """1,000 clients that hang up in the middle of a stream."""
    with load.double(step_ms=5, max_batch=64) as server:
        found = asyncio.run(load.hang_ups(server, count=1_000))
    took = found["all_free_after_s"]
    return found, [("all slots free after 1,000 hang-ups, s", took, "< 1", took < 1)]


def mutated(given: argparse.Namespace) -> Result:
    """10,000 requests that were valid until something was changed."""
    with load.double(step_ms=0.5, max_batch=16) as server:
        found = asyncio.run(load.mutations(server, count=given.requests, seed=given.seed))
    return found, [(f"answers other than 2xx and 4xx to {given.requests:,} mutated requests", len(found["wrong"]), "0",
                    not found["wrong"])]


def fresh(given: argparse.Namespace) -> Result:
    """Requests with a 50 KB schema never seen before, beside 8 streams."""
    with load.double(step_ms=given.step_ms, max_batch=16, max_len=8_000) as server:
        found = asyncio.run(load.fresh_schema(server, rounds=12))
    delay = round(found["during_max_ms"] - found["outside_p50_ms"], 1)
    return found, [("longest delay of a row by a fresh 50 KB schema (12 of them), ms", delay,
                    f"< {given.step_ms:g} (a step)", delay < given.step_ms)]


PERSON = {"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "mood": {"enum": ["happy", "sad"]}}, "required": ["name", "age", "mood"], "additionalProperties": False}


def smollm2(given: argparse.Namespace) -> Result:
    """8 clients that ask SmolLM2 for objects of a schema."""
    path = given.model or os.environ.get("CONSTRAINED_SMOLLM2")
    if not path:
        return {"skipped": "no model (--model, or CONSTRAINED_SMOLLM2)"}, []
    port = load.free_port()
    server = load.ServerProcess([sys.executable, "-m", "constrained.cli.main", "serve", path, "--quantized", "--port",
                            str(port), "--max-len", "512"], port)
    valid: list[bool] = []
    times: list[float] = []
    end = time.monotonic() + given.seconds

    async def client(number: int) -> None:
        turn = 0
        while time.monotonic() < end:
            turn += 1
            body = {**chat(f"Invent person {number}.{turn} as JSON.", max_tokens=60), "temperature": 0.8,
                    "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}}
            started = time.monotonic()
            status, answer = await post(port, json.dumps(body).encode(), timeout=300)
            times.append(time.monotonic() - started)
            valid.append(status == 200 and fits(json.loads(answer)["choices"][0]["message"]["content"]))

    async def clients() -> None:
        await asyncio.gather(*(client(i) for i in range(8)))

    try:
        asyncio.run(clients())
    finally:
        server.end(signal.SIGTERM)
    found = {"answers": len(valid), "valid": sum(valid), "median_s": round(statistics.median(times), 2)}
    return found, [("valid answers of SmolLM2", f"{sum(valid)} of {len(valid)}", "all", all(valid))]


def fits(text: str) -> bool:
    """Whether a text is an object of ``PERSON``."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (set(value) == {"name", "age", "mood"} and len(value["name"]) <= 20 and 0 <= value["age"] <= 150
            and value["mood"] in ("happy", "sad"))


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        parts = file.read().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


SCENARIOS: dict[str, Callable[[argparse.Namespace], Result]] = {
    "streams": streams, "neighbours": hostile, "disconnects": disconnects, "mutations": mutated, "fresh": fresh,
    "smollm2": smollm2}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each timed scenario")
    parser.add_argument("--step-ms", type=float, default=50.0)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", help="for smollm2")
    given = parser.parse_args()
    rows: list[tuple[str, Any, str, bool]] = []
    for name in given.scenarios or SCENARIOS:
        started = time.monotonic()
        found, reached = SCENARIOS[name](given)
        print(json.dumps({"scenario": name, "took_s": round(time.monotonic() - started), **found}), flush=True)
        rows += reached
    average = "/".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\nload average at the end {average} on {os.cpu_count()} cores\n")
    print("| what | reached | aim |\n| --- | --- | --- |")
    for what, value, aim, _ in rows:
        print(f"| {what} | {value} | {aim} |")
    missed = [what for what, _, _, met in rows if not met]
    print(f"\nmissed: {'; '.join(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
