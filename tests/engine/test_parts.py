"""Parts of many sequences are rules of their own: each grammar is what it is without that."""

from __future__ import annotations

import pytest

from constrained.engine.lowering import lower
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.ir import Choice, Expr, Literal, NotFollowedBy, Reference, Repeat, RuleSet, Sequence, Unordered
from constrained.kernel.nodes import part
from constrained.limits import Limits
from tests.engine.test_annexes import same
from tests.engine.test_images import LETTERS, NUMBER, SPACE, WORD, compiled, parts, shared, size, walks
from tests.engine.worlds import sized


def as_it_is(node: Sequence) -> Sequence:
    return node


def rules(mark: bool, root: int) -> dict[str, Expr]:
    """``part`` stands in sequences, choices and repetitions, between items, alone, in itself and in an image."""
    wrap = part if mark else as_it_is
    colon = wrap(Sequence((SPACE, Literal(b":"), SPACE)))
    close = wrap(Sequence((SPACE, Literal(b")"))))
    empty = wrap(Sequence((SPACE, SPACE)))
    nested = wrap(Sequence((colon, NUMBER, colon)))
    around = wrap(Sequence((Literal(b"("), Choice((NUMBER, Reference("tree"))), close)))
    known = parts()
    if mark:
        known = shared({**known, "pairs": Sequence((NUMBER, colon, WORD, colon, NUMBER))})
    else:
        known["pairs"] = Sequence((NUMBER, colon, WORD, colon, NUMBER))
    known["tree"] = Choice((around, Sequence((Literal(b"-"), around, around))))
    known["root"] = (
        Sequence((Literal(b"a"), colon, NUMBER, close, Literal(b"b"), colon, WORD, close)),
        Unordered((Sequence((Literal(b"a"), colon, NUMBER)), Sequence((Literal(b"b"), colon, WORD))), frozenset([1]),
                  colon, Sequence((Literal(b"'"), nested))),
        Choice((nested, Sequence((Literal(b"x"), nested)), colon)),
        Sequence((Literal(b"<"), empty, NUMBER, empty, Repeat(close, 1, 70), empty)),
        Sequence((Reference("tree"), Literal(b";"), Reference("tree"))),
        Sequence((Literal(b"<"), Reference("pairs"), colon, Reference("pairs"))),
        Sequence((colon, Reference("value"), close)),  # once each
        Sequence((Literal(b"a"), colon, NotFollowedBy(LETTERS), Literal(b"1"), colon, Literal(b"2"))),
        colon,
    )[root]
    return known


@pytest.mark.parametrize("root", range(9))
def test_a_grammar_with_parts_is_the_same(root: int) -> None:
    one, two = (compiled(RuleSet(rules(mark, root), "root")) for mark in (True, False))
    for text in walks(two, root, sized(8, 2)):
        same(one, two, [text])


def test_a_part_is_lowered_once() -> None:
    colon = Sequence((SPACE, Literal(b":"), SPACE))
    members = [Sequence((Literal(b"%d" % i), colon, NUMBER)) for i in range(20)]
    grammar = RuleSet({**parts(), "root": Choice(tuple(members))}, "root")
    before = size(grammar)
    part(colon)
    assert size(grammar) < before - 30


def test_a_part_that_only_leads_back_has_no_text() -> None:
    body = part(Sequence((Literal(b"x"), Reference("a"))))
    for root, fits in (("a", False), ("b", True)):
        grammar = RuleSet({"a": Sequence((Literal(b"a"), body)), "b": Choice((Literal(b"b"), body))}, root)
        if fits:
            one = compiled(grammar)
            assert list(one.allowed_ids(one.start_state)) == [ord("b")]
        else:
            with pytest.raises(UnsatisfiableGrammarError):
                lower(grammar, Limits())


def test_explanations_name_the_rule_of_a_part() -> None:
    program = lower(RuleSet(rules(True, 0), "root"), Limits())
    assert {program.rule_names[k] for k in program.position_rule if k >= 0} <= {*parts(), "root"}
    assert None not in program.rule_names
