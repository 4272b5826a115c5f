# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The product of several deterministic automata over classes, made at once.

A state of the product is a run of ``m`` ints, the states of its parts (-1: dead), and has a number that they are the
digits of; states are made as they are met, so nothing is there that cannot be reached, and no product of some of the
parts is made on the way. Of few numbers (``FEW``) a table has the state of each, else an open hash table. A part may be
*refused*: its texts are left out, so where it is dead it has nothing more to say.

Cost: 85 instructions for each state and class of two parts by a table, 180 of four parts by hashing.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.hashing import mix, put_slot
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int, grow_long
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.hashing import mix, put_slot
    from constrained.kernel.memory import empty_table, grow_int, grow_long

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes

FEW = cython.declare(cython.int, 1 << 15)
"""Numbers up to which a table has an entry for each."""
MOST = cython.declare(cython.longlong, 1 << 60)
"""Numbers up to which there are any."""


@cython.final
@cython.cclass
class JointProduct:
    """See the module docstring; ``run`` is called once.

    runs[i * m + p]          state of part p in state i of the product
    home[p * k + j]          class of part p that class j of the product lies in
    moved[p * k + j]         where part p is led by class j, of the state under way
    final[base[p] + state]   whether part p accepts there
    step[p]                  what one state more of part p adds to a run's number
    number[j]                the run that class j leads to, by its number; -1: nothing can be accepted there
    numbers[i]               that of state i
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
            free(self.step)
            free(self.number)
            free(self.numbers)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.cap = self.slot_count = self.numbered = 0
            for name in "runs slots home moved final base refused step number numbers".split():
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
        self.any_refused = False
        self.base = grow_int(self.base, self.m)
        self.refused = grow_int(self.refused, self.m)
        if not (self.base and self.refused):
            raise MemoryError
        for p in range(self.m):
            table = tables[p]
            self.base[p] = total
            self.refused[p] = refused[p]
            self.any_refused = self.any_refused or self.refused[p] != 0
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

        Raises ``TooManyStates``, also where runs have no numbers: two parts never are too many. The tables of the
        parts stay as they are.
        """
        m: cython.int = self.m
        k: cython.int = cython.cast(cython.int, len(homes[0]))
        i: cython.int = 0
        j: cython.int
        p: cython.int
        count: cython.int = 1
        room: cython.int = 64
        found: Table = Table((), k)
        accepting: list = []
        own: list
        number: cython.longlong = 0
        self._measure(k)
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
            number += self.step[p]
        self._place(number, 0)
        while i < count:
            if i >= room:
                room *= 2
                found.next = grow_int(found.next, room * k + 1)
                if not found.next:
                    raise MemoryError
            if self._accepts(i):
                accepting.append(i)
            self._move(i, k)
            count = self._write(k, count, most, found.next, i * k)
            i += 1
        found.n = count
        return found, frozenset(accepting)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure(self, k: cython.int) -> cython.int:
        """How runs are numbered, and how large the table is."""
        p: cython.int
        table: Table
        total: cython.longlong = 1
        self.step = grow_long(self.step, self.m)
        self.number = grow_long(self.number, k + 1)
        if not (self.step and self.number):
            raise MemoryError
        for p in range(self.m):
            table = self.tables[p]
            if total > MOST // (table.n + 1) and p > 1:
                raise TooManyStates
            self.step[p] = total
            total *= table.n + 1
        self.few = total <= FEW
        self.slot_count = cython.cast(cython.int, total) if self.few else 256
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _write(self, k: cython.int, count: cython.int, most: cython.int, row: cython.p_int,
               at: cython.int) -> cython.int:
        """Write ``row[at : at + k]``, of the state that ``moved`` is of; returns how many states there are now."""
        p: cython.int
        j: cython.int
        to: cython.int
        step: cython.longlong
        moved: cython.p_int = self.moved
        number: cython.p_longlong = self.number
        for j in range(k):
            number[j] = moved[j] + 1
        for p in range(1, self.m):
            step = self.step[p]
            for j in range(k):
                number[j] += step * (moved[p * k + j] + 1)
        if self.either:
            if not self.any_refused:  # one that is accepts where it is dead
                for j in range(k):
                    if number[j] == 0:
                        number[j] = -1
        else:
            for p in range(self.m):
                if not self.refused[p]:
                    for j in range(k):
                        if moved[p * k + j] < 0:
                            number[j] = -1
        for j in range(k):
            to = -1
            if number[j] >= 0:
                to = self._place(number[j], count)
                if to == count:
                    if count == most:
                        raise TooManyStates
                    self._room(count)
                    for p in range(self.m):
                        self.runs[count * self.m + p] = moved[p * k + j]
                    count += 1
            row[at + j] = to
        return count

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
        at: cython.int
        table: Table
        home: cython.p_int = self.home
        moved: cython.p_int = self.moved
        following: cython.p_int
        for p in range(self.m):
            state = self.runs[i * self.m + p]
            if state < 0:
                for j in range(p * k, p * k + k):
                    moved[j] = -1
                continue
            table = self.tables[p]
            following = table.next
            at = state * table.k
            for j in range(p * k, p * k + k):
                moved[j] = following[at + home[j]]
        return 0

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
    @cython.exceptval(-1, check=False)
    def _place(self, number: cython.longlong, count: cython.int) -> cython.int:
        """The state of a number; ``count``, which it is from now on, if there is none."""
        i: cython.int
        j: cython.int
        if self.few:
            i = cython.cast(cython.int, number)
            if self.slots[i] < 0:
                self.slots[i] = count
            return self.slots[i]
        i = self._slot(number)
        while self.slots[i] >= 0:
            if self.numbers[self.slots[i]] == number:
                return self.slots[i]
            i = (i + 1) & (self.slot_count - 1)
        self.slots[i] = count
        if count >= self.numbered:
            self.numbered = 2 * count + 64
            self.numbers = grow_long(self.numbers, self.numbered)
            if not self.numbers:
                raise MemoryError
        self.numbers[count] = number
        if 2 * count + 2 >= self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(count + 1):
                put_slot(self.slots, self.slot_count, self._slot(self.numbers[j]), j)
        return count

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, number: cython.longlong) -> cython.int:
        """Where a number is looked for first."""
        return cython.cast(cython.int, mix(mix(17, cython.cast(cython.int, number & 0x7FFFFFFF)),
                                           cython.cast(cython.int, number >> 31))
                           & cython.cast(cython.ulonglong, self.slot_count - 1))
