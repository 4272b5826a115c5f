"""A partition of the code points spelled in UTF-8: classes of characters become paths of bytes.

``ByteTrie`` spells all classes at once as a trie of at most four bytes whose leaves are class numbers; equal
sub-tries are one node, so an automaton over classes becomes one over bytes by putting its targets in place of
the leaves. Overlong forms, surrogates and code points past U+10FFFF have no path (RFC 3629). Cost: a node for
each block of 64 code points that is cut in a new way (316 for Unicode's word characters and digits).
"""

from __future__ import annotations

from bisect import bisect_right

from constrained.kernel.spelling import Spelling
from constrained.regex.charset import Ranges

__all__ = ["ByteTrie"]

#: First code point, last code point and number of further bytes for each length of UTF-8 (RFC 3629, section 3).
_LENGTHS = ((0x80, 0x7FF, 1), (0x800, 0xFFFF, 2), (0x10000, 0x10FFFF, 3))
_LEADS = {1: 0xC0, 2: 0xE0, 3: 0xF0}

#: (first byte, last byte, child); a child >= 0 is a node, ``~class`` a leaf.
Entries = tuple[tuple[int, int, int], ...]


class ByteTrie:
    """All classes of a partition in UTF-8. ``nodes[root]`` branches on the first byte."""

    def __init__(self, classes: tuple[Ranges, ...]) -> None:
        self.nodes: list[Entries] = []
        #: For each node the classes among its leaves.
        self.leaves: list[tuple[int, ...]] = []
        self._known: dict[Entries, int] = {}
        self._frees: list[list[int]] = []  # of each class: see ``_free``
        self._pieces = sorted((first, last, index) for index, ranges in enumerate(classes) for first, last in ranges)
        self._starts = [first for first, _, _ in self._pieces]
        entries = [(first, min(last, 0x7F), ~index) for first, last, index in self._pieces if first <= 0x7F]
        for first, last, more in _LENGTHS:
            shift = 6 * more
            lead = first >> shift
            while lead <= last >> shift:
                low, high = max(lead << shift, first), min(((lead + 1) << shift) - 1, last)
                child = self._block(low, high, more)
                until = self._alike(low, lead, shift, last)
                if child is not None:
                    entries.append((_LEADS[more] | lead, _LEADS[more] | until, child))
                lead = until + 1
        self.root = self._node(self._spelled(entries))
        self._spelling: Spelling | None = None

    def spelling(self) -> Spelling:
        """The trie for ``Dfa.to_block``."""
        if self._spelling is None:
            self._spelling = Spelling(self.nodes[: self.root + 1], self.leaves)
        return self._spelling

    def _spelled(self, entries: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """The branches of the root, given those of UTF-8, sorted: where a subclass adds escapes or takes bytes away."""
        return entries

    def _block(self, first: int, last: int, more: int) -> int | None:
        """The node that reads ``more`` further bytes of the code points ``first`` to ``last``; None: surrogates."""
        at = max(bisect_right(self._starts, first) - 1, 0)
        low, high, index = self._pieces[at]
        if low <= first and last <= high and not first & (1 << 6 * more) - 1 and last - first == (1 << 6 * more) - 1:
            return self._free(index, more)
        if more == 1:
            entries = []
            while at < len(self._pieces) and self._pieces[at][0] <= last:
                low, high = max(self._pieces[at][0], first), min(self._pieces[at][1], last)
                if low <= high:
                    entries.append((0x80 | low & 0x3F, 0x80 | high & 0x3F, ~self._pieces[at][2]))
                at += 1
            return self._node(entries) if entries else None
        shift = 6 * (more - 1)
        size = 1 << shift
        entries = []
        block = first >> shift
        while block <= last >> shift:
            low, high = max(block << shift, first), min((block << shift) + size - 1, last)
            child = self._block(low, high, more - 1)
            until = self._alike(low, block, shift, last)
            if child is not None:
                entries.append((0x80 | block & 0x3F, 0x80 | until & 0x3F, child))
            block = until + 1
        return self._node(entries) if entries else None

    def _alike(self, low: int, block: int, shift: int, last: int) -> int:
        """The last of the blocks from ``block`` on, which begins at ``low``, that are within one piece: all alike."""
        alike = (min(self._pieces[bisect_right(self._starts, low) - 1][1], last) + 1 >> shift) - 1
        return alike if low == block << shift and alike > block else block

    def _free(self, index: int, more: int) -> int:
        """The node behind which any ``more`` bytes are characters of one class."""
        while len(self._frees) <= index:
            self._frees.append([])
        nodes = self._frees[index]
        while len(nodes) < more:
            nodes.append(self._node([(0x80, 0xBF, nodes[-1] if nodes else ~index)]))
        return nodes[more - 1]

    def _node(self, entries: list[tuple[int, int, int]]) -> int:
        merged: list[tuple[int, int, int]] = []
        for first, last, child in entries:
            if merged and merged[-1][2] == child and merged[-1][1] + 1 == first:
                merged[-1] = (merged[-1][0], last, child)
            else:
                merged.append((first, last, child))
        key = tuple(merged)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(key)
            found: set[int] = set()
            for _, _, child in key:
                found.update(self.leaves[child] if child >= 0 else (~child,))
            self.leaves.append(tuple(sorted(found)))
        return self._known[key]
