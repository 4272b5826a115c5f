r"""Word boundaries written out: ``[a-z-]{1,6}\b[a-z-]*`` is ``[a-z-]{0,5}([a-z](-[a-z-]*)?|-[a-z][a-z-]*)``.

Whether a place lies between a word character and none is known from the characters before it and behind it. Where both
neighbours can be parted by their last and first characters, the four cases are plain trees, and the two that it
asks for stand instead of it. What has no assertion needs no automaton of its own, in which counts would be written out:
with a boundary behind a count of 256, found anywhere, that took more than 20,000 states.

A tree is taken as the whole of a full match, so before its first item and behind its last one stands no character. Only
boundaries that are items of the tree, or of an option of it, are written out; where a neighbour is too intricate the
boundary stays. Cost: some 20 us a boundary.
"""

from __future__ import annotations

from constrained.regex.builder import alternation, concat
from constrained.regex.charset import Ranges, intersection, of_text, subtract, union
from constrained.regex.syntax import (
    EMPTY,
    NOTHING,
    Alternation,
    Anchor,
    AnchorKind,
    CharSet,
    Concat,
    Node,
    Repeat,
    Text,
)

__all__ = ["boundaries_written_out"]

_MOST_SKIPPED = 8
"""Items that may all be empty between a boundary and a character."""
_MOST_NODES = 500
"""Nodes of a neighbour that are looked at."""

_Sides = tuple[list[Node], list[Node]]
"""Ways to read the items of one side: those whose character at the boundary is no word character (or that have none,
at an end of the text), and those whose is one."""


def boundaries_written_out(root: Node) -> Node:
    """A tree with the same full matches as ``root``."""
    if isinstance(root, Alternation):
        options = [_written_out(option) for option in root.options]
        if all(new is old for new, old in zip(options, root.options, strict=True)):
            return root
        options = [option for option in options if option is not NOTHING]
        return alternation(options) if options else NOTHING
    return _written_out(root)


def _written_out(root: Node) -> Node:
    items = list(root.items) if isinstance(root, Concat) else [root]
    if not any(isinstance(item, Anchor) for item in items):
        return root
    at, changed = 0, False
    while at < len(items):
        item = items[at]
        if isinstance(item, Anchor) and item.kind in (AnchorKind.BOUNDARY, AnchorKind.NOT_BOUNDARY):
            found = _parted(items, at, item.chars, item.kind is AnchorKind.BOUNDARY)
            if found is not None:
                if not found:
                    return NOTHING
                items, at, changed = *found, True
                continue
        at += 1
    return concat([item for item in items if not (isinstance(item, Concat) and not item.items)]) if changed else root


def _parted(items: list[Node], at: int, words: Ranges, differ: bool) -> tuple[list[Node], int] | tuple[()] | None:
    """The items without the boundary at ``at``, and where to go on; (): nothing matches; None: it stays."""
    left, right = _sides(items[:at][::-1], words, last=True), _sides(items[at + 1 :], words, last=False)
    if left is None or right is None:
        return None
    (before, reach), (behind, ahead) = left, right
    pairs = [(before[one], behind[one ^ differ]) for one in (False, True) if before[one] and behind[one ^ differ]]
    if not pairs:
        return ()
    start, end = at - reach, at + 1 + ahead
    if not (before[0] and before[1]):  # the left side may stay as it is
        return [*items[:at], alternation(pairs[0][1]), *items[end:]], at
    if not (behind[0] and behind[1]):
        middle = alternation(pairs[0][0])
        return [*items[:start], middle, *items[at + 1 :]], start + 1
    middle = alternation([concat([alternation(one), alternation(other)]) for one, other in pairs])
    return [*items[:start], middle, *items[end:]], start + 1


def _sides(items: list[Node], words: Ranges, *, last: bool) -> tuple[_Sides, int] | None:
    """The ways to read the items beside a boundary, the nearest first, and how many items they stand for."""
    found: list[tuple[int, bool, Node]] = []
    reach = 0
    for node in items:
        if reach == _MOST_SKIPPED:
            return None
        ends = _ends(node, last=last)
        if ends is None:
            return None
        nullable, chars = ends
        inside = intersection(chars, words)
        for word, kept in ((False, subtract(chars, words)), (True, inside)):
            if kept:
                part = _part(node, nullable, None if kept == chars else kept, last=last)
                if part is None:
                    return None
                found.append((reach, word, part))
        reach += 1
        if not nullable:
            break
    else:
        found.append((reach, False, EMPTY))
    sides: _Sides = ([], [])
    for near, word, part in found:  # nearer items are empty, farther ones whatever they may be
        far = items[near + 1 : reach]
        sides[word].append(concat([*far[::-1], part] if last else [part, *far]))
    return sides, reach


def _ends(root: Node, *, last: bool) -> tuple[bool, Ranges] | None:
    """Whether a node may be empty, and its last (or first) characters; None: it holds assertions or is too large."""
    order: list[Node] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node, (Text, CharSet, Concat, Alternation, Repeat)) or len(order) == _MOST_NODES:
            return None
        order.append(node)
        stack.extend(node.parts)
    known: dict[int, tuple[bool, Ranges]] = {}
    for node in reversed(order):
        if isinstance(node, Text):
            known[id(node)] = False, of_text(node.chars[-1 if last else 0])
        elif isinstance(node, CharSet):
            known[id(node)] = False, node.ranges
        elif isinstance(node, Repeat):
            nullable, chars = known[id(node.body)]
            known[id(node)] = nullable or node.minimum == 0, chars
        elif isinstance(node, Alternation):
            parts = [known[id(part)] for part in node.parts]
            known[id(node)] = any(part[0] for part in parts), union(*[part[1] for part in parts])
        else:
            sets = []
            nullable = True
            for part in reversed(node.parts) if last else node.parts:
                nullable, chars = known[id(part)]
                sets.append(chars)
                if not nullable:
                    break
            known[id(node)] = nullable, union(*sets)
    return known[id(root)]


def _part(node: Node, nullable: bool, kept: Ranges | None, *, last: bool) -> Node | None:
    """The texts of a node that are not empty and whose character at the boundary is one of ``kept`` (None: any)."""
    if kept is None and not nullable:
        return node
    if isinstance(node, Text):
        return node  # it has one character there
    if isinstance(node, CharSet):
        return CharSet(kept or node.ranges)
    if not isinstance(node, Repeat):
        return None
    if isinstance(node.body, CharSet) and kept is not None:
        least, most = max(node.minimum - 1, 0), None if node.maximum is None else node.maximum - 1
        edge = CharSet(kept)
        if most == 0:
            return edge
        return concat([Repeat(node.body, least, most), edge] if last else [edge, Repeat(node.body, least, most)])
    if kept is None and node.minimum == 0 and not _ends(node.body, last=last)[0]:  # type: ignore[index]
        return node.body if node.maximum == 1 else Repeat(node.body, 1, node.maximum)
    return None
