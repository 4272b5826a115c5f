"""What only large vocabularies come to, uncompiled: its thresholds are set to nothing, and a small vocabulary will do.

``test_large_walks`` compares the compiled kernels with reading every token; here the same lines run as Python.
"""

from __future__ import annotations

import random

import pytest

import constrained as cd
from constrained.kernel import (
    exit_groups,
    is_compiled,
    mask_records,
    mask_store,
    region_automaton,
    region_reach,
    token_walk,
)

pytestmark = pytest.mark.skipif(is_compiled(), reason="compiled, the thresholds are constants")

THRESHOLDS = [
    (token_walk, "MANY_NODES", 0),
    (exit_groups, "MANY_PLACES", 0), (region_automaton, "MAX_CELLS", 4), (region_automaton, "MUCH", 1_000_000),
    (region_reach, "NARROW", 2), (mask_records, "ROW_IDS", 2), (mask_store, "DELTA_MAX", 2),
]


@pytest.fixture(scope="module")
def info() -> cd.TokenizerInfo:
    rng = random.Random(11)
    found = {bytes([b]) for b in range(256)} | {b"\xc3\xa9", b"a\xc3\xa9b", b"\xa9x"}
    while len(found) < 600:
        found.add(bytes(rng.choices(b"aaabbcdefg-q1", k=rng.randrange(2, 6))))
    tokens = sorted(found, key=lambda token: (-len(token), token))
    return cd.TokenizerInfo.from_bytes([*tokens, b""], stop_token_ids=[len(tokens)])


@pytest.mark.parametrize("taken", [[], *([k] for k in range(len(THRESHOLDS))), list(range(len(THRESHOLDS)))], ids=str)
@pytest.mark.parametrize(("grammar", "texts"), [
    ('root ::= pairs "!"\npairs ::= ([a-f] [a-f])*', [b"", b"a"]),
    ('root ::= (pairs "q1" | "q" pairs "-q" [a-f])*\npairs ::= ([a-f] [a-f])+', [b"", b"ab", b"qab"]),
    ('root ::= "<" body ">" body "q"?\nbody ::= ([ac] | [bd-] | "é")*', [b"<", b"<a", b"<a>", b"<\xc3"]),
    ('root ::= "<" ([a-f]{2,5} [a-c]+ "-")+ [a-z0-9]{2,}', [b"<", b"<abc"]),
])
def test_masks(info: cd.TokenizerInfo, grammar: str, texts: list[bytes], taken: list[int],
               monkeypatch: pytest.MonkeyPatch) -> None:
    for k in taken:
        monkeypatch.setattr(*THRESHOLDS[k])
    compiled = cd.GrammarCompiler(info, cache_limit_bytes=0).compile_grammar(grammar)
    for text in texts:
        state = compiled.advance(compiled.start_state, text)
        assert state
        expected = [i for i in range(info.vocab_size - 1) if compiled.advance(state, info.token_bytes(i))]
        if compiled.is_complete(state):
            expected.append(info.vocab_size - 1)
        assert compiled.allowed_ids(state) == expected
