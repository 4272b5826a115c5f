# ruff: noqa: E402 - imports follow pytest.importorskip
"""The loop as it runs on a GPU, checked without one: shapes, devices and waits, on torch's ``meta`` device.

Meta tensors have a device and no values. An operation over two devices raises; so does anything that needs a value on
the host (``item``, ``bool``, ``nonzero``), which on a GPU would wait for it. So a step that runs here mixes no devices
and waits nowhere but in ``download``. That the numbers are right is tested on a CPU; nothing is said about speed.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder import bitmask, chain
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.static_step import StaticStep
from constrained.decoder.paged_cache import PagedCache
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from tests.decoder.test_scheduler import INFO, prompts
from tests.decoder.tiny_models import make

LEGAL = range(3, 9)


class Log(list[str]):
    """What a step did, in order."""


@pytest.fixture
def log(monkeypatch):
    """Tokens come from ``download`` alone, and are made up: there are no values to choose from."""
    log, random_ids = Log(), random.Random(0)

    def download(values: Any) -> list[int]:
        assert values.device.type == "meta"
        log.append("wait")
        return [random_ids.choice(LEGAL) for _ in range(len(values))]

    monkeypatch.setattr(chain, "download", download)
    return log


PROMPTS = prompts(4)
SAMPLED = SamplingParams(temperature=0.8, top_k=20, top_p=0.9, min_p=0.01, typical_p=0.95, epsilon_cutoff=1e-4,
                         eta_cutoff=1e-4, seed=5, max_tokens=5)
PARAMS = {
    "greedy": SamplingParams(temperature=0, max_tokens=5),
    "sampled": SAMPLED,
    "sampled in vLLM's order": SAMPLED.updated(order="vllm", typical_p=1.0),
    "biased": SAMPLED.updated(logit_bias={40: 2.0, 41: -float("inf")}, min_tokens=2),
    "penalised": SAMPLED.updated(frequency_penalty=0.5, presence_penalty=0.5, no_repeat_ngram_size=2),
}


@pytest.fixture(scope="module", params=["llama", "gemma3"])
def checkpoint(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    make(request.param, directory)
    return directory


def run(scheduler: Scheduler, requests: list[Request], log: Log, seen: set[str] | None = None) -> None:
    ids = [scheduler.submit(request) for request in requests]
    steps = 0
    while scheduler.busy:
        log.clear()
        scheduler.step()
        steps += 1
        if seen is not None:
            seen.update(log)
        assert log.count("wait") <= 1
        if "forward" in log and "wait" in log:  # grammars are asked while the device computes
            begun, waited = log.index("forward"), log.index("wait")
            assert all(begun < i < waited for i, what in enumerate(log) if what in ("grammar", "mask"))
    assert steps > 3
    for i in ids:
        for completion in scheduler.completions(i):
            assert completion.error is None and completion.usage.output_tokens


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_step_mixes_no_devices_and_waits_once(log, checkpoint, params):
    model = load_model(checkpoint, tokenizer=False, device="meta", dtype=torch.bfloat16).model
    run(Scheduler(model, INFO, max_batch=3, max_len=48, prefill_chunk=8),
        [Request(prompt_ids=prompt, params=params) for prompt in PROMPTS], log)


class Letters:
    """A matcher that always allows ``ids``."""

    def __init__(self, log: Log, ids: range) -> None:
        self.log, self.ids = log, ids

    def accept_token(self, token_id: int) -> bool:
        return token_id in self.ids

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        self.log.append("grammar")
        bits = np.zeros(bitmask.shape[1] * 32, dtype=np.uint8)
        bits[self.ids.start : self.ids.stop] = 1
        bitmask[index] = np.packbits(bits, bitorder="little").view("<i4")
        return True

    def compute_ff_tokens(self) -> list[int]:
        return []

    def rollback(self, n: int = 1) -> None:
        pass

    def fork(self) -> Letters:
        return self

    def is_terminated(self) -> bool:
        return False

    def is_completed(self) -> bool:
        return True


@pytest.mark.parametrize("kind", ["slots", "pages", "static step"])
@pytest.mark.parametrize("n", [1, 6])
def test_grammars_are_asked_while_the_device_computes(log, monkeypatch, checkpoint, kind, n):
    model = load_model(checkpoint, tokenizer=False, device="meta", dtype=torch.bfloat16).model
    cache = (PagedCache(model.config, 6, 48, model.dtype, model.device, block_size=8) if kind == "pages"
             else KVCache(model.config, 6, 48, model.dtype, model.device))
    if kind == "static step":
        model.use_static_step(StaticStep(model, cache))
    embed, masked = model._embed, bitmask.apply_token_bitmask_inplace

    def embedded(ids: Any) -> Any:
        log.append("forward")
        return embed(ids)

    def masks(logits: Any, words: Any) -> None:
        log.append("mask")
        assert logits.device == words.device
        masked(logits, words)

    monkeypatch.setattr(model, "_embed", embedded)
    monkeypatch.setattr(bitmask, "apply_token_bitmask_inplace", masks)
    matchers = [Letters(log, LEGAL), Letters(log, range(3, 160)), None]
    seen: set[str] = set()
    run(Scheduler(model, INFO, cache=cache),
        [Request(prompt_ids=PROMPTS[i % 4], params=SAMPLED, matcher=matchers[i % 3]) for i in range(n)], log, seen)
    assert seen >= {"forward", "grammar", "wait"} and ("mask" in seen) == (n > 1)
