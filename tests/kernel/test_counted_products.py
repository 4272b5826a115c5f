"""Products of automata and counters against their definition, over all short texts of class numbers."""

from __future__ import annotations

import itertools
import random

import pytest

from constrained.grammar.counted import CountedGraph
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import CharClass, Graph, Reference, RuleSet
from constrained.kernel.counted_products import CountedProduct
from constrained.kernel.dfa_tables import TooManyStates
from constrained.regex.dfa import Dfa, minimise

SPLIT = {1: [((0, 0x10FFFF),)], 2: [((0, 96),), ((97, 0x10FFFF),)],
         3: [((0, 96),), ((97, 97),), ((98, 0x10FFFF),)]}


def some_dfa(rng: random.Random) -> Dfa:
    k, n = rng.randint(1, 3), rng.randint(1, 6)
    rows = tuple(tuple(rng.choice([-1, *range(n)]) for _ in range(k)) for _ in range(n))
    return minimise(Dfa(tuple(SPLIT[k]), rows, frozenset(s for s in range(n) if rng.random() < 0.4)))


def product_of(dfa: Dfa, least: int, top: int, endless: bool, most: int = 1_000, merged: int = 1_000) -> CountedProduct:
    return CountedProduct(dfa.rows, dfa.accepting, len(dfa.classes), least, top, endless, most, merged)


def accepted(dfa: Dfa, text: tuple[int, ...]) -> bool:
    state = 0
    for letter in text:
        state = dfa.rows[state][letter]
        if state < 0:
            return False
    return state in dfa.accepting


def found(product: CountedProduct, text: tuple[int, ...]) -> bool:
    if not product.states():
        return False
    state = 0
    for letter in text:
        after = [to for read, to in product.row(state) if letter in product.sets[read]]
        assert len(after) <= 1
        if not after:
            return False
        state = after[0]
    return state in product.accepting()


@pytest.mark.parametrize("seed", range(120))
def test_the_texts(seed: int) -> None:
    rng = random.Random(seed)
    dfa = some_dfa(rng)
    if not dfa.accepting:
        return
    least = rng.randint(0, 4)
    endless = rng.random() < 0.3
    top = least if endless else least + rng.choice([0, 1, 2, 3, 40])
    product = product_of(dfa, least, top, endless)
    for size in range(7):
        for text in itertools.product(range(len(dfa.classes)), repeat=size):
            wanted = accepted(dfa, text) and size >= least and (endless or size <= top)
            assert found(product, text) == wanted, (text, least, top, endless)


@pytest.mark.parametrize("seed", range(60))
def test_no_two_states_are_alike_and_all_lead_on(seed: int) -> None:
    """No state is dead, each can be reached, and the least automaton has no fewer."""
    rng = random.Random(seed)
    dfa = some_dfa(rng)
    least = rng.randint(0, 3)
    product = product_of(dfa, least, least + rng.randint(0, 6), False)
    states = product.states()
    rows = tuple(tuple(next((to for read, to in product.row(s) if letter in product.sets[read]), -1)
                       for letter in range(len(dfa.classes))) for s in range(states))
    if states:
        assert len(minimise(Dfa(dfa.classes, rows, product.accepting())).rows) == states


def test_the_limits() -> None:
    dfa = Dfa(tuple(SPLIT[1]), ((0,),), frozenset((0,)))
    assert product_of(dfa, 0, 9, False, most=10).states() == 10
    with pytest.raises(TooManyStates):
        product_of(dfa, 0, 10, False, most=10)
    with pytest.raises(TooManyStates):
        product_of(dfa, 0, 1 << 30, False, most=1 << 20)
    with pytest.raises(TooManyStates):
        product_of(dfa, 0, 500, False, merged=300)


def test_a_finite_language_beside_a_length_without_end() -> None:
    """Two characters at most, whatever the bound: no more layers are looked at."""
    dfa = Dfa(tuple(SPLIT[1]), ((1,), (2,), (-1,)), frozenset((1, 2)))
    product = product_of(dfa, 0, 1 << 29, False)
    assert [found(product, (0,) * size) for size in range(4)] == [False, True, True, False]
    assert product_of(dfa, 3, 1 << 29, False).states() == 0


def test_its_graph_is_a_graph() -> None:
    """What does not know ``CountedGraph`` sees the edges, one for each part of a label."""
    dfa = Dfa(tuple(SPLIT[2]), ((1, 0), (-1, 0)), frozenset((0,)))
    product = product_of(dfa, 0, 3, False)
    parts = {(0,): (CharClass(((65, 65),)),), (1,): (CharClass(((98, 98),)), Reference("other"))}
    labels = tuple(parts[members] for members in product.sets)
    graph = CountedGraph(product, labels)
    rules = RuleSet({"root": graph, "other": CharClass(((0xE9, 0xE9),))}, "root")
    again = from_flat(to_flat(rules)).rules["root"]
    assert type(again) is Graph
    assert again.accepting == graph.accepting == product.accepting()
    assert [[to for _, to in row] for row in again.edges] == [
        [to for read, to in product.row(state) for _ in labels[read]] for state in range(product.states())]
    assert len(graph.parts(2)) == 2 * 3  # two of each
