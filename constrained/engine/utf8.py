"""A class of code points as a small byte automaton, shared by every grammar that uses the class.

A template is a list of edges ``(state, first byte, last byte, next state)``; state 0 is before the character,
state 1 after it, the others are in the middle of one. States with equal futures are one state, so ``[^"]`` has
eight. Built once for a class (cached by its ranges); cost about 1 us a range.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["Template", "char_template"]

Template = tuple[int, tuple[tuple[int, int, int, int], ...]]
"""``(number of states, edges)``."""

_LAST_OF_LENGTH = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)


@lru_cache(maxsize=4096)
def char_template(ranges: tuple[tuple[int, int], ...]) -> Template:
    """The byte automaton of one code point out of ``ranges`` (sorted, disjoint; surrogates are left out)."""
    ids: dict[tuple[tuple[int, int, int], ...], int] = {}
    edges: list[tuple[int, int, int, int]] = []

    def state(out: list[tuple[int, int, int]]) -> int:
        key = tuple(out)
        known = ids.get(key)
        if known is None:
            known = ids[key] = len(ids) + 2
            edges.extend((known, lo, hi, to) for lo, hi, to in key)
        return known

    first: list[tuple[int, int, int]] = []
    for length in range(1, 5):
        low = 0 if length == 1 else _LAST_OF_LENGTH[length - 2] + 1
        cut = [(max(a, low), min(b, _LAST_OF_LENGTH[length - 1])) for a, b in ranges]
        cut = [r for r in _without_surrogates(cut) if r[0] <= r[1]]
        if cut:
            first.extend(_encode(cut, length, state))
    merged = _merge(first)
    edges.extend((0, lo, hi, to) for lo, hi, to in merged)
    return len(ids) + 2, tuple(edges)


def _without_surrogates(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for a, b in ranges:
        if b < 0xD800 or a > 0xDFFF:
            found.append((a, b))
        else:
            found.append((a, 0xD7FF))
            found.append((0xE000, b))
    return found


def _encode(ranges: list[tuple[int, int]], length: int, state) -> list[tuple[int, int, int]]:  # type: ignore[no-untyped-def]
    """Edges for the lead byte of ``ranges`` (all of one encoded length): level by level, at most four deep."""
    if length == 1:
        return [(a, b, 1) for a, b in ranges]
    lead = {2: 0xC0, 3: 0xE0, 4: 0xF0}[length]
    return _level(ranges, 6 * (length - 1), lead, state)


def _level(ranges: list[tuple[int, int]], shift: int, prefix: int, state) -> list[tuple[int, int, int]]:  # type: ignore[no-untyped-def]
    """Edges on the byte that holds the bits above ``shift``; the bits below go to deeper states.

    The depth is at most three (bytes of one character), so this recursion does not depend on the input.
    """
    if shift == 0:
        return _merge([(prefix | a, prefix | b, 1) for a, b in ranges])
    mask = (1 << shift) - 1
    parts: list[tuple[int, list[tuple[int, int]]]] = []
    out: list[tuple[int, int, int]] = []

    def flush() -> None:
        for top, below in parts:
            out.append((prefix | top, prefix | top, state(_level(below, shift - 6, 0x80, state))))
        parts.clear()

    for a, b in ranges:
        top_a, top_b = a >> shift, b >> shift
        if top_a == top_b:
            _add(parts, top_a, (a & mask, b & mask))
            continue
        if a & mask:
            _add(parts, top_a, (a & mask, mask))
            top_a += 1
        last_full = top_b if (b & mask) == mask else top_b - 1
        if top_a <= last_full:
            if parts and parts[-1][0] >= top_a:  # pragma: no cover - ranges are disjoint
                raise AssertionError("ranges overlap")
            flush()
            out.append((prefix | top_a, prefix | last_full, state(_level([(0, mask)], shift - 6, 0x80, state))))
        if last_full != top_b:
            _add(parts, top_b, (0, b & mask))
    flush()
    return _merge(out)


def _add(parts: list[tuple[int, list[tuple[int, int]]]], top: int, piece: tuple[int, int]) -> None:
    if parts and parts[-1][0] == top:
        parts[-1][1].append(piece)
    else:
        parts.append((top, [piece]))


def _merge(edges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join neighbouring byte ranges with one target."""
    merged: list[tuple[int, int, int]] = []
    for lo, hi, to in sorted(edges):
        if merged and merged[-1][2] == to and merged[-1][1] + 1 == lo:
            merged[-1] = (merged[-1][0], hi, to)
        else:
            merged.append((lo, hi, to))
    return merged
