"""How a tokenizer.json writes its pieces, and which ones are refused."""

from __future__ import annotations

from typing import Any

import pytest

from constrained.errors import TokenizerError
from constrained.vocabulary import TokenizerInfo, VocabType
from constrained.vocabulary.decoding import scheme_of
from tests.vocabulary.sources import added, document

BPE = {"type": "BPE"}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
REPLACE = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def sequence(*steps: dict[str, Any], inner: str = "decoders") -> dict[str, Any]:
    return {"type": "Sequence", inner: list(steps)}


@pytest.mark.parametrize(("decoder", "kind", "marks", "fallback"), [
    (BYTE_LEVEL, VocabType.BYTE_LEVEL, (), False),
    (sequence(BYTE_LEVEL, {"type": "Fuse"}), VocabType.BYTE_LEVEL, (), False),
    (sequence(REPLACE, {"type": "ByteFallback"}, {"type": "Fuse"}), VocabType.BYTE_FALLBACK, (("\u2581", " "),), True),
    (sequence(sequence(REPLACE), sequence({"type": "ByteFallback"}, {"type": "Fuse"}, STRIP)),
     VocabType.BYTE_FALLBACK, (("\u2581", " "),), True),
    ({"type": "Metaspace", "replacement": "_"}, VocabType.BYTE_FALLBACK, (("_", " "),), False),
    ({"type": "Fuse"}, VocabType.RAW, (), False),
])
def test_known_decoders(decoder: dict[str, Any], kind: VocabType, marks: object, fallback: bool) -> None:
    scheme = scheme_of(BPE, decoder, None, None)
    assert (scheme.vocab_type, scheme.replacements, scheme.byte_fallback) == (kind, marks, fallback)


@pytest.mark.parametrize(("model", "decoder", "before"), [
    ({"type": "WordPiece"}, {"type": "WordPiece", "prefix": "##", "cleanup": True}, None),
    ({"type": "WordLevel"}, {"type": "WordPiece", "prefix": "##", "cleanup": True}, None),
    ({"type": "BPE", "end_of_word_suffix": "</w>"}, BYTE_LEVEL, None),
    ({"type": "BPE", "continuing_subword_prefix": "##"}, None, None),
    (BPE, {"type": "BPEDecoder", "suffix": "</w>"}, None),
    (BPE, {"type": "CTC", "pad_token": "<pad>"}, None),
    (BPE, sequence(BYTE_LEVEL, REPLACE), None),
    (BPE, sequence({"type": "Fuse"}, REPLACE), None),
    (BPE, sequence({"type": "ByteFallback"}, REPLACE), None),
    (BPE, {"type": "Replace", "pattern": {"Regex": "_+"}, "content": " "}, None),
    (BPE, {"type": "Replace", "pattern": {"String": ""}, "content": " "}, None),
    (BPE, {"type": "Strip", "content": " ", "start": 0, "stop": 1}, None),
    (BPE, {"type": "SomethingNew"}, None),
    ({"type": "WordLevel"}, None, {"type": "Whitespace"}),
    (BPE, None, sequence({"type": "Split", "behavior": "Removed"}, inner="pretokenizers")),
])
def test_tokens_without_bytes_of_their_own_are_refused(model: Any, decoder: Any, before: Any) -> None:
    with pytest.raises(TokenizerError, match="no bytes of their own"):
        scheme_of(model, decoder, before, None)


def test_parts_must_be_objects() -> None:
    with pytest.raises(TokenizerError):
        scheme_of(BPE, sequence("Fuse"), None, None)  # type: ignore[arg-type]


def test_without_a_decoder_pieces_are_the_text() -> None:
    assert scheme_of(BPE, None, None, None).vocab_type is VocabType.RAW
    assert scheme_of({"type": "WordLevel"}, None, None, None).vocab_type is VocabType.RAW
    assert scheme_of(BPE, None, BYTE_LEVEL, None).vocab_type is VocabType.BYTE_LEVEL
    marked = scheme_of({**BPE, "byte_fallback": True}, None, {"type": "Metaspace"}, None)
    assert (marked.replacements, marked.byte_fallback) == ((("\u2581", " "),), True)


@pytest.mark.parametrize(("before", "normalizer", "prefix"), [
    (BYTE_LEVEL, None, True),
    ({**BYTE_LEVEL, "add_prefix_space": False}, None, False),
    ({"type": "Metaspace", "prepend_scheme": "first"}, None, True),
    ({"type": "Metaspace", "prepend_scheme": "never"}, None, False),
    ({"type": "Metaspace", "add_prefix_space": False}, None, False),
    (None, sequence({"type": "Prepend", "prepend": "\u2581"}, inner="normalizers"), True),
    (None, None, False),
])
def test_prefix_space(before: Any, normalizer: Any, prefix: bool) -> None:
    assert scheme_of(BPE, {"type": "Fuse"}, before, normalizer).add_prefix_space is prefix


def test_deep_nests_are_read_without_recursion() -> None:
    decoder: dict[str, Any] = {"type": "Fuse"}
    for _ in range(100_000):
        decoder = sequence(decoder)
    assert scheme_of(BPE, decoder, None, None).vocab_type is VocabType.RAW
    while "decoders" in decoder:  # taken apart by hand: freeing it would recurse
        decoder = decoder["decoders"].pop()


def test_added_tokens_of_a_byte_level_tokenizer_are_their_own_text() -> None:
    """The encoder finds them as written; only a piece that the model has too is read in the alphabet."""
    read = TokenizerInfo.from_huggingface(document(
        ["Ã©", "Ġ", "</s>"], decoder=BYTE_LEVEL,
        added_tokens=[added(0, "Ã©", special=False), added(2, "</s>", special=True), added(3, "é x", special=False)],
    ))
    assert read.decoded_vocab == ["é".encode(), b" ", b"", "é x".encode()]
    assert read.added_token_ids == {0, 3}
    assert read.token_ids_by_text["é x"] == (3,)


def test_added_tokens_go_through_the_decoder_where_blanks_are_marked() -> None:
    read = TokenizerInfo.from_huggingface(document(
        ["\u2581", "\u2581\u2581", "<0x0A>", "</s>"],
        decoder=sequence(REPLACE, {"type": "ByteFallback"}, {"type": "Fuse"}),
        added_tokens=[added(1, "\u2581\u2581", special=False), added(3, "</s>", special=True),
                      added(4, "a\u2581b", special=False)],
    ))
    assert read.decoded_vocab == [b" ", b"  ", b"\n", b"", b"a b"]
    assert read.token_ids_by_text["a\u2581b"] == (4,)
