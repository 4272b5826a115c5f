# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The vocabulary as a flat trie.

Nodes in depth-first order, children by byte; node 0 is the root. A subtree is the run ``n .. end[n]``, so a walk is
one loop without recursion:

    word[n]    byte | depth << 8
    end[n]     the node behind the subtree
    token[n]   the id of the token that ends here, else ``spare``: a bit behind the last id, so that a walk
               marks every node it reaches without asking
    parent[n]  the node above

    tk_node, tk_id            the nodes with a token, and the tokens, in that order
    by_byte[byte_off[b]:]     the nodes that byte ``b`` leads to, in order

``text`` and ``offsets`` are the tokens' bytes, for stepping by token. Tokens with equal bytes share a node; the
others are in ``twins`` as (id in the node, other id) pairs and get their bit copied when a mask is finished. Ids
without bytes (control tokens, padding) are in no node. ``tables`` is a ``RegionTables`` once masks are asked for.

Immutable once built and shared by all grammars and threads. Cost for 128,000 tokens: 30 ms and 8 MB.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import copy_ints, grow_int, grow_uint
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import copy_ints, grow_int, grow_uint

import threading
from array import array

LARGE_SUBTREE = cython.declare(cython.int, 1000)
SPARE_ROWS = cython.declare(cython.int, 8)


@cython.final
@cython.cclass
class TokenTrie:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            i: cython.int
            free(self.word)
            free(self.end)
            free(self.token)
            free(self.twins)
            free(self.offsets)
            free(self.large)
            free(self.children)
            free(self.parent)
            free(self.tk_node)
            free(self.tk_id)
            free(self.by_byte)
            free(self.byte_off)

            for i in range(self.n_spare):
                free(self.spare_rows[i])

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.rows_lock = cython.pymutex()
            self.n_spare = 0
            self.word = self.end = self.token = self.twins = self.offsets = self.large = self.children = None
            self.parent = self.tk_node = self.tk_id = self.by_byte = self.byte_off = None
            return self

    def __init__(self, data: bytes, offsets):
        """``data[offsets[i]:offsets[i + 1]]``: the bytes of token ``i``; ``offsets``: int64 [V + 1]."""
        self.vocab_size = len(offsets) - 1
        self.data = data
        self.text = data
        self.words = (self.vocab_size + 31) // 32
        self.spare = self.words * 32
        self.tables = None
        self.guard = threading.Lock()
        self._build(data, offsets)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_row(self) -> cython.p_uint:
        """A row of a bitmask, one word longer, of zeros; NULL when memory is out.

        One that was given back, if there is one: clearing all of it costs more than what a grammar writes to it.
        """
        i: cython.int
        row: cython.p_uint = cython.NULL if cython.compiled else None
        if cython.compiled:
            with self.rows_lock:
                if self.n_spare > 0:
                    self.n_spare -= 1
                    row = self.spare_rows[self.n_spare]
            if row:
                return row
        row = grow_uint(row, self.words + 1)
        if row:
            for i in range(self.words + 1):
                row[i] = 0
        return row

    @cython.cfunc
    @cython.exceptval(check=False)
    def give_row(self, row: cython.p_uint) -> cython.void:
        """Keep a row that ``take_row`` gave, zeros again; NULL is none."""
        kept: cython.bint = False
        if cython.compiled:
            if not row:
                return
            with self.rows_lock:
                if self.n_spare < SPARE_ROWS:
                    self.spare_rows[self.n_spare] = row
                    self.n_spare += 1
                    kept = True
            if not kept:
                free(row)

    def _build(self, data: bytes, offsets: cython.const[cython.longlong][::1]):
        """Insert every token through a hash of (node, byte), then renumber depth first."""
        v: cython.int = self.vocab_size
        cap: cython.int = 1 << 12
        size: cython.int = 1 << 14
        table: cython.p_int = None if not cython.compiled else cython.NULL
        parent: cython.p_int = None if not cython.compiled else cython.NULL
        byte: cython.p_int = None if not cython.compiled else cython.NULL
        held: cython.p_int = None if not cython.compiled else cython.NULL
        n: cython.int = 1
        i: cython.int
        j: cython.Py_ssize_t
        lo: cython.Py_ssize_t
        hi: cython.Py_ssize_t
        node: cython.int
        b: cython.int
        h: cython.uint
        text: cython.p_const_uchar = data
        twins = []
        self.offsets = grow_int(self.offsets, v + 1)
        table = grow_int(table, size)
        parent = grow_int(parent, cap)
        byte = grow_int(byte, cap)
        held = grow_int(held, cap)
        if not (table and parent and byte and held and self.offsets):
            raise MemoryError
        for i in range(v + 1):
            self.offsets[i] = cython.cast(cython.int, offsets[i])
        for i in range(size):
            table[i] = 0
        parent[0] = -1
        byte[0] = 0
        held[0] = -1
        for i in range(v):
            lo = offsets[i]
            hi = offsets[i + 1]
            if lo == hi:
                continue
            node = 0
            for j in range(lo, hi):
                b = text[j]
                h = _slot(node, b) & (size - 1)
                while table[h] != 0 and not (parent[table[h]] == node and byte[table[h]] == b):
                    h = (h + 1) & (size - 1)
                if table[h] == 0:
                    if n >= cap:
                        cap = cap * 2
                        parent = grow_int(parent, cap)
                        byte = grow_int(byte, cap)
                        held = grow_int(held, cap)
                        if not (parent and byte and held):
                            raise MemoryError
                    parent[n] = node
                    byte[n] = b
                    held[n] = -1
                    table[h] = n
                    n += 1
                    if n * 2 > size:
                        size = size * 2
                        table = grow_int(table, size)
                        if not table:
                            raise MemoryError
                        _refill(table, size, parent, byte, n)
                    node = n - 1
                else:
                    node = table[h]
            if held[node] < 0:
                held[node] = i
            else:
                twins.append(held[node])
                twins.append(i)
        self._number(n, parent, byte, held)
        self._tabulate()
        if cython.compiled:
            free(table)
            free(parent)
            free(byte)
            free(held)
        self.twins = copy_ints(self.twins, array("i", twins))
        self.n_twins = len(twins) // 2

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _number(self, n: cython.int, parent: cython.p_int, byte: cython.p_int, held: cython.p_int) -> cython.int:
        """Preorder numbers with children by byte: two counting sorts, one walk."""
        i: cython.int
        x: cython.int
        d: cython.int
        new: cython.int = 0
        counts: cython.p_int = None if not cython.compiled else cython.NULL
        order: cython.p_int = None if not cython.compiled else cython.NULL
        first: cython.p_int = None if not cython.compiled else cython.NULL
        path: cython.p_int = None if not cython.compiled else cython.NULL
        opened: cython.p_int = None if not cython.compiled else cython.NULL
        counts = grow_int(counts, 257 if n < 257 else n + 1)
        order = grow_int(order, n)
        first = grow_int(first, n + 1)
        self.word = grow_int(self.word, n + 1)
        self.end = grow_int(self.end, n + 1)
        self.token = grow_int(self.token, n + 1)
        self.parent = grow_int(self.parent, n + 1)
        if not (counts and order and first and self.word and self.end and self.token and self.parent):
            raise MemoryError
        # children of every node in a row, by byte: sort by byte, then (stably) by parent
        for i in range(257):
            counts[i] = 0
        for i in range(1, n):
            counts[byte[i] + 1] += 1
        for i in range(256):
            counts[i + 1] += counts[i]
        for i in range(1, n):
            first[counts[byte[i]]] = i
            counts[byte[i]] += 1
        for i in range(n + 1):
            counts[i] = 0
        for i in range(1, n):
            counts[parent[i] + 1] += 1
        for i in range(n):
            counts[i + 1] += counts[i]
        for i in range(n - 1):
            x = first[i]
            order[counts[parent[x]]] = x
            counts[parent[x]] += 1
        # counts[p] is now the end of p's children; their beginning is the end of p - 1's
        d = 0
        path = grow_int(path, 64)
        opened = grow_int(opened, 64)
        x = 64
        path[0] = 0
        opened[0] = 0
        self.word[0] = 0
        self.token[0] = self.spare
        self.parent[0] = -1
        new = 1
        self.max_depth = 0
        first[0] = 0
        # first[k] is reused: the next child to visit of the node at depth k
        while d >= 0:
            i = path[d]
            if first[d] < counts[i]:
                i = order[first[d]]
                first[d] += 1
                d += 1
                if d >= x:
                    x = x * 2
                    path = grow_int(path, x)
                    opened = grow_int(opened, x)
                    if not (path and opened):
                        raise MemoryError
                path[d] = i
                first[d] = counts[i - 1]
                opened[d] = new
                self.parent[new] = opened[d - 1]
                self.word[new] = byte[i] | (d << 8)
                self.token[new] = held[i] if held[i] >= 0 else self.spare
                if d > self.max_depth:
                    self.max_depth = d
                new += 1
            else:
                self.end[opened[d]] = new
                d -= 1
        self.n_nodes = n
        if cython.compiled:
            free(counts)
            free(order)
            free(first)
            free(path)
            free(opened)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tabulate(self) -> cython.int:
        """Children by byte for the nodes with large subtrees, nodes with tokens, and nodes by byte."""
        x: cython.int
        c: cython.int
        i: cython.int
        found = [x for x in range(self.n_nodes) if x == 0 or self.end[x] - x > LARGE_SUBTREE]
        self.n_large = len(found)
        self.large = grow_int(self.large, self.n_large)
        self.children = grow_int(self.children, self.n_large * 256)
        if not (self.large and self.children):
            raise MemoryError
        for i in range(self.n_large * 256):
            self.children[i] = 0
        for i in range(self.n_large):
            x = found[i]
            self.large[i] = x
            c = x + 1
            while c < self.end[x]:
                self.children[256 * i + (self.word[c] & 255)] = c
                c = self.end[c]
        self.tk_node = grow_int(self.tk_node, self.n_nodes)
        self.tk_id = grow_int(self.tk_id, self.n_nodes)
        self.by_byte = grow_int(self.by_byte, self.n_nodes)
        self.byte_off = grow_int(self.byte_off, 258)
        if not (self.tk_node and self.tk_id and self.by_byte and self.byte_off):
            raise MemoryError
        self.n_tk = 0
        for i in range(258):
            self.byte_off[i] = 0
        for i in range(1, self.n_nodes):
            self.byte_off[(self.word[i] & 255) + 2] += 1
            if self.token[i] != self.spare:
                self.tk_node[self.n_tk] = i
                self.tk_id[self.n_tk] = self.token[i]
                self.n_tk += 1
        for i in range(257):
            self.byte_off[i + 1] += self.byte_off[i]
        for i in range(1, self.n_nodes):
            c = (self.word[i] & 255) + 1
            self.by_byte[self.byte_off[c]] = i
            self.byte_off[c] += 1
        self.tk_node = grow_int(self.tk_node, self.n_tk + 1)
        self.tk_id = grow_int(self.tk_id, self.n_tk + 1)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def child_table(self, x: cython.int) -> cython.int:
        """Where ``children`` holds the 256 children (0: none) of ``x``, whose subtree has over LARGE_SUBTREE nodes."""
        lo: cython.int = 0
        hi: cython.int = self.n_large
        mid: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.large[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        return 256 * lo

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _child(self, x: cython.int, b: cython.int) -> cython.int:
        """The child of trie node ``x`` by byte ``b``, or 0."""
        c: cython.int = x + 1
        while c < self.end[x]:
            if (self.word[c] & 255) == b:
                return c
            c = self.end[c]
        return 0

    def longest_match(self, data: bytes, start: cython.Py_ssize_t):
        """The id of the longest token that ``data`` has at ``start``, or -1."""
        x: cython.int = 0
        found: cython.int = -1
        i: cython.Py_ssize_t
        text: cython.p_const_uchar = data
        for i in range(start, len(data)):
            x = self._child(x, text[i])
            if x == 0:
                break
            if self.token[x] != self.spare:
                found = self.token[x]
        return found

    def goes_beyond(self, data: bytes, start: cython.Py_ssize_t):
        """Whether some token begins with all of ``data[start:]`` and is longer."""
        x: cython.int = 0
        i: cython.Py_ssize_t
        text: cython.p_const_uchar = data
        for i in range(start, len(data)):
            x = self._child(x, text[i])
            if x == 0:
                return False
        return self.end[x] > x + 1

    def child(self, node: cython.int, byte: cython.int):
        """The node that ``byte`` leads to from ``node`` (0: the root), or 0."""
        return self._child(node, byte)

    def memory(self):
        """Bytes held, class tries and region rows included."""
        held = self.n_nodes * 20 + 8 * self.n_tk + 4 * self.vocab_size + self.n_large * 1028
        return held + (0 if self.tables is None else self.tables.memory())

    def shape(self):
        """(nodes, greatest depth, tokens with the bytes of another)."""
        return self.n_nodes, self.max_depth, self.n_twins

    def nodes(self):
        """(word, end, token) lists: for tests and drawings."""
        count = self.n_nodes
        return ([self.word[i] for i in range(count)], [self.end[i] for i in range(count)],
                [self.token[i] for i in range(count)])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _slot(node: cython.int, b: cython.int) -> cython.uint:
    h: cython.uint = cython.cast(cython.uint, node) * 1640531527 + cython.cast(cython.uint, b) * 40503
    if not cython.compiled:
        h &= 0xFFFFFFFF
    return h ^ (h >> 15)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _refill(table: cython.p_int, size: cython.int, parent: cython.p_int, byte: cython.p_int,
            n: cython.int) -> cython.void:
    i: cython.int
    h: cython.uint
    for i in range(size):
        table[i] = 0
    for i in range(1, n):
        h = _slot(parent[i], byte[i]) & (size - 1)
        while table[h] != 0:
            h = (h + 1) & (size - 1)
        table[h] = i
