# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What one automaton's regions read: rows and exits of hole nodes below trie nodes.

A *region* (a string's body, an identifier) allows many tokens, and which of them stay inside depends on the region
alone. That is the automaton itself run over the stack HOLE: ``u`` is such a hole node, ``restrict`` its part inside the
region, the other part ``v`` is what it looks like to have left. For real stacks ``N`` the leaving tokens are those
that go on from ``fill_hole(v, N)``. So what is found for a region serves every state, every stack and every count
that is far from its bounds.

    wide w     what is known for (hole node, trie node): ``w_row`` of tokens that stay inside (or have just left),
               exits ``w_exit[w] .. + w_nexit[w]``
    exit e     a ``v`` (``x_v``); ``exit_list`` has for each byte the trie nodes just behind where it stands
    list i     of ``exit_list``: ``xl[i]``, in which nodes, the tokens that end there and the nodes with more below are
               from ``xl_len[6 i + 2 k]`` to below ``xl_len[6 i + 2 k + 1]``, k = 0, 1, 2

Which tokens those are depends on the region's own automaton alone, so they come from the vocabulary's
``RegionTokens``: every grammar with a JSON string, a bounded one far from its bound included, uses the same row.

Cost: a known one is a look-up; a new one 1-10 us, and where its table is new to the vocabulary what ``RegionTokens``
costs. ``forget`` drops all; the automaton's lock is held by every caller.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.holes import has_frames, recount, restrict
    from cython.cimports.constrained.kernel.memory import (
        grow_int,
        grow_lists,
        grow_pointers,
        grow_rows,
        moved,
        unset_ints,
    )
    from cython.cimports.constrained.kernel.position_sets import FAR_COUNT, FAR_ENOUGH
    from cython.cimports.constrained.kernel.region_tables import RegionTables, hash_cells
    from cython.cimports.constrained.kernel.region_tokens import RegionTokens
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.holes import has_frames, recount, restrict
    from constrained.kernel.memory import grow_int, grow_lists, grow_pointers, grow_rows, moved, unset_ints
    from constrained.kernel.position_sets import FAR_COUNT, FAR_ENOUGH
    from constrained.kernel.region_tables import RegionTables, hash_cells
    from constrained.kernel.region_tokens import RegionTokens
    from constrained.kernel.token_trie import TokenTrie

HOLE = cython.declare(cython.int, 2)
FAR_COUNT_LOW = cython.declare(cython.int, 0x3FFFFFF0)
FAR_COUNT_HIGH = cython.declare(cython.int, 0x3FFFFFF4)
BETWEEN_ROUNDS = cython.declare(cython.int, 1 << 24)
BUDGET = cython.declare(cython.int, -5)
MAX_CELLS = cython.declare(cython.int, 2048)
LARGE_TRIE = cython.declare(cython.int, 40_000)
MANY_ROUNDS = cython.declare(cython.int, 1 << 24)


@cython.final
@cython.no_gc
@cython.cclass
class HoleRegions:
    """The regions of one automaton. See the module docstring. ``make`` comes first, then ``forget``."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.nu)
            free(self.nu_gen)
            free(self.st_node)
            free(self.ways)
            free(self.tb)
            free(self.rg_piece)
            free(self.rg_first)
            free(self.kinds)
            free(self.w_exit)
            free(self.w_nexit)
            free(self.x_v)
            free(self.x_w)
            free(self.x_way)
            free(self.x_least)
            free(self.x_most)
            free(self.xl_len)
            free(self.w_row)
            free(self.xl)
            free(self.w_tokens)
            free(self.p_tokens)

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
    def make(self, automaton: Automaton, trie: TokenTrie, regions: list) -> cython.int:
        """``regions``: partitions of the bytes, one a region; number 0 is none. Each is read when it is first met."""
        n: cython.int = cython.cast(cython.int, len(regions))
        self.a = automaton
        self.t = trie
        if trie.tables is None:
            with trie.guard:
                if trie.tables is None:
                    trie.tables = RegionTables()
        self.tables = trie.tables
        self.regions = regions
        self.n_regions = n
        self.rg_piece = grow_int(self.rg_piece, 5 * n)
        if not self.rg_piece:
            raise MemoryError
        self.rg_number = moved(self.rg_piece, 0, self.rg_number, 0, n)
        self.rg_off = moved(self.rg_piece, n, self.rg_off, 0, n)
        self.rg_count = moved(self.rg_piece, 2 * n, self.rg_count, 0, n)
        self.rg_size = moved(self.rg_piece, 3 * n, self.rg_size, 0, n)
        self.rg_large = moved(self.rg_piece, 4 * n, self.rg_large, 0, n)
        unset_ints(self.rg_number, 0, n)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Drop everything: at a new epoch, or when the masks outgrow their budget."""
        self.age += 1
        self.kept = []
        self.tables_seen = 0  # none: looked at when the first is sought
        self.w_len = 0
        self.p_len = 0
        self.x_len = 0
        self.n_lists = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the regions could not grow")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def wide_of(self, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """The wide of hole node ``u`` in ``region`` below trie node ``x``."""
        w: cython.int = self.a.memo.get(16 + 5 * self.age, u, x)
        return w if w != -2 else self._build_wide(u, region, x)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def is_walked(self, u: cython.int, region: cython.int, x: cython.int) -> cython.bint:
        """Whether the trie itself is to be walked from uncounted hole node ``u``, below trie node ``x``.

        That is cheaper for a large automaton on a large class trie, and where one would be built and hardly used again.
        """
        worth: cython.bint
        if self.a.memo.get(16 + 5 * self.age, u, x) != -2:
            return False
        if self.rg_number[region] < 0:
            with cython.gil:
                self._read_partition(region)
        if self.rg_size[region] <= 0:
            with cython.gil:
                self.rg_size[region] = self.tables.nodes_at_hand(self.rg_number[region])
        if self.rg_size[region] != 0 and self.rg_size[region] < LARGE_TRIE:
            return False
        if not self.rg_large[region] and (self.rg_size[region] != 0 or x == 0):
            if not self._explore(u, region):
                self.rg_large[region] = 1
            elif self.rg_size[region] != 0:
                return False
            else:
                with cython.gil:
                    worth = self.tables.is_worth_it(self.rg_number[region])
                return not worth
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clamp(self, loop: cython.int, c: cython.int) -> cython.int:
        """A count that no token can tell from ``c``: beyond the longest token's reach all counts look alike."""
        far: cython.int = self.t.max_depth + 1
        least: cython.int = self.a.l_min[loop]
        most: cython.int = self.a.l_max[loop]
        if c >= FAR_COUNT:
            return FAR_COUNT_HIGH if c >= FAR_ENOUGH else FAR_COUNT_LOW
        if c >= FAR_COUNT_LOW or (most >= 0 and most - c <= far):
            return c
        if c >= least:
            return FAR_COUNT_HIGH
        return FAR_COUNT_LOW if least - c > far else c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def hole_node(self, d: cython.int, c: cython.int) -> cython.int:
        base: cython.int = self.a.it_len
        self.a.add_item(d, c, HOLE)
        return self.a.canonical(base)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def exit_list(self, e: cython.int, b: cython.int) -> cython.int:
        """Which of the lists ``xl`` has the trie nodes with byte ``b`` right behind exit ``e``."""
        i: cython.int = self.a.memo.get(17 + 5 * self.age, e, b)
        if i == -2:
            i = self._gather(e, b, cython.cast(RegionTokens, self.w_tokens[self.x_w[e]]))
        return i

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _gather(self, e: cython.int, b: cython.int, wide: RegionTokens) -> cython.int:
        """Borrow the list from the shared tables: it stays where it is as long as the region is held."""
        i: cython.int = self.n_lists
        k: cython.int
        lo: cython.int = self.x_least[e]
        hi: cython.int = (self.x_most[e] if self.x_most[e] < wide.deepest else wide.deepest) + 1
        found: cython.p_int = wide.leaving(self.t, self.x_way[e], b)
        if not found:
            self._out_of_memory()
        if i >= self.list_cap:
            self.list_cap = 256 if self.list_cap == 0 else self.list_cap * 2
            self.xl_len = grow_int(self.xl_len, 6 * self.list_cap)
            self.xl = grow_lists(self.xl, self.list_cap)
            if not (self.xl_len and self.xl):
                self._out_of_memory()
        self.xl[i] = found
        for k in range(3):
            self.xl_len[6 * i + 2 * k] = found[k * (wide.deepest + 2) + lo] if lo < hi else 0
            self.xl_len[6 * i + 2 * k + 1] = found[k * (wide.deepest + 2) + hi] if lo < hi else 0
        self.n_lists = i + 1
        self.a.memo.put(17 + 5 * self.age, e, b, i)
        return i

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
        self.rg_size[region] = -1  # asked for when it matters
        self.rg_large[region] = 0
        self.rg_number[region] = number
        return 0

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
                self._out_of_memory()
            while i < self.nu_cap:
                self.nu_gen[i] = 0
                i += 1
        if self.st_cap < count:
            self.st_cap = count * 2 + 64
            self.st_node = grow_int(self.st_node, self.st_cap)
            self.ways = grow_int(self.ways, self.st_cap)
            if not (self.st_node and self.ways):
                self._out_of_memory()
        if self.tb_cap < cells:
            self.tb_cap = cells * 2 + 256
            self.tb = grow_int(self.tb, self.tb_cap)
            if not self.tb:
                self._out_of_memory()
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
    def _explore(self, u: cython.int, region: cython.int) -> cython.bint:
        """Write the region's automaton from ``u`` into ``tb``, as ``RegionTokens`` wants it; ways out into ``ways``.

        States are numbered as they are met, so equal automata give equal tables. False: it is larger than MAX_CELLS.
        """
        i: cython.int = 0
        j: cython.int
        t: cython.int
        at: cython.int
        row: cython.int
        count: cython.int = 1
        lo: cython.int
        n_classes: cython.int
        if self.rg_number[region] < 0:
            with cython.gil:
                self._read_partition(region)
        lo = self.rg_off[region]
        n_classes = self.rg_count[region]
        self.counted = True
        self.n_ways = 0
        self.tb_len = 0
        self.numbering += 1
        self._number(u, 0)
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
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _build_wide(self, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """The tokens of hole node ``u`` below ``x``, from the tables that all grammars share.

        A loop's count near a bound does not make another automaton: the one of a far count is used, and the tokens
        and ways out are cut by the rounds they take (``least`` rounds before an end, ``most`` in all).
        """
        w: cython.int = self._new_wide()
        loop: cython.int = self.a.d_loop[self.a.el_d[self.a.n_off[u]]]
        c: cython.int = self.a.el_c[self.a.n_off[u]]
        least: cython.int = 0
        most: cython.int = MANY_ROUNDS
        if loop >= 0 and self.a.l_rule[loop] != BUDGET and c < FAR_COUNT_LOW:
            self._find_tokens(w, self.hole_node(self.a.el_d[self.a.n_off[u]], FAR_COUNT_HIGH), region, x)
            if self.counted:
                if self.a.l_max[loop] >= 0 and self.a.l_max[loop] - c <= self.a.far:
                    most = self.a.l_max[loop] - c
                if self.a.l_min[loop] > c:
                    least = self.a.l_min[loop] - c
            else:
                loop = -1
                self._find_tokens(w, u, region, x)
        else:
            loop = -1
            self._find_tokens(w, u, region, x)
        self._enter_wide(w, cython.cast(RegionTokens, self.w_tokens[w]), loop, c, least, most)
        self.a.memo.put(16 + 5 * self.age, u, x, w)
        return w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_tokens(self, w: cython.int, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """Enter the ``RegionTokens`` of ``u`` below ``x`` in ``w_tokens``; sets ``ways`` and ``counted``."""
        p: cython.int = self.a.memo.get(18 + 5 * self.age, u, x)
        if p == -2:
            if self._explore(u, region):
                self._locate(w, region, x)
                return 0
            # a large automaton (all letters of all scripts): tokens meet a small part of it, so do without the table
            p = self.p_len
            with cython.gil:
                self._make_own(region, x)
            self._run_own(cython.cast(RegionTokens, self.p_tokens[p]), u, region)
            self.p_len = p + 1
            self.a.memo.put(18 + 5 * self.age, u, x, p)
        self._recall(cython.cast(RegionTokens, self.p_tokens[p]))
        self.w_tokens[w] = self.p_tokens[p]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_own(self, region: cython.int, x: cython.int) -> cython.int:
        """A ``RegionTokens`` that is not shared, still empty, at the end of ``p_tokens``; ``kinds`` of its bytes."""
        i: cython.int
        partition: bytes = self.tables.partitions[self.rg_number[region]]
        text: cython.p_const_uchar = partition
        one: RegionTokens = RegionTokens(self.t, self.tables.class_trie(self.t, self.rg_number[region]), x)
        if self.p_len >= self.p_cap:
            self.p_cap = 16 if self.p_cap == 0 else self.p_cap * 2
            self.p_tokens = grow_pointers(self.p_tokens, self.p_cap)
            if not self.p_tokens:
                raise MemoryError
        self.kinds = grow_int(self.kinds, 256)
        if not self.kinds:
            raise MemoryError
        for i in range(256):
            self.kinds[i] = text[i]
        self.kept.append(one)
        if cython.compiled:
            self.p_tokens[self.p_len] = cython.cast(cython.p_void, one)
        else:
            self.p_tokens[self.p_len] = one
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _run_own(self, one: RegionTokens, u: cython.int, region: cython.int) -> cython.int:
        """Read the class trie with the automaton itself, whose table is filled as states are met.

        In ``tb`` for each state, numbered from 1: the two ints of ``_describe``, then the state after a byte of each
        class, -1 while it is unknown.
        """
        i: cython.int = 0
        j: cython.int
        c: cython.int
        n: cython.int
        t: cython.int
        at: cython.int
        rounds: cython.int
        count: cython.int = 1
        stride: cython.int = 2 + self.rg_count[region]
        kinds: cython.p_int = self.kinds
        child_off: cython.p_int = one.classes.child_off
        byte: cython.p_int = one.classes.byte
        al_c: cython.p_int
        al_need: cython.p_int
        al_rounds: cython.p_int
        self.counted = True
        self.n_ways = 0
        self.tb_len = 0
        self.numbering += 1
        self._number(u, 0)
        self._open_state(u, region, stride)
        if not one.add(one.classes.where[one.root], 1, 0, 0):
            self._out_of_memory()
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
                self._out_of_memory()
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
        if not one.ways or not one.finish():
            self._out_of_memory()
        for i in range(self.n_ways):
            one.ways[i] = self.ways[i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _open_state(self, t: cython.int, region: cython.int, stride: cython.int) -> cython.int:
        """Append hole node ``t`` to the table of ``_run_own``."""
        end: cython.int = self.tb_len + stride
        self._need_numbers(0, end)
        self._describe(t, region)
        while self.tb_len < end:
            self.tb[self.tb_len] = -1
            self.tb_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _recall(self, one: RegionTokens) -> cython.int:
        i: cython.int
        self._need_numbers(one.n_own, 0)
        for i in range(one.n_own):
            self.ways[i] = one.ways[i]
        self.n_ways = one.n_own
        self.counted = one.counted
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_wide(self) -> cython.int:
        w: cython.int = self.w_len
        if w >= self.w_cap:
            self.w_cap = 16 if self.w_cap == 0 else self.w_cap * 2
            self.w_exit = grow_int(self.w_exit, self.w_cap)
            self.w_nexit = grow_int(self.w_nexit, self.w_cap)
            self.w_row = grow_rows(self.w_row, self.w_cap)
            self.w_tokens = grow_pointers(self.w_tokens, self.w_cap)
            if not (self.w_exit and self.w_nexit and self.w_row and self.w_tokens):
                self._out_of_memory()
        return w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _locate(self, w: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """Enter the shared ``RegionTokens`` of the table of ``_explore``. Only the first to need one takes the GIL."""
        number: cython.int = self.rg_number[region]
        h: cython.ulonglong = hash_cells(number, x, self.tb, self.tb_len)
        self.w_tokens[w] = self.tables.find(self.tables_seen, number, x, self.tb, self.tb_len, h)
        if not self.w_tokens[w]:
            with cython.gil:
                self._look()
            self.w_tokens[w] = self.tables.find(self.tables_seen, number, x, self.tb, self.tb_len, h)
        if not self.w_tokens[w]:
            with cython.gil:
                self._obtain(w, number, x, h)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _look(self) -> cython.int:
        """Hold the tables' generation, so that what is found in it stays."""
        seen: cython.int = self.tables_seen
        self.tables_seen, held = self.tables.current()
        if self.tables_seen != seen or not self.kept:
            self.kept.append(held)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _obtain(self, w: cython.int, number: cython.int, x: cython.int, h: cython.ulonglong) -> cython.int:
        one: RegionTokens = self.tables.obtain(self.t, number, x, self.tb, self.tb_len, h)
        self.kept.append(one)
        if cython.compiled:
            self.w_tokens[w] = cython.cast(cython.p_void, one)
        else:
            self.w_tokens[w] = one
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter_wide(self, w: cython.int, wide: RegionTokens, loop: cython.int, c: cython.int, least: cython.int,
                    most: cython.int) -> cython.int:
        """Enter the shared row, and an exit for each of the ``ways`` that something stands at."""
        k: cython.int
        v: cython.int
        rounds: cython.int
        self.w_row[w] = wide.within(self.t, most)
        if not self.w_row[w]:
            self._out_of_memory()
        self.w_exit[w] = self.x_len
        for k in range(self.n_ways):
            v = self.ways[k]
            if loop < 0 or not has_frames(self.a, v):
                if wide.has_way(k + 1, least, most):
                    self._add_exit(w, v, k + 1, least, most)
                continue
            # in the middle of a round: how many are done then depends on where
            for rounds in range(most if most < wide.deepest + 1 else wide.deepest + 1):
                if wide.has_way(k + 1, rounds, rounds):
                    self._add_exit(w, recount(self.a, v, loop, c + rounds + 1), k + 1, rounds, rounds)
        self.w_nexit[w] = self.x_len - self.w_exit[w]
        self.w_len = w + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_exit(self, w: cython.int, v: cython.int, number: cython.int, least: cython.int,
                  most: cython.int) -> cython.int:
        e: cython.int = self.x_len
        if e + 1 > self.x_cap:
            self.x_cap = 64 if self.x_cap == 0 else self.x_cap * 2
            self.x_v = grow_int(self.x_v, self.x_cap)
            self.x_w = grow_int(self.x_w, self.x_cap)
            self.x_way = grow_int(self.x_way, self.x_cap)
            self.x_least = grow_int(self.x_least, self.x_cap)
            self.x_most = grow_int(self.x_most, self.x_cap)
            if not (self.x_v and self.x_w and self.x_way and self.x_least and self.x_most):
                self._out_of_memory()
        self.x_v[e] = v
        self.x_w[e] = w
        self.x_way[e] = number
        self.x_least[e] = least
        self.x_most[e] = most
        self.x_len = e + 1
        return 0

_COUNTERS = """
age n_regions rg_len rg_room nu_cap st_cap numbering tb_len tb_cap n_ways w_len w_cap x_len x_cap n_lists list_cap
tables_seen p_len p_cap counted
""".split()
_POINTERS = """
nu nu_gen st_node ways tb rg_piece rg_off rg_count rg_first rg_number kinds rg_size rg_large
w_exit w_nexit x_v x_w x_way x_least x_most xl_len w_row xl
w_tokens p_tokens
""".split()
