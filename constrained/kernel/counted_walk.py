# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens a place of an automaton beside a counter reads.

What is found is a record of ``mask_records``: the tokens that end within the automaton, and the trie nodes where it is
left. From the root the trie is read by class nodes (``class_trie``); below those whose states tell bytes of a class
apart, within an escape for instance, node by node (``counted_nodes``).

Where no text ends too soon, all counts of a state read the same but for the greatest count: so a state is read once as
if there were none (not ``bounded``), and it is noted what a bound would take away. Near it the few tokens that need
more characters than are left are taken out of that row; nearer still a place is read by itself.

    al_*[i]         a class node read from the root, its parent before it: state, count and "a text may end here" there
    stands[c]       the place of class node ``c`` in that list while trie nodes are looked for, else -1
    pairs           two classes of the automaton each that one class of ``classes`` has in common
    fits[k]         the common partition (``region_tables``) that automaton ``k`` is read with

Cost: 10 ns a class node and 1 ns a token; 5 us where a row is cut.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.class_trie import ClassTrie
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.counted_nodes import KNOWN, LEAVES, LONG, REACH, CountedNodes
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory, zero_ints
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.token_walk import TokenWalk
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.class_trie import ClassTrie
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.counted_nodes import KNOWN, LEAVES, LONG, REACH, CountedNodes
    from constrained.kernel.exit_groups import ROOT_GROUP
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory, zero_ints
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.token_walk import TokenWalk

PARTITIONS = cython.declare(cython.int, 3)
"""The common partitions of ``region_tables``."""
APART = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class CountedWalk(CountedNodes):
    """See the module docstring. Nothing is made until ``read`` is called."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.fits)
            drop_int(self.pairs)
            drop_int(self.al_c)
            drop_int(self.al_state)
            drop_int(self.al_count)
            drop_int(self.al_ends)
            drop_int(self.stands)
            drop_int(self.tested)

    else:

        def __new__(cls, *args):
            self = CountedNodes.__new__(cls)
            for name in _POINTERS:
                setattr(self, name, None)
            for name in _COUNTERS:
                setattr(self, name, 0)
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie, walk: TokenWalk):
        CountedNodes.__init__(self, automaton, trie, walk)
        self.classes = None
        self.partition = -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def read(self, g: cython.int, k: cython.int, annex: CountedAnnex, place: cython.int,
             bounded: cython.bint) -> cython.int:
        """Put into ``walk.found`` the tokens that a place of automaton ``k`` reads at group ``g`` and that end within
        it, and into ``walk.groups`` the trie nodes where it is left; returns the hole node behind it.

        Not ``bounded``: as if there were no least and no greatest count, and ``kept[kept_len:]`` is filled."""
        state: cython.int = place % annex.block.n
        count: cython.int = place // annex.block.n
        b: cython.int
        i: cython.int
        j: cython.int
        n: cython.int
        x: cython.int
        to: cython.int
        row: cython.int
        node: cython.int
        if not self.next:  # the last that is made
            with cython.gil:
                self.fits = grow_int(self.fits, self.a.n_counted)
                if not self.fits:
                    raise MemoryError
                zero_ints(self.fits, 0, self.a.n_counted)
                self.prepare()
        node = self.behind(k)
        self.walk.found.begin()
        self.walk.lanes.begin()
        self.walk.groups.begin()
        if not bounded:
            count = 0
            self.room(4)
            for i in range(4):
                self.kept[self.kept_len + i] = 0
            self.kept[self.kept_len + KNOWN] = LONG + annex.need[state]
        if g == ROOT_GROUP:
            self.path_state[0] = state
            self.path_count[0] = count
            self.path_ends[0] = 0
            self._choose_classes(k, annex, state)
            self._by_classes(k, annex, bounded, self.classes)
            return node
        row = self.fill_row(k, annex, state)
        self.walk.groups.open(g)
        for b in range(256):
            to = self.next[row + self.a.cls[b]]
            if to < 0:
                continue
            n = self.walk.groups.behind(b)
            for i in range(n):
                x = self.walk.groups.found[i]
                j = self.t.word[x] >> 8
                self.path_state[j - 1] = state
                self.path_count[j - 1] = count
                self.path_ends[j - 1] = 0
                if bounded:
                    self.below(k, annex, x, self.t.end[x])
                else:
                    self.all_below(k, annex, x, self.t.end[x])
        return node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _choose_classes(self, k: cython.int, annex: CountedAnnex, state: cython.int) -> cython.int:
        """Open the class trie that automaton ``k`` is read with: a finer one if ``state`` tells bytes apart at once."""
        row: cython.int = self.fill_row(k, annex, state)
        while True:
            if self.partition != self.fits[k]:
                with cython.gil:
                    self._open_classes(self.fits[k])
            if self.fits[k] == PARTITIONS - 1:
                return 0
            self._states_room(annex.block.n)
            if self._is_alike(row, state):
                return 0
            self.fits[k] += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _open_classes(self, i: cython.int) -> cython.int:
        """Common partition ``i``: its class trie, and the classes of the automaton that it does not tell apart."""
        b: cython.int
        j: cython.int
        found: ClassTrie = self.walk.r.tables.common_trie(self.t, i)
        first = cython.declare(cython.int[256])
        self.partition = i
        self.classes = found
        self.pairs = grow_int(self.pairs, 512)
        self.stands = grow_int(self.stands, found.n)
        if not (self.pairs and self.stands):
            out_of_memory()
        for j in range(found.n):
            self.stands[j] = -1
        for b in range(256):
            first[b] = -1
        self.n_pairs = 0
        for b in range(256):
            j = found.cls[b]
            if first[j] < 0:
                first[j] = self.a.cls[b]
            elif first[j] != self.a.cls[b]:
                self.pairs[2 * self.n_pairs] = first[j]
                self.pairs[2 * self.n_pairs + 1] = self.a.cls[b]
                self.n_pairs += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _alive_room(self, count: cython.int) -> cython.int:
        if count > self.al_cap:
            self.al_cap = 2 * count + 1024
            self.al_c = grow_int(self.al_c, self.al_cap)
            self.al_state = grow_int(self.al_state, self.al_cap)
            self.al_count = grow_int(self.al_count, self.al_cap)
            self.al_ends = grow_int(self.al_ends, self.al_cap)
            if not (self.al_c and self.al_state and self.al_count and self.al_ends):
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _states_room(self, count: cython.int) -> cython.int:
        """``tested`` has a number for each state: ``test`` or ``-test`` where this walk has looked at its row."""
        i: cython.int = self.tested_cap
        if i < count:
            self.tested = grow_int(self.tested, count)
            if not self.tested:
                out_of_memory()
            self.tested_cap = count
            while i < count:
                self.tested[i] = 0
                i += 1
        self.test += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _is_alike(self, row: cython.int, state: cython.int) -> cython.bint:
        """Whether a state, whose row is at ``next[row]``, does the same with all bytes of each class."""
        i: cython.int
        if self.tested[state] != self.test and self.tested[state] != -self.test:
            self.tested[state] = self.test
            for i in range(self.n_pairs):
                if self.next[row + self.pairs[2 * i]] != self.next[row + self.pairs[2 * i + 1]]:
                    self.tested[state] = -self.test
                    break
        return self.tested[state] == self.test

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _by_classes(self, k: cython.int, annex: CountedAnnex, bounded: cython.bint,
                    classes: ClassTrie) -> cython.int:
        """``below`` or ``all_below`` the root, from what stands at depth 0 of the path."""
        i: cython.int = 0
        j: cython.int
        n: cython.int = 1
        c: cython.int
        to: cython.int
        row: cython.int
        count: cython.int
        last: cython.int
        done: cython.int
        state: cython.int
        al_c: cython.p_int
        al_state: cython.p_int
        al_count: cython.p_int
        al_ends: cython.p_int
        final: cython.p_int = annex.final
        cls: cython.p_int = self.a.cls
        table: cython.p_int = self.next
        child_off: cython.p_int = classes.child_off
        bytes_of: cython.p_int = classes.byte
        boundary: cython.int = annex.boundary
        self._states_room(annex.block.n)
        self._alive_room(1)
        self.al_c[0] = 0
        self.al_state[0] = self.path_state[0]
        self.al_count[0] = self.path_count[0]
        self.al_ends[0] = 0
        while i < n:
            c = self.al_c[i]
            j = child_off[c]
            last = child_off[c + 1]
            if j == last:
                i += 1
                continue
            state = self.al_state[i]
            row = self.at[k] + state * self.a.n_classes
            if self.tested[state] != self.test:
                self.fill_row(k, annex, state)
                if not self._is_alike(row, state):
                    self.al_ends[i] |= APART
                    i += 1
                    continue
            if n + last - j > self.al_cap:
                self._alive_room(n + last - j)
            al_c = self.al_c
            al_state = self.al_state
            al_count = self.al_count
            al_ends = self.al_ends
            done = al_count[i]
            i += 1
            while j < last:
                to = table[row + cls[bytes_of[j]]]
                if to >= 0:
                    count = done + (1 if to < boundary else 0)
                    al_c[n] = j
                    al_state[n] = to
                    al_count[n] = count
                    al_ends[n] = final[to]
                    if not bounded:
                        n += 1
                    elif count <= annex.top or annex.endless:
                        count = min(count, annex.top)
                        al_count[n] = count
                        if count < annex.least:
                            al_ends[n] = 0
                        if annex.can_end(count, to):
                            n += 1
                j += 1
        self.count_visited(n)
        if not bounded:
            self._note_needs(annex, n, classes)
        for i in range(1, n):
            c = self.al_c[i]
            if classes.group_off[c] < classes.group_off[c + 1]:
                self.walk.found.add_ids(classes.group, classes.group_off[c], classes.group_off[c + 1])
        self._find_ends(k, bounded, n, classes)
        return self._find_apart(k, annex, bounded, n, classes)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _note_needs(self, annex: CountedAnnex, n: cython.int, classes: ClassTrie) -> cython.int:
        """What bounds would take away from the tokens of the ``n`` class nodes read."""
        i: cython.int
        j: cython.int
        c: cython.int
        count: cython.int
        known: cython.int = self.kept[self.kept_len + KNOWN]
        reach: cython.int = max(known, self.kept[self.kept_len + REACH])
        for i in range(1, n):
            count = self.al_count[i] + annex.need[self.al_state[i]]
            reach = max(reach, count)
            if count > known:
                c = self.al_c[i]
                for j in range(classes.group_off[c], classes.group_off[c + 1]):
                    self.list_token(count, classes.group[j])
        self.kept[self.kept_len + REACH] = reach
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_ends(self, k: cython.int, bounded: cython.bint, n: cython.int, classes: ClassTrie) -> cython.int:
        """The trie nodes where a text may end and that go on with a byte that may follow."""
        b: cython.int
        i: cython.int
        c: cython.int
        x: cython.int
        some: cython.bint = False
        leaves: cython.int = 0
        for i in range(n):
            if self.al_ends[i] == 1:
                self.stands[self.al_c[i]] = i
                some = True
        if not some:
            return 0
        for b in range(256):
            if self.follow[k * self.a.n_classes + self.a.cls[b]] == 0:
                continue
            for i in range(self.t.byte_off[b], self.t.byte_off[b + 1]):
                x = self.t.parent[self.t.by_byte[i]]
                c = self.stands[classes.where[x]]
                if c >= 0:
                    self.walk.groups.add_node(x)
                    leaves = max(leaves, self.al_count[c])
        for i in range(n):
            self.stands[self.al_c[i]] = -1
        if not bounded:
            self.kept[self.kept_len + LEAVES] = max(leaves, self.kept[self.kept_len + LEAVES])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _find_apart(self, k: cython.int, annex: CountedAnnex, bounded: cython.bint, n: cython.int,
                    classes: ClassTrie) -> cython.int:
        """Read the trie itself below the class nodes whose states tell bytes of a class apart.

        Where that is a good part of it, the finest partition is taken from now on."""
        b: cython.int
        i: cython.int
        c: cython.int
        x: cython.int
        depth: cython.int
        walked: cython.int = 0
        asked = cython.declare(cython.int[256])
        if self.al_ends[0] & APART:
            walked = self.t.n_nodes
            self.al_ends[0] = 0
            if bounded:
                self.below(k, annex, 1, self.t.n_nodes)
            else:
                self.all_below(k, annex, 1, self.t.n_nodes)
        else:
            for b in range(256):
                asked[b] = 0
            for i in range(n):
                if self.al_ends[i] & APART:
                    self.stands[self.al_c[i]] = i
                    asked[classes.cls[classes.byte[self.al_c[i]]]] = 1
            for b in range(256):
                if asked[classes.cls[b]] == 0:
                    continue
                for i in range(self.t.byte_off[b], self.t.byte_off[b + 1]):
                    x = self.t.by_byte[i]
                    c = self.stands[classes.where[x]]
                    if c < 0 or self.t.end[x] == x + 1:
                        continue
                    depth = self.t.word[x] >> 8
                    self.path_state[depth] = self.al_state[c]
                    self.path_count[depth] = self.al_count[c]
                    self.path_ends[depth] = self.al_ends[c] & 1
                    walked += self.t.end[x] - x
                    if bounded:
                        self.below(k, annex, x + 1, self.t.end[x])
                    else:
                        self.all_below(k, annex, x + 1, self.t.end[x])
            for i in range(n):
                self.stands[self.al_c[i]] = -1
        if walked > self.t.n_nodes // 16:
            self.fits[k] = PARTITIONS - 1
        return 0


# Uncompiled, attributes do not exist until they are set; compiled, counted_walk.pxd declares them.
_COUNTERS = "partition n_pairs al_cap tested_cap test".split()
_POINTERS = "fits pairs al_c al_state al_count al_ends stands tested".split()
