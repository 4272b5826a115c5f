"""Programs without assertions as deterministic automata: sets of places as the bits of one int.

The subset construction (M. Rabin, D. Scott, 1959). A state is the set of the places that read a character next, and
bit 0 where the text may end. What follows a place is closed over empty steps once for the whole program, so a state
costs an ``or`` for each of its places, and one for each kind of character and each set of characters asked about.

Cost: 0.3 us a place of a state, 1 us a kind of character that the state tells apart. Bounds: ``Limits.max_dfa_states``
states, and ``WORK_PER_STATE`` times as many places of states.
"""

from __future__ import annotations

from constrained.errors import GrammarLimitError
from constrained.limits import Limits
from constrained.regex.dfa import DEAD, Dfa, trimmed
from constrained.regex.partition import told_apart
from constrained.regex.program import ACCEPT, CharOp, Program, SplitOp

__all__ = ["WORK_PER_STATE", "is_plain", "subset_automaton"]

WORK_PER_STATE = 100


def is_plain(program: Program) -> bool:
    """Whether there are only characters and choices."""
    return all(isinstance(op, (CharOp, SplitOp)) for op in program.ops[1:])


def subset_automaton(program: Program, limits: Limits) -> Dfa:
    """The automaton of a plain program, trimmed. Raises GrammarLimitError (``max_dfa_states``)."""
    following = _Following(program)
    masks = [op.mask if isinstance(op, CharOp) else 0 for op in program.ops]
    classes = program.partition.classes
    groups: dict[frozenset[int], tuple[list[int], list[int]]] = {}
    start = following.closed(program.start)
    number = {start: 0, 0: DEAD}
    order = [start]
    rows: list[tuple[int, ...]] = []
    accepting: list[int] = []
    work = limits.max_dfa_states * WORK_PER_STATE
    for state, places in enumerate(order):
        if places & 1:
            accepting.append(state)
            places ^= 1
        reached: dict[int, int] = {}  # by the set of characters that is read
        while places:
            low = places & -places
            places ^= low
            place = low.bit_length() - 1
            mask = masks[place]
            reached[mask] = reached.get(mask, 0) | following.behind(place)
            work -= 1
        if work < 0:
            raise GrammarLimitError("max_dfa_states", limits.max_dfa_states, "a pattern has too many alternatives")
        asked = frozenset(reached)
        known = groups.get(asked)
        if known is None:
            known = groups[asked] = told_apart(asked, len(classes))
        letters, group_of = known
        row: list[int] = []
        for letter in letters:
            target = 0
            for mask, found in reached.items():
                if mask >> letter & 1:
                    target |= found
            to = number.get(target)
            if to is None:
                to = number[target] = len(order)
                order.append(target)
                if to >= limits.max_dfa_states:
                    raise GrammarLimitError("max_dfa_states", limits.max_dfa_states,
                                            "an automaton of a pattern has too many states")
            row.append(to)
        rows.append(tuple([row[group] for group in group_of]))
    return trimmed(Dfa(classes, tuple(rows), frozenset(accepting)))


class _Following:
    """What follows a place of a program without reading, as bits: places that read, and 0 for the end."""

    def __init__(self, program: Program) -> None:
        self.ops = program.ops
        self.found: list[int | None] = [None] * len(program.ops)
        self.after: list[int | None] = [None] * len(program.ops)

    def behind(self, place: int) -> int:
        """What follows the character that ``place`` reads."""
        found = self.after[place]
        if found is None:
            op = self.ops[place]
            assert isinstance(op, CharOp)
            found = self.after[place] = self.closed(op.next)
        return found

    def closed(self, place: int) -> int:
        """What follows ``place``."""
        known = self.found[place]
        if known is not None:
            return known
        bits = 0
        seen = {place}
        stack = [place]
        while stack:
            at = stack.pop()
            known = self.found[at]
            if known is not None:
                bits |= known
                continue
            op = self.ops[at]
            if isinstance(op, SplitOp):
                for target in op.targets:
                    if target not in seen:
                        seen.add(target)
                        stack.append(target)
            else:
                bits |= 1 << at if at != ACCEPT else 1
        self.found[place] = bits
        return bits
