"""Conditions that can never be broken where they stand are left out.

A lexer's condition (a debt) is worked out for any text that follows; a grammar lets few characters follow. FIRST and
FOLLOW of the rules (A. Aho, R. Sethi, J. Ullman, Compilers, 4.4), over characters instead of tokens, tell which: a debt
keeps only the branches that begin with one of them. So ``]`` needs no condition at all, a name is no longer watched for
the string it might have been the prefix of, and spaces are ``[ \\t]*``.

FOLLOW is a set of languages here (a bit mask); a debt is walked side by side with each of them. Cost: linear in the
rules for each of a few rounds, and a small product of automata for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from constrained.grammar.ir import CharClass, Expr
from constrained.regex.charset import ANY, Ranges, complement, intersection, normalise, subtract, union
from constrained.regex.dfa import DEAD
from constrained.regex.partition import partition_of

from .indentation import LINE_FEED
from .lexing import Language, Lexicon
from .rules import Symbol, Template

__all__ = ["Follow"]

_BROKEN = frozenset((1,))
#: The language of what is no terminal: any text.
ANYTHING = -1
BEYOND: Ranges = ((0x80, 0x10FFFF),)


class Follow:
    """What may come after each text of a template.

    ``texts[t]``: (number of what is ignored before, languages read). ``ignored[i]``: languages that are ignored. Of the
    bit masks of languages the last bit is a line of an indenter, which begins with a line feed.
    """

    def __init__(self, template: Template, root: int, texts: list[tuple[int, list[int]]], ignored: list[frozenset[int]],
                 lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.texts, self.ignored = texts, ignored
        self.originals = len(lexicon.debts)
        self.line = 1 << len(lexicon.languages)
        self.anything = self.line << 1
        self.passed = [self._bits(numbers) for numbers in ignored]
        #: What each text begins with, and whether it may be empty.
        self.begins = [(self.passed[skipped] | self._bits(numbers),
                        not numbers or any(n == ANYTHING or lexicon.languages[n].ends[0] for n in numbers))
                       for skipped, numbers in texts]
        self.after = [0] * len(texts)
        # What languages and debts begin with, as bit masks over one partition.
        known = [_reading(one, 0) for one in (*lexicon.languages, *lexicon.debts)]
        self.partition = partition_of([LINE_FEED, *(ranges for found in known for ranges in found)])
        masks = [self._mask(found) for found in known]
        self.heads, self.debt_heads = masks[: len(lexicon.languages)], masks[len(lexicon.languages) :]
        self.sets: dict[int, Ranges] = {}
        self.breaks: dict[tuple[int, int], Ranges] = {}
        self.pruned: dict[tuple[int, int], int] = {}
        self._run(template, root)

    def _bits(self, numbers: Iterable[int]) -> int:
        found = 0
        for number in numbers:
            found |= self.anything if number == ANYTHING else 1 << number
        return found

    def _run(self, template: Template, root: int) -> None:
        rules = {n: [[part for symbol in one for part in _parts(symbol)] for one in options]
                 for n, options in enumerate(template.alternatives) if options}
        first = dict.fromkeys(rules, 0)
        empty: set[int] = set()

        def begin(part: int | None) -> tuple[int, bool]:
            if part is None:
                return self.line, False
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
                bodies |= self._bits(numbers) | (self.after[t] if not numbers else 0)
        found: list[Expr] = []
        for number in sorted(self.ignored[i]):
            others = bodies | self.passed[i] & ~(1 << number)
            run = self._run_of(number)
            if run is not None and not intersection(run, self._chars(others)):
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
        plain = not watched.ends[0] and len(watched.rows) == 2 and watched.ends[1] == _BROKEN
        return reads[0] if plain else None

    def _expression(self, number: int, allowed: int) -> Expr:
        return self.lexicon.expression(number, self._pruner(allowed))

    def _chars(self, languages: int) -> Ranges:
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

    def _pruner(self, allowed: int) -> Callable[[int], int]:
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
            found.extend(pair for ranges in _reading(language, 0) for pair in intersection(ranges, LINE_FEED))
        breaking = normalise(found)
        if not breaking:
            return 0
        possible = self._chars(allowed)
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
        joint = partition_of([*left.classes, *right.classes])
        homes = []
        for language in (left, right):
            home = [0] * len(joint.classes)
            for index, ranges in enumerate(language.classes):
                for letter in range(len(joint.classes)):
                    if joint.masks[ranges] >> letter & 1:
                        home[letter] = index
            homes.append(home)
        moves = list(dict.fromkeys(zip(*homes, strict=True)))
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
        first = [pair for letter, ranges in enumerate(joint.classes) for pair in ranges
                 if (left.rows[0][homes[0][letter]], right.rows[0][homes[1][letter]]) in bad]
        found = self.breaks[debt, number] = normalise(first)
        return found


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


def _reading(language: Language, state: int) -> list[Ranges]:
    return [ranges for ranges, target in zip(language.classes, language.rows[state], strict=True) if target != DEAD]


def _parts(symbol: Symbol) -> list[int | None]:
    """A symbol as numbers; None for the line feed that a line begins with."""
    if type(symbol) is int:
        return [symbol]
    if symbol[0] == "line":
        return [None]
    return [int(symbol[1])] if symbol[0] == "at" else [None, int(symbol[1])]
