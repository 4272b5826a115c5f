# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Fewest bytes from each position to its rule's end, and of each rule, by one walk over the network.

Each position costs as little as what it leads to allows; sought are the least costs for which that is so (Knuth 1977).
A walk that leaves a position only when all that it leads to is done finds them at once, but for cycles: the way back
of a loop, a rule that calls itself. What leads back into the path of the walk is written down and looked at again when
all is done; where nothing comes out smaller, all costs are what they must be. Else another walk begins with the costs
that are known; what takes more than ``MOST_WALKS`` goes to ``kernel.shortest``, which never looks twice.

The positions of a block (``kernel.blocks``) are as far from where it is left as its states are from an end, so its
edges are not looked at. Of an annex only the door is known, and of a rule with an image its shortest text.

Scratch of the network: ``s_a`` says of each position whether it is new (0), done (1), on the path (2), on the path and
written down (3), or new and in span ``k`` (4 + k). ``s_b`` and ``s_c`` are the path: ``4 * p + list`` and the edge to
look at next; -1 - p and q for a run p .. q of positions that have one byte edge and nothing else, each to the next
one; anything and -2 - k for span ``k``. ``s_d`` is what was written down: positions, and -1 - span.

``find_shortest(net)`` fills ``p_min`` and ``r_min``, with ``FAR`` where there is no way to an end. Finite costs end at
``FAR - 1``: long is not impossible.
Cost: 5-10 ns a position.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.shortest import measure_counted, settle_all
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.images import Image
    from constrained.kernel.memory import drop_int, grow_int
    from constrained.kernel.network import Network
    from constrained.kernel.shortest import measure_counted, settle_all

FAR = cython.declare(cython.longlong, 1 << 60)
TOKEN_COST = cython.declare(cython.longlong, 1_000_000)
NO_END = cython.declare(cython.int, 1 << 29)
MOST_WALKS = cython.declare(cython.int, 6)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _together(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """Both costs; long is not impossible."""
    if one >= FAR or other >= FAR:
        return FAR
    return one + other if one + other < FAR else FAR - 1


@cython.ccall
@cython.exceptval(-1, check=False)
def find_shortest(net: Network) -> cython.int:
    """See the module docstring."""
    minima: cython.p_longlong = net.p_min
    state: cython.p_int
    i: cython.int
    p: cython.int
    walks: cython.int
    late: cython.int
    image: Image
    net._scratch()
    state = net.s_a
    for p in range(net.n):
        minima[p] = 0 if net.accept[p] else FAR
    minima[1] = 0
    minima[2] = 0
    for i in range(cython.cast(cython.int, len(net.images))):
        image = net.images[i]
        minima[net.r_start[net.image_rules[i]]] = image.shortest
    for walks in range(MOST_WALKS):
        for p in range(net.n):
            state[p] = 0
        for i in range(net.n_spans):
            for p in range(net.sp_base[i], net.sp_base[i] + net.sp_size[i]):
                state[p] = 4 + i
        late = 0
        for i in range(net.n_rules):
            late = _walk(net, net.r_start[i], late)
            late = _walk(net, net.r_entry[i], late)
        for p in range(net.r_high[net.n_rules - 1], net.n):  # what was not written for a rule
            late = _walk(net, p, late)
        if not _comes_out_smaller(net, late):
            for i in range(net.n_rules):
                net.r_min[i] = minima[net.r_start[i]]
            return 0
    return settle_all(net)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _walk(net: Network, p: cython.int, n_late: cython.int) -> cython.int:
    """Do ``p``, if it is new, and all that it leads to. Returns how many are written down by now."""
    minima: cython.p_longlong = net.p_min
    head: cython.p_int = net.head
    after: cython.p_int = net.e_next
    target: cython.p_int = net.e_to
    state: cython.p_int = net.s_a
    path: cython.p_int = net.s_b
    edge: cython.p_int = net.s_c
    late: cython.p_int = net.s_d
    depth: cython.int = 0
    cost: cython.longlong
    at: cython.int
    e: cython.int
    to: cython.int
    while state[p] == 0 or state[p] >= 4:
        if state[p] == 0:
            to = p
            while True:  # the run that begins here
                state[to] = 2
                e = head[4 * to]
                if e < 0 or after[e] >= 0 or (head[4 * to + 1] & head[4 * to + 2] & head[4 * to + 3]) >= 0 or (
                        net.loop_at[to] >= 0):
                    if to > p:
                        state[to] = 0
                        to -= 1
                    else:
                        to = -1
                    break
                if target[e] != to + 1 or state[to + 1] != 0:
                    break
                to += 1
            if to >= 0:
                path[depth] = -1 - p
                e = to
            else:
                path[depth] = 4 * p
        else:
            e = 2 - state[p]
            _mark_span(net, -2 - e, 2)
            path[depth] = 0
        edge[depth] = e
        depth += 1
        while depth > 0:  # go on from what is last on the path, until something new is wanted
            at = path[depth - 1]
            e = edge[depth - 1]
            if at < 0:  # a run, as most positions are in
                to = target[head[4 * e]]
                if state[to] != 1:
                    if state[to] == 0 or state[to] >= 4:
                        p = to
                        break
                    late[n_late] = e
                    n_late += 1
                cost = minima[to]
                while e >= -1 - at:
                    cost = _together(cost, 1)
                    if cost < minima[e]:
                        minima[e] = cost
                    cost = minima[e]
                    state[e] = 1
                    e -= 1
            elif e < -1:
                to = net.sp_end[-2 - e]
                if state[to] != 1:
                    if state[to] == 0 or state[to] >= 4:
                        p = to
                        break
                    late[n_late] = 1 + e
                    n_late += 1
                _settle_span(net, -2 - e)
                _mark_span(net, -2 - e, 1)
            else:
                to = _next_new(net, at, e, depth - 1)
                if to >= 0:
                    p = to
                    break
                if state[at >> 2] == 3:
                    late[n_late] = at >> 2
                    n_late += 1
                state[at >> 2] = 1
            depth -= 1
        if depth == 0:
            break
    return n_late


@cython.cfunc
@cython.exceptval(-2, check=False)
def _next_new(net: Network, at: cython.int, e: cython.int, top: cython.int) -> cython.int:
    """Go on with a position from edge ``e`` of list ``at`` on; what must be done first, or -1: the position is done.

    ``top``: its place on the path, where it says how far it came.
    """
    minima: cython.p_longlong = net.p_min
    state: cython.p_int = net.s_a
    p: cython.int = at >> 2
    best: cython.longlong = minima[p]
    cost: cython.longlong
    to: cython.int
    kind: cython.int
    while True:
        while e < 0 and at & 3 != 3:
            at += 1
            e = net.head[at]
        if e < 0:
            break
        kind = at & 3
        to = net.e_to[e]
        if state[to] != 1:
            if state[to] == 0 or state[to] >= 4:
                break
            state[p] = 3
        cost = minima[to]
        if kind == 0:
            cost = _together(cost, 1)
        elif kind == 2:
            to = net.r_start[net.e_a[e]]
            if state[to] != 1:
                if state[to] == 0 or state[to] >= 4:
                    break
                state[p] = 3
            cost = _together(cost, minima[to])
        elif kind == 3:
            cost = _together(cost, TOKEN_COST) if net.token_sets[net.e_a[e]] else FAR
        if cost < best:
            best = cost
        e = net.e_next[e]
    minima[p] = best
    if e < 0:
        if net.loop_at[p] < 0:
            return -1
        to = _new_of_loop(net, net.loop_at[p], p)
        if to < 0:
            cost = _cost_of_loop(net, net.loop_at[p])
            if cost < best:
                minima[p] = cost
            return -1
    net.s_b[top] = at
    net.s_c[top] = e
    return to


@cython.cfunc
@cython.exceptval(-2, check=False)
def _new_of_loop(net: Network, k: cython.int, p: cython.int) -> cython.int:
    """What must be done before loop ``k``, which is at ``p``; -1: nothing."""
    i: cython.int
    to: cython.int = net.l_after[k]
    if not _is_done(net, to, p):
        return to
    for i in range(-2, net.l_count[k]):
        to = net.l_rule[k] if i == -2 else net.l_sep[k] if i == -1 else net.i_rule[net.l_items[k] + i]
        if to >= 0:
            to = net.r_start[to]
            if not _is_done(net, to, p):
                return to
    return -1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_done(net: Network, to: cython.int, p: cython.int) -> cython.bint:
    """Whether nothing needs to be done at ``to`` before ``p`` is done; writes down that it is on the path."""
    if net.s_a[to] == 2 or net.s_a[to] == 3:
        net.s_a[p] = 3
        return True
    return net.s_a[to] == 1


@cython.cfunc
@cython.exceptval(check=False)
def _mark_span(net: Network, span: cython.int, state: cython.int) -> cython.void:
    p: cython.int
    for p in range(net.sp_base[span], net.sp_base[span] + net.sp_size[span]):
        net.s_a[p] = state


@cython.cfunc
@cython.exceptval(-1, check=False)
def _comes_out_smaller(net: Network, n_late: cython.int) -> cython.bint:
    """Look again at what was written down."""
    late: cython.p_int = net.s_d
    i: cython.int
    smaller: cython.bint = False
    for i in range(n_late):
        if _settle(net, late[i]) if late[i] >= 0 else _settle_span(net, -1 - late[i]):
            smaller = True
    return smaller


@cython.cfunc
@cython.exceptval(-1, check=False)
def _settle(net: Network, p: cython.int) -> cython.bint:
    """What ``p`` costs, by what is known; whether that is less than before."""
    minima: cython.p_longlong = net.p_min
    best: cython.longlong = minima[p]
    cost: cython.longlong
    e: cython.int = net.head[4 * p]
    while e >= 0:
        cost = _together(minima[net.e_to[e]], 1)
        if cost < best:
            best = cost
        e = net.e_next[e]
    e = net.head[4 * p + 1]
    while e >= 0:
        cost = minima[net.e_to[e]]
        if cost < best:
            best = cost
        e = net.e_next[e]
    e = net.head[4 * p + 2]
    while e >= 0:
        cost = _together(minima[net.e_to[e]], minima[net.r_start[net.e_a[e]]])
        if cost < best:
            best = cost
        e = net.e_next[e]
    e = net.head[4 * p + 3]
    while e >= 0:
        if net.token_sets[net.e_a[e]]:
            cost = _together(minima[net.e_to[e]], TOKEN_COST)
            if cost < best:
                best = cost
        e = net.e_next[e]
    if net.loop_at[p] >= 0:
        cost = _cost_of_loop(net, net.loop_at[p])
        if cost < best:
            best = cost
    if best < minima[p]:
        minima[p] = best
        return True
    return False


@cython.cfunc
@cython.exceptval(-1, check=False)
def _settle_span(net: Network, span: cython.int) -> cython.bint:
    """``_settle`` for the positions of a span. What has no edges is never reached, and left alone."""
    minima: cython.p_longlong = net.p_min
    cost: cython.longlong = minima[net.sp_end[span]]
    base: cython.int = net.sp_base[span]
    rest: cython.int
    block: Block
    annex: Annex
    away: cython.p_int
    counts: cython.p_int = cython.NULL if cython.compiled else None
    i: cython.int
    smaller: cython.bint = False
    if cost >= FAR:
        return False
    if net.sp_top[span] == -2:
        annex = net.blocks[span]
        rest = annex.measure()
        if rest >= NO_END or _together(cost, rest) >= minima[base]:
            return False
        minima[base] = _together(cost, rest)
        return True
    block = net.blocks[span]
    away = block.away
    if net.sp_top[span] >= 0:
        counts = grow_int(counts, net.sp_size[span])
        if not counts:
            raise MemoryError
        measure_counted(block, net.sp_boundary[span], net.sp_least[span], net.sp_top[span], counts)
        away = counts
    for i in range(net.sp_size[span]):
        if away[i] < NO_END and _together(cost, away[i]) < minima[base + i] and (
                net.head[4 * (base + i)] >= 0 or net.head[4 * (base + i) + 1] >= 0):
            minima[base + i] = _together(cost, away[i])
            smaller = True
    drop_int(counts)
    return smaller


@cython.cfunc
@cython.exceptval(-2, check=False)
def _cost_of_loop(net: Network, k: cython.int) -> cython.longlong:
    """What a loop costs with what follows it."""
    minima: cython.p_longlong = net.p_min
    rest: cython.longlong = minima[net.l_after[k]]
    rule: cython.int = net.l_rule[k]
    if rest >= FAR or rule == -3:  # a guard: as if it were not there
        return rest
    if rule >= 0:
        return _together(rest, _times(minima[net.r_start[rule]], net.l_min[k]))
    return _together(rest, _cost_of_items(net, k))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _times(cost: cython.longlong, count: cython.longlong) -> cython.longlong:
    """``cost`` so many times. What cannot be written cannot be written no time, either."""
    if cost <= 0 or cost >= FAR:
        return cost
    return cost * count if count <= (FAR - 1) // cost else FAR - 1


@cython.cfunc
@cython.exceptval(-2, check=False)
def _cost_of_items(net: Network, k: cython.int) -> cython.longlong:
    """What a set loop's shortest text costs: what is required, and as many of the cheapest others as are wanting."""
    minima: cython.p_longlong = net.p_min
    total: cython.longlong = 0
    cost: cython.longlong
    i: cython.int
    last: cython.int = net.l_items[k] + net.l_count[k]
    written: cython.int = 0
    wanting: cython.int
    for i in range(net.l_items[k], last):
        if net.i_required[i]:
            total = _together(total, minima[net.r_start[net.i_rule[i]]])
            written += 1
    wanting = net.l_min[k] - written
    if wanting > 0 and total < FAR:
        written += wanting
        others: list = []
        for i in range(net.l_items[k], last):
            if not net.i_required[i]:
                others.append((minima[net.r_start[net.i_rule[i]]], i))
        others.sort()
        for cost, i in others:
            if net.l_rule[k] == -2 and i == last - 1:
                total = _together(total, _times(cost, wanting))  # the free one, any number of times
                wanting = 0
            else:
                total = _together(total, cost)
                wanting -= 1
            if wanting == 0:
                break
        if wanting > 0:
            return FAR
    if written > 1 and net.l_how[k] & 1 == 0:
        total = _together(total, _times(minima[net.r_start[net.l_sep[k]]], written - 1))
    return total
