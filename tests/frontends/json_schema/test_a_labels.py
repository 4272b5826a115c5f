"""A-labels: Punycode against Python's own codec, the suite's labels, and that no text of a label is a dead end."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrained as cd
from benchmarks.conformance import accepts, byte_compiler
from constrained.frontends.json_schema import a_labels
from constrained.frontends.json_schema.a_labels import is_host_name
from constrained.frontends.json_schema.punycode import bidi, decoded, encoded, is_a_label, is_label
from tests.engine.worlds import sized
from tests.shared_data import shared_dir

LETTERS = "abz09-\u00e0\u00e9\u00df\u03bb\u05d0\u0660\u65e5\u672c\u092c\u094d\u200d\ud55c\U0001d7d8"
HOST = {"type": "string", "format": "hostname"}


@pytest.mark.parametrize("breaks", [False, True])
def test_the_shortest_a_label(breaks: bool) -> None:
    names = a_labels._Names(60, breaks)
    assert names.left(names.start()) == 1 + a_labels._ways("", False, breaks)[0]


def grammar(schema: object) -> cd.CompiledGrammar:
    return byte_compiler().compile_json_schema(json.dumps(schema))


def written(compiled: cd.CompiledGrammar, text: str) -> bool:
    return accepts(compiled, json.dumps(text, ensure_ascii=False))


@given(st.text(LETTERS, min_size=1, max_size=20))
def test_punycode_is_that_of_the_codec(label: str) -> None:
    text = encoded(label)
    assert text == label.encode("punycode").decode()
    if not label.isascii():
        assert decoded(text) == label


@given(st.text("abcxyz0189-", max_size=12))
def test_what_is_decoded(text: str) -> None:
    label = decoded(text)
    try:
        known = text.encode().decode("punycode")
    except UnicodeError:
        known = None
    if label is not None:
        assert known == label
    if known is not None and encoded(known) == text and not any("\ud800" <= char <= "\udfff" for char in known):
        assert label == known


def test_the_labels_of_the_standards() -> None:
    assert decoded("mnchen-3ya") == "m\u00fcnchen"
    # RFC 3492, section 7.1 (B)
    assert encoded("\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587") == "ihqwcrb4cv8a8dqg056pqjye"
    for label in ("l\u00b7l", "\u0375\u03b2", "\u05d0\u05f3", "\u30fb\u4e00", "\u0628\u0660", "fa\u00df",
                  "\u0915\u094d\u200d\u0937", "\u0628\u064a\u200c\u0628\u064a", "\u0628\u064b\u200c\u064b\u0627"):
        assert is_label(label), label
    for label in ("a\u00b7l", "\u0375a", "a\u05f3", "\u30fba", "\u0660\u06f0", "\u0915\u200d", "\u0628\u200ca",
                  "\u0627\u200c\u0628", "\u0301a", "e\u0301", "-\u00e0", "\u00e0-", "ab--\u00e0", "\u302ea",
                  "A\u00e0", ""):
        assert not is_label(label), label
    assert bidi("\u05d0") == (True, True) and bidi("\u05d0a") == (True, False) and bidi("1a") == (False, False)
    assert bidi("\u05d01") == (True, True) and bidi("\u06281\u0660") == (True, False) and bidi("a1") == (False, True)


@pytest.mark.skipif(shared_dir() is None, reason="the shared data are not here (set CONSTRAINED_SHARED)")
def test_the_labels_of_the_suite() -> None:
    shared = shared_dir()
    assert shared is not None
    compiled, seen = grammar(HOST), 0
    for path in (shared / "data" / "json-schema-test-suite" / "tests" / "draft2020-12" / "optional" / "format").glob(
            "*hostname.json"):
        for group in json.loads(path.read_text(encoding="utf-8")):
            for test in group["tests"]:
                text = test["data"]
                if isinstance(text, str) and re.search(r"(^|\.)xn--", text):
                    seen += 1
                    assert is_host_name(text) is test["valid"], text
                    assert written(compiled, text) is test["valid"], text
    assert seen > 40


@given(st.text(st.sampled_from("az09-"), max_size=a_labels._LABEL - len(a_labels._PREFIX) - a_labels._FAR),
       st.sampled_from([(False, False), (True, False), (False, True)]))
def test_every_text_becomes_a_label_where_there_is_room(text: str, others: tuple[bool, bool]) -> None:
    """So far from the end nothing is looked at: a way has to be there, and to go on behind each of its characters."""
    ways = a_labels._ways(text, *others)
    assert ways and ways[0] < a_labels._FAR


@pytest.mark.parametrize("seed", range(sized(60, 4)))
def test_no_text_is_a_dead_end_and_what_is_written_is_valid(seed: int) -> None:
    rng = random.Random(seed)
    most = rng.choice([253, 253, 100, 40, 20])
    compiled = grammar({**HOST, "maxLength": most})
    start = b'"' + rng.choice([b"", b"a.", b"1.", b"a.b2."]) + b"xn--"
    state = compiled.advance(compiled.start_state, start)
    if not state:
        assert most < 253
        return
    text = start
    letters = rng.choice([b"abcdefghijklmnopqrstuvwxyz0123456789-", b"a-", b"-", b"9a"])
    for _ in range(rng.randint(0, most)):
        allowed = [byte for byte in compiled.allowed_ids(state) if byte < 256]
        assert allowed, text
        going = [byte for byte in allowed if byte in letters] or [byte for byte in allowed if byte != 0x22] or [0x22]
        byte = rng.choice(allowed) if rng.random() < 0.1 else rng.choice(going)
        text += bytes([byte])
        state = compiled.advance(state, bytes([byte]))
        assert state
        if byte == 0x22:
            break
    text += compiled.shortest_completion(state)
    name = json.loads(text)
    assert len(name) <= most and is_host_name(name), name
    for label in name.split("."):
        if label.startswith("xn--"):
            assert label[4:].encode().decode("punycode").encode("punycode") == label[4:].encode()
    assert written(compiled, name)


def test_names_of_several_kinds_of_labels() -> None:
    compiled = grammar(HOST)
    for name in ("xn--mnchen-3ya", "www.xn--mnchen-3ya.de", "a.b.xn--mnchen-3ya.xn--fa-hia.c", "1.xn--mnchen-3ya.2",
                 "a.xn--4gbwdl", "xn--4gbwdl.a1"):
        assert is_host_name(name) and written(compiled, name), name
    # the Bidi rule holds for all labels of a name: none may begin with a digit beside one from right to left
    for name in ("1.xn--4gbwdl", "xn--4gbwdl.1a", "xn--4gbwdl.xn--1-sfa", "xn--X", "xn--", "xn---9uc", "xn--mnchen-3y",
                 "xn--mnchen-3ya.", "xn--mnchen-3ya..a", "xn--mnchen-3ya.-a", "xn--mnchen-3ya.ab--c"):
        assert not is_host_name(name) and not written(compiled, name), name
    assert is_a_label("1-sfa") is not None  # alone it is one: what begins with a digit is wrong beside others only


def test_lengths_values_and_negations() -> None:
    name = "xn--mnchen-3ya.de"
    assert written(grammar({**HOST, "maxLength": len(name)}), name)
    assert not written(grammar({**HOST, "maxLength": len(name) - 1}), name)
    assert written(grammar({**HOST, "enum": [name, "xn--X"]}), name)
    assert not written(grammar({**HOST, "enum": [name, "xn--X", "a"]}), "xn--X")
    assert not written(grammar({**HOST, "not": {"const": name}}), name)
    assert not written(grammar({"type": "string", "not": {"format": "hostname"}}), name)
    assert written(grammar({"type": "string", "not": {"format": "hostname"}}), "a..b")
    assert written(grammar({"type": "string", "format": "idn-hostname"}), name)
    assert written(grammar({"propertyNames": {"format": "hostname"}, "type": "object"}), name) is False
    assert accepts(grammar({"propertyNames": {"format": "hostname"}, "type": "object"}), json.dumps({name: 1}))
    older = byte_compiler().compile_json_schema(HOST, draft="draft6")
    assert written(older, "xn--X")  # RFC 1123 knows no A-labels
    for draft in ("draft7", "2020-12"):
        assert not cd.coverage({**HOST, "$schema": "http://json-schema.org/draft-07/schema#"} if draft == "draft7"
                               else HOST).relaxed


def test_what_is_not_known_exactly_is_not_negated() -> None:
    for name in ("idn-hostname", "regex"):
        with pytest.raises(cd.UnsupportedSchemaError, match=r"at '/not'.*not known exactly"):
            grammar({"type": "string", "not": {"format": name}})
    leap = grammar({"type": "string", "not": {"format": "date-time"}})
    # a leap second that is no quarter of an hour from UTC is not offered, and not offered as something else
    assert not written(leap, "2020-01-01T15:12:60-08:47") and written(leap, "2020-13-01T15:12:60-08:47")
    assert written(grammar({"enum": ["2020-01-01T15:12:60-08:47", "2020-01-01T15:12:60-08:48"],
                            "format": "date-time"}), "2020-01-01T15:12:60-08:47")
    assert not written(grammar({"enum": ["15:12:60-08:47", "15:12:60-08:48"], "format": "time"}), "15:12:60-08:48")
