"""A small model that drafts for a large one (Leviathan et al. 2023), under the same grammar and random numbers.

The draft is sampled from the small model with the request's own parameters and with the *same* Gumbel noise that the
large model will use at each position. Where the two distributions agree, the same noise picks the same token, so most
drafts stand, at any temperature; the output is exactly that of the large model alone (see :mod:`.drafters`). The chance
that a token stands is at least ``(1 - d) / (1 + d)``, d the total variation distance of the two distributions.

The small model has a KV cache of its own, one slot an output; it forgets refused tokens by writing over them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from constrained.decoder.bitmask import remove_illegal
from constrained.decoder.chain import Row, choose
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.sampling_params import RequestError
from constrained.decoder.transfer import upload

if TYPE_CHECKING:
    from constrained.decoder.guide import Guide
    from constrained.decoder.models.base import BaseDecoder
    from constrained.decoder.sequence import Sequence

__all__ = ["DraftModel"]


class DraftModel:
    """A drafter; ``max_batch`` and ``max_len`` as of the scheduler it serves.

    Raises :class:`RequestError` where the two models' vocabularies cannot be the same.
    """

    def __init__(self, model: BaseDecoder, *, max_batch: int = 8, max_len: int = 4096,
                 vocab_size: int | None = None) -> None:
        if vocab_size is not None and model.config.vocab_size < vocab_size:
            raise RequestError(f"the draft model has {model.config.vocab_size} ids, the model {vocab_size}",
                               hint="a draft model shares the tokenizer of the model it drafts for")
        self._model = model
        self._cache = KVCache(model.config, max_batch, min(max_len, model.config.max_position), model.dtype,
                              model.device)
        self._slots: dict[int, tuple[int, list[int]]] = {}

    @torch.inference_mode()
    def propose(self, sequence: Sequence, limit: int) -> list[int]:
        if id(sequence) not in self._slots:
            if not self._cache.n_free:
                return []
            self._slots[id(sequence)] = (self._cache.allocate(), [])
        history, guide = sequence.history, sequence.guide.fork()
        draft: list[int] = []
        if len(history.tokens) + limit > self._cache.max_len:
            return []
        try:
            while len(draft) < limit and not guide.terminated:
                token = self._next(sequence, guide)
                if token is None or token in sequence.hidden_ids:
                    break
                for one in (token, *self._accept(guide, token)):
                    draft.append(one)
                    history.append(one)
        finally:
            history.rollback(len(draft))
        return draft

    def release(self, sequence: Sequence) -> None:
        entry = self._slots.pop(id(sequence), None)
        if entry is not None:
            self._cache.free(entry[0])

    def _next(self, sequence: Sequence, guide: Guide) -> int | None:
        """The small model's choice after the history; reads what it has not seen of it."""
        slot, seen = self._slots[id(sequence)]
        tokens = sequence.history.tokens
        known = _common(seen, tokens)
        known = min(known, len(tokens) - 1)
        new = tokens[known:]
        out = self._model(upload([new], self._model.device), cache=self._cache, slots=[slot],
                          lengths=[known], n_new=[len(new)])
        self._slots[id(sequence)] = (slot, list(tokens))
        assert out.logits is not None
        legal = guide.legal()
        logits = out.logits[0, 0]
        words = legal.bitmask((logits.shape[0] + 31) // 32)
        logits = remove_illegal(logits.unsqueeze(0), words[None])[0]
        row = Row(logits, sequence.request.params, sequence.history, sequence.key, None, sequence.banned_now())
        choice = choose([row])[0]
        return None if choice.error is not None else choice.token

    def _accept(self, guide: Guide, token: int) -> list[int]:
        """Move the fork past ``token``; the tokens forced after it."""
        guide.accept(token)
        forced = guide.forced()
        for one in forced:
            guide.accept(one)
        return forced


def _common(first: list[int], second: list[int]) -> int:
    """Length of the common beginning."""
    size = min(len(first), len(second))
    if first[:size] == second[:size]:
        return size
    return next(i for i in range(size) if first[i] != second[i])
