# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Dets beside a region: read together with one that is inside, they share its row.

"Any string but these keys" is no region while the text may still become one of the keys, and it reads nearly what the
string's body reads. Where most bytes lead from a det ``p`` to the det ``q`` of a region, both are read side by side
along the few bytes where they differ. As long as ``p`` does what ``q`` does inside the region, ``q``'s row is right.
Where ``p`` cannot follow, ``q``'s tokens below are ``cut``; the trie nodes that only ``q`` reaches are ``excluded``
from its exits; and what ``only`` ``p`` can do is walked. Where ``p`` goes on to another region, all below is cut and
walked; where it goes on to something else while ``q`` is inside, this does not apply, and ``p`` is walked like any
other.

    side[p]                               the det ``q`` beside ``p``, 0 for none, -1 while it is unknown
    cut[:n_cut]                           tokens, after ``differ``
    excluded[2 i] .. excluded[2 i + 1]    trie nodes, from and to below
    only_x[i], only_d[i]                  a trie node that has been read, and the det there
    row_p, row_q, row_in, out, region     while they are read: the rows of both and of ``q``'s part in its region, the
                                          part of ``q`` outside, and the region

Cost: a known answer is a look-up; a new one 20 ns a pair of dets and byte that differs.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.hole_regions import HoleRegions
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory, wider
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.hole_regions import HoleRegions
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory, wider
    from constrained.kernel.token_trie import TokenTrie

LARGE_SUBTREE = cython.declare(cython.int, 1000)
FEW_BYTES = cython.declare(cython.int, 32)
MANY_PAIRS = cython.declare(cython.int, 20_000)
MANY_CUT = cython.declare(cython.int, 60_000)


@cython.final
@cython.no_gc
@cython.cclass
class BesideRegion:
    """See the module docstring. ``make`` comes first."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.excluded)
            drop_int(self.pair_x)
            drop_int(self.pair_p)
            drop_int(self.pair_q)
            drop_int(self.only_x)
            drop_int(self.only_d)
            drop_int(self.side)
            drop_int(self.cut)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(check=False)
    def make(self, automaton: Automaton, trie: TokenTrie, regions: HoleRegions) -> cython.void:
        self.a = automaton
        self.t = trie
        self.r = regions

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """A new epoch: dets have other numbers."""
        self.side_len = 0
        self.read_q = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def region_of(self, p: cython.int) -> cython.int:
        """The det in a region to which most bytes lead from det ``p``, itself in none; 0 if there is none."""
        i: cython.int
        if p >= self.side_cap:
            self.side_cap = wider(p + 32, 1)
            self.side = grow_int(self.side, self.side_cap)
            if not self.side:
                out_of_memory()
        while self.side_len <= p:
            self.side[self.side_len] = -1
            self.side_len += 1
        if self.side[p] < 0:
            i = self._find_side(p)
            self.side[p] = i
        return self.side[p]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_side(self, p: cython.int) -> cython.int:
        """A vote of the bytes (Boyer and Moore 1981); who wins is then looked at."""
        k: cython.int
        n: cython.int
        q: cython.int = 0
        votes: cython.int = 0
        f: cython.int
        if p == 0 or self.a.d_flags[p] != 2 or self.r.n_regions < 2 or self.a.guard_loop >= 0:
            return 0  # with guards, two ways to one end may differ in what they survive
        for k in range(self.a.d_off[p], self.a.d_off[p] + self.a.d_len[p]):  # most read a few bytes: see at once
            q = self.a.d_pool[k]
            for f in range(self.a.p_off[4 * q], self.a.p_off[4 * q + 1]):
                votes += self.a.e_b[f] - self.a.e_a[f] + 1
        if votes < FEW_BYTES:
            return 0
        q = 0
        votes = 0
        f = self.a.split_det(p)
        if self.a.split[f + 1] != 0:
            return 0
        self.a.need_classes()
        f = self.a.det_first(p)
        n = 0
        for k in range(self.a.n_classes):
            if (self.a.firsts[f + (k >> 5)] >> (k & 31)) & 1:
                n += self.a.class_off[k + 1] - self.a.class_off[k]
        if n < FEW_BYTES:
            return 0
        f = self.a.det_row(p)
        for k in range(self.a.n_classes):
            if self.a.d_rows[f + k] == 0:
                continue
            n = self.a.class_off[k + 1] - self.a.class_off[k]
            if self.a.d_rows[f + k] == q:
                votes += n
            elif votes >= n:
                votes -= n
            else:
                votes = n - votes
                q = self.a.d_rows[f + k]
        if q == 0 or q == p or self.a.d_flags[q] != 2:
            return 0
        n = 0
        for k in range(self.a.d_off[q], self.a.d_off[q] + self.a.d_len[q]):
            f = self.a.p_region[self.a.d_pool[k]]
            if f != 0:
                if n != 0 and n != f:
                    return 0
                n = f
        return q if n != 0 else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_pair(self, x: cython.int, p: cython.int, q: cython.int) -> cython.int:
        if self.n_pairs >= self.pair_cap:
            self.pair_cap = 64 if self.pair_cap == 0 else self.pair_cap * 2
            self.pair_x = grow_int(self.pair_x, self.pair_cap)
            self.pair_p = grow_int(self.pair_p, self.pair_cap)
            self.pair_q = grow_int(self.pair_q, self.pair_cap)
            if not (self.pair_x and self.pair_p and self.pair_q):
                out_of_memory()
        self.pair_x[self.n_pairs] = x
        self.pair_p[self.n_pairs] = p
        self.pair_q[self.n_pairs] = q
        self.n_pairs += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _push_only(self, x: cython.int, d: cython.int) -> cython.int:
        if self.n_only >= self.only_cap:
            self.only_cap = 16 if self.only_cap == 0 else self.only_cap * 2
            self.only_x = grow_int(self.only_x, self.only_cap)
            self.only_d = grow_int(self.only_d, self.only_cap)
            if not (self.only_x and self.only_d):
                out_of_memory()
        self.only_x[self.n_only] = x
        self.only_d[self.n_only] = d
        self.n_only += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _exclude(self, lo: cython.int, hi: cython.int) -> cython.int:
        """Of the trie nodes behind ``q``'s exits those from ``lo`` to below ``hi`` do not count."""
        if self.n_excluded > 0 and self.excluded[2 * self.n_excluded - 1] == lo:
            self.excluded[2 * self.n_excluded - 1] = hi
            return 0
        if self.n_excluded >= self.excluded_cap:
            self.excluded_cap = 16 if self.excluded_cap == 0 else self.excluded_cap * 2
            self.excluded = grow_int(self.excluded, 2 * self.excluded_cap)
            if not self.excluded:
                out_of_memory()
        self.excluded[2 * self.n_excluded] = lo
        self.excluded[2 * self.n_excluded + 1] = hi
        self.n_excluded += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _cut(self, lo: cython.int, hi: cython.int) -> cython.int:
        """Of ``q``'s row the tokens at trie nodes from ``lo`` to below ``hi`` do not count."""
        x: cython.int
        if self.n_cut + hi - lo > self.cut_cap:
            self.cut_cap = 2 * (self.n_cut + hi - lo) + 16
            self.cut = grow_int(self.cut, self.cut_cap)
            if not self.cut:
                out_of_memory()
        for x in range(lo, hi):
            if self.t.token[x] != self.t.spare:
                self.cut[self.n_cut] = self.t.token[x]
                self.n_cut += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def differ(self, p: cython.int, q: cython.int, x: cython.int) -> cython.int:
        """Read ``p`` beside ``q`` below trie node ``x``. 0: ``p`` cannot follow; 1: it does what ``q`` does; 2: else.

        Fills ``excluded``, ``cut``, and ``only`` with (trie node, det) to walk: also where both leave right at ``x``,
        for a region's exits begin behind its first byte. What was found last is kept.
        """
        if self.read_p != p or self.read_q != q or self.read_x != x:
            self.read_q = 0  # should memory run out
            self.read = self._differ(p, q, x)
            self.read_p = p
            self.read_q = q
            self.read_x = x
        return self.read

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _differ(self, p: cython.int, q: cython.int, x: cython.int) -> cython.int:
        b: cython.int
        c: cython.int
        k: cython.int
        s: cython.int
        table: cython.int
        seen: cython.int = 0
        found: cython.int = 1
        self.n_pairs = 0
        self.n_only = 0
        self.n_excluded = 0
        self.n_cut = 0
        s = self.a.split_det(q)
        self.region = self.a.split[s + 2]
        self._push_pair(x, p, q)
        while self.n_pairs > 0:
            self.n_pairs -= 1
            x = self.pair_x[self.n_pairs]
            p = self.pair_p[self.n_pairs]
            q = self.pair_q[self.n_pairs]
            seen += 1
            s = self.a.split_det(q)
            if seen > MANY_PAIRS or self.a.split[s + 1] > 1 or (
                    self.a.split[s + 1] == 1 and self.a.split[s + 2] != self.region):
                return 0
            self.out = self.a.split[s]
            self.row_in = self.a.det_row(self.a.split[s + 3] if self.a.split[s + 1] == 1 else 0)
            self.row_p = self.a.det_row(p)
            self.row_q = self.a.det_row(q)
            if x == 0 or self.t.end[x] - x > LARGE_SUBTREE:
                table = self.t.child_table(x)
                for k in range(self.a.n_classes):
                    s = self.a.d_rows[self.row_p + k]  # ``d_rows`` moves where more are made
                    if s == self.a.d_rows[self.row_q + k] and (seen > 1 or s == 0):
                        continue
                    for b in range(self.a.class_off[k], self.a.class_off[k + 1]):
                        c = self.t.children[table + self.a.class_bytes[b]]
                        if c != 0:
                            s = self._compare(c, k, seen == 1)
                            if s == 0:
                                return 0
                            found |= s
                continue
            c = x + 1
            while c < self.t.end[x]:
                s = self._compare(c, self.a.cls[self.t.word[c] & 255], seen == 1)
                if s == 0:
                    return 0
                found |= s
                c = self.t.end[c]
        return 2 if found > 1 else 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _compare(self, c: cython.int, k: cython.int, first: cython.bint) -> cython.int:
        """``differ``, of one byte: of class ``k``, to trie node ``c``. ``first``: right where both begin."""
        leaves: cython.bint = False
        size: cython.int = self.t.end[c] - c
        s: cython.int = self.a.d_rows[self.row_p + k]
        t: cython.int = self.a.d_rows[self.row_q + k]
        i: cython.int
        if s == t and (s == 0 or not first):
            return 1
        if self.a.d_rows[self.row_in + k] == 0:  # they are outside already
            if s != 0:
                self._push_only(c, s)
            if s == t:
                return 1
            if t != 0 and not first:
                self._exclude(c, c + 1)
            return 2
        if s == t:
            return 1
        i = self.a.split_det(t)
        leaves = self.a.split[i + 1] == 0 and not self.a.d_flags[t] & 16
        if self.out != 0 and self.a.det_step(self.out, k) != 0:
            return 0
        if leaves:  # with this byte, so from ``c`` on both are outside
            self._exclude(c + 1, self.t.end[c])
            if s != 0:
                self._push_only(c, s)
            else:
                self._cut(c, c + 1)
            return 2
        i = self.a.split_det(s) if s != 0 else 0
        if s == 0 or (self.a.d_flags[s] == 2 and self.a.split[i + 1] != 0 and (
                self.a.split[i + 1] > 1 or self.a.split[i + 2] != self.region)):
            # nothing that ``q`` reads below ``c`` is right; in another region ``p`` would be another det at each node
            if self.n_cut + size > MANY_CUT:
                return 0
            self._exclude(c, c + size)
            self._cut(c, c + size)
            if s != 0:
                self._push_only(c, s)
            return 2
        if self.a.d_flags[s] != 2 or self.a.d_flags[t] != 2:
            return 0
        self._push_pair(c, s, t)
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_excluded(self, x: cython.int) -> cython.bint:
        """Whether trie node ``x`` behind ``q``'s exits does not count."""
        i: cython.int
        for i in range(self.n_excluded):
            if self.excluded[2 * i] <= x and x < self.excluded[2 * i + 1]:
                return True
        return False


_COUNTERS = """
n_excluded excluded_cap n_pairs pair_cap n_only only_cap side_len side_cap n_cut cut_cap read read_p read_q read_x
row_p row_q row_in out region
""".split()
_POINTERS = """
excluded pair_x pair_p pair_q only_x only_d side cut
""".split()
