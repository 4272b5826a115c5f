"""A partition of the code points spelled in UTF-8: classes of characters become paths of bytes (RFC 3629)."""

from __future__ import annotations

from constrained.kernel.byte_trie import UTF8, ByteTrie
from constrained.kernel.spelling import Spelling
from constrained.regex.charset import Ranges

__all__ = ["utf8_spelling"]


def utf8_spelling(classes: tuple[Ranges, ...]) -> Spelling:
    """How an automaton over ``classes`` becomes one over bytes (``Dfa.to_block``)."""
    return Spelling(ByteTrie(classes, UTF8))
