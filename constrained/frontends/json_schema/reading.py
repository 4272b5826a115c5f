"""The values of keywords as they must be: a wrong one is a ``SchemaError`` with its pointer.

Also ``canonical``, the text that equal JSON values share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from constrained.errors import GrammarLimitError, SchemaError, echo
from constrained.frontends.json_schema.document import Place
from constrained.limits import Limits

__all__ = ["canonical", "count_of", "decimal_of", "flag_of", "kind_name", "mapping_of", "names_of"]


_STR = {str}


def decimal_of(place: Place, keyword: str) -> Decimal | None:
    """The number of a keyword; None where it does not stand."""
    value = place.schema.get(keyword)
    if value is None:
        if keyword in place.schema:
            raise SchemaError(f"{keyword} must be a number", pointer=f"{place.pointer}/{keyword}")
        return None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise SchemaError(f"{keyword} must be a number, not {kind_name(value)}", pointer=f"{place.pointer}/{keyword}")
    return Decimal(value)


def count_of(place: Place, keyword: str, limits: Limits) -> int | None:
    """The count of a keyword (``max_repeat`` at most); None where it does not stand."""
    value = place.schema.get(keyword)
    if type(value) is not int or not 0 <= value <= limits.max_repeat:  # else it is right as it is
        number = decimal_of(place, keyword)
        if number is None:
            return None
        if number < 0 or number != number.to_integral_value():
            raise SchemaError(f"{keyword} must be an integer of at least 0", pointer=f"{place.pointer}/{keyword}")
        if number > limits.max_repeat:
            raise GrammarLimitError("max_repeat", limits.max_repeat, f"{keyword} is {echo(str(number))}")
        return int(number)
    return value


def flag_of(place: Place, keyword: str) -> bool:
    """The boolean of a keyword; False where it does not stand."""
    value = place.schema.get(keyword, False)
    if not isinstance(value, bool):
        raise SchemaError(f"{keyword} must be a boolean", pointer=f"{place.pointer}/{keyword}")
    return value


def mapping_of(place: Place, keyword: str) -> Mapping[str, Any]:
    """The object of a keyword that stands."""
    value = place.schema[keyword]
    if not isinstance(value, dict):
        raise SchemaError(f"{keyword} must be an object", pointer=f"{place.pointer}/{keyword}")
    return value


def names_of(place: Place, keyword: str, name: str | None = None) -> frozenset[str]:
    """The list of names of a keyword that stands, or that it has for ``name``."""
    value = place.schema[keyword] if name is None else place.schema[keyword][name]
    if not isinstance(value, list) or not (set(map(type, value)) <= _STR or all(isinstance(v, str) for v in value)):
        raise SchemaError(f"{keyword} must hold a list of names", pointer=f"{place.pointer}/{keyword}")
    return frozenset(value)


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


def kind_name(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    names: dict[type, str] = {str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), type(value).__name__)
