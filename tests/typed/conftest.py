"""The models of these tests."""

from __future__ import annotations

from tests.typed.models import smollm2, tiny

__all__ = ["smollm2", "tiny"]
