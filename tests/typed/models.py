"""The models of these tests as fixtures: a tiny random one, and SmolLM2 where its file is here or can be fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from constrained.kernel import is_compiled
from tests.typed.tiny import tiny_model

__all__ = ["smollm2", "tiny"]


def needs_kernels() -> None:
    """Skips where kernels run as Python: generation is the compiled library's business, and takes minutes there."""
    if not is_compiled():
        pytest.skip("kernels are not compiled")


@pytest.fixture(scope="session")
def tiny() -> Iterator[Any]:
    """An ``LLM`` over random weights: what it writes is nonsense, and valid."""
    needs_kernels()
    pytest.importorskip("pydantic")
    model = tiny_model()
    from constrained.typed.llm import LLM

    with LLM(model, max_len=2048, max_tokens=60) as llm:
        yield llm


@pytest.fixture(scope="session")
def smollm2() -> Iterator[Any]:
    """An ``LLM`` over SmolLM2-135M-Instruct."""
    needs_kernels()
    for package in ("torch", "jinja2", "pydantic", "tokenizers"):
        pytest.importorskip(package)
    from constrained.typed.errors import FetchError
    from constrained.typed.llm import LLM

    try:
        llm = LLM(progress=False, max_len=2048, max_tokens=120)
    except FetchError as error:
        pytest.skip(f"SmolLM2 cannot be fetched here: {error}")
    with llm:
        yield llm
