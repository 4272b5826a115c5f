# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Byte automata and classes of characters as integer arrays, from which a network's positions are made.

A ``Block`` is made once for a node and stays with it: strings, numbers and formats are the same nodes in every schema.
Its states are numbered as in the automaton; the edges of state ``s`` are ``first[s] .. first[s + 1]``. ``away[s]`` is
how many bytes state ``s`` is from an end (``NO_END``: there is none), and ``ends`` says that each has one; ``family``
and ``alone`` are what ``kernel.partition`` has collected from its edges, once it was asked to. ``inside`` marks those
states that are in the wide region whose partition ``region`` is, where ``kernel.regions`` was asked for the block.
Cost: 20 ns an edge to make one, 3 ns a state and edge to write it.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int
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
            free(self.inside)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.edges = self.finals = self.ends = 0
            self.first = self.lo = self.hi = self.to = self.final = self.away = self.inside = None
            self.region = self.family = None
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

    @cython.cfunc
    @cython.exceptval(check=False)
    def repeats_itself(self) -> cython.bint:
        """Whether an edge leads from the first state to itself."""
        k: cython.int
        for k in range(self.first[0], self.first[1]):
            if self.to[k] == 0:
                return True
        return False

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
        if not self.ends:
            net.sound = False
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
        """Fill ``away`` and ``ends``: passes back and forth until nothing changes.

        Back, since states are mostly numbered as they are met; forth, since those inside a character come behind them,
        the last byte's first. So it is three or four passes for most blocks.
        """
        i: cython.int
        j: cython.int
        k: cython.int
        least: cython.int
        back: cython.bint = False
        changed: cython.bint = True
        self.away = grow_int(self.away, self.n + 1)
        if not self.away:
            raise MemoryError
        for i in range(self.n):
            self.away[i] = NO_END
        for i in range(self.finals):
            self.away[self.final[i]] = 0
        while changed:
            changed = False
            back = not back
            for j in range(self.n):
                i = self.n - 1 - j if back else j
                least = self.away[i]
                for k in range(self.first[i], self.first[i + 1]):
                    if self.away[self.to[k]] + 1 < least:
                        least = self.away[self.to[k]] + 1
                if least < self.away[i]:
                    self.away[i] = least
                    changed = True
        self.ends = True
        for i in range(self.n):
            if self.away[i] >= NO_END:
                self.ends = False
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
        if self.edges == 0:
            net.sound = False
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
            net.sound = False
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
