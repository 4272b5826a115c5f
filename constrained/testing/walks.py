"""Random texts of a grammar: walks over the mask, token by token, that always come to an end.

Each step draws one of the allowed tokens. Uniform draws would write long nonsense, so the walk goes on by choice: at
every place where the text may end it does with probability ``end``, and once it is ``longest`` bytes long it takes the
shortest way out. The vocabulary is the bytes and a few frequent pieces of JSON, so that tokens cross the borders of
keys, strings and numbers as real ones do.
"""

from __future__ import annotations

import random
from functools import lru_cache

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.vocabulary import TokenizerInfo

__all__ = ["byte_vocabulary", "random_text", "random_tokens"]

PIECES = ('{"', '"}', '":', '": ', '", "', '","', '"]', '["', "},", "}, {", "[]", "{}", "null", "true", "false", "0.",
          "00", "12", "e+", "\\u00", "\\n", "  ", "\n", "an", "er", "the", "name", "id", "é", "日本")


@lru_cache(maxsize=1)
def byte_vocabulary() -> TokenizerInfo:
    """One token a byte, then ``PIECES``; the last id ends a text."""
    tokens = [*(bytes((byte,)) for byte in range(256)), *(piece.encode() for piece in PIECES), b"<end>"]
    last = len(tokens) - 1
    return TokenizerInfo.from_bytes(tokens, stop_token_ids=[last], special_token_ids=[last])


def random_text(compiled: CompiledGrammar, rng: random.Random, *, longest: int = 400, end: float = 0.3) -> bytes:
    """One text of the grammar."""
    matcher = GrammarMatcher(compiled)
    info = compiled.tokenizer_info
    text = bytearray()
    while not matcher.is_terminated():
        if matcher.is_completed() and (rng.random() < end or len(text) > longest):
            break
        if len(text) > longest:
            return bytes(text) + matcher.shortest_completion()
        token = _draw(matcher, rng)
        if token in info.stop_token_ids:
            break
        text += info.token_bytes(token)
        if not matcher.accept_token(token):
            raise AssertionError(f"token {token} is in the mask after {bytes(text)!r:.200} but is not accepted")
    return bytes(text)


def _draw(matcher: GrammarMatcher, rng: random.Random) -> int:
    """An allowed token: printable ASCII is three times as likely as the rest, where there is a choice."""
    allowed = matcher.allowed_token_ids()
    if not allowed:
        raise AssertionError("the mask is empty before the end of the text")
    plain = [token for token in allowed if 0x20 <= token < 0x7F or token >= 0x100]
    return rng.choice(plain if plain and rng.random() < 0.75 else allowed)


def random_tokens(text: bytes, rng: random.Random) -> list[int]:
    """``text`` as tokens of ``byte_vocabulary``, cut at random."""
    info = byte_vocabulary()
    pieces = {info.token_bytes(i): i for i in range(256, info.vocab_size - 1)}
    tokens = []
    at = 0
    while at < len(text):
        fitting = [piece for piece in pieces if text.startswith(piece, at)]
        if fitting and rng.random() < 0.6:
            piece = rng.choice(fitting)
            tokens.append(pieces[piece])
            at += len(piece)
        else:
            tokens.append(text[at])
            at += 1
    return tokens
