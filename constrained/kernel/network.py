# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Positions and edges of a grammar while it is being lowered, and the passes over them.

A *position* is a point of a rule. Its edges are four lists, each in the order in which they were added:

    list    a        b       to
    0       first    last    bytes first..last inclusive
    1                        epsilon
    2       rule             a call: the rule, then on to ``to``
    3       set              a token of a set

A position may instead stand for a *loop*: a counted one (``l_rule`` names its body), a set loop (-1, or -2 if its last
item is free to repeat) or a guard (-3; ``l_min`` is the index of what must not follow). Positions 0 to 2 have no edges:
0 is unused, 1 is END, 2 is HOLE. Or it is the door of an annex (``kernel.annexes``): its list 0 is empty for everybody,
and its ``head`` is ``-2 - span``.

``engine.build`` writes the rules, then ``engine.lowering`` calls the passes in order:

    drop_bytes       cut what no token can spell
    find_nullable    rules that have the empty text; each nullable call gets an epsilon beside it
    make_starts      a position without acceptance for each rule's beginning, and callers before callees
    drop_dead        remove every edge into what cannot be completed (``kernel.shortest`` has found out)

``kernel.partition`` finds byte classes, ``kernel.regions`` wide regions, ``kernel.rule_writer`` writes expressions and
``kernel.program`` is the result. All passes are worklists; nothing recurses.
Cost: 100-200 ns a position in all.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int

FAR = cython.declare(cython.longlong, 1 << 60)


class NetworkTooLarge(Exception):
    """More positions than ``most``."""


@cython.final
@cython.cclass
class Network:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.head)
            free(self.tail)
            free(self.origin)
            free(self.loop_at)
            free(self.accept)
            free(self.e_next)
            free(self.e_a)
            free(self.e_b)
            free(self.e_to)
            free(self.r_entry)
            free(self.r_exit)
            free(self.r_low)
            free(self.r_high)
            free(self.r_start)
            free(self.r_order)
            free(self.r_nullable)
            free(self.l_pos)
            free(self.l_rule)
            free(self.l_min)
            free(self.l_max)
            free(self.l_after)
            free(self.l_items)
            free(self.l_count)
            free(self.l_sep)
            free(self.l_bare)
            free(self.i_rule)
            free(self.i_required)
            free(self.s_a)
            free(self.s_b)
            free(self.s_c)
            free(self.s_d)
            free(self.s_e)
            free(self.s_f)
            free(self.p_min)
            free(self.r_min)
            free(self.p_region)
            free(self.l_region)
            free(self.sp_base)
            free(self.sp_size)
            free(self.sp_end)
            free(self.sp_top)
            free(self.sp_least)
            free(self.sp_boundary)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            self.byte_class = [0] * 256
            self.class_byte = [0] * 256
            return self

    def __init__(self, most: cython.int):
        """``most``: positions beyond which ``NetworkTooLarge`` is raised."""
        self.most = most
        self.rule_names = []
        self.token_sets = []
        self.guard_dfas = []
        self.guard_ends = []
        self.budgets = {}
        self.regions = [b""]
        self.blocks = []
        self.add_position(-1)
        self.add_position(-1)
        self.add_position(-1)

    # ---- making ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self, more: cython.int) -> cython.int:
        """Room for ``more`` positions."""
        if self.n + more > self.most:
            raise NetworkTooLarge
        if self.n + more > self.n_cap:
            self.n_cap = 2 * (self.n + more) + 64
            self.head = grow_int(self.head, 4 * self.n_cap)
            self.tail = grow_int(self.tail, 4 * self.n_cap)
            self.origin = grow_int(self.origin, self.n_cap)
            self.loop_at = grow_int(self.loop_at, self.n_cap)
            self.accept = grow_int(self.accept, self.n_cap)
            if not (self.head and self.tail and self.origin and self.loop_at and self.accept):
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _edge_room(self, more: cython.int) -> cython.int:
        """Room for ``more`` edges."""
        if self.e + more > self.e_cap:
            self.e_cap = 2 * (self.e + more) + 64
            self.e_next = grow_int(self.e_next, self.e_cap)
            self.e_a = grow_int(self.e_a, self.e_cap)
            self.e_b = grow_int(self.e_b, self.e_cap)
            self.e_to = grow_int(self.e_to, self.e_cap)
            if not (self.e_next and self.e_a and self.e_b and self.e_to):
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_position(self, origin: cython.int) -> cython.int:
        """A new position in the text of rule name ``origin``."""
        p: cython.int = self.n
        i: cython.int
        if p >= self.n_cap or p >= self.most:
            self._room(1)
        for i in range(4 * p, 4 * p + 4):
            self.head[i] = -1
            self.tail[i] = -1
        self.origin[p] = origin
        self.loop_at[p] = -1
        self.accept[p] = 0
        self.n = p + 1
        return p

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_positions(self, count: cython.int, origin: cython.int) -> cython.int:
        """``count`` new positions; the first of them."""
        base: cython.int = self.n
        i: cython.int
        if base + count > self.n_cap or base + count > self.most:
            self._room(count)
        for i in range(4 * base, 4 * (base + count)):
            self.head[i] = -1
            self.tail[i] = -1
        for i in range(base, base + count):
            self.origin[i] = origin
            self.loop_at[i] = -1
            self.accept[i] = 0
        self.n = base + count
        return base

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_edge(self, p: cython.int, kind: cython.int, a: cython.int, b: cython.int, to: cython.int) -> cython.int:
        """Append an edge to list ``kind`` of ``p``."""
        e: cython.int = self.e
        at: cython.int = 4 * p + kind
        if e >= self.e_cap:
            self._edge_room(1)
        self.e_next[e] = -1
        self.e_a[e] = a
        self.e_b[e] = b
        self.e_to[e] = to
        if self.head[at] < 0:
            self.head[at] = e
        else:
            self.e_next[self.tail[at]] = e
        self.tail[at] = e
        self.e = e + 1
        return e

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_literal(self, data: bytes, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """A chain of positions that spells ``data``."""
        n: cython.int = cython.cast(cython.int, len(data))
        i: cython.int
        e: cython.int
        p: cython.int
        text: cython.p_const_uchar = data
        if n <= 1:
            return self.add_edge(start, 1, 0, 0, end) if n == 0 else self.add_edge(start, 0, text[0], text[0], end)
        p = self.add_positions(n - 1, origin)
        self.add_edge(start, 0, text[0], text[0], p)
        if self.e + n > self.e_cap:
            self._edge_room(n)
        e = self.e
        for i in range(1, n):
            self.head[4 * p] = e
            self.tail[4 * p] = e
            self.e_next[e] = -1
            self.e_a[e] = text[i]
            self.e_b[e] = text[i]
            p += 1
            self.e_to[e] = p
            e += 1
        self.e_to[e - 1] = end
        self.e = e
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_rule(self, low: cython.int, entry: cython.int, last: cython.int) -> cython.int:
        """A rule whose positions begin at ``low``; ``end_rule`` says where they end."""
        r: cython.int = self.n_rules
        if r >= self.r_cap:
            self.r_cap = 2 * r + 16
            self.r_entry = grow_int(self.r_entry, self.r_cap)
            self.r_exit = grow_int(self.r_exit, self.r_cap)
            self.r_low = grow_int(self.r_low, self.r_cap)
            self.r_high = grow_int(self.r_high, self.r_cap)
            if not (self.r_entry and self.r_exit and self.r_low and self.r_high):
                raise MemoryError
        self.r_entry[r] = entry
        self.r_exit[r] = last
        self.r_low[r] = low
        self.r_high[r] = self.n
        self.n_rules = r + 1
        return r

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_loop(self, p: cython.int, rule: cython.int, least: cython.int, most: cython.int,
                 after: cython.int) -> cython.int:
        """Position ``p`` repeats ``rule`` (-1, -2: a set loop, whose items follow by ``add_item``)."""
        k: cython.int = self.n_loops
        if k >= self.l_cap:
            self.l_cap = 2 * k + 16
            self.l_pos = grow_int(self.l_pos, self.l_cap)
            self.l_rule = grow_int(self.l_rule, self.l_cap)
            self.l_min = grow_int(self.l_min, self.l_cap)
            self.l_max = grow_int(self.l_max, self.l_cap)
            self.l_after = grow_int(self.l_after, self.l_cap)
            self.l_items = grow_int(self.l_items, self.l_cap)
            self.l_count = grow_int(self.l_count, self.l_cap)
            self.l_sep = grow_int(self.l_sep, self.l_cap)
            self.l_bare = grow_int(self.l_bare, self.l_cap)
            if not (self.l_pos and self.l_rule and self.l_min and self.l_max and self.l_after and self.l_items
                    and self.l_count and self.l_sep and self.l_bare):
                raise MemoryError
        self.l_pos[k] = p
        self.l_rule[k] = rule
        self.l_min[k] = least
        self.l_max[k] = most
        self.l_after[k] = after
        self.l_items[k] = self.n_items
        self.l_count[k] = 0
        self.l_sep[k] = -1
        self.l_bare[k] = 0
        self.loop_at[p] = k
        self.n_loops = k + 1
        return k

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_span(self, base: cython.int, size: cython.int, end: cython.int, block, boundary: cython.int,
                 least: cython.int, top: cython.int) -> cython.int:
        """The positions ``base .. base + size - 1`` are a ``kernel.blocks`` block that is left at ``end`` only.

        ``top`` -1: the block itself, -2: an annex's door; else the block's product with a counter of characters. Spans
        come in the order of their positions. They save the passes work: what changes bytes within one calls
        ``forget_spans``.
        """
        i: cython.int = self.n_spans
        if i >= self.sp_cap:
            self.sp_cap = 2 * i + 16
            self.sp_base = grow_int(self.sp_base, self.sp_cap)
            self.sp_size = grow_int(self.sp_size, self.sp_cap)
            self.sp_end = grow_int(self.sp_end, self.sp_cap)
            self.sp_top = grow_int(self.sp_top, self.sp_cap)
            self.sp_least = grow_int(self.sp_least, self.sp_cap)
            self.sp_boundary = grow_int(self.sp_boundary, self.sp_cap)
            if not (self.sp_base and self.sp_size and self.sp_end and self.sp_top and self.sp_least
                    and self.sp_boundary):
                raise MemoryError
        self.sp_base[i] = base
        self.sp_size[i] = size
        self.sp_end[i] = end
        self.sp_top[i] = top
        self.sp_least[i] = least
        self.sp_boundary[i] = boundary
        self.blocks.append(block)
        self.n_spans = i + 1
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_annex(self, start: cython.int, end: cython.int, annex, size: cython.int, origin: cython.int) -> cython.int:
        """An annex that counts as ``size`` positions, between two others. Its door is a span that nobody looks into."""
        p: cython.int
        if size > self.most - self.n:
            raise NetworkTooLarge
        self.most -= size
        p = self.add_position(origin)
        self.add_edge(start, 1, 0, 0, p)
        self.head[4 * p] = -2 - self.add_span(p, 1, end, annex, 0, 0, -2)
        return p

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_spans(self) -> cython.int:
        """From here on, no position is part of a block; the doors of annexes stay."""
        i: cython.int
        n: cython.int = 0
        for i in range(self.n_spans):
            if self.sp_top[i] == -2:
                self.sp_base[n] = self.sp_base[i]
                self.sp_size[n] = self.sp_size[i]
                self.sp_end[n] = self.sp_end[i]
                self.sp_top[n] = -2
                self.blocks[n] = self.blocks[i]
                self.head[4 * self.sp_base[n]] = -2 - n
                n += 1
        self.n_spans = n
        del self.blocks[n:]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_item(self, k: cython.int, rule: cython.int, required: cython.bint) -> cython.int:
        """One more item of the newest loop, a set loop."""
        i: cython.int = self.n_items
        if i >= self.i_cap:
            self.i_cap = 2 * i + 16
            self.i_rule = grow_int(self.i_rule, self.i_cap)
            self.i_required = grow_int(self.i_required, self.i_cap)
            if not (self.i_rule and self.i_required):
                raise MemoryError
        self.i_rule[i] = rule
        self.i_required[i] = 1 if required else 0
        self.l_count[k] += 1
        self.n_items = i + 1
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _scratch(self) -> cython.int:
        """Scratch arrays of at least as many ints as there are positions, edges, loops and rules together."""
        need: cython.int = self.n + self.e + self.n_loops + self.n_rules + 300
        if need > self.s_cap:
            self.s_cap = need + need // 4
            self.s_a = grow_int(self.s_a, self.s_cap)
            self.s_b = grow_int(self.s_b, self.s_cap)
            self.s_c = grow_int(self.s_c, self.s_cap)
            self.s_d = grow_int(self.s_d, self.s_cap)
            self.s_e = grow_int(self.s_e, self.s_cap)
            self.s_f = grow_int(self.s_f, self.s_cap)
            if not (self.s_a and self.s_b and self.s_c and self.s_d and self.s_e and self.s_f):
                raise MemoryError
        return 0

    # ---- bytes that cannot be spelled --------------------------------------------------------------------

    def drop_bytes(self, unspellable) -> None:
        """Cut the bytes of ``unspellable`` out of every edge."""
        bad: list = [byte in unspellable for byte in range(256)]
        p: cython.int
        q: cython.int
        e: cython.int
        b: cython.int
        lo: cython.int
        hit: cython.bint
        before: cython.p_int
        self._scratch()
        before = self.s_a  # how many bad bytes are below each
        before[0] = 0
        for b in range(256):
            before[b + 1] = before[b] + (1 if bad[b] else 0)
        for p in range(self.n):
            hit = False
            e = self.head[4 * p]
            while e >= 0:
                if before[self.e_b[e] + 1] != before[self.e_a[e]]:
                    hit = True
                e = self.e_next[e]
            if not hit:
                continue
            self.forget_spans()
            e = self.head[4 * p]
            self.head[4 * p] = -1
            self.tail[4 * p] = -1
            while e >= 0:
                q = self.e_next[e]
                lo = self.e_a[e]
                for b in range(self.e_a[e], self.e_b[e] + 2):
                    if b > self.e_b[e] or bad[b]:
                        if lo < b:
                            self.add_edge(p, 0, lo, b - 1, self.e_to[e])
                        lo = b + 1
                e = q

    # ---- the empty text ----------------------------------------------------------------------------------

    def find_nullable(self) -> None:
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
        self._scratch()
        self.r_nullable = grow_int(self.r_nullable, self.n_rules + 1)
        if not self.r_nullable:
            raise MemoryError
        seen = self.s_a
        exit_of = self.s_b
        stack = self.s_c
        bl_head = self.s_d
        bl_next = self.s_e
        bl_to = self.s_f
        for p in range(self.n):
            seen[p] = 0
            exit_of[p] = -1
        for rule in range(self.n_rules):
            self.r_nullable[rule] = 0
            bl_head[rule] = -1
            exit_of[self.r_exit[rule]] = rule
            p = self.r_entry[rule]
            seen[p] = 1
            stack[top] = p
            top += 1
        while top > 0:
            top -= 1
            p = stack[top]
            rule = exit_of[p]
            if rule >= 0 and not self.r_nullable[rule]:
                self.r_nullable[rule] = 1
                any_found = True
                i = bl_head[rule]
                while i >= 0:
                    if not seen[bl_to[i]]:
                        seen[bl_to[i]] = 1
                        stack[top] = bl_to[i]
                        top += 1
                    i = bl_next[i]
            e = self.head[4 * p + 1]
            while e >= 0:
                k = self.e_to[e]
                if not seen[k]:
                    seen[k] = 1
                    stack[top] = k
                    top += 1
                e = self.e_next[e]
            e = self.head[4 * p + 2]
            while e >= 0:
                rule = self.e_a[e]
                k = self.e_to[e]
                if self.r_nullable[rule]:
                    if not seen[k]:
                        seen[k] = 1
                        stack[top] = k
                        top += 1
                else:
                    bl_next[waiting] = bl_head[rule]
                    bl_to[waiting] = k
                    bl_head[rule] = waiting
                    waiting += 1
                e = self.e_next[e]
            i = self.loop_at[p]
            if i >= 0 and (self.l_rule[i] >= 0 or self.l_rule[i] == -3):
                rule = self.l_rule[i]
                k = self.l_after[i]
                if rule < 0 or self.r_nullable[rule]:
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
            return
        for p in range(self.n):
            e = self.head[4 * p + 2]
            while e >= 0:
                if self.r_nullable[self.e_a[e]]:
                    self.add_edge(p, 1, 0, 0, self.e_to[e])
                e = self.e_next[e]
        self._nullable_loops()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _nullable_loops(self) -> cython.int:
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
        for k in range(self.n_loops):
            if self.l_rule[k] >= 0 and self.r_nullable[self.l_rule[k]]:
                self.l_min[k] = 1
                found = True
        if not found:
            return 0
        for p in range(self.n):
            e = self.head[4 * p + 1]
            last = self.tail[4 * p + 1]
            while e >= 0:
                k = self.loop_at[self.e_to[e]]
                while k >= 0 and self.l_rule[k] >= 0 and self.r_nullable[self.l_rule[k]]:
                    self.add_edge(p, 1, 0, 0, self.l_after[k])
                    k = self.loop_at[self.l_after[k]]
                if e == last:
                    break
                e = self.e_next[e]
        return 0

    def empty_items(self) -> bool:
        """Whether an item of a set loop has the empty text; sets ``l_bare`` where the separator has."""
        k: cython.int
        i: cython.int
        found: cython.bint = False
        for k in range(self.n_loops):
            if self.l_rule[k] == -1 or self.l_rule[k] == -2:
                self.l_bare[k] = self.r_nullable[self.l_sep[k]]
                for i in range(self.l_items[k], self.l_items[k] + self.l_count[k]):
                    if self.r_nullable[self.i_rule[i]]:
                        found = True
        return found

    # ---- starts and order --------------------------------------------------------------------------------

    def make_starts(self) -> bool:
        """A start position for each rule, and ``r_order``: callers at the left first. False: there is left recursion.

        A start has the edges of what the entry reaches by epsilon and never accepts: calls consume at least one byte.
        An entry that reaches nothing so is its own start.
        """
        rules: cython.int = self.n_rules
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
        self._scratch()
        self.r_start = grow_int(self.r_start, rules + 1)
        self.r_order = grow_int(self.r_order, rules + 1)
        mark = self.s_a  # by position: the rule that reached it
        called = self.s_b  # by rule: the rule that calls it
        closures = self.s_c
        closure_at = self.s_d
        graph = grow_int(cython.NULL if cython.compiled else None, self.e + self.n_items + self.n_loops + 1)
        graph_at = self.s_e
        if not (self.r_start and self.r_order and graph):
            raise MemoryError
        for p in range(self.n):
            mark[p] = -1
        for rule in range(rules):
            called[rule] = -1
        for rule in range(rules):
            closure_at[rule] = n
            graph_at[rule] = g
            closures[n] = self.r_entry[rule]
            mark[self.r_entry[rule]] = rule
            n += 1
            i = closure_at[rule]
            while i < n:
                p = closures[i]
                i += 1
                e = self.head[4 * p + 1]
                while e >= 0:
                    q = self.e_to[e]
                    if mark[q] != rule:
                        mark[q] = rule
                        closures[n] = q
                        n += 1
                    e = self.e_next[e]
                e = self.head[4 * p + 2]
                while e >= 0:
                    if called[self.e_a[e]] != rule:
                        called[self.e_a[e]] = rule
                        graph[g] = self.e_a[e]
                        g += 1
                    e = self.e_next[e]
                k = self.loop_at[p]
                if k >= 0 and self.l_rule[k] >= 0:
                    if called[self.l_rule[k]] != rule:
                        called[self.l_rule[k]] = rule
                        graph[g] = self.l_rule[k]
                        g += 1
                elif k >= 0:
                    for lo in range(self.l_items[k], self.l_items[k] + self.l_count[k]):
                        if called[self.i_rule[lo]] != rule:
                            called[self.i_rule[lo]] = rule
                            graph[g] = self.i_rule[lo]
                            g += 1
        closure_at[rules] = n
        graph_at[rules] = g
        k = self._sort_rules(graph, graph_at)
        if cython.compiled:
            free(graph)
        if k == 0:
            return False
        for rule in range(rules):
            lo = closure_at[rule]
            if closure_at[rule + 1] == lo + 1 and self.loop_at[closures[lo]] < 0:
                self.r_start[rule] = closures[lo]
                continue
            q = self.add_position(self.origin[closures[lo]])
            self.r_start[rule] = q
            for i in range(lo, closure_at[rule + 1]):
                p = closures[i]
                for k in (0, 2, 3):
                    e = self.head[4 * p + k]
                    while e >= 0:
                        self.add_edge(q, k, self.e_a[e], self.e_b[e], self.e_to[e])
                        e = self.e_next[e]
                if self.loop_at[p] >= 0 or self.head[4 * p] < -1:
                    self.add_edge(q, 1, 0, 0, p)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sort_rules(self, graph: cython.p_int, graph_at: cython.p_int) -> cython.int:
        """Number the rules with callers first; 0 if there is a cycle. Depth first with an explicit stack."""
        rules: cython.int = self.n_rules
        state: cython.p_int = self.s_b  # 0 not seen, 1 on the path, 2 done
        path: cython.p_int = self.s_a
        next_call: cython.p_int = self.s_f
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
                self.r_order[rule] = number
                number -= 1
        return 1

    # ---- the root, and what ends ---------------------------------------------------------------------------

    def add_root(self) -> int:
        """The position at which a text begins: rule 0, and then the end."""
        p: cython.int = self.add_position(-1)
        q: cython.int = self.add_position(-1)
        i: cython.int
        self.add_edge(p, 2, 0, 0, q)
        if self.r_nullable[0]:
            self.add_edge(p, 1, 0, 0, q)
        for i in range(self.n_rules):
            self.accept[self.r_exit[i]] = 1
        self.accept[q] = 1
        self.root = p
        return p

    def part_calls(self) -> None:
        """Give the bytes of positions that call, too, positions of their own: what is read is then found once for all.

        Masks are put together from what each set of positions reads itself (``kernel.mask_walk``).
        """
        p: cython.int
        q: cython.int
        for p in range(self.n):
            if self.head[4 * p] >= 0 and self.head[4 * p + 2] >= 0 and self.loop_at[p] < 0:
                q = self.add_position(self.origin[p])
                self.head[4 * q] = self.head[4 * p]
                self.tail[4 * q] = self.tail[4 * p]
                self.head[4 * p] = -1
                self.add_edge(p, 1, 0, 0, q)

    # ---- what can be completed: see ``kernel.shortest`` ------------------------------------------------------

    def is_possible(self) -> bool:
        """Whether any text fits."""
        return self.p_min[self.root] < FAR

    def drop_dead(self) -> None:
        """Remove every edge into what cannot be completed: afterwards no reachable state is a dead end."""
        p: cython.int
        e: cython.int
        k: cython.int
        whole: cython.bint = True
        for p in range(1, self.n):
            if self.p_min[p] >= FAR:
                whole = False
                break
        for k in range(self.n_rules):
            if self.r_min[k] >= FAR:
                whole = False
                break
        if whole and all(self.token_sets):
            return
        for p in range(self.n):
            if self.p_min[p] >= FAR:
                self.loop_at[p] = -1
            for k in range(4):
                e = self.head[4 * p + k]
                while e >= 0:
                    if self._is_dead(p, e, k):
                        self._drop_dead_of(4 * p + k)
                        break
                    e = self.e_next[e]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _is_dead(self, p: cython.int, e: cython.int, k: cython.int) -> cython.bint:
        """Whether nothing can be completed that goes from ``p`` along ``e``, an edge of list ``k``."""
        if self.p_min[p] >= FAR or self.p_min[self.e_to[e]] >= FAR:
            return True
        if k == 2:
            return self.r_min[self.e_a[e]] >= FAR
        return k == 3 and not self.token_sets[self.e_a[e]]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _drop_dead_of(self, at: cython.int) -> cython.int:
        """Keep what is not dead of the list ``at``, that is ``4 p + kind``."""
        e: cython.int = self.head[at]
        after: cython.int
        self.head[at] = -1
        self.tail[at] = -1
        while e >= 0:
            after = self.e_next[e]
            if not self._is_dead(at >> 2, e, at & 3):
                self.e_next[e] = -1
                if self.head[at] < 0:
                    self.head[at] = e
                else:
                    self.e_next[self.tail[at]] = e
                self.tail[at] = e
            e = after
        return 0

    # ---- for the passes in Python ------------------------------------------------------------------------

    def has_annex(self) -> bool:
        """Whether any position has edges that ``edges`` does not tell."""
        i: cython.int
        for i in range(self.n_spans):
            if self.sp_top[i] == -2:
                return True
        return False

    def classes(self) -> tuple:
        """(class of each byte, a byte of each class)."""
        return (array("i", [self.byte_class[b] for b in range(256)]),
                array("i", [self.class_byte[k] for k in range(self.n_classes)]))

    def starts(self) -> list:
        """The start position of each rule."""
        return [self.r_start[i] for i in range(self.n_rules)]

    def size(self) -> int:
        """How many positions there are."""
        return self.n

    def edges(self, p: cython.int, kind: cython.int) -> list:
        """List ``kind`` of ``p`` as (a, b, to)."""
        found = []
        e: cython.int = self.head[4 * p + kind]
        while e >= 0:
            found.append((self.e_a[e], self.e_b[e], self.e_to[e]))
            e = self.e_next[e]
        return found

    def rules_as_lists(self) -> tuple:
        """(entries, exits, ranges) of all rules."""
        entries = [self.r_entry[i] for i in range(self.n_rules)]
        exits = [self.r_exit[i] for i in range(self.n_rules)]
        return entries, exits, [(self.r_low[i], self.r_high[i]) for i in range(self.n_rules)]

    def origin_of(self, p: cython.int) -> int:
        """The rule name in whose text ``p`` was written."""
        return self.origin[p]

    def accepts(self, p: cython.int) -> bool:
        """Whether a rule ends at ``p``."""
        return bool(self.accept[p])

    def loop(self, p: cython.int):
        """(rule, minimum, maximum, next, items, separator) of the loop at ``p``, or None."""
        k: cython.int = self.loop_at[p]
        lo: cython.int
        if k < 0:
            return None
        lo = self.l_items[k]
        items = [(self.i_rule[i], self.i_required[i]) for i in range(lo, lo + self.l_count[k])]
        return (self.l_rule[k], self.l_min[k], self.l_max[k], self.l_after[k], items, self.l_sep[k])

    def new_position(self, origin: cython.int) -> int:
        """A new position."""
        return self.add_position(origin)

    def new_edge(self, p: cython.int, kind: cython.int, a: cython.int, b: cython.int, to: cython.int) -> None:
        """Append an edge to list ``kind`` of ``p``."""
        self.add_edge(p, kind, a, b, to)

    def new_loop(self, p: cython.int, rule: cython.int, least: cython.int, most: cython.int, after: cython.int,
                 items: list, separator: cython.int) -> None:
        """A loop at ``p``, as ``loop`` gives it."""
        k: cython.int = self.add_loop(p, rule, least, most, after)
        self.l_sep[k] = separator
        if separator >= 0 and self.r_nullable:
            self.l_bare[k] = self.r_nullable[separator]
        for item, required in items:
            self.add_item(k, item, required)

    def new_budget(self, p: cython.int, most: cython.int, left: cython.int) -> None:
        """Let position ``p``, whose region is known, count tokens: at most ``most``, ``left`` bytes from the end."""
        k: cython.int = self.add_loop(p, -5, 0, most, p)
        self.l_sep[k] = left
        self.l_region = grow_int(self.l_region, self.n_loops + 1)
        if not self.l_region:
            raise MemoryError
        self.l_region[k] = self.p_region[p]

    def set_starts(self, starts: list, order: list, exits: list) -> None:
        """What ``make_starts`` would have found."""
        i: cython.int
        self.r_start = grow_int(self.r_start, self.n_rules + 1)
        self.r_order = grow_int(self.r_order, self.n_rules + 1)
        if not (self.r_start and self.r_order):
            raise MemoryError
        for i in range(self.n_rules):
            self.r_start[i] = starts[i]
            self.r_order[i] = order[i]
            self.r_exit[i] = exits[i]


# Uncompiled, attributes do not exist until they are set; compiled, network.pxd declares them.
_COUNTERS = """
most n n_cap e e_cap n_rules r_cap n_loops l_cap n_items i_cap s_cap root n_classes n_spans sp_cap
""".split()
_POINTERS = """
head tail origin loop_at accept e_next e_a e_b e_to r_entry r_exit r_low r_high r_start r_order r_nullable l_pos
l_rule l_min l_max l_after l_items l_count l_sep l_bare i_rule i_required s_a s_b s_c s_d s_e s_f p_min r_min
p_region l_region sp_base sp_size sp_end sp_top sp_least sp_boundary
""".split()
