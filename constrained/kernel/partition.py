# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which bytes a set of positions cannot tell apart.

The 256 bytes, refined by every set of bytes that leads from one position to one other. A set is eight 32-bit words.
``ByteSets`` collects them: bytes that stand alone somewhere are classes of their own and are taken out first, rows
that are copies of one seen before (the same ranges to the same places, as seen from the position) are passed over, and
equal sets are kept once. ``Partition`` is the result, with classes numbered by their first bytes, so that equal
partitions are equal; those of regions are kept for the process, by the sets they are made of.

Cost: 3 ns an edge of a copy, 20 ns one of a new row; 10-20 ns for each set and class.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import grow_int, grow_uint
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.blocks import Block
    from constrained.kernel.images import Image
    from constrained.kernel.memory import grow_int, grow_uint
    from constrained.kernel.network import Network

SPLINTER = cython.declare(cython.int, 8)
"""What is counted into a region may not cut fewer bytes than this off a class."""
MANY = cython.declare(cython.int, 64)
"""Edges of one byte each from which on a position's bytes are told apart even where some lead to one place: a
thousand keys may begin at one position."""
FAR = cython.declare(cython.longlong, 1 << 60)
KNOWN_PARTITIONS = cython.declare(cython.int, 1024)
"""Partitions of regions that a process keeps (1.5 kB each)."""
KNOWN_LABELS = cython.declare(cython.int, 512)
"""Refinements by collections of sets that a process keeps,"""
MOST_SETS = cython.declare(cython.int, 64)
"""of so many sets at most (up to 2.5 kB each)."""

FIRST_TABLE = cython.declare(cython.int, 64)
KEPT = cython.declare(cython.int, 8)
"""``ByteSets`` whose tables are kept for the next ones."""

_known: dict = {}
"""Sets -> ``Partition``. Emptied when it is full."""
_labelled: dict = {}
"""Sets -> a number for each byte. Emptied when it is full."""
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
            free(self.classes)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n_sets = self.cap = self.table_size = self.n_rows = self.rows_size = 0
            self.table_cap = self.rows_cap = 0
            self.sets = self.table = self.rows = self.classes = None
            self.alone = [0] * 8
            self.work = [0] * 8
            self.others = [0] * 8
            return self

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, net: Network) -> cython.int:
        """Collect the sets of a network."""
        self.net = net
        if self.table_cap == 0:
            self.table = grow_int(self.table, FIRST_TABLE)
            self.rows = grow_int(self.rows, FIRST_TABLE)
            self.classes = grow_uint(self.classes, 8 * 257)
            if not (self.table and self.rows and self.classes):
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

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take(self, p: cython.int) -> cython.int:
        """Take in the sets of one position: one for each target."""
        net: Network = self.net
        e: cython.int = net.head[4 * p]
        f: cython.int
        h: cython.uint = 17
        j: cython.int
        if e < 0:
            return 0
        if net.e_next[e] < 0 and net.e_a[e] == net.e_b[e]:
            f = net.e_a[e]
            self.alone[f >> 5] |= cython.cast(cython.uint, 1) << (f & 31)
            return 0
        f = e
        j = 0
        while f >= 0 and net.e_a[f] == net.e_b[f]:
            j += 1
            f = net.e_next[f]
        if f < 0 and j > MANY:
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
        if not block.has_sets:
            self._collect(block)
        return self.take_sets(block.alone, block.sets, block.n_sets)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def take_sets(self, alone: cython.p_uint, sets: cython.p_uint, n_sets: cython.int) -> cython.int:
        """Take in what was collected elsewhere."""
        i: cython.int
        w: cython.int
        for i in range(8):
            self.alone[i] |= alone[i]
        for i in range(n_sets):
            for w in range(8):
                self.work[w] = sets[8 * i + w]
            self._keep()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _collect(self, block: Block) -> cython.int:
        """Find the sets of a block, once for the process."""
        own: ByteSets = sets_of(self.net)
        sets: cython.p_uint
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
        sets = grow_uint(cython.NULL if cython.compiled else None, 8 * own.n_sets + 1)
        if not sets:
            raise MemoryError
        for i in range(8 * own.n_sets):
            sets[i] = own.sets[i]
        for w in range(8):
            block.alone[w] = own.alone[w]
        block.sets = sets
        block.n_sets = own.n_sets
        block.has_sets = True
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
        """Keep ``work``, once."""
        h: cython.uint = 17
        i: cython.int
        j: cython.int
        k: cython.int
        for i in range(8):
            h = _mix(h, self.work[i])
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

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _split(self) -> cython.int:
        """Refine all bytes that do not stand alone; returns how many ``classes`` there are."""
        n: cython.int
        known: cython.int
        i: cython.int
        k: cython.int
        w: cython.int
        left: cython.uint
        common: cython.uint
        missing: cython.uint
        classes: cython.p_uint = self.classes
        work: cython.p_uint = self.work
        left = 0
        for w in range(8):
            classes[w] = self.alone[w] ^ cython.cast(cython.uint, 0xFFFFFFFF)
            left |= classes[w]
        n = 1 if left != 0 else 0
        for i in range(self.n_sets):
            left = 0
            for w in range(8):
                work[w] = self.sets[8 * i + w] & (self.alone[w] ^ cython.cast(cython.uint, 0xFFFFFFFF))
                left |= work[w]
            known = n
            k = 0
            while left != 0 and k < known:
                common = 0
                missing = 0
                for w in range(8):
                    common |= classes[8 * k + w] & work[w]
                    missing |= classes[8 * k + w] & (work[w] ^ cython.cast(cython.uint, 0xFFFFFFFF))
                if common != 0:
                    left = 0
                    for w in range(8):
                        common = classes[8 * k + w] & work[w]
                        work[w] ^= common
                        left |= work[w]
                        if missing != 0:
                            classes[8 * n + w] = common
                            classes[8 * k + w] ^= common
                    if missing != 0:
                        n += 1
                k += 1
        return n

    @cython.cfunc
    def partition(self) -> Partition:
        """What the sets taken cannot tell apart."""
        found: Partition = Partition()
        number: cython.p_int = found.cls
        b: cython.int
        i: cython.int
        k: cython.int
        w: cython.int
        one: cython.uint
        n: cython.int = self._split()
        for b in range(256):
            number[b] = -1
        for k in range(n):
            for w in range(8):
                one = self.classes[8 * k + w]
                b = 32 * w
                while one != 0:
                    if one & 1:
                        number[b] = k
                    one = one >> 1
                    b += 1
        moved = cython.declare(cython.int[257])
        for k in range(n):
            moved[k] = -1
        i = 0
        for b in range(256):  # number by first bytes
            k = number[b]
            if k < 0:
                number[b] = i
                i += 1
            else:
                if moved[k] < 0:
                    moved[k] = i
                    i += 1
                number[b] = moved[k]
        found.n_classes = i
        found.members = grow_uint(found.members, 8 * i)
        if not found.members:
            raise MemoryError
        for k in range(8 * i):
            found.members[k] = 0
        for b in range(256):
            found.members[8 * number[b] + (b >> 5)] |= cython.cast(cython.uint, 1) << (b & 31)
        return found

    @cython.cfunc
    def _labels(self) -> bytes:
        """A number for each byte, the same for bytes that are in the same sets. Most grammars have the sets of a few
        shared rules and nothing else but single bytes, so it is kept for the process.
        """
        key: object = None
        found: object = None
        alone = cython.declare(cython.uint[8])
        b: cython.int
        k: cython.int
        n: cython.int
        one: cython.uint
        if 0 < self.n_sets <= MOST_SETS:
            if cython.compiled:
                key = cython.cast(cython.p_char, self.sets)[:32 * cython.cast(cython.Py_ssize_t, self.n_sets)]
            else:
                key = tuple(self.sets[:8 * self.n_sets])
            found = _labelled.get(key)
            if found is not None:
                return found
        for k in range(8):
            alone[k] = self.alone[k]
            self.alone[k] = 0
        n = self._split()
        for k in range(8):
            self.alone[k] = alone[k]
        labels: bytearray = bytearray(256)
        for k in range(n):
            for b in range(256):
                one = self.classes[8 * k + (b >> 5)]
                if (one >> (b & 31)) & 1:
                    labels[b] = k
        found = bytes(labels)
        if key is not None:
            if len(_labelled) >= KNOWN_LABELS:
                _labelled.clear()
            _labelled[key] = found
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fill_classes(self, net: Network) -> cython.int:
        """The partition of a whole network, classes numbered by their first bytes."""
        labels: bytes = self._labels()
        text: cython.p_const_uchar = labels
        moved = cython.declare(cython.int[256])
        n: cython.int = 0
        b: cython.int
        k: cython.int
        for b in range(256):
            moved[b] = -1
        for b in range(256):
            k = moved[text[b]]
            if (self.alone[b >> 5] >> (b & 31)) & 1:
                k = -1
            elif k < 0:
                moved[text[b]] = n
            if k < 0:
                k = n
                n += 1
                net.class_byte[k] = b
            net.byte_class[b] = k
        net.n_classes = n
        return n

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
        sets.take_sets(image.alone, image.sets, image.n_sets)
    sets.fill_classes(net)
    sets.end()
    return net.n_classes


@cython.cfunc
@cython.exceptval(-1, check=False)
def collect(net: Network, sets: ByteSets) -> cython.int:
    """Take in all positions of a network; of blocks and annexes, those that can be completed."""
    block: Block
    annex: Annex
    taken: set = set()
    p: cython.int = 0
    b: cython.int
    k: cython.int
    last: cython.int
    for k in range(net.n_spans + 1):
        last = net.sp_base[k] if k < net.n_spans else net.n
        while p < last:
            sets.take(p)
            p += 1
        if k < net.n_spans:
            block = None
            if net.sp_top[k] != -2:
                block = net.blocks[k]
            elif net.p_min[p] < FAR:
                annex = net.blocks[k]
                block = annex.block
                for b in range(8):
                    sets.alone[b] |= annex.alone[b]
            if block is not None and net.p_min[p] < FAR and block not in taken:
                taken.add(block)
                sets.take_block(block)
            p += net.sp_size[k]
    return 0
