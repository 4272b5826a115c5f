"""Multiples of numbers with too many remainders for an automaton: judged by decimals, and never a dead end."""

from __future__ import annotations

import json
import random
from decimal import Context, Decimal, localcontext
from typing import Any

import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler
from tests.engine.worlds import sized

SCHEMAS: list[dict[str, Any]] = [
    {"type": "number", "multipleOf": Decimal("0.123456789")},
    {"type": "integer", "multipleOf": 86_400_000},
    {"type": "number", "multipleOf": 86_400_000, "minimum": -1_000_000_000},
    {"type": "number", "multipleOf": Decimal("0.0000123457"), "minimum": 0, "maximum": 5},
    {"type": "number", "multipleOf": Decimal("12345.678"), "exclusiveMinimum": 3, "maximum": 10**9},
    {"type": "integer", "multipleOf": 1_000_000, "minimum": 5, "maximum": 12_345_678},
    {"type": "number", "multipleOf": Decimal("98765.4321"), "exclusiveMaximum": Decimal("-98765.4321")},
    {"type": "integer", "multipleOf": 1 << 40, "minimum": 10**14},
]


def text(schema: dict[str, Any]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' if key == "type" else f'"{key}": {value}'
                           for key, value in schema.items()) + "}"


def valid(schema: dict[str, Any], value: Decimal) -> bool:
    with localcontext(Context(prec=700)):
        quotient = value / schema["multipleOf"]
        return (quotient == quotient.to_integral_value() and quotient * schema["multipleOf"] == value
                and (schema["type"] == "number" or value == value.to_integral_value())
                and value >= schema.get("minimum", value) and value <= schema.get("maximum", value)
                and value > schema.get("exclusiveMinimum", value - 1)
                and value < schema.get("exclusiveMaximum", value + 1))


@pytest.mark.parametrize("schema", SCHEMAS, ids=text)
def test_numbers_are_judged_by_their_value(schema: dict[str, Any]) -> None:
    compiled = byte_compiler().compile_json_schema(text(schema))
    rng, step, judged = random.Random(str(schema)), Decimal(schema["multipleOf"]), [0, 0]
    for _ in range(sized(400, 40)):
        count = rng.choice([rng.randrange(-10, 11), rng.choice([-1, 1]) * rng.randrange(10 ** rng.randint(1, 25))])
        with localcontext(Context(prec=100)):
            value = step * count + rng.choice([0, 0, 1, Decimal("0.1"), step / 2 if step % 2 == 0 else step * 10])
        written = [format(value, "f")]
        if schema["type"] == "number":
            written.append(repr(float(value)))  # with an exponent where it is large, or small
        for one in written:
            if schema["type"] == "integer" and "." in one:
                continue
            right = valid(schema, Decimal(one))
            judged[right] += 1
            assert accepts(compiled, one) is right, one
    assert min(judged) > 0


@pytest.mark.parametrize("schema", SCHEMAS, ids=text)
def test_what_is_begun_can_be_ended(schema: dict[str, Any]) -> None:
    compiled = byte_compiler().compile_json_schema(text(schema))
    rng = random.Random(str(schema))
    for _ in range(sized(60, 3)):
        state, written = compiled.start_state, b""
        for _ in range(rng.randint(1, 30)):
            allowed = [byte for byte in compiled.allowed_ids(state) if byte < 256]
            if not allowed:
                assert compiled.is_complete(state)
                break
            byte = bytes([rng.choice(allowed)])
            written, state = written + byte, compiled.advance(state, byte)
            assert state, written
        written += compiled.shortest_completion(state)
        assert valid(schema, Decimal(written.decode())), written


def test_in_objects_and_sets() -> None:
    compiled = byte_compiler().compile_json_schema(json.dumps(
        {"properties": {"t": {"type": "array", "uniqueItems": True,
                              "items": {"type": "integer", "multipleOf": 86_400}}},
         "required": ["t"], "additionalProperties": False, "type": "object"}))
    assert accepts(compiled, '{"t": [86400, 172800, 0]}')
    assert not accepts(compiled, '{"t": [86400, 86400]}') and not accepts(compiled, '{"t": [86401]}')


def test_what_is_still_refused() -> None:
    for schema in ({"type": "number", "multipleOf": 0.123456789, "maximum": 1e17},
                   {"type": "number", "multipleOf": 123456, "not": {"const": 0}}):
        with pytest.raises((cd.UnsupportedSchemaError, cd.GrammarLimitError), match="multiple"):
            byte_compiler().compile_json_schema(json.dumps(schema))
