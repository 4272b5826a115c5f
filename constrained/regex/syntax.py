# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The tree of a parsed pattern: what both dialects' parsers make and everything else reads.

Groups leave no node (no construct we accept can see a capture); flags are resolved while parsing: a
``CharSet`` already holds every case variant, an ``Anchor`` the exact assertion. Nodes are compared by identity and
read-only; passes over them use explicit stacks, so depth costs memory only.

What is compiled reads a node without a look-up: ``tag`` numbers the classes (``TEXT`` to ``ATOMIC``), ``parts`` are the
nodes that it is made of, in order. Nodes hold only what was made before them, so there are no cycles and the collector
need not know them; what may nest deeply is held in a tuple, whose end does not recurse. ``utf8`` of characters is what
was made of them once (``frontends.plain_trees``), None before: digits and signs are the same nodes in many trees.

Invariants: ``CharSet.ranges`` obey ``charset``; ``Text.chars`` is not empty and free of surrogates;
``Repeat`` has ``0 <= minimum <= maximum``.
"""

from __future__ import annotations

from enum import Enum

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

__all__ = ["EMPTY", "NOTHING", "Alternation", "Anchor", "AnchorKind", "Atomic", "CharSet", "Concat", "Look", "Node",
           "Repeat", "Text", "children", "walk"]


@cython.no_gc
@cython.cclass
class Node:
    """Any of the nodes below."""


@cython.final
@cython.no_gc
@cython.cclass
class Text(Node):
    """Exactly these characters, at least one."""

    def __init__(self, chars: str):
        self.tag = 0
        self.parts = ()
        self.chars = chars
        self.utf8 = None

    def __repr__(self):
        return f"Text(chars={self.chars!r})"


@cython.final
@cython.no_gc
@cython.cclass
class CharSet(Node):
    """One character out of ``ranges``; no ranges: nothing matches."""

    def __init__(self, ranges: tuple):
        self.tag = 1
        self.parts = ()
        self.ranges = ranges
        self.utf8 = None

    def __repr__(self):
        return f"CharSet(ranges={self.ranges!r})"


@cython.final
@cython.no_gc
@cython.cclass
class Concat(Node):
    """All items in order; no items: the empty text."""

    def __init__(self, items: tuple):
        self.tag = 2
        self.parts = items

    @property
    def items(self):
        return self.parts


@cython.final
@cython.no_gc
@cython.cclass
class Alternation(Node):
    """One option; the earlier is preferred (only atomic groups can tell)."""

    def __init__(self, options: tuple):
        self.tag = 3
        self.parts = options

    @property
    def options(self):
        return self.parts


@cython.final
@cython.no_gc
@cython.cclass
class Repeat(Node):
    """``body`` ``minimum`` to ``maximum`` times (None: no end); only atomic groups see that ``lazy`` prefers fewer."""

    def __init__(self, body: Node, minimum, maximum, lazy: cython.bint = False):
        self.tag = 4
        self.parts = (body,)
        self.minimum = minimum
        self.maximum = maximum
        self.lazy = lazy

    @property
    def body(self):
        return self.parts[0]


class AnchorKind(Enum):
    """What an anchor asserts about its place in the text."""

    START = "start of the text"
    END = "end of the text"
    END_OR_LAST_NEWLINE = "end of the text, or before a newline that ends it"
    LINE_START = "start of the text, or after a line terminator"
    LINE_END = "end of the text, or before a line terminator"
    BOUNDARY = "between a word character and none"
    NOT_BOUNDARY = "not between a word character and none"
    NOT_BOUNDARY_IN_TEXT = "not between a word character and none, in a text that is not empty"


@cython.final
@cython.no_gc
@cython.cclass
class Anchor(Node):
    """A zero-width test. ``chars``: the line terminators or word characters it looks for."""

    def __init__(self, kind, chars: tuple, position: cython.Py_ssize_t):
        self.tag = 5
        self.parts = ()
        self.kind = kind
        self.chars = chars
        self.position = position


@cython.final
@cython.no_gc
@cython.cclass
class Look(Node):
    """A zero-width test: ``body`` matches from here on (``ahead``) or up to here; ``negative``: it does not."""

    def __init__(self, body: Node, ahead: cython.bint, negative: cython.bint, position: cython.Py_ssize_t):
        self.tag = 6
        self.parts = (body,)
        self.ahead = ahead
        self.negative = negative
        self.position = position

    @property
    def body(self):
        return self.parts[0]


@cython.final
@cython.no_gc
@cython.cclass
class Atomic(Node):
    """``body`` by its first match in order of preference, and by no other."""

    def __init__(self, body: Node, position: cython.Py_ssize_t):
        self.tag = 7
        self.parts = (body,)
        self.position = position

    @property
    def body(self):
        return self.parts[0]


NOTHING = CharSet(())
EMPTY = Concat(())


@cython.ccall
def children(node: Node) -> tuple:
    """The direct parts of ``node``, in order."""
    return node.parts


def walk(node: Node) -> list:
    """Every node, parents first; one that stands at several places as often."""
    found: list = []
    stack: list = [node]
    top: Node
    parts: tuple
    i: cython.Py_ssize_t
    while stack:
        top = stack.pop()
        found.append(top)
        parts = top.parts
        for i in range(len(parts) - 1, -1, -1):
            stack.append(parts[i])
    return found
