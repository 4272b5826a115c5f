# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Records of the items of a set loop that are read together.

Idea
    A thread over an *open* tail (``kernel.item_choice``) reads the keys of thousands of items at once. They are
    followed down both tries, of keys and of tokens, side by side: a token belongs to it where some item that may still
    be written goes on with it, or is told by it. Which these are depends on what is written, so such a record is one
    mask's alone.

Data
    telling      pairs (trie node, det): where items have been told within a token, and what goes on there
    walk         its stack of tasks has the trie nodes still to be followed, and the dets there

Cost: a step of a det (5 ns) and a look at the items behind it for each trie node that some key reaches.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.counted_records import CountedRecords
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP
    from cython.cimports.constrained.kernel.item_choice import lives_open, open_part
    from cython.cimports.constrained.kernel.mask_store import NONE
    from cython.cimports.constrained.kernel.pair_list import PairList
else:
    from constrained.kernel.counted_records import CountedRecords
    from constrained.kernel.exit_groups import ROOT_GROUP
    from constrained.kernel.item_choice import lives_open, open_part
    from constrained.kernel.mask_store import NONE
    from constrained.kernel.pair_list import PairList


@cython.cclass
class ChoiceRecords(CountedRecords):
    """See the module docstring. ``load_choices`` comes first."""

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def load_choices(self) -> cython.int:
        """Once the automaton has its program."""
        if self.a.choices:
            self.telling = PairList()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def choice_record(self, g: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """A new record: what det ``d`` over the open tail ``n`` reads at group ``g``; 0 if it is empty.

        Where an item is told is in ``telling``."""
        b: cython.int
        i: cython.int
        x: cython.int
        t: cython.int = self.a.det_first(d)
        self.walk._begin(False)
        self.telling.clear()
        if g != ROOT_GROUP:
            self.groups.open(g)
        for b in range(256):
            if (self.a.firsts[t + (self.a.cls[b] >> 5)] >> (self.a.cls[b] & 31)) & 1:
                if g == ROOT_GROUP:
                    x = self.t.children[self.t.child_table(0) + b]
                    if x != 0:
                        self._take_key(x, self.a.det_step(d, self.a.cls[b]), n)
                    continue
                for i in range(self.groups.behind(b)):
                    self._take_key(self.groups.found[i], self.a.det_step(d, self.a.cls[b]), n)
        while self.walk.n_tasks > 0:
            self.walk.n_tasks -= 1
            x = self.walk.task_x[self.walk.n_tasks]
            d = self.walk.task_node[self.walk.n_tasks]
            i = x + 1
            t = self.a.det_first(d)
            while i < self.t.end[x]:
                b = self.a.cls[self.t.word[i] & 255]
                if (self.a.firsts[t + (b >> 5)] >> (b & 31)) & 1:
                    self._take_key(i, self.a.det_step(d, b), n)
                i = self.t.end[i]
        self.take_walk()
        if self.masks.base == NONE and self.masks.n_ex == 0:
            return 0
        return self.new_record(self.masks.base, 0)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _take_key(self, x: cython.int, d: cython.int, n: cython.int) -> cython.int:
        """Trie node ``x`` has been read, and det ``d`` over the open tail ``n`` is left: take its token, and go on."""
        k: cython.int = open_part(self.a, d)
        goes: cython.bint = k != 0 and lives_open(self.a, k, n, False)
        tells: cython.bint = k != d and lives_open(self.a, d, n, True)
        if goes or tells:
            self.walk.found.add_at(x)
        if goes and self.t.end[x] > x + 1:
            self.walk._push_task(x, k)
        if tells:
            self.telling.add(x, d)
        return 0
