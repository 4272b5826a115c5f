"""A single-token pass of fixed shape over all slots of a cache, for ``torch.compile`` and CUDA graphs. Opt-in.

The eager pass reads each row up to its length and launches a dozen small kernels a layer; on a fast GPU launching them
*is* the step's time. Here nothing depends on values the host knows: every slot computes one token each step (idle ones
a throw-away token that is not stored), attention reads whole slots under a mask made on the device, and so one captured
graph or compiled function serves every step.

    model.use_static_step(StaticStep(model, cache, cuda_graph=True))      # or compile_mode="default"

Cost: attention of all ``n_slots * max_len`` positions whatever is in use, so slower than the eager pass on a CPU. The
same function runs eagerly, compiled (both tested on a CPU) and captured (written from torch's documentation, not run).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as functional

from constrained.decoder.errors import ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.slots import SlotTable
from constrained.decoder.transfer import upload

if TYPE_CHECKING:
    from constrained.decoder.models.transformer import DecoderModel

__all__ = ["StaticStep"]


class StaticStep:
    """The step of one model over one cache. ``compile_mode`` is ``torch.compile``'s mode, or None for eager."""

    def __init__(self, model: DecoderModel, cache: KVCache, *, compile_mode: str | None = None,
                 cuda_graph: bool = False) -> None:
        if not isinstance(cache, KVCache):
            raise ModelError("a static step needs a cache of contiguous slots (KVCache)")
        if cuda_graph and cache.device.type != "cuda":
            raise ModelError(f"CUDA graphs need a model and a cache on a CUDA device, not on {cache.device}")
        self._model = model
        self._cache = cache
        self._tables = [table.whole(cache.max_len) for table in model._tables]
        shape = (cache.n_slots,)
        self._tokens = torch.zeros(shape, dtype=torch.long, device=cache.device)
        self._lengths = torch.zeros(shape, dtype=torch.long, device=cache.device)
        self._active = torch.zeros(shape, dtype=torch.bool, device=cache.device)
        self._function: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor] = self._step
        if compile_mode is not None:
            self._function = torch.compile(self._step, fullgraph=True, dynamic=False, mode=compile_mode)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._captured: torch.Tensor | None = None
        if cuda_graph:
            self._capture()

    def serves(self, cache: SlotTable, n_new: Sequence[int], wanted: frozenset[int]) -> bool:
        """Whether a pass is of this step's kind: its cache, one token a row, no hidden states but the last layer's."""
        return (cache is self._cache and max(n_new) == 1
                and wanted <= {self._model.config.n_layers})

    @torch.inference_mode()
    def __call__(self, tokens: torch.Tensor, slots: Sequence[int], lengths: Sequence[int]) -> torch.Tensor:
        """``tokens [B]`` of live slots after ``lengths[b]`` cached ones -> residual stream ``[B, hidden]``.

        Rows must have passed ``check_rows``; the caller commits the new lengths.
        """
        self._cache.prepare(slots, lengths, [1] * len(slots))
        device = self._cache.device
        rows = upload(slots, device)
        self._tokens[rows] = tokens
        self._lengths[rows] = upload(lengths, device)
        self._active.zero_()
        self._active[rows] = True
        if self._graph is None:
            hidden = self._function(self._tokens, self._lengths, self._active)
        else:
            self._graph.replay()
            assert self._captured is not None
            hidden = self._captured
        return hidden[rows]

    def _step(self, tokens: torch.Tensor, lengths: torch.Tensor, active: torch.Tensor) -> torch.Tensor:
        """All slots: ``tokens``, ``lengths``, ``active`` ``[n_slots]`` -> ``[n_slots, hidden]``."""
        model = self._model
        positions = torch.where(active, lengths, 0)
        plan = _StaticPlan(self._cache, positions, active)
        ropes = [(cos[positions].unsqueeze(1), sin[positions].unsqueeze(1)) for cos, sin in self._tables]
        x = model._embed(tokens)
        for index in range(model.config.n_layers):
            x = model._layer(index, x, ropes, plan)
        return x

    def _capture(self) -> None:
        """Warm up on a side stream, then record (torch's notes on CUDA graphs). All slots are idle meanwhile."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.inference_mode():
            for _ in range(3):
                self._function(self._tokens, self._lengths, self._active)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph), torch.inference_mode():
            self._captured = self._function(self._tokens, self._lengths, self._active)


class _StaticPlan:
    """Writes one token a slot where it is active, and attends over whole slots under a mask."""

    def __init__(self, cache: KVCache, positions: torch.Tensor, active: torch.Tensor) -> None:
        self._cache = cache
        self._positions = positions
        self._active = active[:, None, None]
        self._rows = torch.arange(cache.n_slots, device=cache.device)
        self._keys = torch.arange(cache.max_len, device=cache.device)[None, :]
        self._masks: dict[int | None, torch.Tensor] = {}

    def write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        for stored, new in ((self._cache.keys[layer], key), (self._cache.values[layer], value)):
            old = stored[self._rows, :, self._positions]
            stored[self._rows, :, self._positions] = torch.where(self._active, new, old)

    def attend(self, layer: int, query: torch.Tensor, scale: float, window: int | None) -> torch.Tensor:
        slots, heads, width = query.shape
        keys, values = self._cache.keys[layer], self._cache.values[layer]
        grouped = query.view(slots, keys.shape[1], heads // keys.shape[1], width)
        mixed = functional.scaled_dot_product_attention(grouped, keys, values, self._mask(window), scale=scale)
        return mixed.reshape(slots, heads * width)

    def _mask(self, window: int | None) -> torch.Tensor:
        if window not in self._masks:
            hidden = self._keys > self._positions[:, None]
            if window is not None:
                hidden = hidden | (self._keys <= self._positions[:, None] - window)
            mask = torch.zeros(hidden.shape, dtype=self._cache.dtype, device=self._cache.device)
            self._masks[window] = mask.masked_fill(hidden, float("-inf"))[:, None, None]
        return self._masks[window]
