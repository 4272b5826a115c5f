"""Log-probabilities of chosen tokens: of the masked distribution, and on request of the raw one.

Both are taken before penalties, temperature and truncation, so they say what the model and the grammar think,
not what the sampler did. ``allowed_mass`` is the share of the raw distribution that the mask leaves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from constrained.decoder.transfer import upload

__all__ = ["TokenLogprob", "token_logprob", "token_logprobs"]


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


def token_logprobs(tokens: Sequence[int], logits: Tensor, k: int) -> list[TokenLogprob]:
    """The entries of ``tokens``, each by its row of ``logits`` (float32 ``[n, V]``, no mask)."""
    norm = torch.logsumexp(logits, -1, keepdim=True)
    own = (logits.gather(1, upload(tokens, logits.device, torch.long).unsqueeze(1)) - norm).squeeze(1).tolist()
    if not k:
        return [TokenLogprob(token, value) for token, value in zip(tokens, own, strict=True)]
    best, columns = torch.topk(logits, min(k, logits.shape[1]))
    tops = zip(columns.tolist(), (best - norm).tolist(), strict=True)
    return [TokenLogprob(token, value, tuple(zip(ids, values, strict=True)))
            for token, value, (ids, values) in zip(tokens, own, tops, strict=True)]


def _top(values: Tensor, k: int, ids: Tensor | None) -> tuple[tuple[int, float], ...]:
    if k == 0:
        return ()
    best, columns = torch.topk(values, min(k, values.shape[0]))
    named = columns if ids is None else ids[columns]
    return tuple((i, v) for i, v in zip(named.tolist(), best.tolist(), strict=True) if v > -math.inf)
