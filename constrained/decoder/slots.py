"""The bookkeeping of a KV cache: which slots are taken, how long each is, which tokens it holds.

A slot is *live* between ``allocate`` and ``free``. Tokens told by ``remember`` stay known after ``free``, so that a
later request with the same beginning finds them, until the slot is handed out again (the one freed longest ago goes
first, slots without remembered tokens before all).

Invariant: remembered tokens of a slot never exceed its length; a truncated or overwritten slot forgets the rest.
Remembered tokens are kept as the bytes of their int64 ids.
Cost: a prefix lookup asks each slot whether it begins with one token more than the best so far, O(slots * prompt) in
``memcmp``; 200 slots take about 30 microseconds.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from constrained.decoder.errors import CacheError, ModelError
from constrained.decoder.models.config import CoreConfig

__all__ = ["Plan", "SlotTable"]

ID_BYTES = 8


class Plan(Protocol):
    """What a cache hands to one forward pass: where new keys go and what each new token sees."""

    def write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        """Store the new tokens' ``[N, kv_heads, head_dim]`` of one layer."""
        ...

    def attend(self, layer: int, query: torch.Tensor, scale: float, window: int | None) -> torch.Tensor:
        """``query [N, heads, head_dim]`` over all cached keys, the new ones included -> ``[N, heads * head_dim]``."""
        ...


class SlotTable:
    """Slots ``0 .. n_slots - 1`` of at most ``max_len`` tokens each. Subclasses lay out ``keys`` and ``values``."""

    def __init__(self, config: CoreConfig, n_slots: int, max_len: int, dtype: torch.dtype,
                 device: torch.device | str) -> None:
        if n_slots < 1 or max_len < 1:
            raise ModelError(f"a cache needs at least one slot of one token, not {n_slots} of {max_len}")
        self._sizes = _sizes(config)
        self.group = config.n_heads // config.n_kv_heads
        shape = self._shape(config, n_slots, max_len)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.n_slots = n_slots
        self.max_len = max_len
        self._lengths = [0] * n_slots
        self._live = [False] * n_slots
        self._tokens: list[bytes | None] = [None] * n_slots
        self._freed_at = [0] * n_slots
        self._clock = 0

    @property
    def n_free(self) -> int:
        """Slots that ``allocate`` can hand out."""
        return self._live.count(False)

    def allocate(self) -> int:
        """An empty live slot. :class:`CacheError` if none is free."""
        free = [slot for slot in range(self.n_slots) if not self._live[slot]]
        if not free:
            raise CacheError(f"all {self.n_slots} slots of the KV cache are taken", hint="free one, or make it larger")
        slot = min(free, key=lambda s: (self._tokens[s] is not None, self._freed_at[s], s))
        self._clear(slot)
        self._live[slot] = True
        return slot

    def free(self, slot: int) -> None:
        """Give a live slot back. What it holds stays findable if it was remembered."""
        self._check_live(slot)
        self._clock += 1
        self._live[slot] = False
        self._freed_at[slot] = self._clock
        if self._tokens[slot] is None:
            self._clear(slot)
            self._freed_at[slot] = 0

    def length(self, slot: int) -> int:
        """Tokens in a live slot."""
        self._check_live(slot)
        return self._lengths[slot]

    def truncate(self, slot: int, length: int) -> None:
        """Roll a live slot back to its first ``length`` tokens."""
        self._check_live(slot)
        if not 0 <= length <= self._lengths[slot]:
            raise ModelError(f"cannot truncate a slot of {self._lengths[slot]} tokens to {length}")
        self._shorten(slot, length)

    def remember(self, slot: int, tokens: Sequence[int] | np.ndarray) -> None:
        """Tell which tokens a live slot holds (its first ``len(tokens)`` ones), for :meth:`longest_prefix`."""
        self._check_live(slot)
        known = np.asarray(tokens, dtype=np.int64).reshape(-1)
        if len(known) > self._lengths[slot]:
            raise ModelError(f"{len(known)} tokens remembered of a slot that holds {self._lengths[slot]}")
        self._tokens[slot] = known.tobytes() or None

    def longest_prefix(self, tokens: Sequence[int] | np.ndarray) -> tuple[int, int]:
        """``(slot, n)``: the slot, live or freed, whose remembered tokens share the longest beginning with ``tokens``,
        and its length. ``(-1, 0)`` if none shares a token. Live slots win ties."""
        wanted = np.asarray(tokens, dtype=np.int64).reshape(-1)
        data = wanted.tobytes()
        best, best_length = -1, 0
        shared, longer = b"", data[:ID_BYTES]  # what the best shares; one token more
        for slot, known in enumerate(self._tokens):
            if known is None:
                continue
            if longer and known.startswith(longer):
                best, best_length = slot, _shared_tokens(known, data)
                shared, longer = data[: best_length * ID_BYTES], data[: (best_length + 1) * ID_BYTES]
                longer = longer if len(longer) > len(shared) else b""
            elif shared and self._live[slot] and not self._live[best] and known.startswith(shared):
                best = slot
        return best, best_length

    def allocate_with_prefix(self, tokens: Sequence[int] | np.ndarray, *, limit: int | None = None) -> tuple[int, int]:
        """A live slot that already holds the first n of ``tokens``, and n (at most ``limit``; by default all but the
        last token, whose logits are still wanted).

        Reuses a freed slot in place where at least half of what it holds goes on being used, or none else is free. Else
        copies: a short beginning that many prompts share (a system message) must not cost the longer one of a few.
        """
        wanted = np.asarray(tokens, dtype=np.int64).reshape(-1)
        limit = max(0, len(wanted) - 1) if limit is None else limit
        source, shared = self.longest_prefix(wanted)
        shared = min(shared, limit)
        if not shared:
            return self.allocate(), 0
        if self._live[source]:
            slot = self.allocate()
            self.copy_prefix(source, slot, shared)
            return slot, shared
        known = self._tokens[source]
        self._live[source] = True
        if self.n_free == 0 or known is None or 2 * shared * ID_BYTES >= len(known):
            self._shorten(source, shared)
            return source, shared
        try:
            slot = self.fork(source, shared)
        finally:
            self.free(source)
        return slot, shared

    def copy_prefix(self, src: int, dst: int, length: int) -> None:
        """Make live slot ``dst`` hold the first ``length`` tokens of live slot ``src``; what ``dst`` held is lost."""
        self._check_live(src)
        self._check_live(dst)
        if not 0 <= length <= self._lengths[src]:
            raise ModelError(f"cannot copy {length} tokens of a slot that holds {self._lengths[src]}")
        if src == dst:
            self._shorten(dst, length)
            return
        self._copy(src, dst, length)
        self._lengths[dst] = length
        known = self._tokens[src]
        self._tokens[dst] = None if known is None else known[: length * ID_BYTES] or None

    def fork(self, src: int, length: int | None = None) -> int:
        """A new live slot with the first ``length`` tokens (all of them) of ``src``."""
        length = self.length(src) if length is None else length
        if not 0 <= length <= self._lengths[src]:
            raise ModelError(f"cannot fork {length} tokens of a slot that holds {self._lengths[src]}")
        slot = self.allocate()
        self.copy_prefix(src, slot, length)
        return slot

    def check_rows(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        """The rows of a forward pass, checked before anything is written."""
        if not len(slots) == len(lengths) == len(n_new) or not slots:
            raise ModelError(f"{len(slots)} slots, {len(lengths)} lengths and {len(n_new)} counts of new tokens differ")
        if len(set(slots)) != len(slots):
            raise ModelError("a slot stands in two rows of one forward pass")
        for slot, length, new in zip(slots, lengths, n_new, strict=True):
            self._check_live(slot)
            if not 0 <= length <= self._lengths[slot]:
                raise ModelError(f"a row says {length} tokens are cached, its slot holds {self._lengths[slot]}")
            if new < 1:
                raise ModelError("a row of a forward pass has no new token", hint="leave such rows out")
            if length + new > self.max_len:
                raise CacheError(f"{length} cached and {new} new tokens do not fit a slot of {self.max_len}",
                                 hint="shorten the prompt, or make the cache longer")

    @property
    def dtype(self) -> torch.dtype:
        """Of keys and values."""
        return self.keys.dtype

    @property
    def device(self) -> torch.device:
        """Where keys and values lie."""
        return self.keys.device

    @property
    def n_bytes(self) -> int:
        """Memory of keys and values."""
        return 2 * self.keys.numel() * self.keys.element_size()

    def fits(self, config: CoreConfig) -> bool:
        """Whether a model of these layers and heads can use this cache."""
        return self._sizes == _sizes(config)

    def plan(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> Plan:
        """How one forward pass writes and reads this cache. Rows must have passed :meth:`check_rows`."""
        raise NotImplementedError

    def rewind(self, slots: Sequence[int], lengths: Sequence[int]) -> None:
        """Roll rows back to where they will be written; what was remembered beyond is forgotten."""
        for slot, length in zip(slots, lengths, strict=True):
            self._shorten(slot, length)

    def commit(self, slots: Sequence[int], ends: Sequence[int]) -> None:
        """New lengths of live slots after their keys and values were written."""
        for slot, end in zip(slots, ends, strict=True):
            self._lengths[slot] = end

    def _shorten(self, slot: int, length: int) -> None:
        self._lengths[slot] = length
        known = self._tokens[slot]
        if known is not None and len(known) > length * ID_BYTES:
            self._tokens[slot] = known[: length * ID_BYTES] or None

    def _clear(self, slot: int) -> None:
        self._lengths[slot] = 0
        self._tokens[slot] = None

    def _shape(self, config: CoreConfig, n_slots: int, max_len: int) -> tuple[int, ...]:
        """Of ``keys`` and ``values``."""
        raise NotImplementedError

    def _copy(self, src: int, dst: int, length: int) -> None:
        raise NotImplementedError

    def _check_live(self, slot: int) -> None:
        try:
            live = 0 <= operator.index(slot) < self.n_slots and self._live[slot]
        except TypeError:
            live = False
        if not live:
            raise ModelError(f"slot {slot!r} is not allocated")


def _shared_tokens(a: bytes, b: bytes) -> int:
    """How many ids two texts of ids begin with alike."""
    size = min(len(a), len(b)) // ID_BYTES
    differs = np.frombuffer(a, np.int64, size) != np.frombuffer(b, np.int64, size)
    return int(differs.argmax()) if differs.any() else size


def _sizes(config: CoreConfig) -> tuple[int, int, int, int]:
    return config.n_layers, config.n_heads, config.n_kv_heads, config.head_dim
