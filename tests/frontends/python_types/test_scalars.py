"""Scalar types one by one: what is accepted and what is not, and the law on random walks and on values at the edges."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import json
import pathlib
import random
import re
import uuid
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import ConfigDict, Field, StringConstraints

from tests.frontends.python_types.judging import accepts, check_law, compiled, dumps, walk

D = decimal.Decimal


class Plain(enum.Enum):
    ONE = 1
    X = "x"
    HALF = 1.5
    NONE = None
    YES = True


class Whole(enum.IntEnum):
    A = 1
    B = 20


class Texts(str, enum.Enum):  # noqa: UP042
    A = "a"
    B = 'é"\\'


class Floats(float, enum.Enum):
    A = 1.5
    B = 2.0
    C = 1e22


def zone(hours: int, minutes: int = 0) -> dt.timezone:
    return dt.timezone(dt.timedelta(hours=hours, minutes=minutes))


#: Type, texts accepted, texts rejected, values whose dumps are accepted.
TABLE: list[tuple[Any, list[str], list[str], list[Any]]] = [
    (int, ["0", "-1", "12345678901234567890123", "9" * 400], ["1.0", "1e5", "01", "+1", '"1"', "true", "-", "null"],
     [0, -1, 10**399]),
    (Annotated[int, Field(ge=1, le=5)], ["1", "5"], ["0", "6", "-1", "1.5"], [3]),
    (Annotated[int, Field(gt=-3, lt=3, multiple_of=2)], ["-2", "0", "2"], ["-1", "1", "4", "-4"], [-2, 0]),
    (Annotated[int, Field(ge=-10**30, multiple_of=7)], ["7", "-7", "7" + "0" * 40], ["8", "-" + "7" * 40], [14]),
    (pydantic.StrictInt, ["1"], ["1.0", '"1"'], [1]),
    (float, ["1", "-0.0", "1.5", "1e16", "5e-324", "0.1"], ['"1"', "NaN", "Infinity", "true", "1."],
     [0.0, -0.0, 1e16, 1e22, 1e-7, 5e-324, 1.7976931348623157e308, 123456789012345680.0, 2.5e-5]),
    (pydantic.FiniteFloat, ["1.7976931348623157e308"], ["1e309", "9" * 310], [1.7976931348623157e308, -1e300]),
    (Annotated[float, Field(lt=0.3)], ["0.29999999999999993", "-5"], ["0.3", "0.29999999999999999999"], [0.1, -1e300]),
    (Annotated[float, Field(gt=0.3)], ["0.30000000000000004"], ["0.3", "0.30000000000000001"], [1e22]),
    (Annotated[float, Field(multiple_of=0.1, ge=0)], ["0.3", "0.7", "4000000"], ["0.35", "-0.1", "123456789.3"],
     [0.3, 5.0]),
    (Annotated[float, Field(multiple_of=3)], ["-3", "9007199254740990"], ["1", "9007199254740994"], [3e15]),
    (Annotated[float, Field(multiple_of=0.25)], ["0.75", "1e+300", "1e307"], ["0.1", "7e+307"], [1e300, -0.25]),
    (bool, ["true", "false"], ["1", '"true"', "0.0"], [True, False]),
    (type(None), ["null"], ['"null"', "0"], [None]),
    (str, ['""', '"\\u0000é😀"'], ["a", '"\\ud800"', "1"], ["", 'é"\\\n\x00😀']),
    (bytes, ['"é"'], ["1"], [b"abc", "é".encode()]),
    (Annotated[bytes, Field(max_length=2)], ['"é"', '"ab"'], ['"éa"', '"abc"'], [b"", "é".encode()]),
    (Annotated[bytes, Field(min_length=3)], ['"éa"', '"abcdef"'], ['"é"', '"ab"'], ["😀".encode()]),
    (Annotated[D, Field(max_digits=1, decimal_places=1)], ["0.5", '"0E-1"'], ['"0E-0"', '"-0E-0"', "1"], [D("0.3")]),
    (D, ["1.5", "-3", '"1.50"', '"1E+5"', '"-0"', "12345678901234567890"],
     ['"abc"', "null", '""', '"NaN"', '"Infinity"', "1e400", "0.1234567890123456789", '" 1"', '"1_0"'],
     [D("1.50"), D("-0"), D("1E+5"), D("0E-10"), D("1.23E-7"), D("1e100"), D("0E+5"), D("1E-400")]),
    (Annotated[D, Field(max_digits=5, decimal_places=2)],
     ["123.45", '"1.2300000"', '"1E+2"', '"0E-9"', '"-100.00"', '"0.01"', "999"],
     ["1000", '"1234.5"', '"1.234"', '"1E+3"', "0.001", '"1E-3"'], [D("123.4500"), D("1E+2"), D("0E+9")]),
    (Annotated[D, Field(max_digits=2, decimal_places=2)], ['"0.0"', '"0.05"', "0.5", '"0E-3"'],
     ["0", '"0"', "0.0", '"1"', "0.005"], [D("0.00"), D("0.99")]),
    (Annotated[D, Field(max_digits=3)], ['"123"', '"0.012"', '"1.230"'], ['"1234"', '"0.0012"', '"1E+3"'], [D("1E+2")]),
    (Annotated[D, Field(gt=D("0.1"), lt=5)], ['"0.10000000000000000001"', "4.9", '"1"'],
     ["0.1", '"0.1"', "5", '"5.0"', "0.1000000000000000001"], [D("4.9999"), D("1.00")]),
    (Annotated[D, Field(ge=-3, max_digits=4, decimal_places=2)], ["-3", '"-2.99"', "99.99"], ["-3.01", "100"],
     [D("0E+5"), D("12.340"), D("1E+1")]),
    (Annotated[D, Field(multiple_of=D("0.25"))], ["0.75", '"1.50"', '"0E+3"'], ["0.3", '"0.1"'], [D("2.5"), D("0E-7")]),
    (Annotated[D, pydantic.AllowInfNan()], ['"NaN"', '"-Infinity"'], ["NaN"], [D("NaN"), D("Infinity")]),
    (fractions.Fraction, ['"1/3"', '"-5"'], ['"1/0"', '"1/-2"', "0.5"], [fractions.Fraction(1, 3)]),
    (complex, ['"1+2j"', '"2j"'], ['"j"', '"1+2"', "1"], [1 + 2j, 1j, complex(1.5, -2e-7)]),
    (dt.date, ['"0001-01-01"', '"9999-12-31"', '"2024-02-29"', '"2000-02-29"'],
     ['"0000-01-01"', '"2023-02-29"', '"1900-02-29"', '"2023-04-31"', '"20240229"', '"2024-1-1"', "0"],
     [dt.date.min, dt.date.max]),
    (dt.datetime, ['"2023-10-16T00:00:00Z"', '"2023-10-16T00:00:00"', '"2023-10-16T23:59:59.123456+23:59"'],
     ['"0000-01-01T00:00:00"', '"2023-10-16T24:00:00"', '"2023-10-16T23:59:60Z"', '"2023-10-16T00:00:00+24:00"',
      '"2023-02-30T00:00:00Z"', '"soon"', "0", '"2023-10-16T00:00:00.1234567"'],
     [dt.datetime.min, dt.datetime.max, dt.datetime(2020, 2, 29, 1, 2, 3, 40, zone(5, 30)),
      dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(1, 1, 1, tzinfo=zone(-23, -59))]),
    (pydantic.AwareDatetime, ['"2020-01-01T00:00:00Z"'], ['"2020-01-01T00:00:00"'], []),
    (pydantic.NaiveDatetime, ['"2020-01-01T00:00:00"'], ['"2020-01-01T00:00:00Z"'], []),
    (Annotated[dt.date, Field(ge=dt.date(2020, 2, 29))], ['"2020-02-29"', '"2020-10-01"', '"3000-01-01"'],
     ['"2020-02-28"', '"2019-12-31"', '"0001-01-01"'], []),
    (Annotated[dt.date, Field(lt=dt.date(2020, 2, 29))], ['"2020-02-28"', '"0001-01-01"'], ['"2020-02-29"'], []),
    (Annotated[dt.datetime, Field(ge=dt.datetime(2020, 1, 1, 12, 30, 15, 123400))],
     ['"2020-01-01T12:30:15.1234"', '"2020-01-01T12:30:15.123400-05:00"', '"2020-01-01T12:30:15.2Z"'],
     ['"2020-01-01T12:30:15.1233"', '"2020-01-01T12:30:15"', '"2020-01-01T12:30:15.123399Z"'], []),
    (Annotated[dt.datetime, Field(gt=dt.datetime(2020, 1, 1, 2, 30, tzinfo=zone(5)))],
     ['"2019-12-31T21:30:00.000001Z"', '"2020-01-01T02:30:01"'],
     ['"2019-12-31T21:30:00Z"', '"2020-01-01T02:30:00"', '"2020-01-01T02:30:01+05:00"'], []),
    (Annotated[dt.time, Field(lt=dt.time(12, 0, 0, 500))], ['"12:00:00"', '"12:00:00.0004"', '"00:00:00+01:00"'],
     ['"12:00:00.0005"', '"12:00:01"'], []),
    (dt.time, ['"00:00:00"', '"23:59:59.999999"', '"12:00:00Z"'], ['"24:00:00"', '"23:59:60"', '"1:00:00"'],
     [dt.time(1, 2, 3, 4), dt.time(1, tzinfo=zone(1))]),
    (dt.timedelta, ['"P1D"', '"PT0S"', '"-PT23H59M59.999999S"', '"P2739726Y9DT23H59M59.999999S"', '"P2W"', '"PT90M"'],
     ['"P"', '"PT"', '"P2739726Y10D"', '"-P2739726Y9DT1S"', '"1 day"', "5"],
     [dt.timedelta.min, dt.timedelta.max, dt.timedelta(0), dt.timedelta(400), dt.timedelta(0, -1),
      dt.timedelta(microseconds=1), dt.timedelta(-999999998, 86399), dt.timedelta(730, 1)]),
    (Annotated[dt.timedelta, Field(ge=dt.timedelta(0), lt=dt.timedelta(1))],
     ['"PT0S"', '"PT23H59M59.999999S"', '"PT5M"'],
     ['"P1D"', '"-PT1S"', '"-PT0S"', '"P1Y"', '"PT24H"'], [dt.timedelta(0, 1, 5)]),
    (Annotated[dt.timedelta, Field(gt=dt.timedelta(-400, 5), le=dt.timedelta(0, -1))],
     ['"-P1Y34DT23H59M54S"', '"-PT1S"'],
     ['"-P1Y34DT23H59M55S"', '"-P1Y35D"', '"-PT0.999999S"', '"PT1S"'], [dt.timedelta(-3)]),
    (uuid.UUID, ['"c0a8010a-0000-4000-8000-000000000000"', '"C0A8010A-0000-0000-0000-000000000000"'],
     ['"c0a8010a"', '"{c0a8010a-0000-4000-8000-000000000000}"', '"g0a8010a-0000-4000-8000-000000000000"'],
     [uuid.UUID(int=1)]),
    (pydantic.UUID4, ['"c0a8010a-0000-4000-8000-000000000000"'],
     ['"c0a8010a-0000-1000-8000-000000000000"', '"c0a8010a-0000-4000-0000-000000000000"'], []),
    (pathlib.Path, ['"a/b"', '""'], ["1"], [pathlib.Path("/x/é")]),
    (pathlib.PureWindowsPath, ['"a"'], ["null"], [pathlib.PureWindowsPath("C:/x")]),
    (ipaddress.IPv4Address, ['"1.2.3.4"'], ['"01.2.3.4"', '"256.0.0.1"', '"1.2.3"', "1"],
     [ipaddress.IPv4Address("255.255.255.255")]),
    (ipaddress.IPv6Address, ['"::1"', '"fe80::1%eth0"', '"::ffff:1.2.3.4"'],
     ['":::"', '"1::2::3"', '"::1%"', '"::1/64"'],
     [ipaddress.IPv6Address("1:2:3:4:5:6:7:8")]),
    (ipaddress.IPv4Network, ['"1.2.3.0/24"', '"0.0.0.0/0"', '"10.0.0.0/8"', '"1.2.3.4/32"'],
     ['"1.2.3.4/24"', '"1.2.3.0/33"'], [ipaddress.IPv4Network("128.0.0.0/1")]),
    (ipaddress.IPv4Interface, ['"1.2.3.4/24"'], ['"1.2.3.4/33"'], [ipaddress.IPv4Interface("1.2.3.4/0")]),
    (ipaddress.IPv6Interface, ['"::1/128"'], ['"::1/129"'], [ipaddress.IPv6Interface("fe80::1%a/64")]),
    (pydantic.IPvAnyAddress, ['"1.2.3.4"', '"::1"'], ['"x"'], []),
    (Plain, ["1", '"x"', "1.5", "null"], ['"1"', "2", '"X"'], list(Plain)),
    (Whole, ["1", "20"], ["2", "1.0", '"1"'], list(Whole)),
    (Texts, ['"a"', r'"\u00e9\"\\"'], ['"b"'], list(Texts)),
    (Floats, ["1.5", "2.0", "1e+22"], ["1"], list(Floats)),
    (Literal[1, "a", True, None], ["1", '"a"', "true", "null"], ["1.0", "false", '"1"'], [1, "a", True, None]),
    (Literal[Texts.A, Whole.B], ['"a"', "20"], ['"b"', "1"], [Texts.A, Whole.B]),
    (pydantic.SecretStr, ['"x"'], ["1"], []),
    (pydantic.ByteSize, ["5"], ["-1", "1.5"], [pydantic.ByteSize(5)]),
    (pydantic.Base64Bytes, ['"aGk="'], ['"aGk"', '"?"'], [b"hi"]),
    (pydantic.JsonValue, ["null", '[{"a": 1}]'], ["NaN"], [{"a": [1, None]}]),
]


@pytest.mark.parametrize("annotation, good, bad, values", TABLE, ids=[
    re.sub(r"typing\.|FieldInfo\(annotation=NoneType, required=True, metadata=", "", str(row[0]))[:60]
    for row in TABLE])
def test_type(annotation: Any, good: list[str], bad: list[str], values: list[Any]) -> None:
    grammar = compiled(annotation)
    adapter = pydantic.TypeAdapter(annotation)
    for text in good:
        assert accepts(grammar, text), text
        adapter.validate_json(text)
    for text in bad:
        assert not accepts(grammar, text), text
    for value in values:
        texts = list(dumps(adapter, value))
        assert texts, value
        for text in texts:
            assert accepts(grammar, text), text
    check_law(annotation, walks=25)


CONSTRAINTS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"min_length": 1, "max_length": 2}, ["a", "éé", "😀"], ["", "abc"]),
    ({"strip_whitespace": True, "min_length": 2}, ["ab", "a b"], [" ab", "ab\u2003", "a", "\u0085ab", ""]),
    ({"strip_whitespace": True}, ["", "a", "\x1ca"], [" ", "a "]),
    ({"strip_whitespace": True, "max_length": 3, "pattern": "^[a-z ]+$"}, ["a b", "abc"], ["", " ab", "abcd", "A"]),
    ({"to_lower": True}, ["a1", "ß"], ["A", "É"]),
    ({"to_upper": True}, ["A1", "É"], ["a", "ß"]),
    ({"to_lower": True, "to_upper": True}, ["a1"], ["A"]),
    ({"pattern": "^a$"}, ["a"], ["a\n", "ba"]),
    ({"pattern": re.compile("a$", re.I)}, ["bA", "A\n"], ["ab"]),
    ({"pattern": r"^\d\s$"}, ["1 ", "١\u2003"], ["1\x1c", "a "]),
]


@pytest.mark.parametrize("given, good, bad", CONSTRAINTS, ids=[str(row[0]) for row in CONSTRAINTS])
def test_strings(given: dict[str, Any], good: list[str], bad: list[str]) -> None:
    annotation = Annotated[str, StringConstraints(**given)]
    grammar, adapter = compiled(annotation), pydantic.TypeAdapter(annotation)
    for text in good:
        assert accepts(grammar, json.dumps(text)) and accepts(grammar, json.dumps(text, ensure_ascii=False)), text
        assert adapter.validate_json(json.dumps(text)) == text
    for text in bad:
        assert not accepts(grammar, json.dumps(text)), text
    check_law(annotation, walks=25)


URLS: list[tuple[Any, list[str], list[str], list[Any]]] = [
    (pydantic.HttpUrl, ['"http://a"', '"https://u:p@h.example:8080/x?y=[1]#z"', '"http://[::1]/"', '"http://1.2.3.4"'],
     ['"ftp://a"', '"http://"', '"http://a b"', '"http://a:65536"', '"http://xn--a"', '"http://256.1.1.1"', '"a"'],
     [pydantic.HttpUrl("http://example.org/é?x y")]),
    (pydantic.AnyUrl, ['"foo://h/x"', '"mailto:a@b"', '"file:///a"'], ['"a"', '"1a://b"', '"file://u@h"'],
     [pydantic.AnyUrl("s3://bucket/key")]),
    (pydantic.FileUrl, ['"file:///a/b"'], ['"http://a"', '"file://h:1/"'], []),
    (pydantic.PostgresDsn, ['"postgresql+psycopg://u:p@h:5432/d"'], ['"http://a"'], []),
    (Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(allowed_schemes=["s3"], max_length=50)], ['"s3://a.b/c"'],
     ['"s4://a"', '"s3://a/' + "x" * 60 + '"'], []),
]


@pytest.mark.parametrize("annotation, good, bad, values", URLS, ids=[str(row[0])[-40:] for row in URLS])
def test_urls_are_held_back_on_the_safe_side(annotation: Any, good: list[str], bad: list[str],
                                             values: list[Any]) -> None:
    grammar, adapter, rng = compiled(annotation), pydantic.TypeAdapter(annotation), random.Random(0)
    for text in [*good, *(dumped for value in values for dumped in dumps(adapter, value))]:
        assert accepts(grammar, text), text
        adapter.validate_json(text)
    for text in bad:
        assert not accepts(grammar, text), text
    for _ in range(100):
        adapter.validate_json(walk(grammar, rng))


def test_addresses_of_email_are_held_back_on_the_safe_side() -> None:
    pytest.importorskip("email_validator")
    grammar, adapter, rng = compiled(pydantic.EmailStr), pydantic.TypeAdapter(pydantic.EmailStr), random.Random(0)
    for text in ("a.b@c.example", "A!b@x-y.co.uk", "a@test.co", "a@b.tests"):
        assert accepts(grammar, f'"{text}"') and adapter.validate_json(f'"{text}"') == text
    for text in ("a@b", "a@b.test", "a@b.TEST", "a@xn--a.de", "a@b.1a", "a..b@c.de", "@b.co", "a@-b.co", "a@b-.co"):
        assert not accepts(grammar, f'"{text}"'), text
    for _ in range(100):
        adapter.validate_json(walk(grammar, rng))


def durations() -> list[dt.timedelta]:
    edges = [dt.timedelta(*parts) for parts in (
        (0,), (1,), (400,), (0, 5), (0, 3605), (0, 1, 5), (-1,), (-1, 0, 1), (365,), (730, 1), (0, 60), (364, 86399),
        (-999999998, 1), (0, 0, 500000), (0, 86399, 999999), (99 * 365,), (100 * 365,), (999999998,))]
    steps = [dt.timedelta(0), dt.timedelta(0, 0, 1), dt.timedelta(0, 0, -1), dt.timedelta(0, 1)]
    return sorted({edge + step for edge in edges for step in steps} | {dt.timedelta.min, dt.timedelta.max})


@pytest.mark.parametrize("side", ["ge", "gt", "le", "lt"])
def test_durations_on_both_sides_of_a_bound(side: str) -> None:
    written = {value: pydantic.TypeAdapter(dt.timedelta).dump_json(value).decode() for value in durations()}
    for bound in durations()[2:-2:7]:
        annotation = Annotated[dt.timedelta, Field(**{side: bound})]
        grammar = compiled(annotation)
        for value, text in written.items():
            within = {"ge": value >= bound, "gt": value > bound, "le": value <= bound, "lt": value < bound}[side]
            assert accepts(grammar, text) == within, (bound, text)
        check_law(annotation, walks=10)


@pytest.mark.parametrize("mode, good, bad", [
    ("base64", ["__4_YQ==", "", "YWI="], ["//4/YQ==", "YR==", "YQ", "Y", "AAAAAAAA"]),
    ("hex", ["fffe", "", "AB"], ["f", "xx", "000000000000"])])
def test_encoded_bytes(mode: str, good: list[str], bad: list[str]) -> None:
    annotation = pydantic.create_model(
        "M", __config__=ConfigDict(val_json_bytes=mode, ser_json_bytes=mode),
        b=(Annotated[bytes, Field(max_length=5)], ...))
    grammar = compiled(annotation)
    for text in good:
        assert accepts(grammar, f'{{"b": "{text}"}}'), text
    for text in bad:
        assert not accepts(grammar, f'{{"b": "{text}"}}'), text
    check_law(annotation, walks=25)


def test_configuration_of_an_adapter() -> None:
    adapter = pydantic.TypeAdapter(list[str], config=ConfigDict(str_max_length=3))
    assert accepts(compiled(adapter), '["abc"]') and not accepts(compiled(adapter), '["abcd"]')


def test_seconds_of_durations() -> None:
    model = pydantic.create_model("M", __config__=ConfigDict(ser_json_timedelta="float"), d=(dt.timedelta, ...))
    assert accepts(compiled(model), model(d=dt.timedelta(1, 5, 6)).model_dump_json())
    check_law(model, strict=False)
    strict = pydantic.create_model("M", __config__=ConfigDict(ser_json_timedelta="float", strict=True),
                                   d=(dt.timedelta, ...))
    assert not accepts(compiled(strict), '{"d": 1.5}')
    check_law(strict)


def test_digits_are_capped_by_the_option() -> None:
    grammar = compiled(dict[int, D], max_number_digits=5)
    assert accepts(grammar, '{"12345": "12345.12345"}')
    assert not accepts(grammar, '{"123456": 1}') and not accepts(grammar, '{"1": "123456"}')
