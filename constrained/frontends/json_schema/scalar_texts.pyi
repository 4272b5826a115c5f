from collections.abc import Callable
from typing import Any

from constrained.grammar.ir import Expr

class Texts:
    def __init__(self, scalars: tuple[tuple[str, Expr | None, Any], ...], words: tuple[Expr, ...], objects: bool,
                 arrays: bool) -> None: ...

class Tables:
    brackets: tuple[Expr, Expr, Expr]
    square: tuple[Expr, Expr, Expr]
    def __init__(self, space: Expr, comma: Expr, colon: Expr, spaces: tuple[str, Expr] | None,
                 read: Callable[[dict[str, Any]], Texts | None], any_key: Expr, knows_const: bool, any_order: bool,
                 ref_alone: bool, max_repeat: int, most_alternatives: int) -> None: ...
    def forget(self) -> None: ...
