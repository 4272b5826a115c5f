# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Schemas to denotations: each keyword read once, checked as it is read, and combined type by type.

``Normaliser.denote(e)`` gives what expression ``e`` denotes, one level deep; the expressions of items and members are
interned, not followed. Denotations are kept by expression. In-place applicators (allOf, anyOf, oneOf, not, if,
references) do recurse here; a loop of them without a value in between, or a chain deeper than ``MAX_CHAIN``, is
refused. Chains of references that say nothing else are followed in a loop.

What cannot be enforced exactly raises ``UnsupportedSchemaError``; with ``unsupported`` "warn" or "ignore" the keyword
is left out (a superset) and noted for the coverage report.
"""

from __future__ import annotations

from decimal import Decimal
from warnings import warn

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import GrammarLimitError, SchemaError, UnsupportedSchemaError, echo
from constrained.frontends.json_schema.applicators import APPLIED
from constrained.frontends.json_schema.denotation import ANYTHING, NOTHING
from constrained.frontends.json_schema.dialects import VALIDATION
from constrained.frontends.json_schema.given import Given
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.applicators import (
        all_of,
        applied,
        unevaluated_items,
        unevaluated_properties,
    )
    from cython.cimports.constrained.frontends.json_schema.arrays import ArrayShape
    from cython.cimports.constrained.frontends.json_schema.assertions import kinds_of, own_denotation
    from cython.cimports.constrained.frontends.json_schema.denotation import (
        Denotation,
        conjunction,
        difference,
        disjunction,
    )
    from cython.cimports.constrained.frontends.json_schema.denotation import no_array as holds_no_array
    from cython.cimports.constrained.frontends.json_schema.document import Document, Place
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape
    from cython.cimports.constrained.frontends.json_schema.objects import no_object as holds_no_object
    from cython.cimports.constrained.frontends.json_schema.places import Places
else:
    from constrained.frontends.json_schema.applicators import all_of, applied, unevaluated_items, unevaluated_properties
    from constrained.frontends.json_schema.arrays import ArrayShape
    from constrained.frontends.json_schema.assertions import kinds_of, own_denotation
    from constrained.frontends.json_schema.denotation import Denotation, conjunction, difference, disjunction
    from constrained.frontends.json_schema.denotation import no_array as holds_no_array
    from constrained.frontends.json_schema.document import Document, Place
    from constrained.frontends.json_schema.objects import ObjectShape
    from constrained.frontends.json_schema.objects import no_object as holds_no_object
    from constrained.frontends.json_schema.places import Places

from constrained.frontends.json_schema.denotation import negation  # noqa: E402 - a Python name in both modes

__all__ = ["Normaliser", "Note"]

MAX_CHAIN = cython.declare(cython.Py_ssize_t, 150)
"""In-place applicators inside each other, references followed included."""
MOST_ASKED = cython.declare(cython.Py_ssize_t, 40)
"""As many are found out when it is asked in their midst whether an expression is empty: beyond, it is not looked."""
APPLIES = cython.declare(cython.int, 64)
"""As in ``assertions``; so is ``REFERS``."""
REFERS = cython.declare(cython.int, 128)

Note = tuple
"""``(JSON Pointer, "relaxed" or "annotation", reason)``."""


class _Loop(SchemaError):
    """An expression was asked for while it is being found out."""


@cython.cclass
class Normaliser(Places):
    """The expressions of one document and what they denote. See the module docstring."""

    def __init__(self, document: Document, limits, *, unsupported: str = "error", assert_formats=True,
                 comparing: bool = True):
        """``comparing``: schemas that say the same are one expression, whose place is that of the first."""
        Places.__init__(self, document, limits, assert_formats, comparing)
        self.unsupported = unsupported
        self.loose = False
        self.asking = 0  # questions being answered of which the answer may be "not plain"

    # ---- denotations ---------------------------------------------------------------------------------

    @cython.ccall
    def denote(self, expression: cython.int) -> Denotation:
        """What an expression denotes; kept."""
        known = self.denoted.get(expression)
        if known is not None:
            if len(self.inexact) > 0 and expression in self.inexact:
                self.loose = True
            return known
        entry: tuple = self.expressions.entries[expression]
        if expression in self.active:
            pointer = cython.cast(Place, self.places[entry[1]]).pointer if entry[0] == "place" else ""
            raise _Loop("the schema refers to itself without a value in between", pointer=pointer,
                        hint="a reference loop must pass through a property or an item")
        if len(self.active) > MAX_CHAIN:
            raise GrammarLimitError("max_nesting", MAX_CHAIN, "references and combinators are nested too deeply")
        self.active[expression] = None
        outside: cython.bint = self.loose
        self.loose = False
        found: Denotation = None
        try:
            found = self.of_two(expression)
            if found is None:
                found = self.read(entry[0], entry[1])
        except NotEnforced as refused:
            self.refuse(self.pointer(expression), refused.reason, refused.hint)
            found = ANYTHING
        finally:
            del self.active[expression]
            if self.loose:
                self.inexact.add(expression)
            self.loose = self.loose or outside
        self.denoted[expression] = found
        if len(found.arrays) == 0 and len(found.objects) == 0 and not self.names_only and (
                expression in self.contents and expression not in self.inexact):
            self.leaves[self.contents[expression]] = found
        return found

    @cython.cfunc
    def of_two(self, expression: cython.int) -> Denotation:
        """What a conjunction denotes where it was made of one that is known, and a negation: that is taken off. None
        where it was not.

        One that only negates is not begun with: within what another part leaves, few alternatives are possible.
        """
        two = self.made.get(expression)
        if two is None:
            return None
        a: cython.int
        b: cython.int
        a, b = two
        entries: list = self.expressions.entries
        if cython.cast(tuple, entries[a])[0] == "not":
            a, b = b, a
        entry: tuple = entries[b]
        if entry[0] != "not" or a not in self.denoted:
            return None
        one: tuple = entries[a]
        if one[0] == "not":
            return None
        if one[0] == "and":
            for part in one[1]:
                if cython.cast(tuple, entries[part])[0] != "not":
                    break
            else:
                return None
        return self.without(self.denote(a), entry[1])

    @cython.cfunc
    def read(self, kind: str, parts) -> Denotation:
        """What an expression denotes, of a kind and its parts."""
        found: Denotation
        entries: list
        if kind == "place":
            return self.of_place(self.places[parts])
        if kind == "const":
            return self.of_constant(parts)
        if kind == "or":
            return disjunction([self.denote(part) for part in parts], self)
        if kind == "not":
            found = self.denote(parts)
            return ANYTHING if parts in self.inexact else negation(found, self)
        entries = self.expressions.entries
        denied: list = []
        found = ANYTHING
        for part in parts:
            entry: tuple = entries[part]
            if entry[0] == "not":
                denied.append(entry[1])
            else:
                found = conjunction(found, self.denote(part), self)
        for part in denied:  # within what the others leave, few alternatives are possible
            found = self.without(found, part)
        return found

    @cython.ccall
    def strings_of(self, expression: cython.int) -> tuple:
        """The strings of an expression. What its schema says of members and items is not looked at where that leads
        back to a schema of which they are asked: a name has no names."""
        try:
            return self.denote(expression).strings
        except _Loop:
            if self.names_only:
                raise
        denoted: dict = self.denoted
        active: dict = self.active
        self.denoted, self.active = {0: NOTHING, 1: ANYTHING}, {}
        self.names_only = True
        try:
            return self.denote(expression).strings
        finally:
            self.names_only = False
            self.denoted, self.active = denoted, active

    @cython.ccall
    def without(self, found: Denotation, expression: cython.int) -> Denotation:
        """What of ``found`` is not in an expression. Of one that was relaxed to a superset nothing can be taken off."""
        taken: Denotation = self.denote(expression)
        if len(self.inexact) > 0 and expression in self.inexact:
            return found
        return difference(found, taken, self)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def looks_empty(self, expression: cython.int, depth: cython.int) -> cython.bint:
        if depth == 0 or len(self.active) > MOST_ASKED or expression in self.active:
            return False
        found: cython.bint
        self.asking += 1
        try:
            found = not self.plainly_filled(expression, depth) and self.holds_nothing(self.denote(expression), depth)
        except (_Loop, NotEnforced):
            return False  # asked in the middle of finding out what this very schema denotes; or not plain at all
        finally:
            self.asking -= 1
        self.empties[expression] = found
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plainly_filled(self, expression: cython.int, depth: cython.int) -> cython.bint:
        """Whether a type of values is left of which nothing is taken: what is left of the others need not be known."""
        entries: list = self.expressions.entries
        entry: tuple = entries[expression]
        d: Denotation
        t: Denotation
        denied: list
        plain: cython.int = -1
        if entry[0] == "not":
            denied = [entry[1]]
        elif entry[0] == "and":
            denied = []
            for part in entry[1]:
                inner: tuple = entries[part]
                if inner[0] == "not":
                    denied.append(inner[1])
                elif plain >= 0:
                    return False
                else:
                    plain = part
            if len(denied) == 0:
                return False
        else:
            return False
        d = ANYTHING if plain < 0 else self.denote(plain)
        null: cython.bint = False
        numbers: cython.bint = False
        strings: cython.bint = False
        arrays: cython.bint = False
        objects: cython.bint = False
        booleans: cython.int = 0
        for part in denied:
            t = self.denote(part)
            if part not in self.inexact:
                null = null or t.null
                booleans |= t.booleans
                numbers = numbers or len(t.numbers) > 0
                strings = strings or len(t.strings) > 0
                arrays = arrays or len(t.arrays) > 0
                objects = objects or len(t.objects) > 0
        if (d.null and not null) or (len(d.numbers) > 0 and not numbers) or (len(d.strings) > 0 and not strings):
            return True
        if d.booleans & ~booleans:
            return True
        if not arrays:
            for array in d.arrays:
                if not holds_no_array(array, self, depth):
                    return True
        if not objects:
            for shape in d.objects:
                if not holds_no_object(shape, self, depth):
                    return True
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def holds_nothing(self, d: Denotation, depth: cython.int) -> cython.bint:
        """Whether it is plain that there is no value."""
        if d.null or d.booleans or len(d.numbers) > 0 or len(d.strings) > 0:
            return False
        for array in d.arrays:
            if not holds_no_array(array, self, depth):
                return False
        for shape in d.objects:
            if not holds_no_object(shape, self, depth):
                return False
        return True

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def no_object(self, shape: ObjectShape, depth: cython.int = 3) -> cython.bint:
        """Whether it is plain that no object fits the shape."""
        return holds_no_object(shape, self, depth)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def no_array(self, shape: ArrayShape, depth: cython.int = 3) -> cython.bint:
        """Whether it is plain that no array fits the shape."""
        return holds_no_array(shape, self, depth)

    @cython.cfunc
    def of_constant(self, value) -> Denotation:
        if value is None:
            return Denotation(True, 0, (), (), (), ())
        if isinstance(value, bool):
            return Denotation(False, 2 if value else 1, (), (), (), ())
        if isinstance(value, (int, Decimal)):
            return Denotation(False, 0, (NumberShape.of_values([Decimal(value)]),), (), (), ())
        if isinstance(value, str):
            return Denotation(False, 0, (), (StringShape.of_values([value]),), (), ())
        if isinstance(value, list):
            items = tuple([self.constant(item) for item in value])
            return Denotation(False, 0, (), (), (ArrayShape(items, 0, len(items), len(items)),), ())
        members = tuple([(name, self.constant(item)) for name, item in value.items()])
        return Denotation(False, 0, (), (), (), (ObjectShape(members, (), frozenset(value), said=True),))

    @cython.ccall
    def values(self, values: list) -> Denotation:
        """A finite set: numbers and strings as one shape each."""
        numbers: list = []
        strings: list = []
        rest: list = []
        null: cython.bint = False
        booleans: cython.int = 0
        for value in values:
            if type(value) is str:
                strings.append(value)
            elif value is None:
                null = True
            elif isinstance(value, bool):
                booleans |= 2 if value else 1
            elif isinstance(value, (int, Decimal)):
                numbers.append(Decimal(value))
            elif isinstance(value, str):
                strings.append(value)
            else:
                rest.append(self.of_constant(value))
        found: Denotation = Denotation(
            null, booleans, (NumberShape.of_values(numbers),) if len(numbers) > 0 else (),
            (StringShape.of_values(strings),) if len(strings) > 0 else (), (), ())
        return disjunction([found, *rest], self) if len(rest) > 0 else found

    @cython.cfunc
    def of_place(self, place: Place) -> Denotation:
        """The conjunction of what every keyword of a schema says."""
        schema = place.schema
        found: Denotation
        kinds: cython.int
        if type(schema) is Given and schema.denotation is not None:
            return schema.denotation
        dialect = place.dialect
        kinds = kinds_of(schema)
        ref = schema.get("$ref") if kinds & REFERS else None
        if ref is not None and (len(schema) == 1 or dialect.ref_alone):
            return self.denote(self.end_of_references(place, ref))
        known: frozenset = dialect.keywords
        if "type" not in known:  # a dialect of one's own without the validation vocabulary
            schema = {key: value for key, value in schema.items() if key not in VALIDATION}
            place = Place(schema, place.pointer, place.scope, dialect, place.entered)
            kinds = kinds_of(schema)
        found = own_denotation(self, place, kinds)
        if not kinds & APPLIES:
            return found
        if ref is not None:
            found = conjunction(found, self.denote(self.at(self.document.follow(place, ref))), self)
        if len(found.objects) > 0 and "allOf" in schema and _comes_first(schema, "allOf", "properties"):
            # the order of members is that of the text
            found = conjunction(all_of(self, place, schema["allOf"], ANYTHING), found, self)
        dynamic = dialect.dynamic
        if dynamic and dynamic in schema:
            target = self.document.follow(place, schema[dynamic], dynamic)
            found = conjunction(found, self.denote(self.at(target)), self)
        for keyword in APPLIED:
            if keyword in schema and (keyword in known or keyword == "dependencies"):
                try:
                    found = applied(self, place, keyword, found)
                except NotEnforced as refused:
                    self.refuse(f"{place.pointer}/{keyword}", refused.reason, refused.hint)
                if found.is_nothing():
                    return found
        if self.tracking:
            if "unevaluatedProperties" in schema and "unevaluatedProperties" in known:
                found = unevaluated_properties(self, place, found)
            if "unevaluatedItems" in schema and "unevaluatedItems" in known:
                found = unevaluated_items(self, place, found)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end_of_references(self, place: Place, ref) -> cython.int:
        """Where a chain of references that say nothing else ends."""
        seen: set = set()
        while True:
            place = self.document.enter(self.document.follow(place, ref))
            schema = place.schema
            if not isinstance(schema, dict) or "$ref" not in schema or (
                    not place.dialect.ref_alone and len(schema) > 1) or self.dynamic:
                return self.at(place)
            if id(schema) in seen:
                raise _Loop("the schema refers to itself without a value in between", pointer=place.pointer,
                            hint="a reference loop must pass through a property or an item")
            seen.add(id(schema))
            ref = schema["$ref"]

    def pointer(self, expression: cython.int, keyword: str = ""):
        """Where an expression stands: of a combination, where its first place does, or the first with ``keyword``."""
        first = None
        place: Place
        entries: list = self.expressions.entries
        stack: list = [expression]
        while stack:
            kind, parts = entries[stack.pop()]
            if kind == "place":
                place = self.places[parts]
                if keyword in place.schema:
                    return f"{place.pointer}/{keyword}"
                first = place.pointer if first is None else first
            elif kind == "not":
                stack.append(parts)
            elif kind in ("and", "or"):
                stack.extend(reversed(parts))
        return first or ""

    # ---- refusing ------------------------------------------------------------------------------------

    @cython.ccall
    def relaxed(self, place: Place, keyword: str, reason: str, instead: Denotation) -> Denotation:
        """Refuse a keyword, or use ``instead``, a superset, where that is asked for."""
        self.refuse(f"{place.pointer}/{keyword}", reason)
        return instead

    def unknown_format(self, pointer: str, name: str):
        """Note (and warn of) an annotation; refuse it where only known formats are wanted."""
        reason = f"the format {echo(name)} is not known"
        if self.assert_formats == "strict":
            self.refuse(pointer, reason, "leave it out, or let it be an annotation with assert_formats=True")
            return
        if self.unsupported == "warn" and (pointer, "annotation", reason) not in self.notes:
            warn(f"at {pointer}: {reason}: not enforced", stacklevel=2)
        self.notes[pointer, "annotation", reason] = None

    def refuse(self, pointer: str, reason: str, hint: str = ""):
        """Raise ``UnsupportedSchemaError``, or note (and warn) with ``unsupported`` "ignore" ("warn")."""
        if self.asking:  # perhaps it need not be known
            raise NotEnforced(reason, hint)
        if self.unsupported == "error":
            raise UnsupportedSchemaError(f"{reason}: not enforced exactly", pointer=pointer, hint=hint or "simplify it",
                                         option='unsupported="warn" leaves it out')
        if self.unsupported == "warn":
            warn(f"at {pointer}: {reason}: not enforced", stacklevel=2)
        self.notes[pointer, "relaxed", reason] = None
        self.loose = True


@cython.cfunc
@cython.exceptval(-1, check=False)
def _comes_first(schema, one: str, other: str) -> cython.bint:
    """Whether both keywords stand, ``one`` before ``other``."""
    for key in schema:
        if key == one:
            return other in schema
        if key == other:
            return False
    return False
