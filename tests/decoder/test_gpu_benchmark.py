"""``benchmarks/gpu.py --smoke``: the script for one GPU runs to its end on a CPU, every part of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]


def smoke(*arguments: str) -> tuple[int, list[dict]]:
    done = subprocess.run([sys.executable, str(ROOT / "benchmarks" / "gpu.py"), "--smoke", *arguments],
                          capture_output=True, text=True, timeout=300, cwd=ROOT,
                          env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"})
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_every_part_runs():
    status, lines = smoke()
    assert status == 0 and not [line for line in lines if "error" in line]
    assert lines[0]["part"] == "device" and "mean nothing" in lines[0]["name"]
    ended = [line["part"] for line in lines if "seconds" in line]
    assert ended == ["logits", "bitmask", "waits", "decode", "prefill", "constrained", "transformers"]
    assert {line["way"] for line in lines if line["part"] == "decode" and "way" in line} == {"slots", "pages", "static"}
    assert all(line["same_tokens"] == line["of"] for line in lines if "sampler" in line)


def test_parts_without_time_are_left_out():
    status, lines = smoke("--seconds", "0.001", "--parts", "decode,prefill")
    assert status == 0 and [line.get("skipped") for line in lines[1:]] == ["no time left"] * 2
