"""How many characters the parts of a tree match, as Python's ``re`` counts to admit a look-behind."""

from __future__ import annotations

from constrained.regex.syntax import Alternation, Anchor, CharSet, Concat, Look, Node, Repeat, Text, children

__all__ = ["Width", "all_widths", "fixed_width"]

#: Least and greatest number of characters; None: no end.
Width = tuple[int, int | None]


def all_widths(root: Node) -> dict[int, Width]:
    """The width of every node by its ``id``, insides of zero-width tests left out (they count 0).

    A set with no members counts 1, as any set does. Cost: linear, with an explicit stack.
    """
    found: dict[int, Width] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if isinstance(node, Text):
            found[id(node)] = (len(node.chars), len(node.chars))
        elif isinstance(node, CharSet):
            found[id(node)] = (1, 1)
        elif isinstance(node, (Anchor, Look)):
            found[id(node)] = (0, 0)
        elif not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in children(node))
        else:
            found[id(node)] = _combined(node, [found[id(child)] for child in children(node)])
    return found


def _combined(node: Node, parts: list[Width]) -> Width:
    highs = [high for _, high in parts if high is not None]
    bounded = len(highs) == len(parts)
    if isinstance(node, Concat):
        return sum(low for low, _ in parts), sum(highs) if bounded else None
    if isinstance(node, Alternation):
        return min(low for low, _ in parts), max(highs) if bounded else None
    low, high = parts[0]
    if not isinstance(node, Repeat):
        return low, high
    if high == 0 or node.maximum == 0:
        return low * node.minimum, 0
    return low * node.minimum, None if high is None or node.maximum is None else high * node.maximum


def fixed_width(root: Node) -> int | None:
    """The one width of ``root``, or None where it varies."""
    low, high = all_widths(root)[id(root)]
    return low if low == high else None
