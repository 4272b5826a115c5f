# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens a place of an automaton beside a counter reads: arithmetic on states and counts.

Of such an automaton (``kernel.counted_annex``) every count has places of its own, so a walk of states would make new
ones at every token of a text. Here the vocabulary's trie is walked with a state and a count, and no state is made. What
is found is a record of ``mask_records``: the tokens that end within the automaton, and the trie nodes where it is left.

    next[at[k] + s * classes + c]   the state of automaton ``k`` after a byte of class ``c``, -1 none; -2 in the first
                                    class: this row is not filled yet
    follow[k * classes + c]         1 where a byte of the class may follow behind the automaton
    path_*[depth]                   state, count and "a text may end here, and nobody was told" on the way to a node

Where a text may end, all counts of a state read the same but for the greatest count: so a state is read once as if
there were none (``read_all``), and it is noted what a bound would take away. Near it the few tokens that need more
characters than are left are taken out of that row; nearer still a place is read by itself (``read``).

    al_*[i]         a class node read from the root, its parent before it: state, count and "a text may end here" there
    stands[c]       the place of class node ``c`` in that list while trie nodes are looked for, else -1
    pairs           two classes of the automaton each that one class of ``classes`` has in common
    fits[k]         the common partition (``region_tables``) that automaton ``k`` is read with

From the root the trie is read by class nodes (``class_trie``). Below those whose states tell bytes of a class apart,
within an escape for instance, it is read node by node.

    kept[at ..]     of a state: the most characters that a token needs to an end (``REACH``), the most before the
                    automaton is left (``LEAVES``), the characters beyond which what tokens need is listed (``KNOWN``),
                    how many are listed; for each the characters and the token

Cost: 6-8 ns a trie node, most of it waiting for the trie, or 10 ns a class node and 1 ns a token; 5 us where a row is
cut.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.class_trie import ClassTrie
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.exit_groups import ROOT_GROUP
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.token_walk import TokenWalk
else:
    from constrained.kernel.annexes import NO_END
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.class_trie import ClassTrie
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.exit_groups import ROOT_GROUP
    from constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from constrained.kernel.stacks import HOLE_NODE
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.token_walk import TokenWalk

from constrained.kernel.token_walk import WalkLimitReached  # noqa: E402 - a Python name in both modes

REACH = cython.declare(cython.int, 0)
LEAVES = cython.declare(cython.int, 1)
KNOWN = cython.declare(cython.int, 2)
LISTED = cython.declare(cython.int, 3)
LONG = cython.declare(cython.int, 16)
"""Characters beyond what a state needs from which on tokens are listed: few are longer."""
MOST_LISTED = cython.declare(cython.int, 8192)
PARTITIONS = cython.declare(cython.int, 3)
"""The common partitions of ``region_tables``."""
APART = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class CountedWalk:
    """See the module docstring. Nothing is made until ``read`` is called."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.next)
            drop_int(self.at)
            drop_int(self.follow)
            drop_int(self.path_state)
            drop_int(self.path_count)
            drop_int(self.path_ends)
            drop_int(self.kept)
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
            self = object.__new__(cls)
            for name in _POINTERS:
                setattr(self, name, None)
            for name in _COUNTERS:
                setattr(self, name, 0)
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie, walk: TokenWalk):
        self.a = automaton
        self.t = trie
        self.walk = walk
        self.classes = None
        self.partition = -1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _prepare(self) -> cython.int:
        """Room for the tables of all automata."""
        k: cython.int
        i: cython.int
        total: cython.longlong = 0
        annex: CountedAnnex
        classes: cython.int = self.a.n_classes
        self.at = grow_int(self.at, self.a.n_counted)
        self.follow = grow_int(self.follow, self.a.n_counted * classes)
        self.path_state = grow_int(self.path_state, self.t.max_depth + 2)
        self.path_count = grow_int(self.path_count, self.t.max_depth + 2)
        self.path_ends = grow_int(self.path_ends, self.t.max_depth + 2)
        self.fits = grow_int(self.fits, self.a.n_counted)
        if not (self.at and self.follow and self.path_state and self.path_count and self.path_ends and self.fits):
            out_of_memory()
        for k in range(self.a.n_counted):
            self.fits[k] = 0
            annex = cython.cast(CountedAnnex, self.a.c_annex[k])
            self.at[k] = cython.cast(cython.int, total)
            total += cython.cast(cython.longlong, annex.block.n) * classes
            if total > 1 << 29:
                out_of_memory()
            self.follow[k * classes] = -2
        self.next = grow_int(self.next, cython.cast(cython.int, total))
        if not self.next:
            out_of_memory()
        for k in range(self.a.n_counted):
            annex = cython.cast(CountedAnnex, self.a.c_annex[k])
            for i in range(annex.block.n):
                self.next[self.at[k] + i * classes] = -2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _fill_row(self, k: cython.int, annex: CountedAnnex, state: cython.int) -> cython.int:
        """Where ``next`` has the row of a state, filled."""
        row: cython.int = self.at[k] + state * self.a.n_classes
        i: cython.int
        b: cython.int
        if self.next[row] != -2:
            return row
        for i in range(self.a.n_classes):
            self.next[row + i] = -1
        for i in range(annex.block.first[state], annex.block.first[state + 1]):
            if annex.need[annex.block.to[i]] < NO_END:
                for b in range(annex.block.lo[i], annex.block.hi[i] + 1):
                    self.next[row + self.a.cls[b]] = annex.block.to[i]
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def behind(self, k: cython.int) -> cython.int:
        """The hole node behind automaton ``k``; and its line of ``follow`` is filled."""
        classes: cython.int = self.a.n_classes
        i: cython.int
        d: cython.int
        at: cython.int
        self.a.buf[0] = self.a.c_end[k]
        d = self.a.closure(1)
        d = self.a.intern_det(d)
        if self.follow[k * classes] == -2:
            at = self.a.det_first(d)
            for i in range(classes):
                self.follow[k * classes + i] = 1 if self.a.d_flags[d] != 2 or (
                    self.a.firsts[at + (i >> 5)] >> (i & 31) & 1) else 0
        i = self.a.it_len
        self.a.add_pair(d, HOLE_NODE)
        return self.a.canonical(i)

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
                self._prepare()
        node = self.behind(k)
        self.walk.found.begin()
        self.walk.lanes.begin()
        self.walk.groups.begin()
        if not bounded:
            count = 0
            self._room(4)
            for i in range(4):
                self.kept[self.kept_len + i] = 0
            self.kept[self.kept_len + KNOWN] = LONG + annex.need[state]
        if g == ROOT_GROUP:
            self.path_state[0] = state
            self.path_count[0] = count
            self.path_ends[0] = 0
            if self.partition != self.fits[k]:
                with cython.gil:
                    self._open_classes(self.fits[k])
            self._by_classes(k, annex, bounded, self.classes)
            return node
        row = self._fill_row(k, annex, state)
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
                    self._below(k, annex, x, self.t.end[x])
                else:
                    self._all_below(k, annex, x, self.t.end[x])
        return node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _room(self, more: cython.int) -> cython.int:
        if self.kept_len + more > self.kept_cap:
            self.kept_cap = 2 * (self.kept_len + more) + 1024
            self.kept = grow_int(self.kept, self.kept_cap)
            if not self.kept:
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep(self) -> cython.int:
        """Where ``kept`` has what the last walk without bounds has filled; it stays there until ``forget``."""
        at: cython.int = self.kept_len
        self.kept_len = at + 4 + 2 * self.kept[at + LISTED]
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Drop what is kept."""
        self.kept_len = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _all_below(self, k: cython.int, annex: CountedAnnex, x: cython.int, last: cython.int) -> cython.int:
        """``_below`` without bounds, which notes what bounds would take away."""
        classes: cython.int = self.a.n_classes
        table: cython.p_int = self.next
        shift: cython.int = self.at[k]
        beside: cython.int = k * classes
        visited: cython.int = 0
        reach: cython.int = self.kept[self.kept_len + REACH]
        known: cython.int = self.kept[self.kept_len + KNOWN]
        leaves: cython.int = 0
        depth: cython.int
        row: cython.int
        byte: cython.int
        state: cython.int
        count: cython.int
        n_tk: cython.int
        room: cython.int
        cls: cython.p_int = self.a.cls
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        token: cython.p_int = self.t.token
        states: cython.p_int = self.path_state
        counts: cython.p_int = self.path_count
        ends: cython.p_int = self.path_ends
        tk: cython.p_int
        spare: cython.int = self.t.spare
        boundary: cython.int = annex.boundary
        most: cython.int = annex.most_need
        self.walk.found.need(1)
        tk = self.walk.found.tk
        room = self.walk.found.tk_cap - 1
        n_tk = self.walk.found.n_tk
        while x < last:
            visited += 1
            depth = word[x] >> 8
            byte = cls[word[x] & 255]
            row = shift + states[depth - 1] * classes
            if ends[depth - 1] != 0 and self.follow[beside + byte]:
                self.walk.groups.add_node(self.t.parent[x])
                ends[depth - 1] = 0
                leaves = max(leaves, counts[depth - 1])
            if table[row] == -2:
                self._fill_row(k, annex, states[depth - 1])
            state = table[row + byte]
            if state < 0:
                x = end[x]
                continue
            count = counts[depth - 1] + (1 if state < boundary else 0)
            states[depth] = state
            counts[depth] = count
            ends[depth] = annex.final[state]
            if token[x] != spare:
                tk[n_tk] = token[x]
                n_tk += 1
                if n_tk >= room:
                    self.walk.found.n_tk = n_tk
                    self.walk.found.need(1)
                    tk = self.walk.found.tk
                    room = self.walk.found.tk_cap - 1
            if depth + most > known:
                count += annex.need[state]
                reach = max(reach, count)
                if count > known and token[x] != spare:
                    self._list(count, token[x])
            x += 1
        self.walk.found.n_tk = n_tk
        self.kept[self.kept_len + REACH] = max(reach, known)
        self.kept[self.kept_len + LEAVES] = max(leaves, self.kept[self.kept_len + LEAVES])
        return self._count_visited(visited)

    # ---- by class nodes ------------------------------------------------------------------------------

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
        """``_below`` or ``_all_below`` the root, from what stands at depth 0 of the path."""
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
        states: cython.int = annex.block.n
        boundary: cython.int = annex.boundary
        self._states_room(states)
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
                self._fill_row(k, annex, state)
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
                        if annex.rows[states * annex.row_of[count] + to] < NO_END:
                            n += 1
                j += 1
        self._count_visited(n)
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
                    self._list(count, classes.group[j])
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
                self._below(k, annex, 1, self.t.n_nodes)
            else:
                self._all_below(k, annex, 1, self.t.n_nodes)
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
                        self._below(k, annex, x + 1, self.t.end[x])
                    else:
                        self._all_below(k, annex, x + 1, self.t.end[x])
            for i in range(n):
                self.stands[self.al_c[i]] = -1
        if walked > self.t.n_nodes // 16:
            self.fits[k] = PARTITIONS - 1
        return 0

    # ---- node by node --------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _list(self, count: cython.int, token: cython.int) -> cython.int:
        """``token`` needs ``count`` characters. Where too many do, no bound is far enough for the list."""
        at: cython.int = self.kept_len
        n: cython.int = self.kept[at + LISTED]
        if n >= MOST_LISTED:
            self.kept[at + LEAVES] = NO_END
            return 0
        self._room(6 + 2 * n)
        self.kept[at + 4 + 2 * n] = count
        self.kept[at + 5 + 2 * n] = token
        self.kept[at + LISTED] = n + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _count_visited(self, visited: cython.int) -> cython.int:
        self.walk.visited += visited
        if self.walk.visited > self.walk.max_walk_nodes:
            with cython.gil:
                raise WalkLimitReached(self.walk.visited)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _below(self, k: cython.int, annex: CountedAnnex, x: cython.int, last: cython.int) -> cython.int:
        """Read the trie nodes ``x .. last``, whose parents are on the path."""
        n: cython.int = annex.block.n
        classes: cython.int = self.a.n_classes
        table: cython.int = self.at[k]
        beside: cython.int = k * classes
        visited: cython.int = 0
        depth: cython.int
        byte: cython.int
        state: cython.int
        count: cython.int
        word: cython.p_int = self.t.word
        end: cython.p_int = self.t.end
        while x < last:
            visited += 1
            depth = word[x] >> 8
            byte = self.a.cls[word[x] & 255]
            state = self.path_state[depth - 1]
            if self.path_ends[depth - 1] != 0 and self.follow[beside + byte]:
                self.walk.groups.add_node(self.t.parent[x])
                self.path_ends[depth - 1] = 0
            if self.next[table + state * classes] == -2:
                self._fill_row(k, annex, state)
            state = self.next[table + state * classes + byte]
            if state < 0:
                x = end[x]
                continue
            count = self.path_count[depth - 1]
            if state < annex.boundary:
                if count < annex.top:
                    count += 1
                elif not annex.endless:
                    x = end[x]
                    continue
            if annex.rows[n * annex.row_of[count] + state] >= NO_END:
                x = end[x]
                continue
            self.path_state[depth] = state
            self.path_count[depth] = count
            self.path_ends[depth] = annex.final[state] if count >= annex.least else 0
            if self.t.token[x] != self.t.spare:
                self.walk.found.add_at(x)
            x += 1
        return self._count_visited(visited)


# Uncompiled, attributes do not exist until they are set; compiled, counted_walk.pxd declares them.
_COUNTERS = "kept_len kept_cap partition n_pairs al_cap tested_cap test".split()
_POINTERS = """
next at follow path_state path_count path_ends kept fits pairs al_c al_state al_count al_ends stands tested
""".split()
