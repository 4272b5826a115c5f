# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Byte automata and classes of characters as integer arrays, from which a network's positions are made.

A ``Block`` is made once for a node and stays with it: strings, numbers and formats are the same nodes in every schema.
Its states are numbered as in the automaton; the edges of state ``s`` are ``first[s] .. first[s + 1]``. ``away[s]`` is
how many bytes state ``s`` is from an end (``NO_END``: there is none); ``sets`` and ``alone`` are what
``kernel.partition`` has collected from its edges, once ``has_sets``. ``inside`` marks the states that are in the wide
region whose partition ``region`` is, where ``kernel.regions`` was asked for the block alone.
Cost: 20 ns an edge to make one, 3 ns a state and edge to write it.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int, grow_uint
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int, grow_uint
    from constrained.kernel.network import Network

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

NO_END = cython.declare(cython.int, 1 << 29)


@cython.final
@cython.cclass
class Block:
    """See the module docstring. Read-only once made."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.first)
            free(self.lo)
            free(self.hi)
            free(self.to)
            free(self.final)
            free(self.away)
            free(self.sets)
            free(self.inside)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.edges = self.finals = self.n_sets = 0
            self.first = self.lo = self.hi = self.to = self.final = self.away = self.sets = self.inside = None
            self.region = None
            self.has_sets = False
            self.alone = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self, states: cython.int, edges: cython.int, finals: cython.int) -> cython.int:
        self.n = states
        self.edges = edges
        self.finals = finals
        self.first = grow_int(self.first, states + 1)
        self.lo = grow_int(self.lo, edges + 1)
        self.hi = grow_int(self.hi, edges + 1)
        self.to = grow_int(self.to, edges + 1)
        self.final = grow_int(self.final, finals + 1)
        if not (self.first and self.lo and self.hi and self.to and self.final):
            raise MemoryError
        return 0

    def states(self) -> int:
        """How many there are."""
        return self.n

    def rows(self) -> tuple:
        """For each state its edges: (first byte, last byte, next state)."""
        i: cython.int
        k: cython.int
        found: list = []
        row: list
        for i in range(self.n):
            row = []
            for k in range(self.first[i], self.first[i + 1]):
                row.append((self.lo[k], self.hi[k], self.to[k]))
            found.append(tuple(row))
        return tuple(found)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write(self, net: Network, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Positions for all states: ``start`` reaches the first by epsilon, and accepting ones ``end``."""
        base: cython.int = net.n
        e: cython.int
        i: cython.int
        k: cython.int
        net._room(self.n)
        net._edge_room(self.edges + self.finals + 1)
        net.add_positions(self.n, origin)
        net.add_edge(start, 1, 0, 0, base)
        e = net.e
        for k in range(self.edges):
            net.e_next[e + k] = e + k + 1
            net.e_a[e + k] = self.lo[k]
            net.e_b[e + k] = self.hi[k]
            net.e_to[e + k] = base + self.to[k]
        for i in range(self.n):
            if self.first[i] < self.first[i + 1]:
                k = e + self.first[i + 1] - 1
                net.head[4 * (base + i)] = e + self.first[i]
                net.tail[4 * (base + i)] = k
                net.e_next[k] = -1
        net.e = e + self.edges
        for i in range(self.finals):
            net.add_edge(base + self.final[i], 1, 0, 0, end)
        net.add_span(base, self.n, end, self, 0, 0, -1)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def measure(self) -> cython.int:
        """Fill ``away``."""
        i: cython.int
        k: cython.int
        least: cython.int
        changed: cython.bint = True
        self.away = grow_int(self.away, self.n + 1)
        if not self.away:
            raise MemoryError
        for i in range(self.n):
            self.away[i] = NO_END
        for i in range(self.finals):
            self.away[self.final[i]] = 0
        while changed:  # as often as the longest shortest way goes back in the numbering
            changed = False
            for i in range(self.n - 1, -1, -1):
                least = self.away[i]
                for k in range(self.first[i], self.first[i + 1]):
                    if self.away[self.to[k]] + 1 < least:
                        least = self.away[self.to[k]] + 1
                if least < self.away[i]:
                    self.away[i] = least
                    changed = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_between(self, net: Network, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """A character: state 0 is ``start``, state 1 is ``end``; the others get positions."""
        base: cython.int = net.n - 2
        i: cython.int
        k: cython.int
        p: cython.int
        to: cython.int
        net._room(self.n)
        net.add_positions(self.n - 2, origin)
        for i in range(self.n):
            p = start if i == 0 else end if i == 1 else base + i
            for k in range(self.first[i], self.first[i + 1]):
                to = self.to[k]
                net.add_edge(p, 0, self.lo[k], self.hi[k], start if to == 0 else end if to == 1 else base + to)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_counted(self, net: Network, boundary: cython.int, least: cython.int, top: cython.int,
                      endless: cython.bint, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """The product with a counter of characters up to ``top``: only what can be reached gets edges.

        A character ends where a state below ``boundary`` is entered. State ``s`` after ``c`` characters is ``c n + s``.
        """
        n: cython.int = self.n
        base: cython.int = net.n
        size: cython.int = (top + 1) * n
        count: cython.int
        state: cython.int
        p: cython.int
        to: cython.int
        e: cython.int
        i: cython.int
        found: cython.int = 1
        done: cython.int = 0
        final: cython.p_int = grow_int(cython.NULL if cython.compiled else None, n + 1)
        seen: cython.p_int = grow_int(cython.NULL if cython.compiled else None, size + 1)
        waiting: cython.p_int = grow_int(cython.NULL if cython.compiled else None, size + 1)
        try:
            if not (final and seen and waiting):
                raise MemoryError
            net._room(size)
            net.add_positions(size, origin)
            net.add_edge(start, 1, 0, 0, base)
            for i in range(n):
                final[i] = 0
            for i in range(self.finals):
                final[self.final[i]] = 1
            for i in range(size):
                seen[i] = 0
            waiting[0] = 0
            seen[0] = 1
            while done < found:
                p = waiting[done]
                done += 1
                count = p // n
                state = p - count * n
                p += base
                if final[state] and count >= least:
                    net.add_edge(p, 1, 0, 0, end)
                net._edge_room(self.first[state + 1] - self.first[state])
                e = net.e
                for i in range(self.first[state], self.first[state + 1]):
                    to = count * n + self.to[i]
                    if self.to[i] < boundary:
                        if count < top:
                            to += n
                        elif not endless:
                            continue
                    net.e_next[e] = e + 1
                    net.e_a[e] = self.lo[i]
                    net.e_b[e] = self.hi[i]
                    net.e_to[e] = base + to
                    e += 1
                    if not seen[to]:
                        seen[to] = 1
                        waiting[found] = to
                        found += 1
                if e > net.e:
                    net.head[4 * p] = net.e
                    net.tail[4 * p] = e - 1
                    net.e_next[e - 1] = -1
                    net.e = e
            if not endless:
                net.add_span(base, size, end, self, boundary, least, top)
        finally:
            if cython.compiled:
                free(final)
                free(seen)
                free(waiting)
        return 0


@cython.cfunc
def block_of_rows(rows: tuple, accepting) -> Block:
    """The block of an automaton: ``rows[s]`` holds (first byte, last byte, next state)."""
    block: Block = Block()
    row: tuple
    edge: tuple
    i: cython.int
    k: cython.int = 0
    edges: cython.Py_ssize_t = 0
    for row in rows:
        edges += len(row)
    if len(rows) > 1 << 28 or edges > 1 << 28:
        raise NetworkTooLarge
    block._room(cython.cast(cython.int, len(rows)), cython.cast(cython.int, edges),
                cython.cast(cython.int, len(accepting)))
    for i in range(block.n):
        block.first[i] = k
        row = rows[i]
        for edge in row:
            block.lo[k] = edge[0]
            block.hi[k] = edge[1]
            block.to[k] = edge[2]
            k += 1
    block.first[block.n] = k
    k = 0
    for i in accepting:
        block.final[k] = i
        k += 1
    block.measure()
    return block


@cython.cfunc
def block_of_character(states: cython.int, edges: tuple) -> Block:
    """The block of a class of characters, from ``engine.utf8``: edges are (state, first byte, last byte, next)."""
    block: Block = Block()
    state: cython.int
    i: cython.int
    k: cython.int = 0
    edge: tuple
    block._room(states, cython.cast(cython.int, len(edges)), 0)
    for i in range(states):
        block.first[i] = k
        for edge in edges:
            state = edge[0]
            if state == i:
                block.lo[k] = edge[1]
                block.hi[k] = edge[2]
                block.to[k] = edge[3]
                k += 1
    block.first[states] = k
    return block


@cython.cfunc
def block_of_keys(strings: Block, keys: tuple, closing: cython.int) -> Block:
    """The texts of ``strings`` but ``keys``, each followed by the byte ``closing``.

    ``keys``: sorted and all different. ``strings`` must be in state 0 at first only, and after any byte of a key be
    where it goes on as from state 0. A trie beside it: the states of ``strings`` keep their numbers, nodes come behind.
    """
    most: cython.int = 1
    found: cython.int = 1
    i: cython.int
    depth: cython.int
    shared: cython.int
    size: cython.int
    node: cython.int
    last: cython.int = 0
    key: bytes
    before: bytes = b""
    text: cython.p_const_uchar
    other: cython.p_const_uchar
    for key in keys:
        if len(key) > (1 << 28) - most:
            raise NetworkTooLarge
        size = cython.cast(cython.int, len(key))
        most += size
        last = max(last, size)
    # of each node: its first child, its last one, the next one of the same parent, the byte, whether a key ends
    tree: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 5 * most)
    path: cython.p_int = grow_int(cython.NULL if cython.compiled else None, last + 1)
    if not (tree and path):
        if cython.compiled:
            free(tree)
            free(path)
        raise MemoryError
    for i in range(5):
        tree[i] = -1
    tree[4] = 0
    path[0] = 0
    last = 0
    for key in keys:
        size = cython.cast(cython.int, len(key))
        text = key
        other = before
        shared = 0
        while shared < last and shared < size and text[shared] == other[shared]:
            shared += 1
        node = path[shared]
        for depth in range(shared, size):
            tree[5 * found] = -1
            tree[5 * found + 1] = -1
            tree[5 * found + 2] = -1
            tree[5 * found + 3] = text[depth]
            tree[5 * found + 4] = 0
            if tree[5 * node] < 0:
                tree[5 * node] = found
            else:
                tree[5 * tree[5 * node + 1] + 2] = found
            tree[5 * node + 1] = found
            node = found
            path[depth + 1] = node
            found += 1
        tree[5 * node + 4] = 1
        before = key
        last = size
    block: Block = Block()
    try:
        _spell_keys(block, strings, tree, found, closing)
    finally:
        if cython.compiled:
            free(tree)
            free(path)
    for i in range(8):
        block.alone[i] |= strings.alone[i]
    block.sets = grow_uint(block.sets, 8 * strings.n_sets + 1)
    if not block.sets:
        raise MemoryError
    for i in range(8 * strings.n_sets):
        block.sets[i] = strings.sets[i]
    block.n_sets = strings.n_sets
    block.has_sets = True
    block.region = strings.region
    _measure_keys(block, strings)
    return block


@cython.cfunc
@cython.exceptval(-1, check=False)
def _measure_keys(block: Block, strings: Block) -> cython.int:
    """Fill ``away``: the states of ``strings`` lead to none of the trie's, and its nodes only to later ones."""
    away: cython.p_int = grow_int(block.away, block.n + 1)
    i: cython.int
    j: cython.int
    k: cython.int
    least: cython.int
    if not away:
        raise MemoryError
    block.away = away
    for i in range(strings.n):
        away[i] = strings.away[i]
    for j in range(strings.n, block.n + 1):
        i = block.n - 1 - (j - strings.n)  # the last node first, state 0 at the end
        if i < strings.n:
            i = 0
        least = NO_END
        for k in range(block.first[i], block.first[i + 1]):
            if away[block.to[k]] + 1 < least:
                least = away[block.to[k]] + 1
        away[i] = least
    for i in range(block.finals):
        away[block.final[i]] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _spell_keys(block: Block, strings: Block, tree: cython.p_int, nodes: cython.int, closing: cython.int) -> cython.int:
    """States and edges for ``block_of_keys``; the bytes of keys go into ``alone``."""
    n: cython.int = strings.n
    own: cython.int = strings.first[1]  # edges of state 0
    i: cython.int
    k: cython.int = 0
    e: cython.int
    low: cython.int
    child: cython.int
    byte: cython.int
    state: cython.int
    block._room(n + nodes - 1, strings.edges + nodes * (own + 3), strings.finals)
    block.inside = grow_int(block.inside, n + nodes)
    if not block.inside:
        raise MemoryError
    for i in range(n + nodes - 1):
        block.first[i] = k
        block.inside[i] = 0
        if 0 < i < n:
            if strings.inside:
                block.inside[i] = strings.inside[i]
            for e in range(strings.first[i], strings.first[i + 1]):
                block.lo[k] = strings.lo[e]
                block.hi[k] = strings.hi[e]
                block.to[k] = strings.to[e]
                k += 1
            continue
        state = 5 * (i - n + 1 if i else 0)
        child = tree[state]
        if child < 0 and strings.region is not None:
            block.inside[i] = 1
        for e in range(own):
            low = strings.lo[e]
            while low <= strings.hi[e]:
                byte = tree[5 * child + 3] if child >= 0 else 256
                if byte < low:  # read by an earlier edge
                    child = tree[5 * child + 2]
                    continue
                if tree[state + 4] and low <= closing < byte and closing <= strings.hi[e]:
                    byte = closing
                if byte > strings.hi[e]:
                    byte = strings.hi[e] + 1
                if low < byte:
                    block.lo[k] = low
                    block.hi[k] = byte - 1
                    block.to[k] = strings.to[e]
                    k += 1
                if byte <= strings.hi[e] and child >= 0 and byte == tree[5 * child + 3]:
                    block.lo[k] = byte
                    block.hi[k] = byte
                    block.to[k] = n + child - 1
                    block.alone[byte >> 5] |= cython.cast(cython.uint, 1) << (byte & 31)
                    child = tree[5 * child + 2]
                    k += 1
                low = byte + 1
    block.first[n + nodes - 1] = k
    block.edges = k
    for i in range(strings.finals):
        block.final[i] = strings.final[i]
    return 0
