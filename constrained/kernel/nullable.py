# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which rules of a network have the empty text.

A call means "at least one byte" to the automaton, so each nullable call gets an epsilon beside it, and each round of a
counted loop whose body is nullable a way round it.
Cost: 10 ns a position.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.network import Network
else:
    from constrained.kernel.images import Image
    from constrained.kernel.network import Network


@cython.ccall
@cython.exceptval(-1, check=False)
def find_nullable(net: Network) -> cython.int:
    """Fill ``r_nullable``; give each nullable call an epsilon beside it, and each nullable round a way round."""
    p: cython.int
    e: cython.int
    i: cython.int
    k: cython.int
    rule: cython.int
    top: cython.int = 0
    waiting: cython.int = 0
    any_found: cython.bint = False
    seen: cython.p_int
    exit_of: cython.p_int
    stack: cython.p_int
    bl_head: cython.p_int
    bl_next: cython.p_int
    bl_to: cython.p_int
    image: Image
    net._scratch()
    seen = net.s_a
    exit_of = net.s_b
    stack = net.s_c
    bl_head = net.s_d
    bl_next = net.s_e
    bl_to = net.s_f
    for p in range(net.n):
        seen[p] = 0
        exit_of[p] = -1
    for rule in range(net.n_rules):
        net.r_nullable[rule] = 0
        bl_head[rule] = -1
        exit_of[net.r_exit[rule]] = rule
        p = net.r_entry[rule]
        seen[p] = 1
        stack[top] = p
        top += 1
    for i in range(cython.cast(cython.int, len(net.images))):
        image = net.images[i]
        if not image.nullable:
            rule = net.image_rules[i]
            exit_of[net.r_exit[rule]] = -1
    while top > 0:
        top -= 1
        p = stack[top]
        rule = exit_of[p]
        if rule >= 0 and not net.r_nullable[rule]:
            net.r_nullable[rule] = 1
            any_found = True
            i = bl_head[rule]
            while i >= 0:
                if not seen[bl_to[i]]:
                    seen[bl_to[i]] = 1
                    stack[top] = bl_to[i]
                    top += 1
                i = bl_next[i]
        e = net.head[4 * p + 1]
        while e >= 0:
            k = net.e_to[e]
            if not seen[k]:
                seen[k] = 1
                stack[top] = k
                top += 1
            e = net.e_next[e]
        e = net.head[4 * p + 2]
        while e >= 0:
            rule = net.e_a[e]
            k = net.e_to[e]
            if net.r_nullable[rule]:
                if not seen[k]:
                    seen[k] = 1
                    stack[top] = k
                    top += 1
            else:
                bl_next[waiting] = bl_head[rule]
                bl_to[waiting] = k
                bl_head[rule] = waiting
                waiting += 1
            e = net.e_next[e]
        i = net.loop_at[p]
        if i >= 0 and (net.l_rule[i] >= 0 or net.l_rule[i] == -3):
            rule = net.l_rule[i]
            k = net.l_after[i]
            if rule < 0 or net.r_nullable[rule]:
                if not seen[k]:
                    seen[k] = 1
                    stack[top] = k
                    top += 1
            else:
                bl_next[waiting] = bl_head[rule]
                bl_to[waiting] = k
                bl_head[rule] = waiting
                waiting += 1
    if not any_found:
        return 0
    for p in range(net.n):
        e = net.head[4 * p + 2]
        while e >= 0:
            if net.r_nullable[net.e_a[e]]:
                net.add_edge(p, 1, 0, 0, net.e_to[e])
            e = net.e_next[e]
    return _nullable_loops(net)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _nullable_loops(net: Network) -> cython.int:
    """A round counts only if it reads something: a nullable body may stop after any number of real rounds.

    The loop position itself must not be left without a round, so the way round it starts one position earlier:
    every epsilon edge into the loop gets a twin that goes straight on. A chain: the way round one loop may lead
    into the next.
    """
    p: cython.int
    e: cython.int
    k: cython.int
    last: cython.int
    found: cython.bint = False
    for k in range(net.n_loops):
        if net.l_rule[k] >= 0 and net.r_nullable[net.l_rule[k]]:
            net.l_min[k] = 1
            found = True
    if not found:
        return 0
    for p in range(net.n):
        e = net.head[4 * p + 1]
        last = net.tail[4 * p + 1]
        while e >= 0:
            k = net.loop_at[net.e_to[e]]
            while k >= 0 and net.l_rule[k] >= 0 and net.r_nullable[net.l_rule[k]]:
                net.add_edge(p, 1, 0, 0, net.l_after[k])
                k = net.loop_at[net.l_after[k]]
            if e == last:
                break
            e = net.e_next[e]
    return 0


@cython.ccall
@cython.exceptval(-1, check=False)
def empty_items(net: Network) -> cython.bint:
    """Whether an item of a set loop has the empty text; marks the loops whose separator has (``l_how``)."""
    k: cython.int
    i: cython.int
    found: cython.bint = False
    for k in range(net.n_loops):
        if net.l_rule[k] == -1 or net.l_rule[k] == -2:
            net.l_how[k] = (net.l_how[k] & ~1) + net.r_nullable[net.l_sep[k]]
            for i in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
                if net.r_nullable[net.i_rule[i]]:
                    found = True
    return found
