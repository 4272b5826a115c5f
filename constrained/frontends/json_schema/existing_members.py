"""Objects in which some undeclared member must exist, and the few names of cells that have no more.

A cell of few names is as good as members that are declared. Of what is left each way to play the parts is an
alternative of its own (``witnesses``): the players stand among the other members, or behind them in each order, where
nothing that comes later may replace one.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import TYPE_CHECKING

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.counted_rules import Stage, stages_of
from constrained.frontends.json_schema.distinct_items import different_members
from constrained.frontends.json_schema.objects import ANY_OBJECT, Cell, ObjectShape, meet
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.json_schema.witnesses import casts, harmless, members_of
from constrained.grammar.ir import Choice, Expr, Sequence, Unordered

if TYPE_CHECKING:
    from constrained.frontends.json_schema.emit import Emitter

__all__ = ["few_named", "spelled_out", "with_witnesses"]

MAX_NAMES = 32
"""Undeclared names that are declared where a member of one of them must exist."""
MOST_LISTED = 1_000
"""Names of a cell that are looked at one by one."""


def with_witnesses(emitter: Emitter, shape: ObjectShape, members: list[Expr], standing: list[int],
                   cells: tuple[Cell, ...], declared: list[str]) -> Expr:
    """An object in which undeclared members must exist. Raises ``NotEnforced``."""
    n = len(members)
    normaliser = emitter.normaliser
    try:
        parted = casts(shape.exists, None if shape.maximum is None else shape.maximum - len(standing), normaliser)
    except NotEnforced:
        return different_members(emitter, shape, members, standing, cells, declared)
    bound = [harmless(cells, parts, normaliser) for parts in parted]
    if any(safe != cells for safe in bound):
        try:  # in every order
            return different_members(emitter, shape, members, standing, cells, declared)
        except NotEnforced:  # few names: in the orders in which none that must exist is replaced
            pass
    free = emitter.free_member(cells, declared)
    options: list[Expr] = []
    for parts, behind_all in zip(parted, bound, strict=True):
        plays = [emitter.free_member(members_of(part, cells, normaliser), declared) for part in parts]
        players = [play for play in plays if play is not None]
        if len(players) < len(parts):
            continue
        least, most = emitter.counts(shape, n, len(standing), free, len(parts))
        if emitter.any_order:
            safe = emitter.free_member(behind_all, declared)
            options.append(emitter.in_any_order([*members, *players], [*standing, *range(n, n + len(players))], safe,
                                                least, most))
        for order in itertools.permutations(range(len(parts))):
            # whatever comes before may still be replaced; whatever comes behind must not replace
            if emitter.any_order:
                if (n or free is not None) and (most is None or most > len(parts)):
                    before = Unordered(tuple(members), frozenset(standing), emitter.separator(), free,
                                       max(least - len(parts), 1), None if most is None else most - len(parts))
                    behind = [Sequence((emitter.separator(), players[part])) for part in order]
                    options.append(emitter.bracketed(b"{", Sequence((before, *behind)), b"}", False))
                continue
            stages: list[Stage] = [*stages_of(members, standing), (free, None)]
            for k, part in enumerate(order):
                safe = emitter.free_member(harmless(cells, [parts[i] for i in order[: k + 1]], normaliser), declared)
                stages += [(players[part], True), (safe, None)]
            options.append(emitter.in_stages(stages, least, most))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def few_named(emitter: Emitter, shape: ObjectShape) -> tuple[ObjectShape, ...] | None:
    """A shape in which some member must exist as alternatives in which the members of cells of few names are
    declared; None where no cell has few names."""
    declared = shape.declared()
    cells: list[Cell] = []
    members: list[tuple[str, int]] = []
    for names, expression in shape.others:
        few = _few_names(emitter, names, declared)
        if few is None or len(members) + len(few) > MAX_NAMES:
            cells.append((names, expression))
        else:
            members += [(name, expression) for name in few]
    if len(cells) == len(shape.others):
        return None
    return meet(shape.changed(properties=shape.properties + tuple(members), others=tuple(cells)), ANY_OBJECT,
                emitter.normaliser)


def spelled_out(emitter: Emitter, cells: tuple[Cell, ...], members: list[Expr], declared: list[str]
                ) -> tuple[Cell, ...]:
    """``cells`` without those of few names, which become members that may stand."""
    left: list[Cell] = []
    for names, expression in cells:
        few = _few_names(emitter, names, declared)
        if few is None:
            left.append((names, expression))
        elif not emitter.normaliser.is_empty(expression):
            members += [emitter.member(name, expression) for name in few]
            declared += few
    return tuple(left)


def _few_names(emitter: Emitter, names: StringShape, declared: Collection[str]) -> list[str] | None:
    """All of ``names`` but the declared ones, where they are few."""
    if names in emitter.listed:
        listed = emitter.listed[names]
    else:
        try:
            listed = names.enumerated(MOST_LISTED, emitter.normaliser.limits)
        except GrammarLimitError:
            listed = None  # a pattern beside many lengths
        emitter.listed[names] = listed
    return None if listed is None else [name for name in listed if name not in declared]
