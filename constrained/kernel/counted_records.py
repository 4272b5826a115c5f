# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Records of places of automata beside counters.

Idea
    What a place of an automaton beside a counter reads is found by arithmetic (``kernel.counted_walk``), and is a
    record like others: tokens, and what goes on where the automaton is left. Most places share one with others: far
    from the greatest count all counts of a state from which each end is long enough, or no end is near; far below the
    least count all whose ends are alike. Near the greatest count a few tokens are taken out of the row of the former.

Data: records are found by ``memo``, of (group, state or place), beside the kinds of a generation (``kernel.memo``):
16 a state's, whatever the count; 18 where ``counted.kept`` has what a bound takes away from it; 17 a state's, where no
token is long enough for an end, and the counts that are alike; 19 a place's own.

Cost: a known record is one to three questions of 5-10 ns; a new one ``counted_walk`` tells; a cut one a copy of a row.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.counted_nodes import KNOWN, LEAVES, LISTED, LONG, REACH
    from cython.cimports.constrained.kernel.counted_walk import CountedWalk
    from cython.cimports.constrained.kernel.mask_records import MaskRecords
    from cython.cimports.constrained.kernel.mask_store import NONE
else:
    from constrained.kernel.annexes import NO_END
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.counted_nodes import KNOWN, LEAVES, LISTED, LONG, REACH
    from constrained.kernel.counted_walk import CountedWalk
    from constrained.kernel.mask_records import MaskRecords
    from constrained.kernel.mask_store import NONE


FAR = cython.declare(cython.int, 8)
"""Characters to an end that tokens seldom write at once."""


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_free(annex: CountedAnnex, count: cython.int, more: cython.int) -> cython.bint:
    """Whether a text can end in time from all states that lead to an end, after ``count`` characters and up to ``more``
    others."""
    i: cython.int
    at: cython.int = annex.block.n * annex.row_of[count]
    if count + more > annex.top or annex.row_of[count] != annex.row_of[count + more]:
        return False
    for i in range(annex.block.n):
        if annex.need[i] < NO_END and not annex.can[at + i]:
            return False
    return True


@cython.cclass
class CountedRecords(MaskRecords):
    """See the module docstring. ``counted`` is None where the grammar has no such automata."""

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_counted(self) -> cython.int:
        """Once the records have their program."""
        if self.a.n_counted > 0:
            self.counted = CountedWalk(self.a, self.t, self.walk)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def counted_record(self, g: cython.int, k: cython.int, annex: CountedAnnex, place: cython.int) -> cython.int:
        """The record of a place of automaton ``k`` beside a counter.

        Many share one: where all ends of a text are long enough those of a state (kind 16; 18: what ``counted.kept``
        has of it) that are far from the greatest count, also where no token comes to an end and each count leads to
        one, and where no token is long enough for an end (17)."""
        state: cython.int = place % annex.block.n
        count: cython.int = place // annex.block.n
        left: cython.int = annex.top - count
        kind: cython.int = 500000000 + 5 * self.generation
        depth: cython.int = self.t.max_depth
        key: cython.int = self.a.c_base[k] + state
        at: cython.int
        all_of: cython.int = 0
        r: cython.int
        long_enough: cython.bint = count + annex.need[state] >= annex.least
        if (long_enough or (annex.need[state] >= FAR and _is_free(annex, count, depth))) and (
                annex.endless or left >= annex.need[state] + LONG):
            r = self.a.memo.get(kind + 16, g, key)
            if r < 0:
                r = self._read_place(g, k, annex, place, False)
                self.a.memo.put(kind + 16, g, key, r)
                self.a.memo.put(kind + 18, g, key, self.counted.keep())
            at = self.a.memo.get(kind + 18, g, key)
            if not long_enough and self.rc_next[2 * r] != 0:
                pass  # where a text ends within a token it may be too short
            elif annex.endless or left >= self.counted.kept[at + REACH]:
                return r
            elif left >= self.counted.kept[at + LEAVES] and left >= self.counted.kept[at + KNOWN]:
                all_of = r
        elif count + depth < annex.least and annex.row_of[count] == annex.row_of[count + depth]:
            key += annex.row_of[count] * annex.block.n
            r = self.a.memo.get(kind + 17, g, key)
            if r < 0:
                r = self._read_place(g, k, annex, place, True)
                self.a.memo.put(kind + 17, g, key, r)
            return r
        key = self.a.c_base[k] + place
        r = self.a.memo.get(kind + 19, g, key)
        if r < 0:
            r = self._cut_record(all_of, at, left) if all_of > 0 and self.rc_base[all_of] != NONE else (
                self._read_place(g, k, annex, place, True))
            self.a.memo.put(kind + 19, g, key, r)
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_place(self, g: cython.int, k: cython.int, annex: CountedAnnex, place: cython.int,
                    bounded: cython.bint) -> cython.int:
        """A new record: what ``counted`` reads from a place."""
        u: cython.int = self.counted.read(g, k, annex, place, bounded)
        r: cython.int
        left: cython.int
        self.take_walk()
        left = self.groups.finish()
        if left == 0 and self.masks.base == NONE and self.masks.n_ex == 0:
            return 0
        r = self.new_record(self.masks.base, 0)
        self.rc_next[2 * r] = left
        self.rc_next[2 * r + 1] = u
        return r

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _cut_record(self, all_of: cython.int, at: cython.int, left: cython.int) -> cython.int:
        """Record ``all_of``, a row of its own, without the tokens listed at ``at`` that need more than ``left``
        characters."""
        row: cython.p_uint = self.masks.b_row[self.rc_base[all_of]]
        out: cython.p_uint
        i: cython.int
        token: cython.int
        r: cython.int
        self.masks.need_scratch()
        out = self.masks.scratch
        for i in range(self.words):
            out[i] = row[i]
        at += 4
        for i in range(at, at + 2 * self.counted.kept[at - 4 + LISTED], 2):
            if self.counted.kept[i] > left:
                token = self.counted.kept[i + 1]
                out[token >> 5] &= ~(cython.cast(cython.uint, 1) << (token & 31))
        self.masks.begin(self.masks.own_base())
        r = self.new_record(self.masks.base, 0)
        self.rc_next[2 * r] = self.rc_next[2 * all_of]
        self.rc_next[2 * r + 1] = self.rc_next[2 * all_of + 1]
        return r
