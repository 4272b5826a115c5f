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
and its ``head`` is ``-2 - span``; so it is at the door of a word (``kernel.words``), a long literal. Or a position is
all that is here of an *opaque* rule, one that has an image (``kernel.images``): it has no edges, and ``image_rules``
names its rule.

``engine.build`` writes the rules, then ``engine.lowering`` calls the passes in order:

    ``kernel.pruning``      cut what no token can spell; later, every edge into what cannot be completed
    ``kernel.nullable``     rules that have the empty text; each nullable call gets an epsilon beside it
    ``kernel.starts``       a position without acceptance for each rule's beginning, and callers before callees
    ``kernel.regions``      wide regions
    ``kernel.completable``  what cannot be completed
    ``kernel.partition``    byte classes
    ``kernel.program``      the result, which copies what it needs

``sound``: by what was written, each position leads to the end of its rule, if only each rule has a text that is not
empty. A pass that cuts something out, or writes otherwise, says that it is not.

All passes are worklists; nothing recurses. Arrays that several passes fill belong to the network, and a network that is
done with is kept for the next grammar, with the memory it has.
Cost: 100-150 ns a position in all.
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


KEPT = cython.declare(cython.int, 4)
"""Networks that are kept to be used again,"""
KEPT_POSITIONS = cython.declare(cython.int, 40_000)
KEPT_EDGES = cython.declare(cython.int, 120_000)
"""unless they had room for more than this: 100 bytes a position and 40 an edge."""

_spare: list = []


class NetworkTooLarge(Exception):
    """More positions than ``most``."""


@cython.cfunc
def new_network(most: cython.int) -> Network:
    """An empty network; ``give_back`` ends with it."""
    net: Network
    try:
        net = _spare.pop()
    except IndexError:
        return Network(most)
    net._begin(most)
    return net


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
            free(self.l_how)
            free(self.i_rule)
            free(self.i_required)
            free(self.s_a)
            free(self.s_b)
            free(self.s_c)
            free(self.s_d)
            free(self.s_e)
            free(self.s_f)
            free(self.p_dead)
            free(self.r_dead)
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
        self.guard_dfas = []
        self.guard_ends = []
        self.budgets = {}
        self._begin(most)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin(self, most: cython.int) -> cython.int:
        """The three positions that are always there, and nothing else."""
        self.most = most
        self.n = 0
        self.e = 0
        self.n_rules = 0
        self.n_loops = 0
        self.n_items = 0
        self.n_spans = 0
        self.sound = False
        self.has_dead = False
        self.rule_names = []
        self.token_sets = []
        self.regions = [b""]
        self.blocks = []
        self.images = []
        self.image_rules = []
        self.image_calls = []
        self.add_positions(3, -1)
        return 0

    def give_back(self) -> None:
        """End with a network: its memory serves the next one. Nobody may use it afterwards."""
        if self.n_cap <= KEPT_POSITIONS and self.e_cap <= KEPT_EDGES and len(_spare) < KEPT:
            self.rule_names = self.token_sets = self.regions = self.blocks = []
            self.images = self.image_rules = self.image_calls = []
            if self.guard_dfas:
                self.guard_dfas = []
                self.guard_ends = []
            if self.budgets:
                self.budgets = {}
            _spare.append(self)

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
            self.p_region = grow_int(self.p_region, self.n_cap)
            if not (self.head and self.tail and self.origin and self.loop_at and self.accept and self.p_region):
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
        head: cython.p_int
        tail: cython.p_int
        if p >= self.n_cap or p >= self.most:
            self._room(1)
        head = self.head
        tail = self.tail
        head[4 * p] = -1
        head[4 * p + 1] = -1
        head[4 * p + 2] = -1
        head[4 * p + 3] = -1
        tail[4 * p] = -1
        tail[4 * p + 1] = -1
        tail[4 * p + 2] = -1
        tail[4 * p + 3] = -1
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
            self.r_nullable = grow_int(self.r_nullable, self.r_cap)
            self.r_start = grow_int(self.r_start, self.r_cap)
            self.r_order = grow_int(self.r_order, self.r_cap)
            if not (self.r_entry and self.r_exit and self.r_low and self.r_high and self.r_nullable and self.r_start
                    and self.r_order):
                raise MemoryError
        self.r_entry[r] = entry
        self.r_exit[r] = last
        self.r_low[r] = low
        self.r_high[r] = self.n
        self.r_nullable[r] = 0
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
            self.l_how = grow_int(self.l_how, self.l_cap)
            self.l_region = grow_int(self.l_region, self.l_cap)
            if not (self.l_pos and self.l_rule and self.l_min and self.l_max and self.l_after and self.l_items
                    and self.l_count and self.l_sep and self.l_how and self.l_region):
                raise MemoryError
        self.l_pos[k] = p
        self.l_rule[k] = rule
        self.l_min[k] = least
        self.l_max[k] = most
        self.l_after[k] = after
        self.l_items[k] = self.n_items
        self.l_count[k] = 0
        self.l_sep[k] = -1
        self.l_how[k] = 0
        self.l_region[k] = 0
        self.loop_at[p] = k
        self.n_loops = k + 1
        return k

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_span(self, base: cython.int, size: cython.int, end: cython.int, block, boundary: cython.int,
                 least: cython.int, top: cython.int) -> cython.int:
        """The positions ``base .. base + size - 1`` are a ``kernel.blocks`` block that is left at ``end`` only.

        ``top`` -1: the block itself, -2: an annex's door, -3: a word's; else the block's product with a counter of
        characters. Spans come in the order of their positions. They save the passes work: what changes bytes within one
        calls ``forget_spans``.
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
    def add_opaque(self, image, size: cython.int, calls: tuple, origin: cython.int) -> cython.int:
        """A rule whose image has ``size`` positions. ``calls``: the numbers of those that it calls."""
        p: cython.int
        rule: cython.int
        if size > self.most - self.n:
            raise NetworkTooLarge
        self.most -= size
        p = self.add_position(origin)
        rule = self.add_rule(p, p, p)
        self.images.append(image)
        self.image_rules.append(rule)
        self.image_calls.append(calls)
        return rule

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_spans(self) -> cython.int:
        """From here on, no position is part of a block; the doors of annexes and words stay."""
        i: cython.int
        n: cython.int = 0
        for i in range(self.n_spans):
            if self.sp_top[i] <= -2:
                self.sp_base[n] = self.sp_base[i]
                self.sp_size[n] = self.sp_size[i]
                self.sp_end[n] = self.sp_end[i]
                self.sp_top[n] = self.sp_top[i]
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

    # ---- for the passes in Python ------------------------------------------------------------------------

    def has_annex(self) -> bool:
        """Whether there are annexes or images."""
        return bool(self.images) or self._has_span(-2, -2)

    def hides_edges(self) -> bool:
        """Whether any position has edges that ``edges`` does not tell, or any rule positions that are not here."""
        return bool(self.images) or self._has_span(-3, -2)

    def _has_span(self, first: cython.int, last: cython.int) -> bool:
        i: cython.int
        for i in range(self.n_spans):
            if first <= self.sp_top[i] <= last:
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
        """(rule, minimum, maximum, next, items, separator, how) of the loop at ``p``, or None."""
        k: cython.int = self.loop_at[p]
        lo: cython.int
        if k < 0:
            return None
        lo = self.l_items[k]
        items = [(self.i_rule[i], self.i_required[i]) for i in range(lo, lo + self.l_count[k])]
        return (self.l_rule[k], self.l_min[k], self.l_max[k], self.l_after[k], items, self.l_sep[k],
                self.l_how[k])

    def new_position(self, origin: cython.int) -> int:
        """A new position."""
        self.sound = False
        return self.add_position(origin)

    def new_edge(self, p: cython.int, kind: cython.int, a: cython.int, b: cython.int, to: cython.int) -> None:
        """Append an edge to list ``kind`` of ``p``."""
        self.sound = False
        self.add_edge(p, kind, a, b, to)

    def new_loop(self, p: cython.int, rule: cython.int, least: cython.int, most: cython.int, after: cython.int,
                 items: list, separator: cython.int, how: cython.int = 0) -> None:
        """A loop at ``p``, as ``loop`` gives it."""
        self.sound = False
        k: cython.int = self.add_loop(p, rule, least, most, after)
        self.l_sep[k] = separator
        self.l_how[k] = how
        if separator >= 0 and self.r_nullable[separator]:
            self.l_how[k] = how | 1
        for item, required in items:
            self.add_item(k, item, required)

    def new_budget(self, p: cython.int, most: cython.int, left: cython.int) -> None:
        """Let position ``p``, whose region is known, count tokens: at most ``most``, ``left`` bytes from the end."""
        k: cython.int = self.add_loop(p, -5, 0, most, p)
        self.l_sep[k] = left
        self.l_region[k] = self.p_region[p]

    def set_starts(self, starts: list, order: list, exits: list) -> None:
        """What ``make_starts`` would have found."""
        i: cython.int
        self.sound = False
        for i in range(self.n_rules):
            self.r_start[i] = starts[i]
            self.r_order[i] = order[i]
            self.r_exit[i] = exits[i]


# Uncompiled, attributes do not exist until they are set; compiled, network.pxd declares them.
_COUNTERS = """
most n n_cap e e_cap sound has_dead n_rules r_cap n_loops l_cap n_items i_cap s_cap root n_classes n_spans sp_cap
""".split()
_POINTERS = """
head tail origin loop_at accept e_next e_a e_b e_to r_entry r_exit r_low r_high r_start r_order r_nullable l_pos
l_rule l_min l_max l_after l_items l_count l_sep l_how i_rule i_required s_a s_b s_c s_d s_e s_f p_dead r_dead
p_region l_region sp_base sp_size sp_end sp_top sp_least sp_boundary
""".split()
