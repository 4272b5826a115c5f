"""Who proposes tokens for speculative decoding. The loop checks a draft in one forward pass.

A draft token stands exactly when it is the token the loop draws at its position from the full distribution with the
request's own random numbers. So a drafter changes the speed and never the output: same seed, same tokens, with and
without it, and the law of the output is that of plain sampling (Leviathan et al. 2023 reach the same law by another
coupling). The draft is cut where the grammar refuses it before any work is spent on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from constrained.decoder.detokenizer import Vocabulary
    from constrained.decoder.sequence import Sequence

__all__ = ["ChainDrafter", "Drafter", "GrammarDrafter", "PromptLookup"]


class Drafter(Protocol):
    """``propose`` may return anything, also nothing; ``release`` is called when an output leaves its slot."""

    def propose(self, sequence: Sequence, limit: int) -> list[int]: ...
    def release(self, sequence: Sequence) -> None: ...


class PromptLookup:
    """The continuation of the last earlier occurrence of the final n-gram in prompt and output (Saxena 2023).

    ``longest`` to ``shortest`` tokens are matched; of several occurrences the latest counts. Keeps, for each output, an
    index from n-grams to where they last ended: constant time a token and n.
    """

    def __init__(self, longest: int = 4, shortest: int = 2) -> None:
        if not 1 <= shortest <= longest:
            raise ValueError("shortest must be from 1 to longest")
        self._sizes = range(longest, shortest - 1, -1)
        self._indexes: dict[int, _NgramIndex] = {}

    def propose(self, sequence: Sequence, limit: int) -> list[int]:
        tokens = sequence.tokens
        index = self._indexes.setdefault(id(sequence), _NgramIndex())
        for size in self._sizes:
            if len(tokens) > size:
                end = index.find(tokens, size)
                if end is not None:
                    return tokens[end : end + limit]
        return []

    def release(self, sequence: Sequence) -> None:
        self._indexes.pop(id(sequence), None)


class _NgramIndex:
    """Where each n-gram of a growing list last ended, the final one excluded."""

    __slots__ = ("_ends", "_seen")

    def __init__(self) -> None:
        self._ends: dict[tuple[int, ...], int] = {}
        self._seen: dict[int, int] = {}

    def find(self, tokens: list[int], size: int) -> int | None:
        for end in range(max(size, self._seen.get(size, 0)), len(tokens)):
            self._ends[tuple(tokens[end - size : end])] = end
        self._seen[size] = len(tokens)
        return self._ends.get(tuple(tokens[-size:]))


class GrammarDrafter:
    """What the grammar says must come as text, tokenised as the tokenizer would, where tokens are not yet forced.

    ``compute_ff_tokens`` stops before a token that a longer one could span; this guesses that the model takes the
    canonical tokens of the forced text. Needs ``find_jump_forward_string`` of the matcher.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def propose(self, sequence: Sequence, limit: int) -> list[int]:
        find = getattr(sequence.guide.matcher, "find_jump_forward_string", None)
        text = find() if find is not None else ""
        if not text:
            return []
        return (self._vocabulary.encode(text) or [])[:limit]

    def release(self, sequence: Sequence) -> None:
        pass


class ChainDrafter:
    """The first of several drafters that has something to say."""

    def __init__(self, *drafters: Drafter) -> None:
        self._drafters = drafters

    def propose(self, sequence: Sequence, limit: int) -> list[int]:
        for drafter in self._drafters:
            draft = drafter.propose(sequence, limit)
            if draft:
                return draft
        return []

    def release(self, sequence: Sequence) -> None:
        for drafter in self._drafters:
            drafter.release(sequence)
