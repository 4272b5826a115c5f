"""``docs/limits.md`` tells every field of ``Limits`` with its default; each field refuses what is no budget."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from constrained import Limits

PAGE = Path(__file__).resolve().parent.parent / "docs" / "limits.md"
NAMES = [field.name for field in fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_the_field_and_its_default(name: str) -> None:
    if not PAGE.exists():
        pytest.skip("not a checkout")
    assert f"| `{name}` | {getattr(Limits(), name):,} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None])
def test_what_is_no_budget_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]
