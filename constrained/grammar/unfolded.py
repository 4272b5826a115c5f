"""``Graph`` nodes as rules: for whoever need not know of them.

Each state becomes a rule that reads one edge and goes on with the rule of the next state, or ends. The work is done on
the flat form (``grammar.flat``), so shared expressions stay shared and nothing recurses. Cost: linear.
"""

from __future__ import annotations

from typing import Any

from .flat import from_flat, to_flat
from .ir import RuleSet

__all__ = ["unfolded"]


def unfolded(rule_set: RuleSet) -> RuleSet:
    """The same language without ``Graph``; the same object if there is none. New rules come last."""
    root, heads, entries = to_flat(rule_set)
    graphs = [i for i, entry in enumerate(entries) if entry[0] == "graph"]
    if not graphs:
        return rule_set
    rules = list(heads)
    taken = {name for name, _ in heads}
    owner = {number: name for name, number in heads}
    found: list[tuple[Any, ...]] = list(entries)

    def add(*entry: Any) -> int:
        found.append(entry)
        return len(found) - 1

    for i in graphs:
        _, parts, targets, accepting = entries[i]
        names: list[str] = []
        for state in range(len(targets)):
            name, number = f"{owner.get(i, 'graph')}-{state}", 1
            while name in taken:
                number += 1
                name = f"{owner.get(i, 'graph')}-{state}-{number}"
            taken.add(name)
            names.append(name)
        left = iter(parts)
        for state, row in enumerate(targets):
            options = [add("sequence", (next(left), add("reference", names[to]))) for to in row]
            if state in accepting:
                options.append(add("literal", b""))
            rules.append((names[state], options[0] if len(options) == 1 else add("choice", tuple(options))))
        found[i] = ("reference", names[0])
    return from_flat((root, tuple(rules), tuple(found)))
