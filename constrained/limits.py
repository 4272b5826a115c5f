"""All budgets of the library as one frozen value.

Every field has a default, a reason and a cost. Reaching one raises ``GrammarLimitError`` naming the field
and its value, leaves the object in hand usable, and gives the same verdict on every machine: budgets count
work and memory, never time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["LARGEST_REPEAT", "Limits"]

LARGEST_REPEAT = 1_000_000_000
"""Counters are 32-bit registers with marks above this."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading, compiling and running a grammar."""

    max_source_chars: int = 16_000_000
    """Characters of a grammar, pattern or schema text. Reading costs about 1 us a character."""

    max_nesting: int = 1_000
    """Depth of groups in a source text. Passes over the tree use explicit stacks; this bounds their memory."""

    max_positions: int = 1_000_000
    """Automaton positions of one grammar (a byte of a literal is one, four bytes of a long list of words
    are one; of an automaton beside a counter its own states are, and a state for each count that must be told
    apart, and one for 64 counts). About 500 bytes and 3 us each to compile."""

    max_dfa_states: int = 20_000
    """States of one look-around or intersection, which is determinised while compiling. About 10 us each."""

    max_repeat: int = LARGEST_REPEAT
    """Largest bound in a counted repetition; it cannot be raised. Counters are 32-bit registers with marks above it."""

    max_threads: int = 20_000
    """Live alternatives of one automaton state (counter sets and ambiguity). A step costs about 0.1 us each."""

    max_states: int = 4_000_000
    """Interned states of one automaton before its caches start a new epoch. About 100 bytes each."""

    max_automaton_bytes: int = 192 << 20
    """Memory that one automaton grows by, masks included, before its caches start a new epoch; the grammar's own tables
    are not counted. Epochs begin earlier, from 8 MB on, while a step takes less than a kB of it, and later where the
    texts in hand alone need more than half of it. A JSON grammar needs a few MB; lark's Python grammar, over 100 files,
    nearly all of the default."""

    max_mask_bytes: int = 96 << 20
    """Finished masks one automaton keeps; when full they are dropped and rebuilt on demand."""

    max_walk_nodes: int = 50_000_000
    """Trie nodes of all subtrees that one mask may walk. About 2 ns each once the automaton's rows are built."""

    max_live_search: int = 50_000
    """States searched to prove that a vocabulary without single-byte tokens can finish a text. About 1 us each."""

    max_guard_sets: int = 1_000
    """Sets of ``NotFollowedBy`` conditions that are watched at the same time. Up to 4 kB and a ms to compile each."""

    max_schema_alternatives: int = 20_000
    """Alternatives that the combinators of one JSON Schema may make in all. About 5 us each."""

    max_distinct_search: int = 50_000
    """States searched, in one step or for one mask, to find whether an item can still be ended as one that did not come
    before. About 10 us each; what was searched is not kept."""

    max_distinct_items: int = 10_000
    """Items of one array with ``uniqueItems`` whose values are many but may be used up (there are fewer than 10 ** 15,
    or ``contains`` stands beside them): longer ones are not written, and ``minItems`` above it is refused. About 1 kB
    each."""

    max_indentation: int = 64
    """Columns of blocks in a Lark grammar with an indenter; deeper ones are refused. Each has rules of its own."""

    def __hash__(self) -> int:
        """Of a few fields: budgets are part of the keys of many tables, and hardly two differ in others alone."""
        return hash((self.max_dfa_states, self.max_repeat, self.max_schema_alternatives))

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise ValueError(f"Limits.{field.name} must be a positive int, not {value!r}")
        if self.max_repeat > LARGEST_REPEAT:
            raise ValueError(f"Limits.max_repeat is at most {LARGEST_REPEAT:,}")
