# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The common nodes of a grammar, made and read a thousand times for one schema: see ``grammar.ir``, which exports them.

Compiled, ``rule_writer`` reads a node without a look-up: ``kind`` is its number there. Nodes are read-only and hold
only what was made before them, so there are no cycles and the collector need not know them. What may nest deeply is
held in a tuple: a tuple's end does not recurse.

``block`` is what ``kernel.blocks`` has made of a byte automaton or a class of characters; it stays with the node.
``shared``: 1 if a node is the text of a rule in many grammars (``share``), 3 if it is lowered like any other one, 5 if
it is a part of many sequences (``part``), 7 if it is one that stands before values
(``before_value``).
``place`` of a reference: where its rule was in the table that looked for it last (``inlining``), which finds it there
again or looks anew; so of a part; of another node: the number it had as a loop's body (``rule_writer``).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython


@cython.no_gc
@cython.cclass
class Node:
    """What the kernel knows. ``kind`` 0: it does not."""

    if not cython.compiled:
        kind = 0
        shared = 0
        place = 0


def share(node) -> None:
    """Let a sequence, choice or repetition be lowered once for all grammars that have it as a rule's text
    (``kernel.images``). For nodes that are kept for the process.
    """
    held: Node
    if isinstance(node, Node):
        held = node
        if 3 <= held.kind <= 5 and held.shared == 0:
            held.shared = 1


def part(sequence: Sequence) -> Sequence:
    """Let a sequence be called like a rule wherever a grammar has it, if that is more than one place: what is found out
    about it then serves all of them, and it is lowered once.
    """
    sequence.shared = 5
    return sequence


def before_value(sequence: Sequence) -> Sequence:
    """A ``part`` before values: what follows it in a sequence is never empty, and may be written when a text comes to
    it (``kernel.later``).
    """
    sequence.shared = 7
    return sequence


def unshare(node: Node) -> None:
    """Lower a shared node as any other."""
    node.shared = 3


@cython.final
@cython.no_gc
@cython.cclass
class Literal(Node):
    """Exactly these bytes (empty: the empty text)."""

    def __init__(self, data: bytes):
        self.kind = 1
        self.data = data

    def __repr__(self):
        return f"Literal(data={self.data!r})"

    def __reduce__(self):
        return Literal, (self.data,)


@cython.final
@cython.no_gc
@cython.cclass
class CharClass(Node):
    """One code point out of ``ranges``, inclusive ``(first, last)`` pairs. No ranges: nothing matches."""

    def __init__(self, ranges: tuple):
        self.kind = 2
        self.ranges = ranges
        self.block = None

    def __repr__(self):
        return f"CharClass(ranges={self.ranges!r})"

    def __reduce__(self):
        return CharClass, (self.ranges,)


@cython.final
@cython.no_gc
@cython.cclass
class Sequence(Node):
    """All items in order. No items: the empty text."""

    def __init__(self, items: tuple):
        self.kind = 3
        self.items = items

    def __reduce__(self):
        return Sequence, (self.items,)


@cython.no_gc
@cython.cclass
class Choice(Node):
    """Any one option. No options: nothing matches."""

    def __init__(self, options: tuple):
        self.kind = 4
        self.options = options

    def __reduce__(self):
        return Choice, (self.options,)


@cython.no_gc
@cython.cclass
class Repeat(Node):
    """``body`` between ``minimum`` and ``maximum`` times; ``maximum`` None: without end."""

    def __init__(self, body, minimum, maximum):
        self.kind = 5
        self.held = (body,)
        self.minimum = minimum
        self.maximum = maximum

    @property
    def body(self):
        """What is repeated."""
        return self.held[0]

    def __reduce__(self):
        return Repeat, (self.held[0], self.minimum, self.maximum)


@cython.final
@cython.no_gc
@cython.cclass
class Reference(Node):
    """The rule of this name."""

    def __init__(self, name: str):
        self.kind = 6
        self.name = name

    def __repr__(self):
        return f"Reference(name={self.name!r})"

    def __reduce__(self):
        return Reference, (self.name,)


@cython.no_gc
@cython.cclass
class ByteDfa(Node):
    """A deterministic automaton over bytes: look-around, intersection and complement end as one.

    ``transitions[s]`` is a tuple of ``(first byte, last byte, next state)``, sorted and disjoint. State 0 starts.
    """

    if not cython.compiled:
        block = None  # of those that are made otherwise, too
        states = 0

    def __init__(self, transitions: tuple, accepting: frozenset):
        self.kind = 7
        self.made = transitions
        self.states = len(transitions)
        self.accepting = accepting
        self.block = None

    @property
    def transitions(self):
        """The edges of each state; of what was made as a block, made when they are asked for."""
        if self.made is None:
            self.made = self.block.rows()
        return self.made

    def __reduce__(self):
        return ByteDfa, (self.transitions, self.accepting)


def dfa_of_block(block, accepting: frozenset) -> ByteDfa:
    """The automaton whose block is there already."""
    dfa: ByteDfa = ByteDfa((), accepting)
    dfa.made = None
    dfa.states = block.states()
    dfa.block = block
    return dfa


@cython.no_gc
@cython.cclass
class Unordered(Node):
    """Each of ``items`` at most once, in any order, with ``separator`` between any two that are written.

    ``required`` holds the indices that must occur. ``free``, if given, may occur any number of times among them.
    The number of things written is between ``minimum`` and ``maximum`` (None: without end). Items and ``free`` must
    not have the empty text. This is the body of a JSON object whose keys come in any order, and of an array of
    different values out of a list. With ``in_order`` the items that are written come in their own order, and ``free``
    behind them: an object of many optional members, or of counted ones, without a state for each.
    """

    def __init__(self, items: tuple, required: frozenset, separator, free=None, minimum=0, maximum=None,
                 in_order=False):
        self.kind = 8
        self.items = items
        self.required = required
        self.held = (separator, free)
        self.minimum = minimum
        self.maximum = maximum
        self.in_order = in_order

    @property
    def separator(self):
        """What stands between two items."""
        return self.held[0]

    @property
    def free(self):
        """What may occur any number of times, or None."""
        return self.held[1]

    def __reduce__(self):
        return Unordered, (self.items, self.required, *self.held, self.minimum, self.maximum, self.in_order)
