"""lark is the oracle: what it parses is accepted, what it refuses is refused, in the mode the front end stands for."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrained.errors import GrammarSyntaxError, UnsatisfiableGrammarError
from constrained.frontends.lark.compile import from_lark
from tests.frontends.lark import worlds
from tests.oracles import Recogniser

CASES = {
    "calc": (worlds.CALC, ["x = 1+2*(3 - y)", "1.5e3", "a", "-(1)", "1e5.2", "1 2"], "xe1.+-*/()= "),
    "json": (worlds.JSON, ['{"a": [1, 2.5e-3, true], "b": "x\\"y"}', "[]", "[1,2 ,null]", '"\\\\"'],
             '{}[]":,1.e-\\truefalsn '),
    "sql": (worlds.SQL, ["SELECT a.b, count(*) FROM t AS x LEFT JOIN u ON a = 1 WHERE NOT x IS NULL ORDER BY y DESC",
                         "INSERT INTO t VALUES (1, 'a''b', -2.5e3);", "DELETE FROM t WHERE a IN (1,2) /* x */",
                         "CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR(3))", "UPDATE t SET a=b||c --x\n"],
            "SELCT xy 1.'\"-=<>()*,;/"),
    "lua": (worlds.LUA, ["local x = 1 .. 2", "if a then b() elseif c then d:e{1;x=2} else return end",
                         "for i=1,2 do --[[ x ]] x.y[z] = f'a' end", "function a.b:c(...) return ... end --x",
                         "while not a do repeat x=1 until y==[[z]] end", "return -a^2, #b, 0xFf, 1.5e3"],
            "andore .=-[](){};:'\"1x\n"),
}


#: The oracle is slow on them: the engine itself is asked, byte by byte.
LARGE = ("sql", "lua")


@pytest.mark.parametrize(("name", "mode"), [*((name, "lexer") for name in CASES), ("calc", "scannerless"),
                                            ("json", "scannerless")])
def test_texts_near_the_language(name: str, mode: str) -> None:
    grammar, seeds, letters = CASES[name]
    made = worlds.parser(grammar, mode)
    rules = from_lark(grammar, mode=mode)
    engine = worlds.Engine(rules)
    recogniser: Recogniser | worlds.Engine = engine if name in LARGE else Recogniser(rules)
    rng = random.Random(name)
    accepted = 0
    for i in range(120 if mode == "lexer" else 60):
        text = seeds[i] if i < len(seeds) else worlds.mutated(rng, rng.choice(seeds), letters)
        expected = worlds.parses(made, text)
        accepted += expected
        assert expected == recogniser.accepts(text.encode()), text
        if expected:
            assert engine.prefixes_are_live(text.encode()), text
    assert accepted > 10


@pytest.mark.parametrize("mode", ["lexer", "scannerless"])
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(seed=st.integers(0, 1 << 30))
def test_random_grammars(mode: str, seed: int) -> None:
    rng = random.Random(seed)
    grammar = worlds.random_grammar(rng)
    try:
        made = worlds.parser(grammar, mode)
    except worlds.lark.exceptions.LarkError:
        with pytest.raises(GrammarSyntaxError):
            from_lark(grammar, mode=mode)
        return
    if worlds.may_hang(made):
        return
    try:
        recogniser = Recogniser(from_lark(grammar, mode=mode))
    except UnsatisfiableGrammarError:
        recogniser = None
    except GrammarSyntaxError as error:
        assert "terminal" in str(error)  # refused by name
        return
    for _ in range(12):
        text = "".join(rng.choice("aabbc A") for _ in range(rng.randint(0, 6)))
        try:
            expected = worlds.parses(made, text)
        except RuntimeError:
            continue  # lark's Earley parser gives up on some ambiguities, and says that it is a bug
        got = recogniser is not None and recogniser.accepts(text.encode())
        assert expected == got, (grammar, text)
