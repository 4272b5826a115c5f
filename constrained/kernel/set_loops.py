# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Set loops: each item at most once, in any order.

The count of a set loop's element is the id of a register (``kernel.registers``): how many things are written, and one
bit for each item that is. CHOOSING is added while the separator is written already and an item must follow, so that it
is read once for all items. How a loop is entered: ``kernel.set_entry``.

Cost: linear in the items.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.position_sets import CHOOSING, FAR, FAR_COUNT, FAR_ENOUGH, REGISTER
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.hashing import bit
    from constrained.kernel.position_sets import CHOOSING, FAR, FAR_COUNT, FAR_ENOUGH, REGISTER


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_written(a: Stacks, c: cython.int, i: cython.int) -> cython.bint:
    """Whether register ``c`` has item ``i``."""
    if c == 0:
        return False
    return (a.registers.pool[a.registers.offsets[c - 1] + 1 + (i >> 5)] >> (i & 31)) & 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def unwritten(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """How many required items register ``c`` lacks."""
    lo: cython.int = a.l_items[loop]
    i: cython.int
    lacking: cython.int = 0
    if a.l_required[loop] == 0:
        return 0
    for i in range(lo, a.l_items[loop + 1]):
        if a.i_required[i] and not is_written(a, c, i - lo):
            lacking += 1
    return lacking


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def may_write(a: Stacks, loop: cython.int, c: cython.int, i: cython.int, lacking: cython.int) -> cython.bint:
    """Whether item ``i`` may come next and leaves room for what is required. ``lacking`` of ``c`` as above."""
    lo: cython.int = a.l_items[loop]
    count: cython.int = 0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1]]
    last: cython.int = a.l_max[loop]
    free: cython.bint = a.l_rule[loop] == -2 and lo + i == a.l_items[loop + 1] - 1
    if a.i_rule[lo + i] < 0 or (c != 0 and a.l_sep[loop] < 0 and not a.l_bare[loop]):
        return False
    if not free and is_written(a, c, i):
        return False
    if last < 0 or count >= FAR_COUNT:
        return True
    if a.i_required[lo + i]:
        lacking -= 1
    return count + 1 + lacking <= last


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def with_item(a: Stacks, loop: cython.int, c: cython.int, i: cython.int) -> cython.int:
    """Register ``c`` after item ``i`` is written."""
    lo: cython.int = a.l_items[loop]
    n: cython.int = a.l_items[loop + 1] - lo
    words: cython.int = 1 + (n + 31) // 32
    j: cython.int
    most: cython.int = a.l_max[loop]
    a.need_buf(words)
    for j in range(words):
        a.buf[j] = 0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1] + j]
    if most >= 0 or a.buf[0] < a.l_min[loop] or a.buf[0] >= FAR_COUNT:
        a.buf[0] += 1
    if not (a.l_rule[loop] == -2 and i == n - 1):
        a.buf[1 + (i >> 5)] = a.buf[1 + (i >> 5)] | bit(i & 31)
    return a.registers.intern(a.buf, words)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def set_return(a: Stacks, loop: cython.int, c: cython.int, n: cython.int, lacking: cython.int) -> cython.int:
    """The node after something was written: more, or on when what is required is there (``lacking``: is not)."""
    base: cython.int = a.it_len
    i: cython.int
    d: cython.int
    for i in range(a.l_items[loop + 1] - a.l_items[loop]):
        if may_write(a, loop, c, i, lacking):
            d = a.loop_det(loop)
            a.add_item(d, c, n)
            break
    i = a.registers.pool[a.registers.offsets[c - 1]]
    if lacking == 0 and i >= (FAR_ENOUGH if i >= FAR_COUNT else a.l_min[loop]):
        a.add_pair(a.next_det(loop), n)
    return a.canonical(base)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cheapest_items(a: Stacks, loop: cython.int, c: cython.int, need: cython.int, dearest: cython.p_longlong,
                   place: cython.int) -> cython.longlong:
    """Fewest bytes of ``need`` optional items that register ``c`` lacks (the free one fills any number of places).

    ``dearest[place]`` becomes the bytes of the dearest of them.
    """
    lo: cython.int = a.l_items[loop]
    hi: cython.int = a.l_items[loop + 1]
    i: cython.int
    j: cython.int
    same: cython.int
    cost: cython.longlong
    total: cython.longlong = 0
    dearest[place] = -1
    for j in range(lo, hi):
        if need <= 0:
            break
        i = a.i_cheap[j]
        if a.i_rule[i] < 0 or a.i_required[i] or is_written(a, c, i - lo):
            continue
        cost = a.r_min[a.i_rule[i]]
        if cost >= FAR:
            return FAR
        same = need if a.l_rule[loop] == -2 and i == hi - 1 else 1
        total += cost * same
        need -= same
        dearest[place] = cost
    return total if need <= 0 else FAR


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_minimum(a: Stacks, loop: cython.int, c: cython.int) -> cython.longlong:
    """Fewest bytes from "one more is written" to the rule's end: what is required, filled up with the cheapest."""
    lo: cython.int = a.l_items[loop]
    hi: cython.int = a.l_items[loop + 1]
    i: cython.int
    gap: cython.longlong = 0
    cost: cython.longlong
    total: cython.longlong = 0
    count: cython.int
    choosing: cython.bint = c >= CHOOSING
    chosen: cython.int = 0
    need: cython.int
    dearest = cython.declare(cython.longlong[1])
    c &= REGISTER
    count = 0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1]]
    if not a.l_bare[loop]:
        gap = FAR if a.l_sep[loop] < 0 else a.r_min[a.l_sep[loop]]
    if a.l_required[loop] > 0:
        for i in range(lo, hi):
            if a.i_required[i] and not is_written(a, c, i - lo):
                if a.i_rule[i] < 0:
                    return FAR
                total += a.r_min[a.i_rule[i]]
                chosen += 1
    need = a.l_min[loop] - count - chosen
    if need < 1 and chosen == 0:
        need = 1
    if need > 0:
        cost = cheapest_items(a, loop, c, need, dearest, 0)
        if cost >= FAR:
            return FAR
        total += cost
        chosen += need
    if count == 0 or choosing:
        chosen -= 1  # no separator before the first of them
    if chosen > 0:
        if gap > FAR // chosen:
            return FAR
        total += gap * chosen
    total += a.p_min[a.l_next[loop]]
    return total if total < FAR else FAR
