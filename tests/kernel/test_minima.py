"""Fewest bytes to an end, against costs that are found by asking every rule again until none comes out smaller."""

from __future__ import annotations

import random

import pytest

from constrained.engine.compiled import compile_rules
from constrained.engine.lowering import lower
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar.ir import Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence, Unordered
from constrained.limits import Limits
from tests.engine.worlds import byte_vocabulary, sized

NEVER = 1 << 62


def cost(expr: Expr, known: dict[str, int]) -> int:
    """Bytes of the shortest text of ``expr``, by what is known of the rules."""
    if isinstance(expr, Literal):
        return len(expr.data)
    if isinstance(expr, Reference):
        return known[expr.name]
    if isinstance(expr, Choice):
        return min((cost(option, known) for option in expr.options), default=NEVER)
    if isinstance(expr, Sequence):
        return min(sum(cost(part, known) for part in expr.items), NEVER)
    if isinstance(expr, Repeat):
        return min(expr.minimum * cost(expr.body, known), NEVER) if expr.minimum else 0
    assert isinstance(expr, Unordered)
    costs = sorted((i not in expr.required, cost(item, known)) for i, item in enumerate(expr.items))
    chosen = costs[: max(len(expr.required), expr.minimum)]
    between = cost(expr.separator, known) * (len(chosen) - 1)
    return min(sum(each for _, each in chosen) + between, NEVER)


def costs(rules: RuleSet) -> dict[str, int]:
    known = dict.fromkeys(rules.rules, NEVER)
    while True:
        found = {name: cost(expr, known) for name, expr in rules.rules.items()}
        if found == known:
            return found
        known = found


def drawn(draw: random.Random, names: list[str], depth: int) -> Expr:
    kind = draw.randrange(7 if depth else 2)
    if kind == 0:
        return Literal(bytes(draw.choices(b"abc", k=draw.randrange(1, 9))))
    if kind == 1:
        return Sequence((Literal(draw.choice((b"x", b"yy"))), Reference(draw.choice(names))))
    parts = tuple(drawn(draw, names, depth - 1) for _ in range(draw.randrange(1, 4)))
    if kind == 2:
        return Repeat(parts[0], draw.randrange(4), draw.choice((4, 70, None)))
    if kind == 3:
        required = frozenset(i for i in range(len(parts)) if draw.randrange(2))
        minimum = draw.randrange(len(required), len(parts) + 1)
        if minimum or required:
            parts = tuple(Sequence((Literal(b";"), part)) for part in parts)  # none is empty
            return Unordered(parts, required, Literal(b","), None, max(minimum, 1), len(parts))
    return Sequence(parts) if kind < 5 else Choice(parts)


@pytest.mark.parametrize("part", range(4))
def test_the_shortest_text_is_as_long_as_it_must_be(part: int) -> None:
    draw = random.Random(part)
    impossible = 0
    for _ in range(sized(150, 8)):
        names = ["root", *(f"r{i}" for i in range(draw.randrange(9)))]
        rules = RuleSet({name: drawn(draw, names, 2) for name in names}, "root")
        least = costs(rules)["root"]
        if least == NEVER:
            impossible += 1
            with pytest.raises(UnsatisfiableGrammarError):
                lower(rules, Limits())
            continue
        compiled = compile_rules(rules, byte_vocabulary())
        assert compiled.automaton.distance(compiled.start_state) == least
        assert len(compiled.shortest_completion(compiled.start_state)) == least
    assert impossible > 0 or sized(1, 0) == 0


@pytest.mark.parametrize("length", [1, 2, 5, 40])
def test_a_chain_that_is_known_from_the_wrong_end(length: int) -> None:
    """Each rule leads to both its neighbours; only the first ends soon, and it is met first but known last."""
    rules: dict[str, Expr] = {
        "root": Choice(
            (Sequence((Literal(b"c"), Reference(f"r{length}"))), Sequence((Literal(b"a" * 500), Reference("r0"))))
        ),
        "r0": Choice((Literal(b"b"), Sequence((Literal(b"a"), Reference("r1"))))),
    }
    for i in range(1, length + 1):
        neighbours = [Sequence((Literal(b"l"), Reference(f"r{i - 1}")))]
        if i < length:
            neighbours.append(Sequence((Literal(b"a"), Reference(f"r{i + 1}"))))
        rules[f"r{i}"] = Choice((Literal(b"x" * 300), *neighbours))
    compiled = compile_rules(RuleSet(rules, "root"), byte_vocabulary())
    assert compiled.shortest_completion(compiled.start_state) == b"c" + b"l" * length + b"b"


def test_long_is_not_impossible() -> None:
    """Counts within counts, beyond 2**60 bytes: the sum stays below what stands for no way at all."""
    text: Expr = Literal(b"ab")
    for _ in range(5):
        text = Repeat(Sequence((text, Literal(b"."))), 65_000, 65_000)
    compiled = compile_rules(RuleSet({"root": text}, "root"), byte_vocabulary())
    assert compiled.automaton.distance(compiled.start_state) == (1 << 60) - 1
    state = compiled.advance(compiled.start_state, b"ab.ab")
    assert compiled.allowed_ids(state) == [ord(".")]
