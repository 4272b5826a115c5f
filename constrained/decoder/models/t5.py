"""T5-style encoder-decoders (Raffel et al. 2020): the encoder runs once a request, the decoder like any other model.

``begin`` puts the cross-attention keys and values of a source text into the slot of its request, once; from then on
``forward`` is that of every decoder, so the generation loop and its constraints need to know nothing more. A request's
prompt is ``[decoder_start_token_id]``.

Attention is unscaled and adds a learned bias by bucketed distance, the same in all layers of a stack; feed-forward
layers are plain or gated; there are no position embeddings. Cost: attention runs row by row, each row has its own bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakValueDictionary

import torch
import torch.nn.functional as functional

from constrained.decoder.errors import ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.models.activations import ACTIVATION_FUNCTIONS
from constrained.decoder.models.base import BaseDecoder, DecoderOutput, kept_positions, pack
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.models.head import OutputHead
from constrained.decoder.models.norm import RMSNorm
from constrained.decoder.slots import SlotTable

__all__ = ["T5Block", "T5Cache", "T5Config", "T5Model", "T5Source", "T5Stack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class T5Config(CoreConfig):
    """Sizes of an encoder-decoder; ``n_layers`` are the decoder's. ``scale_outputs``: hidden states are multiplied by
    ``hidden_size ** -0.5`` before the head (T5 1.0, whose head is the embedding)."""

    n_encoder_layers: int
    intermediate_size: int
    layer_norm_eps: float
    n_buckets: int
    max_distance: int
    activation: str
    gated: bool
    scale_outputs: bool
    decoder_start_token_id: int


@dataclass(frozen=True, slots=True)
class T5Block:
    """One layer: ``qkv`` rows of queries, keys, values; ``cross_*`` only in the decoder; ``inner`` rows of the first
    (gating) matrix, then the second where gated."""

    self_norm: RMSNorm
    qkv: torch.Tensor
    self_output: torch.Tensor
    cross_norm: RMSNorm | None
    cross_query: torch.Tensor | None
    cross_kv: torch.Tensor | None
    cross_output: torch.Tensor | None
    ff_norm: RMSNorm
    inner: torch.Tensor
    outer: torch.Tensor


@dataclass(frozen=True, slots=True)
class T5Stack:
    """The encoder or the decoder: ``bias [n_buckets, heads]`` belongs to all its layers."""

    blocks: tuple[T5Block, ...]
    bias: torch.Tensor
    final_norm: RMSNorm


@dataclass(frozen=True, eq=False)
class T5Source:
    """Cross-attention keys and values of one source text, ``[1, heads, source, head_dim]`` a layer."""

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]


class T5Cache(KVCache):
    """A :class:`KVCache` whose slots also hold the cross-attention keys and values of their source text.

    Forks share them. Equal decoder tokens after different sources are different states, so prefixes are only reused
    between slots by explicit copies.
    """

    def __init__(self, config: CoreConfig, n_slots: int, max_len: int, dtype: torch.dtype = torch.float32,
                 device: torch.device | str = "cpu") -> None:
        super().__init__(config, n_slots, max_len, dtype, device)
        self._sources: list[T5Source | None] = [None] * n_slots

    def set_source(self, slot: int, source: T5Source) -> None:
        """Give an empty live slot its source text."""
        if self.length(slot):
            raise ModelError("a slot that already holds tokens cannot get another source text")
        self._sources[slot] = source

    def source(self, slot: int) -> T5Source:
        """The slot's source text. :class:`ModelError` before ``set_source``."""
        source = self._sources[slot]
        if source is None:
            raise ModelError(f"slot {slot} has no source text", hint="call the model's begin first")
        return source

    def check_rows(self, slots: Sequence[int], lengths: Sequence[int], n_new: Sequence[int]) -> None:
        super().check_rows(slots, lengths, n_new)
        for slot in slots:
            self.source(slot)

    def longest_prefix(self, tokens: object) -> tuple[int, int]:
        return -1, 0

    def _clear(self, slot: int) -> None:
        super()._clear(slot)
        self._sources[slot] = None

    def _copy(self, src: int, dst: int, length: int) -> None:
        super()._copy(src, dst, length)
        self._sources[dst] = self._sources[src]


class T5Model(BaseDecoder):
    """An encoder-decoder checkpoint ready to run."""

    config: T5Config

    def __init__(self, config: T5Config, embedding: torch.Tensor, encoder: T5Stack, decoder: T5Stack,
                 output_head: OutputHead, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = config
        self.dtype = dtype
        self.device = embedding.device
        self._embedding = embedding
        self._encoder = encoder
        self._decoder = decoder
        self._head = output_head
        self._activation = ACTIVATION_FUNCTIONS[config.activation]
        self._sources: WeakValueDictionary[tuple[int, ...], T5Source] = WeakValueDictionary()

    def new_cache(self, n_slots: int, max_len: int) -> T5Cache:
        return T5Cache(self.config, n_slots, max_len, self.dtype, self.device)

    def check_source(self, source_ids: Sequence[int] | None) -> None:
        if not source_ids or min(source_ids) < 0 or max(source_ids) >= self.config.vocab_size:
            raise ModelError(f"a source text needs ids of 0 to {self.config.vocab_size - 1}, and at least one")

    def begin(self, cache: SlotTable, slot: int, source_ids: Sequence[int] | None) -> None:
        """Store what the decoder attends to, the keys and values of one source text, in an empty slot.

        Slots with equal source texts share them: the encoder runs once as long as one of them is live.
        Raises :class:`ModelError` for no text, ids out of range, or a slot that is not empty.
        """
        self.check_source(source_ids)
        assert source_ids is not None
        if not isinstance(cache, T5Cache):
            raise ModelError("an encoder-decoder needs a T5Cache, which holds its source texts")
        key = tuple(source_ids)
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = self._encode(source_ids)
        cache.set_source(slot, source)

    @torch.inference_mode()
    def _encode(self, source_ids: Sequence[int]) -> T5Source:
        ids = torch.tensor(source_ids, device=self.device)
        x = functional.embedding(ids, self._embedding)
        places = torch.arange(len(source_ids), device=self.device)
        bias = self._bias(self._encoder.bias, places, places, bidirectional=True)
        for block in self._encoder.blocks:
            query, key, value = self._heads(functional.linear(block.self_norm(x), block.qkv), 3)
            x = x + functional.linear(_attend(query, key, value, bias), block.self_output)
            x = x + self._feed_forward(x, block)
        x = self._encoder.final_norm(x)
        layers = []
        for block in self._decoder.blocks:
            assert block.cross_kv is not None
            key, value = self._heads(functional.linear(x, block.cross_kv), 2)
            layers.append((key, value))
        return T5Source(tuple(layers))

    @torch.inference_mode()
    def head(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        normed = self._decoder.final_norm(hidden.reshape(-1, hidden.shape[-1]))
        if self.config.scale_outputs:
            normed = normed * self.config.hidden_size**-0.5
        logits = self._head(normed, allowed_ids)
        return logits.view(*hidden.shape[:-1], logits.shape[-1])

    def _run(self, input_ids: torch.Tensor, cache: SlotTable, slots: Sequence[int], lengths: Sequence[int],
             n_new: Sequence[int], keep: int | Literal["all"], allowed_ids: torch.Tensor | None,
             wanted: frozenset[int], with_logits: bool) -> DecoderOutput:
        if not isinstance(cache, T5Cache):
            raise ModelError("an encoder-decoder needs a T5Cache, which holds its source texts")
        x = functional.embedding(pack(input_ids, n_new), self._embedding)
        kept = kept_positions(n_new, keep, self.device)
        plan = cache.plan(slots, lengths, n_new)
        rows = [_Row(cache, slot, length, length + new)
                for slot, length, new in zip(slots, lengths, n_new, strict=True)]
        sizes = list(n_new)
        biases = [self._bias(self._decoder.bias, torch.arange(row.start, row.end, device=self.device),
                             torch.arange(row.end, device=self.device), bidirectional=False) for row in rows]
        hidden: dict[int, torch.Tensor] = {}
        if 0 in wanted and kept is not None:
            hidden[0] = kept.take(x)
        heads, head_dim = self.config.n_heads, self.config.head_dim
        for index, block in enumerate(self._decoder.blocks):
            mixed = functional.linear(block.self_norm(x), block.qkv).view(len(x), 3 * heads, head_dim)
            query, key, value = torch.split(mixed, heads, dim=1)
            plan.write(index, key, value)
            attended = [_attend(part.transpose(0, 1)[None], *row.cached(index), bias)
                        for part, row, bias in zip(torch.split(query, sizes), rows, biases, strict=True)]
            x = x + functional.linear(torch.cat(attended), block.self_output)
            assert block.cross_norm is not None and block.cross_query is not None and block.cross_output is not None
            crossing = functional.linear(block.cross_norm(x), block.cross_query).view(-1, heads, head_dim)
            attended = [_attend(part.transpose(0, 1)[None], *row.source.layers[index], None)
                        for part, row in zip(torch.split(crossing, sizes), rows, strict=True)]
            x = x + functional.linear(torch.cat(attended), block.cross_output)
            x = x + self._feed_forward(x, block)
            if index + 1 in wanted and kept is not None:
                hidden[index + 1] = kept.take(x)
        cache.commit(slots, [row.end for row in rows])
        if kept is None or not with_logits:
            return DecoderOutput(None, hidden)
        return DecoderOutput(kept.place(self.head(kept.rows(x), allowed_ids)), hidden)

    def _feed_forward(self, x: torch.Tensor, block: T5Block) -> torch.Tensor:
        inner = functional.linear(block.ff_norm(x), block.inner)
        if self.config.gated:
            gate, linear = inner.chunk(2, -1)
            return functional.linear(self._activation(gate) * linear, block.outer)
        return functional.linear(self._activation(inner), block.outer)

    def _heads(self, mixed: torch.Tensor, count: int) -> list[torch.Tensor]:
        """``[N, count * heads * head_dim]`` -> ``count`` tensors ``[1, heads, N, head_dim]``."""
        split = mixed.view(len(mixed), count, self.config.n_heads, self.config.head_dim)
        return [part.transpose(0, 1)[None] for part in split.unbind(1)]

    def _bias(self, table: torch.Tensor, queries: torch.Tensor, keys: torch.Tensor, *, bidirectional: bool,
              ) -> torch.Tensor:
        """Additive ``[1, heads, queries, keys]`` by position; keys after a query are hidden unless bidirectional."""
        distance = keys[None, :] - queries[:, None]
        buckets = _buckets(distance, self.config.n_buckets, self.config.max_distance, bidirectional=bidirectional)
        bias = table[buckets].permute(2, 0, 1)[None]
        return bias if bidirectional else bias.masked_fill(distance > 0, float("-inf"))


class _Row:
    """Where one row of a decoder pass reads: its cached keys and values, and its source's."""

    def __init__(self, cache: T5Cache, slot: int, start: int, end: int) -> None:
        self._cache = cache
        self._slot = slot
        self.start = start
        self.end = end
        self.source = cache.source(slot)

    def cached(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = self._cache.keys[layer, self._slot], self._cache.values[layer, self._slot]
        return keys[None, :, : self.end], values[None, :, : self.end]


def _attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """``[1, heads, N, head_dim]`` over its keys, unscaled -> ``[N, heads * head_dim]``."""
    mixed = functional.scaled_dot_product_attention(query, key, value, bias, scale=1.0)
    return mixed[0].transpose(0, 1).reshape(query.shape[2], -1)


def _buckets(distance: torch.Tensor, n_buckets: int, max_distance: int, *, bidirectional: bool) -> torch.Tensor:
    """Bucket of each relative position (key minus query): half of them exact, the others logarithmic up to
    ``max_distance`` (Raffel et al. 2020, section 2.1)."""
    offset: torch.Tensor | int = 0
    if bidirectional:
        n_buckets //= 2
        offset = (distance > 0).long() * n_buckets
        distance = distance.abs()
    else:
        distance = -distance.clamp(max=0)
    exact = n_buckets // 2
    logarithmic = exact + (torch.log(distance.float() / exact) / math.log(max_distance / exact)
                           * (n_buckets - exact)).long()
    return offset + torch.where(distance < exact, distance, logarithmic.clamp(max=n_buckets - 1))
