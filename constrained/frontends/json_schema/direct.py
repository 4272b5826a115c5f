# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Plain schemas, written in one pass: from the keywords to the rules, with nothing in between.

Most schemas of most documents say what their members are, which of them must stand and what their items are, or they
are scalars. Such *places* need no algebra: nothing is combined, so the rules that ``normalise`` and ``emit`` would make
of them can be written while they are read. A place that says more (a combinator, a pattern for names, a count of
members) goes to the host, which takes it through ``normalise`` and asks here again for what stands inside of it.

``Writer`` holds the rules of one document. ``value`` gives the expression of a schema: of a scalar the texts, which
``Tables`` keeps by what the schema says (its *content*) from one document to the next; of an array or an object a
reference to a rule, that of an equal schema if there was one. Objects wait in a list until their rules are written, so
nothing recurses into values.

Keywords have their shapes (``shapes``). What cannot be read in a plain way raises ``NotPlain``, or whatever the reading
of a scalar raises, and the whole document is read again without this module: a reference to nothing, or a schema that
nothing satisfies. So errors are worded in one place, and here all places may be taken to have values, but for members
that need not stand.

Invariant: with and without this pass the rules are the same but for their names, and here no more of them.
Cost: 0.3 us a member, 2-3 us an object.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.direct_reading import NotPlain, NoValue

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import (
        choice,
        mark,
        place_of,
        reference,
        sequence,
    )
    from cython.cimports.constrained.frontends.json_schema.direct_places import (
        LONGEST_CHAIN,
        MOST_COMPARED,
        ONE_ARRAY,
        Places,
    )
    from cython.cimports.constrained.frontends.json_schema.direct_reading import (
        ABOUT,
        ARRAY,
        AS_THEY_ARE,
        BY_SIZE,
        COUNTS,
        EVERY,
        FEW_OBJECTS,
        INSIDE,
        ITEMS,
        MEMBERS,
        OBJECT,
        PATTERNS,
        RARE,
        REFERS,
        SCALAR,
        STRING,
        TYPE,
        TYPES,
        VALUES,
        are_counts,
        are_items_plain,
        are_scalars_silent,
        are_tagged,
        bits_of,
        combined_by,
        content_of,
        listed_texts,
        one_type,
        order_left,
        said_of,
        said_texts,
        texts_within,
        told_apart,
        types_of,
    )
    from cython.cimports.constrained.frontends.json_schema.direct_text import TYPE_KEY, type_kind
    from cython.cimports.constrained.frontends.json_schema.marks import address
    from cython.cimports.constrained.frontends.json_schema.same_values import same_values
    from cython.cimports.constrained.frontends.json_schema.scalar_texts import Tables, Texts
    from cython.cimports.constrained.frontends.json_schema.shapes import Checked, Shapes
    from cython.cimports.constrained.kernel.nodes import Reference
    from cython.cimports.cpython.ref import Py_INCREF
    from cython.cimports.cpython.tuple import PyTuple_New, PyTuple_SET_ITEM
else:
    from constrained.frontends.json_schema.direct_nodes import choice, mark, place_of, reference, sequence
    from constrained.frontends.json_schema.direct_places import LONGEST_CHAIN, MOST_COMPARED, ONE_ARRAY, Places
    from constrained.frontends.json_schema.direct_reading import (
        ABOUT,
        ARRAY,
        AS_THEY_ARE,
        BY_SIZE,
        COUNTS,
        EVERY,
        FEW_OBJECTS,
        INSIDE,
        ITEMS,
        MEMBERS,
        OBJECT,
        PATTERNS,
        RARE,
        REFERS,
        SCALAR,
        STRING,
        TYPE,
        TYPES,
        VALUES,
        are_counts,
        are_items_plain,
        are_scalars_silent,
        are_tagged,
        bits_of,
        combined_by,
        content_of,
        listed_texts,
        one_type,
        order_left,
        said_of,
        said_texts,
        texts_within,
        told_apart,
        types_of,
    )
    from constrained.frontends.json_schema.direct_text import TYPE_KEY, type_kind
    from constrained.frontends.json_schema.marks import address
    from constrained.frontends.json_schema.same_values import same_values
    from constrained.frontends.json_schema.scalar_texts import Tables, Texts
    from constrained.frontends.json_schema.shapes import Checked, Shapes
    from constrained.kernel.nodes import Reference

DEEPEST = cython.declare(cython.int, 8)
"""Arrays inside each other that do not wait."""
FEW_NAMES = cython.declare(cython.Py_ssize_t, 6)
"""Required names that are looked through one by one."""


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def is_among(name: str, names) -> cython.int:
    """Whether a name is in a list or in a set."""
    i: cython.Py_ssize_t
    if type(names) is not list:
        return name in cython.cast(frozenset, names)
    for i in range(len(cython.cast(list, names))):
        if cython.cast(list, names)[i] is name:
            return True
    for i in range(len(cython.cast(list, names))):
        other: str = cython.cast(list, names)[i]
        if len(other) == len(name) and other == name:
            return True
    return False


@cython.final
@cython.cclass
class Union:
    """Alternatives: objects and arrays as ``(schema, pointer)``, and scalars together, or None; ``order``: how those of
    objects are left."""

    def __init__(self):
        self.objects = []
        self.arrays = []
        self.content = None
        self.texts = None
        self.order = AS_THEY_ARE


@cython.final
@cython.cclass
class Writer(Places):
    """Reads one document. See the module docstring.

    Args:
        tables, strict: as ``Rules``.
        host: makes of ``(writer, document, strict)`` the host, once something is not plain. There
            ``slow(schema, pointer)`` is the expression of a schema that is not plain, ``is_apart(pattern, names)``
            whether a pattern is in none of them, ``names(pattern, out, others)`` the texts of the names but ``out`` in
            which it is and, with ``others``, those in which it is not; ``write()`` writes the rules of what waits
            there, False: nothing does.
        document: the schema of the whole document.
        shapes, checked: of the document, found right.
    """

    @cython.cfunc
    def take(self, tables: Tables, host, document, strict: bool, shapes: Shapes, checked: Checked):
        self.begin(tables, strict)
        self.begin_places(document, shapes, checked)
        self.host = None
        self.make_host = host
        self.references = None
        self.arrays = None
        self.chain = 0
        self.spent = 0
        self.unions = None
        self.shape = None
        self.comparing = False
        self.filled_ones = None
        self.open = None
        self.by_kind = [None] * TYPE_KEY  # expressions of the objects that say a type and nothing else

    @cython.cfunc
    def value(self, schema, base: str, keyword, name):
        """The expression of the values of a schema under ``name`` of ``keyword`` of the place ``base``."""
        if type(schema) is dict:
            found = self.plain(schema, base, keyword, name)
            if found is not None:
                return found
            return self.by_host(schema, base, keyword, name)
        if schema is True:
            return self.any_value()
        if schema is False:
            raise NoValue
        return self.by_host(schema, base, keyword, name)  # another front end made it

    @cython.cfunc
    def quick(self, schema):
        """The expression of a schema that says a type that was met before, and nothing else; None: find it out."""
        if type(schema) is dict and len(cython.cast(dict, schema)) == 1:
            number: cython.int = type_kind(schema)
            if number > 0 and self.by_kind[number] is not None:
                return self.by_kind[number]
            said = one_type(schema)
            if said is not None:
                return self.typed.get(said)
        return None

    @cython.cfunc
    def asked(self):
        """The host."""
        if self.host is None:
            self.host = self.make_host(self, self.document, self.strict)
        return self.host

    @cython.cfunc
    def by_host(self, schema, base: str, keyword, name):
        found = self.marks.at(address(schema))
        if found is None:
            found = self.asked().slow(schema, place_of(base, keyword, name)[1:])
            self.marks.put(address(schema), found)
        return found

    def plain_value(self, schema, pointer: str):
        """The expression of a schema; None where it is not plain. Raises ``NotPlain``."""
        if type(schema) is dict:
            try:
                return self.plain(schema, "#" + pointer, None, None)
            except NoValue:
                raise NotPlain from None  # the member that has none is not the one that is looked at
        return None

    @cython.cfunc
    def plain(self, schema: dict, base: str, keyword, name):
        bits: cython.int
        types: cython.int
        array: list
        size: cython.Py_ssize_t = len(schema)
        if size == 0:
            return self.any_value()
        if size == 1:
            number: cython.int = type_kind(schema)
            if number > 0 and self.by_kind[number] is not None:
                return self.by_kind[number]
            kind = one_type(schema)
            if kind is not None:
                found = self.of_type(kind, base, keyword, name)
                if number > 0:
                    self.by_kind[number] = found
                return found
        said: cython.int = said_of(schema)
        bits = said & ABOUT
        if bits == TYPE:
            kind = schema["type"]
            if type(kind) is str:
                return self.of_type(kind, base, keyword, name)
        if bits & RARE:
            return self.combination(schema, bits, base, keyword, name) if not bits & ~(RARE | TYPE) else None
        if bits & REFERS:
            return self.reference(schema, bits)
        types = said >> TYPES
        if not (bits & INSIDE and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
            if bits & VALUES and types & STRING and not bits & ~(TYPE | VALUES | SCALAR):
                values = listed_texts(schema, self.tables.knows_const) if not bits & SCALAR else texts_within(
                    schema, self.tables.knows_const, self.tables.max_repeat)
                if values is not None:
                    return self.text_of_list(tuple(values))
            content = content_of(schema)
            return None if content is None else self.scalar(content, schema, base, keyword, name)
        if bits & VALUES or (bits & SCALAR and not are_scalars_silent(schema, types)):
            return None
        found = self.marks.at(address(schema))
        if found is not None:
            return found
        if bits & PATTERNS and not self.is_patterned(schema):
            return None
        if self.open is None:
            self.open = []
        if not (bits & INSIDE and types & OBJECT) and len(self.open) < DEEPEST:
            for entry in self.open:
                array = entry
                if array[0] is schema:
                    if array[1] is None:
                        array[1] = reference(self.rule_name(place_of(base, keyword, name)))
                    return array[1]
            return self.own_array(schema, bits, types, base, keyword, name)
        if not are_items_plain(schema, types, self.tables.max_repeat):
            return None
        if bits & COUNTS and (bits & PATTERNS or not self.tables.any_order
                              or not are_counts(schema, self.tables.max_repeat)):
            return None
        return self.waits(schema, None, said, base, keyword, name)

    @cython.cfunc
    def reference(self, schema: dict, bits: cython.int):
        """Where a reference leads; None: it says more."""
        if bits != REFERS and not self.tables.ref_alone:
            return None
        ref = schema["$ref"]
        if self.references is None:
            self.references = {}
        found = self.references.get(ref)
        if found is None:
            target, pointer = self.target(ref)
            found = self.value(target, pointer, None, None)
            self.references[ref] = found
        return found

    @cython.cfunc
    def combination(self, schema: dict, bits: cython.int, base: str, keyword, name):
        """A combination of schemas that is one of them, or a union of alternatives; None: it is another one."""
        which: str = combined_by(schema)
        if which is None:
            return None
        branches: list = schema[which]
        if len(branches) == 1 and bits == RARE:
            self.chain += 1
            if self.chain > LONGEST_CHAIN:
                raise NotPlain  # of itself, perhaps
            value = self.value(branches[0], place_of(base, keyword, name), which, "0")
            self.chain -= 1
            return value
        found = self.marks.at(address(schema))
        if found is not None:
            return found
        union: Union = self.union_of(schema, base, keyword, name)
        if union is None:
            return None
        if not union.objects and not union.arrays:
            return self.written_as(union.content, union.texts, base, keyword, name)
        return self.waits(schema, union, bits, base, keyword, name)

    @cython.cfunc
    def union_of(self, schema: dict, base: str, keyword, name) -> Union:
        """The alternatives of a union, found once; None: they have to be told apart, or one is not plain."""
        if self.unions is None:
            self.unions = {}
        found = self.unions.get(mark(schema), self)
        if found is self:
            found = self.alternatives_of(schema, base, keyword, name)
            self.unions[mark(schema)] = found
        return found

    @cython.cfunc
    def alternatives_of(self, schema: dict, base: str, keyword, name) -> Union:
        which: str = combined_by(schema)
        branches: list
        i: cython.Py_ssize_t
        bits: cython.int
        types: cython.int
        if which is None:
            return None
        branches = schema[which]
        if which == "allOf" and len(branches) > 1:
            return None
        said: cython.int = types_of(schema)
        pointer: str = place_of(base, keyword, name)
        found: Union = Union()
        contents: list = []
        scalars: list = []
        for i in range(len(branches)):
            branch = branches[i]
            place = None
            if type(branch) is dict and "$ref" in branch:
                if bits_of(branch) != REFERS and not self.tables.ref_alone:
                    return None
                branch, place = self.target(branch["$ref"])
            if type(branch) is not dict or not branch:
                return None
            bits = bits_of(branch)
            if bits & (RARE | REFERS | PATTERNS):
                return None
            types = types_of(branch) & said
            if bits & COUNTS and types & OBJECT:
                return None
            if not (bits & MEMBERS and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
                content = content_of(branch)
                if content is None:
                    return None
                contents.append(content)
                scalars.append(branch)
                continue
            if bits & VALUES or (types != OBJECT and types != ARRAY):
                return None
            if bits & SCALAR and not are_scalars_silent(branch, types):
                return None
            if not are_items_plain(branch, types, self.tables.max_repeat):
                return None
            if place is None:
                place = f"{pointer}/{which}/{i}"
            if types == OBJECT:
                found.objects.append((branch, place))
            else:
                found.arrays.append((branch, place))
        if contents:
            if said == EVERY and len(contents) == 1:
                found.content = contents[0]
                found.texts = self.tables.texts(found.content, scalars[0])
            else:
                found.content = (which, tuple(contents), said)
                found.texts = self.tables.texts_of_all(
                    found.content, which, contents, scalars, said, schema.get("type"))
            if found.texts is None or found.texts.nothing:
                return None
            if (found.texts.objects and found.objects) or (found.texts.arrays and found.arrays):
                return None
        if which == "oneOf" and len(found.arrays) > 1:
            return None
        knows_const: cython.bint = self.tables.knows_const
        if len(found.objects) < FEW_OBJECTS or not are_tagged(found.objects, knows_const):
            if which == "oneOf" and not told_apart(found.objects, knows_const):
                return None
            if len(found.objects) >= FEW_OBJECTS:
                found.order = order_left(found.objects, knows_const, self.tables.any_order, self.strict)
                if found.order == 0:
                    return None
        self.spent += len(found.objects) + len(found.arrays)
        if self.spent > self.tables.most_alternatives:
            raise NotPlain
        return found

    @cython.cfunc
    def united(self, union: Union):
        """The alternatives of a union, in the order of types that all bodies have."""
        options: list = []
        texts: Texts = union.texts
        seen: set = set()
        groups: dict = {}
        group: list
        if texts is not None and texts.objects:
            options.append(self.any_object())
        for schema, pointer in union.objects:
            self.comparing = len(union.objects) > 1
            member = self.object(schema, pointer, bits_of(schema))
            if not self.comparing:
                options.append(member)
                continue
            self.comparing = False
            # those whose undeclared members are alike stand together, as ``presence`` leaves them
            shape: tuple = self.shape
            key = None if len(union.objects) < FEW_OBJECTS else shape[2:] if self.tables.any_order else (
                *shape[2:], tuple(schema.get("properties") or ()))
            group = groups.get(key)
            if group is None:
                groups[key] = group = []
            group.append((len(shape[1]) - len(shape[0]), len(group), member))
            if shape in seen or (not shape[0] and not shape[3]):  # equal, or any object
                raise NotPlain  # one swallows the other
            seen.add(self.shape)
        for group in groups.values():
            if union.order == BY_SIZE:
                group.sort()  # by how many conditions, as ``presence`` has them
            options.extend([one[2] for one in group])
        if texts is not None and texts.arrays:
            options.append(self.any_array())
        for schema, pointer in union.arrays:
            self.shape = None
            options.append(self.array(schema, pointer))
            if self.shape in seen or (self.shape == (mark(self.anything), 0, None) and len(union.arrays) > 1):
                raise NotPlain
            seen.add(self.shape)
        if texts is not None:
            self.doubted = self.doubted or not texts.sure
            for one in texts.scalars:
                options.append(self.scalar_set(one))
            options.extend(texts.words)
        return choice(options)

    # ---- arrays and objects --------------------------------------------------------------------------

    @cython.cfunc
    def run(self):
        """The rules of the whole document."""
        self.rules["root"] = self.value(self.document, "#", None, None)
        self.write()
        while self.host is not None and self.host.write():
            self.write()

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_sure(self) -> cython.bint:
        """Whether it is plain that each value has a text: of scalars that have, without references, which may lead
        back, and without the host.
        """
        return not self.doubted and self.host is None and self.references is None

    @cython.cfunc
    def end(self):
        """Lets go of the host."""
        self.host = None
        self.make_host = None

    @cython.cfunc
    def write(self):
        """The rules of all that waits."""
        said: cython.int
        while self.done < len(self.waiting):
            schema, pointer, rule, union, said = self.waiting[self.done]
            self.done += 1
            self.rules[rule] = self.body(schema, pointer, said) if union is None else self.united(union)

    @cython.cfunc
    def body(self, schema: dict, pointer: str, said: cython.int):
        types: cython.int = said >> TYPES
        bits: cython.int = said & ABOUT
        members: object = None
        items: object = None
        if types & OBJECT:
            members = self.object(schema, pointer, bits) if bits & INSIDE else self.any_object()
        if types & ARRAY:
            items = self.array(schema, pointer) if bits & ITEMS else self.any_array()
        return self.beside(types, members, items)

    @cython.cfunc
    def own_array(self, schema: dict, bits: cython.int, types: cython.int, base: str, keyword, name):
        """The reference to an array's rule, by its items and their number; None: it is not plain.

        Its items are found out on the way, ``DEEPEST`` arrays in each other at most.
        """
        inside: object
        item: object
        rule: object = None
        pointer: str = None
        least: object = 0
        most: object = None
        items: object = schema.get("items", self)
        if items is self or type(items) is list or len(schema) > (2 if bits & TYPE else 1):  # there is more
            if not are_items_plain(schema, ARRAY, self.tables.max_repeat):
                return None
            least, most = schema.get("minItems", 0), schema.get("maxItems")
        if items is not self:
            item = self.quick(items)
            if item is None:
                opened: list = [schema, None]
                self.open.append(opened)
                pointer = place_of(base, keyword, name)
                try:
                    item = self.value(items, pointer, "items", None)
                except NoValue:
                    raise NotPlain from None  # the array has one
                self.open.pop()
                rule = opened[1]  # asked for by the items: it is like no other
        else:
            item = self.any_value()
        number: cython.longlong = 0  # of arrays that are known by their items and types alone
        key: tuple = None
        if least == 0 and most is None:
            number = address(item) | ONE_ARRAY | cython.cast(cython.longlong, types) << 56
        else:
            key = (mark(item), least, most, types)
            if self.arrays is None:
                self.arrays = {}
        found = rule if rule is not None else self.marks.at(number) if key is None else self.arrays.get(key)
        if found is None:
            found = reference(self.rule_name(place_of(base, keyword, name) if pointer is None else pointer))
            if key is None:
                self.marks.put(number, found)
            else:
                self.arrays[key] = found
            rule = found
        if rule is not None:
            inside = self.items_of(item, least, most)
            self.rules[cython.cast(Reference, rule).name] = inside if types == ARRAY else self.beside(
                types, self.any_object() if types & OBJECT else None, inside)
        self.marks.put(address(schema), found)
        return found

    @cython.cfunc
    def array(self, schema: dict, pointer: str):
        item = self.value(schema["items"], pointer, "items", None) if "items" in schema else self.any_value()
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        self.shape = (mark(item), least, most)
        return self.items_of(item, least, most)

    @cython.cfunc
    def object(self, schema: dict, pointer: str, bits: cython.int):
        needed: object = None  # a list of few names, or a set
        members: object = ()  # or a list
        standing: list = []
        names: dict = schema.get("properties")
        required = schema.get("required")
        if required is not None:
            needed = required if type(required) is list and len(required) <= FEW_NAMES else frozenset(required)
        if names is not None:
            try:
                members = self.declared(names, needed, pointer, standing)
            except NoValue:
                standing.clear()
                self.chain = 0
                members = self.declared_with_values(names, needed, pointer, standing)
        others = schema.get("additionalProperties", self)
        rest = None  # what undeclared members are
        if others is self:
            if not self.strict:
                rest = self.any_value()
        elif others is not False:
            rest = self.value(others, pointer, "additionalProperties", None)
        declared: object = names
        if needed is not None and len(standing) < len(needed):
            needed = frozenset(needed)
            if len(standing) < len(needed):
                members = list(members)
                declared = self.undeclared(names, needed, rest, members, standing)
        if self.comparing:  # alternatives must not be equal
            said = "any" if rest is not None and rest is self.anything else "" if rest is None else mark(rest)
            self.shape = (tuple([mark(member) for member in members]), tuple(standing), said, others is not self)
        if bits & PATTERNS and schema["patternProperties"]:
            free = None if others is self and self.strict else self.patterned(
                schema["patternProperties"], declared or (), rest, pointer)
        else:
            free = None if rest is None else self.free_member(declared, rest)
        if bits & COUNTS:
            self.doubted = True
            return self.members_of(members, standing, free, schema.get("minProperties", 0), schema.get("maxProperties"))
        return self.members_of(members, standing, free, 0, None)

    @cython.cfunc
    def declared(self, names: dict, needed, pointer: str, standing: list) -> tuple:
        """The declared members; the numbers of those that must come go to ``standing``. Raises ``NoValue``."""
        i: cython.Py_ssize_t = 0
        if cython.compiled:
            made: tuple = PyTuple_New(len(names))
        else:
            made = [None] * len(names)
        for name, one in names.items():
            if type(name) is not str:
                raise NotPlain
            value: object = self.value(one, pointer, "properties", name)
            if needed is not None and is_among(name, needed):
                standing.append(i)
            member: object = self.member(name, value)
            if cython.compiled:
                Py_INCREF(member)
                PyTuple_SET_ITEM(made, i, member)
            else:
                made[i] = member
            i += 1
        return made if cython.compiled else tuple(made)

    @cython.cfunc
    def declared_with_values(self, names: dict, needed, pointer: str, standing: list) -> list:
        """The same; members that need not be are left out where they have no values."""
        members: list = []
        for name, one in names.items():
            if type(name) is not str:
                raise NotPlain
            value: object = self.value_if_any(one, pointer, name)
            if needed is not None and is_among(name, needed):
                if value is None:
                    raise NotPlain
                standing.append(len(members))
            elif value is None:
                continue
            members.append(self.member(name, value))
        return members

    @cython.cfunc
    def value_if_any(self, schema, pointer: str, name):
        """The expression of a member's values; None: it has none."""
        try:
            return self.value(schema, pointer, "properties", name)
        except NoValue:
            self.chain = 0
            return None

    @cython.cfunc
    def undeclared(self, names, needed: frozenset, rest, members: list, standing: list) -> list:
        """Append the members that are only required, which stand behind the declared ones; the names of all."""
        declared: list = [] if names is None else list(names)
        if rest is None:
            raise NotPlain
        for name in sorted(needed):
            if names is None or name not in names:
                standing.append(len(members))
                members.append(self.member(name, rest))
                declared.append(name)
        return declared

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_patterned(self, schema: dict) -> cython.int:
        """Whether the names of a schema's patterns are plain: of one pattern, in which no declared name is."""
        patterns = schema["patternProperties"]
        names = schema.get("properties") or {}
        if type(patterns) is not dict or len(patterns) > 1 or type(names) is not dict:
            return False
        for pattern, value in patterns.items():
            if type(pattern) is not str or not (type(value) is dict or value is True):
                return False
            if not self.asked().is_apart(pattern, names) and not self.are_as(pattern, value, names):
                return False
        for name in schema.get("required") or ():
            if name not in names:
                return False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def are_as(self, pattern: str, value, names: dict) -> cython.int:
        """Whether the declared names in which a pattern is say of their values what the pattern says."""
        same: cython.Py_ssize_t
        for name, one in names.items():
            same = -1
            if type(one) is dict and type(value) is dict and self.compared < MOST_COMPARED:
                same = same_values(value, one, MOST_COMPARED - self.compared)
                self.compared += same if same >= 0 else -same
            if same < 0 and not self.asked().is_apart(pattern, (name,)):
                return False
        return True

    @cython.cfunc
    def patterned(self, patterns: dict, declared, rest, pointer: str):
        """A member whose name is not declared: of one value where the pattern is in it, of another where not."""
        options: list = []
        out = frozenset(declared)
        for pattern, schema in patterns.items():
            value = self.value(schema, pointer, "patternProperties", pattern)
            names = self.asked().names(pattern, out, rest is not None)
            key = self.named("key", names[0], None)
            options.append(sequence((key, self.tables.colon, value)))
            for other in names[1:]:
                key = self.named("key", other, None)
                options.append(sequence((key, self.tables.colon, rest)))
        return choice(options)

    # ---- whether there are values --------------------------------------------------------------------

    def filled(self, schema, depth: int = 3) -> bool:
        """Whether it is plain that a schema has values, looking ``depth`` values deep."""
        try:
            return self.has_values(schema, depth)
        except Exception:  # whoever reads it for good says what is wrong
            return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def has_values(self, schema, depth: cython.int) -> cython.int:
        bits: cython.int
        types: cython.int
        if type(schema) is not dict:
            return schema is True
        if self.filled_ones is None:
            self.filled_ones = {}
        if depth == 0 or not schema or mark(schema) in self.filled_ones:
            return True
        bits = bits_of(schema)
        if bits & (PATTERNS | COUNTS):
            return False
        if bits & RARE:
            return not bits & ~(RARE | TYPE) and self.some_alternative(schema, depth)
        if bits & REFERS:
            if bits != REFERS and not self.tables.ref_alone:
                return False
            return self.has_values(self.target(schema["$ref"])[0], depth)
        types = types_of(schema)
        if not (bits & MEMBERS and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
            if bits & VALUES and said_texts(schema, self.tables.knows_const) is not None:
                return True
            content = content_of(schema)
            if content is None:
                return False
            texts: Texts = self.tables.texts(content, schema)
            return texts is not None and not texts.nothing
        if bits & (SCALAR | VALUES) or not are_items_plain(schema, types, self.tables.max_repeat):
            return False
        if types & OBJECT:
            names: dict = schema.get("properties") or {}
            rest = schema.get("additionalProperties", True)
            for name in cython.cast(list, schema.get("required") or []):
                if not self.has_values(names.get(name, rest), depth - 1):
                    return False
        if types & ARRAY:
            items = schema.get("items", True)
            if schema.get("minItems", 0) > 0 and not self.has_values(items, depth - 1):
                return False
            if items is False:
                return False
        self.filled_ones[mark(schema)] = None
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def some_alternative(self, schema: dict, depth: cython.int) -> cython.int:
        """Whether it is plain that all alternatives of a union have values."""
        union: Union = self.union_of(schema, "#", None, None)
        if union is None:
            return False
        for one, _ in union.objects + union.arrays:
            if not self.has_values(one, depth):
                return False
        return True
