# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The subset construction (M. Rabin, D. Scott, 1959) over a program of characters and choices (``plain_programs``).

A state is the sorted list of the places that read next, and 0 where the text may end: ``pool[state_at[i]:...]``. From
a state the classes are told apart by the sets that its places ask about; of each group of them one is followed, all
empty steps in one search.

Cost: 5 ns a place that is looked at, for each group of classes that a state tells apart.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.hashing import hash_run, put_slot, sort_ints
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.constrained.kernel.plain_programs import PlainProgram
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.hashing import hash_run, put_slot, sort_ints
    from constrained.kernel.memory import empty_table, grow_int
    from constrained.kernel.plain_programs import PlainProgram

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes


class TooMuchWork(Exception):
    """The states have more places in all than allowed."""


@cython.final
@cython.cclass
class Subsets:
    """One program, whose arrays are borrowed; ``run`` is called once."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.seen)
            free(self.stack)
            free(self.pool)
            free(self.state_at)
            free(self.slots)
            free(self.group_of)
            free(self.inside)
            free(self.outside)
            free(self.asked)
            free(self.letter)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.k = self.sets = self.stamp = self.count = self.pool_room = self.state_room = 0
            self.slot_count = self.groups = 0
            for name in ("set_of next at choices member seen stack pool state_at slots group_of inside outside asked "
                         "letter").split():
                setattr(self, name, None)
            return self

    def __init__(self, program: PlainProgram):
        """``program``: with its sets classified."""
        i: cython.int
        k: cython.int = program.k
        self.program = program
        self.n = program.n
        self.k = k
        self.sets = cython.cast(cython.int, len(program.sets))
        self.set_of = program.set_of
        self.next = program.next
        self.at = program.at
        self.choices = program.choices
        self.member = program.member
        self.seen = grow_int(self.seen, self.n)
        self.stack = grow_int(self.stack, self.n + 1)
        self.group_of = grow_int(self.group_of, k + 1)
        self.inside = grow_int(self.inside, k + 1)
        self.outside = grow_int(self.outside, k + 1)
        self.letter = grow_int(self.letter, k + 1)
        self.asked = grow_int(self.asked, self.sets + 1)
        if not (self.seen and self.stack and self.group_of and self.inside and self.outside and self.letter
                and self.asked):
            raise MemoryError
        for i in range(self.n):
            self.seen[i] = 0

    def run(self, start: cython.int, most: cython.int, work: cython.longlong) -> tuple:
        """(table, accepting states) of the texts from place ``start`` on, states in the order in which they are met.

        Raises TooManyStates beyond ``most``, TooMuchWork where they have more than ``work`` places in all.
        """
        table: Table = Table((), self.k)
        k: cython.int = self.k
        state: cython.int = 0
        row_room: cython.int = 64
        i: cython.int
        j: cython.int
        g: cython.int
        begin: cython.int
        end: cython.int
        top: cython.int
        to: cython.int
        accepting: list = []
        self.pool_room = self.n + 1024
        self.pool = grow_int(self.pool, self.pool_room)
        self.state_room = 64
        self.state_at = grow_int(self.state_at, self.state_room)
        self.slot_count = 64
        self.slots = empty_table(self.slots, self.slot_count)
        table.next = grow_int(table.next, row_room * k + 1)
        if not (self.pool and self.state_at and self.slots and table.next):
            raise MemoryError
        self.state_at[0] = 0
        self.stamp = 1
        self.seen[start] = 1
        self.stack[0] = start
        self._follow(1, most)
        while state < self.count:
            if state >= row_room:
                row_room *= 2
                table.next = grow_int(table.next, row_room * k + 1)
                if not table.next:
                    raise MemoryError
            begin = self.state_at[state]
            end = self.state_at[state + 1]
            if begin < end and self.pool[begin] == 0:
                accepting.append(state)
                begin += 1
            work -= end - begin
            if work < 0:
                raise TooMuchWork
            self._tell_apart(begin, end)
            for g in range(self.groups):
                top = 0
                self.stamp += 1
                j = self.letter[g]
                for i in range(begin, end):
                    if self.member[self.set_of[self.pool[i]] * k + j]:
                        to = self.next[self.pool[i]]
                        if self.seen[to] != self.stamp:
                            self.seen[to] = self.stamp
                            self.stack[top] = to
                            top += 1
                self.outside[g] = -1 if top == 0 else self._follow(top, most)
            for j in range(k):
                table.next[state * k + j] = self.outside[self.group_of[j]]
            state += 1
        table.n = self.count
        return table, frozenset(accepting)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _tell_apart(self, begin: cython.int, end: cython.int) -> cython.void:
        """The classes by which of the sets of the places ``pool[begin:end]`` they are in: ``group_of``, and one
        ``letter`` of each group.
        """
        k: cython.int = self.k
        i: cython.int
        j: cython.int
        g: cython.int
        s: cython.int
        fresh: cython.int
        for i in range(self.sets):
            self.asked[i] = 0
        for j in range(k):
            self.group_of[j] = 0
        self.groups = 1
        for i in range(begin, end):
            s = self.set_of[self.pool[i]]
            if self.asked[s]:
                continue
            self.asked[s] = 1
            for g in range(self.groups):
                self.inside[g] = -1
                self.outside[g] = -1
            fresh = 0
            for j in range(k):
                g = self.group_of[j]
                if self.member[s * k + j]:
                    if self.inside[g] < 0:
                        self.inside[g] = fresh
                        fresh += 1
                    self.group_of[j] = self.inside[g]
                else:
                    if self.outside[g] < 0:
                        self.outside[g] = fresh
                        fresh += 1
                    self.group_of[j] = self.outside[g]
            self.groups = fresh
        for j in range(k - 1, -1, -1):
            self.letter[self.group_of[j]] = j

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _follow(self, top: cython.int, most: cython.int) -> cython.int:
        """The state of what follows the places ``stack[:top]``, which are seen; -1: nothing can, and no text ends."""
        place: cython.int
        to: cython.int
        i: cython.int
        j: cython.int
        begin: cython.int = self.state_at[self.count]
        end: cython.int = begin
        at: cython.int
        if begin + self.n > self.pool_room:
            self.pool_room = 2 * self.pool_room + self.n
            self.pool = grow_int(self.pool, self.pool_room)
            if not self.pool:
                raise MemoryError
        while top > 0:
            top -= 1
            place = self.stack[top]
            if place == 0 or self.set_of[place] >= 0:
                self.pool[end] = place
                end += 1
                continue
            for i in range(self.at[place], self.at[place + 1]):
                to = self.choices[i]
                if self.seen[to] != self.stamp:
                    self.seen[to] = self.stamp
                    self.stack[top] = to
                    top += 1
        if end == begin:
            if self.count > 0:
                return -1
        else:
            sort_ints(self.pool, begin, end)
        i = self._slot(begin, end)
        while self.slots[i] >= 0:
            at = self.state_at[self.slots[i]]
            if self.state_at[self.slots[i] + 1] - at == end - begin:
                j = 0
                while j < end - begin and self.pool[at + j] == self.pool[begin + j]:
                    j += 1
                if j == end - begin:
                    return self.slots[i]
            i = (i + 1) & (self.slot_count - 1)
        if self.count >= most and self.count > 0:
            raise TooManyStates
        self.slots[i] = self.count
        self.count += 1
        if self.count >= self.state_room:
            self.state_room *= 2
            self.state_at = grow_int(self.state_at, self.state_room)
            if not self.state_at:
                raise MemoryError
        self.state_at[self.count] = end
        if 2 * self.count > self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(self.count):
                i = self._slot(self.state_at[j], self.state_at[j + 1])
                put_slot(self.slots, self.slot_count, i, j)
        return self.count - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, begin: cython.int, end: cython.int) -> cython.int:
        """Where a state is looked for first."""
        h: cython.ulonglong = hash_run(self.pool, begin, end - begin)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))
