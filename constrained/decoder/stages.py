"""The sampler chain stage by stage: what each did to a row of logits. For looking at, not for the loop.

The stages are those of :mod:`.chain`, in the order that the parameters ask for, by the plain functions of
:mod:`.samplers`; only what is switched on is a stage. The chain itself takes short cuts (few candidates, compact rows)
that keep the same tokens; the tests hold the two together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from constrained.decoder import samplers
from constrained.decoder.chain import Row, add_bias, ban, pick

__all__ = ["Stage", "chain_stages", "stages"]


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage left."""

    name: str
    """The parameter and its value: ``top_p 0.9``."""
    kept: int
    """Tokens that can still come."""
    removed_mass: float
    """Share of the distribution before this stage that lay on the tokens it removed."""
    probability: float
    """Of the token that came, after this stage. 0 after the last: the token limit took another than the sampler."""
    top: tuple[tuple[int, float], ...]
    """The likeliest tokens after it, as (id, probability)."""


def stages(row: Row, token: int, *, top: int = 6) -> list[Stage]:
    """The stages of a full row (``row.ids`` None), the mask that was applied to it not among them."""
    found: list[Stage] = []
    before = row.logits.unsqueeze(0)
    for name, after in chain_stages(row):
        removed = (after == -math.inf) & (before > -math.inf)
        mass = float(before.softmax(-1)[removed].sum())
        probabilities = after[0].softmax(-1)
        best, ids = probabilities.topk(min(top, probabilities.shape[0]))
        likeliest = tuple((i, p) for i, p in zip(ids.tolist(), best.tolist(), strict=True) if p > 0.0)
        found.append(Stage(name, int((after > -math.inf).sum()), mass, float(probabilities[token]), likeliest))
        before = after
    return found


def chain_stages(row: Row) -> Iterator[tuple[str, Tensor]]:
    """Name and logits ``[1, n]`` after each stage that is on."""
    logits = row.logits.unsqueeze(0)
    for name, after in _penalties(logits, row):
        logits = after  # what the filters begin with
        yield name, logits
    if row.params.greedy:
        only = logits.new_full(logits.shape, -math.inf)
        column = samplers.greedy(logits)
        only[0, column] = logits[0, column]
        yield "greedy", only
        return
    yield from _filters(logits, row)


def _penalties(logits: Tensor, row: Row) -> Iterator[tuple[str, Tensor]]:
    p, history = row.params, row.history
    bans = [f"no_repeat_ngram_size {p.no_repeat_ngram_size}", "min_tokens"]
    penalties = [f"repetition_penalty {p.repetition_penalty:g}", f"frequency_penalty {p.frequency_penalty:g}",
                 f"presence_penalty {p.presence_penalty:g}"]
    order = ["logit_bias", *penalties, *bans] if p.order == "hf" else [*bans, "logit_bias", *penalties]
    for name in order:
        flags: list[Tensor] = []
        kind = name.split()[0]
        if kind == "logit_bias" and p.bias_items:
            logits = add_bias(logits, row, flags)
        elif kind == "repetition_penalty" and history.counts_all is not None:
            seen = pick(history.counts_all, row.ids) > 0
            logits = samplers.apply_repetition_penalty(logits, seen.unsqueeze(0), p.repetition_penalty)
        elif kind == "frequency_penalty" and history.counts_output is not None and p.frequency_penalty != 0.0:
            counts = pick(history.counts_output, row.ids).unsqueeze(0)
            logits = samplers.apply_frequency_penalty(logits, counts, p.frequency_penalty)
        elif kind == "presence_penalty" and history.counts_output is not None and p.presence_penalty != 0.0:
            counts = pick(history.counts_output, row.ids).unsqueeze(0)
            logits = samplers.apply_presence_penalty(logits, counts, p.presence_penalty)
        elif kind == "no_repeat_ngram_size" and p.no_repeat_ngram_size:
            logits = ban(logits, row, history.ngram_bans(), flags)
        elif kind == "min_tokens" and row.end_ids:
            logits = ban(logits, row, row.end_ids, flags)
        else:
            continue
        yield name + (" (lifted)" if any(map(bool, flags)) else ""), logits


def _filters(logits: Tensor, row: Row) -> Iterator[tuple[str, Tensor]]:
    p = row.params
    if p.temperature != 1.0:
        logits = samplers.temper(logits, p.temperature)
        yield f"temperature {p.temperature:g}", logits
    for name in ("top_k", "top_p", "min_p") if p.order == "hf" else ("min_p", "top_k", "top_p"):
        if name == "top_k" and 0 < p.top_k < logits.shape[1]:
            logits = samplers.top_k_filter(logits, p.top_k)
        elif name == "top_p" and p.top_p < 1.0:
            logits = samplers.top_p_filter(logits, p.top_p)
        elif name == "min_p" and p.min_p > 0.0:
            logits = samplers.min_p_filter(logits, p.min_p)
        else:
            continue
        yield f"{name} {getattr(p, name):g}", logits
    if p.typical_p < 1.0:
        logits = samplers.typical_filter(logits, p.typical_p)
        yield f"typical_p {p.typical_p:g}", logits
    if p.epsilon_cutoff > 0.0:
        logits = samplers.epsilon_filter(logits, p.epsilon_cutoff)
        yield f"epsilon_cutoff {p.epsilon_cutoff:g}", logits
    if p.eta_cutoff > 0.0:
        logits = samplers.eta_filter(logits, p.eta_cutoff)
        yield f"eta_cutoff {p.eta_cutoff:g}", logits
