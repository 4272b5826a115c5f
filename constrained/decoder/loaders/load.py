"""``load_model``: a path to a GGUF file or a checkpoint directory -> everything needed to generate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from constrained.decoder.errors import CheckpointError
from constrained.decoder.loaders.assemble import assemble
from constrained.decoder.loaders.gguf import GGUFSource, config_from_gguf
from constrained.decoder.loaders.gguf_file import read_gguf
from constrained.decoder.models.transformer import DecoderModel

__all__ = ["LoadedModel", "load_model"]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model, its vocabulary (None where it cannot be read), its chat template (Jinja text), the ids that end a turn."""

    model: DecoderModel
    chat_template: str | None
    stop_token_ids: tuple[int, ...]
    tokenizer_info: Any = None
    source: Path | None = None


def load_model(source: str | Path, *, dtype: torch.dtype | None = None, device: torch.device | str = "cpu",
               quantized: bool = False) -> LoadedModel:
    """Load ``source``. ``dtype`` defaults to float32 on a CPU and bfloat16 elsewhere."""
    path = Path(source)
    device = torch.device(device)
    dtype = dtype or (torch.float32 if device.type == "cpu" else torch.bfloat16)
    if path.is_dir():
        raise CheckpointError("safetensors")
    file = read_gguf(path)
    config = config_from_gguf(file)
    model = assemble(config, GGUFSource(file, config), dtype=dtype, device=device, quantized=quantized)
    template = file.metadata.get("tokenizer.chat_template")
    return LoadedModel(model, template if isinstance(template, str) else None, config.eos_token_ids,
                       source=path)
