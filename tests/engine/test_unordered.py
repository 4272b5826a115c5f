"""Groups in any order, or in their own: the set loop against every order written out."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from constrained.engine.compiled import compile_rules
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import Choice, Expr, Literal, Repeat, RuleSet, Sequence, Unordered
from constrained.grammar.show import show
from constrained.vocabulary import TokenizerInfo

TEXT = [bytes([byte]) for byte in b"abcd,;"]
INFO = TokenizerInfo.from_bytes([*TEXT, b"a,", b",b", b""], special_token_ids=[8], stop_token_ids=[8])


def written_out(group: Unordered, most: int) -> set[bytes]:
    """Every text of the group with at most ``most`` things in it; items are literals."""
    items = [(i, item.data) for i, item in enumerate(group.items) if isinstance(item, Literal)]
    free = group.free.data if isinstance(group.free, Literal) else None
    separator = group.separator.data if isinstance(group.separator, Literal) else b""
    found: set[bytes] = set()
    for count in range(group.minimum, (most if group.maximum is None else min(most, group.maximum)) + 1):
        for pattern in itertools.product([*items, (-1, free)] if free is not None else items, repeat=count):
            used = [i for i, _ in pattern if i >= 0]
            if group.in_order and (used != sorted(used) or any(i >= 0 for i, _ in pattern[len(used):])):
                continue
            if len(set(used)) == len(used) and group.required <= set(used):
                found.add(separator.join(data for _, data in pattern if data is not None))
    return found


@st.composite
def groups(draw: st.DrawFn) -> Unordered:
    items = [Literal(bytes(draw(st.lists(st.sampled_from(b"abc"), min_size=1, max_size=2)))) for _ in
             range(draw(st.integers(0, 4)))]
    required = frozenset(i for i in range(len(items)) if draw(st.booleans()))
    free: Expr | None = Literal(b"d") if draw(st.booleans()) else None
    minimum = draw(st.integers(0, 3))
    maximum = draw(st.none() | st.integers(0, 4))
    return Unordered(tuple(items), required, Literal(draw(st.sampled_from([b",", b";,"]))), free, minimum, maximum,
                     draw(st.booleans()))


@given(groups(), st.booleans())
def test_same_language_as_all_orders(group: Unordered, looped: bool) -> None:
    texts = written_out(group, 5)
    rules = RuleSet({"root": Sequence((Literal(b"a"), group, Literal(b";")))}, "root")
    rules = from_flat(to_flat(rules))
    try:
        compiled = compile_rules(rules, INFO)
    except ValueError:
        assert not texts
        return
    start = compiled.start_state
    for text in texts:
        state = compiled.advance(start, b"a" + text + b";")
        assert state and compiled.is_complete(state), text
    rng = random.Random(len(texts))
    for _ in range(300):
        count = rng.randint(0, 5)
        parts = [bytes(rng.choices(b"abcd,;", k=rng.randint(1, 2))) for _ in range(count)]
        if rng.random() < 0.7:
            parts = [rng.choice([item.data for item in group.items if isinstance(item, Literal)] or [b"d"]) if
                     rng.random() < 0.9 else b"d" for _ in range(count)]
        text = (group.separator.data if isinstance(group.separator, Literal) else b"").join(parts)
        state = compiled.advance(start, b"a" + text + b";")
        inside = bool(state and compiled.is_complete(state))
        if text.count(b",") < 5:
            assert inside == (text in texts), (text, group.required, group.minimum, group.maximum)


@given(groups())
def test_masks_and_shortest_completion(group: Unordered) -> None:
    end = Repeat(Choice((Literal(b"b"), Literal(b"cd"))), 1, 2)
    rules = RuleSet({"root": Sequence((Literal(b"a"), group, end))}, "root")
    try:
        compiled = compile_rules(rules, INFO)
    except ValueError:
        return
    rng = random.Random(5)
    state = compiled.start_state
    for _ in range(30):
        ids = compiled.allowed_ids(state)
        assert ids
        expected = [i for i in range(8) if compiled.next_state(state, i)] + ([8] if compiled.is_complete(state) else [])
        assert ids == expected
        rest = compiled.shortest_completion(state)
        assert len(rest) == compiled.automaton.distance(state)
        assert compiled.is_complete(compiled.advance(state, rest))
        steps = [i for i in ids if i != 8]
        if not steps:
            break
        state = compiled.next_state(state, rng.choice(steps))


@given(groups())
def test_printed_and_read_again(group: Unordered) -> None:
    rules = RuleSet({"root": Sequence((Literal(b"a"), group))}, "root")
    if not written_out(group, 6):
        return
    again = from_ebnf(show(rules))
    one, other = compile_rules(rules, INFO), compile_rules(again, INFO)
    for text in written_out(group, 4):
        for compiled in (one, other):
            state = compiled.advance(compiled.start_state, b"a" + text)
            assert state and compiled.is_complete(state)
