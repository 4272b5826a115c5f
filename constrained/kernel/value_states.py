# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The states of a reader of JSON that remembers what must not come again (``kernel.value_reader``).

Data
    A state is an interned row: frame, *lexeme* (the token that is being read) with what is known of it, and the places
    in the trie of values where the unfinished values stand: one for each *level*. A level is an array whose items must
    differ (its places are in the unfinished item), or an object whose value is needed (its places are in the value of
    the member). Text that nobody needs is not recorded, so inside of it the state stays the same.

    A frame is a row, too: around, flags, seen (a set), members so far, the name that waits for its value, the places
    of the levels around it, and ``off``: levels whose unfinished item, whatever comes, is no seen one unless a name is
    written again (a member was read that no seen object has).

    The state in hand is in attributes: ``frame``, ``kind`` (the lexeme), ``aux``, ``here[:levels]`` and, in a number,
    where it began, ``begun[:levels]``; ``_unpack`` and ``_pack`` lead there and back.

``used`` has bits for the bytes that were in any string so far. ``killer``: the value that came again, of those that the
array in hand has seen; 0: it was a name.
Cost: 50-100 ns to pack a state; 20-150 bytes a byte that was not read before.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.int_rows import IntRows
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.value_trie import END, LISTS, NAMED, VALUES, ValueTrie
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.int_rows import IntRows
    from constrained.kernel.memory import grow_int
    from constrained.kernel.value_trie import END, LISTS, NAMED, VALUES, ValueTrie

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


@cython.cclass
class ValueStates:
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
            self.cap = self.looked = self.killer = 0
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

    @cython.final
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

    @cython.final
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

    @cython.final
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

    @cython.final
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

    @cython.final
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

    def in_string(self, state: cython.int):
        """Whether a string is open."""
        return self.states.get(state, 1) & 15 == STRING

    def in_number(self, state: cython.int):
        """Whether a number is being read: whatever is no part of it ends it."""
        return self.states.get(state, 1) & 15 == NUMBER

    def may_rewrite(self, state: cython.int):
        """Whether an item that has become a new one would not be if a name were written again in it."""
        return self.frames.get(self.states.get(state, 0), OFF) != 0

    # ---- the state in hand -------------------------------------------------------------------------------

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _flags(self) -> cython.int:
        return self.frames.get(self.frame, FLAGS)

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _needs_values(self) -> cython.bint:
        flags: cython.int = self._flags()
        return flags & NEEDED != 0 or flags & (DISTINCT | OBJECT) == DISTINCT

    @cython.final
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

    @cython.final
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

    @cython.final
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

    # ---- the whole -----------------------------------------------------------------------------------------

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
