"""Errors of the decoder's models, loaders and caches.

    ConstrainedError
    └── ModelError              a checkpoint or a model call that cannot be right
        ├── CheckpointError     tensors missing, left over, of a wrong shape or of an unsupported type
        └── CacheError          no free slot, or more tokens than a slot holds
"""

from __future__ import annotations

from constrained.errors import ConstrainedError

__all__ = ["CacheError", "CheckpointError", "ModelError"]


class ModelError(ConstrainedError):
    """A model, its configuration or a call of it is wrong. Nothing was changed."""


class CheckpointError(ModelError):
    """A checkpoint cannot be read as the model it claims to be."""


class CacheError(ModelError):
    """A KV cache has no room: no free slot or block, or a sequence longer than a slot."""
