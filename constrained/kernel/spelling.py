# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Automata over classes of characters written over bytes: a trie spells the classes, states take the leaves' places.

The trie is that of ``kernel.byte_trie``, children first; entry ``e`` of a node reads the bytes ``lo[e] .. hi[e]`` and
leads to node ``child[e]``, or to class ``~child[e]``. Nodes over the same classes are a *group*: what becomes of them
hangs on the targets of those classes alone, so it is worked out once for each tuple of them. Rows that are equal are
one state; a row without an edge is none.

Cost: 10 ns an entry of what is new, 5 ns a class of each group and state.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.blocks import NO_END, Block
    from cython.cimports.constrained.kernel.byte_trie import ByteTrie
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.memory import drop_int, empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.blocks import NO_END, Block
    from constrained.kernel.byte_trie import ByteTrie
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import drop_int, empty_table, grow_int

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes


@cython.final
@cython.cclass
class Spelling:
    """A trie; the arrays of ``block`` are there while it runs only.

    Of group ``g``: the classes ``group_leaf[leaf_at[g]:leaf_at[g + 1]]``, the nodes ``group_node[node_at[g]:...]``.
    """

    if cython.compiled:

        def __dealloc__(self):
            self._forget()
            free(self.first)
            free(self.lo)
            free(self.hi)
            free(self.child)
            free(self.group_leaf)
            free(self.leaf_at)
            free(self.group_node)
            free(self.node_at)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.groups = self.k = self.tails = self.tail_room = self.pool_size = self.pool_room = 0
            self.row_slots = self.key_slots = self.keys = self.key_room = 0
            for name in ("first lo hi child group_leaf leaf_at group_node node_at targets state_of tail_first tail_lo "
                         "tail_hi tail_to row_slot key_slot key_at pool").split():
                setattr(self, name, None)
            return self

    def __init__(self, trie: ByteTrie):
        """The trie of the classes."""
        i: cython.int
        j: cython.int
        k: cython.int = 0
        m: cython.int = 0
        s: cython.int
        size: cython.int
        entries: cython.int = trie.at[trie.count]
        self.n = trie.count - 1  # without the root
        self.first = grow_int(self.first, self.n + 2)
        self.lo = grow_int(self.lo, entries + 1)
        self.hi = grow_int(self.hi, entries + 1)
        self.child = grow_int(self.child, entries + 1)
        self.leaf_at = grow_int(self.leaf_at, trie.sets + 1)
        self.node_at = grow_int(self.node_at, trie.sets + 1)
        self.group_leaf = grow_int(self.group_leaf, trie.set_at[trie.sets] + 1)
        self.group_node = grow_int(self.group_node, self.n + 1)
        if not (self.first and self.lo and self.hi and self.child and self.leaf_at and self.node_at
                and self.group_leaf and self.group_node):
            raise MemoryError
        for i in range(self.n + 2):
            self.first[i] = trie.at[i]
        for i in range(entries):
            self.lo[i] = trie.lo[i]
            self.hi[i] = trie.hi[i]
            self.child[i] = trie.child[i]
        # A node has all classes of its children, so sets of fewer classes come first.
        order: list = [(trie.set_at[s + 1] - trie.set_at[s], s) for s in range(trie.sets)]
        order.sort()
        nodes: list = [[] for s in range(trie.sets)]
        for i in range(self.n):
            nodes[trie.set_of[i]].append(i)
        self.groups = 0
        for size, s in order:
            if not nodes[s]:
                continue  # the root's alone
            self.leaf_at[self.groups] = k
            self.node_at[self.groups] = m
            self.groups += 1
            for j in range(trie.set_at[s], trie.set_at[s] + size):
                self.group_leaf[k] = trie.pool[j]
                k += 1
            for node in nodes[s]:
                self.group_node[m] = node
                m += 1
        self.leaf_at[self.groups] = k
        self.node_at[self.groups] = m

    def nodes(self) -> int:
        """How many the trie has, the root counted."""
        return self.n + 1

    def block(self, table: Table, accepting: frozenset, most: cython.int) -> Block:
        """The automaton of ``table`` over bytes: its states first, with their numbers.

        Raises TooManyStates where there would be more than ``most`` in all.
        """
        try:
            return self._block(table, accepting, most)
        finally:
            self._forget()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _forget(self) -> cython.void:
        self.targets = drop_int(self.targets)
        self.state_of = drop_int(self.state_of)
        self.tail_first = drop_int(self.tail_first)
        self.tail_lo = drop_int(self.tail_lo)
        self.tail_hi = drop_int(self.tail_hi)
        self.tail_to = drop_int(self.tail_to)
        self.row_slot = drop_int(self.row_slot)
        self.key_slot = drop_int(self.key_slot)
        self.key_at = drop_int(self.key_at)
        self.pool = drop_int(self.pool)

    @cython.cfunc
    def _block(self, table: Table, accepting: frozenset, most: cython.int) -> Block:
        """Rows of states are written to the block at once, those of tails behind them at the end."""
        n: cython.int = table.n
        k: cython.int = table.k
        block: Block = Block()
        state: cython.int
        g: cython.int
        i: cython.int
        j: cython.int
        e: cython.int = 0
        root: cython.int = self.first[self.n]
        width: cython.int = self.first[self.n + 1] - root
        room: cython.int
        self.k = k
        self.tails = 0
        self.tail_room = 256
        self.pool_size = 0
        self.pool_room = 256
        self.keys = 0
        self.key_room = 64
        self.row_slots = 256
        self.key_slots = 256
        self.targets = grow_int(self.targets, k + 1)
        self.state_of = grow_int(self.state_of, self.n + 1)
        self.tail_first = grow_int(self.tail_first, 64)
        self.tail_lo = grow_int(self.tail_lo, self.tail_room)
        self.tail_hi = grow_int(self.tail_hi, self.tail_room)
        self.tail_to = grow_int(self.tail_to, self.tail_room)
        self.row_slot = empty_table(self.row_slot, self.row_slots)
        self.key_slot = empty_table(self.key_slot, self.key_slots)
        self.key_at = grow_int(self.key_at, self.key_room)
        self.pool = grow_int(self.pool, self.pool_room)
        if not (self.targets and self.state_of and self.tail_first and self.tail_lo and self.tail_hi and self.tail_to
                and self.row_slot and self.key_slot and self.key_at and self.pool):
            raise MemoryError
        self.tail_first[0] = 0
        room = 2 * n + width
        block._room(n, room, cython.cast(cython.int, len(accepting)))
        for state in range(n):
            for j in range(k):
                self.targets[j] = table.next[state * k + j]
            for g in range(self.groups):
                self._group(g, n, most)
            if e + width > room:
                room = 2 * room + width
                block._room(n, room, cython.cast(cython.int, len(accepting)))
            block.first[state] = e
            e = self._fill(root, root + width, block.lo, block.hi, block.to, e)
        j = self.tail_first[self.tails]
        block._room(n + self.tails, e + j, cython.cast(cython.int, len(accepting)))
        for i in range(self.tails):
            block.first[n + i] = e + self.tail_first[i]
        block.first[n + self.tails] = e + j
        for i in range(j):
            block.lo[e + i] = self.tail_lo[i]
            block.hi[e + i] = self.tail_hi[i]
            block.to[e + i] = self.tail_to[i]
        i = 0
        for state in accepting:
            block.final[i] = state
            i += 1
        self._measure(block, n)
        return block

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure(self, block: Block, n: cython.int) -> cython.int:
        """Fill ``away`` and ``ends`` as ``Block.measure`` does, in fewer passes.

        A tail leads to states and to tails before it, states are mostly numbered as they are met: so the tails in their
        order, the states in the reverse of it, until no state changes.
        """
        away: cython.p_int = grow_int(block.away, block.n + 1)
        i: cython.int
        j: cython.int
        k: cython.int
        least: cython.int
        changed: cython.bint = True
        if not away:
            raise MemoryError
        block.away = away
        for i in range(block.n):
            away[i] = NO_END
        for i in range(block.finals):
            away[block.final[i]] = 0
        while changed:
            changed = False
            for j in range(block.n):
                i = n + j if n + j < block.n else block.n - 1 - j
                least = away[i]
                for k in range(block.first[i], block.first[i + 1]):
                    if away[block.to[k]] + 1 < least:
                        least = away[block.to[k]] + 1
                if least < away[i]:
                    away[i] = least
                    changed = changed or i < n
        block.ends = True
        for i in range(block.n):
            if away[i] >= NO_END:
                block.ends = False
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _group(self, g: cython.int, n: cython.int, most: cython.int) -> cython.int:
        """Set ``state_of`` for the nodes of a group, as the targets are now.

        ``pool`` holds for each key, from ``key_at`` on: the group, the targets of its classes, the states of its nodes.
        """
        h: cython.ulonglong = mix(0, g)
        begin: cython.int = self.leaf_at[g]
        end: cython.int = self.leaf_at[g + 1]
        size: cython.int = end - begin
        nodes: cython.int = self.node_at[g + 1] - self.node_at[g]
        i: cython.int
        j: cython.int
        at: cython.int
        slot: cython.int
        node: cython.int
        for j in range(begin, end):
            h = mix(h, self.targets[self.group_leaf[j]])
        slot = cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.key_slots - 1))
        while self.key_slot[slot] >= 0:
            at = self.key_at[self.key_slot[slot]]
            if self.pool[at] == g:
                at += 1
                j = 0
                while j < size and self.pool[at + j] == self.targets[self.group_leaf[begin + j]]:
                    j += 1
                if j == size:
                    at += size
                    for i in range(nodes):
                        self.state_of[self.group_node[self.node_at[g] + i]] = self.pool[at + i]
                    return 0
            slot = (slot + 1) & (self.key_slots - 1)
        at = self.pool_size
        if at + 1 + size + nodes > self.pool_room:
            self.pool_room = 2 * self.pool_room + 1 + size + nodes
            self.pool = grow_int(self.pool, self.pool_room)
        if self.keys >= self.key_room:
            self.key_room *= 2
            self.key_at = grow_int(self.key_at, self.key_room)
        if not (self.pool and self.key_at):
            raise MemoryError
        self.key_slot[slot] = self.keys
        self.key_at[self.keys] = at
        self.keys += 1
        self.pool[at] = g
        for j in range(size):
            self.pool[at + 1 + j] = self.targets[self.group_leaf[begin + j]]
        at += 1 + size
        for i in range(nodes):
            node = self.group_node[self.node_at[g] + i]
            self.state_of[node] = self._tail(node, n, most)
            self.pool[at + i] = self.state_of[node]
        self.pool_size = at + nodes
        if 2 * self.keys > self.key_slots:
            self._spread_keys()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spread_keys(self) -> cython.int:
        """A larger table of the keys."""
        h: cython.ulonglong
        i: cython.int
        j: cython.int
        at: cython.int
        g: cython.int
        self.key_slots *= 4
        self.key_slot = empty_table(self.key_slot, self.key_slots)
        if not self.key_slot:
            raise MemoryError
        for i in range(self.keys):
            at = self.key_at[i]
            g = self.pool[at]
            h = mix(0, g)
            for j in range(self.leaf_at[g + 1] - self.leaf_at[g]):
                h = mix(h, self.pool[at + 1 + j])
            j = cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.key_slots - 1))
            while self.key_slot[j] >= 0:
                j = (j + 1) & (self.key_slots - 1)
            self.key_slot[j] = i
        return 0

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _tail(self, node: cython.int, n: cython.int, most: cython.int) -> cython.int:
        """The state that a node is with the targets as they are, -1 if it leads nowhere."""
        begin: cython.int = self.tail_first[self.tails]
        width: cython.int = self.first[node + 1] - self.first[node]
        end: cython.int
        i: cython.int
        j: cython.int
        at: cython.int
        other: cython.int
        if begin + width > self.tail_room:
            self.tail_room = 2 * self.tail_room + width
            self.tail_lo = grow_int(self.tail_lo, self.tail_room)
            self.tail_hi = grow_int(self.tail_hi, self.tail_room)
            self.tail_to = grow_int(self.tail_to, self.tail_room)
            if not (self.tail_lo and self.tail_hi and self.tail_to):
                raise MemoryError
        end = self._fill(self.first[node], self.first[node + 1], self.tail_lo, self.tail_hi, self.tail_to, begin)
        if end == begin:
            return -1
        i = self._row_slot(begin, end)
        while self.row_slot[i] >= 0:
            other = self.row_slot[i]
            at = self.tail_first[other]
            if self.tail_first[other + 1] - at == end - begin:
                j = 0
                while j < end - begin and self.tail_lo[at + j] == self.tail_lo[begin + j] and (
                        self.tail_hi[at + j] == self.tail_hi[begin + j]) and (
                        self.tail_to[at + j] == self.tail_to[begin + j]):
                    j += 1
                if j == end - begin:
                    return n + other
            i = (i + 1) & (self.row_slots - 1)
        if n + self.tails >= most:
            raise TooManyStates
        self.row_slot[i] = self.tails
        self.tails += 1
        if self.tails & 63 == 0:  # ``tail_first`` grows by 64
            self.tail_first = grow_int(self.tail_first, self.tails + 64)
            if not self.tail_first:
                raise MemoryError
        self.tail_first[self.tails] = end
        if 2 * self.tails > self.row_slots:
            self._spread_rows()
        return n + self.tails - 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spread_rows(self) -> cython.int:
        """A larger table of the tails' rows."""
        i: cython.int
        j: cython.int
        self.row_slots *= 4
        self.row_slot = empty_table(self.row_slot, self.row_slots)
        if not self.row_slot:
            raise MemoryError
        for j in range(self.tails):
            i = self._row_slot(self.tail_first[j], self.tail_first[j + 1])
            while self.row_slot[i] >= 0:
                i = (i + 1) & (self.row_slots - 1)
            self.row_slot[i] = j
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _row_slot(self, begin: cython.int, end: cython.int) -> cython.int:
        """Where a row is looked for first."""
        h: cython.ulonglong = 0
        i: cython.int
        for i in range(begin, end):
            h = mix(mix(h, self.tail_lo[i] << 8 | self.tail_hi[i]), self.tail_to[i])
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.row_slots - 1))

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fill(self, begin: cython.int, end: cython.int, lo: cython.p_int, hi: cython.p_int, to: cython.p_int,
              at: cython.int) -> cython.int:
        """Entries with states in place of nodes and classes, from ``at`` on; neighbours that are equal are joined, dead
        ends left out. Returns the next free place.
        """
        e: cython.int
        child: cython.int
        target: cython.int
        start: cython.int = at
        for e in range(begin, end):
            child = self.child[e]
            target = self.targets[~child] if child < 0 else self.state_of[child]
            if target < 0:
                continue
            if at > start and to[at - 1] == target and hi[at - 1] + 1 == self.lo[e]:
                hi[at - 1] = self.hi[e]
            else:
                lo[at] = self.lo[e]
                hi[at] = self.hi[e]
                to[at] = target
                at += 1
        return at
