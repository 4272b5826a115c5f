"""The demo's judges."""

from __future__ import annotations

import math

import pytest

from constrained.cli.judges import arithmetic_value, json_value
from constrained.grammars import builtin_examples


@pytest.mark.parametrize(("text", "value"), [
    ("12 * 7 + 5", 89), ("-2 ** 2", -4), ("2 ** 3 ** 2", 512), ("(1 - 4) / 2", -1.5), ("7 % 4", 3), ("- - 1.5e1", 15),
])
def test_values(text: str, value: float) -> None:
    assert math.isclose(arithmetic_value(text), value)


@pytest.mark.parametrize("text", ["", "1 +", "a", "True", "f(1)", "1 / 0", "9 ** 9 ** 9", "1 if 1 else 2", "'a'", "1j",
                                  "(-8) ** 0.5", "~1", "1 // 2", "1, 2", "+" * 5000 + "1", "Twelve times seven"])
def test_no_values(text: str) -> None:
    with pytest.raises(ValueError):
        arithmetic_value(text)


def test_the_grammars_own_examples() -> None:
    for text in builtin_examples("json")[0]:
        json_value(text)
    for text in builtin_examples("arithmetic")[0]:
        try:
            arithmetic_value(text)
        except ValueError as error:
            assert "no value" in str(error), text  # division by zero, an overflow
    with pytest.raises(ValueError):
        json_value("[" * 100_000)
