# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A memo of functions of two ints: one open table for all of them.

``kind`` names the function: 1 push, 2 unite, 3 and 9 places, 4, 11 and 14 to 17 guard_holes, 5 fill_hole, 6 and 7
restrict, 8 guards, 10 byte_det, 12 after_token, 13 uncounted, 18 to 20 item_choice (18 with b = 1 ``mask_threads``);
from 21 on what masks remember, five kinds a generation of masks, the first of which is 1 (see ``hole_regions`` and
``mask_records``): old ones are never asked for again.

Data: ``table[4 i ..]`` is (kind, a, b, value), kind 0 where there is none: a question touches one line of the cache.
Cost: 5-10 ns a question, 100 if the table is large; 16 bytes an entry, at most half of the table is full. It begins
with one page of a kB, for most grammars read a few texts only. An entry is put once.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
else:
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory

FIRST = cython.declare(cython.int, 64)
SMALL = cython.declare(cython.int, 4096)
MOST = cython.declare(cython.int, 1 << 28)


@cython.final
@cython.cclass
class Memo:
    """See the module docstring. Empty after ``clear``, which must come first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.table)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.size = self.count = 0
            self.table = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def clear(self) -> cython.int:
        """Forget everything."""
        if self.size != FIRST:
            self.table = drop_int(self.table)
        self._make(FIRST)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make(self, size: cython.int) -> cython.int:
        i: cython.longlong
        if size > MOST:
            out_of_memory()
        self.size = size
        self.count = 0
        self.table = grow_int(self.table, 4 * size)
        if not self.table:
            out_of_memory()
        for i in range(size):
            self.table[4 * i] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def get(self, kind: cython.int, a: cython.int, b: cython.int) -> cython.int:
        """The remembered value of ``kind(a, b)``, or -2."""
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.size - 1)) * 4
        while self.table[i] != 0:
            if self.table[i + 1] == a and self.table[i + 2] == b and self.table[i] == kind:
                return self.table[i + 3]
            i = (i + 4) & (4 * self.size - 1)
        return -2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def put(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.int:
        """Remember what was not known."""
        if self.count * 2 >= self.size:
            self._grow()
        self._store(kind, a, b, value)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow(self) -> cython.int:
        old: cython.p_int = self.table
        size: cython.int = self.size
        i: cython.longlong
        self.table = cython.NULL if cython.compiled else None
        self._make((2 if size >= SMALL else 4) * size)
        for i in range(size):
            if old[4 * i] != 0:
                self._store(old[4 * i], old[4 * i + 1], old[4 * i + 2], old[4 * i + 3])
        drop_int(old)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _store(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.void:
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.size - 1)) * 4
        while self.table[i] != 0:
            i = (i + 4) & (4 * self.size - 1)
        self.table[i] = kind
        self.table[i + 1] = a
        self.table[i + 2] = b
        self.table[i + 3] = value
        self.count += 1
