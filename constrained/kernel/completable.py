# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What cannot be completed: positions from which nothing leads to their rule's end, and rules without a text.

Most grammars have nothing of the kind, and mostly that is known from how they were written (``Network.sound``). Where
it is not, it is soon shown (``_all_end``): a position is *proven* as soon as one of its ways leads to proven places, so
a walk from each position goes on only until it meets one. What leads nowhere but back into the path of the walk waits
until the rest is done. Nothing is proven but by what was proven before, so a rule that only calls itself never is; and
what is in doubt is never taken for right: then ``_mark`` finds out, with a worklist from the ends backwards, what can
be completed and what cannot.

``find_dead(net)`` sets ``has_dead``, and where that is true ``p_dead`` and ``r_dead``. It measures every annex.
Scratch of the network in ``_all_end``: ``s_a`` says of each position whether it is new (0), proven (1), on the path or
waiting (2) or has no edges (3); ``s_b`` and ``s_c`` are the path, ``4 * p + list`` and the edge that is looked at;
``s_d`` is what waits.
Cost: 3-5 ns a position where all can be completed but is not known to, 20 ns a position and edge where not.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.network import Network
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.memory import grow_int
    from constrained.kernel.network import Network

NO_END = cython.declare(cython.int, 1 << 29)
MOST_ROUNDS = cython.declare(cython.int, 8)
"""How often what waits is looked at again."""


@cython.ccall
@cython.exceptval(-1, check=False)
def find_dead(net: Network) -> cython.int:
    """See the module docstring."""
    whole: cython.bint = _annexes_end(net)
    if whole and net.sound and _all_begin(net):
        net.has_dead = False
        return 0
    net._scratch()
    net.has_dead = not (whole and _all_end(net))
    return _mark(net) if net.has_dead else 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _annexes_end(net: Network) -> cython.bint:
    """Measure the annexes; whether all can be completed."""
    annex: Annex
    i: cython.int
    whole: cython.bint = True
    for i in range(net.n_spans):
        if net.sp_top[i] == -2:
            annex = net.blocks[i]
            if annex.measure() >= NO_END:
                whole = False  # the others are measured, too
    return whole


@cython.cfunc
@cython.exceptval(check=False)
def _all_begin(net: Network) -> cython.bint:
    """Whether each rule reads something at its start; of those with images it is known.

    In a sound network whose rules all have texts each then has one that is not empty: no rule calls itself at its left.
    """
    head: cython.p_int = net.head
    i: cython.int
    p: cython.int
    bare: cython.int = cython.cast(cython.int, len(net.image_rules))
    for i in range(net.n_rules):
        p = net.r_start[i]
        if (head[4 * p] & head[4 * p + 1] & head[4 * p + 2] & head[4 * p + 3]) == -1 and net.loop_at[p] < 0:
            bare -= 1
    return bare == 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _all_end(net: Network) -> cython.bint:
    """Whether it is shown that everything can be completed."""
    head: cython.p_int = net.head
    after: cython.p_int = net.e_next
    target: cython.p_int = net.e_to
    state: cython.p_int = net.s_a
    path: cython.p_int = net.s_b
    edge: cython.p_int = net.s_c
    late: cython.p_int = net.s_d
    root: cython.int
    i: cython.int
    p: cython.int
    e: cython.int
    at: cython.int
    to: cython.int
    depth: cython.int
    n_late: cython.int = 0
    bare: cython.bint = False
    if net.token_sets and not all(net.token_sets):
        return False
    for i in range(net.n):
        state[i] = net.accept[i]
    for i in range(3):
        state[i] = 1
    for i in range(cython.cast(cython.int, len(net.image_rules))):
        p = net.image_rules[i]
        state[net.r_start[p]] = 1
    for root in range(net.n - 1, 2, -1):
        if state[root] != 0:
            continue
        e = head[4 * root]
        if e >= 0 and state[target[e]] == 1:
            state[root] = 1  # as for most of what spells a text
            continue
        state[root] = 2
        path[0] = 4 * root
        edge[0] = e
        depth = 1
        while depth > 0:
            at = path[depth - 1]
            e = edge[depth - 1]
            p = at >> 2
            to = -1
            while True:
                while e < 0 and at & 3 != 3:
                    at += 1
                    e = head[at]
                if e < 0:
                    break
                to = target[e]
                if at & 3 == 2 and state[to] == 1:
                    to = net.r_start[net.e_a[e]]
                if state[to] != 2:
                    break
                e = after[e]
            if e < 0:
                if net.loop_at[p] >= 0:
                    to = _wanted(net, net.loop_at[p])
                elif head[4 * p] < -1:
                    to = net.sp_end[-2 - head[4 * p]]
                elif (head[4 * p] & head[4 * p + 1] & head[4 * p + 2] & head[4 * p + 3]) < 0:
                    state[p] = 3
                    bare = True
                    depth -= 1
                    continue
                else:
                    to = -1
            if to >= 0 and state[to] == 0:
                path[depth - 1] = at
                edge[depth - 1] = e
                state[to] = 2
                path[depth] = 4 * to
                edge[depth] = head[4 * to]
                depth += 1
                continue
            if to == -2 or (to >= 0 and state[to] == 1):
                state[p] = 1
            elif to >= 0 and state[to] == 3:
                return False
            else:
                late[n_late] = p
                n_late += 1
            depth -= 1
    for i in range(MOST_ROUNDS):
        if n_late == 0:
            break
        n_late = _look_again(net, n_late)
    return n_late == 0 and not (bare and _leads_to_bare(net))


@cython.cfunc
@cython.exceptval(-3, check=False)
def _wanted(net: Network, k: cython.int) -> cython.int:
    """What must be proven before loop ``k`` is; -2: nothing, -1: it is not shown here that it can be left."""
    state: cython.p_int = net.s_a
    i: cython.int
    to: cython.int = net.l_after[k]
    if state[to] != 1:
        return to
    if net.l_rule[k] == -3:
        return -2  # a guard: as if it were not there
    if net.l_rule[k] == -1 and net.l_count[k] < net.l_min[k]:
        return -1
    for i in range(-2, net.l_count[k]):
        to = net.l_rule[k] if i == -2 else net.l_sep[k] if i == -1 else net.i_rule[net.l_items[k] + i]
        if to >= 0 and state[net.r_start[to]] != 1:
            return net.r_start[to]
    return -2


@cython.cfunc
@cython.exceptval(-1, check=False)
def _look_again(net: Network, n_late: cython.int) -> cython.int:
    """Prove what waits by what is proven by now; how many wait still."""
    state: cython.p_int = net.s_a
    late: cython.p_int = net.s_d
    n: cython.int = 0
    i: cython.int
    k: cython.int
    p: cython.int
    e: cython.int
    found: cython.bint
    for i in range(n_late):
        p = late[i]
        found = False
        for k in range(4):
            e = net.head[4 * p + k]
            while e >= 0 and not found:
                found = state[net.e_to[e]] == 1 and (k != 2 or state[net.r_start[net.e_a[e]]] == 1)
                e = net.e_next[e]
        if not found and net.loop_at[p] >= 0:
            found = _wanted(net, net.loop_at[p]) == -2
        if not found and net.head[4 * p] < -1:
            found = state[net.sp_end[-2 - net.head[4 * p]]] == 1
        if found:
            state[p] = 1
        else:
            late[n] = p
            n += 1
    return n


@cython.cfunc
@cython.exceptval(check=False)
def _leads_to_bare(net: Network) -> cython.bint:
    """Whether anything leads to a position without edges."""
    state: cython.p_int = net.s_a
    i: cython.int
    p: cython.int
    e: cython.int
    for i in range(net.n_rules):
        if state[net.r_start[i]] == 3:
            return True
    for i in range(net.n_loops):
        if state[net.l_after[i]] == 3:
            return True
    for p in range(net.n):
        for i in range(4 * p, 4 * p + 4):
            e = net.head[i]
            while e >= 0:
                if state[net.e_to[e]] == 3:
                    return True
                e = net.e_next[e]
    return False


# ---- where there is doubt ------------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(-1, check=False)
def _mark(net: Network) -> cython.int:
    """Fill ``p_dead`` and ``r_dead``."""
    n: cython.int = net.n
    i: cython.int
    p: cython.int
    changed: cython.bint = True
    annex: Annex
    net.p_dead = grow_int(net.p_dead, n)
    net.r_dead = grow_int(net.r_dead, net.n_rules)
    if not (net.p_dead and net.r_dead):
        raise MemoryError
    _turn_edges(net)
    for p in range(n):
        if net.accept[p] or p == 1 or p == 2:
            _complete(net, p)
    for i in range(cython.cast(cython.int, len(net.image_rules))):
        p = net.image_rules[i]
        _complete(net, net.r_start[p])
    while changed:  # loops within loops have higher numbers, so few rounds do
        changed = False
        for i in range(net.n_loops - 1, -1, -1):
            p = net.l_pos[i]
            if net.p_dead[p] and net.loop_at[p] == i and _can_be_left(net, i):
                _complete(net, p)
                changed = True
        for i in range(net.n_spans):
            p = net.sp_base[i]
            if net.sp_top[i] == -2 and net.p_dead[p] and not net.p_dead[net.sp_end[i]]:
                annex = net.blocks[i]
                if annex.measure() < NO_END:
                    _complete(net, p)
                    changed = True
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _turn_edges(net: Network) -> cython.void:
    """Everything is dead as yet. ``s_a``: by position an edge into it, the next ones in ``s_b``, where they come from
    (``4 * p + list``) in ``s_c``; ``s_d``: by rule one that starts there, ``s_e`` the next ones.
    """
    n: cython.int = net.n
    p: cython.int
    e: cython.int
    k: cython.int
    rule: cython.int
    for p in range(n):
        net.p_dead[p] = 1
        net.s_a[p] = -1
        net.s_d[p] = -1
    for rule in range(net.n_rules):
        net.r_dead[rule] = 1
        net.s_e[rule] = net.s_d[net.r_start[rule]]
        net.s_d[net.r_start[rule]] = rule
    for p in range(n):
        for k in range(4):
            e = net.head[4 * p + k]
            while e >= 0:
                if k != 3 or net.token_sets[net.e_a[e]]:
                    net.s_c[e] = 4 * p + k
                    net.s_b[e] = net.s_a[net.e_to[e]]
                    net.s_a[net.e_to[e]] = e
                e = net.e_next[e]
    for k in range(net.n_spans):
        if net.sp_top[k] == -3:  # a word leads from its door to its end, as an edge would
            e = net.e + k
            net.s_c[e] = 4 * net.sp_base[k]
            net.s_b[e] = net.s_a[net.sp_end[k]]
            net.s_a[net.sp_end[k]] = e
    for rule in range(net.n_rules):
        net.s_d[n + rule] = -1  # calls of it that wait, the next ones in s_e behind the rules


@cython.cfunc
@cython.exceptval(check=False)
def _complete(net: Network, p: cython.int) -> cython.void:
    """``p`` can be completed, and what leads to it."""
    n: cython.int = net.n
    rules: cython.int = net.n_rules
    top: cython.int = 1
    q: cython.int
    e: cython.int
    rule: cython.int
    if not net.p_dead[p]:
        return
    net.p_dead[p] = 0
    net.s_f[0] = p
    while top > 0:
        top -= 1
        p = net.s_f[top]
        e = net.s_a[p]
        while e >= 0:
            q = net.s_c[e] >> 2
            if net.p_dead[q]:
                if net.s_c[e] & 3 == 2 and net.r_dead[net.e_a[e]]:
                    net.s_e[rules + e] = net.s_d[n + net.e_a[e]]
                    net.s_d[n + net.e_a[e]] = e
                else:
                    net.p_dead[q] = 0
                    net.s_f[top] = q
                    top += 1
            e = net.s_b[e]
        rule = net.s_d[p]
        while rule >= 0:
            net.r_dead[rule] = 0
            e = net.s_d[n + rule]
            while e >= 0:
                q = net.s_c[e] >> 2
                if net.p_dead[q]:
                    net.p_dead[q] = 0
                    net.s_f[top] = q
                    top += 1
                e = net.s_e[rules + e]
            rule = net.s_e[rule]


@cython.cfunc
@cython.exceptval(-1, check=False)
def _can_be_left(net: Network, k: cython.int) -> cython.bint:
    """Whether loop ``k`` can be written, by what is known."""
    i: cython.int
    rule: cython.int = net.l_rule[k]
    last: cython.int = net.l_items[k] + net.l_count[k]
    written: cython.int = 0
    others: cython.int = 0
    if net.p_dead[net.l_after[k]]:
        return False
    if rule >= 0 or rule == -3:
        return rule < 0 or not net.r_dead[rule]
    for i in range(net.l_items[k], last):
        if net.i_required[i]:
            if net.r_dead[net.i_rule[i]]:
                return False
            written += 1
        elif not net.r_dead[net.i_rule[i]]:
            others = NO_END if rule == -2 and i == last - 1 else others + 1
    if net.l_min[k] > written:
        if others < net.l_min[k] - written:
            return False
        written = net.l_min[k]
    return written < 2 or net.l_how[k] & 1 != 0 or not net.r_dead[net.l_sep[k]]
