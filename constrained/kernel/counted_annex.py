# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""An automaton beside a counter of characters, of which nothing is written but the door.

State ``s`` after ``c`` characters is *place* ``c n + s``; a character ends where a state below ``boundary`` is entered,
``least`` to ``top`` of them are in a text, or any number from ``top`` on (``endless``: counts stop there). There are as
many copies of the automaton as there are counts, and a text meets a few places of each, so places become positions
when they are met (``kernel.lazy_positions``); edges to them lead to ``-2 - place``.

What must be known of all of them is which can still end in time. Below ``least`` that depends on the count above in
one and the same way, and so it does from ``least`` on: where two counts are alike, so are those before them, and few
rows are found. How many bytes it takes is another matter, found when somebody asks (``left``):

    can[r * n + s]    whether a text can end; ``row_of[c]`` is the row of count ``c``, of those beside it too if alike
    fewest[r * n + s] fewest bytes to the end, ``NO_END`` where there is none; ``fewest_of[c]`` is the row
    need[s]           fewest characters to an end, where nothing is counted; ``most_need`` the most of them

Rows grow towards smaller counts.
Cost: 1 ns an edge for each row of ``can``, as many as the longest text has characters of those that have an end (a
count each where it matters whether counts are even); 2 ns an edge for each of ``fewest``, one for each count below
``least``, and above it as many as the most characters that a shortest way to an end takes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END, Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.memory import grow_bytes, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import NO_END, Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.memory import grow_bytes, grow_int

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes


@cython.final
@cython.cclass
class CountedAnnex(Annex):
    """See the module docstring. Once measured, only ``left`` adds to it, under the lock of who asks."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.can)
            free(self.row_of)
            free(self.fewest)
            free(self.fewest_of)
            free(self.need)
            free(self.final)

    def __init__(self, block: Block, boundary: cython.int, least: cython.int, top: cython.int, endless: cython.bint,
                 most: cython.int):
        """``most``: numbers in rows; NetworkTooLarge beyond. ``(top + 1) * block.n`` is below 2**30."""
        i: cython.int
        self.block = block
        self.boundary = boundary
        self.least = least
        self.top = top
        self.endless = endless
        self.most = most
        self.counted = True
        self.size = 0
        self.edges = block.first[1]
        self.n_rows = 0
        self.row_of = grow_int(self.row_of, top + 1)
        self.need = grow_int(self.need, block.n)
        self.final = grow_int(self.final, block.n)
        if not (self.row_of and self.need and self.final):
            raise MemoryError
        for i in range(block.n):
            self.final[i] = 0
        for i in range(block.finals):
            self.final[block.final[i]] = 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        """The highest count first."""
        n: cython.int = self.block.n
        count: cython.int
        i: cython.int
        steady: cython.bint = False
        if self.n_rows == 0:
            self._measure_need()
            # what ``left`` may come to ask for
            if cython.cast(cython.longlong, min(self.top, self.least + self.most_need) + 1) * n > self.most:
                raise NetworkTooLarge
            for count in range(self.top, -1, -1):
                if not steady or count == self.least - 1:
                    self.can = grow_bytes(self.can, self._room(self.n_rows) * n)
                    if not self.can:
                        raise MemoryError
                    self._find_row(count, n * self.n_rows)
                    steady = count < self.top and self._same_row(n * self.n_rows)
                    if not steady:
                        self.n_rows += 1
                self.row_of[count] = self.n_rows - 1
        for i in range(self.block.first[0], self.block.first[1]):
            if self.place_after(0, i) >= 0:
                return 1
        return NO_END

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self, rows: cython.int) -> cython.Py_ssize_t:
        """Rows there must be room for where one more comes after ``rows``: with the least power of two above."""
        room: cython.Py_ssize_t = 4
        while room <= rows:
            room *= 2
        return room

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_row(self, count: cython.int, at: cython.int) -> cython.void:
        """Fill the row of ``can`` at ``at``; that of the next count is before it."""
        block: Block = self.block
        n: cython.int = block.n
        above: cython.int = at - n
        i: cython.int
        k: cython.int
        to: cython.int
        changed: cython.bint = True
        for i in range(n):
            self.can[at + i] = count >= self.least and self.final[i] != 0
        while changed:
            changed = False
            for i in range(n - 1, -1, -1):
                if self.can[at + i]:
                    continue
                for k in range(block.first[i], block.first[i + 1]):
                    to = block.to[k]
                    if to >= self.boundary or (self.endless and count == self.top):
                        to += at
                    elif count < self.top:
                        to += above
                    else:
                        continue
                    if self.can[to]:
                        self.can[at + i] = 1
                        changed = True
                        break

    @cython.cfunc
    @cython.exceptval(check=False)
    def _same_row(self, at: cython.int) -> cython.bint:
        """Whether the row at ``at`` is that before it."""
        n: cython.int = self.block.n
        i: cython.int
        for i in range(at, at + n):
            if self.can[i] != self.can[i - n]:
                return False
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _measure_need(self) -> cython.void:
        block: Block = self.block
        i: cython.int
        k: cython.int
        to: cython.int
        cost: cython.int
        changed: cython.bint = True
        for i in range(block.n):
            self.need[i] = 0 if self.final[i] else NO_END
        while changed:
            changed = False
            for i in range(block.n - 1, -1, -1):
                for k in range(block.first[i], block.first[i + 1]):
                    to = block.to[k]
                    cost = self.need[to] + (1 if to < self.boundary else 0)
                    if cost < self.need[i]:
                        self.need[i] = cost
                        changed = True
        self.most_need = 0
        for i in range(block.n):
            if self.need[i] < NO_END:
                self.most_need = max(self.most_need, self.need[i])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure_bytes(self) -> cython.int:
        """The highest count first. Two equal rows: all below are equal, too, as long as texts may end there."""
        n: cython.int = self.block.n
        count: cython.int
        at: cython.int
        i: cython.int
        rows: cython.int = 0
        steady: cython.bint = False
        fewest_of: cython.p_int = grow_int(cython.NULL if cython.compiled else None, self.top + 1)
        if not fewest_of:
            raise MemoryError
        for count in range(self.top, -1, -1):
            if not (steady and count >= self.least):
                self.fewest = grow_int(self.fewest, self._room(rows) * n)
                if not self.fewest:
                    raise MemoryError
                at = n * rows
                self._measure_row(count, at)
                steady = count < self.top
                i = 0
                while steady and i < n:
                    steady = self.fewest[at + i] == self.fewest[at - n + i]
                    i += 1
                if not steady:
                    rows += 1
            fewest_of[count] = rows - 1
        self.fewest_of = fewest_of
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _measure_row(self, count: cython.int, at: cython.int) -> cython.void:
        """Fill the row of ``fewest`` at ``at``; that of the next count is before it."""
        block: Block = self.block
        n: cython.int = block.n
        above: cython.int = at - n
        i: cython.int
        k: cython.int
        to: cython.int
        cost: cython.int
        changed: cython.bint = True
        for i in range(n):
            self.fewest[at + i] = 0 if count >= self.least and self.final[i] else NO_END
        while changed:
            changed = False
            for i in range(n - 1, -1, -1):
                cost = self.fewest[at + i]
                for k in range(block.first[i], block.first[i + 1]):
                    to = block.to[k]
                    if to >= self.boundary or (self.endless and count == self.top):
                        if self.fewest[at + to] + 1 < cost:
                            cost = self.fewest[at + to] + 1
                    elif count < self.top and self.fewest[above + to] + 1 < cost:
                        cost = self.fewest[above + to] + 1
                if cost < self.fewest[at + i]:
                    self.fewest[at + i] = cost
                    changed = True

    # ---- places ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def left(self, place: cython.int) -> cython.int:
        """Fewest bytes from a place to the end."""
        n: cython.int = self.block.n
        if not self.fewest_of:
            self._measure_bytes()
        return self.fewest[n * self.fewest_of[place // n] + place % n]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def can_end(self, count: cython.int, state: cython.int) -> cython.bint:
        """Whether a text can end that has come to ``state`` after ``count`` characters."""
        return self.can[self.block.n * self.row_of[count] + state]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ends(self, place: cython.int) -> cython.bint:
        """Whether a text may end at a place."""
        n: cython.int = self.block.n
        return self.final[place % n] and place // n >= self.least

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_after(self, place: cython.int, edge: cython.int) -> cython.int:
        """The place behind an edge of the block that is taken at a place; -1 if nothing ends from there in time."""
        n: cython.int = self.block.n
        to: cython.int = self.block.to[edge]
        count: cython.int = place // n
        if to < self.boundary:
            if count < self.top:
                count += 1
            elif not self.endless:
                return -1
        return n * count + to if self.can_end(count, to) else -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_edges(self, place: cython.int, a: cython.p_int, b: cython.p_int, to: cython.p_int,
                    at: cython.int) -> cython.int:
        """The byte edges of a place, from edge ``at`` on; returns the next free one."""
        state: cython.int = place % self.block.n
        k: cython.int
        after: cython.int
        for k in range(self.block.first[state], self.block.first[state + 1]):
            after = self.place_after(place, k)
            if after >= 0:
                a[at] = self.block.lo[k]
                b[at] = self.block.hi[k]
                to[at] = -2 - after
                at += 1
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_door(self, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int, base: cython.int,
                   end: cython.int) -> cython.int:
        return self.write_edges(0, a, b, to, at)
