# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Literals: a key's bytes are followed down the trie without states.

They are read up to the first position that does anything else. What goes on there is another record (``mask_records``),
at the group of the ``places`` reached, so that all keys share it.

    places[:n_places]     trie nodes with something below them, where the literal has been read
    byte                  the one that ``is_literal`` has found

Cost: 5 ns a byte and place.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from cython.cimports.constrained.kernel.found_tokens import FoundTokens
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.exit_groups import ROOT_GROUP, ExitGroups
    from constrained.kernel.found_tokens import FoundTokens
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from constrained.kernel.stacks import HOLE_NODE
    from constrained.kernel.token_trie import TokenTrie

NEAR = cython.declare(cython.int, 16)
FEW_POSITIONS = cython.declare(cython.int, 8)


@cython.final
@cython.no_gc
@cython.cclass
class Literals:
    """See the module docstring. ``make`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.places)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(check=False)
    def make(self, automaton: Automaton, trie: TokenTrie, groups: ExitGroups) -> cython.void:
        self.a = automaton
        self.t = trie
        self.groups = groups

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_literal(self, d: cython.int) -> cython.bint:
        """Whether all edges of det ``d`` read the same byte."""
        i: cython.int
        j: cython.int
        p: cython.int
        b: cython.int = -1
        if self.a.d_len[d] > FEW_POSITIONS or self.a.d_flags[d] & 32:
            return False
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                if self.a.e_a[j] != self.a.e_b[j] or (b >= 0 and self.a.e_a[j] != b):
                    return False
                b = self.a.e_a[j]
        self.byte = b
        return b >= 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _goes_on(self, p: cython.int) -> cython.bint:
        """Whether position ``p`` reads one byte and does nothing else."""
        at: cython.int = self.a.p_off[4 * p]
        return (at + 1 == self.a.p_off[4 * p + 1] and at + 1 == self.a.p_off[4 * p + 4]
                and self.a.e_a[at] == self.a.e_b[at] and self.a.e_to[at] >= 0 and self.a.p_loop[p] < 0
                and not self.a.p_accept[p] and self.a.p_region[p] == 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _skip(self, p: cython.int) -> cython.int:
        """What position ``p`` comes to where it has one epsilon and nothing else."""
        i: cython.int
        at: cython.int
        for i in range(NEAR):
            at = self.a.p_off[4 * p + 1]
            if not (self.a.p_off[4 * p] == at and at + 1 == self.a.p_off[4 * p + 2]
                    and at + 1 == self.a.p_off[4 * p + 4] and self.a.p_loop[p] < 0 and not self.a.p_accept[p]):
                break
            p = self.a.e_to[at]
        return p

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_place(self, x: cython.int, found: FoundTokens) -> cython.int:
        """Trie node ``x`` has been read by the literal: take its token, and go on below it."""
        found.add_at(x)
        if self.t.end[x] > x + 1:
            if self.n_places >= self.place_cap:
                self.place_cap = 64 if self.place_cap == 0 else self.place_cap * 2
                self.places = grow_int(self.places, self.place_cap)
                if not self.places:
                    out_of_memory()
            self.places[self.n_places] = x
            self.n_places += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def follow(self, g: cython.int, d: cython.int, found: FoundTokens) -> cython.int:
        """Read what literal det ``d`` reads at group ``g``, up to where something else begins, and add the tokens.

        Returns the node over HOLE that goes on at ``places``; 0 where there are none.
        """
        p: cython.int
        b: cython.int = -1
        i: cython.int
        j: cython.int
        n: cython.int
        c: cython.int
        at: cython.int
        self.n_places = 0
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            if self.a.p_off[4 * p] != self.a.p_off[4 * p + 1]:
                b = self.a.e_a[self.a.p_off[4 * p]]
        if g == ROOT_GROUP:
            c = self.t.children[self.t.child_table(0) + b]
            if c != 0:
                self._add_place(c, found)
        else:
            self.groups.open(g)
            for i in range(self.groups.behind(b)):
                self._add_place(self.groups.found[i], found)
        n = 0
        for i in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d]):
            p = self.a.d_pool[i]
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                self.a.need_buf(n + 1)
                self.a.buf[n] = self.a.e_to[j]
                n += 1
        self.a.enter(self.a.buf[0])
        p = self._skip(self.a.buf[0])
        while n == 1 and self.n_places > 0 and self._goes_on(p):
            b = self.a.e_a[self.a.p_off[4 * p]]
            at = self.n_places
            self.n_places = 0
            for i in range(at):  # not more are added than were read
                c = self.t._child(self.places[i], b)
                if c != 0:
                    self._add_place(c, found)
            p = self.a.e_to[self.a.p_off[4 * p]]
            self.a.enter(p)
            p = self._skip(p)
        if self.n_places == 0:
            return 0
        if n == 1:
            self.a.buf[0] = p
        n = self.a.closure(n)
        d = self.a.intern_det(n)
        at = self.a.it_len
        self.a.add_pair(d, HOLE_NODE)
        return self.a.canonical(at)


_COUNTERS = ("n_places", "place_cap", "byte")
_POINTERS = ("places",)
