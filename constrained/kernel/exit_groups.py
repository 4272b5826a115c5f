# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Places in the token trie where something has ended within a token and what is below it on the stack goes on.

A *group* is a set of such places, interned, so that what goes on from them is found once for each (group, what goes
on). A place is known by the trie nodes one byte behind it:

    g_off[g]    in ``pool``: eight words of bits of the automaton's byte classes that lead on (all, where there are
                exits); how many bytes b; for each its value and the end of its nodes; how many exits
                e; the nodes, by byte and in order; the exits (see ``hole_regions``), whose nodes are asked for
                by byte when they are needed; how many bars; the bars: (exit, lo, hi), trie nodes behind
                the exit that do not belong to the group

Group 0 is empty, group 1 the root of the trie. Where guards are pending at a place, what is below goes on under their
pending id: such places are set aside (``aside``: pending id, trie node or ``~exit``) and make groups of their own.

Cost: 2 ns a trie node behind a place.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.hashing import bit, mix, sort_ints
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.hashing import bit, mix, sort_ints
    from constrained.kernel.memory import grow_int
    from constrained.kernel.token_trie import TokenTrie

ROOT_GROUP = cython.declare(cython.int, 1)


@cython.final
@cython.cclass
class ExitGroups:
    """See the module docstring.

    ``begin``, then ``add_node``, ``add_exit`` and ``set_aside`` in any order, then ``finish``; then ``finish`` once
    more for each pending id of ``next_pending``.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.g_off)
            free(self.g_len)
            free(self.pool)
            free(self.table)
            free(self.nodes)
            free(self.exits)
            free(self.bars)
            free(self.count)
            free(self.aside)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in ("n", "cap", "pool_len", "pool_cap", "table_size", "n_nodes", "node_cap", "n_exits",
                         "exit_cap", "n_bars", "bar_cap", "n_aside", "aside_cap"):
                setattr(self, name, 0)
            for name in ("g_off", "g_len", "pool", "table", "nodes", "exits", "bars", "count", "aside"):
                setattr(self, name, None)
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie):
        self.a = automaton
        self.t = trie
        self.count = grow_int(self.count, 257)
        if not self.count:
            raise MemoryError
        self.forget()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Drop all groups but the two that are always there."""
        i: cython.int
        self.pool_len = 0
        self.n = 0
        self.table_size = 64
        self.table = grow_int(self.table, self.table_size)
        if not self.table:
            self._out_of_memory()
        for i in range(self.table_size):
            self.table[i] = -1
        self._enter(0)
        self._enter(0)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the groups of exits could not grow")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _enter(self, length: cython.int) -> cython.int:
        """The group at the end of the pool gets the next number."""
        if self.n >= self.cap:
            self.cap = 16 if self.cap == 0 else self.cap * 2
            self.g_off = grow_int(self.g_off, self.cap)
            self.g_len = grow_int(self.g_len, self.cap)
            if not (self.g_off and self.g_len):
                self._out_of_memory()
        self.g_off[self.n] = self.pool_len
        self.g_len[self.n] = length
        self.pool_len += length
        self.n += 1
        return self.n - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
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
                self._out_of_memory()
        self.nodes[self.n_nodes] = x
        self.n_nodes += 1
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
                self._out_of_memory()
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
                self._out_of_memory()
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
                self._out_of_memory()
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
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        self.n_nodes = self._sorted_once(self.nodes, self.n_nodes)
        self.n_exits = self._sorted_once(self.exits, self.n_exits)
        if self.n_nodes == 0 and self.n_exits == 0:
            return 0
        for i in range(257):
            self.count[i] = 0
        for i in range(self.n_nodes):
            x = self.nodes[i]
            c = x + 1
            while c < end[x]:
                k = word[c] & 255
                if self.count[k] == 0:
                    kinds += 1
                self.count[k] += 1
                total += 1
                c = end[c]
        at = self.pool_len
        k = 11 + 2 * kinds + total + self.n_exits + 3 * self.n_bars
        if at + k > self.pool_cap:
            self.pool_cap = 2 * (at + k) + 256
            self.pool = grow_int(self.pool, self.pool_cap)
            if not self.pool:
                self._out_of_memory()
        for i in range(8):
            self.pool[at + i] = -1 if self.n_exits else 0
        self.pool[at + 8] = kinds
        self.pool[at + 9 + 2 * kinds] = self.n_exits
        at += 9
        x = at + 1 + 2 * kinds - self.pool_len  # where nodes begin, from the group's beginning
        for i in range(256):
            if self.count[i]:
                c = self.a.cls[i]
                self.pool[self.pool_len + (c >> 5)] = self.pool[self.pool_len + (c >> 5)] | bit(c & 31)
                self.pool[at] = i
                self.pool[at + 1] = x + self.count[i]
                at += 2
                c = self.count[i]
                self.count[i] = x
                x += c
        at = self.pool_len
        for i in range(self.n_nodes):
            x = self.nodes[i]
            c = x + 1
            while c < end[x]:
                k = word[c] & 255
                self.pool[at + self.count[k]] = c
                self.count[k] += 1
                c = end[c]
        at = self.pool_len + 10 + 2 * kinds + total
        for i in range(self.n_exits):
            self.pool[at + i] = self.exits[i]
        at += self.n_exits
        self.pool[at] = self.n_bars
        for i in range(3 * self.n_bars):
            self.pool[at + 1 + i] = self.bars[i]
        return self._intern(11 + 2 * kinds + total + self.n_exits + 3 * self.n_bars)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _intern(self, length: cython.int) -> cython.int:
        h: cython.ulonglong = self._hash(self.pool_len, length)
        i: cython.int = cython.cast(cython.int, h & (self.table_size - 1))
        j: cython.int
        g: cython.int
        while self.table[i] >= 0:
            g = self.table[i]
            if self.g_len[g] == length:
                j = 0
                while j < length and self.pool[self.g_off[g] + j] == self.pool[self.pool_len + j]:
                    j += 1
                if j == length:
                    return g
            i = (i + 1) & (self.table_size - 1)
        g = self._enter(length)
        self.table[i] = g
        if self.n * 2 > self.table_size:
            self.table_size = self.table_size * 2
            self.table = grow_int(self.table, self.table_size)
            if not self.table:
                self._out_of_memory()
            for i in range(self.table_size):
                self.table[i] = -1
            for j in range(2, self.n):
                i = cython.cast(cython.int, self._hash(self.g_off[j], self.g_len[j]) & (self.table_size - 1))
                while self.table[i] >= 0:
                    i = (i + 1) & (self.table_size - 1)
                self.table[i] = j
        return g

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash(self, at: cython.int, length: cython.int) -> cython.ulonglong:
        h: cython.ulonglong = 4711
        i: cython.int
        for i in range(at, at + length):
            h = mix(h, self.pool[i])
        return h

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
