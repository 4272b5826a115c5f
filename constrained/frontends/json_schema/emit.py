# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Denotations to grammar rules: one rule for each expression that a value position needs.

A value is a choice over types and alternatives. Objects in schema order are automata over members (``Graph``) in which
optional ones may be skipped; in any order they are ``Unordered`` groups. Arrays are counted repetitions. What is rare
stands elsewhere: members that must exist (``existing_members``), what is counted (``counted_rules``), different items
(``distinct_items``). A worklist of expressions; nothing recurses into values.

Text between tokens follows ``TextPolicy``: bounded whitespace, or exactly the separators (and indentation) given.
"""

from __future__ import annotations

from functools import lru_cache
from types import NoneType

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import GrammarLimitError, echo
from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.counted_rules import (
    counted_array,
    members_in_stages,
    some_items,
    stages_of,
    too_many_stages,
)
from constrained.frontends.json_schema.direct_nodes import in_order
from constrained.frontends.json_schema.distinct_items import different_items, names_suffice
from constrained.frontends.json_schema.existing_members import few_named, spelled_out, with_witnesses
from constrained.frontends.json_schema.finite_values import finite_values
from constrained.frontends.json_schema.given import Names, all_names
from constrained.frontends.json_schema.looser import looser
from constrained.frontends.json_schema.objects import ANY_OTHERS
from constrained.frontends.json_schema.policy import DEFAULT_WHITESPACE
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.spelling import json_literal
from constrained.grammar.ir import Distinct, RuleSet
from constrained.kernel.nodes import CharClass, before_value, part

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.arrays import ArrayShape
    from cython.cimports.constrained.frontends.json_schema.denotation import Denotation
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import in_spaces, mark, reference, sequence
    from cython.cimports.constrained.frontends.json_schema.document import Place
    from cython.cimports.constrained.frontends.json_schema.normalise import Normaliser
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape
    from cython.cimports.constrained.frontends.json_schema.presence import fewer_shapes
    from cython.cimports.constrained.kernel.nodes import Choice, Literal, Reference, Repeat, Sequence, Unordered
else:
    from constrained.frontends.json_schema.arrays import ArrayShape
    from constrained.frontends.json_schema.denotation import Denotation
    from constrained.frontends.json_schema.direct_nodes import in_spaces, mark, reference, sequence
    from constrained.frontends.json_schema.document import Place
    from constrained.frontends.json_schema.normalise import Normaliser
    from constrained.frontends.json_schema.objects import ObjectShape
    from constrained.frontends.json_schema.presence import fewer_shapes
    from constrained.kernel.nodes import Choice, Literal, Reference, Repeat, Sequence, Unordered

__all__ = ["MAX_WRITTEN", "Emitter", "written_texts"]

EMPTY = Literal(b"")
NOTHING = Choice(())
SPACE = CharClass(((9, 10), (13, 13), (32, 32)))
OBJECTS = cython.declare(cython.int, 1)
ARRAYS = cython.declare(cython.int, 2)
STRINGS = cython.declare(cython.int, 3)
NUMBERS = cython.declare(cython.int, 4)
"""Kinds of shapes."""
MAX_INDENT_DEPTH = cython.declare(cython.int, 32)
"""Nesting up to which indentation is written out."""

MAX_DIFFERENT_ITEMS = 1_000
MAX_DIFFERENT_STRINGS = 20_000
"""Values out of which an array of different items may be made."""


TRUE_WORD, FALSE_WORD, NULL_WORD = Literal(b"true"), Literal(b"false"), Literal(b"null")
MAX_WRITTEN = 2_000
"""Sets of strings and numbers of one policy whose texts are kept from one schema to the next."""


@lru_cache(maxsize=16)
def written_texts(policy, limits):
    """The texts of sets of strings and numbers that were written under this policy."""
    return {}


@cython.cfunc
@cython.inline
def _one_or(options: list):
    """Alternatives, or the only one."""
    return options[0] if len(options) == 1 else Choice(tuple(options))


@cython.cclass
class Emitter:
    """Writes the rules of one normalised document.

    ``names``: how expressions are referred to, by (depth and) expression. ``waiting``: ``(expression, depth, name)`` of
    the rules that are written later. ``renamed``: what makes of the name of such a rule another one, or None.
    ``plain_scalars``: whether a value that is one set of strings or numbers is a reference to its texts, without a rule
    of its own.
    """

    def __init__(self, normaliser: Normaliser, policy, *, strict: bool):
        self.normaliser = normaliser
        self.policy = policy
        self.strict = strict
        self.plain_scalars = True
        self.any_order = policy.property_order == "any"
        self.rules = {}
        self.names = {}
        self.meanings = {}  # by identity; the normaliser keeps the denotations alive
        most = policy.max_whitespace_cnt
        whitespace = "ws" if most == DEFAULT_WHITESPACE else f"ws {'any' if most is None else most}"
        self.taken = {whitespace, "root"}
        self.waiting = []
        self.keys = {}
        self.members = {}
        self.free_members = {}
        self.brackets = {}
        self.flat = policy.indent is None or policy.any_whitespace
        self.texts = written_texts(policy, normaliser.limits)
        if len(self.texts) > MAX_WRITTEN:
            self.texts.clear()
        self.key_texts = {}
        self.listed = {}  # all of some names, where they are few
        self.scalars = {}  # by identity; the rules keep the expressions alive
        self.renamed = None
        self.depth = 0
        self.spaced = policy.any_whitespace
        space: object = EMPTY
        if self.spaced:
            self.rules[whitespace] = Repeat(SPACE, 0, most)
            space = Reference(whitespace)  # parts of one structural tag share rules, and each may have its own
        self.space = space
        item, colon = policy.separators or ((", ", ": ") if policy.indent is None else (",", ": "))
        self.comma = part(Sequence((space, Literal(b","), space))) if self.spaced else Literal(item.encode())
        self.colon = before_value(Sequence((space, Literal(b":"), space))) if self.spaced else Literal(colon.encode())

    def run(self, root: int):
        """The rules with ``root`` as their root."""
        self.rules["root"] = self.value(root)
        done: cython.Py_ssize_t = 0
        while done < len(self.waiting):
            expression, depth, name = self.waiting[done]
            done += 1
            self.depth = depth
            self.rules[name] = self.body(expression)
        return RuleSet(self.rules, "root")

    @cython.ccall
    def value(self, expression: cython.int):
        """A value of ``expression``, as a reference to its rule (made later)."""
        if expression == 0:
            return NOTHING
        depth: cython.int = 0 if self.flat else self.depth
        key: object = expression
        if not self.flat:
            key = (expression, depth)
        known = self.names.get(key)
        if known is not None:
            return known
        meaning = self.normaliser.denoted.get(expression)
        if meaning is not None:
            if self.plain_scalars:
                scalar = self.plain_scalar(expression)
                if scalar is not None:
                    self.names[key] = scalar
                    return scalar
            # what only refers to another schema means the very same
            known = self.meanings.get((mark(meaning), depth))
            if known is not None:
                self.names[key] = known
                return known
        if depth > MAX_INDENT_DEPTH:
            return NOTHING  # a spelling that ends: deeper values are not written with exact indentation
        name: str = self.rule_name(expression, depth)
        found = reference(name)
        self.names[key] = found
        if meaning is not None:
            self.meanings[(mark(meaning), depth)] = found
        self.waiting.append((expression, depth, name))
        return found

    @cython.ccall
    def plain_scalar(self, expression: cython.int):
        """The texts of an expression, found out before, that is one set of strings or numbers; else None."""
        known = self.normaliser.denoted.get(expression)
        if known is None:
            return None
        d: Denotation = known
        if len(d.objects) > 0 or len(d.arrays) > 0 or d.booleans or d.null or len(d.strings) + len(d.numbers) != 1:
            return None
        try:
            return self.string(d.strings[0]) if len(d.strings) > 0 else self.number(d.numbers[0])
        except (NotEnforced, GrammarLimitError):
            return None  # ``body`` says where

    @cython.ccall
    def rule_name(self, expression: cython.int, depth: cython.int) -> str:
        """The name of an expression's rule, which is taken then."""
        entry: tuple = self.normaliser.expressions.entries[expression]
        kind: str = entry[0]
        base: str = "#" + cython.cast(Place, self.normaliser.places[entry[1]]).pointer if kind == "place" else (
            f"{kind} {expression}")
        name: str = base if len(base) < 80 else f"{base[:60]}... {expression}"
        if name in self.taken:  # another dialect's or scope's reading of the same place
            name = f"{name} {expression}.{depth}"
        self.taken.add(name)
        return name if self.renamed is None else self.renamed(name)

    @cython.ccall
    def body(self, expression: cython.int):
        """The alternatives of one expression."""
        normaliser: Normaliser = self.normaliser
        d: Denotation = normaliser.denote(expression)
        options: list = []
        if len(d.objects) > 0:
            objects: tuple = tuple([shape for shape in d.objects if not normaliser.no_object(shape)])
            for shape in fewer_shapes(objects, self.strict, not self.any_order):
                options.append(self.exactly(expression, OBJECTS, shape))
        for array in d.arrays:
            if not normaliser.no_array(array):
                options.append(self.exactly(expression, ARRAYS, array))
        for string in d.strings:
            options.append(self.exactly(expression, STRINGS, string))
        for number in d.numbers:
            options.append(self.exactly(expression, NUMBERS, number))
        if d.booleans & 2:
            options.append(TRUE_WORD)
        if d.booleans & 1:
            options.append(FALSE_WORD)
        if d.null:
            options.append(NULL_WORD)
        return _one_or(options)

    @cython.ccall
    def scalar(self, kind: str, expr):
        """A rule for the spellings of a set of strings or numbers: equal sets give one expression, which is shared."""
        if isinstance(expr, Literal):
            return expr
        key = mark(expr)
        known = self.scalars.get(key)
        if known is None:
            name = kind if kind not in self.rules else f"{kind} {len(self.scalars)}"
            self.rules[name] = expr
            self.rules.update(character_rules(expr))
            known = reference(name)
            self.scalars[key] = known
        return known

    @cython.cfunc
    def exactly(self, expression: cython.int, kind: cython.int, shape):
        """A shape of a kind; what cannot be written is refused at its place, or a looser shape is written."""
        try:
            return self.of_kind(kind, shape)
        except NotEnforced as refused:
            self.refused(expression, refused)
        except GrammarLimitError as error:
            self.refused(expression, error)
        for other in looser(shape):
            try:
                return self.of_kind(kind, other)
            except (NotEnforced, GrammarLimitError):
                continue
        return NOTHING

    @cython.cfunc
    def of_kind(self, kind: cython.int, shape):
        if kind == OBJECTS:
            return self.object(shape)
        if kind == ARRAYS:
            return self.array(shape)
        if kind == STRINGS:
            return self.string(shape)
        return self.number(shape)

    def refused(self, expression: int, error: Exception):
        """Raises for what cannot be written, at its place, or notes it where that is asked for."""
        normaliser = self.normaliser
        if isinstance(error, NotEnforced):
            keyword = error.reason.split(" ", 1)[0]
            normaliser.refuse(normaliser.pointer(expression, keyword), error.reason, error.hint)
            return
        pointer = normaliser.pointer(expression)
        if normaliser.unsupported == "error":
            message = str(error).split(" (Limits")[0]
            raise GrammarLimitError(error.limit, error.value, f"at {echo(pointer)}: {message}") from None
        normaliser.refuse(pointer, str(error).split("\n")[0], "")

    @cython.ccall
    def string(self, shape):
        """One alternative of a string."""
        return self.scalar("string", self.text_of(shape))

    @cython.ccall
    def number(self, shape):
        """One alternative of a number."""
        return self.scalar("number", self.text_of(shape))

    @cython.ccall
    def text_of(self, shape):
        """The texts of a set, kept from one schema to the next."""
        expr = self.texts.get(shape)
        if expr is None:
            expr = shape.to_expr(self.policy, self.normaliser.limits)
            self.texts[shape] = expr
        return expr

    # ---- layout --------------------------------------------------------------------------------------

    @cython.cfunc
    def newline(self, depth: cython.int) -> bytes:
        indent = self.policy.indent
        if indent is None or self.spaced:
            return b""
        unit = " " * indent if isinstance(indent, int) else indent
        return ("\n" + unit * depth).encode()

    @cython.ccall
    def bracketed(self, left: bytes, inside, right: bytes, may_be_empty: cython.bint):
        """Brackets around what ``inside`` writes, which is never empty; None: it writes nothing."""
        if self.flat:
            return self.flat_brackets(left, inside, right, may_be_empty)
        options: list = []
        if inside is not None:
            opening = Literal(left + self.newline(self.depth + 1))
            closing = Literal(self.newline(self.depth) + right)
            options.append(Sequence((opening, inside, closing)))
        if may_be_empty:
            options.append(Literal(left + right))
        return _one_or(options)

    @cython.cfunc
    def flat_brackets(self, left: bytes, inside, right: bytes, may_be_empty: cython.bint):
        known = self.brackets.get(left)
        if known is None:
            first, last = Literal(left), Literal(right)
            known = first, last, Literal(left + right), last
            if self.spaced:
                known = first, last, Sequence((first, self.space, last)), part(Sequence((self.space, last)))
            self.brackets[left] = known
        opening, closing, empty, _ = cython.cast(tuple, known)
        if inside is None:
            return empty if may_be_empty else NOTHING
        if self.spaced:
            return in_spaces(known, self.space, inside, may_be_empty)
        full = sequence((opening, inside, closing))
        return Choice((full, empty)) if may_be_empty else full

    @cython.ccall
    def separator(self):
        """What stands between two members or items."""
        if self.flat:
            return self.comma
        line = self.newline(self.depth + 1)
        return Sequence((self.comma, Literal(line))) if line else self.comma

    @cython.ccall
    def inner(self, expression: cython.int):
        """A value one level deeper."""
        if self.flat:
            return self.value(expression)
        self.depth += 1
        try:
            return self.value(expression)
        finally:
            self.depth -= 1

    @cython.ccall
    def key(self, name):
        """The name of a member."""
        if type(name) is not Names:
            return json_literal(name)
        names = (name, *name.others)
        known = self.keys.get(names)
        if known is None:
            known = Choice(tuple([json_literal(str(one)) for one in names]))
            self.keys[names] = known
        return known

    # ---- objects -------------------------------------------------------------------------------------

    @cython.ccall
    def object(self, shape: ObjectShape):
        """One alternative of an object."""
        normaliser: Normaliser = self.normaliser
        closed: cython.bint = self.strict and not shape.said
        empty: cython.bint
        needed: cython.bint
        several: cython.bint = False
        if len(shape.exists) > 0 and not closed:
            named = few_named(self, shape)
            if named is not None:
                return Choice(tuple([self.object(one) for one in named if not normaliser.no_object(one)]))
        required: frozenset = shape.required
        members: list = []
        declared: list = []
        standing: list = []  # the numbers of the members that must be
        empties: dict = normaliser.empties
        for said in shape.properties:
            name, expression = cython.cast(tuple, said)
            declared.append(name)
            several = several or type(name) is not str
            known = empties.get(expression)
            empty = normaliser.looks_empty(expression, 3) if known is None else known
            needed = len(required) > 0 and name in required
            if not empty:
                if needed:
                    standing.append(len(members))
                members.append(self.member(name, expression))
            elif needed:
                return NOTHING
        if several:
            declared = all_names(declared)
        # a name that is only required stands behind the declared ones, with what the cells say about it
        if len(standing) < len(required):
            for name in sorted(required - shape.declared().keys()):
                other: cython.int = shape.at_other(name)
                if closed or other == 0:
                    return NOTHING
                declared.append(name)
                standing.append(len(members))
                members.append(self.member(name, other))
        cells: tuple = () if closed else shape.others
        if len(shape.exists) > 0:
            return with_witnesses(self, shape, members, standing, cells, declared)
        least = 0
        most = None
        compared: cython.bint = False
        bounded: cython.bint = shape.maximum is not None or shape.minimum > 0
        if bounded:
            # a free name may be written twice, and counts once: where two or more must stand, names are compared
            compared = len(cells) > 0 and shape.minimum > len(standing) + 1
            if compared:
                cells = spelled_out(self, cells, members, declared)
        free = self.free_member(cells, declared)
        if bounded:
            compared = compared and free is not None
            if compared and not names_suffice(self, cells, declared, shape.minimum - len(standing)):
                raise NotEnforced("minProperties counts undeclared members of which there are few names",
                                  "declare the properties, or require them by name")
            least, most = self.counts(shape, len(members), len(standing), free, 0, compared)
        if self.any_order:
            found = self.in_any_order(members, standing, free, least, most)
        elif least or most is not None:
            found = self.in_counted_order(members, standing, free, least, most)
        else:
            found = self.in_order(members, standing, free)
        return Distinct(found) if compared else found

    @cython.ccall
    def member(self, name, expression: cython.int):
        """A member with this name. Equal ones are one node, which is lowered once for all groups in any order."""
        key = (name if type(name) is not Names else (name, *name.others), expression, self.depth)
        known = self.members.get(key)
        if known is None:
            known = sequence((self.key(name), self.colon, self.inner(expression)))
            self.members[key] = known
        return known

    @cython.ccall
    def free_member(self, cells: tuple, declared: list):
        """A member whose name is not declared."""
        expression: cython.int
        if len(cells) == 0:
            return None
        out = frozenset(declared)
        key = (None if cells is ANY_OTHERS else cells, out, self.depth)
        if key in self.free_members:
            return self.free_members[key]
        options: list = []
        for names, value in cells:
            expression = value
            if not self.normaliser.is_empty(expression):
                left = names.exclude_values(out)
                options.append(sequence((self.key_text(left), self.colon, self.inner(expression))))
        found = None if len(options) == 0 else _one_or(options)
        self.free_members[key] = found
        return found

    @cython.ccall
    def key_text(self, names):
        """Any of some names."""
        text = self.key_texts.get(names)
        if text is None:
            text = names.to_key_expr(self.policy, self.normaliser.limits)
            self.key_texts[names] = text
        return self.scalar("key", text)

    def counts(self, shape: ObjectShape, there_are: int, needed: int, free, witnesses: int, compared: bool = False):
        """How many members must and may be written, of ``there_are`` of which some are needed, and witnesses; (0, None)
        where the rest says it already."""
        required = needed + witnesses
        least = shape.minimum if shape.minimum > required else 0
        most = shape.maximum
        if most is not None and free is None and most >= there_are + witnesses:
            most = None
        if least > required + 1 and free is not None and not compared:
            raise NotEnforced(
                "minProperties counts undeclared members, which may repeat a name",
                "declare the properties, or require them by name")
        return least, most

    @cython.ccall
    def in_any_order(self, members: list, standing: list, free, least, most, in_order=False):
        """An object of members in any order, of which those numbered ``standing`` must come, and free ones.

        ``in_order``: those that are written come in their order, the free ones behind them.
        """
        empty: cython.bint = len(standing) == 0 and least == 0
        inside = None
        if (len(members) > 0 or free is not None) and (most is None or most != 0):
            inside = Unordered(tuple(members), frozenset(standing), self.separator(), free, max(least, 1), most,
                               in_order)
        elif not empty:
            return NOTHING
        return self.bracketed(b"{", inside, b"}", empty)

    @cython.ccall
    def in_order(self, members: list, standing: list, free):
        """The same with members in their order, those that need not stand at will; then any number of ``free`` ones."""
        inside, may_be_empty = in_order(members, standing, free, self.separator())
        return self.bracketed(b"{", inside, b"}", may_be_empty)

    def in_counted_order(self, members: list, standing: list, free, least, most):
        """``in_order`` with a count: few states, or a group."""
        if too_many_stages(len(members) + 1, least, most):
            return self.in_any_order(members, standing, free, least, most, True)
        return self.in_stages([*stages_of(members, standing), (free, None)], least, most)

    def in_stages(self, stages, least, most):
        """In order, with a count, stage by stage: see ``counted_rules``."""
        return members_in_stages(self, stages, least, most)

    # ---- arrays --------------------------------------------------------------------------------------

    @cython.ccall
    def array(self, shape: ArrayShape):
        """One alternative of an array."""
        most = shape.maximum
        if shape.unique and not (most is not None and most <= 1):
            return self.different_items(shape)
        if len(shape.contains) > 0:
            if len(shape.prefix) == 0 and len(shape.contains) <= 3 and all(
                    [c[1:] == (1, None, 0) for c in shape.contains]):
                return some_items(self, shape)
            return counted_array(self, shape)
        if most is not None and most == 0:
            return self.bracketed(b"[", None, b"]", True)
        i: cython.Py_ssize_t
        separator = self.separator()
        k: cython.Py_ssize_t = len(shape.prefix)
        minimum: cython.Py_ssize_t = shape.minimum
        rest: cython.int = shape.rest if not self.normaliser.is_empty(shape.rest) else 0
        if rest == 0 and minimum > k:
            return NOTHING
        tail: object = EMPTY
        begin: cython.Py_ssize_t = k if k > 1 else 1
        if rest != 0 and (most is None or most > begin):
            tail = Repeat(sequence((separator, self.inner(rest))), minimum - begin if minimum > begin else 0,
                          None if most is None else most - begin)
        for i in range(k - 1, 0, -1):
            step = sequence((separator, self.inner(shape.prefix[i]), tail))
            tail = step if i < minimum else Repeat(step, 0, 1)
        first: cython.int = shape.prefix[0] if k > 0 else rest
        if first == 0:
            return self.bracketed(b"[", None, b"]", True) if minimum == 0 else NOTHING
        return self.bracketed(b"[", sequence((self.inner(first), tail)), b"]", minimum == 0)

    def different_items(self, shape: ArrayShape):
        """``uniqueItems``: of a finite set of values each at most once, in any order; else see ``distinct_items``."""
        values = None
        if not (shape.prefix or shape.contains):
            values = self.finite(shape.rest)
            if values is None:
                values = self.listed_strings(shape.rest)
        if values is None:
            return different_items(self, shape, self.finite)
        items = tuple([self.inner(self.one_of(shape.rest, value)) for value in values])
        if not items or shape.minimum > len(items):
            return self.bracketed(b"[", None, b"]", True) if shape.minimum == 0 else NOTHING
        group = Unordered(items, frozenset(), self.separator(), None, max(shape.minimum, 1), shape.maximum)
        return self.bracketed(b"[", group, b"]", shape.minimum == 0)

    def one_of(self, expression: int, value):
        """A value of an expression, which may say how its numbers are spelled."""
        constant = self.normaliser.constant(value)
        if self.policy.integer_as_float or isinstance(value, (str, bool, NoneType)):
            return constant
        return self.normaliser.both(constant, expression)

    def listed_strings(self, expression: int):
        """The members of a long list, where all of an expression are strings of it: the engine reads them together."""
        d = self.normaliser.denote(expression)
        if d.null or d.booleans or d.numbers or d.arrays or d.objects:
            return None
        found: dict = {}
        for string in d.strings:
            if string.values is None or len(found) + len(string.values) > MAX_DIFFERENT_STRINGS:
                return None
            found.update(dict.fromkeys(string.values))
        return list(found)

    def finite(self, expression: int):
        """All values of an expression, if it is plain that they are few."""
        return finite_values(self.normaliser, expression, MAX_DIFFERENT_ITEMS, strict=self.strict)
