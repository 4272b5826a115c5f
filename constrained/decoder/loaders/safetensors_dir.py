"""Checkpoint directories: ``model.safetensors``, or the shards that ``model.safetensors.index.json`` names.

Tensors are memory-mapped and read one at a time. The index and the shards must agree on every name.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from constrained.decoder.errors import CheckpointError
from constrained.decoder.loaders.source import BlockQuantized
from constrained.errors import echo

__all__ = ["SafetensorsSource", "read_json"]

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file. :class:`CheckpointError` if it is missing or no object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"cannot read {path.name}: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path.name} holds no JSON object")
    return value


class SafetensorsSource:
    """Tensors of one file or of all shards of a directory."""

    norm_offset_added = False

    def __init__(self, directory: Path) -> None:
        files = self._files(directory)
        self._where: dict[str, Any] = {}
        for file in files:
            shard = _open(directory / file)
            for name in shard.keys():  # noqa: SIM118 - not a mapping
                if name in self._where:
                    raise CheckpointError(f"tensor {echo(name)} stands in two shards")
                self._where[name] = shard
        index = directory / INDEX
        if not (directory / SINGLE).exists() and (claimed := set(read_json(index)["weight_map"])) != set(self._where):
            different = sorted(claimed ^ set(self._where))
            raise CheckpointError(f"the index and the shards disagree on {len(different)} tensors, "
                                  f"first {echo(different[0])}")

    @staticmethod
    def _files(directory: Path) -> list[str]:
        if (directory / SINGLE).exists():
            return [SINGLE]
        if not (directory / INDEX).exists():
            raise CheckpointError(f"the directory has neither {SINGLE} nor {INDEX}",
                                  hint="pickled checkpoints are not read: convert them to safetensors")
        weights = read_json(directory / INDEX).get("weight_map")
        if not isinstance(weights, dict) or not all(isinstance(file, str) for file in weights.values()):
            raise CheckpointError(f"{INDEX} has no usable weight_map")
        files = sorted(set(weights.values()))
        if any(Path(file).name != file for file in files):
            raise CheckpointError(f"{INDEX} points outside its directory")
        return files

    def names(self) -> Collection[str]:
        return self._where.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._where[name].get_slice(name).get_shape())

    def tensor(self, name: str, dtype: torch.dtype) -> torch.Tensor:
        tensor: torch.Tensor = self._where[name].get_tensor(name)
        if not tensor.is_floating_point():
            raise CheckpointError(f"tensor {echo(name)} holds {tensor.dtype}, not floating-point numbers")
        return tensor.to(dtype)

    def quantized(self, name: str) -> BlockQuantized | None:
        return None


def _open(path: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise CheckpointError("reading safetensors needs the package safetensors",
                              hint="pip install safetensors") from error
    try:
        return safe_open(path, framework="pt", device="cpu")
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot read {path.name}: {echo(str(error))}") from error
