# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Places of a text: a node, and beside it the registers of its far counts (``kernel.far_counts``).

Idea
    At the end of a token (``settle``) what a far count has grown by is added to its register, so that the node is the
    one of the item before: what is found for one count serves all, and a text of any length needs the nodes of a few
    items and one *bases* id for each count. Counts that have become far get a register, those that come near a bound
    are written out again. What that does to a node depends on the node alone and is remembered as its *move*.

    The nodes, steps and masks of ``Automaton`` and ``MaskWalk`` know nothing of it: within one token a far count is as
    good as the true one. Whoever asks about more than a token (a shortest end) takes the node of ``absolute``.

Data
    place        ``bases << 24 | node``, 0 is dead. Bases 0: there are no registers
    bases v      ``v_pool[v_off[v] ..]``, three ints for each register in use, in order: ``kind << 4 | register``, its
                 loop, the rounds done. ``v_bits[v]``: those registers as bits. Interned: equal ones have equal ids
    v_table      where bases are found by their hash, 0: nowhere. When it grows they come into the new table a few at a
                 time, for there is one for each item of a text; until then ``v_old`` has those from ``v_moved`` on
    move m       ``m_node[m]``: the node afterwards; ``m_pool[m_off[m] .. + 5 * m_len[m]]``: what happens to registers,
                 five ints each: register, kind, loop (-1: it had one), rounds to add, how far apart its counts are.
                 Found by ``memo`` kind 3; ``absolute`` is kind 9
    b_grown      scratch: least and largest growth of each register in a node
    s_*          scratch: the nodes below a node that have far counts, tails first, and what they become
    b_*          scratch: base, loop and kind of each register
    g_*          scratch: counts of a node that become far ones, by loop and kind

Where all registers are taken, counts of one loop are too far apart, or bases run out, counts stay as they are: right,
but each is a state of its own. Cost: nothing where no count moves; a known move is 20-40 ns, a new one 1 us; bases are
24 bytes and 12 a register. The automaton's lock is held by every caller; ``forget`` belongs to a new epoch.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.far_counts import (
        HIGH,
        MOVES,
        REGISTERS,
        SINCE,
        SPREAD,
        count_in,
        far_kind,
        may_be_far,
        with_count,
    )
    from cython.cimports.constrained.kernel.hashing import bit, hash_run, sort_ints
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, wider, zeroed_ints
    from cython.cimports.constrained.kernel.position_sets import FAR_COUNT
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.far_counts import (
        HIGH,
        MOVES,
        REGISTERS,
        SINCE,
        SPREAD,
        count_in,
        far_kind,
        may_be_far,
        with_count,
    )
    from constrained.kernel.hashing import bit, hash_run, sort_ints
    from constrained.kernel.memory import drop_int, grow_int, moved, out_of_memory, wider, zeroed_ints
    from constrained.kernel.position_sets import FAR_COUNT

NODE_BITS = cython.declare(cython.int, 24)
MAX_BASES = cython.declare(cython.int, 1 << 20)
SMALL = cython.declare(cython.int, 1024)
AT_ONCE = cython.declare(cython.int, 4)  # bases that each new one moves: all, long before the table grows again


@cython.final
@cython.no_gc
@cython.cclass
class Places:
    """The places of one automaton. See the module docstring. ``make`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop()
            drop_int(self.piece)
            drop_int(self.s_node)
            drop_int(self.s_to)

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
    def make(self, automaton: Automaton) -> cython.int:
        """The places of ``automaton``: as long as no count is far all bases are 0, and hardly anything is made."""
        self.a = automaton
        return self.forget()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_scratch(self) -> cython.int:
        """Room for what a move is found with."""
        if self.piece:
            return 0
        self.piece = grow_int(self.piece, 13 * REGISTERS)
        if not self.piece:
            out_of_memory()
        self.b_base = moved(self.piece, 0, self.b_base, 0, REGISTERS)
        self.b_loop = moved(self.piece, REGISTERS, self.b_loop, 0, REGISTERS)
        self.b_kind = moved(self.piece, 2 * REGISTERS, self.b_kind, 0, REGISTERS)
        self.b_grown = moved(self.piece, 3 * REGISTERS, self.b_grown, 0, 2 * REGISTERS)
        self.g_loop = moved(self.piece, 5 * REGISTERS, self.g_loop, 0, REGISTERS)
        self.g_kind = moved(self.piece, 6 * REGISTERS, self.g_kind, 0, REGISTERS)
        self.g_least = moved(self.piece, 7 * REGISTERS, self.g_least, 0, REGISTERS)
        self.g_most = moved(self.piece, 8 * REGISTERS, self.g_most, 0, REGISTERS)
        self.g_register = moved(self.piece, 9 * REGISTERS, self.g_register, 0, REGISTERS)
        self.key = moved(self.piece, 10 * REGISTERS, self.key, 0, 3 * REGISTERS)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop(self) -> cython.void:
        self.v_piece = drop_int(self.v_piece)
        self.v_pool = drop_int(self.v_pool)
        self.v_table = drop_int(self.v_table)
        self.v_old = drop_int(self.v_old)
        self.m_node = drop_int(self.m_node)
        self.m_off = drop_int(self.m_off)
        self.m_len = drop_int(self.m_len)
        self.m_pool = drop_int(self.m_pool)
        self.v_cap = 0
        self.v_pool_cap = 0
        self.v_table_size = 0
        self.m_cap = 0
        self.m_pool_cap = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Begin an epoch: no registers is all there is."""
        if self.v_count > 1 or self.m_count > 0:
            self._drop()
        self.v_count = 0
        self.v_pool_len = 0
        self.v_moved = 1
        self.m_count = 0
        self.m_pool_len = 0
        self.s_len = 0
        if self.v_cap == 0:
            self._grow_bases(1)
        self.v_off[0] = 0
        self.v_len[0] = 0
        self.v_bits[0] = 0
        self.v_count = 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_held(self) -> cython.longlong:
        """Bytes of the tables, capacity counted as far as it may have been written."""
        bases: cython.longlong = min(self.v_cap, 2 * self.v_count)
        return 4 * (3 * bases + self.v_pool_len + self.v_table_size + 3 * self.m_cap + self.m_pool_cap)

    # ---- bases -----------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_table(self) -> cython.int:
        """A table twice as large."""
        self._move(self.v_count)
        self.v_old = self.v_table
        self.v_old_size = self.v_table_size
        self.v_table_size = max(16, 2 * self.v_table_size)
        self.v_table = zeroed_ints(self.v_table_size)
        if not self.v_table:
            out_of_memory()
        self.v_moved = 1
        if self.v_count < SMALL:
            self._move(self.v_count)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _move(self, some: cython.int) -> cython.void:
        """The next ``some`` bases that only ``v_old`` has come into the new table; after the last one it is dropped."""
        i: cython.int
        if not self.v_old:
            return
        while some > 0 and 2 * self.v_moved < self.v_old_size:
            i = self._slot(self.v_table, self.v_table_size, self.v_pool, self.v_off[self.v_moved],
                           self.v_len[self.v_moved])
            self.v_table[i] = self.v_moved
            self.v_moved += 1
            some -= 1
        if 2 * self.v_moved >= self.v_old_size:
            self.v_old = drop_int(self.v_old)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _slot(self, table: cython.p_int, size: cython.int, words: cython.p_int, at: cython.int,
              n: cython.int) -> cython.int:
        """Where a table has the bases ``words[at : at + n]``, or the free slot for them."""
        i: cython.int
        v: cython.int
        j: cython.int = cython.cast(cython.int, hash_run(words, at, n) & (size - 1))
        while table[j] != 0:
            v = table[j]
            if self.v_len[v] == n:
                i = 0
                while i < n and self.v_pool[self.v_off[v] + i] == words[at + i]:
                    i += 1
                if i == n:
                    break
            j = (j + 1) & (size - 1)
        return j

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2, check=False)
    def _intern(self, bits: cython.int) -> cython.int:
        """The id of the registers ``bits`` with what ``b_*`` have; -1 where there is no room for more."""
        r: cython.int
        v: cython.int = self.v_count
        n: cython.int = 0
        i: cython.int
        if bits == 0:
            return 0
        if 2 * v >= self.v_table_size:
            self._grow_table()
        for r in range(REGISTERS):
            if bits >> r & 1:
                self.key[n] = self.b_kind[r] << 4 | r
                self.key[n + 1] = self.b_loop[r]
                self.key[n + 2] = self.b_base[r]
                n += 3
        i = self._slot(self.v_table, self.v_table_size, self.key, 0, n)
        if self.v_table[i] != 0:
            return self.v_table[i]
        if self.v_old:
            r = self.v_old[self._slot(self.v_old, self.v_old_size, self.key, 0, n)]
            if r != 0:
                return r
        if v >= MAX_BASES:
            return -1
        if v >= self.v_cap:
            self._grow_bases(16 if self.v_cap < 16 else wider(self.v_cap, 3))
        if self.v_pool_len + n > self.v_pool_cap:
            self.v_pool_cap = wider(self.v_pool_len + n + 8, 1)
            self.v_pool = grow_int(self.v_pool, self.v_pool_cap)
            if not self.v_pool:
                out_of_memory()
        self.v_table[i] = v
        self.v_off[v] = self.v_pool_len
        self.v_len[v] = n
        self.v_bits[v] = bits
        for i in range(n):
            self.v_pool[self.v_pool_len + i] = self.key[i]
        self.v_pool_len += n
        self.v_count = v + 1
        self._move(AT_ONCE)
        return v

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_bases(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` bases."""
        v: cython.int = self.v_count
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * cap)
        if not piece:
            out_of_memory()
        self.v_off = moved(piece, 0, self.v_off, v, cap)
        self.v_len = moved(piece, cap, self.v_len, v, cap)
        self.v_bits = moved(piece, 2 * cap, self.v_bits, v, cap)
        drop_int(self.v_piece)
        self.v_piece = piece
        self.v_cap = cap
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _load(self, v: cython.int) -> cython.void:
        """Set ``b_*`` to bases ``v``."""
        i: cython.int
        r: cython.int
        for i in range(self.v_off[v], self.v_off[v] + self.v_len[v], 3):
            r = self.v_pool[i] & 15
            self.b_kind[r] = self.v_pool[i] >> 4
            self.b_loop[r] = self.v_pool[i + 1]
            self.b_base[r] = self.v_pool[i + 2]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def pack(self, v: cython.int, out: list) -> cython.int:
        """Append bases ``v`` to ``out``, how many registers first; see ``carried``."""
        i: cython.int
        out.append(self.v_len[v] // 3)
        for i in range(self.v_off[v], self.v_off[v] + self.v_len[v]):
            out.append(self.v_pool[i])
        return 0

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def unpack(self, data: list) -> cython.int:
        """The bases that ``data`` begins with."""
        i: cython.int
        r: cython.int
        n: cython.int = data[0]
        bits: cython.int = 0
        self._need_scratch()
        for i in range(1, 3 * n + 1, 3):
            r = data[i]
            self.b_kind[r & 15] = r >> 4
            self.b_loop[r & 15] = data[i + 1]
            self.b_base[r & 15] = data[i + 2]
            bits |= bit(r & 15)
        return self._intern(bits)

    # ---- the end of a token ----------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def settle(self, node: cython.int, v: cython.int) -> cython.longlong:
        """The place of ``node``, which was reached from a place with bases ``v``."""
        i: cython.int
        r: cython.int
        m: cython.int = 0
        near: cython.int
        tries: cython.int = 0
        new: cython.int
        if node == 0:
            return 0
        if self.a.n_far[node] == self.v_bits[v]:
            return cython.cast(cython.longlong, v) << NODE_BITS | node
        self._need_scratch()
        self._load(v)
        while self.a.n_far[node] & MOVES and tries < 2:
            m = self.a.memo.get(3, node, 0)
            if m < 0:
                m = self._make_move(node)
                self._load(v)
            near = 0
            for i in range(self.m_off[m], self.m_off[m] + 5 * self.m_len[m], 5):
                r = self.m_pool[i]
                if self.m_pool[i + 2] < 0:
                    self.b_base[r] += self.m_pool[i + 3]
                    # its loop is what the bases say
                    if self.b_base[r] + self.m_pool[i + 4] >= self._bound(r) or self.m_pool[i + 4] > SPREAD:
                        near |= bit(r)
                else:
                    self.b_kind[r] = self.m_pool[i + 1]
                    self.b_loop[r] = self.m_pool[i + 2]
                    self.b_base[r] = self.m_pool[i + 3]
            if near == 0:
                node = self.m_node[m]
                break
            self._load(v)
            node = self._written_out(node, near)
            tries += 1
        new = self._intern(self.a.n_far[node] & ~MOVES)
        if new < 0:
            node = self._written_out(node, -1)
            new = 0
        return cython.cast(cython.longlong, new) << NODE_BITS | node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _bound(self, r: cython.int) -> cython.int:
        """The count from which on those of register ``r`` are no far ones."""
        return self.a.l_far[4 * self.b_loop[r] + 2 * self.b_kind[r] + 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def absolute(self, node: cython.int, v: cython.int) -> cython.int:
        """The node with all counts written out."""
        found: cython.int
        if v == 0:
            return node
        found = self.a.memo.get(9, node, v)
        if found < 0:
            self._load(v)
            found = self._written_out(node, -1)
            self.a.memo.put(9, node, v, found)
        return found

    # ---- nodes -----------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_move(self, node: cython.int) -> cython.int:
        """Find what becomes of ``node`` at the end of a token."""
        m: cython.int = self.m_count
        i: cython.int
        j: cython.int
        r: cython.int
        s: cython.int
        free: cython.int = ~self.a.n_far[node]
        target: cython.int
        self._gather(node)
        # b_grown: the least and largest growth of each register; g_*: the counts that become far
        for r in range(REGISTERS):
            self.b_grown[r] = -1
        self.n_groups = 0
        for i in range(self.s_len):
            s = self.s_node[i]
            for j in range(self.a.n_off[s], self.a.n_off[s] + self.a.n_len[s]):
                r = self.a.d_loop[self.a.el_d[j]]
                if may_be_far(self.a, r):
                    self._survey(r, count_in(self.a, r, self.a.el_c[j]))
        r = 0
        for i in range(self.n_groups):
            self.g_register[i] = -1
            while r < REGISTERS and not (free >> r & 1):
                r += 1
            if r < REGISTERS and self.g_most[i] - self.g_least[i] <= SPREAD:
                self.g_register[i] = r
                r += 1
        target = self._rewritten(0)
        if m >= self.m_cap:
            self.m_cap = 16 if self.m_cap == 0 else self.m_cap * 2
            self.m_node = grow_int(self.m_node, self.m_cap)
            self.m_off = grow_int(self.m_off, self.m_cap)
            self.m_len = grow_int(self.m_len, self.m_cap)
            if not (self.m_node and self.m_off and self.m_len):
                out_of_memory()
        self.m_node[m] = target
        self.m_off[m] = self.m_pool_len
        self.m_len[m] = 0
        for r in range(REGISTERS):
            if self.b_grown[r] >= 0:
                self._add_change(m, r, 0, -1, self.b_grown[r], self.b_grown[REGISTERS + r] - self.b_grown[r])
        for i in range(self.n_groups):
            if self.g_register[i] >= 0:
                self._add_change(m, self.g_register[i], self.g_kind[i], self.g_loop[i], self.g_least[i], 0)
        self.m_count = m + 1
        self.a.memo.put(3, node, 0, m)
        return m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _add_change(self, m: cython.int, r: cython.int, kind: cython.int, loop: cython.int, rounds: cython.int,
                    apart: cython.int) -> cython.int:
        i: cython.int = self.m_pool_len
        if i + 5 > self.m_pool_cap:
            self.m_pool_cap = 2 * i + 40
            self.m_pool = grow_int(self.m_pool, self.m_pool_cap)
            if not self.m_pool:
                out_of_memory()
        self.m_pool[i] = r
        self.m_pool[i + 1] = kind
        self.m_pool[i + 2] = loop
        self.m_pool[i + 3] = rounds
        self.m_pool[i + 4] = apart
        self.m_pool_len = i + 5
        self.m_len[m] += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _survey(self, loop: cython.int, count: cython.int) -> cython.void:
        """Note a count: how far its register's counts have grown, or what the counts of its loop are."""
        i: cython.int = 0
        r: cython.int
        if count >= FAR_COUNT:
            r = (count >> 13) & (REGISTERS - 1)
            count = count & SINCE
            if self.b_grown[r] < 0:
                self.b_grown[r] = count
                self.b_grown[REGISTERS + r] = count
            self.b_grown[r] = min(self.b_grown[r], count)
            self.b_grown[REGISTERS + r] = max(self.b_grown[REGISTERS + r], count)
            return
        r = far_kind(self.a, loop, count)
        if r < 0:
            return
        while i < self.n_groups and not (self.g_loop[i] == loop and self.g_kind[i] == r):
            i += 1
        if i == self.n_groups:
            if i == REGISTERS:
                return
            self.g_loop[i] = loop
            self.g_kind[i] = r
            self.g_least[i] = count
            self.g_most[i] = count
            self.n_groups += 1
        self.g_least[i] = min(self.g_least[i], count)
        self.g_most[i] = max(self.g_most[i], count)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _written_out(self, node: cython.int, registers: cython.int) -> cython.int:
        """The node with the counts of some registers (as bits) written out; ``b_*`` are loaded."""
        r: cython.int
        self._gather(node)
        self.n_groups = 0
        for r in range(REGISTERS):
            self.b_grown[r] = -1
        return self._rewritten(registers)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _gather(self, node: cython.int) -> cython.int:
        """List in ``s_node`` the nodes in and below ``node`` whose counts may change, tails first: by number."""
        i: cython.int = 0
        j: cython.int
        n: cython.int
        self.a.n_generation += 1
        self.s_len = 0
        self._list(node)
        while i < self.s_len:
            n = self.s_node[i]
            i += 1
            for j in range(self.a.n_off[n], self.a.n_off[n] + self.a.n_len[n]):
                self._list(self.a.el_n[j])
        sort_ints(self.s_node, 0, self.s_len)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _list(self, node: cython.int) -> cython.int:
        if self.a.n_far[node] == 0 or self.a.n_mark[node] == self.a.n_generation:
            return 0
        self.a.n_mark[node] = self.a.n_generation
        if self.s_len >= self.s_cap:
            self.s_cap = 64 if self.s_cap == 0 else self.s_cap * 2
            self.s_node = grow_int(self.s_node, self.s_cap)
            self.s_to = grow_int(self.s_to, self.s_cap)
            if not (self.s_node and self.s_to):
                out_of_memory()
        self.s_node[self.s_len] = node
        self.s_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rewritten(self, registers: cython.int) -> cython.int:
        """What the last of the gathered nodes becomes when the counts in all of them are changed.

        Different counts stay different, so elements stay apart and nodes in canonical form.
        """
        i: cython.int
        j: cython.int
        n: cython.int
        c: cython.int
        loop: cython.int
        base: cython.int
        for i in range(self.s_len):
            n = self.s_node[i]
            base = self.a.it_len
            for j in range(self.a.n_off[n], self.a.n_off[n] + self.a.n_len[n]):
                loop = self.a.d_loop[self.a.el_d[j]]
                c = self.a.el_c[j]
                if may_be_far(self.a, loop):
                    c = self._changed(loop, c, registers)
                self.a.add_item(self.a.el_d[j], c, self._target(self.a.el_n[j]))
            self.s_to[i] = self.a.canonical(base)
        return self.s_to[self.s_len - 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _changed(self, loop: cython.int, c: cython.int, registers: cython.int) -> cython.int:
        """An element's count as it is to be."""
        count: cython.int = count_in(self.a, loop, c)
        kind: cython.int
        r: cython.int
        i: cython.int
        if count >= FAR_COUNT:
            r = (count >> 13) & (REGISTERS - 1)
            if registers >> r & 1:
                return with_count(self.a, loop, c, self.b_base[r] + (count & SINCE))
            return with_count(self.a, loop, c, count - self.b_grown[r]) if self.b_grown[r] > 0 else c
        kind = far_kind(self.a, loop, count)
        if kind < 0:
            return c
        for i in range(self.n_groups):
            if self.g_loop[i] == loop and self.g_kind[i] == kind and self.g_register[i] >= 0:
                return with_count(self.a, loop, c, FAR_COUNT + kind * HIGH + (self.g_register[i] << 13)
                                  + count - self.g_least[i])
        return c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _target(self, node: cython.int) -> cython.int:
        """What a tail becomes: one of the gathered nodes, or it stays."""
        lo: cython.int = 0
        hi: cython.int = self.s_len
        i: cython.int
        if self.a.n_far[node] == 0:
            return node
        while hi - lo > 1:
            i = (lo + hi) >> 1
            if self.s_node[i] <= node:
                lo = i
            else:
                hi = i
        return self.s_to[lo]


_COUNTERS = """
v_count v_cap v_pool_len v_pool_cap v_table_size v_old_size v_moved m_count m_cap m_pool_len m_pool_cap s_len s_cap
n_groups
""".split()
_POINTERS = """
piece v_piece v_off v_len v_bits v_pool v_table v_old m_node m_off m_len m_pool b_base b_loop b_kind b_grown
g_loop g_kind g_least g_most g_register key s_node s_to
""".split()
