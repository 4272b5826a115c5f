"""Hypothesis strategies: small random grammars over the whole IR, and texts near their language.

Grammars are few rules over the alphabet ``a b c`` and some longer characters, drawn so that nullable rules, left
and hidden left recursion, cycles, ambiguity and counted repetitions are all common. ``texts`` walks a grammar at
random with a budget and then damages the result now and then, so that accepted, viable and dead texts all occur.
"""

from __future__ import annotations

import random
from collections.abc import Sequence as Items

from hypothesis import settings
from hypothesis import strategies as st

from constrained.grammar import combinators as make
from constrained.grammar.analysis import analyse
from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Expr,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
)

ALPHABET = "abcé漢😀\n"
# For property tests whose examples are slow ones.
FEWER = settings(max_examples=settings().max_examples * 4 // 10)
_LITERALS = ["", "a", "b", "c", "ab", "ba", "abc", "é", "漢", "\n"]
_CLASSES = ["a", "ab", "a-c", "bcé", "漢😀", "\\n"]


def leaves(*, full: bool = True, tokens: Items[int | str] = ()) -> st.SearchStrategy[Expr]:
    """Literals and classes; ``full``: raw bytes, free text and byte automata too; ``tokens``: references to these."""
    kinds: list[st.SearchStrategy[Expr]] = [
        st.sampled_from(_LITERALS).map(make.literal),
        st.sampled_from(_CLASSES).map(make.char_class),
        st.sampled_from(_CLASSES).map(lambda members: make.char_class(members, negated=True)),
    ]
    if full:
        kinds += [
            st.sampled_from([b"\xc3", b"\xa9", b"\xff", b"a\xc3"]).map(make.literal),
            st.builds(
                make.any_text_until,
                st.sampled_from(["b", "ab", "aa", "aba", "é"]),
                consume=st.booleans(),
            ),
            st.just(make.any_text_until("ab", "bc")),
            byte_dfas(),
        ]
    if tokens:
        named = st.lists(st.sampled_from(tokens), min_size=1, max_size=2, unique=True).map(tuple)
        kinds.append(st.builds(TokenReference, named, st.booleans()))
    return st.one_of(kinds)


@st.composite
def byte_dfas(draw: st.DrawFn) -> ByteDfa:
    count = draw(st.integers(1, 3))
    state = st.integers(0, count - 1)
    rows = []
    for _ in range(count):
        a, b, c = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
        row = [(97, 97, draw(state))] if a else []
        row += [(98, 98, draw(state))] if b else []
        row += [(99, 0xC3, draw(state))] if c else []
        rows.append(tuple(row))
    return ByteDfa(tuple(rows), frozenset(draw(st.sets(state))))


def expressions(
    names: Items[str], *, full: bool = True, tokens: Items[int | str] = (), max_leaves: int = 8
) -> st.SearchStrategy[Expr]:
    """Raw nodes, not the simplified ones of the combinators: empty and single-child nodes occur."""
    base: st.SearchStrategy[Expr] = st.one_of(leaves(full=full, tokens=tokens), st.sampled_from(names).map(Reference))

    def extend(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        several = st.lists(inner, max_size=3).map(tuple)
        bounds = st.sampled_from([(0, 1), (0, None), (1, None), (0, 2), (2, 2), (1, 3), (2, None), (3, 5), (0, 0)])
        return st.one_of(
            several.map(Sequence),
            several.map(Choice),
            st.builds(lambda body, bound: Repeat(body, *bound), inner, bounds),
        )

    return st.recursive(base, extend, max_leaves=max_leaves)


@st.composite
def rule_sets(
    draw: st.DrawFn, *, full: bool = True, tokens: Items[int | str] = (), max_rules: int = 4, max_leaves: int = 8
) -> RuleSet:
    """Grammars whose root derives some text. About half of the rules start with a reference (left recursion)."""
    names = ["root", "x", "y", "z"][: draw(st.integers(1, max_rules))]
    rules: dict[str, Expr] = {}
    for name in names:
        body = draw(expressions(names, full=full, tokens=tokens, max_leaves=max_leaves))
        if draw(st.booleans()):
            front = draw(st.sampled_from(names))
            hidden = draw(st.sampled_from([None, Literal(b""), Repeat(Literal(b"a"), 0, 1)]))
            left = Reference(front) if hidden is None else Sequence((hidden, Reference(front)))
            body = Choice((Sequence((left, draw(leaves(full=full)))), body))
        rules[name] = body
    grammar = RuleSet(rules, "root")
    if "root" in analyse(grammar).unproductive:
        rules["root"] = Choice((rules["root"], Literal(b"a")))
    return grammar


@st.composite
def texts(draw: st.DrawFn, grammar: RuleSet, *, budget: int = 40) -> bytes:
    """Bytes near the language: a random derivation cut short, then perhaps damaged."""
    rng = random.Random(draw(st.integers(0, 1 << 30)))
    text = derive(grammar, rng, budget)
    damage = draw(st.integers(0, 5))
    if damage == 1 and text:
        text = text[: rng.randrange(len(text))]
    elif damage == 2:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(ALPHABET).encode() + text[at:]
    elif damage == 3 and text:
        at = rng.randrange(len(text))
        text = text[:at] + text[at + 1 :]
    elif damage == 4:
        text += rng.choice(ALPHABET).encode()
    return text


def derive(grammar: RuleSet, rng: random.Random, budget: int = 40) -> bytes:
    """A random walk down the grammar, left to right. It stops, unfinished, after ``budget`` bytes or steps."""
    out = bytearray()
    stack: list[Expr] = [Reference(grammar.root)]
    steps = 20 * budget
    while stack and len(out) < budget and steps:
        steps -= 1
        node = stack.pop()
        if isinstance(node, Literal):
            out += node.data
        elif isinstance(node, CharClass):
            if node.ranges:
                first, last = rng.choice(node.ranges)
                near = [ord(c) for c in ALPHABET if first <= ord(c) <= last]
                out += chr(rng.choice(near or [first, last])).encode()
        elif isinstance(node, Sequence):
            stack.extend(reversed(node.items))
        elif isinstance(node, Choice):
            stack.extend([rng.choice(node.options)] if node.options else [])
        elif isinstance(node, Repeat):
            top = node.minimum + 2 if node.maximum is None else min(node.maximum, node.minimum + 2)
            stack.extend([node.body] * rng.randint(node.minimum, top))
        elif isinstance(node, Reference):
            stack.append(grammar.rules[node.name])
        elif isinstance(node, Capture):
            stack.append(node.body)
        elif isinstance(node, AnyTextUntil):
            out += "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(4))).encode()
            out += rng.choice(node.stops) if node.consume else b""
        elif isinstance(node, ByteDfa):
            state = 0
            while node.transitions[state] and len(out) < budget and (state not in node.accepting or rng.random() < 0.6):
                first, last, state = rng.choice(node.transitions[state])
                out.append(rng.choice((first, last)))
        else:
            assert isinstance(node, TokenReference)
    return bytes(out)


@st.composite
def vocabularies(draw: st.DrawFn, *, control: int = 2) -> tuple[list[bytes], dict[str, int]]:
    """Token bytes by id, and control tokens by their text; every byte of ``ALPHABET`` is a token of its own.

    The rest are short runs of these bytes, cut anywhere: tokens that begin or end within a character, duplicates,
    and ids that are never text (empty bytes) occur. Control tokens are ``<s0>``, ``<s1>``, ..., empty themselves.
    """
    single = sorted(set(ALPHABET.encode()))
    piece = st.lists(st.sampled_from(single), max_size=4).map(bytes)
    tokens = [bytes((byte,)) for byte in single] + draw(st.lists(piece, max_size=20))
    tokens = draw(st.permutations(tokens))
    named = {f"<s{i}>": len(tokens) + i for i in range(control)}
    return [*tokens, *[b""] * control], named
