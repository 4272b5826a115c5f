# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Set loops: each item at most once, in any order.

The count of a set loop's element is the id of a register (``kernel.registers``): how many things are written, and one
bit for each item that is. CHOOSING is added while the separator is written already and an item must follow, so that it
is read once for all items. How a loop is entered: ``kernel.set_entry``.

Where the items come in their order a register has, instead of the bits, the first item that may come next: those before
it are written or passed over. Two more arrays say what may be passed over. For loop ``l`` they begin at
``l_items[l] + l`` and have an entry more than it has items; those of other loops are not set:

    i_stop     the first required item from here on, or the number of items
    i_left     how many things can still be written from here on

Cost: linear in the items; in their order, in those that may come next.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.memory import grow_int, out_of_memory
    from cython.cimports.constrained.kernel.position_sets import (
        BARE,
        CHOOSING,
        FAR,
        FAR_COUNT,
        FAR_ENOUGH,
        IN_ORDER,
        REGISTER,
    )
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.hashing import bit
    from constrained.kernel.memory import grow_int, out_of_memory
    from constrained.kernel.position_sets import BARE, CHOOSING, FAR, FAR_COUNT, FAR_ENOUGH, IN_ORDER, REGISTER

NO_END = cython.declare(cython.int, 1 << 29)


@cython.cfunc
@cython.exceptval(-1, check=False)
def load_orders(a: Stacks) -> cython.int:
    """Once the program is loaded: fill ``i_stop`` and ``i_left``."""
    loop: cython.int
    i: cython.int
    lo: cython.int
    n: cython.int
    for loop in range(a.n_loops):
        if (a.l_rule[loop] == -1 or a.l_rule[loop] == -2) and a.l_how[loop] & IN_ORDER:
            break
    else:
        return 0
    n = a.l_items[a.n_loops] + a.n_loops
    a.i_stop = grow_int(a.i_stop, n + 1)
    a.i_left = grow_int(a.i_left, n + 1)
    if not (a.i_stop and a.i_left):
        out_of_memory()
    for loop in range(a.n_loops):
        lo = a.l_items[loop]
        n = a.l_items[loop + 1] - lo
        a.i_stop[lo + loop + n] = n
        a.i_left[lo + loop + n] = 0
        for i in range(n - 1, -1, -1):
            a.i_stop[lo + loop + i] = i if a.i_required[lo + i] else a.i_stop[lo + loop + i + 1]
            a.i_left[lo + loop + i] = a.i_left[lo + loop + i + 1]
            if a.i_rule[lo + i] >= 0:
                a.i_left[lo + loop + i] += NO_END if a.l_rule[loop] == -2 and i == n - 1 else 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def next_item(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """The first item that may come after register ``c``; 0 where the order is free."""
    if c == 0 or not a.l_how[loop] & IN_ORDER:
        return 0
    return a.registers.pool[a.registers.offsets[c - 1] + 1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def last_next_item(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """Behind the last item that may come after register ``c``."""
    n: cython.int = a.l_items[loop + 1] - a.l_items[loop]
    if not a.l_how[loop] & IN_ORDER:
        return n
    return min(n, a.i_stop[a.l_items[loop] + loop + next_item(a, loop, c)] + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_written(a: Stacks, loop: cython.int, c: cython.int, i: cython.int) -> cython.bint:
    """Whether register ``c`` has item ``i``, or has passed over it."""
    if c == 0:
        return False
    if a.l_how[loop] & IN_ORDER:
        return i < next_item(a, loop, c)
    return (a.registers.pool[a.registers.offsets[c - 1] + 1 + (i >> 5)] >> (i & 31)) & 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def has_all(a: Stacks, loop: cython.int, c: cython.int, other: cython.int) -> cython.bint:
    """Whether register ``c`` has every item that register ``other`` has, which may be -1: no such register."""
    i: cython.int
    here: cython.int
    there: cython.int
    if other <= 0 or c == 0:
        return other == 0
    if c == other:
        return True
    if a.l_how[loop] & IN_ORDER:
        return next_item(a, loop, c) >= next_item(a, loop, other)
    here = a.registers.offsets[c - 1]
    there = a.registers.offsets[other - 1]
    for i in range(1, a.registers.lengths[c - 1]):
        if a.registers.pool[there + i] & ~a.registers.pool[here + i]:
            return False
    return True


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
        if a.i_required[i] and not is_written(a, loop, c, i - lo):
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
    after: cython.int
    if a.i_rule[lo + i] < 0 or (c != 0 and a.l_sep[loop] < 0 and not a.l_how[loop] & BARE):
        return False
    if a.l_how[loop] & IN_ORDER:
        after = next_item(a, loop, c)
        if i < after or i > a.i_stop[lo + loop + after]:
            return False
        if count < FAR_COUNT and a.l_min[loop] - count - 1 > a.i_left[lo + loop + (i if free else i + 1)]:
            return False
    elif not free and is_written(a, loop, c, i):
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
    ordered: cython.bint = a.l_how[loop] & IN_ORDER != 0
    free: cython.bint = a.l_rule[loop] == -2 and i == n - 1
    words: cython.int = 2 if ordered else 1 + (n + 31) // 32
    j: cython.int
    most: cython.int = a.l_max[loop]
    a.need_buf(words)
    for j in range(words):
        a.buf[j] = 0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1] + j]
    if most >= 0 or a.buf[0] < a.l_min[loop] or a.buf[0] >= FAR_COUNT:
        a.buf[0] += 1
    if ordered:
        a.buf[1] = i if free else i + 1
    elif not free:
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
    for i in range(next_item(a, loop, c), last_next_item(a, loop, c)):
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
def cheapest_items(a: Stacks, loop: cython.int, c: cython.int, first: cython.int, need: cython.int,
                   dearest: cython.p_longlong, place: cython.int) -> cython.longlong:
    """Fewest bytes of ``need`` optional items, from item ``first`` on, that register ``c`` lacks (the free one fills
    any number of places).

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
        if a.i_rule[i] < 0 or a.i_required[i] or i - lo < first or is_written(a, loop, c, i - lo):
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
    if not a.l_how[loop] & BARE:
        gap = FAR if a.l_sep[loop] < 0 else a.r_min[a.l_sep[loop]]
    if a.l_required[loop] > 0:
        for i in range(lo, hi):
            if a.i_required[i] and not is_written(a, loop, c, i - lo):
                if a.i_rule[i] < 0:
                    return FAR
                total += a.r_min[a.i_rule[i]]
                chosen += 1
    need = a.l_min[loop] - count - chosen
    if need < 1 and chosen == 0:
        need = 1
    if need > 0:
        cost = cheapest_items(a, loop, c, 0, need, dearest, 0)
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
