"""Rules to positions: the first half of lowering.

Each rule that is kept becomes a run of positions with an entry and an exit; its expression is spelled by the
paths between them (Thompson's construction, 1968). Small or once-used rules that are not recursive are inlined, so
that a deterministic step sees as much of the grammar as possible; of each recursive group only the targets of back
edges stay rules. Counted repetitions are unrolled when that is cheap; otherwise their body becomes a rule of its own
and the repetition one *loop* position with a register.

One explicit stack of ``(expression, from, to, rule)``; nothing here recurses. Cost: 1-2 us a position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from constrained.engine.text_until import text_until
from constrained.engine.utf8 import char_template
from constrained.errors import GrammarLimitError
from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
    Unordered,
    children,
)
from constrained.limits import Limits

__all__ = ["INLINE_SIZE", "Network", "build_network"]

INLINE_SIZE = 64
"""A rule whose expression, inlined, has at most this many leaves is inlined wherever it is used."""

UNROLL_POSITIONS = 20
"""A counted repetition is unrolled up to this many leaves in all."""


NO_EDGES: list[int] = []
NO_CALLS: list[tuple[int, int]] = []


class SetLoop:
    """An ``Unordered`` as rules: ``items[i]`` is item i (a free one last), and what stands between any two."""

    __slots__ = ("after", "bare", "free", "items", "maximum", "minimum", "required", "separator")

    def __init__(self, items: list[int], separator: int, required: frozenset[int], free: bool, minimum: int,
                 maximum: int, after: int) -> None:
        self.items = items
        self.separator = separator
        self.bare = False  # whether the separator may be empty: known once nullable rules are
        self.required = required
        self.free = free
        self.minimum = minimum
        self.maximum = maximum
        self.after = after

    def moved(self, shift: int) -> SetLoop:
        """The same in a copy of the network that lies ``shift`` positions behind."""
        other = SetLoop(self.items, self.separator, self.required, self.free, self.minimum, self.maximum,
                        self.after + shift)
        other.bare = self.bare
        return other


class Network:
    """Positions and edges while they are being made. Position 0 is unused, 1 is END, 2 is HOLE."""

    __slots__ = (
        "accept", "byte_edges", "call_edges", "eps", "guard_dfas", "guard_ends", "guards", "loops", "origin",
        "rule_entry", "rule_exit", "rule_names", "rule_range", "sets", "token_edges", "token_sets",
    )

    def __init__(self) -> None:
        self.byte_edges: list[list[tuple[int, int, int]]] = [[], [], []]
        self.eps: list[list[int]] = [[], [], []]
        self.call_edges: list[list[tuple[int, int]]] = [[], [], []]
        self.token_edges: dict[int, list[tuple[int, int]]] = {}
        self.loops: dict[int, tuple[int, int, int, int]] = {}
        """Position -> (body rule, minimum, maximum or -1, next position)."""
        self.sets: dict[int, SetLoop] = {}
        """Position -> what may be written there in any order."""
        self.guards: dict[int, tuple[int, int]] = {}
        """Position -> (what must not follow: an index into ``guard_dfas``, next position)."""
        self.guard_dfas: list[ByteDfa] = []
        self.guard_ends: list[frozenset[int]] = []
        """States of each in which the text must not end."""
        self.origin: list[int] = [-1, -1, -1]
        """The rule whose text each position was written in (an index into ``rule_names``)."""
        self.rule_names: list[str] = []
        self.rule_entry: list[int] = []
        self.rule_exit: list[int] = []
        self.rule_range: list[tuple[int, int]] = []
        self.token_sets: list[frozenset[int]] = []
        self.accept: set[int] = set()

    def position(self, origin: int) -> int:
        self.byte_edges.append([])
        self.eps.append([])
        self.call_edges.append([])
        self.origin.append(origin)
        return len(self.origin) - 1


def build_network(
    rules: RuleSet, limits: Limits, resolve_tokens: Callable[[TokenReference], frozenset[int]]
) -> Network:
    """Positions for the rules reachable from the root; rule 0 is the root.

    Raises ``GrammarLimitError`` beyond ``max_positions``; whatever ``resolve_tokens`` raises goes through.
    """
    inline = _inlined_rules(rules)
    return _Builder(rules.rules, inline, limits, resolve_tokens).run(rules.root)


class _Builder:
    def __init__(self, rules: Mapping[str, Expr], inline: set[str], limits: Limits,
                 resolve_tokens: Callable[[TokenReference], frozenset[int]]) -> None:
        self.rules = rules
        self.inline = inline
        self.set_rules: dict[int, tuple[int, Expr]] = {}  # by identity; the value keeps the node alive
        self.limits = limits
        self.resolve_tokens = resolve_tokens
        self.net = Network()
        self.rule_ids: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.waiting: list[tuple[str, Expr]] = []
        self.loop_rules: dict[int, int] = {}
        self.kept: list[Expr] = []  # keeps loop bodies alive: loop_rules is keyed by identity
        self.sizes: dict[int, tuple[Expr, int]] = {}
        self.token_set_ids: dict[frozenset[int], int] = {}
        self.guard_ids: dict[tuple[int, frozenset[int]], int] = {}  # by identity of what the network keeps alive

    def run(self, root: str) -> Network:
        net = self.net
        self.rule_of(root)
        done = 0
        while done < len(self.waiting):
            name, expr = self.waiting[done]
            low = len(net.origin)
            origin = self.name_id(name)
            entry, last = net.position(origin), net.position(origin)
            net.rule_entry.append(entry)
            net.rule_exit.append(last)
            self.spell(expr, entry, last, origin)
            net.rule_range.append((low, len(net.origin)))
            done += 1
        return net

    def name_id(self, name: str) -> int:
        known = self.names.get(name)
        if known is None:
            known = self.names[name] = len(self.net.rule_names)
            self.net.rule_names.append(name)
        return known

    def rule_of(self, name: str) -> int:
        known = self.rule_ids.get(name)
        if known is None:
            known = self.rule_ids[name] = len(self.waiting)
            self.waiting.append((name, self.rules[name]))
        return known

    def loop_rule_of(self, body: Expr, origin: int) -> int:
        if isinstance(body, Reference) and body.name not in self.inline:
            return self.rule_of(body.name)
        known = self.loop_rules.get(id(body))
        if known is None:
            known = self.loop_rules[id(body)] = len(self.waiting)
            self.kept.append(body)
            self.waiting.append((self.net.rule_names[origin], body))
        return known

    def spell(self, expr: Expr, start: int, end: int, origin: int) -> None:
        """Add positions and edges so that the paths from ``start`` to ``end`` spell ``expr``."""
        net = self.net
        byte_edges, eps = net.byte_edges, net.eps
        limit = self.limits.max_positions
        stack: list[tuple[Any, int, int, int]] = [(expr, start, end, origin)]
        while stack:
            node: Any
            node, start, end, origin = stack.pop()
            kind = type(node)
            if len(net.origin) > limit:
                raise GrammarLimitError("max_positions", limit, "the grammar is too large")
            if kind is Literal:
                self.literal(node.data, start, end, origin)
            elif kind is CharClass:
                count, edges = char_template(node.ranges)
                local = [start, end]
                for _ in range(count - 2):
                    local.append(net.position(origin))
                for state, lo, hi, to in edges:
                    byte_edges[local[state]].append((lo, hi, local[to]))
            elif kind is Sequence:
                items = node.items
                if not items:
                    eps[start].append(end)
                    continue
                here = start
                for item in items[:-1]:
                    there = net.position(origin)
                    stack.append((item, here, there, origin))
                    here = there
                stack.append((items[-1], here, end, origin))
            elif kind is Choice:
                options = node.options
                if len(options) >= 4:
                    options = self.share_prefixes(options, start, end, origin)
                for option in options:
                    stack.append((option, start, end, origin))
            elif kind is Repeat:
                self.repeat(node, start, end, origin, stack)
            elif kind is Unordered:
                self.unordered(node, start, end, origin)
            elif kind is Reference:
                name = node.name
                if name in self.inline:
                    stack.append((self.rules[name], start, end, self.name_id(name)))
                else:
                    net.call_edges[start].append((self.rule_of(name), end))
            elif kind is Capture:
                stack.append((node.body, start, end, origin))
            elif kind is TokenReference:
                tokens = self.resolve_tokens(node)
                known = self.token_set_ids.setdefault(tokens, len(net.token_sets))
                if known == len(net.token_sets):
                    net.token_sets.append(tokens)
                net.token_edges.setdefault(start, []).append((known, end))
            elif kind is AnyTextUntil:
                self.dfa(text_until(node.stops, node.consume, node.excludes, node.max_chars), start, end, origin)
            elif kind is ByteDfa:
                self.dfa(node, start, end, origin)
            elif kind is NotFollowedBy:
                known = self.guard_ids.setdefault((id(node.dfa), node.at_end), len(net.guard_dfas))
                if known == len(net.guard_dfas):
                    net.guard_dfas.append(node.dfa)
                    net.guard_ends.append(node.at_end)
                guard = net.position(origin)
                eps[start].append(guard)
                net.guards[guard] = (known, end)
            else:  # pragma: no cover - the IR is closed
                raise TypeError(f"not an expression: {node!r}")

    def literal(self, data: bytes, start: int, end: int, origin: int) -> None:
        net = self.net
        if not data:
            net.eps[start].append(end)
            return
        n = len(data) - 1
        first = len(net.origin)
        if first + n > self.limits.max_positions:
            raise GrammarLimitError("max_positions", self.limits.max_positions, "a literal is too long")
        if n:
            net.byte_edges.extend([(data[i + 1], data[i + 1], first + i + 1)] for i in range(n))
            net.byte_edges[-1][0] = (data[n], data[n], end)
            net.eps.extend([NO_EDGES] * n)  # shared: nothing ever adds an edge in the middle of a literal
            net.call_edges.extend([NO_CALLS] * n)
            net.origin.extend([origin] * n)
            end = first
        net.byte_edges[start].append((data[0], data[0], end))

    def share_prefixes(self, options: tuple[Expr, ...], start: int, end: int, origin: int) -> list[Expr]:
        """Spell the literal options as one trie (a list of keywords would make every set as wide as the list)."""
        words = [o.data for o in options if type(o) is Literal]
        if len(words) < 4:
            return list(options)
        net = self.net
        children: dict[tuple[int, int], int] = {}
        for data in words:
            here = start
            if not data:
                net.eps[start].append(end)
                continue
            for byte in data[:-1]:
                there = children.get((here, byte))
                if there is None:
                    there = children[here, byte] = net.position(origin)
                    net.byte_edges[here].append((byte, byte, there))
                here = there
            net.byte_edges[here].append((data[-1], data[-1], end))
            if len(net.origin) > self.limits.max_positions:
                raise GrammarLimitError("max_positions", self.limits.max_positions, "the grammar is too large")
        return [o for o in options if type(o) is not Literal]

    def dfa(self, dfa: ByteDfa, start: int, end: int, origin: int) -> None:
        net = self.net
        if len(net.origin) + len(dfa.transitions) > self.limits.max_positions:
            raise GrammarLimitError("max_positions", self.limits.max_positions, "the grammar is too large")
        local = [net.position(origin) for _ in dfa.transitions]
        net.eps[start].append(local[0])
        for state, edges in enumerate(dfa.transitions):
            net.byte_edges[local[state]].extend((lo, hi, local[to]) for lo, hi, to in edges)
        for state in dfa.accepting:
            net.eps[local[state]].append(end)

    def repeat(self, expr: Repeat, start: int, end: int, origin: int,
               stack: list[tuple[Any, int, int, int]]) -> None:
        net = self.net
        eps = net.eps
        body, least, most = expr.body, expr.minimum, expr.maximum
        largest = self.limits.max_repeat
        if least > largest or (most is not None and most > largest):
            raise GrammarLimitError("max_repeat", largest, f"a repetition counts to {most or least}")
        if most == 0:
            eps[start].append(end)
            return
        if least == 0 and most == 1:
            eps[start].append(end)
            stack.append((body, start, end, origin))
            return
        if least == 1 and most == 1:
            stack.append((body, start, end, origin))
            return
        if most is None and least <= 1:
            head = net.position(origin)
            eps[start].append(head)
            if least == 0:
                eps[head].append(end)
                stack.append((body, head, head, origin))
            else:
                tail = net.position(origin)
                eps[tail].append(head)
                eps[tail].append(end)
                stack.append((body, head, tail, origin))
            return
        size = self.size(body)
        if size * (least + 1 if most is None else most) <= UNROLL_POSITIONS:
            here = start
            for _ in range(least - 1 if most is None else least):
                there = net.position(origin)
                stack.append((body, here, there, origin))
                here = there
            if most is None:
                stack.append((Repeat(body, 1, None), here, end, origin))
                return
            eps[here].append(end)
            for _ in range(most - least):
                there = net.position(origin)
                stack.append((body, here, there, origin))
                eps[there].append(end)
                here = there
            return
        loop = net.position(origin)
        eps[start].append(loop)
        rule = self.loop_rule_of(body, origin)
        if least == 0:
            eps[start].append(end)
        net.loops[loop] = (rule, max(least, 1), -1 if most is None else most, end)

    def unordered(self, expr: Unordered, start: int, end: int, origin: int) -> None:
        """A set loop: every item is a rule, and so is the separator."""
        net = self.net
        items = [*expr.items] if expr.free is None else [*expr.items, expr.free]
        most = -1 if expr.maximum is None else expr.maximum
        least = max(expr.minimum, len(expr.required))
        if 0 <= most < least or (expr.free is None and least > len(expr.items)):
            return  # nothing fits: no edge
        if least == 0:
            net.eps[start].append(end)
        if most == 0 or not items:
            return
        loop = net.position(origin)
        net.eps[start].append(loop)
        rules = [self.set_rule(item, origin) for item in items]
        net.sets[loop] = SetLoop(rules, self.set_rule(expr.separator, origin), expr.required, expr.free is not None,
                                 max(least, 1), most, end)

    def set_rule(self, part: Expr, origin: int) -> int:
        """The rule of an item or a separator; one for all sets that hold the same node."""
        known = self.set_rules.get(id(part))
        if known is None:
            known = self.set_rules[id(part)] = (self.anonymous_rule(part, origin), part)
        return known[0]

    def anonymous_rule(self, body: Expr, origin: int) -> int:
        if isinstance(body, Reference) and body.name not in self.inline:
            return self.rule_of(body.name)
        self.waiting.append((self.net.rule_names[origin], body))
        return len(self.waiting) - 1

    def size(self, expr: Expr) -> int:
        """Leaves of ``expr``, inlined rules counted in full, calls as one; more than the unroll limit is "large"."""
        known = self.sizes.get(id(expr))
        if known is not None:
            return known[1]
        total = 0
        stack = [expr]
        while stack and total <= UNROLL_POSITIONS:
            node = stack.pop()
            if isinstance(node, Literal):
                total += len(node.data)
            elif isinstance(node, CharClass):
                total += 1 if not node.ranges or node.ranges[-1][1] < 0x80 else 6
            elif isinstance(node, Reference):
                if node.name in self.inline:
                    stack.append(self.rules[node.name])
                else:
                    total += UNROLL_POSITIONS + 1  # a call is worth a register, not copies
            elif isinstance(node, (AnyTextUntil, ByteDfa, NotFollowedBy, Unordered)):
                total += UNROLL_POSITIONS + 1
            elif isinstance(node, Repeat):
                total += 1 if (node.maximum or node.minimum) <= 1 else UNROLL_POSITIONS + 1
                stack.append(node.body)
            else:
                total += 1 if isinstance(node, TokenReference) else 0
                stack.extend(children(node))
        self.sizes[id(expr)] = (expr, total)
        return total


def _inlined_rules(rules: RuleSet) -> set[str]:
    """The rules to inline: not the target of a back edge of the search from the root, and small or used once."""
    weight: dict[str, int] = {}
    refs: dict[str, list[str]] = {}
    uses: dict[str, int] = {}
    heads: set[str] = {rules.root}
    finished: list[str] = []
    state: dict[str, int] = {}
    stack: list[tuple[str, int]] = [(rules.root, 0)]
    while stack:
        name, index = stack[-1]
        if index == 0 and name not in state:
            state[name] = 1
            found: list[str] = []
            weight[name] = _weigh(rules.rules[name], found)
            refs[name] = found
            for used in found:
                uses[used] = uses.get(used, 0) + 1
        if index < len(refs[name]):
            stack[-1] = (name, index + 1)
            target = refs[name][index]
            seen = state.get(target)
            if seen is None:
                stack.append((target, 0))
            elif seen == 1:
                heads.add(target)
            continue
        stack.pop()
        state[name] = 2
        finished.append(name)
    inline: set[str] = set()
    total: dict[str, int] = {}
    for name in finished:  # callees first
        size = weight[name]
        for used in refs[name]:
            size += total[used] if used in inline else 1
        total[name] = size
        if name not in heads and (size <= INLINE_SIZE or uses[name] == 1):
            inline.add(name)
    return inline


def _weigh(expr: Expr, found: list[str]) -> int:
    """Leaves of one rule's own text; references are appended to ``found`` in order."""
    total = 0
    stack = [expr]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is Reference:
            found.append(node.name)  # type: ignore[union-attr]
        elif kind is Literal:
            total += len(node.data)  # type: ignore[union-attr]
        elif kind is Sequence:
            stack.extend(reversed(node.items))  # type: ignore[union-attr]
        elif kind is Choice:
            stack.extend(reversed(node.options))  # type: ignore[union-attr]
        elif kind is Repeat or kind is Capture:
            stack.append(node.body)  # type: ignore[union-attr]
        elif kind is ByteDfa:
            total += 4 * len(node.transitions)  # type: ignore[union-attr]
        elif kind is CharClass:
            total += 1 if not node.ranges or node.ranges[-1][1] < 0x80 else 6  # type: ignore[union-attr]
        elif kind is Unordered:
            total += INLINE_SIZE
            stack.extend(reversed(children(node)))
        else:
            total += 1
    return total
