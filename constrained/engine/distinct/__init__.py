"""Grammars with ``Distinct`` nodes: arrays without equal items, objects without equal names."""

MARK = 256
"""The id that stands for the beginning of a ``Distinct`` in the vocabulary of *exact*: behind the 256 bytes."""

NAMED = 257
"""From here on: the tokens that the grammar names."""

Pairs = tuple[tuple[int, int], ...]
"""(reader's state, state of *exact*), sorted, as ``kernel.value_pairs`` has them; none: dead. A reader below 0 is a
ghost, which stands beside others only."""
