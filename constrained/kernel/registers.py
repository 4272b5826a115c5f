# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Interned registers of set loops: which items are written already, and how many.

The count of a set loop's element (``kernel.stacks``) is the id of such a register: how many things are written
(saturated where no bound can tell), and one bit for each item that is. Id 0 is nothing written yet; it is in no table.

Data: register ``c`` is ``pool[offsets[c - 1] ..][: lengths[c - 1]]``, its first word the number written;
``hashes[c - 1]`` is by what it is found: to read all registers again when the table grows would take a step long.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.memory import drop_int, empty_table, grow_int, out_of_memory, wider
else:
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import drop_int, empty_table, grow_int, out_of_memory, wider

FEW = cython.declare(cython.int, 16)


@cython.final
@cython.cclass
class Registers:
    """See the module docstring. Empty after ``clear``, which must come first."""

    if cython.compiled:

        def __dealloc__(self):
            self._drop()

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.count = self.cap = self.pool_len = self.pool_cap = self.table_size = 0
            self.offsets = self.lengths = self.hashes = self.pool = self.table = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop(self) -> cython.void:
        self.offsets = drop_int(self.offsets)
        self.lengths = drop_int(self.lengths)
        self.hashes = drop_int(self.hashes)
        self.pool = drop_int(self.pool)
        self.table = drop_int(self.table)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def clear(self) -> cython.int:
        """Forget all registers."""
        if self.table_size != FEW:
            self._drop()
            self.cap = 0
            self.pool_cap = 0
        self.count = 0
        self.pool_len = 0
        self._make_table(FEW)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make_table(self, size: cython.int) -> cython.int:
        self.table_size = size
        self.table = empty_table(self.table, size)
        if not self.table:
            out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash(self, words: cython.p_int, n: cython.int) -> cython.int:
        """By which the table is searched for the register ``words[:n]``."""
        h: cython.ulonglong = 77
        i: cython.int
        for i in range(n):
            if words[i] != 0:  # most words of a large set are zero
                h = mix(mix(h, i), words[i])
        return cython.cast(cython.int, h & 0x7FFFFFFF)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def intern(self, words: cython.p_int, n: cython.int) -> cython.int:
        """The id of the register ``words[:n]`` (number written first); 1 and up."""
        i: cython.int
        h: cython.int = self._hash(words, n)
        j: cython.int = h & (self.table_size - 1)
        g: cython.int
        same: cython.bint
        while self.table[j] >= 0:
            g = self.table[j]
            if self.lengths[g] == n:
                same = True
                for i in range(n):
                    if self.pool[self.offsets[g] + i] != words[i]:
                        same = False
                        break
                if same:
                    return g + 1
            j = (j + 1) & (self.table_size - 1)
        g = self.count
        if g >= self.cap:
            self.cap = 64 if self.cap == 0 else wider(self.cap, 1)
            self.offsets = grow_int(self.offsets, self.cap)
            self.lengths = grow_int(self.lengths, self.cap)
            self.hashes = grow_int(self.hashes, self.cap)
            if not (self.offsets and self.lengths and self.hashes):
                out_of_memory()
        if self.pool_len + n > self.pool_cap:
            self.pool_cap = wider(self.pool_len + n, 1)
            self.pool = grow_int(self.pool, self.pool_cap)
            if not self.pool:
                out_of_memory()
        self.offsets[g] = self.pool_len
        self.lengths[g] = n
        self.hashes[g] = h
        for i in range(n):
            self.pool[self.pool_len + i] = words[i]
        self.pool_len += n
        self.count = g + 1
        self.table[j] = g
        if self.count * 2 >= self.table_size:
            self._rehash()
        return g + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash(self) -> cython.int:
        g: cython.int
        j: cython.int
        self._make_table(self.table_size * 2)
        for g in range(self.count):
            j = self.hashes[g] & (self.table_size - 1)
            while self.table[j] >= 0:
                j = (j + 1) & (self.table_size - 1)
            self.table[j] = g
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_held(self) -> cython.longlong:
        return 4 * (3 * cython.cast(cython.longlong, self.cap) + self.pool_cap + self.table_size)
