from decimal import Decimal

from constrained.frontends.json_schema.numbers import NumberShape
from constrained.regex.syntax import Node

__all__ = ["number_tree", "scientific_numbers", "unbounded_tree"]

def number_tree(shape: NumberShape, cap: int | None, integer_as_float: bool,
                ranges: tuple[tuple[int, int], ...] = ...) -> Node | None: ...
def unbounded_tree(cap: int) -> Node: ...
def scientific_numbers(low: Decimal, low_open: bool, high: Decimal | None, high_open: bool, cap: int | None,
                       ranges: tuple[tuple[int, int], ...]) -> list[Node]: ...
