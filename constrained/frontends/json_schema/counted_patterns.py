r"""Patterns beside lengths, where the product of automaton and counter written out over bytes would be too large.

The product is made over characters (``kernel.counted_products``), where what a pattern counts by itself
(``[a-z]{1,1024}``) is merged with the count of all characters.

It is written as a ``CountedGraph`` whose edges read characters: those of one byte as they are, all others by a
reference to a rule for the set, which is there once and not in the middle of every step. ``character_rules`` names
these rules to whoever writes the grammar.

Cost: 30 ns a state of the product, 0.2 us a state that is left. Bounds: ``PRODUCT`` and ``MERGED`` times
``Limits.max_dfa_states``.
"""

from __future__ import annotations

import hashlib

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.spelling import PLAIN, spelled_class
from constrained.grammar.counted import CountedGraph
from constrained.grammar.ir import CharClass, Expr, Reference, Sequence
from constrained.kernel.counted_products import CountedProduct
from constrained.kernel.dfa_tables import TooManyStates
from constrained.limits import Limits
from constrained.regex.charset import Ranges, intersection, normalise, subtract
from constrained.regex.dfa import Dfa, minimise

__all__ = ["character_rules", "counted_graph"]

PRODUCT = 25
"""States of the product that are looked at, for each of ``max_dfa_states``."""

MERGED = 3
"""States that may be left of them."""

_sets: dict[str, tuple[Ranges, str]] = {}
"""What the names of rules for characters mean; a name holds what it means."""


def counted_graph(dfa: Dfa, minimum: int, maximum: int | None, escapes: str, limits: Limits) -> CountedGraph | None:
    """The bodies of the strings of ``dfa`` of ``minimum`` to ``maximum`` characters; None: there are none.

    Raises GrammarLimitError (``max_dfa_states``).
    """
    dfa = minimise(dfa)
    classes = dfa.classes
    most = limits.max_dfa_states
    top = minimum if maximum is None else maximum
    try:
        product = CountedProduct(dfa.rows, dfa.accepting, len(classes), minimum, top, maximum is None,
                                 min(PRODUCT * most, 1 << 30), min(MERGED * most, 1 << 30))
    except TooManyStates:
        raise GrammarLimitError("max_dfa_states", most, "a pattern beside a length takes too many states") from None
    if not product.states():
        return None
    return CountedGraph(product, tuple([
        _label(normalise(pair for index in members for pair in classes[index]), escapes) for members in product.sets]))


def _label(ranges: Ranges, escapes: str) -> tuple[Expr, ...]:
    """What reads one character of ``ranges``: those of one byte and one spelling, and a rule for the others."""
    plain = intersection(ranges, PLAIN) if escapes != "any" else ()
    others = subtract(ranges, plain)
    found: list[Expr] = [CharClass(plain)] if plain else []
    if others:
        found.append(Reference(_name(others, escapes)))
    return tuple(found)


def _name(ranges: Ranges, escapes: str) -> str:
    text = ",".join(f"{first:x}-{last:x}" for first, last in ranges)
    if len(text) > 60:
        text = hashlib.sha256(text.encode()).hexdigest()
    name = f"character {text} {escapes}"
    _sets[name] = ranges, escapes
    return name


def character_rules(expr: Expr) -> dict[str, Expr]:
    """The rules that a string made of ``counted_graph`` refers to; none for any other."""
    names: set[str] = set()
    if isinstance(expr, Sequence):
        for part in expr.items:
            if isinstance(part, CountedGraph):
                names.update([one.name for label in part.labels for one in label if isinstance(one, Reference)])
    return {name: spelled_class(*_sets[name]) for name in sorted(names)} if names else {}
