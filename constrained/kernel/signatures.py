# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which records a mask was put together of: the same ones in the same order give the same mask.

A signature is a run of ints, the first of which tells whether the end is allowed, the rest records (``mask_records``).
One is in the making at a time, ``pool[new .. pool_len]``; ``keep`` makes it a known one, and the next begins behind it.
Cost: a few ns a record.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run
    from cython.cimports.constrained.kernel.memory import drop_int, empty_table, grow_int, moved, out_of_memory, wider
else:
    from constrained.kernel.hashing import hash_run
    from constrained.kernel.memory import drop_int, empty_table, grow_int, moved, out_of_memory, wider


@cython.final
@cython.cclass
class Signatures:
    """See the module docstring. ``forget`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.piece)
            drop_int(self.table)
            drop_int(self.pool)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.count = self.cap = self.table_size = self.pool_len = self.pool_cap = self.new = self.slot = 0
            self.piece = self.offsets = self.lengths = self.masks = self.table = self.pool = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        self.count = 0
        self.pool_len = 0
        self.new = 0
        self._clear_table(32)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _clear_table(self, size: cython.int) -> cython.int:
        self.table_size = size
        self.table = empty_table(self.table, size)
        if not self.table:
            out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
        """Begin a signature; what was in the making and not kept is gone."""
        self.pool_len = 0
        if self.count > 0:
            self.pool_len = self.offsets[self.count - 1] + self.lengths[self.count - 1]
        self.new = self.pool_len

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add(self, r: cython.int) -> cython.int:
        """Append to the signature in the making."""
        if self.pool_len >= self.pool_cap:
            self.pool_cap = 128 if self.pool_cap == 0 else wider(self.pool_cap, 1)
            self.pool = grow_int(self.pool, self.pool_cap)
            if not self.pool:
                out_of_memory()
        self.pool[self.pool_len] = r
        self.pool_len += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self) -> cython.int:
        """The mask of the signature in the making, or -1; ``keep`` may follow."""
        length: cython.int = self.pool_len - self.new
        i: cython.int = cython.cast(cython.int, hash_run(self.pool, self.new, length) & (self.table_size - 1))
        j: cython.int
        k: cython.int
        while self.table[i] >= 0:
            k = self.table[i]
            if self.lengths[k] == length:
                j = 0
                while j < length and self.pool[self.offsets[k] + j] == self.pool[self.new + j]:
                    j += 1
                if j == length:
                    return self.masks[k]
            i = (i + 1) & (self.table_size - 1)
        self.slot = i
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def keep(self, mask: cython.int) -> cython.int:
        """Remember the mask of the signature that ``find`` has just not found."""
        if self.count >= self.cap:
            cap: cython.int = 16 if self.cap == 0 else wider(self.cap, 3)
            piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 3 * cap)
            if not piece:
                out_of_memory()
            self.offsets = moved(piece, 0, self.offsets, self.count, cap)
            self.lengths = moved(piece, cap, self.lengths, self.count, cap)
            self.masks = moved(piece, 2 * cap, self.masks, self.count, cap)
            drop_int(self.piece)
            self.piece = piece
            self.cap = cap
        self.offsets[self.count] = self.new
        self.lengths[self.count] = self.pool_len - self.new
        self.masks[self.count] = mask
        self.table[self.slot] = self.count
        self.count += 1
        if self.count * 2 > self.table_size:
            self._rehash()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash(self) -> cython.int:
        i: cython.int
        k: cython.int
        self._clear_table(4 * self.table_size)
        for k in range(self.count):
            i = cython.cast(cython.int, hash_run(self.pool, self.offsets[k], self.lengths[k]) & (self.table_size - 1))
            while self.table[i] >= 0:
                i = (i + 1) & (self.table_size - 1)
            self.table[i] = k
        return 0
