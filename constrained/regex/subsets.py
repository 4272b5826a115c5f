"""Patterns without assertions: read text by text, or as deterministic automata (sets of places).

``kernel.plain_programs`` makes a program of a tree, ``kernel.subset_tables`` an automaton of that.

Cost: 20 ns an instruction of the program, 1 us each set of characters, and what the kernel takes for the automaton.
Bounds: ``Limits.max_dfa_states`` states, ``STEPS_PER_STATE`` times as many instructions, and ``WORK_PER_STATE`` times
as many places of states.
"""

from __future__ import annotations

from constrained.errors import GrammarLimitError
from constrained.kernel.dfa_tables import TooManyStates
from constrained.kernel.plain_programs import HasAssertions, PlainProgram
from constrained.kernel.subset_tables import Subsets, TooMuchWork
from constrained.limits import Limits
from constrained.regex.dfa import Dfa, Letters, live_part
from constrained.regex.partition import partition_of
from constrained.regex.program import STEPS_PER_STATE
from constrained.regex.syntax import Node

__all__ = ["WORK_PER_STATE", "PlainPattern", "compiled_tree", "plain_automaton"]

WORK_PER_STATE = 100


class PlainPattern:
    """The full matches of a tree without assertions."""

    __slots__ = ("_letters", "_program", "_start", "classes")

    def __init__(self, program: PlainProgram, start: int) -> None:
        partition = partition_of(program.sets)
        self.classes = partition.classes
        program.classify(list(partition.masks.values()), len(self.classes))
        self._program = program
        self._start = start
        self._letters: Letters | None = None

    def accepts(self, text: str) -> bool:
        """Whether ``text`` is one. About 0.1 us a character and place that is under way."""
        if self._letters is None:
            self._letters = Letters(self.classes)
        letters = [self._letters[char] for char in text]
        return -1 not in letters and self._program.reads(self._start, letters)

    def automaton(self, limits: Limits) -> Dfa:
        """The automaton, trimmed. Raises GrammarLimitError (``max_dfa_states``)."""
        most = limits.max_dfa_states
        try:
            table, accepting = Subsets(self._program).run(self._start, most, most * WORK_PER_STATE)
        except TooManyStates:
            raise GrammarLimitError("max_dfa_states", most, "an automaton of a pattern has too many states") from None
        except TooMuchWork:
            raise GrammarLimitError("max_dfa_states", most, "a pattern has too many alternatives") from None
        return live_part(table, self.classes, accepting)


def compiled_tree(root: Node, limits: Limits) -> PlainPattern | None:
    """``root`` compiled; None where it has assertions. Raises GrammarLimitError (``max_dfa_states``)."""
    program = PlainProgram(min(limits.max_dfa_states * STEPS_PER_STATE, 1 << 27))
    try:
        return PlainPattern(program, program.compile(root))
    except HasAssertions:
        return None
    except TooManyStates:
        raise GrammarLimitError("max_dfa_states", limits.max_dfa_states,
                                "a pattern is too large, counted repetitions written out") from None


def plain_automaton(root: Node, limits: Limits) -> Dfa:
    """The automaton of a tree that has no assertions. Raises GrammarLimitError (``max_dfa_states``)."""
    pattern = compiled_tree(root, limits)
    assert pattern is not None
    return pattern.automaton(limits)
