# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Counts that no token can bring near a bound, as they stand in elements.

Idea
    In round 5,000 of 100,000 a counted loop goes on or ends as it does in round 50. So such a count is not written in
    the element: a *far count* stands there, which says where the true one is kept (a register of the place,
    ``kernel.text_places``) and how many rounds were done since. Within one token a far count only grows, and bounds are
    not asked for: whoever ends a token looks whether one has come near (``Places.settle``).

Data
    far count    ``FAR_COUNT + kind * HIGH + (register << 13) + rounds since``. ``kind`` 0: fewer than are needed;
                 1: enough, and not yet all. It is the element's count in a counted loop; in a set loop with an item
                 for all other keys it is the number written of the element's register (``kernel.registers``).
    l_far        four ints for each loop: counts in ``[l_far[4 l], l_far[4 l + 1])`` may be far ones of kind 0, those
                 in ``[l_far[4 l + 2], l_far[4 l + 3])`` of kind 1.
    n_far        for each node the registers in it and in its tails, as bits, and ``MOVES``: some count there may
                 become a far one, or a far one has rounds to be added to its register.

Small counts stay as they are, so that short texts have no registers. Cost: a few ns an element of a new node, in
grammars with such loops only.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.memory import grow_int, out_of_memory, zero_ints
    from cython.cimports.constrained.kernel.position_sets import FAR_COUNT, REGISTER
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.hashing import bit
    from constrained.kernel.memory import grow_int, out_of_memory, zero_ints
    from constrained.kernel.position_sets import FAR_COUNT, REGISTER

HIGH = cython.declare(cython.int, 1 << 17)
REGISTERS = cython.declare(cython.int, 16)
SINCE = cython.declare(cython.int, 8191)
MOVES = cython.declare(cython.int, 1 << 30)
START = cython.declare(cython.int, 16)
SPREAD = cython.declare(cython.int, 1024)
LONGEST = cython.declare(cython.int, 4096)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def set_reach(a: Stacks, reach: cython.int) -> cython.int:
    """No token does ``reach`` rounds of a loop. Comes before any count is larger than 0."""
    loop: cython.int
    i: cython.int
    last: cython.int
    lacking: cython.int
    a.far = reach
    a.has_far = False
    for loop in range(a.n_loops):
        for i in range(4):
            a.l_far[4 * loop + i] = 0
        if reach >= LONGEST or not (a.l_rule[loop] >= 0 or a.l_rule[loop] == -2):
            continue
        if a.l_rule[loop] == -2 and a.i_rule[a.l_items[loop + 1] - 1] < 0:
            continue  # every item once at most: how many are left matters
        lacking = a.l_required[loop]
        last = a.l_max[loop]
        a.l_far[4 * loop] = START
        a.l_far[4 * loop + 1] = a.l_min[loop] - reach
        if 0 <= last and last - lacking < a.l_min[loop]:
            a.l_far[4 * loop + 1] = last - lacking - reach
        if last >= 0:
            a.l_far[4 * loop + 2] = max(a.l_min[loop], START)
            a.l_far[4 * loop + 3] = last - lacking - reach
        for i in range(0, 4, 2):
            if a.l_far[4 * loop + i] >= a.l_far[4 * loop + i + 1]:
                a.l_far[4 * loop + i] = 0
                a.l_far[4 * loop + i + 1] = 0
            else:
                a.has_far = True
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def make_ranges(a: Stacks) -> cython.int:
    """Room for ``l_far``; no count is a far one until ``set_reach``."""
    a.has_far = False
    if a.n_loops >= a.far_cap:
        a.far_cap = a.n_loops + 8
        a.l_far = grow_int(a.l_far, 4 * a.far_cap)
        if not a.l_far:
            out_of_memory()
    zero_ints(a.l_far, 0, 4 * a.n_loops)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def may_be_far(a: Stacks, loop: cython.int) -> cython.bint:
    """Whether the counts of ``loop``, which may be -1, are ever far ones."""
    return loop >= 0 and (a.l_far[4 * loop + 1] > 0 or a.l_far[4 * loop + 3] > 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_in(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """How many rounds an element's count ``c`` stands for; a far count stays one."""
    if a.l_rule[loop] >= 0:
        return c
    c &= REGISTER
    return 0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1]]


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def with_count(a: Stacks, loop: cython.int, c: cython.int, count: cython.int) -> cython.int:
    """The element's count like ``c`` that stands for ``count`` rounds."""
    i: cython.int
    n: cython.int
    off: cython.int
    marks: cython.int = c & ~REGISTER
    if a.l_rule[loop] >= 0:
        return count
    c &= REGISTER
    n = a.registers.lengths[c - 1]
    off = a.registers.offsets[c - 1]
    a.need_buf(n)
    a.buf[0] = count
    for i in range(1, n):
        a.buf[i] = a.registers.pool[off + i]
    return marks + a.registers.intern(a.buf, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def far_kind(a: Stacks, loop: cython.int, count: cython.int) -> cython.int:
    """Of which kind ``count`` would be as a far count: 0 or 1; -1 for none."""
    if a.l_far[4 * loop] <= count and count < a.l_far[4 * loop + 1]:
        return 0
    if a.l_far[4 * loop + 2] <= count and count < a.l_far[4 * loop + 3]:
        return 1
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def far_bits(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """What an element with count ``c`` adds to ``n_far``; its loop is one that may have far counts."""
    count: cython.int = count_in(a, loop, c)
    if count < FAR_COUNT:
        return MOVES if far_kind(a, loop, count) >= 0 else 0
    return bit((count >> 13) & (REGISTERS - 1)) | (MOVES if count & SINCE else 0)
