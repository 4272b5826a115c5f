# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Sets of bytes that were collected once: from a block, or from the image of a rule.

Which bytes a grammar's positions cannot tell apart (``kernel.partition``) follows from the sets that lead from one
position to one other. Most of them come with what many grammars share, and the same few *families* of them come
together again and again. So a family is one object for all that have the same sets, and how the bytes are told apart by
several families (``Labels``) is kept for the process, by the families themselves.

A set is eight 32-bit words. Nothing here changes once it is made; the labels of a family alone are found when first
asked for.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_uint
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcpy
else:
    from constrained.kernel.memory import grow_uint

KNOWN_FAMILIES = cython.declare(cython.int, 512)
"""Families that a process looks for equal ones in (32 bytes a set)."""
KNOWN_LABELS = cython.declare(cython.int, 512)
"""Collections of families of which it knows the labels (400 bytes each)."""

_families: dict = {}
"""The sets of each -> ``Family``. Emptied when it is full."""
_labels: dict = {}
"""A tuple of families -> ``Labels``. Emptied when it is full."""


@cython.final
@cython.cclass
class Family:
    """``n_sets`` different sets. ``labels``: how they tell the bytes apart, once that was asked for; None: not yet."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.sets)

    else:

        def __new__(cls):
            self = object.__new__(cls)
            self.n_sets = 0
            self.sets = self.labels = None
            return self


@cython.final
@cython.cclass
class Labels:
    """A number for each byte, the same for bytes that are in the same sets. Bit ``b`` of ``cuts`` is set where byte
    ``b`` may differ from the one before.
    """

    if not cython.compiled:

        def __new__(cls):
            self = object.__new__(cls)
            self.label = [0] * 256
            self.cuts = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, label: cython.p_uchar, cuts: cython.p_uint) -> cython.void:
        """Copy what was found out."""
        if cython.compiled:
            memcpy(self.label, label, 256)
            memcpy(self.cuts, cuts, 32)
        else:
            self.label[:] = label
            self.cuts[:] = cuts

    @cython.cfunc
    @cython.exceptval(check=False)
    def store(self, label: cython.p_uchar, cuts: cython.p_uint) -> cython.void:
        """Copy it to where it is needed."""
        if cython.compiled:
            memcpy(label, self.label, 256)
            memcpy(cuts, self.cuts, 32)
        else:
            label[:] = self.label
            cuts[:] = self.cuts


@cython.cfunc
def family_of(sets: cython.p_uint, n_sets: cython.int) -> Family:
    """The family of so many sets, which are copied."""
    found: Family
    i: cython.int
    if cython.compiled:
        key: object = cython.cast(cython.p_char, sets)[:32 * cython.cast(cython.Py_ssize_t, n_sets)] if n_sets else b""
    else:
        key = tuple(sets[:8 * n_sets]) if n_sets else ()
    known: object = _families.get(key)
    if known is not None:
        return known
    found = Family()
    found.sets = grow_uint(found.sets, 8 * n_sets + 1)
    if not found.sets:
        raise MemoryError
    for i in range(8 * n_sets):
        found.sets[i] = sets[i]
    found.n_sets = n_sets
    if len(_families) >= KNOWN_FAMILIES:
        _families.clear()
    _families[key] = found
    return found


@cython.cfunc
def known_labels(families: tuple) -> Labels:
    """How these families tell the bytes apart, or None."""
    return _labels.get(families)


@cython.cfunc
@cython.exceptval(-1, check=False)
def keep_labels(families: tuple, labels: Labels) -> cython.int:
    """Keep what was found out."""
    if len(_labels) >= KNOWN_LABELS:
        _labels.clear()
    _labels[families] = labels
    return 0
