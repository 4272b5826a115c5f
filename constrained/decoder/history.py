"""What the penalties and the n-gram ban need to know of a request's past, kept incrementally.

Shape: the token list, plus, only where the parameters ask for it, two int32 rows over the vocabulary
(occurrences in prompt and output, occurrences in the output) and an index from each (n-1)-gram to the tokens
that followed it. ``append`` costs constant time, ``rollback`` constant time a token.

Invariants: ``counts_all[i] > 0`` exactly when id i occurs in ``tokens``; an n-gram's followers are listed once
for each occurrence, in order, so that a rollback pops what the append pushed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from constrained.decoder.sampling_params import SamplingParams

__all__ = ["TokenHistory"]


class TokenHistory:
    """Tokens of one request: the prompt, then the output."""

    __slots__ = ("_followers", "counts_all", "counts_output", "n_prompt", "ngram", "tokens")

    def __init__(self, prompt: Sequence[int], params: SamplingParams, vocab_size: int,
                 device: torch.device | str = "cpu") -> None:
        self.tokens: list[int] = []
        self.n_prompt = len(prompt)
        self.ngram = params.no_repeat_ngram_size
        self._followers: dict[tuple[int, ...], list[int]] = {}
        self.counts_all: Tensor | None = None
        self.counts_output: Tensor | None = None
        if params.repetition_penalty != 1.0:
            self.counts_all = _count(prompt, vocab_size, device)
        if params.frequency_penalty != 0.0 or params.presence_penalty != 0.0:
            self.counts_output = torch.zeros(vocab_size, dtype=torch.int32, device=device)
        for token in prompt:
            self._push(token)

    @property
    def n_output(self) -> int:
        """Output tokens so far."""
        return len(self.tokens) - self.n_prompt

    @property
    def output(self) -> list[int]:
        """The output tokens, a new list."""
        return self.tokens[self.n_prompt :]

    def append(self, token: int) -> None:
        """Add one output token."""
        self._push(token)
        for counts in (self.counts_all, self.counts_output):
            if counts is not None and token < counts.shape[0]:
                counts[token] += 1

    def extend(self, tokens: Iterable[int]) -> None:
        """Add output tokens."""
        for token in tokens:
            self.append(token)

    def rollback(self, n: int) -> None:
        """Forget the last ``n`` output tokens."""
        assert 0 <= n <= self.n_output
        for _ in range(n):
            token = self.tokens[-1]
            if self.ngram and len(self.tokens) >= self.ngram:
                key = tuple(self.tokens[len(self.tokens) - self.ngram : -1])
                followers = self._followers[key]
                followers.pop()
                if not followers:
                    del self._followers[key]
            self.tokens.pop()
            for counts in (self.counts_all, self.counts_output):
                if counts is not None and token < counts.shape[0]:
                    counts[token] -= 1

    def ngram_bans(self) -> list[int]:
        """Ids that would complete an n-gram a second time, ascending (as :func:`.samplers.ngram_bans`)."""
        if not self.ngram or len(self.tokens) < self.ngram:
            return []
        key = tuple(self.tokens[len(self.tokens) - self.ngram + 1 :])
        return sorted(set(self._followers.get(key, ())))

    def _push(self, token: int) -> None:
        self.tokens.append(token)
        if self.ngram and len(self.tokens) >= self.ngram:
            key = tuple(self.tokens[len(self.tokens) - self.ngram : -1])
            self._followers.setdefault(key, []).append(token)


def _count(tokens: Sequence[int], vocab_size: int, device: torch.device | str) -> Tensor:
    """Occurrences of each id below ``vocab_size`` (an embedding may be wider than the head)."""
    ids = torch.tensor([t for t in tokens if t < vocab_size], dtype=torch.long)
    return torch.bincount(ids, minlength=vocab_size).to(torch.int32).to(device)
