"""Where the data shared between checkouts lies: CONSTRAINED_SHARED, or ``shared`` beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_dir() -> Path | None:
    """The directory of the shared data, or None where there is none."""
    path = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    return path if (path / "data").is_dir() else None


def require_shared() -> Path:
    """The directory of the shared data; skips the test where there is none."""
    path = shared_dir()
    if path is None:
        pytest.skip("the shared data are not here (set CONSTRAINED_SHARED)")
    return path
