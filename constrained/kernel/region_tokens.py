# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens a region's automaton reads below a trie node: what the grammars of a vocabulary share.

A region (a string's body, an identifier) is an automaton of a few states. ``region_automaton`` writes it down as a
table, and equal tables below the same trie node have one ``RegionTokens`` in the vocabulary's ``RegionTables``:

    al_c[i]         a class node that the automaton can read; its parent comes before it. Without ``classes`` a node of
                    the token trie, in order: an automaton that reads few of them (NARROW) needs no class trie
    al_need[i]      the rounds of the region's loop that a token takes that ends here, one begun counted in
    al_way[i]       the number of the way out that stands open here, 0 for none
    al_rounds[i]    the rounds done here

From these come rows (``within``) and, for each way out and byte, the trie nodes behind (``leaving``), both made when
first asked for and never moved. ``within`` and ``leaving`` need no GIL: their users hold the object, or what holds it
(``region_tables``).

    a row           ``words + 1`` words, one of them for the token that is none; then how many tokens it has and, up to
                    ROW_IDS, which
    a list          of the trie nodes behind a way out, of the tokens that end at them, and of those with more below;
                    each by the rounds done: three times ``deepest + 2`` ints say where the parts begin

Cost: 2-5 ns a class node, 1 ns a token of a row, 3 ns a trie node with the byte asked for.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.mask_rows import count_row, list_row
    from cython.cimports.constrained.kernel.memory import drop_int, empty_lists, empty_rows, grow_int, grow_uint
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.mask_rows import count_row, list_row
    from constrained.kernel.memory import drop_int, empty_lists, empty_rows, grow_int, grow_uint
    from constrained.kernel.token_trie import TokenTrie

BETWEEN = cython.declare(cython.int, 1 << 24)
FEW = cython.declare(cython.int, 64)
MANY = cython.declare(cython.int, 4096)
ROW_IDS = cython.declare(cython.int, 1023)
NARROW = cython.declare(cython.int, 6000)


@cython.final
@cython.cclass
class RegionTokens:
    """See the module docstring. ``cells``: the table this was made from, empty for one that is not shared.

    ``ways`` and ``counted`` are the maker's (see ``region_automaton``), kept for the next mask that needs the same.
    """

    if cython.compiled:

        def __dealloc__(self):
            i: cython.int
            free(self.cells)
            free(self.al_c)
            free(self.al_need)
            free(self.al_way)
            free(self.al_rounds)
            free(self.standing)
            free(self.ways)
            free(self.map)
            if self.rows:
                for i in range(self.deepest + 2):
                    free(self.rows[i])
                free(self.rows)
            if self.stands:
                for i in range(self.n_ways + 1):
                    free(self.stands[i])
                free(self.stands)
            if self.lists:
                for i in range(256 * (self.n_ways + 1)):
                    free(self.lists[i])
                free(self.lists)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.guard = cython.pymutex()
            self.cells = self.al_c = self.al_need = self.al_way = self.al_rounds = self.standing = self.ways = None
            self.rows = self.lists = self.stands = self.map = None
            self.map_way = 0
            self.n_alive = self.alive_cap = self.n_ways = self.deepest = self.n_cells = self.bytes_held = 0
            self.lo = self.hi = self.number = self.n_own = self.root = 0
            self.hash = 0
            self.counted = False
            return self

    def __init__(self, trie: TokenTrie, classes, root: cython.int):
        """Below trie node ``root``; ``classes``: a ``ClassTrie`` or None.

        Filled by ``run``, ``run_nodes`` or node by node, then ``finish``.
        """
        lo: cython.int = 0
        hi: cython.int = trie.n_tk
        mid: cython.int
        self.classes = classes
        self.root = root
        # the tokens below the root, as places in tk_node
        while lo < hi:
            mid = (lo + hi) >> 1
            if trie.tk_node[mid] <= root:
                lo = mid + 1
            else:
                hi = mid
        self.lo = lo
        hi = trie.n_tk
        while lo < hi:
            mid = (lo + hi) >> 1
            if trie.tk_node[mid] < trie.end[root]:
                lo = mid + 1
            else:
                hi = mid
        self.hi = lo

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, c: cython.int, need: cython.int, way: cython.int, rounds: cython.int) -> cython.bint:
        """Append a class node; False when memory is out."""
        i: cython.int = self.n_alive
        if not self.room(1):
            return False
        self.al_c[i] = c
        self.al_need[i] = need
        self.al_way[i] = way
        self.al_rounds[i] = rounds
        self.n_alive = i + 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def room(self, more: cython.int) -> cython.bint:
        """Room for so many class nodes more; False when memory is out."""
        if self.n_alive + more > self.alive_cap:
            self.alive_cap = 2 * (self.n_alive + more) + 62
            self.al_c = grow_int(self.al_c, self.alive_cap)
            self.al_need = grow_int(self.al_need, self.alive_cap)
            self.al_way = grow_int(self.al_way, self.alive_cap)
            self.al_rounds = grow_int(self.al_rounds, self.alive_cap)
        return self.alive_cap == 0 or (self.al_c and self.al_need and self.al_way and self.al_rounds)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _keep_cells(self, cells: cython.p_int, n_cells: cython.int) -> cython.bint:
        """Copy the table; False when memory is out."""
        j: cython.int
        self.cells = grow_int(self.cells, n_cells + 1)
        if not self.cells:
            return False
        self.n_cells = n_cells
        for j in range(n_cells):
            self.cells[j] = cells[j]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run_nodes(self, trie: TokenTrie, partition: cython.p_const_uchar, n_classes: cython.int, cells: cython.p_int,
                  n_cells: cython.int) -> cython.int:
        """Like ``run``, without class nodes. 0: memory is out; -1: these are more than NARROW nodes."""
        k: cython.int
        d: cython.int
        at: cython.int
        n: cython.int = self.root + 1
        top: cython.int = trie.word[self.root] >> 8
        none: cython.p_int = cython.NULL if cython.compiled else None
        path: cython.p_int = grow_int(none, 2 * (trie.max_depth + 2))
        word: cython.p_int = trie.word
        end: cython.p_int = trie.end
        ok: cython.bint = self._keep_cells(cells, n_cells) and self.add(self.root, 1, 0, 0)
        if not path:
            ok = False
        if ok:
            path[0] = 1  # state and rounds by depth below the root
            path[1] = 0
        while ok and n < end[self.root] and self.n_alive <= NARROW:
            d = 2 * ((word[n] >> 8) - top)
            at = (path[d - 2] - 1) * (n_classes + 1)
            k = cells[at + 1 + partition[word[n] & 255]]
            if k == 0:
                n = end[n]
                continue
            at = (k - 1) * (n_classes + 1)
            path[d] = k
            path[d + 1] = path[d - 1] + (1 if cells[at] & BETWEEN else 0)
            ok = self.add(n, path[d + 1] + (0 if cells[at] & BETWEEN else 1), cells[at] & (BETWEEN - 1), path[d + 1])
            n += 1
        drop_int(path)
        if not ok:
            return 0
        if self.n_alive > NARROW:
            return -1
        return 1 if self.finish(trie) else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run(self, trie: TokenTrie, partition: cython.p_const_uchar, n_classes: cython.int, cells: cython.p_int,
            n_cells: cython.int) -> cython.bint:
        """Read the class trie with the automaton ``cells``; False when memory is out.

        ``1 + n_classes`` ints for each state, numbered from 1, the first being where the walk begins: the number of its
        way out (0: none), with BETWEEN set between the rounds of a counted loop; then the state after a byte of
        each class (0: dead).
        """
        i: cython.int = 0
        j: cython.int
        c: cython.int
        k: cython.int
        at: cython.int
        rounds: cython.int
        child_off: cython.p_int = self.classes.child_off
        byte: cython.p_int = self.classes.byte
        n: cython.int
        al_c: cython.p_int
        al_need: cython.p_int
        al_rounds: cython.p_int
        if not self._keep_cells(cells, n_cells) or not self.add(self.classes.where[self.root], 1, 0, 0):
            return False
        # al_need is the state while the list grows
        while i < self.n_alive:
            at = (self.al_need[i] - 1) * (n_classes + 1) + 1
            rounds = self.al_rounds[i]
            c = self.al_c[i]
            i += 1
            n = self.n_alive
            if not self.room(child_off[c + 1] - child_off[c]):
                return False
            al_c = self.al_c
            al_need = self.al_need
            al_rounds = self.al_rounds
            for j in range(child_off[c], child_off[c + 1]):
                k = cells[at + partition[byte[j]]]
                if k != 0:
                    al_c[n] = j
                    al_need[n] = k
                    al_rounds[n] = rounds + (1 if cells[(k - 1) * (n_classes + 1)] & BETWEEN else 0)
                    n += 1
            self.n_alive = n
        for i in range(self.n_alive):
            k = cells[(self.al_need[i] - 1) * (n_classes + 1)]
            self.al_need[i] = self.al_rounds[i] + (0 if k & BETWEEN else 1)
            self.al_way[i] = k & (BETWEEN - 1)
        return self.finish(trie)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _has_more(self, trie: TokenTrie, c: cython.int) -> cython.bint:
        """Whether anything is below node ``c`` of ``al_c``."""
        if self.classes is None:
            return trie.end[c] > c + 1
        return self.classes.child_off[c] != self.classes.child_off[c + 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def finish(self, trie: TokenTrie) -> cython.bint:
        """After the last class node; the first is the root, where no token ends and nothing leaves."""
        i: cython.int
        k: cython.int
        self.deepest = 0
        self.n_ways = 0
        for i in range(self.n_alive):
            if i == 0 or not self._has_more(trie, self.al_c[i]):
                self.al_way[i] = 0
            if self.al_way[i] > self.n_ways:
                self.n_ways = self.al_way[i]
            if self.al_rounds[i] > self.deepest:
                self.deepest = self.al_rounds[i]
        if self.n_alive:
            self.al_need[0] = 0
        k = (self.n_ways + 1) * (self.deepest + 1)
        self.standing = grow_int(self.standing, k)
        self.rows = empty_rows(self.deepest + 2)
        self.lists = empty_lists(256 * (self.n_ways + 1))
        self.stands = empty_lists(self.n_ways + 1)
        if not (self.standing and self.rows and self.lists and self.stands):
            return False
        for i in range(k):
            self.standing[i] = 0
        for i in range(self.n_alive):
            self.standing[self.al_way[i] * (self.deepest + 1) + self.al_rounds[i]] += 1
        self.bytes_held = 4 * (4 * self.n_alive + k + 512 * (self.n_ways + 1) + self.n_cells) + 500
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def within(self, trie: TokenTrie, most: cython.int) -> cython.p_uint:
        """The row of the tokens that take at most ``most`` rounds; kept. NULL when memory is out."""
        with self.guard:
            if most > self.deepest:
                most = self.deepest + 1
            if not self.rows[most]:
                self.rows[most] = self._row(trie, most)
                self.bytes_held += 4 * (trie.words + ROW_IDS)
            return self.rows[most]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _row(self, trie: TokenTrie, most: cython.int) -> cython.p_uint:
        i: cython.int
        a: cython.int
        k: cython.int
        words: cython.int = trie.words
        row: cython.p_uint = grow_uint(cython.NULL if cython.compiled else None, words + 2)
        if not row:
            return row
        for i in range(words + 2):
            row[i] = 0
        if self.classes is None:
            for a in range(self.n_alive):
                if self.al_need[a] != 0 and self.al_need[a] <= most:
                    k = trie.token[self.al_c[a]]
                    row[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
            row[words] = 0  # where ``spare`` is
        else:
            self._add_groups(words, row, most)
        k = count_row(row, words)
        row[words + 1] = k
        if k <= ROW_IDS:
            row = grow_uint(row, words + 2 + k)
            if row:
                if cython.compiled:
                    list_row(row, words, cython.cast(cython.p_int, row), words + 2)
                else:
                    list_row(row, words, row, words + 2)
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_groups(self, words: cython.int, row: cython.p_uint, most: cython.int) -> cython.void:
        """Set the bits of the tokens of the class nodes."""
        group_off: cython.p_int = self.classes.group_off
        group: cython.p_int = self.classes.group
        group_at: cython.p_int = self.classes.group_at
        a: cython.int
        c: cython.int
        i: cython.int
        k: cython.int
        lo: cython.int
        hi: cython.int
        mid: cython.int
        dense: cython.p_uint = self.classes.rows
        for a in range(self.n_alive):
            if self.al_need[a] == 0 or self.al_need[a] > most:
                continue
            c = self.al_c[a]
            lo = group_off[c]
            hi = group_off[c + 1]
            if self.root == 0 and self.classes.dense[c] >= 0:
                k = self.classes.dense[c] * words
                for i in range(words):
                    row[i] |= dense[k + i]
                continue
            if self.root != 0:
                while lo < hi:
                    mid = (lo + hi) >> 1
                    if group_at[mid] < self.lo:
                        lo = mid + 1
                    else:
                        hi = mid
                hi = group_off[c + 1]
            for i in range(lo, hi):
                if group_at[i] >= self.hi:
                    break
                k = group[i]
                row[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_way(self, number: cython.int, least: cython.int, most: cython.int) -> cython.bint:
        """Whether anything stands at way out ``number`` after ``least`` to ``most`` rounds."""
        rounds: cython.int
        if number > self.n_ways:
            return False
        if most > self.deepest:
            most = self.deepest
        for rounds in range(least, most + 1):
            if self.standing[number * (self.deepest + 1) + rounds] != 0:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def leaving(self, trie: TokenTrie, number: cython.int, b: cython.int) -> cython.p_int:
        """The trie nodes with byte ``b`` right behind where way out ``number`` stands open; kept. NULL: no memory.

        By the rounds done there: those after ``r`` rounds are ``list[list[r]:list[r + 1]]``, ``r <= deepest``. Then,
        with ``deepest + 2`` added to ``r``, the tokens that end at them, and twice that, the nodes with more below.
        """
        at: cython.int = 256 * number + b
        with self.guard:
            if not self.lists[at]:
                self.lists[at] = self._list(trie, number, b)
            return self.lists[at]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _list(self, trie: TokenTrie, number: cython.int, b: cython.int) -> cython.p_int:
        """Find the nodes with their rounds, then sort them by these."""
        head: cython.int = self.deepest + 2
        i: cython.int
        r: cython.int
        x: cython.int
        n: cython.int = 0
        buf: cython.p_int = cython.NULL if cython.compiled else None
        found: cython.p_int
        for i in range(self.deepest + 1):
            n += self.standing[number * (self.deepest + 1) + i]
        if n == 0:
            buf = grow_int(buf, 1)
            if buf:
                buf[0] = 0
        elif n <= FEW or self.classes is None:
            if not self.stands[number]:
                self.stands[number] = self._members(trie, number)
            if not self.stands[number]:
                return buf
            if self.stands[number][0] >= 0:
                buf = self._near(trie, self.stands[number], b)
            else:
                buf = self._among(trie, number, b)
        else:
            buf = self._among(trie, number, b)
        if not buf:
            return buf
        n = buf[0]
        found = grow_int(cython.NULL if cython.compiled else None, 3 * (head + n))
        if found:
            for i in range(3 * head):
                found[i] = 0
            for i in range(n):
                x = buf[2 * i + 1]
                r = buf[2 * i + 2]
                found[r + 1] += 1
                if trie.token[x] != trie.spare:
                    found[head + r + 1] += 1
                if trie.end[x] > x + 1:
                    found[2 * head + r + 1] += 1
            found[0] = 3 * head
            for i in range(1, 3 * head):
                found[i] += found[i - 1]  # a part's first is 0 so far: it begins where the one before ends
            # found[r] is the beginning of the nodes after r rounds; while they are set it moves to their end
            for i in range(n):
                x = buf[2 * i + 1]
                r = buf[2 * i + 2]
                found[found[r]] = x
                found[r] += 1
                if trie.token[x] != trie.spare:
                    found[found[head + r]] = trie.token[x]
                    found[head + r] += 1
                if trie.end[x] > x + 1:
                    found[found[2 * head + r]] = x
                    found[2 * head + r] += 1
            i = 3 * head - 1
            while i > 0:
                found[i] = found[i - 1]
                i -= 1
            found[0] = 3 * head
            self.bytes_held += 12 * (head + n)
        if cython.compiled:
            free(buf)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _near(self, trie: TokenTrie, stand: cython.p_int, b: cython.int) -> cython.p_int:
        """How many there are, then node and rounds of each, from the few trie nodes where the way out stands open."""
        i: cython.int
        n: cython.int = 0
        x: cython.int
        y: cython.int
        buf: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 2 * stand[0] + 1)
        if not buf:
            return buf
        for i in range(stand[0]):
            y = stand[2 * i + 1]
            x = y + 1
            while x < trie.end[y] and (trie.word[x] & 255) < b:
                x = trie.end[x]
            if x < trie.end[y] and (trie.word[x] & 255) == b:
                buf[2 * n + 1] = x
                buf[2 * n + 2] = stand[2 * i + 2]
                n += 1
        buf[0] = n
        return buf

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _members(self, trie: TokenTrie, number: cython.int) -> cython.p_int:
        """How many trie nodes stand at a way out, then node and rounds of each: level by level from the root.

        -1 and nothing else where that looks at more than MANY nodes.
        """
        if self.classes is None:
            return self._standing_nodes(number)
        path: cython.p_int = grow_int(cython.NULL if cython.compiled else None, trie.max_depth + 2)
        nodes: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 64)
        below: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 64)
        found: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 65)
        swap: cython.p_int
        cap: cython.int = 64
        room: cython.int = 32
        depth: cython.int
        top: cython.int = self.classes.where[self.root]
        a: cython.int
        c: cython.int
        i: cython.int
        k: cython.int
        n: cython.int
        m: cython.int = 0
        x: cython.int
        seen: cython.int = 0
        if not (path and nodes and below and found):
            return cython.NULL if cython.compiled else None
        for a in range(self.n_alive):
            if self.al_way[a] != number:
                continue
            depth = 0
            c = self.al_c[a]
            while c != top:
                path[depth] = c
                depth += 1
                c = self.classes.parent[c]
            nodes[0] = self.root
            n = 1
            while depth > 0:
                depth -= 1
                c = self.classes.cls[self.classes.byte[path[depth]]]
                k = 0
                for i in range(n):
                    x = nodes[i] + 1
                    while x < trie.end[nodes[i]]:
                        if self.classes.cls[trie.word[x] & 255] == c:
                            if k >= cap:
                                cap = cap * 2
                                nodes = grow_int(nodes, cap)
                                below = grow_int(below, cap)
                                if not (nodes and below):
                                    return cython.NULL if cython.compiled else None
                            below[k] = x
                            k += 1
                        x = trie.end[x]
                swap = nodes
                nodes = below
                below = swap
                n = k
                seen += k
                if seen > MANY:
                    break
            if seen > MANY:
                m = -1
                break
            if m + n > room:
                room = 2 * (m + n)
                found = grow_int(found, 2 * room + 1)
                if not found:
                    return found
            for i in range(n):
                found[2 * m + 1] = nodes[i]
                found[2 * m + 2] = self.al_rounds[a]
                m += 1
        found[0] = m
        if cython.compiled:
            free(path)
            free(nodes)
            free(below)
        self.bytes_held += 4 * room
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _standing_nodes(self, number: cython.int) -> cython.p_int:
        """``_members`` where nodes are the trie's."""
        a: cython.int
        m: cython.int = 0
        found: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 2 * self.n_alive + 1)
        if found:
            for a in range(self.n_alive):
                if self.al_way[a] == number:
                    found[2 * m + 1] = self.al_c[a]
                    found[2 * m + 2] = self.al_rounds[a]
                    m += 1
            found[0] = m
            self.bytes_held += 8 * self.n_alive
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _among(self, trie: TokenTrie, number: cython.int, b: cython.int) -> cython.p_int:
        """The same, from all trie nodes with the byte."""
        where: cython.p_int = self.classes.where
        parent: cython.p_int = trie.parent
        by_byte: cython.p_int = trie.by_byte
        lo: cython.int = trie.byte_off[b]
        last: cython.int = trie.byte_off[b + 1]
        hi: cython.int = last
        end: cython.int = trie.end[self.root]
        mid: cython.int
        i: cython.int
        r: cython.int
        n: cython.int = 0
        rounds: cython.p_int
        buf: cython.p_int = cython.NULL if cython.compiled else None
        if not self.map or self.map_way != number:
            self._map(number)
        rounds = self.map
        while lo < hi:
            mid = (lo + hi) >> 1
            if by_byte[mid] <= self.root:
                lo = mid + 1
            else:
                hi = mid
        buf = grow_int(buf, 2 * (last - lo) + 1)
        if rounds and buf:
            for i in range(lo, last):
                if by_byte[i] >= end:
                    break
                r = rounds[where[parent[by_byte[i]]]]
                if r >= 0:
                    buf[2 * n + 1] = by_byte[i]
                    buf[2 * n + 2] = r
                    n += 1
            buf[0] = n
        return buf

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _map(self, number: cython.int) -> cython.void:
        """Fill ``map``: the rounds done at each class node where a way out stands open, else -1; for all its bytes."""
        n_classes: cython.int = self.classes.n
        i: cython.int
        if not self.map:
            self.map = grow_int(self.map, n_classes)
            if not self.map:
                return
            self.bytes_held += 4 * n_classes
        for i in range(n_classes):
            self.map[i] = -1
        for i in range(self.n_alive):
            if self.al_way[i] == number:
                self.map[self.al_c[i]] = self.al_rounds[i]
        self.map_way = number
