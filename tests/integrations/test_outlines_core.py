"""The outlines-core backend: its masks against all texts of small languages, its matcher's laws, its known faults.

Every fault told in docs/outlines_core.md is shown here on outlines-core itself, so that a version without it is
noticed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from constrained.errors import (
    BitmaskError,
    ConstrainedError,
    GrammarError,
    GrammarLimitError,
    UnsatisfiableGrammarError,
)
from constrained.grammar.ir import CharClass, Choice, Literal, Reference, Repeat, RuleSet, Sequence, TokenReference
from constrained.limits import Limits
from constrained.vocabulary.tokenizer_info import TokenizerInfo

outlines_core = pytest.importorskip("outlines_core")

from constrained.integrations.outlines_core import OutlinesCompiler  # noqa: E402
from constrained.integrations.peer_matcher import PeerMatcher  # noqa: E402

TOKENS = [b"", b"", b"", b"a", b"b", b"c", b"ab", b"ba", b"aab", b"bc", b"a", b"\xc3", b"\xa9", b"\xc3\xa9", b"abc",
          b"\n", b"a\xc3"]
STOPS = (1, 2)  # 0 is no token at all; 3 and 10 are both "a"
INFO = TokenizerInfo.from_bytes(TOKENS, stop_token_ids=STOPS, special_token_ids=(1, 2), vocab_size=40)


def all_texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(chars) for n in range(longest + 1) for chars in itertools.product(alphabet, repeat=n)]


def allowed(matcher: PeerMatcher) -> set[int]:
    bitmask = np.full((1, 2), -1, dtype=np.int32)
    assert matcher.fill_next_token_bitmask(bitmask)
    flags = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(flags).tolist())


def check_every_mask(texts: set[bytes], matcher: PeerMatcher, limit: int = 400) -> None:
    """Walks all token sequences (up to ``limit``) and compares each mask with the finite set of ``texts``."""
    work = [(b"", matcher)]
    while work and limit:
        limit -= 1
        prefix, here = work.pop()
        expected = {i for i, data in enumerate(TOKENS) if data and any(t.startswith(prefix + data) for t in texts)}
        if prefix in texts:
            expected.update(STOPS)
        assert here.is_completed() is (prefix in texts), prefix
        assert allowed(here) == expected, prefix
        for token_id in range(-2, 45):
            after = here.fork()
            assert after.accept_token(token_id) is (token_id in expected), (prefix, token_id)
            if token_id in expected and token_id not in STOPS:
                work.append((prefix + TOKENS[token_id], after))


PATTERNS = ["a|ab", "(a|ab)(c|bc)?", "a{1,3}b?", "(ab|a){0,3}", "", "a??b", "[ab]{2}c|[bc]{1,3}", "((a|b)c?){1,2}",
            "(a|ab|abc)", "(a?b?c?)", "(?:|a(?:|b))", "a{1,3}?b{0,2}", "(?i:AB)|bA?", ".{1,2}", "[^a]{1,2}", "é|a|aé",
            "é{1,2}", "(a|)(b|)", "(?:a{0,2}){2}"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_mask_of_a_small_language(pattern: str) -> None:
    alphabet, longest = ("abcé\n", 4) if set(pattern) & set("é.^") else ("abc", 6)  # all that TOKENS can spell
    texts = {text.encode() for text in all_texts(alphabet, longest) if re.fullmatch(pattern, text)}
    check_every_mask(texts, OutlinesCompiler(INFO).compile_regex(pattern).new_matcher())


def test_an_ebnf_grammar_without_recursion() -> None:
    grammar = 'root ::= item ("c" item)?\nitem ::= "a" | "ab" | [b]'
    items = ["a", "ab", "b"]
    texts = {x.encode() for x in items} | {f"{x}c{y}".encode() for x in items for y in items}
    check_every_mask(texts, OutlinesCompiler(INFO).compile_grammar(grammar).new_matcher())


def test_a_loop_without_end_never_gets_stuck() -> None:
    rng = np.random.default_rng(0)
    for pattern in ("(ab|ba)*c", "[abc]+", "(a*b){2,}", "(é|a)*"):
        matcher = OutlinesCompiler(INFO).compile_regex(pattern).new_matcher()
        written = b""
        for _ in range(60):
            choices = sorted(allowed(matcher))
            assert choices
            token_id = int(rng.choice(choices))
            assert matcher.accept_token(token_id)
            if token_id in STOPS:
                break
            written += TOKENS[token_id]
        if matcher.is_terminated():
            assert re.fullmatch(pattern, written.decode())


def test_matcher_laws() -> None:
    grammar = OutlinesCompiler(INFO).compile_regex("(ab|c){2,4}")
    matcher = grammar.new_matcher()
    masks = [allowed(matcher)]
    for token_id in (6, 5, 3, 4):  # ab c a b
        assert matcher.accept_token(token_id)
        masks.append(allowed(matcher))
    assert matcher.is_completed() and not matcher.is_terminated()
    assert not matcher.accept_token(4) and allowed(matcher) == masks[-1]
    fork = matcher.fork()
    assert fork.accept_token(1) and fork.is_terminated() and not fork.is_completed()
    assert not fork.accept_token(1) and not fork.accept_token(5)
    assert allowed(fork) == set(STOPS)
    assert not matcher.is_terminated()
    fork.rollback(1)
    assert not fork.is_terminated() and allowed(fork) == masks[4]
    for i in (3, 2, 1, 0):
        fork.rollback()
        assert allowed(fork) == masks[i]
    for wrong in (1, -1):
        with pytest.raises(ConstrainedError, match="take back"):
            fork.rollback(wrong)
    assert matcher.validate_tokens([5, 5, 5]) == 1 and allowed(matcher) == masks[4]
    assert matcher.accept_tokens([5, 2, 5]) == 2 and matcher.is_terminated()
    matcher.reset()
    assert allowed(matcher) == masks[0] == {3, 5, 6, 10, 14}


@pytest.mark.parametrize("bitmask", [np.zeros((1, 1), np.int32), np.zeros((1, 2), np.int64), np.zeros(2, np.int32)])
def test_a_wrong_bitmask_is_refused(bitmask: np.ndarray) -> None:
    matcher = OutlinesCompiler(INFO).compile_regex("a").new_matcher()
    with pytest.raises(BitmaskError):
        matcher.fill_next_token_bitmask(bitmask)
    with pytest.raises(BitmaskError):
        matcher.fill_next_token_bitmask(np.zeros((1, 2), np.int32), 1)


def test_a_torch_bitmask_is_written() -> None:
    torch = pytest.importorskip("torch")
    bitmask = torch.full((2, 2), -1, dtype=torch.int32)
    OutlinesCompiler(INFO).compile_regex("a").new_matcher().fill_next_token_bitmask(bitmask, 1)
    assert bitmask.tolist() == [[-1, -1], [(1 << 3) | (1 << 10), 0]]


@pytest.mark.parametrize(("compile_it", "error", "message"), [
    (lambda c: c.compile_grammar('root ::= "a" root | "b"'), GrammarError, "contains itself"),
    (lambda c: c.compile_grammar('root ::= x\nx ::= "a" y?\ny ::= "b" x'), GrammarError, "contains itself"),
    (lambda c: c.compile_rules(RuleSet({"root": TokenReference((3,))}, "root")), GrammarError, "TokenReference"),
    (lambda c: c.compile_rules(RuleSet({"root": Literal(b"\xff")}, "root")), GrammarError, "UTF-8"),
    (lambda c: c.compile_rules(RuleSet({"root": Choice(())}, "root")), UnsatisfiableGrammarError, "no text"),
    (lambda c: c.compile_rules(RuleSet({"root": CharClass(())}, "root")), UnsatisfiableGrammarError, "no text"),
    (lambda c: c.compile_regex("xyz"), GrammarError, "refuses"),
    (lambda c: c.compile_regex("[ab]{1,100000000}"), GrammarLimitError, "max_walk_nodes"),
    (lambda c: c.compile_rules(RuleSet({"root": Sequence((Reference("x"),) * 2),
                                        **{"x" * i: Sequence((Reference("x" * (i + 1)),) * 2) for i in range(1, 40)},
                                        "x" * 40: Literal(b"a")}, "root")), (GrammarLimitError, GrammarError), "over"),
])
def test_what_it_cannot_do_is_refused(compile_it: Callable[[OutlinesCompiler], object],
                                      error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compile_it(OutlinesCompiler(INFO))


def test_nothing_and_empty_parts_are_folded_away() -> None:
    nothing, empty = CharClass(()), Literal(b"")
    rules = RuleSet({"root": Choice((
        Sequence((Literal(b"a"), nothing)), Sequence((empty, Literal(b"b"), Repeat(nothing, 0, None))),
        Repeat(nothing, 1, 3), Repeat(empty, 5, 9), Repeat(Literal(b"c"), 0, 0)))}, "root")
    check_every_mask({b"b", b""}, OutlinesCompiler(INFO).compile_rules(rules).new_matcher())


def test_masks_are_dropped_when_their_budget_is_full() -> None:
    compiler = OutlinesCompiler(INFO, limits=Limits(max_mask_bytes=16))
    texts = {text.encode() for text in all_texts("abc", 3)}
    check_every_mask(texts, compiler.compile_regex("[abc]{0,3}").new_matcher())


def test_traps_are_taken_out_of_the_masks() -> None:
    """Without a token "b", "c" leads into a loop that has no end; the tokens that lead there are masked."""
    info = TokenizerInfo.from_bytes([b"", b"a", b"c", b"ac", b"x"], stop_token_ids=[0], special_token_ids=[0])
    matcher = OutlinesCompiler(info).compile_regex("a+(c+b)?").new_matcher()
    bitmask = np.zeros((1, 1), np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 0] == 0b10
    assert not matcher.accept_token(3) and matcher.accept_token(1)
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 0] == 0b11
    with pytest.raises(UnsatisfiableGrammarError):
        OutlinesCompiler(info).compile_regex("ac+b")


# --- faults of outlines-core itself ---------------------------------------------------------------------------------

def plain_index(pattern: str, tokens: list[bytes | str], stop: int = 0) -> Any:
    return outlines_core.Index(pattern, outlines_core.Vocabulary(stop, {t: [i + 1] for i, t in enumerate(tokens)}))


def language(pattern: str, tokens: list[str], longest: int = 4) -> set[str]:
    index = plain_index(pattern, list(tokens))
    found: set[str] = set()
    work = [("", index.get_initial_state())]
    while work:
        text, state = work.pop()
        if index.is_final_state(state):
            found.add(text)
        if len(text) < longest:
            work += [(text + tokens[token_id - 1], index.get_next_state(state, token_id))
                     for token_id in index.get_allowed_tokens(state) or () if token_id]
    return found


def test_fault_the_first_alternative_hides_longer_ones() -> None:
    assert language("a|ab", ["a", "b"]) == {"a"}
    assert language("a+?", ["a", "b"]) == {"a"}
    assert language(r"(?:a|ab)\z", ["a", "b"]) == {"a", "ab"}


@pytest.mark.parametrize("pattern", ["^a", r"\z", r"(?:a*)\z", r"(?-u:\b)a"])
def test_fault_patterns_that_look_around_at_the_start_do_not_build(pattern: str) -> None:
    with pytest.raises(ValueError, match="start state"):
        plain_index(pattern, ["a", "b"])


@pytest.mark.parametrize("pattern", ["a(?=b)b", r"(a)\1", r"a\b", "(?<=a)b", r"(?-u:\xff)"])
def test_fault_no_look_around_no_back_references_no_raw_bytes(pattern: str) -> None:
    with pytest.raises(ValueError, match="Failed to build DFA"):
        plain_index(pattern, ["a", "b"])


def test_fault_a_branch_that_cannot_be_spelled_refuses_the_whole_pattern() -> None:
    with pytest.raises(ValueError, match="incompatible"):
        plain_index("a|bd", ["a", "b"])  # "a" alone could be written


def test_fault_a_loop_that_cannot_be_left_is_kept() -> None:
    index = plain_index("a|c+b", ["a", "c"])
    state = index.get_next_state(index.get_initial_state(), 2)
    for _ in range(5):
        assert index.get_allowed_tokens(state) == [2] and not index.is_final_state(state)
        state = index.get_next_state(state, 2)


def test_fault_an_empty_token_goes_nowhere_for_ever() -> None:
    index = plain_index("a*", ["", "a"])
    start = index.get_initial_state()
    assert 1 in index.get_allowed_tokens(start) and index.get_next_state(start, 1) == start


def test_fault_counts_are_written_out() -> None:
    def states(pattern: str) -> int:
        return len(plain_index(pattern, ["a", "b"]).get_transitions())

    assert states("a{1000}") - states("a{10}") == 990


def test_fault_the_guide_remembers_32_tokens_and_has_one_end() -> None:
    guide = outlines_core.Guide(plain_index("a*", ["a"]))
    for _ in range(40):
        guide.advance(1, return_tokens=False)
    assert guide.get_allowed_rollback() == 32
    with pytest.raises(ValueError, match=r"(?i)roll ?back"):
        guide.rollback_state(33)
    assert guide.is_finished()  # though it may go on, and no stop token was taken
