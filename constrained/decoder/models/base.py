"""What all decoders share: the call's contract, its checks, and packing rows and kept positions.

A forward pass works on *packed* new tokens: the valid tokens of all rows one after the other, ``[N, hidden]``, so a
batch of one long prompt and seven single tokens computes no padding. Only attention knows rows; it belongs to the
cache's plan. All checks come before anything is written: a bad call leaves every slot as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as functional
from torch import nn

from constrained.decoder.errors import ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.slots import SlotTable
from constrained.decoder.transfer import upload

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["BaseDecoder", "DecoderOutput", "Kept", "kept_positions", "pack"]


@dataclass(frozen=True, slots=True)
class DecoderOutput:
    """``logits`` float32 ``[B, keep, V or k]``, or None where none was asked for.

    With an integer ``logits_to_keep`` they are the last positions of each row, right-aligned; with ``"all"`` entry i
    belongs to new token i. Entries of rows shorter than that are zero. ``hidden`` maps a layer (0: embeddings,
    i: after layer i) to its ``[B, keep, hidden]`` residual stream, before the final norm.
    """

    logits: torch.Tensor | None
    hidden: dict[int, torch.Tensor]


class BaseDecoder(nn.Module):
    """A checkpoint ready to run. Weights stay where the loader put them: dtype and device are chosen at load."""

    config: CoreConfig
    dtype: torch.dtype
    device: torch.device
    tokenizer_info: TokenizerInfo | None = None
    """The checkpoint's own vocabulary, where one was loaded: others are compared with it."""

    def _apply(self, fn: object, recurse: bool = True) -> BaseDecoder:
        raise ModelError("a loaded model stays on its device and in its dtype", hint="choose both in load_model")

    @torch.inference_mode()
    def forward(self, input_ids: torch.Tensor, *, cache: SlotTable, slots: Sequence[int] | torch.Tensor,
                lengths: Sequence[int], n_new: Sequence[int], logits_to_keep: int | Literal["all"] = 1,
                allowed_ids: torch.Tensor | None = None, return_hidden: bool | Sequence[int] = False,
                batch_invariant: bool = False, with_logits: bool = True) -> DecoderOutput:
        """Run ``n_new[b]`` new tokens a row (``input_ids [B, T]``, right-padded) after its ``lengths[b]`` cached ones.

        A row shorter in ``lengths`` than its slot is rolled back to it first. Afterwards the slot holds
        ``lengths[b] + n_new[b]`` tokens. ``allowed_ids [k]`` computes only these rows of the head.
        ``return_hidden`` asks for all layers' (True) or some layers' residual stream at the kept positions.
        ``batch_invariant`` runs row by row: results do not depend on the other rows, bit for bit.
        ``with_logits=False`` leaves the head out: :meth:`head` then serves each row of ``hidden`` as it needs.

        Raises :class:`ModelError` for rows that contradict the cache or ids out of range, :class:`CacheError` where a
        slot is too short. Nothing is written then.
        """
        slots = slots.tolist() if isinstance(slots, torch.Tensor) else list(slots)
        self._check(input_ids, cache, slots, lengths, n_new, logits_to_keep)
        wanted = self._wanted_layers(return_hidden)
        if batch_invariant and len(slots) > 1:
            parts = [self._run(input_ids[row : row + 1], cache, slots[row : row + 1], lengths[row : row + 1],
                               n_new[row : row + 1], logits_to_keep, allowed_ids, wanted, with_logits)
                     for row in range(len(slots))]
            return _stack(parts, right=logits_to_keep != "all")
        return self._run(input_ids, cache, slots, lengths, n_new, logits_to_keep, allowed_ids, wanted, with_logits)

    def new_cache(self, n_slots: int, max_len: int) -> SlotTable:
        """A cache of contiguous slots for this model, in its dtype and on its device."""
        return KVCache(self.config, n_slots, max_len, self.dtype, self.device)

    def check_cache(self, cache: SlotTable) -> None:
        """:class:`ModelError` unless this model can use ``cache``."""
        if cache.dtype != self.dtype or cache.device != self.device:
            raise ModelError(f"a cache of {cache.dtype} on {cache.device} cannot serve a model of {self.dtype} on "
                             f"{self.device}")
        if not cache.fits(self.config):
            raise ModelError("the cache was made for a model of another size")

    def check_source(self, source_ids: Sequence[int] | None) -> None:
        """:class:`ModelError` unless a request may have this source text: only encoder-decoders read one."""
        if source_ids is not None:
            raise ModelError(f"a {self.config.family} model has no encoder: a request has a prompt only")

    def begin(self, cache: SlotTable, slot: int, source_ids: Sequence[int] | None) -> None:
        """Prepare an empty slot for a request: encoder-decoders read its source text here, once."""

    def head(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        """Final norm and output head of any layer's residual stream ``[..., hidden]`` -> float32 ``[..., V or k]``.

        On the last layer these are the logits, on others the logit lens (nostalgebraist 2020).
        """
        raise NotImplementedError

    def _run(self, input_ids: torch.Tensor, cache: SlotTable, slots: Sequence[int], lengths: Sequence[int],
             n_new: Sequence[int], keep: int | Literal["all"], allowed_ids: torch.Tensor | None,
             wanted: frozenset[int], with_logits: bool) -> DecoderOutput:
        """The pass itself, of checked arguments."""
        raise NotImplementedError

    def _wanted_layers(self, asked: bool | Sequence[int]) -> frozenset[int]:
        if isinstance(asked, bool):
            return frozenset(range(self.config.n_layers + 1)) if asked else frozenset()
        if any(layer not in range(self.config.n_layers + 1) for layer in asked):
            raise ModelError(f"layers are 0 (embeddings) to {self.config.n_layers}")
        return frozenset(asked)

    def _check(self, input_ids: torch.Tensor, cache: SlotTable, slots: Sequence[int], lengths: Sequence[int],
               n_new: Sequence[int], keep: int | str) -> None:
        if input_ids.dim() != 2 or input_ids.dtype not in (torch.int64, torch.int32):
            raise ModelError(f"input_ids must be integers [B, T], not {input_ids.dtype} {tuple(input_ids.shape)}")
        if input_ids.shape[0] != len(slots) or (len(n_new) and max(n_new) > input_ids.shape[1]):
            raise ModelError(f"input_ids {tuple(input_ids.shape)} do not hold {len(slots)} rows of up to "
                             f"{max(n_new, default=0)} tokens")
        if keep != "all" and (isinstance(keep, str) or keep < 0):
            raise ModelError(f"logits_to_keep must be 'all' or a count, not {keep!r}")
        self.check_cache(cache)
        cache.check_rows(slots, lengths, n_new)
        if input_ids.device.type == "cpu":  # on a GPU this would wait for the device; there the kernel asserts
            low, high = (int(bound) for bound in input_ids.aminmax())
            if low < 0 or high >= self.config.vocab_size:
                raise ModelError(f"token ids run from {low} to {high}, the model has 0 to {self.config.vocab_size - 1}")


class Kept:
    """The positions whose outputs are wanted: packed row numbers, and their place in ``[B, width]``."""

    def __init__(self, n_new: Sequence[int], width: int, *, right: bool, device: torch.device) -> None:
        self._shape = (len(n_new), width)
        self._total = sum(n_new)
        indices: list[int] = []
        places: list[int] = []
        start = 0
        for row, new in enumerate(n_new):
            count = min(width, new)
            first = start + (new - count if right else 0)
            indices += range(first, first + count)
            offset = row * width + (width - count if right else 0)
            places += range(offset, offset + count)
            start += new
        self._indices = None if len(indices) == start else indices
        self._places = None if len(places) == len(n_new) * width else upload(places, device)
        self._device = device

    def rows(self, x: torch.Tensor) -> torch.Tensor:
        """``x [N, ...]`` at the kept positions, packed."""
        if self._indices is None:
            return x
        if len(self._indices) == self._indices[-1] - self._indices[0] + 1:
            return x[self._indices[0] : self._indices[-1] + 1]
        return x[upload(self._indices, self._device)]

    def place(self, packed: torch.Tensor) -> torch.Tensor:
        """Packed rows ``[n, width]`` -> ``[B, keep, width]``, zero where a row has fewer."""
        if self._places is None:
            return packed.view(*self._shape, packed.shape[-1])
        out = packed.new_zeros(self._shape[0] * self._shape[1], packed.shape[-1])
        out[self._places] = packed
        return out.view(*self._shape, packed.shape[-1])

    def take(self, x: torch.Tensor) -> torch.Tensor:
        return self.place(self.rows(x))


def kept_positions(n_new: Sequence[int], keep: int | Literal["all"], device: torch.device) -> Kept | None:
    """The positions ``logits_to_keep`` asks for; None where it asks for none."""
    width = max(n_new) if keep == "all" else min(keep, max(n_new))
    return None if width == 0 else Kept(n_new, width, right=keep != "all", device=device)


def pack(input_ids: torch.Tensor, n_new: Sequence[int]) -> torch.Tensor:
    """Valid tokens of right-padded ``[B, T]`` one after the other, ``[sum(n_new)]``."""
    if len(n_new) == 1:
        return input_ids[0, : n_new[0]]
    if min(n_new) == input_ids.shape[1]:
        return input_ids.reshape(-1)
    return torch.cat([input_ids[row, :new] for row, new in enumerate(n_new)])


def _stack(parts: Sequence[DecoderOutput], *, right: bool) -> DecoderOutput:
    """Outputs of single rows as one batch."""
    def join(rows: list[torch.Tensor]) -> torch.Tensor:
        width = max(row.shape[1] for row in rows)
        padded = [functional.pad(row, (0, 0, width - row.shape[1], 0) if right else (0, 0, 0, width - row.shape[1]))
                  for row in rows]
        return torch.cat(padded)

    logits = [part.logits for part in parts if part.logits is not None]
    return DecoderOutput(join(logits) if logits else None,
                         {layer: join([part.hidden[layer] for part in parts]) for layer in parts[0].hidden})
