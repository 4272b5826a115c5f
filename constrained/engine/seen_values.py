"""JSON values written before, and whether the text of another one may still become equal to one of them.

Values
    ``SeenValues`` grows by one value at a time and never changes: it is a length and a log that all lengths share, so
    adding costs the size of the value, and copies of a text that part from each other copy the log once. Values are
    kept in canonical form (``canonical_value``), in which equality is JSON Schema's: numbers are exact, so 1, 1.0 and
    1e0 are one; members have no order.

Pursuits
    A *pursuit* is where a text stands that may still spell a seen value. It is an immutable tuple; ``pursue`` gives
    the one after a byte, or None once no seen value can come of it, which is soon the case. Strings follow a tree of
    all seen strings, numbers keep their text, and arrays and objects follow each seen one of their kind on its own
    (``_follow``): in whatever order members come, and however characters are escaped.

Cost: a byte of a string or number about 1 us, whatever the number of seen values; one of an array or object as much
for each seen one that begins alike.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from constrained.errors import GrammarLimitError

__all__ = [
    "EMPTY", "NUMBER_BYTES", "WHITESPACE", "Pursuit", "SeenValues", "canonical_value", "next_bytes", "pursue", "spells",
]

WHITESPACE = frozenset(b" \t\n\r")
NUMBER_BYTES = frozenset(b"0123456789+-.eE")
MAX_DEPTH = 500
"""Nesting of a value that can be kept."""

NEVER = 1 << 60
"""The place of a value that is not there."""

Canonical = Any
"""None, True, False, a str, ``("number", negative, digits, exponent)``, ``("array", values)`` or ``("object", frozenset
of (name, value))``."""

Pursuit = tuple[Any, ...]
"""("string", node, bytes of an unfinished character), ("number", text), ("word", what is left of it, parent), ("boxes",
positions in each seen array or object of which this may become another) or ("done",)."""

DONE: Pursuit = ("done",)
WORDS: dict[int, tuple[bytes, Canonical]] = {0x74: (b"rue", True), 0x66: (b"alse", False), 0x6E: (b"ull", None)}


# ---- values ---------------------------------------------------------------------------------------------


def canonical_value(text: bytes) -> Canonical:
    """The canonical form of a JSON text. Raises ``GrammarLimitError`` for one nested too deeply to be compared."""
    try:
        value = json.loads(text, parse_float=_number, parse_int=_number, object_pairs_hook=_Members)
        return _canonical(value, 0)
    except RecursionError:
        raise _too_deep() from None


class _Members(list[tuple[str, Any]]):
    """The members of an object, told from an array."""


def _canonical(value: Any, depth: int) -> Canonical:
    """Recurses ``MAX_DEPTH`` deep at most."""
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, _Members):
        return "object", frozenset([(name, _canonical(inner, depth + 1)) for name, inner in value])
    if isinstance(value, list):
        return "array", tuple([_canonical(inner, depth + 1) for inner in value])
    return value


def _too_deep() -> GrammarLimitError:
    return GrammarLimitError("max_nesting", MAX_DEPTH, "an item of an array of different items is nested too deeply")


def _number(text: str) -> Canonical:
    """``digits`` times ten to the ``exponent``, without zeros at either end of the digits."""
    mantissa, _, power = text.replace("E", "e").partition("e")
    negative = mantissa.startswith("-")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    if not short:
        return "number", False, "", 0
    return "number", negative, short, int(power or "0") - len(fraction) + len(digits) - len(short)


class _Node:
    """A node of a tree of strings, character by character. ``first``: the place of the first string below it."""

    __slots__ = ("end", "first", "inner")

    def __init__(self, first: int) -> None:
        self.inner: dict[str, _Node] = {}
        self.first = first
        self.end = NEVER  # the place of the string that ends here

    def add(self, text: str, place: int) -> None:
        self.first = min(self.first, place)
        node = self
        for char in text:
            after = node.inner.get(char)
            if after is None:
                after = node.inner[char] = _Node(place)
            node = after
        node.end = min(node.end, place)


class _Log:
    """What all lengths of one growing set share."""

    __slots__ = ("boxes", "digits", "places", "strings", "values")

    def __init__(self) -> None:
        self.values: list[Canonical] = []
        self.places: dict[Any, int] = {}  # (type, value): True is no 1
        self.strings = _Node(NEVER)
        self.digits = _Node(NEVER)  # of all numbers
        self.boxes: list[tuple[int, Canonical]] = []  # arrays and objects

    def append(self, value: Canonical) -> None:
        place = len(self.values)
        self.values.append(value)
        self.places[type(value), value] = place
        if isinstance(value, str):
            self.strings.add(value, place)
        elif isinstance(value, tuple):
            if value[0] == "number":
                self.digits.add(value[2], place)
            else:
                self.boxes.append((place, value))


class SeenValues:
    """A set of canonical values; see the module docstring. ``longest``: bytes of the longest text added."""

    __slots__ = ("count", "log", "longest")

    def __init__(self, log: _Log | None = None, count: int = 0, longest: int = 0) -> None:
        self.log = log or _Log()
        self.count = count
        self.longest = longest

    def __contains__(self, value: Canonical) -> bool:
        return self.log.places.get((type(value), value), NEVER) < self.count

    def add(self, text: bytes) -> SeenValues:
        """This set and the value of a JSON text, which is not in it. Raises as ``canonical_value``."""
        value = canonical_value(text)
        log = self.log
        if self.count == 0 or len(log.values) != self.count:  # or another text went on from here
            kept = log.values[: self.count]
            log = _Log()
            for one in kept:
                log.append(one)
        log.append(value)
        return SeenValues(log, self.count + 1, max(self.longest, len(text)))


EMPTY = SeenValues()


# ---- pursuits -------------------------------------------------------------------------------------------


def pursue(at: Pursuit | None, byte: int, seen: SeenValues) -> Pursuit | None:
    """Where a text of an item stands after one more byte; ``at`` None: before its first. None: nothing seen fits.

    Whitespace before the item is not part of it, and the byte behind a number is not given: see ``spells``.
    """
    if at is None:
        return _begin(byte, seen)
    kind = at[0]
    if kind == "string":
        node, pending = at[1], at[2]
        if byte == 0x22 and not pending:
            return DONE if node.end < seen.count else None
        found = _character(node, pending, byte, seen.count)
        return None if found is None else ("string", *found)
    if kind == "number":
        text = at[1] + chr(byte)
        return ("number", _shortened(text)) if _may_be(text, seen.log.digits, seen.count) else None
    if kind == "word":
        rest = at[1]
        if byte != rest[0]:
            return None
        return ("word", rest[1:]) if len(rest) > 1 else DONE
    if kind == "boxes":
        places = [after for place in at[1] if (after := _follow(place, byte)) is not None]
        if not places:
            return None
        return DONE if places[0] is DONE else ("boxes", tuple(places))
    return None  # done: nothing may follow


def spells(at: Pursuit | None, seen: SeenValues) -> bool:
    """Whether the text up to here is a whole seen value; of a number: if it ends here."""
    if at is None:
        return False
    if at[0] == "number":
        return bool(_is_whole(at[1]) and _number(at[1]) in seen)
    return bool(at[0] == "done")


def next_bytes(at: Pursuit) -> frozenset[int] | None:
    """The bytes after which ``pursue`` may go on or come to an end; None where that is not told."""
    if at[0] == "string":
        return _first_bytes(at[1]) if not at[2] else None
    if at[0] != "boxes":
        return None
    found: frozenset[int] = frozenset()
    for place in at[1]:
        if place[0] not in ("text", "name") or place[2]:
            return None
        found |= _first_bytes(place[1])
    return found


def _first_bytes(node: _Node) -> frozenset[int]:
    return frozenset([0x22, 0x5C, *(char.encode("utf-8", "surrogatepass")[0] for char in node.inner)])


def _begin(byte: int, seen: SeenValues) -> Pursuit | None:
    log, count = seen.log, seen.count
    if byte == 0x22:
        return ("string", log.strings, b"") if log.strings.first < count else None
    if byte in NUMBER_BYTES:
        return ("number", chr(byte)) if _may_be(chr(byte), log.digits, count) else None
    if byte in WORDS:
        word, value = WORDS[byte]
        return ("word", word) if value in seen else None
    kind, start = ("array", _in_array) if byte == 0x5B else ("object", _in_object)
    places = [start(value[1], None) for place, value in log.boxes if place < count and value[0] == kind]
    return ("boxes", tuple(places)) if places else None


def _is_whole(text: str) -> bool:
    return text[-1].isdecimal()


def _may_be(text: str, digits: _Node, count: int) -> bool:
    """Whether a number that begins so may be one of those in a tree of digits: its first digits are theirs."""
    node = digits
    if node.first >= count:
        return False
    mantissa = text.replace("E", "e").partition("e")[0]
    for char in mantissa.replace(".", "").lstrip("-0").rstrip("0"):
        after = node.inner.get(char)
        if after is None or after.first >= count:
            return False
        node = after
    return True


def _shortened(text: str) -> str:
    """A zero stays zero whatever its exponent: such texts are one."""
    mantissa, mark, power = text.replace("E", "e").partition("e")
    return "0e0" if mark and power[-1:].isdecimal() and not mantissa.strip("-0.") else text


def _character(node: _Node, pending: bytes, byte: int, count: int) -> tuple[_Node, bytes] | None:
    """One byte of a string's inside in a tree of strings: the node, and the bytes of an unfinished character."""
    if not pending and byte < 0x80 and byte != 0x5C:
        after = node.inner.get(chr(byte))
        return None if after is None or after.first >= count else (after, b"")
    pending += bytes((byte,))
    begins = False
    for char, after in node.inner.items():
        if after.first < count:
            fits = _fit(char, pending)
            if fits == 2:
                return after, b""
            begins = begins or fits == 1
    return (node, pending) if begins else None


@lru_cache(4096)
def _fit(char: str, pending: bytes) -> int:
    """2: ``pending`` spells the character; 1: it begins to; 0: neither."""
    if pending[:2] == b"\\u":
        pending = pending[:2] + pending[2:].lower().replace(b"\\U", b"\\u")
    for spelling in _spellings(char):
        if spelling.startswith(pending):
            return 2 if len(spelling) == len(pending) else 1
    return 0


@lru_cache(4096)
def _spellings(char: str) -> tuple[bytes, ...]:
    """All ways to write a character in a JSON string, hexadecimal digits in lower case."""
    code = ord(char)
    if code > 0xFFFF:
        high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
        return char.encode(), b"\\u%04x\\u%04x" % (high, low)
    found = [b"\\u%04x" % code]
    if char in '"\\/':
        found.append(b"\\" + char.encode())
    elif char in "\b\f\n\r\t":
        found.append(b"\\" + b"bfnrt"["\b\f\n\r\t".index(char)].to_bytes())
    if code >= 0x20 and char not in '"\\' and not 0xD800 <= code < 0xE000:
        found.append(char.encode())
    return tuple(found)


# ---- inside arrays and objects --------------------------------------------------------------------------
#
# A place in one seen array or object: a tuple whose last part is the place to go on from when what it reads is over,
# None where that is the whole value.


def _in_array(values: tuple[Canonical, ...], after: Any) -> Pursuit:
    return "items", values, 0, False, after


def _in_object(members: frozenset[tuple[str, Canonical]], after: Any) -> Pursuit:
    return "members", members, frozenset([name for name, _ in members]), False, after


@lru_cache(1024)
def _tree(names: frozenset[str]) -> _Node:
    tree = _Node(NEVER)
    for name in names:
        tree.add(name, 0)
    return tree


def _follow(at: Any, byte: int) -> Any:
    """The place in a seen array or object after a byte, ``DONE`` behind its last, None where the text is another."""
    while True:
        kind = at[0]
        if kind == "value":  # before a value
            if byte in WHITESPACE:
                return at
            value, after = at[1], at[2]
            if isinstance(value, str):
                return ("text", _tree(frozenset((value,))), b"", after) if byte == 0x22 else None
            if not isinstance(value, tuple):
                return ("word", WORDS[byte][0], after) if byte in WORDS and WORDS[byte][1] is value else None
            if value[0] == "number":
                return ("digits", value, chr(byte), after) if byte in NUMBER_BYTES else None
            if value[0] == "array":
                return _in_array(value[1], after) if byte == 0x5B else None
            return _in_object(value[1], after) if byte == 0x7B else None
        if kind == "text":
            node, pending, after = at[1:]
            if byte == 0x22 and not pending:
                return (after or DONE) if node.end == 0 else None
            found = _character(node, pending, byte, 1)
            return None if found is None else ("text", *found, after)
        if kind == "word":
            rest, after = at[1:]
            if byte != rest[0]:
                return None
            return ("word", rest[1:], after) if len(rest) > 1 else (after or DONE)
        if kind == "digits":
            value, text, after = at[1:]
            if byte in NUMBER_BYTES:
                text += chr(byte)
                return ("digits", value, _shortened(text), after) if _may_be(
                    text, _tree(frozenset((value[2],))), 1) else None
            if not _is_whole(text) or _number(text) != value:
                return None
            at = after  # a number is over with the byte behind it, which belongs to what is around it
            continue
        if kind == "items":  # before an item or behind it
            _, values, done, between, after = at
            if byte in WHITESPACE:
                return at
            if byte == 0x5D:
                return (after or DONE) if done == len(values) else None
            if done == len(values):
                return None
            if between:
                return ("value", values[done], ("items", values, done + 1, True, after)) if byte == 0x2C else None
            at = ("value", values[0], ("items", values, 1, True, after))
            continue
        if kind == "members":  # before a member or behind it
            _, members, names, between, after = at
            if byte in WHITESPACE:
                return at
            if byte == 0x7D:
                return (after or DONE) if not names else None
            if not names:
                return None
            if between:
                return ("comma", members, names, after) if byte == 0x2C else None
            at = ("comma", members, names, after)
            continue
        if kind == "comma":
            if byte in WHITESPACE:
                return at
            return ("name", _tree(at[2]), b"", "", *at[1:]) if byte == 0x22 else None
        if kind == "name":
            _, node, pending, read, members, names, after = at
            if byte == 0x22 and not pending:
                if node.end != 0:
                    return None
                value = dict(members)[read]
                return "colon", value, ("members", members, names - {read}, True, after)
            found = _character(node, pending, byte, 1)
            if found is None:
                return None
            if found[0] is not node:
                read += next(char for char, inner in node.inner.items() if inner is found[0])
            return ("name", *found, read, members, names, after)
        assert kind == "colon"
        if byte in WHITESPACE:
            return at
        return ("value", at[1], at[2]) if byte == 0x3A else None
