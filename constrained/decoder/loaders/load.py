"""``load_model``: a GGUF file or a checkpoint directory -> everything needed to generate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.loaders.assemble import assemble
from constrained.decoder.loaders.gguf import GGUFSource, config_from_gguf
from constrained.decoder.loaders.gguf_file import read_gguf
from constrained.decoder.loaders.safetensors_dir import SafetensorsSource, read_json
from constrained.decoder.loaders.t5 import assemble_t5, t5_config
from constrained.decoder.models.base import BaseDecoder
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.models.config_hf import config_from_dict

if TYPE_CHECKING:
    from constrained.decoder.chat_template import ChatTemplate
    from constrained.vocabulary import TokenizerInfo

__all__ = ["LoadedModel", "load_model"]

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model and what belongs to it.

    ``tokenizer_info`` is None where the checkpoint has no tokenizer; ``chat_template`` is Jinja text;
    ``stop_token_ids`` end a turn (those of ``config.json`` and ``generation_config.json``, or of the GGUF metadata);
    ``source`` is where it came from. ``add_bos_token`` tells whether plain prompts begin with
    ``model.config.bos_token_id`` (None where the checkpoint does not say; chat templates write it themselves).
    ``special_tokens``: written forms of the tokens that chat templates name (``bos_token``, ``eos_token``, ...).
    """

    model: BaseDecoder
    tokenizer_info: TokenizerInfo | None
    chat_template: str | None
    stop_token_ids: tuple[int, ...]
    source: Path
    add_bos_token: bool | None
    special_tokens: Mapping[str, str] = field(default_factory=dict)

    def make_chat_template(self) -> ChatTemplate | None:
        """The chat template, compiled; None where the checkpoint has none. Raises ``ChatTemplateError``."""
        from constrained.decoder.chat_template import ChatTemplate

        if self.chat_template is None:
            return None
        return ChatTemplate(self.chat_template, special_tokens=self.special_tokens)


def load_model(source: str | Path, *, dtype: torch.dtype | None = None, device: torch.device | str = "cpu",
               quantized: bool = False, tokenizer: bool = True) -> LoadedModel:
    """Load a ``.gguf`` file or a directory with ``config.json`` and safetensors.

    ``dtype`` defaults to float32 on a CPU (bfloat16 if ``quantized``) and bfloat16 elsewhere. ``quantized`` keeps the
    4-bit weights of a GGUF file as they are and runs them with bfloat16 activations, on a CPU only.
    ``tokenizer=False`` skips the vocabulary.

    Raises :class:`ModelError` for arguments that do not go together, :class:`CheckpointError` for a checkpoint that is
    incomplete, contradicts itself or is of an unknown kind, and :class:`constrained.errors.TokenizerError`.
    """
    path, device = Path(source), torch.device(device)
    if dtype is None:
        dtype = torch.float32 if device.type == "cpu" and not quantized else torch.bfloat16
    if dtype not in DTYPES:
        raise ModelError(f"dtype {dtype} is not supported", hint="use float32, bfloat16 or float16")
    if quantized and (device.type != "cpu" or dtype != torch.bfloat16):
        raise ModelError(f"quantized weights run on a CPU in bfloat16, not on {device} in {dtype}")
    if path.is_dir():
        if quantized:
            raise ModelError("quantized=True needs a GGUF file: safetensors checkpoints are dense")
        return _load_directory(path, dtype, device, tokenizer)
    if not path.exists():
        raise CheckpointError(f"there is no checkpoint {path.name!r}")
    return _load_gguf(path, dtype, device, quantized, tokenizer)


def _load_gguf(path: Path, dtype: torch.dtype, device: torch.device, quantized: bool, tokenizer: bool) -> LoadedModel:
    file = read_gguf(path)
    config = config_from_gguf(file)
    model = assemble(config, GGUFSource(file, config), dtype=dtype, device=device, quantized=quantized)
    template = file.metadata.get("tokenizer.chat_template")
    info = model.tokenizer_info = _gguf_tokenizer(path, config.vocab_size) if tokenizer else None
    return LoadedModel(model, info, template if isinstance(template, str) else None, config.eos_token_ids, path,
                       _flag(file.metadata.get("tokenizer.ggml.add_bos_token")), _written(info, {
                           "bos_token": config.bos_token_id, "pad_token": config.pad_token_id,
                           "eos_token": next(iter(config.eos_token_ids), None)}))


def _load_directory(path: Path, dtype: torch.dtype, device: torch.device, tokenizer: bool) -> LoadedModel:
    raw = read_json(path / "config.json")
    config: CoreConfig
    model: BaseDecoder
    if raw.get("model_type") == "t5":
        config = t5 = t5_config(raw)
        model = assemble_t5(t5, SafetensorsSource(path), dtype=dtype, device=device)
    else:
        config = dense = config_from_dict(raw)
        model = assemble(dense, SafetensorsSource(path), dtype=dtype, device=device)
    stops = list(config.eos_token_ids)
    if (path / "generation_config.json").exists():
        more = read_json(path / "generation_config.json").get("eos_token_id")
        stops += more if isinstance(more, list) else [] if more is None else [more]
    stop_ids = tuple(dict.fromkeys(stops))
    info = model.tokenizer_info = _directory_tokenizer(path, config.vocab_size, stop_ids) if tokenizer else None
    tokenizer_config = read_json(path / "tokenizer_config.json") if (path / "tokenizer_config.json").exists() else {}
    return LoadedModel(model, info, _template(path, tokenizer_config), stop_ids, path,
                       _flag(tokenizer_config.get("add_bos_token")), _named_tokens(tokenizer_config) or _written(info, {
                           "bos_token": config.bos_token_id, "eos_token": next(iter(stop_ids), None)}))


def _named_tokens(tokenizer_config: Mapping[str, Any]) -> dict[str, str]:
    """``bos_token`` and the like of ``tokenizer_config.json``: text, or an object with ``content``."""
    found = {}
    for name, value in tokenizer_config.items():
        text = value.get("content") if isinstance(value, Mapping) else value
        if name.endswith("_token") and isinstance(text, str):
            found[name] = text
    return found


def _written(info: TokenizerInfo | None, ids: Mapping[str, int | None]) -> dict[str, str]:
    """The written forms of these control tokens, where the vocabulary has them."""
    texts = {} if info is None else {i: text for text, same in info.token_ids_by_text.items() for i in same}
    return {name: texts[i] for name, i in ids.items() if i is not None and i in texts}


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _gguf_tokenizer(path: Path, vocab_size: int) -> TokenizerInfo:
    from constrained.vocabulary import TokenizerInfo

    return TokenizerInfo.from_gguf(path, vocab_size=vocab_size)


def _directory_tokenizer(path: Path, vocab_size: int, stop_ids: tuple[int, ...]) -> TokenizerInfo | None:
    if not (path / "tokenizer.json").exists():
        return None
    from constrained.vocabulary import TokenizerInfo

    return TokenizerInfo.from_huggingface(path, vocab_size=vocab_size, stop_token_ids=stop_ids or None)


def _template(path: Path, tokenizer_config: Mapping[str, Any]) -> str | None:
    """The chat template: ``chat_template.jinja``, or the (default) one in ``tokenizer_config.json``."""
    if (path / "chat_template.jinja").exists():
        return (path / "chat_template.jinja").read_text(encoding="utf-8")
    found = tokenizer_config.get("chat_template")
    if isinstance(found, list):
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, Mapping)}
        found = named.get("default")
    return found if isinstance(found, str) else None
