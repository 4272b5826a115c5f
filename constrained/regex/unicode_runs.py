"""Properties of all code points as runs, kept as text for the versions of Unicode that Pythons have.

To ask ``unicodedata`` of each code point takes 20 to 50 ms, to read such a text 1 ms. It is used where the running
Python has just that version of Unicode, and a test holds the two equal; else the code points are asked one by one.
After a new version, ``tests/regex/make_unicode_data.py`` adds it to ``unicode_data``.

Data: code points of the planes 0 to 3 and the first ``PLANE_14_SIZE`` of plane 14, each with a small number as label,
as runs: how many (two bytes, low one first), the label of each, and how long each is less one (seven bits a byte, the
lower first; the eighth says that more follow); compressed (zlib) and in base 85. No run goes on in plane 14.
"""

from __future__ import annotations

import base64
import unicodedata
import zlib
from collections.abc import Iterable
from itertools import groupby

from constrained.regex.charset import FIRST_SURROGATE, LAST_SURROGATE, Ranges
from constrained.regex.unicode_data import RUNS

__all__ = ["PLANE_14", "PLANE_14_SIZE", "UNASSIGNED", "labelled", "packed_runs", "place_of", "unpacked_runs"]

#: The planes from 4 to 13 are unassigned; of plane 14 only the beginning is not.
UNASSIGNED = 0x40000
PLANE_14 = 0xE0000
PLANE_14_SIZE = 0x1000


def place_of(index: int) -> int:
    """The code point number ``index`` of those that are looked at."""
    return index if index < UNASSIGNED else index - UNASSIGNED + PLANE_14


def labelled(kind: str) -> dict[int, Ranges] | None:
    """The code points of each label of ``kind``, surrogates left out; None where there is no text for this Python."""
    text = RUNS.get(unicodedata.unidata_version, {}).get(kind)
    return None if text is None else unpacked_runs(text)


def packed_runs(labels: Iterable[int]) -> str:
    """One label for each code point that is looked at, as text."""
    listed = list(labels)
    runs = [
        (label, len(list(run))) for part in (listed[:UNASSIGNED], listed[UNASSIGNED:]) for label, run in groupby(part)
    ]
    lengths = bytearray()
    for _, length in runs:
        left = length - 1
        while left > 0x7F:
            lengths.append(left & 0x7F | 0x80)
            left >>= 7
        lengths.append(left)
    data = len(runs).to_bytes(2, "little") + bytes(label for label, _ in runs) + bytes(lengths)
    return base64.b85encode(zlib.compress(data, 9)).decode()


def unpacked_runs(text: str) -> dict[int, Ranges]:
    """What ``packed_runs`` wrote."""
    data = zlib.decompress(base64.b85decode(text))
    count = int.from_bytes(data[:2], "little")
    found: dict[int, list[tuple[int, int]]] = {}
    at, index = 2 + count, 0
    for label in data[2:at]:
        length, shift = data[at], 7
        at += 1
        if length > 0x7F:
            length &= 0x7F
            while True:
                more = data[at]
                at += 1
                length |= (more & 0x7F) << shift
                shift += 7
                if more < 0x80:
                    break
        first = place_of(index)
        index += length + 1
        pairs = found.get(label)
        if pairs is None:
            pairs = found[label] = []
        last = first + length
        if first <= LAST_SURROGATE and last >= FIRST_SURROGATE:
            if first < FIRST_SURROGATE:
                pairs.append((first, FIRST_SURROGATE - 1))
            if last > LAST_SURROGATE:
                pairs.append((LAST_SURROGATE + 1, last))
        else:
            pairs.append((first, last))
    return {label: tuple(pairs) for label, pairs in found.items()}
