# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""How many characters the parts of a tree match, as Python's ``re`` counts to admit a look-behind."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.regex.syntax import Node, Repeat, Text
else:
    from constrained.regex.syntax import Node, Repeat, Text

__all__ = ["Width", "all_widths", "fixed_width", "may_be_empty", "width_of"]

#: Least and greatest number of characters; None: no end.
Width = tuple[int, int | None]

_NONE = (0, 0)
_ONE = (1, 1)

TEXT = cython.declare(cython.int, 0)
CHARS = cython.declare(cython.int, 1)
CONCAT = cython.declare(cython.int, 2)
ALTERNATION = cython.declare(cython.int, 3)
REPEAT = cython.declare(cython.int, 4)
ANCHOR = cython.declare(cython.int, 5)
LOOK = cython.declare(cython.int, 6)


@cython.ccall
def all_widths(root: Node) -> dict:
    """The width of every node by its ``id``, insides of zero-width tests left out (they count 0).

    A set with no members counts 1, as any set does. Cost: linear, with an explicit stack.
    """
    found: dict = {}
    stack: list = [root]
    order: list = []
    node: Node
    while stack:
        node = stack.pop()
        order.append(node)
        if node.tag != LOOK:
            stack.extend(node.parts)
    while order:  # what a node is made of comes behind it
        node = order.pop()
        if node.tag == TEXT:
            size = len(cython.cast(Text, node).chars)
            found[id(node)] = (size, size)
        elif node.tag == CHARS:
            found[id(node)] = _ONE
        elif node.tag == ANCHOR or node.tag == LOOK:
            found[id(node)] = _NONE
        elif id(node) not in found:
            found[id(node)] = _combined(node, [found[id(part)] for part in node.parts])
    return found


@cython.cfunc
def _combined(node: Node, parts: list) -> tuple:
    """The width of a node by those of its parts."""
    pair: tuple
    low = None
    high = 0
    if node.tag == CONCAT:
        low = 0
        for pair in parts:
            low += pair[0]
            high = None if high is None or pair[1] is None else high + pair[1]
        return low, high
    if node.tag == ALTERNATION:
        for pair in parts:
            if low is None or pair[0] < low:
                low = pair[0]
            high = None if high is None or pair[1] is None else max(high, pair[1])
        return low, high
    pair = parts[0]
    if node.tag != REPEAT:
        return pair
    loop: Repeat = cython.cast(Repeat, node)
    low, high = pair
    if high == 0 or loop.maximum == 0:
        return low * loop.minimum, 0
    return low * loop.minimum, None if high is None or loop.maximum is None else high * loop.maximum


@cython.ccall
def width_of(root: Node) -> tuple:
    """The width of the whole."""
    if root.tag == TEXT:
        size = len(cython.cast(Text, root).chars)
        return size, size
    if root.tag == CHARS:
        return _ONE
    return all_widths(root)[id(root)]


@cython.ccall
@cython.exceptval(-1, check=False)
def may_be_empty(root: Node) -> cython.bint:
    """Whether the least width is 0."""
    return root.tag > CHARS and width_of(root)[0] == 0


def fixed_width(root: Node):
    """The one width of ``root``, or None where it varies."""
    low, high = width_of(root)
    return low if low == high else None
