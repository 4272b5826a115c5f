# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The vocabulary as a flat trie, and the same trie seen through a partition of the bytes.

``TokenTrie``: nodes in depth-first order, children by byte; node 0 is the root. A subtree is the run
``n .. end[n]``, so a walk is one loop without recursion:

    word[n]    byte | depth << 8
    end[n]     the node behind the subtree
    token[n]   the id of the token that ends here, else ``spare``: a bit behind the last id, so that a walk
               marks every node it reaches without asking

``text`` and ``offsets`` are the tokens' bytes, for stepping by token. Tokens with equal bytes share a node; the
others are in ``twins`` as (id in the node, other id) pairs and get their bit copied when a mask is finished. Ids
without bytes (control tokens, padding) are in no node.

``ClassTrie``: below a trie node, paths that differ only within byte classes fall together. Seen through the
partition of a JSON string or an identifier, 270,000 nodes become some hundreds to some ten thousands (other scripts'
characters), so that one step of an automaton serves many tokens. Class node ``c`` has its parent (a smaller number), a
byte of its class, its tokens (``group``), the trie nodes one byte further (``below``, sorted by byte), and a finished
row if the group is large.

Both are immutable once built and shared by all grammars and threads. Cost for 128,000 tokens: 30 ms and 2-3 ms.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import copy_ints, grow_int
    from cython.cimports.libc.stdlib import free, realloc
else:
    from constrained.kernel.automaton import copy_ints, grow_int

import threading
from array import array

DENSE_GROUP = cython.declare(cython.int, 512)
LARGE_SUBTREE = cython.declare(cython.int, 1000)
MAX_REGIONS = cython.declare(cython.int, 4096)
BETWEEN = cython.declare(cython.int, 1 << 24)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_uint(old: cython.p_uint, count: cython.Py_ssize_t) -> cython.p_uint:
    """``old`` enlarged to ``count`` words; the new part is not set. NULL when memory is out."""
    if cython.compiled:
        return cython.cast(cython.p_uint, realloc(old, count * cython.sizeof(cython.uint)))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.final
@cython.cclass
class TokenTrie:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.word)
            free(self.end)
            free(self.token)
            free(self.twins)
            free(self.offsets)
            free(self.large)
            free(self.children)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.word = self.end = self.token = self.twins = self.offsets = self.large = self.children = None
            return self

    def __init__(self, data: bytes, offsets):
        """``data[offsets[i]:offsets[i + 1]]``: the bytes of token ``i``; ``offsets``: int64 [V + 1]."""
        self.vocab_size = len(offsets) - 1
        self.data = data
        self.text = data
        self.words = (self.vocab_size + 31) // 32
        self.spare = self.words * 32
        self.class_tries = {}
        self.regions = {}
        self.guard = threading.Lock()
        self._build(data, offsets)

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
        self._number(n, parent, byte, held, table, size)
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
    def _number(self, n: cython.int, parent: cython.p_int, byte: cython.p_int, held: cython.p_int,
                scratch: cython.p_int, size: cython.int) -> cython.int:
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
        if not (counts and order and first and self.word and self.end and self.token):
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
        """Children by byte for the nodes with large subtrees: a walk asks for few of their children."""
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

    def class_trie(self, partition: bytes, root: cython.int):
        """The shared ``ClassTrie`` for a partition (256 class numbers) below trie node ``root``."""
        key = (partition, root)
        found = self.class_tries.get(key)
        if found is None:
            built = ClassTrie(self, partition, root)
            with self.guard:
                found = self.class_tries.setdefault(key, built)
        return found

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

    def region_tokens(self, partition: bytes, root: cython.int, table: bytes):
        """The shared ``RegionTokens`` of a region's automaton (see there for ``table``) below trie node ``root``."""
        key = (partition, root, table)
        found = self.regions.get(key)
        if found is None:
            built = RegionTokens(self, self.class_trie(partition, root), partition, table)
            with self.guard:
                if len(self.regions) >= MAX_REGIONS:
                    self.regions.clear()  # whoever uses one keeps it
                found = self.regions.setdefault(key, built)
        return found

    def memory(self):
        """Bytes held, class tries and region rows included."""
        held = self.n_nodes * 12 + 4 * self.vocab_size + sum(trie.memory() for trie in list(self.class_tries.values()))
        return held + len(self.regions) * 4 * self.words

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


@cython.final
@cython.cclass
class ClassTrie:
    """A subtree of a ``TokenTrie`` through a byte partition. Class node 0 is the subtree's root."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.parent)
            free(self.byte)
            free(self.group_off)
            free(self.group)
            free(self.below_off)
            free(self.below)
            free(self.dense)
            free(self.rows)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.parent = self.byte = self.group_off = self.group = self.below_off = self.below = None
            self.dense = self.rows = None
            return self

    def __init__(self, trie: TokenTrie, partition: bytes, root: cython.int):
        if not self._build(trie, partition, root):
            raise MemoryError

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _build(self, trie: TokenTrie, partition: bytes, root: cython.int) -> cython.bint:
        text: cython.p_const_uchar = partition
        lo: cython.int = root
        hi: cython.int = trie.end[root]
        m: cython.int = hi - lo
        n_classes: cython.int = max(partition) + 1
        cap: cython.int = 256
        n: cython.int = 1
        i: cython.int
        k: cython.int
        d: cython.int
        c: cython.int
        w: cython.int
        base: cython.int = trie.word[root] >> 8
        where: cython.p_int = None if not cython.compiled else cython.NULL
        child: cython.p_int = None if not cython.compiled else cython.NULL
        stack: cython.p_int = None if not cython.compiled else cython.NULL
        size: cython.Py_ssize_t
        dense: cython.int = 0
        classes: cython.p_int = None if not cython.compiled else cython.NULL
        order: cython.p_int = None if not cython.compiled else cython.NULL
        classes = grow_int(classes, 257)
        order = grow_int(order, m)
        where = grow_int(where, m + 1)
        stack = grow_int(stack, trie.max_depth + 2)
        child = grow_int(child, cap * n_classes)
        self.parent = grow_int(self.parent, cap)
        self.byte = grow_int(self.byte, cap)
        if not (classes and order and where and stack and child and self.parent and self.byte):
            return False
        for i in range(256):
            classes[i] = text[i]
        with cython.nogil:
            self.parent[0] = -1
            self.byte[0] = 0
            for k in range(n_classes):
                child[k] = 0
            where[0] = 0
            stack[0] = 0
            for i in range(1, m):
                w = trie.word[lo + i]
                d = (w >> 8) - base
                k = classes[w & 255]
                c = child[stack[d - 1] * n_classes + k]
                if c == 0:
                    c = n
                    if n >= cap:
                        cap = cap * 2
                        child = grow_int(child, cast_size(cap) * n_classes)
                        self.parent = grow_int(self.parent, cap)
                        self.byte = grow_int(self.byte, cap)
                        if not (child and self.parent and self.byte):
                            break
                    self.parent[c] = stack[d - 1]
                    self.byte[c] = w & 255
                    child[stack[d - 1] * n_classes + k] = c
                    for k in range(n_classes):
                        child[c * n_classes + k] = 0
                    n += 1
                stack[d] = c
                where[i] = c
        if not (child and self.parent and self.byte):
            return False
        self.n = n
        self.group_off = grow_int(self.group_off, n + 2)
        self.below_off = grow_int(self.below_off, n + 2)
        self.dense = grow_int(self.dense, n + 1)
        self.group = grow_int(self.group, m + 1)
        self.below = grow_int(self.below, m + 1)
        if not (self.group_off and self.below_off and self.dense and self.group and self.below):
            return False
        with cython.nogil:
            for c in range(n + 2):
                self.group_off[c] = 0
                self.below_off[c] = 0
            for i in range(1, m):
                if trie.token[lo + i] != trie.spare:
                    self.group_off[where[i] + 2] += 1
                self.below_off[self.parent[where[i]] + 2] += 1
            for c in range(n + 1):
                self.group_off[c + 1] += self.group_off[c]
                self.below_off[c + 1] += self.below_off[c]
            for i in range(1, m):
                if trie.token[lo + i] != trie.spare:
                    c = where[i] + 1
                    self.group[self.group_off[c]] = trie.token[lo + i]
                    self.group_off[c] += 1
            # nodes by byte first, so that each list below comes out sorted by byte
            for i in range(257):
                classes[i] = 0
            for i in range(1, m):
                classes[(trie.word[lo + i] & 255) + 1] += 1
            for i in range(256):
                classes[i + 1] += classes[i]
            for i in range(1, m):
                k = trie.word[lo + i] & 255
                order[classes[k]] = i
                classes[k] += 1
            for i in range(m - 1):
                k = order[i]
                c = self.parent[where[k]] + 1
                self.below[self.below_off[c]] = lo + k
                self.below_off[c] += 1
            for c in range(n):
                self.dense[c] = -1
                if self.group_off[c + 1] - self.group_off[c] > DENSE_GROUP:
                    self.dense[c] = dense
                    dense += 1
        size = cast_size(dense) * trie.words
        self.rows = grow_uint(self.rows, size + 1)
        if not self.rows:
            return False
        with cython.nogil:
            for i in range(dense * trie.words):
                self.rows[i] = 0
            for c in range(n):
                if self.dense[c] >= 0:
                    w = self.dense[c] * trie.words
                    for i in range(self.group_off[c], self.group_off[c + 1]):
                        k = self.group[i]
                        self.rows[w + (k >> 5)] |= cython.cast(cython.uint, 1) << (k & 31)
        self.bytes_held = 4 * (2 * cap + 3 * n + 2 * m + dense * trie.words)
        if cython.compiled:
            free(where)
            free(child)
            free(stack)
            free(classes)
            free(order)
        return True

    def memory(self):
        return self.bytes_held

    def shape(self):
        """(class nodes, tokens in them)."""
        return self.n, self.group_off[self.n]


@cython.final
@cython.cclass
class RegionRow:
    """One row of tokens."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.row)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.row = None
            return self

    def __init__(self, words: cython.int):
        i: cython.int
        self.row = grow_uint(self.row, words + 1)
        if not self.row:
            raise MemoryError
        for i in range(words + 1):
            self.row[i] = 0


@cython.final
@cython.cclass
class RegionTokens:
    """Which tokens a region's automaton reads, below one trie node.

    ``table`` has ``1 + classes`` ints for each state, numbered from 1, the first being where the walk begins: the
    number of its way out (0: none), with BETWEEN set between the rounds of a counted loop; then the state after a byte
    of each class (0: dead). All tokens that end in some state are in the region's row; ``within(most)`` has those that
    take at most so many rounds, one that is begun counted in. For each way out the class nodes that stand at it
    are kept with the rounds done there, and on demand the trie nodes behind.

    Cost: 2-5 ns a class node, and one pass over the tokens for each row.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.state)
            free(self.way)
            free(self.rounds)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.state = self.way = self.rounds = None
            return self

    def __init__(self, tokens: TokenTrie, trie: ClassTrie, partition: bytes, table: bytes):
        """``table``: int32 in native order, see the class."""
        n_classes: cython.int = max(partition) + 1
        text: cython.p_const_uchar = partition
        c: cython.int
        i: cython.int
        k: cython.int
        cells: cython.const[cython.int][::1] = memoryview(table).cast("i")
        self.tokens = tokens
        self.trie = trie
        self.lists = {}
        self.rows = {}
        self.deepest = 0
        self.state = grow_int(self.state, trie.n)
        self.way = grow_int(self.way, trie.n)
        self.rounds = grow_int(self.rounds, trie.n)
        if not (self.state and self.way and self.rounds):
            raise MemoryError
        with cython.nogil:
            self.state[0] = 1
            self.way[0] = 0
            self.rounds[0] = 0
            for c in range(1, trie.n):
                self.way[c] = 0
                self.rounds[c] = 0
                k = self.state[trie.parent[c]]
                if k != 0:
                    k = cells[(k - 1) * (n_classes + 1) + 1 + text[trie.byte[c]]]
                self.state[c] = k
                if k == 0:
                    continue
                i = cells[(k - 1) * (n_classes + 1)]
                self.rounds[c] = self.rounds[trie.parent[c]]
                if i & BETWEEN:
                    self.rounds[c] += 1
                    self.state[c] = k
                if trie.below_off[c] != trie.below_off[c + 1]:
                    self.way[c] = i & (BETWEEN - 1)
                if self.rounds[c] > self.deepest:
                    self.deepest = self.rounds[c]
            # from here on: the rounds a token that ends here takes, 0 for dead
            for c in range(1, trie.n):
                k = self.state[c]
                self.state[c] = 0
                if k != 0:
                    i = cells[(k - 1) * (n_classes + 1)]
                    self.state[c] = self.rounds[c] + (0 if i & BETWEEN else 1)
        nodes = {}
        for c in range(1, trie.n):
            if self.way[c] != 0:
                nodes.setdefault((self.way[c], self.rounds[c]), []).append(c)
        self.nodes = nodes

    @cython.cfunc
    def within(self, most: cython.int):
        """The ``RegionRow`` of the tokens that take at most ``most`` rounds; kept."""
        trie: ClassTrie = self.trie
        tokens: TokenTrie = self.tokens
        words: cython.int = tokens.words
        c: cython.int
        i: cython.int
        k: cython.int
        if most > self.deepest:
            most = self.deepest + 1
        known = self.rows.get(most)
        if known is not None:
            return known
        made: RegionRow = RegionRow(words)
        row: cython.p_uint = made.row
        with cython.nogil:
            for c in range(1, trie.n):
                if self.state[c] == 0 or self.state[c] > most:
                    continue
                if trie.dense[c] >= 0:
                    k = trie.dense[c] * words
                    for i in range(words):
                        row[i] |= trie.rows[k + i]
                else:
                    for i in range(trie.group_off[c], trie.group_off[c + 1]):
                        k = trie.group[i]
                        row[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
        self.rows[most] = made
        return made

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def has_way(self, number: cython.int, least: cython.int, most: cython.int) -> cython.bint:
        """Whether anything stands at way out ``number`` after ``least`` to ``most`` rounds."""
        rounds: cython.int
        for rounds in range(least, min(most, self.deepest) + 1):
            if (number, rounds) in self.nodes:
                return True
        return False

    @cython.cfunc
    def behind(self, number: cython.int, b: cython.int, least: cython.int, most: cython.int):
        """The trie nodes with byte ``b`` right behind the class nodes at a way out after so many rounds; kept."""
        trie: ClassTrie = self.trie
        tokens: TokenTrie = self.tokens
        c: cython.int
        j: cython.int
        lo: cython.int
        hi: cython.int
        last: cython.int
        mid: cython.int
        rounds: cython.int
        most = min(most, self.deepest)
        known = self.lists.get((number, b, least, most))
        if known is not None:
            return known
        found = array("i")
        for rounds in range(least, most + 1):
            for c in self.nodes.get((number, rounds), ()):
                lo = trie.below_off[c]
                last = trie.below_off[c + 1]
                hi = last
                while lo < hi:
                    mid = (lo + hi) >> 1
                    if (tokens.word[trie.below[mid]] & 255) < b:
                        lo = mid + 1
                    else:
                        hi = mid
                for j in range(lo, last):
                    if (tokens.word[trie.below[j]] & 255) != b:
                        break
                    found.append(trie.below[j])
        self.lists[number, b, least, most] = found
        return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cast_size(n: cython.int) -> cython.Py_ssize_t:
    return n
