"""Durations of ISO 8601 as Pydantic writes and reads them.

What is written has years of 365 days, days, hours, minutes and seconds with a fraction, each left out where it is zero;
the largest is 999,999,999 days and a day less a microsecond. Weeks, and hours and minutes past their usual ends
(``PT90M``), are taken too where no bound is asked for. With a bound only the written form is, whose parts are compared
from the left: at least a duration is a pattern, at most one is what is not at least a microsecond more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from constrained.frontends.json_schema.strings import Language, StringShape
from constrained.frontends.python_types.languages import language
from constrained.frontends.python_types.times import fractions
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex.dfa import Dfa

__all__ = ["timedelta_shapes"]

_LIMITS = Limits()
_TIME = r"(?:T(?:{h}H(?:{m}M)?(?:{s}S)?|{m}M(?:{s}S)?|{s}S))"
_USUAL = _TIME.format(h="(?:1?[0-9]|2[0-3])", m="[1-5]?[0-9]", s=r"[1-5]?[0-9](?:\.[0-9]{1,6})?")
_FREE = _TIME.format(h="[0-9]{1,4}", m="[0-9]{1,4}", s=r"[0-9]{1,5}(?:\.[0-9]{1,6})?")
_DAYS = "(?:[1-9]|[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-4])"
_YEARS = ("(?:[1-9][0-9]{0,5}|1[0-9]{6}|2[0-6][0-9]{5}|27[0-2][0-9]{4}|273[0-8][0-9]{3}|2739[0-6][0-9]{2}"
          "|27397[01][0-9]|273972[0-5])")
_LARGE = f"{_YEARS}Y(?:{_DAYS}D)?{_USUAL}?"
_MOST = f"2739726Y(?:[1-9]D)?{_USUAL}?"
_MOST_BELOW = f"2739726Y(?:(?:[1-8]D)?{_USUAL}?|9D)"
_ANY = (f"P(?:{_LARGE}|{_MOST})|-P(?:{_LARGE}|{_MOST_BELOW})"
        f"|-?P(?:[0-9]{{1,6}}D{_FREE}?|{_FREE}|[0-9]{{1,4}}W)")
_SMALL = f"{_DAYS}D{_USUAL}?|{_USUAL}"
_MICROSECOND = dt.timedelta(microseconds=1)


def timedelta_shapes(schema: Mapping[str, Any]) -> list[StringShape]:
    """Durations within bounds."""
    low, high = dt.timedelta.min // _MICROSECOND, dt.timedelta.max // _MICROSECOND
    bounded = False
    for name, moved in (("ge", 0), ("gt", 1), ("le", 0), ("lt", -1)):
        bound = schema.get(name)
        if bound is not None:
            bounded = True
            value = bound // _MICROSECOND + moved
            low, high = (max(low, value), high) if name[0] == "g" else (low, min(high, value))
    if not bounded:
        return [StringShape(languages=(language("timedelta of Python", _ANY),))]
    return [StringShape(languages=(found,)) for found in _between(low, high)]


@lru_cache(maxsize=256)
def _between(low: int, high: int) -> tuple[Language, ...]:
    """The durations from ``low`` to ``high`` microseconds, those without a sign and those with one."""
    found = []
    for sign, most, first, last in (("", _MOST, low, high), ("-", _MOST_BELOW, max(-high, 1), -low)):
        # zero has no sign: Pydantic takes -PT0S for less than nothing
        if last < max(first, 0):
            continue
        dfa = language(f"written timedelta {sign}", f"{sign}P(?:{_LARGE}|{most}|{_SMALL})").dfa(_LIMITS)
        if first > 0:
            dfa = automata.intersection(dfa, _at_least(sign, first), _LIMITS)
        dfa = automata.intersection(dfa, automata.complement(_at_least(sign, last + 1)), _LIMITS)
        if dfa.accepting:
            found.append(Language(f"timedelta {sign} {first} {last}", None, automata.minimise(dfa)))
    return tuple(found)


def _at_least(sign: str, microseconds: int) -> Dfa:
    """Among the written durations of one sign, those of at least so many microseconds."""
    seconds, fraction = divmod(microseconds, 10**6)
    days, seconds = divmod(seconds, 86_400)
    parts = [days // 365, days % 365, seconds // 3600, seconds // 60 % 60, seconds % 60]
    options: list[str] = []
    before = f"{sign}P"
    for value, unit in zip(parts, "YDHMS", strict=True):
        if unit == "H":
            before += "T?"
        behind = "(?:[0-9]*Y)?(?:[0-9]*D)?(?:T.*)?" if unit in "YD" else ".*"
        end = rf"(?:\.[0-9]*)?{unit}" if unit == "S" else unit
        options.append(f"{before}{_number(value + 1)}{end}{behind}")
        if unit != "S":
            before += f"{value}{unit}" if value else f"(?:0{unit})?"
    last = parts[-1]
    for tail in fractions(fraction, True, True):
        options.append(f"{before}{last}{tail}S")
    if not last and not fraction:
        options.append(before)
    return language(f"timedelta {sign} from {microseconds}", "|".join(options)).dfa(_LIMITS)


def _number(least: int) -> str:
    """Whole numbers from ``least`` on, of at most seven digits."""
    digits = str(least)
    options = [f"{digits[:i]}[{int(digit) + 1}-9][0-9]{{{len(digits) - i - 1}}}"
               for i, digit in enumerate(digits) if digit != "9"]
    options.append(digits)
    if len(digits) < 7:
        options.append(f"[1-9][0-9]{{{len(digits)},6}}")
    return f"(?:{'|'.join(options)})"
