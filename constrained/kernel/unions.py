# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The union of two nodes: the stacks of either.

Where two elements share their top, their tails have to be united first, and so on down the stacks: an explicit stack
of pairs, each of which is built once and remembered (``memo`` kind 2).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import sort_triples
    from cython.cimports.constrained.kernel.memory import grow_int, out_of_memory
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.hashing import sort_triples
    from constrained.kernel.memory import grow_int, out_of_memory


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def unite(a: Stacks, one: cython.int, other: cython.int) -> cython.int:
    """The node of the stacks of ``one`` and ``other``. An explicit stack of pairs; each is built once."""
    base: cython.int = a.un_len
    tb: cython.int
    i: cython.int
    x: cython.int
    y: cython.int
    missing: cython.bint
    x = _known(a, one, other)
    if x != -2:
        return x
    _push(a, one, other)
    while a.un_len > base:
        one = a.un_a[a.un_len - 1]
        other = a.un_b[a.un_len - 1]
        if _known(a, one, other) != -2:
            a.un_len -= 1
            continue
        tb = a.tr_len
        for i in range(a.n_off[one], a.n_off[one] + a.n_len[one]):
            a.spread(a.el_d[i], a.el_c[i], a.el_n[i])
        for i in range(a.n_off[other], a.n_off[other] + a.n_len[other]):
            a.spread(a.el_d[i], a.el_c[i], a.el_n[i])
        sort_triples(a.tr_p, a.tr_c, a.tr_n, tb, a.tr_len)
        missing = False
        for i in range(tb + 1, a.tr_len):
            if (
                a.tr_p[i] == a.tr_p[i - 1]
                and a.tr_c[i] == a.tr_c[i - 1]
                and _known(a, a.tr_n[i - 1], a.tr_n[i]) == -2
            ):
                missing = True
                _push(a, a.tr_n[i - 1], a.tr_n[i])
        a.tr_len = tb
        if missing:
            continue
        y = a.it_len
        a.add_elements(one)
        a.add_elements(other)
        y = a.canonical(y)
        a.memo.put(2, one, other, y)
        a.un_len -= 1
        x = y
    return x


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _known(a: Stacks, one: cython.int, other: cython.int) -> cython.int:
    if one == other or other == 0:
        return one
    if one == 0:
        return other
    return a.memo.get(2, min(one, other), max(one, other))


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _push(a: Stacks, one: cython.int, other: cython.int) -> cython.int:
    if a.un_len >= a.un_cap:
        a.un_cap = 64 if a.un_cap == 0 else a.un_cap * 2
        a.un_a = grow_int(a.un_a, a.un_cap)
        a.un_b = grow_int(a.un_b, a.un_cap)
        if not (a.un_a and a.un_b):
            out_of_memory()
    a.un_a[a.un_len] = min(one, other)
    a.un_b[a.un_len] = max(one, other)
    a.un_len += 1
    return 0
