"""What a vocabulary is, as plain values: the form in which it is hashed, pickled and kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from constrained.vocabulary.pieces import VocabType

__all__ = ["VocabularyTables"]


@dataclass(frozen=True, slots=True)
class VocabularyTables:
    """Bytes and roles of V tokens; see ``TokenizerInfo`` for what the roles mean.

    Attributes:
        data: bytes of all tokens, joined.
        lengths: integers [V], the number of bytes of each token.
        stop: stop tokens, the preferred one first.
        special: control tokens.
        added: added tokens that are text.
        texts: written form of both to their ids, ascending.
        vocab_type: how the source writes its pieces.
        add_prefix_space: whether the tokenizer puts a space before the first word.
    """

    data: bytes
    lengths: npt.NDArray[np.integer[Any]]
    stop: tuple[int, ...]
    special: frozenset[int]
    added: frozenset[int]
    texts: Mapping[str, tuple[int, ...]]
    vocab_type: VocabType
    add_prefix_space: bool

    def offsets(self) -> npt.NDArray[np.int64]:
        """int64 [V + 1], not writable: where each token begins in ``data``."""
        offsets = np.zeros(len(self.lengths) + 1, dtype=np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        offsets.setflags(write=False)
        return offsets

    def fingerprint(self) -> str:
        """BLAKE2b over bytes and roles, 64 hex digits. The order of stop tokens counts: the first is preferred."""
        roles = [len(self.lengths), self.stop, sorted(self.special), sorted(self.added), sorted(self.texts.items())]
        digest = hashlib.blake2b(json.dumps(roles).encode(), digest_size=32)
        digest.update(self.lengths.astype("<i8").tobytes())
        digest.update(self.data)
        return digest.hexdigest()
