"""Patterns of types: a search in the syntax of Rust's ``regex`` crate, Pydantic's default engine."""

from __future__ import annotations

from functools import lru_cache

from constrained.frontends.json_schema.strings import Language
from constrained.limits import Limits
from constrained.regex.parse_rust import RUST_SPACES, parse_rust
from constrained.regex.rewrite import search_form, simplify

__all__ = ["RUST_SPACES", "rust_language"]


@lru_cache(maxsize=1024)
def rust_language(pattern: str, limits: Limits) -> Language:
    """The strings in which ``pattern`` is found. Raises RegexError, GrammarLimitError."""
    return Language(pattern, simplify(search_form(parse_rust(pattern, limits))))
