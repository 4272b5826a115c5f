"""Delimiters as tokens: by id or spelled out, kept out of text and strings by id only; budgets; thinking."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from constrained.toolcalls import ToolSpec, get_format
from tests.toolcalls.worlds import vocabulary

ADDED = vocabulary((), ("<tool_call>", "</tool_call>", "<think>", "</think>"))
CONTROL = vocabulary(("<tool_call>", "</tool_call>", "<think>", "</think>"))


def ids(info: cd.TokenizerInfo, *parts: str | bytes) -> list[int]:
    """Texts byte by byte; a text in ``token_ids_by_text`` given as bytes is that token."""
    found: list[int] = []
    for part in parts:
        found += [info.token_ids_by_text[part.decode()][0]] if isinstance(part, bytes) else list(part.encode())
    return found


def takes(compiled: cd.CompiledGrammar, *parts: str | bytes) -> tuple[int, bool]:
    """How many of the tokens are taken, and whether the text may end then."""
    matcher = cd.GrammarMatcher(compiled)
    tokens = ids(compiled.tokenizer_info, *parts)
    return len(tokens) - matcher.accept_tokens(tokens), matcher.is_completed()


def tool_tag(**options: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
              "additionalProperties": False}
    return get_format("qwen3").structural_tag([ToolSpec("f", None, schema)], **options)


@pytest.mark.parametrize("info", [ADDED, CONTROL], ids=["added", "control"])
def test_a_delimiter_by_id_and_spelled(info: cd.TokenizerInfo) -> None:
    compiled = cd.GrammarCompiler(info).compile_structural_tag(tool_tag())
    inside = '\n{"name": "f", "arguments": {"a": "x"}}\n'
    for begin in (b"<tool_call>", "<tool_call>"):
        for end in (b"</tool_call>", "</tool_call>"):
            assert takes(compiled, "hi ", begin, inside, end, " bye") == (0, True)
    # what follows a trigger is a call, however it was written
    assert takes(compiled, b"<tool_call>", "no")[0] == 2
    assert takes(compiled, "<tool_call>", "no")[0] == 2
    # in a string the spelled delimiter is text, and the token is not
    spelled = '\n{"name": "f", "arguments": {"a": "</tool_call>"}}\n'
    assert takes(compiled, b"<tool_call>", spelled, b"</tool_call>") == (0, True)
    assert takes(compiled, b"<tool_call>", '\n{"name": "f", "arguments": {"a": "', b"</tool_call>")[0] == 1
    assert takes(compiled, "text ", b"</tool_call>")[0] == 1
    assert takes(compiled, "text </tool_call>") == (0, True)


def test_masks_say_the_same_as_steps() -> None:
    for info in (ADDED, CONTROL):
        compiled = cd.GrammarCompiler(info).compile_structural_tag(tool_tag())
        matcher = cd.GrammarMatcher(compiled)
        inside = '\n{"name": "f", "arguments": {"a": "x"}}\n'
        for token in ids(info, "a", b"<tool_call>", inside, b"</tool_call>", "b"):
            allowed = matcher.allowed_token_ids()
            assert allowed == [i for i in range(info.vocab_size) if matcher.fork().accept_token(i)]
            assert matcher.accept_token(token)


def test_other_grammars_of_the_vocabulary_read_the_token_as_text() -> None:
    compiler = cd.GrammarCompiler(ADDED)
    compiler.compile_structural_tag(tool_tag())
    assert takes(compiler.compile_json_schema({"type": "string"}), '"', b"<tool_call>", '"') == (0, True)


def test_without_the_vocabulary_delimiters_are_spelled() -> None:
    grammar = cd.Grammar.from_structural_tag(tool_tag())
    compiled = cd.GrammarCompiler(CONTROL).compile_grammar(grammar)
    assert takes(compiled, b"<tool_call>")[0] == 1
    assert takes(compiled, '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>') == (0, True)


def test_token_formats() -> None:
    info = CONTROL
    token = {"type": "token", "token": "<think>"}

    def compiled(form: dict[str, Any]) -> cd.CompiledGrammar:
        return cd.GrammarCompiler(info).compile_structural_tag(form)

    tag = {"type": "tag", "begin": token, "content": {"type": "any_text"},
           "end": {"type": "token", "token": "</think>"}}
    assert takes(compiled(tag), b"<think>", "any </think> text", b"</think>") == (0, True)
    assert takes(compiled(tag), "<think>")[0] == 7
    number = info.token_ids_by_text["<think>"][0]
    assert takes(compiled({"type": "token", "token": number}), b"<think>") == (0, True)
    assert takes(compiled({"type": "exclude_token", "exclude_tokens": [97, "<think>"]}), "b") == (0, True)
    assert takes(compiled({"type": "exclude_token", "exclude_tokens": [97, "<think>"]}), "a")[0] == 1
    assert takes(compiled({"type": "any_tokens", "exclude_tokens": [97], "max_tokens": 2}), "bb", b"<think>")[0] == 1
    form = {"type": "token_triggered_tags", "trigger_tokens": ["<think>"], "tags": [tag]}
    assert takes(compiled(form), "a", b"<think>", "b", b"</think>", "c") == (0, True)
    assert takes(compiled({**form, "at_least_one": True}), "a")[0] == 1
    assert takes(compiled({**form, "stop_after_first": True}), b"<think>", b"</think>", "a")[0] == 1
    form = {"type": "token_dispatch", "rules": [["<think>", {"type": "const_string", "value": "x"}]]}
    assert takes(compiled(form), "a", b"<think>", "xa") == (0, True)
    assert takes(compiled(form), "a", b"<think>", "a")[0] == 1


@pytest.mark.parametrize("info", [ADDED, CONTROL], ids=["added", "control"])
def test_a_budget_in_tokens(info: cd.TokenizerInfo) -> None:
    compiler = cd.GrammarCompiler(info)
    digits = {"type": "regex", "pattern": "[0-9]+"}
    compiled = compiler.compile_structural_tag(digits, thinking={"mode": "required", "max_tokens": 3})
    assert takes(compiled, b"<think>", "abc", b"</think>", "\n\n12") == (0, True)
    assert takes(compiled, b"<think>", "abcd")[0] == 1
    matcher = cd.GrammarMatcher(compiled)
    assert matcher.accept_tokens(ids(info, b"<think>", "ab")) == 3
    other = matcher.fork()
    assert other.accept_tokens(ids(info, "cd")) == 1
    # only the end may follow: as its token, or spelled
    begins = [i for i in range(info.vocab_size) if info.token_bytes(i) and b"</think>".startswith(info.token_bytes(i))]
    assert sorted({*begins, info.token_ids_by_text["</think>"][0]}) == other.allowed_token_ids()
    matcher.rollback(2)
    assert matcher.accept_tokens(ids(info, "xyz!")) == 3  # the budget went back with the tokens
    batch = cd.BatchGrammarMatcher()
    masks = cd.allocate_token_bitmask(2, info.vocab_size)
    batch.batch_fill_next_token_bitmask([matcher, other], masks)
    assert (masks[0] == masks[1]).all()


@pytest.mark.parametrize("info", [ADDED, vocabulary(())], ids=["added", "none"])
def test_a_budget_in_tokens_before_a_spelled_end(info: cd.TokenizerInfo) -> None:
    compiler = cd.GrammarCompiler(info)

    def pieces(*texts: bytes) -> list[int]:
        found = {info.token_bytes(i): i for i in range(info.vocab_size)}
        return [found[text] for text in texts]

    thinking = {"mode": "required", "max_tokens": 3, "end": "\n</thinking>\n"}
    compiled = compiler.compile_regex("[0-9]+", thinking=thinking)
    opened = ids(info, "<think>")
    matcher = cd.GrammarMatcher(compiled)
    # the third token begins the end: it is completed, and the structure follows
    assert matcher.accept_tokens([*opened, *pieces(b"city", b"json", b"\n")]) == len(opened) + 3
    assert matcher.find_jump_forward_string().startswith("</thinking>\n")
    assert not matcher.accept_token(pieces(b"a")[0])
    assert matcher.accept_tokens(ids(info, "</thinking>\n12")) == 14 and matcher.is_completed()
    # the third token does not: the whole end follows
    matcher.reset()
    assert matcher.accept_tokens([*opened, *pieces(b"city", b"json", b"city")]) == len(opened) + 3
    assert matcher.find_jump_forward_string().startswith("\n</thinking>\n")
    # spelled earlier it ends the text earlier
    matcher.reset()
    assert matcher.accept_tokens([*opened, *ids(info, "ab\n")]) == len(opened) + 3
    assert matcher.accept_tokens(ids(info, "</thinking>\n1")) == 13 and matcher.is_completed()


def test_budgets_beside_exclusions_and_characters() -> None:
    form = {"type": "tag", "begin": "<", "end": [">>", "!"],
            "content": {"type": "any_text", "max_tokens": 4, "excludes": ["ab", "x>"]}}
    compiled = cd.GrammarCompiler(CONTROL).compile_structural_tag(form)
    for text, fits in (("<cc>>", True), ("<ab", False), ("<cccc>>", True), ("<ccccc", False), ("<ax!", True),
                       ("<ax>", False), ("<>a>>", True), ("<aaaa!", True), ("<cax>", False), ("<>>", True)):
        assert (takes(compiled, text) == (0, True)) == fits, text
    # nothing that is excluded comes about at the end either: after "x" the way to ">>" is one character longer
    assert takes(compiled, "<cccx!") == (0, True) and takes(compiled, "<cccx>")[0] == 1
    assert takes(compiled, "<cccxy>>") == (0, True) and takes(compiled, "<cccxyz")[0] == 1
    for content in ({"type": "any_text", "max_tokens": 3, "max_chars": 2},
                    {"type": "any_text", "max_tokens": 2, "max_chars": 3}):
        both = cd.GrammarCompiler(CONTROL).compile_structural_tag({**form, "content": content})
        assert takes(both, "<ab>>") == (0, True) and takes(both, "<a!") == (0, True)
        assert takes(both, "<abc")[0] == 1
    none = cd.GrammarCompiler(CONTROL).compile_structural_tag(
        {**form, "content": {"type": "any_text", "max_tokens": 0}})
    assert takes(none, "<>>") == (0, True) and takes(none, "<a")[0] == 1
    last = cd.GrammarCompiler(CONTROL).compile_structural_tag({"type": "any_text", "max_tokens": 2})
    assert takes(last, "") == (0, True) and takes(last, "ab") == (0, True) and takes(last, "abc") == (1, True)


def test_a_budget_needs_no_vocabulary() -> None:
    grammar = cd.Grammar.from_structural_tag(
        {"type": "tag", "begin": "<t>", "end": "</t>", "content": {"type": "any_text", "max_tokens": 2}})
    compiled = cd.GrammarCompiler(CONTROL).compile_grammar(grammar)
    assert takes(compiled, "<t>ab</t>") == (0, True) and takes(compiled, "<t>abc")[0] == 1


def test_a_budget_in_characters() -> None:
    compiler = cd.GrammarCompiler(CONTROL)
    compiled = compiler.compile_regex("[0-9]+") and compiler.compile_structural_tag(
        {"type": "regex", "pattern": "[0-9]+"}, thinking={"mode": "required", "max_chars": 4})
    assert takes(compiled, "<think>", "é😀a<", "</think>", "1") == (0, True)
    assert takes(compiled, b"<think>", "abcde")[0] == 1
    assert takes(compiled, b"<think>", "abcd", b"</think>", "1") == (0, True)


def test_every_compile_method_takes_thinking() -> None:
    compiler = cd.GrammarCompiler(CONTROL)
    made = [compiler.compile_grammar('root ::= "1"', thinking="required"),
            compiler.compile_regex("1", thinking="required"),
            compiler.compile_json_schema({"const": 1}, thinking={"mode": "required"}),
            compiler.compile_grammar(cd.Grammar.from_regex("1"), thinking=cd.Thinking(required=True)),
            compiler.compile_structural_tag({"type": "const_string", "value": "1"}, thinking="required")]
    for compiled in made:
        assert takes(compiled, b"<think>", "x", b"</think>", "1") == (0, True)
        assert takes(compiled, "1")[0] == 1
    assert takes(compiler.compile_regex("1"), "1") == (0, True)


@pytest.mark.parametrize("mode", ["optional", "required", "opened"])
def test_thinking_before_any_grammar(mode: str) -> None:
    compiler = cd.GrammarCompiler(CONTROL)
    grammar = cd.Grammar.from_ebnf('root ::= "yes" | "no"').with_thinking(mode, tokenizer_info=CONTROL)
    compiled = compiler.compile_grammar(grammar)
    begin: list[str | bytes] = [] if mode == "opened" else [b"<think>"]
    assert takes(compiled, *begin, "hm </thin </think", b"</think>", "\n\nyes") == (0, True)
    assert takes(compiled, *(["<think>"] if begin else []), "hm", "</think>", "no") == (0, True)
    assert (takes(compiled, "yes") == (0, True)) == (mode == "optional")


def test_the_prompt_tells_whether_thinking_is_open() -> None:
    of = cd.Thinking.of
    for prompt, opened in (("<|assistant|><think>\n", True), ("<think>\n\n</think>\n\n", False), ("hello", False),
                           ("<think>a</think> <think>", True)):
        found = of({"prompt": prompt})
        assert found is not None and found.opened == opened
    assert of(None) is None and of(False) is None
    for wrong in ("sometimes", 3, {"mode": "x"}, {"tokens": 1}, {"max_tokens": -1}, {"begin": ""}, {"prompt": 3}):
        with pytest.raises(cd.GrammarError):
            of(wrong)


def test_the_legacy_form_and_models() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    legacy = {"type": "structural_tag", "triggers": ["<f="],
              "structures": [{"begin": "<f=x>", "schema": schema, "end": "</f>"}]}

    class Model:
        def model_dump(self, by_alias: bool = False) -> dict[str, Any]:
            return legacy

    class Item:
        def model_dump(self, by_alias: bool = False) -> dict[str, Any]:
            return {"begin": "<f=x>", "schema": json.dumps(schema), "end": "</f>"}

    forms: list[tuple[Any, ...]] = [(legacy,), (json.dumps(legacy),), (Model(),), (legacy["structures"], ["<f="]),
                                    ([Item()], ["<f="])]
    for form, *triggers in forms:
        compiled = cd.GrammarCompiler(ADDED).compile_structural_tag(form, *triggers)
        assert takes(compiled, 'a<f=x>{"a": 1}</f>b') == (0, True)
        assert takes(compiled, 'a<f=x>{"b": 1}')[0] > 0
