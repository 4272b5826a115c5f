# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Whether two schemas are written alike: the same values of the same types, members in the same order.

What another front end made (subclasses of ``dict`` and ``str``) and decimals are told apart by identity. Most that
differ do so at the first value that is looked at. Cost: 10 ns a value.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.cpython.dict import PyDict_Next
    from cython.cimports.cpython.object import PyObject

__all__ = ["same_values"]


@cython.ccall
@cython.exceptval(-1, check=True)
def same_values(one, other, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many values two schemas have that are the same; below 0: they differ, or have more than ``most``, and so
    many were looked at or one less."""
    pairs: list = []  # containers in them that are compared later: those behind ``at``
    at: cython.Py_ssize_t = 0
    mine: list
    yours: list
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t = 0
    seen: cython.Py_ssize_t = 0
    if cython.compiled:
        key_there: cython.pointer(PyObject) = cython.NULL
        there: cython.pointer(PyObject) = cython.NULL
    while True:
        seen += len(one)
        if len(one) != len(other):
            return -1 - seen
        if type(one) is dict:
            place = 0
            pieces = None if cython.compiled else iter(other.items())
            for key, value in cython.cast(dict, one).items():
                if cython.compiled:
                    PyDict_Next(other, cython.address(place), cython.address(key_there), cython.address(there))
                    if not _are_equal(key, cython.cast(object, key_there), pairs):
                        return -1 - seen
                    if not _are_equal(value, cython.cast(object, there), pairs):
                        return -1 - seen
                else:
                    name, thing = next(pieces)
                    if not _are_equal(key, name, pairs) or not _are_equal(value, thing, pairs):
                        return -1 - seen
        else:
            mine = one
            yours = other
            for i in range(len(mine)):
                if not _are_equal(mine[i], yours[i], pairs):
                    return -1 - seen
        if len(pairs) == at:
            return seen
        if seen > most:
            return -1 - seen
        one = pairs[at]
        other = pairs[at + 1]
        at += 2


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _are_equal(one, other, pairs: list) -> cython.int:
    """Whether two values are plainly the same, as far as it is seen here: of containers that are the type and ``pairs``
    holds them then."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is str:
        return cython.cast(str, one) == cython.cast(str, other)
    if type(one) is dict or type(one) is list:
        pairs.append(one)
        pairs.append(other)
        return True
    return type(one) is int and one == other
