# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Sets of names of which some must be there and some may not, and fewer of them that together say the same.

A *cube* over ``n`` names is a row of bits: one for each name that must be there, one for each that may not. A cube with
more conditions holds less. From each a condition is dropped where the cube with that condition turned round is in
another one (consensus and absorption, Quine 1955), until nothing can be dropped; cubes that the others cover are left
out.

    rows[i * words : ]   the bits of cube ``i``: ``half`` words of what must be there, then ``half`` of what may not
    origins[i]           the cube that was put in from which it was made
    alive[i]             whether it is still among them

A word holds WORD names, so that no bit is a sign. Cost: for n cubes n * n pairs are looked at for each condition, 1 ns
each.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import drop_int, drop_long, grow_int, grow_long, out_of_memory
else:
    from constrained.kernel.memory import drop_int, drop_long, grow_int, grow_long, out_of_memory

__all__ = ["Cubes"]

WORD = cython.declare(cython.int, 62)
MANY_PIECES = cython.declare(cython.int, 2_000)
"""Pieces looked at to find whether a cube is covered by others."""


@cython.final
@cython.cclass
class Cubes:
    """See the module docstring. ``add`` cubes, then ask once for ``fewer``."""

    def __init__(self, names: cython.int):
        self.names = names
        self.half = (names + WORD - 1) // WORD
        self.words = 2 * self.half
        self.count = self.room = self.among = 0
        self.rows = cython.NULL if cython.compiled else None
        self.origins = self.alive = self.order = cython.NULL if cython.compiled else None

    if cython.compiled:

        def __dealloc__(self):
            drop_long(self.rows)
            drop_int(self.origins)
            drop_int(self.alive)
            drop_int(self.order)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def add(self) -> cython.int:
        """A new cube without conditions; its number."""
        i: cython.int
        found: cython.int = self.count
        self.reserve(found + 1)
        for i in range(self.words):
            self.rows[found * self.words + i] = 0
        self.origins[found] = found
        self.alive[found] = 1
        self.count = found + 1
        return found

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def ask(self, cube: cython.int, name: cython.int, there: cython.bint) -> cython.int:
        """One more condition: a name must be there, or may not."""
        one: cython.longlong = 1
        at: cython.int = cube * self.words + name // WORD + (0 if there else self.half)
        self.rows[at] = self.rows[at] | one << name % WORD
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def asks(self, cube: cython.int, name: cython.int, there: cython.bint) -> cython.bint:
        """Whether a condition is one of a cube's."""
        return self.rows[cube * self.words + name // WORD + (0 if there else self.half)] >> name % WORD & 1

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def origin(self, cube: cython.int) -> cython.int:
        """The cube that was put in from which this one was made: it has all its conditions."""
        return self.origins[cube]

    @cython.ccall
    def fewer(self) -> list:
        """The cubes that are left, those with few conditions first."""
        k: cython.int
        j: cython.int
        cube: cython.int
        held: cython.bint
        self.by_size()
        kept: cython.int = 0
        for k in range(self.among):
            cube = self.order[k]
            held = False
            for j in range(kept):
                if self.within(self.order[j], cube):
                    held = True
                    break
            if not held:
                self.order[kept] = cube
                kept += 1
        self.among = kept
        # from here on no cube holds another, so a condition can be dropped only for one that has it turned round
        while self.loosen():
            pass
        self.by_size()
        for k in range(self.among - 1, -1, -1):
            if self.is_covered(k):
                self.among -= 1
                for j in range(k, self.among):
                    self.order[j] = self.order[j + 1]
        return [self.order[k] for k in range(self.among)]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, count: cython.int) -> cython.int:
        if count > self.room:
            self.room = 2 * count + 16
            self.rows = grow_long(self.rows, cython.cast(cython.Py_ssize_t, self.room) * self.words)
            self.origins = grow_int(self.origins, self.room)
            self.alive = grow_int(self.alive, self.room)
            self.order = grow_int(self.order, self.room)
            if not (self.rows and self.origins and self.alive and self.order):
                out_of_memory()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def by_size(self) -> cython.int:
        """Those among them in the order of how many conditions they have."""
        i: cython.int
        size: cython.int
        word: cython.longlong
        listed: list = [self.order[i] for i in range(self.among)] if self.among > 0 else list(range(self.count))
        sizes: dict = {}
        for one in listed:
            size = 0
            for i in range(self.words):
                word = self.rows[cython.cast(cython.int, one) * self.words + i]
                while word:
                    word &= word - 1
                    size += 1
            sizes[one] = size
        self.among = 0
        for one in sorted(listed, key=sizes.__getitem__):
            self.order[self.among] = one
            self.among += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def within(self, few: cython.int, many: cython.int) -> cython.bint:
        """Whether the conditions of one cube are all among those of the other, which it holds then."""
        i: cython.int
        outside: cython.longlong = 0
        for i in range(self.words):
            outside |= self.rows[few * self.words + i] & ~self.rows[many * self.words + i]
        return outside == 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def loosen(self) -> cython.bint:
        """Drops conditions once over; whether any was. A new cube may be what another one waits for."""
        k: cython.int
        j: cython.int
        cube: cython.int
        found: cython.int
        there_were: cython.int = self.among
        for k in range(there_were):
            cube = self.order[k]
            if not self.alive[cube]:
                continue
            found = self.loosened(cube)
            if found >= 0:
                for j in range(self.among):
                    if self.alive[self.order[j]] and self.within(found, self.order[j]):
                        self.alive[self.order[j]] = 0
                self.order[self.among] = found
                self.among += 1
        if self.among == there_were:
            return False
        k = 0
        for j in range(self.among):
            if self.alive[self.order[j]]:
                self.order[k] = self.order[j]
                k += 1
        self.among = k
        return True

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def loosened(self, cube: cython.int) -> cython.int:
        """A new cube without the conditions that can be dropped from one; -1: none can."""
        i: cython.int
        bit: cython.longlong
        left: cython.longlong
        dropped: cython.bint = False
        found: cython.int = self.add()
        for i in range(self.words):
            self.rows[found * self.words + i] = self.rows[cube * self.words + i]
        for i in range(self.words):
            left = self.rows[cube * self.words + i]
            while left:
                bit = left & -left
                left ^= bit
                if self.is_turned(found, i, bit):
                    self.rows[found * self.words + i] = self.rows[found * self.words + i] ^ bit
                    dropped = True
        if not dropped:
            self.count -= 1
            return -1
        self.origins[found] = self.origins[cube]
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_turned(self, cube: cython.int, at: cython.int, bit: cython.longlong) -> cython.bint:
        """Whether a cube with one of its conditions turned round is in another one."""
        i: cython.int
        k: cython.int
        row: cython.int
        words: cython.int = self.words
        mine: cython.int = cube * words
        turned: cython.int = at - self.half if at >= self.half else at + self.half
        outside: cython.longlong
        for k in range(self.among):
            row = self.order[k] * words
            if not self.rows[row + turned] & bit or self.rows[row + at] & bit or not self.alive[self.order[k]]:
                continue
            outside = 0
            for i in range(words):
                outside |= self.rows[row + i] & ~(self.rows[mine + i] | (bit if i == turned else 0))
            if not outside:
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_covered(self, at: cython.int) -> cython.bint:
        """Whether the others together hold one; False, too, where that takes more than MANY_PIECES pieces.

        The pieces still to be covered stand behind the cubes, each with the number of the first of the others that may
        hold some of it.
        """
        i: cython.int
        k: cython.int
        row: cython.int
        seen: cython.int = 0
        words: cython.int = self.words
        bit: cython.longlong
        left: cython.longlong
        now: cython.int = self.count
        top: cython.int = now + 2
        self.reserve(top)
        for i in range(words):
            self.rows[(now + 1) * words + i] = self.rows[self.order[at] * words + i]
        self.origins[now + 1] = 0
        while top > now + 1:
            top -= 1
            for i in range(words):
                self.rows[now * words + i] = self.rows[top * words + i]
            k = self.origins[top]
            seen += 1
            if seen > MANY_PIECES:
                return False
            while k < self.among and (k == at or self.are_apart(now, self.order[k])):
                k += 1
            if k == self.among:
                return False
            # what is not in this one: for each of its conditions the part that breaks it and keeps those before
            for i in range(words):
                row = self.order[k] * words
                left = self.rows[row + i] & ~self.rows[now * words + i]
                while left:
                    bit = left & -left
                    left ^= bit
                    self.reserve(top + 1)
                    self.split(now, top, i, bit)
                    self.origins[top] = k + 1
                    top += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def are_apart(self, one: cython.int, other: cython.int) -> cython.bint:
        """Whether a condition of one is turned round in the other."""
        i: cython.int
        half: cython.int = self.half
        for i in range(half):
            if self.rows[one * self.words + i] & self.rows[other * self.words + half + i] or (
                    self.rows[one * self.words + half + i] & self.rows[other * self.words + i]):
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def split(self, now: cython.int, to: cython.int, at: cython.int, bit: cython.longlong) -> cython.int:
        """What of ``now`` breaks a condition becomes ``to``; ``now`` keeps what meets it."""
        i: cython.int
        words: cython.int = self.words
        turned: cython.int = at - self.half if at >= self.half else at + self.half
        for i in range(words):
            self.rows[to * words + i] = self.rows[now * words + i]
        self.rows[to * words + turned] = self.rows[to * words + turned] | bit
        self.rows[now * words + at] = self.rows[now * words + at] | bit
        return 0
