"""Streaming text: characters whole, stop strings found across token borders and never shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from constrained.decoder.detokenizer import Detokenizer, TokenText
from constrained.vocabulary import TokenizerInfo


def text_of(tokens: list[bytes]) -> TokenText:
    return TokenText(TokenizerInfo.from_bytes([*tokens, b"<end>"], stop_token_ids=[len(tokens)]))


def pieces(tokens: list[bytes], **options: object) -> tuple[list[str], Detokenizer]:
    detokenizer = Detokenizer(text_of(tokens), **options)  # type: ignore[arg-type]
    out = [detokenizer.push(i) for i in range(len(tokens))]
    return [*out, detokenizer.finish()], detokenizer


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=5), max_size=12))
def test_pieces_join_to_the_decoded_whole(tokens: list[bytes]) -> None:
    out, detokenizer = pieces(tokens)
    whole = b"".join(tokens).decode("utf-8", "replace")
    assert "".join(out) == whole == detokenizer.text


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20), st.data())
def test_never_half_a_character(text: str, data: st.DataObject) -> None:
    raw = text.encode("utf-8", "replace")
    text = raw.decode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    tokens = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    out, _ = pieces(tokens)
    shown = ""
    for piece in out:
        shown += piece
        assert text.startswith(shown)
    assert shown == text


def first_stop(text: str, stops: list[str], include: bool) -> tuple[str, str | None]:
    """By definition: the stop string that ends first; of those the longest."""
    for end in range(1, len(text) + 1):
        ending = [s for s in stops if text[:end].endswith(s)]
        if ending:
            stop = max(ending, key=len)
            return text[: end if include else end - len(stop)], stop
    return text, None


@settings(max_examples=400, deadline=None)
@given(text=st.text("ab\u00e9\n", max_size=30), stops=st.lists(st.text("ab\u00e9\n", min_size=1, max_size=5),
                                                              min_size=1, max_size=4),
       include=st.booleans(), data=st.data())
def test_stop_strings_across_token_borders(text: str, stops: list[str], include: bool, data: st.DataObject) -> None:
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=10)))
    tokens = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    expected, stop = first_stop(text, stops, include)
    detokenizer = Detokenizer(text_of(tokens), stops=stops, include_stop=include)
    shown = ""
    for i in range(len(tokens)):
        shown += detokenizer.push(i)
        assert expected.startswith(shown)  # nothing shown is ever taken back
    shown += detokenizer.finish()
    assert shown == expected == detokenizer.text
    assert (None if detokenizer.stopped is None else stops[detokenizer.stopped]) == stop


def test_holds_back_no_more_than_a_stop_could_take() -> None:
    out, _ = pieces([b"one", b" two\n", b"\nthree", b"\n", b"x"], stops=["\n\n\n", "END"])
    assert out == ["one", " two", "\n\nthree", "", "\nx", ""]


def test_a_long_periodic_stop_string_is_linear() -> None:
    stop = "a" * 30_000 + "b"
    out, detokenizer = pieces([b"a" * 60_000, b"a" * 40_000, b"c", b"a" * 30_000 + b"b"], stops=[stop])
    assert detokenizer.stopped == 0
    assert len("".join(out)) == 100_001


def test_special_tokens_are_skipped_or_shown() -> None:
    info = TokenizerInfo.from_bytes([b"hi", b"<|tool|>", b"<|end|>"], stop_token_ids=[2], special_token_ids=[1])
    text = TokenText(info)
    assert text.decode([0, 1, 0, 2]) == "hihi"
    assert text.decode([0, 1, 0, 2], skip_special_tokens=False) == "hi<|tool|>hi<|end|>"
    assert text.decode([7]) == ""
