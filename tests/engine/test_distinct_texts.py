"""What masks ask of a vocabulary's texts, against the same said by patterns and by walking all tokens."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import constrained as cd
from constrained.engine.distinct.texts import TokenRow, VocabularyTexts
from constrained.engine.utf8 import char_template
from constrained.engine.vocabulary_tables import trie_of
from constrained.regex.charset import normalise

_NEXT = rb',[ \t\n\r]*["\[{\-0-9tfn]'


def ids_of(row: TokenRow, words: int) -> list[int]:
    return row.among(np.full(words, 0xFFFFFFFF, dtype=np.uint32))


@pytest.mark.parametrize("seed", range(20))
def test_tokens_by_what_they_hold(seed: int) -> None:
    rng = random.Random(seed)
    letters = [b"a", b",", b'"', b" ", b"\n", b":", b"[", b"1", b"-", b"t", b"x", b"{"]
    tokens = [bytes([value]) for value in range(256)]
    tokens += sorted({b"".join(rng.choices(letters, k=rng.randint(2, 7))) for _ in range(600)} - set(tokens))
    tokens += [b"", b'":', b"1"]
    info = cd.TokenizerInfo.from_bytes(tokens, stop_token_ids=[len(tokens) - 3])
    texts = VocabularyTexts(info, trie_of(info).trie)

    def found(pattern: bytes) -> list[int]:
        return [i for i in range(info.vocab_size) if re.search(pattern, info.token_bytes(i), re.DOTALL)]

    assert ids_of(texts.second, texts.words) == found(_NEXT)
    assert ids_of(texts.second_behind_quote, texts.words) == found(b'".*' + _NEXT)
    assert ids_of(texts.second_behind_bracket, texts.words) == found(rb"[\[{].*" + _NEXT)
    assert ids_of(texts.member, texts.words) == found(rb'".*"[ \t\n\r]*:[ \t\n\r]*[^ \t\n\r]')
    assert len(found(_NEXT)) > 10
    runs = {run[0] for token in tokens for run in [re.match(rb"[ \t\n\r]+(?=[^ \t\n\r])", token)] if run}
    wanted: list[list[int]] = [[] for _ in range(max(map(len, runs), default=0))]
    for run in sorted(runs):
        node = 0
        for byte in run:
            node = texts.trie.child(node, byte)
        wanted[len(run) - 1].append(node)
    assert texts.behind_blanks == wanted


@pytest.mark.parametrize("seed", range(30))
def test_templates_of_characters(seed: int) -> None:
    rng = random.Random(seed)
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    pairs = [sorted((rng.choice(edges), rng.choice(edges))) for _ in range(rng.randint(1, 3))]
    ranges = normalise([(low, high) for low, high in pairs])
    if rng.random() < 0.3:
        ranges = ((0, 0x10FFFF),)  # surrogates are left out
    states, template = char_template(ranges)
    assert {state for state, *_ in template} == {*range(states)} - {1}
    for edge in edges:
        for code in (edge - 1, edge, edge + 1):
            if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                state: int | None = 0
                for byte in chr(code).encode():
                    state = next((to for at, low, high, to in template if at == state and low <= byte <= high), None)
                assert (state == 1) == any(low <= code <= high for low, high in ranges), code
    assert not any(low <= byte <= high for at, low, high, _ in template if at == 0 for byte in (0x80, 0xC0, 0xFF))
