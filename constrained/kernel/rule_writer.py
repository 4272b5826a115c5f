# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Rules to positions: each rule becomes a run of positions with an entry and an exit.

A rule's expression is spelled by the paths between them (Thompson's construction, 1968). Small or once-used rules that
are not recursive are inlined, so that a deterministic step sees as much of the grammar as possible; of each recursive
group only the targets of back edges stay rules. Counted repetitions are unrolled when that is cheap; otherwise their
body becomes a rule of its own and the repetition one *loop* position with a register.

``RuleWriter`` knows the nodes of the grammar by the numbers that ``kinds`` gives their types; what has none is written
by ``other``, which ``engine.build`` provides. One explicit stack of (expression, from, to, rule name).
Cost: 20-50 ns a position, 100-300 ns an expression.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.network import Network
else:
    from constrained.kernel.network import Network

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

INLINE_SIZE = cython.declare(cython.int, 64)
"""A rule whose expression, inlined, has at most this many leaves is inlined wherever it is used."""
UNROLL_POSITIONS = cython.declare(cython.int, 20)
"""A counted repetition is unrolled up to this many leaves in all."""


@cython.cfunc
@cython.exceptval(-1, check=False)
def _leaves(ranges: tuple) -> cython.int:
    """What a class of characters counts: more if it is wider than ASCII."""
    n: cython.Py_ssize_t = len(ranges)
    last: tuple
    if n == 0:
        return 1
    last = ranges[n - 1]
    return 1 if last[1] < 0x80 else 6


class RepeatTooLarge(Exception):
    """A repetition counts beyond ``largest``; args: the count."""


@cython.cclass
class RuleWriter:
    """Writes the rules reachable from a root into ``net``; rule 0 is the root."""

    def __init__(self, rules: dict, kinds: dict, most: cython.int, largest: cython.longlong, template):
        """``most``: positions, ``largest``: a repetition's count; ``template(ranges)``: a character's automaton."""
        self.rules = rules
        self.kinds = kinds
        self.largest = largest
        self.template = template
        self.net = Network(most)
        self.inline = set()
        self.rule_ids = {}
        self.names = {}
        self.waiting = []
        self.loop_rules = {}
        self.kept = []
        self.sizes = {}
        self.stack = []

    # ---- for other kinds of expressions ------------------------------------------------------------------

    def other(self, node, start: cython.int, end: cython.int, origin: cython.int) -> None:
        """Spell a node without a number."""
        raise TypeError(f"not an expression: {node!r}")

    def parts_of(self, node) -> tuple:
        """(leaves of its own, sub-expressions) of a node without a number."""
        return 1, ()

    def write(self, node, start: cython.int, end: cython.int, origin: cython.int) -> None:
        """Spell a node soon."""
        self.stack.append((node, start, end, origin))

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
        done: cython.int = 0
        low: cython.int
        origin: cython.int
        entry: cython.int
        last: cython.int
        rule: cython.int
        self._choose_inlined(root)
        self._rule_of(root)
        while done < len(self.waiting):
            name, expr = self.waiting[done]
            low = net.n
            origin = self._name_id(name)
            entry = net.add_position(origin)
            last = net.add_position(origin)
            rule = net.add_rule(low, entry, last)
            self._spell(expr, entry, last, origin)
            net.r_high[rule] = net.n
            done += 1
        return net

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _name_id(self, name: str) -> cython.int:
        known = self.names.get(name)
        if known is None:
            known = self.names[name] = len(self.net.rule_names)
            self.net.rule_names.append(name)
        return known

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rule_of(self, name: str) -> cython.int:
        known = self.rule_ids.get(name)
        if known is None:
            known = self.rule_ids[name] = len(self.waiting)
            self.waiting.append((name, self.rules[name]))
        return known

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _body_rule(self, body, origin: cython.int) -> cython.int:
        """The rule of a loop's body, an item or a separator; one for all places that hold the same node."""
        if self.kinds.get(type(body), 0) == REFERENCE and body.name not in self.inline:
            return self._rule_of(body.name)
        known = self.loop_rules.get(id(body))
        if known is None:
            known = self.loop_rules[id(body)] = len(self.waiting)
            self.kept.append(body)  # keeps it alive: loop_rules is keyed by identity
            self.waiting.append((self.net.rule_names[origin], body))
        return known

    def body_rule(self, body, origin: cython.int) -> int:
        """The rule of an expression, for ``other``."""
        return self._body_rule(body, origin)

    # ---- expressions -------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _spell(self, expr, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Add positions and edges so that the paths from ``start`` to ``end`` spell ``expr``."""
        net: Network = self.net
        stack: list = self.stack
        kinds: dict = self.kinds
        kind: cython.int
        here: cython.int
        there: cython.int
        i: cython.int
        n: cython.int
        items: tuple
        stack.append((expr, start, end, origin))
        while stack:
            node, start, end, origin = stack.pop()
            kind = kinds.get(type(node), 0)
            if kind == LITERAL:
                net.add_literal(node.data, start, end, origin)
            elif kind == REFERENCE:
                name = node.name
                if name in self.inline:
                    stack.append((self.rules[name], start, end, self._name_id(name)))
                else:
                    net.add_edge(start, 2, self._rule_of(name), 0, end)
            elif kind == SEQUENCE:
                items = node.items
                n = len(items)
                if n == 0:
                    net.add_edge(start, 1, 0, 0, end)
                    continue
                here = start
                for i in range(n - 1):
                    there = net.add_position(origin)
                    item = items[i]
                    if kinds.get(type(item), 0) == LITERAL:
                        net.add_literal(item.data, here, there, origin)
                    else:
                        stack.append((item, here, there, origin))
                    here = there
                stack.append((items[n - 1], here, end, origin))
            elif kind == CHOICE:
                items = node.options
                if len(items) >= 4:
                    items = self._share_prefixes(items, start, end, origin)
                for option in items:
                    stack.append((option, start, end, origin))
            elif kind == CHAR_CLASS:
                self._char_class(node.ranges, start, end, origin)
            elif kind == REPEAT:
                self._repeat(node, start, end, origin)
            elif kind == BYTE_DFA:
                self._dfa(node, start, end, origin)
            elif kind == UNORDERED:
                self._unordered(node, start, end, origin)
            elif kind == COUNTED_DFA:
                self._counted_dfa(node, start, end, origin)
            else:
                self.other(node, start, end, origin)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _char_class(self, ranges, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        net: Network = self.net
        count, edges = self.template(ranges)
        base: cython.int = net.n - 2
        state: cython.int
        lo: cython.int
        hi: cython.int
        to: cython.int
        for _ in range(count - 2):
            net.add_position(origin)
        for state, lo, hi, to in edges:
            net.add_edge(start if state == 0 else end if state == 1 else base + state, 0, lo, hi,
                         start if to == 0 else end if to == 1 else base + to)
        return 0

    @cython.cfunc
    def _share_prefixes(self, options: tuple, start: cython.int, end: cython.int, origin: cython.int) -> tuple:
        """Spell the literal options as one trie (a list of keywords would make every set as wide as the list)."""
        net: Network = self.net
        kinds: dict = self.kinds
        words: list = [option.data for option in options if kinds.get(type(option), 0) == LITERAL]
        path: list = [start]  # positions behind the beginnings of the word before, the whole word left out
        here: cython.int
        there: cython.int
        i: cython.int
        n: cython.int
        most: cython.int
        text: cython.p_const_uchar
        other: cython.p_const_uchar
        data: bytes
        before: bytes = b""
        if len(words) < 4:
            return options
        words.sort()
        for data in words:
            n = len(data)
            if n == 0:
                net.add_edge(start, 1, 0, 0, end)
                continue
            text = data
            other = before
            most = min(len(path) - 1, n - 1)
            i = 0
            while i < most and text[i] == other[i]:
                i += 1
            del path[i + 1:]
            here = path[i]
            while i < n - 1:
                there = net.add_position(origin)
                net.add_edge(here, 0, text[i], text[i], there)
                path.append(there)
                here = there
                i += 1
            net.add_edge(here, 0, text[n - 1], text[n - 1], end)
            before = data
        return tuple([option for option in options if kinds.get(type(option), 0) != LITERAL])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _dfa(self, dfa, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        net: Network = self.net
        rows: tuple = dfa.transitions
        row: tuple
        edge: tuple
        base: cython.int = net.n
        n: cython.int = len(rows)
        i: cython.int
        j: cython.int
        edges: cython.int
        net._room(n)
        for i in range(n):
            net.add_position(origin)
        net.add_edge(start, 1, 0, 0, base)
        for i in range(n):
            row = rows[i]
            edges = len(row)
            net._edge_room(edges)
            for j in range(edges):
                edge = row[j]
                net.add_edge(base + i, 0, edge[0], edge[1], base + cython.cast(cython.int, edge[2]))
        for i in dfa.accepting:
            net.add_edge(base + i, 1, 0, 0, end)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _counted_dfa(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """The product of an automaton and a counter of characters: only what can be reached gets edges."""
        net: Network = self.net
        rows: tuple = node.inner.transitions
        row: tuple
        edge: tuple
        n: cython.int = len(rows)
        boundary: cython.int = node.boundary
        least: cython.int
        top: cython.int
        endless: cython.bint = node.maximum is None
        base: cython.int = net.n
        count: cython.int
        state: cython.int
        after: cython.int
        to: cython.int
        i: cython.int
        j: cython.int
        edges: cython.int = 0
        done: cython.int
        table: cython.int[::1]
        offsets: cython.int[::1]
        final: cython.uchar[::1]
        seen: cython.uchar[::1]
        if node.top > self.largest:
            raise RepeatTooLarge(node.top)
        if (node.top + 1) * n > net.most:
            raise NetworkTooLarge
        least = node.minimum
        top = node.top
        for i in range(n):
            edges += len(rows[i])
        packed = array("i", bytes(12 * edges + 4))
        table = packed
        bounds = array("i", bytes(4 * n + 4))
        offsets = bounds
        ends = bytearray(n)
        final = ends
        for state in node.inner.accepting:
            final[state] = 1
        edges = 0
        for i in range(n):
            row = rows[i]
            offsets[i] = edges
            for edge in row:
                table[3 * edges] = edge[0]
                table[3 * edges + 1] = edge[1]
                table[3 * edges + 2] = edge[2]
                edges += 1
        offsets[n] = edges
        net._room((top + 1) * n)
        for i in range((top + 1) * n):
            net.add_position(origin)
        net.add_edge(start, 1, 0, 0, base)
        marks = bytearray((top + 1) * n)
        seen = marks
        queue = array("i", bytes(4 * (top + 1) * n))
        waiting: cython.int[::1] = queue
        waiting[0] = 0
        seen[0] = 1
        j = 1
        done = 0
        while done < j:
            count = waiting[done] // n
            state = waiting[done] % n
            done += 1
            if final[state] and count >= least:
                net.add_edge(base + count * n + state, 1, 0, 0, end)
            for i in range(offsets[state], offsets[state + 1]):
                to = table[3 * i + 2]
                after = count + 1 if to < boundary else count
                if after > top:
                    if not endless:
                        continue
                    after = top
                to = after * n + to
                net.add_edge(base + count * n + state, 0, table[3 * i], table[3 * i + 1], base + to)
                if not seen[to]:
                    seen[to] = 1
                    waiting[j] = to
                    j += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _repeat(self, expr, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        net: Network = self.net
        stack: list = self.stack
        body = expr.body
        endless: cython.bint = expr.maximum is None
        least: cython.longlong
        most: cython.longlong = -1
        size: cython.longlong
        i: cython.longlong
        here: cython.int
        there: cython.int
        loop: cython.int
        rule: cython.int
        if expr.minimum > self.largest or (not endless and expr.maximum > self.largest):
            raise RepeatTooLarge(expr.maximum or expr.minimum)
        least = expr.minimum
        if not endless:
            most = expr.maximum
        if most == 0:
            return net.add_edge(start, 1, 0, 0, end)
        if most == 1:
            if least == 0:
                net.add_edge(start, 1, 0, 0, end)
            stack.append((body, start, end, origin))
            return 0
        if endless and least <= 1:
            here = net.add_position(origin)
            net.add_edge(start, 1, 0, 0, here)
            if least == 0:
                net.add_edge(here, 1, 0, 0, end)
                stack.append((body, here, here, origin))
            else:
                there = net.add_position(origin)
                net.add_edge(there, 1, 0, 0, here)
                net.add_edge(there, 1, 0, 0, end)
                stack.append((body, here, there, origin))
            return 0
        size = self._size(body)
        if size * (least + 1 if endless else most) <= UNROLL_POSITIONS:
            here = start
            for i in range(least - 1 if endless else least):
                there = net.add_position(origin)
                stack.append((body, here, there, origin))
                here = there
            if endless:  # once more, and any number of times
                loop = net.add_position(origin)
                there = net.add_position(origin)
                net.add_edge(here, 1, 0, 0, loop)
                net.add_edge(there, 1, 0, 0, loop)
                net.add_edge(there, 1, 0, 0, end)
                stack.append((body, loop, there, origin))
                return 0
            net.add_edge(here, 1, 0, 0, end)
            for i in range(most - least):
                there = net.add_position(origin)
                stack.append((body, here, there, origin))
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
    def _unordered(self, expr, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """A set loop: every item is a rule, and so is the separator."""
        net: Network = self.net
        items: tuple = expr.items
        required: frozenset = expr.required
        n: cython.int = len(items)
        i: cython.int
        loop: cython.int
        separator: cython.int
        free = expr.free
        most = -1 if expr.maximum is None else expr.maximum
        least = max(expr.minimum, len(required))
        if 0 <= most < least or (free is None and least > n):
            return 0  # nothing fits: no edge
        if least > self.largest or most > self.largest:
            raise RepeatTooLarge(max(least, most))
        if least == 0:
            net.add_edge(start, 1, 0, 0, end)
        if most == 0 or (n == 0 and free is None):
            return 0
        loop = net.add_position(origin)
        net.add_edge(start, 1, 0, 0, loop)
        rules: list = [self._body_rule(item, origin) for item in items]
        if free is not None:
            rules.append(self._body_rule(free, origin))
        separator = self._body_rule(expr.separator, origin)
        loop = net.add_loop(loop, -1 if free is None else -2, max(least, 1), most, end)
        net.l_sep[loop] = separator
        for i in range(len(rules)):
            net.add_item(loop, rules[i], i in required)
        return 0

    # ---- what is inlined ---------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _size(self, expr) -> cython.int:
        """Leaves of ``expr``, inlined rules counted in full, calls as one; more than the unroll limit is "large"."""
        known = self.sizes.get(id(expr))
        if known is not None:
            return known[1]
        total: cython.longlong = 0
        kind: cython.int
        stack: list = [expr]
        while stack and total <= UNROLL_POSITIONS:
            node = stack.pop()
            kind = self.kinds.get(type(node), 0)
            if kind == LITERAL:
                total += len(node.data)
            elif kind == CHAR_CLASS:
                total += _leaves(node.ranges)
            elif kind == REFERENCE:
                if node.name in self.inline:
                    stack.append(self.rules[node.name])
                else:
                    total += UNROLL_POSITIONS + 1  # a call is worth a register, not copies
            elif kind == BYTE_DFA or kind == UNORDERED or kind == COUNTED_DFA:
                total += UNROLL_POSITIONS + 1
            elif kind == REPEAT:
                total += 1 if (node.maximum or node.minimum) <= 1 else UNROLL_POSITIONS + 1
                stack.append(node.body)
            elif kind == SEQUENCE:
                stack.extend(node.items)
            elif kind == CHOICE:
                stack.extend(node.options)
            else:
                leaves, parts = self.parts_of(node)
                total += leaves
                stack.extend(parts)
        self.sizes[id(expr)] = (expr, total)
        return cython.cast(cython.int, total)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _choose_inlined(self, root: str) -> cython.int:
        """The rules to inline: not the target of a back edge of the search from the root, and small or used once."""
        rules: dict = self.rules
        weight: dict = {}
        refs: dict = {}
        uses: dict = {}
        heads: set = {root}
        finished: list = []
        state: dict = {}
        path: list = [root]
        indices: list = [0]
        found: list
        i: cython.Py_ssize_t
        top: cython.Py_ssize_t
        size: cython.longlong
        while path:
            top = len(path) - 1
            name = path[top]
            i = indices[top]
            if i == 0 and name not in state:
                state[name] = 1
                found = []
                weight[name] = self._weigh(rules[name], found)
                refs[name] = found
                for used in found:
                    uses[used] = uses.get(used, 0) + 1
            found = refs[name]
            if i < len(found):
                indices[top] = i + 1
                target = found[i]
                seen = state.get(target)
                if seen is None:
                    path.append(target)
                    indices.append(0)
                elif seen == 1:
                    heads.add(target)
                continue
            path.pop()
            indices.pop()
            state[name] = 2
            finished.append(name)
        total: dict = {}
        for name in finished:  # callees first
            size = weight[name]
            for used in refs[name]:
                size += total[used] if used in self.inline else 1
            total[name] = size
            if name not in heads and (uses[name] == 1 or (size <= INLINE_SIZE and size * uses[name] <= 2048)):
                self.inline.add(name)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _weigh(self, expr, found: list) -> cython.longlong:
        """Leaves of one rule's own text; references are appended to ``found`` in order."""
        total: cython.longlong = 0
        kind: cython.int
        kinds: dict = self.kinds
        stack: list = [expr]
        items: tuple
        while stack:
            node = stack.pop()
            kind = kinds.get(type(node), 0)
            if kind == REFERENCE:
                found.append(node.name)
            elif kind == LITERAL:
                total += len(node.data)
            elif kind == SEQUENCE:
                items = node.items
                stack.extend(items[::-1])
            elif kind == CHOICE:
                items = node.options
                stack.extend(items[::-1])
            elif kind == REPEAT:
                stack.append(node.body)
            elif kind == BYTE_DFA:
                total += 4 * len(node.transitions)
            elif kind == COUNTED_DFA:
                total += 4 * (node.top + 1) * len(node.inner.transitions)
            elif kind == CHAR_CLASS:
                total += _leaves(node.ranges)
            elif kind == UNORDERED:
                total += INLINE_SIZE
                if node.free is not None:
                    stack.append(node.free)
                stack.append(node.separator)
                items = node.items
                stack.extend(items[::-1])
            else:
                leaves, parts = self.parts_of(node)
                total += leaves
                stack.extend(reversed(parts))
        return total
