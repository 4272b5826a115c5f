# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The rules of one document, as far as they do not depend on how a schema says it: for ``direct``.

``Rules`` names what one document is made of: scalars (``scalar_texts``), keys, members, any value. Equal things are one
node, by identity or by what they say, so that they are lowered once.
Cost: 0.5 us a member that was not met before, 2 us a new list of strings.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.counted_patterns import character_rules
from constrained.frontends.json_schema.direct_reading import NotPlain, NoValue
from constrained.frontends.json_schema.spelling import canonical_spellings, joined_surrogates

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import (
        are_different,
        choice,
        have_same_names,
        key_literal,
        key_texts,
        look_of_names,
        mark,
        numbered,
        numbers_of,
        place_of,
        plain_literal,
        reference,
        sequence,
    )
    from cython.cimports.constrained.frontends.json_schema.direct_reading import (
        BOOLEAN,
        INTEGER,
        NULL,
        NUMBER,
        STRING,
    )
    from cython.cimports.constrained.frontends.json_schema.marks import Marks, address
    from cython.cimports.constrained.frontends.json_schema.scalar_texts import Tables, Texts
    from cython.cimports.constrained.kernel.nodes import Literal, Reference, Repeat, Sequence, Unordered
else:
    from constrained.frontends.json_schema.direct_nodes import (
        are_different,
        choice,
        have_same_names,
        key_literal,
        key_texts,
        look_of_names,
        mark,
        numbered,
        numbers_of,
        place_of,
        plain_literal,
        reference,
        sequence,
    )
    from constrained.frontends.json_schema.direct_reading import (
        BOOLEAN,
        INTEGER,
        NULL,
        NUMBER,
        STRING,
    )
    from constrained.frontends.json_schema.marks import Marks, address
    from constrained.frontends.json_schema.scalar_texts import Tables, Texts
    from constrained.kernel.nodes import Literal, Reference, Repeat, Sequence, Unordered

from constrained.frontends.json_schema.direct_nodes import in_order  # noqa: E402 - a Python name in both modes
from constrained.kernel.nodes import share  # noqa: E402

MOST_VALUES = cython.declare(cython.int, 16)
"""Texts of any value that are kept, by what the rules they refer to are called."""
LONGEST_NAME = cython.declare(cython.int, 80)
SOME_KEYS = cython.declare(cython.longlong, 2)
"""What numbers in ``marks`` have that stand for keys."""

_NO_NAMES: frozenset = frozenset()
_EMPTY = Literal(b"")
_TRUE, _FALSE, _NULL = Literal(b"true"), Literal(b"false"), Literal(b"null")


@cython.cclass
class Rules:
    """The rules of one document, by name.

    ``doubted``: a value may have no text (``RuleSet.sure``).
    ``marks``: the references to sets of strings and numbers, by the address of the set, and what ``Places`` finds by
    the address of a schema.

    Args:
        tables: what other documents share with it.
        strict: objects that say nothing about undeclared members have none.
    """

    @cython.cfunc
    def begin(self, tables: Tables, strict: cython.bint):
        self.tables = tables
        self.strict = strict
        self.rules = {}
        self.taken = {"root"}
        self.marks = Marks.__new__(Marks)
        self.marks.begin()
        self.named_ones = 0
        self.doubted = False
        self.contents = None
        self.typed = {}
        self.listed = None
        self.members = {}
        self.anything = None
        self.some_object = None
        self.some_array = None
        if tables.spaces is not None:
            name, rule = tables.spaces
            self.rules[name] = rule
            self.taken.add(name)

    @cython.cfunc
    def scalar(self, content: tuple, schema: dict, base: str, keyword, name):
        """The expression of a scalar, by what it says; None: it is not plain."""
        texts: Texts = self.tables.texts(content, schema)
        if texts is None:
            return None
        if texts.nothing:
            raise NoValue
        return self.written_as(content, texts, base, keyword, name)

    @cython.cfunc
    def written_as(self, content: tuple, texts: Texts, base: str, keyword, name):
        """A reference to the texts of a scalar; equal ones share a rule."""
        if len(content) == 3 and content[1] is str and content[0] == "type":
            return self.of_type(content[2], base, keyword, name)
        if not texts.sure:
            self.doubted = True
        if texts.single:
            return self.scalar_set(texts.scalars[0])
        if self.contents is None:
            self.contents = {}
        found = self.contents.get(content)
        if found is not None:
            return found
        found = self.alternatives(texts, place_of(base, keyword, name)) if content else self.any_value()
        self.contents[content] = found
        return found

    @cython.cfunc
    def written_texts(self, texts: Texts, base: str, keyword, name):
        """A reference to the texts of a scalar that was not met before."""
        if not texts.sure:
            self.doubted = True
        if texts.single:
            return self.scalar_set(texts.scalars[0])
        return self.alternatives(texts, place_of(base, keyword, name))

    @cython.cfunc
    def alternatives(self, texts: Texts, pointer: str):
        """A rule for a scalar of several kinds."""
        options: list = []
        rule = self.rule_name(pointer)
        if texts.objects:
            options.append(self.any_object())
        if texts.arrays:
            options.append(self.any_array())
        for one in texts.scalars:
            options.append(self.scalar_set(one))
        options.extend(texts.words)
        self.rules[rule] = choice(options)
        return reference(rule)

    @cython.cfunc
    def named(self, kind: str, expr, rules):
        """A reference to the rule of a set of strings, numbers or keys; words stay as they are."""
        if isinstance(expr, Literal):
            return expr
        found = self.marks.at(address(expr))
        if found is None:
            found = self.named_anew(kind, expr)
            if rules:
                self.rules.update(rules)
            self.marks.put(address(expr), found)
        return found

    def scalar_of(self, kind: str, expr):
        """``named``, for the host."""
        if isinstance(expr, Literal) or self.marks.at(address(expr)) is not None:
            return self.named(kind, expr, None)
        return self.named(kind, expr, character_rules(expr))

    @cython.cfunc
    def named_anew(self, kind: str, expr):
        """The same of an expression that has no name yet, and that nobody will look for."""
        if isinstance(expr, Literal):
            return expr
        name: str = kind if kind not in self.rules else numbered(kind, self.named_ones)
        self.named_ones += 1
        self.rules[name] = expr
        return reference(name)

    @cython.cfunc
    def scalar_set(self, one: tuple):
        """A reference to one set of ``Texts``."""
        kind, expr, rules = one
        return self.text_of_list(rules) if expr is None else self.named(kind, expr, rules)

    @cython.cfunc
    def text_of_list(self, values: tuple):
        """A reference to the rule of a list of strings."""
        entry: list = self.list_at(values)
        if entry[2] is None:
            # where the host has seen the expression, there may be a rule
            entry[2] = self.named("string", entry[1], None) if entry[3] else self.named_anew("string", entry[1])
        return entry[2]

    def list_of(self, values: tuple):
        """The expression of a list of strings, for the host."""
        entry: list = self.list_at(values)
        if not entry[3]:
            entry[3] = True
            if type(entry[2]) is Reference:
                self.marks.put(address(entry[1]), entry[2])
        return entry[1]

    @cython.cfunc
    def list_at(self, values: tuple) -> list:
        """What is known of a list of strings: itself without equal ones, its expression, a reference to that or None,
        whether the host has seen it, and the entry of another list that looks like it."""
        count: cython.Py_ssize_t = len(values)
        options: list
        entry: list
        key = 16 * (len(cython.cast(str, values[0])) & 7) + 2 * (len(cython.cast(str, values[count - 1])) & 7) + (
            128 * (count & 1)) + (count >> 1 & 1)  # small ints are there already
        if self.listed is None:
            self.listed = {}
        first: object = self.listed.get(key)
        found: object = first
        while found is not None:
            entry = found
            if entry[0] == values:
                return entry
            found = entry[4]
        if not are_different(values):
            return self.list_at(tuple(dict.fromkeys(values)))
        options = [None] * count
        for i in range(count):
            text = plain_literal(values[i])
            if text is None:
                joined: tuple = tuple(dict.fromkeys(map(joined_surrogates, values)))
                if joined != values:
                    return self.list_at(joined)
                options = [Literal(data) for value in values for data in canonical_spellings(value)]
                break
            options[i] = text
        entry = [values, choice(options), None, False, first]
        self.listed[key] = entry
        return entry

    @cython.cfunc
    def of_type(self, said: str, base: str, keyword, name):
        """The expression of a scalar that says this type and nothing else; None: it is not plain."""
        found = self.typed.get(said)
        if found is None:
            texts: Texts = self.tables.texts_of_type(said)
            if texts is None:
                return None
            if texts.nothing:
                raise NoValue
            found = self.written_texts(texts, base, keyword, name)
            self.typed[said] = found
        return found

    @cython.cfunc
    def rule_name(self, pointer: str) -> str:
        """A name that no rule has: the place, as a reference to it is written, if that is short enough."""
        count: cython.Py_ssize_t = len(self.taken)
        name: str = pointer if len(pointer) < LONGEST_NAME else f"{pointer[:60]}... {count}"
        self.taken.add(name)
        while len(self.taken) == count:  # it was there
            name = f"{name} {count}"
            self.taken.add(name)
        return name

    @cython.cfunc
    def any_value(self):
        """Any value of JSON."""
        if self.anything is None:
            self._begin_values()
        return self.anything

    @cython.cfunc
    def _begin_values(self):
        """The rule of any value. Where the rules it refers to have the same names, it is one node in all documents."""
        tables: Tables = self.tables
        key: tuple
        self.taken.add("true 1")
        self.rules["true 1"] = _EMPTY  # keeps its place
        names: Reference = None if self.strict else self.keys_but(_NO_NAMES)
        string: Reference = self.of_type("string", "#", None, None)
        number: Reference = self.of_type("number", "#", None, None)
        key = (None if self.strict else names.name, string.name, number.name)
        found = tables.values.get(key)
        if found is None:
            self.anything = reference("true 1")
            found = (self.anything, self.any_object(), self.any_array(), None if self.strict else self.free_member(
                (), self.anything), choice([self.any_object(), self.any_array(), string, number, _TRUE, _FALSE, _NULL]))
            share(found[4])
            if len(tables.values) < MOST_VALUES:
                tables.values[key] = found
        self.anything = found[0]
        self.some_object = found[1]
        self.some_array = found[2]
        if not self.strict:
            cython.cast(list, self.keys_at(_NO_NAMES)).append(found[3])
        self.rules["true 1"] = found[4]

    def everything(self):
        """``any_value``, for the host."""
        return self.any_value()

    @cython.cfunc
    def any_object(self):
        if self.some_object is None:
            free = None if self.strict else self.free_member((), self.any_value())
            if self.some_object is None:
                self.some_object = self.members_of([], [], free, 0, None)
        return self.some_object

    @cython.cfunc
    def any_array(self):
        if self.some_array is None:
            item = self.any_value()
            if self.some_array is None:
                self.some_array = self.items_of(item, 0, None)
        return self.some_array

    @cython.cfunc
    def items_of(self, item, least, most):
        """``least`` to ``most`` items."""
        tables: Tables = self.tables
        if most is not None and most == 0:
            return tables.enclosed(tables.square, None, True)
        if least > tables.max_repeat or (most is not None and (most < least or most > tables.max_repeat)):
            self.doubted = True
        tail: object = _EMPTY
        if most is None or most > 1:
            tail = Repeat(sequence((tables.comma, item)), least - 1 if least > 1 else 0,
                          None if most is None else most - 1)
        return tables.enclosed(tables.square, sequence((item, tail)), least == 0)

    @cython.cfunc
    def member(self, name: str, value):
        """A member with this name. Equal ones are one node, which is lowered once for all groups in any order."""
        known: Sequence
        found = self.members.get(name)
        if found is None:
            known = sequence((key_literal(name), self.tables.colon, value))
            self.members[name] = known
            return known
        known = found
        if known.items[2] is value:
            return known
        key = (name, mark(value))
        found = self.members.get(key)
        if found is None:
            found = sequence((known.items[0], self.tables.colon, value))
            self.members[key] = found
        return found

    @cython.cfunc
    def free_member(self, declared, value):
        """A member whose name is not declared."""
        i: cython.Py_ssize_t
        entry: list = self.keys_at(
            _NO_NAMES if not declared else declared if type(declared) is dict else frozenset(declared))
        for i in range(2, len(entry)):
            if cython.cast(Sequence, entry[i]).items[2] is value:
                return entry[i]
        found = sequence((entry[1], self.tables.colon, value))
        entry.append(found)
        return found

    def key_of(self, out: frozenset):
        """``keys_but``, for the host."""
        return self.keys_but(out)

    @cython.cfunc
    def keys_but(self, out):
        """A reference to the keys that are none of ``out``."""
        return self.keys_at(out)[1]

    @cython.cfunc
    def keys_at(self, out) -> list:
        """What is known of the keys that are none of a set, or a dict: that, ``keys_but``, and the members that have
        such a key."""
        entry: list
        number: cython.longlong = look_of_names(out) << 4 | SOME_KEYS
        while True:
            found: object = self.marks.at(number)
            if found is None:
                break
            entry = found
            if have_same_names(entry[0], out):
                return entry
            number += 16
        entry = [out, self.named_anew("key", key_texts(out)) if out else self.named("key", self.tables.any_key, None)]
        self.marks.put(number, entry)
        return entry

    @cython.cfunc
    def members_of(self, members, standing: list, free, least: cython.Py_ssize_t, most):
        """An object of members, of which those numbered ``standing`` must come, and any number of free ones.

        ``least`` to ``most`` in all, which is told by (0, None) where the order is given.
        """
        tables: Tables = self.tables
        group: Unordered
        if not tables.any_order:
            inside, may_be_empty = in_order(list(members), standing, free, tables.comma)
            return tables.enclosed(tables.brackets, inside, may_be_empty)
        if least <= len(standing):
            least = 0
        if free is None:
            if least > len(members):
                raise NotPlain
            if not members:
                return tables.enclosed(tables.brackets, None, True)
            if most is not None and most >= len(members):
                most = None
        group = Unordered.__new__(Unordered)
        group.kind = 8
        group.items = tuple(members)
        group.required = numbers_of(standing) if standing else _NO_NAMES
        group.held = (tables.comma, free)
        group.minimum = least if least > 1 else 1
        group.maximum = most
        group.in_order = False
        return tables.enclosed(tables.brackets, group, not standing and least == 0)

    @cython.cfunc
    def beside(self, types: cython.int, members, items):
        """Objects and arrays, as far as there are, and all values of the other types."""
        options: list = []
        if members is not None:
            options.append(members)
        if items is not None:
            options.append(items)
        if types & STRING:
            options.append(self.of_type("string", "#", None, None))
        if types & NUMBER:
            options.append(self.of_type("number", "#", None, None))
        elif types & INTEGER:
            options.append(self.of_type("integer", "#", None, None))
        if types & BOOLEAN:
            options.append(_TRUE)
            options.append(_FALSE)
        if types & NULL:
            options.append(_NULL)
        return choice(options)
