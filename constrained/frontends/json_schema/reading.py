"""The values of keywords, which have their shapes (``shapes``), as whoever reads them wants them.

Also ``canonical``, the text that equal JSON values share.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from constrained.errors import GrammarLimitError, echo
from constrained.frontends.json_schema.document import Place
from constrained.limits import Limits

__all__ = ["canonical", "count_of", "decimal_of"]


def decimal_of(place: Place, keyword: str) -> Decimal | None:
    """The number of a keyword; None where it does not stand."""
    value = place.schema.get(keyword)
    return None if value is None else Decimal(value)


def count_of(place: Place, keyword: str, limits: Limits) -> int | None:
    """The count of a keyword (``max_repeat`` at most); None where it does not stand."""
    value = place.schema.get(keyword)
    if value is not None and value > limits.max_repeat:
        raise GrammarLimitError("max_repeat", limits.max_repeat, f"{keyword} is {echo(str(value))}")
    return None if value is None else int(value)


def canonical(value: Any) -> str:
    """A text that equal JSON values share: numbers by value, keys sorted."""
    if isinstance(value, (dict, list)):
        return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return _number_text(value)
    return json.dumps(value)


def _plain(value: Any) -> Any:
    """Numbers and strings as strings with different tags, so that 1 and 1.0 are one; depth is bounded where schemas are
    read."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return _number_text(value)
    return "s" + value if isinstance(value, str) else value


def _number_text(value: int | Decimal) -> str:
    """The digits without zeros at their end, and the exponent: exact, where ``normalize`` rounds to 28 digits."""
    sign, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)  # numbers of JSON are finite
    mantissa = "".join(map(str, digits))
    short = mantissa.rstrip("0")
    return f"n{'-' * sign}{short}e{exponent + len(mantissa) - len(short)}" if short else "n0"
