# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""JSON values as nodes of one trie, and persistent sets of such nodes.

Idea
    A value's *path* is its text with all freedom of spelling taken out: the characters of a string in UTF-8 without
    escapes, a number without exponent and needless zeros, the items of an array in order. Equal values, as JSON Schema
    compares them, end at one node, which is the value's number. Of what is being read the node so far is known after
    each byte, and whether it begins a value of a set is one look into the set: a set holds the whole paths.

Nodes
    parent[n], label[n]     what leads to a node; the pair is interned (``chains``)
    first[n], sibling[n]    its children by bytes, for asking what may come next

    Labels: 0..255 bytes, END behind a string's or number's last, HUGE for numbers whose plain text is long,
    ``NAMED + n`` for a node n that stands for a whole value; the last are no children that are listed.

    An object's members may be written in any order, so its path is no text: behind ``{`` stands ``NAMED + V``, where V
    is the node of its members sorted (of a name that is written twice the last counts), under a root of its own. To
    follow an object that is not finished yet, a set also holds the paths of each member behind the ``{``: name, colon,
    value. What has a path there may still be an object of the set; what has none is not.

Sets
    Radix trees of rows of 16, hash-consed, the leaves of 512 bits: equal sets have equal numbers, 0 is the empty one.
    The nodes of a new path have numbers in a row, so adding a value writes four rows or five, whatever is in the set.

``mark`` and ``undo`` take back what was tried.

Cost: 20 bytes a node (a byte that was not read there before), 300 bytes a value added to a set; some 20 ns each step.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.chains import Chains
    from cython.cimports.constrained.kernel.int_rows import IntRows
    from cython.cimports.constrained.kernel.memory import grow_int, wider
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.chains import Chains
    from constrained.kernel.int_rows import IntRows
    from constrained.kernel.memory import grow_int, wider

VALUES = cython.declare(cython.int, 1)  # the roots
MEMBERS = cython.declare(cython.int, 2)
OBJECTS = cython.declare(cython.int, 3)
LISTS = cython.declare(cython.int, 4)
FIRST_FREE = cython.declare(cython.int, 5)

END = cython.declare(cython.int, 256)
HUGE = cython.declare(cython.int, 257)
NAMED = cython.declare(cython.int, 512)


@cython.final
@cython.cclass
class ValueTrie(Chains):
    """See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.parent)
            free(self.label)
            free(self.first)
            free(self.sibling)
            free(self.path)
            free(self.found)

    else:

        def __new__(cls, *args):
            self = Chains.__new__(cls)
            self.parent = self.label = self.first = self.sibling = self.path = self.found = None
            self.n = self.cap = self.path_cap = self.found_cap = self.n_found = 0
            return self

    def __init__(self):
        i: cython.int
        self.sets = IntRows(17)
        self.begin()
        self.n = 0
        for i in range(FIRST_FREE):
            self._new(0, 0)

    # ---- nodes ---------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def _bucket(self, parent: cython.int, label: cython.int) -> cython.int:
        return self.bucket(_hash(parent, label))

    @cython.cfunc
    @cython.exceptval(check=False)
    def hash_of(self, i: cython.int) -> cython.uint:
        """The hash of node ``i``."""
        return _hash(self.parent[i], self.label[i])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _new(self, parent: cython.int, label: cython.int) -> cython.int:
        i: cython.int = self.n
        if i >= self.cap:
            self.cap = 64 if self.cap == 0 else wider(self.cap, 1)
            self.parent = grow_int(self.parent, self.cap)
            self.label = grow_int(self.label, self.cap)
            self.first = grow_int(self.first, self.cap)
            self.sibling = grow_int(self.sibling, self.cap)
            if not (self.parent and self.label and self.first and self.sibling):
                raise MemoryError
        self.parent[i] = parent
        self.label[i] = label
        self.first[i] = 0
        self.sibling[i] = 0
        self.n += 1
        return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def find(self, parent: cython.int, label: cython.int) -> cython.int:
        """The child, 0 if there is none."""
        i: cython.int = self.head[self._bucket(parent, label)]
        while i != 0 and not (self.parent[i] == parent and self.label[i] == label):
            i = self.behind[i]
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def child(self, parent: cython.int, label: cython.int) -> cython.int:
        """The child, made if there is none."""
        b: cython.int = self._bucket(parent, label)
        i: cython.int = self.head[b]
        while i != 0 and not (self.parent[i] == parent and self.label[i] == label):
            i = self.behind[i]
        if i == 0:
            i = self._new(parent, label)
            if label < NAMED:
                self.sibling[i] = self.first[parent]
                self.first[parent] = i
            self.link(i, b)
        return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def _undo_nodes(self, n: cython.int) -> cython.void:
        """Forget the nodes from ``n`` on, the youngest first: each is the first of its parent's children, and of its
        chain."""
        i: cython.int
        while self.n > n:
            self.n -= 1
            i = self.n
            self.unlink(i)
            if self.label[i] < NAMED:
                self.first[self.parent[i]] = self.sibling[i]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _labels(self, top: cython.int, node: cython.int, at: cython.int) -> cython.int:
        """The labels from ``top`` down to ``node``, written to ``path`` from ``at`` on; how many."""
        count: cython.int = 0
        i: cython.int = node
        while i != top:
            count += 1
            i = self.parent[i]
        if at + count > self.path_cap:
            self.path_cap = 2 * (at + count) + 64
            self.path = grow_int(self.path, self.path_cap)
            if not self.path:
                raise MemoryError
        i = node
        at += count
        while i != top:
            at -= 1
            self.path[at] = self.label[i]
            i = self.parent[i]
        return count

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_below(self, place: cython.int, value: cython.int) -> cython.int:
        """Where ``value`` (a node of VALUES) ends if it begins at ``place``, 0 if nothing is there."""
        count: cython.int = self._labels(VALUES, value, 0)
        i: cython.int
        for i in range(count):
            place = self.find(place, self.path[i])
            if place == 0:
                break
        return place

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def text(self, place: cython.int, digits: bytes) -> cython.int:
        """The node behind ``digits`` and END."""
        i: cython.Py_ssize_t
        read: cython.p_const_uchar = digits
        for i in range(len(digits)):
            place = self.child(place, read[i])
        return self.child(place, END)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_text(self, place: cython.int, digits: bytes) -> cython.int:
        """The same where it is there already, else 0."""
        i: cython.Py_ssize_t
        read: cython.p_const_uchar = digits
        for i in range(len(digits)):
            place = self.find(place, read[i])
            if place == 0:
                return 0
        return self.find(place, END)

    # ---- objects -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def with_member(self, members: cython.int, name: cython.int, value: cython.int) -> cython.int:
        """Members as they were written; none: MEMBERS."""
        return self.child(self.child(members, NAMED + name), NAMED + value)

    @cython.cfunc
    def _members(self, members: cython.int):
        """``{name: value}`` of members as they were written: the last of a name counts."""
        found = {}
        value: cython.int
        name: cython.int
        while members >= FIRST_FREE:
            value = self.label[members] - NAMED
            members = self.parent[members]
            name = self.label[members] - NAMED
            members = self.parent[members]
            if name not in found:
                found[name] = value
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def object_of(self, members: cython.int) -> cython.int:
        """The node of an object with these members."""
        node: cython.int = OBJECTS
        name: cython.int
        value: cython.int
        for name, value in sorted(self._members(members).items()):
            node = self.child(self.child(node, NAMED + name), NAMED + value)
        return self.child(node, END)

    # ---- sets ----------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def contains(self, held: cython.int, node: cython.int) -> cython.bint:
        """Whether ``node`` is in the set ``held``."""
        level: cython.int
        if held == 0 or node == 0:
            return False
        level = self.sets.get(held, 0)
        if node >> (9 + 4 * level) != 0:
            return False
        while level > 0:
            level -= 1
            held = self.sets.get(held, 1 + ((node >> (9 + 4 * level)) & 15))
            if held == 0:
                return False
        return (self.sets.get(held, 1 + ((node >> 5) & 15)) >> (node & 31)) & 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _note(self, node: cython.int) -> cython.int:
        if self.n_found >= self.found_cap:
            self.found_cap = 64 if self.found_cap == 0 else self.found_cap * 2
            self.found = grow_int(self.found, self.found_cap)
            if not self.found:
                raise MemoryError
        self.found[self.n_found] = node
        self.n_found += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add(self, held: cython.int, value: cython.int) -> cython.int:
        """The set ``held`` with all nodes on the paths of ``value``, a node of VALUES."""
        place: cython.int
        inner: cython.int
        count: cython.int
        i: cython.int
        n: cython.int
        name: cython.int
        part: cython.int
        self.n_found = 0
        self._note(VALUES)
        waiting = [(VALUES, value)]
        while waiting:
            place, part = waiting.pop()
            count = self._labels(VALUES, part, 0)
            labels = [self.path[i] for i in range(count)]
            for n in labels:
                if n >= NAMED:
                    for name, part in self._members(self.parent[n - NAMED]).items():
                        inner = place
                        count = self._labels(VALUES, name, 0)
                        for i in range(count):
                            inner = self.child(inner, self.path[i])
                            self._note(inner)
                        inner = self.child(inner, 0x3A)
                        self._note(inner)
                        waiting.append((inner, part))
                place = self.child(place, n)
                self._note(place)
        i = 0
        while i < self.n_found:
            n = i + 1
            while n < self.n_found and self.found[n] >> 9 == self.found[i] >> 9:
                n += 1
            held = self._with(held, i, n)
            i = n
        return held

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _with(self, held: cython.int, begin: cython.int, end: cython.int) -> cython.int:
        """``held`` and ``found[begin:end]``, which belong to one leaf."""
        path = cython.declare(cython.int[8])
        node: cython.int = self.found[begin]
        level: cython.int = 0
        top: cython.int
        k: cython.int
        row: cython.int
        while node >> (9 + 4 * level) != 0:
            level += 1
        if held != 0:
            k = self.sets.get(held, 0)
            while k < level:
                k += 1
                self._blank(k)
                self.sets.row[1] = held
                held = self.sets.intern()
            level = k
        top = level
        row = held
        while level > 0:
            path[level] = row
            level -= 1
            if row != 0:
                row = self.sets.get(row, 1 + ((node >> (9 + 4 * level)) & 15))
        if row != 0:
            self.sets.load(row)
        else:
            self._blank(0)
        for k in range(begin, end):
            self.sets.row[1 + ((self.found[k] >> 5) & 15)] |= cython.cast(cython.int, 1) << (self.found[k] & 31)
        row = self.sets.intern()
        while level < top:
            level += 1
            if path[level] != 0:
                self.sets.load(path[level])
            else:
                self._blank(level)
            self.sets.row[1 + ((node >> (9 + 4 * (level - 1))) & 15)] = row
            row = self.sets.intern()
        return row

    @cython.cfunc
    @cython.exceptval(check=False)
    def _blank(self, level: cython.int) -> cython.void:
        k: cython.int
        self.sets.row[0] = level
        for k in range(1, 17):
            self.sets.row[k] = 0

    # ---- the whole -----------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(check=False)
    def undo(self, nodes: cython.int, sets: cython.int) -> cython.void:
        """Forget what was made since there were so many nodes and rows of sets."""
        self._undo_nodes(nodes)
        self.sets.undo(sets)

    def memory(self):
        """Bytes held."""
        own: cython.longlong = 4 * self.held(self.cap, self.n) + self.held(self.room, self.n)
        return 4 * (own + self.held(self.buckets, self.size)) + self.sets.memory()

    # ---- for tests -----------------------------------------------------------------------------------

    def node(self, place: cython.int, labels):
        """The node that ``labels`` (an iterable of ints) lead to from ``place``, made if need be."""
        label: cython.int
        for label in labels:
            place = self.child(place, label)
        return place

    def children(self, place: cython.int):
        """The labels that lead on, of those listed."""
        found = []
        i: cython.int = self.first[place]
        while i != 0:
            found.append(self.label[i])
            i = self.sibling[i]
        return found

    def united(self, held: cython.int, value: cython.int):
        """``add``."""
        return self.add(held, value)

    def holds(self, held: cython.int, node: cython.int):
        """``contains``."""
        return bool(self.contains(held, node))

    def counts(self):
        """(nodes, rows of sets): what ``take_back`` wants."""
        return self.n, self.sets.n

    def take_back(self, nodes: cython.int, sets: cython.int):
        """``undo``."""
        self.undo(nodes, sets)


@cython.cfunc
@cython.exceptval(check=False)
def _hash(parent: cython.int, label: cython.int) -> cython.uint:
    h: cython.uint = cython.cast(cython.uint, parent) * 1640531527
    h ^= cython.cast(cython.uint, label) * 1540483477
    if not cython.compiled:
        h &= 0xFFFFFFFF
    return h ^ h >> 15
