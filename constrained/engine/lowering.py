"""Grammar to ``Program``: the passes of ``kernel.network`` in order, where the automaton's guarantees are made.

Nullable rules (each nullable call gets an epsilon beside it, so a call may mean "at least one byte"); left recursion
rewritten (``left_corner``); wide regions; shortest completions, and with them the removal of everything that cannot be
completed, bytes no token can spell included; byte classes.

Guarantees to the automaton: see ``kernel.automaton``. Raises ``UnsatisfiableGrammarError`` when the root has no text.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from constrained.engine.budgets import mark_budgets
from constrained.engine.build import build_network
from constrained.engine.guards import NO_GUARDS, check_guards, guard_edges, guard_tables
from constrained.engine.left_corner import remove_left_recursion
from constrained.engine.network_view import NetworkView
from constrained.errors import GrammarError, GrammarLimitError, UnsatisfiableGrammarError
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.kernel.byte_sets import Regions, find_classes
from constrained.kernel.network import Network, NetworkTooLarge
from constrained.kernel.program import GUARD, Program
from constrained.kernel.shortest import find_shortest
from constrained.limits import Limits

__all__ = ["lower"]


def lower(
    rules: RuleSet,
    limits: Limits,
    *,
    unspellable: frozenset[int] = frozenset(),
    resolve_tokens: Callable[[TokenReference], frozenset[int]] = lambda reference: frozenset(),
    mark: Callable[[], frozenset[int] | None] = lambda: None,
    budgets: bool = True,
) -> Program:
    """The program of ``rules`` for a vocabulary in which no token has a byte of ``unspellable``.

    ``mark``: asked at each ``Distinct`` for a token that is read where it begins; None leaves its condition out.
    ``budgets``: whether tokens are counted; without, a ``TokenBudget`` is its text.

    Raises ``GrammarLimitError`` and ``UnsatisfiableGrammarError``.
    """
    net = build_network(rules, limits, resolve_tokens, mark)
    try:
        return _finish(net, limits, unspellable, budgets)
    except NetworkTooLarge:
        raise GrammarLimitError("max_positions", limits.max_positions, "the grammar is too large") from None


def _finish(net: Network, limits: Limits, unspellable: frozenset[int], budgets: bool) -> Program:
    if unspellable:
        net.drop_bytes(unspellable)
    net.find_nullable()
    if net.empty_items():
        raise GrammarError("an item of a group in any order can be empty",
                           hint="make the item non-empty and leave it out of `required` instead")
    if net.guard_dfas:
        check_guards(NetworkView(net))
    if not net.make_starts():
        remove_left_recursion(net, limits)
    net.add_root()
    before = net.size()
    regions, position_region, loop_region = Regions(net).find()  # may split positions
    find_shortest(net)
    if not net.is_possible():
        raise UnsatisfiableGrammarError(
            "no text fits the grammar" + (" with the bytes this vocabulary can spell" if unspellable else ""),
            hint="a rule that only refers to itself, an empty character class or a character without a token "
                 "makes everything that needs it impossible",
        )
    net.drop_dead()
    byte_class, class_byte = find_classes(net, guard_edges(net.guard_dfas))
    parts = net.flatten()
    if net.budgets and budgets:
        mark_budgets(net, before, parts, position_region, loop_region)
    guards = NO_GUARDS
    if net.guard_dfas:
        guards = guard_tables(NetworkView(net), list(parts["rule_starts"]), byte_class, class_byte, limits)
        if not guards.has_text(parts["start"]):
            raise UnsatisfiableGrammarError("no text fits the grammar: what may follow is what must not follow",
                                            hint="see what stands behind each NotFollowedBy")
        for k, rule in enumerate(parts["loop_rules"]):
            if rule == GUARD:
                parts["loop_minimum"][k] = guards.begin[parts["loop_minimum"][k]]
    return Program(
        position_region=position_region,
        loop_region=array("i", [loop_region.get(p, 0) for p in parts["loop_positions"]]),
        rule_names=net.rule_names,
        n_classes=len(class_byte),
        byte_class=byte_class,
        class_byte=class_byte,
        regions=regions,
        token_sets=net.token_sets,
        n_pending=guards.n_pending, pending_end=guards.may_end, pending_step=guards.step, pending_join=guards.join,
        pair_position=guards.pair_position, pair_pending=guards.pair_pending,
        out_offsets=guards.out_offsets, outs=guards.outs,
        **parts,
    )
