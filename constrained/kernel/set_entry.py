# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""How a set loop is entered, and what can follow there: what ``kernel.set_loops`` and ``kernel.item_choice`` know as
threads of an automaton.

Cost: linear in the items that are read by themselves, for each of which a node to return to is made once.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.item_choice import lives_open, open_det
    from cython.cimports.constrained.kernel.position_sets import BARE, CHOOSING, OPEN, REGISTER
    from cython.cimports.constrained.kernel.set_loops import (
        last_next_item,
        may_write,
        next_item,
        set_return,
        unwritten,
        with_item,
    )
else:
    from constrained.kernel.hashing import bit
    from constrained.kernel.item_choice import lives_open, open_det
    from constrained.kernel.position_sets import BARE, CHOOSING, OPEN, REGISTER
    from constrained.kernel.set_loops import (
        last_next_item,
        may_write,
        next_item,
        set_return,
        unwritten,
        with_item,
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def enter_set(a: Automaton, loop: cython.int, c: cython.int, n: cython.int) -> cython.int:
    """The separator is called, or every item that may come next and is not open, each with its own return."""
    lo: cython.int = a.l_items[loop]
    i: cython.int
    k: cython.int
    lacking: cython.int
    if c != 0 and c < CHOOSING:
        if a.l_sep[loop] >= 0:
            i = a.it_len
            k = a.loop_det(loop)
            a.add_item(k, c + CHOOSING, n)
            k = a.canonical(i)
            if k != 0:
                a.pend(a.l_sep[loop], k)
        if not a.l_how[loop] & BARE:
            return 0
    c &= REGISTER
    lacking = unwritten(a, loop, c)
    for i in range(next_item(a, loop, c), last_next_item(a, loop, c)):
        if a.l_open[loop] != 0 and a.i_open[lo + i]:
            continue
        if may_write(a, loop, c, i, lacking):
            k = with_item(a, loop, c, i)
            k = set_return(a, loop, k, n, lacking - (1 if a.i_required[lo + i] else 0))
            if k != 0:
                a.pend(a.i_rule[lo + i], k)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def enter_open(a: Automaton, loop: cython.int, c: cython.int, n: cython.int) -> cython.int:
    """The thread that reads all open items that may come next in the loop's element; see ``set_loops.enter_set``."""
    d: cython.int
    base: cython.int
    if c != 0 and c < CHOOSING and not a.l_how[loop] & BARE:
        return 0  # the separator comes first
    d = open_det(a, loop)
    base = a.it_len
    a.add_item(a.loop_det(loop), (c & REGISTER) + OPEN, n)
    n = a.canonical(base)
    if lives_open(a, d, n, False):
        a._add_thread(d, n, 0, 0, 0)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def first_open(a: Automaton, d: cython.int, n: cython.int, out: cython.p_int) -> cython.int:
    """OR into ``out`` the byte classes after which det ``d`` over the open tail ``n`` lives."""
    k: cython.int
    t: cython.int
    f: cython.int = a.det_first(d)
    for k in range(a.n_classes):
        if (a.firsts[f + (k >> 5)] >> (k & 31)) & 1 and not (out[k >> 5] >> (k & 31)) & 1:
            t = a.det_step(d, k)
            if lives_open(a, t, n, False) or lives_open(a, t, n, True):
                out[k >> 5] = out[k >> 5] | bit(k & 31)
    return 0
