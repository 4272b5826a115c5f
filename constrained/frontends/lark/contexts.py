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
"""

from __future__ import annotations

from dataclasses import dataclass

from .lexing import Lexicon
from .load import END, Loaded, Production, Table
from .rules import Alternative, Sketch

__all__ = ["annotate"]

#: (number of what is ignored before it, what it reads): a number of the lexicon, -1 for END, below it what is declared.
Reading = tuple[int, int]
Barred = frozenset[str]
FREE: Barred = frozenset()
#: (class of the last state, terminals that may not come next).
Context = tuple[int, Barred]


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Transitions (state, symbol) of one block, by a representative."""

    number: int
    symbol: str
    state: int


class _Annotator:
    def __init__(self, loaded: Loaded, lexicon: Lexicon) -> None:
        assert loaded.table is not None
        self.loaded, self.lexicon = loaded, lexicon
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
        self.sketch = Sketch()
        self.texts: dict[Reading, int] = {}
        self._instances: dict[tuple[int, tuple[Reading | None, ...], frozenset[Context]], int] = {}
        self._keys: dict[tuple[tuple[str, ...], Context], tuple[Reading | None, ...]] = {}
        self._items: dict[tuple[object, ...], int] = {}
        self._agenda: list[tuple[int, _Block, Context, frozenset[Context]]] = []
        self._suffix_firsts: dict[tuple[int, int], tuple[str, ...]] = {}

    # -- classes of states ------------------------------------------------------------------------------------

    def _classes(self) -> tuple[list[int], list[dict[str, Reading | None]]]:
        """Each state's class, and what is read in each class: states that never disagree are joined, greedily."""
        ignored_ids: dict[frozenset[int], int] = {}
        profiles: dict[frozenset[str], dict[str, Reading | None]] = {}
        for scanned in self.table.scanned:
            if scanned in profiles:
                continue
            found = self.lexicon.scanner(scanned)
            ignored = ignored_ids.setdefault(found.ignored, len(ignored_ids))
            # What is tried and never found (others come first) is not the same as what is not tried at all.
            profile: dict[str, Reading | None] = dict.fromkeys(scanned)
            profile.update((name, (ignored, number)) for name, number in found.tokens.items())
            for i, name in enumerate(sorted(self.loaded.declared)):
                profile[name] = (ignored, -2 - i)
            profile[END] = (ignored, -1)
            profiles[scanned] = profile
        self.ignored_sets = list(ignored_ids)
        classes: list[dict[str, Reading | None]] = []
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
                        found[block] |= {(self.class_of[path[i + 1]], bar) for bar in after}
                        break
                    found[block] |= {(c, one | bar) for c, one in found[inner] for bar in after}
                    if production.symbols[i] not in self.nullable:
                        break
                    after = {a | b for a in after for b in self.empties[inner]}
            if len(found[block]) > before:
                agenda.update(dict.fromkeys(users.get(block, ())))
        return {block: frozenset(ends) for block, ends in found.items()}

    # -- copies -----------------------------------------------------------------------------------------------

    def reading(self, terminal: str, context: Context) -> Reading | None:
        """How a terminal is read in a context; None: it cannot come next."""
        return None if terminal in context[1] else self.readings[context[0]].get(terminal)

    def key(self, terminals: tuple[str, ...], context: Context) -> tuple[Reading | None, ...]:
        """How each of ``terminals`` is read in a context."""
        found = self._keys.get((terminals, context))
        if found is None:
            found = self._keys[terminals, context] = tuple([self.reading(one, context) for one in terminals])
        return found

    def text(self, reading: Reading) -> int:
        return ~self.texts.setdefault(reading, len(self.texts))

    def instance(self, block: _Block, context: Context, demand: frozenset[Context]) -> int:
        """The copy of a block that reads something, starting in ``context``, and ends in one of ``demand``."""
        key = (block.number, self.key(self.firsts[block.symbol], context), demand)
        found = self._instances.get(key)
        if found is None:
            found = self._instances[key] = self.sketch.new(block.symbol)
            self._agenda.append((found, block, context, demand))
        return found

    def run(self) -> int:
        """The root: the start rule, then the end of the text."""
        start = self.blocks[self.table.start, self.loaded.start]
        first: Context = (self.class_of[self.table.start], FREE)
        root = self.sketch.new(self.loaded.start)
        for bar in self.empties.get(start, ()):
            self._end(root, (), (first[0], bar))
        for group, context in self._grouped(self.ends[start], (END,)):
            self._end(root, (self.instance(start, first, group),), context)
        while self._agenda:
            number, block, context, demand = self._agenda.pop()
            for production, path in self.paths[block]:
                self.sketch.alternatives[number].append((self.item(block, production, path, context, demand),))
        return root

    def _end(self, root: int, before: Alternative, context: Context) -> None:
        reading = self.reading(END, context)
        if reading is not None:
            self.sketch.alternatives[root].append((*before, self.text(reading)))

    def _grouped(self, contexts: frozenset[Context],
                 terminals: tuple[str, ...]) -> list[tuple[frozenset[Context], Context]]:
        groups: dict[tuple[Reading | None, ...], list[Context]] = {}
        for context in contexts:
            groups.setdefault(self.key(terminals, context), []).append(context)
        return [(frozenset(group), group[0]) for group in groups.values()]

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

    def closes(self, block: _Block, production: Production, path: tuple[int, ...], i: int, context: Context,
               demand: frozenset[Context]) -> bool:
        """Whether the symbols from ``i`` on may be empty here, ending in one of ``demand``."""
        bars: set[Barred] = {context[1] | self._barred(production, path)}
        for k in range(i, len(production.symbols)):
            if production.symbols[k] not in self.nullable:
                return False
            inner = self._inner(production, path, k)
            assert inner is not None
            bars = {a | b for a in bars for b in self.empties[inner]}
        return any((context[0], bar) in demand for bar in bars)

    def item(self, block: _Block, production: Production, path: tuple[int, ...], context: Context,
             demand: frozenset[Context]) -> int:
        """The symbols of a production as a nonterminal that reads something and ends in one of ``demand``."""
        pending: list[tuple[int, Context, bool]] = [(0, context, False)]
        links: list[tuple[int, Alternative, tuple[object, ...]]] = []
        while pending:
            i, here, started = pending.pop()
            key = self._item_key(block, production, path, i, here, demand, started)
            if key in self._items:
                continue
            number = self._items[key] = self.sketch.new(block.symbol)
            for read, after, begun in self._steps(production, path, i, here, demand, started, block):
                if after is None:
                    self.sketch.alternatives[number].append(read)
                    continue
                links.append((number, read, self._item_key(block, production, path, *after, demand, begun)))
                pending.append((*after, begun))
        for number, read, rest in links:
            self.sketch.alternatives[number].append((*read, self._items[rest]))
        return self._items[self._item_key(block, production, path, 0, context, demand, False)]

    def _item_key(self, block: _Block, production: Production, path: tuple[int, ...], i: int, context: Context,
                  demand: frozenset[Context], started: bool) -> tuple[object, ...]:
        return (block.number, production.number, i, self.key(self.suffix_firsts(production, i), context),
                self.closes(block, production, path, i, context, demand), started, demand)

    def _steps(self, production: Production, path: tuple[int, ...], i: int, context: Context,
               demand: frozenset[Context], started: bool,
               block: _Block) -> list[tuple[Alternative, tuple[int, Context] | None, bool]]:
        """The ways on from one item: what is read, and the item after it (None: the end)."""
        if i == len(production.symbols):
            return [((), None, True)] if started and self.closes(block, production, path, i, context, demand) else []
        symbol = production.symbols[i]
        inner = self._inner(production, path, i)
        if inner is None:
            reading = self.reading(symbol, context)
            if reading is None:
                return []
            return [((self.text(reading),), (i + 1, (self.class_of[path[i + 1]], FREE)), True)]
        found: list[tuple[Alternative, tuple[int, Context] | None, bool]] = []
        for bar in self.empties.get(inner, ()):
            found.append(((), (i + 1, (context[0], context[1] | bar)), started))
        groups: dict[tuple[object, ...], list[Context]] = {}
        for end in self.ends[inner]:
            groups.setdefault(self._item_key(block, production, path, i + 1, end, demand, True), []).append(end)
        for ends in groups.values():
            copy = self.instance(inner, context, frozenset(ends))
            found.append(((copy,), (i + 1, ends[0]), True))
        return found


def annotate(loaded: Loaded, lexicon: Lexicon) -> tuple[Sketch, int, list[Reading], list[frozenset[int]]]:
    """The rules, their root, what each text reads, and the languages behind each number of what is ignored."""
    work = _Annotator(loaded, lexicon)
    root = work.run()
    return work.sketch, root, list(work.texts), work.ignored_sets


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
