from array import array
from typing import Any

from constrained.kernel.network import Network

BUDGET: int
GUARD: int

class Program:
    start: int
    n_classes: int
    n_positions: int
    rule_names: list[str]
    token_sets: list[frozenset[int]]
    regions: list[bytes]
    guards: Any
    lazy: list[tuple[int, Any, int]]
    waits: bool
    counted: list[tuple[int, Any, int]]
    @property
    def position_rule(self) -> array[int]: ...
    @property
    def loop_positions(self) -> array[int]: ...
    @property
    def loop_minimum(self) -> array[int]: ...
    @property
    def loop_maximum(self) -> array[int]: ...
    @property
    def byte_class(self) -> array[int]: ...
    def __init__(self, net: Network) -> None: ...
    def begin_guards(self, guards: Any) -> None: ...
