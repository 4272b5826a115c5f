from array import array
from typing import Any

from constrained.kernel.network import Network

BUDGET: int
FAR: int
GUARD: int

class Program:
    start: int
    n_classes: int
    n_positions: int
    rule_names: list[str]
    token_sets: list[frozenset[int]]
    regions: list[bytes]
    guards: Any
    position_offsets: array[int]
    edge_a: array[int]
    edge_b: array[int]
    edge_to: array[int]
    position_accept: array[int]
    position_loop: array[int]
    position_region: array[int]
    position_rule: array[int]
    position_min: array[int]
    rule_starts: array[int]
    rule_order: array[int]
    rule_min: array[int]
    loop_positions: array[int]
    loop_rules: array[int]
    loop_minimum: array[int]
    loop_maximum: array[int]
    loop_next: array[int]
    loop_region: array[int]
    loop_items: array[int]
    loop_separator: array[int]
    loop_bare: array[int]
    loop_required: array[int]
    item_rule: array[int]
    item_required: array[int]
    item_cheap: array[int]
    byte_class: array[int]
    class_byte: array[int]
    def __init__(self, net: Network) -> None: ...
    def begin_guards(self, guards: Any) -> None: ...
    def drop_regions(self) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
