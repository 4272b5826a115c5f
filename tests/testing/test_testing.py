"""The testing aid, tested: it must see what it is made to see."""

from __future__ import annotations

import random
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

import pytest

import constrained as cd
from constrained.testing import Fuzzed, Subject
from constrained.testing.walks import byte_vocabulary, random_text, random_tokens

pytest.importorskip("jsonschema")
pytest_plugins = ["pytester"]

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
          "required": ["name"], "additionalProperties": False}


def test_accepts_and_rejects() -> None:
    subject = Subject(PERSON)
    assert subject.accepts('{"name": "Ada", "age": 36}', {"name": "é"}).rejects('{"age": 1}', {"name": 1}) is subject
    with pytest.raises(AssertionError, match=r"not accepted.*\n.*'name' is a required property"):
        subject.accepts('{"age": 1}')
    with pytest.raises(AssertionError, match=r"nothing goes on after '\{\"name\": ' with '1'"):
        subject.accepts('{"name": 1}')
    with pytest.raises(AssertionError, match="it is not complete"):
        subject.accepts('{"name": "A"')
    with pytest.raises(AssertionError, match=r"accepted: .*\n.*the validator says it is valid"):
        subject.rejects({"name": "x"})


@pytest.mark.parametrize("what", [PERSON, True, re.compile(r"\d{3}-[a-z]+"),
                                  {"type": "array", "items": {"type": "number"}}])
def test_fuzz(what: object) -> None:
    fuzzed = Subject(what).fuzz(60, seed=3)
    assert len(fuzzed.texts) == 60 and len(set(fuzzed.texts)) > 20
    assert fuzzed.texts == Subject(what).fuzz(60, seed=3).texts
    fuzzed.all_valid()


def test_fuzz_of_a_type() -> None:
    pytest.importorskip("pydantic")
    Subject(dict[Literal["a", "b"], list[int]]).fuzz(40).all_valid()


def test_fuzz_finds_what_is_not_valid() -> None:
    subject = Subject({"type": "integer"})
    broken = Fuzzed(subject, [b"1", b"1.5"])
    with pytest.raises(AssertionError, match=r"not valid: '1.5': \$: 1.5 is not of type 'integer'"):
        broken.all_valid()
    with pytest.raises(AssertionError, match="too short"):
        subject.fuzz(5).all(lambda text: "too short")


def test_a_grammar_has_no_other_judge() -> None:
    subject = Subject(cd.Grammar.from_ebnf('root ::= "a" root "b" | "c"'))
    subject.accepts("aacbb").rejects("aacb")
    assert all(re.fullmatch(rb"a*cb*", text) for text in subject.fuzz(30).texts)
    with pytest.raises(cd.ConstrainedError, match="nobody but the grammar"):
        subject.fuzz(1).all_valid()
    with pytest.raises(cd.ConstrainedError, match="matter of schemas"):
        subject.coverage_is_exact()


def test_walks_end() -> None:
    compiled = cd.GrammarCompiler(byte_vocabulary()).compile_grammar('root ::= "(" root ")" | "[" root "]" | "x"{3}')
    for seed in range(30):
        text = random_text(compiled, random.Random(seed), longest=20)
        assert len(text) <= 2 * 21 + 3


def test_tokenizations() -> None:
    Subject(PERSON).tokenizations_agree({"name": "née"}, '{"name": 1}')
    info = byte_vocabulary()
    for seed in range(20):
        tokens = random_tokens('{"name": "é"}'.encode(), random.Random(seed))
        assert b"".join(info.token_bytes(token) for token in tokens).decode() == '{"name": "é"}'


def test_coverage() -> None:
    Subject(PERSON).coverage_is_exact()
    with pytest.raises(AssertionError, match="/format: relaxed"):
        Subject({"type": "string", "format": "nobody-knows"}).coverage_is_exact()
    with pytest.raises(cd.ConstrainedError, match="fixture"):
        Subject(PERSON).coverage_is_as_recorded()


def test_the_plugin(pytester: pytest.Pytester) -> None:
    source = """
        SCHEMA = {"type": "string", "maxLength": 3}
        def test_one(constrain):
            constrain(SCHEMA).accepts('"abc"').rejects('"abcd"').fuzz(20).all_valid().coverage_is_as_recorded()
        def test_two(constrain):
            constrain(SCHEMA).accepts('"abcd"')
    """
    pytester.makepyfile(test_it=source)
    options = ["-p", "no:cacheprovider"]
    if not entry_points(group="pytest11", name="constrained"):  # not installed: run from the sources
        options += ["-p", "pytest_constrained"]
    result = pytester.runpytest(*options)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*nothing is recorded in test_one.json*"])
    pytester.runpytest(*options, "--update-coverage").assert_outcomes(passed=1, failed=1)
    recorded = Path(pytester.path) / "__coverage__" / "test_one.json"
    assert '"/maxLength": "enforced"' in recorded.read_text(encoding="utf-8")
    pytester.runpytest(*options).assert_outcomes(passed=1, failed=1)
    recorded.write_text('{"/maxLength": "relaxed: no"}', encoding="utf-8")
    pytester.runpytest(*options).stdout.fnmatch_lines(["*/maxLength: recorded 'relaxed: no', now 'enforced'*"])
