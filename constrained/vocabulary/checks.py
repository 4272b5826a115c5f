"""Checks on what callers pass: widths and ids. Each answers plain ints or raises ``TokenizerError``."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from constrained.errors import TokenizerError, echo

__all__ = ["MAX_TOKEN_BYTES", "MAX_VOCAB_SIZE", "Ids", "check_size", "checked_ids", "checked_stops", "checked_width"]

MAX_VOCAB_SIZE = 1 << 22
"""Largest logits width. Real vocabularies stay below 2**19; a wrong number must not allocate gigabytes."""

MAX_TOKEN_BYTES = (1 << 16) - 1
"""Longest token, in bytes. The token trie keeps a node's depth in 16 bits."""

Ids = SupportsIndex | Iterable[SupportsIndex]
"""One id or several: ints, or what numpy and torch use for them."""


def check_size(size: int) -> None:
    """Refuse a vocabulary whose largest id is ``size - 1`` if that is beyond reason."""
    if size > MAX_VOCAB_SIZE:
        raise TokenizerError(f"the vocabulary has {size} ids; at most {MAX_VOCAB_SIZE} are possible")


def checked_width(vocab_size: SupportsIndex | None, entries: int) -> int:
    """The logits width: ``vocab_size``, or the number of entries where it is None."""
    if vocab_size is None:
        return entries
    try:
        width = 0 if isinstance(vocab_size, bool) else operator.index(vocab_size)
    except TypeError:
        width = 0
    if not 0 < width <= MAX_VOCAB_SIZE:
        raise TokenizerError(f"vocab_size must be an int from 1 to {MAX_VOCAB_SIZE}, not {echo(repr(vocab_size))}",
                             hint="it is the width of the model's logits, model.config.vocab_size")
    return width


def checked_ids(ids: Iterable[SupportsIndex], bound: int, name: str) -> tuple[int, ...]:
    """Ids in the given order, duplicates dropped, each from 0 to ``bound - 1``."""
    out: dict[int, None] = {}
    try:
        for given in ids:
            i = operator.index(given)
            if isinstance(given, bool) or not 0 <= i < bound:
                raise TokenizerError(f"{name} holds {echo(str(given))}, which is out of range: there are {bound} ids")
            out[i] = None
    except TypeError:
        raise TokenizerError(f"{name} must hold token ids (ints)") from None
    return tuple(out)


def checked_stops(ids: Ids, width: int) -> tuple[int, ...]:
    """Stop tokens as the caller gives them, one id or several."""
    several: Any = ids if hasattr(ids, "__iter__") else (ids,)
    return checked_ids(several, width, "stop_token_ids")
