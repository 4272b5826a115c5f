"""The pytest plugin of ``constrained``: the fixture ``constrain`` and the option ``--update-coverage``.

A module of its own, outside the package, because pytest imports it in every run: the package comes only when a test
asks for the fixture. The checks are in :mod:`constrained.testing`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from constrained.testing import Subject

__all__ = ["constrain", "pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--update-coverage``."""
    parser.getgroup("constrained").addoption("--update-coverage", action="store_true",
                                             help="record what constrain(...).coverage_is_as_recorded() compares with")


@pytest.fixture
def constrain(request: pytest.FixtureRequest) -> Callable[..., Subject]:
    """``constrain(T, **options)``: the checks of a type, schema, pattern or grammar; see ``constrained.testing``."""
    from constrained.testing.snapshots import file_name
    from constrained.testing.subject import Subject

    folder = Path(request.node.path).parent / "__coverage__"
    update = bool(request.config.getoption("--update-coverage"))
    made = 0

    def make(what: Any, **options: Any) -> Subject:
        nonlocal made
        made += 1
        name = file_name(request.node.nodeid if made == 1 else f"{request.node.nodeid}.{made}")
        return Subject(what, recording=folder / name, update=update, **options)

    return make
