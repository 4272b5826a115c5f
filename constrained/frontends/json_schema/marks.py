# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""``Marks``: objects found again by a number, most of them by the address of another object, for ``direct``.

An open table of pairs of a number and the address of its object, which it holds (uncompiled: the object's place in
``held``), half full at most. Beside a dict of ints it makes no object a number. Numbers that are no addresses have one
of the low three bits set, in which objects' addresses have none. Whose address is put must live as long as the table.
Cost: 26 instructions a look, 110 a new number (means of 745 schemas under callgrind).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import drop_long, grow_long, out_of_memory
    from cython.cimports.cpython.ref import Py_DECREF, Py_INCREF
else:
    from constrained.kernel.memory import drop_long, grow_long, out_of_memory

FIRST_ROOM = cython.declare(cython.Py_ssize_t, 32)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def address(thing) -> cython.longlong:
    """The number of an object."""
    if cython.compiled:
        return cython.cast(cython.longlong, cython.cast(cython.p_void, thing))
    return id(thing)


@cython.final
@cython.cclass
class Marks:
    """See the module docstring. ``table`` has room for ``room`` pairs, a power of 2, or is not there yet; ``count`` are
    in it."""

    @cython.cfunc
    def begin(self):
        """What a call of the class would do, which is dearer."""
        self.table = cython.NULL if cython.compiled else None
        self.room = 0
        self.count = 0
        self.held = None if cython.compiled else []

    if cython.compiled:

        def __dealloc__(self):
            i: cython.Py_ssize_t
            for i in range(self.room):
                if self.table[2 * i] != 0:
                    Py_DECREF(cython.cast(object, cython.cast(cython.p_void, self.table[2 * i + 1])))
            drop_long(self.table)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def place_of(self, number: cython.longlong) -> cython.Py_ssize_t:
        """Where a number is in the table, or would be."""
        place: cython.Py_ssize_t = (number >> 4 ^ number >> 11 ^ number >> 25) & (self.room - 1)
        while self.table[2 * place] != 0 and self.table[2 * place] != number:
            place = (place + 1) & (self.room - 1)
        return place

    @cython.cfunc
    def at(self, number: cython.longlong):
        """The object of a number; None: there is none."""
        place: cython.Py_ssize_t
        if self.room == 0:
            return None
        place = self.place_of(number)
        if self.table[2 * place] == 0:
            return None
        if cython.compiled:
            return cython.cast(object, cython.cast(cython.p_void, self.table[2 * place + 1]))
        return self.held[self.table[2 * place + 1]]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put(self, number: cython.longlong, value) -> cython.int:
        """Put the object of a number, which is not 0, instead of the one before."""
        place: cython.Py_ssize_t
        if 2 * self.count >= self.room:
            self.widen()
        place = self.place_of(number)
        if self.table[2 * place] == 0:
            self.table[2 * place] = number
            self.count += 1
        elif cython.compiled:
            Py_DECREF(cython.cast(object, cython.cast(cython.p_void, self.table[2 * place + 1])))
        if cython.compiled:
            Py_INCREF(value)
            self.table[2 * place + 1] = address(value)
        else:
            self.table[2 * place + 1] = len(self.held)
            self.held.append(value)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def widen(self) -> cython.int:
        """Make room."""
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        before: cython.Py_ssize_t = self.room
        old: cython.p_longlong = self.table
        room: cython.Py_ssize_t = 2 * before if before > 0 else FIRST_ROOM
        new: cython.p_longlong = grow_long(cython.NULL if cython.compiled else None, 2 * room)
        if not new:
            out_of_memory()
        for i in range(2 * room):
            new[i] = 0
        self.table = new
        self.room = room
        for i in range(before):
            if old[2 * i] != 0:
                place = self.place_of(old[2 * i])
                new[2 * place] = old[2 * i]
                new[2 * place + 1] = old[2 * i + 1]
        drop_long(old)
        return 0
