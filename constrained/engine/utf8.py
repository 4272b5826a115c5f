"""A class of code points as a small byte automaton, shared by every grammar that uses the class.

A template is a list of edges ``(state, first byte, last byte, next state)``; state 0 is before the character,
state 1 after it, the others are in the middle of one. States with equal futures are one state, so ``[^"]`` has
eight. Built once for a class (cached by its ranges); cost about 3 us, and 0.2 us a range.
"""

from __future__ import annotations

from functools import lru_cache

from constrained.kernel.byte_trie import UTF8, ByteTrie

__all__ = ["Template", "char_template"]

Template = tuple[int, tuple[tuple[int, int, int, int], ...]]
"""``(number of states, edges)``."""


@lru_cache(maxsize=4096)
def char_template(ranges: tuple[tuple[int, int], ...]) -> Template:
    """The byte automaton of one code point out of ``ranges`` (sorted, disjoint; surrogates are left out)."""
    nodes = ByteTrie((_without_surrogates(ranges),), UTF8).nodes()
    root = len(nodes) - 1
    edges = [(index + 2 if index < root else 0, low, high, child + 2 if child >= 0 else 1)
             for index, entries in enumerate(nodes) for low, high, child in entries]
    return root + 2, tuple(edges)


def _without_surrogates(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    if not ranges or ranges[-1][1] < 0xD800 or all(last < 0xD800 or first > 0xDFFF for first, last in ranges):
        return ranges
    cut = [pair for first, last in ranges for pair in ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))]
    return tuple([(first, last) for first, last in cut if first <= last])
