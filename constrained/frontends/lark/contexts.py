"""Rules annotated with what lark's lexer and its conflict-free table know: lexer mode.

What a terminal reads depends on the parser's state after the *last* token, however far back in the tree that token is.
So a nonterminal is copied by what matters of three things:

* the state q it starts in: it decides every state inside it (goto is a function). Starts that lead to equal contexts
  everywhere are one *block*: found by partition refinement over the transitions of the table;
* the context c it starts with: how its possible first terminals are read there;
* the contexts it may end with (``demand``), cut only as finely as what follows it tells them apart.

A *context* is (class of the state after the last token, terminals barred from coming next). States whose lexers read
every terminal that both try in the same way are one class. Where the table resolves a conflict by not reducing, the
look-aheads concerned are barred after that reduction: then the rules derive exactly what lark's parser accepts.

The end of the text is a terminal, ``$END``, with the empty text, after what is ignored there.

With an indenter (``indentation``) a context also says whether the indentation of a new line is still to be read
(``mode``): lark's newline token is cut behind its last line feed, and what stands before the next token is read by the
block whose column it is. So a block knows one number, its column, and closing blocks takes no text. The column stays a
variable here: a symbol is a number, or a tuple (``Symbol``) that says which columns go where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .indentation import AT_END, READ, Indentation
from .lexing import Lexicon
from .load import END, Loaded, Production, Table
from .pruning import after_terminals
from .rules import Alternative, Symbol, Template

__all__ = ["Annotated", "annotate"]

#: (number of what is ignored before it, what it reads, line): a number of the lexicon, -1 for END, below it what is
#: declared; ``line`` is the number of a newline's last line, else 0.
Reading = tuple[int, int, int]
Barred = frozenset[str]
FREE: Barred = frozenset()
#: (class of the last state, terminals that may not come next, mode: READ, AT_END or the number of a pending line).
Context = tuple[int, Barred, int]
Key = tuple[int, tuple[tuple[int, int] | None, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Transitions (state, symbol) of one block, by a representative."""

    number: int
    symbol: str
    state: int


class _Annotator:
    def __init__(self, loaded: Loaded, lexicon: Lexicon, indentation: Indentation | None) -> None:
        assert loaded.table is not None
        self.loaded, self.lexicon, self.indentation = loaded, lexicon, indentation
        self.special = frozenset() if indentation is None else frozenset((indentation.indent, indentation.dedent))
        self.newline = None if indentation is None else indentation.newline
        self.table: Table = loaded.table
        self.rules = loaded.by_origin
        self.ignored_sets: list[frozenset[int]] = []
        self.nullable = _nullable(loaded)
        self.firsts = _firsts(loaded, self.nullable)
        self.class_of, self.readings = self._classes()
        self.blocks: dict[tuple[int, str], _Block] = {}
        self._partition()
        self.empties = self._empties()
        self.ends = self._ends()
        if indentation is not None:
            indentation.check({one.number: one for paths in self.paths.values() for one, _ in paths}.values(),
                              loaded, self.nullable)
        self.sketch = Template()
        self.captures: Mapping[str, str] = {}
        self.texts: dict[Reading, int] = {}
        self._instances: dict[tuple[int, Key, frozenset[Context], bool], int] = {}
        self._keys: dict[tuple[tuple[str, ...], Context, bool], Key] = {}
        self._items: dict[tuple[object, ...], int] = {}
        self._agenda: list[tuple[int, _Block, Context, frozenset[Context], bool]] = []
        self._suffix_firsts: dict[tuple[int, int], tuple[str, ...]] = {}

    # -- classes of states ------------------------------------------------------------------------------------

    def _classes(self) -> tuple[list[int], list[dict[str, tuple[int, int] | None]]]:
        """Each state's class, and what is read in each class: states that never disagree are joined, greedily."""
        ignored_ids: dict[frozenset[int], int] = {}
        profiles: dict[frozenset[str], dict[str, tuple[int, int] | None]] = {}
        languages = after_terminals(self.loaded, self.lexicon)
        for scanned in self.table.scanned:
            if scanned in profiles:
                continue
            found = self.lexicon.scanner(scanned)
            ignored = ignored_ids.setdefault(found.ignored, len(ignored_ids))
            # What is tried and never found (others come first) is not the same as what is not tried at all.
            profile: dict[str, tuple[int, int] | None] = dict.fromkeys(scanned)
            profile.update((name, (ignored, languages[name, number])) for name, number in found.tokens.items())
            for i, name in enumerate(sorted(self.loaded.declared)):
                profile[name] = (ignored, -2 - i)
            profile[END] = (ignored, -1)
            profiles[scanned] = profile
        classes: list[dict[str, tuple[int, int] | None]] = []
        members: dict[frozenset[str], int] = {}
        for scanned, profile in sorted(profiles.items(), key=lambda pair: (-len(pair[1]), sorted(pair[0]))):
            for joined in classes:
                if all(joined.get(name, reading) == reading for name, reading in profile.items()):
                    joined.update(profile)
                    break
            else:
                joined = dict(profile)
                classes.append(joined)
            members[scanned] = next(i for i, one in enumerate(classes) if one is joined)
        # Inside brackets an indenter drops newlines: they are ignored there.
        self.inner: list[dict[int, int]] = []
        for one in classes:
            line = one.get(self.newline) if self.newline else None
            self.inner.append({ignored: ignored if line is None else
                               ignored_ids.setdefault(skipped | {line[1]}, len(ignored_ids))
                               for skipped, ignored in list(ignored_ids.items())})
            if line is not None and self.indentation is not None:
                self.indentation.learn(line[1])
        self.ignored_sets = list(ignored_ids)
        return [members[scanned] for scanned in self.table.scanned], classes

    # -- blocks -----------------------------------------------------------------------------------------------

    def _partition(self) -> None:
        """The coarsest cut of the transitions that keeps apart what has different contexts inside."""
        goto, rules = self.table.goto, self.rules
        seen: dict[tuple[int, str], list[tuple[Production, tuple[int, ...]]]] = {}
        stack = [(self.table.start, self.loaded.start)]
        while stack:
            pair = stack.pop()
            if pair in seen:
                continue
            paths = seen[pair] = []
            for production in rules[pair[1]]:
                steps = [pair[0]]
                for symbol in production.symbols:
                    if symbol in rules:
                        stack.append((steps[-1], symbol))
                    steps.append(goto[steps[-1]][symbol])
                paths.append((production, tuple(steps)))
        block: dict[tuple[int, str], int] = dict.fromkeys(seen, 0)
        fixed: dict[tuple[int, str], tuple[object, ...]] = {}
        calls: dict[tuple[int, str], list[tuple[int, str]]] = {}
        for pair, paths in seen.items():
            parts: list[object] = [pair[1]]
            inner: list[tuple[int, str]] = []
            for production, path in paths:
                for i, symbol in enumerate(production.symbols):
                    if symbol in rules:
                        inner.append((path[i], symbol))
                    else:
                        parts.append(self.class_of[path[i + 1]])
                parts.append(self.table.barred.get((path[-1], production.number), FREE))
            fixed[pair], calls[pair] = tuple(parts), inner
        count = 0
        while True:
            known: dict[tuple[object, ...], int] = {}
            block = {pair: known.setdefault((fixed[pair], *[block[one] for one in calls[pair]]), len(known))
                     for pair in seen}
            if len(known) == count:
                break
            count = len(known)
        made: dict[int, _Block] = {}
        for pair, number in block.items():
            if number not in made:
                made[number] = _Block(number, pair[1], pair[0])
            self.blocks[pair] = made[number]
        self.paths = {made[block[pair]]: paths for pair, paths in seen.items()
                      if made[block[pair]].state == pair[0]}

    def _inner(self, production: Production, path: tuple[int, ...], i: int) -> _Block | None:
        symbol = production.symbols[i]
        return self.blocks[path[i], symbol] if symbol in self.rules else None

    def _barred(self, production: Production, path: tuple[int, ...]) -> Barred:
        return self.table.barred.get((path[-1], production.number), FREE)

    def _empties(self) -> dict[_Block, frozenset[Barred]]:
        """What each block bars after deriving the empty text, for every way to do so."""
        found: dict[_Block, set[Barred]] = {one: set() for one in self.paths if one.symbol in self.nullable}
        changed = True
        while changed:
            changed = False
            for block, ways in found.items():
                for production, path in self.paths[block]:
                    if any(symbol not in self.nullable for symbol in production.symbols):
                        continue
                    sums: set[Barred] = {self._barred(production, path)}
                    for i in range(len(production.symbols)):
                        inner = self._inner(production, path, i)
                        assert inner is not None
                        sums = {a | b for a in sums for b in found[inner]}
                    if not sums <= ways:
                        ways |= sums
                        changed = True
        return {block: frozenset(ways) for block, ways in found.items()}

    def _ends(self) -> dict[_Block, frozenset[Context]]:
        """The contexts in which each block may end after reading something."""
        found: dict[_Block, set[Context]] = {one: set() for one in self.paths}
        users: dict[_Block, set[_Block]] = {}
        for block, paths in self.paths.items():
            for production, path in paths:
                for i in range(len(production.symbols)):
                    inner = self._inner(production, path, i)
                    if inner is not None:
                        users.setdefault(inner, set()).add(block)
        agenda = dict.fromkeys(self.paths)
        while agenda:
            block = next(reversed(agenda))
            del agenda[block]
            before = len(found[block])
            for production, path in self.paths[block]:
                after: set[Barred] = {self._barred(production, path)}
                for i in range(len(production.symbols) - 1, -1, -1):
                    inner = self._inner(production, path, i)
                    if inner is None:
                        found[block] |= {(self.class_of[path[i + 1]], bar, mode) for bar in after
                                         for mode in self.modes_after(production.symbols[i])}
                        break
                    found[block] |= {(c, one | bar, mode) for c, one, mode in found[inner] for bar in after}
                    if production.symbols[i] not in self.nullable:
                        break
                    after = {a | b for a in after for b in self.empties[inner]}
            if len(found[block]) > before:
                agenda.update(dict.fromkeys(users.get(block, ())))
        return {block: frozenset(ends) for block, ends in found.items()}

    def modes_after(self, terminal: str) -> tuple[int, ...]:
        """The modes in which a token can leave the text."""
        if self.indentation is None or terminal not in (self.newline, self.indentation.dedent):
            return (READ,)
        lines = self.indentation.line_numbers()
        return lines if terminal == self.newline else (*lines, AT_END)

    # -- copies -----------------------------------------------------------------------------------------------

    def reading(self, terminal: str, context: Context, bracketed: bool) -> tuple[int, int] | None:
        """What is ignored before a terminal, and what it reads, in a context; None: it cannot come next."""
        found = None if terminal in context[1] else self.readings[context[0]].get(terminal)
        if found is None or not bracketed:
            return found
        return None if terminal == self.newline else (self.inner[context[0]][found[0]], found[1])

    def key(self, terminals: tuple[str, ...], context: Context, bracketed: bool) -> Key:
        """How each of ``terminals`` is read in a context."""
        found = self._keys.get((terminals, context, bracketed))
        if found is None:
            found = self._keys[terminals, context, bracketed] = (
                context[2], tuple([self.reading(one, context, bracketed) for one in terminals]))
        return found

    def text(self, ignored: int, number: int, line: int = 0) -> int:
        return ~self.texts.setdefault((ignored, number, line), len(self.texts))

    def instance(self, block: _Block, context: Context, demand: frozenset[Context], bracketed: bool) -> int:
        """The copy of a block that reads something, starting in ``context``, and ends in one of ``demand``."""
        key = (block.number, self.key(self.firsts[block.symbol], context, bracketed), demand, bracketed)
        found = self._instances.get(key)
        if found is None:
            found = self._instances[key] = self.sketch.new(block.symbol)
            if block.symbol in self.captures:
                self.sketch.captures[found] = self.captures[block.symbol]
            self._agenda.append((found, block, context, demand, bracketed))
        return found

    def columns(self, symbol: str, mode: int) -> int:
        """How many columns a copy of a nonterminal takes: 1 if it matters to it in which column it stands."""
        return int(self.indentation is not None and self.indentation.needs(symbol, mode > 0))

    def run(self) -> int:
        """The root: the start rule, then the end of the text. Its column is 0."""
        start = self.blocks[self.table.start, self.loaded.start]
        first: Context = (self.class_of[self.table.start], FREE, READ)
        root = self.sketch.new(self.loaded.start)
        for bar in self.empties.get(start, ()):
            self._end(root, (), (first[0], bar, READ))
        groups: dict[Key, list[Context]] = {}
        for context in self.ends[start]:
            groups.setdefault(self.key((END,), context, False), []).append(context)
        for group in groups.values():
            copy = self.instance(start, first, frozenset(group), False)
            columns = ("at", copy, (-1,)) if self.columns(start.symbol, READ) else copy
            self._end(root, (columns,), group[0])
        while self._agenda:
            number, block, context, demand, bracketed = self._agenda.pop()
            for production, path in self.paths[block]:
                item = self.item(block, production, path, context, demand, bracketed)
                live = self.live(production, 0, context[2])
                self.sketch.alternatives[number].append((("at", item, (0,)) if any(live) else item,))
        return root

    def _end(self, root: int, before: Alternative, context: Context) -> None:
        reading = self.reading(END, context, False)
        if reading is None:
            return
        line: Alternative = (("line", context[2], -1),) if context[2] > 0 else ()
        end: Alternative = () if context[2] == AT_END else (self.text(*reading),)
        self.sketch.alternatives[root].append((*before, *line, *end))

    def suffix_firsts(self, production: Production, i: int) -> tuple[str, ...]:
        """The terminals that may come first in the symbols from ``i`` on."""
        key = (production.number, i)
        found = self._suffix_firsts.get(key)
        if found is None:
            names: set[str] = set()
            for symbol in production.symbols[i:]:
                names |= set(self.firsts[symbol]) if symbol in self.rules else {symbol}
                if symbol not in self.nullable:
                    break
            found = self._suffix_firsts[key] = tuple(sorted(names))
        return found

    def closes(self, production: Production, path: tuple[int, ...], i: int, context: Context,
               demand: frozenset[Context]) -> bool:
        """Whether the symbols from ``i`` on may be empty here, ending in one of ``demand``."""
        bars: set[Barred] = {context[1] | self._barred(production, path)}
        for k in range(i, len(production.symbols)):
            if production.symbols[k] not in self.nullable:
                return False
            inner = self._inner(production, path, k)
            assert inner is not None
            bars = {a | b for a in bars for b in self.empties[inner]}
        return any((context[0], bar, context[2]) in demand for bar in bars)

    def live(self, production: Production, i: int, mode: int) -> tuple[bool, ...]:
        """Which of the columns open at symbol ``i`` still matter, the outermost first."""
        return () if self.indentation is None else self.indentation.live(production, i, mode > 0)

    def item(self, block: _Block, production: Production, path: tuple[int, ...], context: Context,
             demand: frozenset[Context], bracketed: bool) -> int:
        """The symbols of a production as a nonterminal that reads something and ends in one of ``demand``."""
        pending: list[tuple[int, Context, bool]] = [(0, context, False)]
        links: list[tuple[int, _Step, tuple[object, ...], tuple[int, Context]]] = []
        while pending:
            i, here, started = pending.pop()
            key = self._item_key(block, production, path, i, here, demand, started, bracketed)
            if key in self._items:
                continue
            number = self._items[key] = self.sketch.new(block.symbol)
            for step in self._steps(block, production, path, i, here, demand, started, bracketed):
                if step.after is None:
                    self.sketch.alternatives[number].append(step.read)
                    continue
                rest = self._item_key(block, production, path, i + 1, step.after, demand, step.started, bracketed)
                links.append((number, step, rest, (i, here)))
                pending.append((i + 1, step.after, step.started))
        for number, step, rest, (i, here) in links:
            assert step.after is not None
            before, after = self.live(production, i, here[2]), self.live(production, i + 1, step.after[2])
            slots = _slots(before)
            target = self._items[rest]
            passed = tuple([slots[level] for level, alive in enumerate(after) if alive and level < len(before)])
            follow: Symbol = target if not any(after) else ("at", target, passed)
            if step.indent:  # the new column is the last one
                top = slots[len(before) - 1]
                follow = ("in", target, passed, step.indent, top, len(after) > len(before) and after[-1])
            self.sketch.alternatives[number].append((*step.read, follow))
        return self._items[self._item_key(block, production, path, 0, context, demand, False, bracketed)]

    def _item_key(self, block: _Block, production: Production, path: tuple[int, ...], i: int, context: Context,
                  demand: frozenset[Context], started: bool, bracketed: bool) -> tuple[object, ...]:
        here = bracketed or self._bracketed(production, i)
        return (block.number, production.number, i, self.key(self.suffix_firsts(production, i), context, here),
                self.closes(production, path, i, context, demand), started, demand, bracketed)

    def _bracketed(self, production: Production, i: int) -> bool:
        return self.indentation is not None and self.indentation.bracketed(production, i)

    def _steps(self, block: _Block, production: Production, path: tuple[int, ...], i: int, context: Context,
               demand: frozenset[Context], started: bool, outside: bool) -> list[_Step]:
        """The ways on from one item."""
        if i == len(production.symbols):
            closes = started and self.closes(production, path, i, context, demand)
            return [_Step((), None, True)] if closes else []
        symbol = production.symbols[i]
        inner = self._inner(production, path, i)
        bracketed = outside or self._bracketed(production, i)
        slots = _slots(self.live(production, i, context[2]))
        top = slots[-1] if slots else -1
        line: Alternative = (("line", context[2], top),) if context[2] > 0 else ()
        if inner is None:
            reading = self.reading(symbol, context, bracketed)
            after = self.class_of[path[i + 1]]
            if reading is None:
                return []
            if symbol in self.special:
                return self._indentation_step(symbol, context, reading, after, line)
            if context[2] == AT_END:
                return []
            if symbol == self.newline:
                assert self.indentation is not None
                return [_Step((*line, self.text(*reading, number)), (after, FREE, number), True)
                        for number in self.indentation.lines_of(reading[1])]
            return [_Step((*line, self.text(*reading)), (after, FREE, READ), True)]
        found: list[_Step] = []
        for bar in self.empties.get(inner, ()):
            found.append(_Step((), (context[0], context[1] | bar, context[2]), started))
        if line and not self.special.intersection(self.firsts[symbol]):
            context = (context[0], context[1], READ)  # the line is read here, not by each first terminal
        else:
            line = ()
        groups: dict[tuple[object, ...], list[Context]] = {}
        for end in self.ends[inner]:
            key = self._item_key(block, production, path, i + 1, end, demand, True, outside)
            groups.setdefault(key, []).append(end)
        for ends in groups.values():
            copy = self.instance(inner, context, frozenset(ends), bracketed)
            called: Symbol = ("at", copy, (top,)) if self.columns(symbol, context[2]) else copy
            found.append(_Step((*line, called), ends[0], True))
        return found

    def _indentation_step(self, symbol: str, context: Context, reading: tuple[int, int], after: int,
                          line: Alternative) -> list[_Step]:
        """Opening a block reads the line up to its column; closing one leaves the line to the block outside, or finds
        the end of the text, on a line of this block or behind a token."""
        mode = context[2]
        assert self.indentation is not None
        if symbol == self.indentation.indent:
            return [_Step((), (after, FREE, READ), True, indent=mode)] if mode > 0 else []
        found = [_Step((), (after, FREE, mode), True)] if mode != READ else []
        if mode != AT_END:
            found.append(_Step((*line, self.text(reading[0], -1, AT_END)), (after, FREE, AT_END), True))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """What is read, and the context of the item after it (None: the end). ``indent``: the line that opens a block."""

    read: Alternative
    after: Context | None
    started: bool
    indent: int = 0


def _slots(live: tuple[bool, ...]) -> list[int]:
    """The place of each column among those that matter; -1 for the others."""
    found, count = [], 0
    for alive in live:
        found.append(count if alive else -1)
        count += alive
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """The rules and their root, what each text reads, and the languages behind each number of what is ignored."""

    sketch: Template
    root: int
    readings: list[Reading]
    ignored: list[frozenset[int]]


def annotate(loaded: Loaded, lexicon: Lexicon, indentation: Indentation | None = None,
             captures: Mapping[str, str] | None = None) -> Annotated:
    """The rules of lexer mode. Raises Unsupported where blocks or brackets are not balanced in each rule."""
    work = _Annotator(loaded, lexicon, indentation)
    work.captures = captures or {}
    root = work.run()
    return Annotated(work.sketch, root, list(work.texts), work.ignored_sets)


def _nullable(loaded: Loaded) -> set[str]:
    found: set[str] = set()
    changed = True
    while changed:
        changed = False
        for production in loaded.productions:
            if production.origin not in found and all(symbol in found for symbol in production.symbols):
                found.add(production.origin)
                changed = True
    return found


def _firsts(loaded: Loaded, nullable: set[str]) -> dict[str, tuple[str, ...]]:
    """The terminals that a nonterminal may begin with, sorted."""
    found: dict[str, set[str]] = {name: set() for name in loaded.by_origin}
    changed = True
    while changed:
        changed = False
        for production in loaded.productions:
            mine = found[production.origin]
            before = len(mine)
            for symbol in production.symbols:
                if symbol in found:
                    mine |= found[symbol]
                else:
                    mine.add(symbol)
                if symbol not in nullable:
                    break
            changed = changed or len(mine) > before
    return {name: tuple(sorted(names)) for name, names in found.items()}
