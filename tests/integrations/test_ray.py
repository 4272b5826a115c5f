"""``examples/ray_batch.py`` on a local Ray cluster of two workers; skipped where Ray is not installed."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
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


@pytest.mark.skipif(importlib.util.find_spec("ray") is None or not os.environ.get("CONSTRAINED_RAY"),
                    reason="starts a Ray cluster: pip install 'ray[data]', then set CONSTRAINED_RAY=1")
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
