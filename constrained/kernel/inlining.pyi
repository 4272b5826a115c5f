from collections.abc import Callable
from typing import Any

class Rule: ...

class RuleTable:
    def __init__(self, rules: dict[str, Any], kinds: dict[type, int],
                 parts_of: Callable[[Any], tuple[int, tuple[Any, ...]]], images: bool, largest: int) -> None: ...

def have_texts(rules: dict[str, Any], root: str, kinds: dict[type, int], largest: int) -> bool: ...
