"""One server with SmolLM2 for all tests of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.decoder.smollm2 import require_smollm2

if TYPE_CHECKING:
    from tests.server.serving import Running


@pytest.fixture(scope="session")
def smollm2() -> Iterator[Running]:
    """A server with SmolLM2-135M-Instruct, its 4-bit weights as they are."""
    path = require_smollm2()
    for package in ("torch", "starlette", "uvicorn", "jinja2", "tokenizers"):
        pytest.importorskip(package, reason=f"the server needs {package}: pip install 'constrained[server]'")
    from constrained.decoder.loaders.load import load_model
    from constrained.server.engine import Engine
    from constrained.server.settings import ServerSettings
    from tests.server.serving import running

    settings = ServerSettings(model_name="SmolLM2", max_batch=4, max_len=1536, compile_seconds=5.0, drain_seconds=5.0)
    with running(Engine.of_model(load_model(path, quantized=True), settings)) as server:
        yield server
