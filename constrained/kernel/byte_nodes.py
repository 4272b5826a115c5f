# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Nodes of a trie over bytes whose leaves are classes of characters: equal ones are one node.

A node is made of the entries on top of a stack, and found by a hash of them if there is an equal one; with it goes the
set of the classes below. ``kernel.byte_trie`` says which entries there are.

    start, last, home   the pieces: code points ``start[i]`` to ``last[i]`` are of class ``home[i]``, in order
    lo, hi, child       entries; those of node ``v`` are ``at[v] .. at[v + 1]``, sorted. ``child`` >= 0 is a node,
                        ``~class`` a leaf. The root comes last
    set_of              of each node the set of classes below: ``pool[set_at[s] .. set_at[s + 1]]``, sorted
    part_*              a stack of entries: those of the nodes that are being made, the innermost on top

Cost: 0.1 us a node.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run, mix, put_slot, sort_ints, sort_triples
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.hashing import hash_run, mix, put_slot, sort_ints, sort_triples
    from constrained.kernel.memory import empty_table, grow_int

NONE = cython.declare(cython.int, 1 << 30)
"""No node: none of the classes has a character there."""


@cython.cclass
class ByteNodes:
    """See the module docstring. Read-only once made."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.start)
            free(self.last)
            free(self.home)
            free(self.at)
            free(self.lo)
            free(self.hi)
            free(self.child)
            free(self.set_of)
            free(self.set_at)
            free(self.pool)
            free(self.slots)
            free(self.set_slots)
            free(self.part_lo)
            free(self.part_hi)
            free(self.part_child)
            free(self.marked)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.k = self.pieces = self.way = self.count = self.room = self.entry_room = self.sets = 0
            self.set_room = self.pool_room = self.slot_count = self.set_slot_count = self.part_room = self.top = 0
            for name in ("start last home at lo hi child set_of set_at pool slots set_slots part_lo part_hi part_child "
                         "whole known marked").split():
                setattr(self, name, None)
            return self

    def nodes(self) -> list:
        """Of each node its entries: (first byte, last byte, child). The root is the last."""
        i: cython.int
        e: cython.int
        found: list = []
        row: list
        for i in range(self.count):
            row = []
            for e in range(self.at[i], self.at[i + 1]):
                row.append((self.lo[e], self.hi[e], self.child[e]))
            found.append(tuple(row))
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _cut(self, classes: tuple) -> cython.int:
        """The pieces."""
        i: cython.int = 0
        j: cython.int
        ranges: tuple
        pair: tuple
        for ranges in classes:
            self.pieces += cython.cast(cython.int, len(ranges))
        self.start = grow_int(self.start, self.pieces + 1)
        self.last = grow_int(self.last, self.pieces + 1)
        self.home = grow_int(self.home, self.pieces + 1)
        if not (self.start and self.last and self.home):
            raise MemoryError
        for j in range(self.k):
            ranges = classes[j]
            for pair in ranges:
                self.start[i] = pair[0]
                self.last[i] = pair[1]
                self.home[i] = j
                i += 1
        sort_triples(self.start, self.last, self.home, 0, self.pieces)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rooms(self) -> cython.int:
        i: cython.int
        self.room = self.set_room = self.part_room = 64
        self.entry_room = self.pool_room = 256
        self.slot_count = self.set_slot_count = 128
        self.at = grow_int(self.at, self.room + 1)
        self.set_of = grow_int(self.set_of, self.room)
        self.lo = grow_int(self.lo, self.entry_room)
        self.hi = grow_int(self.hi, self.entry_room)
        self.child = grow_int(self.child, self.entry_room)
        self.set_at = grow_int(self.set_at, self.set_room + 1)
        self.pool = grow_int(self.pool, self.pool_room)
        self.part_lo = grow_int(self.part_lo, self.part_room)
        self.part_hi = grow_int(self.part_hi, self.part_room)
        self.part_child = grow_int(self.part_child, self.part_room)
        self.slots = empty_table(self.slots, self.slot_count)
        self.set_slots = empty_table(self.set_slots, self.set_slot_count)
        self.marked = grow_int(self.marked, self.k + 1)
        if not (self.at and self.set_of and self.lo and self.hi and self.child and self.set_at and self.pool
                and self.part_lo and self.part_hi and self.part_child and self.slots and self.set_slots
                and self.marked):
            raise MemoryError
        self.at[0] = 0
        self.set_at[0] = 0
        for i in range(self.k):
            self.marked[i] = 0
        return 0

    # -- nodes ------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _push(self, lo: cython.int, hi: cython.int, child: cython.int) -> cython.int:
        """One entry more of the node that is being made."""
        if self.top >= self.part_room:
            self.part_room *= 2
            self.part_lo = grow_int(self.part_lo, self.part_room)
            self.part_hi = grow_int(self.part_hi, self.part_room)
            self.part_child = grow_int(self.part_child, self.part_room)
            if not (self.part_lo and self.part_hi and self.part_child):
                raise MemoryError
        self.part_lo[self.top] = lo
        self.part_hi[self.top] = hi
        self.part_child[self.top] = child
        self.top += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _node(self, base: cython.int) -> cython.int:
        """The node of the entries from ``base`` on, which are sorted; they are taken from the stack. NONE: no entry."""
        i: cython.int
        j: cython.int
        e: cython.int
        size: cython.int
        other: cython.int
        if base == self.top:
            return NONE
        self._join(base)
        size = self.top - base
        i = self._slot(self.part_lo, self.part_hi, self.part_child, base, size)
        while self.slots[i] >= 0:
            other = self.slots[i]
            e = self.at[other]
            if self.at[other + 1] - e == size:
                j = 0
                while j < size and self.lo[e + j] == self.part_lo[base + j] and (
                        self.hi[e + j] == self.part_hi[base + j]) and self.child[e + j] == self.part_child[base + j]:
                    j += 1
                if j == size:
                    self.top = base
                    return other
            i = (i + 1) & (self.slot_count - 1)
        self.slots[i] = self.count
        self._add(base)
        if 2 * self.count > self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(self.count):
                e = self.at[j]
                i = self._slot(self.lo, self.hi, self.child, e, self.at[j + 1] - e)
                put_slot(self.slots, self.slot_count, i, j)
        return self.count - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _join(self, base: cython.int) -> cython.void:
        """Entries from ``base`` on that are neighbours and lead to one place become one."""
        i: cython.int
        kept: cython.int = base
        for i in range(base, self.top):
            if kept > base and self.part_child[kept - 1] == self.part_child[i] and (
                    self.part_hi[kept - 1] + 1 == self.part_lo[i]):
                self.part_hi[kept - 1] = self.part_hi[i]
            else:
                self.part_lo[kept] = self.part_lo[i]
                self.part_hi[kept] = self.part_hi[i]
                self.part_child[kept] = self.part_child[i]
                kept += 1
        self.top = kept

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, lo: cython.p_int, hi: cython.p_int, child: cython.p_int, at: cython.int,
              size: cython.int) -> cython.int:
        """Where a node is looked for first."""
        h: cython.ulonglong = 0
        i: cython.int
        for i in range(at, at + size):
            h = mix(mix(h, lo[i] << 8 | hi[i]), child[i])
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add(self, base: cython.int) -> cython.int:
        """The entries from ``base`` on as a new node."""
        i: cython.int
        j: cython.int
        begin: cython.int = self.at[self.count]
        end: cython.int
        child: cython.int
        fill: cython.int = self.set_at[self.sets]
        if self.count >= self.room:
            self.room *= 2
            self.at = grow_int(self.at, self.room + 1)
            self.set_of = grow_int(self.set_of, self.room)
            if not (self.at and self.set_of):
                raise MemoryError
        self._join(base)
        end = begin + self.top - base
        if end > self.entry_room:
            self.entry_room = 2 * end
            self.lo = grow_int(self.lo, self.entry_room)
            self.hi = grow_int(self.hi, self.entry_room)
            self.child = grow_int(self.child, self.entry_room)
            if not (self.lo and self.hi and self.child):
                raise MemoryError
        if fill + self.k > self.pool_room:
            self.pool_room = 2 * (fill + self.k)
            self.pool = grow_int(self.pool, self.pool_room)
            if not self.pool:
                raise MemoryError
        for i in range(end - begin):
            child = self.part_child[base + i]
            self.lo[begin + i] = self.part_lo[base + i]
            self.hi[begin + i] = self.part_hi[base + i]
            self.child[begin + i] = child
            if child < 0:
                fill = self._mark(~child, fill)
            else:
                for j in range(self.set_at[self.set_of[child]], self.set_at[self.set_of[child] + 1]):
                    fill = self._mark(self.pool[j], fill)
        self.at[self.count + 1] = end
        self.top = base
        self.set_of[self.count] = self._set(fill)
        self.count += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _mark(self, index: cython.int, fill: cython.int) -> cython.int:
        """A class of the set that is being made, at ``pool[fill]`` if it is new there."""
        if self.marked[index]:
            return fill
        self.marked[index] = 1
        self.pool[fill] = index
        return fill + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set(self, fill: cython.int) -> cython.int:
        """The set of the classes that are marked: those of ``pool`` up to ``fill`` that are in no set yet."""
        begin: cython.int = self.set_at[self.sets]
        size: cython.int = fill - begin
        i: cython.int
        j: cython.int
        at: cython.int
        for i in range(begin, fill):
            self.marked[self.pool[i]] = 0
        sort_ints(self.pool, begin, fill)
        i = self._set_slot(begin, size)
        while self.set_slots[i] >= 0:
            at = self.set_at[self.set_slots[i]]
            if self.set_at[self.set_slots[i] + 1] - at == size:
                j = 0
                while j < size and self.pool[at + j] == self.pool[begin + j]:
                    j += 1
                if j == size:
                    return self.set_slots[i]
            i = (i + 1) & (self.set_slot_count - 1)
        self.set_slots[i] = self.sets
        self.sets += 1
        if self.sets >= self.set_room:
            self.set_room *= 2
            self.set_at = grow_int(self.set_at, self.set_room + 1)
            if not self.set_at:
                raise MemoryError
        self.set_at[self.sets] = fill
        if 2 * self.sets > self.set_slot_count:
            self.set_slot_count *= 4
            self.set_slots = empty_table(self.set_slots, self.set_slot_count)
            if not self.set_slots:
                raise MemoryError
            for j in range(self.sets):
                i = self._set_slot(self.set_at[j], self.set_at[j + 1] - self.set_at[j])
                put_slot(self.set_slots, self.set_slot_count, i, j)
        return self.sets - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_slot(self, at: cython.int, size: cython.int) -> cython.int:
        """Where a set is looked for first."""
        h: cython.ulonglong = hash_run(self.pool, at, size)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.set_slot_count - 1))
