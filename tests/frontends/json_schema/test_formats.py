"""The formats against the official suite, other implementations of their standards, and their own patterns."""

from __future__ import annotations

import base64
import calendar
import ipaddress
import json
import random
import re
import unicodedata
import uuid
from functools import cache
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrained.frontends.json_schema.format_data import DATA, NUMBERS
from constrained.frontends.json_schema.format_tables import packed, unpacked
from constrained.frontends.json_schema.formats import FORMATS, RELAXED, RESTRICTED, tabled
from constrained.frontends.json_schema.formats_idn import idn_hostname
from constrained.frontends.json_schema.formats_regex import ecma_pattern
from constrained.frontends.json_schema.number_texts import canonical_numbers
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.strings import StringShape
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex import parse_ecma
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import simplify
from constrained.regex.syntax import Alternation, CharSet, Concat, Node, Repeat, Text
from tests import oracles_regular
from tests.shared_data import shared_dir

LIMITS = Limits()
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

#: Valid strings of the suite that are not accepted, by format: each with its reason. None may be the reverse.
NOT_OFFERED: dict[tuple[str, str], str] = {}


def reason(name: str, text: str) -> str | None:
    """Why a valid string is not accepted; None: it has to be."""
    return NOT_OFFERED.get((name, text))


def suite() -> list[tuple[str, str, str, bool, str]]:
    """(draft, format, text, whether it is valid, description) of every string in the suite."""
    shared = shared_dir()
    found = []
    for draft in DRAFTS if shared is not None else ():
        folder = shared / "data" / "json-schema-test-suite" / "tests" / draft / "optional" / "format"
        for path in sorted(folder.glob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8")):
                name = group["schema"].get("format")
                found += [(draft, name, test["data"], test["valid"], test["description"]) for test in group["tests"]
                          if isinstance(name, str) and isinstance(test["data"], str)]
    return found


@cache
def shape_of(name: str, draft: str = "2020-12") -> StringShape | None:
    return StringShape.from_format(name, draft=draft.removeprefix("draft"))


@cache
def rules_of(name: str, draft: str = "2020-12") -> RuleSet | None:
    shape = shape_of(name, draft)
    return None if shape is None else RuleSet({"root": shape.to_expr(TextPolicy())}, "root")


def accepts(name: str, text: str, draft: str = "2020-12") -> bool:
    """Through the IR of the JSON string."""
    rules = rules_of(name, draft)
    assert rules is not None
    return oracles_regular.accepts(rules, json.dumps(text, ensure_ascii=False))


@pytest.mark.skipif(shared_dir() is None, reason="the shared data are not here (set CONSTRAINED_SHARED)")
def test_the_official_suite() -> None:
    cases = suite()
    assert len(cases) > 1000
    wrong, withheld = [], 0
    for draft, name, text, valid, description in cases:
        if rules_of(name, draft) is None:
            assert valid or name not in FORMATS, f"{draft} {name}"
            continue
        accepted = accepts(name, text, draft)
        if accepted == valid:
            continue
        if valid and reason(name, text) is not None:
            withheld += 1
        else:
            wrong.append(f"{draft} {name}: {text!r} is {'valid' if valid else 'invalid'}: {description}")
    assert wrong == []
    assert withheld / len(cases) < 0.05


def test_every_reason_is_documented() -> None:
    for (name, _text), why in NOT_OFFERED.items():
        assert why.startswith("RESTRICTED") and name in RESTRICTED
    assert set(RELAXED) | set(RESTRICTED) <= {*FORMATS, "regex", "idn-hostname"}


def test_the_tables_are_those_of_the_patterns() -> None:
    made = dict(tabled())
    assert made.keys() == DATA.keys()
    for name, dfa in made.items():
        kept = unpacked(DATA[name])
        assert packed(kept) == DATA[name]
        if len(dfa.rows) > 150:
            assert packed(dfa) == DATA[name], f"{name}: run python -m constrained.frontends.json_schema.format_tables"
            continue
        for left, right in ((dfa, kept), (kept, dfa)):
            assert automata.is_empty(automata.intersection(left, automata.complement(right), LIMITS)), name


# -- other implementations -------------------------------------------------------------------------------------------

DIGITS = st.integers(0, 9999)


@given(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32))
@settings(max_examples=300, deadline=None)
def test_dates(year: int, month: int, day: int) -> None:
    valid = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 400, month)[1]
    assert shape_of("date").contains(f"{year:04}-{month:02}-{day:02}") == valid


@given(st.datetimes(), st.integers(-1439, 1439), st.sampled_from(["T", "t"]))
@settings(max_examples=100, deadline=None)
def test_times(moment: object, offset: int, letter: str) -> None:
    sign, offset = "-" if offset < 0 else "+", abs(offset)
    text = f"{moment:%Y-%m-%d}".rjust(10, "0") + f"{letter}{moment:%H:%M:%S.%f}{sign}{offset // 60:02}:{offset % 60:02}"
    assert shape_of("date-time").contains(text)
    assert shape_of("time").contains(text[11:])
    assert not shape_of("date-time").contains(text[:-1]) and not shape_of("time").contains(text)


@given(st.ip_addresses(v=6), st.text("0123456789abcdef:.", max_size=20))
@settings(max_examples=300, deadline=None)
def test_addresses(address: ipaddress.IPv6Address, text: str) -> None:
    for written in (str(address), address.exploded, str(address).upper(), text, f"::{text}"):
        try:
            ipaddress.IPv6Address(written)
            valid = True
        except ValueError:
            valid = False
        assert shape_of("ipv6").contains(written) == valid, written


@given(st.lists(st.integers(0, 300), min_size=3, max_size=5), st.booleans())
@settings(max_examples=100, deadline=None)
def test_ipv4(parts: list[int], padded: bool) -> None:
    text = ".".join(f"{part:02}" if padded else str(part) for part in parts)
    valid = len(parts) == 4 and max(parts) < 256 and not (padded and min(parts) < 10)
    assert shape_of("ipv4").contains(text) == valid
    assert shape_of("uri").contains(f"http://[::{text}]/") == valid


@given(st.uuids(), st.binary(max_size=12))
@settings(max_examples=50, deadline=None)
def test_identifiers_and_bytes(identifier: uuid.UUID, data: bytes) -> None:
    assert shape_of("uuid").contains(str(identifier))
    text = base64.b64encode(data).decode()
    assert shape_of("byte").contains(text)
    if text:
        assert not shape_of("byte").contains(text[:-1]) and not shape_of("byte").contains("=" + text[1:])


@given(st.from_regex(r"[a-z]{1,4}:(//[a-z.\[\]:0-9]{0,9})?[a-z/?#:@%0-9A-F]{0,9}", fullmatch=True))
@settings(max_examples=300, deadline=None)
def test_references(text: str) -> None:
    """A URI is a reference and an IRI; what a reference adds has no scheme; the parts put together are the whole."""
    uri = shape_of("uri").contains(text)
    assert shape_of("iri").contains(text) == uri
    reference = shape_of("uri-reference").contains(text)
    assert shape_of("iri-reference").contains(text) == reference
    assert reference or not uri
    if uri:
        assert urlsplit(text).scheme == text.split(":")[0]
        rest = text.split(":", 1)[1]
        if rest.startswith(("/", "?", "#")):
            assert shape_of("uri-reference").contains(rest)


@pytest.mark.parametrize(("text", "valid"), [
    ("a.b", True), ("a" * 63, True), ("a" * 64, False), ("a--b", True), ("ab--c", False), ("a-", False), ("-a", False),
    ("a.b.c.d.e.f", True), (".".join(["a" * 63] * 3), True), (".".join(["a" * 63] * 4), False),
    ("a" * 63 + ".b" * 7, True), (".".join("1234567890abcdef") + ".ip6.arpa", True), ("a1-b2.c3", True), ("ab-c", True),
    ("ab-", False), ("abc-", False), ("a-b-", False), ("abcd", True), ("ab-d", True), ("a---b", False),
])
def test_host_names(text: str, valid: bool) -> None:
    assert accepts("hostname", text) == valid


@pytest.mark.parametrize("counts", [
    [63, 63, 63, 61], [63, *[25] * 7], [15] * 15, [4] * 50, [1] * 127, [30] * 8, [60, 1, 60, 1, 60, 1, 60],
])
def test_host_names_fit(counts: list[int]) -> None:
    """Names of all sorts of labels, and none of more than 253 characters."""
    name = ".".join("a" * count for count in counts)
    assert len(name) <= 253 and accepts("hostname", name)
    while len(name) < 253:
        name += ".b" if len(name) < 252 else "b"
        assert accepts("hostname", name), name
    assert not accepts("hostname", name + "b") and not accepts("hostname", name + ".b")


def drawn(root: Node, rng: random.Random) -> str:
    """A random text of a tree without assertions; repetitions go at most three rounds past their minimum."""
    parts, stack = [], [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            parts.append(node.chars)
        elif isinstance(node, CharSet):
            parts.append(chr(rng.randint(*rng.choice(node.ranges))))
        elif isinstance(node, Concat):
            stack.extend(reversed(node.items))
        elif isinstance(node, Alternation):
            stack.append(rng.choice(node.options))
        else:
            assert isinstance(node, Repeat)
            most = node.minimum + 3 if node.maximum is None else min(node.maximum, node.minimum + 3)
            stack += [node.body] * rng.randint(node.minimum, most)
    return "".join(parts)


def test_patterns_are_read_by_the_parser_of_patterns() -> None:
    tree, rng = simplify(parse_python(ecma_pattern(), LIMITS)), random.Random(3)
    for _ in range(2000):
        text = drawn(tree, rng)
        names = re.findall(r"\(\?<([$\w]+)>", text)
        references = re.findall(r"\\k<(\w+)>", text) if names else []
        assert len(names) <= 1
        assert set(references) <= set(names)
        parse_ecma(re.sub(r"\\k<\w+>", "x", text) if references else text, LIMITS)  # no regular language: not read
    for text in ("(?<name>x)", r"(?<n>a)\k<n>", r"(?<q>a+)b\k<q>?$", r"^a(?<long_1>\d*)?b$"):
        assert accepts("regex", text)
    for text in (r"(?<n>a)\k<m>", r"(?<n>a)(?<n>b)", r"\k<n>", "(?<1>a)", "(?<>a)"):
        assert not accepts("regex", text)
    for text in ("a{2,3}", "(?:a|b)*?", r"\p{Lu}+", r"[^\w-]", "(?<!a)b", r"\u{1F600}", "[a-z0-9]{2,}", r"^\d+$"):
        assert accepts("regex", text)
        parse_ecma(text, LIMITS)
    for text in ("a{3,2}", "(", "a**", "[z-a]", r"\p{Nope}", "(?<a>b)(?<a>c)", "(?=a)*", r"\1"):
        assert not accepts("regex", text)


def test_international_names_against_another_implementation() -> None:
    idna = pytest.importorskip("idna")
    tree, rng = idn_hostname(), random.Random(5)
    for _ in range(1500):
        name = drawn(tree, rng)
        try:
            idna.encode(name)
        except idna.IDNAError as error:
            # Its tables may know more, or fewer, characters than this Python's.
            assert any(unicodedata.category(char) == "Cn" for char in name), (ascii(name), error)


def test_number_formats() -> None:
    for name in ("int32", "int64", "float", "double"):
        assert NumberShape.from_format(name) is not None
        assert StringShape.from_format(name) is None
    assert NumberShape.from_format("date") is None
    assert StringShape.from_format("unknown") is None


def test_the_table_of_numbers_is_that_of_their_pattern() -> None:
    assert packed(unpacked(NUMBERS)) == NUMBERS
    assert packed(canonical_numbers()) == NUMBERS, "run python -m constrained.frontends.json_schema.format_tables"
