"""Grammar to ``Program``: the second half of lowering, where the automaton's guarantees are made.

In order: nullable rules (each nullable call gets an epsilon beside it, so a call may mean "at least one byte");
left recursion rewritten (``left_corner``); shortest completions, and with them the removal of everything that cannot be
completed, bytes no token can spell included; byte classes; wide regions. All passes are worklists over integers.

Guarantees to the automaton: see ``kernel.automaton``. Raises ``UnsatisfiableGrammarError`` when the root has no text.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from heapq import heappop, heappush

from constrained.engine.build import Network, SetLoop, build_network
from constrained.engine.byte_classes import byte_classes
from constrained.engine.guards import GuardTables, check_guards, guard_edges, guard_tables
from constrained.engine.left_corner import remove_left_recursion
from constrained.engine.regions import find_regions
from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.kernel.program import FAR, GUARD, Program
from constrained.limits import Limits

__all__ = ["TOKEN_COST", "lower"]

TOKEN_COST = 1_000_000
"""What a token that the grammar names counts in shortest completions: text is preferred wherever there is any."""


def lower(
    rules: RuleSet,
    limits: Limits,
    *,
    unspellable: frozenset[int] = frozenset(),
    resolve_tokens: Callable[[TokenReference], frozenset[int]] = lambda reference: frozenset(),
) -> Program:
    """The program of ``rules`` for a vocabulary in which no token has a byte of ``unspellable``.

    Raises ``GrammarLimitError`` and ``UnsatisfiableGrammarError``.
    """
    net = build_network(rules, limits, resolve_tokens)
    if unspellable:
        _drop_bytes(net, unspellable)
    nullable = _nullable_rules(net)
    if nullable:
        for p, calls in enumerate(net.call_edges):
            for rule, to in calls:
                if rule in nullable:
                    net.eps[p].append(to)
    _nullable_loops(net, nullable)
    for set_loop in net.sets.values():
        set_loop.bare = set_loop.separator in nullable
        if nullable.intersection(set_loop.items):
            raise GrammarError("an item of a group in any order can be empty",
                               hint="make the item non-empty and leave it out of `required` instead")
    check_guards(net)
    starts, order = remove_left_recursion(net, limits)
    root = net.position(0)
    last = net.position(0)
    net.call_edges[root].append((0, last))
    if 0 in nullable:
        net.eps[root].append(last)
    net.accept.update(net.rule_exit)
    net.accept.add(last)
    regions, position_region, loop_region = find_regions(net, starts)  # may split positions
    position_min, rule_min = _shortest(net, starts)
    if position_min[root] >= FAR:
        raise UnsatisfiableGrammarError(
            "no text fits the grammar" + (" with the bytes this vocabulary can spell" if unspellable else ""),
            hint="a rule that only refers to itself, an empty character class or a character without a token "
                 "makes everything that needs it impossible",
        )
    _drop_dead(net, position_min, rule_min)
    byte_class, class_byte = byte_classes([*net.byte_edges, *guard_edges(net)] if net.guards else net.byte_edges)
    guards = guard_tables(net, starts, byte_class, class_byte, limits)
    if net.guards and not guards.has_text(root):
        raise UnsatisfiableGrammarError("no text fits the grammar: what may follow is what must not follow",
                                        hint="see what stands behind each NotFollowedBy")
    return _flatten(net, root, starts, order, position_min, rule_min, byte_class, class_byte,
                    regions, position_region, loop_region, guards)


def _drop_bytes(net: Network, unspellable: frozenset[int]) -> None:
    """Cut the bytes that no token has out of every edge."""
    runs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for edges in net.byte_edges:
        for lo, hi, _ in edges:
            if (lo, hi) not in runs:
                kept: list[tuple[int, int]] = []
                here = lo
                for byte in [b for b in range(lo, hi + 1) if b in unspellable] + [hi + 1]:
                    if here < byte:
                        kept.append((here, byte - 1))
                    here = byte + 1
                runs[lo, hi] = kept
    if all(kept == [key] for key, kept in runs.items()):
        return
    for p, edges in enumerate(net.byte_edges):
        net.byte_edges[p] = [(lo, hi, to) for a, b, to in edges for lo, hi in runs[a, b]]


def _nullable_rules(net: Network) -> set[int]:
    """Rules that have the empty text: their exit is reached by epsilon and nullable calls."""
    nullable: set[int] = set()
    reached: list[set[int]] = []
    blocked: dict[int, list[tuple[int, int]]] = {}
    work: list[tuple[int, int]] = []
    for rule, entry in enumerate(net.rule_entry):
        reached.append({entry})
        work.append((rule, entry))
    while work:
        rule, p = work.pop()
        if p == net.rule_exit[rule] and rule not in nullable:
            nullable.add(rule)
            work.extend(blocked.pop(rule, ()))
        seen = reached[rule]
        targets = list(net.eps[p])
        if p in net.guards:
            targets.append(net.guards[p][1])
        for callee, to in net.call_edges[p]:
            if callee in nullable:
                targets.append(to)
            else:
                blocked.setdefault(callee, []).append((rule, p))
        loop = net.loops.get(p)
        if loop is not None:
            if loop[0] in nullable:
                targets.append(loop[3])
            else:
                blocked.setdefault(loop[0], []).append((rule, p))
        for to in targets:
            if to not in seen:
                seen.add(to)
                work.append((rule, to))
    return nullable


def _nullable_loops(net: Network, nullable: set[int]) -> None:
    """A round counts only if it reads something: a nullable body may stop after any number of real rounds.

    The loop position itself must not be left without a round, so the way round it starts one position earlier:
    every epsilon edge into the loop gets a twin that goes straight on.
    """
    changed = {p: loop[3] for p, loop in net.loops.items() if loop[0] in nullable}
    if not changed:
        return
    for p, (rule, _, most, after) in list(net.loops.items()):
        if p in changed:
            net.loops[p] = (rule, 1, most, after)
    for targets in net.eps:
        for to in list(targets):
            # a chain: the way round one loop may lead into the next
            while to in changed:
                to = changed[to]
                targets.append(to)


def _shortest(net: Network, starts: list[int]) -> tuple[list[int], list[int]]:
    """Fewest bytes from each position to its rule's end, and of each rule (Knuth 1977: Dijkstra on grammars)."""
    n = len(net.origin)
    position_min = [FAR] * n
    rule_min = [FAR] * len(starts)
    byte_into: list[list[int]] = [[] for _ in range(n)]
    eps_into: list[list[int]] = [[] for _ in range(n)]
    call_into: list[list[tuple[int, int]]] = [[] for _ in range(n)]  # (source, rule)
    sites: list[list[tuple[int, int]]] = [[] for _ in starts]  # (source, target)
    loop_into: dict[int, list[int]] = {}
    loop_sites: dict[int, list[int]] = {}
    for p, edges in enumerate(net.byte_edges):
        for _, _, to in edges:
            byte_into[to].append(p)
    for p, targets in enumerate(net.eps):
        for to in targets:
            eps_into[to].append(p)
    for p, (_, to) in net.guards.items():
        eps_into[to].append(p)
    for p, calls in enumerate(net.call_edges):
        for rule, to in calls:
            call_into[to].append((p, rule))
            sites[rule].append((p, to))
    token_into: dict[int, list[int]] = {}
    for p, tokens in net.token_edges.items():
        for token_set, to in tokens:
            if net.token_sets[token_set]:
                token_into.setdefault(to, []).append(p)
    for p, (rule, _, _, after) in net.loops.items():
        loop_into.setdefault(after, []).append(p)
        loop_sites.setdefault(rule, []).append(p)
    set_into: dict[int, list[int]] = {}
    set_sites: dict[int, list[int]] = {}
    for p, set_loop in net.sets.items():
        set_into.setdefault(set_loop.after, []).append(p)
        for rule in (*set_loop.items, set_loop.separator):
            set_sites.setdefault(rule, []).append(p)
    rule_at: dict[int, list[int]] = {}
    for rule, start in enumerate(starts):
        rule_at.setdefault(start, []).append(rule)
    # A bucket for each cost in use: most edges cost one byte, so a bucket holds many positions.
    buckets: dict[int, list[int]] = {0: list(net.accept)}
    costs = [0]
    position_min[1] = position_min[2] = 0
    for p in net.accept:
        position_min[p] = 0
    done = bytearray(n)

    def offer(p: int, cost: int) -> None:
        cost = min(cost, FAR - 1)  # long is not impossible
        if cost < position_min[p]:
            position_min[p] = cost
            bucket = buckets.get(cost)
            if bucket is None:
                buckets[cost] = [p]
                heappush(costs, cost)
            else:
                bucket.append(p)

    def offer_loop(p: int) -> None:
        rule, least, _, after = net.loops[p]
        if rule_min[rule] < FAR and position_min[after] < FAR and done[after]:
            offer(p, least * rule_min[rule] + position_min[after])

    def offer_set(p: int) -> None:
        cost = set_cost(net.sets[p], rule_min)
        after = net.sets[p].after
        if cost < FAR and done[after]:
            offer(p, cost + position_min[after])

    while costs:
        cost = heappop(costs)
        more = min(cost + 1, FAR - 1)
        bucket = buckets[cost]
        for p in bucket:  # grows while it is read: an epsilon edge costs nothing
            if done[p]:
                continue
            done[p] = 1
            for source in eps_into[p]:
                if cost < position_min[source]:
                    position_min[source] = cost
                    bucket.append(source)
            for source in byte_into[p]:
                if more < position_min[source]:
                    offer(source, more)
            for source in token_into.get(p, ()):
                offer(source, cost + TOKEN_COST)
            for source, rule in call_into[p]:
                if rule_min[rule] < FAR:
                    offer(source, cost + rule_min[rule])
            for source in loop_into.get(p, ()):
                offer_loop(source)
            for source in set_into.get(p, ()):
                offer_set(source)
            for rule in rule_at.get(p, ()):
                if rule_min[rule] == FAR:
                    rule_min[rule] = cost
                    for source, to in sites[rule]:
                        if done[to]:
                            offer(source, cost + position_min[to])
                    for source in loop_sites.get(rule, ()):
                        offer_loop(source)
                    for source in set_sites.get(rule, ()):
                        offer_set(source)
        del buckets[cost]
    return position_min, rule_min


def set_cost(loop: SetLoop, rule_min: list[int]) -> int:
    """Fewest bytes of what is written in a set loop, FAR if it cannot be (yet)."""
    costs = [rule_min[rule] for rule in loop.items]
    chosen = [costs[i] for i in sorted(loop.required)]
    need = loop.minimum - len(chosen)
    if need > 0:
        rest = sorted(cost for i, cost in enumerate(costs) if i not in loop.required)
        if loop.free:
            rest = sorted([*rest[:need], *([costs[-1]] * need)])
        chosen += rest[:need]
        if len(rest) < need:
            return FAR
    gap = 0 if loop.bare else rule_min[loop.separator]
    total = sum(chosen) + (gap * (len(chosen) - 1) if len(chosen) > 1 else 0)
    return min(total, FAR)


def _drop_dead(net: Network, position_min: list[int], rule_min: list[int]) -> None:
    """Remove every edge into what cannot be completed: afterwards no reachable state is a dead end."""
    if max(position_min[1:]) < FAR and max(rule_min) < FAR and all(net.token_sets):
        return  # position 0 is unused
    for p in range(len(net.origin)):
        if position_min[p] >= FAR:
            net.byte_edges[p] = []
            net.eps[p] = []
            net.call_edges[p] = []
            net.token_edges.pop(p, None)
            net.loops.pop(p, None)
            net.sets.pop(p, None)
            net.guards.pop(p, None)
    for p, edges in enumerate(net.byte_edges):
        if edges:
            net.byte_edges[p] = [e for e in edges if position_min[e[2]] < FAR]
        if net.eps[p]:
            net.eps[p] = [to for to in net.eps[p] if position_min[to] < FAR]
        if net.call_edges[p]:
            net.call_edges[p] = [c for c in net.call_edges[p]
                                 if position_min[c[1]] < FAR and rule_min[c[0]] < FAR]
    for p, tokens in net.token_edges.items():
        net.token_edges[p] = [t for t in tokens if position_min[t[1]] < FAR and net.token_sets[t[0]]]


def _flatten(net: Network, root: int, starts: list[int], order: list[int], position_min: list[int],
             rule_min: list[int], byte_class: array[int], class_byte: array[int], regions: list[bytes],
             position_region: list[int], loop_region: dict[int, int], guards: GuardTables) -> Program:
    n = len(net.origin)
    offsets: list[int] = []
    edge_a: list[int] = []
    edge_b: list[int] = []
    edge_to: list[int] = []
    for p, (edges, targets, calls) in enumerate(zip(net.byte_edges, net.eps, net.call_edges, strict=True)):
        bytes_at = len(edge_to)
        for lo, hi, to in edges:
            edge_a.append(lo)
            edge_b.append(hi)
            edge_to.append(to)
        eps_at = len(edge_to)
        if targets:
            edge_a += targets
            edge_b += targets
            edge_to += targets
        calls_at = len(edge_to)
        for rule, to in calls:
            edge_a.append(rule)
            edge_b.append(0)
            edge_to.append(to)
        offsets += (bytes_at, eps_at, calls_at, len(edge_to))
        if p in net.token_edges:
            for token_set, to in net.token_edges[p]:
                edge_a.append(token_set)
                edge_b.append(0)
                edge_to.append(to)
    offsets.append(len(edge_to))
    accept = array("i", bytes(4 * n))
    for p in net.accept:
        accept[p] = 1
    position_loop = array("i", [-1]) * n
    loops = sorted([*net.loops, *net.sets, *net.guards])
    items: list[int] = []
    first: list[int] = []
    separators = [-1] * len(loops)
    bare = [0] * len(loops)
    required: list[int] = []
    shapes: list[tuple[int, int, int, int]] = []  # rule, minimum, maximum, next
    for index, p in enumerate(loops):
        position_loop[p] = index
        items.append(len(first))
        if p in net.guards:
            shapes.append((GUARD, guards.begin[net.guards[p][0]], -1, net.guards[p][1]))
            continue
        set_loop = net.sets.get(p)
        if set_loop is None:
            shapes.append(net.loops[p])
            continue
        shapes.append((-2 if set_loop.free else -1, set_loop.minimum, set_loop.maximum, set_loop.after))
        separators[index] = set_loop.separator if rule_min[set_loop.separator] < FAR else -1
        bare[index] = int(set_loop.bare)
        for i, rule in enumerate(set_loop.items):
            first.append(rule if rule_min[rule] < FAR else -1)
            required.append(1 if i in set_loop.required else 0)
    items.append(len(first))
    return Program(
        start=root,
        position_offsets=array("i", offsets),
        edge_a=array("i", edge_a), edge_b=array("i", edge_b), edge_to=array("i", edge_to),
        position_accept=accept,
        position_loop=position_loop,
        position_region=array("i", position_region),
        position_min=position_min,
        rule_starts=array("i", starts),
        rule_order=array("i", order),
        rule_min=rule_min,
        rule_names=net.rule_names,
        position_rule=net.origin,
        loop_positions=array("i", loops),
        loop_rules=array("i", [shape[0] for shape in shapes]),
        loop_minimum=array("i", [shape[1] for shape in shapes]),
        loop_maximum=array("i", [shape[2] for shape in shapes]),
        loop_next=array("i", [shape[3] for shape in shapes]),
        loop_items=array("i", items),
        loop_separator=array("i", separators), loop_bare=array("i", bare),
        item_rule=array("i", first), item_required=array("i", required),
        loop_region=array("i", [loop_region.get(p, 0) for p in loops]),
        n_classes=len(class_byte),
        byte_class=byte_class,
        class_byte=class_byte,
        regions=regions,
        token_sets=net.token_sets,
        n_pending=guards.n_pending, pending_end=guards.may_end, pending_step=guards.step, pending_join=guards.join,
        pair_position=guards.pair_position, pair_pending=guards.pair_pending,
        out_offsets=guards.out_offsets, outs=guards.outs,
    )
