"""Deterministic automata over code points: boolean operations, emptiness, trimming, minimising, UTF-8.

A ``Dfa`` reads classes of a partition of the code points. State 0 starts; ``DEAD`` (-1) is where nothing can be
accepted any more: rows name it and it has no row. Values are frozen. Every operation that multiplies states
takes the ``Limits`` whose ``max_dfa_states`` it may not exceed, and returns a trimmed automaton: each state can
be reached and can still accept, except that state 0 always exists (alone and rejecting if nothing is accepted).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from constrained.errors import GrammarLimitError
from constrained.kernel.blocks import Block
from constrained.kernel.congruence import blocks
from constrained.kernel.dfa_tables import Table, TooManyStates, table_of_texts
from constrained.kernel.joint_products import JointProduct
from constrained.kernel.spelling import Spelling
from constrained.limits import Limits
from constrained.regex.charset import ANY, Ranges, normalise
from constrained.regex.charset import complement as charset_complement
from constrained.regex.refinement import refine
from constrained.regex.utf8 import utf8_spelling

__all__ = ["DEAD", "ByteRows", "Dfa", "Letters", "any_text", "complement", "enumerated", "intersection",
           "intersection_of", "is_empty", "is_endless", "minimise", "no_text", "of_lengths", "of_texts",
           "read_classes", "topological_order", "trimmed", "union"]

DEAD = -1

#: States over bytes for each state of ``Limits.max_dfa_states``.
BYTE_STATES = 8

#: (first byte, last byte, next state), sorted and disjoint.
ByteRow = tuple[tuple[int, int, int], ...]
#: One ``ByteRow`` a state: the shape of the IR's ``ByteDfa``.
ByteRows = tuple[ByteRow, ...]


class Letters(dict[str, int]):
    """The class of each character, found when it is asked for; -1: of none (a surrogate)."""

    __slots__ = ("_pieces", "_starts")

    def __init__(self, classes: tuple[Ranges, ...]) -> None:
        super().__init__()
        self._pieces = sorted([(first, last, index) for index, ranges in enumerate(classes) for first, last in ranges])
        self._starts = [first for first, _, _ in self._pieces]

    def __missing__(self, char: str) -> int:
        code = ord(char)
        at = bisect_right(self._starts, code) - 1
        found = -1 if at < 0 or self._pieces[at][1] < code else self._pieces[at][2]
        self[char] = found
        return found


class Dfa:
    """``rows[state][class]`` is the next state or DEAD; ``classes`` cover all code points but surrogates.

    Operations work on ``table``, the rows as the kernel has them; either is made of the other where it is asked for.
    ``trim``: it is known to be trimmed; ``least``: to be what ``minimise`` makes of it, and so trimmed.
    """

    __slots__ = ("_letters", "_rows", "_table", "accepting", "classes", "least", "trim")

    def __init__(self, classes: tuple[Ranges, ...], rows: tuple[tuple[int, ...], ...] | Table,
                 accepting: frozenset[int], *, trim: bool = False, least: bool = False) -> None:
        self.classes = classes
        self.accepting = accepting
        self.trim = trim or least
        self.least = least
        self._letters: Letters | None = None
        self._table: Table | None = None
        self._rows: tuple[tuple[int, ...], ...] | None = None
        if isinstance(rows, Table):
            self._table = rows
        else:
            self._rows = rows

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """What each state does."""
        if self._rows is None:
            assert self._table is not None
            self._rows = self._table.rows()
        return self._rows

    @property
    def table(self) -> Table:
        """The rows, not to be changed."""
        if self._table is None:
            assert self._rows is not None
            self._table = Table(self._rows, len(self.classes))
        return self._table

    @property
    def states(self) -> int:
        """How many there are."""
        return self._table.states() if self._rows is None and self._table is not None else len(self.rows)

    def accepts(self, text: str) -> bool:
        """Whether ``text`` is in the language. About 0.1 us a character."""
        if self._letters is None:
            self._letters = Letters(self.classes)
        rows, letters, state = self.rows, self._letters, 0
        for char in text:
            letter = letters[char]
            state = DEAD if letter < 0 else rows[state][letter]
            if state == DEAD:
                return False
        return state in self.accepting

    def to_bytes(self, spelling: Spelling | None = None, *,
                 limits: Limits | None = None) -> tuple[ByteRows, frozenset[int]]:
        """The same language over UTF-8 bytes: rows and accepting states, states of this automaton first.

        ``spelling`` spells the classes in another way. Classes cut finely (Unicode's word characters) need some
        hundred states more for each state; beyond ``BYTE_STATES`` times ``max_dfa_states`` that is a
        GrammarLimitError. About 0.2 us a state, and 0.1 us an edge for the rows.
        """
        return self.to_block(spelling or utf8_spelling(read_classes(self)), limits).rows(), self.accepting

    def to_block(self, spelling: Spelling, limits: Limits | None = None) -> Block:
        """What ``to_bytes`` gives, as the arrays that grammars are compiled from."""
        most = (limits or Limits()).max_dfa_states
        try:
            return spelling.block(self.table, self.accepting, min(most * BYTE_STATES, 1 << 28))
        except TooManyStates:
            raise GrammarLimitError("max_dfa_states", most,
                                    "an automaton of a pattern has too many states over bytes") from None


def any_text() -> Dfa:
    """Every text."""
    return Dfa((ANY,), ((0,),), frozenset((0,)))


def no_text() -> Dfa:
    """No text at all."""
    return Dfa((ANY,), ((DEAD,),), frozenset(), least=True)


def of_lengths(minimum: int, maximum: int | None, limits: Limits) -> Dfa:
    """Every text of ``minimum`` to ``maximum`` characters (None: no end). A state for each count."""
    top = minimum if maximum is None else maximum
    _check(top + 1, limits)
    rows = [(state + 1,) for state in range(top)]
    rows.append((top if maximum is None else DEAD,))
    return trimmed(Dfa((ANY,), tuple(rows), frozenset(range(minimum, top + 1))))


def of_texts(texts: Iterable[str]) -> Dfa:
    """Just these texts (without surrogates). A state for each beginning of one."""
    listed = list(texts)
    letters = sorted(set("".join(listed)))
    classes: list[Ranges] = [((ord(char), ord(char)),) for char in letters]
    classes.append(charset_complement(normalise(pair for (pair,) in classes)))
    table, accepting = table_of_texts(listed, {char: index for index, char in enumerate(letters)}, len(classes))
    return Dfa(tuple(classes), table, accepting)


def enumerated(dfa: Dfa, most: int) -> list[str] | None:
    """All texts of a trimmed automaton if they are at most ``most``, shorter ones first; else None."""
    found: list[str] = []
    level: list[tuple[int, str]] = [(0, "")] if dfa.accepting else []
    # A text longer than the states passes one of them twice: then there is no end of texts.
    for _ in range(len(dfa.rows) + 1):
        following: list[tuple[int, str]] = []
        for state, text in level:
            if state in dfa.accepting:
                found.append(text)
            for ranges, target in zip(dfa.classes, dfa.rows[state], strict=True):
                if target == DEAD:
                    continue
                if sum(last - first + 1 for first, last in ranges) + len(following) > most:
                    return None
                following += [(target, text + chr(code)) for first, last in ranges for code in range(first, last + 1)]
        if len(found) > most:
            return None
        if not following:
            return found
        level = following
    return None


def intersection(left: Dfa, right: Dfa, limits: Limits) -> Dfa:
    """The texts of both."""
    return _product([left, right], [False, False], False, limits)


def intersection_of(parts: Sequence[tuple[Dfa, bool]], limits: Limits) -> Dfa:
    """The texts of all; those of the refused ones (``True``) are left out.

    One product of all; where that has too many states (some that accept nothing among them), one after the other.
    """
    if len(parts) == 1:
        dfa, refused = parts[0]
        return complement(dfa) if refused else dfa
    try:
        return _product([dfa for dfa, _ in parts], [refused for _, refused in parts], False, limits)
    except GrammarLimitError:
        if len(parts) == 2:
            raise
    found = intersection_of(parts[:1], limits)
    for dfa, refused in parts[1:]:
        found = _product([found, dfa], [False, refused], False, limits)
    return found


def union(left: Dfa, right: Dfa, limits: Limits) -> Dfa:
    """The texts of at least one."""
    return _product([left, right], [False, False], True, limits)


def complement(dfa: Dfa) -> Dfa:
    """The texts that ``dfa`` does not accept (texts of code points; never an ill-formed one)."""
    table = dfa.table.copy()
    table.complete()
    return live_part(table, dfa.classes, frozenset(range(table.states())) - dfa.accepting)


def is_empty(dfa: Dfa) -> bool:
    """Whether no text is accepted."""
    return not dfa.accepting or not trimmed(dfa).accepting


def is_endless(dfa: Dfa) -> bool:
    """Whether a trimmed automaton has no end of texts."""
    return bool(dfa.accepting) and dfa.table.is_endless()


def topological_order(dfa: Dfa) -> list[int] | None:
    """The states of a trimmed automaton, each before those it leads to; None if the language is not finite: a path
    comes back to where it was."""
    entries = [0] * len(dfa.rows)
    after = [set(row) - {DEAD} for row in dfa.rows]
    for targets in after:
        for target in targets:
            entries[target] += 1
    order = [state for state, count in enumerate(entries) if not count]
    for state in order:  # grows meanwhile
        for target in after[state]:
            entries[target] -= 1
            if not entries[target]:
                order.append(target)
    return order if len(order) == len(dfa.rows) else None


def read_classes(dfa: Dfa) -> tuple[Ranges, ...]:
    """The classes, those that no state reads without characters: what needs to be spelled."""
    read = set(dfa.table.read())
    return tuple([ranges if index in read else () for index, ranges in enumerate(dfa.classes)])


def _check(states: int, limits: Limits) -> None:
    if states > limits.max_dfa_states:
        raise _too_many(limits)


def _too_many(limits: Limits) -> GrammarLimitError:
    return GrammarLimitError("max_dfa_states", limits.max_dfa_states, "an automaton of a pattern has too many states")


def _product(parts: list[Dfa], refused: list[bool], either: bool, limits: Limits) -> Dfa:
    classes, homes = refine([dfa.classes for dfa in parts])
    joint = JointProduct([dfa.table for dfa in parts], [dfa.accepting for dfa in parts], refused, either)
    try:
        table, accepting = joint.run(homes, limits.max_dfa_states)
    except TooManyStates:
        raise _too_many(limits) from None
    return live_part(table, classes, accepting, met=True)


def live_part(table: Table, classes: tuple[Ranges, ...], accepting: frozenset[int], *, met: bool = False) -> Dfa:
    """The automaton of a table, trimmed; the table is changed and is the automaton's. ``met``: see ``Table.trim``."""
    _, accepting = table.trim(accepting, met)
    return Dfa(classes, table, accepting, trim=True)


def trimmed(dfa: Dfa) -> Dfa:
    """Without states that cannot be reached or cannot accept any more. State 0 stays."""
    if dfa.trim:
        return dfa
    table = dfa.table.copy()
    changed, accepting = table.trim(dfa.accepting)
    dfa.trim = not changed
    return Dfa(dfa.classes, table, accepting, trim=True) if changed else dfa


def minimise(dfa: Dfa) -> Dfa:
    """The least automaton of the same language, classes that no state tells apart joined.

    States with equal rows become one first; then Hopcroft's algorithm (J. Hopcroft, 1971): states x classes x
    log(states).
    """
    if dfa.least:
        return dfa
    table = dfa.table.copy()
    changed, accepting = (False, dfa.accepting) if dfa.trim else table.trim(dfa.accepting)
    if not accepting:
        return no_text()
    classes = dfa.classes
    folded, accepting = table.fold(accepting)
    groups = table.join()
    if len(groups) < len(classes):
        changed = True
        classes = tuple(normalise(pair for index in group for pair in dfa.classes[index]) for group in groups)
    if blocks(table, accepting) < table.states():
        folded = True
        table.merge()
    if folded:
        changed = True
        _, accepting = table.trim(accepting)
    if changed:
        return Dfa(classes, table, accepting, least=True)
    dfa.trim = dfa.least = True
    return dfa
