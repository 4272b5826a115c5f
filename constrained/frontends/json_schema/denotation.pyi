from typing import Any

from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.expressions import Algebra as Algebra
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.objects import ObjectShape
from constrained.frontends.json_schema.strings import StringShape

class Denotation:
    null: bool
    booleans: int
    numbers: tuple[NumberShape, ...]
    strings: tuple[StringShape, ...]
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]
    def __init__(self, null: bool, booleans: int, numbers: tuple[NumberShape, ...], strings: tuple[StringShape, ...],
                 arrays: tuple[ArrayShape, ...], objects: tuple[ObjectShape, ...]) -> None: ...
    def is_nothing(self) -> bool: ...
    def changed(self, **changes: Any) -> Denotation: ...

ANYTHING: Denotation
NOTHING: Denotation

def conjunction(a: Denotation, b: Denotation, algebra: Algebra) -> Denotation: ...
def no_array(shape: ArrayShape, algebra: Algebra, depth: int = 3) -> bool: ...
def disjunction(parts: list[Denotation], algebra: Algebra) -> Denotation: ...
def difference(a: Denotation, b: Denotation, algebra: Algebra, apart: bool = True) -> Denotation: ...
def negation(a: Denotation, algebra: Algebra) -> Denotation: ...
