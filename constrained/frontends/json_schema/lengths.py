r"""A bound on the length of a match, moved into the pattern: ``^[a-z]\w*$`` of at most 64 is ``[a-z]\w{0,63}``.

It works where the lengths of a pattern are decided in one place: every part has one width, except one repetition of
a body that has one width. An alternation works where each option does. Everything else is left to automata.
"""

from __future__ import annotations

from constrained.regex.builder import alternation, concat
from constrained.regex.rewrite import is_nothing
from constrained.regex.syntax import NOTHING, Alternation, Concat, Node, Repeat
from constrained.regex.width import all_widths

__all__ = ["with_lengths"]

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
    # Neighbours that repeat the same characters are one repetition: ``a+a*``.
    if len(varying) > 1 or not isinstance(loop, Repeat):
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
