"""Rules that many grammars share are lowered once: each grammar is what it is without that."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from constrained.engine.build import build_network
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.lowering import lower
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
from constrained.frontends.json_schema.compile import from_json_schema
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
    Unordered,
)
from constrained.kernel.nodes import share
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo
from tests.engine.test_annexes import same
from tests.engine.worlds import COMPILED, byte_vocabulary, sized

VOCABULARY = byte_vocabulary()
DIGIT = CharClass(((48, 57),))
SPACE, VALUE, NUMBER, WORD = (Reference(name) for name in ("space", "value", "number", "word"))
LETTERS = ByteDfa((((97, 122, 1),), ((32, 33, 0), (97, 122, 1))), frozenset([1]))


def parts() -> dict[str, Expr]:
    """Rules that refer to one another: nullable, counted, with a wide loop, recursive, in any order."""
    comma = Sequence((SPACE, Literal(b","), SPACE))
    return {
        "space": Repeat(CharClass(((9, 10), (32, 32))), 0, 70),
        "number": Sequence((Repeat(Literal(b"-"), 0, 1), Repeat(DIGIT, 1, 90), Repeat(
            Sequence((Literal(b"."), Repeat(DIGIT, 1, 80))), 0, 1))),
        "word": Sequence((Literal(b"'"), Repeat(CharClass(((32, 38), (40, 0x10FFFF))), 0, 300), Literal(b"'"))),
        "value": Choice((
            Sequence((Literal(b"["), SPACE, VALUE, Repeat(Sequence((comma, VALUE)), 0, None), SPACE, Literal(b"]"))),
            Sequence((Literal(b"{"), Unordered((NUMBER, WORD), frozenset([1]), comma, Sequence((Literal(b":"), VALUE)),
                                               1, None), Literal(b"}"))),
            NUMBER, WORD, Literal(b"null"))),
    }


def shared(rules: dict[str, Expr]) -> dict[str, Expr]:
    for node in rules.values():
        share(node)
    return rules


ROOTS: list[Expr] = [
    Sequence((Literal(b"<"), VALUE, Literal(b">"))),
    Sequence((SPACE, NUMBER, SPACE, Repeat(Sequence((Literal(b";"), NUMBER)), 2, 30), SPACE)),
    Choice((Sequence((WORD, VALUE)), Sequence((VALUE, NUMBER)), Literal(b"'but'"))),
    Unordered((Sequence((Literal(b"a"), VALUE)), Sequence((Literal(b"b"), SPACE, NUMBER))), frozenset([0]), SPACE),
    Repeat(VALUE, 2, 60),
    Repeat(SPACE, 1, None),
    NUMBER,
]


def compiled(rules: RuleSet, vocabulary: TokenizerInfo = VOCABULARY) -> CompiledGrammar:
    return compile_rules(rules, vocabulary, Limits())


def walks(grammar: CompiledGrammar, seed: int, count: int) -> list[bytes]:
    """Beginnings of texts, with a byte that may be wrong at the end."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        state, text = grammar.start_state, b""
        while len(text) < 40:
            allowed = [token for token in grammar.allowed_ids(state) if token < 256]
            if not allowed:
                break
            byte = bytes([rng.choice(allowed)])
            state, text = grammar.advance(state, byte), text + byte
        found.append(text + bytes([rng.randrange(256)]))
    return found


def size(rules: RuleSet) -> int:
    return build_network(rules, Limits(), lambda reference: frozenset()).size()


@pytest.mark.parametrize("number", range(len(ROOTS)))
def test_a_grammar_with_images_is_the_same(number: int) -> None:
    known = shared(parts())
    for root in (ROOTS[number], ROOTS[0], ROOTS[number]):  # also once the images are there
        one = compiled(RuleSet({**known, "root": root}, "root"))
        two = compiled(RuleSet({**parts(), "root": root}, "root"))
        for text in walks(two, number, sized(8, 2)):
            same(one, two, [text])
    assert size(RuleSet({**known, "root": ROOTS[0]}, "root")) < size(RuleSet({**parts(), "root": ROOTS[0]}, "root")) / 4


def test_programs_do_not_depend_on_which_images_were_there() -> None:
    sizes = set()
    for first in (ROOTS[0], ROOTS[1], ROOTS[6]):
        known = shared(parts())
        lower(RuleSet({**known, "root": first}, "root"), Limits())
        sizes.add(lower(RuleSet({**known, "root": ROOTS[2]}, "root"), Limits()).n_positions)
    assert len(sizes) == 1


OTHER = Sequence((Literal(b"+"), Repeat(DIGIT, 1, 70)))


@pytest.mark.parametrize("change", [
    lambda rules: {**rules, "number": OTHER},  # what the rule of a value refers to is something else
    lambda rules: {**rules, "value": OTHER, "else": rules["value"]},  # it no longer refers to itself
    lambda rules: {**rules, "space": Literal(b"")},
    lambda rules: {**rules, "word": Choice(())},  # nothing is a word
])
def test_an_image_holds_only_where_names_mean_the_same(change: Callable[[dict[str, Expr]], dict[str, Expr]]) -> None:
    root = Sequence((Literal(b"<"), VALUE, Reference("else"), Literal(b">")))
    rules = {**parts(), "else": Literal(b"!"), "root": root}
    known = {**shared(parts()), "else": Literal(b"!"), "root": root}
    lower(RuleSet(known, "root"), Limits())
    one, two = compiled(RuleSet(change(known), "root")), compiled(RuleSet(change(rules), "root"))
    for text in walks(two, 5, sized(12, 3)):
        same(one, two, [text])


@pytest.mark.parametrize("beside", [
    Sequence((Repeat(CharClass(((97, 122),)), 1, None), NotFollowedBy(LETTERS), Reference("value"))),
    Choice((Sequence((Reference("root"), Literal(b"+"), Reference("number"))), Reference("value"))),
])
def test_grammars_whose_passes_look_into_everything_have_no_images(beside: Expr) -> None:
    known = shared(parts())
    lower(RuleSet({**known, "root": ROOTS[0]}, "root"), Limits())
    one = compiled(RuleSet({**known, "root": beside}, "root"))
    two = compiled(RuleSet({**parts(), "root": beside}, "root"))
    for text in walks(two, 7, sized(12, 3)):
        same(one, two, [text])


def test_bytes_that_no_token_can_spell_are_cut_out_of_shared_rules_too() -> None:
    tokens = [bytes([byte]) for byte in range(256) if byte not in b"7."] + [b"<e>"]
    vocabulary = TokenizerInfo.from_bytes(tokens, stop_token_ids=[len(tokens) - 1],
                                          special_token_ids=[len(tokens) - 1])
    known = shared(parts())
    lower(RuleSet({**known, "root": NUMBER}, "root"), Limits())
    grammar = compiled(RuleSet({**known, "root": NUMBER}, "root"), vocabulary)
    state = grammar.advance(grammar.start_state, b"1")
    assert {tokens[i] for i in grammar.allowed_ids(state)} == {bytes([byte]) for byte in b"012345689"} | {b"<e>"}


def test_limits_hold_where_an_image_was_made_under_larger_ones() -> None:
    known = shared(parts())
    rules = RuleSet({**known, "root": ROOTS[0]}, "root")
    positions = lower(rules, Limits()).n_positions
    with pytest.raises(GrammarLimitError, match="max_repeat"):
        lower(rules, Limits(max_repeat=85))
    with pytest.raises(GrammarLimitError, match="max_positions"):
        lower(rules, Limits(max_positions=positions // 2))
    assert lower(rules, Limits()).n_positions == positions


def test_a_shared_rule_without_a_text_is_not_written() -> None:
    endless = Sequence((Literal(b"x" * 80), Reference("endless")))
    share(endless)
    for _ in range(2):
        lower(RuleSet({"root": Choice((Literal(b"a"), Reference("endless"))), "endless": endless}, "root"), Limits())
        with pytest.raises(UnsatisfiableGrammarError):
            lower(RuleSet({"root": Reference("endless"), "endless": endless}, "root"), Limits())


def test_rules_that_refer_to_one_another() -> None:
    def rules() -> dict[str, Expr]:
        return {
            "list": Sequence((Literal(b"["), Repeat(CharClass(((97, 122),)), 0, 90), Repeat(Reference("map"), 0, 1),
                              Literal(b"]"))),
            "map": Sequence((Literal(b"{"), Repeat(CharClass(((48, 57),)), 0, 90), Repeat(Reference("list"), 0, 1),
                             Literal(b"}"))),
        }

    known = shared(rules())
    for root in (Reference("list"), Reference("map"), Choice((Reference("map"), Reference("list")))):
        one = compiled(RuleSet({**known, "root": root}, "root"))
        two = compiled(RuleSet({**rules(), "root": root}, "root"))
        for text in walks(two, 3, sized(8, 2)):
            same(one, two, [text])


@pytest.mark.skipif(not COMPILED, reason="hundreds of images, which take a minute to make uncompiled")
def test_images_that_were_forgotten_are_made_again() -> None:
    known = shared(parts())
    rules = RuleSet({**known, "root": ROOTS[0]}, "root")
    before = lower(rules, Limits()).n_positions
    for i in range(800):
        text = Literal(b"%06d" % i + b"x" * 340)
        lower(RuleSet(shared({"text": Sequence((text, text))}) | {"root": Reference("text")}, "root"), Limits())
        node = Sequence((text,))
        share(node)
        lower(RuleSet({"text": node, "root": Reference("text")}, "root"), Limits())
    assert lower(rules, Limits()).n_positions == before
    two = compiled(RuleSet({**parts(), "root": ROOTS[0]}, "root"))
    for text in walks(two, 11, 4):
        same(compiled(rules), two, [text])


def test_any_value_is_one_node_in_all_documents() -> None:
    first, second = (from_json_schema({"properties": {name: {}}, "type": "object"}) for name in ("a", "b"))
    assert first.rules["true 1"] is second.rules["true 1"]
    strict = from_json_schema({"properties": {"a": {}}, "type": "object"}, strict_mode=True)
    assert strict.rules["true 1"] is not first.rules["true 1"]
