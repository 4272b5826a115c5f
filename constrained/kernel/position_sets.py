# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Interned sets of positions of one lowered grammar.

Data
    position   see ``kernel.lazy_positions``, the layer below
    det        an interned, sorted, epsilon-closed set of positions that share one stack below them:
               ``d_pool[d_off[d] .. + d_len[d]]``. 0 is the empty one. ``d_flags``: 1 it accepts (its rule may end),
               2 reads bytes, 4 calls rules, 8 reads token sets, 16 stands at a loop, 32 has edges to positions that
               are made when they are asked for, 64 some of an automaton beside a counter. ``d_core``: the subset with
               edges, -1 while unknown; ``d_loop``: the loop that it is, or -1; ``d_min``: fewest bytes to the rule's
               end, -1 while nobody asked (``det_minimum``).
    buf        scratch: positions on their way to become a det.
    class_off  ``class_bytes[class_off[k] .. class_off[k + 1]]``: the bytes of class ``k``, in order, once
               ``need_classes`` was called; most grammars are only read from their first byte and never ask.

What bytes do with dets is the next layer, ``kernel.dets``, which also owns what this one sets to "unknown" there.
Cost: a det is made in about 100 ns and 5 ns a position; a known one is one look into the table.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run, sort_ints
    from cython.cimports.constrained.kernel.lazy_positions import LAZY_MINIMUM, LazyPositions
    from cython.cimports.constrained.kernel.linking import need_all, need_annexes, need_position
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        drop_long,
        grow_int,
        grow_long,
        moved,
        moved_longs,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
        zeroed_ints,
    )
    from cython.cimports.constrained.kernel.minima import find_minima
    from cython.cimports.constrained.kernel.program import Program
else:
    from constrained.kernel.hashing import hash_run, sort_ints
    from constrained.kernel.lazy_positions import LAZY_MINIMUM, LazyPositions
    from constrained.kernel.linking import need_all, need_annexes, need_position
    from constrained.kernel.memory import (
        drop_int,
        drop_long,
        grow_int,
        grow_long,
        moved,
        moved_longs,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
        zeroed_ints,
    )
    from constrained.kernel.minima import find_minima

END_DET = cython.declare(cython.int, 1)
HOLE_DET = cython.declare(cython.int, 2)
FAR = cython.declare(cython.longlong, 1 << 60)
GUARD = cython.declare(cython.int, -3)
BUDGET = cython.declare(cython.int, -5)
BARE = cython.declare(cython.int, 1)  # bits of l_how, see program
IN_ORDER = cython.declare(cython.int, 2)
CHOOSING = cython.declare(cython.int, 1 << 28)  # see set_loops
OPEN = cython.declare(cython.int, 1 << 27)  # see item_choice
REGISTER = cython.declare(cython.int, (1 << 27) - 1)  # a set loop's count without the two
FAR_COUNT = cython.declare(cython.int, 0x50000000)  # see far_counts
FAR_ENOUGH = cython.declare(cython.int, 0x50000000 + (1 << 17))
FEW_SETS = cython.declare(cython.int, 64)
MANY_SETS = cython.declare(cython.int, 2048)
AT_ONCE = cython.declare(cython.int, 8)
"""Dets that each new one brings into a table that grew: all are there long before it grows again."""


@cython.cclass
class PositionSets(LazyPositions):
    """The sets of one lowered grammar. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop_sets()
            drop_int(self.d_table)
            drop_int(self.d_old)
            drop_int(self.l_piece)
            drop_long(self.r_min)
            drop_int(self.i_cheap)
            drop_int(self.class_off)
            drop_int(self.buf)

    else:

        def __new__(cls, *args):
            self = LazyPositions.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_program(self, program: Program) -> cython.int:
        """Read the program's arrays where they are."""
        self.load_positions(program)
        self.n_rules = program.n_rules
        self.n_loops = program.n_loops
        self.n_classes = program.n_classes
        self.behind = program.behind
        self.unwritten = program.behind if self.grows or program.n_annexes == 0 else program.own
        self.r_start = program.r_start
        self.r_order = program.r_order
        self.l_pos = program.l_pos
        self.l_rule = program.l_rule
        self.l_min = program.l_min
        self.l_max = program.l_max
        self.l_next = program.l_next
        self.l_region = program.l_region
        self.l_items = program.l_items
        self.l_sep = program.l_sep
        self.l_how = program.l_how
        self.l_required = program.l_required
        self.i_rule = program.i_rule
        self.i_required = program.i_required
        self.cls = program.cls
        self.cls_rep = program.cls_rep
        if 2 * self.n_loops + self.n_rules > self.l_cap:
            self.l_cap = 2 * self.n_loops + self.n_rules + 32
            self.l_piece = grow_int(self.l_piece, self.l_cap)
            if not self.l_piece:
                out_of_memory()
        self.l_det = moved(self.l_piece, 0, self.l_det, 0, self.n_loops)
        self.l_next_det = moved(self.l_piece, self.n_loops, self.l_next_det, 0, self.n_loops)
        self.r_det = moved(self.l_piece, 2 * self.n_loops, self.r_det, 0, self.n_rules)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def unset_names(self) -> cython.void:
        """The sets of loops and rules are not known. Of the program in hand, once the sets are forgotten."""
        unset_ints(self.l_det, 0, self.n_loops)
        unset_ints(self.l_next_det, 0, self.n_loops)
        unset_ints(self.r_det, 0, self.n_rules)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop_sets(self) -> cython.void:
        """Give back what an epoch has grown, so that the next one starts small."""
        self.d_piece = drop_int(self.d_piece)
        self.d_pool = drop_int(self.d_pool)
        self.d_cap = 0
        self.d_pool_cap = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_sets(self) -> cython.int:
        """The empty det, END and HOLE are all there is: the same for every program."""
        self.forget_lazy()
        self.class_off = drop_int(self.class_off)
        self.d_count = 0
        self.d_pool_len = 0
        self.d_old = drop_int(self.d_old)
        if self.d_table_size != FEW_SETS:
            self.d_table = drop_int(self.d_table)
        self.d_table_size = FEW_SETS
        self.d_table = grow_int(self.d_table, FEW_SETS)
        if not self.d_table:
            out_of_memory()
        zero_ints(self.d_table, 0, FEW_SETS)
        self.need_buf(64)
        self.intern_det(0)
        self.buf[0] = END_DET
        self.intern_det(1)
        self.buf[0] = HOLE_DET
        self.intern_det(1)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_of_sets(self) -> cython.longlong:
        """Bytes held by the tables, capacity counted; those as large as the program are not."""
        return (4 * (12 * cython.cast(cython.longlong, self.d_cap) + self.d_pool_cap + self.d_table_size)
                + self.bytes_of_lazy())

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def need_classes(self) -> cython.int:
        """Make ``class_off`` and ``class_bytes``, if they are not there."""
        b: cython.int
        k: cython.int
        n: cython.int = self.n_classes
        off: cython.p_int
        found: cython.p_int
        if self.class_off:
            return 0
        off = grow_int(self.class_off, n + 257)
        if not off:
            out_of_memory()
        found = moved(off, n + 1, self.class_bytes, 0, 256)
        zero_ints(off, 0, n + 1)
        for b in range(256):
            off[self.cls[b]] += 1
        for k in range(n):
            off[k + 1] += off[k]
        for b in range(255, -1, -1):  # the last of a class first: then its offset is where it begins
            k = self.cls[b]
            off[k] -= 1
            found[off[k]] = b
        off[n] = 256
        self.class_bytes = found
        self.class_off = off
        return 0

    # ---- interning ---------------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def need_buf(self, n: cython.int) -> cython.int:
        if n > self.buf_cap:
            self.buf_cap = n * 2
            self.buf = grow_int(self.buf, self.buf_cap)
            if not self.buf:
                out_of_memory()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def closure(self, n: cython.int) -> cython.int:
        """Replace the seeds ``buf[:n]`` by their sorted epsilon closure; returns its size.

        Positions with nothing but epsilon edges are left out, so that equal behaviour gives equal sets.
        """
        gen: cython.int
        i: cython.int
        j: cython.int
        p: cython.int
        q: cython.int
        count: cython.int = 0
        kept: cython.int = 0
        self.generation += 1
        gen = self.generation
        for i in range(n):
            p = self.buf[i]
            if self.mark[p] != gen:
                self.mark[p] = gen
                self.buf[count] = p
                count += 1
        i = 0
        while i < count:
            p = self.buf[i]
            i += 1
            self.enter(p)
            for j in range(self.p_off[4 * p + 1], self.p_off[4 * p + 2]):
                q = self.e_to[j]
                if self.mark[q] != gen:
                    self.mark[q] = gen
                    self.need_buf(count + 1)
                    self.buf[count] = q
                    count += 1
        for i in range(count):
            p = self.buf[i]
            if (
                self.p_accept[p]
                or self.p_loop[p] >= 0
                or self.p_off[4 * p] != self.p_off[4 * p + 1]
                or self.p_off[4 * p + 2] != self.p_off[4 * p + 4]
            ):
                self.buf[kept] = p
                kept += 1
        sort_ints(self.buf, 0, kept)
        return kept

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def intern_det(self, n: cython.int) -> cython.int:
        """The id of the sorted set ``buf[:n]``."""
        i: cython.int
        j: cython.int
        p: cython.int
        d: cython.int
        off: cython.int
        flags: cython.int = 0
        same: cython.bint
        h: cython.ulonglong = hash_run(self.buf, 0, n)
        j = cython.cast(cython.int, h & (self.d_table_size - 1))
        while self.d_table[j] != 0:
            d = self.d_table[j] - 1
            if self.d_len[d] == n:
                off = self.d_off[d]
                same = True
                for i in range(n):
                    if self.d_pool[off + i] != self.buf[i]:
                        same = False
                        break
                if same:
                    return d
            j = (j + 1) & (self.d_table_size - 1)
        if self.d_old:
            d = self._old_det(n, h)
            if d >= 0:
                return d
            self._move_dets(AT_ONCE)
            while self.d_table[j] != 0:
                j = (j + 1) & (self.d_table_size - 1)
        d = self.d_count
        self._need_det(n)
        off = self.d_pool_len
        for i in range(n):
            p = self.buf[i]
            self.d_pool[off + i] = p
            if self.p_accept[p]:
                flags |= 1
            if self.p_off[4 * p] != self.p_off[4 * p + 1]:
                flags |= 2
                if self.e_to[self.p_off[4 * p]] < 0:
                    flags |= 32 if self.e_to[self.p_off[4 * p]] == -1 else 96
            if self.p_off[4 * p + 2] != self.p_off[4 * p + 3]:
                flags |= 4
            if self.p_off[4 * p + 3] != self.p_off[4 * p + 4]:
                flags |= 8
            if self.p_loop[p] >= 0:
                flags |= 16
        self.d_off[d] = off
        self.d_len[d] = n
        self.d_flags[d] = flags
        self.d_core[d] = -1
        self.d_loop[d] = self.p_loop[self.buf[0]] if n == 1 else -1
        self.d_row[d] = -1
        self.d_call[d] = -1
        self.d_ncall[d] = 0
        self.d_first[d] = -1
        self.d_split[d] = -1
        self.d_min[d] = -1
        self.d_pool_len = off + n
        self.d_count = d + 1
        self.d_table[j] = d + 1
        if self.d_count * 2 >= self.d_table_size:
            self._grow_det_table()
        return d

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _old_det(self, n: cython.int, h: cython.ulonglong) -> cython.int:
        """The det ``buf[:n]``, whose hash is ``h``, in the table before; -1 if it is not there."""
        i: cython.int
        d: cython.int
        j: cython.int = cython.cast(cython.int, h & (self.d_old_size - 1))
        while self.d_old[j] != 0:
            d = self.d_old[j] - 1
            if self.d_len[d] == n:
                i = 0
                while i < n and self.d_pool[self.d_off[d] + i] == self.buf[i]:
                    i += 1
                if i == n:
                    return d
            j = (j + 1) & (self.d_old_size - 1)
        return -1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_det(self, n: cython.int) -> cython.int:
        if self.d_count >= self.d_cap:
            self._grow_dets(48 if self.d_cap == 0 else wider(self.d_cap, 12))
        if self.d_pool_len + n > self.d_pool_cap:
            self.d_pool_cap = wider(self.d_pool_len + n + 128, 1)
            self.d_pool = grow_int(self.d_pool, self.d_pool_cap)
            if not self.d_pool:
                out_of_memory()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_dets(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` dets, an even number."""
        n: cython.int = self.d_count
        at: cython.Py_ssize_t = cap
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 12 * at)
        if not piece:
            out_of_memory()
        self.d_min = moved_longs(piece, 0, self.d_min, n, cap)
        self.d_off = moved(piece, 2 * cap, self.d_off, n, cap)
        self.d_len = moved(piece, 3 * cap, self.d_len, n, cap)
        self.d_flags = moved(piece, 4 * cap, self.d_flags, n, cap)
        self.d_core = moved(piece, 5 * cap, self.d_core, n, cap)
        self.d_loop = moved(piece, 6 * cap, self.d_loop, n, cap)
        self.d_row = moved(piece, 7 * cap, self.d_row, n, cap)
        self.d_call = moved(piece, 8 * cap, self.d_call, n, cap)
        self.d_ncall = moved(piece, 9 * cap, self.d_ncall, n, cap)
        self.d_first = moved(piece, 10 * cap, self.d_first, n, cap)
        self.d_split = moved(piece, 11 * cap, self.d_split, n, cap)
        drop_int(self.d_piece)
        self.d_piece = piece
        self.d_cap = cap
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_det_table(self) -> cython.int:
        """A larger table. Many dets come into it a few at a time: until then ``d_old`` has them."""
        table: cython.p_int = zeroed_ints(4 * cython.cast(cython.Py_ssize_t, self.d_table_size))
        if not table:
            out_of_memory()
        if self.d_old:
            self._move_dets(self.d_old_count)
        self.d_old = self.d_table
        self.d_old_size = self.d_table_size
        self.d_old_count = self.d_count
        self.d_moved = 0
        self.d_table = table
        self.d_table_size = 4 * self.d_table_size
        if self.d_count < MANY_SETS:
            self._move_dets(self.d_old_count)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _move_dets(self, count: cython.int) -> cython.void:
        """Enter the next ``count`` dets of ``d_old``; after the last one it is given back."""
        d: cython.int
        j: cython.int
        hi: cython.int = min(self.d_moved + count, self.d_old_count)
        for d in range(self.d_moved, hi):
            j = cython.cast(cython.int, hash_run(self.d_pool, self.d_off[d], self.d_len[d]) & (self.d_table_size - 1))
            while self.d_table[j] != 0:
                j = (j + 1) & (self.d_table_size - 1)
            self.d_table[j] = d + 1
        self.d_moved = hi
        if hi == self.d_old_count:
            self.d_old = drop_int(self.d_old)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def det_minimum(self, d: cython.int) -> cython.longlong:
        """``d_min``, which is below 0 until it is asked for; ``need_minima`` comes first."""
        i: cython.int
        p: cython.int
        least: cython.longlong = FAR
        if self.d_min[d] >= 0:
            return self.d_min[d]
        for i in range(self.d_off[d], self.d_off[d] + self.d_len[d]):
            p = self.d_pool[i]
            if self.p_min[p] < 0:
                self.lazy_minimum(p)
            if self.p_min[p] < least:
                least = self.p_min[p]
        self.d_min[d] = least
        return least

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def need_minima(self) -> cython.int:
        """Find ``p_min``, ``r_min`` and ``i_cheap``, if they are not known."""
        if not self.has_minima:
            with cython.gil:
                self._find_minima()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _find_minima(self) -> cython.int:
        i: cython.int
        k: cython.int
        p: cython.int
        items: cython.int = self.l_items[self.n_loops]
        self.p_min = grow_long(self.p_min, max(self.n_positions, self.p_cap))
        self.r_min = grow_long(self.r_min, self.n_rules)
        self.i_cheap = grow_int(self.i_cheap, items + 1)
        if not (self.p_min and self.r_min and self.i_cheap):
            raise MemoryError
        need_all(self.program)
        find_minima(self.program, self.p_min, self.r_min, LAZY_MINIMUM)
        costs = [self.r_min[self.i_rule[i]] if self.i_rule[i] >= 0 else FAR for i in range(items)]
        for k in range(self.n_loops):
            first: cython.int = self.l_items[k]
            for i, p in enumerate(sorted(range(first, self.l_items[k + 1]), key=costs.__getitem__)):
                self.i_cheap[first + i] = p
        for p in range(self.n_fixed, self.n_positions):
            self.p_min[p] = -1
        self.has_minima = True
        return 0

    # ---- sets that have a name ---------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def core_of(self, d: cython.int) -> cython.int:
        """The subset with edges: no loops, and nothing that can only return."""
        i: cython.int
        p: cython.int
        n: cython.int = 0
        if self.d_core[d] < 0:
            self.need_buf(self.d_len[d])
            for i in range(self.d_len[d]):
                p = self.d_pool[self.d_off[d] + i]
                if self.p_loop[p] < 0 and (
                    p <= HOLE_DET
                    or self.p_off[4 * p] != self.p_off[4 * p + 1]
                    or self.p_off[4 * p + 2] != self.p_off[4 * p + 4]
                ):
                    self.buf[n] = p
                    n += 1
            n = d if n == self.d_len[d] else self.intern_det(n)
            self.d_core[d] = n
        return self.d_core[d]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def loop_det(self, loop: cython.int) -> cython.int:
        """The det that stands for "inside counted loop ``loop``" in elements."""
        if self.l_det[loop] < 0:
            self.buf[0] = self.l_pos[loop]
            self.l_det[loop] = self.intern_det(1)
        return self.l_det[loop]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def enter(self, p: cython.int) -> cython.int:
        """An edge was followed to ``p``, of which more is to be read: were it in an annex, that is written now."""
        if self.unwritten <= p < self.behind:
            with cython.gil:
                need_annexes(self.program)
            self.unwritten = self.behind
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def start_of(self, rule: cython.int) -> cython.int:
        """The position at which ``rule`` begins; what is behind it is written from now on."""
        p: cython.int = self.r_start[rule]
        if p >= self.behind and not self.grows:
            with cython.gil:
                need_position(self.program, p)
        return p

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def rule_det(self, rule: cython.int) -> cython.int:
        """The det at the start of ``rule``."""
        if self.r_det[rule] < 0:
            self.buf[0] = self.start_of(rule)
            self.r_det[rule] = self.intern_det(self.closure(1))
        return self.r_det[rule]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def next_det(self, loop: cython.int) -> cython.int:
        """The det behind loop (or guard) ``loop``."""
        if self.l_next_det[loop] < 0:
            self.buf[0] = self.l_next[loop]
            self.l_next_det[loop] = self.intern_det(self.closure(1))
        return self.l_next_det[loop]


# Uncompiled, attributes do not exist until they are set; compiled, position_sets.pxd declares them.
_COUNTERS = """
n_rules n_loops n_classes l_cap behind unwritten d_count d_cap d_pool_len d_pool_cap d_table_size buf_cap
d_old_size d_old_count d_moved
""".split()
_POINTERS = """
l_piece l_det l_next_det r_det d_off d_len d_flags d_core d_loop d_row d_call d_ncall d_first d_split d_min
d_piece d_pool d_table d_old buf class_off class_bytes r_min i_cheap
""".split()
