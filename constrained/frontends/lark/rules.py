"""Context-free rules by number, made small and written as IR.

Both modes end here: a ``Sketch`` holds nonterminals as lists of alternatives, an alternative being a tuple of symbols:
a nonterminal >= 0, or ``~t`` for text t. What cannot be finished is left out, nonterminals that say the same become one
(E. Moore's refinement, on rules instead of states), ``a: x | a y`` becomes ``x y*``, and what is used once is written
where it is used. Nothing recurses. Cost: about 2 us a symbol and round of refinement; five to fifteen rounds are usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constrained.grammar.ir import Capture, Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence

__all__ = ["Alternative", "Sketch", "Symbol", "Template"]

#: A number, or (in a ``Template``) a tuple whose second part is a nonterminal if the first is "at" or "in".
Symbol = Any
Alternative = tuple[Symbol, ...]


#: A rule is written in full up to this size.
MOST_ALTERNATIVES, MOST_SYMBOLS = 500, 200


class Template:
    """``alternatives[n]`` and ``names[n]`` of nonterminal n; symbols may say which columns they pass on."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.alternatives: list[list[Alternative]] = []
        #: Nonterminals whose text is reported, and under which name.
        self.captures: dict[int, str] = {}

    def new(self, name: str) -> int:
        """A nonterminal without alternatives yet."""
        self.names.append(name)
        self.alternatives.append([])
        return len(self.names) - 1

    def merge(self, root: int) -> int:
        """Nonterminals with the same alternatives, up to this very merging, become the first of them."""
        reached = {root}
        stack = [root]
        while stack:
            for one in self.alternatives[stack.pop()]:
                for s in one:
                    n = _nonterminal(s)
                    if n >= 0 and n not in reached:
                        reached.add(n)
                        stack.append(n)
        members = sorted(reached)
        block = self._refined(members)
        first: dict[int, int] = {}
        for n in members:
            first.setdefault(block[n], n)
        home = {n: first[block[n]] for n in members}
        merged: list[list[Alternative]] = [[] for _ in self.alternatives]
        for n in first.values():
            merged[n] = list(dict.fromkeys(tuple([_renamed(s, home) for s in one]) for one in self.alternatives[n]))
        self.alternatives = merged
        return home[root]

    def _refined(self, members: list[int]) -> dict[int, int]:
        """The coarsest blocks whose members have equal alternatives. Only users of what moved are looked at again."""
        users: dict[int, set[int]] = {n: set() for n in members}
        for n in members:
            for one in self.alternatives[n]:
                for s in one:
                    used = _nonterminal(s)
                    if used >= 0:
                        users[used].add(n)
        kinds: dict[str | None, int] = {}
        block = {n: kinds.setdefault(self.captures.get(n), len(kinds)) for n in members}
        sizes = [sum(one == kind for one in block.values()) for kind in range(len(kinds))]
        dirty: set[int] = set(members)
        while dirty:
            groups: dict[int, dict[frozenset[Alternative], list[int]]] = {}
            for n in dirty:
                signature = frozenset([tuple([_renamed(s, block) for s in one]) for one in self.alternatives[n]])
                groups.setdefault(block[n], {}).setdefault(signature, []).append(n)
            dirty = set()
            for old, parts in groups.items():
                found = sorted(parts.values(), key=len)
                if sum(map(len, found)) == sizes[old]:
                    found.pop()  # the largest part keeps the number; who was not looked at keeps it anyway
                for part in found:
                    sizes[old] -= len(part)
                    for n in part:
                        block[n] = len(sizes)
                        dirty |= users[n]
                    sizes.append(len(part))
        return block


def _nonterminal(symbol: Symbol) -> int:
    """The nonterminal that a symbol names; negative if it names none."""
    if type(symbol) is int:
        return symbol
    return int(symbol[1]) if symbol[0] != "line" else -1


def _renamed(symbol: Symbol, names: dict[int, int]) -> Symbol:
    if type(symbol) is int:
        return symbol if symbol < 0 else names[symbol]
    return symbol if symbol[0] == "line" else (symbol[0], names[symbol[1]], *symbol[2:])


class Sketch(Template):
    """Rules whose symbols are all numbers."""

    def finished(self, root: int, texts: list[Expr], *, merged: bool = False,
                 bare: frozenset[int] = frozenset()) -> RuleSet | None:
        """The rules that ``root`` needs; None if no text can be finished.

        ``merged``: there is nothing to merge. ``bare``: texts that read nothing and so may begin no rule.
        """
        productive = self._productive()
        if root not in productive:
            return None
        self.alternatives = [[one for one in options if all(s < 0 or s in productive for s in one)] if n in productive
                             else [] for n, options in enumerate(self.alternatives)]
        root = root if merged else self.merge(root)
        if self.captures:  # they are not followed through left recursion
            self._join()
        return _Writer(self, root, texts, bare).rules()

    def _join(self) -> None:
        """Alternatives written in full where they end in a nonterminal that has just one, or are nothing else: so a
        rule that begins with itself shows it. Masks of such rules take four times as long on the SQL grammar of the
        benchmark (92 and 378 us of CPU a token, 40 texts, Llama-3.1): rules that are called share what they read."""
        for n, options in enumerate(self.alternatives):
            joined = {n, *self.captures}
            done: list[Alternative] = []
            waiting = list(reversed(options))
            while waiting:
                one = waiting.pop()
                last = one[-1] if one else -1
                if last >= 0 and last not in joined and (len(one) == 1 or len(self.alternatives[last]) == 1):
                    if len(one) == 1:
                        joined.add(last)
                    waiting.extend((*one[:-1], *rest) for rest in reversed(self.alternatives[last]))
                    if len(waiting) + len(done) > MOST_ALTERNATIVES or len(one) > MOST_SYMBOLS:
                        done = options
                        break
                else:
                    done.append(one)
            self.alternatives[n] = list(dict.fromkeys(done))

    def _productive(self) -> set[int]:
        users: dict[int, list[tuple[int, int]]] = {}
        missing: dict[tuple[int, int], int] = {}
        done: set[int] = set()
        agenda: list[int] = []
        for n, options in enumerate(self.alternatives):
            for i, one in enumerate(options):
                needs = {s for s in one if s >= 0}
                missing[n, i] = len(needs)
                for s in needs:
                    users.setdefault(s, []).append((n, i))
                if not needs and n not in done:
                    done.add(n)
                    agenda.append(n)
        while agenda:
            for n, i in users.get(agenda.pop(), ()):
                missing[n, i] -= 1
                if not missing[n, i] and n not in done:
                    done.add(n)
                    agenda.append(n)
        return done


class _Writer:
    def __init__(self, sketch: Sketch, root: int, texts: list[Expr], bare: frozenset[int]) -> None:
        self.names, self.alternatives, self.texts = sketch.names, sketch.alternatives, texts
        self.captures = sketch.captures
        self.root = root
        self.uses: dict[int, int] = {root: 2}
        seen = {root}
        stack = [root]
        while stack:
            for one in self.alternatives[stack.pop()]:
                for s in one:
                    if s < 0:
                        continue
                    self.uses[s] = self.uses.get(s, 0) + 1
                    if s not in seen:
                        seen.add(s)
                        stack.append(s)
        self.reached = sorted(seen)
        self.rule_names: dict[int, str] = {}
        taken: set[str] = set()
        for n in [root, *(n for n in self.reached if n != root)]:
            begins_bare = any(one and one[0] < 0 and ~one[0] in bare for one in self.alternatives[n])
            if (self.uses[n] > 1 and not begins_bare) or n in self._loops(n):
                name = self.names[n]
                number = 1
                while name in taken:
                    number += 1
                    name = f"{self.names[n]}.{number}"
                taken.add(name)
                self.rule_names[n] = name

    def _loops(self, n: int) -> tuple[int, ...]:
        return (n,) if any(n in one for one in self.alternatives[n]) else ()

    def rules(self) -> RuleSet:
        done: dict[int, Expr] = {}
        stack: list[tuple[int, bool]] = [(n, False) for n in self.rule_names]
        while stack:
            n, ready = stack.pop()
            if n in done:
                continue
            if not ready:
                stack.append((n, True))
                stack.extend((s, False) for one in self.alternatives[n] for s in one
                             if s >= 0 and s not in self.rule_names and s not in done)
                continue
            body = self._body(n, lambda s: Reference(self.rule_names[s]) if s in self.rule_names else done[s])
            done[n] = Capture(self.captures[n], body) if n in self.captures else body
        return RuleSet({name: done[n] for n, name in self.rule_names.items()}, self.rule_names[self.root])

    def _body(self, n: int, of: Callable[[int], Expr]) -> Expr:
        if n in self.captures:  # each round is a capture of its own
            return self._choice(self.alternatives[n], of)
        base = [one for one in self.alternatives[n] if n not in one]
        left = [one[1:] for one in self.alternatives[n] if one[:1] == (n,) and n not in one[1:]]
        right = [one[:-1] for one in self.alternatives[n] if one[-1:] == (n,) and n not in one[:-1]]
        others = len(self.alternatives[n]) - len(base)
        if left and len(left) == others:
            return _sequence([self._choice(base, of), Repeat(self._choice(left, of), 0, None)])
        if right and len(right) == others:
            return _sequence([Repeat(self._choice(right, of), 0, None), self._choice(base, of)])
        return self._choice(self.alternatives[n], of)

    def _choice(self, options: list[Alternative], of: Callable[[int], Expr]) -> Expr:
        made = [_sequence([self.texts[~s] if s < 0 else of(s) for s in one]) for one in options]
        return made[0] if len(made) == 1 else Choice(tuple(made))


def _sequence(items: list[Expr]) -> Expr:
    flat: list[Expr] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Sequence) else (item,))
    if not flat:
        return Literal(b"")
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
