"""The C loops of a decode step against the same formulas in numpy, at sizes that fill no vector evenly."""

from __future__ import annotations

import numpy as np
import pytest

from constrained.kernel import token_step as kernel

pytestmark = pytest.mark.skipif(not kernel.is_compiled(), reason="has no uncompiled form: the decoder then uses torch")


@pytest.fixture(autouse=True, params=[0, 1, 2], ids=["128 bits", "256 bits", "512 bits"])
def vectors(request):
    """Every test with every width that this processor has."""
    if kernel.limit_vectors(request.param) < request.param:
        kernel.limit_vectors(2)
        pytest.skip("this processor has no vectors so wide")
    yield
    kernel.limit_vectors(2)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def to_half(values: np.ndarray) -> np.ndarray:
    """float32 to bfloat16 words, to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    words = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), words)


def to_float(words: np.ndarray) -> np.ndarray:
    return (words.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 48, 576])
@pytest.mark.parametrize("rows", [1, 3])
def test_add_norm(width, rows):
    random = np.random.default_rng(width)
    x = random.standard_normal((rows, width)).astype(np.float32)
    add = to_half(random.standard_normal((rows, width)))
    weight = random.random(width).astype(np.float32)
    out = np.zeros((rows, width), np.uint16)
    for added in (add, None):
        expected = x + (0 if added is None else to_float(added))
        kernel.add_norm(address(x), 0 if added is None else address(added), address(weight), address(out), rows, width,
                        1e-5)
        assert np.array_equal(x, expected)
        exact = expected / np.sqrt((expected.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5) * weight
        assert np.abs(to_float(out) - exact).max() <= 2.0**-8 * np.abs(exact).max()


def test_rounding_is_to_the_nearest_even_and_keeps_what_is_not_finite():
    values = np.array([1.0, 1.00390625, 1.01171875, -0.0, 3.3e38, 1e-40, np.inf, -np.inf, np.nan], np.float32)
    nan = np.frombuffer(np.uint32(0x7FFFFFFF).tobytes(), np.float32)
    values = np.concatenate([values, nan])
    wanted, out = to_half(values), np.zeros(len(values), np.uint16)
    for i, value in enumerate(values):  # a norm of width 1 with weight |x| gives x back, off 0 and what is not finite
        x = np.array([[value]], np.float32)
        weight = np.array([abs(value)], np.float32)
        if np.isfinite(value) and abs(value) > 1e-30 and abs(value) < 1e18:
            kernel.add_norm(address(x), 0, address(weight), address(out[i:]), 1, 1, 0.0)
            assert out[i] == wanted[i], value
    bad = np.array([[np.nan, 1.0]], np.float32)
    kernel.add_norm(address(bad), 0, address(np.ones(2, np.float32)), address(out), 1, 2, 1e-5)
    assert np.isnan(to_float(out[:2])).all()


@pytest.mark.parametrize("width", [1, 7, 16, 33, 1536])
def test_gated(width):
    random = np.random.default_rng(width)
    gate_up = random.standard_normal((2, 2 * width)) * 8
    gate_up[0, 0], gate_up[1, 0] = 300.0, -300.0
    words = to_half(gate_up)
    gate, up = np.split(to_float(words).astype(np.float64), 2, axis=1)
    out = np.zeros((2, width), np.uint16)
    kernel.gated(address(words), address(out), 2, width)
    with np.errstate(over="ignore"):
        exact = gate / (1 + np.exp(-gate)) * up
    assert (np.abs(to_float(out) - exact) <= 2.0**-8 * np.abs(exact) + 1e-30).all()
    words[0, 0] = 0x7FC0
    kernel.gated(address(words), address(out), 2, width)
    assert np.isnan(to_float(out)[0, 0]) and not np.isnan(to_float(out)[1]).any()


@pytest.mark.parametrize("length", [0, 1, 15, 40])
@pytest.mark.parametrize("kv_heads,group,dim,first", [(1, 1, 2, 0), (2, 3, 16, 0), (3, 3, 64, 0), (2, 2, 20, 9)])
def test_attend(length, kv_heads, group, dim, first):
    first = min(first, length)
    random, room, scale = np.random.default_rng(length + dim), 48, dim**-0.5
    heads = kv_heads * group
    mixed = to_half(random.standard_normal((heads + 2 * kv_heads, dim)))
    angles = random.random((room, dim // 2)) * 6
    cosines = to_half(np.concatenate([np.cos(angles)] * 2, 1))
    sines = to_half(np.concatenate([-np.sin(angles), np.sin(angles)], 1))
    keys, values = (to_half(random.standard_normal((kv_heads, room, dim))) for _ in range(2))
    before, out = keys.copy(), np.zeros((heads, dim), np.uint16)
    scratch = np.zeros(group * (dim + length + 1 - first) + 2 * dim + 1, np.float32)
    scratch[-1] = 77.0
    kernel.attend(address(mixed), address(cosines), address(sines), address(keys), address(values), length, first,
                  address(out), address(scratch), kv_heads, group, dim, room * dim, scale)
    assert scratch[-1] == 77.0  # the size that the docstring says is enough

    def rotated(x):
        x = to_float(x)
        swapped = np.roll(x, dim // 2, axis=-1)
        return x * to_float(cosines[length]) + swapped * to_float(sines[length])

    queries, new = rotated(mixed[:heads]), rotated(mixed[heads : heads + kv_heads])
    assert np.abs(to_float(keys[:, length]) - new).max() <= 2.0**-7 * np.abs(new).max()
    assert np.array_equal(values[:, length], mixed[heads + kv_heads :])
    others = np.arange(room) != length
    assert np.array_equal(keys[:, others], before[:, others])
    for head in range(heads):
        seen = slice(first, length + 1)
        scores = to_float(keys[head // group, seen]).astype(np.float64) @ queries[head] * scale
        weights = np.exp(scores - scores.max())
        exact = weights / weights.sum() @ to_float(values[head // group, seen])
        assert np.abs(to_float(out[head]) - exact).max() <= 2.0**-7 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("count", [1, 3, 4, 6, 9])
@pytest.mark.parametrize("rows,blocks", [(1, 1), (5, 18), (3, 2)])
def test_int8_rows(rows, blocks, count):
    random = np.random.default_rng(rows)
    quants = random.integers(-128, 128, (rows, blocks, 32)).astype(np.int8)
    scales = random.random((rows, blocks)).astype(np.float32)
    x = random.standard_normal((count, blocks, 32)).astype(np.float32)
    out = np.zeros((count, rows), np.float32)
    kernel.int8_rows(address(quants), address(scales), address(x), address(out), rows, blocks, count)
    weights = quants.astype(np.float64) * scales[..., None]
    exact = np.einsum("rbk,cbk->cr", weights, x)
    room = 1e-6 * np.einsum("rbk,cbk->cr", np.abs(weights), np.abs(x))
    assert (np.abs(out - exact) <= room).all()
