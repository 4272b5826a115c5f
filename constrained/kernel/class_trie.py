# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The vocabulary's trie seen through a partition of the bytes.

Paths that differ only within byte classes fall together: through the partition of a JSON string or an identifier,
270,000 nodes become some hundreds to some ten thousands (other scripts' characters), so that one step of an
automaton serves many tokens. Class node 0 is the root; nodes are numbered level by level, the children of one in a row,
so that who reads the trie from the root goes through the arrays from left to right:

    parent[c], byte[c]        the parent, and a byte of the class that leads here
    child_off[c]              the first child; the next node's first child is behind the last
    group[group_off[c]:]      the tokens that end here, in the order of the trie, and in ``group_at`` their places in
                              ``TokenTrie.tk_node``: those below one trie node are a run, found by binary search
    dense[c]                  which of ``rows`` is the group as a row of bits, if it is large; else -1
    where[x]                  the class node of trie node ``x``
    cls[b]                    the class of a byte

Immutable once built, shared by all grammars and threads. Cost for 128,000 tokens: 1-2 ms and 2-3 MB.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int, grow_uint
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int, grow_uint
    from constrained.kernel.token_trie import TokenTrie

DENSE_GROUP = cython.declare(cython.int, 512)


LARGE_RUN = cython.declare(cython.int, 20_000)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hash(k: cython.int) -> cython.uint:
    h: cython.uint = cython.cast(cython.uint, k) * 1640531527
    if not cython.compiled:
        h &= 0xFFFFFFFF
    return h >> 13


@cython.final
@cython.cclass
class ClassTrie:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.parent)
            free(self.byte)
            free(self.child_off)
            free(self.group_off)
            free(self.group)
            free(self.group_at)
            free(self.dense)
            free(self.where)
            free(self.cls)
            free(self.slots)
            free(self.rows)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.parent = self.byte = self.child_off = self.where = None
            self.cls = self.slots = None
            self.n = self.cap = self.size = 0
            self.group_off = self.group = self.group_at = self.dense = self.rows = None
            return self

    def __init__(self, trie: TokenTrie, partition: bytes):
        """``partition``: 256 class numbers."""
        text: cython.p_const_uchar = partition
        i: cython.int
        self.cls = grow_int(self.cls, 256)
        if not self.cls:
            raise MemoryError
        for i in range(256):
            self.cls[i] = text[i]
        with cython.nogil:
            i = self._number(trie) and self._list_children(trie) and self._sort_tokens(trie)
        if not i:
            raise MemoryError

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _number(self, trie: TokenTrie) -> cython.bint:
        """Find the class node of each trie node. False: out of memory.

        The large subtrees are split first, so that there are runs to read four at a time: a node waits for its
        parent's class node, which was found a moment ago.
        """
        m: cython.int = trie.n_nodes
        word: cython.p_int = trie.word
        end: cython.p_int = trie.end
        n_tasks: cython.int = 1
        n_runs: cython.int = 0
        task_cap: cython.int = 256
        run_cap: cython.int = 1024
        i: cython.int
        x: cython.int
        q: cython.int = 0
        a: cython.int = 0
        b: cython.int = 0
        c: cython.int = 0
        d: cython.int = 0
        end_a: cython.int = 0
        end_b: cython.int = 0
        end_c: cython.int = 0
        end_d: cython.int = 0
        depth: cython.int = trie.max_depth + 2
        new: cython.p_int = cython.NULL if cython.compiled else None
        tasks: cython.p_int = grow_int(new, task_cap)
        runs: cython.p_int = grow_int(new, run_cap)
        pa: cython.p_int = grow_int(new, depth)
        pb: cython.p_int = grow_int(new, depth)
        pc: cython.p_int = grow_int(new, depth)
        pd: cython.p_int = grow_int(new, depth)
        self.where = grow_int(self.where, m)
        self.size = 8192
        self.slots = grow_int(self.slots, 2 * self.size)
        self.n = 0
        if not (tasks and runs and pa and pb and pc and pd and self.where and self.slots):
            return False
        for i in range(self.size):
            self.slots[2 * i] = -1
        if self._new(-1, 0) < 0:
            return False
        self.where[0] = 0
        tasks[0] = 0
        while n_tasks > 0:
            n_tasks -= 1
            i = tasks[n_tasks]
            x = i + 1
            while x < end[i]:
                pa[0] = self.where[i]
                if not _place(self, x, word[x] & 255, 1, pa):
                    return False
                if n_tasks + 1 >= task_cap:
                    task_cap = task_cap * 2
                    tasks = grow_int(tasks, task_cap)
                if n_runs + 1 >= run_cap:
                    run_cap = run_cap * 2
                    runs = grow_int(runs, run_cap)
                if not (tasks and runs):
                    return False
                if end[x] - x > LARGE_RUN:
                    tasks[n_tasks] = x
                    n_tasks += 1
                elif end[x] > x + 1:
                    runs[n_runs] = x
                    n_runs += 1
                x = end[x]
        while True:
            if a >= end_a and q < n_runs:
                a = runs[q]
                pa[word[a] >> 8] = self.where[a]
                end_a = end[a]
                a += 1
                q += 1
            if b >= end_b and q < n_runs:
                b = runs[q]
                pb[word[b] >> 8] = self.where[b]
                end_b = end[b]
                b += 1
                q += 1
            if c >= end_c and q < n_runs:
                c = runs[q]
                pc[word[c] >> 8] = self.where[c]
                end_c = end[c]
                c += 1
                q += 1
            if d >= end_d and q < n_runs:
                d = runs[q]
                pd[word[d] >> 8] = self.where[d]
                end_d = end[d]
                d += 1
                q += 1
            if a >= end_a and b >= end_b and c >= end_c and d >= end_d:
                break
            while a < end_a and b < end_b and c < end_c and d < end_d:
                i = _place(self, a, word[a] & 255, word[a] >> 8, pa)
                i &= _place(self, b, word[b] & 255, word[b] >> 8, pb)
                i &= _place(self, c, word[c] & 255, word[c] >> 8, pc)
                i &= _place(self, d, word[d] & 255, word[d] >> 8, pd)
                if i == 0:
                    return False
                a += 1
                b += 1
                c += 1
                d += 1
            if q < n_runs:
                continue
            i = 1
            while a < end_a and i != 0:
                i = _place(self, a, word[a] & 255, word[a] >> 8, pa)
                a += 1
            while b < end_b and i != 0:
                i = _place(self, b, word[b] & 255, word[b] >> 8, pb)
                b += 1
            while c < end_c and i != 0:
                i = _place(self, c, word[c] & 255, word[c] >> 8, pc)
                c += 1
            while d < end_d and i != 0:
                i = _place(self, d, word[d] & 255, word[d] >> 8, pd)
                d += 1
            if i == 0:
                return False
        if cython.compiled:
            free(tasks)
            free(runs)
            free(pa)
            free(pb)
            free(pc)
            free(pd)
            free(self.slots)
            self.slots = cython.NULL
        else:
            self.slots = None
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _new(self, parent: cython.int, b: cython.int) -> cython.int:
        """A new class node; -1 when memory is out."""
        c: cython.int = self.n
        if c >= self.cap:
            self.cap = 1024 if self.cap == 0 else self.cap * 2
            self.parent = grow_int(self.parent, self.cap)
            self.byte = grow_int(self.byte, self.cap)
            if not (self.parent and self.byte):
                return -1
        self.parent[c] = parent
        self.byte[c] = b
        self.n = c + 1
        return c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _find(self, key: cython.int, b: cython.int) -> cython.int:
        """The class node of a (class node, class), made if need be; -1 when memory is out."""
        c: cython.int
        i: cython.int
        k: cython.int
        h: cython.uint
        if self.n * 2 >= self.size:
            self.size = self.size * 4
            self.slots = grow_int(self.slots, 2 * self.size)
            if not self.slots:
                return -1
            for i in range(self.size):
                self.slots[2 * i] = -1
            for c in range(1, self.n):
                k = self.parent[c] << 8 | self.cls[self.byte[c]]
                h = _hash(k) & (self.size - 1)
                while self.slots[2 * h] != -1:
                    h = (h + 1) & (self.size - 1)
                self.slots[2 * h] = k
                self.slots[2 * h + 1] = c
        h = _hash(key) & (self.size - 1)
        while self.slots[2 * h] != -1:
            if self.slots[2 * h] == key:
                return self.slots[2 * h + 1]
            h = (h + 1) & (self.size - 1)
        c = self._new(key >> 8, b)
        if c >= 0:
            self.slots[2 * h] = key
            self.slots[2 * h + 1] = c
        return c

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _list_children(self, trie: TokenTrie) -> cython.bint:
        """Number the nodes anew. False: out of memory."""
        n: cython.int = self.n
        c: cython.int
        i: cython.int
        j: cython.int
        m: cython.int = 1
        none: cython.p_int = cython.NULL if cython.compiled else None
        off: cython.p_int = grow_int(none, n + 2)
        child: cython.p_int = grow_int(none, n)
        order: cython.p_int = grow_int(none, n)
        new: cython.p_int = grow_int(none, n)
        parent: cython.p_int = grow_int(none, n)
        byte: cython.p_int = grow_int(none, n)
        where: cython.p_int = self.where
        if not (off and child and order and new and parent and byte):
            return False
        for c in range(n + 2):
            off[c] = 0
        for c in range(1, n):
            off[self.parent[c] + 2] += 1
        for c in range(n + 1):
            off[c + 1] += off[c]
        for c in range(1, n):
            i = self.parent[c] + 1
            child[off[i]] = c
            off[i] += 1
        order[0] = 0
        for i in range(n):
            c = order[i]
            new[c] = i
            for j in range(off[c], off[c + 1]):
                order[m] = child[j]
                m += 1
        parent[0] = -1
        byte[0] = 0
        for i in range(1, n):
            c = order[i]
            parent[i] = new[self.parent[c]]
            byte[i] = self.byte[c]
        for i in range(trie.n_nodes):
            where[i] = new[where[i]]
        for i in range(n):
            child[i] = off[order[i] + 1] - off[order[i]]
        off[0] = 1
        for i in range(n):
            off[i + 1] = off[i] + child[i]
        if cython.compiled:
            free(self.parent)
            free(self.byte)
            free(child)
            free(order)
            free(new)
        self.parent = parent
        self.byte = byte
        self.child_off = off
        self.cap = n
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _sort_tokens(self, trie: TokenTrie) -> cython.bint:
        """The groups, and rows for the large ones."""
        n: cython.int = self.n
        m: cython.int = trie.n_tk
        words: cython.int = trie.words
        dense: cython.int = 0
        c: cython.int
        i: cython.int
        k: cython.int
        where: cython.p_int = self.where
        tk_node: cython.p_int = trie.tk_node
        tk_id: cython.p_int = trie.tk_id
        off: cython.p_int = grow_int(self.group_off, n + 2)
        group: cython.p_int = grow_int(self.group, m + 1)
        group_at: cython.p_int = grow_int(self.group_at, m + 1)
        size: cython.Py_ssize_t
        self.group_off = off
        self.group = group
        self.group_at = group_at
        self.dense = grow_int(self.dense, n + 1)
        if not (off and group and group_at and self.dense):
            return False
        for c in range(n + 2):
            off[c] = 0
        for i in range(m):
            off[where[tk_node[i]] + 2] += 1
        for c in range(n + 1):
            off[c + 1] += off[c]
        for i in range(m):
            c = where[tk_node[i]] + 1
            k = off[c]
            off[c] = k + 1
            group[k] = tk_id[i]
            group_at[k] = i
        for c in range(n):
            self.dense[c] = -1
            if off[c + 1] - off[c] > DENSE_GROUP:
                self.dense[c] = dense
                dense += 1
        size = cython.cast(cython.Py_ssize_t, dense) * words
        self.rows = grow_uint(self.rows, size + 1)
        if not self.rows:
            return False
        for i in range(dense * words):
            self.rows[i] = 0
        for c in range(n):
            if self.dense[c] >= 0:
                m = self.dense[c] * words
                for i in range(off[c], off[c + 1]):
                    k = group[i]
                    self.rows[m + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        self.bytes_held = 4 * (5 * cython.cast(cython.longlong, n) + trie.n_nodes + 2 * trie.n_tk + size)
        return True

    def memory(self):
        return self.bytes_held

    def shape(self):
        """(class nodes, tokens in them)."""
        return self.n, self.group_off[self.n]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _place(trie: ClassTrie, x: cython.int, b: cython.int, depth: cython.int, path: cython.p_int) -> cython.int:
    """Find the class node of trie node ``x`` at ``depth``, whose parent's is in ``path``; 0 when memory is out."""
    k: cython.int = path[depth - 1] << 8 | trie.cls[b]
    h: cython.uint = _hash(k) & (trie.size - 1)
    c: cython.int
    if trie.slots[2 * h] == k:
        c = trie.slots[2 * h + 1]
    else:
        c = trie._find(k, b)
        if c < 0:
            return 0
    path[depth] = c
    trie.where[x] = c
    return 1
