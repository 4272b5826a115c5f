# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Set loops of many items: one thread reads them all until the text tells which one it is.

Idea
    An item's rule returns to "this one is written too", so that 5,000 items are 5,000 returns, registers and threads.
    But most items begin with a text of their own, a key. Up to its end an element is (set of positions of any items,
    *open* tail): the tail is the loop's element as it was before the item, with OPEN added to its count. What bytes do
    with such a set is known whatever was written before. Where a position does more than read bytes (it calls, loops,
    ends, stands in a region), its item is *told*: the register and the return are made there, for this item alone.

    The sets also hold positions of items that are written already. An element lives while one of its items may still be
    written, and no other is told, so there are no dead ends.

Data
    p_item     of a position that only reads bytes, and belongs to one item rule r that is read like that: r + 1; of one
               behind such: -(r + 1), it tells; 0 of all others
    l_open     for each loop: how many of its items are read like that, 0 where too few are
    i_open     whether item i is one of them
    l_open_det the set of their beginnings, -1 while unknown
    i_hint     of large sets, two ints: the position at which a look found an item that may be written, where the next
               look begins, and a register that has all of the set's items (-1: none is known), as those behind it will

Tails may be open in one element and not in another (a rule may be called from elsewhere): what is done is done to each.

``memo`` kinds: 18 the open part of a det, and (det, 2 + 2 loop + 1 if telling): its hint; 19 (loop, rule): the item,
and (loop, -1 - register): how many required items it lacks; 20 the open elements of a node, or the others.

How such a loop is entered: ``kernel.set_entry``. Cost: a byte costs what it costs any det, and a look at the items
behind it up to the first that may be written (5 ns each), which mostly is the one that the last look found.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.position_sets import BARE, FAR, IN_ORDER, OPEN, REGISTER
    from cython.cimports.constrained.kernel.set_loops import (
        cheapest_items,
        has_all,
        is_written,
        may_write,
        set_return,
        unwritten,
        with_item,
    )
    from cython.cimports.constrained.kernel.stacks import Stacks
else:
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from constrained.kernel.position_sets import BARE, FAR, IN_ORDER, OPEN, REGISTER
    from constrained.kernel.set_loops import (
        cheapest_items,
        has_all,
        is_written,
        may_write,
        set_return,
        unwritten,
        with_item,
    )

MANY_ITEMS = cython.declare(cython.int, 64)
MANY_POSITIONS = cython.declare(cython.int, 12)


# ---- which items -----------------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(-1, check=False)
def load_choices(a: Stacks) -> cython.int:
    """Once the program is loaded: find the items that are read together."""
    i: cython.int
    loop: cython.int
    a.choices = False
    if a.n_loops >= a.open_cap:
        a.open_cap = a.n_loops + 8
        a.l_open = grow_int(a.l_open, a.open_cap)
        a.l_open_det = grow_int(a.l_open_det, a.open_cap)
        if not (a.l_open and a.l_open_det):
            out_of_memory()
    for loop in range(a.n_loops):
        a.l_open[loop] = 0
        a.l_open_det[loop] = -1
        if (a.l_rule[loop] == -1 or a.l_rule[loop] == -2) and (
                a.l_items[loop + 1] - a.l_items[loop] >= MANY_ITEMS and a.guard_loop < 0 and not a.budgets):
            a.l_open[loop] = 1
            a.choices = True
    if not a.choices:
        return 0
    a.choices = False
    a.p_item = grow_int(a.p_item, a.n_fixed + 1)
    a.i_open = grow_int(a.i_open, a.l_items[a.n_loops] + 1)
    seen: cython.p_int = cython.NULL if cython.compiled else None
    seen = grow_int(seen, a.n_rules + 1)
    if not (a.p_item and a.i_open and seen):
        out_of_memory()
    for i in range(a.n_fixed):
        a.p_item[i] = 0
    for i in range(a.n_rules):
        seen[i] = 0
    a.need_buf(64)
    for loop in range(a.n_loops):
        if a.l_open[loop] != 0:
            for i in range(a.l_items[loop], _last_item(a, loop)):
                if a.i_rule[i] >= 0 and seen[a.i_rule[i]] == 0:
                    seen[a.i_rule[i]] = 1
                    _explore(a, a.i_rule[i], seen)
    for loop in range(a.n_loops):
        if a.l_open[loop] != 0:
            a.l_open[loop] = _open_items(a, loop, seen)
            if a.l_open[loop] != 0:
                a.choices = True
    drop_int(seen)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _last_item(a: Stacks, loop: cython.int) -> cython.int:
    """The end of the items that are written once."""
    return a.l_items[loop + 1] - (1 if a.l_rule[loop] == -2 else 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _only_reads(a: Stacks, p: cython.int) -> cython.bint:
    """Whether position ``p`` reads bytes, in no region, or goes on without, and does nothing else."""
    at: cython.int = a.p_off[4 * p]
    if a.p_accept[p] or a.p_loop[p] >= 0 or a.p_region[p] != 0 or a.p_off[4 * p + 2] != a.p_off[4 * p + 4]:
        return False
    return at == a.p_off[4 * p + 1] or a.e_to[at] >= 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _explore(a: Stacks, rule: cython.int, seen: cython.p_int) -> cython.int:
    """Set ``p_item`` of the positions of ``rule``. Where another rule has one of them, ``seen`` of both becomes -1."""
    i: cython.int = 0
    j: cython.int
    p: cython.int
    q: cython.int
    other: cython.int
    count: cython.int = 1
    a.buf[0] = a.start_of(rule)
    _mark(a, rule, a.buf[0], seen)
    while i < count:
        p = a.buf[i]
        i += 1
        # what tells its item is not read any further, but what is reached without a byte stands beside it
        for j in range(a.p_off[4 * p + (1 if a.p_item[p] < 0 else 0)], a.p_off[4 * p + 2]):
            q = a.e_to[j]
            other = abs(a.p_item[q])
            if other != rule + 1:
                a.enter(q)
                _mark(a, rule, q, seen)
                if other == 0:
                    a.need_buf(count + 1)
                    a.buf[count] = q
                    count += 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark(a: Stacks, rule: cython.int, p: cython.int, seen: cython.p_int) -> cython.void:
    if a.p_item[p] == 0:
        a.p_item[p] = rule + 1 if _only_reads(a, p) else -rule - 1
    else:
        seen[rule] = -1
        seen[abs(a.p_item[p]) - 1] = -1


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _open_items(a: Stacks, loop: cython.int, seen: cython.p_int) -> cython.int:
    """Set ``i_open`` of the items of ``loop``; returns how many are open, 0 where they are too few."""
    i: cython.int
    j: cython.int
    n: cython.int
    rule: cython.int
    count: cython.int = 0
    for i in range(a.l_items[loop], a.l_items[loop + 1]):
        a.i_open[i] = 0
    for i in range(a.l_items[loop], _last_item(a, loop)):
        rule = a.i_rule[i]
        if rule < 0 or seen[rule] < 0:
            continue
        if seen[rule] == 2 + loop:
            return 0  # a rule stands for two items
        seen[rule] = 2 + loop
        a.buf[0] = a.start_of(rule)
        n = a.closure(1)
        j = 0
        while j < n and a.p_item[a.buf[j]] == rule + 1:
            j += 1
        if j == n and n > 0:
            a.i_open[i] = 1
            count += 1
    return count if count >= MANY_ITEMS else 0


# ---- elements --------------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_open_element(a: Stacks, e: cython.int) -> cython.bint:
    loop: cython.int = a.d_loop[a.el_d[e]]
    return loop >= 0 and a.l_open[loop] != 0 and (a.el_c[e] & OPEN) != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_open(a: Stacks, n: cython.int) -> cython.bint:
    """Whether the node is an open tail, or has one in it. Asked only where ``choices`` is set."""
    e: cython.int
    for e in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
        if a.el_c[e] & OPEN and _is_open_element(a, e):
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def part_of(a: Stacks, n: cython.int, wanted: cython.bint) -> cython.int:
    """The node of the open elements of node ``n``, or of the others."""
    e: cython.int
    base: cython.int
    r: cython.int = a.memo.get(20, n, wanted)
    if r == -2:
        base = a.it_len
        for e in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
            if _is_open_element(a, e) == wanted:
                a.add_item(a.el_d[e], a.el_c[e], a.el_n[e])
        r = a.canonical(base)
        a.memo.put(20, n, wanted, r)
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def open_part(a: Stacks, d: cython.int) -> cython.int:
    """The positions of det ``d`` that only read."""
    i: cython.int
    n: cython.int = 0
    r: cython.int = a.memo.get(18, d, 0)
    if r == -2:
        a.need_buf(a.d_len[d])
        for i in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
            if a.p_item[a.d_pool[i]] > 0:
                a.buf[n] = a.d_pool[i]
                n += 1
        r = a.intern_det(n)
        a.memo.put(18, d, 0, r)
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _lacking(a: Stacks, loop: cython.int, c: cython.int) -> cython.int:
    """How many required items register ``c`` lacks."""
    n: cython.int
    if a.l_required[loop] == 0:
        return 0
    n = a.memo.get(19, loop, -1 - c)
    if n == -2:
        n = unwritten(a, loop, c)
        a.memo.put(19, loop, -1 - c, n)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _item(a: Stacks, loop: cython.int, rule: cython.int) -> cython.int:
    """Which open item of ``loop`` has ``rule``; -2: none."""
    if a.l_open_det[loop] < 0:  # the epoch has not met the loop yet
        open_det(a, loop)
    return a.memo.get(19, loop, rule)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def lives_open(a: Stacks, d: cython.int, n: cython.int, telling: cython.bint) -> cython.bint:
    """Whether an item of det ``d`` may be written over the open tail ``n``; ``telling``: one that is told here."""
    e: cython.int
    for e in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
        if _lives_in(a, d, a.d_loop[a.el_d[e]], a.el_c[e] & REGISTER, telling):
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _lives_in(a: Stacks, d: cython.int, loop: cython.int, c: cython.int, telling: cython.bint) -> cython.bint:
    """The same in one loop with register ``c``."""
    i: cython.int
    j: cython.int
    k: cython.int
    p: cython.int
    at: cython.int = -1
    size: cython.int = a.d_len[d]
    lacking: cython.int = _lacking(a, loop, c)
    gone: cython.bint = True
    j = 0
    if size >= MANY_POSITIONS:
        at = _hint(a, d, 2 * loop + telling)
        j = a.i_hint[at]
        if has_all(a, loop, c, a.i_hint[at + 1]):
            return False
    for k in range(size):
        p = a.p_item[a.d_pool[a.d_off[d] + j]]
        if (p < 0) == telling:
            i = _item(a, loop, abs(p) - 1)
            if i >= 0:
                if may_write(a, loop, c, i, lacking):
                    if at >= 0:
                        a.i_hint[at] = j
                    return True
                if gone and a.i_rule[a.l_items[loop] + i] >= 0 and not is_written(a, loop, c, i):
                    gone = False
        j += 1
        if j == size:
            j = 0
    if at >= 0 and gone:
        a.i_hint[at + 1] = c
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _hint(a: Stacks, d: cython.int, which: cython.int) -> cython.int:
    """Where ``i_hint`` has what is known of det ``d`` in a loop."""
    at: cython.int = a.memo.get(18, d, 2 + which)
    if at < 0:
        at = a.n_hints
        if at + 2 > a.hint_cap:
            a.hint_cap = 2 * at + 64
            a.i_hint = grow_int(a.i_hint, a.hint_cap)
            if not a.i_hint:
                out_of_memory()
        a.i_hint[at] = 0
        a.i_hint[at + 1] = -1
        a.n_hints = at + 2
        a.memo.put(18, d, 2 + which, at)
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def add_open(a: Stacks, d: cython.int, n: cython.int) -> cython.int:
    """Append what det ``d`` over a node with open tails stands for; see ``Stacks.add_pair``, which calls this."""
    k: cython.int = part_of(a, n, False)
    if k != 0:
        a.add_pair(d, k)  # calls itself once: no tail of these is open
        n = part_of(a, n, True)
    k = open_part(a, d)
    if k != 0 and lives_open(a, k, n, False):
        a.add_item(k, 0, n)
    if k != d:
        add_told(a, d, n)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def add_told(a: Stacks, d: cython.int, n: cython.int) -> cython.int:
    """Append what comes of the positions of ``d`` that tell their item, over the open tail ``n``."""
    e: cython.int
    i: cython.int
    j: cython.int
    c: cython.int
    p: cython.int
    loop: cython.int
    below: cython.int
    lacking: cython.int
    for j in range(a.d_len[d]):
        p = a.d_pool[a.d_off[d] + j]
        if a.p_item[p] >= 0:
            continue
        for e in range(a.n_len[n]):
            loop = a.d_loop[a.el_d[a.n_off[n] + e]]
            c = a.el_c[a.n_off[n] + e] & REGISTER
            below = a.el_n[a.n_off[n] + e]
            i = _item(a, loop, -a.p_item[p] - 1)
            lacking = _lacking(a, loop, c)
            if i < 0 or not may_write(a, loop, c, i, lacking):
                continue
            c = with_item(a, loop, c, i)
            i = set_return(a, loop, c, below, lacking - (1 if a.i_required[a.l_items[loop] + i] else 0))
            if i != 0:
                a.buf[0] = p
                c = a.intern_det(1)
                a.add_pair(c, i)  # calls itself once: the return is not open
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def open_det(a: Stacks, loop: cython.int) -> cython.int:
    """The det at the beginnings of all open items of ``loop``."""
    i: cython.int
    n: cython.int = 0
    lo: cython.int = a.l_items[loop]
    if a.l_open_det[loop] < 0:
        a.need_buf(a.l_open[loop])
        for i in range(lo, a.l_items[loop + 1]):
            if a.i_open[i]:
                a.memo.put(19, loop, a.i_rule[i], i - lo)
                a.buf[n] = a.start_of(a.i_rule[i])
                n += 1
        n = a.closure(n)
        a.l_open_det[loop] = a.intern_det(n)
    return a.l_open_det[loop]


# ---- distance --------------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def open_minimum(a: Stacks, d: cython.int, n: cython.int) -> cython.longlong:
    """Fewest bytes from det ``d`` over the open tail ``n`` to the end of the text."""
    e: cython.int
    least: cython.longlong = FAR
    found: cython.longlong
    for e in range(a.n_off[n], a.n_off[n] + a.n_len[n]):
        found = _element_minimum(a, d, a.d_loop[a.el_d[e]], a.el_c[e] & REGISTER)
        if a.el_n[e] != 0:
            found += a.n_min[a.el_n[e]]
        if found < least:
            least = found
    return least


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _element_minimum(a: Stacks, d: cython.int, loop: cython.int, c: cython.int) -> cython.longlong:
    """The same up to the end of the loop's rule: the item that is written, and what the loop needs behind it."""
    lo: cython.int = a.l_items[loop]
    hi: cython.int = a.l_items[loop + 1]
    i: cython.int
    j: cython.int
    p: cython.int
    need: cython.int
    required: cython.int = 0
    lacking: cython.int = _lacking(a, loop, c)
    gap: cython.longlong = 0
    all_required: cython.longlong = 0
    total: cython.longlong
    least: cython.longlong = FAR
    costs = cython.declare(cython.longlong[2])
    dearest = cython.declare(cython.longlong[2])
    if not a.l_how[loop] & BARE:
        gap = FAR if a.l_sep[loop] < 0 else a.r_min[a.l_sep[loop]]
    for i in range(lo, hi):
        if lacking > 0 and a.i_required[i] and not is_written(a, loop, c, i - lo):
            if a.i_rule[i] < 0:
                return FAR
            all_required += a.r_min[a.i_rule[i]]
    # optional ones that have to follow: ``need`` if the item is required, one fewer if it is optional itself
    need = a.l_min[loop] - (0 if c == 0 else a.registers.pool[a.registers.offsets[c - 1]]) - lacking
    if need < 0:
        need = 0
    for i in range(2):
        costs[i] = cheapest_items(a, loop, c, 0, need - 1 + i, dearest, i)
    for j in range(a.d_off[d], a.d_off[d] + a.d_len[d]):
        p = a.d_pool[j]
        i = _item(a, loop, abs(a.p_item[p]) - 1)
        if i < 0 or not may_write(a, loop, c, i, lacking):
            continue
        i += lo
        if need > 0 and a.l_how[loop] & IN_ORDER:
            required = lacking + need - 1
            total = all_required
            after: cython.int = i - lo if a.l_rule[loop] == -2 and i == hi - 1 else i - lo + 1
            if a.i_required[i]:
                total += cheapest_items(a, loop, c, after, need, dearest, 1) - a.r_min[a.i_rule[i]]
            else:
                total += cheapest_items(a, loop, c, after, need - 1, dearest, 1)
        elif a.i_required[i]:
            required = lacking - 1 + need
            total = all_required - a.r_min[a.i_rule[i]] + costs[1]
        elif need == 0:
            required = lacking
            total = all_required
        else:
            required = lacking + need - 1
            total = costs[0]
            if a.r_min[a.i_rule[i]] <= dearest[0]:  # it is one of those, or as cheap as the dearest of them
                total = costs[1] - a.r_min[a.i_rule[i]] if costs[1] < FAR else FAR
            total += all_required
        if required > 0:
            total += gap * required if gap < FAR // required else FAR
        total += a.p_min[p] + a.p_min[a.l_next[loop]]
        if total < least:
            least = total
    return least
