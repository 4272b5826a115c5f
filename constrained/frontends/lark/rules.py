"""Context-free rules by number, made small and written as IR.

Both modes end here: a ``Sketch`` holds nonterminals as lists of alternatives, an alternative being a tuple of symbols:
a nonterminal >= 0, or ``~t`` for text t. What cannot be finished is left out, nonterminals that say the same become one
(E. Moore's refinement, on rules instead of states), ``a: x | a y`` becomes ``x y*``, and what is used once is written
where it is used. Nothing recurses. Cost: about 2 us a symbol and round of refinement; five to fifteen rounds are usual.
"""

from __future__ import annotations

from collections.abc import Callable

from constrained.grammar.ir import Choice, Expr, Literal, Reference, Repeat, RuleSet, Sequence

__all__ = ["Alternative", "Sketch"]

Alternative = tuple[int, ...]


class Sketch:
    """``alternatives[n]`` and ``names[n]`` of nonterminal n."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.alternatives: list[list[Alternative]] = []

    def new(self, name: str) -> int:
        """A nonterminal without alternatives yet."""
        self.names.append(name)
        self.alternatives.append([])
        return len(self.names) - 1

    def finished(self, root: int, texts: list[Expr]) -> RuleSet | None:
        """The rules that ``root`` needs; None if no text can be finished."""
        productive = self._productive()
        if root not in productive:
            return None
        self.alternatives = [[one for one in options if all(s < 0 or s in productive for s in one)] if n in productive
                             else [] for n, options in enumerate(self.alternatives)]
        root = self._merge(root)
        return _Writer(self, root, texts).rules()

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

    def _merge(self, root: int) -> int:
        """Nonterminals with the same alternatives, up to this very merging, become the first of them."""
        reached = {root}
        stack = [root]
        while stack:
            for one in self.alternatives[stack.pop()]:
                for s in one:
                    if s >= 0 and s not in reached:
                        reached.add(s)
                        stack.append(s)
        members = sorted(reached)
        block = dict.fromkeys(members, 0)
        count = 1
        while True:
            known: dict[frozenset[Alternative], int] = {}
            following: dict[int, int] = {}
            for n in members:
                signature = frozenset([tuple([s if s < 0 else block[s] for s in one]) for one in self.alternatives[n]])
                following[n] = known.setdefault(signature, len(known))
            block = following
            if len(known) == count:
                break
            count = len(known)
        first: dict[int, int] = {}
        for n in members:
            first.setdefault(block[n], n)
        merged: list[list[Alternative]] = [[] for _ in self.alternatives]
        for n in first.values():
            merged[n] = list(dict.fromkeys(tuple([s if s < 0 else first[block[s]] for s in one])
                                           for one in self.alternatives[n]))
        self.alternatives = merged
        return first[block[root]]


class _Writer:
    def __init__(self, sketch: Sketch, root: int, texts: list[Expr]) -> None:
        self.names, self.alternatives, self.texts = sketch.names, sketch.alternatives, texts
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
            if self.uses[n] > 1 or n in self._loops(n):
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
            done[n] = self._body(n, lambda s: Reference(self.rule_names[s]) if s in self.rule_names else done[s])
        return RuleSet({name: done[n] for n, name in self.rule_names.items()}, self.rule_names[self.root])

    def _body(self, n: int, of: Callable[[int], Expr]) -> Expr:
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
