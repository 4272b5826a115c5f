"""``TokenizerInfo`` itself: roles, widths, errors, immutability, fingerprints, pickles."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import TokenizerError
from constrained.vocabulary import TokenizerInfo, VocabType
from constrained.vocabulary.checks import MAX_TOKEN_BYTES, MAX_VOCAB_SIZE
from tests.shared_data import require_shared


def small(**more: Any) -> TokenizerInfo:
    return TokenizerInfo.from_bytes([b"a", b"b", b"", b"ab", b"<pad>", b"<eos>"],
                                    **{"special_token_ids": [4, 5], "stop_token_ids": [5], **more})


def test_roles() -> None:
    info = TokenizerInfo([b"a", b"<u>", b"", None, b"<c>", b"a", b"</s>"], special_token_ids=[4, 6],
                         added_token_ids=[1], vocab_size=9)
    assert [info.token_bytes(i) for i in range(9)] == [b"a", b"<u>", b"", b"", b"", b"a", b"", b"", b""]
    assert info.decoded_vocab == [info.token_bytes(i) for i in range(9)]
    assert (info.vocab_size, info.token_data) == (9, b"a<u>a")
    assert info.token_offsets.tolist() == [0, 1, 4, 4, 4, 4, 5, 5, 5, 5]
    assert info.stop_token_ids == (6,)
    assert info.special_token_ids == {4, 6}
    assert info.added_token_ids == {1}
    assert dict(info.token_ids_by_text) == {"<u>": (1,), "<c>": (4,), "</s>": (6,)}
    assert info.unspellable_bytes == frozenset(range(256)) - set(b"a<u>")
    assert not info.closed


def test_a_stop_token_is_never_text() -> None:
    info = TokenizerInfo.from_bytes([b"a", b"\n"], stop_token_ids=1)
    assert info.token_bytes(1) == b""
    assert info.special_token_ids == {1}
    assert info.token_ids_by_text["\n"] == (1,)
    assert 0x0A in info.unspellable_bytes


def test_equal_texts_of_control_tokens_are_all_named() -> None:
    info = TokenizerInfo.from_bytes([b"<x>", b"a", b"<x>", b"</s>"], special_token_ids=[2, 0, 3])
    assert info.token_ids_by_text["<x>"] == (0, 2)


def test_closed_needs_every_byte_alone() -> None:
    assert TokenizerInfo.from_bytes([b"a", b"ab", b"b", b"!"], stop_token_ids=3).closed
    assert not TokenizerInfo.from_bytes([b"a", b"ab", b"!"], stop_token_ids=2).closed


@pytest.mark.parametrize(("vocab_type", "pieces", "tokens"), [
    (VocabType.RAW, ["é", "Ġ", "<0x41>"], ["é".encode(), "Ġ".encode(), b"<0x41>"]),
    (VocabType.BYTE_LEVEL, ["Ã©", "Ġa", "Ċ"], ["é".encode(), b" a", b"\n"]),
    (VocabType.BYTE_FALLBACK, ["▁é", "▁▁", "<0x41>"], [" é".encode(), b"  ", b"A"]),
])
def test_encoded_vocabularies(vocab_type: VocabType, pieces: list[str], tokens: list[bytes]) -> None:
    for kind in (vocab_type, vocab_type.value):
        info = TokenizerInfo([*pieces, "</s>"], kind)  # type: ignore[arg-type]
        assert info.decoded_vocab == [*tokens, b""]
        assert info.vocab_type is vocab_type


def test_stop_tokens_by_name_without_control_tokens() -> None:
    assert TokenizerInfo(["a", "<|im_end|>", "<|endoftext|>"]).stop_token_ids == (1, 2)


def test_width() -> None:
    assert small().vocab_size == 6
    wide = small(vocab_size=np.int64(1000))
    assert wide.vocab_size == 1000
    assert wide.token_offsets.shape == (1001,)
    assert not any(wide.token_bytes(i) for i in range(6, 1000))
    narrow = TokenizerInfo.from_bytes([b"a", b"</s>", b"b", b"<x>"], special_token_ids=[1, 3], added_token_ids=[2],
                                      vocab_size=2)
    assert (narrow.vocab_size, narrow.token_data) == (2, b"a")
    assert (narrow.special_token_ids, narrow.added_token_ids) == ({1}, set())
    assert dict(narrow.token_ids_by_text) == {"</s>": (1,)}


BAD: dict[str, Any] = {
    "empty": lambda: TokenizerInfo.from_bytes([], stop_token_ids=0),
    "no stop token": lambda: TokenizerInfo.from_bytes([b"a"]),
    "no stop token among control tokens":
        lambda: TokenizerInfo.from_bytes([b"a", b"</s>", b"<x>"], special_token_ids=[2]),
    "no stop tokens given": lambda: small(stop_token_ids=[]),
    "stop out of range": lambda: small(stop_token_ids=100_000),
    "stop at the width": lambda: small(stop_token_ids=[5, 6]),
    "stop past a narrow width": lambda: small(vocab_size=5),
    "negative stop": lambda: small(stop_token_ids=[-1]),
    "stop is text": lambda: small(stop_token_ids="<eos>"),
    "stop is float": lambda: small(stop_token_ids=5.0),
    "stop is bool": lambda: small(stop_token_ids=True),
    "special out of range": lambda: small(special_token_ids=[6]),
    "added out of range": lambda: small(added_token_ids=[2**70]),
    "width 0": lambda: small(vocab_size=0),
    "width negative": lambda: small(vocab_size=-5),
    "width bool": lambda: small(vocab_size=True),
    "width text": lambda: small(vocab_size="6"),
    "width beyond reason": lambda: small(vocab_size=MAX_VOCAB_SIZE + 1),
    "text for bytes": lambda: TokenizerInfo.from_bytes(["a", "</s>"]),  # type: ignore[list-item]
    "one text": lambda: TokenizerInfo.from_bytes("abc", stop_token_ids=0),  # type: ignore[arg-type]
    "one bytes": lambda: TokenizerInfo(b"abc", stop_token_ids=0),  # type: ignore[arg-type]
    "mapping": lambda: TokenizerInfo({0: b"a"}, stop_token_ids=0),  # type: ignore[arg-type]
    "number": lambda: TokenizerInfo(5, stop_token_ids=0),  # type: ignore[arg-type]
    "ints": lambda: TokenizerInfo.from_bytes([1, 2], stop_token_ids=0),  # type: ignore[list-item]
    "lone surrogate": lambda: TokenizerInfo(["a", "\ud800", "</s>"]),
    "token too long": lambda: TokenizerInfo([b"a" * (MAX_TOKEN_BYTES + 1), "</s>"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_typed_error(name: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        BAD[name]()
    assert 0 < len(str(caught.value)) <= 2000


def test_longest_token() -> None:
    assert len(TokenizerInfo([b"a" * MAX_TOKEN_BYTES, "</s>"]).token_bytes(0)) == MAX_TOKEN_BYTES


@pytest.mark.parametrize("bad", [-1, 6, 2**31, 2**80])
def test_token_bytes_out_of_range(bad: int) -> None:
    with pytest.raises(TokenizerError, match="out of range"):
        small().token_bytes(bad)


def test_immutable() -> None:
    info = small()
    for name in ("vocab_size", "token_data", "new"):
        with pytest.raises(AttributeError):
            setattr(info, name, 1)
    with pytest.raises(AttributeError):
        del info.vocab_size
    with pytest.raises(ValueError, match="read-only"):
        info.token_offsets[0] = 1
    with pytest.raises(TypeError):
        info.token_ids_by_text["x"] = (1,)  # type: ignore[index]
    assert copy.copy(info) is info
    assert copy.deepcopy(info) is info


def test_input_is_not_changed_or_kept() -> None:
    tokens: list[bytes | None] = [b"a", b"</s>"]
    info = TokenizerInfo.from_bytes(tokens, special_token_ids=[1])
    assert tokens == [b"a", b"</s>"]
    tokens[0] = b"zzz"
    assert info.token_bytes(0) == b"a"


def test_fingerprint_covers_bytes_and_roles() -> None:
    tokens = [b"a", b"bc", b"<x>", b"</s>", b"<|im_end|>"]
    base: dict[str, Any] = {"special_token_ids": [3, 4], "stop_token_ids": [3]}
    variants = [
        TokenizerInfo.from_bytes(tokens, **base),
        TokenizerInfo.from_bytes([b"ab", b"c", *tokens[2:]], **base),  # the same joined bytes
        TokenizerInfo.from_bytes(tokens, **base, vocab_size=8),
        TokenizerInfo.from_bytes(tokens, **base, added_token_ids=[2]),
        TokenizerInfo.from_bytes(tokens, **{**base, "special_token_ids": [2, 3, 4]}),
        TokenizerInfo.from_bytes(tokens, **{**base, "stop_token_ids": [3, 4]}),
        TokenizerInfo.from_bytes(tokens, **{**base, "stop_token_ids": [4, 3]}),
        TokenizerInfo(tokens, **base, token_texts={3: "<end>"}),
    ]
    assert len({info.fingerprint for info in variants}) == len(variants)
    assert len(set(variants)) == len(variants)
    again = TokenizerInfo.from_bytes(tokens, **base)
    assert again == variants[0]
    assert hash(again) == hash(variants[0])
    assert again != "x"
    assert again.fingerprint[:12] in repr(again)


class Letters:
    """An encoder that can be pickled; some of its answers are wrong."""

    def encode(self, text: str) -> list[int] | None:
        return {"ab": [0, 1], "wrong": [0], "range": [99], "negative": [-1], "empty": [2], "control": [5]}.get(text)


class Unpicklable(Letters):
    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("no")


def encoding(encoder: Any) -> TokenizerInfo:
    return TokenizerInfo([b"a", b"b", b"", b"ab", b"<pad>", b"<eos>"], special_token_ids=[4, 5], encoder=encoder)


def test_encode_checks_the_answer() -> None:
    info = encoding(Letters())
    assert info.encode("ab") == [0, 1]
    for text in ("wrong", "range", "negative", "empty", "control", "unknown", "\ud800"):
        assert info.encode(text) is None
    assert small().encode("ab") is None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    info = small(vocab_size=12, added_token_ids=[3])
    back = pickle.loads(pickle.dumps(info, protocol))
    for name in TokenizerInfo.__slots__:
        assert np.array_equal(getattr(back, name), getattr(info, name)), name
    assert back.token_offsets.dtype == np.int64
    assert not back.token_offsets.flags.writeable


def test_pickle_takes_the_encoder_along_if_it_can() -> None:
    assert pickle.loads(pickle.dumps(encoding(Letters()))).encode("ab") == [0, 1]
    left_behind = pickle.loads(pickle.dumps(encoding(Unpicklable())))
    assert left_behind == encoding(None)
    assert left_behind.encode("ab") is None


@given(st.lists(st.one_of(st.none(), st.binary(max_size=5)), min_size=1, max_size=30), st.data())
def test_tables_agree_with_a_plain_reading(tokens: list[bytes | None], data: st.DataObject) -> None:
    ids = st.lists(st.integers(0, len(tokens) - 1), max_size=4)
    special, added_ids = data.draw(ids), data.draw(ids)
    stop = data.draw(ids.filter(bool))
    width = data.draw(st.integers(max(stop) + 1, len(tokens) + 5))
    info = TokenizerInfo.from_bytes(tokens, special_token_ids=special, added_token_ids=added_ids, stop_token_ids=stop,
                                    vocab_size=width)
    for i in range(width):
        silent = i >= len(tokens) or i in special or i in stop
        assert info.token_bytes(i) == (b"" if silent else tokens[i] or b"")
    assert info.stop_token_ids == tuple(dict.fromkeys(stop))
    assert info.special_token_ids == {i for i in (*special, *stop) if i < width}
    assert info.added_token_ids == {i for i in added_ids if i < width} - info.special_token_ids
    named = {i for ids_ in info.token_ids_by_text.values() for i in ids_}
    assert named == {i for i in (*special, *stop, *added_ids) if i < width and tokens[i]}


def test_threads_read_one_object() -> None:
    info = encoding(Letters())
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: (info.encode("ab"), info.token_bytes(3), info.decoded_vocab), range(200)))
    assert all(answer == answers[0] for answer in answers)


# -- the cases of the shared data --------------------------------------------------------------------------


def test_shared_cases() -> None:
    """Vocabularies of public bug reports: text tokens have their bytes, control tokens and padding none."""
    lines = (require_shared() / "data" / "cases" / "cases.jsonl").read_bytes().splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "tokenizer"]
    assert len(cases) == 9
    for case in cases:
        given_ = case["input"]
        tokens = [piece.encode("latin-1") if case["id"] == "tk-space-plus-partial" else piece.encode()
                  for piece in given_["vocab"]]
        info = TokenizerInfo.from_bytes(tokens, special_token_ids=given_["special"], stop_token_ids=given_["eos"],
                                        added_token_ids=given_.get("added", ()), vocab_size=given_.get("logits_width"))
        assert info.vocab_size == given_.get("logits_width", len(tokens))
        assert info.stop_token_ids == tuple(given_["eos"])
        for ids in case["accept_ids"]:
            *body, end = ids
            assert end in info.stop_token_ids
            assert all(map(info.token_bytes, body))
            assert b"".join(map(info.token_bytes, body)).decode() in case["accept"] or case["id"] == "tk-empty-piece"
        assert all(info.token_bytes(i) == b"" for i in given_["special"])
        assert all(info.token_bytes(i) == b"" for i in range(len(tokens), info.vocab_size))


def test_adversarial_vocabularies() -> None:
    """Odd vocabularies are read, contradictory ones refused; bytes are taken as they are."""
    lines = (require_shared() / "data" / "adversarial" / "adversarial.jsonl").read_bytes().splitlines()
    seen = 0
    for case in map(json.loads, lines):
        if case["kind"] != "tokenizer":
            continue
        made = json.loads(eval(case["generator"], {"json": json}))
        tokens = [piece.encode("latin-1") for piece in made["vocab"]]
        arguments = {"special_token_ids": made["special"], "stop_token_ids": made["eos"],
                     "vocab_size": made.get("vocab_size")}
        seen += 1
        if case["expect"] == "error":
            with pytest.raises(TokenizerError):
                TokenizerInfo.from_bytes(tokens, **arguments)
            continue
        info = TokenizerInfo.from_bytes(tokens, **arguments)
        silent = info.special_token_ids
        assert info.token_data == b"".join(t for i, t in enumerate(tokens) if i not in silent)
        for bad in case.get("consume", ()):
            with pytest.raises(TokenizerError):
                info.token_bytes(bad)
    assert seen == 12
