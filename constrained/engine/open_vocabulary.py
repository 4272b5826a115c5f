"""Dead ends that only a vocabulary makes.

In a *closed* vocabulary every byte that occurs in a token is also a token, so any byte the automaton allows can be
written, and a state is never stuck. In an open one (SentencePiece without byte fallback, a word list) a byte may
exist only inside longer tokens: after the token ``a`` the grammar may want a ``b`` that no token spells from there.

Here a state is *live* if some sequence of tokens leads from it to an end. It is proved by a best-first search over
tokens (shortest remaining text first); a found way proves all states on it, an exhausted search disproves all it met.
Masks keep only tokens that lead to live states. Cost: the mask of an open vocabulary asks for every allowed token, so a
first visit takes about 0.3 us a token; verdicts are kept by state.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from constrained.engine.distinct.automaton import DistinctAutomaton
from constrained.errors import GrammarLimitError
from constrained.kernel.token_automaton import TokenAutomaton
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["LiveTokens"]


class LiveTokens:
    """Verdicts on states of one epoch of an automaton."""

    def __init__(self, automaton: TokenAutomaton | DistinctAutomaton, info: TokenizerInfo, limits: Limits) -> None:
        self.automaton = automaton
        self.stops = frozenset(info.stop_token_ids)
        self.limits = limits
        self.verdicts: dict[int, bool] = {}
        self.kept: dict[int, list[int]] = {}

    def is_live(self, state: int) -> bool:
        """Whether tokens can complete ``state``. Raises ``GrammarLimitError`` beyond ``max_live_search``."""
        known = self.verdicts.get(state)
        if known is not None:
            return known
        automaton = self.automaton
        parent: dict[int, int] = {state: 0}
        heap = [(automaton.distance(state), state)]
        while heap:
            _, here = heappop(heap)
            if automaton.complete(here) or self.verdicts.get(here):
                while here:
                    self.verdicts[here] = True
                    here = parent[here]
                return True
            if self.verdicts.get(here) is False:
                continue
            for token in automaton.allowed_ids(here):
                after = automaton.next(here, token)
                if after and after not in parent:
                    parent[after] = here
                    heappush(heap, (automaton.distance(after), after))
            if len(parent) > self.limits.max_live_search:
                raise GrammarLimitError(
                    "max_live_search", self.limits.max_live_search,
                    "it is not decided whether this vocabulary can write a text of the grammar",
                )
        for met in parent:
            self.verdicts[met] = False
        return False

    def keep(self, state: int, ids: list[int]) -> list[int]:
        """Those of the allowed ``ids`` after which the text can still be completed; kept by state."""
        known = self.kept.get(state)
        if known is None:
            known = []
            for token in ids:
                after = self.automaton.next(state, token)
                if (after and self.is_live(after)) or (token in self.stops and self.automaton.complete(state)):
                    known.append(token)
            self.kept[state] = known
        return known

    def prune(self, state: int, bitmask: Any, index: int) -> int:
        """Clear the bits of dead tokens in row ``index``; returns how many are left."""
        allowed = self.automaton.allowed_ids(state)
        kept = self.keep(state, allowed)
        if len(kept) != len(allowed):
            for token in set(allowed).difference(kept):
                word = int(bitmask[index, token >> 5]) & 0xFFFFFFFF & ~(1 << (token & 31))
                bitmask[index, token >> 5] = word - (1 << 32) if word >= 1 << 31 else word
        return len(kept)
