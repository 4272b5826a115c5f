"""The alphabets of pieces, against definitions written for clarity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import TokenizerError
from constrained.vocabulary.pieces import byte_level_pieces, byte_of_fallback, raw_pieces, replaced_pieces


def gpt2_alphabet() -> dict[int, str]:
    """Byte to character: printable Latin-1 as itself, the others counted up from U+0100."""
    table, next_free = {}, 0x100
    for byte in range(256):
        if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(next_free)
            next_free += 1
    return table


WRITTEN = gpt2_alphabet()


@given(st.lists(st.binary(max_size=12), max_size=20))
def test_byte_level(tokens: list[bytes]) -> None:
    assert byte_level_pieces(["".join(WRITTEN[b] for b in token) for token in tokens]) == tokens


@given(st.lists(st.text(max_size=8), max_size=20))
def test_byte_level_of_any_text(pieces: list[str]) -> None:
    """A piece with one character outside the alphabet is its own UTF-8."""
    byte_of = {char: byte for byte, char in WRITTEN.items()}
    expected = [
        bytes(byte_of[c] for c in piece) if all(c in byte_of for c in piece) else piece.encode() for piece in pieces
    ]
    assert byte_level_pieces(pieces) == expected


def test_byte_level_agrees_with_the_package() -> None:
    alphabet = pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel.alphabet()
    assert set(alphabet) == set(WRITTEN.values())


@pytest.mark.parametrize(("piece", "byte"), [
    ("<0x00>", 0), ("<0xFF>", 255), ("<0xaf>", 0xAF), ("<0x4g>", None), ("<0x+1>", None), ("<0x 1>", None),
    ("<0x1>", None), ("<0x041>", None), ("<0X41>", None), ("(0x41)", None), ("<0x4\u0661>", None), ("", None),
])
def test_byte_fallback(piece: str, byte: int | None) -> None:
    assert byte_of_fallback(piece) == byte
    assert replaced_pieces([piece]) == [piece.encode() if byte is None else bytes((byte,))]
    assert replaced_pieces([piece], byte_fallback=False) == [piece.encode()]


@given(st.lists(st.text(st.sampled_from("\u2581ab\u6f22 "), max_size=6), max_size=10))
def test_space_marks(pieces: list[str]) -> None:
    assert replaced_pieces(pieces) == [piece.replace("\u2581", " ").encode() for piece in pieces]


@pytest.mark.parametrize("read", [raw_pieces, byte_level_pieces, replaced_pieces])
def test_lone_surrogates_are_refused(read: object) -> None:
    with pytest.raises(TokenizerError, match="surrogate"):
        read(["a", "b\udfff"])  # type: ignore[operator]
