"""``KeyDfa``: any string but some keys.

What an object does not name has any key but the declared ones: an automaton of strings with the trie of the keys beside
it, which differs from object to object. Written out in Python it takes 1-2 us a byte of a key; ``kernel.blocks`` makes
it of the keys in 50 ns. To whoever does not know it, this is a ``ByteDfa`` like any other: its ``transitions`` are made
when they are asked for.
"""

from __future__ import annotations

from typing import Any

from constrained.grammar.ir import ByteDfa

__all__ = ["KeyDfa"]

_Rows = tuple[tuple[tuple[int, int, int], ...], ...]


class KeyDfa(ByteDfa):
    """The texts of ``strings`` but ``keys``, each followed by the byte ``closing``.

    ``keys`` are sorted and all different. ``strings`` is in state 0 at first only; after any byte of a key it goes on
    as from there. Its states keep their numbers, the trie's nodes come behind.
    """

    __slots__ = ("_transitions", "closing", "keys", "strings")

    strings: ByteDfa
    keys: tuple[bytes, ...]
    closing: int
    _transitions: _Rows | None

    def __init__(self, strings: ByteDfa, keys: tuple[bytes, ...], closing: int) -> None:
        self.strings = strings
        self.keys = keys
        self.closing = closing
        self._transitions = None

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyDfa, (self.strings, self.keys, self.closing)

    @property
    def transitions(self) -> _Rows:
        """The rows of the strings, and of the trie's nodes."""
        known = self._transitions
        if known is None:
            branches: list[dict[int, int]] = [{}]  # of each node: byte -> node
            ends: set[int] = set()
            for key in self.keys:
                node = 0
                for byte in key:
                    after = branches[node].setdefault(byte, len(branches))
                    if after == len(branches):
                        branches.append({})
                    node = after
                ends.add(node)
            plain = self.strings.transitions
            nodes = [self._row(found, node in ends) for node, found in enumerate(branches)]
            known = (nodes[0], *plain[1:], *nodes[1:])
            self._transitions = known
        return known

    def _row(self, branches: dict[int, int], ends: bool) -> tuple[tuple[int, int, int], ...]:
        """The strings' first row with a node's branches in it, and without the closing byte where a key ends."""
        size = len(self.strings.transitions)
        row: list[tuple[int, int, int]] = []
        for first, last, to in self.strings.transitions[0]:
            low = first
            for byte in range(first, last + 1):
                child = branches.get(byte)
                if child is None and not (ends and byte == self.closing):
                    continue
                if low < byte:
                    row.append((low, byte - 1, to))
                if child is not None:
                    row.append((byte, byte, size + child - 1))
                low = byte + 1
            if low <= last:
                row.append((low, last, to))
        return tuple(row)

    @property
    def accepting(self) -> frozenset[int]:
        """Where strings end."""
        return self.strings.accepting
