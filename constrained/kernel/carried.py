# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A place carried over into a new epoch: by what it is, not by the text that led to it.

A node is its stacks, and positions, loops and pending ids are the program's, so a list of ints says all. Then a new
epoch costs a text what its present stacks are, however long it is.

Data, a list of ints
    number of registers, then three ints each as ``Places`` keeps bases; then for each node, tails first: its number of
    elements, and for each of them the tail (how manieth node, -1: none), how many positions and which, and the count:
    one int, or for a set loop the number of words of its register (-1: 0), its marks (CHOOSING, OPEN), the words.

The positions of an automaton with a source go with their epoch: a node with one is not carried. Cost: 0.1 us an int.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import sort_ints
    from cython.cimports.constrained.kernel.position_sets import BUDGET, GUARD, REGISTER
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.hashing import sort_ints
    from constrained.kernel.position_sets import BUDGET, GUARD, REGISTER
    from constrained.kernel.stacks import Stacks


@cython.cfunc
@cython.exceptval(-1, check=False)
def pack(a: Stacks, node: cython.int, out: list) -> cython.bint:
    """Append ``node`` to ``out``; False if it cannot be carried."""
    i: cython.int
    j: cython.int
    d: cython.int
    n: cython.int
    p: cython.int
    nodes: list = [node]
    met: set = {node}
    for n in nodes:  # grows
        for i in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
            p = a.el_n[i]
            if p != 0 and p not in met:
                met.add(p)
                nodes.append(p)
    nodes.sort()  # tails are older than what stands on them
    number = {n: i for i, n in enumerate(nodes)}
    for n in nodes:
        out.append(a.n_len[n])
        for i in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
            d = a.el_d[i]
            out.append(number.get(a.el_n[i], -1))
            out.append(a.d_len[d])
            for j in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
                p = a.number_of(a.d_pool[j])
                if p < 0:
                    return False
                out.append(p)
            _pack_count(a, d, a.el_c[i], out)
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def _pack_count(a: Stacks, d: cython.int, c: cython.int, out: list) -> cython.int:
    i: cython.int
    if not _has_register(a, d):
        out.append(c)
        return 0
    marks: cython.int = c & ~REGISTER
    c &= REGISTER
    out.append(-1 if c == 0 else a.registers.lengths[c - 1])
    out.append(marks)
    if c != 0:
        for i in range(a.registers.lengths[c - 1]):
            out.append(a.registers.pool[a.registers.offsets[c - 1] + i])
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _has_register(a: Stacks, d: cython.int) -> cython.bint:
    loop: cython.int = a.d_loop[d]
    return loop >= 0 and a.l_rule[loop] < 0 and a.l_rule[loop] != GUARD and a.l_rule[loop] != BUDGET


@cython.cfunc
@cython.exceptval(-1, check=False)
def unpack(a: Stacks, data: list, at: cython.Py_ssize_t) -> cython.int:
    """The node that ``data`` has from ``at`` on."""
    i: cython.int
    k: cython.int
    base: cython.int
    tail: cython.int
    d: cython.int
    c: cython.int
    node: cython.int = 0
    size: cython.Py_ssize_t = len(data)
    nodes: list = []
    while at < size:
        k = data[at]
        at += 1
        base = a.it_len
        for _ in range(k):
            tail = data[at]
            tail = 0 if tail < 0 else nodes[tail]
            c = data[at + 1]
            at += 2
            a.need_buf(c)
            for i in range(c):
                a.buf[i] = a.position_of(data[at + i])
            sort_ints(a.buf, 0, c)
            at += c
            d = a.intern_det(c)
            c = data[at]
            at += 1
            if _has_register(a, d):
                i = c
                c = data[at]
                at += 1
                if i >= 0:
                    c += _register(a, data, at, i)
                    at += i
            a.add_item(d, c, tail)
        node = a.canonical(base)
        nodes.append(node)
    return node


@cython.cfunc
@cython.exceptval(-1, check=False)
def _register(a: Stacks, data: list, at: cython.Py_ssize_t, n: cython.int) -> cython.int:
    i: cython.int
    a.need_buf(n)
    for i in range(n):
        a.buf[i] = data[at + i]
    return a.registers.intern(a.buf, n)
