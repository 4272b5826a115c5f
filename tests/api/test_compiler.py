"""``GrammarCompiler``: what is cached, how much of it, and that grammars outlive it."""

from __future__ import annotations

import gc
import weakref

import pytest

import constrained as cd
from constrained.grammar.show import show
from tests.engine.worlds import byte_vocabulary


def test_cache_is_by_source() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary())
    text = 'root ::= "a"\nother ::= "b"'
    one = compiler.compile_grammar(text)
    assert compiler.compile_grammar(text) is one
    assert compiler.compile_grammar(text, root_rule_name="other") is not one
    assert compiler.compile_grammar(cd.Grammar.from_ebnf(text)) is compiler.compile_grammar(cd.Grammar.from_ebnf(text))
    assert compiler.compile_regex("a") is compiler.compile_regex("a") is not compiler.compile_regex("a", dialect="ecma")
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0 and compiler.compile_grammar(text) is not one
    assert cd.GrammarMatcher(one).accept_string("a")


def test_no_cache() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=0)
    assert compiler.compile_regex("a") is not compiler.compile_regex("a")
    assert compiler.get_cache_size_bytes() == 0


def test_least_recently_used_goes_first() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary())
    size = compiler.compile_regex("x0").memory_size_bytes
    compiler = cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=4 * size)
    kept = compiler.compile_regex("x0")
    for i in range(1, 20):
        compiler.compile_regex(f"x{i}")
        assert compiler.compile_regex("x0") is kept
        assert compiler.get_cache_size_bytes() <= 5 * size
    gone = weakref.ref(compiler.compile_regex("y"))
    for i in range(8):
        compiler.compile_regex(f"z{i}")
    gc.collect()
    assert gone() is None, "a grammar that nobody holds is freed"


def test_grown_grammars_count() -> None:
    """A grammar's size is what it has grown to, and a limit smaller than one grammar keeps just the newest."""
    compiler = cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=1)
    one = compiler.compile_grammar('root ::= "(" root ")" | "a"')
    before = one.memory_size_bytes
    assert cd.GrammarMatcher(one).accept_string("(" * 5000)
    assert one.memory_size_bytes > before and compiler.get_cache_size_bytes() == one.memory_size_bytes
    two = compiler.compile_regex("b")
    assert compiler.get_cache_size_bytes() == two.memory_size_bytes
    assert compiler.compile_regex("b") is two
    assert cd.GrammarMatcher(one).accept_string("((a))")


def test_failures_are_not_kept() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary())
    for _ in range(2):
        with pytest.raises(cd.GrammarSyntaxError):
            compiler.compile_grammar("root ::= (")
        with pytest.raises(cd.UnsatisfiableGrammarError):
            compiler.compile_regex(r"a\bb")
    assert compiler.get_cache_size_bytes() == 0


def test_questions_about_a_compiled_grammar() -> None:
    one = cd.GrammarCompiler(byte_vocabulary()).compile_grammar('root ::= x "y"\nx ::= "(" x ")" | "a"{70}')
    assert "x" in one.rules_at(one.advance(one.start_state, b"((")) and "root" in repr(one)
    assert one.rules_at(one.advance(one.start_state, b"a" * 70)) == ["root"]
    assert one.tokenizer_info is byte_vocabulary() and one.limits == cd.Limits()


SCHEMAS: list[tuple[str, dict[str, object]]] = [
    ('{"type": "integer"}', {}),
    ('{"properties": {"a": {"type": "string"}, "b": {"type": "null"}}, "required": ["a"]}', {"property_order": "any"}),
    ('{"allOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}], "type": "object"}', {"draft": 7}),
    ('{"type": "object", "properties": {"a": {"type": "integer"}}}', {"strict_mode": True}),
    ('{"type": "array", "items": {"enum": [1, "x"]}}', {"any_whitespace": False, "separators": (",", ":")}),
    ('{"format": "ipv4", "type": "string"}', {"assert_formats": False, "string_escapes": "canonical"}),
    ('{"minimum": 1, "maximum": 3}', {"unsupported": "warn", "max_number_digits": 5}),
    ("true", {"limits": cd.Limits(max_threads=100)}),
]
"""Read by ``direct_document``, and not; options of each kind."""


@pytest.mark.parametrize(("text", "options"), SCHEMAS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_schema_is_the_same_with_and_without_a_cache(text: str, options: dict[str, object]) -> None:
    kept = cd.GrammarCompiler(byte_vocabulary()).compile_json_schema(text, **options)  # type: ignore[arg-type]
    plain = cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=0).compile_json_schema(
        text, **options)  # type: ignore[arg-type]
    expected = cd.Grammar.from_json_schema(text, **options)
    assert kept.rules.rules.keys() == plain.rules.rules.keys() == expected.rules.rules.keys()
    assert show(kept.rules) == show(plain.rules) == show(expected.rules)
    assert plain.limits == kept.limits == options.get("limits", cd.Limits())


@pytest.mark.parametrize("text", ['{"type": "strin"}', "{", '{"minimum": 3, "maximum": 1, "type": "integer"}',
                                  '{"type": "string", "minLength": 3, "maxLength": 2}', '{"$ref": "#/nowhere"}'])
def test_a_wrong_schema_is_refused_in_the_same_words_with_and_without_a_cache(text: str) -> None:
    words = []
    for limit in (0, 1 << 20):
        with pytest.raises(cd.ConstrainedError) as refused:
            cd.GrammarCompiler(byte_vocabulary(), cache_limit_bytes=limit).compile_json_schema(text)
        words.append((type(refused.value), str(refused.value), refused.value.__cause__))
        assert gc.isenabled()
    assert words[0] == words[1]
