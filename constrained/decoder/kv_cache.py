"""A KV cache of preallocated slots: contiguous rows ``[layers, slots, kv_heads, max_len, head_dim]``.

Each sequence owns one slot; its keys and values lie in one piece, so that attention reads plain views and a decode step
copies nothing. Rolling back is a change of length; forking copies rows. (A paged layout gathered for scaled
dot-product attention costs three to four times as much a layer on a CPU.)

Invariant: positions at and after a slot's length hold finite numbers. Attention of several rows in one call reads up
to the longest row and masks the rest, and a masked NaN would still be a NaN; so a slot is zeroed up to its highest
written position when it is handed out again.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from constrained.decoder.attention import Segment, attend_segments, chunk_mask, length_mask
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.slots import SlotTable
from constrained.decoder.transfer import upload

__all__ = ["AttentionPlan", "KVCache"]

MAX_WASTE = 1.25
"""Rows share one attention call while it reads at most this many times the keys they need."""


class KVCache(SlotTable):
    """Keys and values of up to ``n_slots`` sequences of up to ``max_len`` tokens.

    Bytes: ``2 * layers * n_slots * kv_heads * max_len * head_dim * itemsize``.
    """

    def __init__(self, config: CoreConfig, n_slots: int, max_len: int, dtype: torch.dtype = torch.float32,
                 device: torch.device | str = "cpu") -> None:
        super().__init__(config, n_slots, max_len, dtype, device)
        self._written = [0] * n_slots

    def plan(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> AttentionPlan:
        self.prepare(slots, lengths, n_new)
        return AttentionPlan(self, slots, lengths, n_new)

    def prepare(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        """Roll rows back to ``lengths`` and note how far they will be written, before a pass writes them."""
        self.rewind(slots, lengths)
        for slot, length, new in zip(slots, lengths, n_new, strict=True):
            self._written[slot] = max(self._written[slot], length + new)

    def _shape(self, config: CoreConfig, n_slots: int, max_len: int) -> tuple[int, ...]:
        return config.n_layers, n_slots, config.n_kv_heads, max_len, config.head_dim

    def _clear(self, slot: int) -> None:
        super()._clear(slot)
        if written := self._written[slot]:
            self.keys[:, slot, :, :written] = 0
            self.values[:, slot, :, :written] = 0
            self._written[slot] = 0

    def _copy(self, src: int, dst: int, length: int) -> None:
        self.keys[:, dst, :, :length] = self.keys[:, src, :, :length]
        self.values[:, dst, :, :length] = self.values[:, src, :, :length]
        self._written[dst] = max(self._written[dst], length)


class AttentionPlan:
    """One forward pass over a :class:`KVCache`: where new keys go, and the segments of each window size."""

    def __init__(self, cache: KVCache, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        self._cache = cache
        self._slots = slots
        self._lengths = lengths
        self._n_new = n_new
        self._segments: dict[int | None, list[Segment]] = {}
        if len(slots) == 1:
            slot, start, end = slots[0], lengths[0], lengths[0] + n_new[0]
            # [kv_heads, n, head_dim] a layer, seen as [n, kv_heads, head_dim]
            self._key_target = cache.keys[:, slot, :, start:end].transpose(1, 2).unbind(0)
            self._value_target = cache.values[:, slot, :, start:end].transpose(1, 2).unbind(0)
        else:
            rows: list[int] = []
            positions: list[int] = []
            for slot, length, new in zip(slots, lengths, n_new, strict=True):
                rows += [slot] * new
                positions += range(length, length + new)
            self._rows = upload(rows, cache.device)
            self._positions = upload(positions, cache.device)

    def write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        if len(self._slots) == 1:
            self._key_target[layer].copy_(key)
            self._value_target[layer].copy_(value)
        else:
            self._cache.keys[layer][self._rows, :, self._positions] = key
            self._cache.values[layer][self._rows, :, self._positions] = value

    def attend(self, layer: int, query: torch.Tensor, scale: float, window: int | None) -> torch.Tensor:
        segments = self._segments.get(window)
        if segments is None:
            segments = self._segments[window] = self._build(window)
        return attend_segments(segments, layer, query, scale)

    def _build(self, window: int | None) -> list[Segment]:
        segments: list[Segment] = []
        start = row = 0
        while row < len(self._slots):
            stop = self._run_end(row)
            end = start + sum(self._n_new[row:stop])
            segments.append(self._segment(row, stop, start, end, window))
            row, start = stop, end
        return segments

    def _run_end(self, row: int) -> int:
        """Rows ``row : end`` go into one call: single tokens, neighbouring slots, little padding."""
        if self._n_new[row] != 1:
            return row + 1
        longest = total = self._lengths[row] + 1
        end = row + 1
        while end < len(self._slots) and self._n_new[end] == 1 and self._slots[end] == self._slots[end - 1] + 1:
            longest, total = max(longest, self._lengths[end] + 1), total + self._lengths[end] + 1
            if longest * (end - row + 1) > MAX_WASTE * total:
                break
            end += 1
        return end

    def _segment(self, row: int, stop: int, start: int, end: int, window: int | None) -> Segment:
        cache, rows, count = self._cache, stop - row, self._n_new[row]
        lengths = [length + count for length in self._lengths[row:stop]]
        key_end = max(lengths)
        key_start = 0 if window is None else max(0, min(lengths) - count + 1 - window)
        slot = self._slots[row]
        if rows == 1:
            mask, causal = chunk_mask(self._lengths[row], count, key_start, key_end, window, cache.group, cache.dtype,
                                      cache.device)
        else:
            uneven = min(lengths) != key_end
            mask = length_mask(lengths, key_start, key_end, window, cache.dtype, cache.device) if uneven else None
            causal = False
        return Segment(start, end, rows, cache.keys[:, slot : slot + rows, :, key_start:key_end].unbind(0),
                       cache.values[:, slot : slot + rows, :, key_start:key_end].unbind(0), mask, causal)
