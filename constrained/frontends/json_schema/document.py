# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Where references lead.

A schema inside a document is a *place*: the value, its JSON Pointer (for messages) and the *scope* that references
in it resolve against. Documents whose references are pointers, with none inside of an embedded id, need no more than
walking. Others go through ``referencing``: its registry is built only when a reference needs it, holds what the caller
passed and this document, and retrieves nothing. Nothing here opens a file or a socket.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import SchemaError, echo
from constrained.frontends.json_schema.dialects import find_dialect
from constrained.frontends.json_schema.shapes import own_dialect

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.shapes import Checked, below
else:
    from constrained.frontends.json_schema.shapes import Checked, below

__all__ = ["Document", "Place", "is_index"]


@cython.final
@cython.cclass
class Place:
    """A schema where it stands. A value: it is not changed once it is made, which is not enforced, for speed.

    ``scope``: None for the plain document, else the ``referencing`` resolver to use here. ``entered``: whether that
    already is the one of the schema's own id, since a reference led here.
    """

    def __init__(self, schema, pointer: str, scope, dialect, entered: cython.bint = False):
        self.schema = schema
        self.pointer = pointer
        self.scope = scope
        self.dialect = dialect
        self.entered = entered

    @cython.ccall
    def child(self, key) -> Place:
        """A sub-schema; the caller knows that ``key`` holds one."""
        return Place(self.schema[key], below(self.pointer, str(key)), self.scope, self.dialect)

    @cython.ccall
    def inner(self, key: str, name) -> Place:
        """A sub-schema two steps down: under a name or a number of ``key``."""
        return Place(self.schema[key][name], below(f"{self.pointer}/{key}", str(name)), self.scope, self.dialect)


@cython.final
@cython.cclass
class Document:
    """The root schema and how to follow references from it.

    ``plain``: its references are pointers. ``mentioned``: which rare keywords there are.
    ``checked``: its places, whose keywords have the right shapes; None where that is known of every schema.
    """

    def __init__(self, root, dialect, registry=None, checked: Checked = None, *, nameless: bool = False):
        """``nameless``: it is known that there are no names, and no rare keywords."""
        self.checked = checked
        self.root = root
        self.dialect = dialect
        self.registry = registry
        named, self.mentioned = False, frozenset()
        if isinstance(root, dict) and not nameless:
            named, self.mentioned = _survey(root, dialect)
        self.plain = not named
        self.root_scope = None

    def root_place(self):
        """The root as a place."""
        scope = None if self.plain else self.scope()
        return Place(self.root, "", scope, self.dialect, True)

    @cython.ccall
    def enter(self, place: Place) -> Place:
        """The place with the scope of its own id, if it has one."""
        if place.entered or place.scope is None or not isinstance(place.schema, dict):
            return place
        value = place.schema.get(place.dialect.id_keyword)
        if not isinstance(value, str) or (place.dialect.ref_alone and "$ref" in place.schema):
            return place
        dialect = place.dialect
        if isinstance(place.schema.get("$schema"), str):
            dialect = own_dialect(place.schema, dialect, self.registry)
        resource = _specification(dialect).create_resource(place.schema)
        return Place(place.schema, place.pointer, place.scope.in_subresource(resource), dialect, True)

    @cython.ccall
    def follow(self, place: Place, ref, keyword: str = "$ref") -> Place:
        """The place a reference leads to. A reference to nothing is a ``SchemaError``."""
        pointer = f"{place.pointer}/{keyword}"
        if not isinstance(ref, str):
            raise SchemaError(f"{keyword} must be a string, not {type(ref).__name__}", pointer=pointer)
        if place.scope is None and (ref == "#" or ref.startswith("#/")):
            return self.walk(ref[1:], pointer, ref)
        scope = place.scope if place.scope is not None else self.scope()
        try:
            if keyword == "$recursiveRef":
                from referencing.jsonschema import lookup_recursive_ref

                found = lookup_recursive_ref(scope)
            else:
                found = scope.lookup(ref)
        except Exception as error:  # referencing has a tree of its own for what cannot be found
            name = type(error).__name__
            raise SchemaError(
                f"the reference {echo(ref)} leads nowhere ({name})", pointer=pointer,
                hint="references to other documents resolve only in the registry that is passed as registry=",
            ) from None
        dialect = place.dialect
        if isinstance(found.contents, dict) and isinstance(found.contents.get("$schema"), str):
            dialect = find_dialect(None, found.contents, self.registry)
        where = ref[1:] if ref.startswith("#/") else f"{place.pointer}/{keyword}"
        if self.checked is not None:
            self.checked.reach(found.contents, dialect, where, self.registry)
        return Place(found.contents, where, found.resolver, dialect, True)

    @cython.cfunc
    def walk(self, path: str, pointer: str, ref) -> Place:
        """The place that a pointer from the root leads to; ``pointer``: where the reference stands, for the error."""
        value = self.root
        step: str
        for part in path.split("/")[1:]:
            step = part
            if "%" in step:
                step = unquote(step)
            if "~" in step:
                step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and is_index(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                raise SchemaError(f"the reference {echo(ref)} leads nowhere", pointer=pointer,
                                  hint="check the names on the way from the document's root")
        if "%" in path:
            path = unquote(path)
        if self.checked is not None:
            self.checked.reach(value, self.dialect, path, self.registry)
        return Place(value, path, None, self.dialect)

    @cython.cfunc
    def scope(self):
        """The resolver of the root, with the caller's registry or an empty one that retrieves nothing."""
        if self.root_scope is None:
            from referencing import Registry

            keyword = self.dialect.id_keyword
            if not isinstance(self.root.get(keyword, ""), str):
                raise SchemaError(f"{keyword} must be a string", pointer=f"/{keyword}")
            registry = self.registry if self.registry is not None else Registry()
            resource = _specification(self.dialect).create_resource(self.root)
            uri = resource.id() or ""
            registry = registry.with_resource(uri, resource)
            self.root_scope = registry.resolver(uri)
        return self.root_scope


def _specification(dialect):
    return _specifications()[dialect.name]


@lru_cache(maxsize=1)
def _specifications():
    from referencing import jsonschema

    return {
        "draft4": _every_dependency(jsonschema.DRAFT4), "draft6": _every_dependency(jsonschema.DRAFT6),
        "draft7": _every_dependency(jsonschema.DRAFT7), "2019-09": jsonschema.DRAFT201909,
        "2020-12": jsonschema.DRAFT202012,
    }


def _every_dependency(specification):
    """The same, but ``dependencies`` may hold schemas beside lists of names.

    ``referencing`` 0.37 takes all for what the first one is: it finds no ids behind a list, and fails on a list that
    comes later; and in draft 4 it fails on a boolean, which is taken for a schema here.
    """
    from referencing import Specification

    subresources_of = specification.subresources_of

    def schemas_of(contents):
        if not isinstance(contents, dict):
            return
        found = contents.get("dependencies")
        if isinstance(found, dict):
            yield from [value for value in found.values() if isinstance(value, dict)]
            contents = {key: value for key, value in contents.items() if key != "dependencies"}
        for value in subresources_of(contents):
            if isinstance(value, dict):
                yield value

    return Specification(
        name=specification.name, id_of=specification.id_of, subresources_of=schemas_of,
        anchors_in=lambda _, contents: specification.anchors_in(contents),
        maybe_in_subresource=specification.maybe_in_subresource)


_MENTIONED = frozenset(("$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems"))
_LOOKED_FOR = _MENTIONED | {"id", "$id", "$ref", "$schema"}


def _survey(root, dialect):
    """Whether any reference could mean something else than a pointer from the root; which rare keywords there are.

    An id changes what a pointer begins at, but only for references inside of it (the root's own changes nothing), and
    says that a ``$schema`` of another dialect counts. Anchors matter where something refers to them.
    """
    elsewhere = ids = inner = drafts = False
    found: set = set()
    stack: list = [(root, False)]
    while stack:
        value, inside = stack.pop()
        if type(value) is dict or isinstance(value, dict):
            if not _LOOKED_FOR.isdisjoint(value):
                id_ = value.get(dialect.id_keyword)
                if isinstance(id_, str) and value is not root:  # a property "id" is no id
                    ids = inside = True
                for name in _LOOKED_FOR.intersection(value):
                    entry = value[name]
                    if name in _MENTIONED:
                        found.add(name)
                        elsewhere = elsewhere or (name[0] == "$" and isinstance(entry, str))
                    elif name == "$ref":
                        inner = inner or inside
                        elsewhere = elsewhere or (isinstance(entry, str) and entry != "#" and entry[:2] != "#/")
                    elif name == "$schema":
                        drafts = drafts or (value is not root and isinstance(entry, str) and (
                            entry.rstrip("#") != dialect.uri))
            stack.extend([(item, inside) for item in value.values() if isinstance(item, (dict, list))])
        else:
            stack.extend([(item, inside) for item in value if isinstance(item, (dict, list))])
    return elsewhere or inner or (ids and drafts), frozenset(found)


@cython.ccall
def is_index(step: str) -> cython.bint:
    """Whether a step of a pointer is a place in a list."""
    return len(step) < 19 and step.isascii() and step.isdigit()
