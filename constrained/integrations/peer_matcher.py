"""What the backends of other engines share: the way to a compiled grammar, which makes matchers over theirs.

A peer's matcher knows how to take a token, fill a row, go back and start over; the rest of the interface follows from
that. Their masks are passed on as they are: a peer's mistake shows as its own, which is what a comparison is for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol

import numpy as np

from constrained.api.grammar import Grammar
from constrained.errors import BitmaskError, ConstrainedError
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.regex import from_regex
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits
from constrained.masks.bitmask import BITS, bitmask_row
from constrained.vocabulary.tokenizer_info import TokenizerInfo

__all__ = ["Peer", "PeerCompiler", "PeerGrammar", "PeerMatcher"]


class Peer(Protocol):
    """A matcher of another engine. The end is not its business: stop tokens never reach it."""

    def take(self, token_id: int) -> bool:
        """Take one ordinary token; False, and nothing changes, where it is not allowed."""
        ...

    def fill(self, row: np.ndarray[Any, np.dtype[np.int32]]) -> None:
        """Write the allowed ordinary tokens into int32 ``[ceil(V / 32)]``; bits of stop tokens do not matter."""
        ...

    def back(self, count: int) -> None:
        """Take back ``count`` tokens."""
        ...

    def may_end(self) -> bool:
        """Whether the text may end here."""
        ...

    def copy(self) -> Peer:
        """A copy that goes its own way."""
        ...


class PeerCompiler(ABC):
    """What the peers' compilers share: this library's front ends before ``compile_rules``."""

    def __init__(self, tokenizer_info: TokenizerInfo, limits: Limits | None) -> None:
        self.tokenizer_info = tokenizer_info
        self.limits = limits or Limits()

    def compile_regex(self, pattern: str, *, dialect: str = "python") -> PeerGrammar:
        """Compile a regular expression; raises as ``Grammar.from_regex`` and ``compile_rules``."""
        return self.compile_rules(from_regex(pattern, dialect=dialect, limits=self.limits))

    def compile_grammar(self, grammar: Grammar | str, *, root_rule_name: str = "root") -> PeerGrammar:
        """Compile EBNF text or a ``Grammar``; raises as ``Grammar.from_ebnf`` and ``compile_rules``."""
        if isinstance(grammar, Grammar):
            return self.compile_rules(grammar.rules)
        return self.compile_rules(from_ebnf(grammar, root=root_rule_name, limits=self.limits))

    @abstractmethod
    def compile_rules(self, rules: RuleSet) -> PeerGrammar:
        """Compile rules. Raises ``GrammarError`` for what the peer cannot run."""


class PeerGrammar:
    """A compiled grammar: the vocabulary and how a peer's matcher is made. ``text_row``: ids that are text, as bits."""

    def __init__(self, tokenizer_info: TokenizerInfo, start: Callable[[], Peer]) -> None:
        self.tokenizer_info = tokenizer_info
        self._start = start
        # ids without text are never allowed as text, and bits behind the vocabulary are not theirs to set
        size = tokenizer_info.vocab_size
        self.text_row = bitmask_row([i for i in range(size) if tokenizer_info.token_bytes(i)], size)

    def new_matcher(self) -> PeerMatcher:
        return PeerMatcher(self, self._start())


class PeerMatcher:
    """A peer's matcher behind this library's interface; methods as on ``GrammarMatcher``."""

    def __init__(self, grammar: PeerGrammar, peer: Peer) -> None:
        self.compiled = grammar
        self._peer = peer
        self._taken = 0
        self._stopped = False
        info = grammar.tokenizer_info
        self._words = -(-info.vocab_size // BITS)
        self._stop_row = bitmask_row(info.stop_token_ids, info.vocab_size)

    @property
    def stop_token_ids(self) -> Collection[int]:
        return self.compiled.tokenizer_info.stop_token_ids

    def accept_token(self, token_id: int) -> bool:
        """Take one token; False, and nothing changes, if it is not allowed here."""
        if self._stopped or not 0 <= token_id < self.compiled.tokenizer_info.vocab_size:
            return False
        if token_id in self.stop_token_ids:
            self._stopped = self._peer.may_end()
            return self._stopped
        if not self._peer.take(token_id):
            return False
        self._taken += 1
        return True

    def accept_tokens(self, token_ids: Iterable[int]) -> int:
        """Take tokens up to the first that is not allowed; returns how many."""
        count = 0
        for token_id in token_ids:
            if not self.accept_token(token_id):
                break
            count += 1
        return count

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """How many ``accept_tokens`` would take; nothing changes."""
        return self.fork().accept_tokens(token_ids)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Write row ``index`` of an int32 bitmask ``[batch, ceil(V / 32)]``; True: some token is masked."""
        target = np.asarray(bitmask)
        shaped = target.dtype == np.int32 and target.ndim == 2 and target.shape[1] == self._words
        if not shaped or not 0 <= index < len(target):
            raise BitmaskError(f"expected int32 [batch, {self._words}] and a row in it, not {target.dtype} "
                               f"{list(target.shape)} and row {index}")
        row = target[index]
        if self._stopped:
            row[:] = self._stop_row
            return True
        self._peer.fill(row)
        row &= self.compiled.text_row
        row &= ~self._stop_row
        if self._peer.may_end():
            row |= self._stop_row
        return True

    def rollback(self, num_tokens: int = 1) -> None:
        """Take back the last ``num_tokens`` tokens, a stop token among them."""
        if not 0 <= num_tokens <= self._taken + self._stopped:
            raise ConstrainedError(f"cannot take back {num_tokens} of {self._taken + self._stopped} tokens")
        if num_tokens and self._stopped:
            self._stopped = False
            num_tokens -= 1
        if num_tokens:
            self._peer.back(num_tokens)
            self._taken -= num_tokens

    def fork(self) -> PeerMatcher:
        """A copy that goes its own way."""
        other = PeerMatcher(self.compiled, self._peer.copy())
        other._taken, other._stopped = self._taken, self._stopped
        return other

    def reset(self) -> None:
        """Back to the start."""
        self.rollback(self._taken + self._stopped)

    def is_terminated(self) -> bool:
        """A stop token was accepted."""
        return self._stopped

    def is_completed(self) -> bool:
        """The text may end here."""
        return not self._stopped and self._peer.may_end()
