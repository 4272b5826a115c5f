"""A ``transformers`` model in memory as one of ours: its configuration and its tensors are read, not its code.

Only what every such model has is used (``config.to_dict()``, ``state_dict()``), so transformers itself is not imported.
Tensors are converted and fused, which takes the weights' memory once more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

from constrained.decoder.errors import CheckpointError
from constrained.decoder.loaders.assemble import assemble
from constrained.decoder.loaders.load import LoadedModel
from constrained.decoder.loaders.source import BlockQuantized
from constrained.decoder.models.config_hf import config_from_dict
from constrained.errors import echo
from constrained.vocabulary import TokenizerInfo

__all__ = ["load_module"]


class ModuleSource:
    """The tensors of a module's ``state_dict``."""

    norm_offset_added = False

    def __init__(self, state: Mapping[str, torch.Tensor]) -> None:
        self._state = state

    def names(self) -> Collection[str]:
        return self._state.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._state[name].shape)

    def tensor(self, name: str, dtype: torch.dtype) -> torch.Tensor:
        tensor = self._state[name].detach()
        if not tensor.is_floating_point():
            raise CheckpointError(f"tensor {echo(name)} holds {tensor.dtype}, not floating-point numbers")
        return tensor.to("cpu", dtype)

    def quantized(self, name: str) -> BlockQuantized | None:
        return None


def load_module(module: Any, tokenizer: Any = None, *, dtype: torch.dtype | None = None,
                device: torch.device | str | None = None) -> LoadedModel:
    """A ``PreTrainedModel`` and its fast tokenizer, made ready for this library's loop.

    ``dtype`` and ``device`` default to the module's own.

    Raises:
        CheckpointError: the module is no such model, or of a kind that is not run.
        TokenizerError: the tokenizer cannot be read.
    """
    config = getattr(module, "config", None)
    if not callable(getattr(config, "to_dict", None)) or not callable(getattr(module, "state_dict", None)):
        raise CheckpointError(f"a {type(module).__name__} is no transformers model",
                              hint="give AutoModelForCausalLM.from_pretrained(...)")
    raw = config.to_dict()  # type: ignore[union-attr]
    ours = config_from_dict(raw)
    first = next(iter(module.state_dict().values()))
    model = assemble(ours, ModuleSource(module.state_dict()), dtype=dtype or first.dtype,
                     device=torch.device(device if device is not None else first.device))
    more = getattr(getattr(module, "generation_config", None), "eos_token_id", None)
    stops = [*ours.eos_token_ids, *(more if isinstance(more, list) else [] if more is None else [more])]
    stop_ids = tuple(dict.fromkeys(stops))
    info = None
    if tokenizer is not None:
        info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=ours.vocab_size, stop_token_ids=stop_ids or None)
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, Mapping):
        template = template.get("default")
    special = getattr(tokenizer, "special_tokens_map", None) or {}
    named = {name: str(text) for name, text in special.items() if isinstance(text, str)}
    return LoadedModel(model, info, template if isinstance(template, str) else None, stop_ids,
                       Path(getattr(module, "name_or_path", None) or "model"), None, named)
