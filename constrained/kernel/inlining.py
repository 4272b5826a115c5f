# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Which rules are inlined: those that are small or used once, and not the target of a back edge.

The rules reachable from the root are searched once, depth first, each text weighed as it is met. Of each recursive
group only the targets of back edges stay rules. One look-up a reference; ``Rule`` holds all that is known of a rule.

Where there is a guard, a lexer was at work: then loops without calls (names, spaces) stay rules too, however small, for
what masks find out about a rule's texts serves all places that call it; and so do graphs that are used more than once.

A rule whose text is shared by many grammars (``nodes.share``) may have an image (``kernel.images``): then its text is
not read at all, and it is called. Otherwise it may be one that an image is to be made of.

A part of many sequences (``nodes.part``: a colon with spaces around it) is a rule without a name here.
Cost: 20-40 ns a node.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.images import Image, image_of
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.constrained.kernel.nodes import (
        ByteDfa,
        CharClass,
        Choice,
        Literal,
        Node,
        Reference,
        Repeat,
        Sequence,
        Unordered,
    )
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.blocks import Block
    from constrained.kernel.images import Image, image_of
    from constrained.kernel.memory import grow_int
    from constrained.kernel.nodes import (
        ByteDfa,
        CharClass,
        Choice,
        Literal,
        Node,
        Reference,
        Repeat,
        Sequence,
        Unordered,
    )

INLINE_SIZE = cython.declare(cython.int, 64)
"""A rule whose expression, inlined, has at most this many leaves is inlined wherever it is used,"""
INLINE_TOTAL = cython.declare(cython.int, 2048)
"""unless that would be more than this many in all."""
LITERAL = cython.declare(cython.int, 1)
CHAR_CLASS = cython.declare(cython.int, 2)
SEQUENCE = cython.declare(cython.int, 3)
CHOICE = cython.declare(cython.int, 4)
REPEAT = cython.declare(cython.int, 5)
REFERENCE = cython.declare(cython.int, 6)
BYTE_DFA = cython.declare(cython.int, 7)
UNORDERED = cython.declare(cython.int, 8)
COUNTED_DFA = cython.declare(cython.int, 9)
KEY_DFA = cython.declare(cython.int, 10)
NOT_FOLLOWED_BY = cython.declare(cython.int, 11)
GRAPH = cython.declare(cython.int, 12)
PART = cython.declare(cython.int, 5)
"""``shared`` of a part,"""
BEFORE_VALUE = cython.declare(cython.int, 7)
"""and of one that stands before values."""
MOST_LEAVES = cython.declare(cython.int, 2_000)
"""Of the rules of a scalar that is written in a moment,"""
SOON_WRITTEN = cython.declare(cython.int, 10_000)
"""and the length of a string that is."""


@cython.cfunc
@cython.exceptval(-1, check=False)
def _leaves(ranges: tuple) -> cython.int:
    """What a class of characters counts: more if it is wider than ASCII."""
    last: tuple
    if len(ranges) == 0:
        return 1
    last = ranges[len(ranges) - 1]
    return 1 if last[1] < 0x80 else 6


@cython.final
@cython.cclass
class Rule:
    """A rule by name. ``number`` and ``name_id`` are the network's, -1 until it has them; ``place`` is the table's.

    Of a part, ``part`` is the node, ``name`` None, and ``owner`` the place of the rule in whose text it was met first.
    ``in_doubt``: it is not shown that it has a text, if only its own nodes have. ``early``: it is called from the root
    or an early rule otherwise than in a value.
    The places of the rules it calls are ``calls[next_call:last_call]`` of its table; what was looked at is before.
    """

    if not cython.compiled:
        expr = image = part = name = None
        inline = is_head = is_done = counts = loops = guarded = graph = wanted = in_doubt = early = False
        uses = first_call = next_call = last_call = weight = owner = 0


@cython.final
@cython.cclass
class RuleTable:
    """The reachable rules. ``known``: name -> ``Rule``; ``listed``: in the order in which they were met.
    ``opaque``: those with an image, callers first. ``parts``: those that are no rules of the grammar.
    ``wanted``: those that an image may be made of, callees first, or None. ``special``: there are nodes of rarer kinds.
    ``all_end``: each rule has a text, as far as that depends on the rules it calls. ``plain``: and as far as that
    depends on its own nodes, and there is nothing that could be more than a limit allows. ``leaves``: of all rules;
    ``early``: those that are not in values (what follows ``nodes.before_value``). ``skips``: values are not read, for
    it is known that all of it is so of them; this comes before ``choose``.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.at)
            free(self.calls)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.at_cap = self.calls_cap = 0
            self.at = self.calls = None
            return self

    def __init__(self, rules: dict, kinds: dict, parts_of, images: cython.bint, largest: cython.longlong):
        """``kinds``: the numbers of types that are no ``Node``; ``parts_of(node)``: (leaves of its own, parts).

        ``images``: whether rules may have images; ``largest``: the largest count in one.
        """
        self.rules = rules
        self.kinds = kinds
        self.parts_of = parts_of
        self.images = images
        self.largest = largest
        self.known = {}
        self.listed = []
        self.parts = []
        self.n_listed = 0
        self.n_calls = 0
        self.frames = []
        self.opaque = []
        self.wanted = None
        self.special = False
        self.recursive = False
        self.all_end = True
        self.guarded = False
        self.plain = True
        self.skips = False
        self.leaves = 0
        self.early = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def kind_of(self, node) -> cython.int:
        """A node's number, 0 for the rarer ones."""
        # the most by their very types: cheaper than a look at what a type comes from
        if type(node) is Literal:
            return LITERAL
        if type(node) is Reference:
            return REFERENCE
        if type(node) is Sequence:
            return SEQUENCE
        if type(node) is Choice:
            return CHOICE
        if isinstance(node, Node) and cython.cast(Node, node).kind != 0:
            return cython.cast(Node, node).kind
        return self.kinds.get(type(node), 0)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def choose(self, root: str) -> cython.int:
        """Fill ``known`` from ``root``, with what is to be inlined."""
        path: list = []
        finished: list = []
        rule: Rule
        called: Rule
        total: cython.longlong
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        rule = self._new_rule(root)
        rule.expr = self.rules[root]
        rule.is_head = True
        rule.early = True
        self._weigh(rule)
        while True:
            if rule.next_call < rule.last_call:
                called = cython.cast(Rule, self.listed[self.calls[rule.next_call]])
                rule.next_call += 1
                if called.expr is None:
                    if called.part is not None:
                        called.expr = called.part
                        self._weigh(called)
                    else:
                        called.expr = self.rules[called.name]
                        self._open(called)
                    path.append(rule)
                    rule = called
                elif not called.is_done:
                    called.is_head = True
                    self.recursive = True
                continue
            if rule.image is not None and not self._all_opaque(rule):
                rule.image = None
                self._weigh(rule)
                continue
            if self.recursive and not self._has_text(rule):
                rule.in_doubt = True
                self.all_end = False
            rule.is_done = True
            finished.append(rule)
            if not path:
                break
            rule = cython.cast(Rule, path.pop())
        for i in range(len(finished)):  # callees first
            rule = cython.cast(Rule, finished[i])
            if rule.image is not None:
                self.opaque.append(rule)
                continue
            total = rule.weight
            for k in range(rule.first_call, rule.last_call):
                called = cython.cast(Rule, self.listed[self.calls[k]])
                total += called.weight if called.inline else 1
            rule.weight = total
            # one that counts (bounded whitespace) is called: what is found out about its loop then serves every place
            if not rule.is_head and (rule.uses == 1 or (
                    not rule.counts and rule.part is None
                    and total <= INLINE_SIZE and total * rule.uses <= INLINE_TOTAL)):
                rule.inline = not (self.guarded and (
                    (rule.graph and rule.uses > 1)
                    or (rule.loops and rule.first_call == rule.last_call and self._may_be_called(rule))))
            if rule.wanted:
                if self.wanted is None:
                    self.wanted = []
                self.wanted.append(rule)
        self.opaque.reverse()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _open(self, rule: Rule) -> cython.int:
        """Read the text of a rule, or what there is instead."""
        node: Node
        image: Image
        if not self.images or not isinstance(rule.expr, Node):
            return self._weigh(rule)
        node = cython.cast(Node, rule.expr)
        if node.shared != 1:
            return self._weigh(rule)
        image = image_of(node)
        if image is not None:
            if image.largest <= self.largest and image.fits(rule.name, self.rules):
                rule.image = image
                rule.next_call = rule.first_call = self.n_calls
                for call in image.calls:
                    self._call(self._named(call[0]), False)
                rule.last_call = self.n_calls
                return 0
            return self._weigh(rule)
        rule.wanted = True
        self._weigh(rule)
        if not rule.counts and rule.weight + rule.last_call - rule.first_call <= INLINE_SIZE:
            rule.wanted = False  # too small to be called
            node.shared = 3
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _all_opaque(self, rule: Rule) -> cython.bint:
        """Whether all that an image calls has an image, too; it had when this one was made."""
        k: cython.Py_ssize_t
        for k in range(rule.first_call, rule.last_call):
            if cython.cast(Rule, self.listed[self.calls[k]]).image is None:
                return False
        return True

    @cython.cfunc
    def _named(self, name: str) -> Rule:
        """The rule of a name, which may be new."""
        known = self.known.get(name)
        if known is not None:
            return cython.cast(Rule, known)
        return self._new_rule(name)

    @cython.cfunc
    def _new_rule(self, name: str) -> Rule:
        rule: Rule = self._list_rule()
        rule.name = name
        self.known[name] = rule
        return rule

    @cython.cfunc
    def _list_rule(self) -> Rule:
        rule: Rule = Rule.__new__(Rule)
        rule.number = -1
        rule.name_id = -1
        rule.place = self.n_listed
        self.n_listed += 1
        self.listed.append(rule)
        return rule

    @cython.cfunc
    def rule_of(self, node: Reference) -> Rule:
        """The rule that a node refers to. Another table may have left its own place at the node."""
        rule: Rule
        if node.place < self.n_listed:
            rule = cython.cast(Rule, self.listed[node.place])
            if rule.name is node.name:
                return rule
        rule = self._named(node.name)
        node.place = rule.place
        return rule

    @cython.cfunc
    def rule_of_part(self, node: Sequence, owner: cython.int) -> Rule:
        """The rule that a part is; ``owner`` is for a new one."""
        rule: Rule
        if node.place < self.n_listed:
            rule = cython.cast(Rule, self.listed[node.place])
            if rule.part is node:
                return rule
        for one in self.parts:
            rule = cython.cast(Rule, one)
            if rule.part is node:
                node.place = rule.place
                return rule
        rule = self._list_rule()
        rule.part = node
        rule.owner = owner
        self.parts.append(rule)
        node.place = rule.place
        return rule

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _call(self, called: Rule, early: cython.bint) -> cython.int:
        """The rule that is being read refers to another one."""
        n: cython.int = self.n_calls
        if n >= self.calls_cap:
            self.calls_cap = 2 * n + 64
            self.calls = grow_int(self.calls, self.calls_cap)
            if not self.calls:
                raise MemoryError
        self.calls[n] = called.place
        self.n_calls = n + 1
        called.uses += 1
        if early:
            called.early = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _weigh(self, rule: Rule) -> cython.int:
        """Count the leaves of one rule's own text; the rules that it refers to are listed in order, with their uses
        counted.
        """
        total: cython.longlong = 0
        kind: cython.int
        depth: cython.int = 0  # of ``frames``: what is half read, and in ``at`` how far
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = 0
        items: tuple = ()
        parts: tuple
        repeat: Repeat
        group: Unordered
        node: object = rule.expr
        value: cython.int = -1  # the depth of the sequence whose value is being read
        before: cython.longlong = 0
        values: cython.longlong = 0  # leaves of values
        rule.next_call = rule.first_call = self.n_calls
        while True:
            kind = self.kind_of(node)
            parts = None
            if kind == LITERAL:
                total += len(cython.cast(Literal, node).data)
            elif kind == REFERENCE:
                self._call(self.rule_of(cython.cast(Reference, node)), rule.early and value < 0)
            elif kind == SEQUENCE:
                if cython.cast(Sequence, node).shared >= PART and node is not rule.expr:
                    self._call(self.rule_of_part(cython.cast(Sequence, node), rule.place), rule.early)
                    if value < 0 and cython.cast(Sequence, node).shared == BEFORE_VALUE:
                        if self.skips:
                            if i < n:
                                i += 1
                        else:
                            value = depth
                            before = total
                else:
                    parts = cython.cast(Sequence, node).items
            elif kind == CHAR_CLASS:
                total += _leaves(cython.cast(CharClass, node).ranges)
                if len(cython.cast(CharClass, node).ranges) == 0:
                    self.plain = False
            elif kind == CHOICE:
                parts = cython.cast(Choice, node).options
                if len(parts) == 0:
                    self.plain = False
            elif kind == REPEAT:
                repeat = cython.cast(Repeat, node)
                parts = repeat.held
                if repeat.maximum is None:
                    rule.loops = True
                    if repeat.minimum > self.largest:
                        self.plain = False
                elif repeat.maximum > 1:
                    rule.counts = True
                    if repeat.maximum > self.largest:
                        self.plain = False
            elif kind == UNORDERED:
                group = cython.cast(Unordered, node)
                total += INLINE_SIZE
                if self.plain:
                    self.plain = self._may_be_written(group)
                if i < n:
                    self._deepen(depth, items, i)
                    depth += 1
                items = group.held  # behind the items
                n = 2 if items[1] is not None else 1
                i = 0
                parts = group.items
            elif kind == BYTE_DFA:
                total += 4 * cython.cast(ByteDfa, node).states
                rule.loops = True
                if len(cython.cast(ByteDfa, node).accepting) == 0:
                    self.plain = False
            elif kind == COUNTED_DFA:
                total += INLINE_SIZE + 1
                if self.plain:
                    self.plain = self._has_each_length(node)
            elif kind == KEY_DFA:
                total += INLINE_SIZE + 1
            else:
                rule.wanted = False
                self.special = True
                if kind == NOT_FOLLOWED_BY:
                    rule.guarded = True
                    self.guarded = True
                elif kind == GRAPH:
                    rule.graph = True
                if kind != GRAPH or (self.plain and not self._can_be_left(node)):
                    self.plain = False
                leaves, parts = self.parts_of(node)
                total += leaves
            if parts is not None:
                if i < n:
                    self._deepen(depth, items, i)
                    depth += 1
                items = parts
                n = len(items)
                i = 0
            while i == n:
                if depth == value:
                    values += total - before
                    value = -1
                if depth == 0:
                    rule.weight = total
                    rule.last_call = self.n_calls
                    self.leaves += total
                    if rule.early:
                        self.early += total - values
                    return 0
                depth -= 1
                items = cython.cast(tuple, self.frames[depth])
                i = self.at[depth]
                n = len(items)
                if items[n - 1] is None:  # a group without a free item
                    n -= 1
            node = items[i]
            i += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _may_be_written(self, group: Unordered) -> cython.bint:
        """Whether a group's numbers leave it a text, and are not too large. False: not sure."""
        most: object = group.maximum
        if group.minimum > self.largest or len(group.required) > self.largest:
            return False
        if group.held[1] is None and group.minimum > len(group.items):
            return False
        return most is None or (group.minimum <= most and len(group.required) <= most <= self.largest)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _can_be_left(self, graph) -> cython.bint:
        """Whether a graph's edges lead to its end."""
        row: tuple
        edge: tuple
        rows: tuple = graph.edges
        met: set = {0}
        todo: list = [0]
        for state in todo:  # grows
            if state in graph.accepting:
                return True
            row = rows[state]
            for edge in row:
                if edge[1] not in met:
                    met.add(edge[1])
                    todo.append(edge[1])
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _has_each_length(self, node) -> cython.bint:
        """Whether a counted automaton has a text, since one character can come any number of times. False: not sure."""
        inner: ByteDfa = node.inner
        block: Block = inner.block
        edge: tuple
        if node.top > SOON_WRITTEN or node.top > self.largest or 0 not in inner.accepting or (
                node.maximum is not None and node.minimum > node.maximum):
            return False
        if block is not None:
            return block.repeats_itself()
        for edge in inner.transitions[0]:
            if edge[2] == 0:
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _has_text(self, rule: Rule) -> cython.bint:
        """Whether a rule has a text by those that are done: of a recursive one, if there is another way than that back.

        Only references and what combines them are looked at. False: not sure.
        """
        depth: cython.int = 0  # of ``frames``; ``at`` is twice how far, and 1 more where one part is enough
        found: cython.bint = True
        k: cython.Py_ssize_t
        kind: cython.int
        called: Rule
        repeat: Repeat
        group: Unordered
        items: tuple
        node: object = rule.expr
        for k in range(rule.first_call, rule.last_call):
            called = cython.cast(Rule, self.listed[self.calls[k]])
            if called.in_doubt or not called.is_done:
                found = False
        if found:
            return True
        while True:
            kind = self.kind_of(node)
            items = ()
            found = True
            if kind == REFERENCE:
                called = self.rule_of(cython.cast(Reference, node))
                found = called.is_done and not called.in_doubt
            elif kind == SEQUENCE:
                items = cython.cast(Sequence, node).items
            elif kind == CHOICE:
                items = cython.cast(Choice, node).options
                found = False
            elif kind == REPEAT:
                repeat = cython.cast(Repeat, node)
                if repeat.minimum > 0:
                    items = repeat.held
            elif kind == UNORDERED:
                group = cython.cast(Unordered, node)
                found = group.minimum <= len(group.required)
                if found and group.required:
                    if max(group.required) >= len(group.items):
                        return False
                    items = tuple([group.items[i] for i in group.required] + [group.held[0]])
            elif kind == 0 or kind > KEY_DFA:
                found = False
            if items:
                self._deepen(depth, items, 0 if found else 1)
                depth += 1
                node = items[0]
                continue
            while depth > 0:
                k = self.at[depth - 1]
                items = cython.cast(tuple, self.frames[depth - 1])
                if found == (k & 1 == 0) and k // 2 + 1 < len(items):
                    break
                depth -= 1
            if depth == 0:
                return found
            self.at[depth - 1] = cython.cast(cython.int, k) + 2
            node = items[k // 2 + 1]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _may_be_called(self, rule: Rule) -> cython.bint:
        """Whether no guard stands at the beginning of a rule without calls, where it must not. False: not sure."""
        stack: list = [rule.expr]
        kind: cython.int
        repeat: Repeat
        choice: Choice
        sequence: Sequence
        dfa: ByteDfa
        if not rule.guarded:
            return True
        while stack:
            node = stack.pop()
            kind = self.kind_of(node)
            if kind == REPEAT:
                repeat = node
                stack.append(repeat.held[0])
            elif kind == CHOICE:
                choice = node
                stack.extend(choice.options)
            elif kind == SEQUENCE:
                sequence = node
                node = sequence.items[0] if sequence.items else None
                kind = self.kind_of(node)
                if kind == BYTE_DFA:
                    dfa = node
                    if 0 in dfa.accepting:
                        return False
                elif kind != CHAR_CLASS:
                    return False
            elif kind != BYTE_DFA and kind != CHAR_CLASS and kind != LITERAL:
                return False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _deepen(self, depth: cython.int, items: tuple, i: cython.Py_ssize_t) -> cython.int:
        """Remember what was read at a depth, and how far."""
        if depth >= self.at_cap:
            self.at_cap = 2 * depth + 32
            self.at = grow_int(self.at, self.at_cap)
            if not self.at:
                raise MemoryError
        self.at[depth] = cython.cast(cython.int, i)
        if depth < len(self.frames):
            self.frames[depth] = items
        else:
            self.frames.append(items)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def size(self, expr, most: cython.int) -> cython.int:
        """Leaves of ``expr``, inlined rules counted in full; beyond ``most`` is "large", and so is a call."""
        total: cython.longlong = 0
        kind: cython.int
        stack: list = [expr]
        called: Rule
        literal: Literal
        sequence: Sequence
        choice: Choice
        repeat: Repeat
        klass: CharClass
        while stack and total <= most:
            node = stack.pop()
            kind = self.kind_of(node)
            if kind == LITERAL:
                literal = node
                total += len(literal.data)
            elif kind == CHAR_CLASS:
                klass = node
                total += _leaves(klass.ranges)
            elif kind == REFERENCE:
                called = self.rule_of(cython.cast(Reference, node))
                if called.inline:
                    stack.append(called.expr)
                else:
                    total += most + 1  # a call is worth a register, not copies
            elif kind == BYTE_DFA or kind == UNORDERED or kind == COUNTED_DFA or kind == KEY_DFA:
                total += most + 1
            elif kind == REPEAT:
                repeat = node
                total += 1 if (repeat.maximum or repeat.minimum) <= 1 else most + 1
                stack.append(repeat.held[0])
            elif kind == SEQUENCE:
                sequence = node
                stack.extend(sequence.items)
            elif kind == CHOICE:
                choice = node
                stack.extend(choice.options)
            else:
                leaves, parts = self.parts_of(node)
                total += leaves
                stack.extend(parts)
        return cython.cast(cython.int, total)


def have_texts(rules: dict, root: str, kinds: dict, largest: cython.longlong) -> bool:
    """Whether it is plain that each of ``rules`` that ``root`` needs has a text, and that they are few and count to
    ``largest`` at most. ``kinds`` as for ``RuleTable``; of other nodes nothing is known.
    """
    table: RuleTable = RuleTable(rules, kinds, _no_parts, False, largest)
    try:
        table.choose(root)
    except KeyError:  # a rule that only the whole document has
        return False
    return bool(table.plain and table.all_end and table.leaves <= MOST_LEAVES)


def _no_parts(node) -> tuple:
    return 1, ()
