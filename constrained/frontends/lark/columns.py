"""Rules with columns as variables, written out for each column that is reached, up to ``Limits.max_indentation``.

A nonterminal of the template becomes one for each tuple of columns it is called with, starting from column 0: only what
depends on a column is copied. Opening a block in column n reads a line until it is deeper than n, then column by
column: in each the block may begin, so all columns share what they have in common. Cost: a few us a copied symbol.
"""

from __future__ import annotations

from collections.abc import Callable

from constrained.grammar.ir import CharClass, Choice, Expr, Reference, Sequence
from constrained.kernel.nodes import dfa_of_block
from constrained.kernel.spelling import Spelling
from constrained.limits import Limits
from constrained.regex.dfa import DEAD, Dfa, trimmed
from constrained.regex.utf8 import utf8_spelling

from .indentation import LINE_FEED, SPACE, TAB, Indentation
from .lexing import Language, Lexicon, text_expression
from .rules import Automaton, Sketch, Symbol, Template

__all__ = ["expand", "head_of"]

#: The state before a line feed.
BEFORE = -1


class _Expansion:
    def __init__(self, template: Template, graphs: dict[int, Automaton], indentation: Indentation, lexicon: Lexicon,
                 texts: list[Expr], limits: Limits, named: Callable[[str, Expr], Reference]) -> None:
        self.template, self.graphs, self.indentation, self.lexicon = template, graphs, indentation, lexicon
        self.texts = texts
        self.named = named
        self.most = limits.max_indentation
        self.limits = limits
        self.sketch = Sketch()
        self.copies: dict[tuple[int, tuple[int, ...]], int] = {}
        self.agenda: list[tuple[int, int, tuple[int, ...]]] = []
        self.lines: dict[tuple[int, int], int | None] = {}
        self.openings: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.blocks: dict[tuple[object, ...], int] = {}
        self.notes: dict[int, int] = {}
        self.spellings: dict[int, Spelling] = {}
        self.letters: dict[tuple[tuple[int, int], ...], int] = {}

    def new_text(self, expression: Expr) -> int:
        self.texts.append(expression)
        return ~(len(self.texts) - 1)

    def copy(self, n: int, columns: tuple[int, ...]) -> int:
        found = self.copies.get((n, columns))
        if found is None:
            name = self.template.names[n] + "".join(f"@{column}" for column in columns)
            found = self.copies[n, columns] = self.sketch.new(name)
            if n in self.template.captures:
                self.sketch.captures[found] = self.template.captures[n]
            self.agenda.append((found, n, columns))
        return found

    def run(self, root: int) -> int:
        top = self.copy(root, ())
        while self.agenda:
            number, n, columns = self.agenda.pop()
            rows = [[(here, to) for symbol, to in row.items() if (here := self.symbol(symbol, columns)) is not None]
                    for row in self.graphs[n].edges]
            self.sketch.graphs[number] = (rows, self.graphs[n].accepting)
        return top

    def symbol(self, symbol: Symbol, columns: tuple[int, ...]) -> int | None:
        if type(symbol) is int:
            return symbol if symbol < 0 else self.copy(symbol, ())
        what = symbol[0]
        if what == "at":
            return self.copy(symbol[1], tuple([_column(columns, slot) for slot in symbol[2]]))
        if what == "line":
            return self.line(symbol[1], _column(columns, symbol[2]))
        _, target, slots, line, top, passes = symbol
        return self.opening(line, _column(columns, top), target,
                            tuple([_column(columns, slot) for slot in slots]), passes)

    # -- lines ------------------------------------------------------------------------------------------------

    def _view(self, line: int) -> tuple[Language, int]:
        number, state = self.indentation.lines[line - 1]
        return self.indentation.views[number], state

    def _width(self, view: Language, letter: int) -> int:
        ranges = view.classes[letter]
        return 1 if ranges == SPACE else self.indentation.tab if ranges == TAB else 0

    def _walk(self, line: int, deepest: int) -> tuple[Language, list[tuple[int, int]], list[tuple[int, ...]]]:
        """The line feed and the line while its column is at most ``deepest``: (state, column) and rows, the first of
        them before the line feed; deeper ones are states without rows."""
        view, start = self._view(line)
        number = {(start, 0): 1}
        order = [(BEFORE, -1), (start, 0)]
        rows: list[tuple[int, ...]] = [tuple([1 if one == LINE_FEED else DEAD for one in view.classes])]
        for state, column in order:
            if state == BEFORE:
                continue
            row: list[int] = []
            for letter, target in enumerate(view.rows[state]):
                if target == DEAD or view.classes[letter] == LINE_FEED or column > deepest:
                    row.append(DEAD)
                    continue
                pair = (target, column + self._width(view, letter))
                if pair not in number:
                    number[pair] = len(order)
                    order.append(pair)
                row.append(number[pair])
            rows.append(tuple(row))
        return view, order, rows

    def line(self, line: int, column: int) -> int | None:
        """The text of a line in just this column; None if there is none."""
        key = (line, column)
        if key not in self.lines:
            view, order, rows = self._walk(line, column)
            options: list[Expr] = []
            ends = [view.ends[state] if at == column else frozenset() for state, at in order]
            for debt in sorted(frozenset[int]().union(*ends)):
                accepting = frozenset(i for i, end in enumerate(ends) if debt in end)
                text = self.written(line, trimmed(Dfa(view.classes, tuple(rows), accepting)))
                options.append(text if debt == 0 else Sequence((text, self.lexicon.note(debt))))
            self.lines[key] = None if not options else self.new_text(self.named(
                f"LINE@{column}", options[0] if len(options) == 1 else Choice(tuple(options))))
        return self.lines[key]

    def opening(self, line: int, column: int, target: int, columns: tuple[int, ...], passes: bool) -> int:
        """The line that opens a block deeper than ``column``, then ``target`` with the block's column."""
        key = ("open", line, column, target, columns, passes)
        found = self.blocks.get(key)
        if found is None:
            found = self.blocks[key] = self._block()
            view, _ = self._view(line)
            for text, state, deeper in self._first(line, column):
                inside = self.inside(line, state, deeper, target, columns, passes)
                self.sketch.alternatives[found] += [(text, inside), *self._begun(text, view, state, deeper, target,
                                                                                 columns, passes)]
        return found

    def _block(self) -> int:
        number = self.sketch.new("INDENT")
        self.sketch.alternatives[number] = []
        return number

    def _begun(self, text: int, view: Language, state: int, column: int, target: int, columns: tuple[int, ...],
               passes: bool) -> list[tuple[int, ...]]:
        """The block begins in this very column: for each debt of the line."""
        return [(text, *self._note(debt), self.copy(target, (*columns, column) if passes else columns))
                for debt in view.ends[state] if not self._ends_text(debt)]

    def written(self, line: int, dfa: Dfa) -> Expr:
        """The IR of an automaton over a line's classes, whose spelling in bytes is worked out once."""
        number, _ = self.indentation.lines[line - 1]
        if number not in self.spellings:
            self.spellings[number] = utf8_spelling(dfa.classes)
        return dfa_of_block(dfa.to_block(self.spellings[number], self.limits), dfa.accepting)

    def _first(self, line: int, column: int) -> list[tuple[int, int, int]]:
        """The ways to get deeper than ``column``: (text, state of the line, its column)."""
        key = (line, column)
        if key not in self.openings:
            view, order, rows = self._walk(line, column)
            self.openings[key] = []
            for i, (state, deeper) in enumerate(order):
                if column < deeper <= self.most and self._goes_on(view, state):
                    dfa = trimmed(Dfa(view.classes, tuple(rows), frozenset((i,))))
                    text = self.named(f"LINE@{column}+{deeper - column}", self.written(line, dfa))
                    self.openings[key].append((self.new_text(text), state, deeper))
        return self.openings[key]

    def inside(self, line: int, state: int, column: int, target: int, columns: tuple[int, ...], passes: bool) -> int:
        """From a place within the line: the block begins further on."""
        first = ("in", line, state, column, target, columns, passes)
        pending = [] if first in self.blocks else [(state, column)]
        if pending:
            self.blocks[first] = self._block()
        while pending:
            at, here = pending.pop()
            number = self.blocks["in", line, at, here, target, columns, passes]
            view, _ = self._view(line)
            moves: dict[tuple[int, int], list[tuple[int, int]]] = {}
            for letter, to in enumerate(view.rows[at]):
                deeper = here + self._width(view, letter)
                if to != DEAD and view.classes[letter] != LINE_FEED and deeper <= self.most and self._goes_on(view, to):
                    moves.setdefault((to, deeper), []).extend(view.classes[letter])
            for (to, deeper), ranges in moves.items():
                key = ("in", line, to, deeper, target, columns, passes)
                if key not in self.blocks:
                    self.blocks[key] = self._block()
                    pending.append((to, deeper))
                letters = self._letter(tuple(sorted(ranges)))
                self.sketch.alternatives[number] += [(letters, self.blocks[key]),
                                                     *self._begun(letters, view, to, deeper, target, columns, passes)]
        return self.blocks[first]

    def _goes_on(self, view: Language, state: int) -> bool:
        """Whether some end can be reached on this line from which the text may go on."""
        seen, stack = {state}, [state]
        while stack:
            at = stack.pop()
            if any(not self._ends_text(debt) for debt in view.ends[at]):
                return True
            for letter, to in enumerate(view.rows[at]):
                if to != DEAD and view.classes[letter] != LINE_FEED and to not in seen:
                    seen.add(to)
                    stack.append(to)
        return False

    def _ends_text(self, debt: int) -> bool:
        """Whether a debt lets nothing follow: then no block can begin behind it."""
        language = self.lexicon.debts[debt]
        return debt != 0 and all(to != DEAD and language.ends[to] == frozenset((1,)) for to in language.rows[0])

    def _note(self, debt: int) -> tuple[int, ...]:
        if debt == 0:
            return ()
        if debt not in self.notes:
            self.notes[debt] = self.new_text(self.lexicon.note(debt))
        return (self.notes[debt],)

    def _letter(self, ranges: tuple[tuple[int, int], ...]) -> int:
        if ranges not in self.letters:
            self.letters[ranges] = self.new_text(CharClass(ranges))
        return self.letters[ranges]


def _column(columns: tuple[int, ...], slot: int) -> int:
    return 0 if slot < 0 else columns[slot]


def expand(template: Template, graphs: dict[int, Automaton], root: int, indentation: Indentation, lexicon: Lexicon,
           texts: list[Expr], limits: Limits, named: Callable[[str, Expr], Reference]) -> tuple[Sketch, int]:
    """The automata of a template for each column; ``texts`` grows by what lines read, each a rule that ``named``
    writes."""
    work = _Expansion(template, graphs, indentation, lexicon, texts, limits, named)
    top = work.run(root)
    return work.sketch, top


def head_of(indentation: Indentation, line: int, limits: Limits) -> Expr:
    """A newline token up to the line feed before line number ``line``."""
    number, state = indentation.lines[line - 1]
    view = indentation.views[number]
    feed = view.classes.index(LINE_FEED)
    accepting = frozenset(i for i, row in enumerate(view.rows) if row[feed] == state)
    return text_expression(trimmed(Dfa(view.classes, view.rows, accepting)), limits)
