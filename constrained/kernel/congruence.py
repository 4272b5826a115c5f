# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which states of a trimmed automaton mean the same: the coarsest congruence of its table.

First by how far an accepting state is, found by sweeps from the last state to the first: that tells apart what stands
at different places of a chain. Then by a round or a few (E. Moore, 1956): a state's block and those that its classes
lead to are its new block. Then what came of the last round splits others by what leads there (J. Hopcroft, 1971): the
blocks are a congruence but for that. As all states can accept, the dead one need not take part, nor an edge to it (A.
Valmari and P. Lehtinen, 2008): what leads into a block is told apart from what does not, be that dead or led elsewhere,
so that of the parts of a block all but one are enough. It is settled when every block is one state.

Cost: 70 instructions for each state and class where distances and rounds tell most apart, up to 190 where splitting has
to.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import empty_table, grow_int

__all__ = ["blocks"]

SWEEPS = cython.declare(cython.int, 4)
"""Sweeps after which distances that still change are left."""
MANY = cython.declare(cython.int, 4)
"""A round is followed by another where this part of the states, one of so many, became blocks by it."""


def blocks(table: Table, accepting: frozenset) -> int:
    """How many classes there are; ``table.block`` is that of each state. ``accepting`` is not empty."""
    return Congruence(table).run(accepting)


@cython.final
@cython.cclass
class Congruence:
    """One table's; ``run`` is called once.

    next[state * k + class]        where it leads; -1: nowhere
    block[state]                   the table's
    count                          blocks that there are
    place[state]                   its number in a round; when blocks are split, where it stands in elems
    elems[first[b] : end[b]]       the states of block b, marked[b] of them at the front marked
    source[at[s] : at[s + 1]]      what leads to state s: a class times n, and a state
    order                          what leads to the block that splits others, class by class
    ends[j], labels                where that of class j begins or ends there; the classes there are
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.place)
            free(self.slots)
            free(self.elems)
            free(self.first)
            free(self.end)
            free(self.marked)
            free(self.touched)
            free(self.queue)
            free(self.queued)
            free(self.at)
            free(self.source)
            free(self.order)
            free(self.ends)
            free(self.labels)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in "place slots elems first end marked touched queue queued at source order ends labels".split():
                setattr(self, name, None)
            return self

    def __init__(self, table: Table):
        self.n = table.n
        self.k = table.k
        table.block = grow_int(table.block, self.n)
        self.count = 0
        self.place = grow_int(self.place, self.n)
        self.end = grow_int(self.end, self.n + 1)
        self.marked = grow_int(self.marked, self.n + 1)
        if not (table.block and self.place and self.end and self.marked):
            raise MemoryError
        self.table = table
        self.next = table.next
        self.block = table.block

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def run(self, accepting: frozenset) -> cython.int:
        before: cython.int = 0
        self._measure(accepting)
        while self.count < self.n:
            before = self.count
            self._round()
            if self.count - before <= self.n // MANY:
                break
        if before < self.count < self.n:
            self._split(before)
        return self.count

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure(self, accepting: frozenset) -> cython.int:
        """Blocks by how many steps an accepting state is away; only by whether it is one, where sweeps do not settle
        that."""
        n: cython.int = self.n
        k: cython.int = self.k
        following: cython.p_int = self.next
        block: cython.p_int = self.block
        i: cython.int
        j: cython.int
        best: cython.int
        sweeps: cython.int = 0
        changed: cython.bint = True
        for i in range(n):
            block[i] = n
        for i in accepting:
            block[i] = 0
        while changed and sweeps < SWEEPS:
            sweeps += 1
            changed = False
            for i in range(n - 1, -1, -1):
                best = block[i]
                if best == 0:
                    continue
                for j in range(i * k, i * k + k):
                    if following[j] >= 0 and block[following[j]] + 1 < best:
                        best = block[following[j]] + 1
                if best < block[i]:
                    block[i] = best
                    changed = True
        # steps become numbers in a row
        for i in range(n + 1):
            self.marked[i] = -1
        for i in range(n):
            if changed and block[i] > 0:
                block[i] = 1
            if self.marked[block[i]] < 0:
                self.marked[block[i]] = self.count
                self.count += 1
            block[i] = self.marked[block[i]]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _round(self) -> cython.int:
        """Take each block apart by the blocks that its states' classes lead to; one part keeps its number."""
        n: cython.int = self.n
        k: cython.int = self.k
        following: cython.p_int = self.next
        block: cython.p_int = self.block
        sizes: cython.p_int = self.end
        taken: cython.p_int = self.marked
        slots: cython.p_int
        i: cython.int
        j: cython.int
        b: cython.int
        to: cython.int
        one: cython.int
        at: cython.int
        size: cython.int = 16
        h: cython.ulonglong
        while size < 2 * n:
            size *= 2
        self.slots = empty_table(self.slots, size)
        if not self.slots:
            raise MemoryError
        slots = self.slots
        for b in range(self.count):
            sizes[b] = 0
            taken[b] = 0
        for i in range(n):
            sizes[block[i]] += 1
        for i in range(n):
            b = block[i]
            self.place[i] = b
            if sizes[b] == 1:
                continue
            h = mix(17, b)
            for j in range(i * k, i * k + k):
                to = following[j]
                h = mix(h, -1 if to < 0 else block[to])
            at = cython.cast(cython.int, h & cython.cast(cython.ulonglong, size - 1))
            one = slots[at]
            while one >= 0 and not self._alike(i, one):
                at = (at + 1) & (size - 1)
                one = slots[at]
            if one >= 0:
                self.place[i] = self.place[one]
                continue
            slots[at] = i
            if taken[b]:
                self.place[i] = self.count
                self.count += 1
            taken[b] = 1
        for i in range(n):
            block[i] = self.place[i]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _alike(self, a: cython.int, b: cython.int) -> cython.bint:
        """Whether two states are in one block and lead to the same."""
        k: cython.int = self.k
        j: cython.int
        one: cython.int
        other: cython.int
        if self.block[a] != self.block[b]:
            return False
        for j in range(k):
            one = self.next[a * k + j]
            other = self.next[b * k + j]
            if one != other and (one < 0 or other < 0 or self.block[one] != self.block[other]):
                return False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _split(self, before: cython.int) -> cython.int:
        """Split blocks until they are a congruence, which they are but for those from ``before`` on."""
        n: cython.int = self.n
        i: cython.int
        j: cython.int
        b: cython.int
        c: cython.int
        at: cython.int
        state: cython.int
        count: cython.int = self.count
        waiting: cython.int = count - before
        hits: cython.int
        some: cython.int
        self._arrange(before)
        self._turn()
        while waiting > 0 and count < n:
            waiting -= 1
            c = self.queue[waiting]
            self.queued[c] = 0
            # taken down before any block is split: this one may be
            some = 0
            for i in range(self.first[c], self.end[c]):
                state = self.elems[i]
                for at in range(self.at[state], self.at[state + 1]):
                    j = self.source[at] // n
                    if self.ends[j] == 0:
                        self.labels[some] = j
                        some += 1
                    self.ends[j] += 1
            hits = 0
            for i in range(some):
                j = self.labels[i]
                hits += self.ends[j]
                self.ends[j] = hits
            for i in range(self.first[c], self.end[c]):
                state = self.elems[i]
                for at in range(self.at[state], self.at[state + 1]):
                    j = self.source[at] // n
                    self.ends[j] -= 1
                    self.order[self.ends[j]] = self.source[at] % n
            at = hits
            for i in range(some - 1, -1, -1):
                j = self.labels[i]
                hits = self.ends[j]  # where those of this class begin
                self.ends[j] = 0
                b = 0
                while at > hits:
                    at -= 1
                    b = self._mark(self.order[at], b)
                while b > 0:
                    b -= 1
                    c = self.touched[b]
                    j = self.marked[c]
                    self.marked[c] = 0
                    if j == self.end[c] - self.first[c]:
                        continue
                    # the marked ones, at the front, become a block of their own
                    self.first[count] = self.first[c]
                    self.end[count] = self.first[c] + j
                    self.first[c] += j
                    for state in range(self.first[count], self.end[count]):
                        self.block[self.elems[state]] = count
                    self.marked[count] = 0
                    self.queued[count] = 0
                    if self.queued[c] or j <= self.end[c] - self.first[c]:
                        c = count
                    self.queue[waiting] = c
                    self.queued[c] = 1
                    waiting += 1
                    count += 1
        self.count = count
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _arrange(self, before: cython.int) -> cython.int:
        """The blocks as runs of ``elems``, those from ``before`` on waiting to split others."""
        n: cython.int = self.n
        count: cython.int = self.count
        i: cython.int
        b: cython.int
        self.elems = grow_int(self.elems, n)
        self.first = grow_int(self.first, n + 1)
        self.touched = grow_int(self.touched, n + 1)
        self.queue = grow_int(self.queue, n + 1)
        self.queued = grow_int(self.queued, n + 1)
        if not (self.elems and self.first and self.touched and self.queue and self.queued):
            raise MemoryError
        for b in range(count + 1):
            self.first[b] = 0
        for i in range(n):
            self.first[self.block[i] + 1] += 1
        for b in range(count):
            self.first[b + 1] += self.first[b]
            self.end[b] = self.first[b]
            self.marked[b] = 0
            self.queued[b] = 0
        for b in range(before, count):
            self.queue[b - before] = b
            self.queued[b] = 1
        for i in range(n):
            b = self.block[i]
            self.place[i] = self.end[b]
            self.elems[self.end[b]] = i
            self.end[b] += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _turn(self) -> cython.int:
        """Fill ``at`` and ``source``, and make room for ``order``, ``ends`` and ``labels``."""
        n: cython.int = self.n
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        to: cython.int
        total: cython.int = 0
        self.at = grow_int(self.at, n + 1)
        self.ends = grow_int(self.ends, k + 1)
        self.labels = grow_int(self.labels, k + 1)
        if not (self.at and self.ends and self.labels):
            raise MemoryError
        for i in range(k):
            self.ends[i] = 0
        for i in range(n + 1):
            self.at[i] = 0
        for i in range(n * k):
            if self.next[i] >= 0:
                self.at[self.next[i]] += 1
        for i in range(n + 1):
            total += self.at[i]
            self.at[i] = total
        self.source = grow_int(self.source, total + 1)
        self.order = grow_int(self.order, total + 1)
        if not (self.source and self.order):
            raise MemoryError
        for i in range(n):
            for j in range(k):
                to = self.next[i * k + j]
                if to >= 0:
                    self.at[to] -= 1
                    self.source[self.at[to]] = j * n + i
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _mark(self, state: cython.int, touched: cython.int) -> cython.int:
        """Move ``state`` to the marked front of its block; returns how many blocks are touched."""
        b: cython.int = self.block[state]
        at: cython.int = self.place[state]
        front: cython.int = self.first[b] + self.marked[b]
        other: cython.int
        if at < front:
            return touched
        other = self.elems[front]
        self.elems[front] = state
        self.place[state] = front
        self.elems[at] = other
        self.place[other] = at
        if self.marked[b] == 0:
            self.touched[touched] = b
            touched += 1
        self.marked[b] += 1
        return touched
