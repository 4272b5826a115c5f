# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The schemas of a document as expressions: equal ones are one, wherever they stand.

What tells a schema from others is its *key*: what it says where that is little (``content_of``), where it leads, or
its identity; what is written alike is the same then, which is looked at where a glance does not tell two apart
(``look_of``). ``Places`` keeps for each key the expression of the first schema that had it, and where
that stands. What expressions denote is for ``normalise`` to find out; whoever reads keywords or combines denotations
asks here for both.
Cost: 0.2 us for a schema that was met before, 0.5 us for a new one.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.contents import leaves
from constrained.frontends.json_schema.denotation import ANYTHING, NOTHING
from constrained.frontends.json_schema.reading import canonical

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.contents import content_of
    from cython.cimports.constrained.frontends.json_schema.denotation import Denotation
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import mark
    from cython.cimports.constrained.frontends.json_schema.document import Document, Place
    from cython.cimports.constrained.frontends.json_schema.expressions import Algebra
    from cython.cimports.constrained.frontends.json_schema.same_values import same_values
else:
    from constrained.frontends.json_schema.contents import content_of
    from constrained.frontends.json_schema.denotation import Denotation
    from constrained.frontends.json_schema.direct_nodes import mark
    from constrained.frontends.json_schema.document import Document, Place
    from constrained.frontends.json_schema.expressions import Algebra
    from constrained.frontends.json_schema.same_values import same_values

__all__ = ["Places"]

MOST_COMPARED = cython.declare(cython.Py_ssize_t, 400_000)
"""Values of schemas that are compared with others, for one document."""


@cython.cclass
class Places(Algebra):
    """The expressions of one document's schemas, and what whoever reads keywords asks of the normaliser.

    ``denoted``: what expressions denote, as far as it was found out. ``inexact``: those that were relaxed to a
    superset. ``notes``: what the coverage report lists. ``tracking``: whether unevaluated members and items are asked
    for. ``names_only``: whether only strings are asked for at the moment.
    """

    def __init__(self, document: Document, limits, assert_formats, comparing: cython.bint):
        """``comparing``: schemas that say the same are one expression, whose place is that of the first."""
        Algebra.__init__(self, limits.max_schema_alternatives)
        self.document = document
        self.limits = limits
        self.assert_formats = assert_formats
        self.denoted = {0: NOTHING, 1: ANYTHING}
        self.places = []
        self.active = {}
        self.notes = {}
        self.tracking = False
        self.dynamic = False
        mentioned: frozenset = document.mentioned
        if len(mentioned) > 0:
            self.tracking = "unevaluatedProperties" in mentioned or "unevaluatedItems" in mentioned
            self.dynamic = "$dynamicRef" in mentioned or "$recursiveRef" in mentioned
        self.leaves = leaves(document.dialect, limits.max_repeat)
        self.alike = {}  # expressions of places by what they say, and by identity
        self.comparing = comparing
        self.compared = 0
        self.looks = {}  # schemas that look alike, each as [schema, expression]
        self.entry = None  # that of a new schema
        self.contents = {}  # what the places say that are compared, by expression
        self.inexact = set()
        self.names_only = False

    # ---- expressions of schemas ----------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def at(self, place: Place) -> cython.int:
        """The expression of a schema where it stands."""
        key = self.key_of(place.schema, place)
        if type(key) is int:
            return key
        known = self.alike.get(key)
        if known is not None:
            return known
        return self.new(place, key)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def under(self, place: Place, keyword: str, name=None) -> cython.int:
        """The expression of the schema under a keyword of a place, or under a name or a number of that."""
        schema = place.schema[keyword] if name is None else place.schema[keyword][name]
        key = self.key_of(schema, place)
        if type(key) is int:
            return key
        known = self.alike.get(key)
        if known is not None:
            return known
        return self.new(place.child(keyword) if name is None else place.inner(keyword, name), key)

    @cython.ccall
    def all_under(self, place: Place, keyword: str, schemas) -> dict:
        """The expressions of the schemas under the names of a keyword of a place."""
        found: dict = {}
        for name, schema in schemas.items():
            key = self.key_of(schema, place)
            if type(key) is int:
                found[name] = key
                continue
            known = self.alike.get(key)
            found[name] = self.new(place.inner(keyword, name), key) if known is None else known
        return found

    @cython.cfunc
    def key_of(self, schema, place: Place):
        """What tells a schema read as ``place`` is from others: an expression, (dialect, content), ("$ref", reference,
        dialect) or (identity,). None: its scope says more about what it is."""
        if type(schema) is dict:
            if len(cython.cast(dict, schema)) == 0:
                return 1
            if self.comparing:
                content = content_of(schema)
                if content is not None:  # equal ones are one expression, wherever they stand
                    return place.dialect.name, content
        elif type(schema) is bool:
            return 1 if schema else 0
        elif isinstance(schema, dict) and not schema:
            return 1
        # a schema that says more than a few simple things
        if place.scope is not None:
            return None
        key: tuple = (mark(schema),)
        if self.comparing and type(schema) is dict:
            ref = cython.cast(dict, schema).get("$ref")
            if type(ref) is str and (len(cython.cast(dict, schema)) == 1 or place.dialect.ref_alone):
                return "$ref", ref, place.dialect.name  # references mean the same everywhere in a plain document
            if schema is not self.document.root:
                known = self.alike.get(key)
                return self.equal_to(schema, key) if known is None else known
        return key

    @cython.cfunc
    def equal_to(self, schema: dict, key: tuple):
        """The expression of a schema of a plain document that is written as this one is; the key where there is none.

        Schemas inside others are looked at again and again, so that ends after ``MOST_COMPARED`` values.
        """
        same: cython.Py_ssize_t
        if self.compared > MOST_COMPARED:
            return key
        look = look_of(schema)
        others: list = self.looks.get(look)
        if others is None:
            others = []
            self.looks[look] = others
        for one in others:
            other: list = one
            same = same_values(schema, other[0], MOST_COMPARED)
            self.compared += same if same >= 0 else -same
            if same >= 0:
                self.alike[key] = other[1]
                return other[1]
        entry: list = [schema, -1]
        others.append(entry)
        self.entry = entry
        return key

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def new(self, place: Place, key) -> cython.int:
        """The expression of a schema that is not known by ``key``."""
        schema = place.schema
        if key is None:
            place = self.document.enter(place)
            scopes = None if not self.dynamic else tuple(dict.fromkeys([uri for uri, _ in place.scope.dynamic_scope()]))
            key = (mark(schema), scopes)
            known = self.alike.get(key)
            if known is not None:
                return known
        found: cython.int = self.expressions.place(len(self.places))
        self.alike[key] = found
        self.places.append(place)
        if self.entry is not None:
            self.entry[1] = found
            self.entry = None
        elif len(cython.cast(tuple, key)) == 2 and place.dialect is self.document.dialect and type(key[0]) is str:
            leaf = self.leaves.get(key[1])
            if leaf is not None:
                self.denoted[found] = leaf
            else:
                self.contents[found] = key[1]
        return found

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def constant(self, value) -> cython.int:
        """The expression of exactly one value."""
        return self.expressions.intern("const", value, canonical(value))

    # ---- what the normaliser answers -----------------------------------------------------------------

    @cython.ccall
    def denote(self, expression: cython.int) -> Denotation:
        """What an expression denotes; kept."""
        raise NotImplementedError

    @cython.ccall
    def without(self, found: Denotation, expression: cython.int) -> Denotation:
        """What of ``found`` is not in an expression. Of one that was relaxed to a superset nothing can be taken off."""
        raise NotImplementedError

    @cython.ccall
    def strings_of(self, expression: cython.int) -> tuple:
        """The strings of an expression."""
        raise NotImplementedError

    @cython.ccall
    def values(self, values: list) -> Denotation:
        """A finite set."""
        raise NotImplementedError

    def unknown_format(self, pointer: str, name: str):
        """Note a format that is an annotation, or refuse it."""
        raise NotImplementedError

    def refuse(self, pointer: str, reason: str, hint: str = ""):
        """Refuse what cannot be enforced, or note it where that is asked for."""
        raise NotImplementedError

    @cython.ccall
    def relaxed(self, place: Place, keyword: str, reason: str, instead: Denotation) -> Denotation:
        """Refuse a keyword, or use ``instead``, a superset, where that is asked for."""
        raise NotImplementedError


@cython.cfunc
def look_of(schema: dict) -> tuple:
    """What equal schemas share, seen at a glance."""
    first: object = None
    said: object = schema.get("$ref")
    inside: object = schema.get("properties")
    size: cython.Py_ssize_t = 0
    if type(said) is not str:
        said = schema.get("type")
        if type(said) is not str:
            said = None
    if type(inside) is dict:
        size = len(cython.cast(dict, inside))
        for name in cython.cast(dict, inside):
            first = name
            break
    else:
        for name in schema:
            first = name
            break
    return len(schema), said, size, first
