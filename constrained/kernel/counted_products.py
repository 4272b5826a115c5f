# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The product of an automaton over classes and a counter of characters, minimised as it is made.

It is made from its last layer to the first: layer ``c`` holds the states that ``c`` characters lead to, and states
that go on alike are one, in whatever layers they are. They form no cycle but behind the last layer, so comparing
targets is enough (D. Revuz, Minimisation of acyclic deterministic automata, 1992).

    next[s * k + j]   the automaton: state ``n`` is dead
    does[i * w + j]   what a state of the product does by class, and last whether it accepts; 0 is dead. ``w = k + 1``
    first, label, to  the result: edges of state ``s`` are ``first[s] .. first[s + 1]``; ``label`` is a set of classes
    final             1 where a state of the result accepts; state 0 starts

Cost: 15 ns a state of a layer and class, 100 ns a state that is left.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.hashing import hash_run, put_slot
    from cython.cimports.constrained.kernel.memory import drop_int, empty_table, grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.hashing import hash_run, put_slot
    from constrained.kernel.memory import drop_int, empty_table, grow_int

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes


@cython.final
@cython.cclass
class CountedProduct:
    """The texts of an automaton of ``least`` to ``top`` characters, or at least ``top`` of them (``endless``).

    ``sets``: the sets of classes that edges read, each a tuple of class numbers in order.
    """

    if cython.compiled:

        def __dealloc__(self):
            self._forget()
            free(self.first)
            free(self.label)
            free(self.to)
            free(self.final)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.k = self.w = self.count = self.cap = self.slot_count = self.size = self.edges = self.last = 0
            self.edge_cap = self.set_cap = 0
            for name in "next does slots layer layer_at following here first label to final members set_at".split():
                setattr(self, name, None)
            return self

    def __init__(self, rows: tuple, accepting: frozenset, k: cython.int, least: cython.int, top: cython.int,
                 endless: cython.bint, most: cython.int, merged: cython.int):
        """``rows`` over ``k`` classes as in ``dfa_tables``, minimised. Raises TooManyStates beyond ``most`` states in
        all layers, or ``merged`` that are left, those of the automaton not counted.
        """
        i: cython.int
        j: cython.int
        row: tuple
        if len(rows) > (1 << 28) // (k + 1):
            raise TooManyStates
        self.n = cython.cast(cython.int, len(rows))
        self.k = k
        self.w = k + 1
        self.sets = []
        self.next = grow_int(self.next, self.n * k + 1)
        self.following = grow_int(self.following, self.n + 1)
        self.here = grow_int(self.here, self.n + 1)
        self.slot_count = 1024
        self.slots = empty_table(self.slots, self.slot_count)
        self.cap = 256 + self.n
        self.does = grow_int(self.does, self.cap * self.w)
        if not (self.next and self.following and self.here and self.slots and self.does):
            raise MemoryError
        for i in range(self.n):
            row = rows[i]
            for j in range(k):
                self.next[i * k + j] = row[j]
                if self.next[i * k + j] < 0:
                    self.next[i * k + j] = self.n
        for i in range(self.w):
            self.does[i] = 0
        self.count = 1
        self._reach(top, most)
        self._merge(accepting, least, top, endless, merged)
        if self.following[0] > 0:
            self._number(self.following[0])
        self._forget()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _forget(self) -> cython.void:
        """Give back what only the making needs."""
        self.next = drop_int(self.next)
        self.does = drop_int(self.does)
        self.slots = drop_int(self.slots)
        self.layer = drop_int(self.layer)
        self.layer_at = drop_int(self.layer_at)
        self.following = drop_int(self.following)
        self.here = drop_int(self.here)
        self.members = drop_int(self.members)
        self.set_at = drop_int(self.set_at)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reach(self, top: cython.int, most: cython.int) -> cython.int:
        """The states of each layer, in order: ``layer_at`` is where it begins, its end the next -1. Those from ``last``
        on are alike.
        """
        n: cython.int = self.n
        k: cython.int = self.k
        total: cython.longlong = 1
        size: cython.int = 1
        room: cython.int = 2 * n + 64
        at: cython.int = 0
        end: cython.int = 2
        count: cython.int
        i: cython.int
        j: cython.int
        same: cython.bint
        layers: cython.int = 64
        self.layer = grow_int(self.layer, room)
        self.layer_at = grow_int(self.layer_at, layers)
        if not (self.layer and self.layer_at):
            raise MemoryError
        self.layer[0] = 0
        self.layer[1] = -1
        self.layer_at[0] = 0
        self.last = top
        for count in range(1, top + 1):
            if end + n + 2 > room:
                room = 2 * room + n
                self.layer = grow_int(self.layer, room)
                if not self.layer:
                    raise MemoryError
            for i in range(n + 1):
                self.here[i] = 0
            i = at
            while self.layer[i] >= 0:
                for j in range(self.layer[i] * k, self.layer[i] * k + k):
                    self.here[self.next[j]] = 1
                i += 1
            j = end
            for i in range(n):
                if self.here[i]:
                    self.layer[j] = i
                    j += 1
            self.layer[j] = -1
            same = j - end == size
            i = 0
            while same and i < size:
                same = self.layer[at + i] == self.layer[end + i]
                i += 1
            if same:  # and so are all that follow
                total += cython.cast(cython.longlong, size) * (top - count + 1)
                if total > most:
                    raise TooManyStates
                self.last = count - 1
                return 0
            at = end
            size = j - end
            end = j + 1
            if count >= layers:
                layers *= 2
                self.layer_at = grow_int(self.layer_at, layers)
                if not self.layer_at:
                    raise MemoryError
            self.layer_at[count] = at
            total += size
            if total > most:
                raise TooManyStates
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _merge(self, accepting: frozenset, least: cython.int, top: cython.int, endless: cython.bint,
               merged: cython.int) -> cython.int:
        """What the states of each layer do, the last layer first; ``following`` is the number of each of layer 0."""
        n: cython.int = self.n
        k: cython.int = self.k
        count: cython.int
        at: cython.int
        state: cython.int
        i: cython.int
        j: cython.int
        alive: cython.int
        hold: cython.p_int
        ends: cython.p_int = grow_int(cython.NULL if cython.compiled else None, n + 1)
        if not ends:
            raise MemoryError
        try:
            for i in range(n + 1):
                ends[i] = 0
                self.following[i] = 0
                self.here[i] = 0
            for state in accepting:
                ends[state] = 1
            count = top
            if endless:  # behind the last layer the automaton goes on without counting
                for state in range(n):
                    for j in range(k):
                        i = self.next[state * k + j]
                        self.does[(1 + state) * self.w + j] = 0 if i == n else 1 + i
                    self.does[(1 + state) * self.w + k] = ends[state]
                    self.following[state] = self._known()
                count -= 1
            if count > self.last and self.layer[self.layer_at[self.last]] < 0:
                count = self.last  # nothing leads further
            while count >= 0:
                at = self.layer_at[count if count < self.last else self.last]
                while self.layer[at] >= 0:
                    state = self.layer[at]
                    at += 1
                    self._room()
                    alive = ends[state] if count >= least else 0
                    self.does[self.count * self.w + k] = alive
                    for j in range(k):
                        i = self.following[self.next[state * k + j]]
                        self.does[self.count * self.w + j] = i
                        alive |= i
                    self.here[state] = self._known() if alive else 0
                    if self.count > merged + n:
                        raise TooManyStates
                hold = self.following
                self.following = self.here
                self.here = hold
                for i in range(n + 1):
                    self.here[i] = 0
                count -= 1
        finally:
            if cython.compiled:
                free(ends)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _room(self) -> cython.int:
        """Room for one more state."""
        if self.count + 1 >= self.cap:
            if self.cap > (1 << 29) // self.w:
                raise TooManyStates
            self.cap *= 2
            self.does = grow_int(self.does, self.cap * self.w)
            if not self.does:
                raise MemoryError
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _known(self) -> cython.int:
        """The number of the state whose row was written last, as that of the next new one."""
        w: cython.int = self.w
        row: cython.int = self.count * w
        i: cython.int
        j: cython.int
        other: cython.int
        i = self._slot(self.count)
        while self.slots[i] >= 0:
            other = self.slots[i] * w
            j = 0
            while j < w and self.does[other + j] == self.does[row + j]:
                j += 1
            if j == w:
                return self.slots[i]
            i = (i + 1) & (self.slot_count - 1)
        self.slots[i] = self.count
        self.count += 1
        if 2 * self.count > self.slot_count:
            self.slot_count *= 4
            self.slots = empty_table(self.slots, self.slot_count)
            if not self.slots:
                raise MemoryError
            for j in range(1, self.count):
                i = self._slot(j)
                put_slot(self.slots, self.slot_count, i, j)
        return self.count - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slot(self, state: cython.int) -> cython.int:
        """Where a state's row is looked for first."""
        h: cython.ulonglong = hash_run(self.does, state * self.w, self.w)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _number(self, start: cython.int) -> cython.int:
        """The states that ``start`` leads to, in the order in which they are met, and their edges."""
        w: cython.int = self.w
        k: cython.int = self.k
        here: cython.int = 0
        state: cython.int
        target: cython.int
        i: cython.int
        j: cython.int
        found: cython.int
        place: cython.p_int = grow_int(cython.NULL if cython.compiled else None, self.count)
        order: cython.p_int = grow_int(cython.NULL if cython.compiled else None, self.count)
        try:
            self.first = grow_int(self.first, self.count + 1)
            self.final = grow_int(self.final, self.count + 1)
            self.members = grow_int(self.members, k + 1)
            self.slot_count = 64
            self.slots = empty_table(self.slots, self.slot_count)  # now of sets of classes
            if not (place and order and self.first and self.final and self.members and self.slots):
                raise MemoryError
            for i in range(self.count):
                place[i] = -1
            place[start] = 0
            order[0] = start
            self.size = 1
            while here < self.size:
                state = order[here]
                self.first[here] = self.edges
                self.final[here] = self.does[state * w + k]
                if self.edges + k > self.edge_cap:
                    self.edge_cap = 2 * self.edge_cap + k + 1024
                    self.label = grow_int(self.label, self.edge_cap)
                    self.to = grow_int(self.to, self.edge_cap)
                    if not (self.label and self.to):
                        raise MemoryError
                for j in range(k):
                    target = self.does[state * w + j]
                    if target <= 0:
                        continue
                    found = 0
                    for i in range(j, k):
                        if self.does[state * w + i] == target:
                            self.members[found] = i
                            found += 1
                            self.does[state * w + i] = -1  # read
                    if place[target] < 0:
                        place[target] = self.size
                        order[self.size] = target
                        self.size += 1
                    self.label[self.edges] = self._set(found)
                    self.to[self.edges] = place[target]
                    self.edges += 1
                here += 1
            self.first[here] = self.edges
        finally:
            if cython.compiled:
                free(place)
                free(order)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set(self, found: cython.int) -> cython.int:
        """The number of the set of the classes ``members[:found]``; ``set_at`` of each: begin and end of its members,
        which stand behind those being asked about.
        """
        i: cython.int = self._set_slot(0, found)
        j: cython.int
        at: cython.int
        number: cython.int
        while self.slots[i] >= 0:
            number = self.slots[i]
            at = self.set_at[2 * number]
            if self.set_at[2 * number + 1] - at == found:
                j = 0
                while j < found and self.members[at + j] == self.members[j]:
                    j += 1
                if j == found:
                    return number
            i = (i + 1) & (self.slot_count - 1)
        number = cython.cast(cython.int, len(self.sets))
        if number >= self.set_cap:
            self.set_cap = 2 * number + 16
            self.set_at = grow_int(self.set_at, 2 * self.set_cap)
            if not self.set_at:
                raise MemoryError
        at = self.k if number == 0 else self.set_at[2 * number - 1]
        self.members = grow_int(self.members, at + found + 1)
        if not self.members:
            raise MemoryError
        for j in range(found):
            self.members[at + j] = self.members[j]
        self.set_at[2 * number] = at
        self.set_at[2 * number + 1] = at + found
        self.sets.append(tuple([self.members[j] for j in range(found)]))
        self.slots[i] = number
        if 2 * number > self.slot_count:
            self._spread(number + 1)
        return number

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_slot(self, begin: cython.int, end: cython.int) -> cython.int:
        """Where the set of the classes ``members[begin:end]`` is looked for first."""
        h: cython.ulonglong = hash_run(self.members, begin, end - begin)
        return cython.cast(cython.int, (h >> 7) & cython.cast(cython.ulonglong, self.slot_count - 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spread(self, count: cython.int) -> cython.int:
        """A larger table of the sets."""
        i: cython.int
        j: cython.int
        self.slot_count *= 4
        self.slots = empty_table(self.slots, self.slot_count)
        if not self.slots:
            raise MemoryError
        for j in range(count):
            i = self._set_slot(self.set_at[2 * j], self.set_at[2 * j + 1])
            put_slot(self.slots, self.slot_count, i, j)
        return 0

    # ---- for Python ----------------------------------------------------------------------------------------

    def states(self) -> int:
        """How many states are left; 0: there is no text."""
        return self.size

    def uses(self) -> list:
        """How many edges read each of ``sets``."""
        found: list = [0] * len(self.sets)
        i: cython.int
        for i in range(self.edges):
            found[self.label[i]] += 1
        return found

    def row(self, state: cython.int) -> list:
        """The edges of a state: (set, next state)."""
        i: cython.int
        found: list = []
        for i in range(self.first[state], self.first[state + 1]):
            found.append((self.label[i], self.to[i]))
        return found

    def accepting(self) -> frozenset:
        """The states that accept."""
        i: cython.int
        found: list = []
        for i in range(self.size):
            if self.final[i]:
                found.append(i)
        return frozenset(found)
