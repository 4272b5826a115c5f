# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Automata beside a counter, read node by node: arithmetic on states and counts.

Of such an automaton (``kernel.counted_annex``) every count has places of its own, so a walk of states would make new
ones at every token of a text. Here the vocabulary's trie is walked with a state and a count, and no state is made.

    next[at[k] + s * classes + c]   the state of automaton ``k`` after a byte of class ``c``, -1 none; -2 in the first
                                    class: this row is not filled yet
    follow[k * classes + c]         1 where a byte of the class may follow behind the automaton
    path_*[depth]                   state, count and "a text may end here, and nobody was told" on the way to a node
    kept[at ..]                     of a state read without bounds: the most characters that a token needs to an end
                                    (``REACH``), the most before the automaton is left (``LEAVES``), the characters
                                    beyond which what tokens need is listed (``KNOWN``), how many are listed; for each
                                    the characters and the token

Cost: 6-8 ns a trie node, most of it waiting for the trie.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import NO_END
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.memory import drop_int, grow_int, out_of_memory
    from cython.cimports.constrained.kernel.stacks import HOLE_NODE
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.token_walk import TokenWalk
else:
    from constrained.kernel.annexes import NO_END
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.counted_annex import CountedAnnex
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


@cython.cclass
class CountedNodes:
    """See the module docstring. ``prepare`` comes before anything is read."""

    if cython.compiled:

        def __dealloc__(self):
            drop_int(self.next)
            drop_int(self.at)
            drop_int(self.follow)
            drop_int(self.path_state)
            drop_int(self.path_count)
            drop_int(self.path_ends)
            drop_int(self.kept)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _POINTERS:
                setattr(self, name, None)
            self.kept_len = self.kept_cap = 0
            return self

    def __init__(self, automaton: Automaton, trie: TokenTrie, walk: TokenWalk):
        self.a = automaton
        self.t = trie
        self.walk = walk

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def prepare(self) -> cython.int:
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
        if not (self.at and self.follow and self.path_state and self.path_count and self.path_ends):
            out_of_memory()
        for k in range(self.a.n_counted):
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

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def fill_row(self, k: cython.int, annex: CountedAnnex, state: cython.int) -> cython.int:
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

    @cython.final
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

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def room(self, more: cython.int) -> cython.int:
        if self.kept_len + more > self.kept_cap:
            self.kept_cap = 2 * (self.kept_len + more) + 1024
            self.kept = grow_int(self.kept, self.kept_cap)
            if not self.kept:
                out_of_memory()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep(self) -> cython.int:
        """Where ``kept`` has what the last walk without bounds has filled; it stays there until ``forget``."""
        at: cython.int = self.kept_len
        self.kept_len = at + 4 + 2 * self.kept[at + LISTED]
        return at

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Drop what is kept."""
        self.kept_len = 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def all_below(self, k: cython.int, annex: CountedAnnex, x: cython.int, last: cython.int) -> cython.int:
        """``below`` without bounds, which notes what bounds would take away."""
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
                self.fill_row(k, annex, states[depth - 1])
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
                    self.list_token(count, token[x])
            x += 1
        self.walk.found.n_tk = n_tk
        self.kept[self.kept_len + REACH] = max(reach, known)
        self.kept[self.kept_len + LEAVES] = max(leaves, self.kept[self.kept_len + LEAVES])
        return self.count_visited(visited)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def list_token(self, count: cython.int, token: cython.int) -> cython.int:
        """``token`` needs ``count`` characters. Where too many do, no bound is far enough for the list."""
        at: cython.int = self.kept_len
        n: cython.int = self.kept[at + LISTED]
        if n >= MOST_LISTED:
            self.kept[at + LEAVES] = NO_END
            return 0
        self.room(6 + 2 * n)
        self.kept[at + 4 + 2 * n] = count
        self.kept[at + 5 + 2 * n] = token
        self.kept[at + LISTED] = n + 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def count_visited(self, visited: cython.int) -> cython.int:
        self.walk.visited += visited
        if self.walk.visited > self.walk.max_walk_nodes:
            with cython.gil:
                raise WalkLimitReached(self.walk.visited)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def below(self, k: cython.int, annex: CountedAnnex, x: cython.int, last: cython.int) -> cython.int:
        """Read the trie nodes ``x .. last``, whose parents are on the path."""
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
                self.fill_row(k, annex, state)
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
            if not annex.can_end(count, state):
                x = end[x]
                continue
            self.path_state[depth] = state
            self.path_count[depth] = count
            self.path_ends[depth] = annex.final[state] if count >= annex.least else 0
            if self.t.token[x] != self.t.spare:
                self.walk.found.add_at(x)
            x += 1
        return self.count_visited(visited)


# Uncompiled, attributes do not exist until they are set; compiled, counted_nodes.pxd declares them.
_POINTERS = "next at follow path_state path_count path_ends kept".split()
