r"""lark's ``Indenter`` without its stack: what the rules must know about columns and brackets.

The indenter looks at the last line of each newline token: deeper than the block, it opens one (``_INDENT``), less deep,
it closes blocks (``_DEDENT``) until one stands in that very column; inside brackets it drops the token. Here the
newline token is cut before its last line feed into a *head* and a *line*. The line is read by whom it concerns: the
token that goes on in the same block reads exactly the block's column, ``_INDENT`` reads more and so gives the new
block its column, ``_DEDENT`` reads nothing and leaves the line to the block outside. At the end of the text open
blocks end by themselves.

So a grammar can be written with one number for each block, which is exact up to ``Limits.max_indentation`` columns. It
needs blocks and brackets that open and close in one production, in order: other grammars are refused by name.

Data: a line is (language of the newline token, state of it behind a line feed), numbered from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from constrained.errors import ConstrainedError
from constrained.regex.dfa import DEAD
from constrained.regex.partition import partition_of

from .lexing import Language, Lexicon
from .load import Loaded, Production, fail

__all__ = ["AT_END", "READ", "Indentation", "indentation_of"]

#: Modes of a context besides the numbers of lines: no line is to be read; the text has ended.
READ = 0
AT_END = -1
LINE_FEED, SPACE, TAB = ((10, 10),), ((32, 32),), ((9, 9),)


@dataclass(slots=True, eq=False)
class Indentation:
    """The names an indenter goes by, and what is worked out about a grammar."""

    newline: str
    indent: str
    dedent: str
    opening: frozenset[str]
    closing: frozenset[str]
    tab: int
    lexicon: Lexicon | None = None
    views: dict[int, Language] = field(default_factory=dict)
    lines: list[tuple[int, int]] = field(default_factory=list)
    _shapes: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)
    _needs: set[tuple[str, bool]] = field(default_factory=set)
    _ends: set[str] = field(default_factory=set)
    _nullable: set[str] = field(default_factory=set)
    _rules: set[str] = field(default_factory=set)

    # -- lines ------------------------------------------------------------------------------------------------

    def learn(self, number: int) -> None:
        """Takes a language of the newline token: its classes are cut at line feed, space and tab."""
        if number in self.views:
            return
        assert self.lexicon is not None
        language = self.lexicon.languages[number]
        joint = partition_of([*language.classes, LINE_FEED, SPACE, TAB])
        home = [0] * len(joint.classes)
        for index, ranges in enumerate(language.classes):
            for letter in range(len(joint.classes)):
                if joint.masks[ranges] >> letter & 1:
                    home[letter] = index
        rows = tuple([tuple([row[index] for index in home]) for row in language.rows])
        self.views[number] = Language(joint.classes, rows, language.ends)
        feed = joint.classes.index(LINE_FEED)
        for state in sorted({row[feed] for row in rows} - {DEAD}):
            self.lines.append((number, state))

    def line_numbers(self) -> tuple[int, ...]:
        return tuple(range(1, len(self.lines) + 1))

    def lines_of(self, number: int) -> list[int]:
        """The lines that a newline token read as language ``number`` may end with."""
        return [i + 1 for i, (language, _) in enumerate(self.lines) if language == number]

    # -- shapes of rules --------------------------------------------------------------------------------------

    def check(self, productions: Iterable[Production], loaded: Loaded, nullable: set[str]) -> None:
        """Works out depth and brackets at each symbol. Raises Unsupported where they do not balance."""
        productions = list(productions)
        self._nullable, self._rules = nullable, set(loaded.by_origin)
        for one in productions:
            depths, brackets = [0], [0]
            for symbol in one.symbols:
                depths.append(depths[-1] + (symbol == self.indent) - (symbol == self.dedent))
                brackets.append(brackets[-1] + (symbol in self.opening) - (symbol in self.closing))
            if min(depths) < 0 or depths[-1] or min(brackets) < 0 or brackets[-1]:
                what = "blocks" if min(depths) < 0 or depths[-1] else "brackets"
                name = one.origin if not one.origin.startswith("__") else one.origin.strip("_").rsplit("_", 2)[0]
                fail(loaded.source, name, f"rule {name}: {what} of the indenter must open and close within one "
                                          "alternative", unsupported=True)
            self._shapes[one.number] = (depths, brackets)
        changed = True
        while changed:
            before = len(self._needs) + len(self._ends)
            for one in productions:
                if self._may_end(one):
                    self._ends.add(one.origin)
                for pending in (False, True):
                    if self.live(one, 0, pending)[0]:
                        self._needs.add((one.origin, pending))
            changed = len(self._needs) + len(self._ends) > before

    def _may_end(self, production: Production) -> bool:
        """Whether a production may leave a line to be read."""
        for symbol in reversed(production.symbols):
            if symbol in (self.newline, self.dedent) or symbol in self._ends:
                return True
            if symbol not in self._nullable:
                return False
        return False

    def bracketed(self, production: Production, i: int) -> bool:
        """Whether symbol ``i`` stands within brackets of its production."""
        return self._shapes[production.number][1][i] > 0

    def needs(self, symbol: str, pending: bool) -> bool:
        """Whether its column matters to a nonterminal, that begins with a line to be read or not."""
        return (symbol, pending) in self._needs

    def live(self, production: Production, i: int, pending: bool) -> tuple[bool, ...]:
        """For each block open at symbol ``i``, the outermost first: whether its column still matters."""
        depths = self._shapes[production.number][0]
        found = [False] * (depths[i] + 1)
        base = len(found)
        for at in range(i, len(production.symbols)):
            symbol, level = production.symbols[at], depths[at]
            if symbol == self.dedent:  # the text may end on a line of this block
                needed, pending = pending, True
            elif symbol in self._rules:
                needed = (symbol, pending) in self._needs
                pending = symbol in self._ends or (symbol in self._nullable and pending)
            else:
                needed = pending or symbol == self.indent
                pending = symbol == self.newline
            if needed and level < base:
                found[level] = True
            base = min(base, level + 1) if level < base else base
        return tuple(found)


def indentation_of(postlex: Any) -> Indentation:
    """What a post-lexer says, if it is an ``Indenter`` that changes nothing of how one works.

    Raises ConstrainedError for any other post-lexer, by its name.
    """
    from lark.indenter import Indenter

    name = type(postlex).__name__
    if not isinstance(postlex, Indenter):
        raise ConstrainedError(f"the post-lexer {name} is not supported: only lark's Indenter is",
                               hint="derive it from lark.indenter.Indenter")
    changed = [method for method in ("handle_NL", "_process", "process", "always_accept")
               if getattr(type(postlex), method) is not getattr(Indenter, method)]
    if changed:
        raise ConstrainedError(f"the post-lexer {name} overrides {', '.join(changed)}, which is not supported",
                               hint="an Indenter may only set its names and tab_len")
    return Indentation(postlex.NL_type, postlex.INDENT_type, postlex.DEDENT_type,
                       frozenset(postlex.OPEN_PAREN_types), frozenset(postlex.CLOSE_PAREN_types), int(postlex.tab_len))
