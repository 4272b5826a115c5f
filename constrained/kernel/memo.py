# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A memo of functions of two ints: one open table for all of them.

``kind`` names the function: 1 push, 2 unite, 4, 11, 14 and 15 guard_holes, 5 fill_hole, 6 and 7 restrict, 8
guards, 10 byte_det, 12 after_token, 13 uncounted; from 16 on what masks remember, five kinds a generation of masks (see
``hole_regions`` and ``mask_walk``): old ones are never asked for again.

Cost: 5-10 ns a question; 16 bytes an entry, at most half of the table is full. An entry is put once.
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


@cython.final
@cython.cclass
class Memo:
    """See the module docstring. Empty after ``clear``, which must come first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.kinds)
            drop_int(self.a)
            drop_int(self.b)
            drop_int(self.values)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.size = self.count = 0
            self.kinds = self.a = self.b = self.values = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def clear(self) -> cython.int:
        """Forget everything."""
        self._drop()
        self._make(1024)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop(self) -> cython.void:
        self.kinds = drop_int(self.kinds)
        self.a = drop_int(self.a)
        self.b = drop_int(self.b)
        self.values = drop_int(self.values)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _make(self, size: cython.int) -> cython.int:
        i: cython.int
        self.size = size
        self.count = 0
        self.kinds = grow_int(self.kinds, size)
        self.a = grow_int(self.a, size)
        self.b = grow_int(self.b, size)
        self.values = grow_int(self.values, size)
        if not (self.kinds and self.a and self.b and self.values):
            out_of_memory()
        for i in range(size):
            self.kinds[i] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def get(self, kind: cython.int, a: cython.int, b: cython.int) -> cython.int:
        """The remembered value of ``kind(a, b)``, or -2."""
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.size - 1))
        while self.kinds[i] != 0:
            if self.a[i] == a and self.b[i] == b and self.kinds[i] == kind:
                return self.values[i]
            i = (i + 1) & (self.size - 1)
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
        kinds: cython.p_int = self.kinds
        a: cython.p_int = self.a
        b: cython.p_int = self.b
        values: cython.p_int = self.values
        size: cython.int = self.size
        i: cython.int
        self.kinds = self.a = self.b = self.values = cython.NULL if cython.compiled else None
        self._make(2 * size)
        for i in range(size):
            if kinds[i] != 0:
                self._store(kinds[i], a[i], b[i], values[i])
        drop_int(kinds)
        drop_int(a)
        drop_int(b)
        drop_int(values)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _store(self, kind: cython.int, a: cython.int, b: cython.int, value: cython.int) -> cython.void:
        h: cython.ulonglong = mix(mix(kind, a), b)
        i: cython.int = cython.cast(cython.int, h & (self.size - 1))
        while self.kinds[i] != 0:
            i = (i + 1) & (self.size - 1)
        self.kinds[i] = kind
        self.a[i] = a
        self.b[i] = b
        self.values[i] = value
        self.count += 1
