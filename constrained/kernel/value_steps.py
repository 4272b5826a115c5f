# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A reader of values takes a byte: brackets, names and the ends of values, where something may come twice.

A step is 1 where reading goes on, 0 where the watched brackets close, -1 where something came twice.
Cost: 30-100 ns.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.value_scalars import ValueScalars, is_number_byte
    from cython.cimports.constrained.kernel.value_states import (
        AFTER,
        AROUND,
        BASE,
        COLON,
        DISTINCT,
        FIRST,
        FIRST_NAME,
        FLAGS,
        IS_NAME,
        ITEM,
        MARKED,
        MOST_OFF,
        NAME,
        NEEDED,
        NUMBER,
        OBJECT,
        OFF,
        OUTER,
        PLACES,
        RECORDED,
        SEEN,
        STRING,
        VALUE,
        WAITING,
        WORD,
        WRITTEN,
    )
    from cython.cimports.constrained.kernel.value_trie import MEMBERS, NAMED, VALUES
else:
    from constrained.kernel.value_scalars import ValueScalars, is_number_byte
    from constrained.kernel.value_states import (
        AFTER,
        AROUND,
        BASE,
        COLON,
        DISTINCT,
        FIRST,
        FIRST_NAME,
        FLAGS,
        IS_NAME,
        ITEM,
        MARKED,
        MOST_OFF,
        NAME,
        NEEDED,
        NUMBER,
        OBJECT,
        OFF,
        OUTER,
        PLACES,
        RECORDED,
        SEEN,
        STRING,
        VALUE,
        WAITING,
        WORD,
        WRITTEN,
    )
    from constrained.kernel.value_trie import MEMBERS, NAMED, VALUES


@cython.cclass
class ValueSteps(ValueScalars):
    """See the module docstring."""

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

    @cython.final
    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def one(self, state: cython.int, byte: cython.int) -> cython.int:
        """``feed`` of one byte."""
        r: cython.int
        self._unpack(state)
        r = self._step(byte)
        return self._pack() if r > 0 else r

    @cython.final
    @cython.cfunc
    @cython.exceptval(-9, check=True)
    def _step(self, byte: cython.int) -> cython.int:
        """One byte: 1, 0 where the watched brackets close, -1 if something came twice."""
        i: cython.int
        flags: cython.int
        if self.kind == STRING:
            return self._end_string() if self._string_byte(byte) else 1
        if self.kind == NUMBER:
            if is_number_byte(byte):
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

    @cython.final
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

    @cython.final
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

    @cython.final
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
                self.killer = self.here[self.levels]
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

    @cython.final
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
                self.killer = 0
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

    @cython.final
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

    @cython.final
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
