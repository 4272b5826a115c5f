"""Grammars of types against Pydantic: random walks, and what a value's dumps look like."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler

__all__ = ["accepts", "check_law", "compiled", "dumps", "walk"]

_SPACES = frozenset(b"\t\n\r ")


def compiled(annotation: Any, **options: Any) -> cd.CompiledGrammar:
    """The grammar of a type over single bytes."""
    return byte_compiler().compile_json_schema(annotation, **options)


def walk(grammar: cd.CompiledGrammar, rng: random.Random, most: int = 80) -> str:
    """A text by a random walk over the mask, seldom with white space or escapes; ended after ``most`` bytes."""
    state = grammar.start_state
    text = bytearray()
    while len(text) < most:
        allowed = [byte for byte in grammar.allowed_ids(state) if byte < 256]
        if grammar.is_complete(state) and (not allowed or rng.random() < 0.3):
            return text.decode()
        assert allowed, f"an empty mask after {bytes(text)!r}"
        dense = [byte for byte in allowed if byte not in _SPACES or not rng.randrange(20)] or allowed
        plain = [byte for byte in dense if 32 < byte < 127 and byte != 92]
        byte = rng.choice(plain if plain and rng.random() < 0.8 else dense)
        state = grammar.advance(state, bytes([byte]))
        text.append(byte)
    if not grammar.is_complete(state):
        text += grammar.shortest_completion(state)
    return text.decode()


def dumps(adapter: Any, value: Any) -> Iterator[str]:
    """The canonical spellings of a value, by alias and by name, that are read back."""
    seen: set[str] = set()
    for by_alias in (True, False):
        plain = adapter.dump_python(value, mode="json", by_alias=by_alias)
        try:
            seen.update((json.dumps(plain, allow_nan=False), json.dumps(plain, ensure_ascii=False, allow_nan=False)))
        except ValueError:
            continue  # an infinity, which is dumped as null: another value, that a union may happen to read
        seen.add(adapter.dump_json(value, by_alias=by_alias).decode())
    for text in sorted(seen):
        try:
            adapter.validate_json(text)
        except ValueError:
            continue  # what a serialiser writes need not be what the type reads: computed fields
        yield text


def check_law(annotation: Any, seed: int = 0, walks: int = 20, *, strict: bool = True, **options: Any) -> None:
    """Every accepted text is read, in strict mode too, and what it is written as is accepted.

    A dump under a name that is not read (a serialisation alias) may pass as an undeclared member; those stand last in
    the order of the schema. So what that order refuses is asked of a grammar without order.
    """
    import pydantic

    grammar = compiled(annotation, **options)
    adapter = annotation if isinstance(annotation, pydantic.TypeAdapter) else pydantic.TypeAdapter(annotation)
    rng = random.Random(seed)
    for _ in range(walks):
        text = walk(grammar, rng)
        value = adapter.validate_json(text)
        if strict:
            adapter.validate_json(text, strict=True)
        for dumped in dumps(adapter, value):
            if not accepts(grammar, dumped):
                free = compiled(annotation, **{**options, "property_order": "any"})
                assert accepts(free, dumped), (text, dumped)
