# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Nodes of the grammar for ``direct``, made without a look-up; and how strings, names and members are written.

A string that needs no escapes is written alike under every policy, which a loop over its bytes shows; all others go
through ``spelling``. Cost: 0.1 us a node, 0.2 us a name.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.free_keys import any_key, other_keys
from constrained.frontends.json_schema.spelling import joined_surrogates, json_literal
from constrained.grammar.ir import Graph

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_text import look_of
    from cython.cimports.constrained.grammar.keys import KeyDfa
    from cython.cimports.constrained.kernel.nodes import (
        ByteDfa,
        Choice,
        Literal,
        Reference,
        Repeat,
        Sequence,
        Unordered,
    )
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.long import PyLong_FromVoidPtr
    from cython.cimports.cpython.unicode import PyUnicode_DATA
    from cython.cimports.libc.string import memcmp, memcpy, memset
else:
    from constrained.grammar.keys import KeyDfa
    from constrained.kernel.nodes import ByteDfa, Choice, Literal, Reference, Repeat, Sequence, Unordered

EMPTY = Literal(b"")
QUOTE = Literal(b'"')
_plain: bytes = bytes([c for c in range(0x20, 0x7F) if c not in b'"\\'])
"""The characters that have one spelling in a string."""
FEW_KEYS = cython.declare(cython.Py_ssize_t, 12)
"""Names that are put in order one by one."""
MOST_TEXTS = cython.declare(cython.Py_ssize_t, 255)
"""Texts that are told apart without a set of all."""
MOST_NUMBERED = cython.declare(cython.Py_ssize_t, 256)
_numbered: dict = {kind: [None] * MOST_NUMBERED for kind in ("string", "number", "key")}
"""Names of rules by their kind and number, which are one object each, whose hash is known."""
_few_numbers: list = [None] * 256
"""Sets of numbers below 8, by their bits."""
MANY_SKIPPED = cython.declare(cython.Py_ssize_t, 128)


@cython.cfunc
def sequence(items: tuple) -> Sequence:
    node: Sequence = Sequence.__new__(Sequence)
    node.kind = 3
    node.items = items
    return node


@cython.cfunc
def reference(name: str) -> Reference:
    node: Reference = Reference.__new__(Reference)
    node.kind = 6
    node.name = name
    return node


@cython.cfunc
def numbered(kind: str, number: cython.Py_ssize_t) -> str:
    """The name of a rule of a kind of which there are more."""
    known = _numbered.get(kind)
    if number >= MOST_NUMBERED or known is None:
        return f"{kind} {number}"
    names: list = known
    found = names[number]
    if found is None:
        names[number] = found = f"{kind} {number}"
    return found


@cython.cfunc
def numbers_of(numbers: list) -> frozenset:
    """A set of numbers; of small ones it is there already."""
    bits: cython.int = 0
    number: cython.Py_ssize_t
    for number in numbers:
        if number >= 8:
            return frozenset(numbers)
        bits |= 1 << number
    found = _few_numbers[bits]
    if found is None:
        _few_numbers[bits] = found = frozenset(numbers)
    return found


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_different(texts: tuple) -> cython.int:
    """Whether no text is there twice. Only those that look alike are compared."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    look: cython.int
    text: str
    if cython.compiled and len(texts) <= MOST_TEXTS:
        # the text of such a look that came last, from 1 on, 0: there was none; and of each text the one before it
        last = cython.declare(cython.uchar[256])
        before = cython.declare(cython.uchar[256])
        memset(last, 0, 256)
        for i in range(len(texts)):
            text = texts[i]
            if len(text) < 2 or not text.isascii():
                look = len(text) & 255
            else:
                look = look_of(cython.cast(cython.p_uchar, PyUnicode_DATA(text)), 0, len(text))
            k = last[look]
            before[i] = cython.cast(cython.uchar, k)
            last[look] = cython.cast(cython.uchar, i + 1)
            while k > 0:
                if text == cython.cast(str, texts[k - 1]):
                    return False
                k = before[k - 1]
        return True
    return len(set(texts)) == len(texts)


@cython.cfunc
def choice(options: list):
    node: Choice
    if len(options) == 1:
        return options[0]
    node = Choice.__new__(Choice)
    node.kind = 4
    node.options = tuple(options)
    return node


@cython.cfunc
def either(one, other) -> Choice:
    node: Choice = Choice.__new__(Choice)
    node.kind = 4
    node.options = (one, other)
    return node


@cython.cfunc
def in_spaces(brackets: tuple, space, inside, may_be_empty: cython.bint):
    """Brackets around what ``inside`` writes, which is never empty.

    ``brackets``: the first, the last, both with ``space`` between, and ``space`` before the last, a part of many
    sequences.
    """
    if may_be_empty:
        return sequence((brackets[0], space, either(sequence((inside, brackets[3])), brackets[1])))
    return sequence((brackets[0], space, inside, brackets[3]))


@cython.cfunc
@cython.inline
def mark(thing):
    """The identity of an object, as ``id``."""
    if cython.compiled:
        return PyLong_FromVoidPtr(cython.cast(cython.p_void, thing))
    return id(thing)


@cython.cfunc
@cython.exceptval(-1, check=False)
def needs_no_escapes(text: str) -> cython.int:
    """Whether a string of JSON has one spelling, however it is written."""
    if not text.isascii():
        return False
    if cython.compiled:
        return dn_plain(cython.cast(cython.p_uchar, PyUnicode_DATA(text)), len(text))  # noqa: F821 - the .pxd
    return not text.encode().translate(None, _plain)


@cython.cfunc
def plain_literal(text: str):
    """A string of JSON that needs no escapes, however it is written; None: it needs some."""
    if not needs_no_escapes(text):
        return None
    node: Literal = Literal.__new__(Literal)
    node.kind = 1
    if cython.compiled:
        size: cython.Py_ssize_t = len(text)
        data: bytes = PyBytes_FromStringAndSize(cython.NULL, size + 2)
        p: cython.p_char = data
        p[0] = 0x22
        memcpy(p + 1, PyUnicode_DATA(text), size)  # of ASCII, a byte a character
        p[size + 1] = 0x22
        node.data = data
    else:
        node.data = b'"' + text.encode() + b'"'
    return node


@cython.cfunc
def key_literal(name: str):
    """A name in its canonical spellings."""
    found = plain_literal(name)
    return json_literal(name) if found is None else found


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def is_above(one: bytes, other: bytes) -> cython.int:
    """``one > other``."""
    if cython.compiled:
        order: cython.int = memcmp(
            cython.cast(cython.p_char, one), cython.cast(cython.p_char, other), min(len(one), len(other)))
        return order > 0 or (order == 0 and len(one) > len(other))
    return one > other


@cython.cfunc
@cython.exceptval(-1, check=True)
def look_of_names(names) -> cython.longlong:
    """A hash of a set, or of the names of a dict, that is the same however they are ordered."""
    look: cython.longlong = 0
    if type(names) is dict:
        for name in cython.cast(dict, names):
            look += hash(name)
    else:
        for name in cython.cast(frozenset, names):
            look += hash(name)
    return look & 0x7FFF_FFFF_FFFF


@cython.cfunc
@cython.exceptval(-1, check=False)
def have_same_names(names, others) -> cython.int:
    """Whether two sets, or dicts, have the same names."""
    if len(names) != len(others):
        return False
    for name in others:  # noqa: SIM110 - no generator
        if name not in names:
            return False
    return True


@cython.cfunc
def key_texts(out):
    """Any string but ``out``, a set or a dict."""
    keys: list = [None] * len(out)
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    if type(out) is dict:  # in its own way, which is quicker
        for one in cython.cast(dict, out):
            keys[n] = one
            n += 1
    else:
        for one in cython.cast(frozenset, out):
            keys[n] = one
            n += 1
    for n in range(len(keys)):
        name: str = keys[n]
        if not needs_no_escapes(name):
            return sequence((QUOTE, other_keys(frozenset(out if "".join(out).isascii() else map(
                joined_surrogates, out)))))
        if cython.compiled:
            key: bytes = PyBytes_FromStringAndSize(cython.cast(cython.p_char, PyUnicode_DATA(name)), len(name))
        else:
            key = name.encode("ascii")
        i = n
        if i < FEW_KEYS:  # the sort of the language is much code for a few
            while i > 0 and is_above(cython.cast(bytes, keys[i - 1]), key):
                keys[i] = keys[i - 1]
                i -= 1
        keys[i] = key
    if len(keys) > FEW_KEYS:
        keys.sort()
    strings: ByteDfa = any_key()
    dfa: KeyDfa = KeyDfa.__new__(KeyDfa)
    dfa.kind = 10
    dfa.strings = strings
    dfa.accepting = strings.accepting
    dfa.keys = tuple(keys)
    dfa.closing = 0x22
    if not cython.compiled:
        dfa.written = dfa.block = None
    return sequence((QUOTE, dfa))


@cython.cfunc
def place_of(base: str, keyword, name) -> str:
    """The JSON Pointer of what stands under ``name`` of ``keyword`` of ``base``."""
    if keyword is None:
        return base
    if name is None:
        return f"{base}/{keyword}"
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{base}/{keyword}/{name}"


@cython.cfunc
@cython.exceptval(check=False)
def _longest_run(standing: list, members: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The most members between two that must come."""
    i: cython.Py_ssize_t
    behind: cython.Py_ssize_t = 0
    longest: cython.Py_ssize_t = 0
    for i in standing:
        longest = max(longest, i - behind)
        behind = i + 1
    return max(longest, members - behind)


def in_order(members: list, standing: list, free, separator) -> tuple:
    """``(inside, may be empty)``: members in their order, those numbered ``standing`` must come; then any number of
    free ones. ``inside`` None: there are none.

    An automaton that reads each member once: in state ``2 i`` one of the members from ``i`` on must come, in state
    ``2 i + 1``, behind member ``i``, a separator or the end. Where many may be skipped at once that would be a look at
    all of them behind each: then they are a group that the engine counts through.
    """
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    last: cython.Py_ssize_t = len(members) - 1
    must: cython.Py_ssize_t = 0
    if last < 0:
        return None if free is None else Sequence((free, Repeat(Sequence((separator, free)), 0, None))), True
    parts: list = []
    if free is None and len(standing) == last + 1:
        for member in members:
            parts.append(member)
            parts.append(separator)
        parts.pop()
        return sequence(tuple(parts)), False
    if last >= MANY_SKIPPED and _longest_run(standing, last + 1) >= MANY_SKIPPED:
        return Unordered(tuple(members), frozenset(standing), separator, free, 1, None, True), not standing
    accepting: list = []
    for i in range(last + 1):
        member = members[i]
        place = 2 * i
        if must < len(standing) and standing[must] == i:
            must += 1
            accepting.clear()
            parts.append(((member, place + 1),))
        elif i < last or free is not None:
            parts.append(((member, place + 1), (EMPTY, place + 2)))
        else:
            parts.append(((member, place + 1),))
        parts.append(((separator, place + 2),) if i < last or free is not None else ())
        accepting.append(place + 1)
    if free is not None:
        place = 2 * last
        parts.append(((free, place + 3),))
        parts.append(((separator, place + 2),))
        accepting.append(place + 3)
    return Graph(tuple(parts), frozenset(accepting)), not standing
