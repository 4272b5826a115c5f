"""What cannot be completed is cut out: from every state that is reached there is a way to an end, and none is lost.

Grammars are drawn with rules that have no text. What can be completed is known twice: ``kernel.completable`` decides
before a program is made, ``kernel.minima`` finds the fewest bytes to the end afterwards, over the program alone.
"""

from __future__ import annotations

import random

import pytest

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.ir import Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence, Unordered
from tests.engine.worlds import byte_vocabulary, sized

NO_WAY = 1 << 60
A, B, COMMA = Literal(b"a"), Literal(b"b"), Literal(b",")
DEAD = Sequence((Literal(b"d"), Reference("dead")))
NONE: frozenset[int] = frozenset()


def states_of(compiled: CompiledGrammar, most: int) -> list[int]:
    """States that bytes lead to, breadth first."""
    waiting = [compiled.start_state]
    met = set(waiting)
    for state in waiting:  # grows
        for token in compiled.allowed_ids(state):
            if token < 256 and len(met) < most:
                after = compiled.advance(state, bytes((token,)))
                if after not in met:
                    met.add(after)
                    waiting.append(after)
    return waiting


def drawn(draw: random.Random, names: list[str], depth: int) -> Expr:
    kind = draw.randrange(7 if depth else 2)
    if kind == 0:
        return Literal(bytes(draw.choices(b"abc", k=draw.randrange(1, 4))))
    if kind == 1:
        return Sequence((Literal(draw.choice((b"x", b"yy"))), Reference(draw.choice(names))))
    parts = tuple(drawn(draw, names, depth - 1) for _ in range(draw.randrange(1, 4)))
    if kind == 2:
        return Repeat(parts[0], draw.randrange(3), draw.choice((3, None)))
    if kind == 3:
        required = frozenset(i for i in range(len(parts)) if draw.randrange(3) == 0)
        minimum = draw.randrange(len(required), len(parts) + 1)
        items = tuple(Sequence((Literal(b"%d" % i), part)) for i, part in enumerate(parts))  # none is empty
        return Unordered(items, required, Literal(b","), None, max(minimum, 1), len(parts))
    return Sequence(parts) if kind < 5 else Choice(parts)


@pytest.mark.parametrize("part", range(4))
def test_no_state_is_a_dead_end(part: int) -> None:
    draw = random.Random(part)
    kinds = [0, 0]
    for _ in range(sized(120, 5)):
        names = ["root", *(f"r{i}" for i in range(draw.randrange(1, 6))), "dead"]
        rules = {name: drawn(draw, names, 2) for name in names}
        rules["dead"] = DEAD
        try:
            compiled = compile_rules(RuleSet(rules, "root"), byte_vocabulary())
        except UnsatisfiableGrammarError:
            kinds[0] += 1
            continue
        kinds[1] += 1
        for state in states_of(compiled, 60):
            assert compiled.automaton.distance(state) < NO_WAY
            assert compiled.allowed_ids(state)
            assert ord("d") not in compiled.allowed_ids(state)
    assert min(kinds) > 0 or sized(1, 0) == 0


def texts(expr: Expr) -> RuleSet:
    nested = Choice((Literal(b"."), Sequence((Literal(b"("), Reference("list"), Literal(b")")))))
    return RuleSet({"root": expr, "dead": DEAD, "list": nested}, "root")


@pytest.mark.parametrize(("expr", "first"), [
    (Choice((A, Sequence((B, Reference("dead"))))), b"a"),
    (Sequence((Repeat(Reference("dead"), 0, None), A)), b"a"),
    (Sequence((Repeat(Sequence((COMMA, Choice((B, Reference("dead"))))), 0, 70), A)), b"a,"),
    (Unordered((A, Sequence((B, Reference("dead")))), NONE, COMMA, None, 1, 2), b"a"),
    (Unordered((A, B, Reference("dead")), frozenset((1,)), COMMA, None, 2, 3), b"ab"),
    (Unordered((A, B), NONE, Reference("dead"), None, 1, 2), b"ab"),
    (Sequence((Reference("list"), Choice((A, Reference("dead"))))), b".("),
])
def test_only_what_can_be_completed_is_left(expr: Expr, first: bytes) -> None:
    compiled = compile_rules(texts(expr), byte_vocabulary())
    assert [token for token in compiled.allowed_ids(compiled.start_state) if token < 256] == sorted(first)
    assert all(compiled.automaton.distance(state) < NO_WAY for state in states_of(compiled, 60))


@pytest.mark.parametrize("expr", [
    Reference("dead"),
    Sequence((Reference("list"), Reference("dead"))),
    Repeat(Reference("dead"), 1, 90),
    Unordered((A, Reference("dead")), frozenset((1,)), COMMA, None, 1, 2),
    Unordered((A, Reference("dead")), NONE, COMMA, None, 2, 2),
    Unordered((A, B), NONE, Reference("dead"), None, 2, 2),
])
def test_what_has_no_text_is_refused(expr: Expr) -> None:
    with pytest.raises(UnsatisfiableGrammarError):
        compile_rules(texts(expr), byte_vocabulary())
