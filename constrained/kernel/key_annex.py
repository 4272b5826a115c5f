# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Any string but some keys, as an annex: a block of strings with the trie of the keys beside it.

Each node of the trie reads what the first state of the strings reads, but for the bytes of its children, which lead to
them, and for the closing byte where a key ends. So nothing is written here but the trie; edges are made of both where
the program is written, and nowhere else.

    tree[6 x ..]    of node x: its first child, its last one, the next one of the same parent, the byte that leads here,
                    whether a key ends, and the fewest bytes to the end (once ``_measure`` has found them)
    door[2 x ..]    of each child of node 0: the byte that leads there, and its number

State ``s`` of the strings is position ``s``, node ``x`` is position ``n + x - 1``. Node 0 is the door; position 0 is
entered by nobody and has no edges.
Of few texts more than the door is ever needed, so the trie is made when the rest is written.
Cost: 2 ns a byte of a key, 10 ns more for the trie, 5 ns an edge that is written.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END, Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import NO_END, Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.memory import grow_int

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

NO_BYTE = cython.declare(cython.int, 256)


@cython.final
@cython.cclass
class KeyAnnex(Annex):
    """The texts of ``strings`` but ``keys``, each followed by the byte ``closing``.

    ``keys``: sorted and all different. ``strings``, which is measured and whose region is marked, must be in state 0 at
    first only, and after any byte of a key be where it goes on as from state 0.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.tree)
            free(self.door)

    else:

        def __new__(cls, *args):
            self = Annex.__new__(cls)
            self.tree = self.door = None
            self.nodes = self.doors = self.path = self.closing = 0
            self.all_end = self.planned = False
            return self

    def __init__(self, strings: Block, keys: tuple, closing: cython.int):
        most: cython.int = 1
        longest: cython.int = 0
        size: cython.int
        i: cython.Py_ssize_t
        own: cython.longlong = strings.first[1]
        key: bytes
        for i in range(len(keys)):
            key = keys[i]
            if len(key) > (1 << 28) - most:
                raise NetworkTooLarge
            size = cython.cast(cython.int, len(key))
            most += size
            longest = max(longest, size)
        if (most + 1) * (own + 6) + strings.edges + strings.finals > 1 << 30:
            raise NetworkTooLarge
        self.path = 6 * most
        self.tree = grow_int(self.tree, 6 * most + longest + 1)
        self.door = grow_int(self.door, 2 * min(cython.cast(cython.int, len(keys)), 256) + 1)
        if not (self.tree and self.door):
            raise MemoryError
        self.keys = keys
        self._survey()
        self.alone[closing >> 5] |= cython.cast(cython.uint, 1) << (closing & 31)
        self.block = strings
        self.closing = closing
        self.size = strings.n + self.nodes - 1
        self.inside = strings.region is not None and self.doors == 0
        self.edges = cython.cast(cython.int, strings.edges + strings.finals + (self.nodes + 1) * (own + 5) + 2)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _survey(self) -> cython.int:
        """Count the trie's nodes; find the bytes they read and the children of node 0."""
        size: cython.int
        shared: cython.int
        depth: cython.int
        byte: cython.int
        last: cython.int = 0
        nodes: cython.int = 1
        i: cython.Py_ssize_t
        key: bytes
        before: bytes = b""
        text: cython.p_const_uchar
        other: cython.p_const_uchar = before
        self.doors = 0
        for i in range(len(self.keys)):
            key = self.keys[i]
            size = cython.cast(cython.int, len(key))
            text = key
            shared = 0
            while shared < last and shared < size and text[shared] == other[shared]:
                shared += 1
            if shared == 0 and size > 0:
                self.door[2 * self.doors] = text[0]
                self.door[2 * self.doors + 1] = nodes
                self.doors += 1
            for depth in range(shared, size):
                byte = text[depth]
                self.alone[byte >> 5] |= cython.cast(cython.uint, 1) << (byte & 31)
            nodes += size - shared
            before = key  # kept while its bytes are looked at
            other = text
            last = size
        self.nodes = nodes
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _plan(self) -> cython.int:
        """Make the trie, once. ``tree[path + d]`` is the node behind ``d`` bytes of the key before."""
        tree: cython.p_int = self.tree
        path: cython.int = self.path
        at: cython.int = 6  # of the next node
        depth: cython.int
        size: cython.int
        shared: cython.int
        last: cython.int = 0
        node: cython.int = 0
        up: cython.int
        byte: cython.int
        i: cython.Py_ssize_t
        key: bytes
        before: bytes = b""
        text: cython.p_const_uchar
        other: cython.p_const_uchar = before
        if self.planned:
            return 0
        self.planned = True
        tree[0] = -1
        tree[1] = -1
        tree[2] = -1
        tree[3] = -1
        tree[4] = 0
        tree[5] = 0
        tree[path] = 0
        for i in range(len(self.keys)):
            key = self.keys[i]
            size = cython.cast(cython.int, len(key))
            text = key
            shared = 0
            while shared < last and shared < size and text[shared] == other[shared]:
                shared += 1
            up = tree[path + shared]
            node = at // 6
            for depth in range(shared, size):
                byte = text[depth]
                tree[at] = -1
                tree[at + 1] = -1
                tree[at + 2] = -1
                tree[at + 3] = byte
                tree[at + 4] = 0
                tree[at + 5] = 0
                if depth > shared or tree[up] < 0:
                    tree[up] = node
                else:
                    tree[6 * tree[up + 1] + 2] = node
                tree[up + 1] = node
                up = at
                at += 6
                node += 1
                tree[path + depth + 1] = up
            tree[up + 4] = 1
            before = key  # kept while its bytes are looked at
            other = text
            last = size
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        """Where the strings read more bytes at first than there are keys, and each can end, so can every node: nothing
        is measured then.
        """
        block: Block = self.block
        wide: cython.longlong = 0
        k: cython.int
        self.all_end = True
        for k in range(block.first[1]):
            if block.away[block.to[k]] >= NO_END:
                self.all_end = False
            wide += block.hi[k] - block.lo[k] + 1
        if self.all_end and wide > len(self.keys) + 1:
            return 1
        self._plan()
        return self._measure()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _measure(self) -> cython.int:
        """Find the fewest bytes to the end from each node; those from the door."""
        block: Block = self.block
        tree: cython.p_int = self.tree
        away: cython.p_int = block.away
        best: cython.int = NO_END
        first: cython.int = 0
        last: cython.int = -1
        least: cython.int
        closing: cython.int = self.closing
        byte: cython.int
        node: cython.int
        child: cython.int
        k: cython.int
        split: cython.bint
        for k in range(block.first[1]):
            if away[block.to[k]] + 1 < best:
                best = away[block.to[k]] + 1
                first = block.lo[k]
                last = block.hi[k]
        for node in range(6 * (self.nodes - 1), -1, -6):
            least = NO_END
            split = tree[node + 4] and first <= closing <= last
            child = tree[node]
            while child >= 0:
                child *= 6
                if tree[child + 5] + 1 < least:
                    least = tree[child + 5] + 1
                byte = tree[child + 3]
                if first <= byte <= last:
                    split = True
                child = tree[child + 2]
            if best < least:
                least = self._least(node, least) if split else best
            tree[node + 5] = least
        return tree[5]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _least(self, node: cython.int, least: cython.int) -> cython.int:
        """The fewest bytes to the end from the node at ``node``: ``least``, or by an edge of the strings of which a
        byte is left."""
        block: Block = self.block
        tree: cython.p_int = self.tree
        child: cython.int
        byte: cython.int
        left: cython.int
        k: cython.int
        closes: cython.bint
        for k in range(block.first[1]):
            if block.away[block.to[k]] + 1 >= least:
                continue
            left = block.hi[k] - block.lo[k] + 1
            closes = tree[node + 4] and block.lo[k] <= self.closing <= block.hi[k]
            child = tree[node]
            while child >= 0:
                byte = tree[6 * child + 3]
                if block.lo[k] <= byte <= block.hi[k]:
                    left -= 1
                    if byte == self.closing:
                        closes = False  # it leads to the child
                child = tree[6 * child + 2]
            if closes:
                left -= 1
            if left > 0:
                least = block.away[block.to[k]] + 1
        return least

    @cython.cfunc
    @cython.exceptval(check=False)
    def _row(self, node: cython.int, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int,
             base: cython.int) -> cython.int:
        """The edges of the node at ``node``, from edge ``at`` on; the next free edge. What cannot end is left out."""
        block: Block = self.block
        tree: cython.p_int = self.tree
        lo: cython.p_int = block.lo
        hi: cython.p_int = block.hi
        target: cython.p_int = block.to
        away: cython.p_int = block.away
        beyond: cython.int = base + block.n - 1
        last: cython.int = block.first[1]
        all_end: cython.bint = self.all_end
        ends: cython.bint
        closing: cython.int = self.closing if tree[node + 4] else NO_BYTE
        child: cython.int = tree[node]
        byte: cython.int = tree[6 * child + 3] if child >= 0 else NO_BYTE
        special: cython.int = min(byte, closing)
        low: cython.int
        k: cython.int = 0
        while True:
            if all_end:
                while k < last and hi[k] < special:
                    a[at] = lo[k]
                    b[at] = hi[k]
                    to[at] = base + target[k]
                    at += 1
                    k += 1
            else:
                while k < last and hi[k] < special:
                    if away[target[k]] < NO_END:
                        a[at] = lo[k]
                        b[at] = hi[k]
                        to[at] = base + target[k]
                        at += 1
                    k += 1
            if k >= last:
                return at
            low = lo[k]
            ends = all_end or away[target[k]] < NO_END
            while special <= hi[k]:
                if low < special and ends:
                    a[at] = low
                    b[at] = special - 1
                    to[at] = base + target[k]
                    at += 1
                if low <= special:  # else no edge reads it
                    if special == byte and tree[6 * child + 5] < NO_END:
                        a[at] = byte
                        b[at] = byte
                        to[at] = beyond + child
                        at += 1
                    low = special + 1
                if special == closing:
                    closing = NO_BYTE
                if special == byte:
                    child = tree[6 * child + 2]
                    byte = tree[6 * child + 3] if child >= 0 else NO_BYTE
                special = min(byte, closing)
            if low <= hi[k] and ends:
                a[at] = low
                b[at] = hi[k]
                to[at] = base + target[k]
                at += 1
            k += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_door(self, a: cython.p_int, b: cython.p_int, to: cython.p_int, at: cython.int, base: cython.int,
                   end: cython.int) -> cython.int:
        block: Block = self.block
        beyond: cython.int = base + block.n - 1
        low: cython.int
        byte: cython.int
        k: cython.int
        i: cython.int = 0
        if self.planned or not self.all_end or (len(self.keys) > 0 and len(self.keys[0]) == 0):
            self._plan()
            return self._row(0, a, b, to, at, base)
        for k in range(block.first[1]):  # as ``_row`` would
            low = block.lo[k]
            while i < self.doors and self.door[2 * i] <= block.hi[k]:
                byte = self.door[2 * i]
                if low < byte:
                    a[at] = low
                    b[at] = byte - 1
                    to[at] = base + block.to[k]
                    at += 1
                if low <= byte:  # else no edge reads it
                    a[at] = byte
                    b[at] = byte
                    to[at] = beyond + self.door[2 * i + 1]
                    at += 1
                    low = byte + 1
                i += 1
            if low <= block.hi[k]:
                a[at] = low
                b[at] = block.hi[k]
                to[at] = base + block.to[k]
                at += 1
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def write(self, off: cython.p_int, a: cython.p_int, b: cython.p_int, to: cython.p_int, region: cython.p_ushort,
              at: cython.int, base: cython.int, end: cython.int, number: cython.int) -> cython.int:
        block: Block = self.block
        tree: cython.p_int = self.tree
        away: cython.p_int = block.away
        i: cython.int
        k: cython.int
        p: cython.int
        self._plan()
        for i in range(4):
            off[4 * base + i] = at
        region[base] = 0
        for i in range(1, block.n):
            p = base + i
            off[4 * p] = at
            for k in range(block.first[i], block.first[i + 1]):
                if away[block.to[k]] < NO_END:
                    a[at] = block.lo[k]
                    b[at] = block.hi[k]
                    to[at] = base + block.to[k]
                    at += 1
            off[4 * p + 1] = at
            if away[i] == 0:  # a final state
                a[at] = end
                b[at] = end
                to[at] = end
                at += 1
            off[4 * p + 2] = at
            off[4 * p + 3] = at
            region[p] = number if block.inside and block.inside[i] else 0
        p = base + block.n
        if block.region is None:
            number = 0
        for i in range(6, 6 * self.nodes, 6):
            off[4 * p] = at
            at = self._row(i, a, b, to, at, base)
            off[4 * p + 1] = at
            off[4 * p + 2] = at
            off[4 * p + 3] = at
            region[p] = number if tree[i] < 0 else 0
            p += 1
        return at

    @cython.cfunc
    def whole(self) -> Block:
        """The same as a block of its own."""
        strings: Block = self.block
        block: Block = Block()
        i: cython.int
        e: cython.int
        k: cython.int = 0
        n: cython.int = strings.n
        x: cython.int
        self.measure()
        self._plan()
        self._measure()
        block._room(self.size, self.edges, strings.finals)
        block.inside = grow_int(block.inside, self.size + 1)
        block.away = grow_int(block.away, self.size + 1)
        if not (block.inside and block.away):
            raise MemoryError
        for i in range(self.size):
            block.first[i] = k
            if 0 < i < n:
                block.inside[i] = strings.inside[i] if strings.inside else 0
                block.away[i] = strings.away[i]
                for e in range(strings.first[i], strings.first[i + 1]):
                    block.lo[k] = strings.lo[e]
                    block.hi[k] = strings.hi[e]
                    block.to[k] = strings.to[e]
                    k += 1
                continue
            x = 6 * (i - n + 1) if i else 0
            block.inside[i] = 1 if self.tree[x] < 0 and strings.region is not None else 0
            block.away[i] = self.tree[x + 5]
            k = self._row(x, block.lo, block.hi, block.to, k, 0)
        block.first[self.size] = k
        block.edges = k
        for i in range(strings.finals):
            block.final[i] = strings.final[i]
            block.away[strings.final[i]] = 0
        for i in range(8):
            block.alone[i] = self.alone[i] | strings.alone[i]
        block.family = strings.family
        block.region = strings.region
        return block
