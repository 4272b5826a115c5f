# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Places in the token trie where something has ended within a token and what is below it on the stack goes on.

A *group* is a set of such places, interned, so that what goes on from them is found once for each (group, what goes
on). A place is known by the trie nodes one byte behind it, many places by a bit each:

    g_off[g]    in ``pool``: eight words of bits of the automaton's byte classes that lead on (all, where they are not
                known); how many bytes b lead on, or MARKED; how many exits; where the exits begin;
                for each byte its value and the end of its nodes, then the nodes, by byte and in order;
                or, MARKED, a bit for each trie node that is a place;
                the exits (see ``hole_regions``), whose nodes are asked for by byte when they are needed;
                how many bars; the bars: (exit, lo, hi), trie nodes behind the exit that do not belong to the group

Group 0 is empty, group 1 the root of the trie. Where guards are pending at a place, what is below goes on under their
pending id: such places are set aside (``aside``: pending id, trie node or ``~exit``) and make groups of their own.

Cost: 2 ns a trie node behind a place; of many places 1 ns each, and 1 ns for each trie node with the byte asked for.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.hashing import bit, mix, sort_ints
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        empty_table,
        grow_int,
        grow_uint,
        moved,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
    )
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.hashing import bit, mix, sort_ints
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.memory import (
        drop_int,
        empty_table,
        grow_int,
        grow_uint,
        moved,
        out_of_memory,
        unset_ints,
        wider,
        zero_ints,
    )
    from constrained.kernel.token_trie import TokenTrie

ROOT_GROUP = cython.declare(cython.int, 1)
MARKED = cython.declare(cython.int, -1)
MANY_PLACES = cython.declare(cython.int, 4096)


@cython.final
@cython.no_gc
@cython.cclass
class ExitGroups:
    """See the module docstring.

    ``make`` comes first. ``begin``, then ``add_node``, ``mark``, ``add_exit`` and ``set_aside`` in any order, then
    ``finish``; then ``finish`` once more for each pending id of ``next_pending``. ``open`` a group, then ``behind`` for
    each byte.
    """

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.g_piece)
            drop_int(self.pool)
            drop_int(self.table)
            drop_int(self.nodes)
            drop_int(self.exits)
            drop_int(self.bars)
            drop_int(self.count)
            drop_int(self.kids)
            drop_int(self.aside)
            drop_int(self.found)
            free(self.marks)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in ("n", "cap", "pool_len", "pool_cap", "table_size", "n_nodes", "node_cap", "n_exits",
                         "exit_cap", "n_bars", "bar_cap", "kid_cap", "n_aside", "aside_cap", "n_found", "found_cap",
                         "at", "marked"):
                setattr(self, name, 0)
            for name in ("g_piece", "g_off", "g_len", "g_hash", "pool", "table", "nodes", "exits", "bars", "kids",
                         "count", "aside", "found", "marks"):
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make(self, automaton: Automaton, trie: TokenTrie, regions: HoleRegions) -> cython.int:
        """Groups of places in ``trie``; ``forget`` comes next."""
        self.a = automaton
        self.t = trie
        self.r = regions
        self.n_marks = (trie.n_nodes + 31) // 32
        self.count = grow_int(self.count, 256)
        if not self.count:
            raise MemoryError
        zero_ints(self.count, 0, 256)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Drop all groups but the two that are always there."""
        self.pool_len = 0
        self.n = 0
        self.table_size = 64
        self.table = empty_table(self.table, self.table_size)
        if not self.table:
            out_of_memory()
        self._enter(0, 0)
        self._enter(0, 0)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter(self, length: cython.int, h: cython.int) -> cython.int:
        """The group at the end of the pool, whose hash is ``h``, gets the next number."""
        if self.n >= self.cap:
            cap: cython.int = 16 if self.cap == 0 else wider(self.cap, 3)
            piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * cap)
            if not piece:
                out_of_memory()
            self.g_off = moved(piece, 0, self.g_off, self.n, cap)
            self.g_len = moved(piece, cap, self.g_len, self.n, cap)
            self.g_hash = moved(piece, 2 * cap, self.g_hash, self.n, cap)
            drop_int(self.g_piece)
            self.g_piece = piece
            self.cap = cap
        self.g_off[self.n] = self.pool_len
        self.g_len[self.n] = length
        self.g_hash[self.n] = h
        self.pool_len += length
        self.n += 1
        return self.n - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
        i: cython.int
        if self.marked:  # an exception has left some
            for i in range(self.n_marks):
                self.marks[i] = 0
        self.marked = False
        self.n_nodes = 0
        self.n_exits = 0
        self.n_aside = 0
        self.n_bars = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_node(self, x: cython.int) -> cython.int:
        """A trie node with something behind it."""
        if self.n_nodes >= self.node_cap:
            self.node_cap = 256 if self.node_cap == 0 else self.node_cap * 2
            self.nodes = grow_int(self.nodes, self.node_cap)
            if not self.nodes:
                out_of_memory()
        self.nodes[self.n_nodes] = x
        self.n_nodes += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def mark(self) -> cython.int:
        """``marks`` may be set from now on: a bit for each trie node; one with nothing behind it does no harm."""
        i: cython.int
        if not self.marks:
            self.marks = grow_uint(self.marks, self.n_marks + 1)
            if not self.marks:
                out_of_memory()
            for i in range(self.n_marks + 1):
                self.marks[i] = 0
        self.marked = True
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_exit(self, e: cython.int) -> cython.int:
        """All places where exit ``e`` of a region stands: without bars, if it is there already. 1: it was not."""
        i: cython.int
        n: cython.int = 0
        for i in range(self.n_exits):
            if self.exits[i] == e:
                for i in range(self.n_bars):
                    if self.bars[3 * i] != e:
                        self.bars[3 * n] = self.bars[3 * i]
                        self.bars[3 * n + 1] = self.bars[3 * i + 1]
                        self.bars[3 * n + 2] = self.bars[3 * i + 2]
                        n += 1
                self.n_bars = n
                return 0
        if self.n_exits >= self.exit_cap:
            self.exit_cap = 16 if self.exit_cap == 0 else self.exit_cap * 2
            self.exits = grow_int(self.exits, self.exit_cap)
            if not self.exits:
                out_of_memory()
        self.exits[self.n_exits] = e
        self.n_exits += 1
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def bar(self, e: cython.int, lo: cython.int, hi: cython.int) -> cython.int:
        """But for trie nodes from ``lo`` to below ``hi``."""
        if self.n_bars >= self.bar_cap:
            self.bar_cap = 16 if self.bar_cap == 0 else self.bar_cap * 2
            self.bars = grow_int(self.bars, 3 * self.bar_cap)
            if not self.bars:
                out_of_memory()
        self.bars[3 * self.n_bars] = e
        self.bars[3 * self.n_bars + 1] = lo
        self.bars[3 * self.n_bars + 2] = hi
        self.n_bars += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def set_aside(self, c: cython.int, x: cython.int) -> cython.int:
        """Trie node ``x``, or exit ``~x``, where pending id ``c`` is alive."""
        if self.n_aside >= self.aside_cap:
            self.aside_cap = 64 if self.aside_cap == 0 else self.aside_cap * 2
            self.aside = grow_int(self.aside, 2 * self.aside_cap)
            if not self.aside:
                out_of_memory()
        self.aside[2 * self.n_aside] = c
        self.aside[2 * self.n_aside + 1] = x
        self.n_aside += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def next_pending(self) -> cython.int:
        """Take up the places of one pending id that were set aside; 0 if there are none left."""
        i: cython.int
        c: cython.int
        x: cython.int
        w: cython.int = 0
        n: cython.int = self.n_aside
        if n == 0:
            return 0
        self.n_nodes = 0
        self.n_exits = 0
        c = self.aside[0]
        for i in range(n):
            x = self.aside[2 * i + 1]
            if self.aside[2 * i] != c:
                self.aside[2 * w] = self.aside[2 * i]
                self.aside[2 * w + 1] = x
                w += 1
            elif x >= 0:
                self.add_node(x)
            else:
                self.add_exit(~x)
        self.n_aside = w
        return c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_barred(self, at: cython.int, e: cython.int, x: cython.int) -> cython.bint:
        """Whether the bars at ``pool[at]`` keep trie node ``x`` behind exit ``e`` out."""
        i: cython.int
        j: cython.int
        for i in range(self.pool[at]):
            j = at + 1 + 3 * i
            if self.pool[j] == e and self.pool[j + 1] <= x and x < self.pool[j + 2]:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _sorted_once(self, a: cython.p_int, n: cython.int) -> cython.int:
        """Sort ``a[:n]``, each value once; returns how many there are."""
        i: cython.int
        w: cython.int = 0
        for i in range(1, n):
            if a[i] <= a[i - 1]:
                sort_ints(a, 0, n)
                break
        for i in range(n):
            if w == 0 or a[i] != a[w - 1]:
                a[w] = a[i]
                w += 1
        return w

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def finish(self) -> cython.int:
        """The number of the group that was put together; 0 if there is nothing in it."""
        i: cython.int
        c: cython.int
        x: cython.int
        k: cython.int
        at: cython.int
        total: cython.int = 0
        kinds: cython.int = 0
        bits: cython.uint
        some = cython.declare(cython.uint[8])
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        count: cython.p_int = self.count
        kids: cython.p_int = self.kids
        pool: cython.p_int
        if self.marked or self.n_nodes > MANY_PLACES:
            return self._finish_marked()
        self.n_nodes = self._sorted_once(self.nodes, self.n_nodes)
        self.n_exits = self._sorted_once(self.exits, self.n_exits)
        if self.n_nodes == 0 and self.n_exits == 0:
            return 0
        for i in range(self.n_nodes):
            x = self.nodes[i]
            c = x + 1
            while c < end[x]:
                if total >= self.kid_cap:
                    self.kid_cap = 2 * total + 128
                    self.kids = grow_int(self.kids, 2 * self.kid_cap)
                    if not self.kids:
                        out_of_memory()
                    kids = self.kids
                kids[2 * total] = word[c] & 255
                kids[2 * total + 1] = c
                total += 1
                c = end[c]
        self._need_pool(12 + 3 * total + self.n_exits + 3 * self.n_bars)
        for i in range(8):
            some[i] = 0
        for i in range(total):
            k = kids[2 * i]
            kinds += count[k] == 0
            count[k] += 1
            some[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
        pool = self.pool
        at = self.pool_len
        if self.n_exits:
            unset_ints(pool, at, 8)
        else:
            zero_ints(pool, at, 8)
        pool[at + 8] = kinds
        pool[at + 9] = self.n_exits
        pool[at + 10] = 11 + 2 * kinds + total
        x = 11 + 2 * kinds  # where nodes begin, from the group's beginning
        kinds = at + 11
        for i in range(8):
            bits = some[i]
            k = 32 * i
            while bits != 0:
                if bits & 1:
                    c = self.a.cls[k]
                    pool[at + (c >> 5)] = pool[at + (c >> 5)] | bit(c & 31)
                    c = count[k]
                    count[k] = x
                    x += c
                    pool[kinds] = k
                    pool[kinds + 1] = x
                    kinds += 2
                bits = bits >> 1
                k += 1
        for i in range(total):
            k = kids[2 * i]
            pool[at + count[k]] = kids[2 * i + 1]
            count[k] += 1
        for i in range(at + 11, kinds, 2):
            count[pool[i]] = 0
        return self._finish_exits(kinds - at + total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish_marked(self) -> cython.int:
        """The same of many places."""
        i: cython.int
        x: cython.int
        at: cython.int = self.pool_len
        some: cython.uint = 0
        self.mark()
        for i in range(self.n_nodes):
            x = self.nodes[i]
            self.marks[x >> 5] |= cython.cast(cython.uint, 1) << (x & 31)
        self._need_pool(12 + self.n_marks + self.n_exits + 3 * self.n_bars)
        for i in range(8):
            self.pool[at + i] = -1
        self.pool[at + 8] = MARKED
        self.pool[at + 10] = 11 + self.n_marks
        at += 11
        for i in range(self.n_marks):
            some |= self.marks[i]
            self.pool[at + i] = cython.cast(cython.int, self.marks[i])
            self.marks[i] = 0
        self.marked = False
        self.n_exits = self._sorted_once(self.exits, self.n_exits)
        self.pool[at - 2] = self.n_exits
        if some == 0 and self.n_exits == 0:
            return 0
        return self._finish_exits(11 + self.n_marks)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_pool(self, more: cython.int) -> cython.int:
        if self.pool_len + more > self.pool_cap:
            self.pool_cap = wider(self.pool_len + more + 128, 1)
            self.pool = grow_int(self.pool, self.pool_cap)
            if not self.pool:
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _finish_exits(self, length: cython.int) -> cython.int:
        """Exits and bars of the group in the making, ``length`` ints of which are written."""
        i: cython.int
        at: cython.int = self.pool_len + length
        for i in range(self.n_exits):
            self.pool[at + i] = self.exits[i]
        at += self.n_exits
        self.pool[at] = self.n_bars
        for i in range(3 * self.n_bars):
            self.pool[at + 1 + i] = self.bars[i]
        return self._intern(length + 1 + self.n_exits + 3 * self.n_bars)

    # ---- what is behind ------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open(self, g: cython.int) -> cython.void:
        """Group ``g`` (2 and up) is the one that ``behind`` is about."""
        self.at = self.g_off[g]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_listed(self) -> cython.bint:
        """Whether all that is behind the open group is listed, by byte, in the pool."""
        return self.pool[self.at + 8] != MARKED and self.pool[self.at + 9] == 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def behind(self, b: cython.int) -> cython.int:
        """The trie nodes with byte ``b`` right behind the open group's places are ``found``; returns how many."""
        i: cython.int
        x: cython.int
        at: cython.int = self.at
        lo: cython.int = at + 11
        hi: cython.int = lo + 2 * self.pool[at + 8]
        bars: cython.int
        nodes: cython.p_int
        parent: cython.p_int
        self.n_found = 0
        while lo < hi:  # the byte is sought in pairs of ints
            i = lo + ((hi - lo) >> 2 << 1)
            if self.pool[i] < b:
                lo = i + 2
            else:
                hi = i
        i = at + 11 + 2 * self.pool[at + 8]
        if lo < i and self.pool[lo] == b:
            hi = at + self.pool[lo + 1]
            lo = i if lo == at + 11 else at + self.pool[lo - 1]
            self._need_found(hi - lo)
            for i in range(lo, hi):
                self.found[self.n_found] = self.pool[i]
                self.n_found += 1
        if self.pool[at + 8] == MARKED:
            parent = self.t.parent
            self._need_found(self.t.byte_off[b + 1] - self.t.byte_off[b])
            for i in range(self.t.byte_off[b], self.t.byte_off[b + 1]):
                x = parent[self.t.by_byte[i]]
                if (self.pool[at + 11 + (x >> 5)] >> (x & 31)) & 1:
                    self.found[self.n_found] = self.t.by_byte[i]
                    self.n_found += 1
        lo = at + self.pool[at + 10]
        bars = lo + self.pool[at + 9]
        while lo < bars:
            i = self.r.exit_list(self.pool[lo], b)
            nodes = self.r.xl[i]
            self._need_found(self.r.xl_len[6 * i + 1] - self.r.xl_len[6 * i])
            for x in range(self.r.xl_len[6 * i], self.r.xl_len[6 * i + 1]):
                if self.pool[bars] == 0 or not self.is_barred(bars, self.pool[lo], nodes[x]):
                    self.found[self.n_found] = nodes[x]
                    self.n_found += 1
            lo += 1
        return self.n_found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _need_found(self, more: cython.int) -> cython.int:
        if self.n_found + more > self.found_cap:
            self.found_cap = 2 * (self.n_found + more) + 64
            self.found = grow_int(self.found, self.found_cap)
            if not self.found:
                out_of_memory()
        return 0

    # ---- interning -----------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _intern(self, length: cython.int) -> cython.int:
        h: cython.int = cython.cast(cython.int, self._hash(self.pool_len, length) & 0x7FFFFFFF)
        i: cython.int = h & (self.table_size - 1)
        j: cython.int
        g: cython.int
        while self.table[i] >= 0:
            g = self.table[i]
            if self.g_len[g] == length and self.g_hash[g] == h:
                j = 0
                while j < length and self.pool[self.g_off[g] + j] == self.pool[self.pool_len + j]:
                    j += 1
                if j == length:
                    return g
            i = (i + 1) & (self.table_size - 1)
        g = self._enter(length, h)
        self.table[i] = g
        if self.n * 2 > self.table_size:
            self.table_size = self.table_size * 2
            self.table = grow_int(self.table, self.table_size)
            if not self.table:
                out_of_memory()
            for i in range(self.table_size):
                self.table[i] = -1
            for j in range(2, self.n):
                i = self.g_hash[j] & (self.table_size - 1)
                while self.table[i] >= 0:
                    i = (i + 1) & (self.table_size - 1)
                self.table[i] = j
        return g

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash(self, at: cython.int, length: cython.int) -> cython.ulonglong:
        h: cython.ulonglong = 4711
        g: cython.ulonglong = 1147
        i: cython.int
        for i in range(at, at + (length & ~1), 2):  # two lanes: multiplications overlap
            h = mix(h, self.pool[i])
            g = mix(g, self.pool[i + 1])
        if length & 1:
            h = mix(h, self.pool[at + length - 1])
        return h ^ (g >> 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def meets(self, g: cython.int, bits: cython.p_int) -> cython.bint:
        """Whether a byte class of ``bits`` (eight words) may lead on from group ``g``."""
        i: cython.int
        at: cython.int = self.g_off[g]
        for i in range(8):
            if self.pool[at + i] & bits[i]:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def meets_byte(self, g: cython.int, b: cython.int) -> cython.bint:
        """Whether byte ``b`` may lead on from group ``g``."""
        k: cython.int = self.a.cls[b]
        return (self.pool[self.g_off[g] + (k >> 5)] >> (k & 31)) & 1
