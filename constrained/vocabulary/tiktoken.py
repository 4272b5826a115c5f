"""Vocabularies in tiktoken's form: a rank for each token's bytes, and control tokens beside them.

The rank is the id. Sources: a ``tiktoken.Encoding``, a mapping of bytes to ranks, or a ranks file with one base64
token and its rank a line. The package is needed only to tokenise text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsIndex

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import MAX_VOCAB_SIZE, Ids
from constrained.vocabulary.encoder import LazyEncoder
from constrained.vocabulary.tokenizer_info import TokenizerInfo, VocabType

__all__ = ["read_tiktoken"]


def read_tiktoken(
    ranks_or_encoding: Any,
    *,
    special_tokens: Mapping[str, int] | None = None,
    pattern: str | None = None,
    vocab_size: SupportsIndex | None = None,
    stop_token_ids: Ids | None = None,
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
        raise TokenizerError(f"{type(source).__name__} is not a tiktoken.Encoding, "
                             "a mapping of bytes to ranks or the path of a ranks file")
    tokens = _by_rank(ranks, control)
    encoder: _Encoder | None = None
    if encoding is not None:
        encoder = _Encoder(encoding, {}, "")
    elif pattern is not None:
        encoder = _Encoder(None, dict(ranks), pattern)
    return TokenizerInfo(
        tokens,
        VocabType.RAW,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids,
        special_token_ids=control.values(),
        token_texts={i: text for text, i in control.items()},
        encoder=encoder,
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
            raise TokenizerError(f"the control token {echo(text, 40)} claims the id {i}, "
                                 f"which is taken by {echo(tokens[i] or b'', 40)}")
        tokens[i] = text.encode("utf-8", "backslashreplace")
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
            raise TokenizerError(f"line {number} of the ranks file is not a base64 token and its rank: "
                                 f"{echo(line, 60)}") from None
    return ranks


class _Encoder(LazyEncoder):
    """By the ``tiktoken`` package: the given encoding, or one made of ranks and the pattern that belongs to them."""

    def __init__(self, encoding: Any, ranks: dict[bytes, int], pattern: str) -> None:
        super().__init__()
        self._source = (encoding, ranks, pattern)

    def _build(self) -> Any:
        encoding, ranks, pattern = self._source
        if encoding is not None:
            return encoding
        import tiktoken

        return tiktoken.Encoding("ranks", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def _ids(self, tokenizer: Any, text: str) -> list[int]:
        return list(tokenizer.encode_ordinary(text))

    def __reduce__(self) -> tuple[object, ...]:
        return (_Encoder, self._source)
