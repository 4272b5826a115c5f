"""Where the named parts of a grammar (``Capture``) lie in a text, as the text goes on.

Idea
    The rules are run once more, beside the automaton and only where someone asks: as threads that know how they came
    here. A thread is a place of the grammar on an interned stack of returns and counters, with the captures it has
    opened and closed as a list that shares its beginning with those of other threads. Two threads at the same place on
    the same stack have the same future, so one is kept: that of the earlier alternative, of the longer repetition (the
    order of Perl's regular expressions). What is common to the lists of all threads is *decided*: no continuation of
    the text can change it.

Data
    place    a list of operations in order of preference, see ``engine.capture_graph``
    frame    a return, a counted round, a group in any order; on top of others; interned
    mark     a capture that was opened or closed; on top of those before

Limits: left recursion has no threads, and is refused; more than ``max_threads`` threads raise ``GrammarLimitError``.
Cost: 5-20 us a byte for each thread; a text without ambiguity has one or two. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from constrained.engine.capture_graph import (
    ACCEPT,
    CALL,
    CLOSE,
    EPS,
    GAP,
    GROUP,
    GUARD,
    ITEM,
    LEAF,
    LOOP,
    OPEN,
    RETURN,
    ROUND,
    TOKEN,
    CaptureGraph,
)
from constrained.errors import GrammarLimitError
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.limits import Limits

__all__ = ["CaptureSpan", "CaptureTracker"]


@dataclass(frozen=True, slots=True)
class CaptureSpan:
    """Bytes ``start`` to ``end`` (exclusive) of the text are the part called ``name``. ``end`` -1: still open."""

    name: str
    start: int
    end: int


class Frame:
    """What a thread returns to, or counts: one object for equal ones, so that it is compared by identity."""

    __slots__ = ("kind", "number", "parent", "state")

    def __init__(self, kind: int, number: int, state: Any, parent: Frame | None) -> None:
        self.kind = kind
        self.number = number
        self.state = state
        self.parent = parent


class Mark:
    """A capture that a thread has opened or closed, on top of those before; equal lists are one object."""

    __slots__ = ("depth", "kind", "name", "next", "parent", "position")

    def __init__(self, kind: int, name: str, position: int, parent: Mark | None, depth: int) -> None:
        self.kind = kind
        self.name = name
        self.position = position
        self.parent = parent
        self.depth = depth
        self.next: dict[tuple[int, str, int], Mark] = {}

    def after(self, kind: int, name: str, position: int) -> Mark:
        """The list with one more mark. Threads that read the same parts in different alternatives share it."""
        key = (kind, name, position)
        found = self.next.get(key)
        if found is None:
            if self.next and next(iter(self.next.values())).position < position:
                self.next.clear()  # nobody adds a mark at an earlier place any more
            found = self.next[key] = Mark(kind, name, position, self, self.depth + 1)
        return found


Watchers = tuple[tuple[int, int], ...]
"""Automata of what must not follow, each with its state."""

Thread = tuple[int, int, int, Frame | None, Watchers]
"""``(place behind the leaf, leaf, its state, stack, watchers)``; a leaf ``~n`` is operation n of the place: a token."""

Entered = tuple[int, Frame | None, Watchers, Mark, Thread | None]
"""A place to enter; or, where a thread is given, that thread as it is."""

class CaptureTracker:
    """Follows one text and tells the captures that are decided.

    Args:
        rules: the grammar, or its graph.
        resolve: the ids of a token reference; without it only ids are known, and texts of tokens match nothing.
        limits: ``max_threads`` bounds the threads.

    Attributes:
        position: bytes read.

    Raises:
        GrammarError: a rule refers to itself before it reads anything.
    """

    def __init__(self, rules: RuleSet | CaptureGraph, *,
                 resolve: Callable[[TokenReference], frozenset[int]] | None = None,
                 limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._graph = rules if isinstance(rules, CaptureGraph) else CaptureGraph(rules, resolve)
        self._frames: dict[tuple[Any, ...], Frame] = {}
        self._most_frames = 4096
        self._known_steps: dict[tuple[int, int, int], int] = {}
        self.position = 0
        self._told: int = 0
        self._open: list[tuple[str, int]] = []
        begin = Mark(-1, "", 0, None, 0)
        self._accepting: Mark = begin
        self._complete = False
        self._threads: list[tuple[Thread, Mark]] = []  # the preferred first
        self._enter([(self._graph.start, None, (), begin, None)])

    @property
    def alive(self) -> bool:
        """Whether the text so far is the beginning of one of the grammar."""
        return bool(self._threads) or self._complete

    @property
    def is_complete(self) -> bool:
        """Whether the text may end here."""
        return self._complete

    @property
    def open(self) -> list[CaptureSpan]:
        """Captures whose beginning is decided and whose end has not come, the outermost first."""
        return [CaptureSpan(name, start, -1) for name, start in self._open]

    def feed(self, data: bytes) -> list[CaptureSpan]:
        """The captures that are decided by these bytes, in the order of their ends."""
        for byte in data:
            self._step(byte)
        return self._decide()

    def feed_token(self, token_id: int, data: bytes, *, by_id_only: bool = False) -> list[CaptureSpan]:
        """The same for a token: its bytes are read (unless ``by_id_only``), or the grammar names it."""
        named: list[Entered] = []
        for (place, leaf, _, stack, _), marks in self._threads:
            if leaf < 0 and token_id in self._graph.ops[place][~leaf][1]:
                named.append((self._graph.ops[place][~leaf][2], stack, (), marks, None))
        complete, accepting = False, self._accepting
        if by_id_only or not data:
            self._threads, self._complete = [], False
        else:
            before = self.position
            for byte in data:
                self._step(byte)
            self.position = before
            complete, accepting = self._complete, self._accepting
        self.position += len(data)
        if named:
            self._enter(named, keep=True)
            if complete:
                self._complete, self._accepting = complete, accepting
        return self._decide()

    def finish(self) -> list[CaptureSpan]:
        """The text ends here: the captures of the preferred reading that are not told yet."""
        if not self._complete:
            self._threads = []
            return []
        self._threads = []
        return self._tell(self._accepting)

    # ---- inside --------------------------------------------------------------------------------------

    def _frame(self, kind: int, number: int, state: Any, parent: Frame | None) -> Frame:
        key = (kind, number, state, id(parent))
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(kind, number, state, parent)
        return found

    def _leaf_step(self, leaf: int, state: int, byte: int) -> int:
        key = (leaf, state, byte)
        to = self._known_steps.get(key)
        if to is None:
            to = -1
            for lo, hi, target in self._graph.leaves[leaf][0][state]:
                if lo <= byte <= hi:
                    to = target
                    break
            if len(self._known_steps) > 1 << 16:
                self._known_steps.clear()
            self._known_steps[key] = to
        return to

    def _step(self, byte: int) -> None:
        entered: list[Entered] = []
        self.position += 1
        leaves = self._graph.leaves
        for (place, leaf, state, stack, watchers), marks in self._threads:
            if leaf < 0:
                continue
            to = self._leaf_step(leaf, state, byte)
            if to < 0:
                continue
            if watchers:
                moved = self._watch(watchers, byte)
                if moved is None:
                    continue
                watchers = moved
            if leaves[leaf][0][to]:
                entered.append((-1, None, (), marks, (place, leaf, to, stack, watchers)))
            if to in leaves[leaf][1]:
                entered.append((place, stack, watchers, marks, None))
        self._enter(entered)

    def _watch(self, watchers: Watchers, byte: int) -> Watchers | None:
        found = []
        for leaf, state in watchers:
            to = self._leaf_step(leaf, state, byte)
            if to < 0:
                continue
            if to in self._graph.leaves[leaf][1]:
                return None
            found.append((leaf, to))
        return tuple(dict.fromkeys(found))

    def _enter(self, entered: Iterable[Entered], *, keep: bool = False) -> None:
        """The threads behind these places, by all operations that read nothing. Depth first: the preferred first."""
        graph_ops = self._graph.ops
        leaves = self._graph.leaves
        found: dict[Thread, Mark] = dict(self._threads) if keep else {}
        visited: set[tuple[Any, ...]] = set()
        self._complete = False
        work = list(entered)
        work.reverse()
        position = self.position
        most = self.limits.max_threads
        while work:
            place, stack, watchers, marks, thread = work.pop()
            if thread is not None:  # still within a leaf
                found.setdefault(thread, marks)
                continue
            key = (place, id(stack), watchers)
            if key in visited:
                continue
            visited.add(key)
            if len(visited) > 50 * most or len(found) > most:
                raise GrammarLimitError("max_threads", most, "captures need too many ways to read the text")
            more: list[Entered] = []
            for number, op in enumerate(graph_ops[place]):
                kind = op[0]
                if kind == EPS:
                    more.append((op[1], stack, watchers, marks, None))
                elif kind == LEAF:
                    if leaves[op[1]][0][0]:
                        found.setdefault((op[2], op[1], 0, stack, watchers), marks)
                elif kind == CALL:
                    returns = graph_ops[op[2]]
                    if len(returns) == 1 and returns[0][0] == RETURN:
                        more.append((op[1], stack, watchers, marks, None))  # a tail call needs no frame
                    else:
                        more.append((op[1], self._frame(CALL, op[2], None, stack), watchers, marks, None))
                elif kind == RETURN:
                    assert stack is not None
                    more.append((stack.number, stack.parent, watchers, marks, None))
                elif kind in (OPEN, CLOSE):
                    more.append((op[2], stack, watchers, marks.after(kind, op[1], position), None))
                elif kind == TOKEN:
                    found.setdefault((place, ~number, 0, stack, watchers), marks)
                elif kind == GUARD:
                    if 0 not in leaves[op[1]][1]:
                        more.append((op[2], stack, tuple(dict.fromkeys((*watchers, (op[1], 0)))), marks, None))
                elif kind == ACCEPT:
                    ends = not any(state in self._graph.at_end[leaf] for leaf, state in watchers)
                    if ends and not self._complete:
                        self._complete, self._accepting = True, marks
                else:
                    self._counted(op, place, stack, watchers, marks, more)
            more.reverse()
            work.extend(more)
        self._threads = list(found.items())
        if len(self._frames) > self._most_frames:
            self._forget_frames()

    def _counted(self, op: tuple[Any, ...], place: int, stack: Frame | None, watchers: Watchers, marks: Mark,
                 more: list[Entered]) -> None:
        """Loops and groups: frames with a state. A round that may be empty remembers where it began."""
        kind = op[0]
        if kind == LOOP:
            begun = self.position if op[1] in self._graph.nullable else -1
            more.append((op[1], self._frame(ROUND, place, (1, begun), stack), watchers, marks, None))
            return
        if kind == GROUP:
            self._items(op, place, 0, 0, stack, watchers, marks, more)
            return
        assert stack is not None
        number, below = stack.number, stack.parent
        if kind == ROUND:
            (count, begun), (_, entry, least, most, end) = stack.state, self._graph.ops[number][0]
            if begun == self.position:  # nothing was read: any number of such rounds is this one
                more.append((end, below, watchers, marks, None))
                return
            if most is None or count < most:
                again = count + 1 if most is not None else min(count + 1, least)
                begun = self.position if begun >= 0 else -1
                more.append((entry, self._frame(ROUND, number, (again, begun), below), watchers, marks, None))
            if count >= least:
                more.append((end, below, watchers, marks, None))
            return
        used, count = stack.state
        group = self._graph.ops[number][0]
        if kind == GAP:
            self._items(group, number, used, count, below, watchers, marks, more)
            return
        _, _, _, gap, need, least, most, end, _ = group
        if most is None or count < most:
            more.append((gap, self._frame(GAP, number, (used, count), below), watchers, marks, None))
        if count >= least and used & need == need:
            more.append((end, below, watchers, marks, None))

    def _items(self, op: tuple[Any, ...], number: int, used: int, count: int, stack: Frame | None,
               watchers: Watchers, marks: Mark, more: list[Entered]) -> None:
        _, items, free, _, need, least, most, _, in_order = op
        after = count + 1 if most is not None else min(count + 1, least)
        if in_order:  # not those before the last that was written, nor those behind one that must come first
            first = used.bit_length()
            lacking = need >> first << first
            used = (1 << first) - 1
            items = items[: (lacking & -lacking).bit_length()] if lacking else items
            free = None if lacking else free
        for i, entry in enumerate(items):
            if not used >> i & 1:
                frame = self._frame(ITEM, number, (used | 1 << i, after), stack)
                more.append((entry, frame, watchers, marks, None))
        if free is not None:
            if in_order:
                used = (1 << len(items)) - 1
            more.append((free, self._frame(ITEM, number, (used, after), stack), watchers, marks, None))

    def _forget_frames(self) -> None:
        """Keep the frames that live threads stand on, and those alone."""
        kept: dict[tuple[Any, ...], Frame] = {}
        for (_, _, _, stack, _), _ in self._threads:
            while stack is not None:
                key = (stack.kind, stack.number, stack.state, id(stack.parent))
                if key in kept:
                    break
                kept[key] = stack
                stack = stack.parent
        self._frames = kept
        self._most_frames = max(4096, 2 * len(kept))

    def _decide(self) -> list[CaptureSpan]:
        """What the marks of all threads, and of the text that ends here, have in common."""
        lists = [marks for _, marks in self._threads]
        if self._complete:
            lists.append(self._accepting)
        if not lists:
            return []
        common = lists[0]
        for marks in lists[1:]:
            while common is not marks:  # what was told is below all of them
                if common.depth >= marks.depth:
                    assert common.parent is not None
                    common = common.parent
                else:
                    assert marks.parent is not None
                    marks = marks.parent
        return self._tell(common)

    def _tell(self, last: Mark) -> list[CaptureSpan]:
        """The captures closed up to ``marks`` that were not told before; they are forgotten then."""
        fresh: list[Mark] = []
        marks: Mark | None = last
        while marks is not None and marks.depth > self._told:
            fresh.append(marks)
            marks = marks.parent
        spans = []
        for mark in reversed(fresh):
            self._told = mark.depth
            if mark.kind == OPEN:
                self._open.append((mark.name, mark.position))
            else:
                _, start = self._open.pop()
                spans.append(CaptureSpan(mark.name, start, mark.position))
        last.parent = None
        return spans
