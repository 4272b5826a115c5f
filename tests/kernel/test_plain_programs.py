"""Programs of trees, stepped through and determinised, against Python's own ``re``."""

from __future__ import annotations

import random
import re

import pytest

from constrained.errors import GrammarLimitError
from constrained.kernel.dfa_tables import TooManyStates
from constrained.kernel.plain_programs import HasAssertions, PlainProgram
from constrained.limits import Limits
from constrained.regex.parse_python import parse_python
from constrained.regex.subsets import compiled_tree

LIMITS = Limits()


def some_pattern(draw: random.Random, depth: int) -> str:
    kind = draw.randrange(6 if depth else 2)
    if kind < 2:
        return draw.choice(["a", "b", "ab", "[ab]", "[^a]", "c\u00e9", "."])
    if kind == 2:
        return "".join(some_pattern(draw, depth - 1) for _ in range(draw.randint(1, 3)))
    if kind == 3:
        return f"(?:{'|'.join(some_pattern(draw, depth - 1) for _ in range(draw.randint(2, 4)))})"
    count = draw.choice(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{0}", "*?", "{1,2}?"])
    return f"(?:{some_pattern(draw, depth - 1)}){count}"


@pytest.mark.parametrize("seed", range(150))
def test_a_tree_reads_what_re_matches(seed: int) -> None:
    draw = random.Random(seed)
    source = some_pattern(draw, 3)
    pattern = compiled_tree(parse_python(source, LIMITS), LIMITS)
    assert pattern is not None
    dfa = pattern.automaton(LIMITS)
    for _ in range(40):
        text = "".join(draw.choice("aabbc\u00e9\n") for _ in range(draw.randint(0, 7)))
        wanted = re.fullmatch(source, text) is not None
        assert pattern.accepts(text) == wanted == dfa.accepts(text), (source, text)
    assert not pattern.accepts("a\ud800")


def test_assertions_are_left_to_others() -> None:
    assert compiled_tree(parse_python("a(?=b)b", LIMITS), LIMITS) is None
    with pytest.raises(HasAssertions):
        PlainProgram(100).compile(parse_python(r"\bb", LIMITS))


def test_places_are_counted() -> None:
    tree = parse_python("(?:ab?){3}", LIMITS)  # three times a, b and the choice
    PlainProgram(9).compile(tree)
    with pytest.raises(TooManyStates):
        PlainProgram(8).compile(tree)
    with pytest.raises(GrammarLimitError, match="max_dfa_states"):
        compiled_tree(parse_python("(?:a{1000}){1000}", LIMITS), Limits(max_dfa_states=1000))
