"""Differential fuzzing of draft 7 with ``hypothesis-jsonschema``: values it draws, random walks, and mutated texts.

A *pair* is a schema and a text. Values drawn for a schema are accepted in canonical spelling; texts by random walks
over the mask validate; a mutated text that is accepted validates, one that validates is accepted once it is spelled
canonically (other spellings are policies, which may withhold it), and one that does not is rejected. The oracle is
``jsonschema`` on exact decimals. Where it departs from the specification the schemas keep away, and ``DEPARTURES``
holds each departure with a test. The nightly profile takes about 100,000 pairs.
"""

from __future__ import annotations

import copy
import decimal
import json
import os
import random
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as fixed_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.internal.conjecture import utils as conjecture

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler, exact_json, walk

hypothesis_jsonschema = pytest.importorskip("hypothesis_jsonschema")


class _Many(conjecture.many):
    """Collections as ``hypothesis-jsonschema`` 0.23 asks for them: newer releases of Hypothesis iterate instead."""

    steps: Iterator[None] | None = None

    def more(self) -> bool:
        if self.steps is None:
            self.__enter__()
            self.steps = iter(self)
        if next(self.steps, self) is not self:
            return True
        self.__exit__(None, None, None)
        return False


if not hasattr(conjecture.many, "more"):
    hypothesis_jsonschema._from_schema.cu = SimpleNamespace(many=_Many)

_canonicalise = hypothesis_jsonschema._canonicalise
_rewritten = _canonicalise.canonicalish


def well_formed(schema: Any) -> Any:
    """What ``hypothesis-jsonschema`` 0.23 rewrites a schema to, without two faults (``REWRITINGS`` has both).

    Some of the schemas that it makes are refused by their metaschema: it checks them while it draws, and would end in
    a ``SchemaError`` that is none of ours. And of some it changes the one value that stands for ``false``: all schemas
    after them would be drawn from as if ``true`` meant ``false``, by nothing.
    """
    found = _rewritten(schema)
    while found.get("items") == []:  # all items are additional ones, which it may rewrite further
        del found["items"]
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
        found = _rewritten(found)
    for name, needed in found.get("dependencies", {}).items():
        if isinstance(needed, list):
            found["dependencies"][name] = sorted(set(needed))
    return copy.deepcopy(found) if found is _canonicalise.FALSEY else found


_canonicalise.canonicalish = hypothesis_jsonschema._from_schema.canonicalish = well_formed

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
DRAFT = "http://json-schema.org/draft-07/schema#"
NAMES = ("a", "b", "ab", "é")
PATTERNS = ("^a", "b+", "^[a-c]{1,3}", "(ab|c)", "^.?a")  # no "$", whose meanings differ
FORMATS = ("ipv4", "unknown")

scalars = st.sampled_from([None, True, False, 0, 1, -3, 2.5, 1e16, "", "a", "b", "abc", "é\n"])
constants = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
    st.sampled_from(NAMES), inner, max_size=2), max_leaves=4)
counts = st.integers(0, 3)


def typed(name: str, **keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of one type with some of its keywords."""
    return st.fixed_dictionaries({"type": st.just(name)}, optional=keywords)


def applicators(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas around others."""
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    listed = st.lists(inner, min_size=1, max_size=2)
    some = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
    return st.one_of(
        typed("object", properties=named, required=some, additionalProperties=inner, minProperties=st.integers(0, 1),
              maxProperties=st.integers(2, 4), propertyNames=st.sampled_from([{"maxLength": 2}, {"pattern": "^a"}]),
              patternProperties=st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
              dependencies=st.dictionaries(st.sampled_from(NAMES), some, max_size=1)),
        typed("array", items=inner, minItems=counts, maxItems=st.integers(2, 4), contains=inner),
        typed("array", items=listed, additionalItems=inner, maxItems=st.integers(1, 4)),
        st.fixed_dictionaries({"anyOf": listed}), st.fixed_dictionaries({"oneOf": listed}),
        st.fixed_dictionaries({"allOf": listed}), st.fixed_dictionaries({"not": inner, "type": st.sampled_from(
            ["integer", "string", "object"])}),
        st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner}),
    )


leaves = st.one_of(
    st.booleans().map(lambda value: value or {}), st.fixed_dictionaries({"const": constants}),
    st.fixed_dictionaries({"enum": st.lists(constants, min_size=1, max_size=3)}),
    typed("null"), typed("boolean"),
    typed("integer", minimum=st.integers(-9, 3), maximum=st.integers(4, 99), multipleOf=st.integers(1, 5)),
    typed("number", minimum=st.integers(-9, 3), exclusiveMaximum=st.sampled_from([4, 7.5, 1e3])),
    typed("number", exclusiveMinimum=st.sampled_from([-1, 0.25]), maximum=st.integers(2, 9)),
    typed("string", minLength=counts, maxLength=st.integers(3, 6)),
    typed("string", pattern=st.sampled_from(PATTERNS)), typed("string", format=st.sampled_from(FORMATS)),
)
schemas = st.recursive(leaves, applicators, max_leaves=5)


def is_valid(validator: Any, text: str) -> bool:
    """What the oracle says of a text of JSON, in exact decimals."""
    with decimal.localcontext(decimal.Context(prec=2000)):
        return bool(validator.is_valid(exact_json(text)))


def is_json(text: str) -> bool:
    """Whether it is JSON, of characters that UTF-8 can write."""
    def no_constant(name: str) -> None:
        raise ValueError(name)

    try:
        value = json.loads(text, parse_constant=no_constant, parse_float=str)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def canonical(text: str) -> str | None:
    """The same value as ``json.dumps`` writes it; None where a double does not hold it."""
    try:
        return json.dumps(json.loads(text), allow_nan=False)
    except ValueError:
        return None


def mutated(text: str, rng: random.Random) -> str:
    """The text with a few characters changed, doubled, left out or moved."""
    chars = list(text)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(chars)) if chars else 0
        how = rng.randrange(4)
        if how == 0 and chars:
            del chars[place]
        elif how == 1:
            chars.insert(place, rng.choice('019-.eE"\\{}[],:abn tfu'))
        elif how == 2 and chars:
            chars[place] = rng.choice('0123456789ab"}],')
        elif chars:
            chars.insert(rng.randrange(len(chars)), chars[place])
    return "".join(chars)


def drawn_values(schema: Any, number: int, most: int = 3) -> list[Any]:
    """Values that ``hypothesis-jsonschema`` draws for a schema.

    In a run of their own: its strategies are not the same each time, which a run that shrinks does not forgive.
    """
    found: list[Any] = []

    def collect(value: Any) -> None:
        found.append(value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = hypothesis_jsonschema.from_schema(json.loads(json.dumps(schema)))  # a copy: it rewrites its schema
        if drawn.is_empty:
            return []
        run = settings(max_examples=most, database=None, deadline=None, phases=[Phase.generate],
                       suppress_health_check=list(HealthCheck))(fixed_seed(number)(given(drawn)(collect)))
        try:
            run()
        except (AssertionError, Flaky, Unsatisfiable):
            pass  # assertions are its own: it fails one for some objects with minProperties, now and then
    return found


@settings(max_examples=11_000 if NIGHTLY else 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=schemas, seed=st.integers(0, 1 << 30))
def test_pairs(schema: Any, seed: int) -> None:
    if isinstance(schema, dict):
        schema = {"$schema": DRAFT, **schema}
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER
    validator = jsonschema.Draft7Validator(schema, format_checker=checker)
    try:
        grammar = byte_compiler().compile_json_schema(schema, draft="draft7", property_order="any", limits=cd.Limits(
            max_schema_alternatives=3_000))
    except (cd.UnsupportedSchemaError, cd.GrammarLimitError):
        return
    except cd.UnsatisfiableSchemaError:
        grammar = None
    texts: list[str] = []
    values = drawn_values(schema, seed)
    for value in values:
        for text in {json.dumps(value), json.dumps(value, ensure_ascii=False)}:
            if is_json(text) and is_valid(validator, text):
                assert grammar is not None and accepts(grammar, text), (schema, text)
                texts.append(text)
    if grammar is None:
        return
    rng = random.Random(seed)
    for _ in range(3):
        text = walk(grammar, rng, 40)
        assert is_json(text) and is_valid(validator, text), (schema, text)
        texts.append(text)
    for text in texts:
        changed = mutated(text, rng)
        if not is_json(changed):
            assert not accepts(grammar, changed), (schema, changed)
            continue
        spelled = canonical(changed)
        if spelled is None:
            continue  # a number past a double, which the oracle would write out
        if not is_valid(validator, changed):
            assert not accepts(grammar, changed), (schema, changed)
        elif is_valid(validator, spelled):
            assert accepts(grammar, spelled), (schema, changed)


#: Where ``jsonschema`` departs from the specification: schema, value, what the specification says, why.
DEPARTURES: dict[str, tuple[dict[str, Any], Any, bool, str]] = {
    "dollar": ({"type": "string", "pattern": "^a$"}, "a\n", False, "Python's $ matches before a newline at the end"),
    "digits": ({"type": "string", "pattern": r"^\d+$"}, "١٢", False, r"Python's \d knows all digits of Unicode"),
    "words": ({"type": "string", "pattern": r"^\w+$"}, "é", False, r"Python's \w knows all letters of Unicode"),
    "spaces": ({"type": "string", "pattern": r"^\s$"}, "\x1c", False, r"Python's \s knows the separators of ASCII"),
    "byte order mark": ({"type": "string", "pattern": r"^\s$"}, "\ufeff", True, r"ECMA-262's \s knows U+FEFF"),
    "year 0": ({"type": "string", "format": "date"}, "0000-01-01", True, "Python's dates begin with year 1"),
    "multiples": ({"type": "number", "multipleOf": 0.01}, 4.35, True, "doubles: 4.35 / 0.01 is 434.99999999999994"),
}


#: Schemas that ``hypothesis-jsonschema`` rewrites to ones that metaschemas refuse, and one that changes ``false``.
REWRITINGS: dict[str, dict[str, Any]] = {
    "no items": {"type": "array", "items": [{}], "maxItems": 0, "additionalItems": False},
    "no items left": {"allOf": [
        {"type": "array", "items": [{"allOf": [{"const": 0}, {"const": 1}]}]},
        {"type": "array", "items": [{}], "additionalItems": {"allOf": [{"const": 0}, {"const": 1}]}}]},
    "names twice": {"allOf": [
        {"type": "object", "dependencies": {"a": ["b"]}, "propertyNames": {"enum": ["a", "b", "c"]}},
        {"type": "object", "dependencies": {"a": ["b", "c"]}, "additionalProperties": {"const": 0}}]},
    "false": {"anyOf": [{"const": 0}, {"type": "object", "if": {"type": "null"}, "then": {"type": "number"},
                                       "else": {"type": "null"}}]},
}


@pytest.mark.parametrize("name", REWRITINGS)
def test_rewritings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Valid values are drawn here; without ``well_formed`` there is the fault that it mends (else it goes)."""
    schema = {"$schema": DRAFT, **REWRITINGS[name]}
    false = {"not": {}}
    validator = jsonschema.Draft7Validator(schema)
    validator.check_schema(schema)
    values = drawn_values(schema, 0, most=20)
    assert values and all(map(validator.is_valid, values)) and false == _canonicalise.FALSEY
    monkeypatch.setattr(_canonicalise, "FALSEY", {"not": {}})
    monkeypatch.setattr(_canonicalise, "canonicalish", _rewritten)
    monkeypatch.setattr(hypothesis_jsonschema._from_schema, "canonicalish", _rewritten)
    try:
        drawn_values(schema, 0)
    except jsonschema.SchemaError:
        return
    assert false != _canonicalise.FALSEY


@pytest.mark.parametrize("name", DEPARTURES)
def test_departures(name: str) -> None:
    """The specification holds here, and the oracle still departs from it (else the entry goes)."""
    schema, value, valid, _ = DEPARTURES[name]
    assert accepts(byte_compiler().compile_json_schema(schema), json.dumps(value)) == valid
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER
    assert jsonschema.Draft7Validator(schema, format_checker=checker).is_valid(value) != valid
