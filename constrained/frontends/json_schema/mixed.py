# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Documents of which most is plain: ``direct`` writes what it can, ``normalise`` and ``emit`` the rest, into one set of
rules.

Either side asks the other for what stands inside of its places, so equal scalars, objects and references are one rule
whoever meets them first.
"""

from __future__ import annotations

from functools import partial

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.assertions import APPLIES, VALUES
from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.denotation import ANYTHING
from constrained.frontends.json_schema.dialects import DIALECTS, PYTHON_TYPES
from constrained.frontends.json_schema.direct_document import Way
from constrained.frontends.json_schema.direct_reading import NoValue
from constrained.frontends.json_schema.emit import FALSE_WORD, MAX_WRITTEN, NULL_WORD, TRUE_WORD, written_texts
from constrained.frontends.json_schema.policy import SPELLING, check_formats, json_policy
from constrained.frontends.json_schema.scalar_texts import Tables, Texts
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.assertions import kinds_of, own_denotation
    from cython.cimports.constrained.frontends.json_schema.denotation import Denotation
    from cython.cimports.constrained.frontends.json_schema.direct import Writer
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import mark
    from cython.cimports.constrained.frontends.json_schema.document import Document, Place
    from cython.cimports.constrained.frontends.json_schema.emit import Emitter
    from cython.cimports.constrained.frontends.json_schema.normalise import Normaliser
else:
    from constrained.frontends.json_schema.assertions import kinds_of, own_denotation
    from constrained.frontends.json_schema.denotation import Denotation
    from constrained.frontends.json_schema.direct import Writer
    from constrained.frontends.json_schema.direct_nodes import mark
    from constrained.frontends.json_schema.document import Document, Place
    from constrained.frontends.json_schema.emit import Emitter
    from constrained.frontends.json_schema.normalise import Normaliser

__all__ = ["Host", "Kind", "way_of"]


class Kind:
    """How documents are read and written: the dialect, the spelling and the limits, with what they share."""

    def __init__(self, dialect, limits, assert_formats, spelling):
        """Raises ``SchemaError`` for a wrong spelling."""
        self.dialect = dialect
        self.limits = limits
        self.assert_formats = assert_formats
        self.policy = json_policy(spelling, dialect.float_integers)
        self.reader = Normaliser(Document(True, dialect), limits, assert_formats=assert_formats)
        emitter = Emitter(self.reader, self.policy, strict=False)
        self.written = written_texts(self.policy, limits)
        self.tables = None
        if (DIALECTS.get(dialect.name) is dialect or dialect is PYTHON_TYPES) and emitter.flat:
            spaces = next(iter(emitter.rules.items()), None)
            self.tables = Tables(emitter.space, emitter.comma, emitter.colon, spaces, self.texts,
                                 ANY_STRING.to_key_expr(self.policy, limits), "const" in dialect.keywords,
                                 self.policy.property_order == "any", dialect.ref_alone, limits.max_repeat,
                                 limits.max_schema_alternatives)
            self.layout = emitter.space, emitter.comma, emitter.colon, {
                b"{": self.tables.brackets, b"[": self.tables.square}

    def texts(self, schema: dict):
        """What a scalar is written as; None where it is none. Raises as the reading of a schema."""
        d: Denotation
        kinds: cython.int = kinds_of(schema)
        if kinds == VALUES and "const" not in schema:
            listed = _listed(schema["enum"], schema.get("type"))
            if listed is not None:
                return listed
        if kinds & APPLIES:
            union = Normaliser(Document(schema, self.dialect), self.limits, assert_formats=self.assert_formats)
            d = union.denote(union.at(Place(schema, "", None, self.dialect, True)))
        else:
            self.reader.notes.clear()
            d = own_denotation(self.reader, Place(schema, "", None, self.dialect), kinds)
        if (d.objects and d.objects is not ANYTHING.objects) or (d.arrays and d.arrays is not ANYTHING.arrays):
            return None
        texts = self.written
        scalars: list = []
        for kind, shapes in (("string", d.strings), ("number", d.numbers)):
            for shape in shapes:
                if isinstance(shape, StringShape) and shape.values:
                    scalars.append((kind, None, shape.values))
                    continue
                expr = texts.get(shape)
                if expr is None:
                    expr = texts[shape] = shape.to_expr(self.policy, self.limits)
                scalars.append((kind, expr, character_rules(expr) if kind == "string" else None))
        words = (TRUE_WORD,) * bool(d.booleans & 2) + (FALSE_WORD,) * bool(d.booleans & 1) + (NULL_WORD,) * d.null
        return Texts(tuple(scalars), words, bool(d.objects), bool(d.arrays))


@cython.cfunc
def _listed(values: list, types):
    """The texts of those of some values that have one of the types; None: they are more than strings and null."""
    names: tuple = (types,) if types is None or type(types) is str else tuple(types)
    any_type: cython.bint = types is None
    null: cython.bint = False
    strings: dict = {}
    for value in values:
        if value is None:
            null = True
        elif type(value) is str and cython.cast(str, value).isascii():
            strings[value] = None
        else:
            return None
    found = tuple(strings) if any_type or "string" in names else ()
    null = null and (any_type or "null" in names)
    return Texts((("string", None, found),) if found else (), (NULL_WORD,) if null else (), False, False)


@cython.final
@cython.cclass
class _Normaliser(Normaliser):
    """Asks ``direct`` first whether a place has values.

    ``owners``: the first expression of a denotation, by its identity: others mean the very same.
    """

    def __init__(self, document: Document, kind, writer: Writer):
        Normaliser.__init__(self, document, kind.limits, assert_formats=kind.assert_formats)
        self.writer = writer
        self.owners = {mark(ANYTHING): 1}

    @cython.ccall
    def denote(self, expression: cython.int) -> Denotation:
        known = self.denoted.get(expression)
        if known is not None and len(self.inexact) == 0:
            found: Denotation = known
        else:
            found = Normaliser.denote(self, expression)
        if not self.names_only:  # those denotations do not last
            key = mark(found)
            if key not in self.owners:
                self.owners[key] = expression
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def looks_empty(self, expression: cython.int, depth: cython.int) -> cython.bint:
        entry: tuple = self.expressions.entries[expression]
        if entry[0] == "place" and expression not in self.denoted and self.writer.filled(
                cython.cast(Place, self.places[entry[1]]).schema, depth):
            self.empties[expression] = False
            return False
        return Normaliser.looks_empty(self, expression, depth)


@cython.final
@cython.cclass
class _Emitter(Emitter):
    """Has plain places written by ``direct``."""

    def __init__(self, normaliser: _Normaliser, kind, writer: Writer, *, strict: bool):
        Emitter.__init__(self, normaliser, kind.policy, strict=strict)
        self.owners = normaliser.owners
        self.writer = writer
        self.done = 0
        self.rules, self.taken = writer.rules, writer.taken
        self.space, self.comma, self.colon, self.brackets = kind.layout

    @cython.ccall
    def value(self, expression: cython.int):
        known = self.names.get(expression)
        if known is not None:
            return known
        found = None
        if expression == 1:
            found = self.writer.everything()
        else:
            entry: tuple = self.normaliser.expressions.entries[expression]
            if entry[0] == "place":
                place: Place = self.normaliser.places[entry[1]]
                found = self.writer.plain_value(place.schema, place.pointer)
            if found is None:
                return self.combined(expression)
        self.names[expression] = found
        return found

    @cython.cfunc
    def combined(self, expression: cython.int):
        """A value of an expression that is not plain; it may mean the same as one that is."""
        known = self.names.get(expression)
        if known is not None:
            return known
        meaning = self.normaliser.denoted.get(expression)
        owner = None if meaning is None else self.owners.get(mark(meaning))
        if owner is None or owner == expression:
            return Emitter.value(self, expression)
        found = self.value(owner)
        self.names[expression] = found
        return found

    @cython.ccall
    def text_of(self, shape):
        if isinstance(shape, StringShape) and shape.values:
            return self.writer.list_of(shape.values)
        return Emitter.text_of(self, shape)

    @cython.ccall
    def scalar(self, kind: str, expr):
        return self.writer.scalar_of(kind, expr)

    @cython.ccall
    def member(self, name, expression: cython.int):
        if type(name) is not str:  # of several names
            return Emitter.member(self, name, expression)
        return self.writer.member(name, self.value(expression))

    @cython.ccall
    def free_member(self, cells: tuple, declared: list):
        if len(cells) == 1 and cells[0][0] is ANY_STRING and not self.normaliser.is_empty(cells[0][1]):
            return self.writer.free_member([str(name) for name in declared], self.value(cells[0][1]))
        return Emitter.free_member(self, cells, declared)

    @cython.ccall
    def key_text(self, names):
        if names == StringShape(excluded=names.excluded):
            return self.writer.key_of(names.excluded)
        return Emitter.key_text(self, names)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write(self) -> cython.bint:
        """The rules of all that waits; False: nothing does."""
        expression: cython.int
        if self.done == len(self.waiting):
            return False
        while self.done < len(self.waiting):
            expression, _, name = cython.cast(tuple, self.waiting[self.done])
            self.done += 1
            self.rules[name] = self.body(expression)
        return True


class Host:
    """What ``direct`` asks for, in a document."""

    def __init__(self, kind, writer: Writer, document, strict: bool):
        self.document = Document(document, kind.dialect, None, writer.checked, nameless=True)
        self.kind = kind
        self.strict = strict
        self.emitter = None
        self.writer = writer

    def is_apart(self, pattern: str, names):
        """Whether the pattern is in none of some names. Raises for a wrong pattern."""
        return not StringShape.from_pattern(pattern, self.kind.limits).any_of(names)

    def names(self, pattern: str, out: frozenset, others: bool):
        """The texts of the names but ``out`` in which a pattern is, then of ``others``, in which it is not, part by
        part."""
        shape = StringShape.from_pattern(pattern, self.kind.limits)
        return [names.exclude_values(out if names is not shape or shape.any_of(out) else ()).to_key_expr(
            self.kind.policy, self.kind.limits) for names in (shape, *(shape.complement() if others else ()))]

    def slow(self, schema, pointer: str):
        """The expression of a schema that is not plain. Raises ``NoValue`` where it has none."""
        emitter: _Emitter = self.emitter
        if emitter is None:
            emitter = _Emitter(_Normaliser(self.document, self.kind, self.writer), self.kind, self.writer,
                               strict=self.strict)
            self.emitter = emitter
        expression: cython.int = emitter.normaliser.at(Place(schema, pointer, None, self.kind.dialect, not pointer))
        if emitter.normaliser.is_empty(expression):
            raise NoValue
        return emitter.combined(expression)

    def write(self):
        """The rules of all that waits; False: nothing does."""
        emitter: _Emitter = self.emitter
        return emitter is not None and emitter.write()


def way_of(dialect, limits, options: tuple):
    """How documents of a kind are read: ``options`` are ``assert_formats`` and the spelling's (``SPELLING``).

    Raises ``SchemaError`` for a wrong spelling.
    """
    check_formats(options[0])
    kind = Kind(dialect, limits, options[0], dict(zip(SPELLING, options[1:], strict=True)))
    return Way(dialect, limits, options, kind.tables, kind.written, MAX_WRITTEN, partial(Host, kind))
