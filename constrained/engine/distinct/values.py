"""JSON values as ints: equal values, as JSON Schema compares them, have equal ids.

A value is interned under a key that names its parts by their ids, so comparing and hashing never recurse. 1 and 1.0
and 10e-1 are one number, a name's place in an object does not count, and of a name that is written twice the last
counts. Sets of ids are persistent: adding one shares all but a path of the tree, and equal sets have equal ids
(hash-consing; Filliatre and Conchon 2006).

Cost: a set of n values takes six nodes of 16 ints for each addition, and so many loads to look one up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

__all__ = ["Chains", "Sets", "Values", "number_key", "plain_text"]

_BITS = 4
_WIDTH = 1 << _BITS
_LEVELS = 7
"""Ids up to 2 ** 28."""

_LONG = 1_000
"""Digits up to which a number is written out."""


class Sets:
    """Persistent sets of ints below ``2 ** 28``; 0 is the empty one."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, ...]] = [(0,) * _WIDTH]
        self.ids: dict[tuple[int, ...], int] = {self.nodes[0]: 0}
        self.added: dict[int, tuple[int, int]] = {}

    def contains(self, root: int, value: int) -> bool:
        """Whether ``value`` is in the set ``root``."""
        if root == 0:
            return False
        node = root
        for level in range(_LEVELS - 1, -1, -1):
            node = self.nodes[node][(value >> (_BITS * level)) & (_WIDTH - 1)]
            if node == 0:
                return False
        return True

    def add(self, root: int, value: int) -> int:
        """The set ``root`` with ``value``, which is not in it."""
        path = []
        node = root
        for level in range(_LEVELS - 1, -1, -1):
            place = (value >> (_BITS * level)) & (_WIDTH - 1)
            path.append((node, place))
            node = self.nodes[node][place]
        child = 1 << 30  # a leaf: present
        for node, place in reversed(path):
            row = self.nodes[node]
            child = self._intern((*row[:place], child, *row[place + 1 :]))
        self.added[child] = (root, value)  # where several ways lead here, any of them tells the members
        return child

    def _intern(self, row: tuple[int, ...]) -> int:
        known = self.ids.get(row)
        if known is None:
            known = self.ids[row] = len(self.nodes)
            self.nodes.append(row)
        return known

    def items(self, root: int) -> Iterator[int]:
        """The members, in no order."""
        while root:
            root, value = self.added[root]
            yield value


class Chains:
    """Interned sequences of ints, grown at the end: ``(before, last, length)``; 0 is the empty one."""

    def __init__(self) -> None:
        self.links: list[tuple[int, int, int]] = [(0, 0, 0)]
        self.ids: dict[tuple[int, int], int] = {}
        self.listed: dict[int, tuple[list[int], list[int]]] = {}

    def add(self, chain: int, value: int) -> int:
        """``chain`` with ``value`` behind it."""
        known = self.ids.get((chain, value))
        if known is None:
            known = self.ids[chain, value] = len(self.links)
            self.links.append((chain, value, self.links[chain][2] + 1))
        return known

    def length(self, chain: int) -> int:
        return self.links[chain][2]

    def written(self, chain: int) -> tuple[list[int], list[int]]:
        """The chain's beginnings, from the empty one to itself, and its values."""
        known = self.listed.get(chain)
        if known is None:
            beginnings, values = [chain], []
            here = chain
            while here:
                here, value, _ = self.links[here]
                beginnings.append(here)
                values.append(value)
            known = self.listed[chain] = (beginnings[::-1], values[::-1])
        return known


class Values:
    """The table of values: ``keys[id]`` is ``("s", text)``, ``("#", ...)``, ``("l", word)``, ``("[", chain)`` or
    ``("{", members)`` with members sorted by name."""

    def __init__(self) -> None:
        self.keys: list[tuple[object, ...]] = [()]
        self.ids: dict[tuple[object, ...], int] = {}

    def intern(self, key: tuple[object, ...]) -> int:
        """The id of a value, from 1 on."""
        known = self.ids.get(key)
        if known is None:
            known = self.ids[key] = len(self.keys)
            self.keys.append(key)
        return known


@lru_cache(maxsize=65536)
def number_key(text: bytes) -> tuple[object, ...]:
    """What equal numbers share: ``("#", negative, digits without zeros around them, exponent)``."""
    mantissa, _, exponent = text.replace(b"E", b"e").partition(b"e")
    negative = mantissa.startswith(b"-")
    whole, _, fraction = mantissa.lstrip(b"-").partition(b".")
    digits = (whole + fraction).lstrip(b"0").decode()
    kept = digits.rstrip("0")
    if not kept:
        return "#", False, "0", 0
    sign, places = exponent[:1] == b"-", exponent.lstrip(b"+-").lstrip(b"0")
    if len(places) > 4_000:  # as far apart as can be: equal if the spelling is
        return "#", negative, kept, (sign, places, len(digits) - len(kept) - len(fraction))
    power = int(places or b"0")
    return "#", negative, kept, (-power if sign else power) + len(digits) - len(kept) - len(fraction)


@lru_cache(maxsize=65536)
def plain_text(key: tuple[object, ...]) -> str | None:
    """A number without an exponent and without needless zeros; None where that is long."""
    _, negative, digits, power = key
    assert isinstance(digits, str)
    if not isinstance(power, int) or abs(power) > _LONG:
        return None
    if power >= 0:
        text = digits + "0" * power
    elif -power < len(digits):
        text = f"{digits[:power]}.{digits[power:]}"
    else:
        text = "0." + "0" * (-power - len(digits)) + digits
    return "-" + text if negative else text
