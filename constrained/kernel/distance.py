# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewest bytes from a state to the end of the text.

``n_min`` of a node is the least over its elements: what the element's rule needs, and its tail's minimum. Tails are
older than what stands on them, so an explicit stack that has tails first comes to an end. Where guards may kill the
shortest way it is a lower bound. A token that is named counts as a million bytes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.item_choice import is_open, open_minimum, part_of
    from cython.cimports.constrained.kernel.memory import grow_int, out_of_memory
    from cython.cimports.constrained.kernel.position_sets import BUDGET, FAR, GUARD
    from cython.cimports.constrained.kernel.set_loops import set_minimum
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.item_choice import is_open, open_minimum, part_of
    from constrained.kernel.memory import grow_int, out_of_memory
    from constrained.kernel.position_sets import BUDGET, FAR, GUARD
    from constrained.kernel.set_loops import set_minimum


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def minimum(a: Stacks, node: cython.int) -> cython.longlong:
    """Fewest bytes from a node to the end. An explicit stack: tails come first."""
    base: cython.int = a.mn_len
    i: cython.int
    t: cython.int
    n: cython.int
    rest: cython.longlong
    least: cython.longlong
    missing: cython.bint
    if a.n_min[node] >= 0:
        return a.n_min[node]
    a.need_minima()
    _push(a, node)
    while a.mn_len > base:
        t = a.mn_node[a.mn_len - 1]
        if a.n_min[t] >= 0:
            a.mn_len -= 1
            continue
        missing = False
        for i in range(a.n_off[t], a.n_off[t] + a.n_len[t]):
            if a.n_min[a.el_n[i]] < 0 and a.el_n[i] != 0:
                _push(a, a.el_n[i])
                missing = True
        if missing:
            continue
        least = 0 if a.n_len[t] == 0 else FAR
        for i in range(a.n_off[t], a.n_off[t] + a.n_len[t]):
            n = a.el_n[i]
            if a.choices and is_open(a, n):
                rest = open_minimum(a, a.el_d[i], part_of(a, n, True))
                if rest < least:
                    least = rest
                n = part_of(a, n, False)
                if n == 0:
                    continue
                if a.n_min[n] < 0:
                    _push(a, n)
                    missing = True
                    continue
            rest = _element_minimum(a, a.el_d[i], a.el_c[i])
            if n != 0:
                rest += a.n_min[n]
            if rest < least:
                least = rest
        if missing:
            continue
        a.n_min[t] = least
        a.mn_len -= 1
    return a.n_min[node]


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _push(a: Stacks, node: cython.int) -> cython.int:
    if a.mn_len >= a.mn_cap:
        a.mn_cap = 64 if a.mn_cap == 0 else a.mn_cap * 2
        a.mn_node = grow_int(a.mn_node, a.mn_cap)
        if not a.mn_node:
            out_of_memory()
    a.mn_node[a.mn_len] = node
    a.mn_len += 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _element_minimum(a: Stacks, d: cython.int, c: cython.int) -> cython.longlong:
    """Fewest bytes until the element's rule ends. An element inside a loop goes round at least once more."""
    loop: cython.int = a.d_loop[d]
    rounds: cython.longlong
    total: cython.longlong
    if loop < 0:
        return a.det_minimum(d)
    if a.l_rule[loop] == BUDGET:
        return a.det_minimum(d)
    if a.l_rule[loop] == GUARD:
        return 0  # the rest is its node's; a lower bound, for the guard may kill the shortest way
    if a.l_rule[loop] < 0:
        return set_minimum(a, loop, c)
    rounds = a.l_min[loop] - c
    if rounds < 1:
        rounds = 1
    if a.r_min[a.l_rule[loop]] > FAR // rounds:
        return FAR
    total = rounds * a.r_min[a.l_rule[loop]] + a.p_min[a.l_next[loop]]
    return total if total < FAR else FAR
