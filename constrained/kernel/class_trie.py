# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The vocabulary's trie seen through a partition of the bytes.

Paths that differ only within byte classes fall together: through the partition of a JSON string or an identifier,
270,000 nodes become some hundreds to some ten thousands (other scripts' characters), so that one step of an
automaton serves many tokens. Class node 0 is the root; a parent has a smaller number than its children:

    parent[c], byte[c]        the parent, and a byte of the class that leads here
    child[child_off[c]:]      the children
    group[group_off[c]:]      the tokens that end here, in the order of the trie, and in ``group_at`` their places in
                              ``TokenTrie.tk_node``: those below one trie node are a run, found by binary search
    dense[c]                  which of ``rows`` is the group as a row of bits, if it is large; else -1
    where[x]                  the class node of trie node ``x``
    last[c], before[x]        the last of the trie nodes of a class node, and the one before each (0: none)
    cls[b]                    the class of a byte

Immutable once built, shared by all grammars and threads. Cost for 128,000 tokens: 1-2 ms and 2-3 MB.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import grow_int
    from cython.cimports.constrained.kernel.token_trie import TokenTrie, grow_uint
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import grow_int
    from constrained.kernel.token_trie import TokenTrie, grow_uint

DENSE_GROUP = cython.declare(cython.int, 512)


@cython.final
@cython.cclass
class ClassTrie:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.parent)
            free(self.byte)
            free(self.child_off)
            free(self.child)
            free(self.group_off)
            free(self.group)
            free(self.group_at)
            free(self.dense)
            free(self.where)
            free(self.before)
            free(self.last)
            free(self.cls)
            free(self.rows)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.parent = self.byte = self.child_off = self.child = self.where = None
            self.before = self.last = self.cls = None
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
            i = self._number(trie, self.cls) and self._list_children() and self._sort_tokens(trie)
        if not i:
            raise MemoryError

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _number(self, trie: TokenTrie, classes: cython.p_int) -> cython.bint:
        """Find the class node of each trie node through a hash of (class node, class). False: out of memory."""
        m: cython.int = trie.n_nodes
        cap: cython.int = 1024
        size: cython.int = 4096
        n: cython.int = 1
        i: cython.int
        k: cython.int
        c: cython.int
        w: cython.int
        p: cython.int
        h: cython.uint
        parent: cython.p_int = grow_int(self.parent, cap)
        byte: cython.p_int = grow_int(self.byte, cap)
        where: cython.p_int = grow_int(self.where, m)
        before: cython.p_int = grow_int(self.before, m)
        last: cython.p_int = grow_int(self.last, cap)
        stack: cython.p_int = grow_int(cython.NULL if cython.compiled else None, trie.max_depth + 2)
        key: cython.p_int = grow_int(cython.NULL if cython.compiled else None, size)
        value: cython.p_int = grow_int(cython.NULL if cython.compiled else None, size)
        word: cython.p_int = trie.word
        self.parent = parent
        self.byte = byte
        self.where = where
        self.before = before
        self.last = last
        if not (parent and byte and where and before and last and stack and key and value):
            return False
        for i in range(size):
            key[i] = -1
        parent[0] = -1
        byte[0] = 0
        where[0] = 0
        before[0] = 0
        last[0] = 0
        stack[0] = 0
        for i in range(1, m):
            w = word[i]
            p = stack[(w >> 8) - 1]
            k = p << 8 | classes[w & 255]
            h = cython.cast(cython.uint, k) * 1640531527
            if not cython.compiled:
                h &= 0xFFFFFFFF
            h = (h >> 15) & (size - 1)
            while key[h] != k and key[h] != -1:
                h = (h + 1) & (size - 1)
            if key[h] == k:
                c = value[h]
            else:
                if n >= cap:
                    cap = cap * 2
                    parent = grow_int(parent, cap)
                    byte = grow_int(byte, cap)
                    last = grow_int(last, cap)
                    self.parent = parent
                    self.byte = byte
                    self.last = last
                    if not (parent and byte and last):
                        return False
                c = n
                parent[c] = p
                byte[c] = w & 255
                last[c] = 0
                key[h] = k
                value[h] = c
                n += 1
                if n * 2 > size:
                    size = size * 4
                    key = grow_int(key, size)
                    value = grow_int(value, size)
                    if not (key and value):
                        return False
                    _refill(key, value, size, parent, byte, classes, n)
            stack[w >> 8] = c
            where[i] = c
            before[i] = last[c]
            last[c] = i
        self.n = n
        if cython.compiled:
            free(stack)
            free(key)
            free(value)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _list_children(self) -> cython.bint:
        n: cython.int = self.n
        c: cython.int
        self.child_off = grow_int(self.child_off, n + 2)
        self.child = grow_int(self.child, n)
        if not (self.child_off and self.child):
            return False
        for c in range(n + 2):
            self.child_off[c] = 0
        for c in range(1, n):
            self.child_off[self.parent[c] + 2] += 1
        for c in range(n + 1):
            self.child_off[c + 1] += self.child_off[c]
        for c in range(1, n):
            self.child[self.child_off[self.parent[c] + 1]] = c
            self.child_off[self.parent[c] + 1] += 1
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
        self.bytes_held = 4 * (7 * cython.cast(cython.longlong, n) + 2 * trie.n_nodes + 2 * trie.n_tk + size)
        return True

    def memory(self):
        return self.bytes_held

    def shape(self):
        """(class nodes, tokens in them)."""
        return self.n, self.group_off[self.n]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _refill(key: cython.p_int, value: cython.p_int, size: cython.int, parent: cython.p_int, byte: cython.p_int,
            classes: cython.p_int, n: cython.int) -> cython.void:
    i: cython.int
    k: cython.int
    h: cython.uint
    for i in range(size):
        key[i] = -1
    for i in range(1, n):
        k = parent[i] << 8 | classes[byte[i]]
        h = cython.cast(cython.uint, k) * 1640531527
        if not cython.compiled:
            h &= 0xFFFFFFFF
        h = (h >> 15) & (size - 1)
        while key[h] != -1:
            h = (h + 1) & (size - 1)
        key[h] = k
        value[h] = i
