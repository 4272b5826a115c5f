"""A constrained output that always ends whole: near its token limit only tokens that leave room for an end.

Idea: the engine knows at every place the fewest bytes to an end of the text, in constant time. A token is affordable
if, after it, those bytes fit into the tokens that are left: one token a byte at worst (every byte that occurs is a
token by itself), and where that is too coarse the bytes are tokenised and counted. So an ordinary step costs one step
of the matcher and one look-up; text is tokenised only near the limit.

Invariant: whenever a token is to be chosen, a *plan* exists: tokens that lead from here to an end and are no more than
are left. It holds at the start (else the request is refused with :class:`BudgetTooSmall`), an affordable token keeps
it, and the first token of the plan is always affordable. So the output ends whole, whatever the model prefers.

Where no bound is known (the matcher tells no distance, only a token that the grammar names leads on, or the vocabulary
lacks single bytes and cannot encode) every token is affordable and the output may be cut.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from constrained.decoder.detokenizer import Vocabulary
from constrained.decoder.guide import Guide
from constrained.decoder.sampling_params import RequestError
from constrained.errors import ConstrainedError

__all__ = ["BudgetTooSmall", "TokenBudget"]

UNKNOWN = 1_000_000
"""A distance from here on counts tokens that the grammar names, which are no bytes."""

KEPT_PLANS = 256
"""Plans that one output keeps."""

MAX_PLAN_BYTES = 1 << 16
"""Longest completion that is tokenised. A longer one is judged by its bytes."""


class BudgetTooSmall(RequestError):
    """Not even the shortest text of the grammar fits: ``needed`` tokens, ``available`` are there."""

    def __init__(self, needed: int, available: int) -> None:
        self.needed, self.available = needed, available
        super().__init__(f"the shortest text of the grammar needs {needed} tokens, {available} are available",
                         hint=f"raise max_tokens to at least {needed}, or make room in the context")


class TokenBudget:
    """What one output may still spend. One for each output; asked before every token."""

    __slots__ = ("_byte_tokens", "_last", "_plan", "_plans", "_tested", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, guide: Guide, limit: int) -> None:
        """Raises :class:`BudgetTooSmall` where no end is within ``limit`` tokens."""
        self._vocabulary = vocabulary
        self._byte_tokens: dict[int, int] | None = None
        self._plan: list[int] | None = None
        self._tested: tuple[int, list[int] | None] | None = None  # the last token found affordable, the plan after it
        self._plans: OrderedDict[int, list[int]] = OrderedDict()  # by the matcher's state
        self._last: tuple[bytes, list[int]] | None = None  # the last completion that was tokenised
        distance = _distance(guide)
        if distance is not None and (distance > limit or not self._closed):
            plan = self._tokenised(guide)
            if plan is not None and len(plan) > limit:
                raise BudgetTooSmall(len(plan), limit)
            self._plan = plan

    @property
    def _closed(self) -> bool:
        return bool(getattr(self._vocabulary, "closed", False))

    def affordable(self, guide: Guide, token: int, left: int) -> bool:
        """Whether ``token`` may come now, ``left`` tokens being left with it. The guide is where it was afterwards.

        The token must be legal; an end token always is affordable.
        """
        matcher = guide.matcher
        self._tested = None
        if matcher is None or (self._plan and token == self._plan[0]) or not matcher.accept_token(token):
            return True
        try:
            if matcher.is_terminated():
                return True
            distance = _distance(guide)
            if distance is None or (distance <= left - 1 and self._closed):
                return True
            plan = self._plan_here(guide, left - 1)
            if plan is not None and len(plan) > left - 1:
                return False
            self._tested = token, plan
            return True
        finally:
            matcher.rollback(1)

    def next_of_plan(self, guide: Guide, left: int) -> int | None:
        """The first token of a shortest way to an end; None where none is known or the text may end here."""
        if not self._plan:
            self._plan = self._tokenised(guide)
            if self._plan is None or len(self._plan) > left or (self._plan and not guide.allows(self._plan[0])):
                self._plan = self._spelled(guide)
        return self._plan[0] if self._plan else None

    def spent(self, token: int) -> None:
        """``token`` was written."""
        if self._tested is not None and self._tested[0] == token:
            self._plan = self._tested[1]
        elif self._plan is not None:
            self._plan = self._plan[1:] if self._plan[:1] == [token] else None
        self._tested = None

    def _plan_here(self, guide: Guide, most: int) -> list[int] | None:
        """A plan for the guide's place, at most ``most`` tokens if that is found cheaply; None where none is known.

        Cheap are places seen before (inside an unbounded text all are one), and completions that end as the last one
        did: the bytes before that, and its tokens.
        """
        state = getattr(guide.matcher, "state", None)
        if isinstance(state, int):
            known = self._plans.get(state)
            if known is not None:
                return known
        data = _completion(guide)
        if data is None:
            return None
        plan = self._like_the_last(data)
        if plan is None or len(plan) > most:
            plan = self._tokens_of(data)
        if isinstance(state, int) and plan is not None:
            self._plans[state] = plan
            if len(self._plans) > KEPT_PLANS:
                self._plans.popitem(last=False)
        return plan

    def _like_the_last(self, data: bytes) -> list[int] | None:
        """Tokens of ``data`` from those of the last completion, where both end alike."""
        if self._last is None:
            return None
        old, tokens = self._last
        same = _common_suffix(old, data)
        start, at = len(old), len(tokens)
        while at:  # back over the tokens that lie in the common end
            size = len(self._vocabulary.token_bytes(tokens[at - 1]))
            if len(old) - start + size > same:
                break
            start -= size
            at -= 1
        head = self._bytes_as_tokens(data[: len(data) - (len(old) - start)])
        return None if head is None else head + tokens[at:]

    # -- completions as tokens ---------------------------------------------------------------------------------

    def _tokenised(self, guide: Guide) -> list[int] | None:
        """The shortest completion as the model would write it; None where it is not known or too long."""
        data = _completion(guide)
        return None if data is None else self._tokens_of(data)

    def _tokens_of(self, data: bytes) -> list[int] | None:
        tokens = self._encoded(data)
        if tokens is not None:
            self._last = data, tokens
        return tokens

    def _encoded(self, data: bytes) -> list[int] | None:
        start = 0  # the rest of a character that is half written has no text
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        try:
            text = data[start:].decode()
        except UnicodeDecodeError:
            return self._bytes_as_tokens(data)
        ids = self._vocabulary.encode(text) if text else []
        head = self._bytes_as_tokens(data[:start])
        if ids is None or head is None:
            return self._bytes_as_tokens(data)
        return head + list(ids)

    def _spelled(self, guide: Guide) -> list[int] | None:
        """The shortest completion byte by byte."""
        data = _completion(guide)
        return None if data is None else self._bytes_as_tokens(data)

    def _bytes_as_tokens(self, data: bytes) -> list[int] | None:
        if not data:
            return []
        if self._byte_tokens is None:
            vocabulary = self._vocabulary
            self._byte_tokens = {}
            offsets = getattr(vocabulary, "token_offsets", None)
            short: Any = range(vocabulary.vocab_size) if offsets is None else np.flatnonzero(np.diff(offsets) == 1)
            for token_id in map(int, short):
                spelled = vocabulary.token_bytes(token_id)
                if len(spelled) == 1 and token_id not in vocabulary.special_token_ids:
                    self._byte_tokens.setdefault(spelled[0], token_id)
        found = [self._byte_tokens.get(byte, -1) for byte in data]
        return None if -1 in found else found


def _common_suffix(one: bytes, other: bytes) -> int:
    """Bytes that both end with. Halving: a slice is compared at the speed of memory."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle :] == other[len(other) - middle :]:
            low = middle
        else:
            high = middle - 1
    return low


def _distance(guide: Guide) -> int | None:
    """Fewest bytes to an end, None where that is not known."""
    ask: Any = getattr(guide.matcher, "distance_to_end", None)
    distance = UNKNOWN if ask is None else int(ask())
    return distance if distance < UNKNOWN else None


def _completion(guide: Guide) -> bytes | None:
    distance = _distance(guide)
    if distance is None or distance > MAX_PLAN_BYTES:
        return None
    try:
        found: bytes = guide.matcher.shortest_completion()  # type: ignore[union-attr]
    except ConstrainedError:
        return None
    return found
