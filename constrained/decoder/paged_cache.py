"""A KV cache in pages: blocks of tokens from one pool, and a block table for each slot.

Memory follows the tokens actually held, and slots with a common beginning share its full blocks (a fork copies at most
one). Attention reads the pages in place where torch has ``varlen_attn`` with block tables (CUDA, half precision;
torch 2.12 and later); everywhere else each row's pages are gathered for scaled dot-product attention, which on a CPU
costs three to four times contiguous rows. The CUDA path is written from torch's documentation and has not been run.

Invariants: ``reference_counts[b]`` is the number of tables that list block b, free blocks have none; a slot of n tokens
lists ``ceil(n / block_size)`` blocks, or a few more while a forward pass writes; a block with several references is
never written (it is copied first); so a cached prefix cannot change under another slot.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch

from constrained.decoder.attention import Segment, attend_segments, chunk_mask
from constrained.decoder.errors import CacheError, ModelError
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.slots import SlotTable
from constrained.decoder.transfer import upload

__all__ = ["BlockPool", "PagedCache", "PagedPlan", "reads_pages"]

DEFAULT_BLOCK = 16


class BlockPool:
    """Reference-counted block numbers ``0 .. n_blocks - 1``; the lowest free one is handed out last freed first."""

    def __init__(self, n_blocks: int) -> None:
        self.n_blocks = n_blocks
        self.reference_counts = [0] * n_blocks
        self._free = list(range(n_blocks - 1, -1, -1))

    @property
    def n_free(self) -> int:
        return len(self._free)

    def allocate(self) -> int:
        """A block with one reference. :class:`CacheError` if none is free."""
        if not self._free:
            raise CacheError(f"all {self.n_blocks} blocks of the KV cache are in use")
        block = self._free.pop()
        self.reference_counts[block] = 1
        return block

    def share(self, block: int) -> None:
        """One more reference to a block in use."""
        self.reference_counts[block] += 1

    def release(self, block: int) -> None:
        """One reference less; the last one frees the block."""
        self.reference_counts[block] -= 1
        if not self.reference_counts[block]:
            self._free.append(block)


class PagedCache(SlotTable):
    """Keys and values ``[layers, n_blocks, block_size, kv_heads, head_dim]`` behind the interface of :class:`KVCache`.

    ``n_blocks`` defaults to room for every slot at its longest. With fewer, freed slots that are remembered give their
    blocks up when live ones need them, and a forward pass that still does not fit is a :class:`CacheError` before
    anything is written.
    """

    def __init__(self, config: CoreConfig, n_slots: int, max_len: int, dtype: torch.dtype = torch.float32,
                 device: torch.device | str = "cpu", *, block_size: int = DEFAULT_BLOCK,
                 n_blocks: int | None = None) -> None:
        if block_size < 1 or (n_blocks is not None and n_blocks < 1):
            raise ModelError(f"block_size ({block_size}) and n_blocks ({n_blocks}) must be positive")
        self.block_size = block_size
        self.pool = BlockPool(n_slots * -(-max_len // block_size) if n_blocks is None else n_blocks)
        self._tables: list[list[int]] = [[] for _ in range(n_slots)]
        super().__init__(config, n_slots, max_len, dtype, device)

    def block_table(self, slot: int) -> tuple[int, ...]:
        """Blocks of a slot, in order of position."""
        return tuple(self._tables[slot])

    def check_rows(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        super().check_rows(slots, lengths, n_new)
        needed = freed = 0
        counts, size = self.pool.reference_counts, self.block_size
        for slot, length, new in zip(slots, lengths, n_new, strict=True):
            table, kept = self._tables[slot], -(-length // size)
            needed += -(-(length + new) // size) - kept
            needed += length % size > 0 and counts[table[kept - 1]] > 1  # a shared last block is copied
            freed += sum(counts[block] == 1 for block in table[kept:])
        self._make_room(needed - freed)

    def plan(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> PagedPlan:
        self.rewind(slots, lengths)
        for slot, length, new in zip(slots, lengths, n_new, strict=True):
            self._prepare(slot, length, new)
        return PagedPlan(self, slots, lengths, n_new)

    def _shape(self, config: CoreConfig, n_slots: int, max_len: int) -> tuple[int, ...]:
        return config.n_layers, self.pool.n_blocks, self.block_size, config.n_kv_heads, config.head_dim

    def _make_room(self, needed: int) -> None:
        """Evict remembered free slots, longest free first, until ``needed`` blocks are free."""
        live = {block for slot, table in enumerate(self._tables) if self._live[slot] for block in table}
        if needed > self.pool.n_blocks - len(live):
            raise CacheError(f"{needed} more blocks of {self.block_size} tokens are needed, "
                             f"{self.pool.n_blocks - len(live)} can be freed",
                             hint="free a slot, shorten prompts, or give the cache more blocks")
        while self.pool.n_free < needed:
            retained = [slot for slot in range(self.n_slots) if not self._live[slot] and self._tables[slot]]
            self._clear(min(retained, key=lambda slot: self._freed_at[slot]))

    def _prepare(self, slot: int, length: int, new: int) -> None:
        """Own blocks for positions ``length : length + new``; a shared last block is copied before it is written."""
        table, size = self._tables[slot], self.block_size
        if length % size and self.pool.reference_counts[table[-1]] > 1:
            copied = self.pool.allocate()
            self.keys[:, copied] = self.keys[:, table[-1]]
            self.values[:, copied] = self.values[:, table[-1]]
            self.pool.release(table[-1])
            table[-1] = copied
        while len(table) * size < length + new:
            table.append(self.pool.allocate())

    def _shorten(self, slot: int, length: int) -> None:
        super()._shorten(slot, length)
        table = self._tables[slot]
        while len(table) > -(-length // self.block_size):
            self.pool.release(table.pop())

    def _clear(self, slot: int) -> None:
        self._shorten(slot, 0)

    def _copy(self, src: int, dst: int, length: int) -> None:
        """Share blocks, the last one too where it is partly used: whoever writes it first takes a copy."""
        self._shorten(dst, 0)
        for block in self._tables[src][: -(-length // self.block_size)]:
            self.pool.share(block)
            self._tables[dst].append(block)


class _Gathered(Sequence[torch.Tensor]):
    """A row's pages of any layer as ``[1, kv_heads, length, head_dim]``, gathered when asked for."""

    def __init__(self, pages: torch.Tensor, places: torch.Tensor) -> None:
        self._flat = pages.flatten(1, 2)
        self._places = places

    def __len__(self) -> int:
        return len(self._flat)

    def __getitem__(self, layer: int) -> torch.Tensor:  # type: ignore[override]  # no slices
        return self._flat[layer][self._places].transpose(0, 1).unsqueeze(0)


class PagedPlan:
    """One forward pass over a :class:`PagedCache`."""

    def __init__(self, cache: PagedCache, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        self._cache = cache
        self._slots = slots
        self._lengths = lengths
        self._n_new = n_new
        self._segments: dict[int | None, list[Segment]] = {}
        self._places = [self._row_places(slot, length + new)
                        for slot, length, new in zip(slots, lengths, n_new, strict=True)]
        written = [places[length:] for places, length in zip(self._places, lengths, strict=True)]
        self._targets = upload(np.concatenate(written), cache.device)
        self._pages = _PageArguments(cache, slots, lengths, n_new) if reads_pages(cache.device, cache.dtype) else None

    def write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        self._cache.keys[layer].flatten(0, 1)[self._targets] = key
        self._cache.values[layer].flatten(0, 1)[self._targets] = value

    def attend(self, layer: int, query: torch.Tensor, scale: float, window: int | None) -> torch.Tensor:
        if self._pages is not None:
            return self._pages.attend(layer, query, scale, window)
        segments = self._segments.get(window)
        if segments is None:
            segments = self._segments[window] = self._build(window)
        return attend_segments(segments, layer, query, scale)

    def _row_places(self, slot: int, end: int) -> np.ndarray:
        """Place of each position of a row in the flattened pool."""
        size = self._cache.block_size
        positions = np.arange(end)
        return np.asarray(self._cache.block_table(slot), dtype=np.int64)[positions // size] * size + positions % size

    def _build(self, window: int | None) -> list[Segment]:
        cache, segments, start = self._cache, [], 0
        for places, first, count in zip(self._places, self._lengths, self._n_new, strict=True):
            key_start = 0 if window is None else max(0, first + 1 - window)
            key_end = first + count
            visible = upload(places[key_start:], cache.device)
            mask, causal = chunk_mask(first, count, key_start, key_end, window, cache.group, cache.dtype, cache.device)
            segments.append(Segment(start, start + count, 1, _Gathered(cache.keys, visible),
                                    _Gathered(cache.values, visible), mask, causal))
            start += count
        return segments


def reads_pages(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether attention can read block tables in place: ``varlen_attn`` of torch 2.12, CUDA, half precision."""
    if device.type != "cuda" or dtype not in (torch.float16, torch.bfloat16):
        return False
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return False
    return "block_table" in inspect.signature(varlen_attn).parameters


class _PageArguments:
    """What ``varlen_attn`` wants to know of one forward pass, on the device once for all layers."""

    def __init__(self, cache: PagedCache, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        self._cache = cache
        tables = [cache.block_table(slot) for slot in slots]
        width = max(map(len, tables))
        ends = [length + new for length, new in zip(lengths, n_new, strict=True)]
        self._max_new, self._max_end = max(n_new), max(ends)
        self._table = _int32([[*table, *[0] * (width - len(table))] for table in tables], cache.device)
        self._starts = _int32([0, *accumulate(n_new)], cache.device)
        self._ends = _int32(ends, cache.device)

    def attend(self, layer: int, query: torch.Tensor, scale: float, window: int | None) -> torch.Tensor:
        from torch.nn.attention.varlen import varlen_attn

        mixed = varlen_attn(
            query.contiguous(), self._cache.keys[layer], self._cache.values[layer], self._starts, None, self._max_new,
            self._max_end, scale=scale, window_size=(-1 if window is None else window - 1, 0),
            enable_gqa=self._cache.group > 1, seqused_k=self._ends, block_table=self._table)
        assert isinstance(mixed, torch.Tensor)  # a tuple only where auxiliary outputs were asked for
        return mixed.reshape(len(query), -1)


def _int32(values: Sequence[object], device: torch.device) -> torch.Tensor:
    return upload(values, device, torch.int32)
