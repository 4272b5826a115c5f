# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Arrays that grow. Uncompiled, an array is a list. An array that never was is NULL (None).

An array that has become large is made much larger at once (``wider``), and tables of hashes are moved bit by bit by
their owners: else one step of a text would pay for all that were before.

Arrays of one length that grow together stand in one piece of memory: a new piece is made with ``grow_int`` of nothing,
each array is ``moved`` into it, and the old piece is dropped. One allocation instead of ten.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.libc.stdlib import calloc, free, realloc
    from cython.cimports.libc.string import memcpy, memset

LARGE = cython.declare(cython.Py_ssize_t, 1 << 17)
MAPPED = cython.declare(cython.Py_ssize_t, 1 << 24)
SPARE = cython.declare(cython.Py_ssize_t, 1 << 29)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _has_addresses() -> cython.bint:
    """Whether SPARE bytes of addresses are to be had: where they are limited (``ulimit -v``), none are taken ahead."""
    if cython.compiled:
        probe: cython.p_void = realloc(cython.NULL, SPARE)  # a malloc that is freed at once may be left out
        if not probe:
            return False
        free(probe)
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def wider(count: cython.Py_ssize_t, width: cython.int) -> cython.int:
    """The next capacity of arrays that take ``width`` ints an entry, where ``count`` entries are needed: twice that.

    Of more than LARGE ints it is room for MAPPED: 64 MB of addresses, but memory only where something is written. So
    large an array is mapped by itself, and later moved by pages; to copy it would take a step milliseconds.
    """
    if not cython.compiled or count * width < LARGE or 2 * count * width > MAPPED or not _has_addresses():
        return cython.cast(cython.int, 2 * count)
    return cython.cast(cython.int, MAPPED // width) & -2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def zeroed_ints(count: cython.Py_ssize_t) -> cython.p_int:
    """``count`` ints, all of them 0; NULL when memory is out. Many are mapped, and not written before they are used."""
    if cython.compiled:
        if count > LARGE and count < MAPPED and _has_addresses():
            count = MAPPED
        return cython.cast(cython.p_int, calloc(count, cython.sizeof(cython.int)))
    else:
        return [0] * count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_int(old: cython.p_int, count: cython.Py_ssize_t) -> cython.p_int:
    """``old`` enlarged to ``count`` ints; the new part is not set. NULL when memory is out."""
    if cython.compiled:
        return cython.cast(cython.p_int, realloc(old, count * cython.sizeof(cython.int)))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def empty_table(old: cython.p_int, size: cython.int) -> cython.p_int:
    """``old`` enlarged to ``size`` ints, all of them -1: an open hash table with nothing in it. NULL likewise."""
    i: cython.int
    new: cython.p_int = grow_int(old, size)
    if new:
        for i in range(size):
            new[i] = -1
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def moved(piece: cython.p_int, at: cython.Py_ssize_t, old: cython.p_int, used: cython.int,
          count: cython.int) -> cython.p_int:
    """An array of ``count`` ints at ``piece[at]``; the first ``used`` of them are those of ``old``."""
    if cython.compiled:
        if used > 0:
            memcpy(piece + at, old, used * cython.sizeof(cython.int))
        return piece + at
    else:
        return (old or [])[:used] + [0] * (count - used)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def moved_longs(piece: cython.p_int, at: cython.Py_ssize_t, old: cython.p_longlong, used: cython.int,
                count: cython.int) -> cython.p_longlong:
    """Like ``moved`` for 64-bit values; ``at`` is even, and they take ``2 * count`` ints."""
    if cython.compiled:
        return cython.cast(cython.p_longlong, moved(piece, at, cython.cast(cython.p_int, old), 2 * used, 2 * count))
    else:
        return (old or [])[:used] + [0] * (count - used)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_long(old: cython.p_longlong, count: cython.Py_ssize_t) -> cython.p_longlong:
    """Like ``grow_int`` for 64-bit values."""
    if cython.compiled:
        return cython.cast(cython.p_longlong, realloc(old, count * cython.sizeof(cython.longlong)))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_bytes(old: cython.p_uchar, count: cython.Py_ssize_t) -> cython.p_uchar:
    """Like ``grow_int`` for bytes."""
    if cython.compiled:
        return cython.cast(cython.p_uchar, realloc(old, count))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_shorts(old: cython.p_ushort, count: cython.Py_ssize_t) -> cython.p_ushort:
    """Like ``grow_int`` for 16-bit values."""
    if cython.compiled:
        return cython.cast(cython.p_ushort, realloc(old, 2 * count))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_uint(old: cython.p_uint, count: cython.Py_ssize_t) -> cython.p_uint:
    """``old`` enlarged to ``count`` words; the new part is not set. NULL when memory is out."""
    if cython.compiled:
        return cython.cast(cython.p_uint, realloc(old, count * cython.sizeof(cython.uint)))
    else:
        kept = old or []
        return kept + [0] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_pointers(old: cython.pp_void, count: cython.Py_ssize_t) -> cython.pp_void:
    """``old`` enlarged to ``count`` pointers, borrowed references among them; the new part is not set."""
    if cython.compiled:
        return cython.cast(cython.pp_void, realloc(old, count * cython.sizeof(cython.p_void)))
    else:
        kept = old or []
        return kept + [None] * (count - len(kept))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_rows(old: cython.pp_uint, count: cython.Py_ssize_t) -> cython.pp_uint:
    """Like ``grow_pointers`` for pointers to rows of words."""
    if cython.compiled:
        return cython.cast(cython.pp_uint, grow_pointers(cython.cast(cython.pp_void, old), count))
    else:
        return grow_pointers(old, count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_lists(old: cython.pp_int, count: cython.Py_ssize_t) -> cython.pp_int:
    """Like ``grow_pointers`` for pointers to lists of ints."""
    if cython.compiled:
        return cython.cast(cython.pp_int, grow_pointers(cython.cast(cython.pp_void, old), count))
    else:
        return grow_pointers(old, count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def empty_pointers(count: cython.int) -> cython.pp_void:
    """``count`` pointers, each NULL (None). NULL when memory is out."""
    i: cython.int
    made: cython.pp_void = grow_pointers(cython.NULL if cython.compiled else None, count)
    if made:
        for i in range(count):
            made[i] = cython.NULL if cython.compiled else None
    return made


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def empty_rows(count: cython.int) -> cython.pp_uint:
    """Like ``empty_pointers`` for pointers to rows of words."""
    if cython.compiled:
        return cython.cast(cython.pp_uint, empty_pointers(count))
    else:
        return empty_pointers(count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def empty_lists(count: cython.int) -> cython.pp_int:
    """Like ``empty_pointers`` for pointers to lists of ints."""
    if cython.compiled:
        return cython.cast(cython.pp_int, empty_pointers(count))
    else:
        return empty_pointers(count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def zero_ints(a: cython.p_int, at: cython.Py_ssize_t, n: cython.int) -> cython.void:
    """``a[at : at + n]`` become 0."""
    i: cython.int
    if cython.compiled:
        memset(a + at, 0, n * cython.sizeof(cython.int))
    else:
        for i in range(n):
            a[at + i] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def unset_ints(a: cython.p_int, at: cython.Py_ssize_t, n: cython.int) -> cython.void:
    """``a[at : at + n]`` become -1."""
    i: cython.int
    if cython.compiled:
        memset(a + at, 255, n * cython.sizeof(cython.int))
    else:
        for i in range(n):
            a[at + i] = -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drop_int(old: cython.p_int) -> cython.p_int:
    """Give ``old`` back; NULL, to put in its place."""
    if cython.compiled:
        free(old)
        return cython.NULL
    return None


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drop_long(old: cython.p_longlong) -> cython.p_longlong:
    """Like ``drop_int`` for 64-bit values."""
    if cython.compiled:
        free(old)
        return cython.NULL
    return None


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def out_of_memory() -> cython.int:
    with cython.gil:
        raise MemoryError("the tables of a grammar could not grow")


@cython.cfunc
@cython.exceptval(check=False)
def copy_ints(old: cython.p_int, values: cython.int[::1]) -> cython.p_int:
    """``old`` replaced by the ints of ``values``; NULL when memory is out."""
    n: cython.Py_ssize_t = len(values)
    i: cython.Py_ssize_t
    new: cython.p_int = grow_int(old, n + 1)
    if new:
        for i in range(n):
            new[i] = values[i]
    return new
