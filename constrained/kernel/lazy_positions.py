# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The positions of one lowered grammar, and those that are made when they are met.

Data
    position   a point of a rule, with edges: bytes ``lo..hi``, epsilon, call of a rule, token set; or a loop, a guard
               or a text with a budget. Made by ``engine.lowering``, laid out as ``kernel.program`` says. 1 is END, 2 is
               HOLE.
    mark       scratch, a number for each position: that of the ``generation`` that has met it last

A *lazy* automaton (``grammar.lazy``) has more states than anyone would write down: remainders of a large number, texts
of which only the end tells whether they are right. In the program it is its door alone (``kernel.annexes``), whose
byte edges lead to -1: where to is asked of the automaton's source (``lazy_step``). Each state that it names becomes
a position behind the program's own, with such edges again, and an epsilon to the annex's end where it accepts; a
state that accepts and reads nothing is that end itself. An edge of a range may lead each byte elsewhere, and one to
nowhere.

An automaton beside a counter (``kernel.counted_annex``) is met in the same way. It needs nobody to be asked: its edges
lead to ``-2 - place``, and all that a place does is known.

    c_annex, c_door, c_end    of each such automaton, its annex, its door and the position behind it
    c_base[k]                 places of those before automaton ``k``; for ``kernel.carried`` its own follow
    x_annex, x_place          of each position that was made, its automaton (-1: one with a source) and place

The arrays are the program's, read where they are; with such automata they are copies that grow, and what has grown
goes with the epoch. ``p_min``, fewest bytes to the rule's end, is known once ``PositionSets.need_minima`` was asked;
of a position that was made it is -1 until ``lazy_minimum`` is asked for it.

Cost: a step 1 us and what the source takes, once a state and byte; a place 50 ns and 3 an edge. 70 bytes a position and
12 an edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.linking import need_all
    from cython.cimports.constrained.kernel.memo import Memo
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        drop_long,
        grow_bytes,
        grow_int,
        grow_long,
        grow_pointers,
        grow_shorts,
        out_of_memory,
        wider,
        zero_ints,
    )
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcpy
else:
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.linking import need_all
    from constrained.kernel.memo import Memo
    from constrained.kernel.memory import (
        drop_int,
        drop_long,
        grow_bytes,
        grow_int,
        grow_long,
        grow_pointers,
        grow_shorts,
        out_of_memory,
        wider,
        zero_ints,
    )

FAR = cython.declare(cython.longlong, 1 << 60)
MANY_MARKS = cython.declare(cython.int, 1 << 30)
LAZY_MINIMUM = cython.declare(cython.longlong, 1 << 40)
"""The most bytes that a source may say lead to its end."""


@cython.cclass
class LazyPositions:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.mark)
            drop_int(self.x_annex)
            drop_int(self.x_place)
            drop_int(self.c_door)
            drop_int(self.c_end)
            drop_int(self.c_base)
            free(self.c_annex)
            drop_long(self.p_min)
            if self.grows:
                drop_int(self.p_off)
                drop_int(self.e_a)
                drop_int(self.e_b)
                drop_int(self.e_to)
                free(self.p_accept)
                drop_int(self.p_loop)
                free(self.p_region)

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
        self.program = program
        self.n_positions = program.n_positions
        self.n_fixed = program.n_positions
        self.has_minima = False
        self.has_lazy = len(program.lazy) > 0
        self.n_counted = cython.cast(cython.int, len(program.counted))
        if self.has_lazy or self.n_counted > 0:
            return self._load_growing(program)
        self.p_off = program.p_off
        self.e_a = program.e_a
        self.e_b = program.e_b
        self.e_to = program.e_to
        self.p_accept = program.p_accept
        self.p_loop = program.p_loop
        self.p_region = program.p_region
        if self.n_positions >= self.mark_cap or self.generation > MANY_MARKS:
            self._need_marks(self.n_positions + 1)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_marks(self, n: cython.int) -> cython.int:
        """Room for ``n`` marks, all of them 0. Those of a program before stay: no later generation has their number."""
        n += n // 2 + 64
        if n > self.mark_cap:
            self.mark = grow_int(self.mark, n)
            if not self.mark:
                out_of_memory()
            self.mark_cap = n
        zero_ints(self.mark, 0, self.mark_cap)
        self.generation = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _load_growing(self, program: Program) -> cython.int:
        """``load_positions`` where positions are made: the program's arrays are copied."""
        i: cython.int
        edges: cython.int
        none: cython.p_int = cython.NULL if cython.compiled else None
        self.p_off = self.e_a = self.e_b = self.e_to = self.p_loop = none
        self.p_accept = cython.NULL if cython.compiled else None
        self.p_region = cython.NULL if cython.compiled else None
        self.grows = True
        self.lazy = program.lazy
        self.doors = {door: (number, source.start()) for number, (door, source, _) in enumerate(program.lazy)}
        need_all(program)
        edges = program.p_off[4 * self.n_fixed]
        self._need(0, edges)
        _copy(self.p_off, program.p_off, 4 * self.n_fixed + 1)
        _copy(self.e_a, program.e_a, edges)
        _copy(self.e_b, program.e_b, edges)
        _copy(self.e_to, program.e_to, edges)
        _copy(self.p_loop, program.p_loop, self.n_fixed)
        for i in range(self.n_fixed):
            self.p_accept[i] = program.p_accept[i]
            self.p_region[i] = program.p_region[i]
        self._load_counted(program)
        zero_ints(self.mark, 0, self.n_positions)
        self.generation = 0
        return self.forget_lazy()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _load_counted(self, program: Program) -> cython.int:
        k: cython.int
        annex: CountedAnnex
        places: cython.longlong = 0
        if self.n_counted == 0:
            return 0
        self.made = Memo()
        self.c_annex = grow_pointers(self.c_annex, self.n_counted)
        self.c_door = grow_int(self.c_door, self.n_counted)
        self.c_end = grow_int(self.c_end, self.n_counted)
        self.c_base = grow_int(self.c_base, self.n_counted + 1)
        if not (self.c_annex and self.c_door and self.c_end and self.c_base):
            out_of_memory()
        for k in range(self.n_counted):
            door, annex, end = program.counted[k]
            if cython.compiled:
                self.c_annex[k] = cython.cast(cython.p_void, annex)  # the program keeps it
            else:
                self.c_annex[k] = annex
            self.c_door[k] = door
            self.c_end[k] = end
            self.c_base[k] = cython.cast(cython.int, places)
            places += cython.cast(cython.longlong, annex.top + 1) * annex.block.n
        self.c_base[self.n_counted] = cython.cast(cython.int, places)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need(self, positions: cython.int, edges: cython.int) -> cython.int:
        """Room for so many more positions, and for ``edges`` edges in all."""
        if self.n_positions + positions >= self.p_cap:
            if self.n_positions + positions > 1 << 27:
                out_of_memory()
            self.p_cap = wider(self.n_positions + positions + 32, 4)
            self.p_off = grow_int(self.p_off, 4 * self.p_cap + 1)
            self.p_accept = grow_bytes(self.p_accept, self.p_cap)
            self.p_loop = grow_int(self.p_loop, self.p_cap)
            self.p_region = grow_shorts(self.p_region, self.p_cap)
            self.mark = grow_int(self.mark, self.p_cap)
            self.x_annex = grow_int(self.x_annex, self.p_cap - self.n_fixed)
            self.x_place = grow_int(self.x_place, self.p_cap - self.n_fixed)
            if not (self.p_off and self.p_accept and self.p_loop and self.p_region and self.mark and self.x_annex
                    and self.x_place):
                out_of_memory()
            if self.has_minima:
                self.p_min = grow_long(self.p_min, self.p_cap)
                if not self.p_min:
                    out_of_memory()
        if edges >= self.e_cap:
            if edges > 1 << 29:
                out_of_memory()
            self.e_cap = wider(edges + 32, 1)
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
        if self.has_lazy:
            self.lazy_states = {}
            self.lazy_ids = {}
        if self.n_counted > 0:
            self.made.clear()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_lazy(self) -> cython.longlong:
        """Bytes held for the positions that were made, about."""
        return 300 * cython.cast(cython.longlong, self.n_positions - self.n_fixed)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def lazy_step(self, p: cython.int, b: cython.int, to: cython.int) -> cython.int:
        """The position after byte ``b`` by an edge of ``p`` that leads to ``to``, which is below 0; 0 if there is none.
        What ``p_off``, ``e_*`` and the other arrays point to may move."""
        if to < -1:
            return self.place_position(self.automaton_of(p), -2 - to)
        with cython.gil:
            to = self._ask(p, b)
        return to

    # ---- automata beside counters --------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def automaton_of(self, p: cython.int) -> cython.int:
        """Which automaton beside a counter position ``p``, whose edges lead to its places, is of."""
        k: cython.int = 0
        if p >= self.n_fixed:
            return self.x_annex[p - self.n_fixed]
        while self.c_door[k] != p:
            k += 1
        return k

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_of_position(self, p: cython.int) -> cython.int:
        """Its place there; a door is at place 0."""
        return 0 if p < self.n_fixed else self.x_place[p - self.n_fixed]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def place_position(self, k: cython.int, place: cython.int) -> cython.int:
        """The position of a place of automaton ``k``."""
        p: cython.int = self.made.get(k + 1, place, 0)
        if p < 0:
            p = self._make_place(cython.cast(CountedAnnex, self.c_annex[k]), k, place)
            self.made.put(k + 1, place, 0, p)
        return p

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_place(self, annex: CountedAnnex, k: cython.int, place: cython.int) -> cython.int:
        p: cython.int = self.n_positions
        at: cython.int = self.p_off[4 * p]
        state: cython.int = place % annex.block.n
        self._need(1, at + 1 + annex.block.first[state + 1] - annex.block.first[state])
        self.p_off[4 * p + 1] = annex.write_edges(place, self.e_a, self.e_b, self.e_to, at)
        if annex.ends(place) and self.p_off[4 * p + 1] == at:
            return self.c_end[k]
        at = self.p_off[4 * p + 1]
        if annex.ends(place):
            self.e_a[at] = self.c_end[k]
            self.e_b[at] = self.c_end[k]
            self.e_to[at] = self.c_end[k]
            at += 1
        self._add_position(at, k, place)
        return p

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_position(self, at: cython.int, k: cython.int, place: cython.int) -> cython.void:
        """The position whose bytes and epsilon edges end before ``at``, of place ``place`` of automaton ``k``."""
        p: cython.int = self.n_positions
        self.p_off[4 * p + 2] = at
        self.p_off[4 * p + 3] = at
        self.p_off[4 * p + 4] = at
        self.p_accept[p] = 0
        self.p_loop[p] = -1
        self.p_region[p] = 0
        if self.has_minima:
            self.p_min[p] = -1
        self.mark[p] = 0
        self.x_annex[p - self.n_fixed] = k
        self.x_place[p - self.n_fixed] = place
        self.n_positions = p + 1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number_of(self, p: cython.int) -> cython.int:
        """A number for position ``p`` that every epoch understands (``position_of``); -1 if there is none."""
        if p < self.n_fixed:
            return p
        if self.x_annex[p - self.n_fixed] < 0:
            return -1
        return self.n_fixed + self.c_base[self.x_annex[p - self.n_fixed]] + self.x_place[p - self.n_fixed]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def position_of(self, number: cython.int) -> cython.int:
        """The position that ``number_of`` has numbered."""
        k: cython.int = 0
        if number < self.n_fixed:
            return number
        number -= self.n_fixed
        while self.c_base[k + 1] <= number:
            k += 1
        return self.place_position(k, number - self.c_base[k])

    # ---- automata with a source ----------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ask(self, p: cython.int, b: cython.int) -> cython.int:
        k: cython.int
        k, state = self.lazy_states[p] if p >= self.n_fixed else self.doors[p]
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
        self._add_position(at, -1, 0)
        self.lazy_states[p] = place
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
        k: cython.int = self.x_annex[p - self.n_fixed]
        annex: CountedAnnex
        rest: cython.longlong
        if k >= 0:
            annex = cython.cast(CountedAnnex, self.c_annex[k])
            self.p_min[p] = min(self.p_min[self.c_end[k]] + annex.left(self.x_place[p - self.n_fixed]), FAR - 1)
            return 0
        k, state = self.lazy_states[p]
        _, source, end = self.lazy[k]
        rest = source.left(state)
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
        if self.x_annex[p - self.n_fixed] >= 0:
            return self.c_door[self.x_annex[p - self.n_fixed]]
        return self.lazy[self.lazy_states[p][0]][0]


@cython.cfunc
@cython.exceptval(check=False)
def _copy(target: cython.p_int, source: cython.p_int, n: cython.int) -> cython.void:
    i: cython.int
    if cython.compiled:
        memcpy(target, source, n * cython.sizeof(cython.int))
    else:
        for i in range(n):
            target[i] = source[i]


# Uncompiled, attributes do not exist until they are set; compiled, lazy_positions.pxd declares them.
_COUNTERS = "n_positions n_fixed n_counted has_lazy has_minima grows p_cap e_cap mark_cap generation".split()
_POINTERS = "p_off e_a e_b e_to p_accept p_loop p_region p_min mark x_annex x_place c_annex c_door c_end c_base".split()
