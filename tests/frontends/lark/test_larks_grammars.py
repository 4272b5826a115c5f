"""The grammars that come with lark: its own notation, and Python with and without blocks."""

from __future__ import annotations

import importlib.resources
import os
import random

import pytest

from constrained.frontends.lark.compile import from_lark
from constrained.limits import Limits
from tests.frontends.lark import worlds
from tests.oracles import Recogniser

indenter = pytest.importorskip("lark.indenter")
NIGHTLY = bool(os.environ.get("CONSTRAINED_NIGHTLY"))

GRAMMARS = ["a: b\n", 'start: "x" [B] (c | D)+ -> e\nB.2: /[a-z]+/i\n%ignore B\n', "?x{y}: y~2..3\n",
            '%import common (A, B)\n%import common.C -> D\n%declare E\n', '!a: "b".."c"\n  | /x\\/y/ // z\n\n']
EXPRESSIONS = ["a if b else c\n", "f(x, *y, k=1)[1:2, ::3].z\n", "{1: 2, **c}", "[x for x in y if not x.if]",
               "r'a\\'b' \"\"", "0x1f + 1_0.5e3j - 0b1",
               "lambda x, *y: (yield)", "a notin b", "not a is not b", '"""x"y"""', "...\n\n"]
PROGRAMS = ["x = 1\n", "if x:\n  y\nelif z: w\n", "def f(a, b=2):\n return a\n\n\nclass A:\n  x: int = 3\n",
            "match x:\n case 1: y\n", "match(x)\n", "match = 1\n",
            "x = (\n1,\n  2)\n", "if x:\n  y\n z\n", "with a as b, c: pass\n",
            "# c\nx\n", "x # c d\n",
            "for x in y:\n  try:\n   z\n  except A as b:\n   c\n", "@a\ndef f(): pass\n", "x = if\n",
            "from . import (a, b)\n"]


def compare(made: object, recogniser: Recogniser, seeds: list[str], letters: str, count: int) -> None:
    rng = random.Random(0)
    accepted = 0
    for i in range(count):
        text = seeds[i] if i < len(seeds) else worlds.mutated(rng, rng.choice(seeds), letters)
        expected = worlds.parses(made, text)
        accepted += expected
        assert expected == recogniser.accepts(text.encode()), text
    assert accepted > count // 8


def grammar(name: str) -> str:
    return (importlib.resources.files("lark") / f"grammars/{name}.lark").read_text(encoding="utf-8")


def test_larks_own_notation() -> None:
    text = grammar("lark")
    compare(worlds.parser(text, "lexer"), Recogniser(from_lark(text)), GRAMMARS, 'aB:"/|~.\n %->(i', 150)


@pytest.mark.skipif(not NIGHTLY, reason="the nightly profile: set CONSTRAINED_NIGHTLY=1")
def test_python_expressions() -> None:
    text = grammar("python")
    compare(worlds.parser(text, "lexer", start="eval_input"), Recogniser(from_lark(text, start="eval_input")),
            EXPRESSIONS, "aifnot .,()[]{}:'\"\\1e\n", 300)


@pytest.mark.skipif(not NIGHTLY, reason="the nightly profile: set CONSTRAINED_NIGHTLY=1")
def test_python_programs() -> None:
    text, postlex = grammar("python"), indenter.PythonIndenter()
    rules = from_lark(text, start="file_input", postlex=postlex, limits=Limits(max_indentation=9))
    compare(worlds.parser(text, "lexer", start="file_input", postlex=postlex), Recogniser(rules), PROGRAMS,
            "xif :()#=\n", 200)


@pytest.mark.parametrize("start", ["eval_input", "file_input"])
def test_python_in_the_engine(start: str) -> None:
    """The nightly tests ask the oracle; here the engine itself reads, and each prefix of what it accepts is live."""
    text = grammar("python")
    postlex = indenter.PythonIndenter() if start == "file_input" else None
    engine = worlds.Engine(from_lark(text, start=start, postlex=postlex, limits=Limits(max_indentation=9)))
    made = worlds.parser(text, "lexer", start=start, **({} if postlex is None else {"postlex": postlex}))
    seeds, letters = (PROGRAMS, "xif :()#=\n") if postlex else (EXPRESSIONS, "aifnot .,()[]{}:'\"\\1e\n")
    rng = random.Random(start)
    accepted = 0
    for i in range(120):
        program = seeds[i] if i < len(seeds) else worlds.mutated(rng, rng.choice(seeds), letters)
        expected = worlds.parses(made, program)
        accepted += expected
        assert expected == engine.accepts(program.encode()), program
        if expected:
            assert engine.prefixes_are_live(program.encode()), program
    assert accepted > 20
