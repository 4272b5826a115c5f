"""Regular expressions as grammars.

``from_regex`` reads a pattern and gives the ``RuleSet`` of the texts it accepts. What is characters, order,
choice and repetition becomes plain IR: counts stay ``Repeat`` nodes, whose bounds cost the engine nothing. What
needs assertions becomes a ``ByteDfa``, as small a part as is simple to cut out: options of an alternation apart,
and a counted beginning that no assertion looks back on stays outside.

Two dialects, as data: ``python`` (``re`` of Python 3.11 and later, full match) and ``ecma`` (ECMA-262 with the
flag u, search, for the ``pattern`` of JSON Schema). Cost: about 0.2 us a character without assertions, 10 us a
state and class of characters with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from constrained.errors import RegexError, UnsatisfiableGrammarError, echo
from constrained.frontends.plain_trees import plain_expression, utf8_leaf
from constrained.grammar.ir import ByteDfa, Choice, Expr, RuleSet, Sequence
from constrained.kernel.nodes import dfa_of_block
from constrained.limits import Limits
from constrained.regex.absorb import absorbed
from constrained.regex.builder import concat
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise, read_classes
from constrained.regex.parse_ecma import parse_ecma
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import has_assertions, is_nothing, looks_back, search_form, simplify
from constrained.regex.syntax import Alternation, CharSet, Concat, Node, Repeat, Text, walk
from constrained.regex.utf8 import utf8_spelling

__all__ = ["byte_dfa", "from_regex", "pattern_dfa", "pattern_tree", "plain_expression", "tree_expression"]

ROOT = "root"

#: Reader of a dialect, and whether a match may lie anywhere in the text.
_DIALECTS: dict[str, tuple[Callable[[str, Limits], Node], bool]] = {
    "python": (parse_python, False),
    "ecma": (parse_ecma, True),
}

#: Automata up to this many states times classes are minimised: about 2 us for each.
_MINIMISED = 20_000
#: A counted beginning with fewer copies than this is cheaper inside the automaton.
_WORTH_CUTTING = 16


def from_regex(pattern: str, *, dialect: str = "python", ascii: bool = False, limits: Limits | None = None) -> RuleSet:
    """The texts that match ``pattern``: in full for ``dialect="python"``, somewhere for ``"ecma"``.

    ``ascii``: Python's ``\\d``, ``\\w``, ``\\s`` and ``\\b`` mean ASCII's, as with ``re.ASCII``, unless the pattern
    says ``(?u)``.

    Raises RegexError (unreadable, or not regular; with the position), UnsatisfiableGrammarError (no text
    matches) and GrammarLimitError (``max_source_chars``, ``max_nesting``, ``max_repeat``, ``max_dfa_states``).
    """
    limits = limits or Limits()
    tree = None
    if ascii and dialect == "python" and "(?u" not in pattern:
        with contextlib.suppress(RegexError):  # said below, at the place in the pattern as it was written
            tree = pattern_tree("(?a)" + pattern, limits=limits)
    if tree is None:
        tree = pattern_tree(pattern, dialect=dialect, limits=limits)
    expression = None if is_nothing(tree) else tree_expression(tree, limits, pattern)
    if expression is None:
        raise UnsatisfiableGrammarError(f"no text matches the pattern {echo(pattern)}",
                                        hint="look for assertions that contradict each other, or for an empty set")
    return RuleSet({ROOT: expression}, ROOT)


def pattern_tree(pattern: str, *, dialect: str = "python", limits: Limits | None = None) -> Node:
    """The simplified tree whose full matches are the texts that ``pattern`` accepts in its dialect."""
    if dialect not in _DIALECTS:
        raise ValueError(f"dialect must be one of {sorted(_DIALECTS)}, not {dialect!r}")
    parse, search = _DIALECTS[dialect]
    tree = parse(pattern, limits or Limits())
    return absorbed(simplify(search_form(tree))) if search else simplify(tree)


def pattern_dfa(pattern: str, *, dialect: str = "python", limits: Limits | None = None) -> Dfa:
    """The texts that ``pattern`` accepts as one automaton, to be combined with others (``constrained.regex.dfa``).

    Counted repetitions are written out. An empty language is no error here. Raises RegexError and GrammarLimitError.
    """
    limits = limits or Limits()
    tree = pattern_tree(pattern, dialect=dialect, limits=limits)
    return _small(determinise(tree, limits, pattern))


def byte_dfa(dfa: Dfa, limits: Limits | None = None) -> ByteDfa:
    """``dfa`` over the bytes of UTF-8. Raises GrammarLimitError where that takes too many states."""
    return dfa_of_block(dfa.to_block(utf8_spelling(read_classes(dfa)), limits), dfa.accepting)


def _small(dfa: Dfa) -> Dfa:
    return minimise(dfa) if dfa.states * len(dfa.classes) <= _MINIMISED else dfa


def tree_expression(tree: Node, limits: Limits, pattern: str, leaf: Callable[[Text | CharSet], Expr] = utf8_leaf,
                    automaton: Callable[[Dfa, Limits], Expr] = byte_dfa) -> Expr | None:
    """The IR of a simplified tree, its characters spelled by ``leaf`` and ``automaton``; None if nothing matches."""
    if not has_assertions(tree):
        return plain_expression(tree, leaf)
    if isinstance(tree, Alternation):
        plain = [option for option in tree.options if not has_assertions(option)]
        options = [plain_expression(option, leaf) for option in plain]
        options += [found for option in tree.options if has_assertions(option)
                    for found in (_asserting(option, limits, pattern, leaf, automaton),) if found is not None]
        return None if not options else options[0] if len(options) == 1 else Choice(tuple(options))
    return _asserting(tree, limits, pattern, leaf, automaton)


def _asserting(tree: Node, limits: Limits, pattern: str, leaf: Callable[[Text | CharSet], Expr],
               automaton: Callable[[Dfa, Limits], Expr]) -> Expr | None:
    """The IR of a tree with assertions: what comes before the first of them stays outside if it counts far."""
    if isinstance(tree, Concat):
        cut = next(i for i, item in enumerate(tree.items) if has_assertions(item))
        before, rest = list(tree.items[:cut]), concat(list(tree.items[cut:]))
        if any(_copies(item) >= _WORTH_CUTTING for item in before) and not looks_back(rest):
            dfa = _small(determinise(rest, limits, pattern))
            return Sequence((plain_expression(concat(before), leaf), automaton(dfa, limits))) if dfa.accepting else None
    dfa = _small(determinise(tree, limits, pattern))
    return automaton(dfa, limits) if dfa.accepting else None


def _copies(node: Node) -> int:
    """The largest finite count in ``node``."""
    return max((part.minimum if part.maximum is None else part.maximum
                for part in walk(node) if isinstance(part, Repeat)), default=0)
