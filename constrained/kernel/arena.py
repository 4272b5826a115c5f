# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Many arrays in one piece of memory, for what is made and dropped as a whole: a program, the tables of one search.

One allocation instead of thirty. Large pages are not asked for: they save a fifth of a program of 50 MB, but a system
that has to find room for them first lets the program wait for 50 ms and more.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.libc.stdlib import free, malloc
    from cython.cimports.libc.string import memcpy, memset


@cython.cfunc
@cython.exceptval(check=False)
def copy_ints(to: cython.p_int, at: cython.Py_ssize_t, source: cython.p_int, count: cython.Py_ssize_t) -> cython.void:
    """Copy the first ``count`` ints of ``source`` to ``to[at]`` and what follows it."""
    if cython.compiled:
        if count > 0:
            memcpy(to + at, source, count * cython.sizeof(cython.int))
    elif count > 0:
        to[at:at + count] = source[:count]


@cython.cfunc
@cython.exceptval(check=False)
def copy_bytes(to: cython.p_uchar, at: cython.Py_ssize_t, source: cython.p_uchar, first: cython.Py_ssize_t,
               count: cython.Py_ssize_t) -> cython.void:
    """Copy ``count`` bytes of ``source`` from ``first`` on to ``to[at]`` and what follows it."""
    if cython.compiled:
        if count > 0:
            memcpy(to + at, source + first, count)
    elif count > 0:
        to[at:at + count] = source[first:first + count]


@cython.cfunc
@cython.exceptval(check=False)
def zero_bytes(to: cython.p_uchar, at: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.void:
    """``to[at : at + count]`` become 0."""
    if cython.compiled:
        if count > 0:
            memset(to + at, 0, count)
    elif count > 0:
        to[at:at + count] = [0] * count


@cython.cfunc
@cython.exceptval(check=False)
def zero_shorts(to: cython.p_ushort, at: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.void:
    """Like ``zero_bytes`` for 16-bit values."""
    if cython.compiled:
        zero_bytes(cython.cast(cython.p_uchar, to), 2 * at, 2 * count)
    elif count > 0:
        to[at:at + count] = [0] * count


@cython.final
@cython.cclass
class Arena:
    """``reserve`` it, then cut arrays off one behind the other.

    Nothing is given back alone, and nothing is set. Cutting more than was reserved is a bug that nobody notices.
    Uncompiled, each array is a list of its own.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.base)

    else:
        room = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, ints: cython.Py_ssize_t, arrays: cython.int) -> cython.int:
        """Begin anew, with room for so many ints (one of 64 bits is two) in so many arrays."""
        if cython.compiled:
            ints += arrays  # each begins at an even place
            if ints > self.room:
                free(self.base)
                self.room = 0
                self.base = cython.cast(cython.p_int, malloc(ints * cython.sizeof(cython.int)))
                if not self.base:
                    raise MemoryError
                self.room = ints
            self.used = 0
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def ints(self, count: cython.Py_ssize_t) -> cython.p_int:
        """An array of ints."""
        if cython.compiled:
            at: cython.Py_ssize_t = self.used
            self.used = at + count + (count & 1)
            return self.base + at
        return [0] * count

    @cython.cfunc
    @cython.exceptval(check=False)
    def shorts(self, count: cython.Py_ssize_t) -> cython.p_ushort:
        """An array of 16-bit ints; half as many ints, rounded up, are to be reserved."""
        if cython.compiled:
            return cython.cast(cython.p_ushort, self.ints((count + 1) // 2))
        return [0] * count

    @cython.cfunc
    @cython.exceptval(check=False)
    def bytes(self, count: cython.Py_ssize_t) -> cython.p_uchar:
        """An array of bytes; a quarter as many ints, rounded up, are to be reserved."""
        if cython.compiled:
            return cython.cast(cython.p_uchar, self.ints((count + 3) // 4))
        return [0] * count

    @cython.cfunc
    @cython.exceptval(check=False)
    def longs(self, count: cython.Py_ssize_t) -> cython.p_longlong:
        """An array of 64-bit ints."""
        if cython.compiled:
            return cython.cast(cython.p_longlong, self.ints(2 * count))
        return [0] * count
