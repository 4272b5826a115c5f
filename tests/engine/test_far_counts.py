"""Counts far from their bounds: masks and ends as the oracle has them, and nothing new for a new count."""

from __future__ import annotations

import random

import pytest

from constrained import GrammarCompiler, GrammarMatcher
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.grammar.ir import CharClass, Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence, Unordered
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo
from tests.engine.worlds import describe, productive, sized
from tests.oracles import ItemSet, Recogniser

WORDS = [b"a", b"b", b"c", b",", b"ab", b"a,", b",a", b"b,", b",b", b"aa", b"aaa", b"a,a", b"cb", b",c", b";", b"a;b"]
STOP = len(WORDS)
BOUNDS = [(0, 30), (0, 60), (1, 45), (25, 70), (24, 24), (40, 40), (30, None), (0, None), (50, 53), (0, 3), (2, 21)]


def vocabulary() -> TokenizerInfo:
    return TokenizerInfo.from_bytes([*WORDS, b"<e>"], stop_token_ids=[STOP], special_token_ids=[STOP])


def loop(rng: random.Random, body: Expr) -> Repeat:
    return Repeat(body, *rng.choice(BOUNDS))


def shaped(rng: random.Random) -> RuleSet:
    """Loops in loops, as strings in arrays are: one way to read nearly everything."""
    letters = CharClass(((97, 98),))
    comma, end = Literal(b","), Literal(b";")
    keys = (Literal(b"ca"), Literal(b"cb"), Literal(b"cc"))
    low, high = rng.choice([(0, 40), (30, None), (25, 50), (0, 24)])
    inner = rng.choice([
        loop(rng, letters),
        loop(rng, Choice((Literal(b"a"), Literal(b"ab")))),
        Sequence((loop(rng, Literal(b"a")), loop(rng, Literal(b"b")))),
        loop(rng, Sequence((loop(rng, letters), Literal(b"c")))),
        Unordered(keys, frozenset({0}) if rng.random() < 0.5 else frozenset(), comma, letters, low, high,
                  rng.random() < 0.5),
        Choice((letters, Sequence((Literal(b"c"), loop(rng, Sequence((Reference("x"), comma))), Literal(b"c"))))),
    ])
    return RuleSet({"root": Sequence((loop(rng, Sequence((Reference("x"), end))), letters)), "x": inner}, "root")


def ambiguous(rng: random.Random) -> RuleSet:
    letters = CharClass(((97, 98),))
    inner = rng.choice([
        loop(rng, Choice((Literal(b"a"), Literal(b"aa"), Literal(b"b")))),
        loop(rng, Sequence((loop(rng, letters), Repeat(Literal(b","), 0, 1)))),
        Choice((loop(rng, letters), loop(rng, Literal(b"a")))),
        Sequence((loop(rng, letters), loop(rng, letters))),
    ])
    return RuleSet({"root": loop(rng, Sequence((Reference("x"), Literal(b";")))), "x": inner}, "root")


def allowed(reader: Recogniser, here: ItemSet) -> list[int]:
    """The mask by the oracle, from one of its item sets."""
    found = [i for i in range(len(WORDS)) if reader.read_token(here, i).items]
    return found + [STOP] * reader.is_complete(here)


@pytest.mark.parametrize("seed", range(sized(24, 4)))
def test_masks_are_the_oracles_all_the_way(seed: int) -> None:
    rng = random.Random(seed)
    rules = productive((ambiguous if seed % 4 == 0 else shaped)(rng).rules)
    grammar = compile_rules(rules, vocabulary(), Limits(max_threads=500))
    reader = Recogniser(rules, tokens=[*WORDS, b""])
    matcher = GrammarMatcher(grammar)
    here, text, stay = reader.start(), b"", False
    for step in range(rng.choice([40, 80])):
        if len(here.items) > 40:
            break  # ambiguous: the oracle would take seconds
        ids = matcher.allowed_token_ids()
        assert ids == allowed(reader, here), (describe(rules), text)
        ids = [i for i in ids if i != STOP]
        if not ids:
            break
        token = rng.choice([i for i in ids if stay and b";" not in WORDS[i] and b"," not in WORDS[i]] or ids)
        stay = rng.random() < 0.9
        assert matcher.accept_token(token)
        text += WORDS[token]
        for byte in WORDS[token]:
            here = reader.read_byte(here, byte)
        if step % 8:
            continue
        end = matcher.shortest_completion()
        assert len(end) == matcher.distance_to_end()
        if len(end) > 500:
            continue
        after = here
        for byte in end:
            after = reader.read_byte(after, byte)
        assert reader.is_complete(after), (describe(rules), text, end)


LONG = {
    "items": ('{"type":"array","maxItems":100000,"items":{"type":"integer","minimum":0}}', "[7", ", 7"),
    "objects": ('{"type":"array","minItems":90000,"maxItems":100000,"items":{"properties":{"k":{"type":"array",'
                '"maxItems":5000}},"required":["k"],"additionalProperties":false}}',
                '[{"k": [1, 2]}', ', {"k": [1, 2]}'),
    "text": ('{"type":"string","maxLength":1000000}', '"', "aé"),
    "keys": ('{"type":"object","maxProperties":100000,"properties":{"a":{}},"additionalProperties":{"type":"null"}}',
             '{"a": 1', ', "b": null'),
    "nested": ('{"type":"array","maxItems":100000,"items":{"type":"array","maxItems":3000,"items":{"type":"null"}}}',
               "[[null]", ", [" + "null, " * 40 + "null]"),
    "regex": (None, "", "ab"),
}


@pytest.mark.parametrize("name", LONG)
def test_a_new_count_needs_nothing_new(name: str) -> None:
    schema, begin, more = LONG[name]
    tokens = [bytes((b,)) for b in range(256)] + [b", {", b"}, ", b"null", b"null, "]
    info = TokenizerInfo.from_bytes([*tokens, b"<e>"], stop_token_ids=[len(tokens)], special_token_ids=[len(tokens)])
    compiler = GrammarCompiler(info)
    grammar = (compiler.compile_regex("(?:ab){50000,60000}|a") if schema is None
               else compiler.compile_json_schema(schema, any_whitespace=False, property_order="any"))
    matcher = GrammarMatcher(grammar)
    assert matcher.accept_string(begin)
    states: list[int] = []
    for _ in range(3):
        for _ in range(sized(400, 25)):
            for byte in more.encode():
                assert matcher.accept_token(byte)
                matcher.allowed_token_count()
        states.append(grammar.automaton.counts()[1])
    assert states[1] == states[2]


def test_bounds_are_exact_far_away() -> None:
    """Where a count nears a bound it is the true one again: through tokens, strings, rollback and forks."""
    compiler = GrammarCompiler(vocabulary())
    for least, most in ((300, 300), (0, 500), (250, 500), (200, None)):
        grammar: CompiledGrammar = compiler.compile_regex(f"a{{{least},{'' if most is None else most}}}b")
        matcher = GrammarMatcher(grammar)
        for count in range(600 if most is None else most):
            ids = matcher.allowed_token_ids()
            want = [i for i, word in enumerate(WORDS) if fits(word, count, least, most)]
            assert ids == want, (least, most, count)
            assert matcher.distance_to_end() == max(least - count, 0) + 1
            if count % 50 == 20:
                other = matcher.fork()
                assert other.accept_string(b"a" * 21)
                other.rollback(1)
                assert other.state == matcher.state
                assert matcher.shortest_completion() == b"a" * max(least - count, 0) + b"b"
                assert len(matcher.find_jump_forward_string()) == max(least - count, 0) + (least == most)
            assert matcher.accept_token(0)
        if most is not None:
            assert matcher.allowed_token_ids() == [1]


def fits(word: bytes, count: int, least: int, most: int | None) -> bool:
    """Whether ``word`` may follow ``count`` letters a in ``a{least,most}b``."""
    letters = len(word) - len(word.lstrip(b"a"))
    rest = word[letters:]
    count += letters
    return (most is None or count <= most) and rest in (b"", b"b") and (not rest or count >= least)
