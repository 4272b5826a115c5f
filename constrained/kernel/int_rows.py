# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Rows of ints, interned: equal rows have equal numbers, counted from 1.

    data[width * i:]    row ``i``; they are found through ``chains``

What was interned last can be taken back: ``undo(n)`` leaves the rows below ``n``.

Cost: 20-50 ns a row, ``4 * width + 8..16`` bytes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.chains import Chains
    from cython.cimports.constrained.kernel.memory import grow_int, wider
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.chains import Chains
    from constrained.kernel.memory import grow_int, wider


@cython.final
@cython.cclass
class IntRows(Chains):
    """See the module docstring. ``row``: where the next row to intern is written."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.data)
            free(self.row)

    else:

        def __new__(cls, *args):
            self = Chains.__new__(cls)
            self.data = self.row = None
            return self

    def __init__(self, width: cython.int):
        i: cython.int
        self.width = width
        self.n = 1
        self.cap = 16
        self.begin()
        self.data = grow_int(self.data, self.cap * width)
        self.row = grow_int(self.row, width)
        if not (self.data and self.row):
            raise MemoryError
        for i in range(width):
            self.data[i] = 0  # row 0: nothing

    @cython.cfunc
    @cython.exceptval(check=False)
    def hash_of(self, i: cython.int) -> cython.uint:
        """The hash of row ``i``, or of ``row`` where ``i`` is 0."""
        h: cython.uint = 0
        k: cython.int
        at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, i) * self.width
        for k in range(self.width):
            h = (h ^ cython.cast(cython.uint, self.row[k] if i == 0 else self.data[at + k])) * 1640531527
            if not cython.compiled:
                h &= 0xFFFFFFFF
            h ^= h >> 15
        return h

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def intern(self) -> cython.int:
        """The number of ``row``."""
        b: cython.int = self.bucket(self.hash_of(0))
        i: cython.int = self.head[b]
        k: cython.int
        at: cython.Py_ssize_t
        while i != 0:
            at = cython.cast(cython.Py_ssize_t, i) * self.width
            k = 0
            while k < self.width and self.data[at + k] == self.row[k]:
                k += 1
            if k == self.width:
                return i
            i = self.behind[i]
        if self.n >= self.cap:
            self.cap = wider(self.cap, self.width)
            self.data = grow_int(self.data, cython.cast(cython.Py_ssize_t, self.cap) * self.width)
            if not self.data:
                raise MemoryError
        i = self.n
        at = cython.cast(cython.Py_ssize_t, i) * self.width
        for k in range(self.width):
            self.data[at + k] = self.row[k]
        self.n += 1
        self.link(i, b)
        return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, i: cython.int) -> cython.void:
        """Copy row ``i`` to ``row``."""
        k: cython.int
        at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, i) * self.width
        for k in range(self.width):
            self.row[k] = self.data[at + k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def get(self, i: cython.int, k: cython.int) -> cython.int:
        """Column ``k`` of row ``i``."""
        return self.data[cython.cast(cython.Py_ssize_t, i) * self.width + k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def undo(self, n: cython.int) -> cython.void:
        """Forget the rows from ``n`` on."""
        while self.n > n:
            self.n -= 1
            self.unlink(self.n)

    def number(self, *values):
        """The number of a row; raises ``ValueError`` for one of another width."""
        k: cython.int
        if len(values) != self.width:
            raise ValueError(f"rows of {self.width} ints are kept here, not of {len(values)}")
        for k in range(self.width):
            self.row[k] = values[k]
        return self.intern()

    def values(self, i: cython.int):
        """Row ``i`` as a tuple; raises ``IndexError``."""
        if i < 0 or i >= self.n:
            raise IndexError(i)
        return tuple([self.get(i, k) for k in range(self.width)])

    def count(self):
        """One more than the number of rows: the number of the next new one."""
        return self.n

    def forget(self, n: cython.int):
        """Forget the rows from number ``n`` (at least 1) on."""
        self.undo(max(n, 1))

    def memory(self):
        """Bytes held."""
        return 4 * (self.held(self.cap, self.n) * self.width + self.held(self.room, self.n)
                    + self.held(self.buckets, self.size))
