"""Rules to positions: the first half of lowering. ``kernel.rule_writer`` does the work; here it learns the nodes.

Nodes that are common are written by the kernel. The others are written by ``_Writer.other`` in terms of positions and
edges (``kernel.network``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constrained.engine.budgets import write_budget
from constrained.engine.images import keep_image_of
from constrained.engine.text_until import text_until
from constrained.engine.utf8 import char_template
from constrained.errors import GrammarLimitError
from constrained.grammar.counted import CountedDfa, CountedGraph
from constrained.grammar.ir import (
    AnyTextUntil,
    Capture,
    Distinct,
    Expr,
    Graph,
    NotFollowedBy,
    RuleSet,
    TokenBudget,
    TokenReference,
    children,
)
from constrained.grammar.keys import KeyDfa
from constrained.grammar.lazy import LazyDfa
from constrained.kernel.automaton_writer import RepeatTooLarge
from constrained.kernel.network import Network, NetworkTooLarge
from constrained.kernel.program import GUARD
from constrained.kernel.rule_writer import RuleWriter
from constrained.limits import Limits

__all__ = ["Writer", "build_network"]

KINDS: dict[type, int] = {CountedDfa: 9, KeyDfa: 10, NotFollowedBy: 11, Graph: 12, CountedGraph: 13, LazyDfa: 14}
"""The number in ``kernel.rule_writer`` of what is no ``kernel.nodes.Node``."""

LARGE = 100
"""Leaves of a node that is worth a rule of its own."""

OFTEN = 2049
"""Uses of a rule beyond which their number says nothing more: ``INLINE_TOTAL`` of ``kernel.inlining``, and one."""

_EPSILON, _TOKENS = 1, 3


def build_network(
    rules: RuleSet, limits: Limits, resolve_tokens: Callable[[TokenReference], frozenset[int]],
    mark: Callable[[], frozenset[int] | None] = lambda: None, annexes: bool = True,
) -> Network:
    """Positions for the rules reachable from the root; rule 0 is the root.

    ``mark``: asked at each ``Distinct`` for the token that begins it; None leaves its condition out.
    ``annexes``: whether large automata may be written apart (``kernel.annexes``), where no pass sees their edges.

    Raises ``GrammarLimitError`` beyond ``max_positions``; whatever ``resolve_tokens`` raises goes through.
    """
    return Writer(rules, limits, resolve_tokens, mark, annexes).build(rules.root)


class Writer(RuleWriter):
    """Writes the rarer nodes. Arguments as for ``build_network``."""

    __slots__ = ()
    kinds = KINDS
    template = staticmethod(char_template)

    @staticmethod
    def parts_of(node: Expr) -> tuple[int, tuple[Any, ...]]:
        """How many leaves a node has of its own, and its sub-expressions."""
        if isinstance(node, (Capture, Distinct)):
            return 0, (node.body,)
        if isinstance(node, CountedGraph):
            return node.product.states(), node.parts(OFTEN)
        if isinstance(node, Graph):
            return len(node.edges), children(node)
        return (LARGE if isinstance(node, (AnyTextUntil, NotFollowedBy, TokenBudget)) else 1), children(node)

    def build(self, root: str) -> Network:
        """Positions for the rules reachable from ``root``. Raises as ``build_network`` does."""
        try:
            return self.run(root)
        except NetworkTooLarge:
            raise GrammarLimitError("max_positions", self.limits.max_positions, "the grammar is too large") from None
        except RepeatTooLarge as error:
            raise GrammarLimitError("max_repeat", self.limits.max_repeat,
                                    f"a repetition counts to {error.args[0]}") from None

    def make_images(self, names: list[str]) -> None:
        """Lower rules that many grammars have once for all of them."""
        for name in names:
            writer = Writer(self.rules, self.limits, lambda reference: frozenset(), lambda: None, True, False)
            keep_image_of(writer, self.rules.rules[name], name)

    def other(self, node: Expr, start: int, end: int, origin: int) -> None:
        """Spell ``node`` between two positions."""
        if isinstance(node, TokenReference):
            self.tokens(self.resolve_tokens(node), start, end)
        elif isinstance(node, AnyTextUntil):
            self.write(text_until(node.stops, node.consume, node.excludes, node.max_chars), start, end, origin)
        elif isinstance(node, Capture):
            self.write(node.body, start, end, origin)
        elif isinstance(node, Distinct):
            mark = self.mark()
            if mark is not None:
                start, before = self.position(origin), start
                self.tokens(mark, before, start)
            self.write(node.body, start, end, origin)
        elif isinstance(node, NotFollowedBy):
            # by identity of what the network keeps alive
            known = self.guard_ids.setdefault((id(node.dfa), node.at_end), len(self.net.guard_dfas))
            if known == len(self.net.guard_dfas):
                self.net.guard_dfas.append(node.dfa)
                self.net.guard_ends.append(node.at_end)
            guard = self.position(origin)
            self.edge(start, _EPSILON, 0, 0, guard)
            self.net.new_loop(guard, GUARD, known, -1, end, [], -1)
        elif isinstance(node, TokenBudget):
            write_budget(self.net, node, start, end, origin)
        else:  # pragma: no cover - the IR is closed
            raise TypeError(f"not an expression: {node!r}")

    def tokens(self, tokens: frozenset[int], start: int, end: int) -> None:
        """An edge that reads one of ``tokens``."""
        known = self.token_set_ids.setdefault(tokens, len(self.token_set_ids))
        if known == len(self.net.token_sets):
            self.net.token_sets.append(tokens)
        self.edge(start, _TOKENS, known, 0, end)
