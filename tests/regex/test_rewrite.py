"""Simplification: what goes, what stays, and that the language does not change (the small world tests that too)."""

from __future__ import annotations

import pytest

from constrained.regex import parse_ecma, parse_python
from constrained.regex.charset import Ranges
from constrained.regex.rewrite import has_assertions, is_nothing, looks_back, search_form, simplify
from constrained.regex.syntax import Alternation, Anchor, CharSet, Concat, Look, Node, Repeat, Text

ANYTHING: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def show(node: Node) -> str:
    """The tree as text; ``S`` is any text."""
    if isinstance(node, Text):
        return node.chars
    if isinstance(node, CharSet):
        return "[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in node.ranges) + "]"
    if isinstance(node, Concat):
        return "(" + " ".join(map(show, node.items)) + ")"
    if isinstance(node, Alternation):
        return "{" + "|".join(map(show, node.options)) + "}"
    if isinstance(node, Repeat):
        if isinstance(node.body, CharSet) and node.body.ranges == ANYTHING and node.minimum == 0 and not node.maximum:
            return "S"
        return f"{show(node.body)}<{node.minimum},{'' if node.maximum is None else node.maximum}>"
    if isinstance(node, Anchor):
        return f"@{node.kind.name}"
    if isinstance(node, Look):
        return f"look{'' if node.ahead else ' behind'}{' not' if node.negative else ''} {show(node.body)}"
    return f"atomic {show(node.body)}"


@pytest.mark.parametrize(("pattern", "simple"), [
    ("^abc$", "abc"), (r"\Aab\Z", "ab"), ("(?m)^ab$", "ab"), ("^^a$$", "a"), ("(^a|b$)", "[a-b]"),
    ("(?:^a)?", "a<0,1>"),
    ("a^b", "[]"), ("a$b", "(a @END_OR_LAST_NEWLINE b)"), (r"a\Zb", "[]"), ("ab|c^d", "ab"), ("a(?:b^|)c", "ac"),
    ("(?:a^b)*c", "c"), ("(?:a^b)+c", "[]"), ("x*^a", "(x<0,> @START a)"),
    (r"a\b", "a"), (r"(?:a\b)*", "(a @BOUNDARY)<0,>"),
    ("(?=^a)b", "(look a b)"), ("(?!a^)b", "b"), ("(?=)a", "a"), ("(?!)a", "[]"), ("(?:^a)*b", "((@START a)<0,> b)"),
    ("(?>ab|cd)e", "({ab|cd} e)"), ("(?>a*)b", "(a<0,> b)"), ("[ab]++c", "([a-b]<1,> c)"), ("a*+", "a<0,>"),
    ("(?>a*)a", "(atomic a<0,> a)"), ("(?>a|ab)c", "(atomic {a|ab} c)"),
    ("(?>a$|ab)", "atomic {(a @END_OR_LAST_NEWLINE)|ab}"),
    ("(?:a*+)*b", "(atomic a<0,><0,> b)"), ("(?:){9}a", "a"), ("a{1}", "a"), ("(?:a|^){0}b", "b"),
])  # fmt: skip
def test_simplify(pattern: str, simple: str) -> None:
    assert show(simplify(parse_python(pattern))) == simple


@pytest.mark.parametrize(("pattern", "simple"), [
    ("a", "(S a S)"), ("^a", "(a S)"), ("a$", "(S a)"), ("^a$", "a"), ("", "S"), ("^", "S"), ("$", "S"), ("^$", "()"),
    ("^a|b$", "{(a S)|(S b)}"), ("(^|x)a", "({()|(S x)} a S)"), ("^(a|$)", "{(a S)|()}"), ("(^a)?b", "({a|S} b S)"),
    ("(?:^a$)?", "{a|S}"), ("ab|c", "(S {ab|c} S)"), ("^^a", "(a S)"), ("a^", "[]"),
    ("(?:a$)*", "(S (a @END)<0,> S)"), ("(?=^)a", "(S look @START a S)"),
])  # fmt: skip
def test_search_form(pattern: str, simple: str) -> None:
    assert show(simplify(search_form(parse_ecma(pattern)))) == simple


def test_questions() -> None:
    assert has_assertions(parse_python("a(?:b|(?>c|cd))")) and not has_assertions(parse_python("a(b|c)*"))
    assert looks_back(parse_python(r"a\b")) and looks_back(parse_python("(?<=a)b")) and looks_back(parse_python("a^"))
    assert not looks_back(parse_python("a(?=b)$"))
    assert is_nothing(simplify(parse_python("a(?!)")))


def test_depth_costs_no_stack() -> None:
    deep = "(?:a|" * 900 + "^" + ")" * 900
    assert not has_assertions(simplify(search_form(parse_ecma(deep))))
