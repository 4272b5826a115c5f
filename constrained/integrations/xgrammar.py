"""Grammars on XGrammar behind the matcher's interface: to compare, and on the way from there to here.

This library's front ends read the grammar, XGrammar's EBNF is written from it and XGrammar runs it. What its notation
cannot say is refused: automata (look-around, free text until a stop), groups in any order, bytes that are no UTF-8,
tokens by name. The stop tokens are ours, so every one of them may end a text.

Known from ``docs/mask_differences.md``: where it differs from this engine XGrammar is too narrow or too wide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xgrammar

from constrained.errors import GrammarError, echo
from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Distinct,
    Expr,
    Literal,
    NotFollowedBy,
    RuleSet,
    TokenBudget,
    TokenReference,
    Unordered,
    children,
)
from constrained.grammar.show import show
from constrained.integrations.peer_matcher import PeerCompiler, PeerGrammar
from constrained.limits import Limits
from constrained.vocabulary.tokenizer_info import TokenizerInfo

__all__ = ["XGrammarCompiler"]

UNSAID = (AnyTextUntil, ByteDfa, Distinct, NotFollowedBy, TokenBudget, TokenReference, Unordered)


class XGrammarCompiler(PeerCompiler):
    """Compiles grammars for one vocabulary."""

    def __init__(self, tokenizer_info: TokenizerInfo, *, limits: Limits | None = None) -> None:
        super().__init__(tokenizer_info, limits)
        pieces = [tokenizer_info.token_bytes(i) for i in range(tokenizer_info.vocab_size)]
        self._compiler = xgrammar.GrammarCompiler(
            xgrammar.TokenizerInfo(pieces, xgrammar.VocabType.RAW, vocab_size=tokenizer_info.vocab_size,
                                   stop_token_ids=list(tokenizer_info.stop_token_ids)),
            max_threads=1)

    def compile_rules(self, rules: RuleSet) -> PeerGrammar:
        """Compile rules. Raises GrammarError where XGrammar's notation or XGrammar refuses them."""
        _check(rules)
        try:
            compiled = self._compiler.compile_grammar(show(rules), root_rule_name=rules.root)
        except (RuntimeError, ValueError) as error:
            raise GrammarError(f"XGrammar refuses the grammar: {echo(str(error))}") from error
        return PeerGrammar(self.tokenizer_info, lambda: Running(xgrammar.GrammarMatcher(compiled)))


class Running:
    """XGrammar's matcher as ``peer_matcher.Peer``."""

    def __init__(self, matcher: Any) -> None:
        self.matcher = matcher

    def take(self, token_id: int) -> bool:
        taken: bool = self.matcher.accept_token(token_id)
        return taken

    def fill(self, row: np.ndarray[Any, np.dtype[np.int32]]) -> None:
        self.matcher.fill_next_token_bitmask(row[None], 0)

    def back(self, count: int) -> None:
        self.matcher.rollback(count)

    def may_end(self) -> bool:
        done: bool = self.matcher.is_completed()
        return done

    def copy(self) -> Running:
        return Running(self.matcher.fork())


def _check(rules: RuleSet) -> None:
    seen: set[int] = set()
    stack: list[Expr] = list(rules.rules.values())
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, UNSAID):
            raise GrammarError(f"{type(node).__name__} has no counterpart in XGrammar's EBNF")
        if isinstance(node, Literal):
            try:
                node.data.decode("utf-8")
            except UnicodeDecodeError:
                raise GrammarError(f"{echo(node.data)} is no UTF-8: XGrammar's EBNF writes whole characters") from None
        stack.extend(children(node))
