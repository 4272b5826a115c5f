"""Numbers counted by remainder: each state's edges lead where arithmetic says."""

from __future__ import annotations

import itertools
import random

import pytest

from constrained.kernel.digit_blocks import magnitude_block, mantissa_block

Rows = tuple[tuple[tuple[int, int, int], ...], ...]


def state_after(rows: Rows, text: str) -> int:
    state = 0
    for byte in text.encode():
        state = next((to for low, high, to in rows[state] if low <= byte <= high), -1)
        if state < 0:
            return -1
    return state


@pytest.mark.parametrize("size", [1, 3, 7, 10, 64, 385])
@pytest.mark.parametrize(("scale", "places"), [(0, 0), (0, 1), (1, 1), (2, 2), (3, 4)])
def test_magnitudes(size: int, scale: int, places: int) -> None:
    rows = magnitude_block(size, scale, places, frozenset((1,))).rows()
    assert len(rows) == 2 + size + (size * (places + 1) if places else 0)
    assert all(a[1] < b[0] for row in rows for a, b in itertools.pairwise(row))
    rng = random.Random(f"{size} {scale}")
    for _ in range(300):
        whole = rng.choice(["0", str(rng.randint(1, 9)), str(rng.randint(10, 10**9))])
        tail = "".join(rng.choice("0123456789" if i < scale else "0") for i in range(rng.randint(0, scale + 3)))
        base = 1 if whole == "0" else 2 + int(whole) % size
        assert state_after(rows, whole) == base
        wanted = -1
        if places:
            counted = int(whole + tail[:scale]) % size
            wanted = 2 + size + min(len(tail), places) * size + counted
        assert state_after(rows, f"{whole}.{tail}") == wanted
    assert state_after(rows, "00") == state_after(rows, ".5") == state_after(rows, "1..") == -1
    assert state_after(rows, "1." + "0" * scale + "1") == -1


@pytest.mark.parametrize("moduli", [[7, 7, 7], [12, 6, 3, 3], [1, 1], [385] * 17, [5]])
def test_mantissas(moduli: list[int]) -> None:
    rows = mantissa_block(moduli, frozenset((1,))).rows()
    assert len(rows) == 1 + moduli[0] + sum(moduli)
    rng = random.Random(str(moduli))
    for _ in range(200):
        digits = [rng.randint(1, 9), *[rng.randint(0, 9) for _ in range(rng.randint(0, len(moduli)))]]
        rest = digits[0] % moduli[0]
        text = str(digits[0])
        assert state_after(rows, text) == 1 + rest
        text += "."
        base = 1 + moduli[0]
        assert state_after(rows, text) == base + rest
        for place, digit in enumerate(digits[1:], 1):
            text += str(digit)
            if place == len(moduli):
                assert state_after(rows, text) == -1
                break
            base += moduli[place - 1]
            rest = (10 * rest + digit) % moduli[place]
            assert state_after(rows, text) == base + rest
