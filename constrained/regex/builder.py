"""Grows a tree from left to right with an explicit stack of open groups; both dialects' parsers drive it.

A frame holds the finished options of its group and the items of the current one. ``quantify`` wraps the last
item. Invariants: ``depth`` never exceeds ``Limits.max_nesting``; runs of characters are joined when a sequence
closes; options that are single characters become one ``CharSet`` (which of them is preferred cannot matter:
they exclude each other). Cost: linear.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from constrained.errors import GrammarLimitError
from constrained.limits import Limits
from constrained.regex.charset import Ranges, normalise
from constrained.regex.syntax import Alternation, Atomic, CharSet, Concat, Look, Node, Repeat, Text

__all__ = ["Frame", "TreeBuilder", "alternation", "concat"]


@dataclass(slots=True)
class Frame:
    """One open group. ``kind``: "group", "atomic" or "look"; ``restore``: the flags after it."""

    kind: str
    position: int
    restore: int = 0
    ahead: bool = True
    negative: bool = False
    options: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)


def concat(items: list[Node]) -> Node:
    """``items`` in order: adjacent characters joined, a single item itself."""
    if len(items) == 1:
        return items[0]
    joined: list[Node] = []
    run: list[str] = []
    for item in items:
        if isinstance(item, Text):
            run.append(item.chars)
            continue
        if run:
            joined.append(Text("".join(run)))
            run = []
        joined.append(item)
    if run:
        joined.append(Text("".join(run)))
    return joined[0] if len(joined) == 1 else Concat(tuple(joined))


def alternation(options: list[Node]) -> Node:
    """Any of ``options``; single characters become one set."""
    if len(options) == 1:
        return options[0]
    pairs: list[tuple[int, int]] = []
    for option in options:
        if isinstance(option, CharSet):
            pairs.extend(option.ranges)
        elif isinstance(option, Text) and len(option.chars) == 1:
            pairs.append((ord(option.chars), ord(option.chars)))
        else:
            return Alternation(tuple(options))
    return CharSet(normalise(pairs))


class TreeBuilder:
    """The tree so far. ``last`` says what a quantifier would find: "", "atom", "anchor" or "repeat"."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stack: list[Frame] = [Frame("group", 0)]
        self.last = ""

    @property
    def depth(self) -> int:
        """Open groups."""
        return len(self.stack) - 1

    @property
    def top(self) -> Frame:
        """The innermost open group."""
        return self.stack[-1]

    def text(self, chars: str) -> None:
        """Adds characters; a quantifier binds the last one only if it was added alone."""
        self.top.items.append(Text(chars))
        self.last = "atom"

    def charset(self, ranges: Ranges) -> None:
        """Adds one character out of ``ranges``."""
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            self.top.items.append(Text(chr(ranges[0][0])))
        else:
            self.top.items.append(CharSet(ranges))
        self.last = "atom"

    def add(self, node: Node, last: str = "atom") -> None:
        """Adds ``node``."""
        self.top.items.append(node)
        self.last = last

    def quantify(self, minimum: int, maximum: int | None, mode: str, position: int) -> None:
        """Wraps the last item. ``mode``: "" greedy, "?" lazy, "+" possessive."""
        body = self.top.items.pop()
        largest = minimum if maximum is None else maximum
        if largest > self.limits.max_repeat:
            raise GrammarLimitError("max_repeat", self.limits.max_repeat,
                                    f"the repetition at position {position} counts to {_shown(largest)}")
        node: Node
        if mode == "+":
            # Python commits after every round and after the whole; the rounds matter only where a minimum
            # could otherwise be reached by giving one back.
            inner = Atomic(body, position) if minimum > 1 else body
            node = Atomic(Repeat(inner, minimum, maximum), position)
        else:
            node = Repeat(body, minimum, maximum, lazy=mode == "?")
        self.add(node, "repeat")

    def alternate(self) -> None:
        """Ends an option at ``|``."""
        self.top.options.append(concat(self.top.items))
        self.top.items = []
        self.last = ""

    def open(self, frame: Frame) -> None:
        """Enters a group."""
        if len(self.stack) > self.limits.max_nesting:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting,
                                    f"the groups at position {frame.position} nest too deep")
        self.stack.append(frame)
        self.last = ""

    def close(self) -> Frame:
        """Leaves the innermost group and adds it as one item to the one around it."""
        frame = self.stack.pop()
        body = self._body(frame)
        if frame.kind == "look":
            body = Look(body, frame.ahead, frame.negative, frame.position)
        elif frame.kind == "atomic":
            body = Atomic(body, frame.position)
        self.add(body)
        return frame

    def finish(self) -> Node:
        """The whole tree; every group must be closed."""
        return self._body(self.stack[0])

    @staticmethod
    def _body(frame: Frame) -> Node:
        last = concat(frame.items)
        return alternation([*frame.options, last]) if frame.options else last


def _shown(number: int) -> str:
    """``number`` in a message: huge ones by their size only."""
    return str(number) if number.bit_length() <= 64 else f"a number of {number.bit_length()} bits"
