# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Guards in stacks: what must not follow (``engine.guards``).

An element ``(guard, pending id, node)`` stands for the stacks of the node, as long as what must not follow does not.
Its node has no guards itself and no END, which stands beside it; two guards that meet are joined into one pending id.
What every continuation kills is dropped from a node (``drop_dead``), so that no reachable state is a dead end.

``memo`` kind 8: whether stacks live under a pending id.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.position_sets import END_DET, HOLE_DET
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.position_sets import END_DET, HOLE_DET


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def enter_guard(a: Stacks, loop: cython.int, n: cython.int) -> cython.int:
    """Append what guard position ``loop`` over the stacks ``n`` stands for."""
    if a.l_min[loop] < 0:
        return 0
    n = a.push(a.next_det(loop), n)  # calls itself once for each guard right behind: few
    return add_guarded(a, a.l_min[loop], n)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def add_guarded(a: Stacks, c: cython.int, n: cython.int) -> cython.int:
    """Append the stacks ``n`` under pending id ``c``: END beside them or gone, guards in them joined with ``c``."""
    i: cython.int
    d: cython.int
    base: cython.int
    mixed: cython.bint = False
    if n == 0:
        return 0
    if c == 0:
        return a.add_elements(n)
    for i in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
        d = a.el_d[i]
        if d == END_DET:
            if a.guards.may_end[c]:
                a.add_item(END_DET, 0, 0)
            mixed = True
        elif d == a.guard_det:
            a.add_item(d, joined(a, c, a.el_c[i]), a.el_n[i])
            mixed = True
    if not mixed:
        return a.add_item(a.guard_det, c, n)
    base = a.it_len
    for i in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
        d = a.el_d[i]
        if d != END_DET and d != a.guard_det:
            a.add_item(d, a.el_c[i], a.el_n[i])
    n = a.canonical(base)
    if n != 0:
        a.add_item(a.guard_det, c, n)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def joined(a: Stacks, one: cython.int, other: cython.int) -> cython.int:
    c: cython.int = a.guards.join[one * a.guards.n_pending + other]
    if c < 0:
        with cython.gil:
            raise RuntimeError("two guards meet that were not expected to")
    return c


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def drop_dead(a: Stacks, base: cython.int) -> cython.int:
    """Drop from ``it[base:]`` what can only be killed."""
    i: cython.int
    w: cython.int = base
    for i in range(base, a.it_len):
        if lives(a, a.it_d[i], a.it_c[i], a.it_n[i]):
            a.it_d[w] = a.it_d[i]
            a.it_c[w] = a.it_c[i]
            a.it_n[w] = a.it_n[i]
            w += 1
    a.it_len = w
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def lives(a: Stacks, d: cython.int, c: cython.int, n: cython.int) -> cython.bint:
    """Whether some text from this element reaches the end without being killed."""
    if d <= HOLE_DET:
        return True
    if n == 0:
        return False
    if d == a.guard_det:
        return node_lives(a, c, n)
    return _plain_lives(a, d, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _plain_lives(a: Stacks, d: cython.int, n: cython.int) -> cython.bint:
    """``lives`` for an element that is no guard: it does if a pair that it can end with does."""
    i: cython.int
    j: cython.int
    p: cython.int
    for i in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
        p = a.d_pool[i]
        for j in range(a.guards.out_offsets[p], a.guards.out_offsets[p + 1]):
            if a.guards.outs[j] == 0:
                return True
    for i in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
        p = a.d_pool[i]
        for j in range(a.guards.out_offsets[p], a.guards.out_offsets[p + 1]):
            if node_lives(a, a.guards.outs[j], n):
                return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _frame_lives(a: Stacks, d: cython.int, c: cython.int, n: cython.int) -> cython.int:
    """1 or 0 for det ``d`` under ``c`` over the stacks ``n``; 2 if pairs were pushed that must be known first."""
    i: cython.int
    j: cython.int
    p: cython.int
    r: cython.int
    unknown: cython.bint = False
    for i in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
        p = a.d_pool[i]
        p = a.guards.pair(p, c)
        if p < 0:
            # What stands under a guard is also asked about without it, which the survey need not have met. The
            # guard's own question is the one that counts.
            return 1
        for j in range(a.guards.out_offsets[p], a.guards.out_offsets[p + 1]):
            if a.guards.outs[j] == 0:
                return 1
            r = a.memo.get(8, a.guards.outs[j], n)
            if r == 1:
                return 1
            if r == -2:
                unknown = True
    if not unknown:
        return 0
    for i in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
        p = a.guards.pair(a.d_pool[i], c)
        for j in range(a.guards.out_offsets[p], a.guards.out_offsets[p + 1]):
            if a.memo.get(8, a.guards.outs[j], n) == -2:
                a.guards.push(a.guards.outs[j], n)
    return 2


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def node_lives(a: Stacks, c: cython.int, n: cython.int) -> cython.bint:
    """Whether the stacks ``n`` have a continuation that survives pending id ``c``. An explicit stack of pairs.

    Tails are older than what stands on them, so the pairs have no cycle.
    """
    base: cython.int = a.guards.n_todo
    i: cython.int
    d: cython.int
    r: cython.int
    found: cython.int
    a.guards.push(c, n)
    while a.guards.n_todo > base:
        c = a.guards.todo_c[a.guards.n_todo - 1]
        n = a.guards.todo_n[a.guards.n_todo - 1]
        if a.memo.get(8, c, n) != -2:
            a.guards.n_todo -= 1
            continue
        found = 0
        for i in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
            d = a.el_d[i]
            if d <= HOLE_DET:
                if d == END_DET and not a.guards.may_end[c]:
                    continue
                if d == HOLE_DET and a.el_n[i] != 0 and a.memo.get(14, a.el_n[i], c) == 1:
                    continue  # see guard_holes
                found = 1
                break
            if d == a.guard_det:
                r = joined(a, c, a.el_c[i])
                if a.memo.get(8, r, a.el_n[i]) == -2:
                    a.guards.push(r, a.el_n[i])
                    r = 2
                else:
                    r = a.memo.get(8, r, a.el_n[i])
            else:
                r = _frame_lives(a, d, c, a.el_n[i])
            if r == 1:
                found = 1
                break
            if r == 2:
                found = 2
        if found < 2:
            a.memo.put(8, c, n, found)
            a.guards.n_todo -= 1
    return a.memo.get(8, a.guards.todo_c[base], a.guards.todo_n[base]) == 1
