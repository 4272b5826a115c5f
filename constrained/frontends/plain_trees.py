# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Trees of patterns without assertions as expressions of a grammar.

Characters, order, choice and repetition are the same in both. Cost: 0.1 us a node, and what spelling the characters
takes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.nodes import CharClass, Choice, Literal, Sequence
    from cython.cimports.constrained.kernel.nodes import Repeat as IrRepeat
    from cython.cimports.constrained.regex.syntax import CharSet, Node, Repeat, Text
else:
    from constrained.kernel.nodes import CharClass, Choice, Literal, Sequence
    from constrained.kernel.nodes import Repeat as IrRepeat
    from constrained.regex.syntax import CharSet, Node, Repeat, Text

__all__ = ["plain_expression", "utf8_leaf"]

TEXT = cython.declare(cython.int, 0)
CHARS = cython.declare(cython.int, 1)
CONCAT = cython.declare(cython.int, 2)
ALTERNATION = cython.declare(cython.int, 3)
REPEAT = cython.declare(cython.int, 4)


MOST_CLASSES = cython.declare(cython.int, 1024)
_classes: dict = {}
"""Ranges -> their class: what the kernel makes of it stays with it. Emptied when it is full."""


@cython.ccall
def utf8_leaf(node: Node):
    """The expression of characters, in UTF-8."""
    if node.tag == TEXT:
        return Literal(cython.cast(Text, node).chars.encode())
    ranges: tuple = cython.cast(CharSet, node).ranges
    found = _classes.get(ranges)
    if found is None:
        if len(_classes) >= MOST_CLASSES:
            _classes.clear()
        found = _classes[ranges] = CharClass(ranges)
    return found


def plain_expression(root: Node, leaf=None):
    """The expression of a tree without assertions, its characters spelled by ``leaf`` (None: ``utf8_leaf``).

    Linear, with an explicit stack.
    """
    order: list = []
    stack: list = [root]
    node: Node
    loop: Repeat
    size: cython.Py_ssize_t
    parts: tuple
    while stack:
        node = stack.pop()
        order.append(node)
        if node.tag > CHARS:
            stack.extend(node.parts)
    # Read backwards, parts come before what they are parts of, the first one first.
    done: list = []
    leaves: dict = {}
    while order:
        node = order.pop()
        if node.tag <= CHARS:
            found = leaves.get(node)
            if found is None:
                found = leaves[node] = utf8_leaf(node) if leaf is None else leaf(node)
            done.append(found)
        elif node.tag == REPEAT:
            loop = cython.cast(Repeat, node)
            done.append(IrRepeat(done.pop(), loop.minimum, loop.maximum))
        elif node.tag == CONCAT and len(node.parts) == 0:
            done.append(Literal(b""))
        else:
            assert node.tag == CONCAT or node.tag == ALTERNATION, "a tree without assertions"
            size = len(done) - len(node.parts)
            parts = tuple(done[size:])
            del done[size:]
            done.append(Sequence(parts) if node.tag == CONCAT else Choice(parts))
    return done[0]
