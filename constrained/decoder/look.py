"""Reading a finished output once more: probabilities before and after the mask, and the logit lens, token by token.

One pass over prompt and output in chunks, with a fresh matcher stepped along. ``probability`` and ``raw_probability``
are the mask's and the model's; what the sampler adds (penalties, temperature, truncation) is told stage by stage.

Cost: a forward pass over all tokens (or the passes of the generation once more), an output head for each output token
and shown layer, and ``CHUNK * V`` floats of memory for each layer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from constrained.decoder.bitmask import new_bitmask, remove_illegal
from constrained.decoder.chain import Row
from constrained.decoder.guide import Legal
from constrained.decoder.history import TokenHistory
from constrained.decoder.sampling_params import RequestError, SamplingParams
from constrained.decoder.stages import Stage, stages

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.engine.matcher import GrammarMatcher

__all__ = ["Look", "Sampler", "look"]

CHUNK = 128
"""Positions read at once."""

PROMPT_CHUNK = 512
"""Of the prompt, where the passes of the generation are known: as the scheduler reads it."""


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
    stages: tuple[Stage, ...] = ()
    """What each stage of the sampler did after the mask; none where no sampler was given or it was not asked."""


class Sampler:
    """How the output was chosen, for the stages: the parameters, and where the sampler was not asked.

    Args:
        forced: for each output token whether the grammar forced it.
        free: what free text may hold (ids that are never written are removed before the first stage).
        end_ids: ids that are banned before ``params.min_tokens``.
    """

    def __init__(self, params: SamplingParams, forced: Sequence[bool], free: Legal | None = None,
                 end_ids: Sequence[int] = ()) -> None:
        self.params = params
        self.forced = forced
        self.free = free
        self.end_ids = tuple(end_ids)


@torch.inference_mode()
def look(model: BaseDecoder, prompt: Sequence[int], output: Sequence[int], *, matcher: GrammarMatcher | None = None,
         layers: Sequence[int] = (), top: int = 6, sampler: Sampler | None = None,
         passes: Sequence[int] = ()) -> list[Look]:
    """A ``Look`` at each token of ``output``. ``matcher`` stands at the beginning of the output, and is moved along it.

    With a ``sampler`` each token that it chose has its stages. ``passes``: how many tokens each forward pass of the
    generation read, from the end on (what comes before is read in chunks). Kernels may round otherwise for one
    token than for many, quantized ones visibly, so only the same passes give the probabilities that were sampled from.

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
    history = None if sampler is None else TokenHistory(prompt, sampler.params, model.config.vocab_size)
    for start, end in _spans(len(tokens) - 1, passes):
        chunk = tokens[start:end]
        keep = max(0, start + len(chunk) - max(start, len(prompt) - 1))
        out = model(torch.tensor([chunk], device=model.device), cache=cache, slots=[slot], lengths=[start],
                    n_new=[len(chunk)], logits_to_keep=keep, return_hidden=hidden if keep else False, with_logits=False)
        if not keep:
            continue
        logits = model.head(out.hidden[deepest][0]).float().cpu()
        views = _views(model, [out.hidden[layer][0] for layer in layers])
        for row in range(keep):
            lens = tuple(view[row] for view in views)
            number = len(found)
            looked, kept = _one(output[number], logits[row], matcher, top, lens)
            if sampler is not None and history is not None:
                if not sampler.forced[number]:
                    looked = replace(looked, stages=_stages(kept, looked.token, sampler, history, matcher, top))
                history.append(looked.token)
            found.append(looked)
    return found


def _spans(count: int, passes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """What each pass reads of ``count`` tokens; the last of ``passes`` ends with the last token, which none reads."""
    behind = max(0, count + 1 - sum(passes))
    chunk = PROMPT_CHUNK if passes else CHUNK
    for start in range(0, behind, chunk):
        yield start, min(start + chunk, behind, count)
    for size in passes:
        if behind < count and size > 0:
            yield behind, min(behind + size, count)
        behind += size


def _stages(kept: Tensor, token: int, sampler: Sampler, history: TokenHistory, matcher: GrammarMatcher | None,
            top: int) -> tuple[Stage, ...]:
    if matcher is None and sampler.free is not None:
        kept = remove_illegal(kept[None].clone(), sampler.free.bitmask((kept.shape[0] + 31) // 32)[None])[0]
    ends = sampler.end_ids if history.n_output < sampler.params.min_tokens else ()
    return tuple(stages(Row(kept, sampler.params, history, 0, end_ids=ends), token, top=top))


def _views(model: BaseDecoder, hidden: list[Tensor]) -> list[list[tuple[int, float]]]:
    """The likeliest token at each position after each layer; layers go through the head together, as memory allows."""
    found: list[list[tuple[int, float]]] = []
    together = max(1, CHUNK // len(hidden[0])) if hidden else 1
    for start in range(0, len(hidden), together):
        part = hidden[start : start + together]
        best = _best(model.head(torch.cat(part)))
        found += [best[i * len(part[0]) : (i + 1) * len(part[0])] for i in range(len(part))]
    return found


def _best(logits: Tensor) -> list[tuple[int, float]]:
    best, ids = torch.softmax(logits.float(), -1).max(-1)
    return list(zip(ids.tolist(), best.tolist(), strict=True))


def _one(token: int, logits: Tensor, matcher: GrammarMatcher | None, top: int,
         lens: tuple[tuple[int, float], ...]) -> tuple[Look, Tensor]:
    """A token, and the logits under the mask."""
    width = logits.shape[-1]
    raw = torch.softmax(logits, -1)
    masked, kept, allowed, complete = raw, logits, width, False
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
                mask_seconds, lens), kept
