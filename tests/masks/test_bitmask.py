"""Shape, dtype and contents of new bitmasks, with torch and without."""

from __future__ import annotations

import numpy as np
import pytest

import constrained.masks.bitmask
from constrained import masks
from constrained.errors import BitmaskError


@pytest.mark.parametrize(("vocab_size", "words"), [(0, 0), (1, 1), (32, 1), (33, 2), (128_256, 4_008)])
def test_a_word_holds_32_tokens(vocab_size: int, words: int) -> None:
    assert masks.get_bitmask_shape(3, vocab_size) == (3, words)


@pytest.mark.parametrize(("batch", "vocab"), [(-1, 5), (1, -5), (1, 2.5), ("1", 5), (True, 5), (1, None)])
def test_a_wrong_size_is_refused(batch: object, vocab: object) -> None:
    with pytest.raises(BitmaskError):
        masks.allocate_token_bitmask(batch, vocab)  # type: ignore[arg-type]


def test_a_new_bitmask_is_a_torch_tensor_that_allows_everything() -> None:
    torch = pytest.importorskip("torch")
    bitmask = masks.allocate_token_bitmask(2, 100)
    assert isinstance(bitmask, torch.Tensor)
    assert bitmask.dtype == masks.bitmask_dtype == torch.int32
    assert bitmask.tolist() == [[-1] * 4] * 2
    bitmask.zero_()
    masks.reset_token_bitmask(bitmask)
    assert bitmask.tolist() == [[-1] * 4] * 2


def test_without_torch_it_is_a_numpy_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constrained.masks.bitmask, "has_torch", lambda: False)
    bitmask = masks.allocate_token_bitmask(2, 100)
    assert isinstance(bitmask, np.ndarray)
    assert bitmask.dtype == masks.bitmask_dtype == np.int32
    assert bitmask.tolist() == [[-1] * 4] * 2
    bitmask[:] = 0
    masks.reset_token_bitmask(bitmask)
    assert bitmask.tolist() == [[-1] * 4] * 2
