# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What small schemas say, to be compared: equal ones are one expression of a document, wherever they stand.

Scalars among them mean the same in every document, so what they denote is kept from one to the next (``leaves``).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.dialects import DIALECTS

__all__ = ["content_of", "leaves"]

MOST_KEYWORDS = cython.declare(cython.int, 8)
"""Schemas of fewer keywords are compared."""

_SILENT = cython.declare(cython.int, 1)
_SAYS = cython.declare(cython.int, 2)
_KEYWORDS: dict = {
    **dict.fromkeys("title description default examples $comment deprecated readOnly writeOnly".split(), 1),
    **dict.fromkeys("type minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength enum const "
                    "minItems maxItems".split(), 2),
    "items": 3,
}
_TYPED: dict = {
    name: (("type", str, name),) for name in "null boolean integer number string array object".split()}
"""The contents of schemas that say nothing but a type: most of them."""
_MOST_LEAVES = 20_000
_LEAVES: dict = {}


@cython.ccall
def content_of(schema: dict, depth: cython.int = 1):
    """What a schema says, to be compared; None where it says more than a few simple things, of itself and its items."""
    says: cython.int
    said = schema.get("type")
    if type(said) is str and (len(schema) == 1 or (len(schema) == 2 and "description" in schema)) and said in _TYPED:
        return _TYPED[said]
    if len(schema) >= MOST_KEYWORDS:
        return None
    found: list = []
    for key, value in schema.items():
        known = _KEYWORDS.get(key)
        if known is None:
            return None
        says = known
        if says == _SILENT:
            continue
        kind = type(value)
        if says == _SAYS:
            if kind is list:
                if len(cython.cast(list, value)) > 64:
                    return None
                for item in cython.cast(list, value):
                    if isinstance(item, (list, dict)):
                        return None
                value = tuple([(type(item), item) for item in cython.cast(list, value)])
            elif kind is dict:
                return None
            found.append((key, kind, value))
        elif kind is dict and depth:
            inner = content_of(value, depth - 1)
            if inner is None:
                return None
            found.append((key, dict, inner))
        else:
            return None
    if len(found) > 1:
        found.sort()  # keywords differ
    return tuple(found)


def leaves(dialect, max_repeat: int):
    """What scalars denote, by their content; shared by all documents that are read alike."""
    if DIALECTS.get(dialect.name) is not dialect:
        return {}
    found = _LEAVES.setdefault((dialect.name, max_repeat), {})
    if len(found) > _MOST_LEAVES:
        found.clear()
    return found
