"""What is cut out of automata and shared between them leaves every nonterminal's language as it was."""

from __future__ import annotations

import random

import pytest

from constrained.frontends.lark import enclosed as enclosed_module
from constrained.frontends.lark.enclosed import Enclosed
from constrained.frontends.lark.graphs import automata, rewritten
from constrained.frontends.lark.rules import Automaton, Template
from constrained.frontends.lark.segments import cut
from constrained.frontends.lark.sharing import shared

NOTHING: frozenset[int] = frozenset()
Words = frozenset[tuple[int, ...]]


def random_template(rng: random.Random) -> tuple[Template, int]:
    """Up to eight nonterminals over three texts, brackets among them; all of them can be finished."""
    template = Template()
    count = rng.randint(2, 8)
    for n in range(count):
        template.new(f"n{n}")
    for options in template.alternatives:
        for _ in range(rng.randint(1, 3)):
            one = [rng.choice([~0, ~1, ~2, rng.randrange(count)]) for _ in range(rng.randint(1, 4))]
            options.append((~3, *one, ~4) if rng.random() < 0.4 else tuple(one))
        options.append((rng.choice([~0, ~1, ~2]),))
    assert template.finish(0)
    return template, template.merge(0)


def words(graphs: dict[int, Automaton], root: int, most: int) -> Words:
    """The texts of ``root`` of at most ``most`` symbols: the least solution, round by round."""
    known: dict[int, set[tuple[int, ...]]] = {n: set() for n in graphs}
    changed = True
    while changed:
        changed = False
        for n, made in graphs.items():
            found = _read(made, known, most)
            if not found <= known[n]:
                known[n] |= found
                changed = True
    return frozenset(known[root])


def _read(made: Automaton, known: dict[int, set[tuple[int, ...]]], most: int) -> set[tuple[int, ...]]:
    seen: set[tuple[int, tuple[int, ...]]] = {(0, ())}
    stack = [(0, ())]
    found: set[tuple[int, ...]] = set()
    while stack:
        state, text = stack.pop()
        if state in made.accepting:
            found.add(text)
        for symbol, to in made.edges[state].items():
            for more in [(symbol,)] if symbol < 0 else known[symbol]:
                after = (to, text + more)
                if len(text) + len(more) <= most and after not in seen:
                    seen.add(after)
                    stack.append(after)
    return found


def as_graphs(template: Template) -> dict[int, Automaton]:
    """The alternatives, one path each, made deterministic by nothing: states are what is left to read."""
    graphs: dict[int, Automaton] = {}
    for n, options in enumerate(template.alternatives):
        index = {frozenset(options): 0}
        order = [frozenset(options)]
        edges: list[dict[int, int]] = []
        for rest in order:
            row: dict[int, int] = {}
            for symbol in {one[0] for one in rest if one}:
                after = frozenset(one[1:] for one in rest if one and one[0] == symbol)
                if after not in index:
                    index[after] = len(order)
                    order.append(after)
                row[symbol] = index[after]
            edges.append(row)
        graphs[n] = Automaton(edges, frozenset(i for i, rest in enumerate(order) if () in rest))
    return graphs


@pytest.mark.parametrize("seed", range(60))
def test_languages_stay(seed: int) -> None:
    template, root = random_template(random.Random(seed))
    expected = words(as_graphs(template), root, 6)
    graphs, top = automata(template, root, NOTHING)
    assert words(graphs, top, 6) == expected
    cut_out, top = cut(graphs, top, template, NOTHING)
    assert words(cut_out, top, 6) == expected
    made, top = shared(cut_out, top, template, NOTHING)
    assert words(made, top, 6) == expected


def test_what_stands_in_brackets_is_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the bracket up to the closing one, that one included."""
    monkeypatch.setattr(enclosed_module, "LEAST", 8)
    there, back = ({~t: to for t in (0, 1, 2, 5, 6)} for to in (2, 1))
    made = Automaton([{~3: 1, ~7: 4}, there, {**back, ~4: 3}, {~8: 4}, {}], frozenset((4,)))
    template = Template()
    n = template.new("n")
    enclosed = Enclosed(template, NOTHING)
    cut_out = enclosed.cut(n, made)
    (part,) = enclosed.parts
    assert enclosed.parts[part].size() == 11
    assert sorted(map(sorted, cut_out.edges)) == sorted(map(sorted, [{~3, ~7}, {part}, {~8}, set()]))


def test_what_several_come_to_is_one_nonterminal() -> None:
    """Two nonterminals that differ in their first text only call the same one behind it, and it is called last."""
    rest = [{~0: 2, ~1: 3}, {~2: 2}, {}]
    first = Automaton([{~5: 1}, *rest], frozenset((3,)))
    second = Automaton([{~6: 1}, *rest], frozenset((3,)))
    template = Template()
    root, a, b = (template.new(name) for name in ("root", "a", "b"))
    graphs = {root: Automaton([{a: 1, ~7: 2}, {~8: 3}, {b: 3}, {}], frozenset((3,))), a: first, b: second}
    made, top = shared(graphs, root, template, NOTHING)
    assert words(made, top, 6) == words(graphs, root, 6)
    assert len(made) == 4
    (common,) = set(made) - {root, a, b}
    assert all(any(common in row for row in made[n].edges) for n in (a, b))


def test_parts_stay_calls() -> None:
    template = Template()
    root, part = template.new("root"), template.new("part")
    graphs = {root: Automaton([{part: 1}, {}], frozenset((1,))), part: Automaton([{~0: 1}, {}], frozenset((1,)))}
    made, top = rewritten(template, root, NOTHING, graphs, frozenset((part,)))
    assert made[top].edges[0] == {part: 1}
