"""``sample``: one call from logits to token ids, with every filter of the chain.

For loops written by hand. The generation loop calls :func:`constrained.decoder.chain.choose` itself, with one
row per request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from constrained.decoder.bitmask import remove_illegal
from constrained.decoder.chain import Row, check_choice, choose
from constrained.decoder.history import TokenHistory
from constrained.decoder.noise import fresh_seed, request_key
from constrained.decoder.sampling_params import Order, SamplingError, SamplingParams

__all__ = ["sample"]


def sample(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    *,
    min_p: float = 0.0,
    typical_p: float = 1.0,
    epsilon_cutoff: float = 0.0,
    eta_cutoff: float = 0.0,
    repetition_penalty: float = 1.0,
    frequency_penalty: float = 0.0,
    presence_penalty: float = 0.0,
    no_repeat_ngram_size: int = 0,
    logit_bias: Mapping[int, float] | None = None,
    order: Order = "hf",
    mask: Tensor | NDArray[Any] | None = None,
    ids: Tensor | None = None,
    tokens: Sequence[Sequence[int]] | None = None,
    n_prompt: Sequence[int] | None = None,
    generator: torch.Generator | Sequence[torch.Generator] | None = None,
    seed: int | Sequence[int] | None = None,
) -> Tensor:
    """Draw one token id per row; greedy where ``temperature`` is 0.

    Args:
        logits: float ``[B, V]`` or ``[V]``; with ``ids``, ``[B, k]`` or ``[k]``.
        mask: what is legal: bool ``[B, V]`` (True = legal) or a packed int32 bitmask ``[B, ceil(V/32)]``.
            Applied before anything else.
        ids: ascending int64 ``[k]``, the token id of each column (compact sampling).
        tokens: past tokens of each row, for penalties and n-grams; ``n_prompt`` of them are the prompt
            (default: all), the rest counts as output for frequency and presence penalties.
        generator: one generator, or one a row; each row takes one draw from its own.
        seed: instead of a generator: one int, or one a row. The same seed and logits give the same token.

    Returns:
        int64 ``[B]``, or a scalar tensor where ``logits`` is one row.

    Raises:
        SamplingError: contradictory parameters; wrong shapes; a row with NaN, ``+inf`` or nothing legal.
    """
    params = SamplingParams(
        temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, typical_p=typical_p,
        epsilon_cutoff=epsilon_cutoff, eta_cutoff=eta_cutoff, repetition_penalty=repetition_penalty,
        frequency_penalty=frequency_penalty, presence_penalty=presence_penalty,
        no_repeat_ngram_size=no_repeat_ngram_size, logit_bias=logit_bias or (), order=order)
    if not isinstance(logits, Tensor) or logits.ndim not in (1, 2) or not logits.is_floating_point():
        raise SamplingError("logits must be a floating point tensor [B, V] or [V]")
    if generator is not None and seed is not None:
        raise SamplingError("give a generator or a seed, not both")
    batch = logits.unsqueeze(0) if logits.ndim == 1 else logits
    n_rows, width = batch.shape
    if width == 0:
        raise SamplingError("logits have no column")
    rows = batch.float()
    if mask is not None:
        rows = _masked(rows, mask)
    if ids is not None and (ids.shape != (width,) or bool((ids[1:] <= ids[:-1]).any())):
        raise SamplingError(f"ids must be {width} ascending token ids, one per column")
    past = [()] * n_rows if tokens is None else tokens
    prompt_lengths = [len(row) for row in past] if n_prompt is None else n_prompt
    if len(past) != n_rows or len(prompt_lengths) != n_rows:
        raise SamplingError(f"tokens and n_prompt must have one entry for each of {n_rows} rows")
    keys = _keys(n_rows, generator, seed)
    vocab = width if ids is None else int(ids[-1]) + 1
    todo: list[Row] = []
    for i in range(n_rows):
        history = TokenHistory(past[i][: prompt_lengths[i]], params, vocab, rows.device)
        history.extend(past[i][prompt_lengths[i] :])
        todo.append(Row(rows[i], params, history, keys[i], ids=ids))
    chosen = [check_choice(choice) for choice in choose(todo)]
    answer = torch.tensor(chosen, dtype=torch.long, device=logits.device)
    return answer[0] if logits.ndim == 1 else answer


def _masked(rows: Tensor, mask: Tensor | NDArray[Any]) -> Tensor:
    given = torch.from_numpy(mask) if isinstance(mask, np.ndarray) else mask
    given = given.unsqueeze(0) if given.ndim == 1 else given
    if given.dtype == torch.bool and given.shape == rows.shape:
        return torch.where(given.to(rows.device), rows, -math.inf)
    if given.dtype == torch.int32 and given.shape == (rows.shape[0], (rows.shape[1] + 31) // 32):
        return remove_illegal(rows, given)
    raise SamplingError(f"a mask for logits {list(rows.shape)} is bool of that shape or int32 "
                        f"[{rows.shape[0]}, {(rows.shape[1] + 31) // 32}], not {given.dtype} {list(given.shape)}")


def _keys(n_rows: int, generator: torch.Generator | Sequence[torch.Generator] | None,
          seed: int | Sequence[int] | None) -> list[int]:
    if isinstance(seed, int):
        return [request_key(seed, i) for i in range(n_rows)]
    if seed is not None:
        if len(seed) != n_rows:
            raise SamplingError(f"{len(seed)} seeds for {n_rows} rows")
        return [request_key(s) for s in seed]
    if generator is None:
        return [request_key(fresh_seed()) for _ in range(n_rows)]
    if isinstance(generator, torch.Generator):
        return [_draw(generator) for _ in range(n_rows)]
    if len(generator) != n_rows:
        raise SamplingError(f"{len(generator)} generators for {n_rows} rows")
    return [_draw(one) for one in generator]


def _draw(generator: torch.Generator) -> int:
    return int(torch.randint(1 << 62, (), generator=generator, device=generator.device).item())
