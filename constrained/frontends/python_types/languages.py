"""Sets of strings from patterns: what the leaves of types are made of.

A pattern here is Python ``re`` syntax matched in full, of ASCII classes only. Languages are interned by name and
pattern, so that equal types give equal shapes, and those of a few states are automata from the start.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from constrained.frontends.json_schema.denotation import NOTHING, Denotation
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.strings import Language, StringShape
from constrained.limits import Limits
from constrained.regex.determinise import determinise
from constrained.regex.dfa import minimise
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import simplify
from constrained.regex.syntax import Node

__all__ = ["automaton", "language", "numbers", "strings", "tree_language"]

_LIMITS = Limits()


@lru_cache(maxsize=512)
def language(name: str, pattern: str) -> Language:
    """The full matches of ``pattern``, kept as their tree: counts cost nothing."""
    return Language(name, simplify(parse_python(pattern, _LIMITS)))


@lru_cache(maxsize=512)
def automaton(name: str, pattern: str) -> Language:
    """The same as an automaton: for patterns of few states and many alternatives. About 1 ms, once."""
    return Language(name, None, minimise(determinise(simplify(parse_python(pattern, _LIMITS)), _LIMITS)))


def tree_language(name: str, tree: Node) -> Language:
    """The full matches of a tree."""
    return Language(name, simplify(tree))


def strings(shapes: Iterable[StringShape]) -> Denotation:
    """Just strings of these shapes."""
    found = tuple(dict.fromkeys(shapes))
    return Denotation(False, 0, (), found, (), ()) if found else NOTHING


def numbers(shapes: Iterable[NumberShape], also: Iterable[StringShape] = ()) -> Denotation:
    """Just numbers of these shapes, and strings."""
    return Denotation(False, 0, tuple(shapes), tuple(dict.fromkeys(also)), (), ())
