"""Grammar to ``Program``: the passes of ``kernel.network`` in order, where the automaton's guarantees are made.

``kernel.passes`` runs them where nothing special is in the grammar (``lower_plainly`` all of them, and the first step
of ``kernel.later``); here they are for guards, budgets, left recursion, vocabularies that lack bytes, and for errors.

Nullable rules (each nullable call gets an epsilon beside it, so a call may mean "at least one byte"); left recursion
rewritten (``left_corner``); wide regions; shortest completions, and with them the removal of everything that cannot be
completed, bytes no token can spell included; byte classes.

Guarantees to the automaton: see ``kernel.automaton``. Raises ``UnsatisfiableGrammarError`` when the root has no text.
"""

from __future__ import annotations

from collections.abc import Callable

from constrained.engine.budgets import mark_budgets
from constrained.engine.build import build_network
from constrained.engine.guards import check_guards, guard_edges, guard_tables
from constrained.engine.left_corner import remove_left_recursion
from constrained.errors import GrammarError, GrammarLimitError, UnsatisfiableGrammarError
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.kernel.completable import find_dead
from constrained.kernel.network import Network, NetworkTooLarge
from constrained.kernel.nullable import empty_items, find_nullable
from constrained.kernel.partition import find_classes
from constrained.kernel.passes import EMPTY_ITEMS, IMPOSSIBLE, plain_program
from constrained.kernel.program import Program
from constrained.kernel.pruning import drop_bytes, drop_dead, is_possible
from constrained.kernel.regions import find_regions
from constrained.kernel.starts import add_root, make_starts, part_calls
from constrained.limits import Limits

__all__ = ["lower"]


def lower(
    rules: RuleSet,
    limits: Limits,
    unspellable: frozenset[int] = frozenset(),
    resolve_tokens: Callable[[TokenReference], frozenset[int]] = lambda reference: frozenset(),
    mark: Callable[[], frozenset[int] | None] = lambda: None,
    budgets: bool = True,
    begun: tuple[Network, int] | None = None,
) -> Program:
    """The program of ``rules`` for a vocabulary in which no token has a byte of ``unspellable``.

    ``mark``: asked at each ``Distinct`` for a token that is read where it begins; None leaves its condition out.
    ``budgets``: whether tokens are counted; without, a ``TokenBudget`` is its text. ``begun``: what
    ``kernel.passes.lower_plainly`` came to.

    Raises ``GrammarLimitError`` and ``UnsatisfiableGrammarError``.
    """
    net, found = begun or (build_network(rules, limits, resolve_tokens, mark, not unspellable), 0)
    try:
        try:
            return _finish(net, limits, unspellable, budgets, found)
        except _SeesAll:
            net = build_network(rules, limits, resolve_tokens, mark, False)
            return _finish(net, limits, unspellable, budgets)
    except NetworkTooLarge:
        raise GrammarLimitError("max_positions", limits.max_positions, "the grammar is too large") from None
    except _SeesAll:  # still: what is lazy cannot be written out
        raise GrammarError("NotFollowedBy or left recursion stands beside an automaton that is built as it is met",
                           hint="of a JSON schema, leave out the multipleOf or format that needs one") from None


class _SeesAll(Exception):
    """A pass must see all edges, those of annexes too."""


def _finish(net: Network, limits: Limits, unspellable: frozenset[int], budgets: bool, found: int = 0) -> Program:
    """``found``: what is in the way of ``plain_program``, where that was tried."""
    if not unspellable and not net.guard_dfas and not net.budgets:
        tried = found or plain_program(net)
        if not isinstance(tried, int):
            net.give_back()
            return tried
        if tried == EMPTY_ITEMS:
            raise _empty_items()
        if tried == IMPOSSIBLE:
            raise _impossible(False)
        has_starts = False
    else:
        has_starts = _begin(net, unspellable)
    if not has_starts:
        if net.hides_edges():
            raise _SeesAll
        remove_left_recursion(net, limits)
    add_root(net)
    if net.guard_dfas:
        part_calls(net)
    before = net.size()
    find_regions(net)  # may split positions
    find_dead(net)
    if not is_possible(net):
        raise _impossible(bool(unspellable))
    drop_dead(net)
    find_classes(net, guard_edges(net.guard_dfas))
    if net.budgets and budgets:
        mark_budgets(net, before)
    guards = guard_tables(net, limits) if net.guard_dfas else None
    program = Program(net)
    net.give_back()
    for _, source, _ in program.lazy:
        if not unspellable.isdisjoint(source.alphabet):
            raise GrammarError("an automaton that is built as it is met needs bytes that this vocabulary cannot spell",
                               hint="of a JSON schema, leave out the multipleOf or format that needs it")
    if guards is not None:
        if not guards.has_text(program.start):
            raise UnsatisfiableGrammarError("no text fits the grammar: what may follow is what must not follow",
                                            hint="see what stands behind each NotFollowedBy")
        program.begin_guards(guards)
    return program


def _begin(net: Network, unspellable: frozenset[int]) -> bool:
    """The passes up to where each rule begins; False: there is left recursion."""
    if unspellable:
        drop_bytes(net, unspellable)
    find_nullable(net)
    if empty_items(net):
        raise _empty_items()
    if net.guard_dfas:
        if net.hides_edges():
            raise _SeesAll
        check_guards(net)
    return make_starts(net)


def _empty_items() -> GrammarError:
    return GrammarError("an item of a group in any order can be empty",
                        hint="make the item non-empty and leave it out of `required` instead")


def _impossible(by_vocabulary: bool) -> UnsatisfiableGrammarError:
    return UnsatisfiableGrammarError(
        "no text fits the grammar" + (" with the bytes this vocabulary can spell" if by_vocabulary else ""),
        hint="a rule that only refers to itself, an empty character class or a character without a token "
             "makes everything that needs it impossible",
    )
