"""Conditions that can never be broken where they stand are left out.

A lexer's condition (a debt) is worked out for any text that follows; a grammar lets few characters follow. FIRST and
FOLLOW of the rules (A. Aho, R. Sethi, J. Ullman, Compilers, 4.4), over characters instead of tokens, tell which: a debt
keeps only the branches that begin with one of them. So ``]`` needs no condition at all, a name is no longer watched for
the string it might have been the prefix of, and spaces are ``[ \\t]*``.

Sets of characters are bit masks over one partition of the code points. Cost: linear in the rules for each of a few rounds.
"""

from __future__ import annotations

from collections.abc import Callable

from constrained.grammar.ir import CharClass, Expr
from constrained.regex.charset import Ranges
from constrained.regex.dfa import DEAD
from constrained.regex.partition import partition_of

from .indentation import LINE_FEED
from .lexing import Language, Lexicon
from .rules import Symbol, Template

__all__ = ["Follow"]

_BROKEN = frozenset((1,))


class Follow:
    """What may come after each text of a template.

    ``texts[t]``: (number of what is ignored before, languages read). ``ignored[i]``: languages that are ignored.
    """

    def __init__(self, template: Template, root: int, texts: list[tuple[int, list[int]]], ignored: list[frozenset[int]],
                 lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.texts, self.ignored = texts, ignored
        used = {number for _, numbers in texts for number in numbers}.union(*ignored)
        firsts = {number: _first(lexicon.languages[number]) for number in used}
        debts = {ranges for number in used for end in lexicon.languages[number].ends for debt in end
                 for ranges in _first(lexicon.debts[debt])}
        sets = {LINE_FEED, *debts, *(ranges for found in firsts.values() for ranges in found)}
        self.partition = partition_of(sets)
        self.masks = {number: self._mask(found) for number, found in firsts.items()}
        self.passed = [self._any(numbers) for numbers in ignored]
        #: What each text begins with, and whether it may be empty.
        self.begins = [(self.passed[skipped] | self._any(numbers),
                        not numbers or any(lexicon.languages[n].ends[0] for n in numbers)) for skipped, numbers in texts]
        self.after = [0] * len(texts)
        self._run(template, root)

    def _mask(self, sets: list[Ranges]) -> int:
        found = 0
        for ranges in sets:
            found |= self.partition.masks[ranges]
        return found

    def _any(self, numbers: list[int] | frozenset[int]) -> int:
        found = 0
        for number in numbers:
            found |= self.masks[number]
        return found

    def _run(self, template: Template, root: int) -> None:
        feed = self.partition.masks[LINE_FEED]
        rules = {n: [[part for symbol in one for part in _parts(symbol)] for one in options]
                 for n, options in enumerate(template.alternatives) if options}
        first = dict.fromkeys(rules, 0)
        empty: set[int] = set()

        def begin(part: int | None) -> tuple[int, bool]:
            if part is None:
                return feed, False
            return self.begins[~part] if part < 0 else (first.get(part, 0), part in empty)

        changed = True
        while changed:
            changed = False
            for n, options in rules.items():
                mask, nullable = first[n], n in empty
                for one in options:
                    for part in one:
                        more, may_be_empty = begin(part)
                        mask |= more
                        if not may_be_empty:
                            break
                    else:
                        nullable = True
                if mask != first[n] or nullable != (n in empty):
                    changed = True
                    first[n] = mask
                    if nullable:
                        empty.add(n)
        follow = dict.fromkeys(rules, 0)
        changed = True
        while changed:
            changed = False
            for n, options in rules.items():
                for one in options:
                    rest = follow[n]
                    for part in reversed(one):
                        if part is not None and part < 0:
                            self.after[~part] |= rest
                        elif part is not None and part in follow and rest | follow[part] != follow[part]:
                            follow[part] |= rest
                            changed = True
                        more, may_be_empty = begin(part)
                        rest = rest | more if may_be_empty else more

    # -- what is left of the debts -----------------------------------------------------------------------------

    def text(self, t: int, number: int) -> Expr:
        """The IR of a language that text ``t`` reads."""
        return self._expression(number, self.after[t])

    def skipped(self, i: int) -> list[Expr]:
        """The IR of what is ignored under number ``i``: each of its languages, to be repeated."""
        bodies = 0
        for t, (skipped, numbers) in enumerate(self.texts):
            if skipped == i:
                bodies |= self._any(numbers) | (self.after[t] if not numbers else 0)
        found: list[Expr] = []
        for number in sorted(self.ignored[i]):
            others = self._any([other for other in self.ignored[i] if other != number])
            run = self._run_of(number)
            if run is not None and not self.partition.masks[run] & (bodies | others):
                found.append(CharClass(run))  # its repetition reads just as far
            else:
                found.append(self._expression(number, bodies | self.passed[i]))
        return found

    def _run_of(self, number: int) -> Ranges | None:
        """The characters of a language that is as long a run of them as there is."""
        language = self.lexicon.languages[number]
        if len(language.rows) != 2 or language.ends[0] or len(language.ends[1]) != 1:
            return None
        (debt,) = language.ends[1]
        watched = self.lexicon.debts[debt]
        reads = _reading(language, 0)
        if not debt or len(reads) != 1 or reads != _reading(language, 1) or _reading(watched, 0) != reads:
            return None
        return reads[0] if watched.ends[0] == frozenset() and len(watched.rows) == 2 and watched.ends[1] == _BROKEN else None

    def _expression(self, number: int, allowed: int) -> Expr:
        return self.lexicon.expression(number, self._pruner(allowed))

    def _pruner(self, allowed: int) -> Callable[[int], int]:
        def prune(debt: int) -> int:
            language = self.lexicon.debts[debt]
            row = tuple([target + 1 if target != DEAD and self.partition.masks.get(ranges, -1) & allowed else DEAD
                         for ranges, target in zip(language.classes, language.rows[0], strict=True)])
            rows = [tuple([target + 1 if target != DEAD else DEAD for target in one]) for one in language.rows]
            return self.lexicon.debt_number(Language(language.classes, (row, *rows), (language.ends[0], *language.ends)))

        return prune


def _first(language: Language) -> list[Ranges]:
    return _reading(language, 0)


def _reading(language: Language, state: int) -> list[Ranges]:
    return [ranges for ranges, target in zip(language.classes, language.rows[state], strict=True) if target != DEAD]


def _parts(symbol: Symbol) -> list[int | None]:
    """A symbol as numbers; None for the line feed that a line begins with."""
    if type(symbol) is int:
        return [symbol]
    if symbol[0] == "line":
        return [None]
    return [int(symbol[1])] if symbol[0] == "at" else [None, int(symbol[1])]
