"""Grammar IR: what front ends produce and the engine runs.

A grammar is a map from rule names to expressions. An expression is one of the small nodes below or of the common ones,
which are compiled (``kernel.nodes``). Nodes are values: nobody changes one once it is made (enforced where they are
compiled; elsewhere a frozen node takes three times as long to make); sharing sub-expressions is fine (they are compared
by identity, never by value, so that deep trees never recurse). The language is over *bytes*: characters stand for their
UTF-8 encoding. Front ends know nothing of the engine; the engine knows no front end.

Invariants: ``CharClass.ranges`` are sorted, disjoint, non-adjacent and free of surrogates; ``Repeat`` has
``0 <= minimum <= maximum``; every ``Reference`` names a rule (checked by ``Grammar``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from constrained.kernel.nodes import ByteDfa, CharClass, Choice, Literal, Reference, Repeat, Sequence, Unordered

__all__ = [
    "AnyTextUntil",
    "ByteDfa",
    "Capture",
    "CharClass",
    "Choice",
    "Distinct",
    "Expr",
    "Graph",
    "Literal",
    "NotFollowedBy",
    "Reference",
    "Repeat",
    "Sequence",
    "TokenBudget",
    "TokenReference",
    "Unordered",
    "children",
]


@dataclass(slots=True, eq=False, repr=False)
class Capture:
    """``body``, whose place in the text ``engine.captures`` reports under ``name``. The same language as ``body``."""

    name: str
    body: Expr


@dataclass(slots=True, eq=False, repr=False)
class Distinct:
    """The texts of ``body`` in which nothing comes twice: JSON arrays without equal items, objects without equal names.

    Items are compared as JSON Schema compares values: numbers by value, objects without regard to order (of a name that
    is written twice the last counts). Every text of ``body`` must be one JSON array or object. Whoever writes this sees
    to it that between two items another one always can follow where one must: ``engine.distinct`` looks to the end of
    an item, not of the array.
    """

    body: Expr


@dataclass(slots=True, eq=False)
class TokenReference:
    """Exactly one token, by its id or by its text in the vocabulary (control tokens included).

    ``tokens`` holds ids and texts; any one of them matches. ``exclude`` True: any *control or added* token
    is meant by id only, every token but these. Resolved against the vocabulary when compiled.

    An *added* token (one that has bytes, like a model's ``<tool_call>``) that a grammar names without ``exclude`` is
    read by its id only within that grammar: its bytes spelled in other tokens are text as ever, the token itself is
    not.
    """

    tokens: tuple[int | str, ...]
    exclude: bool = False


@dataclass(slots=True, eq=False)
class AnyTextUntil:
    """UTF-8 text that contains none of ``stops``, then one of them (``consume``) or none.

    With ``consume`` False it is simply any text in which no stop occurs. The text ends at the first occurrence of any
    stop. Since text is UTF-8, a stop that cannot occur in UTF-8 never ends it.

    ``excludes`` may not occur in text and stop together, and end nothing; ``max_chars`` bounds the code points of text
    and stop together.
    """

    stops: tuple[bytes, ...]
    consume: bool = True
    excludes: tuple[bytes, ...] = ()
    max_chars: int | None = None


@dataclass(slots=True, eq=False)
class NotFollowedBy:
    """Nothing is read, but the text after this point, to the end of the whole text, begins with no text of ``dfa``.

    The text goes on through the ends of rules: what follows is what is really written, not what this rule says. Where a
    grammar names a token that is no text, nothing of ``dfa`` follows. This is how a lexer that reads as far as it can
    is written down: an identifier is not followed by another letter.

    ``at_end``: states of ``dfa`` in which the whole text must not end, after all that follows was read (state 0: it
    must not end right here). So a positive look-ahead can be said, too: what does not match yet must not be the end.
    """

    dfa: ByteDfa
    at_end: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class TokenBudget:
    """A member of ``text``; when ``maximum`` tokens have some of it, only a shortest completion of it may follow.

    Tokens are counted as they are accepted: one that also has bytes before or behind counts too. So all of it is in the
    first ``maximum`` tokens and those that spell that completion, or in one more that belongs to what follows as well.
    ``maximum`` is at least 1.
    """

    text: ByteDfa | AnyTextUntil
    maximum: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """A finite automaton whose edges read expressions: what repetition and choice say only with copies.

    ``edges[s]`` is a tuple of ``(expression, next state)``; several may read the same. State 0 starts. It is the same
    as a rule for each state, ``s: e1 s1 | e2 s2 | ...`` and the empty text where ``s`` accepts, but nothing is called.
    """

    edges: tuple[tuple[tuple[Expr, int], ...], ...]
    accepting: frozenset[int]


Expr = (
    Literal | CharClass | Sequence | Choice | Repeat | Unordered | Reference | TokenReference | AnyTextUntil | ByteDfa
    | Capture | Distinct | NotFollowedBy | TokenBudget | Graph
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions, in order."""
    if isinstance(expr, Sequence):
        return expr.items
    if isinstance(expr, Choice):
        return expr.options
    if isinstance(expr, (Repeat, Capture, Distinct)):
        return (expr.body,)
    if isinstance(expr, Graph):
        return tuple([one for row in expr.edges for one, _ in row])
    if isinstance(expr, Unordered):
        return (*expr.items, expr.separator) if expr.free is None else (*expr.items, expr.separator, expr.free)
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Every node once for each place it stands in, parents first, without recursion."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


@dataclass(slots=True, eq=False, repr=False)
class RuleSet:
    """Named rules and the root: the checked value inside a ``Grammar``.

    ``sure``: how many rules there are, where a front end knows that what follows ``kernel.nodes.before_value`` has a
    text wherever it stands, and counts to nothing larger than the limits allow; else 0.
    """

    rules: Mapping[str, Expr]
    root: str
    sure: int = 0
