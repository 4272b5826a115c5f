"""``uniqueItems`` beyond finite sets, and objects whose undeclared names must differ: what ``Distinct`` is put around.

The engine kills an item that came before, and sees to it that an item once begun can be ended as a new one. That
another item can follow wherever one must is promised here: each place has more values than items can stand before it.
Where a place of ``prefixItems`` has only a few, those are written out: one rule for each set of them that has been
used, the other places being told apart from them. What is left is refused.

Where undeclared members must exist and a grammar alone would have to tell their names apart (``witnesses``), they are
items of a group in any order among any members, and ``Distinct`` sees to it that no name comes again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.cardinality import at_least, strings_at_least
from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.finite_values import exact_count
from constrained.frontends.json_schema.objects import Cell, ObjectShape
from constrained.frontends.json_schema.reading import canonical
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.witnesses import MAX_WITNESSES, members_of, part_of, partitions
from constrained.grammar.ir import Choice, Distinct, Expr, Literal, Reference, Repeat, Sequence

if TYPE_CHECKING:
    from constrained.frontends.json_schema.emit import Emitter

__all__ = ["different_items", "different_members", "names_suffice"]

NO_END = 10**15
"""Values that nobody uses up: so many are as good as no end of them."""

MAX_WANTED = 3
"""Kinds of items that an array of different items may ask for."""

MAX_STATES = 512
"""Rules for one array with places that have few values."""

ENDLESS = 1_000_000
"""Names of which there are so many that no object is expected to use them up."""


def different_items(emitter: Emitter, shape: ArrayShape, finite: Callable[[int], list[Any] | None]) -> Expr:
    """An array of different items out of a set that is not finite. ``finite``: the few values of an expression.

    Raises ``NotEnforced`` and ``GrammarLimitError``.
    """
    limits = emitter.normaliser.limits
    rest = shape.rest if not emitter.normaliser.is_empty(shape.rest) else FALSE

    def count(expression: int, wanted: int) -> int:
        return at_least(emitter.normaliser, expression, wanted, strict=emitter.strict,
                        digits=emitter.policy.max_number_digits)

    most = NO_END if rest != FALSE and not shape.contains and count(rest, NO_END) == NO_END else (
        limits.max_distinct_items)
    if shape.minimum > most:
        raise GrammarLimitError("max_distinct_items", most, f"{shape.minimum} different items must stand in an array")
    room = most if shape.maximum is None else min(shape.maximum, most)
    if most < NO_END and rest != FALSE and not shape.prefix:
        there_are = exact_count(emitter.normaliser, rest, room, strict=emitter.strict)
        room = room if there_are is None else min(room, there_are)
        if shape.minimum > room:
            return Choice(())
        if shape.contains and there_are is not None:
            shape = shape.changed(maximum=room)
    whole, shape = shape, shape.changed(unique=False, maximum=room if room < NO_END else None)
    k = min(len(shape.prefix), room)

    if shape.contains and (k or len(shape.contains) > 1 or shape.contains[0][1:] != (1, None, 0)):
        return Distinct(_with_contained(emitter, whole.changed(unique=False), rest, k, room, count, finite))
    if room > k and rest != FALSE and count(rest, room) < room:
        raise NotEnforced("uniqueItems over items of which there may be too few",
                          "list the items' values with enum, lower maxItems, or drop uniqueItems")
    few = [i for i in range(k) if count(shape.prefix[i], i + 1) < i + 1]
    if not few:
        return Distinct(emitter.array(shape))
    values: dict[str, Any] = {}
    for i in few:
        found = finite(shape.prefix[i])
        if found is None:
            raise NotEnforced("uniqueItems over prefixItems of which there may be too few values",
                              "list the items' values with enum, or drop uniqueItems")
        for value in found:
            values.setdefault(canonical(value), value)
    return Distinct(_written_out(emitter, shape, rest, k, few, list(values.values())))


def _with_contained(emitter: Emitter, shape: ArrayShape, rest: int, k: int, room: int,
                    count: Callable[[int, int], int], finite: Callable[[int], list[Any] | None]) -> Expr:
    """An array in which items are wanted: enough values must there be wherever an item is begun.

    What is wanted cuts values into *cells*, and an item that is begun is of some of them. Of a cell every place has
    more values than items stand before it, or all places have the same few: then no more items of the cell are begun
    than it has values, which is one more thing to count.
    """
    normaliser = emitter.normaliser
    if len(shape.contains) > MAX_WANTED:
        raise NotEnforced(f"uniqueItems beside more than {MAX_WANTED} contains", "drop uniqueItems, or contains")
    places = [(place, i + 1) for i, place in enumerate(shape.prefix[:k])]
    if room > k and rest != FALSE:
        places.append((rest, room))
    contains = list(shape.contains)
    for signs in itertools.product((True, False), repeat=len(shape.contains)):
        cell = TRUE
        for sign, (wanted, _, _, _) in zip(signs, shape.contains, strict=True):
            cell = normaliser.both(cell, wanted if sign else normaliser.negated(wanted))
        inside = [(kind, needed) for place, needed in places if (kind := normaliser.both(place, cell)) != FALSE
                  and not normaliser.is_empty(kind)]
        if all(count(kind, needed) >= needed for kind, needed in inside):
            continue
        # with several kinds of few values the reader beside the automaton follows too many counts at once
        few = _same_values([kind for kind, _ in inside], finite) if len(shape.contains) == 1 else None
        if few is None:
            raise NotEnforced("uniqueItems beside contains of which there may be too few items",
                              "drop uniqueItems, or contains")
        wanted, low, high, start = contains[0]
        if signs == (True,) and start == 0:
            contains[0] = wanted, low, few if high is None else min(high, few), start
        else:
            contains.append((cell, 0, few, 0))
    if len(contains) == 1 and contains[0][1:3] == (0, None):
        contains = []
    return emitter.array(shape.changed(contains=tuple(contains)))


def _same_values(expressions: list[int], finite: Callable[[int], list[Any] | None]) -> int | None:
    """How many values each of some expressions has, if all have the same few; else None."""
    found: frozenset[str] | None = None
    for expression in expressions:
        values = finite(expression)
        if values is None:
            return None
        keys = frozenset(map(canonical, values))
        if found is not None and keys != found:
            return None
        found = keys
    return len(found or ())


def _written_out(emitter: Emitter, shape: ArrayShape, rest: int, k: int, few: list[int], values: list[Any]) -> Expr:
    """One rule for each (place, values used): what may follow there."""
    normaliser = emitter.normaliser
    constants = [normaliser.constant(value) for value in values]
    prefix = f"different items {len(emitter.rules)}"
    separator = emitter.separator()
    known: dict[tuple[int, frozenset[int]], str] = {}
    waiting: list[tuple[int, frozenset[int]]] = []

    def place(i: int, used: frozenset[int]) -> Reference:
        key = (i, used)
        if key not in known:
            if len(known) >= MAX_STATES:
                raise NotEnforced("uniqueItems over prefixItems with this many values", "drop uniqueItems")
            known[key] = f"{prefix} {i} {' '.join(map(str, sorted(used)))}"
            waiting.append(key)
        return Reference(known[key])

    first = place(0, frozenset())
    for i, used in waiting:  # grows while it is read
        gap: Expr = separator if i else Literal(b"")
        options: list[Expr] = []
        if i and i >= shape.minimum:
            options.append(Literal(b""))
        if i < k:
            item = shape.prefix[i]
            for number, constant in enumerate(constants):
                if number not in used and not normaliser.is_empty(normaliser.both(constant, item)):
                    options.append(Sequence((gap, emitter.inner(normaliser.both(constant, item)),
                                             place(i + 1, used | {number}))))
            if i not in few:
                other = item
                for constant in constants:
                    other = normaliser.both(other, normaliser.negated(constant))
                if not normaliser.is_empty(other):
                    options.append(Sequence((gap, emitter.inner(other), place(i + 1, used))))
        elif rest != FALSE and (shape.maximum is None or shape.maximum > i):
            more = None if shape.maximum is None else shape.maximum - i
            item_of_rest = emitter.inner(rest)
            if i:
                options = [Repeat(Sequence((separator, item_of_rest)), max(shape.minimum - i, 0), more)]
        emitter.rules[known[i, used]] = options[0] if len(options) == 1 else Choice(tuple(options))
    return emitter.bracketed(b"[", first, b"]", shape.minimum == 0)


def different_members(emitter: Emitter, shape: ObjectShape, members: list[Expr], standing: list[int],
                      cells: tuple[Cell, ...], declared: list[str]) -> Expr:
    """An object in which undeclared members must exist, no two of one name. Raises ``NotEnforced``."""
    normaliser = emitter.normaliser
    if len(shape.exists) > MAX_WITNESSES:
        raise NotEnforced(f"more than {MAX_WITNESSES} undeclared members must exist",
                          "name the properties, or drop some of the negations")
    n = len(members)
    room = None if shape.maximum is None else shape.maximum - len(standing)
    free = emitter.free_member(cells, declared)
    options: list[Expr] = []
    for groups in partitions(list(shape.exists)):
        if room is not None and len(groups) > room:
            continue
        plays: list[Expr] = []
        for group in groups:
            part = part_of(group, normaliser)
            playing = members_of(part, cells, normaliser) if part is not None else ()
            play = emitter.free_member(playing, declared)
            if play is None:
                break
            if not names_suffice(emitter, playing, declared, ENDLESS):
                raise NotEnforced("undeclared members of few names must exist", "declare the properties")
            plays.append(play)
        if len(plays) < len(groups):
            continue
        least, most = emitter.counts(shape, n, len(standing), free, len(plays), True)
        if least and not names_suffice(emitter, cells, declared, ENDLESS):
            raise NotEnforced("minProperties counts undeclared members of which there are few names",
                              "declare the properties, or require them by name")
        if emitter.policy.property_order == "any":
            options.append(emitter.in_any_order([*members, *plays], [*standing, *range(n, n + len(plays))], free, least,
                                                most))
            continue
        for order in itertools.permutations(plays):
            stages: list[tuple[Expr | None, bool | None]] = [(member, i in standing)
                                                             for i, member in enumerate(members)]
            stages.append((free, None))
            for play in order:
                stages += [(play, True), (free, None)]
            options.append(emitter.in_stages(stages, least, most))
    return Distinct(options[0] if len(options) == 1 else Choice(tuple(options)))


def names_suffice(emitter: Emitter, cells: tuple[Cell, ...], declared: list[str], least: int) -> bool:
    """Whether undeclared members can have ``least`` different names."""
    normaliser = emitter.normaliser
    return any(strings_at_least(names.exclude_values(declared), least, normaliser.limits) >= least
               for names, expression in cells if not normaliser.is_empty(expression))
