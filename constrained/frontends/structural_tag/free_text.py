"""Free text that something ends: a trigger, the end of a tag, or the end of the output.

The text before holds no stop and nothing excluded; behind it stands one of the stops, and what that stop calls for.
Both are written one after the other, and the automaton runs them side by side. That is exactly "the first stop ends
the text" as long as no stop can begin inside the end of another one; where one can (``aa``, or ``ab`` beside ``ba``)
each stop is written as an automaton of its own that ends with its first occurrence.
"""

from __future__ import annotations

from constrained.frontends.structural_tag.delimiters import Delimiters
from constrained.grammar import combinators as make
from constrained.grammar.ir import AnyTextUntil, Expr, Literal

__all__ = ["Stop", "free_text", "hidden_stop", "joined_stops"]

Stop = tuple[str, list[tuple[str, Expr]]]
"""``(encoded stop, [(encoded text that begins with it, what follows that text)])``; no texts: it may not occur."""


def hidden_stop(stops: list[bytes], excluded: list[bytes]) -> tuple[bytes, bytes] | None:
    """A stop that is never complete because another one, or something excluded, is within it: ``(stop, other)``."""
    for stop in stops:
        for other in (*stops, *excluded):
            if other != stop and other in stop[:-1]:
                return stop, other
    return None


def joined_stops(stops: list[bytes], excluded: list[bytes]) -> tuple[bytes, bytes] | None:
    """Two stops that are complete at the same place, where ``free_text`` needs each to end the text alone."""
    if _overlapping(stops, tuple(dict.fromkeys([*stops, *excluded]))):
        for stop in stops:
            for other in stops:
                if other != stop and stop.endswith(other):
                    return stop, other
    return None


def free_text(delimiters: Delimiters, stops: list[Stop], excludes: list[bytes], *, may_end: bool) -> Expr:
    """Text, then one of the stops with what follows it; or, if ``may_end``, nothing more."""
    heads = [delimiters.spelled(encoded) for encoded, _ in stops]
    forbidden = tuple(dict.fromkeys([*heads, *excludes]))
    text = AnyTextUntil(forbidden, consume=False)
    ends: list[Expr] = [make.empty()] if may_end else []
    if not _overlapping(heads, forbidden):
        options = [option for _, options in stops for option in options]
        if options:
            ends.insert(0, delimiters.dispatch(options))
        return make.sequence(text, make.choice(*ends)) if ends else make.nothing()
    found: list[Expr] = [make.sequence(text, *ends)] if may_end else []
    for (encoded, options), head in zip(stops, heads, strict=True):
        if not options:
            continue
        others = tuple(other for other in forbidden if other != head)
        until = AnyTextUntil((head,), consume=True, excludes=others)
        spelled = [(text[len(encoded) :], then) for text, then in options]
        found.append(make.sequence(until, delimiters.dispatch(spelled)))
        # the same by token: a token ends the text wherever it stands
        for whole, then in options:
            for at, char in enumerate(whole):
                if at < len(encoded) and delimiters.is_token(char):
                    found.append(make.sequence(
                        text, Literal(delimiters.spelled(whole[:at])), delimiters.token(char),
                        delimiters.expression(whole[at + 1 :]), then))
    return make.choice(*found)


def _overlapping(heads: list[bytes], forbidden: tuple[bytes, ...]) -> bool:
    """Whether something forbidden can be complete within a stop that began before: a suffix of it begins the stop."""
    suffixes = {other[-k:] for other in forbidden for k in range(1, len(other) + 1)}
    return any(head[:k] in suffixes for head in heads for k in range(1, len(head)))
