r"""What ``re.match`` finds, for several patterns tried in order, as one automaton: the heart of a lexer.

Idea. ``re.match("(?:A)|(?:B)", text)`` takes the first way to match in order of preference, not the longest one. So a
state is an *ordered* list of threads (as in a Pike machine); a thread at its pattern's end cuts those after it, and
pattern A has matched here *under a debt*: none of the threads before it, still alive, may ever get to an end in the
text that follows. A debt is a language of its own, of which the text that follows must have no prefix. What
``determinise`` does for atomic groups is done here for the whole list, with the ends told apart.

Data: ``ScanDfa.rows[state][class]`` is the next state or DEAD, ``ends[state]`` the pairs (pattern, debt) that match up
to here; debt 0 is none. ``debts[i]`` is an automaton over what follows: it may not come to an accepting state, and the
text may not end while it is in one of ``at_end`` (a look-ahead that must still come true, a ``$`` that would hold).

Look-behinds run from the start of the match: the caller checks that none reaches further back. Cost as ``determinise``.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrained.errors import GrammarLimitError
from constrained.limits import Limits
from constrained.regex.charset import Ranges
from constrained.regex.determinise import FREE, NEVER, Debt, Determiniser, Thread
from constrained.regex.dfa import DEAD
from constrained.regex.program import EndOp, Program, compile_scanner
from constrained.regex.syntax import Node

__all__ = ["Forbidden", "ScanDfa", "scan"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forbidden:
    """What may not follow. State 0 starts; accepting states are final."""

    classes: tuple[Ranges, ...]
    rows: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]
    at_end: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScanDfa:
    """State 0 starts. ``ends[state]`` holds (index of a pattern, index of a debt), in order of preference."""

    classes: tuple[Ranges, ...]
    rows: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[tuple[int, int], ...], ...]
    debts: tuple[Forbidden, ...]


def scan(roots: list[Node], limits: Limits) -> ScanDfa:
    """The automaton of the first match of ``roots``, tried in order.

    Raises RegexError (a repetition whose rounds can be empty) and GrammarLimitError (``max_dfa_states``).
    """
    program, starts = compile_scanner(roots, limits)
    return _Scanner(program, limits).scan(starts)


#: What the look-behinds have read, and the threads in order.
_State = tuple[tuple[int, ...], tuple[Thread, ...]]
#: What the look-behinds have read, and what the text that follows owes.
_Owed = tuple[tuple[int, ...], Debt]


class _Scanner(Determiniser):
    def __init__(self, program: Program, limits: Limits) -> None:
        super().__init__(program, limits)
        self.debts: list[Forbidden] = []
        self.debt_ids: dict[_Owed, int] = {}
        self.debt(((NEVER,) * len(program.behinds), FREE))

    def scan(self, starts: list[int]) -> ScanDfa:
        program = self.program
        first: _State = ((NEVER,) * len(program.behinds), tuple((start, *FREE) for start in starts))
        number = {first: 0}
        order = [first]
        rows: list[tuple[int, ...]] = []
        ends: list[tuple[tuple[int, int], ...]] = []
        for pasts, threads in order:
            gap, moving = self.look_behind(pasts)
            movers, exits = self.close_ordered(threads, gap)
            ends.append(tuple([(self.pattern_of(spot), self.debt((pasts, debt)))
                               for spot, debt in exits]))
            masks: set[int] = set()
            for group in (movers, *moving):
                self.asked(group, gap, masks)
            letters, group_of = self.alike(frozenset(masks))
            row: list[int] = []
            for letter in letters:
                moved = tuple(dict.fromkeys(self.move(movers, gap, letter)))
                if not moved:
                    row.append(DEAD)
                    continue
                target = (tuple([self.intern(set(self.move(one, gap, letter))) for one in moving]), moved)
                found = number.get(target)
                if found is None:
                    found = number[target] = len(order)
                    order.append(target)
                    self.check(len(order))
                row.append(found)
            rows.append(tuple([row[group] for group in group_of]))
        return ScanDfa(program.partition.classes, tuple(rows), tuple(ends), tuple(self.debts))

    def check(self, states: int) -> None:
        if states > self.limits.max_dfa_states:
            raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states, "a lexer has too many states")

    def pattern_of(self, spot: int) -> int:
        op = self.program.ops[spot]
        assert isinstance(op, EndOp)
        return op.index

    def debt(self, owed: _Owed) -> int:
        """The number of what ``owed`` forbids."""
        if owed[1] == FREE and self.debts:
            return 0
        found = self.debt_ids.get(owed)
        if found is None:
            found = self.debt_ids[owed] = len(self.debts)
            self.debts.append(self.forbidden(owed))
        return found

    def forbidden(self, first: _Owed) -> Forbidden:
        """Every way in which a debt can turn out not to be met."""
        number = {first: 0}
        order = [first]
        rows: list[tuple[int, ...]] = []
        accepting: list[int] = []
        at_end: list[int] = []
        dead = (DEAD,) * len(self.program.partition.classes)
        broken: _Owed = ((), FREE)
        for state, owed in enumerate(order):
            if owed is broken:
                accepting.append(state)
                rows.append(dead)
                continue
            pasts, debt = owed
            gap, moving = self.look_behind(pasts)
            if not self.met_at_end(debt, gap):
                at_end.append(state)
            masks: set[int] = set()
            for one in (debt[0], *debt[1]):
                masks |= self.asked_by_set(one, gap)
            for group in moving:
                self.asked(group, gap, masks)
            letters, group_of = self.alike(frozenset(masks))
            row: list[int] = []
            for letter in letters:
                after = self.owe(debt, gap, letter)
                if after == FREE:
                    row.append(DEAD)
                    continue
                target = broken if after is None else (
                    tuple([self.intern(set(self.move(one, gap, letter))) for one in moving]), after)
                if after is not None and self.is_broken(target):
                    target = broken
                found = number.get(target)
                if found is None:
                    found = number[target] = len(order)
                    order.append(target)
                    self.check(len(order))
                row.append(found)
            rows.append(tuple([row[group] for group in group_of]))
        return Forbidden(self.program.partition.classes, tuple(rows), frozenset(accepting), frozenset(at_end))

    def is_broken(self, owed: _Owed) -> bool:
        """Whether what may not match has already matched."""
        gap, _ = self.look_behind(owed[0])
        return FREE in self.close(owed[1][0], gap)[1]
