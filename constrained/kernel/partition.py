# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which bytes a set of positions cannot tell apart.

The 256 bytes, refined by every set of bytes that leads from one position to one other. A set is eight 32-bit words.
``ByteSets`` collects them: bytes that stand alone somewhere are classes of their own and need no set, rows that are
copies of one seen before (the same ranges to the same places, as seen from the position; in a block, the same ranges
put together alike) are passed over, and equal sets are kept once. What blocks and images bring along comes as families
(``kernel.families``), whose labels are found once each and joined. ``Partition`` is the
result, with classes numbered by their first bytes, so that equal partitions are equal; those of regions are kept for
the process, by the sets they are made of.

To refine is to look at the places where a byte may differ from the one before, which are where a set begins or ends:
bytes between two of them are alike, and two such runs are where they were alike and the same sets have them.

Cost: 3 ns an edge of a copy, 20 ns one of a new row; 2 ns for each set and run, 1 us for all bytes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.families import Family, Labels, family_of, keep_labels, known_labels
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import grow_int, grow_uint
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.words import collect_word
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.families import Family, Labels, family_of, keep_labels, known_labels
    from constrained.kernel.images import Image
    from constrained.kernel.memory import grow_int, grow_uint
    from constrained.kernel.network import Network
    from constrained.kernel.words import collect_word

SPLINTER = cython.declare(cython.int, 8)
"""What is counted into a region may not cut fewer bytes than this off a class."""
MANY = cython.declare(cython.int, 64)
"""Edges of one byte each from which on a position's bytes are told apart even where some lead to one place: a
thousand keys may begin at one position."""
KNOWN_PARTITIONS = cython.declare(cython.int, 1024)
"""Partitions of regions that a process keeps (1.5 kB each)."""
FIRST_TABLE = cython.declare(cython.int, 64)
KEPT = cython.declare(cython.int, 8)
"""``ByteSets`` whose tables are kept for the next ones."""

_known: dict = {}
"""Sets -> ``Partition``. Emptied when it is full."""
_spare: list = []


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _add_range(words: cython.p_uint, lo: cython.int, hi: cython.int) -> cython.void:
    """Put the bytes lo..hi into a set."""
    k: cython.int = lo >> 5
    a: cython.int
    b: cython.int
    if k == hi >> 5:
        a = lo & 31
        b = hi & 31
        words[k] |= (cython.cast(cython.uint, 0xFFFFFFFF) >> (31 - b)) & (cython.cast(cython.uint, 0xFFFFFFFF) << a)
        return
    for k in range(lo >> 5, (hi >> 5) + 1):
        a = lo - 32 * k if lo > 32 * k else 0
        b = hi - 32 * k if hi < 32 * k + 31 else 31
        words[k] |= (cython.cast(cython.uint, 0xFFFFFFFF) >> (31 - b)) & (cython.cast(cython.uint, 0xFFFFFFFF) << a)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _count(word: cython.uint) -> cython.int:
    """How many bits are set."""
    word = word - ((word >> 1) & cython.cast(cython.uint, 0x55555555))
    word = (word & cython.cast(cython.uint, 0x33333333)) + ((word >> 2) & cython.cast(cython.uint, 0x33333333))
    word = (word + (word >> 4)) & cython.cast(cython.uint, 0x0F0F0F0F)
    word = word + (word >> 8)
    return cython.cast(cython.int, (word + (word >> 16)) & 63)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _mix(h: cython.uint, value: cython.uint) -> cython.uint:
    h = ((h ^ value) * cython.cast(cython.uint, 0x9E3779B1)) & cython.cast(cython.uint, 0xFFFFFFFF)
    return h ^ (h >> 15)


@cython.cfunc
@cython.exceptval(check=False)
def _are_apart(seen: cython.p_uint, block: Block, first: cython.int, last: cython.int) -> cython.bint:
    """Whether some edges of a block are of one byte each and are seen at once to lead to as many places: those of
    digits mostly do. ``seen``: eight words to write into."""
    k: cython.int
    w: cython.int
    one: cython.uint
    for w in range(8):
        seen[w] = 0
    for k in range(first, last):
        w = block.to[k] >> 5 & 7
        one = cython.cast(cython.uint, 1) << (block.to[k] & 31)
        if block.lo[k] != block.hi[k] or seen[w] & one:
            return False
        seen[w] |= one
    return True


@cython.cfunc
@cython.exceptval(check=False)
def _are_alike(block: Block, a: cython.int, b: cython.int) -> cython.bint:
    """Whether the same ranges of two states of a block lead to one place each."""
    e: cython.int = block.first[a]
    f: cython.int = block.first[b] - e
    i: cython.int
    j: cython.int
    last: cython.int = block.first[a + 1]
    if last + f != block.first[b + 1]:
        return False
    for i in range(e, last):
        if block.lo[i] != block.lo[i + f] or block.hi[i] != block.hi[i + f]:
            return False
    for i in range(e + 1, last):
        j = i - 1
        while j >= e and block.to[j] != block.to[i] and block.to[j + f] != block.to[i + f]:
            j -= 1
        if j >= e and (block.to[j] != block.to[i] or block.to[j + f] != block.to[i + f]):
            return False
    return True


@cython.final
@cython.cclass
class Partition:
    """Classes of bytes: ``cls`` by byte, ``members`` as sets, ``text`` as bytes. Read-only once made."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.members)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.members = None
            self.cls = [0] * 256
            self.text = b""
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def splinters(self, inside: cython.p_uint, rest: cython.p_uint) -> cython.bint:
        """Whether the set ``inside`` would cut fewer than ``SPLINTER`` bytes off a class, or off what is in ``rest``.

        ``rest`` is what else the position reads: "any byte but the next of a key" is not worth a class.
        """
        k: cython.int
        w: cython.int
        common: cython.int
        size: cython.int
        touched: cython.uint
        others: cython.uint
        for k in range(self.n_classes):
            touched = 0
            for w in range(8):
                touched |= self.members[8 * k + w] & inside[w]
            if touched == 0:
                continue
            common = 0
            size = 0
            others = 0
            for w in range(8):
                common += _count(self.members[8 * k + w] & inside[w])
                size += _count(self.members[8 * k + w])
                others |= self.members[8 * k + w] & rest[w]
            if common < size and (common < SPLINTER or size - common < SPLINTER or others != 0):
                return True
        return False


@cython.final
@cython.cclass
class ByteSets:
    """Collects the sets of positions. ``work`` is the one being put together, ``others`` what else a position reads."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.sets)
            free(self.table)
            free(self.rows)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n_sets = self.cap = self.table_size = self.n_rows = self.rows_size = 0
            self.table_cap = self.rows_cap = 0
            self.sets = self.table = self.rows = None
            self.alone = [0] * 8
            self.work = [0] * 8
            self.others = [0] * 8
            self.label = [0] * 256
            self.cuts = [0] * 8
            return self

    def __init__(self):
        self.families = []

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, net: Network) -> cython.int:
        """Collect the sets of a network."""
        self.net = net
        if self.table_cap == 0:
            self.table = grow_int(self.table, FIRST_TABLE)
            self.rows = grow_int(self.rows, FIRST_TABLE)
            if not (self.table and self.rows):
                raise MemoryError
            self.table_cap = FIRST_TABLE
            self.rows_cap = FIRST_TABLE
        self.clear()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end(self) -> cython.int:
        """The tables serve whoever asks next."""
        self.net = None
        if self.families:
            self.families = []
        if len(_spare) < KEPT:
            _spare.append(self)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Forget all sets."""
        i: cython.int
        self.table_size = FIRST_TABLE
        self.rows_size = FIRST_TABLE
        for i in range(self.table_size):
            self.table[i] = -1
        for i in range(self.rows_size):
            self.rows[i] = -1
        for i in range(8):
            self.alone[i] = 0
        self.n_sets = 0
        self.n_rows = 0
        if self.families:
            self.families = []

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take(self, p: cython.int) -> cython.int:
        """Take in the sets of one position: one for each target."""
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        f: cython.int
        h: cython.uint = 17
        to: cython.int = -1
        j: cython.int = 0
        rising: cython.bint = True
        if e < 0:
            return 0
        if net.e_next[e] < 0 and net.e_a[e] == net.e_b[e]:
            f = net.e_a[e]
            self.alone[f >> 5] |= cython.cast(cython.uint, 1) << (f & 31)
            return 0
        f = e
        while f >= 0 and net.e_a[f] == net.e_b[f]:
            if net.e_to[f] <= to:
                rising = False
            to = net.e_to[f]
            j += 1
            f = net.e_next[f]
        if f < 0 and (rising or j > MANY):  # one byte each, and to as many places
            while e >= 0:
                f = net.e_a[e]
                self.alone[f >> 5] |= cython.cast(cython.uint, 1) << (f & 31)
                e = net.e_next[e]
            return 0
        f = e
        while f >= 0:
            h = _mix(h, cython.cast(cython.uint, net.e_a[f] << 8 | net.e_b[f]))
            h = _mix(h, cython.cast(cython.uint, net.e_to[f] - p) & cython.cast(cython.uint, 0xFFFFFFFF))
            f = net.e_next[f]
        j = cython.cast(cython.int, h & cython.cast(cython.uint, self.rows_size - 1))
        while self.rows[j] >= 0:
            if self._is_copy(p, self.rows[j]):
                return 0
            j = (j + 1) & (self.rows_size - 1)
        self.rows[j] = p
        self.n_rows += 1
        if 2 * self.n_rows >= self.rows_size:
            self._more_rows()
        while e >= 0:
            if self.gather(p, e):
                self._keep()
            e = net.e_next[e]
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_copy(self, p: cython.int, q: cython.int) -> cython.bint:
        """Whether two positions have the same ranges to the same places, as seen from each."""
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        f: cython.int = net.head[4 * q]
        while e >= 0 and f >= 0:
            if net.e_a[e] != net.e_a[f] or net.e_b[e] != net.e_b[f] or net.e_to[e] - p != net.e_to[f] - q:
                return False
            e = net.e_next[e]
            f = net.e_next[f]
        return e == f

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _more_rows(self) -> cython.int:
        """A table with room; what it held is forgotten (a row that comes again is only taken again)."""
        i: cython.int
        if self.rows_size < 4096:
            self.rows_size *= 4
            if self.rows_size > self.rows_cap:
                self.rows = grow_int(self.rows, self.rows_size)
                if not self.rows:
                    raise MemoryError
                self.rows_cap = self.rows_size
        for i in range(self.rows_size):
            self.rows[i] = -1
        self.n_rows = 0
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def gather(self, p: cython.int, e: cython.int) -> cython.bint:
        """Put the bytes of ``p`` with the target of ``e`` into ``work``; False if an earlier edge has that target."""
        net: Network = self.net
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
    @cython.exceptval(check=False)
    def gather_others(self, p: cython.int, to: cython.int) -> cython.void:
        """Put the bytes of ``p`` that do not lead to ``to`` into ``others``."""
        net: Network = self.net
        f: cython.int = net.head[4 * p]
        i: cython.int
        for i in range(8):
            self.others[i] = 0
        while f >= 0:
            if net.e_to[f] != to:
                _add_range(self.others, net.e_a[f], net.e_b[f])
            f = net.e_next[f]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take_block(self, block: Block) -> cython.int:
        """Take in the sets of all positions of a block."""
        if block.family is None:
            self._collect(block)
        return self.take_family(block.alone, block.family)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take_family(self, alone: cython.p_uint, family: Family) -> cython.int:
        """Take in what was collected elsewhere."""
        i: cython.int
        for i in range(8):
            self.alone[i] |= alone[i]
        if family.n_sets > 0:
            for known in self.families:
                if known is family:
                    return 0
            self.families.append(family)
        return 0

    @cython.cfunc
    def family(self) -> Family:
        """All sets that were taken in, as a family."""
        other: Family
        i: cython.int
        w: cython.int
        for other in self.families:
            for i in range(other.n_sets):
                for w in range(8):
                    self.work[w] = other.sets[8 * i + w]
                self._keep()
        return family_of(self.sets, self.n_sets)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _collect(self, block: Block) -> cython.int:
        """Find the sets of a block, once for the process. Most rows have the sets of another one."""
        own: ByteSets = sets_of(self.net)
        h: cython.uint
        i: cython.int
        j: cython.int
        k: cython.int
        w: cython.int
        last: cython.int
        for i in range(block.n):
            k = block.first[i]
            last = block.first[i + 1]
            if last == k + 1 and block.lo[k] == block.hi[k]:
                own.alone[block.lo[k] >> 5] |= cython.cast(cython.uint, 1) << (block.lo[k] & 31)
                continue
            if _are_apart(own.work, block, k, last):
                for k in range(k, last):
                    own.alone[block.lo[k] >> 5] |= cython.cast(cython.uint, 1) << (block.lo[k] & 31)
                continue
            h = 17
            for j in range(k, last):
                w = 2 * (block.to[j] == block.to[k]) + (j > k + 1 and block.to[j] == block.to[j - 2])
                h = _mix(h, cython.cast(cython.uint, block.lo[j] << 10 | block.hi[j] << 2 | w))
            j = cython.cast(cython.int, h & cython.cast(cython.uint, own.rows_size - 1))
            while own.rows[j] >= 0 and not _are_alike(block, i, own.rows[j]):
                j = (j + 1) & (own.rows_size - 1)
            if own.rows[j] >= 0:
                continue
            own.rows[j] = i
            own.n_rows += 1
            if 2 * own.n_rows >= own.rows_size:
                own._more_rows()
            for k in range(block.first[i], last):
                j = block.first[i]
                while block.to[j] != block.to[k]:
                    j += 1
                if j < k:
                    continue  # an earlier edge has that target
                for w in range(8):
                    own.work[w] = 0
                for j in range(k, last):
                    if block.to[j] == block.to[k]:
                        _add_range(own.work, block.lo[j], block.hi[j])
                own._keep()
        for w in range(8):
            block.alone[w] = own.alone[w]
        block.family = own.family()
        own.end()
        return 0

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
        """Keep ``work``, once; one byte stands alone."""
        h: cython.uint = 17
        one: cython.uint
        many: cython.uint = 0
        words: cython.int = 0
        i: cython.int
        j: cython.int
        k: cython.int
        for i in range(8):
            one = self.work[i]
            h = _mix(h, one)
            if one != 0:
                many |= one & (one - 1)
                words += 1
        if words == 1 and many == 0:
            for i in range(8):
                self.alone[i] |= self.work[i]
            return 0
        j = cython.cast(cython.int, h & cython.cast(cython.uint, self.table_size - 1))
        while self.table[j] >= 0:
            k = 8 * self.table[j]
            i = 0
            while i < 8 and self.sets[k + i] == self.work[i]:
                i += 1
            if i == 8:
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
        if self.table_size > self.table_cap:
            self.table = grow_int(self.table, self.table_size)
            if not self.table:
                raise MemoryError
            self.table_cap = self.table_size
        for i in range(self.table_size):
            self.table[i] = -1
        for k in range(self.n_sets):
            h = 17
            for i in range(8):
                h = _mix(h, self.sets[8 * k + i])
            j = cython.cast(cython.int, h & cython.cast(cython.uint, self.table_size - 1))
            while self.table[j] >= 0:
                j = (j + 1) & (self.table_size - 1)
            self.table[j] = k
        return 0

    # ---- the result --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _label(self) -> cython.int:
        """Fill ``label`` and ``cuts``, as if no byte stood alone."""
        labels: Labels
        families: tuple
        if not self.families:
            self._nothing()
        else:
            families = tuple(self.families)
            labels = known_labels(families)
            if labels is None:
                self._join(families)
                labels = Labels()
                labels.load(self.label, self.cuts)
                keep_labels(families, labels)
            else:
                labels.store(self.label, self.cuts)
        return self._refine(self.sets, self.n_sets)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _nothing(self) -> cython.void:
        """Nothing is told apart."""
        i: cython.int
        for i in range(256):
            self.label[i] = 0
        for i in range(8):
            self.cuts[i] = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _join(self, families: tuple) -> cython.int:
        """Tell apart in ``label`` what any of the families does: by its labels, which are found once."""
        runs = cython.declare(cython.int[257])
        newest = cython.declare(cython.int[256])  # as in ``_refine_runs``
        made_of = cython.declare(cython.int[256])
        having = cython.declare(cython.int[256])
        labels: Labels
        family: Family
        n_runs: cython.int
        n: cython.int
        b: cython.int
        i: cython.int
        j: cython.int
        k: cython.int
        within: cython.int
        for family in families:
            if family.labels is None:
                self._nothing()
                self._refine(family.sets, family.n_sets)
                labels = Labels()
                labels.load(self.label, self.cuts)
                family.labels = labels
        self._nothing()
        for family in families:
            labels = family.labels
            for i in range(8):
                self.cuts[i] |= labels.cuts[i]
        n_runs = self._runs(runs)
        for family in families:
            labels = family.labels
            n = 0
            for i in range(256):
                newest[i] = -1
            for i in range(n_runs):
                b = runs[i]
                within = labels.label[b]
                j = self.label[b]
                k = newest[j]
                while k >= 0 and having[k] != within:
                    k = made_of[k]
                if k < 0:
                    k = n
                    n += 1
                    having[k] = within
                    made_of[k] = newest[j]
                    newest[j] = k
                self.label[b] = k
        self._fill(runs, n_runs)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _refine(self, sets: cython.p_uint, n_sets: cython.int) -> cython.int:
        """Tell apart in ``label`` what is in different sets."""
        runs = cython.declare(cython.int[257])
        n_runs: cython.int
        first: cython.int = 0
        i: cython.int
        k: cython.int
        word: cython.uint
        before: cython.uint
        for i in range(n_sets):
            before = 0
            for k in range(8 * i, 8 * i + 8):
                word = sets[k]
                self.cuts[k & 7] |= word ^ ((word << 1 | before) & cython.cast(cython.uint, 0xFFFFFFFF))
                before = word >> 31
        if n_sets == 0:
            return 0
        n_runs = self._runs(runs)
        while first < n_sets:
            k = min(32, n_sets - first)
            self._refine_runs(runs, n_runs, sets, first, k)
            first += k
        self._fill(runs, n_runs)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _runs(self, runs: cython.p_int) -> cython.int:
        """Where the runs of bytes begin that nothing tells apart, by ``cuts``, and 256; how many they are."""
        n_runs: cython.int = 0
        b: cython.int
        i: cython.int
        word: cython.uint
        self.cuts[0] |= 1
        for i in range(8):
            word = self.cuts[i]
            b = 32 * i
            while word != 0:
                if word & 1:
                    runs[n_runs] = b
                    n_runs += 1
                word = word >> 1
                b += 1
        runs[n_runs] = 256
        return n_runs

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fill(self, runs: cython.p_int, n_runs: cython.int) -> cython.void:
        """The labels of whole runs."""
        b: cython.int
        i: cython.int
        for i in range(n_runs):
            for b in range(runs[i] + 1, runs[i + 1]):
                self.label[b] = self.label[runs[i]]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _refine_runs(self, runs: cython.p_int, n_runs: cython.int, sets: cython.p_uint, first: cython.int,
                     count: cython.int) -> cython.void:
        """Tell apart by the sets ``first .. first + count - 1``, at most 32, what begins at the places ``runs``."""
        newest = cython.declare(cython.int[256])  # by label: the newest of the labels made of it
        made_of = cython.declare(cython.int[256])  # by new label: the next older one made of the same
        having = cython.declare(cython.uint[256])  # and the sets its bytes are in
        n: cython.int = 0
        i: cython.int
        j: cython.int
        k: cython.int
        b: cython.int
        within: cython.uint
        for i in range(256):
            newest[i] = -1
        for i in range(n_runs):
            b = runs[i]
            within = 0
            k = 8 * first + (b >> 5)
            for j in range(count):
                within |= ((sets[k] >> (b & 31)) & 1) << j
                k += 8
            j = self.label[b]
            k = newest[j]
            while k >= 0 and having[k] != within:
                k = made_of[k]
            if k < 0:
                k = n
                n += 1
                having[k] = within
                made_of[k] = newest[j]
                newest[j] = k
            self.label[b] = k

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def number(self, found: cython.p_int, first_bytes: cython.p_int) -> cython.int:
        """The class of each byte, classes numbered by their first bytes; how many they are."""
        moved = cython.declare(cython.int[256])
        n: cython.int = 0
        b: cython.int = 0
        i: cython.int
        k: cython.int = 0
        cuts: cython.uint
        alone: cython.uint
        before: cython.uint = 1  # the first byte is like none before
        self._label()
        for i in range(256):
            moved[i] = -1
        for i in range(8):
            alone = self.alone[i]
            cuts = self.cuts[i] | alone | alone << 1 | before
            before = alone >> 31
            for b in range(32 * i, 32 * i + 32):
                if cuts & 1:
                    k = -1 if alone & 1 else moved[self.label[b]]
                    if k < 0:
                        k = n
                        if not alone & 1:
                            moved[self.label[b]] = n
                        first_bytes[n] = b
                        n += 1
                found[b] = k
                cuts = cuts >> 1
                alone = alone >> 1
        return n

    @cython.cfunc
    def partition(self) -> Partition:
        """What the sets taken cannot tell apart."""
        found: Partition = Partition()
        first_bytes = cython.declare(cython.int[256])
        n: cython.int = self.number(found.cls, first_bytes)
        b: cython.int
        k: cython.int
        found.n_classes = n
        found.members = grow_uint(found.members, 8 * n)
        if not found.members:
            raise MemoryError
        for k in range(8 * n):
            found.members[k] = 0
        for b in range(256):
            found.members[8 * found.cls[b] + (b >> 5)] |= cython.cast(cython.uint, 1) << (b & 31)
        return found

    @cython.cfunc
    def region_partition(self) -> Partition:
        """``partition``, kept for the process: most regions of most grammars are copies of a few."""
        found: Partition
        if cython.compiled:
            key = (cython.cast(cython.p_char, self.alone)[:32]
                   + cython.cast(cython.p_char, self.sets)[:32 * cython.cast(cython.Py_ssize_t, self.n_sets)])
        else:
            # no table where every set is of one byte
            key = (*self.alone, *(self.sets[:8 * self.n_sets] if self.n_sets > 0 else ()))
        known = _known.get(key)
        if known is not None:
            return known
        found = self.partition()
        found.text = bytes([found.cls[b] for b in range(256)])
        if len(_known) >= KNOWN_PARTITIONS:
            _known.clear()
        _known[key] = found
        return found


@cython.cfunc
def sets_of(net: Network) -> ByteSets:
    """Sets to collect in; ``end`` ends with them."""
    sets: ByteSets
    try:
        sets = _spare.pop()
    except IndexError:
        sets = ByteSets()
    sets.begin(net)
    return sets


@cython.ccall
@cython.exceptval(-1, check=False)
def find_classes(net: Network, more: list) -> cython.int:
    """A partition of the bytes that no position can tell apart, into ``net``; how many classes it has.

    Bytes that lead nowhere in a block of the network count too, so it may be finer than it need be.
    ``more``: rows of (first, last, to) that must not fall together either.
    """
    sets: ByteSets = sets_of(net)
    image: Image
    for row in more:
        sets.take_row(row)
    collect(net, sets)
    for image in net.images:
        if not image.later:
            sets.take_family(image.alone, image.family)
    net.n_classes = sets.number(net.byte_class, net.class_byte)
    sets.end()
    return net.n_classes


@cython.cfunc
@cython.exceptval(-1, check=False)
def collect(net: Network, sets: ByteSets) -> cython.int:
    """Take in all positions of a network; of blocks, annexes and words, those that can be completed."""
    block: Block
    annex: Annex
    head: cython.p_int = net.head
    p: cython.int = 0
    b: cython.int
    e: cython.int
    k: cython.int
    last: cython.int
    for k in range(net.n_spans + 1):
        last = net.sp_base[k] if k < net.n_spans else net.n
        while p < last:
            e = head[4 * p]
            if e >= 0:
                b = net.e_a[e]
                if net.e_next[e] < 0 and net.e_b[e] == b:
                    sets.alone[b >> 5] |= cython.cast(cython.uint, 1) << (b & 31)
                else:
                    sets.take(p)
            p += 1
        if k < net.n_spans:
            if net.has_dead and net.p_dead[p]:
                pass
            elif net.sp_top[k] == -3:
                collect_word(net.blocks[k], sets.alone)
            else:
                if net.sp_top[k] != -2:
                    block = net.blocks[k]
                else:
                    annex = net.blocks[k]
                    block = annex.block
                    for b in range(8):
                        sets.alone[b] |= annex.alone[b]
                if block is not None:
                    sets.take_block(block)
            p += 1 if net.sp_top[k] < -1 else net.sp_size[k]  # of a door, ``Program`` has made another number of that
    return 0
