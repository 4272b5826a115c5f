# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Where the rules of a network begin, in which order they call one another, and the root.

A rule's start has the edges of all that its entry reaches by epsilon and never accepts. Rules are numbered so that
callers at the left come first; where there is left recursion there is no such order, and ``engine.left_corner`` makes
the starts.
Cost: 5 ns a position.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int
    from constrained.kernel.network import Network


@cython.ccall
@cython.exceptval(-1, check=False)
def make_starts(net: Network) -> cython.bint:
    """A start position for each rule, and ``r_order``: callers at the left first. False: there is left recursion.

    A start has the edges of what the entry reaches by epsilon and never accepts: calls consume at least one byte.
    An entry that reaches nothing so is its own start.
    """
    rules: cython.int = net.n_rules
    rule: cython.int
    p: cython.int
    q: cython.int
    e: cython.int
    i: cython.int
    k: cython.int
    lo: cython.int
    n: cython.int = 0
    g: cython.int = 0
    mark: cython.p_int
    called: cython.p_int
    closures: cython.p_int
    closure_at: cython.p_int
    graph: cython.p_int
    graph_at: cython.p_int
    net._scratch()
    mark = net.s_a  # by position: the rule that reached it
    called = net.s_b  # by rule: the rule that calls it
    closures = net.s_c
    closure_at = net.s_d
    graph = grow_int(cython.NULL if cython.compiled else None, net.e + net.n_items + net.n_loops + 1)
    graph_at = net.s_e
    if not graph:
        raise MemoryError
    for p in range(net.n):
        mark[p] = -1
    for rule in range(rules):
        called[rule] = -1
    for rule in range(rules):
        closure_at[rule] = n
        graph_at[rule] = g
        closures[n] = net.r_entry[rule]
        mark[net.r_entry[rule]] = rule
        n += 1
        i = closure_at[rule]
        while i < n:
            p = closures[i]
            i += 1
            e = net.head[4 * p + 1]
            while e >= 0:
                q = net.e_to[e]
                if mark[q] != rule:
                    mark[q] = rule
                    closures[n] = q
                    n += 1
                e = net.e_next[e]
            e = net.head[4 * p + 2]
            while e >= 0:
                if called[net.e_a[e]] != rule:
                    called[net.e_a[e]] = rule
                    graph[g] = net.e_a[e]
                    g += 1
                e = net.e_next[e]
            k = net.loop_at[p]
            if k >= 0 and net.l_rule[k] >= 0:
                if called[net.l_rule[k]] != rule:
                    called[net.l_rule[k]] = rule
                    graph[g] = net.l_rule[k]
                    g += 1
            elif k >= 0:
                for lo in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
                    if called[net.i_rule[lo]] != rule:
                        called[net.i_rule[lo]] = rule
                        graph[g] = net.i_rule[lo]
                        g += 1
    closure_at[rules] = n
    graph_at[rules] = g
    k = _sort_rules(net, graph, graph_at)
    if cython.compiled:
        free(graph)
    if k == 0:
        return False
    for rule in range(rules):
        lo = closure_at[rule]
        if closure_at[rule + 1] == lo + 1 and net.loop_at[closures[lo]] < 0:
            net.r_start[rule] = closures[lo]
            continue
        q = net.add_position(net.origin[closures[lo]])
        net.r_start[rule] = q
        for i in range(lo, closure_at[rule + 1]):
            p = closures[i]
            for k in (0, 2, 3):
                e = net.head[4 * p + k]
                while e >= 0:
                    net.add_edge(q, k, net.e_a[e], net.e_b[e], net.e_to[e])
                    e = net.e_next[e]
            if net.loop_at[p] >= 0 or net.head[4 * p] < -1:
                net.add_edge(q, 1, 0, 0, p)
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def _sort_rules(net: Network, graph: cython.p_int, graph_at: cython.p_int) -> cython.int:
    """Number the rules with callers first; 0 if there is a cycle. Depth first with an explicit stack."""
    rules: cython.int = net.n_rules
    state: cython.p_int = net.s_b  # 0 not seen, 1 on the path, 2 done
    path: cython.p_int = net.s_a
    next_call: cython.p_int = net.s_f
    depth: cython.int
    root: cython.int
    rule: cython.int
    i: cython.int
    number: cython.int = rules
    for rule in range(rules):
        state[rule] = 0
    for root in range(rules):
        if state[root] != 0:
            continue
        path[0] = root
        state[root] = 1
        next_call[root] = graph_at[root]
        depth = 1
        while depth > 0:
            rule = path[depth - 1]
            if next_call[rule] < graph_at[rule + 1]:
                i = graph[next_call[rule]]
                next_call[rule] += 1
                if state[i] == 1:
                    return 0
                if state[i] == 0:
                    state[i] = 1
                    next_call[i] = graph_at[i]
                    path[depth] = i
                    depth += 1
                continue
            depth -= 1
            state[rule] = 2
            net.r_order[rule] = number
            number -= 1
    return 1


@cython.ccall
@cython.exceptval(-1, check=False)
def add_root(net: Network) -> cython.int:
    """The position at which a text begins: rule 0, and then the end."""
    p: cython.int = net.add_position(-1)
    q: cython.int = net.add_position(-1)
    i: cython.int
    net.add_edge(p, 2, 0, 0, q)
    if net.r_nullable[0]:
        net.add_edge(p, 1, 0, 0, q)
    for i in range(net.n_rules):
        net.accept[net.r_exit[i]] = 1
    for i in net.image_rules:
        net.accept[net.r_exit[i]] = 0
    net.accept[q] = 1
    net.root = p
    return p


def part_calls(net: Network) -> None:
    """Give the bytes of positions that call, too, positions of their own: what is read is then found once for all.

    Masks are put together from what each set of positions reads itself (``kernel.mask_walk``).
    """
    p: cython.int
    q: cython.int
    net.sound = False
    for p in range(net.n):
        if net.head[4 * p] >= 0 and net.head[4 * p + 2] >= 0 and net.loop_at[p] < 0:
            q = net.add_position(net.origin[p])
            net.head[4 * q] = net.head[4 * p]
            net.tail[4 * q] = net.tail[4 * p]
            net.head[4 * p] = -1
            net.add_edge(p, 1, 0, 0, q)
