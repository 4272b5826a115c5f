# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Nodes over HOLE: what threads of any stack have in common, and how a stack is put below them.

HOLE stands for all the stacks that a thread may stand on. ``hole_regions`` and ``token_walk`` read the vocabulary from
nodes over HOLE, and ``fill_hole`` turns what comes of it into real states.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.pending import add_guarded
    from cython.cimports.constrained.kernel.position_sets import HOLE_DET
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE, Stacks
else:
    from constrained.kernel.pending import add_guarded
    from constrained.kernel.position_sets import HOLE_DET
    from constrained.kernel.stacks import HOLE_NODE


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def restrict(a: Stacks, u: cython.int, region: cython.int, inside: cython.bint) -> cython.int:
    """The elements of hole node ``u`` that are inside ``region``, or the others."""
    r: cython.int = a.memo.get(6 if inside else 7, u, region)
    base: cython.int
    i: cython.int
    j: cython.int
    n: cython.int
    p: cython.int
    d: cython.int
    loop: cython.int
    if r != -2:
        return r
    base = a.it_len
    for i in range(a.n_off[u], a.n_off[u] + a.n_len[u]):
        d = a.el_d[i]
        loop = a.d_loop[d]
        if loop >= 0:
            if (a.l_region[loop] == region and a.el_n[i] == HOLE_NODE) == inside:
                a.add_item(d, a.el_c[i], a.el_n[i])
        elif d <= HOLE_DET or a.el_n[i] != HOLE_NODE:
            if (d > HOLE_DET and a.p_region[a.d_pool[a.d_off[d]]] == region) == inside:
                a.add_item(d, a.el_c[i], a.el_n[i])
        else:
            n = 0
            a.need_buf(a.d_len[d])
            for j in range(a.d_len[d]):
                p = a.d_pool[a.d_off[d] + j]
                if (a.p_region[p] == region) == inside:
                    a.buf[n] = p
                    n += 1
            if n > 0:
                n = a.intern_det(n)
                a.add_item(n, 0, a.el_n[i])
    r = a.canonical(base)
    a.memo.put(6 if inside else 7, u, region, r)
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def fill_hole(a: Stacks, v: cython.int, n: cython.int) -> cython.int:
    """Hole node ``v`` over the stacks ``n``.

    HOLE stands for all of ``n``, directly below elements, or one frame deeper (in the round of a counted loop, in
    a guard), never deeper: so this calls itself at most three times.
    """
    r: cython.int
    base: cython.int
    i: cython.int
    k: cython.int
    if v == HOLE_NODE:
        return n
    r = a.memo.get(5, v, n)
    if r != -2:
        return r
    base = a.it_len
    for i in range(a.n_off[v], a.n_off[v] + a.n_len[v]):
        if a.el_d[i] == HOLE_DET:
            a.add_elements(n)
        elif a.el_d[i] == a.guard_det:
            k = fill_hole(a, a.el_n[i], n)
            add_guarded(a, a.el_c[i], k)
        elif a.el_n[i] == HOLE_NODE:
            a.add_item(a.el_d[i], a.el_c[i], n)
        else:
            k = fill_hole(a, a.el_n[i], n)
            a.add_item(a.el_d[i], a.el_c[i], k)
    r = a.canonical(base)
    a.memo.put(5, v, n, r)
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def has_frames(a: Stacks, v: cython.int) -> cython.bint:
    """Whether hole node ``v`` has an element whose rest is more than HOLE: it stands in a round of its loop."""
    i: cython.int
    for i in range(a.n_off[v], a.n_off[v] + a.n_len[v]):
        if a.el_d[i] > HOLE_DET and a.el_n[i] != HOLE_NODE and a.el_d[i] != a.guard_det:
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def recount(a: Stacks, v: cython.int, loop: cython.int, c: cython.int) -> cython.int:
    """Hole node ``v``, met under a far count, as it is when ``c`` rounds are done at the end of its round."""
    base: cython.int = a.it_len
    i: cython.int
    n: cython.int
    for i in range(a.n_off[v], a.n_off[v] + a.n_len[v]):
        n = a.el_n[i]
        if a.el_d[i] > HOLE_DET and n != HOLE_NODE and a.el_d[i] != a.guard_det:
            n = a.loop_return(loop, c, HOLE_NODE)
        a.add_item(a.el_d[i], a.el_c[i], n)
    return a.canonical(base)
