"""What a request may write next: the one place where the loop touches a grammar matcher.

``Matcher`` is the part of :class:`constrained.GrammarMatcher` that the loop uses; the decoder knows no engine, so
anything with these methods serves. A ``Guide`` adds what the loop asks at every step: the legal ids in the form
that is cheapest to use (all, a few ids, or a packed bitmask), computed at most once per position, and the tokens
that are forced.

Rules: inside a constraint exactly the grammar decides, so control tokens appear only where it names them and an
end token only where it ends. Without a constraint everything is legal but ids that are never to be written: BOS
and PAD (unless they end the text) and ids that stand for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from constrained.decoder.bitmask import allowed_ids, count_allowed, new_bitmask
from constrained.decoder.detokenizer import Vocabulary
from constrained.decoder.sampling_params import SamplingError
from constrained.decoder.transfer import upload

__all__ = ["Guide", "Legal", "Matcher", "free_bitmask"]

SMALL_SHARE = 0.1
"""Up to this share of the vocabulary the legal ids are listed, their rows of the head gathered."""

MAX_LISTED = 512
"""Up to so many legal ids are asked for as a list (0.02 us an id) rather than read off a bitmask (20 us)."""

MAX_REMOVED = 4096
"""Up to so many always illegal ids are removed one by one rather than by a mask of the whole row."""


class Matcher(Protocol):
    """A grammar's position in one output; see :class:`constrained.GrammarMatcher`."""

    def accept_token(self, token_id: int, /) -> bool: ...
    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, /) -> bool: ...
    def compute_ff_tokens(self) -> list[int]: ...
    def rollback(self, n: int = 1, /) -> None: ...
    def fork(self) -> Matcher: ...
    def is_terminated(self) -> bool: ...
    def is_completed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Legal:
    """The legal ids of one position: ``ids`` ascending where they are few, else ``words``, a packed bitmask ``[W]``."""

    count: int
    ids: NDArray[np.int64] | None
    words: NDArray[np.int32] | None
    everything: bool = False
    removed: Tensor | None = None
    """The illegal ids, where they are few and always the same (free text)."""

    def tensor(self, device: torch.device) -> Tensor:
        """``ids`` on ``device``."""
        assert self.ids is not None
        return upload(self.ids, device)

    def bitmask(self, n_words: int) -> NDArray[np.int32]:
        """A packed bitmask ``[n_words]``, zero past what it covers."""
        out = np.zeros(n_words, dtype=np.int32)
        if self.words is not None:
            size = min(n_words, self.words.size)
            out[:size] = self.words[:size]
        elif self.ids is not None:
            legal = np.zeros(n_words * 32, dtype=np.bool_)
            legal[self.ids[self.ids < n_words * 32]] = True
            out[:] = np.packbits(legal, bitorder="little").view("<i4")
        return out


class Guide:
    """A matcher, or None for free text, and the legal ids of its position."""

    __slots__ = ("_legal", "_small", "_vocab_size", "_words", "matcher")

    def __init__(self, matcher: Matcher | None, vocab_size: int, free: Legal) -> None:
        self.matcher = matcher
        self._vocab_size = vocab_size
        self._small = max(1, int(SMALL_SHARE * vocab_size))
        self._legal: Legal | None = free if matcher is None else None
        self._words = new_bitmask(1, 0 if matcher is None else vocab_size)

    @property
    def constrained(self) -> bool:
        """Whether a grammar decides."""
        return self.matcher is not None

    def legal(self) -> Legal:
        """Legal ids at this position, kept until the next ``accept``. Raises what the matcher raises."""
        if self._legal is None:
            assert self.matcher is not None
            listed = self._listed(self.matcher)
            self._legal = listed if listed is not None else self._filled(self.matcher)
            if self._legal.count == 0:
                raise SamplingError("the grammar allows no token here", hint="a vocabulary that cannot spell it?")
        return self._legal

    def _listed(self, matcher: Matcher) -> Legal | None:
        """The legal ids as a list, where the matcher can count and list them and they are few."""
        count = getattr(matcher, "allowed_token_count", None)
        if count is None or count() > MAX_LISTED:
            return None
        ids = np.array(matcher.allowed_token_ids(), dtype=np.int64)  # type: ignore[attr-defined]
        return Legal(len(ids), ids, None)

    def _filled(self, matcher: Matcher) -> Legal:
        """The legal ids by a bitmask."""
        words = self._words
        matcher.fill_next_token_bitmask(words, 0)
        spare = -self._vocab_size % 32
        if spare:
            words[0, -1] &= np.int32((1 << (32 - spare)) - 1)
        count = count_allowed(words[0])
        if count <= self._small:
            return Legal(count, allowed_ids(words[0], self._vocab_size), None)
        return Legal(count, None, words[0].copy())

    def accept(self, token_id: int) -> None:
        """Move past ``token_id``. Raises :class:`SamplingError` if the grammar refuses it (nothing changes)."""
        if self.matcher is not None:
            if not self.matcher.accept_token(token_id):
                raise SamplingError(f"the grammar refuses token {token_id}")
            self._legal = None

    def allows(self, token_id: int) -> bool:
        """Whether ``token_id`` is legal at this position, without a bitmask."""
        if self.matcher is None:
            assert self._legal is not None and self._legal.words is not None
            return bool(self._legal.words[token_id >> 5] >> (token_id & 31) & 1)
        if not self.matcher.accept_token(token_id):
            return False
        self.matcher.rollback(1)
        return True

    def forced(self) -> list[int]:
        """Tokens that must come now, canonically tokenised (jump-forward); empty for free text."""
        if self.matcher is None or self.matcher.is_terminated():
            return []
        return list(self.matcher.compute_ff_tokens())

    def prefix_allowed(self, tokens: Iterable[int]) -> int:
        """How many of ``tokens`` are legal one after the other, before the output ends; nothing is changed."""
        matcher = self.matcher
        count = 0
        if matcher is None:
            for token in tokens:
                if not self.allows(token):
                    break
                count += 1
            return count
        try:
            for token in tokens:
                if matcher.is_terminated() or not matcher.accept_token(token):
                    break
                count += 1
        finally:
            if count:
                matcher.rollback(count)
        return count

    def fork(self) -> Guide:
        """An independent copy at the same position."""
        twin = Guide.__new__(Guide)
        twin.matcher = None if self.matcher is None else self.matcher.fork()
        twin._vocab_size = self._vocab_size
        twin._small = self._small
        twin._legal = self._legal
        twin._words = self._words.copy()
        return twin

    @property
    def terminated(self) -> bool:
        """The grammar has ended and takes nothing more."""
        return self.matcher is not None and self.matcher.is_terminated()

    @property
    def completed(self) -> bool:
        """The text so far is a whole text of the grammar (always true for free text)."""
        return self.matcher is None or self.matcher.is_completed()


def free_bitmask(vocabulary: Vocabulary, vocab_size: int, never: Iterable[int], device: torch.device | str = "cpu", *,
                 ends: bool = True) -> Legal:
    """What free text may hold: all ids of the model that stand for something, without ``never``; with ``ends`` off also
    without the end tokens."""
    legal = np.zeros(((vocab_size + 31) // 32) * 32, dtype=np.bool_)
    known = min(vocab_size, vocabulary.vocab_size)
    offsets = getattr(vocabulary, "token_offsets", None)
    if offsets is None:
        legal[:known] = [bool(vocabulary.token_bytes(i)) for i in range(known)]
    else:
        legal[:known] = np.diff(offsets[: known + 1]) > 0
    for token_id in vocabulary.special_token_ids:
        if token_id < known:
            legal[token_id] = True
    for token_id in never:
        if 0 <= token_id < known:
            legal[token_id] = False
    for token_id in vocabulary.stop_token_ids:
        if token_id < known:
            legal[token_id] = ends
    words = np.packbits(legal, bitorder="little").view("<i4").astype(np.int32)
    removed = np.flatnonzero(~legal[:vocab_size])
    few = torch.from_numpy(removed).to(device) if len(removed) <= MAX_REMOVED else None
    return Legal(vocab_size - len(removed), None, words, everything=len(removed) == 0, removed=few)
