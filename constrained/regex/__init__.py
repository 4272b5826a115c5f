"""Patterns read into trees (two dialects) and trees turned into automata over code points and bytes.

Reading order: ``charset``, ``syntax``, ``builder``, ``parse_python`` and ``parse_ecma`` (text to tree),
``rewrite`` (fewer assertions), ``program`` and ``determinise`` (assertions to an automaton), ``dfa`` (boolean
operations), ``partition`` and ``utf8`` (characters to bytes); ``unicode`` and ``folding`` hold the tables.
"""

from __future__ import annotations

from constrained.regex.parse_ecma import parse_ecma
from constrained.regex.parse_python import parse_python

__all__ = ["parse_ecma", "parse_python"]
