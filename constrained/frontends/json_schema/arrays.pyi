from typing import Any

from constrained.frontends.json_schema.expressions import Algebra

class ArrayShape:
    prefix: tuple[int, ...]
    rest: int
    minimum: int
    maximum: int | None
    contains: tuple[tuple[int, int, int | None, int], ...]
    unique: bool
    evaluated: int | None
    also: tuple[int, ...]
    def __init__(self, prefix: tuple[int, ...] = (), rest: int = 1, minimum: int = 0, maximum: int | None = None,
                 contains: tuple[tuple[int, int, int | None, int], ...] = (), unique: bool = False,
                 evaluated: int | None = None, also: tuple[int, ...] = ()) -> None: ...
    def changed(self, **changes: Any) -> ArrayShape: ...
    def at(self, index: int) -> int: ...
    def intersect(self, other: ArrayShape, algebra: Algebra) -> ArrayShape | None: ...
    def tidy(self) -> ArrayShape | None: ...
    def complement(self, algebra: Algebra) -> list[ArrayShape]: ...

ANY_ARRAY: ArrayShape
