# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A hash table of numbered things that grows by one bucket a thing (linear hashing, Litwin 1980).

Idea
    A table that doubles makes one insertion in thousands wait for all that is in it. Here each insertion splits one
    bucket, the next in turn, so that none costs more than another, however much is held.

Data
    head[b]      the youngest thing of bucket ``b``, 0: none; things are numbered from 1
    behind[i]    the one of the same bucket before ``i``, 0: none
    size         buckets; from ``size`` on they are not split off yet from those ``level`` before them. ``level``: the
                 greatest power of two up to ``size``

Things go the youngest first: such a one is the first of its bucket, because a split keeps the order.
Cost: 10-20 ns a thing.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int, wider
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int, wider

BEGIN = cython.declare(cython.int, 16)
MOST_SPARE = cython.declare(cython.int, 4096)


@cython.cclass
class Chains:
    """See the module docstring. Who inherits has ``hash_of``."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.head)
            free(self.behind)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.head = self.behind = None
            return self

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self) -> cython.int:
        """Nothing is held."""
        i: cython.int
        self.size = self.level = self.buckets = self.room = BEGIN
        self.head = grow_int(self.head, self.buckets)
        self.behind = grow_int(self.behind, self.room)
        if not (self.head and self.behind):
            raise MemoryError
        for i in range(self.size):
            self.head[i] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def hash_of(self, i: cython.int) -> cython.uint:
        """The hash of thing ``i``."""
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def bucket(self, h: cython.uint) -> cython.int:
        """Where things with the hash ``h`` are."""
        b: cython.uint = h & cython.cast(cython.uint, 2 * self.level - 1)
        return cython.cast(cython.int, b if b < cython.cast(cython.uint, self.size) else b - self.level)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def link(self, i: cython.int, b: cython.int) -> cython.int:
        """Put ``i``, the youngest, into bucket ``b``."""
        if i >= self.room:
            self.room = wider(i, 1)
            self.behind = grow_int(self.behind, self.room)
            if not self.behind:
                raise MemoryError
        self.behind[i] = self.head[b]
        self.head[b] = i
        if i >= self.size:
            self._split()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def unlink(self, i: cython.int) -> cython.void:
        """Take out ``i``, the youngest."""
        self.head[self.bucket(self.hash_of(i))] = self.behind[i]

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def held(self, capacity: cython.longlong, used: cython.longlong) -> cython.longlong:
        """Of ``capacity`` entries those that may have been written: of a large array the rest is addresses only."""
        return min(capacity, used + MOST_SPARE)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _split(self) -> cython.int:
        """One bucket more: the next one in turn is split."""
        old: cython.int = self.size - self.level
        new: cython.int = self.size
        i: cython.int
        ends = cython.declare(cython.int[2])
        side: cython.int
        if new >= self.buckets:
            self.buckets = wider(self.buckets, 1)
            self.head = grow_int(self.head, self.buckets)
            if not self.head:
                raise MemoryError
        i = self.head[old]
        self.head[old] = self.head[new] = 0
        self.size += 1
        ends[0] = ends[1] = 0
        while i != 0:
            side = 1 if self.hash_of(i) & cython.cast(cython.uint, self.level) else 0
            if ends[side] == 0:
                self.head[new if side else old] = i
            else:
                self.behind[ends[side]] = i
            ends[side] = i
            i = self.behind[i]
        for side in range(2):
            if ends[side] != 0:
                self.behind[ends[side]] = 0
        if self.size == 2 * self.level:
            self.level *= 2
        return 0
