"""What one output puts into a forward pass, and what it gets back.

A feed is the output's tokens that are not yet cached (or a chunk of them), then a draft to check. The pass gives the
hidden states at its last positions; while the tokens chosen are the drafted ones, each of those states serves the next
choice. ``settle`` then counts as cached only what the output kept.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

from constrained.decoder.transfer import upload

if TYPE_CHECKING:
    from torch import Tensor

    from constrained.decoder.sequence import Sequence

__all__ = ["Feed"]


class Feed:
    """``tokens`` of ``sequence`` that one pass reads, the last ``n_draft`` of them guesses.

    ``frontier``: nothing that the output knows is left out, so the pass decides its next token.
    """

    __slots__ = ("base", "frontier", "hidden", "n_draft", "remembered", "row", "sequence",
                 "tokens")

    def __init__(self, sequence: Sequence, tokens: list[int], n_draft: int, *, frontier: bool) -> None:
        self.sequence = sequence
        self.tokens = tokens
        self.n_draft = n_draft
        self.frontier = frontier
        self.base = 0
        self.hidden: Tensor | None = None
        """Hidden states ``[B, kept, hidden]`` of the whole pass, the last positions of each row."""
        self.row = 0
        """Which row of the pass this is."""
        self.remembered = sequence.prefilled

    def position(self) -> int | None:
        """Index among ``tokens`` of the output's last token, if the pass has seen exactly the output's tokens."""
        known = self.sequence.tokens
        index = len(known) - 1 - self.base
        if index >= len(self.tokens):
            return None
        first = len(self.tokens) - self.n_draft
        return index if self.tokens[first : index + 1] == known[self.base + first :] else None

    def column(self) -> int:
        """Where the output's last token stands among the kept positions, counted from the end (-1: the last)."""
        index = self.position()
        assert index is not None
        return index - len(self.tokens)

    def state(self) -> Tensor:
        """Hidden state ``[hidden]`` whose distribution is that of the next token."""
        assert self.hidden is not None
        return self.hidden[self.row, self.column()]

    @staticmethod
    def states(feeds: Many[Feed]) -> Tensor:
        """The states ``[n, hidden]`` of several feeds of one pass."""
        hidden = feeds[0].hidden
        assert hidden is not None
        return hidden[upload([feed.row for feed in feeds], hidden.device),
                      upload([feed.column() for feed in feeds], hidden.device)]

    def settle(self) -> None:
        """Count as cached only what the output kept of the draft."""
        if not self.n_draft:
            return
        first = len(self.tokens) - self.n_draft
        kept = self.sequence.tokens[self.base + first : self.base + len(self.tokens)]
        same = 0
        for ours, drafted in zip(kept, self.tokens[first:], strict=False):
            if ours != drafted:
                break
            same += 1
        self.sequence.cached = self.base + first + same
        self.sequence.usage.accepted_tokens += same
