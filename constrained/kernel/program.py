# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The lowered grammar as flat integer arrays: what ``Automaton`` reads and ``engine.lowering`` makes.

Edges of a position lie together in four runs: bytes, epsilon, calls, token sets. The runs begin at
``p_off[4 p .. 4 p + 3]``; the next position's first run begins where the last one ends.

    bytes      e_a..e_b inclusive, to e_to
    epsilon    to e_to
    call       rule e_a, return to e_to
    token set  set e_a, to e_to

A loop is counted (``l_rule`` names its body) or a set loop (-1, or -2 if its last item is free to repeat), whose
items are ``l_items[l] .. l_items[l + 1]``: a rule (-1: cannot be written) and whether it must be written. Between
two stands the rule ``l_sep`` (-1: cannot be written), or nothing where ``l_how`` has 1; where it has 2 the items come
in their order, the free one last. ``i_cheap`` holds the items of each loop, those with the shortest texts first;
``l_required`` how many of them are required.

A guard (GUARD) is a loop without rounds: ``l_min`` is the pending id it starts with (-1: nothing passes),
``l_next`` what it guards; ``guards`` holds the other tables of guards, those of ``engine.guards``, or is None.

A position of a text with a token budget (BUDGET) has its byte edges as any other, and is a loop beside:
``l_max`` is the budget, ``l_sep`` how many bytes the text needs from here at least (see ``engine.budgets``).

Positions 1 and 2 are END and HOLE; they have no edges. Those of annexes (``kernel.annexes``) come behind those of the
network, and last those of images (``kernel.images``), which are programs themselves. ``lazy`` lists the automata that
are built as they are met (``kernel.lazy_positions``): door, source, position behind them; ``counted`` those beside a
counter: door, ``kernel.counted_annex``, position behind. The arrays belong to the program and never change, so an
automaton reads them where they are. What explanations need is read in Python as a copy: an ``array("i")``.
Cost: 10 ns a position and edge, 2 ns of an image.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.arena import Arena, copy_ints, copy_longs
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.partition import ByteSets, collect, sets_of
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.arena import Arena, copy_ints, copy_longs
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.images import Image
    from constrained.kernel.network import Network
    from constrained.kernel.partition import ByteSets, collect, sets_of

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

NO_WAY = cython.declare(cython.longlong, 1 << 60)
MOST_RULES = cython.declare(cython.int, 256)
"""Of an image."""

FAR: int = 1 << 60
"""Stands for "no way to an end" in minima."""

GUARD: int = -3
"""``l_rule`` of a guard."""

BUDGET: int = -5
"""``l_rule`` of a position in a text with a token budget."""


@cython.final
@cython.cclass
class Program:
    """See the module docstring. ``regions`` are byte partitions of wide loops, see ``kernel.regions``."""

    if not cython.compiled:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _POINTERS:
                setattr(self, name, None)
            self.n_loops = 0
            return self

    def __init__(self, net: Network, linked: cython.bint = True):
        """The program of a network through all its passes; ``linked``: with its images."""
        self.n_positions = net.n
        self.n_rules = net.n_rules
        self.n_classes = net.n_classes
        self.start = net.root
        self.rule_names = net.rule_names
        self.token_sets = net.token_sets
        self.regions = net.regions
        self.guards = None
        self.lazy = []
        self.counted = []
        edges: cython.longlong = self._place_annexes(net)
        behind: cython.int = self.n_positions
        loops: cython.int = net.n_loops
        items: cython.int = net.n_items
        image: Image
        part: Program
        if linked:
            for image in net.images:
                part = image.part
                if part.n_positions > (1 << 28) - self.n_positions:
                    raise NetworkTooLarge
                self.n_positions += part.n_positions - 3
                self.n_rules += part.n_rules - 1 - cython.cast(cython.int, len(image.calls))
                loops += part.n_loops
                items += part.l_items[part.n_loops]
                edges += part.p_off[4 * part.n_positions]
            if edges > 1 << 30:
                raise NetworkTooLarge
        self._allocate(net, cython.cast(cython.int, edges), loops, items)
        self._positions(net)
        self._loops(net)
        self._annexes(net, behind)
        if linked and net.images:
            self._link(net, behind)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place_annexes(self, net: Network) -> cython.int:
        """Number the positions of annexes behind all others; returns how many edges there are at most."""
        annex: Annex
        k: cython.int
        edges: cython.longlong = net.e
        for k in range(net.n_spans):
            if net.sp_top[k] == -2 and net.p_min[net.sp_base[k]] < NO_WAY:
                annex = net.blocks[k]
                net.sp_size[k] = self.n_positions
                edges += annex.edges
                if annex.size > (1 << 28) - self.n_positions or edges > 1 << 30:
                    raise NetworkTooLarge
                self.n_positions += annex.size
        return cython.cast(cython.int, edges)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _annexes(self, net: Network, n: cython.int) -> cython.int:
        """Write the positions of annexes; those behind begin at ``n``. Places beside counters are numbered in all:
        NetworkTooLarge beyond 2**30."""
        annex: Annex
        counted: CountedAnnex
        places: cython.longlong = 0
        k: cython.int
        p: cython.int
        base: cython.int
        number: cython.int
        at: cython.int = self.p_off[4 * net.n]
        for k in range(net.n_spans):
            if net.sp_top[k] == -2 and self.p_min[net.sp_base[k]] < NO_WAY:
                annex = net.blocks[k]
                if annex.source is not None:
                    self.lazy.append((net.sp_base[k], annex.source, net.sp_end[k]))
                elif annex.counted:
                    counted = net.blocks[k]
                    places += cython.cast(cython.longlong, counted.top + 1) * counted.block.n
                    if places > 1 << 30:
                        raise NetworkTooLarge
                    self.counted.append((net.sp_base[k], annex, net.sp_end[k]))
        if n == net.n:
            return 0
        for k in range(net.n_spans):
            if net.sp_top[k] != -2 or self.p_min[net.sp_base[k]] >= NO_WAY:
                continue
            annex = net.blocks[k]
            base = net.sp_size[k]
            number = 0
            if annex.block is not None and annex.block.region is not None and not annex.counted:
                number = cython.cast(cython.int, len(self.regions))
                self.regions.append(annex.block.region)
                if annex.inside:
                    self.p_region[net.sp_base[k]] = number
            for p in range(base, base + annex.size):
                self.p_accept[p] = 0
                self.p_loop[p] = -1
                self.p_rule[p] = self.p_rule[net.sp_base[k]]
            at = annex.write(self.p_off, self.e_a, self.e_b, self.e_to, self.p_min, self.p_region, at, base,
                             net.sp_end[k], self.p_min[net.sp_end[k]], number)
        self.p_off[4 * n] = at
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _allocate(self, net: Network, edges: cython.int, loops: cython.int, items: cython.int) -> cython.int:
        n: cython.Py_ssize_t = self.n_positions
        rules: cython.int = self.n_rules
        room: Arena = Arena()
        self.room = room
        room.reserve(10 * n + 1 + 4 * rules + 10 * (loops + 1) + 3 * items + 512 + 3 * cython.cast(
            cython.Py_ssize_t, edges), 29)
        self.p_min = room.longs(n)
        self.r_min = room.longs(rules)
        self.p_off = room.ints(4 * n + 1)
        self.p_accept = room.ints(n)
        self.p_loop = room.ints(n)
        self.p_region = room.ints(n)
        self.p_rule = room.ints(n)
        self.r_start = room.ints(rules)
        self.r_order = room.ints(rules)
        self.l_pos = room.ints(loops + 1)
        self.l_rule = room.ints(loops + 1)
        self.l_min = room.ints(loops + 1)
        self.l_max = room.ints(loops + 1)
        self.l_next = room.ints(loops + 1)
        self.l_region = room.ints(loops + 1)
        self.l_items = room.ints(loops + 1)
        self.l_sep = room.ints(loops + 1)
        self.l_how = room.ints(loops + 1)
        self.l_required = room.ints(loops + 1)
        self.i_rule = room.ints(items)
        self.i_required = room.ints(items)
        self.i_cheap = room.ints(items)
        self.cls = room.ints(256)
        self.cls_rep = room.ints(256)
        self.e_a = room.ints(edges)
        self.e_b = room.ints(edges)
        self.e_to = room.ints(edges)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _positions(self, net: Network) -> cython.void:
        """Positions and edges; numbers the loops that are left."""
        head: cython.p_int = net.head
        after: cython.p_int = net.e_next
        low: cython.p_int = net.e_a
        high: cython.p_int = net.e_b
        target: cython.p_int = net.e_to
        loop_at: cython.p_int = net.loop_at
        off: cython.p_int = self.p_off
        loop: cython.p_int = self.p_loop
        a: cython.p_int = self.e_a
        b: cython.p_int = self.e_b
        to: cython.p_int = self.e_to
        p: cython.int
        e: cython.int
        i: cython.int
        k: cython.int
        at: cython.int = 0
        begin: cython.int
        annex: Annex
        copy_ints(self.p_accept, 0, net.accept, net.n)
        copy_ints(self.p_rule, 0, net.origin, net.n)
        copy_ints(self.p_region, 0, net.p_region, net.n)
        copy_longs(self.p_min, 0, net.p_min, net.n)
        for p in range(net.n):
            loop[p] = -1
            i = 4 * p
            e = head[i]
            off[i] = at
            if (head[i + 1] & head[i + 2] & head[i + 3]) < 0 and e >= -1:  # most of them
                while e >= 0:
                    a[at] = low[e]
                    b[at] = high[e]
                    to[at] = target[e]
                    at += 1
                    e = after[e]
                off[i + 1] = at
                off[i + 2] = at
                off[i + 3] = at
            else:
                begin = at
                if e < -1 and net.p_min[p] < NO_WAY:
                    annex = net.blocks[-2 - e]
                    at = annex.write_door(a, b, to, at, net.sp_size[-2 - e], net.sp_end[-2 - e])
                for k in range(i, i + 4):
                    off[k] = begin
                    e = head[k]
                    while e >= 0:
                        a[at] = low[e]
                        b[at] = high[e]
                        to[at] = target[e]
                        at += 1
                        e = after[e]
                    begin = at
            if loop_at[p] >= 0:
                loop[p] = self.n_loops
                self.l_pos[self.n_loops] = loop_at[p]  # the network's number, for now
                self.n_loops += 1
        off[4 * net.n] = at
        for i in range(net.n_rules):
            self.r_start[i] = net.r_start[i]
            self.r_order[i] = net.r_order[i]
            self.r_min[i] = net.r_min[i]
        copy_ints(self.cls, 0, net.byte_class, 256)
        copy_ints(self.cls_rep, 0, net.class_byte, net.n_classes)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loops(self, net: Network) -> cython.int:
        i: cython.int
        j: cython.int
        k: cython.int
        n: cython.int = 0
        first: cython.int
        for i in range(self.n_loops):
            k = self.l_pos[i]
            self.l_pos[i] = net.l_pos[k]
            self.l_rule[i] = net.l_rule[k]
            self.l_min[i] = net.l_min[k]
            self.l_max[i] = net.l_max[k]
            self.l_next[i] = net.l_after[k]
            self.l_region[i] = net.l_region[k]
            self.l_items[i] = n
            self.l_sep[i] = net.l_sep[k]
            if net.l_rule[k] != -5 and net.l_sep[k] >= 0 and net.r_min[net.l_sep[k]] >= NO_WAY:
                self.l_sep[i] = -1
            self.l_how[i] = net.l_how[k]
            self.l_required[i] = 0
            first = n
            for j in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
                self.i_rule[n] = net.i_rule[j] if net.r_min[net.i_rule[j]] < NO_WAY else -1
                self.i_required[n] = net.i_required[j]
                self.i_cheap[n] = n
                self.l_required[i] += net.i_required[j]
                n += 1
            self._sort_cheap(net, first, n, net.l_items[k] - first)
        self.l_items[self.n_loops] = n
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _link(self, net: Network, behind: cython.int) -> cython.int:
        """Write the images from position ``behind`` on. Nothing in them calls back, so their rules come last in order;
        ``net.images`` has callers first.
        """
        image: Image
        part: Program
        given: tuple
        call: tuple
        numbers = cython.declare(cython.int[256])
        shift: cython.int = behind - 3
        order: cython.int = net.n_rules
        rules: cython.int = net.n_rules
        regions: cython.int
        loops: cython.int
        items: cython.int
        own: cython.int
        name: cython.int
        i: cython.int
        k: cython.int
        for k in range(cython.cast(cython.int, len(net.images))):
            image = net.images[k]
            part = image.part
            own = net.image_rules[k]
            for i in range(part.n_rules):
                numbers[i] = -1
            numbers[0] = own
            given = net.image_calls[k]
            for i in range(cython.cast(cython.int, len(given))):
                call = image.calls[i]
                numbers[cython.cast(cython.int, call[1])] = given[i]
            for i in range(part.n_rules):
                if numbers[i] < 0:
                    numbers[i] = rules
                    rules += 1
                elif i > 0:
                    continue  # has an image of its own
                self.r_start[numbers[i]] = part.r_start[i] + shift
                self.r_order[numbers[i]] = part.r_order[i] + order
                self.r_min[numbers[i]] = part.r_min[i]
            order += part.n_rules
            regions = cython.cast(cython.int, len(self.regions)) - 1
            loops = self.n_loops
            items = self.l_items[loops]
            name = net.origin[net.r_entry[own]]
            self._link_positions(image, shift, numbers, regions, name)
            for i in range(part.n_loops):
                self.l_pos[loops + i] = part.l_pos[i] + shift
                self.l_rule[loops + i] = part.l_rule[i] if part.l_rule[i] < 0 else numbers[part.l_rule[i]]
                self.l_min[loops + i] = part.l_min[i]
                self.l_max[loops + i] = part.l_max[i]
                self.l_next[loops + i] = part.l_next[i] + shift
                self.l_region[loops + i] = 0 if part.l_region[i] == 0 else part.l_region[i] + regions
                self.l_items[loops + i] = part.l_items[i] + items
                self.l_sep[loops + i] = part.l_sep[i] if part.l_sep[i] < 0 else numbers[part.l_sep[i]]
                self.l_how[loops + i] = part.l_how[i]
                self.l_required[loops + i] = part.l_required[i]
            for i in range(part.l_items[part.n_loops]):
                self.i_rule[items + i] = part.i_rule[i] if part.i_rule[i] < 0 else numbers[part.i_rule[i]]
                self.i_required[items + i] = part.i_required[i]
                self.i_cheap[items + i] = part.i_cheap[i] + items
            self.n_loops = loops + part.n_loops
            self.l_items[self.n_loops] = items + part.l_items[part.n_loops]
            for i in range(1, cython.cast(cython.int, len(part.regions))):
                self.regions.append(part.regions[i])
            shift += part.n_positions - 3
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _link_positions(self, image: Image, shift: cython.int, numbers: cython.p_int, regions: cython.int,
                        name: cython.int) -> cython.int:
        """Write the positions and edges of an image. The three positions that every program has are left out."""
        part: Program = image.part
        n: cython.int = part.n_positions
        first: cython.int = 3 + shift
        at: cython.int = self.p_off[4 * first]
        edges: cython.int = part.p_off[4 * n]
        loops: cython.int = self.n_loops
        off: cython.p_int = self.p_off
        to: cython.p_int = self.e_to
        off_from: cython.p_int = part.p_off
        to_from: cython.p_int = part.e_to
        i: cython.int
        k: cython.int
        for i in range(12, 4 * n + 1):
            off[i + 4 * shift] = off_from[i] + at
        for i in range(edges):
            to[at + i] = to_from[i] + shift
        copy_ints(self.e_a, at, part.e_a, edges)
        copy_ints(self.e_b, at, part.e_b, edges)
        for i in range(image.n_calling):
            k = image.calling[i]
            self.e_a[at + k] = numbers[part.e_a[k]]
        for i in range(3, n):
            self.p_accept[i + shift] = part.p_accept[i]
            self.p_min[i + shift] = part.p_min[i]
            self.p_rule[i + shift] = name
            self.p_region[i + shift] = 0
            self.p_loop[i + shift] = -1
        if len(part.regions) > 1:
            for i in range(3, n):
                if part.p_region[i] != 0:
                    self.p_region[i + shift] = part.p_region[i] + regions
        for i in range(part.n_loops):
            self.p_loop[part.l_pos[i] + shift] = loops + i
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sort_cheap(self, net: Network, first: cython.int, last: cython.int, shift: cython.int) -> cython.int:
        """Sort the items ``first <= i < last`` (the network's ``i + shift``) by their shortest texts."""
        i: cython.int
        j: cython.int
        cost: cython.longlong
        if last - first > 64:
            costs = [net.r_min[net.i_rule[i + shift]] for i in range(first, last)]
            for i, j in enumerate(sorted(range(last - first), key=costs.__getitem__)):
                self.i_cheap[first + i] = first + j
            return 0
        for i in range(first + 1, last):
            cost = net.r_min[net.i_rule[i + shift]]
            j = i
            while j > first and net.r_min[net.i_rule[self.i_cheap[j - 1] + shift]] > cost:
                self.i_cheap[j] = self.i_cheap[j - 1]
                j -= 1
            self.i_cheap[j] = i
        return 0

    # ---- for Python --------------------------------------------------------------------------------------

    def begin_guards(self, guards) -> None:
        """Take the tables of guards, and write down with which pending id each guard begins."""
        k: cython.int
        self.guards = guards
        for k in range(self.n_loops):
            if self.l_rule[k] == -3:
                self.l_min[k] = guards.begin[self.l_min[k]]

    @property
    def position_rule(self):
        """The number of the rule that each position belongs to, for ``rule_names``."""
        return self._copy(self.p_rule, self.n_positions)

    @property
    def loop_positions(self):
        """The position of each loop."""
        return self._copy(self.l_pos, self.n_loops)

    @property
    def loop_minimum(self):
        return self._copy(self.l_min, self.n_loops)

    @property
    def loop_maximum(self):
        return self._copy(self.l_max, self.n_loops)

    @property
    def byte_class(self):
        """The class of each byte: 256 of them."""
        return self._copy(self.cls, 256)

    @cython.cfunc
    def _copy(self, values: cython.p_int, n: cython.int):
        return array("i", [values[i] for i in range(n)])


@cython.cfunc
def image_of_network(net: Network, name: str, recursive: cython.bint, calls: tuple, texts: tuple,
                     largest: cython.longlong) -> Image:
    """The image of rule 0 of a network through all its passes but that for classes; None: it has none."""
    part: Program
    image: Image
    sets: ByteSets
    if net.n_rules > MOST_RULES or net.r_min[0] >= NO_WAY:
        return None
    part = Program(net, False)
    if part.lazy or part.counted:
        return None
    image = Image(part, name, recursive, calls, texts, largest)
    image.nullable = net.r_nullable[0] != 0
    image.shortest = net.r_min[0]
    sets = sets_of(net)
    collect(net, sets)
    image.hold(sets.alone, sets.family())
    image.find_calling(part.p_off)
    sets.end()
    return image


# Uncompiled, attributes do not exist until they are set; compiled, program.pxd declares them.
_POINTERS = """
p_off e_a e_b e_to p_accept p_loop p_region p_rule r_start r_order l_pos l_rule l_min l_max l_next l_region l_items
l_sep l_how l_required i_rule i_required i_cheap cls cls_rep p_min r_min
""".split()
