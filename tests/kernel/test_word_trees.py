"""Trees of words, which masks read without states: every mask is what stepping each token alone says."""

from __future__ import annotations

import functools
import random

import pytest

import constrained as cd
from tests.engine.real_vocabularies import REAL, real_vocabulary
from tests.engine.worlds import COMPILED, stepped_mask

WORDS = ["alpha", "alphabet", "al", "beta", "bet", "gamma", "gam", "x", "delta one", "delta two", "größe", "größte",
         "the", "then", "there", "a", "ab", "abc", "abd", "in", "int", "into", "[", "[]", "1", "12", "123"]
GRAMMARS = {
    "words": 'root ::= "<" {words} ">"',
    "at once": "root ::= {words}",
    "in a loop": 'root ::= ({words} " "?)*',
    "different ends": 'root ::= ("al" "pha" [0-9]+ | "al" "so" | "an" [a-z]* | "at" "om"? | "b" "e" x | "b" "ut")\n'
                      'x ::= "gin" | "hind" x | "" ',
    "in a rule": 'root ::= one ("," one)*\none ::= {words} | "(" root ")"',
    "counted": 'root ::= {words}{{2,60}}',
    "before text": 'root ::= {words} " " [^"]* "\\""',
    "keys": 'root ::= "{{" ("name" | "names" | "nothing" | "id" | "identity") "\\"" ": " [0-9]+ "}}"',
}


@functools.cache
def vocabulary_of(name: str) -> cd.TokenizerInfo:
    """A real one, or the bytes and pieces of the words and of what stands around them."""
    if name in REAL:
        return real_vocabulary(name)
    rng = random.Random(0)
    text = " ".join(rng.choices(WORDS, k=60)) + '>,") (<"name": "id": "nothing": 12 3} "identity' * 4
    pieces = {text.encode()[i:i + rng.randrange(2, 8)] for i in range(len(text))}
    return cd.TokenizerInfo.from_bytes([*(bytes((byte,)) for byte in range(256)), *sorted(pieces), b""],
                                       stop_token_ids=[256 + len(pieces)], special_token_ids=[256 + len(pieces)])


@pytest.mark.parametrize("vocabulary", ["small", *REAL] if COMPILED else ["small"])
@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_what_steps_allow(name: str, vocabulary: str) -> None:
    rng = random.Random(name)
    words = "(" + " | ".join(f'"{word}"' for word in WORDS) + ")"
    grammar = cd.GrammarCompiler(vocabulary_of(vocabulary)).compile_grammar(GRAMMARS[name].format(words=words))
    info = grammar.tokenizer_info
    seen: set[int] = set()
    for _ in range(6 if COMPILED else 1):
        state = grammar.start_state
        for _ in range(10 if COMPILED else 4):
            allowed = grammar.allowed_ids(state)
            if state not in seen:
                assert allowed == stepped_mask(grammar, state)
                seen.add(state)
            going = [i for i in allowed if i not in info.stop_token_ids]
            going = [i for i in going if rng.random() < len(info.token_bytes(i)) / 4] or going
            if not going:
                break
            state = grammar.next_state(state, rng.choice(going))


def test_a_large_enum_makes_few_states() -> None:
    words = [f"{a}{b}{c}{d}" for a in "abcdefgh" for b in "aeiou" for c in "klmnop" for d in ("x", "yz", "")]
    grammar = cd.GrammarCompiler(real_vocabulary("llama3_1")).compile_json_schema({"enum": words})
    allowed = grammar.allowed_ids(grammar.start_state)
    state = grammar.advance(grammar.start_state, b'"')
    inside = grammar.allowed_ids(state)
    assert len(inside) > 100
    assert inside == stepped_mask(grammar, state)
    assert allowed == stepped_mask(grammar, grammar.start_state)
    fresh = cd.GrammarCompiler(real_vocabulary("llama3_1"), cache_limit_bytes=0).compile_json_schema({"enum": words})
    fresh.allowed_ids(fresh.advance(fresh.start_state, b'"'))
    assert fresh.automaton.counts()[1] < 30
