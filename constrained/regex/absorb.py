# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
r"""What any text beside it makes needless: ``.*[a-z]{1,99}`` found anywhere is ``[a-z]`` found anywhere.

Where any text may stand beside a part, the part need only say what it asks for at least: of a counted repetition the
least count, of an optional part nothing, of options those that another one is part of. For ``A S`` with S = any text
this is: if A may be empty it is S; if A = B C and C may be empty it is ``B S``; and so on inwards from the side of S.
A pattern with ``{1,1023}`` at an end would else be that many states of an automaton.

Trees are those of a search (``search_form``), simplified: S stands at the ends of the options. Parts with assertions
are left as they are. Cost: linear in what is looked at, the ends; equal trees come back as they are.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.regex.builder import alternation, concat
    from cython.cimports.constrained.regex.rewrite import has_assertions, is_any_text
    from cython.cimports.constrained.regex.syntax import Node, Repeat, Text
    from cython.cimports.constrained.regex.width import may_be_empty
else:
    from constrained.regex.builder import alternation, concat
    from constrained.regex.rewrite import has_assertions, is_any_text
    from constrained.regex.syntax import Node, Repeat, Text
    from constrained.regex.width import may_be_empty

__all__ = ["absorbed"]

TEXT = cython.declare(cython.int, 0)
CONCAT = cython.declare(cython.int, 2)
ALTERNATION = cython.declare(cython.int, 3)
REPEAT = cython.declare(cython.int, 4)

#: Groups inside each other that are looked into; deeper ones stay as they are.
_DEPTH = cython.declare(cython.int, 40)


@cython.ccall
def absorbed(tree: Node) -> Node:
    """An equal tree in which nothing beside any text asks for more than it must."""
    option: Node
    new: Node
    changed: cython.bint = False
    found: list = []
    if tree.tag != ALTERNATION:
        return _option(tree)
    for option in tree.parts:
        new = _option(option)
        if is_any_text(new):
            return new
        changed = changed or new is not option
        found.append(new)
    return alternation(found) if changed else tree


@cython.cfunc
def _option(tree: Node) -> Node:
    items: tuple = tree.parts
    size: cython.Py_ssize_t = len(items)
    left: cython.bint
    right: cython.bint
    changed: cython.bint = False
    inside: list
    if tree.tag != CONCAT or size < 2:
        return tree
    left, right = is_any_text(items[0]), is_any_text(items[size - 1])
    if not (left or right) or has_assertions(tree):
        return tree
    inside = list(items[left : size - right])
    if right:
        parts = _least_parts(inside, True)
        if parts is None:  # any text is enough
            return items[0] if left else items[size - 1]
        changed = parts is not inside
        inside = parts
    if left:
        parts = _least_parts(inside, False)
        if parts is None:
            return items[0]
        changed = changed or parts is not inside
        inside = parts
    if not changed:
        return tree
    return concat([*items[:left], *inside, *items[size - right :]])


@cython.cfunc
def _least_parts(inside: list, right: cython.bint):
    """``_least`` of a sequence, as a list: the same one where nothing changes."""
    i: cython.Py_ssize_t
    new: Node = _least(concat(inside), right, 0)
    parts: list
    if new is None:
        return None
    parts = list(new.parts) if new.tag == CONCAT else [new]
    if len(parts) != len(inside):
        return parts
    for i in range(len(parts)):
        if not _same(parts[i], inside[i]):
            return parts
    return inside


@cython.cfunc
def _least(node: Node, right: cython.bint, depth: cython.int) -> Node:
    """What of ``node`` must stand where any text is on its right (else left) side; None: nothing.

    ``node`` has no assertions. Calls nest ``_DEPTH`` deep at most.
    """
    last: Node
    option: Node
    body: Node
    loop: Repeat
    at: cython.Py_ssize_t
    if node.tag < CONCAT:
        return node
    if may_be_empty(node):  # without assertions that is the empty text
        return None
    if depth == _DEPTH:
        return node
    if node.tag == CONCAT:
        items: list = list(node.parts)
        while items:
            at = len(items) - 1 if right else 0
            option = items[at]
            last = _least(option, right, depth + 1)
            if last is not None:
                if last is option and len(items) == len(node.parts):
                    return node
                items[at] = last
                return concat(items)
            del items[at]
        return None
    if node.tag == ALTERNATION:
        kept: list = []
        changed: cython.bint = False
        for option in node.parts:
            last = _least(option, right, depth + 1)
            if last is None:
                return None
            changed = changed or last is not option
            kept.append(last)
        return alternation(kept) if changed else node
    if node.tag == REPEAT:
        loop = cython.cast(Repeat, node)
        option = loop.parts[0]
        body = _least(option, right, depth + 1)  # not None, else the repetition may be empty
        if loop.minimum == 1:
            return body
        if body is option:
            return node if loop.maximum == loop.minimum else Repeat(option, loop.minimum, loop.minimum)
        others = option if loop.minimum == 2 else Repeat(option, loop.minimum - 1, loop.minimum - 1)
        return concat([others, body] if right else [body, others])
    return node


@cython.cfunc
@cython.exceptval(-1, check=False)
def _same(one: Node, other: Node) -> cython.bint:
    """Whether they are one node; joining makes runs of characters anew."""
    return one is other or (one.tag == TEXT and other.tag == TEXT
                            and cython.cast(Text, one).chars == cython.cast(Text, other).chars)
