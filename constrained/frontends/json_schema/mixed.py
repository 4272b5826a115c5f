"""Documents of which most is plain: ``direct`` writes what it can, ``normalise`` and ``emit`` the rest, into one set of
rules.

Either side asks the other for what stands inside of its places, so equal scalars, objects and references are one rule
whoever meets them first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from constrained.frontends.json_schema.assertions import APPLIES, kinds_of, own_denotation
from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.denotation import ANYTHING, Denotation
from constrained.frontends.json_schema.dialects import DIALECTS, PYTHON_TYPES, Dialect
from constrained.frontends.json_schema.direct import Writer
from constrained.frontends.json_schema.direct_document import Way
from constrained.frontends.json_schema.direct_reading import NoValue
from constrained.frontends.json_schema.direct_rules import Tables, Texts
from constrained.frontends.json_schema.document import Document, Place
from constrained.frontends.json_schema.emit import FALSE_WORD, MAX_WRITTEN, NULL_WORD, TRUE_WORD, Emitter, written_texts
from constrained.frontends.json_schema.expressions import TRUE
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.numbers import NumberShape
from constrained.frontends.json_schema.objects import Cell
from constrained.frontends.json_schema.policy import SPELLING, check_formats, json_policy
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape
from constrained.grammar.ir import Expr
from constrained.limits import Limits

__all__ = ["Host", "Kind", "way_of"]


class Kind:
    """How documents are read and written: the dialect, the spelling and the limits, with what they share."""

    def __init__(self, dialect: Dialect, limits: Limits, assert_formats: bool | str,
                 spelling: Mapping[str, Any]) -> None:
        """Raises ``SchemaError`` for a wrong spelling."""
        self.dialect = dialect
        self.limits = limits
        self.assert_formats = assert_formats
        self.policy = json_policy(spelling, dialect.float_integers)
        self.reader = Normaliser(Document(True, dialect), limits, assert_formats=assert_formats)
        emitter = Emitter(self.reader, self.policy, strict=False)
        self.written = written_texts(self.policy, limits)
        self.tables: Tables | None = None
        if (DIALECTS.get(dialect.name) is dialect or dialect is PYTHON_TYPES) and emitter.flat:
            spaces = next(iter(emitter.rules.items()), None)
            self.tables = Tables(emitter.space, emitter.comma, emitter.colon, spaces, self.texts,
                                 ANY_STRING.to_key_expr(self.policy, limits), "const" in dialect.keywords,
                                 self.policy.property_order == "any", dialect.ref_alone, limits.max_repeat,
                                 limits.max_schema_alternatives)
            self.layout = emitter.space, emitter.comma, emitter.colon, {
                b"{": self.tables.brackets, b"[": self.tables.square}

    def texts(self, schema: dict[str, Any]) -> Texts | None:
        """What a scalar is written as; None where it is none. Raises as the reading of a schema."""
        kinds = kinds_of(schema)
        if kinds & APPLIES:
            union = Normaliser(Document(schema, self.dialect), self.limits, assert_formats=self.assert_formats)
            d = union.denote(union.at(Place(schema, "", None, self.dialect, True)))
        else:
            self.reader.notes.clear()
            d = own_denotation(self.reader, Place(schema, "", None, self.dialect), kinds)
        if (d.objects and d.objects is not ANYTHING.objects) or (d.arrays and d.arrays is not ANYTHING.arrays):
            return None
        texts = self.written
        scalars: list[tuple[str, Expr | None, Any]] = []
        for kind, shapes in (("string", d.strings), ("number", d.numbers)):
            for shape in shapes:
                if isinstance(shape, StringShape) and shape.values:
                    scalars.append((kind, None, shape.values))
                    continue
                expr = texts.get(shape)
                if expr is None:
                    expr = texts[shape] = shape.to_expr(self.policy, self.limits)
                scalars.append((kind, expr, character_rules(expr)))
        words = (TRUE_WORD,) * bool(d.booleans & 2) + (FALSE_WORD,) * bool(d.booleans & 1) + (NULL_WORD,) * d.null
        return Texts(tuple(scalars), words, bool(d.objects), bool(d.arrays))


class _Normaliser(Normaliser):
    """Asks ``direct`` first whether a place has values."""

    writer: Writer

    def __init__(self, document: Document, kind: Kind, writer: Writer) -> None:
        super().__init__(document, kind.limits, assert_formats=kind.assert_formats)
        self.writer = writer
        self.owners: dict[int, int] = {id(ANYTHING): TRUE}
        """The first expression of a denotation, by its identity: others mean the very same."""

    def denote(self, expression: int) -> Denotation:
        known = self.denoted.get(expression)
        if known is None:
            known = super().denote(expression)
        if not self.names_only:  # those denotations do not last
            self.owners.setdefault(id(known), expression)
        return known

    def is_empty(self, expression: int, depth: int = 3) -> bool:
        known = self.empties.get(expression)
        if known is not None:
            return known
        kind, parts = self.expressions.entries[expression]
        if kind == "place" and expression not in self.denoted and self.writer.filled(self.places[parts].schema, depth):
            self.empties[expression] = False
            return False
        return super().is_empty(expression, depth)


class _Emitter(Emitter):
    """Has plain places written by ``direct``."""

    writer: Writer
    done = 0

    def __init__(self, normaliser: _Normaliser, kind: Kind, writer: Writer, *, strict: bool) -> None:
        super().__init__(normaliser, kind.policy, strict=strict)
        self.owners = normaliser.owners
        self.writer = writer
        self.rules, self.scalars, self.taken = writer.rules, writer.scalars, writer.taken
        self.space, self.comma, self.colon, self.brackets = kind.layout

    def value(self, expression: int) -> Expr:
        known = self.names.get(expression)
        if known is not None:
            return known
        found: Expr | None = None
        if expression == TRUE:
            found = self.writer.everything()
        else:
            kind, parts = self.normaliser.expressions.entries[expression]
            if kind == "place":
                place = self.normaliser.places[parts]
                found = self.writer.plain_value(place.schema, place.pointer)
            if found is None:
                return self.combined(expression)
        self.names[expression] = found
        return found

    def combined(self, expression: int) -> Expr:
        """A value of an expression that is not plain; it may mean the same as one that is."""
        known = self.names.get(expression)
        if known is not None:
            return known
        meaning = self.normaliser.denoted.get(expression)
        owner = None if meaning is None else self.owners.get(id(meaning))
        if owner is None or owner == expression:
            return super().value(expression)
        found = self.names[expression] = self.value(owner)
        return found

    def text_of(self, shape: StringShape | NumberShape) -> Expr:
        if isinstance(shape, StringShape) and shape.values:
            return self.writer.list_of(shape.values)
        return super().text_of(shape)

    def member(self, name: str, expression: int) -> Expr:
        if type(name) is not str:  # of several names
            return super().member(name, expression)
        return self.writer.member_of(name, self.value(expression))

    def free_member(self, cells: tuple[Cell, ...], declared: list[str]) -> Expr | None:
        if len(cells) == 1 and cells[0][0] is ANY_STRING and not self.normaliser.is_empty(cells[0][1]):
            return self.writer.free_of([str(name) for name in declared], self.value(cells[0][1]))
        return super().free_member(cells, declared)

    def key_text(self, names: StringShape) -> Expr:
        if names == StringShape(excluded=names.excluded):
            return self.writer.key_of(names.excluded)
        return super().key_text(names)

    def write(self) -> bool:
        """The rules of all that waits; False: nothing does."""
        if self.done == len(self.waiting):
            return False
        while self.done < len(self.waiting):
            expression, _, name = self.waiting[self.done]
            self.done += 1
            self.rules[name] = self.body(expression)
        return True


class Host:
    """What ``direct`` asks for, in a document."""

    def __init__(self, kind: Kind, writer: Writer, document: Any, strict: bool) -> None:
        self.document = Document(document, kind.dialect, nameless=True)
        self.kind = kind
        self.strict = strict
        self.emitter: _Emitter | None = None
        self.writer = writer

    def is_apart(self, pattern: str, names: Iterable[str]) -> bool:
        """Whether the pattern is in none of some names. Raises for a wrong pattern."""
        shape = StringShape.from_pattern(pattern, self.kind.limits)
        return not any(map(shape.contains, names))

    def names(self, pattern: str, out: frozenset[str], others: bool) -> list[Expr]:
        """The texts of the names but ``out`` in which a pattern is, then of ``others``, in which it is not, part by
        part."""
        shape = StringShape.from_pattern(pattern, self.kind.limits)
        return [names.exclude_values(out).to_key_expr(self.kind.policy, self.kind.limits)
                for names in (shape, *(shape.complement() if others else ()))]

    def slow(self, schema: Any, pointer: str) -> Expr:
        """The expression of a schema that is not plain. Raises ``NoValue`` where it has none."""
        emitter = self.emitter
        normaliser: Normaliser
        if emitter is None:
            normaliser = _Normaliser(self.document, self.kind, self.writer)
            emitter = self.emitter = _Emitter(normaliser, self.kind, self.writer, strict=self.strict)
        normaliser = emitter.normaliser
        expression = normaliser.at(Place(schema, pointer, None, self.kind.dialect, not pointer))
        if normaliser.is_empty(expression):
            raise NoValue
        return emitter.combined(expression)

    def write(self) -> bool:
        """The rules of all that waits; False: nothing does."""
        return self.emitter is not None and self.emitter.write()


def way_of(dialect: Dialect, limits: Limits, options: tuple[Any, ...]) -> Way:
    """How documents of a kind are read: ``options`` are ``assert_formats`` and the spelling's (``SPELLING``).

    Raises ``SchemaError`` for a wrong spelling.
    """
    check_formats(options[0])
    kind = Kind(dialect, limits, options[0], dict(zip(SPELLING, options[1:], strict=True)))
    return Way(dialect, limits, options, kind.tables, kind.written, MAX_WRITTEN, partial(Host, kind))
