"""Forced bytes and the tokens for them (jump-forward).

Where exactly one byte can follow, no model needs to be asked. The bytes become tokens as the model's own tokenizer
would write them, since a model that has only seen canonical tokens should go on seeing them. The last ones are held
back: a token is only given if no longer token of the vocabulary could begin at its place and reach beyond the forced
bytes, for then the canonical text might be cut differently (llguidance, docs/fast_forward.md, tells the same rule).
"""

from __future__ import annotations

from constrained.vocabulary import TokenizerInfo

__all__ = ["forced_tokens", "whole_characters"]


def whole_characters(data: bytes) -> str:
    """The longest prefix of ``data`` that is whole UTF-8 characters, decoded."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def forced_tokens(data: bytes, info: TokenizerInfo, trie: object) -> list[int]:
    """Canonical ids for a prefix of the forced bytes ``data``; what could be cut differently is left out.

    ``trie`` is the vocabulary's ``TokenTrie``.
    """
    if not data:
        return []
    ids = _encode(data, info, trie)
    boundary = 0
    kept = 0
    for count, token in enumerate(ids):
        # a longer token that begins here and covers all the rest would change what follows
        if trie.goes_beyond(data, boundary):  # type: ignore[attr-defined]
            break
        boundary += len(info.token_bytes(token))
        kept = count + 1
    return ids[:kept]


def _encode(data: bytes, info: TokenizerInfo, trie: object) -> list[int]:
    """The tokenizer's own ids of ``data`` if it has an encoder that keeps the bytes, else longest match first."""
    text = whole_characters(data)
    if text:
        ids = info.encode(text)
        if ids is not None and b"".join(info.token_bytes(i) for i in ids) == text.encode():
            return list(ids)
    found: list[int] = []
    here = 0
    while here < len(data):
        token = trie.longest_match(data, here)  # type: ignore[attr-defined]
        if token < 0:
            break
        found.append(token)
        here += len(info.token_bytes(token))
    return found
