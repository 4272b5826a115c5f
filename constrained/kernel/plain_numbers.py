"""Numbers as JSON Schema compares them: 1 and 1.0 and 10e-1 are one. Plain Python: numbers in short plain forms, which
are nearly all, do not come here."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["LONG", "number_key", "plain_text"]

LONG = 64
"""Characters up to which a number is written out."""

_MANY_ZEROS = 1_000


@lru_cache(maxsize=1024)
def number_key(text: bytes) -> tuple[bool, str, object]:
    """What equal numbers share: (negative, digits without zeros around them, exponent)."""
    mantissa, _, exponent = text.replace(b"E", b"e").partition(b"e")
    negative = mantissa.startswith(b"-")
    whole, _, fraction = mantissa.lstrip(b"-").partition(b".")
    digits = (whole + fraction).lstrip(b"0").decode()
    kept = digits.rstrip("0")
    if not kept:
        return False, "0", 0
    sign, places = exponent[:1] == b"-", exponent.lstrip(b"+-").lstrip(b"0")
    if len(places) > 4_000:  # as far apart as can be: equal if the spelling is
        return negative, kept, (sign, places, len(digits) - len(kept) - len(fraction))
    power = int(places or b"0")
    return negative, kept, (-power if sign else power) + len(digits) - len(kept) - len(fraction)


@lru_cache(maxsize=1024)
def plain_text(key: tuple[bool, str, object]) -> bytes | None:
    """A number without an exponent and without needless zeros; None where that is long."""
    negative, digits, power = key
    if not isinstance(power, int) or abs(power) > _MANY_ZEROS:
        return None
    if power >= 0:
        text = digits + "0" * power
    elif -power < len(digits):
        text = f"{digits[:power]}.{digits[power:]}"
    else:
        text = "0." + "0" * (-power - len(digits)) + digits
    return ("-" + text if negative else text).encode() if len(text) + negative <= LONG else None
