# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Texts with a token budget (``engine.budgets``): counts of tokens in elements.

An element ``(position of such a text, tokens so far, node)`` reads bytes as any position does, and its count goes on
with it. ``after_token`` counts, at the end of a token; a budget that is used up leaves a shortest way to the text's
end: ``l_sep`` is how many bytes a position needs at least.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.position_sets import BUDGET
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.position_sets import BUDGET


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_used_up(a: Stacks, d: cython.int, c: cython.int) -> cython.bint:
    """Whether an element is within a text whose token budget is used up."""
    loop: cython.int = a.d_loop[d]
    return a.budgets and loop >= 0 and a.l_rule[loop] == BUDGET and c >= a.l_max[loop]


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def step_budget(a: Stacks, d: cython.int, n: cython.int, c: cython.int, k: cython.int) -> cython.int:
    """``step_thread`` within a text that has a budget, ``c`` tokens of which are written."""
    loop: cython.int = a.d_loop[d]
    i: cython.int
    p: cython.int
    q: cython.int
    m: cython.int
    used_up: cython.bint = c >= a.l_max[loop]
    d = a.det_step(d, k)
    for i in range(a.d_len[d]):
        q = a.p_loop[a.d_pool[a.d_off[d] + i]]
        if q < 0 or a.l_rule[q] != BUDGET:
            continue
        # used up: on a shortest way only, and nothing more once the text may end
        if not used_up or (0 < a.l_sep[q] < a.l_sep[loop]):
            p = a.loop_det(q)
            a.add_item(p, c, n)
    m = 0
    a.need_buf(a.d_len[d])
    for i in range(a.d_len[d]):
        p = a.d_pool[a.d_off[d] + i]
        if a.p_loop[p] < 0 or a.l_rule[a.p_loop[p]] != BUDGET:
            a.buf[m] = p
            m += 1
    if m > 0:
        d = a.intern_det(m)
        a.add_pair(d, n)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def after_token(a: Stacks, node: cython.int) -> cython.int:
    """The node when a token is complete: each budget whose text has something of that token is one smaller."""
    r: cython.int
    base: cython.int
    i: cython.int
    d: cython.int
    loop: cython.int
    if not a.budgets or node == 0:
        return node
    r = a.memo.get(12, node, 0)
    if r != -2:
        return r
    base = a.it_len
    for i in range(a.n_off[node], a.n_off[node] + a.n_len[node]):
        d = a.el_d[i]
        loop = a.d_loop[d]
        if loop < 0 or a.l_rule[loop] != BUDGET:
            a.add_item(d, a.el_c[i], a.el_n[i])
        elif a.el_c[i] + 1 < a.l_max[loop]:
            a.add_item(d, a.el_c[i] + 1, a.el_n[i])
        elif a.l_sep[loop] > 0:  # else the text may end, and what follows it stands beside this element
            a.add_item(d, a.l_max[loop], a.el_n[i])
    r = a.canonical(base)
    a.memo.put(12, node, 0, r)
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def uncounted(a: Stacks, node: cython.int) -> cython.int:
    """The node with the same mask whose budgets have no token yet: within one token only used-up ones matter."""
    r: cython.int
    base: cython.int
    i: cython.int
    c: cython.int
    loop: cython.int
    r = a.memo.get(13, node, 0)
    if r != -2:
        return r
    base = a.it_len
    for i in range(a.n_off[node], a.n_off[node] + a.n_len[node]):
        loop = a.d_loop[a.el_d[i]]
        c = a.el_c[i]
        if loop >= 0 and a.l_rule[loop] == BUDGET and c < a.l_max[loop]:
            c = 0
        a.add_item(a.el_d[i], c, a.el_n[i])
    r = a.canonical(base)
    a.memo.put(13, node, 0, r)
    return r
