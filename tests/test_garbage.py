"""The collector is off while a grammar is made, and as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from constrained import Grammar, SchemaError
from constrained.frontends.json_schema.strings import StringShape
from constrained.garbage import postponed, settle
from constrained.grammar.ir import Capture, Choice, Literal, Reference, Repeat, Sequence, Unordered
from constrained.kernel import uncompiled_modules


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
    seen: list[bool] = []
    complement = StringShape.complement

    def noted(shape: StringShape) -> list[StringShape]:
        seen.append(gc.isenabled())
        return complement(shape)

    monkeypatch.setattr(StringShape, "complement", noted)
    schema = '{"type": "object", "properties": {"a": {"not": {"type": "string"}}}}'
    for option in ("error", "ignore"):  # two ways to read it
        seen.clear()
        Grammar.from_json_schema(schema, unsupported=option)
        assert seen
        assert not any(seen)
        assert gc.isenabled()


def test_a_wrong_schema_leaves_the_collector_on() -> None:
    with pytest.raises(SchemaError):
        Grammar.from_json_schema('{"type": "object", "properties": {"a": {"type": "strin"}}}')
    assert gc.isenabled()


@pytest.mark.skipif("constrained.garbage" in uncompiled_modules(), reason="uncompiled, nodes are objects as others")
def test_tuples_of_settled_nodes_are_no_longer_tracked() -> None:
    word = Literal(b"a")
    shared = Sequence((word, Reference("b")))
    inner = Choice((shared, Repeat(shared, 1, None)))
    seen = Sequence((word, Capture("name", word)))  # a node that the collector knows
    many = Unordered((inner, word), frozenset(), seen, None)
    settle([Sequence((inner, many)), seen, object()])
    assert not gc.is_tracked(shared.items)
    assert not gc.is_tracked(inner.options)
    assert not gc.is_tracked(many.items)
    assert gc.is_tracked(seen.items)
    assert inner.options[1].body is shared
