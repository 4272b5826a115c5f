"""What ``LLM(source)`` may be given, and the engine each becomes.

    None                                the built-in model, SmolLM2-135M-Instruct, fetched once
    "path/to/model.gguf", "folder/"     a GGUF file, a checkpoint directory with safetensors
    a transformers model                its weights in this library's loop (with ``tokenizer=``)
    a ``LoadedModel``                   of ``constrained.decoder.load_model``
    "http://host:8000/v1"               an OpenAI-compatible server (``model=`` names its model)
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrained.typed.call import Engine
from constrained.typed.errors import SourceError
from constrained.typed.model_package import MODEL_NAME, cached_model, fetch_model

if TYPE_CHECKING:
    from constrained.decoder.loaders.load import LoadedModel

__all__ = ["built_in_model", "open_source"]

SMOLLM2 = "CONSTRAINED_SMOLLM2"
"""Environment variable with the path of the built-in model's file, where it lies elsewhere already."""

INTERVAL = 0.2


def open_source(source: Any, *, tokenizer: Any = None, device: Any = None, dtype: Any = None,
                quantized: bool | None = None, max_batch: int = 8, max_len: int | None = None, max_tokens: int = 512,
                model: str | None = None, api_key: str | None = None, timeout: float = 120.0,
                tool_format: str | None = None, progress: bool = True) -> Engine:
    """The engine. Raises :class:`SourceError`, or the loader's own errors."""
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        from constrained.typed.remote import RemoteEngine

        local = {"tokenizer": tokenizer, "device": device, "dtype": dtype, "quantized": quantized, "max_len": max_len,
                 "tool_format": tool_format}
        given = [f"{name}=" for name, value in local.items() if value is not None]
        if given:
            raise SourceError(f"{' and '.join(given)}: a server has its own", hint="leave it out, or load a model here")
        return RemoteEngine(source, model=model, api_key=api_key, timeout=timeout, max_tokens=max_tokens)
    if model is not None or api_key is not None:
        raise SourceError("model= and api_key= belong to a server", hint='LLM("http://host:8000/v1", model="name")')
    from constrained.typed.local import LocalEngine

    loaded: LoadedModel = _loaded(source, tokenizer, device, dtype, quantized, progress)
    return LocalEngine(loaded, max_batch=max_batch, max_len=max_len, max_tokens=max_tokens,
                       tool_format=tool_format or _own_format(source))


def built_in_model(progress: bool = True) -> Path:
    """The built-in model's file, fetched if it is not here. Raises :class:`FetchError`."""
    named = os.environ.get(SMOLLM2)
    if named and Path(named).is_file():
        return Path(named)
    return cached_model() or fetch_model(_Progress() if progress else lambda *_: None)


def _own_format(source: Any) -> str | None:
    """The built-in model's template says nothing about tools; it writes this form best."""
    return "qwen3" if source is None else None


def _loaded(source: Any, tokenizer: Any, device: Any, dtype: Any, quantized: bool | None,
            progress: bool) -> LoadedModel:
    is_path = isinstance(source, (str, os.PathLike))
    if tokenizer is not None and (is_path or source is None or hasattr(source, "tokenizer_info")):
        raise SourceError("tokenizer= belongs to a transformers model: a file or a folder has its own")
    if is_path and not Path(source).exists():
        raise SourceError(f"there is no model {os.fspath(source)!r:.200}",
                          hint="give a GGUF file, a folder with config.json and safetensors, a transformers model or a "
                               f"server's URL; LLM() alone is {MODEL_NAME}")
    if is_path and Path(source).is_dir() and not (Path(source) / "config.json").exists():
        found = sorted(path.name for path in Path(source).glob("*.gguf"))
        raise SourceError(f"the folder {os.fspath(source)!r:.200} has no config.json, so it is no checkpoint",
                          hint=f"name its GGUF file, {found[0]!r:.100}" if found else
                          "give a folder with config.json and safetensors, or a GGUF file")
    if not is_path and source is not None and not hasattr(source, "tokenizer_info") and tokenizer is None:
        raise SourceError(f"a {type(source).__name__} needs its tokenizer", hint="LLM(model, tokenizer=tokenizer)")
    try:
        from constrained.decoder.loaders.load import LoadedModel, load_model
        from constrained.decoder.loaders.module import load_module
    except ImportError as error:
        raise SourceError(f"running a model needs the package {error.name!r}",
                          hint="pip install 'constrained[typed]', or give the URL of a server") from None
    where = {} if device is None else {"device": device}
    if source is None:
        on_cpu = device is None or str(device).startswith("cpu")
        return load_model(built_in_model(progress), dtype=dtype, quantized=on_cpu if quantized is None else quantized,
                          **where)
    if isinstance(source, LoadedModel):
        return source
    if is_path:
        return load_model(Path(source), dtype=dtype, quantized=bool(quantized), **where)
    return load_module(source, tokenizer, dtype=dtype, device=device)


class _Progress:
    """One line on standard error that counts megabytes."""

    def __init__(self) -> None:
        self._last = 0.0
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what == self._what and done < total and now - self._last < INTERVAL:
            return
        if what != self._what and self._what:
            print(file=sys.stderr)
        self._what, self._last = what, now
        print(f"\r{MODEL_NAME}: {what} {done / 1e6:.0f} of {total / 1e6:.0f} MB", end="", file=sys.stderr, flush=True)
        if what == "unpacking" and done >= total:
            print(file=sys.stderr)
