"""Patterns read into trees (two dialects) and trees turned into automata over code points and bytes."""

from __future__ import annotations

from constrained.regex.parse_python import parse_python

__all__ = ["parse_python"]
