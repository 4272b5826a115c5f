"""Grammars for the tests, lark itself as the oracle, and texts near what it accepts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import constrained as cd
from constrained.grammar.ir import RuleSet

lark = pytest.importorskip("lark")
GRAMMARS = Path(__file__).parent / "grammars"

CALC = r"""
?start: sum | NAME "=" sum -> assign_var
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
%import common.CNAME -> NAME
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""

JSON = r"""
?start: value
?value: object | array | string | SIGNED_NUMBER -> number | "true" -> true | "false" -> false | "null" -> null
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: string ":" value
string: ESCAPED_STRING
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
%ignore WS
"""

SQL = (GRAMMARS / "sql.lark").read_text(encoding="utf-8")

LUA = (GRAMMARS / "lua.lark").read_text(encoding="utf-8")


def parser(grammar: str, mode: str, **options: Any) -> Any:
    """lark in the mode that the front end's mode stands for."""
    if mode == "lexer":
        return lark.Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False, **options)
    return lark.Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest", **options)


def parses(made: Any, text: str) -> bool:
    try:
        made.parse(text)
    except (lark.exceptions.LarkError, IndexError):  # IndexError: lark's indenter on a comment at the very end
        return False
    return True


class Engine:
    """The engine behind the interface of the oracle: one token a byte."""

    def __init__(self, rules: RuleSet) -> None:
        info = cd.TokenizerInfo.from_bytes([*(bytes([i]) for i in range(256)), b"</s>"], stop_token_ids=256)
        self.compiled = cd.GrammarCompiler(info).compile_grammar(cd.Grammar(rules))

    def accepts(self, data: bytes) -> bool:
        matcher = cd.GrammarMatcher(self.compiled)
        return all(matcher.accept_token(byte) for byte in data) and matcher.accept_token(256)

    def prefixes_are_live(self, data: bytes) -> bool:
        """Whether each mask on the way through an accepted text allows what comes next, and the last one the end."""
        state = self.compiled.start_state
        for byte in [*data, 256]:
            if byte not in self.compiled.allowed_ids(state):
                return False
            if byte < 256:
                state = self.compiled.next_state(state, byte)
        return True


def mutated(rng: random.Random, text: str, letters: str) -> str:
    """``text`` after up to three small changes."""
    chars = list(text)
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(chars))
        what = rng.random()
        if what < 0.4:
            chars.insert(at, rng.choice(letters))
        elif what < 0.8 and chars:
            chars.pop(min(at, len(chars) - 1))
        elif chars:
            other = rng.randrange(len(chars))
            at = min(at, len(chars) - 1)
            chars[at], chars[other] = chars[other], chars[at]
    return "".join(chars)


_PATTERNS = ("/a+/", "/[ab]+/", "/a|ab/", "/ab|a/", "/b+?/", "/a+?b/", "/[a-c]/", "/a(?!b)/", "/(?:ab)+/", "/b{1,2}/",
             "/c[ab]*?c/", "/A/i", "/a$/", "/b(?=a)/", "/ab\\b/", "/[^a]b?/", "/(?:a|ba)*?c/")
_STRINGS = ('"a"', '"b"', '"ab"', '"ba"', '"c"', '"aa"', '"A"i', '"ab"i', '"cc"')


def random_grammar(rng: random.Random) -> str:
    """A small grammar whose terminals overlap: keywords, priorities, what is ignored, several contexts."""
    lines = []
    terminals = [f"T{i}" for i in range(rng.randint(1, 4))]
    for name in terminals:
        body = " ".join(rng.choice(_PATTERNS + _STRINGS) for _ in range(1 if rng.random() < 0.8 else 2))
        if rng.random() < 0.15:
            body += " | " + rng.choice(_STRINGS)
        lines.append(f"{name}{rng.choice(('', '', '', '.1', '.2'))}: {body}")
    rules = ["start", *(f"r{i}" for i in range(rng.randint(0, 3)))]

    def item() -> str:
        symbol = rng.choice([*terminals, *terminals, rng.choice(_STRINGS), *rules[1:]])
        return symbol + rng.choice(("", "", "", "", "?", "*", "+"))

    for rule in rules:
        options = [" ".join(item() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.1:
            options.append("")
        lines.append(f"{rule}{rng.choice(('', '', '.2'))}: " + " | ".join(options))
    if rng.random() < 0.5:
        lines.append("%ignore " + rng.choice(('" "', "/ +/", "/c+/", '"c"', "/ |c b/")))
    return "\n".join(lines) + "\n"


def may_hang(made: Any) -> bool:
    """Whether lark's LALR parser may reduce for ever: a rule that is itself among symbols that may all be empty."""
    rules = [(rule.origin.name, [symbol.name for symbol in rule.expansion]) for rule in made.rules]
    empty: set[str] = set()
    while True:
        more = {origin for origin, symbols in rules if all(symbol in empty for symbol in symbols)} - empty
        if not more:
            break
        empty |= more
    steps: dict[str, set[str]] = {}
    for origin, symbols in rules:
        for i, symbol in enumerate(symbols):
            if all(other in empty for other in symbols[:i] + symbols[i + 1 :]):
                steps.setdefault(origin, set()).add(symbol)
    for first in steps:
        seen: set[str] = set()
        stack = [first]
        while stack:
            for after in steps.get(stack.pop(), ()):
                if after == first:
                    return True
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    return False
