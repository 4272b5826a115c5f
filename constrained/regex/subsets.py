"""Programs without assertions as deterministic automata: sets of places, by ``kernel.subset_tables``.

Cost: 0.3 us an instruction of the program, and what the kernel takes. Bounds: ``Limits.max_dfa_states`` states, and
``WORK_PER_STATE`` times as many places of states.
"""

from __future__ import annotations

from constrained.errors import GrammarLimitError
from constrained.kernel.dfa_tables import TooManyStates
from constrained.kernel.subset_tables import Subsets, TooMuchWork
from constrained.limits import Limits
from constrained.regex.dfa import Dfa, live_part
from constrained.regex.program import CharOp, Program, SplitOp

__all__ = ["WORK_PER_STATE", "is_plain", "subset_automaton"]

WORK_PER_STATE = 100


def is_plain(program: Program) -> bool:
    """Whether there are only characters and choices."""
    return all(isinstance(op, (CharOp, SplitOp)) for op in program.ops[1:])


def subset_automaton(program: Program, limits: Limits) -> Dfa:
    """The automaton of a plain program, trimmed. Raises GrammarLimitError (``max_dfa_states``)."""
    classes = program.partition.classes
    sets: dict[int, int] = {}
    ops: list[tuple[int, int | list[int]]] = []
    for op in program.ops:
        if isinstance(op, CharOp):
            ops.append((sets.setdefault(op.mask, len(sets)), op.next))
        else:
            ops.append((-1, op.targets if isinstance(op, SplitOp) else []))  # the others: only the end of the text
    most = limits.max_dfa_states
    try:
        table, accepting = Subsets(ops, list(sets), len(classes)).run(program.start, most, most * WORK_PER_STATE)
    except TooManyStates:
        raise GrammarLimitError("max_dfa_states", most, "an automaton of a pattern has too many states") from None
    except TooMuchWork:
        raise GrammarLimitError("max_dfa_states", most, "a pattern has too many alternatives") from None
    return live_part(table, classes, accepting)
