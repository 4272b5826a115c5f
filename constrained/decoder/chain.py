"""The sampler chain: mask first, then one documented order of penalties, bans, temperature and truncation.

Order, after the grammar's mask (illegal logits are ``-inf`` before anything else and stay so):

- ``"hf"`` (transformers): logit bias, repetition, frequency and presence penalties, n-gram ban, end-token ban
  (``min_tokens``); then, unless greedy: temperature, top-k, top-p, min-p, typical, epsilon, eta.
- ``"vllm"``: n-gram ban, end-token ban, logit bias, repetition, frequency and presence penalties; then, unless
  greedy: temperature, min-p, top-k, top-p, typical, epsilon, eta (the last three are not vLLM's).

The two keep different sets in about half of all draws where several truncations are on: the order is part of
the request.

**The constraint wins.** A ban that would remove the last legal token of a row is lifted for that step and
counted; bans are tried one after the other in the order above.

Shape: a row is ``[1, n]`` float32, over the whole vocabulary (``ids`` None) or over ascending allowed ``ids``
``[n]`` only (compact). The law is the same; the noise is addressed by token id, so the drawn token is the same
too. Rows of equal width and equal parameters are warped and drawn together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from constrained.decoder import samplers
from constrained.decoder.history import TokenHistory
from constrained.decoder.noise import SPREAD, gumbel, gumbel_row
from constrained.decoder.sampling_params import SamplingError, SamplingParams
from constrained.decoder.transfer import download, upload

__all__ = ["Choice", "Row", "add_bias", "ban", "check_choice", "choose", "choose_largest", "penalise", "pick", "warp"]

NEG_INF = -math.inf

TOP_P_CANDIDATES = (256, 4096)
"""Candidates tried before a full sort in top-p; real models rarely need more."""


@dataclass(slots=True)
class Row:
    """One position to choose a token for. ``logits``: float32 ``[n]``, masked."""

    logits: Tensor
    params: SamplingParams
    history: TokenHistory
    key: int
    """Key of the random stream (:func:`.noise.request_key`)."""
    ids: Tensor | None = None
    """Ascending int64 ``[n]``; None: column j is id j."""
    end_ids: Sequence[int] = ()
    """Ids banned at this step because the output may not end yet."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen token. ``error`` is set instead where the row had nothing to choose from."""

    token: int
    lifted: int = 0
    error: str | None = None


def choose(rows: Sequence[Row]) -> list[Choice]:
    """Choose one token for every row. Synchronises with the device once.

    A row whose logits are NaN, ``+inf`` or all ``-inf`` gets a choice with ``error`` set; the others are not
    disturbed. On a CPU each row goes through alone: it stays in the cache, and there is no kernel launch to share.
    """
    if rows and rows[0].logits.is_cpu:
        return [_choose_one(row) for row in rows]
    prepared = [penalise(row) for row in rows]
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(_group_key(row, prepared[i][0]), []).append(i)
    tokens: list[Tensor] = []
    order: list[int] = []
    for members in groups.values():
        tokens.append(_choose_group([rows[i] for i in members], [prepared[i][0] for i in members]))
        order.extend(members)
    lifted = [flag for _, flags in prepared for flag in flags]
    answers = download(torch.cat([*tokens, *(flag.view(1).long() for flag in lifted)]))
    counts = answers[len(rows) :]
    choices: list[Choice] = [Choice(-1)] * len(rows)
    cursor = 0
    lifted_of = []
    for _, flags in prepared:
        lifted_of.append(sum(counts[cursor : cursor + len(flags)]))
        cursor += len(flags)
    for i, token in zip(order, answers[: len(rows)], strict=True):
        choices[i] = Choice(token, lifted_of[i], _ERRORS.get(token))
    return choices


_ERRORS = {
    -1: "no token is left to choose from: every logit is -inf",
    -2: "the logits hold NaN or +inf",
}


def _nothing(largest: float, lifted: int = 0) -> Choice:
    """The choice of a row whose largest logit is no finite number."""
    token = -1 if largest == NEG_INF else -2
    return Choice(token, lifted, _ERRORS[token])


def _choose_one(row: Row) -> Choice:
    """The choice of one row on the CPU."""
    logits, flags = penalise(row)
    lifted = sum(int(flag) for flag in flags) if flags else 0
    values = logits[0].detach().float().numpy()
    greedy = row.params.greedy
    column = int(values.argmax()) if greedy else -1  # the first of equals; the first NaN where there is one
    top = float(values[column]) if greedy else float(values.max())
    if not math.isfinite(top):
        return _nothing(top, lifted)
    if not greedy:
        column = _draw_one(logits, row)
    return Choice(column if row.ids is None else int(row.ids[column]), lifted)


def choose_largest(logits: Tensor) -> list[Choice]:
    """What ``choose`` gives for greedy rows without penalties, biases or bans: ``logits [B, V]`` (masked) on a CPU."""
    values = logits.float().numpy()
    columns = values.argmax(axis=1)
    largest = values[np.arange(len(values)), columns]
    choices = [Choice(column) for column in columns.tolist()]
    for row in np.flatnonzero(~np.isfinite(largest)).tolist():
        choices[row] = _nothing(float(largest[row]))
    return choices


def _group_key(row: Row, logits: Tensor) -> tuple[object, ...]:
    """Rows with equal keys go through one call."""
    p = row.params
    ids = row.ids is None or id(row.ids)
    if p.greedy:
        return ("greedy", logits.shape[1], ids)
    return (p.order, p.temperature, p.top_k, p.top_p, p.min_p, p.typical_p, p.epsilon_cutoff, p.eta_cutoff,
            logits.shape[1], ids)


def _choose_group(rows: Sequence[Row], prepared: Sequence[Tensor]) -> Tensor:
    """Tokens int64 ``[B]`` of rows with equal width, ids and warpers; below zero where ``_ERRORS`` says why."""
    logits = prepared[0] if len(prepared) == 1 else torch.cat(list(prepared))
    ids = rows[0].ids
    largest = logits.amax(dim=-1)
    columns = samplers.greedy(logits) if rows[0].params.greedy else _draw(logits, rows)
    tokens = columns if ids is None else ids[columns]
    tokens = torch.where(largest == NEG_INF, -1, tokens)
    return torch.where(largest.isnan() | (largest == math.inf), -2, tokens)


def _draw(logits: Tensor, rows: Sequence[Row]) -> Tensor:
    """Columns ``[B]`` drawn from rows with equal parameters, without waiting for the device."""
    ids, device = rows[0].ids, logits.device
    warped, kept = warp(logits, rows[0].params)
    keys = upload([row.key for row in rows], device, torch.long)
    positions = upload([row.history.n_output for row in rows], device, torch.long)
    if kept is None:
        noise_ids = ids if ids is not None else torch.arange(logits.shape[1], device=device)
        return (warped + gumbel(keys, positions, noise_ids)).argmax(dim=-1)
    columns = (warped + gumbel(keys, positions, kept if ids is None else ids[kept])).argmax(dim=-1)
    return kept.gather(1, columns.unsqueeze(1)).squeeze(1)


def _draw_one(logits: Tensor, row: Row) -> int:
    """The column of one row on the CPU: noise only for columns that can still win."""
    warped, kept = warp(logits, row.params)
    values = warped[0]
    hopeful = np.flatnonzero((values > float(values.amax()) - SPREAD).numpy())
    columns = torch.from_numpy(hopeful)
    if len(hopeful) < values.shape[0]:
        values = values[columns]
    if kept is not None:
        columns = kept[0][columns]
    ids = columns if row.ids is None else row.ids[columns]
    noisy = gumbel_row(row.key, row.history.n_output, ids.numpy()).add_(values)
    return int(columns[int(noisy.numpy().argmax())])


# -- penalties and bans of one row --------------------------------------------------------------------------


def penalise(row: Row) -> tuple[Tensor, list[Tensor]]:
    """Bias, penalties and bans of one row: logits ``[1, n]`` and a bool scalar for each ban tried (lifted?)."""
    logits = row.logits.unsqueeze(0)
    p = row.params
    flags: list[Tensor] = []
    if p.unpenalised and not row.end_ids:
        return logits, flags
    if p.order == "hf":
        logits = add_bias(logits, row, flags)
        logits = _penalties(logits, row)
        logits = ban(logits, row, row.history.ngram_bans(), flags)
        return ban(logits, row, row.end_ids, flags), flags
    logits = ban(logits, row, row.history.ngram_bans(), flags)
    logits = ban(logits, row, row.end_ids, flags)
    return _penalties(add_bias(logits, row, flags), row), flags


def _penalties(logits: Tensor, row: Row) -> Tensor:
    p, history = row.params, row.history
    if history.counts_all is not None:
        seen = pick(history.counts_all, row.ids) > 0
        logits = samplers.apply_repetition_penalty(logits, seen.unsqueeze(0), p.repetition_penalty)
    if history.counts_output is not None:
        counts = pick(history.counts_output, row.ids).unsqueeze(0)
        if p.frequency_penalty != 0.0:
            logits = samplers.apply_frequency_penalty(logits, counts, p.frequency_penalty)
        if p.presence_penalty != 0.0:
            logits = samplers.apply_presence_penalty(logits, counts, p.presence_penalty)
    return logits


def pick(values: Tensor, ids: Tensor | None) -> Tensor:
    """A vector over the vocabulary as one over the columns of a row."""
    return values if ids is None else values[ids]


def add_bias(logits: Tensor, row: Row, flags: list[Tensor]) -> Tensor:
    """``logit_bias``: what is finite is added, what is ``-inf`` is banned; a flag for the ban: was it lifted?"""
    finite = [(i, bias) for i, bias in row.params.bias_items if bias != NEG_INF]
    if finite:
        columns, kept = _columns([i for i, _ in finite], row, logits)
        if kept:
            values = upload([finite[j][1] for j in kept], logits.device, logits.dtype)
            logits = samplers.apply_bias(logits, columns, values)
    return ban(logits, row, row.params.bans, flags)


def ban(logits: Tensor, row: Row, ids: Sequence[int], flags: list[Tensor]) -> Tensor:
    """Remove ``ids``, unless nothing would be left; a flag where the row has some of them: was it lifted?"""
    if not ids:
        return logits
    columns, kept = _columns(ids, row, logits)
    if not kept:
        return logits
    logits, lifted = samplers.ban_tokens(logits, columns)
    # a row that was empty before the ban is an error of its own, not a lifted ban
    flags.append(lifted[0] & (logits.amax() > NEG_INF))
    return logits


def _columns(ids: Sequence[int], row: Row, logits: Tensor) -> tuple[Tensor, list[int]]:
    """Columns of those ``ids`` that the row has, and which of ``ids`` they are."""
    width = logits.shape[1]
    if row.ids is None:
        kept = [j for j, i in enumerate(ids) if i < width]
        return upload([ids[j] for j in kept], logits.device, torch.long), kept
    wanted = upload(list(ids), logits.device, torch.long)
    columns = torch.searchsorted(row.ids, wanted)
    found = row.ids[columns.clamp(max=width - 1)] == wanted
    kept = found.nonzero().flatten().tolist()
    return columns[found], kept


# -- temperature and truncation -----------------------------------------------------------------------------


def warp(logits: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor | None]:
    """Temperature and truncation of rows ``[B, n]`` with equal parameters.

    Returns either ``[B, n]`` and None, or, where top-k or top-p left few columns, ``[B, k]`` and the columns
    ``[B, k]`` they belong to. Off ties at a border the kept set is that of the plain functions of
    :mod:`.samplers` in the documented order, up to the rounding of a sum.
    """
    logits = samplers.temper(logits, params.temperature) if params.temperature != 1.0 else logits
    columns: Tensor | None = None
    if params.order == "vllm" and params.min_p > 0.0:
        logits = samplers.min_p_filter(logits, params.min_p)
    if 0 < params.top_k < logits.shape[1]:
        logits, columns = _top_k(logits, params.top_k)
    if params.top_p < 1.0:
        if columns is None:
            logits, columns = _top_p(logits, params.top_p)
        else:
            logits = samplers.top_p_filter(logits, params.top_p)
    if params.order == "hf" and params.min_p > 0.0:
        logits = samplers.min_p_filter(logits, params.min_p)
    if params.typical_p < 1.0:
        logits = samplers.typical_filter(logits, params.typical_p)
    if params.epsilon_cutoff > 0.0:
        logits = samplers.epsilon_filter(logits, params.epsilon_cutoff)
    if params.eta_cutoff > 0.0:
        logits = samplers.eta_filter(logits, params.eta_cutoff)
    return logits, columns


def _top_k(logits: Tensor, k: int) -> tuple[Tensor, Tensor | None]:
    """Top-k as columns, ascending; as a full row where ties at the k-th keep more than k."""
    if not logits.is_cpu:  # looking for ties would wait for the device
        return samplers.top_k_filter(logits, k), None
    values, columns = torch.topk(logits, k)
    if k * 4 > logits.shape[1] or bool(((logits >= values[:, -1:]).sum(dim=-1) != k).any()):
        return samplers.top_k_filter(logits, k), None
    columns, order = columns.sort(dim=-1)
    return values.gather(1, order), columns


def _top_p(logits: Tensor, p: float) -> tuple[Tensor, Tensor | None]:
    """Top-p among the likeliest few hundred or thousand where they hold the mass, else by a sort of the whole row."""
    width = logits.shape[1]
    if logits.is_cpu:  # there looking at the result would wait for the device
        norm = logits.logsumexp(dim=-1, keepdim=True)
        for size in TOP_P_CANDIDATES:
            if width < 4 * size:
                break
            found = _top_p_among(logits, norm, p, size)
            if found is not None:
                return found
    return samplers.top_p_filter(logits, p), None


def _top_p_among(logits: Tensor, norm: Tensor, p: float, size: int) -> tuple[Tensor, Tensor] | None:
    """Top-p from the ``size`` likeliest columns; None where they do not settle it."""
    values, columns = torch.topk(logits, size)  # descending
    probabilities = torch.exp(values - norm)
    before = probabilities.cumsum(dim=-1) - probabilities
    removed = before >= p
    removed[:, 0] = False
    last = values.masked_fill(removed, math.inf).amin(dim=-1, keepdim=True)
    # Settled when a candidate was removed and no tie with the last kept one was.
    settled = removed[:, -1] & ((logits >= last).sum(dim=-1) == (~removed).sum(dim=-1))
    if not bool(settled.all()):
        return None
    columns, order = columns.sort(dim=-1)
    return values.masked_fill(removed, NEG_INF).gather(1, order), columns


def check_choice(choice: Choice) -> int:
    """The token of ``choice``; raises :class:`SamplingError` where there is none."""
    if choice.error is not None:
        raise SamplingError(choice.error)
    return choice.token
