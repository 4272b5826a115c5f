"""Log-probabilities of chosen tokens: of the masked distribution, and on request of the raw one.

Both are taken before penalties, temperature and truncation, so they say what the model and the grammar think,
not what the sampler did. ``allowed_mass`` is the share of the raw distribution that the mask leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["TokenLogprob", "token_logprob"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """``top``: the k likeliest (id, log-probability) of the masked distribution, descending.

    ``raw``, ``raw_top`` and ``allowed_mass`` are None unless asked for.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()
    raw: float | None = None
    raw_top: tuple[tuple[int, float], ...] | None = None
    allowed_mass: float | None = None


def token_logprob(token: int, masked: Tensor, k: int, *, ids: Tensor | None = None,
                  raw: Tensor | None = None) -> TokenLogprob:
    """``masked``: float32 ``[n]`` logits, illegal ones ``-inf`` (or absent, with ``ids`` ``[n]`` ascending);
    ``raw``: float32 ``[V]`` logits before the mask."""
    norm = torch.logsumexp(masked, -1)
    column = token if ids is None else int(torch.searchsorted(ids, token))
    logprob = float(masked[column] - norm)
    top = _top(masked - norm, k, ids)
    if raw is None:
        return TokenLogprob(token, logprob, top)
    raw_norm = torch.logsumexp(raw, -1)
    return TokenLogprob(token, logprob, top, float(raw[token] - raw_norm), _top(raw - raw_norm, k, None),
                        min(1.0, math.exp(float(norm - raw_norm))))


def _top(values: Tensor, k: int, ids: Tensor | None) -> tuple[tuple[int, float], ...]:
    if k == 0:
        return ()
    best, columns = torch.topk(values, min(k, values.shape[0]))
    named = columns if ids is None else ids[columns]
    return tuple((i, v) for i, v in zip(named.tolist(), best.tolist(), strict=True) if v > -math.inf)
