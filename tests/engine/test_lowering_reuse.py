"""The tables of one lowering serve the next: whatever was lowered before, a grammar's program is the same."""

from __future__ import annotations

import random
import threading

import pytest

from constrained.engine.lowering import lower
from constrained.errors import UnsatisfiableGrammarError
from constrained.frontends.json_schema.compile import from_json_schema
from constrained.frontends.regex import from_regex
from constrained.grammar.ir import (
    ByteDfa,
    CharClass,
    Choice,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    Unordered,
)
from constrained.kernel.program import Program
from constrained.limits import Limits
from tests.engine.worlds import sized

LIMITS = Limits()

ENDLESS = RuleSet({"root": Sequence((Literal(b"a"), Reference("root")))}, "root")
"""No text of it ends."""

LETTER = ByteDfa((((97, 122, 1),), ()), frozenset([1]))
NAME = Sequence((Repeat(CharClass(((97, 122),)), 1, None), NotFollowedBy(LETTER), Literal(b" ")))
"""Letters, as many as there are."""


def grammars() -> list[RuleSet]:
    words = tuple(Literal(b"%x" % (7919 * i)) for i in range(300))
    letters = tuple(Literal(bytes([97 + i])) for i in range(9))
    return [
        from_regex("a"),
        from_regex("(ab|[c-z]{2,90}|é*)+\\d"),
        from_json_schema('{"type": "object", "properties": {"a": {"type": "string", "maxLength": 90}, "abc": {}}}'),
        from_json_schema('{"enum": ["one", "two", "three", 1.5, null, [1]]}', property_order="any"),
        RuleSet({"root": Sequence((Literal(b"if"), NAME, Repeat(NAME, 0, 2)))}, "root"),
        RuleSet({"root": Choice(words)}, "root"),
        RuleSet({"root": Unordered(letters, frozenset({1, 4}), Literal(b","), None, 2, 5)}, "root"),
        RuleSet({"root": Choice((Sequence((Reference("root"), Literal(b"+1"))), Literal(b"1")))}, "root"),
        RuleSet({"root": Repeat(Sequence((Reference("item"), Literal(b";"))), 3, 70),
                 "item": Choice((Literal(b""), Literal(b"item"), Reference("root")))}, "root"),
    ]


def shape(program: Program) -> tuple[object, ...]:
    """What Python sees of a program."""
    return (program.start, program.n_classes, program.n_positions, program.rule_names, program.regions,
            program.token_sets, *(bytes(part) for part in (
                program.position_rule, program.loop_positions, program.loop_minimum, program.loop_maximum,
                program.byte_class)))


def test_a_program_does_not_depend_on_what_was_lowered_before() -> None:
    rules = grammars()
    first = [shape(lower(one, LIMITS)) for one in rules]
    assert len({one[2] for one in first}) > 5  # they differ in size, so that tables shrink and grow
    draw = random.Random(3)
    for _ in range(sized(200, 15)):
        i = draw.randrange(len(rules))
        assert shape(lower(rules[i], LIMITS)) == first[i]


def test_a_program_stays_what_it_is_when_others_are_lowered() -> None:
    rules = grammars()
    programs = [lower(one, LIMITS) for one in rules]
    before = [shape(one) for one in programs]
    for one in rules[::-1]:
        lower(one, LIMITS)
    assert [shape(one) for one in programs] == before


def test_a_grammar_that_cannot_be_lowered_leaves_nothing_behind() -> None:
    rules = grammars()
    first = [shape(lower(one, LIMITS)) for one in rules]
    for one, expected in zip(rules, first, strict=True):
        with pytest.raises(UnsatisfiableGrammarError):
            lower(ENDLESS, LIMITS)
        assert shape(lower(one, LIMITS)) == expected


def test_threads_lower_side_by_side() -> None:
    rules = grammars()
    first = [shape(lower(one, LIMITS)) for one in rules]
    wrong: list[int] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(sized(60, 4)):
            i = draw.randrange(len(rules))
            if shape(lower(rules[i], LIMITS)) != first[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
