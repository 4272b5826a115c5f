r"""Terminals as trees: read in Python's dialect, checked to mean the same wherever they stand in a text.

``re.match(text, position)`` shows a look-behind, ``^`` or ``\b`` at the start of a terminal the text *before* it; such
terminals are refused by name, as are the constructs that are not regular. Everything else a terminal says is about what
it reads and what follows, and ``constrained.regex.scan`` takes it as it is.
"""

from __future__ import annotations

import re
from typing import NoReturn

from constrained.errors import GrammarLimitError, RegexError
from constrained.limits import Limits
from constrained.regex.parse_python import parse_python
from constrained.regex.syntax import (
    EMPTY,
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
)
from constrained.regex.width import all_widths

from ..text import Source
from .load import Terminal, fail

__all__ = ["looks_ahead", "plain_texts", "relaxed", "terminal_tree"]

_AHEAD_ONLY = frozenset((AnchorKind.END, AnchorKind.END_OR_LAST_NEWLINE, AnchorKind.LINE_END))


def terminal_tree(terminal: Terminal, source: Source, limits: Limits) -> Node:
    """The tree of a terminal. Raises Unsupported, naming it and the place in its pattern."""
    if terminal.literal is not None:
        return Text(terminal.literal)
    prefix = "(?:"  # a flag for the whole pattern is an error inside a lexer's pattern, so it is one here
    try:
        tree = parse_python(f"{prefix}{terminal.pattern})", limits)
    except RegexError as error:
        position = error.position - len(prefix)
        refuse(terminal, source, f"{str(error).split(' at position')[0]}, at position {position} of "
                                 f"/{terminal.pattern[:80]}/", error.hint)
    except GrammarLimitError as error:
        raise GrammarLimitError(error.limit, error.value, f"terminal {terminal.shown} is too large") from None
    _check_reach(tree, terminal, source)
    return tree


def refuse(terminal: Terminal, source: Source, why: str, hint: str | None = None) -> NoReturn:
    """Raises Unsupported for a terminal."""
    name = "" if terminal.name.startswith("__") else terminal.name
    fail(source, name, f"terminal {terminal.shown}: {why}", hint=hint, unsupported=True)


def _check_reach(root: Node, terminal: Terminal, source: Source) -> None:
    """Every look-behind must see only what the terminal itself has read."""
    widths: dict[int, tuple[int, int | None]] = {}
    stack: list[Node] = [root]
    while stack:  # the insides of look-arounds too
        top = stack.pop()
        widths.update(all_widths(top))
        for node in _inside(top):
            if isinstance(node, (Look, Atomic)):
                stack.append(node.body)
    places: list[tuple[Node, int]] = [(root, 0)]
    while places:
        node, read = places.pop()
        if isinstance(node, Concat):
            for item in node.items:
                places.append((item, read))
                read += widths[id(item)][0]
        elif isinstance(node, Anchor) and node.kind not in _AHEAD_ONLY:
            if read == 0:
                refuse(terminal, source, f"what it asserts at position {max(node.position - 3, 0)} ({node.kind.value}) "
                                         "is about the text before the terminal", "begin the terminal without it")
        elif isinstance(node, Look) and not node.ahead:
            width = widths[id(node.body)][1]
            if width is None or width > read:
                refuse(terminal, source, f"its look-behind at position {max(node.position - 3, 0)} may reach back "
                                         "before the start of the terminal",
                       "read the characters in the terminal first")
            places.append((node.body, 0))
        else:
            places.extend((child, read) for child in children(node))


def _inside(root: Node) -> list[Node]:
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, (Look, Atomic)) or node is root:
            stack.extend(children(node))
    return found


def looks_ahead(root: Node) -> bool:
    """Whether what follows the terminal may matter for it, beyond the preference for one match."""
    stack = [root]
    while stack:
        node = stack.pop()
        if (isinstance(node, Look) and node.ahead) or isinstance(node, Anchor):
            return True
        stack.extend(children(node))
    return False


def relaxed(root: Node) -> Node:
    """A tree that matches at least what ``root`` does: without its assertions."""
    done: list[Node] = []
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if isinstance(node, (Text, CharSet)):
            done.append(node)
        elif isinstance(node, (Look, Anchor)):
            done.append(EMPTY)
        elif not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
        else:
            count = len(children(node))
            parts = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            if isinstance(node, Concat):
                done.append(Concat(parts))
            elif isinstance(node, Alternation):
                done.append(Alternation(parts))
            elif isinstance(node, Repeat):
                done.append(Repeat(parts[0], node.minimum, node.maximum))
            else:
                done.append(parts[0])
    return done[0]


def plain_texts(terminal: Terminal, tree: Node) -> list[CharSet] | None:
    """A string terminal as one set of characters after the other; None for a regex."""
    if not terminal.is_string:
        return None
    found: list[CharSet] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Concat):
            stack.extend(reversed(node.items))
        elif isinstance(node, Text):
            found += [CharSet(((ord(char), ord(char)),)) for char in node.chars]
        else:
            assert isinstance(node, CharSet), re.escape(terminal.value)
            found.append(node)
    return found
