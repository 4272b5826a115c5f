# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A region's automaton written down: the table by which grammars share what it reads.

Idea
    A region of one grammar, entered at a hole node, is an automaton of a few states. ``explore`` numbers them as they
    are met and merges the byte classes that no state tells apart, so equal languages give equal tables whatever else
    a grammar's region has: a string's body is the same one behind a pattern as without.

Data
    tb[:tb_len]      for each state, numbered from 1, ``1 + n_classes`` ints: the number of its way out (0: none), with
                     BETWEEN_ROUNDS set between the rounds of a counted loop; the state after a byte of each class.
                     ``tb[tb_len]`` is ``n_classes``
    number           the partition of these classes, a number of ``region_tables``
    ways[:n_ways]    the hole nodes at which the ways out go on, by number
    counted          whether rounds can be counted along a path
    rg_*             by region: its partition's number (-1: not read yet), and in ``rg_first`` a byte of each class

A large automaton (all letters of all scripts) is not written down: ``run`` reads a class trie with the states
themselves. Cost: 20-50 ns a state and class.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.holes import restrict
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        grow_int,
        moved,
        out_of_memory,
        unset_ints,
        zero_ints,
    )
    from cython.cimports.constrained.kernel.region_tables import RegionTables
    from cython.cimports.constrained.kernel.region_tokens import RegionTokens
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.holes import restrict
    from constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, unset_ints, zero_ints
    from constrained.kernel.region_tables import RegionTables
    from constrained.kernel.region_tokens import RegionTokens
    from constrained.kernel.token_trie import TokenTrie

BETWEEN_ROUNDS = cython.declare(cython.int, 1 << 24)
BUDGET = cython.declare(cython.int, -5)
MAX_CELLS = cython.declare(cython.int, 2048)
MUCH = cython.declare(cython.int, 6)
"""A region is left too often for lists if more than one in so many trie nodes can follow a place within it."""


@cython.final
@cython.no_gc
@cython.cclass
class RegionAutomaton:
    """See the module docstring. ``make`` comes first; ``forget`` when nodes are numbered anew."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.nu)
            drop_int(self.nu_gen)
            drop_int(self.st_node)
            drop_int(self.ways)
            drop_int(self.tb)
            drop_int(self.rg_piece)
            drop_int(self.rg_first)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.first = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make(self, automaton: Automaton, trie: TokenTrie, tables: RegionTables, regions: list) -> cython.int:
        """``regions``: partitions of the bytes, one a region; number 0 is none. Each is read when it is first met."""
        n: cython.int = cython.cast(cython.int, len(regions))
        self.a = automaton
        self.t = trie
        self.tables = tables
        self.regions = regions
        self.rg_piece = grow_int(self.rg_piece, 3 * n)
        if not self.rg_piece:
            raise MemoryError
        self.rg_number = moved(self.rg_piece, 0, self.rg_number, 0, n)
        self.rg_off = moved(self.rg_piece, n, self.rg_off, 0, n)
        self.rg_count = moved(self.rg_piece, 2 * n, self.rg_count, 0, n)
        unset_ints(self.rg_number, 0, n)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Nodes have other numbers from now on."""
        self.known_u = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _read_partition(self, region: cython.int) -> cython.int:
        """The number of a region's partition, and behind those read before a byte of each of its classes."""
        k: cython.int
        at: cython.int = self.rg_len
        number: cython.int = self.tables.partition_number(self.regions[region])
        first: bytes = self.tables.first_bytes[number]
        text: cython.p_const_uchar = first
        n: cython.int = cython.cast(cython.int, len(first))
        if at + n > self.rg_room:
            self.rg_room = 2 * (at + n)
            self.rg_first = grow_int(self.rg_first, self.rg_room)
            if not self.rg_first:
                raise MemoryError
        for k in range(n):
            self.rg_first[at + k] = text[k]
        self.rg_len = at + n
        self.rg_off[region] = at
        self.rg_count[region] = n
        self.rg_number[region] = number
        return 0

    # ---- the table -----------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_numbers(self, count: cython.int, cells: cython.int) -> cython.int:
        """Room for numbers of all nodes there are, for ``count`` numbered ones and ``cells`` of the table."""
        i: cython.int
        if self.nu_cap < self.a.n_count:
            i = self.nu_cap
            self.nu_cap = self.a.n_count * 2
            self.nu = grow_int(self.nu, self.nu_cap)
            self.nu_gen = grow_int(self.nu_gen, self.nu_cap)
            if not (self.nu and self.nu_gen):
                out_of_memory()
            zero_ints(self.nu_gen, i, self.nu_cap - i)
        if self.st_cap < count:
            self.st_cap = count * 2 + 64
            self.st_node = grow_int(self.st_node, self.st_cap)
            self.ways = grow_int(self.ways, self.st_cap)
            if not (self.st_node and self.ways):
                out_of_memory()
        if self.tb_cap < cells:
            self.tb_cap = cells * 2 + 256
            self.tb = grow_int(self.tb, self.tb_cap)
            if not self.tb:
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _number(self, t: cython.int, n: cython.int) -> cython.int:
        """The number of hole node ``t``, from 1 as they are met; ``n`` have one. A new one gets ``n + 1``."""
        self._need_numbers(n + 1, self.tb_len + 3)
        if self.nu_gen[t] != self.numbering:
            self.nu_gen[t] = self.numbering
            self.nu[t] = n + 1
            self.st_node[n] = t
        return self.nu[t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _describe(self, t: cython.int, region: cython.int) -> cython.int:
        """Append hole node ``t`` to ``tb``: the number of its way out and BETWEEN_ROUNDS, the row of what is inside.

        Clears ``counted`` where rounds cannot be counted along a path: each node must be either between rounds of
        the region's loop or within one.
        """
        k: cython.int = 0
        loop: cython.int
        r: cython.int = restrict(self.a, t, region, False)
        if r != 0:
            while k < self.n_ways and self.ways[k] != r:
                k += 1
            if k == self.n_ways:
                self._need_numbers(k + 1, 0)
                self.ways[k] = r
                self.n_ways += 1
            k += 1
        r = restrict(self.a, t, region, True)
        if r != 0:
            if self.a.n_len[r] != 1:
                self.counted = False
            loop = self.a.d_loop[self.a.el_d[self.a.n_off[r]]]
            if loop >= 0 and self.a.l_rule[loop] != BUDGET:
                k |= BETWEEN_ROUNDS
            r = self.a.row_of(r)
        self._need_numbers(0, self.tb_len + 2)
        self.tb[self.tb_len] = k
        self.tb[self.tb_len + 1] = r
        self.tb_len += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _begin(self, u: cython.int, region: cython.int) -> cython.int:
        """The first state."""
        if self.rg_number[region] < 0:
            with cython.gil:
                self._read_partition(region)
        self.known_u = 0
        self.counted = True
        self.n_ways = 0
        self.tb_len = 0
        self.numbering += 1
        self._number(u, 0)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def explore(self, u: cython.int, region: cython.int) -> cython.bint:
        """Write the region's automaton from ``u`` into ``tb``. False: it is larger than MAX_CELLS.

        What was found last is kept.
        """
        if self.known_u != u or self.known_region != region:
            self._begin(u, region)
            self.small = self._write(region)
            self.known_region = region
            self.known_u = u
        return self.small

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _write(self, region: cython.int) -> cython.bint:
        i: cython.int = 0
        j: cython.int
        t: cython.int
        at: cython.int
        row: cython.int
        count: cython.int = 1
        lo: cython.int = self.rg_off[region]
        n_classes: cython.int = self.rg_count[region]
        while i < count:
            if self.tb_len + n_classes > MAX_CELLS:
                return False
            at = self.tb_len
            self._describe(self.st_node[i], region)
            i += 1
            row = self.tb[at + 1]
            self.tb_len = at + 1
            for j in range(n_classes):
                t = 0 if row == 0 else self.a.step(row, self.a.cls[self.rg_first[lo + j]])
                if t != 0:
                    t = self._number(self.a.row_node[t // self.a.n_classes], count)
                    if t > count:
                        count = t
                self._need_numbers(0, self.tb_len + 1)
                self.tb[self.tb_len] = t
                self.tb_len += 1
        self._merge(region, count)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _merge(self, region: cython.int, count: cython.int) -> cython.int:
        """Leave one column of those that are equal in all ``count`` states, and find the ``number`` of what is left."""
        i: cython.int
        j: cython.int
        s: cython.int
        n: cython.int = 0
        old: cython.int = 1 + self.rg_count[region]
        self._need_numbers(0, self.tb_len + 2 * old)
        for j in range(old - 1):  # behind the table: where each class goes, and which are left
            for i in range(n):
                s = 0
                while s < count and self.tb[s * old + 1 + self.tb[self.tb_len + old + i]] == self.tb[s * old + 1 + j]:
                    s += 1
                if s == count:
                    break
            else:
                i = n
                self.tb[self.tb_len + old + n] = j
                n += 1
            self.tb[self.tb_len + j] = i
        if n == old - 1:
            self.number = self.rg_number[region]
            self.tb[self.tb_len] = n
            return 0
        with cython.gil:
            self._find_number(region)
        for s in range(count):
            self.tb[s * (n + 1)] = self.tb[s * old]
            for i in range(n):
                self.tb[s * (n + 1) + 1 + i] = self.tb[s * old + 1 + self.tb[self.tb_len + old + i]]
        self.tb_len = count * (n + 1)
        self.tb[self.tb_len] = n
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _find_number(self, region: cython.int) -> cython.int:
        """The number of the region's partition with classes merged as ``_merge`` has written behind the table."""
        b: cython.int
        partition: bytes = self.tables.partitions[self.rg_number[region]]
        text: cython.p_const_uchar = partition
        merged = bytearray(256)
        out: cython.p_uchar = merged
        for b in range(256):
            out[b] = self.tb[self.tb_len + text[b]]
        self.number = self.tables.partition_number(bytes(merged))
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def leaves_much(self) -> cython.bint:
        """Whether what was explored last can be left by the bytes of a large part of the trie's nodes.

        To go on behind each of the places where it stands is more work then than to walk the trie. Ways out of states
        that do not go on inside, and other bytes than ASCII's, stand behind few nodes: those of a character begun.
        """
        b: cython.int
        i: cython.int
        k: cython.int
        s: cython.int = 0
        n: cython.int = self.tb[self.tb_len]
        zero_ints(self.first, 0, 8)
        while s < self.tb_len:
            k = self.tb[s] & (BETWEEN_ROUNDS - 1)
            i = s + 1
            s += n + 1
            while i < s and self.tb[i] == 0:
                i += 1
            if k != 0 and i < s:
                self.a.first_classes(self.ways[k - 1], self.first)
        n = 0
        for b in range(128):
            k = self.a.cls[b]
            if (self.first[k >> 5] >> (k & 31)) & 1:
                n += self.t.byte_off[b + 1] - self.t.byte_off[b]
        return n > self.t.n_nodes // MUCH

    # ---- large automata ------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def run(self, one: RegionTokens, u: cython.int, region: cython.int, kinds: cython.p_const_uchar) -> cython.int:
        """Read the class trie of ``one`` with the automaton itself, whose table is filled as states are met.

        ``kinds``: the region's partition. In ``tb`` for each state, numbered from 1: the two ints of ``_describe``,
        then the state after a byte of each class, -1 while it is unknown.
        """
        i: cython.int = 0
        j: cython.int
        c: cython.int
        n: cython.int
        t: cython.int
        at: cython.int
        rounds: cython.int
        count: cython.int = 1
        stride: cython.int
        child_off: cython.p_int = one.classes.child_off
        byte: cython.p_int = one.classes.byte
        al_c: cython.p_int
        al_need: cython.p_int
        al_rounds: cython.p_int
        self._begin(u, region)
        stride = 2 + self.rg_count[region]
        self._open_state(u, region, stride)
        if not one.add(one.classes.where[one.root], 1, 0, 0):
            out_of_memory()
        # al_need is the state's number while the list grows
        while i < one.n_alive:
            at = (one.al_need[i] - 1) * stride
            if self.tb[at + 1] == 0:
                i += 1
                continue
            rounds = one.al_rounds[i]
            c = one.al_c[i]
            i += 1
            n = one.n_alive
            if not one.room(child_off[c + 1] - child_off[c]):
                out_of_memory()
            al_c = one.al_c
            al_need = one.al_need
            al_rounds = one.al_rounds
            for j in range(child_off[c], child_off[c + 1]):
                t = self.tb[at + 2 + kinds[byte[j]]]
                if t < 0:
                    t = self.a.step(self.tb[at + 1], self.a.cls[byte[j]])
                    if t != 0:
                        t = self._number(self.a.row_node[t // self.a.n_classes], count)
                        if t > count:
                            count = t
                            self._open_state(self.st_node[t - 1], region, stride)
                    self.tb[at + 2 + kinds[byte[j]]] = t
                if t != 0:
                    al_c[n] = j
                    al_need[n] = t
                    al_rounds[n] = rounds + (1 if self.tb[(t - 1) * stride] & BETWEEN_ROUNDS else 0)
                    n += 1
            one.n_alive = n
        for i in range(one.n_alive):
            t = self.tb[(one.al_need[i] - 1) * stride]
            one.al_need[i] = one.al_rounds[i] + (0 if t & BETWEEN_ROUNDS else 1)
            one.al_way[i] = t & (BETWEEN_ROUNDS - 1)
        one.counted = self.counted
        one.n_own = self.n_ways
        one.ways = grow_int(one.ways, self.n_ways + 1)
        if not one.ways or not one.finish(self.t):
            out_of_memory()
        for i in range(self.n_ways):
            one.ways[i] = self.ways[i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _open_state(self, t: cython.int, region: cython.int, stride: cython.int) -> cython.int:
        """Append hole node ``t`` to the table of ``run``."""
        end: cython.int = self.tb_len + stride
        self._need_numbers(0, end)
        self._describe(t, region)
        unset_ints(self.tb, self.tb_len, end - self.tb_len)
        self.tb_len = end
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def recall(self, one: RegionTokens) -> cython.int:
        """``ways`` and ``counted`` as they were when ``run`` made ``one``."""
        i: cython.int
        self.known_u = 0
        self._need_numbers(one.n_own, 0)
        for i in range(one.n_own):
            self.ways[i] = one.ways[i]
        self.n_ways = one.n_own
        self.counted = one.counted
        return 0


_COUNTERS = """
rg_len rg_room nu_cap st_cap numbering tb_len tb_cap n_ways number known_u known_region small counted
""".split()
_POINTERS = "nu nu_gen st_node ways tb rg_piece rg_number rg_off rg_count rg_first".split()
