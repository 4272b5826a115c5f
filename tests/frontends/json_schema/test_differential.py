"""Random schemas over all keywords against ``jsonschema``: values are judged alike, walks over the mask validate.

A small world (three names, few values) so that constraints meet. Where the oracle departs from the specification the
world keeps away: patterns are plain ASCII, multiples are small integers.
"""

from __future__ import annotations

import decimal
import json
import os
import random
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler, exact_json, walk

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
NAMES = ("a", "b", "ab")

scalars = st.sampled_from([None, True, False, 0, 1, 2, 3, -1, 1.5, "", "a", "b", "ab", "aab"])
values = st.recursive(scalars, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(st.sampled_from((*NAMES, "c")), inner, max_size=3)), max_leaves=6)
counts = st.integers(0, 3)
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of a few keywords."""
    listed = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    some_names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
    options: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, min_size=1, max_size=3), "const": values,
        "minimum": st.integers(-1, 2), "maximum": st.integers(0, 3), "exclusiveMinimum": st.integers(-1, 2),
        "exclusiveMaximum": st.integers(0, 3), "multipleOf": st.integers(1, 3),
        "minLength": counts, "maxLength": counts, "pattern": st.sampled_from(["^a", "b$", "^a*$", "ab", "^(a|b)+$"]),
        "properties": named, "required": some_names, "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "^[^c]$"]), inner, max_size=2),
        "propertyNames": st.sampled_from([{"maxLength": 1}, {"pattern": "^a"}, {"enum": ["a", "c"]}]),
        "minProperties": counts, "maxProperties": counts,
        "dependentRequired": st.dictionaries(st.sampled_from(NAMES), some_names, max_size=2), "dependentSchemas": named,
        "items": inner, "prefixItems": listed, "minItems": counts, "maxItems": counts, "contains": inner,
        "minContains": counts, "maxContains": counts, "uniqueItems": st.booleans(),
        "allOf": listed, "anyOf": listed, "oneOf": listed, "not": inner, "if": inner, "then": inner, "else": inner,
        "unevaluatedProperties": st.one_of(st.booleans(), inner), "unevaluatedItems": st.one_of(st.booleans(), inner),
    }

    @st.composite
    def draw_some(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(sorted(options)), max_size=4, unique=True))
        return {keyword: draw(options[keyword]) for keyword in chosen}

    return draw_some()


schemas = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=5)


@settings(max_examples=20_000 if NIGHTLY else 250, deadline=None,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(schema=schemas, judged=st.lists(values, min_size=5, max_size=5), seed=st.integers(0, 1 << 30))
def test_values_are_judged_as_by_the_oracle(schema: Any, judged: list[Any], seed: int) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    try:
        grammar = byte_compiler().compile_json_schema(schema, property_order="any", limits=cd.Limits(
            max_schema_alternatives=3_000))
    except cd.UnsatisfiableSchemaError:
        assert not any(validator.is_valid(value) for value in judged)
        return
    except (cd.UnsupportedSchemaError, cd.GrammarLimitError):
        return
    for value in judged:
        assert accepts(grammar, json.dumps(value)) == validator.is_valid(value), (schema, value)
    rng = random.Random(seed)
    with decimal.localcontext(decimal.Context(prec=2000)):  # the oracle divides decimals
        for _ in range(3):
            text = walk(grammar, rng, 40)
            assert validator.is_valid(exact_json(text)), (schema, text)
