"""What formats have beyond their automata (``formats.RESTRICTED``).

Of such a format a text at hand is judged exactly where that is possible, a grammar writes what a lazy automaton can
say (A-labels), and its negation is what an automaton of *more* than the format does not have: nothing that is accepted
is wrong. Where there is no such automaton the negation is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from constrained.frontends.json_schema.a_labels import is_host_name, with_a_labels
from constrained.frontends.json_schema.format_data import DATA
from constrained.frontends.json_schema.format_tables import unpacked
from constrained.grammar.ir import Expr
from constrained.limits import Limits
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import simplify

__all__ = ["More", "more_of"]


@dataclass(frozen=True, slots=True, eq=False)
class More:
    """``accepts``: whether a text is one of the format; it need not know those of the automaton.

    ``written``: the grammar of texts that are in no automaton, of at most so many characters, closing quote included.
    ``beyond``: an automaton that has all of the format and more; None: there is none.
    """

    accepts: Callable[[str], bool]
    written: Callable[[int], Expr | None] = lambda _most: None
    beyond: Callable[[], Dfa] | None = None


_MINUTES = 24 * 60
_LEAP = re.compile(r"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt])?([0-9]{2}):([0-9]{2}):60(?:\.[0-9]+)?"
                   r"(?:[Zz]|([-+])([0-9]{2}):([0-9]{2}))", re.ASCII)
#: Any offset beside a leap second.
_LOOSE = (r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[-+](?:[01][0-9]|2[0-3]):[0-5][0-9])")


def _is_leap(text: str, dated: bool) -> bool:
    """Whether a time is 23:59:60 in UTC (RFC 3339, section 5.7). What stands before it has to be a date."""
    found = _LEAP.fullmatch(text)
    if found is None:
        return False
    date, hour, minute, sign, east, past = found.groups()
    if (date is not None) != dated or int(hour) > 23 or int(minute) > 59 or int(east or 0) > 23 or int(past or 0) > 59:
        return False
    if date is not None and not unpacked_date().accepts(date):
        return False
    offset = int(east or 0) * 60 + int(past or 0)
    return (int(hour) * 60 + int(minute) - (-offset if sign == "-" else offset)) % _MINUTES == _MINUTES - 1


@cache
def unpacked_date() -> Dfa:
    """The automaton of the format ``date``."""
    return unpacked(DATA["date"])


def _automaton(pattern: str) -> Dfa:
    limits = Limits()
    return minimise(determinise(simplify(parse_python(pattern, limits)), limits))


def more_of(name: str, loose_hostname: str, date: str) -> More | None:
    """What ``name`` has beyond its automaton; None where that is all of it.

    ``loose_hostname``: pattern of host names in which ``xn--`` says nothing; ``date``: of dates.
    """
    if name == "hostname":
        return More(is_host_name, with_a_labels, lambda: _automaton(loose_hostname))
    if name == "idn-hostname":
        return More(is_host_name, with_a_labels)
    if name == "time":
        return More(lambda text: _is_leap(text, dated=False), beyond=lambda: _automaton(_LOOSE))
    if name == "date-time":
        return More(lambda text: _is_leap(text, dated=True), beyond=lambda: _automaton(f"{date}[Tt]{_LOOSE}"))
    if name == "regex":
        return More(lambda _text: False)
    return None
