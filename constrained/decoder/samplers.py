"""Logit processors and samplers as pure functions over rows of logits.

Shape: ``logits`` is float32 ``[B, V]`` (or ``[B, k]`` over allowed ids only); each function returns a new
tensor and leaves its argument alone. A removed token is ``-inf``, and stays so: no function here makes a
removed token finite again, so a grammar mask applied first holds through the chain.

Filters compute what transformers 5.24 computes, operation by operation, so that off ties the kept set and
the kept values are equal bit for bit (``tests/decoder/test_samplers.py``). Parameters may be Python scalars
or tensors ``[B, 1]`` where the text says so.

Cost, one row of 49,152 on one core of a 2026 server CPU: elementwise functions 0.03-0.1 ms, ``top_p`` and
``typical`` 2-3 ms (a sort), ``top_k`` 0.1 ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from constrained.decoder.sampling_params import SamplingError

__all__ = [
    "apply_bias",
    "apply_frequency_penalty",
    "apply_presence_penalty",
    "apply_repetition_penalty",
    "ban_tokens",
    "epsilon_filter",
    "eta_filter",
    "greedy",
    "min_p_filter",
    "ngram_bans",
    "temper",
    "top_k_filter",
    "top_k_top_p_filter",
    "top_p_filter",
    "typical_filter",
]

NEG_INF = -math.inf


# -- penalties and bans -------------------------------------------------------------------------------------


def apply_repetition_penalty(logits: Tensor, seen: Tensor, penalty: float) -> Tensor:
    """Negative logits of ``seen`` times ``penalty``, others divided by it, once per distinct column.

    ``seen``: bool ``[B, V]``, or int64 ``[n]`` columns for a single row (duplicates are fine).
    Source: Keskar et al. 2019 (CTRL), as in transformers.
    """
    if seen.dtype == torch.bool:
        return torch.where(seen, _penalised(logits, penalty), logits)
    if seen.numel() == 0:
        return logits
    index = seen.unsqueeze(0)
    return logits.scatter(1, index, _penalised(logits.gather(1, index), penalty))


def _penalised(scores: Tensor, penalty: float) -> Tensor:
    return torch.where(scores < 0, scores * penalty, scores / penalty)


def apply_frequency_penalty(logits: Tensor, counts: Tensor, penalty: float) -> Tensor:
    """Subtract ``penalty`` for each occurrence. ``counts``: ``[B, V]`` occurrences in the output (OpenAI)."""
    return logits - penalty * counts.to(logits.dtype)


def apply_presence_penalty(logits: Tensor, counts: Tensor, penalty: float) -> Tensor:
    """Subtract ``penalty`` once where ``counts > 0`` (OpenAI)."""
    return logits - penalty * (counts > 0).to(logits.dtype)


def apply_bias(logits: Tensor, columns: Tensor, bias: Tensor) -> Tensor:
    """Add ``bias`` ``[n]`` (finite) at distinct ``columns`` ``[n]`` of every row. ``-inf`` stays ``-inf``."""
    return logits.index_add(1, columns, bias.expand(logits.shape[0], -1))


def ngram_bans(tokens: Sequence[int], size: int) -> list[int]:
    """Ids that would complete an n-gram of ``tokens`` a second time, ascending.

    Linear in ``len(tokens)``; the loop keeps an index instead for long outputs (:mod:`.history`).
    """
    if size <= 0 or len(tokens) < size:
        return []
    prefix = list(tokens[len(tokens) - size + 1 :])
    return sorted({tokens[i + size - 1] for i in range(len(tokens) - size + 1)
                   if list(tokens[i : i + size - 1]) == prefix})


def ban_tokens(logits: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Remove ``columns`` ``[n]`` from every row unless nothing would be left there.

    Returns the logits and a bool ``[B]``: rows whose ban was lifted (they are unchanged).
    """
    banned = logits.index_fill(1, columns, NEG_INF)
    lifted = (banned == NEG_INF).all(dim=1)
    return torch.where(lifted.unsqueeze(1), logits, banned), lifted


# -- temperature and truncation -----------------------------------------------------------------------------


def temper(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """``logits / temperature``. Raises :class:`SamplingError` unless it is above zero (greedy is not a warp)."""
    if isinstance(temperature, Tensor):
        return logits / temperature
    if not temperature > 0 or math.isinf(temperature):
        raise SamplingError(f"temperature must be a finite number above 0, not {temperature!r}",
                            hint="temperature 0 means greedy in SamplingParams and sample()")
    return logits / float(temperature)


def top_k_filter(logits: Tensor, k: int, *, min_keep: int = 1) -> Tensor:
    """Remove logits below the k-th largest; ties at the k-th are all kept (Fan et al. 2018)."""
    if k <= 0:
        raise SamplingError(f"top_k must be above 0, not {k}")
    k = min(max(k, min_keep), logits.shape[-1])
    kth = torch.topk(logits, k).values[..., -1, None]
    return logits.masked_fill(logits < kth, NEG_INF)


def top_p_filter(logits: Tensor, p: float | Tensor, *, min_keep: int = 1) -> Tensor:
    """Keep the fewest largest probabilities that reach ``p``, the crossing one included (Holtzman et al. 2020).

    Ascending sort, remove where the running sum is ``<= 1 - p``. At a tie across the border the kept ids are
    those with the higher index (the sort is stable); transformers' choice is that of an unstable sort.
    """
    if logits.shape[0] == 1 and logits.device.type == "cpu" and not isinstance(p, Tensor):
        cut = _top_p_cut(logits, p, min_keep)
        if cut is not None:
            return logits.masked_fill(logits < cut, NEG_INF)
    ordered, index = torch.sort(logits, descending=False, stable=True)
    removed = ordered.softmax(dim=-1).cumsum(dim=-1) <= (1 - p)
    removed[..., -min_keep:] = False
    return logits.masked_fill(removed.scatter(1, index, removed), NEG_INF)


def _top_p_cut(logits: Tensor, p: float, min_keep: int) -> float | None:
    """The least logit that top-p keeps of one row, or None where a tie runs across the border.

    Same sums in the same order as above, but numpy sorts the values alone, several times faster than torch sorts values
    with indices. The running sum never falls, so what is removed is a prefix.
    """
    ordered = torch.from_numpy(np.sort(logits.numpy(), axis=-1))
    removed = int((ordered.softmax(dim=-1).cumsum(dim=-1) <= (1 - p)).sum())
    removed = min(removed, logits.shape[-1] - min_keep)
    if removed <= 0:
        return NEG_INF
    cut = float(ordered[0, removed])
    return None if cut == float(ordered[0, removed - 1]) or math.isnan(cut) else cut


def top_k_top_p_filter(logits: Tensor, k: int, p: float, *, min_keep: int = 1) -> Tensor:
    """``top_p_filter(top_k_filter(logits, k), p)`` with a sort of the survivors only.

    The survivors' order and softmax are those of the full row, so the kept set is the same up to the rounding of a sum
    of zeros; without ties at the k-th this sorts k numbers instead of V.
    """
    k = min(max(k, min_keep), logits.shape[-1])
    values, index = torch.topk(logits, k)
    kth = values[..., -1, None]
    if bool(((logits >= kth).sum(dim=-1) != k).any()):  # ties at the k-th: the plain way keeps them all
        return top_p_filter(logits.masked_fill(logits < kth, NEG_INF), p, min_keep=min_keep)
    kept = top_p_filter(values, p, min_keep=min_keep)
    return torch.full_like(logits, NEG_INF).scatter(1, index, kept)


def min_p_filter(logits: Tensor, min_p: float | Tensor, *, min_keep: int = 1) -> Tensor:
    """Remove probabilities below ``min_p`` times the row's largest; equal ones stay (Nguyen et al. 2024)."""
    probabilities = torch.softmax(logits, dim=-1)
    removed = probabilities < min_p * probabilities.amax(dim=-1, keepdim=True)
    if min_keep > 1:  # the largest is never below min_p times itself
        k = min(min_keep, logits.shape[-1])
        removed.scatter_(-1, torch.topk(probabilities, k, dim=-1).indices, False)
    return logits.masked_fill(removed, NEG_INF)


def typical_filter(logits: Tensor, mass: float, *, min_keep: int = 1) -> Tensor:
    """Keep the tokens whose surprise is nearest the entropy, up to ``mass`` (Meister et al. 2022).

    May drop the most likely token. Ties with the last kept deviation are kept.
    """
    normalized = torch.log_softmax(logits, dim=-1)
    entropy = -(normalized * torch.exp(normalized)).nansum(-1, keepdim=True)
    deviation = torch.abs((-normalized) - entropy)
    ordered, index = torch.sort(deviation, descending=False)
    cumulative = logits.gather(-1, index).softmax(dim=-1).cumsum(dim=-1)
    last = (cumulative < mass).sum(dim=1, keepdim=True).clamp_(max=logits.shape[-1] - 1)
    removed = ordered > ordered.gather(1, last)
    removed[..., :min_keep] = False
    return logits.masked_fill(removed.scatter(1, index, removed), NEG_INF)


def epsilon_filter(logits: Tensor, epsilon: float, *, min_keep: int = 1) -> Tensor:
    """Remove probabilities below ``epsilon`` (Hewitt et al. 2022)."""
    return _cutoff(logits, logits.softmax(dim=-1) < epsilon, min_keep)


def eta_filter(logits: Tensor, epsilon: float, *, min_keep: int = 1) -> Tensor:
    """Remove probabilities below ``min(epsilon, sqrt(epsilon) * exp(-H))``, H the entropy (Hewitt et al. 2022)."""
    eps = torch.full((), epsilon, device=logits.device)
    normalized = logits - logits.logsumexp(dim=-1, keepdim=True)
    probabilities = torch.softmax(normalized, dim=-1)
    lowest = torch.finfo(normalized.dtype).min  # 0 * -inf would be NaN
    entropy = -(normalized.clamp(min=lowest) * probabilities).sum(-1)
    eta = torch.min(eps, torch.sqrt(eps) * torch.exp(-entropy))[..., None]
    return _cutoff(logits, logits.softmax(dim=-1) < eta, min_keep)


def _cutoff(logits: Tensor, removed: Tensor, min_keep: int) -> Tensor:
    """Apply a cutoff, but keep every logit not below the ``min_keep``-th largest."""
    k = min(min_keep, logits.shape[-1])
    floor = logits.amax(dim=-1, keepdim=True) if k == 1 else torch.topk(logits, k).values[..., -1, None]
    return logits.masked_fill(removed & (logits < floor), NEG_INF)


# -- choice -------------------------------------------------------------------------------------------------


def greedy(logits: Tensor) -> Tensor:
    """Column of the largest logit of each row, int64 ``[B]``; the lowest column on a tie."""
    if logits.device.type == "cpu":  # ten times faster than torch's, and its docs promise the first of equals
        return torch.from_numpy(logits.detach().float().numpy().argmax(axis=-1))
    return torch.argmax(logits, dim=-1)
