# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which nodes of a trie a region's automaton reads.

A region (a string's body, an identifier) is an automaton of a few states. ``region_automaton`` writes it down as a
table, ``cells``; here it is run over the vocabulary:

    al_c[i]         a class node that the automaton can read; its parent comes before it. Without ``classes`` a node of
                    the token trie, in order: an automaton that reads few of them (NARROW) needs no class trie
    al_need[i]      the rounds of the region's loop that a token takes that ends here, one begun counted in
    al_way[i]       the number of the way out that stands open here, 0 for none
    al_rounds[i]    the rounds done here, ``deepest`` at most
    standing[..]    how many of them stand at each way out, ``deepest + 1`` numbers each, by the rounds done

Cost: 2-5 ns a class node.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
else:
    from constrained.kernel.memory import drop_int, grow_int
    from constrained.kernel.token_trie import TokenTrie

BETWEEN = cython.declare(cython.int, 1 << 24)
NARROW = cython.declare(cython.int, 6000)


@cython.cclass
class RegionReach:
    """See the module docstring. ``cells``: the table this was made from, empty for one that is not shared.

    ``ways`` and ``counted`` are the maker's (see ``region_automaton``), kept for the next mask that needs the same.
    """

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.cells)
            drop_int(self.al_c)
            drop_int(self.al_need)
            drop_int(self.al_way)
            drop_int(self.al_rounds)
            drop_int(self.standing)
            drop_int(self.ways)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.cells = self.al_c = self.al_need = self.al_way = self.al_rounds = self.standing = self.ways = None
            self.n_alive = self.alive_cap = self.n_ways = self.deepest = self.n_cells = self.bytes_held = 0
            self.lo = self.hi = self.number = self.n_own = self.root = 0
            self.hash = 0
            self.counted = False
            return self

    def __init__(self, trie: TokenTrie, classes, root: cython.int):
        """Below trie node ``root``; ``classes``: a ``ClassTrie`` or None.

        Filled by ``run``, ``run_nodes`` or node by node, then ``finish``.
        """
        lo: cython.int = 0
        hi: cython.int = trie.n_tk
        mid: cython.int
        self.classes = classes
        self.root = root
        # the tokens below the root, as places in tk_node
        while lo < hi:
            mid = (lo + hi) >> 1
            if trie.tk_node[mid] <= root:
                lo = mid + 1
            else:
                hi = mid
        self.lo = lo
        hi = trie.n_tk
        while lo < hi:
            mid = (lo + hi) >> 1
            if trie.tk_node[mid] < trie.end[root]:
                lo = mid + 1
            else:
                hi = mid
        self.hi = lo

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, c: cython.int, need: cython.int, way: cython.int, rounds: cython.int) -> cython.bint:
        """Append a class node; False when memory is out."""
        i: cython.int = self.n_alive
        if not self.room(1):
            return False
        self.al_c[i] = c
        self.al_need[i] = need
        self.al_way[i] = way
        self.al_rounds[i] = rounds
        self.n_alive = i + 1
        return True

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def room(self, more: cython.int) -> cython.bint:
        """Room for so many class nodes more; False when memory is out."""
        if self.n_alive + more > self.alive_cap:
            self.alive_cap = 2 * (self.n_alive + more) + 62
            self.al_c = grow_int(self.al_c, self.alive_cap)
            self.al_need = grow_int(self.al_need, self.alive_cap)
            self.al_way = grow_int(self.al_way, self.alive_cap)
            self.al_rounds = grow_int(self.al_rounds, self.alive_cap)
        return self.alive_cap == 0 or (self.al_c and self.al_need and self.al_way and self.al_rounds)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _keep_cells(self, cells: cython.p_int, n_cells: cython.int) -> cython.bint:
        """Copy the table; False when memory is out."""
        j: cython.int
        self.cells = grow_int(self.cells, n_cells + 1)
        if not self.cells:
            return False
        self.n_cells = n_cells
        for j in range(n_cells):
            self.cells[j] = cells[j]
        return True

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run_nodes(self, trie: TokenTrie, partition: cython.p_const_uchar, n_classes: cython.int, cells: cython.p_int,
                  n_cells: cython.int) -> cython.int:
        """Like ``run``, without class nodes. 0: memory is out; -1: these are more than NARROW nodes."""
        k: cython.int
        d: cython.int
        at: cython.int
        n: cython.int = self.root + 1
        top: cython.int = trie.word[self.root] >> 8
        none: cython.p_int = cython.NULL if cython.compiled else None
        path: cython.p_int = grow_int(none, 2 * (trie.max_depth + 2))
        word: cython.p_int = trie.word
        end: cython.p_int = trie.end
        ok: cython.bint = self._keep_cells(cells, n_cells) and self.add(self.root, 1, 0, 0)
        if not path:
            ok = False
        if ok:
            path[0] = 1  # state and rounds by depth below the root
            path[1] = 0
        while ok and n < end[self.root] and self.n_alive <= NARROW:
            d = 2 * ((word[n] >> 8) - top)
            at = (path[d - 2] - 1) * (n_classes + 1)
            k = cells[at + 1 + partition[word[n] & 255]]
            if k == 0:
                n = end[n]
                continue
            at = (k - 1) * (n_classes + 1)
            path[d] = k
            path[d + 1] = path[d - 1] + (1 if cells[at] & BETWEEN else 0)
            ok = self.add(n, path[d + 1] + (0 if cells[at] & BETWEEN else 1), cells[at] & (BETWEEN - 1), path[d + 1])
            n += 1
        drop_int(path)
        if not ok:
            return 0
        if self.n_alive > NARROW:
            return -1
        return 1 if self.finish(trie) else 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run(self, trie: TokenTrie, partition: cython.p_const_uchar, n_classes: cython.int, cells: cython.p_int,
            n_cells: cython.int) -> cython.bint:
        """Read the class trie with the automaton ``cells``; False when memory is out.

        ``1 + n_classes`` ints for each state, numbered from 1, the first being where the walk begins: the number of its
        way out (0: none), with BETWEEN set between the rounds of a counted loop; then the state after a byte of
        each class (0: dead).
        """
        i: cython.int = 0
        j: cython.int
        c: cython.int
        k: cython.int
        at: cython.int
        rounds: cython.int
        child_off: cython.p_int = self.classes.child_off
        byte: cython.p_int = self.classes.byte
        n: cython.int
        al_c: cython.p_int
        al_need: cython.p_int
        al_rounds: cython.p_int
        if not self._keep_cells(cells, n_cells) or not self.add(self.classes.where[self.root], 1, 0, 0):
            return False
        # al_need is the state while the list grows
        while i < self.n_alive:
            at = (self.al_need[i] - 1) * (n_classes + 1) + 1
            rounds = self.al_rounds[i]
            c = self.al_c[i]
            i += 1
            n = self.n_alive
            if n + child_off[c + 1] - child_off[c] > self.alive_cap and not self.room(child_off[c + 1] - child_off[c]):
                return False
            al_c = self.al_c
            al_need = self.al_need
            al_rounds = self.al_rounds
            for j in range(child_off[c], child_off[c + 1]):
                k = cells[at + partition[byte[j]]]
                if k != 0:
                    al_c[n] = j
                    al_need[n] = k
                    al_rounds[n] = rounds + (1 if cells[(k - 1) * (n_classes + 1)] & BETWEEN else 0)
                    n += 1
            self.n_alive = n
        for i in range(self.n_alive):
            k = cells[(self.al_need[i] - 1) * (n_classes + 1)]
            self.al_need[i] = self.al_rounds[i] + (0 if k & BETWEEN else 1)
            self.al_way[i] = k & (BETWEEN - 1)
        return self.finish(trie)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _has_more(self, trie: TokenTrie, c: cython.int) -> cython.bint:
        """Whether anything is below node ``c`` of ``al_c``."""
        if self.classes is None:
            return trie.end[c] > c + 1
        return self.classes.child_off[c] != self.classes.child_off[c + 1]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def finish(self, trie: TokenTrie) -> cython.bint:
        """After the last class node; the first is the root, where no token ends and nothing leaves."""
        i: cython.int
        k: cython.int
        self.deepest = 0
        self.n_ways = 0
        for i in range(self.n_alive):
            if i == 0 or not self._has_more(trie, self.al_c[i]):
                self.al_way[i] = 0
            if self.al_way[i] > self.n_ways:
                self.n_ways = self.al_way[i]
            if self.al_rounds[i] > self.deepest:
                self.deepest = self.al_rounds[i]
        if self.n_alive:
            self.al_need[0] = 0
        k = (self.n_ways + 1) * (self.deepest + 1)
        self.standing = grow_int(self.standing, k)
        if not self.standing:
            return False
        for i in range(k):
            self.standing[i] = 0
        for i in range(self.n_alive):
            self.standing[self.al_way[i] * (self.deepest + 1) + self.al_rounds[i]] += 1
        self.bytes_held = 4 * (4 * self.n_alive + k + self.n_cells) + 500
        return True

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_way(self, number: cython.int, least: cython.int, most: cython.int) -> cython.bint:
        """Whether anything stands at way out ``number`` after ``least`` to ``most`` rounds."""
        rounds: cython.int
        if number > self.n_ways:
            return False
        if most > self.deepest:
            most = self.deepest
        for rounds in range(least, most + 1):
            if self.standing[number * (self.deepest + 1) + rounds] != 0:
                return True
        return False
