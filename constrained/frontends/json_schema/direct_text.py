# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The text of a schema, read as ``json.loads`` reads it, and whether anything in it is named: for ``direct``.

Texts that only tell people something (``description``, ``title``, ``$comment``, a ``default``) are read over: they are
half of most schemas, and no rule depends on them. They stay where they may be something else: among the names of a
keyword that holds schemas by name, and in values that are compared.

One pass over the text's bytes, sixteen at a time within strings. Names of keywords and of types are one object each,
whose hash is known, so that looking for them compares identities; other strings that are equal mostly are one object,
too, and so are all the objects that say a type and nothing else (``_TYPED``: nobody may change what is read). All other
values are what ``json`` makes of them, floats as decimals. On the way the keys are seen that could give a reference
another meaning than a pointer from the root (``document``): no second walk.

``_names`` holds the names in pieces of ``ROOM`` bytes: how long a name is, its bytes, at ``KIND`` which type it is the
name of, and at ``WATCH`` what it is watched for; ``_known`` the objects. Those that nearly all schemas have come first,
so that few lines of memory are touched. ``_slots`` has the number of a name, from 1 on, by a hash of its ends. ``met``
finds other strings of the text by that hash: the place in ``made`` behind the one where such a string is, 0: there was
none.

Only what is plain is read here. Anything that ``json`` would refuse, or words in a way of its own (a control
character, an integer of 19 digits, a lone surrogate in the text, more than ``DEEPEST`` levels), is left to it.

Invariant: what is read equals ``json.loads(text, parse_float=Decimal)`` without those texts, the order of members
included. A reference to one is wrong either way.
Cost: 18 instructions a byte (means of 745 schemas under callgrind).
"""

from __future__ import annotations

from decimal import Decimal
from json.decoder import scanstring
from sys import intern

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_pointers
    from cython.cimports.cpython.unicode import PyUnicode_AsUTF8, PyUnicode_DATA, PyUnicode_New
    from cython.cimports.libc.string import memcmp, memcpy

DEEPEST = cython.declare(cython.int, 200)
"""Containers inside each other."""
DEEPEST_NOTES = cython.declare(cython.int, 64)
"""Containers in which notes are read over."""
LONGEST_NAME = cython.declare(cython.int, 21)
SLOTS = cython.declare(cython.int, 256)
ROOM = cython.declare(cython.int, 24)
KIND = cython.declare(cython.int, 22)
WATCH = cython.declare(cython.int, 23)
LONGEST_MET = cython.declare(cython.Py_ssize_t, 80)
"""Of strings that are looked for among those of before."""
MOST_MET = cython.declare(cython.Py_ssize_t, 65_000)

REFERS = cython.declare(cython.int, 1)
ELSEWHERE = cython.declare(cython.int, 2)
OLD_ID = cython.declare(cython.int, 4)
NEW_ID = cython.declare(cython.int, 8)
RARELY = cython.declare(cython.int, 16)
NOTE = cython.declare(cython.int, 32)
DATA = cython.declare(cython.int, 64)
BY_NAME = cython.declare(cython.int, 128)
_WATCHED: dict = {
    "$ref": 1, "id": 4, "$id": 8,
    **dict.fromkeys("$anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor unevaluatedProperties "
                    "unevaluatedItems".split(), 16),
    **dict.fromkeys("description title default $comment".split(), 32),
    **dict.fromkeys("enum const".split(), 64),
    **dict.fromkeys("properties patternProperties definitions $defs dependencies dependentSchemas "
                    "dependentRequired".split(), 128)}
"""Keys that may name something, or that few documents have; notes, values, and what holds things by name."""
TYPE_KEY = cython.declare(cython.int, 8)
_KINDS: dict = {"string": 1, "number": 2, "integer": 3, "boolean": 4, "array": 5, "object": 6, "null": 7, "type": 8}
_NAMES = list(dict.fromkeys([
    *("type string properties description required object $ref items array integer boolean number title enum "
      "additionalProperties format $schema definitions null default anyOf oneOf allOf pattern minimum maximum "
      "minLength maxLength minItems maxItems uniqueItems not examples exclusiveMinimum exclusiveMaximum multipleOf "
      "minProperties maxProperties propertyNames if then else contains additionalItems prefixItems").split(),
    *_WATCHED]))
"""What nearly all schemas have first."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def look_of(p: cython.p_uchar, begin: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
    """Where a string of two bytes or more is looked for: a number below ``SLOTS``."""
    if cython.compiled:
        return dt_look(p + begin, size)  # noqa: F821 - the .pxd
    return (size * 11 + p[begin] * 5 + p[begin + size // 2] * 3 + p[begin + size - 1] * 19) & (SLOTS - 1)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def behind_spaces(p: cython.p_uchar, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The first place from ``at`` on that is no space of JSON; the NUL behind the text is one."""
    while p[at] <= 0x20 and (p[at] == 0x20 or p[at] == 0x0A or p[at] == 0x0D or p[at] == 0x09):
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def end_of(p: cython.p_uchar, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The first place from ``at`` on that is more than a character of a string, in a text of ``size`` bytes."""
    if cython.compiled:
        return dt_end(p, at, size)  # noqa: F821 - the .pxd
    while not _stops[p[at]]:
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_hex(c: cython.int) -> cython.bint:
    return 0x30 <= c <= 0x39 or 0x41 <= c <= 0x46 or 0x61 <= c <= 0x66


@cython.cfunc
def _placed(names: list) -> tuple:
    """The numbers of the names in their slots, or behind them where those are taken; the names as bytes and strings."""
    slot: cython.int
    slots: bytearray = bytearray(SLOTS)
    texts: bytearray = bytearray()
    known: list = []
    for name in names:
        data: bytes = name.encode()
        slot = look_of(data, 0, len(data))
        while slots[slot]:
            slot = (slot + 1) & (SLOTS - 1)
        known.append(intern(name))
        slots[slot] = len(known)
        texts += (bytes([len(data)]) + data).ljust(KIND, b"\0") + bytes([_KINDS.get(name, 0), _WATCHED.get(name, 0)])
    return bytes(slots), bytes(texts), known


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def name_at(p: cython.p_uchar, begin: cython.Py_ssize_t, size: cython.Py_ssize_t, slot: cython.int) -> cython.int:
    """The number, from 0 on, of the name that stands here, looked for from ``slot`` on; -1: it is none."""
    at: cython.int
    if cython.compiled:
        return dt_name(_slots, _names, p + begin, size, slot)  # noqa: F821 - the .pxd
    while _slots[slot]:
        at = (_slots[slot] - 1) * ROOM
        if _names[at] == size and _names[at + 1:at + 1 + size] == p[begin:begin + size]:
            return _slots[slot] - 1
        slot = (slot + 1) & (SLOTS - 1)
    return -1


_numbers: bytes
_held: bytes
_known: list
_numbers, _held, _known = _placed(_NAMES)
_slots = _numbers  # its bytes
_names = _held
_TYPED: list = [None, *({intern("type"): intern(name)} for name, kind in _KINDS.items() if kind < TYPE_KEY)]
"""The objects that say a type and nothing else, by its kind."""
if cython.compiled:
    _typed_ones = grow_pointers(cython.NULL, TYPE_KEY)  # their addresses
    for _kind in range(1, TYPE_KEY):
        _typed_ones[_kind] = cython.cast(cython.p_void, _TYPED[_kind])
_ends: bytes = bytes([c < 0x20 or c == 0x22 or c == 0x5C for c in range(256)])
_stops = _ends
"""Whether a byte is more than a character of a string."""


@cython.cfunc
@cython.exceptval(check=False)
def type_kind(value) -> cython.int:
    """Of an object of ``_TYPED`` the kind of its type; 0: it is none of them."""
    kind: cython.int
    for kind in range(1, TYPE_KEY):
        if cython.compiled:
            if cython.cast(cython.p_void, value) == _typed_ones[kind]:
                return kind
        elif value is _TYPED[kind]:
            return kind
    return 0


def known_names() -> list:
    """The names that are one object each."""
    return list(_known)


@cython.final
@cython.cclass
class TextReader:
    """Reads one text. ``value`` is what it says, ``seen`` the bits of the watched keys in it."""

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read(self, text: str) -> cython.int:
        """Whether the text was read."""
        data: bytes
        self.made = []
        self.ascii = text.isascii()
        if cython.compiled:
            if self.ascii:  # its characters are its bytes, and a NUL stands behind them
                return self.read_bytes(cython.cast(cython.p_uchar, PyUnicode_AsUTF8(text)), len(text))
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False
        if not cython.compiled:
            data += b"\0"  # C has it anyway
        return self.read_bytes(data, len(data) - (0 if cython.compiled else 1))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_bytes(self, p: cython.p_uchar, size: cython.Py_ssize_t) -> cython.int:
        c: cython.int
        at: cython.Py_ssize_t = 0
        self.seen = 0
        self.size = size
        begin: cython.Py_ssize_t
        watched: cython.int = 0
        kind: cython.int
        typed: cython.int = 0  # the kind of type that ``inside`` says, if that is all: then it is not made yet
        stack: list = []  # the containers around and their keys; what is behind ``depth`` is of no use
        depth: cython.Py_ssize_t = 0
        room: cython.Py_ssize_t = 0
        named: cython.bint = False  # ``inside`` is a dict
        noted: cython.bint = False  # whose notes are read over, as it is for those around by the bits of ``notes``
        notes: cython.ulonglong = 0
        one: cython.ulonglong = 1
        data: cython.Py_ssize_t = DEEPEST + 1  # the depth from which on all is a value
        odd: cython.bint = False  # there was a note that is no text
        inside: object = None
        key: str = None
        value: object = None
        while True:
            # a value begins behind the spaces here
            at = behind_spaces(p, at)
            c = p[at]
            kind = 0
            if noted and watched & NOTE and c != 0x22:
                odd = True
            if c == 0x22:
                if noted and watched & NOTE:
                    if not self.is_text(p, at + 1):
                        return False
                    if odd and inside is not None:  # of equal keys the last one stands
                        cython.cast(dict, inside).pop(key, None)
                    key = None
                else:
                    value = self.string(p, at + 1)
                    if value is None:
                        return False
                    if watched & (REFERS | OLD_ID | NEW_ID):
                        self.watch(watched, value, depth)
                    elif watched >> 8 == TYPE_KEY:
                        kind = self.watched >> 8
                at = self.at
            elif c == 0x7B or c == 0x5B:
                if depth >= DEEPEST:
                    return False
                begin = at
                at = behind_spaces(p, at + 1)
                c = p[at]
                if c != 0x7D if p[begin] == 0x7B else c != 0x5D:
                    if named and inside is None:
                        inside = begun(typed)
                        typed = 0
                    if depth < room:
                        stack[2 * depth] = inside
                        stack[2 * depth + 1] = key
                    else:
                        stack.append(inside)
                        stack.append(key)
                        room += 1
                    if watched & DATA and data > depth:
                        data = depth
                    if depth < DEEPEST_NOTES:
                        notes = notes & ~(one << depth) | (one << depth if noted else 0)
                    named = p[begin] == 0x7B
                    noted = named and not watched & BY_NAME and depth < data and depth + 1 < DEEPEST_NOTES
                    depth += 1
                    if not named:
                        inside = []
                        watched = 0
                        continue
                    inside = None  # until it says more than a type
                    key = self.key(p, at)
                    if key is None:
                        return False
                    at = self.at
                    watched = self.watched
                    continue
                value = {} if c == 0x7D else []
                at += 1
            elif c == 0x74 and p[at + 1] == 0x72 and p[at + 2] == 0x75 and p[at + 3] == 0x65:
                value = True
                at += 4
            elif (c == 0x66 and p[at + 1] == 0x61 and p[at + 2] == 0x6C and p[at + 3] == 0x73
                    and p[at + 4] == 0x65):
                value = False
                at += 5
            elif c == 0x6E and p[at + 1] == 0x75 and p[at + 2] == 0x6C and p[at + 3] == 0x6C:
                value = None
                at += 4
            else:
                value = self.number(p, at)
                if value is None:
                    return False
                at = self.at
            # the value ends here: it goes where it belongs, and so does what ends with it
            while depth > 0:
                at = behind_spaces(p, at)
                c = p[at]
                if named:
                    if key is not None:
                        if inside is None:
                            if 0 < kind < TYPE_KEY and typed == 0:
                                typed = kind
                            else:
                                inside = begun(typed)
                                typed = 0
                                cython.cast(dict, inside)[key] = value
                        else:
                            cython.cast(dict, inside)[key] = value
                    if c == 0x2C:
                        at += 1
                        key = self.key(p, at)
                        if key is None:
                            return False
                        at = self.at
                        watched = self.watched
                        break
                    if c != 0x7D:
                        return False
                    if inside is None:
                        inside = _TYPED[typed] if typed else {}
                        typed = 0
                else:
                    cython.cast(list, inside).append(value)
                    if c == 0x2C:
                        at += 1
                        break
                    if c != 0x5D:
                        return False
                value = inside
                kind = 0
                at += 1
                depth -= 1
                inside = stack[2 * depth]
                key = stack[2 * depth + 1]
                named = type(inside) is dict
                noted = depth < DEEPEST_NOTES and notes >> depth & 1
                if depth == data:
                    data = DEEPEST + 1
                watched = 0
            else:
                break
        if behind_spaces(p, at) < size:
            return False
        self.value = value
        return True

    @cython.cfunc
    def key(self, p: cython.p_uchar, at: cython.Py_ssize_t) -> str:
        """The key behind some spaces, and the colon; None: there is none."""
        at = behind_spaces(p, at)
        if p[at] != 0x22:
            return None
        found: str = self.string(p, at + 1)
        if found is None:
            return None
        if self.watched < 0:  # not told by its bytes
            self.watched = _WATCHED.get(found, 0)
        self.seen |= self.watched & (REFERS | RARELY)
        at = behind_spaces(p, self.at)
        if p[at] != 0x3A:
            return None
        self.at = at + 1
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def watch(self, watched: cython.int, value: str, depth: cython.Py_ssize_t) -> cython.int:
        """Looks at the text under a watched key."""
        if watched & REFERS:
            if value != "#" and not value.startswith("#/"):
                self.seen |= ELSEWHERE
        elif depth > 1:  # the root's own name changes nothing
            self.seen |= watched
        return 0

    @cython.cfunc
    def string(self, p: cython.p_uchar, begin: cython.Py_ssize_t) -> str:
        """The string whose quote stands before ``begin``; None: it is not plain. ``watched``: as a key."""
        at: cython.Py_ssize_t = end_of(p, begin, self.size)
        size: cython.Py_ssize_t
        look: cython.int
        number: cython.int
        c: cython.int = p[at]
        self.watched = 0
        if c == 0x22:
            self.at = at + 1
            size = at - begin
            if size > 1:
                look = look_of(p, begin, size)
                number = name_at(p, begin, size, look)
                if number >= 0:
                    self.watched = _names[number * ROOM + WATCH] | _names[number * ROOM + KIND] << 8
                    return cython.cast(str, _known[number])
                if cython.compiled and self.ascii:
                    return self.met_or_made(p + begin, size, look)
            return p[begin:at].decode("utf-8")
        if c != 0x5C:
            return None
        while c != 0x22:
            if c < 0x20:
                return None
            at += 1
            if c == 0x5C:
                if p[at] < 0x20:
                    return None
                at += 1
            c = p[at]
        self.at = at + 1
        self.watched = -1
        whole: str = self.unescaped(p, begin, at)
        if whole is not None:
            return whole
        try:
            found: object = scanstring(p[begin:at + 1].decode(), 0, True)
        except ValueError:
            return None
        return found[0]

    @cython.cfunc
    def met_or_made(self, p: cython.p_uchar, size: cython.Py_ssize_t, look: cython.int) -> str:
        """The string of two bytes of ASCII, or more."""
        made: str
        if cython.compiled:
            if self.met[look]:
                made = cython.cast(str, self.made[self.met[look] - 1])
                if len(made) == size and memcmp(PyUnicode_DATA(made), p, size) == 0:
                    return made
            made = PyUnicode_New(size, 0x7F)
            memcpy(PyUnicode_DATA(made), p, size)
            if size <= LONGEST_MET and len(self.made) < MOST_MET:
                self.made.append(made)
                self.met[look] = len(self.made)
            return made
        return ""

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_text(self, p: cython.p_uchar, begin: cython.Py_ssize_t) -> cython.int:
        """Whether a string is one whose quote stands before ``begin``."""
        at: cython.Py_ssize_t = begin
        while True:
            at = end_of(p, at, self.size)
            if p[at] == 0x22:
                self.at = at + 1
                return True
            if p[at] != 0x5C:
                return False
            at += 1
            if p[at] == 0x75:
                if not (is_hex(p[at + 1]) and is_hex(p[at + 2]) and is_hex(p[at + 3]) and is_hex(p[at + 4])):
                    return False
                at += 5
            elif p[at] != 0 and p[at] in b'"\\/bfnrt':
                at += 1
            else:
                return False

    @cython.cfunc
    def unescaped(self, p: cython.p_uchar, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> str:
        """What stands between two places, its escapes resolved; None: there are surrogates, or one is wrong."""
        data: bytearray = bytearray(end - begin)  # no escape is shorter than what it stands for
        q: cython.p_uchar = data
        n: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = begin
        c: cython.int
        code: cython.int
        while at < end:
            c = p[at]
            at += 1
            if c != 0x5C:
                q[n] = c
                n += 1
                continue
            c = p[at]
            at += 1
            if c == 0x6E:
                code = 0x0A
            elif c == 0x22 or c == 0x5C or c == 0x2F:
                code = c
            elif c == 0x74:
                code = 0x09
            elif c == 0x72:
                code = 0x0D
            elif c == 0x62:
                code = 0x08
            elif c == 0x66:
                code = 0x0C
            elif c == 0x75 and end - at >= 4:
                code = 0
                for i in range(4):
                    c = p[at + i]
                    if 0x30 <= c <= 0x39:
                        code = 16 * code + c - 0x30
                    elif 0x41 <= c <= 0x46 or 0x61 <= c <= 0x66:
                        code = 16 * code + (c & 0x0F) + 9
                    else:
                        return None
                at += 4
                if 0xD800 <= code <= 0xDFFF:
                    return None
            else:
                return None
            if code < 0x80:
                q[n] = code
                n += 1
            elif code < 0x800:
                q[n] = 0xC0 | code >> 6
                q[n + 1] = 0x80 | code & 0x3F
                n += 2
            else:
                q[n] = 0xE0 | code >> 12
                q[n + 1] = 0x80 | code >> 6 & 0x3F
                q[n + 2] = 0x80 | code & 0x3F
                n += 3
        return q[0:n].decode("utf-8")

    @cython.cfunc
    def number(self, p: cython.p_uchar, begin: cython.Py_ssize_t):
        """The number that begins here; None: it is not plain."""
        at: cython.Py_ssize_t = begin
        small: cython.longlong = 0
        if p[at] == 0x2D:
            at += 1
        first: cython.Py_ssize_t = at
        while 0x30 <= p[at] <= 0x39:
            if at - first < 18:
                small = small * 10 + (p[at] - 0x30)
            at += 1
        if at == first or (at - first > 1 and p[first] == 0x30):
            return None
        if p[at] != 0x2E and p[at] != 0x65 and p[at] != 0x45:
            self.at = at
            if at - first > 18:
                return None
            return -small if first > begin else small
        if p[at] == 0x2E:
            at += 1
            first = at
            while 0x30 <= p[at] <= 0x39:
                at += 1
            if at == first:
                return None
        if p[at] == 0x65 or p[at] == 0x45:
            at += 1
            if p[at] == 0x2B or p[at] == 0x2D:
                at += 1
            first = at
            while 0x30 <= p[at] <= 0x39:
                at += 1
            if at == first:
                return None
        self.at = at
        try:
            return Decimal(p[begin:at].decode())
        except ArithmeticError:  # an exponent that decimals do not have
            return None


@cython.cfunc
@cython.inline
def begun(typed: cython.int) -> dict:
    """The object that says a type of this kind, to which more is added; 0: it says nothing."""
    return cython.cast(dict, _TYPED[typed]).copy() if typed else {}


def read_text(text: str):
    """``(value, bits of the watched keys)`` of a text; None: it is left to ``json``."""
    reader: TextReader = TextReader.__new__(TextReader)
    if not reader.read(text):
        return None
    return reader.value, reader.seen


@cython.ccall
@cython.exceptval(-1, check=False)
def is_nameless(seen: cython.int, old_ids: cython.bint) -> cython.int:
    """Whether a text with these watched keys has no rare ones, and all its references are pointers from its root.

    ``old_ids``: whether ``id`` names a schema, not ``$id``.
    """
    if seen & RARELY:
        return False
    return not seen & REFERS or not seen & (ELSEWHERE | (OLD_ID if old_ids else NEW_ID))
