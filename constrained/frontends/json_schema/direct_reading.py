# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What a schema says, seen in one pass over its keywords: for ``direct``.

``bits_of`` tells what the keywords are about, ``types_of`` the types of the values. What a scalar says is its
*content*, a tuple that equal ones share in every document of a dialect. Nothing here looks into members and items.
Keywords have their shapes (``shapes``).
Cost: 0.05 us a keyword, 0.3 us a content.
"""

from __future__ import annotations

from decimal import Decimal

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.direct_text import known_names

if cython.compiled:
    from cython.cimports.constrained.kernel.memory import grow_long
    from cython.cimports.cpython.dict import PyDict_Next
    from cython.cimports.cpython.object import PyObject

OBJECT = cython.declare(cython.int, 1)
ARRAY = cython.declare(cython.int, 2)
STRING = cython.declare(cython.int, 4)
NUMBER = cython.declare(cython.int, 8)
INTEGER = cython.declare(cython.int, 16)
BOOLEAN = cython.declare(cython.int, 32)
NULL = cython.declare(cython.int, 64)
EVERY = cython.declare(cython.int, 127)
_TYPES: dict = {"object": 1, "array": 2, "string": 4, "number": 8, "integer": 16, "boolean": 32, "null": 64}

TYPE = cython.declare(cython.int, 1)
SCALAR = cython.declare(cython.int, 2)
MEMBERS = cython.declare(cython.int, 4)
ITEMS = cython.declare(cython.int, 8)
REFERS = cython.declare(cython.int, 16)
RARE = cython.declare(cython.int, 32)
VALUES = cython.declare(cython.int, 64)
PATTERNS = cython.declare(cython.int, 128)
COUNTS = cython.declare(cython.int, 256)
INSIDE = cython.declare(cython.int, 4 + 128 + 256)
"""What objects are asked beside their type."""
_KEYWORDS: dict = {
    "type": 1,
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern "
                    "format".split(), 2),
    **dict.fromkeys("enum const".split(), 64),
    **dict.fromkeys("properties required additionalProperties".split(), 4),
    **dict.fromkeys("items additionalItems minItems maxItems".split(), 8),
    "$ref": 16,
    "patternProperties": 128,
    **dict.fromkeys("minProperties maxProperties".split(), 256),
    **dict.fromkeys("propertyNames dependentRequired prefixItems uniqueItems contains allOf anyOf oneOf not if "
                    "dependentSchemas dependencies $dynamicRef $recursiveRef unevaluatedProperties "
                    "unevaluatedItems".split(), 32),
}
"""What keywords are about; all others say nothing of values."""
ABOUT = cython.declare(cython.int, 511)
TYPES = cython.declare(cython.int, 9)
"""What is said of a schema in one number: what its keywords are about, and from bit TYPES on the types."""

PLACES = cython.declare(cython.int, 128)
"""Of ``_entries``: the names that texts are read with, by their address, which is less than 48 bits; above it, in nine
bits, what they are about, and in seven which type they are the name of. So a name is in one line of memory."""
ADDRESS = cython.declare(cython.longlong, 0xFFFF_FFFF_FFFF)
if cython.compiled:
    _entries = grow_long(cython.NULL, PLACES)

MOST_VALUES = cython.declare(cython.int, 64)
"""A mixed ``enum`` of more is not kept from one document to the next."""
AS_THEY_ARE = cython.declare(cython.int, 1)
BY_SIZE = cython.declare(cython.int, 2)
"""How alternatives of objects are left: see ``order_left``."""
FEW_OBJECTS = cython.declare(cython.int, 4)
"""So many alternatives of objects are seen through (``presence``), unless a member tells them all apart."""


class NotPlain(Exception):
    """Something that ``direct`` does not word: the document is to be read without it."""


class NoValue(NotPlain):
    """It is plain that a schema has no values. A member that need not be is left out then."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _place_of(name: cython.longlong) -> cython.Py_ssize_t:
    """Where a name's address is in ``_entries``, or would be."""
    place: cython.Py_ssize_t = (name >> 4) & (PLACES - 1)
    while _entries[place] != 0 and (_entries[place] ^ name) & ADDRESS != 0:
        place = (place + 1) & (PLACES - 1)
    return place


@cython.cfunc
def _find_names():
    """Fill ``_entries``."""
    place: cython.Py_ssize_t
    address: cython.longlong
    for place in range(PLACES):
        _entries[place] = 0
    for name in _NAMES:  # which holds them
        address = cython.cast(cython.longlong, cython.cast(cython.p_void, name))
        if address & ~ADDRESS == 0:  # else it is looked for in a dict
            place = _place_of(address)
            _entries[place] = address | cython.cast(
                cython.longlong, _KEYWORDS.get(name, 0) | _TYPES.get(name, 0) << 9) << 48


_NAMES: list = known_names()
if cython.compiled:
    _find_names()


@cython.cfunc
@cython.exceptval(check=False)
def known_place(key) -> cython.Py_ssize_t:
    """Where a name that texts are read with is in ``_entries``; -1: it is none, or another object."""
    place: cython.Py_ssize_t = _place_of(cython.cast(cython.longlong, cython.cast(cython.p_void, key)))
    return place if _entries[place] != 0 else -1


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def about(key) -> cython.int:
    """What a keyword is about; 0: it says nothing of values."""
    entry: cython.longlong
    if cython.compiled:
        entry = _entries[_place_of(cython.cast(cython.longlong, cython.cast(cython.p_void, key)))]
        if entry != 0:
            return cython.cast(cython.int, entry >> 48 & 0x1FF)
    found = _KEYWORDS.get(key)
    return 0 if found is None else cython.cast(cython.int, found)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _type_bit(name) -> cython.int:
    """The bit of a type."""
    entry: cython.longlong
    if cython.compiled:
        entry = _entries[_place_of(cython.cast(cython.longlong, cython.cast(cython.p_void, name)))]
        if entry != 0:
            return cython.cast(cython.int, entry >> 57 & 0x7F)
    return cython.cast(cython.int, _TYPES[name])


@cython.cfunc
@cython.exceptval(-1, check=False)
def bits_of(schema: dict) -> cython.int:
    """What the keywords of a schema are about, together."""
    bits: cython.int = 0
    place: cython.Py_ssize_t = 0
    if cython.compiled:
        key: cython.pointer(PyObject) = cython.NULL
        while PyDict_Next(schema, cython.address(place), cython.address(key), cython.NULL):
            bits |= about(cython.cast(object, key))
        return bits
    for name in schema:
        bits |= about(name)
    return bits


@cython.cfunc
@cython.exceptval(-1, check=False)
def types_of(schema: dict) -> cython.int:
    """The types of a schema's values as bits."""
    return _types_in(schema.get("type"))


@cython.cfunc
@cython.exceptval(-1, check=False)
def said_of(schema: dict) -> cython.int:
    """``bits_of`` and ``types_of`` in one pass and one number."""
    bits: cython.int = 0
    one: cython.int
    types: cython.int = EVERY
    place: cython.Py_ssize_t = 0
    if cython.compiled:
        key: cython.pointer(PyObject) = cython.NULL
        there: cython.pointer(PyObject) = cython.NULL
        while PyDict_Next(schema, cython.address(place), cython.address(key), cython.address(there)):
            one = about(cython.cast(object, key))
            bits |= one
            if one == TYPE:
                types = _types_in(cython.cast(object, there))
        return bits | types << TYPES
    return bits_of(schema) | types_of(schema) << TYPES


@cython.cfunc
def one_type(schema: dict):
    """The type that a schema of one keyword says; None: it is another keyword, or there are several types."""
    place: cython.Py_ssize_t = 0
    if cython.compiled:
        key: cython.pointer(PyObject) = cython.NULL
        there: cython.pointer(PyObject) = cython.NULL
        PyDict_Next(schema, cython.address(place), cython.address(key), cython.address(there))
        if about(cython.cast(object, key)) != TYPE:
            return None
        said = cython.cast(object, there)
    else:
        said = schema.get("type")
    return said if type(said) is str else None


@cython.cfunc
@cython.exceptval(-1, check=False)
def _types_in(said) -> cython.int:
    """What ``type`` says, as bits; None: nothing."""
    bits: cython.int = 0
    if type(said) is str:
        return _type_bit(said)
    if said is None:
        return EVERY
    for name in cython.cast(list, said):
        bits |= _type_bit(name)
    return bits


@cython.cfunc
def content_of(schema: dict):
    """What a schema says of scalars, to be compared: of each keyword its name, a kind and a value, in the order of the
    names; None: more than a few simple things."""
    found: list = []
    for key, value in schema.items():
        if not about(key) & (TYPE | SCALAR | VALUES):
            continue
        kind = type(value)
        if kind is list:
            if len(value) > MOST_VALUES:
                return None
            for item in cython.cast(list, value):
                if type(item) is not str:
                    break
            else:
                _put(found, key, kind, tuple(value))
                continue
            pairs: list = []
            for item in cython.cast(list, value):
                kind = type(item)
                if not (kind is str or kind is int or kind is bool or item is None or kind is Decimal):
                    return None
                pairs.append((kind, item))
            _put(found, key, tuple, tuple(pairs))
        elif kind is str or kind is int or kind is bool or value is None or kind is Decimal:
            _put(found, key, kind, value)
        else:
            return None
    return tuple(found)


@cython.cfunc
@cython.inline
def _put(found: list, key: str, kind, value):
    """Put what is said by a keyword, of which there are no two, at its place."""
    i: cython.Py_ssize_t = len(found)
    other: str
    found.append(key)
    found.append(kind)
    found.append(value)
    while i > 0:
        other = found[i - 3]
        if other < key:
            break
        found[i], found[i + 1], found[i + 2] = found[i - 3], found[i - 2], found[i - 1]
        i -= 3
        found[i], found[i + 1], found[i + 2] = key, kind, value


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_items_plain(schema: dict, types: cython.int, max_repeat) -> cython.int:
    """Whether what is said of items, if the values may be arrays, is plain."""
    if not types & ARRAY:
        return True
    least = schema.get("minItems", 0)
    most = schema.get("maxItems", 0)
    if type(least) is not int or type(most) is not int or least > max_repeat or most > max_repeat:
        return False
    if "maxItems" in schema and most < least:
        return False
    return type(schema.get("items", True)) is not list


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_scalars_silent(schema: dict, types: cython.int) -> cython.int:
    """Whether keywords about scalars, beside others, say nothing: of objects and arrays alone, where they are right by
    their shapes."""
    if types & ~(OBJECT | ARRAY):
        return False
    for key in schema:
        if about(key) == SCALAR and key != "format" and key != "minimum" and key != "maximum":
            return False
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_counts(schema: dict, max_repeat) -> cython.int:
    """Whether the numbers of members that a schema asks are plain: as many may be as must, and one at least.

    More than one more than those that are named may have to be told apart by their names, so they are not plain.
    """
    least, most = schema.get("minProperties", 0), schema.get("maxProperties", max_repeat)
    if type(least) is not int or type(most) is not int or least < 0 or most < 1 or most < least or most > max_repeat:
        return False
    needed: object = frozenset(schema.get("required") or ())
    return most >= len(needed) and (least <= len(needed) + 1 or schema.get("additionalProperties", True) is False)


@cython.cfunc
def combined_by(schema: dict) -> str:
    """The combinator that is all a schema says beside its types; None: there is more."""
    which: str = None
    for key in schema:
        if key == "anyOf" or key == "oneOf" or key == "allOf":
            if which is not None:
                return None
            which = key
        elif about(key) & ~TYPE:
            return None
    return which


@cython.cfunc
def said_texts(schema, knows_const: cython.bint):
    """The strings that a schema lists, where that is all it says; else None."""
    if type(schema) is not dict:
        return None
    said: dict = schema
    if bits_of(said) & ~(TYPE | VALUES):
        return None
    return listed_texts(said, knows_const)


@cython.cfunc
def texts_within(schema: dict, knows_const: cython.bint, max_repeat):
    """The same of a schema that asks for lengths, too. None, too, where no string is left, or where it is not plain how
    long one is."""
    if "pattern" in schema or "format" in schema:
        return None
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if type(least) is not int or least > max_repeat:
        return None
    if "maxLength" in schema and (type(most) is not int or most > max_repeat):
        return None
    listed = listed_texts(schema, knows_const)
    if listed is None:
        return None
    found: list = []
    for one in cython.cast(list, listed):
        if least <= len(one) and (most is None or len(one) <= most):
            found.append(one)
        if not one.isascii() and max(one) >= "\ud800":  # two may be one character
            return None
    return found if found else None


@cython.cfunc
def listed_texts(said: dict, knows_const: cython.bint):
    """The strings that a schema of nothing else but strings lists; None: it lists others, too, or none."""
    if said.get("type", "string") != "string":
        return None
    if "enum" in said:
        if "const" in said:
            return None
        listed = said["enum"]
        if type(listed) is not list or not listed:
            return None
    elif "const" in said and knows_const:
        listed = [said["const"]]
    else:
        return None
    for one in cython.cast(list, listed):
        if type(one) is not str:
            return None
    return listed


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_tagged(objects: list, knows_const: cython.bint) -> cython.int:
    """Whether a member that all alternatives require has other texts in each."""
    count: cython.Py_ssize_t
    schema: dict = objects[0][0]
    for name in schema.get("required") or ():
        seen: set = set()
        count = 0
        for schema, _ in objects:
            if name not in (schema.get("required") or ()):
                break
            listed = said_texts((schema.get("properties") or {}).get(name), knows_const)
            if listed is None or not seen.isdisjoint(listed):
                break
            seen.update(listed)
            count += 1
        if count == len(objects):
            return True
    return False


@cython.cfunc
@cython.exceptval(-1, check=False)
def told_apart(objects: list, knows_const: cython.bint) -> cython.int:
    """Whether it is plain that no object is in two of a few alternatives: by members that one requires and the other
    rules out."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for i in range(1, len(objects)):
        for k in range(i):
            if not is_apart(objects[i][0], objects[k][0], knows_const) and (
                    not is_apart(objects[k][0], objects[i][0], knows_const)):
                return False
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_apart(one: dict, other: dict, knows_const: cython.bint) -> cython.int:
    """Whether a member that ``one`` requires may not be in ``other``, or is another text there."""
    mine: dict = one.get("properties") or {}
    theirs: dict = other.get("properties") or {}
    for name in one.get("required") or ():
        if name not in theirs:
            if other.get("additionalProperties", True) is False:
                return True
        elif name in mine:
            texts, others = said_texts(mine[name], knows_const), said_texts(theirs[name], knows_const)
            if texts is not None and others is not None and set(texts).isdisjoint(others):
                return True
    return False


@cython.cfunc
@cython.exceptval(-1, check=False)
def order_left(objects: list, knows_const: cython.bint, any_order: cython.bint, strict: cython.bint) -> cython.int:
    """How ``presence`` leaves alternatives: AS_THEY_ARE, BY_SIZE, or 0 where it may make fewer of them.

    AS_THEY_ARE: of those whose undeclared members are alike, or of few, any two say plainly other things about values.
    BY_SIZE: all are closed, each requires a member, and no two declare the same one.
    """
    groups: dict = {}
    schema: dict
    group: list
    for schema, _ in objects:
        rest = schema.get("additionalProperties")
        if type(rest) is dict:
            return 0
        key: tuple = (rest, None if any_order else tuple(schema.get("properties") or ()))
        groups.setdefault(key, []).append(schema)
    for key, group in groups.items():
        if len(group) < FEW_OBJECTS:
            continue
        closed: cython.bint = key[0] is False or (strict and key[0] is None)
        if closed and len(groups) == 1 and _are_disjoint(group):
            return BY_SIZE
        if not _are_unlike(group, knows_const, closed):
            return 0
    return AS_THEY_ARE


@cython.cfunc
@cython.exceptval(-1, check=False)
def _are_disjoint(group: list) -> cython.int:
    """Whether each requires a member that it declares, and no two declare the same one."""
    schema: dict
    seen: set = set()
    for schema in group:
        names: dict = schema.get("properties") or {}
        if not seen.isdisjoint(names):
            return False
        seen.update(names)
        required = schema.get("required") or ()
        if not required:
            return False
        for name in required:
            if name not in names:
                return False
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def _are_unlike(group: list, knows_const: cython.bint, closed: cython.bint) -> cython.int:
    """Whether any two say plainly other things about values, seen by the looks of what several things are said of."""
    schema: dict
    said: dict = {}  # looks by name, each with how many say so
    for schema in group:
        for name, value in cython.cast(dict, schema.get("properties") or {}).items():
            counts: dict = said.setdefault(name, {})
            look = _look_of(value, knows_const)
            if look is False:
                return False
            counts[look] = counts.get(look, 0) + 1
    seen: set = set()
    for schema in group:
        what: list = []
        for name, value in cython.cast(dict, schema.get("properties") or {}).items():
            counts = said[name]
            look = _look_of(value, knows_const)
            if len(counts) > 1 or not closed:
                if (look is not None or closed) and counts[look] < len(group):
                    what.append((name, look))
        seen.add(frozenset(what))
    return len(seen) == len(group)


@cython.cfunc
def _look_of(schema, knows_const: cython.bint):
    """What schemas that are plainly not the same differ in; None: anything."""
    if type(schema) is not dict:
        return None if schema is True else False
    said: dict = schema
    ref = said.get("$ref")
    if type(ref) is str:
        return ref
    texts = said_texts(said, knows_const)
    if texts is not None:
        return frozenset(texts)
    return types_of(said) if said else None
