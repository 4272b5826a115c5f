r"""What any text beside it makes needless: ``.*[a-z]{1,99}`` found anywhere is ``[a-z]`` found anywhere.

Where any text may stand beside a part, the part need only say what it asks for at least: of a counted repetition the
least count, of an optional part nothing, of options those that another one is part of. For ``A S`` with S = any text
this is: if A may be empty it is S; if A = B C and C may be empty it is ``B S``; and so on inwards from the side of S.
A pattern with ``{1,1023}`` at an end would else be that many states of an automaton.

Trees are those of a search (``search_form``), simplified: S stands at the ends of the options. Parts with assertions
are left as they are. Cost: linear in what is looked at, the ends; equal trees come back as they are.
"""

from __future__ import annotations

from constrained.regex.builder import alternation, concat
from constrained.regex.charset import ANY
from constrained.regex.rewrite import has_assertions
from constrained.regex.syntax import Alternation, CharSet, Concat, Node, Repeat, Text
from constrained.regex.width import all_widths

__all__ = ["absorbed"]

_DEPTH = 40
"""Groups inside each other that are looked into; deeper ones stay as they are."""


def absorbed(tree: Node) -> Node:
    """An equal tree in which nothing beside any text asks for more than it must."""
    options = tree.options if isinstance(tree, Alternation) else (tree,)
    found = [_option(option) for option in options]
    if any(_is_any_text(option) for option in found):
        return next(option for option in found if _is_any_text(option))
    if all(new is old for new, old in zip(found, options, strict=True)):
        return tree
    return alternation(found)


def _option(tree: Node) -> Node:
    if not isinstance(tree, Concat) or len(tree.items) < 2:
        return tree
    items = list(tree.items)
    left, right = _is_any_text(items[0]), _is_any_text(items[-1])
    if not (left or right) or has_assertions(tree):
        return tree
    inside = items[left : len(items) - right]
    changed = False
    for side, applies in (("right", right), ("left", left)):
        if applies:
            new = _least(concat(inside), side == "right", 0)
            if new is None:  # any text is enough
                return items[0] if left else items[-1]
            parts: list[Node] = list(new.items) if isinstance(new, Concat) else [new]
            changed = changed or len(parts) != len(inside) or not all(map(_same, parts, inside))
            inside = parts
    if not changed:
        return tree
    return concat([*items[:1] * left, *inside, *items[-1:] * right])


def _least(node: Node, right: bool, depth: int) -> Node | None:
    """What of ``node`` must stand where any text is on its right (else left) side; None: nothing.

    ``node`` has no assertions. Calls nest ``_DEPTH`` deep at most.
    """
    if all_widths(node)[id(node)][0] == 0:  # without assertions that is the empty text
        return None
    if depth == _DEPTH:
        return node
    if isinstance(node, Concat):
        items = list(node.items)
        while items:
            at = -1 if right else 0
            last = _least(items[at], right, depth + 1)
            if last is not None:
                if last is items[at] and len(items) == len(node.items):
                    return node
                items[at] = last
                return concat(items)
            del items[at]
        return None
    if isinstance(node, Alternation):
        options = [_least(option, right, depth + 1) for option in node.options]
        kept = [option for option in options if option is not None]
        if len(kept) < len(options):
            return None
        return node if all(a is b for a, b in zip(kept, node.options, strict=True)) else alternation(kept)
    if isinstance(node, Repeat):
        body = _least(node.body, right, depth + 1)
        assert body is not None  # else the repetition may be empty
        if node.minimum == 1:
            return body
        if body is node.body:
            return node if node.maximum == node.minimum else Repeat(node.body, node.minimum, node.minimum)
        others = node.body if node.minimum == 2 else Repeat(node.body, node.minimum - 1, node.minimum - 1)
        return concat([others, body] if right else [body, others])
    return node


def _same(one: Node, other: Node) -> bool:
    """Whether they are one node; joining makes runs of characters anew."""
    return one is other or (isinstance(one, Text) and isinstance(other, Text) and one.chars == other.chars)


def _is_any_text(node: Node) -> bool:
    return isinstance(node, Repeat) and node.minimum == 0 and node.maximum is None and (
        isinstance(node.body, CharSet) and node.body.ranges == ANY)
