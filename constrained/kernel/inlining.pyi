from collections.abc import Callable
from typing import Any

class Rule: ...

class RuleTable:
    def __init__(self, rules: dict[str, Any], kinds: dict[type, int],
                 parts_of: Callable[[Any], tuple[int, tuple[Any, ...]]], images: bool, largest: int) -> None: ...
