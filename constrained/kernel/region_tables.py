# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What the grammars of a vocabulary share: its class tries, and the ``RegionTokens`` by what they were made from.

Idea
    A region's table (``region_automaton``) tells apart the bytes that its *partition* does. What it reads below a trie
    node is found once for all grammars. Class tries are shared by partition, too, and most partitions are served by a
    common, finer one, made with the vocabulary (``prepare``).

Data
    partitions[k]    256 class numbers; ``numbers`` the other way round, ``first_bytes[k]`` a byte of each class
    tries            class tries by the number of their partition, those of ``COMMON`` by -1 and down
    slots[:size]     an open table of borrowed ``RegionTokens`` by hash, NULL where none is; ``held`` keeps them alive
    generation       one more whenever they outgrow MAX_REGIONS or MAX_BYTES, and all are dropped

``guard`` is held for what Python does with partitions, ``lock`` for the slots. ``find`` needs no GIL: its user holds
the ``held`` of the generation it asks for, so a borrowed pointer stays good.

Cost: 20-50 ns to find a known region; 3 ms a class trie of 128,000 tokens.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.class_trie import ClassTrie
    from cython.cimports.constrained.kernel.hashing import mix
    from cython.cimports.constrained.kernel.memory import empty_pointers
    from cython.cimports.constrained.kernel.region_tokens import RegionTokens
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.class_trie import ClassTrie
    from constrained.kernel.hashing import mix
    from constrained.kernel.memory import empty_pointers
    from constrained.kernel.region_tokens import RegionTokens
    from constrained.kernel.token_trie import TokenTrie

import threading

MAX_REGIONS = cython.declare(cython.int, 4096)
MAX_BYTES = cython.declare(cython.longlong, 48 << 20)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hash_cells(number: cython.int, root: cython.int, cells: cython.p_int, n: cython.int) -> cython.ulonglong:
    """The key of a table below a trie node."""
    i: cython.int
    h: cython.ulonglong = mix(number, root)
    for i in range(n):
        h = mix(h, cells[i])
    return h


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _matches(one: RegionTokens, number: cython.int, root: cython.int, cells: cython.p_int, n: cython.int,
             h: cython.ulonglong) -> cython.bint:
    i: cython.int
    if one.hash != h or one.number != number or one.root != root or one.n_cells != n:
        return False
    for i in range(n):
        if one.cells[i] != cells[i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _hash_of(one: RegionTokens) -> cython.ulonglong:
    return one.hash


def _partition(kinds):
    """The coarsest partition in which bytes of different ``kinds`` are apart."""
    numbers = {}
    return bytes(numbers.setdefault(kind, len(numbers)) for kind in kinds)


SPACES = frozenset(b"\x0b\x0c\x81\x9a\x9f\xa0\xaf\xbb\xbf\xc2\xe1\xe3\xef")
"""The bytes of the spaces that Unicode has beyond ASCII's, and two more."""


def _common_partitions():
    """Three partitions, each finer than the one before.

    First what most grammars tell apart: letters by case, digits, every other ASCII character alone, and the bytes by
    which UTF-8 is valid. Then the line ends U+2028 and U+2029, which ``.`` leaves out. Then other spaces, for ``\\s``.
    """
    first = []
    second = []
    third = []
    starts = (0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5, 0x100)
    alike = {0xEE: 0xE1, 0xF5: 0xC0}
    for b in range(256):
        c = chr(b)
        at = max([s for s in starts if s <= b], default=0)
        kind = alike.get(at, at)
        more = 0
        if b < 0x20:
            kind = -2 if c in "\t\n\r" else -1
        elif b < 0x80:
            kind = "0" if c == "0" else "1" if c.isdigit() else "A" if c.isupper() else "a" if c.islower() else c
        elif b in (0x80, 0xE2):
            more = b
        elif b in (0xA8, 0xA9):
            more = 0xA8
        first.append(kind)
        second.append((kind, more))
        third.append((kind, more, b if b in SPACES else 0x8A if 0x80 < b <= 0x8A else 0))
    return tuple(_partition(kinds) for kinds in (first, second, third))


@cython.cfunc
@cython.exceptval(check=False)
def _is_finer(finer: bytes, partition: bytes) -> cython.bint:
    """Whether bytes that are alike in ``finer`` are alike in ``partition``."""
    fine: cython.p_const_uchar = finer
    text: cython.p_const_uchar = partition
    seen = cython.declare(cython.int[256])
    b: cython.int
    for b in range(256):
        seen[b] = -1
    for b in range(256):
        if seen[fine[b]] < 0:
            seen[fine[b]] = text[b]
        elif seen[fine[b]] != text[b]:
            return False
    return True


@cython.cfunc
def _first_bytes(partition: bytes) -> bytes:
    """The first byte of each class."""
    text: cython.p_const_uchar = partition
    first: bytearray = bytearray(256)
    n: cython.int = 0
    b: cython.int = 256
    while b > 0:
        b -= 1
        first[text[b]] = b
        if text[b] >= n:
            n = text[b] + 1
    return bytes(first[:n])


COMMON = _common_partitions()


@cython.final
@cython.cclass
class RegionTables:
    """The class tries of a vocabulary, and the ``RegionTokens`` by what they were made from.

    When the latter outgrow their budget a new *generation* begins with none. Who uses what it has found here keeps the
    ``held`` list of the generation, so a borrowed pointer stays good.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.slots)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.lock = cython.pymutex()
            self.slots = None
            self.size = self.count = self.generation = 0
            return self

    def __init__(self):
        self.guard = threading.Lock()
        self.partitions = []
        self.first_bytes = []  # a byte of each class, by number
        self.numbers = {}
        self.tries = {}
        self.finer = {}
        self._begin()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin(self) -> cython.int:
        """A new generation. ``lock`` is held, but for the first."""
        self.held = []
        self.generation += 1
        self.count = 0
        self.size = 64
        if cython.compiled:
            free(self.slots)
        self.slots = empty_pointers(self.size)
        if not self.slots:
            raise MemoryError
        return 0

    def partition_number(self, partition: bytes):
        """A number for a partition (256 class numbers); equal ones have the same."""
        with self.guard:
            found = self.numbers.get(partition)
            if found is None:
                found = self.numbers[partition] = len(self.partitions)
                self.partitions.append(partition)
                self.first_bytes.append(_first_bytes(partition))
        return found

    def class_trie(self, trie: TokenTrie, number: int):
        """The shared ``ClassTrie`` for a numbered partition, or a finer one: any finer one tells apart what has to be.

        So most partitions are served by one of the *common* ones, which ``prepare`` has made. What is neither that nor
        narrow is mostly walked (``HoleRegions.is_walked``): only where guards matter one is built for it.
        """
        common = self.common_of(number)
        if common < 0:
            return self.common_trie(trie, -1 - common)
        found = self.tries.get(number)
        if found is None:
            built = ClassTrie(trie, self.partitions[number])
            with self.guard:
                found = self.tries.setdefault(number, built)
        return found

    def common_trie(self, trie: TokenTrie, i: int):
        """The shared ``ClassTrie`` of the common partition ``i``: a later one is finer."""
        found = self.tries.get(-1 - i)
        if found is None:
            built = ClassTrie(trie, COMMON[i])
            with self.guard:
                found = self.tries.setdefault(-1 - i, built)
        return found

    def common_of(self, number: int):
        """The number, -1 and down, of the coarsest common partition that is finer; 0 if none is."""
        found = self.finer.get(number)
        if found is None:
            found = 0
            for i, common in enumerate(COMMON):
                if _is_finer(common, self.partitions[number]):
                    found = -1 - i
                    break
            self.finer[number] = found
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, generation: cython.int, number: cython.int, root: cython.int, cells: cython.p_int, n: cython.int,
             h: cython.ulonglong) -> cython.p_void:
        """The shared ``RegionTokens`` of a table, borrowed; NULL if there is none or the generation is another."""
        i: cython.int
        with self.lock:
            if self.generation == generation:
                i = cython.cast(cython.int, h & (self.size - 1))
                while self.slots[i]:
                    if _matches(cython.cast(RegionTokens, self.slots[i]), number, root, cells, n, h):
                        return self.slots[i]
                    i = (i + 1) & (self.size - 1)
        return cython.NULL if cython.compiled else None

    def current(self):
        """The generation and its ``held``."""
        with self.lock:
            return self.generation, self.held

    @cython.cfunc
    def obtain(self, trie: TokenTrie, number: cython.int, root: cython.int, cells: cython.p_int, n: cython.int,
               h: cython.ulonglong, narrow: cython.bint):
        """The same, made and entered: the object. The caller keeps it, for the generation may be another by then.

        ``narrow``: None where that needs a class trie that is no common one.
        """
        found: RegionTokens
        partition: bytes = self.partitions[number]
        text: cython.p_const_uchar = partition
        n_classes: cython.int = max(partition) + 1
        ok: cython.int = -1
        i: cython.int
        if self.common_of(number) == 0:
            found = RegionTokens(trie, None, root)
            with cython.nogil:
                ok = found.run_nodes(trie, text, n_classes, cells, n)
            if ok < 0 and narrow:
                return None
        if ok < 0:
            found = RegionTokens(trie, self.class_trie(trie, number), root)
            with cython.nogil:
                ok = found.run(trie, text, n_classes, cells, n)
        if ok == 0:
            raise MemoryError
        found.number = number
        found.hash = h
        full: cython.bint = (self.count & 63) == 63 and self.region_bytes() > MAX_BYTES
        with self.lock:
            if full or self.count >= MAX_REGIONS:
                self._begin()
            if self.count * 2 >= self.size:
                self._grow()
            i = cython.cast(cython.int, h & (self.size - 1))
            while self.slots[i]:
                i = (i + 1) & (self.size - 1)
            self.held.append(found)
            if cython.compiled:
                self.slots[i] = cython.cast(cython.p_void, found)
            else:
                self.slots[i] = found
            self.count += 1
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow(self) -> cython.int:
        i: cython.int
        j: cython.int
        size: cython.int = self.size * 4
        slots: cython.pp_void = empty_pointers(size)
        if not slots:
            raise MemoryError
        for i in range(self.size):
            if self.slots[i]:
                j = cython.cast(cython.int, _hash_of(cython.cast(RegionTokens, self.slots[i])) & (size - 1))
                while slots[j]:
                    j = (j + 1) & (size - 1)
                slots[j] = self.slots[i]
        if cython.compiled:
            free(self.slots)
        self.slots = slots
        self.size = size
        return 0

    def region_bytes(self):
        """Bytes of the regions' rows and lists."""
        one: RegionTokens
        total: cython.longlong = 0
        for one in list(self.held):
            total += one.bytes_held
        return total

    def memory(self):
        """Bytes held, class tries included."""
        return self.region_bytes() + sum(trie.memory() for trie in list(self.tries.values()))


def prepare(trie: TokenTrie):
    """Make the ``RegionTables`` of a vocabulary, and its common class tries: no mask should have to wait for them."""
    tables = RegionTables()
    for i in range(len(COMMON)):
        tables.common_trie(trie, i)
    trie.tables = tables
