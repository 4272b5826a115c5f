"""A grammar made ready for one vocabulary: the object that requests share.

A ``CompiledGrammar`` holds the lowered program and the one automaton that all its matchers drive. States are int
handles; equal situations have equal handles, so a caller may keep, compare and copy them freely. The state-level
methods below are what ``GrammarMatcher`` is made of.

When the automaton outgrows ``Limits.max_states`` or ``max_automaton_bytes`` it begins a new *epoch*: every handle
becomes stale, and using one raises ``StaleState``. Matchers re-root by replaying what they accepted; callers of the
state-level API that want to live through an epoch do the same.

Thread safety: everything here may be called from any thread; the kernel takes the automaton's lock for each call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from constrained.engine.build import Writer
from constrained.engine.capture_graph import CaptureGraph
from constrained.engine.captures import CaptureTracker
from constrained.engine.distinct.build import distinct_automaton
from constrained.engine.lowering import lower
from constrained.engine.open_vocabulary import LiveTokens
from constrained.engine.vocabulary_tables import VocabularyTrie, trie_of
from constrained.errors import GrammarLimitError, UnsatisfiableGrammarError
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import RuleSet, TokenReference
from constrained.kernel.shared_grammar import SharedGrammar
from constrained.kernel.stacks import ThreadLimitReached
from constrained.kernel.token_automaton import StaleState, TokenAutomaton
from constrained.kernel.token_walk import WalkLimitReached
from constrained.kernel.value_pairs import SearchLimitReached
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

if TYPE_CHECKING:
    from constrained.engine.distinct.automaton import DistinctAutomaton
    from constrained.engine.matcher import GrammarMatcher
    from constrained.kernel.program import Program

__all__ = ["CompiledGrammar", "Held", "StaleState", "compile_rules", "limit_error"]

KERNEL_LIMITS = (ThreadLimitReached, WalkLimitReached, SearchLimitReached)
"""What the kernel raises where a budget ends; ``limit_error`` words it."""

FIRST_BUDGET = 8 << 20
"""Bytes that an automaton may grow to before its first epoch ends. Where they are soon full they are doubled, up to
``max_automaton_bytes``: what is really in use stays, what is only left behind does not pile up."""

SOON = 40
"""Looks at the memory (one for 256 steps of a matcher, and for 16 new matchers) for each ``FIRST_BUDGET`` of a budget:
what is soon full grows by about a kB a step, and to find that much again costs more than to keep it."""


class Held:
    """What one text needs of an epoch's memory: ``size`` bytes."""

    __slots__ = ("__weakref__", "size")

    def __init__(self, size: int) -> None:
        self.size = size


class CompiledGrammar(SharedGrammar):
    """Made by ``GrammarCompiler``; see the module docstring.

    Attributes:
        rules: the grammar.
        tokenizer_info: the vocabulary.
        limits: the budgets it was compiled with.
        automaton: the kernel object behind the state-level API.
    """

    __slots__ = ()

    rules: RuleSet
    tokenizer_info: TokenizerInfo
    limits: Limits
    tables: VocabularyTrie
    program: Program
    automaton: TokenAutomaton | DistinctAutomaton
    live: LiveTokens | None
    _graph: CaptureGraph | None
    _budget: int  # 0: not looked at yet
    _held: list[ref[Held]]
    _kept: int  # of that, what an epoch took over
    _texts: list[ref[GrammarMatcher]]

    _tables_of = staticmethod(trie_of)
    _lower = staticmethod(lower)
    _writer = Writer

    def _refuse(self, error: Exception) -> None:
        raise limit_error(error, self) from None

    def _finish(self) -> None:
        """What only some grammars and vocabularies need."""
        if self._has_distinct:
            assert isinstance(self.automaton, TokenAutomaton)
            self.automaton = distinct_automaton(self.rules, self.program, self.automaton, self.tables,
                                                self.by_id_only, self.limits)
        if not self.tables.closed:
            self.live = LiveTokens(self.automaton, self.tokenizer_info, self.limits)
            if not self.live.is_live(self.automaton.start()):
                raise UnsatisfiableGrammarError(
                    "no text of the grammar can be spelled with the tokens of this vocabulary",
                    hint="the vocabulary has bytes only inside longer tokens; allow a text it can write",
                )

    def _resolve(self, reference: TokenReference) -> frozenset[int]:
        """The ids that are meant. An added token that the grammar names is meant by its id: elsewhere it is no text."""
        ids = self.tables.resolve(reference)
        if not reference.exclude:
            self.by_id_only |= ids & self.tokenizer_info.added_token_ids
        return ids

    def _mark(self) -> None:
        self._has_distinct = True

    # ---- the state-level API -------------------------------------------------------------------------

    @property
    def start_state(self) -> int:
        """The state of the empty text."""
        self.write_whole()
        state: int = self.automaton.start()
        return state

    def next_state(self, state: int, token_id: int) -> int:
        """The state after a token, 0 if it is not allowed. Stop tokens are not steps: see ``is_complete``.

        Raises ``GrammarLimitError`` and ``StaleState``; the automaton stays usable.
        """
        try:
            after: int = self.automaton.next(state, token_id)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        if after and self.live is not None and not self.live.is_live(after):
            return 0
        return after

    def advance(self, state: int, data: bytes, counted: bool = False) -> int:
        """The state after bytes, 0 if they leave the language. Raises as ``next_state``.

        ``counted``: they count as one token where the grammar counts tokens (``max_tokens``), else as none.
        """
        try:
            after: int = self.automaton.advance(state, data, counted)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return after

    def is_complete(self, state: int) -> bool:
        """Whether the text may end here, that is whether stop tokens are allowed."""
        done: bool = self.automaton.complete(state)
        return done

    def fill_at(self, state: int, address: int) -> int:
        """Write the token bitmask of a state to memory (``ceil(V / 32)`` 32-bit words); returns the allowed count.

        Only with compiled kernels and a closed vocabulary; ``fill`` is the way that always works.
        """
        try:
            count: int = self.automaton.fill_at(state, address)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return count

    def fill(self, state: int, bitmask: Any, index: int) -> int:
        """Write the token bitmask of a state into row ``index`` of an int32 array ``[B, ceil(V / 32)]``.

        Returns how many tokens are allowed. The array's shape is not checked here.
        """
        try:
            count: int = self.automaton.fill(state, bitmask, index)
            if self.live is not None:
                count = self.live.prune(state, bitmask, index)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return count

    def allowed_ids(self, state: int) -> list[int]:
        """The ids a mask allows, in order, stop tokens included."""
        try:
            ids: list[int] = self.automaton.allowed_ids(state)
            if self.live is not None:
                ids = self.live.keep(state, ids)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return ids

    def allowed_count(self, state: int) -> int:
        """How many ids a mask allows, stop tokens included."""
        if self.live is not None:
            return len(self.allowed_ids(state))
        try:
            count: int = self.automaton.allowed_count(state)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return count

    def shortest_completion(self, state: int, limit: int = 1 << 20) -> bytes:
        """The bytes of a shortest text that completes ``state``, at most ``limit`` of them.

        Raises ``UnsatisfiableGrammarError`` where only a token named by the grammar leads to an end.
        """
        try:
            found: bytes | None = self.automaton.shortest(state, limit)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        if found is None:
            raise UnsatisfiableGrammarError("only a token that the grammar names leads to an end from here",
                                            hint="ask for the mask and take that token")
        return found

    def new_matcher(self, **options: Any) -> GrammarMatcher:
        """A matcher at the start; ``options`` as ``GrammarMatcher``. Grammars of every backend have this."""
        from constrained.engine.matcher import GrammarMatcher

        return GrammarMatcher(self, **options)

    def new_tracker(self) -> CaptureTracker:
        """What follows the captures of one text: see ``engine.captures``. Raises ``GrammarError`` (left recursion)."""
        if self._graph is None:
            self._graph = CaptureGraph(self.rules, self.tables.resolve)
        return CaptureTracker(self._graph, limits=self.limits)

    # ---- the whole -----------------------------------------------------------------------------------

    def _look_at_texts(self) -> None:
        """Forget the texts that have ended; see to the memory."""
        self._texts = [one for one in self._texts if one() is not None]
        self.renew_if_full()

    def renew_if_full(self) -> bool:
        """Begin a new epoch if the automaton has outgrown its budget; True if it did."""
        self._looks += 1
        self._budget = self._budget or min(self.limits.max_automaton_bytes, FIRST_BUDGET)
        _, states, _, _, _ = self.automaton.counts()
        held = sum(one.size for held in self._held[:] if (one := held()) is not None)
        budget = max(self._budget, 2 * (held + self._kept))
        if states <= self.limits.max_states:
            if self.automaton.memory() <= budget:
                return False
            soon = SOON * max(1, self._budget // FIRST_BUDGET)
            if self._looks < soon and self._budget < self.limits.max_automaton_bytes:
                self._budget = min(2 * self._budget, self.limits.max_automaton_bytes)
                self._looks = 0
                return False
        self._looks = 0
        self._held = []
        texts = [text for one in self._texts[:] if (text := one()) is not None]
        for text in texts:
            text.put_down()
        if isinstance(self.automaton, TokenAutomaton):
            self.automaton.new_epoch()
        else:
            # the texts in hand are all that was read since the oldest of them began: what was seen is theirs
            oldest = min((text.number for text in texts), default=self._started + 1)
            self._kept = self.automaton.new_epoch(keep=self._started - oldest + 1 <= len(texts))
        if self.live is not None:
            self.live = LiveTokens(self.automaton, self.tokenizer_info, self.limits)
        return True

    def replayed(self, before: int, share: int = 1) -> Held:
        """Called by a matcher that is again where it was in the epoch before; ``before``: the memory till then.

        What it needs would be made again after each new epoch, so as long as it keeps the answer the epoch may use
        twice of that at the least. ``share``: of how much that is only a part (of its states: rows and masks follow).
        """
        held = Held(share * max(self.automaton.memory() - before, 0))
        self._held.append(ref(held))
        return held

    @property
    def memory_size_bytes(self) -> int:
        """Bytes of this grammar alone; the vocabulary's tables are shared."""
        held: int = self.automaton.memory() + 150 * self.program.n_positions
        return held

    def rules_at(self, state: int) -> list[str]:
        """The rules in which something can be read now, in the grammar's own names."""
        names = self.program.rule_names
        origin = self.program.position_rule
        found = {names[origin[p]]: None for thread in self.threads(state) for p in thread if origin[p] >= 0}
        return list(found)

    def threads(self, state: int) -> list[list[int]]:
        """The positions that can read now, one list for each way, calls entered. Raises as ``next_state``."""
        try:
            found: list[list[int]] = self.automaton.threads(state)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return found

    def forced_bytes(self, state: int, limit: int = 4096) -> bytes:
        """The bytes that must follow, at most ``limit``: just one can, and no end is due. Raises alike."""
        try:
            found: bytes = self.automaton.forced_bytes(state, limit)
        except KERNEL_LIMITS as error:
            raise limit_error(error, self) from None
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (to_flat(self.rules), self.tokenizer_info, self.limits)

    def __repr__(self) -> str:
        epoch, states, _, masks, _ = self.automaton.counts()
        return (f"<CompiledGrammar root={self.rules.root!r} positions={self.program.n_positions} "
                f"vocab_size={self.tokenizer_info.vocab_size} epoch={epoch} states={states} masks={masks}>")


def compile_rules(rules: RuleSet, tokenizer_info: TokenizerInfo, limits: Limits | None = None,
                  tables: VocabularyTrie | None = None) -> CompiledGrammar:
    """A grammar ready for a vocabulary; ``tables``: its ``trie_of``, where it is at hand.

    Raises ``UnsatisfiableGrammarError`` if no text fits, ``GrammarLimitError`` beyond a budget, ``GrammarError`` for a
    token that the vocabulary lacks.
    """
    return CompiledGrammar(rules, tokenizer_info, limits or Limits(), tables)


def limit_error(error: Exception, compiled: CompiledGrammar) -> GrammarLimitError:
    """The typed error for a budget that ended inside the kernel."""
    if isinstance(error, SearchLimitReached):
        return GrammarLimitError("max_distinct_search", compiled.limits.max_distinct_search,
                                 "whether an item can be ended as a new one is not decided")
    if isinstance(error, WalkLimitReached):
        return GrammarLimitError("max_walk_nodes", compiled.limits.max_walk_nodes, "a mask needs too many trie nodes")
    threads, loop = error.args
    where = "ambiguity"
    if loop >= 0:
        program = compiled.program
        rule = program.rule_names[program.position_rule[program.loop_positions[loop]]]
        most = program.loop_maximum[loop]
        bounds = f"{{{program.loop_minimum[loop]},{most if most >= 0 else ''}}}"
        where = f"the repetition {bounds} in rule {rule!r:.100}, whose body overlaps what stands around it,"
    return GrammarLimitError("max_threads", compiled.limits.max_threads,
                             f"{where} needs {threads} alternatives at once")


def _rebuild(flat: Any, info: TokenizerInfo, limits: Limits) -> CompiledGrammar:
    return CompiledGrammar(from_flat(flat), info, limits)
