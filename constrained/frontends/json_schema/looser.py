"""What is written instead of a shape that cannot be enforced, where that is asked for: shapes that hold it and more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.numbers import ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

__all__ = ["looser"]

Shape = ObjectShape | ArrayShape | StringShape | NumberShape


def looser(shape: Shape) -> Iterator[Shape]:
    """The closest first."""
    if isinstance(shape, ObjectShape):
        if shape.exists:
            yield shape.changed(exists=())
        yield shape.changed(exists=(), minimum=0)
        yield shape.changed(exists=(), minimum=0, maximum=None)
    elif isinstance(shape, ArrayShape):
        yield shape.changed(unique=False)
        yield shape.changed(unique=False, contains=())
    elif isinstance(shape, StringShape):
        if shape.languages:
            yield replace(shape, minimum=0, maximum=None, excluded=frozenset())
            for language in shape.languages:
                yield StringShape(languages=(language,))
            yield replace(shape, languages=())
        yield ANY_STRING
    else:
        yield replace(shape, multiple_of=None, not_multiple_of=frozenset())
        yield ANY_NUMBER
