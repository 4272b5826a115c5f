# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What is cut out of a network: bytes that no token can spell, and edges into what cannot be completed.

Once the edges into dead ends are gone, every reachable state can be completed (``kernel.completable`` finds out).
Cost: 3 ns an edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.network import Network
else:
    from constrained.kernel.network import Network


def drop_bytes(net: Network, unspellable) -> None:
    """Cut the bytes of ``unspellable`` out of every edge."""
    bad: list = [byte in unspellable for byte in range(256)]
    p: cython.int
    q: cython.int
    e: cython.int
    b: cython.int
    lo: cython.int
    hit: cython.bint
    before: cython.p_int
    net.sound = False
    net._scratch()
    before = net.s_a  # how many bad bytes are below each
    before[0] = 0
    for b in range(256):
        before[b + 1] = before[b] + (1 if bad[b] else 0)
    for p in range(net.n):
        hit = False
        e = net.head[4 * p]
        while e >= 0:
            if before[net.e_b[e] + 1] != before[net.e_a[e]]:
                hit = True
            e = net.e_next[e]
        if not hit:
            continue
        net.forget_spans()
        e = net.head[4 * p]
        net.head[4 * p] = -1
        net.tail[4 * p] = -1
        while e >= 0:
            q = net.e_next[e]
            lo = net.e_a[e]
            for b in range(net.e_a[e], net.e_b[e] + 2):
                if b > net.e_b[e] or bad[b]:
                    if lo < b:
                        net.add_edge(p, 0, lo, b - 1, net.e_to[e])
                    lo = b + 1
            e = q


@cython.ccall
@cython.exceptval(-1, check=False)
def is_possible(net: Network) -> cython.bint:
    """Whether any text fits."""
    return not net.has_dead or not net.p_dead[net.root]


@cython.ccall
@cython.exceptval(-1, check=False)
def drop_dead(net: Network) -> cython.int:
    """Remove every edge into what cannot be completed: afterwards no reachable state is a dead end."""
    p: cython.int
    e: cython.int
    k: cython.int
    if not net.has_dead:
        return 0
    for p in range(net.n):
        if net.p_dead[p]:
            net.loop_at[p] = -1
        for k in range(4):
            e = net.head[4 * p + k]
            while e >= 0:
                if _is_dead(net, p, e, k):
                    _drop_dead_of(net, 4 * p + k)
                    break
                e = net.e_next[e]
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_dead(net: Network, p: cython.int, e: cython.int, k: cython.int) -> cython.bint:
    """Whether nothing can be completed that goes from ``p`` along ``e``, an edge of list ``k``."""
    if net.p_dead[p] or net.p_dead[net.e_to[e]]:
        return True
    if k == 2:
        return net.r_dead[net.e_a[e]] != 0
    return k == 3 and not net.token_sets[net.e_a[e]]


@cython.cfunc
@cython.exceptval(-1, check=False)
def _drop_dead_of(net: Network, at: cython.int) -> cython.int:
    """Keep what is not dead of the list ``at``, that is ``4 p + kind``."""
    e: cython.int = net.head[at]
    after: cython.int
    net.head[at] = -1
    net.tail[at] = -1
    while e >= 0:
        after = net.e_next[e]
        if not _is_dead(net, at >> 2, e, at & 3):
            net.e_next[e] = -1
            if net.head[at] < 0:
                net.head[at] = e
            else:
                net.e_next[net.tail[at]] = e
            net.tail[at] = e
        e = after
    return 0
