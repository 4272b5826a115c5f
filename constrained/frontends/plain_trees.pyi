from collections.abc import Callable
from typing import Any

from constrained.grammar.ir import Expr
from constrained.regex.syntax import Node

__all__ = ["json_leaf", "plain_expression", "utf8_leaf"]

def utf8_leaf(node: Node) -> Expr: ...
def json_leaf(others: Callable[[Any], Expr]) -> Callable[[Any], Expr]: ...
def plain_expression(root: Node, leaf: Callable[[Any], Expr] | None = None) -> Expr: ...
