"""What the engine's tests share: vocabularies, random grammars by seed, and the engine asked in small steps.

The grammars here are drawn by ``random.Random(seed)``: thousands a minute, so that small worlds can be searched
widely; ``tests.strategies`` draws the ones that hypothesis can shrink. Three kinds: ``small`` ones (few letters,
nullable, left recursive, ambiguous, counted), ``wide`` ones (loops over many bytes, which masks treat apart) and
the named ``SHAPES`` with texts that lead to their corners.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence as Items
from functools import lru_cache

import numpy as np

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import UnsatisfiableGrammarError
from constrained.grammar import combinators as make
from constrained.grammar.analysis import analyse
from constrained.grammar.flat import to_flat
from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    CharClass,
    Choice,
    Expr,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
    Unordered,
)
from constrained.grammar.show import show
from constrained.kernel import is_compiled
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

COMPILED = is_compiled()
NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
LETTERS = b"abc\xc3\xa9,"


def sized(compiled: int, pure: int) -> int:
    """How many examples to run: uncompiled kernels are some hundred times slower, nightly runs ten times longer."""
    return (compiled if COMPILED else pure) * (10 if NIGHTLY else 1)


# -- vocabularies -----------------------------------------------------------------------------------------------


@lru_cache
def byte_vocabulary() -> TokenizerInfo:
    """One token a byte, id = byte; 256 ends a text, 257 is a control token ``<x>``."""
    return TokenizerInfo.from_bytes([*(bytes((b,)) for b in range(256)), b"<e>", b"<x>"],
                                    stop_token_ids=[256], special_token_ids=[256, 257])


PIECES = [b"a", b"b", b"c", b'"', b"\\", b" ", b"1", b"-", b"x", b"z", b"\n", b",",
          "é".encode(), "漢".encode(), "😀".encode(), b"\xc3", b"\xa9", b"\xe6", b"\xf0\x9f", b"\xff", b"\x80"]


@lru_cache(maxsize=4)
def wide_vocabulary(seed: int, size: int) -> TokenizerInfo:
    """All bytes, ``size`` random runs of ``PIECES`` and as many behind an ``a``; twins, empty pieces, control tokens.

    With 2,000 of each, the whole trie and the part below ``a`` have more nodes than a mask walks without looking for
    regions (1,500), so that class tries of the whole and of a part are in play. The stop token is the last but one,
    the control token ``<x>`` the last.
    """
    rng = random.Random(seed)
    weights = [rng.random() ** 2 + 0.02 for _ in PIECES]
    tokens = [bytes((b,)) for b in range(256)]
    tokens += [b"".join(rng.choices(PIECES, weights, k=rng.randint(2, 9))) for _ in range(size)]
    tokens += [b"a" + b"".join(rng.choices(PIECES, weights, k=rng.randint(2, 8))) for _ in range(size)]
    tokens += rng.choices(tokens, k=50) + [b""] * 3
    n = len(tokens)
    return TokenizerInfo.from_bytes([*tokens, b"<e>", b"<x>"], stop_token_ids=[n], special_token_ids=[n, n + 1])


def describe(rules: RuleSet) -> str:
    """The grammar for a failure's message: as EBNF, or flat where EBNF has no words for it."""
    try:
        return show(rules)
    except AssertionError:
        return repr(to_flat(rules))


# -- asking the engine ------------------------------------------------------------------------------------------


def compiled(rules: RuleSet, info: TokenizerInfo | None = None, limits: Limits | None = None) -> CompiledGrammar:
    return compile_rules(rules, info or byte_vocabulary(), limits)


def stepped_mask(grammar: CompiledGrammar, state: int) -> list[int]:
    """The mask by brute force: every id is stepped alone, byte by byte; stop tokens stand where the text may end."""
    step = grammar.next_state
    stops = set(grammar.tokenizer_info.stop_token_ids) if grammar.is_complete(state) else set()
    return [i for i in range(grammar.tokenizer_info.vocab_size) if i in stops or step(state, i)]


def row_ids(row: np.ndarray, vocab_size: int) -> list[int]:
    """The ids whose bit is set in one int32 row."""
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")[:vocab_size]
    return [int(i) for i in bits.nonzero()[0]]


def walk_states(grammar: CompiledGrammar, rng: random.Random, steps: int) -> list[tuple[bytes, int]]:
    """A random text of the grammar with its states, drawn among ``PIECES``' bytes first."""
    near = sorted(set(b"".join(PIECES)))
    state, text = grammar.start_state, b""
    found = [(text, state)]
    for _ in range(steps):
        rng.shuffle(near)
        byte = next((b for b in near if grammar.advance(state, bytes((b,)))), None)
        if byte is None:
            try:
                rest = grammar.shortest_completion(state)
            except UnsatisfiableGrammarError:  # only a token that the grammar names goes on
                break
            if not rest:
                break
            byte = rest[0]
        text += bytes((byte,))
        state = grammar.advance(state, bytes((byte,)))
        found.append((text, state))
    return found


# -- small random grammars --------------------------------------------------------------------------------------

_NAMES = ["root", "x", "y", "z"]
_BOUNDS = [(0, 1), (0, None), (1, None), (0, 2), (2, 2), (1, 3), (2, None), (3, 5), (0, 0), (1, 1), (4, 4), (3, None)]


def small_grammar(rng: random.Random) -> RuleSet:
    """Up to four rules over ``a b c``, half of them left recursive, plainly, hidden or through a counted loop."""
    names = _NAMES[: rng.randint(1, 4)]
    leaves = rng.choice([4, 8, 12])
    rules: dict[str, Expr] = {}
    for name in names:
        body = _small(rng, names, leaves)
        if rng.random() < 0.5:
            front: Expr = Reference(rng.choice(names))
            if rng.random() < 0.3:
                front = Repeat(front, *rng.choice([(0, 2), (1, 3), (2, 3), (2, None)]))
            hidden = rng.choice([None, Literal(b""), Repeat(Literal(b"a"), 0, 1),
                                 Repeat(Reference(rng.choice(names)), 0, rng.choice([1, 3, None]))])
            left = front if hidden is None else Sequence((hidden, front))
            body = Choice((Sequence((left, _leaf(rng, names))), body))
        rules[name] = body
    return productive(rules)


def productive(rules: dict[str, Expr]) -> RuleSet:
    """The grammar, with another way out for a root that has no text."""
    grammar = RuleSet(rules, "root")
    if "root" in analyse(grammar).unproductive:
        rules["root"] = Choice((rules["root"], Literal(b"a")))
    return grammar


def _small(rng: random.Random, names: Items[str], leaves: int) -> Expr:
    if leaves <= 1 or rng.random() < 0.25:
        return _leaf(rng, names)
    kind = rng.random()
    if kind < 0.65:
        count = rng.choice([0, 1, 2, 2, 3, 5]) if rng.random() < 0.3 else rng.randint(1, 3)
        parts = tuple(_small(rng, names, leaves // max(count, 1)) for _ in range(count))
        return Sequence(parts) if kind < 0.35 else Choice(parts)
    if kind < 0.72:
        return _unordered(rng)
    body = _small(rng, names, leaves - 1) if rng.random() < 0.5 else Reference(rng.choice(names))
    return Repeat(body, *rng.choice(_BOUNDS))


def _leaf(rng: random.Random, names: Items[str]) -> Expr:
    kind = rng.random()
    if kind < 0.35:
        return Literal(rng.choice([b"", b"a", b"a", b"b", b"ab", b"ba", b"c"]))
    if kind < 0.5:
        ranges = [((97, 97),), ((97, 98),), ((97, 99),), ((97, 97), (0xE9, 0xE9)), ((0xE0, 0x101),)]
        return CharClass(rng.choice(ranges))
    if kind < 0.56:
        return AnyTextUntil(rng.choice([(b"b",), (b"ab",), (b"aa",), (b"aba",), (b"ab", b"bc")]), rng.random() < 0.5)
    if kind < 0.6:
        count = rng.randint(1, 3)
        rows = [tuple((97 + k, 97 + k, rng.randrange(count)) for k in range(3) if rng.random() < 0.5)
                for _ in range(count)]
        return ByteDfa(tuple(rows), frozenset(k for k in range(count) if rng.random() < 0.5))
    return Reference(rng.choice(names))


def _unordered(rng: random.Random) -> Expr:
    words = [Literal(word) for word in rng.sample([b"a", b"b", b"ab", b"c", b"aa"], rng.randint(1, 4))]
    required = frozenset(i for i in range(len(words)) if rng.random() < 0.3)
    free = Literal(rng.choice([b"a", b"cb"])) if rng.random() < 0.4 else None
    least = rng.choice([0, 0, 1, 2])
    most = rng.choice([None, None, 2, 3])
    room = len(words) if free is None else 9
    least = max(min(least, room if most is None else min(most, room)), 0)
    if most is not None and most < len(required):
        most = None
    separator = Literal(rng.choice([b",", b"a", b"c,"]))
    return Unordered(tuple(words), required, separator, free, least, most, rng.random() < 0.4)


# -- wide random grammars ---------------------------------------------------------------------------------------

_WIDE_BOUNDS = [(0, None), (1, None), (0, 1), (3, None), (0, 6), (2, 9), (5, 40), (0, 200), (30, None), (1, 30),
                (100, 300), (12, 12), (0, 100_000), (1000, 1000)]


def wide_grammar(rng: random.Random, special: int) -> RuleSet:
    """Loops over many characters, plain and counted, in each other and beside literals that they overlap.

    ``special`` is a control token that some of the grammars name.
    """
    names = _NAMES[: rng.randint(1, 3)]
    rules = {name: _wide(rng, names, rng.randint(2, 4), special) for name in names}
    if rng.random() < 0.3:
        rules["root"] = Choice((Sequence((Reference("root"), _wide_class(rng))), rules["root"]))
    if rng.random() < 0.3:
        rules["root"] = Sequence((Literal(b'"'), rules["root"], Literal(b'"')))
    return productive(rules)


def _wide(rng: random.Random, names: Items[str], depth: int, special: int) -> Expr:
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return _wide_class(rng)
    if kind < 0.3:
        return Literal(rng.choice([b'"', b'\\"', b"a", b"ab", b"aba", b"", b"x", "é".encode(), b"abcabc", b"\xc3"]))
    if kind < 0.4:
        return Reference(rng.choice(names))
    if kind < 0.43:
        return TokenReference((special,))
    if kind < 0.7:
        body = rng.choice([_wide_class(rng), Choice((_wide_class(rng), Literal(b'\\"'))),
                           Sequence((_wide_class(rng), _wide_class(rng))), _wide(rng, names, depth - 1, special)])
        return Repeat(body, *rng.choice(_WIDE_BOUNDS))
    parts = tuple(_wide(rng, names, depth - 1, special) for _ in range(rng.randint(2, 3)))
    return Sequence(parts) if kind < 0.85 else Choice(parts)


def _wide_class(rng: random.Random) -> Expr:
    kind = rng.randrange(10)
    if kind == 0:
        stops = rng.choice([(b"b",), (b"ab",), (b"aba", b"c"), ("é".encode(),), (b'"',)])
        return AnyTextUntil(stops, rng.random() < 0.6)
    if kind < 6:
        classes = [('"\\\\', True), ("a", True), ("a-zA-Z0-9_", False), ("\\n", True), ("a-zé", False)]
        members, negated = classes[kind - 1]
        return make.char_class(members, negated=negated)
    return CharClass([((0, 0x10FFFF),), ((0x80, 0x10FFFF),), ((0x61, 0x7A), (0xE0, 0xFF), (0x4E00, 0x9FFF)),
                      ((0x7F, 0x80), (0x7FF, 0x800), (0xFFFF, 0x10000), (0x61, 0x63))][kind - 6])


# -- named shapes -----------------------------------------------------------------------------------------------

SHAPES: dict[str, tuple[str, list[str]]] = {
    "json string": (r'root ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\/bfnrt])* "\""',
                    ["", '"', '"ab', '"ab\\', '"\\"a', '"ab"', '"é漢']),
    "bounded string": (r'root ::= "\"" [^"]{0,40} "\"" "!"?',
                       ["", '"', '"' + "a" * 20, '"' + "a" * 31, '"' + "é" * 38, '"' + "a" * 39, '"' + "a" * 40,
                        '"' + "a" * 40 + '"']),
    "far bounds": (r'root ::= [^\n]{200,100000} "\n" [a-z]{3,5}',
                   ["", "a" * 100, "a" * 185, "a" * 195, "a" * 199, "a" * 200, "é" * 210, "a" * 205 + "\n",
                    "a" * 205 + "\nab", "a" * 205 + "\nabcde"]),
    "identifier and keywords": (r'root ::= ("if" " " name | "abc" ";" | name) ("," root)?' "\n"
                                "name ::= [a-zA-Z_] [a-zA-Z0-9_]*",
                                ["", "i", "if", "if ", "ab", "abc", "abcd", "abc,", "abc;,i", "zz1"]),
    "free text until stops": (
        'root ::= AnyTextUntil("</a>", "<a>") "x" | "</b>"', ["", "ab", "<", "</", "</a", "</a>", "é<a>x"]),
    "nested counted": (r'root ::= item{2,4}' "\n" r'item ::= "[" [^\]]{1,9} "]"{1,3} | "{" root "}"',
                       ["", "[a", "[abcabcabc", "[a]", "[a]]]", "[a][", "{[a][b]", "{[a][b]}[c]"]),
    "overlapping loops": ("root ::= [a-z]* [^b]{2,60} [a-c]+ [^a]*", ["", "a", "abab", "zzz", "aéa", "cc1c"]),
    "characters at the edges": ("root ::= [\\u007f-\\u0080\\u07ff-\\u0800\\uffff-\\U00010000a]{1,20} \"é\"",
                                ["", "a", "\u0080", "\uffffa", "\U00010000é"]),
    "named token": ('root ::= "a" <[SPECIAL]> [^c]* | [^b]+ <[SPECIAL]> "b"', ["", "a", "ax", "zzz"]),
    "left recursion over text": (
        'root ::= root "," [^,]+ | [^,]+ | root "," root ";"', ["", "a", "a,", "ab,c,", "a,b;,x"]),
    "end or more": ('root ::= ("-"? [0-9]+ ("." [0-9]+)? | [a-z]+ | "\\"" [^\\"]* "\\"") (" "+ root)?',
                    ["", "1", "1.", "-", "abc", '"', '"a" ', "1 a "]),
}
