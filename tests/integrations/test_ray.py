"""``examples/ray_batch.py`` on a local Ray cluster of two workers; skipped where Ray is not installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

EXAMPLE = Path(__file__).parents[2] / "examples" / "ray_batch.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("ray_batch", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ray_batch"] = module
    spec.loader.exec_module(module)
    return module


def test_a_line_that_was_cut_off_is_done_again(example: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    assert example.read_finished(target) == set()
    target.write_text('{"id": "1", "output": {}}\n{"id": "2", "error": "x"}\n{"id": "3", "outp', encoding="utf-8")
    assert example.read_finished(target) == {"1", "2"}
    assert target.read_text(encoding="utf-8").endswith('"x"}\n')
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "a"}\n\n{"id": 3, "text": "b"}\n', encoding="utf-8")
    assert list(example.documents(source, {"1", "2"})) == [{"id": "3", "text": "b"}]
    source.write_text('{"id": 1, "text": "a"}\n{"name": 3}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 2"):
        list(example.documents(source, set()))


needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None or not os.environ.get("CONSTRAINED_RAY"),
                               reason="starts a Ray cluster: pip install 'ray[data]', then set CONSTRAINED_RAY=1")


@needs_ray
def test_two_workers_and_a_second_run(example: Any, tmp_path: Path) -> None:
    import ray

    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = {"1": "Ada Lovelace, 36, lives in London.", "2": "Bob is forty and comes from Rome.", "3": "Carla, Lyon."}
    source.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in texts.items()), encoding="utf-8")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": f"{EXAMPLE.parents[1]}{os.pathsep}{EXAMPLE.parent}"}})
    try:
        assert example.run(source, target, workers=2, batch_size=2) == (0, 3)
        rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
        assert {row["id"] for row in rows} == set(texts)
        for row in rows:
            example.Person.model_validate(row["output"])
        target.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
        assert example.run(source, target, workers=2, batch_size=2) == (1, 2)
        assert len(target.read_text(encoding="utf-8").splitlines()) == 3
        assert example.run(source, target, workers=2, batch_size=2) == (3, 0)
    finally:
        ray.shutdown()


@needs_ray
def test_a_killed_run_is_resumed(example: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    names = "Ada Bob Cy Di Ed Flo Gus Hal Ian Jo".split()
    people = {str(i): f"{name} is {20 + i} years old." for i, name in enumerate(names)}
    source.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in people.items()), encoding="utf-8")
    command = [sys.executable, str(EXAMPLE), str(source), str(target), "--workers", "2", "--batch-size", "1"]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1]), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 300
        while not (target.exists() and target.read_bytes().count(b"\n") >= 2):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        process.kill()
    with target.open("a", encoding="utf-8") as file:
        file.write('{"id": "cut')  # what a kill within a write leaves
    before = target.read_bytes().splitlines()[:-1]
    assert 2 <= len(before) < len(people)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=600)
    lines = target.read_bytes().splitlines()
    assert lines[: len(before)] == before
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(people)
    for line in lines:
        example.Person.model_validate(json.loads(line)["output"])
