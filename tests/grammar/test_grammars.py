"""The grammars that ship: every example, and each against an independent reader where the standard library has one."""

from __future__ import annotations

import ast
import datetime
import ipaddress
import json
import random
import re
import sqlite3
import warnings
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrained.errors import GrammarError
from constrained.frontends.ebnf import from_ebnf
from constrained.grammar.analysis import analyse
from constrained.grammar.ir import RuleSet
from constrained.grammar.show import show
from constrained.grammars import builtin_examples, builtin_names, builtin_text
from tests.oracles import Recogniser
from tests.strategies import derive

# From semver.org, with named groups taken out.
SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?", re.ASCII)


@cache
def grammar(name: str) -> RuleSet:
    return from_ebnf(builtin_text(name))


@cache
def recogniser(name: str, root: str = "root") -> Recogniser:
    return Recogniser(RuleSet(grammar(name).rules, root))


@pytest.mark.parametrize("name", builtin_names())
def test_examples(name: str) -> None:
    accepts, rejects = builtin_examples(name)
    assert len(accepts) >= 5
    assert len(rejects) >= 10
    oracle = recogniser(name)
    assert [text for text in accepts if not oracle.accepts(text.encode())] == []
    assert [text for text in rejects if oracle.accepts(text.encode())] == []


@pytest.mark.parametrize("name", builtin_names())
def test_each_has_a_header_no_warnings_and_prints(name: str) -> None:
    text = builtin_text(name)
    assert text.startswith("# ")
    assert max(map(len, text.splitlines())) <= 120
    assert analyse(grammar(name)).warnings() == ()
    again = Recogniser(from_ebnf(show(grammar(name))))
    accepts, rejects = builtin_examples(name)
    assert all(again.accepts(text.encode()) for text in accepts[:8])
    assert not any(again.accepts(text.encode()) for text in rejects[:8])


@pytest.mark.parametrize("name", ["nope", "", "../json", "json.ebnf", None, 5])
def test_an_unknown_name_lists_the_names(name: str) -> None:
    with pytest.raises(GrammarError, match=r"arithmetic.*json.*url"):
        builtin_text(name)


def near(name: str, rng: random.Random, alphabet: str) -> bytes:
    """A text of the grammar, or one edit away from it."""
    text = derive(grammar(name), rng, 30).decode(errors="ignore")
    if rng.random() < 0.6:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(["", *alphabet]) + text[at + rng.randrange(2) :]
    return text.encode()


def read_json(text: bytes) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text.decode(), parse_constant=refuse)
    except ValueError:
        return False
    return True


@given(st.integers(0, 1 << 30))
def test_json_against_json_loads(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        text = near("json", rng, '{}[],:"\\0123.eE+- \n\tntrue\x01é')
        assert recogniser("json").accepts(text) == read_json(text), text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
                    | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=6),
       st.sampled_from([None, 0, 2, 4]), st.booleans(), st.sampled_from([None, (",", ":")]))
def test_tidy_json_takes_what_dumps_writes(value: object, indent: int | None, ascii_only: bool,
                                           separators: tuple[str, str] | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators)
    data = text.encode("utf-8", "surrogatepass")
    valid = not any(0xD800 <= ord(char) <= 0xDFFF for char in text)
    assert recogniser("json-tidy").accepts(data) == valid
    assert recogniser("json").accepts(data) == valid


def test_days_of_the_month() -> None:
    oracle = recogniser("iso8601", "date")
    for year in (0, 400, 1900, 1996, 2000, 2023, 2100):
        for month in range(14):
            for day in (0, 1, 9, 10, 19, 20, 27, 28, 29, 30, 31, 32):
                try:
                    datetime.date(year or 2000, month, day)  # the year 0 is a leap year, as 2000 is
                    expected = True
                except ValueError:
                    expected = False
                assert oracle.accepts(b"%04d-%02d-%02d" % (year, month, day)) == expected
        last = 366 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 365
        days = [day for day in range(400) if oracle.accepts(b"%04d-%03d" % (year, day))]
        assert days == list(range(1, last + 1))


@given(st.integers(0, 1 << 30))
def test_semver_against_its_regular_expression(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        text = near("semver", rng, "0123.-+aZ")
        assert recogniser("semver").accepts(text) == bool(SEMVER.fullmatch(text.decode())), text


@given(st.integers(0, 1 << 30))
def test_addresses_against_ipaddress(seed: int) -> None:
    rng = random.Random(seed)
    groups = [rng.choice(["0", "1", "ff", "abcd", "", "", "12345", "1.2.3.4", "256.1.1.1"][: rng.choice([5, 6, 9])])
              for _ in range(rng.randrange(1, 10))]
    octets = ["0", "9", "10", "99", "199", "249", "255", "256", "01"]
    for kind, text, reader in (
        ("ipv6", ":".join(groups), ipaddress.IPv6Address),
        ("ipv4", ".".join(rng.choices(octets, k=rng.choice([3, 4, 4]))), ipaddress.IPv4Address),
    ):
        try:
            reader(text)
            expected = True
        except ValueError:
            expected = False
        assert recogniser("url", kind).accepts(text.encode()) == expected, text


@given(st.integers(0, 1 << 30))
def test_python_literals_are_literals(seed: int) -> None:
    rng = random.Random(seed)
    text = near("python-literal", rng, "()[]{},:'\"\\0123xbe.jJ_- \nrN")
    if recogniser("python-literal").accepts(text):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                ast.literal_eval(text.decode())
            except TypeError:
                pass  # a list in a set: the grammar does not know what can be hashed


@pytest.mark.parametrize("text", builtin_examples("sql-select")[0])
def test_sql_examples_are_sql(text: str) -> None:
    try:
        sqlite3.connect(":memory:").execute(text)
    except sqlite3.Error as error:
        assert "syntax" not in str(error)
        assert "incomplete" not in str(error)


@given(st.integers(0, 1 << 30))
def test_arithmetic_against_python(seed: int) -> None:
    rng = random.Random(seed)
    text = near("arithmetic", rng, "0123+-*/%(). e")
    if recogniser("arithmetic").accepts(text):
        compile(text.decode(), "expression", "eval")
    if recogniser("arithmetic-left").accepts(text) and b"0" not in text:
        assert recogniser("arithmetic").accepts(text)
