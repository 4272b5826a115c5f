"""From the written pieces of a tokenizer to the bytes they stand for.

Three alphabets are in use:

- *raw*: a piece is its own text (UTF-8);
- *byte level* (GPT-2): each byte is written as one printable character; the 188 printable Latin-1 characters
  stand for themselves, the other 68 bytes for U+0100 to U+0143, in order;
- *byte fallback* (SentencePiece): U+2581 is a space and ``<0x41>`` the one byte 0x41.

Byte-level pieces are turned at once: one joined text as an array of code points, one table look-up, one cut
into pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import check_size

__all__ = [
    "BYTE_OF_CHAR",
    "VocabType",
    "byte_level_pieces",
    "byte_of_fallback",
    "decoded_vocabulary",
    "raw_pieces",
    "replaced_pieces",
]

SPACE_MARK = "\u2581"


class VocabType(Enum):
    """How the ``str`` entries of an encoded vocabulary are written."""

    RAW = "raw"
    """A piece is its own text."""
    BYTE_FALLBACK = "byte_fallback"
    """U+2581 is a space, ``<0x41>`` one byte (SentencePiece)."""
    BYTE_LEVEL = "byte_level"
    """Each byte is one printable character (GPT-2)."""


def _byte_level_alphabet() -> npt.NDArray[np.int16]:
    """Code point to byte, -1 for characters outside the alphabet (the last entry stands for all beyond it)."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in set(own)]
    table = np.full(0x100 + len(others) + 1, -1, dtype=np.int16)
    table[own] = own
    for rank, byte in enumerate(others):
        table[0x100 + rank] = byte
    return table


BYTE_OF_CHAR = _byte_level_alphabet()
BYTE_OF_CHAR.setflags(write=False)


def _cut(data: bytes, ends: list[int]) -> list[bytes]:
    start = 0
    pieces = []
    for end in ends:
        pieces.append(data[start:end])
        start = end
    return pieces


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TokenizerError(
            f"a token's text holds a lone surrogate, which has no UTF-8 form: {echo(text)}",
            hint="give such a token by its bytes",
        ) from None


def raw_pieces(pieces: Sequence[str]) -> list[bytes]:
    """UTF-8 of every piece. Raises ``TokenizerError`` for a lone surrogate."""
    try:
        return [piece.encode() for piece in pieces]
    except UnicodeEncodeError:
        return [_utf8(piece) for piece in pieces]


def byte_level_pieces(pieces: Sequence[str]) -> list[bytes]:
    """Bytes of pieces in the byte-level alphabet.

    A piece with any character outside the alphabet stands for its own UTF-8: such pieces are never made
    by the encoder, and this is what the decoder makes of them.
    """
    if not pieces:
        return []
    ends = np.cumsum(np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)))
    points = _code_points("".join(pieces))
    values = BYTE_OF_CHAR[np.minimum(points, len(BYTE_OF_CHAR) - 1)]
    out = _cut(values.astype(np.uint8).tobytes(), ends.tolist())
    strange = np.unique(np.searchsorted(ends, np.flatnonzero(values < 0), side="right"))
    for index in strange.tolist():
        out[index] = _utf8(pieces[index])
    return out


def byte_of_fallback(piece: str) -> int | None:
    """The byte that a ``<0x41>`` piece stands for, None for any other piece."""
    if len(piece) != 6 or not piece.startswith("<0x") or piece[5] != ">":
        return None
    digits = piece[3:5]
    if not all(c in "0123456789abcdefABCDEF" for c in digits):
        return None
    return int(digits, 16)


def replaced_pieces(
    pieces: Sequence[str],
    replacements: Sequence[tuple[str, str]] = ((SPACE_MARK, " "),),
    *,
    byte_fallback: bool = True,
) -> list[bytes]:
    """UTF-8 of pieces after ``replacements`` in order; with ``byte_fallback``, ``<0x41>`` pieces are one byte.

    Raises ``TokenizerError`` for a lone surrogate.
    """
    texts: Sequence[str] = pieces
    for old, new in replacements:
        texts = [text.replace(old, new) for text in texts]
    out = raw_pieces(texts)
    if byte_fallback:
        for index, piece in enumerate(pieces):
            if len(piece) == 6 and (byte := byte_of_fallback(piece)) is not None:
                out[index] = bytes((byte,))
    return out


def decoded_vocabulary(vocab: Sequence[bytes | str | None], vocab_type: VocabType) -> list[bytes]:
    """Bytes of every entry of an encoded vocabulary: ``bytes`` as they are, ``str`` by their type, None empty.

    Raises ``TokenizerError`` for an empty vocabulary and for an entry that is none of these.
    """
    if isinstance(vocab, (str, bytes, bytearray, Mapping)) or not isinstance(vocab, Sequence):
        raise TokenizerError(f"a vocabulary is a list with one entry a token, not {type(vocab).__name__}")
    if not vocab:
        raise TokenizerError("the vocabulary is empty", hint="give one entry for each token id")
    check_size(len(vocab))
    if set(map(type, vocab)) == {bytes}:
        return list(vocab)  # type: ignore[arg-type]
    tokens: list[bytes] = [b""] * len(vocab)
    written: list[int] = []
    for i, piece in enumerate(vocab):
        if type(piece) is bytes:
            tokens[i] = piece
        elif isinstance(piece, str):
            written.append(i)
        elif isinstance(piece, (bytes, bytearray, memoryview)):
            tokens[i] = bytes(piece)
        elif piece is not None:
            raise TokenizerError(f"entry {i} of the vocabulary is {type(piece).__name__}, not bytes, str or None")
    if written:
        pieces: list[str] = [vocab[i] for i in written]  # type: ignore[misc]
        decoded = {VocabType.RAW: raw_pieces, VocabType.BYTE_LEVEL: byte_level_pieces,
                   VocabType.BYTE_FALLBACK: replaced_pieces}[vocab_type](pieces)
        for i, token in zip(written, decoded, strict=True):
            tokens[i] = token
    return tokens
