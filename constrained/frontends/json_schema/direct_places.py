# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The places of one document: where a reference leads, which schemas are equal, and what waits to be written.

Equal objects are one rule wherever they stand. Schemas are compared only if they have as many keywords and members and
the same first member (``looks``); most that differ then do so at the first value that is looked at.

Invariant: schemas that are told to be the same have the same members in the same order, of the same types.
Cost: 0.3 us an object; a comparison 10 ns a value, ``MOST_COMPARED`` values for one document.
"""

from __future__ import annotations

from urllib.parse import unquote

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.direct_reading import NotPlain
from constrained.frontends.json_schema.document import is_index

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import place_of, reference
    from cython.cimports.constrained.frontends.json_schema.direct_reading import REFERS, bits_of
    from cython.cimports.constrained.frontends.json_schema.direct_rules import Rules
    from cython.cimports.constrained.frontends.json_schema.marks import address
    from cython.cimports.constrained.frontends.json_schema.same_values import same_values
    from cython.cimports.constrained.frontends.json_schema.shapes import MAP, Checked, Shapes
else:
    from constrained.frontends.json_schema.direct_nodes import place_of, reference
    from constrained.frontends.json_schema.direct_reading import REFERS, bits_of
    from constrained.frontends.json_schema.direct_rules import Rules
    from constrained.frontends.json_schema.marks import address
    from constrained.frontends.json_schema.same_values import same_values
    from constrained.frontends.json_schema.shapes import MAP, Checked, Shapes

MOST_COMPARED = cython.declare(cython.Py_ssize_t, 200_000)
"""Values that are compared, for one document."""
LOOK = cython.declare(cython.longlong, 1)
ONE_ARRAY = cython.declare(cython.longlong, 4)
"""What numbers in ``marks`` have that are no addresses of schemas and expressions."""
LONGEST_CHAIN = cython.declare(cython.int, 100)
"""References to nothing but another reference, one behind the other."""


@cython.cclass
class Places(Rules):
    """``document``: the schema of the whole document. ``checked``: its places, of which all keywords have their shapes.

    ``marks`` has the expressions of schemas, by their address, and a list ``schema, expression, ...`` of those that
    look alike, by a hash of how they do and LOOK. ``waiting``: ``(schema, pointer, name of its rule, union or None,
    what is said_of it)``.
    ``home``: the beginning of a reference to a definition of the root, as the last one was, None: there was none;
    ``at_home``: those definitions.
    """

    @cython.cfunc
    def begin_places(self, document, shapes: Shapes, checked: Checked):
        self.document = document
        self.shapes = shapes
        self.checked = checked
        self.compared = 0
        self.waiting = []
        self.done = 0
        self.home = None
        self.at_home = None

    # ---- references ----------------------------------------------------------------------------------

    @cython.cfunc
    def target(self, ref: str) -> tuple:
        """The schema at the end of a chain of references, and its pointer."""
        bits: cython.int
        found: tuple
        for _ in range(LONGEST_CHAIN):
            found = self.follow(ref)
            schema = found[0]
            if type(schema) is not dict or "$ref" not in schema:
                return found
            bits = bits_of(schema)
            if bits != REFERS and not self.tables.ref_alone:
                return found
            following: object = schema["$ref"]
            if type(following) is not str:  # before it is a ``str`` to the compiler
                raise NotPlain
            ref = following
        raise NotPlain

    @cython.cfunc
    def follow(self, ref: str) -> tuple:
        """The schema that a pointer from the document's root leads to, and the pointer behind a ``#``: as
        ``Document.walk``."""
        value: object = self.document
        if self.home is not None and ref.startswith(self.home):
            name: str = ref[len(self.home):]
            if "/" not in name and "~" not in name and "%" not in name:
                value = self.at_home.get(name, self)
                if value is self:
                    raise NotPlain
                return value, ref
        if ref == "#":
            return value, ref
        if not ref.startswith("#/"):
            raise NotPlain
        path: str = unquote(ref) if "%" in ref else ref
        parts: list = ref[2:].split("/")
        for part in parts:
            step: str = part
            if "%" in step:
                step = unquote(step)
            if "~" in step:
                step = step.replace("~1", "/").replace("~0", "~")
            if type(value) is dict:
                if step not in cython.cast(dict, value):
                    raise NotPlain
                value = cython.cast(dict, value)[step]
            elif type(value) is list and is_index(step) and int(step) < len(cython.cast(list, value)):
                value = cython.cast(list, value)[int(step)]
            else:
                raise NotPlain
        # a definition of the root is one of the document's places; others are looked for
        if len(parts) == 2 and self.shapes.of(parts[0]) == MAP:
            home: object = cython.cast(dict, self.document).get(parts[0])
            if "%" not in ref and "~" not in ref and type(home) is dict:
                self.home = ref[:len(ref) - len(cython.cast(str, parts[1]))]
                self.at_home = home
        elif not self.checked.holds(value, self.shapes):
            raise NotPlain
        return value, path

    # ---- equal places --------------------------------------------------------------------------------

    @cython.cfunc
    def waits(self, schema: dict, union, said: cython.int, base: str, keyword, name):
        """A reference to the rule of an array or an object, which is written later: that of an equal one, if any."""
        pointer: str
        i: cython.Py_ssize_t
        same: cython.Py_ssize_t
        others: list = None
        look: cython.Py_ssize_t = len(schema)
        inside = schema.get("properties")
        if type(inside) is dict:
            for first in cython.cast(dict, inside):
                look += hash(first)
                break
            look += 64 * len(cython.cast(dict, inside))
        look = look << 4 | LOOK
        found = self.marks.at(look)
        if found is not None:
            others = found
            for i in range(0, len(others), 2):
                if self.compared >= MOST_COMPARED:
                    break
                same = same_values(schema, others[i], MOST_COMPARED - self.compared)
                self.compared += same if same >= 0 else -same
                if same >= 0:
                    found = others[i + 1]
                    self.marks.put(address(schema), found)
                    return found
        pointer = place_of(base, keyword, name)
        rule = self.rule_name(pointer)
        found = reference(rule)
        self.marks.put(address(schema), found)
        if others is None:
            self.marks.put(look, [schema, found])
        else:
            others.append(schema)
            others.append(found)
        self.waiting.append((schema, pointer, rule, union, said))
        return found
