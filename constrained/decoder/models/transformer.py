"""One dense decoder-only transformer for all families of :class:`ModelConfig`.

Works on packed tokens ``[N, hidden]`` (see :mod:`base`). Query, key and value weights are one matrix, gate and up
another.

    x = embed(ids) * embedding_scale
    each layer:  x += [post_norm] output(attend(rope([qk_norm] qkv(norm(x)))))
                 x += [post_norm] down(act(gate(norm(x))) * up(norm(x)))
    logits = softcap(head(norm(x[kept])))            float32, only at the positions asked for

Small kernels dominate a single-token step on fast hardware: twelve a layer besides the four matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as functional

from constrained.decoder.kv_cache import KVCache
from constrained.decoder.models.activations import ACTIVATION_FUNCTIONS
from constrained.decoder.models.base import BaseDecoder, DecoderOutput, kept_positions, pack
from constrained.decoder.models.config import ModelConfig
from constrained.decoder.models.head import OutputHead
from constrained.decoder.models.linear import Linear
from constrained.decoder.models.norm import RMSNorm
from constrained.decoder.models.rope import RotaryTable, rotate
from constrained.decoder.models.token_step import TokenStep
from constrained.decoder.slots import Plan, SlotTable

if TYPE_CHECKING:
    from constrained.decoder.models.static_step import StaticStep

__all__ = ["DecoderModel", "DecoderOutput", "LayerWeights"]


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """Weights of one layer. ``qkv`` has rows of queries, keys, values; ``gate_up`` rows of gates, then ups."""

    input_norm: RMSNorm
    qkv: Linear
    query_norm: RMSNorm | None
    key_norm: RMSNorm | None
    output: Linear
    attention_post_norm: RMSNorm | None
    mlp_norm: RMSNorm
    gate_up: Linear
    down: Linear
    mlp_post_norm: RMSNorm | None


class DecoderModel(BaseDecoder):
    """A decoder-only checkpoint ready to run."""

    config: ModelConfig

    def __init__(self, config: ModelConfig, embedding: torch.Tensor, layers: Sequence[LayerWeights],
                 final_norm: RMSNorm, output_head: OutputHead, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = config
        self.dtype = dtype
        self.device = embedding.device
        self._embedding = embedding
        self._layers = tuple(layers)
        self._final_norm = final_norm
        self._head = output_head
        self._activation = ACTIVATION_FUNCTIONS[config.activation]
        self._scale = config.scale
        scale = config.embedding_scale  # rounded to the model's dtype, as the family was trained
        self._embedding_scale = None if scale is None else torch.tensor(scale, dtype=dtype, device=self.device)
        self._static_step: StaticStep | None = None
        self._token_step = TokenStep(self) if TokenStep.fits(self) else None
        self._tables = tuple(RotaryTable(config, rope, dtype, self.device) for rope in config.ropes)

    @torch.inference_mode()
    def head(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        flat = hidden.reshape(-1, hidden.shape[-1])
        logits = self._head(self._final_norm(flat), allowed_ids)
        return logits.view(*hidden.shape[:-1], logits.shape[-1])

    def _run(self, input_ids: torch.Tensor, cache: SlotTable, slots: Sequence[int], lengths: Sequence[int],
             n_new: Sequence[int], keep: int | Literal["all"], allowed_ids: torch.Tensor | None,
             wanted: frozenset[int], with_logits: bool) -> DecoderOutput:
        spans = [(length, length + new) for length, new in zip(lengths, n_new, strict=True)]
        kept = kept_positions(n_new, keep, self.device)
        hidden: dict[int, torch.Tensor] = {}
        if self._static_step is not None and self._static_step.serves(cache, n_new, wanted):
            x = self._static_step(pack(input_ids, n_new), slots, lengths)
        elif self._token_step is not None and self._token_step.serves(cache, n_new, wanted):
            assert isinstance(cache, KVCache)
            x = self._token_step(pack(input_ids, n_new), cache, slots, lengths, n_new)
        else:
            x = self._embed(pack(input_ids, n_new))
            ropes = [table.rows(spans) for table in self._tables]
            plan = cache.plan(slots, lengths, n_new)
            if 0 in wanted and kept is not None:
                hidden[0] = kept.take(x)
            for index in range(len(self._layers)):
                x = self._layer(index, x, ropes, plan)
                if index + 1 in wanted and kept is not None:
                    hidden[index + 1] = kept.take(x)
        cache.commit(slots, [end for _, end in spans])
        if kept is None:
            return DecoderOutput(None, {})
        if not hidden and wanted:
            hidden = {layer: kept.take(x) for layer in wanted}  # a step of its own: the last layer only
        if not with_logits:
            return DecoderOutput(None, hidden)
        logits = self._head(self._final_norm(kept.rows(x)), allowed_ids)
        return DecoderOutput(kept.place(logits), hidden)

    def use_static_step(self, step: StaticStep | None) -> None:
        """Opt in: single-token passes over ``step``'s cache run through it (see :mod:`static_step`). None opts out."""
        self._static_step = step

    def _layer(self, index: int, x: torch.Tensor, ropes: Sequence[tuple[torch.Tensor, torch.Tensor]],
               plan: Plan) -> torch.Tensor:
        """Packed residual stream ``[N, hidden]`` through one layer."""
        config, layer = self.config, self._layers[index]
        heads, kv_heads = config.n_heads, config.n_kv_heads
        mixed = layer.qkv(layer.input_norm(x)).view(x.shape[0], heads + 2 * kv_heads, config.head_dim)
        cos, sin = ropes[config.layer_ropes[index]]
        if layer.query_norm is None or layer.key_norm is None:
            rotated = rotate(mixed[:, : heads + kv_heads], cos, sin)
            query, key = rotated[:, :heads], rotated[:, heads:]
        else:
            query = rotate(layer.query_norm(mixed[:, :heads]), cos, sin)
            key = rotate(layer.key_norm(mixed[:, heads : heads + kv_heads]), cos, sin)
        plan.write(index, key, mixed[:, heads + kv_heads :])
        attended = plan.attend(index, query, self._scale, config.layer_windows[index])
        if layer.attention_post_norm is None:
            x = layer.output.add_to(x, attended)
        else:
            x = x + layer.attention_post_norm(layer.output(attended))
        gate, up = layer.gate_up(layer.mlp_norm(x)).chunk(2, -1)
        inner = self._activation(gate) * up
        if layer.mlp_post_norm is None:
            return layer.down.add_to(x, inner)
        return x + layer.mlp_post_norm(layer.down(inner))

    def _embed(self, ids: torch.Tensor) -> torch.Tensor:
        x = functional.embedding(ids, self._embedding)
        return x if self._embedding_scale is None else x * self._embedding_scale
