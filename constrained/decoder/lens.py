"""Logit lens: what each layer would say next (nostalgebraist 2020).

The residual stream after a layer goes through the model's final norm and output head, as if the layers after it were
not there. One pass over the tokens; memory is ``layers * positions * V`` floats only for the positions asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from constrained.decoder.bitmask import new_bitmask, remove_illegal
from constrained.decoder.guide import Matcher
from constrained.decoder.sampling_params import RequestError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder

__all__ = ["LayerView", "logit_lens"]


@dataclass(frozen=True, slots=True)
class LayerView:
    """The likeliest next tokens at one position after one layer (0: the embeddings), as (id, probability)."""

    layer: int
    position: int
    top: tuple[tuple[int, float], ...]


@torch.inference_mode()
def logit_lens(model: BaseDecoder, tokens: Sequence[int], *, layers: Sequence[int] | None = None, last: int = 1,
               top: int = 5, matcher: Matcher | None = None) -> list[LayerView]:
    """Views of ``layers`` (all of them) at the ``last`` positions of ``tokens``, layer by layer.

    ``matcher``, standing after ``tokens``, removes what is illegal there; then only the last position may be asked for.

    Raises:
        RequestError: no tokens, too many, ids or layers out of range, a matcher with more than one position.
    """
    config = model.config
    wanted = list(range(config.n_layers + 1)) if layers is None else list(layers)
    if not tokens or len(tokens) > config.max_position or any(not 0 <= t < config.vocab_size for t in tokens):
        raise RequestError(f"a logit lens needs 1 to {config.max_position} ids below {config.vocab_size}")
    if any(layer not in range(config.n_layers + 1) for layer in wanted):
        raise RequestError(f"layers are 0 (embeddings) to {config.n_layers}")
    if not 1 <= last <= len(tokens) or top < 1 or (matcher is not None and last != 1):
        raise RequestError("ask for 1 to len(tokens) last positions, for one where a matcher is given")
    cache = model.new_cache(1, len(tokens))
    slot = cache.allocate()
    out = model(torch.tensor([list(tokens)], device=model.device), cache=cache, slots=[slot], lengths=[0],
                n_new=[len(tokens)], logits_to_keep=last, return_hidden=wanted, with_logits=False)
    views: list[LayerView] = []
    for layer in wanted:
        logits = model.head(out.hidden[layer][0])
        if matcher is not None:
            words = new_bitmask(1, config.vocab_size)
            matcher.fill_next_token_bitmask(words, 0)
            logits = remove_illegal(logits, words)
        best, ids = torch.topk(torch.softmax(logits, -1), min(top, config.vocab_size))
        for row in range(last):
            pairs = [(i, p) for i, p in zip(ids[row].tolist(), best[row].tolist(), strict=True) if p > 0.0]
            views.append(LayerView(layer, len(tokens) - last + row, tuple(pairs)))
    return views
