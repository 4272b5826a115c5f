"""Malformed tags: each a typed error with its pointer, the reason and, where there is one, the remedy."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

import constrained as cd
from constrained.limits import Limits

TOKENS: list[bytes | None] = [bytes([i]) for i in range(32, 127)] + [b"<tool>", None, None]
INFO = cd.TokenizerInfo(TOKENS, stop_token_ids=97, special_token_ids=[96, 97], added_token_ids=[95],
                        token_texts={96: "<|end|>", 97: "</s>"})


def const(text: str) -> dict[str, Any]:
    return {"type": "const_string", "value": text}


def tag(begin: Any, end: Any, content: Any = None) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content or const("c"), "end": end}


def triggered(triggers: Any, *tags: Any, **more: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": list(tags), **more}


def token(one: Any) -> dict[str, Any]:
    return {"type": "token", "token": one}


CASES: list[tuple[str, Any, str, str]] = [
    ("no format", {"type": "structural_tag"}, "", "has a format"),
    ("more fields", {"type": "structural_tag", "format": const("a"), "x": 1}, "/x", "unknown field"),
    ("no object", {"type": "structural_tag", "format": 3}, "/format", "is an object"),
    ("unknown type", {"type": "sequence", "elements": [const("a"), {"type": "nope"}]},
     "/elements/1/type", "unknown format"),
    ("type is a list", {"type": ["tag"]}, "/type", "unknown format"),
    ("no content", {"type": "tag", "begin": "a", "end": "b"}, "", "needs the field content"),
    ("unknown field", {"type": "const_string", "value": "a", "a/b": 1}, "/a~1b", "has no field"),
    ("value is a number", {"type": "const_string", "value": 3}, "/value", "a text is expected"),
    ("half a pair", const("a\ud800"), "/value", "surrogate"),
    ("empty sequence", {"type": "sequence", "elements": []}, "/elements", "not empty"),
    ("elements is a text", {"type": "or", "elements": "ab"}, "/elements", "list"),
    ("reversed", {"type": "repeat", "min": 3, "max": 2, "content": const("a")}, "/min", "greater"),
    ("negative", {"type": "repeat", "min": -1, "max": 2, "content": const("a")}, "/min", "count"),
    ("max -2", {"type": "repeat", "min": 0, "max": -2, "content": const("a")}, "/max", "count"),
    ("no triggers", triggered([], tag("a", "b")), "/triggers", "not empty"),
    ("empty trigger", triggered([""], tag("a", "b")), "/triggers/0", "not be empty"),
    ("no tags", triggered(["a"]), "/tags", "not empty"),
    ("prefix of another", triggered(["<f", "<f="], tag("<f=a", "b")), "/triggers/0", "beginning of"),
    ("twice", triggered(["<f", "<f"], tag("<f=a", "b")), "/triggers/1", "twice"),
    ("other begin", triggered(["<f"], tag("<f=", "b"), tag("<g=", "b")), "/tags/1/begin", "does not start with"),
    ("unused trigger", triggered(["<f", "<g"], tag("<f=", "b")), "/triggers/1", "no tag begins"),
    ("hidden trigger", triggered(["<f"], tag("<f=", "b"), excludes=["<"]), "", "never come about"),
    ("trigger in a trigger", triggered(["a<f!", "<f"], tag("a<f!", "b"), tag("<f=", "b")), "", "never come about"),
    ("triggers complete together", triggered(["aba", "ba"], tag("aba", "c"), tag("ba", "c")), "", "at the same place"),
    ("token begin", triggered(["<f"], tag(token("<tool>"), "b")), "/tags/0/begin", "begins with a text"),
    ("tag of another type", triggered(["<f"], const("<f")), "/tags/0", "a tag is expected"),
    ("flag", triggered(["<f"], tag("<f", "b"), at_least_one=1), "/at_least_one", "true or false"),
    ("empty exclude", {"type": "any_text", "excludes": [""]}, "/excludes/0", "not be empty"),
    ("budget", {"type": "any_text", "max_tokens": -1}, "/max_tokens", "count"),
    ("budget that hides the end", tag("a", "</t>", {"type": "any_text", "max_tokens": 3, "excludes": ["</"]}),
     "/content", "never come about"),
    ("no token", token("<nope>"), "/token", "no control or added token"),
    ("token out of range", token(1000), "/token", "out of range"),
    ("token is a bool", token(True), "/token", "an id or a text"),
    ("end token", tag("a", token("<nope>")), "/end/token", "no control or added token"),
    ("end is unspellable", tag("a", "é"), "/end", "never be written"),
    ("end of the wrong type", tag("a", 3), "/end", "list of texts"),
    ("no ends", tag("a", []), "/end", "not empty"),
    ("trigger token", {"type": "token_triggered_tags", "trigger_tokens": ["<tool>"],
     "tags": [tag(token("<|end|>"), "b")]},
     "/tags/0/begin", "is no trigger"),
    ("trigger tokens", {"type": "token_triggered_tags", "trigger_tokens": ["<no>"], "tags": [tag(token("<no>"), "b")]},
     "/trigger_tokens/0", "no control or added token"),
    ("exclude tokens", {"type": "any_tokens", "exclude_tokens": [1, "<no>"]},
     "/exclude_tokens/1", "no control or added"),
    ("pattern", {"type": "regex", "pattern": "("}, "/pattern", "position"),
    ("grammar", {"type": "grammar", "grammar": "root ::= ("}, "/grammar", "line 1"),
    ("syntax", {"type": "grammar", "grammar": "root ::= a", "syntax": "yacc"}, "/syntax", "unknown syntax"),
    ("style", {"type": "json_schema", "json_schema": {}, "style": "yaml"}, "/style", "unknown style"),
    ("empty exclude in JSON", {"type": "json_schema", "json_schema": {}, "excludes": [""]}, "/excludes/0", "be empty"),
    ("excludes is a text", {"type": "json_schema", "json_schema": {}, "excludes": "ab"}, "/excludes", "list of texts"),
    ("excludes in nested elements", {"type": "json_schema", "json_schema": {}, "style": "cohere_xml",
                                     "excludes": ["a"]}, "/excludes", "flat elements"),
    ("excludes with a blank at its edge", {"type": "json_schema", "json_schema": {}, "style": "glm_xml",
                                           "excludes": ["a "]}, "/excludes", "blank"),
    ("excludes in a regex", {"type": "regex", "pattern": "a", "excludes": ["a"]}, "/excludes", "has no field"),
    ("legacy, another field", {"structures": [], "triggers": [], "at_least_one": True}, "/at_least_one", "unknown"),
    ("legacy, another type", {"type": "tag", "structures": [], "triggers": []}, "/type", "unknown type"),
    ("legacy, a field of a structure", {"structures": [{"begin": "a", "schema": {}, "end": "b", "style": "qwen_xml"}],
                                        "triggers": ["a"]}, "/structures/0/style", "has no field"),
    ("rules", {"type": "dispatch", "rules": [["a"]]}, "/rules/0", "pair"),
    ("rule pattern", {"type": "dispatch", "rules": [["", const("a")]]}, "/rules/0/0", "not be empty"),
    ("token rule", {"type": "token_dispatch", "rules": [["<no>", const("a")]]}, "/rules/0/0", "no control or added"),
    ("legacy", {"structures": [{"begin": "a"}], "triggers": ["a"]}, "/structures/0", "begin, schema and end"),
]


@pytest.mark.parametrize(("form", "pointer", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_malformed(form: Any, pointer: str, reason: str) -> None:
    with pytest.raises(cd.StructuralTagError) as caught:
        cd.GrammarCompiler(INFO).compile_structural_tag(form)
    assert caught.value.pointer == pointer
    assert reason in str(caught.value)
    with pytest.raises(cd.StructuralTagError):
        cd.GrammarCompiler(INFO).compile_structural_tag(json.dumps(form))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"a"', "null", b"\xff"])
def test_no_tag_at_all(text: Any) -> None:
    with pytest.raises(cd.StructuralTagError):
        cd.GrammarCompiler(INFO).compile_structural_tag(text)
    with pytest.raises(cd.StructuralTagError):
        cd.Grammar.from_structural_tag(object())


def test_a_wrong_schema_names_its_tag_and_place() -> None:
    broken = tag("<f=b>", "</f>", {"type": "json_schema", "json_schema": {"properties": {"a": {"type": "strnig"}}}})
    form = triggered(["<f="], tag("<f=a>", "</f>"), broken)
    with pytest.raises(cd.SchemaError) as caught:
        cd.GrammarCompiler(INFO).compile_structural_tag(form)
    assert caught.value.pointer.startswith("/tags/1/content/json_schema/properties/a/type")
    assert "<f=b>" in str(caught.value)


def test_depth_is_bounded_and_never_recursed_into() -> None:
    form: dict[str, Any] = const("a")
    for _ in range(900):
        form = {"type": "optional", "content": form}
    assert cd.Grammar.from_structural_tag(form)
    for _ in range(3000):
        form = {"type": "optional", "content": form}
    with pytest.raises(cd.GrammarLimitError, match="max_nesting"):
        cd.Grammar.from_structural_tag(form)
    with pytest.raises(cd.GrammarLimitError, match="max_source_chars"):
        cd.Grammar.from_structural_tag("x" * 100, limits=Limits(max_source_chars=10))


@pytest.mark.parametrize(("tokens", "end", "written"), [
    ([b"a", b"b"], "ab", True), ([b"aab", b"b"], "ab", True), ([b"ba", b"ba"], "ab", True),
    ([b"ba", b"b"], "aa", False), ([b"ab", b"cd"], "bc", True), ([b"ab", b"cd"], "ac", False),
    ([b"xabcx"], "abc", True), ([b"ab", b"ca"], "bca", True),
    ([b"ab", b"ca"], "bcc", False), ([b"abc"], "ca", True), ([b"abc"], "cb", False)])
def test_delimiters_that_straddle_tokens(tokens: list[bytes], end: str, written: bool) -> None:
    tokens = [b"<", *tokens]
    info = cd.TokenizerInfo.from_bytes([*tokens, b""], stop_token_ids=[len(tokens)], special_token_ids=[len(tokens)])
    # the definition: all texts of a few tokens
    texts = [b"".join(some) for count in range(1, 5) for some in itertools.product(tokens[1:], repeat=count)]
    assert any(end.encode() in text for text in texts) == written
    for place, form in (("/end", tag("<", end)), ("/begin", tag(end, "<"))):
        if written:
            assert cd.Grammar.from_structural_tag(form, tokenizer_info=info)
            continue
        with pytest.raises(cd.StructuralTagError, match="can never be written") as caught:
            cd.Grammar.from_structural_tag(form, tokenizer_info=info)
        assert caught.value.pointer == place
