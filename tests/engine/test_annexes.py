"""Automata that are written straight into the program: they are what they are when written out, edge for edge."""

from __future__ import annotations

import gc
import itertools
import pickle
import random
import weakref
from collections.abc import Iterable

import pytest

import constrained as cd
from benchmarks.conformance import byte_compiler
from constrained.engine.build import build_network
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.free_keys import other_keys
from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import (
    ByteDfa,
    CharClass,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
)
from constrained.grammar.keys import KeyDfa
from constrained.kernel.network import Network
from constrained.limits import Limits
from tests.engine.worlds import byte_vocabulary, sized, wide_vocabulary

VOCABULARY = byte_vocabulary()


def rules_of(body: Expr, **rules: Expr) -> RuleSet:
    return RuleSet({"root": Sequence((Literal(b"<"), body, Literal(b"!>"))), **rules}, "root")


def network(rules: RuleSet) -> Network:
    def nothing(reference: TokenReference) -> frozenset[int]:
        raise AssertionError(reference)

    return build_network(rules, Limits(), nothing)


def same(one: CompiledGrammar, two: CompiledGrammar, texts: Iterable[bytes]) -> None:
    """The same masks and shortest ends along texts, as far as they go."""
    for text in texts:
        a, b = one.start_state, two.start_state
        for byte in text:
            assert one.allowed_ids(a) == two.allowed_ids(b)
            assert len(one.shortest_completion(a)) == len(two.shortest_completion(b))
            a, b = one.advance(a, bytes([byte])), two.advance(b, bytes([byte]))
            assert (a == 0) is (b == 0)
            if not a:
                break
        else:
            assert one.is_complete(a) is two.is_complete(b)


def random_words(rng: random.Random) -> list[bytes]:
    """Words with beginnings in common, some of which are words themselves; the empty one may be among them."""
    stems = ["", "a", "ab", "stem of several", "b" * 40]
    found = {(rng.choice(stems) + "".join(rng.choices("abc", k=rng.randint(0, 12)))).encode() for _ in range(60)}
    return rng.sample(sorted(found), len(found))


@pytest.mark.parametrize("seed", range(12))
def test_words_are_the_same_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    words = random_words(rng)
    body = Choice(tuple([Literal(word) for word in words] + [Literal(words[0])]))
    assert network(rules_of(body)).has_annex()
    alone = Choice(tuple([Sequence((Literal(word), Literal(b""))) for word in words]))
    one, two = compile_rules(rules_of(body), VOCABULARY), compile_rules(rules_of(alone), VOCABULARY)
    assert not network(rules_of(alone)).has_annex()
    wrong = [word[:-1] for word in words] + [word + b"a" for word in words]
    same(one, two, [b"<" + word + b"!>" for word in words + wrong])


@pytest.mark.parametrize("seed", range(12))
def test_words_within_a_repetition_and_behind_one_another(seed: int) -> None:
    rng = random.Random(seed)
    words = random_words(rng)
    group = Choice(tuple(map(Literal, words)))
    alone = Choice(tuple([Sequence((Literal(word), Literal(b""))) for word in words]))
    one, two = (compile_rules(rules_of(Sequence((Repeat(body, 0, 3), Literal(b"|"), Repeat(body, 1, None)))),
                              VOCABULARY) for body in (group, alone))
    texts = [b"<" + b"".join(rng.choices(words, k=rng.randint(0, 3))) + b"|" + b"".join(rng.choices(words, k=2))
             + b"!>" for _ in range(30)]
    same(one, two, texts)


def test_a_hundred_thousand_words() -> None:
    rng = random.Random(3)
    words = sorted({bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=18)) for _ in range(sized(100_000, 1_000))})
    compiled = compile_rules(rules_of(Choice(tuple(map(Literal, words)))), VOCABULARY)
    for word in rng.sample(words, 50):
        assert compiled.is_complete(compiled.advance(compiled.start_state, b"<" + word + b"!>"))
        assert not compiled.advance(compiled.start_state, b"<" + word[:-1] + b"!")
        assert len(compiled.shortest_completion(compiled.advance(compiled.start_state, b"<" + word[:7]))) == 13
    with pytest.raises(GrammarLimitError, match="max_positions"):
        compile_rules(rules_of(Choice(tuple(map(Literal, words)))), VOCABULARY, Limits(max_positions=3 * len(words)))


KEYS = [["a"], ["", "a", "ab", "abc", "b"], ["name", "names", "namespace", "id"], [""], [], ["x y", "[]", "~!"],
        ["a" * 50, "a" * 49 + "b"]]


@pytest.mark.parametrize("keys", KEYS)
def test_other_keys_are_the_automaton_that_its_rows_say(keys: list[str]) -> None:
    node = other_keys(frozenset(keys))
    assert isinstance(node, KeyDfa)
    assert all(a[1] < b[0] for row in node.transitions for a, b in itertools.pairwise(row)), "sorted, disjoint"
    written = ByteDfa(node.transitions, node.accepting)
    info = wide_vocabulary(7, 2_000)
    one, two = compile_rules(rules_of(node), info), compile_rules(rules_of(written), info)
    assert network(rules_of(node)).has_annex() and not network(rules_of(written)).has_annex()
    assert sorted(set(one.program.regions)) == sorted(set(two.program.regions)), "the same wide loops"
    texts = [*keys, *[key[:-1] for key in keys], *[key + "a" for key in keys], "é", "n\\u00e9", "日本", "\\n", "a\\"]
    same(one, two, [b"<" + text.encode() + b'"!>' for text in texts])
    for text in ["", "a", "ab", "b", "zzz", "é", *keys]:
        state = one.advance(one.start_state, b"<" + text.encode() + b'"!>')
        assert bool(state) is (text not in keys)


@pytest.mark.parametrize("seed", range(8))
def test_keys_beside_any_strings_are_what_their_rows_say(seed: int) -> None:
    """Also where the closing byte stands within a range, where strings have no end, and where nothing is apart."""
    rng = random.Random(seed)
    begins: tuple[tuple[int, int, int], ...] = ((33, 36, 2), (97, 102, 1), (103, 103, 3), (104, 122, 1))
    if seed % 2:
        begins = ((34, 34, 2), *begins[1:2], *begins[3:])
    strings = ByteDfa((begins, begins, (), ((97, 97, 3),)), frozenset([2]))  # from state 3 on there is no end
    keys = {bytes(rng.choices(b"aabfhz", k=rng.randint(1, 5))) for _ in range(rng.choice([1, 5, 30]))}
    node = KeyDfa(strings, tuple(sorted(keys)), 34)
    written = ByteDfa(node.transitions, node.accepting)
    one, two = compile_rules(rules_of(node), VOCABULARY), compile_rules(rules_of(written), VOCABULARY)
    assert network(rules_of(node)).has_annex()
    never = ByteDfa((((0, 0, 1),), ()), frozenset([1]))
    guarded = compile_rules(rules_of(Sequence((node, NotFollowedBy(never)))), VOCABULARY)
    texts = [*keys, *[key[:-1] for key in keys], *[key + b"a" for key in keys], b"g", b"ga", b"zzz", b"~"]
    for end in (b'"', b"#", b"!"):
        same(one, two, [b"<" + text + end + b"!>" for text in texts])
        same(one, guarded, [b"<" + text + end + b"!>" for text in texts])


def test_other_keys_survive_pickling() -> None:
    node = other_keys(frozenset(["one", "two"]))
    again = pickle.loads(pickle.dumps(node))
    assert (again.transitions, again.accepting) == (node.transitions, node.accepting)


LETTERS = ByteDfa((((97, 98, 0),),), frozenset([0]))
COUNTED = CountedDfa(LETTERS, 1, 2, 4)
WORDS = Choice(tuple([Literal(b"w" + bytes([97 + i]) * 20) for i in range(5)]))


def test_behind_left_recursion_annexes_are_written_out() -> None:
    """The rewriting copies edges, so it must see them all."""
    rules = RuleSet({"root": Choice((Sequence((Reference("root"), Literal(b"+"), COUNTED)), COUNTED, WORDS))}, "root")
    compiled = compile_rules(rules, VOCABULARY)
    for text, right in [(b"ab", True), (b"ab+abab", True), (b"ab+a", False), (b"w" + b"a" * 20 + b"+bb", True),
                        (b"abaab", False), (b"+ab", False)]:
        state = compiled.advance(compiled.start_state, text)
        assert (bool(state) and compiled.is_complete(state)) is right


def test_beside_guards_annexes_are_written_out() -> None:
    point = ByteDfa((((33, 33, 1),), ()), frozenset([1]))
    free = compile_rules(rules_of(Choice((COUNTED, WORDS))), VOCABULARY)
    guarded = compile_rules(rules_of(Choice((Sequence((COUNTED, NotFollowedBy(point))), WORDS))), VOCABULARY)
    assert free.advance(free.start_state, b"<ab!>") and not guarded.advance(guarded.start_state, b"<ab!")
    state = guarded.advance(guarded.start_state, b"<w" + b"c" * 20 + b"!>")
    assert state and guarded.is_complete(state)


def test_bytes_that_no_token_spells_are_cut_out_of_annexes() -> None:
    info = cd.TokenizerInfo.from_bytes([*[bytes([byte]) for byte in b"<!>awb"], b""], special_token_ids=[6],
                                       stop_token_ids=[6])
    compiled = compile_rules(rules_of(Choice((COUNTED, WORDS))), info)
    state = compiled.advance(compiled.start_state, b"<w")
    assert compiled.allowed_ids(state) == [3, 5], "wc, wd and we have no end"


def test_a_door_that_leads_nowhere_is_closed() -> None:
    """All that is left of a counted text is the empty one; or where it would go on cannot be completed."""
    nothing = CharClass(())
    compiled = compile_rules(rules_of(Choice((CountedDfa(LETTERS, 1, 0, 0), Sequence((WORDS, nothing))))), VOCABULARY)
    assert compiled.forced_bytes(compiled.start_state) == b"<!>"


def test_a_matcher_and_its_grammar_are_freed_at_once() -> None:
    compiler = byte_compiler()
    compiled = compiler.compile_json_schema({"type": "object", "properties": {"a": {"type": "array"}}})
    matcher = cd.GrammarMatcher(compiled)
    matcher.fill_next_token_bitmask(cd.allocate_token_bitmask(1, 257), 0)
    held = weakref.ref(compiled)
    gc.disable()
    try:
        del compiled, matcher
        assert held() is None, "no cycle keeps them until the next collection"
    finally:
        gc.enable()
