"""The case log, kind ``pydantic``: models from public bug reports, judged as text and against the model itself."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest

from benchmarks.conformance import accepts, byte_compiler
from tests.shared_data import shared_dir


def read() -> list[dict[str, Any]]:
    directory = shared_dir()
    if directory is None:
        return []
    with open(directory / "data" / "cases" / "cases.jsonl", encoding="utf-8") as file:
        return [case for case in map(json.loads, file) if case["kind"] == "pydantic"]


@pytest.mark.parametrize("case", read(), ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    names: dict[str, Any] = {"__name__": "case"}
    exec(compile(case["input"], case["id"], "exec", dont_inherit=True), names)
    adapter = pydantic.TypeAdapter(names["M"])
    for order in ("schema", "any"):
        grammar = byte_compiler().compile_json_schema(names["M"], property_order=order)
        for text in case["accept"]:
            assert accepts(grammar, text), text
            adapter.validate_json(text)
        for text in case["reject"]:
            assert not accepts(grammar, text), text
