# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which bytes a grammar cannot tell apart, and its wide regions.

**Partitions.** The 256 bytes, refined by every set of bytes that leads from one position to one other. A set is eight
32-bit words. Bytes that stand alone somewhere are classes of their own and are taken out first, so that few sets are
left to refine by. Classes are numbered by their first bytes, so equal partitions are equal.

**Regions.** A loop over many bytes (a string's body, an identifier, free text) allows a large part of the vocabulary,
and which tokens stay inside depends on that loop alone. Its positions are a *region*: a strongly connected set of
positions under byte and epsilon edges in which some position has at least ``WIDE`` bytes, with the positions that lead
only into it; or the body of a counted loop. A region carries the partition of the bytes that its edges make; the
vocabulary seen through such a partition is a trie of a few hundred nodes (``kernel.token_trie``), shared by every
grammar that has the same partition.

Regions steer only how a mask is found, never what it is: anything may be left out.
Cost: 30-60 ns a position and edge, 1 us for each different set.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import grow_int
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.token_trie import grow_uint
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import grow_int
    from constrained.kernel.network import Network
    from constrained.kernel.token_trie import grow_uint

WIDE = cython.declare(cython.int, 32)
"""Bytes that a position must be able to read for its loop to be a region."""
LEAD_IN = cython.declare(cython.int, 16)
"""Bytes that a position outside the loop must have to be counted in."""
SPLINTER = cython.declare(cython.int, 8)
"""A lead-in may not cut fewer bytes than this off a class of its region."""
MAX_BODY = cython.declare(cython.int, 2000)
"""Positions of a counted loop's body that is a region."""


@cython.cfunc
@cython.exceptval(check=False)
def _add_range(words: cython.p_uint, lo: cython.int, hi: cython.int) -> cython.void:
    """Put the bytes lo..hi into a set."""
    k: cython.int
    a: cython.int
    b: cython.int
    for k in range(lo >> 5, (hi >> 5) + 1):
        a = lo - 32 * k if lo > 32 * k else 0
        b = hi - 32 * k if hi < 32 * k + 31 else 31
        words[k] |= (cython.cast(cython.uint, 0xFFFFFFFF) >> (31 - b)) & (cython.cast(cython.uint, 0xFFFFFFFF) << a)


@cython.final
@cython.cclass
class Partition:
    """A partition of the bytes, made of the sets of positions. ``work`` is the set being put together."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.sets)
            free(self.table)
            free(self.below)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n_sets = self.cap = self.table_size = self.n_classes = 0
            self.sets = self.table = self.below = None
            self.alone = [0] * 8
            self.work = [0] * 8
            self.cls = [0] * 256
            self.count = [0] * 256
            self.inside = [0] * 256
            self.moved = [0] * 256
            return self

    def __init__(self):
        i: cython.int
        self.table_size = 64
        self.table = grow_int(self.table, self.table_size)
        if not self.table:
            raise MemoryError
        for i in range(64):
            self.table[i] = -1
        for i in range(8):
            self.alone[i] = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take(self, net: Network, p: cython.int) -> cython.int:
        """Take in the sets of one position: one for each target."""
        e: cython.int = net.head[4 * p]
        f: cython.int
        if e < 0:
            return 0
        if net.e_next[e] < 0 and net.e_a[e] == net.e_b[e]:
            f = net.e_a[e]
            self.alone[f >> 5] |= cython.cast(cython.uint, 1) << (f & 31)
            return 0
        while e >= 0:
            if self.gather(net, p, e):
                self._keep()
            e = net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def gather(self, net: Network, p: cython.int, e: cython.int) -> cython.bint:
        """Put the bytes of ``p`` with the target of ``e`` into ``work``; False if an earlier edge has that target."""
        f: cython.int = net.head[4 * p]
        to: cython.int = net.e_to[e]
        i: cython.int
        while f != e:
            if net.e_to[f] == to:
                return False
            f = net.e_next[f]
        for i in range(8):
            self.work[i] = 0
        while f >= 0:
            if net.e_to[f] == to:
                _add_range(self.work, net.e_a[f], net.e_b[f])
            f = net.e_next[f]
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take_row(self, row: tuple) -> cython.int:
        """``take`` for edges (first, last, to) that belong to no position."""
        i: cython.int
        for target in {to for _, _, to in row}:
            for i in range(8):
                self.work[i] = 0
            for lo, hi, to in row:
                if to == target:
                    _add_range(self.work, lo, hi)
            self._keep()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _keep(self) -> cython.int:
        """Keep ``work``, once."""
        h: cython.uint = 17
        i: cython.int
        j: cython.int
        k: cython.int
        same: cython.bint
        for i in range(8):
            h = ((h ^ self.work[i]) * cython.cast(cython.uint, 0x9E3779B1)) & cython.cast(cython.uint, 0xFFFFFFFF)
            h = h ^ (h >> 15)
        j = cython.cast(cython.int, h & cython.cast(cython.uint, self.table_size - 1))
        while self.table[j] >= 0:
            k = 8 * self.table[j]
            same = True
            for i in range(8):
                if self.sets[k + i] != self.work[i]:
                    same = False
                    break
            if same:
                return 0
            j = (j + 1) & (self.table_size - 1)
        if self.n_sets >= self.cap:
            self.cap = 2 * self.cap + 16
            self.sets = grow_uint(self.sets, 8 * self.cap)
            if not self.sets:
                raise MemoryError
        for i in range(8):
            self.sets[8 * self.n_sets + i] = self.work[i]
        self.table[j] = self.n_sets
        self.n_sets += 1
        if 2 * self.n_sets >= self.table_size:
            self._rehash()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rehash(self) -> cython.int:
        h: cython.uint
        i: cython.int
        j: cython.int
        k: cython.int
        self.table_size *= 4
        self.table = grow_int(self.table, self.table_size)
        if not self.table:
            raise MemoryError
        for i in range(self.table_size):
            self.table[i] = -1
        for k in range(self.n_sets):
            h = 17
            for i in range(8):
                h = ((h ^ self.sets[8 * k + i]) * cython.cast(cython.uint, 0x9E3779B1)) & cython.cast(
                    cython.uint, 0xFFFFFFFF)
                h = h ^ (h >> 15)
            j = cython.cast(cython.int, h & cython.cast(cython.uint, self.table_size - 1))
            while self.table[j] >= 0:
                j = (j + 1) & (self.table_size - 1)
            self.table[j] = k
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def refine(self) -> cython.int:
        """Fill ``cls`` from the sets taken; returns the number of classes."""
        b: cython.int
        i: cython.int
        k: cython.int
        n: cython.int = 0
        one: cython.uint
        for k in range(self.n_sets):  # sets of one byte
            i = 0
            n = 0
            while i < 8 and n < 2:
                one = self.sets[8 * k + i]
                if one != 0:
                    n += 1 if one & (one - 1) == 0 else 2
                    b = i
                i += 1
            if n == 1:
                self.alone[b] |= self.sets[8 * k + b]
        for b in range(256):
            self.cls[b] = 0
            self.count[b] = 0
            self.inside[b] = 0
            self.moved[b] = -1
        n = 1
        for b in range(256):
            if (self.alone[b >> 5] >> (b & 31)) & 1:
                self.cls[b] = n if n < 256 else 0
                self.count[n if n < 256 else 0] = 1
                n += 1
            else:
                self.count[0] += 1
        if n == 257:
            n = 256  # every byte stands alone; the last of them took class 0
        for k in range(self.n_sets):
            n = self._refine_by(8 * k, n)
        # number by first bytes
        for b in range(256):
            self.moved[b] = -1
        n = 0
        for b in range(256):
            if self.moved[self.cls[b]] < 0:
                self.moved[self.cls[b]] = n
                n += 1
            self.cls[b] = self.moved[self.cls[b]]
        self.n_classes = n
        return n

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _refine_by(self, at: cython.int, n: cython.int) -> cython.int:
        """Split the classes that the set at ``sets[at:at + 8]`` cuts; returns how many there are then."""
        b: cython.int
        k: cython.int
        w: cython.int
        one: cython.uint
        cut: cython.bint = False
        for w in range(8):
            one = self.sets[at + w] & ~self.alone[w]
            b = 32 * w
            while one != 0:
                if one & 1:
                    self.inside[self.cls[b]] += 1
                one = one >> 1
                b += 1
        for w in range(8):
            one = self.sets[at + w] & ~self.alone[w]
            b = 32 * w
            while one != 0:
                if one & 1:
                    k = self.cls[b]
                    if self.inside[k] != 0 and self.inside[k] < self.count[k]:
                        self.moved[k] = n
                        self.count[n] = self.inside[k]
                        self.count[k] -= self.inside[k]
                        self.inside[k] = 0
                        n += 1
                        cut = True
                    else:
                        if self.moved[k] < 0:
                            self.inside[k] = 0
                    if self.moved[k] >= 0:
                        self.cls[b] = self.moved[k]
                one = one >> 1
                b += 1
        if cut:
            for b in range(256):
                self.moved[b] = -1
        return n

    def as_bytes(self) -> bytes:
        """The class of each byte."""
        return bytes([self.cls[b] for b in range(256)])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def tabulate(self) -> cython.int:
        """Prepare ``splinters``: ``below[257 k + b]`` is how many bytes less than ``b`` class ``k`` has."""
        b: cython.int
        k: cython.int
        self.below = grow_int(self.below, 257 * self.n_classes)
        if not self.below:
            raise MemoryError
        for k in range(self.n_classes):
            self.below[257 * k] = 0
            for b in range(256):
                self.below[257 * k + b + 1] = self.below[257 * k + b] + (1 if self.cls[b] == k else 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def splinters(self, net: Network, p: cython.int, e: cython.int) -> cython.bint:
        """Whether the bytes of ``p`` with the target of ``e`` would cut fewer than ``SPLINTER`` bytes off a class."""
        f: cython.int
        k: cython.int
        at: cython.int
        n: cython.int = 0
        size: cython.int
        inside: cython.int
        to: cython.int = net.e_to[e]
        f = e
        while f >= 0:
            if net.e_to[f] == to:
                self.moved[n] = net.e_a[f]
                self.moved[n + 1] = net.e_b[f] + 1
                n += 2
                if n > 250:
                    return True
            f = net.e_next[f]
        for k in range(self.n_classes):
            at = 257 * k
            size = self.below[at + 256]
            inside = 0
            for f in range(0, n, 2):
                inside += self.below[at + self.moved[f + 1]] - self.below[at + self.moved[f]]
            if 0 < inside < size and (inside < SPLINTER or size - inside < SPLINTER or self._reads_rest(net, p, to, k)):
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reads_rest(self, net: Network, p: cython.int, to: cython.int, k: cython.int) -> cython.bint:
        """Whether ``p`` reads a byte of class ``k`` that does not lead to ``to``: "any but the next of a key"."""
        e: cython.int = net.head[4 * p]
        at: cython.int = 257 * k
        while e >= 0:
            if net.e_to[e] != to and self.below[at + net.e_b[e] + 1] > self.below[at + net.e_a[e]]:
                return True
            e = net.e_next[e]
        return False


def find_classes(net: Network, more: list) -> tuple:
    """The coarsest partition of the bytes that no position can tell apart: (class of each byte, a byte of each).

    ``more``: rows of (first, last, to) that must not fall together either.
    """
    found: Partition = Partition()
    p: cython.int
    b: cython.int
    for row in more:
        found.take_row(row)
    for p in range(net.n):
        found.take(net, p)
    found.refine()
    firsts = array("i", bytes(4 * found.n_classes))
    for b in range(255, -1, -1):
        firsts[found.cls[b]] = b
    return array("i", [found.cls[b] for b in range(256)]), firsts


@cython.final
@cython.cclass
class Regions:
    """The wide regions of a network; ``find`` fills them. Region 0 is none."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.region)
            free(self.width)
            free(self.number)
            free(self.low)
            free(self.path)
            free(self.work_p)
            free(self.work_e)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.cap = 0
            self.region = self.width = self.number = self.low = self.path = None
            self.work_p = self.work_e = None
            return self

    def __init__(self, net: Network):
        self.net = net
        self.members = [[]]
        self._room()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self) -> cython.int:
        n: cython.int = self.net.n
        if n > self.cap:
            self.cap = n + n // 4 + 16
            self.region = grow_int(self.region, self.cap)
            self.width = grow_int(self.width, self.cap)
            if not (self.region and self.width):
                raise MemoryError
        return 0

    def find(self) -> tuple:
        """(partitions, region of each position, region of each loop by its position). May split positions."""
        net: Network = self.net
        p: cython.int
        e: cython.int
        n: cython.int = net.n
        wide: list = []
        for p in range(n):
            self.region[p] = 0
            self.width[p] = 0
            e = net.head[4 * p]
            while e >= 0:
                self.width[p] += net.e_b[e] - net.e_a[e] + 1
                e = net.e_next[e]
            if self.width[p] >= WIDE and net.head[4 * p + 2] < 0 and net.head[4 * p + 3] < 0:
                wide.append(p)
        loop_region = self._loop_regions()
        if wide:
            self._components(wide)
        if len(self.members) > 1:
            self._loop_outs(loop_region)
            self._lead_ins()
        partitions = [b""]
        for k in range(1, len(self.members)):
            partitions.append(self._partition_of(self.members[k]).as_bytes())
        n = net.n
        found = array("i", bytes(4 * n))
        out: cython.int[::1] = found
        for p in range(n):
            out[p] = self.region[p]
        return partitions, found, loop_region

    @cython.cfunc
    def _partition_of(self, positions: list) -> Partition:
        found: Partition = Partition()
        for p in positions:
            found.take(self.net, p)
        found.refine()
        return found

    @cython.cfunc
    def _without_narrow(self, positions: list) -> list:
        """Leave out what reads few ASCII bytes: escapes, and their digits.

        They would split the letters of every word into hexadecimal and other ones. Left out, an escape is a way out of
        the region, walked from its backslash; the parts of longer characters stay in.
        """
        net: Network = self.net
        p: cython.int
        e: cython.int
        kept: list = []
        for p in positions:
            if self.width[p] == 0 or self.width[p] >= WIDE:
                kept.append(p)
                continue
            e = net.head[4 * p]
            while e >= 0:
                if net.e_b[e] >= 0x80:
                    kept.append(p)
                    break
                e = net.e_next[e]
        return kept

    @cython.cfunc
    def _loop_regions(self) -> dict:
        """A counted loop whose body is bytes only and begins wide is a region: all loops over one body share it."""
        net: Network = self.net
        k: cython.int
        q: cython.int
        rule: cython.int
        known: cython.int
        by_rule: dict = {}
        found: dict = {}
        for k in range(net.n_loops):
            rule = net.l_rule[k]
            if rule < 0 or net.loop_at[net.l_pos[k]] != k:
                continue
            held = by_rule.get(rule)
            if held is None:
                held = 0
                if self.width[net.r_start[rule]] >= WIDE:
                    body = self._bytes_only(net.r_start[rule])
                    if body is not None:
                        # every round begins with all the edges of the start, so they belong to the partition
                        body = self._without_narrow(body)
                        held = len(self.members)
                        self.members.append(body)
                        known = held
                        for q in body:
                            self.region[q] = known
                by_rule[rule] = held
            if held:
                found[net.l_pos[k]] = held
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loop_outs(self, loop_region: dict) -> cython.int:
        """Count in what a counted loop goes on with where that is wide too: `[a-z-]{0,61}[a-z]`.

        Left out, the end of the loop would be a way out at each byte, and every token would be walked from each.
        """
        net: Network = self.net
        p: cython.int
        q: cython.int
        e: cython.int
        for p in loop_region:
            q = net.l_after[net.loop_at[p]]
            if q < 0:
                continue
            e = net.head[4 * q + 1]
            self._join(loop_region, p, q)
            while e >= 0:
                self._join(loop_region, p, net.e_to[e])
                e = net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _join(self, loop_region: dict, p: cython.int, q: cython.int) -> cython.int:
        """Put position ``q`` into the region of loop position ``p``, or that region into the one of ``q``."""
        net: Network = self.net
        m: cython.int
        number: cython.int = loop_region[p]
        other: cython.int = self.region[q]
        if self.width[q] < WIDE or other == number:
            return 0
        if other == 0:
            if net.loop_at[q] < 0 and net.head[4 * q + 2] < 0 and net.head[4 * q + 3] < 0:
                self.region[q] = number
                self.members[number].append(q)
            return 0
        for m in self.members[number]:
            self.region[m] = other
        self.members[other].extend(self.members[number])
        self.members[number] = []
        for loop in loop_region:
            if loop_region[loop] == number:
                loop_region[loop] = other
        return 0

    @cython.cfunc
    def _bytes_only(self, start: cython.int):
        """The positions reachable within the rule, if it makes no calls, counts nothing and is small."""
        net: Network = self.net
        p: cython.int
        e: cython.int
        k: cython.int
        i: cython.int = 0
        found: list = [start]
        seen: set = {start}
        while i < len(found):
            p = found[i]
            i += 1
            if net.head[4 * p + 2] >= 0 or net.head[4 * p + 3] >= 0 or net.loop_at[p] >= 0 or i > MAX_BODY:
                return None
            for k in range(2):
                e = net.head[4 * p + k]
                while e >= 0:
                    if net.e_to[e] not in seen:
                        seen.add(net.e_to[e])
                        found.append(net.e_to[e])
                    e = net.e_next[e]
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def _next(self, p: cython.int, e: cython.int) -> cython.int:
        """The edge of ``p`` behind ``e`` (-2: before the first), bytes first, then epsilon; -1 at the end."""
        net: Network = self.net
        if e == -2:
            return net.head[4 * p] if net.head[4 * p] >= 0 else net.head[4 * p + 1]
        if e == net.tail[4 * p]:
            return net.head[4 * p + 1]
        return net.e_next[e]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _components(self, wide: list) -> cython.int:
        """The cycles of byte and epsilon edges that ``wide`` positions are on, without calls (Tarjan 1972)."""
        net: Network = self.net
        n: cython.int = net.n
        p: cython.int
        q: cython.int
        e: cython.int
        to: cython.int
        start: cython.int
        depth: cython.int
        above: cython.int
        size: cython.int
        has_wide: cython.bint
        calls: cython.bint
        count: cython.int = 0
        on_path: cython.int = 0
        self.number = grow_int(self.number, n + 1)
        self.low = grow_int(self.low, n + 1)  # 0 once the position's component is complete
        self.path = grow_int(self.path, n + 1)
        self.work_p = grow_int(self.work_p, n + 1)
        self.work_e = grow_int(self.work_e, n + 1)
        if not (self.number and self.low and self.path and self.work_p and self.work_e):
            raise MemoryError
        for p in range(n):
            self.number[p] = 0
            self.low[p] = 0
        for start in wide:
            if self.number[start] or self.region[start]:
                continue
            count += 1
            self.number[start] = count
            self.low[start] = count
            self.path[0] = start
            on_path = 1
            self.work_p[0] = start
            self.work_e[0] = -2
            depth = 1
            while depth > 0:
                p = self.work_p[depth - 1]
                e = self._next(p, self.work_e[depth - 1])
                if e >= 0:
                    self.work_e[depth - 1] = e
                    to = net.e_to[e]
                    if not self.number[to]:
                        count += 1
                        self.number[to] = count
                        self.low[to] = count
                        self.path[on_path] = to
                        on_path += 1
                        self.work_p[depth] = to
                        self.work_e[depth] = -2
                        depth += 1
                    elif self.low[to] and self.number[to] < self.low[p]:
                        self.low[p] = self.number[to]
                    continue
                depth -= 1
                if self.low[p] != self.number[p]:
                    above = self.work_p[depth - 1]
                    if self.low[p] < self.low[above]:
                        self.low[above] = self.low[p]
                    continue
                size = 0
                has_wide = False
                calls = False
                while True:
                    on_path -= 1
                    q = self.path[on_path]
                    self.low[q] = 0
                    size += 1
                    if net.head[4 * q + 2] >= 0 or net.head[4 * q + 3] >= 0:
                        calls = True
                    elif self.width[q] >= WIDE and self.region[q] == 0:
                        has_wide = True
                    if q == p:
                        break
                if has_wide and not calls and (size > 1 or self._loops(p)):
                    component = self._without_narrow([self.path[q] for q in range(on_path, on_path + size)])
                    self.members.append(component)
                    size = len(self.members) - 1
                    for q in component:
                        self.region[q] = size
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _loops(self, p: cython.int) -> cython.bint:
        """Whether an edge of ``p`` leads back to it."""
        e: cython.int = self._next(p, -2)
        while e >= 0:
            if self.net.e_to[e] == p:
                return True
            e = self._next(p, e)
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _region_of(self, p: cython.int) -> cython.int:
        """The region of ``p`` or of what it reaches by one epsilon."""
        e: cython.int
        if self.region[p]:
            return self.region[p]
        e = self.net.head[4 * p + 1]
        while e >= 0:
            if self.region[self.net.e_to[e]]:
                return self.region[self.net.e_to[e]]
            e = self.net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lead_ins(self) -> cython.int:
        """Count in the positions that lead into one region, and split those that do so with a part of their bytes.

        The first letter of an identifier often shares its position with a quote or a keyword. What goes into the region
        then moves to a position of its own, one epsilon away: the same paths, but a set that can be told apart.
        """
        net: Network = self.net
        n: cython.int = net.n
        p: cython.int
        e: cython.int
        f: cython.int
        after: cython.int
        number: cython.int
        twin: cython.int
        width: cython.int
        rounds: cython.int = 0
        changed: cython.bint = True
        only: cython.bint
        candidates: list = []
        partitions: dict = {}
        held: Partition
        for p in range(n):
            if self.width[p] >= LEAD_IN and self.region[p] == 0:
                candidates.append(p)
        while changed and rounds < 4:  # a character has four bytes: one round for each
            changed = False
            rounds += 1
            for p in candidates:
                if self.region[p]:
                    continue
                e = net.head[4 * p]
                only = net.head[4 * p + 2] < 0 and net.head[4 * p + 3] < 0
                number = self._region_of(net.e_to[e])
                seen: list = []
                while e >= 0:
                    f = self._region_of(net.e_to[e])
                    if f != number:
                        only = False
                    if f != 0 and f not in seen:
                        seen.append(f)
                    e = net.e_next[e]
                for number in seen:
                    width = 0
                    e = net.head[4 * p]
                    while e >= 0:
                        if self._region_of(net.e_to[e]) == number:
                            width += net.e_b[e] - net.e_a[e] + 1
                        e = net.e_next[e]
                    if width < LEAD_IN:
                        continue
                    held = partitions.get(number)
                    if held is None:
                        held = partitions[number] = self._partition_of(self.members[number])
                        held.tabulate()
                    if self._splinters(p, number, held):
                        continue
                    changed = True
                    if only:
                        self.region[p] = number
                        self.members[number].append(p)
                        continue
                    twin = net.add_position(net.origin[p])
                    self._room()
                    self.region[twin] = number
                    self.width[twin] = 0
                    self.members[number].append(twin)
                    e = net.head[4 * p]
                    net.head[4 * p] = -1
                    net.tail[4 * p] = -1
                    while e >= 0:
                        after = net.e_next[e]
                        net.e_next[e] = -1
                        f = 4 * (twin if self._region_of(net.e_to[e]) == number else p)
                        if net.head[f] < 0:
                            net.head[f] = e
                        else:
                            net.e_next[net.tail[f]] = e
                        net.tail[f] = e
                        e = after
                    net.add_edge(p, 1, 0, 0, twin)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _splinters(self, p: cython.int, number: cython.int, held: Partition) -> cython.bint:
        """Whether counting in the edges of ``p`` into region ``number`` would cut single bytes off its classes.

        "Any character but the next letter of a key" does; a partition of its own for every schema would be the result,
        and partitions are worth their class tries only because grammars share them.
        """
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        f: cython.int
        while e >= 0:
            f = net.head[4 * p]
            while net.e_to[f] != net.e_to[e]:
                f = net.e_next[f]
            if f == e and self._region_of(net.e_to[e]) == number and held.splinters(net, p, e):
                return True
            e = net.e_next[e]
        return False
