# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Literals: a key's bytes are followed down the trie without states.

They are read up to the first position that does anything else. What goes on there is another record (``mask_records``),
at the group of the ``places`` reached, so that all keys share it.

*Forks* are read like that, too: positions at which words go apart, and the trees of words behind them. A large enum has
thousands of places in one mask, and a text comes to a few of them.

    places[:n_places]     trie nodes with something below them, where the literal has been read
    byte                  the one that ``is_literal`` has found
    ends[:2 * n_ends]     where a tree has been read: trie nodes, and the positions that go on there
    waits[:2 * n_waits]   trie nodes and positions inside of a tree that are still to be read
    n_read                trie nodes that were read in the tree

Cost: 5 ns a byte and place; in a tree 20 ns a trie node that is read, and 5 a byte that is tried.
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
            drop_int(self.ends)
            drop_int(self.waits)

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


    # ---- trees ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_fork(self, d: cython.int) -> cython.bint:
        """Whether det ``d`` is one position at which words go apart."""
        return self.a.d_len[d] == 1 and not self.a.d_flags[d] & 32 and self._forks(self.a.d_pool[self.a.d_off[d]], 2)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _forks(self, p: cython.int, least: cython.int) -> cython.bint:
        """Whether position ``p`` reads bytes one by one, ``least`` or more, in order, and does nothing else."""
        i: cython.int
        at: cython.int = self.a.p_off[4 * p]
        last: cython.int = self.a.p_off[4 * p + 1]
        if (last - at < least or last != self.a.p_off[4 * p + 4] or self.a.p_loop[p] >= 0 or self.a.p_accept[p]
                or self.a.p_region[p] != 0):
            return False
        for i in range(at, last):
            if self.a.e_a[i] != self.a.e_b[i] or self.a.e_to[i] < 0 or (i > at and self.a.e_a[i] <= self.a.e_a[i - 1]):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def branch(self, g: cython.int, d: cython.int, found: FoundTokens) -> cython.int:
        """Read the tree of fork ``d`` at group ``g``, and add the tokens in it; those at ``ends`` are not added."""
        p: cython.int = self.a.d_pool[self.a.d_off[d]]
        c: cython.int
        i: cython.int
        j: cython.int
        x: cython.int
        self.n_ends = 0
        self.n_waits = 0
        self.n_read = 0
        if g == ROOT_GROUP:
            self._wait(0, p)
        else:
            self.groups.open(g)
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                for i in range(self.groups.behind(self.a.e_a[j])):
                    self._arrive(self.groups.found[i], self.a.e_to[j], found)
        while self.n_waits > 0:
            self.n_waits -= 1
            x = self.waits[2 * self.n_waits]
            p = self.waits[2 * self.n_waits + 1]
            for j in range(self.a.p_off[4 * p], self.a.p_off[4 * p + 1]):
                c = self.t._child(x, self.a.e_a[j])
                if c != 0:
                    self._arrive(c, self.a.e_to[j], found)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _wait(self, x: cython.int, p: cython.int) -> cython.int:
        """What position ``p`` reads below trie node ``x`` is to be read."""
        if self.n_waits >= self.wait_cap:
            self.wait_cap = 2 * self.wait_cap + 64
            self.waits = grow_int(self.waits, 2 * self.wait_cap)
            if not self.waits:
                out_of_memory()
        self.waits[2 * self.n_waits] = x
        self.waits[2 * self.n_waits + 1] = p
        self.n_waits += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _arrive(self, x: cython.int, p: cython.int, found: FoundTokens) -> cython.int:
        """Trie node ``x`` has been read, and position ``p`` goes on there."""
        self.n_read += 1
        self.a.enter(p)
        p = self._skip(p)
        if self._forks(p, 1):
            found.add_at(x)
            return self._wait(x, p) if self.t.end[x] > x + 1 else 0
        if self.n_ends >= self.end_cap:
            self.end_cap = 2 * self.end_cap + 64
            self.ends = grow_int(self.ends, 2 * self.end_cap)
            if not self.ends:
                out_of_memory()
        self.ends[2 * self.n_ends] = x
        self.ends[2 * self.n_ends + 1] = p
        self.n_ends += 1
        return 0


_COUNTERS = ("n_places", "place_cap", "byte", "n_ends", "end_cap", "n_waits", "wait_cap", "n_read")
_POINTERS = ("places", "ends", "waits")
