"""Masks of random structural tags, token by token, against XGrammar's on the same vocabulary.

Only ASCII tokens are compared. What XGrammar does otherwise on purpose is not generated here;
``docs/structural_tags.md`` lists it: text that goes on after a stop inside it, tokens that stand for delimiters,
bounds on whitespace.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

import constrained as cd

xgrammar = pytest.importorskip("xgrammar")

TOKENS = [bytes([i]) for i in range(128)] + [b"<f", b"=a>", b"<f=a>", b"</f>", b"</", b"ab", b"no", b"x<",
                                             b'{"', b'"}', b", ", b"<g>", b">c", b"c</f>", b"1,", b"<s>", b"</eos>"]
STOP = len(TOKENS) - 1
INFO = cd.TokenizerInfo(TOKENS, stop_token_ids=STOP)
ROUNDS = 400 if os.environ.get("CONSTRAINED_NIGHTLY") else 60

SCHEMAS: list[Any] = [{"type": "null"}, {"enum": ["ab", "no"]}, {"type": "boolean"},
                      {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}},
                       "required": ["a"], "additionalProperties": False}]


def plain(rng: random.Random) -> dict[str, Any]:
    """A format without free text."""
    return rng.choice([
        {"type": "const_string", "value": rng.choice(["c", "ab", "", "1,2"])},
        {"type": "regex", "pattern": rng.choice(["[ab]+", "a|b|no", "x?y*", "[0-9]{2,3}"])},
        {"type": "grammar", "grammar": 'root ::= "a" root "b" | "c"'},
        {"type": "json_schema", "json_schema": rng.choice(SCHEMAS)},
    ])


def tag(rng: random.Random, depth: int, begin: str | None = None) -> dict[str, Any]:
    begins = ["<f=a>", "<f=b>", "<g>", "<h>"]
    return {"type": "tag", "begin": begin or rng.choice(begins), "content": build(rng, depth),
            "end": rng.choice(["</f>", "</g>", ["</f>", "!"]])}


def build(rng: random.Random, depth: int) -> dict[str, Any]:
    """A random format."""
    kind = rng.choice(["plain", "any", "tag", "triggered", "separated", "sequence", "or", "repeat", "dispatch"]
                      if depth else ["plain", "any"])
    if kind == "plain":
        return plain(rng)
    if kind == "any":
        return {"type": "any_text", **rng.choice([{}, {"excludes": ["no"]}, {"excludes": ["<g", "zz"]}])}
    if kind == "tag":
        return tag(rng, depth - 1)
    if kind == "triggered":
        begins = rng.sample(["<f=a>", "<f=b>", "<g>", "<gg>"], rng.randint(1, 3))
        triggers = [t for t in ("<f=", "<g") if any(b.startswith(t) for b in begins)]
        return {"type": "triggered_tags", "triggers": triggers, "tags": [tag(rng, depth - 1, b) for b in begins],
                "at_least_one": rng.random() < 0.3, "stop_after_first": rng.random() < 0.3,
                "excludes": rng.choice([[], ["no"]])}
    if kind == "separated":
        return {"type": "tags_with_separator", "tags": [
            tag(rng, depth - 1, b) for b in rng.choice([["<f=a>"], ["<g>", "<h>"]])],
                "separator": rng.choice([",", "\n", ", ", ""]), "at_least_one": rng.random() < 0.5,
                "stop_after_first": rng.random() < 0.3}
    if kind == "sequence":
        return {"type": "sequence", "elements": [plain(rng), build(rng, depth - 1)]}
    if kind == "or":
        return {"type": "or", "elements": [plain(rng), build(rng, depth - 1)]}
    if kind == "dispatch":
        return {"type": "dispatch", "rules": [["<f", plain(rng)], ["<g", plain(rng)]], "loop": rng.random() < 0.6,
                "excludes": rng.choice([[], ["no"]])}
    return rng.choice([{"type": "optional", "content": plain(rng)}, {"type": "star", "content": plain(rng)},
                       {"type": "plus", "content": plain(rng)},
                       {"type": "repeat", "min": 1, "max": rng.choice([2, -1]), "content": plain(rng)}])


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_masks_agree(seed: int) -> None:
    rng = random.Random(seed)
    form = {"type": "structural_tag", "format": build(rng, 2)}
    theirs_info = xgrammar.TokenizerInfo(TOKENS, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[STOP])
    try:
        theirs = xgrammar.GrammarCompiler(theirs_info, max_threads=1).compile_structural_tag(json.dumps(form))
    except RuntimeError:
        with pytest.raises(cd.ConstrainedError):
            cd.GrammarCompiler(INFO).compile_structural_tag(form)
        return
    ours = cd.GrammarCompiler(INFO).compile_structural_tag(form)
    mask = xgrammar.allocate_token_bitmask(1, len(TOKENS))
    for _ in range(6):
        one, other = cd.GrammarMatcher(ours), xgrammar.GrammarMatcher(theirs)
        text: list[int] = []
        for _ in range(25):
            allowed = one.allowed_token_ids()
            xgrammar.reset_token_bitmask(mask)
            other.fill_next_token_bitmask(mask)
            expected = [i for i in range(len(TOKENS)) if int(mask[0, i >> 5]) >> (i & 31) & 1]
            for token in set(allowed) ^ set(expected):
                # XGrammar's mask now and then allows a token that it then does not take
                taken = token != STOP and other.fork().accept_string(TOKENS[token])
                assert token != STOP and taken == (token in allowed), (form, b"".join(TOKENS[i] for i in text),
                                                                       TOKENS[token])
            choice = [i for i in allowed if i != STOP]
            if not choice:
                break
            likely = [i for i in choice if TOKENS[i][:1] in b"<>=/afgcb,{\"1"]
            token = rng.choice(likely or choice) if rng.random() < 0.9 else rng.choice(choice)
            assert one.accept_token(token) and other.accept_token(token)
            text.append(token)
