# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Trimming and minimising of deterministic automata over classes, on flat tables.

Row by row: ``next[state * k + class]`` is the next state or -1 (dead); state 0 starts. Rows come and go as tuples where
Python asks for them. What the operations mean is said in ``regex.dfa``; here they are loops over ints, and most change
the table they are asked of.

Cost: 20-50 ns for each state and class.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.hashing import hash_run
    from constrained.kernel.memory import empty_table, grow_int


SWEEPS = cython.declare(cython.int, 4)
"""How often all states are looked at before their edges are turned."""


class TooManyStates(Exception):
    """A product has more states than allowed."""


@cython.final
@cython.cclass
class Table:
    """``next[state * k + class]`` and the arrays of one operation."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.next)
            free(self.slots)
            free(self.order)
            free(self.seen)
            free(self.at)
            free(self.source)
            free(self.block)
            free(self.first)
            free(self.queue)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.k = 0
            for name in "next slots order seen at source block first queue".split():
                setattr(self, name, None)
            return self

    def __init__(self, rows: tuple, k: cython.int):
        """The rows of an automaton over ``k`` classes."""
        i: cython.int
        j: cython.int
        row: tuple
        self.n = len(rows)
        self.k = k
        self.next = grow_int(self.next, self.n * k + 1)
        if not self.next:
            raise MemoryError
        for i in range(self.n):
            row = rows[i]
            for j in range(k):
                self.next[i * k + j] = row[j]

    def rows(self) -> tuple:
        """The rows of all states."""
        i: cython.int
        j: cython.int
        found: list = []
        row: list
        for i in range(self.n):
            row = []
            for j in range(self.k):
                row.append(self.next[i * self.k + j])
            found.append(tuple(row))
        return tuple(found)

    def states(self) -> int:
        """How many there are, the dead one not counted."""
        return self.n

    def copy(self) -> Table:
        """One that may be changed."""
        new: Table = Table((), self.k)
        i: cython.int
        new.n = self.n
        new.next = grow_int(new.next, self.n * self.k + 1)
        if not new.next:
            raise MemoryError
        for i in range(self.n * self.k):
            new.next[i] = self.next[i]
        return new

    def read(self) -> list:
        """The classes that some state reads."""
        i: cython.int
        j: cython.int
        found: list = []
        for j in range(self.k):
            for i in range(self.n):
                if self.next[i * self.k + j] >= 0:
                    found.append(j)
                    break
        return found

    def is_endless(self) -> bool:
        """Whether a path comes back to where it was: of a trimmed table, whether it has no end of texts.

        States are taken away that nothing leads to any more (A. Kahn, 1962).
        """
        n: cython.int = self.n
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        to: cython.int
        count: cython.int = 0
        entries: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 2 * n + 1)
        if not entries:
            raise MemoryError
        for i in range(n):
            entries[i] = 0
        for i in range(n * k):
            if self.next[i] >= 0:
                entries[self.next[i]] += 1
        for i in range(n):
            if entries[i] == 0:
                entries[n + count] = i
                count += 1
        i = 0
        while i < count:
            for j in range(k):
                to = self.next[entries[n + i] * k + j]
                if to >= 0:
                    entries[to] -= 1
                    if entries[to] == 0:
                        entries[n + count] = to
                        count += 1
            i += 1
        if cython.compiled:
            free(entries)
        return count < n

    def complete(self) -> None:
        """One state more, the last: every dead end leads there, and it to itself."""
        i: cython.int
        size: cython.int = self.n * self.k
        self.next = grow_int(self.next, size + self.k + 1)
        if not self.next:
            raise MemoryError
        for i in range(size):
            if self.next[i] < 0:
                self.next[i] = self.n
        for i in range(size, size + self.k):
            self.next[i] = self.n
        self.n += 1

    def trim(self, accepting: frozenset, met: cython.bint = False) -> tuple:
        """Keep the states that can be reached and can accept, and state 0, in the order in which they are met: (whether
        anything changed, the accepting ones). ``met``: all were met in their order, class by class.
        """
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        to: cython.int
        state: cython.int
        count: cython.int = self._live(accepting, met)
        changed: cython.bint = count != self.n
        found: list = []
        i = 0
        while not changed and i < count:
            changed = self.order[i] != i
            i += 1
        if not changed:
            return False, accepting
        for i in range(self.n):
            self.seen[i] = -1
        for i in range(count):
            self.seen[self.order[i]] = i
        self.source = grow_int(self.source, count * k + 1)
        if not self.source:
            raise MemoryError
        for i in range(count):
            for j in range(k):
                to = self.next[self.order[i] * k + j]
                self.source[i * k + j] = -1 if to < 0 else self.seen[to]
        for i in range(count * k):
            self.next[i] = self.source[i]
        self.n = count
        for state in accepting:
            if self.seen[state] >= 0:
                found.append(self.seen[state])
        return True, frozenset(found)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _live(self, accepting: frozenset, met: cython.bint) -> cython.int:
        """How many states can be reached and can accept; ``order`` begins with them, as they are met, state 0 first.

        Most have a way to an accepting one that soon shows: they are looked at from the last met to the first, a few
        times over. Where that does not settle it, edges are turned.
        """
        n: cython.int = self.n
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        state: cython.int
        target: cython.int
        left: cython.int
        sweeps: cython.int = 0
        count: cython.int = 1
        self.order = grow_int(self.order, n + 1)
        self.seen = grow_int(self.seen, n + 1)
        if not (self.order and self.seen):
            raise MemoryError
        if met:
            count = n
            for i in range(n):
                self.order[i] = i
                self.seen[i] = 1
        else:
            for i in range(n):
                self.seen[i] = 0
            self.seen[0] = 1
            self.order[0] = 0
            i = 0
            while i < count:
                state = self.order[i]
                i += 1
                for j in range(state * k, state * k + k):
                    target = self.next[j]
                    if target >= 0 and not self.seen[target]:
                        self.seen[target] = 1
                        self.order[count] = target
                        count += 1
        left = count
        for state in accepting:
            if self.seen[state] == 1:
                self.seen[state] = 2
                left -= 1
        while left > 0:
            if sweeps == SWEEPS:
                self._turn(count)
                break
            sweeps += 1
            j = left
            for i in range(count - 1, -1, -1):
                state = self.order[i]
                if self.seen[state] == 1:
                    for target in range(state * k, state * k + k):
                        if self.next[target] >= 0 and self.seen[self.next[target]] == 2:
                            self.seen[state] = 2
                            left -= 1
                            break
            if left == j:
                break
        j = 1
        for i in range(1, count):
            if self.seen[self.order[i]] == 2:
                self.order[j] = self.order[i]
                j += 1
        return j

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _turn(self, count: cython.int) -> cython.int:
        """Of the ``count`` states that are met (``seen`` 1, or 2 where known to be right) all that lead to right ones
        are, too: ``source`` has by target what leads there.
        """
        n: cython.int = self.n
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        state: cython.int
        target: cython.int
        top: cython.int = 0
        self.at = grow_int(self.at, n + 2)
        self.source = grow_int(self.source, n * k + 1)
        self.queue = grow_int(self.queue, n + 1)
        if not (self.at and self.source and self.queue):
            raise MemoryError
        for i in range(n + 2):
            self.at[i] = 0
        for i in range(count):
            for j in range(self.order[i] * k, self.order[i] * k + k):
                if self.next[j] >= 0:
                    self.at[self.next[j] + 1] += 1
        for i in range(n):
            self.at[i + 1] += self.at[i]
        for i in range(count):
            state = self.order[i]
            for j in range(state * k, state * k + k):
                target = self.next[j]
                if target >= 0:
                    self.source[self.at[target]] = state
                    self.at[target] += 1
        # at[t] is now the end of t's sources, at[t - 1] their beginning
        for i in range(count):
            if self.seen[self.order[i]] == 2:
                self.queue[top] = self.order[i]
                top += 1
        while top > 0:
            top -= 1
            target = self.queue[top]
            for i in range(self.at[target - 1] if target > 0 else 0, self.at[target]):
                state = self.source[i]
                if self.seen[state] == 1:
                    self.seen[state] = 2
                    self.queue[top] = state
                    top += 1
        return 0

    def join(self) -> list:
        """Keep one of each set of classes whose columns are equal: lists of classes, by their first."""
        n: cython.int = self.n
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        g: cython.int
        groups: list = []
        self.order = grow_int(self.order, k + 1)  # of each group its first class
        if not self.order:
            raise MemoryError
        for j in range(k):
            for g in range(len(groups)):
                i = 0
                while i < n and self.next[i * k + j] == self.next[i * k + self.order[g]]:
                    i += 1
                if i == n:
                    groups[g].append(j)
                    break
            else:
                self.order[len(groups)] = j
                groups.append([j])
        if len(groups) < k:
            self.k = cython.cast(cython.int, len(groups))
            for i in range(n):
                for g in range(self.k):
                    self.next[i * self.k + g] = self.next[i * k + self.order[g]]
        return groups

    def fold(self, accepting: frozenset) -> tuple:
        """One state of those with equal rows, as often as that leaves fewer by a good part: (whether any went, the
        accepting states). It does most of what ``blocks`` is for at a fraction of the cost: states are looked at from
        the last to the first, so that what leads only to later ones (a trie) folds up at once, and of remainders those
        become one that a further digit makes equal.
        """
        k: cython.int = self.k
        n: cython.int = self.n
        i: cython.int
        j: cython.int
        at: cython.int
        to: cython.int
        kept: cython.int
        size: cython.int = 16
        changed: cython.bint = False
        while size < 2 * n:
            size *= 2
        self.order = grow_int(self.order, n + 1)  # of each state the one that stands for it
        self.at = grow_int(self.at, n + 1)  # the new number of one that stands for others
        self.seen = grow_int(self.seen, n + 1)  # whether it accepts
        self.source = grow_int(self.source, n * k + 1)
        if not (self.order and self.at and self.seen and self.source):
            raise MemoryError
        for i in range(n):
            self.seen[i] = 0
        for i in accepting:
            self.seen[i] = 1
        while True:
            self.slots = empty_table(self.slots, size)
            if not self.slots:
                raise MemoryError
            kept = 0
            i = n
            while i > 0:
                i -= 1
                for j in range(k):
                    to = self.next[i * k + j]
                    if to > i:
                        self.next[i * k + j] = self.order[to]
                at = cython.cast(cython.int, hash_run(self.next, i * k, k) & cython.cast(cython.ulonglong, size - 1))
                while self.slots[at] >= 0 and not self._same(i, self.slots[at]):
                    at = (at + 1) & (size - 1)
                if self.slots[at] < 0:
                    self.slots[at] = i
                    kept += 1
                self.order[i] = self.slots[at]
            if kept == n:
                break
            changed = True
            # the one for state 0 comes first
            self.at[self.order[0]] = 0
            to = 1
            for i in range(n):
                if self.order[i] == i and i != self.order[0]:
                    self.at[i] = to
                    to += 1
            for i in range(n):
                if self.order[i] == i:
                    for j in range(k):
                        to = self.next[i * k + j]
                        self.source[self.at[i] * k + j] = to if to < 0 else self.at[self.order[to]]
            for i in range(kept * k):
                self.next[i] = self.source[i]
            for i in range(n):
                if self.order[i] == i:
                    self.order[self.at[i]] = self.seen[i]
            self.n = kept
            for i in range(kept):
                self.seen[i] = self.order[i]
            if n - kept <= n >> 4:
                break
            n = kept
        if not changed:
            return False, accepting
        return True, frozenset([i for i in range(self.n) if self.seen[i]])

    @cython.cfunc
    @cython.exceptval(check=False)
    def _same(self, a: cython.int, b: cython.int) -> cython.bint:
        """Whether two states accept alike and have equal rows."""
        j: cython.int
        if self.seen[a] != self.seen[b]:
            return False
        for j in range(self.k):
            if self.next[a * self.k + j] != self.next[b * self.k + j]:
                return False
        return True

    def merge(self) -> None:
        """Lead to the first state of each block that ``congruence.blocks`` found."""
        n: cython.int = self.n
        i: cython.int
        b: cython.int
        self.first = grow_int(self.first, n)
        if not self.first:
            raise MemoryError
        for i in range(n):
            self.first[i] = -1
        for i in range(n):
            b = self.block[i]
            if self.first[b] < 0:
                self.first[b] = i
        for i in range(n * self.k):
            if self.next[i] >= 0:
                self.next[i] = self.first[self.block[self.next[i]]]


def table_of_columns(data: bytes, k: cython.int, dead: cython.bint) -> tuple:
    """(table, accepting states) from 16-bit numbers, low byte first, column by column: for each of ``k`` classes the
    next state of every state (-1: dead), then whether it accepts. ``dead``: with one class more, which leads nowhere.
    """
    n: cython.int = cython.cast(cython.int, len(data)) // (2 * (k + 1))
    width: cython.int = k + dead
    i: cython.int
    j: cython.int
    at: cython.int = 0
    to: cython.int
    bytes_of: cython.p_uchar = data
    accepting: list = []
    table: Table = Table((), width)
    table.n = n
    table.next = grow_int(table.next, n * width + 1)
    if not table.next:
        raise MemoryError
    for j in range(k):
        for i in range(n):
            to = bytes_of[at] | bytes_of[at + 1] << 8
            table.next[i * width + j] = to if to < 0x8000 else -1
            at += 2
    if dead:
        for i in range(n):
            table.next[i * width + k] = -1
    for i in range(n):
        if bytes_of[at + 2 * i]:
            accepting.append(i)
    return table, frozenset(accepting)


def table_of_texts(texts: list, places: dict, k: cython.int) -> tuple:
    """(table, accepting states) of just these texts: a state for each beginning of one. ``places``: the class of each
    of their characters; there are ``k`` classes."""
    room: cython.int = 64
    n: cython.int = 1
    state: cython.int
    at: cython.int
    j: cython.int
    accepting: list = []
    text: str
    table: Table = Table((), k)
    table.next = grow_int(table.next, room * k + 1)
    if not table.next:
        raise MemoryError
    for j in range(k):
        table.next[j] = -1
    for text in texts:
        state = 0
        for char in text:
            at = state * k + cython.cast(cython.int, places[char])
            state = table.next[at]
            if state < 0:
                if n == room:
                    room *= 2
                    table.next = grow_int(table.next, room * k + 1)
                    if not table.next:
                        raise MemoryError
                state = n
                table.next[at] = n
                for j in range(n * k, n * k + k):
                    table.next[j] = -1
                n += 1
        accepting.append(state)
    table.n = n
    return table, frozenset(accepting)
