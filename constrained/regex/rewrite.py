r"""Equal trees with fewer assertions: anchors at the ends vanish, dead parts and needless atomic groups go.

Two passes, each with an explicit stack and linear in the tree (``search_form`` may copy the any-text node):

* ``search_form(tree)``: full-match form of a search. ``S X S`` with ``S`` = any text, pushed into
  alternatives so that ``^a|b$`` becomes ``a S | S b``: an anchor that meets ``S`` cancels it.
* ``simplify(tree)``: evaluates anchors whose place is known. A place is *surely the start* if only zero-width
  parts precede it, *surely not* if a character must; likewise the end. The end is only sure on the way to a
  full match, so inside atomic groups and look-arounds, where failing is felt at once, it counts as unknown.
"""

from __future__ import annotations

from constrained.regex.builder import alternation, concat
from constrained.regex.charset import ANY, Ranges, intersection
from constrained.regex.syntax import (
    EMPTY,
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
from constrained.regex.width import Width, all_widths

__all__ = ["has_assertions", "is_any_text", "is_nothing", "looks_back", "search_form", "simplify"]

_ONLY_AHEAD = frozenset((AnchorKind.END, AnchorKind.END_OR_LAST_NEWLINE, AnchorKind.LINE_END))

_ANY_TEXT = Repeat(CharSet(ANY), 0, None)


def has_assertions(root: Node) -> bool:
    """Whether anything in ``root`` is more than characters, order, choice and repetition."""
    for node in walk(root):  # noqa: SIM110 - a generator in ``any`` takes twice the time
        if isinstance(node, (Anchor, Look, Atomic)):
            return True
    return False


def looks_back(root: Node) -> bool:
    """Whether an assertion in ``root`` asks about what came before ``root``."""
    return any((isinstance(node, Look) and not node.ahead)
               or (isinstance(node, Anchor) and node.kind not in _ONLY_AHEAD) for node in walk(root))


def is_nothing(node: Node) -> bool:
    """Whether ``node`` is the pattern that matches nothing, in its simplified form."""
    return isinstance(node, CharSet) and not node.ranges


def is_any_text(node: Node) -> bool:
    """Whether ``node`` is the pattern that matches every text, in its simplified form."""
    return isinstance(node, Repeat) and node.minimum == 0 and node.maximum is None and (
        isinstance(node.body, CharSet) and node.body.ranges == ANY)


def _is_empty(node: Node) -> bool:
    return isinstance(node, Concat) and not node.items


# -- search ---------------------------------------------------------------------------------------------------


def search_form(root: Node) -> Node:
    """The tree whose full matches are the texts in which ``root`` is found."""
    items = root.items if isinstance(root, Concat) else (root,)
    starts, ends = _is_anchor(items[:1], AnchorKind.START), _is_anchor(items[1:][-1:], AnchorKind.END)
    inside = list(items[starts : len(items) - ends])
    if not any(map(has_assertions, inside)):
        return _wrap(_flat(inside), not starts, not ends)
    anchored = _holders_of_anchors(root)
    done: list[Node] = []
    stack: list[tuple[Node, bool, bool, bool]] = [(root, True, True, False)]
    while stack:
        node, left, right, ready = stack.pop()
        if not ready:
            if not (left or right) or id(node) not in anchored:
                done.append(_wrap(node, left, right))
            elif isinstance(node, Anchor):
                done.append(_meet(node, left, right))
            elif isinstance(node, Concat):
                node = _start_first(node)
                stack.append((node, left, right, True))
                last = len(node.items) - 1
                stack.extend((item, left and i == 0, right and i == last, False)
                             for i, item in reversed(list(enumerate(node.items))))
            elif isinstance(node, Alternation):
                # Options without anchors stay together: one any-text before and behind them, not one for each,
                # whose combinations an automaton would tell apart.
                free = [option for option in node.options if id(option) not in anchored]
                if len(free) > 1:
                    held = [option for option in node.options if id(option) in anchored]
                    node = Alternation((*held, alternation(free)))
                stack.append((node, left, right, True))
                stack.extend((option, left, right, False) for option in reversed(node.options))
            elif isinstance(node, Repeat) and node.maximum == 1:
                stack.append((node, left, right, True))
                stack.append((node.body, left, right, False))
            else:
                done.append(_wrap(node, left, right))
        elif isinstance(node, Repeat):
            body = done.pop()
            done.append(body if node.minimum == 1 else alternation([body, _ANY_TEXT]))
        else:
            count = len(children(node))
            parts = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(_flat(parts) if isinstance(node, Concat) else alternation(parts))
    return done[0]


def _is_anchor(items: tuple[Node, ...], kind: AnchorKind) -> bool:
    return any(isinstance(item, Anchor) and item.kind is kind for item in items)


def _flat(parts: list[Node]) -> Node:
    """All in order, without sequences inside and what is empty."""
    if any(isinstance(part, Concat) for part in parts):
        parts = [item for part in parts for item in (part.items if isinstance(part, Concat) else (part,))]
    return concat(parts)


def _start_first(node: Concat) -> Concat:
    """The same with an anchor to the start before the other tests at its place: ``(?=a)^`` is ``^(?=a)``."""
    items = list(node.items)
    at = 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Concat):
            items[at : at + 1] = item.items
        elif isinstance(item, Anchor) and item.kind is AnchorKind.START:
            return Concat((item, *items[:at], *items[at + 1 :])) if at else node
        elif isinstance(item, (Anchor, Look)):
            at += 1
        else:
            break
    return node


def _holders_of_anchors(root: Node) -> set[int]:
    """Ids of all nodes that hold a START or END anchor outside look-arounds, atomic groups and loops."""
    order: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if isinstance(node, (Concat, Alternation)) or (isinstance(node, Repeat) and node.maximum == 1):
            stack.extend(children(node))
    found: set[int] = set()
    for node in reversed(order):
        if isinstance(node, Anchor):
            if node.kind in (AnchorKind.START, AnchorKind.END):
                found.add(id(node))
        elif any(id(child) in found for child in children(node)):
            found.add(id(node))
    return found


def _wrap(node: Node, left: bool, right: bool) -> Node:
    if not (left or right):
        return node
    if _is_empty(node):
        return _ANY_TEXT
    parts: list[Node] = list(node.items) if isinstance(node, Concat) else [node]
    return concat([_ANY_TEXT] * left + parts + [_ANY_TEXT] * right)


def _meet(anchor: Anchor, left: bool, right: bool) -> Node:
    """Any text, ``anchor``, any text: the anchor says that one of the two is empty."""
    if anchor.kind is AnchorKind.START and left:
        return _ANY_TEXT if right else EMPTY
    if anchor.kind is AnchorKind.END and right:
        return _ANY_TEXT if left else EMPTY
    return _wrap(anchor, left, right)


# -- simplification -----------------------------------------------------------------------------------------------

#: What is known of a place: surely at the start (or end), surely not, or unknown.
_Place = bool | None


def simplify(root: Node) -> Node:
    """``root`` without what does not matter; as the whole of a full match."""
    for node in walk(root):
        if not _is_plain(node):
            break
    else:
        return root
    widths: dict[int, Width] = {}
    for node in walk(root):
        if isinstance(node, Look):
            widths.update(all_widths(node.body))
    widths.update(all_widths(root))
    done: list[Node] = []
    stack: list[tuple[Node, _Place, _Place, bool]] = [(root, True, True, False)]
    while stack:
        node, start, end, ready = stack.pop()
        if isinstance(node, (Text, CharSet)):
            done.append(node)
        elif isinstance(node, Anchor):
            done.append(_evaluate(node, start, end))
        elif not ready:
            stack.append((node, start, end, True))
            stack.extend(_parts(node, start, end, widths))
        else:
            count = len(children(node))
            parts = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(_rebuild(node, parts, end, widths[id(node)]))
    return done[0]


def _is_plain(node: Node) -> bool:
    """Whether ``node`` itself leaves nothing to simplify."""
    if isinstance(node, Repeat):
        return node.maximum != 0 and (node.minimum, node.maximum) != (1, 1)
    if isinstance(node, CharSet):
        return bool(node.ranges)
    return isinstance(node, (Text, Alternation)) or (isinstance(node, Concat) and bool(node.items))


def _evaluate(anchor: Anchor, start: _Place, end: _Place) -> Node:
    kind = anchor.kind
    if kind in (AnchorKind.START, AnchorKind.LINE_START) and start:
        return EMPTY
    if kind is AnchorKind.START and start is False:
        return NOTHING
    if kind in (AnchorKind.END, AnchorKind.END_OR_LAST_NEWLINE, AnchorKind.LINE_END) and end:
        return EMPTY
    if kind is AnchorKind.END and end is False:
        return NOTHING
    return anchor


def _parts(node: Node, start: _Place, end: _Place,
           widths: dict[int, Width]) -> list[tuple[Node, _Place, _Place, bool]]:
    """The children of ``node`` with what is known of their places, last first."""
    if isinstance(node, Concat):
        each = [widths[id(item)] for item in node.items]
        starts, ends = _places(each, start), _places(each[::-1], end)[::-1]
        return [(item, s, e, False) for item, s, e in zip(node.items, starts, ends, strict=True)][::-1]
    if isinstance(node, Alternation):
        return [(option, start, end, False) for option in reversed(node.options)]
    if isinstance(node, Repeat):
        if node.maximum is None or node.maximum > 1:
            # A later round may come after an empty or a long one; only "not at the start" holds for all.
            start, end = start and None, end and None
        return [(node.body, start, end, False)]
    if isinstance(node, Look):
        return [(node.body, start if node.ahead else None, None, False)]
    assert isinstance(node, Atomic)
    return [(node.body, start, None, False)]


def _places(widths: list[Width], first: _Place) -> list[_Place]:
    places: list[_Place] = []
    place = first
    for low, high in widths:
        places.append(place)
        place = False if low else place if high == 0 else (place and None)
    return places


def _rebuild(node: Node, parts: list[Node], end: _Place, width: Width) -> Node:
    """``node`` with its children replaced by ``parts``, made smaller where that changes nothing."""
    if isinstance(node, Concat):
        if any(is_nothing(part) for part in parts):
            return NOTHING
        flat: list[Node] = []
        for part in parts:
            flat.extend(part.items if isinstance(part, Concat) else (part,))
        for i in range(len(flat) - 1):
            flat[i] = _released(flat[i], flat[i + 1])
        return concat(flat)
    if isinstance(node, Alternation):
        kept = [part for part in parts if not is_nothing(part)]
        return alternation(kept) if kept else NOTHING
    body = parts[0]
    if isinstance(node, Repeat):
        if node.maximum == 0 or _is_empty(body) or (is_nothing(body) and node.minimum == 0):
            return EMPTY
        if is_nothing(body) or (node.minimum == 1 and node.maximum == 1):
            return body
        return Repeat(body, node.minimum, node.maximum, node.lazy)
    if isinstance(node, Look):
        if is_nothing(body):
            return EMPTY if node.negative else NOTHING
        if _is_empty(body):
            return NOTHING if node.negative else EMPTY
        return Look(body, node.ahead, node.negative, node.position)
    assert isinstance(node, Atomic)
    # With one width there is one match only; at the end of the text the greatest match is the one.
    if is_nothing(body) or width[0] == width[1] or (end and _greedy_set(body) is not None):
        return body
    return Atomic(body, node.position)


def _released(node: Node, following: Node) -> Node:
    """The body of an atomic group that gives nothing back anyway: all it takes, ``following`` cannot begin with."""
    if not isinstance(node, Atomic):
        return node
    members, first = _greedy_set(node.body), _first(following)
    return node.body if members is not None and first is not None and not intersection(members, first) else node


def _greedy_set(node: Node) -> Ranges | None:
    """The set that ``node`` repeats greedily without end, if it is just that."""
    if isinstance(node, Repeat) and node.maximum is None and not node.lazy:
        return _leaf(node.body)
    return None


def _first(node: Node) -> Ranges | None:
    """The characters one of which every match of ``node`` begins with; None where unknown or possibly none."""
    if isinstance(node, Text):
        return ((ord(node.chars[0]), ord(node.chars[0])),)
    if isinstance(node, Repeat) and node.minimum:
        return _leaf(node.body)
    return _leaf(node)


def _leaf(node: Node) -> Ranges | None:
    """The characters of a node that is one character."""
    if isinstance(node, Text) and len(node.chars) == 1:
        return ((ord(node.chars), ord(node.chars)),)
    return node.ranges if isinstance(node, CharSet) else None
