"""The case log and the hostile inputs of kind ``json_schema``: verdicts, typed refusals, nothing that hangs."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler
from constrained.errors import MAX_MESSAGE
from constrained.kernel import is_compiled
from tests.shared_data import shared_dir

#: Right, but slow on the engine of today: the reason.
SLOW = {
    "js-anyof-2000-same-prefix": "2,000 branches stay alive together",
    "js-prefixitems-10k": "lowering of 10,000 nested options",
    "js-enum-2k-long": "ten million bytes of literals before the limit is met",
}
#: Seconds each; nightly only.
LONG = {"js-addprops-exclude-1000", "js-required-10k-undeclared", "js-anyof-2000-objects"}
#: Minutes where kernels are not compiled.
LONG_UNCOMPILED = {"js-patternprops-overlap-12"}
NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")


def read(file: str) -> list[dict[str, Any]]:
    directory = shared_dir()
    if directory is None:
        return []
    lines = (directory / "data" / file).read_text("utf-8").strip().split("\n")
    return [case for case in map(json.loads, lines) if case["kind"] == "json_schema"]


def expand(case: dict[str, Any], name: str) -> Any:
    """The field ``name``, or what the Python expression in ``name_gen`` (or ``generator``) makes."""
    source = case.get("generator" if name == "input" else f"{name}_gen")
    value = case.get(name)
    if source is None:
        return value
    made = eval(source, {"json": json})
    return [*(value or []), *made] if isinstance(made, list) else made


def text_of(schema: Any) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("case", read("cases/cases.jsonl"), ids=lambda case: case["id"])
def test_case(case: dict[str, Any], order: str) -> None:
    if (case.get("limit") or "").startswith("clear compile error"):
        with pytest.raises(cd.UnsatisfiableSchemaError):
            byte_compiler().compile_json_schema(text_of(case["input"]), property_order=order)
        return
    grammar = byte_compiler().compile_json_schema(text_of(case["input"]), property_order=order)
    for text in case.get("accept", []):
        assert accepts(grammar, text), text
    for text in case.get("reject", []):
        assert not accepts(grammar, text), text


@pytest.mark.parametrize("case", [c for c in read("adversarial/adversarial.jsonl") if c["id"] not in SLOW
                                  and (NIGHTLY or c["id"] not in LONG)
                                  and (is_compiled() or c["id"] not in LONG_UNCOMPILED)],
                         ids=lambda case: case["id"])
def test_hostile_input(case: dict[str, Any]) -> None:
    schema = text_of(expand(case, "input"))
    try:
        grammar = byte_compiler().compile_json_schema(schema)
    except cd.ConstrainedError as error:
        assert case["expect"] != "ok", error
        assert len(str(error)) <= MAX_MESSAGE
        return
    assert case["expect"] != "error"
    for name, expected in (("accept", True), ("reject", False)):
        texts = expand(case, name) or []
        for text in [texts] if isinstance(texts, str) else texts:
            assert accepts(grammar, text) == expected, text[:100]
