"""Bitmask on logits: every path against a loop over bits, and every wrong input refused with nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrained.errors import BitmaskError
from constrained.kernel import is_compiled
from constrained.masks import apply_token_bitmask_inplace

torch = pytest.importorskip("torch")

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
WIDTHS = [0, 1, 31, 32, 33, 64, 100, 511, 512, 513, 1000]


def brute_force(logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None, rows: list[int]) -> torch.Tensor:
    """One logit after the other."""
    masked = logits.clone()
    for i in rows:
        for j in range(logits.shape[1]):
            word = int(bitmask[i, j // 32]) if j // 32 < bitmask.shape[1] else 0
            if not (word >> (j % 32)) & 1 or (vocab_size is not None and j >= vocab_size):
                masked[i, j] = -torch.inf
    return masked


def random_bitmask(rng: np.random.Generator, rows: int, words: int, share: float) -> torch.Tensor:
    """Bits are 1 with probability ``share``; some words whole, so that the shortcuts are taken."""
    bits = rng.random((rows, words, 32)) < share
    whole = rng.random((rows, words))
    bits[whole < 0.2] = True
    bits[whole > 0.8] = False
    octets = np.packbits(bits.reshape(rows, words * 32), axis=1, bitorder="little")
    return torch.from_numpy(octets.view("<i4").astype(np.int32).reshape(rows, words))


def backends(logits: torch.Tensor) -> list[str]:
    names = ["auto", "cpu", "torch"]
    return names if logits.dtype == torch.bfloat16 else [*names, "numpy"]


@settings(deadline=None)
@given(seed=st.integers(0, 1 << 32), dtype=st.sampled_from(sorted(DTYPES)), width=st.sampled_from(WIDTHS),
       words=st.integers(0, 20), rows=st.integers(0, 3), share=st.sampled_from([0.0, 0.03, 0.5, 0.97, 1.0]),
       cut=st.none() | st.integers(0, 1000), picked=st.none() | st.lists(st.integers(0, 2), max_size=4))
def test_every_path_agrees_with_the_loop_over_bits(seed: int, dtype: str, width: int, words: int, rows: int,
                                                   share: float, cut: int | None, picked: list[int] | None) -> None:
    rng = np.random.default_rng(seed)
    logits = torch.from_numpy(rng.normal(size=(rows, width))).to(DTYPES[dtype])
    bitmask = random_bitmask(rng, rows, words, share)
    vocab_size = None if cut is None else min(cut, width)
    indices = None if picked is None else [i for i in picked if i < rows]
    expected = brute_force(logits, bitmask, vocab_size, list(range(rows)) if indices is None else indices)
    for backend in backends(logits):
        masked = logits.clone()
        apply_token_bitmask_inplace(masked, bitmask, vocab_size=vocab_size, indices=indices,
                                    backend=backend)  # type: ignore[arg-type]
        assert torch.equal(expected, masked), backend


def test_a_real_width_in_every_dtype() -> None:
    if not is_compiled():
        pytest.skip("a wide row takes too long uncompiled; narrow ones are tested above")
    rng = np.random.default_rng(1)
    for width in (128_256, 151_669, 262_144):
        for share in (0.001, 0.5, 0.999):
            bitmask = random_bitmask(rng, 1, -(-width // 32), share)
            for dtype in DTYPES.values():
                logits = torch.from_numpy(rng.normal(size=(1, width))).to(dtype)
                expected = logits.clone()
                apply_token_bitmask_inplace(expected, bitmask, backend="torch")
                apply_token_bitmask_inplace(logits, bitmask)
                assert torch.equal(expected, logits)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_nan_and_infinities_are_kept_where_allowed_and_gone_where_not(dtype: str) -> None:
    values = [float("nan"), float("inf"), -float("inf"), -0.0] * 16
    logits = torch.tensor([values], dtype=DTYPES[dtype])
    before = logits.clone()
    apply_token_bitmask_inplace(logits, torch.tensor([[-1, 0x0F0F0F0F]], dtype=torch.int32))
    kept = [j for j in range(64) if j < 32 or (0x0F0F0F0F >> (j - 32)) & 1]
    assert torch.equal(before.view(torch.uint8).reshape(64, -1)[kept], logits.view(torch.uint8).reshape(64, -1)[kept])
    assert all(float(logits[0, j]) == -float("inf") for j in range(64) if j not in kept)


def test_a_single_row_needs_no_batch_dimension() -> None:
    logits, bitmask = torch.zeros(40), torch.tensor([5, 1], dtype=torch.int32)
    apply_token_bitmask_inplace(logits, bitmask)
    assert torch.isfinite(logits).nonzero().flatten().tolist() == [0, 2, 32]
    rows = torch.zeros(1, 40)
    apply_token_bitmask_inplace(rows, bitmask)
    assert torch.equal(rows[0], logits)


@pytest.mark.parametrize("indices", [[2, 0], (2, 0), np.array([2, 0]), torch.tensor([2, 0]), [2, 0, 0]],
                         ids=["list", "tuple", "numpy", "torch", "twice"])
@pytest.mark.parametrize("backend", ["cpu", "torch", "numpy"])
def test_indices_pick_the_same_row_of_both(indices: object, backend: str) -> None:
    logits = torch.zeros(4, 32)
    bitmask = torch.tensor([[1], [2], [4]], dtype=torch.int32)  # fewer rows than logits: row 3 is never named
    apply_token_bitmask_inplace(logits, bitmask, indices=indices, backend=backend)  # type: ignore[arg-type]
    finite = torch.isfinite(logits)
    assert finite[0].nonzero().flatten().tolist() == [0]
    assert finite[2].nonzero().flatten().tolist() == [2]
    assert finite[1].all() and finite[3].all()


def test_no_indices_no_change() -> None:
    logits = torch.zeros(2, 32)
    for backend in ("auto", "cpu", "torch", "numpy"):
        apply_token_bitmask_inplace(logits, torch.zeros(2, 1, dtype=torch.int32), indices=[],
                                    backend=backend)  # type: ignore[arg-type]
    assert torch.equal(logits, torch.zeros(2, 32))


def strided(kind: str, rows: int, width: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    if kind == "transposed":
        return torch.randn(width, rows, generator=generator).T
    if kind == "every second item":
        return torch.randn(rows, 2 * width, generator=generator)[:, ::2]
    if kind == "every second row":
        return torch.randn(2 * rows, width, generator=generator)[::2]
    return torch.randn(rows, width + 7, generator=generator)[:, 3 : 3 + width]  # part of a wider row


@pytest.mark.parametrize("kind", ["transposed", "every second item", "every second row", "part of a wider row"])
@pytest.mark.parametrize("as_array", [False, True], ids=["tensor", "array"])
def test_strided_logits_and_bitmask(kind: str, as_array: bool) -> None:
    rng = np.random.default_rng(2)
    whole = strided(kind, 3, 100)
    base = whole.clone()
    wide = torch.full((6, 9), 0x5555, dtype=torch.int32)
    for bitmask in (random_bitmask(rng, 3, 4, 0.5), wide[::2, :4], wide[:3, 0:8:2], wide.T[:3, :4]):
        logits = whole
        logits.copy_(base)
        expected = brute_force(base, bitmask, None, [0, 1, 2])
        if as_array:
            apply_token_bitmask_inplace(logits.numpy(), bitmask.numpy())
        else:
            apply_token_bitmask_inplace(logits, bitmask)
        assert torch.equal(expected, logits)


def test_what_surrounds_the_rows_is_not_touched() -> None:
    store = torch.zeros(5, 120, dtype=torch.float16)
    apply_token_bitmask_inplace(store[1:4, 10:110], torch.zeros(3, 4, dtype=torch.int32))
    inside = torch.zeros_like(store, dtype=torch.bool)
    inside[1:4, 10:110] = True
    assert torch.equal(torch.isinf(store), inside)


def test_arrays_and_tensors_mix_on_the_cpu() -> None:
    bits = np.array([[1]], dtype=np.int32)
    for logits in (torch.zeros(1, 32), np.zeros((1, 32), dtype=np.float32), np.zeros((1, 32), dtype=np.float16)):
        for bitmask in (bits, torch.from_numpy(bits)):
            for backend in ("auto", "cpu", "torch", "numpy"):
                logits[:] = 0
                apply_token_bitmask_inplace(logits, bitmask, backend=backend)  # type: ignore[arg-type]
                assert np.isfinite(np.asarray(logits)).nonzero()[1].tolist() == [0]


def test_autograd_sees_the_mask() -> None:
    weights = torch.zeros(1, 32, requires_grad=True)
    logits = weights * 2
    apply_token_bitmask_inplace(logits, torch.tensor([[3]], dtype=torch.int32))
    torch.logsumexp(logits, dim=-1).sum().backward()
    assert weights.grad is not None
    assert weights.grad[0].nonzero().flatten().tolist() == [0, 1]


GOOD = torch.zeros(2, 64)
BITS = torch.zeros(2, 2, dtype=torch.int32)


def read_only() -> np.ndarray:
    array = np.zeros((2, 64), dtype=np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(("logits", "bitmask", "options", "message"), [
    (torch.zeros(2, 64, dtype=torch.float64), BITS, {}, "float64"),
    (torch.zeros(2, 64, dtype=torch.int32), BITS, {}, "int32"),
    (GOOD, BITS.long(), {}, "int64"),
    (GOOD, BITS.float(), {}, "float32"),
    (GOOD, BITS[:1], {}, "2 rows of logits but 1"),
    (GOOD, BITS[0], {}, "2 rows of logits but 1"),
    (torch.zeros(2, 2, 64), BITS, {}, "dimensions"),
    (torch.zeros(()), BITS, {}, "dimensions"),
    (GOOD, torch.zeros(2, 2, 1, dtype=torch.int32), {}, "dimensions"),
    ([[0.0] * 64], BITS, {}, "list"),
    (GOOD, [[0, 0]], {}, "list"),
    (GOOD, None, {}, "NoneType"),
    (read_only(), BITS, {}, "read-only"),
    (np.zeros((2, 64), dtype=">f4"), BITS, {}, "byte order"),
    (np.zeros((2, 64)), BITS, {}, "float64"),
    (GOOD, BITS, {"vocab_size": 65}, "vocab_size"),
    (GOOD, BITS, {"vocab_size": -1}, "vocab_size"),
    (GOOD, BITS, {"vocab_size": 3.0}, "vocab_size"),
    (GOOD, BITS, {"vocab_size": True}, "vocab_size"),
    (GOOD, BITS, {"indices": [2]}, "indices"),
    (GOOD, BITS, {"indices": [-1]}, "indices"),
    (GOOD, BITS[:1], {"indices": [1]}, "indices"),
    (GOOD, BITS, {"indices": [0.0]}, "indices"),
    (GOOD, BITS, {"indices": [True]}, "indices"),
    (GOOD, BITS, {"indices": [[0]]}, "indices"),
    (GOOD, BITS, {"indices": 0}, "indices"),
    (GOOD, BITS, {"backend": "cuda!"}, "cuda!"),
    (GOOD, BITS, {"backend": "triton"}, "GPU"),
    (torch.zeros(64, 2).T, BITS, {"backend": "cpu"}, "contiguous"),
    (GOOD.bfloat16(), BITS, {"backend": "numpy"}, "numpy"),
    (torch.zeros(2, 64, device="meta"), BITS, {}, "meta"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_input_is_refused_and_nothing_is_written(logits: object, bitmask: object, options: dict[str, object],
                                                       message: str) -> None:
    with pytest.raises(BitmaskError, match=message):
        apply_token_bitmask_inplace(logits, bitmask, **options)  # type: ignore[arg-type]
    if isinstance(logits, (torch.Tensor, np.ndarray)) and str(getattr(logits, "device", "cpu")) == "cpu":
        assert not np.asarray(logits if isinstance(logits, np.ndarray) else logits.float()).any()


def test_the_triton_kernel_under_its_interpreter() -> None:
    """On a machine without a GPU the kernel's own code runs under Triton's interpreter, in a process of its own."""
    pytest.importorskip("triton")
    script = Path(__file__).with_name("triton_interpreter.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(script.parents[2])}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip().endswith("masks equal")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_the_triton_kernel_on_a_gpu(dtype: str) -> None:
    rng = np.random.default_rng(4)
    for width, words in ((100, 4), (128_256, 4_008), (151_936, 4_000)):
        logits = torch.from_numpy(rng.normal(size=(3, width))).to(DTYPES[dtype])
        bitmask = random_bitmask(rng, 3, words, 0.5)
        for indices in (None, [2, 0]):
            expected, masked = logits.clone(), logits.cuda()
            apply_token_bitmask_inplace(expected, bitmask, indices=indices, backend="torch")
            apply_token_bitmask_inplace(masked, bitmask.cuda(), indices=indices, backend="triton")
            assert torch.equal(expected, masked.cpu())
