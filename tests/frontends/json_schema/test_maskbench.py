"""MaskBench's sample: schemas from the wild with their instances, through the engine."""

from __future__ import annotations

import json
import os
import random

import jsonschema
import pytest

import constrained as cd
from benchmarks.conformance import (
    accepts,
    byte_compiler,
    exact_json,
    judge_maskbench,
    maskbench_schemas,
    walk,
)
from tests.shared_data import require_shared

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
STEP = 1 if NIGHTLY else 30


@pytest.mark.parametrize("order", ["any", "schema"])
def test_instances_are_judged_right_or_the_schema_is_refused(order: str) -> None:
    schemas = [one for n, one in enumerate(maskbench_schemas(require_shared())) if n % STEP == 0]
    verdicts = [judge_maskbench(*one, order) for one in schemas]
    wrong = [verdict for verdict in verdicts if verdict.outcome == "wrong"]
    assert not wrong
    assert sum(verdict.outcome == "right" for verdict in verdicts) >= 0.95 * len(verdicts)


def test_walks_over_the_mask_validate() -> None:
    """Schemas without instances: what random walks write is valid."""
    rng = random.Random(5)
    schemas = [(name, schema) for name, schema, instances in maskbench_schemas(require_shared()) if not instances]
    for name, schema in schemas if NIGHTLY else schemas[::10]:
        try:
            grammar = byte_compiler().compile_json_schema(json.dumps(schema))
        except cd.ConstrainedError:
            continue
        kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        validator = kind(schema)
        for _ in range(20 if NIGHTLY else 3):
            text = walk(grammar, rng)
            assert validator.is_valid(exact_json(text)), (name, text)
            assert accepts(grammar, text), name
