"""What an integration needs of a matcher, whichever engine is behind it."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.masks.bitmask import bitmask_row
from constrained.vocabulary import TokenizerInfo

if TYPE_CHECKING:
    import torch

log = logging.getLogger("constrained.integrations")


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


def fill_or_end(matcher: Matcher, bitmask: torch.Tensor, row: int) -> ConstrainedError | None:
    """Write what may follow to ``bitmask[row]`` (int32 ``[rows, words]``, on the CPU).

    Where the grammar fails (one of its limits) only its stop tokens are allowed, so that its request ends and the
    others of the engine go on; the error is logged and returned.
    """
    try:
        matcher.fill_next_token_bitmask(bitmask, row)
    except ConstrainedError as error:
        log.warning("a grammar failed, its request ends: %s", error)
        end_only(matcher, bitmask, row)
        return error
    return None


def end_only(matcher: Matcher, bitmask: torch.Tensor, row: int) -> None:
    """Allow the stop tokens and nothing else in ``bitmask[row]``."""
    import torch

    words = bitmask_row(matcher.stop_token_ids, matcher.compiled.tokenizer_info.vocab_size)
    bitmask[row].zero_()
    bitmask[row, : len(words)] = torch.from_numpy(words)


def new_matcher(grammar: object) -> Matcher:
    """A matcher at the start of ``grammar``; of a matcher, a fork (its state is then the start)."""
    if isinstance(grammar, Matcher):
        return grammar.fork()
    if isinstance(grammar, MatcherFactory):
        return grammar.new_matcher()
    if not isinstance(grammar, CompiledGrammar):
        raise ConstrainedError(f"expected a CompiledGrammar or a matcher, not {type(grammar).__name__}")
    return GrammarMatcher(grammar)
