"""The real vocabularies that engine tests run on, from the shared data."""

from __future__ import annotations

from functools import lru_cache

import pytest

from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import COMPILED
from tests.shared_data import require_shared

REAL = ("llama3_1", "qwen3")


def real_vocabulary(name: str) -> TokenizerInfo:
    """A vocabulary by the name of its folder; skips without the shared data, and uncompiled (minutes a mask)."""
    if not COMPILED:
        pytest.skip("a mask of a real vocabulary takes too long uncompiled")
    require_shared()
    return _read(name)


@lru_cache
def _read(name: str) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(require_shared() / "data" / "tokenizers" / name / "tokenizer.json")
