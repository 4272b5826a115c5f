r"""The ECMA-262 dialect: verdicts picked by hand, each with its place in the standard.

Sections are those of ECMA-262 (2025): 22.2.1 Patterns, 22.2.2 Pattern Semantics, B.1.2 Regular Expressions
Patterns. A match may lie anywhere in the text, as JSON Schema's ``pattern`` says (2020-12 Validation, 6.3.3).
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import GrammarLimitError, NotRegularError, RegexError
from constrained.frontends.regex import pattern_dfa
from constrained.limits import Limits
from constrained.regex import parse_ecma
from tests.regex.patterns import TooSlow, impatient, small_patterns, small_texts

TABLE = [
    # JSON Schema 6.3.3: not anchored.
    ("b", ["b", "abc"], ["", "ac"]),
    ("", ["", "a"], []),
    # 22.2.2.4 Assertion: ^ and $ are the ends of the input; a newline at the end is not special.
    ("^a", ["a", "ab"], ["ba", "\na"]),
    ("a$", ["a", "ba"], ["ab", "a\n"]),
    ("^abc$", ["abc"], ["abc\n", "\nabc", "xabc"]),
    ("^a|b$", ["a", "ax", "b", "xb"], ["xa", "bx", ""]),
    ("^(a|b)$|c", ["a", "b", "xcx"], ["ab", ""]),
    ("(^|x)a", ["a", "ab", "bxa"], ["ba"]),
    ("a($|,)", ["a", "xa", "xa,y"], ["ab"]),
    ("(^[^7]*$)|9", ["", "12", "79"], ["7"]),
    ("a^b", [], ["ab", "a\nb"]),
    ("a$b", [], ["ab", "a\nb"]),
    ("^$", [""], ["a", "\n"]),
    ("^", ["", "a"], []),
    ("$^", [""], ["a"]),
    ("^*", None, None),
    # 22.2.2.4: with the flag m also at LineTerminators, which are LF CR LS PS (12.3).
    ("(?m:^a$)", ["a", "x\na", "a\u2028x", "x\ra\ry"], ["ab", "xa", "x\x0ba"]),
    # 22.2.2.4: \b asks IsWordChar, which is ASCII; at the ends of the input there is none.
    (r"\bcat\b", ["cat", "a cat.", "écat"], ["cats", "concat"]),
    (r"\B", ["", "ab", " "], ["a"]),
    (r"^\Ba", [], ["a"]),
    # 22.2.2.7 Atom :: . leaves out LineTerminators.
    ("^.$", ["a", "é", "😀", "\t", "\x85"], ["\n", "\r", "\u2028", "\u2029", "", "ab"]),
    ("(?s:^.$)", ["\n", "\u2028"], [""]),
    # 22.2.2.9 CharacterClassEscape: \d and \w are ASCII, \s is WhiteSpace and LineTerminator.
    (r"^\d$", ["0", "9"], ["٠", "a"]),
    (r"^\D$", ["٠", "a", "\n"], ["0"]),
    (r"^\w$", ["a", "Z", "0", "_"], ["é", "-"]),
    (r"^\W$", ["é", "-", " "], ["a", "_"]),
    (r"^\s$", list(" \t\n\r\v\f\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"), ["\x1c", "\x85", "\u180e", "a"]),
    (r"^\S$", ["\x1c", "\x85", "a"], [" ", "\ufeff"]),
    # 22.2.1 CharacterEscape
    (r"^\t\n\v\f\r\0$", ["\t\n\v\f\r\0"], [""]),
    (r"^\cC\cc\cJ$", ["\x03\x03\n"], ["\\cC"]),
    (r"^\x41\u0042\u{43}\u{1F600}$", ["ABC😀"], ["ABC"]),
    (r"^\ud83d\ude00$", ["😀"], []),
    (r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", ["^$\\.*+?()[]{}|/"], []),
    (r"\ud83d", [], ["😀", ""]),
    # 22.2.1 CharacterClass
    ("^[a-c]$", ["a", "c"], ["d", "-"]),
    ("^[^a-c]$", ["d", "é", "😀", "\n"], ["a", ""]),
    ("[]", [], ["", "a", "]"]),
    ("^[^]$", ["a", "\n", "]"], [""]),
    (r"^[\]\-\\^a]$", ["]", "-", "\\", "^", "a"], ["b"]),
    ("^[a-]$", ["a", "-"], ["b"]),
    ("^[-a]$", ["a", "-"], ["b"]),
    (r"^[\b]$", ["\b"], ["b"]),
    (r"^[\d_\s]$", ["5", "_", " "], ["a"]),
    ("^[😀-😂]$", ["😁"], ["\ud83d", "a"]),
    ("^[[a]$", ["[", "a"], ["]"]),
    # 22.2.1 Quantifier
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aa", "aaa"], ["a"]),
    ("^a{1,2}?$", ["a", "aa"], ["", "aaa"]),
    ("^(a*)*$", ["", "aa"], ["b"]),
    ("^é{2}$", ["éé"], ["é"]),
    # 22.2.1 Assertion: look-ahead, and look-behind of any length (22.2.2.4).
    ("^(?=.*[A-Z])(?=.*[0-9]).{4,}$", ["abC1", "1Cab"], ["abc1", "aC1"]),
    (r"^(?!\.)(?!.*\.\.)[a-z.]+$", ["a.b"], [".a", "a..b"]),
    ("^((?!cly).)*$", ["", "cl", "xcl"], ["cly", "xclyx"]),
    (r"(?<=\$\d*)x", ["$x", "a$12x"], ["x", "1x"]),
    ("(?<!a+)b", ["b", "cb"], ["ab", "aab"]),
    (r"(?<=^|,)a(?=,|$)", ["a", "b,a", "a,b", "c,a,d"], ["ba", "ab"]),
    # 22.2.1 GroupSpecifier
    ("^(?<year>[0-9]{4})$", ["2024"], ["24"]),
    ("^(?:ab)+$", ["abab"], ["aba"]),
    # 22.2.2.7.3 Canonicalize with i and u: simple case folding.
    ("(?i:^straße$)", ["STRAßE", "straẞe", "ſtraße"], ["STRASSE"]),
    ("(?i:^k$)", ["k", "K", "\u212a"], ["x"]),
    (r"(?i:^\w$)", ["a", "ſ", "\u212a"], ["é"]),
    (r"(?i:^[^k]$)", ["x"], ["K", "\u212a"]),
    ("(?i:a)b", ["Ab", "ab"], ["AB"]),
    ("(?i:a(?-i:b))", ["Ab"], ["AB"]),
    # 22.2.1 CharacterClassEscape: \p{..}
    (r"^\p{Lu}\P{Lu}$", ["Éa", "A1"], ["éa", "AA"]),
    (r"^\p{Letter}\p{gc=Nd}\p{digit}$", ["é৪1"], ["é"]),
    (r"^[\p{L}\d]+$", ["é1"], ["-"]),
    (r"^\p{ASCII}+$", ["a"], ["é"]),
    # B.1.2: what patterns for other matchers write.
    (r"^a\-b\_c\@d\'e\"f\ g$", ["a-b_c@d'e\"f g"], []),
    (r"^[\w-.]+$", ["a-.b"], ["/"]),
    (r"^[.-\w]+$", ["a-.b"], ["/"]),
    (r"^{a}]$", ["{a}]"], []),
    (r"^a{,2}$", ["a{,2}"], ["aa"]),
    (r"\{\{.+}}", ["x{{a}}"], ["{{}}"]),
    (r"^(?=a)*b$", ["b"], ["ab"]),
    (r"^(?P<n>a)$", ["a"], []),
    (r"(?i)^abc$", ["ABC"], []),
]


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), TABLE, ids=[row[0] or "empty" for row in TABLE])
def test_table(pattern: str, accepted: list[str] | None, rejected: list[str] | None) -> None:
    if accepted is None or rejected is None:
        with pytest.raises(RegexError):
            parse_ecma(pattern)
        return
    dfa = pattern_dfa(pattern, dialect="ecma")
    assert [text for text in accepted if not dfa.accepts(text)] == []
    assert [text for text in rejected if dfa.accepts(text)] == []


@pytest.mark.parametrize(("pattern", "position", "message"), [
    (r"(a)\1", 3, "back-reference"), (r"(?<n>a)\k<n>", 7, "back-reference"), ("(?P<n>a)(?P=n)", 8, "back-reference"),
    (r"a\Z", 1, "unknown escape"), (r"\A", 0, "unknown escape"), (r"[\h]", 1, "unknown escape"),
    ("a++", 2, "possessive"),
    ("(?>a)", 0, "atomic"), ("(a", 0, "never closed"), ("a)", 1, "without its"), ("[a", 0, "never closed"),
    ("*", 0, "nothing to repeat"), ("a|*", 2, "nothing to repeat"), ("(?)", 0, "unknown group"),
    ("(?a)b", 0, "unknown"),
    ("a{2,1}", 1, "least count"), ("[b-a]", 1, "backwards"), (r"\p{Klingon}", 0, "no exact table"),
    (r"\p", 0, "braces"),
    (r"\p{lu}", 0, "no exact table"), (r"\u{110000}", 0, "U+10FFFF"), (r"\u12", 0, "four hexadecimal"),
    (r"\x1", 0, "two hexadecimal"), (r"\c1", 0, "letter"), (r"\01", 0, "octal"), ("a\\", 1, "backslash"),
    ("(?<1>a)", 0, "identifier"), ("(?<n>a)(?<n>b)", 7, "twice"), ("(?ii:a)", 0, "twice"),
    ("(?i-i:a)", 0, "on and off"),
    ("(?-:a)", 0, "none is named"), ("a(?i)b", 1, "unknown group"), ("(", 0, "never closed"),
    ("(?", 0, "unknown group"),
])  # fmt: skip
def test_errors_name_the_place(pattern: str, position: int, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        parse_ecma(pattern)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert isinstance(caught.value, NotRegularError) == (message in ("back-reference", "conditional"))


@pytest.mark.parametrize(("limits", "fits", "exceeds", "field"), [
    (Limits(max_source_chars=5), "a" * 5, "a" * 6, "max_source_chars"),
    (Limits(max_nesting=2), "((a))", "(((a)))", "max_nesting"),
    (Limits(max_repeat=7), "a{7}", "a{8}", "max_repeat"),
    (Limits(), "a", "a{%s}" % ("9" * 10_000), "max_repeat"),
])  # fmt: skip
def test_limits(limits: Limits, fits: str, exceeds: str, field: str) -> None:
    parse_ecma(fits, limits)
    with pytest.raises(GrammarLimitError) as caught:
        parse_ecma(exceeds, limits)
    assert caught.value.limit == field


def test_not_a_string() -> None:
    with pytest.raises(RegexError, match="NoneType"):
        parse_ecma(None)  # type: ignore[arg-type]


@given(st.text(st.sampled_from("()[]{}*+?|\\^$.ab-,:=!<>Pipkux#1d/ \n\ud800"), max_size=14))
def test_any_text_is_read_or_refused_by_type(pattern: str) -> None:
    try:
        parse_ecma(pattern)
    except RegexError as error:
        assert 0 <= error.position <= len(pattern)


def test_search_is_that_of_re_where_the_two_dialects_agree() -> None:
    """All small patterns without newlines in play, ``$`` written ``\\Z`` for Python."""
    texts = [text for text in small_texts(4, 0) if "\n" not in text]
    compared = 0
    for size in (1, 2, 3):
        for pattern in small_patterns(size):
            if re.search(r"\)(\*|\?|\{2,\})\+|\(\?>|\\[BZ]", pattern):
                continue  # not in ECMA-262, or of another meaning there
            try:
                compiled = re.compile(pattern.replace("$", r"\Z"))
            except re.error:
                continue
            try:
                with impatient():
                    expected = [compiled.search(text) is not None for text in texts]
            except TooSlow:
                continue
            try:
                dfa = pattern_dfa(pattern, dialect="ecma")
            except RegexError:
                continue
            assert [dfa.accepts(text) for text in texts] == expected, pattern
            compared += 1
    assert compared > 1000
