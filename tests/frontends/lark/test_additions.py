"""What is added to lark's notation, and what is refused, in both modes."""

from __future__ import annotations

import pytest

import constrained as cd
from constrained.errors import GrammarError, GrammarSyntaxError, SchemaError
from constrained.frontends.lark.compile import from_lark
from tests.frontends.lark import worlds

assert worlds.lark  # skips without lark
INFO = cd.TokenizerInfo.from_bytes([*(bytes([i]) for i in range(256)), b"</s>", b"<|tag|>"], stop_token_ids=256,
                                   special_token_ids=[257])
MODES = pytest.mark.parametrize("mode", ["lexer", "scannerless"])


def accepts(compiled: cd.CompiledGrammar, text: str | list[int]) -> bool:
    matcher = cd.GrammarMatcher(compiled)
    ids = list(text.encode()) if isinstance(text, str) else text
    return all(matcher.accept_token(token) for token in ids) and matcher.accept_token(256)


ACCEPTED = [
    ('start: x "!"\nx: %json {"type":"object",\n "properties":{"a":{"type":"integer"}},"required":["a"],'
     '"additionalProperties":false}\n', ['{"a": 1}!'], ['{"a":"x"}!', "{}!"]),
    ("start: <|tag|> /[a-z]+/ <[257]>", [[257, 97, 257]], [[97, 257], [257, 97]]),
    ("start: <[^257]> <[*]>", [[97, 257], [97, 98]], [[257, 97]]),
    ('start: a\na: %regex {"substring_words":"foo bar. baz"}', ["", "foo ", "bar. ", " bar"], ["fo", "foo baz"]),
    ('start: a\na: %regex {"substring_chunks":["ab", "c"]}', ["", "ab", "abc", "c"], ["a", "bc", "abab"]),
    ('start: h "=foo"\nh[lazy]: TEXT "<f"\nTEXT: /(.|\\n)*/', ["abc<f=foo"], ["<f<f=foo", "x=foo"]),
    ('start: n "x"\nn[suffix="</n>", capture="n"]: /(.|\\n)*/', ["ab</n>x", "</n>x"], ["ab</n></n>x", "ab"]),
    ('start: l "\\n" l\nl[stop="\\n"]: /.+/', ["ab\ncd"], ["ab\n\n", "\n", "ab"]),
    ('start: l+\nl[capture]: "a" NAME\nNAME: /[b-z]+/\n%ignore " "', ["abc", "abc abc"], ["a", "bc"]),
    ('start: "<" n ">"\nn[max_tokens=3]: /[a-z]*\\./', ["<.>", "<ab.>", "<abc.>"], ["<abcd.>", "<abc>"]),
    ('start: "<" n ">"\nn[max_tokens=2, lazy]: /[a-z]*(yz|!)/', ["<yz>", "<ab!>", "<ayz>"], ["<abyz>", "<abc!>"]),
    ('start: n "x"\nn[max_tokens=2, suffix="</n>", capture="n"]: /[a-z]*/', ["ab</n>x", "</n>x"], ["abc</n>x"]),
    ('start: l // a remark with <tag> and %json\nl[lazy]: /[0-9]+/ // here, too\n', ["1"], ["12"]),
]


@MODES
@pytest.mark.parametrize(("grammar", "good", "bad"), ACCEPTED, ids=[case[0].splitlines()[-1][:30] for case in ACCEPTED])
def test_what_is_added(mode: str, grammar: str, good: list[str | list[int]], bad: list[str | list[int]]) -> None:
    compiled = cd.GrammarCompiler(INFO).compile_lark(grammar, mode=mode)
    for text in good:
        assert accepts(compiled, text), text
    for text in bad:
        assert not accepts(compiled, text), text


REFUSED = [
    ("start: l\nl[max_tokens=0]: /.*/", "max_tokens is a number from 1", 2),
    ("start: l\nl[max_tokens]: /.*/", "max_tokens is a number from 1", 2),
    ('start: l\nl[max_tokens=3, stop="x"]: /.+/', "max_tokens and stop together", 2),
    ('start: l\nl[max_tokens=3]: a\na: "x"', "terminals only, not a", 2),
    ("start: l\nl[temperature=0.3]: /.*/", "temperature", 2),
    ('start: l\nl[stop="a", suffix="b"]: /.*/', "a stop or a suffix", 2),
    ('start: l\nl[stop=""]: /.*/', "empty stop", 2),
    ('start: l\nl[stop="x", stop_capture="e"]: /.+/', "stop_capture needs a suffix", 2),
    ('start: l\nl[suffix=/x+/, stop_capture="e"]: /.*/', "must be a string", 2),
    ('start: l\nl[suffix="x", stop_capture=e]: /.*/', "the name of a capture is a string", 2),
    ('start: l\nl[stop="x"]: /.*/', "may be empty", 2),
    ("start: l\nl[lazzy]: /.*/", "unknown attribute lazzy", 2),
    ("start: l\nl[lazy: /.*/", "expected attributes", 2),
    ('start: l\nl[lazy]: a\na: "x"', "terminals only, not a", 2),
    ('start: "a"\n  | %json {"a" 1}', "a JSON value must follow", 2),
    ("start: <[x]>", "expected token ids", 1),
    ("start: <[5-3]>", "ranges upwards", 1),
    ("start: %regex {}", "substring_chunks", 1),
    ('%llguidance {}\nstart: "a"', "%llguidance", 1),
    ('start: X\nX: /a(?<=ba)/', "terminal X: its look-behind", 2),
    (r"start: X" "\n" r"X: /\ba/", "terminal X: what it asserts", 2),
    (r"start: X" "\n" r"X: /(a)\1/", "terminal X: a back-reference", 2),
    ('start: X\n%declare X', "%declare X", 1),
    ('start: "a" b', "'b' used but not defined", 1),
    ('start: "a" (', "Unclosed parenthesis", 1),
    ('start: a\na: "x"\na: "y"', "defined more than once", 2),
    ("%import foo.X\nstart: X", "no grammar 'foo' to import", 1),
    ("%import .os (X)\nstart: X", "no grammar 'os' to import", 1),
    ("start: A\nA: B\nB: A", "Recursion in terminal", 2),
]


@MODES
@pytest.mark.parametrize(("grammar", "message", "line"), REFUSED, ids=[case[1] for case in REFUSED])
def test_what_is_refused_tells_its_place(mode: str, grammar: str, message: str, line: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        from_lark(grammar, mode=mode)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_errors_without_a_place() -> None:
    with pytest.raises(GrammarSyntaxError, match="start"):
        from_lark('a: "x"')
    with pytest.raises(GrammarSyntaxError, match='mode="scannerless"'):
        from_lark('start: a | b\na: "x"\nb: "x"')
    with pytest.raises(SchemaError, match="%json in line 1"):
        from_lark('start: %json {"type": "foo"}')
    with pytest.raises(GrammarError):
        from_lark("start: start")
    with pytest.raises(GrammarSyntaxError, match="looks ahead"):
        from_lark("start: X\nX: /a(?!b)/", mode="scannerless")


def test_imports_come_from_what_is_passed() -> None:
    sources = {"names.lark": 'NAME: /[a-z]+/\nlist{x}: x ("," x)*\n', "sub/more": "NUMBER: /[0-9]+/"}
    grammar = "%import .names (NAME, list)\n%import sub.more.NUMBER\nstart: list{item}\nitem: NAME | NUMBER\n"
    compiled = cd.GrammarCompiler(INFO).compile_lark(grammar, sources=sources)
    assert accepts(compiled, "a,1,b")
    assert not accepts(compiled, "a,,b")


def test_what_lark_reads_in_its_own_ways() -> None:
    grammar = r"""
    start: pair{NAME}~2..3 "end"i
    pair{x}: x ":" x
    NAME: /[a-z]/
    %override NAME: /[b-z]/
    %extend NAME: "A"
    %ignore " "
    """
    compiled = cd.GrammarCompiler(INFO).compile_lark(grammar.replace("    NAME: /[a-z]/\n", "    %import .m (NAME)\n"),
                                                     sources={"m": "NAME: /[a-z]/"})
    assert accepts(compiled, "b:c A:b eNd")
    assert not accepts(compiled, "b:c end")
    assert not accepts(compiled, "a:b b:b end")


def test_captures_are_reported() -> None:
    compiled = cd.GrammarCompiler(INFO).compile_lark('start: w+ "."\nw[capture]: NAME ":" NAME\nNAME: /[a-z]+/')
    matcher = cd.GrammarMatcher(compiled)
    assert all(matcher.accept_token(byte) for byte in b"ab:c.")
    assert [(one.name, one.start, one.end) for one in matcher.captures()] == [("w", 0, 4)]
    compiled = cd.GrammarCompiler(INFO).compile_lark('start: n "x"\nn[suffix="</n>", capture="n"]: /(.|\\n)*/')
    matcher = cd.GrammarMatcher(compiled)
    assert all(matcher.accept_token(byte) for byte in b"ab</n>x")
    assert [(one.name, one.start, one.end) for one in matcher.captures()] == [("n", 0, 2)]
    for head, found in (('suffix="</n>", stop_capture="end"', [("end", 2, 6)]),
                        ('suffix="</n>", capture="n", stop_capture="end"', [("n", 0, 2), ("end", 2, 6)]),
                        ('suffix="</n>", capture, stop_capture="end", max_tokens=9', [("n", 0, 2), ("end", 2, 6)])):
        compiled = cd.GrammarCompiler(INFO).compile_lark(f'start: n "x"\nn[{head}]: /(.|\\n)*/')
        matcher = cd.GrammarMatcher(compiled)
        assert all(matcher.accept_token(byte) for byte in b"ab</n>x")
        assert [(one.name, one.start, one.end) for one in matcher.captures()] == found
