"""Members in their order and items of some kinds, counted: one rule for each state.

Of members the state is (stage, members written), of items (items written, items found of each kind). What is written
comes last: a state of which the rest may be empty is a rule that may be. What would take more states than
``MAX_ARRAY_STATES`` is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence as Listed
from typing import TYPE_CHECKING

from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.witnesses import partitions
from constrained.grammar.ir import Choice, Expr, Literal, Reference, Sequence, Unordered

if TYPE_CHECKING:
    from constrained.frontends.json_schema.emit import Emitter

__all__ = ["Stage", "counted_array", "members_in_stages", "some_items", "stages_of", "too_many_stages"]

Stage = tuple[Expr | None, bool | None]
"""``(member, whether it must stand)``, or ``(member, None)``: any number of such members."""

MAX_ARRAY_STATES = 2_000
"""States of the automaton of one array with ``contains``."""

EMPTY = Literal(b"")
NOTHING = Choice(())


def stages_of(members: list[Expr], standing: list[int]) -> list[Stage]:
    """Members as stages; those numbered ``standing`` must come."""
    needed = frozenset(standing)
    return [(member, i in needed) for i, member in enumerate(members)]


def too_many_stages(stages: int, least: int, most: int | None) -> bool:
    """Whether ``stages`` members in their order, counted, are too many states."""
    return (stages + 1) * (_highest(least, most) + 1) > 4 * MAX_ARRAY_STATES


def members_in_stages(emitter: Emitter, stages: Listed[Stage], least: int, most: int | None) -> Expr:
    """An object of members in order, of which ``least`` to ``most`` must come. Raises ``NotEnforced``."""
    cap = _highest(least, most)
    if too_many_stages(len(stages), least, most):
        raise NotEnforced("minProperties or maxProperties is too large beside so many properties",
                          'property_order="any" has no such bound')
    separator = emitter.separator()
    prefix = f"members {len(emitter.rules)}"
    for i, (member, needed) in enumerate(stages):
        for written in range(cap + 1):
            options: list[Expr] = []
            if member is not None and (most is None or written < most):
                behind = _stage(prefix, i if needed is None else i + 1, min(written + 1, cap))
                options.append(Sequence((separator, member, behind) if written else (member, behind)))
            if not needed:
                options.append(_stage(prefix, i + 1, written))
            emitter.rules[f"{prefix} {i} {written}"] = Choice(tuple(options))
    for written in range(cap + 1):
        emitter.rules[f"{prefix} {len(stages)} {written}"] = EMPTY if written >= max(least, 1) else NOTHING
    return emitter.bracketed(b"{", _stage(prefix, 0, 0), b"}", least == 0 and not any(needed for _, needed in stages))


def some_items(emitter: Emitter, shape: ArrayShape) -> Expr:
    """Arrays in which each of some kinds occurs: a group of such items, in any order among any items."""
    normaliser = emitter.normaliser
    options: list[Expr] = []
    for groups in partitions([c[0] for c in shape.contains]):
        if shape.maximum is not None and len(groups) > shape.maximum:
            continue
        kinds: list[int] = []
        for group in groups:
            item = shape.rest
            for wanted in group:
                item = normaliser.both(item, wanted)
            kinds.append(item)
        if any(normaliser.is_empty(item) for item in kinds):
            continue
        items = tuple([emitter.inner(item) for item in kinds])
        group_of_items = Unordered(items, frozenset(range(len(items))), emitter.separator(), emitter.inner(shape.rest),
                                   max(shape.minimum, 1), shape.maximum)
        options.append(emitter.bracketed(b"[", group_of_items, b"]", False))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def counted_array(emitter: Emitter, shape: ArrayShape) -> Expr:
    """Arrays with ``contains``. Raises ``NotEnforced``."""
    contains = shape.contains
    most = shape.maximum
    items = max(1, shape.minimum, len(shape.prefix), *[c[3] for c in contains]) if most is None else most
    tops = [least if most_found is None else max(most_found, least) for _, least, most_found, _ in contains]
    states = items + 1
    for top in tops:
        states *= top + 1
    if states > MAX_ARRAY_STATES or states << len(contains) > 8 * MAX_ARRAY_STATES:
        raise NotEnforced("contains with bounds this large", "lower minContains, maxContains, minItems or maxItems")
    separator = emitter.separator()
    prefix = f"items {len(emitter.rules)}"
    for i in range(items + 1):
        for found in itertools.product(*[range(top + 1) for top in tops]):
            options: list[Expr] = []
            if i and i >= shape.minimum and all(f >= c[1] for f, c in zip(found, contains, strict=True)):
                options.append(EMPTY)
            if most is None or i < most:
                options.extend(_next_items(emitter, shape, i, found, tops, items, prefix, separator))
            emitter.rules[_place(prefix, i, found)] = Choice(tuple(options))
    return emitter.bracketed(b"[", Reference(_place(prefix, 0, (0,) * len(tops))), b"]", (
        shape.minimum == 0 and all(least == 0 for _, least, _, _ in contains)))


def _next_items(emitter: Emitter, shape: ArrayShape, i: int, found: tuple[int, ...], tops: list[int], items: int,
                prefix: str, separator: Expr) -> list[Expr]:
    """The items that may come next, by which of the wanted kinds they are counted as."""
    normaliser = emitter.normaliser
    options: list[Expr] = []
    for kinds in itertools.product((False, True), repeat=len(tops)):
        item = shape.at(i)
        after = list(found)
        for n, counted in enumerate(kinds):
            wanted, _, limit, start = shape.contains[n]
            if i < start:
                if counted:
                    item = 0
            elif counted:
                item = normaliser.both(item, wanted)
                if limit is not None and found[n] >= limit:
                    item = 0
                after[n] = min(found[n] + 1, tops[n])
            elif limit is not None:
                item = normaliser.both(item, normaliser.negated(wanted))
        if item != 0 and not normaliser.is_empty(item):
            target = Reference(_place(prefix, min(i + 1, items), tuple(after)))
            options.append(Sequence((separator if i else EMPTY, emitter.inner(item), target)))
    return options


def _highest(least: int, most: int | None) -> int:
    """The last number of members that has states of its own."""
    return max(least, 1) if most is None else max(most, least, 1)


def _stage(prefix: str, i: int, written: int) -> Reference:
    return Reference(f"{prefix} {i} {written}")


def _place(prefix: str, i: int, found: tuple[int, ...]) -> str:
    return f"{prefix} {i} {' '.join(map(str, found))}"
