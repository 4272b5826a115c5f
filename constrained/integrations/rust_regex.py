"""A grammar without recursion as one pattern of Rust's ``regex`` syntax, the notation that outlines-core reads.

Going through the IR instead of handing a pattern over keeps this library's meaning: full match, Python's or
ECMA's classes and escapes, EBNF rules. Characters are written by number, so nothing depends on flags.

What cannot be said there is refused: recursion, bytes that are no UTF-8, token references, automata (look-around,
text until a stop).
"""

from __future__ import annotations

from typing import NamedTuple

from constrained.errors import GrammarError, GrammarLimitError, UnsatisfiableGrammarError, echo
from constrained.grammar.ir import (
    CharClass,
    Choice,
    Expr,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    children,
)

__all__ = ["RustRegex", "to_rust_regex"]

MAX_PATTERN = 1_000_000
"""Characters of the written pattern: rules are written out wherever they are used."""


class RustRegex(NamedTuple):
    """``pattern`` matches the grammar's texts without the empty one, anchored at its end; ``empty``: that one too.

    ``positions``: how many characters the pattern can stand at once repetitions are written out, which bounds the
    states of its automaton from below in practice. ``used``: the bytes that occur in the texts.
    """

    pattern: str
    empty: bool
    positions: int
    used: frozenset[int]


class Part(NamedTuple):
    """A written sub-expression: ``text`` with, ``solid`` without the empty text (None: nothing is left)."""

    text: str | None  # None: nothing matches
    solid: str | None
    empty: bool
    positions: int


NOTHING = Part(None, None, False, 0)
EMPTY = Part("", None, True, 0)


def to_rust_regex(grammar: RuleSet, max_positions: int, limit_name: str = "max_walk_nodes",
                  limit_value: int = 0) -> RustRegex:
    """The pattern of ``grammar``.

    Raises GrammarError where the grammar is not regular or cannot be written, UnsatisfiableGrammarError where no
    text fits, GrammarLimitError where it has more than ``max_positions`` positions.
    """
    used: set[int] = set()
    rules: dict[str, Part] = {}
    active: set[str] = set()
    done: list[Part] = []
    stack: list[tuple[Expr | str, bool]] = [(grammar.root, False)]
    while stack:
        node, ready = stack.pop()
        if isinstance(node, str):  # a rule: enter it, or leave it
            if ready:
                active.discard(node)
                rules[node] = done[-1]
            else:
                active.add(node)
                stack += [(node, True), (grammar.rules[node], False)]
            continue
        if isinstance(node, Reference):
            if node.name in active:
                raise GrammarError(f"rule {echo(node.name)} contains itself: outlines-core runs regular grammars only")
            if node.name in rules:
                done.append(rules[node.name])
            else:
                stack.append((node.name, False))
            continue
        if not ready and children(node):
            stack.append((node, True))
            stack += [(child, False) for child in reversed(children(node))]
            continue
        count = len(children(node))
        parts = done[len(done) - count :]
        del done[len(done) - count :]
        part = _write(node, parts, used)
        if part.positions > max_positions:
            raise GrammarLimitError(limit_name, limit_value or max_positions,
                                    f"the grammar has over {max_positions} positions once its repetitions are "
                                    "written out, as outlines-core does")
        if max(len(part.text or ""), len(part.solid or "")) > MAX_PATTERN:
            raise GrammarError(f"written out for outlines-core the grammar has over {MAX_PATTERN} characters")
        done.append(part)
    root = done.pop()
    if root.text is None:
        raise UnsatisfiableGrammarError("no text fits the grammar")
    return RustRegex("" if root.solid is None else f"(?:{root.solid})\\z", root.empty, root.positions, frozenset(used))


def _write(node: Expr, parts: list[Part], used: set[int]) -> Part:
    if isinstance(node, Literal):
        try:
            text = "".join(f"\\x{{{ord(char):x}}}" for char in node.data.decode())
        except UnicodeDecodeError:
            raise GrammarError(f"{echo(node.data)} is no UTF-8: outlines-core matches whole characters only") from None
        used.update(node.data)
        return Part(text, text, False, len(node.data)) if text else EMPTY
    if isinstance(node, CharClass):
        if not node.ranges:
            return NOTHING
        for first, last in node.ranges:
            used.update(_bytes_of_range(first, last))
        text = "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in node.ranges) + "]"
        return Part(text, text, False, 1)
    if isinstance(node, Sequence):
        return _sequence(parts)
    if isinstance(node, Choice):
        return _choice(parts)
    if isinstance(node, Repeat):
        return _repeat(parts[0], node.minimum, node.maximum)
    raise GrammarError(f"{type(node).__name__} has no counterpart in outlines-core's patterns")


def _sequence(parts: list[Part]) -> Part:
    if any(part.text is None for part in parts):
        return NOTHING
    texts = [part.text or "" for part in parts]
    empty = all(part.empty for part in parts)
    text = "".join(texts)
    if not empty:
        solid: str | None = text
    else:  # the first part that is not empty, then the rest as it is
        options = [part.solid + "".join(texts[i + 1 :]) for i, part in enumerate(parts) if part.solid is not None]
        solid = _either(options)
    return Part(text, solid, empty, sum(part.positions for part in parts))


def _choice(parts: list[Part]) -> Part:
    possible = [part for part in parts if part.text is not None]
    if not possible:
        return NOTHING
    return Part(_either([part.text or "" for part in possible]),
                _either([part.solid for part in possible if part.solid is not None]),
                any(part.empty for part in possible), sum(part.positions for part in possible))


def _repeat(body: Part, minimum: int, maximum: int | None) -> Part:
    if maximum == 0 or body.text is None:
        return EMPTY if minimum == 0 else NOTHING
    if body.solid is None:
        return EMPTY
    least = 0 if body.empty else minimum
    upper = "" if maximum is None else str(maximum)
    positions = body.positions * (maximum if maximum is not None else max(minimum, 1))
    text = f"(?:{body.solid}){{{least},{upper}}}"
    solid = f"(?:{body.solid}){{{max(least, 1)},{upper}}}"
    return Part(text, solid, least == 0, positions)


def _either(options: list[str]) -> str | None:
    if not options:
        return None
    return options[0] if len(options) == 1 else "(?:" + "|".join(options) + ")"


def _bytes_of_range(first: int, last: int) -> set[int]:
    """The bytes that occur in the UTF-8 of the code points from ``first`` to ``last`` (no surrogates among them)."""
    found: set[int] = set()
    for low, high in ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)):
        start, end = max(first, low), min(last, high)
        if start > end:
            continue
        begin, finish = chr(start).encode(), chr(end).encode()
        fixed = True  # all bytes so far are the same for the whole range
        for a, b in zip(begin, finish, strict=True):
            found.update(range(a, b + 1) if fixed else range(0x80, 0xC0))
            fixed = fixed and a == b
    return found
