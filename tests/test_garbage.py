"""The collector is off while a grammar is made, and as it was afterwards."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from constrained import Grammar, SchemaError
from constrained.frontends.json_schema import emit, mixed
from constrained.garbage import postponed


def test_nothing_is_collected_within() -> None:
    assert gc.isenabled()
    with postponed():
        assert not gc.isenabled()
        with postponed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_a_program_switched_off_stays_off() -> None:
    gc.disable()
    try:
        with postponed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_schema_is_read_without_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []
    run, slow = emit.Emitter.run, mixed.Host.slow

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            seen.append((name, gc.isenabled()))
            return function(*given)
        return call

    monkeypatch.setattr(emit.Emitter, "run", noted("run", run))
    monkeypatch.setattr(mixed.Host, "slow", noted("slow", slow))
    schema = '{"type": "object", "properties": {"a": {"not": {"type": "string"}}}}'
    Grammar.from_json_schema(schema)
    Grammar.from_json_schema(schema, unsupported="ignore")
    assert seen == [("slow", False), ("run", False)]
    assert gc.isenabled()


def test_a_wrong_schema_leaves_the_collector_on() -> None:
    with pytest.raises(SchemaError):
        Grammar.from_json_schema('{"type": "object", "properties": {"a": {"type": "strin"}}}')
    assert gc.isenabled()
