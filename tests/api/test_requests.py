"""A kind and a text, as engines and servers pass constraints around, made grammars."""

from __future__ import annotations

import json

import pytest

import constrained as cd
from constrained.api.requests import KINDS, grammar_of_request, is_lark

INFO = cd.TokenizerInfo.from_bytes([bytes((b,)) for b in range(256)] + [b"<e>"], stop_token_ids=[256],
                                   special_token_ids=[256])
COMPILER = cd.GrammarCompiler(INFO)
TAG = {"type": "structural_tag", "format": {
    "type": "tag", "begin": "<", "end": ">", "content": {"type": "json_schema", "json_schema": {
        "type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}}}}
SAMPLES = {
    "json_schema": ('{"type": "integer"}', "12", "x"), "json": ("true", "[1]", "[1"), "json_object": ("", "{}", "[]"),
    "regex": ("[ab]+", "ab", "c"), "ebnf": ('root ::= "a"+', "aa", "b"), "lark": ('start: "a"+', "aa", "b"),
    "grammar": ('start: "a" | "b"', "b", "ab"), "choice": ('["x", "y"]', "y", "xy"),
    "structural_tag": (json.dumps(TAG), '<{"a": [1,  2]}>', "<{\"b\": 1}>"),
}


def accepts(compiled: cd.CompiledGrammar, text: str) -> bool:
    matcher = cd.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str) -> None:
    source, good, bad = SAMPLES[kind]
    if kind in ("lark", "grammar"):
        pytest.importorskip("lark")
    compiled = COMPILER.compile_request(kind, source)
    assert accepts(compiled, good)
    assert not accepts(compiled, bad)
    assert COMPILER.compile_request(kind, source) is compiled  # the cache knows it by its texts


def test_layouts() -> None:
    texts = {"any": '{"a" :  1}', "line": '{"a": [1, 2]}', "compact": '{"a":[1,2]}'}
    for layout, text in texts.items():
        fits = [one for one in texts if accepts(COMPILER.compile_request("json_object", "", layout=one), text)]
        assert fits == (["any"] if layout == "any" else ["any", layout])
    tag = json.dumps(TAG)
    assert not accepts(COMPILER.compile_request("structural_tag", tag, layout="line"), '<{"a": [1,  2]}>')
    assert accepts(COMPILER.compile_request("structural_tag", tag, layout="line"), '<{"a": [1, 2]}>')
    assert not accepts(COMPILER.compile_request("structural_tag", tag, layout="compact"), '<{"a": [1, 2]}>')
    with pytest.raises(cd.ConstrainedError, match="unknown layout"):
        grammar_of_request("json", "true", layout="wide")


def test_only_relax_leaves_something_out() -> None:
    schema = '{"type": "array", "contains": {"type": "integer"}, "minContains": 5000}'  # a count for each item
    with pytest.raises(cd.SchemaError):
        grammar_of_request("json", schema)
    assert accepts(COMPILER.compile_request("json", schema, relax=True), "[[1], [2]]")


def test_strictness_of_tags() -> None:
    tag = json.dumps(TAG)
    assert not accepts(COMPILER.compile_request("structural_tag", tag), '<{"b": 1}>')
    assert accepts(COMPILER.compile_request("structural_tag", tag, strict_mode=False), '<{"b": 1}>')


@pytest.mark.parametrize(("kind", "source", "message"), [
    ("yaml", "", "unknown kind"), ("choice", "[]", "choices are a list"), ("choice", "[" * 100_000, "no JSON"),
    ("structural_tag", "{", "no JSON"), ("json", "{", "JSON"), ("regex", "(", "group"), ("ebnf", 'root ::= "', "line"),
])
def test_refused(kind: str, source: str, message: str) -> None:
    for layout in ("any", "compact"):
        with pytest.raises(cd.ConstrainedError, match=message):
            grammar_of_request(kind, source, layout=layout)


def test_lark_is_told_from_ebnf() -> None:
    assert is_lark('start: "a" b\nb: /x::=y/')
    assert is_lark('start: "root ::= x"')
    assert not is_lark("root ::= item\nitem ::= [a-z]+")
    assert not is_lark("  root-rule ::= [a-z]+")


@pytest.mark.parametrize(("pattern", "text", "expected"), [
    (r"\d\d", "12", True), (r"\d\d", "١٢", False), (r"(?u)\d\d", "١٢", True), (r"(?i)a\w", "Ab", True),
    (r"(?i)a\w", "Aé", False), (r"[^\d]", "١", True), (r"\s", "\N{NO-BREAK SPACE}", False)])
def test_classes_of_patterns_are_those_of_ascii(pattern: str, text: str, expected: bool) -> None:
    tag = json.dumps({"type": "structural_tag", "format": {"type": "regex", "pattern": pattern}})
    assert accepts(COMPILER.compile_grammar(grammar_of_request("regex", pattern)), text) == expected
    assert accepts(COMPILER.compile_grammar(grammar_of_request("structural_tag", tag)), text) == expected
    assert accepts(COMPILER.compile_grammar(cd.Grammar.from_regex(pattern, ascii=True)), text) == expected


def test_a_wrong_pattern_is_told_at_its_own_place() -> None:
    with pytest.raises(cd.RegexError) as plain:
        cd.Grammar.from_regex("ab(")
    with pytest.raises(cd.RegexError) as ours:
        cd.Grammar.from_regex("ab(", ascii=True)
    assert str(plain.value) == str(ours.value)
