# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which tokens a region's automaton reads below a trie node: what the grammars of a vocabulary share.

Equal tables of regions (``region_automaton``) below the same trie node have one ``RegionTokens`` in the vocabulary's
``RegionTables``. From the nodes that it reads (``region_reach``) come rows (``within``) and, for each way out and byte,
the trie nodes behind (``leaving``), both made when first asked for and never moved. They need no GIL: their users hold
the object, or what holds it (``region_tables``).

    a row           ``words + 1`` words, one of them for the token that is none; then how many tokens it has and, up to
                    ROW_IDS, which
    a list          of the trie nodes behind a way out, of the tokens that end at them, and of those with more below;
                    each by the rounds done: three times ``deepest + 2`` ints say where the parts begin

Cost: 1 ns a token of a row, 3 ns a trie node with the byte asked for.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.mask_rows import count_row, list_row
    from cython.cimports.constrained.kernel.memory import empty_lists, empty_rows, grow_int, grow_uint
    from cython.cimports.constrained.kernel.region_reach import RegionReach
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.mask_rows import count_row, list_row
    from constrained.kernel.memory import empty_lists, empty_rows, grow_int, grow_uint
    from constrained.kernel.region_reach import RegionReach
    from constrained.kernel.token_trie import TokenTrie

FEW = cython.declare(cython.int, 64)
MANY = cython.declare(cython.int, 4096)
ROW_IDS = cython.declare(cython.int, 1023)


@cython.final
@cython.cclass
class RegionTokens(RegionReach):
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            i: cython.int
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
            self = RegionReach.__new__(cls)
            self.guard = cython.pymutex()
            self.rows = self.lists = self.stands = self.map = None
            self.map_way = 0
            return self

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def within(self, trie: TokenTrie, most: cython.int) -> cython.p_uint:
        """The row of the tokens that take at most ``most`` rounds; kept. NULL when memory is out."""
        with self.guard:
            if most > self.deepest:
                most = self.deepest + 1
            if not self.rows:
                self.rows = empty_rows(self.deepest + 2)
                if not self.rows:
                    return cython.NULL if cython.compiled else None
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
            if self.root == 0 and self.classes.dense[c] < 0:
                for i in range(lo, hi):
                    k = group[i]
                    row[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
                continue
            if self.root == 0:
                k = self.classes.dense[c] * words
                for i in range(words):
                    row[i] |= dense[k + i]
                continue
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
    def leaving(self, trie: TokenTrie, number: cython.int, b: cython.int) -> cython.p_int:
        """The trie nodes with byte ``b`` right behind where way out ``number`` stands open; kept. NULL: no memory.

        By the rounds done there: those after ``r`` rounds are ``list[list[r]:list[r + 1]]``, ``r <= deepest``. Then,
        with ``deepest + 2`` added to ``r``, the tokens that end at them, and twice that, the nodes with more below.
        """
        at: cython.int = 256 * number + b
        with self.guard:
            if not self.lists:
                self.stands = empty_lists(self.n_ways + 1)
                if not self.stands:
                    return cython.NULL if cython.compiled else None
                self.lists = empty_lists(256 * (self.n_ways + 1))
                if not self.lists:
                    return cython.NULL if cython.compiled else None
                self.bytes_held += 2056 * (self.n_ways + 1)
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
