"""What each terminal reads at each state of the parser, as lark's contextual lexer would.

At a state the lexer tries its set of terminals in order, as one ``re`` alternation. The text of terminal T is then what
T's own first match reads, where no terminal before it in the order matches at all. Only terminals that can match at one
place together with T matter (``interferes``), so a *language* is made for (T, those of them that come before, the
keywords that would replace it); equal languages get one number. A terminal that is lexed in one way in all states has
one number, and the parser's state does not matter for it.

Data: a ``Language`` is an automaton over code points whose states carry the debts under which the terminal ends there
(``regex.scan``): one ``ByteDfa`` for each debt, followed by ``NotFollowedBy``.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import dataclass

from constrained.errors import GrammarLimitError, RegexError
from constrained.grammar.ir import ByteDfa, Choice, Expr, Literal, NotFollowedBy, Sequence
from constrained.limits import Limits
from constrained.regex.charset import ANY, Ranges, normalise
from constrained.regex.determinise import Determiniser
from constrained.regex.dfa import DEAD, Dfa, trimmed
from constrained.regex.partition import partition_of
from constrained.regex.program import Program, compile_scanner
from constrained.regex.scan import Forbidden, scan
from constrained.regex.syntax import CharSet

from ..regex import byte_dfa
from .load import Loaded
from .patterns import plain_texts, refuse, relaxed, terminal_tree

__all__ = ["Language", "Lexicon", "Scanned"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Language:
    """``rows[state][class]``; ``ends[state]``: the debts under which the text may end here (0: none)."""

    classes: tuple[Ranges, ...]
    rows: tuple[tuple[int, ...], ...]
    ends: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """What one lexer can produce: the language of each token, and of what it passes over."""

    tokens: dict[str, int]
    ignored: frozenset[int]


#: Marks of a debt's states: broken for good, and broken if the text ends here.
NONE: frozenset[int] = frozenset()
_BROKEN, _AT_END = frozenset((1,)), frozenset((2,))
Key = tuple[tuple[Ranges, ...], tuple[tuple[int, ...], ...], tuple[frozenset[int], ...]]


class Lexicon:
    """All languages of one grammar, by number. ``language`` finds the number, ``expression`` the IR."""

    def __init__(self, loaded: Loaded, limits: Limits) -> None:
        self.loaded = loaded
        self.limits = limits
        self.trees = {name: terminal_tree(one, loaded.source, limits) for name, one in loaded.terminals.items()}
        self.rank = {name: i for i, name in enumerate(loaded.terminals)}
        self.debts: list[Language] = []
        self.debt_ids: dict[Key, int] = {}
        self.debt(Forbidden((ANY,), ((DEAD,),), frozenset(), frozenset()))
        self.languages: list[Language] = []
        self.language_ids: dict[Key, int] = {}
        self._found: dict[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, int]] = {}
        self._sets: dict[frozenset[str], Scanned] = {}
        self._derived: dict[int, int] = {}
        self._pairs: dict[tuple[str, str], bool] = {}
        self._automata: dict[str, Dfa] = {}
        self._expressions: dict[tuple[int, tuple[int, ...]], Expr] = {}
        self._notes: dict[int, NotFollowedBy] = {}

    # -- what a set of terminals reads ------------------------------------------------------------------------

    def scanner(self, names: frozenset[str]) -> Scanned:
        """What lark's lexer for the set ``names`` can produce."""
        found = self._sets.get(names)
        if found is not None:
            return found
        terminals, embedded = self.loaded.terminals, self.loaded.embedded
        ordered = sorted(names, key=self.rank.__getitem__)
        keywords = {name: tuple(word for word in embedded.get(name, ()) if word in names) for name in ordered}
        swallowed = {word for name in ordered for word in keywords[name]
                     if terminals[word].flags <= terminals[name].flags}
        tried = [name for name in ordered if name not in swallowed]
        parts: dict[str, list[int]] = {}
        skipped: set[int] = set()
        for i, name in enumerate(tried):
            before = tuple(other for other in tried[:i] if self.interferes(other, name))
            for result, number in self._one(name, before, keywords[name]).items():
                if name in self.loaded.ignored:  # whatever keyword it is
                    skipped.add(number)
                else:
                    parts.setdefault(result, []).append(number)
        tokens = {name: numbers[0] if len(numbers) == 1 else self._union(numbers) for name, numbers in parts.items()}
        found = self._sets[names] = Scanned(tokens, frozenset(skipped))
        return found

    def names(self) -> dict[int, str]:
        """A terminal of each language found so far."""
        known = {number: name for found in self._sets.values() for name, number in found.tokens.items()}
        return {new: known[old] for new, old in self._derived.items() if old in known} | known

    def _one(self, name: str, before: tuple[str, ...], keywords: tuple[str, ...]) -> dict[str, int]:
        """What ``name`` reads after ``before`` were tried, as itself and as each keyword."""
        key = (name, before, keywords)
        found = self._found.get(key)
        if found is not None:
            return found
        terminal = self.loaded.terminals[name]
        order = [*before, name]
        try:
            automaton = scan([self.trees[one] for one in order], self.limits)
        except RegexError as error:
            refuse(terminal, self.loaded.source, str(error).split(" at position")[0], error.hint)
        except GrammarLimitError as error:
            raise GrammarLimitError(error.limit, error.value,
                                    f"terminal {terminal.shown} needs too many states") from None
        debts = [self.debt(dfa) for dfa in automaton.debts]
        mine = len(before)
        ends = tuple([frozenset(debts[debt] for index, debt in pairs if index == mine) for pairs in automaton.ends])
        language = Language(automaton.classes, automaton.rows, ends)
        found = {}
        for result, part in self._split(name, language, keywords).items():
            number = self.number(part)
            if self.languages[number].ends[0] or any(self.languages[number].ends):
                found[result] = number
        self._found[key] = found
        return found

    def _split(self, name: str, language: Language, keywords: tuple[str, ...]) -> dict[str, Language]:
        """``language`` cut into the texts that are a keyword (the first that fits) and the rest."""
        if not keywords:
            return {name: language}
        words: list[list[CharSet]] = []
        for word in keywords:
            texts = plain_texts(self.loaded.terminals[word], self.trees[word])
            assert texts is not None
            words.append(texts)
        sets = [one.ranges for texts in words for one in texts]
        joint = partition_of([*language.classes, *sets])
        home = _homes(language.classes, joint.masks, len(joint.classes))
        start = (0, frozenset((i, 0) for i in range(len(words))))
        number = {start: 0}
        order = [start]
        rows: list[tuple[int, ...]] = []
        results: list[str] = []
        for state, live in order:
            whole = [i for i, at in live if at == len(words[i])]
            results.append(keywords[min(whole)] if whole else name)
            moves = [(i, at, joint.masks[words[i][at].ranges]) for i, at in live if at < len(words[i])]
            row: list[int] = []
            for letter, old in enumerate(home):
                target = language.rows[state][old]
                if target == DEAD:
                    row.append(DEAD)
                    continue
                pair = (target, frozenset((i, at + 1) for i, at, mask in moves if mask >> letter & 1))
                if pair not in number:
                    number[pair] = len(order)
                    order.append(pair)
                row.append(number[pair])
            rows.append(tuple(row))
        found = {}
        for result in (name, *keywords):
            ends = [language.ends[state] if results[i] == result else NONE for i, (state, _) in enumerate(order)]
            found[result] = Language(joint.classes, tuple(rows), tuple(ends))
        return found

    def _union(self, numbers: Items[int]) -> int:
        """One language for texts that reach one terminal in two ways (a keyword of two patterns)."""
        parts = [self.languages[number] for number in dict.fromkeys(numbers)]
        joint = partition_of([ranges for part in parts for ranges in part.classes])
        homes = [_homes(part.classes, joint.masks, len(joint.classes)) for part in parts]
        start = (0,) * len(parts)
        number = {start: 0}
        order = [start]
        rows: list[tuple[int, ...]] = []
        for states in order:
            row: list[int] = []
            for letter in range(len(joint.classes)):
                target = tuple([DEAD if s == DEAD else part.rows[s][home[letter]]
                                for s, part, home in zip(states, parts, homes, strict=True)])
                if all(one == DEAD for one in target):
                    row.append(DEAD)
                    continue
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
                row.append(number[target])
            rows.append(tuple(row))
        ends = tuple([frozenset().union(*[part.ends[s] for s, part in zip(states, parts, strict=True) if s != DEAD])
                      for states in order])
        return self.number(Language(joint.classes, tuple(rows), ends))

    def with_debts(self, number: int, left: Callable[[int], int]) -> int:
        """The number of a language with what is ``left`` of its debts; it keeps the name."""
        language = self.languages[number]
        ends = tuple([frozenset([left(debt) for debt in end]) for end in language.ends])
        if ends == language.ends:
            return number
        found = self.number(Language(language.classes, language.rows, ends))
        self._derived[found] = number
        return found

    # -- which terminals meet ---------------------------------------------------------------------------------

    def interferes(self, one: str, other: str) -> bool:
        """Whether some text has a match of both at one place (at least: assertions are left out)."""
        key = (one, other) if one < other else (other, one)
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = self._meet(*key)
        return found

    def _meet(self, one: str, other: str) -> bool:
        first, second = (self.loaded.terminals[name].literal for name in (one, other))
        if first is not None and second is not None:
            return first.startswith(second) or second.startswith(first)
        left, right = self._automaton(one), self._automaton(other)
        seen = {(0, 0)}
        stack = [(0, 0)]
        while stack:
            a, b = stack.pop()
            if a in left.accepting or b in right.accepting:
                return True  # the other one is alive, so it can still match
            for pair in set(zip(left.rows[a], right.rows[b], strict=True)):
                if DEAD not in pair and pair not in seen:
                    seen.add(pair)
                    stack.append(pair)
        return False

    def _automaton(self, name: str) -> Dfa:
        """The terminal without its assertions; all over one partition of the characters."""
        if not self._automata:
            names = list(self.trees)
            program, starts = compile_scanner([relaxed(self.trees[one]) for one in names], self.limits)
            for one, start in zip(names, starts, strict=True):
                whole = Program(program.ops, start, program.behinds, program.partition)
                self._automata[one] = Determiniser(whole, self.limits).run()
        return self._automata[name]

    # -- numbers ----------------------------------------------------------------------------------------------

    def debt(self, forbidden: Forbidden) -> int:
        """The number of what may not follow; 0 is nothing."""
        marks = tuple([_BROKEN if state in forbidden.accepting else _AT_END if state in forbidden.at_end else NONE
                       for state in range(len(forbidden.rows))])
        return self.debt_number(Language(forbidden.classes, forbidden.rows, marks))

    def debt_number(self, language: Language) -> int:
        """The number of a debt as marked states."""
        return _numbered(language, self.debt_ids, self.debts)

    def number(self, language: Language) -> int:
        """The number of a language: equal languages have the same."""
        return _numbered(language, self.language_ids, self.languages)

    # -- IR ---------------------------------------------------------------------------------------------------

    def expression(self, number: int, prune: Callable[[int], int] | None = None) -> Expr:
        """The IR of a language; ``prune`` puts what is left of a debt in the place of each."""
        language = self.languages[number]
        debts = sorted(frozenset[int]().union(*language.ends))
        kept = debts if prune is None else [prune(debt) for debt in debts]
        key = (number, tuple(kept))
        found = self._expressions.get(key)
        if found is None:
            options: list[Expr] = []
            for left in dict.fromkeys(kept):
                same = {debt for debt, one in zip(debts, kept, strict=True) if one == left}
                accepting = frozenset(i for i, end in enumerate(language.ends) if end & same)
                text = text_expression(trimmed(Dfa(language.classes, language.rows, accepting)), self.limits)
                options.append(text if left == 0 else Sequence((text, self.note(left))))
            found = self._expressions[key] = options[0] if len(options) == 1 else Choice(tuple(options))
        return found

    def note(self, debt: int) -> NotFollowedBy:
        """The condition that a debt stands for."""
        found = self._notes.get(debt)
        if found is None:
            language = self.debts[debt]
            broken = frozenset(i for i, end in enumerate(language.ends) if end == _BROKEN)
            dfa = Dfa(language.classes, language.rows, broken)
            at_end = frozenset(i for i, end in enumerate(language.ends) if end == _AT_END)
            found = self._notes[debt] = NotFollowedBy(_decided_early(byte_dfa(dfa, self.limits), len(dfa.rows)), at_end)
        return found


#: Bounds of the second byte of a character by the first (RFC 3629, section 4); the others are 0x80 and 0xBF.
_SECOND = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}


def _decided_early(dfa: ByteDfa, boundaries: int) -> ByteDfa:
    """``dfa`` whose states within a character (from ``boundaries`` on) accept as soon as every way on does: the text is
    UTF-8, so the character will be finished."""
    rows = dfa.transitions
    needed: dict[int, tuple[int, int]] = {}
    for state, row in enumerate(rows):
        for first, last, to in row:
            if to < boundaries:
                continue
            for low, high in ({_SECOND.get(lead, (0x80, 0xBF)) for lead in range(first, last + 1)}
                              if state < boundaries else ((0x80, 0xBF),)):
                before = needed.get(to, (low, high))
                needed[to] = (min(low, before[0]), max(high, before[1]))
    accepting = set(dfa.accepting)
    changed = True
    while changed:
        early = {state for state, bounds in needed.items()
                 if state not in accepting and _covers(rows[state], bounds, accepting)}
        changed = bool(early)
        accepting |= early
    return ByteDfa(tuple([() if state in accepting else row for state, row in enumerate(rows)]), frozenset(accepting))


def _covers(row: tuple[tuple[int, int, int], ...], bounds: tuple[int, int], accepting: set[int]) -> bool:
    """Whether all bytes within ``bounds`` lead to accepting states."""
    at = bounds[0]
    for first, last, to in row:
        if first > at:
            return False
        if last >= at:
            if to not in accepting:
                return False
            at = last + 1
    return at > bounds[1]


def text_expression(dfa: Dfa, limits: Limits) -> Expr:
    """A trimmed automaton as IR: a literal if it is one text."""
    state = 0
    chars: list[str] = []
    while state not in dfa.accepting:
        targets = [(c, t) for c, t in enumerate(dfa.rows[state]) if t != DEAD]
        if len(targets) != 1 or len(chars) > len(dfa.rows):
            break
        ranges = dfa.classes[targets[0][0]]
        if ranges[0][0] != ranges[-1][1]:
            break
        chars.append(chr(ranges[0][0]))
        state = targets[0][1]
    if state in dfa.accepting and all(target == DEAD for target in dfa.rows[state]):
        return Literal("".join(chars).encode())
    return byte_dfa(dfa, limits)


def _homes(classes: Items[Ranges], masks: dict[Ranges, int], count: int) -> list[int]:
    """For each class of a finer partition, the index of the one of ``classes`` it lies in."""
    home = [0] * count
    for index, ranges in enumerate(classes):
        mask = masks[ranges]
        while mask:
            low = mask & -mask
            home[low.bit_length() - 1] = index
            mask ^= low
    return home


def _numbered(language: Language, ids: dict[Key, int], listed: list[Language]) -> int:
    """The place of ``language`` in ``listed``, where equal ones share one; it is entered if it is new."""
    key = canonical(language)
    found = ids.get(key)
    if found is None:
        found = ids[key] = len(listed)
        listed.append(Language(*key))
    return found


def canonical(language: Language) -> Key:
    """The one least automaton of a language: E. Moore's partition refinement, then numbered breadth first."""
    rows, ends = language.rows, language.ends
    live = _live(rows, ends)
    dead = len(rows)
    moves = [tuple([t if t != DEAD and t in live else dead for t in row]) for row in rows]
    moves.append((dead,) * len(language.classes))
    marks: dict[frozenset[int] | None, int] = {}
    block = [marks.setdefault(ends[s] if s in live else None, len(marks)) for s in range(dead)]
    block.append(marks.setdefault(None, len(marks)))
    count = len(marks)
    while True:
        known: dict[tuple[int, ...], int] = {}
        block = [known.setdefault((block[s], *[block[t] for t in moves[s]]), len(known)) for s in range(dead + 1)]
        if len(known) == count:
            break
        count = len(known)
    # Classes with the same column are one; the order of classes is that of their first characters.
    representative: dict[int, int] = {}
    for state in range(dead + 1):
        representative.setdefault(block[state], state)
    states = list(representative.values())
    columns: dict[tuple[int, ...], list[int]] = {}
    for index in range(len(language.classes)):
        columns.setdefault(tuple([block[moves[s][index]] for s in states]), []).append(index)
    groups = sorted((normalise(pair for i in group for pair in language.classes[i]), group[0])
                    for group in columns.values())
    number = {block[0]: 0}
    order = [block[0]]
    found: list[tuple[int, ...]] = []
    for one in order:
        row: list[int] = []
        for _, column in groups:
            target = block[moves[representative[one]][column]]
            if target == block[dead]:
                row.append(DEAD)
                continue
            if target not in number:
                number[target] = len(order)
                order.append(target)
            row.append(number[target])
        found.append(tuple(row))
    marked = tuple([ends[representative[one]] if representative[one] != dead else frozenset() for one in order])
    return tuple([ranges for ranges, _ in groups]), tuple(found), marked


def _live(rows: Items[Items[int]], ends: Items[frozenset[int]]) -> set[int]:
    """The states from which an end can be reached."""
    sources: dict[int, list[int]] = {}
    for state, row in enumerate(rows):
        for target in set(row):
            if target != DEAD:
                sources.setdefault(target, []).append(state)
    live = {state for state, end in enumerate(ends) if end}
    stack = list(live)
    while stack:
        for source in sources.get(stack.pop(), ()):
            if source not in live:
                live.add(source)
                stack.append(source)
    return live


