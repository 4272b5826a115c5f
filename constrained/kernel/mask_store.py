# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The masks of one automaton, each stored once.

A mask is a *base* (a row that many masks have in common, or none) and a few ids more:

    b_row[b], b_count[b]      a base: a row of ``words`` 32-bit words, borrowed or owned, and its set bits
    mk_base[m]                the base of mask ``m``: NONE, or DENSE where the row is its own
    mk_off[m], mk_len[m]      its further ids in ``pool``, none of them in the base
    mk_row[m]                 its whole row, made when it is written the third time: the copy is quicker than the ids

A mask is put together by ``begin(base)``, ``add(id)`` and ``finish``, which finds an equal one by the base and the set
of ids; so a new mask costs what its ids cost, and a row is touched only where it is written. A mask with more than
DELTA_MAX ids beside its base is hashed and kept as a row. What is done to whole rows (counting bits, hashing, listing
ids) is in ``mask_rows``.

Equal ids mean equal masks. (Equal masks of different bases may have two ids.)
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.mask_rows import count_row, hash_row, list_row
    from cython.cimports.constrained.kernel.memory import (
        drop_int,
        empty_table,
        grow_int,
        grow_rows,
        grow_uint,
        moved,
        wider,
    )
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcmp, memcpy, memset
else:
    from constrained.kernel.hashing import mix
    from constrained.kernel.mask_rows import count_row, hash_row, list_row
    from constrained.kernel.memory import drop_int, empty_table, grow_int, grow_rows, grow_uint, moved, wider
    from constrained.kernel.token_trie import TokenTrie

NONE = cython.declare(cython.int, -1)
DENSE = cython.declare(cython.int, -2)
DELTA_MAX = cython.declare(cython.int, 1024)
PROMOTED = cython.declare(cython.int, 64)


@cython.final
@cython.no_gc
@cython.cclass
class MaskStore:
    """See the module docstring. ``make`` comes first, then ``forget``."""

    if cython.compiled:

        def __dealloc__(self):
            self._release()
            self.begin(NONE)
            free(self.b_row)
            free(self.b_count)
            free(self.b_own)
            free(self.mk_piece)
            free(self.mk_row)
            free(self.table)
            free(self.pool)
            free(self.ex)
            if self.t is not None:
                self.t.give_row(self.seen)
                if self.scratch:
                    self._clear_scratch()  # an exception may have left something
                    self.t.give_row(self.scratch)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            for name in _COUNTERS:
                setattr(self, name, 0)
            for name in _POINTERS:
                setattr(self, name, None)
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make(self, trie: TokenTrie) -> cython.int:
        """For masks of ``trie``'s tokens."""
        self.t = trie
        self.vocab_size = trie.vocab_size
        self.words = trie.words
        self.seen = trie.take_row()
        if not self.seen:
            raise MemoryError
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _release(self) -> cython.void:
        """Free the rows that are owned."""
        i: cython.int
        if cython.compiled:
            for i in range(self.b_len):
                if self.b_own[i]:
                    free(self.b_row[i])
            for i in range(self.mk_used):
                free(self.mk_row[i])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """Drop all masks and bases."""
        self._release()
        self.b_len = 0
        self.mk_used = 0
        self.pool_len = 0
        self.pool_cap = 0
        self.rows_held = 0
        if cython.compiled:
            free(self.pool)
            self.pool = cython.NULL
        else:
            self.pool = None
        return self._clear_table(32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _clear_table(self, size: cython.int) -> cython.int:
        self.table_size = size
        self.table = empty_table(self.table, size)
        if not self.table:
            self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _out_of_memory(self) -> cython.int:
        with cython.gil:
            raise MemoryError("the masks could not grow")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bytes_held(self) -> cython.longlong:
        """Bytes of the ids and of the rows that are owned."""
        return 4 * (self.pool_len + 6 * self.mk_used + self.rows_held * self.words)

    # ---- bases ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def base_of(self, row: cython.p_uint, count: cython.int) -> cython.int:
        """The base with a borrowed row of ``count`` tokens: it must stay where it is until ``forget``."""
        i: cython.int
        for i in range(self.b_len):
            if self.b_row[i] == row:
                return i
        return self._new_base(row, count, False)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def need_scratch(self) -> cython.int:
        """Make ``scratch``, a row of zeros to be written and given to ``own_base`` or ``finish_scratch``."""
        if not self.scratch:
            self.scratch = self.t.take_row()
            if not self.scratch:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def own_base(self) -> cython.int:
        """A new base with a copy of ``scratch``, which is cleared."""
        row: cython.p_uint = self._copy(self.scratch)
        self._clear_scratch()
        if not row:
            self._out_of_memory()
        return self._new_base(row, count_row(row, self.words), True)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_base(self, row: cython.p_uint, count: cython.int, own: cython.bint) -> cython.int:
        b: cython.int = self.b_len
        if b >= self.b_cap:
            self.b_cap = 16 if self.b_cap == 0 else self.b_cap * 2
            self.b_count = grow_int(self.b_count, self.b_cap)
            self.b_own = grow_int(self.b_own, self.b_cap)
            self.b_row = grow_rows(self.b_row, self.b_cap)
            if not (self.b_count and self.b_own and self.b_row):
                self._out_of_memory()
        self.b_row[b] = row
        self.b_own[b] = own
        self.b_count[b] = count
        self.b_len = b + 1
        return b

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def united(self, one: cython.int, other: cython.int) -> cython.int:
        """A new base with the bits of two."""
        i: cython.int
        a: cython.p_uint = self.b_row[one]
        b: cython.p_uint = self.b_row[other]
        out: cython.p_uint
        self.need_scratch()
        out = self.scratch
        for i in range(self.words):
            out[i] = a[i] | b[i]
        return self.own_base()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _clear_scratch(self) -> cython.void:
        i: cython.int
        if cython.compiled:
            memset(self.scratch, 0, 4 * (self.words + 1))
        else:
            for i in range(self.words + 1):
                self.scratch[i] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _copy(self, row: cython.p_uint) -> cython.p_uint:
        """An owned copy of a row; NULL when memory is out."""
        i: cython.int
        made: cython.p_uint = grow_uint(cython.NULL if cython.compiled else None, self.words + 1)
        if not made:
            return made
        if cython.compiled:
            memcpy(made, row, 4 * self.words)
        else:
            for i in range(self.words):
                made[i] = row[i]
        self.rows_held += 1
        return made

    # ---- putting a mask together ---------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def begin(self, base: cython.int) -> cython.int:
        """Start with the bits of a base, or NONE."""
        i: cython.int
        for i in range(self.n_ex):  # what an exception has left
            self.seen[self.ex[i] >> 5] = 0
        self.base = base
        self.n_ex = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def room(self, more: cython.int) -> cython.int:
        """Room for so many calls of ``add``."""
        if self.n_ex + more > self.ex_cap:
            self.ex_cap = 2 * (self.n_ex + more) + 256
            self.ex = grow_int(self.ex, self.ex_cap)
            if not self.ex:
                self._out_of_memory()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has(self, token: cython.int) -> cython.bint:
        """Whether the mask in the making allows a token."""
        if (self.seen[token >> 5] >> (token & 31)) & 1:
            return True
        return self.base >= 0 and (self.b_row[self.base][token >> 5] >> (token & 31)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, token: cython.int) -> cython.void:
        """Allow a token. There must be ``room``."""
        if not self.has(token):
            self.seen[token >> 5] |= cython.cast(cython.uint, 1) << (token & 31)
            self.ex[self.n_ex] = token
            self.n_ex += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_all(self, ids: cython.p_int, at: cython.int, n: cython.int) -> cython.int:
        """Allow the tokens ``ids[at : at + n]``."""
        i: cython.int
        k: cython.int
        word: cython.uint
        bit: cython.uint
        row: cython.p_uint = self.b_row[self.base] if self.base >= 0 else self.seen
        seen: cython.p_uint = self.seen
        ex: cython.p_int
        m: cython.int = self.n_ex
        self.room(n)
        ex = self.ex
        for i in range(at, at + n):
            k = ids[i]
            bit = cython.cast(cython.uint, 1) << (k & 31)
            word = seen[k >> 5]
            ex[m] = k
            if not ((word | row[k >> 5]) & bit):  # what is in the base must not be marked: nothing would clear it
                m += 1
                seen[k >> 5] = word | bit
        self.n_ex = m
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_listed(self, row: cython.p_uint, at: cython.int) -> cython.int:
        """Allow the tokens that are listed behind a row, from ``row[at]``; how many there are is before them."""
        if cython.compiled:
            return self.add_all(cython.cast(cython.p_int, row), at, row[at - 1])
        else:
            return self.add_all(row, at, row[at - 1])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def add_row(self, row: cython.p_uint, count: cython.int) -> cython.int:
        """Allow the ``count`` tokens of a row; nothing is allowed yet."""
        i: cython.int
        self.room(count)
        self.n_ex = list_row(row, self.words, self.ex, 0)
        if cython.compiled:
            memcpy(self.seen, row, 4 * self.words)
        else:
            for i in range(self.words):
                self.seen[i] = row[i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def to_scratch(self) -> cython.int:
        """The mask in the making becomes a row in ``scratch``."""
        i: cython.int
        row: cython.p_uint
        out: cython.p_uint
        self.need_scratch()
        out = self.scratch
        for i in range(self.n_ex):
            out[self.ex[i] >> 5] |= cython.cast(cython.uint, 1) << (self.ex[i] & 31)
        if self.base >= 0:
            row = self.b_row[self.base]
            for i in range(self.words):
                out[i] |= row[i]
        return self.begin(NONE)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def finish(self) -> cython.int:
        """The id of the mask that was put together."""
        i: cython.int
        m: cython.int
        h: cython.ulonglong = 0
        if self.n_ex > DELTA_MAX:
            self.to_scratch()
            return self.finish_scratch()
        for i in range(self.n_ex):  # in any order
            h += mix(0x5DEECE66, self.ex[i])
        if not cython.compiled:
            h &= 0xFFFFFFFFFFFFFFFF
        h = mix(mix(h, self.base), self.n_ex)
        i = cython.cast(cython.int, h & (self.table_size - 1))
        while self.table[i] >= 0:
            m = self.table[i]
            if self._same(m):
                self.begin(NONE)
                return m
            i = (i + 1) & (self.table_size - 1)
        m = self._new_mask(self.base, self.n_ex + (self.b_count[self.base] if self.base >= 0 else 0), h, i)
        if self.pool_len + self.n_ex > self.pool_cap:
            self.pool_cap = wider(self.pool_len + self.n_ex + 128, 1)
            self.pool = grow_int(self.pool, self.pool_cap)
            if not self.pool:
                self._out_of_memory()
        self.mk_off[m] = self.pool_len
        self.mk_len[m] = self.n_ex
        for i in range(self.n_ex):
            self.pool[self.pool_len + i] = self.ex[i]
        self.pool_len += self.n_ex
        self.begin(NONE)
        self.mk_used = m + 1
        if self.mk_used * 2 > self.table_size:
            self._rehash()
        return m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _same(self, m: cython.int) -> cython.bint:
        """Whether mask ``m`` is the one in the making."""
        i: cython.int
        k: cython.int
        if self.mk_base[m] != self.base or self.mk_len[m] != self.n_ex:
            return False
        for i in range(self.mk_off[m], self.mk_off[m] + self.n_ex):
            k = self.pool[i]
            if not (self.seen[k >> 5] >> (k & 31)) & 1:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _new_mask(self, base: cython.int, count: cython.int, h: cython.ulonglong, slot: cython.int) -> cython.int:
        """Room for one more mask; ``mk_used`` counts it when its maker is done."""
        m: cython.int = self.mk_used
        if m >= self.mk_cap:
            self._grow_masks(16 if self.mk_cap == 0 else wider(self.mk_cap, 6))
        self.mk_base[m] = base
        self.mk_off[m] = 0
        self.mk_len[m] = 0
        self.mk_count[m] = count
        self.mk_hash[m] = cython.cast(cython.int, h & 0x7FFFFFFF)
        self.mk_uses[m] = 0
        self.mk_row[m] = cython.NULL if cython.compiled else None
        self.table[slot] = m
        return m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _grow_masks(self, cap: cython.int) -> cython.int:
        """Room for ``cap`` masks."""
        n: cython.int = self.mk_used
        piece: cython.p_int = grow_int(cython.NULL if cython.compiled else None, 6 * cap)
        rows: cython.pp_uint = grow_rows(self.mk_row, cap)
        if rows:
            self.mk_row = rows
        if not (piece and rows):
            self._out_of_memory()
        self.mk_base = moved(piece, 0, self.mk_base, n, cap)
        self.mk_off = moved(piece, cap, self.mk_off, n, cap)
        self.mk_len = moved(piece, 2 * cap, self.mk_len, n, cap)
        self.mk_count = moved(piece, 3 * cap, self.mk_count, n, cap)
        self.mk_hash = moved(piece, 4 * cap, self.mk_hash, n, cap)
        self.mk_uses = moved(piece, 5 * cap, self.mk_uses, n, cap)
        drop_int(self.mk_piece)
        self.mk_piece = piece
        self.mk_cap = cap
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _rehash(self) -> cython.int:
        i: cython.int
        m: cython.int
        self._clear_table(4 * self.table_size)
        for m in range(self.mk_used):
            i = self.mk_hash[m] & (self.table_size - 1)
            while self.table[i] >= 0:
                i = (i + 1) & (self.table_size - 1)
            self.table[i] = m
        return 0

    # ---- masks that are rows -------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def finish_scratch(self) -> cython.int:
        """The id of the mask whose row is ``scratch``, which is cleared."""
        count: cython.int = count_row(self.scratch, self.words)
        i: cython.int
        m: cython.int
        h: cython.ulonglong
        if count <= DELTA_MAX:
            self.begin(NONE)
            self.add_row(self.scratch, count)
            self._clear_scratch()
            return self.finish()
        h = hash_row(self.scratch, self.words, count)
        i = cython.cast(cython.int, h & (self.table_size - 1))
        while self.table[i] >= 0:
            m = self.table[i]
            if self.mk_base[m] == DENSE and self.mk_count[m] == count and self._same_row(m):
                self._clear_scratch()
                return m
            i = (i + 1) & (self.table_size - 1)
        m = self._new_mask(DENSE, count, h, i)
        self.mk_row[m] = self._copy(self.scratch)
        self._clear_scratch()
        if not self.mk_row[m]:
            self.table[i] = -1
            self._out_of_memory()
        self.mk_used = m + 1
        if self.mk_used * 2 > self.table_size:
            self._rehash()
        return m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _same_row(self, m: cython.int) -> cython.bint:
        row: cython.p_uint = self.mk_row[m]
        if cython.compiled:
            return memcmp(row, self.scratch, 4 * self.words) == 0
        else:
            return all(row[i] == self.scratch[i] for i in range(self.words))

    # ---- reading masks -------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def write(self, m: cython.int, out: cython.p_uint) -> cython.int:
        """Write the whole row of a mask; returns how many tokens are allowed."""
        i: cython.int
        k: cython.uint
        row: cython.p_uint = self.mk_row[m]
        more: cython.p_int
        if not row and self.mk_base[m] >= 0:
            row = self.b_row[self.mk_base[m]]
        if cython.compiled:
            if row:
                memcpy(out, row, 4 * self.words)
            else:
                memset(out, 0, 4 * self.words)
        else:
            for i in range(self.words):
                out[i] = row[i] if row else 0
        if not self.mk_row[m]:
            more = self.pool
            for i in range(self.mk_off[m], self.mk_off[m] + self.mk_len[m]):
                k = more[i]
                out[k >> 5] |= cython.cast(cython.uint, 1) << (k & 31)
            if self.mk_len[m] > PROMOTED:
                self.mk_uses[m] += 1
                if self.mk_uses[m] == 3:
                    self.mk_row[m] = self._copy(out)
        return self.mk_count[m]

    def ids_of(self, m: cython.int):
        """The ids of a mask in order, as a list."""
        i: cython.int
        row: cython.p_uint = self.mk_row[m]
        found = []
        if not row:
            for i in range(self.mk_off[m], self.mk_off[m] + self.mk_len[m]):
                found.append(self.pool[i])
            if self.mk_base[m] >= 0:
                row = self.b_row[self.mk_base[m]]
        if row:
            for i in range(self.vocab_size):
                if (row[i >> 5] >> (i & 31)) & 1:
                    found.append(i)
        found.sort()
        return found


_COUNTERS = """
vocab_size words b_len b_cap mk_used mk_cap table_size pool_len pool_cap rows_held base n_ex ex_cap
""".split()
_POINTERS = """
b_row b_count b_own mk_base mk_off mk_len mk_count mk_hash mk_uses mk_piece mk_row table pool ex seen scratch
""".split()
