# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Expressions over schemas, as ints.

An expression is true, false, a *place* in a document, a constant value, or a conjunction, disjunction or negation of
expressions. Equal expressions get the same int, so each becomes one rule of the grammar, and a recursive schema has
finitely many. Nothing is looked into here: what an expression denotes is found by ``normalise``.

``Algebra`` is what shapes are handed: it combines expressions by id, counts alternatives, and asks, through
``normalise``, whether an expression has values. Cost: 0.1 us for what was asked before, 1 us for a new combination.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import GrammarLimitError

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_nodes import mark
else:
    from constrained.frontends.json_schema.direct_nodes import mark

__all__ = ["FALSE", "TRUE", "Algebra", "Expressions"]

FALSE = 0
TRUE = 1


@cython.cclass
class Expressions:
    """The table of one schema's expressions: ``entries[e]`` is ``(kind, parts)``."""

    def __init__(self):
        self.entries = [("false", ()), ("true", ())]
        self.ids = {}
        self.opposites = {}

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def intern(self, kind: str, parts, key=None) -> cython.int:
        """The int of an expression; ``key`` stands for ``parts`` where those cannot be hashed."""
        full = (kind, parts if key is None else key)
        known = self.ids.get(full)
        if known is None:
            known = len(self.entries)
            self.ids[full] = known
            self.entries.append((kind, parts))
        return known

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def place(self, number: cython.Py_ssize_t) -> cython.int:
        """A new expression: the schema of place ``number``."""
        self.entries.append(("place", number))
        return len(self.entries) - 1

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def conjunction(self, parts: list) -> cython.int:
        """All of ``parts``."""
        flat: dict = {}
        for part in parts:
            if part == 0:
                return 0
            if part == 1:
                continue
            entry: tuple = self.entries[part]
            if entry[0] == "and":
                for inner in entry[1]:
                    flat[inner] = None
            else:
                flat[part] = None
        opposites: dict = self.opposites
        for part in flat:
            opposite = opposites.get(part)
            if opposite is not None and opposite in flat:
                return 0
        if len(flat) == 0:
            return 1
        if len(flat) == 1:
            for part in flat:
                return part
        return self.intern("and", tuple(sorted(flat)))

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def disjunction(self, parts: list) -> cython.int:
        """Any of ``parts``; order is kept, since it is the order in which a grammar offers them."""
        flat: dict = {}
        for part in parts:
            if part == 1:
                return 1
            if part == 0:
                continue
            entry: tuple = self.entries[part]
            if entry[0] == "or":
                for inner in entry[1]:
                    flat[inner] = None
            else:
                flat[part] = None
        if len(flat) == 0:
            return 0
        if len(flat) == 1:
            for part in flat:
                return part
        return self.intern("or", tuple(flat))

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def negation(self, part: cython.int) -> cython.int:
        """Not ``part``."""
        if part <= 1:
            return 1 - part
        known = self.opposites.get(part)
        if known is None:
            known = len(self.entries)
            self.opposites[part] = known
            self.opposites[known] = part
            self.entries.append(("not", part))
        return known


@cython.cclass
class Algebra:
    """Combinations of the expressions of one document; at most ``most`` alternatives in all.

    ``empties``: whether expressions are empty, as far as it is known. ``made``: of which two expressions a conjunction
    was made first. ``members``: the texts of long lists as sets, by identity.
    """

    def __init__(self, most: int):
        self.expressions = Expressions()
        self.pairs = {}  # conjunctions of two expressions
        self.made = {}
        self.members = {}
        self.empties = {0: True, 1: False}
        self.spent = 0
        self.most = most

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def both(self, a: cython.int, b: cython.int) -> cython.int:
        """The conjunction of two expressions."""
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        if a == 0 or b == 0:
            return 0
        key = (a, b)
        known = self.pairs.get(key)
        if known is None:
            entries: list = self.expressions.entries
            one: tuple = entries[a]
            other: tuple = entries[b]
            # equal constants are one expression
            known = 0 if one[0] == "const" and other[0] == "const" else self.expressions.conjunction([a, b])
            self.pairs[key] = known
            if known == len(entries) - 1:
                self.made[known] = key
        return known

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def negated(self, a: cython.int) -> cython.int:
        """The complement of an expression."""
        return self.expressions.negation(a)

    @cython.cfunc
    def set_of(self, texts: tuple) -> frozenset:
        """The same texts to look up. What is taken of one list after the other asks again and again for the same."""
        known = self.members.get(mark(texts))
        if known is None:
            known = (frozenset(texts), texts)  # which lives as long as its identity counts
            self.members[mark(texts)] = known
        return cython.cast(tuple, known)[0]

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def spend(self, alternatives: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Counts alternatives made; how many in all. Raises ``GrammarLimitError`` beyond ``most``."""
        self.spent += alternatives
        if self.spent > self.most:
            raise GrammarLimitError("max_schema_alternatives", self.most, "the schema combines too many alternatives")
        return self.spent

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def is_empty(self, expression: cython.int, depth: cython.int = 3) -> cython.bint:
        """Whether it is plain that nothing satisfies the expression, looking ``depth`` values deep."""
        return self.has_none(expression, depth)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def has_none(self, expression: cython.int, depth: cython.int) -> cython.bint:
        """The same, for those who call it often."""
        known = self.empties.get(expression)
        if known is None:
            return self.looks_empty(expression, depth)
        return known is True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def looks_empty(self, expression: cython.int, depth: cython.int) -> cython.bint:
        """The same for an expression of which it is not known; kept in ``empties`` where it is found out."""
        raise NotImplementedError
