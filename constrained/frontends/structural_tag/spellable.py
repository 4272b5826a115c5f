"""Whether a vocabulary without all single bytes can write a delimiter somewhere in a text.

Its first token may have begun before it, and its last may go on behind it: ``<`` and ``/a>x`` write ``</a>``. Only
vocabularies that lack a byte of their own come here; those are small. Cost: the bytes of all tokens, times those of
the delimiter.
"""

from __future__ import annotations

from constrained.vocabulary import TokenizerInfo

__all__ = ["can_be_within"]


def can_be_within(text: bytes, info: TokenizerInfo) -> bool:
    """Whether some tokens, one after the other, have ``text`` within them."""
    tokens = {token for i in range(info.vocab_size) if (token := info.token_bytes(i))}
    reached = {0}
    for token in tokens:
        if text in token:
            return True
        reached.update(k for k in range(1, min(len(token), len(text))) if token.endswith(text[:k]))
    waiting = sorted(reached)
    while waiting:
        at = waiting.pop()
        rest = text[at:]
        for token in tokens:
            if token.startswith(rest):
                return True
            if rest.startswith(token) and at + len(token) not in reached:
                reached.add(at + len(token))
                waiting.append(at + len(token))
    return not text
