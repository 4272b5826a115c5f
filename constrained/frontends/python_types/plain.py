"""Which leaves of a type its keywords say in full, and the schema with those as plain dicts.

A plain dict is read by the pass that most schemas of JSON take (``json_schema.direct``); a ``Given`` with a meaning of
its own goes through the algebra. So a leaf whose words mean just what the type does (``str``, ``int``, lengths, bounds
of integers, a ``Literal`` of texts) gives its meaning up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from constrained.errors import ConstrainedError
from constrained.frontends.json_schema.assertions import kinds_of, own_denotation
from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.dialects import PYTHON_TYPES
from constrained.frontends.json_schema.document import Document, Place
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.limits import Limits

__all__ = ["is_said", "without_givens"]

_NEVER_ALIKE = frozenset(("format", "pattern"))
"""Words of which Python and JSON Schema think differently."""


def is_said(schema: dict[str, Any], meaning: Denotation, limits: Limits) -> bool:
    """Whether the keywords of ``schema`` mean ``meaning`` to whoever reads it as a schema of JSON."""
    said: list[tuple[str, Any]] = []
    for keyword, value in schema.items():
        if keyword not in PYTHON_TYPES.keywords:
            continue
        if keyword in _NEVER_ALIKE:
            return False
        if type(value) is list:
            if not all(type(one) is str for one in value):
                return False
            value = tuple(value)
        elif type(value) not in (str, int):
            return False  # 1 and True are told apart by nothing that is hashed
        said.append((keyword, value))
    found = _meaning(tuple(said), limits)
    return found is not None and found == meaning


@lru_cache(maxsize=2048)
def _meaning(said: tuple[tuple[str, Any], ...], limits: Limits) -> Denotation | None:
    """What keywords mean; None where that is an error."""
    schema = {keyword: list(value) if type(value) is tuple else value for keyword, value in said}
    normaliser = Normaliser(Document(True, PYTHON_TYPES), limits)
    try:
        found = own_denotation(normaliser, Place(schema, "", None, PYTHON_TYPES), kinds_of(schema))
    except ConstrainedError:
        return None
    # that integers are told by their digits is the policy of types, and need not be said
    return found.changed(numbers=tuple([replace(one, plain=None) if one.plain else one for one in found.numbers]))


def without_givens(root: Given) -> dict[str, Any]:
    """The same schema, in which what has no meaning beside its keywords is a plain dict. The insides are changed."""
    if root.denotation is not None:
        return root
    found: dict[str, Any] = dict(root)
    plain: dict[int, dict[str, Any]] = {}
    stack: list[Any] = [found]
    while stack:
        inside: Any = stack.pop()
        for key, value in inside.items() if isinstance(inside, dict) else enumerate(inside):
            if type(value) is Given:
                if value.denotation is not None:
                    continue
                known = plain.get(id(value))
                if known is None:
                    known = plain[id(value)] = dict(value)
                    stack.append(known)
                inside[key] = known
            elif type(value) is dict or type(value) is list:
                stack.append(value)
    return found
