"""Conditions that can never be broken where they stand are left out.

A lexer's condition (a debt) is worked out for any text that follows; a grammar lets few characters follow. FIRST and
FOLLOW of the rules (A. Aho, R. Sethi, J. Ullman, Compilers, 4.4), over languages instead of tokens, tell which, and
``pruning`` what is left of the debt. So ``]`` needs no condition at all, a name is no longer watched for
the string it might have been the prefix of, and spaces are ``[ \\t]*``.

FOLLOW is a set of languages here (a bit mask); a debt is walked side by side with each of them. Cost: linear in the
rules for each of a few rounds, and a small product of automata for each pair.
"""

from __future__ import annotations

from constrained.grammar.ir import CharClass, Expr
from constrained.regex.charset import Ranges, intersection

from .lexing import Lexicon
from .pruning import ANYTHING, Pruner, reading
from .rules import Symbol, Template

__all__ = ["Follow"]

_BROKEN = frozenset((1,))


class Follow:
    """What may come after each text of a template.

    ``texts[t]``: (number of what is ignored before, languages read). ``ignored[i]``: languages that are ignored. Of the
    bit masks of languages the last bit is a line of an indenter, which begins with a line feed.
    """

    def __init__(self, template: Template, root: int, texts: list[tuple[int, list[int]]], ignored: list[frozenset[int]],
                 lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.texts, self.ignored = texts, ignored
        self.pruner = Pruner(lexicon)
        self.passed = [self.pruner.bits(numbers) for numbers in ignored]
        #: What each text begins with, and whether it may be empty.
        self.begins = [(self.passed[skipped] | self.pruner.bits(numbers),
                        not numbers or any(n == ANYTHING or lexicon.languages[n].ends[0] for n in numbers))
                       for skipped, numbers in texts]
        self.after = [0] * len(texts)
        self._run(template, root)

    def _run(self, template: Template, root: int) -> None:
        rules = {n: [[part for symbol in one for part in _parts(symbol)] for one in options]
                 for n, options in enumerate(template.alternatives) if options}
        first = dict.fromkeys(rules, 0)
        empty: set[int] = set()

        def begin(part: int | None) -> tuple[int, bool]:
            if part is None:
                return self.pruner.line, False
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
                bodies |= self.pruner.bits(numbers) | (self.after[t] if not numbers else 0)
        found: list[Expr] = []
        for number in sorted(self.ignored[i]):
            others = bodies | self.passed[i] & ~(1 << number)
            run = self._run_of(number)
            if run is not None and not intersection(run, self.pruner.chars(others)):
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
        reads = reading(language, 0)
        if not debt or len(reads) != 1 or reads != reading(language, 1) or reading(watched, 0) != reads:
            return None
        plain = not watched.ends[0] and len(watched.rows) == 2 and watched.ends[1] == _BROKEN
        return reads[0] if plain else None

    def _expression(self, number: int, allowed: int) -> Expr:
        return self.lexicon.expression(number, self.pruner.pruner(allowed))


def _parts(symbol: Symbol) -> list[int | None]:
    """A symbol as numbers; None for the line feed that a line begins with."""
    if type(symbol) is int:
        return [symbol]
    if symbol[0] == "line":
        return [None]
    return [int(symbol[1])] if symbol[0] == "at" else [None, int(symbol[1])]
