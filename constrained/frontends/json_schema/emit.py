"""Denotations to grammar rules: one rule for each expression that a value position needs.

A value is a choice over types and alternatives. Objects in schema order are automata over members (``Graph``) in which
optional ones may be skipped; in any order they are ``Unordered`` groups. Arrays are counted repetitions, or small
automata over (items written, items found) where ``contains`` counts. A worklist of expressions; nothing recurses into
values.

Text between tokens follows ``TextPolicy``: bounded whitespace, or exactly the separators (and indentation) given.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from types import NoneType
from typing import Any

from constrained.errors import GrammarLimitError, echo
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.direct_nodes import in_order
from constrained.frontends.json_schema.distinct_items import different_items, different_members, names_suffice
from constrained.frontends.json_schema.expressions import FALSE
from constrained.frontends.json_schema.finite_values import finite_values
from constrained.frontends.json_schema.given import Names, all_names
from constrained.frontends.json_schema.normalise import Normaliser
from constrained.frontends.json_schema.numbers import ANY_NUMBER, NumberShape
from constrained.frontends.json_schema.objects import ANY_OBJECT, ANY_OTHERS, Cell, ObjectShape, meet
from constrained.frontends.json_schema.policy import DEFAULT_WHITESPACE, TextPolicy
from constrained.frontends.json_schema.presence import fewer_shapes
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.spelling import json_literal
from constrained.frontends.json_schema.strings import ANY_STRING, StringShape
from constrained.frontends.json_schema.witnesses import casts, harmless, members_of, partitions
from constrained.grammar.ir import (
    CharClass,
    Choice,
    Distinct,
    Expr,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    Unordered,
)
from constrained.limits import Limits

__all__ = ["MAX_WRITTEN", "Emitter", "written_texts"]

EMPTY = Literal(b"")
NOTHING = Choice(())
SPACE = CharClass(((9, 10), (13, 13), (32, 32)))
MAX_INDENT_DEPTH = 32
"""Nesting up to which indentation is written out."""

MAX_ARRAY_STATES = 2_000
"""States of the automaton of one array with ``contains``."""

MAX_NAMES = 32
"""Undeclared names that are declared where a member of one of them must exist."""

MAX_DIFFERENT_ITEMS = 1_000
"""Values out of which an array of different items may be made."""


TRUE_WORD, FALSE_WORD, NULL_WORD = Literal(b"true"), Literal(b"false"), Literal(b"null")
MAX_WRITTEN = 2_000
"""Sets of strings and numbers of one policy whose texts are kept from one schema to the next."""


@lru_cache(maxsize=16)
def written_texts(policy: TextPolicy, limits: Limits) -> dict[Any, Expr]:
    """The texts of sets of strings and numbers that were written under this policy."""
    del policy, limits
    return {}


class Emitter:
    """Writes the rules of one normalised document."""

    plain_scalars = True
    """Whether a value that is one set of strings or numbers is a reference to its texts, without a rule of its own."""

    def __init__(self, normaliser: Normaliser, policy: TextPolicy, *, strict: bool) -> None:
        self.normaliser = normaliser
        self.policy = policy
        self.strict = strict
        self.rules: dict[str, Expr] = {}
        self.names: dict[int | tuple[int, int], Expr] = {}
        """How expressions are referred to, by (depth and) expression."""
        self.meanings: dict[tuple[int, int], Reference] = {}  # by identity; the normaliser keeps the denotations alive
        most = policy.max_whitespace_cnt
        whitespace = "ws" if most == DEFAULT_WHITESPACE else f"ws {'any' if most is None else most}"
        self.taken = {whitespace, "root"}
        self.waiting: list[tuple[int, int, str]] = []
        self.keys: dict[str | tuple[str, ...], Expr] = {}
        self.members: dict[tuple[Any, int, int], Expr] = {}
        self.free_members: dict[Any, Expr | None] = {}
        self.brackets: dict[bytes, tuple[Expr, Expr, Expr]] = {}
        self.flat = policy.indent is None or policy.any_whitespace
        """Whether a value is written alike at every depth."""
        self.texts = written_texts(policy, normaliser.limits)
        if len(self.texts) > MAX_WRITTEN:
            self.texts.clear()
        self.key_texts: dict[StringShape, Expr] = {}
        self.listed: dict[StringShape, tuple[str, ...] | None] = {}
        """All of some names, where they are few."""
        self.scalars: dict[int, Reference] = {}  # by identity; the rules keep the expressions alive
        self.depth = 0
        space: Expr = EMPTY
        if policy.any_whitespace:
            self.rules[whitespace] = Repeat(SPACE, 0, most)
            space = Reference(whitespace)  # parts of one structural tag share rules, and each may have its own
        self.space = space
        item, colon = policy.separators or ((", ", ": ") if policy.indent is None else (",", ": "))
        self.comma: Expr = Sequence((space, Literal(b","), space)) if policy.any_whitespace else Literal(item.encode())
        self.colon: Expr = Sequence((space, Literal(b":"), space)) if policy.any_whitespace else Literal(colon.encode())

    def run(self, root: int) -> RuleSet:
        """The rules with ``root`` as their root."""
        self.rules["root"] = self.value(root)
        done = 0
        while done < len(self.waiting):
            expression, depth, name = self.waiting[done]
            done += 1
            self.depth = depth
            self.rules[name] = self.body(expression)
        return RuleSet(self.rules, "root")

    def value(self, expression: int) -> Expr:
        """A value of ``expression``, as a reference to its rule (made later)."""
        if expression == FALSE:
            return NOTHING
        depth = 0 if self.flat else self.depth
        key = expression if self.flat else (expression, depth)
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
            known = self.meanings.get((id(meaning), depth))
            if known is not None:
                self.names[key] = known
                return known
        if depth > MAX_INDENT_DEPTH:
            return NOTHING  # a spelling that ends: deeper values are not written with exact indentation
        name = self.rule_name(expression, depth)
        found = self.names[key] = Reference(name)
        if meaning is not None:
            self.meanings[id(meaning), depth] = found
        self.waiting.append((expression, depth, name))
        return found

    def plain_scalar(self, expression: int) -> Expr | None:
        """The texts of an expression, found out before, that is one set of strings or numbers; else None."""
        d = self.normaliser.denoted.get(expression)
        if d is None or d.objects or d.arrays or d.booleans or d.null or len(d.strings) + len(d.numbers) != 1:
            return None
        try:
            return self.string(d.strings[0]) if d.strings else self.number(d.numbers[0])
        except (NotEnforced, GrammarLimitError):
            return None  # ``body`` says where

    def rule_name(self, expression: int, depth: int) -> str:
        kind, parts = self.normaliser.expressions.entries[expression]
        base = "#" + self.normaliser.places[parts].pointer if kind == "place" else f"{kind} {expression}"
        name = base if len(base) < 80 else f"{base[:60]}... {expression}"
        if name in self.taken:  # another dialect's or scope's reading of the same place
            name = f"{name} {expression}.{depth}"
        self.taken.add(name)
        return name

    def body(self, expression: int) -> Expr:
        """The alternatives of one expression."""
        d = self.normaliser.denote(expression)
        options: list[Expr] = []
        objects = tuple([shape for shape in d.objects if not self.normaliser.no_object(shape)])
        for shape in fewer_shapes(objects, closed=self.strict, ordered=self.policy.property_order != "any"):
            options.append(self.exactly(expression, self.object, shape, _looser_objects))
        for array in d.arrays:
            if not self.normaliser.no_array(array):
                options.append(self.exactly(expression, self.array, array, _looser_arrays))
        for string in d.strings:
            options.append(self.exactly(expression, self.string, string, _looser_strings))
        for number in d.numbers:
            options.append(self.exactly(expression, self.number, number, _looser_numbers))
        if d.booleans & 2:
            options.append(TRUE_WORD)
        if d.booleans & 1:
            options.append(FALSE_WORD)
        if d.null:
            options.append(NULL_WORD)
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def scalar(self, kind: str, expr: Expr) -> Expr:
        """A rule for the spellings of a set of strings or numbers: equal sets give one expression, which is shared."""
        if isinstance(expr, Literal):
            return expr
        known = self.scalars.get(id(expr))
        if known is None:
            name = kind if kind not in self.rules else f"{kind} {len(self.scalars)}"
            self.rules[name] = expr
            self.rules.update(character_rules(expr))
            known = self.scalars[id(expr)] = Reference(name)
        return known

    def exactly(self, expression: int, write: Callable[[Any], Expr], shape: Any,
                looser: Callable[[Any], Iterator[Any]]) -> Expr:
        """What ``write`` makes of a shape; what it cannot make is refused at its place, or made of a looser shape."""
        try:
            return write(shape)
        except NotEnforced as refused:
            keyword = refused.reason.split(" ", 1)[0]
            self.normaliser.refuse(self.normaliser.pointer(expression, keyword), refused.reason, refused.hint)
        except GrammarLimitError as error:
            if self.normaliser.unsupported == "error":
                pointer = self.normaliser.pointer(expression)
                message = str(error).split(" (Limits")[0]
                raise GrammarLimitError(error.limit, error.value, f"at {echo(pointer)}: {message}") from None
            self.normaliser.refuse(self.normaliser.pointer(expression), str(error).split("\n")[0], "")
        for other in looser(shape):
            try:
                return write(other)
            except (NotEnforced, GrammarLimitError):
                continue
        return NOTHING

    def string(self, shape: StringShape) -> Expr:
        """One alternative of a string."""
        return self.scalar("string", self.text_of(shape))

    def number(self, shape: NumberShape) -> Expr:
        """One alternative of a number."""
        return self.scalar("number", self.text_of(shape))

    def text_of(self, shape: StringShape | NumberShape) -> Expr:
        """The texts of a set, kept from one schema to the next."""
        expr = self.texts.get(shape)
        if expr is None:
            expr = self.texts[shape] = shape.to_expr(self.policy, self.normaliser.limits)
        return expr

    # ---- layout --------------------------------------------------------------------------------------

    def newline(self, depth: int) -> bytes:
        indent = self.policy.indent
        if indent is None or self.policy.any_whitespace:
            return b""
        unit = " " * indent if isinstance(indent, int) else indent
        return ("\n" + unit * depth).encode()

    def bracketed(self, left: bytes, inside: Expr | None, right: bytes, *, may_be_empty: bool) -> Expr:
        """Brackets around what ``inside`` writes, which is never empty."""
        if self.flat:
            return self.flat_brackets(left, inside, right, may_be_empty)
        options: list[Expr] = []
        if inside is not None:
            opening: Expr = Literal(left + self.newline(self.depth + 1))
            closing: Expr = Literal(self.newline(self.depth) + right)
            options.append(Sequence((opening, inside, closing)))
        if may_be_empty:
            options.append(Literal(left + right))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def flat_brackets(self, left: bytes, inside: Expr | None, right: bytes, may_be_empty: bool) -> Expr:
        known = self.brackets.get(left)
        if known is None:
            first, last = Literal(left), Literal(right)
            known = self.brackets[left] = first, last, (
                Sequence((first, self.space, last)) if self.policy.any_whitespace else Literal(left + right))
        opening, closing, empty = known
        if inside is None:
            return empty if may_be_empty else NOTHING
        space = self.space
        full = Sequence((opening, space, inside, space, closing) if self.policy.any_whitespace
                        else (opening, inside, closing))
        return Choice((full, empty)) if may_be_empty else full

    def separator(self) -> Expr:
        if self.flat:
            return self.comma
        line = self.newline(self.depth + 1)
        return Sequence((self.comma, Literal(line))) if line else self.comma

    def inner(self, expression: int) -> Expr:
        """A value one level deeper."""
        if self.flat:
            return self.value(expression)
        self.depth += 1
        try:
            return self.value(expression)
        finally:
            self.depth -= 1

    def key(self, name: str) -> Expr:
        if type(name) is not Names:
            return json_literal(name)
        names = (name, *name.others)
        known = self.keys.get(names)
        if known is None:
            known = self.keys[names] = Choice(tuple([json_literal(str(one)) for one in names]))
        return known

    # ---- objects -------------------------------------------------------------------------------------

    def object(self, shape: ObjectShape) -> Expr:
        """One alternative of an object."""
        closed = self.strict and not shape.said
        if shape.exists and not closed:
            named = self.few_named(shape)
            if named is not None:
                return Choice(tuple([self.object(one) for one in named if not self.normaliser.no_object(one)]))
        required, properties = shape.required, shape.properties
        members: list[tuple[Expr, bool]] = []
        is_empty, member, empties = self.normaliser.is_empty, self.member, self.normaliser.empties
        for name, expression in properties:
            empty = empties.get(expression)
            if empty is None:
                empty = is_empty(expression)
            if not empty:
                members.append((member(name, expression), name in required))
            elif name in required:
                return NOTHING
        declared = all_names([name for name, _ in properties])
        # a name that is only required stands behind the declared ones, with what the cells say about it
        for name in sorted(required - shape.declared().keys()) if required else ():
            expression = shape.at_other(name)
            if closed or expression == FALSE:
                return NOTHING
            declared.append(name)
            members.append((self.member(name, expression), True))
        cells = () if closed else shape.others
        if shape.exists:
            return self.with_witnesses(shape, members, cells, declared)
        least, most, compared, standing = 0, None, False, 0
        bounded = shape.minimum > 0 or shape.maximum is not None
        if bounded:
            standing = sum(1 for _, needed in members if needed)
            # a free name may be written twice, and counts once: where two or more must stand, names are compared
            compared = bool(cells) and shape.minimum > standing + 1
            if compared:
                cells = self.spelled_out(cells, members, declared)
        free = self.free_member(cells, declared)
        if bounded:
            compared = compared and free is not None
            if compared and not names_suffice(self, cells, declared, shape.minimum - standing):
                raise NotEnforced("minProperties counts undeclared members of which there are few names",
                                  "declare the properties, or require them by name")
            least, most = self.counts(shape, members, free, 0, compared=compared)
        if self.policy.property_order == "any":
            found = self.in_any_order(members, free, least, most)
        elif least or most is not None:
            found = self.in_stages([*members, (free, None)], least, most)
        else:
            found = self.in_order(members, free)
        return Distinct(found) if compared else found

    def with_witnesses(self, shape: ObjectShape, members: list[tuple[Expr, bool]], cells: tuple[Cell, ...],
                       declared: list[str]) -> Expr:
        """An object in which undeclared members must exist: see ``witnesses``."""
        required = sum(1 for _, needed in members if needed)
        room = None if shape.maximum is None else shape.maximum - required
        try:
            parted = casts(shape.exists, room, self.normaliser)
        except NotEnforced:
            return different_members(self, shape, members, cells, declared)
        if any(harmless(cells, parts, self.normaliser) != cells for parts in parted):
            try:  # in every order
                return different_members(self, shape, members, cells, declared)
            except NotEnforced:  # few names: in the orders in which none that must exist is replaced
                pass
        free = self.free_member(cells, declared)
        options: list[Expr] = []
        for parts in parted:
            plays = [self.free_member(members_of(part, cells, self.normaliser), declared) for part in parts]
            players = [play for play in plays if play is not None]
            if len(players) < len(parts):
                continue
            least, most = self.counts(shape, members, free, len(parts))
            if self.policy.property_order == "any":
                safe = self.free_member(harmless(cells, parts, self.normaliser), declared)
                options.append(self.in_any_order([*members, *((play, True) for play in players)], safe, least, most))
            for order in itertools.permutations(range(len(parts))):
                # whatever comes before may still be replaced; whatever comes behind must not replace
                stages: list[tuple[Expr | None, bool | None]] = [*members, (free, None)]
                for k, part in enumerate(order):
                    written = [parts[i] for i in order[: k + 1]]
                    safe = self.free_member(harmless(cells, written, self.normaliser), declared)
                    stages += [(players[part], True), (safe, None)]
                if self.policy.property_order == "any":
                    before = Unordered(tuple(m for m, _ in members), frozenset(
                        i for i, (_, needed) in enumerate(members) if needed), self.separator(), free,
                        max(least - len(parts), 1), None if most is None else most - len(parts))
                    if (members or free is not None) and (most is None or most > len(parts)):
                        behind = [Sequence((self.separator(), players[part])) for part in order]
                        options.append(self.bracketed(b"{", Sequence((before, *behind)), b"}", may_be_empty=False))
                else:
                    options.append(self.in_stages(stages, least, most))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def member(self, name: str, expression: int) -> Expr:
        """A member with this name. Equal ones are one node, which is lowered once for all groups in any order."""
        key = (name if type(name) is not Names else (name, *name.others), expression, self.depth)
        known = self.members.get(key)
        if known is None:
            value = self.names.get(expression) if self.flat else None
            if value is None:
                value = self.inner(expression)
            known = self.members[key] = Sequence((self.key(name), self.colon, value))
        return known

    def free_member(self, cells: tuple[Cell, ...], declared: list[str]) -> Expr | None:
        """A member whose name is not declared."""
        if not cells:
            return None
        out = frozenset(declared)
        key = (None if cells is ANY_OTHERS else cells, out, self.depth)
        if key in self.free_members:
            return self.free_members[key]
        options: list[Expr] = []
        for names, expression in cells:
            if not self.normaliser.is_empty(expression):
                left = names.exclude_values(out)
                options.append(Sequence((self.key_text(left), self.colon, self.inner(expression))))
        found = None if not options else options[0] if len(options) == 1 else Choice(tuple(options))
        self.free_members[key] = found
        return found

    def key_text(self, names: StringShape) -> Expr:
        """Any of some names."""
        text = self.key_texts.get(names)
        if text is None:
            text = self.key_texts[names] = names.to_key_expr(self.policy, self.normaliser.limits)
        return self.scalar("key", text)

    def few_named(self, shape: ObjectShape) -> tuple[ObjectShape, ...] | None:
        """A shape in which some member must exist as alternatives in which the members of cells of few names are
        declared; None where no cell has few names."""
        declared = shape.declared()
        cells: list[Cell] = []
        members: list[tuple[str, int]] = []
        for names, expression in shape.others:
            few = self.few_names(names, declared)
            if few is None or len(members) + len(few) > MAX_NAMES:
                cells.append((names, expression))
            else:
                members += [(name, expression) for name in few]
        if len(cells) == len(shape.others):
            return None
        return meet(shape.changed(properties=shape.properties + tuple(members), others=tuple(cells)), ANY_OBJECT,
                    self.normaliser)

    def few_names(self, names: StringShape, declared: Collection[str]) -> list[str] | None:
        """All of ``names`` but the declared ones, where they are few."""
        if names in self.listed:
            listed = self.listed[names]
        else:
            try:
                listed = names.enumerated(MAX_DIFFERENT_ITEMS, self.normaliser.limits)
            except GrammarLimitError:
                listed = None  # a pattern beside many lengths
            self.listed[names] = listed
        return None if listed is None else [name for name in listed if name not in declared]

    def spelled_out(self, cells: tuple[Cell, ...], members: list[tuple[Expr, bool]],
                    declared: list[str]) -> tuple[Cell, ...]:
        """``cells`` without those of few names, which become members that may stand."""
        left: list[Cell] = []
        for names, expression in cells:
            few = self.few_names(names, declared)
            if few is None:
                left.append((names, expression))
            elif not self.normaliser.is_empty(expression):
                members += [(self.member(name, expression), False) for name in few]
                declared += few
        return tuple(left)

    def counts(self, shape: ObjectShape, members: list[tuple[Expr, bool]], free: Expr | None,
               witnesses: int, *, compared: bool = False) -> tuple[int, int | None]:
        """How many members must and may be written; (0, None) where the rest says it already."""
        required = sum(1 for _, needed in members if needed) + witnesses
        least = shape.minimum if shape.minimum > required else 0
        most = shape.maximum
        if most is not None and free is None and most >= len(members) + witnesses:
            most = None
        if least > required + 1 and free is not None and not compared:
            raise NotEnforced(
                "minProperties counts undeclared members, which may repeat a name",
                "declare the properties, or require them by name")
        return least, most

    def in_any_order(self, members: list[tuple[Expr, bool]], free: Expr | None, least: int, most: int | None) -> Expr:
        required = frozenset([i for i, (_, needed) in enumerate(members) if needed])
        items = tuple([member for member, _ in members])
        group = Unordered(items, required, self.separator(), free, max(least, 1), most)
        empty = not required and least == 0
        inside = group if (items or free is not None) and most != 0 else None
        if inside is None and not empty:
            return NOTHING
        return self.bracketed(b"{", inside, b"}", may_be_empty=empty)

    def in_order(self, members: list[tuple[Expr, bool]], free: Expr | None) -> Expr:
        """Members in their order, those that need not stand at will; then any number of ``free`` ones."""
        standing = [number for number, (_, needed) in enumerate(members) if needed]
        inside, may_be_empty = in_order([member for member, _ in members], standing, free, self.separator())
        return self.bracketed(b"{", inside, b"}", may_be_empty=may_be_empty)

    def in_stages(self, stages: list[tuple[Expr | None, bool | None]], least: int, most: int | None) -> Expr:
        """In order, with a count: one rule for each (stage, members written).

        A stage is ``(member, whether it must stand)``, or ``(member, None)``: any number of such members.
        """
        cap = max(least, 1) if most is None else max(most, least, 1)
        if (len(stages) + 1) * (cap + 1) > 4 * MAX_ARRAY_STATES:
            raise NotEnforced("minProperties or maxProperties is too large beside so many properties",
                              'property_order="any" has no such bound')
        separator = self.separator()
        prefix = f"members {len(self.rules)}"

        def place(i: int, written: int) -> Expr:
            return Reference(f"{prefix} {i} {min(written, cap)}")

        for i, (member, needed) in enumerate(stages):
            for written in range(cap + 1):
                options: list[Expr] = []
                if member is not None and (most is None or written < most):
                    behind = place(i if needed is None else i + 1, written + 1)
                    options.append(Sequence((separator, member, behind) if written else (member, behind)))
                if not needed:
                    options.append(place(i + 1, written))
                self.rules[f"{prefix} {i} {written}"] = Choice(tuple(options))
        for written in range(cap + 1):
            self.rules[f"{prefix} {len(stages)} {written}"] = EMPTY if written >= max(least, 1) else NOTHING
        return self.bracketed(b"{", place(0, 0), b"}", may_be_empty=least == 0 and not any(
            needed for _, needed in stages))

    # ---- arrays --------------------------------------------------------------------------------------

    def array(self, shape: ArrayShape) -> Expr:
        """One alternative of an array."""
        most = shape.maximum
        if shape.unique and not (most is not None and most <= 1):
            return self.different_items(shape)
        if shape.contains:
            if not shape.prefix and all(c[1:] == (1, None, 0) for c in shape.contains) and len(shape.contains) <= 3:
                return self.some_items(shape)
            return self.counted_array(shape)
        if most == 0:
            return self.bracketed(b"[", None, b"]", may_be_empty=True)
        separator = self.separator()
        k = len(shape.prefix)
        rest = shape.rest if not self.normaliser.is_empty(shape.rest) else FALSE
        if rest == FALSE and shape.minimum > k:
            return NOTHING
        tail: Expr = EMPTY
        begin = max(k, 1)
        if rest != FALSE and (most is None or most > begin):
            tail = Repeat(Sequence((separator, self.inner(rest))), max(shape.minimum - begin, 0),
                          None if most is None else most - begin)
        for i in range(k - 1, 0, -1):
            step = Sequence((separator, self.inner(shape.prefix[i]), tail))
            tail = step if i < shape.minimum else Repeat(step, 0, 1)
        first = shape.prefix[0] if k else rest
        if first == FALSE:
            return self.bracketed(b"[", None, b"]", may_be_empty=True) if shape.minimum == 0 else NOTHING
        return self.bracketed(b"[", Sequence((self.inner(first), tail)), b"]", may_be_empty=shape.minimum == 0)

    def some_items(self, shape: ArrayShape) -> Expr:
        """Arrays in which each of some kinds occurs: a group of such items, in any order among any items."""
        options: list[Expr] = []
        for groups in partitions([c[0] for c in shape.contains]):
            if shape.maximum is not None and len(groups) > shape.maximum:
                continue
            kinds: list[int] = []
            for group in groups:
                item = shape.rest
                for wanted in group:
                    item = self.normaliser.both(item, wanted)
                kinds.append(item)
            if any(self.normaliser.is_empty(item) for item in kinds):
                continue
            items = tuple(self.inner(item) for item in kinds)
            group_of_items = Unordered(items, frozenset(range(len(items))), self.separator(), self.inner(shape.rest),
                                       max(shape.minimum, 1), shape.maximum)
            options.append(self.bracketed(b"[", group_of_items, b"]", may_be_empty=False))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def counted_array(self, shape: ArrayShape) -> Expr:
        """Arrays with ``contains``: one rule for each (items written, items found of each kind)."""
        contains = shape.contains
        most = shape.maximum
        items = max(1, shape.minimum, len(shape.prefix), *(c[3] for c in contains)) if most is None else most
        tops = [least if most_found is None else max(most_found, least) for _, least, most_found, _ in contains]
        states = (items + 1)
        for top in tops:
            states *= top + 1
        if states > MAX_ARRAY_STATES or len(contains) > 3:
            raise NotEnforced("contains with bounds this large",
                              "lower minContains, maxContains, minItems or maxItems")
        separator = self.separator()
        prefix = f"items {len(self.rules)}"
        for i in range(items + 1):
            for found in itertools.product(*(range(top + 1) for top in tops)):
                options: list[Expr] = []
                if i and i >= shape.minimum and all(f >= c[1] for f, c in zip(found, contains, strict=True)):
                    options.append(EMPTY)
                if most is None or i < most:
                    options.extend(self.next_items(shape, i, found, tops, items, prefix, separator))
                self.rules[_place(prefix, i, found)] = Choice(tuple(options))
        return self.bracketed(b"[", Reference(_place(prefix, 0, (0,) * len(tops))), b"]", may_be_empty=(
            shape.minimum == 0 and all(least == 0 for _, least, _, _ in contains)))

    def next_items(self, shape: ArrayShape, i: int, found: tuple[int, ...], tops: list[int], items: int, prefix: str,
                   separator: Expr) -> list[Expr]:
        """The items that may come next, by which of the wanted kinds they are counted as."""
        options: list[Expr] = []
        for kinds in itertools.product((False, True), repeat=len(tops)):
            item = shape.at(i)
            after = list(found)
            for n, counted in enumerate(kinds):
                wanted, _, limit, start = shape.contains[n]
                if i < start:
                    if counted:
                        item = FALSE
                elif counted:
                    item = self.normaliser.both(item, wanted)
                    if limit is not None and found[n] >= limit:
                        item = FALSE
                    after[n] = min(found[n] + 1, tops[n])
                elif limit is not None:
                    item = self.normaliser.both(item, self.normaliser.negated(wanted))
            if item != FALSE and not self.normaliser.is_empty(item):
                gap = separator if i else EMPTY
                target = _place(prefix, min(i + 1, items), tuple(after))
                options.append(Sequence((gap, self.inner(item), Reference(target))))
        return options

    def different_items(self, shape: ArrayShape) -> Expr:
        """``uniqueItems``: of a finite set of values each at most once, in any order; else see ``distinct_items``."""
        values = None if shape.prefix or shape.contains else self.finite(shape.rest)
        if values is None:
            return different_items(self, shape, self.finite)
        items = tuple([self.inner(self.one_of(shape.rest, value)) for value in values])
        if not items or shape.minimum > len(items):
            return self.bracketed(b"[", None, b"]", may_be_empty=True) if shape.minimum == 0 else NOTHING
        group = Unordered(items, frozenset(), self.separator(), None, max(shape.minimum, 1), shape.maximum)
        return self.bracketed(b"[", group, b"]", may_be_empty=shape.minimum == 0)

    def one_of(self, expression: int, value: Any) -> int:
        """A value of an expression, which may say how its numbers are spelled."""
        constant = self.normaliser.constant(value)
        if self.policy.integer_as_float or isinstance(value, (str, bool, NoneType)):
            return constant
        return self.normaliser.both(constant, expression)

    def finite(self, expression: int) -> list[Any] | None:
        """All values of an expression, if it is plain that they are few."""
        return finite_values(self.normaliser, expression, MAX_DIFFERENT_ITEMS, strict=self.strict)


def _looser_objects(shape: ObjectShape) -> Iterator[ObjectShape]:
    if shape.exists:
        yield shape.changed(exists=())
    yield shape.changed(exists=(), minimum=0)
    yield shape.changed(exists=(), minimum=0, maximum=None)


def _looser_arrays(shape: ArrayShape) -> Iterator[ArrayShape]:
    yield shape.changed(unique=False)
    yield shape.changed(unique=False, contains=())


def _looser_strings(shape: StringShape) -> Iterator[StringShape]:
    if shape.languages:
        yield replace(shape, minimum=0, maximum=None, excluded=frozenset())
        for language in shape.languages:
            yield StringShape(languages=(language,))
        yield replace(shape, languages=())
    yield ANY_STRING


def _looser_numbers(shape: NumberShape) -> Iterator[NumberShape]:
    yield replace(shape, multiple_of=None, not_multiple_of=frozenset())
    yield ANY_NUMBER


def _place(prefix: str, i: int, found: tuple[int, ...]) -> str:
    return f"{prefix} {i} {' '.join(map(str, found))}"
