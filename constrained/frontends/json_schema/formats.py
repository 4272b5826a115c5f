r"""The formats of JSON Schema as patterns, each after the grammar of its standard.

A pattern is Python ``re`` syntax, written of ASCII classes only and matched in full. Most are kept as automata, made
beforehand (``format_tables``). A format is a set of strings here, so what is no regular language, or only as a huge
one, is held back on the safe side: nothing that is accepted is wrong, and ``RESTRICTED`` names what is not offered;
``RELAXED`` names the one case where a rule beyond grammars is left out. The formats of numbers are in ``numbers``.

Cost: 20-100 us, once a format.
"""

from __future__ import annotations

from collections.abc import Iterator

from constrained.frontends.json_schema.format_data import DATA
from constrained.frontends.json_schema.format_tables import unpacked
from constrained.frontends.json_schema.formats_idn import idn_hostname
from constrained.frontends.json_schema.formats_more import More, more_of
from constrained.frontends.json_schema.formats_regex import ecma_pattern
from constrained.limits import Limits
from constrained.regex.builder import alternation
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import simplify
from constrained.regex.syntax import Node

__all__ = ["FORMATS", "LENGTHS", "RELAXED", "RESTRICTED", "format_language", "latest_alike", "more", "tabled",
           "withheld"]

#: Valid strings that are not offered, by format.
RESTRICTED = {
    "date-time": "a leap second is offered only with offsets of whole quarters of an hour",
    "time": "a leap second is offered only with offsets of whole quarters of an hour",
    "hostname": "from draft 7 on: A-labels (xn--...) in upper case, behind more than two other labels, of more than 50 "
                "characters, or in a name of more than 125 are offered in part; so are zero-width non-joiners in them, "
                "and all of them beside another pattern or a minLength",
    "idn-hostname": "two hyphens together, marks that compose with the letter before them and two combining marks in a "
                    "row are not offered, nor more than ten labels, nor ASCII names of more than four labels in which "
                    "several are long; of A-labels (xn--...) what hostname does not offer, and those beside labels "
                    "that are not ASCII",
    "regex": "groups nest at most three deep, not inside look-arounds; ranges other than of digits or letters, and "
             "counts of more than two digits are not offered; a group with a name is the only one of a plain pattern, "
             "and is referred to only if it stands first and its name is a letter",
}

#: What is accepted beyond the standard, by format.
RELAXED = {
    "idn-email": "the domain's labels hold any character beyond ASCII: IDNA2008 is not checked",
    "idn-hostname": "a label may have up to 58 letters whatever its punycode takes",
}

# -- RFC 3339 -----------------------------------------------------------------------------------------------------

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = ("(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
         f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)")
_HOUR_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"


def _leap_seconds() -> str:
    """23:59:60 is the only leap second (section 5.7); at another offset the digits of the time decide those of the
    offset. Zones differ by quarters of an hour: 96 times; all 1,440 would be an automaton fifteen times as large."""
    options = [f"23:59:60{_FRACTION}[Zz]"]
    for east in range(0, 24 * 60, 15):
        local, west = (23 * 60 + 59 + east) % (24 * 60), -east % (24 * 60)
        options.append(f"{local // 60:02}:{local % 60:02}:60{_FRACTION}"
                       rf"(?:\+{east // 60:02}:{east % 60:02}|-{west // 60:02}:{west % 60:02})")
    return "|".join(options)


_TIME = f"(?:{_HOUR_MINUTE}:[0-5][0-9]{_FRACTION}(?:[Zz]|[-+]{_HOUR_MINUTE})|{_leap_seconds()})"
#: Appendix A: no fractions, no signs, weeks alone.
_DURATION = ("P(?:[0-9]+W|(?:T{t}|(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)(?:T{t})?))".replace(
    "{t}", "(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"))

# -- hosts ----------------------------------------------------------------------------------------------------------

_IPV4_PART = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"(?:{_IPV4_PART}\.{_IPV4_PART}\.{_IPV4_PART}\.{_IPV4_PART})"


def _ipv6() -> str:
    """RFC 4291 section 2.2 by the grammar of RFC 3986, appendix A."""
    part = "[0-9A-Fa-f]{1,4}"
    last = f"(?:{part}:{part}|{_IPV4})"
    options = [f"(?:{part}:){{6}}{last}"]
    for before in range(8):  # groups before "::", at most
        start = f"(?:(?:{part}:){{0,{before - 1}}}{part})?" if before > 1 else f"(?:{part})?" if before else ""
        after = 5 - before
        rest = f"(?:{part}:){{{after}}}{last}" if after >= 0 else part if after == -1 else ""
        options.append(f"{start}::{rest}")
    return f"(?:{'|'.join(options)})"


_IPV6 = _ipv6()

_ALNUM = "[A-Za-z0-9]"
_INNER = "[A-Za-z0-9-]"


def _label(most: int, reserved: bool) -> str:
    """A label of RFC 1123 of at most ``most`` characters; without ``reserved`` ones (RFC 5890: ``--`` at 3 and 4)."""
    if most == 1:
        return _ALNUM
    if reserved or most < 4:
        return f"{_ALNUM}(?:{_INNER}{{0,{most - 2}}}{_ALNUM})?"
    long = f"|{_INNER}(?:{_ALNUM}{_INNER}|-{_ALNUM}){_INNER}{{0,{most - 5}}}{_ALNUM}" if most > 4 else ""
    return f"{_ALNUM}(?:{_ALNUM}|{_INNER}{_ALNUM}|{_INNER}{{2}}{_ALNUM}{long})?".replace(
        f"|{_INNER}{{2}}{_ALNUM}", rf"|{_INNER}(?:{_ALNUM}|-){_ALNUM}")


def _hostname(reserved: bool) -> str:
    """RFC 1123 section 2.1. Of at most 253 characters in all: ``LENGTHS``."""
    label = _label(63, reserved)
    return rf"{label}(?:\.{label})*"


def _few_labels() -> str:
    """Names of labels in sets that stay below 253 characters for sure: no sum is counted beside ``idn_hostname``."""
    full, last, middle, short, tiny = (_label(most, reserved=False) for most in (63, 61, 25, 15, 4))
    return (rf"(?:(?:{full}\.){{0,2}}{full}|(?:{full}\.){{3}}{last}|{full}(?:\.{middle}){{0,7}}"
            rf"|{short}(?:\.{short}){{0,14}}|{tiny}(?:\.{tiny}){{0,49}})")


_FEW_LABELS = _few_labels()

# -- RFC 5321, RFC 6531 -----------------------------------------------------------------------------------------------

#: Beyond ASCII: what RFC 6531 adds to each set of characters.
_BEYOND = "\\u0080-\\U0010ffff"


def _email(beyond: str) -> str:
    """Mailbox of RFC 5321 section 4.1.2; its sizes are limits, no syntax. Of the address literals, those with a tag
    other than IPv6 are left out: none is registered."""
    atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{beyond}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{beyond}]|\\[ -~])*"'
    label = rf"[A-Za-z0-9{beyond}](?:[A-Za-z0-9{beyond}-]*[A-Za-z0-9{beyond}])?"
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{label}(?:\.{label})*|\[(?:{_IPV4}|IPv6:{_IPV6})\])"


# -- RFC 3986, RFC 3987, RFC 6570 -----------------------------------------------------------------------------------

_PERCENT = "%[0-9A-Fa-f]{2}"
#: ucschar and iprivate of RFC 3987 section 2.2.
_UCS = "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef" + "".join(
    f"\\U{plane:04x}{'1000' if plane == 14 else '0000'}-\\U{plane:04x}fffd" for plane in range(1, 15))
_PRIVATE = "\\ue000-\\uf8ff\\U000f0000-\\U000ffffd\\U00100000-\\U0010fffd"


def _uri(ucs: str, private: str, relative: bool) -> str:
    """URI (IRI with ``ucs``), or with ``relative`` a reference, which may be one."""
    free = rf"A-Za-z0-9._~{ucs}\-"
    marks = "!$&'()*+,;="
    pchar = f"(?:[{marks}{free}:@]|{_PERCENT})"
    not_colon = f"(?:[{marks}{free}@]|{_PERCENT})"
    host = rf"(?:\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[{marks}A-Za-z0-9._~:-]+)\]|(?:[{marks}{free}]|{_PERCENT})*)"
    authority = f"//(?:(?:[{marks}{free}:]|{_PERCENT})*@)?{host}(?::[0-9]*)?(?:/{pchar}*)*"
    absolute = f"/(?:{pchar}+(?:/{pchar}*)*)?"
    query = rf"(?:\?(?:[{marks}{free}:@/?{private}]|{_PERCENT})*)?(?:\#(?:[{marks}{free}:@/?]|{_PERCENT})*)?"
    whole = f"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|{absolute}|{pchar}+(?:/{pchar}*)*|){query}"
    if not relative:
        return whole
    return f"(?:{whole}|(?:{authority}|{absolute}|{not_colon}+(?:/{pchar}*)*|){query})"


def _uri_template() -> str:
    literal = rf"(?:[!#$&'(-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|{_PERCENT})"
    varchar = f"(?:[A-Za-z0-9_]|{_PERCENT})"
    variable = rf"{varchar}(?:\.?{varchar})*(?:\*|:[1-9][0-9]{{0,3}})?"
    return rf"(?:{literal}|\{{[+\#./;?&=,!@|]?{variable}(?:,{variable})*\}})*"


_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_HEX = "[0-9A-Fa-f]"

#: Pattern of each format.
FORMATS: dict[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}[Tt]{_TIME}",
    "duration": _DURATION,
    "email": _email(""),
    "idn-email": _email(_BEYOND),
    "hostname": _hostname(reserved=False),
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uri": _uri("", "", relative=False),
    "uri-reference": _uri("", "", relative=True),
    "iri": _uri(_UCS, _PRIVATE, relative=False),
    "iri-reference": _uri(_UCS, _PRIVATE, relative=True),
    "uri-template": _uri_template(),
    "uuid": f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",  # RFC 4122 section 3, any version
    "json-pointer": f"(?s:{_POINTER})",  # RFC 6901 section 3
    "relative-json-pointer": f"(?s:(?:0|[1-9][0-9]*)(?:\\#|(?:[-+][1-9][0-9]*)?{_POINTER}))",
    "byte": "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",  # RFC 4648 section 4
    "binary": "(?s:.*)",
}

#: Where an older draft means something else.
_OLDER: dict[tuple[str, str], str] = {
    ("hostname", "4"): _hostname(reserved=True),
    ("hostname", "6"): _hostname(reserved=True),
    ("relative-json-pointer", "7"): f"(?s:(?:0|[1-9][0-9]*)(?:\\#|{_POINTER}))",
}


#: Characters of a format's strings, where its pattern does not count them.
LENGTHS = {"hostname": (1, 253)}

#: Formats that stay trees.
_TREES = frozenset(("binary",))


def _patterns() -> dict[str, str]:
    """Pattern of each format, and of ``format@draft`` where a draft has its own."""
    return {**FORMATS, "regex": ecma_pattern(), **{f"{name}@{draft}": found for (name, draft), found in _OLDER.items()}}


def tabled() -> Iterator[tuple[str, Dfa]]:
    """The formats that are kept as automata, made from their patterns."""
    limits = Limits()
    for name, pattern in _patterns().items():
        if name.partition("@")[0] not in _TREES:
            yield name, minimise(determinise(simplify(parse_python(pattern, limits)), limits))


def latest_alike(name: str, draft: str) -> str:
    """The latest draft that means by format ``name`` what ``draft`` does."""
    return draft if (name, draft.removeprefix("draft")) in _OLDER else "2020-12"


def more(name: str, draft: str = "2020-12") -> More | None:
    """What format ``name`` has beyond what ``format_language`` says of it; None where that is all."""
    if withheld(name, draft) is None:
        return None
    return more_of(name, _hostname(reserved=True), _DATE)


def withheld(name: str, draft: str = "2020-12") -> str | None:
    """Which valid strings of a format are not offered; None where all are."""
    return None if (name, draft.removeprefix("draft")) in _OLDER and name == "hostname" else RESTRICTED.get(name)


def format_language(name: str, draft: str = "2020-12") -> tuple[Node | None, Dfa | None]:
    """The strings of format ``name`` in ``draft`` ("draft4" to "draft7", "2019-09", "2020-12"): a tree or an automaton.
    ``LENGTHS`` bounds them.

    Neither where the format is unknown, or one of numbers.
    """
    draft = draft.removeprefix("draft")
    if name == "idn-hostname":
        return alternation([idn_hostname(), simplify(parse_python(_FEW_LABELS, Limits()))]), None
    key = f"{name}@{draft}" if (name, draft) in _OLDER else name
    if name in _TREES:
        return simplify(parse_python(_patterns()[key], Limits())), None
    if key not in DATA:
        return None, None
    return None, unpacked(DATA[key])
