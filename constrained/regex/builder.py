# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Grows a tree from left to right with an explicit stack of open groups; both dialects' parsers drive it.

A frame holds the finished options of its group and the items of the current one. ``quantify`` wraps the last
item. Invariants: ``depth`` never exceeds ``Limits.max_nesting``; runs of characters are joined when a sequence
closes; options that are single characters become one ``CharSet`` (which of them is preferred cannot matter:
they exclude each other). Cost: linear.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import GrammarLimitError

if cython.compiled:
    from cython.cimports.constrained.regex.charset import normalise
    from cython.cimports.constrained.regex.syntax import Alternation, Atomic, CharSet, Concat, Look, Node, Repeat, Text
else:
    from constrained.regex.charset import normalise
    from constrained.regex.syntax import Alternation, Atomic, CharSet, Concat, Look, Node, Repeat, Text

__all__ = ["Frame", "TreeBuilder", "alternation", "concat"]

TEXT = cython.declare(cython.int, 0)
CHARS = cython.declare(cython.int, 1)


@cython.final
@cython.cclass
class Frame:
    """One open group. ``kind``: "group", "atomic" or "look"; ``restore``: the flags after it."""

    def __init__(self, kind: str, position: cython.Py_ssize_t, restore: cython.int = 0):
        self.kind = kind
        self.position = position
        self.restore = restore
        self.ahead = True
        self.negative = False
        self.options = []
        self.items = []


@cython.ccall
def concat(items: list) -> Node:
    """``items`` in order: adjacent characters joined, a single item itself."""
    node: Node
    before: Node = None
    joins: cython.bint = False
    if len(items) == 1:
        return items[0]
    for node in items:
        if before is not None and node.tag == TEXT and before.tag == TEXT:
            joins = True
            break
        before = node
    if not joins:
        return Concat(tuple(items))
    joined: list = []
    run: list = []
    for node in items:
        if node.tag == TEXT:
            run.append(cython.cast(Text, node).chars)
            continue
        if run:
            joined.append(Text("".join(run)))
            run = []
        joined.append(node)
    if run:
        joined.append(Text("".join(run)))
    return joined[0] if len(joined) == 1 else Concat(tuple(joined))


@cython.ccall
def alternation(options: list) -> Node:
    """Any of ``options``; single characters become one set."""
    node: Node
    chars: str
    pairs: list = []
    if len(options) == 1:
        return options[0]
    for node in options:
        if node.tag == CHARS:
            pairs.extend(cython.cast(CharSet, node).ranges)
        elif node.tag == TEXT:
            chars = cython.cast(Text, node).chars
            if len(chars) != 1:
                return Alternation(tuple(options))
            code = ord(chars)
            pairs.append((code, code))
        else:
            return Alternation(tuple(options))
    return CharSet(normalise(pairs))


@cython.cclass
class TreeBuilder:
    """The tree so far. ``last`` says what a quantifier would find: "", "atom", "anchor" or "repeat".

    ``top``: the innermost open group; ``stack`` holds it and all around it.
    """

    def __init__(self, limits):
        self.limits = limits
        self.max_nesting = limits.max_nesting
        self.max_repeat = limits.max_repeat
        self.top = Frame("group", 0)
        self.stack = [self.top]
        self.last = ""

    @property
    def depth(self):
        """Open groups."""
        return len(self.stack) - 1

    @cython.ccall
    def text(self, chars: str):
        """Adds characters; a quantifier binds the last one only if it was added alone."""
        self.top.items.append(Text(chars))
        self.last = "atom"

    @cython.ccall
    def charset(self, ranges: tuple):
        """Adds one character out of ``ranges``."""
        pair: tuple
        if len(ranges) == 1:
            pair = ranges[0]
            if pair[0] == pair[1]:
                self.text(chr(pair[0]))
                return
        self.top.items.append(CharSet(ranges))
        self.last = "atom"

    @cython.ccall
    def add(self, node: Node, last: str = "atom"):
        """Adds ``node``."""
        self.top.items.append(node)
        self.last = last

    @cython.ccall
    def quantify(self, minimum, maximum, mode: str, position: cython.Py_ssize_t):
        """Wraps the last item. ``mode``: "" greedy, "?" lazy, "+" possessive."""
        body: Node = self.top.items.pop()
        largest = minimum if maximum is None else maximum
        if largest > self.max_repeat:
            raise GrammarLimitError("max_repeat", self.limits.max_repeat,
                                    f"the repetition at position {position} counts to {_shown(largest)}")
        if mode == "+":
            # Python commits after every round and after the whole; the rounds matter only where a minimum
            # could otherwise be reached by giving one back.
            inner: Node = Atomic(body, position) if minimum > 1 else body
            self.add(Atomic(Repeat(inner, minimum, maximum), position), "repeat")
        else:
            self.add(Repeat(body, minimum, maximum, mode == "?"), "repeat")

    @cython.ccall
    def alternate(self):
        """Ends an option at ``|``."""
        self.top.options.append(concat(self.top.items))
        self.top.items = []
        self.last = ""

    @cython.ccall
    def open(self, frame: Frame):
        """Enters a group."""
        if len(self.stack) > self.max_nesting:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting,
                                    f"the groups at position {frame.position} nest too deep")
        self.stack.append(frame)
        self.top = frame
        self.last = ""

    @cython.ccall
    def close(self) -> Frame:
        """Leaves the innermost group and adds it as one item to the one around it."""
        frame: Frame = self.stack.pop()
        body: Node = _body(frame)
        self.top = self.stack[len(self.stack) - 1]
        if frame.kind == "look":
            body = Look(body, frame.ahead, frame.negative, frame.position)
        elif frame.kind == "atomic":
            body = Atomic(body, frame.position)
        self.add(body)
        return frame

    @cython.ccall
    def finish(self) -> Node:
        """The whole tree; every group must be closed."""
        return _body(self.stack[0])


@cython.cfunc
def _body(frame: Frame) -> Node:
    last: Node = concat(frame.items)
    return alternation([*frame.options, last]) if frame.options else last


def _shown(number) -> str:
    """``number`` in a message: huge ones by their size only."""
    return str(number) if number.bit_length() <= 64 else f"a number of {number.bit_length()} bits"
