# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A partition of the code points spelled in bytes: classes of characters become paths.

All classes are spelled at once, in UTF-8 or between the quotation marks of JSON, as a trie whose leaves are class
numbers; equal sub-tries are one node, so an automaton over classes becomes one over bytes by putting its targets in
place of the leaves (``kernel.spelling``). Overlong forms, surrogates and code points past U+10FFFF have no path (RFC
3629, section 3).

    whole[3 c + i]      the node behind which any ``i + 1`` bytes are characters of class ``c``; -1: not made yet
    known[...]          likewise of digits: the node that reads the last bits of code points that all are of one class

Cost: 0.1 us a node; one node for each block of 64 code points that is cut in a new way (316 for Unicode's word
characters and digits), and for each sixteen where they are spelled in hexadecimal digits.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.byte_nodes import ByteNodes
    from cython.cimports.constrained.kernel.hashing import sort_triples
    from cython.cimports.constrained.kernel.memory import empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.byte_nodes import ByteNodes
    from constrained.kernel.hashing import sort_triples
    from constrained.kernel.memory import empty_table, grow_int

NONE = cython.declare(cython.int, 1 << 30)
"""``byte_nodes.NONE``."""

BACKSLASH = cython.declare(cython.int, 0x5C)
LETTER_U = cython.declare(cython.int, 0x75)
ASTRAL = cython.declare(cython.int, 0x10000)
BITS = cython.declare(cython.int, 19)

UTF8 = 0
"""How to spell: in UTF-8."""
CANONICAL = 1
"""As ``json.dumps`` does, with ``ensure_ascii`` and without."""
ANY = 2
"""With all escapes of RFC 8259, section 7."""

SPELLINGS = {"canonical": CANONICAL, "any": ANY}


@cython.final
@cython.cclass
class ByteTrie(ByteNodes):
    """See the module docstring. Read-only once made."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.whole)
            free(self.known)

    def __init__(self, classes: tuple, way: cython.int):
        """``classes``: of each its ranges of code points, disjoint; ``way``: UTF8, CANONICAL or ANY."""
        self.k = cython.cast(cython.int, len(classes))
        self.way = way
        self._cut(classes)
        self._rooms()
        self.whole = empty_table(self.whole, 3 * self.k + 1)
        if not self.whole:
            raise MemoryError
        self._characters()
        if way != 0:
            self._escapes()
        sort_triples(self.part_lo, self.part_hi, self.part_child, 0, self.top)
        # A root that is equal to a node below would not be the last.
        self._add(0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _piece(self, code: cython.int) -> cython.int:
        """The last piece that begins at ``code`` or before; -1: there is none."""
        low: cython.int = 0
        high: cython.int = self.pieces
        middle: cython.int
        while low < high:
            middle = (low + high) // 2
            if self.start[middle] <= code:
                low = middle + 1
            else:
                high = middle
        return low - 1

    # -- UTF-8 --------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _characters(self) -> cython.int:
        """The root's entries for characters as they are."""
        i: cython.int = 0
        while i < self.pieces and self.start[i] <= 0x7F:
            self._raw(self.start[i], self.last[i] if self.last[i] < 0x7F else 0x7F, ~self.home[i])
            i += 1
        self._longer(0x80, 0x7FF, 1, 0xC0)
        self._longer(0x800, 0xFFFF, 2, 0xE0)
        self._longer(0x10000, 0x10FFFF, 3, 0xF0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _raw(self, lo: cython.int, hi: cython.int, child: cython.int) -> cython.int:
        """An entry for ASCII characters; between quotation marks without what may not stand there as it is."""
        if self.way == 0:
            return self._push(lo, hi, child)
        if lo < 0x20:
            lo = 0x20
        if lo <= 0x21 and lo <= hi:
            self._push(lo, hi if hi < 0x21 else 0x21, child)
        if lo < 0x23:
            lo = 0x23
        if lo <= 0x5B and lo <= hi:
            self._push(lo, hi if hi < 0x5B else 0x5B, child)
        if lo < 0x5D:
            lo = 0x5D
        if lo <= hi:
            self._push(lo, hi, child)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _longer(self, first: cython.int, last: cython.int, more: cython.int, mark: cython.int) -> cython.int:
        """The entries for the code points of ``more`` bytes behind a leading one (or in a node behind that): with
        ``mark`` in it."""
        shift: cython.int = 6 * more
        mask: cython.int = 0x3F
        block: cython.int = first >> shift
        low: cython.int
        high: cython.int
        until: cython.int
        child: cython.int
        at: cython.int
        while block <= last >> shift:
            low = block << shift if block << shift > first else first
            at = self._piece(low)
            if at < 0 or self.last[at] < low:  # no class has it
                if at + 1 == self.pieces or self.start[at + 1] > last:
                    break
                if self.start[at + 1] >> shift > block:
                    block = self.start[at + 1] >> shift
                    continue
            high = ((block + 1) << shift) - 1 if ((block + 1) << shift) - 1 < last else last
            child = self._block(low, high, more)
            until = self._alike(low, block, shift, last)
            if child != NONE:
                self._push(mark | block & mask, mark | until & mask, child)
            block = until + 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _alike(self, low: cython.int, block: cython.int, shift: cython.int, last: cython.int) -> cython.int:
        """The last of the blocks from ``block`` on, which begins at ``low``, that are within one piece: all alike."""
        at: cython.int = self._piece(low)
        end: cython.int
        if at < 0 or low != block << shift:
            return block
        end = self.last[at] if self.last[at] < last else last
        end = (end + 1 >> shift) - 1
        return end if end > block else block

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _block(self, first: cython.int, last: cython.int, more: cython.int) -> cython.int:
        """The node that reads ``more`` further bytes of the code points ``first`` to ``last``. Calls nest three deep.
        """
        base: cython.int = self.top
        at: cython.int = self._piece(first)
        size: cython.int = 1 << 6 * more
        low: cython.int
        high: cython.int
        if at >= 0 and last <= self.last[at] and not first & (size - 1) and last - first == size - 1:
            return self._whole(self.home[at], more)
        if more > 1:
            self._longer(first, last, more - 1, 0x80)
            return self._node(base)
        if at < 0:
            at = 0
        while at < self.pieces and self.start[at] <= last:
            low = self.start[at] if self.start[at] > first else first
            high = self.last[at] if self.last[at] < last else last
            if low <= high:
                self._push(0x80 | low & 0x3F, 0x80 | high & 0x3F, ~self.home[at])
            at += 1
        return self._node(base)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _whole(self, index: cython.int, more: cython.int) -> cython.int:
        """The node behind which any ``more`` bytes are characters of one class."""
        i: cython.int
        node: cython.int = ~index
        for i in range(more):
            if self.whole[3 * index + i] < 0:
                self._push(0x80, 0xBF, node)
                self.whole[3 * index + i] = self._node(self.top - 1)
            node = self.whole[3 * index + i]
        return node

    # -- between quotation marks ------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _escapes(self) -> cython.int:
        """The root's entry for a backslash: short escapes, in the order of their letters, then digits."""
        base: cython.int = self.top
        child: cython.int
        self._short(0x22, 0x22)
        if self.way == 2:
            self._short(0x2F, 0x2F)
        self._short(BACKSLASH, BACKSLASH)
        self._short(0x08, 0x62)
        self._short(0x0C, 0x66)
        self._short(0x0A, 0x6E)
        self._short(0x0D, 0x72)
        self._short(0x09, 0x74)
        if self.way == 1:
            self._hexadecimal()
        self.known = empty_table(self.known, 2 * BITS * self.k + 1)
        if not self.known:
            raise MemoryError
        child = self._digits(0, 16)
        if child != NONE:
            self._push(LETTER_U, LETTER_U, child)
        child = self._node(base)
        if child != NONE:
            self._push(BACKSLASH, BACKSLASH, child)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _short(self, code: cython.int, letter: cython.int) -> cython.int:
        """One short escape."""
        at: cython.int = self._piece(code)
        if at >= 0 and code <= self.last[at]:
            self._push(letter, letter, ~self.home[at])
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hexadecimal(self) -> cython.int:
        """Leave of the pieces what ``json.dumps`` may write with four digits: neither what it always writes raw nor
        what has a short escape."""
        i: cython.int
        base: cython.int = self.top
        for i in range(self.pieces):
            self._keep(i, 0, 0x07)
            self._keep(i, 0x0B, 0x0B)
            self._keep(i, 0x0E, 0x1F)
            self._keep(i, 0x7F, 0x10FFFF)
        self.pieces = self.top - base
        self.top = base
        self.start = grow_int(self.start, self.pieces + 1)
        self.last = grow_int(self.last, self.pieces + 1)
        self.home = grow_int(self.home, self.pieces + 1)
        if not (self.start and self.last and self.home):
            raise MemoryError
        for i in range(self.pieces):
            self.start[i] = self.part_lo[base + i]
            self.last[i] = self.part_hi[base + i]
            self.home[i] = self.part_child[base + i]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _keep(self, piece: cython.int, first: cython.int, last: cython.int) -> cython.int:
        """On the stack, what a piece has of the code points ``first`` to ``last``."""
        if first < self.start[piece]:
            first = self.start[piece]
        if last > self.last[piece]:
            last = self.last[piece]
        return self._push(first, last, self.home[piece]) if first <= last else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hex(self, digit: cython.int, child: cython.int) -> cython.int:
        """The entries of a hexadecimal digit."""
        if child == NONE:
            return 0
        if digit < 10:
            return self._push(0x30 + digit, 0x30 + digit, child)
        if self.way == 2:
            self._push(0x37 + digit, 0x37 + digit, child)
        return self._push(0x57 + digit, 0x57 + digit, child)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _branch(self, base: cython.int) -> cython.int:
        """The node of entries of digits."""
        sort_triples(self.part_lo, self.part_hi, self.part_child, base, self.top)
        return self._node(base)

    @cython.cfunc
    @cython.exceptval(-2147483647, check=False)
    def _digits(self, first: cython.int, bits: cython.int) -> cython.int:
        """The node (or ``~class``) that reads the last ``bits`` bits of the code points from ``first`` on.

        Four bits a digit, high surrogates first; at ten bits the low surrogate begins. Calls nest eight deep.
        """
        last: cython.int = first + (1 << bits) - 1
        at: cython.int = self._piece(first)
        base: cython.int = self.top
        index: cython.int = -1
        key: cython.int = 0
        digit: cython.int
        node: cython.int
        if at >= 0 and self.last[at] >= last:
            index = self.home[at]
            if bits == 0:
                return ~index
            key = 2 * (BITS * index + bits) + (first >= ASTRAL)
            if self.known[key] >= 0:
                return self.known[key]
        elif (at < 0 or self.last[at] < first) and (at + 1 == self.pieces or self.start[at + 1] > last) and (
                first >= ASTRAL or bits < 12 or (bits == 12 and first != 0xD000)):
            return NONE  # and no surrogates among them
        if bits == 10:
            node = self._low_surrogates(first)
        else:
            for digit in range(16):
                if bits == 12 and first == 0xD000 and digit >= 8:
                    # ``D8`` to ``DB``: a quarter each of the code points past U+FFFF. ``DC`` to ``DF`` come second.
                    node = self._digits(ASTRAL + (digit - 8 << 18), 18) if digit < 12 else NONE
                else:
                    node = self._digits(first + (digit << bits - 4), bits - 4)
                self._hex(digit, node)
            node = self._branch(base)
        if index >= 0 and node != NONE:
            self.known[key] = node
        return node

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _low_surrogates(self, first: cython.int) -> cython.int:
        """The node that reads ``\\uDC00`` and so on for the 1,024 code points from ``first`` on."""
        base: cython.int = self.top
        digit: cython.int
        node: cython.int
        for digit in range(4):
            self._hex(12 + digit, self._digits(first + (digit << 8), 8))
        node = self._branch(base)
        if node == NONE:
            return NONE
        self._hex(13, node)
        node = self._branch(base)
        self._push(LETTER_U, LETTER_U, node)
        node = self._node(base)
        self._push(BACKSLASH, BACKSLASH, node)
        return self._node(base)
