from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import (
    ConstrainedError,
    GrammarLimitError,
    GrammarSyntaxError,
    UnsatisfiableGrammarError,
)
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar.combinators import any_char
from constrained.grammar.ir import CharClass, Choice, Literal, Reference, Repeat, Sequence, TokenReference, walk
from constrained.grammar.show import show
from constrained.limits import Limits
from tests.oracles import Recogniser, accepts
from tests.shared_data import require_shared, shared_dir


def body(text: str) -> Any:
    return from_ebnf(f"root ::= {text}").rules["root"]


def language(grammar: str, *texts: str | bytes) -> list[str | bytes]:
    recogniser = Recogniser(from_ebnf(grammar))
    return [text for text in texts if recogniser.accepts(text if isinstance(text, bytes) else text.encode())]


# -- literals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"a b"', "a b"),
        (r"'it is \"so\"'", 'it is "so"'),
        (r'"it\'s"', "it's"),
        (r'"\n\t\r\\\""', '\n\t\r\\"'),
        (r'"\a\b\f\v\0\e"', "\a\b\f\v\0\x1b"),
        (r'"\?\/\[\]\-\.\^"', "?/[]-.^"),
        (r'"\x41\x00\xe9"', "A\0é"),
        (r'"\x414"', "A4"),
        (r'"\u6f22\U0001F600\u{1f600}\u{41}"', "漢😀😀A"),
        ('"漢😀"', "漢😀"),
        ('"two\nlines"', "two\nlines"),
        ('"# no comment"', "# no comment"),
        ('""', ""),
    ],
)
def test_literals(written: str, meant: str) -> None:
    node = body(written)
    assert isinstance(node, Literal)
    assert node.data == meant.encode()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (r'"\d"', "unknown escape"),
        (r'"\x4"', "two hexadecimal digits"),
        (r'"\u12"', "four hexadecimal digits"),
        (r'"\U0001F60"', "eight hexadecimal digits"),
        (r'"\U00110000"', "U+10FFFF"),
        (r'"\u{110000}"', "U+10FFFF"),
        (r'"\ud83d\ude00"', "surrogate"),
        (r"[\w]", "unknown escape"),
        (r"[z-a]", "backwards"),
        (r"[\U00110000]", "U+10FFFF"),
    ],
)
def test_escapes_that_are_refused_point_at_themselves(written: str, message: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=message.replace("+", r"\+")) as caught:
        body(written)
    assert (caught.value.line, caught.value.column) == (1, 11)
    assert "\n            ^" in str(caught.value)


# -- classes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ("[a-c]", "abc", "d-"),
        ("[^a-c]", "d-\n漢😀\0", "abc"),
        (r"[a\-z]", "a-z", "b"),
        ("[-a]", "-a", "b"),
        ("[a-]", "-a", "b"),
        ("[a-c-e]", "abc-e", "d"),
        (r"[\]\[^]", "][^", "a\\"),
        (r"[^\]]", "[a", "]"),
        ("[[]", "[", "]"),
        (r"[\x00-\x1F]", "\0\x1f", " "),
        (r"[^\x00-\U0010FFFF]", "", "a\0"),
        ("[а-яё]", "аяё", "a"),
        ("[^]", "a\n漢", ""),
        ("[]", "", "a"),
        (r"[\$\.\*\+\?\(\)\{\}\|\/\^]", "$.*+?(){}|/^", "\\a"),
        ("[\n ]", "\n ", "a"),
        (r"[\ud7ff-\ue000]", "\ud7ff\ue000", "a"),
        ('["#]', '"#', "a"),
        (".", "a\n\0漢😀", ""),
    ],
)
def test_classes(written: str, inside: str, outside: str) -> None:
    grammar = from_ebnf(f'root ::= {written} | "ok"')
    recogniser = Recogniser(grammar)
    assert [c for c in inside if not recogniser.accepts(c.encode())] == []
    assert [c for c in outside if recogniser.accepts(c.encode())] == []
    assert recogniser.accepts(b"ok")


def test_class_ranges_are_canonical() -> None:
    assert body("[b-ca-bz0]").ranges == ((48, 48), (97, 99), (122, 122))
    assert body(r"[\u0000-\U0010ffff]").ranges == any_char().ranges


# -- structure --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        ('root ::= "a" | "b" "c"', ["a", "bc"], ["b", "ac", ""]),
        ('root ::= | "a"', ["", "a"], ["aa"]),
        ('root ::= "a" |', ["", "a"], ["aa"]),
        ('root ::= ("a" | ) "b"', ["b", "ab"], ["a"]),
        ('root ::= () "b"', ["b"], [""]),
        ('root ::=\nb ::= "x"', [""], ["x"]),
        ('root ::= "ab"*', ["", "ab", "abab"], ["a", "abb"]),
        ('root ::= "ab"+', ["ab", "abab"], ["", "a"]),
        ('root ::= "a" "b" ?', ["a", "ab"], ["", "abb"]),
        ('root ::= "a"{2}', ["aa"], ["a", "aaa"]),
        ('root ::= "a"{2,}', ["aa", "aaaaa"], ["a", ""]),
        ('root ::= "a"{ 2 , 3 }', ["aa", "aaa"], ["a", "aaaa"]),
        ('root ::= "a"{2, -1}', ["aa", "aaaaa"], ["a"]),
        ('root ::= "a"{0}', [""], ["a"]),
        ('root ::= "a"?*', ["", "aaa"], ["b"]),
        ('root ::= ("a" "b")+ "c"', ["abc", "ababc"], ["c"]),
        ('root ::= "a" # one\n  # two\n | "b" # three', ["a", "b"], ["c"]),
        ('root ::= "a" b\n  "c"\nb ::= "x"\n| "y"', ["axc", "ayc"], ["ax"]),
        ('root ::= (\n "a"\n)\n', ["a"], []),
        ('root::="a"b\nb::="x"', ["ax"], []),
        ('root ::= a-b_c.1\r\na-b_c.1 ::= "x"\r\n', ["x"], []),
        ('root ::= a.b\na ::= "x"\nb ::= "y"', ["x!y", "x\ny"], ["xy"]),
        ('root ::= a.*\na ::= "x"', ["x", "xyz\n"], [""]),
        ('root ::= ...', ["abc", "\n\n\n"], ["ab"]),
        ('root ::= 1\n1 ::= "x"', ["x"], []),
        ('\ufeff# bom\n\n root ::= "x"\n\n', ["x"], []),
        ('root ::= "a"\rb ::= "b"\r', ["a"], ["b"]),
        ('root ::= Token "x"\nToken ::= "T"', ["Tx"], []),
        ('root ::= Token ("x")\nToken ::= "T"', ["Tx"], []),
        ('root ::= root "a" | "a"', ["a", "aaa"], ["", "b"]),
        ('root ::= e root "a" | "b"\ne ::= "" | "x" | e e', ["b", "xxba", "baa"], ["a", "x"]),
    ],
)
def test_structure(grammar: str, yes: list[str], no: list[str]) -> None:
    assert language(grammar, *yes, *no) == yes


def test_a_look_ahead_is_a_remark() -> None:
    notes: list[str] = []
    text = 'root ::= x "b"\nx ::= "a" | "a" x (= ("b" | [ ]*))\ny ::= "c" (="d")\n'
    grammar = from_ebnf(text, notes=notes)
    assert Recogniser(grammar).accepts(b"aab")
    assert [note.split(":")[0] for note in notes] == ["line 2", "line 3"]


def test_bytes_and_crlf_and_str_are_the_same() -> None:
    text = "root ::= x # tail\r\nx ::= 'é'\r\n"
    assert show(from_ebnf(text)) == show(from_ebnf(text.encode()))


def test_small_rewrites() -> None:
    assert isinstance(body('"a" "b" ("c")'), Literal)
    assert isinstance(body('"a" ([b] "c")'), Sequence)
    nested = body('((("a"{0,1000}){0,1000}){0,1000})')
    assert isinstance(nested, Repeat)
    assert (nested.minimum, nested.maximum) == (0, 1_000_000_000)
    assert isinstance(body("x\nx ::= [a] | [^\\x00-\\U0010FFFF]"), Reference)
    assert isinstance(body('("a" | "b") | "c"'), Choice)
    assert len(body('("a" | "b") | "c"').options) == 3
    assert sum(isinstance(n, CharClass) for n in walk(body("[a-z] [a-z]"))) == 2


# -- tokens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "tokens", "exclude"),
    [
        ("<[128009]>", (128009,), False),
        ("<[007]>", (7,), False),
        ("<|eot_id|>", ("<|eot_id|>",), False),
        ("<think>", ("<think>",), False),
        ("</think>", ("</think>",), False),
        ("!</think>", ("</think>",), True),
        ("!<[5]>", (5,), True),
        ("Token(1, 2)", (1, 2), False),
        ('Token("[INST]", 3)', ("[INST]", 3), False),
        ("ExcludeToken(1, 1)", (1,), True),
    ],
)
def test_token_references(written: str, tokens: tuple[int | str, ...], exclude: bool) -> None:
    node = body(written)
    assert isinstance(node, TokenReference)
    assert (node.tokens, node.exclude) == (tokens, exclude)


def test_thinking_block() -> None:
    grammar = from_ebnf("root ::= <think> thinking </think> .*\nthinking ::= !</think>*\n")
    vocabulary = [b"a", b"b", b"", b"", b"<", b""]
    recogniser = Recogniser(grammar, tokens=vocabulary, specials={"<think>": 2, "</think>": 3})
    allowed = {}
    for prefix in ([], [2], [2, 0], [2, 0, 3], [2, 3, 1]):
        here = recogniser.start()
        for one in prefix:
            here = recogniser.read_token(here, one)
        allowed[tuple(prefix)] = [i for i in range(6) if recogniser.read_token(here, i).items]
    inside, after = [0, 1, 2, 3, 4], [0, 1, 4]
    assert allowed == {(): [2], (2,): inside, (2, 0): inside, (2, 0, 3): after, (2, 3, 1): after}


def test_macros_of_the_ir() -> None:
    assert language(r'root ::= Bytes("\xff\x00")', b"\xff\0", b"\xff") == [b"\xff\0"]
    free = 'root ::= AnyTextUntil("<x>") "!"'
    assert language(free, "<x>!", "a<<x>!", "<x><x>!", "<x>", "é<x>!") == ["<x>!", "a<<x>!", "é<x>!"]
    assert language('root ::= AnyTextUntil("ab", consume=false)', "", "ba", "ab", "cab", "a\n") == ["", "ba", "a\n"]
    dfa = "root ::= ByteDfa(states=2, accepting=(1,), (0, 97, 98, 1), (1, 97, 97, 0))"
    assert language(dfa, "a", "b", "bab", "", "bb") == ["a", "b", "bab"]


# -- errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('root :== "kek\\n" | "ha"\n', 1, 6, 'expected "::="'),
        ('root = "a"', 1, 6, 'expected "::="'),
        ("root", 1, 5, "the end of the grammar"),
        ('root ::= "a" tail\n', 1, 14, "'tail'"),
        ('root ::= "a"\n\nx ::= (y |\r\n  ztail)\ny ::= "b"', 4, 3, "'ztail'"),
        ('root ::= "a"\nroot ::= "b"', 2, 1, "defined twice, first in line 1"),
        ('root ::= "a', 1, 10, "never closed"),
        ("root ::= [a", 1, 10, "never closed"),
        ("root ::= x 'a", 1, 12, "never closed"),
        ('root ::= ("a"', 1, 14, "opened in line 1, column 10"),
        ('root ::= ("a"\nx ::= "b"', 2, 1, "opened in line 1, column 10"),
        ('root ::= "a")', 1, 13, "closes nothing"),
        ("root ::= *", 1, 10, "nothing stands before"),
        ('root ::= "a" | + "b"', 1, 16, "nothing stands before"),
        ('root ::= "a"{', 1, 14, "expected a count"),
        ('root ::= "a"{,3}', 1, 14, "at most n"),
        ('root ::= "a"{1,2', 1, 17, "expected"),
        ('root ::= "a"{b}', 1, 14, "expected a count"),
        ('root ::= "a"{3,2}', 1, 13, "at least 3 and at most 2"),
        ('root ::= "a" }', 1, 14, "expected a string"),
        ('root ::= "a" , "b"', 1, 14, "expected a string"),
        ('root ::= "a" x ::= "b"', 1, 14, "new line"),
        ('root ::= "a" ::= "b"', 1, 14, "rule name must stand before"),
        ('root ::= x[y]\nx[max_tokens=3] ::= "a"', 2, 17, "rule options"),
        ('root ::= < "a"', 1, 10, "token reference"),
        ("root ::= <[12>", 1, 10, "token reference"),
        ("root ::= !x", 1, 10, "token reference"),
        ("root ::= <[99999999999]>", 1, 10, "token id"),
        ('root ::= "a" / "b"', 1, 14, "unexpected character '/'"),
        ('root ::= "a" ; x', 1, 14, "unexpected character ';'"),
        ("root ::= \u201ca\u201d", 1, 10, "U+201C"),
        ('"a" ::= root', 1, 1, "expected a rule"),
        ("(", 1, 1, "expected a rule"),
        ('root ::= ("a" (= "b"))', 1, 15, "at the end of a rule"),
        ('root ::= "a" (= "b") "c"', 1, 22, "the next rule after a look-ahead"),
        ('root ::= "a" (= "b" | x)', 1, 23, "'x'"),
        ('root ::= "a" (= "b"', 1, 20, "opened in line 1, column 14"),
        ('root ::= Regex("a+")', 1, 10, "Regex(...) is not supported"),
        ('root ::= TagDispatch(("a", x))\nx ::= "b"', 1, 10, "TagDispatch(...) is not supported"),
        ("root ::= Token()", 1, 10, "one or more token ids"),
        ("root ::= Token(x)", 1, 17, 'expected "="'),
        ("root ::= Token(true)", 1, 10, "one or more token ids"),
        ("root ::= Token(1", 1, 17, "the end of the grammar"),
        ("root ::= Token((((1))))", 1, 18, "expected a string"),
        ('root ::= AnyTextUntil("")', 1, 10, "not empty"),
        ('root ::= AnyTextUntil("a", x=true)', 1, 10, "no argument 'x'"),
        ('root ::= Bytes("\\u0100")', 1, 10, "below U+0100"),
        ("root ::= ByteDfa(states=1, (0, 5, 4, 0))", 1, 10, "an edge is"),
        ("root ::= ByteDfa(states=1, (0, 5, 6, 0), (0, 6, 7, 0))", 1, 10, "sorted and disjoint"),
    ],
)
def test_errors_have_a_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        from_ebnf(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "^" in str(caught.value)


@pytest.mark.parametrize("text", ["", "  \n", "# only a comment", "\ufeff"])
def test_empty_grammars(text: str) -> None:
    with pytest.raises(GrammarSyntaxError, match="empty"):
        from_ebnf(text)


def test_hints() -> None:
    with pytest.raises(GrammarSyntaxError, match="did you mean number"):
        from_ebnf('root ::= numbr\nnumber ::= "1"')
    with pytest.raises(GrammarSyntaxError, match=r"there is no root rule 'root'; rules: 'foo'"):
        from_ebnf('foo ::= "a"')
    assert from_ebnf('foo ::= "a"', root="foo").root == "foo"


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"root ::= \"\xff\"", (1, 11)), (b"root ::= \"a\"\r\n# \xc3(", (2, 3)), ("é ".encode()[:1], (1, 1)),
     ('root ::= "\ud800"', (1, 11))],
)
def test_texts_that_are_no_utf8(data: bytes | str, place: tuple[int, int]) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        from_ebnf(data)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize("value", [None, 5, ["root"]])
def test_no_text_at_all(value: object) -> None:
    with pytest.raises(GrammarSyntaxError, match="str or UTF-8 bytes"):
        from_ebnf(value)  # type: ignore[arg-type]


def test_a_binary_file_is_refused() -> None:
    for data in (bytes(range(256)), b"\x89PNG\r\n\x1a\n\0\0\0", b"\0" * 1000, b"{\"type\": \"object\"}"):
        with pytest.raises(GrammarSyntaxError):
            from_ebnf(data)


@pytest.mark.parametrize(
    ("grammar", "named"),
    [("root ::= root", "'root'"), ('root ::= "a" root', "'root'"), ("root ::= x\nx ::= y\ny ::= x", "'root', 'x', 'y'"),
     ("root ::= []", "'root'"), (r"root ::= [^\x00-\U0010FFFF]{2}", "'root'")],
)
def test_a_root_that_no_text_fits(grammar: str, named: str) -> None:
    with pytest.raises(UnsatisfiableGrammarError) as caught:
        from_ebnf(grammar)
    assert named in str(caught.value)


# -- budgets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limits", "field"),
    [
        ("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000, Limits(), "max_nesting"),
        ("root ::= " + "(" * 200_000 + '"a"' + ")" * 200_000, Limits(), "max_nesting"),
        ("root ::= " + "(" * 200_000, Limits(), "max_nesting"),
        ('root ::= "a"{2}' + "{2}" * 2000, Limits(), "max_nesting"),
        ('root ::= ("a" "b"{2,3}){2,3}' + "{2,3}" * 2000, Limits(), "max_nesting"),
        ('root ::= "a"{4294967297}', Limits(), "max_repeat"),
        ('root ::= "a"{1,' + "9" * 10_000 + "}", Limits(), "max_repeat"),
        ('root ::= "aaaaaaaaaaaaaaaa"', Limits(max_source_chars=20), "max_source_chars"),
        (b'root ::= "aaaaaaaaaaaaaaaa"', Limits(max_source_chars=20), "max_source_chars"),
        ('root ::= (("a"))', Limits(max_nesting=1), "max_nesting"),
    ],
)
def test_budgets_name_their_field(text: str | bytes, limits: Limits, field: str) -> None:
    with pytest.raises(GrammarLimitError) as caught:
        from_ebnf(text, limits=limits)
    assert caught.value.limit == field


def test_nesting_up_to_the_bound_is_read() -> None:
    assert accepts(from_ebnf("root ::= " + "(" * 1000 + '"a"' + ")" * 1000), b"a")


# -- the shared cases -------------------------------------------------------------------------------------------


def shared_cases(path: str) -> list[dict[str, Any]]:
    shared = shared_dir()
    if shared is None:
        return []
    rows = [json.loads(line) for line in (shared / path).read_text(encoding="utf-8").split("\n") if line]
    return [row for row in rows if row["kind"] in ("ebnf", "gbnf")]


def case_text(case: dict[str, Any]) -> str:
    return str(case["input"] if "input" in case else eval(case["generator"]))


CASES = shared_cases("data/cases/cases.jsonl") + shared_cases("data/adversarial/adversarial.jsonl")


def test_the_shared_cases_are_there() -> None:
    require_shared()
    assert len(CASES) >= 50


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_case(case: dict[str, Any]) -> None:
    must_fail = case.get("invalid") or case.get("expect") == "error"
    start = time.perf_counter()
    try:
        grammar = from_ebnf(case_text(case))
    except ConstrainedError as error:
        assert case.get("expect", "ok") != "ok" or must_fail
        assert len(str(error)) <= 2000
        return
    finally:
        # No timing test: a bound a hundred times the measured cost, against quadratic scans only.
        assert time.perf_counter() - start < 10
    assert not must_fail
    recogniser = Recogniser(grammar)
    for text in case.get("accept", ()):
        assert recogniser.accepts(text.encode()), text
    for text in case.get("reject", ()):
        assert not recogniser.accepts(text.encode()), text
    for text in case.get("dead_prefix", ()):
        assert not recogniser.is_viable_prefix(text.encode()), text
    if "walk_gen" in case:
        assert recogniser.is_viable_prefix(str(eval(case["walk_gen"]))[:60].encode())


# -- properties -------------------------------------------------------------------------------------------------

PIECES = ["root", "x", "::=", '"a"', "'b'", "[a-z]", "[^", "]", "(", ")", "|", "*", "+", "?", "{", "}", "2", ",", "\n",
          " ", "#", "<", ">", "<[1]>", "!", ".", "\\", '"', "é", "\r\n", "Token", "=", "true", "\x00"]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_any_text_is_read_or_refused_with_a_typed_error(pieces: list[str]) -> None:
    for text in ("".join(pieces), "root ::= " + " ".join(pieces)):
        try:
            grammar = from_ebnf(text)
        except ConstrainedError:
            continue
        show(grammar)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_with_a_typed_error(data: bytes) -> None:
    try:
        from_ebnf(data)
    except ConstrainedError:
        pass


@given(st.text(max_size=20).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)))
def test_any_text_can_be_a_literal_and_a_class(text: str) -> None:
    escaped = "".join(f"\\U{ord(c):08x}" for c in text)
    assert body(f'"{escaped}"').data == text.encode()
    raw = text.replace("\\", "\\\\").replace('"', '\\"')
    assert body(f'"{raw}"').data == text.encode()
    node = body(f"[{escaped}]{{0,9}}")
    members = {p for first, last in node.body.ranges for p in range(first, last + 1)}
    assert members == set(map(ord, text))


def test_examples_of_this_page_do_not_name_files() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        from_ebnf('root ::= "a" tail')
    assert str(Path.cwd()) not in str(caught.value)
