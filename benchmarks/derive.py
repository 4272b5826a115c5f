"""Random texts of a grammar: derivations with a size that falls as they grow.

Choices are made by a seeded generator; once a derivation is larger than its budget, each choice takes the option
with the shortest completion and repetitions stop at their minimum, so every derivation ends. No recursion.
"""

from __future__ import annotations

import random

from constrained.grammar.ir import (
    AnyTextUntil,
    CharClass,
    Choice,
    Expr,
    Literal,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    children,
)

__all__ = ["derive"]

FAR = 1 << 40


def derive(rules: RuleSet, seed: int, *, budget: int = 120, printable: bool = True) -> str:
    """One text of ``rules``; about ``budget`` leaves at most are made by free choice."""
    rng = random.Random(seed)
    least = _shortest(rules)
    out: list[str] = []
    stack: list[Expr] = [rules.rules[rules.root]]
    while stack:
        node = stack.pop()
        small = len(out) + len(stack) > budget
        if isinstance(node, Literal):
            out.append(node.data.decode())
        elif isinstance(node, CharClass):
            out.append(_character(node, rng, printable))
        elif isinstance(node, Sequence):
            stack.extend(reversed(node.items))
        elif isinstance(node, Choice):
            options = [o for o in node.options if least[id(o)] < FAR]
            stack.append(min(options, key=lambda o: least[id(o)]) if small else rng.choice(options))
        elif isinstance(node, Repeat):
            most = node.minimum + 3 if node.maximum is None else min(node.maximum, node.minimum + 3)
            stack.extend([node.body] * (node.minimum if small else rng.randint(node.minimum, most)))
        elif isinstance(node, Reference):
            stack.append(rules.rules[node.name])
        elif isinstance(node, AnyTextUntil):
            out.append("text" + (node.stops[0].decode() if node.consume else ""))
        else:
            raise TypeError(f"no derivation of {type(node).__name__}")
    return "".join(out)


def _character(node: CharClass, rng: random.Random, printable: bool) -> str:
    for _ in range(20):
        low, high = rng.choice(node.ranges)
        char = chr(rng.randint(low, min(high, 0x7E) if low <= 0x7E else high))
        if not printable or char.isprintable():
            return char
    return chr(node.ranges[0][0])


def _shortest(rules: RuleSet) -> dict[int, int]:
    """Leaves of a shortest derivation of every node, by identity: a fixed point over rules."""
    found: dict[int, int] = {}
    order: list[Expr] = []
    seen: set[int] = set()
    for expr in rules.rules.values():
        stack = [(expr, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((child, False) for child in children(node))
    changed = True
    while changed:
        changed = False
        for node in order:
            value = _value(node, found, rules)
            if value < found.get(id(node), FAR + 1):
                found[id(node)] = value
                changed = True
    return found


def _value(node: Expr, found: dict[int, int], rules: RuleSet) -> int:
    if isinstance(node, Reference):
        return found.get(id(rules.rules[node.name]), FAR)
    parts = [found.get(id(child), FAR) for child in children(node)]
    if isinstance(node, Sequence):
        return min(FAR, sum(parts))
    if isinstance(node, Choice):
        return min(parts, default=FAR)
    if isinstance(node, Repeat):
        return min(FAR, parts[0] * node.minimum) if node.minimum else 0
    return 1
