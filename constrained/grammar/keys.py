# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""``KeyDfa``: any string but some keys.

What an object does not name has any key but the declared ones: an automaton of strings with the trie of the keys beside
it, which differs from object to object. Written out in Python it takes 1-2 us a byte of a key; ``kernel.blocks`` makes
it of the keys in 50 ns. To whoever does not know it, this is a ``ByteDfa`` like any other: its ``transitions`` are made
when they are asked for. ``kind`` 10 is its number where rules are written.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.nodes import ByteDfa
else:
    from constrained.kernel.nodes import ByteDfa

__all__ = ["KeyDfa"]


@cython.final
@cython.cclass
class KeyDfa(ByteDfa):
    """The texts of ``strings`` but ``keys``, each followed by the byte ``closing``.

    ``keys`` are sorted and all different. ``strings`` is in state 0 at first only; after any byte of a key it goes on
    as from there. Its states keep their numbers, the trie's nodes come behind.
    """

    def __init__(self, strings: ByteDfa, keys: tuple, closing: cython.int):
        self.kind = 10
        self.block = None
        self.strings = strings
        self.accepting = strings.accepting  # where strings end
        self.keys = keys
        self.closing = closing
        self.written = None

    def __reduce__(self):
        return KeyDfa, (self.strings, self.keys, self.closing)

    @property
    def transitions(self):
        """The rows of the strings, and of the trie's nodes."""
        if self.written is None:
            branches: list = [{}]  # of each node: byte -> node
            ends: set = set()
            for key in self.keys:
                node = 0
                for byte in bytearray(key):
                    after = branches[node].setdefault(byte, len(branches))
                    if after == len(branches):
                        branches.append({})
                    node = after
                ends.add(node)
            plain = self.strings.transitions
            nodes = [self._row(found, node in ends) for node, found in enumerate(branches)]
            self.written = (nodes[0], *plain[1:], *nodes[1:])
        return self.written

    @cython.cfunc
    def _row(self, branches: dict, ends: cython.bint) -> tuple:
        """The strings' first row with a node's branches in it, and without the closing byte where a key ends."""
        byte: cython.int
        low: cython.int
        rows: tuple = self.strings.transitions
        row: list = []
        for first, last, to in rows[0]:
            low = first
            for byte in range(first, last + 1):
                child = branches.get(byte)
                if child is None and not (ends and byte == self.closing):
                    continue
                if low < byte:
                    row.append((low, byte - 1, to))
                if child is not None:
                    row.append((byte, byte, len(rows) + child - 1))
                low = byte + 1
            if low <= last:
                row.append((low, last, to))
        return tuple(row)
