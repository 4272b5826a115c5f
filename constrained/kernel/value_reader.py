# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""A reader of JSON that remembers what must not come again.

Idea
    Where a ``Distinct`` node begins, a reader sets out beside the grammar's automaton and reads the array or object to
    its closing bracket. It kills the text where an item (or a name) closes that was seen before. What lies inside is
    one reader's too: a ``Distinct`` in it marks the frame that opens next. The grammar sees to it that the text is
    JSON; nothing is checked here.

    State 0: nothing is watched (any more). -1: something came twice. What a state is: ``value_states``; strings and
    numbers: ``value_scalars``; a byte: ``value_steps``. This file looks ahead.

``outlook`` tells where trouble can come from: it is (free, calm, bytes).

    free: no seen value is an unfinished item's any more, so that whatever completes the text is allowed
    calm: nor will one be before another item begins
    bytes: an int of 256 bits, those behind which that is not so; blanks among them where they change nothing

Cost: 30-100 ns a byte and some 200 ns an outlook, whatever was seen.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.value_scalars import has_spare
    from cython.cimports.constrained.kernel.value_states import (
        AFTER,
        BASE,
        COLON,
        DISTINCT,
        FIRST_NAME,
        HAS_EXPONENT,
        IS_NAME,
        IS_ZERO,
        ITEM,
        MOST_OFF,
        NAME,
        NUMBER,
        OBJECT,
        OFF,
        OUTER,
        SEEN,
        STRING,
        WORD,
    )
    from cython.cimports.constrained.kernel.value_steps import ValueSteps
    from cython.cimports.constrained.kernel.value_trie import END, HUGE
else:
    from constrained.kernel.value_scalars import has_spare
    from constrained.kernel.value_states import (
        AFTER,
        BASE,
        COLON,
        DISTINCT,
        FIRST_NAME,
        HAS_EXPONENT,
        IS_NAME,
        IS_ZERO,
        ITEM,
        MOST_OFF,
        NAME,
        NUMBER,
        OBJECT,
        OFF,
        OUTER,
        SEEN,
        STRING,
        WORD,
    )
    from constrained.kernel.value_steps import ValueSteps
    from constrained.kernel.value_trie import END, HUGE

from constrained.kernel.plain_numbers import number_key, plain_text

_WORD_OF = [b"true", b"false", b"null"]
_LETTERS = {8: 0x62, 9: 0x74, 10: 0x6E, 12: 0x66, 13: 0x72, 0x22: 0x22, 0x2F: 0x2F, 0x5C: 0x5C}


@cython.final
@cython.cclass
class ValueReader(ValueSteps):
    """See the module docstring."""

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
        count: cython.int
        n: cython.int
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
        count = self.trie._labels(begun, node, 0)
        if count == 1 and self.trie.path[0] == 0x2D:
            if self.trie.contains(held, self.trie.find_text(begun, b"0")):
                self._bit(0x30)
            return True
        n = self._plain_length(count)
        if n >= 0:
            if n == 0:
                node = self.trie.find_text(begun, b"0")
            elif n < count:
                node = self.trie.find(self._above(node, count - n), END)
            if n < count and self.trie.contains(held, node):
                self._equal_so_far()
            return True
        digits = self._digits()
        if digits[:1] == b"0" and digits[1:2].isdigit() or digits[:2] == b"-0" and digits[2:3].isdigit():
            self._any_number()  # no JSON
            return True
        if digits.endswith(b".") or has_spare(digits):
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
