"""Numbers between bounds, counted by remainder: each text is a number that is in the set, or is not accepted."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

from constrained.kernel.bounded_digits import BoundedDigits
from constrained.kernel.dfa_tables import TooManyStates

Rows = tuple[tuple[tuple[int, int, int], ...], ...]
Bound = tuple[bytes, bytes] | tuple[()]


def accepts(rows: Rows, ends: frozenset[int], text: str) -> bool:
    state = 0
    for byte in text.encode():
        state = next((to for low, high, to in rows[state] if low <= byte <= high), -1)
        if state < 0:
            return False
    return state in ends


def split(number: Decimal | None) -> Bound:
    if number is None:
        return ()
    whole, _, tail = f"{number:f}".partition(".")
    return (whole.lstrip("0") or "0").encode(), tail.rstrip("0").encode()


def some_bound(rng: random.Random) -> Decimal | None:
    digits = rng.choice([0, 0, 1, 2, 3])
    return rng.choice([None, Decimal(rng.randrange(10 ** rng.randint(1, 5))).scaleb(-digits)])


@pytest.mark.parametrize("seed", range(150))
def test_the_texts(seed: int) -> None:
    rng = random.Random(seed)
    size, scale, fractions = rng.choice([1, 2, 3, 7, 10, 25, 120]), rng.choice([0, 0, 1, 2, 3]), rng.random() < 0.5
    low, high = some_bound(rng), some_bound(rng)
    low_open, high_open = rng.random() < 0.5, rng.random() < 0.5
    block, ends = BoundedDigits(size, scale, fractions, split(low), low_open, split(high), high_open, 1 << 20).run()
    rows = block.rows()
    assert block.states() == len(rows)
    assert all(a[1] < b[0] and (a[1] + 1 < b[0] or a[2] != b[2]) for row in rows for a, b in itertools.pairwise(row))
    step = Decimal(size).scaleb(-scale)
    near = [bound + step * i / 2 for bound in (low, high) if bound is not None for i in range(-3, 4)]
    numbers = [*near, *[step * rng.randrange(10 ** rng.randint(1, 7)) for _ in range(60)],
               *[Decimal(rng.randrange(10 ** rng.randint(1, 7))).scaleb(-rng.randint(0, 4)) for _ in range(60)]]
    seen = set()
    for number in numbers:
        if number < 0:
            continue
        text = f"{number:f}"
        for written in (text, text + "." if "." not in text else text + "0", text + ".0" if "." not in text else text,
                        "0" + text):
            _, point, tail = written.partition(".")
            wanted = number % step == 0 and not (written[0] == "0" and written[1:2].isdigit())
            wanted = wanted and (low is None or number > low or (number == low and not low_open))
            wanted = wanted and (high is None or number < high or (number == high and not high_open))
            wanted = wanted and (not point or (bool(tail) and (scale > 0 or fractions)))
            assert accepts(rows, ends, written) == wanted, written
            seen.add(wanted)
    assert False in seen


def test_more_states_than_allowed() -> None:
    arguments = (7, 1, True, (b"12", b"5"), False, (b"3456", b""), True)
    block, ends = BoundedDigits(*arguments, 1 << 20).run()
    again, same = BoundedDigits(*arguments, block.states()).run()
    assert (again.rows(), same) == (block.rows(), ends)
    with pytest.raises(TooManyStates):
        BoundedDigits(*arguments, block.states() - 1).run()
