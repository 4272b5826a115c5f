# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Pairs of two ints in the order in which they were first met, each once: what a mask has still to read.

    one[i], other[i]   pair ``i`` of ``count``: an exit group and a node (``mask_threads``)
    met                an open table of their numbers

Cost: 5-10 ns a pair; ``clear`` costs what the pairs cost.
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
class PairList:
    """See the module docstring. Empty when it is made."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.one)
            drop_int(self.other)
            drop_int(self.met)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.count = self.cap = 0
            self.one = self.other = self.met = None
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add(self, one: cython.int, other: cython.int) -> cython.int:
        """Append a pair, if it is new."""
        i: cython.int
        h: cython.int
        if self.count >= self.cap:
            self.cap = 64 if self.cap == 0 else self.cap * 2
            self.one = grow_int(self.one, self.cap)
            self.other = grow_int(self.other, self.cap)
            self.met = grow_int(self.met, 4 * self.cap)
            if not (self.one and self.other and self.met):
                out_of_memory()
            for i in range(4 * self.cap):
                self.met[i] = -1
            for i in range(self.count):
                h = self._slot(self.one[i], self.other[i])
                self.met[h] = i
        h = self._slot(one, other)
        if self.met[h] >= 0:
            return 0
        self.met[h] = self.count
        self.one[self.count] = one
        self.other[self.count] = other
        self.count += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _slot(self, one: cython.int, other: cython.int) -> cython.int:
        """Where the table has a pair, or the free slot for it."""
        size: cython.int = 4 * self.cap
        h: cython.int = cython.cast(cython.int, mix(mix(one, other), 1) & (size - 1))
        while self.met[h] >= 0 and not (self.one[self.met[h]] == one and self.other[self.met[h]] == other):
            h = (h + 1) & (size - 1)
        return h

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Forget all pairs."""
        i: cython.int
        if self.count * 8 > self.cap:
            for i in range(4 * self.cap):
                self.met[i] = -1
        else:
            # from the last to the first, so that each is found where it was put
            i = self.count - 1
            while i >= 0:
                self.met[self._slot(self.one[i], self.other[i])] = -1
                i -= 1
        self.count = 0
