# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Rules to positions: each rule becomes a run of positions with an entry and an exit.

A rule's expression is spelled by the paths between them (Thompson's construction, 1968). Small or once-used rules that
are not recursive are inlined (``kernel.inlining``), so that a deterministic step sees as much of the grammar as
possible. Counted repetitions are unrolled when that is cheap; otherwise their body becomes a rule of its own and the
repetition one *loop* position with a register.

``RuleWriter`` knows the nodes of ``kernel.nodes`` by their numbers; others by ``kinds``, and what has no number is
written by ``other``, which ``engine.build`` provides. One explicit stack: nodes in a list, and beside it the two
positions and the rule name of each in an array.
Cost: 5-10 ns a position, 30-60 ns a node.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton_writer import AutomatonWriter
    from cython.cimports.constrained.kernel.counted_products import CountedProduct
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.inlining import BEFORE_VALUE, PART, Rule, RuleTable
    from cython.cimports.constrained.kernel.later import later_image, worth_while
    from cython.cimports.constrained.kernel.linking import image_of_network
    from cython.cimports.constrained.kernel.memory import grow_int, grow_long
    from cython.cimports.constrained.kernel.network import Network, new_network
    from cython.cimports.constrained.kernel.nodes import (
        CharClass,
        Choice,
        Literal,
        Node,
        Reference,
        Repeat,
        Sequence,
        Unordered,
    )
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.words import WORD, add_word
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton_writer import AutomatonWriter
    from constrained.kernel.counted_products import CountedProduct
    from constrained.kernel.images import Image
    from constrained.kernel.inlining import BEFORE_VALUE, PART, Rule, RuleTable
    from constrained.kernel.later import later_image, worth_while
    from constrained.kernel.linking import image_of_network
    from constrained.kernel.memory import grow_int, grow_long
    from constrained.kernel.network import Network, new_network
    from constrained.kernel.nodes import (
        CharClass,
        Choice,
        Literal,
        Node,
        Reference,
        Repeat,
        Sequence,
        Unordered,
    )
    from constrained.kernel.program import Program
    from constrained.kernel.words import WORD, add_word

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

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
GRAPH = cython.declare(cython.int, 12)
COUNTED_GRAPH = cython.declare(cython.int, 13)
LAZY_DFA = cython.declare(cython.int, 14)

LEAST_RULES = cython.declare(cython.int, 10)
"""Rules of a grammar of which values are left for later without a look at them (``RuleSet.sure``)."""
ROOM_FOR_LATER = cython.declare(cython.int, 1_000_000)
"""Positions that must be allowed where values are left for later: what they become is far less."""
UNROLL_POSITIONS = cython.declare(cython.int, 20)
"""A counted repetition is unrolled up to this many leaves in all."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _mark(thing) -> cython.longlong:
    """The identity of an object."""
    if cython.compiled:
        return cython.cast(cython.longlong, cython.cast(cython.Py_ssize_t, cython.cast(cython.p_void, thing)))
    return id(thing)


@cython.cclass
class RuleWriter(AutomatonWriter):
    """Writes the rules reachable from a root into ``net``; rule 0 is the root.

    A subclass says what kinds of expressions there are beside ``Node``: ``kinds``, the numbers of their types;
    ``template(ranges)``, a character's automaton; ``parts_of(node)``: (leaves of its own, parts) of what has no number.
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.places)
            free(self.origins)
            free(self.marks)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.places_cap = self.origins_cap = 0
            self.places = self.origins = self.marks = None
            return self

    def __init__(self, rules, limits, resolve_tokens, mark, annexes: cython.bint, makes_images: cython.bint = True,
                 later: cython.bint = False):
        """``rules``: a ``RuleSet``. ``limits``: its ``max_positions`` and ``max_repeat`` are kept to.

        ``resolve_tokens`` and ``mark`` are for the subclass. ``annexes``: whether large automata may be written apart,
        where the passes of lowering do not see them, and images be linked in for rules. ``makes_images``: whether
        images that are not there are made. ``later``: whether values may be left for later (``kernel.later``).
        """
        named: dict = rules.rules if isinstance(rules.rules, dict) else dict(rules.rules)
        self.rules = rules
        self.limits = limits
        self.resolve_tokens = resolve_tokens
        self.mark = mark
        self.token_set_ids = {}
        self.guard_ids = {}
        self.makes_images = makes_images
        self.largest = limits.max_repeat
        self.net = new_network(limits.max_positions)
        self.table = RuleTable(named, self.kinds, self.parts_of, annexes, self.largest)
        self.waiting = []  # what each rule spells: a Rule, or the body of a loop
        self.loop_rules = None
        self.sizes = None
        self.annexes = annexes
        self.apart = False
        self.later = later
        self.later_rule = None
        self.counted = 0
        self.stack = []
        self.depth = 0

    def make_images(self, names: list) -> None:
        """Make images of rules, of callees first."""

    # ---- for other kinds of expressions ------------------------------------------------------------------

    def other(self, node, start: cython.int, end: cython.int, origin: cython.int) -> None:
        """Spell a node without a number."""
        raise TypeError(f"not an expression: {node!r}")

    def write(self, node, start: cython.int, end: cython.int, origin: cython.int) -> None:
        """Spell a node soon."""
        self._push(node, start, end, origin)

    def position(self, origin: cython.int) -> int:
        """A new position."""
        return self.net.add_position(origin)

    def edge(self, p: cython.int, kind: cython.int, a: cython.int, b: cython.int, to: cython.int) -> None:
        """A new edge; ``kind`` as in ``kernel.network``."""
        self.net.add_edge(p, kind, a, b, to)

    # ---- the whole ---------------------------------------------------------------------------------------

    def run(self, root: str) -> Network:
        """Write everything that ``root`` needs."""
        net: Network = self.net
        table: RuleTable = self.table
        named: Rule
        done: cython.int = 0
        low: cython.int
        origin: cython.int
        entry: cython.int
        last: cython.int
        rule: cython.int
        self.later = self.later and self.limits.max_positions >= ROOM_FOR_LATER
        table.skips = self.later and self.rules.sure >= LEAST_RULES
        table.choose(root)
        if table.skips and not (table.plain and table.all_end):
            table = self._choose_again(root)
        if table.guarded:
            self.annexes = False  # guards look into everything
            self.later = False
            if table.opaque:
                table = self._choose_again(root)
        self.later = self.later and table.plain and table.all_end and (
            table.skips or worth_while(table.early, table.leaves))
        if table.wanted and self.makes_images and not self.later and not table.guarded:
            self.make_images([named.name for named in table.wanted])
            table = self._choose_again(root)
        named = table.known[root]
        net.sound = table.all_end
        self.apart = self.annexes and not table.special  # budgets look into texts
        self._reserve(named.weight)
        self._rule_of(named)
        while done < len(self.waiting):
            expr = self.waiting[done]
            low = net.n
            origin = self.origins[done]
            if origin < 0:
                named = cython.cast(Rule, expr)
                origin = self._name_id(named)
                if named.image is not None:
                    self._opaque(named.image, origin)
                    done += 1
                    continue
                expr = named.expr
            entry = net.add_position(origin)
            last = net.add_position(origin)
            rule = net.add_rule(low, entry, last)
            self._spell(expr, entry, last, origin)
            net.r_high[rule] = net.n
            done += 1
        return net

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _opaque(self, image: Image, origin: cython.int) -> cython.int:
        """A rule with an image."""
        part: Program = image.part
        calls: list = []
        for call in image.calls:
            calls.append(self._rule_of(self.table.known[call[0]]))
        if image.largest > self.counted:
            self.counted = image.largest
        return self.net.add_opaque(image, part.n_positions, tuple(calls), origin)

    @cython.cfunc
    def _choose_again(self, root: str) -> RuleTable:
        table: RuleTable = self.table
        self.table = RuleTable(table.rules, table.kinds, table.parts_of, self.annexes, self.largest)
        self.table.choose(root)
        return self.table

    def image_of_root(self, root: str):
        """The image of the rule that was written, which has been through all passes but that for classes; or None."""
        table: RuleTable = self.table
        named: Rule
        calls: list = []
        texts: list = []
        if table.special:
            return None
        for name, known in table.known.items():
            named = known
            if name != root:
                texts.append((name, named.expr))
                if named.image is not None:
                    calls.append((name, self._rule_of(named)))
        named = table.known[root]
        return image_of_network(self.net, root, named.uses > 0, tuple(calls), tuple(texts), self.counted)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reserve(self, leaves: cython.longlong) -> cython.int:
        """Room for what the root at least becomes; not for so much that it would matter."""
        net: Network = self.net
        most: cython.int = net.most - net.n
        if most > 20000:
            most = 20000
        if leaves < most:
            most = cython.cast(cython.int, leaves)
        net._room(most)
        net._edge_room(most)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _name_id(self, rule: Rule) -> cython.int:
        while rule.part is not None:
            rule = cython.cast(Rule, self.table.listed[rule.owner])
        if rule.name_id < 0:
            rule.name_id = cython.cast(cython.int, len(self.net.rule_names))
            self.net.rule_names.append(rule.name)
        return rule.name_id

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rule_of(self, rule: Rule) -> cython.int:
        if rule.number < 0:
            rule.number = self._wait(rule, -1)
        return rule.number

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _wait(self, text, origin: cython.int) -> cython.int:
        """The number of a new rule: a ``Rule`` with ``origin`` -1, or the body of a loop."""
        number: cython.int = cython.cast(cython.int, len(self.waiting))
        if number >= self.origins_cap:
            self.origins_cap = 2 * number + 16
            self.origins = grow_int(self.origins, self.origins_cap)
            self.marks = grow_long(self.marks, self.origins_cap)
            if not (self.origins and self.marks):
                raise MemoryError
        self.origins[number] = origin
        self.marks[number] = _mark(text)
        self.waiting.append(text)
        return number

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _body_rule(self, body, origin: cython.int) -> cython.int:
        """The rule of a loop's body, an item or a separator; one for all places that hold the same node."""
        named: Rule
        node: Node
        number: cython.int
        if type(body) is Reference:
            named = self.table.rule_of(cython.cast(Reference, body))
            if not named.inline:
                return self._rule_of(named)
        elif type(body) is Sequence and cython.cast(Sequence, body).shared == PART:
            return self._rule_of(self.table.rule_of_part(cython.cast(Sequence, body), 0))
        elif isinstance(body, Node):  # another writer may have left its own number at the node
            node = cython.cast(Node, body)
            number = node.place
            if number >= len(self.waiting) or self.marks[number] != _mark(body):
                number = self._wait(body, origin)
                node.place = number
            return number
        if self.loop_rules is None:
            self.loop_rules = {}
        known = self.loop_rules.get(body)
        if known is not None:
            return known
        number = self._wait(body, origin)
        self.loop_rules[body] = number
        return number

    # ---- expressions -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _push(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        at: cython.int = 3 * self.depth
        if at + 3 > self.places_cap:
            self.places_cap = 2 * at + 192
            self.places = grow_int(self.places, self.places_cap)
            if not self.places:
                raise MemoryError
        self.places[at] = start
        self.places[at + 1] = end
        self.places[at + 2] = origin
        if self.depth < len(self.stack):  # what was written stays: a list that shrinks and grows asks for memory
            self.stack[self.depth] = node
        else:
            self.stack.append(node)
        self.depth += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spell_soon(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Write what has no parts at once, and leave the rest for later."""
        named: Rule
        data: bytes
        if type(node) is Reference:
            named = self.table.rule_of(cython.cast(Reference, node))
            if not named.inline:
                return self.net.add_edge(start, 2, self._rule_of(named), 0, end)
            node = named.expr
            origin = self._name_id(named)
        if type(node) is Literal:
            data = cython.cast(Literal, node).data
            if self.apart and len(data) >= WORD:
                return add_word(self.net, data, start, end, origin)
            return self.net.add_literal(data, start, end, origin)
        if type(node) is CharClass:
            return self._char_class(node, start, end, origin)
        if type(node) is Sequence and cython.cast(Sequence, node).shared == PART:
            named = self.table.rule_of_part(cython.cast(Sequence, node), 0)
            if not named.inline:
                return self.net.add_edge(start, 2, self._rule_of(named), 0, end)
        return self._push(node, start, end, origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spell(self, expr, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Write ``expr`` between two positions."""
        net: Network = self.net
        table: RuleTable = self.table
        stack: list = self.stack
        kind: cython.int
        here: cython.int
        there: cython.int
        at: cython.int
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t
        items: tuple
        node = expr
        while True:
            kind = SEQUENCE if type(node) is Sequence else table.kind_of(node)
            if kind == SEQUENCE:
                items = cython.cast(Sequence, node).items
                n = len(items)
                if n == 0:
                    net.add_edge(start, 1, 0, 0, end)
                here = start
                for i in range(n):
                    there = net.add_position(origin) if i < n - 1 else end
                    if self.later and i > 0 and self._waits(items[i - 1], items[i]):
                        net.add_edge(here, 2, self._rule_of(self._later_rule()), 0, there)
                    else:
                        self._spell_soon(items[i], here, there, origin)
                    here = there
            elif kind == CHOICE:
                items = cython.cast(Choice, node).options
                if len(items) >= 4:
                    items = self._share_prefixes(items, start, end, origin)
                elif len(items) == 0:
                    net.sound = False
                for option in items:
                    self._spell_soon(option, start, end, origin)
            elif kind == LITERAL or kind == REFERENCE:
                self._spell_soon(node, start, end, origin)
            elif kind == CHAR_CLASS:
                self._char_class(node, start, end, origin)
            elif kind == REPEAT:
                self._repeat(node, start, end, origin)
            elif kind == BYTE_DFA:
                self._block_of(node).write(net, start, end, origin)
            elif kind == UNORDERED:
                self._unordered(node, start, end, origin)
            elif kind == COUNTED_DFA:
                self._counted_dfa(node, start, end, origin)
            elif kind == KEY_DFA:
                self._key_dfa(node, start, end, origin)
            elif kind == GRAPH:
                self._graph(node, start, end, origin)
            elif kind == COUNTED_GRAPH:
                self._counted_graph(node.product, node.labels, start, end, origin)
            elif kind == LAZY_DFA:
                self._lazy_dfa(node, start, end, origin)
            else:
                net.sound = False
                self.other(node, start, end, origin)
            if self.depth == 0:
                return 0
            self.depth -= 1
            node = stack[self.depth]
            at = 3 * self.depth
            start = self.places[at]
            end = self.places[at + 1]
            origin = self.places[at + 2]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _waits(self, before, node) -> cython.bint:
        """Whether ``node``, behind ``before``, is left for later. What has an image, or is a word or two, is not."""
        options: tuple
        if type(before) is not Sequence or cython.cast(Sequence, before).shared != BEFORE_VALUE:
            return False
        if type(node) is Reference:
            return self.table.skips or self.table.rule_of(cython.cast(Reference, node)).image is None
        if type(node) is Choice:
            options = cython.cast(Choice, node).options
            if len(options) > 3:
                return True
            for option in options:
                if type(option) is not Literal:
                    return True
            return False
        return type(node) is not Literal and type(node) is not CharClass

    @cython.cfunc
    def _later_rule(self) -> Rule:
        """The rule that stands for all that is left for later."""
        rule: Rule
        if self.later_rule is None:
            rule = self.table._list_rule()
            rule.name = "later"
            rule.image = later_image()
            self.later_rule = rule
        return self.later_rule

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _graph(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """A position for each state of a ``Graph``; its edges are written in their order."""
        net: Network = self.net
        rows: tuple = node.edges
        row: tuple
        edge: tuple
        base: cython.int
        here: cython.int
        to: cython.int
        if len(rows) > net.most:
            raise NetworkTooLarge
        net.sound = False
        base = net.add_positions(cython.cast(cython.int, len(rows)), origin)
        net.add_edge(start, 1, 0, 0, base)
        here = base
        for row in rows:
            for edge in row:
                to = edge[1]
                self._spell_soon(edge[0], here, base + to, origin)
            here += 1
        for to in node.accepting:
            net.add_edge(base + to, 1, 0, 0, end)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _counted_graph(self, product: CountedProduct, labels: tuple, start: cython.int, end: cython.int,
                       origin: cython.int) -> cython.int:
        """A position for each state of a product. A label's classes are of one byte, its references of rules that are
        called if they are used more than once.
        """
        net: Network = self.net
        i: cython.int
        k: cython.int
        read: cython.int
        at: cython.int
        here: cython.int
        room: cython.longlong = 1
        base: cython.int
        label: tuple
        named: Rule
        klass: CharClass
        reference: Reference
        pair: tuple
        ranges: cython.p_int = cython.NULL if cython.compiled else None  # a class's bounds; of a call the rule and -1
        first: cython.p_int = grow_int(cython.NULL if cython.compiled else None, len(labels) + 1)
        if product.size > net.most:
            raise NetworkTooLarge
        net.sound = False
        base = net.add_positions(product.size, origin)
        net.add_edge(start, 1, 0, 0, base)
        try:
            if not first:
                raise MemoryError
            k = 0
            for i in range(cython.cast(cython.int, len(labels))):
                first[i] = k
                label = labels[i]
                for one in label:
                    if self.table.kind_of(one) == CHAR_CLASS:
                        klass = one
                        ranges = grow_int(ranges, 2 * (k + len(klass.ranges)))
                        if not ranges:
                            raise MemoryError
                        for pair in klass.ranges:
                            ranges[2 * k] = pair[0]
                            ranges[2 * k + 1] = pair[1]
                            k += 1
                        continue
                    reference = one
                    named = self.table.known[reference.name]
                    ranges = grow_int(ranges, 2 * (k + 1))
                    if not ranges:
                        raise MemoryError
                    ranges[2 * k] = -1 if named.inline else self._rule_of(named)
                    ranges[2 * k + 1] = -1
                    k += 1
            first[len(labels)] = k
            for i in range(product.edges):
                room += first[product.label[i] + 1] - first[product.label[i]]
            if room > 1 << 30:
                raise NetworkTooLarge
            net._edge_room(cython.cast(cython.int, room))
            for here in range(product.size):
                for i in range(product.first[here], product.first[here + 1]):
                    read = product.label[i]
                    for at in range(first[read], first[read + 1]):
                        if ranges[2 * at + 1] >= 0:
                            net.add_edge(base + here, 0, ranges[2 * at], ranges[2 * at + 1], base + product.to[i])
                        elif ranges[2 * at] >= 0:
                            net.add_edge(base + here, 2, ranges[2 * at], 0, base + product.to[i])
                        else:
                            label = labels[read]
                            self._push(label[len(label) - 1], base + here, base + product.to[i], origin)
                if product.final[here]:
                    net.add_edge(base + here, 1, 0, 0, end)
        finally:
            if cython.compiled:
                free(ranges)
                free(first)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _repeat(self, expr: Repeat, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        net: Network = self.net
        body = expr.held[0]
        endless: cython.bint = expr.maximum is None
        least: cython.longlong
        most: cython.longlong = -1
        size: cython.longlong
        i: cython.longlong
        here: cython.int
        there: cython.int
        loop: cython.int
        rule: cython.int
        self._count(expr.minimum if endless else expr.maximum)
        least = expr.minimum
        if not endless:
            most = expr.maximum
        if most == 0:
            return net.add_edge(start, 1, 0, 0, end)
        if most == 1:
            if least == 0:
                net.add_edge(start, 1, 0, 0, end)
            return self._push(body, start, end, origin)
        if endless and least <= 1:
            here = net.add_position(origin)
            net.add_edge(start, 1, 0, 0, here)
            if least == 0:
                net.add_edge(here, 1, 0, 0, end)
                return self._push(body, here, here, origin)
            there = net.add_position(origin)
            net.add_edge(there, 1, 0, 0, here)
            net.add_edge(there, 1, 0, 0, end)
            return self._push(body, here, there, origin)
        size = self._size(body)
        if size * (least + 1 if endless else most) <= UNROLL_POSITIONS:
            here = start
            for i in range(least - 1 if endless else least):
                there = net.add_position(origin)
                self._push(body, here, there, origin)
                here = there
            if endless:  # once more, and any number of times
                loop = net.add_position(origin)
                there = net.add_position(origin)
                net.add_edge(here, 1, 0, 0, loop)
                net.add_edge(there, 1, 0, 0, loop)
                net.add_edge(there, 1, 0, 0, end)
                return self._push(body, loop, there, origin)
            net.add_edge(here, 1, 0, 0, end)
            for i in range(most - least):
                there = net.add_position(origin)
                self._push(body, here, there, origin)
                net.add_edge(there, 1, 0, 0, end)
                here = there
            return 0
        loop = net.add_position(origin)
        net.add_edge(start, 1, 0, 0, loop)
        rule = self._body_rule(body, origin)
        if least == 0:
            net.add_edge(start, 1, 0, 0, end)
            least = 1
        net.add_loop(loop, rule, cython.cast(cython.int, least), cython.cast(cython.int, most), end)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _unordered(self, expr: Unordered, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """A set loop: every item is a rule, and so is the separator."""
        net: Network = self.net
        items: tuple = expr.items
        required: frozenset = expr.required
        n: cython.Py_ssize_t = len(items)
        i: cython.Py_ssize_t
        loop: cython.int
        first: cython.int
        free = expr.held[1]
        least: cython.longlong = len(required)
        most: cython.longlong = -1
        if expr.maximum is not None:
            if expr.maximum < expr.minimum:
                net.sound = False
                return 0  # nothing fits: no edge
            most = self._counted(expr.maximum)
        least = max(least, self._counted(expr.minimum))
        if 0 <= most < least or (free is None and least > n):
            net.sound = False
            return 0
        if least > self.largest or most > self.largest:
            self._count(max(expr.minimum, len(required), -1 if expr.maximum is None else expr.maximum))  # raises
        self.counted = max(self.counted, least, most)
        if least == 0:
            net.add_edge(start, 1, 0, 0, end)
            least = 1
        if most == 0 or (n == 0 and free is None):
            return 0
        loop = net.add_position(origin)
        net.add_edge(start, 1, 0, 0, loop)
        loop = net.add_loop(loop, -1 if free is None else -2, cython.cast(cython.int, least),
                            cython.cast(cython.int, most), end)
        first = net.n_items
        for i in range(n):
            net.add_item(loop, self._body_rule(items[i], origin), False)
        if free is not None:
            net.add_item(loop, self._body_rule(free, origin), False)
        net.l_sep[loop] = self._body_rule(expr.held[0], origin)
        if expr.in_order:
            net.l_how[loop] = 2
        for one in required:
            i = one
            if 0 <= i < net.l_count[loop]:
                net.i_required[first + i] = 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _counted(self, count) -> cython.longlong:
        """A count, or one beyond ``largest`` for all that are."""
        return self.largest + 1 if count > self.largest else count

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _size(self, expr) -> cython.int:
        """Leaves of ``expr``, inlined rules counted in full, calls as one; more than the unroll limit is "large"."""
        if self.sizes is None:
            self.sizes = {}
        known = self.sizes.get(expr)
        if known is None:
            known = self.sizes[expr] = self.table.size(expr, UNROLL_POSITIONS)
        return known
