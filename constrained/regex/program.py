"""A tree as a program of small instructions (K. Thompson, 1968), ready to be determinised.

Data: ``ops[pc]`` is one instruction; pc 0 is ``ACCEPT``, the end of every sub-program. There is one main
program and one sub-program for each look-around and atomic group, shared by all copies that unrolling a counted
repetition makes. Anchors become look-arounds here: ``\\b`` is "a word character before and none after, or the
reverse". Look-behinds are numbered so that one inside another comes first.

Cost: one instruction a character of the unrolled pattern, at most ``Limits.max_dfa_states`` times
``STEPS_PER_STATE``. Compiling keeps its own stack: the entry of what comes next is known before a node is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from constrained.errors import GrammarLimitError, RegexError
from constrained.limits import Limits
from constrained.regex.charset import ANY, Ranges, complement
from constrained.regex.partition import Partition, partition_of
from constrained.regex.rewrite import has_assertions
from constrained.regex.syntax import (
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
from constrained.regex.width import Width, all_widths

__all__ = ["ACCEPT", "AheadOp", "AtomicOp", "BehindOp", "CharOp", "EndOp", "Op", "Program", "SplitOp",
           "compile_program", "compile_scanner"]

ACCEPT = 0
STEPS_PER_STATE = 4
#: Look-arounds and atomic groups inside one another; the determiniser's calls nest as deep.
MAX_ASSERTION_DEPTH = 32


@dataclass(slots=True)
class CharOp:
    """Reads one character of ``ranges``. ``mask``: its classes, one bit each, once the partition is known."""

    ranges: Ranges
    next: int
    mask: int = 0


@dataclass(slots=True)
class SplitOp:
    """Goes on at any of ``targets``, the first preferred. No targets: fails."""

    targets: list[int]


@dataclass(slots=True)
class AheadOp:
    """Goes on if the sub-program at ``start`` matches some text from here (``negative``: none)."""

    start: int
    negative: bool
    next: int


@dataclass(slots=True)
class BehindOp:
    """Goes on if look-behind number ``index`` holds here (``negative``: does not)."""

    index: int
    negative: bool
    next: int


@dataclass(slots=True)
class AtomicOp:
    """Goes on after the preferred match of the sub-program at ``start``."""

    start: int
    next: int


@dataclass(slots=True)
class EndOp:
    """The end of pattern number ``index`` of a scanner: an ``ACCEPT`` that tells which pattern matched."""

    index: int


Op = CharOp | SplitOp | AheadOp | BehindOp | AtomicOp | EndOp | None


@dataclass(slots=True)
class Program:
    """``start`` begins the main program, ``behinds[i]`` the sub-program of look-behind i."""

    ops: list[Op]
    start: int
    behinds: list[int]
    partition: Partition


@dataclass(slots=True)
class _Compiler:
    limits: Limits
    pattern: str
    ops: list[Op] = field(default_factory=lambda: [None])
    behinds: list[int] = field(default_factory=list)
    #: Entry (or number, for a look-behind) of the sub-program of a node, by the node's id.
    shared: dict[int, int] = field(default_factory=dict)
    anchors: dict[tuple[AnchorKind, Ranges], Node] = field(default_factory=dict)

    def emit(self, op: Op) -> int:
        self.ops.append(op)
        if len(self.ops) > self.limits.max_dfa_states * STEPS_PER_STATE:
            raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                    "a pattern with assertions is too large, counted repetitions written out")
        return len(self.ops) - 1

    def expansion(self, anchor: Anchor) -> Node:
        key = (anchor.kind, anchor.chars)
        if key not in self.anchors:
            self.anchors[key] = _expand(anchor)
        return self.anchors[key]

    def compile(self, root: Node, end: int = ACCEPT) -> int:
        """The entry of ``root`` followed by ``end``."""
        ops = self.ops
        current = end
        # A task is (what, node, data); "node" compiles in front of ``current``, the others finish one.
        stack: list[tuple[str, Node, list[int]]] = [("node", root, [])]
        while stack:
            what, node, data = stack.pop()
            if what == "node":
                if isinstance(node, Text):
                    for char in reversed(node.chars):
                        current = self.emit(CharOp(((ord(char), ord(char)),), current))
                elif isinstance(node, CharSet):
                    current = self.emit(CharOp(node.ranges, current))
                elif isinstance(node, Concat):
                    stack.extend(("node", item, []) for item in node.items)
                elif isinstance(node, Alternation):
                    stack.append(("option", node, [current]))
                    stack.append(("node", node.options[-1], []))
                elif isinstance(node, Repeat):
                    if node.minimum:
                        stack.append(("copies", node, [node.minimum]))
                    if node.maximum is None:
                        loop = self.emit(SplitOp([]))
                        stack.append(("loop", node, [loop, current]))
                        stack.append(("node", node.body, []))
                        current = loop
                    elif node.maximum > node.minimum:
                        stack.append(("optional", node, [node.maximum - node.minimum, current, 0]))
                elif isinstance(node, Anchor):
                    stack.append(("node", self.expansion(node), []))
                else:
                    assert isinstance(node, (Look, Atomic))
                    if id(node) in self.shared:
                        current = self.test(node, current)
                        continue
                    stack.append(("test", node, [current]))
                    stack.append(("node", node.body, []))
                    current = ACCEPT
            elif what == "option":
                # data: what follows all options, then the entries compiled so far, the last option's first
                assert isinstance(node, Alternation)
                data.append(current)
                done = len(data) - 1
                if done == len(node.options):
                    current = self.emit(SplitOp(data[:0:-1]))
                else:
                    stack.append(("option", node, data))
                    stack.append(("node", node.options[-1 - done], []))
                    current = data[0]
            elif what == "copies":
                assert isinstance(node, Repeat)
                if data[0] > 1:
                    stack.append(("copies", node, [data[0] - 1]))
                stack.append(("node", node.body, []))
            elif what == "loop":
                assert isinstance(node, Repeat)
                loop, after = data
                ops[loop] = SplitOp([after, current] if node.lazy else [current, after])
                current = loop
            elif what == "optional":
                assert isinstance(node, Repeat)
                left, after, started = data
                if started:
                    current = self.emit(SplitOp([after, current] if node.lazy else [current, after]))
                if left:
                    stack.append(("optional", node, [left - 1, after, 1]))
                    stack.append(("node", node.body, []))
            else:
                assert isinstance(node, (Look, Atomic))
                if isinstance(node, Look) and not node.ahead:
                    self.behinds.append(current)
                    self.shared[id(node)] = len(self.behinds) - 1
                else:
                    self.shared[id(node)] = current
                current = self.test(node, data[0])
        return current

    def test(self, node: Look | Atomic, after: int) -> int:
        """The instruction of a compiled look-around or atomic group."""
        entry = self.shared[id(node)]
        if isinstance(node, Atomic):
            return self.emit(AtomicOp(entry, after))
        if node.ahead:
            return self.emit(AheadOp(entry, node.negative, after))
        return self.emit(BehindOp(entry, node.negative, after))


def _expand(anchor: Anchor) -> Node:
    """``anchor`` as look-arounds."""
    any_char, chars, kind, at = CharSet(ANY), CharSet(anchor.chars), anchor.kind, anchor.position
    others = CharSet(complement(anchor.chars))

    def look(node: Node, ahead: bool, negative: bool) -> Look:
        return Look(node, ahead, negative, at)

    if kind is AnchorKind.START:
        return look(any_char, False, True)
    if kind is AnchorKind.END:
        return look(any_char, True, True)
    if kind is AnchorKind.END_OR_LAST_NEWLINE:
        return look(Concat((Repeat(chars, 0, 1), look(any_char, True, True))), True, False)
    if kind is AnchorKind.LINE_START:
        return look(others, False, True)
    if kind is AnchorKind.LINE_END:
        return look(others, True, True)
    before, not_before = look(chars, False, False), look(chars, False, True)
    after, not_after = look(chars, True, False), look(chars, True, True)
    if kind is AnchorKind.BOUNDARY:
        return Alternation((Concat((before, not_after)), Concat((not_before, after))))
    outside: tuple[Node, ...] = (not_before, not_after)
    if kind is AnchorKind.NOT_BOUNDARY_IN_TEXT:
        outside += (Alternation((look(any_char, False, False), look(any_char, True, False))),)
    return Alternation((Concat((before, after)), Concat(outside)))


def _check(root: Node, pattern: str) -> None:
    """Refuses what the determiniser cannot do exactly."""
    widths: dict[int, Width] = {}
    stack: list[tuple[Node, int, Atomic | None]] = [(root, 0, None)]
    while stack:
        node, depth, atomic = stack.pop()
        if isinstance(node, (Look, Atomic)):
            depth += 1
            if depth > MAX_ASSERTION_DEPTH:
                raise RegexError(f"more than {MAX_ASSERTION_DEPTH} look-arounds or atomic groups inside one another",
                                 pattern=pattern, position=node.position, hint="nest them less deeply")
            if isinstance(node, Look):
                atomic = None  # a look-around only asks whether there is a match, not which
            elif atomic is None:
                atomic = node
                widths.update(all_widths(node.body))
        elif isinstance(node, Repeat) and atomic and node.maximum != 1 and widths[id(node.body)][0] == 0:
            raise RegexError("a repetition whose rounds can be empty, inside an atomic group or possessive quantifier",
                             pattern=pattern, position=atomic.position,
                             hint="make each round of the inner repetition read a character")
        stack.extend((child, depth, atomic) for child in children(node))


def compile_program(root: Node, limits: Limits, pattern: str = "") -> Program:
    """The program of ``root``; ``pattern`` is shown in errors.

    Raises RegexError on an atomic group around a repetition whose rounds can be empty (which match is preferred
    then depends on the matcher) and on assertions nested deeper than ``MAX_ASSERTION_DEPTH``; GrammarLimitError
    (``max_dfa_states``) if written-out counts grow too large.
    """
    if has_assertions(root):
        _check(root, pattern)
    compiler = _Compiler(limits, pattern)
    return _finished(compiler, compiler.compile(root))


def compile_scanner(roots: list[Node], limits: Limits) -> tuple[Program, list[int]]:
    """One program for several patterns, and the entry of each: pattern i ends in ``EndOp(i)``.

    The patterns are read as ``re.match`` reads them, so each is checked like the body of an atomic group. Raises as
    ``compile_program``.
    """
    compiler = _Compiler(limits, "")
    starts = []
    for index, root in enumerate(roots):
        _check(Atomic(root, 0), "")
        starts.append(compiler.compile(root, compiler.emit(EndOp(index))))
    return _finished(compiler, starts[0]), starts


def _finished(compiler: _Compiler, start: int) -> Program:
    """The program as it stands, its characters' classes worked out."""
    numbers: dict[Ranges, int] = {}
    readers = [op for op in compiler.ops if isinstance(op, CharOp)]
    for op in readers:
        op.mask = numbers.setdefault(op.ranges, len(numbers))
    partition = partition_of(numbers)
    masks = list(partition.masks.values())
    for op in readers:
        op.mask = masks[op.mask]
    return Program(compiler.ops, start, compiler.behinds, partition)
