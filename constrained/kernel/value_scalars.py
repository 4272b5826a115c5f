# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Strings and numbers as a reader of values sees them: what was written, in its plain form.

A string's places follow its characters, escapes decoded; a number's follow what is written, and at its end go to where
the value is, however it was written (``plain_numbers``).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.value_states import (
        DISTINCT,
        HAS_EXPONENT,
        IS_ZERO,
        OBJECT,
        RECORDED,
        SEEN,
        ValueStates,
    )
    from cython.cimports.constrained.kernel.value_trie import END, HUGE, VALUES
else:
    from constrained.kernel.value_states import (
        DISTINCT,
        HAS_EXPONENT,
        IS_ZERO,
        OBJECT,
        RECORDED,
        SEEN,
        ValueStates,
    )
    from constrained.kernel.value_trie import END, HUGE, VALUES

from constrained.kernel.plain_numbers import LONG, number_key, plain_text

MOST_PLAIN = cython.declare(cython.int, LONG)
_SHORT = {0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9}


@cython.cclass
class ValueScalars(ValueStates):
    """See the module docstring."""

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _string_byte(self, byte: cython.int) -> cython.bint:
        """Read a byte of a string; True if it is the closing quotation mark."""
        escape: cython.int = self.aux >> 2 & 7
        value: cython.int
        if self.aux & RECORDED == 0:
            if escape:
                self.aux &= 3
            elif byte == 0x5C:
                self.aux |= 4
            elif byte == 0x22:
                return True
            return False
        if escape == 0:
            if byte == 0x22:
                self._all_to(END)
                return True
            if byte == 0x5C:
                self.aux |= 4
            else:
                self._all_to(byte)
            return False
        if escape == 1:
            self.aux &= 3
            if byte == 0x75:
                self.aux |= 8
            else:
                self._all_to(_SHORT.get(byte, byte))
            return False
        value = (self.aux >> 5) << 4 | _digit(byte)
        if escape < 5:
            self.aux = self.aux & 3 | (escape + 1) << 2 | value << 5
        else:
            self.aux &= 3
            self._append(value)
        return False

    @cython.final
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

    @cython.final
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

    # ---- numbers -------------------------------------------------------------------------------------------

    @cython.final
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
                        self.killer = zero
                        return -1  # whatever the exponent is
                for i in range(self.levels):
                    self.here[i] = self.trie.child(self.begun[i], 0x30)
                self.aux |= IS_ZERO
                return 1
            self.aux |= HAS_EXPONENT
        self._all_to(byte)
        return 1

    @cython.final
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

    @cython.final
    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _plain_length(self, count: cython.int) -> cython.int:
        """How much of a number without exponent, whose ``count`` bytes are in ``trie.path``, is its plain form; 0 if it
        is zero but not written "0", -1 if its plain form is long, or stands elsewhere."""
        path: cython.p_int = self.trie.path
        i: cython.int = 0
        n: cython.int = count
        point: cython.bint = False
        while i < count and (path[i] == 0x30 or path[i] == 0x2D or path[i] == 0x2E):
            i += 1
        if i == count:
            return 1 if count == 1 and path[0] == 0x30 else 0
        i = 1 if path[0] == 0x2D else 0
        if path[i] == 0x30 and i + 1 < count and 0x30 <= path[i + 1] <= 0x39:
            return -1
        while i < count and not point:
            point = path[i] == 0x2E
            i += 1
        if point:
            while path[n - 1] == 0x30:
                n -= 1
            if path[n - 1] == 0x2E:
                n -= 1
        return n if n <= MOST_PLAIN else -1

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _above(self, node: cython.int, steps: cython.int) -> cython.int:
        while steps > 0:
            node = self.trie.parent[node]
            steps -= 1
        return node

    @cython.final
    @cython.cfunc
    def _digits(self):
        """The number as it was written so far."""
        count: cython.int = self.trie._labels(self.begun[0], self.here[0], 0)
        return bytes([self.trie.path[i] for i in range(count)])

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_number(self) -> cython.int:
        """Every level goes to where the value ends, however it was written."""
        i: cython.int
        count: cython.int = 0
        n: cython.int = 0
        if self.aux & IS_ZERO == 0:
            count = self.trie._labels(self.begun[0], self.here[0], 0)
            n = self._plain_length(count) if self.aux & HAS_EXPONENT == 0 else -1
        if n >= 0:
            for i in range(self.levels):
                if n == 0:
                    self.here[i] = self.trie.text(self.begun[i], b"0")
                else:
                    self.here[i] = self.trie.child(self._above(self.here[i], count - n), END)
            return 0
        key = number_key(self._digits())
        plain = plain_text(key)
        for i in range(self.levels):
            if plain is None:
                self.here[i] = self.trie.text(self.trie.child(self.begun[i], HUGE),
                                              b"%d" % self.huge.setdefault(key, len(self.huge)))
            else:
                self.here[i] = self.trie.text(self.begun[i], plain)
        return 0


@cython.cfunc
@cython.exceptval(check=False)
def is_number_byte(byte: cython.int) -> cython.bint:
    return 0x30 <= byte <= 0x39 or byte == 0x2E or byte == 0x2D or byte == 0x2B or byte == 0x65 or byte == 0x45


@cython.cfunc
@cython.exceptval(check=False)
def _digit(byte: cython.int) -> cython.int:
    if byte <= 0x39:
        return byte - 0x30
    return (byte | 0x20) - 0x57


@cython.cfunc
@cython.exceptval(check=False)
def has_spare(digits: bytes) -> cython.bint:
    """Whether a number without an exponent is not in its plain form, or may not be."""
    if len(digits) > LONG:
        return True
    if digits[:2] == b"-0" and len(digits) == 2:
        return True
    if (digits[:1] == b"0" and digits[1:2].isdigit()) or (digits[:2] == b"-0" and digits[2:3].isdigit()):
        return True
    return b"." in digits and digits.endswith((b"0", b"."))
