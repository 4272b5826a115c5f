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

What cannot be right in a plain way raises ``NotPlain``, or whatever the reading of a scalar raises, and the whole
document is read again without this module: a wrong schema, one that nothing satisfies, a member that must not be there.
So errors are worded in one place, and here all places may be taken to have values.

Invariant: with and without this pass the rules are the same but for their names, and here no more of them.
Cost: 0.3 us a member, 2-3 us an object.
"""

from __future__ import annotations

from decimal import Decimal
from marshal import dumps

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.free_keys import any_key, other_keys
from constrained.frontends.json_schema.spelling import canonical_spellings, joined_surrogates, json_literal
from constrained.grammar.ir import Graph
from constrained.grammar.keys import KeyDfa

if cython.compiled:
    from cython.cimports.constrained.kernel.nodes import Choice, Literal, Reference, Repeat, Sequence, Unordered
else:
    from constrained.kernel.nodes import Choice, Literal, Reference, Repeat, Sequence, Unordered

OBJECT = cython.declare(cython.int, 1)
ARRAY = cython.declare(cython.int, 2)
STRING = cython.declare(cython.int, 4)
NUMBER = cython.declare(cython.int, 8)
INTEGER = cython.declare(cython.int, 16)
BOOLEAN = cython.declare(cython.int, 32)
NULL = cython.declare(cython.int, 64)
EVERY = cython.declare(cython.int, 127)
_TYPES: dict = {"object": 1, "array": 2, "string": 4, "number": 8, "integer": 16, "boolean": 32, "null": 64}

TYPE = cython.declare(cython.int, 1)
SCALAR = cython.declare(cython.int, 2)
MEMBERS = cython.declare(cython.int, 4)
ITEMS = cython.declare(cython.int, 8)
REFERS = cython.declare(cython.int, 16)
RARE = cython.declare(cython.int, 32)
VALUES = cython.declare(cython.int, 64)
_KEYWORDS: dict = {
    "type": 1,
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern "
                    "format".split(), 2),
    **dict.fromkeys("enum const".split(), 64),
    **dict.fromkeys("properties required additionalProperties".split(), 4),
    **dict.fromkeys("items minItems maxItems".split(), 8),
    "$ref": 16,
    **dict.fromkeys("patternProperties propertyNames minProperties maxProperties dependentRequired prefixItems "
                    "additionalItems uniqueItems contains allOf anyOf oneOf not if dependentSchemas dependencies "
                    "$dynamicRef $recursiveRef unevaluatedProperties unevaluatedItems".split(), 32),
}
"""What keywords are about; all others say nothing of values."""

MOST_VALUES = cython.declare(cython.int, 64)
"""An ``enum`` of more is not kept from one document to the next."""
MOST_KEPT = cython.declare(cython.int, 20_000)
"""Contents of scalars whose texts are kept."""
MOST_COMPARED = cython.declare(cython.int, 4_000_000)
"""Bytes of schemas that are compared as a whole, for one document."""
DEEPEST = cython.declare(cython.int, 8)
"""Arrays inside each other that do not wait."""
LONGEST_NAME = cython.declare(cython.int, 80)
LONGEST_CHAIN = cython.declare(cython.int, 100)
"""References to nothing but another reference, one behind the other."""

FEW_OBJECTS = cython.declare(cython.int, 12)
"""Alternatives of objects of which each is compared with each."""

_ANY_SHAPE = ((), (), "any", False)
_EMPTY = Literal(b"")
_QUOTE = Literal(b'"')
_TRUE, _FALSE, _NULL = Literal(b"true"), Literal(b"false"), Literal(b"null")


class NotPlain(Exception):
    """Something that this pass does not word: the document is to be read without it."""


@cython.cfunc
def _sequence(items: tuple) -> Sequence:
    node: Sequence = Sequence.__new__(Sequence)
    node.kind = 3
    node.items = items
    return node


@cython.cfunc
def _reference(name: str) -> Reference:
    node: Reference = Reference.__new__(Reference)
    node.kind = 6
    node.name = name
    return node


@cython.cfunc
def _choice(options: list):
    node: Choice
    if len(options) == 1:
        return options[0]
    node = Choice.__new__(Choice)
    node.kind = 4
    node.options = tuple(options)
    return node


@cython.cfunc
def _plain_literal(text: str):
    """A string of JSON that needs no escapes, however it is written; None: it needs some."""
    c: cython.int
    if not text.isascii():
        return None
    data: bytes = text.encode()
    for c in data:
        if c < 0x20 or c > 0x7E or c == 0x22 or c == 0x5C:
            return None
    node: Literal = Literal.__new__(Literal)
    node.kind = 1
    node.data = b'"' + data + b'"'
    return node


@cython.cfunc
def _key(name: str):
    """A name in its canonical spellings."""
    found = _plain_literal(name)
    return json_literal(name) if found is None else found


@cython.cfunc
def _other_keys(out: frozenset):
    """Any string but ``out``."""
    keys: list = []
    for name in out:
        found = _plain_literal(name)
        if found is None:
            if not "".join(out).isascii():
                out = frozenset(map(joined_surrogates, out))
            return _sequence((_QUOTE, other_keys(out)))
        keys.append(cython.cast(str, name).encode())
    keys.sort()
    return _sequence((_QUOTE, KeyDfa(any_key(), tuple(keys), 0x22)))


@cython.final
@cython.cclass
class Texts:
    """What a scalar is written as, in any document: sets of strings and numbers, then words. ``objects`` and ``arrays``:
    all of those are values, too.

    A set is ``(kind, expression, rules that belong to it or None)``, or ``("string", None, texts)`` where it is a list.
    """

    def __init__(self, scalars: tuple, words: tuple, objects: bool, arrays: bool):
        self.scalars = scalars
        self.words = words
        self.objects = objects
        self.arrays = arrays
        self.single = len(scalars) == 1 and not words and not objects and not arrays
        self.nothing = not scalars and not words and not objects and not arrays


@cython.final
@cython.cclass
class Union:
    """Alternatives: objects and arrays as ``(schema, pointer)``, and scalars together, or None."""

    def __init__(self):
        self.objects = []
        self.arrays = []
        self.content = None
        self.texts = None


@cython.final
@cython.cclass
class Tables:
    """What all documents share that are read and written alike.

    Args:
        space, comma, colon: the layout's expressions.
        spaces: the rule that ``space`` refers to, ``(name, expression)``; None: no whitespace.
        read: from the schema of a scalar, or of a union of such, to its ``Texts``; None: it is not plain. May raise.
        knows_const: whether ``const`` is a keyword.
        any_order: whether members come in any order.
        ref_alone: whether ``$ref`` hides its siblings.
        max_repeat: the largest count.
        most_alternatives: of all unions of a document.
    """

    def __init__(self, space, comma, colon, spaces, read, knows_const: bool, any_order: bool, ref_alone: bool, max_repeat: int,
                 most_alternatives: int):
        self.space = space
        self.comma = comma
        self.colon = colon
        self.spaces = spaces
        self.read = read
        self.knows_const = knows_const
        self.any_order = any_order
        self.ref_alone = ref_alone
        self.max_repeat = max_repeat
        self.most_alternatives = most_alternatives
        self.kept = {}
        self.brackets = self._bracket(b"{", b"}")
        self.square = self._bracket(b"[", b"]")

    @cython.cfunc
    def _bracket(self, left: bytes, right: bytes) -> tuple:
        first, last = Literal(left), Literal(right)
        if self.spaces is None:
            return first, last, Literal(left + right)
        return first, last, _sequence((first, self.space, last))

    @cython.cfunc
    def enclosed(self, brackets: tuple, inside, may_be_empty: cython.bint):
        """Brackets around what ``inside`` writes, which is never empty; None: it writes nothing."""
        if inside is None:
            return brackets[2]
        if self.spaces is None:
            full = _sequence((brackets[0], inside, brackets[1]))
        else:
            full = _sequence((brackets[0], self.space, inside, self.space, brackets[1]))
        return _choice([full, brackets[2]]) if may_be_empty else full

    def forget(self):
        """Drops the texts of scalars."""
        self.kept.clear()

    @cython.cfunc
    def texts(self, content: tuple, schema: dict) -> Texts:
        """The texts of a scalar; None: it is not plain."""
        found = self.kept.get(content, self)
        if found is self:
            if len(self.kept) > MOST_KEPT:
                self.kept.clear()
            found = self.read(schema)
            self.kept[content] = found
        return found


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _bits(schema: dict) -> cython.int:
    """What the keywords of a schema are about, together."""
    bits: cython.int = 0
    for key in schema:
        found = _KEYWORDS.get(key)
        if found is not None:
            bits |= cython.cast(cython.int, found)
    return bits


@cython.cfunc
@cython.exceptval(-1, check=False)
def _types_of(schema: dict) -> cython.int:
    """The types of a schema's values as bits."""
    bits: cython.int = 0
    said = schema.get("type")
    if type(said) is str:
        found = _TYPES.get(said)
        if found is None:
            raise NotPlain
        return found
    if said is None:
        if "type" in schema:
            raise NotPlain
        return EVERY
    if type(said) is not list or not said:
        raise NotPlain
    for name in cython.cast(list, said):
        if type(name) is not str or name not in _TYPES:
            raise NotPlain
        bits |= cython.cast(cython.int, _TYPES[name])
    return bits


@cython.cfunc
def _content(schema: dict):
    """What a schema says of scalars, to be compared; None: more than a few simple things."""
    found: list = []
    for key, value in schema.items():
        bits = _KEYWORDS.get(key)
        if bits is None or not cython.cast(cython.int, bits) & (TYPE | SCALAR | VALUES):
            continue
        kind = type(value)
        if kind is list:
            if len(value) > MOST_VALUES:
                return None
            for item in cython.cast(list, value):
                if type(item) is not str:
                    break
            else:
                found.append((key, kind, tuple(value)))
                continue
            pairs: list = []
            for item in cython.cast(list, value):
                kind = type(item)
                if not (kind is str or kind is int or kind is bool or item is None or kind is Decimal):
                    return None
                pairs.append((kind, item))
            found.append((key, tuple, tuple(pairs)))
        elif kind is str or kind is int or kind is bool or value is None or kind is Decimal:
            found.append((key, kind, value))
        else:
            return None
    if len(found) > 1:
        found.sort(key=_first)
    return tuple(found)


def _first(entry: tuple):
    return entry[0]


@cython.cfunc
def _place_of(base: str, keyword, name) -> str:
    """The JSON Pointer of what stands under ``name`` of ``keyword`` of ``base``."""
    if keyword is None:
        return base
    if name is None:
        return f"{base}/{keyword}"
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{base}/{keyword}/{name}"


@cython.cfunc
def _said_texts(schema, knows_const: cython.bint):
    """The strings that a schema lists, where that is all it says; else None."""
    if type(schema) is not dict:
        return None
    said: dict = schema
    if _bits(said) & ~(TYPE | VALUES) or said.get("type", "string") != "string":
        return None
    if "enum" in said:
        if "const" in said:
            return None
        listed = said["enum"]
        if type(listed) is not list or not listed:
            return None
    elif "const" in said and knows_const:
        listed = [said["const"]]
    else:
        return None
    for one in cython.cast(list, listed):
        if type(one) is not str:
            return None
    return listed


@cython.cfunc
@cython.exceptval(-1, check=False)
def _told_apart(objects: list, knows_const: cython.bint) -> cython.int:
    """Whether it is plain that no object is in two of the alternatives: by the texts of a member that all require, or,
    of a few, by members that one requires and the other rules out."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    if len(objects) < 2:
        return True
    schema: dict = objects[0][0]
    for name in schema.get("required") or ():
        seen: set = set()
        count: cython.Py_ssize_t = 0
        for schema, _ in objects:
            if name not in (schema.get("required") or ()):
                break
            listed = _said_texts((schema.get("properties") or {}).get(name), knows_const)
            if listed is None or not seen.isdisjoint(listed):
                break
            seen.update(listed)
            count += 1
        if count == len(objects):
            return True
    if len(objects) > FEW_OBJECTS:
        return False
    for i in range(1, len(objects)):
        for k in range(i):
            if not _apart(objects[i][0], objects[k][0], knows_const) and (
                    not _apart(objects[k][0], objects[i][0], knows_const)):
                return False
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def _apart(one: dict, other: dict, knows_const: cython.bint) -> cython.int:
    """Whether a member that ``one`` requires may not be in ``other``, or is another text there."""
    mine: dict = one.get("properties") or {}
    theirs: dict = other.get("properties") or {}
    for name in one.get("required") or ():
        if name not in theirs:
            if other.get("additionalProperties", True) is False:
                return True
        elif name in mine:
            texts, others = _said_texts(mine[name], knows_const), _said_texts(theirs[name], knows_const)
            if texts is not None and others is not None and set(texts).isdisjoint(others):
                return True
    return False


def in_order(members: list, standing: list, free, separator) -> tuple:
    """``(inside, may be empty)``: members in their order, those of the numbers ``standing`` must come; then any number of
    free ones. ``inside`` None: there are none.

    An automaton that reads each member once: in state ``2 i`` one of the members from ``i`` on must come, in state
    ``2 i + 1``, behind member ``i``, a separator or the end.
    """
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    last: cython.Py_ssize_t = len(members) - 1
    must: cython.Py_ssize_t = 0
    if last < 0:
        return None if free is None else Sequence((free, Repeat(Sequence((separator, free)), 0, None))), True
    parts: list = []
    if free is None and len(standing) == last + 1:
        for member in members:
            parts.append(member)
            parts.append(separator)
        parts.pop()
        return _sequence(tuple(parts)), False
    accepting: list = []
    for i in range(last + 1):
        member = members[i]
        place = 2 * i
        if must < len(standing) and standing[must] == i:
            must += 1
            accepting.clear()
            parts.append(((member, place + 1),))
        elif i < last or free is not None:
            parts.append(((member, place + 1), (_EMPTY, place + 2)))
        else:
            parts.append(((member, place + 1),))
        parts.append(((separator, place + 2),) if i < last or free is not None else ())
        accepting.append(place + 1)
    if free is not None:
        place = 2 * last
        parts.append(((free, place + 3),))
        parts.append(((separator, place + 2),))
        accepting.append(place + 3)
    return Graph(tuple(parts), frozenset(accepting)), not standing


@cython.final
@cython.cclass
class Writer:
    """The rules of one document. See the module docstring.

    Args:
        tables: what other documents share with it.
        host: ``slow(schema, pointer)`` is the expression of a schema that is not plain, ``follow(ref)`` the schema that
            a reference leads to and its pointer.
        strict: objects that say nothing about undeclared members have none.
    """

    def __init__(self, tables: Tables, host, strict: bool):
        self.tables = tables
        self.host = host
        self.strict = strict
        self.rules = {}
        self.taken = {"root"}
        self.scalars = {}
        self.typed = {}
        self.contents = {}
        self.lists = {}
        self.listed = {}
        self.known = {}
        self.references = {}
        self.members = {}
        self.keys = {}
        self.arrays = {}
        self.looks = {}
        self.compared = 0
        self.chain = 0
        self.spent = 0
        self.unions = {}
        self.shape = None
        self.comparing = False
        self.waiting = []
        self.done = 0
        self.filled_ones = {}
        self.open = []
        self.anything = None
        self.some_object = None
        self.some_array = None
        if tables.spaces is not None:
            name, rule = tables.spaces
            self.rules[name] = rule
            self.taken.add(name)

    # ---- what a schema is written as -----------------------------------------------------------------

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
        if schema is False or not isinstance(schema, dict):
            raise NotPlain  # no value, or wrong
        return self.by_host(schema, base, keyword, name)  # another front end made it

    @cython.cfunc
    def quick(self, schema):
        """The expression of a schema that says a type that was met before, and nothing else; None: find it out."""
        if type(schema) is dict and len(cython.cast(dict, schema)) == 1:
            said = cython.cast(dict, schema).get("type")
            if type(said) is str:
                return self.typed.get(said)
        return None

    @cython.cfunc
    def by_host(self, schema, base: str, keyword, name):
        key = id(schema)
        found = self.known.get(key)
        if found is None:
            found = self.host.slow(schema, _place_of(base, keyword, name))
            self.known[key] = found
        return found

    def plain_value(self, schema, pointer: str):
        """The expression of a schema; None where it is not plain. Raises ``NotPlain``."""
        if type(schema) is dict:
            return self.plain(schema, pointer, None, None)
        return None

    @cython.cfunc
    def plain(self, schema: dict, base: str, keyword, name):
        bits: cython.int
        types: cython.int
        array: list
        size: cython.Py_ssize_t = len(schema)
        if size == 0:
            return self.any_value()
        said = schema.get("type")
        if type(said) is str and (size == 1 or (size == 2 and "description" in schema)):
            found = self.typed.get(said)
            if found is None:
                found = self.scalar(((("type", str, said),)), schema, base, keyword, name)
                self.typed[said] = found
            return found
        bits = _bits(schema)
        if bits == TYPE and type(said) is str and said in self.typed:
            return self.typed[said]
        if bits & RARE:
            return self.combination(schema, base, keyword, name) if bits == RARE else None
        if bits & REFERS:
            return self.reference(schema, bits)
        types = _types_of(schema)
        if not (bits & MEMBERS and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
            if bits & VALUES and types & STRING and not bits & SCALAR:
                values = _said_texts(schema, self.tables.knows_const) if not bits & (MEMBERS | ITEMS) else None
                if values is not None:
                    return self.text_of_list(tuple(values))
            content = _content(schema)
            return None if content is None else self.scalar(content, schema, base, keyword, name)
        if bits & (SCALAR | VALUES):
            return None
        found = self.known.get(id(schema))
        if found is not None:
            return found
        if not (bits & MEMBERS and types & OBJECT) and len(self.open) < DEEPEST:
            for entry in self.open:
                array = entry
                if array[0] is schema:
                    if array[1] is None:
                        array[1] = _reference(self.rule_name(_place_of(base, keyword, name)))
                    return array[1]
            return self.own_array(schema, types, base, keyword, name)
        if self.structure(schema, types) < 0:
            return None
        return self.waits(schema, None, base, keyword, name)

    @cython.cfunc
    def scalar(self, content: tuple, schema: dict, base: str, keyword, name):
        """The expression of a scalar, by what it says; None: it is not plain."""
        found = self.contents.get(content)
        if found is not None:
            return found
        texts: Texts = self.tables.texts(content, schema)
        if texts is None:
            return None
        if texts.nothing:
            raise NotPlain
        return self.written_as(content, texts, base, keyword, name)

    @cython.cfunc
    def written_as(self, content: tuple, texts: Texts, base: str, keyword, name):
        """A reference to the texts of a scalar; equal ones share a rule."""
        found = self.contents.get(content)
        if found is not None:
            return found
        if texts.single:
            found = self.scalar_set(texts.scalars[0])
        elif not content:
            found = self.any_value()
        else:
            found = self.alternatives(texts, _place_of(base, keyword, name))
        self.contents[content] = found
        return found

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
        self.rules[rule] = _choice(options)
        return _reference(rule)

    @cython.cfunc
    def named(self, kind: str, expr, rules):
        """A reference to the rule of a set of strings, numbers or keys; words stay as they are."""
        if isinstance(expr, Literal):
            return expr
        found = self.scalars.get(id(expr))
        if found is None:
            name = kind if kind not in self.rules else f"{kind} {len(self.scalars)}"
            self.rules[name] = expr
            if rules:
                self.rules.update(rules)
            found = _reference(name)
            self.scalars[id(expr)] = found
        return found

    @cython.cfunc
    def scalar_set(self, one: tuple):
        """A reference to one set of ``Texts``."""
        kind, expr, rules = one
        return self.text_of_list(rules) if expr is None else self.named(kind, expr, rules)

    @cython.cfunc
    def text_of_list(self, values: tuple):
        """A reference to the rule of a list of strings."""
        found = self.lists.get(values)
        if found is None:
            found = self.named("string", self.list_of(values), None)
            self.lists[values] = found
        return found

    def list_of(self, values: tuple):
        """The expression of a list of strings, one for the document."""
        options: list = []
        found = self.listed.get(values)
        if found is not None:
            return found
        single = tuple(dict.fromkeys(values))
        for value in single:
            text = _plain_literal(value)
            if text is None:
                break
            options.append(text)
        else:
            found = _choice(options)
        if found is None:
            single = tuple(dict.fromkeys(map(joined_surrogates, values)))
            found = _choice([Literal(data) for value in single for data in canonical_spellings(value)])
        known = self.listed.setdefault(single, found)
        self.listed[values] = known
        return known

    @cython.cfunc
    def of_type(self, name: str):
        return self.scalar((("type", str, name),), {"type": name}, "", None, None)

    @cython.cfunc
    def rule_name(self, pointer: str) -> str:
        name: str = "#" + pointer
        if len(name) >= LONGEST_NAME:
            name = f"{name[:60]}... {len(self.taken)}"
        while name in self.taken:
            name = f"{name} {len(self.taken)}"
        self.taken.add(name)
        return name

    @cython.cfunc
    def any_value(self):
        """Any value of JSON."""
        if self.anything is None:
            self.taken.add("true 1")
            self.anything = _reference("true 1")
            self.rules["true 1"] = _EMPTY  # keeps its place
            self.rules["true 1"] = _choice([
                self.any_object(), self.any_array(), self.of_type("string"), self.of_type("number"), _TRUE, _FALSE,
                _NULL])
        return self.anything

    def member_of(self, name: str, value):
        """``member``, for the host."""
        return self.member(name, value)

    def free_of(self, declared, value):
        """``free_member``, for the host."""
        return self.free_member(declared, value)

    def everything(self):
        """``any_value``, for the host."""
        return self.any_value()

    @cython.cfunc
    def any_object(self):
        if self.some_object is None:
            free = None if self.strict else self.free_member((), self.any_value())
            if self.some_object is None:
                self.some_object = self.members_of([], [], free)
        return self.some_object

    @cython.cfunc
    def any_array(self):
        if self.some_array is None:
            item = self.any_value()
            if self.some_array is None:
                self.some_array = self.items_of(item, 0, None)
        return self.some_array

    @cython.cfunc
    def reference(self, schema: dict, bits: cython.int):
        """Where a reference leads; None: it says more."""
        if bits != REFERS and not self.tables.ref_alone:
            return None
        ref = schema["$ref"]
        if type(ref) is not str:
            raise NotPlain
        found = self.references.get(ref)
        if found is None:
            target, pointer = self.target(ref)
            found = self.value(target, pointer, None, None)
            self.references[ref] = found
        return found

    @cython.cfunc
    def combination(self, schema: dict, base: str, keyword, name):
        """A combination of schemas that is one of them, or a union of alternatives; None: it is another one."""
        which: str = self.combined_by(schema)
        if which is None:
            return None
        branches: list = schema[which]
        if len(branches) == 1:
            self.chain += 1
            if self.chain > LONGEST_CHAIN:
                raise NotPlain  # of itself, perhaps
            value = self.value(branches[0], _place_of(base, keyword, name), which, "0")
            self.chain -= 1
            return value
        found = self.known.get(id(schema))
        if found is not None:
            return found
        union: Union = self.union_of(schema, base, keyword, name)
        if union is None:
            return None
        if not union.objects and not union.arrays:
            return self.written_as(union.content, union.texts, base, keyword, name)
        return self.waits(schema, union, base, keyword, name)

    @cython.cfunc
    def combined_by(self, schema: dict) -> str:
        """The combinator that is all a schema says; None: there is more, or it has no branches."""
        which: str = None
        for key, value in schema.items():
            if key == "anyOf" or key == "oneOf" or key == "allOf":
                if which is not None or type(value) is not list or not value:
                    return None
                which = key
            elif _KEYWORDS.get(key) is not None:
                return None
        return which

    @cython.cfunc
    def union_of(self, schema: dict, base: str, keyword, name) -> Union:
        """The alternatives of a union, found once; None: they have to be told apart, or one is not plain."""
        found = self.unions.get(id(schema), self)
        if found is self:
            found = self.alternatives_of(schema, base, keyword, name)
            self.unions[id(schema)] = found
        return found

    @cython.cfunc
    def alternatives_of(self, schema: dict, base: str, keyword, name) -> Union:
        which: str = self.combined_by(schema)
        branches: list
        i: cython.Py_ssize_t
        bits: cython.int
        types: cython.int
        if which is None or which == "allOf":
            return None
        branches = schema[which]
        pointer: str = _place_of(base, keyword, name)
        found: Union = Union()
        contents: list = []
        scalars: list = []
        for i in range(len(branches)):
            branch = branches[i]
            place = None
            if type(branch) is dict and "$ref" in branch:
                if _bits(branch) != REFERS and not self.tables.ref_alone:
                    return None
                if type(branch["$ref"]) is not str:
                    raise NotPlain
                branch, place = self.target(branch["$ref"])
            if type(branch) is not dict or not branch:
                return None
            bits = _bits(branch)
            if bits & (RARE | REFERS):
                return None
            types = _types_of(branch)
            if not (bits & MEMBERS and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
                content = _content(branch)
                if content is None:
                    return None
                contents.append(content)
                scalars.append(branch)
                continue
            if bits & (SCALAR | VALUES) or (types != OBJECT and types != ARRAY) or self.structure(branch, types) < 0:
                return None
            if place is None:
                place = f"{pointer}/{which}/{i}"
            if types == OBJECT:
                found.objects.append((branch, place))
            else:
                found.arrays.append((branch, place))
        if contents:
            if len(contents) == 1:
                found.content = contents[0]
                found.texts = self.tables.texts(found.content, scalars[0])
            else:
                found.content = (which, tuple(contents))
                found.texts = self.tables.texts(found.content, {which: scalars})
            if found.texts is None or found.texts.nothing:
                return None
            if (found.texts.objects and found.objects) or (found.texts.arrays and found.arrays):
                return None
        if which == "oneOf" and (len(found.arrays) > 1 or not _told_apart(found.objects, self.tables.knows_const)):
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
        if texts is not None and texts.objects:
            options.append(self.any_object())
        for schema, pointer in union.objects:
            self.comparing = len(union.objects) > 1
            options.append(self.object(schema, pointer))
            if not self.comparing:
                continue
            self.comparing = False
            if self.shape in seen or self.shape == _ANY_SHAPE:
                raise NotPlain  # one swallows the other
            seen.add(self.shape)
        if texts is not None and texts.arrays:
            options.append(self.any_array())
        for schema, pointer in union.arrays:
            self.shape = None
            options.append(self.array(schema, pointer))
            if self.shape in seen or (self.shape == (id(self.anything), 0, None) and len(union.arrays) > 1):
                raise NotPlain
            seen.add(self.shape)
        if texts is not None:
            for one in texts.scalars:
                options.append(self.scalar_set(one))
            options.extend(texts.words)
        return _choice(options)

    @cython.cfunc
    def target(self, ref: str) -> tuple:
        """The schema at the end of a chain of references, and its pointer."""
        bits: cython.int
        found: tuple
        for _ in range(LONGEST_CHAIN):
            found = self.host.follow(ref)
            schema = found[0]
            if type(schema) is not dict or "$ref" not in schema:
                return found
            bits = _bits(schema)
            if bits != REFERS and not self.tables.ref_alone:
                return found
            ref = schema["$ref"]
            if type(ref) is not str:
                raise NotPlain
        raise NotPlain

    # ---- equal places --------------------------------------------------------------------------------

    @cython.cfunc
    def waits(self, schema: dict, union, base: str, keyword, name):
        """A reference to the rule of an array or an object, which is written later: that of an equal one, if any."""
        pointer: str
        first = None
        size: cython.Py_ssize_t = 0
        inside = schema.get("properties")
        if type(inside) is dict:
            size = len(inside)
            first = next(iter(inside), None)
        look = (len(schema), size, first)
        others: list = self.looks.get(look)
        if others is None:
            others = []
            self.looks[look] = others
        elif self.compared < MOST_COMPARED:
            written = self.written(schema)
            if written is not None:
                for other in others:
                    entry: list = other
                    if entry[1] is None:
                        entry[1] = self.written(entry[0]) or b""
                    if entry[1] == written:
                        found = entry[2]
                        self.known[id(schema)] = found
                        return found
        pointer = _place_of(base, keyword, name)
        rule = self.rule_name(pointer)
        found = _reference(rule)
        self.known[id(schema)] = found
        others.append([schema, None, found])
        self.waiting.append((schema, pointer, rule, union))
        return found

    @cython.cfunc
    def written(self, schema: dict):
        """The bytes of a schema; None where they would not tell it from others."""
        try:
            found = dumps(schema, 2)
        except ValueError:
            self.compared += MOST_COMPARED // 40
            return None
        self.compared += len(found)
        return found

    # ---- arrays and objects --------------------------------------------------------------------------

    def root(self, schema):
        """Begins with the schema of the whole document."""
        self.rules["root"] = self.value(schema, "", None, None)

    def end(self):
        """Lets go of the host."""
        self.host = None

    def write(self):
        """The rules of all that waits."""
        while self.done < len(self.waiting):
            schema, pointer, rule, union = self.waiting[self.done]
            self.done += 1
            self.rules[rule] = self.body(schema, pointer) if union is None else self.united(union)

    @cython.cfunc
    def body(self, schema: dict, pointer: str):
        types: cython.int = _types_of(schema)
        bits: cython.int = _bits(schema)
        members: object = None
        items: object = None
        if types & OBJECT:
            members = self.object(schema, pointer) if bits & MEMBERS else self.any_object()
        if types & ARRAY:
            items = self.array(schema, pointer) if bits & ITEMS else self.any_array()
        return self.beside(types, members, items)

    @cython.cfunc
    def beside(self, types: cython.int, members, items):
        """Objects and arrays, as far as there are, and all values of the other types."""
        options: list = []
        if members is not None:
            options.append(members)
        if items is not None:
            options.append(items)
        if types & STRING:
            options.append(self.of_type("string"))
        if types & NUMBER:
            options.append(self.of_type("number"))
        elif types & INTEGER:
            options.append(self.of_type("integer"))
        if types & BOOLEAN:
            options.append(_TRUE)
            options.append(_FALSE)
        if types & NULL:
            options.append(_NULL)
        return _choice(options)

    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def structure(self, schema: dict, types: cython.int) -> cython.int:
        """-1 where the keywords of members and items have values that are not plain; else how few items there are."""
        if types & OBJECT:
            inside = schema.get("properties", self)
            if inside is not self and type(inside) is not dict:
                return -1
            needed = schema.get("required", self)
            if needed is not self and type(needed) is not list:
                return -1
            if needed is not self:
                for one in cython.cast(list, needed):
                    if type(one) is not str:
                        return -1
        few: cython.int = 0
        if types & ARRAY:
            least = schema.get("minItems", 0)
            most = schema.get("maxItems", 0)
            if type(least) is not int or type(most) is not int:
                return -1
            if least < 0 or least > self.tables.max_repeat or most < 0 or most > self.tables.max_repeat:
                return -1
            if "maxItems" in schema and most < least:
                return -1
            if type(schema.get("items", True)) is list:
                return -1
            few = least
        return few

    @cython.cfunc
    def own_array(self, schema: dict, types: cython.int, base: str, keyword, name):
        """The reference to an array's rule, by its items and their number; None: it is not plain.

        Its items are found out on the way, ``DEEPEST`` arrays in each other at most.
        """
        if self.structure(schema, ARRAY) < 0:
            return None
        inside: object
        opened: list = [schema, None]
        self.open.append(opened)
        item: object = None
        if "items" in schema:
            item = self.quick(schema["items"])
            if item is None:
                item = self.value(schema["items"], _place_of(base, keyword, name), "items", None)
        else:
            item = self.any_value()
        self.open.pop()
        rule = opened[1]  # asked for by the items: it is like no other
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        key = (id(item), least, most, types)
        found = self.arrays.get(key) if rule is None else rule
        if found is None:
            found = _reference(self.rule_name(_place_of(base, keyword, name)))
            self.arrays[key] = found
            rule = found
        if rule is not None:
            inside = self.items_of(item, least, most)
            self.rules[cython.cast(Reference, rule).name] = inside if types == ARRAY else self.beside(
                types, self.any_object() if types & OBJECT else None, inside)
        self.known[id(schema)] = found
        return found

    @cython.cfunc
    def array(self, schema: dict, pointer: str):
        item = self.value(schema["items"], pointer, "items", None) if "items" in schema else self.any_value()
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        self.shape = (id(item), least, most)
        return self.items_of(item, least, most)

    @cython.cfunc
    def items_of(self, item, least, most):
        """``least`` to ``most`` items."""
        tables: Tables = self.tables
        if most is not None and most == 0:
            return tables.enclosed(tables.square, None, True)
        tail: object = _EMPTY
        if most is None or most > 1:
            tail = Repeat(_sequence((tables.comma, item)), least - 1 if least > 1 else 0,
                          None if most is None else most - 1)
        return tables.enclosed(tables.square, _sequence((item, tail)), least == 0)

    @cython.cfunc
    def object(self, schema: dict, pointer: str):
        needed: object = None
        members: list = []
        standing: list = []
        names: dict = {}
        value: object
        inside = schema.get("properties")
        if "required" in schema:
            needed = frozenset(schema["required"])
            if not needed:
                needed = None
        if inside is not None:
            names = inside
            for name, one in names.items():
                if type(name) is not str:
                    raise NotPlain
                value = self.value(one, pointer, "properties", name)
                if needed is not None and name in needed:
                    standing.append(len(members))
                members.append(self.member(name, value))
        others = schema.get("additionalProperties", self)
        rest = None  # what undeclared members are
        if others is self:
            if not self.strict:
                rest = self.any_value()
        elif others is not False:
            rest = self.value(others, pointer, "additionalProperties", None)
        declared: object = names
        if needed is not None and len(standing) < len(needed):
            # a name that is only required stands behind the declared ones
            if rest is None:
                raise NotPlain
            undeclared = sorted([name for name in needed if name not in names])
            for name in undeclared:
                standing.append(len(members))
                members.append(self.member(name, rest))
            declared = [*names, *undeclared]
        if self.comparing:  # alternatives must not be equal
            said = "any" if rest is not None and rest is self.anything else "" if rest is None else id(rest)
            self.shape = (tuple([id(member) for member in members]), tuple(standing), said, others is not self)
        return self.members_of(members, standing, None if rest is None else self.free_member(declared, rest))

    @cython.cfunc
    def member(self, name: str, value):
        """A member with this name. Equal ones are one node, which is lowered once for all groups in any order."""
        known: Sequence
        found = self.members.get(name)
        if found is None:
            known = _sequence((_key(name), self.tables.colon, value))
            self.members[name] = known
            return known
        known = found
        if known.items[2] is value:
            return known
        key = (name, id(value))
        found = self.members.get(key)
        if found is None:
            found = _sequence((known.items[0], self.tables.colon, value))
            self.members[key] = found
        return found

    @cython.cfunc
    def free_member(self, declared, value):
        """A member whose name is not declared."""
        key: tuple
        out = frozenset(declared)
        key = (out, id(value))
        found = self.members.get(key)
        if found is None:
            found = _sequence((self.key_of(out), self.tables.colon, value))
            self.members[key] = found
        return found

    def key_of(self, out: frozenset):
        """A reference to the keys that are none of ``out``."""
        found = self.keys.get(out)
        if found is None:
            found = self.named("key", _other_keys(out) if out else self.host.any_key(), None)
            self.keys[out] = found
        return found

    @cython.cfunc
    def members_of(self, members: list, standing: list, free):
        """An object of members, of which those numbered ``standing`` must come, and any number of free ones."""
        tables: Tables = self.tables
        group: Unordered
        if not tables.any_order:
            inside, may_be_empty = in_order(members, standing, free, tables.comma)
            return tables.enclosed(tables.brackets, inside, may_be_empty)
        if not members and free is None:
            return tables.enclosed(tables.brackets, None, True)
        group = Unordered.__new__(Unordered)
        group.kind = 8
        group.items = tuple(members)
        group.required = frozenset(standing)
        group.held = (tables.comma, free)
        group.minimum = 1
        group.maximum = None
        return tables.enclosed(tables.brackets, group, not standing)

    # ---- whether there are values --------------------------------------------------------------------

    def filled(self, schema, depth: int = 3) -> bool:
        """Whether it is plain that a schema has values and no keyword of it is wrong, looking ``depth`` values deep."""
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
        if depth == 0 or not schema or id(schema) in self.filled_ones:
            return True
        bits = _bits(schema)
        if bits & RARE:
            return bits == RARE and self.some_alternative(schema, depth)
        if bits & REFERS:
            if bits != REFERS and not self.tables.ref_alone:
                return False
            return self.has_values(self.target(schema["$ref"])[0], depth)
        types = _types_of(schema)
        if not (bits & MEMBERS and types & OBJECT) and not (bits & ITEMS and types & ARRAY):
            if bits & VALUES and _said_texts(schema, self.tables.knows_const) is not None:
                return True
            content = _content(schema)
            if content is None:
                return False
            texts: Texts = self.tables.texts(content, schema)
            return texts is not None and not texts.nothing
        if bits & (SCALAR | VALUES) or self.structure(schema, types) < 0:
            return False
        if types & OBJECT:
            names: dict = schema.get("properties") or {}
            for one in names.values():
                if type(one) is not dict and type(one) is not bool:
                    return False
            rest = schema.get("additionalProperties", True)
            if type(rest) is not dict and type(rest) is not bool:
                return False
            for name in cython.cast(list, schema.get("required") or []):
                if not self.has_values(names.get(name, rest), depth - 1):
                    return False
        if types & ARRAY:
            items = schema.get("items", True)
            if type(items) is not dict and type(items) is not bool:
                return False
            if schema.get("minItems", 0) > 0 and not self.has_values(items, depth - 1):
                return False
            if items is False:
                return False
        self.filled_ones[id(schema)] = None
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def some_alternative(self, schema: dict, depth: cython.int) -> cython.int:
        """Whether it is plain that all alternatives of a union have values."""
        union: Union = self.union_of(schema, "", None, None)
        if union is None:
            return False
        for one, _ in union.objects + union.arrays:
            if not self.has_values(one, depth):
                return False
        return True
