"""Encoded ids spell the text: the proof that every token's bytes are right, over real tokenizers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constrained.vocabulary import TokenizerInfo
from tests.vocabulary.sources import NAMES, backend_of, info_of, smollm2

TEXTS = (
    "",
    " ",
    "Hello, world!",
    " leading and trailing  ",
    "   runs   of    spaces     and\ttabs\t\t\tand\n\n\nlines\r\n\r\n",
    "0 00 000 0000 1234567890 3.14159 -1e-9 ١٢٣ १२३ ４５６ ½ Ⅷ",
    '{"name": "Zoë", "list": [1, 2.5, null, true], "nested": {"a\\u0000": "\\\\"}}',
    "def f(x):\n    return {k: v for k, v in x.items() if k != '__'}\n",
    "Ünïcödé straße Ελληνικά русский עברית العربية हिन्दी ไทย 日本語 한국어 中文字符 ꦗꦮ ᏣᎳᎩ",
    "e\u0301 \u0041\u030a \u1112\u1161\u11ab \ufb01 \u212b",
    "👍🏽 👩\u200d👩\u200d👧\u200d👦 🏴\U000e0067\U000e0062\U000e007f 🇩🇪 \U0001f9d1\u200d🚀 ☃️",
    "".join(map(chr, range(0x20))) + "\x7f",
    "".join(map(chr, range(0x80, 0x180))),
    "\u2581 \u2581\u2581 a\u2581b \ufffd \ufeff \u200b \u00a0 \u2028\u2029 \ue000 \uffff \U0010ffff",
    "<0x41> <0x0A> <unk> <s> [INST] <think> </think> <tool_call>x</tool_call> Ġ Ċ âĢĻ",
    "https://example.org/a?b=c&d=%20#e  SELECT * FROM t WHERE a<>b;--",
    "a" * 300 + " " * 70 + "\n" * 40 + "=" * 200,
)

ALPHABETS = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(max_codepoint=0x7F), max_size=80),
    st.text(st.sampled_from(" \t\n\r\u2581\u00a0a.0"), max_size=80),
    st.text(st.sampled_from("0123456789 .,-eE"), max_size=40),
    st.text(st.characters(min_codepoint=0x10000), max_size=20),
    st.text(st.characters(categories=("Mn", "Cf", "Zs", "So", "Lo")), max_size=30),
    st.lists(st.sampled_from(TEXTS), max_size=3).map("".join),
)


def normalised(backend: Any, info: TokenizerInfo, text: str) -> bytes:
    """The text after the tokenizer's own normalisation; the mark for a space is a space."""
    if backend.normalizer is not None:
        text = backend.normalizer.normalize_str(text)
    if info.vocab_type.value == "byte_fallback":
        text = text.replace("\u2581", " ")
    return text.encode()


def spelled(info: TokenizerInfo, ids: list[int]) -> bytes:
    return b"".join(map(info.token_bytes, ids))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(text=ALPHABETS)
def test_encoded_ids_spell_the_normalised_text(name: str, text: str) -> None:
    backend, info = backend_of(name), info_of(name)
    ids = backend.encode(text, add_special_tokens=False).ids
    if any(i in info.special_token_ids for i in ids):
        return  # the text names a control token, which spells nothing
    assert spelled(info, ids) == normalised(backend, info, text)


@pytest.mark.parametrize("name", NAMES)
def test_chosen_texts(name: str) -> None:
    backend, info = backend_of(name), info_of(name)
    for text in TEXTS:
        text = text.replace("<unk>", "").replace("<s>", "")
        assert spelled(info, backend.encode(text, add_special_tokens=False).ids) == normalised(backend, info, text)


@pytest.mark.parametrize("name", [*NAMES, "smollm2"])
@settings(max_examples=100, deadline=None)
@given(text=ALPHABETS)
@example(text="<|eot_id|></s><|im_end|><end_of_turn><eos>")
@example(text="a\x04b")
def test_encode_answers_exactly_or_not_at_all(name: str, text: str) -> None:
    info = smollm2() if name == "smollm2" else info_of(name)
    ids = info.encode(text)
    if ids is not None:
        assert spelled(info, ids) == text.encode()
        assert not info.special_token_ids.intersection(ids)


@pytest.mark.parametrize("name", [*NAMES, "smollm2"])
def test_encode_answers_for_plain_texts(name: str) -> None:
    """Control tokens' names in a text are spelled, not taken; no blank is put in front."""
    info = smollm2() if name == "smollm2" else info_of(name)
    for text in ("", "{", ' "a": 1', "x\n\n  y", "<|eot_id|><|im_end|><|return|>", "</s><s>", "naïve 漢字 👍"):
        ids = info.encode(text)
        assert ids is not None, text
        assert spelled(info, ids) == text.encode()


@settings(max_examples=100, deadline=None)
@given(text=ALPHABETS)
def test_smollm2_spells_all_but_21_bytes(text: str) -> None:
    info = smollm2()
    raw = text.encode()
    ids = info.encode(text)
    assert (ids is None) == (not info.unspellable_bytes.isdisjoint(raw))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_tokens_decode_to_their_bytes(name: str, data: st.DataObject) -> None:
    """Any row of text tokens: the tokenizer's decoder writes the joined bytes, wherever these are UTF-8."""
    backend, info = backend_of(name), info_of(name)
    ids = data.draw(st.lists(st.integers(0, info.vocab_size - 1), min_size=1, max_size=12))
    ids = [i for i in ids if info.token_bytes(i)]
    try:
        text = spelled(info, ids).decode()
    except UnicodeDecodeError:
        return
    if info.add_prefix_space and text.startswith(" "):
        text = text[1:]
    assert backend.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize("name", NAMES)
def test_every_token_alone(name: str) -> None:
    """All ids of a real vocabulary: what is whole UTF-8 by itself decodes to itself."""
    backend, info = backend_of(name), info_of(name)
    pairs = []
    for i, token in enumerate(info.decoded_vocab):
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        if text and not (info.add_prefix_space and text.startswith(" ")):
            pairs.append((i, text))
    assert len(pairs) > info.vocab_size // 3  # half of Llama-2's tokens begin with a blank
    decoded = backend.decode_batch([[i] for i, _ in pairs], skip_special_tokens=False)
    assert [(i, text, got) for (i, text), got in zip(pairs, decoded, strict=True) if text != got] == []


@pytest.mark.parametrize("name", [*NAMES, "smollm2"])
def test_which_bytes_can_be_spelled(name: str) -> None:
    info = smollm2() if name == "smollm2" else info_of(name)
    joined = set(info.token_data)
    alone = {token[0] for token in info.decoded_vocab if len(token) == 1}
    assert info.unspellable_bytes == frozenset(range(256)) - joined
    assert info.closed == (alone == joined)
    assert info.closed
    assert len(info.unspellable_bytes) == (21 if name == "smollm2" else 0)
