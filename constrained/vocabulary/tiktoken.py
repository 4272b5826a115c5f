"""Vocabularies in tiktoken's form: a rank for each token's bytes, and control tokens beside them.

The rank is the id. Sources: a ``tiktoken.Encoding``, a mapping of bytes to ranks, or a ranks file with one base64
token and its rank a line. The package is needed only to tokenise text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsIndex

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.tokenizer_info import MAX_VOCAB_SIZE, TokenizerInfo, VocabType

__all__ = ["read_tiktoken"]


def read_tiktoken(
    ranks_or_encoding: Any,
    *,
    special_tokens: Mapping[str, int] | None = None,
    pattern: str | None = None,
    vocab_size: SupportsIndex | None = None,
    stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
) -> TokenizerInfo:
    """See ``TokenizerInfo.from_tiktoken``."""
    source = ranks_or_encoding
    control = dict(special_tokens or {})
    encoding: Any = None
    if isinstance(source, Mapping):
        ranks: Mapping[bytes, int] = source
    elif isinstance(source, (str, Path)):
        ranks = _read_ranks(Path(source))
    elif hasattr(source, "_mergeable_ranks") and hasattr(source, "encode_ordinary"):
        encoding, ranks = source, source._mergeable_ranks
        control = {**source._special_tokens, **control}
    else:
        raise TokenizerError(f"{type(source).__name__} is not a tiktoken.Encoding, a mapping of bytes to ranks or a path")
    tokens = _by_rank(ranks, control)
    return TokenizerInfo(
        tokens,
        VocabType.RAW,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids,
        special_token_ids=control.values(),
        token_texts={i: text for text, i in control.items()},
        encoder=_Encoder(encoding, dict(ranks) if pattern is not None and encoding is None else None, pattern)
        if encoding is not None or pattern is not None else None,
    )


def _by_rank(ranks: Mapping[bytes, int], control: Mapping[str, int]) -> list[bytes | None]:
    ids = [*ranks.values(), *control.values()]
    if not ids:
        raise TokenizerError("the vocabulary is empty", hint="give a rank for each token's bytes")
    if not all(type(i) is int and 0 <= i < MAX_VOCAB_SIZE for i in ids):
        raise TokenizerError(f"ranks and ids of control tokens must be ints from 0 to {MAX_VOCAB_SIZE - 1}")
    tokens: list[bytes | None] = [None] * (max(ids) + 1)
    for token, i in ranks.items():
        if not isinstance(token, bytes):
            raise TokenizerError(f"the token of rank {i} is {type(token).__name__}, not bytes")
        if tokens[i] is not None:
            raise TokenizerError(f"two tokens claim the rank {i}: {echo(tokens[i] or b'', 40)} and {echo(token, 40)}")
        tokens[i] = token
    for text, i in control.items():
        if not isinstance(text, str):
            raise TokenizerError(f"the control token {i} is named by {type(text).__name__}, not str")
        if tokens[i] is not None:
            raise TokenizerError(f"the control token {echo(text, 40)} claims the rank {i} of {echo(tokens[i] or b'', 40)}")
    return tokens


def _read_ranks(path: Path) -> dict[bytes, int]:
    try:
        lines = path.read_bytes().splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise TokenizerError(f"no ranks file can be read from {echo(str(path))}: {reason}") from None
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise TokenizerError(f"line {number} of the ranks file is not a base64 token and its rank: {echo(line, 60)}",
                                 ) from None
    return ranks


class _Encoder:
    """``encode(text)`` by the ``tiktoken`` package: the given encoding, or one made of ranks and their pattern."""

    def __init__(self, encoding: Any, ranks: dict[bytes, int] | None, pattern: str | None) -> None:
        self._source = (encoding, ranks, pattern)
        self._encoding = encoding
        self._failed = False

    def encode(self, text: str) -> list[int] | None:
        encoding = self._encoding
        if encoding is None and not self._failed:
            _, ranks, pattern = self._source
            try:
                import tiktoken

                # Two threads may both build it; either is right and immutable.
                encoding = self._encoding = tiktoken.Encoding(
                    "ranks", pat_str=pattern or "", mergeable_ranks=ranks or {}, special_tokens={})
            except Exception:  # a missing package or a pattern it refuses: there is no answer
                self._failed = True
        return None if encoding is None else list(encoding.encode_ordinary(text))

    def __reduce__(self) -> tuple[object, ...]:
        return (_Encoder, self._source)
