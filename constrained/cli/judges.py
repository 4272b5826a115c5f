"""Independent judges of what the demo wrote: the standard library's JSON reader, and Python's own reading of numbers.

Neither knows the grammar. A judge returns the value, or raises ``ValueError`` that says why there is none.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["arithmetic_value", "json_value"]

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
MAX_NODES = 1000


def json_value(text: str) -> Any:
    """What ``json.loads`` reads."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply for json.loads") from None


def arithmetic_value(text: str) -> float:
    """The value of an expression over ``+ - * / % **``, read by Python's parser and worked out in postfix order."""
    try:
        nodes = _postfix(ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"no arithmetic expression ({type(error).__name__})") from None
    stack: list[float] = []
    try:
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) \
                    and not isinstance(node.value, bool):
                stack.append(float(node.value))
            elif isinstance(node, ast.BinOp):
                right, left = stack.pop(), stack.pop()
                stack.append(OPERATORS[type(node.op)](left, right))
            elif isinstance(node, ast.UnaryOp):
                stack.append(OPERATORS[type(node.op)](stack.pop()))
            else:
                raise ValueError(f"no arithmetic expression: it holds {type(node).__name__}")
    except (ArithmeticError, KeyError) as error:
        raise ValueError(f"it has no value ({type(error).__name__})") from None
    value = stack.pop()
    if isinstance(value, complex):
        raise ValueError("its value is no real number")
    return value


def _postfix(root: ast.AST) -> list[ast.AST]:
    """The operands before their operators."""
    found: list[ast.AST] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        if len(found) > MAX_NODES:
            raise ValueError("too long an expression")
        if isinstance(node, ast.BinOp):
            stack += (node.left, node.right)
        elif isinstance(node, ast.UnaryOp):
            stack.append(node.operand)
    found.reverse()
    return found
