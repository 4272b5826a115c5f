# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A reader of JSON that remembers what must not come again.

Idea
    Where a ``Distinct`` node begins, a reader sets out beside the grammar's automaton and reads the array or object to
    its closing bracket. It kills the text where an item (or a name) closes that was seen before. What lies inside is
    one reader's too: a ``Distinct`` in it marks the frame that opens next. The grammar sees to it that the text is
    JSON; nothing is checked here.

Data
    A state is an interned row: frame, *lexeme* (the token that is being read) with what is known of it, and the places
    in the trie of values where the unfinished values stand: one for each *level*. A level is an array whose items must
    differ (its places are in the unfinished item), or an object whose value is needed (its places are in the value of
    the member). Text that nobody needs is not recorded, so inside of it the state stays the same.

    A frame is a row, too: around, flags, seen (a set), members so far, the name that waits for its value, the places
    of the levels around it, and ``off``: levels whose unfinished item, whatever comes, is no seen one unless a name is
    written again (a member was read that no seen object has).

    0: nothing is watched (any more). -1: something came twice.

``outlook`` tells where trouble can come from: it is (free, calm, bytes).

    free: no seen value is an unfinished item's any more, so that whatever completes the text is allowed
    calm: nor will one be before another item begins
    bytes: an int of 256 bits, those behind which that is not so; blanks among them where they change nothing

``used`` has bits for the bytes that were in any string so far.

Cost: 30-100 ns a byte and some 200 ns an outlook, whatever was seen; 20-150 bytes a byte that was not read before.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.int_rows import IntRows
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.value_trie import END, HUGE, LISTS, MEMBERS, NAMED, VALUES, ValueTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.int_rows import IntRows
    from constrained.kernel.memory import grow_int
    from constrained.kernel.value_trie import END, HUGE, LISTS, MEMBERS, NAMED, VALUES, ValueTrie

from constrained.kernel.plain_numbers import number_key, plain_text

START = cython.declare(cython.int, 0)  # lexemes: where a value may begin (START, FIRST, ITEM, VALUE), ...
FIRST = cython.declare(cython.int, 1)
ITEM = cython.declare(cython.int, 2)
AFTER = cython.declare(cython.int, 3)  # ... between tokens, ...
FIRST_NAME = cython.declare(cython.int, 4)
NAME = cython.declare(cython.int, 5)
COLON = cython.declare(cython.int, 6)
VALUE = cython.declare(cython.int, 7)
STRING = cython.declare(cython.int, 8)  # ... and inside of one
NUMBER = cython.declare(cython.int, 9)
WORD = cython.declare(cython.int, 10)

OBJECT = cython.declare(cython.int, 1)  # flags of a frame
DISTINCT = cython.declare(cython.int, 2)
NEEDED = cython.declare(cython.int, 4)

AROUND = cython.declare(cython.int, 0)  # columns of a frame
FLAGS = cython.declare(cython.int, 1)
SEEN = cython.declare(cython.int, 2)
WRITTEN = cython.declare(cython.int, 3)
WAITING = cython.declare(cython.int, 4)
PLACES = cython.declare(cython.int, 5)
OUTER = cython.declare(cython.int, 6)  # how many levels there are around it
BASE = cython.declare(cython.int, 7)  # ``off`` when it was opened
OFF = cython.declare(cython.int, 8)

MARKED = cython.declare(cython.int, 1)  # at the beginning of a value: a Distinct begins here
RECORDED = cython.declare(cython.int, 1)  # in a string or number
IS_NAME = cython.declare(cython.int, 2)
IS_ZERO = cython.declare(cython.int, 2)  # a number that stays zero: its exponent has begun
HAS_EXPONENT = cython.declare(cython.int, 4)

MOST_OFF = cython.declare(cython.int, 30)  # levels from here on are never off

LONG_NUMBER = 1000
_WORD_OF = [b"true", b"false", b"null"]
_SHORT = {0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9}
_LETTERS = {char: letter for letter, char in _SHORT.items()}


@cython.final
@cython.cclass
class ValueReader:
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.here)
            free(self.begun)
            free(self.held)
            free(self.bits)
            free(self.used)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.here = self.begun = self.held = self.bits = self.used = None
            self.cap = self.looked = 0
            return self

    def __init__(self):
        i: cython.int
        self.trie = ValueTrie()
        self.frames = IntRows(9)
        self.states = IntRows(5)
        self.huge = {}
        self.bits = grow_int(self.bits, 8)
        self.used = grow_int(self.used, 8)
        if not (self.bits and self.used):
            raise MemoryError
        for i in range(8):
            self.used[i] = 0
        self.used[1] = 1 << (0x22 & 31)
        self.used[2] = 1 << (0x5C & 31)
        self._room(8)
        self.looked = 0
        self.look = None
        self.frame = 0
        self.kind = START
        self.aux = MARKED
        self.levels = 0
        self.start = self._pack()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self, levels: cython.int) -> cython.int:
        if levels >= self.cap:
            self.cap = 2 * levels + 8
            self.here = grow_int(self.here, self.cap)
            self.begun = grow_int(self.begun, self.cap)
            self.held = grow_int(self.held, self.cap)
            if not (self.here and self.begun and self.held):
                raise MemoryError
        return 0

    # ---- states --------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _list(self, values: cython.p_int, count: cython.int) -> cython.int:
        """A list of nodes as one int: 0, less than 0 for a single one, or a chain."""
        i: cython.int
        chain: cython.int = LISTS
        if count == 0:
            return 0
        if count == 1:
            return -values[0]
        for i in range(count):
            chain = self.trie.child(chain, NAMED + values[i])
        return chain

    @cython.cfunc
    @cython.exceptval(check=False)
    def _listed(self, chain: cython.int, out: cython.p_int, count: cython.int) -> cython.void:
        """The list that ``_list`` made of ``count`` nodes."""
        if chain < 0:
            out[0] = -chain
        elif chain > 0:
            while count > 0:
                count -= 1
                out[count] = self.trie.label[chain] - NAMED
                chain = self.trie.parent[chain]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pack(self) -> cython.int:
        """The number of the state in hand."""
        row: cython.p_int = self.states.row
        row[0] = self.frame
        row[1] = self.kind | self.aux << 4
        row[2] = self._list(self.here, self.levels)
        row[3] = self._list(self.begun, self.levels) if self.kind == NUMBER else 0
        row[4] = self.levels
        return self.states.intern()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _unpack(self, state: cython.int) -> cython.int:
        word: cython.int = self.states.get(state, 1)
        self.frame = self.states.get(state, 0)
        self.kind = word & 15
        self.aux = word >> 4
        self.levels = self.states.get(state, 4)
        self._room(self.levels + 1)
        self._listed(self.states.get(state, 2), self.here, self.levels)
        if self.kind == NUMBER:
            self._listed(self.states.get(state, 3), self.begun, self.levels)
        return 0

    def marked(self, state: cython.int):
        """``state`` at the beginning of a value, with a ``Distinct`` there; 0: outside of all."""
        if state == 0:
            return self.start
        self._unpack(state)
        self.aux = MARKED
        return self._pack()

    def feed(self, state: cython.int, data: bytes):
        """The state after ``data``: 0 as soon as the watched brackets are closed, -1 if something came twice."""
        i: cython.Py_ssize_t
        r: cython.int
        read: cython.p_const_uchar = data
        if state <= 0:
            return state
        self._unpack(state)
        for i in range(len(data)):
            r = self._step(read[i])
            if r <= 0:
                return r
        return self._pack()

    def in_string(self, state: cython.int):
        """Whether a string is open."""
        return self.states.get(state, 1) & 15 == STRING

    def in_number(self, state: cython.int):
        """Whether a number is being read: whatever is no part of it ends it."""
        return self.states.get(state, 1) & 15 == NUMBER

    def may_rewrite(self, state: cython.int):
        """Whether an item that has become a new one would not be if a name were written again in it."""
        return self.frames.get(self.states.get(state, 0), OFF) != 0

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def one(self, state: cython.int, byte: cython.int) -> cython.int:
        """``feed`` of one byte."""
        r: cython.int
        self._unpack(state)
        r = self._step(byte)
        return self._pack() if r > 0 else r

    # ---- steps ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def _flags(self) -> cython.int:
        return self.frames.get(self.frame, FLAGS)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _needs_values(self) -> cython.bint:
        flags: cython.int = self._flags()
        return flags & NEEDED != 0 or flags & (DISTINCT | OBJECT) == DISTINCT

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _all_to(self, label: cython.int) -> cython.int:
        """Every level reads ``label``."""
        i: cython.int
        if self.kind == STRING and label < END:
            self.used[label >> 5] |= cython.cast(cython.int, 1) << (label & 31)
        for i in range(self.levels):
            self.here[i] = self.trie.child(self.here[i], label)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _values_begin(self) -> cython.int:
        """The levels of a value that begins in the frame; those around it are in hand."""
        if not self._needs_values():
            self.levels = 0
        elif self._flags() & (DISTINCT | OBJECT) != 0:
            self._room(self.levels + 1)
            self.here[self.levels] = VALUES
            self.levels += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _step(self, byte: cython.int) -> cython.int:
        """One byte: 1, 0 where the watched brackets close, -1 if something came twice."""
        i: cython.int
        flags: cython.int
        if self.kind == STRING:
            return self._in_string(byte)
        if self.kind == NUMBER:
            if _is_number_byte(byte):
                return self._in_number(byte)
            if self.aux & RECORDED:
                self._end_number()
            if self._close_value() < 0:
                return -1
        elif self.kind == WORD:
            self._all_to(byte)
            self.aux += 4
            if self.aux >> 2 == (5 if self.aux & 3 == 1 else 4):
                return -1 if self._close_value() < 0 else 1
            return 1
        if byte == 0x20 or byte == 0x0A or byte == 0x0D or byte == 0x09:
            return 1
        if byte == 0x22:
            if self.kind == FIRST_NAME or self.kind == NAME:
                flags = self._flags()
                self.aux = IS_NAME
                if flags & (NEEDED | DISTINCT):
                    self.aux |= RECORDED
                    self._room(self.levels + 1)
                    self.here[self.levels] = VALUES
                    self.levels += 1
            else:
                self.aux = RECORDED if self._needs_values() else 0
            self._all_to(0x22)
            self.kind = STRING
        elif byte == 0x5B or byte == 0x7B:
            self._open(byte)
        elif byte == 0x5D or byte == 0x7D:
            return self._close(byte)
        elif byte == 0x2C:
            self.aux = 0
            if self._flags() & OBJECT:
                self.kind = NAME
            else:
                self.kind = ITEM
                self._all_to(0x2C)
                self._values_begin()
        elif byte == 0x3A:
            self._all_to(0x3A)
            self.kind = VALUE
            self.aux = 0
            self._values_begin()
        elif byte == 0x74 or byte == 0x66 or byte == 0x6E:
            self._all_to(byte)
            self.kind = WORD
            self.aux = 4 | (0 if byte == 0x74 else 1 if byte == 0x66 else 2)
        else:
            self.kind = NUMBER
            self.aux = RECORDED if self._needs_values() else 0
            for i in range(self.levels):
                self.begun[i] = self.here[i]
            self._all_to(byte)
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _open(self, byte: cython.int) -> cython.int:
        """A bracket opens."""
        row: cython.p_int = self.frames.row
        needed: cython.bint = self.frame != 0 and self._needs_values()
        off: cython.int = self.frames.get(self.frame, OFF)
        marked: cython.int = self.aux & MARKED
        if needed:
            self._all_to(byte)
        else:
            self.levels = 0
            off = 0
        row[AROUND] = self.frame
        row[FLAGS] = (OBJECT if byte == 0x7B else 0) | (DISTINCT if marked else 0) | (NEEDED if needed else 0)
        row[SEEN] = 0
        row[WRITTEN] = MEMBERS if needed and byte == 0x7B else 0
        row[WAITING] = 0
        row[PLACES] = self._list(self.here, self.levels) if byte == 0x7B else 0
        row[OUTER] = self.levels
        row[BASE] = off
        row[OFF] = off
        self.frame = self.frames.intern()
        self.aux = 0
        if byte == 0x7B:
            self.kind = FIRST_NAME
        else:
            self.kind = FIRST
            self._values_begin()
        return 0

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _close(self, byte: cython.int) -> cython.int:
        """A bracket closes."""
        needed: cython.bint = self._flags() & NEEDED != 0
        around: cython.int = self.frames.get(self.frame, AROUND)
        self.levels = self.frames.get(self.frame, OUTER)  # behind "[" there is one more
        if around == 0:
            return 0
        if needed:
            if byte == 0x5D:
                self._all_to(0x5D)
            else:
                self._all_to(NAMED + self.trie.object_of(self.frames.get(self.frame, WRITTEN)))
        self.frame = around
        return -1 if self._close_value() < 0 else 1

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _close_value(self) -> cython.int:
        """A value has ended; -1 if it came before."""
        flags: cython.int = self._flags()
        row: cython.p_int
        seen: cython.int
        off: cython.int
        i: cython.int
        self.kind = AFTER
        self.aux = 0
        if not self._needs_values():
            self.levels = 0
            return 0
        if flags & (DISTINCT | OBJECT) == 0:
            return 0
        self.levels -= 1
        if flags & OBJECT == 0:
            seen = self.frames.get(self.frame, SEEN)
            if self.trie.contains(seen, self.here[self.levels]):
                return -1
            seen = self.trie.add(seen, self.here[self.levels])
            self.frames.load(self.frame)
            self.frames.row[SEEN] = seen
            self.frame = self.frames.intern()
            return 0
        off = self.frames.get(self.frame, OFF)
        self._hold()
        for i in range(self.levels):
            if i < MOST_OFF and self.held[i] != 0 and not self.trie.contains(self.held[i], self.here[i]):
                off |= cython.cast(cython.int, 1) << i
        seen = self.trie.with_member(self.frames.get(self.frame, WRITTEN), self.frames.get(self.frame, WAITING),
                                     self.here[self.levels])
        self._listed(self.frames.get(self.frame, PLACES), self.here, self.levels)
        self.frames.load(self.frame)
        row = self.frames.row
        row[WRITTEN] = seen
        row[WAITING] = 0
        row[OFF] = off
        self.frame = self.frames.intern()
        return 0

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _close_name(self) -> cython.int:
        """A recorded name has ended; -1 if it came before."""
        flags: cython.int = self._flags()
        name: cython.int
        seen: cython.int = self.frames.get(self.frame, SEEN)
        off: cython.int = self.frames.get(self.frame, OFF)
        self.levels -= 1
        name = self.here[self.levels]
        if flags & DISTINCT:
            if self.trie.contains(seen, name):
                return -1
            seen = self.trie.add(seen, name)
        elif flags & NEEDED:
            off = self._off_without(name)
        self.frames.load(self.frame)
        self.frames.row[SEEN] = seen
        self.frames.row[WAITING] = name if flags & NEEDED else 0
        self.frames.row[OFF] = off
        self.frame = self.frames.intern()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _off_without(self, name: cython.int) -> cython.int:
        """The levels that are off whatever the value of ``name`` is; it may have been written before."""
        off: cython.int = self.frames.get(self.frame, OFF)
        written: cython.int = self.frames.get(self.frame, WRITTEN)
        member: cython.int = written
        other: cython.int
        value: cython.int
        node: cython.int
        i: cython.int
        while member != MEMBERS:
            member = self.trie.parent[member]
            if self.trie.label[member] == NAMED + name:
                break
            member = self.trie.parent[member]
        if member == MEMBERS or off == self.frames.get(self.frame, BASE):
            return off
        off = self.frames.get(self.frame, BASE)
        kept = self.trie._members(written)
        places = [0] * self.levels
        for i in range(self.levels):
            places[i] = self.here[i]
        self._listed(self.frames.get(self.frame, PLACES), self.here, self.levels)
        self._hold()
        for other, value in kept.items():
            if other == name:
                continue
            for i in range(min(self.levels, MOST_OFF)):
                if self.held[i] == 0:
                    continue
                node = self.trie.find_below(self.here[i], other)
                if node != 0:
                    node = self.trie.find(node, 0x3A)
                if node != 0:
                    node = self.trie.find_below(node, value)
                if not self.trie.contains(self.held[i], node):
                    off |= cython.cast(cython.int, 1) << i
        for i in range(self.levels):
            self.here[i] = places[i]
        return off

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hold(self) -> cython.int:
        """``held[i]``: what the items of level i must differ from; 0 where it is an object's, or nothing yet."""
        frame: cython.int = self.frame
        flags: cython.int
        level: cython.int
        self._room(self.levels + 1)
        while frame != 0:
            flags = self.frames.get(frame, FLAGS)
            level = self.frames.get(frame, OUTER)
            if level < self.cap:
                if flags & OBJECT:
                    self.held[level] = 0
                elif flags & DISTINCT:
                    self.held[level] = self.frames.get(frame, SEEN)
            if flags & NEEDED == 0:
                break
            frame = self.frames.get(frame, AROUND)
        return 0

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _in_string(self, byte: cython.int) -> cython.int:
        escape: cython.int = self.aux >> 2 & 7
        value: cython.int
        if self.aux & RECORDED == 0:
            if escape:
                self.aux &= 3
            elif byte == 0x5C:
                self.aux |= 4
            elif byte == 0x22:
                return self._end_string()
            return 1
        if escape == 0:
            if byte == 0x22:
                self._all_to(END)
                return self._end_string()
            if byte == 0x5C:
                self.aux |= 4
            else:
                self._all_to(byte)
            return 1
        if escape == 1:
            self.aux &= 3
            if byte == 0x75:
                self.aux |= 8
            else:
                self._all_to(_SHORT.get(byte, byte))
            return 1
        value = (self.aux >> 5) << 4 | _digit(byte)
        if escape < 5:
            self.aux = self.aux & 3 | (escape + 1) << 2 | value << 5
        else:
            self.aux &= 3
            self._append(value)
        return 1

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _end_string(self) -> cython.int:
        if self.aux & IS_NAME == 0:
            return -1 if self._close_value() < 0 else 1
        if self.aux & RECORDED and self._close_name() < 0:
            return -1
        self.kind = COLON
        self.aux = 0
        return 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _half(self, node: cython.int) -> cython.int:
        """The first half of a pair that ends at ``node``, or -1."""
        low: cython.int = self.trie.label[node]
        high: cython.int
        if low < 0x80 or low > 0xBF:
            return -1
        node = self.trie.parent[node]
        high = self.trie.label[node]
        if high < 0xA0 or high > 0xAF or self.trie.label[self.trie.parent[node]] != 0xED:
            return -1
        return 0xD000 | (high & 0x3F) << 6 | (low & 0x3F)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _append(self, unit: cython.int) -> cython.int:
        """A code unit that was written as an escape; the second half of a pair makes one character with the first."""
        first: cython.int
        i: cython.int
        if unit < 0x80:
            return self._all_to(unit)
        if unit < 0x800:
            self._all_to(0xC0 | unit >> 6)
            return self._all_to(0x80 | unit & 0x3F)
        if 0xDC00 <= unit <= 0xDFFF:
            first = self._half(self.here[0])
            if first >= 0:
                for i in range(self.levels):
                    self.here[i] = self.trie.parent[self.trie.parent[self.trie.parent[self.here[i]]]]
                unit = 0x10000 + ((first - 0xD800) << 10) + (unit - 0xDC00)
                self._all_to(0xF0 | unit >> 18)
                self._all_to(0x80 | unit >> 12 & 0x3F)
                self._all_to(0x80 | unit >> 6 & 0x3F)
                return self._all_to(0x80 | unit & 0x3F)
        self._all_to(0xE0 | unit >> 12)
        self._all_to(0x80 | unit >> 6 & 0x3F)
        return self._all_to(0x80 | unit & 0x3F)

    # ---- numbers -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _in_number(self, byte: cython.int) -> cython.int:
        zero: cython.int
        i: cython.int
        if self.aux & RECORDED == 0 or self.aux & IS_ZERO:
            return 1
        if (byte == 0x65 or byte == 0x45) and self.aux & HAS_EXPONENT == 0:
            if self._is_zero():
                if self._flags() & (OBJECT | DISTINCT) == DISTINCT:
                    zero = self.trie.find_text(VALUES, b"0")
                    if self.trie.contains(self.frames.get(self.frame, SEEN), zero):
                        return -1  # whatever the exponent is
                for i in range(self.levels):
                    self.here[i] = self.trie.child(self.begun[i], 0x30)
                self.aux |= IS_ZERO
                return 1
            self.aux |= HAS_EXPONENT
        self._all_to(byte)
        return 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_zero(self) -> cython.bint:
        """Whether what was read of the number is zero so far."""
        node: cython.int = self.here[0]
        label: cython.int
        while node != self.begun[0]:
            label = self.trie.label[node]
            if label != 0x30 and label != 0x2D and label != 0x2E:
                return False
            node = self.trie.parent[node]
        return True

    @cython.cfunc
    def _digits(self):
        """The number as it was written so far."""
        count: cython.int = self.trie._labels(self.begun[0], self.here[0], 0)
        return bytes([self.trie.path[i] for i in range(count)])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_number(self) -> cython.int:
        """Every level goes to where the value ends, however it was written."""
        i: cython.int
        digits: bytes = self._digits()
        if self.aux & IS_ZERO == 0 and self.aux & HAS_EXPONENT == 0 and not _has_spare(digits):
            return self._all_to(END)
        key = number_key(b"0" if self.aux & IS_ZERO else digits)
        plain = plain_text(key)
        for i in range(self.levels):
            if plain is None:
                self.here[i] = self.trie.text(self.trie.child(self.begun[i], HUGE),
                                              b"%d" % self.huge.setdefault(key, len(self.huge)))
            else:
                self.here[i] = self.trie.text(self.begun[i], plain)
        return 0

    # ---- outlook -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def look_at(self, state: cython.int) -> cython.bint:
        """What the unfinished items of ``state`` can still equal: ``free``, and ``calm`` and ``bits`` (8 words)."""
        i: cython.int
        calm: cython.bint
        free: cython.bint
        levels: cython.int
        outer: cython.int
        flags: cython.int
        off: cython.int
        again: cython.int
        names: cython.bint
        is_off: cython.bint
        seen: cython.int
        self._unpack(state)
        for i in range(8):
            self.bits[i] = 0
        free = calm = True
        flags = self._flags()
        outer = self.frames.get(self.frame, OUTER)
        off = self.frames.get(self.frame, OFF)
        if self.frame != 0:
            self._hold()
            if flags & OBJECT and flags & DISTINCT:
                seen = self.frames.get(self.frame, SEEN)
                if self.kind == NAME and seen != 0:  # there is always another name: compiling saw to that
                    self._blanks()
                    self._bit(0x22)
                    calm = False
                elif self.kind == STRING and self.aux & IS_NAME:
                    self.held[outer] = seen
            levels = self.levels
            if flags & OBJECT == 0 and self.kind == AFTER:
                levels = outer
            names = self.kind == NAME or (self.kind == STRING and self.aux & IS_NAME != 0)
            again = off & ~self.frames.get(self.frame, BASE)
            for i in range(levels):
                is_off = i < MOST_OFF and off >> i & 1
                if self.held[i] == 0 or (is_off and not (names and again >> i & 1)):
                    continue
                if self._trouble(self.held[i], self.here[i], self.begun[i]):
                    calm = False
                    # before an item begins there is always another one: compiling saw to that
                    if not is_off and not (self.kind == ITEM and i == outer):
                        free = False
        self.calm = calm
        return free

    def outlook(self, state: cython.int):
        """What the unfinished items of ``state`` can still equal: see the module docstring."""
        i: cython.int
        number: object = 0
        word: object
        if state != self.looked or self.look is None:
            free: cython.bint = self.look_at(state)
            for i in range(8):
                word = cython.cast(cython.uint, self.bits[i])
                number |= word << 32 * i
            self.looked = state
            self.look = (bool(free), bool(self.calm), number)
        return self.look

    @cython.cfunc
    @cython.exceptval(check=False)
    def _bit(self, byte: cython.int) -> cython.void:
        self.bits[byte >> 5] |= cython.cast(cython.int, 1) << (byte & 31)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _blanks(self) -> cython.void:
        self._bit(0x20)
        self._bit(0x0A)
        self._bit(0x0D)
        self._bit(0x09)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _ends(self) -> cython.void:
        self._blanks()
        self._bit(0x2C)
        self._bit(0x5D)
        self._bit(0x7D)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _figures(self) -> cython.void:
        i: cython.int
        for i in range(0x30, 0x3A):
            self._bit(i)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _trouble(self, held: cython.int, node: cython.int, begun: cython.int) -> cython.bint:
        """Whether the item at ``node`` may become one of ``held``; by which bytes goes to ``bits``."""
        c: cython.int
        label: cython.int
        kind: cython.int = self.kind
        if kind == STRING:
            return self._string_trouble(held, node)
        if kind == NUMBER:
            return self._number_trouble(held, node, begun)
        if not self.trie.contains(held, node):
            return False
        if kind == WORD:
            c = _WORD_OF[self.aux & 3][self.aux >> 2]
            self._bit(c)
            return True
        self._blanks()
        if kind == COLON:
            self._bit(0x3A)
            return True
        if kind == NAME or kind == FIRST_NAME:
            self._bit(0x22)
            if kind == FIRST_NAME:
                self._bit(0x7D)
            return True
        if kind == AFTER and self._flags() & OBJECT:
            self._bit(0x2C)
            self._bit(0x7D)
            return True
        c = self.trie.first[node]
        while c != 0:
            label = self.trie.label[c]
            if self.trie.contains(held, c):
                if label == HUGE or label == 0x2D or (0x30 <= label <= 0x39):
                    self._figures()
                    self._bit(0x2D)
                else:
                    self._bit(label)
            c = self.trie.sibling[c]
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _string_trouble(self, held: cython.int, node: cython.int) -> cython.bint:
        c: cython.int
        label: cython.int
        place: cython.int = node
        found: cython.bint = False
        escape: cython.int = self.aux >> 2 & 7
        digits: cython.int
        if not self.trie.contains(held, node):
            if self._half(node) < 0:  # the first half of a pair may stand at the end
                return False
        for _ in range(2):
            if self.trie.contains(held, place):
                c = self.trie.first[place]
                while c != 0:
                    label = self.trie.label[c]
                    # behind a first half only what is written as a pair
                    if (place == node or label >= 0xF0) and self.trie.contains(held, c):
                        if label == END:
                            if escape == 0:
                                self._bit(0x22)
                                found = True
                        elif escape == 0:
                            found = True
                            self._bit(0x5C)
                            if place == node:
                                self._bit(label)
                        elif label >= 0x80:
                            found = True
                            if escape == 1:
                                self._bit(0x75)
                            else:
                                self._hexadecimal()
                        elif escape == 1:
                            found = True
                            self._bit(0x75)
                            if label in _LETTERS:
                                self._bit(_LETTERS[label])
                        else:
                            digits = 4 - (escape - 2)  # still to come
                            if self.aux >> 5 == label >> (4 * digits):
                                found = True
                                digits = label >> (4 * (digits - 1)) & 15
                                if digits < 10:
                                    self._bit(0x30 + digits)
                                else:
                                    self._bit(0x37 + digits)
                                    self._bit(0x57 + digits)
                    c = self.trie.sibling[c]
            if self._half(node) < 0:
                break
            place = self.trie.parent[self.trie.parent[self.trie.parent[node]]]
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hexadecimal(self) -> cython.void:
        i: cython.int
        self._figures()
        for i in range(6):
            self._bit(0x41 + i)
            self._bit(0x61 + i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _any_number(self) -> cython.void:
        self._figures()
        self._ends()
        self._bit(0x2B)
        self._bit(0x2D)
        self._bit(0x2E)
        self._bit(0x65)
        self._bit(0x45)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _number_trouble(self, held: cython.int, node: cython.int, begun: cython.int) -> cython.bint:
        """An exponent can make any number of any digits, so while one may follow nothing is out of the question."""
        c: cython.int
        label: cython.int
        some: cython.bint = False
        digits: bytes
        if not self.trie.contains(held, begun):
            return False
        if self.aux & IS_ZERO:
            if not self.trie.contains(held, self.trie.find(self.trie.find(begun, 0x30), END)):
                return False
            self._any_number()
            return True
        c = self.trie.first[begun]
        while c != 0:
            label = self.trie.label[c]
            if (label == HUGE or label == 0x2D or (0x30 <= label <= 0x39)) and self.trie.contains(held, c):
                some = True
                if label == HUGE:
                    self._any_number()
            c = self.trie.sibling[c]
        if not some:
            return False
        if self.aux & HAS_EXPONENT:
            self._any_number()
            return True
        self._bit(0x65)
        self._bit(0x45)
        digits = self._digits()
        if self.trie.contains(held, node):
            c = self.trie.first[node]
            while c != 0:
                label = self.trie.label[c]
                if self.trie.contains(held, c):
                    if label == END:
                        self._equal_so_far()
                    else:
                        self._bit(label)
                c = self.trie.sibling[c]
        if digits == b"-":
            if self.trie.contains(held, self.trie.find_text(begun, b"0")):
                self._bit(0x30)
            return True
        if digits[:1] == b"0" and digits[1:2].isdigit() or digits[:2] == b"-0" and digits[2:3].isdigit():
            self._any_number()  # no JSON
            return True
        if digits.endswith(b".") or _has_spare(digits):
            plain = plain_text(number_key(digits))
            if plain is None:
                self._any_number()
            elif self.trie.contains(held, self.trie.find_text(begun, plain)):
                self._equal_so_far()
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _equal_so_far(self) -> cython.void:
        """Nothing but zeros may come."""
        self._ends()
        self._bit(0x2E)
        self._bit(0x30)

    # ---- the whole -----------------------------------------------------------------------------------

    def mark(self):
        """What ``undo`` wants."""
        return self.trie.n, self.trie.sets.n, self.frames.n, self.states.n

    def undo(self, marked):
        """Forget all states that were made since ``marked = mark()``."""
        nodes: cython.int
        sets: cython.int
        frames: cython.int
        states: cython.int
        nodes, sets, frames, states = marked
        if states < self.states.n:
            self.look = None
        self.states.undo(states)
        self.frames.undo(frames)
        self.trie.undo(nodes, sets)

    def memory(self):
        """Bytes held."""
        return self.trie.memory() + self.frames.memory() + self.states.memory() + 200 * len(self.huge)


@cython.cfunc
@cython.exceptval(check=False)
def _is_number_byte(byte: cython.int) -> cython.bint:
    return 0x30 <= byte <= 0x39 or byte == 0x2E or byte == 0x2D or byte == 0x2B or byte == 0x65 or byte == 0x45


@cython.cfunc
@cython.exceptval(check=False)
def _digit(byte: cython.int) -> cython.int:
    if byte <= 0x39:
        return byte - 0x30
    return (byte | 0x20) - 0x57


@cython.cfunc
@cython.exceptval(check=False)
def _has_spare(digits: bytes) -> cython.bint:
    """Whether a number without an exponent is not in its plain form, or may not be."""
    if len(digits) > LONG_NUMBER:
        return True
    if digits[:2] == b"-0" and len(digits) == 2:
        return True
    if (digits[:1] == b"0" and digits[1:2].isdigit()) or (digits[:2] == b"-0" and digits[2:3].isdigit()):
        return True
    return b"." in digits and digits.endswith((b"0", b"."))
