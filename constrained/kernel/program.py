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
in their order, the free one last. ``l_required`` is how many of them are required.

A guard (GUARD) is a loop without rounds: ``l_min`` is the pending id it starts with (-1: nothing passes),
``l_next`` what it guards; ``guards`` holds the other tables of guards, those of ``engine.guards``, or is None.

A position of a text with a token budget (BUDGET) has its byte edges as any other, and is a loop beside:
``l_max`` is the budget, ``l_sep`` how many bytes the text needs from here at least (see ``engine.budgets``).

Positions 1 and 2 are END and HOLE; they have no edges. Those of annexes (``kernel.annexes``) come behind the ``own``
ones of the network, and last, from ``behind`` on, those of images (``kernel.images``), which are programs themselves.
Those of words (``kernel.words``) are the last of its own.
Annexes are entered by their doors only and images by a call, and few texts need all of them: each has its place, its
rules and its loops from the beginning, but its positions and edges are written when somebody means to go there
(``kernel.linking``). ``lazy`` lists the automata that are built as they are met (``kernel.lazy_positions``): door,
source, position behind them; ``counted`` those beside a counter: door, ``kernel.counted_annex``, position behind.
``waits``: only a part of the grammar is here (``kernel.later``).

The arrays belong to the program, and what is written never changes, so an automaton reads it where it is. What
explanations need is read in Python as a copy: an ``array("i")``. Whose text positions are of is kept in runs: from
``o_at[i]`` on of the rule name ``o_name[i]``.
Cost: 10 ns a position and edge.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.arena import Arena, copy_ints, zero_bytes, zero_shorts
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import unset_ints
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.words import place_words, write_words
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.arena import Arena, copy_ints, zero_bytes, zero_shorts
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.images import Image
    from constrained.kernel.memory import unset_ints
    from constrained.kernel.network import Network
    from constrained.kernel.words import place_words, write_words

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

MOST_REGIONS = cython.declare(cython.int, 65535)
"""Regions that a position can be in; in one beyond, it is in none."""
LINK = cython.declare(cython.int, 6)
"""Ints in ``links`` for each image: its first position, edge, loop, rule and region, and whether it is written."""
SPOT = cython.declare(cython.int, 6)
"""Ints in ``spots`` for each annex: its number in ``blocks``, first position and edge, the edge and the position behind
it, and its region."""

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
            self.lock = cython.pymutex()
            for name in _POINTERS:
                setattr(self, name, None)
            self.n_loops = self.n_runs = 0
            self.has_annexes = False
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
        self.waits = False
        edges: cython.longlong = self._place_annexes(net)
        loops: cython.int = net.n_loops
        items: cython.int = net.n_items
        image: Image
        part: Program
        self.behind = self.n_positions
        if linked and net.images:
            self.images = net.images
            self.image_rules = net.image_rules
            self.image_calls = net.image_calls
            for image in net.images:
                part = image.part
                if image.later:
                    self.waits = True
                if part.n_positions > (1 << 28) - self.n_positions:
                    raise NetworkTooLarge
                self.n_positions += part.n_positions - 3
                self.n_rules += part.n_rules - 1 - cython.cast(cython.int, len(image.calls))
                loops += part.n_loops
                items += part.l_items[part.n_loops]
                edges += part.p_off[4 * part.n_positions]
            self.n_images = cython.cast(cython.int, len(net.images))
        else:
            self.n_images = 0
        if edges > 1 << 30:
            raise NetworkTooLarge
        self._allocate(net, cython.cast(cython.int, edges), loops, items)
        self._positions(net)
        self._loops(net)
        self._annexes(net)
        if self.n_images > 0:
            self._reserve(net)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place_annexes(self, net: Network) -> cython.int:
        """Number the positions of words and annexes behind all others; returns how many edges there are at most."""
        annex: Annex
        k: cython.int
        edges: cython.longlong = net.e
        self.n_annexes = 0
        self.own = net.n
        if net.n_spans > 0:
            self.own += place_words(net, net.n)
            edges += self.own - net.n + net.n_spans  # and one at each door
            self.n_positions = self.own
        for k in range(net.n_spans):
            if net.sp_top[k] == -2 and not (net.has_dead and net.p_dead[net.sp_base[k]]):
                annex = net.blocks[k]
                net.sp_size[k] = self.n_positions
                edges += annex.edges
                if annex.size >= (1 << 28) - self.n_positions or edges > 1 << 30:
                    raise NetworkTooLarge
                if annex.size > 0:
                    self.n_positions += annex.size + 1  # the last has the room for edges that is left
                    self.n_annexes += 1
        return cython.cast(cython.int, edges)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _allocate(self, net: Network, edges: cython.int, loops: cython.int, items: cython.int) -> cython.int:
        n: cython.Py_ssize_t = self.n_positions
        rules: cython.int = self.n_rules
        runs: cython.Py_ssize_t = net.n + net.n_spans + self.n_images
        room: Arena = Arena()
        self.room = room
        room.reserve(5 * n + (n + 1) // 2 + (n + 3) // 4 + 1 + 2 * runs + 2 * rules + 10 * (loops + 1) + 2 * items
                     + 512 + LINK * self.n_images + SPOT * self.n_annexes
                     + 3 * cython.cast(cython.Py_ssize_t, edges), 27)
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
        self.links = room.ints(LINK * self.n_images)
        self.spots = room.ints(SPOT * self.n_annexes)
        self.cls = room.ints(256)
        self.cls_rep = room.ints(256)
        self.o_at = room.ints(runs)
        self.o_name = room.ints(runs)
        self.p_off = room.ints(4 * n + 1)
        self.p_accept = room.bytes(n)
        self.p_loop = room.ints(n)
        self.p_region = room.shorts(n)
        self.e_a = room.ints(edges)
        self.e_b = room.ints(edges)
        self.e_to = room.ints(edges)
        return 0

    # ---- the network -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _positions(self, net: Network) -> cython.int:
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
        accept: cython.p_int = net.accept
        accepts: cython.p_uchar = self.p_accept
        number: cython.p_int = net.p_region
        region: cython.p_ushort = self.p_region
        n: cython.int = net.n
        p: cython.int
        e: cython.int
        i: cython.int
        at: cython.int = 0
        for p in range(n):
            accepts[p] = accept[p]
        zero_bytes(accepts, n, self.own - n)
        unset_ints(loop, 0, self.own)
        if len(self.regions) <= 1:
            zero_shorts(region, 0, self.own)
        else:
            for p in range(n):
                region[p] = number[p] if number[p] <= MOST_REGIONS else 0
            zero_shorts(region, n, self.own - n)
        self._runs(net)
        for p in range(n):
            i = 4 * p
            e = head[i]
            off[i] = at
            if e < -1:
                at = self._door(net, p, at)
            while e >= 0:
                a[at] = low[e]
                b[at] = high[e]
                to[at] = target[e]
                at += 1
                e = after[e]
            off[i + 1] = at
            off[i + 2] = at
            off[i + 3] = at
            if (head[i + 1] & head[i + 2] & head[i + 3]) != -1:
                e = head[i + 1]
                while e >= 0:
                    to[at] = target[e]
                    at += 1
                    e = after[e]
                off[i + 2] = at
                e = head[i + 2]
                while e >= 0:
                    a[at] = low[e]
                    to[at] = target[e]
                    at += 1
                    e = after[e]
                off[i + 3] = at
                e = head[i + 3]
                while e >= 0:
                    a[at] = low[e]
                    to[at] = target[e]
                    at += 1
                    e = after[e]
            if loop_at[p] >= 0:
                loop[p] = self.n_loops
                self.l_pos[self.n_loops] = loop_at[p]  # the network's number, for now
                self.n_loops += 1
        if self.own > n:
            at = write_words(net, off, a, b, to, n, at)
        off[4 * self.own] = at
        for i in range(net.n_rules):
            self.r_start[i] = net.r_start[i]
            self.r_order[i] = net.r_order[i]
        copy_ints(self.cls, 0, net.byte_class, 256)
        copy_ints(self.cls_rep, 0, net.class_byte, net.n_classes)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _door(self, net: Network, p: cython.int, at: cython.int) -> cython.int:
        """The edges of a door, from ``at`` on; the next free one."""
        k: cython.int = -2 - net.head[4 * p]
        annex: Annex
        word: bytes
        text: cython.p_const_uchar
        if net.has_dead and net.p_dead[p]:
            return at
        if net.sp_top[k] == -3:
            word = net.blocks[k]
            text = word
            self.e_a[at] = text[1]
            self.e_b[at] = text[1]
            self.e_to[at] = net.sp_size[k]
            return at + 1
        annex = net.blocks[k]
        return annex.write_door(self.e_a, self.e_b, self.e_to, at, net.sp_size[k], net.sp_end[k])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _runs(self, net: Network) -> cython.int:
        """Whose texts the network's positions are of, and those of words."""
        origin: cython.p_int = net.origin
        p: cython.int
        k: cython.int
        last: cython.int = -2
        for p in range(net.n):
            if origin[p] != last:
                last = origin[p]
                self._run(p, last)
        for k in range(net.n_spans):
            p = net.sp_base[k]
            if net.sp_top[k] == -3 and origin[p] != last and not (net.has_dead and net.p_dead[p]):
                last = origin[p]
                self._run(net.sp_size[k], last)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _region(self, number: cython.int) -> cython.int:
        return number if number <= MOST_REGIONS else 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _run(self, p: cython.int, name: cython.int) -> cython.void:
        """From ``p`` on positions are in the text of rule name ``name``."""
        self.o_at[self.n_runs] = p
        self.o_name[self.n_runs] = name
        self.n_runs += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loops(self, net: Network) -> cython.int:
        i: cython.int
        j: cython.int
        k: cython.int
        n: cython.int = 0
        for i in range(self.n_loops):
            k = self.l_pos[i]
            self.l_pos[i] = net.l_pos[k]
            self.l_rule[i] = net.l_rule[k]
            self.l_min[i] = net.l_min[k]
            self.l_max[i] = net.l_max[k]
            self.l_next[i] = net.l_after[k]
            self.l_region[i] = self._region(net.l_region[k])
            self.l_items[i] = n
            self.l_sep[i] = net.l_sep[k]
            if net.l_rule[k] != -5 and net.l_sep[k] >= 0 and net.has_dead and net.r_dead[net.l_sep[k]]:
                self.l_sep[i] = -1
            self.l_how[i] = net.l_how[k]
            self.l_required[i] = 0
            for j in range(net.l_items[k], net.l_items[k] + net.l_count[k]):
                self.i_rule[n] = -1 if net.has_dead and net.r_dead[net.i_rule[j]] else net.i_rule[j]
                self.i_required[n] = net.i_required[j]
                self.l_required[i] += net.i_required[j]
                n += 1
        self.l_items[self.n_loops] = n
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _annexes(self, net: Network) -> cython.int:
        """Place the annexes. Places beside counters are numbered in all: NetworkTooLarge beyond 2**30."""
        annex: Annex
        counted: CountedAnnex
        places: cython.longlong = 0
        k: cython.int
        door: cython.int
        number: cython.int
        n: cython.int = 0
        at: cython.int = self.p_off[4 * self.own]
        self.blocks = net.blocks
        for k in range(net.n_spans):
            door = net.sp_base[k]
            if net.sp_top[k] != -2 or (net.has_dead and net.p_dead[door]):
                continue
            annex = net.blocks[k]
            if annex.source is not None:
                self.lazy.append((door, annex.source, net.sp_end[k]))
            elif annex.counted:
                counted = net.blocks[k]
                places += cython.cast(cython.longlong, counted.top + 1) * counted.block.n
                if places > 1 << 30:
                    raise NetworkTooLarge
                self.counted.append((door, annex, net.sp_end[k]))
            if annex.size == 0:
                continue
            number = 0
            if annex.block is not None and annex.block.region is not None and not annex.counted:
                number = self._region(cython.cast(cython.int, len(self.regions)))
                self.regions.append(annex.block.region)
                if annex.inside:
                    self.p_region[door] = number
            self._run(net.sp_size[k], net.origin[door])
            self.spots[n] = k
            self.spots[n + 1] = net.sp_size[k]
            self.spots[n + 2] = at
            at += annex.edges - (self.p_off[4 * door + 1] - self.p_off[4 * door])  # those of the door are written
            self.spots[n + 3] = at
            self.spots[n + 4] = net.sp_end[k]
            self.spots[n + 5] = number
            n += SPOT
        self.p_off[4 * self.behind] = at
        return 0

    # ---- images ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reserve(self, net: Network) -> cython.int:
        """Place the images, and write their rules and loops. Nothing in them calls back, so their rules come last in
        order; ``net.images`` has callers first.
        """
        image: Image
        part: Program
        numbers = cython.declare(cython.int[256])
        shift: cython.int = self.behind - 3
        order: cython.int = net.n_rules
        rules: cython.int = net.n_rules
        regions: cython.int
        loops: cython.int
        items: cython.int
        at: cython.int = self.p_off[4 * self.behind]
        own: cython.int
        i: cython.int
        k: cython.int
        for k in range(self.n_images):
            image = net.images[k]
            part = image.part
            own = net.image_rules[k]
            loops = self.n_loops
            items = self.l_items[loops]
            regions = cython.cast(cython.int, len(self.regions)) - 1
            self.links[LINK * k] = shift + 3
            self.links[LINK * k + 1] = at
            self.links[LINK * k + 2] = loops
            self.links[LINK * k + 3] = rules
            self.links[LINK * k + 4] = regions
            self.links[LINK * k + 5] = 0
            self._run(shift + 3, net.origin[net.r_entry[own]])
            self.number_rules(k, numbers)
            for i in range(part.n_rules):
                if i > 0 and numbers[i] < rules:
                    continue  # has an image of its own
                self.r_start[numbers[i]] = part.r_start[i] + shift
                self.r_order[numbers[i]] = part.r_order[i] + order
            rules += part.n_rules - 1 - cython.cast(cython.int, len(image.calls))
            order += part.n_rules
            for i in range(part.n_loops):
                self.l_pos[loops + i] = part.l_pos[i] + shift
                self.l_rule[loops + i] = part.l_rule[i] if part.l_rule[i] < 0 else numbers[part.l_rule[i]]
                self.l_min[loops + i] = part.l_min[i]
                self.l_max[loops + i] = part.l_max[i]
                self.l_next[loops + i] = part.l_next[i] + shift
                self.l_region[loops + i] = 0 if part.l_region[i] == 0 else self._region(part.l_region[i] + regions)
                self.l_items[loops + i] = part.l_items[i] + items
                self.l_sep[loops + i] = part.l_sep[i] if part.l_sep[i] < 0 else numbers[part.l_sep[i]]
                self.l_how[loops + i] = part.l_how[i]
                self.l_required[loops + i] = part.l_required[i]
            for i in range(part.l_items[part.n_loops]):
                self.i_rule[items + i] = part.i_rule[i] if part.i_rule[i] < 0 else numbers[part.i_rule[i]]
                self.i_required[items + i] = part.i_required[i]
            self.n_loops = loops + part.n_loops
            self.l_items[self.n_loops] = items + part.l_items[part.n_loops]
            for i in range(1, cython.cast(cython.int, len(part.regions))):
                self.regions.append(part.regions[i])
            shift += part.n_positions - 3
            at += part.p_off[4 * part.n_positions]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def number_rules(self, k: cython.int, numbers: cython.p_int) -> cython.int:
        """The numbers that the rules of image ``k`` have here."""
        image: Image = self.images[k]
        part: Program = image.part
        given: tuple = self.image_calls[k]
        call: tuple
        rules: cython.int = self.links[LINK * k + 3]
        i: cython.int
        for i in range(part.n_rules):
            numbers[i] = -1
        numbers[0] = self.image_rules[k]
        for i in range(cython.cast(cython.int, len(given))):
            call = image.calls[i]
            numbers[cython.cast(cython.int, call[1])] = given[i]
        for i in range(part.n_rules):
            if numbers[i] < 0:
                numbers[i] = rules
                rules += 1
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
        i: cython.int
        found = array("i")
        for i in range(self.n_runs):
            last: cython.int = self.o_at[i + 1] if i + 1 < self.n_runs else self.n_positions
            found.extend([self.o_name[i]] * (last - self.o_at[i]))
        return found

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


# Uncompiled, attributes do not exist until they are set; compiled, program.pxd declares them.
_POINTERS = """
p_off e_a e_b e_to p_accept p_loop p_region r_start r_order l_pos l_rule l_min l_max l_next l_region l_items
l_sep l_how l_required i_rule i_required cls cls_rep o_at o_name links spots blocks images image_rules image_calls
""".split()
