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

__all__ = ["json_leaf", "plain_expression", "utf8_leaf"]

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
    text: Text
    chars: CharSet
    if node.tag == TEXT:
        text = cython.cast(Text, node)
        if text.utf8 is None:
            text.utf8 = Literal(text.chars.encode())
        return text.utf8
    chars = cython.cast(CharSet, node)
    if chars.utf8 is None:
        found = _classes.get(chars.ranges)
        if found is None:
            if len(_classes) >= MOST_CLASSES:
                _classes.clear()
            found = _classes[chars.ranges] = CharClass(chars.ranges)
        chars.utf8 = found
    return chars.utf8


def json_leaf(others):
    """How characters within JSON's quotation marks are spelled where some have one spelling: printable ASCII but the
    quotation mark and the backslash as they are, by ``utf8_leaf``; what has any other character by ``others``."""

    def leaf(node: Node):
        return utf8_leaf(node) if _is_plain(node) else others(node)

    return leaf


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_plain(node: Node) -> cython.bint:
    char: cython.Py_UCS4
    pair: tuple
    low: cython.int
    high: cython.int
    if node.tag == TEXT:
        for char in cython.cast(Text, node).chars:
            if char < " " or char > "~" or char == '"' or char == "\\":
                return False
        return True
    for pair in cython.cast(CharSet, node).ranges:
        low, high = pair[0], pair[1]
        if low < 0x20 or high > 0x7E or low <= 0x22 <= high or low <= 0x5C <= high:
            return False
    return True


def plain_expression(root: Node, leaf=None):
    """The expression of a tree without assertions, its characters spelled by ``leaf`` (None: ``utf8_leaf``).

    Linear: the nodes level by level, read backwards. The parts of a node stand side by side and behind it, so each is
    replaced by its expression before the node they are parts of is.
    """
    order: list = [root]
    node: Node
    loop: Repeat
    at: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    end: cython.Py_ssize_t
    while at < len(order):
        node = order[at]
        if node.tag > CHARS:
            order.extend(node.parts)
        at += 1
    end = at
    leaves: dict = {}
    while at > 0:
        at -= 1
        node = order[at]
        if node.tag <= CHARS:
            if leaf is None:
                order[at] = utf8_leaf(node)
                continue
            found = leaves.get(node)
            if found is None:
                found = leaves[node] = leaf(node)
            order[at] = found
            continue
        size = len(node.parts)
        end -= size
        if node.tag == REPEAT:
            loop = cython.cast(Repeat, node)
            order[at] = IrRepeat(order[end], loop.minimum, loop.maximum)
        elif node.tag == CONCAT:
            order[at] = Sequence(tuple(order[end : end + size])) if size > 0 else Literal(b"")
        else:
            assert node.tag == ALTERNATION, "a tree without assertions"
            order[at] = Choice(tuple(order[end : end + size]))
    return order[0]
