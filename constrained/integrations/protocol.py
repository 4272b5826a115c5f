"""What an integration needs of a matcher, whichever engine is behind it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol, Self, runtime_checkable

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.vocabulary import TokenizerInfo


class Compiled(Protocol):
    """A grammar compiled for a vocabulary, by any engine."""

    @property
    def tokenizer_info(self) -> TokenizerInfo: ...


@runtime_checkable
class Matcher(Protocol):
    """A grammar and the tokens accepted so far; the methods mean what they mean on ``GrammarMatcher``."""

    @property
    def compiled(self) -> Compiled: ...

    @property
    def stop_token_ids(self) -> Collection[int]: ...

    def accept_token(self, token_id: int) -> bool: ...

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool: ...

    def is_terminated(self) -> bool: ...

    def rollback(self, num_tokens: int = 1) -> None: ...

    def fork(self) -> Self: ...


@runtime_checkable
class MatcherFactory(Protocol):
    """A compiled grammar of a second backend: it makes its own matchers."""

    def new_matcher(self) -> Matcher: ...


def new_matcher(grammar: object) -> Matcher:
    """A matcher at the start of ``grammar``; of a matcher, a fork (its state is then the start)."""
    if isinstance(grammar, Matcher):
        return grammar.fork()
    if isinstance(grammar, MatcherFactory):
        return grammar.new_matcher()
    if not isinstance(grammar, CompiledGrammar):
        raise ConstrainedError(f"expected a CompiledGrammar or a matcher, not {type(grammar).__name__}")
    return GrammarMatcher(grammar)
