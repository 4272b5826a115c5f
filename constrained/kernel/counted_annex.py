# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""An automaton beside a counter of characters, of which nothing is written but the door.

State ``s`` after ``c`` characters is *place* ``c n + s``; a character ends where a state below ``boundary`` is entered,
``least`` to ``top`` of them are in a text, or any number from ``top`` on (``endless``: counts stop there). There are as
many copies of the automaton as there are counts, and a text meets a few places of each, so places become positions
when they are met (``kernel.lazy_positions``); edges to them lead to ``-2 - place``.

What must be known of all of them is which can still end in time. The fewest bytes from a place to the end depend on
how many characters are left, and soon do not:

    rows[r * n + s]   fewest bytes to the end, ``NO_END`` where there is none
    row_of[c]         the row of count ``c``, as many counts share one; rows grow towards smaller counts
    alike[c]          equal for counts, one after another, where the same states can end
    need[s]           fewest characters to an end, where nothing is counted; ``most_need`` the most of them

Cost: 2 ns an edge for each row; a row for each count below ``least``, and above it as many as the most characters that
a shortest way to an end takes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END, Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import NO_END, Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.memory import grow_int

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes


@cython.final
@cython.cclass
class CountedAnnex(Annex):
    """See the module docstring. Read-only once it is measured."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.rows)
            free(self.row_of)
            free(self.alike)
            free(self.need)
            free(self.final)

    def __init__(self, block: Block, boundary: cython.int, least: cython.int, top: cython.int, endless: cython.bint,
                 most: cython.int):
        """``most``: numbers in ``rows``; NetworkTooLarge beyond. ``(top + 1) * block.n`` is below 2**30."""
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
        self.row_of = grow_int(self.row_of, top + 1)
        self.alike = grow_int(self.alike, top + 1)
        self.need = grow_int(self.need, block.n)
        self.final = grow_int(self.final, block.n)
        if not (self.row_of and self.alike and self.need and self.final):
            raise MemoryError
        for i in range(block.n):
            self.final[i] = 0
        for i in range(block.finals):
            self.final[block.final[i]] = 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        """The highest count first. Two equal rows: all below are equal, too, as long as texts may end there."""
        n: cython.int = self.block.n
        count: cython.int
        at: cython.int
        i: cython.int
        last: cython.int
        room: cython.int = 0
        steady: cython.bint = False
        self.n_rows = 0
        self._measure_need()
        for count in range(self.top, -1, -1):
            self.alike[count] = count
            if not (steady and count >= self.least):
                if self.n_rows >= room:
                    room = 2 * self.n_rows + 4
                    if cython.cast(cython.longlong, self.n_rows + 1) * n > self.most or room > (1 << 29) // n:
                        raise NetworkTooLarge
                    self.rows = grow_int(self.rows, room * n)
                    if not self.rows:
                        raise MemoryError
                at = n * self.n_rows
                self._measure_row(count, at)
                steady = count < self.top
                if steady:
                    self.alike[count] = self.alike[count + 1]
                for i in range(n):
                    if count < self.top and self.rows[at + i] != self.rows[at - n + i]:
                        steady = False
                        if (self.rows[at + i] < NO_END) != (self.rows[at - n + i] < NO_END):
                            self.alike[count] = count
                            break
                if not steady:
                    self.n_rows += 1
            else:
                self.alike[count] = self.alike[count + 1]
            self.row_of[count] = self.n_rows - 1
        last = NO_END
        for i in range(self.block.first[0], self.block.first[1]):
            at = self.place_after(0, i)
            if at >= 0 and self.left(at) + 1 < last:
                last = self.left(at) + 1
        return last

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
    @cython.exceptval(check=False)
    def _measure_row(self, count: cython.int, at: cython.int) -> cython.void:
        """Fill the row at ``at``; that of the next count is before it."""
        block: Block = self.block
        n: cython.int = block.n
        above: cython.int = at - n
        i: cython.int
        k: cython.int
        to: cython.int
        cost: cython.int
        changed: cython.bint = True
        for i in range(n):
            self.rows[at + i] = 0 if count >= self.least and self.final[i] else NO_END
        while changed:
            changed = False
            for i in range(n - 1, -1, -1):
                cost = self.rows[at + i]
                for k in range(block.first[i], block.first[i + 1]):
                    to = block.to[k]
                    if to >= self.boundary or (self.endless and count == self.top):
                        if self.rows[at + to] + 1 < cost:
                            cost = self.rows[at + to] + 1
                    elif count < self.top and self.rows[above + to] + 1 < cost:
                        cost = self.rows[above + to] + 1
                if cost < self.rows[at + i]:
                    self.rows[at + i] = cost
                    changed = True

    # ---- places ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def left(self, place: cython.int) -> cython.int:
        """Fewest bytes from a place to the end."""
        n: cython.int = self.block.n
        return self.rows[n * self.row_of[place // n] + place % n]

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
        return n * count + to if self.rows[n * self.row_of[count] + to] < NO_END else -1

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
