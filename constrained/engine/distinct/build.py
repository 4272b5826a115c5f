"""A grammar with ``Distinct`` nodes made ready: the automaton that reads their marks, and the two put together."""

from __future__ import annotations

from constrained.engine.distinct import MARK, NAMED
from constrained.engine.distinct.automaton import DistinctAutomaton
from constrained.engine.lowering import lower
from constrained.engine.vocabulary_tables import VocabularyTrie, trie_of
from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.kernel.program import Program
from constrained.kernel.token_automaton import TokenAutomaton
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["distinct_automaton"]


def distinct_automaton(
    rules: RuleSet,
    program: Program,
    relaxed: TokenAutomaton,
    tables: VocabularyTrie,
    by_id_only: frozenset[int],
    limits: Limits,
) -> DistinctAutomaton:
    """The automaton of ``rules``; ``program`` and ``relaxed`` are those of the same rules without the condition.

    Raises ``GrammarError`` where ``NotFollowedBy`` stands in the same grammar, ``UnsatisfiableGrammarError`` if no text
    is left, and what lowering raises.
    """
    if program.guards is not None:
        raise GrammarError(
            "Distinct and NotFollowedBy stand in one grammar",
            hint="drop uniqueItems and minProperties, or read the JSON without a lexer",
        )
    places = {token: NAMED + k for k, token in enumerate(sorted(frozenset().union(*program.token_sets)))}

    def resolve(reference: TokenReference) -> frozenset[int]:
        return frozenset(places[i] for i in tables.resolve(reference) if i in places)

    small = _small_vocabulary(len(places))
    mark = frozenset((MARK,))
    lowered = lower(
        rules,
        limits,
        unspellable=tables.info.unspellable_bytes,
        resolve_tokens=resolve,
        mark=lambda: mark,
        budgets=False,
    )  # relaxed counts the tokens
    exact = TokenAutomaton(
        lowered, limits.max_threads, small.trie, small.info.stop_token_ids, limits.max_mask_bytes, limits.max_walk_nodes
    )
    found = DistinctAutomaton(relaxed, exact, tables.texts, places, by_id_only, limits.max_distinct_search)
    if not found.start():
        raise UnsatisfiableGrammarError("no text fits the grammar", hint="see what must not come twice")
    return found


_SMALL: dict[int, VocabularyTrie] = {}


def _small_vocabulary(named: int) -> VocabularyTrie:
    """The 256 bytes, the mark, ``named`` tokens without bytes and a stop token."""
    known = _SMALL.get(named)
    if known is None:
        pieces = [bytes((value,)) for value in range(256)] + [b""] * (named + 2)
        info = TokenizerInfo.from_bytes(
            pieces, special_token_ids=range(256, len(pieces)), stop_token_ids=[len(pieces) - 1]
        )
        known = trie_of(info)
        if named < 100:
            _SMALL[named] = known
    return known
