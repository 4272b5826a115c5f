r"""Patterns with look-around, word boundaries and atomic groups as one deterministic automaton.

Idea. A *thread* is a place in the program together with what it still owes the future: positive obligations
("this look-ahead must match from its present state on") and one negative ("none of these may"). A *set* of
threads is a disjunction, so threads with obligations are an alternating automaton in disjunctive form; the state
of a look-ahead under way is itself a set, hence an int, hence an obligation is an int (A. Chandra, D. Kozen,
L. Stockmeyer, Alternation, 1981). Reading a character steps places and obligations alike.

* A look-behind runs beside everything from the start of the text, a new thread starting at each gap; at a gap its
  accepting threads say what it is worth there: true, false, or, if it contains look-aheads, obligations.
* An atomic group is an *ordered* list of threads (as in a Pike machine). Where a thread of it accepts, those
  after it are cut, and the text goes on behind the group under the negative obligation that none of those before
  it will ever accept: exactly "the preferred match is this one".

A state of the result is (sets of the look-behinds, set of the main program); places are kept before following
empty steps, because those ask about the gap. Invariants: set 0 is empty (never matches), set 1 always matches; a
thread never holds an obligation that is already decided; of two threads at one place only the less obliged is kept.

Programs without any of these are left to ``subsets``, and so are patterns whose only assertions are look-aheads at the
start: their texts are those of automata without any, intersected. Cost: about 10 us a state and kind of character that
it tells apart. Bounds: ``Limits.max_dfa_states`` states, and ``WORK_PER_STATE`` times as many thread steps. Calls nest
as deep as assertions do: ``program.MAX_ASSERTION_DEPTH``.
"""

from __future__ import annotations

import contextlib
from itertools import product

from constrained.errors import GrammarLimitError
from constrained.limits import Limits
from constrained.regex.builder import concat
from constrained.regex.charset import ANY
from constrained.regex.dfa import DEAD, Dfa, intersection_of, minimise, trimmed
from constrained.regex.partition import told_apart
from constrained.regex.program import (
    ACCEPT,
    AheadOp,
    AtomicOp,
    BehindOp,
    CharOp,
    EndOp,
    Program,
    SplitOp,
    compile_program,
)
from constrained.regex.rewrite import has_assertions, search_form, simplify
from constrained.regex.subsets import WORK_PER_STATE, plain_automaton
from constrained.regex.syntax import Anchor, AnchorKind, Concat, Look, Node

__all__ = ["FREE", "NEVER", "Debt", "Determiniser", "Thread", "determinise"]

NEVER = 0
ALWAYS = 1
#: The place of a thread whose sub-program has accepted and that only waits for its obligations.
DONE = -1

NO_SETS: frozenset[int] = frozenset()
#: What must come true: (negative set or NEVER, positive sets).
Debt = tuple[int, frozenset[int]]
FREE: Debt = (NEVER, NO_SETS)
#: (place, negative set, positive sets). Places: pc, DONE, or ~1, ~2, ... for ordered lists of an atomic group.
Thread = tuple[int, int, frozenset[int]]
#: Look-aheads at the start that are made automata one by one.
_MOST_ASKED = 16
#: A disjunction of debts: no debts is false, FREE among them is true.
Value = tuple[Debt, ...]


def determinise(root: Node, limits: Limits, pattern: str = "") -> Dfa:
    """The automaton of the full matches of ``root``, trimmed.

    Raises GrammarLimitError (``max_dfa_states``) and what ``compile_program`` raises.
    """
    parts = _asked_first(root)
    if parts is not None:
        with contextlib.suppress(GrammarLimitError):  # an automaton at once may be smaller than its parts
            return _all_of(*parts, limits)
    if not has_assertions(root):
        return plain_automaton(root, limits)
    return Determiniser(compile_program(root, limits, pattern), limits).run()


def _asked_first(root: Node) -> tuple[Node, list[tuple[Node, bool]]] | None:
    """Of look-aheads before all else what follows them, and the texts that each asks for (or, ``True``, refuses), where
    none of these has assertions; else None."""
    if not isinstance(root, Concat) or not root.items or not isinstance(root.items[0], Look):
        return None
    asked: list[tuple[Node, bool]] = []
    for look in root.items:
        if not isinstance(look, Look):
            break
        if not look.ahead or len(asked) == _MOST_ASKED:
            return None
        begun = simplify(search_form(Concat((Anchor(AnchorKind.START, ANY, look.position), look.body))))
        asked.append((begun, look.negative))
    rest = concat(list(root.items[len(asked) :]))
    return None if any(map(has_assertions, (rest, *[begun for begun, _ in asked]))) else (rest, asked)


def _all_of(rest: Node, asked: list[tuple[Node, bool]], limits: Limits) -> Dfa:
    """The texts of ``rest`` that all of ``asked`` let pass."""
    parts = [(minimise(plain_automaton(rest, limits)), False)]
    parts += [(minimise(plain_automaton(tree, limits)), refused) for tree, refused in asked]
    return intersection_of(parts, limits)


class Determiniser:
    """What one program's sets, lists and gaps are, found on demand and kept; ``scan`` builds on it too."""

    def __init__(self, program: Program, limits: Limits) -> None:
        self.limits = limits
        self.program = program
        self.work = limits.max_dfa_states * WORK_PER_STATE
        self.sets: list[frozenset[Thread]] = [frozenset(), frozenset(((DONE, *FREE),))]
        self.set_ids: dict[frozenset[Thread], int] = {members: i for i, members in enumerate(self.sets)}
        #: Ordered lists: (continuation pc, threads); place ~(1 + index).
        self.lists: list[tuple[int, tuple[Thread, ...]]] = []
        self.list_ids: dict[tuple[int, tuple[Thread, ...]], int] = {}
        #: What the look-behinds are worth at a gap, as far as they are computed.
        self.gaps: list[tuple[Value, ...]] = []
        self.gap_ids: dict[tuple[Value, ...], int] = {}
        self.closures: dict[tuple[int, int], tuple[tuple[Thread, ...], Value]] = {}
        self.list_closures: dict[tuple[int, int], tuple[int | None, Value]] = {}
        self.steps: dict[tuple[int, int, int], int] = {}
        self.ends: dict[tuple[int, int], bool] = {}
        self.masks: dict[tuple[int, int], frozenset[int]] = {}
        self.groups: dict[frozenset[int], tuple[list[int], list[int]]] = {}

    # -- interned values ------------------------------------------------------------------------------------

    def intern(self, threads: set[Thread]) -> int:
        """The set of ``threads`` without those that another one at the same place makes superfluous."""
        if (DONE, *FREE) in threads:
            return ALWAYS
        if len(threads) > 1:
            by_place: dict[int, list[Thread]] = {}
            for thread in threads:
                by_place.setdefault(thread[0], []).append(thread)
            if len(by_place) < len(threads):
                threads = {thread for group in by_place.values() for thread in self.least(group)}
        members = frozenset(threads)
        found = self.set_ids.get(members)
        if found is None:
            found = self.set_ids[members] = len(self.sets)
            self.sets.append(members)
            self.spend(len(members))
        return found

    def least(self, group: list[Thread]) -> list[Thread]:
        kept: list[Thread] = []
        for thread in sorted(group, key=lambda t: (len(t[2]), len(self.sets[t[1]]))):
            if not any(other[2] <= thread[2] and self.sets[other[1]] <= self.sets[thread[1]] for other in kept):
                kept.append(thread)
        return kept

    def spend(self, amount: int) -> None:
        self.work -= amount
        if self.work < 0:
            raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                    "the assertions of a pattern combine in too many ways")

    def either(self, left: int, right: int) -> int:
        """The set of the threads of both."""
        if left == right or right == NEVER:
            return left
        if left == NEVER:
            return right
        if ALWAYS in (left, right):
            return ALWAYS
        return self.intern({*self.sets[left], *self.sets[right]})

    def both(self, debt: Debt, more: Debt) -> Debt | None:
        """Both debts as one; None if they cannot come true together."""
        if more == FREE:
            return debt
        negative, positive = self.either(debt[0], more[0]), debt[1] | more[1]
        self.spend(len(positive))
        return None if negative == ALWAYS or negative in positive else (negative, positive)

    def negation(self, value: Value) -> Value:
        """The opposite of ``value``, multiplied out."""
        choices: list[list[Debt]] = []
        for negative, positive in value:
            choice: list[Debt] = [] if negative == NEVER else [(NEVER, frozenset((negative,)))]
            choice += [(one, NO_SETS) for one in sorted(positive)]
            choices.append(choice)
        found: dict[Debt, None] = {}
        for combination in product(*choices):
            self.spend(1)
            debt: Debt | None = FREE
            for one in combination:
                debt = None if debt is None else self.both(debt, one)
            if debt is not None:
                found[debt] = None
        return tuple(found)

    def gap(self, values: tuple[Value, ...]) -> int:
        found = self.gap_ids.get(values)
        if found is None:
            found = self.gap_ids[values] = len(self.gaps)
            self.gaps.append(values)
        return found

    # -- following empty steps ----------------------------------------------------------------------------------

    def close(self, set_id: int, gap: int) -> tuple[tuple[Thread, ...], Value]:
        """The threads of a set that read a character next, and what accepting here takes."""
        key = (set_id, gap)
        found = self.closures.get(key)
        if found is not None:
            return found
        movers: dict[Thread, None] = {}
        value: dict[Debt, None] = {}
        seen = set(self.sets[set_id])
        stack = list(seen)
        while stack:
            thread = stack.pop()
            place, debt = thread[0], (thread[1], thread[2])
            if place in (ACCEPT, DONE) or (place > 0 and isinstance(self.program.ops[place], EndOp)):
                value[debt] = None
            elif place < DONE:
                rest, exits = self.close_list(place, gap)
                if rest is not None:
                    movers[(rest, *debt)] = None
                after = self.lists[~place - 1][0]
                for more in exits:
                    joint = self.both(debt, more)
                    if joint is not None and (after, *joint) not in seen:
                        seen.add((after, *joint))
                        stack.append((after, *joint))
            elif isinstance(self.program.ops[place], CharOp):
                movers[thread] = None
            else:
                for new in self.follow(thread, gap):
                    if new not in seen:
                        seen.add(new)
                        stack.append(new)
        self.spend(len(seen))
        result = (tuple(movers), (FREE,) if FREE in value else tuple(value))
        self.closures[key] = result
        return result

    def follow(self, thread: Thread, gap: int) -> list[Thread]:
        """The threads one empty instruction further, in order of preference."""
        place, negative, positive = thread
        op = self.program.ops[place]
        if isinstance(op, SplitOp):
            return [(target, negative, positive) for target in op.targets]
        if isinstance(op, AheadOp):
            start = self.intern({(op.start, *FREE)})
            known = self.close(start, gap)
            if FREE in known[1]:
                value: Value = () if op.negative else (FREE,)
            elif known == ((), ()):
                value = (FREE,) if op.negative else ()
            else:
                value = ((start, NO_SETS),) if op.negative else ((NEVER, frozenset((start,))),)
            after = op.next
        elif isinstance(op, BehindOp):
            value = self.gaps[gap][op.index]
            if op.negative:
                value = self.negation(value)
            after = op.next
        else:
            assert isinstance(op, AtomicOp)
            return [(self.list_place(op.next, ((op.start, *FREE),)), negative, positive)]
        joint = [self.both((negative, positive), debt) for debt in value]
        return [(after, *debt) for debt in joint if debt is not None]

    def list_place(self, after: int, threads: tuple[Thread, ...]) -> int:
        key = (after, threads)
        index = self.list_ids.get(key)
        if index is None:
            index = self.list_ids[key] = len(self.lists)
            self.lists.append(key)
            self.spend(len(threads))
        return ~(1 + index)

    def close_list(self, place: int, gap: int) -> tuple[int | None, Value]:
        """An ordered list at a gap: the list of what reads on (None: nothing does), and what leaving here takes."""
        key = (place, gap)
        if key in self.list_closures:
            return self.list_closures[key]
        after, threads = self.lists[~place - 1]
        movers, exits = self.close_ordered(threads, gap)
        rest = self.list_place(after, movers) if movers else None
        self.list_closures[key] = (rest, tuple(dict.fromkeys(debt for _, debt in exits)))
        return self.list_closures[key]

    def close_ordered(self, threads: tuple[Thread, ...],
                      gap: int) -> tuple[tuple[Thread, ...], tuple[tuple[int, Debt], ...]]:
        """Threads in order of preference at a gap: those that read on, and the ends that are reached with what each
        takes, above all that nothing preferred ever gets to an end."""
        movers: dict[Thread, None] = {}
        exits: dict[tuple[int, Debt], None] = {}
        guards: list[Debt] = [FREE]  # what keeps the threads still to come from being cut
        seen: set[Thread] = set()
        stack = list(reversed(threads))
        while stack and guards:
            thread = stack.pop()
            if thread in seen:
                continue  # the earlier one is preferred and does all that this one could
            seen.add(thread)
            spot, debt = thread[0], (thread[1], thread[2])
            accepted: Value = ()
            if spot == ACCEPT or (spot > 0 and isinstance(self.program.ops[spot], EndOp)):
                accepted = (debt,)
            elif spot < DONE:
                rest, inner = self.close_list(spot, gap)
                # The two exclude each other, so their order says nothing.
                following = self.lists[~spot - 1][0]
                joints = [self.both(debt, more) for more in inner]
                stack += [(following, *joint) for joint in joints if joint is not None]
                if rest is not None:
                    for guard in guards:
                        joint = self.both(debt, guard)
                        if joint is not None:
                            movers[(rest, *joint)] = None
            elif isinstance(self.program.ops[spot], CharOp):
                for guard in guards:
                    joint = self.both(debt, guard)
                    if joint is not None:
                        movers[(spot, *joint)] = None
            else:
                stack.extend(reversed(self.follow(thread, gap)))
            for claim in accepted:
                preferred = self.intern(set(movers))
                for guard in guards:
                    joint = self.both(claim, guard)
                    joint = joint and self.both(joint, (preferred, NO_SETS))
                    if joint is not None:
                        exits[(spot, joint)] = None
                against = self.negation((claim,))
                guards = list(dict.fromkeys(
                    joint for guard in guards for one in against
                    if (joint := self.both(guard, one)) is not None))
        self.spend(len(seen))
        return tuple(movers), tuple(exits)

    # -- reading a character --------------------------------------------------------------------------------------

    def owe(self, debt: Debt, gap: int, letter: int) -> Debt | None:
        """``debt`` after a character; None if it cannot be met any more."""
        if debt == FREE:
            return FREE
        negative = self.step(debt[0], gap, letter)
        if negative == ALWAYS:
            return None
        positive = []
        self.spend(len(debt[1]))
        for one in debt[1]:
            stepped = self.step(one, gap, letter)
            if stepped in (NEVER, negative):
                return None
            if stepped != ALWAYS:
                positive.append(stepped)
        return negative, frozenset(positive)

    def move(self, movers: tuple[Thread, ...], gap: int, letter: int) -> list[Thread]:
        """Closed threads after a character, in order."""
        found: list[Thread] = []
        for place, negative, positive in movers:
            if place >= 0:
                op = self.program.ops[place]
                assert isinstance(op, CharOp)
                if not op.mask >> letter & 1:
                    continue
                target = op.next
            elif place == DONE:
                target = DONE
            else:
                after, threads = self.lists[~place - 1]
                moved = tuple(dict.fromkeys(self.move(threads, gap, letter)))
                if not moved:
                    continue
                target = self.list_place(after, moved)
            debt = self.owe((negative, positive), gap, letter)
            if debt is not None:
                found.append((target, *debt))
        self.spend(len(movers))
        return found

    def step(self, set_id: int, gap: int, letter: int) -> int:
        """A look-ahead under way after a character: what has accepted stays accepted."""
        if set_id <= ALWAYS:
            return set_id
        key = (set_id, gap, letter)
        found = self.steps.get(key)
        if found is None:
            movers, value = self.close(set_id, gap)
            if FREE in value:
                found = ALWAYS
            else:
                waiting = tuple((DONE, *debt) for debt in value)
                moved = set(self.move(movers + waiting, gap, letter))
                found = ALWAYS if (ACCEPT, *FREE) in moved else self.intern(moved)
            self.steps[key] = found
        return found

    def asked(self, movers: tuple[Thread, ...], gap: int, found: set[int]) -> None:
        """Adds to ``found`` the character masks that decide what ``movers`` and their obligations do next."""
        for place, negative, positive in movers:
            if place >= 0:
                op = self.program.ops[place]
                assert isinstance(op, CharOp)
                found.add(op.mask)
            elif place < DONE:
                self.asked(self.lists[~place - 1][1], gap, found)
            for owed in (negative, *positive):
                if owed > ALWAYS:
                    found |= self.asked_by_set(owed, gap)

    def asked_by_set(self, set_id: int, gap: int) -> frozenset[int]:
        key = (set_id, gap)
        if key not in self.masks:
            movers, value = self.close(set_id, gap)
            found: set[int] = set()
            self.asked(movers + tuple((DONE, *debt) for debt in value), gap, found)
            self.masks[key] = frozenset(found)
        return self.masks[key]

    def alike(self, masks: frozenset[int]) -> tuple[list[int], list[int]]:
        """Letters that no mask tells apart, as groups: one letter of each, and each letter's group."""
        if masks not in self.groups:
            self.groups[masks] = told_apart(masks, len(self.program.partition.classes))
        return self.groups[masks]

    # -- the end of the text ------------------------------------------------------------------------------------------

    def holds_at_end(self, set_id: int, gap: int) -> bool:
        """Whether a set accepts if the text ends here."""
        key = (set_id, gap)
        if key not in self.ends:
            _, value = self.close(set_id, gap)
            self.ends[key] = any(self.met_at_end(debt, gap) for debt in value)
        return self.ends[key]

    def met_at_end(self, debt: Debt, gap: int) -> bool:
        return not self.holds_at_end(debt[0], gap) and all(self.holds_at_end(one, gap) for one in debt[1])

    # -- the automaton ------------------------------------------------------------------------------------------------

    def look_behind(self, pasts: tuple[int, ...]) -> tuple[int, list[tuple[Thread, ...]]]:
        """The gap after what the look-behinds have read, and their threads that read on."""
        values: tuple[Value, ...] = ()
        moving = []
        for past, start in zip(pasts, self.program.behinds, strict=True):
            threads = self.intern({*self.sets[past], (start, *FREE)})
            movers, value = self.close(threads, self.gap(values))
            values += (value,)
            moving.append(movers)
        return self.gap(values), moving

    def run(self) -> Dfa:
        program = self.program
        first = ((NEVER,) * len(program.behinds), self.intern({(program.start, *FREE)}))
        number = {first: 0}
        order = [first]
        rows: list[tuple[int, ...]] = []
        accepting: list[int] = []
        for state, (pasts, main) in enumerate(order):
            gap, moving = self.look_behind(pasts)
            movers, _ = self.close(main, gap)
            if self.holds_at_end(main, gap):
                accepting.append(state)
            masks: set[int] = set()
            for threads in (movers, *moving):
                self.asked(threads, gap, masks)
            letters, group_of = self.alike(frozenset(masks))
            row: list[int] = []
            for letter in letters:
                reached = self.intern(set(self.move(movers, gap, letter)))
                if reached == NEVER:
                    row.append(DEAD)
                    continue
                target = (tuple([self.intern(set(self.move(threads, gap, letter))) for threads in moving]), reached)
                found = number.get(target)
                if found is None:
                    found = number[target] = len(order)
                    order.append(target)
                    if len(order) > self.limits.max_dfa_states:
                        raise GrammarLimitError("max_dfa_states", self.limits.max_dfa_states,
                                                "a pattern with assertions has too many states")
                row.append(found)
            rows.append(tuple([row[group] for group in group_of]))
        return trimmed(Dfa(program.partition.classes, tuple(rows), frozenset(accepting)))
