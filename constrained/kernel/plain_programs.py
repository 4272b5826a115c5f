# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Patterns without assertions as programs of characters and choices (K. Thompson, 1968).

Place 0 is the end of the text; a place reads one of the characters of set ``set_of`` and goes on at ``next``, or it
chooses (``set_of`` -1) between ``choices[at[p]:at[p + 1]]``. Sets are numbered as they are met: ``sets[s]`` are its
ranges. Once the code points are cut into ``k`` classes, ``member[s * k + c]`` says whether class ``c`` is in set ``s``.

A tree is compiled from its end to its beginning, so the entry of what comes next is known before a node is. Nodes tell
what they are by ``tag``, and what they are made of by ``parts`` (``regex.syntax``).

Cost: 20 ns a place, one for each character of the pattern with its counts written out.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.memory import grow_int

from constrained.kernel.dfa_tables import TooManyStates  # noqa: E402 - a Python name in both modes

TEXT = cython.declare(cython.int, 0)
CHARS = cython.declare(cython.int, 1)
CONCAT = cython.declare(cython.int, 2)
ALTERNATION = cython.declare(cython.int, 3)
REPEAT = cython.declare(cython.int, 4)

#: What is to be done with a node of the stack: compile it; go on with its options, of which so many are done and behind
#: which a place follows; with its copies, of which so many are left; close its loop, a place, behind which one follows;
#: with its optional rounds, of which so many are left, behind which one follows and of which the last is compiled.
NODE = cython.declare(cython.int, 0)
OPTION = cython.declare(cython.int, 1)
COPIES = cython.declare(cython.int, 2)
LOOP = cython.declare(cython.int, 3)
ROUNDS = cython.declare(cython.int, 4)
BEGUN = cython.declare(cython.int, 5)


class HasAssertions(Exception):
    """A tree is more than characters, order, choice and repetition."""


@cython.final
@cython.cclass
class PlainProgram:
    """See the module docstring. ``read`` and ``choose`` add a place, ``compile`` those of a tree."""

    if cython.compiled:

        def __dealloc__(self):
            free(self.set_of)
            free(self.next)
            free(self.at)
            free(self.choices)
            free(self.member)
            free(self.seen)
            free(self.stack)
            free(self.live)
            free(self.task)
            free(self.entries)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.n = self.room = self.total = self.choice_room = self.k = self.stamp = self.tasks = self.task_room = 0
            self.entry_count = self.entry_room = 0
            for name in "set_of next at choices member seen stack live task entries".split():
                setattr(self, name, None)
            return self

    def __init__(self, most: cython.int):
        """``most``: places allowed, below 2**28."""
        self.most = most
        self.sets = []
        self.numbers = {}
        self.characters = {}
        self._place(-1, -1)

    def read(self, chars: tuple, to: cython.int) -> int:
        """A place that reads one of ``chars`` (ranges) and goes on at ``to``."""
        return self._place(self._set(chars), to)

    def choose(self, targets: list) -> int:
        """A place that goes on at any of ``targets``."""
        place: cython.int = self._place(-1, -1)
        to: cython.int
        for to in targets:
            self._choice(to)
        self.at[self.n] = self.total
        return place

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set(self, chars: tuple) -> cython.int:
        found = self.numbers.get(chars)
        if found is None:
            found = self.numbers[chars] = len(self.sets)
            self.sets.append(chars)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place(self, chars: cython.int, to: cython.int) -> cython.int:
        if self.n >= self.most + 1:
            raise TooManyStates
        if self.n + 1 >= self.room:
            self.room = 2 * self.room + 64
            self.set_of = grow_int(self.set_of, self.room)
            self.next = grow_int(self.next, self.room)
            self.at = grow_int(self.at, self.room)
            if not (self.set_of and self.next and self.at):
                raise MemoryError
        self.set_of[self.n] = chars
        self.next[self.n] = to
        self.at[self.n] = self.total
        self.n += 1
        self.at[self.n] = self.total
        return self.n - 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _choice(self, to: cython.int) -> cython.int:
        """One choice more of the last place; ``at`` is not yet set behind it."""
        if self.total >= self.choice_room:
            self.choice_room = 2 * self.choice_room + 64
            self.choices = grow_int(self.choices, self.choice_room)
            if not self.choices:
                raise MemoryError
        self.choices[self.total] = to
        self.total += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _either(self, one: cython.int, other: cython.int) -> cython.int:
        """A place that chooses between two."""
        place: cython.int = self._place(-1, -1)
        self._choice(one)
        self._choice(other)
        self.at[self.n] = self.total
        return place

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _soon(self, nodes: list, node, what: cython.int, a: cython.int, b: cython.int) -> cython.int:
        """One task more, to be done before those there are."""
        at: cython.int = 3 * self.tasks
        if at + 3 > self.task_room:
            self.task_room = 2 * self.task_room + 96
            self.task = grow_int(self.task, self.task_room)
            if not self.task:
                raise MemoryError
        self.task[at] = what
        self.task[at + 1] = a
        self.task[at + 2] = b
        self.tasks += 1
        nodes.append(node)
        return 0

    def compile(self, root) -> int:
        """The entry of ``root``, followed by the end of the text. Raises ``TooManyStates``, ``HasAssertions``."""
        current: cython.int = 0
        what: cython.int
        kind: cython.int
        a: cython.int
        b: cython.int
        i: cython.int
        nodes: list = []
        text: str
        items: tuple
        self._soon(nodes, root, NODE, 0, 0)
        while self.tasks > 0:
            self.tasks -= 1
            what = self.task[3 * self.tasks]
            a = self.task[3 * self.tasks + 1]
            b = self.task[3 * self.tasks + 2]
            node = nodes.pop()
            if what == NODE:
                kind = node.tag
                if kind == TEXT:
                    text = node.chars
                    for i in range(cython.cast(cython.int, len(text)) - 1, -1, -1):
                        current = self._place(self._character(text[i]), current)
                elif kind == CHARS:
                    current = self._place(self._set(node.ranges), current)
                elif kind == CONCAT:
                    items = node.parts
                    for item in items:
                        self._soon(nodes, item, NODE, 0, 0)
                elif kind == ALTERNATION:
                    items = node.parts
                    self._soon(nodes, node, OPTION, 0, current)
                    self._soon(nodes, items[len(items) - 1], NODE, 0, 0)
                elif kind == REPEAT:
                    a = node.minimum
                    if a > 0:
                        self._soon(nodes, node, COPIES, a, 0)
                    if node.maximum is None:
                        b = current
                        current = self._either(0, 0)  # filled in when its body is there
                        self._soon(nodes, node, LOOP, current, b)
                        self._soon(nodes, node.parts[0], NODE, 0, 0)
                    else:
                        b = node.maximum
                        if b > a:
                            self._soon(nodes, node, ROUNDS, b - a, current)
                else:
                    raise HasAssertions
            elif what == OPTION:
                a += 1
                self._enter(current)
                items = node.parts
                if a == cython.cast(cython.int, len(items)):
                    current = self._place(-1, -1)
                    for i in range(a):  # the first option first
                        self._choice(self.entries[self.entry_count - 1 - i])
                    self.at[self.n] = self.total
                    self.entry_count -= a
                else:
                    current = b
                    self._soon(nodes, node, OPTION, a, b)
                    self._soon(nodes, items[len(items) - 1 - a], NODE, 0, 0)
            elif what == COPIES:
                if a > 1:
                    self._soon(nodes, node, COPIES, a - 1, 0)
                self._soon(nodes, node.parts[0], NODE, 0, 0)
            elif what == LOOP:
                self.choices[self.at[a]] = current
                self.choices[self.at[a] + 1] = b
                current = a
            else:
                if what == BEGUN:
                    current = self._either(current, b)
                if a > 0:
                    self._soon(nodes, node, BEGUN, a - 1, b)
                    self._soon(nodes, node.parts[0], NODE, 0, 0)
        return current

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _character(self, char: str) -> cython.int:
        """The set of one character."""
        found = self.characters.get(char)
        if found is None:
            code = ord(char)
            found = self.characters[char] = self._set(((code, code),))
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter(self, entry: cython.int) -> cython.int:
        """The entry of one more option."""
        if self.entry_count >= self.entry_room:
            self.entry_room = 2 * self.entry_room + 16
            self.entries = grow_int(self.entries, self.entry_room)
            if not self.entries:
                raise MemoryError
        self.entries[self.entry_count] = entry
        self.entry_count += 1
        return 0

    def classify(self, masks: list, k: cython.int) -> None:
        """Of each set its classes out of ``k``, as bits."""
        i: cython.int
        j: cython.int
        self.k = k
        self.member = grow_int(self.member, cython.cast(cython.int, len(masks)) * k + 1)
        if not self.member:
            raise MemoryError
        for i in range(cython.cast(cython.int, len(masks))):
            mask = masks[i]
            for j in range(k):
                self.member[i * k + j] = 1 if mask >> j & 1 else 0

    def reads(self, start: cython.int, letters: list) -> bool:
        """Whether the text of these classes is one from place ``start`` on: all its places at once."""
        i: cython.int
        letter: cython.int
        to: cython.int
        count: cython.int
        top: cython.int = 1
        if self.stamp == 0:
            self.seen = grow_int(self.seen, self.n)
            self.stack = grow_int(self.stack, self.n + 1)
            self.live = grow_int(self.live, self.n + 1)
            if not (self.seen and self.stack and self.live):
                raise MemoryError
            for i in range(self.n):
                self.seen[i] = 0
        self.stamp += 1
        self.seen[start] = self.stamp
        self.stack[0] = start
        count = self._follow(top)
        for letter in letters:
            top = 0
            self.stamp += 1
            for i in range(count):
                if self.set_of[self.live[i]] >= 0 and self.member[self.set_of[self.live[i]] * self.k + letter]:
                    to = self.next[self.live[i]]
                    if self.seen[to] != self.stamp:
                        self.seen[to] = self.stamp
                        self.stack[top] = to
                        top += 1
            if top == 0:
                return False
            count = self._follow(top)
        return self.seen[0] == self.stamp

    @cython.cfunc
    @cython.exceptval(check=False)
    def _follow(self, top: cython.int) -> cython.int:
        """Fill ``live`` with the places that read behind ``stack[:top]``, which are seen; how many they are."""
        i: cython.int
        place: cython.int
        to: cython.int
        count: cython.int = 0
        while top > 0:
            top -= 1
            place = self.stack[top]
            if self.set_of[place] >= 0:
                self.live[count] = place
                count += 1
                continue
            for i in range(self.at[place], self.at[place + 1]):
                to = self.choices[i]
                if self.seen[to] != self.stamp:
                    self.seen[to] = self.stamp
                    self.stack[top] = to
                    top += 1
        return count
