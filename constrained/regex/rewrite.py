# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
r"""Equal trees with fewer assertions: anchors at the ends vanish, dead parts and needless atomic groups go.

Two passes, each with an explicit stack and linear in the tree (``search_form`` may copy the any-text node):

* ``search_form(tree)``: full-match form of a search. ``S X S`` with ``S`` = any text, pushed into
  alternatives so that ``^a|b$`` becomes ``a S | S b``: an anchor that meets ``S`` cancels it.
* ``simplify(tree)``: evaluates anchors whose place is known. A place is *surely the start* if only zero-width
  parts precede it, *surely not* if a character must; likewise the end. The end is only sure on the way to a
  full match, so inside atomic groups and look-arounds, where failing is felt at once, it counts as unknown.
  What is left of word boundaries is written out where that is simple (``boundaries``).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.regex.boundaries import boundaries_written_out
from constrained.regex.charset import ANY
from constrained.regex.syntax import EMPTY, NOTHING, AnchorKind

if cython.compiled:
    from cython.cimports.constrained.regex.builder import alternation, concat
    from cython.cimports.constrained.regex.charset import intersection
    from cython.cimports.constrained.regex.syntax import (
        Alternation,
        Anchor,
        Atomic,
        CharSet,
        Concat,
        Look,
        Node,
        Repeat,
        Text,
    )
    from cython.cimports.constrained.regex.width import all_widths
else:
    from constrained.regex.builder import alternation, concat
    from constrained.regex.charset import intersection
    from constrained.regex.syntax import Alternation, Anchor, Atomic, CharSet, Concat, Look, Node, Repeat, Text
    from constrained.regex.width import all_widths

__all__ = ["has_assertions", "is_any_text", "is_nothing", "looks_back", "search_form", "simplify"]

TEXT = cython.declare(cython.int, 0)
CHARS = cython.declare(cython.int, 1)
CONCAT = cython.declare(cython.int, 2)
ALTERNATION = cython.declare(cython.int, 3)
REPEAT = cython.declare(cython.int, 4)
ANCHOR = cython.declare(cython.int, 5)
LOOK = cython.declare(cython.int, 6)

_START, _END = AnchorKind.START, AnchorKind.END
_ONLY_AHEAD = frozenset((AnchorKind.END, AnchorKind.END_OR_LAST_NEWLINE, AnchorKind.LINE_END))

_ANY_TEXT = Repeat(CharSet(ANY), 0, None)


@cython.ccall
@cython.exceptval(-1, check=False)
def has_assertions(root: Node) -> cython.bint:
    """Whether anything in ``root`` is more than characters, order, choice and repetition."""
    node: Node
    stack: list = [root]
    while stack:
        node = stack.pop()
        if node.tag >= ANCHOR:
            return True
        for part in node.parts:
            if cython.cast(Node, part).tag > CHARS:
                stack.append(part)
    return False


def looks_back(root: Node) -> bool:
    """Whether an assertion in ``root`` asks about what came before ``root``."""
    node: Node
    stack: list = [root]
    while stack:
        node = stack.pop()
        if node.tag == ANCHOR and cython.cast(Anchor, node).kind not in _ONLY_AHEAD:
            return True
        if node.tag == LOOK and not cython.cast(Look, node).ahead:
            return True
        stack.extend(node.parts)
    return False


@cython.ccall
@cython.exceptval(-1, check=False)
def is_nothing(node: Node) -> cython.bint:
    """Whether ``node`` is the pattern that matches nothing, in its simplified form."""
    return node.tag == CHARS and len(cython.cast(CharSet, node).ranges) == 0


@cython.ccall
@cython.exceptval(-1, check=False)
def is_any_text(node: Node) -> cython.bint:
    """Whether ``node`` is the pattern that matches every text, in its simplified form."""
    loop: Repeat
    body: Node
    if node.tag != REPEAT:
        return False
    loop = cython.cast(Repeat, node)
    body = loop.parts[0]
    return loop.minimum == 0 and loop.maximum is None and body.tag == CHARS and (
        cython.cast(CharSet, body).ranges == ANY)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_empty(node: Node) -> cython.bint:
    return node.tag == CONCAT and len(node.parts) == 0


# -- search ---------------------------------------------------------------------------------------------------


@cython.ccall
def search_form(root: Node) -> Node:
    """The tree whose full matches are the texts in which ``root`` is found."""
    items: tuple = root.parts if root.tag == CONCAT else (root,)
    size: cython.Py_ssize_t = len(items)
    node: Node
    left: cython.bint
    right: cython.bint
    ready: cython.bint
    i: cython.Py_ssize_t
    starts: cython.bint = size > 0 and _is_anchor(items[0], _START)
    ends: cython.bint = size > 1 and _is_anchor(items[size - 1], _END)
    inside: list = list(items[starts : size - ends])
    for node in inside:
        if node.tag > CHARS and has_assertions(node):
            break
    else:
        return _wrap(_flat(inside), not starts, not ends)
    anchored: set = _holders_of_anchors(root)
    done: list = []
    stack: list = [(root, True, True, False)]
    while stack:
        node, left, right, ready = cython.cast(tuple, stack.pop())
        if not ready:
            if not (left or right) or id(node) not in anchored:
                done.append(_wrap(node, left, right))
            elif node.tag == ANCHOR:
                done.append(_meet(cython.cast(Anchor, node), left, right))
            elif node.tag == CONCAT:
                node = _start_first(cython.cast(Concat, node))
                stack.append((node, left, right, True))
                size = len(node.parts)
                for i in range(size - 1, -1, -1):
                    stack.append((node.parts[i], left and i == 0, right and i == size - 1, False))
            elif node.tag == ALTERNATION:
                # Options without anchors stay together: one any-text before and behind them, not one for each,
                # whose combinations an automaton would tell apart.
                free: list = [option for option in node.parts if id(option) not in anchored]
                if len(free) > 1:
                    held: list = [option for option in node.parts if id(option) in anchored]
                    held.append(alternation(free))
                    node = Alternation(tuple(held))
                stack.append((node, left, right, True))
                for option in reversed(node.parts):
                    stack.append((option, left, right, False))
            elif node.tag == REPEAT and cython.cast(Repeat, node).maximum == 1:
                stack.append((node, left, right, True))
                stack.append((node.parts[0], left, right, False))
            else:
                done.append(_wrap(node, left, right))
        elif node.tag == REPEAT:
            if cython.cast(Repeat, node).minimum != 1:
                done.append(alternation([done.pop(), _ANY_TEXT]))
        else:
            size = len(done) - len(node.parts)
            parts: list = done[size:]
            del done[size:]
            done.append(_flat(parts) if node.tag == CONCAT else alternation(parts))
    return done[0]


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_anchor(node: Node, kind) -> cython.bint:
    return node.tag == ANCHOR and cython.cast(Anchor, node).kind is kind


@cython.cfunc
def _flat(parts: list) -> Node:
    """All in order, without sequences inside and what is empty."""
    node: Node
    flat: list
    for node in parts:
        if node.tag == CONCAT:
            break
    else:
        return concat(parts)
    flat = []
    for node in parts:
        if node.tag == CONCAT:
            flat.extend(node.parts)
        else:
            flat.append(node)
    return concat(flat)


@cython.cfunc
def _start_first(node: Concat) -> Concat:
    """The same with an anchor to the start before the other tests at its place: ``(?=a)^`` is ``^(?=a)``."""
    items: list = list(node.parts)
    at: cython.Py_ssize_t = 0
    item: Node
    while at < len(items):
        item = items[at]
        if item.tag == CONCAT:
            items[at : at + 1] = item.parts
        elif _is_anchor(item, _START):
            return Concat((item, *items[:at], *items[at + 1 :])) if at else node
        elif item.tag == ANCHOR or item.tag == LOOK:
            at += 1
        else:
            break
    return node


@cython.cfunc
def _holders_of_anchors(root: Node) -> set:
    """Ids of all nodes that hold a START or END anchor outside look-arounds, atomic groups and loops."""
    order: list = []
    stack: list = [root]
    found: set = set()
    node: Node
    while stack:
        node = stack.pop()
        order.append(node)
        if node.tag == CONCAT or node.tag == ALTERNATION or (
                node.tag == REPEAT and cython.cast(Repeat, node).maximum == 1):
            stack.extend(node.parts)
    while order:
        node = order.pop()
        if node.tag == ANCHOR:
            if _is_anchor(node, _START) or _is_anchor(node, _END):
                found.add(id(node))
        else:
            for part in node.parts:
                if id(part) in found:
                    found.add(id(node))
                    break
    return found


@cython.cfunc
def _wrap(node: Node, left: cython.bint, right: cython.bint) -> Node:
    parts: list
    if not (left or right):
        return node
    if _is_empty(node):
        return _ANY_TEXT
    parts = [_ANY_TEXT] if left else []
    if node.tag == CONCAT:
        parts.extend(node.parts)
    else:
        parts.append(node)
    if right:
        parts.append(_ANY_TEXT)
    return concat(parts)


@cython.cfunc
def _meet(anchor: Anchor, left: cython.bint, right: cython.bint) -> Node:
    """Any text, ``anchor``, any text: the anchor says that one of the two is empty."""
    if anchor.kind is _START and left:
        return _ANY_TEXT if right else EMPTY
    if anchor.kind is _END and right:
        return _ANY_TEXT if left else EMPTY
    return _wrap(anchor, left, right)


# -- simplification -----------------------------------------------------------------------------------------------

# What is known of a place: surely at the start (or end), surely not, or unknown (None).


@cython.ccall
def simplify(root: Node) -> Node:
    """``root`` without what does not matter; as the whole of a full match."""
    node: Node
    ready: cython.bint
    size: cython.Py_ssize_t
    if _is_simple(root):
        return root
    widths: dict = {}
    waiting: list = [root]
    while waiting:
        node = waiting.pop()
        if node.tag == LOOK:
            widths.update(all_widths(node.parts[0]))
        waiting.extend(node.parts)
    widths.update(all_widths(root))
    done: list = []
    stack: list = [(root, True, True, False)]
    while stack:
        node, start, end, ready = cython.cast(tuple, stack.pop())
        if node.tag <= CHARS:
            done.append(node)
        elif node.tag == ANCHOR:
            done.append(_evaluate(cython.cast(Anchor, node), start, end))
        elif not ready:
            stack.append((node, start, end, True))
            _ask_parts(stack, node, start, end, widths)
        else:
            size = len(done) - len(node.parts)
            parts: list = done[size:]
            del done[size:]
            done.append(_rebuild(node, parts, end, widths[id(node)]))
    return boundaries_written_out(done[0])


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_simple(root: Node) -> cython.bint:
    """Whether nothing in ``root`` is left to simplify."""
    node: Node
    loop: Repeat
    stack: list = [root]
    while stack:
        node = stack.pop()
        if node.tag == TEXT:
            continue
        if node.tag == CHARS:
            if len(cython.cast(CharSet, node).ranges) == 0:
                return False
            continue
        if node.tag >= ANCHOR or (node.tag == CONCAT and len(node.parts) == 0):
            return False
        if node.tag == REPEAT:
            loop = cython.cast(Repeat, node)
            if loop.maximum == 0 or (loop.maximum == 1 and loop.minimum == 1):
                return False
        stack.extend(node.parts)
    return True


@cython.cfunc
def _evaluate(anchor: Anchor, start, end) -> Node:
    kind = anchor.kind
    if (kind is _START or kind is AnchorKind.LINE_START) and start:
        return EMPTY
    if kind is _START and start is False:
        return NOTHING
    if end and (kind is _END or kind is AnchorKind.END_OR_LAST_NEWLINE or kind is AnchorKind.LINE_END):
        return EMPTY
    if kind is _END and end is False:
        return NOTHING
    return anchor


@cython.cfunc
@cython.exceptval(-1, check=False)
def _ask_parts(stack: list, node: Node, start, end, widths: dict) -> cython.int:
    """Put the parts of ``node`` on the stack with what is known of their places, the last one first."""
    i: cython.Py_ssize_t
    loop: Repeat
    if node.tag == CONCAT:
        each: list = [widths[id(item)] for item in node.parts]
        starts: list = _places(each, start)
        each.reverse()
        ends: list = _places(each, end)
        ends.reverse()
        for i in range(len(node.parts) - 1, -1, -1):
            stack.append((node.parts[i], starts[i], ends[i], False))
    elif node.tag == ALTERNATION:
        for i in range(len(node.parts) - 1, -1, -1):
            stack.append((node.parts[i], start, end, False))
    elif node.tag == REPEAT:
        loop = cython.cast(Repeat, node)
        if loop.maximum is None or loop.maximum > 1:
            # A later round may come after an empty or a long one; only "not at the start" holds for all.
            start, end = start and None, end and None
        stack.append((node.parts[0], start, end, False))
    elif node.tag == LOOK:
        stack.append((node.parts[0], start if cython.cast(Look, node).ahead else None, None, False))
    else:
        stack.append((node.parts[0], start, None, False))
    return 0


@cython.cfunc
def _places(widths: list, first) -> list:
    places: list = []
    place = first
    pair: tuple
    for pair in widths:
        places.append(place)
        if pair[0]:
            place = False
        elif pair[1] != 0:
            place = place and None
    return places


@cython.cfunc
def _rebuild(node: Node, parts: list, end, width: tuple) -> Node:
    """``node`` with its children replaced by ``parts``, made smaller where that changes nothing."""
    part: Node
    body: Node
    loop: Repeat
    look: Look
    i: cython.Py_ssize_t
    if node.tag == CONCAT:
        flat: list = []
        for part in parts:
            if is_nothing(part):
                return NOTHING
            if part.tag == CONCAT:
                flat.extend(part.parts)
            else:
                flat.append(part)
        for i in range(len(flat) - 1):
            flat[i] = _released(flat[i], flat[i + 1])
        return concat(flat)
    if node.tag == ALTERNATION:
        kept: list = [part for part in parts if not is_nothing(part)]
        return alternation(kept) if kept else NOTHING
    body = parts[0]
    if node.tag == REPEAT:
        loop = cython.cast(Repeat, node)
        if loop.maximum == 0 or _is_empty(body) or (is_nothing(body) and loop.minimum == 0):
            return EMPTY
        if is_nothing(body) or (loop.minimum == 1 and loop.maximum == 1):
            return body
        return Repeat(body, loop.minimum, loop.maximum, loop.lazy)
    if node.tag == LOOK:
        look = cython.cast(Look, node)
        if is_nothing(body):
            return EMPTY if look.negative else NOTHING
        if _is_empty(body):
            return NOTHING if look.negative else EMPTY
        return Look(body, look.ahead, look.negative, look.position)
    # With one width there is one match only; at the end of the text the greatest match is the one.
    if is_nothing(body) or width[0] == width[1] or (end and _greedy_set(body) is not None):
        return body
    return Atomic(body, cython.cast(Atomic, node).position)


@cython.cfunc
def _released(node: Node, following: Node) -> Node:
    """The body of an atomic group that gives nothing back anyway: all it takes, ``following`` cannot begin with."""
    body: Node
    if node.tag <= LOOK:
        return node
    body = node.parts[0]
    members, first = _greedy_set(body), _first(following)
    return body if members is not None and first is not None and not intersection(members, first) else node


@cython.cfunc
def _greedy_set(node: Node):
    """The set that ``node`` repeats greedily without end, if it is just that."""
    if node.tag == REPEAT and cython.cast(Repeat, node).maximum is None and not cython.cast(Repeat, node).lazy:
        return _leaf(node.parts[0])
    return None


@cython.cfunc
def _first(node: Node):
    """The characters one of which every match of ``node`` begins with; None where unknown or possibly none."""
    if node.tag == TEXT:
        code = ord(cython.cast(Text, node).chars[0])
        return ((code, code),)
    if node.tag == REPEAT and cython.cast(Repeat, node).minimum:
        return _leaf(node.parts[0])
    return _leaf(node)


@cython.cfunc
def _leaf(node: Node):
    """The characters of a node that is one character."""
    if node.tag == TEXT and len(cython.cast(Text, node).chars) == 1:
        code = ord(cython.cast(Text, node).chars)
        return ((code, code),)
    return cython.cast(CharSet, node).ranges if node.tag == CHARS else None
