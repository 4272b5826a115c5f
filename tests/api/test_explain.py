"""What ``explain`` says, against the mask."""

from __future__ import annotations

import pytest

import constrained as cd

TOKENS = [b"a", b"b", b"ab", b"ba", b"1", b"12", b'"', b'{"', b"}", b":", b" ", b'":', b"\xc3", b"\xa9", b"<e>", b"<c>"]
STOP, CONTROL = 14, 15
INFO = cd.TokenizerInfo.from_bytes(TOKENS, stop_token_ids=STOP, special_token_ids=[STOP, CONTROL])
GRAMMAR = r"""
root ::= "{" pair "}"
pair ::= key ":" " "? number
key ::= "\"" [ab]+ "\""
number ::= [0-9]+
"""


def matcher(text: str = "", grammar: str = GRAMMAR) -> cd.GrammarMatcher:
    made = cd.GrammarMatcher(cd.GrammarCompiler(INFO).compile_grammar(grammar))
    assert made.accept_string(text)
    return made


def test_the_place() -> None:
    here = cd.explain(matcher('{"a'))
    assert here.text == '{"a' and not here.complete and here.distance == 4
    assert set(here.rules) <= {"root", "pair", "key"} and here.rules
    assert here.allowed == 6 and {"a", "b", '"', '":'} <= set(here.sample)
    shown = str(here)
    assert "after   '{\"a'" in shown and "at least 4 bytes to an end" in shown and "6 of 16 tokens" in shown
    assert cd.explain(matcher()).forced == '{"'
    assert str(cd.explain(matcher())).startswith("at the beginning")


@pytest.mark.parametrize(("text", "token", "taken", "words"), [
    ('{"a', 4, 0, ["at its beginning nothing reads '1'", '["ab]']),
    ('{"a":', 10, None, ["the grammar reads it"]),
    ('{"a": ', 10, 0, ["nothing reads ' '", "[12]", "number"]),
    ('{"a', STOP, 0, ["the text is not complete", "'\":1}'"]),
    ('{"a', CONTROL, 0, ["it is no text"]),
    ('{"a', 2, None, ["may come"]),
    ('{', 7, 0, ["nothing reads '{'"]),
    ('{"a', '":x', 2, ["after '\":' nothing reads 'x'", "[ 12]"]),
    ('{"a', b"\xc3", 0, ["\\\\xc3"]),
    ('{"a":1}', 0, 0, ["only the end of the text may come"]),
    ('{"a":1}', STOP, None, ["it ends the text"]),
])
def test_tokens(text: str, token: int | str | bytes, taken: int | None, words: list[str]) -> None:
    here = matcher(text)
    before = here.state
    verdict = cd.explain(here, token).verdict
    assert verdict is not None and here.state == before
    assert verdict.allowed == (taken is None)
    if taken is not None:
        assert verdict.taken == taken
    for word in words:
        assert word in str(verdict)


def test_every_token_agrees_with_the_mask() -> None:
    for text in ("", "{", '{"a', '{"ab":', '{"ab":1', '{"ab":1}'):
        here = matcher(text)
        allowed = set(here.allowed_token_ids())
        for token in range(INFO.vocab_size):
            verdict = cd.explain(here, token).verdict
            assert verdict is not None and verdict.allowed == (token in allowed) and verdict.reason


def test_after_the_end() -> None:
    here = matcher('{"a":1}')
    assert here.accept_token(STOP)
    told = cd.explain(here, 0)
    assert told.terminated and "the text has ended" in str(told) and here.text_bytes() == b'{"a":1}'


def test_an_id_that_is_none() -> None:
    with pytest.raises(cd.ConstrainedError, match="not in the vocabulary"):
        cd.explain(matcher(), 99)
