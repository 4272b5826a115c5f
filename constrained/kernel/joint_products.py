# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The product of several deterministic automata over classes, made at once.

A state of the product is a run of ``m`` ints, the states of its parts (-1: dead), found by an open hash table; states
are made as they are met, so nothing is there that cannot be reached, and no product of some of the parts is made on
the way. A part may be *refused*: its texts are left out, so where it is dead it has nothing more to say.

Cost: 5-10 ns for each state, class and part.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.hashing import hash_run, put_slot
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.hashing import hash_run, put_slot
    from constrained.kernel.memory import empty_table, grow_int

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes


@cython.final
@cython.cclass
class JointProduct:
    """See the module docstring; ``run`` is called once.

    runs[i * m + p]          state of part p in state i of the product
    home[p * k + j]          class of part p that class j of the product lies in
    moved[p * k + j]         where part p is led by class j, of the state under way
    final[base[p] + state]   whether part p accepts there
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.runs)
            free(self.slots)
            free(self.home)
            free(self.moved)
            free(self.final)
            free(self.base)
            free(self.refused)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.cap = self.slot_count = 0
            for name in "runs slots home moved final base refused".split():
                setattr(self, name, None)
            return self

    def __init__(self, tables: list, accepting: list, refused: list, either: cython.bint):
        """``refused[p]``: the texts of part p are left out; ``either``: one part that accepts is enough."""
        p: cython.int
        i: cython.int
        total: cython.int = 0
        table: Table
        ends: frozenset
        self.tables = tables
        self.m = cython.cast(cython.int, len(tables))
        self.either = either
        self.base = grow_int(self.base, self.m)
        self.refused = grow_int(self.refused, self.m)
        if not (self.base and self.refused):
            raise MemoryError
        for p in range(self.m):
            table = tables[p]
            self.base[p] = total
            self.refused[p] = refused[p]
            total += table.n
        self.final = grow_int(self.final, total + 1)
        if not self.final:
            raise MemoryError
        for i in range(total):
            self.final[i] = 0
        for p in range(self.m):
            ends = accepting[p]
            for i in ends:
                self.final[self.base[p] + i] = 1

    def run(self, homes: list, most: cython.int) -> tuple:
        """(table, accepting states): ``homes[p]`` has for each class of the product the one of part p.

        Raises ``TooManyStates``. The tables of the parts stay as they are.
        """
        m: cython.int = self.m
        k: cython.int = cython.cast(cython.int, len(homes[0]))
        i: cython.int = 0
        j: cython.int
        p: cython.int
        to: cython.int
        count: cython.int = 1
        room: cython.int = 64
        found: Table = Table((), k)
        accepting: list = []
        own: list
        self.slot_count = 64
        self.slots = empty_table(self.slots, self.slot_count)
        self.home = grow_int(self.home, m * k + 1)
        self.moved = grow_int(self.moved, m * k + 1)
        found.next = grow_int(found.next, room * k + 1)
        if not (self.slots and self.home and self.moved and found.next):
            raise MemoryError
        for p in range(m):
            own = homes[p]
            for j in range(k):
                self.home[p * k + j] = own[j]
        self._room(0)
        for p in range(m):
            self.runs[p] = 0
        self._place(0)
        while i < count:
            if i >= room:
                room *= 2
                found.next = grow_int(found.next, room * k + 1)
                if not found.next:
                    raise MemoryError
            if self._accepts(i):
                accepting.append(i)
            self._move(i, k)
            for j in range(k):
                self._room(count)
                to = -1
                if self._lives(j, k, count):
                    to = self._place(count)
                    if to == count:
                        count += 1
                        if count > most:
                            raise TooManyStates
                found.next[i * k + j] = to
            i += 1
        found.n = count
        return found, frozenset(accepting)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _accepts(self, i: cython.int) -> cython.bint:
        p: cython.int
        state: cython.int
        good: cython.bint
        for p in range(self.m):
            state = self.runs[i * self.m + p]
            good = state >= 0 and self.final[self.base[p] + state] != 0
            if self.refused[p]:
                good = not good
            if good == self.either:
                return good
        return not self.either

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _move(self, i: cython.int, k: cython.int) -> cython.int:
        """Fill ``moved`` for state ``i``."""
        p: cython.int
        j: cython.int
        state: cython.int
        table: Table
        for p in range(self.m):
            state = self.runs[i * self.m + p]
            if state < 0:
                for j in range(k):
                    self.moved[p * k + j] = -1
                continue
            table = self.tables[p]
            for j in range(k):
                self.moved[p * k + j] = table.next[state * table.k + self.home[p * k + j]]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _lives(self, j: cython.int, k: cython.int, count: cython.int) -> cython.bint:
        """Writes where class ``j`` leads behind the runs; whether something can be accepted there."""
        p: cython.int
        to: cython.int
        lives: cython.bint = not self.either
        for p in range(self.m):
            to = self.moved[p * k + j]
            self.runs[count * self.m + p] = to
            if self.either:
                lives = lives or to >= 0 or self.refused[p] != 0
            elif to < 0 and not self.refused[p]:
                return False
        return lives

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self, count: cython.int) -> cython.int:
        """Room for one run more."""
        if count >= self.cap:
            self.cap = 2 * count + 64
            self.runs = grow_int(self.runs, self.cap * self.m)
            if not self.runs:
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, at: cython.int) -> cython.int:
        """Where the run of state ``at`` is looked for first."""
        return cython.cast(cython.int, hash_run(self.runs, at * self.m, self.m)
                           & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place(self, count: cython.int) -> cython.int:
        """The number of the run that stands behind the others: ``count`` if it is new."""
        i: cython.int = self._slot(count)
        j: cython.int
        p: cython.int
        while self.slots[i] >= 0:
            j = self.slots[i]
            p = 0
            while p < self.m and self.runs[j * self.m + p] == self.runs[count * self.m + p]:
                p += 1
            if p == self.m:
                return j
            i = (i + 1) & (self.slot_count - 1)
        self.slots[i] = count
        if 2 * count + 2 >= self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(count + 1):
                put_slot(self.slots, self.slot_count, self._slot(j), j)
        return count
