"""The tree of a parsed pattern: what both dialects' parsers make and everything else reads.

Groups leave no node (no construct we accept can see a capture); flags are resolved while parsing: a
``CharSet`` already holds every case variant, an ``Anchor`` the exact assertion. Nodes are compared by identity and not
changed once they are made, which is not enforced, for speed; passes over them use explicit stacks, so depth costs
memory only. ``tag`` numbers the classes for the kernel (``kernel.plain_programs``).

Invariants: ``CharSet.ranges`` obey ``charset``; ``Text.chars`` is not empty and free of surrogates;
``Repeat`` has ``0 <= minimum <= maximum``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from constrained.regex.charset import Ranges

__all__ = ["Alternation", "Anchor", "AnchorKind", "Atomic", "CharSet", "Concat", "Look", "Node", "Repeat", "Text",
           "children", "walk"]


@dataclass(slots=True, eq=False)
class Text:
    """Exactly these characters, at least one."""

    tag: ClassVar[int] = 0
    chars: str


@dataclass(slots=True, eq=False)
class CharSet:
    """One character out of ``ranges``; no ranges: nothing matches."""

    tag: ClassVar[int] = 1
    ranges: Ranges


@dataclass(slots=True, eq=False, repr=False)
class Concat:
    """All items in order; no items: the empty text."""

    tag: ClassVar[int] = 2
    items: tuple[Node, ...]


@dataclass(slots=True, eq=False, repr=False)
class Alternation:
    """One option; the earlier is preferred (only atomic groups can tell)."""

    tag: ClassVar[int] = 3
    options: tuple[Node, ...]


@dataclass(slots=True, eq=False, repr=False)
class Repeat:
    """``body`` ``minimum`` to ``maximum`` times (None: no end); only atomic groups see that ``lazy`` prefers fewer."""

    tag: ClassVar[int] = 4
    body: Node
    minimum: int
    maximum: int | None
    lazy: bool = False


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


@dataclass(slots=True, eq=False)
class Anchor:
    """A zero-width test. ``chars``: the line terminators or word characters it looks for."""

    tag: ClassVar[int] = 5
    kind: AnchorKind
    chars: Ranges
    position: int


@dataclass(slots=True, eq=False, repr=False)
class Look:
    """A zero-width test: ``body`` matches from here on (``ahead``) or up to here; ``negative``: it does not."""

    tag: ClassVar[int] = 6
    body: Node
    ahead: bool
    negative: bool
    position: int


@dataclass(slots=True, eq=False, repr=False)
class Atomic:
    """``body`` by its first match in order of preference, and by no other."""

    tag: ClassVar[int] = 7
    body: Node
    position: int


Node = Text | CharSet | Concat | Alternation | Repeat | Anchor | Look | Atomic

NOTHING = CharSet(())
EMPTY = Concat(())


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of ``node``, in order."""
    if isinstance(node, Concat):
        return node.items
    if isinstance(node, Alternation):
        return node.options
    if isinstance(node, (Repeat, Look, Atomic)):
        return (node.body,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """Every node, parents first."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, (Text, CharSet)):
            continue
        if isinstance(top, Concat):
            stack.extend(top.items[::-1])
        else:
            stack.extend(children(top)[::-1])
