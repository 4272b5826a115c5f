"""Blocks by indentation: lark's own indenter is the oracle."""

from __future__ import annotations

import random
from typing import Any

import pytest

from constrained.errors import ConstrainedError, GrammarSyntaxError
from constrained.frontends.lark.compile import from_lark
from constrained.limits import Limits
from tests.frontends.lark import worlds
from tests.oracles import Recogniser

indenter = pytest.importorskip("lark.indenter")

TREE = r"""
?start: _NL* tree
tree: NAME _NL [_INDENT tree+ _DEDENT]
%import common.CNAME -> NAME
%import common.WS_INLINE
%declare _INDENT _DEDENT
%ignore WS_INLINE
_NL: /(\r?\n[\t ]*)+/
"""

BLOCKS = r"""
start: (_NL | s)*
?s: "a" ["(" e* ")"] _NL | "if" e ":" b ["else" ":" b] | "w" _NL _INDENT s+ _DEDENT "z" _NL
b: "p" _NL | _NL _INDENT s+ _DEDENT
e: "x" | "(" e ")"
_NL: ( /\r?\n[\t ]*/ | /#[^\n]*/ )+
%ignore /[\t ]+/
%declare _INDENT _DEDENT
LP: "("
RP: ")"
"""

CASES = {
    "tree": (TREE, (), 3, ["a\n  b\n  c\n    d\n e\n", "a\n\tb\n   c\n", "a\n", "a\n b\n "], "a \n\t"),
    "blocks": (BLOCKS, ("LP", "RP"), 8,
               ["if x:\n  a\n  if (x):\n   a\nelse: p\n", "if x: p\nw\n  a\n  a(x\n x)\nz\n", "# u\na #x\nif x:\n  a\n",
                "w\n a\n if x:\n  a\n  a\nz\na\n", "if x:\n\n # c\n  a\n\n\na\n"], "a \n#(x)\tpz"),
}


def make(brackets: tuple[str, ...], tab: int, **more: Any) -> Any:
    names = {"NL_type": "_NL", "INDENT_type": "_INDENT", "DEDENT_type": "_DEDENT", "tab_len": tab,
             "OPEN_PAREN_types": brackets[:1], "CLOSE_PAREN_types": brackets[1:]}
    return type("Blocks", (indenter.Indenter,), names | more)()


@pytest.mark.parametrize("name", CASES)
def test_texts_near_the_language(name: str) -> None:
    grammar, brackets, tab, seeds, letters = CASES[name]
    postlex = make(brackets, tab)
    made = worlds.parser(grammar, "lexer", postlex=postlex)
    recogniser = Recogniser(from_lark(grammar, postlex=postlex, limits=Limits(max_indentation=9)))
    rng = random.Random(name)
    accepted = 0
    for i in range(150):
        text = seeds[i] if i < len(seeds) else worlds.mutated(rng, rng.choice(seeds), letters)
        expected = worlds.parses(made, text)
        accepted += expected
        assert expected == recogniser.accepts(text.encode()), text
    assert accepted > 25


def test_deeper_than_the_limit_is_refused() -> None:
    postlex = make((), 8)
    recogniser = Recogniser(from_lark(TREE, postlex=postlex, limits=Limits(max_indentation=4)))
    assert recogniser.accepts(b"a\n  b\n    c\n")
    assert not recogniser.accepts(b"a\n  b\n     c\n")


def test_post_lexers_are_refused_by_name() -> None:
    class Other:
        always_accept = ()

        def process(self, stream: Any) -> Any:
            return stream

    with pytest.raises(ConstrainedError, match="Other"):
        from_lark(TREE, postlex=Other())
    with pytest.raises(ConstrainedError, match="Blocks overrides handle_NL"):
        from_lark(TREE, postlex=make((), 8, handle_NL=lambda self, token: iter((token,))))
    with pytest.raises(ConstrainedError, match="needs a lexer"):
        from_lark(TREE, postlex=make((), 8), mode="scannerless")


def test_blocks_that_do_not_balance_in_a_rule_are_refused() -> None:
    grammar = TREE.replace("[_INDENT tree+ _DEDENT]", "[open tree+ _DEDENT]\nopen: _INDENT")
    with pytest.raises(GrammarSyntaxError, match=r"rule (tree|open): blocks"):
        from_lark(grammar, postlex=make((), 8))


def test_a_declared_terminal_without_a_meaning_is_refused() -> None:
    with pytest.raises(GrammarSyntaxError, match="%declare _DEDENT"):
        from_lark(TREE)
