"""Bitmasks on logits: this library's CPU path against XGrammar's, in one process, interleaved.

    OMP_NUM_THREADS=1 taskset -c 1 python benchmarks/apply_bitmask.py [--quick]

For each vocabulary width, batch and dtype, and for masks from "one token allowed" to "one token in a thousand
forbidden", the minimum of interleaved runs on a fresh process state; both results are compared first. The ratio is
XGrammar's time over ours: above 1 ours is faster.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import torch
import xgrammar

from constrained.kernel import is_compiled
from constrained.masks import allocate_token_bitmask, apply_token_bitmask_inplace

WIDTHS = {"Llama-3.1": 128_256, "Qwen3": 151_936, "Gemma-3": 262_144}
MASKS = {"all": 1.0, "999 of 1000": 0.999, "99 of 100": 0.99, "96 of 100": 0.96, "half": 0.5, "1 of 1000": 0.001,
         "only one": 0.0}  # 96 of 100: about what a JSON string allows
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def make_bitmask(batch: int, width: int, share: float) -> torch.Tensor:
    rng = np.random.default_rng(0)
    bitmask = allocate_token_bitmask(batch, width)
    words = bitmask.shape[1]
    for row in range(batch):
        bits = rng.random(words * 32) < share
        bits[rng.integers(width)] = True
        bitmask[row] = torch.from_numpy(np.packbits(bits, bitorder="little").view(np.int32))
    return bitmask


def minima(runs: int, *functions: Callable[[], None]) -> list[float]:
    """Microseconds, the best of ``runs`` interleaved calls of each."""
    best = [float("inf")] * len(functions)
    for _ in range(runs):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return [seconds * 1e6 for seconds in best]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the Llama-3.1 width, batches 1 and 8 only")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    print(f"kernels compiled: {is_compiled()}; torch {torch.__version__}, xgrammar {version('xgrammar')}, "
          f"Python {platform.python_version()}, {platform.machine()}")
    print("| logits | dtype | allowed | ours us | XGrammar us | ratio |\n| --- | --- | --- | --- | --- | --- |")
    worst = float("inf")
    for width in list(WIDTHS.values())[: 1 if quick else None]:
        for batch in (1, 8) if quick else (1, 8, 64):
            for dtype in DTYPES:
                for name, share in MASKS.items():
                    bitmask = make_bitmask(batch, width, share)
                    base = torch.zeros(batch, width, dtype=dtype)
                    ours, peer = base.clone(), base.clone()  # both made by writing: the same kind of pages
                    apply_token_bitmask_inplace(ours, bitmask)
                    xgrammar.apply_token_bitmask_inplace(peer, bitmask)
                    assert torch.equal(ours, peer)
                    runs = 400 if batch == 1 else 60 if batch == 8 else 12
                    a, b = minima(runs, lambda: apply_token_bitmask_inplace(ours, bitmask),  # noqa: B023
                                  lambda: xgrammar.apply_token_bitmask_inplace(peer, bitmask))  # noqa: B023
                    worst = min(worst, b / a)
                    print(f"| {batch} x {width} | {str(dtype)[6:]} | {name} | {a:.1f} | {b:.1f} | {b / a:.1f} |")
    print(f"\nsmallest ratio {worst:.2f}")


if __name__ == "__main__":
    main()
