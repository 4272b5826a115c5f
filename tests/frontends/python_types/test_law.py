"""The law of types without validators of their own: accepted texts are read, and what is read is written alike."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import constrained as cd
from tests.frontends.python_types.annotations import annotations
from tests.frontends.python_types.judging import check_law

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")


@settings(max_examples=5_000 if NIGHTLY else 150, deadline=None,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(annotation=annotations, seed=st.integers(0, 1 << 30))
def test_random_annotations(annotation: Any, seed: int) -> None:
    try:
        check_law(annotation, seed, walks=8)
    except (cd.UnsupportedSchemaError, cd.UnsatisfiableSchemaError, cd.GrammarLimitError):
        return
