# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The positions of one lowered grammar, and those that are made when they are met.

Data
    position   a point of a rule, with edges: bytes ``lo..hi``, epsilon, call of a rule, token set; or a loop, a guard
               or a text with a budget. Made by ``engine.lowering``, laid out as ``kernel.program`` says. 1 is END, 2 is
               HOLE.
    mark       scratch, a number for each position

A *lazy* automaton (``grammar.lazy``) has more states than anyone would write down: remainders of a large number, texts
of which only the end tells whether they are right. In the program it is its door alone (``kernel.annexes``), whose
byte edges lead to -1: where to is asked of the automaton's source (``lazy_step``). Each state that it names becomes
a position behind the program's own, with such edges again, and an epsilon to the annex's end where it accepts; a
state that accepts and reads nothing is that end itself. An edge of a range may lead each byte elsewhere, and one to
nowhere.

The arrays are the program's, read where they are; with a lazy automaton they are copies that grow, and what has grown
goes with the epoch. ``p_min`` of a new position is -1 until ``lazy_minimum`` is asked for it.

Cost: a step 1 us and what the source takes, once a state and byte; 60 bytes a position and 12 an edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import drop_int, drop_long, grow_int, grow_long, out_of_memory
    from cython.cimports.constrained.kernel.program import Program
else:
    from constrained.kernel.memory import drop_int, drop_long, grow_int, grow_long, out_of_memory

LAZY_MINIMUM = cython.declare(cython.longlong, 1 << 40)
"""The most bytes that a source may say lead to its end."""


@cython.cclass
class LazyPositions:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.mark)
            if self.has_lazy:
                drop_int(self.p_off)
                drop_int(self.e_a)
                drop_int(self.e_b)
                drop_int(self.e_to)
                drop_int(self.p_accept)
                drop_int(self.p_loop)
                drop_int(self.p_region)
                drop_long(self.p_min)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_positions(self, program: Program) -> cython.int:
        """Read the program's arrays where they are, or copy them."""
        i: cython.int
        self.program = program
        self.n_positions = program.n_positions
        self.n_fixed = program.n_positions
        self.lazy = program.lazy
        self.doors = {door: (number, source.start()) for number, (door, source, _) in enumerate(program.lazy)}
        if not self.lazy:
            self.p_off = program.p_off
            self.e_a = program.e_a
            self.e_b = program.e_b
            self.e_to = program.e_to
            self.p_accept = program.p_accept
            self.p_loop = program.p_loop
            self.p_region = program.p_region
            self.p_min = program.p_min
            self.mark = grow_int(self.mark, self.n_positions + 1)
            if not self.mark:
                out_of_memory()
        else:
            self.has_lazy = True
            self._need(0, program.p_off[4 * self.n_fixed])
            for i in range(4 * self.n_fixed + 1):
                self.p_off[i] = program.p_off[i]
            for i in range(program.p_off[4 * self.n_fixed]):
                self.e_a[i] = program.e_a[i]
                self.e_b[i] = program.e_b[i]
                self.e_to[i] = program.e_to[i]
            for i in range(self.n_fixed):
                self.p_accept[i] = program.p_accept[i]
                self.p_loop[i] = program.p_loop[i]
                self.p_region[i] = program.p_region[i]
                self.p_min[i] = program.p_min[i]
        for i in range(self.n_positions):
            self.mark[i] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need(self, positions: cython.int, edges: cython.int) -> cython.int:
        """Room for so many more positions, and for ``edges`` edges in all."""
        if self.n_positions + positions >= self.p_cap:
            if self.n_positions + positions > 1 << 27:
                out_of_memory()
            self.p_cap = 2 * (self.n_positions + positions) + 64
            self.p_off = grow_int(self.p_off, 4 * self.p_cap + 1)
            self.p_accept = grow_int(self.p_accept, self.p_cap)
            self.p_loop = grow_int(self.p_loop, self.p_cap)
            self.p_region = grow_int(self.p_region, self.p_cap)
            self.mark = grow_int(self.mark, self.p_cap)
            self.p_min = grow_long(self.p_min, self.p_cap)
            if not (self.p_off and self.p_accept and self.p_loop and self.p_region and self.mark and self.p_min):
                out_of_memory()
        if edges >= self.e_cap:
            if edges > 1 << 29:
                out_of_memory()
            self.e_cap = 2 * edges + 64
            self.e_a = grow_int(self.e_a, self.e_cap)
            self.e_b = grow_int(self.e_b, self.e_cap)
            self.e_to = grow_int(self.e_to, self.e_cap)
            if not (self.e_a and self.e_b and self.e_to):
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_lazy(self) -> cython.int:
        """Begin an epoch: forget the positions that were made."""
        self.n_positions = self.n_fixed
        self.lazy_states = []
        self.lazy_ids = {}
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_lazy(self) -> cython.longlong:
        """Bytes held for the positions that were made, about; nothing where there is no lazy automaton."""
        return 300 * cython.cast(cython.longlong, self.n_positions - self.n_fixed)

    # ---- what is asked of the sources ----------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def lazy_step(self, p: cython.int, b: cython.int) -> cython.int:
        """The position after byte ``b`` by an edge of ``p`` that leads to -1; 0 if there is none. What ``p_off``,
        ``e_*`` and the other arrays point to may move."""
        to: cython.int
        with cython.gil:
            to = self._ask(p, b)
        return to

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ask(self, p: cython.int, b: cython.int) -> cython.int:
        k: cython.int
        k, state = self.lazy_states[p - self.n_fixed] if p >= self.n_fixed else self.doors[p]
        after = self.lazy[k][1].step(state, b)
        if after is None:
            return 0
        return self._position(k, after)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _position(self, k: cython.int, state) -> cython.int:
        """The position of a state of lazy automaton ``k``."""
        p: cython.int
        at: cython.int
        place = (k, state)
        known = self.lazy_ids.get(place)
        if known is not None:
            return known
        _, source, end = self.lazy[k]
        ranges = source.reads(state)
        accepts: cython.bint = source.accepts(state)
        if accepts and not ranges:
            self.lazy_ids[place] = end
            return end
        p = self.n_positions
        at = self.p_off[4 * p]
        self._need(1, at + cython.cast(cython.int, len(ranges)) + 1)
        for first, last in ranges:
            self.e_a[at] = first
            self.e_b[at] = last
            self.e_to[at] = -1
            at += 1
        self.p_off[4 * p + 1] = at
        if accepts:
            self.e_a[at] = end
            self.e_b[at] = end
            self.e_to[at] = end
            at += 1
        self.p_off[4 * p + 2] = at
        self.p_off[4 * p + 3] = at
        self.p_off[4 * p + 4] = at
        self.p_accept[p] = 0
        self.p_loop[p] = -1
        self.p_region[p] = 0
        self.p_min[p] = -1
        self.mark[p] = 0
        self.n_positions = p + 1
        self.lazy_states.append(place)
        self.lazy_ids[place] = p
        return p

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def lazy_minimum(self, p: cython.int) -> cython.int:
        """Find ``p_min`` of a position that was made."""
        with cython.gil:
            self._measure(p)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure(self, p: cython.int) -> cython.int:
        k: cython.int
        k, state = self.lazy_states[p - self.n_fixed]
        _, source, end = self.lazy[k]
        rest: cython.longlong = source.left(state)
        if rest > LAZY_MINIMUM:
            rest = LAZY_MINIMUM
        self.p_min[p] = rest + self.p_min[end]
        return 0

    @cython.final
    @cython.cfunc
    def door_of(self, p: cython.int):
        """A position of the program: ``p``, or the door of the lazy automaton it belongs to."""
        if p < self.n_fixed:
            return p
        return self.lazy[self.lazy_states[p - self.n_fixed][0]][0]


# Uncompiled, attributes do not exist until they are set; compiled, lazy_positions.pxd declares them.
_COUNTERS = "n_positions n_fixed has_lazy p_cap e_cap".split()
_POINTERS = "p_off e_a e_b e_to p_accept p_loop p_region p_min mark".split()
