"""A pass over a few tokens on a CPU, with everything between the matrix products in compiled code.

With 4-bit weights the matrix products of a one-token step take 7 ms of a 135 M model, and torch's small kernels for the
rest nearly as long. Here the rest is three calls a layer (:mod:`constrained.kernel.token_step`):

    add_norm -> qkv -> attend -> output -> add_norm -> gate_up -> gated -> down

The residual stream stays float32 from layer to layer, activations and cache are bfloat16 as in the general pass; the
two differ by bfloat16's rounding, as passes of different sizes do anyway. Tokens are taken one after the other, each
stored before the next attends, so a row may have one token or a chunk (forced tokens, a draft). Cost beside the
products: about 15 us a layer and token at 64 cached ones, in one thread.

Serves bfloat16 models with 4-bit weights of the Llama kind (no norms on heads or outputs, SiLU), whose cache has
contiguous slots, in a build with compiled kernels; for everything else the general pass runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from constrained.decoder.kv_cache import KVCache
from constrained.decoder.models.linear import DENSE_ROWS, Int4Linear
from constrained.decoder.slots import SlotTable
from constrained.kernel import token_step as kernel

if TYPE_CHECKING:
    from constrained.decoder.models.transformer import DecoderModel

__all__ = ["TokenStep"]


class TokenStep:
    """The step of one model, over any of its caches."""

    def __init__(self, model: DecoderModel) -> None:
        self._model = model
        self._norms = [(layer.input_norm.weight.float().contiguous(), layer.mlp_norm.weight.float().contiguous())
                       for layer in model._layers]
        self._eps = model.config.rms_norm_eps

    @staticmethod
    def fits(model: DecoderModel) -> bool:
        """Whether ``model`` can run this way."""
        return (kernel.is_compiled() and model.device.type == "cpu" and model.dtype == torch.bfloat16
                and model.config.activation == "silu" and all(rope.kind != "dynamic" for rope in model.config.ropes)
                and all(isinstance(layer.qkv, Int4Linear) and isinstance(layer.down, Int4Linear)
                        and layer.query_norm is None and layer.attention_post_norm is None
                        and layer.mlp_post_norm is None for layer in model._layers))

    def serves(self, cache: SlotTable, n_new: Sequence[int], wanted: frozenset[int]) -> bool:
        """Whether a pass is of this step's kind: few tokens in all, no hidden states but the last layer's."""
        return sum(n_new) < DENSE_ROWS and isinstance(cache, KVCache) and wanted <= {self._model.config.n_layers}

    def __call__(self, tokens: torch.Tensor, cache: KVCache, slots: Sequence[int], lengths: Sequence[int],
                 n_new: Sequence[int]) -> torch.Tensor:
        """Packed ``tokens [N]``, ``n_new[b]`` of row b after its ``lengths[b]`` cached ones -> residual stream float32
        ``[N, hidden]``.

        Rows must have passed ``check_rows``; the caller commits the new lengths.
        """
        model = self._model
        config = model.config
        cache.prepare(slots, lengths, n_new)
        places = [(slot, position) for slot, length, new in zip(slots, lengths, n_new, strict=True)
                  for position in range(length, length + new)]
        x = model._embed(tokens).float()
        rows, hidden = x.shape
        dim, kv_heads = config.head_dim, config.n_kv_heads
        group = config.n_heads // kv_heads
        normed, attended = x.new_empty(rows, hidden, dtype=torch.bfloat16), x.new_empty(
            rows, config.query_size, dtype=torch.bfloat16)
        inner = x.new_empty(rows, config.intermediate_size, dtype=torch.bfloat16)
        longest = max(position for _, position in places) + 1
        scratch = x.new_empty(group * (dim + longest) + 2 * dim)
        tables = [[part.data_ptr() for part in table.whole(longest)] for table in model._tables]
        # addresses: of slots in bytes from the beginning of the cache, of rows from the beginning of an activation
        item = 2
        layer_bytes, slot_bytes, head_items, _, _ = (stride * item for stride in cache.keys.stride())
        head_items //= item
        keys, values = cache.keys.data_ptr(), cache.values.data_ptr()
        mixed_bytes, query_bytes = (config.query_size + 2 * config.kv_size) * item, config.query_size * item
        x_at, normed_at, attended_at, inner_at = x.data_ptr(), normed.data_ptr(), attended.data_ptr(), inner.data_ptr()
        scratch_at, scale, eps = scratch.data_ptr(), model._scale, self._eps
        added = 0
        for index, layer in enumerate(model._layers):
            input_norm, mlp_norm = self._norms[index]
            kernel.add_norm(x_at, added, input_norm.data_ptr(), normed_at, rows, hidden, eps)
            mixed = layer.qkv(normed)
            mixed_at = mixed.data_ptr()
            cosines, sines = tables[config.layer_ropes[index]]
            window = config.layer_windows[index]
            at = index * layer_bytes
            for row, (slot, position) in enumerate(places):
                slot_at = at + slot * slot_bytes
                first = 0 if window is None else max(0, position + 1 - window)
                kernel.attend(mixed_at + row * mixed_bytes, cosines, sines, keys + slot_at, values + slot_at, position,
                              first, attended_at + row * query_bytes, scratch_at, kv_heads, group, dim, head_items,
                              scale)
            output = layer.output(attended)
            kernel.add_norm(x_at, output.data_ptr(), mlp_norm.data_ptr(), normed_at, rows, hidden, eps)
            gate_up = layer.gate_up(normed)
            kernel.gated(gate_up.data_ptr(), inner_at, rows, config.intermediate_size)
            down = layer.down(inner)
            added = down.data_ptr()  # kept alive by its name until the next add_norm has read it
        return x.add_(down)
