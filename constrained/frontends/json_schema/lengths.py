r"""A bound on the length of a match, moved into the pattern: ``^[a-z]\w*$`` of at most 64 is ``[a-z]\w{0,63}``.

It works where the lengths of a pattern are decided in one place: every part has one width, except one repetition of
a body that has one width. An alternation works where each option does. Everything else is left to automata.

The other way round, a bound that a pattern says by a look-ahead (``^(?=.{1,255}$)...``) is taken out of it. And counts
that no text of the length reaches are left out, so that an automaton need not count: in a text of at most 63 characters
``[a-z][a-z.]{1,61}[a-z]`` finds what ``[a-z][a-z.]+[a-z]`` does.
"""

from __future__ import annotations

from constrained.regex.builder import alternation, concat
from constrained.regex.charset import ANY, Ranges, intersection, normalise, of_text, union
from constrained.regex.rewrite import is_nothing
from constrained.regex.syntax import (
    NOTHING,
    Alternation,
    Anchor,
    AnchorKind,
    Atomic,
    CharSet,
    Concat,
    Look,
    Node,
    Repeat,
    Text,
    children,
    walk,
)
from constrained.regex.width import all_widths

__all__ = ["lengths_ahead", "with_lengths", "without_far_counts"]

_MOST_OPTIONS = 64


def with_lengths(tree: Node, minimum: int, maximum: int | None) -> Node | None:
    """The matches of ``tree`` (no assertions) of ``minimum`` to ``maximum`` characters; None: not so simply."""
    widths = all_widths(tree)
    low, high = widths[id(tree)]
    if low >= minimum and (maximum is None or (high is not None and high <= maximum)):
        return tree
    if (maximum is not None and low > maximum) or (high is not None and high < minimum):
        return NOTHING
    options = _options(tree)
    if options is None:
        return None
    kept: list[Node] = []
    for items in options:
        fitted = _fitted(items, minimum, maximum)
        if fitted is None:
            return None
        if not is_nothing(fitted):
            kept.append(fitted)
    return alternation(kept) if kept else NOTHING


def _options(tree: Node) -> list[list[Node]] | None:
    """``tree`` as sequences to choose from, alternations and optional parts inside multiplied out; None: too many."""
    done: list[list[Node]] = []
    waiting: list[list[Node]] = [[tree]]
    while waiting:
        items = waiting.pop()
        at = next((i for i, item in enumerate(items) if _opens(item)), None)
        if at is None:
            done.append(items)
        else:
            item = items[at]
            insides: list[list[Node]]
            if isinstance(item, Concat):
                insides = [list(item.items)]
            elif isinstance(item, Alternation):
                insides = [[option] for option in item.options]
            else:
                assert isinstance(item, Repeat)
                insides = [[item.body]] if item.minimum == 1 else [[item.body], []]
            waiting += [items[:at] + inside + items[at + 1 :] for inside in insides]
        if len(done) + len(waiting) > _MOST_OPTIONS:
            return None
    return done


def _joined(items: list[Node], first: int, second: int) -> tuple[list[Node], int]:
    """``x+y*`` side by side, x within y, is ``xy*``; ``y*x+`` likewise. The items and where the loop is, or -1."""
    one, two = items[first], items[second]
    if second == first + 1 and isinstance(one, Repeat) and isinstance(two, Repeat):
        inner, outer = _characters(one.body), _characters(two.body)
        if inner is not None and outer is not None and one.maximum is None and two.maximum is None:
            small, large = (one, two) if intersection(inner, outer) == inner else (two, one)
            if intersection(inner, outer) in (inner, outer):
                start = [Repeat(small.body, small.minimum, small.minimum)]
                middle = [large] if small is two else []
                rest = [large] if small is one else []
                place = first + (0 if middle else 1)
                return [*items[:first], *middle, *start, *rest, *items[second + 1 :]], place
    return items, -1


def _characters(node: Node) -> Ranges | None:
    if isinstance(node, CharSet):
        return node.ranges
    return normalise([(ord(node.chars), ord(node.chars))]) if isinstance(node, Text) and len(node.chars) == 1 else None


def lengths_ahead(tree: Node) -> tuple[Node, int, int | None, Ranges] | None:
    """The pattern without the look-aheads at its start that bound the length of the whole, the least and greatest
    length by them, and the characters that they let pass; None where there are none."""
    if not isinstance(tree, Concat) or not tree.items or not isinstance(tree.items[0], Look):
        return None
    kept: list[Node] = []
    minimum, maximum, passing = 0, None, ANY
    at = 0
    while at < len(tree.items) and isinstance(tree.items[at], Look):
        item = tree.items[at]
        bound = _bound(item)
        if bound is None:
            kept.append(item)
        else:
            minimum = max(minimum, bound.minimum)
            if bound.maximum is not None:
                maximum = bound.maximum if maximum is None else min(maximum, bound.maximum)
            passing = intersection(passing, _characters(bound.body) or ())
        at += 1
    if len(kept) == at:
        return None
    rest = tree.items[at:]
    leaves = [node for item in rest for node in walk(item) if isinstance(node, (CharSet, Text))]
    used = union(*[leaf.ranges if isinstance(leaf, CharSet) else of_text(leaf.chars) for leaf in leaves])
    if intersection(used, passing) == used:
        passing = ANY  # the others do not stand in a match anyway
    return concat([*kept, *rest]), minimum, maximum, passing


def without_far_counts(tree: Node, most: int) -> Node:
    """A tree with the same matches among texts of at most ``most`` characters: no greatest count that takes more.

    Around a part stand so many characters at least; a repetition that has its greatest count and one more would be
    too long with them. What is inside of look-arounds and atomic groups is left as it is.
    """
    if not any(isinstance(node, Repeat) and node.maximum is not None and node.maximum > 1 for node in walk(tree)):
        return tree
    widths = all_widths(tree)
    changed = False
    done: list[Node] = []
    stack: list[tuple[Node, int, bool]] = [(tree, 0, False)]
    while stack:
        node, around, ready = stack.pop()
        if isinstance(node, (Text, CharSet, Anchor, Look, Atomic)):
            done.append(node)
        elif not ready:
            stack.append((node, around, True))
            if isinstance(node, Repeat):
                inside = around + widths[id(node.body)][0] * max(node.minimum - 1, 0)
                stack.append((node.body, inside, False))
            elif isinstance(node, Concat):
                total = around + widths[id(node)][0]
                stack.extend([(item, total - widths[id(item)][0], False) for item in reversed(node.items)])
            else:
                stack.extend([(part, around, False) for part in reversed(children(node))])
        elif isinstance(node, Repeat):
            far = node.maximum is not None and around + (node.maximum + 1) * widths[id(node.body)][0] > most
            changed = changed or far
            done.append(Repeat(done.pop(), node.minimum, None if far else node.maximum, node.lazy))
        else:
            count = len(children(node))
            parts = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(concat(parts) if isinstance(node, Concat) else alternation(parts))
    return done[0] if changed else tree


def _bound(item: Node) -> Repeat | None:
    """The repeated character of ``(?=.{1,255}$)``."""
    if not isinstance(item, Look) or item.negative or not item.ahead or not isinstance(item.body, Concat):
        return None
    first, *behind = item.body.items
    if len(behind) == 1 and isinstance(behind[0], Anchor) and behind[0].kind is AnchorKind.END and (
            isinstance(first, Repeat) and _characters(first.body)):
        return first
    return None


def _opens(item: Node) -> bool:
    """Whether lengths inside ``item`` vary in a way that writing it out makes plain."""
    if isinstance(item, Concat):
        return True
    low, high = all_widths(item)[id(item)]
    if low == high:
        return False
    return isinstance(item, Alternation) or (isinstance(item, Repeat) and item.maximum == 1)


def _fitted(items: list[Node], minimum: int, maximum: int | None) -> Node | None:
    fixed = 0
    varying: list[int] = []
    for index, item in enumerate(items):
        low, high = all_widths(item)[id(item)]
        if low == high:
            fixed += low
        else:
            varying.append(index)
    if not varying:
        return concat(items) if fixed >= minimum and (maximum is None or fixed <= maximum) else NOTHING
    at = varying[0]
    loop = items[at]
    if len(varying) == 2:
        items, at = _joined(items, *varying)
        loop = items[at]
        if at >= 0:
            fixed = sum(all_widths(item)[id(item)][0] for index, item in enumerate(items) if index != at)
    if at < 0 or len(varying) > 2 or not isinstance(loop, Repeat):
        return None
    width, high = all_widths(loop.body)[id(loop.body)]
    if width != high or width == 0:
        return None
    least = max(loop.minimum, -((fixed - minimum) // width))
    most = loop.maximum
    if maximum is not None:
        room = (maximum - fixed) // width
        most = room if most is None else min(most, room)
    if most is not None and most < least:
        return NOTHING
    return concat([*items[:at], Repeat(loop.body, least, most, loop.lazy), *items[at + 1 :]])
