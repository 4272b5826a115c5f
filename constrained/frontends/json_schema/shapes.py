# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What the values of keywords must be, and one walk over all schema places of a document that looks whether they are.

A *place* is what a dialect's keywords make a schema: the root, what stands under ``items``, in the list of ``allOf``,
under a name of ``properties``, and so on down. ``const``, ``enum``, ``default``, ``examples`` and unknown keywords hold
none. The *shape* of a keyword says what its value must be and where the places in it are; ``Shapes`` is the table of
one dialect. ``Checked`` walks a document once, before anything is read: whether a place decides anything does not
matter. So a wrong keyword is an error wherever it stands, and whoever reads keywords later takes their values as they
are.

References may lead to what is no place (``#/x-parts/name``) and into other documents: ``reach`` walks that too, once.
A schema inside that has an id and a ``$schema`` of another dialect is checked by its own.

Not looked at: what only describes (``title``, ``default``, ``deprecated``, ...). Nor is what is plain though a
metaschema forbids it: a name twice in ``required`` or a value twice in ``enum``, an empty ``prefixItems`` or list of
``items``; in draft 4 a boolean as a schema, 2.0 as a count, an empty ``required`` or ``enum``, and ``exclusiveMinimum``
without ``minimum``.

Invariant: all places that ``Checked`` holds have keywords of the right shape, and so have all places below them.
Cost: 20 ns a keyword and 10 ns a member, and nothing else where all is right; patterns are parsed, which is kept.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import (
    GrammarLimitError,
    NotRegularError,
    RegexError,
    SchemaError,
    UnsatisfiableGrammarError,
    echo,
)
from constrained.frontends.json_schema.dialects import find_dialect
from constrained.frontends.json_schema.direct_text import known_names
from constrained.frontends.json_schema.strings import pattern_language

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import mark
    from cython.cimports.constrained.frontends.json_schema.direct_reading import PLACES, known_place
    from cython.cimports.constrained.frontends.json_schema.direct_text import type_kind
    from cython.cimports.cpython.dict import PyDict_Next
    from cython.cimports.cpython.object import PyObject
else:
    from constrained.frontends.json_schema.direct_nodes import mark
    from constrained.frontends.json_schema.direct_reading import PLACES
    from constrained.frontends.json_schema.direct_text import type_kind

SCHEMA = cython.declare(cython.int, 1)
MAP = cython.declare(cython.int, 2)
PATTERNS = cython.declare(cython.int, 3)
NEEDS = cython.declare(cython.int, 4)
DEPENDENCIES = cython.declare(cython.int, 5)
BRANCHES = cython.declare(cython.int, 6)
PREFIX = cython.declare(cython.int, 7)
ITEMS = cython.declare(cython.int, 8)
TYPE = cython.declare(cython.int, 9)
NAMES = cython.declare(cython.int, 10)
TEXT = cython.declare(cython.int, 11)
PATTERN = cython.declare(cython.int, 12)
COUNT = cython.declare(cython.int, 13)
NUMBER = cython.declare(cython.int, 14)
STEP = cython.declare(cython.int, 15)
FLAG = cython.declare(cython.int, 16)
LIST = cython.declare(cython.int, 17)
DIALECT = cython.declare(cython.int, 18)
TYPE_NAME = cython.declare(cython.int, 19)
"""Shapes: a schema; schemas by names, by patterns; names by names, or schemas as well; a list of schemas that is not
empty, or may be; a schema or a list of them; a type or several; names; a text, a pattern; an integer from 0 on, a
number, one above 0, a boolean, a list; the name of a dialect. ``TYPE_NAME`` is what ``TYPE`` looks for."""

_SHAPES: dict = {
    "type": TYPE, "enum": LIST, "required": NAMES, "properties": MAP, "patternProperties": PATTERNS, "items": SCHEMA,
    "prefixItems": PREFIX,
    **dict.fromkeys("additionalProperties propertyNames additionalItems contains not if then else "
                    "unevaluatedProperties unevaluatedItems".split(), SCHEMA),
    **dict.fromkeys("allOf anyOf oneOf".split(), BRANCHES),
    **dict.fromkeys("definitions dependentSchemas".split(), MAP),
    "dependentRequired": NEEDS, "dependencies": DEPENDENCIES,
    **dict.fromkeys("minLength maxLength minItems maxItems minProperties maxProperties minContains "
                    "maxContains".split(), COUNT),
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum".split(), NUMBER),
    "multipleOf": STEP, "uniqueItems": FLAG, "format": TEXT, "pattern": PATTERN, "const": 0,
}
"""Of the keywords of ``Dialect.keywords``."""
MOST_PATTERNS = cython.declare(cython.int, 4096)
"""Texts that are known to be patterns."""
_TYPES = frozenset("null boolean integer number string array object".split())


@cython.final
@cython.cclass
class Shapes:
    """The shapes of one dialect's keywords, by name and, for the names of ``direct_reading``, by their place there."""

    def __init__(self, dialect):
        found: dict = {name: _SHAPES[name] for name in dialect.keywords}
        if dialect.exclusive_flags:
            found.update(dict.fromkeys(["exclusiveMinimum", "exclusiveMaximum"], FLAG))
        if dialect.items_lists:
            found["items"] = ITEMS
        found.update({"$schema": DIALECT, dialect.id_keyword: TEXT, "$ref": TEXT, "definitions": MAP,
                      "dependencies": DEPENDENCIES})
        if dialect.dynamic:  # 2019-09 and later
            found.update({"$defs": MAP, "contentSchema": SCHEMA, "$anchor": TEXT, dialect.dynamic: TEXT})
            found["$recursiveAnchor" if dialect.dynamic == "$recursiveRef" else "$dynamicAnchor"] = (
                FLAG if dialect.dynamic == "$recursiveRef" else TEXT)
        found.update(dict.fromkeys(_TYPES, TYPE_NAME))
        self.dialect = dialect
        self.id_keyword = dialect.id_keyword
        self.shapes = found
        self.patterns = set()
        if cython.compiled:
            slots: bytearray = bytearray(PLACES)
            for name in known_names():
                slots[known_place(name)] = found.get(name, 0)
            self.held = bytes(slots)
            self.slots = self.held

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def is_type(self, value) -> cython.int:
        """Whether a value is a type's name."""
        return type(value) is str and self.of(value) == TYPE_NAME

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def says_type(self, schema: dict) -> cython.int:
        """Whether a schema says a type and nothing else, as most do."""
        place: cython.Py_ssize_t = 0
        if len(schema) != 1:
            return False
        if cython.compiled:
            key: cython.pointer(PyObject) = cython.NULL
            value: cython.pointer(PyObject) = cython.NULL
            PyDict_Next(schema, cython.address(place), cython.address(key), cython.address(value))
            return self.of(cython.cast(object, key)) == TYPE and self.is_type(cython.cast(object, value))
        return self.is_type(schema.get("type"))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def are_types(self, value) -> cython.int:
        """Whether a value is a list of types' names, or one in a string of another kind."""
        if not isinstance(value, list):
            return isinstance(value, str) and value in _TYPES
        for one in cython.cast(list, value):
            if not isinstance(one, str) or self.of(one) != TYPE_NAME:
                return False
        return len(cython.cast(list, value)) > 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_pattern(self, text, limits) -> cython.int:
        """Whether a text can be read as a pattern."""
        if text in self.patterns:
            return True
        if _pattern_error(text, limits) is not None:
            return False
        if len(self.patterns) >= MOST_PATTERNS:
            self.patterns.clear()
        self.patterns.add(text)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def of(self, key) -> cython.int:
        """The shape of a keyword; 0: its value may be anything."""
        place: cython.Py_ssize_t
        if cython.compiled:
            place = known_place(key)
            if place >= 0:
                return self.slots[place]
        found = self.shapes.get(key)
        return 0 if found is None else cython.cast(cython.int, found)


@lru_cache(maxsize=32)
def shapes_of(dialect):
    """The ``Shapes`` of a dialect."""
    return Shapes(dialect)


@cython.final
@cython.cclass
class Checked:
    """The places of a document, found right. They are asked for by identity.

    ``places``: the schemas that are objects, each before those inside of it. ``marks``: their identities, once it
    matters whether one was met before. ``foreign``: those that a dialect of their own is for.
    ``pointers``: where the places stand, while a wrong one is sought for its error; else None. ``simple``: there are no
    marks and no pointers to be kept.
    """

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, shapes: Shapes, root, limits, shared: cython.bint) -> cython.int:
        """Whether a document is right. ``shared``: an object may stand in several places of it, as in a value that did
        not come from a text."""
        self.limits = limits
        self.places = []
        self.foreign = None
        self.marks = set() if shared else None
        self.pointers = None
        self.simple = not shared
        if not isinstance(root, dict):
            return type(root) is bool
        return self.walk(shapes, root) and self.foreign is None

    def require(self, schema, dialect, limits, pointer: str = "", registry=None):
        """Walk what stands at ``pointer``. Raises ``SchemaError`` for the first place that is wrong."""
        self.limits = limits
        self.places = []
        self.marks = set()
        self.pointers = []
        self.simple = False
        self.foreign = None
        waiting: list = [(schema, pointer, dialect)]
        while waiting:
            one, where, dialect = waiting.pop()
            if isinstance(one, dict):
                self.at = where
                self.walk(shapes_of(dialect), one)
            elif not isinstance(one, bool):
                raise _no_schema(one, where)
            if self.foreign is not None:
                for one, where, outer in self.foreign:
                    waiting.append((one, where, own_dialect(one, outer, registry)))
                self.foreign = None
        self.pointers = None

    def reach(self, schema, dialect, pointer: str, registry=None):
        """Walk what a reference leads to, unless that was done. Raises ``SchemaError`` where it is wrong."""
        if not self.holds(schema, shapes_of(dialect)):
            Checked.__new__(Checked).require(schema, dialect, self.limits, pointer, registry)
            self.foreign = None

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def holds(self, schema, shapes: Shapes) -> cython.int:
        """Whether what a reference leads to is right; it is walked where it was not yet."""
        if type(schema) is bool:
            return True
        if not isinstance(schema, dict):
            return False
        if self.marks is None:
            self.marks = {mark(place) for place in self.places}
            self.simple = False
        if mark(schema) in self.marks:
            return True
        return self.walk(shapes, schema) and self.foreign is None

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def walk(self, shapes: Shapes, root) -> cython.int:
        """Whether a schema and all places in it are right."""
        places: list = self.places
        i: cython.Py_ssize_t = len(places)
        first: cython.Py_ssize_t = i
        shape: cython.int
        fine: cython.bint
        schema: dict
        one: object
        places.append(root)
        if self.marks is not None:
            self.marks.add(mark(root))
        if self.pointers is not None:
            self.pointers.append(self.at)
        while i < len(places):
            one = places[i]
            if type(one) is dict:
                schema = one
            elif getattr(one, "denotation", None) is None:
                schema = dict(one)
            else:  # its keywords are for readers
                schema = {}
            if not self.simple:
                if i > first and "$schema" in schema and self.is_foreign(shapes, schema, i):
                    i += 1
                    continue
                if self.pointers is not None:
                    self.at = self.pointers[i]
            i += 1
            for key, value in schema.items():
                shape = shapes.of(key)
                if shape == 0 or shape == TYPE_NAME:
                    continue
                if shape == SCHEMA:
                    fine = self.put(shapes, value, key, None)
                elif shape == TYPE:
                    fine = shapes.is_type(value) or shapes.are_types(value)
                elif shape <= DEPENDENCIES:
                    fine = self.put_map(shapes, value, key, shape)
                elif shape <= ITEMS:
                    fine = self.put_list(shapes, value, key, shape)
                elif shape == NAMES:
                    fine = are_names(value)
                elif shape == COUNT:
                    fine = (type(value) is int and value >= 0) or is_count(value)
                elif shape == TEXT:
                    fine = isinstance(value, str)
                elif shape == DIALECT:
                    fine = isinstance(value, str) and not (
                        self.simple and i > first + 1 and self.is_foreign(shapes, schema, i - 1))
                elif shape == PATTERN:
                    fine = isinstance(value, str) and shapes.is_pattern(value, self.limits)
                elif shape == NUMBER:
                    fine = is_number(value)
                elif shape == STEP:
                    fine = is_number(value) and value > 0
                elif shape == FLAG:
                    fine = isinstance(value, bool)
                else:
                    fine = isinstance(value, list)
                if not fine:
                    if self.pointers is not None:
                        raise _wrong(shape, key, value, below(self.at, key), self.limits)
                    return False
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def put(self, shapes: Shapes, value, key, name) -> cython.int:
        """Whether a value is a schema; it waits then. ``key``, ``name``: where it stands in the place looked at."""
        if type(value) is dict and self.simple:
            if type_kind(value) == 0 and not shapes.says_type(value):
                self.places.append(value)
            return True
        if isinstance(value, dict):
            if self.marks is not None:
                seen = mark(value)
                if seen in self.marks:
                    return True
                self.marks.add(seen)
            self.places.append(value)
            if self.pointers is not None:
                self.pointers.append(below(self.at, key) if name is None else below(below(self.at, key), str(name)))
            return True
        return type(value) is bool

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_map(self, shapes: Shapes, value, key, shape: cython.int) -> cython.int:
        """Whether a value has the shape of schemas, or names, by names."""
        inside: dict
        if not isinstance(value, dict):
            return False
        inside = value if type(value) is dict else dict(value)
        for name, one in inside.items():
            if shape == PATTERNS and not shapes.is_pattern(name, self.limits):
                return False
            if shape == NEEDS or (shape == DEPENDENCIES and isinstance(one, list)):
                if not are_names(one):
                    return False
            elif not self.put(shapes, one, key, name):
                return False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_list(self, shapes: Shapes, value, key, shape: cython.int) -> cython.int:
        """Whether a value has the shape of a list of schemas."""
        i: cython.Py_ssize_t
        if not isinstance(value, list):
            return shape == ITEMS and self.put(shapes, value, key, None)
        inside: list = value
        for i in range(len(inside)):
            if not self.put(shapes, inside[i], key, i):
                return False
        return len(inside) > 0 or shape != BRANCHES

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_foreign(self, shapes: Shapes, schema: dict, i: cython.Py_ssize_t) -> cython.int:
        """Whether a place has a dialect of its own, which is kept then."""
        if not isinstance(schema["$schema"], str) or not isinstance(schema.get(shapes.id_keyword), str):
            return False
        if schema["$schema"].rstrip("#") == shapes.dialect.uri:
            return False
        if self.foreign is None:
            self.foreign = []
        self.foreign.append((self.places[i], "" if self.pointers is None else self.pointers[i], shapes.dialect))
        return True


@cython.ccall
def below(pointer: str, key: str) -> str:
    """The JSON Pointer of what stands under a key, or a number, of what ``pointer`` leads to."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1') if '~' in key or '/' in key else key}"


@cython.cfunc
@cython.exceptval(-1, check=False)
def are_names(value) -> cython.int:
    """Whether a value is a list of texts."""
    if not isinstance(value, list):
        return False
    for one in cython.cast(list, value):  # noqa: SIM110 - no generator
        if not isinstance(one, str):
            return False
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_number(value) -> cython.int:
    """Whether a value is a number."""
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_count(value) -> cython.int:
    """Whether a value is an integer from 0 on, however it is written."""
    return is_number(value) and value >= 0 and value == value // 1


def _pattern_error(pattern, limits):
    """Why a text is no pattern; None: it is one. What is too large, or no regular language, is for its reader."""
    try:
        pattern_language(pattern, limits)
    except (NotRegularError, UnsatisfiableGrammarError, GrammarLimitError):
        pass
    except RegexError as error:
        return error
    return None


def own_dialect(schema, outer, registry):
    """The dialect that a schema with an id inside of another names; the outer one where it is not known."""
    try:
        return find_dialect(None, schema, registry)
    except SchemaError:
        return outer


def _no_schema(value, pointer: str) -> SchemaError:
    return SchemaError(f"a schema is an object or a boolean, not {kind_name(value)}", pointer=pointer)


def _wrong(shape: int, keyword: str, value, pointer: str, limits) -> SchemaError:
    """The error of a keyword, at ``pointer``, whose value has not its shape."""
    if shape in (MAP, PATTERNS, NEEDS, DEPENDENCIES):
        return _wrong_map(shape, keyword, value, pointer, limits)
    if shape in (BRANCHES, PREFIX, ITEMS) and isinstance(value, list) and value:
        number = next(i for i, one in enumerate(value) if not isinstance(one, (dict, bool)))
        return _no_schema(value[number], below(pointer, str(number)))
    if shape in (SCHEMA, ITEMS):
        return _no_schema(value, pointer)
    if shape == TYPE and isinstance(value, (str, list)) and value:
        name = next(one for one in ([value] if isinstance(value, str) else value) if one not in list(_TYPES))
        return SchemaError(f"unknown type {echo(str(name))}", pointer=pointer,
                           hint=f"one of {', '.join(sorted(_TYPES))}")
    if shape == PATTERN and isinstance(value, str):
        return SchemaError(f"the pattern cannot be used: {_pattern_error(value, limits)}", pointer=pointer)
    if shape == STEP and is_number(value):
        return SchemaError(f"{keyword} must be greater than 0", pointer=pointer)
    if shape == COUNT and is_number(value):
        return SchemaError(f"{keyword} must be an integer of at least 0", pointer=pointer)
    if shape in (COUNT, NUMBER, STEP) and value is not None:
        return SchemaError(f"{keyword} must be a number, not {kind_name(value)}", pointer=pointer)
    return SchemaError(f"{keyword} must {_MUST[shape]}", pointer=pointer)


_MUST: dict = {
    BRANCHES: "be a list of schemas that is not empty", PREFIX: "be a list",
    TYPE: "be a string or a list of strings", NAMES: "hold a list of names", TEXT: "be a string",
    PATTERN: "be a string", DIALECT: "be a string", COUNT: "be a number", NUMBER: "be a number", STEP: "be a number",
    FLAG: "be a boolean", LIST: "be a list",
}


def _wrong_map(shape: int, keyword: str, value, pointer: str, limits) -> SchemaError:
    """As ``_wrong``, of schemas or names by names."""
    if not isinstance(value, dict):
        return SchemaError(f"{keyword} must be an object", pointer=pointer)
    for name, one in value.items():
        error = _pattern_error(name, limits) if shape == PATTERNS else None
        if error is not None:
            return SchemaError(f"the pattern cannot be used: {error}", pointer=pointer)
        if shape == NEEDS or (shape == DEPENDENCIES and isinstance(one, list)):
            if not are_names(one):
                break
        elif not isinstance(one, (dict, bool)):
            return _no_schema(one, below(pointer, str(name)))
    return SchemaError(f"{keyword} must hold a list of names", pointer=pointer)


def kind_name(value) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    names: dict = {str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), type(value).__name__)
