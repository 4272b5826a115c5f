"""What is left of a lexer's condition where only certain languages can follow.

A condition (a debt) is worked out for any text that follows. Where it is known which languages may come next, it keeps
only the branches that begin with one of their characters and can lead to its being broken: a debt is walked side by
side with each of them. Sets of languages are bit masks; one bit more stands for an indenter's line, one for any text.
Cost: a small product of automata for each pair of a debt and a language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from constrained.regex.charset import ANY, Ranges, complement, intersection, normalise, subtract, union
from constrained.regex.dfa import DEAD
from constrained.regex.partition import partition_of
from constrained.regex.refinement import refine

from .indentation import LINE_FEED
from .lexing import Language, Lexicon
from .load import Loaded

__all__ = ["ANYTHING", "Pruner", "after_terminals", "reading"]

_BROKEN = frozenset((1,))
#: The language of what is no terminal: any text.
ANYTHING = -1
BEYOND: Ranges = ((0x80, 0x10FFFF),)


class Pruner:
    """Prunes debts by the languages that the lexicon has when this is made."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.originals = len(lexicon.debts)
        self.line = 1 << len(lexicon.languages)
        self.anything = self.line << 1
        # What languages and debts begin with, as bit masks over one partition.
        known = [reading(one, 0) for one in (*lexicon.languages, *lexicon.debts)]
        self.partition = partition_of([LINE_FEED, *(ranges for found in known for ranges in found)])
        masks = [self._mask(found) for found in known]
        self.heads, self.debt_heads = masks[: len(lexicon.languages)], masks[len(lexicon.languages) :]
        self.sets: dict[int, Ranges] = {}
        self.breaks: dict[tuple[int, int], Ranges] = {}
        self.pruned: dict[tuple[int, int], int] = {}

    def bits(self, numbers: Iterable[int]) -> int:
        """The bit mask of languages; ANYTHING is one of them."""
        found = 0
        for number in numbers:
            found |= self.anything if number == ANYTHING else 1 << number
        return found

    def chars(self, languages: int) -> Ranges:
        """The characters that some of ``languages`` begin with."""
        if languages & self.anything:
            return ANY
        mask = self.partition.masks[LINE_FEED] if languages & self.line else 0
        for number, head in enumerate(self.heads):
            if languages >> number & 1:
                mask |= head
        if mask not in self.sets:
            self.sets[mask] = normalise(pair for i, ranges in enumerate(self.partition.classes) if mask >> i & 1
                                        for pair in ranges)
        return self.sets[mask]

    def _mask(self, sets: list[Ranges]) -> int:
        found = 0
        for ranges in sets:
            found |= self.partition.masks[ranges]
        return found

    def pruner(self, allowed: int) -> Callable[[int], int]:
        """What is left of each debt where the languages ``allowed`` may follow."""
        def prune(debt: int) -> int:
            key = (debt, allowed)
            if key not in self.pruned:
                self.pruned[key] = self._prune(debt, allowed)
            return self.pruned[key]

        return prune

    def _prune(self, debt: int, allowed: int) -> int:
        language = self.lexicon.debts[debt]
        if debt == 0 or language.ends[0] or allowed & self.anything:
            return debt
        found: list[tuple[int, int]] = []
        for number in range(len(self.lexicon.languages)):
            if allowed >> number & 1:
                found.extend(self._breaking(debt, number))
        if allowed & self.line:
            found.extend(pair for ranges in reading(language, 0) for pair in intersection(ranges, LINE_FEED))
        breaking = normalise(found)
        if not breaking:
            return 0
        possible = self.chars(allowed)
        if all(target == DEAD or language.ends[target] == _BROKEN or not intersection(ranges, breaking)
               for ranges, target in zip(language.classes, language.rows[0], strict=True)):
            return self._one_character(breaking, possible)
        return self.lexicon.debt_number(_pruned(language, breaking))

    def _one_character(self, breaking: Ranges, possible: Ranges) -> int:
        """A debt that one of ``breaking`` breaks, as one of few: which other characters do makes no difference if they
        are not ``possible``. All beyond ASCII is best: then the first byte of a character decides."""
        for debt in range(1, self.originals):
            language = self.lexicon.debts[debt]
            chars = normalise(pair for ranges, target in zip(language.classes, language.rows[0], strict=True)
                              if target != DEAD and language.ends[target] == _BROKEN for pair in ranges)
            for candidate in (union(chars, BEYOND), chars):
                if intersection(candidate, possible) == breaking:
                    return self._of_characters(candidate)
        return self._of_characters(breaking)

    def _of_characters(self, chars: Ranges) -> int:
        others = complement(chars)
        if not others:
            return self.lexicon.debt_number(Language((chars,), ((1,), (DEAD,)), (frozenset(), _BROKEN)))
        return self.lexicon.debt_number(
            Language((chars, others), ((1, DEAD), (DEAD, DEAD)), (frozenset(), _BROKEN)))

    def _breaking(self, debt: int, number: int) -> Ranges:
        """The first characters of a language with which it can break a debt, or leave it alive at its end."""
        found = self.breaks.get((debt, number))
        if found is not None:
            return found
        if not self.debt_heads[debt] & self.heads[number]:
            return ()
        left, right = self.lexicon.debts[debt], self.lexicon.languages[number]
        classes, (left_home, right_home) = refine([left.classes, right.classes])
        moves = list(dict.fromkeys(zip(left_home, right_home, strict=True)))
        sources: dict[tuple[int, int], set[tuple[int, int]]] = {}
        breaking: list[tuple[int, int]] = []
        order = [(0, 0)]
        seen = {(0, 0)}
        for pair in order:
            if left.ends[pair[0]] == _BROKEN or (right.ends[pair[1]] and pair != (0, 0)):
                breaking.append(pair)
                continue
            for one, other in moves:
                target = (left.rows[pair[0]][one], right.rows[pair[1]][other])
                if DEAD in target:
                    continue
                sources.setdefault(target, set()).add(pair)
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        bad = set(breaking)
        while breaking:
            for source in sources.get(breaking.pop(), ()):
                if source not in bad:
                    bad.add(source)
                    breaking.append(source)
        first = [pair for ranges, one, other in zip(classes, left_home, right_home, strict=True) for pair in ranges
                 if (left.rows[0][one], right.rows[0][other]) in bad]
        found = self.breaks[debt, number] = normalise(first)
        return found


def after_terminals(loaded: Loaded, lexicon: Lexicon) -> dict[tuple[str, int], int]:
    """The languages of terminals as the parser's states read them, without conditions that no next token can break.

    What may come next is known at each state behind the terminal: what the lexer tries there. Terminals behind which
    something unknown may come (an addition, an indenter's tokens) stay as they are.
    """
    table = loaded.table
    assert table is not None
    scanned = {names: lexicon.scanner(names) for names in table.scanned}
    pruner = Pruner(lexicon)
    behind: dict[frozenset[str], int] = {
        names: pruner.bits((*found.tokens.values(), *found.ignored)) for names, found in scanned.items()}
    after: dict[str, int] = {}
    for row in table.goto:
        for symbol, to in row.items():
            if symbol not in loaded.by_origin:
                more = pruner.anything if table.open[to] else behind[table.scanned[to]]
                after[symbol] = after.get(symbol, 0) | more
    made: dict[tuple[str, int], int] = {}
    for found in scanned.values():
        for name, number in found.tokens.items():
            if (name, number) not in made:
                left = pruner.pruner(after.get(name, pruner.anything))
                made[name, number] = lexicon.with_debts(number, left)
    return made


def _pruned(debt: Language, breaking: Ranges) -> Language:
    """``debt`` where only ``breaking`` characters can break it."""
    classes: list[Ranges] = []
    row: list[int] = []
    home: list[int] = []
    for i, (ranges, target) in enumerate(zip(debt.classes, debt.rows[0], strict=True)):
        for part, to in ((intersection(ranges, breaking), target), (subtract(ranges, breaking), DEAD)):
            if part:
                classes.append(part)
                row.append(to + 1 if to != DEAD else DEAD)
                home.append(i)
    # The start is a state of its own: further on, all characters may come.
    rows = [tuple([one[i] + 1 if one[i] != DEAD else DEAD for i in home]) for one in debt.rows]
    return Language(tuple(classes), (tuple(row), *rows), (debt.ends[0], *debt.ends))


def reading(language: Language, state: int) -> list[Ranges]:
    return [ranges for ranges, target in zip(language.classes, language.rows[state], strict=True) if target != DEAD]
