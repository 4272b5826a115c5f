"""Grammars that ship with the library: ``NAME.ebnf`` and the texts it must take and refuse.

Each file begins with a comment that names its specification and says what of it is left out. Beside it,
``accepts/NAME.json`` and ``rejects/NAME.json`` are lists of texts; the tests run all of them.
"""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable

from ..errors import GrammarError, echo

__all__ = ["builtin_examples", "builtin_names", "builtin_text"]

_SUFFIX = ".ebnf"


def _folder() -> Traversable:
    return files(__package__)


def builtin_names() -> tuple[str, ...]:
    """The names of all grammars, sorted."""
    found = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


def builtin_text(name: str) -> str:
    """The EBNF text of a grammar. Raises ``GrammarError`` that lists the names for any other name."""
    names = builtin_names()
    if name not in names:
        shown = echo(name) if isinstance(name, str) else repr(type(name).__name__)
        raise GrammarError(f"there is no built-in grammar {shown}; there are: {', '.join(names)}")
    return _folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def builtin_examples(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts that the grammar takes, and texts that it refuses."""
    builtin_text(name)
    accepts, rejects = (
        tuple(json.loads(_folder().joinpath(kind, name + ".json").read_text(encoding="utf-8")))
        for kind in ("accepts", "rejects")
    )
    return accepts, rejects
