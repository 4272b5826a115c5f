"""Reading a finished output once more: probabilities before and after the mask, and the logit lens, token by token.

One pass over prompt and output in chunks, with a fresh matcher stepped along. What the sampler adds (penalties,
temperature, truncation) is not in these probabilities: they are the model's and the mask's.

Cost: a forward pass over all tokens, an output head for each output token and shown layer, and ``CHUNK * V`` floats of
memory for each layer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from constrained.decoder.bitmask import new_bitmask, remove_illegal
from constrained.decoder.sampling_params import RequestError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.engine.matcher import GrammarMatcher

__all__ = ["Look", "look"]

CHUNK = 128
"""Positions read at once."""


@dataclass(frozen=True, slots=True)
class Look:
    """One output token; the lists are (id, probability), likeliest first."""

    token: int
    probability: float
    """Under the mask."""
    raw_probability: float
    removed_mass: float
    """Share of the raw distribution that the mask takes away."""
    allowed: int
    top: tuple[tuple[int, float], ...]
    raw_top: tuple[tuple[int, float, bool], ...]
    """With whether the mask allows it."""
    rules: tuple[str, ...]
    complete: bool
    """The text might have ended before this token."""
    mask_seconds: float
    lens: tuple[tuple[int, float], ...]
    """The likeliest token after each of the layers asked for."""


@torch.inference_mode()
def look(model: BaseDecoder, prompt: Sequence[int], output: Sequence[int], *, matcher: GrammarMatcher | None = None,
         layers: Sequence[int] = (), top: int = 6) -> list[Look]:
    """A ``Look`` at each token of ``output``. ``matcher`` stands at the beginning of the output, and is moved along it.

    Raises:
        RequestError: the prompt is empty, or a layer out of range.
    """
    deepest = model.config.n_layers
    if not prompt:
        raise RequestError("the prompt is empty: nothing says what the first token's probability was")
    if any(layer not in range(deepest + 1) for layer in layers):
        raise RequestError(f"layers are 0 (embeddings) to {deepest}")
    tokens = [*prompt, *output]
    cache = model.new_cache(1, len(tokens))
    slot = cache.allocate()
    hidden = sorted({*layers, deepest})
    found: list[Look] = []
    for start in range(0, len(tokens) - 1, CHUNK):
        chunk = tokens[start : min(start + CHUNK, len(tokens) - 1)]
        keep = max(0, start + len(chunk) - max(start, len(prompt) - 1))
        out = model(torch.tensor([chunk], device=model.device), cache=cache, slots=[slot], lengths=[start],
                    n_new=[len(chunk)], logits_to_keep=keep, return_hidden=hidden if keep else False, with_logits=False)
        if not keep:
            continue
        logits = model.head(out.hidden[deepest][0]).float().cpu()
        views = [_best(model.head(out.hidden[layer][0])) for layer in layers]
        for row in range(keep):
            lens = tuple(view[row] for view in views)
            found.append(_one(output[len(found)], logits[row], matcher, top, lens))
    return found


def _best(logits: Tensor) -> list[tuple[int, float]]:
    best, ids = torch.softmax(logits.float(), -1).max(-1)
    return list(zip(ids.tolist(), best.tolist(), strict=True))


def _one(token: int, logits: Tensor, matcher: GrammarMatcher | None, top: int,
         lens: tuple[tuple[int, float], ...]) -> Look:
    width = logits.shape[-1]
    raw = torch.softmax(logits, -1)
    masked, allowed, complete = raw, width, False
    removed = mask_seconds = 0.0
    rules: tuple[str, ...] = ()
    legal = torch.ones(width, dtype=torch.bool)
    if matcher is not None and not matcher.is_terminated():
        complete = matcher.is_completed()
        rules = tuple(matcher.compiled.rules_at(matcher.state))
        words = new_bitmask(1, width)
        began = time.perf_counter()
        matcher.fill_next_token_bitmask(words, 0)
        mask_seconds = time.perf_counter() - began
        allowed = matcher.allowed_token_count()
        kept = remove_illegal(logits[None].clone(), words)[0]
        legal = kept > -math.inf
        masked = torch.softmax(kept, -1)
        removed = max(0.0, float(1.0 - raw[legal].sum()))
        matcher.accept_token(token)
    best, ids = torch.topk(masked, min(top, width))
    chosen = tuple((i, p) for i, p in zip(ids.tolist(), best.tolist(), strict=True) if p > 0.0)
    best, ids = torch.topk(raw, min(top, width))
    wanted = tuple((i, p, bool(legal[i])) for i, p in zip(ids.tolist(), best.tolist(), strict=True))
    return Look(token, float(masked[token]), float(raw[token]), removed, allowed, chosen, wanted, rules, complete,
                mask_seconds, lens)
