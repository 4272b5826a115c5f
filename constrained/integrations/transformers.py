"""Grammars in ``transformers.generate``: a logits processor with one grammar a row.

    processor = LogitsProcessor([person, date, None])      # None: this row is free
    model.generate(**batch, logits_processor=[processor], max_new_tokens=200)

``generate`` calls a processor with all ids so far and expects masked scores; it does not say what it did with the
rows in between. Beam search reorders them, prompt lookup and assisted decoding try ids and take them back, the
assistant model calls the same processor on its own. So nothing here is tied to a row number: the state of a row is
found from its ids. Every row of the last call is remembered by the ids it had generated; a new row continues the
one it extends by a token, or else the one that shares its longest beginning, rolled back to where they part.
One step costs a lookup, a fork and a token for each row.

Meaning:

- The prompt is what the first call brings. A later call belongs to the same generation when its rows begin with
  the same prompt and are at most one token longer than the longest seen; otherwise it starts a new generation. So
  one processor can serve one ``generate`` after another, also when the next prompt continues the last output.
- ``n`` grammars serve ``k * n`` rows, each the next ``k`` of them: ``generate`` repeats a row next to itself for
  beams and ``num_return_sequences``. A single grammar serves all rows, each in its own state.
- A row that has ended (a stop token was accepted) or that holds an id its grammar forbids (a wrong draft: its
  scores are thrown away) may only take stop tokens. ``generate`` pads ended rows itself if it knows the stop
  tokens: give it ``eos_token_id`` if the grammar's are not the model's.
- The scores that come in are left as they are; masked ones are returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import LogitsProcessor as BaseLogitsProcessor

from constrained.errors import ConstrainedError
from constrained.integrations.protocol import Matcher, new_matcher
from constrained.masks import allocate_token_bitmask, apply_token_bitmask_inplace
from constrained.masks.bitmask import bitmask_row

__all__ = ["LogitsProcessor"]

ID_BYTES = 8


class Progress:
    """The matcher of one row, and how many of the row's generated ids it took (all, unless it ended or refused)."""

    __slots__ = ("generated", "matcher", "taken")

    def __init__(self, matcher: Matcher, taken: int, generated: int) -> None:
        self.matcher = matcher
        self.taken = taken
        self.generated = generated

    def live(self) -> bool:
        """The row can go on: every id was legal and the end has not come."""
        return self.taken == self.generated and not self.matcher.is_terminated()

    def continued(self, shared: int, ids: Sequence[int]) -> Progress:
        """This row cut to its first ``shared`` ids, then ``ids``."""
        matcher = self.matcher.fork()
        taken = self.taken
        if taken > shared:
            matcher.rollback(taken - shared)
            taken = shared
        if taken == shared:
            for token_id in ids:
                if matcher.is_terminated() or not matcher.accept_token(token_id):
                    break
                taken += 1
        return Progress(matcher, taken, shared + len(ids))


class LogitsProcessor(BaseLogitsProcessor):  # type: ignore[misc]
    """Masks the scores of each row by its grammar.

    ``grammars``: one for each row, or a single one for all rows; each a ``CompiledGrammar``, a matcher (its present
    state is the start), or None for a free row. All must be compiled for one vocabulary.
    """

    supports_continuous_batching = False

    def __init__(self, grammars: Any) -> None:
        listed = list(grammars) if isinstance(grammars, (list, tuple)) else [grammars]
        if not listed:
            raise ConstrainedError("no grammar given", hint="pass None for a row without a grammar")
        self._roots = [None if grammar is None else new_matcher(grammar) for grammar in listed]
        matchers = [root for root in self._roots if root is not None]
        sizes = {matcher.compiled.tokenizer_info.vocab_size for matcher in matchers}
        if len(sizes) > 1:
            raise ConstrainedError(f"the grammars are compiled for vocabularies of different sizes: {sorted(sizes)}")
        self._vocab_size = sizes.pop() if sizes else 0
        self._bitmask: torch.Tensor | None = None
        self.reset()

    def reset(self) -> None:
        """Forgets the generation in progress: the next call's ids are a prompt."""
        self._prompt: np.ndarray[Any, Any] | None = None
        self._longest = 0
        self._known: list[dict[bytes, Progress]] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Masked ``scores`` (float32 ``[rows, width]``) for the next token after ``input_ids`` (``[rows, length]``)."""
        rows = len(input_ids)
        if scores.ndim != 2 or input_ids.ndim != 2 or len(scores) != rows:
            raise ConstrainedError(f"expected ids [rows, length] and scores [rows, width], not "
                                   f"{list(input_ids.shape)} and {list(scores.shape)}")
        if rows % len(self._roots):
            raise ConstrainedError(f"{len(self._roots)} grammars cannot be shared out among {rows} rows",
                                   hint="one grammar for each row of the batch; None for a free row")
        if self._vocab_size > scores.shape[1]:
            raise ConstrainedError(f"the grammar was compiled for {self._vocab_size} ids, the model scores only "
                                   f"{scores.shape[1]}", hint="TokenizerInfo(..., vocab_size=model.config.vocab_size)")
        ids = np.ascontiguousarray(input_ids.detach().cpu().numpy(), dtype=np.int64)
        self._begin_or_continue(ids)
        masked_rows = self._fill(self._follow(ids[:, self._prompt_length :]))
        masked = scores.clone()
        if masked_rows and self._bitmask is not None:
            apply_token_bitmask_inplace(masked, self._bitmask.to(scores.device, non_blocking=True),
                                        indices=masked_rows)
        return masked

    @property
    def _prompt_length(self) -> int:
        return 0 if self._prompt is None else self._prompt.shape[1]

    def _begin_or_continue(self, ids: np.ndarray[Any, Any]) -> None:
        rows, length = ids.shape
        prompt = self._prompt
        same = (prompt is not None and len(prompt) == rows and prompt.shape[1] <= length <= self._longest + 1
                and np.array_equal(ids[:, : prompt.shape[1]], prompt))
        if not same:
            self._prompt = ids
            self._known = [{b"": Progress(root, 0, 0)} if root is not None else {} for root in self._roots]
        self._longest = length if length == self._prompt_length else max(self._longest, length)

    def _follow(self, generated: np.ndarray[Any, Any]) -> list[Progress | None]:
        """The progress of each row, None for free ones; it replaces what was known."""
        share = len(generated) // len(self._roots)
        known: list[dict[bytes, Progress]] = [{} for _ in self._roots]
        found: list[Progress | None] = []
        for i, row in enumerate(generated):
            number = i // share
            root = self._roots[number]
            if root is None:
                found.append(None)
                continue
            key = row.tobytes()
            progress = known[number].get(key) or self._find(self._known[number], key, row, root)
            known[number][key] = progress
            found.append(progress)
        self._known = known
        return found

    @staticmethod
    def _find(known: dict[bytes, Progress], key: bytes, row: np.ndarray[Any, Any], root: Matcher) -> Progress:
        same = known.get(key)
        if same is not None:
            return same
        if key:
            parent = known.get(key[:-ID_BYTES])
            if parent is not None:
                return parent.continued(parent.generated, [int(row[-1])])
        best, shared = Progress(root, 0, 0), 0
        for other_key, other in known.items():
            theirs = np.frombuffer(other_key, dtype=np.int64)
            length = min(len(theirs), len(row))
            differing = np.flatnonzero(theirs[:length] != row[:length])
            common = int(differing[0]) if len(differing) else length
            if common > shared:
                best, shared = other, common
        return best.continued(shared, [int(token_id) for token_id in row[shared:]])

    def _fill(self, rows: list[Progress | None]) -> list[int]:
        """Writes the bitmask rows; returns the numbers of the rows that have one."""
        masked = [i for i, progress in enumerate(rows) if progress is not None]
        if masked and (self._bitmask is None or len(self._bitmask) != len(rows)):
            made = allocate_token_bitmask(len(rows), self._vocab_size)
            assert isinstance(made, torch.Tensor)
            self._bitmask = made
        for i, progress in enumerate(rows):
            if progress is None or self._bitmask is None:
                continue
            if progress.live():
                progress.matcher.fill_next_token_bitmask(self._bitmask, i)
            else:
                row = bitmask_row(progress.matcher.stop_token_ids, self._vocab_size)
                self._bitmask[i] = torch.from_numpy(row)
        return masked
