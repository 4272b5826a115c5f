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
    from cython.cimports.constrained.kernel.holes import has_frames, recount
    from cython.cimports.constrained.kernel.memory import grow_int, grow_lists, grow_pointers, grow_rows
    from cython.cimports.constrained.kernel.position_sets import FAR_COUNT, FAR_ENOUGH
    from cython.cimports.constrained.kernel.region_automaton import RegionAutomaton
    from cython.cimports.constrained.kernel.region_tables import RegionTables, hash_cells
    from cython.cimports.constrained.kernel.region_tokens import RegionTokens
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.holes import has_frames, recount
    from constrained.kernel.memory import grow_int, grow_lists, grow_pointers, grow_rows
    from constrained.kernel.position_sets import FAR_COUNT, FAR_ENOUGH
    from constrained.kernel.region_automaton import RegionAutomaton
    from constrained.kernel.region_tables import RegionTables, hash_cells
    from constrained.kernel.region_tokens import RegionTokens
    from constrained.kernel.token_trie import TokenTrie

HOLE = cython.declare(cython.int, 2)
FAR_COUNT_LOW = cython.declare(cython.int, 0x3FFFFFF0)
FAR_COUNT_HIGH = cython.declare(cython.int, 0x3FFFFFF4)
BUDGET = cython.declare(cython.int, -5)
MANY_ROUNDS = cython.declare(cython.int, 1 << 24)


@cython.final
@cython.no_gc
@cython.cclass
class HoleRegions:
    """The regions of one automaton. See the module docstring. ``make`` comes first, then ``load`` and ``forget``."""

    if cython.compiled:

        def __dealloc__(self):
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
    def make(self, automaton: Automaton, trie: TokenTrie) -> cython.int:
        """``load`` comes next."""
        self.a = automaton
        self.t = trie
        if trie.tables is None:
            with trie.guard:
                if trie.tables is None:
                    trie.tables = RegionTables()
        self.tables = trie.tables
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load(self, regions: list) -> cython.int:
        """``regions``: partitions of the bytes, one a region; number 0 is none."""
        self.regions = regions
        self.n_regions = cython.cast(cython.int, len(regions))
        self.asked_number = -1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def leave(self) -> cython.void:
        """Forget the program's regions; ``forget`` and ``load`` come next."""
        self.age = 0
        self.regions = None
        self.shape = None
        self.is_open = False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Drop everything: at a new epoch, or when the masks outgrow their budget."""
        self.age += 1
        self.kept = []
        self.tables_seen = 0  # none: looked at when the first is sought
        if self.is_open:
            self.shape.forget()
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
    @cython.exceptval(-1, check=False)
    def _open(self) -> cython.int:
        """The regions' automata are read from now on: most texts meet no region before their second token."""
        self.shape = RegionAutomaton()
        self.shape.make(self.a, self.t, self.tables, self.regions)
        self.is_open = True
        return 0

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

        That is cheaper than what a wide automaton needs that has no class trie or that is left nearly everywhere.
        """
        if self.a.memo.get(16 + 5 * self.age, u, x) != -2:
            return False
        if not self.is_open:
            with cython.gil:
                self._open()
        if not self.shape.explore(u, region):
            return self._is_common(self.shape.rg_number[region]) == 0
        if self.shape.leaves_much():
            return True
        if self._is_common(self.shape.number):
            return False
        self._locate(self.shape.number, x, True)
        return not self.found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _is_common(self, number: cython.int) -> cython.bint:
        """Whether a common class trie serves a partition; for the last one it is known."""
        if self.asked_number != number:
            with cython.gil:
                self.is_common = self.tables.common_of(number) != 0
            self.asked_number = number
        return self.is_common

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
            if self.shape.counted:
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
        """Enter the ``RegionTokens`` of ``u`` below ``x`` in ``w_tokens``; its ways out are those of ``shape``."""
        p: cython.int
        if not self.is_open:
            with cython.gil:
                self._open()
        if self.shape.explore(u, region):
            self._locate(self.shape.number, x, False)
            self.w_tokens[w] = self.found
            return 0
        p = self.a.memo.get(18 + 5 * self.age, u, x)
        if p == -2:
            # a large automaton (all letters of all scripts): tokens meet a small part of it, so do without the table
            p = self.p_len
            with cython.gil:
                self._make_own(u, region, x)
            self.p_len = p + 1
            self.a.memo.put(18 + 5 * self.age, u, x, p)
        else:
            self.shape.recall(cython.cast(RegionTokens, self.p_tokens[p]))
        self.w_tokens[w] = self.p_tokens[p]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_own(self, u: cython.int, region: cython.int, x: cython.int) -> cython.int:
        """A ``RegionTokens`` that is not shared, at the end of ``p_tokens``."""
        number: cython.int = self.shape.rg_number[region]
        partition: bytes = self.tables.partitions[number]
        kinds: cython.p_const_uchar = partition
        one: RegionTokens = RegionTokens(self.t, self.tables.class_trie(self.t, number), x)
        if self.p_len >= self.p_cap:
            self.p_cap = 16 if self.p_cap == 0 else self.p_cap * 2
            self.p_tokens = grow_pointers(self.p_tokens, self.p_cap)
            if not self.p_tokens:
                raise MemoryError
        with cython.nogil:
            self.shape.run(one, u, region, kinds)
        self.kept.append(one)
        if cython.compiled:
            self.p_tokens[self.p_len] = cython.cast(cython.p_void, one)
        else:
            self.p_tokens[self.p_len] = one
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
    def _locate(self, number: cython.int, x: cython.int, narrow: cython.bint) -> cython.int:
        """``found``: the shared ``RegionTokens`` of the table of ``shape``. Only the first to need one takes the GIL.

        ``narrow``: NULL where that needs a class trie that is no common one.
        """
        h: cython.ulonglong = hash_cells(number, x, self.shape.tb, self.shape.tb_len)
        self.found = self.tables.find(self.tables_seen, number, x, self.shape.tb, self.shape.tb_len, h)
        if not self.found:
            with cython.gil:
                self._look()
            self.found = self.tables.find(self.tables_seen, number, x, self.shape.tb, self.shape.tb_len, h)
        if not self.found:
            with cython.gil:
                self._obtain(number, x, h, narrow)
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
    def _obtain(self, number: cython.int, x: cython.int, h: cython.ulonglong, narrow: cython.bint) -> cython.int:
        one: RegionTokens = self.tables.obtain(self.t, number, x, self.shape.tb, self.shape.tb_len, h, narrow)
        if one is None:
            return 0
        self.kept.append(one)
        if cython.compiled:
            self.found = cython.cast(cython.p_void, one)
        else:
            self.found = one
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
        for k in range(self.shape.n_ways):
            v = self.shape.ways[k]
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
age n_regions w_len w_cap x_len x_cap n_lists list_cap tables_seen p_len p_cap is_open asked_number is_common
""".split()
_POINTERS = """
w_exit w_nexit x_v x_w x_way x_least x_most xl_len w_row xl w_tokens p_tokens found
""".split()
