# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A memo of functions of two ints: one open table for all of them.

``kind`` names the function: 1 push, 2 unite, 3 and 9 places, 4, 11 and 14 to 17 guard_holes, 5 fill_hole, 6 and 7
restrict, 8 guards, 10 byte_det, 12 after_token, 13 uncounted, 18 to 20 item_choice (18 with b = 1 ``mask_threads``);
from 21 on what masks remember, five kinds a generation of masks, the first of which is 1 (see ``hole_regions`` and
``mask_records``): old ones are never asked for again.

Data: ``table[4 i ..]`` is (kind, a, b, value), kind 0 where there is none: a question touches one line of the cache.
Of a large table that grew the entries move a few at a time: until then ``old`` has them all, and those in its first
``moved`` places are in both.

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
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory, zeroed_ints
else:
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory, zeroed_ints

FIRST = cython.declare(cython.int, 64)
SMALL = cython.declare(cython.int, 4096)
MOST = cython.declare(cython.int, 1 << 28)
AT_ONCE = cython.declare(cython.int, 8)
"""Places of ``old`` that each new entry moves: all are moved long before the table grows again."""


@cython.final
@cython.cclass
class Memo:
    """See the module docstring. Empty after ``clear``, which must come first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.table)
            drop_int(self.old)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.size = self.count = self.old_size = self.moved = 0
            self.table = self.old = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def clear(self) -> cython.int:
        """Forget everything."""
        i: cython.int
        self.old = drop_int(self.old)
        if self.size != FIRST:
            self.table = drop_int(self.table)
        self.size = FIRST
        self.count = 0
        self.table = grow_int(self.table, 4 * FIRST)
        if not self.table:
            out_of_memory()
        for i in range(FIRST):
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
        return self._get_old(kind, a, b) if self.old else -2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _get_old(self, kind: cython.int, a: cython.int, b: cython.int) -> cython.int:
        """The same, from ``old``."""
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.old_size - 1)) * 4
        while self.old[i] != 0:
            if self.old[i + 1] == a and self.old[i + 2] == b and self.old[i] == kind:
                return self.old[i + 3]
            i = (i + 4) & (4 * self.old_size - 1)
        return -2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def put(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.int:
        """Remember what was not known."""
        if self.count * 2 >= self.size:
            self._grow()
        elif self.old:
            self._move(AT_ONCE)
        self._store(kind, a, b, value)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow(self) -> cython.int:
        size: cython.int = (2 if self.size >= SMALL else 4) * self.size
        table: cython.p_int
        if size > MOST:
            out_of_memory()
        table = zeroed_ints(4 * cython.cast(cython.Py_ssize_t, size))
        if not table:
            out_of_memory()
        if self.old:
            self._move(self.old_size)
        self.old = self.table
        self.old_size = self.size
        self.moved = 0
        self.table = table
        self.size = size
        self.count = 0
        if self.old_size < SMALL:
            self._move(self.old_size)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _move(self, places: cython.int) -> cython.void:
        """Enter what the next ``places`` places of ``old`` have; after the last one it is given back."""
        i: cython.longlong
        hi: cython.int = min(self.moved + places, self.old_size)
        old: cython.p_int = self.old
        for i in range(self.moved, hi):
            if old[4 * i] != 0:
                self._store(old[4 * i], old[4 * i + 1], old[4 * i + 2], old[4 * i + 3])
        self.moved = hi
        if hi == self.old_size:
            self.old = drop_int(old)

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
