# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What all documents share that are read and written alike, for ``direct``: the layout, and the texts of scalars.

A scalar says its *content* (``direct_reading``), and equal contents are written alike in every document: their texts
are made once, and lowered once for all documents (``kernel.nodes.share``). Of each it is found out then whether it
plainly has a text, which lets ``kernel.later`` leave values unread.
Cost: a scalar that was met before is one look-up.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import choice, in_spaces, sequence
    from cython.cimports.constrained.frontends.json_schema.direct_reading import (
        ARRAY,
        BOOLEAN,
        NULL,
        NUMBER,
        OBJECT,
        STRING,
    )
    from cython.cimports.constrained.kernel.nodes import Literal
else:
    from constrained.frontends.json_schema.direct_nodes import choice, in_spaces, sequence
    from constrained.frontends.json_schema.direct_reading import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING
    from constrained.kernel.nodes import Literal

from constrained.grammar.counted import CountedDfa
from constrained.grammar.keys import KeyDfa
from constrained.kernel.inlining import have_texts
from constrained.kernel.nodes import part, share

MOST_KEPT = cython.declare(cython.int, 20_000)
"""Contents of scalars whose texts are kept."""

_KINDS: dict = {CountedDfa: 9, KeyDfa: 10}
"""Numbers in ``kernel.inlining`` of nodes that scalars are made of; where there are others nothing is sure."""
_ORDER = {b"true": 0, b"false": 1, b"null": 2}


@cython.final
@cython.cclass
class Texts:
    """What a scalar is written as, in any document: sets of strings and numbers, then words. ``objects`` and
    ``arrays``: all of those are values, too. ``sure``: each set has a text, and no count is beyond the largest.

    A set is ``(kind, expression, rules that belong to it or None)``, or ``("string", None, texts)`` where it is a list.
    """

    def __init__(self, scalars: tuple, words: tuple, objects: bool, arrays: bool):
        self.scalars = scalars
        self.words = words
        self.objects = objects
        self.arrays = arrays
        self.single = len(scalars) == 1 and not words and not objects and not arrays
        self.nothing = not scalars and not words and not objects and not arrays
        self.sure = False


@cython.final
@cython.cclass
class Tables:
    """What all documents share that are read and written alike.

    Args:
        space, comma, colon: the layout's expressions.
        spaces: the rule that ``space`` refers to, ``(name, expression)``; None: no whitespace.
        read: from the schema of a scalar, or of a union of such, to its ``Texts``; None: it is not plain. May raise.
        any_key: any name of a member.
        knows_const: whether ``const`` is a keyword.
        any_order: whether members come in any order.
        ref_alone: whether ``$ref`` hides its siblings.
        max_repeat: the largest count.
        most_alternatives: of all unions of a document.
    """

    def __init__(self, space, comma, colon, spaces, read, any_key, knows_const: bool, any_order: bool,
                 ref_alone: bool, max_repeat: int, most_alternatives: int):
        self.space = space
        self.comma = comma
        self.colon = colon
        self.spaces = spaces
        self.read = read
        self.any_key = any_key
        self.knows_const = knows_const
        self.any_order = any_order
        self.ref_alone = ref_alone
        self.max_repeat = max_repeat
        self.most_alternatives = most_alternatives
        self.kept = {}
        self.typed = {}
        self.values = {}
        share(any_key)
        if spaces is not None:
            share(spaces[1])
        self.brackets = self._bracket(b"{", b"}")
        self.square = self._bracket(b"[", b"]")

    @cython.cfunc
    def _bracket(self, left: bytes, right: bytes) -> tuple:
        first, last = Literal(left), Literal(right)
        if self.spaces is None:
            return first, last, Literal(left + right), last
        return first, last, sequence((first, self.space, last)), part(sequence((self.space, last)))

    @cython.cfunc
    def enclosed(self, brackets: tuple, inside, may_be_empty: cython.bint):
        """Brackets around what ``inside`` writes, which is never empty; None: it writes nothing."""
        if inside is None:
            return brackets[2]
        if self.spaces is None:
            full = sequence((brackets[0], inside, brackets[1]))
            return choice([full, brackets[2]]) if may_be_empty else full
        return in_spaces(brackets, self.space, inside, may_be_empty)

    def forget(self):
        """Drops the texts of scalars."""
        self.kept.clear()
        self.typed.clear()
        self.values.clear()

    @cython.cfunc
    def texts_of_type(self, name: str) -> Texts:
        """The texts of a scalar that says this type and nothing else; None: it is not plain."""
        found = self.typed.get(name)
        if found is None:
            found = self.texts(("type", str, name), {"type": name})
            self.typed[name] = found
        return found

    @cython.cfunc
    def texts(self, content: tuple, schema: dict) -> Texts:
        """The texts of a scalar; None: it is not plain."""
        found = self.kept.get(content, self)
        if found is self:
            if len(self.kept) > MOST_KEPT:
                self.kept.clear()
                self.typed.clear()
            found = self.read(schema)
            if found is not None:
                cython.cast(Texts, found).sure = self.are_sure(found)
            self.kept[content] = found
            if found is not None and len(content) == 3 and type(content[1]) is type:  # one keyword alone
                for one in cython.cast(Texts, found).scalars:
                    share(one[1])
        return found

    @cython.cfunc
    def texts_of_all(self, content: tuple, which: str, contents: list, schemas: list, types: cython.int, said) -> Texts:
        """The texts of alternatives of some types, ``said`` so, ``content`` together; None: they are not plain."""
        found = self.kept.get(content, self)
        if found is self:
            found = self.beside(contents, schemas, types)
            if found is None:
                return self.texts(content, {which: schemas} if said is None else {"type": said, which: schemas})
            cython.cast(Texts, found).sure = self.are_sure(found)
            self.kept[content] = found
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def are_sure(self, texts: Texts) -> cython.bint:
        """Whether it is plain that each set of a scalar has a text (``Texts.sure``)."""
        for one in texts.scalars:
            if one[1] is not None and not have_texts({**(one[2] or {}), "": one[1]}, "", _KINDS, self.max_repeat):
                return False
        return True

    @cython.cfunc
    def beside(self, contents: list, schemas: list, types: cython.int) -> Texts:
        """The texts of alternatives of some types of which plainly no two have a value in common; None: it is not so
        plain."""
        i: cython.Py_ssize_t
        one: Texts
        strings: list = []
        numbers: list = []
        words: list = []
        values: set = set()
        objects: cython.bint = False
        arrays: cython.bint = False
        for i in range(len(contents)):
            one = self.texts(contents[i], schemas[i])
            if one is None or one.nothing or (objects and one.objects) or (arrays and one.arrays):
                return None
            if (one.objects and not types & OBJECT) or (one.arrays and not types & ARRAY):
                return None
            objects = objects or one.objects
            arrays = arrays or one.arrays
            for entry in one.scalars:
                if entry[0] == "number":
                    if numbers or not types & NUMBER:
                        return None
                    numbers.append(entry)
                    continue
                # lists of strings may be several, if they are disjoint
                if not types & STRING or (strings and (entry[1] is not None or strings[0][1] is not None)):
                    return None
                if entry[1] is None:
                    if not values.isdisjoint(entry[2]):
                        return None
                    values.update(entry[2])
                strings.append(entry)
            for word in one.words:
                if word in words or not types & (NULL if cython.cast(Literal, word).data == b"null" else BOOLEAN):
                    return None
                words.append(word)
        if len(words) > 1:
            words.sort(key=_place_of_word)
        return Texts((*strings, *numbers), tuple(words), objects, arrays)


def _place_of_word(word: Literal):
    """True before false before null."""
    return _ORDER[word.data]
